"""Shortest walks between two nodes: breadth first from both ends, the one with fewer rows ahead first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semgraph.index.spreading import FEW, Spread
from semgraph.index.steps import as_nodes

if TYPE_CHECKING:
    from semgraph.index.steps import Steps

__all__ = ["shortest_steps"]

Step = tuple[int, int, int]  # row, from, to


def shortest_steps(steps: Steps, source: int, target: int, longest: int) -> list[list[Step]] | None:
    """Every step on one of the shortest walks from one node to another: first steps, second steps, and so on.

    None where no walk of at most `longest` steps leads there.
    """
    ahead, behind = Spread(steps, source), Spread(steps.turned(), target)
    levels: tuple[list[Any], list[Any]] = ([ahead.level], [behind.level])
    sides = (ahead, behind)
    while len(levels[0]) + len(levels[1]) - 2 < longest:
        side = 0 if ahead.cost <= behind.cost else 1
        fresh = sides[side].deeper()
        if not len(fresh):
            return None
        levels[side].append(fresh)
        met = _common(steps.columns.nodes, fresh, levels[1 - side][-1])
        if met:
            return _walked(steps, levels, met)
    return None


def _common(nodes: int, a: Any, b: Any) -> set[int]:
    if isinstance(a, list) and isinstance(b, list):
        return set(a).intersection(b)
    mark = np.zeros(nodes, np.bool_)
    mark[_array(a)] = True
    other = _array(b)
    return set(other.take(np.flatnonzero(mark.take(other))).tolist())


def _walked(steps: Steps, levels: tuple[list[Any], list[Any]], met: set[int]) -> list[list[Step]]:
    """From where both sides met back to either end, the steps between levels that follow each other."""
    found: list[list[Step]] = []
    back, nodes = steps.turned(), met
    for level in reversed(levels[0][:-1]):
        found.append(_between(steps, back, level, nodes))
        nodes = {near for _, near, _ in found[-1]}
    found.reverse()
    nodes = met
    for level in reversed(levels[1][:-1]):
        found.append([(row, near, far) for row, far, near in _between(back, steps, level, nodes)])
        nodes = {far for *_, far in found[-1]}
    return found


def _between(steps: Steps, back: Steps, level: Any, nodes: set[int]) -> list[Step]:
    """The steps from the nodes of a level to some others, found from the side with fewer rows."""
    ahead = steps.cost(level) if isinstance(level, list) else steps.cost_of_many(level)
    if ahead <= back.cost(nodes):
        return _onto(steps, level, nodes, ahead)
    return [(row, near, far) for row, far, near in _onto(back, nodes, level, back.cost(nodes))]


def _onto(steps: Steps, nodes: Any, wanted: Any, cost: int) -> list[Step]:
    """The steps from some nodes to some others."""
    if cost <= FEW:
        allowed = set(_listed(wanted))
        return [(row, node, far) for node in _listed(nodes) for row, far in steps.rows(node) if far in allowed]
    mark = np.zeros(steps.columns.nodes, np.bool_)
    mark[_array(wanted)] = True
    rows, near, far = steps.all_rows(_array(nodes))
    kept = np.flatnonzero(mark.take(far))
    return list(zip(rows.take(kept).tolist(), near.take(kept).tolist(), far.take(kept).tolist(), strict=True))


def _listed(nodes: Any) -> Any:
    return nodes.tolist() if isinstance(nodes, np.ndarray) else nodes


def _array(nodes: Any) -> Any:
    return nodes if isinstance(nodes, np.ndarray) else as_nodes(nodes)
