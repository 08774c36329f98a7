"""What the latest writes of a scope touched, as one short text in the scope's own row.

An index in memory, in this process or another, reads from it what to look at again. It is bounded: an index that is
older than its oldest entry is built anew. It holds numbers of entities and names of predicates, no words of a claim,
and a forget starts it afresh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.errors import StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Collection

    Fluent = tuple[int, str]

__all__ = ["Touched", "appended", "epoch", "since", "started_afresh"]

_LONGEST: Final = 1500  # characters: less than a page of the file, which a write makes anew anyway
_DAMAGED: Final = "the list of what was touched is damaged: run `semgraph verify`, and go back to a backup"
_WIDEST: Final = 400  # characters of an entry; a write that touched more says only that
_WIDE: Final = "*"
_BESIDES: Final = "+"


class Touched(NamedTuple):
    """What some writes touched: facts of these fluents, and the tokens of those whose reach was too wide.

    `besides` says that something else was changed: a name, a merge, a definition, a retraction.
    """

    fluents: set[Fluent]
    besides: bool
    wide: list[int]


def appended(
    feed: str, before: int, recorded_at: int, fluents: Collection[Fluent], *, besides: bool, token: int
) -> str:
    """The feed after a write at `recorded_at`, where the one before it was recorded at `before`.

    The token, unlike that of any other write, stands there for a list of fluents that is too long.
    """
    head, *entries = feed.split("\n") if feed else [f"0 {before}"]
    entries.append(_entry(recorded_at, fluents, besides=besides, token=token))
    size = sum(map(len, entries))
    while size > _LONGEST:
        dropped = entries.pop(0)
        size -= len(dropped)
        head = f"{epoch(feed)} {dropped.partition(' ')[0]}"
    return "\n".join([head, *entries])


def started_afresh(feed: str, recorded_at: int) -> str:
    """The feed after what no list of fluents tells: whoever read an earlier one has to read everything again."""
    return f"{epoch(feed) + 1} {recorded_at}"


def epoch(feed: str) -> int:
    """A number that changes when everything has to be read again."""
    try:
        return int(feed.partition(" ")[0]) if feed else 0
    except ValueError:
        raise StoreCorrupt(_DAMAGED) from None


def since(feed: str, known: int) -> Touched | None:
    """What was touched after the moment `known` of the same epoch; None if the feed does not reach back so far."""
    try:
        return _since(feed, known)
    except ValueError:
        raise StoreCorrupt(_DAMAGED) from None


def _since(feed: str, known: int) -> Touched | None:
    head, *entries = feed.split("\n")
    if not feed or known < int(head.partition(" ")[2]):
        return None
    found = Touched(set(), besides=False, wide=[])
    for entry in reversed(entries):
        recorded_at, marks, *numbers = entry.split(" ")
        if int(recorded_at) <= known:
            break
        found = found._replace(besides=found.besides or marks.startswith(_BESIDES))
        _, wide, token = marks.partition(_WIDE)
        if wide:
            found.wide.append(int(token))
        found.fluents.update((int(s), p) for s, _, p in (each.partition(":") for each in numbers))
    return found


def _entry(recorded_at: int, fluents: Collection[Fluent], *, besides: bool, token: int) -> str:
    marks = _BESIDES if besides else "-"
    told = ""
    if len(fluents) < _WIDEST:
        told = "".join(f" {subject}:{predicate}" for subject, predicate in sorted(fluents))
    if len(fluents) >= _WIDEST or len(told) > _WIDEST:
        return f"{recorded_at} {marks}{_WIDE}{token}"
    return f"{recorded_at} {marks}{told}"
