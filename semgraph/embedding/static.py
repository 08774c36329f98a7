"""A static embedder: a text is the sum of the vectors of its word pieces, looked up in a table.

The pieces are those of uncased BERT (WordPiece, greedy longest match): Wu et al. 2016, arXiv:1609.08144, section 4.1.
"""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["FORMER", "UNRELATED", "StaticEmbedder"]

#: The table that shipped before: what was kept for it is of no use any more.
FORMER: Final = "static256"
#: How alike unrelated texts are taken to be where nobody measured it: their mean cosine, and what is chance no more.
UNRELATED: Final = (0.0, 0.2)

_TOKEN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]|[^\W_]+|[^\w\s]|_")
_UNKNOWN: Final = "[UNK]"
_LONGEST: Final = 100  # letters of a word that is looked up in pieces
_WORDS_KEPT: Final = 1 << 16
_SHORT: Final = 16  # pieces of a text whose rows are added one by one
_AT_A_TIME: Final = 2048  # pieces summed at once, so that their rows stay in the cache of the processor


class StaticEmbedder:
    """The vectors of word pieces, as whole numbers with a scale for each row.

    `unrelated` is how alike it holds texts that have nothing to do with each other: the mean of their cosines, and what
    99 of 100 are below.
    """

    def __init__(
        self,
        name: str,
        pieces: Sequence[str],
        numbers: NDArray[np.int8],
        scales: NDArray[np.float16],
        unrelated: tuple[float, float] = UNRELATED,
    ) -> None:
        self.id = name
        self.unrelated = unrelated
        self.dim = int(numbers.shape[1])
        self._numbers = numbers
        self._scales = scales.astype(np.float32)
        self._pieces = {piece: at for at, piece in enumerate(pieces)}
        self._tails = {piece[2:]: at for piece, at in self._pieces.items() if piece.startswith("##")}
        self._longest = max(map(len, self._pieces))  # letters of a piece
        self._unknown = self._pieces[_UNKNOWN]
        self._scales[self._unknown] = 0  # words that are not known are not alike
        self._known: dict[str, tuple[int, ...]] = {}

    @classmethod
    def shipped(cls) -> StaticEmbedder:
        """The table inside the package."""
        folder = files("semgraph.embedding")
        with (folder / "static256.npz").open("rb") as file, np.load(file) as stored:
            numbers, scales, (mean, most) = stored["q"], stored["s"], stored["unrelated"].tolist()
        pieces = (folder / "vocab.txt").read_text("utf-8").split("\n")
        return cls("static256.2", pieces[: len(numbers)], numbers, scales, (mean, most))

    def __len__(self) -> int:
        """How many word pieces there are."""
        return len(self._numbers)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """A row of length 1 for each text; all zeros for one without a word that the table knows."""
        out = np.zeros((len(texts), self.dim), np.float32)
        start, waiting = 0, list[int]()
        bounds = [0]
        for at, text in enumerate(texts):
            waiting += self.pieces(text)
            bounds.append(len(waiting))
            if len(waiting) >= _AT_A_TIME or at + 1 == len(texts):
                out[start : at + 1] = self.summed(np.array(waiting, np.intp), np.array(bounds))
                start, waiting, bounds = at + 1, [], [0]
        return _unit(out)

    def encode_weighted(self, words: Mapping[str, float], /) -> NDArray[np.float32]:
        """One row of length 1: the sum of the words, each as important as its weight says."""
        row = np.zeros(self.dim, np.float32)
        for word, weight in words.items():
            own = self.pieces(word)
            row += weight * (self._numbers[own] * self._scales[own, None]).sum(0, dtype=np.float32)
        return _unit(row[None]).ravel()

    def pieces(self, text: str) -> list[int]:
        """The numbers of the word pieces of a text."""
        plain = text.lower()
        if not plain.isascii():
            plain = "".join(c for c in unicodedata.normalize("NFD", plain) if unicodedata.category(c) != "Mn")
        found: list[int] = []
        for word in _TOKEN.findall(plain):
            known = self._known.get(word)
            if known is None:
                if len(self._known) >= _WORDS_KEPT:
                    self._known.clear()
                known = self._known[word] = self._split(word)
            found += known
        return found

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST:
            return (self._unknown,)
        found, start, known = [], 0, self._pieces
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = known.get(word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return (self._unknown,)
            known = self._tails
        return tuple(found)

    def summed(self, pieces: NDArray[Any], bounds: NDArray[Any]) -> NDArray[np.float32]:
        """The sum of the rows of each text; `bounds` says where its pieces begin and end."""
        counts = np.diff(bounds)
        out = np.zeros((len(counts), self.dim), np.float32)
        short = counts <= _SHORT  # a piece of each at a time: the same sums to the last bit, in a third of the time
        for place in range(int(counts[short].max(initial=0))):
            having = np.flatnonzero(short & (counts > place))
            out[having] += self._rows(pieces[bounds[having] + place])
        long = np.flatnonzero(~short)
        if len(long):
            starts = np.concatenate([[0], np.cumsum(counts[long])])
            places = np.repeat(bounds[long] - starts[:-1], counts[long]) + np.arange(starts[-1])
            out[long] = np.add.reduceat(self._rows(pieces[places]), starts[:-1], axis=0)
        return out

    def _rows(self, pieces: NDArray[Any]) -> NDArray[np.float32]:
        """The vector of each of some pieces."""
        rows: NDArray[np.float32] = self._numbers[pieces].astype(np.float32)
        rows *= self._scales[pieces, None]
        return rows

    def products(self, pieces: NDArray[Any], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product of a vector with the row of each piece, each row taken once."""
        met = np.zeros(len(self), np.bool_)
        met[pieces] = True
        own = np.flatnonzero(met)
        found = np.empty(len(self), np.float32)
        found[own] = (self._numbers[own].astype(np.float32) @ query) * self._scales[own]
        products: NDArray[np.float32] = found[pieces]
        return products


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows
