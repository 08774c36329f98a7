"""The fold by itself, a row of the semantics at a time: what a small slip in one of the rules would change."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from semgraph.fold import fold
from semgraph.segment import Policy, Statement, Value
from semgraph.temporal import POS_INF, Bound, exact

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY = 86_400_000_000
ONE = Policy("one", DAY)
RANKS = {"user": 3, "tool": 2, "imported": 1, "inferred": 0}


def told(value: str, start: float, said: float, end: float | None = None, **other: Any) -> Statement:
    """A statement in days; a value that begins with `-` is a negation."""
    kind = other.pop("end_kind", "open" if end is None else "stated")
    source = other.pop("source", "user")
    stop = POS_INF if end is None else round(end * DAY)
    given: dict[str, Any] = {
        "claim": f"{value} from {start} said {said} by {source}",
        "value": Value(value.removeprefix("-"), value.startswith("-")),
        "start": round(start * DAY),
        "start_bound": exact(round(start * DAY)),
        "basis": "stated",
        "end": stop,
        "end_bound": exact(stop) if kind == "stated" else None,
        "end_kind": kind,
        "said": round(said * DAY),
        "rank": RANKS[source],
        "source": source,
        "source_ref": None,
        "source_class": source,
        "change": False,
        "also": False,
        "explicit_end": False,
        "order": value.removeprefix("-"),
        "recorded": 0,
    }
    return Statement(**(given | other))


def timeline(statements: Iterable[Statement], policy: Policy = ONE) -> list[tuple[Any, ...]]:
    return [
        (
            "-" * g.value.negative + g.value.ref,
            g.start / DAY,
            None if g.end == POS_INF else g.end / DAY,
            g.basis,
            f"{g.opened}|{g.closed}",
        )
        for g in fold(statements, policy)
    ]


TABLE = {
    "a word at the very start affirms nothing": (
        # The planned change of a lower voice starts at the instant at which the user speaks: row 11, and no row A.
        [told("a", 10, 10), told("b", 10, 1, source="tool", change=True)],
        [("a", 10, None, "stated", "new|"), ("b", 10, None, "stated", "11|")],
    ),
    "said at the same time is newer": (
        [told("a", 1, 10), told("b", 5, 10, change=True)],
        [("a", 1, 5, "stated", "new|12 g1"), ("b", 5, None, "stated", "12 g1|")],
    ),
    "a change that was said before the last word of what holds is no ground": (
        [told("a", 1, 10), told("b", 5, 9.5, change=True)],
        [("a", 1, None, "stated", "new|"), ("b", 5, None, "stated", "14|")],
    ),
    "what is inferred does not displace what is inferred": (
        [told("a", 1, 1, source="inferred"), told("b", 1.5, 1.5, source="inferred", basis="observed", change=False)],
        [("a", 1, None, "stated", "new|"), ("b", 1.5, None, "observed", "14|")],
    ),
    "what is told displaces what is inferred": (
        [told("a", 1, 1, source="inferred"), told("b", 1, 1.5, source="tool", basis="observed")],
        [("b", 1, None, "observed", "12 g4|")],
    ),
    "what is told displaces what is inferred even where that has an end": (
        [told("a", 1, 2, 9, source="inferred"), told("b", 3, 2.5, source="tool")],
        [("a", 1, 3, "stated", "new|12 g4"), ("b", 3, None, "stated", "12 g4|")],
    ),
    "an older word does not displace what is inferred": (
        [told("a", 1, 3, source="inferred"), told("b", 2, 2.5, source="tool")],
        [("a", 1, None, "stated", "new|"), ("b", 2, None, "stated", "14|")],
    ),
    "beside a value that was told as another one anything may hold": (
        [told("a", 1, 1, also=True), told("b", 5, 5)],
        [("a", 1, None, "stated", "new|"), ("b", 5, None, "stated", "new|")],
    ),
    "another value may hold beside anything": (
        [told("a", 1, 1), told("b", 5, 5, also=True)],
        [("a", 1, None, "stated", "new|"), ("b", 5, None, "stated", "new|")],
    ),
    "a change ends also what was told as another one": (
        [told("a", 1, 1, also=True), told("b", 5, 5, change=True)],
        [("a", 1, 5, "stated", "new|12 g1"), ("b", 5, None, "stated", "12 g1|")],
    ),
    "what ends as it begins never held": (
        [told("a", 5, 5), told("b", 5, 5, change=True)],
        [("b", 5, None, "stated", "12 g1|")],
    ),
    "a late word of an old time is outdated by a change": (
        [told("a", 1, 10, change=True), told("b", 5, 6)],
        [("a", 1, None, "stated", "new|")],
    ),
    "a change of a lower voice outdates nothing": (
        [told("a", 1, 10, source="tool", change=True), told("b", 5, 6)],
        [("a", 1, None, "stated", "new|"), ("b", 5, None, "stated", "14|")],
    ),
    "a change outdates nothing that was said after it": (
        [told("a", 1, 5.5, change=True), told("b", 5, 5.6)],
        [("a", 1, 5, "stated", "new|12 g2"), ("b", 5, None, "stated", "12 g2|")],
    ),
    "a change vouches for nothing past its evidence": (
        [told("a", 1, 4, change=True), told("b", 5, 3.9)],
        [("a", 1, 5, "stated", "new|12 g2"), ("b", 5, None, "stated", "12 g2|")],
    ),
    "an outdated word waits for the end of the change": (
        [told("a", 1, 10, 8, change=True), told("b", 5, 6)],
        [("a", 1, 8, "stated", "new|E"), ("b", 8, None, "resumed", "new|")],
    ),
    "an outdated word waits for the last of two changes": (
        [told("a", 1, 10, 8, change=True), told("a", 2, 10, 9, change=True), told("b", 5, 6)],
        [("a", 1, 9, "stated", "new|E"), ("b", 9, None, "resumed", "new|")],
    ),
    "what was suspended resumes, and did not begin then": (
        [told("a", 1, 1), told("b", 5, 5, 8)],
        [
            ("a", 1, 5, "stated", "new|13"),
            ("b", 5, 8, "stated", "13 g3|E"),
            ("a", 8, None, "resumed", "resumed|"),
        ],
    ),
    "a specific stretch suspends what is only assumed to go on": (
        [told("a", 3, 3), told("b", 3, 3, 8)],
        [("a", 8, None, "resumed", "resumed|"), ("b", 3, 8, "stated", "13 g5|E")],
    ),
    "an open statement has no such ground": (
        [told("a", 3, 3), told("b", 3, 3)],
        [("a", 3, None, "stated", "new|"), ("b", 3, None, "stated", "14|")],
    ),
    "two stated stretches contradict each other": (
        [told("a", 1, 1, 9), told("b", 5, 1, 7)],
        [("a", 1, 9, "stated", "new|E"), ("b", 5, 7, "stated", "14|E")],
    ),
    "exactly a day later is no ground": (
        [told("a", 1, 1), told("b", 1, 2)],
        [("a", 1, None, "stated", "new|"), ("b", 1, None, "stated", "14|")],
    ),
    "a lower voice does not end what ended nobody knows when": (
        [told("a", 1, 8, 8, end_kind="soft"), told("b", 5, 5, source="tool")],
        [("a", 1, 8, "stated", "new|E"), ("b", 5, None, "stated", "11|")],
    ),
    "a value stays suspended for as long as another holds by a bounded word": (
        [told("a", 1, 1), told("b", 5, 1, 8), told("b", 6, 1, 10)],
        [
            ("a", 1, 5, "stated", "new|13"),
            ("a", 10, None, "resumed", "resumed|"),
            ("b", 5, 10, "stated", "13 g2|E"),
        ],
    ),
    "the end that a lower voice tells ends only its own word": (
        [told("b", 1, 1), told("b", 2, 3, 5, source="tool")],
        [("b", 1, None, "stated", "new|")],
    ),
    "an end that is told later ends also what was vouched for longer": (
        [told("b", 1, 10), told("b", 2, 11, 5)],
        [("b", 1, 5, "stated", "new|E")],
    ),
    "an end that was told before says nothing of a later word": (
        [told("b", 1, 10), told("b", 2, 9, 5)],
        [("b", 1, None, "stated", "new|")],
    ),
    "a start right after the day of the other one is certainly later": (
        [told("a", 1, 1, start_bound=Bound(DAY, DAY, 2 * DAY, "day", 2 * DAY)), told("b", 2, 1)],
        [("a", 1, 2, "stated", "new|12 g2"), ("b", 2, None, "stated", "12 g2|")],
    ),
    "a start within the day of the other one is not": (
        [told("a", 1, 1, start_bound=Bound(DAY, DAY, 2 * DAY, "day", 2 * DAY)), told("b", 1.5, 1)],
        [("a", 1, None, "stated", "new|"), ("b", 1.5, None, "stated", "14|")],
    ),
    "stretches of a value that meet are one": (
        [told("b", 1, 1, 5), told("b", 5, 5)],
        [("b", 1, None, "stated", "new|")],
    ),
    "an outdated word waits for the last end even where the changes are over before": (
        [told("a", 1, 10, 7, change=True), told("a", 2, 10, 9, change=True), told("b", 5, 6), told("c", 6, 12)],
        [
            ("a", 1, 6, "stated", "new|12 g3"),
            ("b", 9, 12, "resumed", "14|A g3"),
            ("c", 6, None, "stated", "12 g3|"),
        ],
    ),
    "a value told again ends the word that it had ended": (
        [told("a", 1, 1), told("-a", 4, 4, source="tool", explicit_end=True), told("a", 5, 4.5)],
        [("a", 1, None, "stated", "new|"), ("-a", 4, 5, "stated", "11|A 8.5")],
    ),
    "more than a day later is one": (
        [told("a", 1, 1), told("b", 1, 2.001)],
        [("b", 1, None, "stated", "12 g3|")],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_row_of_the_table(name: str) -> None:
    statements, wanted = TABLE[name]
    for order in permutations(statements):
        assert sorted(timeline(order)) == sorted(wanted)


def test_of_what_happens_once_nothing_displaces_another_word() -> None:
    said = [told("a", 1, 1), told("b", 3, 5, 9)]
    assert timeline(said, Policy("once", DAY)) == [("a", 1, None, "stated", "new|"), ("b", 3, 9, "stated", "14|E")]


@pytest.mark.parametrize("source", ["tool", "user"])
def test_a_coarser_word_only_renews_a_finer_one(source: str) -> None:
    policy = Policy("one", DAY, refines=lambda finer, coarser: finer.startswith(f"{coarser} "))
    assert [row[0] for row in timeline([told("a b", 1, 1), told("a", 5, 5, source=source)], policy)] == ["a b"]


@pytest.mark.parametrize(("said", "assumed"), [(1, True), (7.9, True), (9, False)])
def test_what_resumes_is_assumed_unless_it_was_said_after_the_gap(said: float, assumed: bool) -> None:  # noqa: FBT001
    *_, resumed = (g for g in fold([told("a", 1, said), told("b", 5, 5, 8)], ONE) if g.value.ref == "a")
    assert (resumed.start / DAY, resumed.assumed) == (8, assumed)


@pytest.mark.parametrize(("by", "reason"), [("-a", "ended"), ("b", "superseded")])
def test_a_negation_ends_and_another_value_supersedes(by: str, reason: str) -> None:
    first, _ = fold([told("a", 1, 1), told(by, 5, 5, change=True)], ONE)
    assert (first.value.ref, first.end / DAY, first.end_reason) == ("a", 5, reason)
