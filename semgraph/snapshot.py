"""What was known at one moment: the `Evidence` that belief asks, read through the ledger of a scope."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from semgraph.holdings import Holdings
    from semgraph.store.schema import ClaimRow
    from semgraph.vocabulary import Predicate

__all__ = ["Snapshot"]

_NO_PAIRS: frozenset[frozenset[str]] = frozenset()


class Snapshot:
    """What was known at one moment: the `Evidence` that `Belief` asks."""

    def __init__(self, ledger: Holdings, known_at: int, *, everything: bool = False) -> None:
        self.ledger = ledger
        self.known_at = known_at
        self.everything = everything
        self.registry = ledger.registry(known_at)
        self._entries: dict[str, Predicate] = {}

    @property
    def justified(self) -> bool:
        """Whether any claim of the scope rests on premises."""
        return self.ledger.records.justified

    @cached_property
    def redirects(self) -> dict[int, int]:
        """Where each merged entity leads, chains followed."""
        now = self.known_at
        direct = {r.src: r.dst for r in self.ledger.records.redirects if r.recorded_at <= now < r.ended_at}
        if now == POS_INF:
            direct = {r.src: r.dst for r in self.ledger.records.redirects if r.ended_at == POS_INF}
        out = {}
        for src in direct:
            end = direct[src]
            while end in direct:
                end = direct[end]
            out[src] = end
        return out

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The entities that lead to each surviving one, itself included."""
        out: dict[int, list[int]] = {}
        for src, dst in sorted(self.redirects.items()):
            out.setdefault(dst, [dst]).append(src)
        return out

    def entity(self, raw: int) -> int:
        return self.redirects.get(raw, raw) if self.redirects else raw

    def resolved(self, ref: str) -> str:
        """A reference after merges."""
        return f"e{self.entity(int(ref[1:]))}" if self.redirects and ref.startswith("e") else ref

    def predicate(self, name: str) -> Predicate:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = self.registry.entry(self.registry.canonical(name))
        return entry

    @property
    def _sees_all(self) -> bool:
        return self.known_at == POS_INF and not self.ledger.records.retractions

    def visible(self, row: ClaimRow) -> bool:
        """Whether the claim was recorded and not withdrawn then."""
        if self.everything:
            return True
        if row.recorded_at > self.known_at:
            return False
        marks = self.ledger.records.retractions
        if row.id not in marks:
            return True
        if self.known_at == POS_INF:
            return all(mark.ended_at != POS_INF for mark in marks[row.id])
        return not any(mark.recorded_at <= self.known_at < mark.ended_at for mark in marks[row.id])

    def on_subject(self, subject: int, predicate: str) -> list[ClaimRow]:
        raws = self.members.get(subject) or ([] if subject in self.redirects else [subject])
        rows = self.ledger.on_subjects(raws, predicate)
        return rows if self._sees_all else [row for row in rows if self.visible(row)]

    def on_object(self, ref: str, predicate: str) -> list[ClaimRow]:
        refs = [ref]
        if ref.startswith("e"):
            entity = int(ref[1:])
            raws = self.members.get(entity) or ([] if entity in self.redirects else [entity])
            refs = [f"e{raw}" for raw in raws]
        return [row for row in self.ledger.on_objects(refs, predicate) if self.visible(row)]

    def claim(self, claim: str) -> ClaimRow | None:
        row = self.ledger.claim(claim)
        return row if row is not None and self.visible(row) else None

    def justifications(self, claim: str) -> list[list[str]] | None:
        rows = self.ledger.justification_rows(claim)
        if not rows:
            return None
        groups: dict[int, list[str]] = {}
        for row in rows:
            if row.recorded_at <= self.known_at:
                groups.setdefault(row.justification, []).append(row.premise)
        return None if [""] in groups.values() else list(groups.values())

    def compatible(self, subject: int, predicate: str) -> frozenset[frozenset[str]]:
        if not self.ledger.records.compat:
            return _NO_PAIRS
        return frozenset(
            frozenset((self.resolved(row.a), self.resolved(row.b)))
            for row in self.ledger.records.compat
            if row.recorded_at <= self.known_at
            and self.entity(row.subject) == subject
            and self.registry.canonical(row.predicate) == predicate
        )

    def name_key(self, ref: str) -> str:
        return self.ledger.name_key(int(ref[1:])) if ref.startswith("e") else ref[2:]

    def declared(self, ref: str) -> bool:
        if not ref.startswith("e"):
            return False
        declared = self.ledger.records.declared
        entity = int(ref[1:])
        return any(raw in declared and declared[raw] <= self.known_at for raw in self.members.get(entity, (entity,)))
