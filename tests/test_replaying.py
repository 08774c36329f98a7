"""What claims must have left: the same for components together as alone, with little work for edges of two ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph, audit
from semgraph.fold import fold
from semgraph.ledger import Ledger

NAMES = ("Ann", "Bo", "Cy", "Di", "Eve")
MIRRORED = ({"symmetric": True}, {"symmetric": True, "cardinality": "one"}, {"unique_object": True})
Edge = tuple[str, str, str | None]
edges = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["2010", "2015", "2020", None]))
batches = st.lists(st.lists(edges, min_size=1, max_size=4), min_size=1, max_size=8)


def told(
    kg: KnowledgeGraph, options: dict[str, object], given_batches: list[list[tuple[str, str, str | None]]]
) -> None:
    kg.predicates.define("tied_to", **{"cardinality": "many", **options})
    for at, batch in enumerate(given_batches):
        kg.add_all({"subject": a, "predicate": "tied_to", "object": b, "valid_from": since} for a, b, since in batch)
        claims = list(kg.claims())
        if at % 3 == 1:
            kg.retract(claims[at % len(claims)].id)
        if at % 4 == 3:
            kg.end(batch[0][0], "tied_to", at="2018")


@pytest.mark.parametrize("options", MIRRORED)
@given(given_batches=batches)
def test_components_that_are_computed_together_are_as_they_are_alone(options, given_batches):
    with KnowledgeGraph() as kg:
        told(kg, options, given_batches)
        if {"Eve", "Di"} <= {entity.label for entity in kg.entities()}:
            kg.names.merge("Eve", "Di")
        assert kg.verify() == []
        with kg.reading() as reader:
            ledger = reader.ledger
            (groups,) = ledger.together(audit._components(reader))
            alone = [ledger.expected(group) for group in groups]
            found = ledger.expected_of(groups)
        for one, other in zip(found, alone, strict=True):
            assert [sorted(rows) for rows in one] == [sorted(rows) for rows in other]


def test_a_dense_graph_of_edges_with_two_ends_is_verified_with_a_fold_for_each_of_its_nodes(monkeypatch):
    folded = []
    monkeypatch.setattr("semgraph.belief.fold", lambda *args, **more: folded.append(1) or fold(*args, **more))
    with KnowledgeGraph() as kg:
        kg.predicates.define("tied_to", cardinality="many", symmetric=True)
        kg.add_all({"subject": f"n{i}", "predicate": "tied_to", "object": f"n{i * k % 40}"} for i in range(40)
                   for k in (3, 7, 11, 13) if i * k % 40 != i)  # fmt: skip
        folded.clear()
        assert kg.verify() == []
    assert 0 < len(folded) <= 2 * 40


def test_without_edges_of_two_ends_every_component_is_computed_alone():
    with KnowledgeGraph() as kg:
        kg.add_all({"subject": f"n{i}", "predicate": "likes", "object": "tea"} for i in range(5))
        with kg.reading() as reader:
            assert isinstance(reader.ledger, Ledger)
            assert [len(groups) for groups in reader.ledger.together(audit._components(reader))] == [1] * 5


def test_a_far_end_that_was_merged_for_a_while_counts_for_what_was_believed_then():
    day = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=2 * n) for n in range(99))
    with KnowledgeGraph(clock=lambda: next(day)) as kg:
        kg.add("Bo", "ceo_of", "Acme", source_ref="doc:1")
        kg.names.merge("Bo", "Acme")
        kg.add("Ann", "ceo_of", "Bo", source_ref="doc:1")
        assert kg.verify() == []
        kg.names.unmerge("Bo")
        assert kg.verify() == []
