"""The SQLite store when something below it fails: errors, a full disk, damaged bytes."""

from __future__ import annotations

import random
import re
from contextlib import closing, nullcontext

import apsw
import pytest
from sqlite_files import driver_error, patch, run, salvaged, seal_claims, small_store
from store_conformance import Halt, entities, ids, make

from semgraph.errors import (
    CommitUnknown,
    ForkedHandle,
    HandlePoisoned,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from semgraph.pages import unchecked
from semgraph.store import faults, open_store
from semgraph.store.schema import AliasRow, ClaimRow, EntityRow, FactRow


@pytest.fixture
def path(tmp_path):
    return small_store(tmp_path)


@pytest.fixture
def store(path):
    with closing(open_store(path)) as store:
        yield store


# Errors


EXPECTED = {
    "BusyError": StoreBusy,
    "LockedError": StoreBusy,
    "ProtocolError": StoreBusy,
    "FullError": StoreFull,
    "ReadOnlyError": StoreReadOnly,
    "CantOpenError": StoreReadOnly,
    "PermissionsError": StoreReadOnly,
    "AuthError": StoreReadOnly,
    "CorruptError": StoreCorrupt,
    "NotADBError": StoreCorrupt,
    "FormatError": StoreCorrupt,
    "ConnectionClosedError": StoreClosed,
    "ForkingViolationError": ForkedHandle,
}


@pytest.mark.parametrize(
    "name", [name for name, kind in vars(apsw).items() if isinstance(kind, type) and issubclass(kind, apsw.Error)]
)
def test_every_driver_error_has_a_declared_one(name):
    found = faults.declared(driver_error(name))
    assert type(found) is EXPECTED.get(name, StoreError)
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("error", "number", "expected"),
    [
        (driver_error("IOError", apsw.SQLITE_IOERR_WRITE), 28, StoreFull),
        (driver_error("IOError", apsw.SQLITE_IOERR_WRITE), 27, StoreFull),
        (driver_error("IOError", apsw.SQLITE_IOERR_WRITE), 5, StoreError),
        (driver_error("IOError", apsw.SQLITE_IOERR_WRITE), 30, StoreReadOnly),
        (driver_error("IOError", apsw.SQLITE_IOERR_READ), 28, StoreError),
        (driver_error("IOError", apsw.SQLITE_IOERR_FSYNC), 0, StoreError),
        (driver_error("IOError", apsw.SQLITE_IOERR_SHORT_READ), 0, StoreCorrupt),
        (driver_error("IOError", apsw.SQLITE_IOERR_CORRUPTFS), 0, StoreCorrupt),
        (driver_error("CantOpenError"), 24, StoreError),
        (OverflowError("secret"), 0, StoreError),
        (UnicodeEncodeError("utf-8", "secret", 0, 1, "secret"), 0, StoreError),
        (UnicodeDecodeError("utf-8", b"secret", 0, 1, "secret"), 0, StoreCorrupt),
        (MemoryError(), 0, StoreError),
    ],
)
def test_disk_and_value_errors_have_a_declared_one(error, number, expected):
    found = faults.declared(error, number)
    assert type(found) is expected
    assert "secret" not in str(found)


def test_messages_carry_no_content(store):
    for call in (
        lambda: store.insert([make(ClaimRow, id="claim-1", text="secret")]),
        lambda: store.insert([make(EntityRow, id=2**70, label="secret")]),
        lambda: store.insert([make(EntityRow, id=9, label="secret\ud800")]),
        lambda: store.select(EntityRow, 1, label="secret\ud800"),
        lambda: store.select(EntityRow, 2**70),
    ):
        with pytest.raises(StoreError) as caught:
            call()
        assert not re.search("secret|claim-1|SELECT|INSERT|label", str(caught.value))


def test_a_statement_that_undoes_everything_ends_its_transaction(store):
    """Some errors make SQLite roll back on its own; what follows must not run outside the transaction."""
    with pytest.raises(StoreError, match="undone"), store.write():  # noqa: PT012  # what fails is the block
        store.insert(entities(10))
        with pytest.raises(Halt), store.write():  # noqa: PT012  # what fails is the block
            store._connection.execute("ROLLBACK")
            with pytest.raises(StoreError):
                store.run("RELEASE nothing")
            raise Halt
        with pytest.raises(StoreError, match="undone"):
            store.insert(entities(11))
    assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
    store.insert(entities(12))
    assert store.count(EntityRow, 1) == 4


