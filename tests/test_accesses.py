"""How often facts were recalled: counted, kept late, forgotten with the fact, and of no consequence."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from cli_process import process

import semgraph
from semgraph import InputError, KnowledgeGraph, accesses
from semgraph.store import open_store
from semgraph.store.schema import AccessRow


class Clock:
    def __init__(self):
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notes.db"


def opened(path, clock=None, **options):
    return KnowledgeGraph(path, clock=clock or Clock(), **options)


def stored(path):
    with closing(open_store(path, read_only=True)) as store:
        return {row.fact: (row.times, row.last_at) for row in store.select(AccessRow, 1)}


def told(graph):
    return [(found.fact.label, found.times, str(found.last_at)) for found in graph.recalled()]


def filled(graph):
    return [
        graph.add("Ann", "speaks", "Welsh"),
        graph.add("user", "timezone", "Europe/Oslo", valid_from="2024"),
        graph.add("Bo", "likes", "chess"),
    ]


def test_recall_and_profile_count_the_facts_that_they_give(path):
    clock = Clock()
    with opened(path, clock) as graph:
        filled(graph)
        assert graph.recalled() == []
        graph.recall("Welsh")
        clock.now += timedelta(days=1)
        graph.recall("Welsh")
        graph.profile()
        graph.at("2024-06").profile()
        graph.recall("chess", touch=False)
        graph.profile(touch=False)
        list(graph.facts())
        graph.render(list(graph.facts()))
        assert told(graph) == [
            ("Ann speaks Welsh", 2, "2025-01-02T00:00:00Z"),
            ("user timezone Europe/Oslo", 2, "2025-01-02T00:00:00Z"),
        ]
        assert len(graph.recalled(limit=1)) == 1
        (fact,) = graph.values("Ann", "speaks")
        assert graph.explain(fact).recalled == 2
        (fact,) = graph.values("Bo", "likes")
        assert graph.explain(fact).recalled == 0


def test_counts_are_written_when_the_graph_is_closed_and_go_on(path):
    for _ in range(3):
        with opened(path) as graph:
            filled(graph)
            assert stored(path) == {} or len(stored(path)) == 1
            graph.recall("Welsh")
    ((times, last),) = stored(path).values()
    assert times == 3
    assert last == 1_735_689_600_000_000
    with opened(path) as graph:
        assert [(found.fact.label, found.times) for found in graph.recalled()] == [("Ann speaks Welsh", 3)]


def test_counts_are_written_after_so_many_or_so_long(path, monkeypatch):
    with opened(path) as graph:
        filled(graph)
        graph.recall("Welsh")
        assert stored(path) == {}
        monkeypatch.setattr(accesses, "_LONGEST", 0.0)
        graph.recall("Welsh")
        assert [times for times, _ in stored(path).values()] == [2]
        monkeypatch.setattr(accesses, "_LONGEST", 60.0)
        monkeypatch.setattr(accesses, "_MOST", 1)
        graph.recall("chess")
        assert sorted(times for times, _ in stored(path).values()) == [1, 2]


def test_another_writer_is_not_waited_for_and_nothing_is_lost(path, monkeypatch):
    monkeypatch.setattr(accesses, "_MOST", 1)
    with opened(path) as graph, opened(path) as other:
        filled(graph)
        with other.atomic():
            other.add("W", "states", "something")
            graph.recall("Welsh")
        assert stored(path) == {}
        graph.recall("Welsh")
        assert [times for times, _ in stored(path).values()] == [2]


def test_counts_of_two_handles_add_up(path):
    with opened(path) as one, opened(path) as two:
        filled(one)
        one.recall("Welsh")
        two.recall("Welsh")
        two.scoped("default").recall("Welsh")
        two.scoped("elsewhere").recall("Welsh")
    assert [times for times, _ in stored(path).values()] == [3]


def test_a_store_that_is_only_read_counts_nothing(path):
    with opened(path) as graph:
        filled(graph)
    before = path.read_bytes()
    with opened(path, read_only=True) as graph:
        graph.recall("Welsh")
        assert graph.recalled() == []
    assert path.read_bytes() == before


def test_what_is_undone_leaves_no_count(path):
    with opened(path) as graph:
        with pytest.raises(RuntimeError), graph.atomic():  # noqa: PT012
            filled(graph)
            graph.recall("Welsh")
            raise RuntimeError
        assert graph.recalled() == []
    assert not path.exists() or stored(path) == {}


@pytest.mark.parametrize("way", ["claim", "fact", "entity", "everything"])
def test_a_count_is_forgotten_with_its_fact(path, way):
    with opened(path) as graph, opened(path) as late:
        first, *_ = filled(graph)
        graph.recall("Welsh")
        graph._session.noted.keep(graph._session.store)
        assert len(stored(path)) == 1
        late.recall("Welsh")
        graph.recall("Welsh")
        given = {"claim": first, "fact": first.facts[0], "entity": "Ann", "everything": True}
        assert graph.forget(**{way: given[way]}).purged
        assert stored(path) == {}
        assert told(graph) == []
    assert stored(path) == {}  # what was noted before is of nobody now
    assert first.claim.id.encode() not in path.read_bytes()
    assert bytes.fromhex(first.claim.id) not in path.read_bytes()


def test_counts_change_no_answer_and_no_export(path, tmp_path):
    with opened(path) as graph, opened(":memory:") as plain:
        for each in (graph, plain):
            for colour in ("red", "blue", "green", "grey", "pink"):
                each.add("Ann", "states", f"the {colour} fox sleeps", said_at="2024")
        for _ in range(5):
            graph.recall("pink fox", limit=1)
        again = [[(hit.fact.id, hit.score) for hit in each.recall("the fox sleeps")] for each in (graph, plain)]
        assert again[0] == again[1]
        assert graph.verify() == []
        known = graph.known_at
        graph._session.noted.keep(graph._session.store)
        assert graph.known_at == known
        assert [fact.confidence for fact in graph.facts()] == [fact.confidence for fact in plain.facts()]
        semgraph.write(graph, tmp_path / "a.jsonl")
        semgraph.write(plain, tmp_path / "b.jsonl")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("touch", [None, 1, "yes"])
def test_a_touch_is_a_flag(touch):
    with KnowledgeGraph() as graph:
        for read in (lambda: graph.recall("x", touch=touch), lambda: graph.profile(touch=touch)):
            with pytest.raises(InputError, match="touch is True or False"):
                read()


def test_the_command_line_counts_and_shows_them(path, tmp_path):
    with KnowledgeGraph(path) as graph:
        graph.add("Ann", "speaks", "Welsh")

    def run(*words):
        done = process(tmp_path, "--db", "notes.db", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    assert "nothing was recalled yet" in process(tmp_path, "--db", "notes.db", "recalled").stderr.decode()
    run("recall", "Welsh")
    run("recall", "Welsh", "--no-touch")
    run("recall", "Welsh", "--prompt")
    assert "2 times" in run("recalled")
    (found,) = json.loads(run("--json", "recalled"))
    assert (found["times"], found["fact"]["predicate"]) == (2, "speaks")
    assert json.loads(run("--json", "explain", found["fact"]["id"]))["recalled"] == 2


def test_a_command_that_recalls_makes_no_file(tmp_path):
    done = process(tmp_path, "--db", "none.db", "recall", "x")
    assert done.returncode == 1
    assert not (tmp_path / "none.db").exists()
