"""What the README says to paste into clients starts a server that answers."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from mcp import Client, StdioServerParameters
from serving import ENV, ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

SECTION = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Over MCP\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```(json|toml|sh)\n(.*?)```", SECTION, re.DOTALL)


def entry(kind, text):
    """The command, its words and its environment, wherever a client keeps them."""
    if kind == "sh":
        head, *rest = shlex.split(text.partition(" -- ")[2])
        return head, rest, {}
    found = json.loads(text) if kind == "json" else tomllib.loads(text)
    while "command" not in found:
        ((_, found),) = found.items()
    return found["command"], found["args"], found.get("env", {})


@pytest.mark.parametrize(
    ("kind", "text"), BLOCKS, ids=[text.split('"')[1] if '"' in text else text[:20] for _, text in BLOCKS]
)
def test_what_is_to_be_pasted_starts_a_server(tmp_path: Path, kind, text):
    program, words, env = entry(kind, text)
    assert program == "/path/to/semgraph"
    here = [word.replace("/path/to", str(tmp_path)) for word in ["-m", "semgraph", *words]]
    settings = {name: value.replace("/path/to", str(tmp_path)) for name, value in env.items()}
    server = StdioServerParameters(command=sys.executable, args=here, env=ENV | settings)

    async def look():
        async with Client(server) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    tools = run(look)
    assert "read_graph" in tools if "--compat" in words else {"recall", "add", "settle"} < tools
    assert list(tmp_path.glob("*.db"))


def test_every_client_has_its_block():
    assert len(BLOCKS) == 6
    for name in ("Claude Desktop", "Claude Code", "Cursor", "VS Code", "Windsurf", "Gemini CLI", "Zed", "Codex"):
        assert name in SECTION


def test_the_tools_that_the_section_names_are_those_there_are():
    from semgraph.serving.catalogue import TOOLS

    named = set(re.findall(r"`([a-z_]+)`", SECTION))
    assert {tool.name for tool in TOOLS} <= named
