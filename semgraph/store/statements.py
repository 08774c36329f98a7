"""SQL texts for the shapes of question that a store is asked, made once per shape; values are always parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.store.migrations import index_name
from semgraph.store.schema import TABLES
from semgraph.store.shapes import RowType, column, columns, conditions, needs_binding, ordering, remembered, values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.store.protocol import Value, Where
    from semgraph.store.shapes import Condition

#: A collection is one parameter, so that its size makes no new statement.
_TESTS: Final = {"null": "{} IS NULL", "in": "{} IN (SELECT value FROM json_each(?))"}


class Statement(NamedTuple):
    """A statement's text, and the conditions whose values need work before they are bound, if any do."""

    text: str
    asked: tuple[Condition, ...] | None

    def parameters(self, scope: int, where: Mapping[str, Where]) -> tuple[Value, ...]:
        """The scope and the values of `where`, ready to be bound."""
        if self.asked is None:
            return (scope, *where.values())  # type: ignore[arg-type]  # single values: no condition says "in"
        bound: list[Value] = [scope]
        for condition in self.asked:
            if condition.operator == "in":
                bound.append(json.dumps(values(where, condition.keyword)))
            elif condition.operator != "null":
                bound.append(where[condition.keyword])  # type: ignore[arg-type]  # a single value
        return tuple(bound)


@remembered
def selecting(
    table: RowType, names: tuple[str, ...], types: tuple[type, ...], order: tuple[str, ...], *, limited: bool
) -> Statement:
    """Rows that meet the conditions, digest last where there is one, sorted."""
    asked = conditions(table, names, types)
    sort = ", ".join(f"{found.name} DESC" if down else found.name for found, down in ordering(table, order))
    tail = f" ORDER BY {sort}{' LIMIT ?' if limited else ''}"
    return _statement(f"SELECT {', '.join(stored(table))} FROM", table, asked, tail)


@remembered
def picking(table: RowType, picked: tuple[str, ...], names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Some columns of the rows that meet the conditions, in key order."""
    asked = conditions(table, names, types)
    sort = ", ".join(found.name for found, _ in ordering(table, ()))
    shown = ", ".join(column(table, name).name for name in picked)
    return _statement(f"SELECT {shown} FROM", table, asked, f" ORDER BY {sort}")


@remembered
def counting(table: RowType, names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """The number of rows that meet the conditions."""
    return _statement("SELECT count(*) FROM", table, conditions(table, names, types))


@remembered
def deleting(table: RowType, names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Removes the rows that meet the conditions."""
    return _statement("DELETE FROM", table, conditions(table, names, types))


@remembered
def updating(table: RowType, changed: tuple[str, ...], names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Changes the named columns, whose values are bound first, where the conditions are met."""
    asked = conditions(table, names, types)
    settings = ", ".join(f"{name} = ?" for name in changed)
    return Statement(" ".join(("UPDATE", _source(table, asked), "SET", settings)) + _text(asked), _bindings(asked))


@remembered
def inserting(table: RowType, *, replace: bool) -> str:
    """Adds one row, or takes the place of the one with its key."""
    names = stored(table)
    verb = "INSERT OR REPLACE" if replace else "INSERT"
    return f"{verb} INTO {TABLES[table].name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


@remembered
def removing(table: RowType) -> str:
    """Removes the row of one key."""
    definition = TABLES[table]
    return f"DELETE FROM {definition.name} WHERE {' AND '.join(f'{name} = ?' for name in definition.key)}"  # noqa: S608


@remembered
def stored(table: RowType) -> tuple[str, ...]:
    """The columns as the file has them: those of the row, and its digest."""
    return (*columns(table), "digest") if TABLES[table].digest else tuple(columns(table))


def _statement(head: str, table: RowType, asked: list[Condition], tail: str = "") -> Statement:
    return Statement(f"{head} {_source(table, asked)}{_text(asked)}{tail}", _bindings(asked))


def _text(asked: Sequence[Condition]) -> str:
    tests = [
        _TESTS.get(condition.operator, f"{{}} {condition.operator} ?").format(condition.column.name)
        for condition in asked
    ]
    return " WHERE " + " AND ".join(["scope = ?", *tests])


def _bindings(asked: list[Condition]) -> tuple[Condition, ...] | None:
    return tuple(asked) if needs_binding(asked) else None


def _source(table: RowType, asked: Sequence[Condition]) -> str:
    """The table, and the index to use where one answers more of the conditions than the key does.

    Left alone, the planner walks a whole scope in key order rather than sort the two rows that an index finds.
    """
    definition = TABLES[table]
    best = max((definition.key, *definition.indexes), key=lambda names: _reach(names, asked))
    if best is definition.key:
        return definition.name
    return f"{definition.name} INDEXED BY {index_name(table, best)}"


def _reach(names: Sequence[str], asked: Sequence[Condition]) -> float:
    """How many leading columns of an index the conditions pin down; a range counts half and is the last."""
    pinned = {condition.column.name for condition in asked if condition.operator in {"=", "in", "null"}}
    bounded = {condition.column.name for condition in asked} - pinned
    reach = 0.0
    for name in names:
        if name == "scope":
            continue
        if name not in pinned:
            return reach + 0.5 if name in bounded else reach
        reach += 1
    return reach
