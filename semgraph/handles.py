"""The nouns that hold their verbs: `kg.names`, `kg.predicates` and `kg.vetoes`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from semgraph import names as name_rules
from semgraph import remembering
from semgraph.directory import alias_bounds
from semgraph.gate import check_note, check_source
from semgraph.model import Entity, MergeSuggestion, Veto
from semgraph.store.schema import AliasRow, ApartRow, ClaimRow, DefinitionRow
from semgraph.temporal import POS_INF
from semgraph.vocabulary import make_predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from semgraph.directory import Bounds
    from semgraph.ledger import Fluent
    from semgraph.session import Session, When
    from semgraph.vocabulary import Predicate

    Name = str | Entity

__all__ = ["Names", "Predicates", "Vetoes"]


class Names:
    """The alias table of a scope."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def declare(
        self, name: str, *, label: str | None = None, valid_from: When | None = None, valid_to: When | None = None
    ) -> Entity:
        """The entity whose primary name is the label (or the name), made if absent, marked as one of its own.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.names.declare("postgres 16", label="Postgres 16").label  # no finer "Postgres", but a thing of its own
        'Postgres 16'
        """
        bounds = self._bounds(valid_from, valid_to)
        with self._session.write() as recorded_at:
            remembering.check_phrases(self._session, [name, label])
            directory, ledger = self._session.directory, self._session.ledger
            number = directory.declare(name, label, bounds, recorded_at, self._session.config.source)
            ledger.refold(ledger.as_values([number]), recorded_at)
            return directory.entity(ledger.at().entity(number))

    def alias(
        self,
        name: str,
        entity: Name,
        *,
        valid_from: When | None = None,
        valid_to: When | None = None,
        primary: bool = False,
        homonym: bool = False,
        source: str | None = None,
    ) -> Entity:
        """The entity, which the name now means too; an unknown entity is made.

        Raises:
            AmbiguousNameError: another entity bears the name; merge the two, or say that they are homonyms.


        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.names.alias("Bob", "Robert Smith")
        >>> _ = kg.add("Bob", "lives_in", "Leeds")
        >>> kg.value("Robert Smith", "lives_in")
        'Leeds'
        """
        bounds = self._bounds(valid_from, valid_to)
        with self._session.write() as recorded_at:
            remembering.check_phrases(self._session, [name, str(entity)])
            directory, snapshot = self._session.directory, self._session.ledger.at()
            voice = self._session.config.source if source is None else check_source(source)
            found = directory.one(entity, snapshot)
            if found is None and isinstance(entity, Entity):
                directory.known(entity, snapshot)
            number = directory.create(str(entity), recorded_at, voice) if found is None else found
            directory.alias(name, number, bounds, recorded_at, voice, primary=primary, homonym=homonym)
            directory.flush()
            return directory.entity(number)

    def unalias(self, name: str, entity: Name) -> None:
        """The name no longer means the entity.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.names.alias("Bob", "Robert Smith")
        >>> kg.names.unalias("Bob", "Robert Smith")
        >>> kg.names.aliases("Robert Smith")
        ['Robert Smith']
        """
        with self._session.write() as recorded_at:
            directory = self._session.directory
            directory.unalias(name, directory.known(entity, self._session.ledger.at()), recorded_at)

    def aliases(self, entity: Name) -> list[str]:
        """Every name of an entity, primary ones first.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.names.alias("Bob", "Robert Smith")
        >>> kg.names.aliases("bob")
        ['Robert Smith', 'Bob']
        """
        with self._session.read():
            directory = self._session.directory
            return directory.aliases(directory.known(entity, self._session.ledger.at()))

    def merge(self, duplicate: Name, into: Name, *, reason: str | None = None) -> Entity:
        """The entity that both are from now on; `unmerge` takes it back without loss.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Bob", "lives_in", "Leeds")
        >>> _ = kg.add("Robert Smith", "works_at", "Acme")
        >>> _ = kg.names.merge("Bob", "Robert Smith", reason="same phone number")
        >>> sorted(kg.about("Robert Smith"))
        ['lives_in', 'works_at']
        """
        check_note(reason, "reason")
        with self._session.write() as recorded_at:
            directory, ledger = self._session.directory, self._session.ledger
            before = self._around(duplicate) | self._around(into)
            _, dst = directory.merge(duplicate, into, recorded_at, reason)
            ledger.refold(self._whole(before), recorded_at)
            return directory.entity(dst)

    def unmerge(self, duplicate: Name) -> Entity:
        """The entity that had been merged, itself again; any name that was written for it finds it.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Bob", "lives_in", "Leeds")
        >>> _ = kg.add("Robert Smith", "works_at", "Acme")
        >>> _ = kg.names.merge("Bob", "Robert Smith")
        >>> kg.names.unmerge("Bob").label, sorted(kg.about("Robert Smith"))
        ('Bob', ['works_at'])
        """
        with self._session.write() as recorded_at:
            directory, ledger = self._session.directory, self._session.ledger
            src, dst = directory.unmerge(duplicate, recorded_at)
            parted = self._members(src) | self._members(dst)  # each may hold others that were merged into it
            ledger.refold(self._whole(self._fluents_at(parted)), recorded_at)
            return directory.entity(src)

    def keep_apart(self, a: Name, b: Name) -> None:
        """Say that two entities are different: they are never suggested as one, and merging them is refused.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Jon Smith", "lives_in", "Leeds"), kg.add("John Smith", "lives_in", "York")
        >>> kg.names.keep_apart("Jon Smith", "John Smith")
        >>> list(kg.names.suggest())
        []
        """
        with self._session.write() as recorded_at:
            self._session.directory.keep_apart(a, b, recorded_at)

    def suggest(self, *, min_score: float = 90) -> Iterator[MergeSuggestion]:
        """Entities whose names look alike, best first; suggestions only, nothing is merged.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Jon Smith", "lives_in", "Leeds"), kg.add("John Smith", "works_at", "Acme")
        >>> [(found.a.label, found.b.label) for found in kg.names.suggest()]
        [('Jon Smith', 'John Smith')]
        """
        with self._session.read():
            ledger, directory = self._session.ledger, self._session.directory
            snapshot = ledger.at()
            by_entity: dict[str, list[str]] = {}
            numbers: dict[str, int] = {}
            for row in ledger.store.iterate(AliasRow, ledger.scope, retracted_at=POS_INF):
                number = snapshot.entity(row.entity)
                numbers[str(number)] = number
                by_entity.setdefault(str(number), []).append(row.name)
            apart = {
                frozenset((str(snapshot.entity(row.a)), str(snapshot.entity(row.b))))
                for row in ledger.store.select(ApartRow, ledger.scope)
            }
            found = list(name_rules.suggest(by_entity, min_score=min_score, apart=apart))
            directory.prefetch_labels({numbers[key] for a, b, *_ in found for key in (a, b)})
            made = [
                MergeSuggestion(directory.entity(numbers[a]), directory.entity(numbers[b]), score, why)
                for a, b, score, why in found
            ]
        yield from made

    def _bounds(self, valid_from: When | None, valid_to: When | None) -> Bounds:
        return alias_bounds(self._session.when(valid_from), self._session.when(valid_to))

    def _around(self, name: Name) -> set[Fluent]:
        number = self._session.directory.known(name, self._session.ledger.at())
        found = self._fluents_at(self._members(number))
        return found | {(number, predicate) for _, predicate in found}

    def _members(self, number: int) -> set[int]:
        """The entities that are now one with this one, itself too."""
        snapshot = self._session.ledger.at()
        return {number, *snapshot.members.get(snapshot.entity(number), ())}

    def _fluents_at(self, raws: Iterable[int]) -> set[Fluent]:
        """The fluents of every claim that one of the entities is an end of, as things stand."""
        ledger = self._session.ledger
        found = list(raws)
        rows = ledger.store.select(ClaimRow, ledger.scope, subject=found)
        rows += ledger.store.select(ClaimRow, ledger.scope, object=[f"e{raw}" for raw in found])
        return ledger.fluents_of(rows, ledger.at(everything=True)) | {
            (raw, ledger.registry().canonical(row.predicate)) for row in rows for raw in (row.subject,)
        }

    def _whole(self, fluents: set[Fluent]) -> set[Fluent]:
        """The fluents, also under the entities that their subjects are now, and all derived from them."""
        ledger = self._session.ledger
        snapshot = ledger.at()
        now = {(snapshot.entity(subject), predicate) for subject, predicate in fluents}
        whole = ledger.component(fluents | now)  # an entity without a claim of its own may hold those of another
        rows = [row for s, p in whole for row in ledger.on_subjects([s], p)]
        return ledger.dependents(whole | ledger.fluents_of(rows, snapshot))


