"""Instants, the calendar they are counted in, and the time zones that wall clocks keep.

An instant is a number of microseconds since 1970-01-01T00:00Z in the proleptic Gregorian calendar, with astronomical
years (year 0 is 1 BC). Nothing here reads dates: `semgraph.temporal` and `semgraph.dates` do.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta, tzinfo
from datetime import timezone as fixed_zone
from functools import lru_cache

from semgraph.errors import ConfigError, RejectedError

__all__ = [
    "DAY",
    "HOUR",
    "MAX_INSTANT",
    "MAX_YEAR",
    "MINUTE",
    "MIN_INSTANT",
    "MIN_YEAR",
    "NEG_INF",
    "POS_INF",
    "SECOND",
    "Instant",
    "bad_time",
    "clock_text",
    "date_of",
    "days_of",
    "format_date",
    "format_instant",
    "format_year",
    "instant_of",
    "local_date",
    "microseconds",
    "midnight",
    "naive_time",
    "next_recorded",
    "out_of_range",
    "period_text",
    "unit_text",
    "wall_to_instant",
    "zone_name",
]

Instant = int

NEG_INF: Instant = -(2**63)
POS_INF: Instant = 2**63 - 1

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

MIN_YEAR = -290_000
MAX_YEAR = 290_000

# The Gregorian calendar repeats after 400 years, weekdays included, so that `date` serves for every year.
_CYCLE_YEARS = 400
_CYCLE_DAYS = 146_097
_CYCLE_ORDINAL = date(_CYCLE_YEARS, 1, 1).toordinal()
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_PLAIN_YEAR = 9999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UTC_NAMES = {"UTC", "Etc/UTC", "Z", "UTC+00:00", "+00:00"}
_FIXED_ZONE = re.compile(r"(?:UTC)?([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?")


def days_of(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to that day, of any year; ValueError when the calendar has no such day."""
    cycle, rest = divmod(year, _CYCLE_YEARS)
    return date(_CYCLE_YEARS + rest, month, day).toordinal() - _EPOCH_ORDINAL + (cycle - 1) * _CYCLE_DAYS


def date_of(days: int) -> tuple[int, int, int]:
    """Year, month and day that lie so many days after 1970-01-01: the inverse of `days_of`."""
    cycle, rest = divmod(days + _EPOCH_ORDINAL - _CYCLE_ORDINAL, _CYCLE_DAYS)
    found = date.fromordinal(_CYCLE_ORDINAL + rest)
    return found.year + (cycle * _CYCLE_YEARS), found.month, found.day


MIN_INSTANT: Instant = days_of(MIN_YEAR, 1, 1) * DAY
# The first instant after the last year: it may end an interval, as "through 290000" does.
MAX_INSTANT: Instant = days_of(MAX_YEAR + 1, 1, 1) * DAY


def format_year(year: int) -> str:
    """The year in ISO 8601, or in the `Y` form of EDTF when four digits don't hold it."""
    if abs(year) > _LAST_PLAIN_YEAR:
        return f"Y{year}"
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"


def format_date(year: int, month: int, day: int) -> str:
    """The day in ISO 8601, its year as `format_year` writes it."""
    return f"{format_year(year)}-{month:02d}-{day:02d}"


def format_instant(instant: Instant) -> str:
    """ISO 8601 in UTC for any year, with microseconds only where there are some; `-inf` and `inf` for the sentinels.

    >>> format_instant(1_709_283_600_000_000)
    '2024-03-01T09:00:00Z'
    """
    if instant == NEG_INF:
        return "-inf"
    if instant == POS_INF:
        return "inf"
    days, clock = divmod(instant, DAY)
    year, month, day = date_of(days)
    seconds, fraction = divmod(clock, SECOND)
    text = f"{format_date(year, month, day)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}Z" if fraction else f"{text}Z"


def unit_text(precision: str, year: int, month: int, day: int) -> str:
    """The day, month, year or decade that begins with that day, in EDTF."""
    if precision == "day":
        return format_date(year, month, day)
    if precision == "month":
        return f"{format_year(year)}-{month:02d}"
    return format_year(year) if precision == "year" else f"{format_year(year)[:-1]}X"


def clock_text(instant: Instant, precision: str) -> str:
    """The instant in ISO 8601, without seconds where its precision has none."""
    text = format_instant(instant)
    coarse = precision in {"minute", "hour"} and instant % MINUTE == 0
    return f"{text.removesuffix(':00Z')}Z" if coarse else text


def period_text(start: Instant, end: Instant, zone: str = "", flag: str = "") -> str:
    """The stretch up to `end` as an EDTF interval, in which the last unit named belongs to it.

    >>> period_text(days_of(2024, 7, 1) * DAY, days_of(2024, 10, 1) * DAY)
    '2024-07/2024-09'
    """
    if not zone and (start % DAY or end % DAY):
        return f"{clock_text(start, 'minute')}/{clock_text(end, 'minute')}"
    first, last, following = local_date(start, zone), local_date(end - 1, zone), local_date(end, zone)
    precision = "day"
    if first[2] == following[2] == 1:
        precision = "year" if first[1] == following[1] == 1 else "month"
    return f"{unit_text(precision, *first)}{flag}/{unit_text(precision, *last)}{flag}"


