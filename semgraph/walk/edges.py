"""The edges of one view, read from the store a frontier at a time: positive facts between two different entities.

Events, literals, negative facts and loops are no edges. A symmetric fact can be walked both ways in every direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from semgraph.errors import InputError
from semgraph.store.schema import FactRow
from semgraph.walk.cut import checked_choice

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from semgraph.reader import Reader, Reading
    from semgraph.walk.cut import Cut

__all__ = [
    "DIRECTIONS",
    "Direction",
    "Edge",
    "Edges",
    "canonical",
    "checked_names",
    "confidences_of",
    "entity_refs",
    "opposite_direction",
    "roughly",
]

Direction = Literal["out", "in", "any"]
DIRECTIONS: Final = get_args(Direction)

_BACK: dict[str, Direction] = {"out": "in", "in": "out", "any": "any"}
_CHUNK = 500  # entities asked for at a time
_ENDS = frozenset({"subject", "predicate", "object"})
_MILLION = 1_000_000


class Edge(NamedTuple):
    """A step from one entity to another by a fact that holds from `start` until `end`.

    `place` puts the facts of one start in a fixed order and tells each apart; the reading is None where it is left for
    later.
    """

    near: int
    far: int
    start: int
    end: int
    place: tuple[int, str, int, Any]
    reading: Reading | None


def opposite_direction(direction: Direction) -> Direction:
    """The direction in which the same edges are walked the other way."""
    return _BACK[direction]


def entity_refs(numbers: Iterable[int]) -> list[str]:
    """Entities as objects refer to them."""
    return [f"e{number}" for number in numbers]


class Edges:
    """Reads the edges at given entities, up to a number of rows; `.truncated` says that there were more."""

    def __init__(
        self, reader: Reader, cut: Cut, direction: Direction, predicates: Collection[str] | None, budget: int
    ) -> None:
        checked_choice("direction", direction, DIRECTIONS)
        self.reader = reader
        self.cut = cut
        self.direction = direction
        self.left = budget
        self.truncated = False
        registry = reader.snapshot.registry
        self._wanted = None if predicates is None else canonical(reader, checked_names(predicates) or ())
        names = registry if self._wanted is None else self._wanted
        self._symmetric = sorted({name for name in names if reader.snapshot.predicate(name).symmetric})

    def leaving(self, nodes: Sequence[int], direction: Direction | None = None) -> list[Edge]:
        """The edges that lead away from the entities, each (fact, from, to) once, in the order of the store."""
        direction = direction or self.direction
        found: dict[tuple[str, int], Edge] = {}
        for at in range(0, len(nodes), _CHUNK):
            chunk = nodes[at : at + _CHUNK]
            for turned in (False, True):
                for row in self._rows(chunk, direction, turned=turned):
                    edge = self._edge(row, turned=turned)
                    if edge is not None:
                        found.setdefault((row.id, edge.near), edge)
        return list(found.values())

    def entering(self, nodes: Sequence[int]) -> list[Edge]:
        """The edges that lead to the entities, in the direction of the walk."""
        back = self.leaving(nodes, opposite_direction(self.direction))
        return [self._as_walked(edge) for edge in back]

    def degree(self, nodes: Sequence[int], *, entering: bool) -> int:
        """About how many rows the edges at the entities take to read; of very many entities only that it is more."""
        if len(nodes) > _CHUNK:
            return len(nodes)
        direction = opposite_direction(self.direction) if entering else self.direction
        asked = (self._where(nodes, direction, turned=turned) for turned in (False, True))
        return sum(roughly(self.reader, where) for where in asked if where is not None)

    def confidences(self, edges: Iterable[Edge]) -> dict[Any, int]:
        """The confidence of each edge's fact in millionths, by its place: whole, so that products are exact."""
        listed = list(edges)
        found = confidences_of(self.reader, self.readings(listed), self.cut.instant)
        return {edge.place: round(each * _MILLION) for edge, each in zip(listed, found, strict=True)}

    def readings(self, edges: Sequence[Edge]) -> list[Reading]:
        """The facts of edges as they are read on the way."""
        return [edge.reading for edge in edges if edge.reading is not None]

    def _rows(self, nodes: Sequence[int], direction: Direction, *, turned: bool) -> list[FactRow]:
        where = self._where(nodes, direction, turned=turned)
        if where is None or self.truncated:
            return []
        rows = self.reader.rows(limit=self.left + 1, **where)
        if len(rows) > self.left:
            self.truncated = True
            rows = rows[: self.left]
        self.left -= len(rows)
        return rows

    def _where(self, nodes: Sequence[int], direction: Direction, *, turned: bool) -> dict[str, Any] | None:
        """What rows to ask for to step from their subject (turned: their object); None for none at all."""
        names = self._wanted
        if direction == ("out" if turned else "in"):
            names = self._symmetric
        if names is not None and not names:
            return None
        where: dict[str, Any] = {"object": entity_refs(nodes)}
        if not turned:
            where = {"subject": list(nodes), "object__ge": "e", "object__lt": "f"}
        return where | ({} if names is None else {"predicate": names}) | {"negative": 0} | self.cut.conditions()

    def _edge(self, row: FactRow, *, turned: bool) -> Edge | None:
        entry = self.reader.snapshot.predicate(row.predicate)
        if entry.event or not row.object.startswith("e") or row.object == f"e{row.subject}":
            return None
        # Only what reads the same from both ends is shown turned round; other facts keep their own direction.
        reading = self.reader.reading(row, row.predicate, turned=turned and entry.symmetric)[0]
        if not self.cut.holds(reading):
            return None
        near, far = row.subject, int(row.object[1:])
        if turned:
            near, far = far, near
        place = (row.valid_from, row.predicate, row.subject, row.id)
        return Edge(near, far, row.valid_from, row.valid_to, place, reading)

    def _as_walked(self, edge: Edge) -> Edge:
        reading = edge.reading
        if reading is not None and self.reader.snapshot.predicate(reading.row.predicate).symmetric:
            reading = reading.turned_round()
        return edge._replace(near=edge.far, far=edge.near, reading=reading)


