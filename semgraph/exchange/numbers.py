"""Numbers of files, of which every one is finite, as JSON has it: whatever else stands for one is refused."""

from __future__ import annotations

import math
from contextlib import suppress

__all__ = ["finite", "microseconds"]


def finite(text: str) -> float:
    """The number that a JSON document writes so; ValueError for one that it has no way to write, or no place for.

    >>> finite("2.5e3")
    2500.0
    """
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:80]} is no JSON number")
    return number


def microseconds(value: object) -> int:
    """The microseconds since 1970 that an attribute says; ValueError where it is no number, or none of them.

    >>> microseconds("1717200000000017")
    1717200000000017
    """
    if not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):
            return int(value)  # type: ignore[call-overload, no-any-return]  # told by its error
    raise ValueError(f"{str(value)[:80]!r} is no number of microseconds")
