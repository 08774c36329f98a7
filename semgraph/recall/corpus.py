"""What can be recalled at one view: the positive facts in its time, reached by the claims behind them or by entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph.index.marks import LITERAL
from semgraph.recall.living import Living, degree
from semgraph.temporal import NEG_INF

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
MANY = 50  # facts at an entity; the name of one that has more says little of each


class Candidate(NamedTuple):
    """A fact that may be recalled; `far` is the entity at its other end, None for a literal."""

    id: str
    near: int
    far: int | None
    reading: Reading

    @property
    def ends(self) -> tuple[int, ...]:
        """The entities at its ends."""
        return (self.near,) if self.far is None or self.far == self.near else (self.near, self.far)


class Corpus:
    """Facts by id, as far as somebody asked for them; what is not in the view's time is in none of the answers."""

    def __init__(self, reader: Reader, cut: Cut, min_confidence: float) -> None:
        self.reader = reader
        self.cut = cut
        self._floor = min_confidence
        self._names: dict[str, str] = {}
        self._read: dict[str, tuple[Candidate, ...]] = {}
        self._behind: dict[str, tuple[Candidate, ...]] = {}
        self._around: dict[int, tuple[Candidate, ...]] = {}
        self._hubs: dict[int, bool] = {}
        self.columns = self._columns()
        self.facts: dict[str, Candidate] = {}
        self.documents: dict[str, int] = {}  # by fact, the number of a text that tells it, where a channel met one

    def _columns(self) -> Columns | None:
        """The facts as columns in memory, where the view sees what is believed now and they are worth it."""
        reader = self.reader
        if reader.snapshot.known_at < reader.session.last_recorded:
            return None
        return reader.session.columns(reads=_LOOKS)

    def living(self, library: Library, documents: NDArray[np.intp]) -> NDArray[np.bool_] | None:
        """Which of the documents may stand for a fact of the view, as far as that is known without asking the store."""
        if self.columns is None:
            return None
        members = self.reader.snapshot.members
        known = library.living
        if known is None or not known.fits(self.columns, library.text, members):
            known = library.living = Living(self.columns, library.text, members)
        return known.among(documents, self.cut)

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
                self._behind[claim] = tuple(candidate for candidate in near if _told(claim, candidate))
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
        """Read the facts at several entities together, as long as those before have not enough."""
        fresh: list[int] = []
        for entity in entities:
            if enough <= 0:
                break
            if entity in self._around:
                enough -= len(self._around[entity])
            elif self.columns is None:
                near = self._rows_at([entity], limit=MANY + 1)
                enough -= self._take(near)
            else:
                facts = self._degree(self.columns, entity)
                if facts > MANY:
                    self._around[entity] = ()
                else:
                    fresh.append(entity)
                    enough -= facts
        self._take(self._rows_at(fresh))

    def _take(self, near: Mapping[int, Mapping[str, FactRow]]) -> int:
        """How many candidates the rows at some entities make."""
        for entity, rows in near.items():
            self._hubs[entity] = len(rows) > MANY
            some = () if self._hubs[entity] else (c for key in sorted(rows) for c in self._candidates(rows[key]))
            self._around[entity] = tuple(some)
        return sum(len(self._around[entity]) for entity in near)

    def _degree(self, columns: Columns, entity: int) -> int:
        facts = degree(columns, entity, self.cut)
        self._hubs[entity] = facts > MANY
        return facts

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
            if self.columns is None:
                self.at(entity)
            else:
                self._degree(self.columns, entity)
        return self._hubs[entity]

    def said_at(self, fact: str) -> int:
        """When the fact was last said."""
        claims = self.reader.ledger.fetch(self.facts[fact].reading.body.claims)
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
                yield Candidate(f"{row.id}#{number}" if number else row.id, row.subject, far, reading)

    def _opposite(self, predicate: str) -> str:
        """The name under which a negative fact reads as a positive one; nothing where there is none."""
        if predicate not in self._names:
            self._names[predicate] = next(iter(self.reader.snapshot.registry.opposites_of(predicate)), "")
        return self._names[predicate]


def _told(claim: str, candidate: Candidate) -> bool:
    body = candidate.reading.body
    return claim in body.claims or claim in body.absorbed
