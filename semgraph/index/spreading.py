"""Nodes by hop distance, breadth first over the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.steps import as_nodes

if TYPE_CHECKING:
    from semgraph.index.steps import Nodes, Steps

__all__ = ["FEW", "Spread"]

FEW: Final = 256  # rows that are looked at one by one


class Spread:
    """Levels of a breadth-first walk, asked for one at a time."""

    def __init__(self, steps: Steps, start: int) -> None:
        self.steps = steps
        self.level: Any = [start]
        self.costs: list[int] = []  # of the levels before
        self._cost = -1
        self._seen: set[int] = {start}
        self._mark: Any = None  # in place of the set once there were many

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
        self.costs.append(self.cost)
        self.level = self._many() if many else self._few()
        self._cost = -1
        return self.level

    def among(self, nodes: Any) -> set[int]:
        """Which of the nodes were come upon so far."""
        if self._mark is None:
            return self._seen.intersection(nodes.tolist() if isinstance(nodes, np.ndarray) else nodes)
        other = nodes if isinstance(nodes, np.ndarray) else as_nodes(nodes)
        return set(other.take(self._mark.take(other).nonzero()[0]).tolist())

    def _few(self) -> list[int]:
        seen, near, found = self._seen, self.steps.near, dict[int, None]()
        for node in self.level:
            found.update(dict.fromkeys(near(node)))
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
        far = self.steps.reached(self.level)
        far = far.take((~self._mark.take(far)).nonzero()[0])
        turns = np.arange(len(far), dtype=np.uint32)
        self._claim[far] = turns  # the last one to claim a node has it
        fresh: Nodes = far.take((self._claim.take(far) == turns).nonzero()[0]).astype(np.intp)
        self._mark[fresh] = True
        return fresh
