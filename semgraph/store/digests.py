"""The digest that stands beside a claim row, so that a damaged byte is noticed: SQLite's own check does not see one."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from semgraph.errors import StoreCorrupt, StoreError
from semgraph.store.shapes import RowType, columns, remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DAMAGED: Final = "a claim row of the store is damaged: run `semgraph verify` to see how far, and go back to a backup"


def digests(table: RowType, rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """For each row, given in its canonical form, 32 bits that change with any value of it.

    They are taken of the row as callers see it, so that they guard the words that the file keeps elsewhere too.
    Values are joined as Python writes them, with NULs between, which the gate keeps out of every text.
    """
    if len(rows) > _FEW:
        return column_digests(list(zip(*rows, strict=True)))
    return _digests(_template(table), rows)


def column_digests(columns: Sequence[Sequence[Any]]) -> list[int]:
    """The same for rows that come column by column."""
    parts: list[str] = []
    varying = []
    for column in columns:  # values that all rows share are filled in once
        if column.count(column[0]) == len(column):
            parts.append(str(column[0]).replace("%", "%%"))
        else:
            parts.append("%s")
            varying.append(column)
    rows = zip(*varying, strict=True) if varying else repeat((), len(columns[0]))
    return _digests("\0".join(parts), rows)


def _digests(template: str, rows: Iterable[tuple[Any, ...]]) -> list[int]:
    try:
        return [crc32((template % row).encode()) - _HALF for row in rows]
    except UnicodeEncodeError:
        raise StoreError("a text holds lone surrogates, which no store keeps") from None


def is_whole(table: RowType, row: tuple[Any, ...]) -> bool:
    """Whether a row, digest last, is the one that was written."""
    try:
        return bool(digests(table, (row[:-1],))[0] == row[-1])
    except StoreError:
        return False


def unsealed(table: RowType, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows without their digests; StoreCorrupt at the first that is not as it was written."""
    template = _template(table)
    for row in rows:
        values = row[:-1]
        if crc32((template % values).encode()) - _HALF != row[-1]:
            raise StoreCorrupt(DAMAGED)
        yield values


#: As signed numbers they take four bytes in the file rather than six.
_HALF: Final = 1 << 31

_FEW: Final = 64  # rows that are not worth a look for what they share


@remembered
def _template(table: RowType) -> str:
    return "\0".join(["%s"] * len(columns(table)))
