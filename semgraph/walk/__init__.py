"""Walks over the graph of one view: neighbours, paths and pattern match; exact, iterative, and bounded."""

from __future__ import annotations

from semgraph.walk.cut import Cut
from semgraph.walk.edges import Direction, Edges
from semgraph.walk.match import match
from semgraph.walk.neighbours import neighbours
from semgraph.walk.paths import Mode, paths

__all__ = ["Cut", "Direction", "Edges", "Mode", "match", "neighbours", "paths"]
