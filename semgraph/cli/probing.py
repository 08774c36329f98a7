"""The command that puts a file of probes to a memory: probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from semgraph.cli.app import command, pass_app, show
from semgraph.cli.text import clean, count, folded, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.cli.app import App
    from semgraph.engine import KnowledgeGraph
    from semgraph.probing.running import ProbeReport, Share

__all__ = ["FORMAT"]

FORMAT: Final = """\
FILE is YAML (.yaml, .yml) with these sections, or JSON lines (.jsonl) with one
entry a line. A fact is [subject, predicate, object], or has these names.

  facts:           # what the memory should hold: the parameters of `add`
    - [Maya, speaks, Greek]
    - {subject: Maya, predicate: works_at, object: Linear, valid_from: 2024-06}
    - {subject: Maya, predicate: lives_in, object: Oslo, scope: home}

  contradictions:  # what must come back together, asked for by `question`
    - sides: [[Maya, lives_in, Oslo], [Maya, lives_in, Bergen]]

  questions:
    - question: Where did Maya work?
      at: 2022                                  # now if left out
      scope: default                            # that of --scope if left out
      facts: [[Maya, works_at, Stripe]]         # must come back
      answer: Stripe                            # of `ask`; [] for none
      stale: [[Maya, works_at, Acme]]           # no longer holds
      forbidden:                                # must never come back
        - {subject: Maya, predicate: lives_in, object: Oslo, scope: home}

All but numbers, true, false and null is text, dates too. Of what is measured

  recall@k    is the share of `facts` in the first k hits, in the mean
  answers     the share of right ones, where an `answer` is given
  staleness   the share of probes that were given what no longer holds
  conflicts   the share of contradictions of which all sides came back
  leaks       the share of probes that were given what is forbidden, or a fact
              of another scope
  facts       the share of those told that the memory has

The exit status is 1 if anything leaked; with --strict if anything fell short.
The store is only read; with --load it is left alone, and the facts of FILE
are told to a memory that is gone at the end."""

_HIGH: Final = (("facts", "facts"), ("recall", "recall@{}"), ("answers", "answers"), ("conflicts", "conflicts"))
_LOW: Final = (("staleness", "staleness"), ("leaks", "leaks"))


@command(example="semgraph probe probes.yaml\nsemgraph probe examples/probes.yaml --load", slices=True)
@click.argument("file", type=click.Path())
@click.option("--limit", type=click.IntRange(1), default=6, show_default=True, metavar="K", help="Hits for a question.")
@click.option("--load", is_flag=True, help="Tell the facts of FILE to a memory of its own, and ask that.")
@click.option("--strict", is_flag=True, help="Exit with 1 also where something else than a leak falls short.")
@pass_app
def probe(app: App, /, file: str, *, limit: int, load: bool, strict: bool) -> None:
    """Check a memory by probes of your own.

    FILE has facts, contradictions and questions in YAML or JSON lines (`semgraph help probe`). Any leak exits with 1.
    """
    from semgraph import probing

    probes = probing.read_probes(file)
    graph = _own(app) if load else app.graph()
    if load:
        probing.load(graph, probes)
    found = probing.probe(graph, probes, limit=limit, at=app.when(app.at), known_at=app.when(app.known_at))
    show(app, _document(found), _lines(found))
    if found.leaks.sum or (strict and found.shortfalls):
        click.get_current_context().exit(1)


def _own(app: App) -> KnowledgeGraph:
    """A graph in memory, with the settings of the command."""
    from semgraph.engine import KnowledgeGraph

    graph = KnowledgeGraph(
        scope=app.settings.get("scope") or "default",
        source=app.settings.get("source") or "user",
        timezone=app.settings.get("timezone"),
    )
    click.get_current_context().call_on_close(graph.close)
    return graph


def _document(found: ProbeReport) -> dict[str, object]:
    figures = {name: getattr(found, name).value for name, _ in (*_HIGH, *_LOW)}
    return {"probes": found.probes, "limit": found.limit, **figures, "shortfalls": found.shortfalls}


def _lines(found: ProbeReport) -> Iterator[str]:
    """What fell short, then the figures."""
    for short in found.shortfalls:
        yield from folded(clean(f"line {short.line}, {short.kind}: {short.probe} — {short.what}"), "    ")
    if found.shortfalls:
        yield ""
    yield f"{count(found.probes, 'probe')}, {count(len(found.shortfalls), 'shortfall')}"
    rows = [(name.format(found.limit), getattr(found, key), "") for key, name in _HIGH]
    rows += [(name, getattr(found, key), "should be 0") for key, name in _LOW]
    yield from table([[name, *_figure(share), note] for name, share, note in rows], "  ", ("", "name", "dim", "dim"))


def _figure(share: Share) -> tuple[str, str]:
    return ("-" if share.value is None else f"{share.value:.3f}"), f"of {share.of:,}"
