"""Taking back and settling: the claims that correct, settle and replace write, computed from what holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph import factrow
from semgraph.errors import RejectedError
from semgraph.model import ConflictSet, Entity, Literal
from semgraph.statement import Said, Thing
from semgraph.stating import PLAIN, claim_bounds, masked_by, rank_of
from semgraph.temporal import ALWAYS, NEG_INF, POS_INF, Bound, exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph.ledger import Snapshot
    from semgraph.reader import Reader
    from semgraph.store.schema import ClaimRow, FactRow

__all__ = ["Spoken", "correction", "same_edge", "settlement", "side"]


class Spoken(NamedTuple):
    """An edge as somebody called its ends, and when they bore these names."""

    subject: Any
    object: Any
    instant: int


def correction(reader: Reader, row: FactRow, said: Said, wrong: Spoken) -> list[Said]:
    """The claims of a correction: a mask over the old segment, and each supporting claim as `said` puts it."""
    body = factrow.decode(row)
    subject, ref = _named(reader, row, wrong)
    claims = reader.ledger.fetch(body.claims)
    # A claim that began before the segment keeps what lies before it; its substitute begins where the segment does.
    mask = Said(
        _entity(reader, subject),
        said.predicate,
        _thing(reader, ref, claims[body.claims[0]]),
        negative=False,
        opposed=bool(row.negative),
        kind="correct",
        valid_from=ALWAYS if row.valid_from == NEG_INF else body.start,
        valid_to=None if row.valid_to == POS_INF else exact(row.valid_to),
        said_at=said.said_at,
        source=said.source,
        source_ref=said.source_ref,
        confidence=None,
        qualifiers=claims[body.claims[0]].qualifiers,
        text=None,
    )
    ends = [c for c in reader.ledger.fetch(body.ended_by).values() if _ends_value(reader, c, row, body)]
    again = [*(claims[c] for c in body.claims if c in claims), *ends]
    denials = _denials(reader, row, said)
    return [mask, *(_outlasting(_reissued(claim, row, body, said), claim, denials) for claim in again)]


def _named(reader: Reader, row: FactRow, wrong: Spoken) -> tuple[int, str]:
    """The ends of a segment as they were called: of merged entities the one that bore the name, should they part."""
    directory, snapshot = reader.directory, reader.snapshot
    subject = directory.borne(wrong.subject, wrong.instant)
    if not row.object.startswith("e") or not isinstance(wrong.object, (str, Entity)):
        return subject, row.object
    far = directory.borne(wrong.object, wrong.instant)
    turned = snapshot.entity(subject) != row.subject
    return (far, f"e{subject}") if turned else (subject, f"e{far}")


def _ends_value(reader: Reader, claim: ClaimRow, row: FactRow, body: factrow.Body) -> bool:
    """Whether a claim that ended the segment spoke of its edge, and so must end the corrected one too.

    Where only one may be at the far end, or the predicate is symmetric, one about somebody else may have ended it.
    """
    told = (reader.snapshot.entity(claim.subject), reader.snapshot.resolved(claim.object))
    if claim.id in body.claims or not _is_edge(reader, row, told):
        return False
    return claim.kind in ("end", "deny") or bool(claim.negative) == bool(row.negative)


def _reissued(claim: ClaimRow, row: FactRow, body: factrow.Body, said: Said) -> Said:
    start = None if claim.valid_from is None else Bound.from_stored(claim.valid_from, claim.valid_from_text)
    begins = claim.said_at if start is None else start.instant
    if begins < row.valid_from and (start is None or start.precision != "unknown") and claim.id in body.claims:
        start = body.start
    return Said(
        said.subject,
        said.predicate,
        said.thing,
        negative=bool(claim.negative),
        opposed=bool(claim.opposed),
        kind=claim.kind,
        valid_from=start,
        valid_to=None if claim.valid_to is None else Bound.from_stored(claim.valid_to, claim.valid_to_text),
        said_at=exact(claim.said_at),
        source=said.source,
        source_ref=said.source_ref,
        confidence=None,
        qualifiers=claim.qualifiers,
        text=None,
    )


def same_edge(reader: Reader, row: FactRow, said: Said) -> bool:
    """Whether a fact is the very edge that is said."""
    return _is_edge(reader, row, _edge(reader, said))


def _is_edge(reader: Reader, row: FactRow, ends: tuple[int | None, str]) -> bool:
    """Whether these are the ends of a fact, of a symmetric one in either order."""
    if ends == (row.subject, row.object):
        return True
    turned = (f"e{ends[0]}", ends[1]) == (row.object, f"e{row.subject}")
    return turned and reader.snapshot.predicate(row.predicate).symmetric


def _edge(reader: Reader, said: Said) -> tuple[int | None, str]:
    """The subject and the reference of the object as they are known now; None and `eNone` for a name that is not."""
    subject, ref = reader.directory.one(said.subject, reader.snapshot), said.thing.ref
    if said.thing.entity is not None:
        ref = f"e{reader.directory.one(said.thing.entity, reader.snapshot)}"
    return subject, ref


def _denials(reader: Reader, row: FactRow, said: Said) -> list[ClaimRow]:
    """What denied the new value before, in a voice that the correction outweighs by being later."""
    snapshot, entry = reader.snapshot, said.predicate
    subject, ref = _edge(reader, said)
    if subject is None:
        return []
    told = [r for r in snapshot.on_subject(subject, entry.name) if snapshot.resolved(r.object) == ref]
    if entry.symmetric:
        told += [r for r in snapshot.on_object(f"e{subject}", entry.name) if f"e{snapshot.entity(r.subject)}" == ref]
    now = POS_INF if said.said_at is None else said.said_at.instant
    voice = rank_of(said.source, entry)
    return [
        r
        for r in told
        if masked_by(r) is not None
        and r.opposed == row.negative
        and r.said_at < now
        and rank_of(r.source, entry) == voice
    ]


def _outlasting(again: Said, claim: ClaimRow, denials: Sequence[ClaimRow]) -> Said:
    """A claim that is said again no earlier than what denied it was; it keeps the interval that it had."""
    if claim.kind not in PLAIN:
        return again
    start, basis, end, _ = claim_bounds(claim, again.predicate)
    begins = (again.valid_from or start).instant if basis in ("observed", "stated") else NEG_INF
    until = claim.said_at if end == POS_INF else end
    spoken_of = (begins, begins + 1) if basis != "unknown" else (until - 1, until)
    said = max((r.said_at for r in denials if _covers(r, *spoken_of)), default=NEG_INF)
    if said < claim.said_at:
        return again
    if basis == "observed" and again.valid_from is None:
        again.valid_from = start
    again.said_at = exact(said + 1)
    return again


def _covers(denial: ClaimRow, first: int, after: int) -> bool:
    start, end = masked_by(denial) or (POS_INF, POS_INF)
    return start <= first and after <= end


@dataclass(frozen=True, slots=True)
class _Loser:
    fact: FactRow
    start: int
    end: int


def settlement(
    reader: Reader, conflict: ConflictSet, choice: str, winner: str | None, instant: int, source: str
) -> list[Said]:
    """The claims that settle a conflict: what loses is ended from the instant it first conflicted, what wins is said.

    `winner` is the reference of the winning value (of the winning subject for a unique object); None for both_wrong.
    """
    rows = reader.by_id(fact.id for fact in conflict.facts)
    members = [rows[fact.id] for fact in conflict.facts]
    shared = None if conflict.subject is None else _number(conflict.subject)
    chosen = [r for r in members if winner is not None and not r.negative and side(r, shared) == winner]
    if choice == "choose" and not chosen:
        return []
    losers = [
        loser
        for r in members
        if r not in chosen and (loser := _loser(reader, r, chosen or members, instant)) is not None
    ]
    ending = [loser for loser in losers if chosen or not loser.fact.negative]
    made = [one for loser in ending for one in _ended(reader, loser, members, source)]
    if chosen:
        won = _reaffirmed(reader, chosen[0], losers, source)
        made += [won] if won is not None else []
    return made


def side(row: FactRow, shared: int | None) -> str:
    """What competes in a conflict: the far end of a shared subject, or the subject where the object is shared."""
    if shared is None:
        return f"e{row.subject}"
    return row.object if row.subject == shared else f"e{row.subject}"


def _loser(reader: Reader, row: FactRow, others: Sequence[FactRow], instant: int) -> _Loser | None:
    """The stretch around the instant in which a fact conflicts with the winner, or with any other member.

    One that is not over now has no end: what is settled today does not come back on a later day.
    """
    now = reader.session.now()
    against = {r.id for r in others} - {row.id}
    spans = sorted((a, b) for rival, a, b, _ in reader.body(row).rivals if rival in against)
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return next((_Loser(row, a, b if b <= now else POS_INF) for a, b in joined if a <= instant < b), None)


def _ended(reader: Reader, loser: _Loser, members: Sequence[FactRow], source: str) -> list[Said]:
    row, entry = loser.fact, reader.snapshot.predicate(loser.fact.predicate)
    if entry.cardinality == "once":  # timeless: what lost never was, and a negative falls to no change
        return [_told(reader, row, source, kind="deny", start=None, end=POS_INF)]
    if row.negative:
        return []
    gone = loser.end == row.valid_to and reader.body(row).end_reason != "suspended"  # nothing of it lies later
    ends = {f"e{row.subject}", row.object}
    negated = any(r.negative and {f"e{r.subject}", r.object} == ends for r in members)
    # What is only planned no word of today can end, since none is evidence for a later day: it is told never to be.
    # So is what its own negation outlasted, which an end that is over would take along.
    if loser.start > reader.session.now() or (negated and gone and loser.end != POS_INF):
        return [_told(reader, row, source, kind="correct", start=loser.start, end=loser.end)]
    made = [_told(reader, row, source, kind="end", start=loser.start, end=loser.end)]
    # An end does not keep out what changes to the value in that instant, or later.
    changes = [claim_bounds(c, entry) for c in _claims(reader, row) if c.kind == "change"]
    begun = [start.instant for start, basis, *_ in changes if basis != "unknown" and start.instant >= loser.start]
    if begun and (gone or loser.end == POS_INF):
        made.append(_told(reader, row, source, kind="correct", start=loser.start, end=max(begun) + 1))
    return made


def _claims(reader: Reader, row: FactRow) -> Iterable[ClaimRow]:
    return reader.ledger.fetch(factrow.decode(row).claims).values()


def _reaffirmed(reader: Reader, row: FactRow, losers: Sequence[_Loser], source: str) -> Said | None:
    """The winner said again; a change where a negative lost to it, and nothing for a stretch that is over.

    One that has not begun is said from its beginning on: what holds today stays as it is.
    """
    denied = [loser for loser in losers if loser.fact.negative]
    if denied and reader.snapshot.predicate(row.predicate).cardinality != "once":
        start, end = min(loser.start for loser in denied), max(loser.end for loser in denied)
        return _told(reader, row, source, kind="change", start=start, end=end)
    if losers and all(loser.end != POS_INF for loser in losers):
        return None
    begins = min((loser.start for loser in losers if loser.end == POS_INF), default=NEG_INF)
    return _told(
        reader, row, source, kind="state", start=begins if begins > reader.session.now() else None, end=POS_INF
    )


def _told(reader: Reader, row: FactRow, source: str, *, kind: str, start: int | None, end: int) -> Said:
    claim = next(iter(_claims(reader, row)))
    return Said(
        _entity(reader, row.subject),
        reader.snapshot.predicate(row.predicate),
        _thing(reader, row.object, claim),
        negative=kind == "end",
        opposed=bool(row.negative),
        kind=kind,
        valid_from=None if start is None else exact(start),
        valid_to=None if end == POS_INF else exact(end),
        said_at=None,
        source=source,
        source_ref=None,
        confidence=None,
        qualifiers=claim.qualifiers,
        text=None,
    )


def _entity(reader: Reader, number: int) -> Entity:
    return reader.directory.entity(number)


def _number(entity: Entity) -> int:
    return int(entity.id[1:], 16)


def _thing(reader: Reader, ref: str, claim: ClaimRow) -> Thing:
    if ref.startswith("e"):
        return Thing(entity=reader.directory.entity(int(ref[1:])))
    return Thing(ref=ref, text=claim.object_text, type=claim.object_type)


def nothing_to_correct(old: str) -> RejectedError:
    """The refusal of a correction that finds nothing."""
    return RejectedError(
        "nothing_to_correct",
        f"{old} does not hold there; pass valid_at= for a segment of another time, or add() the right value",
    )


def shown(value: object) -> str:
    """A value in a message."""
    return value.label if isinstance(value, (Entity, Literal)) else str(value)


def compatible_pairs(conflict: ConflictSet, snapshot: Snapshot, rows: Sequence[FactRow]) -> list[tuple[str, str]]:
    """Every pair of positive values of a conflict, smaller reference first."""
    shared = None if conflict.subject is None else _number(conflict.subject)
    refs = sorted({side(row, shared) for row in rows if not row.negative})
    refs = sorted({snapshot.resolved(ref) for ref in refs})
    return [(a, b) for i, a in enumerate(refs) for b in refs[i + 1 :]]
