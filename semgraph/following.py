"""Claims that start after all that was told in their fluent: the exact shortcut past the fold for what only goes on.

Where one value holds at a time and every claim is plain, begun, and over or open, a later start can touch nothing but
what still holds. The facts that do, with their claims, are the `Tail` of the fluent: a write looks at nothing else,
however long the fluent has become. Property tests hold the result to the full fold.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow
from semgraph.draft import Draft, Rival
from semgraph.fold import carry_on
from semgraph.segment import Segment, Span, certain_window, excludes, possible_from, possible_window
from semgraph.shortcut import Drafted
from semgraph.stating import base_confidence, rank_of, statement_of
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from semgraph.factrow import Body
    from semgraph.segment import Policy, Statement, Value
    from semgraph.snapshot import Snapshot
    from semgraph.store.schema import ClaimRow, FactRow
    from semgraph.vocabulary import Predicate

__all__ = ["Followed", "Past", "Tail", "applies", "follow"]


class Past(NamedTuple):
    """The columns of a claim that tell whether another one follows it."""

    id: str
    object: str
    negative: int
    kind: str
    opposed: int
    valid_from: int | None
    valid_from_text: str
    valid_to: int | None
    valid_to_text: str
    said_at: int

    @staticmethod
    def of(row: ClaimRow) -> Past:
        """Those of a whole row."""
        return Past(*(getattr(row, name) for name in Past._fields))


class Held(NamedTuple):
    """A fact that still holds: its row and body, the claims of its value, and the segment that they make."""

    row: FactRow
    body: Body
    claims: list[ClaimRow]
    segment: Segment


@dataclass(slots=True)
class Tail:
    """The end of a fluent of plain claims: the latest start, the latest end, and what still holds, as it opened."""

    latest: tuple[int, bool, int] = (NEG_INF, False, NEG_INF)  # start, whether a change, when it was said
    closed: int = NEG_INF
    held: dict[str, Held] = field(default_factory=dict)

    def take(self, past: Past) -> bool:
        """Take a claim in; False if it is not plain."""
        start = past.said_at if past.valid_from is None else past.valid_from
        if past.negative or past.opposed or not past.object or past.kind not in ("state", "change"):
            return False
        if past.valid_from_text[:1] in ("u", "a") or not NEG_INF < start <= past.said_at:
            return False
        if past.valid_to_text[:1] == "u":
            return False
        if past.valid_to is not None:
            self.closed = max(self.closed, past.valid_to)
        self.latest = max(self.latest, (start, past.kind == "change", past.said_at))
        return True

    def keep(self, snapshot: Snapshot, entry: Predicate, facts: Iterable[tuple[FactRow, Body, list[ClaimRow]]]) -> bool:
        """Take the facts in that still hold; False if how one was made can't be told from its claims alone.

        A claim that starts later than its fact may have joined it, or opened it again where something had closed it at
        that very moment.
        """
        opened = []
        for row, body, claims in facts:
            if row.negative or row.separators or body.basis not in ("stated", "observed"):
                return False
            spans = []
            for claim in claims:
                made, absorbed = _stated(snapshot, entry, claim), claim.id in body.absorbed
                if claim.valid_to is not None or (not absorbed and made.start != row.valid_from):
                    return False
                spans.append(Span(made, made.start, POS_INF, absorbed))
            own = [span.statement for span in spans if not span.absorbed]
            if len(own) != len(body.claims) or len(spans) != len(own) + len(body.absorbed):
                return False
            segment = _open(own[0].value, row, body, spans)
            first = min((s.change, s.said, s.order, s.claim) for s in own)
            kept = [claim for claim in claims if claim.id not in body.absorbed]
            opened.append((row.valid_from, first, Held(row, body, kept, segment)))
        self.held = {held.row.id: held for *_, held in sorted(opened, key=lambda one: one[:2])}
        return True


class Followed(NamedTuple):
    """What some claims changed: each fact before and after, and the tail as it is now."""

    changes: list[tuple[FactRow | None, Drafted]]
    tail: Tail


class _Change(NamedTuple):
    """A fact that some claims made or touched."""

    id: str
    before: Held | None
    segment: Segment
    claims: list[ClaimRow]


def applies(snapshot: Snapshot, subject: int, entry: Predicate) -> bool:
    """Whether a fluent takes one value at a time and depends on nothing but its own claims."""
    if entry.cardinality != "one" or entry.event or entry.ttl_days is not None or entry.one_by:
        return False
    if entry.symmetric or entry.unique_object or snapshot.justified:
        return False
    return subject not in snapshot.members and subject not in snapshot.redirects


def follow(
    tail: Tail,
    rows: Sequence[ClaimRow],
    snapshot: Snapshot,
    policy: Policy,
    scope: int,
    recorded_at: int,
    *,
    trace: dict[str, list[tuple[float, str, Value]]] | None = None,
) -> Followed | None:
    """What new claims of one fluent change, or None where the whole fluent has to be folded."""
    entry = snapshot.predicate(rows[0].predicate)
    statements = [_stated(snapshot, entry, row) for row in rows]
    after = Tail(tail.latest, tail.closed, dict(tail.held))
    for row, s in zip(rows, statements, strict=True):
        if (
            row.valid_to is not None
            or not after.take(Past.of(row))
            or (s.start, s.change, s.said) <= tail.latest
            or s.start <= tail.closed
        ):
            return None
    standing = [held.segment for held in tail.held.values()]
    made = carry_on(standing, statements, policy, trace=trace)
    if made is None:
        return None
    of_segment = {id(held.segment): held for held in tail.held.values()}
    known = {row.id: row for row in rows}
    changed = [_change(of_segment.get(id(before)), now, known) for before, now in made]
    if any(one is None for one in changed):
        return None
    return _written([one for one in changed if one is not None], tail, after, entry, policy, scope, recorded_at)


def _stated(snapshot: Snapshot, entry: Predicate, row: ClaimRow) -> Statement:
    ref = snapshot.resolved(row.object)
    return statement_of(row, entry, rank_of(row.source, entry), ref, snapshot.name_key(ref) if ref else "")


def _open(value: Value, row: FactRow, body: Body, spans: list[Span]) -> Segment:
    start = body.start
    return Segment(value, row.valid_from, POS_INF, start, body.basis, None, "open", (), body.opened, "", spans)


def _change(before: Held | None, now: Segment, known: Mapping[str, ClaimRow]) -> _Change | None:
    rows = dict(known) if before is None else {**known, **{row.id: row for row in before.claims}}
    told = sorted(now.claims(), key=lambda s: (s.recorded, s.claim))
    claims = [rows[s.claim] for s in told]
    if before is None:
        return _Change(claims[0].id, None, now, claims)
    joined = len(claims) > len(before.claims)
    if joined and (claims[0] is not before.claims[0] or _imported(before.segment) != _imported(now)):
        return None
    return _Change(before.row.id, before, now, claims)


def _imported(g: Segment) -> bool:
    return all(span.statement.source_class == "imported" for span in g.spans)


def _written(
    changed: list[_Change], tail: Tail, after: Tail, entry: Predicate, policy: Policy, scope: int, recorded_at: int
) -> Followed | None:
    now = {fact: held.segment for fact, held in tail.held.items()} | {one.id: one.segment for one in changed}
    rivals = _rivals(changed, tail, now, policy)
    touched = {one.id: one for one in changed}
    for fact in rivals.keys() - touched.keys():
        held = tail.held[fact]
        touched[fact] = _Change(fact, held, held.segment, held.claims)
    ended = _ended(changed, [*touched.values()], tail)
    for fact in ended.keys() - touched.keys():
        held = tail.held[fact]
        touched[fact] = _Change(fact, held, held.segment, held.claims)
    changes: list[tuple[FactRow | None, Drafted]] = []
    order = sorted(now.values(), key=lambda g: g.start)
    starts, alone = [g.start for g in order], len(now) == 1 and tail.closed == NEG_INF
    for fact, one in touched.items():
        earlier = map(order.__getitem__, range(bisect_left(starts, one.segment.start) - 1, -1, -1))
        draft = _draft(one, entry, earlier, policy, alone=alone)
        if draft is None:
            return None
        old = one.before
        draft.rivals = rivals.get(fact, [] if old is None else [Rival(*rival) for rival in old.body.rivals])
        draft.supersedes = sorted({*ended.get(fact, ()), *(() if old is None else old.body.supersedes)})
        row, body = factrow.encode(draft, scope, recorded_at)
        if row.valid_to == POS_INF:
            after.held[fact] = Held(row, body, one.claims, one.segment)
        else:
            after.held.pop(fact, None)
            after.closed = max(after.closed, row.valid_to)
        if old is None or old.row._replace(sys_from=0) != row._replace(sys_from=0):
            changes.append((None if old is None else old.row, Drafted(row, body)))
        else:
            after.held[fact] = old
    return Followed(changes, after)


def _draft(one: _Change, entry: Predicate, earlier: Iterable[Segment], policy: Policy, *, alone: bool) -> Draft | None:
    """The fact but for its rivals and lineage; None where since when it may have held depends on what is over.

    `earlier`: the facts that began before it, the latest first. `alone` where there is no other, over ones included.
    """
    g, old = one.segment, one.before
    subject = one.claims[0].subject if old is None else old.row.subject
    absorbed = sorted({span.statement.claim for span in g.spans if span.absorbed})
    draft = Draft(subject, subject, g.value.ref, entry.name, "", g, one.claims, absorbed, one.id)
    draft.base = base_confidence(one.claims)
    draft.certain, draft.possible = certain_window(g), possible_window(g)
    if g.basis == "observed" and old is not None:
        draft.possible = (old.body.possible[0], draft.possible[1])
    elif g.basis == "observed":
        limit = possible_from(g, (r for r in earlier if r.value != g.value and excludes(g, r, policy, ())))
        if limit != g.start and not (alone and limit == NEG_INF):
            return None
        draft.possible = (limit, draft.possible[1])
    return draft


def _rivals(
    changed: Sequence[_Change], tail: Tail, now: Mapping[str, Segment], policy: Policy
) -> dict[str, list[Rival]]:
    """The rivals of every fact that has other ones than before."""
    found: dict[str, list[Rival]] = {}
    closed = {one.id for one in changed if one.before is not None and one.segment.end != POS_INF}
    if closed:
        for fact, held in tail.held.items():
            kept = [_shortened(Rival(*r), fact, now) for r in held.body.rivals]
            found[fact] = [rival for rival in kept if rival.start < rival.end]
    fresh = {one.id for one in changed if one.before is None}
    for one, other, start, end in _meetings(now, fresh):
        if now[one].value != now[other].value and excludes(now[one], now[other], policy, ()):
            for a, b in ((one, other), (other, one)):
                if a not in found:
                    found[a] = [Rival(*r) for r in tail.held[a].body.rivals] if a in tail.held else []
                found[a].append(Rival(b, start, end, mirrored=False))
    for rivals in found.values():
        rivals.sort()
    return found


def _meetings(now: Mapping[str, Segment], fresh: Collection[str]) -> Iterator[tuple[str, str, int, int]]:
    """Each pair of facts of which one is fresh and which hold together, and from when to when."""
    there: list[str] = []
    for fact in sorted((fact for fact in now if now[fact].start < now[fact].end), key=lambda fact: now[fact].start):
        start, end = now[fact].start, now[fact].end
        there = [other for other in there if now[other].end > start]
        met = there if fact in fresh else [other for other in there if other in fresh]
        yield from ((other, fact, start, min(end, now[other].end)) for other in met)
        there.append(fact)


def _shortened(rival: Rival, fact: str, now: Mapping[str, Segment]) -> Rival:
    if rival.end != POS_INF:
        return rival
    return rival._replace(end=min(now[fact].end, now[rival.fact].end))


def _ended(changed: Sequence[_Change], touched: Sequence[_Change], tail: Tail) -> dict[str, list[str]]:
    """For facts that ended others by one of their claims, which."""
    by: dict[str, list[_Change]] = {}
    for one in changed:
        if one.segment.end_reason in ("superseded", "refined", "ended"):
            for claim in one.segment.ended_by:
                by.setdefault(claim, []).append(one)
    if not by:
        return {}
    claims = {fact: (held.segment, held.claims) for fact, held in tail.held.items()}
    claims |= {one.id: (one.segment, one.claims) for one in touched}
    found = {}
    for fact, (g, rows) in claims.items():
        ids = [one.id for row in rows for one in by.get(row.id, ()) if one.segment.value != g.value]
        if ids:
            found[fact] = ids
    return found
