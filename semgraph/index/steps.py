"""Steps from node to node over the columns: which rows are edges for a walk, and where they lead.

Few rows are looked at one by one through memoryviews, many at once in numpy: below some hundred rows the calls of
numpy cost more than they save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.index.marks import LITERAL, NEGATIVE, NOTHING, UNKNOWN_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from semgraph.index.columns import Columns
    from semgraph.index.times import Times

    Nodes = NDArray[np.intp]

__all__ = ["Chosen", "Looks", "Steps", "Ways", "as_nodes"]

_NO_EDGE: Final = NEGATIVE | UNKNOWN_START
_ALL: Final = 10**9  # rows


class Looks:
    """Views of some columns from which single values are read quickly, made once for all walks."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.known = len(columns.entities)
        self.out, self.back = columns.out_ptr.data, columns.in_ptr.data
        self.subject, self.predicate, self.object = columns.subject.data, columns.predicate.data, columns.object.data
        self.start, self.end, self.flags = columns.start.data, columns.end.data, columns.flags.data
        self.rows, self.row_start, self.row_end = columns.in_rows.data, columns.in_start.data, columns.in_end.data
        self.ahead = self.out, self.start, self.end, self.object
        self.behind = self.back, self.row_start, self.row_end, self.rows, self.subject
        self.plain = True  # every fact is positive and has a known start
        self.linked = True  # every fact has an entity as its object
        self.size = 0  # so many rows were looked at

    @classmethod
    def of(cls, columns: Columns) -> Looks:
        """Those of some columns, made once."""
        found = columns.derived.get(cls)
        if found is None:
            found = columns.derived[cls] = cls(columns)
        return found

    def look(self) -> None:
        """Look at the rows that have come since."""
        columns, fresh = self.columns, slice(self.size, self.columns.size)
        self.plain = self.plain and not (columns.flags[fresh] & _NO_EDGE).any()
        self.linked = self.linked and bool((columns.object[fresh] < NOTHING).all())
        self.size = columns.size


class Chosen(NamedTuple):
    """By number of predicate, whether its facts lead on from the one end; None is every predicate."""

    out: bytes | None
    back: bytes | None

    @property
    def turned(self) -> Chosen:
        """The same edges walked the other way."""
        return Chosen(self.back, self.out)


class Ways(NamedTuple):
    """Rows, and where each leads to: to its object where they are walked `leaving` their subject, else to that."""

    rows: NDArray[Any]
    far: NDArray[Any]
    leaving: bool


