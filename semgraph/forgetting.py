"""Forgetting: physically gone, with all that was derived, at every valid and known time; not a bitemporal operation."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semgraph import audit, factrow, names
from semgraph.accesses import forget_accesses
from semgraph.errors import InputError, NotFoundError, PurgePending, StoreError
from semgraph.model import Fact, ForgetReport
from semgraph.reader import Reader, Reading
from semgraph.store.schema import (
    TABLES,
    AliasRow,
    ApartRow,
    ClaimRow,
    CompatRow,
    DeclaredRow,
    EntityRow,
    FactRow,
    JustificationRow,
    PageRow,
    RedirectRow,
    RejectedRow,
    RetractionRow,
    ScopeRow,
    TombstoneRow,
    VectorRow,
    VetoRow,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from semgraph.ledger import Fluent, Ledger
    from semgraph.session import Session
    from semgraph.store.protocol import Store
    from semgraph.view import GraphView

__all__ = ["forget", "purge"]

_MIN_NEEDLE = 6  # bytes; shorter ones stand in any file by chance


@dataclass(slots=True)
class _Plan:
    """What is to go."""

    kind: str
    claims: dict[str, ClaimRow] = field(default_factory=dict)
    entities: set[int] = field(default_factory=set)
    mentioned: list[ClaimRow] = field(default_factory=list)
    everything: bool = False


def forget(
    graph: GraphView,
    session: Session,
    targets: Mapping[str, Any],
    *,
    everything: bool,
    mentions: bool,
    dry_run: bool,
    export_to: str | os.PathLike[str] | None,
) -> ForgetReport:
    """The report of a forget; see `KnowledgeGraph.forget`."""
    given = {kind: what for kind, what in targets.items() if what is not None}
    if len(given) + (everything is True) != 1:
        raise InputError("forget takes exactly one of fact=, claim=, entity=, source_ref= and everything=True")
    if dry_run:
        with session.read():
            return _listed(session, _plan(session, given, everything=everything, mentions=mentions))
    if export_to is not None:
        if not isinstance(export_to, str | os.PathLike):
            raise InputError(f"export_to is the path of a file, not {type(export_to).__name__}")
        _export_first(graph, Path(export_to))
    with session.write() as recorded_at:
        plan = _plan(session, given, everything=everything, mentions=mentions)
        needles = _needles(session, plan)
        report = _erase(session, plan, recorded_at)
    return _purged(session, report, needles)


def _plan(session: Session, given: Mapping[str, Any], *, everything: bool, mentions: bool) -> _Plan:
    ledger = session.ledger
    reader = Reader(session, ledger.at())
    if everything:
        rows = ledger.store.select(ClaimRow, ledger.scope)
        return _Plan("everything", {row.id: row for row in rows}, _all_entities(ledger), everything=True)
    ((kind, what),) = given.items()
    plan = _Plan(kind)
    if kind in ("fact", "claim"):
        found = audit.claims_of(reader, what)
        if kind == "fact" and not isinstance(what, Fact):
            found = _of_fact(reader, found)
        plan.claims = {row.id: row for row in found}
    elif kind == "source_ref":
        rows = ledger.store.select(ClaimRow, ledger.scope, source_ref=str(what))
        if not rows:
            raise NotFoundError(f"no claim has the source_ref {what!r}")
        plan.claims = {row.id: row for row in rows}
    else:
        number = session.directory.known(what, ledger.at())
        classes = ledger.merge_classes()
        active = ledger.at().members.get(number, [number])
        plan.entities = set(active) | (set(classes.get(number, ())) & set(active))
        refs = [f"e{member}" for member in plan.entities]
        rows = ledger.store.select(ClaimRow, ledger.scope, subject=sorted(plan.entities))
        rows += ledger.store.select(ClaimRow, ledger.scope, object=refs)
        plan.claims = {row.id: row for row in rows}
        plan.mentioned = _mentions(ledger, plan)
        if mentions:
            plan.claims |= {row.id: row for row in plan.mentioned}
    _cascade(ledger, plan)
    return plan


def _of_fact(reader: Reader, found: list[ClaimRow]) -> list[ClaimRow]:
    """All claims of the fact that a claim or a receipt supports."""
    ids = {row.id for row in found}
    out = {row.id: row for row in found}
    for row in found:
        number = reader.snapshot.entity(row.subject)
        for stored in reader.rows(subject=number, predicate=reader.snapshot.predicate(row.predicate).name):
            body = factrow.decode(stored)
            if ids & set(body.claims):
                out |= reader.ledger.fetch(body.claims)
    return list(out.values())


def _mentions(ledger: Ledger, plan: _Plan) -> list[ClaimRow]:
    """Claims about others whose words hold one of the entity's names."""
    aliases = ledger.store.select(AliasRow, ledger.scope, entity=sorted(plan.entities))
    keys = {row.key for row in aliases if row.kind != "self"}
    found = []
    for row in ledger.store.iterate(ClaimRow, ledger.scope, order=None):
        if row.id in plan.claims:
            continue
        words = " ".join(
            filter(None, (row.text, row.qualifiers, row.object_text if not row.object.startswith("e") else ""))
        )
        if words and any(_mentioned(key, words) for key in keys):
            found.append(row)
    return found


