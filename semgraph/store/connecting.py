"""A SQLite connection as a store needs it: recognised, hardened, durable, with the schema of now."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import apsw

from semgraph import pages
from semgraph.errors import StoreError, StoreReadOnly
from semgraph.store.faults import FAULTS, declared, from_system
from semgraph.store.files import beside, create, has_log, published, recognise
from semgraph.store.migrations import backup_path, newest_version, prepare

if TYPE_CHECKING:
    from pathlib import Path

SYNCHRONOUS: Final = {"full": "FULL", "relaxed": "NORMAL"}

#: Every connection, before anything of the file is trusted.
_HARDENED: Final = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    # One plan per statement: without it a sorted look-up is compiled anew for each value (15 instead of 5 µs).
    (apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
)
_PRAGMAS: Final = (
    "foreign_keys = ON",
    "secure_delete = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
    "cache_size = -32768",  # KiB
    "journal_size_limit = 67108864",
    "fullfsync = ON",  # macOS: fsync alone leaves the bytes in the drive's cache
    "checkpoint_fullfsync = ON",
)
_STATEMENTS_KEPT: Final = 256
_LOG_OUT_OF_REACH: Final = (
    "{!r} has a write-ahead log beside it (-wal) that can't be read without writing there; "
    "make the folder writable, or copy the file together with its -wal to a folder that is"
)


Stamp: TypeAlias = tuple[int, int, int, int]


class Log:
    """How long the write-ahead log of a connection is, and its emptying into the file.

    SQLite would do that inside a commit and keep its failures to itself, while the driver tells those of a layer in
    Python: a commit that was kept would be told as failed.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self.limit = 1000  # pages, as SQLite has it
        self._pages = 0
        connection.set_wal_hook(self._grown)

    def _grown(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def tend(self, connection: apsw.Connection) -> None:
        """Move pages into the file if the log is long; what can't be moved stays in the log."""
        if self._pages >= self.limit:
            self._pages = 0
            with suppress(*FAULTS):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


class Opened(NamedTuple):
    """A connection that is ready, how it may be used, which file it was opened on, and its log."""

    connection: apsw.Connection
    read_only: bool
    immutable: bool
    log: Log
    stamp: Stamp | None = None


def open_memory(durability: str) -> Opened:
    """A new, empty database in memory."""
    connection = apsw.Connection(":memory:", statementcachesize=_STATEMENTS_KEPT)
    _harden(connection, durability, timeout_ms=0)
    prepare(connection, read_only=False, back_up=None)
    return Opened(connection, read_only=False, immutable=False, log=Log(connection))


def open_file(path: Path, *, read_only: bool, durability: str, timeout_ms: int) -> Opened:
    """The database at the path, made if absent and not `read_only`; else a declared error and the file untouched."""
    if not read_only and not os.path.lexists(path):
        create(path)
    recognise(path, newest_version())
    logged, empty = has_log(path), not path.stat().st_size
    opened = _connected(path, read_only=read_only, durability=durability, timeout_ms=timeout_ms)
    connection = opened.connection
    try:
        # Until the file is known to be ours, closing it must not move the log of another program into it.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(logged))
        if empty and not read_only:
            pages.reserve(connection)
        _make_ready(path, opened)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        return opened._replace(stamp=stamp(path))
    except OSError as error:
        connection.close(force=True)
        raise from_system(error, path, "open") from None
    except FAULTS as error:
        fault = declared(error, connection.system_errno)
        connection.close(force=True)
        raise fault from None
    except BaseException:
        connection.close(force=True)
        raise


def copy_to(path: Path, source: apsw.Connection) -> None:
    """Write the committed state of a connection to a new file; nothing at `path` unless all of it."""
    with published(path) as draft:
        target: apsw.Connection | None = None
        try:
            target = apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READWRITE, vfs=pages.layer())

            # All pages in one step: one snapshot, which in WAL mode hinders no writer.
            with target.backup("main", source, "main") as running:
                running.step(-1)
        except FAULTS as error:
            raise declared(error, 0 if target is None else target.system_errno) from None
        finally:
            if target is not None:
                target.close(force=True)


