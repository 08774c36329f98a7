"""Questions answered from the graph, without a model: read, planned, executed, and never guessed."""

from semgraph.asking.answering import ask

__all__ = ["ask"]
