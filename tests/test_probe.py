"""`semgraph probe`: files are read whole or refused with a line, and every figure tells what it says it does."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from cli_process import ROOT, process, small_store

from semgraph import KnowledgeGraph
from semgraph.errors import ImportRejected, InputError
from semgraph.probing import load, probe, read_probes

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "probes.yaml"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def written(folder: Path, text: str, name: str = "probes.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def kg():
    with KnowledgeGraph(clock=lambda: NOW) as graph:
        graph.add("Maya", "works_at", "Stripe", valid_from="2021-03")
        graph.add("Maya", "works_at", "Linear", valid_from="2024-06-01")
        graph.add("Maya", "lives_in", "Oslo", valid_from="2025-01")
        graph.add("Maya", "lives_in", "Bergen", valid_from="2025-01", source="tool:calendar")
        graph.add("Maya", "speaks", "Greek")
        graph.scoped("health").add("Maya", "allergic_to", "penicillin")
        yield graph


def report(kg: KnowledgeGraph, folder: Path, text: str, **words):
    return probe(kg, read_probes(written(folder, text)), **words)


def question(rest: str, text: str = "Where does Maya work?") -> str:
    return f"questions:\n  - question: {text}\n    {rest}\n"


# -- the figures


def test_the_example_has_thirty_probes_that_pass():
    probes = read_probes(EXAMPLE)
    assert len(probes.contradictions) + len(probes.questions) == 30
    with KnowledgeGraph(clock=lambda: NOW) as kg:
        load(kg, probes)
        found = probe(kg, probes)
    assert found.shortfalls == ()
    assert found.probes == 30
    assert [s.value for s in (found.facts, found.recall, found.answers, found.conflicts)] == [1, 1, 1, 1]
    assert [s.value for s in (found.staleness, found.leaks)] == [0, 0]
    assert min(found.facts.of, found.recall.of, found.answers.of, found.staleness.of) > 10


def test_without_the_facts_the_example_falls_short():
    with KnowledgeGraph() as kg:
        found = probe(kg, read_probes(EXAMPLE))
    assert (found.facts.value, found.recall.value, found.conflicts.value, found.leaks.value) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "figure", "value", "kind"),
    [
        (question("facts: [[Maya, works_at, Linear]]"), "recall", 1, None),
        (question("facts: [[Maya, works_at, Linear], [Maya, works_at, Stripe]]"), "recall", 0.5, "recall"),
        (question("facts: [[Maya, works_at, Acme]]"), "recall", 0, "recall"),
        (question("facts: [{subject: Maya, predicate: works_at}]"), "recall", 1, None),
        (question("answer: Linear"), "answers", 1, None),
        (question("answer: [LINEAR]"), "answers", 1, None),
        (question("answer: Stripe"), "answers", 0, "answer"),
        (question("answer: [Linear, Stripe]"), "answers", 0, "answer"),
        (question("answer: []"), "answers", 0, "answer"),
        (question("answer: []", "Who shot the sheriff?"), "answers", 1, None),
        (question("answer: [Oslo, Bergen]", "Where does Maya live?"), "answers", 1, None),
        (question("answer: Oslo", "Where does Maya live?"), "answers", 0, "answer"),
        (question("answer: true", "Does Maya work at Linear?"), "answers", 1, None),
        (question("answer: 2024-06-01", "When did Maya join Linear?"), "answers", 1, None),
        (question("answer: 1.0", "How many languages does Maya speak?"), "answers", 1, None),
        (question("stale: [[Maya, works_at, Stripe]]"), "staleness", 0, None),
        (question("stale: [[Maya, works_at, Linear]]"), "staleness", 1, "stale"),
        (question("forbidden: [[Maya, works_at, Stripe]]"), "leaks", 0, None),
        (question("forbidden: [[Maya, works_at, Linear]]"), "leaks", 1, "leak"),
        (question("forbidden: [{subject: Maya, predicate: works_at}]"), "leaks", 1, "leak"),
        ("contradictions: [{sides: [[Maya, lives_in, Oslo], [Maya, lives_in, Bergen]]}]", "conflicts", 1, None),
        ("contradictions: [{sides: [[Maya, lives_in, Oslo], [Maya, lives_in, Rome]]}]", "conflicts", 0, "conflict"),
        ("facts: [[Maya, works_at, Stripe], [Maya, works_at, Linear]]", "facts", 1, None),
        ("facts: [[Maya, works_at, Stripe], [Maya, works_at, Acme]]", "facts", 0.5, "fact"),
        ("facts: [{subject: Maya, predicate: works_at, object: Linear, valid_from: 2021}]", "facts", 0, "fact"),
        ("facts: [{subject: Maya, predicate: works_at, object: Stripe, valid_from: 2021}]", "facts", 1, None),
        ("facts: [{subject: Maya, predicate: works_at, object: Acme, negative: true}]", "facts", 1, None),
        ("facts: [{subject: Maya, predicate: works_at, object: Linear, negative: true}]", "facts", 0, "fact"),
        ("facts: [{subject: Maya, predicate: allergic_to, object: penicillin, scope: health}]", "facts", 1, None),
    ],
)
def test_a_figure_tells_what_came_back(kg, tmp_path, text, figure, value, kind):
    found = report(kg, tmp_path, text)
    assert getattr(found, figure).value == value
    assert [short.kind for short in found.shortfalls] == ([] if kind is None else [kind])


def test_a_figure_without_probes_is_none(kg, tmp_path):
    found = report(kg, tmp_path, "facts: [[Maya, speaks, Greek]]")
    assert (found.probes, found.recall.value, found.leaks.value) == (0, None, None)


def test_the_time_is_that_of_the_entry_else_that_of_the_call(kg, tmp_path):
    at_2022 = question("facts: [[Maya, works_at, Stripe]]\n    at: 2022")
    assert report(kg, tmp_path, at_2022).recall.value == 1
    assert report(kg, tmp_path, at_2022, at="2025").recall.value == 1
    plain = question("facts: [[Maya, works_at, Stripe]]")
    assert report(kg, tmp_path, plain).recall.value == 0
    assert report(kg, tmp_path, plain, at="2022").recall.value == 1
    assert report(kg, tmp_path, plain, known_at="2020").recall.value == 0


def test_the_limit_is_that_of_recall_and_partners_of_a_conflict_come_beyond_it(kg, tmp_path):
    text = question("facts: [[Maya, lives_in, Oslo], [Maya, lives_in, Bergen]]", "Where does Maya live?")
    assert report(kg, tmp_path, text, limit=1).recall.value == 1
    both = question("facts: [[Maya, works_at, Linear], [Maya, speaks, Greek]]", "Maya")
    assert report(kg, tmp_path, both, limit=6).recall.value == 1
    assert report(kg, tmp_path, both, limit=1).recall.value < 1


def hits(*facts):
    return lambda *_, **__: [SimpleNamespace(fact=fact) for fact in facts]


def test_a_fact_of_another_scope_is_a_leak_that_nobody_has_to_foresee(kg, tmp_path, monkeypatch):
    foreign = next(kg.scoped("health").facts("Maya"))
    monkeypatch.setattr(KnowledgeGraph, "recall", hits(foreign))
    found = report(kg, tmp_path, question("facts: [[Maya, works_at, Linear]]"))
    assert found.leaks.value == 1
    assert "penicillin" in found.shortfalls[-1].what


def test_the_words_of_a_forbidden_fact_of_another_scope_are_a_leak_too(kg, tmp_path):
    kg.add("Maya", "allergic_to", "Penicillin")
    rest = "forbidden: [{subject: maya, predicate: allergic_to, object: penicillin, scope: health}]"
    assert report(kg, tmp_path, question(rest, "What is Maya allergic to?")).leaks.value == 1


def test_a_fact_that_is_over_is_stale_without_being_named(kg, tmp_path, monkeypatch):
    over = next(kg.at("2022").facts("Maya", "works_at"))
    over = next(fact for fact in kg.timeline("Maya", "works_at") if fact.id == over.id)
    assert over.status in ("superseded", "ended")
    monkeypatch.setattr(KnowledgeGraph, "recall", hits(over))
    assert report(kg, tmp_path, question("facts: [[Maya, works_at, Linear]]")).staleness.value == 1


# -- files


LINES = [
    {"subject": "Maya", "predicate": "works_at", "object": "Linear"},
    {"sides": [["Maya", "lives_in", "Oslo"], ["Maya", "lives_in", "Bergen"]], "question": "Where does Maya live?"},
    {"question": "Where does Maya work?", "answer": "Linear", "facts": [["Maya", "works_at", "Linear"]]},
]


def test_json_lines_say_the_same_as_yaml(kg, tmp_path):
    text = "\n\n".join(map(json.dumps, LINES))
    plain = read_probes(written(tmp_path, text, "probes.jsonl"))
    (tmp_path / "probes.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert read_probes(tmp_path / "probes.jsonl.gz") == plain
    as_yaml = {"facts": LINES[:1], "contradictions": LINES[1:2], "questions": LINES[2:]}
    from_yaml = read_probes(written(tmp_path, json.dumps(as_yaml)))
    assert [entry._replace(line=0) for part in plain for entry in part] == [
        entry._replace(line=0) for part in from_yaml for entry in part
    ]
    assert probe(kg, plain).shortfalls == ()


def test_scalars_are_those_of_json(tmp_path):
    objects = ["5", "'5'", "12:30", "1e3", "!!str 5"]
    text = "facts:\n  - [no, on, 2024-03-05]\n" + "".join(f"  - [a, b, {one}]\n" for one in objects)
    facts = read_probes(written(tmp_path, text)).facts
    assert [fact.named.object for fact in facts] == ["2024-03-05", 5, "5", "12:30", "1e3", "5"]
    assert facts[0].named[:2] == ("no", "on")
    assert [fact.line for fact in facts] == [2, 3, 4, 5, 6, 7]


BAD = [
    ("", "no probes"),
    ("facts: []\n", "no probes"),
    ("- a\n", "line 1: the file has sections"),
    ("facts:\n\n  - [a, b\n", "line"),
    ("questions:\n  - question: x\n    answer: 1\nfacts:\n  - [a: b: c]\n", "line 5 is no YAML"),
    ("fact:\n  - [a, b, c]\n", "line 1: there is no section 'fact'"),
    ("facts: {}\n", "line 1: facts is a list"),
    ("\nfacts:\n  - [a, b]\n", "line 3: a fact in short is [subject, predicate, object]"),
    ("facts:\n  - hello\n", "line 2: a fact has names and values"),
    ("facts:\n  - {subject: a, object: c}\n", "line 2: a fact needs a predicate"),
    ("facts:\n  - {subject: 5, predicate: b}\n", "line 2: subject is a text, not 5"),
    ("facts:\n  - {subject: a, predicate: b, objct: c}\n", "line 2: a fact has no 'objct'"),
    ("facts:\n  - {subject: a, predicate: b, object: [c]}\n", "line 2: an object is a text"),
    ("facts:\n  - subject: a\n    predicate: b\n    subject: c\n", "line 4: 'subject' stands twice"),
    ("facts:\n  - {subject: a, predicate: b, valid_from: [2]}\n", "line 2: valid_from is a date"),
    ("facts:\n  - &x [a, b, c]\n  - *x\n", "anchor"),
    ("facts:\n  - !!python/object/apply:os.system [a, b, c]\n", "tag"),
    ("facts:\n  - !mine [a, b, c]\n", "line 2: the tag '!mine'"),
    ("? [a]\n: b\n", "line 1: a name is a text"),
    ("facts:\n  - [a, b, \x01]\n", "line 2 has a character"),
    ("contradictions:\n  - sides: [[a, b, c]]\n", "line 2: a contradiction has two sides"),
    ("questions:\n  - answer: c\n", "line 2: a question needs its text"),
    ("questions:\n  - question: c\n", "line 2: a question needs what to expect"),
    ("questions:\n  - question: c\n    facts: a\n", "line 2: facts is a list"),
    ("questions:\n  - question: c\n    answer: {a: b}\n", "line 2: answer is a value"),
    ("questions:\n  - question: c\n    answer: d\n    at: 1.5\n", "line 2: at is a date"),
    ("a: b\n---\nc: d\n", "line 2"),
    ("facts: " + "[" * 5000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "why"), BAD, ids=[text[:40] for text, _ in BAD])
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, why):
    with pytest.raises(ImportRejected) as refused:
        read_probes(written(tmp_path, text))
    assert why in str(refused.value)
    assert str(refused.value).startswith("probes.yaml, ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"question": "x", "answer": 1}\n[1]\n', "line 2: it is no object"),
        ('{"x": 1}\n', "line 1: it has neither subject"),
        ('\n{"subject": "a",\n', "line 2 is no JSON"),
        ("", "no probes"),
    ],
)
def test_a_bad_line_is_refused(tmp_path, text, why):
    with pytest.raises(ImportRejected, match=r"probes\.jsonl, ") as refused:
        read_probes(written(tmp_path, text, "probes.jsonl"))
    assert why in str(refused.value)


def test_bytes_that_are_no_utf8_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "probes.yaml"
    path.write_bytes(b"facts:\n  - [a, b, \xff]\n")
    with pytest.raises(ImportRejected, match="line 2 is not UTF-8"):
        read_probes(path)
    with pytest.raises(ImportRejected, match="can't read"):
        read_probes(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="yaml"):
        read_probes(tmp_path / "probes.txt")


@pytest.mark.parametrize(
    "entry",
    [
        "questions:\n\n  - {question: x, answer: y, at: soonish}\n",
        "facts:\n\n  - {subject: Maya, predicate: works_at, object: x, valid_from: soonish}\n",
    ],
)
def test_what_the_graph_refuses_has_its_line(kg, tmp_path, entry):
    with pytest.raises(ImportRejected, match=r"line 3: .*soonish"):
        report(kg, tmp_path, entry)


def test_a_refused_fact_has_its_line(tmp_path):
    probes = read_probes(written(tmp_path, "facts:\n  - [a, b, c]\n  - {subject: a, predicate: b, valid_from: x}\n"))
    with KnowledgeGraph() as empty, pytest.raises(ImportRejected, match=r"^line 3: "):
        load(empty, probes)


# -- real processes


def test_the_example_runs_by_itself_and_leaves_no_store(tmp_path):
    done = process(tmp_path, "probe", str(EXAMPLE), "--load", "--strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"30 probes, 0 shortfalls" in done.stdout
    assert not list(tmp_path.rglob("*.db"))


def test_a_store_is_only_read_and_a_leak_exits_with_1(tmp_path):
    store = small_store(tmp_path / "s.db")
    before = store.read_bytes()
    leak = written(tmp_path, question("forbidden: [[Maya, works_at, Linear]]"), "leak.yaml")
    done = process(tmp_path, "--db", str(store), "probe", str(leak))
    assert done.returncode == 1
    assert done.stdout.decode().startswith(
        "line 2, leak: Where does Maya work? — must not come back: Maya works_at Linear"
    )
    past = process(tmp_path, "--db", str(store), "--at", "2022", "--json", "probe", str(leak))
    assert past.returncode == 0
    assert json.loads(past.stdout) == {
        "probes": 1, "limit": 6, "facts": None, "recall": None, "answers": None, "conflicts": None,
        "staleness": 0, "leaks": 0, "shortfalls": [],
    }  # fmt: skip
    assert store.read_bytes() == before


def test_other_shortfalls_exit_with_1_where_that_is_asked_for(tmp_path):
    store = small_store(tmp_path / "s.db")
    path = written(tmp_path, question("answer: Acme"))
    assert process(tmp_path, "--db", str(store), "probe", str(path)).returncode == 0
    done = process(tmp_path, "--db", str(store), "--json", "probe", str(path), "--strict")
    assert done.returncode == 1
    (short,) = json.loads(done.stdout)["shortfalls"]
    assert (short["line"], short["kind"]) == (2, "answer")


def test_a_bad_file_is_one_line_and_1(tmp_path):
    path = written(tmp_path, "facts:\n  - [a, b]\n")
    done = process(tmp_path, "probe", str(path), "--load")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith("semgraph: probes.yaml, line 2: ")
    assert done.stderr.count(b"\n") == 1
