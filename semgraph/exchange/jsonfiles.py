"""JSON documents: node-link graphs, entities of Wikidata, other memories and conversations, told by what they hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected
from semgraph.exchange.conversations import is_conversation
from semgraph.exchange.intake import intake
from semgraph.exchange.lines import reading_bytes, shown_name
from semgraph.exchange.mem0 import is_mem0, take_mem0
from semgraph.exchange.nodelink import node_link_graph
from semgraph.exchange.numbers import finite
from semgraph.exchange.rows import parsed
from semgraph.exchange.statements import take_statements
from semgraph.exchange.transcripts import take_sessions
from semgraph.exchange.wikidata import entities_of, read_entity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Place
    from semgraph.exchange.statements import Entry
    from semgraph.model import Batch

__all__ = ["documents", "documents_in", "take_json", "take_memories", "take_wikidata"]

_MAX_SIZE: Final = 64 << 20  # bytes, unpacked
_HINT: Final = "split it"


def take_json(kg: KnowledgeGraph, place: Place, source: str | None, unregistered: str) -> Batch:
    """What a document did: a graph in node-link form, entities of Wikidata, memories of mem0, or conversations.

    Raises:
        ImportRejected: bad_json, bad_encoding or bad_row; foreign for a document of another kind; oversize, bad_gzip
            or unreadable.
    """
    shown = shown_name(place)
    document = _document(place)
    if isinstance(document, dict) and "nodes" in document:
        return intake(kg, node_link_graph(document, shown), source, unregistered)
    if (conversation := is_conversation(document)) is not None:
        return take_sessions(kg, [document], conversation, shown, source, unregistered)
    if is_mem0(document):
        return take_mem0(kg, document, shown, source, unregistered)
    return _tell(kg, [(0, document)], shown, source, unregistered)


def take_memories(kg: KnowledgeGraph, place: Place, kind: str, source: str | None, unregistered: str) -> Batch:
    """What the memories or conversations of a file did, one document or one on each line."""
    found, shown = documents(place), shown_name(place)
    if kind == "mem0":
        return take_mem0(kg, found, shown, source, unregistered)
    first = is_conversation(found[0]) if found else None
    if first != kind:
        raise ImportRejected(
            "foreign", f"{shown} holds no conversations as {kind} has them" + f"; {first} has" * bool(first)
        )
    return take_sessions(kg, found, kind, shown, source, unregistered)


def documents(place: Place) -> list[Any]:
    """The JSON documents of a file: one that is all of it, or one on each line."""
    with reading_bytes(place, _MAX_SIZE, _HINT) as file:
        return documents_in(file.read(), shown_name(place))


def documents_in(data: bytes, shown: str) -> list[Any]:
    """The same of the bytes of a file, which messages call as shown."""
    try:
        return [_parsed(data, shown)]
    except ImportRejected:
        lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        if len(lines) < 2:
            raise
    return [parsed(line, number) for number, line in lines]


def take_wikidata(kg: KnowledgeGraph, place: Place, source: str | None, unregistered: str) -> Batch:
    """What entities of Wikidata did: one of them, a list, an answer of its API, or a dump with one on each line."""
    with reading_bytes(place, _MAX_SIZE, _HINT) as file:
        data = file.read()
    shown = shown_name(place)
    lines = data.splitlines()
    if len(lines) > 2 and lines[0].strip() == b"[":
        return _tell(kg, list(_dump(lines, shown)), shown, source, unregistered)
    return _tell(kg, [(0, _parsed(data, shown))], shown, source, unregistered)


def _dump(lines: list[bytes], shown: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines[1:], 2):
        bare = line.strip().removesuffix(b",")
        if bare and bare != b"]":
            yield number, _parsed(bare, f"{shown}, line {number}")


def _tell(
    kg: KnowledgeGraph, documents: list[tuple[int, Any]], shown: str, source: str | None, unregistered: str
) -> Batch:
    voice = source or "imported:wikidata"
    entries: list[Entry] = []
    for line, document in documents:
        at = f"{shown}, line {line}" if line else shown
        try:
            entries += [read_entity(found, voice) for found in entities_of(document)]
        except (ValueError, ArithmeticError) as error:
            raise ImportRejected("foreign" if not entries and not line else "bad_row", f"{at}: {error}") from None
    return take_statements(kg, entries, voice, unregistered)


def _document(place: Place) -> Any:
    with reading_bytes(place, _MAX_SIZE, _HINT) as file:
        return _parsed(file.read(), shown_name(place))


def _parsed(data: bytes, at: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=finite, parse_float=finite)
    except UnicodeDecodeError as error:
        raise ImportRejected("bad_encoding", f"{at}: byte {error.start + 1} is no UTF-8; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ImportRejected("bad_json", f"{at}: this is no JSON: {why}") from None
