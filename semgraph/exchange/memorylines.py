"""The lines of `memory.jsonl`, as MCP memory servers keep it: read one by one, and written as the first of them does.

A line is an entity with its observations, or a relation. Some servers name the kind in `type`, others leave it out and
add fields of their own; those are kept. A line that is neither is kept as it is, and hinders none of the others.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.exchange.numbers import finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Link", "Memory", "Node", "Odd", "compact", "line_of", "read_line", "read_memory", "write_memory"]

_OF_NODE: Final = ("type", "name", "entityType", "observations")
_OF_LINK: Final = ("type", "from", "to", "relationType")
_LONE: Final = re.compile("[\ud800-\udfff]")


class Node(NamedTuple):
    """An entity: its name, what kind of thing it is, what was observed, and the other fields of its line."""

    name: str
    kind: str
    observations: tuple[str, ...]
    more: Mapping[str, Any] = {}


class Link(NamedTuple):
    """A relation from one entity to another by their names, and the other fields of its line."""

    source: str
    target: str
    relation: str
    more: Mapping[str, Any] = {}


class Odd(NamedTuple):
    """A line that is neither, from 1 on, as it is, and what is wrong with it."""

    line: int
    raw: bytes
    why: str


@dataclass(slots=True)
class Memory:
    """What a file holds, each kind in the order of its lines."""

    nodes: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)


def read_line(raw: bytes, number: int) -> Node | Link | Odd | None:
    """What a line says; None for an empty one.

    >>> read_line(b'{"from":"Ann","to":"Bo","relationType":"knows","createdAt":1}', 1)
    Link(source='Ann', target='Bo', relation='knows', more={'createdAt': 1})
    """
    if not raw.strip():
        return None
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        item = json.loads(text, parse_constant=finite, parse_float=finite)
    except UnicodeDecodeError:
        return Odd(number, raw, "it is no UTF-8")
    except (ValueError, RecursionError):
        return Odd(number, raw, "it is no JSON")
    if not isinstance(item, dict):
        return Odd(number, raw, "it is no JSON object")
    kind = item.get("type")
    if kind == "entity" or (kind is None and "name" in item):
        return _node(item) or Odd(number, raw, "an entity has the texts name and entityType, and a list of texts")
    if kind == "relation" or (kind is None and "from" in item):
        return _link(item) or Odd(number, raw, "a relation has the texts from, to and relationType")
    return Odd(number, raw, "it is neither an entity nor a relation")


def _node(item: Mapping[str, Any]) -> Node | None:
    name, kind, observations = item.get("name"), item.get("entityType", ""), item.get("observations", [])
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(observations, list)):
        return None
    if not all(isinstance(each, str) for each in observations):
        return None
    return Node(name, kind, tuple(observations), _others(item, _OF_NODE))


def _link(item: Mapping[str, Any]) -> Link | None:
    source, target, relation = (item.get(name) for name in _OF_LINK[1:])
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(relation, str)):
        return None
    return Link(source, target, relation, _others(item, _OF_LINK))


def _others(item: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in known}


def read_memory(data: bytes) -> Memory:
    r"""The memory in the bytes of a file.

    >>> found = read_memory(b'{"type":"entity","name":"Ann","entityType":"person","observations":[]}\n{"type":')
    >>> found.nodes[0].name, found.odd[0].line, found.odd[0].why
    ('Ann', 2, 'it is no JSON')
    """
    found = Memory()
    for number, raw in enumerate(data.split(b"\n"), start=1):
        item = read_line(raw, number)
        if isinstance(item, Node):
            found.nodes.append(item)
        elif isinstance(item, Link):
            found.links.append(item)
        elif item is not None:
            found.odd.append(item)
    return found


def write_memory(memory: Memory) -> bytes:
    """The bytes of a file: entities, then relations, then what could not be read, as it was; no last line end."""
    return b"\n".join(_lines(memory))


def _lines(memory: Memory) -> Iterator[bytes]:
    yield from map(line_of, memory.nodes)
    yield from map(line_of, memory.links)
    for odd in memory.odd:
        yield odd.raw


def line_of(item: Node | Link) -> bytes:
    """The item as a line, without its end.

    >>> line_of(Link("Ann", "Bo", "knows"))
    b'{"type":"relation","from":"Ann","to":"Bo","relationType":"knows"}'
    """
    known: dict[str, Any]
    if isinstance(item, Node):
        known = {"type": "entity", "name": item.name, "entityType": item.kind, "observations": list(item.observations)}
    else:
        known = {"type": "relation", "from": item.source, "to": item.target, "relationType": item.relation}
    return compact(known | dict(item.more)).encode()


def compact(value: object, indent: int | None = None) -> str:
    """The value as JSON in the way of JavaScript, which escapes half a character that stands alone."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent)
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
