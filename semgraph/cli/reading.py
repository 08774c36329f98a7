"""The commands that read: about, value, timeline, list, entities, aliases, conflicts, explain, history, diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import QUALIFIERS, command, pass_app, when

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semgraph.cli.app import App

__all__ = ["show"]


def show(app: App, /, value: object, lines: Iterable[str], *, empty: str = "") -> None:
    """Print a document or lines; where there are none say so, but not where a program would read it."""
    from semgraph.cli import document

    if app.json:
        document.emit(value)
        return
    printed = False
    for line in lines:
        click.echo(line)
        printed = True
    if empty and not printed:
        click.echo(empty, err=True)


@command(example="semgraph about Maya\nsemgraph --at 2022 about Maya", slices=True)
@click.argument("entity")
@pass_app
def about(app: App, /, entity: str) -> None:
    """What holds about something, by predicate."""
    from semgraph.cli import text

    found = app.view().about(app.name(entity))
    show(app, found, text.about(found), empty="nothing holds")


@command(example="semgraph value Maya works_at\nsemgraph --at 2022 value Maya works_at", slices=True)
@click.argument("subject")
@click.argument("predicate")
@click.argument("default", required=False)
@QUALIFIERS
@pass_app
def value(app: App, /, subject: str, predicate: str, default: str | None, qualifiers: dict[str, Any] | None) -> None:
    """The one value that holds, or DEFAULT.

    It is an error if there are several.
    """
    from semgraph.cli import text

    found = app.view().value(app.name(subject), predicate, default, qualifiers=qualifiers)
    show(app, found, [] if found is None else [text.clean(str(found))], empty="nothing holds")


@command(example="semgraph timeline Maya works_at", slices=True)
@click.argument("entity")
@click.argument("predicate", required=False)
@click.option("--negative", is_flag=True, help="Also what does not hold.")
@click.option("--possible", is_flag=True, help="Also what is only possible.")
@pass_app
def timeline(app: App, /, entity: str, predicate: str | None, *, negative: bool, possible: bool) -> None:
    """Every fact about something, in order of time.

    Of one PREDICATE also the gaps in which nothing is known.
    """
    from semgraph.cli import text

    found = app.view().timeline(app.name(entity), predicate, negative=negative, possible=possible)
    show(app, found, text.timeline(found, gaps=predicate is not None), empty="nothing is known")


@command(name="list", example="semgraph list Maya\nsemgraph list --predicate works_at --object Stripe", slices=True)
@click.argument("subject", required=False)
@click.argument("predicate", required=False)
@click.argument("object", required=False)
@click.option("--subject", "by_subject", metavar="NAME", help="The same as the first argument.")
@click.option("--predicate", "by_predicate", metavar="NAME", help="The same as the second.")
@click.option("--object", "by_object", metavar="NAME", help="The same as the third.")
@click.option("--possible", is_flag=True, help="Also what is only possible.")
@click.option("--min-confidence", type=float, default=0, metavar="0..1", help="Only what is at least so sure.")
@click.option("--ids", is_flag=True, help="Begin each line with the id, for explain and retract.")
@QUALIFIERS
@pass_app
def list_facts(app: App, /, *, ids: bool, **words: Any) -> None:
    """The facts that hold.

    SUBJECT, PREDICATE and OBJECT narrow them down; each may be left out.
    """
    from semgraph.cli import text

    chosen: dict[str, Any] = {}
    for part in ("subject", "predicate", "object"):
        by_place, by_name = words.pop(part), words.pop(f"by_{part}")
        if by_place is not None and by_name is not None:
            raise click.UsageError(f"{part} is given twice: {by_place!r} and {by_name!r}")
        given = by_place if by_name is None else by_name
        chosen[part] = given if part == "predicate" else app.maybe_name(given)
    facts = app.view().facts(**chosen, **words)
    if app.json:
        show(app, list(facts), ())
        return
    lines = (f"{fact.id}  {text.fact_line(fact)}" if ids else text.fact_line(fact) for fact in facts)
    show(app, None, lines, empty="nothing holds")


@command(example="semgraph entities\nsemgraph entities Geo", slices=True)
@click.argument("prefix", required=False)
@pass_app
def entities(app: App, /, prefix: str | None) -> None:
    """All entities with their ids.

    With PREFIX those that have a name beginning with it.
    """
    from semgraph.cli import text

    found = list(app.view().entities(prefix))
    show(app, found, text.table([entity.id, entity.label] for entity in found), empty="no entities")


@command(example="semgraph aliases 'George W. Bush'")
@click.argument("entity")
@pass_app
def aliases(app: App, /, entity: str) -> None:
    """Every name of an entity."""
    from semgraph.cli import text

    found = app.graph().names.aliases(app.name(entity))
    show(app, found, map(text.clean, found))


@command(example="semgraph suggest --min-score 90")
@click.option("--min-score", type=float, default=90, metavar="0..100", help="Only pairs as alike as this.")
@pass_app
def suggest(app: App, /, min_score: float) -> None:
    """Pairs of entities whose names look alike."""
    from semgraph.cli import text

    found = list(app.graph().names.suggest(min_score=min_score))
    rows = ([f"{pair.score:.0f}", pair.a.label, pair.b.label, pair.why] for pair in found)
    show(app, found, text.table(rows), empty="no names look alike")


@command(example="semgraph conflicts\nsemgraph conflicts --exit-code", slices=True)
@click.argument("subject", required=False)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there is one.")
@pass_app
def conflicts(app: App, /, subject: str | None, *, exit_code: bool) -> None:
    """What contradicts, at all times or with --at."""
    from semgraph.cli import text

    view = app.view() if app.at is not None else app.graph().during(known_at=when(app.known_at))
    found = view.conflicts(app.maybe_name(subject))
    show(app, found, (line for one in found for line in text.conflict(one)), empty="no conflicts")
    if exit_code and found:
        click.get_current_context().exit(1)


@command(example="semgraph explain Maya works_at\nsemgraph explain 31d67b3a86889ef7f39e4d0e")
@click.argument("fact")
@click.argument("predicate", required=False)
@click.argument("object", required=False)
@pass_app
def explain(app: App, /, fact: str, predicate: str | None, object: str | None) -> None:
    """Why a fact is believed.

    FACT is an id, or with PREDICATE the subject of the facts that hold.
    """
    from semgraph.cli import text

    graph = app.graph()
    if predicate is None:
        found = [graph.explain(fact)]
    else:
        facts = list(graph.facts(app.name(fact), predicate, app.maybe_name(object)))
        found = [graph.explain(one) for one in facts]
    lines = (text.clean(line) for one in found for line in str(one).splitlines())
    show(app, found[0] if predicate is None else found, lines, empty="nothing holds: look with timeline or history")


@command(example="semgraph history Maya works_at")
@click.argument("subject")
@click.argument("predicate")
@pass_app
def history(app: App, /, subject: str, predicate: str) -> None:
    """What was believed about something, belief by belief."""
    from semgraph.cli import text

    found = app.graph().history(app.name(subject), predicate)
    show(app, found, text.history(found), empty="nothing was ever believed")


@command(example="semgraph diff 2023 2024\nsemgraph diff --known 2024-05-01 2024-06-01")
@click.argument("a")
@click.argument("b")
@click.option("--known", is_flag=True, help="A and B are moments of knowledge: what we changed our mind about.")
@click.option("--subject", metavar="NAME", help="Only about this.")
@pass_app
def diff(app: App, /, a: str, b: str, *, known: bool, subject: str | None) -> None:
    """What changed between two times."""
    from semgraph.cli import text

    graph = app.graph()
    before, after = (graph.at(known_at=when(t)) if known else graph.at(when(t)) for t in (a, b))
    found = before.diff(after, subject=app.maybe_name(subject))
    show(app, found, text.diff(found), empty="no difference")


@command(example="semgraph rejected")
@pass_app
def rejected(app: App) -> None:
    """The refused claims, with their reasons."""
    from semgraph.cli import text

    found = app.graph().rejected()
    shown = (f"{r.recorded_at} {r.code}: {r.reason}" + (f" ({r.content})" if r.content else "") for r in found)
    show(app, found, map(text.clean, shown), empty="nothing was refused")


@command(example="semgraph predicates\nsemgraph predicates works_at")
@click.argument("name", required=False)
@pass_app
def predicates(app: App, /, name: str | None) -> None:
    """The registered predicates and how they behave."""
    from semgraph.cli import text

    registry = app.graph().predicates
    found = [registry[one].to_dict() for one in ([name] if name is not None else registry)]
    rows = []
    for entry in found:
        rest = [key if value is True else f"{key}={value}" for key, value in entry.items()]
        rows.append([entry["name"], entry.get("cardinality", "unregistered"), " ".join(rest[2:])])
    show(app, found if name is None else found[0], text.table(rows))
