"""Shortest walks between two nodes: breadth first from both ends, the one with fewer rows ahead first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semgraph.index.spreading import FEW, Spread
from semgraph.index.steps import as_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        # What the other side came upon before its last level would have been met by the last step.
        met = sides[1 - side].among(fresh)
        if met:
            return _walked(sides, levels, met)
    return None


def _walked(sides: tuple[Spread, Spread], levels: tuple[list[Any], list[Any]], met: set[int]) -> list[list[Step]]:
    """From where both sides met back to either end, the steps between levels that follow each other."""
    ahead, behind = sides
    found = list(_back(ahead, behind.steps, levels[0], met))
    found.reverse()
    found += [[(row, near, far) for row, far, near in layer] for layer in _back(behind, ahead.steps, levels[1], met)]
    return found


def _back(side: Spread, turned: Steps, levels: list[Any], nodes: set[int]) -> Iterator[list[Step]]:
    """From the last level of a side back to where it began, the steps onto the nodes and onto those that led there."""
    for level, cost in zip(reversed(levels[:-1]), reversed(side.costs), strict=True):
        other = turned.cost(nodes)
        if cost <= other:
            layer = _onto(side.steps, level, nodes, cost)
        else:
            layer = [(row, near, far) for row, far, near in _onto(turned, nodes, level, other)]
        yield layer
        nodes = {near for _, near, _ in layer}


def _onto(steps: Steps, nodes: Any, wanted: Any, cost: int) -> list[Step]:
    """The steps from some nodes to some others."""
    if cost <= FEW:
        allowed = set(_listed(wanted))
        return [(row, node, far) for node in _listed(nodes) for row, far in steps.rows(node) if far in allowed]
    mark = np.zeros(steps.columns.nodes, np.bool_)
    mark[_array(wanted)] = True
    rows, near, far = steps.all_rows(_array(nodes))
    kept = mark.take(far).nonzero()[0]
    return list(zip(rows.take(kept).tolist(), near.take(kept).tolist(), far.take(kept).tolist(), strict=True))


def _listed(nodes: Any) -> Any:
    return nodes.tolist() if isinstance(nodes, np.ndarray) else nodes


def _array(nodes: Any) -> Any:
    return nodes if isinstance(nodes, np.ndarray) else as_nodes(nodes)
