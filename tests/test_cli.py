"""The command line: every command as a user would type it, and what it says when something is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from cli_process import environment, process, small_store
from sqlite_files import connected

from semgraph import KnowledgeGraph
from semgraph.cli import main
from semgraph.cli.app import PLACES, cli
from semgraph.cli.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
ADD = ["add", "Maya", "knows", "Ann"]
POSIX = os.name == "posix"
FACT = {
    "id", "subject", "predicate", "object", "qualifiers", "valid_from", "valid_to", "start_basis", "certain",
    "conflicted", "planned", "negative", "status", "confidence", "sources", "claims", "text", "recorded_at",
    "system_from", "system_to", "supersedes", "ended_by", "because",
}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_store(tmp_path_factory.mktemp("base") / "base.db")


@pytest.fixture
def db(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(base, tmp_path / "a.db"))


@pytest.fixture
def run(db: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run words against a copy of the store, in this process: status, output, errors."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--db", str(db), *words])
        return status, *capsys.readouterr()

    return run


# -- what every command has

COMMANDS = sorted(PLACES)


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_commands_of_the_design_are_there():
    wanted = """add set remember end deny correct retract settle forget veto value about timeline history list entities
        conflicts explain diff rejected neighbors paths match recall recover alias unalias aliases
        merge unmerge suggest define predicates import export
        verify stats backup demo"""
    assert set(wanted.split()) <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_help_with_an_example_that_fits_80_columns(name: str, capsys: pytest.CaptureFixture[str]):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Example:\n    semgraph {name}" in shown or f"Example:\n    semgraph --at 2022 {name}" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(p.help for p in command(name).params if isinstance(p, click.Option))


def test_each_command_is_one_line_in_the_list(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown.partition("Tell:")[2]
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "method"),
    [(n, n) for n in ("add", "set", "end", "deny", "correct", "retract", "settle", "forget")]
    + [
        ("value", "value"),
        ("timeline", "timeline"),
        ("history", "history"),
        ("conflicts", "conflicts"),
        ("list", "facts"),
    ],
)
def test_parameters_are_those_of_the_method_in_the_same_order(name: str, method: str):
    import inspect

    signature = inspect.signature(getattr(KnowledgeGraph, method)).parameters
    wanted = [p.name for p in signature.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    keywords = {p.name for p in signature.values() if p.kind is p.KEYWORD_ONLY}
    params = command(name).params
    assert [p.name for p in params if isinstance(p, click.Argument)] == wanted
    options = {p.name for p in params if isinstance(p, click.Option)}
    assert keywords <= options


def test_help_loads_nothing_heavy(tmp_path: Path):
    code = "from semgraph.cli import main; main(['add', '--help']); import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "networkx", "pydantic", "rich", "dateparser", "rapidfuzz", "apsw"}


# -- commands that do what they say

SHOWN = [
    (["add", "Ann", "speaks", "Finnish", "--valid-from", "2020"], "new: Ann speaks Finnish since 2020\n"),
    (
        ["add", "Maya", "works_at", "Acme", "--valid-from", "2026"],
        "; closes Linear (since 2024-06-01): it starts later\n",
    ),
    (["add", "Ann", "lives_in", "Rome", "--valid-through", "2019"], "new: Ann lives_in Rome "),
    (["add", "Ann", "lives_in", "Rome", "--valid-from", "2019", "--valid-through", "2019"], "Rome in 2019\n"),
    (["add", "Ann", "prefers", "tea", "--qualifiers", "topic=drink", "--qualifiers", "n=3"], "n 3"),
    (["add", "Ann", "knows", "Bob", "--negative"], "new: Ann (not) knows Bob"),
    (["add", "Ann", "states", "--text", "She likes it here"], "new: Ann states She likes it here"),
    (
        ["add", "Maya", "lives_in", "Rome", "--valid-from", "2025-01"],
        "conflict: Maya lives_in Rome since 2025-01, against ",
    ),
    (["add", "Maya", "lives_in", "Rome", "--valid-from", "2025-01"], "to settle: semgraph --db "),
    (["set", "Maya", "works_at", "Acme"], "; closes Linear (since 2024-06-01): it is an explicit change"),
    (["end", "Maya", "works_at", "Linear", "--at", "2025"], "ended: Maya works_at Linear from 2024-06-01 until 2025\n"),
    (["deny", "Maya", "works_at", "Linear"], "new: denied: Maya works_at Linear since 2024-06-01\n"),
    (
        ["correct", "Maya", "works_at", "Linear", "Lineal"],
        "update: Maya works_at Lineal since 2024-06-01; closes Linear (",
    ),
    (["settle", "Maya", "lives_in", "choose", "Oslo"], "update: Maya lives_in Oslo since 2025-01; closes Bergen ("),
    (["settle", "Maya", "lives_in", "keep_both"], "update: the values are kept side by side"),
    (["remember", "I live in Oslo"], "new: user lives_in Oslo"),
    (["remember", "I might live in Oslo"], "rejected: "),
    (["veto", "--phrase", "bluebird"], "vetoed: nothing with the phrase 'bluebird'"),
    (["forget", "--entity", "Maya", "--yes"], "forgot: 4 claims"),
    (["forget", "--source-ref", "mail:17", "--dry-run"], "would forget: 1 claim, 1 fact, "),
    (["declare", "Ann"], "declared: Ann (e"),
    (["alias", "M. P.", "Maya"], "alias: M. P. means Maya\n"),
    (["alias", "M. P.", "Maya", "--primary"], "alias: M. P. is a name of Maya, which is shown as M. P. from now on\n"),
    (["merge", "Oslo", "Bergen"], "merged: Oslo is Bergen"),
    (["keep-apart", "Oslo", "Bergen"], "kept apart: Oslo and Bergen"),
    (["define", "runs_on", "--cardinality", "one", "--trust", "tool=4"], "defined: runs_on (one)"),
    (["about", "Maya"], "works_at  Linear  since 2024-06-01"),
    (["value", "Maya", "works_at"], "Linear"),
    (["value", "Maya", "eats", "rice"], "rice"),
    (["--at", "2022", "value", "Maya", "works_at"], "Stripe"),
    (["timeline", "Maya", "works_at"], "2021-03     2024-06-01  "),
    (["timeline", "Maya", "works_at"], "  Stripe  (superseded by Linear)\n"),
    (["timeline", "Maya"], "lives_in Bergen  (in conflict, from tool:calendar)\n"),
    (["list", "Maya", "works_at"], "Maya works_at Linear since 2024-06-01\n"),
    (["list", "--predicate", "lives_in", "--object", "Oslo"], "Maya lives_in Oslo since 2025-01  (in conflict)\n"),
    (["entities", "geo"], "George W. Bush"),
    (["aliases", "George W. Bush"], "George Bush"),
    (["conflicts"], "Maya lives_in: Bergen or Oslo?  in conflict since 2025-01\n"),
    (["conflicts"], "  Bergen  said by tool:calendar on "),
    (["explain", "Maya", "works_at"], "  opened    superseded what held before: its start is certainly later\n"),
    (
        ["history", "Maya", "works_at"],
        "  ~ Maya works_at Stripe from 2021-03 until 2024-06-01, before: since 2021-03\n",
    ),
    (["diff", "2022", "2025"], "~ Maya works_at Stripe from 2021-03 until 2024-06-01 -> Linear since 2024-06-01\n"),
    (["neighbors", "Maya"], "1  Linear  Maya works_at Linear\n"),
    (["paths", "Maya", "Linear"], "Maya > Linear  (confidence "),
    (["match", "?who works_at ?where"], "Maya  Linear  2024-06-01  ..\n"),
    (["match", "?who", "works_at", "Linear"], "Maya  2024-06-01  ..\n"),
    (["recall", "Where does Maya work?"], "Maya works_at Linear since 2024-06-01"),
    (["recall", "Where does Maya work?", "--prompt"], "Known facts (reference material"),
    (["stats"], "claims:         5\n"),
    (["predicates", "works_at"], "works_at  one"),
    (["config"], "scope       default"),
    (["verify"], "no problems"),
]


@pytest.mark.parametrize(("words", "shown"), SHOWN, ids=[" ".join(words) for words, _ in SHOWN])
def test_command_shows_what_it_did(run, words: list[str], shown: str):
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert shown in out


@pytest.mark.parametrize("words", [words for words, _ in SHOWN], ids=" ".join)
def test_json_is_one_document_wherever_the_flag_stands(run, db: Path, base: Path, words: list[str]):
    status, out, _ = run("--json", *words)
    assert status == 0
    document = json.loads(out)
    shutil.copy(base, db)
    for suffix in ("-wal", "-shm"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)
    status, out, _ = run(*words, "--json")
    assert status == 0
    assert type(json.loads(out)) is type(document)


def test_facts_are_objects_with_the_names_of_the_api(run):
    _, out, _ = run("list", "Maya", "works_at", "--json")
    (fact,) = json.loads(out)
    assert set(fact) >= FACT
    assert fact["subject"]["label"] == "Maya"
    assert set(fact["object"]) == {"id", "label"}
    assert (fact["valid_from"], fact["valid_to"]) == ("2024-06-01", None)
    assert fact["claims"][0]["source_ref"] == "mail:52"


def test_value_is_a_plain_json_value(run):
    assert json.loads(run("value", "Maya", "works_at", "--json")[1]) == "Linear"
    assert json.loads(run("value", "Maya", "eats", "--json")[1]) is None


def test_no_result_is_no_error_and_is_said_beside_the_data(run):
    for words in (
        ["list", "Nobody"],
        ["value", "Maya", "eats"],
        ["rejected"],
        ["diff", "2022", "2022"],
        ["entities", "zz"],
    ):
        status, out, err = run(*words)
        assert (status, out) == (0, "")
        assert err


@pytest.mark.parametrize("words", [["list", "Mya"], ["value", "Mya", "works_at"], ["explain", "Mya", "works_at"]])
def test_a_name_that_nothing_bears_is_told_from_nothing_that_holds(run, words: list[str]):
    status, out, err = run(*words)
    assert (status, out) == (0, "")
    assert err == "semgraph: nothing holds: no entity is called 'Mya'; did you mean 'Maya'?\n"
    status, out, err = run(words[0], "Maya", "eats")
    assert (status, out) == (0, "")
    assert err.startswith("semgraph: nothing holds")
    assert "no entity" not in err


def test_what_no_longer_holds_is_explained_by_the_way_that_explain_tells(run):
    status, out, err = run("explain", "Maya", "works_at", "Stripe")
    assert (status, out) == (0, "")
    assert "`semgraph --at WHEN list --ids`" in err
    number = run("--at", "2022", "list", "Maya", "works_at", "--ids")[1].split()[0]
    assert "works_at Stripe" in run("explain", number)[1]


def test_timeline_of_one_predicate_shows_its_gaps(run):
    run("add", "Ann", "works_at", "Acme", "--valid-from", "2001", "--valid-to", "2003")
    run("add", "Ann", "works_at", "Bolt", "--valid-from", "2005")
    lines = [re.split(r"\s{2,}", line) for line in run("timeline", "Ann", "works_at")[1].splitlines()]
    assert lines[2] == ["2003", "2005", "(nothing known)"]
    assert "(nothing known)" not in run("timeline", "Ann")[1]


def test_known_at_reads_what_was_believed(run):
    before = json.loads(run("history", "Maya", "works_at", "--json")[1])[-1]["known_from"]
    run("correct", "Maya", "works_at", "Linear", "Lineal")
    assert run("value", "Maya", "works_at")[1] == "Lineal\n"
    assert run("--known-at", before, "value", "Maya", "works_at")[1] == "Linear\n"
    assert "Linear" in run("diff", "--known", before, "2999")[1]


def test_a_statement_is_withdrawn_by_the_id_that_list_shows(run):
    number = run("list", "Maya", "works_at", "--ids")[1].split()[0]
    assert "by user (mail:52) on " in run("explain", number)[1]
    assert run("retract", number, "--reason", "another Maya")[0] == 0
    assert run("value", "Maya", "works_at")[1] == "Stripe\n"
    assert run("unretract", number)[0] == 0
    assert run("value", "Maya", "works_at")[1] == "Linear\n"


def test_an_id_stands_for_its_entity_where_names_are_shared(run):
    status, _, err = run("about", "George Bush")
    assert status == 1
    ids = re.findall(r"e[0-9a-f]{16}", err)
    assert len(ids) == 2
    shown = {run("value", number, "birth_date")[1] for number in ids}
    assert shown == {"", "1946-07-06\n"}
    assert run("add", ids[0], "knows", ids[1])[0] == 0
    assert "George" in run("list", "--predicate", "knows")[1]


def test_unmerge_and_unalias_take_back(run):
    run("merge", "Oslo", "Bergen")
    assert run("unmerge", "Oslo")[1] == "unmerged: Oslo is itself again\n"
    run("alias", "M. P.", "Maya")
    assert run("unalias", "M. P.", "Maya")[0] == 0
    assert run("about", "M. P.")[0] == 1


def test_similar_names_are_only_suggested(run):
    run("add", "Maya Petersen", "knows", "Maya Peterson")
    assert "Maya Petersen" in run("suggest")[1]


def test_conflicts_can_be_asked_for_at_a_time_and_as_a_status(run):
    assert run("conflicts", "--exit-code")[0] == 1
    assert run("--at", "2024", "conflicts", "--exit-code")[0] == 0
    assert run("conflicts")[0] == 0
    run("settle", "Maya", "lives_in", "choose", "Oslo", "--valid-at", "2025-02")
    assert run("--at", "2999", "conflicts", "--exit-code")[0] == 0


def test_verify_fails_when_a_row_is_gone(run, db: Path):
    with connected(db) as connection:
        of_it = "WHERE predicate = (SELECT n FROM symbol WHERE value = 'works_at')"
        connection.execute(f"DELETE FROM fact {of_it}")  # noqa: S608  # words of the test
        connection.execute(f"UPDATE claim SET mould = NULL {of_it}")  # noqa: S608  # those kept with their claim
    connection.close()
    status, out, _ = run("verify")
    assert status == 1
    assert "is not stored" in out


def test_rejected_claims_are_kept_and_shown(run):
    assert run("add", "Maya", "knows", "Ann", "--valid-from", "2023-02-29")[0] == 1
    assert "bad_time" in run("rejected")[1]


def test_scopes_do_not_see_each_other(run):
    run("--scope", "other", "add", "Nora", "knows", "Ann")
    assert run("--scope", "other", "list")[1].startswith("Nora knows Ann")
    assert "Nora" not in run("list")[1]
    assert run("--scope", "third", "list")[1] == ""


@pytest.mark.parametrize("words", [("-",), ("a.jsonl",), ("--format", "nq", "-"), ("--at", "2020", "a.gexf")])
def test_an_export_says_that_nobody_wrote_to_the_scope(run, db: Path, words):
    words = [str(db.with_name(word)) if word.startswith("a.") else word for word in words]
    assert "'hme'" not in run("export", "--force", *words)[2]
    code, _, err = run("--scope", "hme", "export", "--force", *words)
    assert (code, err.splitlines()[-1]) == (0, "semgraph: nothing was ever written to the scope 'hme'")


def test_a_format_goes_by_its_suffix_too(run, tmp_path: Path):
    by_name, by_suffix = run("export", "--format", "rdf", "-"), run("export", "--format", "nq", "-")
    assert by_name == by_suffix
    assert by_name[:1] == (0,)
    notes = tmp_path / "diary"
    notes.write_text("Ann works at Acme.")
    assert run("import", "--dry-run", "--format", "txt", str(notes)) == run(
        "import", "--dry-run", "--format", "notes", str(notes)
    )
    assert run("export", "--format", "docx", "-")[0] == 2


def test_export_and_import_lose_nothing(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    assert run("export", str(first))[:2] == (0, f"exported to {first}\n")
    assert main(["--db", str(tmp_path / "new.db"), "import", str(first)]) == 0
    assert capsys.readouterr().out == "5 claims: new 5\n"
    assert main(["--db", str(tmp_path / "new.db"), "export", str(second)]) == 0
    capsys.readouterr()
    assert first.read_bytes() == second.read_bytes()
    assert run("import", str(first))[1] == "5 claims: idempotent 5\n"


def test_any_slice_goes_into_any_format(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What a copy of each file holds, by the words of its commands."""
    slices = {
        "all": ([], ["Maya works_at Linear", "Maya works_at Stripe"]),
        "then": (["--at", "2022"], ["Maya works_at Stripe"]),
        "window": (["--from", "2020", "--to", "2022"], ["Maya works_at Stripe"]),
    }
    for name, (words, held) in slices.items():
        for kind in ("graphml", "gexf"):
            path, copy = tmp_path / f"{name}.{kind}.gz", str(tmp_path / f"{name}-{kind}.db")
            assert run("export", *words, str(path))[0] == 0
            assert main(["--db", copy, "import", str(path)]) == 0
            out = capsys.readouterr().out.splitlines()
            assert out[1].startswith("predicates: ")
            with KnowledgeGraph(copy) as kg:
                assert [fact.label for fact in kg.during().facts("Maya", "works_at")] in (held, held[::-1])


