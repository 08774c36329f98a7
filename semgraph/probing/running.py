"""Probes put to a graph: what comes back for each, and the figures over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import SemgraphError
from semgraph.names import entity_key
from semgraph.probing.entries import Contradiction, Told, bad

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Answer, Fact
    from semgraph.probing.entries import Named, Probes, Question
    from semgraph.session import When
    from semgraph.view import GraphView

__all__ = ["ProbeReport", "Share", "Shortfall", "load", "probe"]

_OVER: Final = ("superseded", "expired", "ended")
_TIMELESS: Final = (None, "", "..", "unknown", "always")


class Share(NamedTuple):
    """A mean of shares: their sum, and over how many probes."""

    sum: float
    of: int

    @property
    def value(self) -> float | None:
        """From 0 to 1; None where there was nothing to measure."""
        return self.sum / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Where a probe went otherwise than asked for.

    `kind`: fact (the graph has it not), recall, answer, conflict, stale or leak.
    """

    line: int
    kind: str
    probe: str
    what: str


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The figures over all probes (contradictions and questions), and each shortfall in the order of the file.

    `facts`: the share of the facts told that the graph has. `recall`: of the facts that a question expects, the share
    among the first `limit` hits and their conflict partners, in the mean. `answers`: the share of right answers.
    `staleness`: the share of questions and contradictions for which a fact was given that no longer holds. `conflicts`:
    the share of contradictions of which all sides came back. `leaks`: the share for which a forbidden fact, or one of
    another scope, came back.
    """

    limit: int
    probes: int
    facts: Share
    recall: Share
    answers: Share
    staleness: Share
    conflicts: Share
    leaks: Share
    shortfalls: tuple[Shortfall, ...]


def load(kg: KnowledgeGraph, probes: Probes) -> None:
    """Tell a graph the facts of a file, in their order and scopes.

    Raises:
        ImportRejected: one of them is refused; the message has its line.
    """
    for told in probes.facts:
        try:
            (kg if told.scope is None else kg.scoped(told.scope)).add(**told.words)
        except SemgraphError as error:
            raise bad(told.line, str(error)) from None


def probe(
    kg: KnowledgeGraph,
    probes: Probes,
    *,
    limit: int = 6,
    at: When | None = None,
    known_at: When | None = None,
) -> ProbeReport:
    """What a graph makes of probes; it is only read.

    Args:
        kg: the graph; entries that name another scope are put to that one.
        probes: what `read_probes` gives.
        limit: how many facts recall may give, conflict partners apart.
        at: when questions are asked that say no time of their own; now if left out.
        known_at: the moment of knowledge.

    Raises:
        ImportRejected: an entry has a date or name that the graph refuses; the message has its line.
    """
    run = _Run(kg, limit, at, known_at)
    entries: tuple[Told | Contradiction | Question, ...] = (*probes.facts, *probes.contradictions, *probes.questions)
    for entry in entries:
        try:
            run.put(entry)
        except SemgraphError as error:
            raise bad(entry.line, str(error)) from None
    return run.report()


class _Run:
    """The graph with one file's probes put to it."""

    def __init__(self, kg: KnowledgeGraph, limit: int, at: When | None, known_at: When | None) -> None:
        self._graphs: dict[str | None, KnowledgeGraph] = {None: kg}
        self._limit = limit
        self._at = at
        self._known_at = known_at
        self._scores: dict[str, list[float]] = {}
        self._short: list[Shortfall] = []
        self._count = 0

    def put(self, entry: Told | Contradiction | Question) -> None:
        """Put one entry to the graph."""
        if isinstance(entry, Told):
            self._fact(entry)
            return
        self._count += 1
        if isinstance(entry, Contradiction):
            self._contradiction(entry)
        else:
            self._question(entry)

    def report(self) -> ProbeReport:
        """The figures so far."""
        names = ("facts", "recall", "answers", "staleness", "conflicts", "leaks")
        scores = {name: self._scores.get(name, []) for name in names}
        shares = {name: Share(sum(found), len(found)) for name, found in scores.items()}
        return ProbeReport(self._limit, self._count, **shares, shortfalls=tuple(sorted(self._short, key=_by_line)))

    # -- kinds of entries

    def _fact(self, told: Told) -> None:
        graph, named = self._graph(told.scope), told.named
        start = told.words.get("valid_from")
        span = (None,) if start in _TIMELESS else (start,)
        found = graph.during(*span, known_at=self._known_at).facts(*named[:3], possible=True)
        kept = any(found) != bool(told.words.get("negative"))
        self._score("facts", kept)
        if not kept:
            why = "is held, though it does not hold" if told.words.get("negative") else "is not in the graph"
            self._short.append(Shortfall(told.line, "fact", str(named), why))

    def _contradiction(self, entry: Contradiction) -> None:
        facts = self._recalled(entry)
        missing = self._missing(entry, entry.sides, facts)
        self._score("conflicts", not missing)
        self._say(entry, "conflict", "not all sides came back, without", missing)
        self._stale(entry, (), facts, ())
        self._leaks(entry, (), facts)

    def _question(self, entry: Question) -> None:
        facts = self._recalled(entry)
        if entry.facts:
            missing = self._missing(entry, entry.facts, facts)
            self._score("recall", 1 - len(missing) / len(entry.facts))
            self._say(entry, "recall", "not among what came back:", missing)
        answered: tuple[Fact, ...] = ()
        if entry.answer is not None:
            answer = self._view(entry).ask(entry.question)
            answered = (*answer.facts, *(fact for path in answer.paths for fact in path.facts))
            self._answer(entry, answer)
        self._stale(entry, entry.stale, facts, answered)
        self._leaks(entry, entry.forbidden, (*facts, *answered))

    # -- what came back

    def _recalled(self, entry: Contradiction | Question) -> tuple[Fact, ...]:
        return tuple(hit.fact for hit in self._view(entry).recall(entry.question, limit=self._limit))

    def _missing(self, entry: Contradiction | Question, wanted: Sequence[Named], facts: Sequence[Fact]) -> list[Named]:
        given = {fact.id for fact in facts}
        return [named for named in wanted if not given & self._ids(entry, named)]

    def _answer(self, entry: Question, answer: Answer) -> None:
        graph = self._graph(entry.scope)
        wanted = [_forms(graph, value) for value in entry.answer or ()]
        given = [_key(value) for value in answer.values]
        right = all(any(key in forms for key in given) for forms in wanted)
        right = right and all(any(key in forms for forms in wanted) for key in given)
        self._score("answers", right)
        if right:
            return
        said = f"answered {_listed(answer.values)}" if answer.values else f"no answer ({answer.plan})"
        what = f"{said}, expected {_listed(entry.answer or ()) or 'none'}"
        self._short.append(Shortfall(entry.line, "answer", entry.question, what))

    def _stale(
        self,
        entry: Contradiction | Question,
        stale: Sequence[Named],
        facts: Sequence[Fact],
        answered: Sequence[Fact],
    ) -> None:
        """Facts of recall that are over by the graph's own account, or by that of the file.

        An answer may rest on facts that are over: the question can ask for them.
        """
        over = [fact.label for fact in facts if fact.status in _OVER]
        given = {fact.id for fact in (*facts, *answered)}
        over += [str(named) for named in stale if given & self._ids(entry, named)]
        self._score("staleness", bool(over))
        self._say(entry, "stale", "no longer holds:", over)

    def _leaks(self, entry: Contradiction | Question, forbidden: Sequence[Named], facts: Sequence[Fact]) -> None:
        graph = self._graph(entry.scope)
        found = [str(named) for named in forbidden if self._came(entry, named, facts)]
        strangers = [fact for fact in facts if fact.subject not in graph]
        found += [f"{fact.label} (of another scope)" for fact in strangers]
        self._score("leaks", bool(found))
        self._say(entry, "leak", "must not come back:", dict.fromkeys(found))

    def _came(self, entry: Contradiction | Question, named: Named, facts: Sequence[Fact]) -> bool:
        """Whether the fact is among those, by its id or, whatever the ids are, by the same words."""
        ids = self._ids(entry, named)
        words = (_key(named.subject), named.predicate)
        return any(
            fact.id in ids
            or ((_key(fact.subject.label), fact.predicate) == words and named.object is None)
            or (_key(fact.subject.label), fact.predicate, _key(_object(fact))) == (*words, _key(named.object))
            for fact in facts
        )

    # -- the graph

    def _graph(self, scope: str | None) -> KnowledgeGraph:
        if scope not in self._graphs:
            self._graphs[scope] = self._graphs[None].scoped(scope or "")
        return self._graphs[scope]

    def _view(self, entry: Contradiction | Question) -> GraphView:
        graph = self._graph(entry.scope)
        at = self._at if entry.at is None else entry.at
        return graph if at is None and self._known_at is None else graph.at(at, known_at=self._known_at)

    def _ids(self, entry: Contradiction | Question, named: Named) -> set[str]:
        """The ids of the facts that a probe names, of whatever time."""
        graph = self._graph(entry.scope if named.scope is None else named.scope)
        found = graph.during(known_at=self._known_at).facts(*named[:3], possible=True)
        return {fact.id for fact in found}

    # -- the report

    def _score(self, figure: str, score: float) -> None:
        self._scores.setdefault(figure, []).append(float(score))

    def _say(self, entry: Contradiction | Question, kind: str, what: str, which: Iterable[object]) -> None:
        shown = "; ".join(map(str, which))
        if shown:
            self._short.append(Shortfall(entry.line, kind, entry.question, f"{what} {shown}"))


def _by_line(short: Shortfall) -> int:
    return short.line


def _object(fact: Fact) -> object:
    return None if fact.object is None else fact.object.label


def _key(value: object) -> str:
    """What values are compared by: names as names, numbers by their size, times as they are written."""
    if isinstance(value, (bool, type(None))):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return entity_key(str(value))
    except SemgraphError:  # nothing visible is left of it
        return str(value)


def _forms(graph: KnowledgeGraph, value: Any) -> set[str]:
    """The keys under which an expected value may be given: its own, and those of what else it is called."""
    return {_key(value), *_names(graph, value)}


def _names(graph: KnowledgeGraph, value: Any) -> Iterator[str]:
    if isinstance(value, str) and value in graph:
        yield from (_key(entity.label) for entity in graph.candidates(value))


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))
