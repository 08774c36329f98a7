"""Disks without room, and places that can't be written."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from semgraph.errors import StoreFull, StoreReadOnly
from semgraph.store import connecting, faults

from .children import NOBODY, in_child
from .deeds import PEOPLE, opened
from .operations import OPERATIONS, base, begun, everything, outside, prepared, strays
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph import KnowledgeGraph

_ROOM: Final = 1 << 20  # bytes of the small disk
_ROOT: Final = os.geteuid() == 0


class _Limited:
    """A folder whose files may not grow past a size (no root is needed for that)."""

    name = "limit"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "limited"
        self.folder.mkdir()

    def narrow(self, room: int) -> None:
        """Leave this many bytes beyond the largest file."""
        largest = max((place.stat().st_size for place in self.folder.iterdir()), default=0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (max(4096, largest + room), resource.RLIM_INFINITY))

    def widen(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def end(self) -> None:
        self.widen()
        shutil.rmtree(self.folder)


class _Small:
    """A disk of one MiB in memory (root mounts it), filled up by ballast."""

    name = "disk"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "small"
        self.folder.mkdir()
        _system("mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "semgraph-test", str(self.folder))

    def narrow(self, room: int) -> None:
        free = os.statvfs(self.folder)
        size = free.f_bavail * free.f_frsize - room
        (self.folder / "ballast").write_bytes(bytes(max(0, size)))

    def widen(self) -> None:
        (self.folder / "ballast").unlink()

    def end(self) -> None:
        _system("umount", "-l", str(self.folder))
        self.folder.rmdir()


def _system(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # commands of ours


@contextmanager
def _narrow_place(trial: Trial, number: int) -> Iterator[_Limited | _Small]:
    place = _Small(trial.folder) if _ROOT and number % 2 else _Limited(trial.folder)
    try:
        yield place
    finally:
        place.end()


def without_names_for_it() -> None:
    """Break the build: an error of the disk for want of room is one like any other."""
    faults._NO_SPACE = frozenset()
    faults._KNOWN = tuple(entry for entry in faults._KNOWN if entry[1] is not StoreFull)


@check(
    "D1",
    "disk full",
    "200 fill points: StoreFull, readable, verify clean, goes on",
    c=8,
    n=200,
    broken=without_names_for_it,
)
def full(trial: Trial) -> str:
    """Deeds until there is no room: on a disk of 1 MiB (root), and under a limit of the size of files (anybody)."""
    source = trial.folder / "base.db"
    base(source, trial.seed)
    met = {"disk": 0, "limit": 0}
    for number in trial.steps():
        with _narrow_place(trial, number) as place:
            path = Path(shutil.copy(source, place.folder / "store.db"))
            where = f"fill point {number}, {place.name}"
            with closing(begun(path)) as kg:
                place.narrow(trial.random.randrange(20_000, 300_000))
                before = _filled(kg, trial, where)
                assert everything(kg) == before, f"{where}: not as before what failed"
                assert not kg.verify(), f"{where}: {kg.verify()}"
                place.widen()
                kg.add("Zoe", "visited", "Rome")
                after = everything(kg)
                assert after != before, where
            with closing(opened(path)) as again:
                assert everything(again) == after, f"{where}: lost after there was room again"
                assert not again.verify(), f"{where}: {again.verify()}"
        met[place.name] += 1
    return (
        f"{met['disk']} fill points on a disk of 1 MiB, {met['limit']} under a limit: all StoreFull, 0 lost, 0 between"
    )


def _filled(kg: KnowledgeGraph, trial: Trial, where: str) -> dict[str, list[str]]:
    """The state before the write that had no room any more."""
    for number in range(1000):
        before = everything(kg)
        text = "x" * trial.random.randrange(100, 9000)
        try:
            kg.add(trial.random.choice(PEOPLE), "visited", f"town {number}", text=text)
        except StoreFull:
            return before
    message = f"{where}: never full"
    raise AssertionError(message)


_LARGE: Final = ("forget claim", "forget entity", "forget everything", "export", "export a view", "backup")


@check(
    "D2",
    "disk full during forget, export, backup",
    "all or nothing, and told; no truncated file",
    c=12,
    n=300,
    broken=without_names_for_it,
)
def full_meanwhile(trial: Trial) -> str:
    """What needs most room has too little: nothing half done, and no half file under the name that was asked for."""
    source = trial.folder / "base.db"
    base(source, trial.seed)
    told = done = 0
    for number in trial.steps():
        name = _LARGE[number % len(_LARGE)]
        with _narrow_place(trial, number // len(_LARGE)) as place:
            path = Path(shutil.copy(source, place.folder / "store.db"))
            where = f"{name}, {place.name}, try {number}"
            with closing(begun(path)) as kg:
                before = everything(kg)
                room = trial.random.choice((0, 4096, 30_000, 90_000, 200_000))
                place.narrow(room - (path.stat().st_size if place.name == "limit" and "forget" not in name else 0))
                try:
                    OPERATIONS[name](kg, place.folder)
                    done += 1
                except StoreFull:
                    told += 1
                    assert everything(kg) == before, f"{where}: told as not done, and done"
                place.widen()
                assert not kg.verify(), f"{where}: {kg.verify()}"
                kg.purge()
                whole = outside(place.folder)
                assert not strays(place.folder), f"{where}: left {strays(place.folder)}"
            _readable(whole, place.folder, where)
    return f"{trial.size} times: {told} told as full with nothing done, {done} done; 0 truncated files"


def _readable(files: dict[str, bytes], folder: Path, where: str) -> None:
    """Every file that an operation made is whole."""
    import semgraph
    from semgraph.exchange.jsonl import check_jsonl

    for name in files:
        if name.endswith(".jsonl"):
            check_jsonl(folder / name)
        elif name.endswith(".graphml"):
            with closing(semgraph.KnowledgeGraph(embedder=None)) as kg:
                assert semgraph.read(kg, folder / name), where
        else:
            with closing(opened(folder / name)) as copy:
                assert not copy.verify(), where


_READ_ONLY_WAYS: Final = ("file", "folder", "asked") + (("mount",) if _ROOT else ())


def with_locks_only() -> None:
    """Break the build: a file that can't be written is opened as if it could."""
    connecting._guarded = lambda _path: True
    connecting._trusting = lambda path, durability: connecting.Opened(
        connecting._connection(path, read_only=False, immutable=False, durability=durability, timeout_ms=0),
        read_only=False,
        immutable=False,
    )


@check(
    "D3",
    "read-only file, folder, mount",
    "reads work, each write = StoreReadOnly, no file made",
    c=1,
    n=5,
    broken=with_locks_only,
)
def read_only(trial: Trial) -> str:
    """Every operation on a store that can't be written: by its mode, by its folder's, by the mount, or as asked."""
    trial.folder.chmod(0o755)
    writes = 0
    _warm(trial)
    for number in trial.steps():
        for way in _READ_ONLY_WAYS:
            folder = trial.folder / f"{way}{number}"
            folder.mkdir()
            path = folder / "store.db"
            base(path, trial.seed + number)
            writes += _refused(path, way)
    return f"{len(_READ_ONLY_WAYS)} ways, {writes} writes: all StoreReadOnly, reads right, 0 files made or changed"


def _warm(trial: Trial) -> None:
    """Do everything once: what is imported late can't be read any more when root's rights are gone."""
    source = trial.folder / "warm.db"
    base(source, trial.seed)
    for number, operation in enumerate(OPERATIONS.values()):
        path = prepared(trial.folder, source, number)
        with closing(begun(path)) as kg:
            operation(kg, path.parent)


def _refused(path: Path, way: str) -> int:
    """How many writes were refused."""
    with closing(begun(path)) as kg:
        expected = everything(kg)
        kg.ask("Where does Zoe work?")  # what reads import late is read before the rights go
    content = path.read_bytes()
    path.chmod(0o444 if way == "file" else 0o666)
    path.parent.chmod(0o555 if way in ("file", "folder") else 0o777)
    if way == "mount":
        _system("mount", "--bind", "-o", "ro", str(path.parent), str(path.parent))
    try:
        refused = in_child(lambda: _write_all(path, way, expected), user=NOBODY if _ROOT and way != "mount" else None)
        assert path.read_bytes() == content, f"{way}: the file was changed"
        left = sorted(place.name for place in path.parent.iterdir())
        assert left == ["store.db"] or way == "asked", f"{way}: {left}"
    finally:
        if way == "mount":
            _system("umount", str(path.parent))
        path.parent.chmod(0o755)
    return refused


def _write_all(path: Path, way: str, expected: dict[str, list[str]]) -> int:
    refused = 0
    elsewhere = path.parent.parent / "no such folder"
    with closing(opened(path, read_only=way == "asked")) as kg:
        for name, operation in OPERATIONS.items():
            if name in ("export", "export a view", "backup", "forget entity"):
                continue  # they write elsewhere
            try:
                operation(kg, elsewhere)
            except StoreReadOnly:
                refused += 1
            else:
                assert name.startswith("refuse"), f"{way}: {name} went through"
        assert everything(kg) == expected, f"{way}: reads differ"
        assert not kg.verify(), f"{way}: {kg.verify()}"
        assert kg.value("Zoe", "likes") == "jazz"
    return refused
