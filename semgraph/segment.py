"""What a fold gives: values, statements and segments, and which segments contradict one another.

Apart from the fold itself: pure tables and comparisons that reads and belief need too.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from semgraph.temporal import NEG_INF, Bound

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

__all__ = [
    "Clash",
    "Policy",
    "Segment",
    "Span",
    "Statement",
    "Value",
    "certain_window",
    "clashes",
    "excludes",
    "opposed",
    "possible_from",
    "possible_starts",
    "possible_window",
    "rivals",
    "same_breath",
]


class Value(NamedTuple):
    """What competes in a fluent: the reference of an object (empty for none) and its sign."""

    ref: str
    negative: bool = False


@dataclass(slots=True, eq=False)
class Statement:
    """What one claim says of one value over one stretch of time; a claim cut in two makes two statements."""

    claim: str
    value: Value
    start: int
    start_bound: Bound
    basis: str  # stated | observed | always | resumed | premise (starts with what it rests on) | unknown
    end: int
    end_bound: Bound | None
    end_kind: str  # open | stated | soft | ttl
    said: int
    rank: int
    source: str
    source_ref: str | None
    source_class: str
    change: bool
    also: bool
    explicit_end: bool
    order: str  # the key of the object's first name, of the literal, or nothing
    recorded: int
    cut: bool = False  # it ends because of what took the rest of it, or because a premise does

    @property
    def evidence(self) -> int:
        """Until when the source vouches for the value; past it only inertia does."""
        if self.end_kind == "stated":
            return self.end
        if self.end_kind == "soft" or self.start > self.said:
            return self.start
        return self.said

    @property
    def bounded(self) -> bool:
        """Whether it is of a limited time: an exception, after which what it displaced resumes."""
        return self.end_kind == "stated" or self.cut

    @property
    def told_end(self) -> bool:
        """Whether the source said when it stopped, and nothing ended it before."""
        return self.end_kind == "stated" and not self.cut

    @property
    def ending(self) -> str:
        """What ends it, as the facts tell."""
        return "stated" if self.cut else self.end_kind


@dataclass(frozen=True, slots=True)
class Policy:
    """How the values of a fluent compete: from the registry, the alias table and what was settled."""

    cardinality: str  # one | many | once | unregistered
    window: int  # microseconds
    event: bool = False
    refines: Callable[[str, str], bool] | None = None
    compatible: frozenset[frozenset[str]] = frozenset()


class Span(NamedTuple):
    """How long a statement supported a segment; an absorbed one spoke of a coarser value."""

    statement: Statement
    since: int
    until: int
    absorbed: bool


@dataclass(slots=True, eq=False)
class Segment:
    """A maximal interval in which one value holds, with all that supported it."""

    value: Value
    start: int
    end: int
    start_bound: Bound
    basis: str
    end_bound: Bound | None
    end_reason: str  # open | stated | soft | ttl | superseded | ended | refined | suspended
    ended_by: tuple[str, ...]
    opened: str
    closed: str
    spans: list[Span]
    assumed: bool = False
    planned: bool = False

    def claims(self) -> list[Statement]:
        """Every statement that ever supported exactly this value, each once; without any, those that renewed it.

        None is left where a value resumes after its own statements have ended, on what a coarser one had renewed.
        """
        own = dict.fromkeys(span.statement for span in self.spans if not span.absorbed)
        return list(own or dict.fromkeys(span.statement for span in self.spans))


def opposed(a: Value, b: Value) -> bool:
    """Whether one denies the other: a value and its own negation, or an end of every value."""
    if a.negative == b.negative:
        return False
    return a.ref == b.ref or not (a.ref if a.negative else b.ref)


def rivals(a: Value, b: Value, policy: Policy) -> bool:
    """Whether two values that do not deny each other exclude each other in time."""
    if a.negative or b.negative or policy.event or policy.cardinality == "many":
        return False
    return frozenset((a.ref, b.ref)) not in policy.compatible


def same_breath(a: Statement, b: Statement) -> bool:
    """Whether one source told both at once."""
    return a.source == b.source and (a.said == b.said or (a.source_ref is not None and a.source_ref == b.source_ref))


class Clash(NamedTuple):
    """Two segments that exclude each other, and the interval in which both hold."""

    a: Segment
    b: Segment
    start: int
    end: int


def clashes(segments: Sequence[Segment], policy: Policy, additive: Collection[Value]) -> list[Clash]:
    """Every pair of segments that hold together although their values exclude each other."""
    groups: Iterable[list[Segment]] = [sorted(segments, key=lambda g: g.start)]
    if (policy.cardinality == "many" or policy.event) and all(g.value.ref for g in segments):
        groups = _by_ref(segments)  # only a value and its own negation can clash
    found = []
    for ordered in groups:
        for i, a in enumerate(ordered):
            for b in ordered[i + 1 :]:
                if b.start >= a.end:
                    break
                if a.value != b.value and excludes(a, b, policy, additive):
                    found.append(Clash(a, b, b.start, min(a.end, b.end)))
    return found


def _by_ref(segments: Iterable[Segment]) -> Iterable[list[Segment]]:
    groups: dict[str, list[Segment]] = {}
    for g in sorted(segments, key=lambda g: g.start):
        groups.setdefault(g.value.ref, []).append(g)
    return groups.values()


def excludes(a: Segment, b: Segment, policy: Policy, additive: Collection[Value]) -> bool:
    """Whether two segments of one fluent can't both be right."""
    if opposed(a.value, b.value):
        return True
    if a.value in additive or b.value in additive or not rivals(a.value, b.value, policy):
        return False
    if policy.cardinality == "unregistered" and any(same_breath(x, y) for x in a.claims() for y in b.claims()):
        return False
    return not _refined_pair(a, b, policy)


