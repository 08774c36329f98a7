"""CSV: a view as tables of edges and of nodes that no spreadsheet takes for formulas, and such tables as claims."""

from __future__ import annotations

import csv
import io
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected
from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode, typed
from semgraph.exchange.graph import DETAILS, EDGE_COLUMNS, GraphRows, Node
from semgraph.exchange.intake import intake, tell
from semgraph.exchange.lines import reading_bytes, shown_name, writing
from semgraph.model import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.graph import Edge, Progress
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch
    from semgraph.view import GraphView

    Claim = dict[str, Any]
    Rows = list[tuple[int, list[str]]]

__all__ = ["guarded", "take_tables", "unguarded", "write_edges", "write_tables"]

_MAX_SIZE: Final = 64 << 20  # bytes, unpacked
_PAIRS: Final = (("subject", "object"), ("source", "target"), ("from", "to"), ("head", "tail"), ("node1", "node2"))
_RELATIONS: Final = ("predicate", "relation", "relationship", "label", "type", "kind")
_TOLD: Final = WORDS - {"because", "qualifiers", "kind"}
_ENDS: Final = ("subject", "object", "object_kind", "subject_id", "object_id")
HEAD: Final = (
    "subject", "predicate", "object", *EDGE_COLUMNS[2:], DETAILS, "fact_id", "object_kind", "subject_id", "object_id"
)  # fmt: skip
#: What a spreadsheet may run: a cell that begins so, also after what is white or not seen, or in full width.
_FORMULA: Final = re.compile(r"'*[\s\u00ad\u200b-\u200f\u2060\ufeff]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|'*\s*[\t\r]")


