"""semgraph: a temporal knowledge graph that can be trusted with facts that change."""

from __future__ import annotations

from semgraph.dates import parse_when
from semgraph.engine import KnowledgeGraph
from semgraph.errors import *  # noqa: F403 - the whole tree is public
from semgraph.errors import __all__ as _errors
from semgraph.exchange import read, write
from semgraph.names import entity_key
from semgraph.temporal import Bound, from_epoch
from semgraph.view import GraphView

__version__ = "0.1.0"
__all__ = ["Bound", "GraphView", "KnowledgeGraph", "entity_key", "from_epoch", "parse_when", "read", "write", *_errors]