def confidences_of(reader: Reader, readings: Sequence[Reading], instant: int | None) -> list[float]:
    """How sure each fact is, as of an instant: of one in conflict then less than its base."""
    found = [reading.body.base for reading in readings]
    if instant is None:
        return found
    disputed = [
        at
        for at, reading in enumerate(readings)
        if any(since <= instant < until for _, since, until, _ in reading.body.rivals)
    ]
    facts = reader.facts([readings[at] for at in disputed], instant)
    for at, fact in zip(disputed, facts, strict=True):
        found[at] = fact.confidence
    return found


def roughly(reader: Reader, where: Mapping[str, Any]) -> int:
    """About how many facts meet the conditions: of any sign and time, so that none has to be looked at."""
    ends = {keyword: value for keyword, value in where.items() if keyword.partition("__")[0] in _ENDS}
    return reader.ledger.store.count(FactRow, reader.ledger.scope, **ends)


def checked_names(predicates: Collection[str] | None) -> tuple[str, ...] | None:
    """The names of predicates, or InputError where they are no list of names."""
    if predicates is None:
        return None
    if isinstance(predicates, str) or not hasattr(predicates, "__iter__"):
        raise InputError(f"predicates is a list of names, not {predicates!r}; write [{predicates!r}]")
    names = tuple(predicates)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise InputError(f"the name of a predicate is a text, not {wrong[0]!r}")
    return names


def canonical(reader: Reader, predicates: Collection[str]) -> list[str]:
    """The stored predicates behind the names; an opposite reads only what is negative, which is no edge."""
    resolved = [reader.snapshot.registry.resolve(name) for name in predicates]
    return sorted({found.predicate.name for found in resolved if not found.flipped})
