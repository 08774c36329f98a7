"""Recall: the facts that matter to a question, from several channels fused by rank; a conflict never comes in half."""

from __future__ import annotations

from semgraph.recall.search import recall

__all__ = ["recall"]
