"""Paths between two entities: at one instant, through one common moment, or one step after the other in time.

The edges are read from both ends, the cheaper side first. Of each length the paths are then taken in their final order
(confidence, names) by a best-first search whose bound is the best product of confidences that any walk of the steps
left can have; so ten paths of a clique cost ten paths, not all of them.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from semgraph.found import Bounded, Path
from semgraph.instants import POS_INF
from semgraph.temporal import exact
from semgraph.walk.cut import checked_choice, checked_count
from semgraph.walk.edges import DIRECTIONS, Direction, Edges, checked_names
from semgraph.walk.hops import EVERYTHING, PATIENCE, at_hand, present, quick_of
from semgraph.walk.later import Later

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from semgraph.found import Told
    from semgraph.index.steps import Chosen, Looks
    from semgraph.model import Entity
    from semgraph.reader import Reader, Reading
    from semgraph.session import Session
    from semgraph.temporal import Bound
    from semgraph.walk.cut import Cut
    from semgraph.walk.edges import Edge
    from semgraph.walk.memory import MemoryEdges, Trace
    from semgraph.walk.quick import Quick
    from semgraph.walk.shortest import Walk

    _Edges = Edges | MemoryEdges
    Name = str | Entity

__all__ = [
    "MAX_CUTOFF",
    "Asked",
    "Found",
    "Mode",
    "Routes",
    "learn_ends",
    "paths",
    "quick_paths",
    "sought",
    "taken_from",
]

Mode = Literal["snapshot", "overlap", "chronological"]

MAX_CUTOFF = 8
_ROWS = 25_000  # facts that one call reads at most
_MILLION = 1_000_000  # confidences are counted in parts of it
_STEPS = 200_000  # beginnings of paths that it looks at

_Names = tuple[tuple[str, int], ...]


class _Way(NamedTuple):
    """One choice of facts along a sequence of entities: the time left, and the product of their confidences.

    In time order, `start` is the earliest arrival and `end` means nothing.
    """

    start: int
    end: int
    weight: int
    edges: tuple[Edge, ...]


class _Graph:
    """The edges read so far, as steps from each entity to each next one."""

    def __init__(self, edges: _Edges, source: int, target: int) -> None:
        self.reader = edges.reader
        self.edges = edges
        self.steps: dict[int, dict[int, list[Edge]]] = {}
        self.weights: dict[Any, int] = {}
        self._known: set[tuple[Any, int]] = set()
        self._sides = ({source}, {target})
        self._frontiers = ([source], [target])
        self.levels = 0

    def deepen(self) -> None:
        """Read one level more, from the end where it takes fewer rows."""
        self.levels += 1
        forward, backward = self._frontiers
        if not forward or not backward:
            return  # one end has been read to its last edge, so there is no path that is not known yet
        cheap = self.edges.degree(forward, entering=False) <= self.edges.degree(backward, entering=True)
        side = 0 if cheap else 1
        found = self.edges.leaving(forward) if side == 0 else self.edges.entering(backward)
        self.keep(found)
        reached = dict.fromkeys(edge.far if side == 0 else edge.near for edge in found)
        fresh = [number for number in reached if number not in self._sides[side]]
        self._sides[side].update(fresh)
        self._frontiers[side][:] = fresh

    def keep(self, edges: Iterable[Edge]) -> None:
        """Take in edges."""
        for edge in edges:
            key = (edge.place, edge.near)
            if key not in self._known:
                self._known.add(key)
                self.steps.setdefault(edge.near, {}).setdefault(edge.far, []).append(edge)

    def weight(self, edge: Edge) -> int:
        return self.weights[edge.place]

    def bounds(self, source: int, target: int, length: int) -> list[dict[int, int]]:
        """For each number of steps left, the best product that a walk of so many steps to the target has.

        Of the nodes that are reached from the source in the steps that are not left; only what is on such a walk is
        weighed.
        """
        ahead = [{source}]
        for _ in range(length - 1):  # a path comes back to neither of its ends
            ahead.append({far for near in ahead[-1] for far in self.steps.get(near, ())} - {source, target})
        onward: list[dict[int, dict[int, list[Edge]]]] = []
        ends = {target}
        for left in range(1, length + 1):
            kept = {}
            for near in ahead[length - left]:
                steps = {far: edges for far, edges in self.steps.get(near, {}).items() if far in ends}
                if steps:
                    kept[near] = steps
            onward.append(kept)
            ends = kept.keys() | set()
        self._weigh(edge for kept in onward for steps in kept.values() for edges in steps.values() for edge in edges)
        out = [{target: 1}]
        for kept in onward:
            last = out[-1]
            out.append(
                {
                    near: max(last[far] * max(map(self.weight, edges)) for far, edges in steps.items())
                    for near, steps in kept.items()
                }
            )
        return out

    def _weigh(self, edges: Iterable[Edge]) -> None:
        unknown = {edge.place: edge for edge in edges if edge.place not in self.weights}
        self.weights |= self.edges.confidences(unknown.values())


class Routes(NamedTuple):
    """Which paths are asked for, whatever their ends."""

    mode: Mode
    cutoff: int
    limit: int
    direction: Direction
    predicates: tuple[str, ...] | None

    @classmethod
    def checked(
        cls, mode: Mode, cutoff: int, limit: int, direction: Direction, predicates: Collection[str] | None
    ) -> Routes:
        """The same, or InputError where it makes no sense."""
        checked_choice("mode", mode, get_args(Mode))
        checked_choice("direction", direction, DIRECTIONS)
        cutoff = checked_count("cutoff", cutoff, 1)
        return cls(mode, cutoff, checked_count("limit", limit, 0), direction, checked_names(predicates))


class Asked(NamedTuple):
    """The same with what is worked out of it."""

    cut: Cut
    mode: Mode
    source: int
    target: int
    longest: int
    limit: int

    @classmethod
    def of(cls, cut: Cut, source: int, target: int, routes: Routes) -> Asked:
        """What is asked for between two entities."""
        longest = min(routes.cutoff, MAX_CUTOFF) if source != target else 0
        return cls(cut, routes.mode, source, target, longest, routes.limit)


def paths(reader: Reader, cut: Cut, names: tuple[Name, Name], valid_at: int | None, routes: Routes) -> Bounded[Path]:
    """Up to `limit` simple paths of at most `cutoff` steps (never more than 8), the shortest first.

    Those of one length come by falling product of confidences, then by names. Every sequence of entities is there
    once; in mode overlap once for each common interval that no other of its intervals contains.
    """
    source, target = (reader.directory.known(name, reader.snapshot, valid_at) for name in names)
    found = _between(reader, cut, source, target, routes)
    learn_ends(reader, names, (source, target))
    return found


def learn_ends(reader: Reader, names: tuple[Name, Name], numbers: tuple[int, int]) -> None:
    """Let what the names mean be known in memory, where something is."""
    if (quick := quick_of(reader, reads=0)) is not None:
        for name, number in zip(names, numbers, strict=True):
            quick.learn_name(reader, name, number)


def _between(reader: Reader, cut: Cut, source: int, target: int, routes: Routes) -> Bounded[Path]:
    asked = Asked.of(cut, source, target, routes)
    edges, found = sought(reader, asked, routes)
    if not isinstance(edges, Edges) and asked.mode == "snapshot" and asked.longest:
        return _at_instant(reader, edges, asked, routes)
    taken, truncated = found or taken_from(edges, asked)
    made = [_path(reader, edges, cut, asked.mode, each) for each in taken[: asked.limit]]
    return Bounded(made, truncated=truncated)


def sought(
    reader: Reader, asked: Asked, routes: Routes
) -> tuple[MemoryEdges, None] | tuple[Edges, tuple[list[Found], bool]]:
    """The edges in memory; or those of the store with what `taken_from` finds there, while that is less work."""
    cut, direction, names = asked.cut, routes.direction, routes.predicates
    quick = quick_of(reader, reads=2 * asked.longest)
    if quick is None:
        edges = Edges(reader, cut, direction, names, PATIENCE)
        found = taken_from(edges, asked)
        if not edges.truncated:
            return edges, found
        quick = quick_of(reader, reads=EVERYTHING)
        if quick is None:
            edges = Edges(reader, cut, direction, names, _ROWS)
            return edges, taken_from(edges, asked)
    from semgraph.walk.memory import MemoryEdges

    return MemoryEdges(reader, quick, cut, direction, names, _ROWS), None


def _at_instant(reader: Reader, edges: MemoryEdges, asked: Asked, routes: Routes) -> Bounded[Path]:
    """The same at one instant from memory: the shortest ones are sought from both ends, and often they are enough."""
    cut, limit = asked.cut, asked.limit
    found = edges.shortest(asked.source, asked.target, asked.longest, limit + 1)
    if found is None:
        return Bounded()
    later = Later.of(reader)
    made = [_walk_path(edges.steps.looks, later, cut, walk) for walk in found.walks[:limit]]
    if found.cut or len(found.walks) > limit or found.length in (0, asked.longest):
        return Bounded(made, truncated=found.cut or len(found.walks) > limit)
    if len(made) == limit:
        more = partial(_more, later, cut, (asked.source, asked.target), routes)
        return Bounded(made, truncated=more)
    rest, truncated = taken_from(edges, asked._replace(limit=limit - len(made)), found.length + 1)
    made += [_path(reader, edges, cut, "snapshot", each) for each in rest[: limit - len(made)]]
    return Bounded(made, truncated=truncated)


def quick_paths(
    session: Session, cut: Cut | None, source: object, target: object, known_at: int, routes: Routes
) -> Bounded[Path] | None:
    """The paths at an instant without a transaction, where the best of the shortest ones are all that is asked for.

    None where they are not, or where something has to be read from the store.
    """
    if routes.mode != "snapshot":
        return None
    index = session.indexes.get(session.scope)
    if index is None or index.columns is None:
        return None
    revision = session.store.revision()
    with index.lock:
        quick = at_hand(index, revision, known_at)
        if quick is None:
            return None
        near, far, chosen = quick.node(session, source), quick.node(session, target), quick.chosen(*routes[3:])
        if near is None or far is None or chosen is None:
            return None
        if near == far or min(near, far) < 0:
            return Bounded()
        known = index.known
        return _quick_walk(quick, near, far, cut or present(session, known), chosen, Later(session, known), routes)


def _quick_walk(
    quick: Quick, near: int, far: int, cut: Cut, chosen: Chosen, later: Later, routes: Routes
) -> Bounded[Path] | None:
    from semgraph.walk.shortest import shortest_walks

    longest, limit = min(routes.cutoff, MAX_CUTOFF), routes.limit
    found = shortest_walks(
        quick.steps(cut, chosen),
        near,
        far,
        longest=longest,
        most=limit + 1,
        names=lambda nodes: quick.names.called(nodes, cut.instant),
        weights=quick.weights_at_hand,
    )
    if found is None or (found.length and len(found.walks) < limit and found.length < longest):
        return None
    truncated: bool | Callable[[], bool] = found.cut or len(found.walks) > limit
    if not truncated and found.length not in (0, longest):
        ends = (quick.columns.entity(near), quick.columns.entity(far))
        truncated = partial(_more, later, cut, ends, routes)
    made = [_walk_path(quick.looks, later, cut, walk) for walk in found.walks[:limit]]
    return Bounded(made, truncated=truncated)


def _more(later: Later, cut: Cut, ends: tuple[int, int], routes: Routes) -> bool:
    """Whether there are more paths than were asked for."""
    with later.reading() as reader:
        found = _between(reader, cut, *ends, routes._replace(limit=routes.limit + 1))
        return len(found) > routes.limit or found.truncated


def _walk_path(looks: Looks, later: Later, cut: Cut, walk: Walk) -> Path:
    from semgraph.walk.memory import traced

    traces = [traced(looks, row, name.number) for row, name in zip(walk.rows, walk.named, strict=False)]
    start, end = cut.span
    start = max(start, *(looks.start[row] for row in walk.rows))
    way = _Way(start, min(end, *(looks.end[row] for row in walk.rows)), walk.weight, ())
    confidence = round(walk.weight / _MILLION ** len(walk.rows), 12)
    told = partial(_told_later, later, traces, cut, "snapshot", way)
    return Path(tuple(name.entity for name in walk.named), confidence, told)


def taken_from(edges: _Edges, asked: Asked, first: int = 1) -> tuple[list[Found], bool]:
    """The paths from a length on, up to one more than asked for, and whether there are more."""
    graph, taken = _Graph(edges, asked.source, asked.target), list[Found]()
    search = _Search(graph, asked)
    for length in range(1, asked.longest + 1):
        if len(taken) > asked.limit:
            break
        graph.deepen()
        if length >= first:
            taken += islice(search.of_length(length), asked.limit + 1 - len(taken))
    return taken, len(taken) > asked.limit or edges.truncated or search.truncated


class Found(NamedTuple):
    """A path before its facts are made."""

    nodes: tuple[int, ...]
    way: _Way


class _Search:
    """Takes the paths of one length after the other out of a graph, best first."""

    def __init__(self, graph: _Graph, asked: Asked) -> None:
        self.graph = graph
        self.cut, self.mode, self.source, self.target, *_ = asked
        self.left = _STEPS
        self.truncated = False

    def of_length(self, length: int) -> Iterator[Found]:
        """The paths of just so many steps, in order."""
        bounds = self.graph.bounds(self.source, self.target, length)
        if self.source not in bounds[length]:
            return
        directory, instant = self.graph.reader.directory, self.cut.instant
        directory.prefetch_labels({number for level in bounds for number in level})
        turn = count()  # equal names are equal entities, so what is left to tell two entries apart is their interval
        start, end = self.cut.span
        first = (_Way(start, end, 1, ()),)
        heap: list[tuple[int, _Names, tuple[int, int], int, tuple[int, ...], Sequence[_Way]]] = []
        heapq.heappush(heap, (-bounds[length][self.source], (), (0, 0), next(turn), (self.source,), first))
        while heap:
            _, names, _, _, nodes, ways = heapq.heappop(heap)
            left = length - len(nodes) + 1
            if left == 0:
                yield Found(nodes, ways[0])
                continue
            for far, edges in self.graph.steps.get(nodes[-1], {}).items():
                bound = bounds[left - 1].get(far, -1)
                if bound < 0 or far in nodes or (far == self.target) != (left == 1):
                    continue
                self.left -= len(ways) * len(edges)
                if self.left < 0:
                    self.truncated = True
                    return
                onward = self._onward(ways, edges, last=left == 1)
                if not onward:
                    continue
                reached = (*names, (directory.label(far, instant).casefold(), far))
                # A whole path stands for itself; a beginning for all its ways, by the best of them.
                groups = [(way,) for way in onward] if left == 1 else [onward]
                for group in groups:
                    rank = -bound * max(way.weight for way in group)
                    span = (group[0].start, group[0].end)
                    heapq.heappush(heap, (rank, reached, span, next(turn), (*nodes, far), group))

    def _onward(self, ways: Sequence[_Way], edges: Sequence[Edge], *, last: bool) -> tuple[_Way, ...]:
        """What is left of the ways after one step more, over any of the parallel edges."""
        made = [way for so_far in ways for edge in edges if (way := self._step(so_far, edge)) is not None]
        if len(made) < 2:
            return tuple(made)
        if self.mode == "snapshot":
            return (min(made, key=lambda way: (-way.weight, *_tie(way))),)
        if self.mode == "chronological":
            return _rising(made)[:1] if last else _rising(made)
        return _maximal(made) if last else _undominated(made)

    def _step(self, way: _Way, edge: Edge) -> _Way | None:
        weight = way.weight * self.graph.weight(edge)
        if self.mode == "chronological":
            arrival = max(way.start, edge.start)
            return _Way(arrival, way.end, weight, (*way.edges, edge)) if arrival < min(edge.end, way.end) else None
        start, end = max(way.start, edge.start), min(way.end, edge.end)
        return _Way(start, end, weight, (*way.edges, edge)) if start < end else None


def _tie(way: _Way) -> tuple[int, str, int, Any]:
    return way.edges[-1].place


def _rising(ways: Sequence[_Way]) -> tuple[_Way, ...]:
    """The earliest way, and every later one that is more confident than all before it."""
    kept: list[_Way] = []
    for way in sorted(ways, key=lambda way: (way.start, -way.weight, *_tie(way))):
        if not kept or way.weight > kept[-1].weight:
            kept.append(way)
    return tuple(kept)


def _undominated(ways: Sequence[_Way]) -> tuple[_Way, ...]:
    """The ways than which no other has both at least the time and at least the confidence.

    A way that another one outlasts is kept while it is more confident: the next steps may cut both to the same time.
    """
    kept: list[_Way] = []
    ends: list[int] = []  # rising; of what was kept, the best weight for each end falls
    weights: list[int] = []
    for way in sorted(ways, key=_by_interval):
        at = bisect_left(ends, way.end)
        if at < len(ends) and weights[at] >= way.weight:
            continue
        kept.append(way)
        stop = at + (at < len(ends) and ends[at] == way.end)
        first = at
        while first > 0 and weights[first - 1] <= way.weight:
            first -= 1
        ends[first:stop], weights[first:stop] = [way.end], [way.weight]
    return tuple(kept)


def _maximal(ways: Sequence[_Way]) -> tuple[_Way, ...]:
    """The ways whose interval lies within that of no other, by start; of equal ones the most confident."""
    kept: list[_Way] = []
    for way in sorted(ways, key=_by_interval):
        if not kept or way.end > kept[-1].end:
            kept.append(way)
    return tuple(kept)


def _by_interval(way: _Way) -> tuple[Any, ...]:
    return (way.start, -way.end, -way.weight, *_tie(way))


def _path(reader: Reader, edges: _Edges, cut: Cut, mode: Mode, found: Found) -> Path:
    way = found.way
    told: Told | Callable[[], Told]
    if isinstance(edges, Edges):
        told = _told(reader, edges.readings(way.edges), cut, mode, way)
    else:
        told = partial(_told_later, Later.of(reader), edges.traced(way.edges), cut, mode, way)
    entities = tuple(reader.directory.entity(number, cut.instant) for number in found.nodes)
    return Path(entities, round(way.weight / _MILLION ** len(way.edges), 12), told)


def _told_later(later: Later, traces: Sequence[Trace], cut: Cut, mode: Mode, way: _Way) -> Told:
    with later.reading() as reader:
        return _told(reader, [trace.reading(reader) for trace in traces], cut, mode, way)


def _told(reader: Reader, readings: Sequence[Reading], cut: Cut, mode: Mode, way: _Way) -> Told:
    """The facts of a path, and its interval or its arrival."""
    facts = tuple(reader.facts(readings, cut.instant))
    if mode == "chronological":
        return facts, None, _bound_at(way.start, [fact.valid_from for fact in facts])
    end = None if way.end == POS_INF else _bound_at(way.end, [fact.valid_to for fact in facts])
    return facts, (_bound_at(way.start, [fact.valid_from for fact in facts]), end), None


def _bound_at(instant: int, bounds: Iterable[Bound | None]) -> Bound:
    """The fact's own bound there, so that its precision shows; else (the edge of a window) the instant itself."""
    own = next((bound for bound in bounds if bound is not None and bound.instant == instant), None)
    return own or exact(instant)
