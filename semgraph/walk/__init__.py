"""Walks over the graph of one view: neighbours, paths and pattern match; exact, iterative, and bounded."""

from __future__ import annotations

from semgraph.walk.cut import Cut
from semgraph.walk.edges import Direction, Edges
from semgraph.walk.hops import neighbours
from semgraph.walk.joins import match
from semgraph.walk.routes import Mode, paths

__all__ = ["Cut", "Direction", "Edges", "Mode", "match", "neighbours", "paths"]
