"""The facts by which the entities of a walk hang together, read when somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.walk.edges import Edges

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semgraph.model import Fact
    from semgraph.walk.cut import Cut
    from semgraph.walk.edges import Direction, Edge
    from semgraph.walk.later import Later

    Facts = tuple[Fact, ...]

__all__ = ["Connections", "Delayed"]

_ROWS = 1_000_000  # facts that are looked at to find those of one level
_TOGETHER = 64  # entities whose facts are made at a time


class Delayed:
    """The connections of a walk that are made when the first of their facts are asked for."""

    __slots__ = ("_made",)

    def __init__(self, making: Callable[[], Connections]) -> None:
        self._made: Connections | Callable[[], Connections] = making

    def facts(self, number: int, distance: int) -> Facts:
        """The facts of an entity of a level, by start, label and id."""
        made = self._made
        if not isinstance(made, Connections):
            made = self._made = made()
        return made.facts(number, distance)


class Connections:
    """For each entity of a level, the facts that connect it with the level before, as they were known at the walk."""

    def __init__(
        self,
        later: Later,
        cut: Cut,
        direction: Direction,
        predicates: tuple[str, ...] | None,
        levels: Callable[[], Sequence[Sequence[int]]],
        edges: Mapping[int, list[Edge]] | None = None,
    ) -> None:
        self._later = later
        self._cut = cut
        self._direction = direction
        self._predicates = predicates
        self._numbers = levels
        self._levels: list[dict[int, int]] = []  # places in each level, by entity
        self._edges: dict[int, list[Edge]] = dict(edges or {})
        self._facts: dict[int, Facts] = {}

    def facts(self, number: int, distance: int) -> Facts:
        """The facts of an entity of a level, by start, label and id."""
        if number not in self._facts:
            self._read(number, distance)
        return self._facts[number]

    def _read(self, number: int, distance: int) -> None:
        if not self._levels:
            self._levels = [{each: at for at, each in enumerate(level)} for level in self._numbers()]
        before, level = self._levels[distance - 1], self._levels[distance]
        place = level[number]
        together = list(level)[place : place + _TOGETHER]
        with self._later.reading() as reader:
            if missing := [each for each in together if each not in self._edges]:
                edges = Edges(reader, self._cut, self._direction, self._predicates, _ROWS)
                near, far = list(before), missing
                ahead = edges.degree(near, entering=False) <= edges.degree(far, entering=True)
                found = edges.leaving(near) if ahead else edges.entering(far)
                fresh: dict[int, list[Edge]] = {e: [] for e in (level if ahead else missing) if e not in self._edges}
                for edge in found:
                    if edge.near in before and edge.far in fresh:
                        fresh[edge.far].append(edge)
                self._edges |= fresh
            readings = [edge.reading for each in together for edge in self._edges[each] if edge.reading is not None]
            made = iter(reader.facts(readings, self._cut.instant))
        for each in together:
            own = [next(made) for _ in self._edges[each]]
            self._facts[each] = tuple(sorted(own, key=lambda fact: (fact.valid_from.instant, fact.label, fact.id)))
