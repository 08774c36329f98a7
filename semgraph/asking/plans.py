"""From what a question names, along the relations that its words name, to what it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.edges import alike, stems
from semgraph.asking.times import is_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from semgraph.asking.edges import Edge, Edges
    from semgraph.asking.reading import Clause, Named, Question
    from semgraph.model import Entity, Fact, Literal

__all__ = ["Plan", "Step", "best_plan"]

MOST_STEPS: Final = 3
_ENOUGH: Final = 0.5  # of the words of a predicate's name that the question must have
_BREADTH: Final = 6  # ways that are followed from each step
_WIDEST: Final = 50  # things that are gone on from


class _Group(NamedTuple):
    """Which edges are walked together: of one relation, from one side, perhaps on one topic."""

    predicate: str
    active: bool
    about: str


class Step(NamedTuple):
    """One relation: its name, whether it is read from its subject, and the edges, each with the things behind it."""

    predicate: str
    active: bool
    edges: tuple[Edge, ...]


class Plan(NamedTuple):
    """A way from a thing that the question names, through steps, and how much of the question it accounts for."""

    anchor: Entity
    steps: tuple[Step, ...]
    used: frozenset[int]  # places of the words
    met: frozenset[int]  # other things that it names and that the way meets
    score: float

    @property
    def facts(self) -> list[Fact]:
        """The facts of the last step."""
        return [edge.fact for edge in self.steps[-1].edges]


def best_plan(
    question: Question,
    clause: Clause,
    edges: Edges,
    entities: Callable[[Named], list[Entity]],
    holds: Callable[[Fact], bool],
) -> Plan | None:
    """The plan that accounts for most of a clause; None where no relation that it names leads anywhere.

    `holds` says whether a fact may be walked.
    """
    plans: list[Plan] = []
    for place, named in enumerate(clause.named):
        others = {i: frozenset(e.id for e in entities(n)) for i, n in enumerate(clause.named) if i != place}
        for anchor in entities(named):
            start = Plan(anchor, (), frozenset(), frozenset(), 0.0)
            plans += _Search(question, clause, edges, named, others, holds).grown(start, [anchor])
    return max(plans, key=_worth, default=None)


def _worth(plan: Plan) -> tuple[float, int, str]:
    return (plan.score, -len(plan.steps), plan.anchor.id)


class _Search(NamedTuple):
    """What stays the same while plans grow from one thing that a clause names."""

    question: Question
    clause: Clause
    edges: Edges
    named: Named
    others: dict[int, frozenset[str]]
    holds: Callable[[Fact], bool]

    def grown(self, plan: Plan, things: Sequence[Entity | Literal]) -> Iterator[Plan]:
        """Every plan that goes on from here, and its continuations."""
        if len(plan.steps) == MOST_STEPS:
            return
        longer = [p for key, found in self._groups(things).items() if (p := self._longer(plan, key, found))]
        longer.sort(key=_worth, reverse=True)
        for each in longer[:_BREADTH]:
            yield each
            if len(each.used) < len(self.clause.words):
                ends = {_id(edge.far): edge.far for edge in each.steps[-1].edges}
                yield from self.grown(each, list(ends.values()))

    def _groups(self, things: Sequence[Entity | Literal]) -> dict[_Group, list[Edge]]:
        """The edges that may be walked, by relation and side; and those of one topic once more."""
        groups: dict[_Group, list[Edge]] = {}
        for thing in things[:_WIDEST]:
            for edge in self.edges.around(thing):
                if self.holds(edge.fact):
                    for about in dict.fromkeys(("", edge.about)):
                        groups.setdefault(_Group(edge.predicate, edge.active, about), []).append(edge)
        return groups

    def _longer(self, plan: Plan, group: _Group, found: list[Edge]) -> Plan | None:
        """The plan with one more step, if words of the clause, or another thing in it, call for that step."""
        left = [(i, word) for i, word in enumerate(self.clause.words) if i not in plan.used]
        predicate, active, about = group
        match, shared, form = alike(self.edges.names(predicate, about), {word.stem: word.text for _, word in left})
        # Of a word that is said twice, the one that is nearer.
        near = sorted(left, key=lambda each: abs(each[1].start - self.named.start), reverse=True)
        places = frozenset({word.stem: i for i, word in near if word.stem in shared}.values())
        others = self.others
        met = frozenset(i for i, ids in others.items() if any(_id(edge.far) in ids for edge in found)) - plan.met
        wordless = not self.clause.words and not plan.steps and met
        if match < _ENOUGH and not wordless:
            return None
        topic = stems(about)
        faced = [i for i in places if self.clause.words[i].stem not in topic] or places
        fits = _faces(self.question.text, self.clause, faced, self.named, form, active=active) if faced else 0.0
        if plan.steps and form in ("noun", "of"):  # whose it is, is what was reached so far
            fits = 0.3
        if fits < 0:
            return None
        kept = [edge for edge in found if any(_id(edge.far) in others[i] for i in met)] if met else found
        fits += _suits(self.question.text, kept)
        score = plan.score + len(places) + match + fits + 1.5 * len(met) - 0.4
        steps = (*plan.steps, Step(predicate, active, tuple(kept)))
        return Plan(plan.anchor, steps, plan.used | places, plan.met | met, score)


def _suits(text: str, edges: Sequence[Edge]) -> float:
    """A bonus where the values are of the kind that is asked for: dates for "when", none of them for "where"."""
    dates = all(is_date(edge.far) for edge in edges)
    if re.match(r"(?:since |until )?when\b|.*\b(?:date|day|year|birthday)\b", text, re.IGNORECASE):
        return 0.6 if dates else 0.0
    where = re.match(r"(?:from |in |at )?(?:where\b|(?:which|what) (?:city|country|place|town)\b)", text, re.IGNORECASE)
    return -1.0 if dates and where else 0.0


def _id(thing: Entity | Literal) -> str:
    return getattr(thing, "id", "") or f"={thing.label}"


def _faces(text: str, clause: Clause, places: Iterable[int], named: Named, form: str, *, active: bool) -> float:
    """A bonus where the thing stands on the side of the relation that this reading gives it; negative where it can't.

    "Who manages Kari?" asks for the subject, "Who does Kari manage?" and "the manager of Kari" for the object.
    """
    word = min((clause.words[i] for i in places), key=lambda found: found.start)
    owns = text[named.start : named.end].lower() == "my" or bool(
        re.match("['’]s? ", text[named.end :]) or re.search(r"\bof (?:the )?\Z", text[: named.start])
    )
    if form in ("noun", "of"):  # "Kari's manager", "the parent of Lea"; "what is Patrick the CEO of?"
        subject = owns == (form == "noun")
        return 0.5 if subject == active else -1.0
    subject = named.start < word.start
    passive = not subject and bool(re.match(" by ", text[word.start + len(word.text) :].lower()))
    if form == "by" and not passive and not re.search(r"\bby\b", text):
        subject = not subject
    if form in ("verb", "by"):
        return 0.5 if subject == active else -1.0
    if not subject and owns:  # "the mayor of London" may be told from either end
        return 0.3 if active else 0.2
    return 0.4 if subject == active else 0.0
