"""A checksum at the end of each page of the file: a page that is not as it was written is never taken for an answer.

SQLite leaves the last bytes of a page to the file layer (`reserve_bytes`). The layer here writes a checksum of page and
place into them when a page goes to the file, and compares it when the page is read. The log has checksums of its own.
Files without room for it are read and written as they are.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from zlib import crc32

import apsw

TYPE_CHECKING = False  # what starts in no time does not load typing for its own sake
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Final

#: Bytes of a page, and of the checksum at its end.
PAGE: Final = 4096
RESERVED: Final = 4

_LOCKED: Final = 1 << 30  # the place in every file whose bytes SQLite takes locks on
_NAME: Final = "semgraph-pages"
_TRUSTING: Final = threading.local()


@contextmanager
def unchecked() -> Iterator[None]:
    """Inside, this thread reads pages whatever their checksums say: to look at damage, and to rescue rows of it."""
    before = getattr(_TRUSTING, "now", False)
    _TRUSTING.now = True
    try:
        yield
    finally:
        _TRUSTING.now = before


def reserve(connection: apsw.Connection) -> None:
    """Leave room for checksums in a file that is about to be made."""
    import ctypes

    wanted = ctypes.c_int(RESERVED)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))


def is_sealed(header: bytes) -> bool:
    """Whether the pages of a file that begins like this have checksums."""
    return len(header) > _ROOM and header[_ROOM] == RESERVED and int.from_bytes(header[16:18], "big") == PAGE


def is_whole(page: bytes, offset: int) -> bool:
    """Whether the page at this place of the file is as it was written.

    Zeros are not: with `secure_delete` SQLite writes the pages that it frees too, and leaves out the one that it locks.
    """
    return checksum(page, offset) == page[-RESERVED:] or offset == _LOCKED


def checksum(page: bytes, offset: int) -> bytes:
    """What the last bytes of the page at this place of the file must be."""
    return crc32(memoryview(page)[:-RESERVED], offset // PAGE).to_bytes(RESERVED, "big")


def damaged_pages(chunks: Iterable[bytes]) -> list[int]:
    """The numbers, from 1, of the pages that are not as they were written; none of a file without checksums."""
    found, offset = [], 0
    for chunk in chunks:  # each a whole number of pages, but for a torn end
        if not offset and not is_sealed(chunk):
            return []
        for start in range(0, len(chunk), PAGE):
            if not is_whole(chunk[start : start + PAGE].ljust(PAGE, b"\0"), offset + start):
                found.append((offset + start) // PAGE + 1)
        offset += len(chunk)
    return found


def layer() -> str:
    """The name of the file layer for stores; it stands on the default one of the moment at which a file is opened."""
    return _LAYER.name


_HEADER: Final = 100  # bytes; SQLite also reads it by itself
_ROOM: Final = 20  # where it says how many bytes SQLite leaves at the end of each page


class _Pages(apsw.VFSFile):
    """The file of a database."""

    def __init__(self, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        header = super().xRead(_HEADER, 0) if self.xFileSize() else b""
        self._sealed = not header or is_sealed(header)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  # the driver's name
        within = offset % PAGE
        if not self._sealed or within + amount > PAGE or (amount <= _HEADER and offset < _HEADER):
            return super().xRead(amount, offset)
        # SQLite reads pages, and most of one where a long value goes on.
        page = super().xRead(PAGE, offset - within)
        if not getattr(_TRUSTING, "now", False) and not self._is_whole(page, offset - within):
            raise apsw.CorruptError("a page is not as it was written")
        return page[within : within + amount]

    def _is_whole(self, page: bytes, offset: int) -> bool:
        # Where the file ends within the page, SQLite takes zeros for the rest; the driver leaves them out at the end.
        return is_whole(page.ljust(PAGE, b"\0"), offset) or (not page and offset >= self.xFileSize())

    def xWrite(self, content: bytes | bytearray | memoryview, offset: int) -> None:  # noqa: N802  # the driver's name
        page = bytes(content)
        if len(page) == PAGE and offset % PAGE == 0:
            if not offset:
                self._sealed = is_sealed(page)
            if self._sealed:
                page = page[:-RESERVED] + checksum(page, offset)
        super().xWrite(page, offset)

    def xLock(self, level: int) -> None:  # noqa: N802  # the driver's name
        try:
            super().xLock(level)
        except apsw.IOError:
            if level == apsw.SQLITE_LOCK_SHARED:
                raise
            # SQLite asks in vain when it closes what it only reads; any error but this the driver would tell.
            raise apsw.BusyError from None

    def excepthook(self, *_: object) -> bool:
        """True: the error of the call says it."""
        return True


class _Layer(apsw.VFS):
    def __init__(self) -> None:
        self.name = _NAME
        super().__init__(_NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # the driver's name
        return _Pages(name, flags) if flags[0] & apsw.SQLITE_OPEN_MAIN_DB else apsw.VFSFile("", name, flags)

    def excepthook(self, *_: object) -> bool:
        """True: the error of the call says it."""
        return True


_LAYER: Final = _Layer()
