"""The edges of a view in columns and in networkx: those that its facts are, from memory as from the store."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import walk_brute as brute
from hypothesis import given, settings
from hypothesis import strategies as st
from test_walk import GRAPHS, YEARS, built, claims

from semgraph import KnowledgeGraph
from semgraph.model import Entity
from semgraph.session import Session


@pytest.fixture(params=["from memory", "from the store"])
def origin(request, monkeypatch):
    if request.param == "from the store":
        monkeypatch.setattr(Session, "columns", lambda *_, **__: None)
    return request.param


def told(edges):
    """Every edge as subject, predicate, object, interval, confidence and id."""
    assert len(edges) == len(edges.confidence) == len(edges.fact_id)
    assert edges.valid_from.dtype == edges.valid_to.dtype == np.int64
    return sorted(
        (
            edges.entities[edges.subject[row]].label,
            edges.predicates[edges.predicate[row]],
            edges.entities[edges.object[row]].label,
            int(edges.valid_from[row]),
            int(edges.valid_to[row]),
            round(float(edges.confidence[row]), 9),
            edges.fact_id[row],
        )
        for row in range(len(edges))
    )


def wanted(view):
    return sorted(
        (f.subject.label, f.predicate, f.object.label, *brute.span(f), round(f.confidence, 9), f.id)
        for f in view.facts()
        if isinstance(f.object, Entity)
    )


def views(graph, year):
    return [
        graph,
        graph.at(str(year)),
        graph.during(),
        graph.during(str(year), str(year + 2)),
        graph.throughout(str(year), str(year + 1)),
    ]


@pytest.mark.usefixtures("origin")
@settings(max_examples=25)
@given(given_claims=GRAPHS, later=st.lists(claims(), max_size=4), year=st.sampled_from(YEARS))
def test_edges_are_the_facts_between_entities_before_and_after_a_write(given_claims, later, year):
    with built(given_claims) as graph:
        graph.add("A", "age", 41)
        then = graph.add("A", "uses", "A").recorded_at
        before = [(view, view.edges(), wanted(view)) for view in views(graph, year)[1:]]
        graph.add_all(later)
        past = graph.at(str(year), known_at=then)
        for view in [*views(graph, year), past]:
            assert told(view.edges()) == wanted(view)
        for _, edges, facts in before:
            assert told(edges) == facts  # also what is read when first asked for


@pytest.mark.usefixtures("origin")
def test_a_view_of_what_was_known_has_the_edges_of_then():
    with KnowledgeGraph() as kg:
        then = kg.add("Maya", "works_at", "Stripe", valid_from="2021").recorded_at
        kg.correct("Maya", "works_at", "Stripe", "Strype")
        assert [edge[2] for edge in told(kg.at("2022", known_at=then).edges())] == ["Stripe"]
        assert [edge[2] for edge in told(kg.at("2022").edges())] == ["Strype"]


@pytest.mark.usefixtures("origin")
@settings(max_examples=25)
@given(given_claims=GRAPHS, year=st.sampled_from(YEARS))
def test_networkx_has_the_same_edges(given_claims, year):
    with built(given_claims) as graph:
        for view in views(graph, year):
            edges = view.edges()
            found = view.to_networkx()
            assert isinstance(found, nx.MultiDiGraph)
            slow = nx.MultiDiGraph()  # as its own methods would have built it
            for near, predicate, far, start, end, *_ in told(edges):
                times = {"valid_from_us": start, "valid_to_us": None if end == brute.POS_INF else end}
                slow.add_edge(near, far, predicate=predicate, **times)
            assert sorted(map(str, found.edges(data=True))) == sorted(map(str, slow.edges(data=True)))
            assert set(found) == set(slow)
            assert {name: data["label"] for name, data in found.nodes(data=True)} == {name: name for name in found}
            for name in found:
                assert set(found.predecessors(name)) == set(slow.predecessors(name))
                assert graph.entity(name).id == found.nodes[name]["id"]


def test_a_node_is_a_label_and_of_those_who_share_it_the_id_too():
    with KnowledgeGraph() as kg:
        berg = kg.names.declare("Alex", label="Alex")
        stone = kg.names.declare("Stone", label="Stone")
        kg.names.alias("Alex", stone, primary=True, homonym=True)
        kg.add(berg, "knows", stone)
        assert list(kg.to_networkx().edges(keys=True)) == [(f"Alex ({berg.id})", f"Alex ({stone.id})", "knows")]


def test_parallel_facts_have_keys_of_their_own():
    with KnowledgeGraph() as kg:
        for topic in "abc":
            kg.add("Ann", "prefers", "tea", qualifiers={"topic": topic})
        kg.add("Ann", "uses", "tea")
        assert sorted(key for *_, key in kg.to_networkx().edges(keys=True)) == [
            "prefers",
            "prefers#2",
            "prefers#3",
            "uses",
        ]


def test_a_graph_of_networkx_is_a_copy():
    with KnowledgeGraph() as kg:
        kg.add("Ann", "knows", "Bo")
        found = kg.to_networkx()
        found.remove_node("Bo")
        assert len(kg.edges()) == 1
        assert nx.in_degree_centrality(kg.to_networkx())["Bo"] > 0.5


def test_an_empty_graph_has_empty_columns():
    with KnowledgeGraph() as kg:
        edges = kg.edges()
        assert (len(edges), list(edges.confidence), edges.fact_id, edges.entities) == (0, [], [], [])
        assert len(kg.to_networkx()) == 0


def test_columns_do_not_ask_for_networkx():
    code = "import sys, semgraph; kg = semgraph.KnowledgeGraph(); kg.add('A', 'knows', 'B'); len(kg.edges()); "
    code += "assert 'networkx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
