"""`semgraph ask` as a real process: values, what they rest on, and no guess."""

from __future__ import annotations

import json

import pytest
from cli_process import process, small_store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    made = tmp_path_factory.mktemp("ask")
    small_store(made / "s.db")
    return made


def ask(folder, question: str, *before: str):
    done = process(folder, "--db", "s.db", *before, "ask", question)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(), done.stderr.decode()


def test_the_values_come_first_and_below_them_their_facts_with_date_and_source(folder):
    out, err = ask(folder, "Where does Maya work?")
    value, fact = out.splitlines()
    assert value == "Linear"
    assert fact.startswith("  Maya works_at Linear since 2024-06-01  said by user on ")
    assert fact.endswith(", mail:52")
    assert err == ""


def test_the_times_of_the_group_are_heeded(folder):
    assert ask(folder, "Where does Maya work?", "--at", "2022")[0].splitlines()[0] == "Stripe"
    assert ask(folder, "Where does Maya work?", "--known-at", "2020")[0] == ""


def test_rivals_are_both_given_with_the_reason_why_nothing_is_sure(folder):
    out, _ = ask(folder, "Where does Maya live?")
    first, second, *rest, last = out.splitlines()
    assert {first, second} == {"Oslo", "Bergen"}
    assert all(line.startswith("  Maya lives_in ") and line.endswith("in conflict") for line in rest)
    assert last.startswith("  not sure: what it rests on is disputed; from Maya: lives_in")


def test_what_is_not_understood_is_said_beside_and_facts_are_marked_as_no_answer(folder):
    out, err = ask(folder, "What did Maya eat?")
    assert err.startswith("semgraph: not understood: ")
    assert "'eat'" in err
    head, *facts = out.splitlines()
    assert head == "not an answer; facts that may matter:"
    assert facts
    assert all(line.startswith("  ") for line in facts)


def test_a_question_about_nothing_known_prints_nothing(folder):
    out, err = ask(folder, "What is the airspeed of a swallow?")
    assert out == ""
    assert err.startswith("semgraph: not understood: it names nothing")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("question", "told"), [
    ("What changed between 2023 and 2025?", "diff tells what changed"),
    ("What do the sources disagree about?", "conflicts lists what sources disagree about"),
    ("What happened in 2024?", "timeline and diff tell what happened"),
])  # fmt: skip
def test_a_question_of_the_whole_graph_is_told_what_answers_it(folder, question, told):
    _, err = ask(folder, question)
    assert err == f"semgraph: not understood: it names nothing that is in the graph; {told}\n"


def test_an_understood_question_without_an_answer_says_so(folder):
    out, err = ask(folder, "Where did Maya work in 1990?")
    assert out == ""
    assert err.startswith("semgraph: nothing that is known answers it (from Maya: works_at")


@pytest.mark.parametrize(("question", "values", "sure"), [
    ("Where did Maya work before Linear?", ["Stripe"], True),
    ("When did Maya join Linear?", ["2024-06-01"], True),
    ("What did Maya eat?", [], False),
])  # fmt: skip
def test_the_document_has_values_unit_facts_plan_and_sure(folder, question, values, sure):
    out, err = ask(folder, question, "--json")
    document = json.loads(out)
    assert list(document) == ["values", "unit", "facts", "plan", "sure"]
    assert (document["values"], document["sure"], err) == (values, sure, "")
    assert document["facts"]
    assert document["facts"][0]["predicate"]
