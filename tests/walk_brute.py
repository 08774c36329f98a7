"""Walks and patterns by exhaustive search over the facts that a view lists: what the engine's answers are held to."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph import GraphView
    from semgraph.model import Fact

EVENTS = {"visited", "met"}
SYMMETRIC = {"friend_of", "married_to"}
Interval = tuple[int, int]


class Step(NamedTuple):
    """One way to walk one fact."""

    near: str
    far: str
    start: int
    end: int
    weight: int
    fact: str


def span(fact: Fact) -> Interval:
    return fact.valid_from.instant, POS_INF if fact.valid_to is None else fact.valid_to.instant


def steps(view: GraphView, direction: str = "out", canonical: Iterable[str] | None = None) -> list[Step]:
    wanted = None if canonical is None else set(canonical)
    out: set[Step] = set()
    for fact in view.facts():
        if fact.negative or fact.predicate in EVENTS or not hasattr(fact.object, "id"):
            continue
        if wanted is not None and fact.predicate not in wanted:
            continue
        ends = (fact.subject.label, fact.object.label)
        ways = set()
        if direction in ("out", "any") or fact.predicate in SYMMETRIC:
            ways.add(ends)
        if direction in ("in", "any") or fact.predicate in SYMMETRIC:
            ways.add(ends[::-1])
        out |= {
            Step(*way, *span(fact), round(fact.confidence * 1_000_000), fact.id) for way in ways if way[0] != way[1]
        }
    return sorted(out)


def neighbours(found: list[Step], start: str, hops: int) -> dict[str, tuple[int, set[str]]]:
    distance = {start: 0}
    for hop in range(1, hops + 1):
        level = {s.far for s in found if distance.get(s.near) == hop - 1 and s.far not in distance}
        distance |= dict.fromkeys(level, hop)
    return {
        name: (d, {s.fact for s in found if s.far == name and distance.get(s.near) == d - 1})
        for name, d in distance.items()
        if d
    }


def node_sequences(found: list[Step], source: str, target: str, cutoff: int) -> Iterator[tuple[str, ...]]:
    ahead: dict[str, set[str]] = {}
    for s in found:
        ahead.setdefault(s.near, set()).add(s.far)
    waiting = [(source,)]
    while waiting:
        nodes = waiting.pop()
        if nodes[-1] == target:
            if len(nodes) > 1:
                yield nodes
        elif len(nodes) <= cutoff:
            waiting += [(*nodes, far) for far in ahead.get(nodes[-1], ()) if far not in nodes]


def paths(
    found: list[Step], source: str, target: str, *, mode: str, cutoff: int, window: Interval = (NEG_INF, POS_INF)
) -> list[tuple[tuple[str, ...], int, Any]]:
    """Nodes, product of confidences, and the interval (overlap) or arrival (chronological), in the promised order."""
    out = []
    for nodes in node_sequences(found, source, target, cutoff):
        hops = [[s for s in found if (s.near, s.far) == pair] for pair in pairwise(nodes)]
        choices = [(judged, weight) for choice in product(*hops) for judged, weight in _judged(choice, mode, window)]
        if mode == "snapshot":
            best = [(None, max(w for _, w in choices))]
        elif mode == "chronological":
            best = sorted(choices, key=lambda c: (c[0], -c[1]))[:1]
        else:
            every = {interval for interval, _ in choices}
            top = [i for i in every if not any(j != i and j[0] <= i[0] and i[1] <= j[1] for j in every)]
            best = [(i, max(w for j, w in choices if j == i)) for i in top]
        out += [(nodes, weight, judged) for judged, weight in best]
    return sorted(out, key=lambda p: (len(p[0]), -p[1], [name.casefold() for name in p[0]], p[2] or 0))


def _judged(choice: tuple[Step, ...], mode: str, window: Interval) -> Iterator[tuple[Any, int]]:
    weight = 1
    for s in choice:
        weight *= s.weight
    if mode == "snapshot":
        yield None, weight
    elif mode == "overlap":
        start, end = max(window[0], *(s.start for s in choice)), min(window[1], *(s.end for s in choice))
        if start < end:
            yield (start, end), weight
    else:
        arrival = window[0]
        for s in choice:
            arrival = max(arrival, s.start)
            if arrival >= min(s.end, window[1]):
                return
        yield arrival, weight


def match(view: GraphView, patterns: list[tuple[str, str, str]]) -> set[tuple[tuple[tuple[str, str], ...], Interval]]:
    """Bindings by label, with coalesced intervals."""
    found: dict[tuple[tuple[str, str], ...], set[Interval]] = {}
    for choice in product(*(_triples(view, p) for _, p, _ in patterns)):
        bound: dict[str, str] = {}
        fits = True
        for pattern, (*triple, _, _) in zip(patterns, choice, strict=True):
            for term, label in zip(pattern, triple, strict=True):
                if term.startswith("?"):
                    fits = fits and bound.setdefault(term[1:], label) == label
                elif term is not pattern[1]:
                    fits = fits and term == label
        start, end = max(c[3] for c in choice), min(c[4] for c in choice)
        if fits and start < end:
            found.setdefault(tuple(sorted(bound.items())), set()).add((start, end))
    return {(bound, interval) for bound, intervals in found.items() for interval in coalesced(intervals)}


def coalesced(intervals: Iterable[Interval]) -> list[Interval]:
    out: list[Interval] = []
    for start, end in sorted(intervals):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _triples(view: GraphView, predicate: str) -> set[tuple[str, str, str, int, int]]:
    facts = view.facts() if predicate.startswith("?") else view.facts(predicate=predicate)
    out = set()
    for fact in facts:
        if fact.negative or fact.object is None:
            continue
        triple = (fact.subject.label, fact.predicate, fact.object.label)
        out.add((*triple, *span(fact)))
        if fact.predicate in SYMMETRIC:
            out.add((*triple[::-1], *span(fact)))
    return out
