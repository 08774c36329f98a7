"""Words, numbers and signs of a text that may speak of dates, each with its place in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Token", "tokens_of"]

Kind = Literal["word", "number", "sign"]

# Typists' and typographers' forms of the same signs: one character for one, so that places in the text stay.
_SAME = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("’‘ʼ`´", "'"))
_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Token:
    """A run of letters (small ones), a run of ASCII digits, or one sign; `text[start:end]` is how it was written."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool  # after white space, or the first

    @property
    def number(self) -> int | None:
        """The value of a number of up to seven digits."""
        return int(self.text) if self.kind == "number" and len(self.text) <= 7 else None


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, from left to right.

    >>> [token.text for token in tokens_of("5th May, 1990")]
    ['5', 'th', 'may', ',', '1990']
    """
    text = text.translate(_SAME)
    found: list[Token] = []
    place, spaced = 0, True
    while place < len(text):
        start, char = place, text[place]
        place += 1
        if char.isspace():
            spaced = True
            continue
        kind: Kind = "sign"
        if char in _DIGITS:
            kind = "number"
            while place < len(text) and text[place] in _DIGITS:
                place += 1
        elif char.isalpha():
            kind = "word"
            while place < len(text) and text[place].isalpha():
                place += 1
        found.append(Token(kind, text[start:place].lower(), start, place, spaced))
        spaced = False
    return found
