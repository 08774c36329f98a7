"""Which module writes and reads which format of a graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from semgraph.errors import InputError
from semgraph.exchange.lines import refuse_own_file, writing
from semgraph.view import GraphView, is_graph

if TYPE_CHECKING:
    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch

Progress = Callable[[int], None]
Writer = Callable[[GraphView, IO[bytes], "Progress | None"], None]

__all__ = ["Progress", "read_graph", "write_graph"]

_WRITERS: Final = {
    "graphml": ("graphml", "write_graphml"),
    "gexf": ("gexf", "write_gexf"),
    "csv": ("tables", "write_edges"),
    "json": ("nodelink", "write_nodelink"),
    "parquet": ("parquet", "write_parquet"),
    "rdf": ("rdf", "write_nquads"),
    "trig": ("rdf", "write_trig"),
    "memory": ("memories", "write_memory"),
}


def write_graph(view: GraphView, place: Place, kind: str, progress: Progress | None) -> None:
    """The nodes and edges of a view in a file, as `semgraph.write` describes."""
    given: object = view
    if not isinstance(given, GraphView):
        raise InputError(f"what is written is a graph or a view of it, not {type(given).__name__}")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a callable that takes a count, not {type(progress).__name__}")
    refuse_own_file(view._session.store.path, place)  # noqa: SLF001 - a view does not tell its file
    if kind == "csv" and isinstance(place, (str, os.PathLike)):
        from semgraph.exchange.tables import write_tables

        write_tables(view, Path(place), progress)
        return
    module, name = _WRITERS[kind]
    write: Writer = getattr(import_module(f"semgraph.exchange.{module}"), name)
    with writing(place) as file:
        write(view, file, progress)


def read_graph(
    kg: KnowledgeGraph, place: Place, kind: str, *, source: str | None, unregistered: str, strict: bool
) -> Batch:
    """What telling the graph in a file did, as `semgraph.read` describes."""
    if not is_graph(kg):
        raise InputError("a file is read into a graph, not into a view of it")
    from semgraph.exchange.intake import check_wishes, intake

    check_wishes(source, unregistered)
    if kind == "graphml":
        from semgraph.exchange.graphml import read_graphml

        return intake(kg, read_graphml(place, strict=strict), source, unregistered)
    if kind == "gexf":
        from semgraph.exchange.gexf import read_gexf

        return intake(kg, read_gexf(place, strict=strict), source, unregistered)
    if kind == "csv":
        from semgraph.exchange.tables import take_tables

        return take_tables(kg, place, source, unregistered)
    if kind == "kgtk":
        from semgraph.exchange.kgtk import read_kgtk
        from semgraph.exchange.statements import take_statements

        voice = source or "imported:kgtk"
        return take_statements(kg, read_kgtk(place, voice), voice, unregistered)
    if kind == "memory":
        from semgraph.exchange.memories import take_memory

        return take_memory(kg, place, source, unregistered)
    if kind == "notes":
        from semgraph.exchange.notes import take_notes

        return take_notes(kg, place, source)
    from semgraph.exchange.jsonfiles import take_json, take_memories, take_wikidata

    if kind in ("json", "wikidata"):
        return (take_json if kind == "json" else take_wikidata)(kg, place, source, unregistered)
    return take_memories(kg, place, kind, source, unregistered)
