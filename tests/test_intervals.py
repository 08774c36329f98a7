"""The algebra of half-open intervals, held to a model: the set of the points that an interval contains."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph.errors import InputError, RejectedError
from semgraph.intervals import ALL_TIME, Interval, Range, Relation, coalesce, intersect_all, relation
from semgraph.temporal import DAY, NEG_INF, POS_INF

SIZE = 8
ALL = [Interval(start, end) for start in range(SIZE) for end in range(start + 1, SIZE + 1)]
PAIRS = list(product(ALL, ALL))
intervals = st.sampled_from(ALL)


def points(*items: Interval | None) -> set[int]:
    return {point for item in items if item is not None for point in range(item.start, item.end)}


# What each relation means, told by the bounds alone.
ALLEN = {
    Relation.BEFORE: lambda a, b: a.end < b.start,
    Relation.MEETS: lambda a, b: a.end == b.start,
    Relation.OVERLAPS: lambda a, b: a.start < b.start < a.end < b.end,
    Relation.STARTS: lambda a, b: a.start == b.start and a.end < b.end,
    Relation.DURING: lambda a, b: b.start < a.start and a.end < b.end,
    Relation.FINISHES: lambda a, b: b.start < a.start and a.end == b.end,
    Relation.EQUALS: lambda a, b: a.start == b.start and a.end == b.end,
    Relation.FINISHED_BY: lambda a, b: a.start < b.start and a.end == b.end,
    Relation.CONTAINS: lambda a, b: a.start < b.start and b.end < a.end,
    Relation.STARTED_BY: lambda a, b: a.start == b.start and b.end < a.end,
    Relation.OVERLAPPED_BY: lambda a, b: b.start < a.start < b.end < a.end,
    Relation.MET_BY: lambda a, b: b.end == a.start,
    Relation.AFTER: lambda a, b: b.end < a.start,
}


def test_exactly_one_of_the_thirteen_relations_holds() -> None:
    seen = set()
    for a, b in PAIRS:
        holding = [name for name, holds in ALLEN.items() if holds(a, b)]
        assert holding == [relation(a, b)]
        seen.update(holding)
    assert seen == set(Relation)
    assert len(Relation) == 13


def test_the_inverse_is_the_relation_read_from_the_other_side() -> None:
    for a, b in PAIRS:
        assert relation(a, b).inverse is relation(b, a)
        assert relation(a, b).inverse.inverse is relation(a, b)


def test_composed_relations_stay_within_what_the_first_two_allow() -> None:
    """Before and before is before; during and during is during: the two transitive laws that walks rely on."""
    for (a, b), c in product(PAIRS[:: SIZE // 2], ALL):
        for law in (Relation.BEFORE, Relation.DURING, Relation.STARTS, Relation.FINISHES, Relation.EQUALS):
            if relation(a, b) is law and relation(b, c) is law:
                assert relation(a, c) is law


def test_predicates_of_sql_2011_agree_with_the_points_held() -> None:
    for a, b in PAIRS:
        inside, outside = points(a), points(b)
        assert a.overlaps(b) == bool(inside & outside)
        assert a.equals(b) == (inside == outside)
        assert a.contains(b) == (outside <= inside)
        assert a.precedes(b) == (max(inside) < min(outside))
        assert a.succeeds(b) == (min(inside) > max(outside))
        assert a.immediately_precedes(b) == (max(inside) + 1 == min(outside))
        assert a.immediately_succeeds(b) == (min(inside) == max(outside) + 1)


def test_an_interval_holds_its_start_and_not_its_end() -> None:
    for a in ALL:
        assert {point for point in range(-1, SIZE + 2) if a.contains(point)} == points(a)


def test_intersection_minus_union_hull_and_gap_agree_with_the_points_held() -> None:
    for a, b in PAIRS:
        assert points(a.intersection(b)) == points(a) & points(b)
        assert points(*a.minus(b)) == points(a) - points(b)
        assert points(a.hull(b)) == set(range(min(a.start, b.start), max(a.end, b.end)))
        assert points(a.gap(b)) == points(a.hull(b)) - points(a) - points(b)
        assert a.before(b) == (relation(a, b) is Relation.BEFORE)
        assert a.adjacent(b) == (relation(a, b) in {Relation.MEETS, Relation.MET_BY})
        if a.gap(b) is None:
            assert coalesce([a, b]) == [a.union(b)]
            assert points(a.union(b)) == points(a) | points(b)
        else:
            with pytest.raises(InputError, match=r"hull\(\)"):
                a.union(b)


def test_results_are_of_the_kind_that_was_asked() -> None:
    a, b = Interval(0, 5), Interval(3, 9)
    for made in (a.intersection(b), a.union(b), a.hull(b), *a.minus(b), Interval(0, 1).gap(b), *coalesce([a, b])):
        assert type(made) is Interval
    assert type(Range("a", "m").intersection(Range("c", "z"))) is Range


@given(st.lists(intervals, max_size=6))
def test_coalescing_keeps_the_points_and_leaves_gaps_between(items) -> None:
    result = coalesce(items)
    assert points(*result) == points(*items)
    assert all(a.before(b) for a, b in pairwise(result))
    assert coalesce(result) == result
    assert coalesce(reversed(items)) == result


@given(st.lists(intervals, min_size=1, max_size=5))
def test_the_intersection_of_many_is_what_all_hold(items) -> None:
    assert points(intersect_all(items)) == set.intersection(*(points(item) for item in items))


def test_pairwise_overlap_does_not_make_a_common_part() -> None:
    chain = [Interval(0, 4), Interval(3, 7), Interval(6, 9)]
    assert chain[0].overlaps(chain[1])
    assert chain[1].overlaps(chain[2])
    assert intersect_all(chain) is None


def test_the_intersection_of_none_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        intersect_all([])


@pytest.mark.parametrize(("start", "end"), [(5, 5), (6, 5), (POS_INF, NEG_INF)])
def test_an_empty_or_inverted_interval_does_not_exist(start: int, end: int) -> None:
    with pytest.raises(RejectedError, match="holds nothing") as caught:
        Interval(start, end)
    assert caught.value.code == "empty_interval"


def test_intervals_show_their_brackets_and_instants() -> None:
    assert repr(Interval(0, DAY)) == "[1970-01-01T00:00:00Z, 1970-01-02T00:00:00Z)"
    assert repr(ALL_TIME) == "[-inf, inf)"
    assert repr(Range("a", "c")) == "[a, c)"


def test_unbounded_intervals_follow_the_same_rules() -> None:
    past, future = Interval(NEG_INF, 10), Interval(5, POS_INF)
    assert past.intersection(future) == Interval(5, 10)
    assert past.union(future) == ALL_TIME
    assert ALL_TIME.minus(Interval(0, 1)) == [Interval(NEG_INF, 0), Interval(1, POS_INF)]
    assert ALL_TIME.contains(past)


def test_intervals_are_values() -> None:
    assert {Interval(0, 1), Interval(0, 1)} == {Interval(0, 1)}
    assert sorted([Interval(1, 2), Interval(0, 9), Interval(0, 3)]) == [Interval(0, 3), Interval(0, 9), Interval(1, 2)]
    with pytest.raises(AttributeError):
        Interval(0, 1).start = 5
