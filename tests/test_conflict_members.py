"""How far a fact in conflict is believed: lowered once by each other member of its conflict sets."""

from __future__ import annotations

from itertools import permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph

NAMES = ("Ann", "Bo", "Cy", "Di")
edges = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans())


@pytest.mark.parametrize("options", [{"symmetric": True}, {"unique_object": True}, {}])
@given(told=st.lists(edges, min_size=2, max_size=7), order=st.permutations(NAMES))
def test_each_other_member_of_a_facts_conflict_sets_lowers_it_once(options, told, order):
    with KnowledgeGraph() as kg:
        kg.predicates.define("tied_to", cardinality="one", **options)
        for at, (one, other, negative) in enumerate(told):
            kg.add(one, "tied_to", other, valid_from="2010", said_at="2012", negative=negative, source=f"tool:{at}")
        view = kg.at("2015")
        known = sorted({entity.label for entity in kg.entities()})
        base = {fact.id: fact.confidence for name in known for fact in kg.timeline(name, negative=True)}
        sets = [{fact.id for fact in conflict.facts} for conflict in view.conflicts()]
        found = {fact.id: fact.confidence for name in order for fact in view.facts(name)}
        found |= {fact.id: fact.confidence for fact in view.facts()}
        for fact, confidence in found.items():
            others = {member for members in sets if fact in members for member in members} - {fact}
            assert confidence == pytest.approx(base[fact] * prod(1 - 0.3 * base[other] for other in others))


def test_edges_of_a_ring_are_each_in_conflict_with_two_in_whatever_order_they_are_read():
    ring = [("Ann", "Bo"), ("Bo", "Cy"), ("Di", "Cy"), ("Di", "Ann")]
    for told in permutations(ring):
        with KnowledgeGraph() as kg:
            kg.predicates.define("tied_to", cardinality="one", symmetric=True)
            kg.add_all(
                {"subject": a, "predicate": "tied_to", "object": b, "valid_from": "2010", "said_at": "2012"}
                for a, b in told
            )
            assert {round(fact.confidence, 6) for fact in kg.at("2015").facts()} == {round(0.9 * 0.73**2, 6)}
