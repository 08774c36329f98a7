"""When a question asks about: the stretches that it names, how near a fact lies to them, and recall by both."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph
from semgraph.instants import DAY, instant_of
from semgraph.recall.moments import nearness, stretches

NOW = datetime(2023, 4, 18, 12, tzinfo=UTC)


def at(text):
    return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("question", "first", "until"),
    [
        ("Who did I meet with during the lunch last Tuesday?", "2023-04-11", "2023-04-12"),
        ("I mentioned cooking something for my friend a couple of days ago. What was it?", "2023-04-16", "2023-04-17"),
        ("How much have I spent in the last four months?", "2022-12-18", "2023-04-18"),
        ("What did she share on 9 October, 2022?", "2022-10-09", "2022-10-10"),
        ("Which shoes did I clean in March?", "2023-03-01", "2023-04-01"),
        ("What had he won before July 10, 2022?", "2022-07-10", "2022-07-11"),
        (
            "What came after " + "many other words that say nothing of any time at all " * 9 + "in 2019?",
            "2019-01-01",
            "2020-01-01",
        ),
    ],
)
def test_the_stretch_that_a_question_names(question, first, until):
    assert stretches(question, instant_of(NOW)) == [(at(first), at(until))]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Where does Maya live?",
        "How many followers do I have now?",
        "Which show had the last season?",
        "may I?",
        "7",
    ],
)
def test_what_names_no_time(question):
    assert stretches(question, instant_of(NOW)) == []


def test_several_dates_are_several_stretches():
    found = stretches("What happened between March 2020 and May 2021, and what on 1 June 2022?", instant_of(NOW))
    assert (at("2020-03-01"), at("2020-04-01")) in found
    assert (at("2022-06-01"), at("2022-06-02")) in found


@given(st.text(max_size=200), st.integers(-(2**62), 2**62))
def test_any_text_at_any_moment_gives_stretches(question, instant):
    assert all(first < until for first, until in stretches(question, instant))


times = st.integers(-(10**6), 10**6).map(lambda days: days * DAY)


@given(times, st.integers(0, 400), times, st.integers(1, 400))
def test_nearness_is_whole_where_they_meet_and_falls_with_the_distance(start, length, first, size):
    end, until = start + length * DAY, first + size * DAY
    near = nearness(start, end, [(first, until)])
    assert 0 <= near <= 1
    assert (near == 1) == (start < until and first <= end)
    assert nearness(start - DAY, end + DAY, [(first, until)]) >= near
    assert nearness(start, end, [(first, until), (end, end + 1)]) == 1
    assert nearness(start, end, []) == 0


def test_a_sentence_is_found_by_the_day_on_which_it_was_said():
    with KnowledgeGraph(clock=lambda: NOW) as kg:
        for day, text in (
            ("02-07", "lunch with Rachel today"),
            ("04-11", "lunch with Emma today"),
            ("04-15", "lunch with Jo today"),
        ):
            kg.add("user", "states", text, said_at=f"2023-{day}")
        asked = "Who did I have lunch with last Tuesday?"
        first = kg.recall(asked)[0]
        assert "Emma" in first.fact.label
        assert first.channels["time"] == 1
        assert "of the time asked about" in first.why
        assert "time" not in kg.recall(asked, channels={"time": 0})[0].channels
        assert "time" not in kg.recall("Who did I have lunch with?")[0].channels
        assert "Rachel" in kg.at("2023-02-14T18:00Z").recall(asked)[0].fact.label


def test_a_fact_is_near_while_it_holds():
    with KnowledgeGraph(clock=lambda: NOW) as kg:
        kg.add("Maya", "likes", "tea", valid_from="2010")
        kg.add("Maya", "likes", "coffee", valid_from="2021")
        found = kg.recall("What did Maya like in 2015?")
        assert [hit.fact.object.label for hit in found] == ["tea", "coffee"]
        assert ["time" in hit.channels for hit in found] == [True, False]


def test_time_alone_finds_nothing():
    with KnowledgeGraph(clock=lambda: NOW) as kg:
        kg.add("user", "states", "lunch with Emma", said_at="2023-04-11")
        assert kg.recall("What about last Tuesday?", channels={"lexical": 0, "vector": 0}) == []
