"""Texts and entity numbers that stand in many rows: the file keeps each once, rows keep a small number for it.

A number is never used again, so what was read of one stays true. What a value's number is stays true too until another
handle purges the file; `forget` is for that, and for transactions that were undone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from semgraph.store.access import Access

#: The table, and its first row: the empty text is number 0, which takes no room in a row.
CREATE: Final = (
    "CREATE TABLE symbol (n INTEGER PRIMARY KEY AUTOINCREMENT, value ANY NOT NULL UNIQUE) STRICT",
    "INSERT INTO symbol (n, value) VALUES (0, '')",
)

#: A longer text is seldom told twice, so it stays in its row.
LONGEST: Final = 64

#: The number of what was never interned: no row holds it.
NOWHERE: Final = -1

_KEPT: Final = 1_000_000
_FEW: Final = 16  # values that are likely known, as single writes bring them
_LOST: Final = (
    "a word of the store is missing: run `semgraph verify` to see how far it is damaged, or go back to a backup"
)


class Symbols:
    """The numbers of values, and the values of numbers, as far as they were met."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.numbers: dict[str | int, int] = {"": 0}
        self.values = _Values(self._value)
        self.ref_numbers: dict[str, int] = {}
        self.refs = _Values(self._ref)

    def forget(self) -> None:
        """Drop what is known, after an undone transaction or another handle's write."""
        self.numbers.clear()
        self.numbers[""] = 0
        self.values.clear()
        self.ref_numbers.clear()
        self.refs.clear()

    def trim(self) -> None:
        """Bound the memory; between transactions."""
        if len(self.numbers) > _KEPT or len(self.values) > _KEPT:
            self.forget()

    def find(self, wanted: Iterable[str | int]) -> None:
        """Learn the numbers of the values that have one."""
        numbers, values = self.numbers, self.values
        missing = [value for value in wanted if value not in numbers]
        if len(missing) == 1:
            found = self._access.fetch("SELECT value, n FROM symbol WHERE value = ?", (missing[0],))
        elif missing:
            asked = (json.dumps(missing),)
            text = "SELECT s.value, s.n FROM json_each(?) AS j CROSS JOIN symbol AS s ON s.value = j.value"
            found = self._access.fetch(text, asked)
        else:
            return
        for value, number in found:
            numbers[value] = number
            values[number] = value

    def intern(self, wanted: Collection[str | int]) -> None:
        """See to it that every one of the values has a number."""
        numbers = self.numbers
        if all(value in numbers for value in wanted):
            return
        if len(wanted) <= _FEW:
            self.find(wanted)
            if all(value in numbers for value in wanted):
                return
        ((last,),) = self._access.fetch("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'symbol'", ())
        if not isinstance(last, int):
            raise StoreCorrupt(_LOST)
        if last and len(wanted) > _FEW:
            self.find(wanted)
        fresh = [value for value in wanted if value not in numbers]
        self._access.many("INSERT INTO symbol (n, value) VALUES (?, ?)", enumerate(fresh, last + 1))
        for number, value in enumerate(fresh, last + 1):
            numbers[value] = number
            self.values[number] = value

    def read(self, numbers: Sequence[int]) -> None:
        """Learn many values at once."""
        missing = [number for number in numbers if number not in self.values]
        if len(missing) > 1:
            text = "SELECT s.n, s.value FROM json_each(?) AS j CROSS JOIN symbol AS s ON s.n = j.value"
            self.values.update(self._access.fetch(text, (json.dumps(missing),)))

    def _value(self, number: int) -> str | int:
        found = self._access.fetch("SELECT value FROM symbol WHERE n = ?", (number,))
        if not found:
            raise StoreCorrupt(_LOST)
        value: str | int = found[0][0]
        return value

    def _ref(self, number: int) -> str:
        value = self.values[number]
        return value if isinstance(value, str) else f"e{value}"


class _Values(dict[int, Any]):
    """What was met, with a way to read the rest; a column's values are looked up without a call for each."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, number: Any) -> Any:
        if not isinstance(number, int):
            return number  # a long text, kept in its row
        value = self[number] = self._read(number)
        return value


def entity_of(ref: str) -> int | None:
    """The entity that a reference names in the one way that it is written, else None."""
    if ref[:1] != "e" or not ref[1:2].isdigit() or not ref[1:].isdecimal() or not ref.isascii():
        return None
    number = int(ref[1:])
    return number if number < 1 << 63 and str(number) == ref[1:] else None
