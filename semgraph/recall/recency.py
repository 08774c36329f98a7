"""Of sentences that say the same, the later said first: the fold decides between facts, nothing between sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Sentence", "later_first"]

_PLACES = 6  # the first so many of a ranking are put in order
_ALIKE = 0.55  # the cosine from which on two sentences may be about the same thing
_FITS = 0.4  # a later one has at least so much of the earlier one's score in every channel


class Sentence(NamedTuple):
    """A recalled sentence: of whom, when it was said, and its scores, by words and by meaning."""

    subject: int
    said_at: int
    scores: tuple[float, ...]


def later_first(ranking: Sequence[Sentence | None], cosine: Callable[[int, int], float]) -> list[int]:
    """The places of a ranking in their new order; None is what is no sentence, and keeps its place.

    Each place goes to the latest of the sentences behind it that are about the same and fit the question nearly as
    well; the sentences in between move down by one.
    """
    told = [(at, sentence) for at, sentence in enumerate(ranking[:_PLACES]) if sentence is not None]
    places = [at for at, _ in told]
    for first, (at, here) in enumerate(told):
        latest = first
        for other in range(first + 1, len(told)):
            beside, there = told[other]
            fits = all(b >= _FITS * a for a, b in zip(here.scores, there.scores, strict=True))
            same = here.subject == there.subject and fits and there.said_at > told[latest][1].said_at
            if same and cosine(at, beside) >= _ALIKE:
                latest = other
        told.insert(first, told.pop(latest))
    order = list(range(len(ranking)))
    for place, (at, _) in zip(places, told, strict=True):
        order[place] = at
    return order
