"""Rows as callers have them and as the file has them: columns that repeat as numbers, identifiers as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semgraph.store.interning import LONGEST, NOWHERE, Symbols, entity_of
from semgraph.store.schema import Form
from semgraph.store.shapes import RowType, column, definition, fields, key_of, remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from semgraph.store.schema import Row
    from semgraph.store.shapes import Column

_IDENT_DIGITS: Final = 24
_IDENT_BYTES: Final = _IDENT_DIGITS // 2


def packed(symbols: Symbols, table: RowType, rows: Sequence[Sequence[Any]]) -> Iterable[tuple[Any, ...]]:
    """The rows as the file has them; values that it never saw are added to it."""
    by_column: list[Any] = list(zip(*rows, strict=True))
    at = _special(table)
    wanted: set[Any] = set()
    for found in at:
        if found.form in (Form.WORD, Form.NODE):
            wanted.update(by_column[found.at])
        elif found.form is Form.REF:
            fresh = set(by_column[found.at]).difference(symbols.ref_numbers)
            wanted.update(entity if (entity := entity_of(ref)) is not None else ref for ref in fresh)
    wanted.discard(None)
    symbols.intern([value for value in wanted if isinstance(value, int) or len(value) <= LONGEST])
    for found in at:
        by_column[found.at] = _packers[found.form](symbols, by_column[found.at])
    return zip(*by_column, strict=True)


def unpacked(symbols: Symbols, table: RowType, rows: Sequence[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """Rows of the file as callers have them; columns past those of the table stay as they are."""
    if not rows:
        return rows
    by_column: list[Any] = list(zip(*rows, strict=True))
    many = len(rows) > 1
    for found in _special(table):
        values = by_column[found.at]
        if found.form is Form.IDENT:
            by_column[found.at] = [value.hex() if isinstance(value, bytes) else value for value in values]
            continue
        if many:
            symbols.read([value for value in set(values) if isinstance(value, int)])
        known = symbols.refs if found.form is Form.REF else symbols.values
        by_column[found.at] = [known[v] if v is not None else None for v in values]
    return zip(*by_column, strict=True)


def sought(symbols: Symbols, of: Column, value: Any) -> Any:
    """A single value as the file would have it, if it has it at all."""
    if value is None or of.form is Form.PLAIN:
        return value
    if of.form is Form.IDENT:
        return _ident(value)
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


def packed_ident(needle: bytes) -> bytes | None:
    """The bytes that stand in the file for an identifier, if the needle is one."""
    form = _ident(needle.decode("latin-1"))
    return form if isinstance(form, bytes) else None


@remembered
def _special(table: RowType) -> tuple[Column, ...]:
    return tuple(found for found in fields(table).values() if found.form is not Form.PLAIN)


def _words(symbols: Symbols, values: Sequence[Any]) -> list[Any]:
    numbers = symbols.numbers
    return [numbers.get(value, value) for value in values]


def _refs(symbols: Symbols, values: Sequence[str]) -> list[Any]:
    known, numbers = symbols.ref_numbers, symbols.numbers
    for ref in set(values).difference(known):
        entity = entity_of(ref)
        stored = ref if entity is None else entity
        if stored in numbers:
            known[ref] = numbers[stored]
    return [known.get(value, value) for value in values]


def _idents(_: Symbols, values: Sequence[str]) -> list[Any]:
    return [_ident(value) for value in values]


def _ident(text: str) -> str | bytes:
    if len(text) == _IDENT_DIGITS:
        try:
            value = bytes.fromhex(text)
        except ValueError:
            return text
        if value.hex() == text:
            return value
    return text


_packers: Final[dict[Form, Callable[[Symbols, Sequence[Any]], list[Any]]]] = {
    Form.WORD: _words,
    Form.NODE: _words,
    Form.REF: _refs,
    Form.IDENT: _idents,
}
