"""Vectors by document number, and the nearest to one: exactly, with a first pass over their signs where there are many.

The first pass compares one bit a dimension (the sign), 32 times less memory than float32; what it finds is compared in
full. On real sentences it keeps 98 to 100 % of the thirty nearest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.growing import Growing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Nearest", "Signs", "Vectors"]

_SIGNS_FROM: Final = 20_000  # documents: below it the full product is as quick
_BLOCK: Final = 16_384  # rows at a time, so that what is in between stays in the cache of the processor
_LANES: Final = 4  # words whose counts are added up at once
_ADDED: Final = np.uint32(0x01010101)
_KEPT: Final = 16  # candidates of the first pass for each one wanted


class Signs:
    """In which dimensions the number of each document is above zero, a bit each."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._words = -(-dim // 64)
        self._bits = Growing(np.uint64, self._words)

    def __len__(self) -> int:
        return len(self._bits)

    @property
    def bits(self) -> NDArray[np.uint64]:
        """All of them, in whole words a document."""
        return self._bits.rows

    def extend(self, rows: NDArray[np.float32]) -> None:
        """The signs of the documents that follow."""
        self._bits.extend(self._of(rows))

    def load(self, bits: NDArray[np.uint64]) -> None:
        """The same, as `bits` gave them."""
        self._bits.extend(bits)

    def put(self, documents: NDArray[np.intp], rows: NDArray[np.float32]) -> None:
        """Other signs for some documents."""
        self._bits.rows[documents] = self._of(rows)

    def near(self, query: NDArray[np.float32], wanted: int, among: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """At least so many documents, of those in question, whose signs are the nearest to the query's."""
        distances = self._distances(query, self.bits if among is None else self.bits.take(among, axis=0))
        histogram = np.cumsum(np.bincount(distances, minlength=self._dim + 1))
        furthest = int(np.searchsorted(histogram, min(wanted, len(distances))))
        found = np.flatnonzero(distances <= furthest)
        return found if among is None else among[found]

    def _of(self, rows: NDArray[np.float32]) -> NDArray[np.uint64]:
        padded = np.zeros((len(rows), self._words * 64), np.bool_)
        padded[:, : self._dim] = rows > 0
        return np.packbits(padded, axis=1).view(np.uint64)

    def _distances(self, query: NDArray[np.float32], bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
        own = self._of(query[None])[0]
        out = np.empty(len(bits), np.uint16)
        for start in range(0, len(bits), _BLOCK):
            differing = np.bitwise_count(bits[start : start + _BLOCK] ^ own)
            here = out[start : start + _BLOCK]
            if self._words == _LANES:  # four bytes are added up by one product: what is above them falls off
                np.right_shift(differing.view(np.uint32).ravel() * _ADDED, 24, out=here, casting="unsafe")
            else:
                here[:] = differing[:, 0]
                for word in range(1, self._words):
                    here += differing[:, word]
        return out


class Nearest(ABC):
    """What finds the documents whose vectors are the nearest to one; all vectors have length 1, or are zeros."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._signs = Signs(dim)

    def __len__(self) -> int:
        return len(self._signs)

    @abstractmethod
    def of(self, documents: NDArray[np.intp], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of some documents."""

    @abstractmethod
    def vectors(self, documents: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of some documents."""

    def nearest(
        self, query: NDArray[np.float32], wanted: int, among: NDArray[np.intp] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """So many documents that are nearest, as far as there are any, with their cosines, in no order.

        `among` are the documents in question, all of them if it is left out.
        """
        if among is not None:
            among = among[: np.searchsorted(among, len(self))]
        size = len(self) if among is None else len(among)
        if size < _SIGNS_FROM or wanted * _KEPT * 4 > size:
            near = np.arange(len(self))
            cosines = self.of(near, query)
            if among is not None:  # after the product, whose last digits depend on its size
                near, cosines = among, cosines[among]
        else:
            near = self._signs.near(query, wanted * _KEPT, among)
            cosines = self.of(near, query)
        kept = _largest(cosines, wanted)
        return near[kept], cosines[kept]

    def alike(self, one: int, other: int) -> float:
        """The cosine of two documents."""
        rows = self.vectors(np.array([one, other], np.intp))
        return float(rows[0] @ rows[1])


class Vectors(Nearest):
    """Rows of numbers as an embedder made them; one that is missing yet is all zeros."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self._rows = Growing(np.float32, dim)

    def widen(self, documents: int) -> None:
        """So many further documents, whose vectors are missing."""
        self._rows.widen(documents)
        self._signs.extend(np.zeros((documents, self.dim), np.float32))

    def put(self, documents: NDArray[np.intp], rows: NDArray[Any]) -> None:
        """The vectors of some documents."""
        self._rows.rows[documents] = rows
        self._signs.put(documents, rows)

    def of(self, documents: NDArray[np.intp], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of some documents."""
        rows = self._rows.rows if len(documents) == len(self) else self._rows.rows[documents]
        cosines: NDArray[np.float32] = rows @ query
        return cosines

    def vectors(self, documents: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of some documents."""
        found: NDArray[np.float32] = self._rows.rows[documents]
        return found


def _largest(values: NDArray[np.float32], wanted: int) -> NDArray[np.intp]:
    if wanted >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, len(values) - wanted)[len(values) - wanted :]
