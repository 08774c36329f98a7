"""Nodes by hop distance, breadth first over the columns."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.steps import as_nodes

if TYPE_CHECKING:
    from semgraph.index.steps import Nodes, Steps

__all__ = ["FEW", "Spread", "Step"]

Step = tuple[int, int, int]  # row, from, to

FEW: Final = 256  # rows that are looked at one by one
_NOTHING: Final = np.zeros(0, np.uint32)


class Spread:
    """Levels of a breadth-first walk, asked for one at a time.

    With `ways` it also keeps by which ways each level was reached, for `onto`.
    """

    def __init__(self, steps: Steps, start: int, *, ways: bool = False) -> None:
        self.steps = steps
        self.level: Any = [start]
        self._cost = -1
        self._seen: set[int] = {start}
        self._mark: Any = None  # in place of the set once there were many
        self._keep = ways
        self._ways: list[Any] = []  # by level: where each of its nodes leads to, or what `Steps.ways` has

    @property
    def cost(self) -> int:
        """How many rows the next level looks at."""
        if self._cost < 0:
            many = isinstance(self.level, np.ndarray)
            self._cost = self.steps.cost_of_many(self.level) if many else self.steps.cost(self.level)
        return self._cost

    def deeper(self) -> Any:
        """The nodes one hop further, each once, a list or an array; none are left when it is empty."""
        many = self._mark is not None or self.cost > FEW
        self.level = self._many() if many else self._few()
        self._cost = -1
        return self.level

    def reaches(self, other: Spread) -> bool:
        """Whether one hop further is something that another walk came upon; where it is not, that hop was taken."""
        if self._mark is not None or other._mark is not None or self.cost > FEW:
            return bool(other.among(self.deeper()))
        near, found, sought = self.steps.near, dict[int, None](), other._seen
        for node in self.level:
            far: dict[int, None] = {}
            near(node, far)
            if not sought.isdisjoint(far):
                return True
            found.update(far)
        self.level, self._cost = self._fresh(found), -1
        return False

    def among(self, nodes: Any) -> set[int]:
        """Which of the nodes were come upon so far."""
        if self._mark is None:
            return self._seen.intersection(nodes.tolist() if isinstance(nodes, np.ndarray) else nodes)
        other = nodes if isinstance(nodes, np.ndarray) else as_nodes(nodes)
        return set(other.take(self._mark.take(other).nonzero()[0]).tolist())

    def onto(self, place: int, wanted: set[int]) -> list[Step]:
        """The steps that led from the level of that number onto the wanted nodes of the next one."""
        ways = self._ways[place]
        if isinstance(ways, dict):
            near = [node for node, far in ways.items() if not wanted.isdisjoint(far)]
            return [(row, node, far) for node in near for row, far in self.steps.rows(node) if far in wanted]
        mark = np.zeros(self.steps.columns.nodes, np.bool_)
        mark[as_nodes(wanted)] = True
        found: list[Step] = []
        for rows, far, leaving in ways:
            kept = mark.take(far).nonzero()[0]
            onto, columns = rows.take(kept), self.steps.columns
            near = (columns.subject if leaving else columns.object).take(onto)
            found += zip(onto.tolist(), near.tolist(), far.take(kept).tolist(), strict=True)
        return found

    def _few(self) -> list[int]:
        near, found = self.steps.near, dict[int, None]()
        if self._keep:
            ways: dict[int, dict[int, None]] = {node: {} for node in self.level}
            for node, far in ways.items():
                near(node, far)
            self._ways.append(ways)
            found = dict.fromkeys(chain.from_iterable(ways.values()))
        else:
            for node in self.level:
                near(node, found)
        return self._fresh(found)

    def _fresh(self, found: dict[int, None]) -> list[int]:
        seen = self._seen
        for old in seen.intersection(found):
            del found[old]
        seen.update(found)
        return list(found)

    def _many(self) -> Nodes:
        nodes = self.steps.columns.nodes
        if self._mark is None:
            self._mark = np.zeros(nodes, np.bool_)
            self._mark[as_nodes(self._seen)] = True
            self.level = as_nodes(self.level)
            self._claim = np.empty(nodes, np.uint32)
        ways = self.steps.ways(self.level)
        if self._keep:
            self._ways.append(ways)
        far = ways[0].far if len(ways) == 1 else np.concatenate([_NOTHING, *(each.far for each in ways)])
        far = far.take((~self._mark.take(far)).nonzero()[0])
        turns = np.arange(len(far), dtype=np.uint32)
        self._claim[far] = turns  # the last one to claim a node has it
        fresh: Nodes = far.take((self._claim.take(far) == turns).nonzero()[0]).astype(np.intp)
        self._mark[fresh] = True
        return fresh
