"""The command that serves a graph to other programs: serve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from semgraph.cli.app import command, default_file_path, pass_app
from semgraph.cli.text import clean

if TYPE_CHECKING:
    from semgraph.cli.app import App
    from semgraph.engine import KnowledgeGraph
    from semgraph.serving.transport import Address

__all__: list[str] = []

_MEMORY: Final = "MEMORY_FILE_PATH"
_OF_HTTP: Final = ("host", "port", "expose", "names")
_SECRET: Final = "SEMGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of the variable that holds it


@command(
    example="semgraph serve\nsemgraph --db notes.db serve --http --port 8765\n"
    "MEMORY_FILE_PATH=memory.jsonl semgraph serve --compat memory"
)
@click.option("--source", metavar="TEXT", help="Who the clients speak as; tool:mcp if left out.")
@click.option("--read-only", is_flag=True, help="Offer no tool that writes.")
@click.option("--destructive", is_flag=True, help="Also retract, forget, merge, unmerge and define, in two steps.")
@click.option("--compat", type=click.Choice(["memory"]), help="Stand in for the reference memory server.")
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
    compat: str | None,
    *,
    read_only: bool,
    destructive: bool,
    rate: int,
    http: bool,
    verbose: bool,
    **place: Any,
) -> None:
    """Serve the scope to programs that speak MCP.

    Over standard input and output, for a client that starts the command itself, or with --http at
    http://127.0.0.1:8765/mcp for any number of them. Scope and source are fixed from here on. It ends when the client
    leaves, or when it is asked to (Ctrl-C).

    With --compat memory it has the tools of the reference memory server, on the file of MEMORY_FILE_PATH; what that
    file ever held is kept beside it, in memory.db for memory.jsonl, or in the file of --db.
    """
    from semgraph.serving import SOURCE, Offer, needs_extra, serve, serve_memory

    needs_extra()
    _check_together(http=http, read_only=read_only, destructive=destructive)
    address = _address(**place) if http else None
    if compat:
        if read_only or destructive:
            raise click.UsageError("--read-only and --destructive are for the tools of semgraph: not with --compat")
        path = _memory_file()
        serve_memory(path, _history(app, path, source or SOURCE), rate=rate, address=address, say=_say, verbose=verbose)
        return
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


def _check_together(*, http: bool, read_only: bool, destructive: bool) -> None:
    """A usage error for options that would be without effect, or say the opposite of each other."""
    if read_only and destructive:
        raise click.UsageError(
            "--read-only offers no tool that writes, --destructive more of them: give one of the two"
        )
    context = click.get_current_context()
    idle = [f"--{name.removesuffix('s')}" for name in _OF_HTTP if _given(context, name)]
    if idle and not http:
        raise click.UsageError(f"{' and '.join(idle)} {'is' if len(idle) == 1 else 'are'} for HTTP: give --http too")


def _given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)


def _address(host: str, port: int, names: tuple[str, ...], *, expose: bool) -> Address:
    """Where to listen; a usage error where others could reach it and nobody said that they may."""
    from semgraph.serving.transport import Address, is_loopback

    secret = os.environ.get(_SECRET) or None
    if is_loopback(host):
        return Address(host, port, names, secret)
    if not expose:
        raise click.UsageError(f"other machines could reach {host!r} and what is stored: --expose allows it")
    if secret is None:
        raise click.UsageError(f"--expose needs a secret in {_SECRET}, which clients send as bearer token")
    return Address(host, port, names or (host,), secret)


def _memory_file() -> Path:
    """The file that clients of the reference server name, else one in the user's data folder."""
    named = os.environ.get(_MEMORY)
    if named:
        return Path(named).expanduser()
    path = default_file_path().with_name("memory.jsonl")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _say(f"the memory is in {path}; {_MEMORY} names another file")
    return path


def _history(app: App, path: Path, source: str) -> KnowledgeGraph:
    """The graph that keeps what the file held: beside it, unless --db says where."""
    from semgraph.engine import KnowledgeGraph
    from semgraph.serving.memoryfile import history_of

    named = app.settings["db"]
    graph = KnowledgeGraph(
        named.value if named.origin == "--db" and named.value else history_of(path),
        scope=app.settings.get("scope") or "default",
        source=source,
        durability=app.settings.get("durability") or "full",
        config={"unregistered": "many"},
    )
    click.get_current_context().find_root().call_on_close(graph.close)
    return graph
