"""The edges of a view as columns of numbers, and as a graph of networkx."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from semgraph.collecting import uncollected
from semgraph.instants import NEG_INF, POS_INF
from semgraph.walk.cut import times_of
from semgraph.walk.edges import confidences_of
from semgraph.walk.later import Later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray

    from semgraph.index.starts import Found
    from semgraph.model import Entity
    from semgraph.reader import Reader, Reading
    from semgraph.walk.cut import Cut

__all__ = ["EdgeColumns", "edge_columns", "filled_graph"]

_CHUNK = 5_000  # facts made at a time
_ALL = 10**9  # look-ups that reading everything one by one would take: more than any graph is worth


class EdgeColumns:
    """Edges as numpy columns of one length: the positive facts between entities that hold in a view.

    `subject` and `object` are places in `entities`, `predicate` is one in `predicates`. `valid_from` and `valid_to` are
    microseconds since 1970; the least int64 stands for no beginning, the greatest for no end. Each is read when first
    asked for, as it was known when the edges were found; so are `entities`, `confidence` and `fact_id`.
    """

    def __init__(
        self, found: Found, numbers: Callable[[], Sequence[int]], predicates: Sequence[str], cut: Cut, later: Later
    ) -> None:
        self.predicates = tuple(predicates)
        self._found = found
        self._numbered = numbers
        self._cut = cut
        self._later = later

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<EdgeColumns: {len(self)} edges>"

    @cached_property
    def subject(self) -> NDArray[Any]:
        """Where each edge begins, as a place in `entities`."""
        return self._found.column(0)

    @cached_property
    def predicate(self) -> NDArray[Any]:
        """What each edge says, as a place in `predicates`."""
        return self._found.column(1)

    @cached_property
    def object(self) -> NDArray[Any]:
        """Where each edge ends, as a place in `entities`."""
        return self._found.column(2)

    @cached_property
    def valid_from(self) -> NDArray[np.int64]:
        """Since when each edge holds."""
        return self._found.column(3)

    @cached_property
    def valid_to(self) -> NDArray[np.int64]:
        """Until when each edge holds."""
        return self._found.column(4)

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return self._numbered()

    @cached_property
    def entities(self) -> list[Entity]:
        """The entities by their place, some of which no edge of the view may touch."""
        with self._later.reading() as reader:
            reader.directory.prefetch_labels(self._numbers)
            return [reader.directory.entity(number, self._cut.instant) for number in self._numbers]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """How sure each fact is, as of the view's instant."""
        return self._details[0]

    @property
    def fact_id(self) -> list[str]:
        """The id of each fact."""
        return self._details[1]

    @cached_property
    def _details(self) -> tuple[NDArray[np.float64], list[str]]:
        """Confidences and ids, put in order by what the columns know of a fact too."""
        import numpy as np

        places = {number: place for place, number in enumerate(self._numbers)}
        codes = {name: code for code, name in enumerate(self.predicates)}
        keys: list[tuple[int, int, int]] = []
        ids: list[str] = []
        confidence: list[float] = []
        with self._later.reading() as reader:
            for readings in _chunked(reader, self._cut):
                keys += [(places[r.row.subject], codes[r.row.predicate], r.row.valid_from) for r in readings]
                ids += [r.row.id for r in readings]
                confidence += confidences_of(reader, readings, self._cut.instant)
        mine = np.lexsort((self.valid_from, self.predicate, self.subject))
        theirs = np.lexsort(np.array(keys, np.int64).reshape(-1, 3).T[::-1])
        source = np.empty(len(mine), np.intp)
        source[mine] = theirs
        return np.array(confidence)[source], [ids[place] for place in source.tolist()]


def edge_columns(reader: Reader, cut: Cut) -> EdgeColumns:
    """The edges of a cut: from the columns in memory where these are the latest beliefs, else from the store."""
    columns = reader.session.columns(reads=_ALL) if reader.snapshot.known_at == POS_INF else None
    if columns is None:
        return _from_store(reader, cut)
    from semgraph.index.starts import Starts

    base, added = columns.entities, columns.added
    found = Starts.of(columns).at(times_of(cut))
    return EdgeColumns(found, lambda: [*base.tolist(), *added], columns.predicates, cut, Later.of(reader))


