"""The channels of recall: each gives the facts of a view that it finds, with a score that only it understands.

What does not hold in the view is left out before anything is ranked: a channel goes on down its list until it has as
many facts that hold as were asked for.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from semgraph.index.tellings import TOGETHER
from semgraph.index.tellings import near as near_refs
from semgraph.store.schema import ClaimRow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from semgraph.index.idents import Idents
    from semgraph.recall.corpus import Corpus
    from semgraph.recall.library import Library

__all__ = ["Found", "beside", "completed", "exact", "lexical", "vector"]

_SORTED: Final = (128, 2048)  # documents that are sorted at first, and then
_MOST: Final = 2048  # documents that are looked at together


def exact(corpus: Corpus, named: Collection[int], hubs: Collection[int], found: Iterable[str]) -> dict[str, float]:
    """Facts about the entities that the question names; one between two of them is more to the point than the others.

    Of a hub come only those that another channel has found, behind the rest.
    """
    own = {c.id: c for number in sorted(named) for c in corpus.at(number)}
    everything = {*named, *hubs}
    scores = {key: 1.0 if everything.issuperset((c.near, c.far)) else 0.75 for key, c in own.items()}
    for key in found:
        if key not in scores and not everything.isdisjoint(corpus.facts[key].ends):
            scores[key] = 0.5
    return scores


class Found(NamedTuple):
    """What a channel of texts found: the score of each fact, and how well any text fits, found or not."""

    scores: dict[str, float]
    fit: Callable[[NDArray[np.intp]], NDArray[np.float32]]


def lexical(
    corpus: Corpus, library: Library, groups: Iterable[Sequence[str]], wanted: int, named: Collection[int]
) -> Found:
    """Facts that have words of the question, by BM25 and that of their neighbours; as many about what it names."""
    documents, scores = library.text.scores(groups)
    scores = library.tellings.lifted(documents, scores)

    def fit(some: NDArray[np.intp]) -> NDArray[np.float32]:
        if not len(documents):
            return np.zeros(len(some), np.float32)
        places = np.minimum(np.searchsorted(documents, some), len(documents) - 1)
        return np.where(documents[places] == some, scores[places], np.float32(0))

    return Found(_both(corpus, library, documents, scores, wanted, named), fit)


def vector(
    corpus: Corpus, library: Library, query: NDArray[np.float32] | None, wanted: int, named: Collection[int]
) -> Found | None:
    """Facts that mean something like the question, by the cosine of their vectors; None where there are no vectors.

    What is no more like it than texts that have nothing to do with each other is left out; of the others it counts how
    far they are above the mean of those.
    """
    vectors = library.vectors
    if vectors is None or query is None or not len(vectors):
        return None

    mean, least = library.unrelated

    def fit(some: NDArray[np.intp]) -> NDArray[np.float32]:
        there = some < len(vectors)
        return np.where(there, vectors.of(np.where(there, some, 0), query) - np.float32(mean), np.float32(0))

    alive = corpus.alive(library)
    asked = wanted
    while True:
        asked = min(asked * (4 if alive is None else 2), len(vectors))
        documents, cosines = vectors.nearest(query, asked, alive)
        lowest = float(cosines.min(initial=1.0))
        near = cosines >= least
        found = _both(corpus, library, documents[near], cosines[near] - np.float32(mean), wanted, named)
        if len(found) >= wanted or asked == len(vectors) or lowest < least:
            return Found(found, fit)


def completed(corpus: Corpus, found: Found, keys: Iterable[str]) -> dict[str, float]:
    """What a channel found, and how well the other facts fit that another channel came upon by a text of theirs."""
    rest = [key for key in keys if key not in found.scores and key in corpus.documents]
    fits = found.fit(np.array([corpus.documents[key] for key in rest], np.intp))
    return found.scores | {key: score for key, score in zip(rest, fits.tolist(), strict=True) if score > 0}


def _both(
    corpus: Corpus,
    library: Library,
    documents: NDArray[np.intp],
    scores: NDArray[np.float32],
    wanted: int,
    named: Collection[int],
) -> dict[str, float]:
    living = corpus.living(library)
    if living is not None:
        kept = living[documents]
        documents, scores = documents[kept], scores[kept]
    found = _holding(corpus, library, documents, scores, wanted)
    if named:
        members = _written_for(corpus, named)
        text = library.text
        about = np.isin(text.subject[documents], members) | np.isin(text.object[documents], members)
        found |= _holding(corpus, library, documents[about], scores[about], wanted)
    return found


def _written_for(corpus: Corpus, named: Collection[int]) -> list[int]:
    """The entities that claims were written with and that are now taken for one of these."""
    members = corpus.reader.snapshot.members
    return sorted({each for number in named for each in members.get(number, (number,))})


def _holding(
    corpus: Corpus, library: Library, documents: NDArray[np.intp], scores: NDArray[np.float32], wanted: int
) -> dict[str, float]:
    """The best facts in the view's time, by the best of their claims."""
    found: dict[str, float] = {}
    ids = library.text.ids
    falling = _falling(ids, documents, scores)
    size = wanted
    while batch := list(islice(falling, size)):
        told = corpus.told(library, [document for document, _ in batch])
        for (document, score), facts in zip(batch, told, strict=True):
            for candidate in facts:
                found.setdefault(candidate.id, score)
                corpus.documents.setdefault(candidate.id, document)
            if len(found) >= wanted:
                return found
        size = min(size * 2, _MOST)
    return found


