"""One scope of one store: what was known when, and the materialised facts kept in step with it.

`Snapshot` is the `Evidence` of one moment. `Ledger.refold` compares the facts of the fluents that a write touched
with the stored rows; `Ledger.expected` computes, epoch by epoch, every row that the claims of some fluents must have
left behind, which is what `verify`, `forget`, restoring and redefinition use.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow
from semgraph.belief import Belief
from semgraph.store.schema import (
    ClaimRow,
    CompatRow,
    DeclaredRow,
    DefinitionRow,
    EntityRow,
    FactRow,
    JustificationRow,
    PastFactRow,
    RedirectRow,
    RetractionRow,
)
from semgraph.temporal import POS_INF
from semgraph.vocabulary import Predicate, Registry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from semgraph.belief import Draft
    from semgraph.fold import Value
    from semgraph.store.protocol import Store

__all__ = ["Change", "Fluent", "Ledger", "Pulse", "Snapshot"]

Fluent = tuple[int, str]  # subject and canonical predicate
_REACH = 2  # how many mirrored fluents away a fact's rivals can still depend on


class Change(NamedTuple):
    """A stored fact before and after a write; None where there was, or is, none."""

    before: FactRow | None
    after: FactRow | None


@dataclass(slots=True)
class _Records:
    """The small tables of a scope, whole."""

    retractions: dict[str, list[RetractionRow]]
    redirects: list[RedirectRow]
    compat: list[CompatRow]
    declared: dict[int, int]
    definitions: list[tuple[int, Predicate]]
    justified: bool
    registries: dict[int, Registry] = field(default_factory=dict)


@dataclass(slots=True)
class Pulse:
    """What the ledgers of one connection share: a count of the changes to small tables, which no file version shows."""

    beats: int = 0


class Ledger:
    """The claims and facts of one scope; every method runs inside a transaction of the store."""

    def __init__(self, store: Store, scope: int, pulse: Pulse, *, unregistered: str = "flag") -> None:
        self.store = store
        self.scope = scope
        self.unregistered = unregistered
        self.pulse = pulse
        self.version = (-1, -1)
        self._records: _Records | None = None
        self._by_subject: dict[Fluent, list[ClaimRow]] = {}
        self._by_object: dict[tuple[str, str], list[ClaimRow]] = {}
        self._claims: dict[str, ClaimRow | None] = {}
        self._justifications: dict[str, list[JustificationRow]] = {}
        self._keys: dict[int, str] = {}

    # -- caches

    def begin(self) -> None:
        """Forget what an earlier transaction read; keep the small tables unless another handle wrote."""
        version = (self.store.version(), self.pulse.beats)
        if version != self.version:
            self._drop_records()
            self.version = version
        self._by_subject.clear()
        self._by_object.clear()
        self._claims.clear()
        self._justifications.clear()

    def forget_records(self) -> None:
        """Drop the cached small tables too, after they changed; other ledgers of the connection will see it."""
        self.pulse.beats += 1
        self.version = (self.version[0], self.pulse.beats)
        self._drop_records()

    def _drop_records(self) -> None:
        self._records = None
        self._keys.clear()

    @property
    def records(self) -> _Records:
        if self._records is None:
            self._records = self._load_records()
        return self._records

    def _load_records(self) -> _Records:
        select, scope = self.store.select, self.scope
        retractions: dict[str, list[RetractionRow]] = defaultdict(list)
        for mark in select(RetractionRow, scope):
            retractions[mark.claim].append(mark)
        definitions = [
            (row.recorded_at, Predicate.from_dict(json.loads(row.spec)))
            for row in select(DefinitionRow, scope, order=("recorded_at",))
        ]
        return _Records(
            dict(retractions),
            select(RedirectRow, scope, order=("recorded_at",)),
            select(CompatRow, scope),
            {row.entity: row.recorded_at for row in select(DeclaredRow, scope)},
            definitions,
            bool(select(JustificationRow, scope, limit=1)),
        )

    def registry(self, known_at: int = POS_INF) -> Registry:
        """The registry as known then; names as of today."""
        records = self.records
        version = sum(1 for recorded, _ in records.definitions if recorded <= known_at)
        if version not in records.registries:
            known = None if version == len(records.definitions) else known_at
            records.registries[version] = Registry(
                records.definitions, known_at=known, unregistered=self.unregistered
            )
        return records.registries[version]

    def at(self, known_at: int = POS_INF, *, everything: bool = False) -> Snapshot:
        """What was known at an instant; `everything` leaves retracted claims in, to see what depends on what."""
        return Snapshot(self, known_at, everything=everything)

    # -- rows

    def spellings(self, predicate: str) -> list[str]:
        """The names under which claims of a predicate may be stored: it, and aliases defined after the write."""
        definitions = self.records.definitions
        later = {alias for _, entry in definitions if entry.name == predicate for alias in entry.aliases}
        return [predicate, *sorted(later - {predicate})]

    def on_subjects(self, raws: Sequence[int], predicate: str) -> list[ClaimRow]:
        """Every claim whose subject was written as one of these, retracted ones too."""
        out: list[ClaimRow] = []
        for raw in raws:
            found = self._by_subject.get((raw, predicate))
            if found is None:
                found = self.store.select(ClaimRow, self.scope, subject=raw, predicate=self._spelt(predicate))
                self._by_subject[raw, predicate] = found
            out += found
        return out

    def on_objects(self, refs: Sequence[str], predicate: str) -> list[ClaimRow]:
        """The same by object."""
        out: list[ClaimRow] = []
        for ref in refs:
            found = self._by_object.get((ref, predicate))
            if found is None:
                found = self.store.select(ClaimRow, self.scope, object=ref, predicate=self._spelt(predicate))
                self._by_object[ref, predicate] = found
            out += found
        return out

    def _spelt(self, predicate: str) -> str | list[str]:
        spellings = self.spellings(predicate)
        return spellings if len(spellings) > 1 else predicate

    def prefetch(self, fluents: Iterable[Fluent]) -> None:
        """Read the claims of many fluents at once."""
        wanted = {fluent for fluent in fluents if fluent not in self._by_subject}
        if len(wanted) < 2:
            return
        for fluent in wanted:
            self._by_subject[fluent] = []
        canonical = self.registry().canonical
        for row in self.store.iterate(ClaimRow, self.scope, subject=sorted({s for s, _ in wanted})):
            fluent = (row.subject, canonical(row.predicate))
            if fluent in wanted:
                self._by_subject[fluent].append(row)

    def claim(self, claim: str) -> ClaimRow | None:
        """A claim by id, retracted or not."""
        if claim not in self._claims:
            self._claims[claim] = next(iter(self.store.select(ClaimRow, self.scope, id=claim)), None)
        return self._claims[claim]

    def fetch(self, ids: Iterable[str]) -> dict[str, ClaimRow]:
        """Claims by id, many at once."""
        wanted = list(dict.fromkeys(ids))
        missing = [c for c in wanted if c not in self._claims]
        if missing:
            self._claims.update(dict.fromkeys(missing))
            for row in self.store.iterate(ClaimRow, self.scope, id=missing):
                self._claims[row.id] = row
        return {c: row for c in wanted if (row := self._claims[c]) is not None}

    def justification_rows(self, claim: str) -> list[JustificationRow]:
        """What was ever said to justify a claim."""
        if not self.records.justified:
            return []
        if claim not in self._justifications:
            self._justifications[claim] = self.store.select(JustificationRow, self.scope, claim=claim)
        return self._justifications[claim]

    def name_key(self, entity: int) -> str:
        """The key of the name that an entity was first written with."""
        if entity not in self._keys:
            rows = self.store.select(EntityRow, self.scope, id=entity)
            self._keys[entity] = rows[0].key if rows else ""
        return self._keys[entity]

    def add_claims(self, rows: Sequence[ClaimRow], justifications: Sequence[JustificationRow]) -> None:
        """Store new claims, and let what was read in this transaction see them."""
        self.store.insert(rows)
        canonical = self.registry().canonical
        for row in rows:
            self._claims[row.id] = row
            for cache, key in (
                (self._by_subject, (row.subject, canonical(row.predicate))),
                (self._by_object, (row.object, canonical(row.predicate))),
            ):
                if key in cache:
                    cache[key].append(row)  # type: ignore[index]  # the two caches differ in the key's type only
        self.add_justifications(justifications)

    def add_justifications(self, rows: Sequence[JustificationRow]) -> None:
        """Store justifications."""
        if rows:
            self.store.insert(rows, replace=True)
            if not self.records.justified:
                self.forget_records()
                self.records.justified = True
            self._justifications.clear()

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
    ) -> list[Change]:
        """Bring the stored facts of the fluents in line with the claims; what changed."""
        self.prefetch(fluents)
        stored = self.stored(fluents)
        fresh = _draft_rows(Belief(self.at(), trace=trace), fluents, self.scope, recorded_at)
        changes = _difference(stored, fresh)
        self._write(changes, recorded_at)
        return changes

    def stored(self, fluents: Collection[Fluent]) -> dict[str, FactRow]:
        """The current rows of the fluents, by id; of a symmetric predicate those at either end."""
        wanted = set(fluents)
        registry = self.registry()
        rows: dict[str, FactRow] = {}
        subjects = sorted({s for s, _ in wanted})
        if len(wanted) == 1:
            subject, predicate = next(iter(wanted))
            found: Iterable[FactRow] = self.store.select(FactRow, self.scope, subject=subject, predicate=predicate)
        else:
            found = self.store.iterate(FactRow, self.scope, subject=subjects)
        for row in found:
            if (row.subject, row.predicate) in wanted:
                rows[row.id] = row
        for subject, predicate in wanted:
            if registry.entry(predicate).symmetric or self._was_symmetric(predicate):
                for row in self.store.select(FactRow, self.scope, object=f"e{subject}", predicate=predicate):
                    rows[row.id] = row
        return rows

    def _was_symmetric(self, predicate: str) -> bool:
        return any(entry.symmetric for _, entry in self.records.definitions if entry.name == predicate)

    def _write(self, changes: Sequence[Change], recorded_at: int) -> None:
        gone = [change.before for change in changes if change.before is not None]
        for row in gone:
            self.store.delete(
                FactRow, self.scope, subject=row.subject, predicate=row.predicate, valid_from=row.valid_from, id=row.id
            )
        past = [PastFactRow(*row._replace(sys_to=recorded_at)) for row in gone if row.sys_from < recorded_at]
        if past:
            self.store.insert(past)
        fresh = [change.after for change in changes if change.after is not None]
        if fresh:
            self.store.insert(fresh)

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
        current: dict[str, FactRow] = {}
        past: list[PastFactRow] = []
        for epoch in self._epochs(fluents):
            snapshot = self.at(epoch)
            alive = {(snapshot.entity(s), p) for s, p in fluents}
            fresh = _draft_rows(Belief(snapshot), alive, self.scope, epoch)
            for before, after in _difference(current, fresh):
                if before is not None:
                    del current[before.id]
                    past.append(PastFactRow(*before._replace(sys_to=epoch)))
                if after is not None:
                    current[after.id] = after
        return list(current.values()), past

    def _epochs(self, fluents: Collection[Fluent]) -> list[int]:
        """Every instant at which what these fluents depend on may have changed."""
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
        found |= {recorded for recorded, _ in records.definitions} | set(records.declared.values())
        found |= {row.recorded_at for row in records.compat}
        for redirect in records.redirects:
            found |= {redirect.recorded_at, redirect.ended_at}
        return sorted(found - {POS_INF})

    def rebuild(self, fluents: Collection[Fluent]) -> None:
        """Replace the stored rows of whole components by what the claims that are left imply."""
        whole = self.component(fluents)
        for subject, predicate in sorted(whole):
            for table in (FactRow, PastFactRow):
                self.store.delete(table, self.scope, subject=subject, predicate=predicate)
                if self.registry().entry(predicate).symmetric or self._was_symmetric(predicate):
                    self.store.delete(table, self.scope, object=f"e{subject}", predicate=predicate)
        current, past = self.expected(whole)
        if current:
            self.store.insert(current, replace=True)
        if past:
            self.store.insert(past, replace=True)

    def all_fluents(self) -> set[Fluent]:
        """Every fluent that a claim stands in, by the entities as written; both ends of a symmetric one."""
        canonical, found = self.registry().canonical, set()
        for row in self.store.iterate(ClaimRow, self.scope):
            name = canonical(row.predicate)
            found.add((row.subject, name))
            if row.object.startswith("e") and (self.registry().entry(name).symmetric or self._was_symmetric(name)):
                found.add((int(row.object[1:]), name))
        return found


class Snapshot:
    """What was known at one moment: the `Evidence` that `Belief` asks."""

    def __init__(self, ledger: Ledger, known_at: int, *, everything: bool = False) -> None:
        self.ledger = ledger
        self.known_at = known_at
        self.everything = everything
        self.registry = ledger.registry(known_at)
        self._entries: dict[str, Predicate] = {}

    @cached_property
    def redirects(self) -> dict[int, int]:
        """Where each merged entity leads, chains followed."""
        now = self.known_at
        direct = {r.src: r.dst for r in self.ledger.records.redirects if r.recorded_at <= now < r.ended_at}
        if now == POS_INF:
            direct = {r.src: r.dst for r in self.ledger.records.redirects if r.ended_at == POS_INF}
        out = {}
        for src in direct:
            end = direct[src]
            while end in direct:
                end = direct[end]
            out[src] = end
        return out

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The entities that lead to each surviving one, itself included."""
        out: dict[int, list[int]] = {}
        for src, dst in sorted(self.redirects.items()):
            out.setdefault(dst, [dst]).append(src)
        return out

    def entity(self, raw: int) -> int:
        return self.redirects.get(raw, raw) if self.redirects else raw

    def resolved(self, ref: str) -> str:
        """A reference after merges."""
        return f"e{self.entity(int(ref[1:]))}" if ref.startswith("e") else ref

    def predicate(self, name: str) -> Predicate:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = self.registry.entry(self.registry.canonical(name))
        return entry

    def visible(self, row: ClaimRow) -> bool:
        """Whether the claim was recorded and not withdrawn then."""
        if self.everything:
            return True
        if row.recorded_at > self.known_at:
            return False
        marks = self.ledger.records.retractions
        if row.id not in marks:
            return True
        if self.known_at == POS_INF:
            return all(mark.ended_at != POS_INF for mark in marks[row.id])
        return not any(mark.recorded_at <= self.known_at < mark.ended_at for mark in marks[row.id])

    def on_subject(self, subject: int, predicate: str) -> list[ClaimRow]:
        raws = self.members.get(subject) or ([] if subject in self.redirects else [subject])
        return [row for row in self.ledger.on_subjects(raws, predicate) if self.visible(row)]

    def on_object(self, ref: str, predicate: str) -> list[ClaimRow]:
        refs = [ref]
        if ref.startswith("e"):
            entity = int(ref[1:])
            raws = self.members.get(entity) or ([] if entity in self.redirects else [entity])
            refs = [f"e{raw}" for raw in raws]
        return [row for row in self.ledger.on_objects(refs, predicate) if self.visible(row)]

    def claim(self, claim: str) -> ClaimRow | None:
        row = self.ledger.claim(claim)
        return row if row is not None and self.visible(row) else None

    def justifications(self, claim: str) -> list[list[str]] | None:
        rows = self.ledger.justification_rows(claim)
        if not rows:
            return None
        groups: dict[int, list[str]] = {}
        for row in rows:
            if row.recorded_at <= self.known_at:
                groups.setdefault(row.justification, []).append(row.premise)
        return None if [""] in groups.values() else list(groups.values())

    def compatible(self, subject: int, predicate: str) -> frozenset[frozenset[str]]:
        return frozenset(
            frozenset((self.resolved(row.a), self.resolved(row.b)))
            for row in self.ledger.records.compat
            if row.recorded_at <= self.known_at
            and self.entity(row.subject) == subject
            and self.registry.canonical(row.predicate) == predicate
        )

    def name_key(self, ref: str) -> str:
        return self.ledger.name_key(int(ref[1:])) if ref.startswith("e") else ref[2:]

    def declared(self, ref: str) -> bool:
        if not ref.startswith("e"):
            return False
        declared = self.ledger.records.declared
        entity = int(ref[1:])
        return any(
            raw in declared and declared[raw] <= self.known_at for raw in self.members.get(entity, (entity,))
        )


def _draft_rows(belief: Belief, fluents: Collection[Fluent], scope: int, recorded_at: int) -> dict[str, FactRow]:
    """The facts of the fluents as rows, by id; a symmetric edge as seen from the end that told it first."""
    rows: dict[str, FactRow] = {}
    for subject, predicate in sorted(fluents):
        for draft in belief.facts(subject, predicate):
            if draft.id not in rows:
                rows[draft.id] = factrow.encode(_stored_way(belief, draft), scope, recorded_at)
    return rows


def _stored_way(belief: Belief, draft: Draft) -> Draft:
    if draft.subject == draft.seen_from:
        return draft
    return next(d for d in belief.facts(draft.subject, draft.predicate) if d.id == draft.id)


def _difference(stored: dict[str, FactRow], fresh: dict[str, FactRow]) -> list[Change]:
    changes = []
    for key in sorted(stored.keys() | fresh.keys()):
        before, after = stored.get(key), fresh.get(key)
        if before is None or after is None or before._replace(sys_from=0) != after._replace(sys_from=0):
            changes.append(Change(before, after))
    return changes
