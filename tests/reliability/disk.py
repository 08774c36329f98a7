"""A disk below SQLite that writes down what is done to it, fails when told, and is rebuilt as a cut left it."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from semgraph import pages

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Event:
    """Something done to a file: write, truncate, sync, delete (`offset` 1: with its folder synced); or a mark."""

    kind: str
    name: str = ""
    offset: int = 0
    content: bytes = b""


class Disk(apsw.VFS):
    """The file layer of every connection while it is registered; `fault` may raise before a write or a sync."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.fault: Callable[[str, str], None] = lambda _kind, _name: None
        self._hook = sys.excepthook
        sys.excepthook = lambda *_: None  # what a layer raises is told there too, besides as the error of the call
        super().__init__("recorded", "", makedefault=True)
        _recorded_deletes(self)

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802  # the driver's name
        return _File(self, name, flags)

    def excepthook(self, *_: object) -> None:
        """Nothing: the error of the call says it."""

    def note(self, kind: str, name: str = "", offset: int = 0, content: bytes = b"") -> None:
        self.events.append(Event(kind, os.path.basename(name), offset, content))  # noqa: PTH119

    def removed(self) -> None:
        """The layer is taken away; open connections keep it."""
        self.unregister()
        del pages._Layer.xDelete
        sys.excepthook = self._hook


def _recorded_deletes(disk: Disk) -> None:
    """The layer of a store keeps to the disk that was there before; only what it opens stands on this one."""

    def deleted(layer: apsw.VFS, name: str, syncdir: bool) -> None:  # noqa: FBT001  # the driver's
        super(pages._Layer, layer).xDelete(name, syncdir)
        disk.note("delete", name, int(syncdir))

    pages._Layer.xDelete = deleted


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._name = "" if name is None else name if isinstance(name, str) else name.filename()

    def xWrite(self, content: Any, offset: int) -> None:  # noqa: N802  # the driver's name
        self._disk.fault("write", self._name)
        super().xWrite(content, offset)
        self._disk.note("write", self._name, offset, bytes(content))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.fault("write", self._name)
        super().xTruncate(size)
        self._disk.note("truncate", self._name, size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.fault("sync", self._name)
        super().xSync(flags)
        self._disk.note("sync", self._name)

    def excepthook(self, *_: object) -> None:
        """Nothing: the error of the call says it."""


def failing(name: str, extended: int) -> apsw.Error:
    """An error as the file layer of the system gives it."""
    error: apsw.Error = getattr(apsw, name)("the disk failed")
    error.extendedresult = extended
    return error


def cut(events: Sequence[Event], chosen: random.Random) -> dict[str, bytes]:
    """The files that a loss of power after these events may leave.

    What was synced is there. Of what was done to a file since, each act may have reached the disk or not, in any order,
    and of a write each sector; a new file may be missing, and a deleted one be there, until its folder was synced.
    """
    kept: dict[str, bytearray] = {}
    waiting: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "sync":
            if event.name not in kept and not event.name.endswith(".db"):
                _folder_synced(kept, waiting)  # as SQLite does when it syncs a new log or journal for the first time
            _apply_all(waiting.pop(event.name, ()), kept.setdefault(event.name, bytearray()))
        elif event.kind == "delete" and event.offset:
            waiting.pop(event.name, None)
            kept.pop(event.name, None)
        elif event.name:
            waiting.setdefault(event.name, []).append(event)
    sector, share = chosen.choice((512, 4096)), chosen.choice((0.0, 0.5, 0.9, 1.0))
    for name, acts in waiting.items():
        if name in kept or chosen.random() < share:
            parts = [part for act in acts for part in _sectors(act, sector)]
            _apply_all([part for part in parts if chosen.random() < share], kept.setdefault(name, bytearray()))
    return {name: bytes(content) for name, content in kept.items()}


def _folder_synced(kept: dict[str, bytearray], waiting: dict[str, list[Event]]) -> None:
    """What was made is there, and what was deleted is not."""
    for name, acts in waiting.items():
        content = kept.setdefault(name, bytearray())
        gone = [number for number, act in enumerate(acts) if act.kind == "delete"]
        if gone:
            content.clear()
            del acts[: gone[-1] + 1]
    for name in [name for name, acts in waiting.items() if not acts and not kept[name]]:
        del waiting[name], kept[name]


def _apply_all(acts: Iterable[Event], content: bytearray) -> None:
    for act in acts:
        if act.kind == "write":
            content.extend(bytes(max(0, act.offset - len(content))))
            content[act.offset : act.offset + len(act.content)] = act.content
        elif act.kind == "truncate":
            del content[act.offset :]
        else:
            content.clear()


def _sectors(act: Event, size: int) -> list[Event]:
    """A write in parts that no sector border divides; another act whole."""
    if act.kind != "write":
        return [act]
    start, end = act.offset, act.offset + len(act.content)
    borders = [start, *range((start // size + 1) * size, end, size), end]
    return [
        Event("write", act.name, first, act.content[first - start : last - start])
        for first, last in itertools.pairwise(borders)
    ]


def laid_out(folder: Path, files: dict[str, bytes]) -> None:
    """The files, in the empty folder."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
