"""Conflict sets: what rivalry connects, for how long, and what very large ones cost."""

from __future__ import annotations

import pytest
from bounded_work import steps
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hostile import READS, conflict
from semgraph import KnowledgeGraph
from semgraph.disputes import at_instant, both_ways, components, ever

Pair = tuple[str, str, int, int]
PLACE = (False, 1, "lives_in", "", "")
FACTS = "abcdef"

stretches = st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda s: (s[0], s[0] + s[1]))
pairs = st.dictionaries(
    st.sets(st.sampled_from(FACTS), min_size=2, max_size=2).map(frozenset), stretches, max_size=8
).map(lambda found: [(*sorted(both), *stretch) for both, stretch in found.items()])


def as_told(pairs: list[Pair], seeds: set[str]) -> dict[str, list[tuple[str, int, int, bool]]]:
    """The rivals of some of the facts."""
    near: dict[str, list[tuple[str, int, int, bool]]] = {seed: [] for seed in seeds}
    for a, b, start, end in pairs:
        for one, other in ((a, b), (b, a)):
            if one in seeds:
                near[one].append((other, start, end, False))
    return near


def sets_at(pairs: list[Pair], instant: int) -> set[tuple[str, ...]]:
    """The connected facts, by joining sets until nothing joins."""
    groups = [{a, b} for a, b, start, end in pairs if start <= instant < end]
    while joined := next(((a, b) for a in groups for b in groups if a is not b and a & b), None):
        groups = [g for g in groups if g is not joined[0] and g is not joined[1]] + [joined[0] | joined[1]]
    return {tuple(sorted(g)) for g in groups}


@given(pairs=pairs, seeds=st.sets(st.sampled_from(FACTS)), instant=st.integers(0, 12))
def test_conflict_sets_are_what_rivalry_connects_for_as_long_as_it_is_the_same(
    pairs: list[Pair], seeds: set[str], instant: int
) -> None:
    """Of the facts that are asked about and their rivals, in whatever direction the rivalry was read."""
    pairs = [p for p in pairs if p[0] in seeds or p[1] in seeds]
    near = both_ways(as_told(pairs, seeds))
    wanted: dict[tuple[str, ...], list[int]] = {}
    for t in range(13):
        for members in sets_at(pairs, t):
            wanted.setdefault(members, []).append(t)
    lasting = {(d.members, t) for d in ever(PLACE, near) for t in range(d.start, d.end)}
    assert lasting == {(members, t) for members, times in wanted.items() for t in times}
    found = at_instant(PLACE, near, instant)
    assert {d.members for d in found} == sets_at(pairs, instant)
    for d in found:
        assert all(t in wanted[d.members] for t in range(d.start, d.end))
        assert d.start - 1 not in wanted[d.members]
        assert d.end not in wanted[d.members]


@given(near=st.dictionaries(st.sampled_from(FACTS), st.lists(st.sampled_from(FACTS), max_size=3)))
def test_components_are_sets_in_order_without_those_that_nothing_is_near(near: dict[str, list[str]]) -> None:
    mutual = {a: [b for b in FACTS if b in near.get(a, ()) or a in near.get(b, ())] for a in FACTS}
    found = list(components(mutual))
    assert found == sorted(found)
    assert {tuple(sorted(s)) for s in found} == sets_at([(a, b, 0, 1) for a in FACTS for b in mutual[a]], 0)


@pytest.fixture(scope="module")
def disputed() -> dict[int, KnowledgeGraph]:
    graphs = {}
    for size in (60, 120):
        graphs[size] = KnowledgeGraph(embedder=None)
        graphs[size].add_all(conflict(size))
    return graphs


@pytest.mark.parametrize("read", ["values", "about", "conflicts", "neighbors", "match, limit 100"])
def test_reads_of_a_fact_in_conflict_with_many_do_not_count_pairs(
    read: str, disputed: dict[int, KnowledgeGraph]
) -> None:
    """In functions called; each fact still names its rivals, which are read in one go."""
    for kg in disputed.values():
        READS[read](kg)
    few, many = (steps(lambda kg=kg: READS[read](kg)) for kg in disputed.values())
    assert many < 2.3 * few


def test_a_conflict_of_many_is_one_set_of_all(disputed: dict[int, KnowledgeGraph]) -> None:
    (found,) = disputed[120].conflicts()
    assert len(found.facts) == 120
