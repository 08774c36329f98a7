"""Reading and writing files: `write(view, path)` and `read(kg, path)`, the format taken from the suffix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from semgraph.errors import InputError

if TYPE_CHECKING:
    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.formats import Progress
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch
    from semgraph.view import GraphView

__all__ = ["READABLE", "WRITABLE", "accepted", "format_of", "read", "write"]

#: By suffix; each may be followed by .gz.
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".graphml": "graphml",
    ".gexf": "gexf",
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
    ".nq": "rdf",
    ".trig": "trig",
    ".tsv": "kgtk",
    ".md": "notes",
    ".txt": "notes",
}
#: Of other memories; JSON lines of theirs are told by what stands in the first one.
_MEMORIES = ("memory", "mem0", "longmemeval", "locomo", "chat", "notes")
WRITABLE = ("jsonl", "graphml", "gexf", "csv", "json", "parquet", "rdf", "trig", "memory")
READABLE = ("jsonl", "graphml", "gexf", "csv", "json", "wikidata", "kgtk", *_MEMORIES)


def write(
    view: GraphView,
    path: Place,
    *,
    format: str | None = None,  # noqa: A002 - the API's word
    progress: Progress | None = None,
) -> None:
    """A file that holds one scope, replaced in one step; the same store gives the same bytes.

    JSON lines lose nothing, and take the graph itself. The other formats hold what the view holds as nodes and edges:
    a view at an instant or over a window its facts, the graph itself those of all time. `.gz` after the suffix packs.

    Args:
        view: the graph, or what `at`, `during` and `throughout` give.
        path: where to, or a binary stream, which needs `format`.
        format: one of `WRITABLE`; by the suffix if left out.
        progress: is called now and then with the number of facts written.

    Raises:
        MissingExtraError: Parquet and TriG need an optional dependency each.

    >>> import semgraph
    >>> kg, copy = semgraph.KnowledgeGraph(), semgraph.KnowledgeGraph()
    >>> _ = kg.add("Maya", "works_at", "Stripe")
    >>> semgraph.write(kg, "maya.jsonl.gz")
    >>> semgraph.read(copy, "maya.jsonl.gz").counts
    {'new': 1}
    """
    kind = format_of(path, format, WRITABLE)
    if kind == "jsonl":
        from semgraph.exchange.jsonl import write_jsonl

        write_jsonl(view, path)
        return
    from semgraph.exchange.formats import write_graph

    write_graph(view, path, kind, progress)


def read(
    kg: KnowledgeGraph,
    path: Place,
    *,
    format: str | None = None,  # noqa: A002 - the API's word
    source: str | None = None,
    unregistered: str = "many",
    strict: bool = True,
    dry_run: bool = False,
) -> Batch:
    """What taking in a file did, all of it in one transaction.

    JSON lines are an export or plain claims (see `semgraph.exchange.jsonl.read_jsonl`), or what another memory keeps:
    "memory" is the file of the reference memory server of MCP, "mem0" what the API of mem0 answers, "longmemeval",
    "locomo" and "chat" are conversations, kept as they were said, "notes" is text, a sentence a claim. Any other format
    is a graph, whose nodes become entities and whose edges become claims; `.predicates` of the batch counts those met,
    and `.notes` says in words what could not be taken as it stands.

    Args:
        kg: the graph; its scope is what is written to.
        path: where from, or a binary stream, which needs `format`.
        format: one of `READABLE`; by the suffix if left out.
        source: who says all of it; else what the file says, or `imported:` and the format.
        unregistered: how many values at a time a predicate of a foreign graph takes that nobody has defined:
            "many", "one", or "flag" to leave it undefined.
        strict: refuse XML that its schema does not allow; else only what can't be understood.
        dry_run: write nothing, and say what would be done.

    Raises:
        ImportRejected: the file can't be taken in; `.code` says why, and nothing of it was written.
    """
    from semgraph.exchange.preview import previewed, sniffed

    kind = format_of(path, format, READABLE)
    if kind == "jsonl" and format is None:
        kind = sniffed(path)

    def take() -> Batch:
        if kind == "jsonl":
            from semgraph.exchange.jsonl import read_jsonl

            return read_jsonl(kg, path, source=source)
        from semgraph.exchange.formats import read_graph

        return read_graph(kg, path, kind, source=source, unregistered=unregistered, strict=strict)

    return previewed(kg, take) if dry_run else take()


def accepted(known: tuple[str, ...]) -> tuple[str, ...]:
    """What a format may be called: its name, or the suffix of its files without the dot."""
    return tuple(dict.fromkeys([*known, *(suffix[1:] for suffix, kind in _SUFFIXES.items() if kind in known)]))


def format_of(path: Place, given: str | None = None, known: tuple[str, ...] = READABLE) -> str:
    """The name of a file's format, one of those known: as given, by name or suffix, else by the suffix of the path."""
    if not isinstance(path, (str, os.PathLike)) and not (hasattr(path, "read") or hasattr(path, "write")):
        raise InputError(f"a file is a path or a binary stream, not {type(path).__name__}")
    if given is not None:
        named = _SUFFIXES.get(f".{given}", given)
        if named not in known:
            raise InputError(f"the format is {' or '.join(known)}, not {given!r}")
        return named
    if not isinstance(path, (str, os.PathLike)):
        raise InputError("a stream has no suffix: say which format=")
    name = os.fsdecode(path).lower().removesuffix(".gz")
    suffixes = {suffix: kind for suffix, kind in _SUFFIXES.items() if kind in known}
    found = next((kind for suffix, kind in suffixes.items() if name.endswith(suffix)), None)
    if found is None:
        raise InputError(f"{os.fsdecode(path)!r} does not end with {', '.join(suffixes)}: say which format= it has")
    return found
