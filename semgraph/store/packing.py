"""Rows as callers have them and as the file has them: columns that repeat as numbers, identifiers as bytes."""

from __future__ import annotations

from contextlib import suppress
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import StoreCorrupt
from semgraph.store.interning import LONGEST, NOWHERE, Symbols, entity_of
from semgraph.store.schema import ClaimRow, Form
from semgraph.store.shapes import RowType, column, definition, fields, key_of, remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph.store.schema import Row
    from semgraph.store.shapes import Column

_IDENT_DIGITS: Final = 24
_IDENT_BYTES: Final = _IDENT_DIGITS // 2
_FOREIGN: Final = "a row of the store holds what is none of its words: run `semgraph verify`, or go back to a backup"


def packed(
    symbols: Symbols, table: RowType, rows: Sequence[Sequence[Any]], *more: Iterable[int]
) -> Iterable[tuple[Any, ...]]:
    """The rows as the file has them, each with a value of `more`; values that it never saw are added to it."""
    if len(rows) == 1:
        return ((*_packed_row(symbols, table, rows[0]), *(value for values in more for value in values)),)
    return packed_columns(symbols, table, list(zip(*rows, strict=True)), *more)


def packed_columns(
    symbols: Symbols, table: RowType, given: Sequence[Sequence[Any]], *more: Iterable[int]
) -> Iterable[tuple[Any, ...]]:
    """The same for rows that come column by column."""
    by_column: list[Any] = list(given)
    size = len(given[0])
    distinct = {found.at: dict.fromkeys(by_column[found.at]) for found in _interned(table)}
    wanted: dict[Any, None] = {}
    for found in _interned(table):
        if found.form is Form.REF:
            fresh = [ref for ref in distinct[found.at] if ref not in symbols.ref_numbers]
            wanted.update((ref if (entity := entity_of(ref)) is None else entity, None) for ref in fresh)
        else:
            wanted |= distinct[found.at]
    wanted.pop(None, None)
    symbols.intern([value for value in wanted if isinstance(value, int) or len(value) <= LONGEST])
    for found in _interned(table):
        known: dict[Any, int] = symbols.ref_numbers if found.form is Form.REF else symbols.numbers
        if found.form is Form.REF:
            _learn_refs(symbols, distinct[found.at])
        if len(distinct[found.at]) == 1:
            (value,) = distinct[found.at]
            by_column[found.at] = repeat(known.get(value, value), size)
        else:
            by_column[found.at] = map(known.get, by_column[found.at], by_column[found.at])
    for found in _idents(table):
        by_column[found.at] = _all_idents(by_column[found.at])
    return zip(*by_column, *more, strict=True)


def _packed_row(symbols: Symbols, table: RowType, row: Sequence[Any]) -> tuple[Any, ...]:
    """The same for a row by itself, as single writes bring it: no columns are put together."""
    values, missing, at = list(row), [], []
    for found in _special(table):
        number = _packed_value(symbols, found, row[found.at])
        values[found.at] = number
        if number is row[found.at] and number is not None and found.form is not Form.IDENT:
            entity = entity_of(number) if found.form is Form.REF else None
            stored = number if entity is None else entity
            if isinstance(stored, int) or len(stored) <= LONGEST:
                missing.append(stored)
                at.append(found)
    if missing:
        symbols.intern(list(dict.fromkeys(missing)))
        for found in at:
            values[found.at] = _packed_value(symbols, found, row[found.at])
    return tuple(values)


def _packed_value(symbols: Symbols, found: Column, value: Any) -> Any:
    """The value as the file has it; the value itself where the file does not know it or keeps it so."""
    if found.form is Form.IDENT:
        return _ident(value)
    if found.form is Form.REF:
        if value not in symbols.ref_numbers:
            _learn_refs(symbols, (value,))
        return symbols.ref_numbers.get(value, value)
    return symbols.numbers.get(value, value)


