"""When a question asks about, and how near to it a fact lies: "last Saturday", "in May 2023", "two weeks ago"."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import exp
from typing import TYPE_CHECKING, Final

from semgraph.dates import find_dates
from semgraph.dates.words import MONTHS, SEASONS, WEEKDAYS
from semgraph.errors import InputError
from semgraph.instants import DAY
from semgraph.temporal import exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["nearness", "stretches"]

_TELLING: Final = frozenset(
    {"ago", "coming", "last", "next", "past", "previous", "this", "today", "tomorrow", "tonight", "yesterday"}
    | MONTHS.keys()
    | WEEKDAYS.keys()
    | SEASONS
)
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_AROUND: Final = 5  # words before and after a telling one in which the date is looked for
_MOST: Final = 8  # telling words of a question that are looked at
_SHORTEST: Final = 3 * DAY  # what is told of a day is told on it or soon after
_LEAST: Final = 0.05


def stretches(question: str, instant: int) -> list[tuple[int, int]]:
    """The stretches of time `[from, to)` that a question names; relative words count from the instant.

    Of what is open on a side it is the date that is named.

    >>> stretches("What did she paint in May 2023?", 0) == [(1682899200000000, 1685577600000000)]
    True
    >>> stretches("What does she paint?", 0)
    []
    """
    passages = list(_passages(question))
    if not passages:
        return []
    try:
        moment = exact(instant).to_datetime()
    except InputError:  # a year that no datetime has
        moment = datetime.now(UTC)
    found: dict[tuple[int, int], None] = {}
    for passage in passages:
        for date in find_dates(passage, reference=moment):
            for bound in (date.reading.start, date.reading.end):
                if bound is not None and bound.until - bound.instant > 1:  # "now" is no date
                    found[bound.instant, bound.until] = None
    return list(found)


def _passages(question: str) -> Iterator[str]:
    """What stands around the words that tell of a date: to read whole questions takes longer than to answer them."""
    words = list(_WORD.finditer(question))
    telling = [at for at, word in enumerate(words) if word[0].isdecimal() or word[0].lower() in _TELLING][:_MOST]
    first, last = 0, -1
    for at in telling:
        if at - _AROUND > last:
            if last >= 0:
                yield question[words[first].start() : words[last].end()]
            first = max(at - _AROUND, 0)
        last = min(at + _AROUND, len(words) - 1)
    if last >= 0:
        yield question[words[first].start() : words[last].end()]


def nearness(start: int, end: int, named: Sequence[tuple[int, int]]) -> float:
    """How near a time `[start, end]` lies to what is named, from 1 for meeting it down to 0.

    It falls with the distance, the slower the longer the stretch is.
    """
    return max(_falling(start, end, named), default=0.0)


def _falling(start: int, end: int, named: Iterable[tuple[int, int]]) -> Iterator[float]:
    for first, until in named:
        gap = max(first - end, start - (until - 1), 0)
        near = exp(-gap / max((until - first) / 2, _SHORTEST))
        yield near if near >= _LEAST else 0.0
