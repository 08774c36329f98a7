"""Copies of a store that is being written: each is a state that was, with all that was acknowledged before it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from semgraph.store.sqlite import SqliteStore

from .children import begun
from .deeds import do, opened, state
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LIFE: Final = 10  # backups of one file, before the next is begun: every deed makes the next ones slower


class _Writer:
    """A child that does one deed after the other, but for its pauses, and a twin in memory that can do the same."""

    def __init__(self, path: Path, seed: int) -> None:
        self._seed, self.acknowledged = seed, 0
        self._seen, told = os.pipe()
        os.set_blocking(self._seen, False)
        self._child = begun(lambda: list(_written(path, seed, told)))
        os.close(told)
        self._twin, self._done = opened(), 0
        self._states: dict[int, list[str]] = {0: state(self._twin)}

    def read(self) -> int:
        """How many deeds were acknowledged by now."""
        with suppress(BlockingIOError):
            self.acknowledged += len(os.read(self._seen, 1 << 16))
        return self.acknowledged

    def pause(self) -> None:
        os.kill(self._child.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._child.pid, signal.SIGCONT)

    def states(self, first: int, last: int) -> list[list[str]]:
        """What a store shows after so many deeds, from the first number to the last; the first one never sinks."""
        self._states = {number: found for number, found in self._states.items() if number >= first}
        while self._done < last:
            do(self._twin, self._seed, self._done)
            self._done += 1
            if self._done >= first:
                self._states[self._done] = state(self._twin)
        return [self._states[number] for number in range(first, last + 1)]

    def end(self) -> None:
        self._child.kill()
        os.close(self._seen)
        self._twin.close()


def _written(path: Path, seed: int, told: int) -> Iterator[None]:
    with closing(opened(path)) as kg:
        for number in range(100_000):
            do(kg, seed, number)
            os.write(told, b".")
            yield


def by_copying() -> None:
    """Break the build: a backup is a copy of the file."""
    SqliteStore.backup = lambda store, path: path.write_bytes(store.path.read_bytes())


@check(
    "B1",
    "backup while writing",
    "opens, verify clean, contains every ack before its start",
    c=4,
    n=60,
    broken=by_copying,
)
def backed_up(trial: Trial) -> str:
    """A child writes, paused while a copy is judged; each copy must be a state that was, no older than its start."""
    writes, meanwhile, longest = 0, 0, 0.0
    rounds = trial.steps()
    for first in range(0, trial.size, _LIFE):
        path = trial.folder / f"{first}.db"
        opened(path).close()
        writer = _Writer(path, trial.seed + first)
        with closing(opened(path)) as kg:
            for _, number in zip(range(_LIFE), rounds, strict=False):
                time.sleep(trial.random.random() * 0.1)
                copied = trial.folder / f"{number}.bak"
                before, began = writer.read(), time.monotonic()
                kg.backup(copied)
                longest, after = max(longest, time.monotonic() - began), writer.read()
                writer.pause()
                with closing(opened(copied)) as copy:
                    assert state(copy) in writer.states(before, after + 1), f"backup {number}: not a state of its time"
                    assert not copy.verify(), f"backup {number}: {copy.verify()}"
                meanwhile += after - before
                writer.go_on()
        writes += writer.read()
        writer.end()
    told = f"{trial.size} backups beside {writes} writes, {meanwhile} of them during one"
    return f"{told}: all whole and clean, at most {longest * 1000:.0f} ms"
