"""Record what the reference memory server answers to a script of calls, as the fixture that ours is held to.

Needs node and the server: npm install --prefix FOLDER @modelcontextprotocol/server-memory. Then:
python tools/record_memory.py FOLDER > tests/memory_server.json
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

ANN = {"name": "Ann Lee", "entityType": "person", "observations": ["Likes tea", "Lives in Oslo"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "Ann Lee", "to": "Acme", "relationType": "works_at"}
KNOWS = {"from": "Bo", "to": "Ann Lee", "relationType": "knows well"}
BO = {"name": "Bo", "entityType": "person", "observations": ["Plays chess"]}
#: What the file holds before the first call: lines of an earlier time, an empty one, and a field of another tool.
BEFORE = (
    '{"type":"entity","name":"Old","entityType":"thing","observations":["was here"],"note":1}\n\n'
    '{"type":"relation","from":"Old","to":"Old","relationType":"is"}\n'
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, ACME]}),
    ("create_entities", {"entities": [ANN, BO]}),
    ("create_entities", {"entities": []}),
    ("create_entities", {"entities": [{**BO, "observations": ["Plays go"], "mood": "good"}]}),
    ("create_relations", {"relations": [WORKS, KNOWS]}),
    ("create_relations", {"relations": [WORKS]}),
    ("create_relations", {"relations": [{**WORKS, "relationType": "owns"}]}),
    ("add_observations", {"observations": [{"entityName": "Ann Lee", "contents": ["Likes tea", "Speaks Danish"]}]}),
    (
        "add_observations",
        {"observations": [{"entityName": "Acme", "contents": ['a "quoted" ünï😀 line\nand\ttab \\ ']}]},
    ),
    (
        "add_observations",
        {"observations": [{"entityName": "Acme", "contents": []}, {"entityName": "Bo", "contents": ["x"]}]},
    ),
    (
        "add_observations",
        {"observations": [{"entityName": "Bo", "contents": ["y"]}, {"entityName": "Zed", "contents": ["z"]}]},
    ),
    ("read_graph", {}),
    ("search_nodes", {"query": "tea"}),
    ("search_nodes", {"query": "PERSON"}),
    ("search_nodes", {"query": "acme"}),
    ("search_nodes", {"query": "ÜNÏ"}),
    ("search_nodes", {"query": "nowhere"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Bo"]}),
    ("open_nodes", {"names": ["Ann Lee", "Zed", "Ann Lee"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ann Lee", "observations": ["Likes tea", "never said"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Zed", "observations": ["z"]}]}),
    ("open_nodes", {"names": ["Ann Lee"]}),
    ("delete_relations", {"relations": [KNOWS, {"from": "a", "to": "b", "relationType": "c"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Acme", "Zed"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [ACME]}),
    ("open_nodes", {"names": ["Acme", "Old"]}),
    ("create_entities", {}),
    ("create_entities", {"entities": [{"name": "A"}]}),
    ("create_entities", {"entities": [{"name": 1, "entityType": "x", "observations": []}]}),
    ("search_nodes", {"query": 5}),
    ("delete_entities", {"entityNames": "Acme"}),
    ("no_such_tool", {}),
    ("read_graph", {"ignored": True}),
)


def server_of(folder: Path, memory: Path) -> StdioServerParameters:
    """How the reference server is started."""
    program = shutil.which("node")
    script = folder / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    if program is None or not script.is_file():
        message = "needs node, and npm install --prefix FOLDER @modelcontextprotocol/server-memory"
        raise SystemExit(message)
    env = {"MEMORY_FILE_PATH": str(memory.resolve()), "PATH": os.environ["PATH"]}
    return StdioServerParameters(command=program, args=[str(script)], env=env)


async def played(server: Any, memory: Path) -> dict[str, Any]:
    """What a server shows and answers: its tools without their words, each call, and the file at the end."""
    file = anyio.Path(memory)
    await file.write_text(BEFORE, encoding="utf-8")
    async with Client(server, mode="legacy") as client:
        tools = [_shape(tool.model_dump(mode="json", by_alias=True)) for tool in (await client.list_tools()).tools]
        resources = [
            _shape(one.model_dump(mode="json", by_alias=True)) for one in (await client.list_resources()).resources
        ]
        answers = []
        for name, arguments in CALLS:
            answer = await client.call_tool(name, arguments)
            text = answer.content[0].text
            wrong = answer.is_error and not text.startswith("Entity with name")
            answers.append(
                {
                    "call": name,
                    "arguments": arguments,
                    "error": answer.is_error,
                    "text": None if wrong else text,  # how it says what is wrong with arguments is its own
                    "data": answer.structured_content,
                }
            )
        read = await client.read_resource("memory://knowledge-graph")
    return {
        "tools": tools,
        "resources": resources,
        "answers": answers,
        "resource": read.contents[0].text,
        "mime": read.contents[0].mime_type,
        "file": await file.read_text(encoding="utf-8"),
    }


def _shape(node: Any) -> Any:
    """What is shown, without descriptions, what is not set, and how long tasks are run."""
    if isinstance(node, list):
        return [_shape(each) for each in node]
    if not isinstance(node, dict):
        return node
    left_out = ("description", "execution", "_meta")
    return {key: _shape(value) for key, value in node.items() if key not in left_out and value is not None}


def main() -> None:
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        memory = Path(place) / "memory.jsonl"
        found = anyio.run(played, server_of(folder, memory), memory)
    print(json.dumps(found, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
