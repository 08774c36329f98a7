"""The commands that say why and what changed: conflicts, explain, history, diff, recalled, rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from semgraph.cli.app import ENTITY, PREDICATE, absence, command, pass_app, show
from semgraph.cli.text import count, table

if TYPE_CHECKING:
    from semgraph.cli.app import App

__all__: list[str] = []


@command(example="semgraph conflicts\nsemgraph conflicts --exit-code", slices=True)
@click.argument("subject", type=ENTITY, required=False)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there is one.")
@click.option("--ids", is_flag=True, help="Show the id of each, for settle --conflict.")
@pass_app
def conflicts(app: App, /, subject: str | None, *, exit_code: bool, ids: bool) -> None:
    """What contradicts, at all times or with --at."""
    from semgraph.cli.disputes import conflict

    view = app.view() if app.at is not None else app.graph().during(known_at=app.when(app.known_at))
    found = view.conflicts(app.maybe_name(subject))
    lines = (line for n, one in enumerate(found) for line in (*[""] * bool(n), *conflict(app, one, ids=ids)))
    show(app, found, lines, empty="no conflicts")
    if exit_code and found:
        click.get_current_context().exit(1)


@command(example="semgraph explain Maya works_at\nsemgraph explain 31d67b3a86889ef7f39e4d0e")
@click.argument("fact", type=ENTITY)
@click.argument("predicate", type=PREDICATE, required=False)
@click.argument("object", type=ENTITY, required=False)
@pass_app
def explain(app: App, /, fact: str, predicate: str | None, object: str | None) -> None:
    """Why a fact is believed.

    FACT is an id, or with PREDICATE the subject of the facts that hold.
    """
    from semgraph.cli.story import story

    graph = app.graph()
    if predicate is None:
        one = graph.explain(fact)
        show(app, one, story(one))
        return
    subject = app.name(fact)
    found = [graph.explain(one) for one in graph.facts(subject, predicate, app.maybe_name(object))]
    lines = (line for n, one in enumerate(found) for line in (*[""] * bool(n), *story(one)))
    show(app, found, lines)
    if not found and not app.json:
        why = absence(graph, subject)
        hint = "" if ":" in why else ": `semgraph --at WHEN list --ids` has the ids of what held then, for `explain ID`"
        show(app, None, (), empty=why + hint)


@command(example="semgraph history Maya works_at")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@pass_app
def history(app: App, /, subject: str, predicate: str) -> None:
    """What was believed about something, belief by belief.

    At each moment: + what was believed from then on, - what no longer, ~ what got other bounds.
    """
    from semgraph.cli.words import history as journal

    found = app.graph().history(app.name(subject), predicate)
    show(app, found, journal(found), empty="nothing was ever believed")


@command(example="semgraph diff 2023 2024\nsemgraph diff --known 2024-05-01 2024-06-01")
@click.argument("a")
@click.argument("b")
@click.option("--known", is_flag=True, help="A and B are moments of knowledge: what we changed our mind about.")
@click.option("--subject", metavar="NAME", type=ENTITY, help="Only about this.")
@pass_app
def diff(app: App, /, a: str, b: str, *, known: bool, subject: str | None) -> None:
    """What changed between two times.

    + is what was opened, - what was closed, ~ what changed.
    """
    from semgraph.cli.words import diff as changes

    graph = app.graph()
    before, after = (graph.at(known_at=app.when(t)) if known else graph.at(app.when(t)) for t in (a, b))
    found = before.diff(after, subject=app.maybe_name(subject))
    show(app, found, changes(found), empty="no difference")


@command(example="semgraph recalled\nsemgraph recalled --limit 5")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="The most facts.")
@pass_app
def recalled(app: App, /, limit: int) -> None:
    """How often facts were recalled, and when last."""
    from semgraph.cli.words import fact_line

    found = app.graph().recalled(limit=limit)
    rows = ([fact_line(one.fact), count(one.times, "time"), str(one.last_at)] for one in found)
    show(app, found, table(rows, styles=("", "", "dim")), empty="nothing was recalled yet")


@command(example="semgraph rejected")
@pass_app
def rejected(app: App) -> None:
    """The refused claims, with their reasons."""
    from semgraph.cli.words import rejection

    found = app.graph().rejected()
    show(app, found, (line for one in found for line in rejection(one)), empty="nothing was refused")
