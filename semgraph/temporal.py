"""Bounds with their precision, and the reading of every time that is written in ISO 8601 or EDTF.

No other module reads these; words are the task of `semgraph.dates`, which brings them here. Read are date-times with an
offset, calendar dates of ISO 8601, and from EDTF decades, long years and the marks `~ ? %`. Whatever else is refused:
`bad_time`, `naive_time` (no offset and no zone to read it in) or `time_range`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from semgraph.errors import InputError, RejectedError
from semgraph.instants import (
    DAY,
    HOUR,
    MAX_INSTANT,
    MAX_YEAR,
    MIN_INSTANT,
    MIN_YEAR,
    MINUTE,
    NEG_INF,
    POS_INF,
    SECOND,
    Instant,
    bad_time,
    clock_text,
    date_of,
    days_of,
    format_instant,
    instant_of,
    local_date,
    microseconds,
    midnight,
    naive_time,
    next_recorded,
    out_of_range,
    period_text,
    unit_text,
    wall_to_instant,
    zone_name,
)
from semgraph.intervals import ALL_TIME, Interval, Range, Relation, coalesce, intersect_all, relation

if TYPE_CHECKING:
    from datetime import tzinfo
    from decimal import Decimal
    from re import Match

__all__ = [
    "ALL_TIME",
    "ALWAYS",
    "DAY",
    "HOUR",
    "MAX_INSTANT",
    "MINUTE",
    "MIN_INSTANT",
    "NEG_INF",
    "POS_INF",
    "SECOND",
    "UNKNOWN",
    "Bound",
    "Instant",
    "Interval",
    "Precision",
    "Range",
    "Relation",
    "certainly_later",
    "coalesce",
    "exact",
    "format_instant",
    "from_epoch",
    "instant_of",
    "intersect_all",
    "next_recorded",
    "parse_bound",
    "parse_interval",
    "parse_through",
    "period",
    "relation",
    "span",
    "unit_end",
]

Precision = Literal[
    "always", "unknown", "instant", "second", "minute", "hour", "day", "month", "year", "decade", "period"
]

_CODES: dict[Precision, str] = dict(zip(get_args(Precision), "auismhDMYXp", strict=True))
_PRECISIONS: dict[str, Precision] = {code: precision for precision, code in _CODES.items()}
_APPROXIMATE, _UNCERTAIN = {"~", "%"}, {"?", "%"}
_LENGTHS: dict[Precision, int] = {"instant": 1, "second": SECOND, "minute": MINUTE, "hour": HOUR}

_YEAR = r"(?P<year>-?[0-9]{4}|-[1-9][0-9]{4,}|Y-?[1-9][0-9]{4,})"
_DATE = re.compile(_YEAR + r"(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?(?P<flag>[~?%]?)")
_DECADE = re.compile(r"(?P<decade>[0-9]{3}|Y[1-9][0-9]{3,})X(?P<flag>[~?%]?)")
_DATE_TIME = re.compile(
    _YEAR
    + r"-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    + r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6}))?)?"
    + r"(?P<offset>Z|(?P<sign>[+-])(?P<oh>[0-9]{2})(?::?(?P<om>[0-9]{2}))?)?"
)
_LONGEST = 64  # no shape that is read comes near it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHAPES = "give a date-time with offset (2024-03-01T09:00:00Z), a date (2024-03-01, 2024-03, 2024, -0043, Y12024, 198X)"
_WORDS = "with ~ ? or % after it if need be, or -inf, unknown or .. (open end)"


@dataclass(frozen=True, slots=True, repr=False)
class Bound:
    """A start or an end as precise as it was given: `instant` is what intervals compare, `str()` how it is shown.

    It lies at or after `earliest` and before `before`: in its unit (up to `until`), or one unit more on either side
    when it is approximate. Bounds are ordered by instant and equal when all but their spelling is.

    >>> str(parse_bound("2024-03"))
    '2024-03'
    """

    instant: Instant
    earliest: Instant
    before: Instant
    precision: Precision
    until: Instant
    approximate: bool = False
    uncertain: bool = False
    spelling: str = field(default="", compare=False)
    zone: str = ""
    shifted: bool = False

    def __lt__(self, other: object) -> bool:
        return self.instant < other.instant if isinstance(other, Bound) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.instant <= other.instant if isinstance(other, Bound) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.instant > other.instant if isinstance(other, Bound) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.instant >= other.instant if isinstance(other, Bound) else NotImplemented

    def __repr__(self) -> str:
        return f"<Bound {self}>"

    def __str__(self) -> str:
        if self.precision == "always":
            return "-inf"
        if self.precision == "unknown":
            return "unknown"
        if self.precision in _LENGTHS:
            return clock_text(self.instant, self.precision)
        if self.zone and not self.shifted:
            return self.spelling  # already canonical, and printing needs no zone table
        if self.precision == "period":
            return period_text(self.instant, self.until, self.zone, _flag(self))
        year, month, day = local_date(self.instant, self.zone)
        return unit_text(self.precision, year, month, day) + _flag(self)

    @property
    def stored(self) -> str:
        """A compact text from which `from_stored` makes this bound again without asking any zone table."""
        plain = self.precision == "instant" and not self.shifted
        if plain and not self.spelling:
            return ""
        head = _CODES[self.precision] + _flag(self) + (">" if self.shifted else "")
        vague = self.approximate and self.precision == "day" and self.before != self.until + DAY
        kept = bool(self.zone) or vague or self.precision == "period"
        if not kept and self.spelling == str(self):
            return head
        window = ""
        if kept:
            window = ":".join(str(edge - self.instant) for edge in (self.earliest, self.until, self.before))
        return f"{head}|{self.zone}|{window}|{self.spelling}"

    @staticmethod
    def from_stored(instant: Instant, text: str) -> Bound:
        """The bound that had this instant and this `stored` text."""
        return _from_stored(instant, text)

    def to_datetime(self) -> datetime:
        """The instant as an aware datetime in UTC; InputError outside the years 1 to 9999."""
        try:
            return _EPOCH + timedelta(microseconds=self.instant)
        except OverflowError:
            raise InputError(f"{self} lies outside the years 1 to 9999 of datetime: use .instant or str()") from None


ALWAYS = Bound(NEG_INF, NEG_INF, NEG_INF + 1, "always", POS_INF, spelling="-inf")
UNKNOWN = Bound(NEG_INF, NEG_INF, POS_INF, "unknown", POS_INF, spelling="unknown")
_SENTINELS = {"-inf": ALWAYS, "always": ALWAYS, "unknown": UNKNOWN, "..": None}


# -- reading


def parse_bound(value: str | date | Bound, *, timezone: str | tzinfo | None = None) -> Bound | None:
    """The bound that a text, date or datetime means, or None for an open end (`..`).

    Args:
        value: one of the shapes that the module docstring names; a Bound comes back as it is.
        timezone: where dates (else UTC) and date-times without offset (else refused) are read.

    >>> parse_bound("2018~").before == parse_bound("2020").instant
    True
    """
    if isinstance(value, str):
        return _parse_text(value.strip(), zone_name(timezone))
    if isinstance(value, Bound):
        return value
    if isinstance(value, datetime):
        return _from_datetime(value, zone_name(timezone))
    if isinstance(value, date):
        return _parse_text(value.isoformat(), zone_name(timezone))
    raise _wrong_type(value)


def parse_through(value: str | date | Bound, *, timezone: str | tzinfo | None = None) -> Bound | None:
    """The bound that ends an interval which still holds the whole unit given: through 2020 is until 2021.

    >>> str(parse_through("2024-02-29"))
    '2024-03-01'
    """
    bound = parse_bound(value, timezone=timezone)
    if bound is None or bound.precision == "unknown":
        return bound
    if bound.precision == "always":
        raise bad_time(str(bound), "nothing can end there: leave the end out, or give a date")
    return _next_unit(bound)


def parse_interval(text: str, *, timezone: str | tzinfo | None = None) -> tuple[Bound | None, Bound | None]:
    """Start and end of an EDTF interval `a/b`, in which b is the last unit that belongs to it.

    `../b` has always held, `a/..` has no end, and a side left empty is unknown.

    >>> [str(bound) for bound in parse_interval("2018/2020")]
    ['2018', '2021']
    """
    if not isinstance(text, str):
        raise _wrong_type(text)
    first, slash, last = (part.strip() for part in text.partition("/"))
    if not slash or "/" in last or not (first or last):
        raise bad_time(text, "an interval has two sides: a/b, a/.., ../b, or one left empty when nobody knows it")
    start = parse_bound(first or "unknown", timezone=timezone) or ALWAYS
    end = parse_through(last or "unknown", timezone=timezone)
    if end is not None and end != UNKNOWN and end <= start:
        raise RejectedError("empty_interval", f"{text!r} ends before it begins: swap the sides")
    return start, end


def from_epoch(value: float | str | Decimal, unit: Literal["s", "ms", "us"] = "s") -> Bound:
    """The exact bound so many seconds, milliseconds or microseconds after 1970-01-01T00:00Z.

    >>> str(from_epoch(1_709_283_600))
    '2024-03-01T09:00:00Z'
    """
    from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, localcontext

    places = {"s": 6, "ms": 3, "us": 0}.get(unit) if isinstance(unit, str) else None
    if places is None:
        raise InputError(f"{unit!r} is no unit of from_epoch: use 's', 'ms' or 'us'")
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise RejectedError("bad_time", f"a {type(value).__name__} is no epoch time: give a number")
    if isinstance(value, int) and not NEG_INF < value < POS_INF:
        raise out_of_range("an integer beyond 64 bits")
    shown = str(value)
    # The caller's own decimal context may round earlier, or trap elsewhere.
    with localcontext(Context(prec=2 * _LONGEST, traps=[InvalidOperation])):
        try:
            number = Decimal(value if len(shown) <= _LONGEST else "NaN")
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise bad_time(shown, "an epoch time is a finite number, of at most 64 characters")
        if number.adjusted() > len(str(MAX_INSTANT)):
            raise out_of_range(shown)
        return exact(int(number.scaleb(places).to_integral_value(ROUND_HALF_EVEN)))


def exact(instant: Instant) -> Bound:
    """The bound at that very microsecond (ALWAYS at -inf); `time_range` outside the accepted years."""
    if MIN_INSTANT <= instant <= MAX_INSTANT:
        return Bound(instant, instant, instant + 1, "instant", instant + 1)
    if instant == NEG_INF:
        return ALWAYS
    raise out_of_range(f"instant {instant}")


def period(start: Instant, end: Instant, flag: str = "", *, spelling: str = "", zone: str = "") -> Bound:
    """The bound that lies between two instants: a week, a quarter, or any other stretch without a unit of its own.

    `flag` is one of `~ ? %`, or empty; an approximate period is widened by its own length on either side.
    """
    if not MIN_INSTANT <= start < end <= MAX_INSTANT:
        raise out_of_range(spelling or period_text(start, end))
    slack = end - start if flag in _APPROXIMATE else 0
    shown = spelling or period_text(start, end, zone, flag)
    approximate, uncertain = flag in _APPROXIMATE, flag in _UNCERTAIN
    return Bound(start, start - slack, end + slack, "period", end, approximate, uncertain, shown, zone)


# -- comparing


def span(bound: Bound) -> tuple[Instant, Instant]:
    """The whole unit that the bound names, not widened, as `[from, to)`; all time for always and unknown."""
    return bound.instant, bound.until


def unit_end(bound: Bound) -> Instant:
    """The end of the bound's own unit: when an event that is only given a start is over."""
    return bound.until