def _mentioned(key: str, words: str) -> bool:
    folded = f" {names.fold_text(words)} "
    start = folded.find(key)
    while start != -1:
        before, after = folded[start - 1], folded[start + len(key)]
        if not before.isalnum() and not after.isalnum():
            return True
        start = folded.find(key, start + 1)
    return False


def _cascade(ledger: Ledger, plan: _Plan) -> None:
    """Derived claims without a justification left go too, transitively."""
    if not ledger.records.justified:
        return
    waiting = list(plan.claims)
    while waiting:
        derived = ledger.store.select(JustificationRow, ledger.scope, premise=waiting)
        waiting = []
        for claim in dict.fromkeys(row.claim for row in derived if row.claim not in plan.claims):
            groups: dict[int, list[str]] = {}
            for row in ledger.justification_rows(claim):
                groups.setdefault(row.justification, []).append(row.premise)
            if all(any(p in plan.claims for p in group) for group in groups.values()):
                plan.claims |= ledger.fetch([claim])
                waiting.append(claim)


def _listed(session: Session, plan: _Plan) -> ForgetReport:
    """What a dry run shows: counts, the facts that would go, and the claims of others that mention the name."""
    reader = Reader(session, session.ledger.at())
    rows = [r for r in reader.rows() if set(factrow.decode(r).claims) & plan.claims.keys()]
    facts = reader.facts([Reading(r, factrow.decode(r), r.predicate, turned=False, flipped=False) for r in rows], None)
    return ForgetReport(
        claims=len(plan.claims),
        facts=len(rows),
        entities=len(plan.entities | _orphans(session.ledger, plan)),
        purged=False,
        dry_run=True,
        listed=tuple(facts),
        mentioned=tuple(reader.claim(row) for row in plan.mentioned),
    )


def _erase(session: Session, plan: _Plan, recorded_at: int) -> ForgetReport:
    ledger, store, scope = session.ledger, session.ledger.store, session.ledger.scope
    before = store.count(FactRow, scope)
    ledger.rebuilt = True
    if plan.everything:
        counts = _erase_scope(session)
    else:
        touched = _all_touched(ledger, [*plan.claims.values(), *_of_others_merged(ledger, plan)])
        counts = _erase_claims(ledger, plan)
        counts["entity"] = _erase_entities(session, plan)
        ledger.rebuild(touched)
    gone = before - store.count(FactRow, scope)
    tombstone = TombstoneRow(
        scope, uuid.uuid4().hex, recorded_at, session.config.source, plan.kind, json.dumps(counts, sort_keys=True)
    )
    store.insert([tombstone])
    ledger.forget_records()
    ledger.begin()
    return ForgetReport(
        claims=len(plan.claims), facts=gone, entities=counts["entity"], purged=False, tombstone=tombstone.id
    )


def _erase_scope(session: Session) -> dict[str, int]:
    store, scope = session.ledger.store, session.ledger.scope
    counts = {}
    for table, spec in TABLES.items():
        if table not in (ScopeRow, TombstoneRow):
            counts[spec.name] = store.delete(table, scope)
    session.directory.begin(session.directory.counter)
    return counts


