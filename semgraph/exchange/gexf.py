"""GEXF 1.3: a view as a dynamic graph whose nodes and edges have spells, and such files as claims."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode, Period, typed
from semgraph.exchange.graph import DETAILS, EDGE_COLUMNS, GraphRows
from semgraph.exchange.lines import kept_aside, reading_bytes, shown_name
from semgraph.exchange.shapes import GEXF_12, GEXF_13, Shape
from semgraph.exchange.xmlreading import LARGER, MAX_SIZE, parse
from semgraph.exchange.xmltext import escaped
from semgraph.exchange.xmltime import bound_of, date_time
from semgraph.temporal import NEG_INF, POS_INF, parse_through

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from semgraph.exchange.graph import Edge, Node, Progress
    from semgraph.exchange.lines import Place
    from semgraph.exchange.xmlreading import Name
    from semgraph.view import GraphView

    Span = tuple[int, int]

__all__ = ["read_gexf", "write_gexf"]

_TYPES: Final = {"valid_from_us": "long", "valid_to_us": "long", "confidence": "double"}
_HEAD: Final = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
{meta}
<graph defaultedgetype="directed" mode="dynamic" timeformat="date" timerepresentation="interval">
"""
_KNOWN_AT: Final = "as known at "
_TAIL: Final = "</edges>\n</graph>\n</gexf>\n"
_MANY: Final = 64  # spans of a node, before they are joined where they touch


