"""An export into a scope that has things of its own: its claims come in as new ones, its names are found again here.

Nothing that this scope decided is undone: a name taken back, a merge undone or a claim un-retracted here stays so. What
can't be told apart is refused, claim by claim. All that is decided depends on the two scopes alone, so that reading a
file again changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import AmbiguousNameError, InputError, NotFoundError
from semgraph.exchange.claims import Claims
from semgraph.store.schema import (
    AliasRow,
    ApartRow,
    CompatRow,
    DeclaredRow,
    DefinitionRow,
    EntityRow,
    RedirectRow,
    VetoRow,
)
from semgraph.temporal import NEG_INF, POS_INF
from semgraph.vocabulary import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.ledger import Fluent
    from semgraph.model import Batch
    from semgraph.session import Session
    from semgraph.store.schema import Row

__all__ = ["join"]

_SELF: Final = "user"


def join(kg: KnowledgeGraph, rows: Sequence[Row], source: str | None) -> Batch:
    """What the rows of an export did to a scope."""
    tables: dict[type[Row], list[Any]] = defaultdict(list)
    for row in rows:
        tables[type(row)].append(row)
    with kg.atomic():
        _define(kg, tables[DefinitionRow])
        session = kg._session  # noqa: SLF001 - joining is about rows, and only the session leads to them
        with session.write() as recorded_at:
            names = _Names(session, tables, recorded_at)
            names.find()
            names.make()
            later = names.alias()
            declared = names.declare()
            paired = _keep_both(session, tables[CompatRow], names.places, recorded_at)
            ledger = session.ledger
            ledger.forget_records()
            ledger.refold(ledger.as_values(declared) | ledger.around(paired), recorded_at)
            done = Claims(session, recorded_at, names.places, names.shared, source).take(tables)
            _veto(session, tables[VetoRow], recorded_at)  # not before: they are not retroactive
        while later:
            with session.write() as recorded_at:
                later = _store_aliases(session, later, recorded_at)
        _merge(kg, tables[RedirectRow], names.places)
    return done


def _define(kg: KnowledgeGraph, rows: Iterable[DefinitionRow]) -> None:
    """The newest definition of each predicate that nobody has defined here."""
    session = kg._session  # noqa: SLF001
    with session.read():
        defined = {row.predicate for row in session.store.select(DefinitionRow, session.ledger.scope)}
    newest = {row.predicate: row for row in sorted(rows, key=lambda row: row.recorded_at)}
    for name in sorted(newest.keys() - defined):
        words = Predicate.from_dict(json.loads(newest[name].spec)).to_dict()
        try:
            kg.predicates.define(words.pop("name"), **words)
        except InputError:  # it would lead in a circle through what is defined here
            continue


def _merge(kg: KnowledgeGraph, rows: Iterable[RedirectRow], places: dict[int, int | None]) -> None:
    """The merges in force, but for those that were undone here or that would join what is kept apart."""
    session = kg._session  # noqa: SLF001
    for row in sorted(rows, key=lambda row: (row.recorded_at, row.src)):
        src, dst = places[row.src], places[row.dst]
        if row.ended_at != POS_INF or src is None or dst is None:
            continue
        with session.read():
            snapshot = session.ledger.at()
            settled = any(r.src == src for r in session.ledger.records.redirects)
            settled = settled or snapshot.entity(src) == snapshot.entity(dst)
            ends = [session.directory.entity(number) for number in (src, dst)]
        if not settled:
            try:
                kg.names.merge(*ends, reason=row.reason)
            except InputError:
                continue


def _veto(session: Session, rows: Iterable[VetoRow], recorded_at: int) -> None:
    store, scope = session.store, session.ledger.scope
    known = {(row.kind, row.value) for row in store.select(VetoRow, scope)}
    store.insert([VetoRow(scope, r.kind, r.value, recorded_at) for r in rows if (r.kind, r.value) not in known])


def _keep_both(
    session: Session, rows: Iterable[CompatRow], places: dict[int, int | None], recorded_at: int
) -> set[Fluent]:
    """The pairs that somebody decided to keep side by side; the fluents of the new ones."""
    store, ledger = session.store, session.ledger
    known = {(row.subject, row.predicate, row.a, row.b) for row in store.select(CompatRow, ledger.scope)}
    fresh = []
    for row in rows:
        refs = [_placed(ref, places) for ref in (row.a, row.b)]
        subject = places[row.subject]
        if subject is None or None in refs or refs[0] == refs[1]:
            continue
        a, b = sorted(ref for ref in refs if ref is not None)
        if (subject, row.predicate, a, b) not in known:
            known.add((subject, row.predicate, a, b))
            fresh.append(CompatRow(ledger.scope, subject, row.predicate, a, b, recorded_at))
    store.insert(fresh)
    return {(ledger.at().entity(row.subject), ledger.registry().canonical(row.predicate)) for row in fresh}


def _placed(ref: str, places: dict[int, int | None]) -> str | None:
    if not ref.startswith("e"):
        return ref
    number = places[int(ref[1:])]
    return None if number is None else f"e{number}"


def _store_aliases(session: Session, rows: Sequence[AliasRow], recorded_at: int) -> list[AliasRow]:
    """Keep the rows; those whose key another one of them has come back, to be kept at a later moment."""
    kept: dict[tuple[str, int, str], AliasRow] = {}
    later = [row for row in rows if kept.setdefault((row.key, row.entity, row.kind), row) is not row]
    session.store.insert([row._replace(recorded_at=recorded_at) for row in kept.values()])
    session.directory.begin(session.directory.counter)
    session.directory.renamed = True
    return later


class _Names:
    """Where the entities of an export are in this scope: `places`, None for one that can't be told from others."""

    def __init__(self, session: Session, tables: dict[type[Row], list[Any]], recorded_at: int) -> None:
        self.session = session
        self.recorded_at = recorded_at
        self.rows: list[EntityRow] = tables[EntityRow]
        self.declared: list[DeclaredRow] = tables[DeclaredRow]
        self.apart: list[ApartRow] = tables[ApartRow]
        self.places: dict[int, int | None] = {}
        self.merged = {row.src: row.dst for row in tables[RedirectRow] if row.ended_at == POS_INF}
        self.names: dict[int, list[AliasRow]] = defaultdict(list)
        self.bearers: dict[str, set[int]] = defaultdict(set)
        for row in tables[AliasRow]:
            if row.retracted_at == POS_INF:
                self.names[row.entity].append(row)
                self.bearers[row.key].add(row.entity)
        self.shared = {key for key, found in self.bearers.items() if len({self._final(n) for n in found}) > 1}
        self._fresh: list[EntityRow] = []

    def _final(self, number: int) -> int:
        while number in self.merged:
            number = self.merged[number]
        return number

    def find(self) -> None:
        """Look for every entity: by the id that it has or would get here, then by the names that mean it alone."""
        directory, scope = self.session.directory, self.session.ledger.scope
        directory.prefetch(self.bearers)
        wanted = [number for row in self.rows for number in (row.id, _derived(row))]
        known = _by_id(self.session, wanted)
        for row in self.rows:
            same = [known[n] for n in (row.id, _derived(row)) if n in known and known[n].key == row.key]
            if same:
                self.places[row.id] = same[0].id
                continue
            try:
                place = self._by_name(row)
            except AmbiguousNameError:
                self.places[row.id] = None
                continue
            if place is None:
                place = _derived(row)
                self._fresh.append(EntityRow(scope, place, row.label, row.key, self.recorded_at))
            self.places[row.id] = place

    def _by_name(self, row: EntityRow) -> int | None:
        """The entity here that the primary names mean; None if nobody bears them, an error if it can't be told."""
        names = [name for name in self.names[row.id] if name.kind != "alias"]
        found = self._bearers(name.key for name in names if name.key not in self.shared)
        if len(found) == 1:
            return next(iter(found.values()))
        namesakes = found or self._bearers(name.key for name in names)
        if not namesakes:
            return None
        known = self._bearers(name.key for name in self.names[row.id] if name.key not in self.shared)
        both = [raw for entity, raw in namesakes.items() if entity in known]
        if len(both) == 1:
            return both[0]
        raise AmbiguousNameError(f"{row.label!r} is the name of several entities")

    def _bearers(self, keys: Iterable[str]) -> dict[int, int]:
        """The entities here that any of the keys means: each after merges, with one row's own."""
        snapshot = self.session.ledger.at()
        return {snapshot.entity(row.entity): row.entity for key in keys for row in self.session.directory.rows(key)}

    def make(self) -> None:
        """Make the entities that are new here, each with its primary names."""
        if not self._fresh:
            return
        made = {row.id for row in self._fresh}
        self.session.store.insert(self._fresh)
        own = [n for row in self.rows if self.places[row.id] in made for n in self.names[row.id] if n.kind != "alias"]
        first = {(name.key, self.places[name.entity]): name for name in reversed(own)}
        _store_aliases(self.session, [self._here(name) for name in first.values()], self.recorded_at)

    def _here(self, name: AliasRow, kind: str | None = None) -> AliasRow:
        place = self.places[name.entity]
        if place is None:
            raise NotFoundError("an entity that has no place here was asked for one")
        return name._replace(scope=self.session.ledger.scope, entity=place, kind=kind or name.kind)

    def alias(self) -> list[AliasRow]:
        """Take over the other names where nobody else bears them here; rows that must wait for a later moment."""
        made = {row.id for row in self._fresh}
        directory, store, scope = self.session.directory, self.session.store, self.session.ledger.scope
        wanted = []
        places = sorted({place for place in self.places.values() if place is not None})
        kept: dict[tuple[str, int], list[AliasRow]] = defaultdict(list)
        for row in store.select(AliasRow, scope, entity=places):
            kept[row.key, row.entity].append(row)
        directory.prefetch(self.bearers)
        for name in (name for row in self.rows if self.places[row.id] is not None for name in self.names[row.id]):
            if name.kind == "self" or name.key == _SELF:
                continue
            # An entity that was here keeps the name it is shown by, unless it was renamed at some time.
            renames = self.places[name.entity] in made or name.valid_from != NEG_INF
            row = self._here(name, "primary" if renames and name.kind == "primary" else "alias")
            if not self._known(row, kept[row.key, row.entity]) and self._free(name):
                wanted.append(row)
                kept[row.key, row.entity].append(row)
        return self._stored(wanted)

    def _stored(self, rows: list[AliasRow]) -> list[AliasRow]:
        """Keep the rows; one whose key stands already at this very moment waits."""
        store, scope = self.session.store, self.session.ledger.scope
        keys = sorted({row.key for row in rows})
        now = {
            (row.key, row.entity, row.kind)
            for row in store.select(AliasRow, scope, key=keys)
            if row.recorded_at == self.recorded_at
        }
        waiting = [row for row in rows if (row.key, row.entity, row.kind) in now]
        kept = [row for row in rows if (row.key, row.entity, row.kind) not in now]
        return _store_aliases(self.session, kept, self.recorded_at) + waiting

    @staticmethod
    def _known(row: AliasRow, kept: Iterable[AliasRow]) -> bool:
        """Whether the entity has the name for that time already, or had it taken back."""
        bounds = (row.valid_from, row.valid_to)
        return any(old.retracted_at != POS_INF or (old.valid_from, old.valid_to) == bounds for old in kept)

    def _free(self, name: AliasRow) -> bool:
        """Whether the name means, here, nobody but those whom the export calls so."""
        snapshot = self.session.ledger.at()
        here = {snapshot.entity(row.entity) for row in self.session.directory.rows(name.key)}
        places = {self.places[number] for number in self.bearers[name.key]}
        return here <= {snapshot.entity(place) for place in places if place is not None}

    def declare(self) -> list[int]:
        """Take over which entities were declared, and which are kept apart; those that were not declared before."""
        session, ledger = self.session, self.session.ledger
        store, scope = session.store, ledger.scope
        known = {row.entity for row in store.select(DeclaredRow, scope)}
        fresh = sorted({place for row in self.declared if (place := self.places[row.entity]) is not None} - known)
        store.insert([DeclaredRow(scope, number, self.recorded_at) for number in fresh])
        pairs = set()
        snapshot = ledger.at()
        for row in self.apart:
            a, b = self.places[row.a], self.places[row.b]
            if a is not None and b is not None and snapshot.entity(a) != snapshot.entity(b):
                pairs.add((min(a, b), max(a, b)))
        pairs -= {(row.a, row.b) for row in store.select(ApartRow, scope)}
        store.insert([ApartRow(scope, a, b, self.recorded_at) for a, b in sorted(pairs)])
        return fresh


def _derived(row: EntityRow) -> int:
    """The id that an entity of a file gets in another scope: always the same, and none that the scope gives itself."""
    seed = f"import\0{row.id}\0{row.recorded_at}".encode()
    return int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest(), "big") >> 1


def _by_id(session: Session, numbers: Sequence[int]) -> dict[int, EntityRow]:
    return {row.id: row for row in session.store.select(EntityRow, session.ledger.scope, id=sorted(set(numbers)))}
