"""The command that serves a graph to other programs: serve."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from semgraph.cli.app import command, pass_app
from semgraph.cli.text import clean

if TYPE_CHECKING:
    from semgraph.cli.app import App
    from semgraph.serving.transport import Address

__all__: list[str] = []

_SECRET = "SEMGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of the variable that holds it


@command(example="semgraph serve\nsemgraph --db notes.db serve --http --port 8765")
@click.option("--source", metavar="TEXT", help="Who the clients speak as; tool:mcp if left out.")
@click.option("--read-only", is_flag=True, help="Offer no tool that writes.")
@click.option(
    "--destructive", is_flag=True, help="Also offer retract, forget, merge, unmerge and define, in two steps."
)
@click.option("--rate", type=click.IntRange(1), default=600, show_default=True, metavar="N", help="Calls a minute.")
@click.option("--http", is_flag=True, help="Streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, metavar="N", help="0 is any.")
@click.option("--expose", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="With --expose: a name clients use; repeatable.")
@click.option("--verbose", is_flag=True, help="Log more, to standard error.")
@pass_app
def serve(
    app: App,
    /,
    source: str | None,
    names: tuple[str, ...],
    *,
    read_only: bool,
    destructive: bool,
    rate: int,
    http: bool,
    host: str,
    port: int,
    expose: bool,
    verbose: bool,
) -> None:
    """Serve the scope to programs that speak MCP.

    Over standard input and output, for a client that starts the command itself, or with --http at
    http://127.0.0.1:8765/mcp for any number of them. Scope and source are fixed from here on. It ends when the client
    leaves, or when it is asked to (Ctrl-C).
    """
    from semgraph.serving import SOURCE, Offer, needs_extra, serve

    needs_extra()
    address = _address(host, port, names, expose=expose) if http else None
    offer = Offer(
        source=source or SOURCE,
        timezone=app.settings.get("timezone"),
        writing=not read_only,
        removing=destructive,
        rate=rate,
    )
    graph = app.graph(writing=not read_only, source=offer.source)
    serve(graph, offer, address=address, say=_say, verbose=verbose)


def _say(line: str) -> None:
    click.echo(clean(f"semgraph: {line}"), err=True)


def _address(host: str, port: int, names: tuple[str, ...], *, expose: bool) -> Address:
    """Where to listen; a usage error where others could reach it and nobody said that they may."""
    from semgraph.serving.transport import Address, is_loopback

    secret = os.environ.get(_SECRET) or None
    if is_loopback(host):
        return Address(host, port, names, secret)
    if not expose:
        raise click.UsageError(
            f"other machines could reach {host!r}, and read and write everything: --expose allows it"
        )
    if secret is None:
        raise click.UsageError(
            f"--expose needs a secret of your choice in {_SECRET}, which clients send as bearer token"
        )
    return Address(host, port, names or (host,), secret)
