"""Timelines as they are drawn: columns that stay, bars that tell what is sure, and no escape codes in a pipe."""

from __future__ import annotations

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph
from semgraph.cli.chart import chart
from semgraph.cli.text import width


@pytest.fixture(autouse=True)
def utf8(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))


def plain(kg: KnowledgeGraph, name: str, predicate: str | None = None, *, columns: int = 80) -> list[str]:
    from click import unstyle

    facts = kg.timeline(name, predicate, possible=True)
    return [unstyle(line) for line in chart(facts, gaps=predicate is not None, width=columns)]


def told(*claims: dict) -> KnowledgeGraph:
    kg = KnowledgeGraph()
    kg.predicates.define("has", cardinality="many")
    for claim in claims:
        kg.add("A", "has", **claim)
    return kg


@pytest.mark.parametrize(
    ("claim", "start", "end", "bar"),
    [
        ({"valid_from": "2020", "valid_to": "2022"}, "2020", "2022", "━"),
        ({"valid_from": "2020"}, "2020", "..", "▶"),
        ({"valid_from": "always", "valid_to": "2022"}, "always", "2022", "◀"),
        ({"valid_from": "unknown", "valid_to": "2022"}, "?", "2022", "?"),
        ({"valid_from": "2020", "valid_to": "unknown", "said_at": "2022-06-01"}, "2020", "2022-06-01", "━"),
        ({"valid_from": "2020~", "valid_to": "2024"}, "2020~", "2024", "┄"),
        ({"said_at": "2021-03-04"}, "by 2021-03-04", "..", "▶"),
        ({"valid_from": "2019-05-06", "valid_to": "2019-05-07"}, "2019-05-06", "2019-05-07", "◆"),
    ],
)
def test_a_bar_says_how_it_begins_and_ends(claim: dict, start: str, end: str, bar: str):
    kg = told({"object": "frame", "valid_from": "2015", "valid_to": "2025"}, {"object": "it", **claim})
    (line,) = (line for line in plain(kg, "A") if re.search(r" it( |$)", line))
    assert line.startswith(start)
    assert line[len(start) :].split()[0] == end
    assert bar in line


def test_nothing_is_no_line():
    assert list(chart([], gaps=False)) == []


def test_a_single_fact_without_any_date_is_drawn():
    kg = KnowledgeGraph()
    kg.add("A", "birth_date", "1946-07-06")
    (line,) = plain(kg, "A")
    assert re.fullmatch("always  [.][.]  ◀━+▶  1946-07-06", line)


def test_a_contradiction_is_marked_in_the_bar_and_in_words():
    kg = KnowledgeGraph()
    for place, source in (("Oslo", "user"), ("Bergen", "tool:calendar")):
        kg.add("A", "lives_in", place, valid_from="2025-01", source=source)
    lines = plain(kg, "A")
    assert all("!" in line for line in lines if "lives" in line or "Oslo" in line or "Bergen" in line)
    assert [line.rpartition("  (")[2] for line in lines[-2:]] == ["in conflict, from tool:calendar)", "in conflict)"]


def test_gaps_of_one_predicate_are_shown_where_nothing_is_known():
    kg = told({"object": "x", "valid_from": "2001", "valid_to": "2003"}, {"object": "y", "valid_from": "2005"})
    assert [line.split("  ")[:2] for line in plain(kg, "A", "has") if "(nothing known)" in line] == [["2003", "2005"]]
    assert not any("(nothing known)" in line for line in plain(kg, "A"))


def test_two_hundred_facts_keep_their_columns_and_show_the_axis_twice():
    kg = told(*({"object": f"p{n:03}", "valid_from": f"{1800 + n}", "valid_to": f"{1803 + n}"} for n in range(200)))
    lines = plain(kg, "A")
    assert len(lines) == 202
    assert lines[0] == lines[-1]
    assert {line.index(f"p{n:03}") for n, line in enumerate(lines[1:-1])} == {lines[1].index("p000")}
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [40, 80, 120, 200])
def test_words_of_any_script_stand_in_one_column(columns: int):
    names = ["Oslo", "東京", "ベルリン 🐻", "Zoë", "👩‍💻"]
    kg = told(*({"object": name, "valid_from": "2001", "valid_to": "2003"} for name in names))
    lines = plain(kg, "A", columns=columns)[1:]
    places = {width(line[: line.index(name)]) for name in names for line in lines if name in line}
    assert len(places) == 1


def test_what_a_clock_gave_is_shown_as_a_day_unless_days_do_not_tell():
    kg = KnowledgeGraph()
    kg.set("A", "stage", "one", said_at="2024-03-01T09:00:00Z")
    assert plain(kg, "A")[-1].startswith("by 2024-03-01  ..")
    kg.set("A", "stage", "two", said_at="2024-03-01T10:30:00Z")
    assert [line.split("  ")[0] for line in plain(kg, "A")[-2:]] == [
        "by 2024-03-01T09:00:00Z",
        "by 2024-03-01T10:30:00Z",
    ]


def test_one_source_is_said_once_below():
    kg = told(*({"object": name, "valid_from": "2001", "source": "imported:crm"} for name in "xy"))
    lines = plain(kg, "A")
    assert lines[-1] == "all from imported:crm"
    assert not any("from imported" in line for line in lines[:-1])


def test_a_terminal_of_ascii_gets_bars_of_ascii(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    kg = told({"object": "x", "valid_from": "2001", "valid_to": "2003"}, {"object": "y", "valid_from": "2002"})
    lines = plain(kg, "A")
    assert all(line.isascii() for line in lines)
    assert "=" in lines[-1]
    assert ">" in lines[-1]


YEARS = st.integers(-9000, 9000)


@given(st.lists(st.tuples(YEARS, st.integers(1, 3000) | st.none()), min_size=1, max_size=8), st.integers(40, 160))
def test_bars_lie_in_the_axis_and_in_the_order_of_their_dates(spans: list[tuple[int, int | None]], columns: int):
    def year(number: int) -> str:
        return f"-{-number:04}" if number < 0 else f"{number:04}"

    kg = told(
        *(
            {"object": f"v{n}", "valid_from": year(a), **({} if b is None else {"valid_to": year(a + b)})}
            for n, (a, b) in enumerate(spans)
        )
    )
    found = [re.fullmatch(r"(.*  )(v\d+)(  \(.*)?", line) for line in plain(kg, "A", columns=columns)]
    before = [match[1] for match in found if match is not None]
    assert len(before) == len(spans)
    assert len(set(map(len, before))) == 1
    starts = []
    for line in before:
        marks = [n for n, char in enumerate(line) if char in "━┄▶◆"]
        assert marks == list(range(marks[0], marks[-1] + 1))
        starts.append(marks[0])
    assert starts == sorted(starts)
