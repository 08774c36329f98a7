"""Facts, receipts, conflicts and differences in the words of a person."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from semgraph.cli import text
from semgraph.cli.phrasing import command_words
from semgraph.cli.text import clean, count, paint
from semgraph.serving.wording import plain_why
from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from semgraph.model import Claim, Diff, Fact, FactVersion, ForgetReport, Receipt, Rejection
    from semgraph.temporal import Bound

__all__ = [
    "Dates", "about", "about_row", "diff", "fact_line", "forgotten", "history", "notes", "object_of",
    "receipt", "rejection", "said_by", "sentence",
]  # fmt: skip

_UNSURE: Final = 0.65  # below it a fact is shown with its confidence
_DAY: Final = 86_400_000_000
_OUTCOMES: Final = {"new": "good", "update": "good", "refinement": "good", "split": "good", "ended": "good",
                    "history": "good", "duplicate": "dim", "idempotent": "dim", "suppressed": "doubt",
                    "conflict": "bad", "rejected": "bad"}  # fmt: skip


# -- dates


class Dates:
    """How the bounds of some facts are shown: what a clock gave as its day, with the time where days don't tell."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        days: dict[tuple[str, str, int], set[int]] = {}
        for fact in facts:
            for bound in (fact.valid_from, fact.valid_to):
                if bound is not None and bound.precision == "instant":
                    days.setdefault(self._place(bound, fact), set()).add(bound.instant)
        self._clocked = {place for place, instants in days.items() if len(instants) > 1}

    @staticmethod
    def _place(bound: Bound, fact: Fact) -> tuple[str, str, int]:
        """A day in the life of one subject and predicate."""
        return fact.subject.id, fact.predicate, bound.instant // _DAY

    def short(self, bound: Bound | None, fact: Fact | None = None) -> str:
        """A bound, of a fact if it is one's."""
        if bound is None:
            return ""
        shown = str(bound)
        if bound.precision != "instant" or "T" not in shown:
            return shown
        day, _, clock = shown.partition("T")
        if not bound.instant % _DAY or fact is None or self._place(bound, fact) not in self._clocked:
            return day
        return f"{day}T{re.sub(r'[.][0-9]+', '', clock)}"

    def when(self, fact: Fact) -> str:
        """When the fact holds, in words."""
        start, end = fact.valid_from, fact.valid_to
        until = "" if end is None else self._end(end, fact)
        if fact.start_basis == "unknown":
            return f"until {until}, since when is unknown" if until else "since an unknown time"
        if start.instant == NEG_INF:
            return f"until {until}" if until else "always"
        since = self.short(start, fact) + (" or earlier" if fact.start_basis == "observed" else "")
        if end is None:
            return f"since {since}"
        if end.instant == start.until and start.precision in _UNITS:
            return f"{_UNITS[start.precision]} {since}"
        return f"from {since} until {until}"

    def _end(self, end: Bound, fact: Fact) -> str:
        return "an unknown time" if end.precision == "unknown" else self.short(end, fact)


_UNITS: Final = {"day": "on", "month": "in", "year": "in", "decade": "in"}


# -- a fact


def object_of(fact: Fact) -> str:
    """Its object."""
    mark = "not " if fact.negative else ""
    return mark + ("anything" if fact.object is None else fact.object.label)


def sentence(fact: Fact | Claim) -> str:
    """What holds, without the time: subject, predicate, object."""
    target = "anything" if fact.object is None else fact.object.label
    return f"{fact.subject.label} {'(not) ' if fact.negative else ''}{fact.predicate} {target}"


def notes(fact: Fact) -> Iterator[str]:
    """What to know about a fact before relying on it."""
    if fact.conflicted:
        yield "in conflict"
    if fact.planned:
        yield "planned, not confirmed"
    elif fact.start_basis != "unknown" and not fact.certain and _holds(fact):
        yield "may hold"
    if fact.start_basis == "resumed":
        yield "assumed to go on after an exception"
    if fact.confidence < _UNSURE:
        yield f"confidence {fact.confidence:.2f}"
    yield from (f"{name} {value}" for name, value in fact.qualifiers.items())


def _holds(fact: Fact) -> bool:
    """Whether the fact is neither over nor still to come: of others nobody says that they hold for certain now."""
    now = time.time_ns() // 1000
    return fact.valid_from.instant <= now and (fact.valid_to is None or now < fact.valid_to.instant)


def said_by(fact: Fact) -> str:
    """Who says it, where that is not the user alone."""
    others = [source for source in fact.sources if source != "user"]
    return f"from {', '.join(fact.sources)}" if others else ""


