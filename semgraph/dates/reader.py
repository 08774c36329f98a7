"""From phrases to readings: the reference as a local clock, periods as bounds, and the refusal of what is no date."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING

from semgraph.dates.foreign import foreign_date
from semgraph.dates.line import Line, NeedsReference
from semgraph.dates.phrases import Phrase, phrase_at
from semgraph.dates.reading import DateSpan, Reading
from semgraph.dates.tokens import tokens_of
from semgraph.dates.words import MONTHS, WEEKDAYS
from semgraph.errors import RejectedError
from semgraph.instants import (
    DAY,
    MINUTE,
    SECOND,
    Instant,
    bad_time,
    date_of,
    format_date,
    instant_of,
    microseconds,
    midnight,
    naive_time,
    unit_text,
    zone_name,
)
from semgraph.temporal import ALWAYS, UNKNOWN, Bound, exact, parse_bound, parse_interval, parse_through, period

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from semgraph.dates.periods import Period

__all__ = ["Reference", "dates_in", "read"]

_LONGEST = 128
_EXAMPLES = (
    "write it as in 2024-03-01, 1 March 2024, March 2024, Q3 2024, the 1990s, 44 BC, last month or two weeks ago"
)
_ISO = re.compile(r"[-+0-9TZXY:.~?%\s/]+")
# Words that are dates only where something beside them says so.
_WORDS_ALONE = (MONTHS.keys() & {"may", "march", "mar", "jan", "dec", "sep"}) | (
    WEEKDAYS.keys() & {"mon", "wed", "sat", "sun", "fri"}
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The moment from which words count: its local time, the zone in which dates are read, and its offset from UTC.

    Of a datetime without offset, only the calendar can be used: `zone` and `offset` are None. Without any datetime,
    `local` is None too.
    """

    local: int | None
    zone: str | None
    offset: int | None

    @property
    def timezone(self) -> str | None:
        """The zone as an argument for the functions of `semgraph.temporal`."""
        return self.zone or (None if self.zone is None else "UTC")

    @classmethod
    def of(cls, moment: datetime) -> Reference:
        """The reference that a datetime is."""
        local = instant_of(moment.replace(tzinfo=UTC))
        shift = moment.utcoffset()
        if shift is None:
            return cls(local, None, None)
        return cls(local, zone_name(moment.tzinfo), microseconds(shift))


def read(text: str, reference: Reference) -> Reading:
    """The reading of a whole text; `bad_time` when it is none, or more than one."""
    shown = text.strip()
    return _fixed(shown, reference.zone) or _read(shown, reference)


@lru_cache(maxsize=1 << 14)
def _fixed(text: str, zone: str | None) -> Reading | None:
    """The reading that a text has whenever it is said, None where it depends on that."""
    try:
        return _read(text, Reference(None, zone, None))
    except NeedsReference:
        return None


@lru_cache(maxsize=1 << 12)
def _read(shown: str, reference: Reference) -> Reading:
    if len(shown) > _LONGEST:
        raise bad_time(shown[:_LONGEST] + "…", f"too long for a date: {_EXAMPLES}")
    if not shown.isprintable():
        raise bad_time(shown, f"there are control characters in it: {_EXAMPLES}")
    if "/" in shown and (interval := _interval(shown, reference)) is not None:
        return interval
    line = Line(tokens_of(shown), shown, reference.local, reference.offset)
    found = phrase_at(line, 0)
    if found is not None and line.skip(found[1], signs=".,") == len(line.tokens):
        return _reading(found[0], reference, shown)
    if not line.complaints and (date := foreign_date(shown, line)) is not None:
        return _reading(Phrase("in", date), reference, shown)
    raise _refusal(shown, line)


def dates_in(text: str, reference: Reference) -> Iterator[DateSpan]:
    """Every place in a text that speaks of time and can be read in one way only, from left to right."""
    line = Line(tokens_of(text), text, reference.local, reference.offset)
    place = 0
    while place < len(line.tokens):
        if place and line.joined(place) and line.sign(place - 1) in _INSIDE_NAMES:
            place += 1
            continue
        line.complaints = [complaint for complaint in line.complaints if complaint[1] > place]
        found = phrase_at(line, place)
        doubtful = max((end for start, end, _ in line.complaints if place <= start <= place + 2), default=0)
        after = 0 if found is None else found[1]
        if found is None or doubtful > after or not _stands_alone(line, place, found):
            place = max(doubtful, place + 1)
            continue
        start, end = line.tokens[place].start, line.tokens[after - 1].end
        with suppress(RejectedError):
            yield DateSpan(start, end, _reading(found[0], reference, text[start:end]))
        place = after


