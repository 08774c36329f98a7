"""What can be recalled at one view: the positive facts in its time, reached by the claims behind them or by entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from semgraph.reader import Reader, Reading
    from semgraph.store.schema import ClaimRow, FactRow
    from semgraph.walk.cut import Cut

__all__ = ["MANY", "Candidate", "Corpus"]

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
        self.facts: dict[str, Candidate] = {}
        self.documents: dict[str, int] = {}  # by fact, the number of a text that tells it, where a channel met one

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
            near = (c for row in self._near(told) for c in self._candidates(row))
            self._behind[claim] = tuple(candidate for candidate in near if _told(claim, candidate))
        return [self._behind[claim] for claim in claims]

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
        """The facts at an entity, by id; of one with many facts some, and more than `MANY`."""
        found = self._around.get(entity)
        if found is None:
            where = self.cut.conditions()
            rows = self.reader.rows(subject=entity, limit=MANY + 1, **where)
            rows += self.reader.rows(object=f"e{entity}", limit=MANY + 1, **where)
            unique = {row.id: row for row in rows}
            found = tuple(c for key in sorted(unique) for c in self._candidates(unique[key]))
            self._around[entity] = found
        return found

    def is_hub(self, entity: int) -> bool:
        """Whether an entity has so many facts that its name says little of each."""
        return len(self.at(entity)) > MANY

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
        for number, reading in enumerate(self.reader.reading(row, shown, flipped=bool(row.negative))):
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