def fact_line(fact: Fact, dates: Dates | None = None) -> str:
    """A fact in a line: what holds, when, and what to know about it."""
    dates = dates or Dates([fact])
    told = ", ".join(filter(None, [*notes(fact), said_by(fact)]))
    return clean(f"{sentence(fact)} {dates.when(fact)}") + (f"  ({clean(told)})" if told else "")


def about_row(fact: Fact, dates: Dates) -> list[str]:
    """A fact as cells: object, when, and what to know."""
    return [object_of(fact), dates.when(fact), ", ".join(filter(None, [*notes(fact), said_by(fact)]))]


def about(found: Mapping[str, Sequence[Fact]]) -> Iterator[str]:
    """What holds, by predicate."""
    every = [(predicate, fact) for predicate, facts in found.items() for fact in facts]
    dates = Dates(fact for _, fact in every)
    rows, before = [], ""
    for predicate, fact in every:
        rows.append([predicate if predicate != before or not text.on_terminal() else "", *about_row(fact, dates)])
        before = predicate
    yield from text.table(rows, styles=("dim", "name", "", "doubt"))


# -- receipts


def receipt(done: Receipt) -> Iterator[str]:
    """What a write did, in a line: the outcome, the fact, what it closed, and why."""
    outcome = paint(f"{done.outcome}:", _OUTCOMES.get(done.outcome, ""))
    if done.outcome == "rejected":
        yield from text.folded(f"{outcome} {clean(f'{done.code} — {done.reason}')}")
        return
    held = [fact for fact in done.facts if not fact.negative]
    facts = held or list(done.facts)
    dates = Dates([*facts, *done.closed])
    kinds = {claim.kind for claim in done.claims}
    if (done.outcome == "ended" or kinds == {"deny"}) and done.closed:
        main = ["denied: "] if kinds == {"deny"} else [""]
        main = [main[0] + "; ".join(f"{sentence(f)} {dates.when(f)}{_undone(done, f)}" for f in done.closed)]
        closed: list[str] = []
    else:
        plain = done.outcome == "conflict"
        main = [f"{sentence(f)} {dates.when(f)}" if plain else fact_line(f, dates) for f in facts]
        main = main or [_claimed(claim) for claim in done.claims[:1]]
        shown = {fact.id for fact in facts}
        closed = [_closed(fact, facts, dates) for fact in done.closed if fact.id not in shown]
    line = "; and ".join(main)
    if closed:
        line += f"; closes {', '.join(closed)}" if main else f"closes {', '.join(closed)}"
    yield from text.folded(f"{outcome} {clean(line + _because(done, closed=bool(closed), main=bool(main)))}")


def _undone(done: Receipt, fact: Fact) -> str:
    """What became of a fact whose end is no later than its beginning."""
    ends = [one.valid_from.instant for one in done.facts if one.negative] if done.outcome == "ended" else []
    if not ends or fact.valid_from.instant < min(ends):
        return ""
    return f" (it never held: it ended {'as' if fact.valid_from.instant == min(ends) else 'before'} it began)"


def _claimed(claim: Claim) -> str:
    denied = "denied: " if claim.kind in {"deny", "correct"} else ""
    return f"{denied}{sentence(claim)}"


def _closed(fact: Fact, beside: Sequence[Fact], dates: Dates) -> str:
    """A fact that ended, in short: by its object beside one of its kind, without its end where that one begins."""
    near = [other for other in beside if (other.subject, other.predicate) == (fact.subject, fact.predicate)]
    when = dates.when(fact)
    if fact.valid_to is not None and any(other.valid_from.instant == fact.valid_to.instant for other in near):
        when = dates.when(replace(fact, valid_to=None))
    return f"{object_of(fact) if near else sentence(fact)} ({when})"


def _because(done: Receipt, *, closed: bool, main: bool) -> str:
    why = command_words(plain_why(done.why))
    if done.outcome == "conflict":
        if done.conflict is None:
            return f": {why}"
        mine = {fact.id for fact in done.facts}
        rivals = [f"{object_of(f)} ({told(f)})" for f in done.conflict.facts if f.id not in mine]
        return f", against {', '.join(rivals)}: {why.partition('. Ways out')[0]}"
    if not main and not closed:
        return why
    if done.outcome in {"idempotent", "suppressed", "duplicate", "split", "refinement"}:
        return f": {why}"
    ground = why.partition("because ")[2]
    return f": {_GROUNDS.get(ground, ground)}" if done.outcome == "update" and ground else ""


_GROUNDS: Final = {
    "its start is certainly later": "it starts later",
    "it was said later, by more than the window": "it was said later",
}


