"""A graph for other programs: the tools, resources and prompts of an MCP server, and what carries them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcp.server.lowlevel.server import Server

    from semgraph.engine import KnowledgeGraph
    from semgraph.serving.service import Service
    from semgraph.serving.transport import Address

__all__ = ["SOURCE", "Offer", "mcp_server", "needs_extra", "serve", "serve_memory", "service_of"]

SOURCE: Final = "tool:mcp"  # who speaks where nobody has said


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server lets its clients do: who they speak as, and whether they may write, remove, and how often call."""

    source: str = SOURCE
    timezone: str | None = None
    writing: bool = True
    removing: bool = False
    rate: int = 600


def mcp_server(graph: KnowledgeGraph, offer: Offer | None = None) -> Server[Any]:
    """The MCP server of a graph, to be run on a transport of the SDK.

    Raises:
        MissingExtraError: the extra `mcp` is not installed.
    """
    return _built(graph, offer or Offer())[0]


def serve(
    graph: KnowledgeGraph,
    offer: Offer,
    *,
    address: Address | None = None,
    say: Callable[[str], None] = lambda _: None,
    verbose: bool = False,
) -> None:
    """Serve a graph until the client leaves or a signal comes, and close it: over HTTP at an address, else over stdio.

    Raises:
        MissingExtraError: the extra `mcp` is not installed.
        ConfigError: the address can't be listened at.
    """
    server, close = _built(graph, offer)
    run(server, close, address=address, say=say, verbose=verbose)


def serve_memory(
    path: Path,
    graph: KnowledgeGraph,
    *,
    rate: int = 600,
    address: Address | None = None,
    say: Callable[[str], None] = lambda _: None,
    verbose: bool = False,
) -> None:
    """Serve a memory file as the reference memory server does, with its history in a graph, until the client leaves.

    Raises:
        MissingExtraError: the extra `mcp` is not installed.
        ConfigError: the address can't be listened at.
        InputError, StoreError: the file can't be read or written.
    """
    needs_extra()
    from semgraph.serving.memoryfile import MemoryFile
    from semgraph.serving.memoryserver import build

    server, close = build(MemoryFile(path, graph, say), rate)
    run(server, close, address=address, say=say, verbose=verbose)


def run(
    server: Server[Any],
    close: Callable[[], None],
    *,
    address: Address | None,
    say: Callable[[str], None],
    verbose: bool,
) -> None:
    """Carry a server on one of the two transports until it ends."""
    from semgraph.serving.transport import log_to_stderr, run_http, run_stdio

    log_to_stderr(verbose=verbose)
    if address is None:
        run_stdio(server, close)
    else:
        run_http(server, close, address, say)


def needs_extra() -> None:
    """Nothing; MissingExtraError where the SDK is not installed."""
    try:
        import mcp.server  # noqa: F401 - asking is all
    except ImportError:
        raise MissingExtraError("serving a memory over MCP", "mcp") from None


def service_of(graph: KnowledgeGraph, offer: Offer) -> Service:
    """The tools, resources and prompts of a graph, to be called from here or carried to others.

    Whoever opened the graph speaks as they did; what comes through the service is said by the source of the offer.
    """
    from dataclasses import replace

    from semgraph.serving.desk import Desk
    from semgraph.serving.limits import Rate
    from semgraph.serving.service import Service
    from semgraph.serving.tokens import Tokens

    if graph._session.config.source != offer.source:  # noqa: SLF001 - a handle that speaks for somebody else
        graph = graph._beside(graph.scope, replace(graph._session.config, source=offer.source))  # noqa: SLF001
    desk = Desk(graph, offer.source, Tokens(time.monotonic), timezone=offer.timezone, removing=offer.removing)
    return Service(desk, Rate(offer.rate, time.monotonic), writing=offer.writing)


def _built(graph: KnowledgeGraph, offer: Offer) -> tuple[Server[Any], Callable[[], None]]:
    needs_extra()
    from semgraph.serving.server import build

    service = service_of(graph, offer)
    return build(service), service.close
