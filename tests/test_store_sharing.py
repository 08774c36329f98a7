"""The SQLite store among others: read-only places, several processes, forks, kills, purges, backups."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_files import KILLED, NOBODY, child, run, small_store, snapshot
from store_conformance import entities, ids, make

from semgraph.errors import (
    InputError,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreReadOnly,
)
from semgraph.store import connecting, open_store, statements
from semgraph.store.files import occurrences
from semgraph.store.migrations import index_name
from semgraph.store.schema import AliasRow, ClaimRow, EntityRow, FactRow
from semgraph.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path):
    return small_store(tmp_path)


@pytest.fixture
def store(path):
    with closing(open_store(path)) as store:
        yield store


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
def public():
    """A closed store in a folder that everybody reaches; the folders of pytest are its user's alone."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = small_store(Path(folder))
        place.chmod(0o644)
        yield place


@needs_root
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o444, 0o777), (0o666, 0o755)])
def test_a_file_or_folder_that_can_not_be_written_is_read(public, file_mode, folder_mode):
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
    with reader.read(), pytest.raises(StoreError, match="changed by another process"):
        reader.iterate(EntityRow, 1)
    reader.close()


def test_a_file_that_was_moved_away_is_not_written(path, store):
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StoreError, match="moved or replaced"):
        store.insert(entities(4))
    with closing(open_store(path)) as other, pytest.raises(StoreError, match="moved or replaced"):  # noqa: PT012  # what fails is the block
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


def test_a_write_that_does_not_wait_is_busy_at_once_and_the_next_one_waits(path, store):
    with closing(SqliteStore(path, timeout_ms=30_000)) as other:
        with store.write():
            began = time.monotonic()
            with pytest.raises(StoreBusy), other.write(wait=False):
                raise AssertionError
            assert time.monotonic() - began < 10
        with other.write(wait=False):
            other.insert([make(EntityRow, id=77)])
        with store.write():
            ended = threading.Thread(target=other.insert, args=([make(EntityRow, id=78)],))
            ended.start()
            time.sleep(0.2)
            assert store.count(EntityRow, 1, id=78) == 0
        ended.join()
        assert store.count(EntityRow, 1, id=[77, 78]) == 2


def test_a_lock_held_by_another_process_is_busy(path):
    with child(HOLDER, path) as holder, closing(SqliteStore(path, timeout_ms=200)) as store:
        began = time.monotonic()
        with pytest.raises(StoreBusy, match="another process"):
            store.insert(entities(4))
        assert time.monotonic() - began >= 0.2
        assert ids(store.select(EntityRow, 1)) == [1, 2, 3]
        holder.stdin.write(b"\n")
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


# Kills


def test_a_kill_loses_no_finished_write_and_keeps_no_half_one(path):
    chosen, first = random.Random(11), 100  # noqa: S311  # repeatable
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
    chosen = random.Random(3)  # noqa: S311  # repeatable
    with closing(open_store(tmp_path / "s.db")) as store:
        names = []
        for _ in range(30):
            with store.write():
                for _ in range(60):
                    names.append(f"needle{chosen.getrandbits(60):020}end")
                    length = chosen.choice((5, 40, 900))
                    store.insert([make(AliasRow, key=names[-1], source="x" * length)])
        gone = chosen.sample(names, 200)
        store.delete(AliasRow, 1, key=gone)
        needles = [name.encode() for name in gone]
        store._emptied_log()
        assert store.residue(needles), "if SQLite blanks them by now, the rebuild can go"
        assert store.purge()
        assert store.residue(needles) == []
        assert store.count(AliasRow, 1) == len(names) - 200


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
            before = len(store.fetch("SELECT DISTINCT scope FROM entity", ()))
            store.backup(tmp_path / f"{number}.db")
            with closing(open_store(tmp_path / f"{number}.db")) as copy:
                assert copy.check() == []
                scopes = [scope for (scope,) in copy.fetch("SELECT DISTINCT scope FROM entity WHERE scope > 1", ())]
                assert len(scopes) + 1 >= before
                assert all(copy.count(EntityRow, s) == 10 and copy.count(ClaimRow, s) == 1 for s in scopes)


