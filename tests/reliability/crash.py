"""Crashes: what was acknowledged is there afterwards, what was not is there wholly or not at all."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import TYPE_CHECKING

from .deeds import do, opened, state
from .registry import Trial, check

if TYPE_CHECKING:
    from pathlib import Path

_LIFE = 40  # kills of one file, before the next is begun


@check("K1", "kill -9 at random times", "1,000 kills, 0 lost, 0 partial, reopened in < 1 s", c=50, n=1000)
def killed_at_random(trial: Trial) -> str:
    """A child writes and is killed; the file must then show what was acknowledged, or one deed more, and verify.

    The state expected comes from a graph in memory that does the same deeds.
    """
    done, slowest, half_way = 0, 0.0, 0
    for kill in trial.steps():
        if kill % _LIFE == 0:
            path, twin, done = trial.folder / f"{kill}.db", opened(), 0
            opened(path).close()
        acknowledged = _killed(path, trial, done)
        for number in range(done, acknowledged):
            do(twin, trial.seed, number)
        done = acknowledged
        began = time.monotonic()
        kg = opened(path)
        found = state(kg)
        slowest = max(slowest, time.monotonic() - began)
        if found != state(twin):
            do(twin, trial.seed, done)
            done, half_way = done + 1, half_way + 1
            assert found == state(twin), f"kill {kill}: neither {done - 1} nor {done} deeds"
        problems = kg.verify()
        assert not problems, f"kill {kill}: {problems}"
        kg.close()
    assert slowest < 1, f"reopening took {slowest:.2f} s"
    kept = f"{half_way} inside a write that was kept"
    return f"{trial.size} kills, 0 lost, 0 partial ({kept}), reopened in {slowest * 1000:.0f} ms"


def _killed(path: Path, trial: Trial, first: int) -> int:
    """How many deeds in all were acknowledged when the child that went on with them was killed."""
    seen, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        _write_on(path, trial.seed, first, told)
    os.close(told)
    wanted = trial.random.randrange(0, 12)
    acknowledged = 0
    while acknowledged < wanted:
        acknowledged += len(os.read(seen, 1))
    time.sleep(trial.random.choice((0, trial.random.random() * 0.01)))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while select.select([seen], [], [], 0)[0] and (more := os.read(seen, 4096)):
        acknowledged += len(more)
    os.close(seen)
    return first + acknowledged


def _write_on(path: Path, seed: int, first: int, told: int) -> None:
    """Do deeds without end, telling of each after it has returned."""
    try:
        kg = opened(path)
        number = first
        while True:
            do(kg, seed, number)
            os.write(told, b".")
            number += 1
    finally:
        os._exit(1)
