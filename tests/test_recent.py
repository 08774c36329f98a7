"""A timeline that was read lately is given again only where reading it anew gives the same."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import fields

import pytest
from histories import MIXED, OBJECTS, SUBJECTS, graph, histories, tell_all, timed
from hypothesis import given, settings

from semgraph import KnowledgeGraph, SemgraphError, StoreClosed
from semgraph.model import Fact
from semgraph.recent import Recent

NAMES = (*SUBJECTS, *OBJECTS, "nobody", "", None)
PRESENTS = ("2024-06-01T00:00:00Z", "1990-01-01T00:00:00Z", "2019-05-01T00:00:00Z", "2040-01-01T00:00:00Z")


def timelines(kg):
    """Every part of every fact of every timeline, or how the read fails."""
    found = []
    for name in NAMES:
        for asked in ({}, {"negative": True, "possible": True}, *({"predicate": p} for p in (*MIXED[:3], "nonsense"))):
            try:
                facts = kg.timeline(name, **asked)
            except (SemgraphError, TypeError) as error:
                found.append((type(error), str(error)))
                continue
            found.append([[getattr(fact, part.name) for part in fields(Fact)] for fact in facts])
    return found


def anew(kg):
    """The same, nothing of it remembered."""
    kg._session.recent.clear()
    return timelines(kg)


@settings(max_examples=10, deadline=None)
@given(calls=histories(most=7))
def test_timelines_are_those_of_a_fresh_read_after_every_write_and_at_any_present(calls):
    kg, clock = timed()
    for call in calls:
        tell_all(kg, clock, [call])
        before = clock.moment
        first = timelines(kg)
        assert timelines(kg) == first == anew(kg)
        for present in PRESENTS:
            clock.show(present)
            shown = timelines(kg)
            assert timelines(kg) == shown == anew(kg)
        clock.moment = before


@settings(max_examples=4, deadline=None)
@given(calls=histories(most=6))
def test_timelines_follow_what_another_handle_writes(calls, tmp_path_factory):
    target = tmp_path_factory.mktemp("recent") / "kg.db"
    writer, clock = timed(target=target)
    with closing(writer), closing(graph(target, clock=clock)) as kg:
        for call in calls:
            timelines(kg)
            tell_all(writer, clock, [call])
            assert timelines(kg) == anew(kg)


def test_what_is_done_to_a_timeline_is_done_to_no_other():
    kg = KnowledgeGraph()
    kg.add("Ann", "works_at", "Acme", valid_from="2020", qualifiers={"role": "cook"})
    (fact,) = first = kg.timeline("Ann")
    first.clear()
    fact.claims.clear()
    fact.qualifiers["role"] = "clerk"
    fact.claims[0].qualifiers["role"] = "clerk"
    (again,) = kg.timeline("Ann")
    assert again is fact, "it was remembered"
    assert again.qualifiers == {"role": "cook"}
    assert [claim.qualifiers for claim in again.claims] == [{"role": "cook"}]


def test_scopes_transactions_and_closed_stores_are_told_apart():
    kg = KnowledgeGraph()
    other = kg.scoped("other")
    kg.add("Ann", "works_at", "Acme", valid_from="2020")
    other.add("Ann", "works_at", "Globex", valid_from="2020")
    for _ in range(2):
        assert [str(view.timeline("Ann")[0].object) for view in (kg, other)] == ["Acme", "Globex"]
    with suppress(ZeroDivisionError), kg.atomic():
        kg.add("Ann", "lives_in", "Oslo")
        assert len(kg.timeline("Ann")) == 2
        raise ZeroDivisionError
    assert len(kg.timeline("Ann")) == 1
    other.forget(entity="Ann")
    assert kg._session.recent.find(kg._session.store.revision(), ("default", "Ann", None, False, False), 0) is None
    kg.timeline("Ann")
    kg.close()
    with pytest.raises(StoreClosed):
        kg.timeline("Ann")


def test_what_was_asked_for_least_lately_is_forgotten_first(monkeypatch):
    monkeypatch.setattr("semgraph.recent._MOST", 6)
    recent = Recent()

    def keep(key, revision=(1, 1)):
        recent.keep(revision, key, ["fact"], known=0, now=10, turns=[5, 20])

    for key in ("a", "b", "c"):
        keep(key)
    assert recent.find((1, 1), "a", 10) == ["fact"]
    keep("d")
    assert [recent.find((1, 1), key, 10) for key in "abcd"] == [["fact"], None, ["fact"], ["fact"]]
    assert [recent.find((1, 1), "a", wall) for wall in (4, 5, 19, 20)] == [None, ["fact"], ["fact"], None]
    assert recent.find(None, "a", 10) is None
    assert recent.find((1, 1), ["a"], 10) is None
    assert recent.find((1, 2), "a", 10) is None
    assert recent.find((1, 1), "a", 10) is None, "another revision was met"
    keep("e", (1, 2))
    keep("f", None)
    assert recent.find((1, 2), "f", 10) is None
    assert recent.find((1, 2), "e", 10) == ["fact"]
