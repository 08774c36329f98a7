"""The MCP server before real clients: the SDK's in process, over standard streams and over HTTP, several at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from serving import ENV, command, http, run, stdio

import semgraph
from semgraph import KnowledgeGraph, MissingExtraError
from semgraph.cli import main
from semgraph.serving import SOURCE, Offer, mcp_server

ERAS = ("legacy", "auto")
READS = 10
URI = "semgraph://timeline/Maya"
SESAME = "open sesame"
SECRET = {"SEMGRAPH_SERVE_TOKEN": SESAME}
ANYWHERE = "0.0.0.0"  # noqa: S104 - it is tried, with a secret
PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
PASSED = (400, 406)  # by the checks of where a request comes from, to those of what it says
FACT = {"subject": "Maya", "predicate": "works_at", "object": "Stripe", "valid_from": "2021-03"}


@pytest.fixture
def kg():
    with KnowledgeGraph(source=SOURCE) as graph:
        yield graph


async def talk(target, mode, work):
    got = []

    async def listen(message):
        got.append(message)

    async with Client(target, mode=mode, message_handler=listen) as client:
        return await work(client, got)


async def tour(client, _):
    """What every client can do, whatever carries it."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert len(tools) == 15
    assert tools["recall"].annotations.read_only_hint
    assert tools["settle"].annotations.destructive_hint
    assert not tools["add"].annotations.destructive_hint
    assert all(tool.annotations.open_world_hint is False and tool.output_schema for tool in tools.values())
    done = await client.call_tool("add", FACT)
    assert not done.is_error
    assert done.structured_content["kept"] == 1
    found = await client.call_tool("about", {"entity": "maya"})  # the SDK holds it to the schema
    assert found.content[0].text.splitlines()[1] == "- Maya works at Stripe [since 2021-03] (from tool:mcp)"
    assert found.structured_content["facts"][0]["object"] == "Stripe"
    wrong = await client.call_tool("about", {"entity": "Nobody"})
    assert wrong.is_error
    assert wrong.content[0].text == "not_found: no entity is called 'Nobody'"
    resources = [str(one.uri) for one in (await client.list_resources()).resources]
    assert resources == ["semgraph://profile", "semgraph://conflicts"]
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["semgraph://timeline/{entity}"]
    assert "Stripe" in (await client.read_resource(URI)).contents[0].text
    prompts = [one.name for one in (await client.list_prompts()).prompts]
    assert prompts == ["use_this_memory", "review_conflicts"]
    assert "recall" in (await client.get_prompt("use_this_memory")).messages[0].content.text
    with pytest.raises(MCPError, match="no_resource"):
        await client.read_resource("semgraph://nothing")
    return [fact["id"] for fact in found.structured_content["facts"]]


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_in_process(kg, mode):
    run(talk, mcp_server(kg), mode, tour)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_over_standard_streams(tmp_path: Path, mode):
    run(talk, stdio("--db", str(tmp_path / "notes.db"), "serve"), mode, tour)
    with KnowledgeGraph(tmp_path / "notes.db") as kept:
        assert [(claim.source, claim.object.label) for claim in kept.claims()] == [(SOURCE, "Stripe")]
        assert kept.verify() == []


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_over_http(tmp_path: Path, mode):
    with http("--db", str(tmp_path / "notes.db"), "serve") as address:
        run(talk, address, mode, tour)


def test_scope_and_source_are_those_of_the_start(tmp_path: Path):
    path = str(tmp_path / "notes.db")

    async def tell(client, _):
        await client.call_tool("add", FACT)

    run(talk, stdio("--db", path, "--scope", "work", "serve", "--source", "tool:planner"), "auto", tell)
    with KnowledgeGraph(path, scope="work") as kept:
        assert [claim.source for claim in kept.claims()] == ["tool:planner"]
        assert list(kept.scoped("default").claims()) == []


