"""Words and the documents they stand in, with what each occurrence is worth worked out beforehand.

A score is then a sum over the occurrences of the words asked for: BM25 (Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond", equation 3.15). Documents written since are kept beside the sorted ones.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["TextIndex"]

_K1: Final = 0.9
_B: Final = 0.6
_ROOM: Final = 4096  # documents beside the sorted ones, and an eighth of them


class TextIndex:
    """Documents by number, in order of arrival: the id of each, its two ends, and its words."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.subject = np.zeros(0, np.int64)
        self.object = np.zeros(0, np.int64)
        self._lengths = np.zeros(0, np.float32)
        self._terms: dict[str, int] = {}
        self._starts = np.zeros(1, np.int64)
        self._documents = np.zeros(0, np.uint32)
        self._counts = np.zeros(0, np.uint16)
        self._impacts = np.zeros(0, np.float32)
        self._fresh: dict[int, list[tuple[int, int]]] = {}
        self._sorted = 0
        self._scores = np.zeros(0, np.float32)
        self.total = 0.0  # words in all documents

    def __len__(self) -> int:
        return len(self.ids)

    # -- writing

    def add(self, documents: Iterable[tuple[str, int, int, Sequence[str]]]) -> None:
        """Further documents: the id, the numbers of the entities at both ends (-1 for none), and the words."""
        ids, ends, lengths = list[str](), list[tuple[int, int]](), list[int]()
        number = len(self.ids)
        for name, subject, target, words in documents:
            ids.append(name)
            ends.append((subject, target))
            lengths.append(len(words))
            for word, count in Counter(words).items():
                term = self._terms.setdefault(word, len(self._terms))
                self._fresh.setdefault(term, []).append((number, count))
            number += 1
        if not ids:
            return
        self.ids += ids
        both = np.array(ends, np.int64)
        self.subject = np.concatenate([self.subject, both[:, 0]])
        self.object = np.concatenate([self.object, both[:, 1]])
        self._lengths = np.concatenate([self._lengths, np.array(lengths, np.float32)])
        self._scores = np.zeros(len(self.ids), np.float32)
        self.total += sum(lengths)
        if len(self.ids) - self._sorted > _ROOM + self._sorted // 8:
            self._merge()

    def _merge(self) -> None:
        """Sort the fresh documents in, and work out anew what each occurrence is worth."""
        sizes = np.diff(self._starts)
        sizes = np.concatenate([sizes, np.zeros(len(self._terms) - len(sizes), np.int64)])
        terms = [np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)]
        documents, counts = [self._documents], [self._counts]
        if self._fresh:
            flat = np.array([pair for found in self._fresh.values() for pair in found], np.int64)
            terms.append(np.repeat(np.array(list(self._fresh), np.uint32), [len(f) for f in self._fresh.values()]))
            documents.append(flat[:, 0].astype(np.uint32))
            counts.append(np.minimum(flat[:, 1], 65535).astype(np.uint16))
        term, document = np.concatenate(terms), np.concatenate(documents)
        order = np.argsort(term, kind="stable")  # fresh documents have the higher numbers, so each list stays sorted
        self._documents, self._counts = document[order], np.concatenate(counts)[order]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(term, minlength=len(sizes)))]).astype(np.int64)
        self._fresh = {}
        self._sorted = len(self.ids)
        self._impacts = _worth(self._counts, self._lengths[self._documents] / self._average)

    @property
    def _average(self) -> float:
        return max(self.total / max(len(self.ids), 1), 1.0)

    # -- asking

    def found_in(self, words: Iterable[str]) -> int:
        """In how many documents these words stand, counted for each word by itself."""
        return sum(self._size(self._terms[word]) for word in words if word in self._terms)

    def _size(self, term: int) -> int:
        stored = int(self._starts[term + 1] - self._starts[term]) if term + 1 < len(self._starts) else 0
        return stored + len(self._fresh.get(term, ()))

    def scores(self, groups: Iterable[Sequence[str]]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The documents that have a word of some group, and their scores; words of one group count as one word."""
        scores, touched = self._scores, list[Any]()
        for words in groups:
            known = [self._terms[word] for word in words if word in self._terms]
            size = sum(map(self._size, known))
            if not size:
                continue
            weight = np.float32(log(1 + (len(self.ids) - min(size, len(self.ids)) + 0.5) / (size + 0.5)))
            for documents, impacts in map(self._occurrences, known):
                scores[documents] += weight * impacts
                touched.append(documents)
        if not touched:
            return np.zeros(0, np.intp), np.zeros(0, np.float32)
        hit = touched[0] if len(touched) == 1 else np.concatenate(touched)
        found = np.flatnonzero(scores) if len(hit) * 8 > len(scores) else np.unique(hit).astype(np.intp)
        own = scores[found]
        scores[hit] = 0
        return found, own

    def _occurrences(self, term: int) -> tuple[NDArray[Any], NDArray[np.float32]]:
        documents: NDArray[Any] = self._documents[:0]
        impacts = self._impacts[:0]
        if term + 1 < len(self._starts):
            here = slice(self._starts[term], self._starts[term + 1])
            documents, impacts = self._documents[here], self._impacts[here]
        fresh = self._fresh.get(term)
        if fresh:
            flat = np.array(fresh, np.int64)
            own = _worth(flat[:, 1], self._lengths[flat[:, 0]] / self._average)
            documents, impacts = np.concatenate([documents, flat[:, 0]]), np.concatenate([impacts, own])
        return documents, impacts


def _worth(counts: NDArray[Any], relative: NDArray[np.float32]) -> NDArray[np.float32]:
    """What so many occurrences in a document of such a length, relative to the average, are worth."""
    told = counts.astype(np.float32)
    damped = np.float32(_K1) * (np.float32(1 - _B) + np.float32(_B) * relative.astype(np.float32))
    return np.asarray(told * np.float32(_K1 + 1) / (told + damped), np.float32)