def next_recorded(wall: Instant, last: Instant) -> Instant:
    """The next transaction time: the wall clock, or just after the last one where the clock was set back."""
    return max(wall, last + 1)


def instant_of(moment: datetime) -> Instant:
    """The instant of an aware datetime; `naive_time` for one without offset."""
    if moment.tzinfo is UTC:
        return (moment - _EPOCH) // _MICROSECOND
    offset = moment.utcoffset()
    if offset is None:
        raise naive_time(moment.isoformat())
    return microseconds(moment.replace(tzinfo=UTC) - _EPOCH) - microseconds(offset)


# -- zones


def zone_name(zone: str | tzinfo | None) -> str | None:
    """The name under which a zone is kept, "" for UTC; ConfigError where there is none."""
    if zone is None:
        return None
    name = zone if isinstance(zone, str) else _name_of(zone)
    if name in _UTC_NAMES:
        return ""
    _table(name)
    return name


def _name_of(zone: tzinfo) -> str:
    if isinstance(zone, fixed_zone):
        return str(fixed_zone(zone.utcoffset(None)))
    # zoneinfo says key, pytz says zone; a pytz object itself would give local mean time when asked as others are.
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if isinstance(name, str):
        return name
    raise ConfigError(f"{zone!r} is no time zone that can be kept by name: give an IANA name, as in 'Europe/Helsinki'")


@lru_cache(maxsize=1 << 8)
def _table(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    try:
        if match := _FIXED_ZONE.fullmatch(name):
            sign, hours, minutes, seconds = match.groups(default="0")
            offset = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
            return fixed_zone(-offset if sign == "-" else offset)
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ConfigError(f"{name!r} is no time zone: give an IANA name, as in 'Europe/Helsinki'") from None


def wall_to_instant(local: int, zone: str, text: str, fold: int | None = None) -> Instant:
    """The instant at which clocks of the zone show that local time; `bad_time` when they skip it, or show it twice.

    `fold` says which of the two is meant, as that of a datetime does.
    """
    if not zone:
        return local
    first, second = _offsets(local, zone)
    if first < second:
        raise bad_time(
            text, f"clocks in {zone} were put forward past this time: give one that they showed, or an offset"
        )
    if first > second and fold is None:
        raise bad_time(text, f"clocks in {zone} showed this time twice: give the offset that is meant")
    return local - (second if fold else first)


def midnight(day: tuple[int, int, int], zone: str) -> Instant:
    """The first instant of a day, which is not midnight where clocks are put forward then."""
    local = days_of(*day) * DAY
    if not zone:
        return local
    first, second = _offsets(local, zone)
    if second <= first:
        return local - first
    instants = range(local - second, local - first + 1, SECOND)
    return instants[bisect_left(instants, second, key=lambda instant: _offset_at(instant, zone))]


def _offsets(local: int, zone: str) -> tuple[int, int]:
    """The offsets by which a local time can be read: the same twice, unless clocks change at that time."""
    wall = _proxy(local).replace(tzinfo=_table(zone))
    return microseconds(wall.utcoffset()), microseconds(wall.replace(fold=1).utcoffset())


def _offset_at(instant: Instant, zone: str) -> int:
    return microseconds(_proxy(instant).replace(tzinfo=UTC).astimezone(_table(zone)).utcoffset())


def local_date(instant: Instant, zone: str) -> tuple[int, int, int]:
    """The day that a calendar in the zone shows at that instant."""
    return date_of((instant + _offset_at(instant, zone) if zone else instant) // DAY)


def _proxy(instant: Instant) -> datetime:
    """The time as a naive datetime, its year replaced by one of the same calendar where datetime has none."""
    days, clock = divmod(instant, DAY)
    year, month, day = date_of(days)
    if not MINYEAR < year < MAXYEAR:
        year = year % 400 + (400 if year <= MINYEAR else 9200)
    return datetime(year, month, day) + timedelta(microseconds=clock)  # noqa: DTZ001 - the caller gives it its zone


def microseconds(delta: timedelta | None) -> int:
    """The whole of a difference in microseconds, without rounding."""
    return delta // timedelta(microseconds=1) if delta else 0


# -- refusals


def bad_time(text: str, why: str) -> RejectedError:
    """The `bad_time` error for a text, with the reason and the way out."""
    return RejectedError("bad_time", f"{text!r}: {why}")


def out_of_range(shown: str) -> RejectedError:
    """The `time_range` error for what lies outside the accepted years."""
    return RejectedError("time_range", f"{shown} lies outside the years {MIN_YEAR} to {MAX_YEAR}")


def naive_time(text: str) -> RejectedError:
    """The `naive_time` error for a time without offset, with both ways out."""
    ways = f"write the offset, as in '{text}Z', or give the zone to read it in, as in timezone='Europe/Helsinki'"
    return RejectedError("naive_time", f"{text!r} has no offset, so that it may mean any of 26 hours: {ways}")
