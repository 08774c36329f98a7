"""Dates that count from the reference: yesterday, last month, two weeks ago, the day after tomorrow, Friday last week.

Where people disagree on what the words mean on that day, as they do on next Friday, the words are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semgraph.dates.absolute import absolute, day_name, month_name, weekday_name
from semgraph.dates.line import cardinal, ordinal
from semgraph.dates.periods import (
    Part,
    Period,
    add_months,
    calendar_unit,
    clock_time,
    day_period,
    month_period,
    part_of,
    period_between,
    unit_around,
    weekday_of,
)
from semgraph.dates.words import SEASONS, UNITS
from semgraph.instants import DAY, HOUR, MINUTE, SECOND, date_of, days_of, format_date

if TYPE_CHECKING:
    from semgraph.dates.line import Line

__all__ = ["date_at", "moved"]

Found = tuple[Period, int] | None

_MOST_UNITS = 6  # in one amount: years, months, weeks, days, hours, minutes
_DEEPEST = 4  # dates that count from dates that count from dates
_STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1}
_NEAR_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1, "tmrw": 1}
_ABOUT = ("of", "after", "before", "from", "following")
_STARTING = ("starting", "beginning", "commencing")
_NOW = (("now",), ("right", "now"), ("just", "now"), ("at", "the", "moment"), ("at", "present"), ("currently",))
_CLOCK = {"second": SECOND, "minute": MINUTE, "hour": HOUR}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12_000}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
# A count of these is rarely meant to the day.
_SLACK = {"week": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 183, "decade": 1826, "century": 18_262}
_PARTS: dict[str, Part] = {"early": "early", "mid": "mid", "late": "late"}
_EDGES: dict[str, Part] = {"beginning": "beginning", "start": "beginning", "middle": "middle", "end": "end"}
# What has units of a kind that are counted: the third week of May.
_WITHIN = {"day": ("month", "year"), "week": ("month", "year"), "month": ("year",)}

Amount = tuple[int, int, int, str]  # microseconds on the clock, days, months, and the coarsest unit


def date_at(line: Line, place: int, depth: int = 0) -> Found:
    """The longest date that starts there, relative or not."""
    if depth > _DEEPEST:
        return None
    found = [hit for rule in _RULES if (hit := rule(line, place, depth)) is not None]
    plain = absolute(line, place)
    if plain is not None:
        found += [plain, *filter(None, [_within_unit(line, plain)])]
    return max(found, key=lambda hit: hit[1], default=None)


def _named(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """Now, today, the day before yesterday."""
    for phrase in _NOW:
        if (after := line.words(place, *phrase)) is not None:
            return clock_time(line.now, "instant", line.offset), after
    start = line.skip(place, ("the",))
    for side, step in (("before", -1), ("after", 1)):
        after = line.words(start, "day", side)
        if after is not None and _NEAR_DAYS.get(line.word(after)) == step:
            return unit_around("day", line.today, 2 * step), after + 1
    step = _NEAR_DAYS.get(line.word(place), 9)
    return (unit_around("day", line.today, step), place + 1) if step != 9 else None


# -- counts


def _counted(line: Line, place: int, depth: int) -> Found:
    """`Two weeks ago`, `in three days`, `5 days from tomorrow`, `2 weeks before 13 May 1999`."""
    ahead = line.word(place) == "in"
    amount = _amount(line, line.skip(place, ("in", "about")))
    if amount is None:
        return None
    count, after = amount
    if ahead:
        return moved(line, line.now, count, 1), after
    word = line.word(after)
    if word in ("ago", "back"):
        return moved(line, line.now, count, -1), after + 1
    sign = {"from": 1, "after": 1, "before": -1}.get(word)
    if sign is None:
        return None
    if line.word(after + 1) == "now":
        return moved(line, line.now, count, sign), after + 2
    base = date_at(line, after + 1, depth + 1)
    if base is None or base[0].precision != "day" or count[0]:
        return None
    if base[0].cycle:
        line.complain(place, base[1], "which of them? Give the date that it counts from in full")
        return None
    found = moved(line, base[0].start, count, sign)
    return replace(found, flag=base[0].flag, slack=base[0].slack), base[1]


def _amount(line: Line, place: int) -> tuple[Amount, int] | None:
    """`1 month and 21 days`, `a couple of weeks`, `a year and a half`, `half a year`."""
    clock = days = months = 0
    coarsest, vague = "", False
    first = place
    for _ in range(_MOST_UNITS):
        if (half := _half_unit(line, place)) is not None and not coarsest:
            unit, place = half
            return _half(unit), place
        count = (1, place) if line.word(place) == "couple" else cardinal(line, place)
        if count is None:
            break
        number, after = count
        if line.word(after) in ("couple", "dozen"):
            number, vague = (2 if line.word(after) == "couple" else 12), True
            after = line.skip(after + 1, ("of",))
        extra = line.words(after, "and", "a", "half")
        unit = UNITS.get(line.word(extra or after), "")
        if (unit not in _CLOCK and unit not in _DAYS and unit not in _MONTHS) or number > 100_000:
            break
        after = (extra or after) + 1
        trailing = line.words(after, "and", "a", "half")
        clock += number * _CLOCK.get(unit, 0)
        days += number * _DAYS.get(unit, 0)
        months += number * _MONTHS.get(unit, 0)
        if extra or trailing:
            more = _half(unit)
            clock, days, months, after = clock + more[0], days + more[1], months + more[2], trailing or after
        coarsest, place = unit if not coarsest or vague else "day", after
        following = line.skip(line.skip(place, signs=","), ("and",))
        if cardinal(line, following) is None:
            break
        place = following
    return None if not coarsest or place == first else ((clock, days, months, coarsest), place)


def _half_unit(line: Line, place: int) -> tuple[str, int] | None:
    for phrase in (("half", "a"), ("half", "an"), ("a", "half"), ("half",)):
        after = line.words(place, *phrase)
        unit = UNITS.get(line.word(after), "") if after is not None else ""
        if after is not None and unit in ("hour", "year", "decade", "century"):
            return unit, after + 1
    return None


def _half(unit: str) -> Amount:
    if unit in _CLOCK:
        return _CLOCK[unit] // 2, 0, 0, unit
    if unit in ("month", "week", "day", "fortnight"):
        days = {"month": 15, "week": 3, "fortnight": 7, "day": 0}[unit]
        return (12 * HOUR if unit == "day" else 0), days, 0, unit
    return 0, 0, _MONTHS[unit] // 2, unit


def moved(line: Line, base: int, amount: Amount, sign: int) -> Period:
    """The day or minute so much later (sign 1) or earlier (-1) than a local time; in large units, about that day."""
    clock, days, months, unit = amount
    year, month, day = add_months(date_of(base // DAY), sign * months)
    if clock:
        start = days_of(year, month, day) * DAY + base % DAY + sign * (days * DAY + clock)
        return clock_time(start, "minute", line.offset)
    found = unit_around("day", days_of(year, month, day) + sign * days)
    slack = _SLACK.get(unit, 0)
    return replace(found, flag="~", slack=slack * DAY) if slack and base == line.now else found


# -- this, last and next


def _unit_step(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Last month`, `this year`, `the week before last`, `the month after next`."""
    start = line.skip(place, ("the",))
    step = _STEPS.get(line.word(start))
    if step is not None:
        unit = start + 1
        if step == 0 and line.word(unit) in ("past", "coming"):
            step, unit = (-1 if line.word(unit) == "past" else 1), unit + 1
        name = UNITS.get(line.word(line.skip(unit, ("calendar",))), "")
        after = line.skip(unit, ("calendar",)) + 1
        if name == "weekend" and step == 1 and weekday_of(line.today) < 5:
            line.complain(place, after, "is it the weekend of this week or of the next? Give the date")
            return None
        if name in _CLOCK or not name or (line.word(after - 1) != name and name != "century"):
            if line.word(unit) in SEASONS:
                absolute(line, unit)
            return None
        return unit_around(name, line.today, step), after
    name = UNITS.get(line.word(start), "")
    for phrase, far in ((("before", "last"), -2), (("after", "next"), 2), (("after", "the", "next"), 2)):
        end = line.words(start + 1, *phrase)
        if end is not None and name and name not in _CLOCK:
            return unit_around(name, line.today, far), end
    inside = start > place and line.word(place - 1) in ("of", "in")
    if inside and name and name not in _CLOCK and line.word(start) == name:
        return unit_around(name, line.today), start + 1
    return None


