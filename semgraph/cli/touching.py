"""What a claim that takes back could reach: the facts that it is about, and the known names that look like its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semgraph.errors import NotFoundError, SemgraphError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Entity

__all__ = ["alike", "held_within"]


def alike(graph: KnowledgeGraph, subject: str | Entity, predicate: str, value: str | Entity | None) -> str:
    """What is not known by these names, with what looks like it; empty where all of it is known.

    To ask before the claim is told, which makes its names known. A value without look-alikes may be no name at all.
    """
    return "; ".join(_unknown(graph, subject, predicate, value))


def held_within(
    graph: KnowledgeGraph, subject: str | Entity, predicate: str, value: str | Entity, told: Mapping[str, Any]
) -> bool:
    """Whether the value held at some time within the bounds of a claim; names that nothing bears held nothing."""
    end = told.get("valid_to", told.get("valid_through"))
    try:
        view = graph.during(told.get("valid_from"), end)
        found = view.facts(subject, predicate, value, qualifiers=told.get("qualifiers"))
    except SemgraphError:
        return False
    return any(not fact.negative for fact in found)


def _unknown(graph: KnowledgeGraph, subject: str | Entity, predicate: str, value: str | Entity | None) -> Iterator[str]:
    for name in (subject, value):
        try:
            if name is not None:
                graph.entity(name)
        except NotFoundError as error:
            if error.candidates or name is subject:
                yield str(error)
        except SemgraphError:
            return  # the claim itself is told what is wrong with it
    near = _similar_predicates(graph, subject, predicate)
    if near:
        yield f"{predicate!r} is told of nothing; did you mean {', '.join(map(repr, near))}?"


def _similar_predicates(graph: KnowledgeGraph, subject: str | Entity, predicate: str) -> list[str]:
    """The subject's own predicates and registered ones that look like one that is neither."""
    from semgraph.names import look_alikes
    from semgraph.vocabulary import predicate_key

    if predicate in graph.predicates:
        return []
    try:
        own = [fact.predicate for fact in graph.during().facts(subject)]
        return [] if predicate_key(predicate) in own else look_alikes(predicate, [*own, *graph.predicates], 3)
    except SemgraphError:
        return []
