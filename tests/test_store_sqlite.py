"""The SQLite store as a file: how it opens, what it refuses, how it fails, and who else may use it."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from semgraph.errors import (
    CommitUnknown,
    ForkedHandle,
    HandlePoisoned,
    InputError,
    SchemaTooNew,
    SchemaTooOld,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from semgraph.store import connecting, faults, migrations, open_store, statements
from semgraph.store.files import APPLICATION_ID, occurrences
from semgraph.store.migrations import Migration, first_schema, index_name
from semgraph.store.schema import TABLES, AliasRow, ClaimRow, EntityRow, FactRow
from semgraph.store.shapes import columns
from semgraph.store.sqlite import SqliteStore
from store_conformance import Halt, entities, ids, make

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534


@pytest.fixture
def path(tmp_path):
    """A closed store with three entities and three claims."""
    place = tmp_path / "store.db"
    with closing(open_store(place)) as store, store.write():
        store.insert(entities(1, 2, 3))
        store.insert([make(ClaimRow, id=f"claim-{n}", subject=n, text=f"what was said {n}") for n in range(3)])
    return place


@pytest.fixture
def store(path):
    with closing(open_store(path)) as store:
        yield store


def run(script, *arguments, check=True, user=None):
    """The finished child process that ran the script with the conformance helpers at hand."""
    head = "import os, signal, sys, time\nfrom pathlib import Path\nfrom semgraph.errors import *\n"
    head += "from semgraph.store import open_store\nfrom semgraph.store.sqlite import SqliteStore\n"
    head += "from semgraph.store.schema import *\n"
    if user is not None:
        # Everything is loaded before the rights go: the interpreter may lie where only root can read.
        head += f"import apsw, json, semgraph.store.memory, encodings.idna\nos.setgid({user}); os.setuid({user})\n"
    return subprocess.run(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )


@contextmanager
def child(script, *arguments):
    """A running child process that has printed its first line."""
    head = "import os, signal, sys, time\nfrom pathlib import Path\nfrom semgraph.store import open_store\n"
    head += "from semgraph.store.schema import *\n"
    process = subprocess.Popen(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def snapshot(folder):
    """The name, bytes and size of every file in the folder."""
    return {place.name: place.read_bytes() for place in folder.iterdir() if place.is_file()}


# What an open store is


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
        ("mmap_size", 0),
        ("busy_timeout", 5000),
        ("application_id", APPLICATION_ID),
        ("user_version", 1),
        ("encoding", "UTF-8"),
    ],
)
def test_pragmas(store, pragma, expected):
    assert store._connection.pragma(pragma) == expected


def test_relaxed_durability_asks_for_no_sync_per_commit(path):
    with closing(open_store(path, durability="relaxed")) as store:
        assert store._connection.pragma("synchronous") == 1


def test_no_extension_can_be_loaded(store):
    with pytest.raises(apsw.SQLError, match="not authorized"):
        store._connection.execute("SELECT load_extension('anything')")
    with pytest.raises(apsw.Error, match="not authorized"):
        store._connection.load_extension("anything")


def test_every_write_begins_by_taking_the_lock(store):
    seen = []
    store._connection.exec_trace = lambda _cursor, sql, _bindings: seen.append(sql) or True
    with store.write():
        store.insert(entities(10))
    store.delete(EntityRow, 1, id=10)
    store.insert(entities(11, 12))
    begins = [sql for sql in seen if sql.startswith("BEGIN")]
    assert begins == ["BEGIN IMMEDIATE"] * 3
    assert seen.count("COMMIT") == 3


def test_values_and_scope_are_always_parameters(store):
    """The text sent to SQLite has no value in it, and names the scope wherever there is one."""
    seen = []
    store._connection.exec_trace = lambda _cursor, sql, bindings: seen.append((sql, bindings)) or True
    nasty = "x'); DROP TABLE claim; --"
    store.select(ClaimRow, 424242, predicate=nasty, subject=[717171], valid_from=None, order=("-id",), limit=3)
    store.count(ClaimRow, 424242, text__lt=nasty)
    store.update(FactRow, 424242, {"body": nasty}, id=nasty)
    store.delete(FactRow, 424242, id=nasty)
    sent = [sql for sql, _ in seen if re.match("SELECT|UPDATE|DELETE", sql)]
    assert len(sent) == 4
    for sql in sent:
        assert "scope = ?" in sql
        assert "DROP" not in sql
        assert not re.search(r"424242|717171", sql)
    assert store.check() == []


@pytest.mark.parametrize(
    ("table", "index"),
    [
        pytest.param(table, index, id=f"{definition.name}-{'-'.join(index)}")
        for table, definition in TABLES.items()
        for index in (definition.key, *definition.indexes)
    ],
)
def test_a_look_up_by_leading_columns_uses_their_index(store, table, index):
    samples = {int: 1, str: "a", float: 1.0}
    for length in range(1, len(index)):
        where = {name: samples[columns(table)[name].type] for name in index[1 : length + 1]}
        for members in (where, {name: [value] for name, value in where.items()}):
            statement = statements.selecting(
                table, tuple(members), tuple(map(type, members.values())), (), limited=False
            )
            plan = store._connection.execute(
                f"EXPLAIN QUERY PLAN {statement.text}", statement.parameters(1, members)
            ).fetchall()
            first = next(detail for *_, detail in plan if TABLES[table].name in detail)
            assert first.startswith("SEARCH"), plan
            assert f"{index[1]}=?" in first, plan


def test_a_new_file_is_private(tmp_path):
    old = os.umask(0)
    try:
        with closing(open_store(tmp_path / "s.db")) as store:
            store.insert(entities(1))
            modes = {place.name: place.stat().st_mode & 0o777 for place in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert modes == dict.fromkeys(("s.db", "s.db-wal", "s.db-shm"), 0o600)


def test_closing_leaves_one_file(path):
    with closing(open_store(path)) as store:
        store.insert(entities(9))
    assert [place.name for place in path.parent.iterdir()] == ["store.db"]


# What is opened, and what is refused untouched


def _foreign(place):
    with closing(sqlite3.connect(place)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE theirs (a)")
        other.commit()


def _foreign_with_log(place):
    _foreign(place)
    run(
        "import sqlite3\ndb = sqlite3.connect(sys.argv[1])\ndb.execute('INSERT INTO theirs VALUES (1)')\ndb.commit()\n"
        "os._exit(0)",
        place,
    )


def _patch(place, offset, value):
    content = bytearray(place.read_bytes())
    content[offset : offset + len(value)] = value
    place.write_bytes(content)


def _execute(place, *statements):
    with closing(apsw.Connection(str(place))) as connection:
        for statement in statements:
            connection.execute(statement)


BAD_FILES = {
    "text": (lambda place: place.write_text("Dear diary, nothing happened today.\n" * 50), StoreCorrupt, "not a semg"),
    "short": (lambda place: place.write_bytes(b"SQLite format 3\0"), StoreCorrupt, "not a semgraph store"),
    "zeros": (lambda place: place.write_bytes(bytes(20000)), StoreCorrupt, "not a semgraph store"),
    "head": (lambda place: place.write_bytes(place.read_bytes()[:60]), StoreCorrupt, "not a semgraph store"),
    "first page": (lambda place: place.write_bytes(place.read_bytes()[:4096]), StoreCorrupt, "damaged"),
    "half": (lambda place: os.truncate(place, place.stat().st_size // 2), StoreCorrupt, "damaged"),
    "zeroed page": (lambda place: _patch(place, 100, bytes(3996)), StoreCorrupt, "schema|damaged"),
    "page size": (lambda place: _patch(place, 16, b"\x12\x34"), StoreCorrupt, "damaged"),
    "foreign": (lambda place: (place.unlink(), _foreign(place)), StoreCorrupt, "not a semgraph store"),
    "foreign log": (lambda place: (place.unlink(), _foreign_with_log(place)), StoreCorrupt, "not a semgraph store"),
    "newer": (lambda place: _patch(place, 60, (2).to_bytes(4, "big")), SchemaTooNew, "version 2.*up to 1.*upgrade"),
    "older": (lambda place: _patch(place, 60, (0).to_bytes(4, "big")), SchemaTooOld, "version 0.*oldest.* 1"),
    "negative": (lambda place: _patch(place, 60, b"\xff\xff\xff\xff"), SchemaTooOld, "version -1"),
    "trigger": (
        lambda place: _execute(place, "CREATE TRIGGER t AFTER INSERT ON entity BEGIN DELETE FROM claim; END"),
        StoreCorrupt,
        "schema",
    ),
    "view": (lambda place: _execute(place, "CREATE VIEW v AS SELECT * FROM claim"), StoreCorrupt, "schema"),
    "table": (lambda place: _execute(place, "CREATE TABLE other (a)"), StoreCorrupt, "schema"),
    "lost index": (lambda place: _execute(place, "DROP INDEX fact_by_id"), StoreCorrupt, "schema"),
    "lost table": (lambda place: _execute(place, "DROP TABLE claim"), StoreCorrupt, "schema"),
    "column": (lambda place: _execute(place, "ALTER TABLE alias ADD COLUMN more TEXT"), StoreCorrupt, "schema"),
    "folder": (lambda place: (place.unlink(), place.mkdir()), StoreError, "is a folder"),
    "pipe": (lambda place: (place.unlink(), os.mkfifo(place)), StoreError, "no regular file"),
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_untouched(path, kind, read_only):
    spoil, error, message = BAD_FILES[kind]
    spoil(path)
    before = snapshot(path.parent)
    with pytest.raises(error, match=message) as caught:
        open_store(path, read_only=read_only)
    assert type(caught.value) is error
    after = snapshot(path.parent)
    assert {name: content for name, content in after.items() if not (read_only and name.endswith(("-shm", "-wal")))} == {
        name: content for name, content in before.items() if not (read_only and name.endswith(("-shm", "-wal")))
    }
    assert "what was said" not in str(caught.value)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_path_that_leads_nowhere(tmp_path, read_only):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "absent" / "s.db", tmp_path / "file" / "s.db", tmp_path / ("n" * 300)):
        with pytest.raises(StoreError, match="can't|there is no store"):
            open_store(place, read_only=read_only)
    assert [place.name for place in tmp_path.iterdir()] == ["file"]


def test_a_missing_file_is_not_made_for_reading(tmp_path):
    with pytest.raises(StoreError, match="there is no store at"):
        open_store(tmp_path / "s.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path):
    place = tmp_path / "s.db"
    place.touch()
    with pytest.raises(StoreReadOnly, match="empty"):
        open_store(place, read_only=True)
    with closing(open_store(place)) as store:
        store.insert(entities(1))
    with closing(open_store(place)) as store:
        assert store.count(EntityRow, 1) == 1


def test_statistics_left_by_analyze_are_harmless(path):
    _execute(path, "ANALYZE")
    with closing(open_store(path)) as store:
        assert store.count(EntityRow, 1) == 3


def test_a_newer_version_that_stands_in_the_log_only_is_left_untouched(path):
    run("import apsw\ndb = apsw.Connection(sys.argv[1])\ndb.execute('PRAGMA user_version = 7')\nos._exit(0)", path)
    before = snapshot(path.parent)
    assert before["store.db-wal"]
    with pytest.raises(SchemaTooNew, match="version 7"):
        open_store(path)
    after = snapshot(path.parent)
    assert [after[name] for name in ("store.db", "store.db-wal")] == [before["store.db"], before["store.db-wal"]]


def test_a_store_that_is_opened_by_many_at_once_is_made_once(tmp_path):
    place = tmp_path / "s.db"
    script = "store = open_store(sys.argv[1])\nprint(store.create_scope(sys.argv[2]).scope)\nstore.close()"
    errors = []

    def work(name):
        finished = run(script, place, name, check=False)
        if finished.returncode:
            errors.append(finished.stderr)

    threads = [threading.Thread(target=work, args=(f"s{n}",)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    with closing(open_store(place)) as store:
        assert sorted(row.name for row in store.scopes()) == [f"s{n}" for n in range(5)]
        assert store.check() == []


# Migrations


def _second(connection):
    connection.execute("ALTER TABLE entity ADD COLUMN note TEXT")
    connection.execute("CREATE TABLE extra (scope INTEGER NOT NULL, a TEXT NOT NULL, PRIMARY KEY (scope, a)) STRICT")
    connection.execute("INSERT INTO extra SELECT scope, label FROM entity")


STEPS = (Migration(1, first_schema), Migration(2, _second))


def test_an_older_file_is_brought_up_to_date_with_a_copy_beside(path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", STEPS)
    with closing(open_store(path)) as store:
        assert store._connection.pragma("user_version") == 2
        assert store._connection.execute("SELECT a FROM extra ORDER BY a").fetchall() == [("n1",), ("n2",), ("n3",)]
        assert store.count(EntityRow, 1) == 3
    with closing(open_store(path)) as store:  # nothing is left to do, and no second copy is made
        assert store.check() == []
    copies = [place.name for place in path.parent.iterdir()]
    assert sorted(copies) == ["store.db", "store.db.v1.bak"]
    monkeypatch.undo()
    assert (path.parent / "store.db.v1.bak").stat().st_mode & 0o777 == 0o600
    with closing(open_store(path.parent / "store.db.v1.bak")) as copy:
        assert copy.count(ClaimRow, 1) == 3
    with pytest.raises(SchemaTooNew):
        open_store(path)


def test_a_new_file_goes_through_all_steps_without_a_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", STEPS)
    with closing(open_store(tmp_path / "s.db")) as store:
        assert store._connection.pragma("user_version") == 2
    assert [place.name for place in tmp_path.iterdir()] == ["s.db"]


def test_a_failed_step_leaves_the_old_version(path, monkeypatch):
    def fail(connection):
        _second(connection)
        raise StoreError("no")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*STEPS[:1], Migration(2, fail)))
    for _ in range(2):
        with pytest.raises(StoreError, match="no"):
            open_store(path)
    monkeypatch.undo()
    with closing(open_store(path)) as store:
        assert store.count(EntityRow, 1) == 3
    copies = sorted(place.name for place in path.parent.iterdir())
    assert copies == ["store.db", "store.db.v1.2.bak", "store.db.v1.bak"]


def test_a_kill_inside_a_step_leaves_the_old_version(path):
    script = """
