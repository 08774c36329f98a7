"""The words of the library in those of a tool: messages that name methods, keywords and attributes."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["for_caller", "plain_why"]

_PHRASES: Final = (
    (
        re.compile(r"pass one of (?:\.candidates|v\.candidates\(name\))(?: instead of the name)?"),
        "give one of these ids",
    ),
    (re.compile(r"; list them with \w+\(\) or \w+\(\)"), "; about and timeline tell the ids of facts"),
    (re.compile(r", or give the zone to read it in, as in timezone='[^']*'"), ""),
    (re.compile(r"use values\(\) to get them all"), "about has them all"),
    (re.compile(r"predicates\.define\('([^']*)', cardinality='(\w+)'\)"), r"define of \1 with cardinality \2"),
)
_KEYWORD: Final = re.compile(r"\b([a-z]\w*)=(?=[\s,;.:]|$)")
_CALL: Final = re.compile(r"\b(?:kg\.)?([a-z]\w*)\(\)")
_ROWS: Final = re.compile(r"\brows? [\dA]+[a-z]?(?: and \d+)?: ")
_GROUND: Final = re.compile(r" \(g\d\)")


def for_caller(message: str) -> str:
    """A message of the library, for somebody who calls tools.

    >>> for_caller("Maya does not hold there; pass valid_at= for another time, or add() the right value")
    'Maya does not hold there; pass valid_at for another time, or add the right value'
    """
    for pattern, words in _PHRASES:
        message = pattern.sub(words, message)
    return _CALL.sub(r"\1", _KEYWORD.sub(r"\1", message))


def plain_why(why: str) -> str:
    """Why a write did what it did, without the numbers of rows and grounds.

    >>> plain_why("row 12: supersedes because its start is certainly later (g2)")
    'supersedes because its start is certainly later'
    """
    return _GROUND.sub("", _ROWS.sub("", why))
