"""Arrays that grow at their end, with room left so that a few more rows do not copy all that are there."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Growing"]


class Growing:
    """Numbers in a row, or rows of so many numbers."""

    def __init__(self, kind: type[np.generic], width: int | None = None) -> None:
        self._rows: np.ndarray[Any, Any] = np.zeros((0,) if width is None else (0, width), kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        """All of them, as a view."""
        return self._rows[: self._size]

    def extend(self, more: Any) -> None:
        """Put these behind the others."""
        start = self._size
        self.widen(len(more))
        self._rows[start : self._size] = more

    def widen(self, more: int) -> None:
        """Put so many zeros behind the others."""
        end = self._size + more
        if end > len(self._rows):
            wide = np.zeros((max(end, self._size + self._size // 4), *self._rows.shape[1:]), self._rows.dtype)
            wide[: self._size] = self.rows
            self._rows = wide
        self._size = end
