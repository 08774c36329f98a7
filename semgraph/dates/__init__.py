"""Dates as people write them: in words, in numbers, relative to a moment, with since, until and around.

`parse_when` gives the one bound that words mean, `read_when` how they put something in time, and `find_dates` what a
sentence says of time. Read is what can mean one thing only; all else is refused, with the reason. A date that leaves
its year open is the latest that has begun; with a weekday it is the nearest that falls on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.errors import InputError, RejectedError
from semgraph.temporal import Bound, parse_bound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from semgraph.dates.reader import Reference
    from semgraph.dates.reading import DateSpan, Reading

__all__ = ["find_dates", "parse_when", "read_when"]


def parse_when(text: str, *, reference: datetime | None = None) -> Bound:
    """The bound that a person's words mean; that of a period spans it, from `instant` up to `until`.

    Args:
        text: a date of ISO 8601 or EDTF, or words: July 2026, Q3 2024, the 1990s, 44 BC, last month, two weeks ago,
            around June 2026, since March, from 2018 to 2020.
        reference: what relative words count from, now in UTC if left out. Its zone is the one in which dates and times
            are read; times of day are refused without an offset where it is left out, or has none itself.

    Raises:
        RejectedError: `bad_time` for what is no date, or may mean two; `naive_time`; `time_range`.

    >>> str(parse_when("around June 2026"))
    '2026-06~'
    >>> str(parse_when("Q3 2024"))
    '2024-07/2024-09'
    """
    zone = None if reference is None else _checked(reference).tzinfo
    if isinstance(text, str):
        try:
            bound = parse_bound(text, timezone=zone)
        except RejectedError as refused:
            if refused.code != "bad_time":
                raise
        else:
            if bound is not None:
                return bound
    return read_when(text, reference=reference).bound


def read_when(text: str, *, reference: datetime | None = None) -> Reading:
    """How words put something in time: in a date, since or until it, before or after it, or from one to another.

    Args:
        text: as for `parse_when`, and also before 2020, after March 2019, until 2021.
        reference: as for `parse_when`.

    Raises:
        RejectedError: as `parse_when`.

    >>> reading = read_when("from 2018 to 2020")
    >>> reading.kind, str(reading.start), str(reading.end)
    ('from', '2018', '2020')
    """
    from semgraph.dates.reader import read

    if not isinstance(text, str):
        raise _no_text(text)
    return read(text, _reference(reference))


def find_dates(text: str, *, reference: datetime | None = None) -> Iterator[DateSpan]:
    """The places in a text that speak of time, from left to right, each with its reading; what is unclear is left out.

    >>> [(span.start, span.end, span.reading.text) for span in find_dates("She moved to Berlin in March 2020.")]
    [(20, 33, 'in March 2020')]
    """
    from semgraph.dates.reader import dates_in

    if not isinstance(text, str):
        raise _no_text(text)

    return dates_in(text, _reference(reference))


def _reference(moment: datetime | None) -> Reference:
    from dataclasses import replace
    from datetime import UTC, datetime

    from semgraph.dates.reader import Reference

    if moment is not None:
        return Reference.of(_checked(moment))
    now = Reference.of(datetime.now(UTC))
    return replace(now, zone=None)


def _checked(reference: datetime) -> datetime:
    from datetime import datetime

    given: object = reference
    if not isinstance(given, datetime):
        raise InputError(f"reference is a datetime, from which words count, not {type(given).__name__}")
    return given


def _no_text(value: object) -> RejectedError:
    return RejectedError("bad_time", f"a {type(value).__name__} is no text: give words, or a date such as '2024-03-01'")