def unpacked(symbols: Symbols, table: RowType, rows: Sequence[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """Rows of the file as callers have them; columns past those of the table stay as they are.

    StoreCorrupt where a value is of a type that its column never has, except in claims, whose digests tell.
    """
    return _unpacked(symbols, _whole(table), rows, checked=table is not ClaimRow)


def unpacked_part(
    symbols: Symbols, shown: Sequence[Column], rows: Sequence[tuple[Any, ...]]
) -> Iterable[tuple[Any, ...]]:
    """The same of rows that have some columns only, in this order; claims too, as no digest tells here."""
    return _unpacked(symbols, _shown(shown), rows, checked=True)


class _Shown(NamedTuple):
    """Columns of rows that are read: which of them the file has in another form, and types that were found right."""

    columns: Sequence[Column]
    packed: tuple[tuple[int, Form], ...]
    right: set[tuple[type, ...]]


def _shown(columns: Sequence[Column]) -> _Shown:
    packed = tuple((at, found.form) for at, found in enumerate(columns) if found.form is not Form.PLAIN)
    return _Shown(columns, packed, set())


@remembered
def _whole(table: RowType) -> _Shown:
    return _shown(tuple(fields(table).values()))


def _unpacked(
    symbols: Symbols, shown: _Shown, rows: Sequence[tuple[Any, ...]], *, checked: bool
) -> Iterable[tuple[Any, ...]]:
    if len(rows) < 2:
        return [_unpacked_row(symbols, shown, row, checked=checked) for row in rows]
    by_column: list[Any] = list(zip(*rows, strict=True))
    met = {value for at, form in shown.packed if form is not Form.IDENT for value in by_column[at]}
    # No set difference: against a kind of dict it would walk all that is known.
    symbols.read([value for value in met if isinstance(value, int) and value not in symbols.values])
    for at, form in shown.packed:
        values = by_column[at]
        if form is Form.IDENT:
            by_column[at] = [value.hex() if isinstance(value, bytes) else value for value in values]
        else:
            known = symbols.refs if form is Form.REF else symbols.values
            by_column[at] = [known[v] if v is not None else None for v in values]
    if checked:
        # SQLite looks at types when it writes: a page of one table in the place of another's is read as it comes.
        for found, values in zip(shown.columns, by_column, strict=False):
            if not found.kinds.issuperset(map(type, values)):
                raise StoreCorrupt(_FOREIGN)
    return zip(*by_column, strict=True)


def _unpacked_row(symbols: Symbols, shown: _Shown, row: tuple[Any, ...], *, checked: bool) -> tuple[Any, ...]:
    """The same of a row by itself, as single reads and writes ask for it: no columns are put together."""
    values = list(row)
    for at, form in shown.packed:
        value = row[at]
        if form is Form.IDENT:
            if isinstance(value, bytes):
                values[at] = value.hex()
        elif value is not None:
            values[at] = (symbols.refs if form is Form.REF else symbols.values)[value]
    if checked and (kinds := tuple(map(type, values))) not in shown.right:
        if any(kind not in found.kinds for found, kind in zip(shown.columns, kinds, strict=False)):
            raise StoreCorrupt(_FOREIGN)
        shown.right.add(kinds)
    return tuple(values)


def sought(symbols: Symbols, of: Column, value: Any) -> Any:
    """A single value as the file would have it, if it has it at all."""
    if value is None or of.form is Form.PLAIN:
        return value
    if of.form is Form.IDENT:
        return _ident(value)
    known = (symbols.ref_numbers if of.form is Form.REF else symbols.numbers).get(value)
    if known is not None:
        return known
    if of.form is Form.REF and (entity := entity_of(value)) is not None:
        value = entity
    if isinstance(value, str) and len(value) > LONGEST:
        return value
    value = int(value) if isinstance(value, int) else str(value)
    symbols.find([value])
    return symbols.numbers.get(value, NOWHERE)


def all_sought(symbols: Symbols, of: Column, values: Sequence[Any]) -> list[Any]:
    """Several values as the file would have them; those that it does not have are left out."""
    if of.form in (Form.PLAIN, Form.IDENT):
        return list(values)
    if of.form is Form.REF:
        values = [value if (entity := entity_of(value)) is None else entity for value in values]
    long = [value for value in values if isinstance(value, str) and len(value) > LONGEST]
    short = [value for value in values if isinstance(value, int) or len(value) <= LONGEST]
    symbols.find(short)
    numbers = symbols.numbers
    return long + [numbers[value] for value in short if value in numbers]


def written(symbols: Symbols, of: Column, value: Any) -> Any:
    """A single value as the file has it from now on."""
    if value is not None and of.form in (Form.WORD, Form.NODE, Form.REF):
        entity = entity_of(value) if of.form is Form.REF else None
        stored = value if entity is None else entity
        if isinstance(stored, int) or len(stored) <= LONGEST:
            symbols.intern([stored])
    return sought(symbols, of, value)


def packed_key(symbols: Symbols, row: Row) -> tuple[Any, ...]:
    """The key of a row as the file would have it."""
    names = definition(type(row)).key
    return tuple(
        sought(symbols, column(type(row), name), value) for name, value in zip(names, key_of(row), strict=True)
    )


def needle_forms(needles: Iterable[bytes]) -> dict[bytes, bytes]:
    """Every way in which the file may spell the needles, with the needle of each."""
    found = {needle: needle for needle in needles}
    for needle in list(found):
        form = _ident(needle.decode("latin-1"))
        if isinstance(form, bytes):
            found[form] = needle
    return found


@remembered
def _special(table: RowType) -> tuple[Column, ...]:
    return tuple(found for found in fields(table).values() if found.form is not Form.PLAIN)


@remembered
def _interned(table: RowType) -> tuple[Column, ...]:
    return tuple(found for found in _special(table) if found.form is not Form.IDENT)


@remembered
def _idents(table: RowType) -> tuple[Column, ...]:
    return tuple(found for found in _special(table) if found.form is Form.IDENT)


def _learn_refs(symbols: Symbols, refs: Iterable[str]) -> None:
    known, numbers = symbols.ref_numbers, symbols.numbers
    for ref in refs:
        if ref not in known:
            entity = entity_of(ref)
            stored = ref if entity is None else entity
            if stored in numbers:
                known[ref] = numbers[stored]


def _all_idents(texts: Sequence[str]) -> list[str | bytes]:
    if set(map(len, texts)) == {_IDENT_DIGITS}:  # read as one, which takes a tenth of the time
        joined = "".join(texts)
        with suppress(ValueError):
            read = bytes.fromhex(joined)
            if read.hex() == joined:
                return [read[at : at + _IDENT_BYTES] for at in range(0, len(read), _IDENT_BYTES)]
    return [_ident(text) for text in texts]


def _ident(text: str) -> str | bytes:
    if len(text) == _IDENT_DIGITS:
        try:
            value = bytes.fromhex(text)
        except ValueError:
            return text
        if value.hex() == text:
            return value
    return text
