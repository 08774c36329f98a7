"""Timelines that were read lately, to be given again as long as nothing was written and no status has changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.instants import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from semgraph.model import Fact

    Revision = tuple[object, int]

__all__ = ["Recent"]

_MOST: Final = 1 << 14  # facts that are kept, some 2 kB each


class _Kept(NamedTuple):
    """Facts that a read gives at any present from `since` until `until`."""

    facts: list[Fact]
    known: int  # when the last write was recorded: the present is never before
    since: int
    until: int


class Recent:
    """What the handles of one connection read lately, the least recent of it forgotten first.

    It belongs to one revision of the store: whatever is written, in this process or another, makes all of it useless.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision: Revision | None = None
        self._kept: dict[Hashable, _Kept] = {}
        self._size = 0

    def find(self, revision: Revision | None, key: Hashable, wall: int) -> list[Fact] | None:
        """The facts that were read so at this revision, where the present still shows them as they are here."""
        with self._lock:
            if revision is None:
                return None
            if revision != self._revision:
                self._clear()
                return None
            try:
                kept = self._kept.pop(key)
            except (KeyError, TypeError):  # what can't be a key is no name: the read refuses it
                return None
            self._kept[key] = kept
            return list(kept.facts) if kept.since <= max(wall, kept.known) < kept.until else None

    def keep(
        self,
        revision: Revision | None,
        key: Hashable,
        facts: Sequence[Fact],
        *,
        known: int,
        now: int,
        turns: Iterable[int],
    ) -> None:
        """Keep what was read at a revision, at a present of which the next and the last turn are told by `turns`."""
        since, until = NEG_INF, POS_INF
        for turn in turns:
            if turn <= now:
                since = max(since, turn)
            else:
                until = min(until, turn)
        with self._lock:
            if revision is None:
                return
            if revision != self._revision:
                self._clear()
                self._revision = revision
            before = self._kept.pop(key, None)
            self._size += len(facts) + 1 - (0 if before is None else len(before.facts) + 1)
            self._kept[key] = _Kept(list(facts), known, since, until)
            while self._size > _MOST:
                self._size -= len(self._kept.pop(next(iter(self._kept))).facts) + 1

    def clear(self) -> None:
        """Forget all of it: it is about to be out of date, and may hold what is to be forgotten."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._revision = None
        self._kept.clear()
        self._size = 0
