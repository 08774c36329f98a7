"""Dates in numbers, and the refusal of those that people in two countries read differently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semgraph.dates.line import century_of, latest
from semgraph.dates.periods import Period, day_period, month_period
from semgraph.instants import format_date

if TYPE_CHECKING:
    from semgraph.dates.line import Line

__all__ = ["numeric_date"]

Found = tuple[Period, int] | None
_ANY_LEAP_YEAR = 2000


def numeric_date(line: Line, place: int) -> Found:
    """`2016-11-07`, `22/04/2016`, `11/2016`, `4/22`, `20161107`: whatever can be read in one way only."""
    sign = line.sign(place + 1)
    if line.digits(place) == 8 and len(line.tokens) == 1:
        return _unseparated(line, place)
    if line.number(place) is None or not sign or sign not in "-/.":
        return None
    if not _joined(line, place + 1):
        whole = 4 in (line.digits(place), line.digits(place + 2)) and line.digits(place + 2) and len(line.tokens) == 3
        return _two(line, place, sign) if whole else None
    if line.sign(place + 3) == sign and line.number(place + 4) is not None and _joined(line, place + 3):
        if line.joined(place + 5) and (line.word(place + 5) or line.sign(place + 5) in ("-", "/")):
            return None
        return _three(line, place, sign)
    if line.joined(place + 3) and (line.word(place + 3) or line.sign(place + 3) in ("-", "/", ":", "%")):
        return None
    return _two(line, place, sign)


def _joined(line: Line, place: int) -> bool:
    return line.joined(place) and line.joined(place + 1) and line.number(place + 1) is not None


def _three(line: Line, place: int, sign: str) -> Found:
    first, second, third = (line.number(place + offset) or 0 for offset in (0, 2, 4))
    widths = tuple(line.digits(place + offset) for offset in (0, 2, 4))
    after = place + 5
    if widths[0] == 4 and max(widths[1:]) <= 2:
        orders = [(first, second, third)] if sign == "-" else [(first, second, third), (first, third, second)]
        orders = orders[:1] if second <= 12 else orders
    elif widths[2] == 4 and max(widths[:2]) <= 2:
        orders = [(third, second, first), (third, first, second)]
    elif max(widths) <= 2:
        late, early = century_of(line, third), century_of(line, first)
        orders = [] if late is None else [(late, second, first), (late, first, second)]
        orders += [] if early is None else [(early, second, third)]
    else:
        return None
    days = sorted({order for order in orders if _exists(*order)})
    if len(days) == 1:
        return day_period(*days[0]), after
    if not days:
        line.complain(place, after, "the calendar has no such day")
    else:
        readings = " or ".join(format_date(*day) for day in days)
        line.complain(place, after, f"that is {readings}: write the one that is meant")
    return None


def _unseparated(line: Line, place: int) -> Found:
    """`20161107`, the basic form of ISO 8601."""
    year, rest = divmod(int(line.chunk(place)), 10_000)
    return (day_period(year, *divmod(rest, 100)), place + 1) if _exists(year, *divmod(rest, 100)) else None


def _two(line: Line, place: int, sign: str) -> Found:
    first, second = line.number(place) or 0, line.number(place + 2) or 0
    widths, after = (line.digits(place), line.digits(place + 2)), place + 3
    if widths[0] == 4 and widths[1] <= 2 and sign != "." and 1 <= second <= 12:
        return month_period(first, second), after
    if widths[1] == 4 and widths[0] <= 2 and sign != "." and 1 <= first <= 12:
        return month_period(second, first), after
    if max(widths) > 2 or sign != "/":
        return None
    days = sorted({order for order in ((second, first), (first, second)) if _exists(_ANY_LEAP_YEAR, *order)})
    if len(days) == 1:
        return latest(line, replace(day_period(_ANY_LEAP_YEAR, *days[0]), cycle="year")), after
    if days:
        line.complain(place, after, "which of the two is the month? Write its name")
    return None


def _exists(year: int, month: int, day: int) -> bool:
    try:
        day_period(year, month, day)
    except ValueError:
        return False
    return True
