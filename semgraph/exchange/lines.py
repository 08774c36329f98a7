"""Files as lines: read within bounds and out of gzip, written whole or not at all."""

from __future__ import annotations

import glob
import gzip
import os
import stat
import zlib
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from semgraph.errors import ImportRejected, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Place = str | os.PathLike[str] | IO[bytes]

MAX_LINE: Final = 1 << 20  # bytes, its end included
#: Of a row of an export: a claim may carry many qualifiers, and what was written must be readable.
MAX_ROW: Final = 64 << 20
#: Up to here a compressed file may expand however small it is; above, by no more than so many times.
FREE_EXPANSION: Final = 64 << 20
MAX_RATIO: Final = 100
_GZIP: Final = b"\x1f\x8b"
_SAME: Final = ("", "-wal", "-shm", "-journal")  # the files of a store
_COUNTED: Final = 1 << 20
_IN_MEMORY: Final = 16 << 20  # of a stream, before it goes to a temporary file


class Lines:
    """The lines of a file with their numbers from 1; `longest` is the most bytes that the next one may have."""

    def __init__(self, file: Any) -> None:
        self.longest = MAX_LINE
        self._file = file
        self._number = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        self._number += 1
        line = self._read()
        if not line:
            raise StopIteration
        if len(line) > self.longest:
            raise ImportRejected("oversize", f"line {self._number} is longer than {self.longest:,} bytes; no claim is")
        return self._number, line

    def _read(self) -> bytes:
        try:
            return cast("bytes", self._file.readline(self.longest + 1))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            why = f"the compressed file is damaged near line {self._number}: {error}"
            raise ImportRejected("bad_gzip", why) from None
        except OSError as error:
            raise _unreadable("the file", error) from None


@contextmanager
def reading(place: Place) -> Iterator[Lines]:
    """The lines of a file or stream with their numbers from 1, unpacked if they are gzip; ImportRejected on the way.

    A stream is read to its end first, so that a slow one holds no lock of the store.
    """
    with ExitStack() as stack:
        file, size = _opened(place, stack)
        if _begins_with(file, _GZIP):
            packed = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
            if _expands_beyond(packed, max(FREE_EXPANSION, MAX_RATIO * size)):
                raise ImportRejected("oversize", "the compressed file expands out of all proportion; unpack it first")
            yield Lines(packed)
        else:
            yield Lines(file)


def _expands_beyond(packed: gzip.GzipFile, limit: int) -> bool:
    """Whether there is more in it, before anything is made of that; where it is damaged reading it will tell."""
    size = 0
    with suppress(EOFError, zlib.error, OSError):
        while size <= limit and (data := packed.read(_COUNTED)):
            size += len(data)
    packed.seek(0)
    return size > limit


def _opened(place: Place, stack: ExitStack) -> tuple[IO[bytes], int]:
    """A file that can be read from its start, and how long it is."""
    if not isinstance(place, (str, os.PathLike)):
        return _spooled(place, stack)
    shown = os.fsdecode(place)
    try:
        file = stack.enter_context(Path(place).open("rb"))  # noqa: SIM115 - the stack closes it
        found = os.fstat(file.fileno())
    except (OSError, ValueError) as error:  # a path with a NUL
        raise _unreadable(shown, error) from None
    if not stat.S_ISREG(found.st_mode):
        return _spooled(file, stack)
    return file, found.st_size


def _spooled(stream: IO[bytes], stack: ExitStack) -> tuple[IO[bytes], int]:
    import shutil
    import tempfile

    spool = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
    try:
        shutil.copyfileobj(stream, spool)
    except OSError as error:
        raise _unreadable("the stream", error) from None
    size = spool.tell()
    spool.seek(0)
    return cast("IO[bytes]", spool), size


class Bytes:
    """The bytes of a file, unpacked if it is gzip."""

    def __init__(self, file: Any, shown: str) -> None:
        self._file = file
        self._shown = shown

    def read(self, size: int = -1) -> bytes:
        """The next bytes; ImportRejected where the file can't be read."""
        try:
            return cast("bytes", self._file.read(size))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ImportRejected("bad_gzip", f"{self._shown}: the compressed file is damaged: {error}") from None
        except OSError as error:
            raise _unreadable(self._shown, error) from None

    def rewind(self) -> None:
        """Go back to the start."""
        self._file.seek(0)


