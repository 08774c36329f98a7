"""A model behind a URL that answers as OpenAI's embeddings do, hosted or on this machine. Needs the extra `llm`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.embedding import UnavailableError
from semgraph.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["EndpointEmbedder"]

_TOGETHER: Final = 128  # texts of one request
_SECONDS: Final = 30.0
_RETRIES: Final = 3
_KEY: Final = "OPENAI_API_KEY"
_URL: Final = "OPENAI_BASE_URL"


class EndpointEmbedder:
    """A model by its name at an endpoint; texts are sent in batches, and a request that fails in passing is repeated.

    What is remembered leaves this machine with every request, unless the URL is one of this machine.

    Args:
        model: the name by which the endpoint knows it.
        base_url: up to and with `/v1`; else `OPENAI_BASE_URL`, else OpenAI.
        api_key: else `OPENAI_API_KEY`; an endpoint with a URL of its own may need none.
        dim: how long its vectors are; if left out, one text is sent to see.
        timeout: seconds that a request may take.
        retries: how often a request is repeated that was refused for a moment or had no answer.

    Raises:
        ConfigError: there is no key, or the endpoint does not answer as it should (UnavailableError: not now).
        MissingExtraError: openai is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dim: int | None = None,
        timeout: float = _SECONDS,
        retries: int = _RETRIES,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtraError("a model behind a URL", "llm") from None
        key = api_key or os.environ.get(_KEY)
        url = base_url or os.environ.get(_URL)
        if not key and not url:
            raise ConfigError(f"set {_KEY} for OpenAI, or {_URL} (or endpoint:MODEL@URL) for an endpoint of your own")
        self._openai: Any = openai
        self._model = model
        self._where = url or "OpenAI"
        self._client: Any = openai.OpenAI(api_key=key or "none", base_url=url, timeout=timeout, max_retries=retries)
        self.id = f"endpoint:{model}"
        self.dim = self._request(["dimensions"]).shape[1] if dim is None else dim

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row for each text; ConfigError where the endpoint has none to give."""
        parts = [self._request(texts[start : start + _TOGETHER]) for start in range(0, len(texts), _TOGETHER)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dim), np.float32)

    def _request(self, texts: Sequence[str]) -> NDArray[np.float32]:
        openai = self._openai
        try:
            # An empty text is an error to many endpoints.
            given = [text if text.strip() else "." for text in texts]
            answer = self._client.embeddings.create(model=self._model, input=given, encoding_format="float")
        except openai.AuthenticationError:
            raise self._failed(f"the key is not accepted; set {_KEY}") from None
        except openai.NotFoundError:
            raise self._failed("there is no such model, or the URL has no /embeddings") from None
        except openai.RateLimitError:
            raise self._unavailable("it takes no more requests for now; try again later") from None
        except openai.APITimeoutError:
            raise self._unavailable("no answer in time") from None
        except openai.APIConnectionError:
            raise self._unavailable("it can't be reached") from None
        except openai.InternalServerError as error:
            raise self._unavailable(f"it answered with status {error.status_code}") from None
        except openai.APIStatusError as error:
            raise self._failed(f"it answered with status {error.status_code}") from None
        except openai.OpenAIError as error:
            raise self._failed(type(error).__name__) from None
        except ValueError:  # what came is no JSON
            raise self._failed("its answer is not understood") from None
        return self._rows(answer, len(texts))

    def _rows(self, answer: Any, number: int) -> NDArray[np.float32]:
        try:
            found = sorted(answer.data, key=lambda each: each.index)
            rows = np.array([each.embedding for each in found], np.float32)
            whole = [each.index for each in found] == list(range(number))
        except (AttributeError, TypeError, ValueError):
            raise self._failed("its answer is not understood") from None
        if not whole or rows.ndim != 2:
            raise self._failed(f"it gave {len(found)} vectors for {number} texts")
        return rows

    def _failed(self, why: str) -> ConfigError:
        return ConfigError(f"embeddings of {self._model!r} at {self._where}: {why}")

    def _unavailable(self, why: str) -> ConfigError:
        return UnavailableError(str(self._failed(why)))

    def __repr__(self) -> str:
        return f"<EndpointEmbedder {self._model} at {self._where} dim={self.dim}>"
