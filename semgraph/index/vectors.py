"""Vectors by document number, and the nearest to one: exactly, with a first pass over their signs where there are many.

The first pass compares one bit a dimension (the sign), 32 times less memory than float32; what it finds is compared in
full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Vectors"]

_SIGNS_FROM: Final = 20_000  # documents: below it the full product is as quick
_BLOCK: Final = 16_384  # rows at a time, so that what is in between stays in the cache of the processor
_KEPT: Final = 8  # candidates of the first pass for each one wanted


class Vectors:
    """Rows of length 1, or of zeros where there is no vector yet."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._words = -(-dim // 64)
        self._rows = np.zeros((0, dim), np.float32)
        self._signs = np.zeros((0, self._words), np.uint64)
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def extend(self, rows: NDArray[np.float32]) -> None:
        """Rows for the documents that follow those that are here."""
        end = self.size + len(rows)
        if end > len(self._rows):
            room = max(end, self.size + self.size // 4)
            self._rows = _grown(self._rows, self.size, room)
            self._signs = _grown(self._signs, self.size, room)
        self._rows[self.size : end] = rows
        self._signs[self.size : end] = self._bits(rows)
        self.size = end

    @property
    def rows(self) -> NDArray[np.float32]:
        """All rows, by document."""
        return self._rows[: self.size]

    def _bits(self, rows: NDArray[np.float32]) -> NDArray[np.uint64]:
        padded = np.zeros((len(rows), self._words * 64), np.bool_)
        padded[:, : self.dim] = rows > 0
        return np.packbits(padded, axis=1).view(np.uint64)

    def nearest(self, query: NDArray[np.float32], wanted: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """At least so many documents that are nearest, as far as there are any, with their cosines, in no order."""
        if self.size < _SIGNS_FROM or wanted * _KEPT * 4 > self.size:
            cosines = self.rows @ query
            found = _largest(cosines, wanted)
            return found, cosines[found]
        distances = self._distances(query)
        limit = min(wanted * _KEPT, self.size)
        histogram = np.cumsum(np.bincount(distances, minlength=self.dim + 1))
        furthest = int(np.searchsorted(histogram, limit))
        near = np.flatnonzero(distances <= furthest)
        cosines = self.rows[near] @ query
        kept = _largest(cosines, wanted)
        return near[kept], cosines[kept]

    def _distances(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        """In how many dimensions the sign differs."""
        own = self._bits(query[None])[0]
        out = np.empty(self.size, np.uint16)
        for start in range(0, self.size, _BLOCK):
            stop = min(start + _BLOCK, self.size)
            differing = np.bitwise_count(self._signs[start:stop] ^ own)
            np.sum(differing, axis=1, dtype=np.uint16, out=out[start:stop])
        return out

    def of(self, documents: NDArray[np.intp], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of some documents."""
        cosines: NDArray[np.float32] = self.rows[documents] @ query
        return cosines


def _largest(values: NDArray[np.float32], wanted: int) -> NDArray[np.intp]:
    if wanted >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, len(values) - wanted)[len(values) - wanted :]


def _grown(rows: NDArray, used: int, room: int) -> NDArray:  # type: ignore[type-arg]
    wide = np.zeros((room, rows.shape[1]), rows.dtype)
    wide[:used] = rows[:used]
    return wide
