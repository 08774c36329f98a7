"""The current facts of a scope as numpy columns: by subject, predicate and start, and the same edges by object.

A *row* is a position in the columns. Rows below `base` are sorted; those of fluents written since come after them, in
room that was left for them. A row that is superseded stays in its place with an interval that no moment meets, so that
whoever masks by time needs to know nothing about it. Entities are numbered by *node*; a node or row means something
until the columns are merged or loaded anew, which `Index` does between reads only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.errors import StoreCorrupt
from semgraph.index.idents import Idents
from semgraph.index.marks import DISPUTED, LITERAL, NEGATIVE, NO_ENTITY, NOTHING, UNKNOWN_START, object_number
from semgraph.instants import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Columns"]

_NO_VALUE: Final = NEGATIVE | UNKNOWN_START
_ROOM: Final = 2048  # rows, and a 32nd of the base
_NOWHERE: Final = (POS_INF, NEG_INF)
_AT_A_TIME: Final = 65_536


class Columns:
    """Facts by row: `subject`, `predicate`, `object`, `start`, `end` and `flags`, and two ways to find them.

    `out_ptr[node]` and the next entry bound the sorted rows of a subject; `in_ptr` bounds the place in `in_rows`,
    `in_start` and `in_end` where the rows of an object lie, sorted by predicate and start. Rows of fluents written
    since are in none of these but in `fresh_out` and `fresh_in`, by node.
    """

    def __init__(
        self,
        entities: NDArray[np.int64],
        predicates: Sequence[str],
        rows: Sequence[NDArray[Any]],
        ids: Idents | None = None,
        sure: NDArray[np.float64] | None = None,
    ) -> None:
        self.ids = Idents() if ids is None else ids  # of the base; empty where nobody told them
        self.sure = np.zeros(0) if sure is None else sure  # how sure each is by itself, where the ids are known
        self._fresh_ids: dict[int, tuple[str, float]] = {}
        subject, predicate, target, start, end, flags = rows
        self.base = self.size = len(subject)
        room = self.base + _ROOM + self.base // 32
        self.entities = entities
        self.nodes = len(entities)  # so many there are
        self.predicates = list(predicates)
        self.subject = _widened(subject, room, np.uint32)
        self.predicate = _widened(predicate, room, np.uint16 if len(predicates) < 2**15 else np.uint32)
        self.object = _widened(target, room, np.uint32)
        self.start = _widened(start, room, np.int64)
        self.end = _widened(end, room, np.int64)
        self.flags = _widened(flags, room, np.uint8)
        self.fresh_out: dict[int, list[int]] = {}
        self.fresh_in: dict[int, list[int]] = {}
        self._fluents: dict[tuple[int, int], list[int]] = {}
        self._numbers = {name: number for number, name in enumerate(self.predicates)}
        self._added: dict[int, int] = {}
        self._added_back: list[int] = []
        self.dropped: list[int] = []  # rows of the base that were superseded
        self.derived: dict[object, Any] = {}  # what walks made of these columns, by what it is
        self._index()

    def _index(self) -> None:
        """Sort out both directions of the base, and views of the columns from which one value is read quickly."""
        nodes, size = len(self.entities), self.base
        subject, target = self.subject[:size], self.object[:size]
        self.out_ptr = _bounds(subject, nodes)
        linked = np.flatnonzero(target < NOTHING).astype(np.uint32)
        order = np.lexsort((self.start[linked], self.predicate[linked], target[linked]))
        self.in_rows = linked[order]
        self.in_ptr = _bounds(target[self.in_rows], nodes)
        self.in_start, self.in_end = self.start[self.in_rows], self.end[self.in_rows]
        self._entities = self.entities.data
        self._out_ptr, self._in_ptr = self.out_ptr.data, self.in_ptr.data
        self._in_rows = self.in_rows.data
        self._predicate, self._object = self.predicate.data, self.object.data
        self._start, self._end, self._flags = self.start.data, self.end.data, self.flags.data
        self._subject = self.subject.data

    @classmethod
    def loaded(cls, stored: Iterable[tuple[Any, ...]], *, identified: bool = True) -> Columns:
        """The columns of stored facts, `READ` of each, in key order; `identified`: and how sure each is by itself."""
        chunks = [_chunk(rows) for rows in _grouped(stored)]
        names = sorted({name for chunk in chunks for name in chunk[1]})
        number = {name: at for at, name in enumerate(names)}
        subject, target = _joined(chunks, 0), _joined(chunks, 2)
        entities = np.unique(np.concatenate([subject, target[target >= 0]]))
        predicate = np.fromiter((number[name] for chunk in chunks for name in chunk[1]), np.uint32, len(subject))
        node = np.searchsorted(entities, target)
        rows: list[NDArray[Any]] = [
            np.searchsorted(entities, subject),
            predicate,
            np.where(target >= 0, node, np.where(target == NO_ENTITY, LITERAL, NOTHING)),
            _joined(chunks, 3),
            _joined(chunks, 4),
            _joined(chunks, 5),
        ]
        ids = Idents()
        for chunk in chunks if identified else ():
            ids.extend(chunk[6])
        return cls(entities, names, rows, ids, _joined(chunks, 7).astype(np.float64) if identified else None)

    @property
    def bare(self) -> bool:
        """Whether the ids of the facts are not known."""
        return self.base > 0 and not len(self.ids)

    @property
    def eternal(self) -> bool:
        """Whether some facts of the base begin at the beginning of time."""
        return bool((self.start[: self.base] == NEG_INF).any())

    def mark_unknown(self, unknown: Iterable[bool]) -> None:
        """Flag the base's facts without a start, of all that begin at the beginning of time, in key order."""
        eternal = np.flatnonzero(self.start[: self.base] == NEG_INF)
        self.flags[eternal[np.fromiter(unknown, np.bool_, len(eternal))]] |= UNKNOWN_START

    # -- numbers

    def node(self, entity: int) -> int:
        """The node of an entity, -1 where no fact speaks of it."""
        at = bisect_left(self._entities, entity)
        if at < len(self._entities) and self._entities[at] == entity:
            return at
        return self._added.get(entity, -1)

    def entity(self, node: int) -> int:
        """The entity of a node."""
        known = len(self._entities)
        return self._entities[node] if node < known else self._added_back[node - known]

    @property
    def added(self) -> tuple[int, ...]:
        """The entities of the nodes that have come since, which follow those in `entities`."""
        return tuple(self._added_back)

    def predicate_number(self, name: str) -> int:
        """The number of a predicate in the columns, -1 where no fact has it."""
        return self._numbers.get(name, -1)

    def id_of(self, row: int) -> str:
        """The id of the fact in a row; empty where nobody told it."""
        if row >= self.base:
            return self._fresh_ids.get(row, ("", 0.0))[0]
        return self.ids[row] if len(self.ids) else ""

    def sure_of(self, row: int) -> float:
        """How sure the fact in a row is by itself; 0 where nobody told it."""
        if row >= self.base:
            return self._fresh_ids.get(row, ("", 0.0))[1]
        return float(self.sure[row]) if len(self.sure) else 0.0

    # -- facts of one fluent, one entity

    def rows(self, entity: int, predicate: str) -> Sequence[int]:
        """The rows of one subject and predicate, by start, as the store orders them."""
        node, number = self.node(entity), self._numbers.get(predicate, -1)
        if node < 0 or number < 0:
            return ()
        if self._fluents and (fresh := self._fluents.get((node, number))) is not None:
            return fresh
        if node >= len(self._entities):
            return ()
        first, last = self._out_ptr[node], self._out_ptr[node + 1]
        first = bisect_left(self._predicate, number, first, last)
        return range(first, bisect_right(self._predicate, number, first, last))

    def rows_onto(self, entity: int, predicate: str) -> list[int]:
        """The rows of one object and predicate."""
        node, number = self.node(entity), self._numbers.get(predicate, -1)
        return [] if node < 0 or number < 0 else self._onto(node, number)

    def _onto(self, node: int, number: int) -> list[int]:
        found: list[int] = []
        if node < len(self._entities):
            place, last = self._in_ptr[node], self._in_ptr[node + 1]
            told = self._predicate.__getitem__
            first = bisect_left(self._in_rows, number, place, last, key=told)
            last = bisect_right(self._in_rows, number, first, last, key=told)
            found = [row for row in self._in_rows[first:last] if self._start[row] != POS_INF]
        return found + [row for row in self.fresh_in.get(node, ()) if self._predicate[row] == number]

    def holding(self, node: int, predicate: int, instant: int) -> list[tuple[int, int]]:
        """The rows of positive facts of a subject and predicate, by numbers, that hold, each with its object's."""
        rows: Sequence[int] | None = self._fluents.get((node, predicate)) if self._fluents else None
        if rows is None:
            if node >= len(self._entities):
                return []
            first, last = self._out_ptr[node], self._out_ptr[node + 1]
            first = bisect_left(self._predicate, predicate, first, last)
            rows = range(first, bisect_right(self._predicate, predicate, first, last))
        start, end, flags, far = self._start, self._end, self._flags, self._object
        return [(row, far[row]) for row in rows if start[row] <= instant < end[row] and not flags[row] & _NO_VALUE]

    def holding_onto(self, node: int, predicate: int, instant: int) -> list[tuple[int, int]]:
        """The same from the other end: rows by object and predicate, each with its subject's number."""
        rows = self._onto(node, predicate)
        start, end, flags, far = self._start, self._end, self._flags, self._subject
        return [(row, far[row]) for row in rows if start[row] <= instant < end[row] and not flags[row] & _NO_VALUE]

    def leaving(self, entity: int) -> list[int]:
        """The rows of one subject, in key order but for fluents written since, which come last."""
        node = self.node(entity)
        found: list[int] = []
        if 0 <= node < len(self._entities):
            rows = range(self._out_ptr[node], self._out_ptr[node + 1])
            found += [row for row in rows if self._start[row] != POS_INF] if self.fresh_out else rows
        return found + self.fresh_out.get(node, [])

    def entering(self, entity: int) -> list[int]:
        """The rows of one object."""
        node = self.node(entity)
        found: list[int] = []
        if 0 <= node < len(self._entities):
            rows = self._in_rows[self._in_ptr[node] : self._in_ptr[node + 1]].tolist()
            found += [row for row in rows if self._start[row] != POS_INF] if self._fluents else rows
        return found + self.fresh_in.get(node, [])

    def names_onto(self, entity: int) -> list[str]:
        """The predicates under which there are facts with an entity as their object."""
        return [self.predicates[number] for number in np.unique(self.predicate.take(self.entering(entity))).tolist()]

    # -- writing

    @property
    def full(self) -> bool:
        """Whether little room is left for what is written."""
        return self.size + _ROOM // 2 > len(self.start)

    def replace(
        self,
        entity: int,
        predicate: str,
        facts: Sequence[tuple[int, int, int, int]],
        told: Sequence[tuple[str, float]] = (),
    ) -> bool:
        """Let these be the facts of a fluent, in key order; False where there is no room.

        A fact is its start, its end, its object as `object_number` has it, and its flags; `told` are their ids, and how
        sure each is by itself.
        """
        if self.size + len(facts) > len(self.start):
            return False
        for row in list(self.rows(entity, predicate)):
            self._drop(row)
        node, number = self._noded(entity), self._numbered(predicate)
        rows = list(range(self.size, self.size + len(facts)))
        for row, (start, end, target, flags) in zip(rows, facts, strict=True):
            far = self._noded(target) if target >= 0 else LITERAL if target == NO_ENTITY else NOTHING
            self._subject[row], self._predicate[row], self._object[row] = node, number, far
            self._start[row], self._end[row], self._flags[row] = start, end, flags
            self.fresh_out.setdefault(node, []).append(row)
            if far < NOTHING:
                self.fresh_in.setdefault(far, []).append(row)
        self._fresh_ids.update(zip(rows, told, strict=False))
        self.size += len(facts)
        self._fluents[node, number] = rows
        return True

    def merged(self) -> Columns:
        """The same facts, all of them sorted."""
        live = np.flatnonzero(self.start[: self.size] != POS_INF)
        entities = np.concatenate([self.entities, np.array(self._added_back, np.int64)])
        order = np.argsort(entities)
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        subject, target = place[self.subject[live]], self.object[live]
        linked = target < NOTHING
        target[linked] = place[target[linked]]
        rows = [subject, self.predicate[live], target, self.start[live], self.end[live], self.flags[live]]
        # Stable: facts that begin together stay in the order of the store.
        sort = np.lexsort((rows[3], rows[1], rows[0]))
        ids, sure = Idents(), None
        if not self.bare and (len(self.ids) or self._fresh_ids):
            ids.extend([self.id_of(row) for row in range(self.base, self.size)])
            ids = self.ids.joined(ids).taken(live[sort])
            sure = np.concatenate([self.sure, [self.sure_of(row) for row in range(self.base, self.size)]])[live[sort]]
        return Columns(entities[order], self.predicates, [column[sort] for column in rows], ids, sure)

    def _drop(self, row: int) -> None:
        node, far = self._subject[row], self._object[row]
        if row >= self.base:
            self.fresh_out[node].remove(row)
            if far < NOTHING:
                self.fresh_in[far].remove(row)
        else:
            self.dropped.append(row)
            if far < NOTHING:
                first, last = self._in_ptr[far], self._in_ptr[far + 1]
                place = first + int(np.flatnonzero(self.in_rows[first:last] == row)[0])
                self.in_start[place], self.in_end[place] = _NOWHERE
        self._start[row], self._end[row] = _NOWHERE

    def _noded(self, entity: int) -> int:
        node = self.node(entity)
        if node < 0:
            node = self._added[entity] = self.nodes
            self._added_back.append(entity)
            self.nodes += 1
        return node

    def _numbered(self, predicate: str) -> int:
        number = self._numbers.get(predicate)
        if number is None:
            number = self._numbers[predicate] = len(self.predicates)
            self.predicates.append(predicate)
        return number


