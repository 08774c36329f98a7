"""Which intervals a walk over the columns counts."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Times"]


class Times(NamedTuple):
    """The intervals that count: those that begin at `latest` or before and end at `earliest` or after.

    A superseded row meets none, for `latest` is before the end of time and `earliest` after its beginning.
    """

    latest: int
    earliest: int
