"""From claims to facts: what a fluent's claims, and all they depend on, make true as of one moment of knowledge.

The fold decides within one fluent. This module prepares its statements (denials, cuts through an opposite, premises,
time-to-live), folds mirrored fluents for unique objects and symmetric predicates, and gives every resulting edge an
id, its rivals, and the windows in which it is certain or possible. Pure: all it knows comes from `Evidence`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from semgraph import names
from semgraph.draft import Draft, Rival, intersect, link, near_values, note_clash, number, unknown_starts
from semgraph.fold import fold
from semgraph.premises import Premises
from semgraph.segment import (
    Policy,
    Segment,
    Statement,
    Value,
    certain_window,
    clashes,
    excludes,
    possible_starts,
    possible_window,
)
from semgraph.stating import Evidence, Stating, base_confidence, separators_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.store.schema import ClaimRow
    from semgraph.vocabulary import Predicate

__all__ = ["Belief", "Evidence", "base_confidence"]


@dataclass(slots=True)
class _Folded:
    """One fluent, folded."""

    policy: Policy
    statements: list[Statement]
    segments: list[Segment]
    additive: set[Value]


class Belief:
    """The facts of fluents under one `Evidence`, each computed once."""

    def __init__(
        self,
        evidence: Evidence,
        *,
        trace: dict[str, list[tuple[float, str, Value]]] | None = None,
    ) -> None:
        self.evidence = evidence
        self.trace = trace
        self.rows: dict[str, ClaimRow] = {}
        self._premises = Premises(evidence, self)
        self._stating = Stating(evidence, self._premises.allowed)
        self._policies: dict[tuple[str, str], Policy] = {}
        self._forward: dict[tuple[int, str], dict[str, _Folded]] = {}
        self._mirror: dict[tuple[str, str], _Folded] = {}
        self._edges: dict[tuple[int, str], list[Draft]] = {}
        self._finished: set[tuple[int, str]] = set()

    # -- public

    def facts(self, subject: int, predicate: str) -> list[Draft]:
        """The facts of every fluent of `(subject, predicate)`; of a symmetric one, all edges seen from that end."""
        self._premises.settle((subject, predicate))
        drafts = self._edges_of(subject, predicate)
        if (subject, predicate) in self._finished:
            return drafts
        self._finished.add((subject, predicate))
        folded = self._folded(subject, predicate)
        for separators, group in groupby(drafts, key=lambda d: d.separators):
            self._add_rivals(list(group), folded[separators])
        if self._mirrored(predicate):
            self._mirror_rivals(subject, predicate, drafts)
        for draft in drafts:
            draft.rivals.sort()
        return drafts

    def policy(self, subject: int, entry: Predicate, cardinality: str) -> Policy:
        """How the values of a fluent compete."""
        policy = self._policy(entry, cardinality)
        compatible = self.evidence.compatible(subject, entry.name)
        return replace(policy, compatible=compatible) if compatible else policy

    def dependencies(self, subject: int, predicate: str) -> list[tuple[ClaimRow, list[tuple[int, str]]]]:
        """Every claim that the fluent's facts are folded from, each with the fluents of its premises."""
        return [(row, self._premises.fluents_of(row.id)) for row in self.sources(subject, predicate)]

    def sources(self, subject: int, predicate: str) -> list[ClaimRow]:
        """Every claim that the fluent's facts are folded from, those at the far ends of its edges too."""
        rows = list(self._claims(subject, predicate))
        if self._mirrored(predicate):
            refs = {self._ref(row, subject, predicate) for row in rows} - {""}
            rows += [row for ref in sorted(refs) for row in self._mirror_rows(predicate, ref)]
        return rows

    def neighbours(self, subject: int, predicate: str) -> set[tuple[int, str]]:
        """The fluents that share an edge's far end with this one, where that matters."""
        if not self._mirrored(predicate):
            return set()
        found = set()
        for ref in {self._ref(row, subject, predicate) for row in self._claims(subject, predicate)} - {""}:
            if self.evidence.predicate(predicate).symmetric and ref.startswith("e"):
                found.add((int(ref[1:]), predicate))
            found |= {(self.evidence.entity(row.subject), predicate) for row in self._mirror_rows(predicate, ref)}
        return found

    def suppressed(self, claim: ClaimRow) -> bool:
        """Whether a denial or a cut leaves nothing of the claim."""
        made = self._statements(self._group_of(claim), lambda row: self.evidence.resolved(row.object))
        return all(statement.claim != claim.id for statement in made)

    # -- for premises

    def held(self, fluent: tuple[int, str]) -> dict[str, list[tuple[int, int]]]:
        """When the facts of the fluent hold that each claim supports."""
        found: dict[str, list[tuple[int, int]]] = {}
        for draft in self._edges_of(*fluent):
            if draft.segment.basis != "unknown":
                for claim in [row.id for row in draft.claims] + draft.absorbed:
                    found.setdefault(claim, []).append((draft.segment.start, draft.segment.end))
        return found

    def drop(self, fluent: tuple[int, str]) -> None:
        """Forget what was computed of the fluent."""
        if self._mirrored(fluent[1]):
            self._mirror.clear()
            self._forward.clear()
            self._edges.clear()
            self._finished.clear()
        self._forward.pop(fluent, None)
        self._edges.pop(fluent, None)
        self._finished.discard(fluent)

    # -- folding

    def _folded(self, subject: int, predicate: str) -> dict[str, _Folded]:
        found = self._forward.get((subject, predicate))
        if found is None:
            groups: dict[str, list[ClaimRow]] = {}
            entry = self.evidence.predicate(predicate)
            for row in self._claims(subject, predicate):
                separators = separators_of(row.qualifiers, entry) if entry.one_by else ""
                groups.setdefault(separators, []).append(row)
            found = {sep: self._fold_group(subject, predicate, sep, rows) for sep, rows in sorted(groups.items())}
            self._forward[subject, predicate] = found
        return found

    def _fold_group(self, subject: int, predicate: str, separators: str, rows: list[ClaimRow]) -> _Folded:
        entry = self.evidence.predicate(predicate)
        policy = self.policy(subject, entry, "one" if separators else entry.cardinality)
        statements = self._statements(rows, lambda row: self._ref(row, subject, predicate))
        return self._fold(statements, policy, trace=self.trace)

    def _fold(
        self, statements: list[Statement], policy: Policy, trace: dict[str, list[tuple[float, str, Value]]] | None
    ) -> _Folded:
        segments = fold(statements, policy, trace=trace)
        beside = [s for s in statements if s.also and not s.value.negative]
        if policy.cardinality == "unregistered":  # as `parallel` has it, which knows no claim that supports nothing
            supports = {span.statement.claim for g in segments for span in g.spans}
            beside = [s for s in beside if s.basis == "unknown" or s.claim in supports]
        return _Folded(policy, statements, segments, {s.value for s in beside})

    def _mirror_fold(self, predicate: str, ref: str) -> _Folded:
        """The fluent of `(predicate, object)` with the subjects as values."""
        found = self._mirror.get((predicate, ref))
        if found is None:
            entry = self.evidence.predicate(predicate)
            if entry.symmetric:
                (found,) = list(self._folded(int(ref[1:]), predicate).values())[:1] or [
                    self._fold([], self._policy(entry, entry.cardinality), None)
                ]
            else:
                rows = self._mirror_rows(predicate, ref)
                statements = self._statements(rows, lambda row: f"e{self.evidence.entity(row.subject)}")
                found = self._fold(statements, self._policy(entry, "one"), self.trace)
            self._mirror[predicate, ref] = found
        return found

    def _mirror_rows(self, predicate: str, ref: str) -> list[ClaimRow]:
        if self.evidence.predicate(predicate).symmetric:
            return self._claims(int(ref[1:]), predicate) if ref.startswith("e") else []
        return self.evidence.on_object(ref, predicate)

    def _mirrored(self, predicate: str) -> bool:
        entry = self.evidence.predicate(predicate)
        return entry.unique_object or entry.symmetric

    def _policy(self, entry: Predicate, cardinality: str) -> Policy:
        found = self._policies.get((entry.name, cardinality))
        if found is None:
            refines = None if entry.norefine else self._refines
            found = Policy(cardinality, round(entry.window_s * 1_000_000), entry.event, refines)
            self._policies[entry.name, cardinality] = found
        return found

    def _refines(self, finer: str, coarser: str) -> bool:
        evidence = self.evidence
        return names.refines(evidence.name_key(finer), evidence.name_key(coarser)) and not evidence.declared(finer)

    def _claims(self, subject: int, predicate: str) -> list[ClaimRow]:
        rows = self.evidence.on_subject(subject, predicate)
        if self.evidence.predicate(predicate).symmetric:
            known = {row.id for row in rows}
            rows = rows + [r for r in self.evidence.on_object(f"e{subject}", predicate) if r.id not in known]
        return rows

    def _ref(self, row: ClaimRow, subject: int, predicate: str) -> str:
        """The object of the claim as seen from `subject`, which is its object where the edge is symmetric."""
        if self.evidence.predicate(predicate).symmetric and self.evidence.entity(row.subject) != subject:
            return f"e{self.evidence.entity(row.subject)}"
        return self.evidence.resolved(row.object)

    def _group_of(self, claim: ClaimRow) -> list[ClaimRow]:
        entry = self.evidence.predicate(claim.predicate)
        separators = separators_of(claim.qualifiers, entry)
        rows = self._claims(self.evidence.entity(claim.subject), entry.name)
        return [row for row in rows if separators_of(row.qualifiers, entry) == separators]

    def _statements(self, rows: list[ClaimRow], value_of: Callable[[ClaimRow], str]) -> list[Statement]:
        self.rows.update((row.id, row) for row in rows)
        return self._stating.statements(rows, value_of)

    # -- edges

    def _edges_of(self, subject: int, predicate: str) -> list[Draft]:
        found = self._edges.get((subject, predicate))
        if found is None:
            found = []
            for separators, folded in self._folded(subject, predicate).items():
                found += self._assemble(subject, predicate, separators, folded)
            self._edges[subject, predicate] = found
        return found

    def _assemble(self, subject: int, predicate: str, separators: str, folded: _Folded) -> list[Draft]:
        segments = list(folded.segments)
        if self._mirrored(predicate):
            segments = [piece for g in segments for piece in self._held_by_both_ends(subject, predicate, g)]
        segments += unknown_starts(folded.statements)
        drafts = [self._draft(subject, predicate, separators, g) for g in segments]
        number(drafts)
        link(drafts)
        return drafts

    def _held_by_both_ends(self, subject: int, predicate: str, g: Segment) -> list[Segment]:
        """The parts of an edge that the mirrored fluent allows too."""
        if not g.value.ref or (self.evidence.predicate(predicate).symmetric and not g.value.ref.startswith("e")):
            return [g]
        mirror = self._mirror_fold(predicate, g.value.ref)
        seen = Value(f"e{subject}", g.value.negative)
        coarser = not self.evidence.predicate(predicate).symmetric
        near = (m for m in mirror.segments if m.value == seen and m.start < g.end and g.start < m.end)
        return [intersect(g, m, coarser=coarser) for m in near]

    def _draft(self, subject: int, predicate: str, separators: str, g: Segment) -> Draft:
        if len(g.spans) == 1 and not g.spans[0].absorbed:
            claims, absorbed = [self.rows[g.spans[0].statement.claim]], list[str]()
        else:
            claims = [self.rows[s.claim] for s in sorted(g.claims(), key=lambda s: (s.recorded, s.claim))]
            claims = list({row.id: row for row in claims}.values())
            absorbed = sorted({span.statement.claim for span in g.spans if span.absorbed} - {row.id for row in claims})
        told, ref = subject, g.value.ref
        if self.evidence.predicate(predicate).symmetric and ref:  # kept once, the way its earliest claim told it
            told = self.evidence.entity(claims[0].subject)
            ref = ref if told == subject else f"e{subject}"
        return Draft(subject, told, ref, predicate, separators, g, claims, absorbed, base=base_confidence(claims))

    # -- rivals

    def _add_rivals(self, drafts: list[Draft], folded: _Folded) -> None:
        known = [d for d in drafts if d.segment.basis != "unknown"]
        unsure = folded.policy.cardinality == "unregistered"
        if len(known) > 1:
            by_segment = {id(d.segment): d for d in known}
            # What stands beside a value of a predicate that nobody defined is looked up when read (`parallel`):
            # else every new value would rewrite all the others.
            policy = replace(folded.policy, cardinality="many") if unsure else folded.policy
            for clash in clashes([d.segment for d in known], policy, folded.additive):
                note_clash(clash, by_segment)
        since: dict[int, int] = {}
        for group in near_values(known, folded.policy):
            observed = [g for g in group if g.basis == "observed"]
            found = possible_starts(observed, group, _excluded(folded.policy, folded.additive))
            since.update((id(g), limit) for g, limit in found)
        for draft in drafts:
            g = draft.segment
            draft.unsure = unsure and not g.value.negative
            draft.certain, draft.possible = certain_window(g), possible_window(g)
            if g.basis == "observed":
                draft.possible = (since[id(g)], draft.possible[1])

    def _mirror_rivals(self, subject: int, predicate: str, drafts: list[Draft]) -> None:
        """Conflicts over the subject: edges of other subjects onto the same object."""
        symmetric = self.evidence.predicate(predicate).symmetric
        for ref in sorted({d.value.ref for d in drafts} - {"", f"e{subject}" if symmetric else ""}):
            if symmetric and not ref.startswith("e"):
                continue
            mirror = self._mirror_fold(predicate, ref)
            seen = [(d, g) for d, g in self._edges_onto(predicate, ref) if d.segment.basis != "unknown"]
            by_segment = {id(g): d for d, g in seen}
            own = {d.id: d for d in drafts if d.value.ref == ref}
            for clash in clashes([g for _, g in seen], mirror.policy, mirror.additive):
                a, b = by_segment[id(clash.a)], by_segment[id(clash.b)]
                for one, other in ((a, b), (b, a)):
                    mine = own.get(one.id)
                    if mine is not None and all(r.fact != other.id for r in mine.rivals):
                        mine.rivals.append(Rival(other.id, clash.start, clash.end, mirrored=True))
            near = {
                replace(mine.segment, value=Value(f"e{subject}", mine.value.negative)): mine
                for mine in own.values()
                if mine.segment.basis == "observed"
            }
            for g, limit in possible_starts(near, [g for _, g in seen], _excluded(mirror.policy, mirror.additive)):
                mine = near[g]
                mine.possible = (max(mine.possible[0], limit), mine.possible[1])

    def _edges_onto(self, predicate: str, ref: str) -> list[tuple[Draft, Segment]]:
        """Every edge of the predicate onto one object, with its segment as the object sees it."""
        entity = self.evidence.entity
        if self.evidence.predicate(predicate).symmetric:
            self._premises.settle((int(ref[1:]), predicate))
            return [(d, d.segment) for d in self._edges_of(int(ref[1:]), predicate)]
        found = []
        for s in sorted({entity(row.subject) for row in self._mirror_rows(predicate, ref)}):
            self._premises.settle((s, predicate))
            for d in self._edges_of(s, predicate):
                if d.value.ref == ref:
                    found.append((d, replace(d.segment, value=Value(f"e{s}", d.value.negative))))
        return found


def _excluded(policy: Policy, additive: set[Value]) -> Callable[[Segment, Segment], bool]:
    return lambda g, r: g.value != r.value and excludes(g, r, policy, additive)
