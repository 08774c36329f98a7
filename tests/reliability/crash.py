"""Crashes: what was acknowledged is there afterwards, what was not is there wholly or not at all."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from semgraph.errors import CommitUnknown, HandlePoisoned, SemgraphError, StoreError
from semgraph.store.sqlite import SqliteStore

from .deeds import do, opened, state
from .operations import OPERATIONS, base, begun, everything, outside, prepared, strays
from .points import kill_at, raise_at, watching
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_LIFE = 25  # kills of one file, before the next is begun


def without_transactions() -> None:
    """Break the build: each statement is kept by itself."""

    @contextmanager
    def write(store: SqliteStore) -> Iterator[None]:
        with store._lock:
            store._depth, store._writing = store._depth + 1, True
            try:
                yield
            finally:
                store._depth -= 1
                store._writing = store._depth > 0

    SqliteStore.write = write


@check(
    "K1",
    "kill -9 at random times",
    "1,000 kills, 0 lost, 0 partial, reopened in < 1 s",
    c=50,
    n=1000,
    broken=without_transactions,
)
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


class Case:
    """An operation on a store of its own: what there was before it, and what is to be there after."""

    def __init__(self, trial: Trial, name: str, source: Path) -> None:
        self.name, self._work = name, OPERATIONS[name]
        self._source, self._folder, self._number = source, trial.folder, 0
        path = self.fresh()
        with watching(lambda _number, _kind: None) as steps:
            kg = begun(path)
            self.before = everything(kg)
            steps.armed = True
            self.work(kg, path)
            self.steps = steps.count
        self.after, self.files = everything(kg), outside(path.parent)
        kg.close()
        self.done_with(path)

    def work(self, kg, path: Path) -> None:
        self._work(kg, path.parent)

    def fresh(self) -> Path:
        self._number += 1
        return prepared(self._folder, self._source, self._number)

    def done_with(self, path: Path) -> None:
        shutil.rmtree(path.parent)

    def chosen(self, trial: Trial) -> list[int]:
        """The steps at which something is to happen: all, or as many as the trial is large, each time others."""
        steps = range(1, self.steps + 1)
        return list(steps) if self.steps <= trial.size else sorted(trial.random.sample(steps, trial.size))

    def judge(self, path: Path, where: str) -> bool:
        """Whether the file shows the operation as done; neither done nor not done at all is an error."""
        kg = opened(path)
        found = everything(kg)
        assert found in (self.before, self.after), f"{where}: neither as before nor as after"
        problems = [problem for name in found for problem in kg.scoped(name).verify()]
        assert not problems, f"{where}: {problems}"
        kg.close()
        for name, content in outside(path.parent).items():
            assert content == self.files[name] or name == "copy.db", f"{where}: half of {name}"
            if name == "copy.db":
                with opened(path.parent / name) as copy:
                    assert everything(copy) == self.before, f"{where}: half of {name}"
        return found == self.after


def cases(trial: Trial) -> Iterator[Case]:
    """Every operation, on a store of the trial's chance."""
    source = trial.folder / "base.db"
    base(source, trial.seed)
    for name in trial.along(OPERATIONS, len(OPERATIONS)):
        yield Case(trial, name, source)


@check(
    "K2",
    "kill -9 at every step of every operation",
    "before or after, never between; verify clean",
    c=2,
    n=10_000,
    broken=without_transactions,
)
def killed_at_every_step(trial: Trial) -> str:
    """A child does one operation and kills itself before its n-th statement, or before what it does to a file."""
    kills = kept = 0
    for case in cases(trial):
        for step in case.chosen(trial):
            path = case.fresh()
            _die_at(step, case, path)
            kept += case.judge(path, f"{case.name}, step {step} of {case.steps}")
            kills += 1
            case.done_with(path)
    return f"{len(OPERATIONS)} operations, {kills} kills: {kept} after, the rest before, 0 between"


def _die_at(step: int, case: Case, path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            with watching(kill_at(step)) as steps:
                kg = begun(path)
                steps.armed = True
                case.work(kg, path)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), f"{case.name}: step {step} was not reached"


def _driver(name: str, extended: int = 0) -> Callable[[], BaseException]:
    def made() -> BaseException:
        error = getattr(apsw, name)("not this time")
        error.extendedresult = extended
        return error

    return made


#: What a statement, and what an act on a file, may fail with.
_ERRORS: Final[dict[str, dict[str, Callable[[], BaseException]]]] = {
    "disk": {
        "statement": _driver("IOError", apsw.SQLITE_IOERR_WRITE),
        "file": lambda: OSError(errno.EIO, "the disk failed"),
    },
    "full": {
        "statement": _driver("FullError"),
        "file": lambda: OSError(errno.ENOSPC, "no space"),
    },
    "memory": {"statement": MemoryError, "file": lambda: OSError(errno.ENOMEM, "no memory")},
    "interrupt": {"statement": KeyboardInterrupt, "file": KeyboardInterrupt},
}


