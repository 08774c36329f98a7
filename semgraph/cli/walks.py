"""The commands that walk the graph and search it: recall, ask, profile, neighbors, paths, match."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import ENTITY, PREDICATE, command, pass_app, show, together
from semgraph.cli.text import clean, paint, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.cli.app import App
    from semgraph.model import Answer, Path, Row

__all__: list[str] = []

_WALK = together(
    click.option(
        "--direction", type=click.Choice(["out", "in", "any"]), default="out", help="Which way facts are walked."
    ),
    click.option("--predicates", type=PREDICATE, metavar="NAME", multiple=True, help="Walk only these; repeatable."),
)


@command(example='semgraph recall "Where does Maya work?"\nsemgraph recall "Maya" --limit 10 --prompt', slices=True)
@click.argument("query")
@click.option("--limit", type=click.IntRange(1), default=6, show_default=True, metavar="N", help="The most facts.")
@click.option("--hops", type=click.IntRange(0), default=2, show_default=True, metavar="N", help="How far to look.")
@click.option(
    "--min-confidence", type=click.FloatRange(0, 1), default=0.4, metavar="0..1", help="Only what is as sure."
)
@click.option("--prompt", is_flag=True, help="Print the block that goes into a prompt.")
@click.option("--touch/--no-touch", default=True, help="Whether the facts found count as recalled.")
@pass_app
def recall(app: App, /, query: str, *, prompt: bool, **words: Any) -> None:
    """The facts that matter to a question.

    The best first; what contradicts a fact comes with it.
    """
    from semgraph.cli.words import fact_line

    view = app.view(noting=words["touch"])
    found = view.recall(query, **words)
    if prompt and not app.json:
        show(app, None, view.render(found).splitlines(), empty="nothing that is known matters to it")
        return
    rows = ([fact_line(hit.fact), hit.why] for hit in found)
    show(app, found, table(rows, styles=("", "dim")), empty="nothing that is known matters to it")


@command(example='semgraph ask "Where does Maya work?"\nsemgraph --at 2022 ask "Where does Maya work?"', slices=True)
@click.argument("question")
@pass_app
def ask(app: App, /, question: str) -> None:
    """Answer a question in English.

    The values, then the facts that they rest on. What is not understood is said, and nothing is guessed.
    """
    found = app.view().ask(question)
    document = {name: getattr(found, name) for name in ("values", "unit", "facts", "plan", "sure")}
    if not found.values and not app.json:
        understood = not found.plan.startswith("not understood")
        why = f"nothing that is known answers it ({found.plan})" if understood else found.plan
        click.echo(clean(f"semgraph: {why}"), err=True)
    show(app, document, _answer(found))


def _answer(found: Answer) -> Iterator[str]:
    """The values, one a line; indented what they rest on, and why they are not sure."""
    from semgraph.cli.words import Dates, notes, sentence, told

    yield from (paint(clean(value), "name") for value in found.shown())
    if not found.values and found.facts:
        yield "not an answer; facts that may matter:"
    dates = Dates(found.facts)
    rows = [[f"{sentence(one)} {dates.when(one)}", told(one), ", ".join(notes(one))] for one in found.facts]
    yield from table(rows, "  ", ("dim", "dim", "doubt"))
    if found.values and not found.sure:
        rivals = "what it rests on is disputed; " if any(one.conflicted for one in found.facts) else ""
        yield paint(clean(f"  not sure: {rivals}{found.plan}"), "doubt")


@command(example="semgraph profile\nsemgraph profile --budget 200", slices=True)
@click.option("--budget", type=click.IntRange(0), default=400, show_default=True, metavar="N", help="The most tokens.")
@click.option("--touch/--no-touch", default=True, help="Whether the facts in it count as recalled.")
@pass_app
def profile(app: App, /, budget: int, *, touch: bool) -> None:
    """What always matters about you, as a block for a prompt.

    Facts about the owner of the scope under predicates of the profile, each whole, as many as fit; what
    contradicts itself comes together.
    """
    found = app.view(noting=touch).profile(budget=budget, touch=touch)
    show(app, found, str(found).splitlines(), empty="nothing of the profile is known, or it doesn't fit")


@command(example="semgraph neighbors Maya\nsemgraph neighbors Maya --hops 2 --direction any", slices=True)
@click.argument("entity", type=ENTITY)
@click.option("--hops", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="How many steps.")
@_WALK
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, metavar="N", help="The most entities."
)
@pass_app
def neighbors(app: App, /, entity: str, predicates: tuple[str, ...], **words: Any) -> None:
    """What is near something, and through which facts."""
    found = app.view().neighbors(app.name(entity), predicates=predicates or None, **words)
    rows = ([str(one.distance), one.entity.label, "; ".join(fact.label for fact in one.facts)] for one in found)
    show(
        app,
        found,
        table(rows, styles=("dim", "name", "")),
        empty="nothing is near it",
        truncated=found.truncated,
    )


@command(example="semgraph paths Maya Oslo\nsemgraph paths Maya Oslo --mode overlap --direction any", slices=True)
@click.argument("source", type=ENTITY)
@click.argument("target", type=ENTITY)
@click.option(
    "--mode",
    type=click.Choice(["snapshot", "overlap", "chronological"]),
    help="All facts hold now or at --at; all hold together at some time; each follows the one before.",
)
@click.option("--cutoff", type=click.IntRange(1, 8), default=4, show_default=True, metavar="N", help="The most facts.")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="The most paths.")
@_WALK
@pass_app
def paths(app: App, /, source: str, target: str, predicates: tuple[str, ...], **words: Any) -> None:
    """The ways from one thing to another, the shortest first."""
    found = app.view().paths(app.name(source), app.name(target), predicates=predicates or None, **words)
    lines = (line for n, one in enumerate(found) for line in (*[""] * bool(n), *_path(one)))
    show(app, found, lines, empty="no path within the cutoff", truncated=found.truncated)


def _path(path: Path) -> Iterator[str]:
    from semgraph.cli.words import Dates, about_row, sentence

    dates = Dates(path.facts)
    together = f"arriving {path.arrival}" if path.arrival is not None else f"confidence {path.confidence:.2f}"
    yield paint(clean(" > ".join(entity.label for entity in path.entities)), "name") + paint(f"  ({together})", "dim")
    rows = [[sentence(fact), *about_row(fact, dates)[1:]] for fact in path.facts]
    yield from table(rows, "  ", ("", "dim", "doubt"))


@command(example="semgraph match '?who works_at Stripe' '?who lives_in ?city'", slices=True)
@click.argument("patterns", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The most rows.")
@pass_app
def match(app: App, /, patterns: tuple[str, ...], limit: int | None) -> None:
    """Every way to make all patterns true.

    A pattern is SUBJECT PREDICATE OBJECT; a word that begins with ? is a variable, the same in all of them. Names with
    blanks are quoted inside the pattern.
    """
    triples = [(app.name(s), p, app.name(o)) for s, p, o in _patterns(patterns)]
    found = app.view().match(*triples, limit=limit)
    document = [{"values": dict(row), "interval": row.interval, "facts": row.facts} for row in found]
    show(app, document, _rows(found), empty="no match", truncated=found.truncated)


def _patterns(given: tuple[str, ...]) -> list[list[str]]:
    """Triples: each argument one, or every three arguments."""
    try:
        parts = [shlex.split(pattern) for pattern in given]
    except ValueError:
        raise click.BadParameter("a quote is not closed in a pattern", param_hint="PATTERNS") from None
    if all(len(part) == 3 for part in parts):
        return parts
    if len(given) % 3 == 0:
        return [list(given[n : n + 3]) for n in range(0, len(given), 3)]
    wrong = next(pattern for pattern, part in zip(given, parts, strict=True) if len(part) != 3)
    raise click.BadParameter(
        f"{wrong!r} is no SUBJECT PREDICATE OBJECT; quote names with blanks", param_hint="PATTERNS"
    )


def _rows(found: list[Row]) -> Iterator[str]:
    if not found:
        return
    from semgraph.cli.words import Dates

    dates = Dates()
    head = [*found[0], "from", "to"]
    rows = [
        [*(thing.label for thing in row.values()), dates.short(row.interval[0]), dates.short(row.interval[1]) or ".."]
        for row in found
    ]
    first, *rest = table([head, *rows])
    yield paint(first, "dim")
    yield from rest
