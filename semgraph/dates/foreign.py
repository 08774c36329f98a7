"""Dates in words of other languages, by way of dateparser, taken at its word only where it can be checked.

dateparser reads much that is no date and fills in what was not said: durations become moments in the past, a bare
number a day or a month, a weekday the one before. Here it serves as a dictionary: it reads a text twice, counted from
two fixed moments, and what it said is taken only if the two answers tell a date of the calendar whose numbers stand in
the text, or the same distance. All languages that read the text must agree.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from semgraph.dates.line import Line, latest
from semgraph.dates.periods import Period, day_period, month_period, unit_around, year_period
from semgraph.dates.relative import moved

if TYPE_CHECKING:
    from dateparser.date import DateDataParser  # type: ignore[import-untyped]

__all__ = ["LANGUAGES", "foreign_date"]

LANGUAGES = ("de", "es", "fi", "fr", "it", "nl", "pt")

_SHAPE = re.compile(r"[^\W\d_][^\W\d_.'º-]*|[0-9]{1,4}|[\s.,'º-]")
_LONG_WORD = re.compile(r"[^\W\d_]{3}")
# Two moments that differ in year, month, day and weekday.
_BASES = (datetime(2001, 7, 18, 12), datetime(2013, 10, 25, 12))  # noqa: DTZ001 - they stand for any local time
# Without one of these, a count is a duration, which dateparser would count back from now.
_DIRECTIONS = frozenset(
    "vor in a dans hace en dentro fa tra fra há em atrás geleden over sitten päästä kuluttua".split()  # noqa: SIM905
)
_COUNTED = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "year": (0, 12)}
_LONGEST = 48

Answer = tuple[datetime, str]


def foreign_date(text: str, line: Line) -> Period | None:
    """The date that a text names in one of `LANGUAGES`, or None."""
    if len(text) > _LONGEST or _SHAPE.sub("", text) or not _LONG_WORD.search(text):
        return None
    numbers = [int(number) for number in re.findall(r"[0-9]+", text)]
    meant = {found for language in LANGUAGES if (found := _meaning(text.lower(), language)) is not None}
    if len(meant) != 1:
        return None
    kind, *values = meant.pop()
    return _RULES[kind](line, numbers, values)


# -- what dateparser says


@lru_cache(maxsize=1 << 10)
def _meaning(text: str, language: str) -> tuple[Any, ...] | None:
    """What the two answers have in common: a kind of date and its numbers, as the rules below take them."""
    first, second = (_answer(text, language, number) for number in range(len(_BASES)))
    if first is None or second is None or first[1] != second[1] or first[1] not in _COUNTED:
        return None
    (one, unit), (other, _) = first, second
    counted = _DIRECTIONS & set(re.findall(r"[^\W\d_]+", text))
    if one == other and unit != "year":
        return ("date", unit, one.year, one.month, one.day)
    if unit == "year" and one.year == other.year:
        return ("date", unit, one.year, 1, 1)
    if (one.hour, other.hour) == (0, 0) and (one.month, one.day) == (other.month, other.day):
        return ("yearless", unit, one.month, one.day)
    steps = {_steps(found, base, unit) for found, base in zip((one, other), _BASES, strict=True)}
    return ("relative", unit, steps.pop(), bool(counted)) if len(steps) == 1 else None


def _steps(found: datetime, base: datetime, unit: str) -> int | float:
    days, months = _COUNTED[unit]
    if days:
        return (found - base).days / days
    return ((found.year - base.year) * 12 + found.month - base.month) / months


def _answer(text: str, language: str, base: int) -> Answer | None:
    data = _reader(language, base).get_date_data(text)
    return None if data.date_obj is None else (data.date_obj, data.period)


@lru_cache(maxsize=2 * len(LANGUAGES))
def _reader(language: str, base: int) -> DateDataParser:
    from dateparser.date import DateDataParser

    settings = {
        "RELATIVE_BASE": _BASES[base],
        "PREFER_DAY_OF_MONTH": "first",
        "PREFER_DATES_FROM": "past",
        "TIMEZONE": "UTC",  # else the zone of the machine is looked up
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PARSERS": ["relative-time", "absolute-time"],
    }
    return DateDataParser(languages=[language], settings=settings)


# -- what is taken of it


def _date(line: Line, numbers: list[int], values: list[Any]) -> Period | None:  # noqa: ARG001 - a rule like the others
    unit, year, month, day = values
    told = {"day": [day, year], "month": [year], "year": [year]}.get(unit)
    if told is None or sorted(numbers) != sorted(told) or year < 1000:
        return None
    if unit == "day":
        return day_period(year, month, day)
    return month_period(year, month) if unit == "month" else year_period(year)


def _yearless(line: Line, numbers: list[int], values: list[Any]) -> Period | None:
    unit, month, day = values
    if numbers != ([day] if unit == "day" else []) or unit not in ("day", "month"):
        return None
    found = day_period(2000, month, day) if unit == "day" else month_period(line.this_year, month)
    return latest(line, replace(found, cycle="year"))


def _relative(line: Line, numbers: list[int], values: list[Any]) -> Period | None:
    unit, steps, counted = values
    if steps != int(steps):
        return None
    steps = int(steps)
    if not numbers:
        near = 2 if unit == "day" else 1
        return unit_around(unit, line.today, steps) if abs(steps) <= near else None
    if not counted or numbers != [abs(steps)]:
        return None
    days, months = _COUNTED[unit]
    amount = (0, days * abs(steps), months * abs(steps), unit)
    return moved(line, line.now, amount, 1 if steps > 0 else -1)


_RULES = {"date": _date, "yearless": _yearless, "relative": _relative}
