"""What the row types mean as columns, and what a `where` means as conditions: shared by every store."""

from __future__ import annotations

import operator
from collections.abc import Collection
from functools import cache, partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from semgraph.store.schema import TABLES, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semgraph.store.protocol import Value, Where
    from semgraph.store.schema import Row, Table

#: A key of `TABLES`; the checker takes no `type[R]` for one of a union of types.
RowType: TypeAlias = type[Any]

OPERATORS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
INT64: Final = range(-(2**63), 2**63)
_ACCEPTED: Final[dict[type, type | tuple[type, ...]]] = {int: int, float: (int, float), str: str, bytes: bytes}


_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_P = ParamSpec("_P")
_T = TypeVar("_T")


def remembered(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function with its results kept; `functools.cache` alone would hide its parameters from the checker."""
    return cast("Callable[_P, _T]", cache(function))


class Column(NamedTuple):
    """A column: its place in the row, its name, its one Python type, whether it may be absent, and its form.

    `kinds` are the types of all values that it may have: the one, and that of None.
    """

    at: int
    name: str
    type: type
    nullable: bool
    form: Form
    kinds: frozenset[Any]

    @property
    def sql_type(self) -> str:
        """The type that a STRICT table gives it."""
        if self.form is not Form.PLAIN:
            return "ANY"
        return {int: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}[self.type]


class Condition(NamedTuple):
    """A column and what it is compared with: `=`, `null`, `in`, `<`, `<=`, `>`, `>=`."""

    column: Column
    operator: str
    keyword: str


@remembered
def columns(table: RowType) -> dict[str, Column]:
    """The columns of a row type by name, in its order; TypeError for a type that no store keeps."""
    if table not in TABLES:
        raise TypeError(f"{table!r} is not a row type of semgraph.store.schema")
    return fields(table)


@remembered
def fields(table: RowType) -> dict[str, Column]:
    """The same of any named tuple that is written like a row type."""
    found = {}
    for at, (name, hint) in enumerate(get_type_hints(table, include_extras=True).items()):
        kinds = (hint,) if get_origin(hint) in (None, Annotated) else get_args(hint)
        kind = next(kind for kind in kinds if kind is not type(None))
        plain, form = get_args(kind) if get_origin(kind) is Annotated else (kind, Form.PLAIN)
        nullable = type(None) in kinds
        found[name] = Column(at, name, plain, nullable, form, frozenset((plain, type(None)) if nullable else (plain,)))
    return found


def definition(table: RowType) -> Table:
    """How the row type is stored; TypeError for a type that no store keeps."""
    columns(table)
    return TABLES[table]


def column(table: RowType, name: str) -> Column:
    """The column of that name; TypeError if there is none."""
    found = columns(table).get(name)
    if found is None:
        raise TypeError(f"{table.__name__} has no column {name!r}; it has {', '.join(columns(table))}")
    return found


def conditions(table: RowType, names: Sequence[str], types: Sequence[type]) -> list[Condition]:
    """What a `where` of these keywords and value types asks; TypeError for what no column can answer."""
    return [_condition(table, name, kind) for name, kind in zip(names, types, strict=True)]


def _condition(table: RowType, keyword: str, kind: type) -> Condition:
    name, _, suffix = keyword.partition("__")
    if suffix and suffix not in OPERATORS:
        raise TypeError(f"{keyword!r}: the operators are {', '.join('__' + known for known in OPERATORS)}")
    found = column(table, name)
    if kind is type(None) and not suffix:
        return Condition(found, "null", keyword)
    if issubclass(kind, _ACCEPTED[found.type]):
        return Condition(found, OPERATORS.get(suffix, "="), keyword)
    several = issubclass(kind, Collection) and not issubclass(kind, str | bytes)
    if several and not suffix and found.type is not bytes:
        return Condition(found, "in", keyword)
    raise TypeError(f"{keyword!r} of {table.__name__} can't be compared with a value of type {kind.__name__}")


def ordering(table: RowType, order: Sequence[str]) -> list[tuple[Column, bool]]:
    """The columns to sort by and whether downwards; the rest of the key comes last, so that no tie is left."""
    wanted = [(column(table, name.removeprefix("-")), name.startswith("-")) for name in order]
    named = {found.name for found, _ in wanted}
    return wanted + [(column(table, name), False) for name in definition(table).key if name not in named]


def checked_changes(table: RowType, changes: Mapping[str, Value]) -> None:
    """Nothing for changes that a row can take; TypeError for another, or for one of the scope."""
    if not changes or "scope" in changes:
        raise TypeError("changes must name at least one column, and never the scope")
    for name, value in changes.items():
        _normal(table, column(table, name), value)


def checked_limit(limit: int | None) -> None:
    """Nothing for a limit that makes sense; ValueError for a negative one."""
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")


def one_table(rows: Sequence[Any]) -> RowType:
    """The type of all the rows; TypeError when they are of several."""
    types = set(map(type, rows))
    if len(types) != 1:
        raise TypeError(f"rows of several types in one insert: {', '.join(sorted(kind.__name__ for kind in types))}")
    (table,) = types
    columns(table)
    return table


def canonical(row: Row) -> Any:
    """The row as it reads back from any store: exact built-in types; TypeError for a value of another type."""
    signatures, floats = _exact(type(row))
    if tuple(map(type, row)) in signatures and all(row[at] for at in floats):
        return row
    return type(row)._make(
        _normal(type(row), found, value) for found, value in zip(columns(type(row)).values(), row, strict=True)
    )


@remembered
def _exact(table: RowType) -> tuple[set[tuple[type, ...]], tuple[int, ...]]:
    """The type signatures of rows that need no conversion, and where floats are: -0.0 would read back as 0.0."""
    signatures: set[tuple[type, ...]] = {()}
    for found in columns(table).values():
        kinds = (found.type, type(None)) if found.nullable else (found.type,)
        signatures = {(*head, kind) for head in signatures for kind in kinds}
    return signatures, tuple(found.at for found in columns(table).values() if found.type is float)


def _normal(table: RowType, found: Column, value: object) -> object:
    if value is None and found.nullable:
        return None
    if not isinstance(value, _ACCEPTED[found.type]):
        raise TypeError(f"{table.__name__}.{found.name} can't hold a value of type {type(value).__name__}")
    if found.type is float:
        return float(value) + 0.0  # type: ignore[arg-type]  # an int or a float by now
    return found.type(value) if type(value) is not found.type else value


def test_of(condition: Condition, where: Mapping[str, Where]) -> Callable[[Any], bool]:
    """Whether a row meets the condition."""
    at = condition.column.at
    if condition.operator == "null":
        return lambda row: row[at] is None
    if condition.operator == "in":
        members = frozenset(values(where, condition.keyword))
        return lambda row: row[at] in members
    compared, value = _COMPARED[condition.operator], where[condition.keyword]
    return lambda row: row[at] is not None and compared(row[at], value)


def sort(table: RowType, rows: list[Any], order: Sequence[str]) -> None:
    """Put rows in an order, ties in key order; absent values come first, as SQLite has them."""
    by = ordering(table, order)
    if not any(found.nullable or down for found, down in by):
        rows.sort(key=operator.itemgetter(*[found.at for found, _ in by]))
        return
    for sorted_by, down in reversed(by):
        rows.sort(key=partial(_sortable, sorted_by.at), reverse=down)


def _sortable(at: int, row: Any) -> tuple[bool, Any]:
    return row[at] is not None, row[at]


def key_of(row: Row) -> tuple[Any, ...]:
    """What no other row of the table has."""
    return tuple([row[at] for at in _key_places(type(row))])


@remembered
def _key_places(table: RowType) -> tuple[int, ...]:
    return tuple(columns(table)[name].at for name in definition(table).key)


def values(where: Mapping[str, Where], keyword: str) -> list[Any]:
    """The members of a collection in a `where`; TypeError for an absent one, which would silently match nothing."""
    members = list(where[keyword])  # type: ignore[arg-type]  # its condition says that it is a collection
    if None in members:
        raise TypeError(f"{keyword!r}: None can't be one of several; ask for it by itself")
    return members
