"""How times are read, how precise they then are, and that nothing else is read."""

from __future__ import annotations

import pickle
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal, Inexact, localcontext
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import temporal
from semgraph.dates import parse_when
from semgraph.errors import ConfigError, InputError, RejectedError, SemgraphError
from semgraph.instants import date_of, days_of, format_date, format_year
from semgraph.temporal import (
    ALWAYS,
    DAY,
    HOUR,
    MAX_INSTANT,
    MIN_INSTANT,
    MINUTE,
    NEG_INF,
    POS_INF,
    SECOND,
    UNKNOWN,
    Bound,
    certainly_later,
    exact,
    format_instant,
    from_epoch,
    instant_of,
    next_recorded,
    parse_bound,
    parse_interval,
    parse_through,
    span,
    unit_end,
)

HELSINKI = "Europe/Helsinki"
HUGE = pytest.param(10**5000, id="huge")  # as a text it would be refused by the interpreter


def at(text: str) -> int:
    """An instant in UTC, read without the code under test; BC and long years through the calendar alone."""
    day, _, clock = text.partition("T")
    sign, day = (-1, day[1:]) if day.startswith("-") else (1, day)
    year, month, number = (int(part) for part in day.split("-"))
    hour, minute, second = (int(part) for part in (clock or "0:0:0").split(":"))
    return days_of(sign * year, month, number) * DAY + hour * HOUR + minute * MINUTE + second * SECOND


def naive(text: str) -> datetime:
    return datetime.fromisoformat(text)


def refusal(value: object, **options: object) -> RejectedError:
    with pytest.raises(RejectedError) as caught:
        parse_bound(value, **options)
    return caught.value


# -- what is read


@pytest.mark.parametrize(
    ("text", "precision", "earliest", "before"),
    [
        ("2024-03-01", "day", "2024-03-01", "2024-03-02"),
        ("2024-02", "month", "2024-02-01", "2024-03-01"),
        ("2024-12", "month", "2024-12-01", "2025-01-01"),
        ("2024", "year", "2024-01-01", "2025-01-01"),
        ("0000", "year", "0-01-01", "1-01-01"),
        ("0000-02-29", "day", "0-02-29", "0-03-01"),
        ("-0043", "year", "-43-01-01", "-42-01-01"),
        ("-0043-03-15", "day", "-43-03-15", "-43-03-16"),
        ("-0004-02-29", "day", "-4-02-29", "-4-03-01"),
        ("-0001-12", "month", "-1-12-01", "0-01-01"),
        ("-12024", "year", "-12024-01-01", "-12023-01-01"),
        ("Y-12024", "year", "-12024-01-01", "-12023-01-01"),
        ("Y12024", "year", "12024-01-01", "12025-01-01"),
        ("Y12024-05-06", "day", "12024-05-06", "12024-05-07"),
        ("Y290000", "year", "290000-01-01", "290001-01-01"),
        ("Y-290000", "year", "-290000-01-01", "-289999-01-01"),
        ("198X", "decade", "1980-01-01", "1990-01-01"),
        ("000X", "decade", "0-01-01", "10-01-01"),
        ("Y1202X", "decade", "12020-01-01", "12030-01-01"),
        ("2018~", "year", "2017-01-01", "2020-01-01"),
        ("2018%", "year", "2017-01-01", "2020-01-01"),
        ("2018?", "year", "2018-01-01", "2019-01-01"),
        ("2024-01~", "month", "2023-12-01", "2024-03-01"),
        ("2024-03-01~", "day", "2024-02-29", "2024-03-03"),
        ("198X~", "decade", "1970-01-01", "2000-01-01"),
        ("0000~", "year", "-1-01-01", "2-01-01"),
        ("2024-03-01T09:30Z", "minute", "2024-03-01T9:30:0", "2024-03-01T9:31:0"),
        ("2024-03-01 09:30+02:00", "minute", "2024-03-01T7:30:0", "2024-03-01T7:31:0"),
    ],
)
def test_a_date_denotes_the_first_instant_of_its_unit_and_lies_within_it(text, precision, earliest, before) -> None:
    bound = parse_bound(text)
    assert (bound.precision, bound.earliest, bound.before) == (precision, at(earliest), at(before))
    assert bound.approximate == (text[-1] in "~%")
    assert bound.uncertain == (text[-1] in "?%")
    assert (bound.spelling, bound.zone, bound.shifted) == (text, "", False)
    assert bound.instant == span(bound)[0]
    assert span(bound)[1] == unit_end(bound)
    if not bound.approximate:
        assert span(bound) == (bound.earliest, bound.before)
    else:
        assert bound.earliest < bound.instant < unit_end(bound) < bound.before


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-03-01T09:00:00Z", at("2024-03-01T9:0:0")),
        ("2024-03-01T09:00:00+00:00", at("2024-03-01T9:0:0")),
        ("2024-03-01T09:00:00-00:00", at("2024-03-01T9:0:0")),
        ("2024-03-01 09:00:00+02:00", at("2024-03-01T7:0:0")),
        ("2024-03-01T09:00:00-0330", at("2024-03-01T12:30:0")),
        ("2024-03-01T09:00:00+14", at("2024-02-29T19:0:0")),
        ("2024-03-01T09:00:00.5Z", at("2024-03-01T9:0:0") + 500_000),
        ("2024-03-01T09:00:00.000001Z", at("2024-03-01T9:0:0") + 1),
        ("2024-03-01T23:59:59.999999Z", at("2024-03-02") - 1),
        ("-0043-03-15T12:00:00Z", at("-43-03-15T12:0:0")),
        ("Y12024-01-01T00:00:00Z", at("12024-01-01")),
        ("0000-01-01T00:00:00+01:00", at("-1-12-31T23:0:0")),
        ("  2024-03-01T09:00:00Z\n", at("2024-03-01T9:0:0")),
    ],
)
def test_a_date_time_with_its_seconds_is_exact(text, instant) -> None:
    bound = parse_bound(text)
    assert (bound.instant, bound.earliest, bound.before) == (instant, instant, instant + 1)
    assert bound.precision == "instant"
    assert bound.spelling == text.strip()
    assert bound == exact(instant)


