"""Instants as dates and date-times of XML Schema 1.0 and back: it knows no year 0, so 1 BC is the year -0001."""

from __future__ import annotations

import re
from typing import Final

from semgraph.errors import InputError
from semgraph.instants import DAY, SECOND, date_of, format_year
from semgraph.temporal import Bound, parse_bound

__all__ = ["bound_of", "date_time"]

_SHAPE: Final = re.compile(
    r"(?P<year>-?[0-9]{4,6})(?P<day>-[0-9]{2}-[0-9]{2})"
    r"(?P<clock>T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
)
_LONGEST_CLOCK: Final = len("T00:00:00.000000")  # finer than a microsecond is no time here


def date_time(instant: int) -> str:
    """The instant in UTC, as a date where a day begins there.

    >>> date_time(0), date_time(-62_135_596_800_000_001)
    ('1970-01-01', '-0001-12-31T23:59:59.999999Z')
    """
    days, clock = divmod(instant, DAY)
    year, month, day = date_of(days)
    seconds, fraction = divmod(clock, SECOND)
    shown = f"{year:04d}" if year > 0 else f"-{1 - year:04d}"
    if not clock:
        return f"{shown}-{month:02d}-{day:02d}"
    text = f"{shown}-{month:02d}-{day:02d}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}Z" if fraction else f"{text}Z"


def bound_of(text: str) -> Bound:
    """The bound that an `xs:date` or `xs:dateTime` means; without a time zone it is read in UTC.

    Raises:
        InputError: it is neither.
    """
    given = text.strip()
    match = _SHAPE.fullmatch(given)
    if match is None:
        raise InputError(f"{text!r} is no date (2024-03-01) and no date-time (2024-03-01T09:00:00Z)")
    year = int(match["year"])
    if year < 0:
        year += 1
    day = f"{format_year(year)}{match['day']}"
    found = parse_bound(
        day if match["clock"] is None else f"{day}{match['clock'][:_LONGEST_CLOCK]}{match['zone'] or 'Z'}"
    )
    if found is None:
        raise AssertionError("a date is no open end")
    return found
