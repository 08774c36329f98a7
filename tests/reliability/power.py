"""Loss of power, and disks that fail: what was acknowledged was on the disk before it was."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

import apsw

from semgraph.errors import CommitUnknown, HandlePoisoned, SemgraphError, StoreFull
from semgraph.store import connecting, sqlite

from .deeds import do, opened, state
from .disk import Disk, Event, cut, failing, laid_out
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_DEEDS: Final = 14  # of a history
_CUTS: Final = 40  # of a history


class History:
    """Some deeds on a recorded disk: the events, with a mark after each deed, and the state after each."""

    def __init__(self, path: Path, seed: int, durability: str) -> None:
        disk = Disk()
        self.states = [state(opened())]
        for numbers in (range(_DEEDS // 2), range(_DEEDS // 2, _DEEDS)):  # closed in between
            with closing(opened(path, durability=durability)) as kg:
                # Pages move from the log into the file after a few writes already.
                kg._session.store._log.limit = 12
                for number in numbers:
                    do(kg, seed, number)
                    disk.note("done")
                    self.states.append(state(kg))
        disk.removed()
        self.events: Sequence[Event] = disk.events

    def done(self, at: int) -> int:
        """How many deeds were acknowledged before this event."""
        return sum(event.kind == "done" for event in self.events[:at])


def without_syncs() -> None:
    """Break the build: nothing waits for the disk."""
    connecting.SYNCHRONOUS = {"full": "OFF", "relaxed": "OFF"}


def with_blind_trust() -> None:
    """Break the build: after a commit of which nobody knows the handle goes on."""
    sqlite.SqliteStore._poison = lambda _store: None


@check(
    "K4",
    "loss of power",
    "FULL: 0 acknowledged lost in 2,000 cut states; NORMAL: 0 corrupt",
    c=80,
    n=4000,
    broken=without_syncs,
)
def cut_off(trial: Trial) -> str:
    """Files are rebuilt as a loss of power at any moment may leave them: unsynced sectors kept, dropped or torn."""
    states = {"full": 0, "relaxed": 0}
    lost = 0
    for number in trial.steps():
        if number % _CUTS == 0:
            durability = ("full", "relaxed")[number // _CUTS % 2]
            folder = trial.folder / str(number)
            folder.mkdir()
            history = History(folder / "store.db", trial.seed + number, durability)
        at = trial.random.randrange(1, len(history.events) + 1)
        place = trial.folder / f"cut{number}"
        laid_out(place, cut(history.events[:at], trial.random))
        with closing(opened(place / "store.db")) as kg:
            found, done = state(kg), history.done(at)
            problems = kg.verify()
        where = f"state {number}, {durability}, cut after event {at} of {len(history.events)}, {done} deeds done"
        assert not problems, f"{where}: {problems}"
        assert found in history.states[: done + 2], f"{where}: a state that never was"
        if found not in history.states[done : done + 2]:
            assert durability == "relaxed", f"{where}: an acknowledged deed is lost"
            lost += 1
        states[durability] += 1
        shutil.rmtree(place)
    relaxed = f"{states['relaxed']} at NORMAL: 0 corrupt ({lost} without the last deeds)"
    return f"{states['full']} cut states at FULL: 0 acknowledged lost, 0 corrupt; {relaxed}"


_FAULTS: Final = {
    "sync": ("sync", "IOError", apsw.SQLITE_IOERR_FSYNC),
    "write": ("write", "IOError", apsw.SQLITE_IOERR_WRITE),
    "room": ("write", "FullError", apsw.SQLITE_FULL),
}
#: Room is wanting in the log only: what fails in a checkpoint after a commit SQLite keeps to itself, but the driver
#: does not where the layer is one in Python, and then even a commit that was kept would be told as full.
_ONLY: Final = {"room": "-wal"}


class _Striking:
    """A fault at the n-th write or sync, and, with `on`, at all later ones."""

    def __init__(self, fault: str, wanted: int, *, on: bool) -> None:
        self._kind, self._name, self._code = _FAULTS[fault]
        self._only = _ONLY.get(fault, "")
        self._wanted, self._on, self.count = wanted, on, 0

    def __call__(self, kind: str, name: str) -> None:
        if kind == self._kind and name.endswith(self._only):
            self.count += 1
            if self.count == self._wanted or (self._on and self.count > self._wanted):
                raise failing(self._name, self._code)


@check(
    "K5",
    "a write or sync that fails",
    "no ack, COMMIT never retried, reopened: before or after",
    c=40,
    n=1500,
    broken=with_blind_trust,
)
def failing_disk(trial: Trial) -> str:
    """Some write or sync of a history fails, once or ever after: with an I/O error, or for want of room."""
    outcomes: Counter[str] = Counter()
    for number in trial.steps():
        seed = trial.seed + number // 20
        path = trial.folder / f"{number}.db"
        fault, on = trial.random.choice(list(_FAULTS)), trial.random.random() < 0.5
        if number % 20 == 0:
            whole = {fault: _Striking(fault, 0, on=False) for fault in _FAULTS}
            for strike in whole.values():
                _failed(path, seed, strike, "no fault")
                path.unlink()
        wanted = trial.random.randrange(1, whole[fault].count + 1)
        where = f"run {number}: {fault} {wanted} of {whole[fault].count}{' and on' if on else ''}"
        outcomes[_failed(path, seed, _Striking(fault, wanted, on=on), where)] += 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"{trial.size} faults: {told}; 0 acknowledged lost, 0 between, 0 COMMIT retried"


def _failed(path: Path, seed: int, strike: _Striking, where: str) -> str:
    """How a short history ended in which the disk failed."""
    disk = Disk()
    statements: list[str] = []
    kg = opened(path)
    kg._session.store._log.limit = 4
    kg._session.store._connection.exec_trace = lambda _cursor, text, _values: statements.append(text) or True
    states, outcome = [state(kg)], "no error"
    disk.fault = strike
    for number in range(6):
        try:
            do(kg, seed, number)
            states.append(state(kg))  # a refusal is told even where the log of refusals fails
        except SemgraphError as error:
            outcome = type(error).__name__
            break
    _commits_once(statements, where)
    if outcome == CommitUnknown.__name__:
        with suppress(HandlePoisoned):
            kg.stats()
            raise AssertionError(f"{where}: the handle goes on after a commit of which nobody knows")
    with suppress(SemgraphError):  # where the layer is one in Python, the checkpoint of a close fails aloud
        kg.close()
    disk.removed()
    expected = [states[-1]]
    if outcome != "no error":
        twin = opened()
        for number in range(len(states)):
            do(twin, seed, number)
        expected += [] if outcome == StoreFull.__name__ else [state(twin)]
    with closing(opened(path)) as again:
        assert state(again) in expected, f"{where}: {outcome}, then neither before nor after"
        problems = again.verify()
    assert not problems, f"{where}: {problems}"
    return outcome


def _commits_once(statements: Sequence[str], where: str) -> None:
    """A COMMIT that failed is never tried again."""
    begun = False
    for text in statements:
        if text.startswith("BEGIN"):
            begun = True
        elif text == "COMMIT":
            assert begun, f"{where}: a second COMMIT of one transaction"
            begun = False
