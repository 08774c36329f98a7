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
from semgraph.writing import Admitted, Writer, rejected_receipt

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
        stored = self.ledger.fetch([*(row.id for row in told), *(row.id for row in made.values())])
        made = self._allowed(made, stored)
        ids = {old: old if old in stored and self.source is None else row.id for old, row in made.items()}
        retracted = self._retract(tables[RetractionRow], ids, stored)
        grounds = _grounds(tables[JustificationRow], ids)
        admitted: list[Admitted] = []
        justifications: list[JustificationRow] = []
        for old, row in made.items():
            found = stored.get(ids[old])
            if found is None:
                stored[row.id] = row
                rows = self._justified(row, grounds.get(old, []))
                admitted.append(Admitted(row))
            else:
                rows = self.writer.more_justifications(found, grounds.get(old, []))
                admitted.append(Admitted(found, fresh=False, justified=bool(rows)))
            justifications += rows
        written = self.writer.store(admitted, justifications)
        counts = Counter(self.writer.outcome(written, index)[0].value for index in range(len(admitted)))
        if self.refused:
            counts[Outcome.REJECTED.value] = len(self.refused)
        return Batch(dict(sorted(counts.items())), tuple(self.refused), retracted=retracted)

    def _made(self, told: Iterable[ClaimRow]) -> dict[str, ClaimRow]:
        """Each claim as it would be stored here, by its id in the file; the refused ones are left out."""
        found = {}
        for row in told:
            try:
                found[row.id] = self._here(row)
            except RejectedError as error:
                self._refuse(row, error)
        return found

    def _here(self, row: ClaimRow) -> ClaimRow:
        if row.said_at > self.recorded_at + MAX_SKEW:
            raise RejectedError("clock_skew", f"said_at ({exact(row.said_at)}) lies more than five minutes after now")
        ref = f"e{self._place(int(row.object[1:]), row.object_text)}" if row.object.startswith("e") else row.object
        row = row._replace(
            scope=self.ledger.scope,
            subject=self._place(row.subject, row.subject_text),
            object=ref,
            told=1,
            recorded_at=self.recorded_at,
        )
        row = self._as_registered(self._attributed(row))
        number = identity(self._said(row), self.session.directory, self.session.scope, self.recorded_at)
        return row._replace(id=number)

    def _allowed(self, made: Mapping[str, ClaimRow], stored: Collection[str]) -> dict[str, ClaimRow]:
        """Without what somebody asked never to store, unless it was stored before that."""
        found = {}
        for old, row in made.items():
            try:
                if old not in stored and row.id not in stored:
                    remembering.check_vetoes(self.session, self._said(row))
                found[old] = row
            except RejectedError as error:
                self._refuse(row, error)
        return found

    def _place(self, number: int, text: str) -> int:
        place = self.places[number]
        if place is None:
            raise RejectedError(
                "ambiguous_entity",
                f"{text!r} can't be told from other entities of that name here; give each a name of its own with "
                "names.alias, and read the file again",
            )
        return place

    def _attributed(self, row: ClaimRow) -> ClaimRow:
        """The claim as told by the source that was given; nobody is trusted more for being passed on."""
        if self.source is None:
            return row
        trust = min(row.confidence, SEED_CONFIDENCE[source_class(self.source)])
        return row._replace(source=self.source, confidence=trust)

    def _as_registered(self, row: ClaimRow) -> ClaimRow:
        """The claim under the name by which the predicate is stored here."""
        resolved = self.ledger.registry().resolve(row.predicate)
        row = row._replace(predicate=resolved.predicate.name)
        if resolved.inverse:
            if not row.object.startswith("e"):
                raise RejectedError("object_required", f"{row.predicate!r} needs an entity at each end")
            row = row._replace(
                subject=int(row.object[1:]),
                subject_text=row.object_text,
                object=f"e{row.subject}",
                object_text=row.subject_text,
            )
        if resolved.flipped and row.kind not in {"deny", "correct"}:
            row = row._replace(negative=1 - row.negative)
        if resolved.flipped:
            row = row._replace(opposed=1 - row.opposed)
        if resolved.predicate.irreflexive and row.object == f"e{row.subject}":
            raise RejectedError("bad_predicate", f"nothing can be {row.predicate!r} of itself ({row.subject_text!r})")
        return row

    def _said(self, row: ClaimRow) -> Said:
        """The claim in the words from which its id is made."""
        entity = row.object.startswith("e")
        thing = Thing(ref=row.object, text=row.object_text, type=row.object_type)
        return Said(
            subject=self._name(row.subject, row.subject_text),
            predicate=self.ledger.registry().entry(row.predicate),
            thing=Thing(entity=self._name(int(row.object[1:]), row.object_text)) if entity else thing,
            negative=bool(row.negative),
            opposed=bool(row.opposed),
            kind=row.kind,
            valid_from=None if row.valid_from is None else Bound.from_stored(row.valid_from, row.valid_from_text),
            valid_to=None if row.valid_to is None else Bound.from_stored(row.valid_to, row.valid_to_text),
            said_at=exact(row.said_at),
            source=row.source,
            source_ref=row.source_ref,
            confidence=row.confidence,
            qualifiers=row.qualifiers,
            text=row.text,
        )

    def _name(self, number: int, text: str) -> str | Entity:
        """The name as written; the entity itself where several of the file bear the name."""
        return Entity(public_id(number), text) if entity_key(text) in self.shared else text

    def _retract(self, marks: Iterable[RetractionRow], ids: Mapping[str, str], stored: Mapping[str, ClaimRow]) -> int:
        """Withdraw what the file withdraws, unless a mark here has settled it; how many claims that were."""
        store, scope = self.session.store, self.ledger.scope
        reasons = {ids[m.claim]: m.reason for m in marks if m.ended_at == POS_INF and m.claim in ids}
        settled = {row.claim for row in store.select(RetractionRow, scope, claim=sorted(reasons))}
        fresh = {claim: reason for claim, reason in reasons.items() if claim not in settled}
        here = [stored[claim] for claim in fresh if claim in stored]
        touched = self.ledger.touched(here)
        store.insert([RetractionRow(scope, claim, self.recorded_at, POS_INF, fresh[claim]) for claim in sorted(fresh)])
        self.ledger.forget_records()
        self.ledger.refold(self.ledger.touched(here) | touched, self.recorded_at)
        return len(fresh)

    def _justified(self, row: ClaimRow, groups: Iterable[Iterable[str]]) -> list[JustificationRow]:
        return [
            JustificationRow(self.ledger.scope, row.id, number, premise, self.recorded_at)
            for number, group in enumerate(groups)
            for premise in group
        ]

    def _refuse(self, row: ClaimRow, error: RejectedError) -> None:
        """Keep a refusal in the log, once however often the file is read."""
        content = {"claim": row.id}
        self.refused.append(rejected_receipt(error, self.recorded_at))
        log = self.session.store.select(RejectedRow, self.ledger.scope, code=error.code)
        silent = sum(kept.content is None for kept in log)  # where not even the id may be kept, their number must do
        if any(kept.content is not None and json.loads(kept.content) == content for kept in log):
            return
        if silent and silent >= sum(refused.code == error.code for refused in self.refused):
            return
        self.writer.keep_rejection(error.code, error.reason, content)


def _grounds(rows: Iterable[JustificationRow], ids: Mapping[str, str]) -> dict[str, list[list[str]]]:
    """The justifications of each claim of the file, their premises by the ids that they have here."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row.claim][row.justification].append(ids.get(row.premise, row.premise))
    return {claim: [groups[number] for number in sorted(groups)] for claim, groups in found.items()}
