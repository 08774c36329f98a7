"""One write, start to finish: admit claims, re-fold what they touch, and say in a receipt what happened and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from semgraph import factrow
from semgraph.belief import Belief
from semgraph.effects import Admitted, Effect, Key, Written, key_of
from semgraph.errors import InputError, RejectedError
from semgraph.gate import source_class
from semgraph.model import Outcome, Receipt
from semgraph.reader import Reader, Reading
from semgraph.receipts import Kept, LateReceipt, why
from semgraph.statement import row_of
from semgraph.store.schema import JustificationRow, RejectedRow, RetractionRow
from semgraph.temporal import POS_INF, exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semgraph.directory import Directory
    from semgraph.effects import Trace
    from semgraph.holdings import Fluent
    from semgraph.ledger import Change, Ledger
    from semgraph.model import ConflictSet, Fact
    from semgraph.session import Session
    from semgraph.statement import Said
    from semgraph.store.schema import ClaimRow, FactRow

__all__ = ["Admitted", "Writer", "Written", "premises_of", "rejected_receipt"]

_SHOWN = 16  # facts that a receipt may make later
_MANY = 100  # claims that are worth a look at the whole scope


class Writer:
    """Writes of one session; every method runs inside a write transaction."""

    def __init__(self, session: Session, recorded_at: int) -> None:
        self.session = session
        self.recorded_at = recorded_at
        self.ledger: Ledger = session.ledger
        self.directory: Directory = session.directory
        self._now = self.reader()  # of the latest write, for what receipts look up

    def reader(self) -> Reader:
        """Reads of what the transaction has made so far."""
        return Reader(self.session, self.ledger.at())

    # -- admitting

    def admit(
        self, said: Said, because: Sequence[Sequence[str]] | None = None, *, known: str | None = None
    ) -> tuple[Admitted, list[JustificationRow]]:
        """The row of a claim, not stored yet, with its justifications; RejectedError if a name or time is wrong.

        `known` is the id of the claim, where it was computed before.
        """
        row = row_of(said, self.directory, self.session.scope, self.recorded_at, known=known)
        timed = said.said_at is None and said.source_ref is None  # then its moment is part of its id
        old = self.ledger.claim_of_now(row.id) if timed else self.ledger.claim(row.id)
        if old is not None:
            extra = self.more_justifications(old, because)
            return Admitted(old, fresh=False, justified=bool(extra)), extra
        if because:
            row = row._replace(confidence=self._derived_confidence(row, because, given=said.confidence))
        rows = [
            JustificationRow(self.ledger.scope, row.id, n, premise, self.recorded_at)
            for n, group in enumerate(because or ())
            for premise in group
        ]
        return Admitted(row), rows

    def more_justifications(self, old: ClaimRow, because: Sequence[Sequence[str]] | None) -> list[JustificationRow]:
        """The rows that a stored claim gains when it is told again for these reasons; none if it has them."""
        known = self.ledger.justification_rows(old.id)
        groups: dict[int, set[str]] = {}
        for row in known:
            groups.setdefault(row.justification, set()).add(row.premise)
        have = list(groups.values()) or [{""}]
        rows: list[JustificationRow] = []
        if because and not known:  # it stood by itself before it was justified
            rows.append(JustificationRow(self.ledger.scope, old.id, 0, "", old.recorded_at))
        number = max(groups, default=0)
        fresh = False
        for group in because or ([""],):
            if set(group) not in have:
                number, fresh = number + 1, True
                rows += [JustificationRow(self.ledger.scope, old.id, number, p, self.recorded_at) for p in group]
        return rows if fresh else []

    def _derived_confidence(self, row: ClaimRow, because: Sequence[Sequence[str]], given: float | None) -> float:
        """At birth at most .60 * .8^(depth - 1) and the weakest premise of the best justification."""
        if source_class(row.source) != "inferred":
            return row.confidence
        depth = 1 + max((self._depth(p) for group in because for p in group), default=0)
        weakest = []
        for group in because:
            premises = self.ledger.fetch(group)
            weakest.append(min((p.confidence for p in premises.values()), default=1.0))
        start = row.confidence if given is not None else min(row.confidence, 0.5)
        return round(min(start, 0.6 * 0.8 ** (depth - 1), max(weakest, default=1.0)), 12)

    def _depth(self, claim: str) -> int:
        """The longest chain of inferred claims that ends in this one."""
        longest: dict[str, int] = {}
        stack = [(claim, False)]
        while stack:
            current, done = stack.pop()
            row = self.ledger.claim(current)
            if row is None or source_class(row.source) != "inferred":
                longest[current] = 0
                continue
            premises = [j.premise for j in self.ledger.justification_rows(current) if j.premise]
            if done:
                longest[current] = 1 + max((longest.get(p, 0) for p in premises), default=0)
            elif current not in longest:
                longest[current] = 0  # a premise that leads back here adds nothing
                stack.append((current, True))
                stack += [(p, False) for p in premises if p not in longest]
        return longest.get(claim, 0)

    # -- writing

    def write(self, batch: Sequence[tuple[Said, Sequence[Sequence[str]] | None]]) -> Written:
        """Store claims as one set and re-fold what they touch."""
        admitted: list[Admitted] = []
        justifications: list[JustificationRow] = []
        seen: dict[str, Admitted] = {}
        for said, because in batch:
            one, rows = self.admit(said, because)
            if one.fresh and one.row.id in seen:
                one = Admitted(one.row, fresh=False)
                rows = []
            seen.setdefault(one.row.id, one)
            admitted.append(one)
            justifications += rows
        return self.store(admitted, justifications)

    def store(
        self,
        admitted: list[Admitted],
        justifications: Sequence[JustificationRow],
        *,
        withdrawn: Sequence[ClaimRow] = (),
        brief: bool = False,
        told: Sequence[Fluent] = (),
    ) -> Written:
        """The second half of `write`: everything is checked, now keep it, and what is `withdrawn` with it.

        `brief` where no receipt will be asked for: rows that decide no outcome are then not traced. `told` are fluents
        of which other claims of the batch are stored, with their facts.
        """
        self.directory.flush()
        fresh = [one.row for one in admitted if one.fresh]
        touching = [one.row for one in admitted if one.fresh or one.justified]
        trace: Trace = {row.id: [] for row in fresh}
        if fresh:
            self.ledger.add_claims(fresh, justifications)
        else:
            self.ledger.add_justifications(justifications)
        touched = self._withdraw(withdrawn)
        changes: list[Change] = []
        if brief and not touched and len(touching) > _MANY:
            changes, touching = self.ledger.take_occurrences(touching, self.recorded_at)
        if not touched:
            followed, touching = self.ledger.follow(touching, self.recorded_at, trace=trace)
            changes += followed
        if touching or touched:
            touched |= self.ledger.touched(touching)
            changes += self.ledger.refold(touched, self.recorded_at, trace=trace, brief=brief)
        self.ledger.note_told(told)
        changes.sort(key=lambda change: change.fact)
        return self.finish(admitted, changes, trace)

    def _withdraw(self, rows: Sequence[ClaimRow]) -> set[Fluent]:
        """The fluents that claims no longer said by their source had touched; they are marked as retracted."""
        if not rows:
            return set()
        touched, reason = self.ledger.touched(rows), "no longer said by its source"
        marks = [RetractionRow(self.ledger.scope, r.id, self.recorded_at, POS_INF, reason) for r in rows]
        self.ledger.store.insert(marks, replace=True)
        self.ledger.forget_records()
        return touched | self.ledger.touched(rows)

    def finish(self, admitted: list[Admitted], changes: list[Change], trace: Trace) -> Written:
        """A write with what it changed."""
        self._now = self.reader()
        return Written(admitted, changes, trace, self.recorded_at)

    # -- receipts

    def receipt(self, written: Written, index: int) -> Receipt:
        """What became of one claim of a write, with its facts and what it closed."""
        one = written.admitted[index]
        outcome, widened = self.outcome(written, index)
        now = (
            self.session.now()
            if self.session.last_recorded >= self.recorded_at
            else max(self.session.wall(), self.recorded_at)
        )
        rows = self._rows_of(written, one.row)
        held = [Reading(r, b, r.predicate, turned=False, flipped=False) for r, b in rows]
        ended = self._closed(written, one.row)
        if one.fresh and len(written.admitted) == 1 and self._simple([*held, *ended]):
            kept = self._kept(written, outcome, (held, ended), now)
            return LateReceipt(outcome, kept, exact(self.recorded_at), widened=widened)
        reader = self.reader()
        facts, closed = reader.facts(held, now), reader.facts(ended, None)
        conflict = self._conflict(reader, rows) if outcome not in (Outcome.IDEMPOTENT, Outcome.SUPPRESSED) else None
        return Receipt(
            outcome=outcome,
            why=why(written, one, outcome, registered=self._registered(one.row)),
            claims=(reader.claim(one.row),),
            facts=tuple(facts),
            closed=tuple(closed),
            conflict=conflict,
            widened=widened,
            recorded_at=exact(one.row.recorded_at if outcome is Outcome.IDEMPOTENT else self.recorded_at),
        )

    def _simple(self, readings: Sequence[Reading]) -> bool:
        """Whether all that a receipt says of these facts is at hand, as few have no rivals and no premises."""
        few = len(readings) <= _SHOWN and not self.ledger.records.justified
        return few and not any(r.row.disputed or r.body.rivals for r in readings)

    def _kept(self, written: Written, outcome: Outcome, shown: tuple[list[Reading], list[Reading]], now: int) -> Kept:
        """The claims and names that the facts shown are told with."""
        readings = [*shown[0], *shown[1]]
        claims = self.ledger.fetch(c for r in readings for c in (*r.body.claims, *r.body.absorbed))
        told = [written.admitted[0].row, *claims.values()]
        ends = {(row.subject, row.object) for row in told} | {(r.row.subject, r.row.object) for r in readings}
        names = {subject for subject, _ in ends} | {int(ref[1:]) for _, ref in ends if ref.startswith("e")}
        marks = self.ledger.records.retractions
        return Kept(written, outcome, shown, claims, self.directory.names_of(names), marks, self.ledger.at(), now)

    def _registered(self, row: ClaimRow) -> bool:
        return self.ledger.at().predicate(row.predicate).registered

    def outcome(self, written: Written, index: int) -> tuple[Outcome, bool]:
        """The outcome of one claim of a write, and whether it widened a fact that was there."""
        one = written.admitted[index]
        row = one.row
        if not one.fresh:
            return (Outcome.DUPLICATE if one.justified else Outcome.IDEMPOTENT), False
        if row.kind in ("deny", "correct") or (row.opposed and row.kind == "end"):
            return self._taken_back(written, row), False
        held = written.supported_by(row.id)
        met = {r for r, *_ in written.trace.get(row.id, ())}
        if row.kind == "end":
            if not held and (10 in met or Belief(self.ledger.at()).suppressed(row)):
                return Outcome.SUPPRESSED, False
            return (Outcome.CONFLICT if met & {11, 14} else Outcome.ENDED), False
        if not held:
            return (Outcome.DUPLICATE if written.absorbing(row.id) else Outcome.SUPPRESSED), False
        return self._standing(written, index, held, met)

    def _standing(self, written: Written, index: int, held: list[Effect], met: set[float]) -> tuple[Outcome, bool]:
        """The outcome of a claim that holds somewhere."""
        row = written.admitted[index].row
        bodies = [e.after for e in held if e.after is not None]
        rows = [e.change.after for e in held if e.change.after is not None]
        if not met and len(bodies) == 1 and self._new_alone(bodies[0], row, rows[0]):
            return Outcome.NEW, False
        unknown = all(body.basis == "unknown" for body in bodies)
        place = written.places.get
        repeated = any(c != row.id and place(c, -1) <= index for body in bodies for c in body.claims)
        if unknown:
            repeated = repeated or self._value_known(row, rows[0])
        keys = {key_of(found) for found in rows}
        if repeated and 4 in met:
            return Outcome.DUPLICATE, written.widened(keys)
        if self._disagrees(written, held, keys, repeated=repeated):
            return Outcome.CONFLICT, repeated and written.widened(keys)
        if repeated and not met & {12, 13}:
            return Outcome.DUPLICATE, written.widened(keys)
        if not met & {6, 9, 12, 13} and self._closed(written, row):
            return Outcome.UPDATE, False  # row A: what began meanwhile ends where the claim was said
        for found, outcome in ((13, Outcome.SPLIT), (12, Outcome.UPDATE), (9, Outcome.UPDATE), (6, Outcome.REFINEMENT)):
            if found in met:
                return outcome, False
        if not unknown and self._before_later_facts(row, rows):
            return Outcome.HISTORY, False
        return Outcome.NEW, False

    def _disagrees(self, written: Written, held: Sequence[Effect], keys: set[Key], *, repeated: bool) -> bool:
        """Whether the facts are in conflict, for a value told before: with one that it was in none with."""
        unsure = [e.change.after for e in held if e.change.after is not None and self._unsure(e.change.after)]
        if unsure:
            return not repeated and any(self._now.body(row).rivals for row in unsure)
        known = {r[0] for b in written.bodies_before(keys) for r in b.rivals} if repeated else set()
        # A conflict that ends where one of these claims was said was ended by it (row A).
        places = [written.places.get(c) for e in held if e.after is not None for c in e.after.claims]
        said = {written.admitted[place].row.said_at for place in places if place is not None}
        rivals = {r[0] for e in held if e.after is not None for r in e.after.rivals if r[2] not in said}
        return bool(self._values_of(written, rivals, before=False) - self._values_of(written, known, before=True))

    def _unsure(self, row: FactRow) -> bool:
        """Whether nobody said how many values the fact's predicate takes, so that its rivals are looked up."""
        return bool(row.disputed) and not row.negative and not self.ledger.at().predicate(row.predicate).registered

    def _new_alone(self, body: factrow.Body, row: ClaimRow, after: FactRow) -> bool:
        """Whether the fact is this claim's alone, in a fluent where nothing can lie after it."""
        plain = body.claims == [row.id] and not after.disputed and body.basis != "unknown" and not after.separators
        return plain and self.ledger.at().predicate(row.predicate).cardinality != "one"

    def _value_known(self, row: ClaimRow, after: FactRow) -> bool:
        """Whether an earlier claim gave the value of a claim without a start."""
        fluent = self.ledger.stored({(after.subject, after.predicate)})
        return any(key_of(r) == key_of(after) and row.id not in factrow.decode(r).claims for r in fluent.values())

    def _values_of(self, written: Written, ids: set[str], *, before: bool) -> set[tuple[int, str, int]]:
        """The edges and signs of facts, as they were before the write or as they are."""
        if not ids:
            return set()
        changed = written.before if before else written.after
        found = [changed[key] for key in ids if key in changed]
        unread = {key for key in ids if key not in changed}
        rows = [*found, *self.reader().by_id(unread).values()]
        return {(r.subject, r.object, r.negative) for r in rows}

    def _before_later_facts(self, row: ClaimRow, after: list[FactRow]) -> bool:
        entry = self.ledger.at().predicate(row.predicate)
        single = entry.cardinality == "one" or any(r.separators for r in after)
        if row.negative or not single or any(r.valid_to == POS_INF for r in after):
            return False
        end = max(r.valid_to for r in after)
        fluent = self.ledger.stored({(r.subject, r.predicate) for r in after})
        return any(
            not other.negative and other.separators == after[0].separators and other.valid_from >= end
            for other in fluent.values()
        )

    def _taken_back(self, written: Written, row: ClaimRow) -> Outcome:
        """The outcome of a denial, or of an end told through an opposite: it may find nothing that it can take."""
        done = Outcome.ENDED if row.kind == "end" else Outcome.NEW
        if written.changes and (row.valid_from is None or row.kind != "deny" or self._holds_somewhere(written, row)):
            return done
        snapshot = self.ledger.at()
        fluent = (snapshot.entity(row.subject), snapshot.predicate(row.predicate).name)
        sign = int(bool(row.opposed))
        target = snapshot.resolved(row.object)
        left = [
            r
            for r in self.ledger.stored({fluent}).values()
            if r.negative == sign and (not target or target in (r.object, f"e{r.subject}"))
        ]
        readable = [r for r in left if not sign or factrow.decode(r).opposite != []]
        return Outcome.SUPPRESSED if readable else done

    def _holds_somewhere(self, written: Written, row: ClaimRow) -> bool:
        return bool(row.opposed) or bool(written.supported_by(row.id))

    def _rows_of(self, written: Written, row: ClaimRow) -> list[tuple[FactRow, factrow.Body]]:
        """The stored facts that a claim supports or is absorbed by."""
        found = [(e.change.after, e.after) for e in written.touched_by(row.id)]
        if found or row.id in written.places:
            return [(after, body) for after, body in found if after is not None and body is not None]
        snapshot = self.ledger.at()
        fluents = self.ledger.fluents_of([row], snapshot)
        decoded = [(r, factrow.decode(r)) for r in self.ledger.stored(fluents).values()]
        return [(r, b) for r, b in decoded if row.id in b.claims or row.id in b.absorbed]

    def closed(self, written: Written) -> list[Fact]:
        """Positive facts that the whole of a write ended or took away."""
        return self.reader().facts(self._shortened(written.facts, written, set(), 0), None)

    def _closed(self, written: Written, row: ClaimRow) -> list[Reading]:
        """Facts of other values that now end earlier than they did, read as the claim speaks of them."""
        sign = int(bool(row.opposed) and row.kind in ("end", "deny", "correct"))
        own = {key_of(e.change.after) for e in written.supported_by(row.id) if e.change.after is not None}
        several = len(written.places) > 1
        return self._shortened(written.ended_by(row.id) if several else written.facts, written, own, sign)

    def _shortened(self, effects: Sequence[Effect], written: Written, own: set[Key], sign: int) -> list[Reading]:
        found: list[Reading] = []
        for change, before, after in effects:
            old, new = change.before, change.after
            if old is None or before is None or old.negative != sign or before.basis == "unknown":
                continue
            key = key_of(old)
            if key in own or written.end_of(key, old.valid_from) >= old.valid_to:
                continue
            shown = (new, after) if new is not None and after is not None else (old, before)
            found.append(Reading(shown[0], shown[1], shown[0].predicate, turned=False, flipped=bool(sign)))
        return found

    def _conflict(self, reader: Reader, rows: list[tuple[FactRow, factrow.Body]]) -> ConflictSet | None:
        disputed = [row for row, _ in rows if row.disputed]
        if not disputed:
            return None
        own = {row.id for row in disputed}
        still = reader.conflict_sets(disputed, POS_INF - 1)
        sets = still or reader.conflict_sets(disputed, None)
        return next((s for s in reversed(sets) if own & {fact.id for fact in s.facts}), None)

    # -- refusals

    def keep_rejection(self, code: str, reason: str, content: Mapping[str, Any] | None) -> None:
        """Add to the bounded log of refused claims."""
        store, scope, keep = self.ledger.store, self.ledger.scope, self.session.config.keep_rejected
        last = store.select(RejectedRow, scope, order=("-number",), limit=1)
        number = last[0].number + 1 if last else 1
        private = code in ("do_not_remember", "secret") or not self.session.config.keep_rejected_text
        kept = (
            None if private or content is None else json.dumps(content, ensure_ascii=True, default=str, sort_keys=True)
        )
        shown = code if private else reason.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        store.insert([RejectedRow(scope, number, self.recorded_at, code, shown, kept)])
        store.delete(RejectedRow, scope, number__le=number - keep)


