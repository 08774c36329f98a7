"""Which documents stand for a fact in a view's time, told from the columns of facts without a look at the store.

Most facts have the id of a claim, and say what it says. Other claims support facts between their own two ends only,
whichever way round: such a document is left out if no fact between its ends is in the view's time, and whether one that
is left in stands for a fact is asked of the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.index.marks import LITERAL, NOTHING
from semgraph.instants import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from semgraph.index.columns import Columns
    from semgraph.index.text import TextIndex
    from semgraph.walk.cut import Cut

__all__ = ["Living", "rows_at"]

_UNKNOWN: Final = np.uint64(2**64 - 1)  # ends that the columns don't know: the store is to be asked
_FEW: Final = 1024  # documents that came since, all of which are let through


class _Slice(NamedTuple):
    """Which documents may be in a view's time; right for instants from `since` until `until`."""

    documents: NDArray[np.bool_]
    living: NDArray[np.intp]
    since: int
    until: int
    size: int
    dropped: int


class Living:
    """The pairs of ends of a scope's documents and facts, for the columns and documents that it was made of."""

    def __init__(self, columns: Columns, text: TextIndex, members: Mapping[int, Sequence[int]]) -> None:
        self._columns = columns
        self._members = dict(members)
        self._text = text
        self._documents = len(text)
        base = columns.base
        rows = _pairs(columns.subject[:base], columns.object[:base])
        self._keys, places = np.unique(rows, return_inverse=True)
        self._rows = places.astype(np.uint32)
        self._own = self._of(text)
        at = np.searchsorted(self._keys, self._own)
        found = at < len(self._keys)
        found[found] = self._keys[at[found]] == self._own[found]
        beyond = np.where(self._own == _UNKNOWN, len(self._keys) + 1, len(self._keys))
        self._places = np.where(found, at, beyond)
        self._row_of = _rows_of(text, columns)
        self._last: _Slice | None = None

    def fits(self, columns: Columns, text: TextIndex, members: Mapping[int, Sequence[int]]) -> bool:
        """Whether it still tells of these."""
        same = columns is self._columns and text is self._text and dict(members) == self._members
        return same and len(text) - self._documents <= max(_FEW, self._documents // 32)

    def mask(self, cut: Cut, size: int) -> NDArray[np.bool_]:
        """Of all documents, of which there are so many, whether each may stand for a fact in the view's time."""
        late = np.ones(max(size - self._documents, 0), np.bool_)
        told = self._told(cut).documents
        return np.concatenate([told, late]) if len(late) else told

    def alive(self, cut: Cut, size: int) -> NDArray[np.intp]:
        """Those that may."""
        late = np.arange(self._documents, max(size, self._documents))
        told = self._told(cut).living
        return np.concatenate([told, late]) if len(late) else told

    def row_of(self, document: int) -> int:
        """The row of the fact that a document stands for as its first claim; -1 where the store is to be asked."""
        if document >= self._documents:
            return -1
        row = int(self._row_of[document])
        return row if row >= 0 and self._columns.start[row] != POS_INF else -1

    def _told(self, cut: Cut) -> _Slice:
        columns, last = self._columns, self._last
        same = last is not None and (last.size, last.dropped) == (columns.size, len(columns.dropped))
        if last is not None and same and cut.instant is not None and last.since <= cut.instant < last.until:
            return last
        base = columns.base
        start, end = columns.start[:base], columns.end[:base]
        pairs = np.zeros(len(self._keys) + 2, np.bool_)
        pairs[-1] = True
        pairs[self._rows[_in_time(cut, start, end)]] = True
        fresh = slice(base, columns.size)
        late = np.flatnonzero(_in_time(cut, columns.start[fresh], columns.end[fresh])) + base
        keys = _pairs(columns.subject[late], columns.object[late])
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        pairs[at[known]] = True
        living: NDArray[np.bool_] = pairs[self._places]
        if not known.all():
            living |= np.isin(self._own, keys[~known])
        own = np.flatnonzero(self._row_of >= 0)
        start, end = columns.start[self._row_of[own]], columns.end[self._row_of[own]]
        whole = start != POS_INF
        living[own[whole]] = _in_time(cut, start[whole], end[whole])
        since, until = (NEG_INF, NEG_INF) if cut.instant is None else _around(cut.instant, columns)
        self._last = _Slice(living, np.flatnonzero(living), since, until, columns.size, len(columns.dropped))
        return self._last

    def _of(self, text: TextIndex) -> NDArray[np.uint64]:
        """The pair of each document."""
        subject, target = self._nodes(text.subject), self._nodes(text.object)
        target = np.where(text.object < 0, LITERAL, target)
        unknown = (subject < 0) | (target < 0)
        pairs = _pairs(np.where(unknown, 0, subject).astype(np.uint32), np.where(unknown, 0, target).astype(np.uint32))
        return np.where(unknown, _UNKNOWN, pairs)

    def _nodes(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The node of each entity, as what it is merged into; -1 for none."""
        now = entities
        if self._members:
            now = entities.copy()
            for whole, raws in self._members.items():
                now[np.isin(entities, list(raws))] = whole
        columns = self._columns
        at = np.searchsorted(columns.entities, now)
        found = at < len(columns.entities)
        found[found] = columns.entities[at[found]] == now[found]
        nodes = np.where(found, at, -1)
        late = np.flatnonzero(~found & (now >= 0))
        nodes[late] = [columns.node(int(each)) for each in now[late]]
        return nodes


def rows_at(columns: Columns, entity: int, cut: Cut) -> NDArray[np.intp]:
    """The rows of the facts in the view's time that have the entity at an end."""
    node = columns.node(entity)
    if node < 0:
        return np.zeros(0, np.intp)
    fresh = np.array(list({*columns.fresh_out.get(node, ()), *columns.fresh_in.get(node, ())}), np.intp)  # a loop once
    found = [fresh[_in_time(cut, columns.start[fresh], columns.end[fresh])]]
    if node < len(columns.entities):
        first, last = columns.out_ptr[node], columns.out_ptr[node + 1]
        leaving = _in_time(cut, columns.start[first:last], columns.end[first:last])
        found.append(first + np.flatnonzero(leaving & (columns.object[first:last] != node)))
        inward = slice(columns.in_ptr[node], columns.in_ptr[node + 1])
        entering = _in_time(cut, columns.in_start[inward], columns.in_end[inward])
        found.append(columns.in_rows[inward][entering].astype(np.intp))
    return np.concatenate(found)


def _rows_of(text: TextIndex, columns: Columns) -> NDArray[np.int32]:
    """The row of the fact that has the id of each document's claim; -1 for none."""
    found = np.full(len(text), -1, np.int32)
    own, theirs = text.ids.packed, columns.ids.packed
    if not len(theirs):
        return found
    keys = np.ascontiguousarray(theirs[:, :8]).view(np.uint64)[:, 0]
    order = np.argsort(keys)
    wanted = np.ascontiguousarray(own[:, :8]).view(np.uint64)[:, 0]
    at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    same = (theirs[at] == own).all(axis=1)
    found[same] = at[same]
    # A claim with several facts: the others are named after it.
    parents = {name.partition(".")[0] for name in columns.ids.others.values()}
    if len(text.ids.others) or parents:
        unsure = [number for number in range(len(text)) if number in text.ids.others or text.ids[number] in parents]
        found[unsure] = -1
    return found


def _pairs(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.uint64]:
    """Two ends as one number, whichever way round."""
    low, high = np.minimum(one, other).astype(np.uint64), np.maximum(one, other).astype(np.uint64)
    pairs: NDArray[np.uint64] = (low << np.uint64(32)) | np.where(high >= NOTHING, LITERAL, high).astype(np.uint64)
    return pairs


def _in_time(cut: Cut, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the intervals are in the view's time; none of those that were superseded are."""
    held: NDArray[np.bool_]
    if cut.instant is not None:
        held = (start <= cut.instant) & (end > cut.instant)
    elif cut.window is None:
        held = start != POS_INF
    elif cut.cover:
        held = (start <= cut.window[0]) & (end >= cut.window[1])
    else:
        held = (start < cut.window[1]) & (end > cut.window[0])
    return held


def _around(instant: int, columns: Columns) -> tuple[int, int]:
    """The longest stretch around an instant in which no fact begins or ends."""
    since, until = NEG_INF, POS_INF
    for turns in (columns.start[: columns.size], columns.end[: columns.size]):
        past = turns <= instant
        since = max(since, int(turns.max(initial=NEG_INF, where=past)))
        until = min(until, int(turns.min(initial=POS_INF, where=~past)))
    return since, until
