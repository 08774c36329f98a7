"""Entities by hop distance: breadth first, a frontier at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from semgraph.model import Bounded, Neighbor
from semgraph.walk.cut import checked_count
from semgraph.walk.edges import Edges

if TYPE_CHECKING:
    from collections.abc import Collection

    from semgraph.reader import Reader
    from semgraph.walk.cut import Cut
    from semgraph.walk.edges import Direction, Edge

__all__ = ["neighbours"]

_ROWS = 25_000  # facts that one call reads at most


def neighbours(
    reader: Reader,
    cut: Cut,
    start: int,
    *,
    hops: int,
    direction: Direction,
    predicates: Collection[str] | None,
    limit: int,
) -> Bounded[Neighbor]:
    """Up to `limit` entities within so many hops, nearest first, then by name; each with the facts that reach it."""
    checked_count("hops", hops, 1)
    checked_count("limit", limit, 0)
    edges = Edges(reader, cut, direction, predicates, _ROWS)
    found: list[tuple[int, int, list[Edge]]] = []
    seen, frontier, truncated = {start}, [start], False
    for distance in range(1, hops + 1):
        reached: dict[int, list[Edge]] = {}
        for edge in edges.leaving(frontier):
            if edge.far not in seen:
                reached.setdefault(edge.far, []).append(edge)
        frontier = _by_name(reader, reached, cut.instant)
        if len(found) + len(frontier) > limit:
            frontier, truncated = frontier[: limit - len(found)], True
        found += [(number, distance, reached[number]) for number in frontier]
        seen |= reached.keys()
        if truncated or not frontier:
            break
    return Bounded(_made(reader, cut.instant, found), truncated=truncated or edges.truncated)


def _by_name(reader: Reader, numbers: Collection[int], instant: int | None) -> list[int]:
    directory = reader.directory
    directory.prefetch_labels(numbers)
    return sorted(numbers, key=lambda number: (directory.label(number, instant).casefold(), number))


def _made(reader: Reader, instant: int | None, found: list[tuple[int, int, list[Edge]]]) -> list[Neighbor]:
    facts = iter(reader.facts([edge.reading for *_, edges in found for edge in edges], instant))
    made = []
    for number, distance, edges in found:
        own = sorted(islice(facts, len(edges)), key=lambda fact: (fact.valid_from.instant, fact.label, fact.id))
        made.append(Neighbor(reader.directory.entity(number, instant), distance, tuple(own)))
    return made
