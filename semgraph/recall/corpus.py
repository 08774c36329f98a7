"""What can be recalled at one view: the positive facts in its time, with the words and the entities at their ends."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from semgraph.names import is_hashed_key
from semgraph.recall.words import words
from semgraph.store.schema import ClaimRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.reader import Reader, Reading
    from semgraph.walk.cut import Cut

__all__ = ["Candidate", "Corpus"]


class Candidate(NamedTuple):
    """A fact that may be recalled; `far` is the entity at its other end, None for a literal."""

    id: str
    near: int
    far: int | None
    reading: Reading


class Corpus:
    """The candidates, by id, and which of them stand at an entity."""

    def __init__(self, reader: Reader, cut: Cut, min_confidence: float) -> None:
        self.reader = reader
        self.cut = cut
        self._floor = min_confidence
        self._names: dict[str, str] = {}
        self._predicates: dict[str, list[str]] = {}
        self.facts: dict[str, Candidate] = {}
        self.at: dict[int, list[str]] = defaultdict(list)
        for candidate in sorted(self._read(), key=lambda c: c.id):
            self.facts[candidate.id] = candidate
            self.at[candidate.near].append(candidate.id)
            if candidate.far is not None and candidate.far != candidate.near:
                self.at[candidate.far].append(candidate.id)

    def _read(self) -> Iterator[Candidate]:
        for row in self.reader.rows(**self.cut.conditions()):
            shown = row.predicate
            if row.negative:
                shown = self._opposite(row.predicate)
                if not shown:
                    continue
            for number, reading in enumerate(self.reader.reading(row, shown, flipped=bool(row.negative))):
                if self.cut.holds(reading.row, reading.body) and reading.body.base >= self._floor:
                    far = int(row.object[1:]) if row.object.startswith("e") else None
                    yield Candidate(f"{row.id}#{number}" if number else row.id, row.subject, far, reading)

    def _opposite(self, predicate: str) -> str:
        """The name under which a negative fact reads as a positive one; nothing where there is none."""
        if predicate not in self._names:
            self._names[predicate] = next(iter(self.reader.snapshot.registry.opposites_of(predicate)), "")
        return self._names[predicate]

    def documents(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Each candidate's words: of its subject, predicate, object, and of what its sources wrote."""
        texts = self._texts()
        directory, instant = self.reader.directory, self.cut.instant
        directory.prefetch_labels(self.at)
        for candidate in self.facts.values():
            row, body = candidate.reading.row, candidate.reading.body
            near = words(directory.label(candidate.near, instant))
            if candidate.far is None:
                far = words(texts.get(row.object, row.object[2:]))
            else:
                far = words(directory.label(candidate.far, instant))
            told = [words(text) for text in dict.fromkeys(texts[c] for c in body.claims if c in texts)]
            yield candidate.id, [near, self.predicate_words(candidate.reading.predicate), far, *told]

    def predicate_words(self, name: str) -> list[str]:
        """The words of a predicate, and those of the names that mean the same."""
        found = self._predicates.get(name)
        if found is None:
            registry = self.reader.snapshot.registry
            spelled = (name, *registry.entry(name).aliases, *registry.inverses_of(name))
            found = list(dict.fromkeys(word for each in spelled for word in words(each)))
            self._predicates[name] = found
        return found

    def _texts(self) -> dict[str, str]:
        """The sentence of each claim that has one; by reference, literals too long to be their own key."""
        ledger = self.reader.ledger
        found = {row.id: row.text for row in ledger.store.select(ClaimRow, ledger.scope, text__ge="") if row.text}
        hashed = {
            c.reading.row.object: c.reading.body.claims[0]
            for c in self.facts.values()
            if c.far is None and is_hashed_key(c.reading.row.object[2:]) and c.reading.body.claims
        }
        claims = ledger.fetch(hashed.values())
        return found | {ref: claims[claim].object_text for ref, claim in hashed.items() if claim in claims}