from semgraph.store import migrations
def second(connection):
    connection.execute("ALTER TABLE entity ADD COLUMN note TEXT")
    if connection.filename:
        os.kill(os.getpid(), signal.SIGKILL)
migrations.MIGRATIONS = (*migrations.MIGRATIONS, migrations.Migration(2, second))
open_store(sys.argv[1])
"""
    assert run(script, path, check=False).returncode == -signal.SIGKILL
    with closing(open_store(path)) as store:
        assert store.check() == []
        assert store.count(EntityRow, 1) == 3


def test_a_file_that_needs_a_step_is_not_opened_for_reading(path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", STEPS)
    before = path.read_bytes()
    with pytest.raises(StoreReadOnly, match="older schema version 1"):
        open_store(path, read_only=True)
    assert path.read_bytes() == before


def test_a_version_below_the_oldest_step_is_too_old(path, monkeypatch):
    monkeypatch.setattr(migrations, "OLDEST", 2)
    monkeypatch.setattr(migrations, "MIGRATIONS", STEPS)
    with pytest.raises(SchemaTooOld, match="version 1"):
        open_store(path)


# Errors


def _error(name, extended=0):
    error = getattr(apsw, name)("SELECT secret FROM hidden")
    error.extendedresult = extended
    return error


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
    found = faults.declared(_error(name))
    assert type(found) is EXPECTED.get(name, StoreError)
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("error", "number", "expected"),
    [
        (_error("IOError", apsw.SQLITE_IOERR_WRITE), 28, StoreFull),
        (_error("IOError", apsw.SQLITE_IOERR_WRITE), 27, StoreFull),
        (_error("IOError", apsw.SQLITE_IOERR_WRITE), 5, StoreError),
        (_error("IOError", apsw.SQLITE_IOERR_WRITE), 30, StoreReadOnly),
        (_error("IOError", apsw.SQLITE_IOERR_READ), 28, StoreError),
        (_error("IOError", apsw.SQLITE_IOERR_FSYNC), 0, StoreError),
        (_error("IOError", apsw.SQLITE_IOERR_SHORT_READ), 0, StoreCorrupt),
        (_error("IOError", apsw.SQLITE_IOERR_CORRUPTFS), 0, StoreCorrupt),
        (_error("CantOpenError"), 24, StoreError),
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
    with pytest.raises(StoreError, match="undone"), store.write():
        store.insert(entities(10))
        with pytest.raises(Halt), store.write():
            store._connection.execute("ROLLBACK")
            with pytest.raises(StoreError):
                store._run("RELEASE nothing")
            raise Halt
        with pytest.raises(StoreError, match="undone"):
            store.insert(entities(11))
    assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
    store.insert(entities(12))
    assert store.count(EntityRow, 1) == 4


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
        (_error("BusyError"), StoreBusy, None),
        (_error("FullError"), StoreFull, None),
        (_error("IOError", apsw.SQLITE_IOERR_WRITE), CommitUnknown, HandlePoisoned),
        (_error("CorruptError"), CommitUnknown, HandlePoisoned),
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
    with pytest.raises(StoreFull, match="no space"), store.write():
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


# Files that can't be written

READ_ONLY = """
import json
target = sys.argv[1]
before = sorted(os.listdir(os.path.dirname(target)))
store = open_store(target)
out = {"read_only": store.read_only, "rows": store.count(EntityRow, 1), "errors": []}
for call in (
    lambda: store.insert([EntityRow(1, 9, "a", "a", 0)]),
    lambda: store.delete(EntityRow, 1),
    lambda: store.create_scope("x"),
    lambda: store.write().__enter__(),
    lambda: store.purge(),
):
    try:
        call()
    except StoreError as error:
        out["errors"].append(type(error).__name__)
