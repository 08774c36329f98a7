"""The commands that look after a store: export, import, verify, stats, backup, reembed, recover."""

from __future__ import annotations

import sys
from itertools import repeat
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import click

from semgraph.cli.app import App, command, pass_app, show
from semgraph.cli.phrasing import command_words
from semgraph.cli.progress import working
from semgraph.cli.text import clean, count, folded
from semgraph.errors import StoreCorrupt
from semgraph.exchange import READABLE, WRITABLE, accepted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from semgraph.model import Batch
    from semgraph.recovering import Recovery
    from semgraph.view import GraphView

__all__: list[str] = []

_READS: Final = f"{', '.join(READABLE[:-1])} or {READABLE[-1]}"


@command(
    example="semgraph export notes.jsonl.gz\nsemgraph export --at 2024 notes.gexf\n"
    "semgraph export --from 2020 --to 2024 notes.graphml.gz",
    slices=True,
)
@click.argument("path", type=click.Path(), default="-")
@click.option("--format", type=click.Choice(accepted(WRITABLE)), help="The format; by the suffix if left out.")
@click.option("--at", metavar="WHEN", help="What held then; what held at any time if left out.")
@click.option("--from", "start", metavar="WHEN", help="What held in that year, month or day, or from then until --to.")
@click.option("--to", "end", metavar="WHEN", help="What held before then.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@pass_app
def export(app: App, /, path: str, format: str | None, *, force: bool, **times: str | None) -> None:  # noqa: A002
    """Write the scope to a file.

    JSON lines (.jsonl) hold all of it and lose nothing. The other formats hold facts as nodes and edges: GraphML, GEXF
    for the timeline of Gephi, CSV with its nodes in a second file, JSON for networkx and d3, Parquet, and RDF as
    N-Quads (.nq) or TriG. The PATH - is standard output.
    """
    from semgraph.exchange import format_of, write
    from semgraph.exchange.graph import most_facts

    kind = "jsonl" if path == "-" and format is None else format_of(path, format, WRITABLE)
    view = _slice(app, kind, **times)
    if path == "-":
        write(view, sys.stdout.buffer, format=kind)
        _tell_if_unwritten(view)
        return
    if not (force or _is_the_store(app, path)):
        _ask_to_replace(path)
    with working(f"writing {clean(path)}", most_facts(view)) as reach:
        write(view, path, format=kind, progress=reach)
    show(app, {"path": path}, [clean(f"exported to {path}")])
    _tell_if_unwritten(view)


def _tell_if_unwritten(view: GraphView) -> None:
    """Say so where nobody ever wrote to the scope: its name may be misspelt, and the file looks like an export."""
    with view.reading() as reader:
        unwritten = reader.session.store.scope(reader.session.scope) is None
    if unwritten:
        click.echo(f"semgraph: nothing was ever written to the scope {clean(repr(view.scope))}", err=True)


def _slice(app: App, kind: str, at: str | None, start: str | None, end: str | None) -> GraphView:
    """The graph as it is to be written: at an instant, over a window, or over all time."""
    if at is not None and app.at is not None:
        raise click.UsageError("--at stands before the command and after it; give it once")
    at = app.at if at is None else at
    if at is not None and (start is not None or end is not None):
        raise click.UsageError("--at is one instant, --from and --to are a window; give one of the two")
    known_at = app.when(app.known_at)
    if at is not None:
        return app.graph().at(app.when(at), known_at=known_at)
    if start is not None or end is not None or (app.known_at is not None and kind != "jsonl"):
        return app.graph().during(app.when(start), app.when(end), known_at=known_at)
    return app.view()


def _is_the_store(app: App, path: str) -> bool:
    """Whether the path leads to the store itself, which is refused whatever is answered."""
    own = app.graph().path
    try:
        return own is not None and own.samefile(path)
    except (OSError, ValueError):
        return False


def _ask_to_replace(path: str) -> None:
    try:
        there = Path(path).is_file()
    except ValueError:  # a NUL in it, in older versions of Python
        there = False
    if not there:
        return
    shown = clean(path)
    if not sys.stdin.isatty():
        raise click.UsageError(f"{shown!r} exists already; --force replaces it")
    if not click.confirm(f"{shown} exists already. Replace it?", err=True):
        click.echo("semgraph: nothing was exported", err=True)
        click.get_current_context().exit(1)


@command(
    name="import",
    example="semgraph import notes.jsonl.gz\nsemgraph import claims.jsonl --source imported:crm\n"
    "semgraph import memory.jsonl --dry-run",
)
@click.argument("path", type=click.Path())
@click.option(
    "--format", type=click.Choice(accepted(READABLE)), metavar="NAME", help=f"{_READS}; by the suffix if left out."
)
@click.option("--source", metavar="TEXT", help="Who says all of it, whatever the file says.")
@click.option(
    "--unregistered",
    type=click.Choice(["many", "one", "flag"]),
    default="many",
    help="Of a file of another tool: how many values a predicate takes that nobody has defined.",
)
@click.option("--strict/--no-strict", default=True, help="Refuse what its schema does not allow.")
@click.option("--dry-run", "--preview", is_flag=True, help="Say what would be done, and write nothing.")
@pass_app
def import_file(app: App, /, path: str, format: str | None, *, dry_run: bool, **words: Any) -> None:  # noqa: A002
    """Take in a file, in one step.

    A file that can't be read to its end changes nothing. A claim that is refused is left out, told with its line, and
    kept for `semgraph rejected`; the others are taken in, and the exit status is 1.

    JSON lines are an export, or have the parameters of a claim on each line. An export restores an empty scope as it
    was; into another one its claims come as new ones. Files of other memories are told by what stands in them:
    memory.jsonl of the MCP memory server, answers of mem0, conversations as LongMemEval, LoCoMo and chat programs keep
    them; .md and .txt are notes. Other files are graphs, whose nodes become entities and whose edges become claims. The
    PATH - is standard input.
    """
    from semgraph.exchange import format_of, read

    if path != "-":
        format_of(path, format)  # before a store is made for it
    graph = app.trying() if dry_run else app.graph(writing=True)
    words["dry_run"] = dry_run
    with working(f"reading {'standard input' if path == '-' else clean(path)}"):
        if path == "-":
            batch = read(graph, sys.stdin.buffer, format=format or "jsonl", **words)
        else:
            batch = read(graph, path, format=format, **words)
    met = ", ".join(f"{clean(name)} {times:,}" for name, times in batch.predicates.items())
    show(app, batch, [_counted(batch), *([f"predicates: {met}"] if met else [])])
    if not app.json:
        beside = [clean(f"semgraph: {command_words(note)}") for note in batch.notes]
        beside += ["semgraph: nothing was written"] if dry_run else []
        for line in [*beside, *_refusals(batch)]:
            click.echo(line, err=True)
    if batch.rejected:
        click.get_current_context().exit(1)


def _refusals(batch: Batch) -> Iterator[str]:
    """A line for each reason, with how often it was met and, where the file has a claim on each line, on which."""
    found: dict[tuple[str | None, str | None], list[int]] = {}
    for one, line in zip(batch.rejected, batch.rejected_at or repeat(0), strict=False):
        found.setdefault((one.code, one.reason), []).append(line)
    for (code, reason), lines in found.items():
        told = [f"{len(lines)} times"] if len(lines) > 1 else []
        if all(lines):
            named = list(dict.fromkeys(lines))
            more = f" and {len(named) - _SHOWN:,} more" if len(named) > _SHOWN else ""
            told.append(f"line{'s' if len(named) > 1 else ''} {', '.join(map(str, named[:_SHOWN]))}{more}")
        yield clean(f"rejected: {code} — {reason}" + (f" ({': '.join(told)})" if told else ""))


_SHOWN: Final = 10


def _counted(batch: Batch) -> str:
    parts = [f"{name} {count:,}" for name, count in batch.counts.items()]
    parts += [f"retracted {batch.retracted:,}"] if batch.retracted else []
    return f"{batch.total:,} claim{'' if batch.total == 1 else 's'}: {', '.join(parts) or 'none'}"


@command(example="semgraph verify && echo sound")
@pass_app
def verify(app: App) -> None:
    """Compute every fact again, and compare.

    Exits with 1 on a difference.
    """
    try:
        graph = app.graph()
        with working("computing every fact again"):
            found = graph.verify()
    except StoreCorrupt as error:
        if "`semgraph verify`" not in str(error):  # it is no store at all
            raise
        raise StoreCorrupt(
            "the store is too damaged to be compared, or another program wrote to its file: "
            "save all that is whole with `semgraph recover DAMAGED NEW`, or go back to a backup"
        ) from None
    show(app, found, [clean(str(problem)) for problem in found] or ["no problems"])
    if found:
        click.get_current_context().exit(1)


@command(example="semgraph stats")
@pass_app
def stats(app: App) -> None:
    """How much of what is stored."""
    from semgraph.cli.text import pairs

    found = app.graph().stats()
    show(app, found, pairs({name.replace("_", " "): value for name, value in found.items() if value != {}}))


@command(example="semgraph backup notes-2024-06-01.db")
@click.argument("path", type=click.Path())
@pass_app
def backup(app: App, /, path: str) -> None:
    """Copy the whole store while others use it."""
    graph = app.graph()
    with working(f"copying to {clean(path)}"):
        graph.backup(path)
    show(app, {"path": path}, [clean(f"copied to {path}")])


@command(example="semgraph reembed")
@pass_app
def reembed(app: App) -> None:
    """Make vectors that are missing or of another model.

    They are what recall by meaning compares. What was interrupted goes on where it stopped. The table that ships with
    semgraph needs no stored vectors.
    """
    graph = app.graph(noting=True)  # writes to a file that is there, and makes none
    with working("making vectors", graph.stats()["claims"]) as reach:
        made = graph.reembed(progress=lambda done, _: reach(done))
    show(app, {"made": made}, [count(made, "vector") + " made"])


@command(example="semgraph recover damaged.db saved.db")
@click.argument("damaged", type=click.Path())
@click.argument("path", type=click.Path())
@pass_app
def recover(app: App, /, damaged: str, path: str) -> None:
    """Save what can be read of a damaged file.

    Every claim of DAMAGED that is as it was written goes to the new file PATH, and the facts are computed again.
    DAMAGED is only read. What is lost is counted.
    """
    from semgraph.recovering import recover as rescue

    if Path(path).is_dir():
        path = str(Path(path) / Path(damaged).name)
    with working(f"reading {clean(damaged)}"):
        found = rescue(damaged, path)
    show(app, found, _recovered(found, path))
    if not found.whole:
        click.get_current_context().exit(1)


def _recovered(found: Recovery, path: str) -> Iterator[str]:
    """What was saved and what is lost."""
    lost = dict(found.lost)
    lost["claim"] = max(lost.get("claim", 0), len(found.claims))
    yield from folded(clean(f"saved to {path}: {_rows(found.saved) or 'nothing'}"))
    parts = [_rows({name: number for name, number in lost.items() if name not in found.unknown})]
    parts += [f"at least {_rows({name: lost[name]})}" for name in found.unknown if lost.get(name)]
    parts += [f"an unknown number of {_several(name)}" for name in found.unknown if not lost.get(name)]
    yield from folded(f"lost: {', '.join(filter(None, parts)) or 'nothing that is known of'}")
    for name in found.renamed:
        yield clean(f"a scope whose name is lost is now {name!r}: semgraph --db {quote(path)} --scope {name} stats")
    if found.made_again:
        yield f"named again from what claims say: {count(found.made_again, 'entity')}"
    yield from (clean(f"still wrong: {problem}") for problem in found.problems)


def _rows(rows: Mapping[str, int]) -> str:
    return ", ".join(count(number, _NOUNS.get(name, name)) for name, number in rows.items() if number)


def _several(name: str) -> str:
    return count(2, _NOUNS.get(name, name)).partition(" ")[2]


_NOUNS = {
    "scope": "name of a scope",
    "alias": "name",
    "redirect": "merge",
    "apart": "pair kept apart",
    "compat": "decision to keep both",
    "declared": "declaration",
    "veto": "veto",
    "rejected": "refusal",
    "tombstone": "mark of a forgetting",
}