def certainly_later(x: Bound, y: Bound) -> bool:
    """Whether x comes after y wherever in their windows the two lie."""
    return x.earliest >= y.before


# -- texts


@lru_cache(maxsize=1 << 14)
def _parse_text(text: str, zone: str | None) -> Bound | None:
    if text in _SENTINELS:
        return _SENTINELS[text]
    if len(text) > _LONGEST:
        raise bad_time(text[:_LONGEST] + "…", f"too long for a time: {_SHAPES}")
    if match := _DATE.fullmatch(text):
        return _read_date(match, zone or "")
    if match := _DATE_TIME.fullmatch(text):
        return _read_date_time(match, zone)
    if match := _DECADE.fullmatch(text):
        year = int(match["decade"].lstrip("Y")) * 10
        if year + 9 > MAX_YEAR:
            raise out_of_range(text)
        return _calendar_bound("decade", (year, 1, 1), zone or "", match["flag"], text)
    if "/" in text:
        raise bad_time(text, "an interval where one bound is asked for: give its sides as valid_from and valid_through")
    raise bad_time(text, f"no date or time of a shape that is read here: {_SHAPES} {_WORDS}")


def _read_date(match: Match[str], zone: str) -> Bound:
    precision: Precision = "day" if match["day"] else "month" if match["month"] else "year"
    return _calendar_bound(precision, _checked_date(match), zone, match["flag"], match[0])