def _falling(ids: Idents, documents: NDArray[np.intp], scores: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
    """Documents with their scores, the best first, equal ones by claim; only as much is sorted as is asked for.

    Their numbers tell when this process read them, which is nothing to order answers by.
    """
    for size in _SORTED:
        if len(documents) <= 2 * size:
            break
        bar = np.partition(scores, len(scores) - size)[len(scores) - size]
        best = scores >= bar
        yield from _in_order(ids, documents[best], scores[best])
        documents, scores = documents[~best], scores[~best]
    yield from _in_order(ids, documents, scores)


def _in_order(ids: Idents, documents: NDArray[np.intp], scores: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
    order = np.lexsort((documents, ids.keys(documents), -scores))
    return zip(documents[order].tolist(), scores[order].tolist(), strict=True)


def beside(corpus: Corpus, places: Mapping[str, int]) -> dict[str, float]:
    """Facts that were told right beside one of these, by the place of that one: in the same message, or the next.

    Told together are claims of one source_ref, and of two that differ by one in the number at their end.
    """
    ledger = corpus.reader.ledger
    corpus.read(places)
    first = {key: claims[0] for key in places if (claims := corpus.reading(key).body.claims)}
    rows = ledger.fetch(first.values())
    refs = {key: ref for key, claim in first.items() if claim in rows and (ref := rows[claim].source_ref)}
    wanted = sorted({near for ref in refs.values() for near in near_refs(ref)})
    if not wanted:
        return {}
    limit = TOGETHER * len(wanted)
    told = ledger.store.select(ClaimRow, ledger.scope, source_ref=wanted, limit=limit)
    if len(told) >= limit:
        return {}  # whole documents under one name: to be told together says nothing there
    there: dict[str, list[str]] = {}
    for row, facts in zip(told, corpus.behind([row.id for row in told]), strict=True):
        there.setdefault(row.source_ref or "", []).extend(candidate.id for candidate in facts)
    found: dict[str, float] = {}
    for key, place in sorted(places.items(), key=lambda each: each[1]):
        together = near_refs(refs[key]) if key in refs else ()
        near = [other for ref in together for other in there.get(ref, ()) if other != key]
        for other in near or [key]:  # what was told by itself has no neighbours to be better or worse for
            found.setdefault(other, -place)
    return found
