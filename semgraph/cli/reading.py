"""The commands that read what holds: value, about, timeline, list, entities, aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import ENTITY, PREDICATE, QUALIFIERS, absence, command, pass_app, show
from semgraph.cli.text import clean, folded

if TYPE_CHECKING:
    from semgraph.cli.app import App

__all__: list[str] = []


@command(example="semgraph value Maya works_at\nsemgraph --at 2022 value Maya works_at", slices=True)
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("default", required=False)
@QUALIFIERS
@pass_app
def value(app: App, /, subject: str, predicate: str, default: str | None, qualifiers: dict[str, Any] | None) -> None:
    """The one value that holds, or DEFAULT.

    It is an error if there are several.
    """
    view, name = app.view(), app.name(subject)
    found = view.value(name, predicate, default, qualifiers=qualifiers)
    if found is None and not app.json:
        show(app, found, (), empty=absence(view, name))
        return
    show(app, found, [clean(str(found))])


@command(example="semgraph about Maya\nsemgraph --at 2022 about Maya", slices=True)
@click.argument("entity", type=ENTITY)
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, metavar="N", help="The most of a predicate."
)
@pass_app
def about(app: App, /, entity: str, limit: int) -> None:
    """What holds about something, by predicate."""
    from semgraph.cli.words import about as lines

    found = app.view().about(app.name(entity), limit=limit)
    more = any(facts.truncated for facts in found.values())
    show(app, found, lines(found), empty="nothing holds", truncated=more)


@command(example="semgraph timeline Maya works_at", slices=True)
@click.argument("entity", type=ENTITY)
@click.argument("predicate", type=PREDICATE, required=False)
@click.option("--negative", is_flag=True, help="Also what does not hold.")
@click.option("--possible", is_flag=True, help="Also what is only possible.")
@click.option("--width", type=click.IntRange(40, 1000), metavar="N", help="Columns to use; those of the terminal.")
@pass_app
def timeline(
    app: App, /, entity: str, predicate: str | None, *, negative: bool, possible: bool, width: int | None
) -> None:
    """Every fact about something as bars, in order of time.

    A full bar holds for certain, a broken one may; an arrow goes on, ? is an end that nobody knows, ! is in conflict.
    Of one PREDICATE also the gaps in which nothing is known.
    """
    from semgraph.cli.chart import chart

    view = app.view()
    found = view.timeline(app.name(entity), predicate, negative=negative, possible=possible)
    show(app, found, chart(found, gaps=predicate is not None, width=width), empty="nothing is known")


@command(name="list", example="semgraph list Maya\nsemgraph list --predicate works_at --object Stripe", slices=True)
@click.argument("subject", type=ENTITY, required=False)
@click.argument("predicate", type=PREDICATE, required=False)
@click.argument("object", type=ENTITY, required=False)
@click.option("--subject", "by_subject", type=ENTITY, metavar="NAME", help="The same as the first argument.")
@click.option("--predicate", "by_predicate", type=PREDICATE, metavar="NAME", help="The same as the second.")
@click.option("--object", "by_object", type=ENTITY, metavar="NAME", help="The same as the third.")
@click.option("--possible", is_flag=True, help="Also what is only possible.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0, metavar="0..1", help="Only what is as sure.")
@click.option("--ids", is_flag=True, help="Begin each line with the id, for explain and retract.")
@QUALIFIERS
@pass_app
def list_facts(app: App, /, *, ids: bool, **words: Any) -> None:
    """The facts that hold.

    SUBJECT, PREDICATE and OBJECT narrow them down; each may be left out.
    """
    from semgraph.cli.words import fact_line

    chosen: dict[str, Any] = {}
    for part in ("subject", "predicate", "object"):
        by_place, by_name = words.pop(part), words.pop(f"by_{part}")
        if by_place is not None and by_name is not None:
            raise click.UsageError(f"{part} is given twice: {by_place!r} and {by_name!r}")
        given = by_place if by_name is None else by_name
        chosen[part] = given if part == "predicate" else app.maybe_name(given)
    view = app.view()
    facts = view.facts(**chosen, **words)
    if app.json:
        show(app, list(facts), ())
        return
    count = 0
    for fact in facts:
        count += 1
        for line in folded(f"{fact.id}  {fact_line(fact)}" if ids else fact_line(fact), "    "):
            click.echo(line)
    if not count:
        show(app, None, (), empty=absence(view, chosen["subject"]))


@command(example="semgraph entities\nsemgraph entities Geo", slices=True)
@click.argument("prefix", type=ENTITY, required=False)
@pass_app
def entities(app: App, /, prefix: str | None) -> None:
    """All entities with their ids.

    With PREFIX those that have a name beginning with it.
    """
    from semgraph.cli.text import table

    found = list(app.view().entities(prefix))
    show(app, found, table(([one.id, one.label] for one in found), styles=("dim", "name")), empty="no entities")


@command(example="semgraph aliases 'George W. Bush'")
@click.argument("entity", type=ENTITY)
@pass_app
def aliases(app: App, /, entity: str) -> None:
    """Every name of an entity."""
    found = app.graph().names.aliases(app.name(entity))
    show(app, found, map(clean, found))