@pytest.mark.parametrize("text", ["-inf", "always", " always "])
def test_always_is_a_statement_about_the_whole_past(text) -> None:
    assert parse_bound(text) is ALWAYS
    assert (ALWAYS.instant, str(ALWAYS), span(ALWAYS)) == (NEG_INF, "-inf", (NEG_INF, POS_INF))
    assert certainly_later(parse_bound("Y-290000~"), ALWAYS)


def test_unknown_may_be_any_time() -> None:
    assert parse_bound("unknown") is UNKNOWN
    assert (UNKNOWN.earliest, UNKNOWN.before, str(UNKNOWN)) == (NEG_INF, POS_INF, "unknown")
    for other in (ALWAYS, UNKNOWN, parse_bound("2024")):
        assert not certainly_later(UNKNOWN, other)
        assert not certainly_later(other, UNKNOWN)


def test_an_open_end_is_none() -> None:
    assert parse_bound("..") is None
    assert parse_through("..") is None


def test_a_bound_is_taken_as_it_is() -> None:
    bound = parse_bound("2018~")
    assert parse_bound(bound, timezone=HELSINKI) is bound


def test_dates_and_datetimes_are_read_like_the_texts_they_print() -> None:
    assert parse_bound(date(2024, 3, 1)) == parse_bound("2024-03-01")
    told = datetime(2024, 3, 1, 9, tzinfo=timezone(timedelta(hours=2)))
    assert parse_bound(told) == parse_bound("2024-03-01T09:00:00+02:00")
    assert parse_bound(told).spelling == "2024-03-01T09:00:00+02:00"
    assert parse_bound(datetime(2024, 3, 1, 7, tzinfo=UTC)).spelling == ""


def test_the_same_text_is_read_once() -> None:
    assert parse_bound("2024-03-01") is parse_bound("2024-03-01")


