"""The command that makes claims of a conversation or a text with a language model: extract."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from semgraph.cli.app import App, command, pass_app, show
from semgraph.cli.progress import working
from semgraph.cli.text import clean, count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.conversations import Session
    from semgraph.extras.extracting import Extraction, Extractor
    from semgraph.temporal import Bound

__all__: list[str] = []

_FORMATS: Final = ("longmemeval", "locomo", "chat", "text")
_SHOWN: Final = 5


@command(
    example="semgraph extract chat.json --model gpt-4o-mini --show-rejected\n"
    "semgraph extract notes.txt --model qwen3 --base-url http://localhost:8080/v1"
)
@click.argument("path", type=click.Path())
@click.option("--model", envvar="SEMGRAPH_MODEL", help="The model, as its server calls it; else $SEMGRAPH_MODEL.")
@click.option("--base-url", metavar="URL", help="The server, up to /v1; else $OPENAI_BASE_URL, else OpenAI's.")
@click.option("--format", type=click.Choice(_FORMATS), help="What the file is; by what stands in it if left out.")
@click.option("--source", metavar="TEXT", help="Who is taken to have said what is stated; the model if left out.")
@click.option("--said-at", metavar="WHEN", help="When it was said, where the file does not tell.")
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, help="How many episodes are asked for at a time.")
@click.option("--timeout", type=click.FloatRange(1), default=300.0, help="Seconds that one episode may take.")
@click.option(
    "--prices", nargs=2, type=click.FloatRange(0), metavar="IN OUT", help="Of a million tokens, for the cost."
)
@click.option("--show-rejected", is_flag=True, help="Show what was refused, and why.")
@click.option("--dry-run", is_flag=True, help="Ask nothing, and say how much would be asked.")
@pass_app
def extract(app: App, /, path: str, model: str | None, *, show_rejected: bool, dry_run: bool, **words: Any) -> None:
    """Make claims of a text, with a language model.

    The file, a conversation or a text, is sent in episodes to a server that speaks OpenAI's chat completions; its key
    is taken from OPENAI_API_KEY. What the model answers is kept only where the sentence that it quotes says so, and
    passes the language gate. Episodes that were done before are not asked for again: run it again to go on after an
    interruption. The PATH - is standard input.
    """
    if model is None and not dry_run:
        raise click.UsageError("which model? Give --model, or set SEMGRAPH_MODEL")
    extractor = _extractor(model or "none", **words)
    graph = app.trying() if dry_run else app.graph(writing=True)
    name = "standard input" if path == "-" else Path(path).name
    episodes = extractor.episodes(*_read(app, graph, path, name, words))
    if dry_run:
        show(app, *_sized(episodes))
        return
    with working(f"extracting {clean(name)}", len(episodes)) as reach:
        report = extractor.extract(graph, episodes, progress=reach)
    if not app.json:
        _tell(report, show_rejected=show_rejected)
    show(app, _document(report), _lines(report))
    if report.failed:
        click.get_current_context().exit(1)


def _extractor(model: str, **words: Any) -> Extractor:
    from semgraph.extras.extracting import Extractor, Prices

    return Extractor(
        model,
        base_url=words["base_url"],
        source=words["source"],
        concurrency=words["concurrency"],
        timeout=words["timeout"],
        prices=Prices(*words["prices"]) if words["prices"] else None,
    )


def _read(app: App, graph: KnowledgeGraph, path: str, name: str, words: Any) -> tuple[str | list[Session], str, Any]:
    """The text or the sessions of the file, its name, and when it was said."""
    from semgraph.exchange.listening import conversation_of
    from semgraph.exchange.transcripts import reference_of

    place = sys.stdin.buffer if path == "-" else path
    given = conversation_of(place, words["format"], reference_of(graph))
    return given, name, _said(app, words["said_at"])


def _said(app: App, text: str | None) -> Bound | None:
    """When all of it was said; the error of a date that can't be read, before anything is asked."""
    from semgraph.temporal import parse_bound

    return None if text is None else parse_bound(app.when(text), timezone=app.settings.get("timezone"))


def _sized(episodes: Any) -> tuple[dict[str, int], list[str]]:
    size = sum(len(turn.text.encode()) for episode in episodes for turn in episode.turns)
    tokens = size // 4
    told = {"episodes": len(episodes), "turns": sum(len(one.turns) for one in episodes), "tokens": tokens}
    size_of_all = f"{count(len(episodes), 'episode')} of {count(told['turns'], 'turn')}"
    return told, [f"{size_of_all}: about {count(tokens, 'token')}, and 900 more with each request"]


def _lines(report: Extraction) -> Iterator[str]:
    """What was kept, then counts, then the cost."""
    from semgraph.cli.words import receipt

    for one in report.receipts:
        yield from receipt(one)
    parts = ", ".join(f"{name} {number:,}" for name, number in report.counts.items())
    yield f"{count(report.episodes, 'episode')}: {parts or 'nothing to remember'}"


def _tell(report: Extraction, *, show_rejected: bool) -> None:
    """Everything beside the data: what was refused, what failed, what it cost."""
    for sentence, one in report.rejected if show_rejected else ():
        click.echo(clean(f"rejected: {one.code} — {one.reason}: {sentence}"), err=True)
    if report.rejected and not show_rejected:
        click.echo(f"semgraph: {len(report.rejected):,} refused; --show-rejected shows them", err=True)
    if report.done_before:
        click.echo(f"semgraph: {count(report.done_before, 'episode')} had been done before", err=True)
    for ref, why in report.failed[:_SHOWN]:
        click.echo(clean(f"semgraph: no answer for {ref}: {why}"), err=True)
    if report.failed:
        click.echo(f"semgraph: {count(len(report.failed), 'episode')} failed; run it again to ask for them", err=True)
    if report.requests:
        click.echo(f"semgraph: {_cost(report)}", err=True)


def _cost(report: Extraction) -> str:
    told = f"{count(report.requests, 'request')}, {report.tokens_in:,} tokens in, {report.tokens_out:,} out"
    if report.uncounted:
        told += f" ({count(report.uncounted, 'answer')} told no number)"
    return told if report.cost is None else f"{told}, cost {report.cost:.4f}"


def _document(report: Extraction) -> dict[str, Any]:
    names = (
        "episodes", "done_before", "failed", "cut", "counts", "receipts", "rejected", "requests", "tokens_in",
        "tokens_out", "cost", "asked_as",
    )  # fmt: skip
    return {name: getattr(report, name) for name in names}
