"""Reads over both time axes, and what forgetting does to them: when it was true, and when it was known."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from histories import Clock, day, ever, graph, labels, line, shown, spans, timed

import semgraph
from semgraph.errors import ImportRejected, InputError, NotFoundError, PurgePending, SemgraphError, StoreError
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph import KnowledgeGraph

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(params=["memory", "file"])
def career(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """One life, told in five steps, each a month after the one before."""
    target = ":memory:" if request.param == "memory" else tmp_path / "store.db"
    kg, clock = timed("2024-01-10T00:00:00Z", target)
    kg.add("Ann", "works_at", "Acme", valid_from="2020")
    clock.show("2024-02-10T00:00:00Z")
    kg.add("Ann", "works_at", "Globex", valid_from="2023-06")
    clock.show("2024-03-10T00:00:00Z")
    kg.correct("Ann", "works_at", "Globex", "Hooli", valid_at="2024")
    clock.show("2024-04-10T00:00:00Z")
    kg.end("Ann", "works_at", at="2024-04")
    clock.show("2024-05-10T00:00:00Z")
    kg.add("Ann", "works_at", "Initech", valid_from="2025")
    clock.show("2024-06-10T00:00:00Z")
    yield kg
    kg.close()


#        known at      2019  2021    2023-07   2024-03  2024-05  2026
MATRIX = {
    "2024-01-01": ("-", "-", "-", "-", "-", "-"),
    "2024-01-20": ("-", "Acme", "Acme", "Acme", "Acme", "Acme"),
    "2024-02-20": ("-", "Acme", "Globex", "Globex", "Globex", "Globex"),
    "2024-03-20": ("-", "Acme", "Hooli", "Hooli", "Hooli", "Hooli"),
    "2024-04-20": ("-", "Acme", "Hooli", "Hooli", "-", "-"),
    "2024-05-20": ("-", "Acme", "Hooli", "Hooli", "-", "Initech"),
    None: ("-", "Acme", "Hooli", "Hooli", "-", "Initech"),
}
VALID = ("2019", "2021", "2023-07", "2024-03", "2024-05", "2026")


@pytest.mark.parametrize("known_at", MATRIX)
def test_every_pair_of_clocks_has_its_answer(career: KnowledgeGraph, known_at: str | None) -> None:
    for valid_at, wanted in zip(VALID, MATRIX[known_at], strict=True):
        view = career.at(valid_at, known_at=known_at)
        assert view.value("Ann", "works_at", "-") == wanted, valid_at
        assert labels(view.values("Ann", "works_at")) == ([] if wanted == "-" else [wanted])
        assert labels(view.facts(predicate="works_at")) == ([] if wanted == "-" else [wanted])
        about = view.about("Ann") if "Ann" in view and wanted != "-" else {}
        assert {p: labels(f) for p, f in about.items()} == ({} if wanted == "-" else {"works_at": [wanted]})


def test_the_defaults_are_now_and_best_knowledge(career: KnowledgeGraph) -> None:
    assert career.value("Ann", "works_at") is None
    assert career.at("2025-02").value("Ann", "works_at") == "Initech"
    assert (career.valid_at, career.known_at) == (None, None)
    assert str(career.at("2021-05").valid_at).startswith("2021-05-01")


@pytest.mark.parametrize(("known_at", "wanted"), [
    ("2024-01-20", [("Acme", "2020", "…")]),
    ("2024-02-20", [("Acme", "2020", "2023-06"), ("Globex", "2023-06", "…")]),
    ("2024-03-20", [("Acme", "2020", "2023-06"), ("Hooli", "2023-06", "…")]),
    ("2024-04-20", [("Acme", "2020", "2023-06"), ("Hooli", "2023-06", "2024-04")]),
    (None, [("Acme", "2020", "2023-06"), ("Hooli", "2023-06", "2024-04"), ("Initech", "2025", "…")]),
])  # fmt: skip
def test_a_timeline_is_as_it_was_believed(
    career: KnowledgeGraph, known_at: str | None, wanted: list[tuple[str, str, str]]
) -> None:
    assert spans(career.during(known_at=known_at), "Ann", "works_at") == wanted


@pytest.mark.parametrize(("window", "meets", "covers"), [
    (("2020", "2021"), ["Acme"], ["Acme"]),
    (("2023",), ["Acme", "Hooli"], []),
    (("2023-06", "2024-04"), ["Hooli"], ["Hooli"]),
    (("2023-05-31", "2024-04"), ["Acme", "Hooli"], []),
    (("2024-04", "2025"), [], []),
    (("2026", "2090"), ["Initech"], ["Initech"]),
    ((None, "2020"), [], None),
    (("2020", None), ["Acme"], None),
    ((), ["Acme", "Hooli", "Initech"], None),
    (("..", ".."), ["Acme", "Hooli", "Initech"], None),
])  # fmt: skip
def test_windows_meet_and_cover(
    career: KnowledgeGraph, window: tuple[str | None, ...], meets: list[str], covers: list[str] | None
) -> None:
    view = career.during(*window)
    assert labels(view.facts("Ann", "works_at")) == meets
    assert labels(view.timeline("Ann", "works_at")) == meets
    if covers is not None and len(window) == 2:
        assert labels(career.throughout(*window).facts("Ann", "works_at")) == covers


@pytest.mark.parametrize("call", ["during", "throughout"])
@pytest.mark.parametrize("window", [("2021", "2020"), ("2020", "2020"), ("2020-01", "2020")])
def test_a_window_that_is_empty_is_refused(call: str, window: tuple[str, str]) -> None:
    with pytest.raises(InputError):
        getattr(graph(), call)(*window)


@pytest.mark.parametrize("when", ["2024-02-30", "soon", "2024-01-01T10:00:00", "unknown", 2024, "Y300000"])
@pytest.mark.parametrize("clock", ["valid_at", "known_at"])
def test_a_read_at_no_moment_is_refused(when: Any, clock: str) -> None:
    with pytest.raises(InputError):
        graph().at(**{clock: when})


# -- pinned views


def test_a_view_is_pinned_and_the_graph_moves_on() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("Ann", "lives_in", "Oslo", valid_from="2020")
    pinned, past = kg.at(), kg.at("2023")
    before = [line(f) for f in pinned.facts()]
    clock.show("2024-02-10T00:00:00Z")
    kg.set("Ann", "lives_in", "Rome")
    kg.names.merge("Oslo", "Rome")
    kg.add("Ann", "likes", "tea")
    assert [line(f) for f in pinned.facts()] == before
    assert (pinned.value("Ann", "lives_in"), past.value("Ann", "lives_in")) == ("Oslo", "Oslo")
    assert kg.value("Ann", "lives_in") == "Rome"
    assert len(pinned) == 2


def test_a_view_of_now_does_not_follow_the_clock() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("svc", "status", "green")
    pinned = kg.at()
    clock.tick(days=8)
    assert kg.values("svc", "status") == []
    assert labels(pinned.values("svc", "status")) == ["green"]


def test_only_forgetting_changes_a_fixed_read(career: KnowledgeGraph) -> None:
    pairs = [(v, k) for v in VALID for k in MATRIX if k is not None]
    before = {pair: [line(f) for f in career.at(pair[0], known_at=pair[1]).facts()] for pair in pairs}
    career.add("Ann", "works_at", "Umbrella", valid_from="2018")
    career.retract(next(career.claims("Ann", "works_at")))
    career.names.merge("Acme", "Globex")
    career.predicates.define("works_at", cardinality="many")
    career.settle("Ann", "works_at", "both_wrong", valid_at="2021")
    after = {pair: [line(f) for f in career.at(pair[0], known_at=pair[1]).facts()] for pair in pairs}
    assert after == before
    career.names.unmerge("Acme")
    career.forget(entity="Acme")
    assert career.at("2021", known_at="2024-01-20").values("Ann", "works_at") == []
    assert career.verify() == []


# -- diff


def test_diff_of_two_dates(career: KnowledgeGraph) -> None:
    found = career.at("2022").diff(career.at("2024"))
    assert (labels(found.opened), labels(found.closed)) == (["Hooli"], ["Acme"])
    ((old, new),) = found.changed
    assert (shown(old), shown(new)) == ("Acme", "Hooli")
    back = career.at("2024").diff(career.at("2022"))
    assert (labels(back.opened), labels(back.closed)) == (["Acme"], ["Hooli"])
    assert not career.at("2021").diff(career.at("2022"))
    assert labels(career.at("2024-03").diff(career.at("2024-05")).closed) == ["Hooli"]


def test_diff_of_two_beliefs(career: KnowledgeGraph) -> None:
    found = career.at(known_at="2024-02-20").diff(career.at(known_at="2024-03-20"))
    assert ([shown(f) for f in found.opened], [shown(f) for f in found.closed]) == (["Hooli"], ["Globex"])
    whole = career.at(known_at="2024-01-20").diff(career.at())
    assert spans_of(whole.opened) == [
        ("Acme", "2020", "2023-06"),
        ("Hooli", "2023-06", "2024-04"),
        ("Initech", "2025", "…"),
    ]
    assert spans_of(whole.closed) == [("Acme", "2020", "…")]
    assert [(shown(a), shown(b)) for a, b in whole.changed] == [("Acme", "Acme")]
    assert not career.at(known_at="2024-03-20").diff(career.at(known_at="2024-03-21"))


def spans_of(facts: Any) -> list[tuple[str, str, str]]:
    return [(shown(f), day(f.valid_from), day(f.valid_to)) for f in facts]


def test_diff_shows_conflicts_that_came_and_went() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("svc", "deploys_on", "A", valid_from="2023")
    clock.tick(minutes=1)
    kg.add("svc", "deploys_on", "B", valid_from="2023")
    clock.show("2024-02-10T00:00:00Z")
    kg.settle("svc", "deploys_on", "choose", "B")
    came = kg.at(known_at="2024-01-10T00:00:30Z").diff(kg.at(known_at="2024-01-11"))
    assert [labels(s.facts) for s in came.conflicts_opened] == [["A", "B"]]
    assert came.conflicts_settled == ()
    went = kg.at("2024", known_at="2024-01-11").diff(kg.at("2024"))
    assert [labels(s.facts) for s in went.conflicts_settled] == [["A", "B"]]


def test_diff_of_one_subject(career: KnowledgeGraph) -> None:
    career.add("Bo", "works_at", "Acme", valid_from="2023")
    found = career.at("2022").diff(career.at("2024"), subject="Bo")
    assert [f.subject.label for f in found.opened] == ["Bo"]
    assert found.closed == ()


def test_diff_needs_two_views_of_one_scope(career: KnowledgeGraph) -> None:
    for other in (graph().at(), career.scoped("other").at(), "2024", None):
        with pytest.raises(InputError):
            career.at().diff(other)


# -- history, claims, explanations


def test_history_tells_belief_by_belief(career: KnowledgeGraph) -> None:
    versions = career.history("Ann", "works_at")
    told = [(shown(v.fact), day(v.fact.valid_to), day(v.known_from)[:7], day(v.known_to)[:7]) for v in versions]
    for row in (
        ("Acme", "…", "2024-01", "2024-02"),
        ("Acme", "2023-06", "2024-02", "2024-03"),  # since then another one follows
        ("Globex", "…", "2024-02", "2024-03"),
        ("Hooli", "…", "2024-03", "2024-04"),
        ("Hooli", "2024-04", "2024-04", "…"),
        ("Initech", "…", "2024-05", "…"),
    ):
        assert row in told
    assert [v.known_from.instant for v in versions] == sorted(v.known_from.instant for v in versions)


@pytest.mark.parametrize("moment", ["2024-01-20", "2024-02-20", "2024-03-20", "2024-04-20", "2024-05-20"])
def test_history_at_a_moment_is_the_timeline_of_that_moment(career: KnowledgeGraph, moment: str) -> None:
    at = semgraph.parse_when(moment).instant
    live = [
        v.fact
        for v in career.history("Ann", "works_at")
        if v.known_from.instant <= at < (POS_INF if v.known_to is None else v.known_to.instant) and not v.fact.negative
    ]
    assert sorted(spans_of(live)) == sorted(spans(career.during(known_at=moment), "Ann", "works_at"))


def test_the_versions_of_one_fact_follow_each_other_without_gap(career: KnowledgeGraph) -> None:
    by_fact: dict[str, list[Any]] = {}
    for version in career.history("Ann", "works_at"):
        by_fact.setdefault(version.fact.id, []).append(version)
    assert max(map(len, by_fact.values())) >= 2
    for versions in by_fact.values():
        assert all(a.known_to == b.known_from for a, b in pairwise(versions))


def test_claims_are_as_said_and_stay(career: KnowledgeGraph) -> None:
    claims = list(career.claims("Ann", "works_at"))
    assert [c.kind for c in claims][:2] == ["state", "state"]
    assert [c.recorded_at.instant for c in claims] == sorted(c.recorded_at.instant for c in claims)
    career.retract(claims[0], reason="misheard")
    assert claims[0].id not in {c.id for c in career.claims("Ann")}
    (kept,) = [c for c in career.claims("Ann", retracted=True) if c.id == claims[0].id]
    assert kept.retracted_at is not None
    assert {c.id for c in career.claims(source="tool:x")} == set()


def test_an_explanation_names_the_rule_and_what_was_replaced(career: KnowledgeGraph) -> None:
    hooli = career.at("2024-01").values("Ann", "works_at")[0]
    told = career.explain(hooli)
    assert labels(told.supersedes) == ["Acme"]
    assert "2024-04" in str(told) or "stopped" in told.closed_by
    assert "superseded what held before" in told.opened_by
    assert career.explain(hooli.id).fact.id == hooli.id
    with pytest.raises(NotFoundError):
        career.explain("no such fact")


def test_a_premise_is_part_of_the_explanation() -> None:
    kg = graph()
    premise = kg.add("Ann", "works_at", "Acme", valid_from="2020", valid_to="2022")
    kg.add("Ann", "knows", "Bo", valid_from="2019", source="inferred", because=[premise])
    (fact,) = kg.timeline("Ann", "knows")
    assert spans_of([fact]) == [("Bo", "2020", "2022")]  # no longer than what it rests on
    assert [c.id for c in kg.explain(fact).premises] == [premise.claim.id]
    kg.retract(premise)
    assert kg.timeline("Ann", "knows") == []
    kg.unretract(premise)
    assert spans_of(kg.timeline("Ann", "knows")) == [("Bo", "2020", "2022")]


# -- merges in the past


def test_the_past_is_read_as_it_was_before_the_merge() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("Bob", "uses", "tea", valid_from="2020")
    kg.add("Robert", "uses", "cake", valid_from="2020")
    clock.show("2024-02-10T00:00:00Z")
    kg.names.merge("Bob", "Robert")
    assert labels(kg.values("Bob", "uses")) == ["cake", "tea"]
    before = kg.at(known_at="2024-01-20")
    assert labels(before.values("Bob", "uses")) == ["tea"]
    assert before.entity("Bob") != before.entity("Robert")
    assert len(before) == len(kg) + 1
    clock.show("2024-03-10T00:00:00Z")
    kg.names.unmerge("Bob")
    assert labels(kg.values("Bob", "uses")) == ["tea"]
    assert labels(kg.at(known_at="2024-02-20").values("Bob", "uses")) == ["cake", "tea"]


def test_who_was_merged_goes_with_the_entity_that_was_named_when_that_is_parted() -> None:
    """Found by differential histories: it stayed with the entity that the other had been merged into."""
    kg, clock = timed()
    for name in ("Ann", "Bo", "Cy"):
        kg.add(name, "likes", f"the tea of {name}")
    kg.names.merge("Bo", "Cy")
    clock.tick(seconds=1)
    assert kg.names.merge("Ann", "Bo").label == "Cy"
    clock.tick(seconds=1)
    kg.names.unmerge("Bo")
    assert [kg.entity(name).label for name in ("Ann", "Bo", "Cy")] == ["Bo", "Bo", "Cy"]
    assert sorted(fact.object.label for fact in kg.values("Bo", "likes")) == ["the tea of Ann", "the tea of Bo"]
    assert [fact.object.label for fact in kg.values("Cy", "likes")] == ["the tea of Cy"]
    assert kg.verify() == []


def test_a_conflict_made_by_a_merge_goes_with_it() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("Bob", "birth_place", "Oslo")
    kg.add("Robert", "birth_place", "Rome")
    assert kg.conflicts() == []
    kg.names.merge("Bob", "Robert")
    assert [labels(s.facts) for s in kg.conflicts()] == [["Oslo", "Rome"]]
    clock.tick(days=1)
    kg.names.unmerge("Bob")
    assert kg.conflicts() == []
    assert len(kg.at(known_at="2024-01-10T00:00:01Z").conflicts()) == 1


# -- how sure a date is


@pytest.mark.parametrize(("start", "moment", "certain", "possible"), [
    ("2020", "2019-12-31", [], []),
    ("2020", "2020-06", [], ["Acme"]),
    ("2020", "2021", ["Acme"], ["Acme"]),
    ("2020-06", "2020-06-15", [], ["Acme"]),
    ("2020-06-15", "2020-06-15T12:00:00Z", [], ["Acme"]),
    ("2020-06-15T12:00:00Z", "2020-06-15T12:00:00Z", ["Acme"], ["Acme"]),
    ("2020~", "2019-06", [], ["Acme"]),
    ("2020~", "2021-06", [], ["Acme"]),
    ("2020~", "2022", ["Acme"], ["Acme"]),
    ("198X", "1985", [], ["Acme"]),
    ("198X", "1990", ["Acme"], ["Acme"]),
    ("2020?", "2021", ["Acme"], ["Acme"]),
    ("-inf", "-5000", ["Acme"], ["Acme"]),
])  # fmt: skip
def test_inside_the_window_of_a_start_nothing_is_certain(
    start: str, moment: str, certain: list[str], possible: list[str]
) -> None:
    kg = graph()
    kg.add("Ann", "works_at", "Acme", valid_from=start)
    found = kg.at(moment).values("Ann", "works_at", possible=True)
    assert labels(found) == possible
    assert labels(f for f in found if f.certain) == certain


@pytest.mark.parametrize(("stop", "moment", "held", "certain", "possible"), [
    ("2022", "2021-12-31", True, True, True),
    ("2022", "2022-06", False, False, True),
    ("2022", "2023", False, False, False),
    ("2022~", "2021-06", True, False, True),
    ("2022~", "2022-06", False, False, True),
    ("2022-03-05T10:00:00Z", "2022-03-05T10:00:00Z", False, False, False),
])  # fmt: skip
def test_inside_the_window_of_an_end_nothing_is_certain(
    stop: str,
    moment: str,
    held: bool,  # noqa: FBT001
    certain: bool,  # noqa: FBT001
    possible: bool,  # noqa: FBT001
) -> None:
    kg = graph()
    kg.add("Ann", "works_at", "Acme", valid_from="2010", valid_to=stop)
    view = kg.at(moment)
    assert bool(view.values("Ann", "works_at")) == held
    found = view.values("Ann", "works_at", possible=True)
    assert bool(found) == possible
    assert [f.certain for f in found] == [certain] * len(found)


def test_an_observed_start_may_lie_earlier() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("Ann", "lives_in", "Oslo", valid_from="2010", valid_to="2015")
    kg.add("Ann", "lives_in", "Rome")
    clock.tick(days=1)
    (fact,) = kg.values("Ann", "lives_in")
    assert (fact.start_basis, fact.certain) == ("observed", True)
    assert labels(kg.at("2020").values("Ann", "lives_in", possible=True)) == ["Rome"]
    assert labels(kg.at("2012").values("Ann", "lives_in", possible=True)) == ["Oslo"]
    assert kg.at("2020").values("Ann", "lives_in") == []


def test_an_unknown_start_is_only_possible() -> None:
    kg = graph()
    kg.add("Ann", "lives_in", "Oslo", valid_from="unknown", valid_to="2015")
    assert kg.timeline("Ann") == []
    (fact,) = kg.timeline("Ann", possible=True)
    assert (fact.start_basis, fact.certain) == ("unknown", False)
    assert labels(kg.at("2000").values("Ann", "lives_in", possible=True)) == ["Oslo"]
    assert kg.at("2016").values("Ann", "lives_in", possible=True) == []


# -- plans and time to live


def test_a_plan_is_flagged_until_somebody_confirms_it() -> None:
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("Ann", "lives_in", "Oslo", valid_from="2020")
    kg.add("Ann", "lives_in", "Berlin", valid_from="2024-05-01")
    assert kg.value("Ann", "lives_in") == "Oslo"
    (plan,) = kg.at("2024-06").values("Ann", "lives_in")
    assert (shown(plan), plan.planned, plan.certain, plan.status) == ("Berlin", True, False, "planned")
    clock.show("2024-06-01T00:00:00Z")
    (unconfirmed,) = kg.values("Ann", "lives_in")
    assert (unconfirmed.planned, unconfirmed.certain) == (True, False)
    kg.add("Ann", "lives_in", "Berlin")
    (confirmed,) = kg.values("Ann", "lives_in")
    assert (confirmed.planned, confirmed.certain, confirmed.status) == (False, True, "active")
    assert kg.at("2024-06-01", known_at="2024-02").values("Ann", "lives_in")[0].planned


@pytest.mark.parametrize(("days", "held"), [(0, True), (6.9, True), (7, False), (30, False)])
def test_a_passing_state_counts_for_its_time_to_live(days: float, held: bool) -> None:  # noqa: FBT001
    kg, clock = timed("2024-01-10T00:00:00Z")
    kg.add("svc", "status", "green")
    clock.tick(days=days)
    assert bool(kg.values("svc", "status")) == held
    kg.add("svc", "status", "green")
    assert labels(kg.values("svc", "status")) == ["green"]
    assert len(kg.timeline("svc")) == (1 if days <= 7 else 2)


# -- forgetting


def test_a_dry_run_lists_and_changes_nothing(tmp_path: Path) -> None:
    kg, _ = timed(target=tmp_path / "store.db", durability="relaxed")
    premise = kg.add("Zed", "works_at", "Acme", valid_from="2020")
    kg.add("Zed", "knows", "Bo", source="inferred", because=[premise])
    kg.add("Bo", "goal", "to be like Zed one day")
    before = ever(kg)
    report = kg.forget(entity="Zed", dry_run=True)
    assert report.dry_run
    assert not report.purged
    assert report.tombstone is None
    assert (report.claims, report.facts) == (2, 2)
    assert labels(report.listed) == ["Acme", "Bo"]
    assert [c.subject.label for c in report.mentioned] == ["Bo"]
    assert ever(kg) == before
    real = kg.forget(entity="Zed")
    assert (real.claims, real.facts, real.entities) == (report.claims, report.facts, report.entities)
    kg.close()


@pytest.mark.parametrize("mentions", [False, True])
def test_mentions_by_others_go_only_when_asked_for(mentions: bool) -> None:  # noqa: FBT001
    kg = graph()
    kg.add("Zed Zebra", "works_at", "Acme")
    kg.names.alias("ZZ", "Zed Zebra")
    kg.add("Bo", "goal", "to be like zed  zebra one day")
    kg.add("Bo", "likes", "tea", text="Bo told ZZ about it")
    kg.add("Bo", "uses", "pizzazz")
    kg.forget(entity="Zed Zebra", mentions=mentions)
    wanted = ["pizzazz"] if mentions else ["pizzazz", "tea", "to be like zed  zebra one day"]
    assert labels(kg.facts("Bo")) == wanted


def test_forgetting_reopens_what_had_been_closed() -> None:
    kg, clock = timed()
    kg.add("Ann", "lives_in", "Oslo", valid_from="2020")
    clock.tick(days=2)
    receipt = kg.add("Ann", "lives_in", "Rome", valid_from="2022")
    clock.tick(days=2)
    kg.forget(claim=receipt)
    assert spans(kg, "Ann", "lives_in") == [("Oslo", "2020", "…")]
    assert spans(kg.during(known_at="2024-01-04"), "Ann", "lives_in") == [("Oslo", "2020", "…")]
    assert len(kg.history("Ann", "lives_in")) == 1
    assert kg.verify() == []


def test_what_has_another_justification_stays() -> None:
    kg = graph()
    one, two = kg.add("Ann", "works_at", "Acme"), kg.add("Bo", "works_at", "Acme")
    kg.add("Ann", "knows", "Bo", source="inferred", because=[[one], [two]])
    kg.add("Ann", "friend_of", "Bo", source="inferred", because=[[one, two]])
    report = kg.forget(claim=one)
    assert report.claims == 2
    assert labels(kg.facts("Ann")) == ["Bo"]
    assert [c.because for c in kg.claims("Ann", "knows")] == [((two.claim.id,),)]


def test_a_merged_entity_is_forgotten_whole() -> None:
    kg = graph()
    kg.add("Bob", "likes", "tea")
    kg.add("Robert", "likes", "cake")
    kg.names.merge("Bob", "Robert")
    kg.forget(entity="Bob")
    assert list(kg.entities()) == list(kg.claims()) == []
    assert "Robert" not in kg
    assert kg.add("Bob", "likes", "rain").outcome == "new"
    assert "Robert" not in kg


@pytest.mark.parametrize("gone", ["Ann", "Bo"])
def test_forgetting_who_was_once_merged_leaves_the_other_as_told(gone: str) -> None:
    """Found by the fuzz of the API: what had been believed while the two were one stayed behind."""
    kg = graph()
    kg.add("Ann", "works_at", "Globex", valid_from="2010")
    kg.add("Bo", "works_at", "Acme", valid_from="2010", source_ref="d1")
    kg.add("Cy", "knows", "Ann", valid_from="2010")
    kg.names.merge("Ann", "Bo")
    kg.names.unmerge("Ann")
    kg.forget(entity=gone)
    assert kg.verify() == []
    assert gone not in repr([line(f) for f in kg.during().facts()])


def test_what_joins_a_fact_as_it_closes_counts_for_it_in_every_order() -> None:
    """At one instant plain words come before changes: the second denial stands for the time before the change."""
    told: list[dict[str, Any]] = [
        {"negative": True, "valid_from": "2010", "source_ref": "d1"},
        {"negative": True, "source_ref": "d2"},
        {"kind": "change", "source_ref": "d3"},
    ]
    pictures = []
    for order in permutations(told):
        kg, _ = timed()
        for words in order:
            kg.add("Bo", "likes", "Acme", said_at="2023-05-01T00:00:00Z", **words)
        pictures.append(ever(kg))
        (fact,) = kg.at("2015").facts("Bo", "dislikes")
        assert (fact.confidence, len(fact.claims)) == (0.92, 2)
        assert kg.verify() == []
    assert all(picture == pictures[0] for picture in pictures)


def test_a_plain_negative_that_a_change_ends_at_once_is_no_fact_of_the_opposite() -> None:
    """An end says nothing through an opposite, and a word that joins it in the instant of its close has no time."""
    kg, clock = timed()
    kg.end("Bo", "likes", "Acme", at="2010")
    clock.tick(seconds=5)
    words = {"subject": "Bo", "predicate": "likes", "object": "Acme"}
    kg.add_all([words | {"negative": True}, words | {"kind": "change"}])
    assert [line(f) for f in kg.during().facts("Bo", "dislikes")] == []
    assert kg.verify() == []


def test_a_derived_claim_may_cut_its_own_premise() -> None:
    kg, clock = timed()
    said = kg.add("Ann", "married_to", "Acme", negative=True, source_ref="d1").claim
    clock.tick(seconds=1)
    told = {"valid_from": "2010", "source": "inferred", "source_ref": "d1"}
    first = kg.add("Cy", "married_to", "Acme", because=[[said], [said]], **told).claim
    clock.tick(seconds=1)
    kg.add("Cy", "married_to", "Globex", kind="change", because=[[first]], **told)
    assert kg.verify() == []


@pytest.mark.parametrize("start", ["2020", None])
@pytest.mark.parametrize("predicate", ["works_at", "married_to", "reports_to", "ceo_of", "likes"])
def test_a_correction_that_is_corrected_back_brings_back_what_it_had_denied(predicate: str, start: str | None) -> None:
    """What is said again is told no earlier than the denial that it undoes, and keeps its interval."""
    kg, clock = timed()
    kg.add("Ann", predicate, "Acme", valid_from=start)
    (first,) = spans(kg.during(), "Ann", predicate)
    for wrong, right in (("Acme", "Acne"), ("Acne", "Acme"), ("Acme", "Acne"), ("Acne", "Acme")):
        clock.tick(seconds=1)
        kg.correct("Ann", predicate, wrong, right)
        assert spans(kg.during(), "Ann", predicate) == [(right, *first[1:])]
    assert kg.verify() == []


@pytest.mark.parametrize("merged", [("Ann", "Bo"), ("Acme", "Globex"), ("Ann", "Acme")])
@pytest.mark.parametrize(
    "words", [("Ann", "works_at", "Acme"), ("Acme", "employs", "Ann"), ("Ann", "married_to", "Acme")]
)
def test_a_correction_speaks_of_the_entity_that_was_named(words: tuple[str, str, str], merged: tuple[str, str]) -> None:
    """What was corrected while two entities were one is right where they are parted again."""
    kg, clock = timed()
    for name in ("Bo", "Globex"):
        kg.add(name, "is_a", "thing")
    subject, predicate, wrong = words
    kg.add(subject, predicate, wrong, valid_from="2020")
    clock.tick(seconds=1)
    kg.names.merge(*merged)
    clock.tick(seconds=1)
    kg.correct(subject, predicate, wrong, "Acne")
    kg.names.unmerge(merged[0])
    assert [span[0] for span in spans(kg.during(), subject, predicate)] == ["Acne"]
    assert kg.verify() == []


def test_a_lower_voice_does_not_correct_back_to_what_a_higher_one_denied() -> None:
    kg, clock = timed()
    kg.add("Ann", "works_at", "Acme", valid_from="2020", source="tool:x")
    clock.tick(seconds=1)
    kg.deny("Ann", "works_at", "Globex")
    clock.tick(seconds=1)
    kg.correct("Ann", "works_at", "Acme", "Globex", source="tool:x")
    assert spans(kg.during(), "Ann", "works_at") == []


def test_the_tombstone_tells_that_and_how_much_but_not_what(tmp_path: Path) -> None:
    kg, _ = timed(target=tmp_path / "store.db", durability="relaxed")
    kg.add("Zed Zebra", "works_at", "Acme")
    kg.add("Bo", "likes", "tea")
    report = kg.forget(entity="Zed Zebra")
    assert report.tombstone
    assert report.purged
    assert "backup" in report.beyond_reach or "copies" in report.beyond_reach
    kg.close()
    content = (tmp_path / "store.db").read_bytes()
    assert report.tombstone.encode() in content
    assert b"zebra" not in content.lower()


def test_the_purge_says_when_the_bytes_are_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that holds the old pages is played by a purge that can't finish: the rows are gone, the bytes not."""
    path = tmp_path / "store.db"
    with graph(path, durability="relaxed") as kg:
        kg.add("Zed Zebra", "likes", "tea")
        with monkeypatch.context() as patch:
            patch.setattr(kg._session.store, "purge", lambda: False)
            report = kg.forget(entity="Zed Zebra")
            with pytest.raises(PurgePending):
                kg.purge()
        assert "Zed Zebra" not in kg
        assert not report.purged
        assert "reader" in report.pending
        kg.purge()
        assert b"zebra" not in path.read_bytes().lower()


