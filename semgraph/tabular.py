"""Claims as a table: the parameters of `add` as columns, whether they came as mappings or as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import InputError
from semgraph.model import WORDS
from semgraph.temporal import NEG_INF, POS_INF, from_epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MICROSECONDS", "Table", "table_of_columns", "table_of_items"]

#: Columns of whole numbers, microseconds since 1970 in UTC, for the parameters that are moments.
MICROSECONDS: Final = {"valid_from_us": "valid_from", "valid_to_us": "valid_to", "said_at_us": "said_at"}
_DEFAULTS: Final = {"kind": "state", "negative": False, "because": ()}
_SCALARS: Final = (str, bytes, int, float, type(None), Mapping)


class Table:
    """Some claims, by column and one by one; what no column gives is None."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], size: int, items: Sequence[Any] | None = None) -> None:
        self.columns = columns
        self.size = size
        self._items = items

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column, one for each claim."""
        found = self.columns.get(name)
        return [None] * self.size if found is None else found

    def given(self, place: int) -> Any:
        """The claim at a place as it was given, without what is None in a column."""
        if self._items is not None:
            return self._items[place]
        row = ((name, values[place]) for name, values in self.columns.items())
        return {name: value for name, value in row if value is not None}

    def item(self, place: int) -> Any:
        """The same in the parameters of `add`; RejectedError for microseconds that are no moment."""
        words = self.given(place)
        if self._items is None:
            for name in MICROSECONDS.keys() & words.keys():
                value = words.pop(name)
                if value != POS_INF or name != "valid_to_us":
                    words[MICROSECONDS[name]] = "-inf" if value == NEG_INF else from_epoch(value, "us")
        return words

    def part(self, start: int, end: int) -> Table:
        """The claims from one place up to another."""
        columns = {name: values[start:end] for name, values in self.columns.items()}
        items = None if self._items is None else self._items[start:end]
        return Table(columns, min(end, self.size) - start, items)


def table_of_items(items: Sequence[Any]) -> Table:
    """Mappings by column; what is no plain mapping with parameters of `add` is in no column."""
    shapes = set(map(tuple, items)) if set(map(type, items)) == {dict} else set()
    if len(shapes) == 1:
        (names,) = shapes
        if WORDS.issuperset(names):
            return Table({name: [item[name] for item in items] for name in names}, len(items), items)
    right = [item if type(item) is dict and WORDS.issuperset(item) else {} for item in items]
    met = {name for shape in set(map(tuple, right)) for name in shape}
    return Table({n: [item.get(n, _DEFAULTS.get(n)) for item in right] for n in met}, len(items), items)


def table_of_columns(columns: object) -> Table:
    """The table that columns of one length make, or InputError; a single value stands in every row."""
    if not isinstance(columns, Mapping):
        raise InputError(f"columns is a mapping of the parameters of add() to columns, not {type(columns).__name__}")
    allowed = WORDS | MICROSECONDS.keys()
    unknown = [str(name) for name in columns if name not in allowed]
    missing = [name for name in ("subject", "predicate") if name not in columns]
    if unknown or missing:
        what = f"unknown {', '.join(unknown)}" if unknown else f"missing {', '.join(missing)}"
        raise InputError(f"{what}: columns have the names of the parameters of add(), or {', '.join(MICROSECONDS)}")
    if twice := next((name for name, other in MICROSECONDS.items() if name in columns and other in columns), None):
        raise InputError(f"{MICROSECONDS[twice]} and {twice} tell the same: give one of them")
    given = {name: _listed(name, column) for name, column in columns.items()}
    sizes = {name: len(values) for name, values in given.items() if values is not None}
    if not sizes:
        raise InputError("at least one column must have a value for each claim")
    if len(set(sizes.values())) > 1:
        raise InputError(f"columns differ in length: {', '.join(f'{name} {size}' for name, size in sizes.items())}")
    size = next(iter(sizes.values()))
    return Table({name: [columns[name]] * size if v is None else v for name, v in given.items()}, size)


def _listed(name: str, column: Any) -> list[Any] | None:
    """The values of a column of Python, numpy, pandas, polars or arrow; None for a single value."""
    if isinstance(column, _SCALARS) or not hasattr(column, "__iter__"):
        return None
    kind = getattr(column, "dtype", None)
    if getattr(kind, "kind", "") == "M" and getattr(kind, "tz", None) is None:
        raise InputError(
            f"the column {name!r} is of numpy's datetime64, which has no time zone: give whole microseconds since 1970 "
            f"in UTC as one of {', '.join(MICROSECONDS)}"
        )
    for listing in ("to_pylist", "tolist", "to_list"):
        if (method := getattr(column, listing, None)) is not None:
            return list(method())
    return list(column)