def _checked_date(match: Match[str]) -> tuple[int, int, int]:
    text = match["year"]
    if text == "-0000":
        raise bad_time(match[0], "year zero has no sign: 0000 is 1 BC")
    year, month, day = int(text.lstrip("Y")), int(match["month"] or 1), int(match["day"] or 1)
    if not MIN_YEAR <= year <= MAX_YEAR:
        raise out_of_range(match[0])
    try:
        days_of(year, month, day)
    except ValueError:
        raise bad_time(match[0], "the calendar has no such month or day (seasons and quarters are not read)") from None
    return year, month, day


def _read_date_time(match: Match[str], zone: str | None) -> Bound:
    clock = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if any(value > limit for value, limit in zip(clock, (23, 59, 59), strict=True)):
        raise bad_time(match[0], "clocks go from 00:00:00 to 23:59:59: write midnight as 00:00, a leap second as 59")
    hour, minute, second = clock
    local = days_of(*_checked_date(match)) * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    local += int((match["fraction"] or "").ljust(6, "0"))
    precision: Precision = "instant" if match["second"] else "minute"
    if match["offset"]:
        return _clock_bound(precision, local - _offset(match), match[0])
    if zone is None:
        raise naive_time(match[0])
    return _clock_bound(precision, wall_to_instant(local, zone, match[0]), match[0], zone)


