"""Dates that name a place in the calendar: years, months, days, weeks, quarters, decades and centuries.

One that leaves its year (month, week) open is the latest that has begun by the reference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semgraph.dates.holidays import holiday_name, latest_holiday, on_holiday
from semgraph.dates.line import cardinal, century_of, latest, ordinal, year_number
from semgraph.dates.numeric import numeric_date
from semgraph.dates.periods import (
    Period,
    day_period,
    decade_period,
    half_period,
    iso_week,
    month_period,
    quarter_period,
    recurring,
    unit_around,
    weekday_of,
    year_period,
    years_period,
)
from semgraph.dates.words import CENTURY_WORDS, DECADES, MONTHS, SEASONS, WEEKDAYS
from semgraph.instants import DAY

if TYPE_CHECKING:
    from semgraph.dates.line import Line

__all__ = ["absolute", "day_name", "month_name", "weekday_name", "which_year"]

Found = tuple[Period, int] | None

_WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_BEFORE_CHRIST = {"bc", "bce"}
_OUR_ERA = {"ad", "ce"}


def absolute(line: Line, place: int) -> Found:
    """The longest date of the calendar that starts there."""
    rules = (_with_weekday, dated, _week, _part_of_year, _decade, _century, _whole_year, _day_of_month, _named_day)
    found = [hit for rule in rules if (hit := rule(line, place)) is not None]
    if line.word(place) in SEASONS and not found:
        _complain_of_season(line, place)
    return max(found, key=lambda hit: hit[1], default=None)


# -- names


def month_name(line: Line, place: int) -> tuple[int, int] | None:
    """The number of the month named there."""
    month = MONTHS.get(line.word(place))
    if month is None:
        return None
    dotted = len(line.word(place)) <= 4 and line.joined(place + 1)
    return month, line.skip(place + 1, signs=".") if dotted else place + 1


def weekday_name(line: Line, place: int) -> tuple[int, int] | None:
    """0 to 6 for the weekday named there, Monday first."""
    weekday = WEEKDAYS.get(line.word(place))
    if weekday is None:
        return None
    dotted = len(line.word(place)) <= 4 and line.joined(place + 1)
    return weekday, line.skip(place + 1, signs=".") if dotted else place + 1


def day_name(line: Line, place: int) -> tuple[int, int] | None:
    """A day of a month: 5, 5th, the fifth, twenty-one."""
    after = line.skip(place, ("the",))
    found = ordinal(line, after)
    if found is None:
        number = line.number(after)
        found = (number, after + 1) if number is not None and line.digits(after) <= 2 else None
        if found is None and line.word(after) not in ("a", "an"):
            found = cardinal(line, after) if line.number(after) is None else None
    return found if found is not None and 1 <= found[0] <= 31 else None


def which_year(line: Line, place: int) -> tuple[int, int] | None:
    """A year with its era, or last, this or next year."""
    place = line.skip(place, ("the",))
    steps = {"last": -1, "this": 0, "next": 1, "previous": -1, "current": 0}.get(line.word(place))
    if steps is not None and line.word(place + 1) == "year":
        return line.this_year + steps, place + 2
    if line.word(place) in ("year", "cy"):
        place += 1
    return _era_year(line, place) or year_number(line, place)


def _era_year(line: Line, place: int) -> tuple[int, int] | None:
    if line.word(place) == "ad" and (year := line.number(place + 1)):
        return year, place + 2
    year = line.number(place)
    if not year:
        return None
    era, after = _era(line, place + 1)
    return None if not era else (1 - year if era < 0 else year, after)


def _era(line: Line, place: int) -> tuple[int, int]:
    """-1 or 1 for an era named there, dotted or not, and the place after it; 0 for none."""
    word = line.word(place)
    if word in _BEFORE_CHRIST or word in _OUR_ERA:
        return (-1 if word in _BEFORE_CHRIST else 1), place + 1
    letters, after = "", place
    while len(line.word(after)) == 1 and line.sign(after + 1) == "." and line.joined(after + 1) and len(letters) < 3:
        letters, after = letters + line.word(after), after + 2
    if letters in _BEFORE_CHRIST or letters in _OUR_ERA:
        return (-1 if letters in _BEFORE_CHRIST else 1), after
    return 0, place


def _year_after(line: Line, place: int) -> tuple[int, int] | None:
    """The year that completes a month or day: `, 2020`, `of 2020`, `-2020`, `last year`."""
    after = line.skip(place, signs=",.-/")
    joint = after > place and line.sign(place) in "-/." and line.joined(place) and line.joined(after)
    found = which_year(line, line.skip(after, ("of", "in")))
    if found is not None:
        return found
    if (joint and line.digits(after) == 2) or (line.word(after) == "of" and line.digits(after + 1) == 2):
        if line.word(after) == "of":
            after += 1
        year = century_of(line, line.number(after) or 0)
        told = joint or (line.number(after) or 0) > 31
        return (
            None if year is None or not told or (line.joined(after + 1) and line.word(after + 1)) else (year, after + 1)
        )
    return None


# -- days and months


def dated(line: Line, place: int) -> Found:
    """A month or a day of a month, with or without its year, in words or in numbers."""
    rules = (_day_month, _month_day, _month_year, _year_month, numeric_date)
    found = [hit for rule in rules if (hit := rule(line, place)) is not None]
    return max(found, key=lambda hit: hit[1], default=None)


def _day_month(line: Line, place: int) -> Found:
    day = day_name(line, place)
    if day is None:
        return None
    after = line.skip(line.skip(day[1], ("day",)), ("of",), "-/.,")
    month = month_name(line, after)
    if month is None and line.word(after) in ("this", "last", "next", "the", "current"):
        return _day_of_relative_month(line, day[0], after)
    return None if month is None else _day(line, place, month[0], day[0], month[1])


def _day_of_relative_month(line: Line, day: int, place: int) -> Found:
    """`The 20th of next month`."""
    steps = {"last": -1, "this": 0, "next": 1, "the": 0, "current": 0}[line.word(place)]
    if line.word(place + 1) != "month" or line.word(place + 2) in ("before", "after"):
        return None
    month = unit_around("month", line.today, steps).day
    return _checked_day(line, place, month[0], month[1], day, place + 2)


def _month_day(line: Line, place: int) -> Found:
    month = month_name(line, place)
    if month is None:
        return None
    day = day_name(line, line.skip(month[1], signs="-/.,"))
    if day is None:
        return None
    after = day[1]
    if (line.joined(after) and (line.sign(after) == ":" or line.word(after))) or line.word(after) in ("am", "pm"):
        return None
    return _day(line, place, month[0], day[0], after)


def _day(line: Line, place: int, month: int, day: int, after: int) -> Found:
    year = _year_after(line, after)
    if year is not None and not _range_of_days(line, after, year[1]):
        return _checked_day(line, place, year[0], month, day, year[1])
    try:
        found = replace(day_period(2000, month, day), cycle="year")
    except ValueError:
        line.complain(place, after, "the calendar has no such day")
        return None
    return latest(line, found), after


def _range_of_days(line: Line, place: int, after: int) -> bool:
    """Whether what looks like a year ends a range: `May 19-20`, which `19-May-20` is not."""
    dashed = line.sign(place) == "-" and after == place + 2 and line.digits(place + 1) == 2
    return dashed and line.sign(place - 2) != "-"


def _checked_day(line: Line, place: int, year: int, month: int, day: int, after: int) -> Found:
    try:
        return day_period(year, month, day), after
    except ValueError:
        line.complain(place, after, "the calendar has no such day")
        return None


def _month_year(line: Line, place: int) -> Found:
    start = line.words(line.skip(place, ("the",)), "month", "of")
    month = month_name(line, place if start is None else start)
    if month is None:
        return None
    year = _year_after(line, month[1])
    if year is not None:
        return month_period(year[0], month[0]), year[1]
    return latest(line, replace(month_period(line.this_year, month[0]), cycle="year")), month[1]


def _year_month(line: Line, place: int) -> Found:
    year = year_number(line, place)
    if year is None:
        return None
    month = month_name(line, line.skip(year[1], signs="-/.,"))
    if month is None:
        return _year_day_month(line, place, year)
    day = day_name(line, line.skip(month[1], signs="-/.,"))
    if day is not None and line.digits(day[1] - 1) <= 2:
        return _checked_day(line, place, year[0], month[0], day[0], day[1])
    return month_period(year[0], month[0]), month[1]


def _year_day_month(line: Line, place: int, year: tuple[int, int]) -> Found:
    """`2020/23/Sep`."""
    sign, day = line.sign(year[1]), line.number(year[1] + 1)
    if sign not in ("/", "-", ".") or day is None or line.digits(year[1] + 1) > 2 or line.sign(year[1] + 2) != sign:
        return None
    month = month_name(line, year[1] + 3)
    return None if month is None else _checked_day(line, place, year[0], month[0], day, month[1])


def _day_of_month(line: Line, place: int) -> Found:
    """`The 15th` and `the 27`: the latest such day."""
    after = line.skip(place, ("the",))
    day = ordinal(line, after)
    if day is None and after > place and line.digits(after) in (1, 2):
        day = (line.number(after) or 0, after + 1)
    if day is None or not 1 <= day[0] <= 31 or line.word(day[1]) in ("century", "quarter", "half", "month", "week"):
        return None
    if after == place and line.number(place) is None:
        return None  # `first` and `second` are no days by themselves
    return latest(line, replace(day_period(2000, 1, day[0]), cycle="month")), day[1]


def _named_day(line: Line, place: int) -> Found:
    name = holiday_name(line, place)
    if name is None:
        return None
    year = _year_after(line, name[1])
    return (on_holiday(name[0], year[0]), year[1]) if year is not None else (latest_holiday(line, name[0]), name[1])


# -- weekdays


def _with_weekday(line: Line, place: int) -> Found:
    weekday = weekday_name(line, place)
    if weekday is None:
        return None
    after = line.skip(weekday[1], signs=",(")
    date = dated(line, after) or _day_of_month(line, after) or _day_after_weekday(line, after)
    if date is None:
        monday = line.today - weekday_of(line.today)
        found = Period((monday + weekday[0]) * DAY, (monday + weekday[0] + 1) * DAY, "day", cycle="week")
        return latest(line, found), weekday[1]
    period, end = date
    if period.precision != "day":
        return None
    steps = {"year": (0, 1, -1), "month": (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5)}.get(period.cycle, ())
    for round_ in filter(None, (recurring(period, step) for step in steps)) if steps else (period,):
        if weekday_of(round_.start // DAY) == weekday[0]:
            return replace(round_, cycle=""), end
    actual = _WEEKDAY_NAMES[weekday_of(period.start // DAY)]
    line.complain(place, end, f"that day is a {actual}" if not period.cycle else "no such day comes near")
    return None


def _day_after_weekday(line: Line, place: int) -> Found:
    """`Monday 21` and `Friday the fifteenth`."""
    day = day_name(line, place)
    if day is None or line.word(day[1]) in ("am", "pm") or line.sign(day[1]) in (":", ".", "/", "-"):
        return None
    return latest(line, replace(day_period(2000, 1, day[0]), cycle="month")), day[1]


# -- larger units


def _week(line: Line, place: int) -> Found:
    """`2026-W29`, `W29 2026`, `week 29 of 2026`."""
    year = year_number(line, place)
    start = place if year is None else line.skip(year[1], signs="-")
    if line.word(start) not in ("w", "week"):
        return None
    start = line.skip(start + 1)
    week, after = line.number(start), start + 1
    if week is None or line.digits(start) > 2:
        return None
    if year is None:
        year = which_year(line, line.skip(line.skip(after, signs=","), ("of", "in")))
        if year is not None:
            after = year[1]
        elif line.word(place) == "w":
            return None
    try:
        return iso_week(line.this_year if year is None else year[0], week), after
    except ValueError:
        line.complain(place, after, "the year has no such week")
        return None


def _part_of_year(line: Line, place: int) -> Found:
    """Quarters and halves: `Q3 2024`, `2024-Q3`, `H1`, `the third quarter of last year`."""
    year = year_number(line, place) or _year_of(line, place)
    start = place if year is None else line.skip(year[1], signs="-")
    kind, number, after = line.word(start), line.number(start + 1), start + 2
    if kind not in ("q", "h") or number is None or not line.joined(start + 1):
        count = ordinal(line, line.skip(start, ("the",)))
        if count is None:
            return None
        number, after = count[0], line.skip(count[1], signs="-") + 1
        kind = {"quarter": "q", "half": "h", "month": "m"}.get(line.word(after - 1), "")
    limit = {"q": 4, "h": 2, "m": 12}.get(kind, 0)
    if not 1 <= number <= limit:
        return None
    if year is None:
        link = line.skip(line.skip(after, signs=",-'"), ("of", "in"))
        year = which_year(line, link)
        if year is None and line.words(link, "the", "year") is not None:
            year = line.this_year, link + 2
        if year is None and kind != "q":
            return None
        after = after if year is None else year[1]
    make = {"q": quarter_period, "h": half_period, "m": month_period}[kind]
    if year is None:
        return latest(line, replace(make(line.this_year, number), cycle="year")), after
    return make(year[0], number), after


def _year_of(line: Line, place: int) -> tuple[int, int] | None:
    """`Last year's`, `2019's`."""
    year = which_year(line, place)
    owns = year is not None and line.sign(year[1]) == "'" and line.word(year[1] + 1) == "s"
    return (year[0], year[1] + 2) if owns and year is not None else None


def _decade(line: Line, place: int) -> Found:
    place = line.skip(place, ("the",))
    number = line.number(place)
    start = place + 1 if line.sign(place) == "'" else place
    if number is None and start > place:
        number = line.number(start)
    if number is not None and number % 10 == 0 and line.digits(start) in (2, 4):
        after = line.skip(start + 1, signs="'")
        if line.word(after) != "s":
            return None
        after += 1
        if line.digits(start) == 4:
            return decade_period(number), after
        return _short_decade(line, start, number, after)
    century = {"eighteen": 1800, "nineteen": 1900, "twenty": 2000}.get(line.word(place))
    word = line.skip(place + 1, signs="-") if century else place
    if line.word(word) in DECADES:
        tens = 10 * DECADES[line.word(word)] if DECADES[line.word(word)] < 10 else DECADES[line.word(word)]
        if century:
            return decade_period(century + tens), word + 1
        return _short_decade(line, place, tens, place + 1)
    if line.word(place) == "noughties":
        return decade_period(2000), place + 1
    if century == 2000 and line.word(word) == "tens":
        return decade_period(2010), word + 1
    return None


def _short_decade(line: Line, place: int, tens: int, after: int) -> Found:
    """`The nineties` are those of the last century, where the running one has not had its own yet."""
    century = line.this_year // 100 * 100
    if tens <= line.this_year % 100 + 10:
        line.complain(place, after, f"is it {century - 100 + tens}s or {century + tens}s? Write all four digits")
        return None
    return decade_period(century - 100 + tens), after


def _century(line: Line, place: int) -> Found:
    """`The 19th century` is 1800 to 1899, as people (and EDTF) have it."""
    count = ordinal(line, line.skip(place, ("the",)))
    if count is None:
        return None
    word = line.skip(count[1], signs="-")
    size = CENTURY_WORDS.get(line.word(word))
    if not size or not count[0]:
        return None
    era, after = _era(line, word + 1)
    if era < 0:
        return years_period(1 - size * count[0], size), after
    # There is no year zero of our era, so that its first century has only ninety-nine years.
    first = size * (count[0] - 1)
    return (years_period(first, size) if first else years_period(1, size - 1)), after


def _whole_year(line: Line, place: int) -> Found:
    year = which_year(line, place)
    if year is None and line.word(place) == "year" and 3 <= line.digits(place + 1) <= 4:
        year = line.number(place + 1) or 0, place + 2
    if year is None and line.word(place) == "year":
        words = cardinal(line, place + 1)
        if words is not None and line.word(words[1]) == "hundred":
            rest = cardinal(line, line.skip(words[1] + 1, ("and",)))
            year = (100 * words[0] + rest[0], rest[1]) if rest else (100 * words[0], words[1] + 1)
    return None if year is None else (year_period(year[0]), year[1])


def _complain_of_season(line: Line, place: int) -> None:
    season = line.word(place)
    north = {"spring": "March to May", "summer": "June to August", "winter": "December to February"}
    south = {"spring": "September to November", "summer": "December to February", "winter": "June to August"}
    line.complain(
        place,
        place + 1,
        f"{season} is {north.get(season, 'September to November')} in the north and "
        f"{south.get(season, 'March to May')} in the south: give the months",
    )
