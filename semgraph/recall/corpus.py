"""What can be recalled at one view: the positive facts in its time, reached by the claims behind them or by entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph.errors import StoreCorrupt
from semgraph.factrow import DAMAGED
from semgraph.index.marks import LITERAL, NEGATIVE, NOTHING, UNKNOWN_START
from semgraph.recall.living import Living, rows_at
from semgraph.temporal import NEG_INF, POS_INF
from semgraph.vocabulary import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semgraph.index.columns import Columns
    from semgraph.reader import Reader, Reading
    from semgraph.recall.library import Library
    from semgraph.store.schema import ClaimRow, FactRow
    from semgraph.walk.cut import Cut

__all__ = ["MANY", "Candidate", "Corpus"]

_LOOKS = 100  # at facts, by a question
_ASK = NEGATIVE | UNKNOWN_START  # flags of rows that do not tell all
MANY = 50  # facts at an entity; the name of one that has more says little of each


class Candidate(NamedTuple):
    """A fact that may be recalled: its ends (`far` is None for a literal), its time, and whether it is a sentence."""

    id: str
    near: int
    far: int | None
    start: int = NEG_INF
    end: int = POS_INF
    sentence: bool = False

    @property
    def ends(self) -> tuple[int, ...]:
        """The entities at its ends."""
        return (self.near,) if self.far is None or self.far == self.near else (self.near, self.far)


class Corpus:
    """Facts by id, as far as somebody asked for them; what is not in the view's time is in none of the answers.

    With columns, what is told of a fact comes from them as far as it can, and its row is read when its `reading` is
    asked for.
    """

    def __init__(self, reader: Reader, cut: Cut, min_confidence: float) -> None:
        self.reader = reader
        self.cut = cut
        self._floor = min_confidence
        self._names: dict[str, str] = {}
        self._read: dict[str, tuple[Candidate, ...]] = {}
        self._behind: dict[str, tuple[Candidate, ...]] = {}
        self._around: dict[int, tuple[Candidate, ...]] = {}
        self._hubs: dict[int, bool] = {}
        self._readings: dict[str, Reading] = {}
        self.columns = self._columns()
        self.facts: dict[str, Candidate] = {}
        self.documents: dict[str, int] = {}  # by fact, the number of a text that tells it, where a channel met one

    def _columns(self) -> Columns | None:
        """The facts as columns in memory, where the view sees what is believed now and they are worth it."""
        reader = self.reader
        if reader.snapshot.known_at < reader.session.last_recorded:
            return None
        return reader.session.columns(reads=_LOOKS, identified=True)

    def living(self, library: Library) -> NDArray[np.bool_] | None:
        """Which documents may stand for a fact of the view, as far as that is known without asking the store."""
        if self.columns is None:
            return None
        return self._placed(self.columns, library).mask(self.cut, len(library.text))

    def alive(self, library: Library) -> NDArray[np.intp] | None:
        """Those documents; None where nothing is known of that."""
        if self.columns is None:
            return None
        return self._placed(self.columns, library).alive(self.cut, len(library.text))

    def _placed(self, columns: Columns, library: Library) -> Living:
        members = self.reader.snapshot.members
        known = library.living
        if known is None or not known.fits(columns, library.text, members):
            known = library.living = Living(columns, library.text, members)
        return known

    def told(self, library: Library, documents: Sequence[int]) -> list[tuple[Candidate, ...]]:
        """For each document the facts that it stands for."""
        ids = library.text.ids
        if self.columns is None:
            return self.behind([ids[document] for document in documents])
        placed = self._placed(self.columns, library)
        found: list[tuple[Candidate, ...] | None] = []
        for document in documents:
            row = placed.row_of(document)
            plain = row >= 0 and not self.columns.flags[row] & _ASK
            found.append(self._shown(self.columns, row) if plain else None)
        rest = [ids[document] for document, facts in zip(documents, found, strict=True) if facts is None]
        asked = iter(self.behind(rest))
        return [next(asked) if facts is None else facts for facts in found]

    def _shown(self, columns: Columns, row: int) -> tuple[Candidate, ...]:
        """The plain fact of a row that is in the view's time, if it is as sure as asked."""
        if columns.sure_of(row) < self._floor:
            return ()
        name = columns.id_of(row)
        found = self.facts.get(name)
        if found is None:
            far = int(columns.object[row])
            found = self.facts[name] = Candidate(
                name,
                columns.entity(int(columns.subject[row])),
                None if far >= NOTHING else columns.entity(far),
                int(columns.start[row]),
                int(columns.end[row]),
                columns.predicates[int(columns.predicate[row])] == STATES,
            )
        return (found,)

    def reading(self, fact: str) -> Reading:
        """A fact that was found, as a reading."""
        if fact not in self._readings:
            self.read([fact])
        return self._readings[fact]

    def read(self, facts: Iterable[str]) -> None:
        """Read facts that were found, as far as they are not yet, together; StoreCorrupt if one is not there."""
        late = dict.fromkeys(fact for fact in facts if fact not in self._readings)
        rows = self.reader.by_id(late)
        if len(rows) < len(late):
            raise StoreCorrupt(DAMAGED)
        for name, row in rows.items():
            self._readings[name] = self.reader.plain(row)

    def behind(self, claims: Sequence[str]) -> list[tuple[Candidate, ...]]:
        """For each claim the facts that it supports."""
        unknown = [claim for claim in dict.fromkeys(claims) if claim not in self._behind]
        first = self.reader.by_id(unknown)  # a fact has the id of its earliest claim
        rest = []
        for claim in unknown:
            row = first.get(claim)
            found = self._candidates(row) if row is not None else ()
            if not found:
                rest.append(claim)
            self._behind[claim] = found
        for claim, told in self.reader.ledger.fetch(rest).items():
            if self._lives(told):
                near = (c for row in self._near(told) for c in self._candidates(row))
                self._behind[claim] = tuple(candidate for candidate in near if self._stands_for(claim, candidate))
        return [self._behind[claim] for claim in claims]

    def _lives(self, claim: ClaimRow) -> bool:
        """Whether some fact between the ends of a claim is in the view's time, as far as the columns tell."""
        columns, snapshot = self.columns, self.reader.snapshot
        if columns is None:
            return True
        entry = snapshot.predicate(claim.predicate)
        subject = snapshot.entity(claim.subject)
        if not claim.object.startswith("e"):
            return self._held(columns, columns.rows(subject, entry.name), LITERAL)
        target = snapshot.entity(int(claim.object[1:]))
        there = self._held(columns, columns.rows(subject, entry.name), columns.node(target))
        if there or not entry.symmetric:
            return there
        return self._held(columns, columns.rows(target, entry.name), columns.node(subject))

    def _held(self, columns: Columns, rows: Iterable[int], far: int) -> bool:
        return any(columns.object[r] == far and self.cut.meets(columns.start[r], columns.end[r]) for r in rows)

    def _near(self, claim: ClaimRow) -> Iterator[FactRow]:
        """The facts that a claim may support, of which it is not the first."""
        snapshot = self.reader.snapshot
        entry = snapshot.predicate(claim.predicate)
        where = {"predicate": entry.name, **self.cut.conditions()}
        subject = snapshot.entity(claim.subject)
        if not claim.object.startswith("e"):
            # The predicate may have very many facts of this subject, and few of this value.
            yield from (row for row in self.reader.rows(object=claim.object, **where) if row.subject == subject)
            return
        target = snapshot.entity(int(claim.object[1:]))
        yield from self.reader.rows(subject=subject, object=f"e{target}", **where)
        if entry.symmetric and target != subject:
            yield from self.reader.rows(subject=target, object=f"e{subject}", **where)

    def at(self, entity: int) -> tuple[Candidate, ...]:
        """The facts at an entity, by id; none at one with too many."""
        if entity not in self._around:
            self.look([entity])
        return self._around[entity]

    def look(self, entities: Sequence[int], enough: int = 1) -> None:
        """Take in the facts at several entities, as long as those before have not enough."""
        for entity in entities:
            if enough <= 0:
                break
            if entity in self._around:
                enough -= len(self._around[entity])
            elif self.columns is None:
                enough -= self._take(self._rows_at([entity], limit=MANY + 1))
            else:
                enough -= self._met(self.columns, entity)

    def _take(self, near: Mapping[int, Mapping[str, FactRow]]) -> int:
        """How many candidates the rows at some entities make."""
        for entity, rows in near.items():
            self._hubs[entity] = len(rows) > MANY
            some = () if self._hubs[entity] else (c for key in sorted(rows) for c in self._candidates(rows[key]))
            self._around[entity] = tuple(sorted(some, key=_named))
        return sum(len(self._around[entity]) for entity in near)

    def _met(self, columns: Columns, entity: int) -> int:
        """How many facts are at an entity, which are taken in unless they are too many."""
        rows = rows_at(columns, entity, self.cut)
        self._hubs[entity] = len(rows) > MANY
        if self._hubs[entity]:
            self._around[entity] = ()
            return 0
        plain = columns.flags[rows] & _ASK == 0
        found = [candidate for row in rows[plain].tolist() for candidate in self._shown(columns, row)]
        names = [columns.id_of(row) for row in rows[~plain].tolist()]
        found += [candidate for row in self.reader.by_id(names).values() for candidate in self._candidates(row)]
        self._around[entity] = tuple(sorted(found, key=_named))
        return len(found)

    def _rows_at(self, entities: Sequence[int], limit: int | None = None) -> dict[int, dict[str, FactRow]]:
        """The facts at each entity, by id."""
        found: dict[int, dict[str, FactRow]] = {each: {} for each in entities}
        if not entities:
            return found
        where = {**self.cut.conditions(), "order": None, "limit": limit}
        one = len(entities) == 1
        for row in self.reader.rows(subject=entities[0] if one else list(entities), **where):
            found[row.subject][row.id] = row
        refs = [f"e{each}" for each in entities]
        for row in self.reader.rows(object=refs[0] if one else refs, **where):
            found[int(row.object[1:])][row.id] = row
        return found

    def is_hub(self, entity: int) -> bool:
        """Whether an entity has so many facts that its name says little of each."""
        if entity not in self._hubs:
            self.look([entity])
        return self._hubs[entity]

    def said_at(self, fact: str) -> int:
        """When the fact was last said."""
        claims = self.reader.ledger.fetch(self.reading(fact).body.claims)
        return max((claim.said_at for claim in claims.values()), default=NEG_INF)

    def _candidates(self, row: FactRow) -> tuple[Candidate, ...]:
        found = self._read.get(row.id)
        if found is None:
            found = self._read[row.id] = tuple(self._made(row))
            self.facts.update((candidate.id, candidate) for candidate in found)
        return found

    def _made(self, row: FactRow) -> Iterable[Candidate]:
        if not self.cut.meets(row.valid_from, row.valid_to):
            return
        shown = row.predicate
        if row.negative:
            shown = self._opposite(row.predicate)
            if not shown:
                return
        told = self.reader.reading(row, shown, flipped=True) if row.negative else [self.reader.plain(row)]
        for number, reading in enumerate(told):
            if self.cut.holds(reading) and reading.body.base >= self._floor:
                far = int(row.object[1:]) if row.object.startswith("e") else None
                name = f"{row.id}#{number}" if number else row.id
                self._readings[name] = reading
                yield Candidate(name, row.subject, far, row.valid_from, row.valid_to, reading.predicate == STATES)

    def _opposite(self, predicate: str) -> str:
        """The name under which a negative fact reads as a positive one; nothing where there is none."""
        if predicate not in self._names:
            self._names[predicate] = next(iter(self.reader.snapshot.registry.opposites_of(predicate)), "")
        return self._names[predicate]

    def _stands_for(self, claim: str, candidate: Candidate) -> bool:
        body = self.reading(candidate.id).body
        return claim in body.claims or claim in body.absorbed


def _named(candidate: Candidate) -> tuple[str, int]:
    """In the order of the facts' ids, and of their parts."""
    name, _, part = candidate.id.partition("#")
    return name, int(part or 0)
