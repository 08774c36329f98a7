"""Times of day, and the days that they belong to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semgraph.dates.periods import Period, clock_time
from semgraph.dates.relative import date_at
from semgraph.dates.words import STARTS, ZONES
from semgraph.errors import RejectedError
from semgraph.instants import HOUR, MINUTE, SECOND
from semgraph.temporal import parse_bound

if TYPE_CHECKING:
    from semgraph.dates.line import Line
    from semgraph.temporal import Precision

__all__ = ["moment_at"]

Found = tuple[Period, int] | None
Clock = tuple[int, "Precision", int | None, int]  # microseconds of the day, how precise, offset, place after

# What the rules for words and numbers can't read: a clock behind the date, a decade, a mark, a year of another length.
_WRITTEN = re.compile(
    r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:.*|Y-?[0-9]+\S*|-[0-9]{4,}\S*|[0-9]{3}X[~?%]?|[0-9-]{4,10}[~?%]"
)
_ZONES_OF_MANY = (
    "est edt cst cdt mst mdt pst pdt et ct mt pt bst ist cet cest eet eest wet west msk jst kst sgt hkt aest aedt nzst"
)
_ABBREVIATIONS = frozenset(_ZONES_OF_MANY.split())


def moment_at(line: Line, place: int) -> Found:
    """The longest date that starts there, with the time of day that stands before or after it."""
    word = line.word(place)
    if word and word not in STARTS:
        return None
    if place not in line.known:
        line.known[place] = _moment(line, place)
    return line.known[place]


def _moment(line: Line, place: int) -> Found:
    if (iso := _iso(line, place)) is not None:
        return iso
    date = date_at(line, place)
    if date is not None:
        return _on_day(line, date) or date
    clock = _clock(line, place)
    if clock is None:
        return None
    day = date_at(line, line.skip(line.skip(clock[3], signs=","), ("on", "of")))
    if day is None or day[0].precision != "day":
        line.complain(place, clock[3], "a time of day without its day")
        return None
    return _at(day[0], clock), day[1]


def _iso(line: Line, place: int) -> Found:
    """A date-time of ISO 8601, or a date with a mark of EDTF."""
    text = line.chunk(place)
    if line.joined(place) and line.sign(place - 1) not in ("(", "[", '"', "'"):
        return None
    if not _WRITTEN.fullmatch(text):
        return None
    try:
        bound = parse_bound(text, timezone="UTC")
    except RejectedError as refused:
        line.complain(place, line.after_text(place, len(text)), refused.reason.partition(": ")[2])
        return None
    if bound is None:
        return None
    found = Period(bound.instant, bound.until, bound.precision, written=text)
    return found, line.after_text(place, len(text))


def _on_day(line: Line, date: tuple[Period, int]) -> Found:
    if date[0].precision != "day" or date[0].flag:
        return None
    clock = _clock(line, line.skip(line.skip(date[1], signs=","), ("at",)))
    return None if clock is None else (_at(date[0], clock), clock[3])


def _at(day: Period, clock: Clock) -> Period:
    return clock_time(day.start + clock[0], clock[1], clock[2])


def _clock(line: Line, place: int) -> Clock | None:
    if line.word(place) == "noon":
        return _with_zone(line, 12 * HOUR, "minute", place + 1)
    hour = line.number(place)
    if hour is None or line.digits(place) > 2:
        return None
    after, parts = place + 1, [hour]
    while line.sign(after) in (":", ".") and line.digits(after + 1) == 2 and line.joined(after + 1) and len(parts) < 3:
        parts.append(line.number(after + 1) or 0)
        after += 2
    dotted = line.sign(place + 1) == "."
    half = line.word(after)
    if half in ("a", "p") and line.sign(after + 1) == "." and line.word(after + 2) == "m":
        half, after = half + "m", line.skip(after + 3, signs=".")
    elif half in ("am", "pm"):
        after += 1
    else:
        half = ""
    if half:
        if not 1 <= hour <= 12:
            return None
        parts[0] = hour % 12 + (12 if half == "pm" else 0)
    elif len(parts) == 1 or dotted:
        return None
    if parts[0] > 23 or max(parts) > 59:
        return None
    hours, minutes, seconds = (*parts, 0, 0)[:3]
    precision: Precision = "instant" if len(parts) == 3 else "minute"
    return _with_zone(line, hours * HOUR + minutes * MINUTE + seconds * SECOND, precision, after)


def _with_zone(line: Line, time: int, precision: Precision, place: int) -> Clock | None:
    word = line.word(place)
    if word in _ABBREVIATIONS:
        line.complain(place - 1, place + 1, f"{word.upper()} is the name of several offsets: write it as in +02:00")
        return None
    if word in ZONES:
        place += 1
    sign = line.sign(place)
    if sign in ("+", "-") and line.joined(place + 1) and line.digits(place + 1) in (1, 2):
        hours, minutes, after = line.number(place + 1) or 0, 0, place + 2
        if line.sign(after) == ":" and line.digits(after + 1) == 2:
            minutes, after = line.number(after + 1) or 0, after + 2
        if hours > 23 or minutes > 59:
            return None
        offset = hours * HOUR + minutes * MINUTE
        return time, precision, -offset if sign == "-" else offset, after
    return time, precision, 0 if word in ZONES else None, place
