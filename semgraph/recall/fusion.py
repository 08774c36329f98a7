"""Several rankings as one: the union of what the channels found, scored by reciprocal rank."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from semgraph.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WEIGHTS", "fused", "ranks", "weights"]

#: Chosen on the even half of the data of `benchmarks/recall.py`; the figures there are those of the odd half.
WEIGHTS: Final = MappingProxyType({"exact": 1.0, "lexical": 1.0, "vector": 1.0, "graph": 0.5, "context": 0.3})
_MANY: Final = 50  # equal scores, which then say little of each
_SMOOTHING = 60
_DIGITS = 6  # scores that differ later than this are a tie, whatever order they were added up in


def weights(channels: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of each channel: as given, else its own; InputError names what is no channel or no weight."""
    if channels is None:
        return dict(WEIGHTS)
    if not hasattr(channels, "items"):
        raise InputError(f"channels is a mapping of channels to weights, not {type(channels).__name__}")
    for name, weight in channels.items():
        if name not in WEIGHTS:
            raise InputError(f"no channel is called {name!r}; there are {', '.join(WEIGHTS)}")
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= weight < float("inf"):
            raise InputError(f"the weight of a channel is a number from 0 on (0 switches it off), not {weight!r}")
    return {**WEIGHTS, **channels}


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """The rank of each by falling score, from 1 on; equal scores share a rank.

    Where very many are equal, it is the middle of their places: a name that half of all facts bear says little of each.
    """
    groups: dict[float, list[str]] = {}
    for key, score in scores.items():
        groups.setdefault(round(score, _DIGITS), []).append(key)
    found: dict[str, int] = {}
    place = 1
    for score in sorted(groups, reverse=True):
        size = len(groups[score])
        many = size > _MANY
        found.update(dict.fromkeys(groups[score], place + size // 2 if many else place))
        place += size if many else 1
    return found


def fused(
    channels: Mapping[str, Mapping[str, int]], weight: Mapping[str, float] = WEIGHTS
) -> dict[str, tuple[float, dict[str, int]]]:
    """For everything that some channel found: the sum of w / (60 + rank), and its rank in each of them.

    Reciprocal rank fusion: Cormack, Clarke and Büttcher 2009, SIGIR, with the constant of that paper.

    >>> fused({"exact": {"a": 1}, "lexical": {"b": 1}})["a"][1]
    {'exact': 1}
    """
    found: dict[str, dict[str, int]] = {}
    for name, ranking in channels.items():
        for key, rank in ranking.items():
            found.setdefault(key, {})[name] = rank
    return {
        key: (sum(weight[name] / (_SMOOTHING + rank) for name, rank in own.items()), own) for key, own in found.items()
    }