def _refined_pair(a: Segment, b: Segment, policy: Policy) -> bool:
    refines = policy.refines
    if refines is None or not (refines(a.value.ref, b.value.ref) or refines(b.value.ref, a.value.ref)):
        return False
    return not any(all(span.statement.source_class == "imported" for span in g.spans) for g in (a, b))


def possible_from(g: Segment, others: Iterable[Segment]) -> int:
    """How far before its observed start a segment may have held: back to where a rival last was certain."""
    limit = NEG_INF
    for r in others:
        sure_from, sure_to = certain_window(r)
        if sure_from < min(sure_to, g.start):
            limit = max(limit, min(sure_to, g.start))
            if limit == g.start:
                break
    return limit


def possible_starts(
    observed: Iterable[Segment], others: Iterable[Segment], excluded: Callable[[Segment, Segment], bool]
) -> Iterator[tuple[Segment, int]]:
    """`possible_from` for many segments among the same others, of which those that are `excluded` count."""
    windows = ((*certain_window(g), number, g) for number, g in enumerate(others))
    waiting = sorted((w for w in windows if w[0] < w[1]), reverse=True)
    begun: list[tuple[int, int, Segment]] = []  # by when they cease to be certain
    for g in sorted(observed, key=lambda g: g.start):
        while waiting and waiting[-1][0] < g.start:
            insort(begun, waiting.pop()[1:])
        yield g, next((min(sure_to, g.start) for sure_to, _, r in reversed(begun) if excluded(g, r)), NEG_INF)


def certain_window(g: Segment) -> tuple[int, int]:
    """The part of a segment outside both uncertainty windows; empty (start >= end) where it is never certain."""
    if g.assumed or g.planned:
        return g.end, g.start
    start = g.start_bound.before if g.basis == "stated" and g.start_bound.before - g.start > 1 else g.start
    end = g.end
    if g.end_reason in ("stated", "ended") and g.end_bound is not None:
        end = min(end, g.end_bound.earliest)
    return start, end


def possible_window(g: Segment) -> tuple[int, int]:
    """The segment with the uncertainty windows of its stated bounds: where it may hold."""
    start, end = g.start, g.end
    if g.basis == "stated" and g.start_bound.before - g.start_bound.earliest > 1:
        start = min(start, g.start_bound.earliest)
    if g.end_reason in ("stated", "ended") and g.end_bound is not None:
        width = g.end_bound.before - g.end_bound.earliest
        end = max(end, g.end_bound.before) if width > 1 else end
    return start, end
