"""The MCP server: a service in the words of the protocol, which the SDK frames and carries."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp import types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

import semgraph
from semgraph.serving.guide import INSTRUCTIONS, PROMPTS
from semgraph.serving.resources import RESOURCES, TEMPLATES, known
from semgraph.serving.schemas import input_schema, output_schema
from semgraph.serving.service import CallFailed
from semgraph.serving.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.context import ServerRequestContext

    from semgraph.serving.catalogue import Tool
    from semgraph.serving.service import Reply, Service

    Context = ServerRequestContext[Any, Any]
    Listed = types.PaginatedRequestParams | None

__all__ = ["build", "following", "reply_result", "run_in_thread", "watched"]

T = TypeVar("T")
_MIME = "text/plain"
_NO_RESOURCE = "there is no such resource; list the resources and their templates"


def build(service: Service) -> Server[Any]:
    """The server of a service, to be run on a transport."""
    watch = Watch(service)
    mine = _Handlers(service)
    subscribe, unsubscribe = following(watch, known)
    server: Server[Any] = Server(
        "semgraph",
        version=semgraph.__version__,
        title="semgraph",
        instructions=INSTRUCTIONS,
        lifespan=watched(watch),
        on_list_tools=mine.list_tools,
        on_call_tool=mine.call_tool,
        on_list_resources=mine.list_resources,
        on_list_resource_templates=mine.list_templates,
        on_read_resource=mine.read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=watch.listen,
        on_list_prompts=mine.list_prompts,
        on_get_prompt=mine.get_prompt,
        on_completion=mine.complete,
    )
    server.middleware.clear()  # nothing of a call goes to a tracer
    return server


class _Handlers:
    """A method of the protocol each."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._tools = [_tool(tool) for tool in service.tools.values()]

    async def list_tools(self, _: Context, __: Listed) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return reply_result(await run_in_thread(self._service.call, params.name, params.arguments))

    async def list_resources(self, _: Context, __: Listed) -> types.ListResourcesResult:
        found = [
            types.Resource(uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type=_MIME)
            for one in RESOURCES
        ]
        return types.ListResourcesResult(resources=found)

    async def list_templates(self, _: Context, __: Listed) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(
                uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=_MIME
            )
            for one in TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await run_in_thread(self._service.read, uri)
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_MIME, text=text)])

    async def list_prompts(self, _: Context, __: Listed) -> types.ListPromptsResult:
        found = [types.Prompt(name=one.name, title=one.title, description=one.description) for one in PROMPTS]
        return types.ListPromptsResult(prompts=found)

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = await run_in_thread(self._service.prompt_text, params.name)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def complete(self, _: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        found: list[str] = []
        if isinstance(params.ref, types.ResourceTemplateReference) and params.argument.name == "entity":
            found = await run_in_thread(self._service.completions, params.argument.value)
        return types.CompleteResult(completion=types.Completion(values=found))


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.takes),
        output_schema=output_schema(tool.gives),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


# -- what other servers of this package need as well


async def run_in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """What blocking work gives; where the client leaves meanwhile, it is done to its end all the same."""
    try:
        return await anyio.to_thread.run_sync(partial(work, *arguments))
    except CallFailed as failed:
        raise MCPError(types.INVALID_PARAMS, str(failed)) from None


def reply_result(reply: Reply) -> types.CallToolResult:
    """An answer as the result of a call."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reply.text)],
        structured_content=reply.data,
        is_error=reply.failed,
    )


def watched(watch: Watch) -> Callable[[Server[Any]], Any]:
    """The lifespan of a server whose resources are watched."""

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        async with watch.running():
            yield {}

    return lifespan


def following(watch: Watch, there: Callable[[str], bool]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """How a client of the handshake era follows a resource, and no longer does; `there` says which there may be."""

    async def subscribe(ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        if not there(str(params.uri)):
            raise MCPError(types.INVALID_PARAMS, _NO_RESOURCE)
        await watch.subscribe(ctx, str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        watch.unsubscribe(ctx, str(params.uri))
        return types.EmptyResult()

    return subscribe, unsubscribe
