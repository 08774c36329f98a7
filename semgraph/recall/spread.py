"""Spreading from the entities of a question over the facts that hold, undirected, a few hops, under a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.recall.corpus import Corpus

__all__ = ["spread"]

_DAMPING = 0.5
_WIDEST = 8  # entities that one hop goes on from
_FACTS = 100  # facts that one spread touches


def spread(seeds: Sequence[int], corpus: Corpus, hops: int) -> dict[str, float]:
    """A score for each fact within so many hops: an entity's weight, shared among its facts, halved with each hop.

    It does not go on from what has very many facts: that leads anywhere. The weight of a seed is divided by the number
    of its facts, as HippoRAG divides by that of passages (Gutiérrez et al. 2024, arXiv:2405.14831, section 2.3).
    """
    scores: dict[str, float] = {}
    mass = {seed: 1 / len(seeds) for seed in dict.fromkeys(seeds)}
    seen = set(mass)
    left = _FACTS
    for _ in range(hops):
        if not mass or not left:
            break
        reached: dict[int, float] = {}
        widest = sorted(mass, key=lambda number: (-mass[number], number))[:_WIDEST]
        corpus.look(widest, left)
        for number in widest:
            near = corpus.at(number) if left else ()
            share = _DAMPING * mass[number] / max(len(near), 1)
            for candidate in near[:left]:
                scores[candidate.id] = scores.get(candidate.id, 0.0) + share
                other = candidate.far if candidate.near == number else candidate.near
                if other is not None and other not in seen:
                    reached[other] = reached.get(other, 0.0) + share
            left -= min(len(near), left)
        seen |= reached.keys()
        mass = reached
    return scores
