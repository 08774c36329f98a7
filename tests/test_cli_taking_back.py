"""What `end` and `deny` say where nothing held, and where nothing is left; options that are given twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from semgraph import KnowledgeGraph
from semgraph.cli import main
from semgraph.cli.app import PLACES, Once, cli

if TYPE_CHECKING:
    from pathlib import Path


MAJA = "the claim is kept: no entity is called 'Maja'; did you mean 'Maya'?\n"


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = tmp_path / "a.db"
    with KnowledgeGraph(path) as kg:
        kg.add("Maya", "works_at", "Acme", valid_from="2020")
        kg.add("Maya", "tends_to", "Roses", valid_from="2020", valid_to="2021")
    return str(path)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["end", "Maja", "works_at", "Acme"], f"end; {MAJA}"),
        (["end", "Maja", "works_at"], f"end; {MAJA}"),
        (["end", "Maya", "works_at", "Acne"], "kept: no entity is called 'Acne'; did you mean 'Acme'?"),
        (["end", "Maya", "work_at", "Acme"], "kept: 'work_at' is told of nothing; did you mean 'works_at'?"),
        (["end", "Maya", "tend_to"], "'tend_to' is told of nothing; did you mean 'tends_to'"),
        (["end", "Maya", "lives_in"], "nothing held that it could end; the claim is kept"),
        (["end", "Maya", "tends_to", "--at", "2024"], "nothing held that it could end; the claim is kept"),
        (["deny", "Maja", "works_at", "Acme"], f"deny; {MAJA}"),
        (["deny", "Maya", "works_at", "Acme", "--valid-to", "2012"], "nothing held that it could deny"),
        (["deny", "Maya", "tends_to", "Roses", "--valid-from", "2021"], "nothing held that it could deny"),
    ],
)  # fmt: skip
def test_where_nothing_held_it_is_said_beside_the_data(
    db: str, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["--db", db, *words]) == 0
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out
    with KnowledgeGraph(db, read_only=True) as kg:
        assert len(list(kg.claims())) == 3


@pytest.mark.parametrize(
    "words",
    [
        ["end", "Maya", "works_at", "Acme", "--at", "2024"],
        ["end", "Maya", "works_at"],
        ["end", "Maya", "works_at", "Acme", "--at", "2019"],
        ["deny", "Maya", "works_at", "Acme"],
        ["deny", "Maya", "works_at", "Acme", "--valid-from", "2021", "--valid-to", "2022"],
        ["deny", "Maya", "tends_to", "Roses"],
    ],
)
def test_where_something_held_nothing_is_said_beside_it(db: str, words: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["--db", db, *words]) == 0
    assert capsys.readouterr().err == ""


def test_the_document_is_that_of_the_receipt_whatever_held(db: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--db", db, "--json", "end", "Maja", "works_at", "Acme"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "ended"


@pytest.mark.parametrize(("at", "became"), [("2019", "before it began"), ("2020", "as it began")])
def test_a_fact_that_ended_no_later_than_it_began_is_said_to_be_gone(
    db: str, at: str, became: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["--db", db, "end", "Maya", "works_at", "Acme", "--at", at]) == 0
    assert capsys.readouterr().out == f"ended: Maya works_at Acme since 2020 (it never held: it ended {became})\n"


TWICE = [
    (["forget", "--entity", "Maya", "--entity", "Acme", "--yes"], "--entity is given twice"),
    (["veto", "--phrase", "x1", "--phrase", "x2"], "--phrase is given twice"),
    (["add", "Ann", "knows", "Bob", "--kind", "also", "--kind", "also"], "--kind is given twice"),
    (["import", "a.jsonl", "--strict", "--no-strict"], "--strict/--no-strict is given twice"),
    (["--at", "2020", "--at", "2021", "list"], "--at is given twice"),
    (["add", "A", "costs", "1", "--qualifiers", "unit=EUR", "--qualifiers", "unit=USD"], "'unit' is given"),
    (["define", "p", "--trust", "tool=1", "--trust", "tool=2"], "'tool' is given twice"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "says"), TWICE, ids=[says for _, says in TWICE])
def test_what_holds_one_value_is_not_given_two(
    db: str, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["--db", db, *words]) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    with KnowledgeGraph(db, read_only=True) as kg:
        assert len(list(kg.claims())) == 2


def test_what_may_be_repeated_may_be(db: str, capsys: pytest.CaptureFixture[str]):
    words = ["--json", "add", "A", "costs", "1", "--qualifiers", "a=1", "--qualifiers", "b=2", "--json", "--json"]
    assert main(["--db", db, *words]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "new"


def test_every_command_refuses_it():
    commands = [cli, *(cli.get_command(None, name) for name in PLACES)]
    assert all(isinstance(one, Once) for one in commands)


def test_a_correction_to_what_was_denied_says_that_it_does_not_hold(db: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--db", db, "deny", "Maya", "works_at", "Acne"]) == 0
    capsys.readouterr()
    assert main(["--db", db, "correct", "Maya", "works_at", "Acme", "Acne", "--source", "tool:x"]) == 0
    assert "Acne does not hold: it had been denied itself; `semgraph add` says it anew" in capsys.readouterr().err


def test_a_correction_to_what_holds_says_only_that(db: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--db", db, "correct", "Maya", "works_at", "Acme", "Acme"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("idempotent: it says what holds there: nothing to correct\n", "")


def test_a_correction_may_be_corrected_back(db: str, capsys: pytest.CaptureFixture[str]):
    for wrong, right in (("Acme", "Acne"), ("Acne", "Acme"), ("Acme", "Acne"), ("Acne", "Acme")):
        assert main(["--db", db, "correct", "Maya", "works_at", wrong, right]) == 0
        assert capsys.readouterr().err == ""
        assert main(["--db", db, "value", "Maya", "works_at"]) == 0
        assert capsys.readouterr().out == f"{right}\n"


def test_what_settles_it_for_every_subject_is_told_as_a_command(db: str, capsys: pytest.CaptureFixture[str]):
    for town in ("Oslo", "Rome"):
        assert main(["--db", db, "add", "Maya", "sails_to", town, "--source", f"tool:{town}"]) == 0
    capsys.readouterr()
    assert main(["--db", db, "settle", "Maya", "sails_to", "keep_both"]) == 0
    assert "`semgraph define sails_to --cardinality many` says so for every subject" in " ".join(
        capsys.readouterr().out.split()
    )
