"""The files of a SQLite store as files: recognised before they are opened, made, published, searched for bytes.

Closing any descriptor of a file drops every lock that the process holds on it (POSIX), also those of SQLite. So the
database file is read through SQLite's own file layer, which defers such a close, and `-shm` is never opened here.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

import apsw

from semgraph.errors import InputError, SchemaTooNew, StoreCorrupt, StoreError
from semgraph.pages import PAGE, damaged_pages
from semgraph.store.faults import FAULTS, declared, from_system

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: "semg": stands in bytes 68 to 71 of the file, where `file` and SQLite look for whose it is.
APPLICATION_ID: Final = 0x73656D67
_HEADER_SIZE: Final = 100
_MAGIC: Final = b"SQLite format 3\x00"
_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")
_CHUNK: Final = 1 << 20
#: A file made here is closed again before SQLite may lock it, see above.
_MAKING: Final = threading.Lock()


def beside(path: Path, suffix: str) -> Path:
    """The path of a companion file: `-wal`, `-journal` and the like."""
    return path.with_name(path.name + suffix)


def has_log(path: Path) -> bool:
    """Whether a write-ahead log stands beside the file and is not empty."""
    try:
        return beside(path, "-wal").stat().st_size > 0
    except OSError:
        return False


def recognise(path: Path, newest: int) -> None:
    """Nothing for a file that may be opened as a store, without touching it; else the declared error.

    An empty file passes: it becomes a store.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise StoreError(f"there is no store at {str(path)!r}; check the path, or open it for writing once") from None
    except OSError as error:
        raise from_system(error, path, "open") from None
    if stat.S_ISDIR(found.st_mode):
        raise StoreError(f"{str(path)!r} is a folder; a store is one file, so name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{str(path)!r} is no regular file, so it can't be a store")
    if found.st_size:
        header = b"".join(_chunks(path, 0, _HEADER_SIZE))
        if not _half_made(path, header):
            _recognise_header(path, header, newest)


def create(path: Path) -> None:
    """Make an empty file that only its owner may read, unless one is there."""
    with _MAKING:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return
        except FileNotFoundError:
            raise StoreError(f"can't create {str(path)!r}: its folder does not exist; make the folder first") from None
        except OSError as error:
            raise from_system(error, path, "create") from None


@contextmanager
def published(path: Path) -> Iterator[Path]:
    """A private new file to fill; it appears at `path` whole and on disk, or not at all. Nothing is overwritten."""
    if "\0" in str(path):
        raise InputError("a file name can't hold a NUL character; choose another name")
    if os.path.lexists(path):
        raise InputError(f"{str(path)!r} exists already; choose another name or move it away first")
    if not path.parent.is_dir():
        raise InputError(f"can't write {str(path)!r}: its folder does not exist; make the folder first")
    draft = beside(path, f".{os.urandom(6).hex()}.tmp")
    create(draft)
    try:
        yield draft
        _sync(draft)
        _move(draft, path)
        _sync(path.parent)
    except OSError as error:
        raise from_system(error, path, "write") from None
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                beside(draft, suffix).unlink()


def occurrences(path: Path, needles: Sequence[bytes]) -> list[bytes]:
    """Which of the needles stand in the database, its write-ahead log or its journal, in the order given.

    `-shm` is left out: it holds page and frame numbers only, and closing it would drop the locks of this process.
    """
    wanted = [needle for needle in dict.fromkeys(needles) if needle]
    found: set[bytes] = set()
    overlap = max(map(len, wanted), default=1) - 1
    for read in (_chunks(path), _plain_chunks(beside(path, "-wal")), _plain_chunks(beside(path, "-journal"))):
        tail = b""
        for chunk in read:
            window = tail + chunk
            found.update(needle for needle in wanted if needle not in found and needle in window)
            tail = window[-overlap:] if overlap else b""
    return [needle for needle in wanted if needle in found]


def torn_pages(path: Path | None) -> list[str]:
    """A line that tells the pages whose checksums say that they are not as they were written; none for no file.

    A page that stands in the log too may be half written here, by a loss of power, and is right there. Another process
    may move one into the file right now, so a page counts when it is wrong three times.
    """
    found: set[int] = set()
    for attempt in range(3):
        wrong = set() if path is None else set(damaged_pages(_chunks(path))) - _logged(path)
        found = wrong if not attempt else found & wrong
        if not found:
            return []
        time.sleep(0.01)
    shown = ", ".join(map(str, sorted(found)[:10]))
    return [f"{len(found)} pages of the file are not as they were written: {shown}{', …' if len(found) > 10 else ''}"]


def _logged(path: Path) -> set[int]:
    """The numbers of the pages that stand in the write-ahead log: those of frames with the salt of its head."""
    log = b"".join(_plain_chunks(beside(path, "-wal")))
    size = int.from_bytes(log[8:12], "big")
    if size != PAGE:
        return set()
    frames = (log[start : start + 16] for start in range(32, len(log), 24 + size))
    return {int.from_bytes(frame[:4], "big") for frame in frames if frame[8:16] == log[16:24]}


def _half_made(path: Path, header: bytes) -> bool:
    """Whether the power went while the file was made: no head yet, and a journal that leads back to an empty file."""
    if header.startswith(_MAGIC):
        return False
    journal = b"".join(islice(_plain_chunks(beside(path, "-journal")), 1))
    return journal.startswith(_JOURNAL) and journal[16:20] == bytes(4)


def _recognise_header(path: Path, header: bytes, newest: int) -> None:
    if not header.startswith(_MAGIC) or len(header) < _HEADER_SIZE:
        raise StoreCorrupt(f"{str(path)!r} is not a semgraph store (or its head is damaged); it was left untouched")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreCorrupt(f"{str(path)!r} is not a semgraph store: another program's database, left untouched")
    version = int.from_bytes(header[60:64], "big", signed=True)
    if version > newest:
        raise too_new(version, newest)


def too_new(version: int, newest: int) -> SchemaTooNew:
    """The error for a file of a later semgraph."""
    return SchemaTooNew(
        f"the store has schema version {version}, this semgraph knows up to {newest}; "
        "upgrade semgraph (the file was left untouched)"
    )


def _chunks(path: Path, start: int = 0, length: int | None = None) -> Iterator[bytes]:
    """The bytes of the database file, read through SQLite's file layer."""
    try:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    except apsw.CantOpenError:
        raise StoreError(f"can't read {str(path)!r}: change its permissions, or open another file") from None
    except FAULTS as error:
        raise declared(error) from None
    try:
        end = file.xFileSize() if length is None else min(file.xFileSize(), start + length)
        for offset in range(start, end, _CHUNK):
            wanted = min(_CHUNK, end - offset)
            # Zeros at the end of a short read are left out by the driver.
            yield file.xRead(wanted, offset).ljust(wanted, b"\0")
    except FAULTS as error:
        raise declared(error) from None
    finally:
        file.xClose()


def _plain_chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except FileNotFoundError:
        return
    except OSError as error:
        raise from_system(error, path, "read") from None


def _move(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        raise InputError(f"{str(path)!r} exists already; choose another name or move it away first") from None
    except OSError:
        # A file system without hard links: the look at the start is all the protection there is.
        draft.rename(path)


def _sync(path: Path) -> None:
    """Have the file, or the names in the folder, on disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows has no descriptor for a folder
    flags = os.O_RDONLY if path.is_dir() or os.name != "nt" else os.O_RDWR
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