def reader(path: Path, *, immutable: bool, timeout_ms: int) -> apsw.Connection:
    """A second connection that only reads."""
    return _connection(path, read_only=True, immutable=immutable, durability="full", timeout_ms=timeout_ms)


def check_place(path: Path, known: tuple[int, ...]) -> None:
    """Refuse to write to a file that is no longer the one at the path: what it kept would be lost."""
    with suppress(OSError):
        if stamp(path)[:2] == known[:2]:
            return
    raise StoreError(f"{str(path)!r} was moved or replaced since it was opened; open the store again")


def check_unchanged(path: Path, known: tuple[int, ...] | None) -> None:
    """Refuse to read a file that was opened without locks and then written by somebody."""
    with suppress(OSError):
        if stamp(path) == known:
            return
    raise StoreError(f"{str(path)!r} was changed by another process; open the store again")


def stamp(path: Path) -> Stamp:
    """What changes when the file is replaced or its content written: device, number, size, time of change."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _make_ready(path: Path, opened: Opened) -> None:
    connection = opened.connection

    def back_up(version: int) -> None:
        source = reader(path, immutable=False, timeout_ms=0)
        try:
            copy_to(backup_path(path, version), source)
        finally:
            source.close(force=True)

    prepare(connection, read_only=opened.read_only, back_up=back_up)
    if opened.read_only:
        return
    mode = connection.pragma("journal_mode", "wal")
    if mode != "wal":
        raise StoreError(f"the file system below the store can't share memory (journal mode {mode}); use a local disk")


def _connected(path: Path, *, read_only: bool, durability: str, timeout_ms: int) -> Opened:
    """A connection that has read a first page; one that trusts the file to stay as it is where no other can."""
    if not _guarded(path):
        return _trusting(path, durability)
    try:
        connection = _connection(
            path, read_only=read_only, immutable=False, durability=durability, timeout_ms=timeout_ms
        )
    except StoreReadOnly:
        # Shared memory for readers and writers can't be made beside the file.
        if has_log(path):
            raise StoreReadOnly(_LOG_OUT_OF_REACH.format(str(path))) from None
        return _trusting(path, durability)
    return Opened(connection, connection.readonly("main"), immutable=False, log=Log(connection))


def _trusting(path: Path, durability: str) -> Opened:
    """A connection without locks, to a file that nobody here can write."""
    connection = _connection(path, read_only=True, immutable=True, durability=durability, timeout_ms=0)
    return Opened(connection, read_only=True, immutable=True, log=Log(connection))


def _guarded(path: Path) -> bool:
    """Whether SQLite's own locking should be tried: the file can be written, or somebody has it open."""
    return os.access(path, os.W_OK) or has_log(path) or beside(path, "-shm").exists()


def _connection(path: Path, *, read_only: bool, immutable: bool, durability: str, timeout_ms: int) -> apsw.Connection:
    name, flags = str(path), apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    if immutable:
        name, flags = f"{path.as_uri()}?immutable=1", flags | apsw.SQLITE_OPEN_URI
    connection: apsw.Connection | None = None
    try:
        connection = apsw.Connection(name, flags=flags, vfs=pages.layer(), statementcachesize=_STATEMENTS_KEPT)
        _harden(connection, durability, timeout_ms)
        connection.pragma("schema_version")
    except FAULTS as error:
        fault = declared(error, 0 if connection is None else connection.system_errno)
        if connection is not None:
            connection.close(force=True)
        raise fault from None
    return connection


def _harden(connection: apsw.Connection, durability: str, timeout_ms: int) -> None:
    connection.set_busy_timeout(timeout_ms)
    for option, value in _HARDENED:
        connection.config(option, value)
    for pragma in (*_PRAGMAS, f"synchronous = {SYNCHRONOUS[durability]}"):
        connection.execute(f"PRAGMA {pragma}")
