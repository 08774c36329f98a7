"""GraphView: every read, at one slice of valid time and one moment of knowledge."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from semgraph import factrow
from semgraph.collecting import uncollected
from semgraph.comparison import compare
from semgraph.errors import ConflictError, InputError
from semgraph.model import Bounded, Entity, Literal
from semgraph.named import NamedView
from semgraph.names import entity_key
from semgraph.points import STALE, UNTOLD
from semgraph.reader import Reader, Reading
from semgraph.selecting import (
    by_time,
    end_condition,
    far_end,
    latest_of_each,
    plain,
    positive,
    qualified,
    through,
)
from semgraph.statement import object_ref
from semgraph.store.schema import EntityRow
from semgraph.temporal import NEG_INF, POS_INF, Bound, exact
from semgraph.walk.cut import checked_confidence, checked_count
from semgraph.walking import WalkingView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Answer, ConflictSet, Diff, Fact
    from semgraph.session import Session
    from semgraph.store.schema import FactRow
    from semgraph.vocabulary import Resolved

    Name = str | Entity

__all__ = ["CHUNK", "GraphView", "Slice"]

CHUNK = 500  # facts made at a time on the way through a whole graph


class Slice(NamedTuple):
    """What a view looks at: an instant, a window, or (neither) the present; and a moment of knowledge."""

    valid_at: int | None = None
    window: tuple[int, int] | None = None
    cover: bool = False
    known_at: int = POS_INF
    pinned: int | None = None  # what "now" means here


class GraphView(WalkingView, NamedView):
    """The graph as it was at a valid time, as known at a transaction time.

    Make one with `kg.at`, `kg.during` or `kg.throughout`; a `KnowledgeGraph` is itself one, of now.
    """

    def __init__(self, session: Session, cut: Slice) -> None:
        self._session = session
        self._slice = cut
        self._moment = cut.pinned if cut.valid_at is None else cut.valid_at  # at which facts are judged; None is now

    # -- the slice

    @property
    def scope(self) -> str:
        """The scope that this view reads."""
        return self._session.scope

    @property
    def whole(self) -> bool:
        """Whether this is the graph itself, which can be written to and moves with the clock."""
        return False

    @property
    def valid_at(self) -> Bound | None:
        """The instant that was asked for, or None for now or a window."""
        return None if self._slice.valid_at is None else exact(self._slice.valid_at)

    @property
    def known_at(self) -> Bound | None:
        """The moment of knowledge that was asked for, or None for the latest."""
        return None if self._slice.known_at == POS_INF else exact(self._slice.known_at)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A transaction in which the stored rows of the slice can be read; for modules of semgraph itself."""
        with self._session.read(), uncollected():
            yield self._reader()

    def _reader(self) -> Reader:
        """What reads in the transaction that is open."""
        known_at = self._slice.known_at
        if known_at >= self._session.last_recorded:
            known_at = POS_INF
        return Reader(self._session, self._session.ledger.at(known_at))

    def _instant(self) -> int | None:
        """The instant at which facts are judged; None on a window."""
        if self._slice.window is not None:
            return None
        if self._slice.valid_at is not None:
            return self._slice.valid_at
        return self._session.now() if self._slice.pinned is None else self._slice.pinned

    def _in_slice(self, r: Reading, *, possible: bool) -> bool:
        window, row = self._slice.window, r.row
        if window is None:
            instant = self._instant()
            if instant is None:
                return False
            if possible:
                return factrow.holds(row, r.body, instant, possible=True)
            return row.valid_from <= instant < row.valid_to and not r.without_start
        start, end = r.body.possible if possible else (row.valid_from, row.valid_to)
        if r.without_start:
            if not possible:
                return False
            start, end = NEG_INF, row.valid_to
        if self._slice.cover:
            return start <= window[0] and window[1] <= end
        return start < window[1] and window[0] < end

    def __bool__(self) -> bool:
        return True

    # -- facts

    def values(
        self, subject: Name, predicate: str, *, qualifiers: Mapping[str, Any] | None = None, possible: bool = False
    ) -> list[Fact]:
        """The facts that hold for a subject and predicate, the most confident first; empty if none does.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "speaks", "Greek"), kg.add("Maya", "speaks", "Finnish", source="tool:crm")
        >>> [fact.object.label for fact in kg.values("Maya", "speaks")]
        ['Greek', 'Finnish']
        """
        with self.reading() as reader:
            number = reader.directory.one(subject, reader.snapshot, self._slice.valid_at)
            if number is None:
                return []
            readings = [r for r in self._fluent(reader, number, predicate) if positive(r)]
            found = self._kept(reader, readings, qualifiers=qualifiers, possible=possible)
        return sorted(found, key=lambda f: (-f.confidence, f.valid_from.instant, f.label, f.id))

    def value(
        self, subject: Name, predicate: str, default: Any = None, *, qualifiers: Mapping[str, Any] | None = None
    ) -> Any:
        """The one value that holds, as a plain name, text, number, boolean or date; the default if none does.

        Raises:
            ConflictError: more than one holds; `.facts` has them all.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2020")
        >>> kg.value("Maya", "lives_in"), kg.at("2010").value("Maya", "lives_in", "not known")
        ('Oslo', 'not known')
        """
        if not qualifiers and self._slice.window is None:
            points, cut = self._session.points, self._slice
            found = STALE
            if points is not None:
                found = points.value(subject, predicate, self._moment, cut.known_at, default)
            if found is STALE:
                found = self._followed_value(subject, predicate, default)
            if found is not UNTOLD:
                return found
        facts = self.values(subject, predicate, qualifiers=qualifiers)
        if len(facts) > 1:
            shown = ", ".join(fact.object.label for fact in facts if fact.object is not None)
            ways = ", or settle() to choose" if any(fact.conflicted for fact in facts) else ""
            raise ConflictError(
                f"{facts[0].subject.label} {predicate} has {len(facts)} values at once: {shown}; "
                f"use values() to get them all{ways}",
                facts,
            )
        return plain(facts[0].object) if facts else default

    def _followed_value(self, subject: Name, predicate: str, default: Any) -> Any:
        """What memory tells of the value once it has caught up; UNTOLD where the store has to be asked."""
        points = self._session.followed()
        known = self._slice.known_at
        found = UNTOLD if points is None else points.value(subject, predicate, self._moment, known, default)
        return UNTOLD if found is STALE else found

    def facts(
        self,
        subject: Name | None = None,
        predicate: str | None = None,
        object: Name | Literal | float | None = None,
        *,
        qualifiers: Mapping[str, Any] | None = None,
        possible: bool = False,
        min_confidence: float = 0,
    ) -> Iterator[Fact]:
        """The facts of the slice that meet every condition given, negative ones left out, in a fixed order.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "works_at", "Linear"), kg.add("Ben", "works_at", "Linear")
        >>> [fact.subject.label for fact in kg.facts(predicate="works_at", object="Linear")]
        ['Maya', 'Ben']
        """
        checked_confidence(min_confidence)
        with self.reading() as reader:
            readings = self._matching(reader, subject, predicate, object)
            readings = [r for r in readings if positive(r)]
            readings.sort(key=lambda r: (r.row.subject, r.row.predicate, r.row.valid_from, r.row.id))
            kept = [r.told() for r in readings if self._in_slice(r, possible=possible)]
        for start in range(0, len(kept), CHUNK):
            with self.reading() as reader:
                made = reader.facts(kept[start : start + CHUNK], self._instant())
            for fact in made:
                if fact.confidence >= min_confidence and qualified(fact, qualifiers):
                    yield fact

    def chunks(self, *, possible: bool = False) -> Iterator[tuple[Reader, list[Reading]]]:
        """The facts of the slice as they are stored, in the order of `facts`, some hundreds at a time.

        For modules of semgraph itself. All is of one snapshot, whoever writes meanwhile; what was read is forgotten as
        it goes, so that the memory does not grow with the graph.
        """
        with self._session.read():
            with self.reading() as reader:
                entities = sorted(row.id for row in reader.ledger.store.iterate(EntityRow, reader.ledger.scope))
            start, together = 0, 1
            while start < len(entities):
                with self._session.read():
                    with uncollected():
                        reader = self._reader()
                        rows = reader.rows(subject=entities[start : start + together])
                        start += together
                        # As many subjects at a time as have some thousand facts: a few may have most of the graph's.
                        together = max(1, together // 2) if len(rows) > 4 * CHUNK else min(2 * together, CHUNK)
                        rows.sort(key=lambda row: (row.subject, row.predicate, row.valid_from, row.id))
                        reader.beside.keep_whole(rows)
                        found = [r for row in rows for r in reader.reading(row, row.predicate) if positive(r)]
                        kept = [r for r in found if self._in_slice(r, possible=possible)]
                    for first in range(0, len(kept), CHUNK):
                        yield reader, kept[first : first + CHUNK]

    def moment(self) -> tuple[int | None, int, int]:
        """The instant of the slice, if it has one, what is now for it, and when the newest that it knows was told."""
        with self.reading():
            instant = self._instant()
            now = self._session.now() if instant is None else instant
            return instant, now, min(self._session.last_recorded, self._slice.known_at)

    def about(self, entity: Name, *, limit: int | None = 1000) -> dict[str, Bounded[Fact]]:
        """What holds about an entity, by predicate, the most confident first; also what is told from the other end.

        Of each predicate come up to `limit` facts, the latest to begin; where there are more, `.truncated` of its list
        is true. None is no limit.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Kari", "manages", "Maya"), kg.add("Maya", "lives_in", "Oslo")
        >>> {name: [fact.object.label for fact in facts] for name, facts in kg.about("Maya").items()}
        {'lives_in': ['Oslo'], 'reports_to': ['Kari']}
        """
        most = None if limit is None else checked_count("limit", limit, 1)
        with self.reading() as reader:
            number = reader.directory.known(entity, reader.snapshot, self._slice.valid_at)
            readings = [r for r in self._around(reader, number) if positive(r) and self._in_slice(r, possible=False)]
            readings, cut = latest_of_each(readings, most)
            found = reader.facts(readings, self._instant())
        out: dict[str, Bounded[Fact]] = {}
        for fact in sorted(found, key=lambda f: (f.predicate, -f.confidence, f.valid_from.instant, f.label)):
            if fact.predicate not in out:
                out[fact.predicate] = Bounded(truncated=fact.predicate in cut)
            out[fact.predicate].append(fact)
        return out

    def timeline(
        self, entity: Name, predicate: str | None = None, *, negative: bool = False, possible: bool = False
    ) -> list[Fact]:
        """Every fact about an entity over time, by start, end and name; on a window those that meet it.

        Ended and superseded facts are part of it; negative ones and those that are only possible come on request.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2019")
        >>> _ = kg.add("Maya", "lives_in", "Bergen", valid_from="2022")
        >>> [(fact.object.label, str(fact.valid_from), str(fact.valid_to)) for fact in kg.timeline("Maya")]
        [('Oslo', '2019', '2022'), ('Bergen', '2022', 'None')]
        """
        session, key = self._session, (self.scope, entity, predicate, bool(negative), bool(possible))
        if self.whole and (kept := session.recent.find(session.store.revision(), key, session.wall())) is not None:
            return kept
        with self.reading() as reader:
            number = reader.directory.known(entity, reader.snapshot, self._slice.valid_at)
            readings = self._around(reader, number) if predicate is None else self._fluent(reader, number, predicate)
            readings = [r for r in readings if negative or positive(r)]
            if self._slice.window is not None:
                readings = [r for r in readings if self._in_slice(r, possible=possible)]
            elif not possible:
                readings = [r for r in readings if not r.without_start]
            if predicate is None and self._slice.window is None:
                reader.ledger.fetch_of(number)
            now = session.now()
            found = sorted(reader.facts(readings, None, now), key=by_time)
            if self.whole:
                turns = (turn for r in readings for turn in (r.row.valid_from, r.row.valid_to))
                known = session.last_recorded
                session.recent.keep(session.store.revision(), key, found, known=known, now=now, turns=turns)
        return found

    def _kept(
        self,
        reader: Reader,
        readings: Iterable[Reading],
        *,
        qualifiers: Mapping[str, Any] | None = None,
        possible: bool = False,
    ) -> list[Fact]:
        kept = [r for r in readings if self._in_slice(r, possible=possible)]
        return [fact for fact in reader.facts(kept, self._instant()) if qualified(fact, qualifiers)]

    def held_rows(
        self, reader: Reader, subject: Name, predicate: str, object: object, qualifiers: Mapping[str, Any] | None
    ) -> list[FactRow]:
        """The stored facts that hold in the slice for one subject, predicate and object."""
        readings = [r for r in self._matching(reader, subject, predicate, object) if positive(r)]
        readings = [r for r in readings if self._in_slice(r, possible=False)]
        facts = reader.facts(readings, self._instant())
        return [r.row for r, fact in zip(readings, facts, strict=True) if qualified(fact, qualifiers)]

    def _matching(self, reader: Reader, subject: Name | None, predicate: str | None, object: object) -> list[Reading]:
        snapshot, directory = reader.snapshot, reader.directory
        start = None if subject is None else directory.one(subject, snapshot, self._slice.valid_at)
        if subject is not None and start is None:
            return []
        wanted: str | None = None
        resolved = None if predicate is None else snapshot.registry.resolve(predicate)
        if object is not None:
            wanted = self._object(reader, object, resolved)
            if wanted is None:
                return []
        if start is not None and resolved is not None and predicate is not None:
            found = self._fluent(reader, start, predicate)
        elif start is not None:
            found = self._around(reader, start)
        elif resolved is not None and predicate is not None:
            near = (
                {} if wanted is None or resolved.predicate.symmetric else end_condition(wanted, turned=resolved.inverse)
            )
            rows = reader.rows(predicate=resolved.predicate.name, **near)
            found = [r for row in rows for r in through(reader, row, resolved, predicate)]
        elif wanted is not None:
            found = [r for row in reader.rows(object=wanted) for r in reader.reading(row, row.predicate)]
        else:
            return [r for row in reader.rows() for r in reader.reading(row, row.predicate)]
        return [r for r in found if wanted is None or far_end(r) == wanted]

    def _object(self, reader: Reader, object: object, resolved: Resolved | None) -> str | None:
        entry = reader.snapshot.predicate("states") if resolved is None else resolved.predicate
        by_name = isinstance(object, (str, Entity)) if resolved is None else resolved.inverse
        named = object if by_name else object_ref(object, entry)
        if isinstance(named, str) and named[:2] in ("l:", "x:"):
            return named
        if not isinstance(named, (str, Entity)):
            return None
        number = reader.directory.one(named, reader.snapshot, self._slice.valid_at)
        if number is not None:
            return f"e{number}"
        return f"l:{entity_key(named)}" if resolved is None and isinstance(named, str) else None

    def _fluent(self, reader: Reader, number: int, predicate: str) -> list[Reading]:
        """The stored facts of one subject and predicate, read the way the name says."""
        resolved = reader.snapshot.registry.resolve(predicate)
        name = resolved.predicate.name
        shown = name if not (resolved.inverse or resolved.flipped) else reader.snapshot.registry.canonical_of(predicate)
        readings = []
        sides = (False, True) if resolved.predicate.symmetric else (resolved.inverse,)
        for turned in sides:
            where = {"object": f"e{number}"} if turned else {"subject": number}
            for row in reader.rows(predicate=name, **where):
                if turned and not resolved.inverse and row.subject == number:
                    continue  # a loop that a merge made reads the same from both ends
                readings += reader.reading(row, shown, turned=turned, flipped=resolved.flipped)
        return readings

    def _around(self, reader: Reader, number: int) -> list[Reading]:
        """Every stored fact at an entity, each under the name through which it reads from there."""
        registry = reader.snapshot.registry
        readings: list[Reading] = []
        for row in reader.rows(subject=number):
            opposites = registry.opposites_of(row.predicate) if row.negative else ()
            through = [r for name in opposites[:1] for r in reader.reading(row, name, flipped=True)]
            readings += through or reader.reading(row, row.predicate)
        for row in reader.rows_onto(number):
            symmetric = reader.snapshot.predicate(row.predicate).symmetric
            names = (row.predicate,) if symmetric else registry.inverses_of(row.predicate)
            readings += [r for name in names[:1] for r in reader.reading(row, name, turned=True)]
        return readings

    def ask(self, question: str) -> Answer:
        """What the graph answers to a question in English, by names, relations and dates; nothing is guessed.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Anna", "owns", "payments service"), kg.add("Kari", "manages", "Anna")
        >>> kg.ask("Who manages the person who owns the payments service?").values
        ['Kari']
        """
        from semgraph.asking import ask

        cut = self._slice
        ever = GraphView(self._session, Slice(window=(NEG_INF, POS_INF), known_at=cut.known_at))
        with self.reading():
            now = self._instant()
            now = self._session.now() if now is None else now
        return ask(self, ever, question, now, pinned=cut.valid_at is not None)

    # -- conflicts and differences

    def conflicts(self, subject: Name | None = None) -> list[ConflictSet]:
        """The facts that exclude each other: at the view's instant, or on a window all that meet it.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2025")
        >>> _ = kg.add("Maya", "lives_in", "Bergen", valid_from="2025", source="tool:calendar")
        >>> [sorted(fact.object.label for fact in conflict.facts) for conflict in kg.conflicts()]
        [['Bergen', 'Oslo']]
        """
        with self.reading() as reader:
            if subject is None:
                rows = reader.rows(disputed=1)
            else:
                number = reader.directory.known(subject, reader.snapshot, self._slice.valid_at)
                rows = reader.rows(disputed=1, subject=number) + reader.rows(disputed=1, object=f"e{number}")
            return reader.conflict_sets(rows, self._instant(), self._slice.window)

    def diff(self, other: GraphView, *, subject: Name | None = None) -> Diff:
        """What is opened, closed and changed on the way from this view to the other.

        Two views that differ only in what was known are compared over all of valid time: what we changed our mind
        about.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2019")
        >>> _ = kg.add("Maya", "lives_in", "Bergen", valid_from="2022")
        >>> [[fact.object.label for fact in pair] for pair in kg.at("2020").diff(kg.at("2024")).changed]
        [['Oslo', 'Bergen']]
        """
        theirs: object = other
        if not isinstance(theirs, GraphView) or theirs._session.store is not self._session.store:
            raise InputError('diff compares two views of one store, as in kg.at("2023").diff(kg.at("2024"))')
        if other.scope != self.scope:
            raise InputError("diff compares two views of one scope")
        whole = all(v._slice.valid_at is None and v._slice.window is None for v in (self, other))
        sides = []
        for view in (self, other):
            with view.reading() as reader:
                readings = view._matching(reader, subject, None, None)
                readings = [r for r in readings if not r.without_start and not r.row.negative]
                if not whole:
                    readings = [r for r in readings if view._in_slice(r, possible=False)]
                facts = reader.facts(readings, None if whole else view._instant())
                disputed = [r.row for r in readings if r.body.rivals]
                sets = reader.conflict_sets(disputed, None if whole else view._instant(), view._slice.window)
                sides.append((readings, facts, sets))
        return compare(sides[0], sides[1], whole=whole, entry=self._session.ledger.registry().entry)


def is_graph(view: object) -> TypeGuard[KnowledgeGraph]:
    """Whether this is a whole graph and no slice of one."""
    return isinstance(view, GraphView) and view.whole