@pytest.mark.parametrize("target", [{}, {"entity": "Ann", "everything": True}, {"entity": "Ann", "source_ref": "x"}])
def test_forget_wants_exactly_one_target(target: dict[str, Any]) -> None:
    kg = graph()
    kg.add("Ann", "likes", "tea", source_ref="x")
    with pytest.raises(InputError):
        kg.forget(**target)
    assert len(list(kg.claims())) == 1


@pytest.mark.parametrize(
    "target", [{"entity": "Nobody"}, {"claim": "0" * 24}, {"fact": "0" * 24}, {"source_ref": "none"}]
)
def test_forgetting_what_is_not_there_is_an_error(target: dict[str, Any]) -> None:
    kg = graph()
    kg.add("Ann", "likes", "tea")
    with pytest.raises(NotFoundError):
        kg.forget(**target)
    assert len(list(kg.claims())) == 1


def test_an_export_is_written_before_anything_goes(tmp_path: Path) -> None:
    pytest.importorskip("semgraph.exchange.jsonl")
    kg, clock = timed(target=tmp_path / "store.db", durability="relaxed")
    kg.add("Zed", "works_at", "Acme", valid_from="2020")
    clock.tick(days=1)
    kg.add("Zed", "works_at", "Globex", valid_from="2022")
    before = ever(kg)
    kg.forget(entity="Zed", export_to=tmp_path / "last.jsonl")
    assert "Zed" not in kg
    back = graph(clock=Clock("2024-02-01T00:00:00Z"))
    semgraph.read(back, tmp_path / "last.jsonl")
    assert ever(back) == before
    kg.close()


