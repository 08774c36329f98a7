"""Dates as people write them: what is read, what is refused and why, and what is found in sentences."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from datetime import timezone as fixed_zone
from itertools import pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import semgraph
from semgraph.dates import find_dates, parse_when, read_when
from semgraph.dates.reading import Reading
from semgraph.errors import InputError, RejectedError, SemgraphError
from semgraph.instants import DAY, HOUR, NEG_INF, POS_INF, format_instant, instant_of
from semgraph.temporal import Bound, parse_bound, parse_through, span

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 25, 15, 30, tzinfo=UTC)  # a Wednesday


def when(text: str, moment: datetime = NOW) -> Bound:
    return parse_when(text, reference=moment)


def refusal(text: str, moment: datetime | None = NOW) -> RejectedError:
    with pytest.raises(RejectedError) as caught:
        parse_when(text, reference=moment)
    return caught.value


# -- dates of the calendar


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("July 2026", "2026-07"),
        ("jul. 2026", "2026-07"),
        ("in July, 2026", "2026-07"),
        ("the month of July 2026", "2026-07"),
        ("2026 July", "2026-07"),
        ("July '26", "2026-07"),
        ("11/2016", "2016-11"),
        ("2016/11", "2016-11"),
        ("5 May 2020", "2020-05-05"),
        ("the 5th of May, 2020", "2020-05-05"),
        ("May the 5th 2020", "2020-05-05"),
        ("May 5th, 2020", "2020-05-05"),
        ("5-May-2020", "2020-05-05"),
        ("5-May-20", "2020-05-05"),
        ("2020/may/5", "2020-05-05"),
        ("Tuesday, 5 May 2020", "2020-05-05"),
        ("twenty-first of June two thousand and eighteen", "2018-06-21"),
        ("22/04/2016", "2016-04-22"),
        ("04/22/2016", "2016-04-22"),
        ("22.4.2016", "2016-04-22"),
        ("4/4/2016", "2016-04-04"),
        ("2016/11/07", "2016-11-07"),
        ("5 March 44 BC", "-0043-03-05"),
        ("29 February 2024", "2024-02-29"),
        ("44 BC", "-0043"),
        ("44 B.C.", "-0043"),
        ("1 BCE", "0000"),
        ("AD 79", "0079"),
        ("79 CE", "0079"),
        ("12000 BC", "Y-11999"),
        ("the year 2020", "2020"),
        ("nineteen ninety-nine", "1999"),
        ("nineteen oh five", "1905"),
        ("two thousand and ten", "2010"),
        ("nineteen hundred", "1900"),
        ("the 1990s", "199X"),
        ("1990's", "199X"),
        ("the nineties", "199X"),
        ("the '90s", "199X"),
        ("the nineteen seventies", "197X"),
        ("the noughties", "200X"),
        ("the 19th century", "1800/1899"),
        ("the nineteenth century", "1800/1899"),
        ("5th century BC", "-0499/-0400"),
        ("the first century", "0001/0099"),
        ("the 2nd millennium", "1000/1999"),
        ("Q3 2024", "2024-07/2024-09"),
        ("2024-Q3", "2024-07/2024-09"),
        ("the third quarter of 2024", "2024-07/2024-09"),
        ("H1 2024", "2024-01/2024-06"),
        ("second half of 2024", "2024-07/2024-12"),
        ("2026-W29", "2026-07-13/2026-07-19"),
        ("week 29 of 2026", "2026-07-13/2026-07-19"),
        ("2020-W53", "2020-12-28/2021-01-03"),
        ("the week of 16 July 2026", "2026-07-13/2026-07-19"),
        ("the first week of 2015", "2014-12-29/2015-01-04"),
        ("last week of 2019", "2019-12-23/2019-12-29"),
        ("the 53rd week of 2020", "2020-12-28/2021-01-03"),
        ("3rd week of Jan 2018", "2018-01-15/2018-01-21"),
        ("the last week in July 2017", "2017-07-24/2017-07-30"),
        ("the first two weeks of 2021", "2021-01-04/2021-01-17"),
        ("the last four months of 2021", "2021-09/2021-12"),
        ("first ten days of 2020", "2020-01-01/2020-01-10"),
        ("the last day of February 2024", "2024-02-29"),
        ("the 366th day of 2024", "2024-12-31"),
        ("the first month of 2020", "2020-01"),
        ("for three days, from 5 May 2020", "2020-05-05/2020-05-07"),
        ("20161016", "2016-10-16"),
        ("Earth Day 2010", "2010-04-22"),
        ("Juneteenth 2021", "2021-06-19"),
        ("early 2019", "2019-01/2019-06"),
        ("late 2019", "2019-07/2019-12"),
        ("mid-2019", "2019-05/2019-08"),
        ("the beginning of 2023", "2023-01/2023-04"),
        ("the end of 2023", "2023-09/2023-12"),
        ("mid-March 2020", "2020-03-10/2020-03-20"),
        ("early March 2020", "2020-03-01/2020-03-15"),
        ("late February 2020", "2020-02-16/2020-02-29"),
        ("the late 1970s", "1975/1979"),
        ("the mid-1990s", "1993/1997"),
        ("the early 19th century", "1800/1849"),
        ("Christmas 2020", "2020-12-25"),
        ("New Year's Eve 2020", "2020-12-31"),
        ("the second Monday of May 2020", "2020-05-11"),
        ("the last Friday in May 2020", "2020-05-29"),
        ("around June 2026", "2026-06~"),
        ("c. 1850", "1850~"),
        ("circa 44 BC", "-0043~"),
        ("perhaps 1850", "1850?"),
        ("perhaps around 1850", "1850%"),
        ("sometime in 2019", "2019"),
        ("since March 2020", "2020-03"),
        ("until 2021", "2021"),
        ("from 2018 to 2020", "2018/2019"),
        ("2018/2020", "2018/2020"),
        ("2024-07/2024-09", "2024-07/2024-09"),
    ],
)
def test_calendar_dates_need_no_reference(text: str, shown: str):
    assert str(when(text)) == shown
    assert str(parse_when(text.upper())) == shown
    assert when(text, datetime(2025, 2, 28, tzinfo=UTC)) == when(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("today", "2026-11-25"),
        ("yesterday", "2026-11-24"),
        ("the day before yesterday", "2026-11-23"),
        ("tomorrow", "2026-11-26"),
        ("the day after tomorrow", "2026-11-27"),
        ("last month", "2026-10"),
        ("next year", "2027"),
        ("this quarter", "2026-10/2026-12"),
        ("last week", "2026-11-16/2026-11-22"),
        ("the week before last", "2026-11-09/2026-11-15"),
        ("last decade", "201X"),
        ("last weekend", "2026-11-21/2026-11-22"),
        ("three days ago", "2026-11-22"),
        ("in three days", "2026-11-28"),
        ("3 days from now", "2026-11-28"),
        ("two weeks ago", "2026-11-11~"),
        ("1 month and 21 days ago", "2026-10-04"),
        ("a year and a half ago", "2025-05-25~"),
        ("two days from tomorrow", "2026-11-28"),
        ("2 weeks before 13 May 1999", "1999-04-29"),
        ("the last 3 months", "2026-08-25/2026-11-24"),
        ("the last two quarters", "2026-04/2026-09"),
        ("the next 2 days", "2026-11-26/2026-11-27"),
        ("Monday", "2026-11-23"),
        ("Wednesday", "2026-11-25"),
        ("Thursday", "2026-11-19"),
        ("last Friday", "2026-11-20"),
        ("this Friday", "2026-11-27"),
        ("next Monday", "2026-11-30"),
        ("Friday last week", "2026-11-20"),
        ("next week Tuesday", "2026-12-01"),
        ("March", "2026-03"),
        ("December", "2025-12"),
        ("November", "2026-11"),
        ("mid-March", "2026-03-10/2026-03-20"),
        ("the 5th of May", "2026-05-05"),
        ("5 December", "2025-12-05"),
        ("29 February", "2024-02-29"),
        ("the 20th", "2026-11-20"),
        ("the 31st", "2026-10-31"),
        ("the 5th of next month", "2026-12-05"),
        ("March last year", "2025-03"),
        ("5 May next year", "2027-05-05"),
        ("last December", "2025-12"),
        ("Q3", "2026-07/2026-09"),
        ("Q3 last year", "2025-07/2025-09"),
        ("4/22", "2026-04-22"),
        ("the end of last year", "2025-09/2025-12"),
        ("early next week", "2026-11-30/2026-12-02"),
        ("since March", "2026-03"),
        ("two hours ago", "2026-11-25T13:30Z"),
        ("now", "2026-11-25T15:30:00Z"),
        ("earlier this month", "2026-11-01/2026-11-24"),
        ("year to date", "2026-01-01/2026-11-24"),
        ("a week and a half ago", "2026-11-15~"),
        ("a day and a half ago", "2026-11-24T03:30Z"),
        ("an hour and a half ago", "2026-11-25T14:00Z"),
        ("half a year ago", "2026-05-25~"),
        ("a dozen days ago", "2026-11-13"),
        ("the last 24 hours", "2026-11-24T15:30Z/2026-11-25T15:30Z"),
        ("the 5th of this month", "2026-11-05"),
        ("the 5th of the month before last", "2026-09-05"),
        ("March of the year before last", "2024-03"),
        ("5 May of the year before last", "2024-05-05"),
        ("the third quarter of the year", "2026-07/2026-09"),
        ("10 previous weeks", "2026-09-16/2026-11-24"),
        ("the next couple of weeks", "2026-11-26/2026-12-09"),
        ("two weeks starting 20 May 2020", "2020-05-20/2020-06-02"),
        ("the third week next year", "2027-01-18/2027-01-24"),
        ("the last week of last month", "2026-10-26/2026-11-01"),
        ("the last 3 weeks of this year", "2026-12-14/2027-01-03"),
        ("the first week of Oct", "2026-09-28/2026-10-04"),
        ("the second Monday of May", "2026-05-11"),
        ("tmrw", "2026-11-26"),
        ("the day after tmrw", "2026-11-27"),
        ("within 5 days", "2026-11-25/2026-11-29"),
        ("within the next 10 months", "2026-11-25/2027-09-24"),
        ("within 2 weeks from today", "2026-11-25/2026-12-08"),
        ("within an hour", "2026-11-25T15:30Z/2026-11-25T16:30Z"),
        ("for 3 days from today", "2026-11-25/2026-11-27"),
        ("the week starting 5 May 2020", "2020-05-05/2020-05-11"),
        ("w/c 4 May 2020", "2020-05-04/2020-05-10"),
        ("last year's third quarter", "2025-07/2025-09"),
        ("the end of the month", "2026-11-16/2026-11-30"),
        ("Friday the 13th", "2026-11-13"),
        ("Monday 21", "2026-12-21"),
        ("easter", "2026-04-05"),
        ("Easter 2018", "2018-04-01"),
        ("Good Friday 2024", "2024-03-29"),
        ("MLK Day 2019", "2019-01-21"),
        ("Black Friday 2010", "2010-11-26"),
        ("Memorial Day 2020", "2020-05-25"),
        ("Labor Day", "2026-09-07"),
    ],
)
def test_relative_dates_count_from_the_reference(text: str, shown: str):
    assert str(when(text)) == shown


def test_a_count_of_weeks_months_or_years_is_not_meant_to_the_day():
    for text, days in [("two weeks ago", 3), ("two months ago", 15), ("in two years", 183)]:
        bound = when(text)
        assert bound.approximate
        assert (bound.instant - bound.earliest, bound.before - bound.until) == (days * DAY, days * DAY)
    assert not when("ten days ago").approximate


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("03/04/2021", "2021-03-04 or 2021-04-03"),
        ("3.4.21", "or"),
        ("3/4", "month"),
        ("summer 2021", "June to August in the north and December to February in the south"),
        ("last winter", "give the months"),
        ("next Friday", "2026-11-27 or 2026-12-04"),
        ("last Tuesday", "2026-11-17 or 2026-11-24"),
        ("next weekend", "which|the weekend of this week or of the next"),
        ("last March", "of 2026 or of 2025"),
        ("the 20s", "1920s or 2020s"),
        ("until March", "in the past"),
        ("29 February last year", "no such day"),
        ("the sixth Monday of May 2020", "fewer of them"),
        ("the second Monday of 2020", "no date"),
        ("the week of 2020", "no date"),
        ("two hours starting tomorrow", "no date"),
        ("Feb 27 to 30, 2020", "no such day|no date"),
        ("Monday March 2020", "no date"),
        ("the third half of 2020", "no date"),
        ("first half", "no date"),
        ("2024-03-01T25:00Z", "clocks go from"),
        ("since 2024-03-01T25:00Z", "clocks go from"),
        ("tomorrow at 13 pm", "no date"),
        ("tomorrow at 25:00", "no date"),
        ("tomorrow at 5:00 +30:00", "no date"),
        ("1-1-1-1", "no date"),
        ("123/4/5", "no date or time of a shape|interval"),
        ("early H1 2020", "no date"),
        ("from Friday to 5", "no date"),
        ("the week of March 2020", "no date"),
        ("the fifth week of February 2021", "the month has fewer"),
        ("the 53rd week of 2021", "the year has fewer"),
        ("the first 40 days of May 2020", "the month has fewer"),
        ("the 366th day of 2023", "the year has fewer"),
        ("the last days of May 2020", "no date"),
        ("the first one days of May 2020", "no date"),
        ("the first day of next week", "no date"),
        ("the first week of early 2019", "no date"),
        ("the first week of the 1990s", "no date"),
        ("the first 0 weeks of 2019", "no date"),
        ("for two weeks from 20 May", "which of them"),
        ("for three days", "no date"),
        ("within two weeks of 20 May 2020", "no date"),
        ("within the 3 weeks", "no date"),
        ("within the past 3 years", "no date"),
        ("within 3 days and 2 hours", "no date"),
        ("20161316", "no date"),
        ("20230229", "no date"),
        ("in 1 days before in 1 days before in 1 days before in 1 days before in 1 days before 2020-01-01", "no date"),
        ("../..", "no date|interval"),
        ("5 mai 20", "no date"),
        ("Mai 5 6", "no date"),
        ("two weeks after Easter", "which of them"),
        ("from Easter to Friday", "say of both"),
        ("Thanksgiving 2020", "in November in the United States and in October in Canada"),
        ("Mother's Day", "different countries"),
        ("before Friday", "in the past"),
        ("after the first week of May", "in the past"),
        ("until the last Friday in May", "in the past"),
        ("from the first week of May to the last day of June", "say of both"),
        ("before 2020", "any time before"),
        ("after 2020", "any time after"),
        ("30 February 2020", "no such day"),
        ("2023-02-29", "no such"),
        ("2024-13-01", "no such"),
        ("2020-W54", "no such week"),
        ("Monday, 5 May 2020", "that day is a Tuesday"),
        ("from 2020 to 2018", "ends before it begins"),
        ("2020/2018", "ends before it begins"),
        ("5pm", "without its day"),
        ("tomorrow at 5pm EST", "several offsets"),
        ("from 2014 to May", "which year"),
        ("yesterday and a bit", "no date"),
        ("5", "no date"),
        ("12345", "no date"),
        ("a few days ago", "no date"),
        ("", "no date"),
        ("soon", "no date"),
        ("..", "no date"),
        ("٢٠٢٠", "no date"),
        ("２０２０", "no date"),
        ("May\x00 2020", "control"),
        ("2020 " * 50, "too long"),
    ],
)
def test_what_is_no_date_or_may_be_two_is_refused(text: str, why: str):
    error = refusal(text)
    assert error.code == "bad_time"
    assert any(part in str(error) for part in why.split("|"))
    assert str(error).isprintable()


# -- readings


@pytest.mark.parametrize(
    ("text", "kind", "start", "end"),
    [
        ("in March 2020", "in", "2020-03", None),
        ("since 2018", "since", "2018", None),
        ("2018 onwards", "since", "2018", None),
        ("from 2018 on", "since", "2018", None),
        ("since the end of 2007", "since", "2008-01-01", None),
        ("until 2021", "until", None, "2021"),
        ("through 2020", "until", None, "2021"),
        ("until the end of June 2020", "until", None, "2020-07-01"),
        ("2019 or earlier", "until", None, "2020"),
        ("no later than 2019", "until", None, "2020"),
        ("before 2020", "before", None, "2020"),
        ("after 2018", "after", "2019", None),
        ("after 5 May 2018", "after", "2018-05-06", None),
        ("from 2018 to 2020", "from", "2018", "2020"),
        ("from 2018 through 2020", "from", "2018", "2021"),
        ("2018-2020", "from", "2018", "2020"),
        ("2018\N{EN DASH}2020", "from", "2018", "2020"),
        ("between May and July 2020", "between", "2020-05", "2020-07"),
        ("between A and B", None, None, None),
        ("from Nov to March", "from", "2026-11", "2027-03"),
        ("from Nov 2019 to March", "from", "2019-11", "2020-03"),
        ("from 4 to 22 January 1995", "from", "1995-01-04", "1995-01-22"),
        ("4-22 January 1995", "from", "1995-01-04", "1995-01-22"),
        ("Nov 19 to 20", "from", "2026-11-19", "2026-11-20"),
        ("May 5 to 7, 2020", "from", "2020-05-05", "2020-05-07"),
        ("from Monday to Wednesday", "from", "2026-11-23", "2026-11-25"),
        ("between 5 May 2020 and now", "between", "2020-05-05", "2026-11-25"),
        ("from 100 BC to 44 BC", "from", "-0099", "-0043"),
        ("../2020", "until", None, "2021"),
        ("2020/..", "since", "2020", None),
    ],
)
def test_readings_say_how_something_lies_to_its_bounds(text, kind, start, end):
    if kind is None:
        with pytest.raises(RejectedError, match="bad_time"):
            read_when(text, reference=NOW)
        return
    reading = read_when(text, reference=NOW)
    assert reading.kind == kind
    assert (reading.start and str(reading.start), reading.end and str(reading.end)) == (start, end)
    low, high = reading.span
    assert low == (reading.start.instant if reading.start else NEG_INF)
    assert high == (reading.end.instant if reading.end else reading.start.until if kind == "in" else POS_INF)


def test_a_period_spans_what_it_names():
    assert span(when("Q3 2024")) == (parse_bound("2024-07").instant, parse_bound("2024-10").instant)
    assert span(when("from 2018 to 2020")) == (parse_bound("2018").instant, parse_bound("2020").instant)
    assert when("Q3 2024").precision == "period"
    assert str(parse_through(when("Q3 2024"))) == "2024-10/2024-12"
    around = when("around Q3 2024")
    length = around.until - around.instant
    assert (around.earliest, around.before) == (around.instant - length, around.until + length)


@pytest.mark.parametrize("text", ["Q3 2024", "two weeks ago", "around June 2026", "the 19th century", "5 May 2020"])
@pytest.mark.parametrize("moment", [NOW, NOW.astimezone(ZoneInfo("Europe/Helsinki"))])
def test_bounds_are_stored_and_restored(text: str, moment: datetime):
    bound = when(text, moment)
    again = Bound.from_stored(bound.instant, bound.stored)
    assert again == bound
    assert (str(again), again.spelling) == (str(bound), bound.spelling)


def test_the_words_are_kept_as_the_spelling():
    assert when("two weeks ago").spelling == "two weeks ago"


# -- zones and clocks


def test_dates_are_read_in_the_zone_of_the_reference():
    helsinki = datetime(2026, 11, 25, 0, 30, tzinfo=ZoneInfo("Europe/Helsinki"))
    assert format_instant(when("yesterday", helsinki).instant) == "2026-11-23T22:00:00Z"
    assert format_instant(when("July 2026", helsinki).instant) == "2026-06-30T21:00:00Z"
    assert format_instant(when("2026-07", helsinki).instant) == "2026-06-30T21:00:00Z"
    assert format_instant(when("Q3 2026", helsinki).instant) == "2026-06-30T21:00:00Z"
    assert str(when("Q3 2026", helsinki)) == "2026-07/2026-09"
    assert format_instant(when("tomorrow at 5pm", helsinki).instant) == "2026-11-26T15:00:00Z"
    assert format_instant(when("two hours ago", helsinki).instant) == "2026-11-24T20:30:00Z"


def test_hours_are_counted_on_the_clock_of_instants_across_a_change_of_offset():
    after = datetime(2026, 3, 29, 4, 30, tzinfo=ZoneInfo("Europe/Helsinki"))  # clocks went from 3:00 to 4:00
    assert when("an hour ago", after).instant == instant_of(after) - HOUR
    assert refusal("29 March 2026 at 3:30", after).code == "bad_time"
    twice = datetime(2026, 10, 26, 12, 0, tzinfo=ZoneInfo("Europe/Helsinki"))
    assert refusal("yesterday at 3:30", twice).code == "bad_time"
    assert str(when("yesterday at 3:30 +02:00", twice)) == "2026-10-25T01:30Z"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("5 May 2020 at 17:30", "2020-05-05T17:30Z"),
        ("5 May 2020, 5:30 p.m.", "2020-05-05T17:30Z"),
        ("5pm on 5 May 2020", "2020-05-05T17:00Z"),
        ("12 am on 5 May 2020", "2020-05-05T00:00Z"),
        ("noon on 5 May 2020", "2020-05-05T12:00Z"),
        ("5 May 2020 17:30:15", "2020-05-05T17:30:15Z"),
        ("5 May 2020 17:30 +02:00", "2020-05-05T15:30Z"),
        ("5 May 2020 17:30 UTC-3", "2020-05-05T20:30Z"),
    ],
)
def test_times_of_day(text: str, shown: str):
    assert str(when(text)) == shown


def test_a_time_of_day_needs_an_offset_or_a_reference_that_has_one():
    for moment in (None, datetime(2026, 11, 25)):  # noqa: DTZ001 - a reference without offset is the point
        assert refusal("tomorrow at 5pm", moment).code == "naive_time"
        assert str(parse_when("5 May 2020 at 5pm UTC", reference=moment)) == "2020-05-05T17:00Z"
    assert refusal("2024-03-01T09:00", moment).code == "naive_time"
    assert refusal("the last 24 hours", datetime(2026, 11, 25, 15)).code == "naive_time"  # noqa: DTZ001 - as above
    assert refusal("now", datetime(2026, 11, 25)).code == "naive_time"  # noqa: DTZ001 - as above
    assert str(parse_when("yesterday", reference=datetime(2026, 11, 25))) == "2026-11-24"  # noqa: DTZ001 - as above
    assert parse_when("now").precision == "instant"


def test_years_beyond_those_of_datetime():
    assert str(when("in 10000 years"))[:3] == "Y12"
    assert refusal("400000 BC").code == "time_range"
    assert refusal("in 99999999 years").code == "bad_time"
    assert str(when("200000 BC")) == "Y-199999"


# -- laws

YEARS = st.dates(date(1000, 1, 1), date(3000, 1, 1)).flatmap(
    lambda day: st.times().map(lambda clock: datetime.combine(day, clock, UTC))
)


@given(st.dates(), st.datetimes(timezones=st.just(UTC)))
def test_iso_dates_come_back(day: date, moment: datetime):
    assert when(day.isoformat(), moment) == parse_bound(day.isoformat())
    assert str(when(f"{day:%d %B} {day.year:04d}" if day.year > 999 else day.isoformat(), moment)) == day.isoformat()


@given(YEARS, st.integers(1, 9000))
def test_days_and_weeks_are_counted_as_datetime_counts_them(moment: datetime, count: int):
    def shown(days: int) -> str:
        return (moment.date() + timedelta(days)).isoformat()

    assert str(when(f"{count} days ago", moment)) == shown(-count)
    assert str(when(f"in {count} days", moment)) == shown(count)
    assert str(when(f"{count} weeks ago", moment)) == shown(-7 * count) + "~"
    assert when(f"{count} minutes ago", moment).instant == instant_of(moment - timedelta(minutes=count))


@given(YEARS)
def test_a_date_without_year_is_the_latest_that_has_begun(moment: datetime):
    for text, longest in [
        ("Friday", 7),
        ("5 May", 366),
        ("September", 366),
        ("the 31st", 62),
        ("29 February", 8 * 366),
    ]:
        bound = when(text, moment)
        assert 0 <= instant_of(moment) - bound.instant < longest * DAY


@given(YEARS, st.integers(0, 6))
def test_weekdays_in_a_week_are_where_the_calendar_has_them(moment: datetime, number: int):
    monday = moment.date() - timedelta(moment.weekday() + 7)
    day = monday + timedelta(number)
    assert str(when(f"{day:%A} last week", moment)) == day.isoformat()
    low, high = span(when("last week", moment))
    assert low <= instant_of(datetime(day.year, day.month, day.day, tzinfo=UTC)) < high


def test_how_long_something_takes_is_no_date_in_a_sentence():
    told = "He paid within 5 days. The rest is due within the next 3 weeks, for a month from 5 May 2027."
    found = [told[span.start : span.end] for span in find_dates(told, reference=NOW)]
    assert found == ["within the next 3 weeks", "for a month from 5 May 2027"]


PIECES = (
    "in the last of 5 May March 2020 to from until since 90s ' - / . , : first week two ago and a half century bc "
    "before between monday next q3 early end year 12 31 pm noon at +02:00 ~ ? 1000000 99999999999 within for days "
    "20200229"
)
WORDS = st.sampled_from(PIECES.split())


@given(st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=40)), st.datetimes(timezones=st.just(UTC)))
@example("the last 100000 days of the year 290000", datetime(2026, 11, 25, tzinfo=UTC))
@example("the last week of 290000", datetime(2026, 11, 25, tzinfo=UTC))
@example("within 100000 centuries", datetime(2026, 11, 25, tzinfo=UTC))
@example("for 100000 years from today", datetime(2026, 11, 25, tzinfo=UTC))
@example("the first week of 290000 BC", datetime(2026, 11, 25, tzinfo=UTC))
@example("00000000", datetime(2026, 11, 25, tzinfo=UTC))
def test_no_text_raises_anything_undeclared(text: str, moment: datetime):
    said = ""
    try:
        bound = parse_when(text, reference=moment)
    except SemgraphError as error:
        said = str(error)
    else:
        assert bound.earliest <= bound.instant < bound.before or bound.precision in ("always", "unknown")
        assert Bound.from_stored(bound.instant, bound.stored) == bound
        assert str(bound)
    assert not said or said.isprintable()
    places = [(found.start, found.end) for found in find_dates(text, reference=moment)]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


def test_long_and_hostile_texts_take_linear_time():
    for piece in ("1 ", "the ", "a half ", "1/1/", "in 2 days before ", "from ", "1990-", "may ", "1 day ", "((", "é"):
        assert len(list(find_dates(piece * 500, reference=NOW))) <= 500
        assert refusal(piece * 1000).code == "bad_time"


@given(st.integers(1583, 4099))
def test_easter_is_a_sunday_between_22_march_and_25_april_after_a_full_moon(year: int):
    from dateutil.easter import easter

    assert str(when(f"Easter {year}")) == easter(year).isoformat()


# -- in sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She moved to Berlin in March 2020.", ["in March 2020"]),
        ("worked at Stripe from 2018 to 2020", ["from 2018 to 2020"]),
        ("born on 12 June 1985 in Oslo, died two weeks ago", ["on 12 June 1985", "two weeks ago"]),
        ("It may rain; he will march on. She sat. Paid 2000 dollars for 3.5 kg.", []),
        ("Version 1.2.3 of 03/04/2021", []),
        ("Since 2019 all is well", ["Since 2019"]),
        ("the flat (2015-03-01) was sold yesterday", ["2015-03-01", "yesterday"]),
        ("last summer, next Friday and 2021", []),
        ("in the second world war", []),
        ("He was 5th in May 2020", ["in May 2020"]),
        ("mail ann@2020.org or call 555-2020", []),
        ("on 5 Maybe", []),
        ("a -2020 b", []),
        ("at 2020-05-05T10:00Z and 2020-05-05T25:00Z", ["at 2020-05-05T10:00Z"]),
        ("(2019~) in 198X.", ["2019~", "in 198X"]),
    ],
)
def test_dates_are_found_in_sentences(text: str, found: list[str]):
    spans = list(find_dates(text, reference=NOW))
    assert [text[span.start : span.end] for span in spans] == found
    assert [span.reading.text for span in spans] == found


# -- other languages

FOREIGN = {
    "2020-03": "März 2020|mars 2020|marzo de 2020|marzo 2020|março de 2020|maart 2020|maaliskuussa 2020|im März 2020",
    "2020-05-05": "5. Mai 2020|le 5 mai 2020|5 de mayo de 2020|5 maggio 2020|5 de maio de 2020|5 mei 2020",
    "1990-10-03": "3. Oktober 1990|3 octobre 1990|3 de octubre de 1990|3 ottobre 1990|3. lokakuuta 1990",
    "2019-08": "août 2019|agosto 2019|elokuu 2019",
    "2026-05": "Mai|mai|mayo|maggio|toukokuu",
    "2025-12-24": "24. Dezember|24 décembre|24 dicembre|24. joulukuuta",
    "2020": "vuonna 2020",
    "2026-11-24": "gestern|hier|ayer|ieri|ontem|gisteren|eilen",
    "2026-11-23": "vorgestern|avant-hier|anteayer|anteontem|eergisteren",
    "2026-11-26": "morgen|demain|mañana|domani|amanhã|huomenna",
    "2026-11-27": "übermorgen|après-demain|overmorgen",
    "2026-11-22": "vor 3 Tagen|il y a 3 jours|hace 3 días|3 giorni fa|há 3 dias|3 dagen geleden|3 päivää sitten",
    "2026-11-28": "in 3 Tagen|dans 3 jours|en 3 días|tra 3 giorni|em 3 dias|over 3 dagen|3 päivän päästä",
    "2026-11-11~": "vor 2 Wochen|il y a 2 semaines|2 viikkoa sitten",
    "2023-11-25~": "vor 3 Jahren|il y a 3 ans|hace 3 años|3 anni fa",
    "2026-11-16/2026-11-22": "letzte Woche|la semaine dernière|la semana pasada|vorige week|viime viikolla",
    "2026-10": "letzten Monat|le mois dernier|el mes pasado|mês passado|vorige maand|viime kuussa",
    "2025": "letztes Jahr|l'année dernière|el año pasado|ano passado|vorig jaar|viime vuonna",
    "2027": "nächstes Jahr|el próximo año|próximo ano|volgend jaar|ensi vuonna",
}


FOREIGN_ROWS = [(text, shown) for shown, row in FOREIGN.items() for text in row.split("|")]

# Durations, weekdays, seasons, parts of a month, and words that dateparser skips.
GUESSES = (
    "2 Wochen|die 2 Wochen|deux semaines|los 3 días|Montag|lundi prochain|été 2019|verano de 2019|halb drei|am 5.|le 3|"
    "3. 2020 xyz|dans la rue|Mai oder Juni 2020|vor dem Krieg|mars attacks|il y a longtemps|Anfang 2020|1990er"
)


@pytest.mark.parametrize(("text", "shown"), FOREIGN_ROWS)
def test_months_and_relative_words_of_other_languages(text: str, shown: str):
    assert str(when(text)) == shown


@pytest.mark.parametrize("text", GUESSES.split("|"))
def test_what_dateparser_would_guess_at_is_refused(text: str):
    assert refusal(text).code == "bad_time"


# -- the outside


def test_a_reading_without_sides_has_no_bound():
    with pytest.raises(RejectedError, match="neither start nor end"):
        _ = Reading("in", None, None, "never").bound


@pytest.mark.parametrize(
    "read", [parse_when, read_when, lambda text, reference: list(find_dates(text, reference=reference))]
)
def test_words_count_from_a_datetime_only(read):
    with pytest.raises(InputError, match="reference"):
        read("last month", reference="2024-05-01")


def test_only_texts_are_read():
    for value in (2020, None, date(2020, 1, 1), b"2020"):
        with pytest.raises(RejectedError, match="bad_time"):
            parse_when(value)
        with pytest.raises(RejectedError, match="bad_time"):
            read_when(value)
        with pytest.raises(RejectedError, match="bad_time"):
            list(find_dates(value))


def test_the_public_name_is_this_one_and_the_grammar_loads_late():
    assert semgraph.parse_when is parse_when
    assert "semgraph.dates" in sys.modules


def test_a_zone_without_a_name_is_a_config_error():
    assert str(when("yesterday", datetime(2026, 1, 1, tzinfo=fixed_zone(timedelta(hours=2))))) == "2025-12-31"


@pytest.mark.shared_data
def test_few_public_date_expressions_are_read_wrong(shared_data: Path):
    from benchmarks.dates import TASK_KINDS, cases, judge, reason

    judged = list(judge(cases(shared_data / "date_expressions")))
    for kind in TASK_KINDS:
        verdicts = [verdict for case, verdict, _ in judged if case.kind == kind and verdict != "no date"]
        assert len(verdicts) > 300
        assert verdicts.count("wrong") <= 0.03 * len(verdicts)
        assert verdicts.count("correct") >= 0.60 * len(verdicts)
    assert [case.text for case, verdict, _ in judged if verdict == "wrong" and reason(case.text) == "an error"] == []
