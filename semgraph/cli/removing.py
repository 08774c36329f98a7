"""The commands that remove for good, and that keep things out: forget, veto, purge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from semgraph.cli.app import ENTITY, PREDICATE, command, pass_app, show
from semgraph.errors import PurgePending

if TYPE_CHECKING:
    from semgraph.cli.app import App
    from semgraph.model import ForgetReport

__all__: list[str] = []


@command(example="semgraph forget --entity Bob --dry-run\nsemgraph forget --entity Bob --yes")
@click.option("--fact", metavar="ID", help="A fact, with all claims that support it.")
@click.option("--claim", metavar="ID", help="A claim.")
@click.option("--entity", metavar="NAME", type=ENTITY, help="An entity, with all that is said about it.")
@click.option("--source-ref", metavar="TEXT", help="All that a document said.")
@click.option("--everything", is_flag=True, help="The whole scope.")
@click.option("--mentions", is_flag=True, help="With --entity: also what others' words say of it.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--export-to", metavar="PATH", help="Write and check an export of the scope first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_app
def forget(app: App, /, *, yes: bool, entity: str | None, dry_run: bool, **words: Any) -> None:
    """Remove for good, from the bytes of the file too."""
    from semgraph.cli.words import forgotten

    targets = {"--entity": entity, **{f"--{name.replace('_', '-')}": words[name] for name in _TARGETS}}
    _one_of({name: value for name, value in targets.items() if value}, [*targets])
    if words["mentions"] and entity is None:
        raise click.UsageError("--mentions goes with --entity")
    graph = app.graph(writing=True)
    words |= {"entity": app.maybe_name(entity)}
    if not (yes or dry_run):
        _confirm(graph.forget(**{**words, "dry_run": True, "export_to": None}))
    report = graph.forget(**words, dry_run=dry_run)
    show(app, report, forgotten(report))
    if report.pending and not app.json:
        raise PurgePending("the bytes are not gone yet: run `semgraph purge` when nobody reads the file")


_TARGETS = ("fact", "claim", "source_ref", "everything")


def _one_of(given: dict[str, Any], known: list[str]) -> None:
    """Nothing where one target is given."""
    if len(given) != 1:
        found = f", not {' and '.join(given)}" if given else ""
        raise click.UsageError(f"say what: one of {', '.join(known[:-1])} or {known[-1]}{found}")


def _confirm(report: ForgetReport) -> None:
    from semgraph.cli.words import forgotten

    if not sys.stdin.isatty():
        raise click.UsageError("this can't be undone: look with --dry-run, then pass --yes")
    for line in forgotten(report):
        click.echo(line, err=True)
    if not click.confirm("Forget all of this for good?", err=True):
        click.echo("semgraph: nothing was forgotten", err=True)
        click.get_current_context().exit(1)


@command(example="semgraph veto --phrase 'project bluebird'\nsemgraph veto --list")
@click.option("--phrase", metavar="TEXT", help="Words that no claim may hold.")
@click.option("--entity", metavar="NAME", type=ENTITY, help="Nothing about it.")
@click.option("--predicate", metavar="NAME", type=PREDICATE, help="Nothing of this kind.")
@click.option("--lift", is_flag=True, help="Allow it again.")
@click.option("--list", "listing", is_flag=True, help="Show every veto.")
@pass_app
def veto(
    app: App, /, entity: str | None, phrase: str | None, predicate: str | None, *, lift: bool, listing: bool
) -> None:
    """Name what must never be stored, or list or lift that.

    What is stored already stays: forget removes it.
    """
    from semgraph.cli.text import clean, table

    given = {
        k: v for k, v in {"--phrase": phrase, "--entity": entity, "--predicate": predicate}.items() if v is not None
    }
    if listing:
        if given or lift:
            raise click.UsageError("--list stands alone")
        found = list(app.graph().vetoes)
        rows = [[one.kind, one.value, f"since {str(one.recorded_at)[:10]}"] for one in found]
        show(app, found, table(rows), empty="nothing is vetoed")
        return
    _one_of(given, ["--phrase", "--entity", "--predicate", "--list"])
    graph = app.graph(writing=True)
    words: dict[str, Any] = {"phrase": phrase, "entity": app.maybe_name(entity), "predicate": predicate}
    ((option, value),) = given.items()
    kind = option.removeprefix("--")
    if lift:
        graph.vetoes.lift(**words)
        show(app, {"lifted": {kind: value}}, [clean(f"lifted: the {kind} {value!r} may be stored again")])
    else:
        graph.veto(**words)
        show(
            app, {"vetoed": {kind: value}}, [clean(f"vetoed: nothing with the {kind} {value!r} is stored from now on")]
        )


@command(example="semgraph purge")
@pass_app
def purge(app: App) -> None:
    """Remove the bytes that a forget had to leave."""
    app.graph(writing=True).purge()
    show(app, {"purged": True}, ["the bytes of what was forgotten are gone from the file"])