@pytest.mark.parametrize("place", ["missing/folder.jsonl", ".", "store.db"])
def test_where_the_export_fails_nothing_is_forgotten(place: str, tmp_path: Path) -> None:
    pytest.importorskip("semgraph.exchange.jsonl")
    kg, _ = timed(target=tmp_path / "store.db", durability="relaxed")
    kg.add("Zed", "works_at", "Acme", valid_from="2020")
    before = ever(kg)
    with pytest.raises(SemgraphError):
        kg.forget(entity="Zed", export_to=tmp_path / place)
    assert ever(kg) == before
    assert kg.verify() == []
    kg.close()


def test_an_export_that_cannot_be_read_back_stops_the_forgetting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jsonl = pytest.importorskip("semgraph.exchange.jsonl")
    kg = graph()
    kg.add("Zed", "works_at", "Acme")

    def broken(*_: Any, **__: Any) -> int:
        raise ImportRejected("damaged", "the file is not as it was written")

    monkeypatch.setattr(jsonl, "check_jsonl", broken)
    with pytest.raises((ImportRejected, StoreError)):
        kg.forget(entity="Zed", export_to=tmp_path / "last.jsonl")
    assert "Zed" in kg


def test_forgotten_and_told_again_is_new() -> None:
    kg, clock = timed()
    words = {"subject": "Zed", "predicate": "likes", "object": "tea", "source_ref": "doc:1", "said_at": "2023-01-01"}
    first = kg.add(**words)
    kg.forget(claim=first)
    clock.tick(days=1)
    again = kg.add(**words)
    assert again.outcome == "new"
    assert again.claim.id == first.claim.id
    assert kg.at(known_at="2024-01-01T12:00:00Z").values("Zed", "likes") == []


