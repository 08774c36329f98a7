"""A language model behind a server that speaks OpenAI's chat completions, asked for JSON in a way that it can give."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from semgraph.errors import ConfigError, EndpointError, MissingExtraError
from semgraph.extras.finding import claims_in
from semgraph.extras.prompting import SCHEMA, messages

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from semgraph.extras.episodes import Episode
    from semgraph.extras.finding import Found

__all__ = ["RUNGS", "Endpoint", "Reply", "Usage"]

Rung = Literal["json_schema", "json_object with schema", "json_object", "text"]
#: The ways to ask for JSON, best first: a server refuses what it can't do, or fails on it.
RUNGS: Final[tuple[Rung, ...]] = ("json_schema", "json_object with schema", "json_object", "text")
_FORMATS: Final[dict[Rung, dict[str, Any]]] = {
    "json_schema": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "claims", "strict": True, "schema": SCHEMA}}
    },
    "json_object with schema": {"response_format": {"type": "json_object", "schema": SCHEMA}},
    "json_object": {"response_format": {"type": "json_object"}},
    "text": {},
}
_TRIES: Final = 2  # of an answer that is no JSON, though the server can


@dataclass(slots=True)
class Usage:
    """Tokens as the server counts them, and requests, of which some may not have told."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0

    def take(self, usage: Any) -> None:
        """Add what one answer says."""
        self.requests += 1
        told = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
        if not all(isinstance(number, int) for number in told):
            self.uncounted += 1
            return
        self.tokens_in += told[0] or 0
        self.tokens_out += told[1] or 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What was found in an answer, and whether the answer was cut off."""

    found: Found
    cut: bool


@dataclass(slots=True)
class Endpoint:
    """One model on one server. How it can be asked for JSON is found out with the first request, and remembered.

    Args:
        model: its name there.
        base_url: where, up to and with `/v1`; OPENAI_BASE_URL or OpenAI's own server if left out.
        api_key: the key; OPENAI_API_KEY if left out. A server of your own needs none.
        retries: how often to try again after a 429, a failure of the server or of the connection. `Retry-After` is
            heeded up to two minutes.
        timeout: seconds that one episode may take, waiting and retries included, however slowly the answer drips in.
        max_tokens: the most tokens of an answer.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    retries: int = 4
    timeout: float = 300.0
    max_tokens: int = 4096
    usage: Usage = field(default_factory=Usage)
    _rung: int = 0
    _sure: bool = False
    _client: Any = None
    _first: Any = None
    _extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._extra = {"temperature": 0, "max_tokens": self.max_tokens}

    @property
    def rung(self) -> Rung:
        """How it is asked for JSON."""
        return RUNGS[self._rung]

    async def __aenter__(self) -> Self:
        openai = _library()
        key = self.api_key or os.environ.get("OPENAI_API_KEY")
        if not key and (self.base_url or os.environ.get("OPENAI_BASE_URL")):
            key = "none"  # a server of one's own; the library insists on something
        if not key:
            raise ConfigError("no key: set OPENAI_API_KEY, or name a server of your own with base_url")
        try:
            self._client = openai.AsyncOpenAI(
                api_key=key, base_url=self.base_url, max_retries=self.retries, timeout=self.timeout
            )
        except (openai.OpenAIError, ValueError) as error:
            raise ConfigError(f"can't reach a model so: {error}") from None
        self._first = asyncio.Lock()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def ask(self, episode: Episode) -> Reply:
        """What the model says of an episode.

        Raises:
            EndpointError: no answer; `.fatal` where no other request would get one either.
        """
        if self._sure:
            return await self._timed(episode)
        async with self._first:  # one finds out, the others wait
            return await self._timed(episode)

    async def _timed(self, episode: Episode) -> Reply:
        try:
            async with asyncio.timeout(self.timeout):
                return await (self._known(episode) if self._sure else self._probe(episode))
        except TimeoutError:
            raise EndpointError(f"no whole answer within {self.timeout:g} seconds") from None

    async def _known(self, episode: Episode) -> Reply:
        for _ in range(_TRIES):
            reply = await self._send(episode, self.retries)
            if reply.found.json:
                return reply
        raise EndpointError("the answer is no JSON")

    async def _probe(self, episode: Episode) -> Reply:
        """The answer by the best way to ask that works."""
        while True:
            last = self.rung == RUNGS[-1]
            try:
                reply = await self._send(episode, self.retries if last else 0)
            except EndpointError as error:
                if error.busy and not last:  # says nothing about the way to ask
                    reply = await self._send(episode, self.retries)
                elif error.fatal or last or error.status not in _REFUSALS:
                    raise
                else:
                    self._rung += 1
                    continue
            if reply.found.json:
                self._sure = True
                return reply
            if last:
                raise EndpointError("the answer is no JSON")
            self._rung += 1

    async def _send(self, episode: Episode, retries: int) -> Reply:
        openai = _library()
        asked = messages(episode, schema=self.rung != "json_schema")
        client = self._client.with_options(max_retries=retries)
        while True:
            extra, body = _split(_FORMATS[self.rung])
            try:
                answer = await client.chat.completions.create(
                    model=self.model, messages=asked, **body, **self._extra, extra_body=extra
                )
            except openai.APIStatusError as error:
                if self._without(str(error)):
                    continue
                raise _status_error(error, self.model) from None
            except openai.APIConnectionError as error:
                why = "takes too long to answer" if isinstance(error, openai.APITimeoutError) else "can't be reached"
                cause = f": {error.__cause__}" if error.__cause__ else ""
                raise EndpointError(f"{client.base_url} {why}{cause}", fatal="reached" in why, busy=True) from None
            except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
                raise EndpointError(f"the server's answer is no chat completion: {error}") from None
            return self._read(answer)

    def _without(self, message: str) -> bool:
        """Leave out, or name as newer models want it, an option that the server refuses; whether there was one."""
        if "max_completion_tokens" in message and "max_tokens" in self._extra:
            self._extra["max_completion_tokens"] = self._extra.pop("max_tokens")
            return True
        for name in ("temperature", "max_tokens"):
            if name in message and name in self._extra:
                del self._extra[name]
                return True
        return False

    def _read(self, answer: Any) -> Reply:
        self.usage.take(getattr(answer, "usage", None))
        choices = getattr(answer, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(choice, "message", None)
        text = getattr(message, "content", None)
        if isinstance(getattr(message, "refusal", None), str) and not text:
            return Reply(claims_in('{"claims": []}'), cut=False)
        found = claims_in(text if isinstance(text, str) else "")
        cut = not found.whole or getattr(choice, "finish_reason", None) == "length"
        return Reply(found, cut)


_REFUSALS: Final = frozenset([400, 415, 422, 500, 501, 502, 503])


def _library() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtraError("extraction by a language model", "llm") from None
    return openai


def _split(options: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What the library sends unseen, and what it knows: a schema in `json_object` is an invention of small servers."""
    shape = options.get("response_format", {})
    if "schema" in shape:
        return dict(options), {}
    return None, dict(options)


def _status_error(error: Any, model: str) -> EndpointError:
    """A refusal in words: what was wrong, and what to do."""
    status = error.status_code
    said = " ".join(str(getattr(error, "message", "")).split())[:300]
    if status in (401, 403):
        return EndpointError(f"the server refuses the key ({status}): set OPENAI_API_KEY to a valid one", fatal=True)
    if status == 404 and "model" in said.lower():
        return EndpointError(f"the server has no model {model!r}: {said}", fatal=True, status=status)
    if status == 404:
        where = error.request.url
        return EndpointError(f"there are no chat completions at {where}; a base URL ends in /v1", fatal=True)
    if status == 429:
        wait = error.response.headers.get("retry-after")
        again = f" and asks to wait {wait} seconds" if wait else ""
        return EndpointError(f"the server has had too many requests{again}", busy=True, status=status)
    return EndpointError(f"the server answers {status}: {said}", status=status)
