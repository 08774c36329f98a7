"""Entities by hop distance: breadth first, a frontier at a time, in memory where the facts are there."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.instants import POS_INF
from semgraph.model import Bounded, Neighbor
from semgraph.walk.connections import Connections, Delayed
from semgraph.walk.cut import Cut, checked_choice, checked_count
from semgraph.walk.edges import DIRECTIONS, Direction, Edges, canonical, checked_names
from semgraph.walk.later import Later

if TYPE_CHECKING:
    from collections.abc import Collection

    from semgraph.index.columns import Columns
    from semgraph.index.keeping import Index
    from semgraph.index.steps import Chosen
    from semgraph.model import Connecting, Entity
    from semgraph.reader import Reader
    from semgraph.session import Session
    from semgraph.store.protocol import Revision
    from semgraph.walk.edges import Edge
    from semgraph.walk.naming import Kept
    from semgraph.walk.quick import Quick

__all__ = ["EVERYTHING", "PATIENCE", "Hops", "at_hand", "neighbours", "present", "quick_neighbours", "quick_of"]

_ROWS = 25_000  # facts that one call reads at most from the store
PATIENCE = 1_000  # facts that it reads from there before all are loaded into memory instead
_HUB = 4  # times that: so many facts of all time are not even begun with
EVERYTHING = 10**9  # look-ups: what is too much to be read from the store is worth being loaded


class Hops(NamedTuple):
    """What is asked for: the entities within so many hops, so many of them at most."""

    hops: int
    direction: Direction
    predicates: tuple[str, ...] | None
    limit: int

    @classmethod
    def checked(cls, hops: int, direction: Direction, predicates: Collection[str] | None, limit: int) -> Hops:
        """The same, or InputError where it makes no sense."""
        names = predicates if predicates is None else checked_names(predicates)
        try:
            return _checked(hops, direction, names, limit)
        except TypeError:  # what can't be remembered makes no sense either
            return _checked.__wrapped__(hops, direction, names, limit)


@lru_cache(maxsize=64, typed=True)
def _checked(hops: int, direction: Direction, names: tuple[str, ...] | None, limit: int) -> Hops:
    hops = checked_count("hops", hops, 1)
    limit = checked_count("limit", limit, 0)
    checked_choice("direction", direction, DIRECTIONS)
    return Hops(hops, direction, names, limit)


def neighbours(reader: Reader, cut: Cut, name: str | Entity, valid_at: int | None, asked: Hops) -> Bounded[Neighbor]:
    """Up to `limit` entities within so many hops, nearest first, then by name; each with the facts that reach it."""
    if (quick := quick_of(reader, reads=asked.hops)) is not None:
        return _in_memory(reader, quick, cut, name, valid_at, asked)
    found = _from_store(reader, cut, name, valid_at, asked, PATIENCE)
    if found is not None:
        return found
    if (quick := quick_of(reader, reads=EVERYTHING)) is not None:
        return _in_memory(reader, quick, cut, name, valid_at, asked)
    return _from_store(reader, cut, name, valid_at, asked, _ROWS, whole=False) or Bounded()


def _from_store(
    reader: Reader, cut: Cut, name: str | Entity, valid_at: int | None, asked: Hops, rows: int, *, whole: bool = True
) -> Bounded[Neighbor] | None:
    """The answer from so many rows of the store; None where they do not do and the whole of it is wanted."""
    start = reader.directory.known(name, reader.snapshot, valid_at)
    edges = Edges(reader, cut, asked.direction, asked.predicates, rows)
    levels, truncated = [[start]], False
    between: dict[int, list[Edge]] = {}
    seen, found, frontier = {start}, 0, [start]
    for _ in range(asked.hops):
        if whole and edges.degree(frontier, entering=False) > _HUB * rows:
            return None
        reached: dict[int, list[Edge]] = {}
        leaving = edges.leaving(frontier)
        if whole and edges.truncated:
            return None
        for edge in leaving:
            if edge.far not in seen:
                reached.setdefault(edge.far, []).append(edge)
        frontier = _by_name(reader, reached, cut.instant)
        if found + len(frontier) > asked.limit:
            frontier, truncated = frontier[: asked.limit - found], True
        between |= {number: reached[number] for number in frontier}
        found += len(frontier)
        seen |= reached.keys()
        levels.append(frontier)
        if truncated or not frontier:
            break
    entities = [[reader.directory.entity(number, cut.instant) for number in level] for level in levels[1:]]
    facts = Connections(Later.of(reader), cut, asked.direction, asked.predicates, lambda: levels, between)
    return Bounded(_told(entities, facts, asked.limit), truncated=truncated or edges.truncated)


def quick_neighbours(
    session: Session, cut: Cut | None, name: str | Entity, known_at: int, asked: Hops
) -> Bounded[Neighbor] | None:
    """The same without a transaction, if nothing was written since and all that is asked for is known in memory."""
    index = session.indexes.get(session.scope)
    if index is None or index.columns is None:
        return None
    revision = session.store.revision()
    with index.lock:
        quick = at_hand(index, revision, known_at)
        if quick is None:
            return None
        node, chosen = quick.node(session, name), quick.chosen(asked.direction, asked.predicates)
        if node is None or chosen is None:
            return None
        known = index.known
        return _walked(quick, None, (session, known), cut or present(session, known), node, chosen, asked)


def at_hand(index: Index, revision: Revision | None, known_at: int) -> Quick | None:
    """What walks find in memory without a transaction; None if something was written since that is not there.

    The caller holds the lock of the index, and has looked at the store's revision before.
    """
    columns = index.columns
    quick: Quick | None = None if columns is None else columns.derived.get("walks")
    if quick is None or revision is None or revision != index.revision or known_at < index.known or not quick.fit:
        return None
    return quick


def present(session: Session, known: int) -> Cut:
    """The cut of a present that moves with the clock."""
    return Cut(max(session.wall(), known))


def quick_of(reader: Reader, *, reads: int) -> Quick | None:
    """What walks find in memory; None where the store is to be asked."""
    if reader.snapshot.known_at != POS_INF or (columns := reader.session.columns(reads=reads)) is None:
        return None
    from semgraph.walk.quick import Quick

    return Quick.of(reader.session.indexes[reader.session.scope], columns)


def _in_memory(
    reader: Reader, quick: Quick, cut: Cut, name: str | Entity, valid_at: int | None, asked: Hops
) -> Bounded[Neighbor]:
    node = quick.node(reader.session, name)
    if node is None:
        node = quick.learn_name(reader, name, reader.directory.known(name, reader.snapshot, valid_at))
    chosen = quick.chosen(asked.direction, asked.predicates)
    if chosen is None:
        wanted = None if asked.predicates is None else canonical(reader, asked.predicates)
        chosen = quick.learn_chosen(reader, asked.direction, asked.predicates, wanted)
    found = _walked(quick, reader, Later.moment(reader), cut, node, chosen, asked)
    if found is None:
        raise AssertionError("with a reader every name can be read")
    return found


def _walked(
    quick: Quick,
    reader: Reader | None,
    moment: tuple[Session, int],
    cut: Cut,
    node: int,
    chosen: Chosen,
    asked: Hops,
) -> Bounded[Neighbor] | None:
    """The answer from memory; None where a name is not known there and there is no reader to ask."""
    if node < 0:
        return Bounded()
    names, limit = quick.names, asked.limit
    nodes, found, truncated = quick.spread(quick.steps(cut, chosen), node, asked.hops, limit)
    if (kept := names.knowing(nodes)) is not None:
        making = partial(_told_from, kept, moment, cut, node, nodes, asked)
        return Bounded.later(making, min(found, limit), truncated=truncated)
    if reader is None:
        return None
    levels = [[each.entity for each in names.ordered(level, limit, cut.instant, reader)] for level in nodes]
    return Bounded(
        _told(levels, _connected(quick.columns, moment, cut, node, nodes, asked), limit), truncated=truncated
    )


def _told_from(
    kept: Kept, moment: tuple[Session, int], cut: Cut, node: int, nodes: list[Any], asked: Hops
) -> list[Neighbor]:
    facts = _connected(kept.columns, moment, cut, node, nodes, asked)
    found: list[Neighbor] = []
    for distance, level in enumerate(nodes, 1):
        found += [Neighbor(each.entity, distance, facts) for each in kept.ordered(level, asked.limit - len(found))]
    return found


def _connected(
    columns: Columns, moment: tuple[Session, int], cut: Cut, node: int, nodes: list[Any], asked: Hops
) -> Delayed:
    def made() -> Connections:
        return Connections(Later(*moment), cut, asked.direction, asked.predicates, numbers)

    def numbers() -> list[list[int]]:
        return [[columns.entity(int(node)) for node in level] for level in ([node], *nodes)]

    return Delayed(made)


def _told(levels: list[list[Entity]], facts: Connecting, limit: int) -> list[Neighbor]:
    found: list[Neighbor] = []
    for distance, level in enumerate(levels, 1):
        found += [Neighbor(entity, distance, facts) for entity in level[: limit - len(found)]]
    return found


def _by_name(reader: Reader, numbers: Collection[int], instant: int | None) -> list[int]:
    directory = reader.directory
    directory.prefetch_labels(numbers)
    return sorted(numbers, key=lambda number: (directory.label(number, instant).casefold(), number))
