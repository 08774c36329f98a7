"""Things that a question compares by when the same was so of each: which came first, and how long lay between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.edges import alike, stems
from semgraph.asking.times import ends_of, is_date
from semgraph.markers import words as listed
from semgraph.temporal import NEG_INF, parse_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from semgraph.asking.edges import Edge, Edges
    from semgraph.asking.reading import Named, Word
    from semgraph.model import Entity, Fact

__all__ = ["Compared", "Comparison", "compared", "comparison"]

_FIRST: Final = re.compile(r"\b(?:earlier|earliest|first|sooner|soonest|before)\b", re.IGNORECASE)
_LAST: Final = re.compile(r"\b(?:later|latest|last|most recent(?:ly)?|after)\b", re.IGNORECASE)
_CHOICE: Final = re.compile(r"\b(?:which|who|what)\b", re.IGNORECASE)
_TRUTH: Final = re.compile(r"(?:did|was|were|is|are|has|have|had|does)\b", re.IGNORECASE)
_TURNED: Final = re.compile(
    r",? or (?:was it |is it |were they )?(?:the )?(?:other way (?:a?round)|vice versa|opposite)", re.IGNORECASE
)
_BETWEEN: Final = re.compile(
    r"\b(?:difference|gap|interval|distance|time (?:elapsed|passed)|(?:years|days|months|weeks|time)(?: \w+){0,3}|"
    r"how long(?: \w+){0,2})\b.*\bbetween\b",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"(?:['’]s)?(?:,? (?:and|or)|,)(?: (?:that of|the))? ?", re.IGNORECASE)
_TURN: Final = re.compile(r"\b(?:before|after|(?:earlier|later) than) (?:the )?\Z", re.IGNORECASE)
_UNITS: Final = re.compile(r"\b(day|month|year)s?\b", re.IGNORECASE)
# Words of a comparison that say nothing of what is compared.
_OTHER_WORDS: Final = frozenset(
    stems(
        "compare compared among amongst between earlier earliest later latest sooner soonest date dates time times "
        "point difference gap interval distance elapsed passed pass much year years month months day days either "
        "whether respective respectively one ones recently way around round vice versa opposite other happen happened "
        "occur occurred take place took become becomes lay lie lies"
    )
)
_VERBS: Final = frozenset(listed("was were is are did had has have got get gets became becomes"))


class Comparison(NamedTuple):
    """What is compared: the things, what is named beside them, and what is asked of them.

    `asked`: "first" or "last" of them, "before" or "after" (whether the first is so to the second), or "between".
    """

    things: tuple[Named, ...]
    beside: tuple[Named, ...]
    words: tuple[Word, ...]
    asked: str
    turned: bool  # not whether it is so, but which of the two came first
    unit: str


class Compared(NamedTuple):
    """When it was so of each thing: its facts with the moments that they tell, in the order of the things."""

    predicate: str
    each: tuple[tuple[tuple[Fact, int], ...], ...]

    @property
    def facts(self) -> list[Fact]:
        """The facts of all of them."""
        return list(dict.fromkeys(fact for one in self.each for fact, _ in one))

    @property
    def single(self) -> bool:
        """Whether there is one moment of each, so that none had to be chosen."""
        return all(len({moment for _, moment in one}) == 1 for one in self.each)

    def moments(self, *, last: bool) -> list[int]:
        """When it was so of each, of several times the first, or the last."""
        choose = max if last else min
        return [choose(moment for _, moment in one) for one in self.each]


def comparison(text: str, named: Sequence[Named], words: Sequence[Word]) -> Comparison | None:
    """What a question compares; None where it compares nothing by time.

    `words`: those that are left of the whole question beside its names.
    """
    turned = _TURNED.search(text)
    if _TRUTH.match(text):
        two = _either_side(text, named)
        if two is None:
            return None
        asked = "before" if re.search("before|earlier", text[two[0].end : two[1].start], re.IGNORECASE) else "after"
        return _made(text, named, two, words, asked, turned=turned is not None)
    things = _together(text, named)
    if len(things) < 2:
        return None
    rest = _without(text, named)
    if len(things) == 2 and _BETWEEN.search(rest):
        return _made(text, named, things, words, "between", turned=False)
    first, last = _FIRST.search(rest), _LAST.search(rest)
    if _CHOICE.search(rest) and (first is None) != (last is None):
        return _made(text, named, things, words, "last" if first is None else "first", turned=False)
    return None


def _made(
    text: str, named: Sequence[Named], things: Sequence[Named], words: Sequence[Word], asked: str, *, turned: bool
) -> Comparison:
    unit = _UNITS.search(_without(text, named))
    kind = re.search(r"\b(?:which|what) (?:of the )?(?:two )?(?P<kind>\w+)", _without(text, named), re.IGNORECASE)
    head = kind["kind"].lower() if kind and kind["kind"].lower() not in _VERBS else ""
    noise = (head, "first", "last")
    kept = [word for word in words if word.stem not in _OTHER_WORDS and word.text.lower() not in noise]
    beside = tuple(one for one in named if one not in things)
    return Comparison(tuple(things), beside, tuple(kept), asked, turned, f"{unit[1].lower()}s" if unit else "")


def _without(text: str, named: Sequence[Named]) -> str:
    """The question with its names blotted out, so that no word of a name is taken for its own."""
    for one in named:
        text = f"{text[: one.start]}{'_' * (one.end - one.start)}{text[one.end :]}"
    return text


def _together(text: str, named: Sequence[Named]) -> list[Named]:
    """The first names of a question that stand in one list."""
    found: list[Named] = []
    for one in named:
        if found and not _JOINT.fullmatch(text[found[-1].end : one.start]):
            if len(found) > 1:
                break
            found = []
        found.append(one)
    return found if len(found) > 1 else []


def _either_side(text: str, named: Sequence[Named]) -> list[Named] | None:
    """The two things of "Did A win before B?"; None where what follows is more than a name."""
    for place, one in enumerate(named[1:], 1):
        rest = _TURNED.sub("", text[one.end :]).strip(" ?.")
        if _TURN.search(text[: one.start]) and not rest:
            return [named[0], named[place]]
    return None


def compared(found: Comparison, edges: Edges, entities: Callable[[Named], list[Entity]]) -> Compared | None:
    """When what the question says was so of each of the things; None where it is not known of all of them.

    Each must have it under one and the same relation, and that must account for all words of the question.
    """
    beside = [frozenset(e.id for e in entities(named)) for named in found.beside]
    words = {word.stem: word.text for word in found.words}
    if not words and not beside:
        return None
    each = [_relations(edges, entities(named), words, beside) for named in found.things]
    shared = sorted(set(each[0]).intersection(*each[1:]))
    ways = {tuple(tuple(relations[key]) for relations in each): key for key in reversed(shared)}
    if len(ways) != 1:  # the same facts may be read by several names, not several facts
        return None
    [(found_each, (predicate, _))] = ways.items()
    return Compared(predicate, found_each)


def _relations(
    edges: Edges, things: Iterable[Entity], words: Mapping[str, str], beside: Sequence[frozenset[str]]
) -> dict[tuple[str, bool], list[tuple[Fact, int]]]:
    """The dated facts at a thing that the words tell of, with all that is named beside it, by relation and side."""
    groups: dict[tuple[str, bool], list[Edge]] = {}
    for thing in things:
        for edge in edges.around(thing):
            met = all(getattr(edge.far, "id", None) in ids for ids in beside)
            if met and _moment(edge) != NEG_INF:
                groups.setdefault((edge.predicate, edge.active), []).append(edge)
    found = {}
    for key, near in groups.items():
        _, told, _ = alike(edges.names(key[0]), words)
        if len(told) == len(words):
            found[key] = [(edge.fact, _moment(edge)) for edge in near]
    return found


def _moment(edge: Edge) -> int:
    """When it was so: the date that is the value of a fact, else since when the fact holds."""
    told = parse_bound(edge.far.label) if is_date(edge.far) else None
    return ends_of(edge.fact)[0] if told is None else told.instant
