"""Patterns: joins over positive facts, the time in which a row holds, and its reduction to snapshots."""

from __future__ import annotations

import pytest
import walk_brute as brute
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import AmbiguousNameError, BudgetExceeded, InputError, KnowledgeGraph, directory
from semgraph.cli import main
from semgraph.model import Entity, Literal
from semgraph.temporal import POS_INF
from semgraph.walk import joins

YEARS = range(2000, 2009)


@pytest.fixture
def kg():
    with KnowledgeGraph() as graph:
        yield graph


def shown(rows) -> list[str]:
    return [str(row) for row in rows]


OWNER = (("payments-service", "owned_by", "?o"), ("?m", "manages", "?o"))


@pytest.fixture
def team(kg):
    kg.add("payments-service", "owned_by", "Priya", valid_from="2023-01-01")
    kg.add("Maya", "manages", "Priya", valid_from="2023-03-01")
    kg.add("payments-service", "owned_by", "Jon", valid_from="2024-01-01")
    kg.add("Jon", "reports_to", "Zoe", valid_from="2023-06-01")
    return kg


@pytest.mark.parametrize(
    ("view", "want"),
    [
        (lambda kg: kg.at("2023-02-01"), []),
        (lambda kg: kg.at("2023-09-01"), ["o: Priya, m: Maya (from 2023-03-01 until 2024-01-01)"]),
        (lambda kg: kg.at("2024-02-01"), ["o: Jon, m: Zoe (since 2024-01-01)"]),
        (lambda kg: kg, ["o: Jon, m: Zoe (since 2024-01-01)"]),
        (
            lambda kg: kg.during(),
            ["o: Jon, m: Zoe (since 2024-01-01)", "o: Priya, m: Maya (from 2023-03-01 until 2024-01-01)"],
        ),
        (lambda kg: kg.during("2023"), ["o: Priya, m: Maya (from 2023-03-01 until 2024-01-01)"]),
        (lambda kg: kg.throughout("2023", "2024"), []),
        (lambda kg: kg.throughout("2023-04", "2023-05"), ["o: Priya, m: Maya (from 2023-03-01 until 2024-01-01)"]),
    ],
)
def test_who_manages_the_owner(team, view, want):
    assert shown(view(team).match(*OWNER)) == want


def test_a_row_maps_names_without_the_question_mark_and_names_its_facts(team):
    (row,) = team.at("2023-09-01").match(*OWNER)
    assert dict(row) == {"o": team.entity("Priya"), "m": team.entity("Maya")}
    assert [str(fact.label) for fact in row.facts] == ["payments-service owned_by Priya", "Maya manages Priya"]
    assert row == dict(row)
    assert len({row, *team.at("2023-09-02").match(*OWNER)}) == 1


@pytest.mark.parametrize(
    ("pattern", "want"),
    [
        (("?a", "likes", "?b"), [("Ann", "jazz")]),
        (("?a", "hates", "?b"), [("Bo", "jazz")]),
        (("?a", "friend_of", "?b"), [("Ann", "Bo"), ("Bo", "Ann")]),
        (("Bo", "friend_of", "?b"), [("Ann",)]),
        (("?a", "child_of", "?b"), [("Bo", "Cy")]),
        (("?a", "parent_of", "Bo"), [("Cy",)]),
        (("?a", "job_title", "baker"), [("Ann",)]),
        (("?a", "job_title", "Baker."), [("Ann",)]),
        (("Ann", "age", 41), [()]),
        (("Ann", "age", "41"), [()]),
        (("Ann", "age", 42), []),
        (("Ann", "age", "?n"), [("41",)]),
        (("?a", "visited", "Oslo"), [("Ann",)]),
        (("nobody", "likes", "?b"), []),
        (("?a", "likes", "nothing"), []),
        (("?a", "sings_to", "?b"), []),
        (("?x", "knows", "?x"), []),
        (("Ann", "?p", "?o"), [("age", "41"), ("friend_of", "Bo"), ("job_title", "baker"), ("likes", "jazz"),
                               ("visited", "Oslo")]),
        (("?s", "?p", "Bo"), [("Ann", "friend_of"), ("Cy", "parent_of")]),
        (("?s", "?p", "baker"), [("Ann", "job_title")]),
        (("?s", "?p", 41), [("Ann", "age")]),
        (("Bo", "?p", "?o"), [("friend_of", "Ann")]),
    ],
)  # fmt: skip
def test_names_are_read_as_they_say(kg, pattern, want):
    kg.add("Ann", "likes", "jazz")
    kg.add("Bo", "dislikes", "jazz")
    kg.add("Ann", "friend_of", "Bo")
    kg.add("Cy", "parent_of", "Bo")
    kg.add("Ann", "job_title", "baker")
    kg.add("Ann", "age", 41)
    kg.add("Ann", "visited", "Oslo", valid_from="2020")
    rows = kg.during().match(pattern)
    assert [tuple(value.label for value in row.values()) for row in rows] == want


