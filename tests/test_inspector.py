"""The server before a second client that is none of ours: the MCP inspector of npm, on the command line.

Needs node, and the inspector in the folder that SEMGRAPH_NODE names: npm install --prefix FOLDER
@modelcontextprotocol/inspector
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from serving import ENV, command, http

from semgraph import KnowledgeGraph


@pytest.fixture(scope="module")
def inspect():
    program, folder = shutil.which("node"), os.environ.get("SEMGRAPH_NODE")
    if program is None:
        pytest.skip("needs node")
    script = Path(folder or ".") / "node_modules" / ".bin" / "mcp-inspector"
    if folder is None or not script.exists():
        pytest.skip("needs SEMGRAPH_NODE, a folder with the inspector")

    def inspected(*words, server):
        target = ["--cli", server, "--transport", "http"] if isinstance(server, str) else ["--cli", *server]
        asked = [program, str(script.resolve()), *target, *words]
        done = subprocess.run(asked, env=os.environ | ENV, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    return inspected


@pytest.fixture(scope="module", params=["stdio", "http"])
def server(request, inspect, tmp_path_factory: pytest.TempPathFactory):
    path = str(tmp_path_factory.mktemp("inspected") / "notes.db")
    with KnowledgeGraph(path) as told:
        told.add("Maya", "works_at", "Stripe", valid_from="2021-03")
        told.add("user", "timezone", "Europe/Oslo", valid_from="2020")
    if request.param == "stdio":
        yield command("--db", path, "serve")
    else:
        with http("--db", path, "serve") as address:
            yield address


def test_the_inspector_lists_the_tools(inspect, server):
    tools = inspect("--method", "tools/list", server=server)["tools"]
    assert len(tools) == 15
    assert all(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" for tool in tools)


def test_the_inspector_calls_a_tool(inspect, server):
    words = (
        "--method",
        "tools/call",
        "--tool-name",
        "about",
        "--tool-arg",
        "entity=Maya",
        "--tool-arg",
        "valid_at=2022",
    )
    found = inspect(*words, server=server)
    assert found["structuredContent"]["facts"][0]["object"] == "Stripe"
    assert "Maya works at Stripe" in found["content"][0]["text"]


def test_the_inspector_tells_something(inspect, server):
    given = ("subject=Maya", "predicate=speaks", "object=Greek")
    words = [word for one in given for word in ("--tool-arg", one)]
    done = inspect("--method", "tools/call", "--tool-name", "add", *words, server=server)
    assert done["structuredContent"]["receipts"][0]["outcome"] in ("new", "duplicate")


def test_the_inspector_reads_resources_and_prompts(inspect, server):
    listed = inspect("--method", "resources/list", server=server)["resources"]
    assert [one["uri"] for one in listed] == ["semgraph://profile", "semgraph://conflicts"]
    read = inspect("--method", "resources/read", "--uri", "semgraph://profile", server=server)
    assert "Europe/Oslo" in read["contents"][0]["text"]
    prompt = inspect("--method", "prompts/get", "--prompt-name", "use_this_memory", server=server)
    assert "recall" in prompt["messages"][0]["content"]["text"]


def test_the_inspector_meets_the_memory_server(inspect, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "memory.jsonl"))
    made = '[{"name":"Ann","entityType":"person","observations":["tall"]}]'
    memory = ["env", f"MEMORY_FILE_PATH={tmp_path / 'memory.jsonl'}", *command("serve", "--compat", "memory")]
    words = ("--method", "tools/call", "--tool-name", "create_entities", "--tool-arg", f"entities={made}")
    done = inspect(*words, server=memory)
    assert done["structuredContent"]["entities"][0]["name"] == "Ann"
    assert "tall" in (tmp_path / "memory.jsonl").read_text()
