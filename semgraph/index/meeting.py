"""Shortest walks between two nodes, and their length: from both ends, the one with fewer rows ahead first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.index.spreading import Spread, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.index.steps import Steps

__all__ = ["Step", "shortest_length", "shortest_steps"]


def shortest_steps(steps: Steps, source: int, target: int, longest: int) -> list[list[Step]] | None:
    """Every step on one of the shortest walks from one node to another: first steps, second steps, and so on.

    None where no walk of at most `longest` steps leads there.
    """
    ahead, behind = Spread(steps, source, ways=True), Spread(steps.turned(), target, ways=True)
    sides, taken = (ahead, behind), [0, 0]
    while sum(taken) < longest:
        side = 0 if ahead.cost <= behind.cost else 1
        fresh = sides[side].deeper()
        if not len(fresh):
            return None
        taken[side] += 1
        # What the other side came upon before its last level would have been met by the last step.
        met = sides[1 - side].among(fresh)
        if met:
            found = list(_back(ahead, taken[0], met))
            found.reverse()
            turned = _back(behind, taken[1], met)
            return found + [[(row, near, far) for row, far, near in layer] for layer in turned]
    return None


def shortest_length(steps: Steps, source: int, target: int, longest: int) -> int | None:
    """How many steps a shortest walk from one node to another takes; None where it takes more than `longest`."""
    if source == target:
        return 0
    ahead, behind = Spread(steps, source), Spread(steps.turned(), target)
    for taken in range(1, longest + 1):
        near, far = (ahead, behind) if ahead.cost <= behind.cost else (behind, ahead)
        if near.reaches(far):
            return taken
        if not len(near.level):
            return None
    return None


def _back(side: Spread, levels: int, nodes: set[int]) -> Iterator[list[Step]]:
    """From where both sides met back to where one began, the steps onto the nodes and onto those that led there."""
    for place in reversed(range(levels)):
        layer = side.onto(place, nodes)
        yield layer
        nodes = {near for _, near, _ in layer}