class Steps:
    """The edges of some columns in a part of time: positive, with a start that is known, between two entities."""

    __slots__ = ("chosen", "columns", "looks", "times")

    def __init__(self, looks: Looks, times: Times, chosen: Chosen) -> None:
        self.looks = looks
        self.columns = columns = looks.columns
        self.times = times
        self.chosen = chosen
        if looks.size < columns.size:
            looks.look()

    def turned(self) -> Steps:
        """The same edges walked the other way."""
        return Steps(self.looks, self.times, self.chosen.turned)

    def cost(self, nodes: Iterable[int]) -> int:
        """About how many rows lie at the nodes."""
        looks, known, found, (out, back) = self.looks, self.looks.known, 0, self.chosen
        for node in nodes:
            if node < known:
                if out != b"":
                    found += looks.out[node + 1] - looks.out[node]
                if back != b"":
                    found += looks.back[node + 1] - looks.back[node]
        return found

    def cost_of_many(self, nodes: Nodes) -> int:
        """The same of an array of nodes."""
        known, found = nodes[nodes < self.looks.known], 0
        for allowed, bounds in zip(self.chosen, (self.columns.out_ptr, self.columns.in_ptr), strict=True):
            if allowed != b"":
                found += int((bounds[known + 1] - bounds[known]).sum())
        return found

    # -- one by one

    def rows(self, node: int) -> list[tuple[int, int]]:
        """The rows that lead away from a node, each with the node that it leads to."""
        looks, (out, back) = self.looks, self.chosen
        found: list[tuple[int, int]] = []
        if out != b"":
            first, last = (looks.out[node], looks.out[node + 1]) if node < looks.known else (0, 0)
            rows = self._timely_places(looks.start, looks.end, first, last)
            target = looks.object
            found = [(row, far) for row in rows + self._fresh_rows(self.columns.fresh_out, node)
                     if (far := target[row]) < NOTHING and far != node]  # fmt: skip
            if out is not None or not self.looks.plain:
                found = self._kept(found, out)
        if back != b"":
            first, last = (looks.back[node], looks.back[node + 1]) if node < looks.known else (0, 0)
            places = self._timely_places(looks.row_start, looks.row_end, first, last)
            rows_of, source = looks.rows, looks.subject
            rows = [rows_of[place] for place in places] + self._fresh_rows(self.columns.fresh_in, node)
            turned = [(row, far) for row in rows if (far := source[row]) != node]
            found += self._kept(turned, back) if back is not None or not self.looks.plain else turned
        return found

    def _timely_places(self, start: memoryview, end: memoryview, first: int, last: int) -> list[int]:
        latest, earliest = self.times
        return [at for at in range(first, last) if start[at] <= latest and end[at] >= earliest]

    def _fresh_rows(self, fresh: dict[int, list[int]], node: int) -> list[int]:
        if not fresh or node not in fresh:
            return []
        latest, earliest = self.times
        start, end = self.looks.start, self.looks.end
        return [row for row in fresh[node] if start[row] <= latest and end[row] >= earliest]

    def _kept(self, found: list[tuple[int, int]], allowed: bytes | None) -> list[tuple[int, int]]:
        flags, predicate = self.looks.flags, self.looks.predicate
        return [
            (row, far)
            for row, far in found
            if not flags[row] & _NO_EDGE and (allowed is None or allowed[predicate[row]])
        ]

    def near(self, node: int, into: dict[int, None], most: int = _ALL) -> bool:
        """Put there the nodes that the rows at a node lead to, itself perhaps among them.

        False where more than the `most` rows lie at it; then nothing is put anywhere.
        """
        looks, columns, (out, back) = self.looks, self.columns, self.chosen
        if node >= looks.known or node in columns.fresh_out or node in columns.fresh_in:
            if self.cost((node,)) > most:
                return False
            into.update(dict.fromkeys([far for _, far in self.rows(node)]))
            return True
        latest, earliest = self.times
        bounds, start, end, far = looks.ahead
        ends, far_start, far_end, rows, near = looks.behind
        # Places one by one: to cut a stretch out of each column takes longer than to look at a dozen rows.
        ahead = () if out == b"" else range(bounds[node], bounds[node + 1])
        behind = () if back == b"" else range(ends[node], ends[node + 1])
        if len(ahead) + len(behind) > most:
            return False
        every = looks.plain and out is None
        for row in ahead:
            if start[row] <= latest and end[row] >= earliest and (every or self._leads(row, out)):
                into[far[row]] = None
        if not looks.linked:
            into.pop(NOTHING, None)
            into.pop(LITERAL, None)
        every = looks.plain and back is None
        for at in behind:
            if far_start[at] <= latest and far_end[at] >= earliest and (every or self._leads(rows[at], back)):
                into[near[rows[at]]] = None
        return True

    def _leads(self, row: int, allowed: bytes | None) -> bool:
        """Whether a row of the time is an edge under a wanted predicate."""
        looks = self.looks
        return not looks.flags[row] & _NO_EDGE and (allowed is None or bool(allowed[looks.predicate[row]]))

    # -- many at once

    def ways(self, nodes: Nodes) -> list[Ways]:
        """The rows that lead away from the nodes, and where to; loops are among them."""
        columns, (out, back) = self.columns, self.chosen
        parts = []
        for leaving, allowed in ((True, out), (False, back)):
            if allowed != b"":
                rows = self._rows_at(nodes, leaving=leaving)
                far = (columns.object if leaving else columns.subject).take(rows)
                if leaving and not self.looks.linked:
                    kept = (far < NOTHING).nonzero()[0]
                    rows, far = rows.take(kept), far.take(kept)
                parts.append(Ways(*self._sifted(rows, allowed, far), leaving))
        return parts

    def _rows_at(self, nodes: Nodes, *, leaving: bool) -> NDArray[Any]:
        """The rows of the time that are about the nodes from the one end."""
        columns = self.columns
        base = nodes if columns.nodes == self.looks.known else nodes[nodes < self.looks.known]
        if leaving:
            places = _ranges(columns.out_ptr, base)
            rows: NDArray[Any] = places.take(self._timely(columns.start.take(places), columns.end.take(places)))
        else:
            places = _ranges(columns.in_ptr, base)
            timely = self._timely(columns.in_start.take(places), columns.in_end.take(places))
            rows = columns.in_rows.take(places.take(timely))
        if columns.size == columns.base:
            return rows
        late = slice(columns.base, columns.size)
        here = np.zeros(columns.nodes + 1, np.bool_)
        here[nodes] = True
        ends = columns.subject[late] if leaving else np.minimum(columns.object[late], columns.nodes)
        timely = self._timely(columns.start[late], columns.end[late])
        return np.concatenate([rows, timely[here[ends[timely]]] + columns.base])

    def _timely(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.intp]:
        timely = start <= self.times.latest
        timely &= end >= self.times.earliest
        found: NDArray[np.intp] = timely.nonzero()[0]
        return found

    def _sifted(
        self, rows: NDArray[Any], allowed: bytes | None, beside: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows that are edges under a wanted predicate, and what stands beside each."""
        if not self.looks.plain:
            kept = ((self.columns.flags.take(rows) & _NO_EDGE) == 0).nonzero()[0]
            rows, beside = rows.take(kept), beside.take(kept)
        if allowed is not None:
            kept = np.frombuffer(allowed, np.bool_).take(self.columns.predicate.take(rows)).nonzero()[0]
            rows, beside = rows.take(kept), beside.take(kept)
        return rows, beside


def _ranges(bounds: NDArray[np.int64], nodes: Nodes) -> Nodes:
    """The places from each node's bound up to the next one's, one after the other."""
    first = bounds.take(nodes)
    count = bounds.take(nodes + 1)
    count -= first
    ends = count.cumsum()
    found = np.arange(int(ends[-1]) if len(ends) else 0)
    first -= ends
    first += count
    found += first.repeat(count)
    return found


def as_nodes(nodes: Sequence[int] | set[int]) -> Nodes:
    """Nodes as an array."""
    return np.fromiter(nodes, np.intp, len(nodes))
