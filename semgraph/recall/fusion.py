"""Several rankings as one: the union of what the channels found, by how near each comes to the best of a channel."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from semgraph.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WEIGHTS", "fused", "ranks", "shares", "weights"]

#: Chosen on the even half of the data of `benchmarks/recall.py`; the figures there are those of the odd half.
WEIGHTS: Final = MappingProxyType(
    {"exact": 1.0, "lexical": 1.0, "vector": 1.3, "graph": 0.5, "time": 0.8, "context": 0.3}
)
_ADVISED: Final = 2  # times as much meaning counts where advice is asked for
_MOST: Final = 1_000_000  # a weight beside which no other one counts; sums of such stay numbers
_MANY: Final = 50  # equal scores, which then say little of each
_DIGITS = 6  # scores that differ later than this are a tie, whatever order they were added up in


def weights(channels: Mapping[str, float] | None, *, advice: bool = False) -> dict[str, float]:
    """The weight of each channel: as given, else its own; InputError names what is no channel or no weight.

    Where advice is asked for, meaning counts more: what helps is rarely told in the words of such a question.
    """
    own = {**WEIGHTS, "vector": WEIGHTS["vector"] * (_ADVISED if advice else 1)}
    if channels is None:
        return own
    if not hasattr(channels, "items"):
        raise InputError(f"channels is a mapping of channels to weights, not {type(channels).__name__}")
    for name, weight in channels.items():
        if name not in WEIGHTS:
            raise InputError(f"no channel is called {name!r}; there are {', '.join(WEIGHTS)}")
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= _MOST:
            raise InputError(
                f"the weight of a channel is a number from 0 (which switches it off) to {_MOST:,}, not {weight!r:.40}"
            )
    return {**own, **channels}


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


def shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Each score as a share of the best one, so that channels that count in units of their own can be added up."""
    best = max(scores.values(), default=0.0)
    return {key: max(score, 0.0) / best for key, score in scores.items()} if best > 0 else {}


def fused(found: Mapping[str, Mapping[str, float]], weight: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """For everything that some channel found, the sum of its shares, each times the weight of the channel.

    How far one is ahead of the next says more than that it is ahead: Bruch, Gai and Ingber 2023, "An Analysis of Fusion
    Functions for Hybrid Retrieval", ACM Transactions on Information Systems 42, find a weighted sum of scores above
    reciprocal ranks, as do the figures of `benchmarks/recall.py`.

    >>> fused({"exact": {"a": 0.5}, "lexical": {"a": 0.25, "b": 1.0}})
    {'a': 0.75, 'b': 1.0}
    """
    total: dict[str, float] = {}
    for name, part in found.items():
        for key, share in part.items():
            total[key] = total.get(key, 0.0) + weight[name] * share
    return {key: round(score, _DIGITS) for key, score in total.items()}
