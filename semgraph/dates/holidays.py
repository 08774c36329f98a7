"""Days that go by a name: on the same date each year, on a weekday of a month, or so many days from Easter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semgraph.dates.line import latest
from semgraph.dates.periods import Period, day_period, unit_around, weekday_of
from semgraph.instants import days_of

if TYPE_CHECKING:
    from semgraph.dates.line import Line

__all__ = ["holiday_name", "latest_holiday", "on_holiday"]

_FIXED = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "xmas": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "new years day": (1, 1),
    "new year day": (1, 1),
    "new years eve": (12, 31),
    "new year eve": (12, 31),
    "halloween": (10, 31),
    "valentines day": (2, 14),
    "valentine day": (2, 14),
    "april fools day": (4, 1),
    "saint patricks day": (3, 17),
    "st patricks day": (3, 17),
    "earth day": (4, 22),
    "juneteenth": (6, 19),
    "international workers day": (5, 1),
    "international womens day": (3, 8),
}
# Month, weekday, which of them (from the end where it is negative), days after it. No two countries differ on these.
_WEEKDAYS = {
    "martin luther king day": (1, 0, 3, 0),
    "martin luther king jr day": (1, 0, 3, 0),
    "mlk day": (1, 0, 3, 0),
    "presidents day": (2, 0, 3, 0),
    "memorial day": (5, 0, -1, 0),
    "labor day": (9, 0, 1, 0),
    "black friday": (11, 3, 4, 1),
    "cyber monday": (11, 3, 4, 4),
}
# Of the western churches, whose Easter is what the word means in English unless somebody says orthodox.
_EASTER = {
    "ash wednesday": -46,
    "palm sunday": -7,
    "good friday": -2,
    "easter": 0,
    "easter sunday": 0,
    "easter day": 0,
    "easter monday": 1,
    "pentecost": 49,
    "whit sunday": 49,
    "whit monday": 50,
}
_IN_TWO_MONTHS = "in November in the United States and in October in Canada"
_ELSEWHERE = "on different days in different countries"
_DIFFERS = {
    "thanksgiving": _IN_TWO_MONTHS,
    "thanksgiving day": _IN_TWO_MONTHS,
    "mothers day": _ELSEWHERE,
    "fathers day": _ELSEWHERE,
    "independence day": _ELSEWHERE,
    "labour day": _ELSEWHERE,
}
_LONGEST = 5


def holiday_name(line: Line, place: int) -> tuple[str, int] | None:
    """The longest name of a day that stands there, without its apostrophe."""
    words: list[str] = []
    found, after = None, place
    while len(words) < _LONGEST and after < place + 2 * _LONGEST:
        if line.sign(after) == "'" and words:
            possessive = line.word(after + 1) == "s" and line.joined(after + 1)
            words[-1] += "s" if possessive and not words[-1].endswith("s") else ""
            after += 1 + possessive
            continue
        if not line.word(after):
            break
        words.append(line.word(after))
        after += 1
        name = " ".join(words)
        if name in _DIFFERS:
            line.complain(place, after, f"that is {_DIFFERS[name]}: give the date")
        if name in _FIXED or name in _WEEKDAYS or name in _EASTER:
            found = name, after
    return found


def on_holiday(name: str, year: int) -> Period:
    """That day in that year."""
    if name in _FIXED:
        return day_period(year, *_FIXED[name])
    if name in _EASTER:
        return unit_around("day", _easter(year), _EASTER[name])
    month, weekday, count, later = _WEEKDAYS[name]
    first = days_of(year, month, 1)
    if count > 0:
        return unit_around("day", first + (weekday - weekday_of(first)) % 7 + 7 * (count - 1) + later)
    last = days_of(year, month + 1, 1) - 1
    return unit_around("day", last - (weekday_of(last) - weekday) % 7 + 7 * (count + 1) + later)


def latest_holiday(line: Line, name: str) -> Period:
    """The latest such day that has begun by the reference."""
    if name in _FIXED:
        return latest(line, replace(on_holiday(name, line.this_year), cycle="year"))
    this = on_holiday(name, line.this_year)
    found = this if this.start <= line.now else on_holiday(name, line.this_year - 1)
    return replace(found, cycle="name")


def _easter(year: int) -> int:
    """Days from 1970-01-01 to Easter Sunday of a Gregorian year (J. Meeus, Astronomical Algorithms, chapter 8)."""
    century, rest = divmod(year, 100)
    leap = (century + 8) // 25
    moon = (19 * (year % 19) + century - century // 4 - (century - leap + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return days_of(year, month, day + 1)
