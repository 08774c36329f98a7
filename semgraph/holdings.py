"""The claims and small tables of one scope as a transaction has read them, each once, with what it added."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semgraph.snapshot import Snapshot
from semgraph.stating import PLAIN
from semgraph.store.schema import (
    ClaimRow,
    CompatRow,
    DeclaredRow,
    DefinitionRow,
    EntityRow,
    FactRow,
    JustificationRow,
    RedirectRow,
    RetractionRow,
    VetoRow,
)
from semgraph.temporal import POS_INF
from semgraph.vocabulary import Predicate, Registry, Unregistered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph.following import Tail
    from semgraph.store.protocol import Store
    from semgraph.store.schema import ClaimColumns

__all__ = ["Fluent", "Holdings", "Pulse", "grouped"]

_MANY = 200  # claims about one subject from which on all of them may be read at once
_TAILS = 1 << 12  # fluents of which a handle remembers how they end
Fluent = tuple[int, str]  # subject and canonical predicate


@dataclass(slots=True)
class _Records:
    """The small tables of a scope, whole."""

    retractions: dict[str, list[RetractionRow]]
    redirects: list[RedirectRow]
    compat: list[CompatRow]
    declared: dict[int, int]
    definitions: list[tuple[int, Predicate]]
    vetoes: list[VetoRow]
    justified: bool
    registries: dict[int, Registry] = field(default_factory=dict)


@dataclass(slots=True)
class Pulse:
    """What the ledgers of one connection share: counts of their own changes, which no version of the file shows."""

    beats: int = 0  # of the small tables
    turns: dict[int, int] = field(default_factory=dict)  # writes to each scope


def grouped(fluents: Iterable[Fluent]) -> list[tuple[str, list[int]]]:
    """The subjects of each predicate: one question for each is answered by an index, and brings nothing else."""
    found: dict[str, list[int]] = {}
    for subject, predicate in sorted(fluents):
        found.setdefault(predicate, []).append(subject)
    return list(found.items())


class Holdings:
    """What one transaction has read of a scope, and let through to it; every method runs inside a transaction."""

    def __init__(self, store: Store, scope: int, pulse: Pulse, *, unregistered: Unregistered = "flag") -> None:
        self.store = store
        self.scope = scope
        self.unregistered = unregistered
        self.pulse = pulse
        self.version = (-1, -1)
        self.committed = True  # whether the last write has ended; until then another thread trusts nothing here
        self._turn = -1
        self._records: _Records | None = None
        self._by_subject: dict[Fluent, list[ClaimRow]] = {}
        self._by_object: dict[tuple[str, str], list[ClaimRow]] = {}
        self._claims: dict[str, ClaimRow | None] = {}
        self._justifications: dict[str, list[JustificationRow]] = {}
        self._keys: dict[int, str] = {}
        self._facts: dict[Fluent, dict[str, FactRow]] = {}
        self._folded: set[Fluent] = set()  # those whose facts were written in this transaction
        self.changed: set[Fluent] = set()  # those of which facts were changed in this write
        self.rebuilt = False  # whether this write changed facts of which no list is kept
        self._made: set[int] = set()  # entities of this transaction: all that is told of them went through here
        self._noted: set[Fluent] = set()  # those with claims of `add_told`, which are to be read from the store
        self._latest: Snapshot | None = None
        self._takers: set[str] | None = None
        self._tails: dict[Fluent, Tail | None] = {}  # None: not only plain claims

    # -- caches

    def begin(self) -> bool:
        """Forget what an earlier transaction read; keep the small tables unless another handle wrote.

        True if nothing at all was written since the last transaction, but by this ledger and through it.
        """
        version = (self.store.version(), self.pulse.beats)
        known = version == self.version
        if not known:
            self._drop_records()
            self.version = version
        turn = self.pulse.turns.get(self.scope, 0)
        known = known and turn == self._turn and self.committed
        self._turn = turn
        self._by_subject.clear()
        self._by_object.clear()
        self._claims.clear()
        self._justifications.clear()
        self._facts.clear()
        self._made.clear()
        self._noted.clear()
        self._folded.clear()
        if not known or len(self._tails) > _TAILS:
            self._tails.clear()
        return known

    def wrote(self, *, steadily: bool) -> None:
        """Take note of a write: what is known is still right if it went through here `steadily`."""
        turn = self.pulse.turns.get(self.scope, 0) + 1
        self.pulse.turns[self.scope] = turn
        self.committed = False
        if steadily and self.version[1] == self.pulse.beats:
            self._turn = turn
        else:
            self.forget_records()

    def forget_records(self) -> None:
        """Drop the cached small tables too, after they changed; other ledgers of the connection will see it."""
        self.pulse.beats += 1
        self.version = (self.version[0], self.pulse.beats)
        self._turn = -1
        self._drop_records()

    def _drop_records(self) -> None:
        self._records = None
        self._latest = None
        self._takers = None
        self._keys.clear()
        self._tails.clear()

    @property
    def records(self) -> _Records:
        """The small tables."""
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
            select(VetoRow, scope),
            bool(select(JustificationRow, scope, limit=1)),
        )

    def registry(self, known_at: int = POS_INF) -> Registry:
        """The registry as known then; names as of today."""
        records = self.records
        version = len(records.definitions)
        if known_at != POS_INF:
            version = sum(1 for recorded, _ in records.definitions if recorded <= known_at)
        if version not in records.registries:
            known = None if version == len(records.definitions) else known_at
            records.registries[version] = Registry(records.definitions, known_at=known, unregistered=self.unregistered)
        return records.registries[version]

    def at(self, known_at: int = POS_INF, *, everything: bool = False) -> Snapshot:
        """What was known at an instant; `everything` leaves retracted claims in, to see what depends on what."""
        if everything or known_at != POS_INF:
            return Snapshot(self, known_at, everything=everything)
        if self._latest is None:
            self._latest = Snapshot(self, known_at)
        return self._latest

    def made(self, entity: int, key: str) -> None:
        """Take note of an entity of this transaction: nothing is stored about it but what goes through here."""
        self._made.add(entity)
        self._keys[entity] = key

    def is_made(self, entity: int) -> bool:
        """Whether the entity is of this transaction."""
        return entity in self._made

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
                known = raw not in self._made or (raw, predicate) in self._noted
                found = (
                    self.store.select(ClaimRow, self.scope, subject=raw, predicate=self.spelt(predicate))
                    if known
                    else []
                )
                self._by_subject[raw, predicate] = found
                self._claims.update((row.id, row) for row in found)
            out += found
        return out

    def on_objects(self, refs: Sequence[str], predicate: str) -> list[ClaimRow]:
        """The same by object."""
        out: list[ClaimRow] = []
        for ref in refs:
            found = self._by_object.get((ref, predicate))
            if found is None:
                found = self.store.select(ClaimRow, self.scope, object=ref, predicate=self.spelt(predicate))
                self._by_object[ref, predicate] = found
            out += found
        return out

    def spelt(self, predicate: str) -> str | list[str]:
        """The same for a look-up."""
        spellings = self.spellings(predicate)
        return spellings if len(spellings) > 1 else predicate

    def is_read(self, fluent: Fluent) -> bool:
        """Whether the claims of the fluent are at hand."""
        return fluent in self._by_subject

    def facts_of(self, subject: int, predicate: str) -> list[FactRow]:
        """The stored facts of a fluent whose own subject it is, for the rest of the transaction."""
        found = self._facts.get((subject, predicate))
        if found is None:
            rows = self.store.select(FactRow, self.scope, order=None, subject=subject, predicate=predicate)
            found = self._facts[subject, predicate] = {row.id: row for row in rows}
        return list(found.values())

    def prefetch(self, fluents: Iterable[Fluent]) -> None:
        """Read the claims of many fluents at once."""
        wanted = {fluent for fluent in fluents if fluent not in self._by_subject and fluent[0] not in self._made}
        if len(wanted) < 2:
            return
        for fluent in wanted:
            self._by_subject[fluent] = []
        for predicate, subjects in grouped(wanted):
            for row in self.store.iterate(ClaimRow, self.scope, subject=subjects, predicate=self.spelt(predicate)):
                self._by_subject[row.subject, predicate].append(row)
                self._claims[row.id] = row

    def claim(self, claim: str) -> ClaimRow | None:
        """A claim by id, retracted or not."""
        if claim not in self._claims:
            self._claims[claim] = next(iter(self.store.select(ClaimRow, self.scope, id=claim)), None)
        return self._claims[claim]

    def claim_of_now(self, claim: str) -> ClaimRow | None:
        """A claim of this transaction by id, without a look at the store."""
        return self._claims.get(claim)

    def fetch(self, ids: Iterable[str], *, subject: int | None = None) -> dict[str, ClaimRow]:
        """Claims by id, many at once; of very many about one subject all are read, if most of them are wanted."""
        wanted = list(dict.fromkeys(ids))
        missing = [c for c in wanted if c not in self._claims]
        if subject is not None and self._are_most(len(missing), subject):
            self.fetch_of(subject)
            missing = [c for c in missing if c not in self._claims]
        if missing:
            self._claims.update(dict.fromkeys(missing))
            for row in self.store.iterate(ClaimRow, self.scope, id=missing):
                self._claims[row.id] = row
        return {c: known for c in wanted if (known := self._claims[c]) is not None}

    def _are_most(self, number: int, subject: int) -> bool:
        """Whether so many claims are very many, and most of those about a subject."""
        return number > _MANY and self.store.count(ClaimRow, self.scope, subject=subject) < 2 * number

    def fetch_of(self, subject: int) -> None:
        """Read every claim whose subject was written as one entity, which is cheaper than each by its id."""
        self._claims.update(
            (row.id, row) for row in self.store.select(ClaimRow, self.scope, order=None, subject=subject)
        )

    def note_absent(self, ids: Iterable[str]) -> bool:
        """Whether no claim is stored at all, so that the ids need not be looked up."""
        if self.store.select(ClaimRow, self.scope, limit=1, order=None):
            return False
        self._claims.update(dict.fromkeys(ids))
        return True

    def justification_rows(self, claim: str) -> list[JustificationRow]:
        """What was ever said to justify a claim."""
        if not self.records.justified:
            return []
        if claim not in self._justifications:
            self._justifications[claim] = self.store.select(JustificationRow, self.scope, claim=claim)
        return self._justifications[claim]

    def name_keys(self, refs: Sequence[str]) -> dict[str, str]:
        """The keys by which references are told apart or found to be finer words, those of many entities at once."""
        entities = [int(ref[1:]) for ref in refs if ref.startswith("e")]
        unread = [entity for entity in entities if entity not in self._keys]
        if unread:
            self._keys.update(self.store.tuples(EntityRow, self.scope, ("id", "key"), id=unread))
        return {ref: self.at().name_key(ref) for ref in refs}

    def name_key(self, entity: int) -> str:
        """The key of the name that an entity was first written with."""
        if entity not in self._keys:
            rows = self.store.select(EntityRow, self.scope, id=entity)
            self._keys[entity] = rows[0].key if rows else ""
        return self._keys[entity]

    @property
    def takers(self) -> set[str]:
        """The predicates of which some claim may take from others: it denies, ends, or is negative."""
        if self._takers is None:
            canonical, look = self.registry().canonical, self.store.iterate
            rows = [row for kind in ("end", "deny", "correct") for row in look(ClaimRow, self.scope, kind=kind)]
            rows += look(ClaimRow, self.scope, negative=1)
            self._takers = {canonical(row.predicate) for row in rows}
        return self._takers

    def add_claims(self, rows: Sequence[ClaimRow], justifications: Sequence[JustificationRow]) -> None:
        """Store new claims, and let what was read in this transaction see them."""
        self.store.insert(rows)
        canonical = self.registry().canonical
        by_subject, by_object, made = self._by_subject, self._by_object, self._made
        for row in rows:
            self._claims[row.id] = row
            predicate = canonical(row.predicate)
            if self._takers is not None and (row.negative or row.kind not in PLAIN):
                self._takers.add(predicate)
            if (row.subject, predicate) in by_subject:
                by_subject[row.subject, predicate].append(row)
            elif row.subject in made:
                by_subject[row.subject, predicate] = [row]
            if (row.object, predicate) in by_object:
                by_object[row.object, predicate].append(row)
        self.add_justifications(justifications)

    def told_before(self, fluents: Iterable[Fluent]) -> dict[Fluent, list[ClaimRow]]:
        """What was told of fluents, as written; without those that something else has to be known of.

        These are what merges touch, and what was read or folded in this transaction.
        """
        read = self._by_subject.keys() | self._folded
        joined = self.at().redirects.keys() | self.at().members.keys()
        found: dict[Fluent, list[ClaimRow]] = {f: [] for f in fluents if f not in read and f[0] not in joined}
        for predicate, subjects in grouped(fluent for fluent in found if fluent[0] not in self._made):
            for row in self.store.select(
                ClaimRow, self.scope, order=None, subject=subjects, predicate=self.spelt(predicate)
            ):
                found[row.subject, predicate].append(row)
        return found

    def add_told(self, claims: ClaimColumns, moulds: Sequence[str]) -> None:
        """Store new claims that meet nothing with the fact that each makes by its mould."""
        self.store.insert_told(claims, moulds)
        for claim in claims.id if self._claims else ():
            self._claims.pop(claim, None)

    def note_told(self, fluents: Sequence[Fluent]) -> None:
        """Let later reads of this transaction see claims of `add_told`, after the rest of their fluents is folded."""
        self._noted.update(fluents)
        self._folded.update(fluents)
        self.changed.update(fluents)
        self._by_object.clear()
        for fluent in fluents:
            for read in (self._by_subject, self._facts, self._tails):
                read.pop(fluent, None)

    def add_justifications(self, rows: Sequence[JustificationRow]) -> None:
        """Store justifications."""
        if rows:
            self.store.insert(rows, replace=True)
            if not self.records.justified:
                self.forget_records()
                self.records.justified = True
            self._justifications.clear()
