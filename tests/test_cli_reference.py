"""What is said about the command line is what it does: the README, the topics of the help, the documents of --json."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_process import ROOT, environment, small_store

from semgraph import model, recovering
from semgraph.cli import main
from semgraph.cli.app import PLACES
from semgraph.cli.helping import TOPICS
from semgraph.cli.reference import DOCUMENTS, MEANINGS, OBJECTS, attributes

if TYPE_CHECKING:
    from pathlib import Path

sys.path.insert(0, str(ROOT / "tools"))

CLASSES = {name: getattr(model, name, None) or getattr(recovering, name) for name in OBJECTS}


def test_the_reference_in_the_readme_is_that_of_the_commands():
    import reference

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert reference.written(text) == text, "run python tools/reference.py"


def test_every_command_has_a_document_and_every_attribute_a_meaning():
    assert set(DOCUMENTS) == set(PLACES)
    names = {name for made in CLASSES.values() for name, _ in attributes(made)}
    assert names == set(MEANINGS)


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_topic_fits_the_screen(topic: str, capsys: pytest.CaptureFixture[str]):
    assert main(["help", topic]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 100 if topic == "config" else max(map(len, lines)) <= 80  # a path may be long


@pytest.mark.parametrize("name", sorted(PLACES))
def test_help_on_a_command_is_its_help(name: str, capsys: pytest.CaptureFixture[str]):
    assert main([name, "--help"]) == 0
    wanted = capsys.readouterr().out
    if name in TOPICS:
        return
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == wanted


def test_help_without_a_topic_is_the_list_of_commands(capsys: pytest.CaptureFixture[str]):
    assert main(["help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in PLACES)


RUN = {
    "add": ["Ann", "knows", "Bob"], "set": ["Maya", "works_at", "Acme"], "remember": ["I live in Oslo"],
    "settle": ["Maya", "lives_in", "choose", "Oslo"], "end": ["Maya", "works_at"],
    "deny": ["Maya", "works_at", "Linear"],
    "correct": ["Maya", "works_at", "Linear", "Lineal"], "forget": ["--entity", "Maya", "--dry-run"],
    "veto": ["--phrase", "bluebird"], "purge": [], "value": ["Maya", "works_at"], "about": ["Maya"],
    "timeline": ["Maya"], "list": [], "entities": [], "aliases": ["Maya"], "conflicts": [],
    "explain": ["Maya", "works_at"], "history": ["Maya", "works_at"], "diff": ["2022", "2025"], "rejected": [],
    "recall": ["Where does Maya work?"], "ask": ["Where does Maya work?"], "neighbors": ["Maya"],
    "paths": ["Maya", "Oslo"], "match": ["?who works_at ?where"],
    "declare": ["Ann"], "alias": ["M. P.", "Maya"], "merge": ["Oslo", "Bergen"],
    "keep-apart": ["Oslo", "Bergen"], "suggest": [], "define": ["p"], "predicates": [], "verify": [], "stats": [],
    "config": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What each command prints with --json, each on a store of its own."""
    import contextlib
    import io
    import shutil

    folder = tmp_path_factory.mktemp("documents")
    base = small_store(folder / "base.db")
    found = {}
    for name, words in RUN.items():
        path = shutil.copy(base, folder / f"{name}.db")
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(out):
            assert main(["--db", str(path), "--json", name, *words]) == 0, name
        out.flush()
        found[name] = json.loads(out.buffer.getvalue())
    return found


def described(document: object, words: str) -> bool:
    """Whether a document is of the shape that the words name, as far as they name one."""
    if words.startswith("list of "):
        inner = words.removeprefix("list of ")
        return isinstance(document, list) and all(described(one, inner) for one in document)
    if words in CLASSES:
        return isinstance(document, dict) and set(document) == {name for name, _ in attributes(CLASSES[words])}
    if named := re.fullmatch(r"\{(\w+(?:, \w+)*)\}", words):
        return isinstance(document, dict) and set(document) == set(named[1].split(", "))
    return document is not None


@pytest.mark.parametrize("name", sorted(RUN))
def test_a_document_is_what_the_help_says(documents, name: str):
    words = "list of Explanation" if name == "explain" else DOCUMENTS[name]
    assert described(documents[name], words), (words, documents[name])
    if name in {
        "conflicts",
        "list",
        "timeline",
        "history",
        "recall",
        "neighbors",
        "paths",
        "match",
        "explain",
        "remember",
    }:
        assert documents[name]


def test_facts_are_written_the_same_way_wherever_they_stand(documents):
    (one,) = (fact for fact in documents["list"] if fact["predicate"] == "works_at")
    assert one in documents["about"]["works_at"]
    assert documents["match"][0]["facts"] == [one]
    assert documents["match"][0]["interval"] == [one["valid_from"], None]


def test_every_command_imports_only_its_own_module(tmp_path: Path):

    code = "from semgraph.cli import main; main(['value', '--help']); import sys; print('LOADED', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.rpartition("LOADED")[2].split() if name.startswith("semgraph.cli.")}
    assert loaded == {"semgraph.cli.app", "semgraph.cli.text", "semgraph.cli.reading", "semgraph.cli.settings"}