def test_an_export_at_a_time_can_be_asked_for_on_either_side(run, tmp_path: Path):
    before, after = tmp_path / "a.gexf", tmp_path / "b.gexf"
    assert run("--at", "2022", "export", str(before))[0] == 0
    assert run("export", "--format", "gexf", "--at", "2022", str(after))[0] == 0
    assert before.read_bytes() == after.read_bytes()
    assert run("--at", "2022", "export", "--at", "2021", str(before))[0] == 2
    assert run("export", "--at", "2022", "--to", "2021", str(before))[0] == 2


def test_what_a_foreign_graph_could_not_say_is_noted(run, tmp_path: Path):
    path = tmp_path / "a.gexf"
    path.write_text(
        '<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph><nodes><node id="a"/></nodes>'
        '<edges><edge source="a" target="b" shade="red"/></edges></graph></gexf>'
    )
    status, _, err = run("import", str(path))
    assert (status, "a.gexf, line 1: edge has the attribute 'shade'" in err) == (1, True)
    assert "--no-strict" in err
    status, out, err = run("import", "--no-strict", str(path))
    assert (status, out) == (0, "1 claim: new 1\npredicates: linked_to 1\n")
    assert "names 1 nodes" in err or "name 1 nodes" in err


def test_refused_claims_of_a_file_are_told_apart_from_the_counts(run, tmp_path: Path):
    lines = [
        '{"subject": "Ann", "predicate": "knows", "object": "Bob"}',
        '{"subject": "Ann", "predicate": "knows"}',
    ] * 2
    (tmp_path / "a.jsonl").write_text("\n\n".join(lines))
    status, out, err = run("import", str(tmp_path / "a.jsonl"), "--source", "imported:crm")
    assert (status, out) == (1, "4 claims: idempotent 1, new 1, rejected 2\n")
    assert err.startswith("rejected: object_required — ")
    assert err.endswith("(2 times: lines 3, 7)\n")
    assert run("rejected")[1].count("object_required") == 2
    (tmp_path / "b.jsonl").write_text("\n".join([*lines, lines[1]] * 4))
    status, _, err = run("import", str(tmp_path / "b.jsonl"))
    assert (status, err.endswith("(12 times: lines 2, 4, 5, 7, 9, 10, 12, 14, 15, 17 and 2 more)\n")) == (1, True)
    status, out, _ = run("--json", "import", str(tmp_path / "a.jsonl"))
    assert (status, json.loads(out)["rejected_at"]) == (1, [3, 7])


