"""The patterns themselves: a clause without its dates in, candidates in the words of `add` out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.markers import words
from semgraph.phrases.ends import SPEAKER, objects, subject, trimmed
from semgraph.phrases.relations import CHANGES, DESCRIBED, ENDS, JOBS, NOUNS, VERBS
from semgraph.phrases.verbs import forms, tenses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.temporal import Bound

__all__ = ["Dated", "Words", "life", "statement"]

Words = dict[str, Any]


class Dated(NamedTuple):
    """A clause without its dates, and when they say that it held.

    `point`: one date, and no stretch from or to it; `now`: the moment of speaking lies in it.
    """

    text: str
    start: Bound | None = None
    end: Bound | None = None
    point: bool = False
    now: bool = False


def statement(when: Dated) -> list[Words]:
    """What one clause says; empty where no pattern fits."""
    for reader in (_by_noun, _by_job, _by_verb, _by_change, _by_end):
        found = list(reader(when.text, when))
        if found:
            return found
    return []


# -- X lives in Y ------------------------------------------------------------------------------------------------------

_SUBJECT: Final = "(?P<s>.{1,80}?)"
_TASTES: Final = frozenset({"likes", "dislikes"})  # "I like the idea" tells no taste
_ADVERBS: Final = frozenset(
    words(
        "also always currently formerly longer mainly mostly no now once presently previously primarily still usually"
    )
)
_AS: Final = re.compile(r" as (?:an?|the|our|their|its) (?P<title>[\w -]+)\Z")


def _by_verb(text: str, when: Dated) -> Iterator[Words]:
    told = {at for word in set(text.lower().split()) for at in _by_form().get(word, ())}
    for verb in map(VERBS.__getitem__, sorted(told)):
        base = verb.phrase.partition(" ")[0]
        for tense, pattern in _tenses(verb.phrase):
            match = pattern.fullmatch(text)
            if match is None:
                continue
            who = subject(match["s"], common=verb.common)
            times = None if verb.habit and tense in ("past", "perfect") else _times(tense, when)
            taste = verb.predicate in _TASTES and re.match("(?:the|your|his|her|their|this|that) ", match["o"])
            if who is None or times is None or taste or not _agrees(who, base, text[match.end("s") :]):
                continue
            kept, more = _qualified(verb.predicate, match["o"])
            kept, title = _titled(kept) if verb.predicate == "works_at" else (kept, None)
            for thing in objects(kept, verb.object, mixed=verb.common):
                yield {"subject": who, "predicate": verb.predicate, "object": thing, **more, **times}
            if title and "negative" not in times:
                yield {"subject": who, "predicate": "job_title", "object": title, **times}
            return


@lru_cache(maxsize=1)
def _by_form() -> dict[str, list[int]]:
    """The places of the verbs that have a form."""
    found: dict[str, list[int]] = {}
    for at, verb in enumerate(VERBS):
        base = verb.phrase.partition(" ")[0]
        for form in {base, *forms(base), *(("am", "are", "were") if base == "be" else ())}:
            found.setdefault(form, []).append(at)
    return found


@lru_cache(maxsize=256)
def _tenses(phrase: str) -> list[tuple[str, re.Pattern[str]]]:
    return [
        (tense, re.compile(rf"{_SUBJECT} (?:{pattern}) (?P<o>.+)", re.IGNORECASE)) for tense, pattern in tenses(phrase)
    ]


def _agrees(who: str, base: str, rest: str) -> bool:
    """Whether the verb is of the subject's person: "Sounds like fun" tells what nobody likes."""
    first = next((word for word in rest.lower().split() if word not in _ADVERBS), "")
    if who == SPEAKER:
        return first not in {forms(base)[0], "has", "does", "is"}
    return first not in {base, "have", "do", "am"}


def _qualified(predicate: str, text: str) -> tuple[str, Words]:
    """An object without what only qualifies it, and of a preference its topic."""
    if predicate == "uses":
        return re.sub(" (?:for|with|on|at|to) .+", "", text), {}
    if predicate != "prefers":
        return text, {}
    kept, _, topic = trimmed(text).partition(" for ")
    kept = re.sub(",? (?:over|to|rather than|instead of|not) .+", "", kept)
    return kept, {"qualifiers": {"topic": topic}} if topic else {}


