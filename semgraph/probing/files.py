"""Files of probes: YAML with a section for each kind, or JSON lines with an entry on each."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import yaml
from yaml import MappingNode, ScalarNode, SequenceNode

from semgraph.errors import ImportRejected, InputError
from semgraph.exchange.lines import reading, reading_bytes, shown_name
from semgraph.exchange.rows import parsed
from semgraph.probing.entries import SECTIONS, Probes, bad, probes_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from yaml import Node

__all__ = ["read_probes"]

#: Bytes. PyYAML takes a second for some 150 kB: its parser in C is quicker, and has no bound on how deep it recurses.
MAX_YAML: Final = 2 << 20
_PLAIN: Final = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?)?")
_TAGS: Final = frozenset(("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value"))
#: The key that tells which section a JSON line belongs to.
_TELLING: Final = (("sides", "contradictions"), ("question", "questions"), ("subject", "facts"))


def read_probes(path: str | os.PathLike[str]) -> Probes:
    """The probes of a file: YAML, or JSON lines if its name says so; `.gz` after the suffix unpacks.

    YAML has the sections `facts`, `contradictions` and `questions`, each a list. Its scalars are read as those of JSON:
    all but numbers, true, false and null is text, dates and `no` too. Anchors and tags are refused.

    Raises:
        ImportRejected: the file can't be read; the message names the file and the line.
    """
    name = shown_name(path).lower().removesuffix(".gz")
    if not name.endswith((".yaml", ".yml", ".jsonl")):
        raise InputError(
            f"{shown_name(path)!r} does not end with .yaml, .yml or .jsonl: a file of probes is one of these"
        )
    try:
        return probes_of(_of_lines(path) if name.endswith(".jsonl") else _of_yaml(path))
    except ImportRejected as error:
        if error.code in ("unreadable", "oversize", "bad_gzip"):
            raise
        raise ImportRejected(error.code, f"{shown_name(path)}, {error}") from None


# -- JSON lines


def _of_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, Any]]:
    with reading(path) as lines:
        for number, line in lines:
            if not line.strip():
                continue
            entry = parsed(line, number)
            if not isinstance(entry, dict):
                raise bad(number, "it is no object; write one fact, contradiction or question on each line")
            section = next((section for key, section in _TELLING if key in entry), None)
            if section is None:
                raise bad(number, "it has neither subject (a fact), sides (a contradiction) nor question")
            yield section, number, entry


# -- YAML


def _of_yaml(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, Any]]:
    with reading_bytes(path, MAX_YAML, "write it as JSON lines") as file:
        data = file.read()
    root = _composed(data)
    if root is None:
        return
    reader = _Reader()
    if not isinstance(root, MappingNode):
        raise bad(1, f"the file has sections: {', '.join(SECTIONS)}")
    reader.enter(root)
    for key, value in reader.pairs(root):
        line = _line(key)
        if key.value not in SECTIONS:
            raise bad(line, f"there is no section {key.value!r}; the sections are {', '.join(SECTIONS)}")
        reader.enter(value)
        if not isinstance(value, SequenceNode):
            raise bad(line, f"{key.value} is a list: begin each entry with a dash")
        for item in value.value:
            yield key.value, _line(item), reader.read(item)


def _composed(data: bytes) -> Node | None:
    """The tree of the document, in which every scalar is still text; None if it is empty."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ImportRejected("bad_encoding", f"line {line} is not UTF-8") from None
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)  # makes nodes, and no objects
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = " ".join(filter(None, [error.context, error.problem]))
        raise ImportRejected("bad_yaml", f"line {mark.line + 1 if mark else 1} is no YAML: {why}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ImportRejected("bad_yaml", f"line {line} has a character that YAML does not allow") from None
    except RecursionError:
        raise ImportRejected("bad_yaml", "line 1: the file is nested too deeply") from None


class _Reader:
    """Turns nodes into what JSON could hold; a node that is met twice was named by an anchor."""

    def __init__(self) -> None:
        self._met: set[int] = set()

    def enter(self, node: Node) -> None:
        """Refuse what is more than plain data: a small file with anchors can stand for a huge one."""
        if id(node) in self._met:
            raise bad(_line(node), "what is named by an anchor (&) is used again; write it out")
        self._met.add(id(node))
        if node.tag.removeprefix("tag:yaml.org,2002:") not in _TAGS:
            raise bad(_line(node), f"the tag {node.tag!r} is not known here; leave it out")

    def read(self, node: Node) -> Any:
        """The value of a node, and of all below it."""
        self.enter(node)
        if isinstance(node, SequenceNode):
            return [self.read(item) for item in node.value]
        if isinstance(node, MappingNode):
            return {key.value: self.read(value) for key, value in self.pairs(node)}
        plain = (
            isinstance(node, ScalarNode)
            and node.style is None
            and not node.tag.endswith(":str")
            and _PLAIN.fullmatch(node.value)
        )
        return json.loads(node.value or "null") if plain else node.value

    def pairs(self, node: MappingNode) -> Iterator[tuple[ScalarNode, Node]]:
        """The keys of a mapping, each a text and there once, with their values."""
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise bad(_line(key), "a name is a text; put a value that begins with [ or { in quotes")
            if key.value in seen:
                raise bad(_line(key), f"{key.value!r} stands twice in one place")
            seen.add(key.value)
            yield key, value


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