out["check"] = store.check()
out["new"] = sorted(set(os.listdir(os.path.dirname(target))) - set(before))
print(json.dumps(out))
"""
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives up root's rights")


@pytest.fixture
def public(path):
    """The closed store in a folder that others reach."""
    for folder in (path.parent, *path.parent.parents):
        if folder != Path("/") and folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o755)
    path.chmod(0o644)
    return path


@needs_root
@pytest.mark.parametrize("folder_mode", [0o755, 0o777])
@pytest.mark.parametrize("file_mode", [0o444, 0o666])
def test_a_file_or_folder_that_can_not_be_written_is_read(public, file_mode, folder_mode):
    if (file_mode, folder_mode) == (0o666, 0o777):
        pytest.skip("both can be written")
    public.chmod(file_mode)
    public.parent.chmod(folder_mode)
    before = snapshot(public.parent)
    finished = run(READ_ONLY, public, user=NOBODY, check=False)
    assert finished.returncode == 0, finished.stderr
    assert '"read_only": true, "rows": 3' in finished.stdout
    assert finished.stdout.count('"StoreReadOnly"') == 5
    assert '"check": []' in finished.stdout
    assert '"new": []' in finished.stdout
    assert snapshot(public.parent) == before


@needs_root
def test_a_log_that_can_not_be_read_is_never_passed_over(public):
    run("store = open_store(sys.argv[1])\nstore.insert([EntityRow(1, 9, 'a', 'a', 0)])\nos._exit(0)", public)
    public.with_name("store.db-shm").unlink()
    assert public.with_name("store.db-wal").stat().st_size
    public.with_name("store.db-wal").chmod(0o644)
    public.parent.chmod(0o755)
    script = "try:\n    open_store(sys.argv[1])\nexcept StoreReadOnly as error:\n    print(error)"
    assert "make the folder writable" in run(script, public, user=NOBODY).stdout


@needs_root
def test_a_file_that_can_not_be_read_and_a_folder_that_takes_no_file(public):
    public.chmod(0o600)
    public.parent.chmod(0o755)
    script = """
