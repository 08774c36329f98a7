"""Pages of a library in the store, so that the next process need not read every claim again.

A page holds what was taken in of the claims recorded between two moments. Small pages that lie beside new documents
are written anew with them, so that there are few (O'Neil et al. 1996, "The Log-Structured Merge-Tree"). Whoever forgets
a claim removes the pages of its time; they are derived, and what is missing is read from the claims.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from semgraph.embedding.static import FORMER
from semgraph.errors import StoreError
from semgraph.index import feed
from semgraph.index.pages import packed
from semgraph.recall.library import Library, Run
from semgraph.store.schema import PageRow

if TYPE_CHECKING:
    from semgraph.session import Session

__all__ = ["shelve"]

_WORTH: Final = 2048  # documents: fewer are read from their claims in no time


def shelve(session: Session) -> None:
    """Keep what was taken in of the session's scope since, if it is much and the store can be written at once."""
    library, store = session.libraries.get(session.scope), session.store
    if not isinstance(library, Library) or store.read_only or store.revision() is None:
        return
    chosen = _chosen(library.runs)
    if chosen is None:
        return
    with suppress(StoreError), store.write(wait=False):
        row = store.scope(session.scope)
        if row is None or row.scope != library.scope or feed.epoch(row.feed) != library.epoch:
            return
        first, last = chosen
        runs = library.runs[first:last]
        kept = {run.since: run.until for run in library.runs if run.kept}
        if dict(store.tuples(PageRow, row.scope, ("since", "until"), model=library.model)) != kept:
            return  # another process was quicker
        whole = Run(runs[0].first, runs[-1].last, runs[0].since, runs[-1].until, kept=True)
        arrays = library.text.page(whole.first, whole.last) | library.tellings.page(whole.first, whole.last)
        if library.sums is not None:
            arrays |= library.sums.page(whole.first, whole.last)
        store.delete(PageRow, row.scope, model=library.model, since=[run.since for run in runs])
        store.delete(PageRow, row.scope, model=FORMER)
        store.insert([PageRow(row.scope, library.model, whole.since, whole.until, packed(arrays))])
        library.runs[first:last] = [whole]


def _chosen(runs: list[Run]) -> tuple[int, int] | None:
    """Which runs the next page is made of: the last ones that no page has, and smaller pages around them."""
    loose = [at for at, run in enumerate(runs) if not run.kept]
    if not loose:
        return None
    first = last = loose[-1]
    while first and not runs[first - 1].kept:
        first -= 1
    last += 1
    if runs[last - 1].last - runs[first].first < _WORTH:
        return None
    while first and _size(runs[first - 1]) < 2 * (runs[last - 1].last - runs[first].first):
        first -= 1
    while last < len(runs) and _size(runs[last]) < 2 * (runs[last - 1].last - runs[first].first):
        last += 1
    return first, last


def _size(run: Run) -> int:
    return run.last - run.first