# -- what is not


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "yesterday", "now", "2024-03-01T", "24-03-01", "2024-3-1", "20240301", "2024/03/01", "03/01/2024"),
        *("2023-02-29", "1900-02-29", "-0001-02-29", "2024-13", "2024-00", "2024-04-31", "2024-01-00"),
        *("2024-21", "2024-24", "2024-33", "2024-41", "2024-W10", "2024-W10-1", "2024-061", "2024-Q1"),
        *("2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z", "2016-12-31T23:59:60Z", "2024-01-01T12:60:00Z"),
        *("2024-01-01T12:00:00+24:00", "2024-01-01T12:00:00+01:60", "2024-01-01T12Z", "2024-01-01T12:00:00z"),
        *("2024-01-01t12:00:00Z", "2024-01-01T12:00:00.Z", "2024-01-01T12:00:00.1234567Z", "2024-01-01T12:00:00 Z"),
        *("2024-02-30T12:00:00", "2024-01T12:00:00Z", "2024-01-01T12:00:00Z~", "12:00:00Z"),
        *("-0000", "-0000-01-01", "+2024", "Y2024", "Y02024", "12024", "-012024", "y12024", "Y1.2e4", "Y12E3"),
        *("19XX", "1XXX", "198x", "-198X", "19uu", "2024-XX", "2024-03-XX", "{2020,2021}", "[2020..2021]", "~2024"),
        *("2024?-03", "?2024-03", "2024~~", "2024~?", "2018/2020", "../2020", "-infinity", "inf", "infinity", "ALWAYS"),
        *("2024\x00", "\ud800", "２０２４", "٢٠٢٤", "2024−03", "9" * 100, "Y" + "1" * 10_000, "1700000000", "1e9"),
    ],
)
def test_everything_else_is_refused(text) -> None:
    error = refusal(text)
    assert error.code == "bad_time"
    assert len(error.reason) < 500


@pytest.mark.parametrize("value", [0, 2024, 1.5, 1_700_000_000, HUGE, float("nan")])
def test_a_bare_number_is_refused_with_the_way_out(value) -> None:
    error = refusal(value)
    assert error.code == "bad_time"
    assert "from_epoch" in error.reason


@pytest.mark.parametrize("value", [None, True, b"2024", ["2024"], Decimal(1), timedelta(1), object()])
def test_what_is_no_time_at_all_is_refused_by_its_type(value) -> None:
    error = refusal(value)
    assert error.code == "bad_time"
    assert type(value).__name__ in error.reason


@pytest.mark.parametrize(
    "value", ["2022-01-01T10:00:00", "2022-01-01 10:00", naive("2022-01-01T10:00:00"), naive("0001-01-01")]
)
def test_a_naive_time_is_refused_with_both_ways_out(value) -> None:
    error = refusal(value)
    assert error.code == "naive_time"
    assert "Z'" in error.reason
    assert "timezone=" in error.reason


def test_an_impossible_naive_time_is_impossible_first() -> None:
    assert refusal("2023-02-29T10:00:00").code == "bad_time"


@pytest.mark.parametrize(
    "text",
    [
        *("Y290001", "Y-290001", "-290001", "Y1000000", "Y29000X", "Y99999999999X", "Y290001-01-01"),
        *("Y-290000-01-01T00:00:00+00:01", "Y290000-12-31T23:59:59-01:00", "Y290001-01-01T00:00:00Z"),
    ],
)
def test_years_past_the_accepted_ones_are_out_of_range(text) -> None:
    assert refusal(text).code == "time_range"


def test_the_first_and_last_accepted_instants_are_read() -> None:
    assert parse_bound("Y-290000-01-01T00:00:00Z").instant == MIN_INSTANT
    assert parse_bound("Y290000-12-31T23:59:59.999999Z").instant == MAX_INSTANT - 1
    assert parse_through("Y290000").instant == MAX_INSTANT
    assert refusal("Y-290000", timezone=HELSINKI).code == "time_range"  # its first instant is still -290001 in UTC


@given(st.one_of(st.text(max_size=40), st.text("0123456789-:TZ+.~?%XY /", max_size=30), st.from_type(type)))
def test_no_input_raises_anything_undeclared(value) -> None:
    for read in (parse_bound, parse_through, parse_interval, parse_when, from_epoch):
        said = ""
        try:
            read(value)
        except SemgraphError as error:
            said = str(error)
        assert not said or said.isprintable()


# -- zones


def test_a_date_is_the_day_of_its_zone() -> None:
    bound = parse_bound("2024-03-01", timezone=HELSINKI)
    assert span(bound) == (at("2024-02-29T22:0:0"), at("2024-03-01T22:0:0"))
    assert (bound.zone, str(bound)) == (HELSINKI, "2024-03-01")


