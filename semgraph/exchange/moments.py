"""Moments as programs count them: seconds or milliseconds since 1970."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from semgraph.instants import POS_INF
from semgraph.temporal import exact

if TYPE_CHECKING:
    from semgraph.temporal import Bound

__all__ = ["moment_of"]

_MILLISECONDS: Final = 10**11  # from here on: in seconds that is the year 5138
_LAST: Final = POS_INF // 1_000_000


def moment_of(value: object) -> Bound | None:
    """The moment that a number of seconds or milliseconds tells; None for what is no number, or beyond all years.

    >>> str(moment_of(1768062654)), str(moment_of(1768062654000)), moment_of("soon")
    ('2026-01-10T16:30:54Z', '2026-01-10T16:30:54Z', None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LAST:
        return None
    seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
    return exact(round(seconds * 1_000_000))
