"""One scope of one store: its claims, and the materialised facts kept in step with them.

`Ledger.refold` compares the facts of the fluents that a write touched
with the stored rows; `Ledger.expected` computes, epoch by epoch, every row that the claims of some fluents must have
left behind, which is what `verify`, `forget`, restoring and redefinition use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow, following, tails
from semgraph.belief import Belief
from semgraph.holdings import Fluent, Holdings, Pulse, grouped
from semgraph.shortcut import Drafted, lone_facts, occurrences
from semgraph.snapshot import Snapshot
from semgraph.store.schema import ClaimRow, FactRow, JustificationRow, PastFactRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from semgraph.draft import Draft
    from semgraph.factrow import Body
    from semgraph.following import Tail
    from semgraph.segment import Value

__all__ = ["Change", "Fluent", "Ledger", "Pulse", "Snapshot"]

_TOGETHER = 1000  # fluents folded at a time
_FEW = 8  # rows that are changed one by one
_REACH = 2  # how many mirrored fluents away a fact's rivals can still depend on


class Change(NamedTuple):
    """A stored fact before and after a write, with the body of the one after; None where there was, or is, none."""

    before: FactRow | None
    after: FactRow | None
    body: Body | None = None

    @property
    def fact(self) -> str:
        """The id of the fact."""
        row = self.after or self.before
        return row.id if row is not None else ""


class Ledger(Holdings):
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
            fresh = _drafted(self.at(), group, self.scope, recorded_at, trace=trace)
            made = _difference(stored, fresh)
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
        for fluent, group in groups.items():
            made = None
            tail = self._tail(snapshot, fluent, group, look=len(groups) == 1)
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

    def _links(self, predicate: str) -> bool:
        """Whether fluents of the predicate depend on one another."""
        entry = self.registry().entry(predicate)
        return entry.symmetric or entry.unique_object

    def _both_ways(self, predicate: str) -> bool:
        """Whether an edge of the predicate may be kept at either end: it is symmetric, or was."""
        return self.registry().entry(predicate).symmetric or any(
            entry.symmetric for _, entry in self.records.definitions if entry.name == predicate
        )

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

    # -- every row that the claims must have left

    def component(self, fluents: Iterable[Fluent]) -> set[Fluent]:
        """The fluents, with those of every entity that was ever merged with their subjects."""
        classes = self.merge_classes()
        return {(member, p) for s, p in fluents for member in classes.get(s, (s,))}

    def merge_classes(self) -> dict[int, tuple[int, ...]]:
        """For each entity that ever took part in a merge, all that were ever merged with it."""
        groups: dict[int, set[int]] = {}
        for row in self.records.redirects:
            joined = groups.get(row.src, {row.src}) | groups.get(row.dst, {row.dst})
            for member in joined:
                groups[member] = joined
        return {member: tuple(sorted(joined)) for member, joined in groups.items()}

    def expected(self, fluents: Collection[Fluent]) -> tuple[list[FactRow], list[PastFactRow]]:
        """Current and past rows of a component, computed from claims alone, epoch by epoch."""
        self.prefetch(fluents)
        epochs, at_large = self._epochs(fluents)
        if len(fluents) == 1 and not at_large and (alone := self._each_alone(*next(iter(fluents)))) is not None:
            return alone, []
        current: dict[str, FactRow] = {}
        past: list[PastFactRow] = []
        carried = tails.Carried(self, fluents)
        for epoch in epochs:
            snapshot = self.at(epoch)
            changes = None if epoch in at_large else carried.follow(snapshot, epoch)
            fresh: dict[str, Drafted] | None = None
            if changes is None:
                alive = {(snapshot.entity(s), p) for s, p in fluents}
                fresh = _drafted(snapshot, alive, self.scope, epoch)
                changes = [(before, after) for before, after, _ in _difference(current, fresh)]
            for before, after in changes:
                if before is not None:
                    del current[before.id]
                    past.append(PastFactRow(*before._replace(sys_to=epoch)))
                if after is not None:
                    current[after.id] = after
            if fresh is not None:
                carried.read(snapshot, [(row, fresh[key].body) for key, row in current.items()])
        return list(current.values()), past

    def _each_alone(self, subject: int, predicate: str) -> list[FactRow] | None:
        """The facts of a fluent in which no claim ever met another, each believed since its claim."""
        snapshot = self.at()
        rows = snapshot.on_subject(subject, predicate)
        if any(row.id in self.records.retractions for row in self.on_subjects([subject], predicate)):
            return None
        made = lone_facts(snapshot, subject, predicate, self.scope, 0)
        if made is None or len(made) != len(rows):
            return None
        since = {row.id: row.recorded_at for row in rows}
        return [fact.row._replace(sys_from=since[fact.row.id]) for fact in made]

    def _epochs(self, fluents: Collection[Fluent]) -> tuple[list[int], set[int]]:
        """Every instant at which what these fluents depend on may have changed; those at which not only by claims."""
        snapshot = self.at(everything=True)
        belief = Belief(snapshot)
        waiting = [(fluent, 0) for fluent in fluents]
        depth = dict.fromkeys(fluents, 0)
        found: set[int] = set()
        records = self.records
        while waiting:
            fluent, distance = waiting.pop()
            near = belief.neighbours(*fluent) if distance < _REACH else set()
            following = [(f, distance + 1) for f in self.component(near)]
            for row, premises in belief.dependencies(*fluent):
                found.add(row.recorded_at)
                found.update(j.recorded_at for j in self.justification_rows(row.id))
                for mark in records.retractions.get(row.id, ()):
                    found |= {mark.recorded_at, mark.ended_at}
                following += [(f, 0) for f in self.component(premises)]
            for other, away in following:
                if depth.get(other, _REACH + 1) > away:
                    depth[other] = away
                    waiting.append((other, away))
        at_large = {recorded for recorded, _ in records.definitions} | set(records.declared.values())
        at_large |= {row.recorded_at for row in records.compat}
        for redirect in records.redirects:
            at_large |= {redirect.recorded_at, redirect.ended_at}
        at_large = {epoch for epoch in at_large if epoch > min(found, default=POS_INF)}  # before, there was nothing
        return sorted((found | at_large) - {POS_INF}), at_large

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

    def all_fluents(self) -> set[Fluent]:
        """Every fluent that a claim stands in, by the entities as written; both ends of a symmetric one."""
        canonical, found = self.registry().canonical, set()
        for row in self.store.iterate(ClaimRow, self.scope, order=None):
            name = canonical(row.predicate)
            found.add((row.subject, name))
            if row.object.startswith("e") and self._both_ways(name):
                found.add((int(row.object[1:]), name))
        return found


def _drafted(
    snapshot: Snapshot,
    fluents: Collection[Fluent],
    scope: int,
    recorded_at: int,
    *,
    trace: dict[str, list[tuple[float, str, Value]]] | None = None,
) -> dict[str, Drafted]:
    """The facts of the fluents as rows, by id; a symmetric edge as seen from the end that told it first."""
    belief = Belief(snapshot, trace=trace)
    found: dict[str, Drafted] = {}
    for subject, predicate in sorted(fluents):
        lone = lone_facts(snapshot, subject, predicate, scope, recorded_at)
        if lone is not None:
            found.update((fact.row.id, fact) for fact in lone)
            continue
        for draft in belief.facts(subject, predicate):
            if draft.id not in found:
                found[draft.id] = Drafted(*factrow.encode(_stored_way(belief, draft), scope, recorded_at))
    return found


def _stored_way(belief: Belief, draft: Draft) -> Draft:
    if draft.subject == draft.seen_from:
        return draft
    return next(d for d in belief.facts(draft.subject, draft.predicate) if d.id == draft.id)


def _difference(stored: dict[str, FactRow], fresh: dict[str, Drafted]) -> list[Change]:
    changes = []
    for key in sorted(stored.keys() | fresh.keys()):
        before, made = stored.get(key), fresh.get(key)
        if made is None:
            changes.append(Change(before, None))
        elif before is None or before._replace(sys_from=0) != made.row._replace(sys_from=0):
            changes.append(Change(before, made.row, made.body))
    return changes


def _indexed(row: FactRow) -> tuple[int, str, str, int, str]:
    """What the row is found by."""
    return row.subject, row.predicate, row.object, row.valid_from, row.id


def _place(row: FactRow) -> tuple[int, str, int, str]:
    """Where the row lies in its table."""
    return row.subject, row.predicate, row.valid_from, row.id
