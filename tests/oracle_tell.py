"""What the reference model tells about a write: told from the folds before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle_model import Claim, Obj, Outcome, Value
from oracle_read import Reader

if TYPE_CHECKING:
    from oracle import Oracle
    from oracle_world import World


class Telling:
    """Mixed into Oracle, so that each file stays readable."""

    def _told(self: Oracle, claim: Claim, because: list[frozenset[str]]) -> Outcome:
        """Store a claim, and tell from the folds before and after what it did."""
        before = self.world()
        stored = self._store(claim, because)
        if stored != "NEW":
            return Outcome(stored, claims=[claim.id])
        after = self.world()
        outcome = Outcome(self._code(claim, after), claims=[claim.id])
        outcome.closed = self._closed_by(claim, after)
        mine = [f for f in after.facts if claim in f.claims]
        edges = _edges(claim, after)
        old = [f for f in before.facts if f.predicate == claim.predicate and (f.subject, f.value) in edges]
        met = any(f.start <= g.end and g.start <= f.end for f in mine for g in old)
        if outcome.code in ("NEW", "CONFLICT") and met:
            outcome.code = "DUPLICATE"  # the fact was there, and now begins earlier
        if outcome.code == "NEW" and not mine and claim.basis != "unknown":
            outcome.code = "SUPPRESSED"
        if outcome.code == "NEW" and not outcome.closed and self._is_history(claim, after):
            outcome.code = "HISTORY"
        if outcome.code == "NEW" and any(claim in f.claims for c in after.conflicts for f in c.facts):
            outcome.code = "CONFLICT"
        if outcome.code == "DUPLICATE":
            outcome.widened = any(not any(g.start <= f.start and f.end <= g.end for g in old) for f in mine)
        return outcome

    @staticmethod
    def _code(claim: Claim, world: World) -> str:
        if claim in world.masked:
            return "SUPPRESSED"
        rows = [row for _, told in world.told.get(claim.id, []) for row in told.rows]
        if "10" in rows:
            return "SUPPRESSED"
        if claim.explicit_end:
            return "CONFLICT" if {"11", "14"} & set(rows) else "ENDED"
        if "4" in rows or "7" in rows:
            return "DUPLICATE"
        for code, wanted in (
            ("CONFLICT", {"11", "14"}),
            ("REFINEMENT", {"6"}),
            ("SPLIT", {"13"}),
            ("UPDATE", {"9", "12"}),
        ):
            if wanted & set(rows):
                return code
        if claim.basis == "unknown" and any(v in _values(claim, world) for v in world.facts):
            return "DUPLICATE"
        return "NEW"

    def _closed_by(self: Oracle, claim: Claim, world: World) -> list[str]:
        found = []
        for _, told in world.told.get(claim.id, []):
            found += [self._label(value[1]) for value in told.closed if value[0] == "+" and value[1] is not None]
        return sorted(set(found))

    def _label(self: Oracle, obj: Obj | None) -> str:
        return Reader(self.world(), list(self.claims.values()), explicit=False).label(obj, self.now)

    @staticmethod
    def _is_history(claim: Claim, world: World) -> bool:
        if world.entry(claim).cardinality not in ("one", "once") or claim.negative:
            return False
        mine = [f for f in world.facts if claim in f.claims]
        later = [g for f in mine for g in world.facts if g.fluent == f.fluent and not g.negative and g not in mine]
        return bool(mine) and any(all(f.end <= g.start for f in mine) for g in later)


def _edges(claim: Claim, world: World) -> set[tuple[int, Value]]:
    return set(world.ends(claim))


def _values(claim: Claim, world: World) -> list[Any]:
    return [f for f in world.facts if (f.subject, f.value) in _edges(claim, world) and f.predicate == claim.predicate]
