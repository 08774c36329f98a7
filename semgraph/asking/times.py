"""When: the stretch of time that a question names, which facts lie as it asks, and in which order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.signals import Signal
from semgraph.errors import RejectedError
from semgraph.model import Literal
from semgraph.temporal import NEG_INF, POS_INF, Bound, parse_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semgraph.dates.reading import Reading
    from semgraph.model import Entity, Fact

__all__ = ["When", "ends_of", "from_dates", "is_date", "is_vaguer", "lies", "lies_at"]


_HOUR: Final = 3_600_000_000
# The longest that each lasts, with the hours by which clocks are put back.
_LASTS: Final = {"day": 26 * _HOUR, "month": (31 * 24 + 2) * _HOUR, "year": (366 * 24 + 2) * _HOUR}
_DATE: Final = re.compile(r"-?\d{4}(?:-\d\d){0,2}[~?%]?")


class When(NamedTuple):
    """A stretch of time, and how the answer lies to it."""

    signal: Signal
    start: int
    end: int


def is_date(thing: Entity | Literal) -> bool:
    """Whether a value is itself a date, as that of a birth is.

    >>> from semgraph.model import Literal
    >>> is_date(Literal("1990-03-05", "1990-03-05")), is_date(Literal("Oslo", "Oslo"))
    (True, False)
    """
    return isinstance(thing, Literal) and _DATE.fullmatch(thing.label) is not None


def is_vaguer(value: object, unit: str) -> bool:
    """Whether a date does not tell the day, month or year that it lies in.

    >>> is_vaguer("2009", "month"), is_vaguer("2009-03", "month"), is_vaguer("198X", "year")
    (True, False, True)
    """
    try:
        bound = value if isinstance(value, Bound) else parse_bound(str(value))
    except RejectedError:  # a value that only looks like a date: "2009-13"
        return True
    return bound is not None and bound.until - bound.instant > _LASTS[unit]


def ends_of(fact: Fact) -> tuple[int, int]:
    """The instants `[from, to)` of a fact; -inf and +inf where it is open."""
    start = NEG_INF if fact.start_basis in ("unknown", "always") else fact.valid_from.instant
    return start, POS_INF if fact.valid_to is None else fact.valid_to.instant


def from_dates(dates: Iterable[Reading], signal: Signal) -> When | None:
    """The stretch that dates give together; None without dates."""
    readings = list(dates)
    if not readings:
        return None
    start = max(reading.span[0] for reading in readings)
    end = min(reading.span[1] for reading in readings)
    if start >= end:
        start, end = min(r.span[0] for r in readings), max(r.span[1] for r in readings)
    kinds = {reading.kind for reading in readings}
    if kinds in ({"before"}, {"until"}):
        return When(Signal.BEFORE, end, end)
    if kinds == {"after"}:
        return When(Signal.AFTER, start, start)
    if kinds == {"since"}:
        return When(Signal.OVERLAP, start, POS_INF)
    return When(signal if signal in (Signal.BEFORE, Signal.AFTER) else Signal.OVERLAP, start, end)


def lies(fact: Fact, when: When) -> bool:
    """Whether a fact lies as asked: it meets the stretch, begins before it, or begins after it."""
    start, end = ends_of(fact)
    if when.signal is Signal.BEFORE:
        return start < when.start
    if when.signal is Signal.AFTER:
        return start >= when.end
    return start < when.end and when.start < end


def lies_at(end: int, when: When) -> bool:
    """Whether an end lies as asked: in the stretch, before it, or after it."""
    if when.signal is Signal.BEFORE:
        return end <= when.start
    return end >= when.end if when.signal is Signal.AFTER else when.start <= end < when.end
