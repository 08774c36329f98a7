"""A text being read for dates: its tokens, the moment it counts from, and what was found to be ambiguous in it.

The rules of the grammar are functions of a line and a place in it. Each answers what it read and the place after it,
or None. None of them looks further than a few tokens, so that reading stays linear in the length of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semgraph.dates.periods import Period, recurring
from semgraph.dates.words import CARDINALS, ORDINALS, TENS
from semgraph.instants import DAY, date_of

if TYPE_CHECKING:
    from semgraph.dates.tokens import Token

__all__ = ["Line", "NeedsReference", "cardinal", "century_of", "latest", "ordinal", "year_number"]

_RECENT, _COMING = 70, 15  # years back and ahead in which a year of two digits is looked for
_LONG_AGO = 48  # rounds that are tried for a 29 February or a 31st


class NeedsReference(Exception):
    """What the text means depends on when it is said."""


@dataclass(slots=True)
class Line:
    """The tokens of a text, and the local time from which relative words count, if it is known."""

    tokens: list[Token]
    text: str
    reference: int | None
    offset: int | None = None  # of that clock from UTC, None where nobody knows
    complaints: list[tuple[int, int, str]] = field(default_factory=list)  # from token, to token, why
    known: dict[int, tuple[Period, int] | None] = field(default_factory=dict)  # dates by the place where they start
    letters: list[str] = field(init=False)  # the words by their places, "" for other tokens and behind the last

    def __post_init__(self) -> None:
        self.letters = [token.text if token.kind == "word" else "" for token in self.tokens] + [""]

    @property
    def now(self) -> int:
        """The local time from which relative words count; NeedsReference where there is none."""
        if self.reference is None:
            raise NeedsReference
        return self.reference

    @property
    def today(self) -> int:
        """Days from 1970-01-01 to the day of the reference."""
        return self.now // DAY

    @property
    def this_year(self) -> int:
        """The year of the reference."""
        return date_of(self.today)[0]

    def complain(self, start: int, end: int, why: str) -> None:
        """Note why what stands there can't be read as a date without a guess."""
        self.complaints.append((start, end, why))

    def word(self, place: int) -> str:
        """The word there, or "" where there is none."""
        return self.letters[place] if place < len(self.letters) else ""

    def sign(self, place: int) -> str:
        """The sign there, or ""."""
        token = self._at(place)
        return token.text if token is not None and token.kind == "sign" else ""

    def number(self, place: int) -> int | None:
        """The value of the number there."""
        token = self._at(place)
        return None if token is None else token.number

    def digits(self, place: int) -> int:
        """How many digits the number there has, 0 where there is none."""
        token = self._at(place)
        return len(token.text) if token is not None and token.kind == "number" else 0

    def joined(self, place: int) -> bool:
        """Whether the token there follows its neighbour without white space."""
        token = self._at(place)
        return token is not None and not token.spaced

    def words(self, place: int, *words: str) -> int | None:
        """The place after these words, if they stand there one after the other."""
        for offset, word in enumerate(words):
            if self.word(place + offset) != word:
                return None
        return place + len(words)

    def chunk(self, place: int) -> str:
        """All that follows there up to white space, as it was written, without the stop after it."""
        token = self._at(place)
        if token is None:
            return ""
        end = next((other.start for other in self.tokens[place + 1 : place + 24] if other.spaced), None)
        text = self.text[token.start : token.start + 64 if end is None else end]
        return text.split(maxsplit=1)[0].rstrip(".,;:!)]'\"")

    def after_text(self, place: int, length: int) -> int:
        """The place after so many characters of the text from there on."""
        end = self.tokens[place].start + length
        while place < len(self.tokens) and self.tokens[place].start < end:
            place += 1
        return place

    def skip(self, place: int, words: frozenset[str] | tuple[str, ...] = (), signs: str = "") -> int:
        """The place after one of these words or signs, or the same place where none stands there."""
        token = self._at(place)
        if token is None:
            return place
        return place + (token.text in words if token.kind == "word" else token.kind == "sign" and token.text in signs)

    def _at(self, place: int) -> Token | None:
        return self.tokens[place] if 0 <= place < len(self.tokens) else None


