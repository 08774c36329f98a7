"""The algebra of half-open intervals, over instants and over anything else that has one total order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from semgraph.errors import InputError, RejectedError
from semgraph.instants import NEG_INF, POS_INF, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

__all__ = ["ALL_TIME", "Interval", "Range", "Relation", "coalesce", "intersect_all", "relation"]


class Ordered(Protocol):
    """What bounds must offer: one total order."""

    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Ordered)
R = TypeVar("R", bound="Range[Any]")


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Range(Generic[T]):
    """The values from `start`, included, to `end`, excluded; never empty.

    >>> Range(1, 5).intersection(Range(3, 9))
    [3, 5)
    """

    start: T
    end: T

    def __post_init__(self) -> None:
        if not self.start < self.end:
            reason = f"{self!r} holds nothing: the end must come after the start, and is itself left out"
            raise RejectedError("empty_interval", reason)

    def __repr__(self) -> str:
        return f"[{self.start}, {self.end})"

    # The predicates of SQL:2011.

    def equals(self, other: Range[T]) -> bool:
        """Whether both hold the same values."""
        return self.start == other.start and self.end == other.end

    def overlaps(self, other: Range[T]) -> bool:
        """Whether some value lies in both."""
        return self.start < other.end and other.start < self.end

    @overload
    def contains(self, what: Range[T]) -> bool: ...
    @overload
    def contains(self, what: T) -> bool: ...
    def contains(self, what: T | Range[T]) -> bool:
        """Whether the value, or the whole of the other interval, lies in this one."""
        if isinstance(what, Range):
            return not what.start < self.start and not self.end < what.end
        return not what < self.start and what < self.end

    def precedes(self, other: Range[T]) -> bool:
        """Whether this one is over when the other begins, with or without a gap."""
        return not other.start < self.end

    def succeeds(self, other: Range[T]) -> bool:
        """Whether this one begins when the other is over, with or without a gap."""
        return other.precedes(self)

    def immediately_precedes(self, other: Range[T]) -> bool:
        """Whether the other begins exactly where this one ends."""
        return self.end == other.start

    def immediately_succeeds(self, other: Range[T]) -> bool:
        """Whether this one begins exactly where the other ends."""
        return other.immediately_precedes(self)

    # What SQL:2011 has no word for.

    def before(self, other: Range[T]) -> bool:
        """Whether this one is over and a gap follows before the other begins (Allen's `before`)."""
        return self.end < other.start

    def adjacent(self, other: Range[T]) -> bool:
        """Whether the two meet without a gap and without an overlap."""
        return self.immediately_precedes(other) or self.immediately_succeeds(other)

    def intersection(self, other: Range[T]) -> Self | None:
        """What lies in both, or None."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return type(self)(start, end) if start < end else None

    def hull(self, other: Range[T]) -> Self:
        """The smallest interval that holds both, any gap between them included."""
        return type(self)(min(self.start, other.start), max(self.end, other.end))

    def union(self, other: Range[T]) -> Self:
        """What lies in either; InputError when a gap between them makes that two intervals."""
        if self.before(other) or other.before(self):
            msg = f"{self!r} and {other!r} leave a gap between them: use hull() to cover it or coalesce() to keep it"
            raise InputError(msg)
        return self.hull(other)

    def gap(self, other: Range[T]) -> Self | None:
        """What lies between the two, or None when they meet or overlap."""
        if self.before(other):
            return type(self)(self.end, other.start)
        return type(self)(other.end, self.start) if other.before(self) else None

    def minus(self, other: Range[T]) -> list[Self]:
        """What is left without the other: no, one or two intervals, in order."""
        pieces = (self.start, min(self.end, other.start)), (max(self.start, other.end), self.end)
        return [type(self)(start, end) for start, end in pieces if start < end]


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Interval(Range[int]):
    """The instants from `start` to just before `end`; the sentinels make it unbounded.

    >>> Interval(0, 86_400_000_000)
    [1970-01-01T00:00:00Z, 1970-01-02T00:00:00Z)
    """

    def __repr__(self) -> str:
        return f"[{format_instant(self.start)}, {format_instant(self.end)})"


ALL_TIME = Interval(NEG_INF, POS_INF)


def coalesce(ranges: Iterable[R]) -> list[R]:
    """The fewest intervals that hold the same values, in order: what overlaps or meets becomes one."""
    result: list[R] = []
    for item in sorted(ranges):
        if result and not result[-1].before(item):
            result[-1] = result[-1].hull(item)
        else:
            result.append(item)
    return result


def intersect_all(ranges: Iterable[R]) -> R | None:
    """What lies in every one of them, or None; InputError for no interval at all, which would bound nothing."""
    common: R | None = None
    for item in ranges:
        if common is None:
            common = item
            continue
        met = common.intersection(item)
        if met is None:
            return None
        common = met
    if common is None:
        msg = "the intersection of no intervals is unbounded: give at least one"
        raise InputError(msg)
    return common


class Relation(StrEnum):
    """Allen's thirteen relations: between two intervals exactly one of them holds."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished_by"
    CONTAINS = "contains"
    STARTED_BY = "started_by"
    OVERLAPPED_BY = "overlapped_by"
    MET_BY = "met_by"
    AFTER = "after"

    @property
    def inverse(self) -> Relation:
        """The relation read from the other side: `relation(b, a)` when this is `relation(a, b)`."""
        order = list(Relation)  # written above so that inverses stand at equal distance from both ends
        return order[-1 - order.index(self)]


# Two intervals that overlap, told apart by how their starts and their ends compare.
_OVERLAPPING = {
    (-1, -1): Relation.OVERLAPS,
    (-1, 0): Relation.FINISHED_BY,
    (-1, 1): Relation.CONTAINS,
    (0, -1): Relation.STARTS,
    (0, 0): Relation.EQUALS,
    (0, 1): Relation.STARTED_BY,
    (1, -1): Relation.DURING,
    (1, 0): Relation.FINISHES,
    (1, 1): Relation.OVERLAPPED_BY,
}


def relation(a: Range[T], b: Range[T]) -> Relation:
    """Which of Allen's thirteen relations `a` has to `b`.

    >>> relation(Interval(0, 5), Interval(5, 9))
    <Relation.MEETS: 'meets'>
    """
    if a.precedes(b):
        return Relation.MEETS if a.immediately_precedes(b) else Relation.BEFORE
    if a.succeeds(b):
        return Relation.MET_BY if a.immediately_succeeds(b) else Relation.AFTER
    return _OVERLAPPING[_compare(a.start, b.start), _compare(a.end, b.end)]


def _compare(a: T, b: T) -> int:
    return (b < a) - (a < b)