for target in (sys.argv[1], sys.argv[1] + ".new"):
    try:
        open_store(target)
    except StoreError as error:
        print(type(error).__name__, error)
"""
    first, second = run(script, public, user=NOBODY).stdout.splitlines()
    assert first.startswith("StoreError can't read")
    assert second.startswith("StoreReadOnly can't create")


def test_a_handle_for_reading_reads_what_others_write(path, store):
    with closing(open_store(path, read_only=True)) as reader:
        assert reader.read_only
        assert reader.count(EntityRow, 1) == 3
        before = reader.version()
        store.insert(entities(4))
        assert reader.version() != before
        assert reader.count(EntityRow, 1) == 4
        with pytest.raises(StoreReadOnly):
            reader.insert(entities(5))


def test_a_file_opened_without_locks_is_watched(path, monkeypatch):
    monkeypatch.setattr(connecting, "_guarded", lambda _path: False)
    reader = open_store(path)
    monkeypatch.undo()
    assert reader.read_only
    assert reader.count(EntityRow, 1) == 3
    with closing(open_store(path)) as writer:
        writer.insert(entities(4))
    for call in (lambda: reader.count(EntityRow, 1), lambda: reader.select(ClaimRow, 1)):
        with pytest.raises(StoreError, match="changed by another process"):
            call()
    reader.close()


def test_a_file_that_was_moved_away_is_not_written(path, store):
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StoreError, match="moved or replaced"):
        store.insert(entities(4))
    with closing(open_store(path)) as other, pytest.raises(StoreError, match="moved or replaced"):
        other.insert(entities(1))
        store.insert(entities(4))
    path.unlink()
    path.with_name("elsewhere.db").rename(path)


# Several processes

WRITER = """
store = open_store(sys.argv[1])
first = int(sys.argv[2])
for number in range(200):
    with store.write():
        row = store.scope("shared")
        store.update_scope(row._replace(entities=row.entities + 1))
        store.insert([EntityRow(1, first + number, "e", "e", row.entities)])
