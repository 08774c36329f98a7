"""What can still be read of a damaged file: each row by itself, found by every way that leads to it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import apsw

from semgraph.errors import StoreCorrupt
from semgraph.pages import unchecked
from semgraph.store.digests import is_whole
from semgraph.store.faults import CORRUPT, FAULTS, declared
from semgraph.store.interning import Symbols
from semgraph.store.migrations import index_name
from semgraph.store.moulds import Mould, carrier_of
from semgraph.store.packing import unpacked
from semgraph.store.schema import TABLES, ClaimRow, FactRow
from semgraph.store.shapes import RowType, canonical, columns
from semgraph.store.statements import stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semgraph.store.protocol import R


def rescued(connection: apsw.Connection, table: type[R]) -> Iterator[R]:
    """Every row that can be read and is as it was written, once each.

    A scan ends at the first broken page, so the table is walked from both ends and along each of its indexes.
    """
    words = _words(connection)
    for row, _ in _rescued(connection, table, words):
        yield row
    for claim, mould in _rescued(connection, ClaimRow, words) if table is FactRow else ():
        fact = None
        with suppress(StoreCorrupt):  # without its mould the fact is lost until it is computed anew
            fact = None if mould is None else Mould(words[0].values[mould]).cast(carrier_of(claim))
        if fact is not None:
            yield cast("R", fact)


def reckoned(connection: apsw.Connection, table: type[R]) -> tuple[int, bool]:
    """How many rows the table had at least, and whether that is all of them.

    It is where one way, be it along an index, led through every row; what a broken page held nobody can tell.
    """
    walks = [(found, whole and every) for way, every in _ways(table) for found, whole in (_walk(connection, way),)]
    complete = [len(found) for found, whole in walks if whole]
    if complete:
        return max(complete), True
    return len({handle for found, _ in walks for handle in found}), False


def damaged(connection: apsw.Connection) -> list[str]:
    """What is wrong: of SQLite's own check, and a line for each table with a digest whose rows are not all whole."""
    try:
        lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    except FAULTS as error:
        _pass_over(error)
        lines = [CORRUPT]
    with unchecked():
        return lines + _damaged_rows(connection)


def _damaged_rows(connection: apsw.Connection) -> list[str]:
    lines = []
    for table, definition in TABLES.items():
        if definition.sealed and not _all_whole(connection, table, _words(connection)):
            whole = sum(1 for _ in rescued(connection, table))
            lines.append(f"{definition.name}: damaged rows; {whole} are whole")
    return lines


class _Lost:
    """Where a symbol would be looked for that could not be read: there is no second place."""

    def __init__(self) -> None:
        self.unfinished: set[Any] = set()

    def fetch(self, *_: object) -> list[tuple[Any, ...]]:
        return []

    def some(self, *_: object) -> Iterator[list[tuple[Any, ...]]]:
        return iter(())

    def run(self, *_: object) -> int:
        return 0

    many = run


def _words(connection: apsw.Connection) -> list[Symbols]:
    """The symbols that can be read; each stands in two places, and where they differ either may be right."""
    ways = ("NOT INDEXED", "NOT INDEXED ORDER BY n DESC", "INDEXED BY sqlite_autoindex_symbol_1")
    rows, last, index = (_symbols(connection, way) for way in ways)
    found = []
    for values in ({**index, **last, **rows}, {**rows, **last, **index}):
        symbols = Symbols(_Lost())
        symbols.values.update(values)
        found.append(symbols)
    return found


def _symbols(connection: apsw.Connection, way: str) -> dict[int, str | int]:
    text = f"SELECT n, CAST(value AS BLOB), typeof(value) FROM symbol {way}"  # noqa: S608  # names of ours
    found: dict[int, str | int] = {}
    for number, value, kind in _handles(connection, text):
        with suppress(ValueError):
            found[number] = int(value) if kind == "integer" else value.decode()
    return found


