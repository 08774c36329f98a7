"""What the schemas of GraphML and GEXF allow: elements within elements, their attributes and the values of those.

The tables follow the XML Schemas that graphdrawing.org and gexf.net publish; `Shape` holds a document to one of them
as it is read. Times and ids are checked here for their form only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semgraph.exchange.xmlreading import Name

__all__ = ["GEXF_12", "GEXF_13", "GRAPHML", "Shape", "is_token"]

Check = "Callable[[str], bool]"


class Element(NamedTuple):
    """What may stand in an element: children by their place in the order (those of one place mix), and attributes.

    A child in `single` stands at most once, one in `needed` at least once; so does an attribute in `required`.
    """

    children: Mapping[str, int]
    attributes: Mapping[str, Callable[[str], bool]]
    required: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


def is_token(text: str) -> bool:
    """Whether it is an NMTOKEN of XML: letters, digits and `. - _ :` without a space."""
    return bool(text) and all(c.isalnum() or c in ".-_:·" or "\u0300" <= c <= "\u036f" for c in text.strip())


def _any(_: str) -> bool:
    return True


def _matching(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern)
    return lambda text: found.fullmatch(text.strip()) is not None


def _words(text: str) -> Callable[[str], bool]:
    allowed = frozenset(text.split())
    return lambda given: given in allowed


_count = _matching(r"\+?[0-9]+|-0+")
_real = _matching(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|-?INF|NaN")
_zone = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_day = r"-?[0-9]{4,}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_date = _matching(_day + _zone)
_moment = _matching(rf"{_day}(T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]+)?)?{_zone}")
_truth = _words("true false 1 0")


def _time(text: str) -> bool:
    return _moment(text) or _real(text)


# -- GraphML

_EXTENSIBLE: Final = {"data": 1, "desc": 0}
GRAPHML: Final = {
    "": Element({"graphml": 0}, {}),
    "graphml": Element({"desc": 0, "key": 1, "graph": 2, "data": 2}, {}, single=("desc",)),
    "key": Element(
        {"desc": 0, "default": 1},
        {
            "id": is_token,
            "for": _words("all graphml graph node edge hyperedge port endpoint"),
            "attr.name": is_token,
            "attr.type": _words("boolean int long float double string"),
        },
        required=("id",),
        single=("desc", "default"),
    ),
    "graph": Element(
        {"desc": 0, "data": 1, "node": 1, "edge": 1, "hyperedge": 1, "locator": 1},
        {
            "id": is_token,
            "edgedefault": _words("directed undirected"),
            "parse.nodeids": _words("canonical free"),
            "parse.edgeids": _words("canonical free"),
            "parse.order": _words("nodesfirst adjacencylist free"),
            **dict.fromkeys(("parse.nodes", "parse.edges", "parse.maxindegree", "parse.maxoutdegree"), _count),
        },
        required=("edgedefault",),
        single=("desc",),
    ),
    "node": Element(
        {"desc": 0, "data": 1, "port": 1, "graph": 2, "locator": 2},
        {"id": is_token, "parse.indegree": _count, "parse.outdegree": _count},
        required=("id",),
        single=("desc", "graph", "locator"),
    ),
    "port": Element({"desc": 0, "data": 1, "port": 1}, {"name": is_token}, required=("name",), single=("desc",)),
    "edge": Element(
        {"desc": 0, "data": 1, "graph": 2},
        {
            "directed": _truth,
            **dict.fromkeys(("id", "source", "target", "sourceport", "targetport"), is_token),
        },
        required=("source", "target"),
        single=("desc", "graph"),
    ),
    "hyperedge": Element({"desc": 0, "data": 1, "endpoint": 1, "graph": 2}, {"id": is_token}, single=("desc", "graph")),
    "endpoint": Element(
        {"desc": 0},
        {"id": is_token, "port": is_token, "node": is_token, "type": _words("in out undir")},
        required=("node",),
        single=("desc",),
    ),
    "data": Element({}, {"key": is_token, "id": is_token}, required=("key",)),
    "default": Element({}, {}),
    "desc": Element({}, {}),
    "locator": Element({}, {}),
}

# -- GEXF

_OPEN: Final = dict.fromkeys(("start", "startopen", "end", "endopen"), _time)
_STAMPED: Final = {
    **dict.fromkeys(("start", "end", "timestamp"), _time),
    "intervals": _any,
    "timestamps": _any,
}
_SPELL: Final = dict.fromkeys(("start", "end", "timestamp"), _time)
_EDGE_TYPES: Final = _words("directed undirected mutual")
_LEAF: Final = Element({}, {})
_FREE: Final = dict.fromkeys("rgbaxyz", _real) | {"value": _any, "hex": _any, "uri": _any}
_VISUAL: Final = Element({}, _FREE)


def _gexf(
    version: str, types: str, times: Mapping[str, Callable[[str], bool]], spell: Mapping[str, Callable[[str], bool]]
) -> dict[str, Element]:
    """What the two versions have in common."""
    node = {"attvalues": 0, "spells": 0, "nodes": 0, "edges": 0, "parents": 0}
    return {
        "": Element({"gexf": 0}, {}),
        "gexf": Element(
            {"meta": 0, "graph": 1},
            {"version": _words(version), "variant": _any},
            required=("version",),
            single=("meta", "graph"),
            needed=("graph",),
        ),
        "meta": Element({"creator": 0, "keywords": 0, "description": 0}, {"lastmodifieddate": _date}),
        "creator": _LEAF,
        "keywords": _LEAF,
        "description": _LEAF,
        "attribute": Element(
            {"default": 0, "options": 0},
            {"id": _any, "title": _any, "type": _words(types)},
            required=("id", "title", "type"),
        ),
        "default": _LEAF,
        "options": _LEAF,
        "nodes": Element({"node": 0}, {"count": _count}),
        "edges": Element({"edge": 0}, {"count": _count}),
        "node": Element(
            {**node, **dict.fromkeys(("color", "position", "size", "shape"), 0)},
            {**times, "id": _any, "label": _any, "pid": _any},
            required=("id",),
        ),
        "attvalues": Element({"attvalue": 0}, {}),
        "attvalue": Element({}, {**spell, "for": _any, "value": _any}, required=("for", "value")),
        "spells": Element({"spell": 0}, {}, needed=("spell",)),
        "spell": Element({}, spell),
        "parents": Element({"parent": 0}, {}),
        "parent": Element({}, {"for": _any}, required=("for",)),
        **dict.fromkeys(("color", "position", "size", "shape", "thickness"), _VISUAL),
    }


_EDGE: Final = {
    "id": _any,
    "type": _EDGE_TYPES,
    "label": _any,
    "source": _any,
    "target": _any,
    "weight": _real,
}
_IN_EDGE: Final = dict.fromkeys(("attvalues", "spells", "color", "thickness", "shape"), 0)
_GRAPH: Final = {
    "timeformat": _words("integer double date dateTime"),
    "defaultedgetype": _EDGE_TYPES,
    "idtype": _words("integer string"),
}
_BASIC: Final = "integer long double float boolean liststring string anyURI"
GEXF_12: Final = {
    **_gexf("1.2", _BASIC, _OPEN, _OPEN),
    "graph": Element({"attributes": 0, "nodes": 0, "edges": 0}, {**_GRAPH, **_OPEN, "mode": _words("static dynamic")}),
    "attributes": Element(
        {"attribute": 0},
        {**_OPEN, "class": _words("node edge"), "mode": _words("static dynamic")},
        required=("class",),
    ),
    "edge": Element(_IN_EDGE, {**_OPEN, **_EDGE}, required=("id", "source", "target")),
}
_LISTS: Final = "boolean integer long float double byte short bigdecimal biginteger char"
GEXF_13: Final = {
    **_gexf(
        "1.3",
        f"{_BASIC} bigdecimal biginteger byte char short {' '.join(f'list{kind}' for kind in _LISTS.split())}",
        _STAMPED,
        _SPELL,
    ),
    "graph": Element(
        {"attributes": 0, "nodes": 1, "edges": 2},
        {
            **_GRAPH,
            **_SPELL,
            "mode": _words("static dynamic slice"),
            "timerepresentation": _words("interval timestamp"),
            "timezone": _any,
        },
        single=("nodes", "edges"),
        needed=("nodes", "edges"),
    ),
    "attributes": Element(
        {"attribute": 0}, {"class": _words("node edge"), "mode": _words("static dynamic")}, required=("class",)
    ),
    "edge": Element(_IN_EDGE, {**_STAMPED, **_EDGE, "kind": _any}, required=("source", "target")),
}

# -- holding a document to a table


class _Place(NamedTuple):
    """An element that is open: its name, the order of its last child, and the children met."""

    name: str
    last: int
    seen: frozenset[str]


class ShapeError(ValueError):
    """A document departs from its schema, which its reader may overlook if told to."""

    def __init__(self, departure: str) -> None:
        super().__init__(f"{departure}; strict=False (--no-strict) reads what can be understood all the same")


class Shape:
    """A document as it is read, against one table; `ShapeError` in words where it departs from it."""

    def __init__(self, what: str, namespace: str, table: Mapping[str, Element]) -> None:
        self.what = what
        self._namespace = namespace
        self._table = table
        self._open = [_Place("", 0, frozenset())]

    def start(self, name: Name, attributes: Mapping[Name, str]) -> None:
        """An element begins."""
        place = self._open[-1]
        namespace, local = name
        within = self._table[place.name]
        order = within.children.get(local)
        if namespace != self._namespace or order is None or order < place.last:
            raise ShapeError(f"{_shown(name, self._namespace)} may not stand here{self._in(place)}")
        if local in within.single and local in place.seen:
            raise ShapeError(f"a second {local} may not stand here{self._in(place)}")
        self._open[-1] = place._replace(last=order, seen=place.seen | {local})
        self._attributes(local, attributes)
        self._open.append(_Place(local, 0, frozenset()))

    def end(self) -> None:
        """The element that is open ends."""
        place = self._open.pop()
        missing = [child for child in self._table[place.name].needed if child not in place.seen]
        if missing:
            raise ShapeError(f"the {place.name} that ends here has no {missing[0]}, which {self.what} asks for")

    def _attributes(self, element: str, given: Mapping[Name, str]) -> None:
        allowed = self._table[element]
        own = {local: value for (namespace, local), value in given.items() if not namespace}
        for local, value in own.items():
            check = allowed.attributes.get(local)
            if check is None:
                raise ShapeError(f"{element} has the attribute {local!r}, which {self.what} does not know")
            if not check(value):
                raise ShapeError(f"{local}={value[:80]!r} of {element} is no value that {self.what} allows")
        for local in allowed.required:
            if local not in own:
                raise ShapeError(f"{element} lacks the attribute {local!r}, which {self.what} asks for")

    def _in(self, place: _Place) -> str:
        return f" in {place.name} by {self.what}" if place.name else f": {self.what} begins with another element"


def _shown(name: Name, own: str) -> str:
    namespace, local = name
    if namespace == own:
        return local
    return f"{local} of the namespace {namespace[:80]!r}" if namespace else f"{local} without a namespace"
