"""The shortcut for one value from a cold shell gives what the full command gives, or leaves it to it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from histories import MIXED, OBJECTS, SUBJECTS, histories, tell_all, timed
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import ConflictError, KnowledgeGraph, entity_key, pages
from semgraph.names import SELF_NAMES
from semgraph.single import answer
from semgraph.vocabulary import predicate_key

HOME = {"HOME": "/nowhere/at/all"}
ROOT = Path(__file__).parents[1]


def short(path, *question, **environment):
    return answer(["--db", str(path), "value", *question], HOME | environment)


def full(kg, *question):
    try:
        found = kg.value(*question)
    except ConflictError:
        return None
    return None if found is None else str(found)


@settings(max_examples=12, deadline=None)
@given(calls=histories(most=7))
def test_an_answer_of_the_shortcut_is_that_of_the_graph(calls, tmp_path_factory):
    target = tmp_path_factory.mktemp("single") / "kg.db"
    kg, clock = timed(target=target)
    with closing(kg):
        for call in calls:
            tell_all(kg, clock, [call])
            clock.show("2040-01-01T00:00:00Z")  # the shortcut looks at the wall clock, which the last record is after
            kg.add("clock", "was_read", "here")
            for subject in (*SUBJECTS, *OBJECTS, "nobody"):
                for predicate in (*MIXED, "employer", "nonsense"):
                    found = short(target, subject, predicate)
                    assert found in {None, full(kg, subject, predicate)}


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "kg.db"
    with KnowledgeGraph(target) as kg:
        kg.predicates.define("shoe_size", cardinality="one")
        kg.predicates.define("keeps", inverse_of="kept_by")
        kg.add("Ann Lee", "works_at", "Acme", valid_from="2020", valid_to="2022")
        kg.add("Ann Lee", "works_at", "Globex", valid_from="2022")
        kg.add("Ann Lee", "lives_in", "Oslo", valid_to="2021")
        kg.add("Ann Lee", "knows", "Bo", valid_from="unknown")
        kg.add("Ann Lee", "shoe_size", 39)
        kg.add("Ann Lee", "likes", "tea")
        kg.add("Ann Lee", "likes", "milk")
        kg.add("Ann Lee", "reports_to", "Zoë")
        kg.add("Ann Lee", "married_to", "Cy")
        kg.add("Rex", "kept_by", "Ann Lee")
        kg.add("Rex", "named", "A" * 90)
    return target


def test_plain_questions_are_answered(path):
    assert short(path, "Ann Lee", "works_at") == "Globex"
    assert short(path, "ann lee", "works_at") == "Globex"
    assert short(path, "Rex", "kept_by") is None, "another definition speaks of it"
    assert answer(["value", "Ann Lee", "works_at"], HOME | {"SEMGRAPH_DB": str(path)}) == "Globex"


@pytest.mark.parametrize(
    "question",
    [
        ("Ann Lee", "lives_in"),
        ("Ann Lee", "knows"),
        ("Ann Lee", "shoe_size"),
        ("Ann Lee", "likes"),
        ("Ann Lee", "reports_to"),
        ("Ann Lee", "married_to"),
        ("Ann Lee", "employer"),
        ("Ann Lee", "Works at"),
        ("Ann Lee", "keeps"),
        ("Ann  Lee", "works_at"),
        ("nobody", "works_at"),
        ("me", "works_at"),
        ("e0123456789abcdef", "works_at"),
        ("Ann Lee",),
        ("Ann Lee", "works_at", "none"),
        ("--help",),
    ],
)
def test_whatever_is_not_plain_is_left_to_the_full_command(path, question):
    assert short(path, *question) is None


def test_settings_other_files_and_other_versions_are_left_to_the_full_command(path, tmp_path):
    question = ("Ann Lee", "works_at")
    assert short(path, *question, SEMGRAPH_SCOPE="other") is None
    assert short(path, *question, SEMGRAPH_CONFIG="x.toml") is None
    (tmp_path / "semgraph").mkdir()
    assert short(path, *question, XDG_CONFIG_HOME=str(tmp_path)) is None
    assert short(path, *question, XDG_CONFIG_HOME=str(tmp_path), SEMGRAPH_CONFIG="") == "Globex"
    assert short(tmp_path, *question) is None
    assert short(tmp_path / "absent.db", *question) is None
    (tmp_path / "text").write_text("text")
    assert short(tmp_path / "text", *question) is None
    with KnowledgeGraph(path) as kg:
        kg.names.merge("Acme", "Globex")
    assert short(path, *question) is None


@given(
    st.from_regex(r"[A-Za-z0-9]+( [A-Za-z0-9]+)*", fullmatch=True),
    st.from_regex(r"[a-z0-9]+(_[a-z0-9]+)*", fullmatch=True),
)
def test_the_keys_of_plain_names_are_those_of_the_rules(name, predicate):
    assert entity_key(name) == name.lower()
    assert predicate_key(predicate) == predicate
    assert "user" in SELF_NAMES


def test_both_commands_print_the_same_and_the_short_one_loads_nothing_else(path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("SEMGRAPH_")}
    env |= HOME | {"PYTHONPATH": str(ROOT), "SEMGRAPH_CONFIG": ""}
    env.pop("XDG_CONFIG_HOME", None)
    question = ["--db", str(path), "value", "Ann Lee", "works_at"]
    code = "import sys; from semgraph.{0} import main; status = main(); {1}; sys.exit(status)"
    loaded = (
        "print(sorted(m for m in sys.modules if m.startswith('semgraph') or m in ('typing', 'click')), file=sys.stderr)"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", code.format(module, loaded), *question],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        for module in ("__main__", "cli")
    ]
    assert done[0].stdout == done[1].stdout == "Globex\n"
    wanted = ["semgraph", "semgraph.__main__", "semgraph.pages", "semgraph.single", "semgraph.starter"]
    assert done[0].stderr.strip() == str(wanted)


def test_an_answer_reads_as_little_of_a_large_graph_as_of_a_small_one(tmp_path, monkeypatch):
    target, read = tmp_path / "large.db", []
    with KnowledgeGraph(target) as kg:
        kg.add_all({"subject": f"someone {n}", "predicate": "works_at", "object": f"place {n}"} for n in range(8000))
    usual = pages._Pages.xRead
    monkeypatch.setattr(pages._Pages, "xRead", lambda file, *where: read.append(where) or usual(file, *where))
    assert short(target, "someone 77", "works_at") == "place 77"
    assert len(read) < 60 < target.stat().st_size // pages.PAGE // 10
