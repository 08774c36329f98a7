"""A user's own check of a memory: what it should hold, bring back, answer, and never give away."""

from semgraph.probing.files import read_probes
from semgraph.probing.running import load, probe

__all__ = ["load", "probe", "read_probes"]
