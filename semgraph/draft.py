"""Facts on the way from folded segments to stored rows: pieces of edges, ids, lineage, and what stands in conflict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from semgraph.segment import Clash, Policy, Segment, Span, Statement, Value
from semgraph.temporal import NEG_INF, POS_INF, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from semgraph.store.schema import ClaimRow
__all__ = ["Draft", "Rival", "intersect", "link", "near_values", "note_clash", "number", "unknown_starts"]


class Rival(NamedTuple):
    """Another fact that excludes this one, and when both hold; `mirrored` if they dispute the subject."""

    fact: str
    start: int
    end: int
    mirrored: bool


@dataclass(slots=True, eq=False)
class Draft:
    """A fact about to be compared with the stored rows.

    `segment.value` is what `seen_from` sees at the far end; `subject` and `ref` are the way round it is stored, which
    differs only for a symmetric edge told by the other end.
    """

    seen_from: int
    subject: int
    ref: str
    predicate: str
    separators: str
    segment: Segment
    claims: list[ClaimRow]
    absorbed: list[str]
    id: str = ""
    base: float = 0.0
    rivals: list[Rival] = field(default_factory=list)
    possible: tuple[int, int] = (NEG_INF, POS_INF)
    certain: tuple[int, int] = (NEG_INF, POS_INF)
    supersedes: list[str] = field(default_factory=list)
    unsure: bool = False  # nobody said how many values the predicate takes

    @property
    def value(self) -> Value:
        """What holds, as the end sees it that the fact is seen from."""
        return self.segment.value


def intersect(g: Segment, m: Segment, *, coarser: bool) -> Segment:
    """The part of an edge that both of its fluents give; each bound comes from the one that sets it.

    `coarser` where claims of coarser words count that support it from its own end, which is no other's end.
    """
    start, end = max(g.start, m.start), min(g.end, m.end)
    first, last = (m if m.start > g.start else g), (m if m.end < g.end else g)
    spans = common_spans(g, m, start, end, coarser=coarser)
    return Segment(
        g.value,
        start,
        end,
        first.start_bound,
        first.basis,
        last.end_bound,
        last.end_reason,
        last.ended_by,
        first.opened,
        last.closed,
        spans,
        first.assumed,
        g.planned or m.planned,
    )


def common_spans(g: Segment, m: Segment, start: int, end: int, *, coarser: bool) -> list[Span]:
    """What supports an edge from both of its ends, or from either where nothing does from both."""
    mine, theirs = (
        {s.statement.claim: s for s in spans if max(s.since, start) < min(s.until, end)} for spans in (g.spans, m.spans)
    )
    names = mine.keys() & theirs.keys() or mine.keys() | theirs.keys()
    if coarser:
        names |= {name for name, span in mine.items() if span.absorbed}
    found = []
    for name in sorted(names):
        sides = [side[name] for side in (mine, theirs) if name in side]
        since, until = max(start, *(s.since for s in sides)), min(end, *(s.until for s in sides))
        if since < until:
            found.append(Span(sides[0].statement, since, until, sides[0].absorbed))
    return found or [s for side in (mine, theirs) for s in side.values()]


def unknown_starts(statements: list[Statement]) -> list[Segment]:
    """Facts that are only possible, before their end: nobody said since when they held."""
    groups: dict[tuple[Value, int], list[Statement]] = {}
    for s in statements:
        if s.basis == "unknown":
            groups.setdefault((s.value, s.end), []).append(s)
    made = []
    for (value, end), group in sorted(groups.items(), key=lambda item: item[0]):
        spans = [Span(s, NEG_INF, end, absorbed=False) for s in group]
        bound = min((s.end_bound for s in group if s.end_bound), key=lambda b: b.before - b.earliest, default=None)
        kind = group[0].end_kind
        made.append(Segment(value, NEG_INF, end, UNKNOWN, "unknown", bound, kind, (), "3", "", spans))
    return made


def near_values(drafts: Sequence[Draft], policy: Policy) -> Iterable[list[Segment]]:
    """The segments in groups of those that may exclude each other: of many values only the ones of one object."""
    segments = [d.segment for d in drafts]
    if not (policy.event or policy.cardinality == "many") or not all(g.value.ref for g in segments):
        return [segments]
    groups: dict[str, list[Segment]] = {}
    for g in segments:
        groups.setdefault(g.value.ref, []).append(g)
    return groups.values()


def number(drafts: list[Draft]) -> None:
    """Ids: the earliest-recorded claim's, with `.n` from the second piece on."""
    if len(drafts) == 1:
        drafts[0].id = drafts[0].claims[0].id
        return
    pieces: dict[str, int] = {}
    for draft in sorted(drafts, key=lambda d: (d.segment.start, d.segment.end)):
        first = draft.claims[0].id
        pieces[first] = pieces.get(first, 0) + 1
        draft.id = first if pieces[first] == 1 else f"{first}.{pieces[first]}"


def link(drafts: list[Draft]) -> None:
    """Lineage: a fact supersedes those that one of its claims ended."""
    if len(drafts) == 1:
        return
    ended: dict[str, list[Draft]] = {}
    for draft in drafts:
        for claim in draft.segment.ended_by:
            ended.setdefault(claim, []).append(draft)
    for draft in drafts:
        before = [d for row in draft.claims for d in ended.get(row.id, ()) if d.value != draft.value]
        draft.supersedes = sorted({d.id for d in before if d.segment.end_reason in ("superseded", "refined", "ended")})


def note_clash(clash: Clash, by_segment: Mapping[int, Draft]) -> None:
    """Each of the two facts is the other's rival."""
    a, b = by_segment[id(clash.a)], by_segment[id(clash.b)]
    a.rivals.append(Rival(b.id, clash.start, clash.end, mirrored=False))
    b.rivals.append(Rival(a.id, clash.start, clash.end, mirrored=False))
