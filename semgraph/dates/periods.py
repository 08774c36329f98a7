"""Stretches of the calendar, counted on a local clock, and the arithmetic that words ask of them.

A local time is a number of microseconds since 1970-01-01T00:00 as clocks and calendars of some place show it. Years are
astronomical and weeks those of ISO 8601.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from semgraph.instants import DAY, HOUR, MINUTE, SECOND, date_of, days_of

if TYPE_CHECKING:
    from semgraph.temporal import Precision

__all__ = [
    "Cycle",
    "Part",
    "Period",
    "add_months",
    "calendar_unit",
    "clock_time",
    "day_period",
    "decade_period",
    "half_period",
    "iso_week",
    "month_period",
    "part_of",
    "period_between",
    "quarter_period",
    "recurring",
    "unit_around",
    "week_period",
    "weekday_of",
    "year_period",
    "years_period",
]

Cycle = Literal["", "week", "month", "year", "name"]
Part = Literal["early", "mid", "late", "beginning", "middle", "end"]

_THURSDAY = 3  # of 1970-01-01
# First month and count of months.
_OF_YEAR: dict[Part, tuple[int, int]] = {
    "early": (1, 6),
    "mid": (5, 4),
    "late": (7, 6),
    "beginning": (1, 4),
    "middle": (5, 4),
    "end": (9, 4),
}
_CLOCK: dict[str, int] = {"second": SECOND, "minute": MINUTE, "hour": HOUR}


@dataclass(frozen=True, slots=True)
class Period:
    """What a date names: local times `[start, end)`, and what of it was left open.

    `cycle` is how it comes round where no year (or month, or week) was given, by the name of a feast for one. `slack`
    is how far off an approximate day may be, `offset` that of a clock time from UTC where one was given, `part` which
    end of a unit is meant, and `written` the ISO 8601 or EDTF of a date that was given in it.
    """

    start: int
    end: int
    precision: Precision
    flag: str = ""
    cycle: Cycle = ""
    slack: int = 0
    offset: int | None = None
    part: Part | None = None
    written: str = ""

    @property
    def day(self) -> tuple[int, int, int]:
        """Year, month and day on which it starts."""
        return date_of(self.start // DAY)


# -- units


def day_period(year: int, month: int, day: int) -> Period:
    """That day; ValueError when the calendar has none such."""
    return _days(days_of(year, month, day), 1, "day")


def month_period(year: int, month: int) -> Period:
    """That month; ValueError when there is no such month."""
    start = days_of(year, month, 1)
    return _days(start, days_of(*add_months((year, month, 1), 1)) - start, "month")


def year_period(year: int) -> Period:
    """That year."""
    return replace(years_period(year, 1), precision="year")


def years_period(year: int, count: int) -> Period:
    """So many years, the first of them given."""
    start = days_of(year, 1, 1)
    return _days(start, days_of(year + count, 1, 1) - start, "period")


def decade_period(year: int) -> Period:
    """The ten years from that one on."""
    return replace(years_period(year, 10), precision="decade" if year >= 0 else "period")


def quarter_period(year: int, quarter: int) -> Period:
    """The first to fourth quarter of a year; ValueError for others."""
    return _months(year, 3 * quarter - 2, 3)


def half_period(year: int, half: int) -> Period:
    """The first or second half of a year; ValueError for others."""
    return _months(year, 6 * half - 5, 6)


def week_period(days: int) -> Period:
    """The week, Monday to Sunday, in which that day lies."""
    return _days(days - weekday_of(days), 7, "period")


def iso_week(year: int, week: int) -> Period:
    """That week of ISO 8601; ValueError when the year has none such."""
    found = week_period(days_of(year, 1, 4) + 7 * (week - 1))
    if week < 1 or date_of(found.start // DAY + _THURSDAY)[0] != year:
        raise ValueError(week)
    return found


def period_between(start: int, end: int) -> Period:
    """The stretch between two local times."""
    return Period(start, end, "period")


def clock_time(start: int, precision: Precision, offset: int | None = None) -> Period:
    """The second, minute or hour that starts at a local time."""
    return Period(start, start + _CLOCK.get(precision, 1), precision, offset=offset)


def _days(start: int, count: int, precision: Precision) -> Period:
    return Period(start * DAY, (start + count) * DAY, precision)


def _months(year: int, month: int, count: int) -> Period:
    start = days_of(year, month, 1)
    return _days(start, days_of(*add_months((year, month, 1), count)) - start, "period")


# -- arithmetic


def weekday_of(days: int) -> int:
    """0 for Monday to 6 for Sunday, of a day counted from 1970-01-01."""
    return (days + _THURSDAY) % 7


def add_months(day: tuple[int, int, int], months: int) -> tuple[int, int, int]:
    """The same day so many months later, or the last of its month where that has fewer days."""
    year, month, number = day
    years, rest = divmod(month - 1 + months, 12)
    year, month = year + years, rest + 1
    following = days_of(year + month // 12, month % 12 + 1, 1)
    return year, month, min(number, following - days_of(year, month, 1))


def unit_around(unit: str, days: int, steps: int = 0) -> Period:
    """The week, month, quarter, ... around a day, or the one so many steps later."""
    year, month, _ = date_of(days)
    match unit:
        case "day":
            return _days(days + steps, 1, "day")
        case "week":
            return week_period(days + 7 * steps)
        case "fortnight":
            return replace(week_period(days + 14 * steps), end=(week_period(days + 14 * steps).start + 14 * DAY))
        case "weekend":
            monday = week_period(days + 7 * steps).start // DAY
            return _days(monday + 5, 2, "period")
        case "month":
            return month_period(*add_months((year, month, 1), steps)[:2])
        case "quarter":
            return quarter_period(year + ((month - 1) // 3 + steps) // 4, ((month - 1) // 3 + steps) % 4 + 1)
        case "year":
            return year_period(year + steps)
        case "decade":
            return decade_period(year // 10 * 10 + 10 * steps)
        case _:
            count = {"century": 100, "millennium": 1000}[unit]
            return years_period(year // count * count + count * steps, count)


def calendar_unit(period: Period) -> str:
    """The unit that a period is one of: day, week, month, quarter, year, decade, century, or "" for none of them."""
    if period.precision in ("day", "month", "year", "decade"):
        return period.precision
    start = period.start // DAY
    for unit in ("week", "quarter", "century"):
        if unit_around(unit, start) == replace(period, flag="", cycle="", part=None):
            return unit
    return ""


def recurring(period: Period, steps: int) -> Period | None:
    """The same day or month so many weeks, months or years on; None where the calendar leaves it out."""
    year, month, day = period.day
    if period.cycle == "week":
        return replace(period, start=period.start + 7 * steps * DAY, end=period.end + 7 * steps * DAY)
    if period.cycle == "month":
        year, month, _ = add_months((year, month, 1), steps)
    else:
        year += steps
    try:
        start = days_of(year, month, day) * DAY
    except ValueError:
        return None
    if period.precision == "day":
        return replace(period, start=start, end=start + DAY)
    end_year, end_month, end_day = date_of(period.end // DAY)
    return replace(period, start=start, end=days_of(end_year + steps, end_month, end_day) * DAY)


def part_of(period: Period, part: Part) -> Period | None:
    """The early, middle or late part of a unit, or None where people agree on none.

    Early and late are halves, wide enough for all who say it; mid overlaps both. The beginning, the middle and the end
    of a year are four months each.
    """
    unit = calendar_unit(period)
    first, year = period.start // DAY, period.day[0]
    edges = {
        "week": (0, 3, 1, 5, 3, 7),
        "month": (0, 15, 9, 20, 15, (period.end - period.start) // DAY),
    }.get(unit)
    if edges is not None:
        lows = {"early": 0, "beginning": 0, "mid": 2, "middle": 2}.get(part, 4)
        start, end = first + edges[lows], first + edges[lows + 1]
        return replace(_days(start, end - start, "period"), cycle=period.cycle, part=part)
    if unit == "year":
        month, count = _OF_YEAR[part]
        return replace(_months(year, month, count), part=part)
    years = {"decade": (5, 3), "century": (50, 25)}.get(unit)
    if years is None:
        return None
    half, quarter = years
    offset = {"early": 0, "beginning": 0, "mid": quarter, "middle": quarter}.get(part, half)
    return replace(years_period(year + offset, half), part=part)
