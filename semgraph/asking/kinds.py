"""What kind of thing a question asks for ("which dentist did …"), and which of the things found are known to be one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.edges import stems
from semgraph.markers import words as listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.asking.edges import Edge, Edges
    from semgraph.model import Entity, Literal

__all__ = ["KIND", "Sorted", "kind_of", "sorted_out"]

_NOUN: Final = r"(?P<kind>[^\W\d_]+)"
#: A noun after "which" that says what kind of thing is asked for, with a verb behind it.
KIND: Final = re.compile(
    rf"(?:(?:in|at|from|to|on|by|for|with) )?(?:which|what) {_NOUN} "
    r"(?:did|does|do|has|have|had|was|were|is|are|will|can)\b",
    re.IGNORECASE,
)
_LOOSE: Final = re.compile(
    rf"\b(?:which|what|how many)(?: is| was|['’]s)?(?: of)?(?: the)?(?: name of the)? {_NOUN}", re.IGNORECASE
)
_TYPED: Final = frozenset({"is_a", "instance_of", "type"})

_PLACE: Final = listed("city town place")
_COUNTRY: Final = listed("country nation")
_FIRM: Final = listed("company firm employer organisation organization institution")
_SCHOOL: Final = listed("school university college institution")
_GROUP: Final = listed("group organisation organization")
_PERSON: Final = listed("person individual people")
# What kind of thing the subject and the object of a predicate are, whatever else they are; its own names say the rest.
_ENDS: Final = {
    "lives_in": (_PERSON, _PLACE),
    "birth_place": (_PERSON, _PLACE),
    "citizen_of": (_PERSON, _COUNTRY),
    "located_in": ((), listed("place")),
    "capital_of": (_PLACE, _COUNTRY),
    "works_at": (_PERSON, _FIRM),
    "ceo_of": (_PERSON, _FIRM),
    "studied_at": (_PERSON, _SCHOOL),
    "member_of": (_PERSON, _GROUP),
    "job_title": (_PERSON, listed("job")),
    **dict.fromkeys(
        listed("speaks likes prefers allergic_to skilled_in works_on has_pet visited attended met bought"),
        (_PERSON, ()),
    ),
    **dict.fromkeys(
        listed("reports_to married_to partner_of parent_of sibling_of friend_of knows"), (_PERSON, _PERSON)
    ),
}
_KNOWN: Final = frozenset(stem for ends in _ENDS.values() for nouns in ends for noun in nouns for stem in stems(noun))


def kind_of(question: str) -> str:
    """What kind of thing a question asks for; nothing where it does not say."""
    if found := KIND.search(question):
        return found["kind"]
    loose = _LOOSE.search(question)
    return loose["kind"] if loose and not _KNOWN.isdisjoint(stems(loose["kind"])) else ""


class Sorted(NamedTuple):
    """Edges that may lead to a thing of the kind, and whether all that were found are known to."""

    edges: list[Edge]
    whole: bool


def sorted_out(found: Sequence[Edge], kind: str, edges: Edges) -> Sorted:
    """The edges that lead to something of a kind, or to what may be one; all of them where none is known to.

    What is said to be of another kind only gives way to what is of this one: a capital may be a city for all that.
    """
    wanted = set(stems(kind))
    types = [_types(edge.far, edges) for edge in found]
    fits = [wanted <= own or _is_implied(wanted, edge, own, edges) for edge, own in zip(found, types, strict=True)]
    kept = [edge for edge, fit, own in zip(found, fits, types, strict=True) if fit or not own or not any(fits)]
    return Sorted(kept, all(fits))


def _is_implied(wanted: set[str], edge: Edge, own: set[str], edges: Edges) -> bool:
    """Whether the relation says that what lies at its far end is of the kind, and what is said of that is no other."""
    predicate, onward = edges.stored(edge)
    implied = {stem for noun in _ENDS.get(predicate, ((), ()))[onward] for stem in stems(noun)}
    if any(wanted <= naming.words for naming in edges.names(edge.predicate, edge.about)):
        implied |= wanted
    return wanted <= implied and implied.issuperset(own & _KNOWN)


def _types(thing: Entity | Literal, edges: Edges) -> set[str]:
    """The words of what a thing is said to be."""
    told = [edge.far.label for edge in edges.around(thing) if edge.active and edge.predicate in _TYPED]
    return {stem for label in told for stem in stems(label)}