store.close()
"""


def test_two_processes_write_one_file(path, store):
    store.create_scope("shared")
    store.delete(EntityRow, 1)
    errors = []

    def work(first):
        finished = run(WRITER, path, first, check=False)
        if finished.returncode:
            errors.append(finished.stderr)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert store.scope("shared").entities == 400
    rows = store.select(EntityRow, 1, order=("recorded_at",))
    assert [row.recorded_at for row in rows] == list(range(400))
    assert store.check() == []


HOLDER = """
store = open_store(sys.argv[1])
with store.write():
    store.insert([EntityRow(1, 50, "held", "k", 0)])
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
"""


def test_a_lock_held_by_another_process_is_busy(path):
    with child(HOLDER, path) as holder, closing(SqliteStore(path, timeout_ms=200)) as store:
        began = time.monotonic()
        with pytest.raises(StoreBusy, match="another process"):
            store.insert(entities(4))
        assert time.monotonic() - began >= 0.2
        assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
        holder.stdin.write("\n")
        holder.stdin.flush()
        holder.stdout.readline()
        store.insert(entities(4))
        assert ids(store.select(EntityRow, 1)) == [1, 2, 3, 4, 50]


def test_the_version_tells_of_another_handles_commit_only(path, store):
    with closing(open_store(path)) as other:
        before = store.version()
        with other.write():
            other.insert(entities(4))
            assert store.version() == before
        changed = store.version()
        assert changed != before
        assert store.version() == changed
        with store.read():
            assert store.count(EntityRow, 1) == 4
            other.insert(entities(5))
            assert store.count(EntityRow, 1) == 4
            assert store.version() == changed
        assert store.version() != changed
        assert store.count(EntityRow, 1) == 5


FORKER = """
store = open_store(sys.argv[1])
with store.write():
    store.insert([EntityRow(1, 60, "a", "a", 0)])
