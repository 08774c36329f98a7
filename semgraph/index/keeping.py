"""The index of one scope, in step with what is committed: loaded when reads are worth it, then told of each write."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from semgraph import factrow
from semgraph.collecting import uncollected
from semgraph.index import feed
from semgraph.index.marks import DISPUTED, NEGATIVE, READ, UNKNOWN_START, object_number
from semgraph.store.moulds import BASE
from semgraph.store.schema import FactRow
from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from semgraph.index.columns import Columns
    from semgraph.store.protocol import Revision, Store
    from semgraph.store.schema import ScopeRow

    Fluent = tuple[int, str]

__all__ = ["Index"]

_FACTS_A_READ: Final = 256  # facts loaded in the time that a read without the index takes
_FREE_READS: Final = 16
_LOG: Final = 64  # wide writes of this process that are told in memory
_WIDEST: Final = 20_000  # fluents of a write: a longer list is not kept
_FEW: Final = 256  # fluents: so many are always followed
_LOADED_AT_ONCE: Final = 8  # facts loaded in the time that reading one fluent again takes


class Index:
    """One scope's columns, shared by the handles of one connection.

    It changes only inside a read transaction of the store, which serialises the threads of the connection; `lock` is
    held while it does, so that a reader who has compared `revision` can look without a transaction.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.columns: Columns | None = None
        self.revision: Revision | None = None
        self.known = NEG_INF  # when the last write was recorded that the columns have
        self.besides = 0  # changes with every write that changed more than facts, and with every loading
        self._scope = -1
        self._epoch = -1
        self._asked = 0
        self._size = 0
        self._log: dict[int, frozenset[Fluent]] = {}

    def outdated(self) -> None:
        """Take note that something is about to be written: nobody may rely on an earlier look at the store."""
        with self.lock:
            self.revision = None

    def wrote(self, token: int, fluents: frozenset[Fluent]) -> None:
        """Take note of what a write of this process touches, by the token that stands for it in the feed."""
        if len(fluents) <= _WIDEST:
            self._log[token] = fluents
        while len(self._log) > _LOG or sum(map(len, self._log.values())) > 2 * _WIDEST:
            del self._log[next(iter(self._log))]

    def in_step(self, store: Store, row: ScopeRow, *, reads: int = 1, identified: bool = False) -> Columns | None:
        """The columns as of the transaction that is open, or None while it is not worth loading them.

        `reads` says how many look-ups one by one the caller would need instead; `identified`: the columns are to know
        the ids of their facts, which take room that walks have no use for. Inside a write there are none.
        """
        revision = store.revision()
        if revision is None:
            return None
        bare = identified and self.columns is not None and self.columns.bare
        if self.columns is None or bare or not self._caught_up(store, row):
            if not bare:
                self.columns = None
            if not self._worth(store, row, reads):
                return None
            with self.lock:
                self.columns = _loaded(store, row.scope, identified=identified)
                self.besides += 1
        with self.lock:
            self._scope, self._epoch, self.known = row.scope, feed.epoch(row.feed), row.last_recorded
            self.revision = revision
        return self.columns

    def _worth(self, store: Store, row: ScopeRow, reads: int) -> bool:
        """Whether the reads since the last loading would have paid for it."""
        self._asked += reads
        if self._asked < _FREE_READS + self._size // _FACTS_A_READ:
            return False
        self._size = store.count(FactRow, row.scope)
        if self._asked < _FREE_READS + self._size // _FACTS_A_READ:
            return False
        self._asked = 0
        return True

    def _caught_up(self, store: Store, row: ScopeRow) -> bool:
        """Whether the columns have what was written since; they are left as they were otherwise."""
        if (row.scope, feed.epoch(row.feed)) != (self._scope, self._epoch):
            return False
        if row.last_recorded == self.known:
            return True
        touched = feed.since(row.feed, self.known)
        if touched is None:
            return False
        self.besides += touched.besides
        fluents = set(touched.fluents)
        for token in touched.wide:
            told = self._log.get(token)
            if told is None:
                return False
            fluents |= told
        if self.columns is None or len(fluents) > max(_FEW, self.columns.size // _LOADED_AT_ONCE):
            return False
        return self._follow(store, row.scope, fluents)

    def _follow(self, store: Store, scope: int, fluents: set[Fluent]) -> bool:
        columns = self.columns
        if columns is None:
            return False
        fresh = {fluent: _facts(store, scope, fluent) for fluent in sorted(fluents)}
        with self.lock:
            if columns.full:
                columns = self.columns = columns.merged()
            return all(columns.replace(*fluent, *facts) for fluent, facts in fresh.items())


def _facts(store: Store, scope: int, fluent: Fluent) -> tuple[list[tuple[int, int, int, int]], list[tuple[str, float]]]:
    """What `Columns.replace` is told of a fluent."""
    rows = store.select(FactRow, scope, subject=fluent[0], predicate=fluent[1])
    told = [(row.valid_from, row.valid_to, object_number(row.object), _flags(row)) for row in rows]
    return told, [(row.id, factrow.decode(row).base) for row in rows]


def _flags(row: FactRow) -> int:
    marks = NEGATIVE * bool(row.negative) + DISPUTED * bool(row.disputed)
    return marks | UNKNOWN_START if _without_start(row) else marks


def _without_start(row: FactRow) -> bool:
    return row.valid_from == NEG_INF and factrow.decode(row).basis == "unknown"


def _loaded(store: Store, scope: int, *, identified: bool) -> Columns:
    from semgraph.index.columns import Columns  # numpy: not for the first few reads

    with uncollected():
        columns = Columns.loaded(
            store.tuples(FactRow, scope, (*READ, BASE) if identified else READ), identified=identified
        )
    if columns.eternal:
        columns.mark_unknown(_without_start(row) for row in store.iterate(FactRow, scope, valid_from=NEG_INF))
    return columns
