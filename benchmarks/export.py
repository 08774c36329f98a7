"""How fast a graph becomes GraphML, beside what other tools write: edges per second, interleaved, as ratios.

    python -m benchmarks.export --facts 100000

Every writer writes the same directed multigraph with the same nine attributes on each edge to a file on the same disk,
round by round. The peers hold the graph in memory, as they do; `elements` is our writer on edges that are in memory
too, `store` the whole of `semgraph.write` from a store.
Peers that are not installed are passed over with a word.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import semgraph
from benchmarks.common import SEED, defined, machine, table, world
from semgraph.exchange.graph import EDGE_COLUMNS
from semgraph.exchange.graphml import edge_lines, write_elements
from semgraph.view import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.exchange.graph import Edge, Node

    Writer = Callable[[Path], object]

ATTRIBUTES = EDGE_COLUMNS


def graph_of(facts: int) -> tuple[semgraph.KnowledgeGraph, list[Node], list[Edge]]:
    """A store with the data, and what it holds as nodes and edges."""
    from semgraph.exchange.graph import GraphRows

    kg = defined(semgraph.KnowledgeGraph())
    kg.add_all(world(facts).claims(), batch_size=20_000)
    rows = GraphRows(kg)
    edges = [edge for chunk in rows.chunks() for edge in chunk]
    return kg, list(rows.nodes()), edges


def values_of(edge: Edge) -> dict[str, Any]:
    """The attributes, of types that every peer can write."""
    found = {name: getattr(edge, name) for name in ATTRIBUTES}
    return {name: -1 if value is None else value for name, value in found.items()}


def ours(nodes: list[Node], edges: list[Edge]) -> Writer:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            chunks = (edges[first : first + CHUNK] for first in range(0, len(edges), CHUNK))
            write_elements(file, nodes, (edge_lines(chunk).encode() for chunk in chunks))

    return write


def store(kg: semgraph.KnowledgeGraph) -> Writer:
    return lambda path: semgraph.write(kg, path, format="graphml")


def by_igraph(nodes: list[Node], edges: list[Edge]) -> Writer:
    import igraph

    place = {node.id: number for number, node in enumerate(nodes)}
    graph = igraph.Graph(len(nodes), [(place[e.subject], place[e.object]) for e in edges], directed=True)
    graph.vs["label"] = [node.label for node in nodes]
    told = [values_of(edge) for edge in edges]
    for name in ATTRIBUTES:
        graph.es[name] = [values[name] for values in told]
    return lambda path: graph.write_graphml(str(path))


def by_networkx(nodes: list[Node], edges: list[Edge]) -> Writer:
    import networkx as nx

    graph = nx.MultiDiGraph()
    graph.add_nodes_from((node.id, {"label": node.label}) for node in nodes)
    graph.add_edges_from((e.subject, e.object, e.fact_id, values_of(e)) for e in edges)
    return lambda path: nx.write_graphml_xml(graph, path)


def by_lxml(nodes: list[Node], edges: list[Edge]) -> Writer:
    from lxml import etree

    told = [(edge, {name: str(value) for name, value in values_of(edge).items()}) for edge in edges]

    def write(path: Path) -> None:
        with etree.xmlfile(str(path), encoding="utf-8") as file, file.element("graphml"), file.element("graph"):
            for node in nodes:
                made = etree.Element("node", id=node.id)
                etree.SubElement(made, "data", key="label").text = node.label
                file.write(made)
            for edge, values in told:
                made = etree.Element("edge", id=edge.fact_id, source=edge.subject, target=edge.object)
                for name, value in values.items():
                    etree.SubElement(made, "data", key=name).text = value
                file.write(made)

    return write


PEERS = {"igraph": by_igraph, "networkx": by_networkx, "lxml": by_lxml}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    kg, nodes, edges = graph_of(asked.facts)
    writers: dict[str, Writer] = {"elements": ours(nodes, edges), "store": store(kg)}
    for name, make in PEERS.items():
        try:
            writers[name] = make(nodes, edges)
        except ImportError as error:
            print(f"{name} is passed over: {error}")
    taken: dict[str, list[float]] = {name: [] for name in writers}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.rounds):
            for name, write in writers.items():
                path = Path(folder) / f"{name}.graphml"
                began = time.perf_counter()
                write(path)
                taken[name].append(time.perf_counter() - began)
        sizes = {name: (Path(folder) / f"{name}.graphml").stat().st_size / len(edges) for name in writers}
    print(f"{len(edges):,} edges, {len(nodes):,} nodes, seed {SEED}; {machine()}")
    seconds = {name: statistics.median(times) for name, times in taken.items()}
    head = ("writer", "edges/s", "bytes/edge", "elements are", "store is")
    rows = [
        (
            name,
            f"{len(edges) / seconds[name]:,.0f}",
            f"{sizes[name]:.0f}",
            f"{seconds[name] / seconds['elements']:.2f} x",
            f"{seconds[name] / seconds['store']:.2f} x",
        )
        for name in writers
    ]
    print(table([head, *rows]))


if __name__ == "__main__":
    main()
