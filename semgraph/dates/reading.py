"""What words about time mean: how something lies to one bound, or between two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from semgraph.instants import NEG_INF, POS_INF, Instant, bad_time
from semgraph.temporal import Bound, period

__all__ = ["DateSpan", "Reading", "ReadingKind"]

ReadingKind = Literal["in", "since", "until", "before", "after", "from", "between"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Where words put something in time; `kind` is how, as one word of English.

    ``in`` a date, which `start` is: something happens in it, or holds then. ``since`` and ``after`` have a start only,
    ``until`` and ``before`` an end only, ``from`` one bound to another and ``between`` two have both. What it says lies
    in `[start, end)`: `after 2018` starts with 2019, `through 2020` ends with 2021, as does `until 2021`.
    """

    kind: ReadingKind
    start: Bound | None
    end: Bound | None
    text: str

    @property
    def span(self) -> tuple[Instant, Instant]:
        """The instants `[from, to)` that the words cover; -inf and +inf where they leave a side open."""
        if self.kind == "in" and self.start is not None:
            return self.start.instant, self.start.until
        return (
            NEG_INF if self.start is None else self.start.instant,
            POS_INF if self.end is None else self.end.instant,
        )

    @property
    def bound(self) -> Bound:
        """One bound for the words: the date that they name, or a period from the first to the second.

        Raises:
            RejectedError: `bad_time` for what lies before or after a date, which may be anywhere.
        """
        if self.kind in ("before", "after"):
            raise bad_time(self.text, f"that is any time {self.kind} it: give the date itself")
        if self.start is not None and self.end is not None:
            zone = self.start.zone if self.start.zone == self.end.zone else ""
            whole = period(self.start.instant, self.end.instant, zone=zone)
            return whole if zone else replace(whole, spelling=self.text)
        found = self.start or self.end
        if found is None:
            raise bad_time(self.text, "it has neither start nor end: give a date")
        return found


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A place in a text that speaks of time: `text[start:end]`, and what it means."""

    start: int
    end: int
    reading: Reading
