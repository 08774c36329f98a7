"""Which commit of a file is the newest, seen without a statement.

The connections to a file in WAL mode share memory, whose first bytes describe the newest commit: counters, and
checksums of all that the log holds (SQLite's "WAL-index header"). They change with each commit, of whichever process,
and are the same as before only if nothing was committed since. Reading them takes a tenth of the time of
`PRAGMA data_version`, which begins and ends a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.store.protocol import Revision

_HEADER: Final = 48  # bytes; a copy of them follows
_REGION: Final = 32_768  # bytes of shared memory that SQLite maps at a time
_SHARING: Final = 2  # the version of a file layer's methods from which on it can share memory
_UNKNOWN: Final = object()


class Commits:
    """What one connection sees of the commits to its file. The caller holds the connection's lock, and has it open."""

    def __init__(self, connection: apsw.Connection, fetch: Callable[[str, tuple[()]], list[tuple[Any, ...]]]) -> None:
        self._connection = connection
        self._fetch = fetch
        self._shared = bool(connection.filename)  # a file, to which others may write
        self._header: Any = _UNKNOWN
        self._began: Revision | None = None

    def newest(self) -> Revision:
        """What differs after each write, outside a transaction."""
        if self._header is _UNKNOWN:
            self._header = _shared_header(self._connection)
        if self._header is None:
            return self._counted()
        return self._header.raw, self._connection.total_changes()

    def close(self) -> None:
        """The connection is about to be closed, and the memory that it shares is gone then."""
        self._header = None

    def begin(self) -> None:
        """A transaction is about to begin: what it will see is at least what is the newest now."""
        self._began = None if self._header is _UNKNOWN else self.newest()

    def looked(self) -> None:
        """The transaction has a snapshot now: that of its beginning only if nothing was committed in between."""
        if self._began is not None and self.newest() != self._began:
            self._began = None

    def inside(self) -> Revision:
        """What `newest` was for the snapshot of the transaction that reads, or what stands for no other snapshot."""
        return self._began or self._counted()

    def _counted(self) -> Revision:
        version: int = self._fetch("PRAGMA data_version", ())[0][0] if self._shared else 0
        return version, self._connection.total_changes()


def _shared_header(connection: apsw.Connection) -> Any:
    """The first bytes of the memory that the connections to a file share; None where they share none."""
    import ctypes  # not for the first answer of a process

    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char
    mapping = ctypes.CFUNCTYPE(number, pointer, number, number, number, ctypes.POINTER(pointer))

    class Methods(ctypes.Structure):  # sqlite3_io_methods
        _fields_ = (("version", number), ("others", pointer * 12), ("map_shared", mapping))

    class File(ctypes.Structure):  # sqlite3_file
        _fields_ = (("methods", ctypes.POINTER(Methods)),)

    file, found = ctypes.POINTER(File)(), pointer()
    if connection.pragma("journal_mode") != "wal":
        return None
    if not connection.file_control("main", apsw.SQLITE_FCNTL_FILE_POINTER, ctypes.addressof(file)):
        return None
    methods = file.contents.methods
    if methods.contents.version < _SHARING or not methods.contents.map_shared:
        return None
    failed = methods.contents.map_shared(ctypes.cast(file, pointer), 0, _REGION, 0, ctypes.byref(found))
    return None if failed or not found.value else (text * _HEADER).from_address(found.value)
