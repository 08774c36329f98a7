"""What the columns of the index hold in place of words: flags of a fact, and objects that are no entity."""

from __future__ import annotations

from typing import Final

__all__ = [
    "DISPUTED",
    "LITERAL",
    "NEGATIVE",
    "NOTHING",
    "NO_ENTITY",
    "NO_OBJECT",
    "READ",
    "UNKNOWN_START",
    "object_number",
]

READ: Final = ("subject", "predicate", "object", "negative", "disputed", "valid_from", "valid_to", "id")
NEGATIVE: Final = 1
DISPUTED: Final = 2
UNKNOWN_START: Final = 4
LITERAL: Final = 2**32 - 1  # in place of the node of an object
NOTHING: Final = 2**32 - 2  # a negative fact about whatever the value was
NO_ENTITY: Final = -1  # in place of the number of an entity: a literal
NO_OBJECT: Final = -2


def object_number(ref: str) -> int:
    """The entity that a stored reference means, or one of two negative numbers."""
    return int(ref[1:]) if ref.startswith("e") else NO_ENTITY if ref else NO_OBJECT
