"""Notes in plain text or Markdown: each sentence a claim, under the heading that it stands below."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph import phrases, remembering
from semgraph.errors import ImportRejected, RejectedError
from semgraph.exchange.intake import not_ahead
from semgraph.exchange.lines import counted, reading, shown_name
from semgraph.model import Batch
from semgraph.temporal import parse_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Place
    from semgraph.model import Receipt
    from semgraph.temporal import Bound

__all__ = ["Note", "note_sentences", "take_notes"]

_HEADING: Final = re.compile(r"(#{1,6})\s+(.+?)\s*#*")
_BULLET: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULER: Final = re.compile(r"[-=*_~ ]{3,}")
_FENCE: Final = re.compile(r"(?:```|~~~)")
_MARKED: Final = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),  # pictures
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),  # links
    (re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]+)\]\]"), r"\1"),
    (re.compile(r"(\*\*|__)(.+?)\1"), r"\2"),
    (re.compile(r"(?<!\w)([*_])(\S(?:.*?\S)?)\1(?!\w)"), r"\2"),
    (re.compile(r"`([^`]+)`"), r"\1"),
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FRONT: Final = re.compile(r"(?:date|created|updated)\s*:\s*[\"']?(\d{4}-\d\d(?:-\d\d)?)")


class Note(NamedTuple):
    """A sentence of a file of notes: the line on which it begins, the heading above it, the day it is dated to."""

    line: int
    text: str
    heading: str | None
    date: str | None


def take_notes(kg: KnowledgeGraph, place: Place, source: str | None) -> Batch:
    """What telling every sentence of a file did, each through the language gate, all of it in one transaction.

    What the sentence patterns read is told as what it says. Any other sentence is kept under its subject: the one who
    writes, a name that is known here, or else the heading. What is no lasting fact is refused, and told with its line.
    """
    shown = shown_name(place)
    try:
        with reading(place) as lines:
            texts = [line.decode("utf-8-sig" if number == 1 else "utf-8") for number, line in lines]
    except UnicodeDecodeError as error:
        raise ImportRejected("bad_encoding", f"{shown}: byte {error.start + 1} of a line is no UTF-8") from None
    notes = list(note_sentences(texts, shown))
    counts: Counter[str] = Counter()
    refused: list[tuple[int, Receipt]] = []
    with kg.atomic():
        for note in notes:
            for receipt in _tell(kg, note, source or "imported:notes", shown):
                counts[receipt.outcome.value] += 1
                if receipt.code is not None:
                    refused.append((note.line, receipt))
    told = [counted(len(notes), "sentence")]
    if notes and all(note.date is None for note in notes):
        told.append("no date is in the file or its name: all of it counts as said now")
    return Batch(
        dict(sorted(counts.items())),
        tuple(receipt for _, receipt in refused),
        rejected_at=tuple(line for line, _ in refused),
        notes=tuple(told),
    )


def _tell(kg: KnowledgeGraph, note: Note, source: str, shown: str) -> list[Receipt]:
    given: dict[str, Any] = {"source": source, "source_ref": f"{shown}#{note.line}", "said_at": _day(kg, note.date)}
    session = kg._session  # noqa: SLF001 - what a sentence yields, before it is told
    found = remembering.candidates(session, note.text, given, "rules")
    words = [{k: v for k, v in one.items() if v is not None} for one in found]
    under = [
        one if one.get("subject") is not None or note.heading is None else one | {"subject": note.heading}
        for one in words
    ]
    return kg.remember(note.text, extractor=lambda _: under)


def _day(kg: KnowledgeGraph, date: str | None) -> Bound | None:
    found: Bound | None = not_ahead(kg, {"said_at": None if date is None else parse_bound(date)}).get("said_at")
    return found


def note_sentences(lines: Iterable[str], title: str = "") -> Iterator[Note]:
    """The sentences of notes, without the marks of Markdown; code, tables and front matter are left out.

    >>> [(note.line, note.heading, note.text) for note in note_sentences(["# Atlas", "- It runs on **Fly.io**."])]
    [(2, 'Atlas', 'It runs on Fly.io.')]
    """
    texts = [line.rstrip("\r\n") for line in lines]
    date = found[0] if (found := _DAY.search(title)) and _valid(found[0]) else None
    start = 0
    if texts and texts[0].strip() == "---" and "---" in [text.strip() for text in texts[1:]]:
        start = 1 + [text.strip() for text in texts[1:]].index("---") + 1
        dates = (front[1] for text in texts[1 : start - 1] if (front := _FRONT.match(text.strip())))
        date = next(filter(_valid, dates), date)
    heading = PurePath(title).stem or None
    yield from _body(texts, start, heading, date)


def _body(texts: list[str], start: int, heading: str | None, date: str | None) -> Iterator[Note]:
    fenced, open_at, gathered = False, 0, ""
    for number, raw in enumerate(texts[start:], start + 1):
        text = raw.strip()
        bullet, head = _BULLET.match(text), _HEADING.fullmatch(text)
        apart = not text or fenced or bullet or head or text[0] in "|>" or _RULER.fullmatch(text) or _FENCE.match(text)
        if apart and gathered:
            yield from _split(open_at, gathered, heading, date)
            gathered = ""
        if _FENCE.match(text):
            fenced = not fenced
        elif head is not None and not fenced:
            bare = _bare(head[2])
            if (day := _DAY.fullmatch(bare)) and _valid(day[0]):
                date = bare
            else:
                heading = bare
        elif text and not fenced and text[0] != "|" and not _RULER.fullmatch(text):
            words = _bare(text[bullet.end() :] if bullet else text.lstrip("> "))
            open_at = open_at if gathered else number
            gathered = f"{gathered} {words}".strip()
    if gathered:
        yield from _split(open_at, gathered, heading, date)


def _split(line: int, text: str, heading: str | None, date: str | None) -> Iterator[Note]:
    for sentence in phrases.sentences(text):
        yield Note(line, sentence, heading, date)


def _bare(text: str) -> str:
    for pattern, plain in _MARKED:
        text = pattern.sub(plain, text)
    return text.strip()


def _valid(date: str) -> bool:
    try:
        parse_bound(date)
    except RejectedError:
        return False
    return True
