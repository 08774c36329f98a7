"""Corrections, settlements and retractions: what holds is read, claims are written, one receipt is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semgraph import audit, choosing, resolution
from semgraph.gate import check_note
from semgraph.model import Outcome, Receipt
from semgraph.reader import Reader
from semgraph.store.schema import CompatRow, RetractionRow
from semgraph.temporal import POS_INF, exact
from semgraph.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.model import ConflictSet, Entity
    from semgraph.session import Session
    from semgraph.statement import Said
    from semgraph.store.schema import FactRow
    from semgraph.writing import Written

    Name = str | Entity

__all__ = ["correct", "mark", "settle"]


def correct(writer: Writer, rows: Sequence[FactRow], said: Said, wrong: resolution.Spoken, shown: str) -> Receipt:
    """The receipt of a correction of the segments that hold; RejectedError, which shows the edge, if there are none."""
    if not rows:
        raise resolution.nothing_to_correct(shown)
    reader = writer.reader()
    if any(resolution.same_edge(reader, row, said) for row in rows):
        return Receipt(Outcome.IDEMPOTENT, why="it says what holds there: nothing to correct")
    told = [one for row in rows for one in resolution.correction(reader, row, said, wrong)]
    return _summed(writer, writer.write([(one, None) for one in told]), Outcome.UPDATE)


def settle(
    session: Session,
    named: tuple[Name | None, str | None],
    choice: str,
    object: object,
    conflict: ConflictSet | str | None,
    valid_at: int | None,
    qualifiers: Mapping[str, Any] | None,
    reason: str | None,
    *,
    source: str = "user",
) -> Receipt:
    """The receipt of a settlement in the name of a source; idempotent where there is nothing to settle."""
    check_note(reason, "reason")
    with session.write() as recorded_at:
        writer = Writer(session, recorded_at)
        reader = writer.reader()
        instant = max(session.now(), recorded_at) if valid_at is None else valid_at
        chosen = object if choice == "choose" else None
        if conflict is None:
            meant = choosing.named(reader, *named, chosen, instant, qualifiers)
        else:
            meant = choosing.given(reader, conflict, chosen)
        if isinstance(meant, str):
            return Receipt(Outcome.IDEMPOTENT, why=meant)
        found, winner = meant
        if not found.since.instant <= instant < (POS_INF if found.until is None else found.until.instant):
            instant = found.since.instant
        if choice == "keep_both":
            return _keep_both(writer, reader, found)
        told = resolution.settlement(reader, found, choice, winner, instant, source)
        if not told:
            return Receipt(Outcome.IDEMPOTENT, why="the value is not one of those in conflict: nothing changes")
        told = [one if reason is None else replace(one, text=reason) for one in told]
        return _summed(writer, writer.write([(one, None) for one in told]), Outcome.UPDATE)


def mark(session: Session, target: object, reason: str | None, *, withdraw: bool) -> Receipt:
    """The receipt of a retraction, or of its undoing."""
    check_note(reason, "reason")
    with session.write() as recorded_at:
        ledger = session.ledger
        snapshot = ledger.at()
        rows = audit.claims_of(Reader(session, snapshot), target)
        rows = [row for row in rows if snapshot.visible(row) == withdraw]
        if not rows:
            return Receipt(Outcome.IDEMPOTENT, why="nothing changes: it was so already")
        touched = ledger.touched(rows)
        for row in rows:
            if withdraw:
                ledger.store.insert([RetractionRow(ledger.scope, row.id, recorded_at, POS_INF, reason)], replace=True)
            else:
                ledger.store.update(
                    RetractionRow, ledger.scope, {"ended_at": recorded_at}, claim=row.id, ended_at=POS_INF
                )
        ledger.forget_records()
        changes = ledger.refold(ledger.touched(rows) | touched, recorded_at)
        return audit.mark_receipt(Writer(session, recorded_at), rows, changes)


def _summed(writer: Writer, written: Written, outcome: Outcome) -> Receipt:
    """One receipt for the several claims of a correction or a settlement."""
    parts = [writer.receipt(written, i) for i in range(len(written.admitted))]
    if not any(one.fresh for one in written.admitted):
        outcome = Outcome.IDEMPOTENT
    return Receipt(
        outcome,
        why="; ".join(dict.fromkeys(part.why for part in parts if part.why)),
        claims=tuple(claim for part in parts for claim in part.claims),
        facts=tuple({fact.id: fact for part in parts for fact in part.facts}.values()),
        closed=tuple(writer.closed(written)),
        conflict=next((part.conflict for part in parts if part.conflict is not None), None),
        recorded_at=exact(written.recorded_at),
    )


def _keep_both(writer: Writer, reader: Reader, found: ConflictSet) -> Receipt:
    ledger = writer.ledger
    if found.subject is None:
        return Receipt(Outcome.IDEMPOTENT, why="a unique object has one subject: keep_both changes nothing")
    rows = list(reader.by_id(fact.id for fact in found.facts).values())
    subject = reader.directory.number(found.subject)
    pairs = resolution.compatible_pairs(found, reader.snapshot, rows)
    if not pairs:
        why = "a value and its own negation can't both hold: choose one of them, or say both wrong"
        return Receipt(Outcome.IDEMPOTENT, why=why)
    known = {(r.a, r.b) for r in ledger.records.compat if (r.subject, r.predicate) == (subject, found.predicate)}
    fresh = [
        CompatRow(ledger.scope, subject, found.predicate, a, b, writer.recorded_at)
        for a, b in pairs
        if (a, b) not in known
    ]
    if not fresh:
        return Receipt(Outcome.IDEMPOTENT, why="nothing changes: they are kept side by side already")
    ledger.store.insert(fresh)
    ledger.forget_records()
    ledger.refold(ledger.around({(subject, found.predicate)}), writer.recorded_at)
    why = "the values are kept side by side from now on"
    if not ledger.registry().entry(found.predicate).registered:
        why += f"; predicates.define({found.predicate!r}, cardinality='many') says so for every subject"
    return Receipt(Outcome.UPDATE, why=why, recorded_at=exact(writer.recorded_at))
