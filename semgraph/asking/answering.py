"""An answer: what the question names and asks, the plan that reads it off the graph, and how sure that is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from semgraph.asking.comparing import compared, comparison
from semgraph.asking.edges import Edges, stems
from semgraph.asking.kinds import sorted_out
from semgraph.asking.plans import Plan, best_plan
from semgraph.asking.reading import Asked, Clause, Named, Question, read_question
from semgraph.asking.signals import Signal, elsewhere
from semgraph.asking.times import When, ends_of, from_dates, is_date, is_vaguer, lies, lies_at
from semgraph.errors import InputError
from semgraph.model import Answer, Entity, Fact, Literal
from semgraph.recall.mentions import mentions
from semgraph.recall.words import clean_query
from semgraph.render import HEDGE
from semgraph.temporal import NEG_INF, POS_INF, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semgraph.asking.comparing import Compared, Comparison
    from semgraph.asking.edges import Edge
    from semgraph.reader import Reader
    from semgraph.view import GraphView

__all__ = ["ask"]

_LEAST: Final = 0.5  # more of the words of a question than this share a plan must account for
_DAY: Final = 86_400_000_000
_YEAR: Final = 365.2425
_UNIT: Final = re.compile(r"\b(?:which|what)(?: is the| was the)? (?P<unit>year|month|day)\b", re.IGNORECASE)
_MY: Final = re.compile(r"\bm(?:y|ine)\b", re.IGNORECASE)


class _Asking:
    """One question to one view; `ever` is the same graph at all times, `now` the moment of the view."""

    def __init__(self, view: GraphView, ever: GraphView, now: int, *, pinned: bool) -> None:
        self.view = view
        self.now = now
        self.pinned = pinned
        with ever.reading() as reader:
            self.registry = reader.snapshot.registry
        self.edges = Edges(ever, self.registry)
        self.known: dict[int, Entity] = {}

    def named(self, question: str) -> list[Named]:
        found, at = [], 0
        with self.view.reading() as reader:
            for mention in mentions(reader, question, None):
                start = question.index(mention.text, at)
                at = start + len(mention.text)
                found.append(Named(start, at, mention.entities))
            found += self._speaker(reader, question, found)
            for number in {number for named in found for number in named.entities}:
                self.known[number] = reader.directory.entity(number)
        return sorted(found)

    def _speaker(self, reader: Reader, question: str, found: Sequence[Named]) -> list[Named]:
        """Where the question says "my": whom it means, if anything is known of them."""
        taken = [(named.start, named.end) for named in found]
        mine = [m.span() for m in _MY.finditer(question) if not any(a <= m.start() < b for a, b in taken)]
        numbers = tuple(reader.directory.find("me", reader.snapshot, None)) if mine else ()
        return [Named(start, end, numbers) for start, end in mine if numbers]

    def entities(self, named: Named) -> list[Entity]:
        return [self.known[number] for number in named.entities]

    # -- time

    def when(self, question: Question, plan: Plan) -> When | None:
        """The time that the question names; None where it names none that can be found."""
        signal = question.temporal.signal
        dated = from_dates(question.main.dates, Signal.OVERLAP)
        clause = question.time
        if clause is None:
            return dated
        found = from_dates(clause.dates, signal) if not clause.named else None
        if found is None and clause.named:
            stretch = self._of_clause(question, clause, plan)
            found = None if stretch is None else When(signal, *stretch)
        return dated if found is None else found

    def _of_clause(self, question: Question, clause: Clause, plan: Plan) -> tuple[int, int] | None:
        """When what a clause tells was so: of the fact that it names, or of the one of the same relation about it."""
        if clause.words:
            inner = best_plan(question, clause, self.edges, self.entities, lambda _: True)
            if inner is not None and inner.used and not self._unmet(clause, inner):
                dated = from_dates(clause.dates, Signal.OVERLAP)
                facts = [fact for fact in inner.facts if dated is None or lies(fact, dated)]
                own = [
                    fact for fact in facts if plan.anchor in (fact.subject, fact.object)
                ]  # "she" is the one asked about
                facts = own or facts
                return _turn(question.text, clause, _hull(facts))
            if len(clause.named) > 1:  # it says of one of them what is not known
                return None
        ids = {entity.id for named in clause.named for entity in self.entities(named)}
        same = [edge.fact for edge in plan.steps[-1].edges if getattr(edge.far, "id", None) in ids]
        return _hull(same)

    # -- answers

    def answer(self, text: str) -> Answer:
        if found := _BEYOND.search(text):
            return self.unread(text, f"{found[0].strip()!r} is beyond what is read")
        named = self.named(text)
        question = read_question(text, named, _moment(self.now))
        if (answer := self._of_comparison(question, named)) is not None:
            return answer
        if not question.main.named:
            return self.unread(text, f"it names nothing that is in the graph{elsewhere(text)}")
        if question.asked is Asked.TRUTH and _alternatives(question):
            return self.unread(text, "'or' asks which of them it is, not whether")
        return self._planned(text, question)

    def _planned(self, text: str, question: Question) -> Answer:
        """The answer that the best plan reads off the graph."""
        plan = best_plan(question, question.main, self.edges, self.entities, self._walkable(question))
        if plan is None and question.main.words:
            plan = best_plan(question, question.main, self.edges, self.entities, lambda _: True)
        words = question.main.words
        unused = [word for i, word in enumerate(words) if plan is None or i not in plan.used]
        unused = [word for word in unused if not word.kind] if plan is not None else unused
        left = [word.text for word in unused]
        if unknown := [word.text for word in unused if word.text[:1].isupper() and word.start]:
            return self.unread(text, f"nothing that is called {_listed(unknown)} is known")
        if plan is None or (words and len(plan.used) <= _LEAST * (len(plan.used) + len(unused))):
            return self.unread(text, f"no relation around {_listed(self._names(question))} is called {_listed(left)}")
        unmet = self._unmet(question.main, plan)
        if unmet and question.asked is not Asked.VALUE:
            return self._unconnected(question, plan, unmet)
        left += [text_of(question, named) for named in unmet]
        when = self.when(question, plan)
        if question.time is not None and when is None:
            return self.unread(text, "the time that it names can't be told")
        edges = self._lying(question, plan, when)
        edges, left = self._of_kind(question, plan, edges, left)
        values = self._values(question, edges)
        if question.asked is Asked.TRUTH and not values and _leaves(question, plan):
            values, edges = [False], list(plan.steps[-1].edges)
        left += self._untold(question, values)
        sure = bool(values) and not left and all(self._sure(edge.fact) for edge in edges)
        told = _told(plan, question, when, left) + self._homonyms(question.named)
        sure = sure and not self._homonyms(question.named) and not self._named_itself(question, plan, edges)
        if any(_begins_unseen(question, edge.fact) for edge in edges):
            sure, told = False, f"{told}; it may have begun earlier"
        rivals = question.asked is Asked.VALUE and any(edge.fact.conflicted for edge in edges)
        two_ways = rivals or self._goes_on(question, plan, when) or 1 < question.many != len(edges)
        unit = question.unit if values else None
        return Answer(values, [edge.fact for edge in edges], [], told, sure=sure and not two_ways, unit=unit)

    def _unmet(self, clause: Clause, plan: Plan) -> list[Named]:
        """What a clause names and the plan neither begins with nor comes to."""
        return [n for i, n in enumerate(clause.named) if i not in plan.met and plan.anchor not in self.entities(n)]

    def _homonyms(self, named: Sequence[Named]) -> str:
        """Whom the names may mean that several entities bear, in words; nothing where each means one."""
        several = [self.entities(one) for one in named if len(one.entities) > 1]
        return "".join(f"; may mean {' or '.join(sorted({e.label for e in found}))}" for found in several)

    def _named_itself(self, question: Question, plan: Plan, edges: Sequence[Edge]) -> bool:
        """Whether several steps, or none that it tells, lead to what the question names, so that it asks for else."""
        ids = {number for named in question.main.named for number in named.entities}
        known = {self.known[number].id for number in ids}
        far = {getattr(edge.far, "id", None) for edge in edges}
        return question.asked is Asked.VALUE and (len(plan.steps) > 1 or not plan.used) and far <= known

    def _of_kind(
        self, question: Question, plan: Plan, found: list[Edge], left: list[str]
    ) -> tuple[list[Edge], list[str]]:
        """Those that are of the kind asked for, where that is known, and the words that stay unaccounted for."""
        kind = question.kind
        used = {question.main.words[i].stem for i in plan.used}
        if not kind or not used.isdisjoint(stems(kind)):
            return found, left
        left = [word for word in left if word != kind]
        edges, whole = sorted_out(found, kind, self.edges)
        return edges, left if whole else [*left, kind]

    def _untold(self, question: Question, values: Sequence[Any]) -> list[str]:
        """The unit of time that is asked for, where a value does not tell it: the month of "2009"."""
        unit = _UNIT.search(question.text) if question.asked in (Asked.START, Asked.END) else None
        return [unit["unit"]] if unit and any(is_vaguer(value, unit["unit"].lower()) for value in values) else []

    def _goes_on(self, question: Question, plan: Plan, when: When | None) -> bool:
        """Whether "after 2010" may mean what went on then too, and not only what began."""
        if when is None or when.signal is not Signal.AFTER or (question.time is not None and question.time.named):
            return False
        ends = [ends_of(edge.fact) for edge in plan.steps[-1].edges]
        return any(start < when.end and end - start > _DAY and end > when.end for start, end in ends)

    def _of_comparison(self, question: Question, named: Sequence[Named]) -> Answer | None:
        """Which of several came first or last, or how long lay between two; None where nothing is compared."""
        words = [*question.main.words, *(question.time.words if question.time else ())]
        asked = comparison(question.text, named, words)
        found = None if asked is None else compared(asked, self.edges, self.entities)
        if asked is None or found is None:
            return None
        values, clear = _from_moments(asked, found)
        names = [self.entities(one)[0].label if self.entities(one) else "" for one in asked.things]
        values = [names[value] if asked.asked in ("first", "last") or asked.turned else value for value in values]
        homonyms = self._homonyms([*asked.things, *asked.beside])
        told = f"since when {_listed(names)}: {found.predicate}; asked for: {asked.asked}{homonyms}"
        sure = clear and not homonyms and all(map(self._sure, found.facts))
        unit = asked.unit or "days" if asked.asked == "between" else None
        return Answer(values, found.facts, [], told, sure=sure, unit=unit)

    def _unconnected(self, question: Question, plan: Plan, unmet: Sequence[Named]) -> Answer:
        """Nothing joins what the question names: no, where there is room for one value only; else that is not known."""
        edges = self._lying(question, plan, self.when(question, plan))
        names = [text_of(question, named) for named in unmet]
        if question.asked is Asked.TRUTH and edges and not plan.met and self.edges.single(plan.steps[-1].predicate):
            facts = [edge.fact for edge in edges]
            told = f"{_told(plan, question, None, [])}; another value takes the place of {_listed(names)}"
            told += self._homonyms(question.named)
            sure = all(map(self._sure, facts)) and not self._homonyms(question.named)
            return Answer([False], facts, [], told, sure=sure)
        return self.unread(question.text, f"nothing connects {plan.anchor.label!r} with {_listed(names)} as asked")

    def _walkable(self, question: Question) -> Callable[[Fact], bool]:
        if question.present and question.time is None and not question.main.dates and not question.leaving:
            return self._holds
        return lambda _: True

    def _holds(self, fact: Fact) -> bool:
        """Whether a fact holds at the moment of the view."""
        start, end = ends_of(fact)
        return start <= self.now < end

    def _lying(self, question: Question, plan: Plan, when: When | None) -> list[Edge]:
        """The edges of the last step that lie as asked, in order of time."""
        edges = sorted(plan.steps[-1].edges, key=lambda edge: (*ends_of(edge.fact), edge.far.label))
        if _leaves(question, plan):
            edges = [edge for edge in edges if ends_of(edge.fact)[1] <= self.now]
            if when is not None:
                edges = [edge for edge in edges if lies_at(ends_of(edge.fact)[1], when)]
        elif when is not None:
            edges = [edge for edge in edges if lies(edge.fact, when)]
            if when.signal is Signal.OVERLAP and question.joining:
                edges = [edge for edge in edges if when.start <= ends_of(edge.fact)[0] < when.end]
            named = {e.id for n in (question.time.named if question.time else ()) for e in self.entities(n)}
            if when.signal in (Signal.BEFORE, Signal.AFTER):
                edges = [edge for edge in edges if getattr(edge.far, "id", None) not in named]
                if question.asked is Asked.VALUE and named and question.place is None:
                    edges = edges[-1:] if when.signal is Signal.BEFORE else edges[:1]
        elif (
            question.asked in (Asked.VALUE, Asked.TRUTH, Asked.COUNT)
            and question.place is None
            and (question.present or self.pinned)
        ):
            edges = [edge for edge in edges if self._holds(edge.fact)]
        if question.place is not None and edges:
            place, many = question.place, question.many
            if many > 1:
                return edges[-many:] if place < 0 else edges[place : place + many]
            return [edges[place]] if -len(edges) <= place < len(edges) else []
        return edges

    def _values(self, question: Question, edges: Sequence[Edge]) -> list[Any]:
        asked = question.asked
        if asked in (Asked.START, Asked.END) and edges and all(is_date(edge.far) for edge in edges):
            return _unique(_plain(edge.far) for edge in edges)
        if asked is Asked.TRUTH:
            return [True] if edges else []
        if asked is Asked.COUNT:
            return [len({edge.far.label for edge in edges})] if edges else []
        if asked is Asked.START:
            return _unique(edge.fact.valid_from for edge in edges if ends_of(edge.fact)[0] != NEG_INF)
        if asked is Asked.END:
            return _unique(edge.fact.valid_to for edge in edges if edge.fact.valid_to is not None)
        if asked is Asked.DURATION:
            days = sum(
                min(end, self.now) - start for start, end in map(ends_of, (e.fact for e in edges)) if start != NEG_INF
            )
            whole = days // _DAY
            return [whole if question.unit == "days" else round(whole / _YEAR, 2)] if edges and days > 0 else []
        return _unique(_plain(edge.far) for edge in edges)

    def _sure(self, fact: Fact) -> bool:
        return not fact.conflicted and fact.start_basis != "unknown" and fact.confidence >= HEDGE

    def _names(self, question: Question) -> list[str]:
        return [text_of(question, named) for named in question.main.named]

    def unread(self, text: str, why: str) -> Answer:
        """No answer: what was not understood, and the facts that recall finds for the words."""
        facts = [hit.fact for hit in self.view.recall(text)]
        near = "; the facts are those that recall finds for its words" if facts else ""
        return Answer([], facts, [], f"not understood: {why}{near}", sure=False)


def ask(view: GraphView, ever: GraphView, question: str, now: int, *, pinned: bool) -> Answer:
    """What the graph answers to a question in English; see `GraphView.ask`."""
    if not isinstance(question, str):
        raise InputError(f"a question is a text, not {type(question).__name__}")
    text = " ".join(clean_query(question).split())
    return _Asking(view, ever, now, pinned=pinned).answer(text)


# What no plan can tell: reasons and ways, what is to come, where something went from, two questions in one.
_BEYOND: Final = re.compile(
    r"\A(?:why|how come|how(?! (?:many|long|old|often)\b))\b|\b(?:will|shall|would|should)\b|\bmoved? from\b|"
    r"\band (?:where|who|what|when|why|how|which)\b",
    re.IGNORECASE,
)


def _from_moments(asked: Comparison, found: Compared) -> tuple[list[Any], bool]:
    """The values that moments give, and whether no others could be given; things are told by their places."""
    first, last = found.moments(last=False), found.moments(last=True)
    if asked.asked == "between":
        days = abs(first[1] - first[0]) / _DAY
        size = {"days": 1, "months": _YEAR / 12, "years": _YEAR}[asked.unit or "days"]
        return [round(days / size, 2) if size > 1 else int(days)], found.single
    if asked.asked in ("before", "after") and not asked.turned:
        apart = last[0] < first[1] or last[1] < first[0]
        return [(first[0] < first[1]) == (asked.asked == "before")], apart
    choose = max if asked.asked == "last" else min
    best = [[at for at, moment in enumerate(told) if moment == choose(told)] for told in (first, last)]
    return best[0], len(best[0]) == 1 and best[0] == best[1]


def text_of(question: Question, named: Named) -> str:
    """What the question calls a thing."""
    return question.text[named.start : named.end]


_BEGINS: Final = re.compile(
    r"\b(?:join(?:ed)?|start(?:ed)?|beg[au]n|became|moved|married|born|founded|hired|elected)\b", re.IGNORECASE
)
_ENDS: Final = re.compile(r"\b(?:left|quit|end(?:ed)?|stopped|died|resigned|dissolved|finished)\b", re.IGNORECASE)


def _leaves(question: Question, plan: Plan) -> bool:
    """Whether the question asks for what has ended; not where the relation itself is called so ("left")."""
    own = set(stems(plan.steps[-1].predicate.replace("_", " ")))
    return any(word.stem not in own for word in question.leaving)


def _alternatives(question: Question) -> bool:
    """Whether "or" stands between two things that the question names."""
    between = zip(question.main.named, question.main.named[1:], strict=False)
    return any(re.search(r"\bor\b", question.text[a.end : b.start], re.IGNORECASE) for a, b in between)


def _begins_unseen(question: Question, fact: Fact) -> bool:
    """Whether the answer rests on when the fact began, and it is only known to have held by then."""
    return question.asked in (Asked.START, Asked.DURATION) and fact.start_basis == "observed"


def _turn(text: str, clause: Clause, stretch: tuple[int, int] | None) -> tuple[int, int] | None:
    """The beginning of a stretch where the clause tells a beginning, its end where it tells an end, else all of it."""
    if stretch is None or not clause.words:
        return stretch
    told = text[min(n.start for n in clause.named) : max(word.start + len(word.text) for word in clause.words)]
    start, end = stretch
    if _BEGINS.search(told) and start != NEG_INF:
        return start, start + 1
    if _ENDS.search(told) and end != POS_INF:
        return end - 1, end
    return stretch


def _moment(instant: int) -> datetime:
    try:
        return exact(instant).to_datetime()
    except InputError:
        return datetime.now(UTC)


def _hull(facts: Sequence[Fact]) -> tuple[int, int] | None:
    if not facts:
        return None
    ends = [ends_of(fact) for fact in facts]
    start, end = min(start for start, _ in ends), max(end for _, end in ends)
    return start, end


def _plain(thing: Entity | Literal) -> Any:
    return thing.value if isinstance(thing, Literal) else thing.label


def _unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words) or "nothing"


def _told(plan: Plan, question: Question, when: When | None, left: Sequence[str]) -> str:
    """The plan in words."""
    steps = " then ".join(f"{'' if step.active else 'what has it as '}{step.predicate}" for step in plan.steps)
    told = f"from {plan.anchor.label}: {steps}"
    if when is not None:
        told += f"; {when.signal} {exact(when.start) if NEG_INF < when.start < POS_INF else '...'}"
    if question.place is not None:
        told += "; the last of them" if question.place < 0 else f"; number {question.place + 1} of them"
    told += f"; asked for: {question.asked}"
    return f"{told}; left out: {_listed(left)}" if left else told