def _several_units(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`The last three months`: up to the reference; `the next two weeks`: from the day after it."""
    start = line.skip(place, ("the",))
    step = _STEPS.get(line.word(start), 0)
    if not step or line.word(start + 1) in ("a", "an"):
        return None
    if UNITS.get(line.word(start + 1)) and line.number(start + 1) is None:
        return None
    amount = _amount(line, start + 1)
    if amount is None:
        return None
    return _units_from_today(line, step, *amount)


def _within(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Within the next three years`, `within 2 weeks from today`: from the reference on, its day included."""
    start = line.words(place, "within")
    if start is None:
        return None
    told = line.skip(line.skip(start, ("the",)), ("next", "coming", "upcoming"))
    amount = _amount(line, told if line.word(told - 1) != "the" else start)
    if amount is None:
        return None
    (clock, days, months, _), after = amount
    after = next(filter(None, (line.words(after, "from", now) for now in ("now", "today"))), after)
    if line.word(after) in _ABOUT:  # counted from something else
        return None
    if clock:
        return (period_between(line.now, line.now + clock), after) if not (days or months) else None
    return period_between(line.today * DAY, (days_of(*add_months(date_of(line.today), months)) + days) * DAY), after


def _units_from_today(line: Line, step: int, amount: Amount, after: int) -> Found:
    clock, days, months, unit = amount
    if clock:
        edge = line.now + step * clock
        return period_between(*sorted((line.now, edge))), after
    if unit in ("quarter", "decade", "century") and not days:
        count = months // _MONTHS[unit]
        near, far = unit_around(unit, line.today, step), unit_around(unit, line.today, step * count)
        return period_between(min(near.start, far.start), max(near.end, far.end)), after
    today = line.today if step < 0 else line.today + 1
    edge = days_of(*add_months(date_of(today), step * months)) + step * days
    low, high = sorted((today, edge))
    return (period_between(low * DAY, high * DAY), after) if low < high else None


def _so_far(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Earlier this month` and `year to date`: up to the day of the reference."""
    start = line.skip(place, ("the",))
    name = UNITS.get(line.word(start), "")
    after = line.words(start + 1, "to", "date")
    if after is None and line.word(place) == "earlier" and line.word(place + 1) == "this":
        name, after = UNITS.get(line.word(place + 2), ""), place + 3
    if after is None or name not in ("week", "month", "quarter", "year", "decade", "century"):
        return None
    begun, today = unit_around(name, line.today).start, line.today * DAY
    return (period_between(begun, today), after) if begun < today else None


def _stretch(line: Line, place: int, depth: int) -> Found:
    """`Two weeks starting 20 May`, `ten previous weeks`, `for 3 days from today`."""
    count = cardinal(line, place)
    if count is not None and _STEPS.get(line.word(count[1])) and UNITS.get(line.word(count[1] + 1)):
        step, unit = _STEPS[line.word(count[1])], UNITS[line.word(count[1] + 1)]
        if unit in _DAYS or unit in _MONTHS:
            amount_told = (0, count[0] * _DAYS.get(unit, 0), count[0] * _MONTHS.get(unit, 0), unit)
            return _units_from_today(line, step, amount_told, count[1] + 2)
    lasting = line.words(place, "for")
    amount = _amount(line, lasting or place)
    start = None if amount is None else line.skip(amount[1], signs=",") if lasting else amount[1]
    if amount is not None and start and line.word(start) in (("from", *_STARTING) if lasting else _STARTING):
        day = date_at(line, line.skip(start + 1, ("on", "from")), depth + 1)
        (clock, days, months, _), _ = amount
        if day is not None and day[0].cycle and lasting:
            line.complain(place, day[1], "which of them? Give the date on which it starts in full")
            return None
        if day is None or day[0].precision != "day" or clock:
            return None
        end = days_of(*add_months(day[0].day, months)) + days
        return period_between(day[0].start, end * DAY), day[1]
    return None


def _weekday_in_week(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Next week Wednesday`, `last week on Tuesday`."""
    step = _STEPS.get(line.word(place))
    if step is None or line.word(place + 1) != "week":
        return None
    weekday = weekday_name(line, line.skip(line.skip(place + 2, ("on",)), signs=","))
    if weekday is None:
        return None
    return unit_around("day", unit_around("week", line.today, step).start // DAY + weekday[0]), weekday[1]


def _last_weekday(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Last Friday`, `this Friday`, `next Friday`, where all who say it mean the same day."""
    step = _STEPS.get(line.word(line.skip(place, ("the",))), 9)
    if step == 9:
        return None
    start = line.skip(place, ("the",)) + 1
    sure = line.word(start - 1) in ("past", "coming", "upcoming")
    if step == 0 and line.word(start) in ("past", "coming", "upcoming", "last", "next"):
        step, start, sure = _STEPS.get(line.word(start), 0), start + 1, True
    weekday = weekday_name(line, start)
    if weekday is None:
        return None
    today = weekday_of(line.today)
    monday = line.today - today
    nearest = {
        -1: line.today - ((today - weekday[0] - 1) % 7 + 1),
        0: line.today + (weekday[0] - today) % 7,
        1: line.today + ((weekday[0] - today - 1) % 7 + 1),
    }[step]
    by_week = monday + 7 * step + weekday[0]
    if nearest != by_week and not sure:
        choice = " or ".join(format_date(*date_of(day)) for day in sorted((nearest, by_week)))
        line.complain(place, weekday[1], f"that is {choice}, depending on who says it: give the date")
        return None
    return day_period(*date_of(nearest)), weekday[1]


def _last_month(line: Line, place: int, depth: int) -> Found:  # noqa: ARG001 - a rule like the others
    """`Last March`, `this March`, `next March`, where all who say it mean the same one."""
    step = _STEPS.get(line.word(place))
    month = None if step is None else month_name(line, place + 1)
    if month is None or step is None or day_name(line, month[1]) is not None:
        return None
    year, now, _ = date_of(line.today)
    gone = month[0] < now
    if step and month[0] != now and gone is (step < 0):
        line.complain(place, month[1], f"is it that of {year} or of {year + step}? Give the year")
        return None
    return month_period(year + step, month[0]), month[1]


def _within_unit(line: Line, found: tuple[Period, int]) -> Found:
    """`Friday last week`, `March of next year`, `the 5th of this month`, `May 5th last year`."""
    period, after = found
    after = line.skip(after, ("of", "on", "in"))
    whole = _unit_step(line, after, 0)
    if whole is None:
        return None
    unit = calendar_unit(whole[0])
    if (unit, period.cycle) not in {("week", "week"), ("year", "year"), ("month", "month")}:
        return None
    _, month, day = period.day
    target = whole[0].day
    if unit == "week":
        start = whole[0].start + weekday_of(period.start // DAY) * DAY
        return replace(period, start=start, end=start + DAY, cycle=""), whole[1]
    if period.precision not in ("day", "month"):
        return None
    try:
        if unit == "month":
            return day_period(target[0], target[1], day), whole[1]
        made = day_period(target[0], month, day) if period.precision == "day" else month_period(target[0], month)
    except ValueError:
        line.complain(found[1], whole[1], "the calendar has no such day")
        return None
    return made, whole[1]


# -- inside other dates


def _part(line: Line, place: int, depth: int) -> Found:
    """`Early 2019`, `mid-March`, `the end of last year`, `beginning of next week`."""
    start = line.skip(place, ("the",))
    word = line.word(start)
    part = _PARTS.get(word)
    after = line.skip(start + 1, signs="-")
    if part is None or line.word(after) in ("of", "in"):
        part, after = _EDGES.get(word) or part, line.words(start + 1, "of") or line.words(start + 1, "in") or 0
    if part is None or not after:
        return None
    whole = date_at(line, after, depth + 1)
    if whole is None and word in _EDGES and line.word(after) in ("month", "year", "quarter", "week"):
        whole = unit_around(line.word(after), line.today), after + 1
    if whole is None or whole[0].part is not None:
        return None
    found = part_of(whole[0], part)
    return None if found is None else (found, whole[1])


def _nth_unit(line: Line, place: int, depth: int) -> Found:
    """`The first week of 2015`, `the last ten days of May`, `the third week next year`."""
    start = line.skip(place, ("the",))
    count = (-1, start + 1) if line.word(start) == "last" else ordinal(line, start)
    if count is None:
        return None
    number, after = (cardinal(line, count[1]) if count[0] in (1, -1) else None) or (1, count[1])
    unit, after = UNITS.get(line.word(after), ""), after + 1
    vague = (number == 1) != (line.word(after - 1) == unit)  # the last days of May
    inner = line.word(after) in ("of", "in")
    if unit not in _WITHIN or number < 1 or vague or not (inner or line.word(after) in _STEPS):
        return None
    whole = date_at(line, after + inner, depth + 1) if inner else _unit_step(line, after, depth)
    if whole is None or whole[0].precision not in _WITHIN[unit] or whole[0].part or whole[0].flag:
        return None
    edges = _edges_within(whole[0], unit)
    first = count[0] - 1 if count[0] > 0 else len(edges) - 1 - number
    if not 0 <= first < len(edges) - number:
        line.complain(place, whole[1], f"the {whole[0].precision} has fewer of them")
        return None
    found = unit_around(unit, edges[first])
    if number > 1:
        found = period_between(edges[first] * DAY, edges[first + number] * DAY)
    return _of_its_year(found, whole[0]), whole[1]


def _of_its_year(found: Period, whole: Period) -> Period:
    """A part of a month whose year was left open: that comes round on other days."""
    return replace(found, cycle="name") if whole.cycle else found


def _edges_within(whole: Period, unit: str) -> list[int]:
    """The days on which its units start, and the one after the last: a week is of the month that has most of it."""
    first, end = whole.start // DAY, whole.end // DAY
    if unit == "day":
        return [*range(first, end + 1)]
    if unit == "week":
        monday, last = (unit_around("week", day).start // DAY for day in (first + 3, end - 4))
        return [*range(monday, last + 8, 7)]
    year, month, _ = whole.day
    return [days_of(*add_months((year, month, 1), step)) for step in range(13)]


def _nth_weekday(line: Line, place: int, depth: int) -> Found:
    """`The second Monday of next month`, `the last Friday in May 2020`."""
    start = line.skip(place, ("the",))
    count = (-1, start + 1) if line.word(start) == "last" else ordinal(line, start)
    weekday = None if count is None else weekday_name(line, count[1])
    if count is None or weekday is None or line.word(weekday[1]) not in ("of", "in"):
        return None
    month = date_at(line, weekday[1] + 1, depth + 1)
    if month is None or month[0].precision != "month":
        return None
    first, end = month[0].start // DAY, month[0].end // DAY
    days = [day for day in range(first, end) if weekday_of(day) == weekday[0]]
    if count[0] != -1 and not 1 <= count[0] <= len(days):
        line.complain(place, month[1], "the month has fewer of them")
        return None
    return _of_its_year(unit_around("day", days[count[0] - 1 if count[0] > 0 else -1]), month[0]), month[1]


def _week_of(line: Line, place: int, depth: int) -> Found:
    """`The week of 16 September`: the one in which that day lies."""
    start = line.skip(place, ("the", "a"))
    after = line.words(start, "week", "of")
    if line.word(start) == "w" and line.sign(start + 1) == "/" and line.word(start + 2) == "c":
        day = date_at(line, start + 3, depth + 1)
        return None if day is None or day[0].precision != "day" else (unit_around("week", day[0].start // DAY), day[1])
    if after is None and line.word(start) == "week" and line.word(start + 1) in _STARTING:
        after = line.skip(start + 2, ("on", "from"))
        day = date_at(line, after, depth + 1)
        if day is None or day[0].precision != "day":
            return None
        return period_between(day[0].start, day[0].start + 7 * DAY), day[1]
    day = None if after is None else date_at(line, after, depth + 1)
    if day is None or day[0].precision != "day":
        return None
    return unit_around("week", day[0].start // DAY), day[1]


_RULES = (
    _named,
    _part,
    _counted,
    _unit_step,
    _several_units,
    _within,
    _so_far,
    _stretch,
    _weekday_in_week,
    _last_weekday,
    _last_month,
    _nth_unit,
    _nth_weekday,
    _week_of,
)