def test_what_a_variable_stands_for_is_an_entity_or_a_literal(kg):
    kg.add("Ann", "age", 41)
    (row,) = kg.match(("?who", "?p", "?n"))
    assert (row["who"], row["p"], row["n"]) == (kg.entity("Ann"), Literal("age", "age"), Literal(41, "41"))
    assert isinstance(row["who"], Entity)


def test_literals_join_by_key_and_show_as_first_written(kg):
    kg.add("Ann", "job_title", "Head Baker", valid_from="2001")
    kg.add("Bo", "job_title", "head baker", valid_from="2002")
    (row,) = kg.match(("Ann", "job_title", "?t"), ("Bo", "job_title", "?t"))
    assert row["t"].label == "Head Baker"


def test_rows_with_equal_bindings_are_one_where_they_touch(kg):
    kg.add("Ann", "prefers", "tea", qualifiers={"topic": "mornings"}, valid_from="2010", valid_to="2012")
    kg.add("Ann", "prefers", "tea", qualifiers={"topic": "evenings"}, valid_from="2012", valid_to="2015")
    kg.add("Ann", "prefers", "tea", qualifiers={"topic": "nights"}, valid_from="2020", valid_to="2021")
    pattern = ("?who", "prefers", "?what")
    want = ["who: Ann, what: tea (from 2010 until 2015)", "who: Ann, what: tea (from 2020 until 2021)"]
    assert shown(kg.during().match(pattern)) == want
    assert shown(kg.at("2014").match(pattern)) == want[:1]  # the same row, whatever the view's instant
    assert len(kg.at("2014").match(pattern)[0].facts) == 2
    assert shown(kg.throughout("2011", "2014").match(pattern)) == want[:1]


def test_patterns_that_share_nothing_are_combined(kg):
    kg.add_all({"subject": f"a{i}", "predicate": "knows", "object": f"b{i}"} for i in range(3))
    assert len(kg.match(("?a", "knows", "?b"), ("?c", "knows", "?d"))) == 9
    assert len(kg.match(("?a", "knows", "?b"), ("?c", "knows", "?d"), limit=4)) == 4
    assert kg.match(("?a", "knows", "?b"), limit=0) == []


def test_a_pattern_without_variables_is_a_question(kg):
    kg.add("Ann", "knows", "Bo", valid_from="2010")
    assert shown(kg.match(("Ann", "knows", "Bo"))) == ["yes (since 2010)"]
    assert kg.match(("Bo", "knows", "Ann")) == []


def test_many_bound_values_are_asked_for_in_chunks(kg):
    kg.add_all({"subject": f"s{i}", "predicate": "knows", "object": f"o{i}"} for i in range(1100))
    kg.add_all({"subject": f"o{i}", "predicate": "uses", "object": "it"} for i in range(0, 1100, 2))
    kg.add_all({"subject": f"s{i}", "predicate": "likes", "object": f"o{i}"} for i in range(0, 1100, 11))
    rows = kg.match(("?s", "knows", "?o"), ("?o", "uses", "it"), ("?s", "likes", "?o"))
    assert len(rows) == 50


def test_a_name_of_several_entities_is_not_guessed(kg):
    kg.names.declare("Alex", label="Alex Berg")
    kg.names.declare("Alex", label="Alex Stone")
    for pattern in (("Alex", "knows", "?x"), ("?x", "knows", "Alex"), ("?x", "?p", "Alex")):
        with pytest.raises(AmbiguousNameError):
            kg.match(pattern)


@pytest.mark.parametrize(
    "patterns",
    [
        (),
        ("?a", "knows", "?b"),
        ("?a knows ?b",),
        (("?a", "knows"),),
        (("?a", 1, "?b"),),
        ((1, "knows", "?b"),),
        (("?", "knows", "?b"),),
        (("?a", "knows", None),),
        (("?a", "!!", "?b"),),
        (("?a", "knows", [1]),),
    ],
)
def test_what_is_no_pattern_is_refused(kg, patterns):
    with pytest.raises(InputError):
        kg.match(*patterns)


@pytest.mark.parametrize("limit", [-1, True, "3"])
def test_a_limit_is_a_number(kg, limit):
    with pytest.raises(InputError):
        kg.match(("?a", "knows", "?b"), limit=limit)


def test_too_many_combinations_are_an_error_and_never_half_an_answer(kg, monkeypatch):
    monkeypatch.setattr(joins, "_PARTIAL", 50)
    kg.add_all({"subject": f"a{i}", "predicate": "knows", "object": f"b{i}"} for i in range(8))
    with pytest.raises(BudgetExceeded):
        kg.match(("?a", "knows", "?b"), ("?c", "knows", "?d"))


