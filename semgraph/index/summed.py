"""Vectors that are sums of a table's rows, kept as the numbers of these rows: a tenth of the room, and as exact.

The cosine of a sum with a question is the sum of the products of its rows, over its length; each row that occurs among
the documents looked at is multiplied once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.growing import Growing
from semgraph.index.vectors import Nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from semgraph.embedding.static import StaticEmbedder

__all__ = ["Sums"]

_AT_A_TIME: Final = 256  # documents whose vectors are made at once, so that they stay in the cache of the processor


class Sums(Nearest):
    """The word pieces of each document, the length of their sum, and its signs."""

    def __init__(self, table: StaticEmbedder) -> None:
        super().__init__(table.dim)
        self._table = table
        self._pieces = Growing(np.uint16)
        self._ends = Growing(np.int64)
        self._ends.widen(1)  # where the pieces of each document end, after those of all before it
        self._lengths = Growing(np.float32)

    def add(self, texts: Iterable[str]) -> None:
        """The documents that follow."""
        first = len(self)
        start = len(self._pieces)
        pieces, ends = list[int](), list[int]()
        for text in texts:
            pieces += self._table.pieces(text)
            ends.append(start + len(pieces))
        self._pieces.extend(np.array(pieces, np.uint16))
        self._ends.extend(np.array(ends, np.int64))
        last = first + len(ends)
        for begin in range(first, last, _AT_A_TIME):
            rows = self._summed(np.arange(begin, min(begin + _AT_A_TIME, last)))
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            self._lengths.extend(lengths)
            self._signs.extend(rows)

    def page(self, first: int, last: int) -> dict[str, NDArray[Any]]:
        """What is kept of some documents, by name."""
        ends = self._ends.rows[first : last + 1]
        return {
            "pieces": self._pieces.rows[ends[0] : ends[-1]],
            "piece_counts": np.diff(ends).astype(np.uint32),
            "lengths": self._lengths.rows[first:last],
            "signs": self._signs.bits[first:last].ravel(),
        }

    def load(self, page: Mapping[str, NDArray[Any]]) -> None:
        """The documents of a page, behind the others; ValueError if it does not fit together."""
        pieces, counts, lengths = page["pieces"], page["piece_counts"], page["lengths"]
        signs = page["signs"].reshape(len(counts), -1)
        whole = len(lengths) == len(counts) and int(counts.sum()) == len(pieces)
        if not whole or signs.shape[1] != self._signs.bits.shape[1] or pieces.max(initial=0) >= len(self._table):
            raise ValueError("the vectors of a page do not fit together")
        self._ends.extend(len(self._pieces) + np.cumsum(counts, dtype=np.int64))
        self._pieces.extend(pieces)
        self._lengths.extend(lengths)
        self._signs.load(signs)

    def of(self, documents: NDArray[np.intp], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of some documents."""
        pieces, bounds = self._pieces_of(documents)
        products = self._table.products(pieces, query)
        cosines = np.zeros(len(documents), np.float32)
        filled = np.flatnonzero(np.diff(bounds))
        if len(filled):
            cosines[filled] = np.add.reduceat(products, bounds[filled])
        lengths = self._lengths.rows[documents]
        np.divide(cosines, lengths, out=cosines, where=lengths > 0)
        return cosines

    def vectors(self, documents: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of some documents."""
        rows = self._summed(documents)
        lengths = self._lengths.rows[documents, None]
        np.divide(rows, lengths, out=rows, where=lengths > 0)
        return rows

    def _summed(self, documents: NDArray[np.intp]) -> NDArray[np.float32]:
        return self._table.summed(*self._pieces_of(documents))

    def _pieces_of(self, documents: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The pieces of some documents, and where those of each begin among them."""
        ends = self._ends.rows
        starts = ends[documents]
        counts = ends[documents + 1] - starts
        bounds = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(starts - bounds[:-1], counts) + np.arange(bounds[-1])
        return self._pieces.rows[places], bounds