class Predicates:
    """The registry of predicates: the starter vocabulary and what was defined over it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def define(
        self,
        predicate: str,
        *,
        cardinality: str | None = None,
        range: str = "any",
        inverse_of: str | None = None,
        opposite: str | None = None,
        aliases: Iterable[str] = (),
        one_by: Iterable[str] = (),
        ttl_days: float | None = None,
        window_s: float | None = None,
        trust: Mapping[str, int] | None = None,
        event: bool = False,
        symmetric: bool = False,
        irreflexive: bool = False,
        unique_object: bool = False,
        profile: bool = False,
        sensitive: bool = False,
        norefine: bool = False,
        exact: bool = False,
    ) -> Predicate:
        """The registry entry, in force from now on; facts of the predicate are computed anew.

        What was believed before stays as it was believed: an older known_at sees the older definition.


        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.predicates.define("runs_on", cardinality="one", aliases=["hosted_at"]).cardinality
        'one'
        >>> _ = kg.add("api", "runs_on", "Heroku", valid_from="2021")
        >>> _ = kg.add("api", "hosted_at", "Fly.io", valid_from="2024")
        >>> kg.value("api", "runs_on")
        'Fly.io'
        """
        options: dict[str, Any] = {
            "cardinality": cardinality,
            "range": range,
            "inverse_of": inverse_of,
            "opposite": opposite,
            "aliases": aliases,
            "one_by": one_by,
            "ttl_days": ttl_days,
            "window_s": window_s,
            "trust": trust,
            "event": event,
            "symmetric": symmetric,
            "irreflexive": irreflexive,
            "unique_object": unique_object,
            "profile": profile,
            "sensitive": sensitive,
            "norefine": norefine,
            "exact": exact,
        }
        given = {key: value for key, value in options.items() if value is not None}
        with self._session.write() as recorded_at:
            ledger = self._session.ledger
            registry = ledger.registry()
            entry = make_predicate(registry.canonical_of(predicate), **given)
            registry.check(entry)
            renames = [alias for alias in entry.aliases if registry.canonical(alias) != entry.name]
            names = [entry.name, *entry.aliases]
            before = self._fluents(names)
            ledger.store.insert(
                [DefinitionRow(ledger.scope, entry.name, recorded_at, json.dumps(entry.to_dict(), sort_keys=True))]
            )
            ledger.forget_records()
            ledger.begin()
            touched = ledger.dependents(before | self._fluents(names))
            if renames and any(predicate in renames for _, predicate in before):
                ledger.rebuild(touched)  # aliases are those of today at every known_at
            else:
                ledger.refold(touched, recorded_at)
            return ledger.registry().entry(entry.name)

    def _fluents(self, names: Iterable[str]) -> set[Fluent]:
        ledger = self._session.ledger
        rows = ledger.store.select(ClaimRow, ledger.scope, predicate=list(names))
        snapshot = ledger.at(everything=True)
        found = {(snapshot.entity(row.subject), snapshot.predicate(row.predicate).name) for row in rows}
        ends = {
            (snapshot.entity(int(row.object[1:])), p)
            for row in rows
            if row.object.startswith("e")
            for p in (snapshot.predicate(row.predicate).name,)
        }
        return found | ends

    def __getitem__(self, name: str) -> Predicate:
        with self._session.read():
            return self._session.ledger.registry()[name]

    def __contains__(self, name: object) -> bool:
        with self._session.read():
            return name in self._session.ledger.registry()

    def __iter__(self) -> Iterator[str]:
        with self._session.read():
            found = list(self._session.ledger.registry())
        return iter(found)

    def __len__(self) -> int:
        with self._session.read():
            return len(self._session.ledger.registry())


class Vetoes:
    """What must never be stored in a scope; `kg.veto` adds to it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __iter__(self) -> Iterator[Veto]:
        """Every veto, in the order in which they were said."""
        return iter(remembering.vetoes(self._session))

    def lift(self, *, phrase: str | None = None, entity: Name | None = None, predicate: str | None = None) -> None:
        """Nothing; what was vetoed may be stored again. What was refused meanwhile has to be told again.

        Raises:
            NotFoundError: there is no such veto.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.veto(phrase="Project Bluebird")
        >>> [veto.value for veto in kg.vetoes]
        ['project bluebird']
        >>> kg.vetoes.lift(phrase="project bluebird")
        >>> list(kg.vetoes)
        []
        """
        remembering.lift(self._session, phrase=phrase, entity=entity, predicate=predicate)
