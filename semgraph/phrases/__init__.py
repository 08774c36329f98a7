"""Sentences in: patterns for what people tell an assistant, made for precision.

A sentence is read whole or not at all; what no pattern is sure of is left, to be kept as a sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from semgraph.phrases.ends import SPEAKER
from semgraph.phrases.readers import Dated, Words, life, statement

if TYPE_CHECKING:
    from collections.abc import Callable

    Dates = Callable[[str], Dated | None]

__all__ = ["SPEAKER", "Dated", "candidates", "sentences"]

_MOST_WORDS: Final = 40
_LONGEST: Final = 2_000  # characters of a sentence: dates are looked for at every sign of it
_ABBREVIATED: Final = "".join(
    rf"(?<!\b{word}\.)" for word in ("Mr", "Mrs", "Ms", "Dr", "St", "vs", "e\\.g", "i\\.e", "[A-Z]")
)
_END: Final = re.compile(rf"(?<=[.!?])[\"')\]]*{_ABBREVIATED}\s+(?=[\"'(\[]?[^\W_a-z])|\n+")
_ASIDE: Final = re.compile(r" \([^()]*\)(?=[ ,.!])")
_CONTRACTIONS: Final = (
    (re.compile("’"), "'"),
    (re.compile(r"\b(I)'m\b", re.IGNORECASE), r"\1 am"),
    (re.compile(r"\b(I|you|we|they)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(I|you|we|they|he|she|it)'ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(you|we|they)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(do|does|is|are|was|were|has|have)n't\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"(?<=\w)'s(?= (?:\w+ing|been|no longer|not) )"), " is"),
)
_OPENERS: Final = re.compile(
    r"(?:(?:(?:hey|hi|hello)(?: [A-Z]\w*)?|actually|also|again|and|anyway|as it happens|basically|btw|but|by the way|"
    r"currently|eventually|fact|finally|for the record|fortunately|frankly|furthermore|fyi|happily|honestly|however|"
    r"incidentally|indeed|interestingly|just so you know|luckily|meanwhile|moreover|nevertheless|no|note|note that|oh|"
    r"obviously|of course|ok|okay|please|please note|please remember|plus|remember|remember that|sadly|so|surprisingly|"
    r"thankfully|unfortunately|update|well|yeah|yes)[,:]? )+",
    re.IGNORECASE,
)
# What makes a sentence say less, or something else, than its main clause.
_NOT_PLAIN: Final = re.compile(
    r"\b(?:allegedly|almost|apparently|arguably|barely|believe|believes|can|could|hardly|heard|hope|hopefully|hopes|if|"
    r"imagine|(?-i:may)|maybe|might|must|nearly|never|nobody|perhaps|possibly|potentially|presumably|pretend|probably|"
    r"purportedly|reportedly|said|says|seemingly|should|supposedly|tentatively|think|thinks|unless|unlikely|whether|wish|"
    r"would)\b|[?\"“”]",
    re.IGNORECASE,
)
_POSSESSED: Final = re.compile(r"(?:my|your|our) |the \S+ of ", re.IGNORECASE)
_PRONOUN: Final = re.compile("(?:I|we|you|he|she|it|they|this|that) ", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, as written.

    >>> sentences("Dr. Lee lives in Oslo. I use Vim 9.1 now.")
    ['Dr. Lee lives in Oslo.', 'I use Vim 9.1 now.']
    """
    return [part.strip() for part in _END.split(text) if part.strip()]


def candidates(text: str, dated: Dates) -> list[Words]:
    """What the patterns find in a text: for each statement the words of `add`, and its sentence.

    A sentence, or the rest of one, that no pattern fits comes as its `text` alone. `dated` takes the dates out of a
    clause; it gives None where they say more than one thing.

    >>> found = candidates("I live in Oslo and work at Linear. It rains.", Dated)
    >>> [(c.get("predicate"), c.get("object"), c["text"]) for c in found[1:]]
    [('works_at', 'Linear', 'I live in Oslo and work at Linear.'), (None, None, 'It rains.')]
    """
    found: list[Words] = []
    unread: set[str] = set()  # sentences that no pattern fits: a text may be one of them over and over
    for sentence in sentences(text):
        plain = "" if sentence in unread else _plain(sentence)
        read = _statements(plain, dated) if " " in plain else []  # one word says nothing
        if not read:
            unread.add(sentence)
        found += [{"text": sentence, **words} for words in read] or [{"text": sentence}]
    return found


def _plain(sentence: str) -> str:
    """The sentence without asides, contractions and openers; empty where it is not plainly asserted."""
    plain = " ".join(_ASIDE.sub(" ", sentence).split())
    for pattern, written in _CONTRACTIONS:
        plain = pattern.sub(written, plain)
    plain = plain[opener.end() :] if (opener := _OPENERS.match(plain)) else plain
    long = len(plain) > _LONGEST or len(plain.split()) > _MOST_WORDS
    return "" if long or _NOT_PLAIN.search(plain) else plain.rstrip(".! ")


def _statements(text: str, dated: Dates) -> list[Words]:
    """Those of one clause, or of each of the clauses that "and" joins."""
    joints = list(re.finditer(",? (?:and|but|while) ", text))
    when = dated(text)
    found = [] if when is None else statement(when) or ([] if joints else life(when))
    if found:
        return found
    for joint in joints:
        first = dated(text[: joint.start()])
        if first is None:
            continue
        born = life(first)
        left = born or statement(first)
        if not left:
            continue
        rest = text[joint.end() :]
        who = _spoken_of(first.text, left[0])
        right = _statements(rest, dated) or _statements(f"{'I' if who == SPEAKER else who} {rest}", dated)
        if right or born or _PRONOUN.match(rest):
            return left + (right or [{"text": rest}])
    return []


def _spoken_of(clause: str, words: Words) -> str:
    """Whom a clause without a subject goes on about: after "my brother is Bo and", Bo, not the one who speaks."""
    near, far = str(words["subject"]), str(words["object"])
    return far if near == SPEAKER and _POSSESSED.match(clause) and clause.endswith(far) else near
