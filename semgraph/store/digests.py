"""The digest that stands beside a claim row, so that a damaged byte is noticed: SQLite's own check does not see one."""

from __future__ import annotations

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
    template = _template(table)
    if len(rows) > _FEW:
        template, rows = _narrowed(rows)
    try:
        return [crc32((template % row).encode()) - _HALF for row in rows]
    except UnicodeEncodeError:
        raise StoreError("a text holds lone surrogates, which no store keeps") from None


def _narrowed(rows: Sequence[tuple[Any, ...]]) -> tuple[str, Sequence[tuple[Any, ...]]]:
    """The template with the values that all rows share filled in, and the rest of the rows."""
    parts: list[str] = []
    varying = []
    for column in zip(*rows, strict=True):
        if column.count(column[0]) == len(rows):
            parts.append(str(column[0]).replace("%", "%%"))
        else:
            parts.append("%s")
            varying.append(column)
    return "\0".join(parts), list(zip(*varying, strict=True)) if varying else [()] * len(rows)


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