def _titled(text: str) -> tuple[str, str | None]:
    """A place of work, and what somebody is there."""
    match = _AS.search(text)
    return (text, None) if match is None else (text[: match.start()], match["title"])


def _times(tense: str, when: Dated) -> Words | None:
    """When a statement in a tense held; None where that can't be told."""
    if tense == "ended":
        return None if when.end else {"negative": True, "kind": "change", "valid_from": when.start}
    if when.point and tense in ("past", "perfect"):
        return {"valid_from": when.start, "valid_through": when.start}
    if tense == "past" or (tense == "perfect" and when.start is None):
        return {"valid_from": when.start, "valid_to": when.end or "unknown"}
    if tense == "planned" and when.start is None:
        return None
    if when.point and tense in ("present", "negated"):
        if not when.now:  # "works at Acme in 2020": a past told as present
            return None
        when = Dated(when.text)
    return {"valid_from": when.start, "valid_to": when.end} | ({"negative": True} if tense == "negated" else {})


# -- X moved to Y, X quit Y --------------------------------------------------------------------------------------------

_TURN: Final = rf"{_SUBJECT} (?:(?:have|has) )?(?:just |recently |finally )?"
_GROUP: Final = re.compile(r"\b(?:team|club|group|committee|council|board|band|party|society|union)\b", re.IGNORECASE)
_CHANGES: Final = [(change, re.compile(_TURN + change.pattern, re.IGNORECASE)) for change in CHANGES]
_ENDS: Final = [(end, re.compile(_TURN + end.pattern, re.IGNORECASE)) for end in ENDS]


def _by_change(text: str, when: Dated) -> Iterator[Words]:
    for change, pattern in _CHANGES:
        match = pattern.fullmatch(text)
        if match is None or when.end is not None:
            continue
        groups = match.groupdict()
        who = subject(match["s"])
        kept, more = _qualified(change.predicate, match["new"])
        kept, title = _titled(kept)
        new = objects(kept, change.object)
        old = [None] if groups.get("old") is None else objects(groups["old"], change.object)
        if who is None or len(new) != 1 or len(old) != 1 or (groups.get("plan") and when.start is None):
            return
        since = {"valid_from": when.start}
        if old[0] is not None and change.kind == "state":
            yield {
                "subject": who, "predicate": change.predicate, "object": old[0], "negative": True, "kind": "change",
                **since,
            }  # fmt: skip
        grouped = change.predicate == "works_at" and _GROUP.search(new[0])
        predicate = "member_of" if grouped else change.predicate
        yield {"subject": who, "predicate": predicate, "object": new[0], "kind": change.kind, **more, **since}
        if title and predicate == "works_at":
            yield {"subject": who, "predicate": "job_title", "object": title, **since}
        return


def _by_end(text: str, when: Dated) -> Iterator[Words]:
    for end, pattern in _ENDS:
        match = pattern.fullmatch(text)
        if match is None or when.end is not None:
            continue
        who, old = subject(match["s"]), objects(match["old"], end.object)
        if who is not None and len(old) == 1:
            yield {
                "subject": who, "predicate": end.predicate, "object": old[0], "negative": True, "kind": "change",
                "valid_from": when.start,
            }  # fmt: skip
        return


# -- X's noun is Y -----------------------------------------------------------------------------------------------------

_NOUN: Final = f"(?P<noun>{'|'.join(sorted(NOUNS, key=len, reverse=True))})"
_OWNER: Final = "(?:(?P<my>my|your)|(?P<s>.{1,60}?)'s?)"
_IS: Final = "(?P<is>is now|is called|is named|is|was)"
_POSSESSED: Final = re.compile(rf"{_OWNER} (?:new |current )?{_NOUN}(?:'s name)? {_IS}(?: (?P<o>.+))?", re.IGNORECASE)
_OF: Final = re.compile(rf"(?P<my>)the {_NOUN} of {_SUBJECT} {_IS}(?: (?P<o>.+))?", re.IGNORECASE)
_FAVOURITE: Final = re.compile(rf"{_OWNER} favou?rite (?P<topic>[\w ]{{2,40}}?) is (?P<o>.+)", re.IGNORECASE)


