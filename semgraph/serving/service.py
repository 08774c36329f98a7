"""A call from its arguments to its answer: checked, counted, made one at a time, and told without what it must not."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from semgraph.errors import SemgraphError
from semgraph.render import clean
from semgraph.serving import guide, resources
from semgraph.serving.catalogue import offered
from semgraph.serving.faults import CallRefused, told
from semgraph.serving.limits import MAX_ARGUMENTS
from semgraph.serving.mistakes import wrong_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semgraph.serving.desk import Desk
    from semgraph.serving.limits import Rate
    from semgraph.serving.outputs import Result

__all__ = ["CallFailed", "Reply", "Service", "log_failure"]

T = TypeVar("T")
_log: Final = logging.getLogger("semgraph.serving")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client is sent: a text to read, and the data unless the call failed."""

    text: str
    data: dict[str, Any] | None
    failed: bool = False


class Service:
    """The tools, resources and prompts of one graph, for any number of clients in any number of threads."""

    def __init__(self, desk: Desk, rate: Rate, *, writing: bool = True) -> None:
        self.desk = desk
        self.tools = offered(removing=desk.removing, writing=writing)
        self._rate = rate
        self._lock = threading.RLock()

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> Reply:
        """The answer of a tool; an error is one too."""
        try:
            result = self._run(lambda: self._called(name, arguments or {}))
        except CallFailed as failed:
            return Reply(str(failed), None, failed=True)
        return Reply(result.text(), result.model_dump(mode="json", exclude_defaults=True))

    def _called(self, name: str, arguments: Mapping[str, Any]) -> Result:
        tool = self.tools.get(name)
        if tool is None:
            raise CallRefused("no_tool", f"there is no tool {clean(name, 60)!r}; there are {', '.join(self.tools)}")
        if len(json.dumps(arguments)) > MAX_ARGUMENTS:
            raise CallRefused(
                "oversize", f"the arguments take more than {MAX_ARGUMENTS >> 10} KiB; send less at a time"
            )
        try:
            asked = tool.takes.model_validate(dict(arguments))
        except ValidationError as error:
            raise CallRefused("bad_arguments", wrong_arguments(error, tool.takes)) from None
        return tool.work(self.desk, asked)

    def read(self, uri: str) -> str:
        """The text of a resource; CallFailed where it can't be read."""
        return self._run(lambda: resources.text_of(self.desk, uri))

    def prompt(self, name: str) -> guide.Prompt:
        """A prompt by its name; CallFailed where there is none."""
        for prompt in guide.PROMPTS:
            if prompt.name == name:
                return prompt
        raise CallFailed("no_prompt: there is no such prompt; list them")

    def prompt_text(self, name: str) -> str:
        """The text of a prompt."""
        prompt = self.prompt(name)
        return self._run(lambda: prompt.text(self.desk))

    def completions(self, begun: str) -> list[str]:
        """Names that begin like this."""
        return self._run(lambda: resources.completions(self.desk, begun))

    def revision(self) -> object:
        """What is different after any write, of this process or another."""
        with self._lock:
            return self.desk.graph.at().known_at

    def digest(self, uri: str) -> bytes:
        """What differs when a resource does."""
        with self._lock:
            return resources.digest(self.desk, uri)

    def close(self) -> None:
        """Let the call that runs come to its end, and release the store."""
        with self._lock:
            self.desk.graph.close()

    def _run(self, work: Callable[[], T]) -> T:
        """What the work gives; CallFailed, with what may be told, where it raises anything."""
        try:
            self._rate.take()
            with self._lock:
                return work()
        except CallFailed:
            raise
        except SemgraphError as error:
            _log.info("a call was refused: %s", type(error).__name__)
            raise CallFailed(told(error)) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer and the server goes on
            log_failure(error)
            raise CallFailed(told(error)) from None


class CallFailed(Exception):
    """A call that came to nothing; the text is what the client is told."""


def log_failure(error: Exception) -> None:
    """Note the kind of an error and where it comes from: a traceback may hold what facts say."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
    _log.error("a call failed: %s", f"{type(error).__name__}{place}")
