"""Several rankings as one: the union of what the channels found, scored by reciprocal rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

__all__ = ["WEIGHTS", "fused", "ranks"]

WEIGHTS = {"exact": 1.0, "lexical": 1.0, "graph": 0.5}
_SMOOTHING = 60
_DIGITS = 9  # scores that differ later than this are a tie, whatever order they were added up in


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """The rank of each by falling score, from 1 on; equal scores share a rank."""
    rounded = {key: round(score, _DIGITS) for key, score in scores.items()}
    place: dict[Hashable, int] = {score: i for i, score in enumerate(sorted(set(rounded.values()), reverse=True), 1)}
    return {key: place[score] for key, score in rounded.items()}


def fused(channels: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[float, dict[str, int]]]:
    """For everything that some channel found: the sum of w / (60 + rank), and its rank in each of them.

    >>> fused({"exact": {"a": 1}, "lexical": {"b": 1}})["a"][1]
    {'exact': 1}
    """
    found: dict[str, dict[str, int]] = {}
    for name, ranking in channels.items():
        for key, rank in ranking.items():
            found.setdefault(key, {})[name] = rank
    return {
        key: (sum(WEIGHTS.get(name, 1.0) / (_SMOOTHING + rank) for name, rank in own.items()), own)
        for key, own in found.items()
    }
