"""Which entities a question names: the longest names of the alias table in it, and nothing that only looks alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semgraph.errors import RejectedError
from semgraph.names import MAX_NAME
from semgraph.recall.words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.reader import Reader

__all__ = ["Mention", "mentions"]

_MAX_WORDS = 8
_MAX_UNSPACED = 16  # characters of a name inside a run that has no spaces
_MAX_SPANS = 20_000

# What may stand around a name without being a part of it. A dot, an apostrophe or a symbol inside a word is a part.
_OPENING = "\"'([{<«‹„“‘「『《〈【〔¿¡"
_CLOSING = "\"'.,;:!?)]}>»›“”’」』》〉】〕。、，；：！？"
_BREAKS = re.compile(r"[\s,;:!?|()\[\]{}<>\"«»‹›„“”「」『』《》〈〉【】〔〕。、，；：！？¿¡—–]+")
# Marks of emphasis on both sides, and what is put before the name of somebody spoken to: "**Maya**", "@maya".
_MARKED = re.compile(r"(?P<mark>[*_~]{1,3})(?P<bare>[^*_~].*?)(?P=mark)|[@#](?P<called>\w.*)", re.DOTALL)
_INNER = ("bare", "called")
_POSSESSIVE = re.compile(r"['’ʼ]s$", re.IGNORECASE)
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")


class Mention(NamedTuple):
    """A stretch of the question that names something, and every entity that it may mean."""

    text: str
    entities: tuple[int, ...]


def mentions(reader: Reader, question: str, valid_at: int | None) -> list[Mention]:
    """The names in a question, in its order; of overlapping ones the longest, of equally long ones the first."""
    directory = reader.directory
    keyed: dict[tuple[int, int], str] = {}
    for span in _spans(question):
        try:
            keyed[span] = directory.key(question[span[0] : span[1]])
        except RejectedError:  # nothing that could be a name
            continue
    directory.prefetch(keyed.values())
    named = {span for span, key in keyed.items() if directory.rows(key)}
    taken: list[tuple[int, int]] = []
    for start, end in sorted(named, key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= a or b <= start for a, b in taken):
            taken.append((start, end))
    found = []
    for start, end in sorted(taken):
        text = question[start:end]
        entities = directory.find(text, reader.snapshot, valid_at)
        if entities:
            found.append(Mention(text, tuple(entities)))
    return found


def _spans(question: str) -> Iterator[tuple[int, int]]:
    """Every stretch that could be a name: up to eight words, or some characters of a run without spaces."""
    seen: set[tuple[int, int]] = set()
    for span in (*_word_spans(question), *_unspaced_spans(question)):
        if len(seen) >= _MAX_SPANS:
            return
        if span not in seen and 0 < span[1] - span[0] <= MAX_NAME:
            seen.add(span)
            yield span


def _word_spans(question: str) -> Iterator[tuple[int, int]]:
    pieces = list(_pieces(question))
    for first, (start, _) in enumerate(pieces):
        for _, end in pieces[first : first + _MAX_WORDS]:
            for stop in _ends(question, start, end):
                yield start, stop
                if question[start] in "*_~@#" and (marked := _MARKED.fullmatch(question, start, stop)):
                    yield from ((marked.start(each), marked.end(each)) for each in _INNER if marked[each])


def _pieces(question: str) -> Iterator[tuple[int, int]]:
    at = 0
    for gap in (*_BREAKS.finditer(question), None):
        stop = len(question) if gap is None else gap.start()
        start = at
        while start < stop and question[start] in _OPENING:
            start += 1
        if start < stop:
            yield start, stop
        at = len(question) if gap is None else gap.end()


def _ends(question: str, start: int, end: int) -> Iterator[int]:
    """Where the name may end: as it stands, without what closes a sentence, without a possessive s."""
    yield end
    bare = end
    while bare > start and question[bare - 1] in _CLOSING:
        bare -= 1
    if bare != end:
        yield bare
    possessive = _POSSESSIVE.search(question, start, bare)
    if possessive:
        yield possessive.start()


def _unspaced_spans(question: str) -> Iterator[tuple[int, int]]:
    for run in _UNSPACED_RUN.finditer(question):
        for start in range(run.start(), run.end()):
            for end in range(start + 1, min(start + _MAX_UNSPACED, run.end()) + 1):
                yield start, end