@pytest.mark.parametrize(("text", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-10-28", 24)])
def test_days_are_as_long_as_their_zone_makes_them(text, hours) -> None:
    bound = parse_bound(text, timezone=ZoneInfo(HELSINKI))
    assert bound.before - bound.earliest == hours * HOUR


def test_a_naive_time_is_read_in_the_zone_given() -> None:
    winter, summer = "2024-01-01T12:00:00", "2024-07-01T12:00:00"
    assert parse_bound(winter, timezone=HELSINKI).instant == at("2024-01-01T10:0:0")
    assert parse_bound(summer, timezone=HELSINKI).instant == at("2024-07-01T9:0:0")
    assert parse_bound(naive(summer), timezone=HELSINKI).instant == at("2024-07-01T9:0:0")
    assert parse_bound(winter, timezone="UTC").instant == at("2024-01-01T12:0:0")
    assert parse_bound(winter, timezone="UTC").zone == ""
    assert parse_bound("2024-07-01T12:00", timezone=HELSINKI).precision == "minute"


def test_an_offset_is_stronger_than_the_zone() -> None:
    text = "2024-01-01T12:00:00-05:00"
    assert parse_bound(text, timezone=HELSINKI) == parse_bound(text)
    aware = datetime(2024, 1, 1, 12, tzinfo=UTC)
    assert parse_bound(aware, timezone=HELSINKI) == parse_bound(aware)


def test_a_time_shown_twice_is_never_guessed() -> None:
    text = "2024-10-27T03:30:00"
    with pytest.raises(RejectedError) as caught:
        parse_bound(text, timezone=HELSINKI)
    assert caught.value.code == "bad_time"
    assert parse_bound(naive(text), timezone=HELSINKI).instant == at("2024-10-27T0:30:0")
    assert parse_bound(naive(text).replace(fold=1), timezone=HELSINKI).instant == at("2024-10-27T1:30:0")


@pytest.mark.parametrize("value", ["2024-03-31T03:30:00", naive("2024-03-31T03:30:00")])
def test_a_time_that_clocks_skipped_is_refused(value) -> None:
    error = refusal(value, timezone=HELSINKI)
    assert error.code == "bad_time"
    assert "put forward" in error.reason


def test_a_day_whose_midnight_was_skipped_begins_later() -> None:
    assert parse_bound("2018-11-04", timezone="America/Sao_Paulo").instant == at("2018-11-04T3:0:0")


def test_a_day_that_a_zone_left_out_is_refused_but_may_follow_the_last_one() -> None:
    assert "left this day out" in refusal("2011-12-30", timezone="Pacific/Apia").reason
    through = parse_through("2011-12-29", timezone="Pacific/Apia")
    assert through.instant == parse_bound("2011-12-31", timezone="Pacific/Apia").instant
    assert through.earliest < through.before


def test_a_zone_that_does_not_exist_is_a_setting_that_makes_no_sense() -> None:
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        parse_bound("2024", timezone="Mars/Olympus")


def test_spelling_and_zone_are_kept() -> None:
    bound = parse_bound(" 2024-03~ ", timezone=HELSINKI)
    assert (bound.spelling, bound.zone, str(bound)) == ("2024-03~", HELSINKI, "2024-03~")
    told = parse_bound("2024-03-01T09:00:00+02:00")
    assert (told.spelling, str(told)) == ("2024-03-01T09:00:00+02:00", "2024-03-01T07:00:00Z")


# -- through, intervals, words


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2020", "2021"),
        ("2024-02-29", "2024-03-01"),
        ("2023-12", "2024-01"),
        ("2024-12-31", "2025-01-01"),
        ("198X", "199X"),
        ("999X", "Y1000X"),
        ("-0001", "0000"),
        ("9999", "Y10000"),
        ("2018~", "2019~"),
        ("2018?", "2019?"),
        ("2018%", "2019%"),
        ("2024-03-01T09:00Z", "2024-03-01T09:01Z"),
        ("2024-03-01T09:00:00Z", "2024-03-01T09:00:00.000001Z"),
    ],
)
def test_through_ends_with_the_whole_unit(text, until) -> None:
    bound, plain = parse_through(text), parse_bound(until)
    assert str(bound) == until
    assert bound.shifted
    assert bound.spelling == text
    assert (bound.instant, bound.earliest, bound.before) == (plain.instant, plain.earliest, plain.before)
    assert (bound.precision, bound.approximate, bound.uncertain) == (
        plain.precision,
        plain.approximate,
        plain.uncertain,
    )
    assert bound.instant == unit_end(parse_bound(text))


