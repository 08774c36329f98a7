"""CSV: a view as tables of edges and of nodes that no spreadsheet takes for formulas, and such tables as claims."""

from __future__ import annotations

import csv
import io
import re
from typing import IO, TYPE_CHECKING, Final

from semgraph.exchange.graph import EDGE_COLUMNS, GraphRows, Node
from semgraph.exchange.lines import writing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from semgraph.exchange.graph import Edge, Progress
    from semgraph.view import GraphView

__all__ = ["guarded", "unguarded", "write_edges", "write_tables"]

_ENDS: Final = ("subject", "object", "object_kind", "subject_id", "object_id")
HEAD: Final = ("subject", "predicate", "object", *EDGE_COLUMNS[2:], "fact_id", "object_kind", "subject_id", "object_id")
#: What a spreadsheet may run: a cell that begins so, also after white space or in full width.
_FORMULA: Final = re.compile(r"'*\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|'*\s*[\t\r]")


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
    rest = [edge.source, edge.status, edge.fact_id, target.kind, edge.subject, edge.object]
    return [*map(guarded, texts), *numbers, *map(guarded, rest)]


def _lines(rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()