def latest(line: Line, period: Period) -> Period:
    """The latest round of a day or month without year that has begun by the reference."""
    year, month, _ = date_of(line.today)
    steps = {"year": year - period.day[0], "month": 12 * (year - period.day[0]) + month - period.day[1], "week": 0}
    first = steps.get(period.cycle, 0)
    if period.cycle == "week":
        first = (line.today * DAY - period.start) // (7 * DAY)
    for step in range(first, first - _LONG_AGO, -1):
        found = recurring(period, step)
        if found is not None and found.start <= line.now:
            return found
    raise AssertionError(period)  # every day comes round within that time


# -- numbers


def cardinal(line: Line, place: int) -> tuple[int, int] | None:
    """A count in digits or words up to ninety-nine; `a` and `an` are one."""
    if (number := line.number(place)) is not None:
        follows = line.sign(place + 1) in (".", ",", "/") and line.joined(place + 1) and line.joined(place + 2)
        return None if follows and line.digits(place + 2) else (number, place + 1)
    word = line.word(place)
    if word in ("a", "an"):
        return 1, place + 1
    return _under_hundred(line, place, CARDINALS)


def ordinal(line: Line, place: int) -> tuple[int, int] | None:
    """First, 1st, twenty-first and the like, up to ninety-ninth."""
    number = line.number(place)
    if number is not None:
        # Which ending it is does not matter: 21th is no less clear than 21st.
        ending = line.word(place + 1) in ("st", "nd", "rd", "th") and line.joined(place + 1)
        return (number, place + 2) if ending else None
    word = line.word(place)
    if word in ORDINALS:
        return ORDINALS[word], place + 1
    found = _under_hundred(line, place, ORDINALS)
    return found if found is not None and found[0] % 10 and word in TENS else None


def _under_hundred(line: Line, place: int, units: dict[str, int]) -> tuple[int, int] | None:
    word = line.word(place)
    if word in units:
        return units[word], place + 1
    if word not in TENS:
        return None
    unit = line.skip(place + 1, signs="-")
    if 0 < units.get(line.word(unit), 0) < 10:
        return TENS[word] + units[line.word(unit)], unit + 1
    return TENS[word], place + 1


def year_number(line: Line, place: int) -> tuple[int, int] | None:
    """A year of the common era: four digits, `'99` where only one century can be meant, or in words."""
    number = line.number(place)
    if number is not None:
        glued = line.joined(place + 1) and (line.word(place + 1) or line.sign(place + 1) == ":")
        plain = line.digits(place) == 4 and number >= 1000 and not glued
        return (number, place + 1) if plain else None
    if line.sign(place) == "'" and line.digits(place + 1) == 2 and line.joined(place + 1):
        year = century_of(line, line.number(place + 1) or 0)
        glued = line.joined(place + 2) and line.word(place + 2)
        return None if year is None or glued else (year, place + 2)
    return _year_in_words(line, place)


def century_of(line: Line, short: int) -> int | None:
    """The year that two digits stand for: the one within seventy years back and fifteen ahead, if there is one."""
    base = line.this_year // 100 * 100
    for year in (base - 100 + short, base + short, base + 100 + short):
        if -_RECENT <= year - line.this_year <= _COMING:
            return year
    return None


def _year_in_words(line: Line, place: int) -> tuple[int, int] | None:
    """`Two thousand and eighteen`, `nineteen ninety-nine`, `nineteen hundred`, `twenty ten`."""
    first = (
        _under_hundred(line, place, CARDINALS) if line.word(place) in CARDINALS or line.word(place) in TENS else None
    )
    if first is None:
        return None
    number, after = first
    if number < 10 and line.word(after) == "thousand":
        total, after = 1000 * number, after + 1
        hundreds = _under_hundred(line, line.skip(after, ("and",)), CARDINALS)
        if hundreds is not None and hundreds[0] < 10 and line.word(hundreds[1]) == "hundred":
            total, after = total + 100 * hundreds[0], hundreds[1] + 1
        rest = _under_hundred(line, line.skip(after, ("and",)), CARDINALS)
        return (total, after) if rest is None else (total + rest[0], rest[1])
    if not 10 <= number <= 29:
        return None
    if line.word(after) == "hundred":
        rest = _under_hundred(line, line.skip(after + 1, ("and",)), CARDINALS)
        return (100 * number, after + 1) if rest is None else (100 * number + rest[0], rest[1])
    if line.word(after) in ("oh", "o") and (rest := _under_hundred(line, after + 1, CARDINALS)) and rest[0] < 10:
        return 100 * number + rest[0], rest[1]
    rest = _under_hundred(line, after, CARDINALS)
    return (100 * number + rest[0], rest[1]) if rest is not None and rest[0] >= 10 else None
