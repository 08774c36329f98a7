"""The commands that tell and take back: add, set, remember, end, deny, correct, retract, unretract, settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from semgraph.cli.app import ENTITY, PREDICATE, QUALIFIERS, TOLD, VALIDITY, command, pass_app, together
from semgraph.cli.app import show as show_lines
from semgraph.cli.text import clean
from semgraph.cli.touching import alike, held_within

if TYPE_CHECKING:
    from semgraph.cli.app import App
    from semgraph.model import Receipt

__all__: list[str] = []

_CLAIM = together(
    VALIDITY,
    click.option("--valid-through", metavar="WHEN", help="The last day, month or year on which it holds."),
    click.option("--negative", is_flag=True, help="It does not hold."),
    TOLD,
    click.option("--confidence", type=float, metavar="0..1", help="How sure the source is."),
    QUALIFIERS,
    click.option("--because", metavar="ID", multiple=True, help="A claim that it follows from; repeatable."),
    click.option("--text", metavar="TEXT", help="The words in which it was said."),
)


def show(app: App, /, *receipts: Receipt, several: bool = False) -> None:
    """Print what writes did; for a conflict also the command that settles it."""
    from semgraph.cli.disputes import settling
    from semgraph.cli.words import receipt

    lines = [line for one in receipts for line in (*receipt(one), *settling(app, one))]
    show_lines(app, list(receipts) if several else receipts[0], lines)


@command(example="semgraph add Maya works_at Stripe --valid-from 2021-03 --source-ref mail:17")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("object", type=ENTITY, required=False)
@click.option("--kind", type=click.Choice(["state", "change", "also"]), default="state", help="How it is meant.")
@_CLAIM
@pass_app
def add(app: App, /, subject: str, predicate: str, **words: Any) -> None:
    """Tell a claim: OBJECT is the PREDICATE of SUBJECT."""
    graph = app.graph(writing=True)
    words["object"] = app.maybe_name(words["object"])
    show(app, graph.add(app.name(subject), predicate, **app.timed(words)))


@command(name="set", example="semgraph set Maya lives_in Oslo")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("value", type=ENTITY)
@_CLAIM
@pass_app
def set_value(app: App, /, subject: str, predicate: str, value: str, **words: Any) -> None:
    """Tell a change: VALUE takes the place of what held before."""
    graph = app.graph(writing=True)
    show(app, graph.set(app.name(subject), predicate, app.name(value), **app.timed(words)))


@command(example='semgraph remember "I live in Oslo"')
@click.argument("text")
@click.option("--subject", metavar="NAME", help="Whom it is about; without it patterns look for that.")
@click.option("--predicate", metavar="NAME", help="Under what to keep it.")
@click.option("--object", metavar="NAME", help="The value.")
@VALIDITY
@TOLD
@pass_app
def remember(app: App, /, text: str, **words: Any) -> None:
    """Keep what a sentence says.

    What is no lasting fact is refused: that is printed, and no error.
    """
    graph = app.graph(writing=True)
    words["subject"] = app.maybe_name(words["subject"])
    show(app, *graph.remember(text, **app.timed(words)), several=True)


@command(example="semgraph end Maya works_at Stripe --at 2024-05-31")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("object", type=ENTITY, required=False)
@click.option("--at", metavar="WHEN", help="When it stopped; now if left out.")
@QUALIFIERS
@TOLD
@pass_app
def end(app: App, /, subject: str, predicate: str, object: str | None, **words: Any) -> None:
    """Say that it stopped; without OBJECT every value."""
    graph = app.graph(writing=True)
    who, value = app.name(subject), app.maybe_name(object)
    near = alike(graph, who, predicate, value)
    done = graph.end(who, predicate, value, **app.timed(words))
    show(app, done)
    if not done.closed and done.outcome not in _UNTOLD:
        _say_nothing_held("end", near)


@command(example="semgraph deny Maya lives_in Bergen")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("object", type=ENTITY)
@VALIDITY
@QUALIFIERS
@TOLD
@pass_app
def deny(app: App, /, subject: str, predicate: str, object: str, **words: Any) -> None:
    """Say that it never was true; with bounds, not then."""
    graph = app.graph(writing=True)
    who, value, told = app.name(subject), app.name(object), app.timed(words)
    near = alike(graph, who, predicate, value)
    held = held_within(graph, who, predicate, value, told)
    done = graph.deny(who, predicate, value, **told)
    show(app, done)
    if not (held or done.closed) and done.outcome not in _UNTOLD:
        _say_nothing_held("deny", near)


#: What says by itself that nothing came of it.
_UNTOLD: Final = frozenset({"rejected", "duplicate", "idempotent", "suppressed"})


def _say_nothing_held(doing: str, near: str) -> None:
    hint = f": {near}" if near else ""
    click.echo(clean(f"semgraph: nothing held that it could {doing}; the claim is kept{hint}"), err=True)


@command(example="semgraph correct Maya works_at Linear Lineal")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("old")
@click.argument("new")
@click.option("--valid-at", metavar="WHEN", help="A moment at which OLD is taken to hold; now if left out.")
@QUALIFIERS
@TOLD
@pass_app
def correct(app: App, /, subject: str, predicate: str, old: str, new: str, **words: Any) -> None:
    """Say that NEW was true, and OLD never was."""
    graph = app.graph(writing=True)
    done = graph.correct(app.name(subject), predicate, app.name(old), app.name(new), **app.timed(words))
    show(app, done)
    if done.outcome != "idempotent" and all(fact.negative for fact in done.facts) and not app.json:
        message = f"semgraph: {new} does not hold: it had been denied itself; `semgraph add` says it anew"
        click.echo(clean(message), err=True)


@command(example="semgraph retract 31d67b3a86889ef7f39e4d0e --reason 'another Maya'")
@click.argument("target")
@click.option("--reason", metavar="TEXT", help="Why.")
@pass_app
def retract(app: App, /, target: str, reason: str | None) -> None:
    """Withdraw a statement, by its id.

    TARGET is a claim, or a fact with all its claims: all is as if they had not been made.
    """
    show(app, app.graph(writing=True).retract(target, reason=reason))


@command(example="semgraph unretract 31d67b3a86889ef7f39e4d0e")
@click.argument("target")
@pass_app
def unretract(app: App, /, target: str) -> None:
    """Take a withdrawal back."""
    show(app, app.graph(writing=True).unretract(target))


@command(example="semgraph settle Maya lives_in choose Oslo --reason 'she told me'")
@click.argument("subject", type=ENTITY)
@click.argument("predicate", type=PREDICATE)
@click.argument("choice", type=click.Choice(["choose", "keep_both", "both_wrong"]))
@click.argument("object", type=ENTITY, required=False)
@click.option("--conflict", metavar="ID", help="Which conflict; the one that holds if left out.")
@click.option("--valid-at", metavar="WHEN", help="A moment of the conflict; now if left out.")
@QUALIFIERS
@click.option("--reason", metavar="TEXT", help="Why.")
@pass_app
def settle(app: App, /, subject: str, predicate: str, choice: str, object: str | None, **words: Any) -> None:
    """Decide a conflict: choose OBJECT, keep_both, or both_wrong."""
    if choice == "choose" and object is None:
        raise click.UsageError("choose needs the value to keep: settle SUBJECT PREDICATE choose OBJECT")
    if choice != "choose" and object is not None:
        raise click.UsageError(f"{choice} takes no value; to keep {object!r}, say choose {object!r}")
    graph = app.graph(writing=True)
    show(app, graph.settle(app.name(subject), predicate, choice, app.maybe_name(object), **app.timed(words)))
