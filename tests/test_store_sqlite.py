"""The SQLite store as a file: how it is set up, what it opens, what it refuses untouched, how it is migrated."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import threading
from contextlib import closing

import apsw
import pytest
from sqlite_files import connected, patch, run, small_store, snapshot
from store_conformance import entities

from semgraph.errors import (
    SchemaTooNew,
    SchemaTooOld,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
)
from semgraph.store import connecting, migrations, open_store, statements
from semgraph.store.files import APPLICATION_ID
from semgraph.store.migrations import Migration, first_schema
from semgraph.store.schema import TABLES, ClaimRow, EntityRow, FactRow
from semgraph.store.shapes import columns


@pytest.fixture
def path(tmp_path):
    return small_store(tmp_path)


@pytest.fixture
def store(path):
    with closing(open_store(path)) as store:
        yield store


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


def test_nothing_of_a_file_is_trusted_and_plans_do_not_depend_on_values(store):
    for option, value in connecting._HARDENED:
        assert store._connection.config(option, -1) == value
    assert (apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1) in connecting._HARDENED
    assert (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1) in connecting._HARDENED


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
    assert len(sent) >= 4
    for sql in sent:
        assert "scope = ?" in sql or "FROM symbol WHERE" in sql
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
                f"EXPLAIN QUERY PLAN {statement.text}", statement.parameters(store._tables.symbols, 1, members)
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


def execute(place, *statements):
    with closing(connected(place)) as connection:
        for statement in statements:
            connection.execute(statement)


BAD_FILES = {
    "text": (lambda place: place.write_text("Dear diary, nothing happened today.\n" * 50), StoreCorrupt, "not a semg"),
    "short": (lambda place: place.write_bytes(b"SQLite format 3\0"), StoreCorrupt, "not a semgraph store"),
    "zeros": (lambda place: place.write_bytes(bytes(20000)), StoreCorrupt, "not a semgraph store"),
    "head": (lambda place: place.write_bytes(place.read_bytes()[:60]), StoreCorrupt, "not a semgraph store"),
    "first page": (lambda place: place.write_bytes(place.read_bytes()[:4096]), StoreCorrupt, "damaged"),
    "half": (lambda place: os.truncate(place, place.stat().st_size // 2), StoreCorrupt, "damaged"),
    "zeroed page": (lambda place: patch(place, 100, bytes(3996)), StoreCorrupt, "schema|damaged"),
    "page size": (lambda place: patch(place, 16, b"\x12\x34"), StoreCorrupt, "damaged"),
    "foreign": (lambda place: (place.unlink(), _foreign(place)), StoreCorrupt, "not a semgraph store"),
    "foreign log": (lambda place: (place.unlink(), _foreign_with_log(place)), StoreCorrupt, "not a semgraph store"),
    "newer": (lambda place: patch(place, 60, (2).to_bytes(4, "big")), SchemaTooNew, "version 2.*up to 1.*upgrade"),
    "older": (
        lambda place: patch(place, 60, (0).to_bytes(4, "big"), sealed=True),
        SchemaTooOld,
        "version 0.*oldest.* 1",
    ),
    "negative": (lambda place: patch(place, 60, b"\xff\xff\xff\xff", sealed=True), SchemaTooOld, "version -1"),
    "trigger": (
        lambda place: execute(place, "CREATE TRIGGER t AFTER INSERT ON entity BEGIN DELETE FROM claim; END"),
        StoreCorrupt,
        "schema",
    ),
    "view": (lambda place: execute(place, "CREATE VIEW v AS SELECT * FROM claim"), StoreCorrupt, "schema"),
    "table": (lambda place: execute(place, "CREATE TABLE other (a)"), StoreCorrupt, "schema"),
    "lost index": (lambda place: execute(place, "DROP INDEX fact_by_id"), StoreCorrupt, "schema"),
    "lost table": (lambda place: execute(place, "DROP TABLE claim"), StoreCorrupt, "schema"),
    "column": (lambda place: execute(place, "ALTER TABLE alias ADD COLUMN more TEXT"), StoreCorrupt, "schema"),
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
    assert {
        name: content for name, content in after.items() if not (read_only and name.endswith(("-shm", "-wal")))
    } == {name: content for name, content in before.items() if not (read_only and name.endswith(("-shm", "-wal")))}
    assert "what was said" not in str(caught.value)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_path_that_leads_nowhere(tmp_path, read_only):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "absent" / "s.db", tmp_path / "file" / "s.db", tmp_path / ("n" * 300)):
        with pytest.raises(StoreError, match="can't|there is no store"):  # noqa: RUF043  # the table holds patterns
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
    execute(path, "ANALYZE")
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
    connection.execute("INSERT INTO extra SELECT scope, value FROM entity JOIN symbol ON n = label")


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
        raise StoreError("the step failed")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*STEPS[:1], Migration(2, fail)))
    for _ in range(2):
        with pytest.raises(StoreError, match="the step failed"):
            open_store(path)
    monkeypatch.undo()
    with closing(open_store(path)) as store:
        assert store.count(EntityRow, 1) == 3
    copies = sorted(place.name for place in path.parent.iterdir())
    assert copies == ["store.db", "store.db.v1.2.bak", "store.db.v1.bak"]


def test_a_kill_inside_a_step_leaves_the_old_version(path):
    script = """
from semgraph.store import connecting, migrations
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