def test_a_server_that_only_reads(tmp_path: Path):
    path = str(tmp_path / "notes.db")
    with KnowledgeGraph(path) as before:
        before.add("Maya", "speaks", "Greek")

    async def look(client, _):
        assert len((await client.list_tools()).tools) == READS
        assert "Greek" in (await client.call_tool("about", {"entity": "Maya"})).content[0].text
        assert (await client.call_tool("add", FACT)).content[0].text.startswith("no_tool")

    run(talk, stdio("--db", path, "serve", "--read-only"), "auto", look)


def test_removals_are_there_when_switched_on(tmp_path: Path):
    async def forget(client, _):
        assert len((await client.list_tools()).tools) == 20
        await client.call_tool("add", FACT)
        dry = await client.call_tool("forget", {"entity": "Maya"})
        token = dry.structured_content["token"]
        done = await client.call_tool("forget", {"entity": "Maya", "token": token})
        assert done.structured_content["done"]
        assert (await client.call_tool("about", {"entity": "Maya"})).is_error

    run(talk, stdio("--db", str(tmp_path / "notes.db"), "serve", "--destructive"), "auto", forget)


# -- following


async def follow_old(client, got, change):
    """The way of the handshake era."""
    await client.session.subscribe_resource(URI)
    await client.session.subscribe_resource("semgraph://conflicts")
    await change(1)
    for _ in range(300):
        await anyio.sleep(0 if got else 0.05)
    assert [str(message.params.uri) for message in got] == [URI]
    await client.session.unsubscribe_resource(URI)
    await change(2)
    await anyio.sleep(1.5)
    assert len(got) == 1


async def follow_new(client, _, change):
    async with client.listen(resource_subscriptions=[URI]) as stream:
        await change(1)
        with anyio.fail_after(15):
            async for event in stream:
                assert event.uri == URI
                return


@pytest.mark.parametrize("carrier", ["stdio", "http"])
@pytest.mark.parametrize(("mode", "follow"), [("legacy", follow_old), ("auto", follow_new)])
def test_a_change_by_another_process_is_told(tmp_path: Path, mode, follow, carrier):
    path = str(tmp_path / "notes.db")
    with KnowledgeGraph(path) as before:
        before.add("Maya", "speaks", "Greek")

    async def change(number):
        words = command("--db", path, "add", "Maya", "knows", f"Friend {number}")
        done = await anyio.run_process(words, env=ENV)
        assert done.returncode == 0

    async def work(client, got):
        await follow(client, got, change)

    if carrier == "stdio":
        run(talk, stdio("--db", path, "serve"), mode, work)
    else:
        with http("--db", path, "serve") as address:
            run(talk, address, mode, work)


def test_only_what_there_is_can_be_followed(kg):
    async def work(client, _):
        with pytest.raises(MCPError, match="no such resource"):
            await client.session.subscribe_resource("semgraph://nothing")
        for number in range(100):
            await client.session.subscribe_resource(f"semgraph://timeline/{number}")
        with pytest.raises(MCPError, match="may follow 100"):
            await client.session.subscribe_resource("semgraph://timeline/more")

    run(talk, mcp_server(kg), "legacy", work)


# -- several at once


def test_clients_on_one_file_beside_the_command_line_lose_nothing(tmp_path: Path):
    """Two processes of the server, four clients and the command line write to one file at once."""
    path = str(tmp_path / "notes.db")
    KnowledgeGraph(path).close()
    number = 12

    async def writer(target, mode, name):
        async with Client(target, mode=mode) as client:
            for n in range(number):
                done = await client.call_tool("add", {"subject": name, "predicate": "knows", "object": f"{name} {n}"})
                assert not done.is_error, done.content[0].text

    async def typed():
        for n in range(4):
            done = await anyio.run_process(command("--db", path, "add", "Cleo", "knows", f"Cleo {n}"), env=ENV)
            assert done.returncode == 0

    async def everybody(address):
        async with anyio.create_task_group() as group:
            group.start_soon(writer, address, "auto", "Ann")
            group.start_soon(writer, address, "legacy", "Ben")
            group.start_soon(writer, stdio("--db", path, "serve"), "legacy", "Dan")
            group.start_soon(typed)

    with http("--db", path, "serve") as address:
        run(everybody, address)
    with KnowledgeGraph(path) as kept:
        told = sorted(claim.object.label for claim in kept.claims())
        of_clients = [f"{name} {n}" for name in ("Ann", "Ben", "Dan") for n in range(number)]
        assert told == sorted([*of_clients, *(f"Cleo {n}" for n in range(4))])
        assert kept.verify() == []


