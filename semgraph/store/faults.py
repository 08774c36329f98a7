"""The declared error for everything that the SQLite driver or the operating system raises: no content, no SQL."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

import apsw

from semgraph.errors import (
    ForkedHandle,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

if TYPE_CHECKING:
    from pathlib import Path

#: What a driver call may raise because of data or disk. A TypeError stays one: it is a mistake in the program.
FAULTS: Final = (apsw.Error, OverflowError, UnicodeError, MemoryError)

_BUSY: Final = "another process holds the lock of the store; try again"
_FULL: Final = "no space is left for the store; free some and try again (nothing was written, reads go on)"
_READ_ONLY: Final = "the store can't be written: make the file and its folder writable, or copy both elsewhere"
#: What is said of a page that is not as it was written.
CORRUPT: Final = (
    "the store is damaged, or another program wrote to its file: run `semgraph verify` to see how far, "
    "`semgraph recover` to save what is whole, or go back to a backup"
)
_DISK: Final = "the disk below the store failed; nothing of the transaction was kept"

_KNOWN: Final[tuple[tuple[type[BaseException], type[StoreError], str], ...]] = (
    (apsw.BusyError, StoreBusy, _BUSY),
    (apsw.LockedError, StoreBusy, _BUSY),
    (apsw.ProtocolError, StoreBusy, _BUSY),
    (apsw.FullError, StoreFull, _FULL),
    (apsw.ReadOnlyError, StoreReadOnly, _READ_ONLY),
    (apsw.PermissionsError, StoreReadOnly, _READ_ONLY),
    (apsw.AuthError, StoreReadOnly, _READ_ONLY),
    (apsw.CorruptError, StoreCorrupt, CORRUPT),
    (apsw.NotADBError, StoreCorrupt, CORRUPT),
    (apsw.FormatError, StoreCorrupt, CORRUPT),
    (UnicodeDecodeError, StoreCorrupt, CORRUPT),
    (apsw.ConnectionClosedError, StoreClosed, "the store was closed; open it again"),
    (apsw.ForkingViolationError, ForkedHandle, "this handle was opened before a fork; open the store in the child"),
    (apsw.CursorClosedError, StoreError, "the transaction of these rows has ended; read them inside it"),
    (apsw.ConstraintError, StoreError, "a row with this key is there already, or a value is one that no column takes"),
    (apsw.MismatchError, StoreError, "a value does not fit its column"),
    (apsw.TooBigError, StoreError, "a value is too large for the store (1 GB)"),
    (apsw.AbortError, StoreError, "the statement was abandoned because its transaction was undone"),
    (apsw.InterruptError, StoreError, "the statement was interrupted"),
    (apsw.NoMemError, StoreError, "not enough memory for the statement"),
    (apsw.SchemaChangeError, StoreError, "the schema changed under the statement; open the store again"),
    (apsw.ThreadingViolationError, StoreError, "the store was used from two threads at once, past its lock"),
    (OverflowError, StoreError, "a number does not fit in 64 bits"),
    (UnicodeError, StoreError, "a text holds lone surrogates, which no store keeps"),
    (MemoryError, StoreError, "not enough memory for the statement"),
)

_DAMAGE: Final = frozenset({apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ})
#: Codes for which the number kept by the driver is that of this failure; for the others it may be an old one.
_WITH_ERRNO: Final = frozenset(
    {
        apsw.SQLITE_IOERR_WRITE,
        apsw.SQLITE_IOERR_TRUNCATE,
        apsw.SQLITE_IOERR_FSYNC,
        apsw.SQLITE_IOERR_DIR_FSYNC,
        apsw.SQLITE_IOERR_DELETE,
        apsw.SQLITE_IOERR_SHMOPEN,
        apsw.SQLITE_IOERR_SHMSIZE,
        apsw.SQLITE_IOERR_SHMMAP,
    }
)
_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_RIGHT: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def declared(error: BaseException, system_errno: int = 0) -> StoreError:
    """The error of `semgraph.errors` that says what happened, in words of ours."""
    if isinstance(error, apsw.IOError):
        return _from_disk(_code(error), system_errno)
    if isinstance(error, apsw.CantOpenError):
        return _not_opened(system_errno)
    for kind, ours, message in _KNOWN:
        if isinstance(error, kind):
            return ours(message)
    return StoreError(
        f"the store failed in an unknown way ({type(error).__name__}, code {_code(error)}); please report it"
    )


def undoes_commit(error: BaseException, system_errno: int = 0) -> bool:
    """Whether a failed COMMIT surely kept nothing: it never got the lock, the room, or past a check.

    An I/O error may come after the last frame reached the file, so only a write refused for want of room is sure.
    """
    if isinstance(error, apsw.IOError):
        return _code(error) == apsw.SQLITE_IOERR_WRITE and system_errno in _NO_SPACE
    return isinstance(error, apsw.BusyError | apsw.LockedError | apsw.FullError | apsw.ConstraintError)


def from_system(error: OSError, path: Path, doing: str) -> StoreError:
    """The declared error for an operating system error at a path that the caller named."""
    reason = error.strerror or type(error).__name__
    if error.errno in _NO_SPACE:
        return StoreFull(f"can't {doing} {str(path)!r}: {reason}; free some space and try again")
    if error.errno in _NO_RIGHT:
        return StoreReadOnly(f"can't {doing} {str(path)!r}: {reason}; choose another place or change its permissions")
    return StoreError(f"can't {doing} {str(path)!r}: {reason}")


def _code(error: BaseException) -> int:
    return int(getattr(error, "extendedresult", 0))


def _from_disk(code: int, system_errno: int) -> StoreError:
    if code in _DAMAGE:
        return StoreCorrupt(CORRUPT)
    reason = system_errno if code in _WITH_ERRNO else 0
    if reason in _NO_SPACE:
        return StoreFull(_FULL)
    if reason in _NO_RIGHT:
        return StoreReadOnly(_READ_ONLY)
    return StoreError(_DISK)


def _not_opened(system_errno: int) -> StoreError:
    if system_errno in {errno.EMFILE, errno.ENFILE}:
        return StoreError("too many files are open; close some and try again")
    return StoreReadOnly(_READ_ONLY)