def test_the_names_of_indexes_are_their_columns():
    assert index_name(FactRow, ("scope", "object", "predicate")) == "fact_by_object_predicate"


# Words that the file keeps once


def test_words_that_another_handle_swept_are_learnt_anew(path):
    with closing(open_store(path)) as one, closing(open_store(path)) as other:
        one.insert([make(ClaimRow, id="a", predicate="gone")])
        assert other.count(ClaimRow, 1, predicate="gone") == 1
        other.delete(ClaimRow, 1, id="a")
        assert other.purge()
        other.insert([make(ClaimRow, id="b", predicate="gone")])
        assert [row.id for row in one.select(ClaimRow, 1, predicate="gone")] == ["b"]
        one.insert([make(ClaimRow, id="c", predicate="gone")])
        assert [row.id for row in other.select(ClaimRow, 1, predicate="gone")] == ["b", "c"]


def test_words_of_an_undone_transaction_are_forgotten(path):
    with closing(open_store(path)) as store:
        with pytest.raises(ZeroDivisionError), store.write():  # noqa: PT012  # what fails is the block
            store.insert([make(ClaimRow, id="a", predicate="undone", subject=77)])
            with pytest.raises(ZeroDivisionError), store.write():  # noqa: PT012
                store.insert([make(ClaimRow, id="b", predicate="undone too")])
                raise ZeroDivisionError
            store.insert([make(ClaimRow, id="c", predicate="undone as well")])
            raise ZeroDivisionError
        store.insert([make(ClaimRow, id="d", predicate="kept", subject=78)])
        assert [(row.predicate, row.subject) for row in store.select(ClaimRow, 1, id="d")] == [("kept", 78)]
    with closing(open_store(path)) as store:
        assert store.select(ClaimRow, 1, id="d")[0].predicate == "kept"
        assert store.count(ClaimRow, 1, predicate="undone") == 0


def test_a_purge_takes_words_and_identifiers_that_no_row_needs(path):
    name, claim = "somebody nobody knows", "00112233445566778899aabb"
    needles = [name.encode(), claim.encode()]
    with closing(open_store(path)) as store:
        store.insert([make(ClaimRow, id=claim, subject_text=name)])
        store._emptied_log()
        assert sorted(store.residue(needles)) == sorted(needles)
        store.delete(ClaimRow, 1, id=claim)
        assert store.purge()
        assert store.residue(needles) == []
        assert store.check() == []


# Claims in the order of their arrival


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from("aaadpoux"), st.integers(0, 5)), max_size=14), scopes=st.integers(0, 3))
def test_claims_since_a_moment_are_all_of_them_whatever_happened_to_the_rows(steps, scopes, tmp_path_factory):
    """Added, removed, added again with the same id, by another handle, undone, and the file rebuilt."""
    path = tmp_path_factory.mktemp("arrivals") / "s.db"
    with closing(open_store(path)) as store, closing(open_store(path)) as other:
        numbers = [store.create_scope(f"s{n}").scope for n in range(scopes + 1)]
        known, moment = dict.fromkeys(numbers, -1), 0

        def add(handle, scope, name):
            nonlocal moment
            moment += 1
            row = handle.scope(f"s{numbers.index(scope)}")
            with handle.write():
                handle.delete(ClaimRow, scope, id=f"{name:024x}")
                handle.insert([make(ClaimRow, scope=scope, id=f"{name:024x}", recorded_at=moment)])
                handle.update_scope(row._replace(last_recorded=moment))

        for what, name in steps:
            scope = numbers[name % len(numbers)]
            if what in "ao":
                add(store if what == "a" else other, scope, name)
            elif what == "d":
                store.delete(ClaimRow, scope, id=f"{name:024x}")
            elif what == "p":
                assert store.purge()
            elif what == "u":
                with suppress(ZeroDivisionError), store.write():
                    add(store, scope, name)
                    list(store.tuples(ClaimRow, scope, ("id",), recorded_at__gt=-1, recorded_at__le=moment))
                    raise ZeroDivisionError
            for each in numbers:
                with store.read():
                    until = store.scope(f"s{numbers.index(each)}").last_recorded
                    for since in (known[each], -1):
                        asked = {"recorded_at__gt": since, "recorded_at__le": until}
                        found = list(store.tuples(ClaimRow, each, ("id", "recorded_at"), **asked))
                        rows = store.select(ClaimRow, each, **asked)
                        assert found == [(row.id, row.recorded_at) for row in rows]
                    known[each] = max(until, -1)