class _Failing:
    """A connection some of whose statements fail, each once."""

    def __init__(self, connection, **errors):
        self._connection, self._errors = connection, errors

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, text, *parameters):
        if error := self._errors.pop(text.split()[0], None):
            raise error
        return self._connection.execute(text, *parameters)


def test_a_block_that_can_not_be_undone_undoes_the_whole_transaction(path):
    """A part of a claim was kept, and verify found it, where a program went on after two errors in a row."""
    with closing(open_store(path)) as store:
        store._connection = _Failing(store._connection, ROLLBACK=driver_error("IOError"))
        with pytest.raises(StoreError, match="undone"), store.write():  # noqa: PT012  # what fails is the block
            with pytest.raises(StoreError, match="disk"), store.write():  # noqa: PT012
                store.insert(entities(10))
                raise Halt
            with pytest.raises(StoreError, match="undone"):
                store.insert(entities(11))
        assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
        store.insert(entities(12))
        assert store.count(EntityRow, 1) == 4


def test_an_interrupt_while_undoing_leaves_no_lock(path):
    with closing(open_store(path)) as store, closing(open_store(path)) as other:
        store._connection = _Failing(store._connection, ROLLBACK=KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt), store.write():  # noqa: PT012  # what fails is the block
            store.insert(entities(10))
            raise Halt
        other.insert(entities(11))
        with pytest.raises(HandlePoisoned):
            store.count(EntityRow, 1)


@pytest.mark.parametrize(("error", "later"), [("FullError", None), ("IOError", HandlePoisoned)])
def test_a_purge_that_the_disk_fails_is_told_and_nothing_is_lost(path, error, later):
    store = open_store(path)
    store.delete(ClaimRow, 1)
    store._connection = _Failing(store._connection, VACUUM=driver_error(error))
    with pytest.raises(StoreError):
        store.purge()
    if later is None:
        assert store.purge()
    else:
        with pytest.raises(later):
            store.purge()
    store.close()
    with closing(open_store(path)) as store:
        assert store.check() == []
        assert store.count(ClaimRow, 1) == 0


COMMIT_FAILS = """
import apsw
class File(apsw.VFSFile):
    def xSync(self, flags):
        if broken:
            error = apsw.IOError("no")
            error.extendedresult = apsw.SQLITE_IOERR_FSYNC
            raise error
        return super().xSync(flags)
    def excepthook(self, *_):
        pass
class Disk(apsw.VFS):
    def __init__(self):
        super().__init__("disk", "", makedefault=True)
    def xOpen(self, name, flags):
        return File("unix", name, flags)
    def excepthook(self, *_):
        pass
broken = False
disk = Disk()
sys.excepthook = lambda *_: None
store = open_store(sys.argv[1])
broken = True
seen = []
try:
    with store.write():
        store.insert([EntityRow(1, 77, "a", "a", 0)])
except StoreError as error:
    seen.append(type(error).__name__)
for call in (lambda: store.count(EntityRow, 1), lambda: store.write().__enter__(), lambda: store.purge()):
    try:
        call()
    except StoreError as error:
        seen.append(type(error).__name__)
store.close()
print(*seen)
"""


def test_a_failed_sync_in_a_commit_poisons_the_handle(path):
    finished = run(COMMIT_FAILS, path)
    assert finished.stdout.split() == ["CommitUnknown"] + ["HandlePoisoned"] * 3
    with closing(open_store(path)) as store:
        assert store.check() == []
        assert ids(store.select(EntityRow, 1)) in ([1, 2, 3], [1, 2, 3, 77])


class _Refusing:
    """A connection whose COMMIT fails."""

    def __init__(self, connection, error):
        self._connection, self._error = connection, error

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, text, *parameters):
        if text == "COMMIT":
            raise self._error
        return self._connection.execute(text, *parameters)


@pytest.mark.parametrize(
    ("error", "first", "later"),
    [
        (driver_error("BusyError"), StoreBusy, None),
        (driver_error("FullError"), StoreFull, None),
        (driver_error("IOError", apsw.SQLITE_IOERR_WRITE), CommitUnknown, HandlePoisoned),
        (driver_error("CorruptError"), CommitUnknown, HandlePoisoned),
        (MemoryError(), CommitUnknown, HandlePoisoned),
    ],
)
def test_only_a_commit_that_surely_kept_nothing_leaves_the_handle_usable(path, error, first, later):
    store = open_store(path)
    real = store._connection
    store._connection = _Refusing(real, error)
    with pytest.raises(first), store.write():
        store.insert(entities(10))
    store._connection = real
    if later is None:
        assert store.count(EntityRow, 1) == 3
        store.insert(entities(10))
    else:
        for _ in range(2):
            with pytest.raises(later, match="open it again"):
                store.count(EntityRow, 1)
        store.close()
        with pytest.raises(later):
            store.insert(entities(10))
    store.close()


# A full disk


def test_a_full_store_says_so_and_can_be_read(store):
    pages = store._connection.pragma("page_count")
    store._connection.pragma("max_page_count", pages + 4)
    with pytest.raises(StoreFull, match="no space"), store.write():  # noqa: PT012  # what fails is the block
        for number in range(10, 1000):
            store.insert([make(EntityRow, id=number, label="x" * 500)])
    assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
    assert store.check() == []
    store._connection.pragma("max_page_count", 1_000_000)
    store.insert(entities(10))
    assert store.count(EntityRow, 1) == 4


FULL = """
import resource
store = open_store(sys.argv[1])
kept, number = len(store.select(EntityRow, 1)), 1000
for limit in (20_000, 90_000, 150_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    seen = None
    while seen is None and number < 3000:
        number += 1
        try:
            with store.write():
                store.insert([EntityRow(1, number, "x" * 1000, "k", 0)])
            kept += 1
        except StoreError as error:
            seen = type(error).__name__
    assert seen == "StoreFull", seen
    assert store.count(EntityRow, 1) == kept
    assert store.check() == []
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.insert([EntityRow(1, 10_000 + limit, "room again", "k", 0)])
    kept += 1
store.close()
print(kept)
"""


def test_a_full_disk_keeps_every_finished_write_and_no_other(path):
    kept = int(run(FULL, path).stdout)
    with closing(open_store(path)) as store:
        assert store.count(EntityRow, 1) == kept
        assert store.check() == []


def test_a_full_disk_leaves_no_half_backup(path, tmp_path):
    script = """
import resource
store = open_store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
try:
    store.backup(Path(sys.argv[2]))
except StoreError as error:
    print(type(error).__name__)
"""
    assert run(script, path, tmp_path / "copy.db").stdout.split() == ["StoreFull"]
    assert sorted(place.name for place in tmp_path.iterdir() if "copy" in place.name) == []


# Damage


def test_a_flipped_byte_in_a_claim_is_found(path):
    seal_claims(path, 40)
    clean = path.read_bytes()
    spots = [match.start() + 7 for match in re.finditer(rb"<text 000[0-3]\d>", clean)]
    assert len(spots) == 40
    for spot in spots[::13]:
        path.write_bytes(clean)
        patch(path, spot, bytes([clean[spot] ^ 0x04]))
        for looking in (nullcontext, unchecked):  # the page tells, and, where nobody asks it, the row
            with closing(open_store(path)) as store, looking():
                with pytest.raises(StoreCorrupt, match="semgraph verify") as caught:
                    store.select(ClaimRow, 1)
                assert "text" not in str(caught.value)
                with store.read(), pytest.raises(StoreCorrupt):
                    list(store.iterate(ClaimRow, 1))
                with pytest.raises(StoreCorrupt):
                    store.update(ClaimRow, 1, {"source": "x"})
                page, *_, row = store.check()
                assert re.search(rf"1 pages of the file are not as they were written: {spot // 4096 + 1}$", page)
                assert re.search(r"claim: damaged rows; 42 are whole", row)
                assert len(salvaged(store, ClaimRow)) == 42
                assert store.count(EntityRow, 1) == 3


