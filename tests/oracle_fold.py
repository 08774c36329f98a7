"""The fold of the reference model: the rows of the table and the pseudo code, one after the other, nothing clever."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oracle_model import NONE, Claim, Obj, Predicate, Value

from semgraph.names import refines
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

END, START_END, START_STATE, START_CHANGE, AFFIRM = range(5)


@dataclass(slots=True, eq=False)
class Take:
    """A claim as one fold reads it: its value there, and the piece of its interval that counts."""

    claim: Claim
    value: Value
    rank: int
    start: int
    basis: str  # of the claim; "cut" where the piece begins later than the claim does
    lo: int
    hi: int
    stop: int
    stop_kind: str  # open | stated | soft | ttl | cut
    evidence: int
    end_kind: str  # of the claim: open | stated | soft

    @property
    def bounded(self) -> bool:
        return self.end_kind == "stated" or self.stop_kind == "cut"

    @property
    def said(self) -> int:
        return self.claim.said


@dataclass(slots=True)
class Stint:
    """The time for which one claim supported a segment."""

    take: Take
    start: int
    end: int
    absorbed: bool


@dataclass(slots=True)
class Segment:
    """A stretch during which one value holds."""

    value: Value
    start: int
    basis: str
    lo: int
    hi: int
    end: int = POS_INF
    end_lo: int = POS_INF
    end_hi: int = POS_INF
    reason: str = "open"  # open | superseded | refined | suspended | ended | ttl | soft | cut
    ended_by: Value | None = None
    stints: list[Stint] = field(default_factory=list)

    @property
    def supports(self) -> list[Claim]:
        """The claims that said this value and supported the segment at any time."""
        return list(dict.fromkeys(s.take.claim for s in self.stints if not s.absorbed))

    @property
    def claims(self) -> list[Claim]:
        """The same with the coarser claims that were absorbed."""
        return list(dict.fromkeys(s.take.claim for s in self.stints))


@dataclass(slots=True, eq=False)
class Holder:
    value: Value
    slot: object
    start: int
    basis: str
    lo: int
    hi: int
    supports: list[Take] = field(default_factory=list)
    suspended_by: list[Take] = field(default_factory=list)
    joined: dict[int, int] = field(default_factory=dict)  # id(take) -> since when, in this segment
    left: list[Stint] = field(default_factory=list)

    @property
    def suspended(self) -> bool:
        return bool(self.suspended_by)


@dataclass(slots=True)
class Told:
    """What the fold did with one claim, for the receipt."""

    rows: list[str] = field(default_factory=list)
    closed: list[Value] = field(default_factory=list)


class Rules:
    """What decides about pairs of values of one fluent."""

    def __init__(
        self,
        predicate: Predicate,
        cardinality: str,
        key: Callable[[Obj], str],
        *,
        declared: Callable[[Obj], bool],
        kept: frozenset[frozenset[Value]] = frozenset(),
        additive: frozenset[Value] = frozenset(),
    ) -> None:
        self.predicate = predicate
        self.cardinality = cardinality
        self.key_of = key
        self.declared = declared
        self.kept = kept
        self.additive = additive

    def key(self, value: Value) -> str:
        return "" if value[1] is None else self.key_of(value[1])

    @staticmethod
    def negation(v: Value, w: Value) -> bool:
        """Whether the one is what the other says no to."""
        return v[0] != w[0] and (v[1] == w[1] or NONE in (v, w))

    def exclusive(self, v: Value, w: Value) -> bool:
        if v[0] != w[0]:
            return self.negation(v, w)
        one = self.cardinality in ("one", "once", "unknown") and not self.predicate.event
        return v[0] == "+" and v != w and one

    def also(self, v: Value, w: Value) -> bool:
        """Whether an `also` claim lets the pair stand together."""
        return not self.negation(v, w) and (v in self.additive or w in self.additive)

    def finer(self, v: Value, w: Value, *, imported: bool) -> bool:
        """Whether v refines w (4.5)."""
        if imported or self.predicate.event or "norefine" in self.predicate.flags or v[0] == "-" or w[0] == "-":
            return False
        assert v[1] is not None
        return not self.declared(v[1]) and refines(self.key(v), self.key(w))


class Fold:
    """Segments of one fluent, and what became of each claim."""

    def __init__(self, takes: Iterable[Take], rules: Rules, tie: Callable[[str], str] = str) -> None:
        self.rules = rules
        self.takes = list(takes)
        self.tie = tie
        self.holders: dict[object, Holder] = {}
        self.segments: list[Segment] = []
        self.dropped: set[int] = set()
        self.told: dict[str, Told] = {}
        self._queue: list[tuple[int, int, int, str, str, int, Take]] = []
        self._count = 0
        for take in self.takes:
            self._schedule(take)
        while self._queue:
            time, kind, *_, take = heapq.heappop(self._queue)
            if id(take.claim) in self.dropped:
                continue
            if kind == END:
                self._end(take, time)
            elif kind == AFFIRM:
                self._affirm(take, time)
            else:
                self._start(take, time)
        for holder in list(self.holders.values()):
            self._emit(holder, POS_INF, "open", None)
        self.segments = self._coalesced()

    # events

    def _push(self, time: int, kind: int, take: Take) -> None:
        self._count += 1  # so that takes themselves are never compared
        event = (time, kind, take.said, self.rules.key(take.value), self.tie(take.claim.id), self._count, take)
        heapq.heappush(self._queue, event)

    def _schedule(self, take: Take) -> None:
        if take.basis != "unknown":
            self._push(take.start, self._class(take), take)
            if take.start < take.said < take.stop and take.stop_kind != "soft":
                self._push(take.said, AFFIRM, take)
        if take.stop != POS_INF:
            self._push(take.stop, END, take)

    @staticmethod
    def _class(take: Take) -> int:
        if take.claim.explicit_end:
            return START_END
        return START_CHANGE if take.claim.change else START_STATE

    def _slot(self, take: Take) -> object:
        """Events of one value are one fact only if they are of one interval; that there was none is no event."""
        event = self.rules.predicate.event and take.value[0] == "+"
        return (take.value, take.start, take.stop) if event else take.value

    def _log(self, take: Take) -> Told:
        return self.told.setdefault(take.claim.id, Told())

    # START

    def _start(self, d: Take, t: int) -> None:
        slot = self._slot(d)
        if slot in self.holders:
            self._again(d, self.holders[slot], t)
            return
        rows = {key: self.row(d, w, t) for key, w in self.holders.items()}
        log = self._log(d)
        entailing = [self.holders[key] for key, row in rows.items() if row == "7"]
        if entailing:
            log.rows.append("7")
            for w in entailing:
                self._join(w, d, t)
            return
        if self._held(d, [self.holders[key] for key, row in rows.items() if row == "10"], t):
            return
        log.rows += rows.values()
        for key, row in rows.items():
            if key not in self.holders:  # gone with another one
                continue
            if row in ("6", "8a", "9", "12"):
                self._close(key, t, d, "refined" if row == "6" else "superseded")
            elif row == "13":
                self._suspend(self.holders[key], d, t)
        holder = Holder(d.value, slot, t, d.basis, d.lo, d.hi)
        self.holders[slot] = holder
        self._join(holder, d, t)

    def _again(self, d: Take, h: Holder, t: int) -> None:
        """Row 4: the value is there already, perhaps suspended."""
        log = self._log(d)
        if h.suspended:
            slots = list(dict.fromkeys(self._slot(k) for k in h.suspended_by))
            rows = {slot: self.row(d, self.holders[slot], t) for slot in slots if slot in self.holders}
            if self._held(d, [self.holders[slot] for slot, row in rows.items() if row == "10"], t):
                return
            for slot, row in rows.items():
                if row in ("12", "13") and slot in self.holders:
                    self._close(slot, t, d, "superseded")
            h.suspended_by.clear()
            h.start, h.basis, h.lo, h.hi = t, d.basis, d.lo, d.hi
        log.rows.append("4")
        self._join(h, d, t)
        self._settle(d, t)

    def _held(self, d: Take, holders: list[Holder], t: int) -> bool:
        """Row 10: a stale observation waits for the end of the changes that outdate it, or is dropped."""
        if not holders:
            return False
        ks = [k for w in holders for k in self.outdating(d, w, t)]
        ends = [k.stop if k.stop_kind == "ttl" else k.stop if k.bounded else POS_INF for k in ks]
        until = max(ends)
        if until < d.stop:
            later = replace(d, start=until, basis="resumed", lo=until, hi=until + 1)
            self.takes = [later if x is d else x for x in self.takes]
            self._queue = [e for e in self._queue if e[-1] is not d]
            heapq.heapify(self._queue)
            self._schedule(later)
            self._log(d).rows.append("held")
        else:
            self.dropped.add(id(d.claim))
            self._log(d).rows.append("10")
        return True

    # the table

    def row(self, d: Take, w: Holder, t: int) -> str:
        v, rules = d.value, self.rules
        if rules.also(v, w.value) and not d.claim.change:
            return "5"
        related = self._refinement(d, w)
        if related == "finer":
            return "6" if d.rank >= rank(w) else "8"
        if related == "coarser":
            return "7" if rank(w) >= d.rank else "8"
        if not rules.exclusive(v, w.value) or frozenset((v, w.value)) in rules.kept or self._same_breath(d, w):
            return "8"
        if self._answers(d, w):
            return "8a"
        if self._soft(d, w):
            return "9"
        if not d.claim.change and self.outdating(d, w, t):
            return "10"
        if d.rank < rank(w):
            return "11"
        if self.grounds(d, w, t):
            return "13" if d.bounded else "12"
        return "14"

    def _refinement(self, d: Take, w: Holder) -> str:
        imported = d.claim.imported or all(x.claim.imported for x in w.supports)
        if self.rules.finer(d.value, w.value, imported=imported):
            return "finer"
        return "coarser" if self.rules.finer(w.value, d.value, imported=imported) else ""

    def _same_breath(self, d: Take, w: Holder) -> bool:
        if self.rules.cardinality != "unknown" or self.rules.negation(d.value, w.value):
            return False
        return any(same_breath(d.claim, x.claim) for x in w.supports)

    def _answers(self, d: Take, w: Holder) -> bool:
        """Row 8a."""
        return (
            all(x.claim.explicit_end for x in w.supports)
            and d.value[0] == "+"
            and all(d.said >= x.said for x in w.supports)
            and d.start >= w.start
            and d.rank >= rank(w)
        )

    @staticmethod
    def _soft(d: Take, w: Holder) -> bool:
        """Row 9."""
        return all(x.end_kind == "soft" for x in w.supports) and d.rank >= rank(w)

    @staticmethod
    def outdating(d: Take, w: Holder, t: int) -> list[Take]:
        return [k for k in w.supports if k.claim.change and k.rank >= d.rank and k.said >= d.said and k.evidence > t]

    def grounds(self, d: Take, w: Holder, t: int) -> set[str]:
        if self.rules.cardinality == "once":
            return set()
        direct = [x for x in w.supports if x.evidence > t]
        newer = all(d.said >= x.said for x in direct)
        hard = any(x.end_kind == "stated" for x in direct)
        latest = max(x.said for x in w.supports)
        found = set()
        if d.claim.change and newer:
            found.add("g1")
        if self.rules.cardinality == "unknown":
            return found
        if d.basis == "stated" and d.lo >= w.hi and newer and not hard:
            found.add("g2")
        if d.said - latest > self.rules.predicate.window_us and newer:
            found.add("g3")
        if all(x.claim.inferred for x in w.supports) and not d.claim.inferred and d.said >= latest:
            found.add("g4")
        if d.bounded and not hard:
            found.add("g5")
        return found

    # row A

    def _affirm(self, c: Take, t: int) -> None:
        h = self.holders.get(self._slot(c))
        if h is not None and c in h.supports and not h.suspended:
            self._settle(c, t)

    def _settle(self, c: Take, t: int) -> None:
        for slot, w in list(self.holders.items()):
            if slot not in self.holders or not self.rules.exclusive(c.value, w.value):
                continue
            if self.row_a(c, w, t) == "close":
                self._close(slot, t, c, "superseded")
            elif self.row_a(c, w, t) == "suspend":
                self._suspend(w, c, t)

    def row_a(self, c: Take, w: Holder, t: int) -> str:
        rules = self.rules
        if rules.also(c.value, w.value) and not c.claim.change:
            return ""
        if self._refinement(c, w) or frozenset((c.value, w.value)) in rules.kept or self._same_breath(c, w):
            return ""
        if self._answers(c, w) or self._soft(c, w):
            return "close"
        newer = all(c.said >= x.said for x in w.supports if x.evidence > t)
        if c.rank >= rank(w) and newer and self.grounds(c, w, t) & {"g1", "g3", "g4"}:
            return "suspend" if c.bounded else "close"
        return ""

    # END

    def _end(self, c: Take, t: int) -> None:
        gone = [c]
        own = self.holders.get(self._slot(c))
        if own is not None and c.stop_kind == "stated":
            gone += [
                x
                for x in own.supports
                if x is not c and x.start < t and x.rank <= c.rank and (x.evidence <= t or c.said > x.said)
            ]
        for slot, w in list(self.holders.items()):
            for x in gone:
                if x in w.supports:
                    self._leave(w, x, t)
            if not w.supports:
                del self.holders[slot]
                kinds = {x.stop_kind for x in self.takes if self._slot(x) == slot and x.stop == t}
                self._emit(w, t, "ended" if "stated" in kinds else c.stop_kind, w.value)
        self._release(gone, t)

    # effects

    def _join(self, w: Holder, c: Take, t: int) -> None:
        if c not in w.supports:
            w.supports.append(c)
            w.joined[id(c)] = t

    def _leave(self, w: Holder, c: Take, t: int) -> None:
        w.supports.remove(c)
        since = w.joined.pop(id(c))
        if not w.suspended:
            w.left.append(self._stint(w, c, since, t))

    def _stint(self, w: Holder, c: Take, since: int, until: int) -> Stint:
        return Stint(c, max(since, w.start), until, c.value != w.value)

    def _close(self, slot: object, t: int, d: Take, reason: str) -> None:
        w = self.holders.pop(slot)
        self._emit(w, t, reason, d.value, self._stated_end(d, w, t))
        self._note_closed(d, w.value)
        self._release(w.supports, t)

    def _suspend(self, w: Holder, c: Take, t: int) -> None:
        self._emit(w, t, "suspended", c.value)
        if c not in w.suspended_by:
            w.suspended_by.append(c)
        self._note_closed(c, w.value)

    def _note_closed(self, d: Take, value: Value) -> None:
        closed = self._log(d).closed
        if value not in closed:
            closed.append(value)

    def _release(self, gone: Iterable[Take], t: int) -> None:
        """Resume what these claims suspended, unless their value still holds by another bounded claim."""
        gone = list(gone)
        for w in self.holders.values():
            mine = [k for k in w.suspended_by if k in gone]
            for k in mine:
                w.suspended_by.remove(k)
                still = self.holders.get(self._slot(k))
                others = [x for x in still.supports if x.bounded and x not in gone] if still else []
                w.suspended_by += [x for x in others if x not in w.suspended_by]
            if mine and not w.suspended:
                # It held before, so that whatever begins now is later: its window ends where it begins.
                w.start, w.basis, w.lo, w.hi = t, "resumed", t, t

    def _stated_end(self, d: Take, w: Holder, t: int) -> tuple[int, int] | None:
        """Who says since when it is not so says until when it was, and the other way round: that end's window."""
        says_end = (self.rules.negation(d.value, w.value) and d.value[0] == "-") or self._answers(d, w)
        return (d.lo, d.hi) if says_end and d.basis == "stated" and d.start == t else None

    def _emit(self, w: Holder, t: int, reason: str, by: Value | None, window: tuple[int, int] | None = None) -> None:
        if w.suspended:
            return
        stints = w.left + [self._stint(w, c, w.joined[id(c)], t) for c in w.supports]
        w.left = []
        if w.start >= t:
            return
        segment = Segment(w.value, w.start, w.basis, w.lo, w.hi, t, t, t, reason, by)
        segment.stints = [s for s in stints if s.start <= s.end]  # row 4 counts what came at the very end, too
        if window:
            segment.reason, segment.end_lo, segment.end_hi = "ended", *window
            reason = ""
        if reason == "ended":
            windows = [
                (x.claim.end_hi - x.claim.end_lo, x.claim.end_lo, x.claim.end_hi)
                for x in self.takes
                if self._slot(x) == w.slot
                and x.stop == t
                and x.stop_kind == "stated"
                and id(x.claim) not in self.dropped
            ]
            if windows:
                _, segment.end_lo, segment.end_hi = min(windows)
        self.segments.append(segment)

    def _coalesced(self) -> list[Segment]:
        out: list[Segment] = []
        for segment in sorted(self.segments, key=lambda s: (s.start, s.end)):
            before = [s for s in out if s.value == segment.value and s.end >= segment.start]
            if self.rules.predicate.event or not before:
                out.append(segment)
                continue
            last = before[-1]
            last.stints = last.stints + segment.stints
            if segment.end > last.end:
                last.end, last.end_lo, last.end_hi = segment.end, segment.end_lo, segment.end_hi
                last.reason, last.ended_by = segment.reason, segment.ended_by
        return out


def rank(w: Holder) -> int:
    return max(x.rank for x in w.supports)


def same_breath(a: Claim, b: Claim) -> bool:
    return a.source == b.source and (a.said == b.said or (a.ref is not None and a.ref == b.ref))