def _offset(match: Match[str]) -> int:
    if match["offset"] == "Z":
        return 0
    hours, minutes = int(match["oh"]), int(match["om"] or 0)
    if hours > 23 or minutes > 59:
        raise bad_time(match[0], "an offset from UTC stays below 24:00")
    return (hours * HOUR + minutes * MINUTE) * (-1 if match["sign"] == "-" else 1)


def _from_datetime(moment: datetime, zone: str | None) -> Bound:
    offset = moment.utcoffset()
    if offset is not None:
        # An instant in UTC says all in its number; another offset is part of how it was told.
        return _clock_bound("instant", instant_of(moment), moment.isoformat() if offset else "")
    text = moment.isoformat()
    if zone is None:
        raise naive_time(text)
    local = microseconds(moment.replace(tzinfo=UTC) - _EPOCH)
    return _clock_bound("instant", wall_to_instant(local, zone, text, moment.fold), text, zone)


def _clock_bound(
    precision: Precision, instant: Instant, spelling: str, zone: str = "", *, shifted: bool = False
) -> Bound:
    if not MIN_INSTANT <= instant <= MAX_INSTANT:
        raise out_of_range(spelling or format_instant(instant))
    end = instant + _LENGTHS[precision]
    return Bound(instant, instant, end, precision, end, spelling=spelling, zone=zone, shifted=shifted)


