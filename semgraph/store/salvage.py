"""What can still be read of a damaged file: each row by itself, found by every way that leads to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from semgraph.errors import StoreCorrupt
from semgraph.store import digests
from semgraph.store.faults import FAULTS, declared
from semgraph.store.migrations import index_name, keeps_rowid
from semgraph.store.schema import TABLES
from semgraph.store.shapes import RowType, canonical, columns
from semgraph.store.statements import stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.store.protocol import R


def rescued(connection: apsw.Connection, table: type[R]) -> Iterator[R]:
    """Every row that can be read and is as it was written, once each.

    A scan ends at the first broken page, so the table is walked from both ends and along each of its indexes.
    """
    seen: set[tuple[Any, ...]] = set()
    for way in _ways(table):
        for handle in _handles(connection, way):
            if handle in seen:
                continue
            seen.add(handle)
            row = _whole(connection, table, handle)
            if row is not None:
                yield row


def damaged(connection: apsw.Connection) -> list[str]:
    """A line for each table with a digest whose rows are not all as they were written."""
    lines = []
    for table, definition in TABLES.items():
        if definition.digest and not _all_whole(connection, table):
            whole = sum(1 for _ in rescued(connection, table))
            lines.append(f"{definition.name}: damaged rows; {whole} are whole")
    return lines


def _all_whole(connection: apsw.Connection, table: RowType) -> bool:
    text = f"SELECT {', '.join(stored(table))} FROM {TABLES[table].name} NOT INDEXED"  # noqa: S608  # names of ours
    try:
        return all(map(partial(digests.is_whole, table), connection.execute(text)))
    except FAULTS as error:
        _pass_over(error)
        return False


def _ways(table: RowType) -> Iterator[str]:
    definition = TABLES[table]
    handle = ", ".join(_handle(table))
    yield f"SELECT {handle} FROM {definition.name} NOT INDEXED"  # noqa: S608  # names of ours
    down = ("rowid",) if keeps_rowid(table) else definition.key
    sort = ", ".join(f"{name} DESC" for name in down)
    yield f"SELECT {handle} FROM {definition.name} NOT INDEXED ORDER BY {sort}"  # noqa: S608
    for index in definition.indexes:
        yield f"SELECT {handle} FROM {definition.name} INDEXED BY {index_name(table, index)}"  # noqa: S608


def _handle(table: RowType) -> list[str]:
    """What finds a row again; texts as bytes, since a damaged one may be no UTF-8."""
    if keeps_rowid(table):
        return ["rowid"]
    found = columns(table)
    return [name if found[name].type is int else f"CAST({name} AS BLOB)" for name in TABLES[table].key]


def _handles(connection: apsw.Connection, way: str) -> list[tuple[Any, ...]]:
    """All of them at once: a cursor left open between rows would outlive its transaction."""
    found = []
    try:
        for handle in connection.execute(way):
            found.append(handle)  # noqa: PERF402  # what came before the error is kept
    except FAULTS as error:
        _pass_over(error)
    return found


def _whole(connection: apsw.Connection, table: RowType, handle: tuple[Any, ...]) -> Any:
    tests = " AND ".join(f"{name} = ?" for name in _handle(table))
    text = f"SELECT {', '.join(stored(table))} FROM {TABLES[table].name} WHERE {tests}"  # noqa: S608  # names of ours
    try:
        rows = connection.execute(text, handle).fetchall()
        if len(rows) != 1:
            return None
        if not TABLES[table].digest:
            return canonical(table._make(rows[0]))
        return table._make(rows[0][:-1]) if digests.is_whole(table, rows[0]) else None
    except TypeError:  # a value of a type that the column never holds
        return None
    except FAULTS as error:
        return _pass_over(error)


def _pass_over(error: BaseException) -> None:
    """Nothing for an error of the damaged place itself; any other ends the rescue."""
    fault = declared(error)
    if not isinstance(fault, StoreCorrupt) and not isinstance(error, apsw.IOError):
        raise fault from None
