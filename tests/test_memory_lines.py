"""The lines of memory.jsonl: every dialect is read, nothing of a file is lost by writing it again."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph.exchange.memorylines import Link, Memory, Node, compact, read_line, read_memory, write_memory

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(st.characters(), max_size=12)
NAMES = ("type", "name", "entityType", "observations", "from", "to", "relationType")
MORE = st.dictionaries(TEXTS.filter(lambda name: name not in NAMES), st.integers() | TEXTS, max_size=2)
NODES = st.builds(Node, TEXTS, TEXTS, st.lists(TEXTS, max_size=3).map(tuple), MORE)
LINKS = st.builds(Link, TEXTS, TEXTS, TEXTS, MORE)


@given(st.lists(NODES, max_size=4), st.lists(LINKS, max_size=4))
def test_what_is_written_is_read_back(nodes, links):
    memory = Memory(nodes, links)
    assert read_memory(write_memory(memory)) == memory


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"{}", b'{"type":"entity"}', b"[1]", b"\xff"]), max_size=6))
def test_lines_that_are_neither_are_kept_as_they_are(lines):
    data = b"\n".join(line.replace(b"\n", b"") for line in lines)
    found = read_memory(data)
    again = read_memory(write_memory(found))
    assert [odd.raw for odd in found.odd] == [line for line in data.split(b"\n") if line.strip()]
    assert [odd.raw for odd in again.odd] == [odd.raw for odd in found.odd]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"type":"entity","name":"Ann"', "it is no JSON"),
        (b'{"type":"entity","name":1,"entityType":"","observations":[]}', "an entity has"),
        (b'{"type":"entity","name":"Ann","entityType":"","observations":[1]}', "an entity has"),
        (b'{"type":"relation","from":"Ann","to":null,"relationType":"knows"}', "a relation has"),
        (b'{"type":"note","name":"Ann"}', "it is neither"),
        (b"[" * 100_000, "it is no JSON"),
        (b"\xff", "it is no UTF-8"),
    ],
)
def test_an_odd_line_says_what_is_wrong_with_it(line, why):
    assert read_line(line, 3).why.startswith(why)


def test_kind_of_a_line_is_told_by_its_fields_where_it_has_no_type():
    assert read_line(b'{"name":"Ann","entityType":"person","observations":["tall"]}', 1) == Node(
        "Ann", "person", ("tall",), {}
    )
    assert isinstance(read_line(b'{"from":"Ann","to":"Bo","relationType":"knows"}', 1), Link)


def test_half_a_character_that_stands_alone_is_escaped():
    assert compact(["\ud83d", "😀"]) == '["\\ud83d","😀"]'
    assert json.loads(compact({"a": "\udc00"})) == {"a": "\udc00"}


def test_a_mark_of_byte_order_is_no_part_of_the_first_line():
    assert read_memory(b'\xef\xbb\xbf{"name":"Ann","entityType":"","observations":[]}').nodes[0].name == "Ann"


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "nodes", "links"),
    [
        ("mcp_server_memory_mindstrike.jsonl", 18, 23),
        ("mcp_memory_graph_timestamps.jsonl", 68, 91),
        ("mcp_server_memory_small.jsonl", 3, 0),
    ],
)
def test_real_files_are_read_and_written_whole(shared_data: Path, name: str, nodes: int, links: int):
    data = (shared_data / "memory_imports" / name).read_bytes()
    found = read_memory(data)
    assert (len(found.nodes), len(found.links), found.odd) == (nodes, links, [])

    def items(raw: bytes) -> Counter[str]:
        lines = [json.loads(line) for line in raw.splitlines() if line.strip()]
        return Counter(compact({k: v for k, v in sorted(line.items()) if k != "type"}) for line in lines)

    assert items(write_memory(found)) == items(data)