seen, told = os.pipe()
pid = os.fork()
if pid == 0:
    names = []
    for call in (
        lambda: store.count(EntityRow, 1),
        lambda: store.insert([EntityRow(1, 61, "a", "a", 0)]),
        lambda: store.read().__enter__(),
        lambda: store.write().__enter__(),
        lambda: store.purge(),
        lambda: store.check(),
        lambda: store.version(),
        lambda: store.backup(Path(sys.argv[1] + ".copy")),
        lambda: store.residue([b"x"]),
    ):
        try:
            call()
        except StoreError as error:
            names.append(type(error).__name__)
    store.close()
    os.write(told, " ".join(names).encode())
    sys.exit(0)
os.waitpid(pid, 0)
print(os.read(seen, 1000).decode())
store.insert([EntityRow(1, 62, "a", "a", 0)])
print(store.count(EntityRow, 1), store.check())
store.close()
"""


def test_a_forked_child_must_open_its_own(path):
    lines = run(FORKER, path).stdout.splitlines()
    assert lines == [" ".join(["ForkedHandle"] * 9), "5 []"]
    with closing(open_store(path)) as store:
        assert ids(store.select(EntityRow, 1)) == [1, 2, 3, 60, 62]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="looks at the kernel's table of locks")
def test_nothing_here_drops_the_locks_of_another_handle(path, store, tmp_path):
    """Closing a descriptor of a file releases all of the process's locks on it."""

    def held():
        numbers = {str(place.stat().st_ino) for place in (path, path.with_name("store.db-shm"))}
        found = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        return sum(words[4] == str(os.getpid()) and words[5].split(":")[-1] in numbers for words in found)

    assert store.count(EntityRow, 1) == 3
    with store.read():
        store.count(EntityRow, 1)
        before = held()
        assert before
        with closing(open_store(path)) as other:
            assert other.residue([b"nothing of the kind"]) == []
        open_store(path, read_only=True).close()
        occurrences(path, [b"x"])
        store.backup(tmp_path / "copy.db")
        assert held() == before


# Damage


def _sealed_claims(path, number):
    with closing(open_store(path)) as store:
        store.insert([make(ClaimRow, id=f"id{n:05}", subject=n, text=f"<text {n:05}>") for n in range(number)])


