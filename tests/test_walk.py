"""Neighbours and paths: exact against exhaustive search, at instants, over windows and step after step in time."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
import walk_brute as brute
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import BudgetExceeded, InputError, KnowledgeGraph, NotFoundError
from semgraph.index import keeping
from semgraph.session import Session
from semgraph.temporal import parse_bound
from semgraph.walk import naming

NAMES = "ABCDEF"
YEARS = range(2000, 2009)


def at(text: str) -> int:
    bound = parse_bound(text)
    assert bound is not None
    return bound.instant


@pytest.fixture(params=["from memory", "from the store"], autouse=True)
def origin(request, monkeypatch):
    """Every walk, with the facts loaded at once and with none loaded ever."""
    if request.param == "from memory":
        monkeypatch.setattr(keeping, "_FREE_READS", 0)
    else:
        monkeypatch.setattr(Session, "columns", lambda *_, **__: None)


@pytest.fixture
def kg():
    with KnowledgeGraph() as graph:
        yield graph


def labels(found) -> list[str]:
    return [neighbor.entity.label for neighbor in found]


def routes(found) -> list[str]:
    return ["".join(entity.label for entity in path.entities) for path in found]


def chain(graph: KnowledgeGraph, *edges: tuple[str, str, str, str | None]) -> None:
    for near, far, start, end in edges:
        graph.add(near, "knows", far, valid_from=start, valid_to=end)


# -- neighbours


@pytest.mark.parametrize(
    ("direction", "predicates", "want"),
    [
        ("out", None, ["Dave"]),  # symmetric: in every direction
        ("in", None, ["Dave", "Jon", "Priya"]),
        ("any", None, ["Dave", "Jon", "Priya"]),
        ("out", ["manages"], []),
        ("in", ["manages"], ["Jon", "Priya"]),
        ("in", ["reports_to"], ["Jon", "Priya"]),
        ("any", ["manager_of"], ["Jon", "Priya"]),
        ("in", ["friend_of"], ["Dave"]),
        ("any", ["dislikes"], []),  # an opposite reads what is negative
        ("any", [], []),
        ("any", ["unheard_of"], []),
    ],
)
def test_inverse_and_symmetric_facts_lead_both_ways(kg, direction, predicates, want):
    kg.add("Priya", "reports_to", "Maya")
    kg.add("Maya", "manages", "Jon")
    kg.add("Dave", "friend_of", "Maya")
    assert labels(kg.neighbors("Maya", direction=direction, predicates=predicates)) == want


def test_literals_events_loops_and_negatives_are_no_edges(kg):
    kg.add("Maya", "job_title", "engineer")
    kg.add("Maya", "visited", "Oslo", valid_from="2020")
    kg.add("Maya", "likes", "coriander", negative=True)
    kg.add("Maya", "dislikes", "olives")
    kg.add("Maya", "uses", "Mia")
    kg.names.declare("Mia")
    kg.names.merge("Mia", "Maya")
    for direction in ("out", "in", "any"):
        assert kg.neighbors("Maya", direction=direction) == []
        assert kg.during().neighbors("Maya", direction=direction) == []


def test_a_symmetric_fact_is_shown_from_where_it_is_walked(kg):
    kg.add("Dave", "friend_of", "Maya")
    (found,) = kg.neighbors("Maya")
    assert (found.facts[0].subject.label, found.facts[0].object.label) == ("Maya", "Dave")
    (path,) = kg.paths("Maya", "Dave", direction="in")
    assert (path.facts[0].subject.label, path.facts[0].object.label) == ("Maya", "Dave")


def test_every_fact_to_the_nearer_entities_is_named(kg):
    kg.add_all(
        [{"subject": s, "predicate": p, "object": o} for s, p, o in [("A", "knows", "B"), ("A", "uses", "B"),
         ("A", "knows", "C"), ("B", "knows", "D"), ("C", "knows", "D"), ("D", "knows", "A")]]
    )  # fmt: skip
    found = kg.neighbors("A", hops=9)
    assert [(n.entity.label, n.distance, len(n.facts)) for n in found] == [("B", 1, 2), ("C", 1, 1), ("D", 2, 2)]
    assert not found.truncated


@pytest.mark.parametrize(("limit", "truncated"), [(0, True), (3, True), (8, True), (9, False), (10, False)])
def test_a_bound_that_was_hit_is_told(kg, limit, truncated):
    kg.add_all({"subject": "hub", "predicate": "knows", "object": f"n{i}"} for i in range(9))
    found = kg.neighbors("hub", limit=limit)
    assert labels(found) == [f"n{i}" for i in range(9)][:limit]
    assert found.truncated is truncated


@pytest.mark.parametrize(
    ("view", "want"),
    [
        (lambda kg: kg.at("2012-06"), ["B", "C"]),
        (lambda kg: kg.at("2014"), ["C"]),
        (lambda kg: kg.during("2015", "2020"), ["C", "D"]),
        (lambda kg: kg.during("2012"), ["B", "C"]),
        (lambda kg: kg.throughout("2011", "2014"), ["C"]),
        (lambda kg: kg.during(), ["B", "C", "D"]),
    ],
)
def test_neighbours_are_those_of_the_views_time(kg, view, want):
    chain(kg, ("A", "B", "2010", "2013"), ("A", "C", "2011", "2016"), ("A", "D", "2019", "2021"))
    assert labels(view(kg).neighbors("A")) == want


def test_a_start_that_nobody_knows_makes_no_edge(kg):
    kg.add("A", "knows", "B", valid_from="unknown", valid_to="2010")
    assert kg.at("2005").neighbors("A") == []
    assert kg.during().neighbors("A") == []


def test_neighbours_follow_merges_and_what_was_known(kg):
    kg.add("Bob", "knows", "Ann")
    before = kg.at()
    kg.add("Robert", "knows", "Cid")
    kg.names.merge("Bob", "Robert")
    assert labels(kg.neighbors("Bob")) == ["Ann", "Cid"]
    assert labels(before.neighbors("Bob")) == ["Ann"]
    kg.names.unmerge("Bob")
    assert labels(kg.neighbors("Bob")) == ["Ann"]


def test_the_facts_of_a_neighbour_are_those_of_the_walk_whenever_they_are_read(kg):
    chain(kg, ("A", "B", "2010", None), ("B", "C", "2012", None))
    read, unread = (kg.at("2015").neighbors("A", hops=2) for _ in range(2))
    assert [[fact.label for fact in found.facts] for found in read] == [["A knows B"], ["B knows C"]]
    kg.end("B", "knows", "C", at="2013")
    kg.add("A", "uses", "B", valid_from="2011")
    assert [[str(fact) for fact in found.facts] for found in unread] == [[str(f) for f in n.facts] for n in read]
    assert labels(kg.at("2015").neighbors("A", hops=2)) == ["B"]
    assert len(kg.at("2015").neighbors("A")[0].facts) == 2


@pytest.mark.parametrize("warm", [False, True])
def test_each_fact_of_a_neighbour_is_told_once_in_whatever_order_they_are_read(kg, warm):
    chain(kg, *[("hub", f"n{i}", "2010", None) for i in range(5)])
    chain(kg, *[(other, f"n{i}", "2010", None) for other in ("one", "two") for i in range(3)])
    for _ in range(40 if warm else 0):
        assert len(kg.neighbors("hub")) == 5
    for order in permutations(range(5)):
        found = kg.neighbors("hub")
        assert [len(found[place].facts) for place in order] == [1] * 5


def test_a_new_name_shows_at_once_and_only_from_its_time_on(kg):
    chain(kg, ("A", "B", "2010", None), ("A", "C", "2010", None))
    for _ in range(2):
        assert labels(kg.neighbors("A")) == ["B", "C"]
    kg.names.alias("Zed", "B", primary=True, valid_from="2015")
    for _ in range(2):
        assert labels(kg.neighbors("A")) == ["C", "Zed"]
        assert labels(kg.at("2012").neighbors("A")) == ["B", "C"]
    kg.names.merge("C", "Zed")
    assert labels(kg.neighbors("A")) == ["Zed"]
    kg.predicates.define("knows", cardinality="many", event=True)
    assert kg.neighbors("A") == []


@pytest.mark.parametrize("many", [0, 512])
def test_a_large_level_is_in_order_of_names(kg, monkeypatch, many):
    monkeypatch.setattr(naming, "_MANY", many)
    kg.add_all({"subject": "hub", "predicate": "knows", "object": f"{'aA'[i % 2]}{i:03}"} for i in range(300))
    kg.neighbors("hub", limit=5)
    kg.add("hub", "knows", "A150x")
    for _ in range(2):
        found = kg.neighbors("hub", limit=200)
        assert labels(found) == sorted([f"{'aA'[i % 2]}{i:03}" for i in range(300)] + ["A150x"], key=str.casefold)[:200]
        assert found.truncated
    assert [fact.label for fact in found[150].facts] == [f"hub knows {found[150].entity.label}"]


@pytest.mark.parametrize("many", [0, 512])
def test_where_a_name_depends_on_the_time_levels_are_in_order_of_the_names_of_then(kg, monkeypatch, many):
    monkeypatch.setattr(naming, "_MANY", many)
    kg.add_all({"subject": "A", "predicate": "knows", "object": name, "valid_from": "2010"} for name in "BCD")
    kg.names.alias("Zed", "B", primary=True, valid_from="2015")
    kg.edges()  # brings the columns into memory
    for _ in range(2):
        assert labels(kg.at("2012").neighbors("A")) == ["B", "C", "D"]
        assert labels(kg.at("2016").neighbors("A")) == ["C", "D", "Zed"]
        assert labels(kg.at("2016").neighbors("A", limit=2)) == ["C", "D"]


# -- paths


def test_each_pair_of_neighbours_overlapping_is_not_a_common_moment(kg):
    chain(kg, ("A", "B", "2010", "2013"), ("B", "C", "2012", "2016"), ("C", "D", "2015", "2018"))
    assert kg.during().paths("A", "D") == []
    (path,) = kg.during().paths("A", "D", mode="chronological")
    assert (str(path.arrival), path.interval) == ("2015", None)
    (path,) = kg.during("2012-06", "2020").paths("A", "C")
    assert [str(bound) for bound in path.interval] == ["2012-06", "2013"] or path.interval[0].instant == at("2012-06")


def test_a_node_reached_twice_keeps_both_intervals(kg):
    # A visited set would drop the second way to B, which is the only one that meets B's way on.
    kg.add("A", "knows", "B", valid_from="2000", valid_to="2005")
    kg.add("A", "uses", "B", valid_from="2010", valid_to="2015")
    chain(kg, ("B", "C", "2012", "2020"))
    (path,) = kg.during().paths("A", "C")
    assert [fact.predicate for fact in path.facts] == ["uses", "knows"]
    assert [str(bound) for bound in path.interval] == ["2012", "2015"]


def test_one_sequence_has_each_common_interval_that_no_other_contains(kg):
    kg.add("A", "knows", "B", valid_from="2000", valid_to="2005")
    kg.add("A", "uses", "B", valid_from="2010", valid_to="2015", confidence=0.5)
    kg.add("A", "works_on", "B", valid_from="2011", valid_to="2012")
    found = kg.during().paths("A", "B")
    assert [[str(bound) for bound in path.interval] for path in found] == [["2000", "2005"], ["2010", "2015"]]
    assert len(kg.at("2011-06").paths("A", "B")) == 1


def test_of_ways_with_the_same_time_the_most_confident_is_told(kg):
    # What another way outlasts, or what sets out later, may still be the better one once the next fact cuts both.
    kg.add("A", "knows", "B", valid_from="2000", valid_to="2010", confidence=0.5)
    kg.add("A", "uses", "B", valid_from="2002", valid_to="2008", confidence=0.9)
    chain(kg, ("B", "C", "2003", "2005"))
    for mode in ("overlap", "chronological"):
        (path,) = kg.paths("A", "C", mode=mode)
        assert [fact.predicate for fact in path.facts] == ["uses", "knows"]


def test_a_fact_walked_against_its_direction_keeps_it(kg):
    kg.add("Priya", "reports_to", "Maya")
    (found,) = kg.neighbors("Maya", direction="in")
    (path,) = kg.paths("Maya", "Priya", direction="any")
    assert found.facts[0].label == path.facts[0].label == "Priya reports_to Maya"


def test_an_earlier_arrival_is_not_bought_with_a_detour_in_time(kg):
    chain(kg, ("A", "B", "2010", "2011"), ("B", "C", "2005", "2009"))
    assert kg.paths("A", "C", mode="chronological") == []
    kg.add("B", "uses", "C", valid_from="2015", valid_to="2016")
    (path,) = kg.paths("A", "C", mode="chronological")
    assert [fact.predicate for fact in path.facts] == ["knows", "uses"]
    assert str(path.arrival) == "2015"


def test_paths_come_by_length_then_confidence_then_name(kg):
    for near, far, confidence in [("A", "C", 0.5), ("C", "D", 0.9), ("A", "B", 0.7), ("B", "D", 0.6), ("A", "E", 0.7),
                                  ("E", "D", 0.6), ("A", "D", 0.1)]:  # fmt: skip
        kg.add(near, "knows", far, confidence=confidence)
    found = kg.paths("A", "D")
    assert routes(found) == ["AD", "ACD", "ABD", "AED"]
    assert [path.confidence for path in found] == pytest.approx([0.1, 0.45, 0.42, 0.42])
    short = kg.paths("A", "D", limit=2)
    assert (routes(short), short.truncated, found.truncated) == (["AD", "ACD"], True, False)


@pytest.mark.parametrize(("cutoff", "found"), [(7, False), (8, True), (9, True), (50, True)])
def test_eight_steps_are_the_most(kg, cutoff, found):
    kg.add_all({"subject": f"n{i}", "predicate": "knows", "object": f"n{i + 1}"} for i in range(9))
    assert bool(kg.paths("n0", "n8", cutoff=cutoff)) is found
    assert kg.paths("n0", "n9", cutoff=cutoff) == []


def test_a_path_prints_as_a_sentence_with_dates_and_sources(kg):
    kg.add("Paris", "capital_of", "France", valid_from="1944", source="imported:atlas")
    kg.add("France", "member_of", "European Union", valid_from="1993-11", valid_to="2090")
    (path,) = kg.paths("Paris", "European Union")
    assert str(path) == (
        "Paris capital_of France (since 1944; imported:atlas), "
        "France member_of European Union (from 1993-11 until 2090; user); together from 1993-11 until 2090"
    )
    (path,) = kg.paths("Paris", "European Union", mode="chronological")
    assert str(path).endswith("arriving 1993-11")
    assert len(path) == 2


def test_a_path_tells_what_was_known_when_it_was_found(kg):
    kg.add("A", "prefers", "B", qualifiers={"topic": "x"}, valid_from="2010")
    kg.add("A", "prefers", "B", qualifiers={"topic": "y"}, valid_from="2010")
    chain(kg, ("B", "C", "2012", None))
    read, unread = (kg.at("2015").paths("A", "C")[0] for _ in range(2))
    before = str(read)
    kg.end("B", "knows", "C", at="2013")
    kg.add("B", "uses", "C", valid_from="2011", confidence=0.95)
    assert str(unread) == before
    assert unread.confidence == read.confidence == pytest.approx(0.81)
    assert [fact.predicate for fact in kg.at("2015").paths("A", "C")[0].facts] == ["prefers", "uses"]


@pytest.mark.parametrize(
    ("view", "options"),
    [
        (lambda kg: kg.at("2020"), {"mode": "overlap"}),
        (lambda kg: kg.at("2020"), {"mode": "chronological"}),
        (lambda kg: kg.during(), {"mode": "snapshot"}),
        (lambda kg: kg, {"mode": "shortest"}),
        (lambda kg: kg, {"cutoff": 0}),
        (lambda kg: kg, {"limit": -1}),
        (lambda kg: kg, {"limit": True}),
        (lambda kg: kg, {"direction": "both"}),
        (lambda kg: kg, {"predicates": "knows"}),
    ],
)
def test_a_walk_that_makes_no_sense_is_refused(kg, view, options):
    chain(kg, ("A", "B", "2010", None))
    with pytest.raises(InputError):
        view(kg).paths("A", "B", **options)


@pytest.mark.parametrize("options", [{"hops": 0}, {"hops": "2"}, {"limit": -1}, {"direction": "up"}])
def test_neighbours_that_make_no_sense_are_refused(kg, options):
    chain(kg, ("A", "B", "2010", None))
    with pytest.raises(InputError):
        kg.neighbors("A", **options)


def test_an_unknown_name_is_told_with_those_that_look_like_it(kg):
    chain(kg, ("Helsinki", "Berlin", "2010", None))
    with pytest.raises(NotFoundError) as caught:
        kg.neighbors("Helsinky")
    assert [entity.label for entity in caught.value.candidates] == ["Helsinki"]
    with pytest.raises(NotFoundError):
        kg.paths("Helsinki", "Berlim")


def test_there_is_no_path_to_where_one_is(kg):
    chain(kg, ("A", "B", "2010", None), ("B", "A", "2010", None))
    assert kg.paths("A", "A") == []


def test_a_dense_graph_gives_the_first_paths_without_all_of_them(kg):
    nodes = [f"n{i:02}" for i in range(24)]
    kg.add_all({"subject": a, "predicate": "knows", "object": b} for a in nodes for b in nodes if a != b)
    found = kg.paths("n00", "n01", cutoff=8)
    assert routes(found) == ["n00n01", *(f"n00{middle}n01" for middle in nodes[2:11])]
    assert found.truncated


def test_many_parallel_facts_are_bounded_too(kg):
    kg.add_all(
        {"subject": a, "predicate": f"p{i}", "object": b, "valid_from": f"{1000 + i}", "valid_to": f"{1002 + 2 * i}"}
        for i in range(600)
        for a, b in ("AB", "BC")
    )
    found = kg.during().paths("A", "C")
    assert found.truncated  # 360,000 pairs of facts: more than one call looks at
    assert len(kg.paths("A", "C", mode="chronological")) == 1


# -- against exhaustive search


def claims():
    year = st.sampled_from(YEARS)
    return st.builds(
        lambda s, p, o, start, years, confidence: {
            "subject": s,
            "predicate": p,
            "object": o,
            "valid_from": str(start),
            "valid_to": str(start + years) if years else None,
            "confidence": confidence,
        },
        st.sampled_from(NAMES),
        st.sampled_from(["knows", "uses", "manages", "friend_of", "likes", "dislikes", "visited", "reports_to"]),
        st.sampled_from(NAMES),
        year,
        st.integers(0, 4),
        st.sampled_from([0.5, 0.7, 0.9]),
    )


def built(given_claims) -> KnowledgeGraph:
    graph = KnowledgeGraph()
    graph.add_all(given_claims)
    for name in NAMES:
        graph.names.declare(name)
    return graph


GRAPHS = st.lists(claims(), min_size=3, max_size=16)


@settings(max_examples=40)
@given(
    given_claims=GRAPHS,
    direction=st.sampled_from(["out", "in", "any"]),
    predicates=st.sampled_from([None, ["knows", "manages"], ["friend_of"], ["uses", "reports_to", "likes"]]),
    hops=st.integers(1, 3),
    year=st.sampled_from(YEARS),
)
def test_neighbours_are_those_of_the_facts_of_the_view(given_claims, direction, predicates, hops, year):
    canonical = predicates and ["reports_to" if name == "manages" else name for name in predicates]
    with built(given_claims) as graph:
        views = [
            graph.at(str(year)),
            graph.during(str(year), str(year + 2)),
            graph.throughout(str(year), str(year + 1)),
        ]
        for view in views:
            wanted = brute.neighbours(brute.steps(view, direction, canonical), "A", hops)
            for _ in range(2):  # the second time without a transaction
                found = view.neighbors("A", hops=hops, direction=direction, predicates=predicates)
                assert {n.entity.label: (n.distance, {f.id for f in n.facts}) for n in found} == wanted
                ordered = sorted((d, name) for name, (d, _) in wanted.items())
                assert [(n.distance, n.entity.label) for n in found] == ordered


@settings(max_examples=40)
@given(
    given_claims=GRAPHS,
    direction=st.sampled_from(["out", "any"]),
    cutoff=st.integers(1, 5),
    limit=st.integers(0, 6),
    year=st.sampled_from(YEARS),
)
def test_paths_are_those_of_exhaustive_search_in_every_mode(given_claims, direction, cutoff, limit, year):
    with built(given_claims) as graph:
        window = (at(str(year)), at(str(year + 3)))
        cases = [
            (graph.at(str(year)), "snapshot", (brute.NEG_INF, brute.POS_INF)),
            (graph, "overlap", (brute.NEG_INF, brute.POS_INF)),
            (graph, "chronological", (brute.NEG_INF, brute.POS_INF)),
            (graph.during(str(year), str(year + 3)), "overlap", window),
            (graph.during(str(year), str(year + 3)), "chronological", window),
            (graph.throughout(str(year), str(year + 3)), "overlap", window),
        ]
        for view, mode, bounds in cases:
            listed = graph.during() if view is graph else view
            steps = brute.steps(listed, direction)
            wanted = brute.paths(steps, "A", "B", mode=mode, cutoff=cutoff, window=bounds)
            found = view.paths("A", "B", mode=mode, cutoff=cutoff, limit=10_000, direction=direction)
            assert [told(path, mode) for path in found] == wanted
            assert not found.truncated
            first = view.paths("A", "B", mode=mode, cutoff=cutoff, limit=limit, direction=direction)
            assert [told(path, mode) for path in first] == wanted[:limit]
            assert first.truncated == (len(wanted) > limit)
            shortest = len(wanted[0][0]) - 1 if wanted else None
            for _ in range(2):  # the second time without a transaction
                assert view.distance("A", "B", mode=mode, cutoff=cutoff, direction=direction) == shortest


def test_a_distance_is_told_or_refused_never_guessed(monkeypatch):
    with KnowledgeGraph() as graph:
        for place in range(6):
            graph.add("Hub", "knows", f"N{place}")
            graph.add(f"N{place}", "likes", "End")
        before = graph.at()  # pinned
        graph.add("Somebody", "knows", "Anybody")
        assert (graph.distance("Hub", "End"), graph.distance("End", "Hub"), graph.distance("Hub", "Hub")) == (
            2,
            None,
            0,
        )
        monkeypatch.setattr("semgraph.walk.routes.PATIENCE", 2)
        monkeypatch.setattr("semgraph.walk.routes._ROWS", 4)
        with pytest.raises(BudgetExceeded):
            before.distance("Hub", "End")  # the past is read from the store
        assert before.distance("Hub", "N3", predicates=["likes"]) is None
        assert before.distance("N3", "End") == 1


def test_a_distance_keeps_step_with_writes():
    with KnowledgeGraph() as graph:
        graph.add("A", "knows", "B")
        graph.add("B", "knows", "C")
        graph.edges()  # in memory from here on
        for _ in range(2):
            assert graph.distance("A", "C") == 2
        graph.add("A", "likes", "C")
        assert graph.distance("A", "C") == 1
        assert graph.distance("A", "C", predicates=["knows"]) == 2
        assert graph.distance("A", "C", cutoff=1, predicates=["knows"]) is None
        with pytest.raises(NotFoundError):
            graph.distance("A", "Nobody")


def told(path, mode):
    weight = 1
    for fact in path.facts:
        weight *= round(fact.confidence * 1_000_000)
    judged = None
    if mode == "overlap":
        start, end = path.interval
        judged = (start.instant, brute.POS_INF if end is None else end.instant)
    elif mode == "chronological":
        judged = path.arrival.instant
    nodes = tuple(entity.label for entity in path.entities)
    ends = [{fact.subject.label, fact.object.label} for fact in path.facts]
    assert ends == [set(pair) for pair in pairwise(nodes)]
    return nodes, weight, judged


@settings(max_examples=25)
@given(given_claims=GRAPHS, year=st.sampled_from(YEARS))
def test_paths_at_an_instant_are_the_paths_of_the_snapshot(given_claims, year):
    """I8: the graph that holds only what holds then has the same paths."""
    with built(given_claims) as graph, KnowledgeGraph() as snapshot:
        view = graph.at(str(year))
        for fact in view.facts():
            if not fact.negative:
                snapshot.predicates.define(fact.predicate, cardinality="many", symmetric=fact.predicate == "friend_of",
                                           event=fact.predicate == "visited")  # fmt: skip
                snapshot.add(fact.subject.label, fact.predicate, fact.object.label, confidence=fact.confidence)
        for name in NAMES:
            snapshot.names.declare(name)
        assert routes(view.paths("A", "B", limit=99)) == routes(snapshot.paths("A", "B", limit=99))
        assert labels(view.neighbors("A", hops=2)) == labels(snapshot.neighbors("A", hops=2))


@settings(max_examples=15)
@given(batches=st.lists(st.lists(claims(), min_size=1, max_size=4), min_size=2, max_size=5))
def test_neighbours_keep_step_with_every_write(batches):
    with KnowledgeGraph() as graph:
        for batch in batches:
            graph.add_all(batch)
            for name in NAMES:
                graph.names.declare(name)
            for _ in range(2):
                view = graph.during()
                wanted = brute.neighbours(brute.steps(view, "any"), "A", 3)
                found = view.neighbors("A", hops=3, direction="any")
                assert {n.entity.label: (n.distance, {f.id for f in n.facts}) for n in found} == wanted


def test_about_has_the_latest_of_each_predicate_up_to_a_limit():
    with KnowledgeGraph() as kg:
        for year, (place, sure) in enumerate({"Oslo": 0.9, "Bergen": 0.5, "Moss": 0.7, "Voss": 0.6}.items(), 2019):
            kg.add("Maya", "visited", place, valid_from=str(year), confidence=sure)
        kg.add("Maya", "lives_in", "Oslo")
        found = kg.during().about("Maya", limit=2)
        assert {name: [fact.object.label for fact in facts] for name, facts in found.items()} == {
            "lives_in": ["Oslo"],
            "visited": ["Moss", "Voss"],
        }
        assert {name: facts.truncated for name, facts in found.items()} == {"lives_in": False, "visited": True}
        assert not any(facts.truncated for facts in kg.during().about("Maya", limit=4).values())
