"""What a write changed, looked up by claim and by value: what outcomes and receipts are told from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.factrow import Body
    from semgraph.ledger import Change
    from semgraph.segment import Value
    from semgraph.store.schema import ClaimRow, FactRow

    Trace = dict[str, list[tuple[float, str, Value]]]

__all__ = ["Admitted", "Effect", "Key", "Trace", "Written", "key_of"]

Key = tuple[int, str, str, int, str]  # the edge and sign of a fact, whenever it holds


@dataclass(slots=True)
class Admitted:
    """A claim of a write: its row, and what became of it before any fold."""

    row: ClaimRow
    fresh: bool = True
    justified: bool = False  # an old claim that gained a justification


class Effect(NamedTuple):
    """A fact that a write changed, with its bodies before and after."""

    change: Change
    before: Body | None
    after: Body | None


def key_of(row: FactRow) -> Key:
    """The edge and sign of a fact."""
    return (row.subject, row.predicate, row.object, row.negative, row.separators)


class Written:
    """A finished write: its claims in input order, what changed, and the trace of their starts."""

    def __init__(
        self,
        admitted: Sequence[Admitted],
        changes: Sequence[Change],
        trace: Trace,
        recorded_at: int,
    ) -> None:
        self.admitted = admitted
        self.changes = changes
        self.trace = trace
        self.recorded_at = recorded_at

    @cached_property
    def facts(self) -> list[Effect]:
        """The changes, with what they changed from and to."""
        return [
            Effect(
                change,
                None if change.before is None else factrow.decode(change.before),
                change.body if change.after is None or change.body is not None else factrow.decode(change.after),
            )
            for change in self.changes
        ]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each new claim stands in the input."""
        return {one.row.id: index for index, one in enumerate(self.admitted) if one.fresh}

    @cached_property
    def before(self) -> dict[str, FactRow]:
        """The changed facts as they were."""
        return {c.before.id: c.before for c in self.changes if c.before is not None}

    @cached_property
    def after(self) -> dict[str, FactRow]:
        """The changed facts as they are."""
        return {c.after.id: c.after for c in self.changes if c.after is not None}

    @cached_property
    def _supported(self) -> dict[str, list[Effect]]:
        return _by_claim(self.facts, ("claims",))

    @cached_property
    def _absorbing(self) -> dict[str, list[Effect]]:
        return _by_claim(self.facts, ("absorbed",))

    @cached_property
    def _ended(self) -> dict[str, list[Effect]]:
        return _by_claim(self.facts, ("ended_by",))

    @cached_property
    def _touched(self) -> dict[str, list[Effect]]:
        return _by_claim(self.facts, ("claims", "absorbed"))

    @cached_property
    def _of_key_before(self) -> dict[Key, list[Effect]]:
        found: dict[Key, list[Effect]] = {}
        for effect in self.facts:
            if effect.change.before is not None:
                found.setdefault(key_of(effect.change.before), []).append(effect)
        return found

    @cached_property
    def _of_key_after(self) -> dict[Key, list[Effect]]:
        found: dict[Key, list[Effect]] = {}
        for effect in self.facts:
            if effect.change.after is not None:
                found.setdefault(key_of(effect.change.after), []).append(effect)
        return found

    def supported_by(self, claim: str) -> list[Effect]:
        """The changed facts that the claim now supports."""
        return self._supported.get(claim, [])

    def absorbing(self, claim: str) -> list[Effect]:
        """The changed facts of a finer value that the claim now renews."""
        return self._absorbing.get(claim, [])

    def touched_by(self, claim: str) -> list[Effect]:
        """The changed facts that the claim supports or renews."""
        return self._touched.get(claim, [])

    def ended_by(self, claim: str) -> list[Effect]:
        """The changed facts that the claim now ends."""
        return self._ended.get(claim, [])

    def bodies_before(self, keys: set[Key]) -> list[Body]:
        """What the changed facts of these edges were before."""
        return [e.before for key in keys for e in self._of_key_before.get(key, ()) if e.before is not None]

    def end_of(self, key: Key, default: int) -> int:
        """When the last changed fact of the edge ends now."""
        rows = (e.change.after for e in self._of_key_after.get(key, ()))
        return max((row.valid_to for row in rows if row is not None), default=default)

    def widened(self, keys: set[Key]) -> bool:
        """Whether the edges hold for longer than before."""
        old = [(e.change.before, e.before) for key in keys for e in self._of_key_before.get(key, ())]
        new = [(e.change.after, e.after) for key in keys for e in self._of_key_after.get(key, ())]
        return _length(new) > _length(old)


def _by_claim(facts: Sequence[Effect], parts: Sequence[str]) -> dict[str, list[Effect]]:
    found: dict[str, list[Effect]] = {}
    for effect in facts:
        if effect.after is not None:
            for claim in dict.fromkeys(claim for part in parts for claim in getattr(effect.after, part)):
                found.setdefault(claim, []).append(effect)
    return found


def _length(facts: Sequence[tuple[FactRow | None, Body | None]]) -> int:
    return sum(
        min(row.valid_to, POS_INF) - row.valid_from
        for row, body in facts
        if row is not None and body is not None and body.basis != "unknown"
    )