def test_a_flipped_byte_in_a_claim_is_found(path):
    _sealed_claims(path, 40)
    clean = path.read_bytes()
    spots = [match.start() + 7 for match in re.finditer(rb"<text 000[0-3]\d>", clean)]
    assert len(spots) == 40
    for spot in spots[::13]:
        path.write_bytes(clean)
        _patch(path, spot, bytes([clean[spot] ^ 0x04]))
        with closing(open_store(path)) as store:
            with pytest.raises(StoreCorrupt, match="semgraph verify") as caught:
                store.select(ClaimRow, 1)
            assert "text" not in str(caught.value)
            with store.read(), pytest.raises(StoreCorrupt):
                list(store.iterate(ClaimRow, 1))
            with pytest.raises(StoreCorrupt):
                store.update(ClaimRow, 1, {"source": "x"})
            (problem,) = store.check()
            assert re.search(r"claim: damaged rows; `semgraph recover` saves the 42", problem)
            assert len(list(store.salvage(ClaimRow))) == 42
            assert store.count(EntityRow, 1) == 3


def test_no_flip_inside_claim_pages_gives_a_wrong_answer(path):
    _sealed_claims(path, 60)
    clean = path.read_bytes()
    with closing(open_store(path)) as store:
        truth = {row.id: row for row in store.select(ClaimRow, 1)}
        pages = store._connection.execute("SELECT pageno FROM dbstat WHERE name = 'claim' AND pagetype = 'leaf'").fetchall()
    chosen = random.Random(7)
    outcomes = {"right": 0, "refused": 0}
    for _ in range(120):
        (page,) = chosen.choice(pages)
        _patch(path, (page - 1) * 4096 + chosen.randrange(4096), bytes([chosen.randrange(256)]))
        with closing(open_store(path)) as store:
            try:
                assert {row.id: row for row in store.select(ClaimRow, 1)} == truth
                outcomes["right"] += 1
            except StoreCorrupt:
                assert store.check()
                outcomes["refused"] += 1
            assert all(truth[row.id] == row for row in store.salvage(ClaimRow))
        path.write_bytes(clean)
    assert min(outcomes.values()) > 10


def test_text_that_is_no_longer_text_is_corrupt(path):
    content = path.read_bytes()
    _patch(path, content.index(b"what was said 1"), b"\xff")
    with closing(open_store(path)) as store:
        with pytest.raises(StoreCorrupt):
            store.select(ClaimRow, 1)
        assert store.check()
        assert sorted(ids(store.salvage(ClaimRow))) == ["claim-0", "claim-2"]


def test_rows_behind_a_broken_page_are_salvaged_from_the_other_side(path):
    _sealed_claims(path, 600)
    with closing(open_store(path)) as store:
        pages = [
            number
            for (number,) in store._connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'claim' AND pagetype = 'leaf' ORDER BY path"
            )
        ]
        held = store._connection.execute(
            "SELECT ncell FROM dbstat WHERE name = 'claim' AND pageno IN (?, ?)", (pages[2], pages[5])
        ).fetchall()
    for page in (pages[2], pages[5]):
        _patch(path, (page - 1) * 4096, bytes(4096))
    with closing(open_store(path)) as store:
        with pytest.raises(StoreCorrupt):
            store.select(ClaimRow, 1)
        rows = list(store.salvage(ClaimRow))
        assert len({row.id for row in rows}) == len(rows) == 603 - sum(cells for (cells,) in held)
        assert len(store.check()) >= 2


def test_every_table_can_be_salvaged(store):
    store.insert([make(FactRow, id=str(n), subject=n) for n in range(50)])
    assert sorted(store.salvage(FactRow)) == sorted(store.select(FactRow, 1))
    assert list(store.salvage(AliasRow)) == []


# Kills

KILLED = """
store = open_store(sys.argv[1])
batch = int(sys.argv[2])
while True:
    with store.write():
        for number in range(10):
            store.insert([EntityRow(batch, number, "x" * 300, "k", 0)])
        store.insert([ClaimRow(**{**dict.fromkeys(ClaimRow._fields, ""), **dict.fromkeys(
            ("subject", "negative", "opposed", "said_at", "told", "recorded_at", "confidence"), 0),
            "valid_from": None, "valid_to": None, "source_ref": None, "scope": batch, "id": "c"})])
    os.write(1, b"%d\\n" % batch)
    batch += 1
"""


