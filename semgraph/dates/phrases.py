"""Phrases that place something in time: a date with what stands before and after it, and ranges of two dates.

Since March, until 2021, from 2018 to 2020, between May and July, around June 2026, perhaps in the 1990s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from semgraph.dates.absolute import day_name, which_year
from semgraph.dates.clock import moment_at
from semgraph.dates.line import latest
from semgraph.dates.periods import Period, day_period, recurring, unit_around
from semgraph.instants import DAY

if TYPE_CHECKING:
    from semgraph.dates.line import Line

__all__ = ["Kind", "Phrase", "phrase_at"]

Kind = Literal["in", "since", "until", "before", "after", "from", "between"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase says: how something lies to one date, or between two.

    `through` tells that the whole of the last date belongs to it. `bare` that nothing but the date was said.
    """

    kind: Kind
    start: Period | None = None
    end: Period | None = None
    through: bool = False
    bare: bool = False


Found = tuple[Phrase, int] | None

_IN = frozenset({"in", "on", "at", "during", "throughout", "of"})
# The longest first, where one begins another.
_LEADS: tuple[tuple[str, Kind, bool], ...] = (
    ("no later than", "until", True),
    ("not later than", "until", True),
    ("on or before", "until", True),
    ("no earlier than", "since", False),
    ("on or after", "since", False),
    ("ever since", "since", False),
    ("since", "since", False),
    ("starting on", "since", False),
    ("starting in", "since", False),
    ("starting from", "since", False),
    ("starting", "since", False),
    ("beginning on", "since", False),
    ("beginning in", "since", False),
    ("up until", "until", False),
    ("up to", "until", False),
    ("until", "until", False),
    ("till", "until", False),
    ("til", "until", False),
    ("through", "until", True),
    ("thru", "until", True),
    ("prior to", "before", False),
    ("earlier than", "before", False),
    ("before", "before", False),
    ("later than", "after", False),
    ("after", "after", False),
)
_LEADS_BY_WORD = {
    first: [(words.split(), kind, through) for words, kind, through in _LEADS if words.split()[0] == first]
    for first in {words.split()[0] for words, *_ in _LEADS}
}
_APPROXIMATELY = frozenset("around about circa ca approximately approx roughly".split())  # noqa: SIM905
_PERHAPS = frozenset("perhaps maybe possibly probably likely presumably".split())  # noqa: SIM905
_TO = {"to": False, "until": False, "till": False, "til": False, "through": True, "thru": True}
_ONWARD = (("onward",), ("onwards",), ("and", "later"), ("or", "later"), ("and", "after"), ("and", "onwards"))
_LONGEST_MONTH = 31 * DAY
_BACK = (("and", "earlier"), ("or", "earlier"), ("and", "before"), ("or", "before"))


def phrase_at(line: Line, place: int) -> Found:
    """The longest phrase that starts there."""
    found = [hit for rule in (_range, _placed) if (hit := rule(line, place)) is not None]
    return max(found, key=lambda hit: hit[1], default=None)


# -- one date


def _placed(line: Line, place: int) -> Found:
    for words, kind, through in _LEADS_BY_WORD.get(line.word(place), ()):
        after = line.words(place, *words)
        if after is not None:
            return _bounded(line, place, after, kind, through=through)
    after = line.words(place, "from")
    if after is not None:
        found = _date(line, after)
        if found is None:
            return None
        end = line.words(found[1], "on") or found[1]
        return Phrase("since", _edge(found[0])), _onward(line, end) or end
    start = line.skip(place, _IN)
    found = _dated(line, place)
    if found is None:
        return None
    onward, back = _onward(line, found[1]), next(filter(None, (line.words(found[1], *words) for words in _BACK)), None)
    if onward:
        return Phrase("since", _edge(found[0])), onward
    if back:
        return Phrase("until", end=found[0], through=True), back
    return Phrase("in", found[0], bare=start == place), found[1]


