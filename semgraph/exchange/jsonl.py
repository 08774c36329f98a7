"""JSON lines: the lossless export of one scope, its restoring, and plain lines with the parameters of `add`.

An export is a header, then every row of every table that is not computed, one object a line with sorted keys, table
by table in key order, then the number of rows and the SHA-256 of all lines before. The same rows are the same bytes.
The name of the scope is no part of it. A line is at most 64 MiB long, a plain one 1 MiB.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected, InputError
from semgraph.exchange.checks import WRONG, Checker
from semgraph.exchange.lines import MAX_ROW, reading, refuse_own_file, writing
from semgraph.exchange.rows import dumped, header_from, header_of, parsed, row_from, row_lines
from semgraph.store.schema import TABLES
from semgraph.view import is_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Lines, Place
    from semgraph.exchange.rows import Header
    from semgraph.model import Batch
    from semgraph.store.schema import Row
    from semgraph.view import GraphView

__all__ = ["check_jsonl", "read_jsonl", "write_jsonl"]

FORMAT: Final = "semgraph"
VERSION: Final = 1


def write_jsonl(view: GraphView, place: Place) -> int:
    """The number of rows written: the whole of a scope, as one snapshot, so that `read_jsonl` loses nothing.

    A path is replaced in one step when all of it is on disk; a name that ends with .gz is packed.
    """
    if not is_graph(view):
        raise InputError("JSON lines hold the whole of a scope at every time: write the graph, not a view of it")
    refuse_own_file(view.path, place)
    with view._session.read(), writing(place) as file:  # noqa: SLF001 - only the session leads to the rows
        digest, count = hashlib.sha256(), -1  # the header is no row
        for line in _export(view):
            file.write(line)
            digest.update(line)
            count += 1
        file.write(dumped({"rows": count, "sha256": digest.hexdigest()}))
    return count


def _export(graph: KnowledgeGraph) -> Iterator[bytes]:
    """The header and every row."""
    session = graph._session  # noqa: SLF001
    store, scope = session.store, session.ledger.scope
    found = store.scope(session.scope)
    header = header_of(store, scope, 0 if found is None else found.entities)
    yield dumped({"format": FORMAT, "version": VERSION, **header._asdict()})
    yield from row_lines(store, scope)


def read_jsonl(kg: KnowledgeGraph, place: Place, source: str | None = None) -> Batch:
    """What taking in a file did, all of it in one transaction.

    An export restores an empty scope: ids, recorded times and everything else are as they were. (Claims that are told
    again are recognised if the scope has the same name, since the id of a claim includes it.) Into any other scope, or
    with a `source`, its claims come as newly recorded ones, said when they were said; names are resolved here; marks of
    retraction, merges, aliases, definitions and vetoes are taken over where nothing here contradicts them. Reading the
    same file again changes nothing.

    Other files have one object a line with the parameters of `add`.

    Args:
        kg: the graph; its scope is what is written to.
        place: a path or a binary stream; gzip is recognised.
        source: who says all of it, whatever the file says.

    Raises:
        ImportRejected: the file can't be taken in; `.code` is unreadable, empty, foreign, newer_format, bad_gzip,
            bad_encoding, bad_json, bad_row, oversize, truncated or damaged. Nothing of it was written.
    """
    if not is_graph(kg):
        raise InputError("a file is read into a graph, not into a view of it")
    with reading(place) as lines:
        number, line = next(lines, (0, b""))
        if not number:
            raise ImportRejected("empty", "the file is empty; an export has at least its header")
        first = parsed(line, number)
        if not isinstance(first, dict) or not ("format" in first or "subject" in first):
            raise ImportRejected("foreign", "line 1 is neither the header of an export nor a claim with a subject")
        if "format" not in first:
            told = list(_claims(number, first, lines, source))
            batch = kg.add_all([words for _, words in told])
            return replace(batch, rejected_at=tuple(told[place - 1][0] for place in batch.rejected_at))
        from semgraph.exchange.joining import join
        from semgraph.exchange.restoring import restore

        taken = ExportRows(line, first, lines)
        if source is None and (done := restore(kg, taken)) is not None:
            return done
        return join(kg, list(taken.rows(0)), source)


def check_jsonl(place: Place) -> int:
    """The number of rows of an export that is whole: each row read and checked, then their number and digest.

    Raises:
        ImportRejected: it is no export, or not whole.
    """
    with reading(place) as lines:
        number, line = next(lines, (0, b""))
        first = parsed(line, number) if number else None
        if not isinstance(first, dict) or "format" not in first:
            raise ImportRejected("foreign", "the file does not begin with the header of an export")
        return sum(1 for _ in ExportRows(line, first, lines).rows(0))


class ExportRows:
    """The rows of an export, each checked, with what its header says."""

    def __init__(self, line: bytes, first: Mapping[str, Any], lines: Lines) -> None:
        if first["format"] != FORMAT:
            raise ImportRejected("foreign", f"line 1 names the format {first['format']!r}; no export of semgraph")
        self.header: Header = header_from(first)
        self._digest = hashlib.sha256(line)
        self._lines = lines
        lines.longest = MAX_ROW

    def rows(self, scope: int) -> Iterator[Row]:
        """Every row, as one of the scope; ImportRejected where the file is not what was written."""
        checker = Checker(self.header.last_recorded)
        counts: Counter[str] = Counter(dict.fromkeys(self.header.counts, 0))
        for number, line in self._lines:
            found = parsed(line, number)
            if isinstance(found, dict) and "sha256" in found:
                self._end(found, number, counts, checker)
                return
            self._digest.update(line)
            row = row_from(found, number, scope)
            _checked(partial(checker.take, row), number)
            counts[TABLES[type(row)].name] += 1
            yield row
        raise ImportRejected("truncated", "the file ends before its last line, so a part of it is missing")

    def _end(self, found: Mapping[str, Any], number: int, counts: Counter[str], checker: Checker) -> None:
        if counts != self.header.counts or found != {"rows": counts.total(), "sha256": self._digest.hexdigest()}:
            raise ImportRejected("damaged", "the file is not as it was written: its counts or its digest differ")
        for extra, _ in self._lines:
            raise ImportRejected("damaged", f"line {extra} comes after the last line of the export")
        _checked(checker.finish, number)


def _checked(check: Callable[[], None], number: int) -> None:
    try:
        check()
    except WRONG as error:
        raise ImportRejected("bad_row", f"line {number}: {error}") from None


def _claims(at: int, first: dict[str, Any], lines: Lines, source: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The claims of plain lines with the numbers of these; empty lines are passed over."""
    yield at, _told_by(first, source)
    for number, line in lines:
        if line.strip():
            found = parsed(line, number)
            if not isinstance(found, dict):
                raise ImportRejected("bad_json", f"line {number} is no object with the parameters of add()")
            yield number, _told_by(found, source)


def _told_by(words: dict[str, Any], source: str | None) -> dict[str, Any]:
    return words if source is None else words | {"source": source}
