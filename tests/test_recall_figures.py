"""What recall finds on real texts and questions: no less than the floors, on the half that nothing was chosen on."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from semgraph import KnowledgeGraph

pytestmark = pytest.mark.shared_data

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "recall.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("benchmarks_recall", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam", "timeqa"])
def test_recall_finds_no_less_than_the_floors(bench, shared_data, name):
    corpus = bench.SETS[name](shared_data)
    with bench.loaded(corpus) as graph:
        found = bench.figures(bench.ask(corpus, graph, bench.half_of(corpus.questions, "odd")))
    for (data, kind), floor in bench.FLOORS.items():
        if data == name and kind in found:
            told = found[kind].any5 if floor.figure == "any@5" else found[kind].frac10
            assert told >= floor.kept, f"{name}, {kind}: {floor.figure} is {told:.3f}"


def test_the_newer_of_two_sessions_comes_first_and_the_older_on_its_day(bench, shared_data):
    _, now, then = bench.updates(shared_data)
    assert now >= bench.FLOORS["longmemeval", "updates"].kept
    assert then >= bench.FLOORS["longmemeval", "updates"].kept


def test_the_floors_are_asked_of_the_graph_itself(bench):
    with KnowledgeGraph() as graph:
        graph.add("Ann", "states", "the kettle is broken", source_ref="c/1")
        corpus = bench.Corpus({}, [bench.Question("default", "what is broken", "k", frozenset({"c/1"}))], str)
        found = bench.figures(bench.ask(corpus, graph, corpus.questions))
    assert found["all"] == bench.Figures(1, 1.0, 1.0)
