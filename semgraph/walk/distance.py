"""How far one entity is from another: the length of a shortest path, without the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.errors import BudgetExceeded
from semgraph.walk.edges import Edges
from semgraph.walk.hops import at_hand, present
from semgraph.walk.routes import MAX_CUTOFF, Asked, learn_ends, sought, taken_from

if TYPE_CHECKING:
    from semgraph.reader import Reader
    from semgraph.session import Session
    from semgraph.walk.cut import Cut
    from semgraph.walk.routes import Name, Routes

__all__ = ["UNTOLD", "distance", "quick_distance"]

UNTOLD = -1  # what is in memory does not tell


def distance(reader: Reader, cut: Cut, names: tuple[Name, Name], valid_at: int | None, routes: Routes) -> int | None:
    """How many steps the shortest of the paths take; None where there is none of at most `cutoff`."""
    source, target = (reader.directory.known(name, reader.snapshot, valid_at) for name in names)
    if source == target:
        return 0
    asked = Asked.of(cut, source, target, routes._replace(limit=0))
    edges, found = sought(reader, asked, routes)
    learn_ends(reader, names, (source, target))
    if not isinstance(edges, Edges) and asked.mode == "snapshot":
        return edges.length(source, target, asked.longest)
    taken, truncated = found or taken_from(edges, asked)
    if edges.truncated or (truncated and not taken):
        raise BudgetExceeded("too many facts lie between the two to be looked at: lower `cutoff` or name `predicates`")
    return len(taken[0].nodes) - 1 if taken else None


def quick_distance(
    session: Session, cut: Cut | None, source: Name, target: Name, known_at: int, routes: Routes
) -> int | None:
    """The same at an instant without a transaction; UNTOLD where something has to be read from the store."""
    index = session.indexes.get(session.scope)
    if index is None or index.columns is None or routes.mode != "snapshot":
        return UNTOLD
    from semgraph.index.meeting import shortest_length

    revision = session.store.revision()
    with index.lock:
        quick = at_hand(index, revision, known_at)
        if quick is None:
            return UNTOLD
        near, far, chosen = quick.node(session, source), quick.node(session, target), quick.chosen(*routes[3:])
        if near is None or far is None or chosen is None or min(near, far) < 0:
            return UNTOLD
        steps = quick.steps(cut or present(session, index.known), chosen)
        return shortest_length(steps, near, far, min(routes.cutoff, MAX_CUTOFF))
