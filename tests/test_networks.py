"""Graphs of networkx taken in: names, predicates, times and attributes, and there and back again."""

from __future__ import annotations

from datetime import UTC, datetime

import networkx as nx
import pytest
from hypothesis import given, settings
from test_walk import GRAPHS, built

from semgraph import InputError, KnowledgeGraph


@pytest.fixture
def kg():
    with KnowledgeGraph() as graph:
        yield graph


def told(view):
    return sorted((f.subject.label, f.predicate, f.object.label) for f in view.facts())


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_each_kind_of_graph_is_taken_in(kg, kind):
    graph = kind()
    graph.add_edge("Ann", "Bo", predicate="trusts")
    graph.add_edge("Bo", 7)
    graph.add_node("lonely")
    batch = kg.load_networkx(graph)
    assert batch.predicates == {"linked_to": 1, "trusts": 1}
    assert told(kg) == [("Ann", "trusts", "Bo"), ("Bo", "linked_to", "7")]
    assert "lonely" in kg
    assert kg.predicates["trusts"].cardinality == "many"
    assert {fact.sources for fact in kg.facts()} == {("imported:networkx",)}


@pytest.mark.parametrize(
    ("attributes", "interval"),
    [
        ({"valid_from": "2020-05", "valid_to": "2021"}, ("2020-05", "2021")),
        ({"valid_from": datetime(2020, 5, 1, tzinfo=UTC)}, ("2020-05-01T00:00:00Z", "None")),
        ({"valid_from_us": 0, "valid_to_us": 1_000_000}, ("1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z")),
        ({"valid_from": "1960", "valid_to": "1970", "valid_to_us": 1_000_000}, ("1960", "1970")),
    ],
)
def test_times_are_read_in_words_and_in_microseconds(kg, attributes, interval):
    graph = nx.MultiDiGraph()
    graph.add_edge("Ann", "Bo", key="trusts", **attributes)
    kg.load_networkx(graph)
    (fact,) = kg.during().facts("Ann", "trusts")
    assert (str(fact.valid_from), str(fact.valid_to)) == interval


def test_other_attributes_are_kept(kg):
    graph = nx.DiGraph()
    graph.add_node("Ann", label="Ann Berg", age=41)
    graph.add_edge("Ann", "Bo", predicate="trusts", weight=3)
    kg.load_networkx(graph, source="imported:survey")
    assert kg.value("Ann Berg", "age") == 41
    (fact,) = kg.facts("Ann Berg", "trusts")
    assert (dict(fact.qualifiers), fact.sources) == ({"weight": 3}, ("imported:survey",))


@pytest.mark.parametrize(
    ("graph", "options"),
    [
        ("edges", {}),
        (None, {}),
        (nx.Graph([("a", "b")]), {"unregistered": "several"}),
        (nx.Graph([("a", "b")]), {"source": 3}),
        (nx.Graph([(1, "1")]), {}),
        *((nx.Graph([("a", "b", {"valid_from_us": us})]), {}) for us in (float("inf"), float("nan"), [1], "x", True)),
    ],
)
def test_what_can_not_be_taken_in_is_refused_and_nothing_is_written(kg, graph, options):
    with pytest.raises(InputError):
        kg.load_networkx(graph, **options)
    assert len(kg) == 0


@settings(max_examples=8)
@given(given_claims=GRAPHS)
def test_there_and_back_again(given_claims):
    with built(given_claims) as graph, KnowledgeGraph() as other:
        first = graph.during().to_networkx()
        for name in {predicate for *_, predicate in first.edges(data="predicate")}:
            known = name in graph.predicates
            event = known and graph.predicates[name].event
            other.predicates.define(name, cardinality="many", event=event)
        other.load_networkx(first)
        second = other.during().to_networkx()
        times = [
            sorted(
                (u, v, d["predicate"], str(d["valid_from_us"]), str(d["valid_to_us"])) for u, v, d in g.edges(data=True)
            )
            for g in (first, second)
        ]
        assert set(first) == set(second)
        assert times[0] == times[1]
