"""SQL texts for the shapes of question that a store is asked, made once per shape; values are always parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.store.migrations import index_name
from semgraph.store.packing import all_sought, sought
from semgraph.store.schema import TABLES, ClaimRow, Form
from semgraph.store.shapes import RowType, column, columns, conditions, definition, ordering, remembered, values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.store.interning import Symbols
    from semgraph.store.protocol import Value, Where
    from semgraph.store.shapes import Column, Condition

#: A collection is one parameter, so that its size makes no new statement.
_MEMBERS: Final = "{} IN (SELECT value FROM json_each(?))"
_IDENTS: Final = (
    "{} IN (SELECT CASE WHEN length(value) = 24 AND value NOT GLOB '*[^0-9a-f]*' THEN unhex(value) ELSE value END"
    " FROM json_each(?))"
)

#: A packed column as callers know it, for what only its plain values can tell: what is less, what comes first.
_VALUE: Final = "CASE typeof({0}) WHEN 'integer' THEN (SELECT s.value FROM symbol AS s WHERE s.n = {0}) ELSE {0} END"
_READABLE: Final[dict[Form, str]] = {
    Form.PLAIN: "{0}",
    Form.WORD: _VALUE,
    Form.NODE: _VALUE,
    Form.REF: _VALUE.replace("s.value", "iif(typeof(s.value) = 'integer', 'e' || s.value, s.value)"),
    Form.IDENT: "CASE typeof({0}) WHEN 'blob' THEN lower(hex({0})) ELSE {0} END",
}


class Statement(NamedTuple):
    """A statement's text, and the conditions whose values it is to be given after the scope."""

    text: str
    asked: tuple[Condition, ...]

    def parameters(self, symbols: Symbols, scope: int, where: Mapping[str, Where]) -> tuple[Value, ...]:
        """The scope and the values of `where`, ready to be bound."""
        bound: list[Value] = [scope]
        for condition in self.asked:
            if condition.operator == "in":
                bound.append(json.dumps(all_sought(symbols, condition.column, values(where, condition.keyword))))
            elif condition.operator == "=":
                bound.append(sought(symbols, condition.column, where[condition.keyword]))
            elif condition.operator != "null":
                bound.append(where[condition.keyword])  # type: ignore[arg-type]  # a single value
        return tuple(bound)


@remembered
def selecting(
    table: RowType, names: tuple[str, ...], types: tuple[type, ...], order: tuple[str, ...] | None, *, limited: bool
) -> Statement:
    """Rows that meet the conditions, digest last where there is one, sorted unless the order is None."""
    asked = conditions(table, names, types)
    tail = "" if order is None else _sorted(table, asked, order)
    return statement(f"SELECT {', '.join(stored(table))} FROM", table, asked, f"{tail}{' LIMIT ?' if limited else ''}")