def _all_whole(connection: apsw.Connection, table: RowType, words: Sequence[Symbols]) -> bool:
    text = f"SELECT {', '.join(stored(table))} FROM {TABLES[table].name} NOT INDEXED"  # noqa: S608  # names of ours
    try:
        return all(_read(table, row, words[:1]) is not None for row in connection.execute(text))
    except FAULTS as error:
        _pass_over(error)
        return False


def _rescued(connection: apsw.Connection, table: RowType, words: Sequence[Symbols]) -> Iterator[tuple[Any, Any]]:
    """Every row that is whole, with the mould of a claim's."""
    seen: set[tuple[Any, ...]] = set()
    for way, _ in _ways(table):
        for handle in _handles(connection, way):
            if handle in seen:
                continue
            seen.add(handle)
            values = _at(connection, table, handle)
            row = None if values is None else _read(table, values[:-1], words)
            if values is not None and row is not None:
                yield row, values[-1]


def _ways(table: RowType) -> Iterator[tuple[str, bool]]:
    """Every statement that finds the rows, and whether it is one for all of them."""
    definition = TABLES[table]
    handle = ", ".join(_handle(table))
    yield f"SELECT {handle} FROM {definition.name} NOT INDEXED", True  # noqa: S608  # names of ours
    down = ("rowid",) if TABLES[table].heap else definition.key
    sort = ", ".join(f"{name} DESC" for name in down)
    yield f"SELECT {handle} FROM {definition.name} NOT INDEXED ORDER BY {sort}", True  # noqa: S608
    for index in definition.indexes:
        some = f" WHERE scope NOT NULL AND {index[-1]} NOT NULL" if index in definition.partial else ""
        text = f"SELECT {handle} FROM {definition.name} INDEXED BY {index_name(table, index)}{some}"  # noqa: S608
        yield text, not some


def _handle(table: RowType) -> list[str]:
    """What finds a row again; texts as bytes, since a damaged one may be no UTF-8."""
    if TABLES[table].heap:
        return ["rowid"]
    found = columns(table)
    return [name if found[name].type is int else f"CAST({name} AS BLOB)" for name in TABLES[table].key]


def _handles(connection: apsw.Connection, way: str) -> list[tuple[Any, ...]]:
    return _walk(connection, way)[0]


def _walk(connection: apsw.Connection, way: str) -> tuple[list[tuple[Any, ...]], bool]:
    """What a way finds, and whether it led to the end; all at once, as an open cursor would outlive its transaction."""
    found = []
    try:
        for handle in connection.execute(way):
            found.append(handle)  # noqa: PERF402  # what came before the error is kept
    except FAULTS as error:
        _pass_over(error)
        return found, False
    return found, True


def _at(connection: apsw.Connection, table: RowType, handle: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values that the file has at a place, and the mould of a claim's row."""
    tests = " AND ".join(f"{name} = ?" for name in _handle(table))
    names = ", ".join((*stored(table), "mould" if table is ClaimRow else "NULL"))
    text = f"SELECT {names} FROM {TABLES[table].name} WHERE {tests}"  # noqa: S608  # names of ours
    try:
        rows = connection.execute(text, handle).fetchall()
    except FAULTS as error:
        _pass_over(error)
        return None
    return rows[0] if len(rows) == 1 else None


def _read(table: RowType, values: tuple[Any, ...], words: Sequence[Symbols]) -> Any:
    """The row of the values if it is as it was written, else None."""
    for symbols in words:
        with suppress(TypeError, StoreCorrupt):  # a value that the column never holds, a symbol that is lost
            (row,) = unpacked(symbols, table, [values])
            if not TABLES[table].sealed:
                return canonical(table._make(row))
            if is_whole(table, row):
                return table._make(row[:-1])
    return None


def _pass_over(error: BaseException) -> None:
    """Nothing for an error of the damaged place itself; any other ends the rescue."""
    fault = declared(error)
    if not isinstance(fault, StoreCorrupt) and not isinstance(error, apsw.IOError):
        raise fault from None
