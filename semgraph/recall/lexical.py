"""BM25 over the words of facts."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["bm25"]

_K1 = 1.2
_B = 0.5  # facts are short: a long one is not much less to the point


def bm25(wanted: Sequence[str], documents: Iterable[tuple[str, Sequence[Sequence[str]]]]) -> dict[str, float]:
    """The score of every document that has a wanted word; a document is an id and its words, in fields."""
    if not wanted:
        return {}
    terms = sorted(set(wanted))
    counts: dict[str, tuple[list[int], int]] = {}
    total = size = 0
    for key, fields in documents:
        tally = Counter(word for field in fields for word in field)
        length = sum(map(len, fields))
        total, size = total + 1, size + length
        found = [tally[term] for term in terms]
        if any(found):
            counts[key] = (found, length)
    present = [sum(1 for found, _ in counts.values() if found[i]) for i in range(len(terms))]
    weights = [log(1 + (total - n + 0.5) / (n + 0.5)) for n in present]
    average = size / total if total else 1.0
    return {key: _score(found, weights, length / average) for key, (found, length) in counts.items()}


def _score(found: Sequence[int], weights: Sequence[float], relative: float) -> float:
    damped = _K1 * (1 - _B + _B * relative)
    return sum(weight * n * (_K1 + 1) / (n + damped) for n, weight in zip(found, weights, strict=True) if n)
