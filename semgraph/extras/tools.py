"""A graph as tools of a chat model: the schemas that go into a request, and what answers the calls that come back.

The form is that of OpenAI's chat completions, which most servers and libraries take. The tools are those of the MCP
server: the same arguments, checks, words and limits, without a process between.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import InputError
from semgraph.serving import Offer, service_of
from semgraph.serving.schemas import input_schema
from semgraph.serving.service import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semgraph.engine import KnowledgeGraph

__all__ = ["Toolbox"]

_CALLS_A_MINUTE: Final = 6_000
_NO_OBJECT: Final = "bad_arguments: the arguments are no JSON object; send one"


class Toolbox:
    """The tools of one graph for a chat model.

    Args:
        graph: what they read and write; its scope is no argument of any tool.
        source: who says what the model tells; `tool:agent` is trusted less than `user`.
        only: the names of the tools to offer, where not all of them.
        writing: whether to offer those that write.
        removing: whether to offer those that remove for good, each in two steps with a token.
        timezone: where dates without an offset are read.

    >>> from semgraph import KnowledgeGraph
    >>> box = Toolbox(KnowledgeGraph(), only=["add", "about"])
    >>> [schema["function"]["name"] for schema in box.schemas()]
    ['about', 'add']
    >>> told = box.dispatch("add", '{"subject": "Maya", "predicate": "lives_in", "object": "Oslo"}')
    >>> "Oslo" in box.dispatch("about", {"entity": "Maya"})
    True
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        *,
        source: str = "tool:agent",
        only: Iterable[str] | None = None,
        writing: bool = True,
        removing: bool = False,
        timezone: str | None = None,
    ) -> None:
        if isinstance(only, str):
            raise InputError(f"only is a list of names of tools, as [{only!r}]")
        offer = Offer(source, timezone, writing, removing, _CALLS_A_MINUTE)
        self._service = service_of(graph, offer)
        wanted = set(self._service.tools) if only is None else set(only)
        if unknown := wanted - self._service.tools.keys():
            raise InputError(f"there are no tools {sorted(unknown)}; there are {', '.join(self._service.tools)}")
        self._service.tools = {name: tool for name, tool in self._service.tools.items() if name in wanted}

    def schemas(self) -> list[dict[str, Any]]:
        """The tools as a request wants them: `client.chat.completions.create(…, tools=box.schemas())`."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": input_schema(tool.takes),
                },
            }
            for tool in self._service.tools.values()
        ]

    def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> Reply:
        """The answer of a tool: `.text` for the model, `.data` for a program; `.failed` where it came to nothing."""
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except (ValueError, RecursionError):
                return Reply(_NO_OBJECT, None, failed=True)
        if arguments is not None and not isinstance(arguments, dict):
            return Reply(_NO_OBJECT, None, failed=True)
        return self._service.call(str(name), arguments)

    def dispatch(self, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """The text that answers a call; a call that came to nothing is told in words too, never raised.

        `arguments` are as the model gave them: the text of a JSON object, or that object.
        """
        reply = self.call(name, arguments)
        return f"error: {reply.text}" if reply.failed else reply.text

    def answers(self, calls: Iterable[Any]) -> list[dict[str, Any]]:
        """The messages that answer the tool calls of a reply, one for each, as objects of the SDK or plain ones."""
        found = []
        for call in calls:
            function = _of(call, "function")
            content = self.dispatch(_of(function, "name"), _of(function, "arguments"))
            found.append({"role": "tool", "tool_call_id": _of(call, "id"), "content": content})
        return found


def _of(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
