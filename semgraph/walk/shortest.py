"""The shortest paths at one instant, best first, over the columns in memory.

Only the steps on some shortest walk are looked at, as rows and nodes; nothing is read from the store for them that was
read before. Of parallel facts the most confident one is walked.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.index.meeting import shortest_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from semgraph.index.meeting import Step
    from semgraph.index.steps import Steps
    from semgraph.walk.naming import Named

    Names = Callable[[Sequence[int]], Sequence[Named] | None]
    Weights = Callable[[Sequence[Step]], Mapping[int, int] | None]

__all__ = ["Shortest", "Walk", "shortest_walks"]

_PUSHES: Final = 200_000  # beginnings of paths that one call looks at


class Walk(NamedTuple):
    """A path by its nodes, as they are called, and rows; the product of the weights of these."""

    named: tuple[Named, ...]
    rows: tuple[int, ...]
    weight: int


class Shortest(NamedTuple):
    """The best of the paths of the least length; `cut` says that not all could be looked at."""

    length: int
    walks: list[Walk]
    cut: bool


def shortest_walks(
    steps: Steps, source: int, target: int, *, longest: int, most: int, names: Names, weights: Weights
) -> Shortest | None:
    """The `most` best shortest paths from one node to another; without length if none is at most `longest` steps.

    They come by falling weight, then by names. None where `names` or `weights` do not know all that they are asked for.
    """
    layers = shortest_steps(steps, source, target, longest)
    if layers is None:
        return Shortest(0, [], cut=False)
    weight = weights([step for layer in layers for step in layer])
    nodes = list({near for layer in layers for _, near, _ in layer})
    called = names([*nodes, target])
    if weight is None or called is None:
        return None
    search = _Search(steps, layers, target, weight, dict(zip([*nodes, target], called, strict=True)))
    walks = list(islice(search.walks(source), most))
    return Shortest(len(layers), walks, cut=search.left < 0)


class _Search:
    """Best first; its bound is the best weight that the steps left can have, so that no step is in vain."""

    def __init__(
        self,
        steps: Steps,
        layers: list[list[Step]],
        target: int,
        weight: Mapping[int, int],
        called: Mapping[int, Named],
    ) -> None:
        self.left = _PUSHES
        self._steps = steps
        self._weight = weight
        self._called = called
        self._best: list[dict[int, int]] = [{target: 1}]  # by the number of steps that are left
        self._onward: list[dict[int, dict[int, int]]] = []  # the row to each next node, likewise
        for layer in reversed(layers):
            self._weigh(layer)

    def _weigh(self, layer: list[Step]) -> None:
        weight, last = self._weight, self._best[-1]
        onward: dict[int, dict[int, int]] = defaultdict(dict)
        best: dict[int, int] = {}
        for row, near, far in layer:
            to, mine = onward[near], weight[row]
            other = to.get(far)
            if other is None or mine > weight[other] or (mine == weight[other] and self._rank(row) < self._rank(other)):
                to[far] = row
            bound = mine * last[far]
            if bound > best.get(near, -1):
                best[near] = bound
        self._onward.append(onward)
        self._best.append(best)

    def _rank(self, row: int) -> tuple[Any, ...]:
        """Of parallel facts of one weight the least is walked."""
        looks, columns = self._steps.looks, self._steps.columns
        subject, predicate = columns.entity(looks.subject[row]), columns.predicates[looks.predicate[row]]
        return looks.start[row], predicate, subject, row

    def walks(self, source: int) -> Iterator[Walk]:
        """The paths in order."""
        length, called, weight = len(self._onward), self._called, self._weight
        heap = [(-self._best[-1][source], (), (called[source],), source, (), 1)]
        while heap:
            _, names, named, node, rows, so_far = heapq.heappop(heap)
            left = length - len(rows)
            if left == 0:
                yield Walk(named, rows, so_far)
                continue
            onward, best = self._onward[left - 1][node], self._best[left - 1]
            self.left -= len(onward)
            if self.left < 0:
                return
            for far, row in onward.items():
                product, name = so_far * weight[row], called[far]
                entry: Any = (
                    -product * best[far],
                    (*names, (name.key, name.number)),
                    (*named, name),
                    far,
                    (*rows, row),
                    product,
                )
                heapq.heappush(heap, entry)
