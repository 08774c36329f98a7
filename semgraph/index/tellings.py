"""Where each document was told, so that what was told beside one that fits a question counts for more.

A place is a number: the head of the document's source_ref, hashed, plus the number at its end. Documents of one
source_ref have the same place, those of the next one the next.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.index.growing import Growing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["TOGETHER", "Tellings", "near"]

TOGETHER: Final = 12  # documents of one source_ref that still count as told together
_SHARE: Final = 0.25  # of its neighbour's score a document gets so much
_BEST: Final = 8192  # documents that are looked at, the best of those that were found
_COUNTED: Final = re.compile(r"^(.*?)([0-9]{1,9})$", re.DOTALL)
_MASK: Final = (1 << 64) - 1


def near(ref: str) -> Iterator[str]:
    """The source_refs of what was told together with this one, right before it and right after it."""
    yield ref
    counted = _COUNTED.match(ref)
    if counted:
        head, number = counted[1], counted[2]
        for other in (int(number) - 1, int(number) + 1):
            if other >= 0:
                yield f"{head}{other:0{len(number)}d}" if number.startswith("0") else f"{head}{other}"


class Tellings:
    """The place of each document, 0 for none; `scores` with what neighbours add."""

    def __init__(self) -> None:
        self._places = Growing(np.uint64)
        self.any = False  # whether some document has a place

    def __len__(self) -> int:
        return len(self._places)

    def add(self, refs: Iterable[str | None]) -> None:
        """The source_refs of the documents that follow."""
        places = np.array([_place(ref) if ref else 0 for ref in refs], np.uint64)
        self.any = self.any or bool(places.any())
        self._places.extend(places)

    def page(self, first: int, last: int) -> dict[str, NDArray[Any]]:
        """What is kept of some documents, by name."""
        return {"places": self._places.rows[first:last]}

    def load(self, page: Mapping[str, NDArray[Any]]) -> None:
        """The documents of a page, behind the others."""
        self.any = self.any or bool(page["places"].any())
        self._places.extend(page["places"])

    def lifted(self, documents: NDArray[np.intp], scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores of documents, each with a share of its best neighbour's among them.

        A neighbour was told in the same source_ref, or in the one before or after; where very many were told in one,
        to be told there says nothing.
        """
        if not self.any:
            return scores
        best = np.arange(len(documents))
        if len(documents) > _BEST:
            best = np.argpartition(scores, len(documents) - _BEST)[len(documents) - _BEST :]
        places = self._places.rows[documents[best]]
        some = np.flatnonzero(places)
        if not len(some):
            return scores
        order = np.lexsort((-scores[best[some]], places[some]))
        chosen, places = best[some[order]], places[some[order]]
        own = scores[chosen]
        firsts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        sizes = np.diff(np.append(firsts, len(places)))
        few = sizes <= TOGETHER
        first = np.where(few, own[firsts], 0)  # the best of each place, and the next best
        second = np.where(few & (sizes > 1), own[np.minimum(firsts + 1, len(own) - 1)], 0)
        follows = places[firsts[1:]] - places[firsts[:-1]] == 1
        beside = np.zeros(len(firsts), np.float32)
        beside[1:] = np.where(follows, first[:-1], 0)
        beside[:-1] = np.maximum(beside[:-1], np.where(follows, first[1:], 0))
        others = np.repeat(np.maximum(first, beside), sizes)
        others[firsts] = np.maximum(second, beside)
        out = scores.copy()
        out[chosen] += np.float32(_SHARE) * others
        return out


def _place(ref: str) -> int:
    counted = _COUNTED.match(ref)
    if counted is None:
        return _hash(f"={ref}")
    return (_hash(f"#{counted[1]}") + int(counted[2])) & _MASK or 1


@lru_cache(maxsize=1 << 12)
def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") or 1
