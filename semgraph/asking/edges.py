"""The facts around a thing as a question may speak of them: from either end, under either name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.markers import words as listed
from semgraph.model import Entity
from semgraph.phrases.relations import NOUNS, VERBS
from semgraph.phrases.verbs import forms
from semgraph.recall.words import words as stemmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semgraph.model import Fact, Literal
    from semgraph.view import GraphView
    from semgraph.vocabulary import Registry

__all__ = ["Edge", "Edges", "Naming", "alike", "names_of", "stems"]

MOST: Final = 2_000  # facts looked at around one thing

_BRITISH: Final = re.compile("(?<=[a-z]{2})our")


def stems(text: str) -> list[str]:
    """The words of a text as a question is compared with a graph: as search does, in whichever English they are spelt.

    >>> stems("my favourite colours") == stems("my favorite colors")
    True
    """
    return [_BRITISH.sub("or", stem) for stem in stemmed(text)]


_SMALL: Final = frozenset(stems(" ".join(listed("at by for from has have in is of on the to with a an"))))


# Verbs for the beginning or the end of what a predicate says.
_TURNS: Final = {
    "join": ("works_at", "member_of"),
    "hire": ("works_at",),
    "leave": ("works_at", "lives_in", "member_of"),
    "left": ("works_at", "lives_in", "member_of"),
    "quit": ("works_at",),
    "move": ("lives_in",),
    "marry": ("married_to", "spouse"),
    "switch": ("uses", "editor"),
    "born": ("birth_date", "birth_place"),
    "die": ("death_date",),
    "found": ("founded_on", "founded_by"),
    "play": ("member_of_sports_team", "member_of"),
    "win": ("award_received", "winner"),
    "study": ("studied_at", "educated_at"),
}
# What somebody is said to have of things: "my favourite colour".
_CHOSEN: Final = {"favourite": "prefers", "preferred": "prefers"}


class Edge(NamedTuple):
    """A fact seen from one end: what lies at the other, and by which name; `active`: this end is its subject.

    `about`: the qualifier that sets it apart from other facts of its predicate, as the topic does of a preference.
    """

    fact: Fact
    far: Entity | Literal
    predicate: str
    active: bool
    about: str = ""


class Edges:
    """The edges of a view, kept for the length of one question."""

    def __init__(self, view: GraphView, registry: Registry) -> None:
        self._view = view
        self._registry = registry
        self._around: dict[str, list[Edge]] = {}

    def around(self, thing: Entity | Literal) -> list[Edge]:
        """Every edge at a thing; empty at a literal."""
        if not isinstance(thing, Entity):
            return []
        if thing.id not in self._around:
            self._around[thing.id] = list(self._edges(thing))
        return self._around[thing.id]

    def _edges(self, thing: Entity) -> Iterable[Edge]:
        for fact in islice(self._view.facts(thing), MOST):
            if fact.object is None:
                continue
            yield Edge(fact, fact.object, fact.predicate, active=True, about=self._about(fact))
            for name in self._registry.inverses_of(fact.predicate):
                yield Edge(fact, fact.object, name, active=False)
        for fact in islice(self._view.facts(object=thing), MOST):
            yield Edge(fact, fact.subject, fact.predicate, active=False)

    def _about(self, fact: Fact) -> str:
        apart = self._registry.resolve(fact.predicate).predicate.one_by
        told = (fact.qualifiers.get(name) for name in apart) if apart else ()
        return " ".join(str(value) for value in told if value is not None)

    def names(self, predicate: str, about: str = "") -> tuple[Naming, ...]:
        """The ways in which a question may speak of the predicate, or of its facts that are about something."""
        found = names_of(predicate, tuple(self._registry.entry(predicate).aliases))
        topic = _words(about)
        return tuple(name._replace(words=name.words | topic, topic=topic) for name in found) if topic else found

    def stored(self, edge: Edge) -> tuple[str, bool]:
        """The predicate under which the fact of an edge is kept, and whether its object there is the far end."""
        resolved = self._registry.resolve(edge.fact.predicate)
        return resolved.predicate.name, (edge.far == edge.fact.object) != resolved.inverse

    def single(self, predicate: str) -> bool:
        """Whether the predicate takes one value at a time."""
        return self._registry.resolve(predicate).predicate.cardinality == "one"


class Naming(NamedTuple):
    """Words that name a predicate, and how.

    `form`: a `verb`, what is done `by` the object, a `noun` that the subject has ("Kari's manager"), a noun `of` the
    object ("the parent of Lea"), or "" where that is not known. `said`: how the verb may be written; empty for any.
    `topic`: those of the words that must be there.
    """

    words: frozenset[str]
    form: str
    said: frozenset[str] = frozenset()
    topic: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def names_of(predicate: str, aliases: tuple[str, ...] = ()) -> tuple[Naming, ...]:
    """The ways in which a question may speak of a predicate: by its names, its aliases, and in common English.

    >>> [naming.form for naming in names_of("lives_in") if naming.words == {"live"}]
    ['verb']
    >>> [naming.form for naming in names_of("reports_to") if naming.words == {"boss"}]
    ['noun']
    """
    found = [_verb(verb.phrase) for verb in VERBS if verb.predicate == predicate]
    found += [_noun(noun, turned=entry.turned) for noun, entry in NOUNS.items() if entry.predicate == predicate]
    found += [Naming(_words(word), "noun") for word, liked in _CHOSEN.items() if liked == predicate]
    turned = "by" if predicate.endswith("_by") else "verb"
    found += [Naming(_words(word), turned) for word, predicates in _TURNS.items() if predicate in predicates]
    verbs = [naming.words for naming in found if naming.said]
    for name in (predicate, *aliases):
        text = name.replace("_", " ")
        form = "by" if name.endswith("_by") else "of" if name.endswith("_of") else ""
        if form == "by" or not any(_words(text) <= words for words in verbs):  # else it is a verb that is here already
            found.append(Naming(_words(text), form))
    return tuple(dict.fromkeys(naming for naming in found if naming.words))


def _noun(noun: str, *, turned: bool) -> Naming:
    said = frozenset(form for word in noun.split(" ") for form in (word, f"{word}s"))
    return Naming(_words(noun), "of" if turned else "noun", said)


def _verb(phrase: str) -> Naming:
    base, _, rest = phrase.partition(" ")
    said = frozenset(rest.split(" ")) if base == "be" else frozenset((base, *forms(base)))
    form = "by" if phrase.endswith(" by") else "of" if base == "be" and phrase.endswith(" of") else "verb"
    return Naming(_words(phrase.replace("|", " ")), form, said)


def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _SMALL - {"be"}


def alike(names: tuple[Naming, ...], words: Mapping[str, str]) -> tuple[float, frozenset[str], str]:
    """How well some of the words name a predicate, from 0 to 1 (the share of the best name), which, and in which form.

    `words`: as they are compared, each with how it is written.

    >>> alike((Naming(frozenset({"head", "coach"}), ""),), {"coach": "coach", "team": "teams"})
    (0.5, frozenset({'coach'}), '')
    """
    best: tuple[float, frozenset[str], str] = (0.0, frozenset(), "")
    for name, form, said, topic in names:
        shared = name.intersection(words)
        if not topic <= shared or (said and said.isdisjoint(words[word].lower() for word in shared)):
            continue
        score = len(shared) / len(name)
        if (score, len(shared)) > (best[0], len(best[1])):
            best = (score, shared, form)
    return best
