"""Looking after a scope: its claims, what verify finds, counts, the log of refusals, and marks of retraction."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from semgraph import factrow
from semgraph.errors import InputError, NotFoundError, StoreCorrupt
from semgraph.gate import check_note
from semgraph.model import Claim, Fact, Outcome, Problem, Recalled, Receipt, Rejection
from semgraph.reader import Reading
from semgraph.store.schema import (
    AliasRow,
    ClaimRow,
    EntityRow,
    FactRow,
    JustificationRow,
    PastFactRow,
    RejectedRow,
    RetractionRow,
)
from semgraph.temporal import exact

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from semgraph.ledger import Change, Fluent
    from semgraph.model import Entity
    from semgraph.reader import Reader
    from semgraph.writing import Writer

__all__ = ["claims", "claims_of", "mark_receipt", "recalled", "rejections", "stats", "verify", "with_qualifiers"]


def claims(
    reader: Reader,
    subject: str | Entity | None,
    predicate: str | None,
    source: str | None,
    source_ref: str | None,
    *,
    retracted: bool,
) -> list[ClaimRow]:
    """Stored claims that meet the conditions, by transaction time."""
    check_note(source, "source")
    check_note(source_ref, "source_ref")
    where: dict[str, Any] = {}
    snapshot = reader.snapshot
    if subject is not None:
        number = reader.directory.one(subject, snapshot)
        if number is None:
            return []
        where["subject"] = snapshot.members.get(number, [number])
    if predicate is not None:
        resolved = snapshot.registry.resolve(predicate)
        where["predicate"] = reader.ledger.spellings(resolved.predicate.name)
        if resolved.inverse and "subject" in where:
            where["object"] = [f"e{n}" for n in where.pop("subject")]
    if source is not None:
        where["source"] = source
    if source_ref is not None:
        where["source_ref"] = source_ref
    rows = reader.ledger.store.select(ClaimRow, reader.ledger.scope, order=("recorded_at", "id"), **where)
    return [row for row in rows if retracted or snapshot.visible(row)]


def claims_of(reader: Reader, target: object) -> list[ClaimRow]:
    """The claims that a claim, fact, receipt or id stands for; NotFoundError if there are none."""
    if isinstance(target, (Receipt, Fact)):
        ids = [claim.id for claim in target.claims]
    elif isinstance(target, Claim):
        ids = [target.id]
    elif isinstance(target, str):
        ids = [target]
    else:
        raise InputError(f"a claim, a fact, a receipt or an id is wanted, not {type(target).__name__}")
    found = reader.ledger.fetch(ids)
    if not found and isinstance(target, str):
        fact = reader.by_id([target]).get(target)
        if fact is not None:
            found = reader.ledger.fetch(factrow.decode(fact).claims)
    if not found:
        raise NotFoundError("no claim or fact with that id is in this scope; list them with claims() or timeline()")
    return list(found.values())


def mark_receipt(writer: Writer, rows: Sequence[ClaimRow], changes: Sequence[Change]) -> Receipt:
    """The receipt of a retraction or of its undoing."""
    reader = writer.reader()
    written = writer.finish([], list(changes), {})
    after = [
        Reading(c.after, a, c.after.predicate, turned=False, flipped=False)
        for c, _, a in written.facts
        if c.after is not None and a is not None
    ]
    kept = {c.after.id for c in changes if c.after is not None}
    gone = [
        Reading(c.before, b, c.before.predicate, turned=False, flipped=False)
        for c, b, _ in written.facts
        if c.before is not None and b is not None and c.before.id not in kept
    ]
    return Receipt(
        Outcome.UPDATE,
        why=f"{len(rows)} claim{'s' if len(rows) != 1 else ''} marked; the facts were computed anew",
        claims=tuple(reader.claim(row) for row in rows),
        facts=tuple(reader.facts(after, None)),
        closed=tuple(reader.facts(gone, None)),
        recorded_at=exact(writer.recorded_at),
    )


def with_qualifiers(reader: Reader, rows: Sequence[FactRow], qualifiers: Mapping[str, Any] | None) -> list[FactRow]:
    """The facts of the fluent that the qualifiers select."""
    if not qualifiers:
        return list(rows)
    kept = []
    for row in rows:
        found = reader.ledger.fetch(factrow.decode(row).claims)
        given = [json.loads(c.qualifiers) for c in found.values() if c.qualifiers]
        if any(all(g.get(k) == v for k, v in qualifiers.items()) for g in given):
            kept.append(row)
    return kept


def recalled(reader: Reader, limit: int) -> list[Recalled]:
    """The facts that were recalled and are believed, the latest first."""
    told = reader.session.noted.of(reader.ledger.store, reader.ledger.scope)
    rows = reader.by_id(told)
    order = sorted(rows, key=lambda fact: (-told[fact][1], -told[fact][0], fact))[:limit]
    readings = [Reading(rows[f], reader.body(rows[f]), rows[f].predicate, turned=False, flipped=False) for f in order]
    facts = reader.facts(readings, None)
    return [Recalled(fact, told[key][0], exact(told[key][1])) for key, fact in zip(order, facts, strict=True)]


def rejections(reader: Reader) -> list[Rejection]:
    """The kept refusals, oldest first."""
    rows = reader.ledger.store.select(RejectedRow, reader.ledger.scope, order=("number",))
    return [
        Rejection(
            row.code, row.reason, None if row.content is None else json.loads(row.content), exact(row.recorded_at)
        )
        for row in rows
    ]


def verify(reader: Reader) -> list[Problem]:
    """Every difference between the stored rows and a fresh fold of all claims, epoch by epoch."""
    ledger = reader.ledger
    problems = [Problem("store", text) for text in ledger.store.check()]
    try:
        return problems + _differences(reader)
    except StoreCorrupt:
        if not problems:
            raise
        return problems  # what can't be read was told


def _differences(reader: Reader) -> list[Problem]:
    ledger = reader.ledger
    problems: list[Problem] = []
    for groups in ledger.together(_components(reader)):
        for group, (current, past) in zip(groups, ledger.expected_of(groups), strict=True):
            problems += _compare(reader, group, current, past)
    stored = ledger.store.count(FactRow, ledger.scope) + ledger.store.count(PastFactRow, ledger.scope)
    expected = sum(len(rows) for group in _components(reader) for rows in _stored(reader, group))
    if stored != expected:
        problems.append(Problem("facts", f"{stored - expected} stored rows belong to no claim"))
    return problems + _references(reader)


def _components(reader: Reader) -> list[set[Fluent]]:
    """All fluents, those of merged entities together."""
    ledger = reader.ledger
    classes = ledger.merge_classes()
    groups: dict[tuple[tuple[int, ...], str], set[Fluent]] = {}
    for subject, predicate in sorted(ledger.all_fluents()):
        members = classes.get(subject, (subject,))
        groups[members, predicate] = {(member, predicate) for member in members}
    return list(groups.values())


def _stored(reader: Reader, group: Collection[Fluent]) -> tuple[list[FactRow], list[PastFactRow]]:
    ledger = reader.ledger
    current: list[FactRow] = []
    past: list[PastFactRow] = []
    for subject, predicate in sorted(group):
        current += ledger.store.select(FactRow, ledger.scope, subject=subject, predicate=predicate)
        past += ledger.store.select(PastFactRow, ledger.scope, subject=subject, predicate=predicate)
    return current, past


def _compare(
    reader: Reader, group: Collection[Fluent], current: Sequence[FactRow], past: Sequence[PastFactRow]
) -> list[Problem]:
    subjects = {subject for subject, _ in group}
    stored = _stored(reader, group)
    problems = []
    for what, kept, wanted in (("fact", stored[0], current), ("past fact", stored[1], past)):
        have = {tuple(row) for row in kept}
        want = {tuple(row) for row in wanted if row.subject in subjects}
        for rows, wrong in (
            (have - want, "is stored but does not follow from the claims"),
            (want - have, "follows from the claims but is not stored"),
        ):
            problems += [Problem(f"{what} {row[1]}", wrong) for row in sorted(rows, key=str)]
    return problems


def _references(reader: Reader) -> list[Problem]:
    """Rows that point at nothing."""
    ledger = reader.ledger
    select, scope = ledger.store.select, ledger.scope
    entities = {row.id for row in select(EntityRow, scope)}
    claims_known = {row.id for row in select(ClaimRow, scope)}
    problems = [
        Problem(f"alias of {row.entity}", "its entity is missing")
        for row in select(AliasRow, scope)
        if row.entity not in entities
    ]
    spoken = [row.claim for row in select(JustificationRow, scope)] + [
        row.claim for row in select(RetractionRow, scope)
    ]
    problems += [
        Problem(f"mark or justification of {claim}", "its claim is missing")
        for claim in dict.fromkeys(spoken)
        if claim not in claims_known
    ]
    for row in select(ClaimRow, scope):
        ends = {row.subject} | ({int(row.object[1:])} if row.object.startswith("e") else set())
        if ends - entities:
            problems.append(Problem(f"claim {row.id}", "an entity that it names is missing"))
    return problems


def stats(reader: Reader) -> dict[str, Any]:
    """Counts of what a scope holds."""
    ledger = reader.ledger
    store, scope, now = ledger.store, ledger.scope, reader.session.now()
    kinds: Counter[str] = Counter()
    for row in store.iterate(FactRow, scope, order=None):
        body = reader.body(row)
        disputed = any(start <= now < end for _, start, end, _ in body.rivals)
        kinds[reader.status(row, body, now, disputed=disputed)] += 1
    sources: Counter[str] = Counter(row.source for row in store.iterate(ClaimRow, scope, order=None))
    codes: Counter[str] = Counter(row.code for row in store.iterate(RejectedRow, scope))
    open_sets = reader.conflict_sets(reader.rows(disputed=1), now)
    return {
        "scope": reader.session.scope,
        "entities": store.count(EntityRow, scope),
        "aliases": store.count(AliasRow, scope),
        "claims": sum(sources.values()),
        "claims_by_source": dict(sorted(sources.items())),
        "facts": sum(kinds.values()),
        "facts_by_status": dict(sorted(kinds.items())),
        "past_facts": store.count(PastFactRow, scope),
        "rejected": sum(codes.values()),
        "rejected_by_code": dict(sorted(codes.items())),
        "open_conflicts": len(open_sets),
        "bytes": store.path.stat().st_size if store.path is not None and len(store.scopes()) == 1 else None,
    }
