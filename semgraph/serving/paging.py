"""Long answers in pages: as many whole items as rows and tokens allow, and a cursor for the rest.

A cursor holds the moment of knowledge of the first page, so that what is written meanwhile moves nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from semgraph.profiling import byte_tokens
from semgraph.serving.faults import CallRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Cursor", "Page", "Room", "fitted"]

S = TypeVar("S")
T = TypeVar("T")
_GONE = "the cursor is of another call, or damaged; call again without it"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins, and the two clocks of the first one."""

    offset: int
    valid_at: str | None
    known_at: str | None

    def sealed(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The cursor as text, which fits this call only."""
        parts = [self.offset, self.valid_at, self.known_at, _mark(tool, arguments)]
        return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")

    @staticmethod
    def opened(text: str, tool: str, arguments: Mapping[str, Any]) -> Cursor:
        """The cursor in a text; CallRefused(bad_cursor) where it is none of this call."""
        try:
            offset, valid_at, known_at, mark = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, TypeError, RecursionError):
            raise CallRefused("bad_cursor", _GONE) from None
        texts = all(part is None or isinstance(part, str) for part in (valid_at, known_at))
        whole = isinstance(offset, int) and not isinstance(offset, bool) and offset >= 0
        if not (texts and whole and mark == _mark(tool, arguments)):
            raise CallRefused("bad_cursor", _GONE)
        return Cursor(offset, valid_at, known_at)


def _mark(tool: str, arguments: Mapping[str, Any]) -> str:
    """What tells this call from others; how long its pages are is no part of it."""
    asked = {name: value for name, value in arguments.items() if name not in ("cursor", "limit", "budget")}
    return hashlib.sha256(json.dumps([tool, asked], sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a longer answer: how many there are in all, what they take, and where the next page begins."""

    items: list[T]
    total: int
    tokens: int
    after: int | None


@dataclass(frozen=True, slots=True)
class Room:
    """From where a page begins, how many rows and tokens it may have."""

    start: int
    rows: int
    budget: int


def fitted(items: Sequence[S], room: Room, make: Callable[[S], T], shown: Callable[[T], str]) -> Page[T]:
    """The page from its start on: never empty where there is something, even if the first takes more than the budget.

    Items are made, and shown to be measured, only as far as the page goes.

    >>> fitted(["one", "two", "three"], Room(1, 10, 1), str.upper, str)
    Page(items=['TWO'], total=3, tokens=1, after=2)
    """
    taken: list[T] = []
    tokens, start, rows, budget = 0, room.start, room.rows, room.budget
    for item in map(make, items[start : start + rows]):
        cost = byte_tokens(shown(item))
        if taken and tokens + cost > budget:
            break
        taken.append(item)
        tokens += cost
    after = start + len(taken)
    return Page(taken, len(items), tokens, after if after < len(items) and taken else None)
