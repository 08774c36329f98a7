"""What walks give: entities that are near, ways between them, and rows of a pattern match."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from semgraph.model import Entity, Fact, Literal
    from semgraph.temporal import Bound

    Told = tuple[tuple[Fact, ...], "Span | None", Bound | None]  # facts, interval and arrival of a path

__all__ = ["Bounded", "Connecting", "Neighbor", "Path", "Row", "Span"]


T = TypeVar("T")


class Bounded(list[T]):
    """A list that says whether a bound was hit: where `.truncated` is true, there is more than what it holds.

    What it holds, and whether there is more, may be made out when first asked for; its length is known before that.
    """

    __slots__ = ("_making", "_size", "_truncated")

    _making: Callable[[], Iterable[T]] | None
    _size: int
    _truncated: bool | Callable[[], bool]

    def __new__(cls, *_: object, **__: object) -> Self:
        """An empty one; what is copied or read from a pickle is filled before anything else is set."""
        made = super().__new__(cls)
        made._making, made._size, made._truncated = None, 0, False
        return made

    def __init__(self, items: Iterable[T] = (), *, truncated: bool | Callable[[], bool] = False) -> None:
        super().__init__(items)
        self._truncated = truncated

    @classmethod
    def later(cls, making: Callable[[], Iterable[T]], size: int, *, truncated: bool) -> Self:
        """A list of so many items that are made when something else than their number is wanted."""
        found = super().__new__(cls)
        found._making, found._size, found._truncated = making, size, truncated
        return found

    @property
    def truncated(self) -> bool:
        """Whether there is more than this."""
        if not isinstance(self._truncated, bool):
            self._truncated = self._truncated()
        return self._truncated

    def __len__(self) -> int:
        return super().__len__() if self._making is None else self._size

    def __radd__(self, other: list[T]) -> list[T]:
        return [*other, *self] if isinstance(other, list) else NotImplemented

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For a copy, which knows all that is to be known."""
        self._truncated = self.truncated
        if self._making is not None:
            self._fill()
        return super().__reduce_ex__(protocol)

    def _fill(self) -> None:
        making = self._making
        items = [] if making is None else list(making())
        if self._making is not None:  # two threads that look at once put the same into it
            list.__setitem__(self, slice(None), items)
            self._making = None


def _filled_first(name: str) -> Callable[..., Any]:
    plain = getattr(list, name)

    @wraps(plain)
    def method(self: Bounded[Any], *args: Any, **more: Any) -> Any:
        if self._making is not None:
            self._fill()
        return plain(self, *args, **more)

    return method


_OF_ITEMS = (
    "__iter__ __reversed__ __getitem__ __setitem__ __delitem__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "__add__ __iadd__ __mul__ __rmul__ __imul__ __repr__ __sizeof__ "
    "append clear copy count extend index insert pop remove reverse sort"
)
for _name in _OF_ITEMS.split():
    setattr(Bounded, _name, _filled_first(_name))


class Connecting(Protocol):
    """Where a neighbour finds the facts that connect it."""

    def facts(self, number: int, distance: int) -> tuple[Fact, ...]:
        """The facts that connect an entity at a distance."""


class Neighbor:
    """An entity at a hop distance, and the facts that connect it with those one hop nearer.

    The facts are read when first asked for, as they were known when the neighbour was found.
    """

    __slots__ = ("_distance", "_entity", "_facts")
    __match_args__ = ("entity", "distance", "facts")

    def __init__(self, entity: Entity, distance: int, facts: tuple[Fact, ...] | Connecting) -> None:
        self._entity = entity
        self._distance = distance
        self._facts = facts

    @property
    def entity(self) -> Entity:
        """The entity."""
        return self._entity

    @property
    def distance(self) -> int:
        """How many hops away it is."""
        return self._distance

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that connect it with those one hop nearer."""
        if not isinstance(self._facts, tuple):
            self._facts = self._facts.facts(int(self._entity.id[1:], 16), self._distance)
        return self._facts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Neighbor):
            return NotImplemented
        mine, theirs = (self._entity, self._distance), (other._entity, other._distance)
        return mine == theirs and self.facts == other.facts

    def __hash__(self) -> int:
        return hash((self._entity, self._distance))

    def __repr__(self) -> str:
        return f"<Neighbor {self}>"

    def __str__(self) -> str:
        return f"{self.entity} ({self.distance} hop{'s' if self.distance > 1 else ''})"


Span = tuple["Bound | None", "Bound | None"]  # from and to of an interval; None is open


class Path:
    """A way from one entity to another, a fact per step.

    `interval` is the time in which all the facts hold together, clipped to the window of the view; a chronological
    path has none, but an `arrival`: the earliest moment at which what set out from the source can have come through.
    Facts and times are read when first asked for, as they were known when the path was found.
    """

    __slots__ = ("_confidence", "_entities", "_told")
    __match_args__ = ("entities", "facts", "interval", "arrival", "confidence")

    def __init__(self, entities: tuple[Entity, ...], confidence: float, told: Told | Callable[[], Told]) -> None:
        self._entities = entities
        self._confidence = confidence
        self._told = told

    def _read(self) -> Told:
        if not isinstance(self._told, tuple):
            self._told = self._told()
        return self._told

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities on the way, both ends among them."""
        return self._entities

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that are walked, in order."""
        return self._read()[0]

    @property
    def interval(self) -> Span | None:
        """The time in which all of them hold together."""
        return self._read()[1]

    @property
    def arrival(self) -> Bound | None:
        """The earliest moment of arrival, of a chronological path."""
        return self._read()[2]

    @property
    def confidence(self) -> float:
        """The product of the confidences of the facts."""
        return self._confidence

    def __len__(self) -> int:
        return len(self._entities) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return (self._entities, self._confidence) == (other._entities, other._confidence) and (
            self._read() == other._read()
        )

    def __hash__(self) -> int:
        return hash((self._entities, self._confidence))

    def __repr__(self) -> str:
        return f"<Path {self}>"

    def __str__(self) -> str:
        steps = ", ".join(f"{fact.label} ({_dated(fact)}; {', '.join(fact.sources)})" for fact in self.facts)
        if self.arrival is not None:
            return f"{steps}; arriving {_moment(self.arrival)}"
        if self.interval is None or len(self) == 1:
            return steps
        return f"{steps}; together {_period(*self.interval)}"


class Row(Mapping[str, "Entity | Literal"]):
    """What a pattern match bound each variable to, keys without the question mark.

    `interval` is the whole time in which it holds, as far as the facts say; `facts` are what it rests on.
    """

    __slots__ = ("_values", "facts", "interval")

    def __init__(self, values: Mapping[str, Entity | Literal], interval: Span, facts: Iterable[Fact]) -> None:
        self._values = dict(values)
        self.interval = interval
        self.facts = tuple(facts)

    def __getitem__(self, name: str) -> Entity | Literal:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return (self._values, self.interval) == (other._values, other.interval)
        return self._values == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        shown = ", ".join(f"{name}: {value}" for name, value in self._values.items())
        return f"{shown or 'yes'} ({_period(*self.interval)})"

    def __repr__(self) -> str:
        return f"<Row {self}>"


def _moment(bound: Bound) -> str:
    return "at any time" if bound.precision == "always" else str(bound)


def _period(start: Bound | None, end: Bound | None) -> str:
    since = "" if start is None or start.precision in ("always", "unknown") else f"since {start}"
    if end is None:
        return since or "always"
    return f"from {start} until {end}" if since else f"until {end}"


def _dated(fact: Fact) -> str:
    return _period(fact.valid_from, fact.valid_to)