def _erase_claims(ledger: Ledger, plan: _Plan) -> dict[str, int]:
    """Claims and everything that speaks of them."""
    store, scope = ledger.store, ledger.scope
    ids = list(plan.claims)
    counts = {"claim": store.delete(ClaimRow, scope, id=ids)}
    counts["justification"] = store.delete(JustificationRow, scope, claim=ids)
    broken = store.select(JustificationRow, scope, premise=ids)
    for row in broken:  # the other justifications of the claim stand
        counts["justification"] += store.delete(
            JustificationRow, scope, claim=row.claim, justification=row.justification
        )
    counts["retraction"] = store.delete(RetractionRow, scope, claim=ids)
    counts["vector"] = store.delete(VectorRow, scope, claim=ids)
    counts["access"] = forget_accesses(store, scope, plan.claims)
    counts["page"] = _erase_pages(store, scope, {row.recorded_at for row in plan.claims.values()})
    counts["rejected"] = _erase_rejections(ledger, plan)
    ledger.forget_records()
    ledger.begin()
    return counts


def _of_others_merged(ledger: Ledger, plan: _Plan) -> list[ClaimRow]:
    """Claims about entities that were once merged with one that goes, and are no more: the merge goes with it."""
    classes = ledger.merge_classes() if plan.entities else {}
    others = {other for number in plan.entities for other in classes.get(number, ())} - plan.entities
    if not others:
        return []
    rows = ledger.store.select(ClaimRow, ledger.scope, subject=sorted(others))
    return rows + ledger.store.select(ClaimRow, ledger.scope, object=[f"e{number}" for number in sorted(others)])


def _erase_pages(store: Store, scope: int, moments: Iterable[int]) -> int:
    """Of what recall keeps, the pages of the moments at which something was recorded that goes."""
    gone = 0
    for model, since, until in list(store.tuples(PageRow, scope, ("model", "since", "until"))):
        if any(since < moment <= until for moment in moments):
            gone += store.delete(PageRow, scope, model=model, since=since)
    return gone


def _all_touched(ledger: Ledger, rows: Iterable[ClaimRow]) -> set[Fluent]:
    """Every fluent whose facts, now or in the past, these claims had a part in: to be computed anew at every epoch."""
    everything = ledger.at(everything=True)
    rows = list(rows)
    found = ledger.fluents_of(rows, everything) | ledger.fluents_of(rows)
    found |= {(row.subject, everything.predicate(row.predicate).name) for row in rows}
    return ledger.component(ledger.dependents(ledger.component(found)))


def _erase_rejections(ledger: Ledger, plan: _Plan) -> int:
    """Refused claims that speak of what is forgotten."""
    texts = {t for row in plan.claims.values() for t in (row.text, row.object_text) if t and len(t) >= _MIN_NEEDLE}
    keys = (
        {row.key for row in ledger.store.select(AliasRow, ledger.scope, entity=sorted(plan.entities))}
        if plan.entities
        else set()
    )
    refs = {row.source_ref for row in plan.claims.values()} if plan.kind == "source_ref" else set()
    qualities = {str(v) for row in plan.claims.values() if row.qualifiers for v in json.loads(row.qualifiers).values()}
    texts |= {text for text in qualities if len(text) >= _MIN_NEEDLE}
    gone = 0
    for row in ledger.store.select(RejectedRow, ledger.scope):
        content = json.loads(row.content) if row.content else {}
        words = f"{row.reason} {' '.join(map(str, content.values()))}"
        spoken = any(t in words for t in texts) or any(_mentioned(key, words) for key in keys)
        if spoken or content.get("source_ref", "") in refs:
            gone += ledger.store.delete(RejectedRow, ledger.scope, number=row.number)
    return gone


