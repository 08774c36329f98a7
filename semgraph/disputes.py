"""Which facts are in conflict with one another, and for how long: those that rivalry connects.

Rivals are kept as the facts tell them, in both directions, and are never listed as pairs: a thousand values that
exclude each other are one set.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Dispute", "Place", "Rivals", "at_instant", "both_ways", "components", "ever", "is_mirrored", "rival_of"]

K = TypeVar("K", int, str)
Place: TypeAlias = tuple[bool, int, str, str, str]  # mirrored, subject, predicate, separators, reference of the object
Rivals: TypeAlias = "Mapping[str, Sequence[tuple[str, int, int, bool]]]"  # of each fact, as `Body.rivals` has them

_SINCE, _UNTIL = itemgetter(1), itemgetter(2)
rival_of, is_mirrored = itemgetter(0), itemgetter(3)


@dataclass(frozen=True, slots=True)
class Dispute:
    """One fluent's facts in conflict over an interval."""

    mirrored: bool
    subject: int
    predicate: str
    separators: str
    ref: str
    members: tuple[str, ...]
    start: int
    end: int


def both_ways(near: Rivals) -> Rivals:
    """The same, each rival knowing those that know it."""
    leaves: dict[str, list[tuple[str, int, int, bool]]] = {}
    known = near.keys()
    for fact, rivals in near.items():
        if not known >= set(map(rival_of, rivals)):
            for rival, start, end, mirrored in rivals:
                if rival not in known:
                    leaves.setdefault(rival, []).append((fact, start, end, mirrored))
    return {**near, **leaves}


def ever(place: Place, near: Rivals) -> list[Dispute]:
    """Connected facts, over each maximal interval in which the same ones are connected."""
    open_sets: dict[tuple[str, ...], int] = {}
    found: list[Dispute] = []
    for t in _times(near.values()):
        live = set(components(_live(near, t)))
        for members in sorted(set(open_sets) - live):
            found.append(Dispute(*place, members, open_sets.pop(members), t))
        for members in live - set(open_sets):
            open_sets[members] = t
    return found


def at_instant(place: Place, near: Rivals, instant: int) -> list[Dispute]:
    """The connected facts at an instant, each set with the maximal interval around it in which it is the same."""
    found = []
    for members in sorted(components(_live(near, instant))):
        own = {member: near[member] for member in members}
        times = _times(own.values())
        last = bisect_right(times, instant)
        first = last - 1
        while first > 0 and members in components(_live(own, times[first - 1])):
            first -= 1
        while last < len(times) and members in components(_live(own, times[last])):
            last += 1
        found.append(Dispute(*place, members, times[first], times[last]))
    return found


def _times(rivals: Iterable[Sequence[tuple[str, int, int, bool]]]) -> list[int]:
    """When anything begins or ends."""
    times: set[int] = set()
    for each in rivals:
        times.update(map(_SINCE, each))
        times.update(map(_UNTIL, each))
    return sorted(times)


def _live(near: Rivals, instant: int) -> dict[str, list[str]]:
    """Who is whose rival at an instant."""
    return {fact: [r for r, since, until, _ in rivals if since <= instant < until] for fact, rivals in near.items()}


def components(near: Mapping[K, Sequence[K]]) -> Iterator[tuple[K, ...]]:
    """The things that are connected, each set in order; those that nothing is near are left out."""
    seen: set[K] = set()
    for first in sorted(near):
        if first in seen or not near[first]:
            continue
        members, waiting = {first}, [first]
        while waiting:
            fresh = set(near.get(waiting.pop(), ())) - members
            members |= fresh
            waiting += fresh
        seen |= members
        yield tuple(sorted(members))