def _bounded(line: Line, place: int, after: int, kind: Kind, *, through: bool) -> Found:
    found = _date(line, after)
    if found is None:
        return None
    period, end = found
    if kind != "since" and period.cycle:
        line.complain(place, end, "is the one in the past meant, or the one to come? Give the year")
        return None
    if kind in ("since", "after"):
        return Phrase(kind, _edge(period) if kind == "since" else period), end
    return Phrase(kind, end=_edge(period), through=through and period.part != "end"), end


def _onward(line: Line, place: int) -> int | None:
    return next(filter(None, (line.words(place, *words) for words in _ONWARD)), None)


def _date(line: Line, place: int) -> tuple[Period, int] | None:
    """A date with its qualifiers: around, circa, perhaps."""
    flags = set()
    while True:
        word = line.word(place)
        if word in _APPROXIMATELY or (word == "c" and line.sign(place + 1) == "."):
            flags.add("~")
        elif word in _PERHAPS:
            flags.add("?")
        elif line.sign(place) == "~":
            flags.add("~")
        elif (sometime := line.words(place, "sometime") or line.words(place, "some", "time")) is not None:
            place = line.skip(sometime, _IN)
            continue
        else:
            break
        place = line.skip(line.skip(place + 1, signs="."), _IN)
    found = moment_at(line, place)
    if found is None or not flags:
        return found
    period = found[0]
    flag = "%" if flags | set(period.flag) >= {"~", "?"} else flags.pop()
    if "~" in flag.replace("%", "~") and period.precision in ("instant", "minute", "second", "hour"):
        line.complain(place, found[1], "a time of day has no approximate form: give the day")
        return None
    return replace(period, flag=flag), found[1]


def _dated(line: Line, place: int) -> tuple[Period, int] | None:
    """A date with or without a preposition, which may be part of it: in March, in three days."""
    found = [hit for start in {place, line.skip(place, _IN)} if (hit := _date(line, start)) is not None]
    return max(found, key=lambda hit: hit[1], default=None)


