"""Who a fact is in conflict with, in the time of a view: its rivals, theirs, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.reader import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semgraph import factrow
    from semgraph.reader import Reader
    from semgraph.walk.cut import Cut

__all__ = ["MOST_UNREGISTERED", "known_to_exclude", "members", "partners", "rivals_of"]

MOST_UNREGISTERED = 5  # values of a predicate of which nobody knows whether they exclude each other


def rivals_of(body: factrow.Body, cut: Cut) -> list[str]:
    """The ids of the facts that exclude a fact at the instant, or at some time of the window."""
    window = cut.window
    found: Iterable[str]
    if cut.instant is not None:
        found = (fact for fact, since, until, _ in body.rivals if since <= cut.instant < until)
    elif window is not None:
        found = (fact for fact, since, until, _ in body.rivals if since < window[1] and window[0] < until)
    else:
        found = (fact for fact, *_ in body.rivals)
    return list(dict.fromkeys(found))


def partners(reader: Reader, cut: Cut, reading: Reading) -> list[Reading]:
    """The other members of the conflict that a fact is in, the nearest first, then the most confident, then by id.

    Of a predicate whose cardinality nobody has said, at most five; the fact's own negation is the first of them.
    """
    found = members(reader, cut, reading)
    return found if known_to_exclude(reader, reading) else found[:MOST_UNREGISTERED]


def known_to_exclude(reader: Reader, reading: Reading) -> bool:
    """Whether somebody has said how many values the fact's predicate takes."""
    return reader.snapshot.predicate(reading.row.predicate).registered


def members(reader: Reader, cut: Cut, reading: Reading) -> list[Reading]:
    """All the other members, in the same order."""
    first = reading.row
    seen, found, frontier = {first.id}, list[Reading](), [reading]
    while frontier:
        ids = dict.fromkeys(rival for each in frontier for rival in rivals_of(each.body, cut) if rival not in seen)
        rows = reader.by_id(ids)
        frontier = [Reading(row, reader.body(row), row.predicate, False, False) for row in rows.values()]  # noqa: FBT003
        frontier.sort(key=lambda r: (not _denies(first.object, first.negative, r), -r.body.base, r.row.id))
        found += frontier
        seen |= rows.keys()
    return found


def _denies(ref: str, negative: int, other: Reading) -> bool:
    return other.row.object == ref and other.row.negative != negative
