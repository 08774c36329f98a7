"""Words and the documents they stand in, with what each occurrence is worth worked out beforehand.

A score is then a sum over the occurrences of the words asked for: BM25 (Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond", equation 3.15). Documents written since are kept beside the sorted ones.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.index.growing import Growing
from semgraph.index.idents import Idents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["TextIndex"]

_K1: Final = 0.9
_B: Final = 0.6
_SPARSE: Final = 256  # documents for each one hit from which sorting the hits is quicker than looking at all scores
_ROOM: Final = 4096  # documents beside the sorted ones, and an eighth of them


class _Postings(NamedTuple):
    """Occurrences: of which word, in which document, how often."""

    terms: NDArray[np.uint32]
    documents: NDArray[np.uint32]
    counts: NDArray[np.uint16]


class TextIndex:
    """Documents by number, in order of arrival: the id of each, its two ends, and its words."""

    def __init__(self) -> None:
        self.ids = Idents()
        self._subjects = Growing(np.int64)
        self._objects = Growing(np.int64)
        self._lengths = Growing(np.float32)
        self._terms: dict[str, int] = {}
        self._starts = np.zeros(1, np.int64)
        self._documents = np.zeros(0, np.uint32)
        self._counts = np.zeros(0, np.uint16)
        self._impacts = np.zeros(0, np.float32)
        self._fresh: dict[int, list[tuple[int, int]]] = {}
        self._sorted = 0
        self._usual = 0.0  # the average length when the impacts were worked out: what is fresh is measured by it too
        self._scores = np.zeros(0, np.float32)
        self.total = 0.0  # words in all documents

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def subject(self) -> NDArray[np.int64]:
        """The number of the entity at the near end of each document."""
        return self._subjects.rows

    @property
    def object(self) -> NDArray[np.int64]:
        """That at its far end, -1 for none."""
        return self._objects.rows

    # -- writing

    def add(self, documents: Iterable[tuple[str, int, int, Sequence[str]]]) -> None:
        """Further documents: the id, the numbers of the entities at both ends (-1 for none), and the words."""
        ids, subjects, objects = list[str](), list[int](), list[int]()
        lengths, distinct = list[int](), list[int]()
        terms, counts = list[int](), list[int]()
        number = self._terms.setdefault
        for name, subject, target, words in documents:
            ids.append(name)
            subjects.append(subject)
            objects.append(target)
            lengths.append(len(words))
            each = set(words)
            distinct.append(len(each))
            if len(each) == len(words):  # most documents are short, and say a word once
                terms += [number(word, len(self._terms)) for word in words]
                counts += [1] * len(words)
            else:
                counted = Counter(words)
                terms += [number(word, len(self._terms)) for word in counted]
                counts += counted.values()
        first = len(self)
        self.ids.extend(ids)
        self._widen(subjects, objects, lengths)
        if len(self) - self._sorted > _ROOM + self._sorted // 8:
            numbers = np.repeat(np.arange(first, len(self), dtype=np.uint32), distinct)
            told = np.minimum(np.array(counts, np.int64), 65535).astype(np.uint16)
            self._merge([_Postings(np.array(terms, np.uint32), numbers, told)])
            return
        at = 0
        for document, size in enumerate(distinct, first):
            for term, count in zip(terms[at : at + size], counts[at : at + size], strict=True):
                self._fresh.setdefault(term, []).append((document, count))
            at += size

    def _widen(self, subjects: Any, objects: Any, lengths: Any) -> None:
        self._subjects.extend(subjects)
        self._objects.extend(objects)
        self._lengths.extend(lengths)
        if len(self._scores) < len(self._lengths):
            self._scores = np.zeros(len(self._lengths) + len(self._lengths) // 8, np.float32)
        self.total += float(np.sum(lengths))

    def _merge(self, more: Iterable[_Postings] = ()) -> None:
        """Sort the fresh documents and those of `more` in, and work out anew what each occurrence is worth."""
        sizes = np.diff(self._starts)
        own = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        parts = [_Postings(own, self._documents, self._counts), *self._waiting(), *more]
        term, document, count = (np.concatenate(column) for column in zip(*parts, strict=True))
        # Documents that come later have the higher numbers, so each list stays sorted.
        order = np.argsort(term, kind="stable")
        self._documents, self._counts = document[order], count[order]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(term, minlength=len(self._terms)))]).astype(np.int64)
        self._fresh = {}
        self._sorted = len(self)
        self._usual = self._average
        self._impacts = _worth(self._counts, self._lengths.rows[self._documents] / self._usual)

    def _waiting(self) -> list[_Postings]:
        if not self._fresh:
            return []
        flat = np.array([pair for found in self._fresh.values() for pair in found], np.int64)
        terms = np.repeat(np.array(list(self._fresh), np.uint32), [len(found) for found in self._fresh.values()])
        return [_Postings(terms, flat[:, 0].astype(np.uint32), np.minimum(flat[:, 1], 65535).astype(np.uint16))]

    @property
    def _average(self) -> float:
        return max(self.total / max(len(self), 1), 1.0)

    # -- pages

    def page(self, first: int, last: int) -> dict[str, NDArray[Any]]:
        """What is kept of some documents, by name."""
        if self._sorted < len(self):
            self._merge()
        inside = (self._documents >= first) & (self._documents < last)
        term = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))[inside]
        documents = self._documents[inside] - np.uint32(first)
        sizes = np.bincount(term, minlength=len(self._terms))
        used = np.flatnonzero(sizes)
        names = list(self._terms)
        ends = np.concatenate([self.subject[first:last], self.object[first:last]])
        entities, places = np.unique(ends, return_inverse=True)
        return {
            **self.ids.page(first, last),
            "entities": entities,
            "ends": places.astype(np.uint32),
            "words": self._lengths.rows[first:last].astype(np.uint32),
            "terms": np.frombuffer("\n".join([names[each] for each in used]).encode(), np.uint8),
            "sizes": sizes[used].astype(np.uint32),
            "steps": np.diff(documents, prepend=np.uint32(0)),
            "counts": self._counts[inside],
        }

    def load(self, page: Mapping[str, NDArray[Any]]) -> None:
        """The documents of a page, behind the others; ValueError if it does not fit together."""
        sizes, counts, words, ends = page["sizes"], page["counts"], page["words"], page["ends"]
        documents = np.cumsum(page["steps"], dtype=np.uint32)
        told = page["terms"].tobytes().decode().split("\n") if len(sizes) else []
        number = len(words)
        whole = len(told) == len(sizes) and int(sizes.sum()) == len(documents) == len(counts)
        whole = whole and len(ends) == 2 * number and len(page["ids"]) == 12 * number
        whole = (
            whole and documents.max(initial=0) < max(number, 1) and ends.max(initial=0) < max(len(page["entities"]), 1)
        )
        if not whole:
            raise ValueError("the words of a page do not fit together")
        first = len(self)
        terms = np.array([self._terms.setdefault(word, len(self._terms)) for word in told], np.uint32)
        both = page["entities"][ends]
        self.ids.load(page)
        self._widen(both[:number], both[number:], words)
        self._merge([_Postings(np.repeat(terms, sizes), documents + np.uint32(first), counts)])

    # -- asking

    def found_in(self, words: Iterable[str]) -> int:
        """In how many documents these words stand, counted for each word by itself."""
        return sum(self._size(self._terms[word]) for word in words if word in self._terms)

    def _size(self, term: int) -> int:
        stored = int(self._starts[term + 1] - self._starts[term]) if term + 1 < len(self._starts) else 0
        return stored + len(self._fresh.get(term, ()))

    def scores(self, groups: Iterable[Sequence[str]]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The documents that have a word of some group, and their scores; words of one group count as one word."""
        scores, touched = self._scores[: len(self)], list[Any]()
        for words in groups:
            known = [self._terms[word] for word in words if word in self._terms]
            size = sum(map(self._size, known))
            if not size:
                continue
            weight = np.float32(log(1 + (len(self) - min(size, len(self)) + 0.5) / (size + 0.5)))
            for documents, impacts in map(self._occurrences, known):
                scores[documents] += weight * impacts
                touched.append(documents)
        if not touched:
            return np.zeros(0, np.intp), np.zeros(0, np.float32)
        hit = touched[0] if len(touched) == 1 else np.concatenate(touched)
        few = len(hit) * _SPARSE < len(scores)
        found = np.unique(hit).astype(np.intp) if few else np.flatnonzero(scores)
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
            own = _worth(flat[:, 1], self._lengths.rows[flat[:, 0]] / (self._usual or self._average))
            documents, impacts = np.concatenate([documents, flat[:, 0]]), np.concatenate([impacts, own])
        return documents, impacts


def _worth(counts: NDArray[Any], relative: NDArray[Any]) -> NDArray[np.float32]:
    """What so many occurrences in a document of such a length, relative to the average, are worth."""
    told = counts.astype(np.float32)
    damped = np.float32(_K1) * (np.float32(1 - _B) + np.float32(_B) * relative.astype(np.float32))
    return np.asarray(told * np.float32(_K1 + 1) / (told + damped), np.float32)