def _edge(period: Period) -> Period:
    """What a date means where something starts or stops there: the end of 2007 is where 2008 begins."""
    if period.part != "end":
        return period
    return unit_around("day", period.end // DAY)


# -- two dates


def _range(line: Line, place: int) -> Found:
    """From A to B, between A and B, A to B, A-B."""
    lead = line.word(place)
    kind: Kind = "between" if lead == "between" else "from"
    start = place + 1 if lead in ("from", "between") else line.skip(place, _IN - {"in", "at"})
    short = _short_start(line, start, kind)
    first = _date(line, start)
    found = None if first is None else _two(line, place, first, kind)
    if found is None or (short is not None and short[1] >= found[1]):
        return short or found
    return found


def _joint(line: Line, place: int, kind: Kind) -> tuple[int, bool] | None:
    """The place after what joins two dates, and whether all of the second belongs to the range."""
    word = line.word(place)
    if kind == "between" and word == "and":
        return place + 1, False
    if word in _TO and not (kind == "between" and _TO[word]):
        return line.skip(place + 1, ("the",)) if line.word(place + 2) == "end" else place + 1, _TO[word]
    return (place + 1, False) if line.sign(place) in ("-", "~") else None


def _two(line: Line, place: int, first: tuple[Period, int], kind: Kind) -> Found:
    joint = _joint(line, first[1], kind)
    if joint is None or (line.sign(first[1]) and first[0].precision in ("minute", "instant")):
        return None
    after, through = joint
    second = _dated(line, after)
    last_day = day_name(line, after)
    if last_day is not None and first[0].precision == "day" and (second is None or second[1] <= last_day[1] + 1):
        same_month = _same_month(line, first, last_day)
        if same_month is not None and (second is None or same_month[2] >= second[1]):
            return _ordered(line, place, same_month[0], same_month[1], same_month[2], kind, through=through)
    if second is None:
        return None
    if line.sign(first[1]) and not _alike(first[0], second[0]):
        return None
    return _ordered(line, place, first[0], second[0], second[1], kind, through=through)


def _alike(first: Period, second: Period) -> bool:
    """Whether a dash between them is a range: of two years, two months, two days."""
    if "week" in (first.cycle, second.cycle) or (second.cycle and not first.cycle):
        return False
    return first.precision == second.precision or {first.precision, second.precision} <= {"day", "month", "year"}


def _same_month(line: Line, first: tuple[Period, int], last: tuple[int, int]) -> tuple[Period, Period, int] | None:
    """`May 5 to 7` and `May 5 to 7, 2020`."""
    year, month, day = first[0].day
    if last[0] <= day:
        return None
    after, cycle = last[1], first[0].cycle
    told = which_year(line, line.skip(line.skip(after, signs=","), ("of", "in")))
    if told is not None and cycle == "year":
        year, after, cycle = told[0], told[1], ""
    elif cycle not in ("", "year"):
        return None
    try:
        start = replace(day_period(year, month, day), cycle=cycle)
        return start, replace(day_period(year, month, last[0]), cycle=cycle), after
    except ValueError:
        return None


def _short_start(line: Line, place: int, kind: Kind) -> Found:
    """`4 to 22 January 1995`, `between 3 and 12 of Sept`: the second date tells the month of the first."""
    day = day_name(line, place)
    joint = None if day is None else _joint(line, day[1], kind)
    if day is None or joint is None or (line.sign(day[1]) and line.number(joint[0]) is None):
        return None
    last = moment_at(line, line.skip(joint[0], ("the",)) if line.number(joint[0] + 1) else joint[0])
    if last is None or last[0].precision != "day" or last[0].cycle in ("week", "month"):
        return None
    year, month, number = last[0].day
    if day[0] >= number:
        return None
    start = replace(day_period(year, month, day[0]), cycle=last[0].cycle)
    return _ordered(line, place, start, last[0], last[1], kind, through=joint[1])


def _ordered(line: Line, place: int, start: Period, end: Period, after: int, kind: Kind, *, through: bool) -> Found:
    """The range, its open years chosen so that it ends after it begins."""
    through = through and end.part != "end"
    start, end = _edge(start), _edge(end)
    # In the company of a date, now is today: a range is as precise as its words.
    if {"instant"} < {start.precision, end.precision} <= {"instant", "day", "month", "year"}:
        start, end = (_today(line, side) for side in (start, end))
    if (start.cycle and end.cycle and start.cycle != end.cycle) or "name" in (start.cycle, end.cycle):
        line.complain(place, after, "say of both dates which month and year they are in")
        return None
    if start.cycle and not end.cycle:
        start = _last_before(start, end.start) or start
    elif end.cycle:
        if not start.cycle and start.end - start.start > _LONGEST_MONTH and end.cycle == "year":
            line.complain(place, after, "of which year is its end? Write that too")
            return None
        if start.cycle and start.cycle == end.cycle:
            start = latest(line, start)
        end = _first_after(end, start.start) or end
    if end.start <= start.start:
        line.complain(place, after, "it ends before it begins")
        return None
    return Phrase(kind, start, end, through), after


def _today(line: Line, side: Period) -> Period:
    return unit_around("day", line.today) if side.precision == "instant" and side.start == line.now else side


def _first_after(period: Period, moment: int) -> Period | None:
    """The first round of it that starts after a moment."""
    rounds = (recurring(period, step) for step in _rounds(period, moment))
    return next((found for found in rounds if found is not None and found.start > moment), None)


def _last_before(period: Period, moment: int) -> Period | None:
    """The last round of it that starts before a moment."""
    rounds = (recurring(period, step) for step in reversed(_rounds(period, moment)))
    return next((found for found in rounds if found is not None and found.start < moment), None)


def _rounds(period: Period, moment: int) -> range:
    """Counts of years, months or weeks that lead to the rounds of a period about a moment."""
    length = {"year": 365, "month": 30, "week": 7}.get(period.cycle, 1) * DAY
    near = (moment - period.start) // length
    return range(near - 10, near + 11)