def test_no_flip_inside_claim_pages_gives_a_wrong_answer(path):
    seal_claims(path, 60)
    clean = path.read_bytes()
    with closing(open_store(path)) as store:
        truth = {row.id: row for row in store.select(ClaimRow, 1)}
        pages = store._connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'claim' AND pagetype = 'leaf'"
        ).fetchall()
    chosen = random.Random(7)  # noqa: S311  # repeatable
    outcomes = {"right": 0, "refused": 0}
    for _ in range(120):
        (page,) = chosen.choice(pages)
        spot = (page - 1) * 4096 + chosen.randrange(4096)
        patch(path, spot, bytes([clean[spot] ^ chosen.randrange(1, 256)]))
        with closing(open_store(path)) as store:
            with pytest.raises(StoreCorrupt):  # the page tells
                store.select(ClaimRow, 1)
            try:
                with unchecked():
                    assert {row.id: row for row in store.select(ClaimRow, 1)} == truth
                outcomes["right"] += 1
            except StoreCorrupt:
                assert store.check()
                outcomes["refused"] += 1
            assert all(truth[row.id] == row for row in salvaged(store, ClaimRow))
        path.write_bytes(clean)
    assert min(outcomes.values()) > 10


def test_a_rescue_does_not_take_a_closed_store_for_a_damaged_one(path):
    store = open_store(path)
    with store.read():
        rows = store.salvage(ClaimRow)
        next(rows)
    store.close()
    with pytest.raises(StoreClosed):
        list(rows)


def test_text_that_is_no_longer_text_is_corrupt(path):
    content = path.read_bytes()
    patch(path, content.index(b"what was said 1"), b"\xff")
    with closing(open_store(path)) as store:
        with pytest.raises(StoreCorrupt):
            store.select(ClaimRow, 1)
        assert store.check()
        assert sorted(ids(salvaged(store, ClaimRow))) == ["claim-0", "claim-2"]


@pytest.mark.parametrize("indexes_too", [False, True])
def test_rows_behind_a_broken_page_are_salvaged_from_the_other_side(path, indexes_too):
    seal_claims(path, 600)
    with closing(open_store(path)) as store:
        rows = store._connection.execute(
            "SELECT name, pageno, ncell FROM dbstat WHERE name GLOB '*claim*' AND pagetype = 'leaf' ORDER BY name, path"
        ).fetchall()
    leaves = [(page, cells) for name, page, cells in rows if name == "claim"]
    # Between two broken pages only an index leads to the rows.
    broken, lost = (leaves[2], leaves[5]), leaves[2:6] if indexes_too else (leaves[2], leaves[5])
    spoilt = [page for page, _ in broken]
    if indexes_too:
        spoilt += [page for name, page, _ in rows if name != "claim"]
    for page in spoilt:
        patch(path, (page - 1) * 4096, bytes(4096))
    with closing(open_store(path)) as store:
        with pytest.raises(StoreCorrupt):
            store.select(ClaimRow, 1)
        found = salvaged(store, ClaimRow)
        assert len({row.id for row in found}) == len(found) == 603 - sum(cells for _, cells in lost)
        assert len(store.check()) >= 2


def test_every_table_can_be_salvaged(store):
    with pytest.raises(StoreError, match="inside a transaction"):
        store.salvage(FactRow)
    store.insert([make(FactRow, id=str(n), subject=n) for n in range(50)])
    assert sorted(salvaged(store, FactRow)) == sorted(store.select(FactRow, 1))
    assert salvaged(store, AliasRow) == []


# A file that was being made


def test_a_file_whose_making_was_cut_off_is_made_again(tmp_path):
    """The power went when the journal was on disk and the first page was not: the file was refused as foreign."""
    path = tmp_path / "s.db"
    path.write_bytes(bytes(36864))
    head = bytes.fromhex("d9d505f920a163d7") + bytes(4) + b"\1\2\3\4" + bytes(4)
    path.with_name("s.db-journal").write_bytes(
        (head + (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")).ljust(512, b"\0")
    )
    with closing(open_store(path)) as store:
        store.create_scope("default")
        assert store.check() == []


def test_a_journal_that_leads_to_an_older_file_makes_nothing_ours(tmp_path):
    path = tmp_path / "s.db"
    path.write_bytes(b"not a database".ljust(4096, b"."))
    journal = bytes.fromhex("d9d505f920a163d7") + bytes(8) + (9).to_bytes(4, "big")
    path.with_name("s.db-journal").write_bytes(journal.ljust(512, b"\0"))
    with pytest.raises(StoreCorrupt, match="untouched"):
        open_store(path)
    assert path.read_bytes().startswith(b"not a database")
