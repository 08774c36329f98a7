"""The edges of the columns in the order of their starts, so that those of one moment are read from front to back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.marks import NEGATIVE, NOTHING, UNKNOWN_START
from semgraph.instants import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from semgraph.index.columns import Columns
    from semgraph.index.times import Times

__all__ = ["Found", "Starts"]

_NO_EDGE: Final = NEGATIVE | UNKNOWN_START


class Found:
    """Edges as they were when they were found, their columns taken when asked for: nothing writes to those behind it.

    The columns are subject, predicate, object, start and end.
    """

    __slots__ = ("_behind", "_late", "_places")

    def __init__(
        self, behind: Sequence[NDArray[Any]], places: NDArray[np.intp], late: Sequence[NDArray[Any]] | None
    ) -> None:
        self._behind = behind
        self._places = places
        self._late = late

    def __len__(self) -> int:
        return len(self._places) + (0 if self._late is None else len(self._late[0]))

    def column(self, number: int) -> NDArray[Any]:
        """One of the columns."""
        found: NDArray[Any] = self._behind[number].take(self._places)
        return found if self._late is None else np.concatenate([found, self._late[number]])


class Starts:
    """Positive facts between entities with a known start, loops and events among them."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        rows = _edges(columns, 0, columns.base)
        rows = rows.take(np.argsort(columns.start.take(rows), kind="stable"))
        self._behind = [column.take(rows) for column in _told(columns)]
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
        columns, (*_, start, end) = self.columns, self._behind
        first = int(start.searchsorted(times.latest, "right"))
        places = (end[:first] >= times.earliest).nonzero()[0]
        if columns.size == columns.base:
            return Found(self._behind, places, None)
        late = _edges(columns, columns.base, columns.size)
        late = late[(columns.start[late] <= times.latest) & (columns.end[late] >= times.earliest)]
        return Found(self._behind, places, [column.take(late) for column in _told(columns)])

    def _catch_up(self) -> None:
        """Let the rows of fluents that were written since meet no time."""
        gone = self.columns.dropped[self._dropped :]
        if not gone:
            return
        self._dropped += len(gone)
        columns, (subject, predicate, *_, end) = self.columns, self._behind
        touched = np.zeros(len(columns.entities), np.bool_)
        touched[columns.subject[gone]] = True
        places = touched.take(subject).nonzero()[0]
        fluents = _fluents(columns.subject[gone], columns.predicate[gone])
        places = places[np.isin(_fluents(subject[places], predicate[places]), fluents)]
        end = end.copy()
        end[places] = NEG_INF
        self._behind = [*self._behind[:-1], end]  # a new list and a new end: what was found keeps its own


def _fluents(subject: NDArray[Any], predicate: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each subject and predicate."""
    found = subject.astype(np.int64)
    found <<= 32
    found |= predicate
    return found


def _told(columns: Columns) -> tuple[NDArray[Any], ...]:
    return columns.subject, columns.predicate, columns.object, columns.start, columns.end


def _edges(columns: Columns, first: int, last: int) -> NDArray[np.intp]:
    """Which rows of a stretch are edges and were not superseded."""
    kept = columns.object[first:last] < NOTHING
    kept &= (columns.flags[first:last] & _NO_EDGE) == 0
    kept &= columns.end[first:last] > columns.start[first:last]
    rows: NDArray[np.intp] = kept.nonzero()[0]
    rows += first
    return rows
