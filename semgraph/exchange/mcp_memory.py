"""The file of the reference memory server of MCP (`memory.jsonl`): its records, whichever dialect, and its lines.

A line is an entity with its type and observations, or a relation between two names. Some servers leave `type` out, and
some add when and by whom a record was made; a record keeps those marks as they stand.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.instants import POS_INF
from semgraph.temporal import Bound, exact

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MARKS", "MemoryEntity", "MemoryRelation", "is_memory", "mark_time", "memory_line", "memory_record"]

#: What servers add to a record; times are seconds since 1970, or milliseconds.
MARKS: Final = ("createdAt", "updatedAt", "createdBy", "updatedBy")
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
_MILLISECONDS: Final = 10**11  # from here on: in seconds that is the year 5138
_LAST: Final = POS_INF // 1_000_000


class MemoryEntity(NamedTuple):
    """A name, what kind of thing it is (None where the record does not say), and what was observed of it."""

    name: str
    kind: str | None
    observations: tuple[str, ...] = ()
    marks: Mapping[str, Any] = _NONE


class MemoryRelation(NamedTuple):
    """That one named thing stands in a relation to another."""

    source: str
    target: str
    relation: str
    marks: Mapping[str, Any] = _NONE


def is_memory(found: object) -> bool:
    """Whether a parsed line looks like a record of such a file: by its type, else by its fields."""
    if not isinstance(found, dict):
        return False
    return found.get("type") in ("entity", "relation") or "entityType" in found or "relationType" in found


def memory_record(found: object) -> MemoryEntity | MemoryRelation:
    """The record that a parsed line holds; ValueError says what is wrong with one that holds none.

    >>> memory_record({"name": "Ann", "entityType": "Person", "observations": ["Likes tea"], "createdAt": 1768062654})
    MemoryEntity(name='Ann', kind='Person', observations=('Likes tea',), marks={'createdAt': 1768062654})
    """
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - the caller tells it with the line
    marks = {name: found[name] for name in MARKS if isinstance(found.get(name), (str, int, float))}
    related = (
        "relationType" in found if found.get("type") not in ("entity", "relation") else found["type"] == "relation"
    )
    if related:
        return MemoryRelation(_text(found, "from"), _text(found, "to"), _text(found, "relationType"), marks)
    observations = found.get("observations", [])
    if not isinstance(observations, list) or not all(isinstance(one, str) for one in observations):
        raise ValueError("'observations' is no list of texts")
    kind = None if found.get("entityType") in (None, "") else _text(found, "entityType")
    return MemoryEntity(_text(found, "name"), kind, tuple(observations), marks)


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name!r} is missing, or no text")
    return value


def memory_line(record: MemoryEntity | MemoryRelation) -> bytes:
    r"""The record as a line that the reference server reads.

    >>> memory_line(MemoryRelation("Ann", "Acme", "works at"))
    b'{"type":"relation","from":"Ann","to":"Acme","relationType":"works at"}\n'
    """
    told: dict[str, Any]
    if isinstance(record, MemoryEntity):
        told = {
            "type": "entity",
            "name": record.name,
            "entityType": record.kind or "",
            "observations": list(record.observations),
        }
    else:
        told = {"type": "relation", "from": record.source, "to": record.target, "relationType": record.relation}
    line = json.dumps({**told, **record.marks}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return line.encode("utf-8", "backslashreplace") + b"\n"


def mark_time(value: object) -> Bound | None:
    """The moment that a mark tells in seconds or milliseconds since 1970; None where it tells none.

    >>> str(mark_time(1768062654)), str(mark_time(1768062654000))
    ('2026-01-10T16:30:54Z', '2026-01-10T16:30:54Z')
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LAST:
        return None
    seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
    return exact(round(seconds * 1_000_000))
