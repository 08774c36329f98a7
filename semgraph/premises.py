"""When derived claims count: for the time in which the claims that they rest on make facts.

Premises come first, and mostly that is all. But a derived claim may have a say in the facts that it rests on: it is
told of the same fluent, or of another on which that one depends in turn. Such a circle begins with none of its derived
claims counting; they are given what their premises then hold for, and the circle is computed again until nothing is
added. What a claim was given stays with it, so that it may end its own premise and stands nevertheless, nothing
supports itself, and the result depends on the claims alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from semgraph.stating import Evidence
    from semgraph.store.schema import ClaimRow

__all__ = ["Fluent", "Premises", "Span", "circles"]

Fluent: TypeAlias = tuple[int, str]  # subject and predicate
Node: TypeAlias = Fluent | str  # a fluent, or a derived claim by its id
Span: TypeAlias = tuple[int, int]


class Folding(Protocol):
    """Who computes facts, from what is allowed to derived claims by then."""

    def sources(self, subject: int, predicate: str) -> list[ClaimRow]:
        """Every claim that the facts of the fluent are folded from, those at the far ends of its edges too."""

    def held(self, fluent: Fluent) -> dict[str, list[Span]]:
        """When the facts of the fluent hold that each claim supports."""

    def drop(self, fluent: Fluent) -> None:
        """Forget what was computed of the fluent."""


class Premises:
    """The time for which each derived claim counts, as `allowed`."""

    def __init__(self, evidence: Evidence, folding: Folding) -> None:
        self.evidence = evidence
        self.folding = folding
        self.allowed: dict[str, list[Span]] = {}
        self._settled: set[Fluent] = set()
        self._held: dict[Fluent, dict[str, list[Span]]] = {}

    def settle(self, fluent: Fluent) -> None:
        """Find what is allowed to each derived claim that the fluent depends on."""
        if not self.evidence.justified or fluent in self._settled:
            return
        for circle in circles(fluent, self._leads_to):
            claims = sorted(node for node in circle if isinstance(node, str))
            fluents = sorted(node for node in circle if not isinstance(node, str))
            self.allowed.update((claim, []) for claim in claims)
            while self._widen(claims) and fluents:
                for each in fluents:
                    self._held.pop(each, None)
                    self.folding.drop(each)
            self._settled.update(fluents)

    def fluents_of(self, claim: str) -> list[Fluent]:
        """Where the premises of a claim are told, as far as they are known."""
        premises = (p for group in self.evidence.justifications(claim) or () for p in group)
        return [fluent for fluent in map(self._fluent_of, premises) if fluent is not None]

    def _fluent_of(self, claim: str) -> Fluent | None:
        row = self.evidence.claim(claim)
        return row and (self.evidence.entity(row.subject), self.evidence.predicate(row.predicate).name)

    def _leads_to(self, node: Node) -> Iterable[Node]:
        """What has to be known before a claim or a fluent, and is not known yet."""
        if isinstance(node, str):
            return [fluent for fluent in self.fluents_of(node) if fluent not in self._settled]
        derived = (r.id for r in self.folding.sources(*node) if self.evidence.justifications(r.id) is not None)
        return [claim for claim in derived if claim not in self.allowed]

    def _widen(self, claims: list[str]) -> bool:
        """Allow the claims what their premises hold for now, too; whether that is more than before."""
        before = {claim: self.allowed[claim] for claim in claims}
        self.allowed.update({claim: _union([*before[claim], *self._times(claim)]) for claim in claims})
        return any(self.allowed[claim] != before[claim] for claim in claims)

    def _times(self, claim: str) -> list[Span]:
        """When all premises of one of its justifications hold."""
        found: list[Span] = []
        for group in self.evidence.justifications(claim) or ():
            spans = [(NEG_INF, POS_INF)]
            for premise in group:
                held = self._holds(premise)
                spans = [(max(a, c), min(b, d)) for a, b in spans for c, d in held if max(a, c) < min(b, d)]
            found += spans
        return found

    def _holds(self, claim: str) -> list[Span]:
        fluent = self._fluent_of(claim)
        if fluent is None:
            return []
        if fluent not in self._held:
            self._held[fluent] = self.folding.held(fluent)
        return self._held[fluent].get(claim, [])


def circles(start: Node, leads_to: Callable[[Node], Iterable[Node]]) -> list[list[Node]]:
    """All that a node leads to, and itself, in groups that lead to each other, each after those that it leads to.

    Tarjan's strongly connected components (SIAM J. Comput. 1972), without recursion.
    """
    found: list[list[Node]] = []
    path = [start]
    number, lowest, open_ = {start: 0}, {start: 0}, {start}
    walk = [(start, iter(leads_to(start)))]
    while walk:
        node, following = walk[-1]
        for other in following:
            if other not in number:
                number[other] = lowest[other] = len(number)
                path.append(other)
                open_.add(other)
                walk.append((other, iter(leads_to(other))))
                break
            if other in open_:
                lowest[node] = min(lowest[node], number[other])
        else:
            walk.pop()
            if walk:
                above = walk[-1][0]
                lowest[above] = min(lowest[above], lowest[node])
            if lowest[node] == number[node]:
                at = path.index(node)
                found.append(path[at:])
                open_.difference_update(path[at:])
                del path[at:]
    return found


def _union(spans: Iterable[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out
