"""A graph of networkx as a foreign graph: nodes and edges with whatever attributes they have."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from semgraph.errors import InputError
from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode, Period
from semgraph.exchange.intake import check_wishes, intake
from semgraph.exchange.numbers import microseconds
from semgraph.temporal import exact

if TYPE_CHECKING:
    import networkx as nx

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Batch

__all__ = ["read_networkx"]


def read_networkx(kg: KnowledgeGraph, graph: nx.Graph[Any], *, source: str | None, unregistered: str) -> Batch:
    """What telling a graph of networkx did, all of it in one transaction."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed")):
        raise InputError(f"load_networkx takes a graph of networkx, not {type(graph).__name__}")
    check_wishes(source, unregistered)
    try:
        return intake(kg, _foreign(graph), source or "imported:networkx", unregistered)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the graph can't be taken in: {error}") from None


def _foreign(graph: Any) -> ForeignGraph:
    found = ForeignGraph("the graph of networkx", "networkx")
    for number, (node, data) in enumerate(graph.nodes(data=True), 1):
        label = data.get("label")
        values = {str(name): value for name, value in data.items() if name not in {"id", "label"} and value is not None}
        found.add_node(ForeignNode(str(node), number, label if isinstance(label, str) else None, values))
    keyed = graph.is_multigraph()
    edges = graph.edges(keys=True, data=True) if keyed else graph.edges(data=True)
    for number, (near, far, *key, data) in enumerate(edges, 1):
        values = {str(name): _plain(value) for name, value in data.items() if value is not None}
        if key and isinstance(key[0], str):
            values.setdefault("predicate", key[0])
        edge = ForeignEdge(str(near), str(far), number, directed=graph.is_directed(), values=values)
        edge.periods = _periods(values)
        found.add_edge(edge)
    return found


def _periods(values: dict[str, Any]) -> list[Period]:
    """The time of an edge that says it in microseconds, as `to_networkx` does; taken out of its attributes."""
    start, end = values.pop("valid_from_us", None), values.pop("valid_to_us", None)
    if (start is None and end is None) or "valid_from" in values or "valid_to" in values:
        return []
    try:
        return [Period(*(None if each is None else exact(microseconds(each)) for each in (start, end)))]
    except ValueError as error:
        raise InputError(f"an edge of the graph: {error}") from None


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
