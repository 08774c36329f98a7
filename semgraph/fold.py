"""The fold: what the statements about one fluent make true, and when.

`fold` sweeps the statements of one fluent through valid time and returns segments: maximal intervals in which one
value holds. It is pure, looks at nothing but its arguments, and its result does not depend on their order. The
numbered rows and the grounds g1 to g5 are those of the table in the semantics: the first row that fits a pair of an
arriving statement and a holder decides what happens between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING

from semgraph.apart import independent
from semgraph.segment import Policy, Segment, Span, Statement, Value, opposed, rivals, same_breath
from semgraph.temporal import NEG_INF, POS_INF, Bound, exact

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

__all__ = ["alone", "carry_on", "fold"]


@dataclass(slots=True, eq=False)
class _Holder:
    key: Hashable
    value: Value
    start: int
    start_bound: Bound
    basis: str
    opened: str
    supports: dict[Statement, int] = field(default_factory=dict)  # since when
    absorbed: set[Statement] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    suspended_by: set[Statement] = field(default_factory=set)

    @property
    def rank(self) -> int:
        return max(s.rank for s in self.supports)

    @property
    def last_said(self) -> int:
        return max(s.said for s in self.supports)

    def every(self, what: str) -> bool:
        return all(getattr(s, what) for s in self.supports)

    def source_only(self, source_class: str) -> bool:
        return all(s.source_class == source_class for s in self.supports)


_END, _START_END, _START, _START_CHANGE, _AFFIRM = range(5)
_CLOSING = {6: "refined", 8.5: "ended", 9: "superseded", 12: "superseded"}
ABSORBED, DROPPED = 7, 10


def fold(
    statements: Iterable[Statement],
    policy: Policy,
    *,
    trace: dict[str, list[tuple[float, str, Value]]] | None = None,
) -> list[Segment]:
    """The segments that the statements of one fluent make true, by start, then value.

    `trace`, where given, maps the ids of claims of interest to lists that receive the row, the ground and the
    other value for each holder that such a claim met when it started, but for those that can be told beforehand to
    have nothing to do with it.
    """
    ordered = sorted(statements, key=lambda s: (s.claim, s.start))
    if len(ordered) > 1 and (groups := independent(ordered, policy)):
        found = [segment for group in groups for segment in _swept(group, policy, trace or {})]
        if policy.event:
            _mark_planned(found, ordered)
        found.sort(key=lambda g: (g.start, g.end, g.value))
        return found
    return _swept(ordered, policy, trace or {})


def _swept(ordered: list[Statement], policy: Policy, trace: dict[str, list[tuple[float, str, Value]]]) -> list[Segment]:
    if len(ordered) == 1 and (ordered[0].start < ordered[0].end or ordered[0].basis == "unknown"):
        return alone(ordered[0])
    sweep = _Sweep(ordered, policy, trace)
    sweep.run()
    return sweep.finish()


def alone(s: Statement) -> list[Segment]:
    """What a statement makes true that meets no other: its own interval, or nothing where its start is unknown.

    An exact shortcut, for statements that start before they end.
    """
    if s.basis == "unknown":
        return []
    bound, by, reason, rule = None, tuple[str, ...](), "open", ""
    if s.end != POS_INF:
        bound = (s.end_bound if s.bounded else None) or exact(s.end)
        reason, by, rule = s.ending, (s.claim,), "E"
    spans = [Span(s, s.start, s.end, absorbed=False)]
    early = s.said < s.start
    g = Segment(s.value, s.start, s.end, s.start_bound, s.basis, bound, reason, by, "new", rule, spans)
    g.assumed, g.planned = early and s.basis == "resumed", early and s.basis == "stated"
    return [g]


def carry_on(
    standing: Sequence[Segment],
    later: Sequence[Statement],
    policy: Policy,
    *,
    trace: dict[str, list[tuple[float, str, Value]]] | None = None,
) -> list[tuple[Segment | None, Segment]] | None:
    """What statements make of a fluent that start after all others in it: the segments that they change or begin.

    `standing` is what is open, as it opened; nothing else may end at or after the first new start. Each result is a
    standing segment, or None, and what it is now. None where a value ends as it begins, or begins as it ends.
    """
    first = min(s.start for s in later)
    sweep = _Sweep([], policy, trace or {})
    opened: list[tuple[_Holder, Segment]] = []
    for g in standing:
        holder = _Holder(g.value, g.value, g.start, g.start_bound, g.basis, g.opened)
        holder.supports = {span.statement: span.since for span in g.spans}
        holder.absorbed = {span.statement for span in g.spans if span.absorbed}
        for s in holder.supports:
            if s.said >= first:
                sweep.schedule_affirmation(s)
        sweep.holders[g.value] = holder
        sweep.standing.update(holder.supports)
        opened.append((holder, g))
    for s in later:
        sweep.schedule(s)
    sweep.run()
    still = {id(w): w for w in sweep.holders.values()}
    if any(g.start >= first and id(holder) not in still for holder, g in opened):
        return None
    unchanged = {id(w) for w, g in opened if len(w.supports) == len(g.spans)}
    for w in sweep.holders.values():
        if id(w) not in unchanged:
            sweep.emit(w, POS_INF, "open", (), "", None)
    known = {(g.value, g.start): g for holder, g in opened if g.start < first or id(holder) in still}
    if {(g.value, g.end) for g in sweep.segments} & {(g.value, g.start) for g in sweep.segments}:
        return None
    return [(known.get((g.value, g.start)), g) for g in sweep.segments]


class _Sweep:
    def __init__(
        self, statements: list[Statement], policy: Policy, trace: dict[str, list[tuple[float, str, Value]]]
    ) -> None:
        self.statements = statements
        self.policy = policy
        self.trace = trace
        self.additive = {s.value for s in statements if s.also and not s.value.negative}
        self.holders: dict[Hashable, _Holder] = {}
        self.segments: list[Segment] = []
        self.events: list[tuple[int, int, int, str, str, int, Statement]] = []
        self.ends: dict[tuple[Hashable, int], list[Statement]] = {}  # those that state their end
        self.tie = count()
        self.dropped: set[Statement] = set()
        self.standing: set[Statement] = set()  # those that a sweep goes on from; they have settled among themselves

    def key(self, s: Statement) -> Hashable:
        """What has one holder: a value; of events each occurrence, which no other one joins."""
        return (s.value, s.start, s.end) if self.policy.event and not s.value.negative else s.value

    # -- events

    def schedule(self, s: Statement) -> None:
        if s.basis != "unknown":
            self.push(s.start, _phase(s), s)
            self.schedule_affirmation(s)
        if s.end != POS_INF and (s.basis != "unknown" or s.bounded):
            self.push(s.end, _END, s)
            if s.bounded and not s.cut:
                self.ends.setdefault((self.key(s), s.end), []).append(s)

    def schedule_affirmation(self, s: Statement) -> None:
        if s.start < s.said < s.end and s.end_kind != "soft":
            self.push(s.said, _AFFIRM, s)

    def push(self, time: int, phase: int, s: Statement) -> None:
        heappush(self.events, (time, phase, s.said, s.order, s.claim, next(self.tie), s))

    def run(self) -> None:
        for s in self.statements:
            self.schedule(s)
        while self.events:
            time, phase, *_, s = heappop(self.events)
            if phase == _END:
                self.stop(s, time)
            elif phase == _AFFIRM:
                holder = self.holders.get(self.key(s))
                if holder and s in holder.supports and not holder.suspended_by:
                    self.settle(s, time)
            else:
                self.begin(s, time)

    def begin(self, d: Statement, t: int) -> None:
        holder = self.holders.get(self.key(d))
        if holder is not None:
            self.join(d, holder, t)
            return
        rows = [(w, *self.row(d, w, t)) for w in self.holders.values()]
        self.note(d, rows)
        absorbing = [w for w, row, _ in rows if row == ABSORBED]
        if absorbing:
            for w in absorbing:
                w.supports[d] = t
                w.absorbed.add(d)
            return
        if any(row == DROPPED for _, row, _ in rows):
            self.hold(d, [w for w, row, _ in rows if row == DROPPED], t)
            return
        for w, row, ground in rows:
            if row in _CLOSING:
                self.close(w, t, _ended(d, _CLOSING[row]), d, f"{row:g} {ground}".strip())
            elif row == 13:
                self.suspend(w, d, t)
        opened = next((f"{row:g} {ground}".strip() for _, row, ground in rows if row in (12, 13, 6, 9, 11, 14)), "new")
        self.holders[self.key(d)] = _Holder(self.key(d), d.value, t, _start_bound(d, t), d.basis, opened, {d: t})

    def join(self, d: Statement, holder: _Holder, t: int) -> None:
        """Row 4; a suspended value stated again first meets whatever suspends it."""
        if holder.suspended_by:
            by = sorted(holder.suspended_by, key=lambda s: (s.start, s.said, s.order, s.claim))
            suspenders = [self.holders[k] for k in dict.fromkeys(map(self.key, by)) if k in self.holders]
            rows = [(w, *self.row(d, w, t)) for w in suspenders]
            self.note(d, rows)
            dropping = [w for w, row, _ in rows if row == DROPPED]
            if dropping:
                self.hold(d, dropping, t)
                return
            for w, row, ground in rows:
                if row in (12, 13) and w.key in self.holders:
                    self.close(w, t, _ended(d, "superseded"), d, f"{row:g} {ground}".strip())
            self.resume(holder, t)
            holder.start_bound, holder.basis = _start_bound(d, t), d.basis
        else:
            self.note(d, [(holder, 4, "")])
        holder.supports[d] = t
        holder.absorbed.discard(d)
        self.settle(d, t)

    def settle(self, c: Statement, t: int) -> None:
        """Row A: a statement of a value that already holds, against every exclusive rival."""
        for w in list(self.holders.values()):
            if w.value == c.value or self.holders.get(w.key) is not w:
                continue
            if c in self.standing and self.standing.issuperset(w.supports):
                continue
            row = self.early_row(c, w)
            if row in (8.5, 9):
                self.close(w, t, _ended(c, _CLOSING[row]), c, f"A {row:g}")
            elif row is None and c.rank >= w.rank and self.newer(c, w, t):
                ground = self.general_ground(c, w)
                if ground and c.bounded:
                    self.suspend(w, c, t)
                elif ground:
                    self.close(w, t, _ended(c, "superseded"), c, f"A {ground}")

    def stop(self, c: Statement, t: int) -> None:
        """Row E: the end of a statement, which may take earlier supports of its value along."""
        if c in self.dropped:
            return
        for w in list(self.holders.values()):
            if c in w.absorbed:
                self.unsupport(w, c, t)
                if not w.supports:
                    self.close(w, t, c.ending, c, "E")
        holder = self.holders.get(self.key(c))
        if holder is None:
            return
        if c.told_end:
            for x in list(holder.supports):
                if x is not c and x.rank <= c.rank and (x.evidence <= t or c.said > x.said):
                    self.unsupport(holder, x, t)
        self.unsupport(holder, c, t)
        if not holder.supports:
            # Of several that something cuts at once, the most trusted is what ends with the value.
            cut = [span.statement for span in holder.spans if span.until == t and span.statement.cut]
            self.close(holder, t, c.ending, max(cut, key=attrgetter("rank")) if c.cut else c, "E")

    def hold(self, d: Statement, dropping: Sequence[_Holder], t: int) -> None:
        """Row 10: start again when the changes that outdate the statement have ended, or never."""
        self.dropped.add(d)
        changes = [k for w in dropping for k in w.supports if _outdates(k, d, t)]
        again = max(k.end if k.bounded else POS_INF for k in changes)
        if again < d.end:
            self.schedule(replace(d, basis="resumed", start=again, start_bound=exact(again)))

    # -- the table

    def row(self, d: Statement, w: _Holder, t: int) -> tuple[float, str]:
        """The row that decides between an arriving statement and a holder of another value, and its ground."""
        early = self.early_row(d, w)
        if early is not None:
            return early, ""
        if not d.change and any(_outdates(k, d, t) for k in w.supports):
            return DROPPED, ""
        if d.rank < w.rank:
            return 11, ""
        ground = self.ground(d, w, t)
        if ground:
            return (13 if d.bounded else 12), ground
        return 14, ""

    def early_row(self, d: Statement, w: _Holder) -> float | None:
        """Rows 5 to 9, or None where the two really compete."""
        v = d.value
        denied = opposed(v, w.value)
        if not denied:
            if not d.change and (v in self.additive or w.value in self.additive):
                return 5
            finer = self.refinement(d, w)
            if finer:
                return finer
        if not self.exclusive(d, w, denied=denied):
            return 8
        answers = not v.negative and d.rank >= w.rank and d.said >= w.last_said and d.start >= w.start
        if answers and w.every("explicit_end"):
            return 8.5  # row 8a
        if d.rank >= w.rank and all(s.end_kind == "soft" for s in w.supports):
            return 9
        return None

    def refinement(self, d: Statement, w: _Holder) -> int | None:
        refines = self.policy.refines
        v = d.value
        if refines is None or self.policy.event or v.negative or w.value.negative:
            return None
        if d.source_class == "imported" or w.source_only("imported"):
            return None
        if refines(v.ref, w.value.ref):
            return 6 if d.rank >= w.rank else 8
        if refines(w.value.ref, v.ref):
            return ABSORBED if w.rank >= d.rank else 8
        return None

    def exclusive(self, d: Statement, w: _Holder, *, denied: bool) -> bool:
        if denied:
            return True
        if not rivals(d.value, w.value, self.policy):
            return False
        return self.policy.cardinality != "unregistered" or not any(same_breath(d, s) for s in w.supports)

    def newer(self, d: Statement, w: _Holder, t: int) -> bool:
        return all(d.said >= s.said for s in w.supports if s.evidence > t)

    def general_ground(self, d: Statement, w: _Holder) -> str:
        """g1, g3 or g4: the grounds that do not look at the intervals."""
        if self.policy.cardinality == "once":
            return ""
        if d.change:
            return "g1"
        if self.policy.cardinality == "unregistered":
            return ""
        if d.said - w.last_said > self.policy.window:
            return "g3"
        if w.source_only("inferred") and d.source_class != "inferred" and d.said >= w.last_said:
            return "g4"
        return ""

    def ground(self, d: Statement, w: _Holder, t: int) -> str:
        """On what ground the statement supersedes the holder, or nothing."""
        general = self.general_ground(d, w)
        newer = self.newer(d, w, t)
        if general and (newer or general == "g4"):
            return general
        if self.policy.cardinality in ("once", "unregistered"):
            return ""
        if any(s.end_kind == "stated" and s.end > t for s in w.supports):
            return ""
        if newer and d.basis == "stated" and _certainly_later(d, w):
            return "g2"
        return "g5" if d.bounded else ""

    # -- holders

    def unsupport(self, holder: _Holder, s: Statement, t: int) -> None:
        if s in holder.supports:
            holder.spans.append(Span(s, holder.supports.pop(s), t, s in holder.absorbed))
        self.release(s, t)

    def release(self, s: Statement, t: int) -> None:
        """What the statement suspended resumes, unless its value still holds by another bounded one."""
        suspended = [w for w in self.holders.values() if s in w.suspended_by]
        if not suspended:
            return
        holder = self.holders.get(self.key(s))
        others = {x for x in holder.supports if x.bounded and x is not s} if holder else set()
        for w in suspended:
            w.suspended_by.discard(s)
            w.suspended_by |= others
            if not w.suspended_by:
                self.resume(w, t)

    def resume(self, w: _Holder, t: int) -> None:
        w.suspended_by.clear()
        w.start, w.start_bound, w.basis, w.opened = t, exact(t), "resumed", "resumed"
        w.supports = dict.fromkeys(w.supports, t)
        w.spans = []

    def suspend(self, w: _Holder, c: Statement, t: int) -> None:
        if not w.suspended_by:
            self.emit(w, t, "suspended", (c.claim,), "13", exact(t))
        w.suspended_by.add(c)

    def close(self, w: _Holder, t: int, reason: str, by: Statement, rule: str) -> None:
        if not w.suspended_by:
            bound = by.start_bound if by.value != w.value and by.start == t else None
            if reason == "stated":
                bound = self.most_precise_end(w, t)
            self.emit(w, t, reason, (by.claim,), rule, bound or exact(t))
        del self.holders[w.key]
        for s in w.supports:
            self.release(s, t)

    def most_precise_end(self, w: _Holder, t: int) -> Bound | None:
        """The end as the most precise statement of the value has it, of those that end then by what they say."""
        stated = [s.end_bound for s in self.ends.get((w.key, t), ()) if s not in self.dropped and s.end_bound]
        return min(stated, key=lambda b: (b.before - b.earliest, b.stored), default=None)

    def emit(self, w: _Holder, t: int, reason: str, by: tuple[str, ...], rule: str, bound: Bound | None) -> None:
        if w.start >= t:
            return
        present = [Span(s, since, t, s in w.absorbed) for s, since in w.supports.items()]
        self.segments.append(
            Segment(w.value, w.start, t, w.start_bound, w.basis, bound, reason, by, w.opened, rule, w.spans + present)
        )

    def note(self, d: Statement, rows: Sequence[tuple[_Holder, float, str]]) -> None:
        if d.claim in self.trace:
            self.trace[d.claim].extend((row, ground, w.value) for w, row, ground in rows)

    def finish(self) -> list[Segment]:
        for w in self.holders.values():
            if not w.suspended_by:
                self.emit(w, POS_INF, "open", (), "", None)
        segments = self.segments if self.policy.event else _coalesce(self.segments)
        _mark_planned(segments, self.statements)
        for g in segments:
            g.assumed = g.basis == "resumed" and all(s.said < g.start for s in g.claims())
        segments.sort(key=lambda g: (g.start, g.end, g.value))
        return segments


def _certainly_later(d: Statement, w: _Holder) -> bool:
    """Whether a stated start lies after all of the holder's; one that was only seen then lies before its instant."""
    latest = w.start if w.basis in ("observed", "resumed", "premise") else w.start_bound.before
    return d.start_bound.earliest >= latest


