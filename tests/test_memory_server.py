"""The drop-in for the reference memory server: equal answers to a recorded script, and nothing lost where that loses.

Compared live too where node is there and SEMGRAPH_NODE names a folder with the server: npm install --prefix FOLDER
@modelcontextprotocol/server-memory
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from serving import ENV, ROOT, command, http, run, stdio

sys.path.insert(0, str(ROOT / "tools"))

from mcp import Client
from record_memory import CALLS, played, server_of

from semgraph import KnowledgeGraph
from semgraph.cli import main
from semgraph.exchange.memorylines import Memory, Node, read_memory
from semgraph.serving import SOURCE
from semgraph.serving.limits import Rate
from semgraph.serving.memoryfile import MemoryFile, history_of
from semgraph.serving.memoryserver import GRAPH, MemoryService, build

RECORDED = json.loads((ROOT / "tests" / "memory_server.json").read_text(encoding="utf-8"))
ANN = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}


def graph_of(path: Path) -> KnowledgeGraph:
    return KnowledgeGraph(history_of(path), source=SOURCE, config={"unregistered": "many"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


class Shelf:
    """A memory in this process."""

    def __init__(self, path: Path) -> None:
        self.warned: list[str] = []
        self.path = path
        self.graph = graph_of(path)
        self.file = MemoryFile(path, self.graph, self.warned.append)
        self._service = MemoryService(self.file, Rate(60_000, lambda: 0.0))

    def __call__(self, tool, **arguments):
        reply = self._service.call(tool, arguments)
        assert not reply.failed, reply.text
        return reply.data

    def whole(self):
        return self("read_graph")

    def held(self, **clocks):
        """What the history says of a time."""
        return {(f.subject.label, f.predicate, f.object.label) for f in self.graph.at(**clocks).facts()}


@pytest.fixture
def shelf(path: Path):
    found = Shelf(path)
    yield found
    assert found.graph.verify() == []
    found.file.close()


# -- equal answers


def test_the_recording_holds_every_tool():
    assert {call for call, _ in CALLS} - {"no_such_tool"} == {tool["name"] for tool in RECORDED["tools"]}
    assert [(one["call"], one["arguments"]) for one in RECORDED["answers"]] == [tuple(call) for call in CALLS]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("memory") / "memory.jsonl"
    return run(played, stdio("serve", "--compat", "memory", MEMORY_FILE_PATH=str(path)), path)


def test_names_shapes_and_hints_are_the_same(ours):
    assert ours["tools"] == RECORDED["tools"]
    assert ours["resources"] == RECORDED["resources"]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_an_answer_is_the_same(ours, number):
    assert ours["answers"][number] == RECORDED["answers"][number]


def test_the_resource_is_the_same(ours):
    assert ours["resource"] == RECORDED["resource"]
    assert ours["mime"] == RECORDED["mime"]


def test_the_file_is_the_same_but_for_what_that_server_drops(ours):
    theirs = RECORDED["file"].splitlines()
    assert [line.replace(',"note":1', "") for line in ours["file"].splitlines()] == theirs
    assert '"note":1' in ours["file"]


def test_the_recording_is_what_the_server_answers_today(tmp_path: Path):
    folder = os.environ.get("SEMGRAPH_NODE")
    if shutil.which("node") is None:
        pytest.skip("needs node")
    if folder is None or not (Path(folder) / "node_modules" / "@modelcontextprotocol" / "server-memory").is_dir():
        pytest.skip("needs SEMGRAPH_NODE, a folder with the reference memory server")
    path = tmp_path / "memory.jsonl"
    assert run(played, server_of(Path(folder).resolve(), path), path) == RECORDED


# -- history


def test_what_is_deleted_stays_in_the_history(shelf):
    shelf("create_entities", entities=[ANN, {**ANN, "name": "Bo", "observations": []}])
    shelf("create_relations", relations=[{"from": "Ann", "to": "Bo", "relationType": "knows"}])
    before = shelf.graph.at().known_at
    everything = {
        ("Ann", "is_a", "person"),
        ("Bo", "is_a", "person"),
        ("Ann", "states", "Likes tea"),
        ("Ann", "knows", "Bo"),
    }
    assert shelf.held() == everything
    shelf("delete_observations", deletions=[{"entityName": "Ann", "observations": ["Likes tea"]}])
    assert shelf.held() == everything - {("Ann", "states", "Likes tea")}
    shelf("delete_entities", entityNames=["Ann"])
    assert shelf.held() == {("Bo", "is_a", "person")}
    assert shelf.held(known_at=before) == everything
    assert {claim.source for claim in shelf.graph.claims(retracted=True)} == {SOURCE}


def test_what_is_told_again_after_it_was_deleted_holds_again(shelf):
    for _ in range(3):
        shelf("create_entities", entities=[ANN])
        assert ("Ann", "states", "Likes tea") in shelf.held()
        shelf("delete_entities", entityNames=["Ann"])
        assert shelf.held() == set()


def test_a_line_with_its_own_time_holds_again_after_it_was_gone(shelf, path: Path):
    line = '{"type":"entity","name":"Ann","entityType":"","observations":["Likes tea"],"createdAt":1700000000}'
    for text in (line, "", line):
        path.write_text(text, encoding="utf-8")
        shelf("delete_entities", entityNames=["nobody"])
        assert {about for about, *_ in shelf.held()} == ({"Ann"} if text else set())


def test_a_number_that_json_can_not_write_is_left_as_it_is(shelf, path: Path):
    lines = [f'{{"type":"entity","name":"Bo","entityType":"","observations":[],"n":{n}}}' for n in ("1e400", "NaN")]
    path.write_text("\n".join(lines), encoding="utf-8")
    shelf("create_entities", entities=[ANN])
    assert path.read_text(encoding="utf-8").split("\n")[1:] == lines


@pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
def test_the_mode_of_the_file_stays_and_drafts_of_the_dead_go(path: Path):
    left, other = path.with_name(f".{path.name}.{'0a' * 6}.tmp"), path.with_name(f".{path.name}.mine.tmp")
    for each in (path, left, other):
        each.write_bytes(b"")
    path.chmod(0o664)
    shelf = Shelf(path)
    shelf("create_entities", entities=[ANN])
    shelf.file.close()
    assert path.stat().st_mode & 0o777 == 0o664
    assert (left.exists(), other.exists()) == (False, True)


def test_a_file_that_is_there_is_taken_in_with_its_times(path: Path):
    path.write_text('{"name":"Ann","entityType":"person","observations":["tall"],"createdAt":1768313592}')
    shelf = Shelf(path)
    assert {str(claim.said_at) for claim in shelf.graph.claims()} == {"2026-01-13T14:13:12Z"}
    assert shelf.whole()["entities"] == [{"name": "Ann", "entityType": "person", "observations": ["tall"]}]
    shelf("add_observations", observations=[{"entityName": "Ann", "contents": ["kind"]}])
    assert json.loads(path.read_text())["createdAt"] == 1768313592
    shelf.file.close()


def test_what_somebody_else_writes_into_the_file_is_taken_in(shelf, path: Path):
    shelf("create_entities", entities=[ANN])
    path.write_text('{"type":"entity","name":"Bo","entityType":"dog","observations":[]}\n')
    assert [one["name"] for one in shelf.whole()["entities"]] == ["Bo"]
    shelf("create_relations", relations=[{"from": "Bo", "to": "Ann", "relationType": "misses"}])
    assert shelf.held() == {("Bo", "is_a", "dog"), ("Bo", "misses", "Ann")}


def test_claims_told_to_the_history_by_others_are_left_alone(shelf):
    shelf.graph.add("Ann", "lives_in", "Oslo", source="user")
    shelf("create_entities", entities=[ANN])
    shelf("delete_entities", entityNames=["Ann"])
    assert shelf.held() == {("Ann", "lives_in", "Oslo")}


def test_what_can_be_no_claim_is_in_the_file_all_the_same(shelf, path: Path):
    odd = {"name": "a\u0000b", "entityType": "x" * 70_000, "observations": ["y" * 70_000, "", "\ud83d"]}
    shelf("create_entities", entities=[odd, ANN])
    shelf("create_relations", relations=[{"from": "", "to": "  ", "relationType": "?!"}])
    shelf("add_observations", observations=[{"entityName": "Ann", "contents": ["Speaks Danish"]}])
    assert shelf.whole()["entities"][0] == odd
    assert ("Ann", "states", "Speaks Danish") in shelf.held()
    assert len(read_memory(path.read_bytes()).links) == 1


# -- where the reference server loses data


async def create(server, number, name, mode):
    async with Client(server, mode=mode) as client:
        for n in range(number):
            done = await client.call_tool("create_entities", {"entities": [{**ANN, "name": f"{name} {n}"}]})
            assert not done.is_error


def test_two_processes_keep_what_both_write(path: Path):
    """PAIN 33: two servers that each create twenty entities at once keep forty."""

    async def both():
        async with anyio.create_task_group() as group:
            for name, mode in (("Left", "auto"), ("Right", "legacy")):
                server = stdio("serve", "--compat", "memory", MEMORY_FILE_PATH=str(path))
                group.start_soon(create, server, 20, name, mode)

    run(both)
    kept = read_memory(path.read_bytes())
    assert sorted(node.name for node in kept.nodes) == sorted(
        f"{name} {n}" for name in ("Left", "Right") for n in range(20)
    )
    with graph_of(path) as graph:
        assert len(list(graph.facts(predicate="is_a"))) == 40
        assert graph.verify() == []


def test_calls_of_one_turn_at_once_keep_all(path: Path):
    """PAIN 32: four calls in one turn."""

    async def at_once(address):
        async with Client(address) as client, anyio.create_task_group() as group:
            for n in range(4):
                group.start_soon(client.call_tool, "create_entities", {"entities": [{**ANN, "name": f"E{n}"}]})

    with http("serve", "--compat", "memory", MEMORY_FILE_PATH=str(path)) as address:
        run(at_once, address)
    assert len(read_memory(path.read_bytes()).nodes) == 4


def test_one_bad_line_hinders_none_of_the_others(path: Path):
    bad = b'{"type":"entity","name":"Torn","ent'
    path.write_bytes(b'{"type":"entity","name":"Bo","entityType":"dog","observations":[]}\n' + bad + b"\n\xff\xfe\n")
    shelf = Shelf(path)
    assert [one["name"] for one in shelf.whole()["entities"]] == ["Bo"]
    warned = [
        "line 2 of the memory file is left as it is, and not read: it is no JSON",
        "line 3 of the memory file is left as it is, and not read: it is no UTF-8",
    ]
    assert shelf.warned == warned
    shelf("create_entities", entities=[ANN])
    shelf.whole()
    assert shelf.warned == warned  # once, though the lines have other numbers now
    shelf.file.close()
    assert path.read_bytes().split(b"\n")[-2:] == [bad, b"\xff\xfe"]


def test_a_relation_without_its_entity_is_found_by_its_end(shelf):
    relation = {"from": "Ann", "to": "Ghost", "relationType": "fears"}
    shelf("create_entities", entities=[ANN])
    shelf("create_relations", relations=[relation])
    assert shelf("open_nodes", names=["Ghost"]) == {"entities": [], "relations": [relation]}
    assert shelf("search_nodes", query="ghost")["relations"] == [relation]
    assert ("Ann", "fears", "Ghost") in shelf.held()


def test_a_name_in_another_spelling_is_the_same_entity(shelf):
    shelf("create_entities", entities=[ANN])
    found = shelf(
        "create_entities", entities=[{"name": "ANN", "entityType": "human", "observations": ["Likes tea", "Runs"]}]
    )
    assert found == {"entities": [{"name": "Ann", "entityType": "person", "observations": ["Runs"]}]}
    shelf("add_observations", observations=[{"entityName": "ann", "contents": ["Sings"]}])
    told = shelf("create_relations", relations=[{"from": "ann", "to": "Bo", "relationType": "knows"}])
    assert told["relations"] == [{"from": "Ann", "to": "Bo", "relationType": "knows"}]
    assert shelf("open_nodes", names=["aNN"])["entities"][0]["observations"] == ["Likes tea", "Runs", "Sings"]
    shelf("delete_relations", relations=[{"from": "ANN", "to": "Bo", "relationType": "knows"}])
    shelf("delete_entities", entityNames=["ann"])
    assert shelf.whole() == {"entities": [], "relations": []}


def test_two_entities_that_differ_in_spelling_stay_two(path: Path):
    path.write_text(
        '{"type":"entity","name":"ann","entityType":"","observations":["a"]}\n'
        '{"type":"entity","name":"Ann","entityType":"","observations":["b"]}'
    )
    shelf = Shelf(path)
    shelf("add_observations", observations=[{"entityName": "Ann", "contents": ["c"]}])
    assert [one["observations"] for one in shelf.whole()["entities"]] == [["a"], ["b", "c"]]
    shelf("delete_entities", entityNames=["ann"])
    assert [one["name"] for one in shelf.whole()["entities"]] == ["Ann"]
    shelf.file.close()


def test_words_of_a_query_may_stand_apart(shelf):
    shelf("create_entities", entities=[{**ANN, "observations": ["Moved to Berlin in May"]}])
    assert [one["name"] for one in shelf("search_nodes", query="Ann Berlin")["entities"]] == ["Ann"]
    assert shelf("search_nodes", query="Ann Paris")["entities"] == []


def test_a_failed_write_changes_neither_file_nor_history(shelf, path: Path, monkeypatch):
    shelf("create_entities", entities=[ANN])
    before, held = path.read_bytes(), shelf.held()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    reply = shelf._service.call("delete_entities", {"entityNames": ["Ann"]})
    monkeypatch.undo()
    assert reply.failed
    assert str(path.parent) not in reply.text
    assert (path.read_bytes(), shelf.held()) == (before, held)
    assert list(path.parent.glob("*.tmp")) == []


# -- around it


def test_the_resource_is_followed(path: Path):
    async def work():
        got = []

        async def handler(message):
            got.append(message)

        server, close = build(MemoryFile(path, graph_of(path)), 6000)
        async with Client(server, mode="legacy", message_handler=handler) as client:
            await client.session.subscribe_resource(GRAPH)
            await anyio.Path(path).write_text('{"type":"entity","name":"Bo","entityType":"dog","observations":[]}\n')
            for _ in range(200):
                await anyio.sleep(0 if got else 0.05)
            assert [str(message.params.uri) for message in got] == [GRAPH]
        close()

    run(work)


def test_without_a_name_the_file_is_in_the_data_folder(tmp_path: Path):
    """PAIN 34: not in a folder that an update empties."""

    async def work():
        words = command("serve", "--compat", "memory")
        env = ENV | {"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
        return (await anyio.run_process(words, env=env, input=b"")).stderr.decode()

    said = run(work)
    assert "memory.jsonl; MEMORY_FILE_PATH names another file" in said
    assert list(tmp_path.rglob("memory.db"))


def test_where_the_history_is():
    assert history_of(Path("a/memory.jsonl")) == Path("a/memory.db")
    assert history_of(Path("a/memory")) == Path("a/memory.db")
    assert history_of(Path("a/memory.db")) == Path("a/memory.db.db")


def test_options_that_are_not_for_it_are_refused(capsys):
    assert main(["serve", "--compat", "memory", "--destructive"]) == 2
    assert "not with --compat" in capsys.readouterr().err


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "name", ["mcp_server_memory_mindstrike.jsonl", "mcp_memory_graph_timestamps.jsonl", "mcp_server_memory_small.jsonl"]
)
def test_a_real_file_is_served_whole(shared_data: Path, path: Path, name: str):
    shutil.copy(shared_data / "memory_imports" / name, path)
    before = read_memory(path.read_bytes())
    shelf = Shelf(path)
    assert len(shelf.whole()["entities"]) == len(before.nodes)
    shelf("create_entities", entities=[ANN | {"name": "Somebody new"}])
    after = read_memory(path.read_bytes())
    assert after == Memory([*before.nodes, Node("Somebody new", "person", ("Likes tea",))], before.links)
    assert list(shelf.graph.rejected()) == []
    assert shelf.graph.verify() == []
    shelf.file.close()