def _calendar_bound(
    precision: Precision, day: tuple[int, int, int], zone: str, flag: str, spelling: str, *, shifted: bool = False
) -> Bound:
    start = midnight(day, zone)
    following = _step(precision, day, 1)
    end = midnight(following, zone)
    if start >= end and not shifted:
        raise bad_time(spelling, f"{zone} left this day out")
    if not MIN_INSTANT <= start <= MAX_INSTANT:
        raise out_of_range(spelling)
    earliest, before = start, max(end, start + 1)
    if approximate := flag in _APPROXIMATE:
        earliest, before = midnight(_step(precision, day, -1), zone), midnight(_step(precision, following, 1), zone)
    uncertain = flag in _UNCERTAIN
    return Bound(
        start, earliest, before, precision, max(end, start + 1), approximate, uncertain, spelling, zone, shifted
    )


def _step(precision: Precision, day: tuple[int, int, int], units: int) -> tuple[int, int, int]:
    """The first day so many units later (a day of the unit's start given)."""
    year, month, number = day
    if precision == "day":
        return date_of(days_of(year, month, number) + units)
    if precision == "month":
        years, rest = divmod(month - 1 + units, 12)
        return year + years, rest + 1, 1
    return year + (10 * units if precision == "decade" else units), 1, 1


def _next_unit(bound: Bound) -> Bound:
    if bound.precision in _LENGTHS:
        return _clock_bound(bound.precision, bound.until, bound.spelling, bound.zone, shifted=True)
    if bound.precision == "period":
        end = 2 * bound.until - bound.instant
        return replace(period(bound.until, end, _flag(bound), spelling=bound.spelling, zone=bound.zone), shifted=True)
    following = _step(bound.precision, local_date(bound.instant, bound.zone), 1)
    return _calendar_bound(bound.precision, following, bound.zone, _flag(bound), bound.spelling, shifted=True)


@lru_cache(maxsize=1 << 14)
def _from_stored(instant: Instant, text: str) -> Bound:
    if not text:
        return exact(instant)
    try:
        return _restored(instant, text)
    except (KeyError, ValueError):
        raise InputError(f"{text!r} is no stored bound: use the .stored text of one") from None


def _restored(instant: Instant, text: str) -> Bound:
    head, _, rest = text.partition("|")
    zone, window, spelling = rest.split("|", 2) if rest else ("", "", "")
    precision, flag, shifted = _PRECISIONS[head[:1]], head[1:].rstrip(">"), head.endswith(">")
    if precision in _SENTINELS:
        return UNKNOWN if precision == "unknown" else ALWAYS
    if window:
        earliest, until, before = (instant + int(edge) for edge in window.split(":"))
        approximate, uncertain = flag in _APPROXIMATE, flag in _UNCERTAIN
        return Bound(instant, earliest, before, precision, until, approximate, uncertain, spelling, zone, shifted)
    if precision in _LENGTHS:
        bound = _clock_bound(precision, instant, spelling, shifted=shifted)
    else:
        bound = _calendar_bound(precision, date_of(instant // DAY), "", flag, spelling, shifted=shifted)
    return bound if rest else replace(bound, spelling=str(bound))


def _flag(bound: Bound) -> str:
    if bound.approximate:
        return "%" if bound.uncertain else "~"
    return "?" if bound.uncertain else ""


# -- refusals


def _wrong_type(value: object) -> RejectedError:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        why = "a bare number may count seconds, milliseconds or years: say which with from_epoch(value, unit)"
        return RejectedError("bad_time", why)
    return RejectedError("bad_time", f"a {type(value).__name__} is no time: {_SHAPES}")