def told(fact: Fact) -> str:
    """Who said it last, and when."""
    last = max(fact.claims, key=lambda claim: (claim.said_at.instant, claim.id), default=None)
    if last is None:
        return "nobody knows who said so"
    where = f", {last.source_ref}" if last.source_ref else ""
    return f"said by {last.source} on {Dates().short(last.said_at)}{where}"


def forgotten(report: ForgetReport) -> Iterator[str]:
    """What a forget removed, or would remove."""
    verb = "would forget" if report.dry_run else "forgot"
    counts = [count(report.claims, "claim"), count(report.facts, "fact"), count(report.entities, "entity")]
    yield f"{verb}: {', '.join(counts)}"
    lines = [*(f"- {fact_line(fact)}" for fact in report.listed)]
    lines += [clean(f"mentioned in: {_claimed(claim)}") for claim in report.mentioned]
    yield from (part for line in lines for part in text.folded(line, "  "))
    if not report.dry_run:
        state = "the bytes are gone from the file" if report.purged else f"the bytes are not gone yet: {report.pending}"
        yield from text.folded(clean(f"{state}; {report.beyond_reach}"))


def rejection(found: Rejection) -> Iterator[str]:
    """A refused claim: when, why, and what was said."""
    content = dict(found.content or {})
    said = " ".join(str(content.pop(part)) for part in ("subject", "predicate", "object") if part in content)
    rest = ", ".join(f"{name} {value!s}" for name, value in content.items() if value not in (None, "", (), "state"))
    shown = " — ".join(filter(None, [said, rest]))
    day = str(found.recorded_at).partition(".")[0].replace("T", " ")
    why = found.code if found.reason == found.code else f"{found.code}: {command_words(found.reason)}"
    yield from text.folded(clean(f"{day}  {why}" + (f"  [{shown}]" if shown else "")), "    ")


# -- beliefs and differences


def history(versions: Sequence[FactVersion]) -> Iterator[str]:
    """What was believed, as a journal: at each moment what came (+), what went (-) and what changed its bounds (~).

    The moments are exact, so that they can be read at with --known-at.
    """
    came: dict[Bound, list[Fact]] = {}
    went: dict[Bound, list[Fact]] = {}
    for version in versions:
        came.setdefault(version.known_from, []).append(version.fact)
        if version.known_to is not None:
            went.setdefault(version.known_to, []).append(version.fact)
    dates = Dates(version.fact for version in versions)
    for moment in sorted({*came, *went}):
        yield paint(str(moment), "dim")
        yield from map("  {}".format, _turned(went.get(moment, []), came.get(moment, []), dates))


def _turned(went: Sequence[Fact], came: Sequence[Fact], dates: Dates) -> Iterator[str]:
    left = list(went)
    for fact in came:
        old = next((one for one in left if one.label == fact.label), None)
        if old is None:
            yield paint(clean(f"+ {sentence(fact)} {dates.when(fact)}"), "good")
            continue
        left.remove(old)
        before, after = dates.when(old), dates.when(fact)
        if before != after:
            yield clean(f"~ {sentence(fact)} {after}, before: {before}")
    yield from (paint(clean(f"- {sentence(fact)} {dates.when(fact)}"), "bad") for fact in left)


def diff(found: Diff) -> Iterator[str]:
    """What changed (~), was opened (+) and was closed (-), and which conflicts came and went."""
    paired = {id(fact) for pair in found.changed for fact in pair}
    dates = Dates([*found.opened, *found.closed, *(fact for pair in found.changed for fact in pair)])
    for old, new in found.changed:
        yield from text.folded(clean(f"~ {sentence(old)} {dates.when(old)} -> {_target(old, new)}{dates.when(new)}"))
    for mark, style, facts in (("+", "good", found.opened), ("-", "bad", found.closed)):
        yield from (
            paint(part, style)
            for fact in facts
            if id(fact) not in paired
            for part in text.folded(clean(f"{mark} {sentence(fact)} {dates.when(fact)}"))
        )
    for mark, sets in (("! conflict:", found.conflicts_opened), ("  settled:", found.conflicts_settled)):
        for one in sets:
            yield from text.folded(clean(f"{mark} {' or '.join(fact_words(one.facts))}"), "    ")


def _target(old: Fact, new: Fact) -> str:
    return "" if old.label == new.label else f"{object_of(new)} "


def fact_words(facts: Sequence[Fact]) -> list[str]:
    """What tells facts from each other: the first in full, the others by their object where the rest is the same."""
    first = facts[0]
    alike = all((f.subject, f.predicate) == (first.subject, first.predicate) for f in facts)
    return [sentence(first), *(object_of(f) if alike else sentence(f) for f in facts[1:])]