@check(
    "K3",
    "an error at every step of every operation",
    "handle right or poisoned, no lock left",
    c=2,
    n=10_000,
    broken=without_transactions,
)
def failed_at_every_step(trial: Trial) -> str:
    """A statement or an act on a file raises: disk, room, memory, an interrupt; once, or ever after.

    What crosses the API is declared; another handle can write at once and sees the operation done or not done; this
    one sees the same, or says that it is poisoned; done again, the operation is done.
    """
    failures = poisoned = 0
    for case in cases(trial):
        for step in case.chosen(trial):
            kind, on = trial.random.choice(list(_ERRORS)), trial.random.random() < 0.5
            where = f"{case.name}, {kind} at step {step} of {case.steps}{' and on' if on else ''}"
            path = case.fresh()
            poisoned += _fail_at(step, case, path, where, kind, on=on)
            failures += 1
            case.done_with(path)
    survived = _swallowed(trial, trial.folder / "base.db")
    what = f"{len(OPERATIONS)} operations, {failures} errors ({survived} more swallowed inside atomic)"
    return f"{what}: {poisoned} handles poisoned, 0 wrong, 0 locks left"


_TOLD: Final = (("Zoe", "works_at", "Hooli"), ("Yan", "likes", "tea"), ("Zoe", "visited", "Rome"))


def _swallowed(trial: Trial, source: Path) -> int:
    """How many pairs of errors, one after the other, a program swallowed that goes on in the same transaction.

    What it was told has failed must be missing, wholly, and the rest be there; or nothing is, and it is told so.
    """
    expected: dict[tuple[int, ...], dict[str, list[str]]] = {}
    steps, _ = _told_in_one(prepared(trial.folder, source, 1_000_000), (), lambda _number, _kind: None)
    chosen = (
        range(1, steps + 1) if steps <= trial.size * 10 else trial.random.sample(range(1, steps + 1), trial.size * 10)
    )
    for step in chosen:
        path = prepared(trial.folder, source, 2_000_000 + step)
        errors = _ERRORS[trial.random.choice(("disk", "full", "memory"))]
        first, second = raise_at(step, errors), raise_at(step + 1, errors)
        _, lost = _told_in_one(path, (), lambda number, kind: (first(number, kind), second(number, kind)))  # noqa: B023
        if lost not in expected:
            clean = prepared(trial.folder, source, 3_000_000 + step)
            _told_in_one(clean, lost, lambda _number, _kind: None)
            with closing(opened(clean)) as kg:
                expected[lost] = everything(kg)
        with closing(opened(path)) as kg:
            assert everything(kg) == expected[lost], f"errors at {step} and {step + 1}: told as lost {lost}, and not so"
            assert not kg.verify(), f"errors at {step} and {step + 1}: {kg.verify()}"
    return len(chosen)


def _told_in_one(
    path: Path, without: tuple[int, ...], strike: Callable[[int, str], None]
) -> tuple[int, tuple[int, ...]]:
    """How many steps it took to tell things in one transaction, and which of them failed."""
    lost = []
    with watching(strike) as steps, closing(begun(path)) as kg:
        steps.armed = True
        try:
            with kg.atomic():
                for number, words in enumerate(_TOLD):
                    if number not in without:
                        try:
                            kg.add(*words)
                        except SemgraphError:
                            lost.append(number)
        except SemgraphError:
            lost = [*range(len(_TOLD))]
        steps.armed = False
        return steps.count, tuple(lost)


def _fail_at(step: int, case: Case, path: Path, where: str, kind: str, *, on: bool) -> bool:
    """Whether the handle was poisoned by the error; anything that should not be raises."""
    allowed = (SemgraphError, KeyboardInterrupt) if kind == "interrupt" else SemgraphError
    with watching(raise_at(step, _ERRORS[kind], on=on)) as steps:
        kg, raised = begun(path), None
        steps.armed = True
        try:
            case.work(kg, path)
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is judged
            raised = error
        steps.armed = False
    assert raised is None or isinstance(raised, allowed), f"{where}: {raised!r}"
    with closing(SqliteStore(path, timeout_ms=0)) as other, other.write():
        pass
    done = case.judge(path, where)
    if isinstance(raised, StoreError) and not isinstance(raised, CommitUnknown | HandlePoisoned):
        assert not done or case.before == case.after, f"{where}: told as not kept, and kept: {raised!r}"
    assert on or kind == "interrupt" or not strays(path.parent), f"{where}: left {strays(path.parent)}"
    poisoned = False
    try:
        assert everything(kg) == (case.after if done else case.before), f"{where}: the handle sees something else"
        if not done:
            case.work(kg, path)
            assert everything(kg) == case.after, f"{where}: done again, it is not done"
        problems = kg.verify()
        assert not problems, f"{where}: {problems}"
    except HandlePoisoned:
        poisoned = True
    kg.close()
    return poisoned
