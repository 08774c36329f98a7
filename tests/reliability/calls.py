"""Every public call of the engine, found by looking at its classes, and all that an answer shows."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from semgraph import GraphView, KnowledgeGraph
from semgraph.errors import SemgraphError
from semgraph.handles import Names, Predicates, Vetoes

if TYPE_CHECKING:
    from collections.abc import Callable

DUNDER = ("__getitem__", "__contains__", "__iter__", "__len__", "__bool__", "__repr__")
OWNERS = ((KnowledgeGraph, ""), (Names, "names."), (Predicates, "predicates."), (Vetoes, "vetoes."))
#: For the modules below the engine, not for callers.
WITHIN = {"chunks", "held_rows", "moment", "reading"}


def methods() -> list[str]:
    """The path of every public method and of the special ones that a class of ours defines."""
    found = []
    for cls, prefix in OWNERS:
        for name, member in inspect.getmembers_static(cls):
            plain = not name.startswith("_") or (name in DUNDER and name in vars(cls))
            if plain and inspect.isfunction(member) and name not in WITHIN:
                found.append(prefix + name)
    return found


def properties() -> list[str]:
    """The path of every public property."""
    return [
        prefix + name
        for cls, prefix in OWNERS
        for name, member in inspect.getmembers_static(cls)
        if isinstance(member, property) and not name.startswith("_")
    ]


def member(owner: Any, path: str) -> Any:
    """What the path leads to."""
    for part in path.split("."):
        owner = getattr(owner, part)
    return owner


def called(method: Callable[..., Any], given: dict[str, Any]) -> Any:
    """What a method answers; one that takes any number of things gets one."""
    many = [p.name for p in inspect.signature(method).parameters.values() if p.kind is p.VAR_POSITIONAL]
    return method(*(given[name] for name in many), **{k: v for k, v in given.items() if k not in many})


def outcome(call: Callable[[], Any]) -> str:
    """All that a call shows, its declared error included; another error passes."""
    try:
        return told(call())
    except SemgraphError as error:
        return f"{type(error).__name__}: {error} {told(vars(error))}"


def told(answer: Any, depth: int = 4) -> str:
    """All that an answer shows: its items and its public attributes, to some depth."""
    if depth == 0 or isinstance(answer, str | bytes | int | float | None | type):
        return repr(answer)
    if isinstance(answer, np.ndarray):
        return repr(answer.tolist())
    if isinstance(answer, nx.Graph):
        return repr((list(answer.nodes(data=True)), list(answer.edges(data=True))))
    if isinstance(answer, GraphView):
        return " ".join(outcome(read) for read in (lambda: list(answer.facts(possible=True)), answer.conflicts))
    if isinstance(answer, Mapping):
        return " ".join(f"{told(k, depth - 1)}: {told(v, depth - 1)}" for k, v in answer.items())
    if isinstance(answer, list | tuple | set | frozenset | Iterator):
        return f"{type(answer).__name__} {' '.join(told(one, depth - 1) for one in answer)}"
    if dataclasses.is_dataclass(answer):
        shown = " ".join(told(getattr(answer, f.name), depth - 1) for f in dataclasses.fields(answer))
        return f"{answer!r} {answer} {shown}"
    return f"{answer!r} {answer}"
