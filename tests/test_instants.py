"""Instants, the calendar of every year, and what the clocks of a zone showed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph.errors import ConfigError, RejectedError
from semgraph.instants import (
    DAY,
    HOUR,
    MAX_INSTANT,
    MIN_INSTANT,
    NEG_INF,
    POS_INF,
    date_of,
    days_of,
    format_instant,
    format_year,
    instant_of,
    local_date,
    midnight,
    next_recorded,
    wall_to_instant,
    zone_name,
)

instants = st.integers(MIN_INSTANT, MAX_INSTANT)
wall_times = st.datetimes(datetime.fromisoformat("1900-01-01"), datetime.fromisoformat("2100-01-01"))


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@given(st.integers(MIN_INSTANT // DAY, MAX_INSTANT // DAY))
def test_days_and_dates_are_each_others_inverse(days) -> None:
    assert days_of(*date_of(days)) == days


@given(st.dates())
def test_days_agree_with_the_standard_library_where_it_has_them(day) -> None:
    assert days_of(day.year, day.month, day.day) == (day - date(1970, 1, 1)).days


@given(st.integers(-290_000, 290_000))
def test_every_year_is_as_long_as_the_proleptic_calendar_says(year) -> None:
    assert days_of(year + 1, 1, 1) - days_of(year, 1, 1) == 365 + is_leap(year)


@pytest.mark.parametrize("year", [0, -4, -400, 2000, -290_000, 290_000])
def test_leap_days_exist_before_christ_too(year) -> None:
    assert date_of(days_of(year, 2, 29) + 1) == (year, 3, 1)


@pytest.mark.parametrize("year", [-1, -100, -300, 1900, 2023])
def test_other_years_have_none(year) -> None:
    with pytest.raises(ValueError, match="day"):
        days_of(year, 2, 29)


def test_the_accepted_years_leave_room_before_the_sentinels() -> None:
    assert NEG_INF < MIN_INSTANT - 11 * 366 * DAY
    assert MAX_INSTANT + 20 * 366 * DAY < POS_INF
    assert date_of(MIN_INSTANT // DAY) == (-290_000, 1, 1)
    assert date_of(MAX_INSTANT // DAY) == (290_001, 1, 1)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (days_of(0, 2, 29) * DAY, "0000-02-29T00:00:00Z"),
        (days_of(-43, 3, 15) * DAY, "-0043-03-15T00:00:00Z"),
        (days_of(9999, 12, 31) * DAY + 10, "9999-12-31T00:00:00.000010Z"),
        (days_of(10_000, 1, 1) * DAY, "Y10000-01-01T00:00:00Z"),
        (MIN_INSTANT, "Y-290000-01-01T00:00:00Z"),
        (MAX_INSTANT - 1, "Y290000-12-31T23:59:59.999999Z"),
        (NEG_INF, "-inf"),
        (POS_INF, "inf"),
    ],
)
def test_instants_are_shown_in_iso_8601_and_utc(instant, text) -> None:
    assert format_instant(instant) == text


@given(st.datetimes())
def test_shown_instants_agree_with_the_standard_library(moment) -> None:
    shown = format_instant(instant_of(moment.replace(tzinfo=UTC)))
    assert datetime.fromisoformat(shown) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(("year", "text"), [(0, "0000"), (7, "0007"), (-43, "-0043"), (-10_000, "Y-10000")])
def test_years_are_shown_with_four_digits_or_a_y(year, text) -> None:
    assert format_year(year) == text


@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime(2024, 3, 1, 9, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=ZoneInfo("America/New_York")),
    ],
)
def test_an_aware_datetime_is_an_instant_to_the_microsecond(moment) -> None:
    offset = moment.utcoffset()
    assert instant_of(moment) == instant_of(moment.replace(tzinfo=UTC)) - offset // timedelta(microseconds=1)


def test_a_naive_datetime_is_no_instant() -> None:
    with pytest.raises(RejectedError, match="timezone='Europe/Helsinki'") as caught:
        instant_of(datetime.fromisoformat("2024-03-01T09:00:00"))
    assert caught.value.code == "naive_time"


@given(st.lists(instants, min_size=1), instants)
def test_transaction_times_increase_whatever_the_wall_clock_does(walls, last) -> None:
    for wall in walls:
        recorded = next_recorded(wall, last)
        assert recorded > last
        assert recorded >= wall
        last = recorded


# -- zones


class Unnamed(tzinfo):
    """A zone that can only be asked, not named."""


class Localized(tzinfo):
    """As pytz makes them: the name is called zone, and the object must not be asked directly."""

    zone = "Europe/Helsinki"


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (None, None),
        ("UTC", ""),
        (UTC, ""),
        (ZoneInfo("Etc/UTC"), ""),
        (timezone(timedelta(0)), ""),
        ("Europe/Helsinki", "Europe/Helsinki"),
        (ZoneInfo("Asia/Kolkata"), "Asia/Kolkata"),
        (Localized(), "Europe/Helsinki"),
        (timezone(timedelta(hours=-3, minutes=-30), "NST"), "UTC-03:30"),
        ("+02:00", "+02:00"),
    ],
)
def test_a_zone_is_kept_by_its_name(zone, name) -> None:
    assert zone_name(zone) == name


@pytest.mark.parametrize(
    "zone", ["", "Atlantis/Capital", "Europe", "../etc/passwd", "a\0b", "\ud800", "+25:00", Unnamed(), 5]
)
def test_a_zone_that_does_not_exist_is_refused(zone) -> None:
    with pytest.raises(ConfigError, match="IANA"):
        zone_name(zone)


@given(wall_times, st.sampled_from(["Europe/Helsinki", "Pacific/Apia"]))
def test_wall_times_agree_with_the_standard_library_unless_skipped(moment, name) -> None:
    zone = ZoneInfo(name)
    local = instant_of(moment.replace(tzinfo=UTC))
    exists = moment.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment
    if exists:
        assert wall_to_instant(local, name, "") == instant_of(moment.replace(tzinfo=zone))
        assert wall_to_instant(local, name, "", fold=1) == instant_of(moment.replace(tzinfo=zone, fold=1))
    else:
        with pytest.raises(RejectedError, match="put forward"):
            wall_to_instant(local, name, "")


@pytest.mark.parametrize(
    ("day", "zone", "utc"),
    [
        ((2024, 3, 31), "Europe/Helsinki", "2024-03-30T22:00:00Z"),  # changes at three, midnight exists
        ((2018, 11, 4), "America/Sao_Paulo", "2018-11-04T03:00:00Z"),  # midnight skipped: the day begins at one
        ((1919, 3, 31), "America/Toronto", "1919-03-31T04:30:00Z"),  # 23:30 became 00:30
        ((2011, 12, 30), "Pacific/Apia", "2011-12-30T10:00:00Z"),  # the whole day skipped
        ((2019, 10, 27), "Atlantic/Azores", "2019-10-27T00:00:00Z"),  # midnight twice: the first
        ((1, 1, 1), "Asia/Kolkata", "0000-12-31T18:06:32Z"),  # local mean time
        ((-43, 3, 15), "Asia/Kolkata", "-0043-03-14T18:06:32Z"),
        ((12_024, 7, 1), "Europe/Helsinki", "Y12024-06-30T21:00:00Z"),  # rules go on after year 9999
        ((12_024, 1, 1), "Europe/Helsinki", "Y12023-12-31T22:00:00Z"),
    ],
)
def test_a_day_begins_at_its_first_instant(day, zone, utc) -> None:
    assert format_instant(midnight(day, zone)) == utc


@given(
    st.integers(days_of(-50, 1, 1), days_of(12_100, 1, 1)), st.sampled_from(["Europe/Helsinki", "America/Sao_Paulo"])
)
def test_the_first_instant_of_a_day_is_in_that_day_and_the_one_before_is_not(days, zone) -> None:
    day = date_of(days)
    start = midnight(day, zone)
    assert local_date(start, zone) == day
    assert local_date(start - 1, zone) == date_of(days - 1)
    assert 22 * HOUR < midnight(date_of(days + 1), zone) - start < 26 * HOUR


def test_zones_reach_over_the_edges_of_datetime() -> None:
    assert local_date(days_of(10_000, 1, 1) * DAY - HOUR, "Europe/Helsinki") == (10_000, 1, 1)
    assert local_date(days_of(1, 1, 1) * DAY, "America/New_York") == (0, 12, 31)
