"""Exports as graphology of npm reads them: every node, every parallel edge and every interval.

Needs node, and the packages in the folder that SEMGRAPH_NODE names: npm install --prefix FOLDER graphology
graphology-gexf graphology-graphml
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from graph_files import names_of, rich, seen, written

from semgraph.exchange.xmltext import hidden

SCRIPT = """
const {MultiDirectedGraph} = require('graphology');
const {parse} = require('graphology-' + process.argv[1]);
const graph = parse(MultiDirectedGraph, require('fs').readFileSync(0, 'utf8'), {addMissingNodes: false});
console.log(JSON.stringify({
  nodes: graph.mapNodes((_, a) => [a.label, a.kind]),
  edges: graph.mapEdges((_, a, s, t) => [
    graph.getNodeAttribute(s, 'label'), a.predicate, graph.getNodeAttribute(t, 'label'),
    a.valid_from, a.valid_to || '', a.valid_from_us ?? null]),
}));
"""


@pytest.fixture(scope="module")
def node() -> tuple[str, Path]:
    program, folder = shutil.which("node"), os.environ.get("SEMGRAPH_NODE")
    if program is None:
        pytest.skip("needs node")
    if folder is None or not (Path(folder) / "node_modules" / "graphology").is_dir():
        pytest.skip("needs SEMGRAPH_NODE, a folder with the packages of graphology")
    return program, Path(folder).resolve()


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_graphology_reads_the_same_graph(kind: str, node: tuple[str, Path]):
    program, folder = node
    kg = rich()
    done = subprocess.run(
        [program, "-e", SCRIPT, kind], input=written(kg, kind), cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    wanted = [[hidden(r[0]), r[1], hidden(r[2]), r[4], r[5], None if r[6] < -(2**62) else r[6]] for r in seen(kg)]
    assert sorted(found["edges"], key=str) == sorted(wanted, key=str)
    entities = sorted(label for label, kind in found["nodes"] if kind == "entity")
    assert entities == sorted(map(hidden, names_of(kg)))
