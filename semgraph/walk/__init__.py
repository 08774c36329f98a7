"""Walks over the graph of one view: neighbours, paths and pattern match; exact, iterative, and bounded."""

from __future__ import annotations

from semgraph.walk.columns import EdgeColumns, edge_columns, filled_graph
from semgraph.walk.cut import Cut
from semgraph.walk.edges import Direction, Edges
from semgraph.walk.hops import Hops, neighbours, quick_neighbours
from semgraph.walk.joins import match
from semgraph.walk.routes import Mode, Routes, paths, quick_paths

__all__ = [
    "Cut",
    "Direction",
    "EdgeColumns",
    "Edges",
    "Hops",
    "Mode",
    "Routes",
    "edge_columns",
    "filled_graph",
    "match",
    "neighbours",
    "paths",
    "quick_neighbours",
    "quick_paths",
]