@contextmanager
def reading_bytes(place: Place, limit: int, hint: str) -> Iterator[Bytes]:
    """The bytes of a file or stream, unpacked if they are gzip.

    Where there are more than the limit that is told at once, in an ImportRejected that ends with the hint.
    """
    with ExitStack() as stack:
        file, size = _opened(place, stack)
        packed = _begins_with(file, _GZIP)
        source: Any = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb")) if packed else file
        found = Bytes(source, shown_name(place))
        if packed:  # how much it expands to is told before anything is made of it
            size = 0
            while size <= limit and (data := found.read(_COUNTED)):
                size += len(data)
            found.rewind()
        if size > limit:
            raise ImportRejected(
                "oversize", f"{shown_name(place)} is larger than {limit >> 20} MiB{', unpacked' * packed}: {hint}"
            )
        yield found


def counted(number: int, one: str, more: str | None = None) -> str:
    """So many of a thing, in a note.

    >>> counted(1, "entity", "entities"), counted(1200, "relation")
    ('1 entity', '1,200 relations')
    """
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def shown_name(place: Place) -> str:
    """What messages call a file: its name without the folders, which may say more than its owner wants to."""
    return os.path.basename(os.fsdecode(place)) if isinstance(place, (str, os.PathLike)) else "the stream"  # noqa: PTH119


@contextmanager
def kept_aside(parts: Iterable[str]) -> Iterator[IO[bytes]]:
    """The texts one after another, to be read from the start: for what stands in a file before they do."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(part.encode())
        file.seek(0)
        yield file


def _begins_with(file: IO[bytes], mark: bytes) -> bool:
    head = file.read(len(mark))
    file.seek(0)
    return head == mark


def _unreadable(shown: str, error: Exception) -> ImportRejected:
    reason = getattr(error, "strerror", None) or str(error)
    return ImportRejected("unreadable", f"can't read {shown!r}: {reason}; check the path and its permissions")


@contextmanager
def writing(place: Place) -> Iterator[IO[bytes]]:
    """A file to write to: packed if its name ends with .gz, and in its place only when it is whole and on disk."""
    if not isinstance(place, (str, os.PathLike)):
        yield place
        place.flush()
        return
    from semgraph.store.faults import from_system

    path = target(Path(place))
    draft = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        try:  # an interrupt may come as soon as the file is there
            descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
            with suppress(OSError):  # whoever could read the file that is replaced still can
                draft.chmod(stat.S_IMODE(path.stat().st_mode))
            with os.fdopen(descriptor, "wb") as file:
                yield from _packed(file, packed=path.name.lower().endswith(".gz"))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            _sync_folder(path.parent)
        finally:
            with suppress(OSError):
                draft.unlink()
    except OSError as error:
        raise from_system(error, path, "write") from None


def clear_drafts(path: Path) -> None:
    """Remove what writers that were killed left beside a file; nobody may be writing it meanwhile."""
    for draft in path.parent.glob(f".{glob.escape(path.name[:100])}.{'[0-9a-f]' * 12}.tmp"):
        with suppress(OSError):
            draft.unlink()


def _packed(file: IO[bytes], *, packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield file
        return
    # Neither name nor time inside: the same rows are the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as pack:
        yield cast("IO[bytes]", pack)


def target(path: Path) -> Path:
    """The file that is written, links followed; InputError for what must not be replaced."""
    try:
        path = path.resolve()
        found = path.stat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InputError(f"can't write {str(path)!r}: its folder does not exist; make the folder first") from None
        return path
    except (OSError, ValueError, RuntimeError) as error:  # no permission, a NUL, links in a circle
        raise InputError(f"can't write {str(path)!r}: {error}; choose another path") from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise InputError(f"{str(path)!r} is {what}; name a file")
    return path


def refuse_own_file(store: Path | None, place: Place) -> None:
    """InputError where an export would go over the store itself: that would be the end of both."""
    if store is None or not isinstance(place, (str, os.PathLike)):
        return
    own = [store.with_name(store.name + suffix) for suffix in _SAME]
    if target(Path(place)) in [path.resolve() for path in own]:
        raise InputError(f"{os.fsdecode(place)!r} is the store itself; choose another name")


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk too, where a folder can be opened for that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