def premises_of(because: object) -> list[list[str]]:
    """Justifications as lists of claim ids, from claims, ids or receipts, flat or nested."""
    if because is None or because in ((), []):
        return []
    if not isinstance(because, (list, tuple)):
        return [[_premise(because)]]
    if any(isinstance(group, (list, tuple)) for group in because):
        if not all(isinstance(group, (list, tuple)) and group for group in because):
            raise InputError(
                "because is one justification (a sequence of claims) or several non-empty ones, not a mixture"
            )
        return [list(dict.fromkeys(_premise(p) for p in group)) for group in because]
    return [list(dict.fromkeys(_premise(p) for p in because))]


def _premise(given: object) -> str:
    if isinstance(given, Receipt):
        if given.claim is None:
            raise InputError("a refused claim can't justify anything")
        return given.claim.id
    found = getattr(given, "id", given)
    if not isinstance(found, str) or not found or not found.isascii():
        raise InputError(f"because takes claims, their ids or receipts, not {ascii(given)[:60]}")
    return found


def rejected_receipt(error: RejectedError, recorded_at: int | None = None) -> Receipt:
    """The receipt of a refused claim."""
    return Receipt(
        outcome=Outcome.REJECTED,
        code=error.code,
        reason=error.reason,
        why=error.reason,
        recorded_at=None if recorded_at is None else exact(recorded_at),
    )
