"""Spreading from the entities of a question over the facts that hold, undirected, a few hops, under a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.recall.corpus import Candidate

__all__ = ["spread"]

_DAMPING = 0.5
_WIDEST = 200  # entities that one hop goes on from
_FACTS = 20_000  # facts that one spread touches


def spread(
    seeds: Sequence[int], facts: Mapping[str, Candidate], at: Mapping[int, Sequence[str]], hops: int
) -> dict[str, float]:
    """A score for each fact within so many hops: an entity's weight, shared among its facts, halved with each hop."""
    scores: dict[str, float] = {}
    mass = {seed: 1 / len(seeds) for seed in dict.fromkeys(seeds)}
    seen = set(mass)
    left = _FACTS
    for _ in range(hops):
        if not mass or not left:
            break
        reached: dict[int, float] = {}
        widest = sorted(mass, key=lambda number: (-mass[number], number))[:_WIDEST]
        for number in widest:
            near = at.get(number, ())
            share = _DAMPING * mass[number] / max(len(near), 1)
            for key in near[:left]:
                scores[key] = scores.get(key, 0.0) + share
                candidate = facts[key]
                other = candidate.far if candidate.near == number else candidate.near
                if other is not None and other not in seen:
                    reached[other] = reached.get(other, 0.0) + share
            left -= min(len(near), left)
        seen |= reached.keys()
        mass = reached
    return scores
