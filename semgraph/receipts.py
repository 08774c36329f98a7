"""What a receipt says, and receipts of single writes whose costly parts are told when somebody looks at them.

A receipt speaks of the moment of its write. So nothing is read later: the write keeps the rows, claims and names that
the words and objects are made of, and only the making waits.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from semgraph.directory import chosen_name, public_id
from semgraph.model import Entity, Outcome, Receipt
from semgraph.reader import Reader, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from semgraph.effects import Admitted, Written
    from semgraph.model import Claim, Fact
    from semgraph.session import Session
    from semgraph.snapshot import Snapshot
    from semgraph.store.schema import AliasRow, ClaimRow, RetractionRow
    from semgraph.temporal import Bound

__all__ = ["Kept", "LateReceipt", "why"]

_GROUNDS = {
    "g1": "it is an explicit change",
    "g2": "its start is certainly later",
    "g3": "it was said later, by more than the window",
    "g4": "the other was only inferred",
    "g5": "it is specific where the other is general",
}
_ROWS = {
    4: "the same value holds already",
    5: "one of the two was told as additional",
    6: "it is a finer word for the value that held",
    7: "a finer word for it holds already",
    8: "the two do not exclude each other",
    8.5: "it answers an explicit end",
    9: "the other had ended, nobody knew when",
    10: "a later-told change outdates it",
    11: "a less trusted voice can't supersede",
    12: "supersedes",
    13: "a bounded exception suspends the value that held",
    14: "there is no ground to prefer either",
}
_WAYS_OUT = "settle() to choose, keep both or drop both; retract() what was said wrongly; end() what has stopped"


def why(written: Written, one: Admitted, outcome: Outcome, *, registered: bool) -> str:
    """The rows and grounds of the fold that decided, in words; for a conflict with the ways out."""
    if outcome is Outcome.IDEMPOTENT:
        return "row 1: this claim is stored already; nothing changes"
    if not one.fresh:
        return "row 1: this claim is stored already and gained a justification"
    if outcome is Outcome.SUPPRESSED and not written.trace.get(one.row.id):
        return "row 2: a denial of that value, or a missing premise, leaves nothing of it"
    told = []
    for row, ground, _ in written.trace.get(one.row.id, ()):
        because = f" because {_GROUNDS[ground]} ({ground})" if ground else ""
        name = "8a" if row == 8.5 else f"{row:g}"
        told.append(f"row {name}: {_ROWS[int(row) if row != 8.5 else 8.5]}{because}")
    alone = "nothing that competes with it holds"
    if outcome is Outcome.CONFLICT and not registered:
        alone = "row 14: nobody said how many values the predicate takes, so all stand"
    elif outcome is Outcome.CONFLICT:
        alone = "rows 11 and 14: a value that starts while it holds has no ground to end it"
    elif outcome is Outcome.UPDATE:
        alone = "row A: it is said to hold still, on grounds that end what began meanwhile"
    elif one.row.kind in ("deny", "correct"):
        alone = "row 2: the value is masked wherever no more trusted and no later word says it"
    text = "; ".join(dict.fromkeys(told)) or alone
    return f"{text}. Ways out: {_WAYS_OUT}" if outcome is Outcome.CONFLICT else text


class Kept:
    """What one claim's write keeps for its receipt; to a `Reader` it is the ledger, the directory and the session."""

    justified = False  # where claims rest on others, receipts are told at once

    def __init__(
        self,
        written: Written,
        outcome: Outcome,
        shown: tuple[Sequence[Reading], Sequence[Reading]],
        claims: dict[str, ClaimRow],
        names: Mapping[int, tuple[AliasRow, ...]],
        retractions: dict[str, list[RetractionRow]],
        snapshot: Snapshot,
        moment: int,
    ) -> None:
        self._written = written
        self._outcome = outcome
        self._held, self._closed = shown
        self._claims = claims
        self._names = names
        self.retractions = retractions
        self.known_at = snapshot.known_at
        self.predicate = snapshot.predicate
        self._moment = moment
        self._reader = Reader(cast("Session", self), cast("Snapshot", self))

    # -- what the receipt tells

    @cached_property
    def why(self) -> str:
        """The decision in words."""
        (one,) = self._written.admitted
        registered = self.predicate(one.row.predicate).registered
        return why(self._written, one, self._outcome, registered=registered)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claim as written."""
        return tuple(self._reader.claim(one.row) for one in self._written.admitted)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that the claim supports, as of the moment."""
        return tuple(self._reader.facts(self._held, self._moment))

    @cached_property
    def closed(self) -> tuple[Fact, ...]:
        """The facts that end earlier than they did."""
        return tuple(self._reader.facts(self._closed, None))

    # -- what a reader asks

    @property
    def ledger(self) -> Kept:
        """Itself: it answers for the claims."""
        return self

    directory = records = ledger

    def now(self) -> int:
        """The moment of the write."""
        return self._moment

    def fetch(self, ids: Iterable[str], *, subject: int | None) -> dict[str, ClaimRow]:  # noqa: ARG002 - all are here
        """Claims by id."""
        return {claim: self._claims[claim] for claim in dict.fromkeys(ids)}

    def prefetch_entities(self, _: Iterable[int]) -> None:
        """Nothing: the names are here."""

    def entity(self, number: int, instant: int | None = None) -> Entity:
        """An entity under the name that it had."""
        return Entity(public_id(number), chosen_name(self._names[number], instant))


class LateReceipt(Receipt):
    """A receipt that says the same as any other, and makes facts and words when they are asked for."""

    __slots__ = ("_kept",)

    _kept: Kept

    def __init__(self, outcome: Outcome, kept: Kept, recorded_at: Bound, *, widened: bool) -> None:
        given = {"outcome": outcome, "_kept": kept, "recorded_at": recorded_at, "widened": widened}
        for name, value in (_TOLD_AT_ONCE | given).items():
            object.__setattr__(self, name, value)

    @property
    def why(self) -> str:
        """The decision in words."""
        return self._kept.why

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claim as written."""
        return self._kept.claims

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that the claim supports."""
        return self._kept.facts

    @property
    def closed(self) -> tuple[Fact, ...]:
        """The facts that end earlier than they did."""
        return self._kept.closed

    def whole(self) -> Receipt:
        """The same with every part made."""
        return Receipt(**{f.name: getattr(self, f.name) for f in fields(Receipt)})

    def __eq__(self, other: object) -> bool:
        return self.whole() == (other.whole() if isinstance(other, LateReceipt) else other)

    def __hash__(self) -> int:
        return hash(self.whole())

    def __repr__(self) -> str:
        return repr(self.whole())

    def __reduce__(self) -> tuple[Any, ...]:
        return Receipt, tuple(getattr(self.whole(), f.name) for f in fields(Receipt))


_TOLD_AT_ONCE: dict[str, Any] = {"code": None, "reason": None, "conflict": None}
