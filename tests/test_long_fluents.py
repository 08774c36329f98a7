"""Fluents of very many claims: what one more costs, in functions called, and that the quick ways are exact."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from bounded_work import steps
from histories import graph
from hypothesis import given
from hypothesis import strategies as st
from test_fold import DAY, told

from semgraph.fold import fold
from semgraph.segment import Policy, Segment, excludes, possible_from, possible_starts

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(1990, 1, 1, tzinfo=UTC)


def changes(count: int, since: int = 0, **more: Any) -> Iterator[dict[str, Any]]:
    """A value that changed so often, told without dates, only with the time of each telling."""
    for number in range(since, since + count):
        said = START + timedelta(days=number)
        yield {"subject": "Ann", "predicate": "lives_in", "object": f"n{number}", "said_at": said} | more


@pytest.mark.parametrize("more", [{"kind": "change"}, {"kind": "change", "source": "inferred"}, {}], ids=str)
def test_a_batch_of_changes_told_by_their_time_of_saying_costs_as_many_times_as_there_are_more(
    more: dict[str, Any],
) -> None:
    def batch(count: int) -> int:
        kg = graph()
        return steps(lambda: kg.add_all(changes(count, **more)))

    batch(10)
    assert batch(800) < 2.6 * batch(400)


def test_one_more_change_costs_the_same_after_four_hundred_as_after_a_hundred() -> None:
    kg = graph()
    costs = []
    for number, call in enumerate(changes(420, kind="change")):
        cost = steps(lambda: kg.add(**call))  # noqa: B023 - called at once
        if number in (*range(100, 120), *range(400, 420)):
            costs.append(cost)
    assert sum(costs[20:]) < 1.1 * sum(costs[:20])
    assert kg.verify() == []


words = st.tuples(
    st.sampled_from(["a", "b", "c", "-a"]), st.integers(0, 9), st.none() | st.integers(1, 9), st.booleans()
)


@given(words=st.lists(words, max_size=8), cardinality=st.sampled_from(["one", "many"]))
def test_since_when_many_may_have_held_is_since_when_each_may_have(
    words: list[tuple[str, int, int | None, bool]], cardinality: str
) -> None:
    policy = Policy(cardinality, DAY)
    claims = [
        told(value, start, start, None if length is None else start + length, basis="observed" if seen else "stated")
        for value, start, length, seen in words
    ]
    segments = fold({c.claim: c for c in claims}.values(), policy)

    def excluded(g: Segment, r: Segment) -> bool:
        return g.value != r.value and excludes(g, r, policy, ())

    observed = [g for g in segments if g.basis == "observed"]
    wanted = {g: possible_from(g, (r for r in segments if excluded(g, r))) for g in observed}
    assert dict(possible_starts(observed, segments, excluded)) == wanted
