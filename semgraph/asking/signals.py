"""What a question asks of time: before or after something, in a date, the first of several, or a time itself."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = ["Kind", "Signal", "Temporal", "elsewhere", "temporal"]


class Signal(StrEnum):
    """How the answer lies in time to what the question names."""

    NONE = "none"
    OVERLAP = "overlap"
    BEFORE = "before"
    AFTER = "after"
    START = "start"
    FINISH = "finish"
    ORDINAL = "ordinal"


class Kind(StrEnum):
    """Where the time of the question comes from: a date, another fact, a place in order; or the answer is a time."""

    NONE = "none"
    EXPLICIT = "explicit"
    IMPLICIT = "implicit"
    ORDINAL = "ordinal"
    ANSWER = "answer"


class Temporal(NamedTuple):
    """What a question asks of time."""

    signal: Signal
    kind: Kind


# "When ...?" that is no clause of another question, "in which year", "how long", "the start date of".
_WHEN: Final = re.compile(r"\A(?:and |so |since |until )?when\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_INVERTED: Final = re.compile(
    r" (?:is|was|were|did|does|do|has|have|had|are|will|can|could|should)\b(?!.*\b(?:start|end) date\?)", re.IGNORECASE
)
_MAIN_LATER: Final = re.compile(
    r",\s*(?:(?:in|at|on|for|of|with|to|from|by|during) )?(?:the )?(?:what|which|who|whom|whose|where|how)\b",
    re.IGNORECASE,
)
_TIME_ASKED: Final = re.compile(
    r"\b(?:since when|until when|how long|how old|(?:what|which) (?:was |is |are |were )?(?:the )?(?:exact |calendar )?"
    r"(?:years?|dates?|days?|months?|decade|century|age|time(?! zone| signature)))\b|"
    r"\b(?:what|which) (?:is|was|are) (?:the )?(?:[a-z]+ and )?(?:(?:start|end)(?:ing)?(?: and (?:start|end))? |"
    r"point in |publication |inception|birth |death |dissolution |release |debut |founding )(?:time|date|year)?\b|"
    r"\bat (?:what|which) point in time\b|\b(?:date|year|birthday|birthdate) (?:of|did|that|was|when|for)\b|"
    r"\bwhen\??\Z",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"(?:\A|[ ,])(?:before|prior to|after|following|when|while|during|as of|until|till|since|at the time|upon)\b"
    "[^,?]*,?",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(
    r"\b(?:first(?! lady| world| name| minister|-class)|second(?! world| language)|third|fourth|fifth|sixth|seventh|"
    r"eighth|ninth|tenth|\d+(?:st|nd|rd|th)(?! century| of | birthday| street| airborne|,? \d{4}| jan| feb| mar| apr|"
    r" may| jun| jul| aug| sep| oct| nov| dec)|last(?! name| words| year| month| week| season)|latest|newest|"
    r"earliest|oldest|"
    r"youngest|final|most recent(?:ly)?|(?:for the )?last time|originally|initial|eldest)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:before|prior to|preced(?:e|es|ed|ing)|predecessor|previous(?:ly)?|former(?:ly)?|earlier than|until|till|"
    r"up to|replaced by)\b",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\b(?:after(?:wards)?|follow(?:s|ed|ing)?(?! the| up)|followed by|successors?|succeed(?:s|ed|ing)?|later than|"
    r"since|subsequent(?:ly)?|took over|next|replaces?|replaced(?! by))\b",
    re.IGNORECASE,
)
# How something lies to a date that is named.
_EDGES: Final = (
    (
        Signal.START,
        re.compile(r"start(?:ing)? (?:time|date)|\b(?:since|started|starting|began|beginning)\b", re.IGNORECASE),
    ),
    (
        Signal.FINISH,
        re.compile(r"end(?:ing)? (?:time|date)|\b(?:until|till|ended|ending|left|ceased|up to)\b", re.IGNORECASE),
    ),
    (Signal.BEFORE, re.compile(r"\b(?:before|prior to)\b", re.IGNORECASE)),
    (Signal.AFTER, re.compile(r"\bafter\b", re.IGNORECASE)),
)
_NOW: Final = re.compile(
    r"\b(?:now|currently|current|today|nowadays|at present|still|this year|right now)\b", re.IGNORECASE
)
_DATE: Final = re.compile(
    r"\b(?:1\d{3}|20\d{2})(?:'?s)?\b|\b\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b|\b\d{1,2}(?:st|nd|rd|th) century\b|"
    r"\b\d+-\d{1,2}-\d{1,2}\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b\d+ (?:bc|ad|bce|ce)\b|\blast (?:year|month|week|season)\b",
    re.IGNORECASE,
)


def temporal(question: str) -> Temporal:
    """What a question asks of time.

    >>> temporal("Who was mayor of London before Boris Johnson?")
    Temporal(signal=<Signal.BEFORE: 'before'>, kind=<Kind.IMPLICIT: 'implicit'>)
    """
    when = _WHEN.match(question)
    asked = when is not None and not _MAIN_LATER.search(when["rest"])
    inverted = when is not None and bool(_INVERTED.match(when["rest"]))
    if asked and not inverted:
        return Temporal(Signal.NONE, Kind.ANSWER)
    main = question if asked else _CLAUSE.sub(" ", question)
    if _ordinal(main):
        return Temporal(Signal.ORDINAL, Kind.ORDINAL)
    if asked or _TIME_ASKED.search(main):
        return Temporal(Signal.NONE, Kind.ANSWER)
    if _DATE.search(question):
        return Temporal(_dated(question), Kind.EXPLICIT)
    if _NOW.search(main):
        return Temporal(Signal.NONE, Kind.EXPLICIT)
    if _BEFORE.search(question):
        return Temporal(Signal.BEFORE, Kind.IMPLICIT)
    if _AFTER.search(question):
        return Temporal(Signal.AFTER, Kind.IMPLICIT)
    return Temporal(Signal.OVERLAP, Kind.IMPLICIT)


def _ordinal(main: str) -> bool:
    """Whether the main clause asks for one by its place; "First" inside a name is none."""
    return any(not found[0][0].isupper() or found.start() == 0 for found in _ORDINAL.finditer(main))


def _dated(question: str) -> Signal:
    for signal, pattern in _EDGES:
        if pattern.search(question):
            return signal
    return Signal.OVERLAP


#: What is asked of the graph as a whole, and what tells it.
_ELSEWHERE = (
    (re.compile(r"\b(?:chang(?:ed?|es)|differ(?:s|ed|ence|ences|ent)?)\b", re.IGNORECASE), "diff tells what changed"),
    (
        re.compile(r"\b(?:disagree\w*|contradict\w*|conflict\w*|disput\w*)\b", re.IGNORECASE),
        "conflicts lists what sources disagree about",
    ),
    (re.compile(r"\bhappen(?:ed|s)?\b", re.IGNORECASE), "timeline and diff tell what happened"),
)


def elsewhere(text: str) -> str:
    """Which read answers a question of the graph as a whole, as the end of a sentence; nothing where none does."""
    return next((f"; {told}" for asked, told in _ELSEWHERE if asked.search(text)), "")