def test_through_a_day_ends_where_the_next_begins_in_its_zone() -> None:
    bound = parse_through("2024-03-30", timezone=HELSINKI)
    assert bound.instant == at("2024-03-30T22:0:0")
    assert str(bound) == "2024-03-31"
    assert unit_end(bound) - bound.instant == 23 * HOUR


def test_through_a_date_object_and_a_datetime() -> None:
    assert parse_through(date(2024, 2, 29)) == parse_through("2024-02-29")
    assert parse_through(datetime(2024, 3, 1, tzinfo=UTC)).instant == at("2024-03-01") + 1
    with pytest.raises(RejectedError, match="time_range"):
        parse_through(exact(MAX_INSTANT))


def test_nothing_ends_with_always_and_unknown_stays_unknown() -> None:
    assert parse_through("unknown") is UNKNOWN
    with pytest.raises(RejectedError, match="bad_time"):
        parse_through("always")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2018/2020", "2018", "2021"),
        ("2018-03 / 2018-03", "2018-03", "2018-04"),
        ("2018/..", "2018", "None"),
        ("../2020", "-inf", "2021"),
        ("../..", "-inf", "None"),
        ("2018/", "2018", "unknown"),
        ("/2020", "unknown", "2021"),
        ("unknown/unknown", "unknown", "unknown"),
        ("/..", "unknown", "None"),
        ("198X/2018~", "198X", "2019~"),
        ("2024-03-01T09:00:00Z/2024-03-01T09:00:00Z", "2024-03-01T09:00:00Z", "2024-03-01T09:00:00.000001Z"),
    ],
)
def test_edtf_intervals_hold_their_last_unit(text, start, end) -> None:
    assert tuple(str(bound) for bound in parse_interval(text)) == (start, end)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        *((text, "bad_time") for text in ("2018", "2018/2019/2020", "/", " / ", "2018/now", "2018/always", "")),
        (2018, "bad_time"),
        ("2020/2018", "empty_interval"),
        ("2018-01-01T12:00:00/2019", "naive_time"),
        ("2018/Y290001", "time_range"),
    ],
)
def test_other_intervals_are_refused(value, code) -> None:
    with pytest.raises(RejectedError) as caught:
        parse_interval(value)
    assert caught.value.code == code


def test_an_interval_is_read_in_the_zone_given() -> None:
    start, end = parse_interval("2024-03-01/2024-03-01", timezone=HELSINKI)
    assert (start.instant, end.instant) == (at("2024-02-29T22:0:0"), at("2024-03-01T22:0:0"))


def test_when_reads_a_period_that_spans_its_unit() -> None:
    assert span(parse_when("2020")) == (at("2020-01-01"), at("2021-01-01"))
    assert parse_when("2020", reference=datetime(2024, 1, 1, tzinfo=UTC)) == parse_bound("2020")
    for text in ("last summer", "..", 2020):
        with pytest.raises(RejectedError, match="bad_time"):
            parse_when(text)


# -- epochs and instants


@pytest.mark.parametrize(
    ("value", "unit", "instant"),
    [
        (0, "s", 0),
        (1_709_283_600, "s", at("2024-03-01T9:0:0")),
        (1_709_283_600_123, "ms", at("2024-03-01T9:0:0") + 123_000),
        (1_709_283_600_123_456, "us", at("2024-03-01T9:0:0") + 123_456),
        (1_709_283_600.123456, "s", at("2024-03-01T9:0:0") + 123_456),
        ("1709283600.25", "s", at("2024-03-01T9:0:0") + 250_000),
        (Decimal("-0.0000005"), "s", 0),
        (Decimal("0.0000015"), "s", 2),
        (-1, "us", -1),
        ("1e-99999", "s", 0),
    ],
)
def test_an_epoch_time_says_its_unit(value, unit, instant) -> None:
    assert from_epoch(value, unit) == exact(instant)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        *(
            (value, "bad_time")
            for value in ("nan", float("inf"), "soon", "", True, None, b"1", "1" * 65, Decimal("sNaN"))
        ),
        pytest.param(10**5000, "time_range", id="huge"),
        *((value, "time_range") for value in (-(10**13), "1e999999", Decimal("1e30"), POS_INF)),
    ],
)
def test_what_is_no_epoch_time_is_refused(value, code) -> None:
    with pytest.raises(RejectedError) as caught:
        from_epoch(value)
    assert caught.value.code == code


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(InputError, match="'ns'"):
        from_epoch(1, "ns")
    with pytest.raises(InputError, match="unit"):
        from_epoch(1, ["s"])


