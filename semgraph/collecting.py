"""The garbage collector held off while very many objects are made, none of them garbage.

Python looks for cycles each time that the number of objects has grown by a part, and then at all of them. What reads or
writes facts makes no cycles, so half of its time and more would go into looking for nothing.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles inside; it goes on afterwards where it was going on before."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
