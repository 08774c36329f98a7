"""Texts as vectors: a table of word pieces that ships inside the package, a model in a folder, or one behind a URL."""

from __future__ import annotations

import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from semgraph.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semgraph.embedding.static import StaticEmbedder

__all__ = ["Embedder", "Pauses", "UnavailableError", "checked", "default_embedder", "loaded", "pauses"]

_WAYS = (
    "'default', None, an object with .id .dim .encode, or a text: 'onnx:FOLDER', 'multilingual', 'endpoint:MODEL' or "
    "'endpoint:MODEL@URL'"
)


class UnavailableError(ConfigError):
    """What an embedder needs does not answer for now; nothing is wrong with how it was asked."""


@runtime_checkable
class Embedder(Protocol):
    """What makes vectors of texts: its name, their length, and how.

    One that treats questions otherwise than texts to be found has a method `encode_question` too, with a row for each
    of several questions.
    """

    id: str
    dim: int

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row of length `dim` for each text."""


@cache
def default_embedder() -> StaticEmbedder:
    """The table that ships with semgraph, loaded on first use."""
    from semgraph.embedding.static import StaticEmbedder

    return StaticEmbedder.shipped()


def checked(embedder: object) -> object:
    """The embedder as given, if it is one that recall can use; nothing is loaded.

    Raises:
        ConfigError: it is none, and what there is.
    """
    if embedder is None:
        return None
    if isinstance(embedder, str):
        kind, _, rest = embedder.partition(":")
        if embedder in ("default", "multilingual") or (kind in ("onnx", "endpoint") and rest.strip("@")):
            return embedder
        raise ConfigError(f"embedder is {_WAYS}, not {embedder!r}")
    name, dim = getattr(embedder, "id", None), getattr(embedder, "dim", None)
    sized = isinstance(dim, int) and not isinstance(dim, bool) and dim > 0
    if callable(getattr(embedder, "encode", None)) and isinstance(name, str) and name and sized:
        return embedder
    raise ConfigError(f"embedder is {_WAYS}, not {embedder!r}")


def loaded(embedder: object) -> Any:
    """The embedder that a name stands for, loaded once; anything else as it is."""
    return _named(embedder) if isinstance(embedder, str) else embedder


class Pauses:
    """Embedders that did not answer a while ago, and are not asked for half a minute, so that nobody waits for them."""

    _SECONDS: Final = 30.0

    def __init__(self) -> None:
        self._until: dict[object, tuple[float, str]] = {}

    def note(self, embedder: object, error: UnavailableError) -> str:
        """Take note that an embedder, or the name of one, did not answer; why."""
        self._until[_key(embedder)] = (time.monotonic() + self._SECONDS, str(error))
        return str(error)

    def why(self, embedder: object) -> str | None:
        """Why an embedder is not to be asked now; None if it may be."""
        until, why = self._until.get(_key(embedder), (0.0, None))
        return why if time.monotonic() < until else None


def _key(embedder: object) -> object:
    return embedder if isinstance(embedder, str) else id(embedder)


#: Those of this process.
pauses: Final = Pauses()


@lru_cache(maxsize=8)
def _named(name: str) -> Any:
    kind, _, rest = name.partition(":")
    if kind == "onnx":
        from semgraph.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(rest)
    if kind == "endpoint":
        from semgraph.embedding.endpoint import EndpointEmbedder

        model, _, url = rest.partition("@")
        return EndpointEmbedder(model, base_url=url or None)
    if kind == "multilingual":
        from semgraph.embedding.multilingual import MultilingualEmbedder

        return MultilingualEmbedder()
    return default_embedder()