@remembered
def picking(table: RowType, picked: tuple[str, ...], names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Some columns of the rows that meet the conditions, as the file has them, in key order."""
    asked = conditions(table, names, types)
    for name in picked:
        column(table, name)
    return statement(f"SELECT {', '.join(picked)} FROM", table, asked, _sorted(table, asked, ()))


@remembered
def arriving(picked: tuple[str, ...]) -> str:
    """Some columns of the claims behind a row that were recorded between two moments, as the file has them, by id."""
    by = readable(ClaimRow, column(ClaimRow, "id"))
    return (
        f"SELECT {', '.join(picked)} FROM claim NOT INDEXED"  # noqa: S608  # names of ours
        f" WHERE rowid > ? AND scope = ? AND recorded_at > ? AND recorded_at <= ? ORDER BY {by}"
    )


@remembered
def counting(table: RowType, names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """The number of rows that meet the conditions."""
    return statement("SELECT count(*) FROM", table, conditions(table, names, types))


@remembered
def deleting(table: RowType, names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Removes the rows that meet the conditions."""
    return statement("DELETE FROM", table, conditions(table, names, types))


@remembered
def updating(table: RowType, changed: tuple[str, ...], names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """Changes the named columns, whose values are bound first, where the conditions are met."""
    settings = ", ".join(f"{name} = ?" for name in changed)
    asked = conditions(table, names, types)
    return Statement(" ".join(("UPDATE", _source(table, asked), "SET", settings)) + _text(table, asked), tuple(asked))


@remembered
def inserting(table: RowType, *, replace: bool) -> str:
    """Adds one row, or takes the place of the one with its key."""
    names = stored(table)
    verb = "INSERT OR REPLACE" if replace else "INSERT"
    return f"{verb} INTO {TABLES[table].name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


@remembered
def inserting_told() -> str:
    """Adds one claim with the mould of its fact."""
    names = (*stored(ClaimRow), "mould")
    return f"INSERT INTO claim ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608  # ours


@remembered
def removing(table: RowType) -> str:
    """Removes the row of one key."""
    return f"DELETE FROM {definition(table).name} WHERE {_of_key(table)}"  # noqa: S608


@remembered
def finding(table: RowType) -> str:
    """Whether a row of one key is there."""
    return f"SELECT 1 FROM {definition(table).name} WHERE {_of_key(table)}"  # noqa: S608


def _of_key(table: RowType) -> str:
    return " AND ".join(f"{name} = ?" for name in definition(table).key)


@remembered
def stored(table: RowType) -> tuple[str, ...]:
    """The columns as the file has them: those of the row, and its digest."""
    return (*columns(table), "digest") if TABLES[table].sealed else tuple(columns(table))


def statement(head: str, table: RowType, asked: Sequence[Condition], tail: str = "") -> Statement:
    """The statement that begins and ends so, about the rows that meet the conditions."""
    return Statement(f"{head} {_source(table, asked)}{_text(table, asked)}{tail}", tuple(asked))


def readable(table: RowType, found: Column) -> str:
    """The expression for the values of a column as callers know them."""
    return _READABLE[found.form].format(f"{definition(table).name}.{found.name}")


def _text(table: RowType, asked: Sequence[Condition]) -> str:
    return " WHERE " + " AND ".join(["scope = ?", *(_test(table, condition) for condition in asked)])


def _test(table: RowType, condition: Condition) -> str:
    asked, operator = condition.column, condition.operator
    if operator == "null":
        return f"{asked.name} IS NULL"
    if operator == "in":
        return (_IDENTS if asked.form is Form.IDENT else _MEMBERS).format(asked.name)
    return f"{asked.name if operator == '=' else readable(table, asked)} {operator} ?"


def _sorted(table: RowType, asked: Sequence[Condition], order: tuple[str, ...]) -> str:
    """The rest of the order where conditions leave a choice: columns of one value sort nothing."""
    pinned = {condition.column.name for condition in asked if condition.operator in {"=", "null"}} | {"scope"}
    by = [
        f"{readable(table, found)}{' DESC' if down else ''}"
        for found, down in ordering(table, order)
        if found.name not in pinned
    ]
    return f" ORDER BY {', '.join(by)}" if by else ""


def _source(table: RowType, asked: Sequence[Condition]) -> str:
    """The table, and the index to use where one answers more of the conditions than the key does.

    Left alone, the planner walks a whole scope in key order rather than sort the two rows that an index finds.
    """
    found = TABLES[table]
    best = max((found.key, *found.indexes), key=lambda names: _reach(found.partial, names, asked))
    if best is found.key:
        return found.name
    return f"{found.name} INDEXED BY {index_name(table, best)}"


def _reach(partial: Sequence[tuple[str, ...]], names: tuple[str, ...], asked: Sequence[Condition]) -> float:
    """How many leading columns of an index the conditions pin down; a range counts half and is the last."""
    exact = {"=", "in"} if names in partial else {"=", "in", "null"}
    pinned = {condition.column.name for condition in asked if condition.operator in exact}
    bounded = {
        condition.column.name
        for condition in asked
        if condition.operator in {"<", "<=", ">", ">="} and condition.column.form is Form.PLAIN
    }
    reach = 0.0
    for name in names:
        if name == "scope":
            continue
        if name not in pinned:
            return reach + 0.5 if name in bounded else reach
        reach += 1
    return reach
