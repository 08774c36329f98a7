"""Values of a predicate that nobody defined: which stand beside which, worked out when somebody looks.

Such values are flagged and never supersede each other, so a new one changes nothing about the others; storing the
pairs would make every write as large as the fluent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph import names
from semgraph.gate import source_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.factrow import Body
    from semgraph.snapshot import Snapshot
    from semgraph.store.schema import ClaimRow, FactRow

__all__ = ["Parallel"]


class _Value(NamedTuple):
    row: FactRow
    breaths: frozenset[tuple[str, str, object]]
    imported: bool
    key: str


class Parallel:
    """The positive facts of one fluent of an unregistered predicate."""

    def __init__(
        self, facts: Sequence[tuple[FactRow, Body]], claims: Mapping[str, ClaimRow], snapshot: Snapshot
    ) -> None:
        positive = [(row, body) for row, body in facts if not row.negative]
        self._values = [
            _value(row, [claims[c] for c in body.claims], [claims[c] for c in body.absorbed], snapshot)
            for row, body in positive
            if body.basis != "unknown"
        ]
        self._by_id = {value.row.id: value for value in self._values}
        # One word that a value is said beside others counts for all its segments, whenever it speaks of.
        self._additive = {
            row.object
            for row, body in positive
            if any(claims[c].kind == "also" for c in (*body.claims, *body.absorbed))
        }
        self._apart = self._kept_apart(snapshot)

    def rivals(self, fact: str) -> list[tuple[str, int, int, bool]]:
        """The facts that a fact can't be told to agree with, and when both hold, as `Body.rivals` has them."""
        mine = self._by_id.get(fact)
        if mine is None or mine.row.object in self._additive:
            return []
        start, end = mine.row.valid_from, mine.row.valid_to
        return sorted(
            (other.row.id, max(start, other.row.valid_from), min(end, other.row.valid_to), False)
            for other in self._values
            if other.row.valid_from < end and start < other.row.valid_to and self._excludes(mine, other)
        )

    def _excludes(self, a: _Value, b: _Value) -> bool:
        if a.row.object == b.row.object or b.row.object in self._additive or not a.breaths.isdisjoint(b.breaths):
            return False
        return self._apart.isdisjoint((frozenset((a.row.object, b.row.object)), frozenset((a.row.id, b.row.id))))

    def _kept_apart(self, snapshot: Snapshot) -> set[frozenset[str]]:
        """Pairs of values that somebody keeps side by side, and of facts of which one is a finer word for the other."""
        if not self._values:
            return set()
        row = self._values[0].row
        pairs = set(snapshot.compatible(row.subject, row.predicate))
        if snapshot.predicate(row.predicate).norefine:
            return pairs
        by_key: dict[str, list[_Value]] = {}
        for value in self._values:
            by_key.setdefault(value.key, []).append(value)
        for finer in self._values:
            cut = finer.key.find(" ")
            while cut > 0:
                for coarser in by_key.get(finer.key[:cut], ()):
                    said = not finer.imported and not coarser.imported
                    if said and names.refines(finer.key, coarser.key) and not snapshot.declared(finer.row.object):
                        pairs.add(frozenset((finer.row.id, coarser.row.id)))
                cut = finer.key.find(" ", cut + 1)
        return pairs


def _value(row: FactRow, claims: Sequence[ClaimRow], absorbed: Sequence[ClaimRow], snapshot: Snapshot) -> _Value:
    breaths: set[tuple[str, str, object]] = {(c.source, "said", c.said_at) for c in claims}
    breaths |= {(c.source, "ref", c.source_ref) for c in claims if c.source_ref is not None}
    return _Value(
        row,
        frozenset(breaths),
        all(source_class(c.source) == "imported" for c in (*claims, *absorbed)),
        snapshot.name_key(row.object),
    )
