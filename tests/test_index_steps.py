"""Walks over the columns: the same nodes and steps as a plain search, whichever way the rows are looked at."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semgraph.index import spreading
from semgraph.index.columns import Columns
from semgraph.index.marks import LITERAL, NEGATIVE, NOTHING, UNKNOWN_START
from semgraph.index.meeting import shortest_length, shortest_steps
from semgraph.index.spreading import Spread
from semgraph.index.starts import Starts
from semgraph.index.steps import Chosen, Looks, Steps, as_nodes
from semgraph.index.times import Times
from semgraph.temporal import NEG_INF, POS_INF

NODES, PREDICATES, TIMES = range(7), range(3), range(6)
MARKS = [0, 0, 0, 0, NEGATIVE, UNKNOWN_START]


def facts(subjects=NODES):
    return st.tuples(
        st.sampled_from(subjects),
        st.sampled_from(PREDICATES),
        st.sampled_from([*NODES, *NODES, LITERAL, NOTHING]),
        st.sampled_from(TIMES),
        st.sampled_from([1, 2, POS_INF]),
        st.sampled_from(MARKS),
    ).map(lambda f: (*f[:4], f[4] if f[4] == POS_INF else f[3] + f[4], f[5]))


def columns_of(told) -> Columns:
    rows = sorted(told)
    kinds = (np.uint32, np.uint16, np.uint32, np.int64, np.int64, np.uint8)
    return Columns(
        np.arange(10, 10 + len(NODES)),
        [f"p{number}" for number in PREDICATES],
        [np.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)],
    )


def written(columns: Columns, told, later) -> list:
    """What the facts are after some fluents were written anew."""
    fluents = defaultdict(list)
    for fact in later:
        fluents[fact[:2]].append(fact)
    for (subject, predicate), new in fluents.items():
        facts_given = [
            (f[3], f[4], {LITERAL: -1, NOTHING: -2}.get(f[2], 10 + f[2]), f[5]) for f in sorted(new, key=lambda f: f[3])
        ]
        assert columns.replace(10 + subject, f"p{predicate}", facts_given)
    return [fact for fact in told if fact[:2] not in fluents] + list(later)


def brute(told, times: Times, chosen: Chosen) -> set[tuple[int, int]]:
    """The pairs of nodes that a step connects."""
    found = set()
    for subject, predicate, target, start, end, marks in told:
        if marks or target >= NOTHING or subject == target or start > times.latest or end < times.earliest:
            continue
        if chosen.out is None or (chosen.out and chosen.out[predicate]):
            found.add((subject, target))
        if chosen.back is None or (chosen.back and chosen.back[predicate]):
            found.add((target, subject))
    return found


def distances(pairs, start) -> dict[int, int]:
    found, frontier = {start: 0}, [start]
    while frontier:
        frontier = list(dict.fromkeys(b for a in frontier for near, b in sorted(pairs) if near == a and b not in found))
        found |= dict.fromkeys(frontier, max(found.values()) + 1)
    return found


CHOSEN = st.sampled_from(
    [
        Chosen(None, b""),
        Chosen(b"", None),
        Chosen(None, None),
        Chosen(b"\1\0\1", b""),
        Chosen(b"\1\1\0", b"\0\1\0"),
        Chosen(b"", b"\0\0\1"),
    ]
)
CUTS = st.sampled_from([Times(2, 3), Times(0, 1), Times(POS_INF - 1, NEG_INF + 1), Times(3, 3), Times(1, 4)])


@pytest.fixture(params=[0, 3, 256], ids=["in numpy", "mixed", "one by one"])
def few(request, monkeypatch):
    monkeypatch.setattr(spreading, "FEW", request.param)


@pytest.mark.usefixtures("few")
@given(told=st.lists(facts(), max_size=25, unique=True), later=st.lists(facts(), max_size=6, unique=True),
       times=CUTS, chosen=CHOSEN, start=st.sampled_from(NODES))  # fmt: skip
def test_levels_are_those_of_a_plain_search(told, later, times, chosen, start):
    columns = columns_of(told)
    looks = Looks.of(columns)
    looks.look()
    now = written(columns, told, later)
    pairs = brute(now, times, chosen)
    spread = Spread(Steps(looks, times, chosen), start)
    found, distance = {start: 0}, 0
    while len(level := spread.deeper()):
        distance += 1
        assert len(set(level)) == len(level)
        found |= {int(node): distance for node in level}
    assert found == distances(pairs, start)


@example(told=[(0, 0, far, 0, POS_INF, 0) for far in (1, LITERAL, NOTHING)], later=[], times=Times(2, 3),
         chosen=Chosen(None, b""))  # fmt: skip
@given(told=st.lists(facts(), max_size=25, unique=True), later=st.lists(facts(), max_size=6, unique=True),
       times=CUTS, chosen=CHOSEN)  # fmt: skip
def test_rows_are_the_same_one_by_one_and_all_at_once(told, later, times, chosen):
    columns = columns_of(told)
    now = written(columns, told, later)
    steps = Steps(Looks.of(columns), times, chosen)
    single = sorted((row, node, far) for node in range(columns.nodes) for row, far in steps.rows(node))
    together = []
    for rows, far, leaving in steps.ways(as_nodes(range(columns.nodes))):
        near = (columns.subject if leaving else columns.object)[rows]
        together += zip(rows.tolist(), near.tolist(), far.tolist(), strict=True)
    assert sorted((row, near, far) for row, near, far in together if near != far) == single
    assert {(near, far) for _, near, far in single} == brute(now, times, chosen)
    assert len(set(single)) == len(single)
    for node in range(columns.nodes):
        near, far = dict[int, None](), {far for at, far in brute(now, times, chosen) if at == node}
        cost = steps.cost((node,))
        assert cost == 0 or not steps.near(node, near, cost - 1)
        assert not near
        assert steps.near(node, near, cost)
        assert near.keys() - {node} == far


@pytest.mark.usefixtures("few")
@given(told=st.lists(facts(), max_size=25, unique=True), later=st.lists(facts(), max_size=6, unique=True),
       times=CUTS, chosen=CHOSEN, longest=st.integers(1, 6))  # fmt: skip
def test_the_shortest_length_is_that_of_a_plain_search(told, later, times, chosen, longest):
    columns = columns_of(told)
    pairs = brute(written(columns, told, later), times, chosen)
    steps = Steps(Looks.of(columns), times, chosen)
    for source in NODES:
        far = {node: length for node, length in distances(pairs, source).items() if length <= longest}
        for target in NODES:
            assert shortest_length(steps, source, target, longest) == far.get(target)


@pytest.mark.usefixtures("few")
@given(told=st.lists(facts(), max_size=25, unique=True), later=st.lists(facts(), max_size=6, unique=True),
       times=CUTS, chosen=CHOSEN, longest=st.integers(1, 6), ends=st.permutations(NODES))  # fmt: skip
def test_shortest_steps_are_those_on_some_shortest_walk(told, later, times, chosen, longest, ends):
    source, target, *_ = ends
    columns = columns_of(told)
    pairs = brute(written(columns, told, later), times, chosen)
    ahead, behind = distances(pairs, source), distances({(b, a) for a, b in pairs}, target)
    found = shortest_steps(Steps(Looks.of(columns), times, chosen), source, target, longest)
    length = ahead.get(target, longest + 1)
    if length > longest:
        assert found is None
        return
    assert found is not None
    assert len(found) == length
    assert all({far for *_, far in a} == {near for _, near, _ in b} for a, b in pairwise(found))
    steps = [step for layer in found for step in layer]
    on_one = {(a, b) for a, b in pairs if a in ahead and b in behind and ahead[a] + 1 + behind[b] == length}
    assert {(near, far) for _, near, far in steps} == on_one
    assert len(set(steps)) == len(steps)


@given(told=st.lists(facts(), max_size=25, unique=True), later=st.lists(facts(), max_size=6, unique=True), times=CUTS)
def test_edges_by_start_are_those_of_the_time_also_where_they_are_taken_after_a_write(told, later, times):
    columns = columns_of(told)
    before = Starts.of(columns).at(times)
    now = written(columns, told, later)
    found = Starts.of(columns).at(times)
    for each, stood in ((before, told), (found, now)):
        held = [f for f in stood if not f[5] and f[2] < NOTHING and f[3] <= times.latest and f[4] >= times.earliest]
        rows = zip(*(each.column(number).tolist() for number in range(5)), strict=True)
        assert sorted(rows) == sorted(fact[:5] for fact in held)
        assert len(each) == len(held)


def test_a_side_with_few_rows_ahead_meets_one_that_had_many(monkeypatch):
    monkeypatch.setattr(spreading, "FEW", 1)
    ends = [(0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 3), (3, 0, 5), (4, 0, 5), (6, 0, 4), (6, 1, 4), (6, 2, 4)]
    steps = Steps(Looks.of(columns_of([(*each, 0, POS_INF, 0) for each in ends])), Times(2, 3), Chosen(None, b""))
    assert shortest_length(steps, 0, 5, 6) == 3
