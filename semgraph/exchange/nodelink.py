"""JSON in the node-link form that networkx and d3 read: a view as nodes and edges, and such files as claims."""

from __future__ import annotations

import json
import shutil
from typing import IO, TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected
from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode
from semgraph.exchange.graph import DETAILS, EDGE_COLUMNS, GraphRows, joined_sources, split_sources
from semgraph.exchange.lines import kept_aside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from semgraph.exchange.graph import Edge, Progress
    from semgraph.view import GraphView

__all__ = ["node_link_graph", "write_nodelink"]

_HEAD: Final = '{{"directed":true,"multigraph":true,"graph":{},"nodes":['
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def write_nodelink(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The view as one JSON document that `networkx.node_link_graph(…, edges="edges")` takes as a MultiDiGraph.

    Nodes have `id label kind`. Edges have `source target key` and the attributes of `EDGE_COLUMNS`, where `key` is the
    fact's id and the sources are the list `sources`, since `source` is where an edge begins.
    """
    rows = GraphRows(view, progress)
    with kept_aside(_parted(_edge(edge) for chunk in rows.chunks() for edge in chunk)) as edges:
        file.write(_HEAD.format(_json({"known_at": rows.known_at} if rows.known_at else {})).encode())
        for part in _parted(_json(node._asdict()) for node in rows.nodes()):
            file.write(part.encode())
        file.write(b'\n],"edges":[')
        shutil.copyfileobj(edges, file, 1 << 20)
        file.write(b"\n]}\n")


def _parted(items: Iterator[str]) -> Iterator[str]:
    """Each on a line of its own, with commas between."""
    between = "\n"
    for item in items:
        yield between + item
        between = ",\n"


def _edge(edge: Edge) -> str:
    told: dict[str, Any] = dict(zip((*EDGE_COLUMNS, DETAILS), edge[2:], strict=True))
    sources = split_sources(told.pop("source"))
    values = {name: value for name, value in told.items() if value not in (None, "")}
    ends = {"source": edge.subject, "target": edge.object, "key": edge.fact_id}
    return _json({**ends, **values, "sources": sources})


# -- in


def node_link_graph(document: Mapping[str, Any], shown: str) -> ForeignGraph:
    """The graph that a parsed node-link document holds, its edges under `edges` or, as older tools have it, `links`.

    Raises:
        ImportRejected: bad_row, with the number of the node or edge, from 1.
    """
    graph = ForeignGraph(shown, "json")
    directed = document.get("directed", True) is not False
    kind, number = "node", 0
    try:
        for number, found in enumerate(_objects(document, "nodes"), 1):
            graph.add_node(_node(found, number))
        kind, number = "edge", 0
        names: set[str] = set()
        for number, found in enumerate(_objects(document, "edges" if "edges" in document else "links"), 1):
            graph.add_edge(_link(found, number, directed=directed))
            names |= found.keys()
    except ValueError as error:
        raise ImportRejected("bad_row", f"{shown}, {kind} {number}: {error}") from None
    graph.mark_ours(names)
    about = document.get("graph")
    if isinstance(about, dict) and isinstance(about.get("known_at"), str):
        graph.said_at = about["known_at"]
    if graph.ours:
        for edge in graph.edges:
            if isinstance(edge.values.get("sources"), list):
                edge.values["source"] = joined_sources(tuple(map(str, edge.values["sources"])))
    graph.complete(strict=False)
    return graph


def _objects(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = document.get(name)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError(f"{name!r} of a node-link document is a list of objects")
    return found


def _node(found: Mapping[str, Any], number: int) -> ForeignNode:
    label = found.get("label")
    values = {key: value for key, value in found.items() if key not in {"id", "label"}}
    return ForeignNode(_id(found, "id"), number, label if isinstance(label, str) else None, values)


def _link(found: Mapping[str, Any], number: int, *, directed: bool) -> ForeignEdge:
    label = found.get("label")
    values = {key: value for key, value in found.items() if key not in {"source", "target", "label"}}
    edge = ForeignEdge(_id(found, "source"), _id(found, "target"), number, directed=directed, values=values)
    edge.label = label if isinstance(label, str) and "predicate" not in found else None
    return edge


def _id(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if isinstance(value, (dict, list, bool)) or value is None:
        raise ValueError(f"{name!r} is missing, or no text or number")
    return str(value)
