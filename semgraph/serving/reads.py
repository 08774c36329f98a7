"""The tools that read: each takes its arguments and a desk, and gives typed data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import InputError
from semgraph.explaining import explain as explained
from semgraph.render import clean
from semgraph.serving import outputs as out
from semgraph.serving.paging import Room, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import BaseModel

    from semgraph import model
    from semgraph.serving import inputs
    from semgraph.serving.desk import Desk, Opened
    from semgraph.view import GraphView

__all__ = ["about", "ask", "conflicts", "explain", "match", "neighbors", "paths", "profile", "recall", "timeline"]

_MOST_EXPLAINED: Final = 20
_MOST_LINKS: Final = 8  # facts shown for one neighbour
_MOST_WALKED: Final = 5_000
_EITHER: Final = "valid_at is one time, valid_from and valid_to are a stretch: give one of the two"


def _json(data: BaseModel) -> str:
    return data.model_dump_json(exclude_defaults=True)


def _now(view: GraphView) -> int:
    return view.moment()[1]


def recall(desk: Desk, asked: inputs.Recall) -> out.HitsOut:
    """The facts that matter to a question."""
    view = desk.view(asked)
    hits = view.recall(asked.query, limit=asked.limit, min_confidence=asked.min_confidence)
    now = _now(view)

    def made(hit: model.Hit) -> out.HitOut:
        return out.HitOut(fact=out.fact_out(hit.fact, now), score=round(hit.score, 6), why=clean(hit.why))

    page = fitted(hits, Room(0, len(hits), asked.budget), made, _json)
    return out.HitsOut(
        hits=page.items,
        total=page.total,
        tokens=page.tokens,
        truncated=page.after is not None,
        clocks=desk.clocks(view, asked),
    ).showing(view.render(hits[: len(page.items)]))


def ask(desk: Desk, asked: inputs.Ask) -> out.AnswerOut:
    """The answer to a question, and what it rests on."""
    view = desk.view(asked)
    found = view.ask(asked.question)
    now = _now(view)
    page = fitted(found.facts, Room(0, len(found.facts), asked.budget), lambda fact: out.fact_out(fact, now), _json)
    return out.AnswerOut(
        values=[value if isinstance(value, bool | int | float) else clean(str(value)) for value in found.values],
        sure=found.sure,
        plan=clean(found.plan),
        facts=page.items,
        total=page.total,
        tokens=page.tokens,
        clocks=desk.clocks(view, asked),
    ).showing(view.render(found.facts[: len(page.items)]))


def about(desk: Desk, asked: inputs.About) -> out.FactsOut:
    """What holds about an entity."""

    def find(valid: Any, known: Any) -> tuple[GraphView, list[model.Fact]]:
        view = desk.graph.at(valid, known_at=known)
        found = view.about(desk.name(asked.entity), limit=None)  # all of it, page by page
        return view, [fact for group in found.values() for fact in group]

    return _facts(desk, "about", asked, find)


def timeline(desk: Desk, asked: inputs.Timeline) -> out.FactsOut:
    """Every fact about an entity over time."""

    def find(_: Any, known: Any) -> tuple[GraphView, list[model.Fact]]:
        start, end = _stretch(desk, asked)
        if asked.valid_at is not None:
            start = desk.when(asked.valid_at)
        view = desk.graph.during(start, end, known_at=known)
        name, more = desk.name(asked.entity), {"negative": asked.negative, "possible": asked.possible}
        return view, view.timeline(name, asked.predicate, **more)

    return _facts(desk, "timeline", asked, find)


def _stretch(desk: Desk, asked: inputs.Timeline | inputs.Match) -> tuple[Any, Any]:
    """The window of a read, None for none; a start alone goes on."""
    start, end = desk.when(asked.valid_from), desk.when(asked.valid_to)
    if asked.valid_at is not None and (start is not None or end is not None):
        raise InputError(_EITHER)
    return start, ".." if end is None and start is not None else end


def _facts(
    desk: Desk,
    tool: str,
    asked: inputs.PagedRead,
    find: Callable[[Any, Any], tuple[GraphView, list[model.Fact]]],
) -> out.FactsOut:
    found: list[tuple[GraphView, list[model.Fact]]] = []

    def look(valid: Any, known: Any) -> tuple[Sequence[model.Fact], Callable[[model.Fact], out.FactOut]]:
        view, facts = find(valid, known)
        found.append((view, facts))
        now = _now(view)
        return facts, lambda fact: out.fact_out(fact, now)

    opened = desk.paged(tool, asked, look, _json)
    ((view, facts),) = found
    shown = facts[opened.start : opened.start + len(opened.page.items)]
    return out.FactsOut(facts=opened.page.items, **_of_page(opened)).showing(view.render(shown))


def _of_page(opened: Opened[Any]) -> dict[str, Any]:
    page = opened.page
    return {
        "total": page.total,
        "tokens": page.tokens,
        "next_cursor": opened.next_cursor,
        "clocks": opened.clocks,
    }


def neighbors(desk: Desk, asked: inputs.Neighbors) -> out.NeighborsOut:
    """The entities near another."""
    bounds: list[bool] = []

    def find(valid: Any, known: Any) -> tuple[Sequence[model.Neighbor], Callable[[model.Neighbor], out.NeighborOut]]:
        view = desk.graph.at(valid, known_at=known)
        found = view.neighbors(
            desk.name(asked.entity),
            hops=asked.hops,
            direction=asked.direction,
            predicates=asked.predicates,
            limit=_MOST_WALKED,
        )
        bounds.append(found.truncated)
        now = _now(view)
        return found, lambda one: _neighbor(one, now)

    opened = desk.paged("neighbors", asked, find, _json)
    return out.NeighborsOut(neighbors=opened.page.items, truncated=bounds[0], **_of_page(opened))


def _neighbor(one: model.Neighbor, now: int) -> out.NeighborOut:
    return out.NeighborOut(
        entity=clean(one.entity.label),
        entity_id=one.entity.id,
        distance=one.distance,
        facts=[out.fact_out(fact, now) for fact in one.facts[:_MOST_LINKS]],
    )


def paths(desk: Desk, asked: inputs.Paths) -> out.PathsOut:
    """The ways from one entity to another."""
    if asked.mode == "snapshot":
        view = desk.view(asked)
    elif asked.valid_at is not None:
        raise InputError(f"mode {asked.mode!r} looks at all of time: leave valid_at out, or use snapshot")
    else:
        view = desk.graph.during(known_at=desk.when(asked.known_at))
    found = view.paths(
        desk.name(asked.start),
        desk.name(asked.target),
        mode=asked.mode,
        cutoff=asked.cutoff,
        limit=asked.limit,
        direction=asked.direction,
        predicates=asked.predicates,
    )
    now = _now(view)
    page = fitted(found, Room(0, len(found), asked.budget), lambda one: _path(one, now), _json)
    return out.PathsOut(
        paths=page.items,
        total=page.total,
        tokens=page.tokens,
        truncated=found.truncated or page.after is not None,
        clocks=desk.clocks(view, asked),
    )


def _path(one: model.Path, now: int) -> out.PathOut:
    start, end = (None, None) if one.interval is None else one.interval
    return out.PathOut(
        entities=[clean(entity.label) for entity in one.entities],
        facts=[out.fact_out(fact, now) for fact in one.facts],
        valid_from=out.when(start),
        valid_to=out.when(end),
        arrival=out.when(one.arrival),
        confidence=round(one.confidence, 4),
    )


def match(desk: Desk, asked: inputs.Match) -> out.MatchOut:
    """Every way to make all patterns facts."""
    bounds: list[bool] = []

    def find(valid: Any, known: Any) -> tuple[Sequence[model.Row], Callable[[model.Row], out.RowOut]]:
        start, end = _stretch(desk, asked)
        at_once = start is None and end is None
        view = desk.graph.at(valid, known_at=known) if at_once else desk.graph.during(start, end, known_at=known)
        rows = view.match(*(_pattern(desk, *parts) for parts in asked.patterns), limit=_MOST_WALKED)
        bounds.append(rows.truncated)
        return rows, _row

    opened = desk.paged("match", asked, find, _json)
    return out.MatchOut(rows=opened.page.items, truncated=bounds[0], **_of_page(opened))


def _pattern(desk: Desk, subject: str, predicate: str, thing: str) -> tuple[object, object, object]:
    return desk.name(subject), predicate, desk.name(thing)


def _row(row: model.Row) -> out.RowOut:
    return out.RowOut(
        values={clean(name): clean(thing.label) for name, thing in row.items()},
        valid_from=out.when(row.interval[0]),
        valid_to=out.when(row.interval[1]),
        facts=[fact.id for fact in row.facts],
    )


def conflicts(desk: Desk, asked: inputs.Conflicts) -> out.ConflictsOut:
    """What contradicts itself."""

    def find(valid: Any, known: Any) -> tuple[list[model.ConflictSet], Callable[[model.ConflictSet], out.ConflictOut]]:
        at = desk.graph.at(valid, known_at=known)
        view = desk.graph.during(known_at=known) if asked.all_times else at
        found, now, registry = view.conflicts(desk.maybe_name(asked.subject)), _now(at), desk.graph.predicates
        return found, lambda one: out.conflict_out(one, now, sure=one.predicate in registry)

    opened = desk.paged("conflicts", asked, find, _json)
    return out.ConflictsOut(conflicts=opened.page.items, **_of_page(opened))


def explain(desk: Desk, asked: inputs.Explain) -> out.StoriesOut:
    """Why facts are believed."""
    view = desk.view(asked)
    by_parts = asked.subject is not None and asked.predicate is not None
    if (asked.fact is None) == (not by_parts):
        raise InputError("explain takes the id of a fact, or a subject and a predicate")
    with view.reading() as reader:
        facts: list[Any] = [asked.fact]
        if asked.fact is None:
            facts = list(view.facts(desk.maybe_name(asked.subject), asked.predicate, desk.thing(asked.object)))
        found = [explained(reader, fact) for fact in facts[:_MOST_EXPLAINED]]
    now = _now(view)
    page = fitted(found, Room(0, _MOST_EXPLAINED, asked.budget), lambda one: _explanation(one, now), _json)
    return out.StoriesOut(
        explanations=page.items, total=len(facts), tokens=page.tokens, clocks=desk.clocks(view, asked)
    )


def _explanation(one: model.Explanation, now: int) -> out.ExplainedOut:
    def some(facts: Sequence[model.Fact]) -> list[out.FactOut]:
        return [out.fact_out(fact, now) for fact in facts[:_MOST_EXPLAINED]]

    return out.ExplainedOut(
        fact=out.fact_out(one.fact, now),
        claims=[out.claim_out(claim) for claim in one.claims[:_MOST_EXPLAINED]],
        opened_by=clean(one.opened_by),
        closed_by=clean(one.closed_by),
        supersedes=some(one.supersedes),
        superseded_by=some(one.superseded_by),
        rivals=some(one.rivals),
        premises=[out.claim_out(claim) for claim in one.premises[:_MOST_EXPLAINED]],
    )


def profile(desk: Desk, asked: inputs.Profile, *, touch: bool = True) -> out.Block:
    """What always matters about the user; `touch` counts that it was looked at."""
    view = desk.view(asked)
    found = view.profile(budget=asked.budget, touch=touch)
    return out.Block(block=str(found), tokens=found.tokens, more=found.more, clocks=desk.clocks(view, asked))
