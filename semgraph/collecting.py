"""The garbage collector held off while very many objects are made, none of them garbage.

Python looks for cycles each time that the number of objects has grown by a part, and then at all of them. What reads or
writes facts makes no cycles, so half of its time and more would go into looking for nothing. Nor are very many looked
at once more as soon as all are there: they go where the next search of all objects finds them.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["uncollected"]

_MANY: Final = 50_000  # objects that are not worth a look of their own


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
        if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
            gc.freeze()  # all that was made counts as old from here on, without a look at each
            gc.unfreeze()
        gc.enable()
