"""The digest that stands beside a claim row, so that a damaged byte is noticed: SQLite's own check does not see one."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import StoreCorrupt
from semgraph.store.shapes import RowType, canonical, columns, remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.store.schema import Row

SIZE: Final = 8
DAMAGED: Final = "a claim row of the store is damaged: run `semgraph verify` to see how far, and go back to a backup"


def sealed(row: Row) -> tuple[Any, ...]:
    """The row in its canonical form, followed by its digest."""
    exact = canonical(row)
    return (*exact, digest(type(row), exact))


def digest(table: RowType, values: tuple[Any, ...]) -> bytes:
    """Eight bytes that change with any value of the row.

    Values are joined as Python writes them, with NULs between, which the gate keeps out of every text.
    """
    return blake2b((_template(table) % values).encode(), digest_size=SIZE).digest()


def is_whole(table: RowType, stored: tuple[Any, ...]) -> bool:
    """Whether a row as read from the file, digest last, is the one that was written."""
    return bool(digest(table, stored[:-1]) == stored[-1])


def unsealed(table: RowType, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows without their digests; StoreCorrupt at the first that is not as it was written."""
    template = _template(table)
    for row in rows:
        values = row[:-1]
        if blake2b((template % values).encode(), digest_size=SIZE).digest() != row[-1]:
            raise StoreCorrupt(DAMAGED)
        yield values


@remembered
def _template(table: RowType) -> str:
    return "\0".join(["%s"] * len(columns(table)))
