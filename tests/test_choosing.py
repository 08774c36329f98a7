"""Which conflict a settlement means, which value wins, and what it ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from semgraph import InputError, KnowledgeGraph, RejectedError


def told(edges: str) -> KnowledgeGraph:
    """A graph in which each edge was told of the same instant, so that rivals are in conflict."""
    kg = KnowledgeGraph()
    for number, edge in enumerate(edges.split(", ")):
        subject, predicate, object = edge.split()
        kg.add(subject, predicate, object, valid_from="2020", source=f"tool:{number}")
    return kg


def values(kg: KnowledgeGraph, subject: str, predicate: str) -> list[str]:
    return sorted(fact.object.label for fact in kg.values(subject, predicate))


@pytest.mark.parametrize(
    ("edges", "named", "winner"),
    [
        ("Ann lives_in Oslo, Ann lives_in Rome", "Ann lives_in Oslo", "Ann lives_in Oslo"),
        ("Ann married_to Cy, Bo married_to Cy", "Cy married_to Ann", "Cy married_to Ann"),
        ("Ann married_to Cy, Bo married_to Cy", "Ann married_to Cy", "Cy married_to Ann"),
        ("Ann ceo_of Acme, Bo ceo_of Acme", "Acme ceo_of Ann", "Ann ceo_of Acme"),
        ("Ann ceo_of Acme, Bo ceo_of Acme", "Ann ceo_of Acme", "Ann ceo_of Acme"),
        ("Ann reports_to Bo, Ann reports_to Cy", "Bo manages Ann", "Ann reports_to Bo"),
        ("Ann email a@x.org, Bo email a@x.org", "a@x.org email Ann", "Ann email a@x.org"),
        ("Ann email a@x.org, Bo email a@x.org", "Ann email a@x.org", "Ann email a@x.org"),
    ],
)
def test_what_is_chosen_may_be_named_from_either_end(edges: str, named: str, winner: str) -> None:
    kg = told(edges)
    assert len(kg.conflicts()) == 1
    subject, predicate, object = named.split()
    assert kg.settle(subject, predicate, "choose", object).outcome == "update"
    subject, predicate, object = winner.split()
    assert values(kg, subject, predicate) == [object]
    assert kg.conflicts() == []
    assert kg.verify() == []


def test_the_conflict_about_what_is_named_first_is_meant() -> None:
    kg = told("Ann married_to Cy, Bo married_to Cy, Ann married_to Dee")
    assert [found.subject.label for found in kg.conflicts()] == ["Ann", "Cy"]
    kg.settle("Ann", "married_to", "both_wrong")
    assert values(kg, "Cy", "married_to") == ["Bo"]
    assert values(kg, "Ann", "married_to") == []


@pytest.mark.parametrize("choice", ["both_wrong", "keep_both"])
def test_a_conflict_about_another_one_is_named_and_left_alone(choice: str) -> None:
    kg = told("Ann married_to Cy, Bo married_to Cy")
    receipt = kg.settle("Ann", "married_to", choice)
    assert (receipt.outcome, receipt.why) == ("idempotent", "the conflict is about Cy: name that first")
    assert values(kg, "Cy", "married_to") == ["Ann", "Bo"]


def test_of_several_conflicts_about_one_entity_the_one_with_the_value_is_meant_or_none() -> None:
    kg = KnowledgeGraph()
    for topic, choices in {"tea": ("green", "black"), "music": ("jazz", "folk")}.items():
        for number, choice in enumerate(choices):
            kg.add("Ann", "prefers", choice, valid_from="2020", qualifiers={"topic": topic}, source=f"tool:{number}")
    assert len(kg.conflicts()) == 2
    with pytest.raises(InputError, match="2 conflicts hold there at once"):
        kg.settle("Ann", "prefers", "both_wrong")
    kg.settle("Ann", "prefers", "choose", "jazz")
    assert values(kg, "Ann", "prefers") == ["black", "green", "jazz"]


def test_an_edge_and_its_negation_are_one_dispute_with_what_else_is_disputed_at_its_end() -> None:
    kg = told("Ann married_to Cy, Bo married_to Cy")
    kg.add("Ann", "married_to", "Cy", negative=True, valid_from="2020", source="tool:9")
    (found,) = kg.conflicts()
    assert found.subject.label == "Cy"
    assert sorted((fact.object.label, fact.negative) for fact in found.facts) == [
        ("Ann", False), ("Ann", True), ("Bo", False),
    ]  # fmt: skip
    sure = {(f.object.label, f.negative): f.confidence for f in found.facts}
    assert sure["Ann", True] < 0.85 * (1 - 0.3 * 0.85) + 1e-9  # Bo counts against it as well


@pytest.mark.parametrize("end", [("Ann", "Cy"), ("Cy", "Ann")])
def test_an_edge_and_its_negation_are_settled_from_both_ends(end: tuple[str, str]) -> None:
    kg = told("Ann married_to Cy")
    kg.add("Ann", "married_to", "Cy", negative=True, valid_from="2020", source="tool:9")
    assert kg.settle(end[0], "married_to", "choose", end[1]).outcome == "update"
    assert kg.conflicts() == []
    assert values(kg, "Ann", "married_to") == ["Cy"]


def test_a_value_that_the_winner_does_not_exclude_stays() -> None:
    """All three are in one conflict set, since the end of everything excludes both values."""
    kg = KnowledgeGraph()
    kg.add_all({"subject": "Cy", "predicate": "speaks", "object": o, "source": "tool:x"} for o in ("Finnish", "Greek"))
    kg.end("Cy", "speaks", at="2012", said_at="2012-01-01")
    (found,) = kg.conflicts()
    assert len(found.facts) == 3
    kg.settle("Cy", "speaks", "choose", "Greek")
    assert values(kg, "Cy", "speaks") == ["Finnish", "Greek"]
    assert kg.verify() == []


def test_what_is_settled_for_a_later_day_leaves_today_alone() -> None:
    kg = KnowledgeGraph(clock=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    for number, town in enumerate(("Oslo", "Rome")):
        kg.add("Ann", "lives_in", town, valid_from="2026", source=f"tool:{number}")
    kg.settle("Ann", "lives_in", "choose", "Oslo", valid_at="2026-03")
    assert values(kg, "Ann", "lives_in") == []
    assert [fact.object.label for fact in kg.at("2026-06").values("Ann", "lives_in")] == ["Oslo"]


def test_a_correction_to_what_holds_changes_nothing() -> None:
    kg = told("Ann works_at Acme")
    kg.names.alias("Acme Inc", "Acme")
    for same in ("Acme", "Acme Inc"):
        receipt = kg.correct("Ann", "works_at", "Acme", same)
        assert (receipt.outcome, receipt.why) == ("idempotent", "it says what holds there: nothing to correct")
    assert len(list(kg.claims("Ann"))) == 1


def test_only_the_segment_is_corrected() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "works_at", "Acme", valid_from="2018")
    kg.add("Ann", "works_at", "Globex", valid_from="2020", valid_to="2021")
    kg.correct("Ann", "works_at", "Acme", "Initech", valid_at="2022")
    found = [(f.object.label, str(f.valid_from)[:4], f.valid_to and str(f.valid_to)[:4]) for f in kg.timeline("Ann")]
    assert found == [("Acme", "2018", "2020"), ("Globex", "2020", "2021"), ("Initech", "2021", None)]


@pytest.mark.parametrize(("segment", "left"), [("2009", 0), ("2001", 1)])
def test_a_claim_without_a_start_falls_with_the_segment_that_holds_its_end(segment: str, left: int) -> None:
    """It speaks of the time up to its end, so that a correction of any other time leaves it as it is."""
    kg = KnowledgeGraph()
    kg.add("Ann", "works_at", "Acme", valid_from="2000", valid_to="2004")
    kg.add("Ann", "works_at", "Acme", valid_from="2008", valid_to="2012")
    kg.add("Ann", "works_at", "Acme", valid_to="2010", source="tool:x")
    kg.correct("Ann", "works_at", "Acme", "Initech", valid_at=segment)
    possible = kg.at("1990").values("Ann", "works_at", possible=True)
    assert len([fact for fact in possible if fact.object.label == "Acme"]) == left


def test_a_symmetric_edge_told_from_the_other_end_later_is_no_difference() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "married_to", "Cy", valid_from="2010", valid_to="2012")
    kg.add("Cy", "married_to", "Ann", valid_from="2015")
    found = kg.at("2011").diff(kg.at("2020"))
    assert (found.opened, found.closed, found.changed) == ((), (), ())
    assert [fact.label for fact in kg.at("2013").diff(kg.at("2020")).opened] == ["Cy married_to Ann"]


def test_one_word_that_a_value_is_said_beside_others_counts_for_all_its_time() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "collects", "stamps", source="tool:1")
    kg.add("Ann", "collects", "coins", source="tool:2")
    assert len(kg.conflicts()) == 1
    kg.add("Ann", "collects", "stamps", kind="also", valid_to="2010")
    assert kg.conflicts() == []


@pytest.mark.parametrize("choice", [("both_wrong",), ("choose", "Oslo")])
def test_a_change_that_lost_does_not_outlive_the_settlement(choice: tuple[str, ...]) -> None:
    """An end keeps out what is stated from that instant on, not what changes to the value in it."""
    kg = KnowledgeGraph()
    kg.add("Ann", "lives_in", "Oslo", valid_from="2020")
    kg.set("Ann", "lives_in", "Rome", valid_from="2021", source="tool:x")
    kg.settle("Ann", "lives_in", *choice)
    assert kg.during().conflicts() == []
    assert [fact.object.label for fact in kg.timeline("Ann", "lives_in")] == ["Oslo"]
    kg.add("Ann", "lives_in", "Rome", valid_from="2022", valid_to="2023")
    assert kg.at("2022-06").values("Ann", "lives_in"), "what is said later is heard"
    assert kg.verify() == []


def test_a_change_that_lost_in_the_past_is_gone_there() -> None:
    kg = KnowledgeGraph()
    kg.set("Cy", "reports_to", "Ann", said_at="2020", source="tool:b")
    kg.add("Cy", "reports_to", "Bo", valid_from="2010", said_at="2025-06-01", source="tool:a")
    (found,) = kg.during().conflicts()
    kg.settle("Cy", "reports_to", "choose", "Bo", valid_at=found.since)
    assert kg.during().conflicts() == []
    assert [fact.object.label for fact in kg.timeline("Cy", "reports_to")] == ["Bo"]


@pytest.mark.parametrize(("said", "denied"), [("tool:a", "user"), ("user", "tool:a")])
def test_a_timeless_value_is_chosen_against_its_own_negation(said: str, denied: str) -> None:
    kg = KnowledgeGraph()
    kg.add("Cy", "birth_date", "1990-01-01", source=said)
    kg.add("Cy", "birth_date", "1990-01-01", source=denied, negative=True)
    kg.settle("Cy", "birth_date", "choose", "1990-01-01")
    assert kg.conflicts() == []
    assert values(kg, "Cy", "birth_date") == ["1990-01-01"]
    assert kg.verify() == []


def test_a_dispute_that_a_negation_outlasted_leaves_the_negation_as_it_is() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "speaks", "Thai", said_at="2025-06-01", valid_from="2010", valid_to="2030", source="inferred")
    kg.add("Ann", "speaks", "Thai", said_at="2025-06-01", valid_from="2000", negative=True, source="imported:c")
    (found,) = kg.during().conflicts()
    assert found.until is not None
    kg.settle(None, None, "both_wrong", conflict=found)
    assert kg.during().conflicts() == []
    assert [(fact.negative, fact.valid_to) for fact in kg.timeline("Ann", negative=True)] == [(True, None)]


def test_a_loop_that_a_merge_made_can_be_settled_and_denied() -> None:
    kg = told("Bo married_to Ann, Bo married_to Cy")
    kg.names.merge("Ann", "Bo")
    kg.settle("Bo", "married_to", "choose", "Cy")
    assert values(kg, "Bo", "married_to") == ["Cy"]
    kg = told("Bo married_to Ann")
    kg.names.merge("Ann", "Bo")
    kg.deny("Bo", "married_to", "Ann")
    assert list(kg.facts()) == []
    kg.names.alias("Bob", "Bo")
    with pytest.raises(RejectedError, match="of itself"):
        kg.add("Bo", "married_to", "Bob")
    assert kg.verify() == []


@pytest.mark.parametrize(
    ("predicate", "edges", "corrected"),
    [
        ("ceo_of", ("Ann Acme 2010", "Bo Acme 2015"), "Ann Acme"),
        ("married_to", ("Dee Ann 2010", "Cy Ann 2015"), "Dee Ann"),
        ("married_to", ("Ann Dee 2010", "Cy Ann 2015"), "Dee Ann"),
    ],
)
def test_what_somebody_else_ended_is_corrected_by_its_own_claims_alone(
    predicate: str, edges: tuple[str, ...], corrected: str
) -> None:
    kg = KnowledgeGraph()
    for edge in edges:
        subject, object, since = edge.split()
        kg.add(subject, predicate, object, valid_from=since)
    subject, object = corrected.split()
    told = kg.correct(subject, predicate, object, "Eve", valid_at="2012").claims
    assert [(claim.kind, str(claim.valid_from)) for claim in told] == [("correct", "2010"), ("state", "2010")]
    assert len(kg.timeline(edges[1].split()[0], predicate)) == 1
    assert kg.verify() == []


def test_an_end_of_a_value_that_is_over_on_a_day_is_corrected_with_it() -> None:
    """Told afterwards that it had stopped before it began, the value was believed until then; so is the right one."""
    kg = KnowledgeGraph()
    kg.add("Ann", "uses", "Acme", kind="change", valid_from="2021", said_at="2022")
    kg.end("Ann", "uses", "Acme", at="2018", said_at="2023")
    kg.correct("Ann", "uses", "Acme", "Globex", valid_at="2022")
    found = [(f.label, str(f.valid_from)[:4], str(f.valid_to)[:4]) for f in kg.timeline("Ann", "uses")]
    assert found == [("Ann uses Globex", "2021", "2023")]


def test_an_end_that_is_bounded_cuts_through_an_opposite_for_that_time_only() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "dislikes", "tea", valid_from="2020", said_at="2020")
    kg.add("Ann", "dislikes", "tea", negative=True, kind="change", valid_from="2022", valid_to="2023", said_at="2022")
    found = [(str(f.valid_from)[:4], f.valid_to and str(f.valid_to)[:4]) for f in kg.timeline("Ann", "dislikes")]
    assert found == [("2020", "2022"), ("2023", None)]
    assert kg.verify() == []


def test_a_name_that_nothing_bears_is_told_with_those_that_look_like_it() -> None:
    kg = told("Maya lives_in Oslo, Maya lives_in Rome")
    receipt = kg.settle("Mayaa", "lives_in", "choose", "Oslo")
    assert receipt.outcome == "idempotent"
    assert receipt.why == "no entity is called 'Mayaa'; did you mean 'Maya'?: nothing to settle"
    assert len(kg.conflicts()) == 1


def test_a_conflict_is_as_precise_as_the_facts_that_bound_it() -> None:
    kg = KnowledgeGraph()
    kg.add("Ann", "lives_in", "Oslo", valid_from="2019", valid_to="2025", source="tool:1")
    kg.add("Ann", "lives_in", "Rome", valid_from="2019-03", valid_to="2024-06", source="tool:2", kind="state")
    (found,) = kg.during().conflicts()
    assert (str(found.since), str(found.until)) == ("2019-03", "2024-06")


def test_a_claim_without_a_start_is_corrected_back_like_any_other() -> None:
    """It is said again after what had denied its time, which is that before its end."""
    kg = KnowledgeGraph()
    kg.add("Ann", "collects", "coins", valid_from="2015")
    kg.add("Ann", "collects", "stamps", valid_to="2018")
    kg.correct("Ann", "collects", "coins", "stamps", source="tool:x")
    kg.correct("Ann", "collects", "stamps", "coins", source="tool:x", valid_at="2015")
    possible = kg.at("2012").values("Ann", "collects", possible=True)
    assert sorted(fact.object.label for fact in possible) == ["coins", "stamps"]
    assert kg.verify() == []


def test_a_finer_word_that_was_only_imported_competes_though_an_earlier_one_was_told() -> None:
    """Of a predicate that nobody defined: each fact is looked at by what it rests on itself."""
    kg = KnowledgeGraph()
    kg.add("Ann", "collects", "Acme Labs", valid_from="1980", valid_to="2010", source="user")
    kg.add("Ann", "collects", "Acme", valid_from="2020", source="tool:x")
    assert kg.conflicts() == []
    kg.add("Ann", "collects", "Acme Labs", valid_from="2021", source="imported:w")
    assert len(kg.conflicts()) == 1


def test_a_value_whose_suspender_is_gone_is_told_again() -> None:
    """Found by differential histories: saying it again was a KeyError."""
    kg = KnowledgeGraph()
    kg.end("Bo", "works_at", "Acme Labs", at="1980")
    kg.add("Bo", "works_at", "Acme Labs", negative=True, valid_from="2018-06")
    kg.add("Bo", "works_at", "Acme Labs", kind="change", valid_to="2018-06", said_at="2012-01-01")
    assert kg.add("Bo", "works_at", "Acme", valid_from="2015", valid_to="2020-03-01").outcome != "rejected"
    assert kg.verify() == []
