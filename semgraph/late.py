"""What facts rest on, kept as it was read; the objects that few readers ask for are made when somebody does.

Nothing is read later: claims, names, retractions and premises are those of the moment of the read, so a fact says the
same whatever was written or forgotten since, and when its store is closed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.model import LATE, Claim, Fact
from semgraph.statement import value_of
from semgraph.temporal import POS_INF, Bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.factrow import Body
    from semgraph.model import Entity, Literal
    from semgraph.store.schema import ClaimRow, FactRow

__all__ = ["Grounds", "at", "late_fact"]

Groups = tuple[tuple[str, ...], ...]

# A frozen class is filled through its slots.
_later = Fact._late.__set__  # type: ignore[attr-defined]  # noqa: SLF001
_SETTERS: Final = [getattr(Fact, name).__set__ for name in Fact.__dataclass_fields__ if name not in LATE]


def at(instant: int) -> Bound:
    """The bound at that very microsecond; the same object for those that are asked for often."""
    return Bound.from_stored(instant, "")


class Grounds:
    """What some facts of one read rest on."""

    __slots__ = ("_because", "_entities", "_withdrawn")

    def __init__(
        self, entities: Mapping[int, Entity], withdrawn: Mapping[str, int], because: Mapping[str, Groups]
    ) -> None:
        self._entities = entities
        self._withdrawn = withdrawn
        self._because = because

    def claim(self, row: ClaimRow) -> Claim:
        """The claim of a row."""
        withdrawn = self._withdrawn.get(row.id)
        return Claim(
            id=row.id,
            subject=self._entities[row.subject],
            predicate=row.predicate,
            object=self._object(row),
            negative=bool(row.negative),
            kind=row.kind,
            valid_from=None if row.valid_from is None else Bound.from_stored(row.valid_from, row.valid_from_text),
            valid_to=None if row.valid_to is None else Bound.from_stored(row.valid_to, row.valid_to_text),
            said_at=at(row.said_at),
            recorded_at=at(row.recorded_at),
            source=row.source,
            source_ref=row.source_ref,
            confidence=row.confidence,
            qualifiers=_qualifiers(row),
            text=row.text,
            because=self._because.get(row.id, ()),
            retracted_at=None if withdrawn is None else at(withdrawn),
        )

    def _object(self, row: ClaimRow) -> Entity | Literal | None:
        if row.object.startswith("e"):
            return self._entities[int(row.object[1:])]
        return value_of(row) if row.object else None

    def because(self, claim: str) -> Groups:
        """The premises that a claim rests on."""
        return self._because.get(claim, ())


class _Support(NamedTuple):
    """Where a fact finds the attributes that were not made yet: the names are those of `LATE`."""

    grounds: Grounds
    row: FactRow
    body: Body
    rows: Sequence[ClaimRow]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.source for row in self.rows))

    @property
    def qualifiers(self) -> dict[str, Any]:
        return _qualifiers(self.rows[0]) if self.rows else {}

    @property
    def claims(self) -> list[Claim]:
        return [self.grounds.claim(row) for row in self.rows]

    @property
    def text(self) -> str | None:
        return next((row.text for row in reversed(self.rows) if row.text), None)

    @property
    def recorded_at(self) -> Bound:
        return at(self.rows[0].recorded_at if self.rows else self.row.sys_from)

    @property
    def system_from(self) -> Bound:
        return at(self.row.sys_from)

    @property
    def system_to(self) -> Bound | None:
        return None if self.row.sys_to == POS_INF else at(self.row.sys_to)

    @property
    def supersedes(self) -> tuple[str, ...]:
        return tuple(self.body.supersedes)

    @property
    def ended_by(self) -> tuple[str, ...]:
        return tuple(self.body.ended_by)

    @property
    def because(self) -> Groups:
        return tuple(group for row in self.rows for group in self.grounds.because(row.id))


def _qualifiers(row: ClaimRow) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row.qualifiers) if row.qualifiers else {}
    return found


def late_fact(
    grounds: Grounds, row: FactRow, body: Body, supporting: Sequence[ClaimRow], told: tuple[Any, ...]
) -> Fact:
    """A fact with the attributes that are told at once, in the order of the class; the others wait."""
    fact = object.__new__(Fact)
    for fill, value in zip(_SETTERS, told, strict=True):
        fill(fact, value)
    _later(fact, _Support(grounds, row, body, supporting))
    return fact
