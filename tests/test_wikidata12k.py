"""Real facts with years: loaded, counted, and asked at points in time.

Entities are told by their Q-ids, because 19 labels of this set name two of them. An empty start is read as "ever
since", which is what the truth file means by it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from real_data import joined, json_rows, stretch, table_rows, timelines, year_text

from semgraph.engine import KnowledgeGraph
from semgraph.errors import AmbiguousNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from semgraph.model import Batch

pytestmark = pytest.mark.shared_data

SOURCE = "imported:wikidata"


class Loaded(NamedTuple):
    """The data set in a graph, and the rows that it was loaded from."""

    graph: KnowledgeGraph
    batch: Batch
    rows: list[list[str]]


@pytest.fixture(scope="module")
def loaded(shared_data: Path) -> Iterator[Loaded]:
    rows = table_rows(shared_data / "wikidata12k" / "facts.tsv.gz")
    with KnowledgeGraph(source=SOURCE) as graph:
        define_all(graph, rows)
        yield Loaded(graph, graph.add_all(told(rows)), rows)


def define_all(graph: KnowledgeGraph, rows: Iterable[list[str]]) -> None:
    """Every relation as one of many values, also where the starter vocabulary knows more of it."""
    for relation in sorted({row[3] for row in rows}):
        graph.predicates.define(relation, cardinality="many", range="entity")


def told(rows: Iterable[list[str]], *, no_start: str = "-inf") -> Iterator[dict[str, Any]]:
    for subject, _, _, relation, thing, _, start, end in rows:
        yield {
            "subject": subject,
            "predicate": relation,
            "object": thing,
            "valid_from": year_text(start) if start else no_start,
            "valid_through": year_text(end) if end else None,
        }


def test_only_the_inverted_intervals_are_refused(loaded: Loaded) -> None:
    inverted = [row for row in loaded.rows if row[6] and row[7] and int(row[6]) > int(row[7])]
    assert len(loaded.rows) == 40_621
    assert len(inverted) == 10
    assert sum(loaded.batch.counts.values()) == 40_621
    assert loaded.batch.counts["rejected"] == 10
    assert [(r.code, bool(r.reason)) for r in loaded.batch.rejected] == [("empty_interval", True)] * 10
    kept = loaded.graph.rejected()
    assert [(r.code, r.content["subject"], r.content["object"]) for r in kept] == [
        ("empty_interval", row[0], row[4]) for row in inverted
    ]


def test_every_fact_holds_in_its_years_and_no_others(loaded: Loaded) -> None:
    names = {row[3]: loaded.graph.predicates[row[3]].name for row in loaded.rows}
    wanted: dict[tuple[str, str], dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for subject, _, _, relation, thing, _, start, end in loaded.rows:
        if not (start and end and int(start) > int(end)):
            wanted[subject, names[relation]][thing].append(stretch(start, end))
    naive = {key: {value: joined(s) for value, s in values.items()} for key, values in wanted.items()}
    found = timelines(loaded.graph.during().facts())
    assert found == naive
    assert len(found) == 9_970
    assert sum(len(s) for values in found.values() for s in values.values()) == 36_853
    assert loaded.graph.stats()["claims"] == 40_611
    assert len(loaded.graph) == 12_554


def test_nothing_contradicts_where_many_values_are_allowed(loaded: Loaded) -> None:
    assert loaded.graph.during().conflicts() == []


def test_every_truth_of_a_point_in_time(loaded: Loaded, shared_data: Path) -> None:
    truths = json_rows(shared_data / "wikidata12k" / "truth_as_of.jsonl.gz")
    wrong = []
    for truth in truths:
        view = loaded.graph.at(truth["as_of"])
        if truth["ask"] == "objects":
            facts = view.values(truth["subject_id"], truth["relation"])
            found = sorted(fact.object.label for fact in facts)
        else:
            name = loaded.graph.predicates[truth["relation"]].name
            facts = [fact for fact in view.facts(object=truth["object_id"]) if fact.predicate == name]
            found = sorted(fact.subject.label for fact in facts)
        if found != sorted(truth["answer_ids"]):
            wrong.append((truth, found))
    assert wrong == []
    assert len(truths) == 2_997
    assert sum(not truth["answer_ids"] for truth in truths) == 502


def test_a_start_that_nobody_knows_is_possible_and_never_certain(shared_data: Path) -> None:
    rows = [row for row in table_rows(shared_data / "wikidata12k" / "facts.tsv.gz") if not row[6]]
    with KnowledgeGraph(source=SOURCE) as graph:
        define_all(graph, rows)
        graph.add_all(told(rows, no_start="unknown"))
        assert len(rows) == 1_405
        assert list(graph.during().facts()) == []
        assert len(list(graph.during().facts(possible=True))) == 1_405


def test_homonyms_stay_apart_and_are_named_as_candidates(loaded: Loaded) -> None:
    ids: dict[str, set[str]] = defaultdict(set)
    for row in loaded.rows:
        ids[row[1]].add(row[0])
        ids[row[5]].add(row[4])
    shared = {label: bearers for label, bearers in ids.items() if len(bearers) > 1}
    assert (len(shared), sum(map(len, shared.values()))) == (19, 44)
    for label, bearers in shared.items():
        for bearer in sorted(bearers):
            loaded.graph.names.alias(label, bearer, homonym=True)
    for label, bearers in shared.items():
        with pytest.raises(AmbiguousNameError) as caught:
            loaded.graph.entity(label)
        assert {e.label for e in caught.value.candidates} == bearers
        assert {e.label for e in loaded.graph.candidates(label)} == bearers