def test_a_retraction_is_forgotten_with_its_claim() -> None:
    kg, clock = timed()
    words = {"subject": "Zed", "predicate": "likes", "object": "tea", "source_ref": "doc:1", "said_at": "2023-01-01"}
    receipt = kg.add(**words)
    kg.retract(receipt, reason="no")
    kg.forget(claim=receipt)
    clock.tick(days=1)
    kg.add(**words)
    assert labels(kg.values("Zed", "likes")) == ["tea"]
    assert next(kg.claims()).retracted_at is None


# -- two processes

_WRITER = """
import sys
import semgraph
with semgraph.KnowledgeGraph(sys.argv[1], embedder=None, durability="relaxed") as kg:
    for number in range(20):
        kg.add(f"P{sys.argv[2]}-{number}", "works_at", "Acme", valid_from="2020")
    print(len(list(kg.facts(predicate="works_at"))))
"""


def test_row_33_two_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    command = [sys.executable, "-W", "error", "-c", _WRITER, str(path)]
    running = [
        subprocess.Popen([*command, str(n)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for n in range(2)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert 20 <= int(out) <= 40
    with graph(path, clock=Clock("2040-01-01T00:00:00Z")) as kg:
        assert len({f.subject for f in kg.facts(predicate="works_at")}) == 40
        assert len({f.object for f in kg.facts(predicate="works_at")}) == 1
        recorded = [c.recorded_at.instant for c in kg.claims()]
        assert recorded == sorted(set(recorded))
        assert len(recorded) == 40
        assert kg.verify() == []


def test_a_handle_sees_what_another_one_wrote(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with graph(path, durability="relaxed") as one, graph(path, durability="relaxed") as two:
        one.add("Ann", "works_at", "Acme", valid_from="2020")
        assert two.value("Ann", "works_at") == "Acme"
        pinned = two.at()
        two.predicates.define("zips", cardinality="one")
        one.add("Ann", "zips", "x", valid_from="2020")
        assert one.add("Ann", "zips", "y", valid_from="2021").outcome == "update"
        two.names.merge("Acme", "x")
        assert one.entity("Acme") == one.entity("x")
        one.veto(phrase="falcon")
        with pytest.raises(InputError):
            two.add("Ann", "works_on", "Falcon")
        one.forget(entity="Ann")
        assert list(two.facts()) == list(pinned.facts()) == []
        assert one.verify() == two.verify() == []


def test_merging_what_is_one_already_changes_nothing_and_a_cycle_is_refused():
    with semgraph.KnowledgeGraph() as kg:
        for name in ("Ann", "Bo", "Cy"):
            kg.names.declare(name)
        kg.names.merge("Ann", "Bo")
        kg.names.merge("Bo", "Cy")
        for duplicate, into in (("Ann", "Bo"), ("Ann", "Cy"), ("Bo", "Ann"), ("Bo", "Cy")):
            assert kg.names.merge(duplicate, into).label == "Cy"
        for into in ("Ann", "Bo", "Cy"):
            with pytest.raises(InputError, match="one entity already"):
                kg.names.merge("Cy", into)
        kg.names.unmerge("Ann")
        assert kg.entity("Ann").label == "Ann"
        assert kg.entity("Bo").label == "Cy"


def test_a_value_that_resumes_on_a_coarser_word_alone_is_kept():
    told = {"subject": "Bo", "predicate": "lives_in"}
    with semgraph.KnowledgeGraph() as kg:
        kg.add_all(
            [
                told | {"object": "Oslo East", "said_at": "2020-01-01", "valid_to": "2020-01-04", "kind": "change",
                        "source": "inferred"},
                told | {"object": "Turku", "said_at": "2020-01-02", "valid_to": "2020-01-09", "source": "imported:a"},
                told | {"object": "Oslo", "valid_from": "2020-01-03", "said_at": "2020-01-05", "kind": "change",
                        "source": "inferred"},
            ]
        )  # fmt: skip
        resumed = kg.timeline("Bo")[-1]
        assert (resumed.object.label, str(resumed.valid_from), resumed.start_basis) == (
            "Oslo East",
            "2020-01-09T00:00:00Z",
            "resumed",
        )
        assert [claim.object.label for claim in resumed.claims] == ["Oslo"]
        assert kg.verify() == []


def test_a_date_given_to_diff_is_refused_with_an_example_of_how_to_ask():
    with semgraph.KnowledgeGraph() as kg, pytest.raises(InputError) as told:
        kg.diff("2023")
    assert 'kg.at("2023").diff(kg.at("2024"))' in str(told.value)