def _mark_planned(segments: Iterable[Segment], statements: Iterable[Statement]) -> None:
    """Planned is what starts after every word of its value, be it about another occurrence."""
    latest: dict[Value, int] = {}
    for s in statements:
        latest[s.value] = max(latest.get(s.value, NEG_INF), s.said)
    for g in segments:
        g.planned = g.basis == "stated" and latest[g.value] < g.start


def _phase(s: Statement) -> int:
    if s.explicit_end:
        return _START_END
    return _START_CHANGE if s.change else _START


def _start_bound(d: Statement, t: int) -> Bound:
    return d.start_bound if d.start == t else exact(t)


def _ended(by: Statement, reason: str) -> str:
    return "ended" if by.value.negative else reason


def _outdates(k: Statement, d: Statement, t: int) -> bool:
    return k.change and k.rank >= d.rank and k.said >= d.said and k.evidence > t


def _coalesce(segments: Collection[Segment]) -> list[Segment]:
    """Equal adjacent or overlapping segments of one value become one."""
    out: dict[Value, list[Segment]] = {}
    for g in sorted(segments, key=lambda g: (g.start, g.end)):
        chain = out.setdefault(g.value, [])
        if chain and chain[-1].end >= g.start:
            last = chain[-1]
            last.spans = last.spans + g.spans
            last.end, last.end_bound, last.end_reason = g.end, g.end_bound, g.end_reason
            last.ended_by, last.closed = g.ended_by, g.closed
        else:
            chain.append(g)
    return [g for chain in out.values() for g in chain]
