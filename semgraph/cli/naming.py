"""The commands for names and predicates: declare, alias, merge and their undoing, suggest, define, predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import ENTITY, PREDICATE, VALIDITY, command, pass_app, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from semgraph.cli.app import App

__all__: list[str] = []


def done(app: App, /, words: str, **facts: Any) -> None:
    """Print that a write without a receipt was done."""
    from semgraph.cli.text import clean

    show(app, facts, [clean(words)])


@command(example="semgraph declare 'George Bush' --label 'George H. W. Bush'")
@click.argument("name")
@click.option("--label", metavar="NAME", help="The name it is shown by, where NAME alone is not its own.")
@VALIDITY
@pass_app
def declare(app: App, /, name: str, **words: Any) -> None:
    """Make or mark an entity as one of its own."""
    entity = app.graph(writing=True).names.declare(name, **app.timed(words))
    done(app, f"declared: {entity.label} ({entity.id})", id=entity.id, label=entity.label)


@command(example="semgraph alias 'Bill Clinton' 'William Clinton'")
@click.argument("name")
@click.argument("entity", type=ENTITY)
@VALIDITY
@click.option("--primary", is_flag=True, help="The name that it is shown by.")
@click.option("--homonym", is_flag=True, help="Others bear the name too.")
@click.option("--source", metavar="TEXT", help="Who says so.")
@pass_app
def alias(app: App, /, name: str, entity: str, **words: Any) -> None:
    """Let NAME mean an entity too; an unknown entity is made."""
    graph = app.graph(writing=True)
    found = graph.names.alias(name, app.name(entity), **app.timed(words))
    meant = f"is a name of {entity}" if found.label == name else f"means {found.label}"
    shown = f", which is shown as {found.label} from now on" if words["primary"] else ""
    done(app, f"alias: {name} {meant}{shown}", name=name, id=found.id, label=found.label)


@command(example="semgraph unalias 'Bill Clinton' 'William Clinton'")
@click.argument("name")
@click.argument("entity", type=ENTITY)
@pass_app
def unalias(app: App, /, name: str, entity: str) -> None:
    """Take a name back from an entity."""
    graph = app.graph(writing=True)
    graph.names.unalias(name, app.name(entity))
    done(app, f"unalias: {name} no longer means {entity}", name=name, entity=entity)


@command(example="semgraph merge Bob 'Robert Smith' --reason 'same address'")
@click.argument("duplicate", type=ENTITY)
@click.argument("into", type=ENTITY)
@click.option("--reason", metavar="TEXT", help="Why.")
@pass_app
def merge(app: App, /, duplicate: str, into: str, reason: str | None) -> None:
    """Say that two entities are one."""
    graph = app.graph(writing=True)
    found = graph.names.merge(app.name(duplicate), app.name(into), reason=reason)
    done(app, f"merged: {duplicate} is {found.label}", id=found.id, label=found.label)


@command(example="semgraph unmerge Bob")
@click.argument("duplicate", type=ENTITY)
@pass_app
def unmerge(app: App, /, duplicate: str) -> None:
    """Take a merge back, without loss."""
    graph = app.graph(writing=True)
    found = graph.names.unmerge(app.name(duplicate))
    done(app, f"unmerged: {found.label} is itself again", id=found.id, label=found.label)


@command(name="keep-apart", example="semgraph keep-apart 'John Adams' 'John Quincy Adams'")
@click.argument("a", type=ENTITY)
@click.argument("b", type=ENTITY)
@pass_app
def keep_apart(app: App, /, a: str, b: str) -> None:
    """Say that two entities must never be merged."""
    graph = app.graph(writing=True)
    graph.names.keep_apart(app.name(a), app.name(b))
    done(app, f"kept apart: {a} and {b}", a=a, b=b)


@command(example="semgraph suggest --min-score 90")
@click.option("--min-score", type=float, default=90, metavar="0..100", help="Only pairs as alike as this.")
@pass_app
def suggest(app: App, /, min_score: float) -> None:
    """Pairs of entities whose names look alike."""
    from semgraph.cli.text import table

    found = list(app.graph().names.suggest(min_score=min_score))
    rows = ([f"{pair.score:.0f}", pair.a.label, pair.b.label, pair.why] for pair in found)
    show(app, found, table(rows), empty="no names look alike")


# -- predicates


def _ranks(_: click.Context, __: click.Parameter, given: Iterable[str]) -> dict[str, int] | None:
    found = {}
    for pair in given:
        kind, _equals, rank = pair.partition("=")
        if not rank.isdecimal():
            raise click.BadParameter(f"{pair!r} is no KIND=RANK, such as tool=4")
        if kind in found:
            raise click.BadParameter(f"{kind!r} is given twice, and has one rank")
        found[kind] = int(rank)
    return found or None


@command(example="semgraph define runs_on --cardinality one --range entity")
@click.argument("predicate", type=PREDICATE)
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


@command(example="semgraph predicates\nsemgraph predicates works_at")
@click.argument("name", type=PREDICATE, required=False)
@pass_app
def predicates(app: App, /, name: str | None) -> None:
    """The registered predicates and how they behave."""
    from semgraph.cli.text import table

    registry = app.graph().predicates
    found = [registry[one].to_dict() for one in ([name] if name is not None else registry)]
    rows = ([one["name"], one.get("cardinality") or "not defined", ", ".join(_manners(one))] for one in found)
    show(app, found if name is None else found[0], table(rows, styles=("name", "", "dim")))


def _manners(entry: Mapping[str, Any]) -> Iterator[str]:
    """How a predicate behaves, in words."""
    for key, value in entry.items():
        if key in {"name", "cardinality"} or value in (None, False, (), [], {}) or (key, value) == ("range", "any"):
            continue
        word = _MANNERS.get(key, key.replace("_", " "))
        if value is True:
            yield word
        elif isinstance(value, dict):
            yield f"{word} {', '.join(f'{one} {rank}' for one, rank in value.items())}"
        else:
            yield f"{word} {', '.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"


_MANNERS = {
    "range": "values are",
    "aliases": "also called",
    "one_by": "one for each",
    "ttl_days": "days until it must be confirmed:",
    "window_s": "seconds until a newer word decides:",
    "unique_object": "one subject for a value",
    "profile": "in the profile",
}
