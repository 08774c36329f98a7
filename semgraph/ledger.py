"""One scope of one store: its claims, and the materialised facts kept in step with them.

`Ledger.refold` compares the facts of the fluents that a write touched with the stored rows; `Ledger.expected` is
what the claims of some fluents must have left behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph import factrow, following, tails
from semgraph.belief import Belief
from semgraph.holdings import Fluent, Pulse, grouped
from semgraph.replaying import Change, Replaying, difference, drafted
from semgraph.shortcut import Drafted, occurrences
from semgraph.snapshot import Snapshot
from semgraph.store.schema import ClaimRow, FactRow, JustificationRow, PastFactRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from semgraph.following import Tail
    from semgraph.segment import Value

__all__ = ["Change", "Fluent", "Ledger", "Pulse", "Snapshot"]

_TOGETHER = 1000  # fluents folded at a time
_FEW = 8  # rows that are changed one by one


class Ledger(Replaying):
    """The claims and facts of one scope; every method runs inside a transaction of the store."""

    # -- which fluents a write touches

    def touched(self, rows: Iterable[ClaimRow]) -> set[Fluent]:
        """The fluents whose facts may change with these claims: theirs, mirrored ones, and all derived from them."""
        return self.dependents(self.fluents_of(rows))

    def fluents_of(self, rows: Iterable[ClaimRow], snapshot: Snapshot | None = None) -> set[Fluent]:
        """The fluents that the claims stand in, at both ends of a mirrored one."""
        snapshot = snapshot or self.at()
        belief = Belief(snapshot)
        found: set[Fluent] = set()
        for row in rows:
            entry = snapshot.predicate(row.predicate)
            near = {(snapshot.entity(row.subject), entry.name)}
            if not (entry.symmetric or entry.unique_object):
                found |= near
                continue
            if entry.symmetric and row.object.startswith("e"):
                near.add((snapshot.entity(int(row.object[1:])), entry.name))
            found |= near
            for fluent in near:
                found |= belief.neighbours(*fluent)
        return found

    def around(self, fluents: Collection[Fluent]) -> set[Fluent]:
        """The fluents whose facts may change when these take their claims in another way, the claims being the same.

        They are these, those that share an edge's far end with them where that matters, and all derived from either.
        """
        belief = Belief(self.at())
        return self.dependents(set(fluents).union(*(belief.neighbours(*fluent) for fluent in fluents)))

    def as_values(self, numbers: Iterable[int]) -> set[Fluent]:
        """The fluents whose facts may change when the entities refine other values no more.

        At the far end of a mirrored predicate, the value is the subject.
        """
        snapshot = self.at()
        raws = {raw for number in numbers for raw in snapshot.members.get(snapshot.entity(number), [number])}
        rows = self.store.select(ClaimRow, self.scope, object=sorted(f"e{raw}" for raw in raws))
        subjects = self.store.select(ClaimRow, self.scope, subject=sorted(raws))
        rows += [row for row in subjects if self._links(self.registry().canonical(row.predicate))]
        return self.dependents(self.fluents_of(rows, snapshot))

    def dependents(self, fluents: set[Fluent]) -> set[Fluent]:
        """The fluents, and those of claims derived from what stands in them, transitively."""
        if not self.records.justified:
            return fluents
        snapshot = self.at(everything=True)
        found, waiting = set(fluents), list(fluents)
        while waiting:
            subject, predicate = waiting.pop()
            rows = snapshot.on_subject(subject, predicate)
            if snapshot.predicate(predicate).symmetric:
                rows = rows + snapshot.on_object(f"e{subject}", predicate)
            derived = self.store.select(JustificationRow, self.scope, premise=[row.id for row in rows]) if rows else []
            claims = self.fetch(j.claim for j in derived)
            for fluent in self.fluents_of(claims.values(), snapshot) - found:
                found.add(fluent)
                waiting.append(fluent)
        return found

    # -- materialisation

    def refold(
        self,
        fluents: Collection[Fluent],
        recorded_at: int,
        *,
        trace: dict[str, list[tuple[float, str, Value]]] | None = None,
        brief: bool = False,
    ) -> list[Change]:
        """Bring the stored facts of the fluents in line with the claims; what changed.

        `trace` receives the rows that decided, `brief` without those of values that had nothing to do with each other.
        """
        changes: list[Change] = []
        for group in self._groups(fluents):
            self.prefetch(group)
            stored = self.stored(group)
            snapshot = self.at()
            fresh = drafted(snapshot, Belief(snapshot, trace=trace), group, self.scope, recorded_at)
            made = difference(stored, fresh)
            self._write(made, recorded_at)
            self._note_facts(group, stored, made, brief=brief)
            changes += made
        return changes

    def take_occurrences(self, rows: Sequence[ClaimRow], recorded_at: int) -> tuple[list[Change], list[ClaimRow]]:
        """What new events change that meet nothing, without a look at the rest of their fluents; and the other claims.

        An exact shortcut of `refold` for long streams: its cost does not grow with what is stored.
        """
        groups: dict[Fluent, list[ClaimRow]] = {}
        snapshot = self.at()
        for row in rows:
            entry = snapshot.predicate(row.predicate)
            groups.setdefault((snapshot.entity(row.subject), entry.name), []).append(row)
        changes: list[Change] = []
        others: list[ClaimRow] = []
        for fluent, group in groups.items():
            made = None
            if snapshot.predicate(fluent[1]).event and fluent[1] not in self.takers:
                made = occurrences(snapshot, *fluent, group, self.scope, recorded_at)
            if made is None or any(self._met(fact, row) for fact, row in zip(made, group, strict=True)):
                others += group
                continue
            changes += [Change(None, fact.row, fact.body) for fact in made]
            self._facts.pop(fluent, None)
            self._folded.add(fluent)
        self._write(changes, recorded_at)
        return changes, others

    def follow(
        self,
        rows: Sequence[ClaimRow],
        recorded_at: int,
        *,
        trace: dict[str, list[tuple[float, str, Value]]] | None = None,
    ) -> tuple[list[Change], list[ClaimRow]]:
        """What new claims change that start after all that was told in their fluents; and the other claims.

        An exact shortcut of `refold`, whose cost does not grow with the length of a fluent.
        """
        groups: dict[Fluent, list[ClaimRow]] = {}
        snapshot = self.at()
        for row in rows:
            groups.setdefault((snapshot.entity(row.subject), snapshot.predicate(row.predicate).name), []).append(row)
        changes: list[Change] = []
        others: list[ClaimRow] = []
        few = len(groups) <= _TOGETHER
        if few and len(groups) > 1:
            self._prefetch_tails(snapshot, groups)
        for fluent, group in groups.items():
            made = None
            tail = self._tail(snapshot, fluent, group, look=few)
            if tail is not None:
                made = tails.followed(self, snapshot, fluent, tail, group, recorded_at, trace=trace)
            if made is None:
                others += group
                continue
            self._tails[fluent] = made.tail
            changes += [Change(before, *drafted) for before, drafted in made.changes]
            self._facts.pop(fluent, None)
            self._folded.add(fluent)
        self._write(changes, recorded_at)
        return changes, others

    def _prefetch_tails(self, snapshot: Snapshot, groups: Mapping[Fluent, Sequence[ClaimRow]]) -> None:
        """Read at once what tells how fluents ended, as far as that is not known."""
        applies, entry = following.applies, snapshot.predicate
        asked = [f for f in groups if f not in self._tails and applies(snapshot, f[0], entry(f[1]))]
        self.prefetch(asked)
        unread = {f for f in asked if f[0] not in self._made and f not in self._facts}
        self._facts.update((fluent, {}) for fluent in unread)
        for row in self._facts_of(unread):
            self._facts[row.subject, row.predicate][row.id] = row
        refs = {row.object for f in unread for row in self._facts[f].values() if row.valid_to == POS_INF}
        refs.update(row.object for fluent in asked for row in groups[fluent])
        self.name_keys(list(refs - {""}))

    def _tail(self, snapshot: Snapshot, fluent: Fluent, fresh: Sequence[ClaimRow], *, look: bool) -> Tail | None:
        """How the fluent ended before its fresh claims; None where that is not known, or can't be told."""
        if not following.applies(snapshot, fluent[0], snapshot.predicate(fluent[1])):
            return None
        if fluent in self._tails or not look:
            return self._tails.get(fluent)
        tail, plain = tails.read(self, snapshot, fluent, {row.id for row in fresh})
        if not plain:
            self._tails[fluent] = None
        return tail

    def _met(self, fact: Drafted, claim: ClaimRow) -> bool:
        """Whether the occurrence is stored already, or another one is that the claim may confirm."""
        row = fact.row
        if row.subject in self._made and (row.subject, row.predicate) not in self._folded:
            return False
        found = self.store.select(FactRow, self.scope, subject=row.subject, predicate=row.predicate, object=row.object)
        return any(
            (other.valid_from, other.valid_to) == (row.valid_from, row.valid_to)
            or (other.valid_from <= claim.said_at and factrow.decode(other).planned)
            for other in found
        )

    def _groups(self, fluents: Collection[Fluent]) -> Iterable[Collection[Fluent]]:
        """Fluents that are folded together; those that nothing connects go a few at a time, to bound the memory."""
        if self.records.justified or len(fluents) <= _TOGETHER:
            return [fluents]
        linked_names = {p for p in {p for _, p in fluents} if self._links(p)}
        apart = sorted(fluent for fluent in fluents if fluent[1] not in linked_names)
        groups: list[Collection[Fluent]] = [apart[i : i + _TOGETHER] for i in range(0, len(apart), _TOGETHER)]
        linked = set(fluents).difference(apart)
        return [*groups, linked] if linked else groups

    def stored(self, fluents: Collection[Fluent]) -> dict[str, FactRow]:
        """The current rows of the fluents, by id; of a symmetric predicate those at either end."""
        rows: dict[str, FactRow] = {}
        unread = set()
        for fluent in fluents:
            if fluent in self._facts:
                rows.update(self._facts[fluent])
            elif fluent[0] not in self._made or fluent in self._folded:
                unread.add(fluent)
        for row in self._facts_of(unread):
            rows[row.id] = row
        both_ways = {p for p in {p for _, p in fluents} if self._both_ways(p)}
        for subject, predicate in fluents if both_ways else ():
            if predicate in both_ways:
                for row in self.store.select(FactRow, self.scope, object=f"e{subject}", predicate=predicate):
                    rows[row.id] = row
        return rows

    def _facts_of(self, fluents: Collection[Fluent]) -> Iterator[FactRow]:
        """The stored rows whose own subject and predicate these are."""
        for predicate, subjects in grouped(fluents):
            subject = subjects[0] if len(subjects) == 1 else subjects
            yield from self.store.select(FactRow, self.scope, subject=subject, predicate=predicate)

    def _note_facts(
        self, fluents: Collection[Fluent], stored: dict[str, FactRow], changes: Sequence[Change], *, brief: bool
    ) -> None:
        """Remember what is stored now, in a brief write only where outcomes ask for it.

        An edge that is also kept at its other end is asked of the store again.
        """
        self._folded.update(fluents)
        for fluent in fluents:
            if self._tails.get(fluent) is not None:
                del self._tails[fluent]
        for change in changes:
            for changed in (change.before, change.after):
                if changed is not None:
                    self._facts.pop((changed.subject, changed.predicate), None)
        if brief:
            asked = {p for p in {p for _, p in fluents} if self._single(p)}
            fluents = [fluent for fluent in fluents if fluent[1] in asked]
        self._facts.update((fluent, {}) for fluent in fluents)
        gone = {change.before.id for change in changes if change.before is not None}
        made = [change.after for change in changes if change.after is not None]
        for row in [row for key, row in stored.items() if key not in gone] + made:  # as stored: believed since when
            known = self._facts.get((row.subject, row.predicate))
            if known is not None:
                known[row.id] = row

    def _single(self, predicate: str) -> bool:
        """Whether some fluent of the predicate takes one value at a time."""
        entry = self.registry().entry(predicate)
        return entry.cardinality == "one" or bool(entry.one_by)

    def _write(self, changes: Sequence[Change], recorded_at: int) -> None:
        self.changed.update((r.subject, r.predicate) for c in changes for r in (c.before, c.after) if r is not None)
        gone = [change.before for change in changes if change.before is not None]
        past = [PastFactRow(*row._replace(sys_to=recorded_at)) for row in gone if row.sys_from < recorded_at]
        if past:
            self.store.insert(past)
        if len(gone) <= _FEW:
            changes = [change for change in changes if not self._rewritten(change)]
            gone = [change.before for change in changes if change.before is not None]
        fresh = sorted((change.after for change in changes if change.after is not None), key=_place)
        places = set(map(_place, fresh))
        for row in gone:
            if _place(row) not in places:
                self._remove(row)
        if fresh:
            self.store.insert(fresh, replace=bool(gone))

    def _rewritten(self, change: Change) -> bool:
        """Whether the row could be changed where it lies, which leaves the indexes alone."""
        before, after, _ = change
        if before is None or after is None or _indexed(before) != _indexed(after):
            return False
        key = {name: getattr(after, name) for name in ("subject", "predicate", "valid_from", "id")}
        rest = {name: value for name, value in after._asdict().items() if value != getattr(before, name)}
        self.store.update(FactRow, self.scope, rest, **key)
        return True

    def _remove(self, row: FactRow) -> None:
        self.store.delete(
            FactRow, self.scope, subject=row.subject, predicate=row.predicate, valid_from=row.valid_from, id=row.id
        )

    def rebuild(self, fluents: Collection[Fluent]) -> None:
        """Replace the stored rows of whole components by what the claims that are left imply."""
        whole = self.component(fluents)
        self._facts.clear()
        self._tails.clear()
        self.rebuilt = True
        for subject, predicate in sorted(whole):
            for table in (FactRow, PastFactRow):
                self.store.delete(table, self.scope, subject=subject, predicate=predicate)
                if self._both_ways(predicate):
                    self.store.delete(table, self.scope, object=f"e{subject}", predicate=predicate)
        current, past = self.expected(whole)
        if current:
            self.store.insert(current, replace=True)
        if past:
            self.store.insert(past, replace=True)


def _indexed(row: FactRow) -> tuple[int, str, str, int, str]:
    """What the row is found by."""
    return row.subject, row.predicate, row.object, row.valid_from, row.id


def _place(row: FactRow) -> tuple[int, str, int, str]:
    """Where the row lies in its table."""
    return row.subject, row.predicate, row.valid_from, row.id
