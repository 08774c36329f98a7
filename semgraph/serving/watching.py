"""Who follows which resource, and telling them when it changes, whoever changed it: this process or another."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp.types import SubscriptionsListenRequestParams, SubscriptionsListenResult

__all__ = ["Followed", "Watch"]

_EVERY: Final = 0.5  # seconds between two looks at the store
_MOST: Final = 100  # resources that one client may follow


class Followed(Protocol):
    """What has resources that change."""

    def revision(self) -> object:
        """What is different after any write."""

    def digest(self, uri: str) -> bytes:
        """What is different after a resource has changed."""


class Watch:
    """The followers of the resources of a server, on any number of connections of either era of the protocol."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._sessions: dict[str, dict[int, ServerSession]] = {}  # by resource, then by connection
        self._streams: dict[str, int] = {}  # how many open streams follow a resource
        self._digests: dict[str, bytes] = {}
        self._revision: object = None

    # -- the handshake era: subscribe and unsubscribe

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """The connection of a request follows a resource from now on."""
        connection = ctx.session._connection  # noqa: SLF001 - the SDK has no other name for whom to tell
        key = id(connection)
        mine = sum(key in sessions for sessions in self._sessions.values())
        if mine >= _MOST:
            raise MCPError(INVALID_PARAMS, f"a client may follow {_MOST} resources")
        if not mine:
            connection.exit_stack.callback(self._leave, key)
        await self._begin([uri])
        self._sessions.setdefault(uri, {})[key] = ctx.session

    def unsubscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """The connection of a request follows it no longer."""
        self._leave(id(ctx.session._connection), uri)  # noqa: SLF001

    def _leave(self, key: int, *uris: str) -> None:
        """A connection no longer follows some resources, or any."""
        for uri in uris or list(self._sessions):
            followers = self._sessions.get(uri, {})
            followers.pop(key, None)
            if not followers:
                self._sessions.pop(uri, None)

    # -- the era after: one stream for all

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of changes until the client leaves."""
        uris = list(dict.fromkeys(map(str, params.notifications.resource_subscriptions or ())))
        if len(uris) > _MOST:
            raise MCPError(INVALID_PARAMS, f"a client may follow {_MOST} resources")
        await self._begin(uris)
        for uri in uris:
            self._streams[uri] = self._streams.get(uri, 0) + 1
        try:
            return await self._listen(ctx, params)
        finally:
            for uri in uris:
                self._streams[uri] -= 1
                if not self._streams[uri]:
                    del self._streams[uri]

    # -- looking

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Looks at the store from time to time, for as long as this is open."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_again)
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    async def _look_again(self) -> None:
        while True:
            await anyio.sleep(_EVERY)
            if self._wanted():
                await self.look()

    def _wanted(self) -> list[str]:
        """The resources that somebody follows."""
        return list(dict.fromkeys([*self._sessions, *self._streams]))

    async def _begin(self, uris: Iterable[str]) -> None:
        """Remember how they are now, so that only what comes later is told."""
        for uri in set(uris) - set(self._wanted()):
            self._digests[uri] = await anyio.to_thread.run_sync(self._followed.digest, uri)

    async def look(self) -> None:
        """Tell those who follow a resource that it has changed, if it has."""
        try:
            revision = await anyio.to_thread.run_sync(self._followed.revision)
            if revision == self._revision:
                return
            self._revision = revision
            wanted = self._wanted()
            for uri in self._digests.keys() - set(wanted):
                del self._digests[uri]
            found = {uri: await anyio.to_thread.run_sync(self._followed.digest, uri) for uri in wanted}
        except Exception:  # noqa: BLE001 - a store that is busy or gone is looked at again, and calls tell what is wrong
            self._revision = None
            return
        for uri, digest in found.items():
            if self._digests.get(uri) != digest:
                self._digests[uri] = digest
                await self._tell(uri)

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for key, session in list(self._sessions.get(uri, {}).items()):
            try:
                await session.send_resource_updated(uri)
            except Exception:  # noqa: BLE001 - a client that has gone
                self._leave(key)
