"""Where the claims begin that were added since a moment: the file keeps them in the order in which they came.

Without it, whoever follows the claims would read all of them for each new one. A row's number means something as long
as the row at that number is the one that was seen there: a rebuilt file numbers its rows anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from semgraph.store.access import Access

_LAST: Final = "SELECT rowid, id, recorded_at FROM claim ORDER BY rowid DESC LIMIT 1"
_AT: Final = "SELECT id, recorded_at FROM claim WHERE rowid = ?"


class _Mark(NamedTuple):
    """The newest claim of the file when all of a scope that was recorded up to `until` had been read."""

    until: int
    row: int
    claim: tuple[Any, ...]  # its id, and when it was recorded: a forgotten one may come back


class Arrivals:
    """By scope, how far its claims were read."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._marks: dict[int, _Mark] = {}

    def first(self, scope: int, since: int) -> int:
        """The number of a row behind which all claims lie that were recorded after `since`; 0 where nobody knows."""
        mark = self._marks.get(scope)
        if mark is None or mark.until > since:
            return 0
        found = self._access.fetch(_AT, (mark.row,))
        return mark.row if found == [mark.claim] else 0

    def note(self, scope: int, until: int) -> None:
        """Take note that all claims of the scope up to `until`, its latest, are read by now."""
        for row, *claim in self._access.fetch(_LAST, ()):
            self._marks[scope] = _Mark(until, row, tuple(claim))
