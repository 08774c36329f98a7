"""How often the facts of a scope were recalled, and when last: noted in memory, kept in the store now and then.

Nothing that is believed, and no order of an answer, depends on it. What is kept is written outside of transaction
time, never waits for another writer, and is bounded: a process that is killed loses the counts of its last minute.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from semgraph.errors import StoreError
from semgraph.store.schema import AccessRow, FactRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from semgraph.store.protocol import Store

__all__ = ["Accesses", "forget_accesses"]

_MOST: Final = 512  # facts that are noted in memory
_LONGEST: Final = 60.0  # seconds for which they are


class Accesses:
    """What was recalled of one scope, shared by the handles of one connection."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._lock = threading.Lock()
        self._noted: dict[str, tuple[int, int]] = {}  # times, and when last
        self._since = 0.0

    def note(self, facts: Iterable[str], at: int) -> None:
        """Count these facts as recalled at a moment."""
        with self._lock:
            if not self._noted:
                self._since = time.monotonic()
            for fact in facts:
                times, last = self._noted.get(fact, (0, at))
                self._noted[fact] = times + 1, max(last, at)

    @property
    def due(self) -> bool:
        """Whether it is time to keep what was noted."""
        return len(self._noted) >= _MOST or (bool(self._noted) and time.monotonic() - self._since >= _LONGEST)

    def keep(self, store: Store) -> None:
        """Write what was noted, if that can be done at once; else it stays noted."""
        if not self._noted or store.read_only or store.revision() is None:
            return
        with self._lock:
            noted, self._noted = self._noted, {}
        try:
            with store.write(wait=False):
                self._write(store, noted)
        except StoreError:
            with self._lock:
                self._noted = _added(noted, self._noted)

    def _write(self, store: Store, noted: dict[str, tuple[int, int]]) -> None:
        row = store.scope(self._scope)
        if row is None:
            return
        # What was forgotten meanwhile, by whomever, must not come back, not even as a number.
        there = {fact for (fact,) in store.tuples(FactRow, row.scope, ("id",), id=list(noted))}
        known = self._stored(store, row.scope, there)
        whole = _added(known, {fact: noted[fact] for fact in there})
        store.insert([AccessRow(row.scope, fact, *whole[fact]) for fact in sorted(there)], replace=True)

    def of(self, store: Store, scope: int, facts: Collection[str] | None = None) -> dict[str, tuple[int, int]]:
        """By fact, how often it was recalled and when last, as far as it ever was; None is all facts."""
        known = self._stored(store, scope, facts)
        with self._lock:
            noted = {fact: told for fact, told in self._noted.items() if facts is None or fact in facts}
        return _added(known, noted)

    def _stored(self, store: Store, scope: int, facts: Collection[str] | None) -> dict[str, tuple[int, int]]:
        where = {} if facts is None else {"fact": list(facts)}
        return {fact: (times, last) for fact, times, last in store.tuples(AccessRow, scope, _KEPT, **where)}


_KEPT: Final = ("fact", "times", "last_at")


def forget_accesses(store: Store, scope: int, claims: Collection[str]) -> int:
    """How many rows were removed: those of facts that go by the ids of these claims."""
    facts = [fact for (fact,) in store.tuples(AccessRow, scope, ("fact",)) if fact.partition(".")[0] in claims]
    return store.delete(AccessRow, scope, fact=facts) if facts else 0


def _added(one: dict[str, tuple[int, int]], other: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    found = dict(one)
    for fact, (times, last) in other.items():
        before, latest = found.get(fact, (0, last))
        found[fact] = before + times, max(latest, last)
    return found
