"""Time and versions: clocks that jump, files of every release, migrations that are cut off, files of the future."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import shutil
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import semgraph
from semgraph import pages
from semgraph.errors import SchemaTooNew, StoreReadOnly
from semgraph.store import files, migrations
from semgraph.store.migrations import Migration, newest_version

from .damage import READS
from .deeds import KINDS, REFUSED, do, opened, state
from .points import kill_at, watching
from .registry import Trial, check

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from semgraph import KnowledgeGraph

#: A packed database and what it shows, per name and schema version; made by `tools/freeze.py`, never made anew.
FROZEN: Final = Path(__file__).parents[1] / "frozen"
_POINTS: Final = (("2012-06-01", None), ("2019-03-01", "2024-01-01T00:20:00Z"), ("2030-01-01", None))


def shows(kg: KnowledgeGraph) -> dict[str, str]:
    """What a graph shows, as digests: every row, and the facts at three points of valid and known time."""
    found = {"rows": state(kg), "timelines": READS["timelines"](kg), "conflicts": READS["conflicts"](kg)}
    for valid_at, known_at in _POINTS:
        view = kg.at(valid_at, known_at=known_at)
        found[f"at {valid_at} known {known_at or 'now'}"] = READS["facts"](view)
    return {name: hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32] for name, what in found.items()}


# Migrations


def _widened(connection: Any) -> None:
    """A later schema, as it might be: a new table, filled from an old one, and an index."""
    connection.execute("CREATE TABLE extra (scope INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (scope, id)) STRICT")
    connection.execute("INSERT INTO extra SELECT scope, CAST(id AS BLOB) FROM claim")
    connection.execute("CREATE INDEX extra_by_id ON extra (id)")


@contextmanager
def _a_version_later() -> Iterator[int]:
    """Inside, the package knows one schema version more."""
    before = migrations.MIGRATIONS
    migrations.MIGRATIONS = (*before, Migration(newest_version() + 1, _widened))
    try:
        yield newest_version()
    finally:
        migrations.MIGRATIONS = before


def _versions() -> Iterator[tuple[str, dict[str, Any]]]:
    for place in sorted(FROZEN.glob("*.json")):
        yield place.stem, json.loads(place.read_text(encoding="utf-8"))


def _thawed(name: str, folder: Path) -> Path:
    path = folder / f"{name}.db"
    path.write_bytes(gzip.decompress((FROZEN / f"{name}.db.gz").read_bytes()))
    return path


def that_loses_rows() -> None:
    """Break the build: a migration drops what it did not understand."""
    global _widened  # noqa: PLW0603  # it is the module that is broken

    def losing(connection: Any) -> None:
        connection.execute("CREATE TABLE extra (scope INTEGER NOT NULL)")
        connection.execute("DELETE FROM claim WHERE rowid IN (SELECT rowid FROM claim LIMIT 1)")

    _widened = losing


@check(
    "M1",
    "migration from every released schema",
    "verify clean, same exports at 3 points, backup left beside",
    c=1,
    n=3,
    broken=that_loses_rows,
)
def migrated(trial: Trial) -> str:
    """Frozen files are opened by this version, and by one whose schema is a step later; both show what was frozen."""
    for number in trial.steps():
        folder = trial.folder / str(number)
        folder.mkdir()
        for name, frozen in _versions():
            path = _thawed(name, folder)
            _same(path, frozen, name)
            before = path.read_bytes()
            with _a_version_later() as version:
                try:
                    opened(path, read_only=True)
                except StoreReadOnly:
                    assert path.read_bytes() == before
                else:
                    message = f"{name}: read as a version {version} without being one"
                    raise AssertionError(message)
                _same(path, frozen, f"{name}, migrated to {version}")
            backup = path.with_name(f"{path.name}.v{version - 1}.bak")
            _same(backup, frozen, f"{name}, the backup")
    names = [name for name, _ in _versions()]
    return f"{len(names)} frozen files ({', '.join(names)}), now, a version later, and their backups: all as frozen"


def _same(path: Path, frozen: dict[str, Any], where: str) -> None:
    with closing(opened(path)) as kg:
        assert not kg.verify(), f"{where}: {kg.verify()}"
        assert shows(kg) == frozen["shows"], f"{where}: shows something else"


def without_a_transaction() -> None:
    """Break the build: each statement of a migration is kept by itself, the new version first."""
    real = migrations._migrate

    class Loose:
        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, text: str, *given: Any) -> Any:
            if text == "BEGIN IMMEDIATE":
                text = f"PRAGMA user_version = {newest_version()}"
            return None if text == "COMMIT" else self._connection.execute(text, *given)

    migrations._migrate = lambda connection, steps, back_up: real(Loose(connection), steps, back_up)


@check(
    "M2",
    "kill -9 at every step of a migration",
    "old or new version, both open",
    c=8,
    n=10_000,
    broken=without_a_transaction,
)
def cut_off(trial: Trial) -> str:
    """A child migrates a file and kills itself before the n-th step; the file is then of the old version or the new."""
    source = trial.folder / "base.db"
    with closing(opened(source)) as kg:
        for number in range(20):
            do(kg, trial.seed, number)
        expected = shows(kg)
    old, kills, new = newest_version(), 0, 0
    with _a_version_later() as later:
        steps = _migration(source, trial.folder / "whole", None)
        every = range(1, steps + 1)
        for step in every if steps <= trial.size else sorted(trial.random.sample(every, trial.size)):
            folder = trial.folder / f"cut{step}"
            _migration(source, folder, step)
            path = folder / "s.db"
            header = b"".join(files._chunks(path, 0, 100))
            version = int.from_bytes(header[60:64], "big")
            with closing(opened(path)) as kg:
                assert kg._session.store._connection.pragma("user_version") == later
                assert not kg.verify(), f"killed at {step}: {kg.verify()}"
                assert shows(kg) == expected, f"killed at {step}: shows something else"
            assert version in (old, later)
            kills, new = kills + 1, new + (version == later)
            shutil.rmtree(folder)
    return (
        f"{kills} kills in {steps} steps: {kills - new} left the old version, {new} the new; all opened and as before"
    )


def _migration(source: Path, folder: Path, step: int | None) -> int:
    """How many steps a migration of a copy takes; or a child that dies at one of them."""
    folder.mkdir()
    path = Path(shutil.copy(source, folder / "s.db"))
    if step is None:
        with watching(lambda _number, _kind: None) as steps:
            steps.armed = True
            opened(path).close()
            return steps.count
    pid = os.fork()
    if pid == 0:
        try:
            with watching(kill_at(step)) as steps:
                steps.armed = True
                opened(path).close()
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    return step


def with_any_version() -> None:
    """Break the build: the version of a file is not looked at."""
    from semgraph.store import connecting

    connecting.recognise = lambda *_: None
    migrations._version = lambda *_: newest_version()


@check("M3", "newer file, older code", "SchemaTooNew, file bytes unchanged", c=4, n=60, broken=with_any_version)
def from_the_future(trial: Trial) -> str:
    """The version in the head is one that is to come; for reading and for writing."""
    for number in trial.steps():
        path = trial.folder / f"{number}.db"
        with closing(opened(path)) as kg:
            do(kg, trial.seed, number)
        content = bytearray(path.read_bytes())
        content[60:64] = (newest_version() + trial.random.randrange(1, 1000)).to_bytes(4, "big")
        content[pages.PAGE - pages.RESERVED : pages.PAGE] = pages.checksum(bytes(content[: pages.PAGE]), 0)
        path.write_bytes(content)
        try:
            opened(path, read_only=bool(number % 2)).close()
        except SchemaTooNew:
            assert path.read_bytes() == content, "refused, and changed all the same"
        else:
            message = "a file of a later version was opened"
            raise AssertionError(message)
        assert [place.name for place in trial.folder.glob(f"{number}.db*")] == [path.name], "files were left beside"
    return f"{trial.size} files: all SchemaTooNew, 0 bytes changed, 0 files made"


# Clocks


class _Jumping:
    """A clock that goes back a day, forward ten years, stands still, or wanders."""

    def __init__(self, chosen: random.Random) -> None:
        self._chosen = chosen
        self.moment = datetime(2024, 1, 1, tzinfo=UTC)
        self.leaps = 0

    def step(self) -> None:
        kind = self._chosen.choice(("on", "on", "still", "back", "wander", "far"))
        before = self.moment
        self.moment += {
            "on": timedelta(minutes=3),
            "still": timedelta(0),
            "back": timedelta(days=-1),
            "wander": timedelta(hours=self._chosen.gauss(0, 5)),
            "far": timedelta(days=3653) if self.leaps < 3 else timedelta(0),
        }[kind]
        self.leaps += self.moment - before > timedelta(days=400)

    def __call__(self) -> datetime:
        return self.moment


def with_the_wall_clock() -> None:
    """Break the build: what is recorded is the wall clock, whatever was recorded before."""
    from semgraph import session

    session.next_recorded = lambda wall, _last: wall


@check(
    "T1",
    "clocks that jump",
    "I13, I4 hold; a leap over a year is logged; 1,000 histories",
    c=12,
    n=1000,
    broken=with_the_wall_clock,
)
def jumping(trial: Trial) -> str:
    """recorded_at strictly increases, and what was known at a moment is shown for ever as it was shown then."""
    leaps = logged = 0
    for number in trial.steps():
        clock, heard = _Jumping(trial.random), _Heard()
        logging.getLogger("semgraph").addHandler(heard)
        with closing(semgraph.KnowledgeGraph(embedder=None, clock=clock)) as kg:
            moments, pictures = _told_in_leaps(kg, clock, trial.random)
            assert all(first < second for first, second in pairwise(moments)), f"history {number}: {moments}"
            for moment, picture in pictures:
                again = _known(kg, moment)
                assert again == picture, f"history {number}: what was known at {moment} is shown otherwise"
            assert not kg.verify(), f"history {number}: {kg.verify()}"
        logging.getLogger("semgraph").removeHandler(heard)
        leapt = any(second - first > 366 * 86_400 * 10**6 for first, second in pairwise(moments))
        leaps, logged = leaps + leapt, logged + bool(heard.lines)
        assert heard.lines or not leapt, f"history {number}: a leap that nobody was told of"
        assert clock.leaps or not heard.lines, f"history {number}: logged {heard.lines}"
        assert not any(name in line for line in heard.lines for name in ("Ann", "Acme", "works_at"))
    return f"{trial.size} histories: order and past views kept; {leaps} with leaps over a year, {logged} of them logged"


def _told_in_leaps(kg: KnowledgeGraph, clock: _Jumping, chosen: random.Random) -> tuple[list[int], list[Any]]:
    """When each write was recorded, and what was known after some of them."""
    moments: list[int] = []
    known: list[Any] = []
    kinds = [kind for kind in KINDS if kind not in ("forget", "batch")]
    for _ in range(14):
        if moments:  # a first record has none to leap from
            clock.step()
        with suppress(*REFUSED):
            KINDS[chosen.choice(kinds)][1](kg, chosen)
        last = kg._session.store.scope("default")
        if last is not None and (not moments or last.last_recorded != moments[-1]):
            moments.append(last.last_recorded)
            if chosen.random() < 0.4:
                known.append((last.last_recorded, _known(kg, last.last_recorded)))
    return moments, known


def _known(kg: KnowledgeGraph, moment: int) -> list[Any]:
    known = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)
    return READS["facts"](kg.at("2020-06-01", known_at=known))


class _Heard(logging.Handler):
    """What was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