def guarded(text: str) -> str:
    """The cell with an apostrophe before what a spreadsheet could take for a formula.

    >>> guarded("=1+1"), guarded("1+1"), guarded("'=1")
    ("'=1+1", '1+1', "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def write_tables(view: GraphView, path: Path, progress: Progress | None = None) -> None:
    """The edges at the path, and beside it the nodes: `notes.csv` and `notes.nodes.csv`."""
    rows = GraphRows(view, progress)
    with writing(path) as edges, writing(nodes_path(path)) as nodes:
        _write_edges(rows, edges)
        nodes.write(_lines([Node._fields, *([guarded(cell) for cell in node] for node in rows.nodes())]))


def write_edges(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """The edges alone, for a stream: their ends are there by name."""
    _write_edges(GraphRows(view, progress), file)


def nodes_path(path: Path) -> Path:
    """Where the nodes of a table of edges are."""
    packed = path.suffix.lower() == ".gz"
    bare = path.with_suffix("") if packed else path
    return bare.with_name(f"{bare.stem}.nodes{bare.suffix}{path.suffix if packed else ''}")


def _write_edges(rows: GraphRows, file: IO[bytes]) -> None:
    file.write(_lines([HEAD]))
    for chunk in rows.chunks():
        file.write(_lines(_cells(rows, edge) for edge in chunk))


def _cells(rows: GraphRows, edge: Edge) -> list[str]:
    subject, target = rows.node(edge.subject), rows.node(edge.object)
    numbers = ["" if value is None else str(value) for value in (edge.valid_from_us, edge.valid_to_us, edge.confidence)]
    texts = [subject.label, edge.predicate, target.label, edge.valid_from, edge.valid_to]
    rest = [edge.source, edge.status, edge.qualifiers, edge.fact_id, target.kind, edge.subject, edge.object]
    return [*map(guarded, texts), *numbers, *map(guarded, rest)]


def _lines(rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


# -- in


def take_tables(kg: KnowledgeGraph, place: Place, source: str | None, unregistered: str) -> Batch:
    """What a table did: one of ours with the nodes beside it, or any with a line for each claim.

    The columns of another table are named after the parameters of `add`; `source` and `target`, `from` and `to`,
    `head` and `tail` or `node1` and `node2` may stand for subject and object. Further columns are qualifiers.

    Raises:
        ImportRejected: bad_row, with the line; bad_encoding, empty, oversize, bad_gzip or unreadable.
    """
    shown = shown_name(place)
    head, rows = _read(place)
    if {*_ENDS, "fact_id", "predicate", "status"} <= set(head):
        graph = _graph(head, rows, shown)
        if isinstance(place, (str, os.PathLike)) and nodes_path(Path(place)).is_file():
            _add_nodes(graph, nodes_path(Path(place)))
        return intake(kg, graph, source, unregistered)
    return tell(kg, list(_claims(head, rows, shown, source)), unregistered)


def _read(place: Place) -> tuple[list[str], Rows]:
    """The names of the columns, and every row with its line."""
    shown = shown_name(place)
    with reading_bytes(place, _MAX_SIZE, "split it") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ImportRejected("bad_encoding", f"{shown}, line {line} is no UTF-8; save it as UTF-8") from None
    first = text.partition("\n")[0]
    parted = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=parted, strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        rows = [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error as error:
        raise ImportRejected("bad_row", f"{shown}, line {reader.line_num}: {error}; mend the quotes") from None
    if not head:
        raise ImportRejected("empty", f"{shown} is empty; a table has at least the names of its columns")
    for line, row in rows:
        if len(row) != len(head):
            raise ImportRejected("bad_row", f"{shown}, line {line} has {len(row)} cells, not {len(head)}")
    return head, rows


def _graph(head: Sequence[str], rows: Rows, shown: str) -> ForeignGraph:
    graph = ForeignGraph(shown, "csv", ours=True)
    for line, row in rows:
        told = {name: unguarded(cell) for name, cell in zip(head, row, strict=True)}
        subject, target = told.pop("subject_id"), told.pop("object_id")
        graph.nodes.setdefault(subject, ForeignNode(subject, line, told.pop("subject"), {"kind": "entity"}))
        graph.nodes.setdefault(target, ForeignNode(target, line, told.pop("object"), {"kind": told.pop("object_kind")}))
        values: dict[str, Any] = {name: cell for name, cell in told.items() if cell and name not in _ENDS}
        try:
            for name in ("valid_from_us", "valid_to_us"):
                if name in values:
                    values[name] = typed(values[name], "long")
            if "confidence" in values:
                values["confidence"] = typed(values["confidence"], "double")
            graph.add_edge(ForeignEdge(subject, target, line, values=values))
        except ValueError as error:
            raise ImportRejected("bad_row", f"{shown}, line {line}: {error}") from None
    return graph


def _add_nodes(graph: ForeignGraph, path: Path) -> None:
    """The nodes of the file beside, those without an edge too."""
    head, rows = _read(path)
    for line, row in rows:
        told = {name: unguarded(cell) for name, cell in zip(head, row, strict=True)}
        if told.get("id") and told.get("id") not in graph.nodes:
            node = ForeignNode(told["id"], line, told.get("label"), {"kind": told.get("kind", "entity")})
            graph.nodes[node.id] = node


def _claims(head: Sequence[str], rows: Rows, shown: str, source: str | None) -> Iterator[Claim]:
    names = _columns(head, shown)
    for line, row in rows:
        told: Claim = {"source": f"imported:{shown}", "source_ref": f"{shown}#line {line}"}
        details: Claim = {}
        for name, cell in zip(names, row, strict=True):
            value = unguarded(cell)
            if value.strip() == "":
                continue
            if name in WORDS:
                told[name] = _cell(name, value)
            else:
                details[name] = value
        if details:
            told["qualifiers"] = details
        if source is not None:
            told["source"] = source
        missing = [name for name in ("subject", "predicate", "object") if name not in told]
        if missing:
            raise ImportRejected("bad_row", f"{shown}, line {line}: the cell of the {missing[0]} is empty")
        yield told


def _columns(head: Sequence[str], shown: str) -> list[str]:
    """What each column is: a parameter of `add`, or a detail."""
    plain = [name.strip().casefold().replace(" ", "_") for name in head]
    ends = next((pair for pair in _PAIRS if set(pair) <= set(plain)), None)
    relation = next((name for name in _RELATIONS if name in plain), None)
    if ends is None or relation is None:
        wanted = "subject, predicate and object" if ends is None else "predicate"
        raise ImportRejected("bad_row", f"{shown}, line 1: a table of claims has columns for {wanted}")
    renamed = {ends[0]: "subject", ends[1]: "object", relation: "predicate"}
    found = [renamed.get(name, name if name in _TOLD else given) for name, given in zip(plain, head, strict=True)]
    twice = next((name for name in found if found.count(name) > 1 or not name), None)
    if twice is not None:
        raise ImportRejected("bad_row", f"{shown}, line 1: the column {twice!r} stands twice, or has no name")
    return found


def _cell(name: str, value: str) -> Any:
    if name == "negative":
        return value.strip().lower() in {"true", "1", "yes"}
    if name == "confidence":
        with suppress(ValueError):
            return float(value)
    return value
