"""Rows as JSON lines and back: every table that is not computed, in a fixed order, each row checked on its way in."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import ImportRejected
from semgraph.exchange.numbers import finite
from semgraph.store.schema import DERIVED, TABLES, Row, ScopeRow
from semgraph.store.shapes import INT64, columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.store.protocol import Store

    Table = type[Row]

#: Facts are computed from the rest when it is restored.
EXPORTED: Final[tuple[type[Row], ...]] = tuple(
    table for table in TABLES if table is not ScopeRow and table not in DERIVED
)
_BY_NAME: Final = {TABLES[table].name: table for table in TABLES}
#: Columns that hold a moment of the scope's own clock.
_CLOCKED: Final = ("recorded_at", "ended_at", "retracted_at")


class Header(NamedTuple):
    """What the first line says: how many rows follow of each table, the scope's clock and its counter of entities."""

    counts: dict[str, int]
    last_recorded: int | None
    entities: int


def dumped(value: object) -> bytes:
    """One canonical line."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def parsed(line: bytes, number: int) -> Any:
    """The JSON value of a line; ImportRejected with its number if it is none, or could be read in two ways."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ImportRejected("bad_encoding", f"line {number} is not UTF-8 (byte {error.start + 1})") from None
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ImportRejected("bad_json", f"line {number} is no JSON: {why}") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


# -- out


def header_of(store: Store, scope: int, counter: int) -> Header:
    """The header of a scope as it stands; its clock is that of the newest row, whatever was tried since."""
    counts = {TABLES[table].name: store.count(table, scope) for table in EXPORTED}
    newest = [moment for table in EXPORTED for moment in _newest(store, table, scope)]
    return Header(counts, max(newest, default=None), counter)


def _newest(store: Store, table: Table, scope: int) -> Iterator[int]:
    from semgraph.temporal import POS_INF

    for name in _CLOCKED:
        if name in columns(table):
            for row in store.select(table, scope, order=(f"-{name}",), limit=1, **{f"{name}__lt": POS_INF}):
                yield getattr(row, name)


def row_lines(store: Store, scope: int) -> Iterator[bytes]:
    """Every row, table by table, in key order."""
    for table in EXPORTED:
        name, keys = TABLES[table].name, tuple(columns(table))
        for row in store.iterate(table, scope):
            yield dumped({"table": name, **dict(zip(keys[1:], row[1:], strict=True))})


# -- in


def header_from(found: Any) -> Header:
    """The header in a first line that names this format; ImportRejected if it is of another version or damaged."""
    if found.get("version") != 1 or isinstance(found["version"], bool):
        raise ImportRejected("newer_format", f"the file has format version {found.get('version')!r}; upgrade semgraph")
    counts, clock, counter = found.get("counts"), found.get("last_recorded"), found.get("entities")
    names = {TABLES[table].name for table in EXPORTED}
    whole = (
        set(found) == {"format", "version", "counts", "last_recorded", "entities"}
        and isinstance(counts, dict)
        and set(counts) == names
        and all(_is_int(n) and n >= 0 for n in counts.values())
        and (clock is None or _is_int(clock))
        and _is_int(counter)
        and counter >= 0
    )
    if not whole:
        raise ImportRejected("bad_row", "line 1: the header is damaged; export again")
    return Header(counts, clock, counter)


def row_from(found: Any, number: int, scope: int) -> Row:
    """The row of a line, each value of its column's type; ImportRejected if it is no row."""
    table = _BY_NAME.get(found["table"]) if isinstance(found, dict) and isinstance(found.get("table"), str) else None
    if table not in EXPORTED:
        raise ImportRejected("bad_row", f"line {number} is no row of an export")
    values: list[Any] = [scope]
    wanted = columns(table)
    if len(found) != len(wanted):
        raise ImportRejected("bad_row", f"line {number}: a {TABLES[table].name} has other columns")
    for column in _own_columns(TABLES[table].name):
        value = found.get(column.name, _ABSENT)
        if value is None and column.nullable:
            values.append(None)
        elif column.type is float and type(value) in {int, float}:
            values.append(float(value))
        elif type(value) is column.type and (column.type is not int or value in INT64):
            values.append(value)
        else:
            raise ImportRejected("bad_row", f"line {number}: {column.name} of a {TABLES[table].name} can't be so")
    return table._make(values)


_ABSENT: Final = object()


@cache
def _own_columns(name: str) -> tuple[Any, ...]:
    """The columns of a table but for the scope, which the file does not name."""
    return tuple(columns(_BY_NAME[name]).values())[1:]


def key_of(row: Row) -> tuple[Any, ...]:
    """The columns by which rows are told apart and ordered."""
    return tuple(getattr(row, name) for name in TABLES[type(row)].key)


def _is_int(value: object) -> bool:
    return type(value) is int and value in INT64
