"""Recovery: out of a damaged file comes every claim that is as it was written, and what is lost is told."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from cli_process import process
from sqlite_files import connected

import semgraph
from semgraph import InputError, KnowledgeGraph, StoreError
from semgraph.recovering import recover

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    with KnowledgeGraph(path) as kg:
        kg.predicates.define("runs_on", cardinality="one")
        for n in range(120):
            kg.add(f"host {n}", "runs_on", f"version {n % 7}", valid_from=f"20{n % 20:02}", source_ref=f"doc:{n % 3}")
            kg.add(f"host {n}", "runs_on", f"version {n % 5}", valid_from=f"21{n % 20:02}")
        kg.names.alias("first", "host 0")
        kg.names.merge("host 1", "host 2")
        kg.retract(kg.add("host 3", "runs_on", "wrong", valid_from="2050"))
        kg.veto(phrase="bluebird")
        kg.scoped("other").add("Maya", "lives_in", "Oslo")
    return path


def test_a_sound_file_comes_out_as_it_was(sound: Path, tmp_path: Path):
    found = recover(sound, tmp_path / "b.db")
    assert found.whole
    assert (found.saved["claim"], found.lost, found.problems) == (242, {}, ())
    for scope in ("default", "other"):
        exports = []
        for name in ("a", "b"):
            with KnowledgeGraph(tmp_path / f"{name}.db", scope=scope, read_only=True) as kg:
                semgraph.write(kg, tmp_path / f"{name}.jsonl")
                assert kg.verify() == []
            exports.append((tmp_path / f"{name}.jsonl").read_bytes())
        assert exports[0] == exports[1]


def test_what_another_program_wrote_anew_is_taken_over_whole(sound: Path, tmp_path: Path):
    with closing(sqlite3.connect(sound)) as other:
        other.execute("VACUUM")
    with pytest.raises(StoreError, match="another program"), KnowledgeGraph(sound) as kg:
        list(kg.claims())
    found = recover(sound, tmp_path / "b.db")
    assert (found.saved["claim"], found.lost) == (242, {})
    with KnowledgeGraph(tmp_path / "b.db") as kg:
        assert kg.verify() == []


@pytest.mark.parametrize("seed", range(8))
def test_what_is_whole_is_saved_and_what_is_not_is_counted(sound: Path, tmp_path: Path, seed: int):
    with KnowledgeGraph(sound, read_only=True) as kg:
        before = {claim.id: claim for claim in kg.claims(retracted=True)}
    data = bytearray(sound.read_bytes())
    chance = random.Random(seed)  # noqa: S311 - damage
    for page in chance.sample(range(1, len(data) // 4096), 2):
        data[page * 4096 : (page + 1) * 4096] = chance.randbytes(4096)
    sound.write_bytes(data)
    try:
        found = recover(sound, tmp_path / "b.db")
    except StoreError:
        assert not (tmp_path / "b.db").exists()  # the page held the schema, or the list of tables
        return
    with KnowledgeGraph(tmp_path / "b.db", read_only=True) as kg:
        after = {claim.id: claim for claim in kg.claims(retracted=True)}
        assert kg.verify() == []
    assert found.problems == ()
    assert after.keys() <= before.keys()
    for number, claim in after.items():
        old = before[number]
        assert (claim.predicate, claim.valid_from, claim.said_at, claim.source_ref) == (
            old.predicate, old.valid_from, old.said_at, old.source_ref,
        )  # fmt: skip
    assert sound.read_bytes() == bytes(data)


def test_a_row_that_was_changed_is_lost_and_named(sound: Path, tmp_path: Path):
    with KnowledgeGraph(sound, read_only=True) as kg:
        victim = next(iter(kg.claims("host 5", "runs_on")))
    connection = connected(sound)
    word = "(SELECT n FROM symbol WHERE value = ?)"
    connection.execute("UPDATE claim SET confidence = 0.1 WHERE hex(id) = upper(?)", (victim.id,))
    assert connection.changes() == 1
    connection.execute(f"DELETE FROM entity WHERE label = {word}", ("host 7",))  # noqa: S608 - words of ours
    connection.execute(f"DELETE FROM alias WHERE name = {word}", ("host 8",))  # noqa: S608 - words of ours
    assert connection.total_changes() == 3
    connection.close()
    found = recover(sound, tmp_path / "b.db")
    assert not found.whole
    assert victim.id in found.claims
    assert (found.lost["claim"], found.made_again) == (1, 1)
    with KnowledgeGraph(tmp_path / "b.db", read_only=True) as kg:
        assert kg.verify() == []
        assert kg.at("2107").value("host 7", "runs_on") == "version 2"
        assert kg.at("2108").value("host 8", "runs_on") == "version 3"
        assert len(list(kg.claims("host 5"))) == 1


def test_nothing_is_overwritten_and_nothing_is_left_behind(sound: Path, tmp_path: Path):
    (tmp_path / "b.db").write_text("precious")
    with pytest.raises(InputError, match="exists already"):
        recover(sound, tmp_path / "b.db")
    assert (tmp_path / "b.db").read_text() == "precious"
    (tmp_path / "c.db").write_text("dear diary " * 500)
    with pytest.raises(StoreError):
        recover(tmp_path / "c.db", tmp_path / "d.db")
    assert {path.name for path in tmp_path.iterdir()} - {"a.db-wal", "a.db-shm"} == {"a.db", "b.db", "c.db"}


def test_an_empty_store_is_recovered_as_one(tmp_path: Path):
    KnowledgeGraph(tmp_path / "a.db").close()
    found = recover(tmp_path / "a.db", tmp_path / "b.db")
    assert (found.whole, found.saved) == (True, {})
    with KnowledgeGraph(tmp_path / "b.db", read_only=True) as kg:
        assert len(kg) == 0


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.db"
    with KnowledgeGraph(path) as kg:
        kg.add_all([{"subject": f"P{n}", "predicate": "lives_in", "object": f"C{n % 20}"} for n in range(300)])
    return path


def roots(path: Path, *names: str) -> list[int]:
    connection = connected(path)
    found = [connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (one,)).get for one in names]
    connection.close()
    return found


def broken(path: Path, pages: list[int]) -> Path:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xff" * 4096)
    return path


def test_claims_that_no_page_leads_to_any_more_are_counted_along_an_index(towns: Path, tmp_path: Path):
    broken(towns, roots(towns, "claim", "claim_by_id"))
    found = recover(towns, tmp_path / "b.db")
    assert (found.lost, found.unknown, found.whole) == ({"claim": 300}, (), False)


def test_where_every_way_to_a_table_is_broken_its_loss_is_told_all_the_same(towns: Path, tmp_path: Path):
    every = ("claim", "claim_by_id", "claim_by_subject_predicate",
                               "claim_by_object_predicate", "claim_by_source_ref")  # fmt: skip
    broken(towns, roots(towns, *every))
    done = process(tmp_path, "recover", "towns.db", "saved.db")
    assert done.returncode == 1
    assert b"lost: an unknown number of claims" in done.stdout
    found = recover(towns, tmp_path / "b.db")
    assert ("claim" in found.unknown, found.whole) == (True, False)


def test_a_broken_table_without_an_index_is_told_though_it_may_have_been_empty(towns: Path, tmp_path: Path):
    broken(towns, roots(towns, "veto"))
    found = recover(towns, tmp_path / "b.db")
    assert (found.saved["claim"], found.lost, found.unknown, found.whole) == (300, {}, ("veto",), False)


def test_a_scope_that_had_to_be_named_anew_is_named(towns: Path, tmp_path: Path):
    broken(towns, roots(towns, "scope"))
    done = process(tmp_path, "recover", "towns.db", "saved.db")
    assert done.returncode == 1
    said = b"a scope whose name is lost is now 'recovered-1': semgraph --db saved.db --scope recovered-1 stats"
    assert said in done.stdout
    assert b"lost: 1 name of a scope" in done.stdout
    listed = process(tmp_path, "--db", "saved.db", "--scope", "recovered-1", "list", "P7")
    assert listed.stdout.startswith(b"P7 lives_in C7")


def test_a_file_without_its_list_of_tables_is_not_sent_from_command_to_command(towns: Path, tmp_path: Path):
    connection = connected(towns)
    (leaf,) = connection.execute(
        "SELECT min(pageno) FROM dbstat WHERE name = 'sqlite_schema' AND pageno > 1"
    ).fetchone()
    connection.close()
    broken(towns, [leaf])
    done = process(tmp_path, "recover", "towns.db", "saved.db")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"nothing can be saved of" in done.stderr
    assert b"verify" not in done.stderr
    done = process(tmp_path, "--db", "towns.db", "verify")
    assert done.returncode == 1
    assert b"semgraph recover DAMAGED NEW" in done.stderr
    assert b"semgraph verify" not in done.stderr
