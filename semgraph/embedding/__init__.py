"""Texts as vectors, without a model to run: a table of word pieces that ships inside the package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semgraph.embedding.static import StaticEmbedder

__all__ = ["Embedder", "default_embedder"]


@runtime_checkable
class Embedder(Protocol):
    """What makes vectors of texts: its name, their length, and how."""

    id: str
    dim: int

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row of length `dim` for each text."""


@cache
def default_embedder() -> StaticEmbedder:
    """The table that ships with semgraph, loaded on first use."""
    from semgraph.embedding.static import StaticEmbedder

    return StaticEmbedder.shipped()
