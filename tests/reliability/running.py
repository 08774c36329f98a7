"""A check run in a process of its own, so that whatever happens there is a result here."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .registry import Trial, silent

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from .registry import Check

#: Longest silence in seconds: a check tells how far it is, and one that hangs does not.
PATIENCE: Final = 600.0


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a check: its figure, or where it failed why."""

    id: str
    tier: str
    size: int
    seed: int
    passed: bool
    figure: str
    seconds: float


class Results:
    """The results so far, kept in a file, so that a run which was stopped goes on where it was."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._path = path
        self._found: dict[tuple[str, str], Result] = {}
        if not fresh:
            with suppress(FileNotFoundError):
                for line in path.read_text(encoding="utf-8").splitlines():
                    self.keep(Result(**json.loads(line)), write=False)

    def finished(self, id: str, tier: str, size: int, seed: int | None) -> Result | None:
        """What a check came to at this tier and size, if it passed; a failed one is due again."""
        found = self._found.get((id, tier))
        if found is None or not found.passed or found.size != size:
            return None
        return found if seed in (None, found.seed) else None

    def keep(self, result: Result, *, write: bool = True) -> None:
        """Remember the result, for the next run too."""
        self._found[result.id, result.tier] = result
        if write:
            draft = self._path.with_suffix(".tmp")
            lines = [json.dumps(asdict(found)) + "\n" for found in self._found.values()]
            draft.write_text("".join(lines), encoding="utf-8")
            draft.replace(self._path)


def run(
    check: Check,
    tier: str,
    *,
    size: int | None = None,
    seed: int | None = None,
    broken: bool = False,
    told: Callable[[int, int], None] = silent,
) -> Result:
    """The result of one check, in a fresh process with a folder that is removed afterwards; maybe on a broken build."""
    size = check.sizes[tier] if size is None else size
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    folder = Path(tempfile.mkdtemp(prefix=f"semgraph-{check.id}-"))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    breaking = check.broken if broken else None
    process = context.Process(target=_work, args=(check.work, breaking, Trial(tier, size, seed, folder), there))
    began = time.monotonic()
    try:
        process.start()
        there.close()
        passed, figure = _followed(here, told)
    finally:
        _end(process.pid)
        process.join()
        shutil.rmtree(folder, ignore_errors=True)
    return Result(check.id, tier, size, seed, passed, figure, round(time.monotonic() - began, 1))


def _followed(source: Connection, told: Callable[[int, int], None]) -> tuple[bool, str]:
    """Whether the check passed, and what it says; meanwhile it tells how far it is."""
    while True:
        if not source.poll(PATIENCE):
            return False, f"nothing was heard for {PATIENCE:.0f} s"
        try:
            kind, *words = source.recv()
        except EOFError:
            return False, "the process of the check died"
        if kind == "far":
            told(*words)
        else:
            return kind == "passed", words[0]


def _work(work: Callable[[Trial], str], broken: Callable[[], None] | None, trial: Trial, told: Connection) -> None:
    """The check itself, in a session of its own, which ends with all that it started."""
    os.setsid()
    os.environ["SEMGRAPH_CONFIG"] = ""
    heard = 0.0

    def far(done: int, whole: int) -> None:
        nonlocal heard
        if time.monotonic() - heard >= 1:
            heard = time.monotonic()
            told.send(("far", done, whole))

    trial.told = far
    try:
        if broken is not None:
            broken()
        told.send(("passed", work(trial)))
    except BaseException:  # noqa: BLE001  # told by the parent, with the seed
        told.send(("failed", f"seed={trial.seed}\n{traceback.format_exc()}"))


def _end(pid: int | None) -> None:
    with suppress(OSError, TypeError):
        os.killpg(pid, signal.SIGKILL)  # type: ignore[arg-type]
    with suppress(OSError, TypeError):
        os.kill(pid, signal.SIGKILL)  # type: ignore[arg-type]
