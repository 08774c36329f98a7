"""A question taken apart: what it names, what it asks for, which words are left to say how, and when."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.edges import stems
from semgraph.asking.kinds import KIND, kind_of
from semgraph.asking.signals import Kind, Signal, Temporal, temporal
from semgraph.dates import find_dates
from semgraph.markers import words as listed
from semgraph.phrases.relations import VERBS
from semgraph.phrases.verbs import forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from semgraph.dates.reading import Reading

__all__ = ["Asked", "Clause", "Named", "Question", "Word", "read_question"]


class Asked(StrEnum):
    """What kind of thing would answer the question."""

    VALUE = "value"
    START = "start"
    END = "end"
    DURATION = "duration"
    COUNT = "count"
    TRUTH = "truth"


class Named(NamedTuple):
    """A stretch of the question that names something, and every entity that it may mean."""

    start: int
    end: int
    entities: tuple[int, ...]


class Word(NamedTuple):
    """A word that says how things hang together, as it stands and as it is compared.

    `kind`: it says what kind of thing is asked for ("which country …"), and need name no relation.
    """

    text: str
    stem: str
    start: int
    kind: bool = False


class Clause(NamedTuple):
    """A stretch of the question: what it names, its dates, and its other words that say something."""

    named: tuple[Named, ...]
    dates: tuple[Reading, ...]
    words: tuple[Word, ...]


class Question(NamedTuple):
    """A question: `main` asks, `time` says when (a clause such as "before she joined Linear"), `place` is its order.

    `place` counts from the first (0) or from the last (-1); None where the question asks for no place in an order.
    `many`: how many from there.
    """

    text: str
    asked: Asked
    temporal: Temporal
    main: Clause
    time: Clause | None
    place: int | None
    present: bool
    many: int = 1

    @property
    def named(self) -> tuple[Named, ...]:
        """What the whole of it names."""
        return (*self.main.named, *(self.time.named if self.time else ()))

    @property
    def leaving(self) -> tuple[Word, ...]:
        """The words by which it asks for what has ended ("who left Acme?"), where it does not ask when that was."""
        if self.asked not in (Asked.VALUE, Asked.TRUTH, Asked.COUNT):
            return ()
        return tuple(word for word in self.main.words if _LEAVING.fullmatch(word.text))

    @property
    def joining(self) -> bool:
        """Whether it asks for what began ("who joined Acme in 2020?")."""
        return any(_JOINING.fullmatch(word.text) for word in self.main.words)

    @property
    def kind(self) -> str:
        """What kind of thing the question asks for; nothing where it does not say."""
        return kind_of(self.text) if self.asked in (Asked.VALUE, Asked.COUNT) else ""

    @property
    def unit(self) -> str | None:
        """What the answer is counted in, where that is a time: days if the question says so, else years."""
        if self.asked is not Asked.DURATION:
            return None
        return "days" if re.search(r"\bdays?\b", self.text, re.IGNORECASE) else "years"


_SMALL: Final = frozenset(
    listed(
        "a about after all also am an and any anyone anything are as at be became been before being by called can "
        "could current currently date day days did do does done during earliest ever far first for from give had "
        "happen happened has have he held her his hold holds how i in into is it its last latest list long many me "
        "month months most much my name named next now of old on or our people person person's previous recent "
        "recently say says second she show since some somebody someone still tell than that the their them then there "
        "these they thing third this those time to today until us was we were what when where which while who whom "
        "whom whose why will with year years you your"
    )
)
# What kind of thing is meant, and verbs for having any part: the relation says the rest.
_KINDS: Final = frozenset(
    listed(
        "appointed assume assumed became began begin beginning cities city club clubs companies company countries "
        "country earn earned emerge emerged employer firm group individual individuals institution job nation "
        "organisation organization organizations over place places school serve served service serving start "
        "started state team teams took town university"
    )
)
_COUNTED: Final = {word: at for at, word in enumerate(listed("two three four five six seven eight nine ten"), 2)}
_SEVERAL: Final = re.compile(
    rf"\b(?:first|earliest|last|latest|final|most recent|next|previous) (?P<many>{'|'.join(_COUNTED)}|\d{{1,2}})\b"
    r"(?!(?:st|nd|rd|th|%|-)| (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?)\b)",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"(?P<by>before|prior to|after|following|while|during|since|when|at the time)\b(?P<clause>.*?),(?= )", re.IGNORECASE
)
_TRAILING: Final = re.compile(
    r"[ ,](?P<by>before|prior to|after|following|while|during|when|at the time)\b(?P<clause>[^?]*)", re.IGNORECASE
)
_TRUTH: Final = re.compile(
    r"(?:is|are|was|were|did|does|do|has|have|had|am)\b(?! (?:what|which|who|when)\b)", re.IGNORECASE
)
_PRESENT: Final = re.compile(
    r"\b(?:is|are|does|do|has|have|am|now|current|currently|still|today)\b|\bwho \w+s\b", re.IGNORECASE
)
_VERBS_NOW: Final = frozenset(
    form
    for base in {verb.phrase.split(" ", 1)[0] for verb in VERBS} - {"be"}
    for form in (base, forms(base)[0])
    if base not in forms(base)[1:3]
)
_PAST: Final = re.compile(r"\b(?:was|were|did|had|used to|ever|previous|former|last|first|earliest)\b", re.IGNORECASE)
_ENDED: Final = re.compile(
    r"\b(?:until when|end|ended?|stop(?:ped)?|leave|left|quit|cease[sd]?|finish(?:ed)?|resign(?:ed)?)\b", re.IGNORECASE
)
_JOINING: Final = re.compile(r"join(?:s|ed|ing)?|hired?|mov(?:e|es|ed|ing)|marry|marries", re.IGNORECASE)
_LEAVING: Final = re.compile(r"left|leav(?:e|es|ing)|quit|ended|ceased|stopped|resigned|finished", re.IGNORECASE)
_LAST: Final = re.compile(r"\b(?:last|latest|newest|final|most recent(?:ly)?|previous|youngest)\b", re.IGNORECASE)
_NUMBERED: Final = {
    "first": 0, "earliest": 0, "oldest": 0, "initial": 0, "originally": 0, "eldest": 0, "second": 1, "third": 2,
    "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "eighth": 7, "ninth": 8, "tenth": 9,
}  # fmt: skip
_NUMBER: Final = re.compile(
    rf"\b(?P<word>{'|'.join(_NUMBERED)})\b|\b(?P<digits>\d{{1,3}})(?:st|nd|rd|th)\b", re.IGNORECASE
)


def read_question(text: str, named: Sequence[Named], reference: datetime) -> Question:
    """The parts of a question; dates are read as of the reference.

    Raises:
        RejectedError: never for words; only for a date out of the range of time.
    """
    spans = [(n.start, n.end) for n in named]
    dates = [span for span in find_dates(text, reference=reference) if not _meets((span.start, span.end), spans)]
    main, clause = _split(text, spans)
    sense = temporal(text)
    by = sense.signal
    pieces = [(span.start, span.end, span.reading) for span in dates]
    when = None
    if clause is not None:
        by, when = _signal(clause[0]), _clause(text, [clause[1:]], named, pieces, led=len(clause[0]))
    asked = _asked(text, sense, main)
    return Question(
        text, asked, Temporal(by, sense.kind), _clause(text, main, named, pieces), when, _place(text, main, spans),
        _is_present(text), _many(text, main),
    )  # fmt: skip


def _is_present(text: str) -> bool:
    """Whether the question is about now: by its auxiliaries, or by a verb that has none ("how many people work at")."""
    if _PAST.search(text):
        return False
    return bool(_PRESENT.search(text)) or not _VERBS_NOW.isdisjoint(re.findall(r"\w+", text.lower()))


def _split(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[tuple[int, int]], tuple[str, int, int] | None]:
    """The stretches of the main clause, and the clause that says when: its first word and where the rest lies."""
    lead = _LEADING.match(text)
    if lead and not _inside(lead.end(), spans):
        return [(lead.end(), len(text))], (lead["by"].lower(), *lead.span("clause"))
    for trail in _TRAILING.finditer(text):
        if text[: trail.start()].strip().lower() not in ("", "since", "until", "till") and not _inside(
            trail.start("by"), spans
        ):
            return [(0, trail.start("by"))], (trail["by"].lower(), *trail.span("clause"))
    return [(0, len(text))], None


def _signal(by: str) -> Signal:
    if by in ("before", "prior to"):
        return Signal.BEFORE
    return Signal.AFTER if by in ("after", "following", "since") else Signal.OVERLAP


def _clause(
    text: str,
    stretches: Sequence[tuple[int, int]],
    named: Sequence[Named],
    dates: Sequence[tuple[int, int, Reading]],
    *,
    led: int = 0,
) -> Clause:
    """What lies in some stretches; a date may begin with the word before, which leads so many letters in."""
    inside = [n for n in named if any(a <= n.start and n.end <= b for a, b in stretches)]
    wide = [(a - led, b + text.startswith("?", b)) for a, b in stretches]  # "2010?" is a date too, an uncertain one
    dated = [d for d in dates if any(a <= d[0] and d[1] <= b for a, b in wide)]
    taken = [(n.start, n.end) for n in inside] + [(d[0], d[1]) for d in dated]
    taken += [several.span("many") for several in _SEVERAL.finditer(text)]
    found = tuple(word for a, b in stretches for word in _content(text, a, b, taken))
    return Clause(tuple(inside), tuple(d[2] for d in dated), found)


def _content(text: str, start: int, end: int, taken: Sequence[tuple[int, int]]) -> Iterator[Word]:
    asked = KIND.match(text[start:end].lstrip(" ,"))
    kind = -1 if asked is None else end - len(text[start:end].lstrip(" ,")) + asked.start("kind")
    for match in re.finditer(r"[^\W_]+(?:['’][a-z]+)?", text[start:end]):
        at = start + match.start()
        written = re.sub("['’]s?$", "", match[0])
        low = written.lower()
        if low in _SMALL or low in _KINDS or re.fullmatch(r"\d+(?:st|nd|rd|th)", low) or _inside(at, taken):
            continue
        for stem in stems(low):
            yield Word(written, stem, at, kind=at == kind)


def _asked(text: str, sense: Temporal, main: Sequence[tuple[int, int]]) -> Asked:
    body = text[main[0][0] :].strip(" ,").lower()
    if re.match("(?:for )?how (?:long|old)", body):
        return Asked.DURATION
    if re.match("how (?:many (?!years|days|months)|often)", body):
        return Asked.COUNT
    if re.match("how many (?:years|days|months)", body):
        return Asked.DURATION
    if sense.kind is Kind.ANSWER or re.match(
        "(?:since |until )?when|(?:in|on|at) (?:what|which) (?:year|date|day|month)", body
    ):
        return Asked.END if _ENDED.search(body) else Asked.START
    return Asked.TRUTH if _TRUTH.match(body) else Asked.VALUE


def _place(text: str, main: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> int | None:
    for start, end in main:
        body = text[start:end]
        for match in _NUMBER.finditer(body):
            if not _inside(start + match.start(), spans):
                return _NUMBERED[match["word"].lower()] if match["word"] else int(match["digits"]) - 1
        last = _LAST.search(body)
        if last and not _inside(start + last.start(), spans):
            return -1
    return None


def _many(text: str, main: Sequence[tuple[int, int]]) -> int:
    found = next((several for start, end in main if (several := _SEVERAL.search(text, start, end))), None)
    if found is None:
        return 1
    word = found["many"].lower()
    return _COUNTED.get(word) or max(int(word), 1)


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _meets(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in spans)