def _grouped(stored: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    left = iter(stored)
    while rows := list(islice(left, _AT_A_TIME)):
        yield rows


def _chunk(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Subjects, names of predicates, objects, starts, ends, flags and ids of some stored rows."""
    subject, predicate, ref, negative, disputed, start, end, ids, *sure = zip(*rows, strict=True)
    if not {0, 1}.issuperset((*negative, *disputed)):
        raise StoreCorrupt("a fact of the store is damaged: run `semgraph verify`, and go back to a backup")
    flags = np.array(negative, np.uint8) * NEGATIVE + np.array(disputed, np.uint8) * DISPUTED
    number = {each: object_number(each) for each in set(ref)}  # most objects have several facts
    target = np.fromiter(map(number.__getitem__, ref), np.int64, len(rows))
    times = np.array(start, np.int64), np.array(end, np.int64)
    return np.array(subject, np.int64), predicate, target, *times, flags, ids, *map(np.array, sure)


def _joined(chunks: Sequence[tuple[Any, ...]], place: int) -> NDArray[Any]:
    if not chunks:
        return np.zeros(0, np.int64)
    return np.concatenate([chunk[place] for chunk in chunks])


def _widened(column: NDArray[Any], room: int, kind: type[np.generic]) -> NDArray[Any]:
    wide = np.zeros(room, kind)
    wide[: len(column)] = column
    return wide


def _bounds(nodes: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Where the rows of each node begin, in rows sorted by node, and where the last ends."""
    found = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(nodes, minlength=count), out=found[1:])
    return found
