"""A graph that another tool wrote, before it is told as claims: nodes, edges, and what their attributes are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import ImportRejected
from semgraph.exchange.xmltext import shown

if TYPE_CHECKING:
    from semgraph.temporal import Bound

__all__ = ["ALWAYS_SO", "ForeignEdge", "ForeignGraph", "ForeignNode", "Period", "typed"]


class Period(NamedTuple):
    """From when until when; None is open, and both None says nothing of time."""

    start: Bound | None
    end: Bound | None


ALWAYS_SO: Final = Period(None, None)


@dataclass(slots=True)
class ForeignNode:
    """A node: its id in the file, its attributes by name, and for some of them the periods for which they hold."""

    id: str
    line: int
    label: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    dated: list[tuple[str, Any, Period]] = field(default_factory=list)


@dataclass(slots=True)
class ForeignEdge:
    """An edge: its ends by their ids, when it holds, and its attributes by name."""

    source: str
    target: str
    line: int
    id: str | None = None
    label: str | None = None
    directed: bool = True
    periods: list[Period] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ForeignGraph:
    """Everything that a file says, in its order.

    `said_at` is when it was said, if the file tells. `ours` says that semgraph wrote it, or wrote what it was made
    from: then names carry escapes, and edges are facts.
    """

    shown: str
    format: str
    nodes: dict[str, ForeignNode] = field(default_factory=dict)
    edges: list[ForeignEdge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ours: bool = False
    said_at: str | None = None
    edge_ids: set[str] = field(default_factory=set)

    def add_node(self, node: ForeignNode) -> ForeignNode:
        """Keep a node; ValueError for one without an id, or with one that stands already."""
        if not node.id:
            raise ValueError("a node has no id; give it one")
        if node.id in self.nodes:
            raise ValueError(f"a second node has the id {node.id[:80]!r}; ids must differ")
        self.nodes[node.id] = node
        return node

    def add_edge(self, edge: ForeignEdge) -> ForeignEdge:
        """Keep an edge; ValueError for one without two ends, or with an id that stands already."""
        if not (edge.source and edge.target):
            raise ValueError("an edge lacks its source or its target; name the nodes that it joins")
        if edge.id is not None and edge.id in self.edge_ids:
            raise ValueError(f"a second edge has the id {edge.id[:80]!r}; ids must differ")
        if edge.id is not None:
            self.edge_ids.add(edge.id)
        self.edges.append(edge)
        return edge

    def complete(self, *, strict: bool) -> None:
        """Make the nodes that edges name and the file does not declare, and say so; ImportRejected if strict."""
        unknown: dict[str, int] = {}
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self.nodes:
                    unknown.setdefault(end, edge.line)
        if not unknown:
            return
        if strict:
            first, line = next(iter(unknown.items()))
            raise ImportRejected(
                "bad_row",
                f"{self.shown}, line {line}: the edge names the node {first[:80]!r}, which is not declared; declare it",
            )
        listed = ", ".join(repr(end[:80]) for end in list(unknown)[:5]) + (" …" if len(unknown) > 5 else "")
        self.notes.append(f"edges name {len(unknown)} nodes that the file does not declare: {listed}; they were made")
        for end, line in unknown.items():
            self.nodes[end] = ForeignNode(end, line)

    def mark_ours(self, edge_attributes: set[str]) -> None:
        """Find out whose graph it is from what its edges are called to have."""
        self.ours = {"fact_id", "predicate", "status"} <= edge_attributes

    def unhide(self) -> None:
        """Give back the characters that XML can't hold, in a graph of ours."""
        if not self.ours:
            return
        for node in self.nodes.values():
            node.label = None if node.label is None else shown(node.label)
            node.values = {name: _unhidden(value) for name, value in node.values.items()}
        for edge in self.edges:
            edge.label = None if edge.label is None else shown(edge.label)
            edge.values = {name: _unhidden(value) for name, value in edge.values.items()}


def _unhidden(value: Any) -> Any:
    return shown(value) if isinstance(value, str) else value


_WHOLE: Final = frozenset(["int", "integer", "long", "byte", "short", "biginteger"])
_REAL: Final = frozenset(["float", "double", "bigdecimal"])


def typed(text: str, kind: str) -> Any:
    """The value of an attribute whose type the file declares; ValueError if the text is none of that type.

    >>> typed("29", "int"), typed("true", "boolean"), typed("a", "string")
    (29, True, 'a')
    """
    bare = text.strip()
    try:
        if kind in _WHOLE:
            return int(bare[:400])
        if kind in _REAL:
            return float(bare[:400])
    except ValueError:
        raise ValueError(f"{text[:80]!r} is no {kind}, as the attribute is declared") from None
    if kind == "boolean":
        if bare.lower() not in {"true", "false", "1", "0"}:
            raise ValueError(f"{text[:80]!r} is no boolean, as the attribute is declared")
        return bare.lower() in {"true", "1"}
    return text