def test_the_most_selective_pattern_is_read_first(kg):
    kg.add_all({"subject": f"a{i}", "predicate": "knows", "object": "hub"} for i in range(50))
    kg.add("hub", "uses", "Rust")
    kg.add("a7", "speaks", "Finnish")
    asked = []
    with kg.reading() as reader:
        rows = reader.rows
        reader.rows = lambda **where: asked.append(where["predicate"]) or rows(**where)
        found = joins.match(
            reader, kg._cut(), [("?a", "knows", "?b"), ("?b", "uses", "?c"), ("?a", "speaks", "Finnish")],
            limit=None, valid_at=None,
        )  # fmt: skip
    assert asked == ["uses", "speaks", "knows"]
    assert [row["a"].label for row in found] == ["a7"]


# -- against exhaustive search

NAMES = "ABC"
PREDICATES = ["knows", "manages", "friend_of", "likes", "dislikes", "prefers", "visited", "works_at"]
CONSTANT = st.sampled_from(["?x", "?y", "?z", *NAMES])


def claims():
    return st.builds(
        lambda s, p, o, start, years, topic: {
            "subject": s,
            "predicate": p,
            "object": o,
            "valid_from": str(start),
            "valid_to": str(start + years) if years else None,
            "qualifiers": {"topic": topic} if p == "prefers" and topic else None,
        },
        st.sampled_from(NAMES),
        st.sampled_from(PREDICATES),
        st.sampled_from(NAMES),
        st.sampled_from(YEARS),
        st.integers(0, 3),
        st.sampled_from(["", "tea", "work"]),
    )


PATTERNS = st.lists(
    st.tuples(CONSTANT, st.sampled_from([*PREDICATES, "?p", "reports_to"]), CONSTANT), min_size=1, max_size=3
)


def told(rows):
    return {
        (
            tuple(sorted((name, value.label) for name, value in row.items())),
            (row.interval[0].instant, POS_INF if row.interval[1] is None else row.interval[1].instant),
        )
        for row in rows
    }


@settings(max_examples=60)
@given(given_claims=st.lists(claims(), min_size=2, max_size=12), patterns=PATTERNS, year=st.sampled_from(YEARS))
def test_match_is_snapshot_reducible(given_claims, patterns, year):
    """I8: the rows that hold at t are those of the graph at t, and rows of all time are those of every snapshot."""
    with KnowledgeGraph() as graph:
        graph.add_all(given_claims)
        for name in NAMES:
            graph.names.declare(name)
        always = graph.during()
        everything = told(always.match(*patterns))
        assert everything == brute.match(always, patterns)
        instant = graph.at(str(year)).valid_at.instant
        view = graph.at(str(year))
        found = told(view.match(*patterns))
        assert found == {row for row in everything if row[1][0] <= instant < row[1][1]}
        assert {bound for bound, _ in found} == {bound for bound, _ in brute.match(view, patterns)}
        until = graph.at(str(year + 2)).valid_at.instant
        met = told(graph.during(str(year), str(year + 2)).match(*patterns))
        assert met == {row for row in everything if row[1][0] < until and instant < row[1][1]}
        covered = told(graph.throughout(str(year), str(year + 2)).match(*patterns))
        assert covered == {row for row in everything if row[1][0] <= instant and until <= row[1][1]}


def test_who_manages_the_person_who_owns_the_payments_service(tmp_path, capsys):
    path = tmp_path / "team.db"
    with KnowledgeGraph(path) as kg:
        kg.add("payments service", "owned_by", "Priya", valid_from="2021")
        kg.add("Maya", "manages", "Priya", valid_from="2020")
        assert kg.match(("?who", "manages", "?p"), ("?p", "owns", "payments service"))[0]["who"].label == "Maya"
    assert main(["--db", str(path), "match", "?who manages ?p", "?p owns 'payments service'"]) == 0
    assert capsys.readouterr().out.split() == ["who", "p", "from", "to", "Maya", "Priya", "2021", ".."]


@pytest.mark.parametrize("at_once", [0, 4_000])
def test_rows_are_in_order_of_the_names_of_their_time(kg, monkeypatch, at_once):
    monkeypatch.setattr(directory, "_MOST", at_once)  # entities more than which are read with all others
    kg.add_all({"subject": "A", "predicate": "knows", "object": name, "valid_from": "2010"} for name in "BCD")
    kg.names.alias("Zed", "B", primary=True, valid_from="2015")
    kg.names.alias("Also", "C")
    for year, names in {"2012": ["B", "C", "D"], "2016": ["C", "D", "Zed"]}.items():
        rows = kg.at(year).match(("A", "knows", "?who"))
        assert [row["who"].label for row in rows] == names
        assert [row["who"].label for row in kg.at(year).match(("A", "knows", "?who"), limit=2)] == names[:2]
