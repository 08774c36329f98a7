"""Work that must end: in threads at once, or before a time is up."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


class Late(BaseException):
    """It takes too long; no error, lest somebody on the way takes it for one of his."""


def together(works: Iterable[Callable[[], T]]) -> list[T]:
    """What each of them gives, in a thread of its own; an error of one is raised here."""
    found: list[T] = []
    errors: list[BaseException] = []

    def run(work: Callable[[], T]) -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  # raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


@contextmanager
def hurry(seconds: float) -> Iterator[None]:
    """The block is broken off with `Late` when it takes longer, where there are such signals."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_: object) -> None:
        raise Late(f"it takes more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def steps(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls, whatever the machine: what grows with it shows in the ratio of two."""
    counted = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted
