"""The commands that look after a store: export, import, verify, stats, backup, and the demo."""

from __future__ import annotations

import sys
from collections import Counter

import click

from semgraph.cli.app import App, cli, command, pass_app
from semgraph.cli.reading import show
from semgraph.errors import SemgraphError

__all__: list[str] = []


@command(example="semgraph export notes.jsonl.gz\nsemgraph export - | wc -l", slices=True)
@click.argument("path", default="-")
@click.option("--format", type=click.Choice(["jsonl"]), help="The format; by the suffix if left out.")
@pass_app
def export(app: App, /, path: str, format: str | None) -> None:  # noqa: A002
    """Write the whole scope to a file, without loss.

    The PATH - is standard output.
    """
    from semgraph.exchange import write
    from semgraph.exchange.jsonl import write_jsonl

    view = app.view()
    if path == "-":
        write_jsonl(view, sys.stdout.buffer)
        return
    write(view, path, format=format)
    show(app, {"path": path}, [f"exported to {path}"])


@command(name="import", example="semgraph import notes.jsonl.gz\nsemgraph import claims.jsonl --source imported:crm")
@click.argument("path")
@click.option("--format", type=click.Choice(["jsonl"]), help="The format; by the suffix if left out.")
@click.option("--source", metavar="TEXT", help="Who says all of it, whatever the file says.")
@pass_app
def import_file(app: App, /, path: str, format: str | None, source: str | None) -> None:  # noqa: A002
    """Take in a file, all of it or nothing.

    PATH is an export, or has the parameters of a claim on each line; - is standard input. An export restores an empty
    scope as it was; into another one its claims come as new ones.
    """
    from semgraph.cli import text
    from semgraph.exchange import format_of, read
    from semgraph.exchange.jsonl import read_jsonl

    if path != "-":
        format_of(path, format)  # before a store is made for it
    graph = app.graph(writing=True)
    if path == "-":
        batch = read_jsonl(graph, sys.stdin.buffer, source=source)
    else:
        batch = read(graph, path, format=format, source=source)
    parts = [f"{name} {count}" for name, count in batch.counts.items()]
    parts += [f"retracted {batch.retracted}"] if batch.retracted else []
    show(app, batch, [f"{batch.total} claims: {', '.join(parts) or 'none'}"])
    if not app.json:
        for (code, reason), count in Counter((r.code, r.reason) for r in batch.rejected).items():
            times = f" ({count} times)" if count > 1 else ""
            click.echo(text.clean(f"rejected: {code} — {reason}{times}"), err=True)


@command(example="semgraph verify && echo sound")
@pass_app
def verify(app: App) -> None:
    """Compute every fact again, and compare.

    Exits with 1 on a difference.
    """
    from semgraph.cli import text

    found = app.graph().verify()
    show(app, found, [text.clean(str(problem)) for problem in found] or ["no problems"])
    if found:
        click.get_current_context().exit(1)


@command(example="semgraph purge")
@pass_app
def purge(app: App) -> None:
    """Remove the bytes that a forget had to leave."""
    app.graph(writing=True).purge()
    show(app, {"purged": True}, ["the bytes of what was forgotten are gone from the file"])


@command(example="semgraph stats")
@pass_app
def stats(app: App) -> None:
    """How much of what is stored."""
    from semgraph.cli import text

    found = app.graph().stats()
    show(app, found, text.pairs(found))


@command(example="semgraph backup notes-2024-06-01.db")
@click.argument("path")
@pass_app
def backup(app: App, /, path: str) -> None:
    """Copy the whole store while others use it."""
    app.graph().backup(path)
    show(app, {"path": path}, [f"copied to {path}"])


@command(example="semgraph demo\nsemgraph demo --keep holders.db")
@click.option("--keep", metavar="PATH", help="Keep the file here; without it, it is removed at the end.")
def demo(keep: str | None) -> None:
    """A tour on real data, in a file of its own.

    The presidents and vice presidents of the United States since 1789.
    """
    from semgraph.cli import text
    from semgraph.demo import tour

    def run(words: list[str]) -> None:
        try:
            cli.main(args=words, prog_name="semgraph", standalone_mode=False)
        except SemgraphError as error:  # some steps show one
            click.echo(f"semgraph: {text.clean(str(error))}")

    tour(run, click.echo, keep)
