"""Reading and writing files: `write(view, path)` and `read(kg, path)`, the format taken from the suffix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from semgraph.errors import InputError

if TYPE_CHECKING:
    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch
    from semgraph.view import GraphView

__all__ = ["format_of", "read", "write"]

_SUFFIXES = {".jsonl": "jsonl", ".jsonl.gz": "jsonl"}


def write(view: GraphView, path: Place, *, format: str | None = None) -> None:  # noqa: A002 - the API's word
    """A file that holds one scope, replaced in one step; JSON lines lose nothing and are the same for the same store.

    >>> import semgraph
    >>> kg, copy = semgraph.KnowledgeGraph(), semgraph.KnowledgeGraph()
    >>> _ = kg.add("Maya", "works_at", "Stripe")
    >>> semgraph.write(kg, "maya.jsonl.gz")
    >>> semgraph.read(copy, "maya.jsonl.gz").counts
    {'new': 1}
    """
    format_of(path, format)
    from semgraph.exchange.jsonl import write_jsonl

    write_jsonl(view, path)


def read(
    kg: KnowledgeGraph,
    path: Place,
    *,
    format: str | None = None,  # noqa: A002 - the API's word
    source: str | None = None,
) -> Batch:
    """What taking in a file did, all of it in one transaction; see `semgraph.exchange.jsonl.read_jsonl`.

    Raises:
        ImportRejected: the file can't be taken in; `.code` says why, and nothing of it was written.
    """
    format_of(path, format)
    from semgraph.exchange.jsonl import read_jsonl

    return read_jsonl(kg, path, source=source)


def format_of(path: Place, given: str | None = None) -> str:
    """The name of a file's format: as given, else by its suffix."""
    known = sorted(set(_SUFFIXES.values()))
    if not isinstance(path, (str, os.PathLike)) and not (hasattr(path, "read") or hasattr(path, "write")):
        raise InputError(f"a file is a path or a binary stream, not {type(path).__name__}")
    if given is not None:
        if given not in known:
            raise InputError(f"the format is {' or '.join(known)}, not {given!r}")
        return given
    if not isinstance(path, (str, os.PathLike)):
        raise InputError("a stream has no suffix: say which format=")
    name = os.fsdecode(path).lower()
    found = next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), None)
    if found is None:
        known_suffixes = ", ".join(_SUFFIXES)
        raise InputError(f"{os.fsdecode(path)!r} does not end with {known_suffixes}: say which format= it has")
    return found
