"""How fluents end: read from the store for a write, or carried from epoch to epoch for what claims must have left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph import factrow, following
from semgraph.belief import Belief
from semgraph.following import Past, Tail
from semgraph.store.schema import ClaimRow, FactRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from semgraph.following import Followed
    from semgraph.holdings import Fluent, Holdings
    from semgraph.segment import Value
    from semgraph.snapshot import Snapshot

_SHORT = 64  # facts of a fluent whose claims are few enough to be read whole

__all__ = ["Carried", "followed", "read"]


def followed(
    holdings: Holdings,
    snapshot: Snapshot,
    fluent: Fluent,
    tail: Tail,
    rows: Sequence[ClaimRow],
    recorded_at: int,
    *,
    trace: dict[str, list[tuple[float, str, Value]]] | None = None,
) -> Followed | None:
    """What claims of a fluent change that goes on from its tail; None where they do not follow it."""
    entry = snapshot.predicate(fluent[1])
    policy = Belief(snapshot).policy(fluent[0], entry, entry.cardinality)
    return following.follow(tail, rows, snapshot, policy, holdings.scope, recorded_at, trace=trace)


def read(holdings: Holdings, snapshot: Snapshot, fluent: Fluent, fresh: Collection[str]) -> tuple[Tail | None, bool]:
    """How a fluent ended before the fresh claims, None where that can't be told; whether its claims are plain."""
    (subject, predicate), store, scope = fluent, holdings.store, holdings.scope
    marks = holdings.records.retractions
    if not marks.keys().isdisjoint(fresh):  # withdrawn as they came in, by what is joined
        return None, False
    if holdings.is_made(subject):
        alone = all(row.id in fresh for row in holdings.on_subjects([subject], predicate))
        return (Tail() if alone else None), True
    rows = holdings.facts_of(*fluent)
    tail = Tail()
    told: Iterable[Past]
    if len(rows) <= _SHORT or holdings.is_read(fluent):
        told = (Past.of(row) for row in holdings.on_subjects([subject], predicate))
    else:
        names, spelt = Past._fields, holdings.spelt(predicate)
        told = map(Past._make, store.tuples(ClaimRow, scope, names, subject=subject, predicate=spelt))
    if not all(past.id in fresh or (past.id not in marks and tail.take(past)) for past in told):
        return None, False
    tail.closed = max([tail.closed, *(row.valid_to for row in rows if row.valid_to != POS_INF)])
    still = [(row, factrow.decode(row)) for row in rows if row.valid_to == POS_INF]
    return (tail if _kept(tail, holdings, snapshot, predicate, still) else None), True


def _kept(
    tail: Tail, holdings: Holdings, snapshot: Snapshot, predicate: str, facts: Sequence[tuple[FactRow, factrow.Body]]
) -> bool:
    """Whether the tail could take in the facts that still hold."""
    claims = holdings.fetch(c for _, body in facts for c in (*body.claims, *body.absorbed))
    told = ((row, body, [claims[c] for c in (*body.claims, *body.absorbed)]) for row, body in facts)
    return tail.keep(snapshot, snapshot.predicate(predicate), told)


class Carried:
    """How one fluent ends at one epoch after the other, while its claims only go on."""

    def __init__(self, holdings: Holdings, fluents: Collection[Fluent]) -> None:
        self._holdings = holdings
        self._fluent: Fluent | None = next(iter(fluents)) if len(fluents) == 1 else None
        self._tail: Tail | None = Tail()
        self._told: dict[int, list[ClaimRow]] = {}
        for row in [] if self._fluent is None else holdings.on_subjects([self._fluent[0]], self._fluent[1]):
            self._told.setdefault(row.recorded_at, []).append(row)

    def follow(self, snapshot: Snapshot, epoch: int) -> list[tuple[FactRow | None, FactRow | None]] | None:
        """What the claims of an epoch change; None where the fluent has to be folded whole."""
        rows, marks = self._told.get(epoch), self._holdings.records.retractions
        if self._fluent is None or self._tail is None or not rows or any(row.id in marks for row in rows):
            return None
        if not following.applies(snapshot, self._fluent[0], snapshot.predicate(self._fluent[1])):
            return None
        made = followed(self._holdings, snapshot, self._fluent, self._tail, rows, epoch)
        if made is None:
            return None
        self._tail = made.tail
        return [(before, drafted.row) for before, drafted in made.changes]

    def read(self, snapshot: Snapshot, facts: Collection[tuple[FactRow, factrow.Body]]) -> None:
        """Where the fluent ends after it was folded whole; the rows say since when they are believed."""
        self._tail, fluent = None, self._fluent
        if fluent is None or not following.applies(snapshot, fluent[0], snapshot.predicate(fluent[1])):
            return
        tail, marks = Tail(), self._holdings.records.retractions
        if all(row.id not in marks and tail.take(Past.of(row)) for row in snapshot.on_subject(*fluent)):
            tail.closed = max([tail.closed, *(row.valid_to for row, _ in facts if row.valid_to != POS_INF)])
            held = [(row, body) for row, body in facts if row.valid_to == POS_INF]
            if _kept(tail, self._holdings, snapshot, fluent[1], held):
                self._tail = tail
