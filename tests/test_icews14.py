"""A year of real events: loaded, counted, none of them superseding or contradicting another."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from real_data import table_rows

from benchmarks.tflex import Queries, read_queries
from semgraph.engine import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from semgraph.model import Batch

pytestmark = pytest.mark.shared_data


class Loaded(NamedTuple):
    """The events in a graph, and the rows that they were loaded from."""

    graph: KnowledgeGraph
    batch: Batch
    rows: list[list[str]]


@pytest.fixture(scope="module")
def loaded(shared_data: Path) -> Iterator[Loaded]:
    rows = table_rows(shared_data / "icews14" / "facts.tsv.gz")
    with KnowledgeGraph(source="imported:icews") as graph:
        for relation in sorted({row[1] for row in rows}):
            graph.predicates.define(relation, cardinality="many", event=True, range="entity")
        batch = graph.add_all({"subject": s, "predicate": p, "object": o, "valid_from": day} for s, p, o, day in rows)
        yield Loaded(graph, batch, rows)


def test_every_event_is_a_fact_of_its_own(loaded: Loaded) -> None:
    assert loaded.batch.counts == {"new": 90_730}
    assert loaded.batch.rejected == ()
    stats = loaded.graph.stats()
    assert (stats["claims"], stats["facts"], stats["past_facts"]) == (90_730, 90_730, 0)
    assert len(loaded.graph) == 7_128
    assert len({row[1] for row in loaded.rows}) == 230


def test_no_event_supersedes_or_contradicts_another(loaded: Loaded) -> None:
    assert loaded.graph.stats()["facts_by_status"] == {"ended": 90_730}  # each by the end of its day
    assert loaded.graph.during().conflicts() == []
    china = loaded.graph.timeline("China")
    assert {(fact.end_reason, fact.supersedes, fact.ended_by == (fact.id,)) for fact in china} == {("stated", (), True)}


@pytest.mark.parametrize("day", ["2014-01-01", "2014-06-20", "2014-11-04", "2014-12-31"])
def test_a_day_holds_its_events(loaded: Loaded, day: str) -> None:
    found = {(f.subject.label, f.object.label, str(f.valid_from)) for f in loaded.graph.at(day).facts("China")}
    wanted = {(s, o, d) for s, _, o, d in loaded.rows if s == "China" and d == day}
    assert found == wanted


def test_points_and_windows_agree_with_a_scan_of_the_rows(loaded: Loaded) -> None:
    by_key: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for s, p, o, day in loaded.rows:
        by_key[s, p].append((o, day))
    keys = sorted(by_key)[::97]
    asked = 0
    for s, p in keys:
        for day in sorted({d for _, d in by_key[s, p]})[:3]:
            asked += 1
            found = sorted(fact.object.label for fact in loaded.graph.at(day).values(s, p))
            assert found == sorted(o for o, d in by_key[s, p] if d == day)
        window = loaded.graph.during("2014-03-01", "2014-07-01")
        found = sorted((fact.object.label, str(fact.valid_from)) for fact in window.values(s, p))
        assert found == sorted((o, d) for o, d in by_key[s, p] if "2014-03-01" <= d < "2014-07-01")
    assert (len(keys), asked) == (237, 399)


def test_the_same_events_again_change_nothing(loaded: Loaded) -> None:
    told = [{"subject": s, "predicate": p, "object": o, "valid_from": day} for s, p, o, day in loaded.rows[:2_000]]
    again = [{**claim, "source_ref": "again"} for claim in told]
    with KnowledgeGraph(source="imported:icews") as graph:
        for relation in sorted({row[1] for row in loaded.rows}):
            graph.predicates.define(relation, cardinality="many", event=True, range="entity")
        assert graph.add_all(told).counts == {"new": 2_000}
        assert graph.add_all(again, batch_size=500).counts == {"duplicate": 2_000}
        assert graph.add_all(again).counts == {"idempotent": 2_000}
        assert graph.stats()["facts"] == 2_000
        assert graph.verify() == []


def test_every_tflex_query_is_answered_exactly(loaded: Loaded, shared_data: Path) -> None:
    """Two and three hops, before, after, between, and, or, not on entities and on days: 34 kinds, 60 queries each."""
    queries, exact = Queries(loaded.graph), defaultdict(int)
    for query in read_queries(shared_data / "icews14"):
        assert queries.answer(query) == sorted(query["answers"]), query["id"]
        exact[query["type"]] += 1
    assert set(exact.values()) == {60}
    assert len(exact) == 34


SAME_DAY = {  # kinds whose events all happen on one day that is not given: one pattern match over all time
    "Pe_Pt": [("e1", "r1", "?x"), ("e2", "r2", "e3")],
    "Pe_t2i": [("e1", "r1", "?x"), ("e2", "r2", "e3"), ("e4", "r3", "e5")],
    "t2i": [("e1", "r1", "e2"), ("e3", "r2", "e4")],
    "t3i": [("e1", "r1", "e2"), ("e3", "r2", "e4"), ("e5", "r3", "e6")],
}


def test_events_of_one_day_are_joined_by_a_single_match(loaded: Loaded, shared_data: Path) -> None:
    asked = [query for query in read_queries(shared_data / "icews14") if query["type"] in SAME_DAY]
    assert len(asked) == 240
    for query in asked:
        patterns = [_pattern(each, query["args"]) for each in SAME_DAY[query["type"]]]
        rows = loaded.graph.during().match(*patterns)
        if query["answer_kind"] == "entity":
            found = {row["x"].label for row in rows}
        else:
            found = {day for row in rows for day in _days(row)}
        assert found == set(query["answers"]), query["id"]


def _pattern(names: tuple[str, str, str], given: dict[str, Any]) -> tuple[str, str, str]:
    near, relation, far = (given.get(name, name) for name in names)
    ends = (far, near) if relation["inverse"] else (near, far)
    return ends[0], relation["relation"], ends[1]


def _days(row: Any) -> list[str]:
    start, end = (date.fromisoformat(str(bound)[:10]) for bound in row.interval)
    return [(start + timedelta(n)).isoformat() for n in range((end - start).days)]
