"""What a file is by its first line, and what taking one in would do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from semgraph.errors import ImportRejected, InputError
from semgraph.exchange.conversations import is_conversation
from semgraph.exchange.lines import reading
from semgraph.exchange.mem0 import is_mem0
from semgraph.exchange.memorylines import Link, Node, read_line
from semgraph.view import is_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch

__all__ = ["previewed", "sniffed"]


def sniffed(place: Place) -> str:
    """The format of a file of JSON lines, by the first one: of semgraph unless another memory wrote it."""
    try:
        with reading(place) as lines:
            line = next((line for _, line in lines if line.strip()), b"null")
        first = json.loads(line)
    except (ImportRejected, ValueError, RecursionError):
        return "jsonl"  # what is wrong with it is told by who reads it
    if not isinstance(first, dict) or "format" in first or "predicate" in first:
        return "jsonl"
    if {"entityType", "relationType"} & first.keys() and isinstance(read_line(line, 1), (Node, Link)):
        return "memory"
    return is_conversation(first) or ("mem0" if is_mem0(first) else "jsonl")


class _Undone(Exception):
    """No error: the way out of the transaction."""


def previewed(kg: KnowledgeGraph, take: Callable[[], Batch]) -> Batch:
    """What `take` would do: it is done, and undone."""
    if not is_graph(kg):
        raise InputError("a file is read into a graph, not into a view of it")
    try:
        with kg.atomic():
            batch = take()
            raise _Undone  # noqa: TRY301 - so that the transaction is rolled back
    except _Undone:
        return batch
