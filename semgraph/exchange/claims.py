"""The claims of an export told to another scope: the same words at the same said time, recorded now."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from semgraph import remembering
from semgraph.directory import public_id
from semgraph.errors import RejectedError
from semgraph.gate import SEED_CONFIDENCE, check_source, source_class
from semgraph.model import Batch, Entity, Outcome
from semgraph.names import entity_key
from semgraph.statement import MAX_SKEW, Said, Thing, identity
from semgraph.store.schema import ClaimRow, JustificationRow, RejectedRow, RetractionRow
from semgraph.temporal import POS_INF, Bound, exact
from semgraph.writing import Writer, rejected_receipt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from semgraph.model import Receipt
    from semgraph.session import Session
    from semgraph.store.schema import Row

__all__ = ["Claims"]


class Claims:
    """The claims of one file on their way into one scope, inside a write transaction."""

    def __init__(
        self,
        session: Session,
        recorded_at: int,
        places: Mapping[int, int | None],
        shared: Collection[str],
        source: str | None,
    ) -> None:
        self.session = session
        self.ledger = session.ledger
        self.recorded_at = recorded_at
        self.places = places
        self.shared = shared
        self.source = None if source is None else check_source(source)
        self.writer = Writer(session, recorded_at)
        self.refused: list[Receipt] = []

    def take(self, tables: Mapping[type[Row], list[Any]]) -> Batch:
        """What became of them all, as one set."""
        told = sorted(tables[ClaimRow], key=lambda row: (row.recorded_at, row.id))
        made = self._made(told)
        have = self.ledger.fetch([*(row.id for row in told), *(row.id for row in made.values())])
        ids = {old: old if old in have and self.source is None else row.id for old, row in made.items()}
        fresh = {ids[old]: row for old, row in made.items() if ids[old] not in have}
        retracted = self._retract(tables[RetractionRow], ids, fresh)
        grounds = self._grounds(tables[JustificationRow], ids)
        admitted, justifications = [], []
        for old in made:
            number = ids[old]
            row = fresh.pop(number, None)
            because = grounds.get(old, [])
            if row is None:
                found = have.get(number) or made[old]
                one, rows = self._again(found, because)
            else:
                have[number] = row
                one, rows = self.writer.admitted(row), self._justified(row, because)
            admitted.append(one)
            justifications += rows
        written = self.writer.store(admitted, justifications)
        counts = Counter(self.writer.outcome(written, index)[0].value for index in range(len(admitted)))
        if self.refused:
            counts[Outcome.REJECTED.value] = len(self.refused)
        return Batch(dict(sorted(counts.items())), tuple(self.refused), retracted=retracted)