def _by_noun(text: str, when: Dated) -> Iterator[Words]:
    favourite = _FAVOURITE.fullmatch(text)
    match = favourite or _POSSESSED.fullmatch(text) or _OF.fullmatch(text)
    if match is None:
        return
    who = subject(match["my"] or match["s"], common=True)
    if who is None:
        return
    if favourite:
        things = objects(match["o"], "thing")
        if things and when.end is None:
            topic = {"topic": match["topic"].lower()}
            yield {
                "subject": who, "predicate": "prefers", "object": things[0], "qualifiers": topic,
                "valid_from": when.start,
            }  # fmt: skip
        return
    noun = NOUNS[match["noun"].lower()]
    if noun.object == "date":
        if when.point and match["o"] is None:
            yield {"subject": who, "predicate": noun.predicate, "object": str(when.start)}
        return
    things = objects(match["o"] or "", noun.object)
    described = noun.object == "name" and any(thing.lower() in DESCRIBED for thing in things)
    if len(things) == 1 and not described:
        times = _times("past" if match["is"].lower() == "was" else "present", when)
        ends = (things[0], who) if noun.turned else (who, things[0])
        yield {"subject": ends[0], "predicate": noun.predicate, "object": ends[1], **(times or {})}


# -- X is a staff engineer at Y ----------------------------------------------------------------------------------------

_JOB: Final = re.compile(
    rf"{_SUBJECT} (?P<be>am|is|are|was|works as|work as|became|has become|have become) (?:now |currently )?(?:an?|the) "
    r"(?P<title>[\w -]{3,60}?)(?: (?:at|for|with) (?P<o>.+))?",
    re.IGNORECASE,
)


def _by_job(text: str, when: Dated) -> Iterator[Words]:
    match = _JOB.fullmatch(text)
    if match is None or match["title"].lower().split(" ")[-1] not in JOBS:
        return
    who = subject(match["s"])
    times = _times("past" if match["be"].lower() == "was" else "present", when)
    at = [] if match["o"] is None else objects(match["o"], "name")
    if who is None or times is None or (match["o"] is not None and not at):
        return
    yield {"subject": who, "predicate": "job_title", "object": match["title"], **times}
    for place in at:
        yield {"subject": who, "predicate": "works_at", "object": place, **times}


# -- X was born, X died, X was founded ---------------------------------------------------------------------------------

_BORN: Final = re.compile(rf"{_SUBJECT} (?:was|am|is) born(?P<rest> .+)?", re.IGNORECASE)
_DIED: Final = re.compile(rf"{_SUBJECT} (?:died|passed away)(?P<rest> .+)?", re.IGNORECASE)
_FOUNDED: Final = re.compile(rf"{_SUBJECT} was (?:founded|established)(?P<rest> .+)?", re.IGNORECASE)
_LIFE: Final = (
    (_BORN, "birth_date", "birth_place", re.compile(" ?(?:in|at) (?P<o>.+)")),
    (_DIED, "death_date", None, re.compile("(?!)")),
    (_FOUNDED, "founded_on", "founded_by", re.compile(" ?by (?P<o>.+)")),
)


def life(when: Dated) -> list[Words]:
    """When and where somebody was born or died, when and by whom something was founded: dates that are no stretch."""
    for pattern, dated, related, naming in _LIFE:
        match = pattern.fullmatch(when.text)
        if match is None:
            continue
        who = subject(match["s"])
        if who is None or when.end is not None or (when.start is not None and not when.point):
            return []
        found: list[Words] = []
        if when.start is not None:
            found.append({"subject": who, "predicate": dated, "object": str(when.start)})
        near = naming.fullmatch(match["rest"] or "")
        if near is not None and related is not None:
            plain = re.split(",? (?:to|the|as|and|into|where|when) ", near["o"])[0]
            found += [{"subject": who, "predicate": related, "object": o} for o in objects(plain, "name")]
        return found
    return []