def test_the_callers_decimal_context_has_no_say() -> None:
    with localcontext(Context(prec=3, traps=[Inexact])):
        assert from_epoch("1709283600.123456").instant == at("2024-03-01T9:0:0") + 123_456


@pytest.mark.parametrize("instant", [MIN_INSTANT - 1, MAX_INSTANT + 1, POS_INF])
def test_an_instant_outside_the_accepted_years_is_refused(instant) -> None:
    with pytest.raises(RejectedError, match="time_range"):
        exact(instant)


def test_an_exact_instant_has_a_window_of_one_microsecond() -> None:
    bound = exact(5)
    assert (bound.earliest, bound.before, unit_end(bound), span(bound)) == (5, 6, 6, (5, 6))
    assert exact(NEG_INF) is ALWAYS


def test_a_bound_becomes_a_datetime_where_that_fits() -> None:
    assert parse_bound("2024-03").to_datetime() == datetime(2024, 3, 1, tzinfo=UTC)
    assert parse_bound("0001").to_datetime() == datetime.min.replace(tzinfo=UTC)
    for outside in (parse_bound("0000"), parse_bound("Y10000"), ALWAYS, UNKNOWN):
        with pytest.raises(InputError, match="datetime"):
            outside.to_datetime()


# -- comparing


def test_bounds_are_ordered_by_instant() -> None:
    day, year, later = parse_bound("2024-01-01"), parse_bound("2024"), parse_bound("2024-01-01T00:00:00.000001Z")
    assert day <= year <= day
    assert day >= year >= day
    assert not day < year
    assert not day > year
    assert day != year
    assert later > day
    assert sorted([later, UNKNOWN, day])[1:] == [day, later]
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(day, compare)(day.instant) is NotImplemented


@pytest.mark.parametrize(
    ("later", "earlier", "certain"),
    [
        ("2019", "2018", True),
        ("2018", "2018", False),
        ("2018-12-31", "2018", False),
        ("2019-01-01", "2018", True),
        ("2019", "2018~", False),
        ("2020", "2018~", True),
        ("2019", "2018?", True),
        ("2021~", "2018~", True),
        ("2020~", "2018~", False),
        ("2024-01-01T00:00:00.000001Z", "2024-01-01T00:00:00Z", True),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", False),
        ("2018", "always", True),
    ],
)
def test_certainly_later_means_wherever_the_two_lie(later, earlier, certain) -> None:
    assert certainly_later(parse_bound(later), parse_bound(earlier)) is certain
    assert not certainly_later(parse_bound(earlier), parse_bound(later))


def test_bounds_are_values() -> None:
    bound = parse_bound("2018~", timezone=HELSINKI)
    assert hash(bound) == hash(deepcopy(bound))
    assert pickle.loads(pickle.dumps(bound)) == bound  # noqa: S301 - our own bytes
    with pytest.raises(AttributeError):
        bound.instant = 0
    assert not hasattr(bound, "__dict__")


def test_the_names_of_the_clock_are_offered_here_too() -> None:
    assert next_recorded(5, 9) == 10
    assert instant_of(datetime(1970, 1, 2, tzinfo=UTC)) == DAY
    assert format_instant(DAY) == "1970-01-02T00:00:00Z"
    assert all(hasattr(temporal, name) for name in temporal.__all__)


# -- laws


