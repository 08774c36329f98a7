"""RDF in the manner of Wikidata, a statement node for each fact: N-Quads as a stream, TriG through rdflib.

An entity has its name as `rdfs:label`. A fact is a node of the class `wikibase:Statement`, reached from its subject by
`claim/PREDICATE`, with its value as `statement/PREDICATE`, its interval as `start`, `end` and in microseconds, its rank
as `wikibase:rank`, its sources as `prov:wasDerivedFrom`. What holds also stands as a plain triple of subject, predicate
and object. All of it is in one named graph.
"""

from __future__ import annotations

import io
import re
import shutil
import warnings
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import quote

from semgraph.errors import MissingExtraError
from semgraph.exchange.graph import GraphRows, split_sources
from semgraph.exchange.lines import kept_aside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.exchange.graph import Edge, Node, Progress
    from semgraph.view import GraphView

__all__ = ["write_nquads", "write_trig"]

_BASE: Final = "urn:semgraph:"
_GRAPH: Final = f"<{_BASE}graph>"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_WIKIBASE: Final = "http://wikiba.se/ontology#"
_PROV: Final = "http://www.w3.org/ns/prov#"
_EDTF: Final = "http://id.loc.gov/datatypes/edtf/EDTF"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_PREFIXES: Final = {"wikibase": _WIKIBASE, "prov": _PROV} | {
    name: f"{_BASE}{name}:" for name in ("entity", "fact", "predicate", "claim", "statement", "source")
}
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_HOLDS: Final = {"active", "conflicted"}
#: XML Schema 1.0, to which RDF points, has no year 0, so that earlier years are told as EDTF.
_TYPES: Final = (
    (re.compile(r"[0-9]{4}"), "gYear"),
    (re.compile(r"[0-9]{4}-[0-9]{2}"), "gYearMonth"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "date"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z"), "dateTime"),
)


def write_nquads(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The view as N-Quads, facts after the entities that they join.

    The rank is as Wikidata gives it: preferred for what holds undisputed, else normal.
    """
    rows = GraphRows(view, progress)
    with kept_aside("".join(_fact(rows, edge) for edge in chunk) for chunk in rows.chunks()) as facts:
        for node in rows.nodes():
            if node.kind == "entity":
                file.write(_entity(node).encode())
        shutil.copyfileobj(facts, file, 1 << 20)


def write_trig(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The same as TriG, which people can read; all of it is in memory meanwhile.

    Raises:
        MissingExtraError: rdflib is not installed.
    """
    try:
        from rdflib import Dataset
    except ImportError:
        raise MissingExtraError("TriG", "rdf") from None
    quads = io.BytesIO()
    write_nquads(view, quads, progress)
    found = Dataset()
    for prefix, name in _PREFIXES.items():
        found.bind(prefix, name)
    with warnings.catch_warnings():  # rdflib uses what it deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        found.parse(data=quads.getvalue(), format="nquads")
        file.write(found.serialize(format="trig", encoding="utf-8"))


def _named(kind: str, name: str = "") -> str:
    """The IRI of something of ours."""
    return f"<{_BASE}{kind}:{quote(name, safe='')}>" if name else f"<{_BASE}{kind}>"


def _value(text: str, kind: str = "") -> str:
    """A literal, in one line."""
    return f'"{text.translate(_ESCAPES)}"' + (f"^^<{kind}>" if kind else "")


def _entity(node: Node) -> str:
    return _lines(_named("entity", node.id), [(f"<{_RDFS}label>", _value(node.label))])


def _fact(rows: GraphRows, edge: Edge) -> str:
    """A fact as a statement, and as a plain triple if it holds."""
    subject, statement = _named("entity", edge.subject), _named("fact", edge.fact_id)
    target = _object(rows.node(edge.object))
    plain = [(_named("predicate", edge.predicate), target)] if edge.status in _HOLDS else []
    rank = "PreferredRank" if edge.status == "active" else "NormalRank"
    told = [
        (f"<{_RDF}type>", f"<{_WIKIBASE}Statement>"),
        (_named("statement", edge.predicate), target),
        (f"<{_WIKIBASE}rank>", f"<{_WIKIBASE}{rank}>"),
        (_named("status"), _value(edge.status)),
        (_named("confidence"), _value(repr(edge.confidence), f"{_XSD}double")),
        *_times(edge),
        *((f"<{_PROV}wasDerivedFrom>", _named("source", source)) for source in split_sources(edge.source)),
    ]
    return _lines(subject, [*plain, (_named("claim", edge.predicate), statement)]) + _lines(statement, told)


def _times(edge: Edge) -> Iterator[tuple[str, str]]:
    for name, text in (("start", edge.valid_from), ("end", edge.valid_to)):
        if text == "unknown":
            yield _named(name), _named("unknown")
        elif text not in {"", "-inf"}:
            plain = (kind for shape, kind in _TYPES if shape.fullmatch(text))
            kind = None if text.startswith("0000") else next(plain, None)
            yield _named(name), _value(text, _EDTF if kind is None else _XSD + kind)
    for name, number in (("valid_from_us", edge.valid_from_us), ("valid_to_us", edge.valid_to_us)):
        if number is not None:
            yield _named(name), _value(str(number), f"{_XSD}long")


def _object(node: Node) -> str:
    kind, _, unit = node.kind.partition(":")
    if kind == "entity":
        return _named("entity", node.id)
    if kind == "number" and not unit:
        whole = node.label.lstrip("+-").isdigit()
        return _value(node.label, _XSD + ("integer" if whole else "double"))
    return _value(node.label, _XSD + kind if kind in {"boolean", "date"} else "")


def _lines(subject: str, told: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{subject} {predicate} {value} {_GRAPH} .\n" for predicate, value in told)
