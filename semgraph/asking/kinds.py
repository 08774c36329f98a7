"""What kind of thing a question asks for ("which dentist did …"), and which of the things found are known to be one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semgraph.asking.edges import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.asking.edges import Edge, Edges
    from semgraph.model import Entity, Literal

__all__ = ["KIND", "Sorted", "sorted_out"]

#: A noun between "which" and the verb: the kind of what is asked for.
KIND: Final = re.compile(
    r"(?:(?:in|at|from|to|on|by|for|with) )?(?:which|what) (?P<kind>[^\W\d_]+) "
    r"(?:did|does|do|has|have|had|was|were|is|are|will|can)\b",
    re.IGNORECASE,
)
_TYPED: Final = frozenset({"is_a", "instance_of", "type"})


class Sorted(NamedTuple):
    """Edges that may lead to a thing of the kind: whether some are known to, and whether all that were found are."""

    edges: list[Edge]
    some: bool
    whole: bool


def sorted_out(found: Sequence[Edge], kind: str, edges: Edges) -> Sorted:
    """The edges that lead to something of a kind, or to what may be one; all of them where none is known to.

    What is said to be of another kind only gives way to what is of this one: a capital may be a city for all that.
    """
    wanted = set(stems(kind))
    types = [_types(edge.far, edges) for edge in found]
    fits = [wanted <= own for own in types]
    kept = [edge for edge, fit, own in zip(found, fits, types, strict=True) if fit or not own or not any(fits)]
    return Sorted(kept, any(fits), all(fits))


def _types(thing: Entity | Literal, edges: Edges) -> set[str]:
    """The words of what a thing is said to be."""
    told = [edge.far.label for edge in edges.around(thing) if edge.active and edge.predicate in _TYPED]
    return {stem for label in told for stem in stems(label)}