def test_a_client_that_leaves_in_the_middle_leaves_all_or_nothing(tmp_path: Path):
    path = str(tmp_path / "notes.db")
    asked = command("--db", path, "serve")
    with subprocess.Popen(
        asked, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        shake(server)
        for n in range(30):
            add = {"name": "add", "arguments": {**FACT, "object": f"Firm {n}"}}
            send(server, {"id": n + 10, "method": "tools/call", "params": add})
        server.stdin.close()
        assert server.wait(timeout=30) == 0
    with KnowledgeGraph(path) as kept:
        assert kept.verify() == []


# -- the process


def test_a_line_that_cant_be_read_is_answered_and_the_next_one_too(tmp_path: Path):
    """A client that waits for the answer to half a character, as a cut emoji leaves it, would wait for ever."""
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call"}
    call["params"] = {"name": "recall", "arguments": {"query": "half \ud83c"}}
    lines = ["{broken", json.dumps(call), "", "[1]", '{"id": 8, "a": ' + "[" * 50_000]
    lines += [json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping"}), ""]
    done = subprocess.run(
        command("--db", str(tmp_path / "a.db"), "serve"), env=ENV, input="\n".join(lines).encode(), timeout=60,
        capture_output=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    told = sorted((answer["id"] or 0, answer.get("error", {}).get("code", 0)) for answer in answers)
    assert told == [(0, -32700), (0, -32700), (0, -32600), (7, -32700), (9, 0)]


def test_lines_that_are_piped_in_are_all_answered(tmp_path: Path):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    told = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *(
            {"id": n, "method": "tools/call", "params": {"name": name, "arguments": FACT if name == "add" else {}}}
            for n, name in enumerate(("add", "conflicts", "profile"), 2)
        ),
    ]
    done = subprocess.run(
        command("--db", str(tmp_path / "notes.db"), "serve"),
        input="".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in told).encode(),
        env=ENV, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(one["id"] for one in answers) == [1, 2, 3, 4]
    assert all("result" in one for one in answers)


def test_a_call_that_is_called_off_keeps_the_server_for_moments_only(started):
    shake(started)
    send(started, {"id": 5, "method": "tools/call", "params": {"name": "add", "arguments": FACT}})
    send(started, {"method": "notifications/cancelled", "params": {"requestId": 5}})
    started.stdin.close()
    assert started.wait(timeout=20) == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--read-only", "--destructive"], "give one of the two"),
        (["--port", "1", "--host", "localhost"], "--host and --port are for HTTP: give --http too"),
        (["--expose"], "--expose is for HTTP"),
        (["--name", "here.example"], "--name is for HTTP"),
    ],
)
def test_options_that_would_do_nothing_are_refused(words, says, capsys):
    assert main(["--db", "nowhere.db", "serve", *words]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not Path("nowhere.db").exists()


def send(server, message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def shake(server):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    send(server, {"id": 1, "method": "initialize", "params": hello})
    answer = json.loads(server.stdout.readline())
    send(server, {"method": "notifications/initialized"})
    return answer["result"]


@pytest.fixture
def started(tmp_path: Path):
    asked = command("--db", str(tmp_path / "notes.db"), "serve")
    with subprocess.Popen(
        asked, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        yield server
        server.kill()


def test_the_server_says_who_it_is(started):
    told = shake(started)
    assert (told["serverInfo"]["name"], told["serverInfo"]["version"]) == ("semgraph", semgraph.__version__)
    assert told["capabilities"]["resources"]["subscribe"]
    assert "recall" in told["instructions"]


def test_standard_output_carries_the_protocol_and_nothing_else(started):
    shake(started)
    started.stdin.write(b'not json\n{"jsonrpc":"2.0","id":2,"method":"nothing/there"}\n[]\n\n')
    send(started, {"id": 3, "method": "tools/call", "params": {"name": "add", "arguments": FACT}})
    send(started, {"id": 4, "method": "tools/call", "params": {"name": "add", "arguments": {"subject": "Needle"}}})
    lines = []
    while not any(json.loads(line).get("id") == 4 for line in lines):
        lines.append(started.stdout.readline())
    started.stdin.close()
    assert started.wait(timeout=20) == 0
    lines += started.stdout.readlines()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    log = started.stderr.read().decode()
    assert "Stripe" not in log
    assert "Needle" not in log
    assert "not json" not in log


def test_it_ends_when_the_client_leaves(started):
    shake(started)
    started.stdin.close()
    assert started.wait(timeout=20) == 0


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_well_when_asked_to(started, tmp_path: Path, number):
    shake(started)
    send(started, {"id": 3, "method": "tools/call", "params": {"name": "add", "arguments": FACT}})
    assert json.loads(started.stdout.readline())["result"]["structuredContent"]["kept"] == 1
    started.send_signal(number)
    assert started.wait(timeout=20) == 0
    assert not Path(f"{tmp_path / 'notes.db'}-wal").exists()  # the store was closed
    with KnowledgeGraph(tmp_path / "notes.db") as kept:
        assert len(list(kept.claims())) == 1


# -- HTTP


def post(address, **headers):
    asked = urllib.request.Request(  # noqa: S310 - of a server of ours
        address, b"{}", {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:  # noqa: S310
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory):
    with http("--db", str(tmp_path_factory.mktemp("served") / "notes.db"), "serve") as found:
        yield found


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_a_page_elsewhere_cannot_reach_the_server(address, headers, status):
    assert post(address, **headers) == status


def test_a_request_of_this_machine_gets_through(address):
    assert post(address) in PASSED
    assert post(address.replace("/mcp", "/other")) == 404


def test_a_body_is_bounded(address):
    host, port = address.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        head = "POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Content-Length: 99999999"
        line.sendall("\r\n".join([*head, "", ""]).encode())
        assert b" 413 " in line.recv(100)


def test_a_secret_is_asked_for_where_there_is_one(tmp_path: Path):
    with http("--db", str(tmp_path / "notes.db"), "serve", **SECRET) as address:
        assert post(address) == 401
        assert post(address, Authorization="Bearer open") == 401
        assert post(address, Authorization=f"Bearer {SESAME}") in PASSED


@pytest.mark.parametrize("host", [ANYWHERE, "192.0.2.1", "example.org", "::"])
def test_other_machines_are_kept_out_unless_asked_in(capsys, monkeypatch, host):
    monkeypatch.delenv("SEMGRAPH_SERVE_TOKEN", raising=False)
    assert main(["--db", "x.db", "serve", "--http", "--host", host]) == 2
    assert "--expose allows it" in capsys.readouterr().err
    assert main(["--db", "x.db", "serve", "--http", "--host", host, "--expose"]) == 2
    assert "SEMGRAPH_SERVE_TOKEN" in capsys.readouterr().err


def test_an_exposed_server_takes_its_names(tmp_path: Path):
    words = ("--db", str(tmp_path / "notes.db"), "serve", "--host", ANYWHERE, "--expose", "--name", "memory.example")
    with http(*words, **SECRET) as address:
        here = address.replace(ANYWHERE, "127.0.0.1")
        assert post(here, Authorization=f"Bearer {SESAME}", Host="memory.example") in PASSED
        assert post(here, Authorization=f"Bearer {SESAME}") == 421
        assert post(here, Host="memory.example") == 401


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = ["--db", str(tmp_path / "notes.db"), "serve", "--http", "--port", str(taken.getsockname()[1])]
        assert main(words) == 1
    assert "can't listen at port" in capsys.readouterr().err


# -- without the extra


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert main(["--db", str(tmp_path / "notes.db"), "serve"]) == 1
    assert capsys.readouterr().err.endswith("run: pip install 'semgraph[mcp]'\n")
    assert not (tmp_path / "notes.db").exists()
    with KnowledgeGraph() as graph, pytest.raises(MissingExtraError, match=r"pip install 'semgraph\[mcp\]'"):
        mcp_server(graph, Offer())