def test_a_kill_loses_no_finished_write_and_keeps_no_half_one(path):
    chosen, first = random.Random(11), 100
    for _ in range(6):
        with child(KILLED, path, first) as process:
            time.sleep(chosen.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            rest = process.communicate()[0].split()
        finished = first + len(rest)
        with closing(open_store(path)) as store:
            assert store.check() == []
            assert all(store.count(EntityRow, batch) == 10 for batch in range(first, finished + 1))
            begun = finished + 1
            counts = store.count(EntityRow, begun), store.count(ClaimRow, begun)
            assert counts in {(0, 0), (10, 1)}
            assert store.count(EntityRow, begun + 1) == 0
        first = begun + 1


# Purge and backup


def test_a_purge_waits_for_readers_and_never_claims_to_be_done(path):
    with closing(SqliteStore(path, timeout_ms=50)) as store, closing(open_store(path)) as reader:
        with reader.read():
            assert reader.count(ClaimRow, 1) == 3
            store.delete(ClaimRow, 1)
            assert store.purge() is False
            assert store.residue([b"what was said 1", b"never said"]) == [b"what was said 1"]
        assert store.purge() is True
        assert store.residue([b"what was said 1"]) == []
    for content in snapshot(path.parent).values():
        assert b"what was said" not in content


def test_a_purge_beside_a_writer_is_not_done(path):
    with closing(SqliteStore(path, timeout_ms=50)) as store, closing(open_store(path)) as writer:
        store.delete(ClaimRow, 1)
        with writer.write():
            writer.insert(entities(9))
            assert store.purge() is False
        assert store.purge() is True
        assert store.count(EntityRow, 1) == 4


def test_a_purge_reaches_copies_that_page_splits_left_behind(tmp_path):
    """With `secure_delete` alone, one deleted row in a hundred still stands in the slack of some page."""
    chosen = random.Random(3)
    with closing(open_store(tmp_path / "s.db")) as store:
        names = []
        for _ in range(30):
            with store.write():
                for _ in range(60):
                    names.append(f"needle{chosen.getrandbits(60):020}end")
                    length = chosen.choice((5, 40, 900))
                    store.insert([make(FactRow, id=names[-1], subject=chosen.randrange(500), body="x" * length)])
        gone = chosen.sample(names, 200)
        store.delete(FactRow, 1, id=gone)
        needles = [name.encode() for name in gone]
        store._emptied_log()
        assert store.residue(needles), "if SQLite blanks them by now, the rebuild can go"
        assert store.purge()
        assert store.residue(needles) == []
        assert store.count(FactRow, 1) == len(names) - 200


def test_residue_sees_a_needle_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("semgraph.store.files._CHUNK", 64)
    place = tmp_path / "x"
    place.write_bytes(b"-" * 60 + b"needle" + b"-" * 100)
    place.with_name("x-wal").write_bytes(b"~" * 127 + b"second")
    assert occurrences(place, [b"absent", b"second", b"needle", b"needle", b"", b"-~", b"\0"]) == [b"second", b"needle"]


def test_a_backup_holds_what_was_committed_before_it(path, store, tmp_path):
    with closing(open_store(path)) as other, other.write():
        other.insert(entities(4))
        store.backup(tmp_path / "copy.db")
        with other.read():
            other.backup(tmp_path / "second.db")
    for name in ("copy.db", "second.db"):
        with closing(open_store(tmp_path / name)) as copy:
            assert ids(copy.select(EntityRow, 1)) == [1, 2, 3]
            assert copy.check() == []
    with pytest.raises(InputError):
        store.backup(path)


def test_a_backup_beside_a_busy_writer_is_whole(path, tmp_path):
    with child(KILLED, path, 100), closing(open_store(path)) as store:
        for number in range(3):
            before = len(store._fetch("SELECT DISTINCT scope FROM entity", ()))
            store.backup(tmp_path / f"{number}.db")
            with closing(open_store(tmp_path / f"{number}.db")) as copy:
                assert copy.check() == []
                scopes = [scope for (scope,) in copy._fetch("SELECT DISTINCT scope FROM entity WHERE scope > 1", ())]
                assert len(scopes) + 1 >= before
                assert all(copy.count(EntityRow, s) == 10 and copy.count(ClaimRow, s) == 1 for s in scopes)


def test_the_names_of_indexes_are_their_columns():
    assert index_name(FactRow, ("scope", "object", "predicate")) == "fact_by_object_predicate"