def test_backup_is_a_store(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run("backup", str(tmp_path / "copy.db"))[0] == 0
    assert main(["--db", str(tmp_path / "copy.db"), "value", "Maya", "works_at"]) == 0
    assert capsys.readouterr().out == "Linear\n"


@pytest.mark.parametrize(("terminal", "answer", "status"), [(True, "y\n", 0), (True, "n\n", 1), (False, "y\n", 2)])
def test_forgetting_asks_first(run, monkeypatch: pytest.MonkeyPatch, *, terminal: bool, answer: str, status: int):
    import io

    stdin = io.TextIOWrapper(io.BytesIO(answer.encode()))
    monkeypatch.setattr(stdin, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("forget", "--entity", "Maya")[0] == status
    assert (run("about", "Maya")[0] == 0) is (status != 0)


def test_what_a_terminal_would_obey_is_spelled_out(run):
    run("add", "Ann", "states", "--text", "red \x1b[31m and \u202eturned and\nnew")
    _, out, _ = run("list", "Ann")
    assert "red \\x1b[31m and \\u202eturned and\\nnew" in out
    assert clean("e\u0301 \u200d \U0001f469\u200d\U0001f4bb ok") == "e\u0301 \u200d \U0001f469\u200d\U0001f4bb ok"


def test_wide_characters_keep_the_columns(run):
    run("add", "東京", "part_of", "日本", "--valid-from", "1868")
    run("add", "東京", "part_of", "Asia", "--valid-from", "1868")
    lines = run("about", "東京")[1].splitlines()
    assert lines == ["part_of  Asia  since 1868", "part_of  日本  since 1868"]


def test_no_colour_ever(run):
    for words, _ in SHOWN[20:]:
        assert "\x1b" not in run(*words)[1]


# -- real processes: where data goes


def test_default_file_is_named_on_first_use_only(tmp_path: Path):
    first = process(tmp_path, *ADD)
    second = process(tmp_path, "list")
    assert (first.returncode, second.returncode) == (0, 0)
    (path,) = (tmp_path / "home").rglob("semgraph.db")
    assert first.stderr.decode() == f"semgraph: keeps its data in {path}\n"
    assert (second.stderr, second.stdout[:15]) == (b"", b"Maya knows Ann ")


def test_environment_names_the_file(tmp_path: Path):
    assert process(tmp_path, *ADD, env={"SEMGRAPH_DB": "own.db"}).stderr == b""
    assert (tmp_path / "own.db").exists()
    assert not (tmp_path / "home").exists()


def test_reading_makes_no_file_and_changes_none(db: Path):
    before = db.read_bytes()
    assert process(db.parent, "--db", "a.db", "about", "Maya").returncode == 0
    assert process(db.parent, "--db", "b.db", "about", "Maya").returncode == 1
    assert db.read_bytes() == before
    assert not (db.parent / "b.db").exists()


def test_export_goes_through_a_pipe(db: Path):
    out = process(db.parent, "--db", "a.db", "export", "-")
    assert (
        process(db.parent, "--db", "b.db", "import", "-", input=out.stdout, stdin=None).stdout == b"5 claims: new 5\n"
    )
    assert process(db.parent, "--db", "b.db", "export").stdout == out.stdout


@pytest.mark.skipif(not POSIX, reason="pipes close differently here")
@pytest.mark.parametrize("words", [["list"], ["export", "-"], ["--json", "timeline", "Hub"], ["--help"]])
def test_a_closed_pipe_is_silent(tmp_path: Path, words: list[str]):
    with KnowledgeGraph(tmp_path / "a.db") as kg:
        kg.add_all({"subject": "Hub", "predicate": "knows", "object": f"Person {n}"} for n in range(300))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(tmp_path, "--db", "a.db", *words, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_a_full_disk_below_the_output_is_one_line(db: Path):
    with Path("/dev/full").open("wb") as full:
        done = process(db.parent, "--db", "a.db", "list", stdout=full)
    assert done.returncode == 1
    assert re.fullmatch(rb"semgraph: [^\n]+\n", done.stderr)


@pytest.mark.skipif(not POSIX, reason="signals differ here")
def test_an_interrupt_ends_with_130_and_keeps_nothing_half_done(db: Path):
    running = subprocess.Popen(
        [sys.executable, "-m", "semgraph", "--db", "a.db", "import", "-"],
        cwd=db.parent, env=environment(db.parent),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job is started to ignore it
    )  # fmt: skip
    assert running.stdin is not None
    line = b'{"subject": "Nora", "predicate": "knows", "object": "Ann"}\n'
    running.stdin.write(line * 5000)  # more than a pipe holds: when this is taken, it is reading
    running.stdin.flush()
    for _ in range(15):  # Python drops an interrupt that falls into a finaliser: then a person presses again
        running.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(4)
            break
    assert running.returncode == 130
    assert b"Traceback" not in running.stderr.read()
    for stream in (running.stdin, running.stdout, running.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.close()
    with KnowledgeGraph(db, read_only=True) as kg:
        assert "Nora" not in kg


@pytest.mark.skipif(not POSIX, reason="signals differ here")
def test_an_export_that_is_asked_to_end_leaves_nothing_half_written(tmp_path: Path):
    with KnowledgeGraph(tmp_path / "a.db") as kg:
        kg.add_all({"subject": f"Person {n}", "predicate": "knows", "object": f"Person {n + 1}"} for n in range(4000))
    before = {path.name for path in tmp_path.iterdir()}
    running = subprocess.Popen(
        [sys.executable, "-m", "semgraph", "--db", "a.db", "export", "out.graphml"],
        cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not any(path.name.startswith(".out") for path in tmp_path.iterdir()):
        assert running.poll() is None
        time.sleep(0.01)
    time.sleep(0.05)
    running.terminate()
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (-signal.SIGTERM, b"semgraph: interrupted; nothing was written\n")
    assert {path.name for path in tmp_path.iterdir()} - {"a.db-wal", "a.db-shm"} == before - {"a.db-wal", "a.db-shm"}


def test_processes_at_once_lose_nothing(tmp_path: Path):
    def tell(number: int) -> int:
        return process(tmp_path, "--db", "a.db", "add", "Maya", "knows", f"Person {number}").returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tell, range(6))) == [0] * 6
    with KnowledgeGraph(tmp_path / "a.db", read_only=True) as kg:
        assert {fact.object.label for fact in kg.facts("Maya")} == {f"Person {n}" for n in range(6)}
        assert len({claim.recorded_at for claim in kg.claims()}) == 6
        assert kg.verify() == []


@pytest.mark.skipif(not POSIX, reason="the encoding of a terminal is set differently here")
def test_a_terminal_that_knows_no_unicode_gets_escapes(db: Path):
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    process(db.parent, "--db", "a.db", "add", "Zoë", "knows", "東")
    shown = process(db.parent, "--db", "a.db", "list", "--predicate", "knows", env=env)
    assert shown.stdout.startswith(b"Zo\xeb knows \\u6771 ")
    document = process(db.parent, "--db", "a.db", "list", "--predicate", "knows", "--json", env=env)
    assert json.loads(document.stdout)[0]["subject"]["label"] == "Zoë"
