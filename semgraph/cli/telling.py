"""The commands that write: add, set, end, deny, correct, retract, settle, forget, names and predicates."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import QUALIFIERS, TOLD, VALIDITY, command, pass_app, timed, together
from semgraph.errors import PurgePending

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def show(app: App, /, *receipts: Receipt) -> None:
    """Print what writes did."""
    from semgraph.cli import document, text

    if app.json:
        document.emit(receipts[0] if len(receipts) == 1 else receipts)
        return
    for receipt in receipts:
        for line in text.receipt(receipt):
            click.echo(line)


def done(app: App, /, words: str, **facts: Any) -> None:
    """Print that a write without a receipt was done."""
    from semgraph.cli import document, text

    if app.json:
        document.emit(facts)
    else:
        click.echo(text.clean(words))


@command(example="semgraph add Maya works_at Stripe --valid-from 2021-03 --source-ref mail:17")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object", required=False)
@click.option("--kind", type=click.Choice(["state", "change", "also"]), default="state", help="How it is meant.")
@_CLAIM
@pass_app
def add(app: App, /, subject: str, predicate: str, **words: Any) -> None:
    """Tell a claim: OBJECT is the PREDICATE of SUBJECT."""
    graph = app.graph(writing=True)
    words["object"] = app.maybe_name(words["object"])
    show(app, graph.add(app.name(subject), predicate, **timed(words)))


@command(name="set", example="semgraph set Maya lives_in Oslo")
@click.argument("subject")
@click.argument("predicate")
@click.argument("value")
@_CLAIM
@pass_app
def set_value(app: App, /, subject: str, predicate: str, value: str, **words: Any) -> None:
    """Tell a change: VALUE takes the place of what held before."""
    graph = app.graph(writing=True)
    show(app, graph.set(app.name(subject), predicate, app.name(value), **timed(words)))


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
    show(app, *graph.remember(text, **timed(words)))


@command(example="semgraph end Maya works_at Stripe --at 2024-05-31")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object", required=False)
@click.option("--at", metavar="WHEN", help="When it stopped; now if left out.")
@QUALIFIERS
@TOLD
@pass_app
def end(app: App, /, subject: str, predicate: str, object: str | None, **words: Any) -> None:
    """Say that it stopped; without OBJECT every value."""
    graph = app.graph(writing=True)
    show(app, graph.end(app.name(subject), predicate, app.maybe_name(object), **timed(words)))


@command(example="semgraph deny Maya lives_in Bergen")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@VALIDITY
@QUALIFIERS
@TOLD
@pass_app
def deny(app: App, /, subject: str, predicate: str, object: str, **words: Any) -> None:
    """Say that it never was true; with bounds, not then."""
    graph = app.graph(writing=True)
    show(app, graph.deny(app.name(subject), predicate, app.name(object), **timed(words)))


@command(example="semgraph correct Maya works_at Linear Lineal")
@click.argument("subject")
@click.argument("predicate")
@click.argument("old")
@click.argument("new")
@click.option("--valid-at", metavar="WHEN", help="A moment at which OLD is taken to hold; now if left out.")
@QUALIFIERS
@TOLD
@pass_app
def correct(app: App, /, subject: str, predicate: str, old: str, new: str, **words: Any) -> None:
    """Say that NEW was true, and OLD never was."""
    graph = app.graph(writing=True)
    show(app, graph.correct(app.name(subject), predicate, app.name(old), app.name(new), **timed(words)))


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
@click.argument("subject")
@click.argument("predicate")
@click.argument("choice", type=click.Choice(["choose", "keep_both", "both_wrong"]))
@click.argument("object", required=False)
@click.option("--conflict", metavar="ID", help="Which conflict; the one that holds if left out.")
@click.option("--valid-at", metavar="WHEN", help="A moment of the conflict; now if left out.")
@QUALIFIERS
@click.option("--reason", metavar="TEXT", help="Why.")
@pass_app
def settle(app: App, /, subject: str, predicate: str, choice: str, object: str | None, **words: Any) -> None:
    """Decide a conflict: choose OBJECT, keep_both, or both_wrong."""
    graph = app.graph(writing=True)
    show(app, graph.settle(app.name(subject), predicate, choice, app.maybe_name(object), **timed(words)))


@command(example="semgraph forget --entity Bob --dry-run\nsemgraph forget --entity Bob --yes")
@click.option("--fact", metavar="ID", help="A fact, with all claims that support it.")
@click.option("--claim", metavar="ID", help="A claim.")
@click.option("--entity", metavar="NAME", help="An entity, with all that is said about it.")
@click.option("--source-ref", metavar="TEXT", help="All that a document said.")
@click.option("--everything", is_flag=True, help="The whole scope.")
@click.option("--mentions", is_flag=True, help="With --entity: also what others' words say of it.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--export-to", metavar="PATH", help="Write and check an export of the scope first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_app
def forget(app: App, /, *, yes: bool, entity: str | None, dry_run: bool, **words: Any) -> None:
    """Remove for good, from the bytes of the file too."""
    from semgraph.cli import document, text

    graph = app.graph(writing=True)
    words = timed(words) | {"entity": app.maybe_name(entity)}
    if not (yes or dry_run):
        _confirm(graph.forget(**{**words, "dry_run": True, "export_to": None}))
    report = graph.forget(**words, dry_run=dry_run)
    if app.json:
        document.emit(report)
        return
    for line in text.forgotten(report):
        click.echo(line)
    if report.pending:
        raise PurgePending("the bytes are not gone yet: run `semgraph purge` when nobody reads the file")


def _confirm(report: Any) -> None:
    from semgraph.cli import text

    if not sys.stdin.isatty():
        raise click.UsageError("this can't be undone: look with --dry-run, then pass --yes")
    for line in text.forgotten(report):
        click.echo(line, err=True)
    if not click.confirm("Forget all of this for good?", err=True):
        click.echo("nothing was forgotten", err=True)
        click.get_current_context().exit(1)


@command(example="semgraph veto --phrase 'project bluebird'")
@click.option("--phrase", metavar="TEXT", help="Words that no claim may hold.")
@click.option("--entity", metavar="NAME", help="Nothing about it.")
@click.option("--predicate", metavar="NAME", help="Nothing of this kind.")
@pass_app
def veto(app: App, /, entity: str | None, **words: Any) -> None:
    """Name what must never be stored.

    What is stored already stays: forget removes it.
    """
    graph = app.graph(writing=True)
    graph.veto(entity=app.maybe_name(entity), **words)
    done(app, "vetoed", vetoed=True)


# -- names


@command(example="semgraph declare 'George Bush' --label 'George H. W. Bush'")
@click.argument("name")
@click.option("--label", metavar="NAME", help="The name it is shown by, where NAME alone is not its own.")
@VALIDITY
@pass_app
def declare(app: App, /, name: str, **words: Any) -> None:
    """Make or mark an entity as one of its own."""
    entity = app.graph(writing=True).names.declare(name, **timed(words))
    done(app, f"declared: {entity.label} ({entity.id})", id=entity.id, label=entity.label)


@command(example="semgraph alias 'Bill Clinton' 'William Clinton'")
@click.argument("name")
@click.argument("entity")
@VALIDITY
@click.option("--primary", is_flag=True, help="The name that it is shown by.")
@click.option("--homonym", is_flag=True, help="Others bear the name too.")
@click.option("--source", metavar="TEXT", help="Who says so.")
@pass_app
def alias(app: App, /, name: str, entity: str, **words: Any) -> None:
    """Let NAME mean an entity too; an unknown entity is made."""
    graph = app.graph(writing=True)
    found = graph.names.alias(name, app.name(entity), **timed(words))
    done(app, f"alias: {name} means {found.label}", name=name, id=found.id, label=found.label)


@command(example="semgraph unalias 'Bill Clinton' 'William Clinton'")
@click.argument("name")
@click.argument("entity")
@pass_app
def unalias(app: App, /, name: str, entity: str) -> None:
    """Take a name back from an entity."""
    graph = app.graph(writing=True)
    graph.names.unalias(name, app.name(entity))
    done(app, f"unalias: {name} no longer means {entity}", name=name, entity=entity)


@command(example="semgraph merge Bob 'Robert Smith' --reason 'same address'")
@click.argument("duplicate")
@click.argument("into")
@click.option("--reason", metavar="TEXT", help="Why.")
@pass_app
def merge(app: App, /, duplicate: str, into: str, reason: str | None) -> None:
    """Say that two entities are one."""
    graph = app.graph(writing=True)
    found = graph.names.merge(app.name(duplicate), app.name(into), reason=reason)
    done(app, f"merged: {duplicate} is {found.label}", id=found.id, label=found.label)


@command(example="semgraph unmerge Bob")
@click.argument("duplicate")
@pass_app
def unmerge(app: App, /, duplicate: str) -> None:
    """Take a merge back, without loss."""
    graph = app.graph(writing=True)
    found = graph.names.unmerge(app.name(duplicate))
    done(app, f"unmerged: {found.label} is itself again", id=found.id, label=found.label)


@command(name="keep-apart", example="semgraph keep-apart 'John Adams' 'John Quincy Adams'")
@click.argument("a")
@click.argument("b")
@pass_app
def keep_apart(app: App, /, a: str, b: str) -> None:
    """Say that two entities must never be merged."""
    graph = app.graph(writing=True)
    graph.names.keep_apart(app.name(a), app.name(b))
    done(app, f"kept apart: {a} and {b}", a=a, b=b)


# -- predicates


def _ranks(_: click.Context, __: click.Parameter, given: Iterable[str]) -> dict[str, int] | None:
    found = {}
    for pair in given:
        kind, _equals, rank = pair.partition("=")
        if not rank.isdecimal():
            raise click.BadParameter(f"{pair!r} is no KIND=RANK, such as tool=4")
        found[kind] = int(rank)
    return found or None


@command(example="semgraph define runs_on --cardinality one --range entity")
@click.argument("predicate")
@click.option("--cardinality", type=click.Choice(["one", "many", "once"]), help="How many values at a time.")
@click.option("--range", type=click.Choice(["any", "entity", "literal"]), default="any", help="What its values are.")
@click.option("--inverse-of", metavar="NAME", help="The predicate that it reads from the other end.")
@click.option("--opposite", metavar="NAME", help="The predicate that it denies.")
@click.option("--aliases", metavar="NAME", multiple=True, help="Another name for it; repeatable.")
@click.option("--one-by", metavar="NAME", multiple=True, help="A qualifier that separates values; repeatable.")
@click.option("--ttl-days", type=float, metavar="N", help="How long a value counts unless it is confirmed.")
@click.option("--window-s", type=float, metavar="N", help="How much later a newer word must come to decide.")
@click.option("--trust", metavar="KIND=RANK", multiple=True, callback=_ranks, help="How far a source counts here.")
@click.option("--event/--no-event", help="It happens, and does not last.")
@click.option("--symmetric/--no-symmetric", help="It holds from both ends.")
@click.option("--irreflexive/--no-irreflexive", help="Never of itself.")
@click.option("--unique-object/--no-unique-object", help="A value belongs to one subject at a time.")
@click.option("--profile/--no-profile", help="Part of the profile.")
@click.option("--sensitive/--no-sensitive", help="Only with consent.")
@click.option("--norefine/--no-norefine", help="No value is a finer word for another.")
@click.option("--exact/--no-exact", help="Texts are compared letter by letter.")
@pass_app
def define(app: App, /, predicate: str, **words: Any) -> None:
    """Say how a predicate behaves, from now on."""
    graph = app.graph(writing=True)
    entry = graph.predicates.define(predicate, **{key: value for key, value in words.items() if value is not None})
    done(app, f"defined: {entry.name} ({entry.cardinality})", **entry.to_dict())
