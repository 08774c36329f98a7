"""What stands beside facts under predicates that nobody defined, read for many of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from semgraph import factrow
from semgraph.errors import StoreCorrupt
from semgraph.parallel import Parallel
from semgraph.store.schema import FactRow, PastFactRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from semgraph.snapshot import Snapshot

    Fluent = tuple[int, str]

__all__ = ["Beside", "one_of"]

V = TypeVar("V", int, str)

_TOGETHER: Final = 500  # fluents of which all is read at a time


class Beside:
    """The fluents of one snapshot of which some fact may stand beside others."""

    def __init__(self, snapshot: Snapshot, by_id: dict[str, FactRow]) -> None:
        self._snapshot = snapshot
        self._by_id = by_id  # to which what is met here is added
        self._whole: dict[Fluent, list[FactRow]] = {}
        self._parallel: dict[tuple[int, str, str], Parallel] = {}
        self._of: dict[int, set[str]] = {}  # predicates by subject of which a disputed fact was read
        self._by: dict[str, set[int]] = {}  # the reverse

    def rows(self, **where: Any) -> list[FactRow]:
        """The facts as believed at the snapshot's moment that meet the conditions.

        Of the disputed ones somebody may ask what stands beside them, so they are taken note of.
        """
        store, scope, known_at = self._snapshot.ledger.store, self._snapshot.ledger.scope, self._snapshot.known_at
        if known_at == POS_INF:
            found = store.select(FactRow, scope, **where)
        else:
            past = store.select(PastFactRow, scope, sys_from__le=known_at, sys_to__gt=known_at, **where)
            found = store.select(FactRow, scope, sys_from__le=known_at, **where) + [FactRow(*row) for row in past]
        for row in found:
            if row.disputed:
                self._of.setdefault(row.subject, set()).add(row.predicate)
                self._by.setdefault(row.predicate, set()).add(row.subject)
        return found

    def keep_whole(self, rows: Iterable[FactRow]) -> None:
        """Remember rows that are all those of their subjects."""
        fresh: dict[Fluent, list[FactRow]] = {}
        for row in rows:
            fresh.setdefault((row.subject, row.predicate), []).append(row)
        self._keep(fresh)

    def rivals(self, row: FactRow) -> list[tuple[str, int, int, bool]]:
        """What stands beside a disputed fact, as `Body.rivals` has it."""
        fluent = (row.subject, row.predicate)
        if fluent not in self._whole:
            self._read_whole(fluent)
        rows = self._whole[fluent]
        if len(rows) == 1:
            return []
        found = self._parallel.get((*fluent, row.separators))
        if found is None:
            rows = [r for r in rows if r.separators == row.separators]
            facts = [(r, factrow.decode(r)) for r in rows]
            wanted = {c for _, body in facts for c in (*body.claims, *body.absorbed)}
            claims = self._snapshot.ledger.fetch(wanted)
            if len(claims) < len(wanted):
                raise StoreCorrupt("a claim behind a fact is missing: run `semgraph verify`, and go back to a backup")
            found = self._parallel[*fluent, row.separators] = Parallel(facts, claims, self._snapshot)
            self._by_id.update((r.id, r) for r in rows)
        return found.rivals(row.id)

    def _read_whole(self, fluent: Fluent) -> None:
        """Read the whole of a fluent, and of some that may be asked for next: of the same subject, or predicate."""
        subject, predicate = fluent
        names, others = self._of.get(subject, set()), self._by.get(predicate, set())
        wanted = {fluent}
        if len(names) >= len(others):
            while names and len(wanted) < _TOGETHER:
                if not self._defined(name := names.pop()):
                    wanted.add((subject, name))
        else:
            while others and len(wanted) < _TOGETHER:
                wanted.add((others.pop(), predicate))
        fresh: dict[Fluent, list[FactRow]] = {each: [] for each in wanted if each not in self._whole}
        subjects, predicates = ({each[place] for each in fresh} for place in (0, 1))
        for row in self.rows(subject=one_of(subjects), predicate=one_of(predicates)):
            if (row.subject, row.predicate) in fresh:
                fresh[row.subject, row.predicate].append(row)
        self._keep(fresh)

    def _keep(self, fresh: dict[Fluent, list[FactRow]]) -> None:
        """Keep fluents that are whole; of those that can have several values their claims are read at once."""
        self._whole |= fresh
        unsure = [rows for (_, name), rows in fresh.items() if len(rows) > 1 and not self._defined(name)]
        bodies = [factrow.decode(row) for rows in unsure if any(row.disputed for row in rows) for row in rows]
        self._snapshot.ledger.fetch(claim for body in bodies for claim in (*body.claims, *body.absorbed))

    def _defined(self, predicate: str) -> bool:
        return self._snapshot.predicate(predicate).registered


def one_of(values: Collection[V]) -> V | list[V]:
    """A condition that a column has one of the values."""
    return next(iter(values)) if len(values) == 1 else list(values)