_BEFORE_DAYS = frozenset({"on", "since", "from", "between"})
_INSIDE_NAMES = frozenset("@#$€£/\\_=&.") - {""}


def _stands_alone(line: Line, place: int, found: tuple[Phrase, int]) -> bool:
    """Whether the tokens are a date also in the middle of a sentence, and not a number, a name or a verb."""
    phrase, after = found
    words = [token for token in line.tokens[place:after] if token.text != "."]
    if phrase.start is not None and phrase.start.cycle == "month" and line.word(place) not in _BEFORE_DAYS:
        return False
    if line.joined(after) and (line.word(after) or line.sign(after) in ("%", "_", "@")):
        return False
    if phrase.bare and words[0].text == "-":
        return False
    if line.word(place) == "within" and line.word(place + 1) not in ("the", "next", "coming", "upcoming"):
        return False  # how long it takes, whenever that was
    if not phrase.bare:
        return not (words[-1].text in _WORDS_ALONE and len(words) == 2 and words[0].text == "of")
    return len(words) > 1 or (words[0].kind == "word" and words[0].text not in _WORDS_ALONE)


# -- bounds


def _reading(phrase: Phrase, reference: Reference, text: str) -> Reading:
    start = None if phrase.start is None else _bound(phrase.start, reference, text)
    end = None if phrase.end is None else _bound(phrase.end, reference, text)
    if phrase.kind == "after" and start is not None:
        start = parse_through(start)
    if phrase.through and end is not None:
        end = parse_through(end)
    return Reading(phrase.kind, start, end, text)


def _bound(found: Period, reference: Reference, text: str) -> Bound:
    zone = reference.zone or ""
    if found.written:
        return parse_bound(found.written, timezone=reference.timezone) or ALWAYS
    if found.offset is not None or found.precision in ("instant", "second", "minute", "hour"):
        return _clock_bound(found, reference)
    days = found.start // DAY
    if found.precision == "period":
        if found.start % DAY or found.end % DAY:
            return period(_instant(found.start, reference, text), _instant(found.end, reference, text), found.flag)
        start, end = (midnight(date_of(edge // DAY), zone) for edge in (found.start, found.end))
        bound = period(start, end, found.flag, zone=zone)
    else:
        written = unit_text(found.precision, *date_of(days)) + found.flag
        bound = parse_bound(written, timezone=reference.timezone) or ALWAYS
        if found.slack:
            bound = replace(bound, earliest=bound.instant - found.slack, before=bound.until + found.slack)
    return bound if zone else replace(bound, spelling=text)


def _clock_bound(found: Period, reference: Reference) -> Bound:
    if found.offset is not None and found.start % MINUTE:
        return exact(found.start - found.offset)
    days, clock = divmod(found.start, DAY)
    offset = _offset_text(found.offset)
    seconds = f":{clock // SECOND % 60:02d}" if found.precision == "instant" or clock % MINUTE else ""
    written = f"{format_date(*date_of(days))}T{clock // (60 * MINUTE):02d}:{clock // MINUTE % 60:02d}{seconds}{offset}"
    return parse_bound(written, timezone=reference.timezone) or ALWAYS


def _offset_text(offset: int | None) -> str:
    if offset is None:
        return ""
    minutes = abs(offset) // MINUTE
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}" if offset else "Z"


def _instant(local: int, reference: Reference, text: str) -> Instant:
    if reference.offset is None:
        raise naive_time(text)
    return local - reference.offset


def _interval(text: str, reference: Reference) -> Reading | None:
    """The EDTF interval that the text is, if it is one."""
    try:
        start, end = parse_interval(text, timezone=reference.timezone)
    except RejectedError as refused:
        if refused.code == "empty_interval":
            raise bad_time(text, "it ends before it begins: swap the sides") from None
        return None
    open_start, open_end = start in (ALWAYS, UNKNOWN), end is None or end == UNKNOWN
    if open_start and open_end:
        return None
    if open_start:
        return Reading("until", None, end, text)
    return Reading("since", start, None, text) if open_end else Reading("from", start, end, text)


def _refusal(text: str, line: Line) -> RejectedError:
    if line.complaints:
        return bad_time(text, max(line.complaints, key=lambda complaint: complaint[1])[2])
    if _ISO.fullmatch(text):
        try:
            parse_bound(text)
        except RejectedError as refused:
            return refused
    return bad_time(text, f"no date that is read here: {_EXAMPLES}")
