"""The alias table at work: names to entities when writing and when reading, labels, merges and their undoing.

A name reaches an entity only through the alias rows of its key. Nothing here looks at how similar two names are.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from semgraph import names
from semgraph.errors import AmbiguousNameError, InputError, NotFoundError, RejectedError
from semgraph.model import Entity
from semgraph.store.schema import AliasRow, ApartRow, DeclaredRow, EntityRow, RedirectRow
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from semgraph.ledger import Ledger, Snapshot
    from semgraph.temporal import Bound

__all__ = ["Directory", "chosen_name", "entity_number", "public_id"]

_FEW = 4  # entities that are looked up one by one
_MOST = 4_000  # entities whose labels are looked up by their numbers
_KEPT = 1 << 16  # names that a handle remembers from one transaction to the next
_SELF = "user"  # the alias key under which the self entity is found


def public_id(entity: int) -> str:
    """The id of an entity as users see it."""
    return f"e{entity:016x}"


def entity_number(given: str) -> int | None:
    """The stored number of an id, or None if it is no id."""
    if len(given) != 17 or not given.startswith("e"):
        return None
    try:
        return int(given[1:], 16)
    except ValueError:
        return None


def chosen_name(rows: Sequence[AliasRow], instant: int | None) -> str:
    """Of the primary names of an entity the one valid at the instant (None: the latest), the latest given winning."""
    if len(rows) == 1:
        return rows[0].name
    at = POS_INF - 1 if instant is None else instant
    valid = [row for row in rows if row.valid_from <= at < row.valid_to] or rows
    return max(valid, key=lambda row: (row.kind != "self", row.valid_from, row.recorded_at)).name if valid else ""


class Directory:
    """Names and entities of one scope, inside a transaction of its ledger."""

    def __init__(self, ledger: Ledger, scope_name: str, self_names: frozenset[str]) -> None:
        self.ledger = ledger
        self.scope_name = scope_name
        self.self_names = self_names
        self.counter = 0
        self.renamed = False  # whether a write changed what some name means, or what some entity is called
        self._rows: dict[str, list[AliasRow]] = {}
        self._labels: dict[int, list[AliasRow]] = {}
        self._entities: dict[int, Entity] = {}  # of which one name holds at all times
        self._keys: dict[str, str] = {}
        self._pending: list[EntityRow | AliasRow] = []

    def begin(self, counter: int) -> None:
        """Forget what an earlier transaction read."""
        self.counter = counter
        self._rows.clear()
        self._labels.clear()
        self._entities.clear()
        self._keys.clear()
        self._pending.clear()

    def resume(self, counter: int) -> None:
        """Go on with what earlier transactions read: nobody else has changed it since."""
        if self._pending:
            self.begin(counter)
        self.counter = counter
        for kept in (self._rows, self._labels, self._entities, self._keys):
            if len(kept) > _KEPT:
                kept.clear()

    def flush(self) -> None:
        """Store the entities and aliases made since `begin`."""
        for table in (EntityRow, AliasRow):
            rows = [row for row in self._pending if isinstance(row, table)]
            if rows:
                self.ledger.store.insert(rows)
        self._pending.clear()

    def checkpoint(self) -> tuple[int, int]:
        """Where `undo` leads back to."""
        return self.counter, len(self._pending)

    def undo(self, checkpoint: tuple[int, int]) -> None:
        """Forget the entities and aliases made since; a claim that is refused leaves no names behind."""
        self.counter, kept = checkpoint
        for row in self._pending[kept:]:
            if isinstance(row, AliasRow):
                self._rows[row.key].remove(row)
                self._drop_label(row.entity)
        del self._pending[kept:]

    # -- looking up

    def key(self, name: str) -> str:
        """The alias key of a name, where any self name counts as one."""
        key = self._keys.get(name) if isinstance(name, str) else None  # what is no text is refused below
        if key is None:
            key = names.entity_key(name)
            if key in self.self_names:
                key = _SELF
            self._keys[name] = key
        return key

    def rows(self, key: str) -> list[AliasRow]:
        """Today's alias rows of a key."""
        found = self._rows.get(key)
        if found is None:
            found = self.ledger.store.select(AliasRow, self.ledger.scope, key=key, retracted_at=POS_INF)
            self._rows[key] = found
        return found

    def prefetch(self, keys: Iterable[str]) -> None:
        """Read the alias rows of many keys at once."""
        missing = {key for key in keys if key not in self._rows}
        if len(missing) < 2:
            return
        for key in missing:
            self._rows[key] = []
        for row in self.ledger.store.iterate(AliasRow, self.ledger.scope, key=sorted(missing), retracted_at=POS_INF):
            self._rows[row.key].append(row)

    def number(self, entity: Entity) -> int:
        """The stored number of an entity of this scope, else NotFoundError."""
        number = entity_number(entity.id)
        if number is None or not self.exists(number):
            raise NotFoundError(f"no entity with the id {entity.id!r} is in this scope")
        return number

    def exists(self, number: int) -> bool:
        """Whether the scope has the entity."""
        if any(isinstance(row, EntityRow) and row.id == number for row in self._pending):
            return True
        return bool(self.ledger.store.select(EntityRow, self.ledger.scope, id=number))

    def find(self, name: str | Entity, snapshot: Snapshot, instant: int | None = None) -> list[int]:
        """Every entity that a name means today, after the merges of the snapshot.

        Where an instant is given and several bear the name, only those whose alias is valid then are left, if any.
        """
        if isinstance(name, Entity):
            number = entity_number(name.id)
            return [snapshot.entity(number)] if number is not None and self.exists(number) else []
        rows = self.rows(self.key(name))
        found = list(dict.fromkeys(snapshot.entity(row.entity) for row in rows))
        if len(found) > 1 and instant is not None:
            valid = [row for row in rows if row.valid_from <= instant < row.valid_to]
            found = list(dict.fromkeys(snapshot.entity(row.entity) for row in valid)) or found
        return found

    def ever(self, name: str | Entity, snapshot: Snapshot) -> list[int]:
        """Entities that once bore the name."""
        if isinstance(name, Entity):
            return []
        rows = self.ledger.store.select(AliasRow, self.ledger.scope, key=self.key(name), retracted_at__lt=POS_INF)
        return list(dict.fromkeys(snapshot.entity(row.entity) for row in rows))

    def one(self, name: str | Entity, snapshot: Snapshot, instant: int | None = None) -> int | None:
        """The entity that a name means, None if unknown; AmbiguousNameError if several bear it."""
        found = self.find(name, snapshot, instant)
        if len(found) > 1:
            shown = name.label if isinstance(name, Entity) else name
            raise AmbiguousNameError(
                f"{shown!r} names {len(found)} entities: {self._listed(found)}; pass one of .candidates, or a name "
                "that only one of them bears",
                [self.entity(number) for number in found],
            )
        return found[0] if found else None

    def known(self, name: str | Entity, snapshot: Snapshot, instant: int | None = None) -> int:
        """The entity that a name means; NotFoundError with look-alikes if there is none."""
        found = self.one(name, snapshot, instant)
        if found is not None:
            return found
        if isinstance(name, Entity):
            raise NotFoundError(f"no entity with the id {name.id!r} is in this scope")
        near = self.look_alikes(name)
        hint = f"; did you mean {', '.join(repr(e.label) for e in near)}?" if near else ""
        raise NotFoundError(f"no entity is called {name!r}{hint}", near)

    def look_alikes(self, name: str, limit: int = 5) -> list[Entity]:
        """Entities with a name that looks like this one: suggestions, never a resolution."""
        rows = self.ledger.store.select(AliasRow, self.ledger.scope, retracted_at=POS_INF, limit=20_000)
        by_name: dict[str, int] = {}
        for row in rows:
            by_name.setdefault(row.name, row.entity)
        snapshot = self.ledger.at()
        near = [snapshot.entity(by_name[found]) for found in names.look_alikes(name, by_name, limit)]
        return [self.entity(number) for number in dict.fromkeys(near)]

    # -- labels

    def entity(self, number: int, instant: int | None = None) -> Entity:
        """The entity with its primary name at an instant (None: the latest)."""
        found = self._entities.get(number)
        if found is None:
            found = Entity(public_id(number), self.label(number, instant))
            if len(self._labels[number]) == 1:
                self._entities[number] = found
        return found

    def label(self, number: int, instant: int | None = None) -> str:
        """The primary name of an entity: the one valid at the instant, the latest given winning."""
        rows = self._labels.get(number)
        if rows is None:
            self.prefetch_labels([number])
            rows = self._labels[number]
        return chosen_name(rows, instant)

    def names_of(self, numbers: Iterable[int]) -> dict[int, tuple[AliasRow, ...]]:
        """The primary names of entities, each with all of its own, for `chosen_name`."""
        wanted = set(numbers)
        self.prefetch_labels(wanted)
        return {number: tuple(self._labels[number]) for number in wanted}

    def only_label(self, number: int) -> str | None:
        """The primary name of an entity, if it has never had another."""
        if number not in self._labels:
            self.prefetch_labels([number])
        rows = self._labels[number]
        return rows[0].name if len(rows) == 1 else None

    def labels(self, numbers: Iterable[int], instant: int | None = None) -> dict[int, str]:
        """The primary names of many entities at an instant."""
        wanted = set(numbers)
        self.prefetch_entities(wanted)
        return {number: self.entity(number, instant).label for number in wanted}

    def only_labels(self) -> dict[int, str]:
        """The primary name of every entity that has never had another, read at once."""
        found: dict[int, str] = {}
        several: set[int] = set()
        told = self.ledger.store.tuples(AliasRow, self.ledger.scope, ("entity", "name", "kind"), retracted_at=POS_INF)
        for entity, name, kind in told:
            if kind != "alias" and found.setdefault(entity, name) != name:
                several.add(entity)
        return {entity: name for entity, name in found.items() if entity not in several}

    def prefetch_entities(self, numbers: AbstractSet[int]) -> None:
        """Read what many entities are called: of very many in one go, as most have only ever had one name."""
        if len(numbers) > _MOST and not self._pending:
            missing = numbers - self._entities.keys() - self._labels.keys()
            only = self.only_labels() if len(missing) > _MOST else {}
            self._entities.update((number, Entity(public_id(number), only[number])) for number in missing & only.keys())
        self.prefetch_labels(numbers - self._entities.keys())

    def prefetch_labels(self, numbers: Iterable[int]) -> None:
        """Read the primary names of many entities at once."""
        missing = sorted({number for number in numbers if number not in self._labels})
        if not missing:
            return
        for number in missing:
            self._labels[number] = []
        store, scope = self.ledger.store, self.ledger.scope
        found: Iterable[AliasRow]
        if len(missing) <= _FEW:
            found = [
                r for number in missing for r in store.select(AliasRow, scope, entity=number, retracted_at=POS_INF)
            ]
        elif len(missing) <= _MOST:
            found = store.iterate(AliasRow, scope, entity=missing, retracted_at=POS_INF)
        else:  # then every name is read sooner than each is looked up
            wanted = set(missing)
            found = (r for r in store.iterate(AliasRow, scope, retracted_at=POS_INF) if r.entity in wanted)
        for row in found:
            if row.kind != "alias":
                self._labels[row.entity].append(row)
        for made in self._pending:
            if isinstance(made, AliasRow) and made.kind != "alias" and made.entity in missing:
                self._labels[made.entity].append(made)

    def _drop_label(self, number: int) -> None:
        self._labels.pop(number, None)
        self._entities.pop(number, None)

    def _listed(self, numbers: Sequence[int]) -> str:
        return ", ".join(f"{self.label(n)} ({public_id(n)})" for n in numbers[:5]) + (" …" if len(numbers) > 5 else "")

    # -- writing

    def resolve(self, name: str | Entity, instant: int, recorded_at: int, source: str) -> int:
        """The entity that a claim speaks of, made if the name is new; the id that the claim is written with."""
        if isinstance(name, Entity):
            return self.number(name)
        rows = self.rows(self.key(name))
        if not rows:
            return self.create(name, recorded_at, source)
        if len(rows) == 1:
            return rows[0].entity
        snapshot = self.ledger.at()
        if len({snapshot.entity(row.entity) for row in rows}) > 1:
            valid = [row for row in rows if row.valid_from <= instant < row.valid_to]
            if len({snapshot.entity(row.entity) for row in valid}) != 1:
                found = list(dict.fromkeys(snapshot.entity(row.entity) for row in rows))
                raise RejectedError(
                    "ambiguous_entity",
                    f"{name!r} names {len(found)} entities: {self._listed(found)}; pass one of v.candidates(name) "
                    "instead of the name, or use a name that only one of them bears",
                )
            rows = valid
        return min(rows, key=lambda row: row.recorded_at).entity

    def borne(self, name: str | Entity, instant: int) -> int:
        """The entity that a name was given to, be it merged with another; for names that one is known to bear."""
        return self.resolve(name, instant, instant, "")

    def create(
        self, name: str, recorded_at: int, source: str, bounds: Bounds | None = None, *, number: int | None = None
    ) -> int:
        """A new entity whose primary name this is; its number is one that the scope never gave, or the one given."""
        key = self.key(name)
        if number is None:
            self.counter += 1
            seed = f"{self.scope_name}\x00{self.counter}".encode()
            number = int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest(), "big") >> 1
        label = name.strip()
        self._pending.append(EntityRow(self.ledger.scope, number, label, key, recorded_at))
        self.ledger.made(number, key)
        self._labels[number] = []
        self._add(key, number, label, "self" if key == _SELF else "primary", bounds, source, recorded_at)
        return number

    def _add(
        self, key: str, number: int, name: str, kind: str, bounds: Bounds | None, source: str, recorded_at: int
    ) -> None:
        start, end, text = bounds or (NEG_INF, POS_INF, "")
        row = AliasRow(self.ledger.scope, key, number, name, kind, start, end, text, source, recorded_at, POS_INF)
        self.renamed = self.renamed or bool(self.rows(key))
        self._pending.append(row)
        self.rows(key).append(row)
        if kind != "alias":
            self._entities.pop(number, None)
            if number in self._labels:
                self._labels[number].append(row)

    def alias(
        self, name: str, number: int, bounds: Bounds, recorded_at: int, source: str, *, primary: bool, homonym: bool
    ) -> None:
        """Give an entity one more name; a name that another bears is refused unless said to be a homonym."""
        key = self.key(name)
        snapshot = self.ledger.at()
        if key == _SELF and all(row.entity != number for row in self.rows(key)):
            raise InputError(f"{name!r} always means the user; merge the other entity into the user instead")
        others = [row.entity for row in self.rows(key) if snapshot.entity(row.entity) != snapshot.entity(number)]
        if others and not homonym:
            bearer = self.label(snapshot.entity(others[0]))
            raise AmbiguousNameError(
                f"{name!r} already names another entity ({bearer}): merge the two with names.merge if they are one, "
                "or pass homonym=True if they only share the name",
                [self.entity(snapshot.entity(other)) for other in dict.fromkeys(others)],
            )
        kind = "primary" if primary else "alias"
        same = [row for row in self.rows(key) if row.entity == number and row.kind in (kind, "primary")]
        if any((row.valid_from, row.valid_to) == bounds[:2] for row in same):
            return
        self.renamed = True
        self._add(key, number, name.strip(), kind, bounds, source, recorded_at)

    def unalias(self, name: str, number: int, recorded_at: int) -> None:
        """Take a name back from an entity."""
        key = self.key(name)
        rows = [row for row in self.rows(key) if row.entity == number]
        if not rows:
            raise NotFoundError(f"{name!r} is no name of {self.label(number)!r}")
        left = [
            row
            for row in self.ledger.store.select(AliasRow, self.ledger.scope, entity=number, retracted_at=POS_INF)
            if row.key != key and row.kind != "alias"
        ]
        if any(row.kind != "alias" for row in rows) and not left:
            raise InputError(f"{name!r} is the only primary name of the entity; give it another primary name first")
        self.ledger.store.update(
            AliasRow, self.ledger.scope, {"retracted_at": recorded_at}, key=key, entity=number, retracted_at=POS_INF
        )
        self._rows.pop(key, None)
        self._drop_label(number)
        self.renamed = True

    def aliases(self, number: int) -> list[str]:
        """Every name of an entity and of those merged into it, primary ones first."""
        members = self.ledger.at().members.get(number, [number])
        rows = self.ledger.store.select(AliasRow, self.ledger.scope, entity=members, retracted_at=POS_INF)
        rows.sort(key=lambda row: (row.kind == "alias", row.recorded_at, row.name))
        return list(dict.fromkeys(row.name for row in rows))

    def declare(self, name: str, label: str | None, bounds: Bounds, recorded_at: int, source: str) -> int:
        """The entity whose primary name is the label, made if absent, marked as one of its own."""
        primary = label or name
        rows = [row for row in self.rows(self.key(primary)) if row.kind != "alias"]
        own_bounds = bounds if label is None else None
        number = rows[0].entity if rows else self.create(primary, recorded_at, source, own_bounds)
        if label is not None and self.key(label) != self.key(name):
            self.alias(name, number, bounds, recorded_at, source, primary=False, homonym=True)
        self.flush()
        if number not in self.ledger.records.declared:
            self.ledger.store.insert([DeclaredRow(self.ledger.scope, number, recorded_at)])
            self.ledger.records.declared[number] = recorded_at
        return number

    # -- merging

    def merge(
        self, duplicate: str | Entity, into: str | Entity, recorded_at: int, reason: str | None
    ) -> tuple[int, int]:
        """Redirect one entity to another; both ids."""
        snapshot = self.ledger.at()
        src, dst = self.known(duplicate, snapshot), self.known(into, snapshot)
        if src == dst and dst in self._written_as(duplicate):
            raise InputError(
                f"{_shown(duplicate)!r} can't be merged into {_shown(into)!r}: they are one entity already"
            )
        if src == dst:
            return src, dst
        if self.ledger.store.select(ApartRow, self.ledger.scope, a=min(src, dst), b=max(src, dst)):
            raise InputError(f"{self.label(src)!r} and {self.label(dst)!r} were said to be different (keep_apart)")
        # It goes with the entity that was named, also when that is parted from what it is merged into itself.
        named = next(number for number in self._written_as(into) if snapshot.entity(number) == dst)
        self.ledger.store.insert([RedirectRow(self.ledger.scope, src, named, recorded_at, POS_INF, reason)])
        self.ledger.forget_records()
        return src, dst

    def unmerge(self, duplicate: str | Entity, recorded_at: int) -> tuple[int, int]:
        """End the redirect of an entity, found by any name that was written for it; both ids."""
        active = {row.src: row for row in self.ledger.records.redirects if row.ended_at == POS_INF}
        found = [number for number in self._written_as(duplicate) if number in active]
        if not found:
            raise NotFoundError(f"{_shown(duplicate)!r} is not merged into anything")
        if len(found) > 1:
            raise AmbiguousNameError(
                f"{_shown(duplicate)!r} names {len(found)} merged entities: {self._listed(found)}",
                [self.entity(number) for number in found],
            )
        row = active[found[0]]
        self.ledger.store.update(
            RedirectRow, self.ledger.scope, {"ended_at": recorded_at}, src=row.src, recorded_at=row.recorded_at
        )
        self.ledger.forget_records()
        return row.src, row.dst

    def _written_as(self, name: str | Entity) -> list[int]:
        if isinstance(name, Entity):
            return [self.number(name)]
        key = self.key(name)
        return list(dict.fromkeys(row.entity for row in self.rows(key)))

    def keep_apart(self, a: str | Entity, b: str | Entity, recorded_at: int) -> None:
        """Say that two entities are different, whatever their names look like."""
        snapshot = self.ledger.at()
        first, second = sorted((self.known(a, snapshot), self.known(b, snapshot)))
        if first == second:
            raise InputError(f"{_shown(a)!r} and {_shown(b)!r} are one entity; unmerge them first")
        self.ledger.store.insert([ApartRow(self.ledger.scope, first, second, recorded_at)], replace=True)


Bounds = tuple[int, int, str]  # from, to, and the stored text of both


def alias_bounds(start: Bound | None, end: Bound | None) -> Bounds:
    """The validity of an alias as columns; no start is always, no end is open."""
    text = "" if start is None and end is None else f"{start.stored if start else ''}\n{end.stored if end else ''}"
    first = NEG_INF if start is None else start.instant
    last = POS_INF if end is None else end.instant
    if first >= last:
        raise RejectedError("empty_interval", f"the alias would end ({end}) before it begins ({start})")
    return first, last, text


def _shown(name: str | Entity) -> str:
    return name.label if isinstance(name, Entity) else name
