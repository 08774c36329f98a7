"""Facts and conflict sets of the reference model, and the arithmetic of intervals and confidence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from oracle_model import INFERRED_CAP, TOP, Claim, Obj, Value

from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oracle_fold import Stint

Span = tuple[int, int]
Fluent = tuple[int, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True, eq=False)
class Fact:
    """A maximal interval during which one value holds on one edge."""

    subject: int
    predicate: str
    separators: tuple[tuple[str, str], ...]
    value: Value
    start: int
    basis: str
    lo: int
    hi: int
    end: int
    end_lo: int
    end_hi: int
    reason: str
    ended_by: Value | None
    stints: list[Stint]
    base_claims: list[Claim]
    turned: bool = False  # read from the object's end of a symmetric claim
    said: list[int] = field(default_factory=list)  # when anybody said this value of this fluent

    @property
    def negative(self) -> bool:
        return self.value[0] == "-"

    @property
    def object(self) -> Obj | None:
        return self.value[1]

    @property
    def fluent(self) -> Fluent:
        return (self.subject, self.predicate, self.separators)

    @property
    def claims(self) -> list[Claim]:
        return list(dict.fromkeys(s.take.claim for s in self.stints))

    @property
    def planned(self) -> bool:
        supports = [s.take.claim.said for s in self.stints if not s.absorbed]
        confirmed = any(x >= self.start for x in self.said)
        return self.basis == "stated" and self.start > max(supports, default=POS_INF) and not confirmed

    @property
    def assumed(self) -> bool:
        return self.basis == "resumed" and not any(s.take.said >= self.start for s in self.stints)

    def holds(self, t: int) -> bool:
        return self.start <= t < self.end

    @property
    def certain_span(self) -> Span:
        """Where it certainly holds; empty (end not after start) if nowhere."""
        if self.planned or self.assumed:
            return (self.start, self.start)
        begin = self.hi if self.basis == "stated" and self.hi - self.lo > 1 else self.start
        finish = self.end_lo if self.reason == "ended" and self.end_hi - self.end_lo > 1 else self.end
        return (begin, finish)

    def certain(self, t: int) -> bool:
        begin, finish = self.certain_span
        return begin <= t < finish


@dataclass(slots=True)
class Conflict:
    """Values that exclude each other and hold together for as long as the membership stays what it is."""

    subject: int | None  # None: the object is shared (unique_object)
    object: Obj | None
    predicate: str
    facts: list[Fact]
    since: int = NEG_INF
    until: int = POS_INF

    @property
    def members(self) -> frozenset[object]:
        return frozenset((f.subject, f.value) for f in self.facts)


def base_confidence(claims: Iterable[Claim]) -> float:
    """4.8: per source the best claim and a little for repetition, then sources together."""
    sources: dict[str, list[float]] = defaultdict(list)
    kinds = set()
    for claim in claims:
        sources[claim.source].append(claim.confidence)
        kinds.add(claim.inferred)
    miss = 1.0
    for source, given in sources.items():
        cap = INFERRED_CAP if source.split(":")[0] == "inferred" else TOP
        miss *= 1 - min(cap, max(given) + 0.02 * (len(given) - 1))
    return min(INFERRED_CAP if kinds == {True} else TOP, 1 - miss)


def intersect(a: Iterable[Span], b: Iterable[Span]) -> list[Span]:
    b = list(b)
    found = [(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b]
    return union(s for s in found if s[0] < s[1])


def union(spans: Iterable[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def minus(span: Span, holes: Iterable[Span]) -> list[Span]:
    out = [span]
    for start, end in holes:
        out = [piece for a, b in out for piece in ((a, min(b, start)), (max(a, end), b)) if piece[0] < piece[1]]
    return out


def components(facts: list[Fact], flagged: Callable[[Fact, Fact], bool]) -> list[list[Fact]]:
    """The connected groups of at least two."""
    groups = [{i} for i in range(len(facts))]
    for i, j in combinations(range(len(facts)), 2):
        if flagged(facts[i], facts[j]):
            a = next(g for g in groups if i in g)
            b = next(g for g in groups if j in g)
            if a is not b:
                groups.remove(b)
                a |= b
    return [[facts[i] for i in sorted(g)] for g in groups if len(g) > 1]
