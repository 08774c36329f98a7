"""What every tool works with: the graph, and how names, dates and pages of a call are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from zoneinfo import ZoneInfo

from semgraph.dates import read_when
from semgraph.errors import InputError, RejectedError
from semgraph.model import Entity
from semgraph.serving.outputs import Clocks
from semgraph.serving.paging import Cursor, Page, Room, fitted
from semgraph.temporal import exact, parse_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.serving.inputs import PagedRead, Read
    from semgraph.serving.tokens import Tokens
    from semgraph.view import GraphView

__all__ = ["Desk", "Opened"]

S = TypeVar("S")
T = TypeVar("T")
_ID: Final = re.compile(r"e[0-9a-f]{16}")
_STRETCH: Final = {"from", "between"}


@dataclass(frozen=True, slots=True)
class Opened(Generic[T]):
    """A page of an answer, the clocks it was read at, and the cursor for the next."""

    page: Page[T]
    start: int
    next_cursor: str | None
    clocks: Clocks


@dataclass(slots=True)
class Desk:
    """A graph that is served, with the settings of the server."""

    graph: KnowledgeGraph
    source: str
    tokens: Tokens
    timezone: str | None = None
    removing: bool = False

    def name(self, text: str) -> str | Entity:
        """A name as given; an id stands for its entity."""
        return self.graph.entity(Entity(text, text)) if _ID.fullmatch(text) else text

    def maybe_name(self, text: str | None) -> str | Entity | None:
        """The same where there may be none."""
        return None if text is None else self.name(text)

    def thing(self, value: Any) -> Any:
        """An object: an id stands for its entity, all else for itself."""
        return self.name(value) if isinstance(value, str) else value

    def when(self, text: str | None) -> Any:
        """A date in figures as it is, one in words as what it means."""
        if text is None:
            return None
        try:
            parse_bound(text, timezone=self.timezone)
        except RejectedError as plain:
            if plain.code != "bad_time":
                raise
        else:
            return text
        reading = read_when(text, reference=None if self.timezone is None else datetime.now(ZoneInfo(self.timezone)))
        if reading.kind in _STRETCH:
            raise InputError(f"{text!r} is a stretch of time from {reading.start} until {reading.end}: give one date")
        return reading.start or reading.end

    # -- reads

    def view(self, asked: Read) -> GraphView:
        """The graph at the clocks of a read, pinned."""
        return self.graph.at(self.when(asked.valid_at), known_at=self.when(asked.known_at))

    def clocks(self, view: GraphView, asked: Read) -> Clocks:
        """The clocks that were asked for, as they were understood."""
        valid, known = view.valid_at, view.known_at
        return Clocks(
            valid_at=None if asked.valid_at is None or valid is None else str(valid),
            known_at=None if asked.known_at is None or known is None else str(known),
        )

    def paged(
        self,
        tool: str,
        asked: PagedRead,
        find: Callable[[Any, Any], tuple[Sequence[S], Callable[[S], T]]],
        shown: Callable[[T], str],
    ) -> Opened[T]:
        """A page of what `find` gives for a valid and a known time, made as `find` says and measured as `shown`."""
        arguments = asked.model_dump(mode="json", exclude_defaults=True)
        if asked.cursor is None:
            view = self.view(asked)
            instant, now, _ = view.moment()
            valid = exact(now if instant is None else instant)
            at = Cursor(0, str(valid), None if view.known_at is None else str(view.known_at))
        else:
            at = Cursor.opened(asked.cursor, tool, arguments)
        try:
            items, make = find(at.valid_at, at.known_at)
        except RejectedError as error:
            if asked.cursor is None or error.code not in ("bad_time", "naive_time", "time_range"):
                raise
            Cursor.opened("", tool, arguments)  # it was made up
            raise
        page = fitted(items, Room(at.offset, asked.limit, asked.budget), make, shown)
        after = None if page.after is None else Cursor(page.after, at.valid_at, at.known_at).sealed(tool, arguments)
        clocks = Clocks(
            valid_at=at.valid_at if asked.valid_at is not None else None,
            known_at=at.known_at if asked.known_at is not None else None,
        )
        return Opened(page, at.offset, after, clocks)
