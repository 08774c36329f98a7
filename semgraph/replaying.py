"""Every row that the claims of a scope must have left, computed from them alone, epoch by epoch.

This is what `verify`, `forget`, restoring and redefinition hold the stored rows to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow, tails
from semgraph.belief import Belief
from semgraph.holdings import Holdings
from semgraph.shortcut import Drafted, lone_facts
from semgraph.store.schema import ClaimRow, FactRow, PastFactRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from semgraph.draft import Draft
    from semgraph.factrow import Body
    from semgraph.holdings import Fluent
    from semgraph.snapshot import Snapshot

__all__ = ["Change", "Replaying", "difference", "drafted"]

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


class Replaying(Holdings):
    """What the claims of a scope must have left; every method runs inside a transaction of the store."""

    def _links(self, predicate: str) -> bool:
        """Whether fluents of the predicate depend on one another."""
        entry = self.registry().entry(predicate)
        return entry.symmetric or entry.unique_object

    def _both_ways(self, predicate: str) -> bool:
        """Whether an edge of the predicate may be kept at either end: it is symmetric, or was."""
        return self.registry().entry(predicate).symmetric or any(
            entry.symmetric for _, entry in self.records.definitions if entry.name == predicate
        )

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
        return self.expected_of([fluents])[0]

    def expected_of(self, groups: Sequence[Collection[Fluent]]) -> list[tuple[list[FactRow], list[PastFactRow]]]:
        """The same of several components; what they have in common is folded once an epoch."""
        reached: dict[Fluent, _Reached] = {}
        made: list[_Replay] = []
        due: dict[int, list[_Replay]] = {}
        for fluents in groups:
            self.prefetch(fluents)
            epochs, at_large = self._epochs(fluents, reached)
            replay = _Replay(fluents, at_large, tails.Carried(self, fluents))
            made.append(replay)
            if len(fluents) == 1 and not at_large and (alone := self._each_alone(*next(iter(fluents)))) is not None:
                replay.current = {row.id: row for row in alone}
                continue
            for epoch in epochs:
                due.setdefault(epoch, []).append(replay)
        for epoch in sorted(due):
            snapshot = self.at(epoch)
            belief = Belief(snapshot)
            for replay in due[epoch]:
                replay.go_on(snapshot, belief, self.scope, epoch)
        return [(list(replay.current.values()), replay.past) for replay in made]

    def together(self, groups: Iterable[Collection[Fluent]]) -> Iterator[list[Collection[Fluent]]]:
        """Components by what is worth computing together: those of a mirrored predicate, any other one alone.

        Where claims rest on premises every component is computed alone, since it may lead anywhere.
        """
        mirrored: dict[str, list[Collection[Fluent]]] = {}
        for fluents in groups:
            predicate = next(iter(fluents))[1]
            if self.records.justified or not (self._both_ways(predicate) or self._links(predicate)):
                yield [fluents]
            else:
                mirrored.setdefault(predicate, []).append(fluents)
        yield from mirrored.values()

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

    def _epochs(self, fluents: Collection[Fluent], reached: dict[Fluent, _Reached]) -> tuple[list[int], set[int]]:
        """Every instant at which what these fluents depend on may have changed; those at which not only by claims.

        `reached` keeps what was found out about each fluent on the way, for the next ones.
        """
        belief = Belief(self.at(everything=True))
        waiting = [(fluent, 0) for fluent in fluents]
        depth = dict.fromkeys(fluents, 0)
        found: set[int] = set()
        records = self.records
        while waiting:
            fluent, distance = waiting.pop()
            if fluent not in reached:
                reached[fluent] = self._reached(belief, fluent)
            here = reached[fluent]
            found |= here.epochs
            following = [(f, 0) for f in here.premises]
            if distance < _REACH:
                following += [(f, distance + 1) for f in here.near]
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

    def _reached(self, belief: Belief, fluent: Fluent) -> _Reached:
        epochs: set[int] = set()
        premises: set[Fluent] = set()
        for row, related in belief.dependencies(*fluent):
            epochs.add(row.recorded_at)
            epochs.update(j.recorded_at for j in self.justification_rows(row.id))
            for mark in self.records.retractions.get(row.id, ()):
                epochs |= {mark.recorded_at, mark.ended_at}
            premises |= self.component(related) if related else set()
        near = belief.neighbours(*fluent) | self._once_near(*fluent)
        return _Reached(epochs, self.component(near) if near else set(), premises)

    def _once_near(self, subject: int, predicate: str) -> set[Fluent]:
        """The fluents of a mirrored predicate that shared a far end with this one while entities were merged."""
        classes = self.merge_classes()
        if not classes or not (self._links(predicate) or self._both_ways(predicate)):
            return set()
        ends = {row.object for row in self.on_subjects([subject], predicate) if row.object.startswith("e")}
        refs = sorted({f"e{member}" for end in ends for member in classes.get(int(end[1:]), ())})
        return {(row.subject, predicate) for row in self.on_objects(refs, predicate)}

    def all_fluents(self) -> set[Fluent]:
        """Every fluent that a claim stands in, by the entities as written; both ends of a symmetric one."""
        canonical, found = self.registry().canonical, set()
        for row in self.store.iterate(ClaimRow, self.scope, order=None):
            name = canonical(row.predicate)
            found.add((row.subject, name))
            if row.object.startswith("e") and self._both_ways(name):
                found.add((int(row.object[1:]), name))
        return found


class _Reached(NamedTuple):
    """What one fluent depends on: when its own claims changed it, the fluents near it, and those of its premises."""

    epochs: set[int]
    near: set[Fluent]
    premises: set[Fluent]


class _Replay:
    """The rows of one component, from epoch to epoch."""

    def __init__(self, fluents: Collection[Fluent], at_large: set[int], carried: tails.Carried) -> None:
        self.current: dict[str, FactRow] = {}
        self.past: list[PastFactRow] = []
        self._fluents = fluents
        self._at_large = at_large
        self._carried = carried

    def go_on(self, snapshot: Snapshot, belief: Belief, scope: int, epoch: int) -> None:
        """Take in what the claims of an epoch change."""
        current = self.current
        changes = None if epoch in self._at_large else self._carried.follow(snapshot, epoch)
        fresh: dict[str, Drafted] | None = None
        if changes is None:
            alive = {(snapshot.entity(s), p) for s, p in self._fluents}
            fresh = drafted(snapshot, belief, alive, scope, epoch)
            changes = [(before, after) for before, after, _ in difference(current, fresh)]
        for before, after in changes:
            if before is not None:
                del current[before.id]
                self.past.append(PastFactRow(*before._replace(sys_to=epoch)))
            if after is not None:
                current[after.id] = after
        if fresh is not None:
            self._carried.read(snapshot, [(row, fresh[key].body) for key, row in current.items()])


def drafted(
    snapshot: Snapshot,
    belief: Belief,
    fluents: Collection[Fluent],
    scope: int,
    recorded_at: int,
) -> dict[str, Drafted]:
    """The facts of the fluents as rows, by id; a symmetric edge as seen from the end that told it first."""
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


def difference(stored: dict[str, FactRow], fresh: dict[str, Drafted]) -> list[Change]:
    """What turns the stored facts into the fresh ones, by id; since when a fact is believed makes no difference."""
    changes = []
    for key in sorted(stored.keys() | fresh.keys()):
        before, made = stored.get(key), fresh.get(key)
        if made is None:
            changes.append(Change(before, None))
        elif before is None or before._replace(sys_from=0) != made.row._replace(sys_from=0):
            changes.append(Change(before, made.row, made.body))
    return changes
