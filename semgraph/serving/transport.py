"""How a server meets its clients: over standard input and output, or HTTP on this machine; and how it stops."""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from semgraph.errors import ConfigError
from semgraph.serving.limits import MAX_ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from mcp.server.lowlevel.server import Server

    Asgi = Callable[[Any, Any, Any], Awaitable[None]]

__all__ = ["Address", "is_loopback", "log_to_stderr", "run_http", "run_stdio"]

PATH: Final = "/mcp"
_GRACE: Final = 2  # seconds for what is being answered when the server stops
_MAX_BODY: Final = 2 * MAX_ARGUMENTS
_MAX_SESSIONS: Final = 200
_IDLE: Final = 1800.0
_BACKLOG: Final = 128
_log: Final = logging.getLogger("semgraph.serving")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, by which names clients may come, and what they must show."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    secret: str | None = None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# -- standard input and output


def run_stdio(server: Server[Any], close: Callable[[], None]) -> None:
    """Serve the one client at the other end of standard input and output, until it leaves or a signal comes."""
    anyio.run(_stdio, server, close)
    close()


async def _stdio(server: Server[Any], close: Callable[[], None]) -> None:
    async with anyio.create_task_group() as group:
        if os.name == "posix":  # elsewhere the client ends the process
            group.start_soon(_stop_on_signal, close)
        try:
            async with stdio_server() as (incoming, outgoing):
                calls = _OpenCalls(close)
                told = _Told(outgoing, calls)
                heard = _Heard(incoming, calls, told)
                await server.run(heard, told, server.create_initialization_options())
        except* (anyio.BrokenResourceError, BrokenPipeError, ConnectionError):
            _log.info("the client has gone")
        group.cancel_scope.cancel()


class _OpenCalls:
    """The requests that are not answered yet."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._ids: set[object] = set()
        self._changed = anyio.Event()

    def note(self, item: object) -> None:
        """A message went one way or the other."""
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._done(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._done((message.params or {}).get("requestId"))

    def _done(self, call: object) -> None:
        self._ids.discard(call)
        self._changed.set()

    async def answered(self) -> None:
        """Wait until none is open; end the process if that takes too long, as where nobody reads the answers."""
        with anyio.move_on_after(_GRACE) as waiting:
            while self._ids:
                self._changed = anyio.Event()
                await self._changed.wait()
        if waiting.cancelled_caught:
            await _leave(self._close)


class _Stream:
    """One way of a connection."""

    def __init__(self, stream: Any, calls: _OpenCalls) -> None:
        self._stream = stream
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> Any:
        return await self._stream.__aexit__(*raised)


class _Heard(_Stream):
    """What a client says. It ends once all is answered: who sends a few lines and no more gets the answers to them.

    A line that can't be read is answered too, or the client would wait for that for ever.
    """

    def __init__(self, stream: Any, calls: _OpenCalls, told: _Told) -> None:
        super().__init__(stream, calls)
        self._told = told

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> Any:
        """The next message."""
        while True:
            try:
                item = await self._stream.receive()
            except anyio.EndOfStream:
                await self._calls.answered()
                raise
            if not isinstance(item, Exception):
                self._calls.note(item)
                return item
            if (refusal := _refusal(item)) is not None:
                await self._told.send(SessionMessage(refusal))


def _refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that the SDK could not read; None to one with nothing on it."""
    details = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    line = details[0]["input"] if details else ""
    if isinstance(line, str) and details and not line.strip():
        return None
    read: object = line
    with suppress(ValueError, RecursionError):
        read = json.loads(line) if isinstance(line, str) else line
    call = read.get("id") if isinstance(read, dict) else None
    code, why = PARSE_ERROR, "this line is no JSON, or holds half a character (a lone surrogate)"
    if details and details[0]["type"] != "json_invalid":
        code, why = INVALID_REQUEST, "this line is no message of JSON-RPC 2.0"
    known = call if isinstance(call, (int, str)) and not isinstance(call, bool) and str(call).isprintable() else None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=why))


class _Told(_Stream):
    """What a client is told."""

    async def send(self, item: Any) -> None:
        """Send a message."""
        await self._stream.send(item)
        self._calls.note(item)


async def _stop_on_signal(close: Callable[[], None]) -> None:
    """End the process at once when asked to: the thread that waits for standard input can't be woken."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            await _leave(close)


async def _leave(close: Callable[[], None]) -> None:
    with anyio.move_on_after(_GRACE, shield=True):
        await anyio.to_thread.run_sync(close, abandon_on_cancel=True)
    os._exit(0)


# -- HTTP


def run_http(server: Server[Any], close: Callable[[], None], address: Address, say: Callable[[str], None]) -> None:
    """Serve any number of clients over streamable HTTP until a signal comes; `say` is told where.

    Raises:
        ConfigError: the address can't be listened at.
    """
    import uvicorn

    listener = _listening(address.host, address.port)
    host, port = listener.getsockname()[:2]
    app: Asgi = server.streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        max_request_body_size=_MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE,
        transport_security=_security(address),
    )
    if address.secret is not None:
        app = _Guard(app, address.secret)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=_GRACE, lifespan="on"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # uvicorn raises what it has caught once more when it is done
    say(f"listening at http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
    try:
        _quietly_leaving(uvicorn.Server(config)).run(sockets=[listener])
    finally:
        close()


def _quietly_leaving(server: Any) -> Any:
    """The server, which says nothing of the streams that it cuts off when it is asked to stop."""
    leave = server.handle_exit

    def handle_exit(number: int, frame: Any) -> None:
        logging.getLogger("uvicorn.error").disabled = True
        leave(number, frame)

    server.handle_exit = handle_exit
    return server


def _listening(host: str, port: int) -> socket.socket:
    """A socket at the address, which takes connections before they are answered."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"can't listen at port {port} of {host!r}: {reason}") from None


def _security(address: Address) -> TransportSecuritySettings:
    """By which names a client may come: a page in a browser must not reach the server by one of its own."""
    names = ["127.0.0.1", "localhost", "[::1]"] if is_loopback(address.host) else []
    hosts = [f"{name}{port}" for name in [*names, *address.names] for port in ("", ":*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )


class _Guard:
    """Lets a request through that shows the secret."""

    def __init__(self, app: Asgi, secret: str) -> None:
        self._app = app
        self._wanted = f"Bearer {secret}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer 401 to the others."""
        if scope["type"] == "http":
            shown = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(shown, self._wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"a bearer token is needed"})
                return
        await self._app(scope, receive, send)


# -- the log


class _Discreet(logging.Formatter):
    """What happened and where, without what it happened to: arguments and tracebacks may hold what facts say."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        ours = record.name.startswith("semgraph")
        message = record.getMessage() if ours else str(record.msg)
        kind = record.exc_info[0] if record.exc_info else None
        more = "" if kind is None else f" ({kind.__name__})"
        return f"semgraph serve: {record.levelname.lower()}: {' '.join(message.split())[:300]}{more}"


def log_to_stderr(*, verbose: bool) -> None:
    """All logs of the process go to standard error from now on; a client may read standard output."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Discreet())
    logging.basicConfig(handlers=[handler], level=logging.INFO if verbose else logging.WARNING, force=True)