def test_claims_since_a_moment_are_found_by_the_number_of_their_row(path, store):
    asked = statements.arriving(("id",))
    plan = store._connection.execute(f"EXPLAIN QUERY PLAN {asked}", (5, 1, 0, 9)).fetchall()
    assert any("USING INTEGER PRIMARY KEY (rowid>?)" in detail for *_, detail in plan), plan


# Whether anything was written


COMMITTER = """
store = open_store(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "write":
        row = store.scope("default") or store.create_scope("default")
        store.update_scope(row._replace(entities=row.entities + 1))
    else:
        store._moved("PRAGMA wal_checkpoint(TRUNCATE)")
    print("done", flush=True)
"""


def test_revisions_tell_each_commit_of_another_process(path):
    with child(COMMITTER, path) as writer, closing(open_store(path)) as store:
        seen = {store.revision()}
        for step in ["write", "write", "empty", "write"] * 5:
            before = store.revision()
            assert store.revision() == before
            writer.stdin.write(f"{step}\n".encode())
            assert writer.stdout.readline() == b"done\n"
            if step == "write":
                assert store.revision() not in seen
            seen.add(store.revision())


@given(st.lists(st.sampled_from(["ours", "theirs", "undone", "empty", "rebuild", "read"]), max_size=12))
@settings(deadline=None, max_examples=60)
def test_equal_revisions_are_of_equal_rows(steps):
    with TemporaryDirectory() as folder:
        path = small_store(Path(folder))
        with closing(open_store(path)) as ours, closing(open_store(path)) as theirs:
            known = {}
            for number, step in enumerate(steps):
                if step in ("ours", "theirs"):
                    (ours if step == "ours" else theirs).create_scope(f"scope {number}")
                elif step == "undone":
                    with suppress(KeyError), theirs.write():
                        theirs.create_scope("never")
                        raise KeyError
                elif step == "empty":
                    theirs._emptied_log()
                elif step == "rebuild":
                    theirs.purge()
                with ours.read():
                    inside, rows = ours.revision(), ours.scopes()
                    assert known.setdefault(inside, rows) == rows
                outside = ours.revision()
                assert known.setdefault(outside, rows) == rows


def test_a_commit_between_the_beginning_and_the_first_look_is_not_taken_for_one_that_was_seen(store, path):
    before = store.revision()
    with closing(open_store(path)) as other, store.read():
        other.create_scope("another")
        assert store.scope("another") is not None
        assert store.revision() not in (before, None)
        later = store.revision()
        other.create_scope("later")
        assert store.revision() == later
    assert store.revision() not in (before, later)


def test_a_store_in_memory_and_one_without_locks_have_revisions(path, monkeypatch):
    with closing(SqliteStore(None)) as alone:
        before = alone.revision()
        alone.create_scope("new")
        assert alone.revision() != before
    monkeypatch.setattr(connecting, "_guarded", lambda _path: False)
    with closing(open_store(path, read_only=True)) as fixed:
        assert fixed.revision() == fixed.revision()
        with fixed.read():
            assert fixed.revision() is not None


def test_the_memory_of_a_closed_connection_is_not_read(path, monkeypatch):
    store = open_store(path)
    store.revision()
    monkeypatch.setattr(SqliteStore, "_usable", lambda _: None)  # passed just before another thread closed the store
    store.close()
    with pytest.raises(StoreClosed):
        store.revision()
    with pytest.raises(StoreClosed), store.read():
        pass
