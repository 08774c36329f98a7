"""The part of valid time that a walk looks at, and how given bounds and choices are checked."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.errors import InputError
from semgraph.index.times import Times
from semgraph.instants import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection

    from semgraph.reader import Reading

__all__ = ["Cut", "checked_choice", "checked_confidence", "checked_count", "checked_flag", "times_of"]

_ALL = (NEG_INF, POS_INF)
_MOST = 1 << 40  # more than any answer has


class Cut(NamedTuple):
    """An instant, or a window to be met or covered; neither is all time."""

    instant: int | None = None
    window: tuple[int, int] | None = None
    cover: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """The window, all time where there is none."""
        return self.window or _ALL

    def conditions(self) -> dict[str, Any]:
        """What a store can be asked, so that rows of other times do not leave it."""
        if self.instant is not None:
            return {"valid_from__le": self.instant, "valid_to__gt": self.instant}
        if self.window is None:
            return {}
        start, end = self.window
        if self.cover:
            return {"valid_from__le": start, "valid_to__ge": end}
        return {"valid_from__lt": end, "valid_to__gt": start}

    def meets(self, start: int, end: int) -> bool:
        """Whether an interval holds at the instant, meets the window, or covers it."""
        if self.instant is not None:
            return start <= self.instant < end
        if self.window is None:
            return True
        if self.cover:
            return start <= self.window[0] and self.window[1] <= end
        return start < self.window[1] and self.window[0] < end

    def holds(self, reading: Reading) -> bool:
        """Whether a fact is in the cut for certain of its start: one that may only have held is in none."""
        return self.meets(reading.row.valid_from, reading.row.valid_to) and not reading.without_start


@lru_cache(maxsize=64)
def times_of(cut: Cut) -> Times:
    """The same as bounds on starts and ends, which is how columns are asked."""
    if cut.instant is not None:
        return Times(cut.instant, cut.instant + 1)
    start, end = cut.span
    if cut.cover:
        return Times(start, end)
    return Times(end - 1, start + 1)


def checked_confidence(value: object) -> float:
    """The least confidence given, or InputError where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"min_confidence is a number from 0 to 1, not {value!r}")
    return value


def checked_count(what: str, value: object, least: int) -> int:
    """The whole number given, at most what no answer can reach, or InputError where it is none or too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what} is a whole number from {least} on, not {value!r}")
    return min(value, _MOST)


def checked_flag(what: str, value: object) -> bool:
    """The flag given, or InputError where it is none."""
    if not isinstance(value, bool):
        raise InputError(f"{what} is True or False, not {value!r}")
    return value


def checked_choice(what: str, value: object, allowed: Collection[str]) -> None:
    """Nothing, or InputError where the value is none of those allowed."""
    if value not in allowed:
        raise InputError(f"{what} is one of {', '.join(allowed)}, not {value!r}")
