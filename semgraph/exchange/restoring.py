"""An export into an empty scope: every row as it was, and the facts computed anew from them, at every epoch."""

from __future__ import annotations

from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, Protocol

from semgraph.exchange.rows import EXPORTED
from semgraph.index.feed import started_afresh
from semgraph.model import Batch, Outcome
from semgraph.store.schema import RejectedRow, TombstoneRow
from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.rows import Header
    from semgraph.ledger import Fluent, Ledger
    from semgraph.store.protocol import Store
    from semgraph.store.schema import Row

__all__ = ["restore"]

#: What may stand in a scope that counts as empty: marks of what is gone, and of what never came in.
_TRACES: Final = (TombstoneRow, RejectedRow)
_ROWS: Final = 1000  # stored at a time
_FLUENTS: Final = 500  # whose claims are read at a time


class Rows(Protocol):
    """The rows of a scope in the order of an export, with what its header says."""

    @property
    def header(self) -> Header:
        """How many rows of each table, the clock, the counter of entities."""

    def rows(self, scope: int) -> Iterator[Row]:
        """Every row, as one of the scope."""


def restore(kg: KnowledgeGraph, export: Rows) -> Batch | None:
    """What restoring did, or None if the scope is not empty (then nothing was read)."""
    session = kg._session  # noqa: SLF001 - restoring is about rows, and only the session leads to them
    store, ledger = session.store, session.ledger
    with store.write():
        row = store.scope(session.scope) or store.create_scope(session.scope)
        try:
            with session.read():  # the ledger learns the scope's number
                if not _is_empty(store, row.scope):
                    return None
                before = store.select(RejectedRow, row.scope)
                store.delete(RejectedRow, row.scope)
                _insert(store, export.rows(row.scope))
                _append_rejections(store, row.scope, before)
                ledger.forget_records()
                ledger.begin()
                _compute(ledger)
                store.update_scope(
                    row._replace(
                        last_recorded=max(row.last_recorded, export.header.last_recorded or NEG_INF),
                        entities=max(row.entities, export.header.entities),
                        feed=started_afresh(row.feed, row.last_recorded),
                    )
                )
        except BaseException:
            ledger.forget_records()
            raise
    return Batch({Outcome.NEW.value: export.header.counts["claim"]})


def _is_empty(store: Store, scope: int) -> bool:
    return not any(store.select(table, scope, limit=1) for table in EXPORTED if table not in _TRACES)


def _insert(store: Store, rows: Iterable[Row]) -> None:
    for table, group in groupby(rows, type):
        left = iter(group)
        while chunk := list(islice(left, _ROWS)):
            store.insert(chunk, replace=table is TombstoneRow)


def _append_rejections(store: Store, scope: int, before: list[RejectedRow]) -> None:
    """What the scope itself had refused comes after what the export tells."""
    told = store.select(RejectedRow, scope)
    known = {row[2:] for row in told}  # all but the scope and the number
    following = max((row.number for row in told), default=0) + 1
    own = [row for row in before if row[2:] not in known]
    store.insert([row._replace(number=number) for number, row in enumerate(own, following)])


def _compute(ledger: Ledger) -> None:
    """Every row of facts, present and past, that the claims must have left."""
    for groups in _chunks(_components(ledger)):
        ledger.prefetch({fluent for group in groups for fluent in group})
        for together in ledger.together(groups):
            for group, made in zip(together, ledger.expected_of(together), strict=True):
                subjects = {subject for subject, _ in group}
                for rows in made:
                    own = [row for row in rows if row.subject in subjects]
                    ledger.store.insert(own, replace=True)


def _components(ledger: Ledger) -> Iterator[set[Fluent]]:
    """All fluents; those of entities that were ever merged come together."""
    classes = ledger.merge_classes()
    seen: set[Fluent] = set()
    for subject, predicate in sorted(ledger.all_fluents()):
        if (subject, predicate) not in seen:
            group = {(member, predicate) for member in classes.get(subject, (subject,))}
            seen |= group
            yield group


def _chunks(groups: Iterable[set[Fluent]]) -> Iterator[list[set[Fluent]]]:
    left = iter(groups)
    while chunk := list(islice(left, _FLUENTS)):
        yield chunk
