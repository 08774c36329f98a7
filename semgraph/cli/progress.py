"""A sign of life on standard error while something takes long, and only where a person looks at it."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from click import get_current_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["working"]

_PATIENCE: Final = 0.7  # seconds before anything is shown


@contextmanager
def working(words: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar while the block runs; what it yields is called with how much is done, if somebody knows.

    Whatever comes back from the block comes back at once: the bar is shown by a thread of its own.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    bar = _Bar(words, total)
    timer = threading.Timer(_PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.reach
    finally:
        timer.cancel()
        bar.end()


class _Bar:
    """A bar of rich, made when it is first shown: importing it takes longer than most commands."""

    def __init__(self, words: str, total: int | None) -> None:
        self._words = words
        self._total = total
        self._done = 0
        self._lock = threading.Lock()
        self._ended = False
        self._shown: Any = None
        context = get_current_context(silent=True)
        self._plain = context is not None and context.color is False

    def show(self) -> None:
        """Draw it from now on."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True, no_color=self._plain or None), transient=True)
        bar.add_task(self._words, total=self._total, completed=self._done)
        with self._lock:
            if not self._ended:
                bar.start()
                self._shown = bar

    def reach(self, done: int) -> None:
        """So much is done."""
        self._done = done
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=done)

    def end(self) -> None:
        """Take it away."""
        with self._lock:
            self._ended = True
            if self._shown is not None:
                self._shown.stop()