def write_gexf(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The view as GEXF: node attributes `label kind`, edge attributes as `EDGE_COLUMNS` names them.

    The spell of an edge is the interval of its fact, those of a node are when any of its edges holds. Something that
    holds without beginning or end has no bound there; what is always so has no spell. The time format is `date`, which
    more readers know than `dateTime`; a bound within a day is a date-time all the same, as the schema allows. Details
    stand as JSON in `qualifiers`, if any fact has some.
    """
    rows, alive = GraphRows(view, progress), _Lives()
    with kept_aside(edge_lines(alive.noted(chunk)) for chunk in rows.chunks()) as edges:
        file.write(_HEAD.replace("{meta}", _meta(rows.known_at)).encode())
        file.write(_attributes("node", ("label", "kind")).encode())
        file.write(_attributes("edge", (*EDGE_COLUMNS, *([DETAILS] if rows.detailed else []))).encode())
        file.write(b"<nodes>\n")
        for node in rows.nodes():
            file.write(_node_line(node, alive.spans(node.id)).encode())
        file.write(b"</nodes>\n<edges>\n")
        shutil.copyfileobj(edges, file, 1 << 20)
        file.write(_TAIL.encode())


class _Lives:
    """When each node has an edge that holds."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = defaultdict(list)

    def noted(self, edges: Iterable[Edge]) -> Iterator[Edge]:
        """The same edges, on their way."""
        for edge in edges:
            span = _span(edge)
            for end in {edge.subject, edge.object}:
                spans = self._spans[end]
                spans.append(span)
                if len(spans) % _MANY == 0:
                    spans[:] = _joined(spans)
            yield edge

    def spans(self, key: str) -> list[Span]:
        """The stretches in which the node is there; none for one that no edge dates."""
        return _joined(self._spans.get(key, []))


def _span(edge: Edge) -> Span:
    start = NEG_INF if edge.valid_from_us is None else edge.valid_from_us
    return start, POS_INF if edge.valid_to_us is None else edge.valid_to_us


def _joined(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _meta(known_at: str) -> str:
    """Who wrote it, and when the newest of it was recorded: as the schema knows only days, in words too."""
    day = known_at.partition("T")[0]
    dated = f' lastmodifieddate="{day}"' if re.fullmatch(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}", day) else ""
    words = f"<description>{_KNOWN_AT}{known_at}</description>" if known_at else ""
    return f"<meta{dated}><creator>semgraph</creator>{words}</meta>"


def _attributes(element: str, names: Iterable[str]) -> str:
    lines = [f'<attribute id="{name}" title="{name}" type="{_TYPES.get(name, "string")}"/>\n' for name in names]
    return f'<attributes class="{element}" mode="static">\n{"".join(lines)}</attributes>\n'


def _node_line(node: Node, spans: list[Span]) -> str:
    label = escaped(node.label)
    values = f'<attvalue for="label" value="{label}"/><attvalue for="kind" value="{escaped(node.kind)}"/>'
    told = "".join(f"<spell{_edges_of(span)}/>" for span in spans if span != (NEG_INF, POS_INF))
    spells = f"<spells>{told}</spells>" if told else ""
    return f'<node id="{node.id}" label="{label}"><attvalues>{values}</attvalues>{spells}</node>\n'


def edge_lines(edges: Iterable[Edge]) -> str:
    """The elements of some edges; ids and times hold nothing that would need an escape."""
    return "".join(
        [
            f'<edge id="{e[2]}" source="{e[0]}" target="{e[1]}" label="{escaped(e[3])}">'
            f'<attvalues><attvalue for="fact_id" value="{e[2]}"/><attvalue for="predicate" value="{escaped(e[3])}"/>'
            f"{_told(e[8], e[9], e[10])}{_details(e[11]) if e[11] else ''}{_bounds(e[4], e[5], e[6], e[7])}</edge>\n"
            for e in edges
        ]
    )


@lru_cache(maxsize=1 << 16)
def _told(confidence: float, source: str, status: str) -> str:
    return (
        f'<attvalue for="confidence" value="{confidence!r}"/><attvalue for="source" value="{escaped(source)}"/>'
        f'<attvalue for="status" value="{status}"/>'
    )


def _details(details: str) -> str:
    return f'<attvalue for="{DETAILS}" value="{escaped(details)}"/>'


def _bounds(start: str, end: str, start_us: int | None, end_us: int | None) -> str:
    values = {"valid_from": start, "valid_to": end or None, "valid_from_us": start_us, "valid_to_us": end_us}
    told = "".join([f'<attvalue for="{k}" value="{v}"/>' for k, v in values.items() if v is not None])
    span = (NEG_INF if start_us is None else start_us, POS_INF if end_us is None else end_us)
    spell = "" if span == (NEG_INF, POS_INF) else f"<spells><spell{_edges_of(span)}/></spells>"
    return f"{told}</attvalues>{spell}"


def _edges_of(span: Span) -> str:
    start, end = span
    first = "" if start == NEG_INF else f' start="{date_time(start)}"'
    return first if end == POS_INF else f'{first} end="{date_time(end)}"'


# -- in


def read_gexf(place: Place, *, strict: bool = True) -> ForeignGraph:
    """The graph in a file of any version of GEXF, nested nodes and edges as others.

    The schemas of 1.2 and 1.3 let edges name nodes that are not declared; those are made, and a note says so.

    Args:
        place: a path or a binary stream; gzip is recognised.
        strict: refuse what the schema of versions 1.2 and 1.3 does not allow; else only what can't be understood.

    Raises:
        ImportRejected: forbidden_xml, bad_xml, bad_row, oversize, bad_gzip, bad_encoding or unreadable.
    """
    found = ForeignGraph(shown_name(place), "gexf")
    with reading_bytes(place, MAX_SIZE, LARGER) as source:
        parse(source, _Reader(found, strict=strict), found.shown)
    return found


class _Attribute(NamedTuple):
    """A declared attribute: its title, its type, and the value of those that have none."""

    title: str
    type: str
    default: str | None


class _Reader:
    """The elements of one file, one after another."""

    def __init__(self, graph: ForeignGraph, *, strict: bool) -> None:
        self.graph = graph
        self._strict = strict
        self._shape: Shape | None = None
        self._declared: dict[str, dict[str, _Attribute]] = {"node": {}, "edge": {}}
        self._class = "node"
        self._attribute = ""
        self._open: list[ForeignNode | ForeignEdge | None] = []
        self._directed = True
        self._numbers = False  # whether times are bare numbers, which say no unit
        self._undeclared: Counter[str] = Counter()
        self._lifespans = 0
        self._untimed = 0

    def start(self, name: Name, attributes: Mapping[Name, str], line: int) -> None:
        """An element begins."""
        if not self._open:
            self._begin(name)
        if self._shape is not None:
            self._shape.start(name, attributes)
        own = {local: value for (namespace, local), value in attributes.items() if not namespace}
        known = name[0] == self._namespace
        begin = getattr(self, f"_start_{name[1]}", None) if known else None
        self._open.append(None if begin is None else begin(own, line))

    def end(self, name: Name, text: str) -> None:
        """It ends."""
        if self._shape is not None:
            self._shape.end()
        finish = getattr(self, f"_end_{name[1]}", None) if name[0] == self._namespace else None
        if finish is not None:
            finish(text)
        self._open.pop()

    def _begin(self, name: Name) -> None:
        self._namespace, local = name
        if local != "gexf":
            raise ValueError(f"a GEXF file begins with gexf, not with {local[:80]}")
        shape = _SHAPES.get(self._namespace)
        if self._strict and shape is not None:
            self._shape = Shape(shape[0], self._namespace, shape[1])

    # -- what is declared

    def _start_meta(self, own: Mapping[str, str], _: int) -> None:
        self.graph.said_at = own.get("lastmodifieddate")

    def _end_description(self, text: str) -> None:
        if text.startswith(_KNOWN_AT):
            self.graph.said_at = text.removeprefix(_KNOWN_AT).strip()

    def _start_graph(self, own: Mapping[str, str], _: int) -> None:
        self._directed = own.get("defaultedgetype", "undirected") != "undirected"
        self._numbers = own.get("timeformat") in {"integer", "double"}

    def _start_attributes(self, own: Mapping[str, str], _: int) -> None:
        self._class = own.get("class", "node")
        if self._class not in self._declared:
            raise ValueError(f"attributes are of the class node or edge, not {self._class[:80]!r}")

    def _start_attribute(self, own: Mapping[str, str], _: int) -> None:
        number = own.get("id", "")
        if number in self._declared[self._class]:
            raise ValueError(f"a second attribute of {self._class}s has the id {number[:80]!r}; ids must differ")
        attribute = _Attribute(own.get("title") or number, own.get("type", "string"), None)
        self._declared[self._class][number] = attribute
        self._attribute = number

    def _end_default(self, text: str) -> None:
        attribute = self._declared[self._class].get(self._attribute)
        if attribute is not None:
            self._declared[self._class][self._attribute] = attribute._replace(default=text)

    # -- nodes and edges

    def _start_node(self, own: Mapping[str, str], line: int) -> ForeignNode:
        node = self.graph.add_node(ForeignNode(own.get("id", ""), line, own.get("label")))
        self._lifespans += any(name in own for name in ("start", "end", "timestamp", "intervals"))
        return node

    def _start_edge(self, own: Mapping[str, str], line: int) -> ForeignEdge:
        kind = own.get("type")
        edge = ForeignEdge(
            own.get("source", ""),
            own.get("target", ""),
            line,
            own.get("id"),
            own.get("kind") or own.get("label"),
            directed=self._directed if kind is None else kind == "directed",
        )
        if own.get("kind") and own.get("label"):
            edge.values["label"] = own["label"]
        if own.get("weight") is not None:
            edge.values["weight"] = typed(own["weight"], "double")
        if (period := self._period(own)) is not None:
            edge.periods.append(period)
        edge.periods += self._intervals(own.get("intervals", ""))
        return self.graph.add_edge(edge)

    def _start_spell(self, own: Mapping[str, str], _: int) -> None:
        holder = self._holder()
        if isinstance(holder, ForeignNode):
            self._lifespans += 1
        elif holder is not None and (period := self._period(own)) is not None:
            holder.periods.append(period)

    def _start_attvalue(self, own: Mapping[str, str], _: int) -> None:
        holder = self._holder()
        if holder is None:
            return
        kind = "node" if isinstance(holder, ForeignNode) else "edge"
        number = own.get("for", own.get("id", ""))
        attribute = self._declared[kind].get(number)
        if attribute is None:
            if self._shape is not None:
                raise ValueError(f"the {kind} attribute {number[:80]!r} is not declared; declare it")
            self._undeclared[number] += 1
            attribute = _Attribute(number, "string", None)
        value = typed(own.get("value", ""), attribute.type)
        period = self._period(own)
        if period is not None and isinstance(holder, ForeignNode):
            holder.dated.append((attribute.title, value, period))
        else:
            holder.values[attribute.title] = value

    def _holder(self) -> ForeignNode | ForeignEdge | None:
        return next((made for made in reversed(self._open) if made is not None), None)

    def _period(self, own: Mapping[str, str]) -> Period | None:
        if "timestamp" in own:
            return self._timed(own["timestamp"], own["timestamp"], through=True)
        start, end = own.get("start", own.get("startopen")), own.get("end", own.get("endopen"))
        return None if start is None and end is None else self._timed(start, end)

    def _timed(self, start: str | None, end: str | None, *, through: bool = False) -> Period | None:
        if self._numbers or any(_NUMBER.fullmatch(text.strip()) for text in (start, end) if text):
            if self._shape is not None:
                raise ValueError(
                    f"the time {start or end!r} is a bare number, which may count anything; write times as dates"
                )
            self._untimed += 1
            return None
        first = None if not start else bound_of(start)
        last = None if not end else bound_of(end)
        if last is not None and (through or (first is not None and last.instant == first.instant)):
            last = parse_through(last)  # a time that ends where it begins is that day or second
        return Period(first, last)

    def _intervals(self, text: str) -> list[Period]:
        """The periods of an attribute like `<[2009-01-01, 2010-01-01]; [2012-01-01, 2013-01-01]>`."""
        pairs = (_PAIR.fullmatch(part) for part in text.strip().strip("<>").split(";") if part.strip())
        found = [self._timed(*(_open_end(side) for side in pair.groups())) for pair in pairs if pair is not None]
        return [period for period in found if period is not None]

    # -- the end

    def _end_gexf(self, _: str) -> None:
        for kind, declared in self._declared.items():
            holders = list(self.graph.nodes.values()) if kind == "node" else self.graph.edges
            for attribute in declared.values():
                if attribute.default is not None:
                    value = typed(attribute.default, attribute.type)
                    for holder in holders:
                        holder.values.setdefault(attribute.title, value)
        self.graph.mark_ours({attribute.title for attribute in self._declared["edge"].values()})
        self.graph.complete(strict=False)
        self.graph.unhide()
        for name, times in self._undeclared.items():
            self.graph.notes.append(f"the attribute {name!r} is not declared ({times} times); it was read as text")
        if self._lifespans and not self.graph.ours:
            self.graph.notes.append(f"{self._lifespans} spells of nodes were left out: a fact joins two things")
        if self._untimed:
            self.graph.notes.append(f"{self._untimed} times were left out: they are numbers that say no unit")


_SHAPES: Final = {
    "http://www.gexf.net/1.2draft": ("GEXF 1.2", GEXF_12),
    "http://gexf.net/1.3": ("GEXF 1.3", GEXF_13),
    "http://www.gexf.net/1.3": ("GEXF 1.3", GEXF_13),
}
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_PAIR: Final = re.compile(r"\s*[\[(]\s*([^,\]]*?)\s*,\s*([^,\]]*?)\s*(?:,[^\])]*)?[\])]\s*")


def _open_end(text: str) -> str | None:
    return None if text.lower() in {"", "-infinity", "infinity", "+infinity"} else text
