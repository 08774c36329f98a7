"""What a check is: an id, a promise, a size for each tier, and a function that measures or fails."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

#: Every commit, every night, before a release.
TIERS: Final = ("C", "N", "R")

T = TypeVar("T")


def silent(_done: int, _whole: int) -> None:
    """Progress that nobody follows."""


@dataclass(slots=True)
class Trial:
    """One run of a check: how much of it, where it may write, and all the chance that it may use."""

    tier: str
    size: int
    seed: int
    folder: Path
    told: Callable[[int, int], None] = silent
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  # repeatable

    def steps(self) -> Iterator[int]:
        """0, 1, … up to the size, telling how far the check is."""
        return self.along(range(self.size), self.size)

    def along(self, items: Iterable[T], whole: int) -> Iterator[T]:
        """The items, of which there are so many in all, telling how far the check is."""
        for done, item in enumerate(items):
            self.told(done, whole)
            yield item
        self.told(whole, whole)


@dataclass(frozen=True, slots=True)
class Check:
    """A promise that can be measured; `work` returns the figure, or raises where the promise is broken.

    `broken` breaks the build of this process, in the way in which the check has been seen to fail.
    """

    id: str
    title: str
    target: str
    sizes: dict[str, int]
    work: Callable[[Trial], str]
    broken: Callable[[], None] | None = None


CHECKS: Final[dict[str, Check]] = {}


def check(
    id: str,
    title: str,
    target: str,
    *,
    c: int,
    n: int,
    r: int | None = None,
    broken: Callable[[], None] | None = None,
) -> Callable[[Callable[[Trial], str]], Callable[[Trial], str]]:
    """Register a function under an id such as K1, with how many trials it makes in each tier (R: as N, unless said).

    The function is handed a `Trial` and returns the figure that it measured, in words: "50 kills, 0 lost". Where the
    promise is broken it raises. `broken` makes the package break the promise; the check must then fail, and a test sees
    that it does. Where the break is no matter of a line, the docstring says which broken build the check has caught.
    """
    if not re.fullmatch(r"[A-Z]\d+", id) or id in CHECKS:
        message = f"{id!r} is no id, or is taken: a letter and a number, as in RELIABILITY"
        raise ValueError(message)

    def register(work: Callable[[Trial], str]) -> Callable[[Trial], str]:
        sizes = dict(zip(TIERS, (c, n, n if r is None else r), strict=True))
        CHECKS[id] = Check(id, title, target, sizes, work, broken)
        return work

    return register
