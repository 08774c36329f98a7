"""How much a client may ask for: calls a minute, bytes of a call, rows and tokens of an answer."""

from __future__ import annotations

import threading
from math import ceil
from typing import TYPE_CHECKING, Final

from semgraph.serving.faults import CallRefused

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BUDGET", "MAX_ARGUMENTS", "MAX_BUDGET", "MAX_ROWS", "MAX_TEXT", "RATE", "ROWS", "Rate"]

RATE: Final = 600  # calls a minute
MAX_ARGUMENTS: Final = 256 << 10  # bytes of the arguments of a call, as JSON
MAX_TEXT: Final = 64 << 10  # characters of one text
ROWS: Final = 50  # of a page
MAX_ROWS: Final = 500
BUDGET: Final = 4_000  # tokens of a page
MAX_BUDGET: Final = 50_000


class Rate:
    """So many calls a minute, all clients together; unused ones are saved up for a tenth of that time."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._per_second = per_minute / 60
        self._most = max(per_minute / 10, 1.0)
        self._left = self._most
        self._seen = clock()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Nothing; CallRefused(rate_limited) where the calls of the minute are used up."""
        with self._lock:
            now = self._clock()
            self._left = min(self._most, self._left + (now - self._seen) * self._per_second)
            self._seen = now
            if self._left < 1:
                wait = ceil((1 - self._left) / self._per_second * 10) / 10  # never none
                raise CallRefused("rate_limited", f"too many calls; wait {wait:.1f} seconds")
            self._left -= 1
