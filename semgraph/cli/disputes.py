"""Contradictions for a person: both sides, who said them and when, and the very commands that settle them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from semgraph.cli import text
from semgraph.cli.phrasing import typed
from semgraph.cli.text import clean, paint
from semgraph.cli.words import Dates, notes, object_of, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semgraph.cli.app import App
    from semgraph.model import ConflictSet, Entity, Fact, Literal, Receipt

__all__ = ["conflict", "settling"]

_SHOWN: Final = 4  # sides for which a command is written out


def conflict(app: App, found: ConflictSet, *, ids: bool = False) -> Iterator[str]:
    """A conflict, its sides, and how to end it."""
    dates = Dates(found.facts)
    since = "" if found.since.precision == "always" else f" since {dates.short(found.since)}"
    until = "" if found.until is None else f" until {dates.short(found.until)}"
    values = [_side(found, fact) for fact in found.facts]
    title = f"{_whose(found)}: {' or '.join(values) if len(values) < 4 else f'{len(values)} values'}?"
    yield paint(clean(title), "bad") + paint(clean(f"  in conflict{since}{until}"), "dim")
    rows = [[_side(found, fact), told(fact), dates.when(fact), ", ".join(_doubts(fact))] for fact in found.facts]
    yield from text.table(rows, "  ", ("name", "", "dim", "doubt"))
    for lead, line in zip(["settle:", *[""] * _SHOWN * 2], _commands(app, found), strict=False):
        yield f"  {lead:<7} {paint(clean(line), 'command')}"
    for line, meaning in _definitions(app, found):
        yield f"  {'define:':<7} {paint(clean(line), 'command')}  {paint(meaning, 'dim')}"
    if ids:
        yield f"  id      {found.id}"


def _whose(found: ConflictSet) -> str:
    """What the conflict is about."""
    if found.subject is None:
        return f"who {found.predicate} {'' if found.object is None else found.object.label}"
    return f"{found.subject.label} {found.predicate}"


def _side(found: ConflictSet, fact: Fact) -> str:
    return fact.subject.label if found.subject is None else object_of(fact)


def _doubts(fact: Fact) -> Iterator[str]:
    yield from (note for note in notes(fact) if note != "in conflict")


def _commands(app: App, found: ConflictSet) -> list[str]:
    """A command for each way to settle it."""
    graph = app.graph()
    subject: Entity | Literal | None = found.object if found.subject is None else found.subject
    if subject is None:
        return []
    held = graph.conflicts()
    options = [] if any(one.id == found.id for one in held) else ["--conflict", found.id]
    if not options and sum((one.subject, one.predicate) == (found.subject, found.predicate) for one in held) > 1:
        options = ["--conflict", found.id]
    about = (_name(app, subject), found.predicate)
    sides = [fact.subject if found.subject is None else fact.object for fact in found.facts if not fact.negative]
    values = [_name(app, side) for side in sides[:_SHOWN] if side is not None]
    ways: list[tuple[str, ...]] = [("choose", value) for value in values]
    ways += [("keep_both",)] if found.subject is not None and len(values) > 1 else []
    if any(fact.negative for fact in found.facts):
        ways.append(("both_wrong",))
    return [typed(app.typed, "settle", *about, *way, options=options) for way in ways]


def _definitions(app: App, found: ConflictSet) -> list[tuple[str, str]]:
    """Where nobody said how many values the predicate takes: the command that says so, and what else it may say."""
    known = app.graph().predicates
    if found.predicate in known and known[found.predicate].registered:
        return []
    line = typed(app.typed, "define", found.predicate, options=["--cardinality", "one"])
    return [(line, "or many, if they may stand together")]


def _name(app: App, thing: Entity | Literal) -> str:
    """What a command line calls it: its name, or its id where others bear the name or a shell can't be given it."""
    number = getattr(thing, "id", None)
    if number is None:
        return thing.label
    if clean(thing.label) != thing.label or len(app.graph().candidates(thing.label)) != 1:
        return str(number)
    return thing.label


def settling(app: App, done: Receipt) -> Sequence[str]:
    """The line after the receipt of a write that made a conflict: how to see and settle it."""
    if done.outcome != "conflict" or done.conflict is None:
        return ()
    lines = _commands(app, done.conflict)
    if not lines:
        return ()
    first = [f"  to define: {paint(clean(line), 'command')}, {how}" for line, how in _definitions(app, done.conflict)]
    return [*first, f"  to settle: {paint(clean(lines[0]), 'command')}", f"  other ways: {_see(app, done)}"]


def _see(app: App, done: Receipt) -> str:
    subject = done.facts[0].subject if done.facts else None
    words = [] if subject is None else [_name(app, subject)]
    return paint(clean(typed(app.typed, "conflicts", *words)), "command")
