"""A foreign graph told to a scope: its nodes become entities, its edges and attributes claims, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final

from semgraph.directory import public_id
from semgraph.errors import ImportRejected, InputError, RejectedError
from semgraph.exchange.foreign import ALWAYS_SO, Period
from semgraph.exchange.graph import split_sources
from semgraph.exchange.numbers import finite, microseconds
from semgraph.exchange.xmltime import bound_of
from semgraph.gate import check_source, trust_rank
from semgraph.model import Entity, Literal
from semgraph.statement import MAX_SKEW
from semgraph.temporal import DAY, NEG_INF, POS_INF, Bound, exact, parse_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.foreign import ForeignEdge, ForeignGraph, ForeignNode
    from semgraph.model import Batch
    from semgraph.vocabulary import Predicate

    Claim = dict[str, Any]

__all__ = ["UNREGISTERED", "check_wishes", "define_missing", "intake", "make_entities", "not_ahead", "tell"]

UNREGISTERED: Final = ("many", "one", "flag")
_MAX_WORDS: Final = 8  # of a name that is no sentence
_LINKED: Final = "linked_to"  # an edge that no attribute names
#: Where the name of an edge's relation stands, the first that is there.
_PREDICATES: Final = ("predicate", "labelE", "relation", "relationship", "label", "Edge Label", "kind", "type")
_LABELS: Final = ("label", "name", "title", "Label", "Name")
_TIMES: Final = ("valid_from", "valid_to", "valid_through")
#: Attributes of an edge of ours that are told in other words, and what other tools add to it.
_OURS: Final = frozenset(
    [
        *("fact_id", "predicate", "confidence", "source", "sources", "status", "qualifiers", "id", "key"),
        *("valid_from_us", "valid_to_us", *_TIMES),
    ]
)


def intake(kg: KnowledgeGraph, graph: ForeignGraph, source: str | None, unregistered: str) -> Batch:
    """What telling all of a graph did.

    Nodes of one name in the scope and in the file are one entity if only one of each bears it; several nodes of one
    name are an entity each. What a node or an edge has as an attribute is a claim of its own or a detail of the edge's.
    """
    with kg.atomic():
        teller = _Teller(kg, graph, source)
        claims = list(teller.claims())
        batch = tell(kg, claims, unregistered)
        teller.make_lonely()
    return replace(batch, rejected_at=(), notes=(*graph.notes, *teller.notes, *batch.notes))


def check_wishes(source: str | None, unregistered: str) -> None:
    """InputError for a source that is none, or another word for what undefined predicates take."""
    if source is not None:
        check_source(source)
    if unregistered not in UNREGISTERED:
        raise InputError(f"unregistered is {', '.join(UNREGISTERED)}, not {unregistered!r}")


def tell(kg: KnowledgeGraph, claims: list[Claim], unregistered: str) -> Batch:
    """What the claims of a foreign graph did; predicates that nobody defined take what `unregistered` says."""
    met = Counter(claim["predicate"] for claim in claims)
    with kg.atomic():
        for predicate in met if unregistered != "flag" else ():
            with suppress(RejectedError):  # a name that is none is refused with its claims, and kept there
                if not _entry(kg, predicate).registered:
                    kg.predicates.define(predicate, cardinality=unregistered)
        batch = kg.add_all(claims)
    return replace(batch, predicates=dict(sorted(met.items())))


def define_missing(kg: KnowledgeGraph, predicates: Mapping[str, Mapping[str, Any]]) -> None:
    """Define the predicates that an importer uses, where nobody has defined them otherwise."""
    for name, options in predicates.items():
        if not _entry(kg, name).registered:
            kg.predicates.define(name, **options)


def make_entities(kg: KnowledgeGraph, names: Iterable[str], source: str) -> None:
    """Make the entities of names that nothing bears yet: things of which nothing is said."""
    session = kg._session  # noqa: SLF001 - many names in one write
    with session.write() as recorded_at:
        for name in dict.fromkeys(names):
            with suppress(RejectedError):  # a name that can't be one was refused with what is said of it
                if not session.directory.rows(session.directory.key(name)):
                    session.directory.create(name, recorded_at, source)
        session.directory.flush()


def not_ahead(kg: KnowledgeGraph, claim: Claim) -> Claim:
    """The claim without a time of saying that lies ahead: the clock of whoever wrote it was wrong."""
    said = claim.get("said_at")
    if said is None or said.instant <= kg._session.instant(None) + MAX_SKEW:  # noqa: SLF001 - the clock of the graph
        return claim
    return {name: value for name, value in claim.items() if name != "said_at"}


def _entry(kg: KnowledgeGraph, predicate: str) -> Predicate:
    session = kg._session  # noqa: SLF001 - the registry, whether it knows the predicate or not
    with session.read():
        return session.ledger.registry().resolve(predicate).predicate


class _Teller:
    """The claims of one graph, inside a write transaction."""

    def __init__(self, kg: KnowledgeGraph, graph: ForeignGraph, source: str | None) -> None:
        self.kg = kg
        self.graph = graph
        self.notes: list[str] = []
        self._source = source
        self._lonely = set(graph.nodes)
        self._said = self._when_said()
        self._names = {node.id: self._name(node) for node in graph.nodes.values()}
        self._things = (
            {}
            if not graph.ours
            else {
                node.id: _literal(self._names[node.id], str(node.values.get("kind") or "entity"))
                for node in graph.nodes.values()
            }
        )
        self._entities = self._find()
        undirected = sum(not edge.directed for edge in graph.edges)
        if undirected:
            self.notes.append(
                f"{undirected} edges without a direction lead from source to target; "
                "neighbors(direction='any') goes both ways"
            )
        self._beside = self._side_by_side() if graph.ours else frozenset()

    def _when_said(self) -> Claim:
        """When all of it was said, if the file tells: else an old one would be the newest evidence."""
        if not self.graph.said_at:
            return {}
        with suppress(ValueError):
            found, now = bound_of(self.graph.said_at), self.kg._session.instant(None)  # noqa: SLF001
            if found.instant <= now + MAX_SKEW:
                return {"said_at": found}
        self.notes.append(f"the file is dated {self.graph.said_at[:40]!r}, which can't be when it was said")
        return {}

    # -- nodes

    def _name(self, node: ForeignNode) -> str:
        found = node.label
        for name in _LABELS:
            if not found and isinstance(node.values.get(name), (str, int, float)):
                found = str(node.values[name])
        return found or node.id

    def _find(self) -> dict[str, str | Entity]:
        """How claims speak of each node: by its name, where that means it alone, else by its entity."""
        session = self.kg._session  # noqa: SLF001 - names are looked up all at once
        found: dict[str, str | Entity] = {}
        with session.write() as recorded_at:
            directory = session.directory
            bearers: dict[str, list[str]] = defaultdict(list)
            for node in self.graph.nodes.values():
                if self._things.get(node.id) is None:
                    bearers[self._key(node)].append(node.id)
            directory.prefetch(bearers)
            snapshot = session.ledger.at()
            for key, ids in bearers.items():
                known = list(dict.fromkeys(snapshot.entity(row.entity) for row in directory.rows(key)))
                for node_id in ids:
                    name = self._names[node_id]
                    number = _derived(node_id, key)
                    if len(ids) == 1 and len(known) > 1 and number not in known:
                        found[node_id] = name  # refused claim by claim, with the entities that it may mean
                    elif len(ids) == 1 and not _reads_as_literal(name):
                        found[node_id] = name
                    elif len(ids) == 1 and known:
                        found[node_id] = Entity(public_id(known[0] if number not in known else number), name)
                    else:
                        if number not in known:
                            directory.create(name, recorded_at, self._voice(), number=number)
                        found[node_id] = Entity(public_id(number), name)
                    self._lonely -= {node_id} if not isinstance(found[node_id], str) else set()
            directory.flush()
        return found

    def _key(self, node: ForeignNode) -> str:
        try:
            return self.kg._session.directory.key(self._names[node.id])  # noqa: SLF001
        except RejectedError as error:
            raise ImportRejected(
                "bad_name",
                f"{self.graph.shown}, line {node.line}: the node {node.id[:80]!r} can't be named so ({error.reason}); "
                "give it a label",
            ) from None

    def make_lonely(self) -> None:
        """Make the entities of nodes of which nothing is said."""
        session = self.kg._session  # noqa: SLF001
        with session.write() as recorded_at:
            for node_id in sorted(self._lonely):
                name = self._entities.get(node_id)
                if isinstance(name, str) and not session.directory.rows(session.directory.key(name)):
                    session.directory.create(name, recorded_at, self._voice())
            session.directory.flush()

    def _voice(self) -> str:
        return self._source or f"imported:{self.graph.format}"

    # -- claims

    def claims(self) -> Iterator[Claim]:
        """Every edge and every attribute, in the order of the file."""
        for edge in self.graph.edges:
            yield from self._of_ours(edge) if self.graph.ours else self._of_edge(edge)
        if not self.graph.ours:
            for node in self.graph.nodes.values():
                yield from self._of_node(node)

    def _of_edge(self, edge: ForeignEdge) -> Iterator[Claim]:
        predicate = self._predicate(edge)
        told: Claim = {
            "subject": self._subject(edge.source),
            "predicate": predicate,
            "object": self._subject(edge.target),
            "source": self._voice(),
            "source_ref": f"{self.graph.shown}#{edge.id or f'line {edge.line}'}",
            **self._said,
        }
        self._lonely -= {edge.source, edge.target}
        used = next((name for name in _PREDICATES if edge.label is None and edge.values.get(name)), None)
        left = {name: value for name, value in edge.values.items() if name not in {used, *_TIMES}}
        if details := _scalars(left):
            told["qualifiers"] = details
        dates = {name: str(edge.values[name]) for name in _TIMES if edge.values.get(name) not in (None, "")}
        for period in edge.periods or [ALWAYS_SO]:
            yield told | _dated(period) | dates

    def _of_node(self, node: ForeignNode) -> Iterator[Claim]:
        label = self._names[node.id]
        named = next((name for name in _LABELS if node.label is None and str(node.values.get(name)) == label), None)
        values = [(name, value, ALWAYS_SO) for name, value in node.values.items() if name != named]
        for name, value, period in [*values, *node.dated]:
            if value is None or value == "":
                continue
            self._lonely.discard(node.id)
            yield {
                "subject": self._subject(node.id),
                "predicate": name,
                "object": Literal(value, str(value)),
                "source": self._voice(),
                "source_ref": f"{self.graph.shown}#{node.id}",
                **_dated(period),
                **self._said,
            }

    def _of_ours(self, edge: ForeignEdge) -> Iterator[Claim]:
        values = edge.values
        self._lonely -= {edge.source, edge.target}
        told: Claim = {
            "subject": self._subject(edge.source),
            "predicate": self._predicate(edge),
            "object": self._things.get(edge.target) or self._subject(edge.target),
            "source": self._source or _strongest(split_sources(str(values.get("source") or ""))) or self._voice(),
            "source_ref": f"semgraph:{values.get('fact_id') or edge.id or f'line {edge.line}'}",
            **_dated(self._period(edge)),
            **self._said,
        }
        if (confidence := values.get("confidence")) is not None:
            told["confidence"] = confidence
        if id(edge) in self._beside:
            told["kind"] = "also"
        details = _scalars({name: value for name, value in values.items() if name not in _OURS})
        details |= _scalars(_qualifiers(values.get("qualifiers")))
        if details:
            told["qualifiers"] = details
        yield told

    def _predicate(self, edge: ForeignEdge) -> str:
        if self.graph.ours:
            return str(edge.values.get("predicate") or edge.label or _LINKED)
        found = edge.label or next((edge.values[name] for name in _PREDICATES if edge.values.get(name)), None)
        return _LINKED if found is None or not any(map(str.isalnum, str(found))) else str(found)

    def _subject(self, node_id: str) -> str | Entity:
        found = self._entities.get(node_id)
        if found is None:
            raise ImportRejected(
                "bad_row",
                f"{self.graph.shown}: the literal node {node_id[:80]!r} is the source of an edge; turn it round",
            )
        return found

    def _side_by_side(self) -> frozenset[int]:
        """The edges that overlap a rival: as the graph had both, neither is to end the other.

        Where rivals were in conflict over the very same time, they will be again, and are told as they were.
        """
        groups: dict[tuple[str, str, str], list[tuple[int, int, ForeignEdge]]] = defaultdict(list)
        entries: dict[str, Predicate] = {}
        for edge in self.graph.edges:
            predicate = self._predicate(edge)
            if predicate not in entries:
                with suppress(RejectedError):
                    entries[predicate] = _entry(self.kg, predicate)
            entry = entries.get(predicate)
            single = entry is not None and entry.cardinality == "one"
            period = self._period(edge)
            start = NEG_INF if period.start is None else period.start.instant
            end = POS_INF if period.end is None else period.end.instant
            if single:
                groups["source", edge.source, predicate].append((start, end, edge))
            if entry is not None and (entry.unique_object or (single and entry.symmetric)):
                groups["target", edge.target, predicate].append((start, end, edge))
        return frozenset(number for group in groups.values() for number in _overlapping(group))

    def _period(self, edge: ForeignEdge) -> Period:
        """When a fact of ours holds: as it was written, at the microsecond that is given beside it."""
        try:
            return Period(
                _bound(edge.values.get("valid_from"), edge.values.get("valid_from_us")),
                _bound(edge.values.get("valid_to"), edge.values.get("valid_to_us")),
            )
        except ValueError as error:
            raise ImportRejected("bad_row", f"{self.graph.shown}, line {edge.line}: {error}") from None


def _overlapping(group: list[tuple[int, int, ForeignEdge]]) -> Iterator[int]:
    stretches: dict[tuple[int, int], list[ForeignEdge]] = defaultdict(list)
    for start, end, edge in group:
        stretches[start, end].append(edge)
    order = sorted(stretches)
    reached = NEG_INF
    for place, (start, end) in enumerate(order):
        edges = stretches[start, end]
        disputed = len(edges) == 1 or all(edge.values.get("status") == "conflicted" for edge in edges)
        meets = (place > 0 and start < reached) or (place + 1 < len(order) and order[place + 1][0] < end)
        if meets or not disputed:
            yield from map(id, edges)
        reached = max(reached, end)


def _derived(node_id: str, key: str) -> int:
    """The number of the entity that is made for a node: the same whenever the file is read."""
    seed = f"graph\0{node_id}\0{key}".encode()
    return int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest(), "big") >> 1


def _reads_as_literal(name: str) -> bool:
    """Whether the bare name could be taken for a number, a truth value, an address or a sentence."""
    bare = name.strip().casefold()
    doubtful = not bare[:1].isalpha() or ":" in bare or bare.startswith("www.") or bare in {"true", "false"}
    return doubtful or len(bare.split()) > _MAX_WORDS


def _literal(label: str, kind: str) -> Literal | str | None:
    """The literal of a node of ours; None for an entity."""
    base, _, unit = kind.partition(":")
    bare = label.removesuffix(f" {unit}") if unit else label
    try:
        if base == "number":
            number = float(bare) if not bare.lstrip("+-").isdigit() else int(bare[:400])
            plain = str(int(number)) if number == int(number) else str(number)
            return Literal(number, label, unit or None) if plain == bare or unit else bare
        if base == "date":
            return Literal(date.fromisoformat(bare), label)
    except (ValueError, OverflowError):
        return Literal(label, label)
    if base == "boolean":
        return Literal(bare == "true", label)
    return None if base == "entity" else Literal(label, label)


def _strongest(sources: list[str]) -> str | None:
    """The source that is trusted most; the first of equals."""
    return max(sources, key=trust_rank, default=None)


def _bound(text: Any, instant: Any) -> Bound | None:
    at = None if instant is None else microseconds(instant)
    if text in (None, ""):
        return None if at is None else exact(at)
    bound = parse_bound(str(text))
    if bound is None or at is None or bound.instant == at:
        return bound
    moved = at - bound.instant
    if abs(moved) >= DAY:
        raise ValueError(f"{text!r} does not lie at {instant} microseconds after 1970; the two must agree")
    return replace(  # it was read in another time zone
        bound,
        instant=bound.instant + moved,
        earliest=bound.earliest + moved,
        before=bound.before + moved,
        until=bound.until + moved,
        zone=str(timezone(timedelta(microseconds=-moved))),
        spelling=str(text),
    )


def _dated(period: Period) -> Claim:
    found: Claim = {}
    if period.start is not None:
        found["valid_from"] = period.start
    if period.end is not None:
        found["valid_to"] = period.end
    return found


def _qualifiers(told: Any) -> Mapping[str, Any]:
    """The details that an edge of ours has in one attribute, as JSON or as what that says; none where it is neither."""
    with suppress(ValueError, RecursionError):
        found = json.loads(told, parse_constant=finite, parse_float=finite) if isinstance(told, str) else told
        return found if isinstance(found, dict) else {}
    return {}


def _scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    """The details that a claim can carry."""
    return {name: value for name, value in values.items() if isinstance(value, (str, int, float, bool)) and value != ""}
