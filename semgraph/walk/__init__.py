"""Walks over the graph of one view: neighbours, paths and pattern match; exact, iterative, and bounded."""

from __future__ import annotations

from semgraph.walk.columns import EdgeColumns, edge_columns, filled_graph
from semgraph.walk.cut import Cut
from semgraph.walk.distance import UNTOLD, distance, quick_distance
from semgraph.walk.edges import Direction, Edges
from semgraph.walk.hops import Hops, neighbours, quick_neighbours
from semgraph.walk.joins import match
from semgraph.walk.routes import Mode, Routes, paths, quick_paths

__all__ = [
    "UNTOLD",
    "Cut",
    "Direction",
    "EdgeColumns",
    "Edges",
    "Hops",
    "Mode",
    "Routes",
    "distance",
    "edge_columns",
    "filled_graph",
    "match",
    "neighbours",
    "paths",
    "quick_distance",
    "quick_neighbours",
    "quick_paths",
]
