"""The edges of the columns in the order of their starts, so that those of one moment are read from front to back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.index.marks import NEGATIVE, NOTHING, UNKNOWN_START
from semgraph.instants import NEG_INF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semgraph.index.columns import Columns
    from semgraph.index.times import Times

__all__ = ["Found", "Starts"]

_NO_EDGE: Final = NEGATIVE | UNKNOWN_START
_FEW: Final = 16  # superseded rows that are looked for one after the other


class Found(NamedTuple):
    """Edges by subject, predicate, object, start and end, each as a column."""

    subject: NDArray[Any]
    predicate: NDArray[Any]
    object: NDArray[Any]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


class Starts:
    """Positive facts between entities with a known start, loops and events among them."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        rows = _edges(columns, 0, columns.base)
        self._rows = rows.take(np.argsort(columns.start.take(rows), kind="stable")).astype(np.uint32)
        self._start, self._end = columns.start.take(self._rows), columns.end.take(self._rows)
        self._subject, self._object = columns.subject.take(self._rows), columns.object.take(self._rows)
        self._dropped = len(columns.dropped)

    @classmethod
    def of(cls, columns: Columns) -> Starts:
        """Those of some columns, made once."""
        found = columns.derived.get(cls)
        if found is None:
            found = columns.derived[cls] = cls(columns)
        return found

    def at(self, times: Times) -> Found:
        """The edges of a part of time."""
        self._catch_up()
        columns = self.columns
        first = int(np.searchsorted(self._start, times.latest, "right"))
        places = np.flatnonzero(self._end[:first] >= times.earliest)
        rows = self._rows.take(places)
        found = Found(
            self._subject.take(places),
            columns.predicate.take(rows),
            self._object.take(places),
            self._start.take(places),
            self._end.take(places),
        )
        if columns.size == columns.base:
            return found
        late = _edges(columns, columns.base, columns.size)
        late = late[(columns.start[late] <= times.latest) & (columns.end[late] >= times.earliest)]
        told = (columns.subject, columns.predicate, columns.object, columns.start, columns.end)
        return Found(*(np.concatenate([before, column.take(late)]) for before, column in zip(found, told, strict=True)))

    def _catch_up(self) -> None:
        """Let rows that were superseded since meet no time."""
        gone = self.columns.dropped[self._dropped :]
        self._dropped += len(gone)
        if len(gone) > _FEW:
            self._end[np.isin(self._rows, np.array(gone, np.uint32))] = NEG_INF
        else:
            for row in gone:
                self._end[self._rows == row] = NEG_INF


def _edges(columns: Columns, first: int, last: int) -> NDArray[np.intp]:
    """Which rows of a stretch are edges and were not superseded."""
    kept = columns.object[first:last] < NOTHING
    kept &= (columns.flags[first:last] & _NO_EDGE) == 0
    kept &= columns.end[first:last] > columns.start[first:last]
    return np.flatnonzero(kept) + first
