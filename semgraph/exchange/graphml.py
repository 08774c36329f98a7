"""GraphML: a view as a directed multigraph whose edges carry their intervals, and such files as claims."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode, typed
from semgraph.exchange.graph import DETAILS, EDGE_COLUMNS, GraphRows
from semgraph.exchange.lines import kept_aside, reading_bytes, shown_name
from semgraph.exchange.shapes import GRAPHML, Shape
from semgraph.exchange.xmlreading import LARGER, MAX_SIZE, parse
from semgraph.exchange.xmltext import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semgraph.exchange.graph import Edge, Node, Progress
    from semgraph.exchange.lines import Place
    from semgraph.exchange.xmlreading import Name
    from semgraph.view import GraphView

__all__ = ["read_graphml", "write_graphml"]

_NAMESPACE: Final = "http://graphml.graphdrawing.org/xmlns"
_TYPES: Final = {"valid_from_us": "long", "valid_to_us": "long", "confidence": "double"}
_HEAD: Final = f"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="{_NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="{_NAMESPACE} {_NAMESPACE}/1.0/graphml.xsd">
"""
_FROM: Final = '<data key="valid_from_us">%d</data>'
_TAIL: Final = "</graph>\n</graphml>\n"


def write_graphml(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The view as GraphML: node attributes `label kind`, edge attributes as `EDGE_COLUMNS` names them.

    The id of an edge is that of its fact. A time without a place among the microseconds, open or unknown, has none.
    Details stand as JSON in `qualifiers`, if any fact has some. The graph itself has `known_at`, when the newest of it
    was recorded.
    """
    rows = GraphRows(view, progress)
    with kept_aside(edge_lines(chunk) for chunk in rows.chunks()) as edges:
        parts = iter(lambda: edges.read(1 << 20), b"")
        write_elements(file, rows.nodes(), parts, known_at=rows.known_at, details=rows.detailed)


def write_elements(
    file: IO[bytes], nodes: Iterable[Node], edges: Iterable[bytes], *, known_at: str = "", details: bool = False
) -> None:
    """The whole document around nodes and the elements of edges."""
    file.write(_HEAD.encode())
    for name in ("label", "kind"):
        file.write(_key("node", name).encode())
    for name in (*EDGE_COLUMNS, *([DETAILS] if details else [])):
        file.write(_key("edge", name).encode())
    file.write(_key("graph", "known_at").encode())
    file.write(b'<graph id="G" edgedefault="directed">\n')
    if known_at:
        file.write(f'<data key="known_at">{known_at}</data>\n'.encode())
    for node in nodes:
        file.write(_node_line(node).encode())
    for part in edges:
        file.write(part)
    file.write(_TAIL.encode())


def _key(element: str, name: str) -> str:
    kind = _TYPES.get(name, "string")
    return f'<key id="{_id(element, name)}" for="{element}" attr.name="{name}" attr.type="{kind}"/>\n'


def _id(element: str, name: str) -> str:
    """The id of a key; nodes and edges may have attributes of one name."""
    return f"n_{name}" if element == "node" else name


def _node_line(node: Node) -> str:
    return (
        f'<node id="{node.id}"><data key="n_label">{escaped(node.label)}</data>'
        f'<data key="n_kind">{escaped(node.kind)}</data></node>\n'
    )


def edge_lines(edges: Iterable[Edge]) -> str:
    """The elements of some edges; ids and times hold nothing that would need an escape."""
    return "".join(
        [
            f'<edge id="{fact}" source="{subject}" target="{thing}"><data key="fact_id">{fact}</data>'
            f'<data key="predicate">{escaped(predicate)}</data><data key="valid_from">{start}</data>'
            f"{'' if start_us is None else _FROM % start_us}{_ended(end, end_us) if end else ''}"
            f"{_told(confidence, source, status)}{_details(details) if details else ''}</edge>\n"
            for (
                subject, thing, fact, predicate, start, end, start_us, end_us, confidence, source, status, details,
            ) in edges
        ]
    )  # fmt: skip


def _ended(end: str, end_us: int | None) -> str:
    last = "" if end_us is None else f'<data key="valid_to_us">{end_us}</data>'
    return f'<data key="valid_to">{end}</data>{last}'


@lru_cache(maxsize=1 << 16)
def _told(confidence: float, source: str, status: str) -> str:
    return (
        f'<data key="confidence">{confidence!r}</data><data key="source">{escaped(source)}</data>'
        f'<data key="status">{status}</data>'
    )


def _details(details: str) -> str:
    return f'<data key="{DETAILS}">{escaped(details)}</data>'


# -- in


def read_graphml(place: Place, *, strict: bool = True) -> ForeignGraph:
    """The graph in a file, its nested graphs as one.

    Args:
        place: a path or a binary stream; gzip is recognised.
        strict: refuse what the schema of GraphML does not allow; else only what can't be understood.

    Raises:
        ImportRejected: forbidden_xml, bad_xml, bad_row, oversize, bad_gzip, bad_encoding or unreadable.
    """
    found = ForeignGraph(shown_name(place), "graphml")
    with reading_bytes(place, MAX_SIZE, LARGER) as source:
        parse(source, _Reader(found, strict=strict), found.shown)
    return found


class _Key(NamedTuple):
    """A declared attribute: of what, its name and type, and the value of those that have none."""

    element: str
    name: str
    type: str
    default: Any


class _Reader:
    """The elements of one file, one after another."""

    def __init__(self, graph: ForeignGraph, *, strict: bool) -> None:
        self.graph = graph
        self._shape = Shape("GraphML", _NAMESPACE, GRAPHML) if strict else None
        self._keys: dict[str, _Key] = {}
        self._open: list[
            ForeignNode | ForeignEdge | ForeignGraph | None
        ] = []  # what each open element makes, if it makes something
        self._directed = [True]
        self._data = ""
        self._key = ""
        self._undeclared: Counter[str] = Counter()

    def start(self, name: Name, attributes: Mapping[Name, str], line: int) -> None:
        """An element begins."""
        if self._shape is not None:
            self._shape.start(name, attributes)
        own = {local: value for (namespace, local), value in attributes.items() if not namespace}
        if not self._open and name[1] != "graphml":
            raise ValueError(f"a GraphML file begins with graphml, not with {name[1][:80]}")
        begin = getattr(self, f"_start_{name[1]}", None)
        self._open.append(None if begin is None else begin(own, line))

    def end(self, name: Name, text: str) -> None:
        """It ends."""
        self._open.pop()
        if self._shape is not None:
            self._shape.end()
        finish = getattr(self, f"_end_{name[1]}", None)
        if finish is not None:
            finish(text)

    # -- by element

    def _start_key(self, own: Mapping[str, str], _: int) -> None:
        key = own.get("id", "")
        if key in self._keys:
            raise ValueError(f"a second key has the id {key[:80]!r}; ids must differ")
        self._keys[key] = _Key(own.get("for", "all"), own.get("attr.name") or key, own.get("attr.type", "string"), None)
        self._key = key

    def _end_default(self, text: str) -> None:
        key = self._keys.get(self._key)
        if key is not None:
            self._keys[self._key] = key._replace(default=typed(text, key.type))

    def _end_key(self, _: str) -> None:
        self._key = ""

    def _start_graph(self, own: Mapping[str, str], _: int) -> ForeignGraph:
        self._directed.append(own.get("edgedefault", "directed") != "undirected")
        return self.graph

    def _end_graph(self, _: str) -> None:
        self._directed.pop()

    def _start_node(self, own: Mapping[str, str], line: int) -> ForeignNode:
        return self.graph.add_node(ForeignNode(own.get("id", ""), line))

    def _start_edge(self, own: Mapping[str, str], line: int) -> ForeignEdge:
        directed = {"true": True, "1": True, "false": False, "0": False}.get(own.get("directed", ""))
        directed = self._directed[-1] if directed is None else directed
        source, target = own.get("source", ""), own.get("target", "")
        return self.graph.add_edge(ForeignEdge(source, target, line, own.get("id"), directed=directed))

    def _start_hyperedge(self, _: Mapping[str, str], __: int) -> None:
        raise ValueError("a hyperedge joins more than two nodes, which no fact does; tell it as edges")

    def _start_data(self, own: Mapping[str, str], _: int) -> None:
        self._data = own.get("key", "")

    def _end_data(self, text: str) -> None:
        holder = self._open[-1] if self._open else None
        if isinstance(holder, ForeignGraph) and self._data in self._keys and self._keys[self._data].name == "known_at":
            holder.said_at = text.strip()
        if not isinstance(holder, (ForeignNode, ForeignEdge)):
            return
        key = self._keys.get(self._data)
        if key is None:
            if self._shape is not None:
                raise ValueError(f"data names the key {self._data[:80]!r}, which is not declared; declare it")
            self._undeclared[self._data] += 1
            key = _Key("all", self._data, "string", None)
        holder.values[key.name] = typed(text, key.type)

    def _end_graphml(self, _: str) -> None:
        for key in self._keys.values():
            if key.default is not None:
                for holder in self._holders(key.element):
                    holder.values.setdefault(key.name, key.default)
        for name, times in self._undeclared.items():
            self.graph.notes.append(f"the key {name!r} is not declared ({times} times); it was read as text")
        self.graph.complete(strict=self._shape is not None)
        self.graph.mark_ours({key.name for key in self._keys.values() if key.element == "edge"})
        self.graph.unhide()

    def _holders(self, element: str) -> list[ForeignNode | ForeignEdge]:
        nodes = list(self.graph.nodes.values()) if element in {"node", "all"} else []
        return [*nodes, *(self.graph.edges if element in {"edge", "all"} else [])]
