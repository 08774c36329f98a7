"""The dates of a clause, taken out of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from semgraph.dates import find_dates
from semgraph.phrases.readers import Dated
from semgraph.temporal import instant_of

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["dated"]

_LED: Final = re.compile(
    "(?:about|around|as of|at|by|during|for|from|in|on|since|starting|through|throughout|till|until|within) ",
    re.IGNORECASE,
)


def dated(clause: str, reference: datetime) -> Dated | None:
    """The clause without its dates, and when they say that it held.

    None where they say more than one thing, or only that it was before or after a date.

    >>> from datetime import UTC, datetime
    >>> when = dated("Maya moved to Berlin in March", datetime(2026, 11, 30, tzinfo=UTC))
    >>> when.text, str(when.start), when.point
    ('Maya moved to Berlin', '2026-03', True)
    """
    found = [span for span in find_dates(clause, reference=reference) if _apart(clause, span.start, span.end)]
    if not found:
        return Dated(clause)
    rest = clause
    for span in reversed(found):
        rest = f"{rest[: span.start].rstrip(' ,')} {rest[span.end :].lstrip(' ,')}"
    readings = [span.reading for span in found]
    kinds = {reading.kind for reading in readings}
    if not kinds.isdisjoint(("before", "after", "between")):
        return None
    text = rest.strip()
    if kinds == {"in"}:
        start, end = readings[0].span
        return Dated(text, readings[0].start, point=True, now=start <= instant_of(reference) < end)
    starts = [reading.start for reading in readings if reading.start is not None]
    ends = [reading.end for reading in readings if reading.end is not None]
    if len(starts) > 1 or len(ends) > 1 or "in" in kinds:
        return None
    return Dated(text, next(iter(starts), None), next(iter(ends), None))


def _apart(clause: str, start: int, end: int) -> bool:
    """Whether the date is an adverbial of the clause, and no part of a name: "since 2019", "last month" at an edge."""
    return bool(_LED.match(clause[start:end])) or start == 0 or not clause[end:].strip(" .!")
