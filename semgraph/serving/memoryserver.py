"""The drop-in for the reference memory server: its nine tools and its resource, under the same names and shapes."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from mcp import types
from mcp.server.lowlevel.server import Server
from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

import semgraph
from semgraph.errors import SemgraphError
from semgraph.exchange.memorylines import Link, Node, compact
from semgraph.render import clean
from semgraph.serving import memorygraph as ops
from semgraph.serving.faults import CallRefused, told
from semgraph.serving.limits import Rate
from semgraph.serving.mistakes import wrong_arguments
from semgraph.serving.server import following, reply_result, run_in_thread, watched
from semgraph.serving.service import CallFailed, Reply, log_failure
from semgraph.serving.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from semgraph.exchange.memorylines import Memory
    from semgraph.serving.memoryfile import MemoryFile

    Context = ServerRequestContext[Any, Any]

__all__ = ["GRAPH", "MemoryService", "build"]

GRAPH: Final = "memory://knowledge-graph"
_JSON: Final = "application/json"


class _Given(BaseModel):
    """Arguments; what is not known is left alone, as there."""

    model_config = ConfigDict(extra="ignore")


class _Entity(_Given):
    name: StrictStr
    kind: Annotated[StrictStr, Field(alias="entityType")]
    observations: list[StrictStr]


class _Relation(_Given):
    source: Annotated[StrictStr, Field(alias="from")]
    target: Annotated[StrictStr, Field(alias="to")]
    kind: Annotated[StrictStr, Field(alias="relationType")]


class _Contents(_Given):
    name: Annotated[StrictStr, Field(alias="entityName")]
    contents: list[StrictStr]


class _Observations(_Given):
    name: Annotated[StrictStr, Field(alias="entityName")]
    observations: list[StrictStr]


class Entities(_Given):
    """Of create_entities."""

    entities: list[_Entity]


class Relations(_Given):
    """Of create_relations and delete_relations."""

    relations: list[_Relation]


class Additions(_Given):
    """Of add_observations."""

    observations: list[_Contents]


class EntityNames(_Given):
    """Of delete_entities."""

    names: Annotated[list[StrictStr], Field(alias="entityNames")]


class Deletions(_Given):
    """Of delete_observations."""

    deletions: list[_Observations]


class Query(_Given):
    """Of search_nodes."""

    query: StrictStr


class Names(_Given):
    """Of open_nodes."""

    names: list[StrictStr]


class Nothing(_Given):
    """Of read_graph."""


# -- the shapes that clients are shown

_TEXT: Final = {"type": "string"}


def _texts(about: str = "") -> dict[str, Any]:
    return {"type": "array", "items": _TEXT} | ({"description": about} if about else {})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        **({"required": list(properties)} if properties else {}),
        "additionalProperties": False,
    }


def _text(about: str) -> dict[str, Any]:
    return {**_TEXT, "description": about}


def _whole(properties: Mapping[str, Any]) -> dict[str, Any]:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    return {**(_object(properties) if properties else {"type": "object", "properties": {}}), **draft}


_ENTITY: Final = _object(
    {
        "name": _text("What it is called"),
        "entityType": _text("What kind of thing it is"),
        "observations": _texts("What is known about it, one thing each"),
    }
)
_RELATION: Final = _object(
    {
        "from": _text("The entity it starts at"),
        "to": _text("The entity it leads to"),
        "relationType": _text("What the first does or is to the second, as works_at"),
    }
)
_ENTITIES: Final = {"type": "array", "items": _ENTITY}
_RELATIONS: Final = {"type": "array", "items": _RELATION}
_WHOLE_GRAPH: Final = _whole({"entities": _ENTITIES, "relations": _RELATIONS})
_DONE: Final = _whole({"success": {"type": "boolean"}, "message": _TEXT})
_RESULTS: Final = _object({"entityName": _TEXT, "addedObservations": _texts()})


@dataclass(frozen=True, slots=True)
class _Tool:
    """One of the nine."""

    title: str
    description: str
    takes: type[_Given]
    shape: dict[str, Any]
    gives: dict[str, Any]
    work: Callable[[Memory, Any], Any]
    field: str = ""  # of the result; without it the whole
    reads: bool = False
    deletes: str = ""  # what it says when done

    def hints(self) -> types.ToolAnnotations:
        """What it may do."""
        return types.ToolAnnotations(
            read_only_hint=self.reads,
            destructive_hint=bool(self.deletes),
            idempotent_hint=self.reads or bool(self.deletes),
            open_world_hint=False,
        )


def _node(one: _Entity) -> Node:
    return Node(one.name, one.kind, tuple(one.observations))


def _links(asked: Relations) -> list[Link]:
    return [Link(one.source, one.target, one.kind) for one in asked.relations]


_TOOLS: Final = {
    "create_entities": _Tool(
        "Create Entities",
        "Make entities, each with what is known about it. One that is there already is left as it is.",
        Entities,
        _whole({"entities": _ENTITIES}),
        _whole({"entities": _ENTITIES}),
        lambda memory, asked: ops.create_entities(memory, map(_node, asked.entities)),
        "entities",
    ),
    "create_relations": _Tool(
        "Create Relations",
        "Relate entities to each other, in the active voice: who works_at where.",
        Relations,
        _whole({"relations": _RELATIONS}),
        _whole({"relations": _RELATIONS}),
        lambda memory, asked: ops.create_relations(memory, _links(asked)),
        "relations",
    ),
    "add_observations": _Tool(
        "Add Observations",
        "Add what is newly known about entities that are there.",
        Additions,
        _whole(
            {
                "observations": {
                    "type": "array",
                    "items": _object(
                        {"entityName": _text("Whom or what it is about"), "contents": _texts("What is new")}
                    ),
                }
            }
        ),
        _whole({"results": {"type": "array", "items": _RESULTS}}),
        lambda memory, asked: ops.add_observations(memory, [(one.name, one.contents) for one in asked.observations]),
        "results",
    ),
    "delete_entities": _Tool(
        "Delete Entities",
        "Take entities out, with the relations that they are an end of.",
        EntityNames,
        _whole({"entityNames": _texts("Those to take out")}),
        _DONE,
        lambda memory, asked: ops.delete_entities(memory, asked.names),
        deletes="Entities deleted successfully",
    ),
    "delete_observations": _Tool(
        "Delete Observations",
        "Take observations out, each given to the letter.",
        Deletions,
        _whole(
            {
                "deletions": {
                    "type": "array",
                    "items": _object(
                        {
                            "entityName": _text("Whom or what they are about"),
                            "observations": _texts("Those to take out"),
                        }
                    ),
                }
            }
        ),
        _DONE,
        lambda memory, asked: ops.delete_observations(
            memory, [(one.name, one.observations) for one in asked.deletions]
        ),
        deletes="Observations deleted successfully",
    ),
    "delete_relations": _Tool(
        "Delete Relations",
        "Take relations out.",
        Relations,
        _whole({"relations": {**_RELATIONS, "description": "Those to take out"}}),
        _DONE,
        lambda memory, asked: ops.delete_relations(memory, _links(asked)),
        deletes="Relations deleted successfully",
    ),
    "read_graph": _Tool(
        "Read Graph",
        "All entities and relations.",
        Nothing,
        _whole({}),
        _WHOLE_GRAPH,
        lambda memory, _: ops.shown_graph(memory),
        reads=True,
    ),
    "search_nodes": _Tool(
        "Search Nodes",
        "The entities in whose name, type or observations something stands, with their relations.",
        Query,
        _whole({"query": _text("What to look for")}),
        _WHOLE_GRAPH,
        lambda memory, asked: ops.search_nodes(memory, asked.query),
        reads=True,
    ),
    "open_nodes": _Tool(
        "Open Nodes",
        "The entities of these names, with their relations.",
        Names,
        _whole({"names": _texts("What they are called")}),
        _WHOLE_GRAPH,
        lambda memory, asked: ops.open_nodes(memory, asked.names),
        reads=True,
    ),
}


class MemoryService:
    """The nine tools on one memory file."""

    def __init__(self, file: MemoryFile, rate: Rate) -> None:
        self._file = file
        self._rate = rate

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> Reply:
        """The answer of a tool; an error is one too."""
        try:
            self._rate.take()
            return self._called(name, arguments or {})
        except ops.NoEntity as error:
            return Reply(str(error), None, failed=True)
        except SemgraphError as error:
            return Reply(told(error), None, failed=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer and the server goes on
            log_failure(error)
            return Reply(told(error), None, failed=True)

    def _called(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        tool = _TOOLS.get(name)
        if tool is None:
            raise CallRefused("no_tool", f"there is no tool {clean(name, 60)!r}; there are {', '.join(_TOOLS)}")
        try:
            asked = tool.takes.model_validate(dict(arguments))
        except ValidationError as error:
            raise CallRefused("bad_arguments", wrong_arguments(error, tool.takes)) from None
        if tool.reads:
            result = tool.work(self._file.load(), asked)
            return Reply(compact(result, 2), result)
        result = self._file.change(lambda memory: tool.work(memory, asked))
        if tool.deletes:
            return Reply(tool.deletes, {"success": True, "message": tool.deletes})
        return Reply(compact(result, 2), {tool.field: result})

    def read(self, uri: str) -> str:
        """The text of the resource; CallFailed where it is another one."""
        if uri != GRAPH:
            raise CallFailed(f"no_resource: there is only {GRAPH}")
        try:
            self._rate.take()
            return compact(ops.shown_graph(self._file.load()), 2)
        except SemgraphError as error:
            raise CallFailed(told(error)) from None

    def revision(self) -> object:
        """What differs once the file was written."""
        return self._file.stamp()

    def digest(self, uri: str) -> bytes:
        """What differs once the resource does."""
        found = compact(ops.shown_graph(self._file.load())) if uri == GRAPH else ""
        return hashlib.sha256(found.encode()).digest()

    def close(self) -> None:
        """Release the history."""
        self._file.close()


def build(file: MemoryFile, rate: int) -> tuple[Server[Any], Callable[[], None]]:
    """The server of a memory file, and what closes it."""
    service = MemoryService(file, Rate(rate, time.monotonic))
    watch = Watch(service)
    subscribe, unsubscribe = following(watch, lambda uri: uri == GRAPH)

    async def list_tools(_: Context, __: Any) -> types.ListToolsResult:
        found = [
            types.Tool(
                name=name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.shape,
                output_schema=tool.gives,
                annotations=tool.hints(),
            )
            for name, tool in _TOOLS.items()
        ]
        return types.ListToolsResult(tools=found)

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return reply_result(await run_in_thread(service.call, params.name, params.arguments))

    async def list_resources(_: Context, __: Any) -> types.ListResourcesResult:
        one = types.Resource(
            uri=GRAPH,
            name="knowledge-graph",
            title="Knowledge Graph",
            description="All entities and relations.",
            mime_type=_JSON,
        )
        return types.ListResourcesResult(resources=[one])

    async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await run_in_thread(service.read, uri)
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])

    server: Server[Any] = Server(
        "semgraph-memory",
        version=semgraph.__version__,
        title="semgraph memory",
        lifespan=watched(watch),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=watch.listen,
    )
    server.middleware.clear()  # nothing of a call goes to a tracer
    return server, service.close
