"""Graphs with a clock of their own, random histories of calls, and what a graph shows, as plain data to compare."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import semgraph
from semgraph.errors import AmbiguousNameError, InputError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph import GraphView, KnowledgeGraph

Call = tuple[str, dict[str, Any]]  # a method of the graph (or of kg.names, kg.predicates) and its parameters


class Clock:
    """A clock that shows what it is told to."""

    def __init__(self, start: str = "2024-01-01T00:00:00Z") -> None:
        self.moment = datetime.fromisoformat(start)

    def __call__(self) -> datetime:
        return self.moment

    def tick(self, **delta: float) -> None:
        self.moment += timedelta(**delta)

    def show(self, text: str) -> None:
        self.moment = datetime.fromisoformat(text)


def graph(target: Any = ":memory:", *, clock: Clock | None = None, **options: Any) -> KnowledgeGraph:
    """A graph without an embedder; its clock stands still until it is told otherwise."""
    return semgraph.KnowledgeGraph(target, embedder=None, clock=clock or Clock(), **options)


def timed(
    start: str = "2024-01-01T00:00:00Z", target: Any = ":memory:", **options: Any
) -> tuple[KnowledgeGraph, Clock]:
    clock = Clock(start)
    return graph(target, clock=clock, **options), clock


# -- what a graph shows


def day(instant: Any) -> str:
    """A bound as text, the first instant of a year, month or day as that; None is open."""
    if instant is None:
        return "…"
    text = str(instant)
    for rest in ("-01-01T00:00:00Z", "-01T00:00:00Z", "T00:00:00Z"):
        if text.endswith(rest):
            return text.removesuffix(rest)
    return text


def shown(fact: Any) -> str:
    """The object of a fact, signed."""
    label = "(anything)" if fact.object is None else str(fact.object.label)
    return f"¬{label}" if fact.negative else label


def line(fact: Any, *, confidence: bool = True) -> tuple[Any, ...]:
    """A fact without ids and without what was known when."""
    start = fact.valid_from.instant if fact.start_basis != "unknown" else None
    return (
        fact.subject.label,
        fact.predicate,
        shown(fact),
        start,
        None if fact.valid_to is None else fact.valid_to.instant,
        fact.start_basis,
        fact.certain,
        fact.conflicted,
        tuple(sorted(fact.sources)),
        fact.confidence if confidence else None,
    )


def conflict(found: Any) -> tuple[Any, ...]:
    about = found.object if found.subject is None else found.subject
    own = found.subject is not None
    members = tuple(sorted(shown(f) if own else f.subject.label for f in found.facts))
    return (about.label, found.predicate, members, found.since.instant, found.until and found.until.instant)


def timelines(view: GraphView, *, confidence: bool = True) -> list[tuple[Any, ...]]:
    """Every fact from every end, negative and merely possible ones too."""
    rows = []
    for entity in view.entities():
        found = view.timeline(entity, negative=True, possible=True)
        rows += [(entity.label, *line(fact, confidence=confidence)) for fact in found]
    return sorted(rows, key=repr)


def picture(view: GraphView, *, confidence: bool = True) -> tuple[Any, ...]:
    """All that a view of all time shows, without ids: timelines and conflict sets."""
    return timelines(view, confidence=confidence), sorted(map(conflict, view.conflicts()), key=repr)


def ever(kg: KnowledgeGraph, known_at: Any = None, *, confidence: bool = True) -> tuple[Any, ...]:
    """The picture over all time, as known at a moment."""
    return picture(kg.during(known_at=known_at), confidence=confidence)


def labels(facts: Iterable[Any]) -> list[str]:
    return sorted(map(shown, facts))


def spans(view: GraphView, subject: str, predicate: str, **options: Any) -> list[tuple[str, str, str]]:
    """A timeline in words: object, from, to."""
    return [(shown(f), day(f.valid_from), day(f.valid_to)) for f in view.timeline(subject, predicate, **options)]


# -- random calls

SUBJECTS = ("Ann", "Bo")
OBJECTS = ("Acme", "Globex", "Acme Labs", "Bo")
ONE, MANY, UNREGISTERED = ("works_at",), ("likes", "dislikes", "uses"), ("collects",)
MIXED = (*ONE, "likes", "dislikes", *UNREGISTERED, "reports_to", "manages", "ceo_of", "married_to", "status", "visited")
SAID = ("2012-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "2021-06-01T00:00:00Z", "2023-12-31T00:00:00Z")
DATES = ("2010", "2015", "2018-06", "2020", "2020-03-01", "2022~", "2024-06-01", "198X")
SOURCES = ("user", "user", "tool:ci", "imported:cv", "inferred")
MOMENTS = ("2012-01-01", "2018-03-01", "2020-02-01", "2021-06-02", "2024-01-15", "2030-01-01")
_KINDS = ("state", "state", "state", "change", "also")


@st.composite
def claims(
    draw: st.DrawFn,
    predicates: Sequence[str] = MIXED,
    *,
    said: bool | None = True,
    sources: Sequence[str] = SOURCES,
    operations: Sequence[str] = ("add", "add", "add", "end", "deny"),
    subjects: Sequence[str] = SUBJECTS,
    objects: Sequence[str] = OBJECTS,
    unknown: bool = True,
) -> Call:
    """One call that makes a claim; `said`: always, never, or (None) now and then with a said_at."""
    name = draw(st.sampled_from(operations))
    subject = draw(st.sampled_from(subjects))
    words: dict[str, Any] = {
        "subject": subject,
        "predicate": draw(st.sampled_from(predicates)),
        "object": draw(st.sampled_from([o for o in objects if o != subject])),
        "source": draw(st.sampled_from(sources)),
    }
    if said or (said is None and draw(st.booleans())):
        words["said_at"] = draw(st.sampled_from(SAID))
    if draw(st.integers(0, 5)) == 0:
        words["source_ref"] = draw(st.sampled_from(["doc:1", "doc:2"]))
    dates = (*DATES, "unknown") if unknown else DATES
    start = draw(st.none() | st.sampled_from(dates))
    stop = draw(st.none() | st.none() | st.sampled_from(dates))
    if name == "add":
        words |= {"valid_from": start, "valid_to": stop, "kind": draw(st.sampled_from(_KINDS))}
        words["negative"] = words["kind"] != "also" and draw(st.integers(0, 7)) == 0
    elif name == "end":
        words["at"] = start
        if draw(st.integers(0, 3)) == 0 and words["predicate"] != "manages":
            words["object"] = None
    elif name == "deny" and draw(st.booleans()):
        words |= {"valid_from": start, "valid_to": stop}
    return name, words


def tell(kg: KnowledgeGraph, call: Call) -> Any:
    """The answer of a call, or None where it is refused; the graph is unharmed either way."""
    name, words = call
    owner: Any = kg
    *path, method = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    try:
        return getattr(owner, method)(**words)
    except (InputError, NotFoundError, AmbiguousNameError):
        return None


def tell_all(kg: KnowledgeGraph, clock: Clock, calls: Iterable[Call], **pause: float) -> list[Any]:
    """The answers of calls, one after the other, some time apart."""
    answers = []
    for call in calls:
        clock.tick(**(pause or {"hours": 7}))
        answers.append(tell(kg, call))
    return answers


@st.composite
def histories(draw: st.DrawFn, *, most: int = 5, **options: Any) -> list[Call]:
    """Claims, and what else changes what is believed: merges, declarations, definitions."""
    other = st.one_of(
        st.tuples(st.just("names.merge"), _pairs("duplicate", "into")),
        st.tuples(st.just("names.unmerge"), st.sampled_from(OBJECTS).map(lambda n: {"duplicate": n})),
        st.tuples(st.just("names.declare"), st.sampled_from(OBJECTS).map(lambda n: {"name": n})),
        st.tuples(st.just("predicates.define"), _definitions()),
        st.tuples(st.just("settle"), _settlements()),
        st.tuples(st.just("correct"), _corrections()),
    )
    told = claims(said=None, **options)
    return draw(st.lists(st.one_of(told, told, told, other), min_size=2, max_size=most))


def _pairs(first: str, second: str) -> st.SearchStrategy[dict[str, Any]]:
    found = st.lists(st.sampled_from((*SUBJECTS, *OBJECTS[:3])), min_size=2, max_size=2, unique=True)
    return found.map(lambda pair: {first: pair[0], second: pair[1]})


@st.composite
def _definitions(draw: st.DrawFn) -> dict[str, Any]:
    cardinality = draw(st.sampled_from(["one", "many"]))
    return {"predicate": draw(st.sampled_from(["collects", "works_at", "likes"])), "cardinality": cardinality}


@st.composite
def _settlements(draw: st.DrawFn) -> dict[str, Any]:
    choice = draw(st.sampled_from(["choose", "keep_both", "both_wrong"]))
    found = {"subject": draw(st.sampled_from(SUBJECTS)), "predicate": draw(st.sampled_from(MIXED)), "choice": choice}
    if choice == "choose":
        found["object"] = draw(st.sampled_from(OBJECTS))
    return found | {"valid_at": draw(st.none() | st.sampled_from(MOMENTS))}


@st.composite
def _corrections(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "subject": draw(st.sampled_from(SUBJECTS)),
        "predicate": draw(st.sampled_from(MIXED)),
        "old": draw(st.sampled_from(OBJECTS)),
        "new": draw(st.sampled_from(OBJECTS)),
        "valid_at": draw(st.none() | st.sampled_from(MOMENTS)),
    }


__all__ = ["Clock", "claims", "ever", "graph", "histories", "picture", "tell", "tell_all", "timed"]
