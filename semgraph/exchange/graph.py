"""A view as nodes and edges, for formats that know nothing of claims: a fixed order, one snapshot, bounded memory.

Every fact that is not negative is an edge between two nodes: entities by their present names after all merges, and a
node for each literal, so that every edge has two ends. The graph itself is exported over all time, with what is only
possible; a view by what it holds.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.directory import public_id
from semgraph.statement import value_of
from semgraph.store.schema import FactRow
from semgraph.temporal import MAX_INSTANT, MIN_INSTANT, format_instant
from semgraph.view import is_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from semgraph.model import Literal
    from semgraph.reader import Reader, Reading
    from semgraph.store.schema import ClaimRow
    from semgraph.view import GraphView

    Progress = Callable[[int], None]

__all__ = ["DETAILS", "EDGE_COLUMNS", "Edge", "GraphRows", "Node", "joined_sources", "most_facts", "split_sources"]


class Node(NamedTuple):
    """An entity, or a literal by its type (`number:EUR` where it has a unit)."""

    id: str
    label: str
    kind: str


class Edge(NamedTuple):
    """A fact: times as written and in microseconds since 1970 where they have a place there, open ones empty.

    `source` has all that said so, divided by `; `, `qualifiers` the details of the first as JSON, if it has some.
    """

    subject: str
    object: str
    fact_id: str
    predicate: str
    valid_from: str
    valid_to: str
    valid_from_us: int | None
    valid_to_us: int | None
    confidence: float
    source: str
    status: str
    qualifiers: str


#: What every file has of an edge but for its ends; details come after them where there are some.
EDGE_COLUMNS: Final = Edge._fields[2:-1]
DETAILS: Final = Edge._fields[-1]


class GraphRows:
    """The edges of a view, chunk by chunk; `nodes` are those met so far, entities before literals.

    `detailed` says whether an edge met so far has qualifiers; `known_at` is when the newest of it was recorded, which
    a reader of the file may take for when it was said.
    """

    def __init__(self, view: GraphView, progress: Progress | None = None) -> None:
        self.whole = is_graph(view)
        self._view = view.during() if is_graph(view) else view
        self._progress = progress
        self.detailed = False
        self.known_at = ""
        self._instant: int | None = None
        self._now = 0
        self._entities: dict[str, str] = {}
        self._literals: dict[str, Node] = {}

    def chunks(self) -> Iterator[list[Edge]]:
        """Every edge in a fixed order; `progress` hears how many have been read."""
        done = 0
        with self._view.reading():
            if self.whole:  # also those of which nothing is said
                self._entities.update((entity.id, entity.label) for entity in self._view.entities())
            self._instant, self._now, newest = self._view.moment()
            self.known_at = format_instant(newest) if newest > MIN_INSTANT else ""
            for reader, readings in self._view.chunks(possible=self.whole):
                yield self._edges(reader, readings)
                done += len(readings)
                if self._progress is not None:
                    self._progress(done)

    def nodes(self) -> Iterator[Node]:
        """Entities by id, then literals by id."""
        for key in sorted(self._entities):
            yield Node(key, self._entities[key], "entity")
        for key in sorted(self._literals):
            yield self._literals[key]

    def node(self, key: str) -> Node:
        """The node of an end of an edge."""
        found = self._literals.get(key)
        return Node(key, self._entities[key], "entity") if found is None else found

    def _edges(self, reader: Reader, readings: Sequence[Reading]) -> list[Edge]:
        """Edges straight from the rows: a fact as an object holds much that no file does, and takes far longer."""
        claims = reader.ledger.fetch(claim for r in readings for claim in r.body.claims)
        ends = {r.row.subject for r in readings} | {int(r.row.object[1:]) for r in readings if r.row.object[:1] == "e"}
        reader.directory.prefetch_labels(ends)
        return [self._edge(reader, r, [claims[claim] for claim in r.body.claims if claim in claims]) for r in readings]

    def _edge(self, reader: Reader, r: Reading, claims: Sequence[ClaimRow]) -> Edge:
        row, start, end = r.row, r.body.start, r.body.end
        _, status, confidence = reader.standing(r, self._instant, self._now)
        details = claims[0].qualifiers
        self.detailed = self.detailed or bool(details)
        return Edge(
            self._entity(reader, row.subject),
            self._entity(reader, int(row.object[1:])) if row.object[:1] == "e" else self._literal(value_of(claims[0])),
            row.id,
            r.predicate,
            str(start),
            "" if end is None else str(end),
            _microseconds(start.instant),
            None if end is None else _microseconds(end.instant),
            confidence,
            joined_sources(claim.source for claim in claims),
            status,
            details,
        )

    def _entity(self, reader: Reader, number: int) -> str:
        key = public_id(number)
        if key not in self._entities:
            self._entities[key] = reader.directory.label(number, self._instant)
        return key

    def _literal(self, thing: Literal) -> str:
        kind = kind_of(thing)
        label = thing.value if kind == "text" else thing.label  # the text to its last space
        key = literal_id(kind, label)
        self._literals[key] = Node(key, label, kind)
        return key


def most_facts(view: GraphView) -> int:
    """How many edges the view may have at most: the facts of its scope as it is now."""
    with view.reading() as reader:
        return reader.ledger.store.count(FactRow, reader.ledger.scope)


def kind_of(thing: Literal) -> str:
    """What kind of value a literal is, in a word, and its unit if it has one."""
    if isinstance(thing.value, bool):
        return "boolean"
    if isinstance(thing.value, (int, float)):
        return f"number:{thing.unit}" if thing.unit else "number"
    return "text" if isinstance(thing.value, str) else "date"


def literal_id(kind: str, label: str) -> str:
    """The id of a literal's node: the same wherever the same value stands."""
    return "l" + hashlib.blake2b(f"{kind}\0{label}".encode(), digest_size=12).hexdigest()


def _microseconds(instant: int) -> int | None:
    return instant if MIN_INSTANT <= instant <= MAX_INSTANT else None


def joined_sources(sources: Iterable[str]) -> str:
    """Several sources as one text, each once, from which `split_sources` tells them apart again."""
    sources = list(dict.fromkeys(sources))
    if len(sources) == 1 and ";" not in sources[0] and "\\" not in sources[0]:
        return sources[0]
    return "; ".join(source.replace("\\", "\\\\").replace(";", "\\;") for source in sources)


def split_sources(text: str) -> list[str]:
    r"""The sources that were joined.

    >>> split_sources(r"user; imported:a\;b")
    ['user', 'imported:a;b']
    """
    found: list[str] = []
    current: list[str] = []
    left = iter(text)
    for character in left:
        if character == "\\":
            current.append(next(left, ""))
        elif character == ";":
            found.append("".join(current))
            current = []
        else:
            current.append(character)
    found.append("".join(current))
    return [source.strip() for source in found if source.strip()]