def _erase_entities(session: Session, plan: _Plan) -> int:
    """The entities named, and those that nothing speaks of any more."""
    ledger, store, scope = session.ledger, session.ledger.store, session.ledger.scope
    gone = sorted(plan.entities | _orphans(ledger, plan))
    if not gone:
        return 0
    refs = [f"e{number}" for number in gone]
    aliases = store.select(AliasRow, scope, entity=gone)
    store.delete(EntityRow, scope, id=gone)
    store.delete(AliasRow, scope, entity=gone)
    store.delete(DeclaredRow, scope, entity=gone)
    for side in ("src", "dst"):
        store.delete(RedirectRow, scope, **{side: gone})
    for side in ("a", "b"):
        store.delete(ApartRow, scope, **{side: gone})
        store.delete(CompatRow, scope, **{side: refs})
    store.delete(CompatRow, scope, subject=gone)
    store.delete(VetoRow, scope, kind="entity", value=[row.key for row in aliases])
    session.directory.begin(session.directory.counter)
    ledger.forget_records()
    ledger.begin()
    return len(gone)


def _orphans(ledger: Ledger, plan: _Plan) -> set[int]:
    """Entities at the ends of forgotten claims that no other claim, merge or declaration needs."""
    ends: set[int] = set()
    for row in plan.claims.values():
        ends |= {row.subject} | ({int(row.object[1:])} if row.object.startswith("e") else set())
    records = ledger.records
    kept = set(records.declared) | {r.src for r in records.redirects} | {r.dst for r in records.redirects}
    found = set()
    for number in ends - kept - plan.entities:
        rows = ledger.store.select(ClaimRow, ledger.scope, subject=number)
        rows += ledger.store.select(ClaimRow, ledger.scope, object=f"e{number}")
        named = ledger.store.select(AliasRow, ledger.scope, entity=number)
        if all(row.id in plan.claims for row in rows) and len(named) <= 1:
            found.add(number)
    return found


def _all_entities(ledger: Ledger) -> set[int]:
    return {row.id for row in ledger.store.select(EntityRow, ledger.scope)}


def _needles(session: Session, plan: _Plan) -> list[bytes]:
    """Words that must stand nowhere in the files afterwards: names and texts that nothing left in the store holds."""
    ledger = session.ledger
    gone = plan.entities | (set() if plan.everything else _orphans(ledger, plan))
    words = {row.text for row in plan.claims.values() if row.text}
    words |= {row.object_text for row in plan.claims.values() if not row.object.startswith("e")}
    if gone:
        words |= {row.name for row in ledger.store.select(AliasRow, ledger.scope, entity=sorted(gone))}
    words |= set(plan.claims)
    return sorted({word.encode() for word in words if word and len(word.encode()) >= _MIN_NEEDLE})


def _purged(session: Session, report: ForgetReport, needles: Collection[bytes]) -> ForgetReport:
    """The report with what became of the bytes; a needle that is left counts only if no row holds it."""
    from dataclasses import replace

    store = session.store
    try:
        if not store.purge():
            return replace(report, pending="a reader holds the old bytes: purge() again when it has gone")
    except StoreError as error:  # what was forgotten is: only its bytes are left
        return replace(report, pending=f"the file can't be rebuilt ({type(error).__name__}): purge() when the disk can")
    left = store.residue(list(needles)) if needles else []
    if left and any(not _still_said(session, needle.decode()) for needle in left):
        return replace(report, pending="some bytes are still in the file: purge() again, or go on with a backup")
    return replace(report, purged=True)


def purge(session: Session) -> None:
    """Remove what forgetting left in the files while somebody read them; PurgePending if somebody still does."""
    if not session.store.purge():
        raise PurgePending("a reader still holds the bytes of what was forgotten: purge again when it has gone")


def _still_said(session: Session, word: str) -> bool:
    """Whether a live row of any scope holds the word, so that finding it in the file is no leak."""
    store = session.store
    with store.read():
        for scope in store.scopes():
            for table in TABLES.keys() - {ScopeRow}:
                for row in store.iterate(table, scope.scope, order=None):
                    if any(isinstance(value, str) and word in value for value in row):
                        return True
    return False


def _export_first(graph: GraphView, path: Path) -> None:
    """Write, flush and re-read an export; nothing is forgotten unless it is whole."""
    from semgraph.exchange.jsonl import check_jsonl, write_jsonl

    write_jsonl(graph, path)
    check_jsonl(path)
