"""The story of a fact: who said it, what opened and closed it, what disputes it; and the history of beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph import factrow
from semgraph.errors import InputError, NotFoundError
from semgraph.model import Claim, Explanation, Fact, FactVersion, Receipt
from semgraph.reader import Reading
from semgraph.store.schema import ClaimRow, FactRow, PastFactRow
from semgraph.temporal import POS_INF, exact

if TYPE_CHECKING:
    from semgraph.model import Entity
    from semgraph.reader import Reader

__all__ = ["explain", "history"]

_OPENED = {
    "new": "nothing else held then",
    "12": "superseded what held before",
    "13": "was told as a bounded exception to what held",
    "6": "is a finer word for what held before",
    "9": "followed a value that had ended, nobody knew when",
    "11": "a less trusted voice: it stands beside what held",
    "14": "no ground to supersede what held: it stands beside it",
    "resumed": "resumed after a bounded exception",
    "3": "nobody said since when: it is only possible",
}
_GROUNDS = {
    "g1": "an explicit change",
    "g2": "its start is certainly later",
    "g3": "said later, by more than the window",
    "g4": "the other was only inferred",
    "g5": "the specific beats the general",
}


def explain(reader: Reader, target: object) -> Explanation:
    """The explanation of a fact, given as a fact, its id, a claim that supports it, or a receipt."""
    row = _row(reader, target)
    body = reader.body(row)
    (fact,) = reader.facts([_plain(row)], None)
    rows = reader.by_id([*body.supersedes, *(r[0] for r in body.rivals)])
    later = [
        r for r in reader.rows(subject=row.subject, predicate=row.predicate) if row.id in factrow.decode(r).supersedes
    ]
    earlier = reader.facts([_plain(rows[i]) for i in body.supersedes if i in rows], None)
    rivals = reader.facts([_plain(rows[i]) for i in dict.fromkeys(r[0] for r in body.rivals) if i in rows], None)
    after = reader.facts([_plain(r) for r in later], None)
    premises = reader.ledger.fetch(p for group in fact.because for p in group if p)
    opened, closed = _opened_by(body), _closed_by(body, after)
    told = tuple(reader.claim(p) for p in premises.values())
    story = _story(fact, opened, closed, earlier, rivals, told)
    times, _ = reader.session.noted.of(reader.ledger.store, reader.ledger.scope, [row.id]).get(row.id, (0, 0))
    return Explanation(
        fact, tuple(fact.claims), opened, closed, tuple(earlier), tuple(after), tuple(rivals), told, story, times
    )


def _row(reader: Reader, target: object) -> FactRow:
    wanted = _ids(target)
    found = list(reader.by_id(wanted).values())
    if found:
        return found[0]
    claims = reader.ledger.fetch(wanted)
    for claim in claims.values():
        for row in _rows_near(reader, claim):
            body = factrow.decode(row)
            if claim.id in body.claims or claim.id in body.absorbed:
                return row
    if claims:
        raise NotFoundError("that claim holds nowhere now: it was retracted, denied or outdated; see history()")
    raise NotFoundError("no fact or claim with that id is in this scope; list them with timeline() or claims()")


def _ids(target: object) -> list[str]:
    if isinstance(target, Receipt):
        return [fact.id for fact in target.facts] or [claim.id for claim in target.claims]
    if isinstance(target, (Fact, Claim)):
        return [target.id]
    if isinstance(target, str):
        return [target]
    raise InputError(f"a fact, its id, a claim or a receipt is wanted, not {type(target).__name__}")


def _rows_near(reader: Reader, claim: ClaimRow) -> list[FactRow]:
    """The facts that a claim may stand in, at whichever end they are kept."""
    name = reader.snapshot.predicate(claim.predicate).name
    rows = reader.rows(predicate=name, subject=reader.snapshot.entity(claim.subject))
    if claim.object.startswith("e"):
        rows += reader.rows(predicate=name, object=reader.snapshot.resolved(claim.object))
    return rows


def _plain(row: FactRow) -> Reading:
    return Reading(row, factrow.decode(row), row.predicate, turned=False, flipped=False)


def _opened_by(body: factrow.Body) -> str:
    rule, _, ground = body.opened.partition(" ")
    why = _OPENED.get(rule, rule)
    return f"{why}: {_GROUNDS[ground]}" if ground in _GROUNDS else why


def _closed_by(body: factrow.Body, after: list[Fact]) -> str:
    ground = body.closed.split(" ")[-1]
    because = f": {_GROUNDS[ground]}" if ground in _GROUNDS else ""
    names = ", ".join(fact.object.label for fact in after if fact.object is not None)
    by = f" by {names}" if names else ""
    return {
        "open": "still open",
        "stated": "its end was stated",
        "soft": "it was said to have ended, at an unknown time",
        "ttl": "nobody confirmed it within its time to live",
        "superseded": f"superseded{by}{because}",
        "refined": f"refined{by}",
        "ended": "it was said to have stopped",
        "suspended": f"interrupted by a bounded exception{by}",
    }.get(body.end_reason, body.end_reason)


def _story(
    fact: Fact, opened: str, closed: str, earlier: list[Fact], rivals: list[Fact], premises: tuple[Claim, ...]
) -> str:
    lines = [f"{fact}  ({fact.status}, confidence {fact.confidence:.2f})"]
    for claim in fact.claims:
        words = f': "{claim.text}"' if claim.text else ""
        ref = f" [{claim.source_ref}]" if claim.source_ref else ""
        lines.append(f"  said by {claim.source}{ref} on {claim.said_at}, recorded {claim.recorded_at}{words}")
    lines.append(f"  opened: {opened}")
    lines.append(f"  closed: {closed}")
    lines += [f"  replaced: {old}" for old in earlier]
    lines += [f"  disputed by: {rival} (source {', '.join(rival.sources)})" for rival in rivals]
    lines += [f"  because: {p.subject.label} {p.predicate} {p.object.label if p.object else ''}" for p in premises]
    return "\n".join(lines)


def history(reader: Reader, subject: str | Entity, predicate: str) -> list[FactVersion]:
    """Every version of every fact of a subject and predicate, in the order in which they were believed."""
    number = reader.directory.known(subject, reader.snapshot)
    resolved = reader.snapshot.registry.resolve(predicate)
    name = resolved.predicate.name
    shown = reader.snapshot.registry.canonical_of(predicate) if resolved.inverse or resolved.flipped else name
    members = reader.ledger.merge_classes().get(number, (number,))
    sides = (False, True) if resolved.predicate.symmetric else (resolved.inverse,)
    readings = []
    for turned in sides:
        where = {"object": [f"e{m}" for m in members]} if turned else {"subject": list(members)}
        for table in (FactRow, PastFactRow):
            for found in reader.ledger.store.select(table, reader.ledger.scope, predicate=name, **where):
                row = FactRow(*found)
                near = int(row.object[1:]) if turned else row.subject
                if turned and not resolved.inverse and row.subject == near:
                    continue
                if row.sys_from <= reader.snapshot.known_at and reader.ledger.at(row.sys_from).entity(number) == near:
                    readings += reader.reading(row, shown, turned=turned, flipped=resolved.flipped)
    readings.sort(key=lambda r: (r.row.sys_from, r.row.valid_from, r.row.id))
    facts = reader.facts(readings, None)
    return [
        FactVersion(fact, exact(r.row.sys_from), None if r.row.sys_to == POS_INF else exact(r.row.sys_to))
        for r, fact in zip(readings, facts, strict=True)
    ]
