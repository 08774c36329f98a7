"""The two ends of a statement: which words are a name or a thing, and which are none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from semgraph.markers import words

if TYPE_CHECKING:
    from semgraph.phrases.relations import ObjectKind

__all__ = ["SPEAKER", "objects", "subject"]

SPEAKER: Final = "user"

_MOST_WORDS: Final = 6
_SPEAKERS: Final = frozenset(("i", "me", "my", "myself", "the user", "user", "you", "your"))
_NO_NAME: Final = frozenset(
    words(
        "a about after afterwards all also although among an and any anybody anything as at because before between "
        "both but by despite during earlier even everybody everyone everything for formerly from he her here him "
        "himself his home how i i'm if in initially it it's its just lately later like majority many me most my "
        "myself no nobody none not nothing of on once one only or originally our over people previously really "
        "recently she since so some somebody someone something soon still such than that that's the their them then "
        "there there's these they this those though to today tomorrow too under until us very we what when where "
        "which while who why with without yesterday yet you your"
    )
)
_VERBAL: Final = frozenset(
    words("am are be been because but did do does had has have is not or shall than that then was were which who will")
)
_JOINING: Final = frozenset(
    words("al and bin da das de del della den der des di do dos du e el ibn la las le of the van von y")
)
_NOT_INSIDE: Final = _NO_NAME - _JOINING  # what no name has after its first word
# What may follow an object without being part of it.
_TAIL: Final = re.compile(
    r"(?:,? (?:because|which|who|whose|where|so that|so|but|although|though|while|even|as well as)\b.*|[;:(—–].*| - .*"
    r"|,? (?:too|as well|now|currently|already|again|anymore|any more|any longer|these days|right now|nowadays))+\Z",
    re.IGNORECASE,
)


def subject(text: str, *, common: bool = False) -> str | None:
    """The subject as it goes into a claim: SPEAKER for the one who speaks, None where it is no name.

    `common`: a plain noun will do, if it is one word or has an article.

    >>> subject("I"), subject("Maya Lind"), subject("people"), subject("the payments service", common=True)
    ('user', 'Maya Lind', None, 'payments service')
    """
    name = text.strip(" ,")
    low = name.lower()
    if low in _SPEAKERS:
        return SPEAKER
    article = re.match("(?:the|our) ", low)
    bare = name[article.end() :] if article and name[article.end() :][:1].islower() else name
    parts = bare.split()
    if not _nameable(parts) or " and " in bare or re.search("[,:]", bare):
        return None
    if _proper(parts):
        return bare
    return bare if common and (article is not None or len(parts) == 1) else None


def objects(text: str, kind: ObjectKind, *, mixed: bool = False) -> list[str]:
    """The objects that a text names; empty where some of it is not of the kind.

    `mixed`: names and plain nouns may stand in one list.

    >>> objects("Finnish, Swedish and English", "names"), objects("the Dvorak layout now", "thing")
    (['Finnish', 'Swedish', 'English'], ['Dvorak layout'])
    >>> objects("it a lot", "thing")
    []
    """
    thing = trimmed(text)
    if kind == "text":
        low = thing.lower().split()
        return [thing] if 0 < len(low) <= _MOST_WORDS and _VERBAL.isdisjoint(low) else []
    parts = re.split(",? and |, ", thing) if kind in ("names", "things") else [thing]
    found = [_object(part.strip(), named=kind in ("name", "names")) for part in parts]
    whole = [part for part in found if part is not None]
    even = mixed or len({_proper(part.split()) for part in whole}) == 1
    return whole if even and len(whole) == len(found) else []


def trimmed(text: str) -> str:
    """The text without what only follows it.

    >>> trimmed("Vim, because it is quick")
    'Vim'
    """
    return _TAIL.sub("", text.strip(" ,")).strip(" ,.")


def _object(text: str, *, named: bool) -> str | None:
    bare = re.sub(r"\A(?:both|an?|the|my|our) ", "", text)
    parts = bare.split()
    if not _nameable(parts):
        return None
    if _proper(parts):
        return bare
    plain = _capital(parts[0]) or not any(map(_capital, parts))  # "dark mode", "Platform team"; not "producer Scott"
    return bare if plain and not named else None


def _nameable(parts: list[str]) -> bool:
    """Whether the words may be a name or a thing at all, and no clause, pronoun or adverbial."""
    low = [word.lower().strip(",") for word in parts]
    if not 0 < len(parts) <= _MOST_WORDS or low[0] in _NO_NAME or not _VERBAL.isdisjoint(low):
        return False
    return _NOT_INSIDE.isdisjoint(low[1:])


def _proper(parts: list[str]) -> bool:
    """Whether it is written as a name: each word begins with a capital or a digit, or joins such words."""
    return _capital(parts[0]) and all(_capital(word) or word in _JOINING for word in parts)


def _capital(word: str) -> bool:
    return any(char.isupper() or char.isdigit() or not char.isascii() for char in word[:2])