def _from_store(reader: Reader, cut: Cut) -> EdgeColumns:
    import numpy as np

    from semgraph.index.starts import Found

    places: dict[int, int] = {}
    codes: dict[str, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    for readings in _chunked(reader, cut):
        for row in (reading.row for reading in readings):
            near = places.setdefault(row.subject, len(places))
            far = places.setdefault(int(row.object[1:]), len(places))
            code = codes.setdefault(row.predicate, len(codes))
            rows.append((near, code, far, row.valid_from, row.valid_to))
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    found = Found(list(columns), np.arange(len(rows)), None)
    return EdgeColumns(found, lambda: list(places), list(codes), cut, Later.of(reader))


def _chunked(reader: Reader, cut: Cut) -> Iterator[list[Reading]]:
    """The edges of a cut in key order, some at a time."""
    where: dict[str, Any] = {"object__ge": "e", "object__lt": "f", "negative": 0} | cut.conditions()
    rows = reader.rows(**where)
    rows.sort(key=lambda row: (row.subject, row.predicate, row.valid_from, row.id))
    for first in range(0, len(rows), _CHUNK):
        readings = (reader.reading(row, row.predicate)[0] for row in rows[first : first + _CHUNK])
        yield [reading for reading in readings if cut.holds(reading)]


def filled_graph(edges: EdgeColumns) -> nx.MultiDiGraph[str]:
    """The graph of the edges: its dictionaries are filled directly, which is what makes it fast."""
    import networkx as nx
    import numpy as np

    graph: Any = nx.MultiDiGraph()
    ahead, behind, nodes = graph._succ, graph._pred, graph._node  # noqa: SLF001 - add_edge takes three times as long
    touched = np.unique(np.concatenate([edges.subject, edges.object])).tolist()
    entities = edges.entities
    names = _names([entities[place] for place in touched])
    leaving: dict[int, Any] = {}
    entering: dict[int, Any] = {}
    for place, name in zip(touched, names, strict=True):
        nodes[name] = {"id": entities[place].id, "label": entities[place].label}
        leaving[place], entering[place] = ahead.setdefault(name, {}), behind.setdefault(name, {})
    name_of = dict(zip(touched, names, strict=True))
    with uncollected():
        for near, far, predicate, start, end in _rows(edges):
            other = name_of[far]
            held = leaving[near].get(other)
            if held is None:
                held = leaving[near][other] = entering[far][name_of[near]] = {}
            key = predicate if predicate not in held else _free(held, predicate)
            held[key] = {"predicate": predicate, "valid_from_us": start, "valid_to_us": end}
    made: nx.MultiDiGraph[str] = graph
    return made


def _rows(edges: EdgeColumns) -> Iterable[tuple[int, int, str, int | None, int | None]]:
    predicates = edges.predicates
    start: list[int | None] = edges.valid_from.tolist()
    end: list[int | None] = edges.valid_to.tolist()
    start = [None if at == NEG_INF else at for at in start]
    end = [None if at == POS_INF else at for at in end]
    named = [predicates[code] for code in edges.predicate.tolist()]
    return zip(edges.subject.tolist(), edges.object.tolist(), named, start, end, strict=True)


def _names(entities: Sequence[Entity]) -> list[str]:
    """A label for each entity; those that share one have their id beside it."""
    count: dict[str, int] = {}
    for entity in entities:
        count[entity.label] = count.get(entity.label, 0) + 1
    return [entity.label if count[entity.label] == 1 else f"{entity.label} ({entity.id})" for entity in entities]


def _free(held: dict[str, Any], predicate: str) -> str:
    """A key for one more fact of the same subject, predicate and object."""
    turn = 2
    while f"{predicate}#{turn}" in held:
        turn += 1
    return f"{predicate}#{turn}"
