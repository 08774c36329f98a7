"""Whom a clause is about, and on which side of a relation its verbs stand: what whole words in a sentence do not tell.

"My brother lives in Oslo" has all words of a claim that the speaker lives there, and "she hates tea" nearly all of one
that she likes it. English only; of a sentence in another language nothing is said here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.markers import words as listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["opposite", "other_subject"]

_PERSONS: Final = listed(
    "aunt boss boyfriend brother cat child children coach colleague colleagues cousin cousins coworker coworkers dad "
    "daughter daughters dentist doctor dog ex family father fiance fiancee flatmate flatmates friend friends "
    "girlfriend grandfather grandma grandmother grandpa grandparents husband kid kids landlord manager mentor mom "
    "mother mum nephew niece neighbor neighbors neighbour neighbours parents partner roommate roommates sibling "
    "siblings sister sisters brothers son sons spouse stepfather stepmother teacher teammate teammates therapist twin "
    "uncle wife"
)
_PERSON: Final = rf"(?:{'|'.join(sorted(_PERSONS, key=len, reverse=True))})(?:[- ]in[- ]law)?"
_OWNED: Final = re.compile(
    r"(?:\b(?:my|our|your|his|her|their)|(?<!\S)[\w-]+['’]s?) (?:[\w-]+ ){0,2}?"
    rf"(?P<who>{_PERSON})(?P<of>['’]s?)?(?!\w)",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"\b(?P<first>i|we|me|us)\b|\b(?:he|she|they|who)\b", re.IGNORECASE)
_NOMINATIVE: Final = re.compile(r"\b(?:i|we|he|she|they)\b", re.IGNORECASE)
_FIRST: Final = re.compile("i|me|we", re.IGNORECASE)
_MINE: Final = re.compile(r"\b(?:my|our|mine)\b", re.IGNORECASE)
_JOINED: Final = re.compile(r"(?P<one>[\w'’-]+) and \Z")
# After a person, what shows that no verb follows: it is an object of what was said before, or one of two subjects.
_NO_VERB: Final = re.compile(
    r"\s*(?:\Z|[,;:.!?)](?! (?:who|that|which)\b)|(?:(?:about|across|after|an?|and|are you|as|at|because|before|but|by|"
    r"during|every|for|from|i|in|into|last|me|near|next|of|on|onto|or|over|since|than|that|the|there|this|to|today|"
    r"tomorrow|towards|until|we|when|where|while|with|yesterday)\b))",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"(?:\s+(?:and )?[A-Z][\w'’-]*){1,3}")
_REPORTED: Final = re.compile(
    r"(?:\b(?:that|because|since|if|when|where|while|but|as|like)|\b(?:believe|bet|feel|figure|find|found out|guess|"
    r"hear|heard|hope|know|learned|learnt|mean|mentioned|realised|realized|remember|reckon|said|saw|say|see|suppose|"
    r"suspect|swear|think|thought|told \w+|wish|glad|happy|sure|sorry))\s+\Z|[,;:]\s*\Z",
    re.IGNORECASE,
)
# Relations between a person and those that are called by what they are to him: "my sister is Ana".
_RELATING: Final = frozenset(
    listed(
        "child family friend has knows known manages managed married met parent partner pet relative "
        "related relation reports sibling spouse works with"
    )
).union(_PERSONS)
_COPULA: Final = re.compile(
    r"(?:['’]s name)?\s*(?:['’]s|is|was|are|were)?(?: (?:called|named|now))?\s*[,:]?\s*", re.IGNORECASE
)
_ADVERBS: Final = frozenset(
    listed(
        "also already always currently eventually finally first formerly here just lately later maybe mostly never now "
        "often previously recently sometimes soon still then there today tomorrow usually yesterday this that it what "
        "which who where when how why i i'm i've i'd i'll we we're we've"
    )
)
_VERB_NEXT: Final = re.compile(r"(?:is|was|has|had|does|did|went|got|left|took|made|came|said|[a-z]+(?:ed|[^\Wsu]s))\b")

_LIKES: Final = "adore adores adored enjoy enjoys enjoyed favor favors favour favours like likes liked love loves loved"
_PREFERS: Final = "prefer prefers preferred fan fond keen"
_HATES: Final = (
    "abhor abhors despise despises despised detest detests detested dislike dislikes disliked hate hates hated"
)
_LOATHES: Final = "loathe loathes loathed resent resents can't_stand can't_bear"
_OPPOSITES: Final = tuple(
    (frozenset(listed(one)), frozenset(listed(other)))
    for one, other in (
        (f"{_LIKES} {_PREFERS}", f"{_HATES} {_LOATHES}"),
        ("back backs backed endorse endorses endorsed support supports supported", "oppose opposes opposed"),
        ("buy buys bought purchase purchased", "sell sells sold"),
        ("hire hires hired employ employs", "fire fires fired sacked"),
        ("accept accepts accepted", "decline declines declined refuse refuses refused reject rejects rejected"),
        ("trust trusts trusted", "distrust distrusts mistrust mistrusts"),
        ("win wins won", "lose loses lost"),
        ("include includes included contain contains", "exclude excludes excluded lacks"),
        ("allow allows allowed permit permits", "forbid forbids forbidden ban bans banned"),
    )
)
_CAN_NOT: Final = re.compile(r"\b(?:can't|cannot|can not|couldn't) (?=(?:stand|bear)\b)")


class _Met(NamedTuple):
    """A word or phrase that may be whom the clause is about: where, how it is written, and whether it is meant."""

    at: int
    text: str
    meant: bool


def other_subject(clause: str, thing: str, predicate: str, names: Collection[str], *, speaks: bool) -> str | None:
    """Who or what a clause is about where that is not whom the claim is about; None where nothing shows it.

    Args:
        clause: a stretch of a sentence, as written.
        thing: the object of the claim, as the clause writes it: what comes before it tells the subject.
        predicate: the relation, which may be what a person is to the subject ("my sister is Ana").
        names: what the subject of the claim may be called.
        speaks: whether it is the one who speaks, and so "I" too.

    >>> other_subject("My brother lives in Oslo", "Oslo", "lives_in", [], speaks=True)
    'My brother'
    >>> other_subject("My brother is Ana", "Ana", "sibling_of", [], speaks=True)
    >>> other_subject("Bob's wife works at Stripe", "Stripe", "works_at", ["Bob"], speaks=False)
    "Bob's wife"
    """
    found = re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", clause, re.IGNORECASE)
    before = clause[: found.start()] if found is not None and re.search(r"\w", clause[: found.start()]) else clause
    met = [*_persons(before, predicate, names, speaks=speaks), *_named(before, names)]
    if speaks:
        met += [_Met(one.start(), one[0], one["first"] is not None) for one in _PRONOUN.finditer(before)]
    if met:
        last = max(met)
        return None if last.meant else last.text
    return _leading_name(before) if speaks and before is not clause else None


def _persons(before: str, predicate: str, names: Collection[str], *, speaks: bool) -> Iterator[_Met]:
    """Those that are called by what they are to somebody, where a verb follows."""
    related = not _RELATING.isdisjoint(re.findall("[a-z]+", predicate.lower()))
    for match in _OWNED.finditer(before):
        held, rest = before[: match.start()], before[match.end("who") :]
        named = _NAMED.match(rest)
        after = rest if named is None else rest[named.end() :]
        idle = match["of"] is None and _NO_VERB.match(after)
        joined = _JOINED.search(held)
        own = joined is not None and ((speaks and _FIRST.fullmatch(joined["one"])) or _has(joined["one"], names))
        spoken_of = _NOMINATIVE.search(held) and not _REPORTED.search(held)
        meant = _has(match[0], names) or (named is not None and _has(named[0], names))
        if not (idle or own or spoken_of or meant or (related and _COPULA.fullmatch(rest))):
            yield _Met(match.start(), match[0].strip(), meant=False)


def _named(before: str, names: Collection[str]) -> Iterator[_Met]:
    """Where the subject of the claim is named, and is no owner of something else."""
    for name in names:
        for match in _written(name).finditer(before):
            yield _Met(match.start(), name, meant=True)


def _leading_name(before: str) -> str | None:
    """A name with a verb behind it, at the beginning of words that speak of nobody else."""
    first, _, rest = before.strip().partition(" ")
    plain = not first[:1].isupper() or first.endswith("ing") or first.lower() in _ADVERBS or _MINE.search(before)
    return first if not plain and _VERB_NEXT.match(rest) else None


def _has(text: str, names: Collection[str]) -> bool:
    return any(_written(name).search(text) for name in names)


def _written(name: str) -> re.Pattern[str]:
    """A name as whole words, and as no owner of something."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!['’]|\w)", re.IGNORECASE)


def opposite(clause: str, predicate: str) -> str | None:
    """The word of a clause that says the opposite of a relation, where none says the relation; else None.

    >>> opposite("she hates tea", "likes"), opposite("she likes tea", "likes"), opposite("I can't stand tea", "likes")
    ('hates', None, "can't stand")
    """
    said = re.findall("[a-z]+", predicate.lower())
    told: list[str] = re.findall(r"[\w']+", _CAN_NOT.sub("can't_", clause.lower().replace("’", "'")))
    for pair in _OPPOSITES:
        for own, other in (pair, pair[::-1]):
            if not own.isdisjoint(said) and own.isdisjoint(told):
                found: str | None = next((word for word in told if word in other), None)
                if found is not None:
                    return found.replace("_", " ")
    return None