@st.composite
def written(draw) -> str:
    """A text of any shape that is read, some years from where the accepted ones end."""
    year, month, day = date_of(draw(st.integers(MIN_INSTANT // DAY + 4000, MAX_INSTANT // DAY - 4000)))
    shape = draw(st.sampled_from(["day", "month", "year", "decade", "minute", "instant"]))
    flag = draw(st.sampled_from(["", "~", "?", "%"]))
    if shape == "decade":
        return f"{format_year(abs(year) // 10 % 28_999 * 10)[:-1]}X{flag}"
    if shape in {"day", "month", "year"}:
        return {
            "day": format_date(year, month, day),
            "month": f"{format_year(year)}-{month:02d}",
            "year": format_year(year),
        }[shape] + flag
    clock = draw(st.times()).isoformat("minutes" if shape == "minute" else "auto")
    return f"{format_date(year, month, day)}T{clock}{draw(st.sampled_from(['Z', '+02:00', '-0930', '+00']))}"


zones = st.sampled_from([None, "UTC", HELSINKI, "Asia/Kolkata", "America/Sao_Paulo", timezone(timedelta(hours=-3))])


@st.composite
def bounds(draw) -> Bound:
    read = draw(st.sampled_from([parse_bound, parse_through]))
    return read(draw(written()), timezone=draw(zones))


def window(bound: Bound) -> tuple[object, ...]:
    return (*span(bound), bound.earliest, bound.before, bound.precision, bound.approximate, bound.uncertain)


@given(bounds())
def test_what_is_stored_comes_back_whole(bound) -> None:
    back = Bound.from_stored(bound.instant, bound.stored)
    assert back == bound
    assert (back.spelling, str(back), back.stored) == (bound.spelling, str(bound), bound.stored)


@pytest.mark.parametrize("value", [*"iuash", ""])
def test_stored_codes_without_a_text_are_read(value) -> None:
    back = Bound.from_stored(HOUR, value)
    assert (
        back.precision
        == {"": "instant", "i": "instant", "u": "unknown", "a": "always", "s": "second", "h": "hour"}[value]
    )
    assert back.stored == value


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (exact(5), ""),
        (parse_bound("2024-03-01"), "D"),
        (parse_bound("2018~"), "Y~"),
        (parse_bound("198X%"), "X%"),
        (parse_bound("2024-03-01T09:00:00Z"), "i"),
        (parse_bound("2024-03-01T09:00Z"), "m"),
        (ALWAYS, "a"),
        (UNKNOWN, "u"),
        (parse_through("2020?"), "Y?>|||2020?"),
        (parse_bound("2024-03-01T09:00:00+02:00"), "i|||2024-03-01T09:00:00+02:00"),
        (parse_through(exact(5)), "i>|||"),
    ],
)
def test_the_commonest_bounds_are_stored_in_a_few_bytes(bound, text) -> None:
    assert bound.stored == text
    assert Bound.from_stored(bound.instant, text) == bound
    assert Bound.from_stored(bound.instant, text).spelling == bound.spelling


@pytest.mark.parametrize("text", ["?", "|", "d", "DD|x", "D|Europe/Helsinki|1:2|2024", "D|z|a:b:c|2024", "|||"])
def test_what_was_never_stored_is_refused(text) -> None:
    with pytest.raises(InputError, match="stored"):
        Bound.from_stored(0, text)


def test_stored_bounds_need_no_zone_table() -> None:
    text = parse_bound("2024-03", timezone=HELSINKI).stored.replace(HELSINKI, "Europe/Gone")
    assert str(Bound.from_stored(at("2024-02-29T22:0:0"), text)) == "2024-03"


@given(bounds())
def test_what_is_printed_is_read_as_the_same_window(bound) -> None:
    if not bound.zone:
        assert window(parse_bound(str(bound))) == window(bound)


@given(bounds())
def test_a_window_holds_its_instant_and_its_unit(bound) -> None:
    assert bound.earliest <= bound.instant < unit_end(bound) <= bound.before
    assert certainly_later(bound, bound) is False


@given(written(), zones)
def test_until_and_from_the_next_unit_meet(text, zone) -> None:
    this, through = parse_bound(text, timezone=zone), parse_through(text, timezone=zone)
    assert through.instant == unit_end(this)
    assert through == parse_through(this)


@given(bounds(), bounds())
def test_certainly_later_is_a_strict_order(x, y) -> None:
    assert not (certainly_later(x, y) and certainly_later(y, x))
    if certainly_later(x, y):
        assert x > y


def test_texts_are_read_nowhere_else() -> None:
    """Other modules may do arithmetic on datetimes, not parse them."""
    package = Path(temporal.__file__).parent
    readers = ("datetime.fromisoformat", "strptime", "fromtimestamp", "dateparser.parse", "parse_edtf")
    found = [
        path.name
        for path in package.rglob("*.py")
        if path.name != "temporal.py" and any(reader in path.read_text(encoding="utf-8") for reader in readers)
    ]
    assert found == []
