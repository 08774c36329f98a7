"""The edges of one view from the columns in memory: what `Edges` reads from the store, with facts left for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.index.marks import DISPUTED, NEGATIVE
from semgraph.index.meeting import shortest_length
from semgraph.walk.edges import Edge, canonical, confidences_of
from semgraph.walk.shortest import shortest_walks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from semgraph.index.meeting import Step
    from semgraph.index.steps import Looks, Steps
    from semgraph.reader import Reader, Reading
    from semgraph.store.schema import FactRow
    from semgraph.walk.cut import Cut
    from semgraph.walk.edges import Direction
    from semgraph.walk.naming import Named
    from semgraph.walk.quick import Quick
    from semgraph.walk.shortest import Shortest

__all__ = ["MemoryEdges", "Trace", "traced"]

_MILLION: Final = 1_000_000


class Trace(NamedTuple):
    """Where the store has the fact of an edge: its fluent, start and object, and which of those it is."""

    subject: int
    predicate: str
    start: int
    object: int
    turn: int
    near: int

    def reading(self, reader: Reader) -> Reading:
        """The fact as it is read on the way."""
        rows = reader.rows(
            subject=self.subject, predicate=self.predicate, valid_from=self.start, object=f"e{self.object}"
        )
        row = sorted((row for row in rows if not row.negative), key=lambda row: row.id)[self.turn]
        turned = self.near != row.subject and reader.snapshot.predicate(row.predicate).symmetric
        return reader.reading(row, row.predicate, turned=turned)[0]


def traced(looks: Looks, row: int, near: int) -> Trace:
    """Where to find the fact of a row later, read from an entity."""
    columns, start, far = looks.columns, looks.start[row], looks.object[row]
    subject, predicate = columns.entity(looks.subject[row]), columns.predicates[looks.predicate[row]]
    rows, turn = columns.rows(subject, predicate), 0
    if len(rows) > 1:
        same = (other for other in rows if looks.start[other] == start and looks.object[other] == far)
        turn = [other for other in same if not looks.flags[other] & NEGATIVE].index(row)
    return Trace(subject, predicate, start, columns.entity(far), turn, near)


class MemoryEdges:
    """Steps through the columns as edges, up to a number of them; `.truncated` says that there were more."""

    def __init__(
        self,
        reader: Reader,
        quick: Quick,
        cut: Cut,
        direction: Direction,
        predicates: tuple[str, ...] | None,
        budget: int,
    ) -> None:
        self.reader = reader
        self.cut = cut
        self.left = budget
        self.truncated = False
        chosen = quick.chosen(direction, predicates)
        if chosen is None:
            wanted = None if predicates is None else canonical(reader, predicates)
            chosen = quick.learn_chosen(reader, direction, predicates, wanted)
        self.steps = quick.steps(cut, chosen)
        self._columns = quick.columns
        self._quick = quick

    def leaving(self, nodes: Sequence[int]) -> list[Edge]:
        """The edges that lead away from the entities."""
        return self._read(self.steps, nodes, back=False)

    def entering(self, nodes: Sequence[int]) -> list[Edge]:
        """The edges that lead to the entities."""
        return self._read(self.steps.turned(), nodes, back=True)

    def degree(self, nodes: Sequence[int], *, entering: bool) -> int:
        """How many rows the edges at the entities take to look at."""
        steps = self.steps.turned() if entering else self.steps
        return steps.cost([self._columns.node(number) for number in nodes])

    def shortest(self, source: int, target: int, longest: int, most: int) -> Shortest | None:
        """The best of the shortest paths at the instant; None where an end has no edges."""
        ends = self._columns.node(source), self._columns.node(target)
        if min(ends) < 0:
            return None

        def names(nodes: Sequence[int]) -> Sequence[Named] | None:
            return self._quick.names.called(nodes, self.cut.instant, self.reader)

        def weights(steps: Sequence[Step]) -> Mapping[int, int]:
            weight = self.confidences([self.edge(*step) for step in steps])
            return {place[3]: confidence for place, confidence in weight.items()}

        return shortest_walks(self.steps, *ends, longest=longest, most=most, names=names, weights=weights)

    def length(self, source: int, target: int, longest: int) -> int | None:
        """How many steps the shortest paths at the instant take; None where there is none of at most `longest`."""
        ends = self._columns.node(source), self._columns.node(target)
        return None if min(ends) < 0 else shortest_length(self.steps, *ends, longest)

    def edge(self, row: int, near: int, far: int) -> Edge:
        """The edge that a row makes from one node to another."""
        looks, columns = self.steps.looks, self._columns
        start, entity = looks.start[row], columns.entity
        place = (start, columns.predicates[looks.predicate[row]], entity(looks.subject[row]), row)
        return Edge(entity(near), entity(far), start, looks.end[row], place, None)

    def confidences(self, edges: Iterable[Edge]) -> dict[Any, int]:
        """The confidence of each edge's fact in millionths, by what tells it apart."""
        listed = list(edges)
        flags, instant = self._columns.flags, self.cut.instant
        disputed = [edge for edge in listed if instant is not None and flags[_row(edge)] & DISPUTED]
        found = dict.fromkeys((edge.place for edge in disputed), 0)
        plain = [edge for edge in listed if edge.place not in found]
        weight = self._quick.weights(self.reader, [_row(edge) for edge in plain])
        found = {edge.place: weight[_row(edge)] for edge in plain}
        for edge, confidence in zip(
            disputed, confidences_of(self.reader, self.readings(disputed), instant), strict=True
        ):
            found[edge.place] = round(confidence * _MILLION)
        return found

    def traced(self, edges: Sequence[Edge]) -> list[Trace]:
        """Where to find the facts of edges later."""
        return [traced(self.steps.looks, _row(edge), edge.near) for edge in edges]

    def readings(self, edges: Sequence[Edge]) -> list[Reading]:
        """The facts of edges as they are read on the way, from the store."""
        rows = self._quick.stored(self.reader, [_row(edge) for edge in edges])
        return [self._reading(edge, rows[_row(edge)]) for edge in edges]

    def _reading(self, edge: Edge, row: FactRow) -> Reading:
        symmetric = self.reader.snapshot.predicate(row.predicate).symmetric
        return self.reader.reading(row, row.predicate, turned=symmetric and edge.near != row.subject)[0]

    def _read(self, steps: Steps, numbers: Collection[int], *, back: bool) -> list[Edge]:
        found: list[Edge] = []
        for number in numbers:
            node = self._columns.node(number)
            if node < 0:
                continue
            rows = steps.rows(node)
            if len(rows) > self.left:
                self.truncated = True
                rows = rows[: self.left]
            self.left -= len(rows)
            found += [self.edge(row, *((far, node) if back else (node, far))) for row, far in rows]
        return found


def _row(edge: Edge) -> int:
    return int(edge.place[3])
