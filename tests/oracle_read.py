"""The reads of the reference model: each walks over all facts of one World."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from oracle_facts import Conflict, Fact, Span, base_confidence, intersect, union
from oracle_model import Ambiguous, Claim, Obj, is_literal, key_of_literal

from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle_world import World


@dataclass(slots=True)
class Reading:
    """A fact as seen through the predicate that was asked for: turned round by an inverse, flipped by an opposite."""

    fact: Fact
    subject: Obj
    object: Obj | None
    negative: bool
    start: int
    basis: str
    lo: int
    hi: int
    end: int
    end_lo: int
    end_hi: int
    claims: list[Claim]
    stated_end: bool
    planned: bool

    @property
    def certain_span(self) -> Span:
        if self.planned or (self.basis == "resumed" and not any(c.said >= self.start for c in self.claims)):
            return (self.start, self.start)
        begin = self.hi if self.basis == "stated" and self.hi - self.lo > 1 else self.start
        finish = self.end_lo if self.stated_end and self.end_hi - self.end_lo > 1 else self.end
        return (begin, finish)

    def certain(self, t: int) -> bool:
        begin, finish = self.certain_span
        return begin <= t < finish


class Held(NamedTuple):
    """One value at one instant."""

    object: Obj
    label: str
    certain: bool
    conflict: bool
    confidence: float
    only_possible: bool
    reading: Reading | None


class Line(NamedTuple):
    """One row of a timeline; the object is "¬X" or "NONE" where it is negative."""

    object: str
    start: int
    end: int | None


class Reader:
    """Everything that can be asked of a World."""

    def __init__(self, world: World, all_claims: list[Claim], *, explicit: bool) -> None:
        self.world, self.all_claims, self.explicit = world, all_claims, explicit
        self.names, self.registry, self.known = world.names, world.registry, world.known

    # names

    def entity_of(self, name: str, when: int) -> int | None:
        found = self.names.find(name, self.known, when if self.explicit else None)
        if len(found) > 1:
            raise Ambiguous([self.names.label(e, when) for e in found])
        return found[0] if found else None

    def object_of(self, value: Any, predicate: str, when: int) -> Obj | None:
        entry = self.registry.entry(predicate, self.known)
        if is_literal(value, entry):
            return ("l", key_of_literal(value, entry))
        found = self.entity_of(value, when)
        return None if found is None else ("e", found)

    def label(self, obj: Obj | None, when: int) -> str:
        if obj is None:
            return "NONE"
        if obj[0] == "e":
            return self.names.label(obj[1], when)
        first = min((c for c in self.all_claims if c.object == obj), key=lambda c: c.recorded, default=None)
        return first.label if first else str(obj[1])

    # facts, turned and flipped

    def readings(self, predicate: str, *, subject: Obj | None = None, negative: bool | None = False) -> list[Reading]:
        """What holds under a predicate name, its inverse and opposite readings included."""
        entry, inverse, flipped = self.registry.resolve(predicate)
        out = []
        for fact in self.world.facts:
            if fact.predicate != entry.name:
                continue
            ends: tuple[Obj, Obj | None] = (("e", fact.subject), fact.object)
            if inverse:
                if fact.object is None:
                    continue
                ends = (fact.object, ends[0])
            if subject is not None and ends[0] != subject:
                continue
            out += [
                r
                for r in (self._flipped(fact, ends) if flipped else [self._plain(fact, ends)])
                if negative is None or r.negative == negative
            ]
        return out

    @staticmethod
    def _plain(fact: Fact, ends: tuple[Obj, Obj | None]) -> Reading:
        return Reading(
            fact, *ends, fact.negative, fact.start, fact.basis, fact.lo, fact.hi, fact.end, fact.end_lo, fact.end_hi,
            fact.base_claims, fact.reason == "ended", fact.planned,
        )  # fmt: skip

    def _flipped(self, fact: Fact, ends: tuple[Obj, Obj | None]) -> Iterator[Reading]:
        """A negative fact through an opposite: only while a support is no explicit end, and by those supports alone."""
        if not fact.negative:
            yield replace(self._plain(fact, ends), negative=True)
            return
        group = self.world.groups[fact.fluent]
        said = [c.said for c, value in group if value == fact.value and not c.explicit_end]
        stints = [s for s in fact.stints if not s.take.claim.explicit_end]
        for start, end in union((s.start, s.end) for s in stints):
            if start == end:
                continue
            mine = [s for s in stints if start <= s.start and s.end <= end]
            opener = next(s.take for s in mine if s.start == start)
            basis, lo, hi = (opener.basis, opener.lo, opener.hi) if opener.start == start else ("resumed", start, start)
            windows = [
                (s.take.claim.end_hi - s.take.claim.end_lo, s.take.claim.end_lo, s.take.claim.end_hi)
                for s in mine
                if s.end == end == s.take.stop and s.take.stop_kind == "stated"
            ]
            _, end_lo, end_hi = min(windows, default=(0, end, end))
            claims = list(dict.fromkeys(s.take.claim for s in mine if not s.absorbed))
            planned = basis == "stated" and all(x < start for x in said)
            yield replace(
                self._plain(fact, ends), negative=False, start=start, basis=basis, lo=lo, hi=hi, end=end, end_lo=end_lo,
                end_hi=end_hi, claims=claims, stated_end=bool(windows), planned=planned,
            )  # fmt: skip

    # values

    def values(self, subject: str, predicate: str, when: int, *, possible: bool = False) -> list[Held]:
        node = self.entity_of(subject, when)
        if node is None:
            return []
        conflicting = {self.world.edge(f) for c in self.world.conflicts_at(when) for f in c.facts}
        found = []
        for r in self.readings(predicate, subject=("e", node)):
            assert r.object is not None
            now = r.start <= when < r.end
            if now or (possible and self._possible(r, when)):
                conflict = now and self.world.edge(r.fact) in conflicting
                confidence = self.world.confidence(r.fact, when, r.claims)
                label = self.label(r.object, when)
                found.append(Held(r.object, label, now and r.certain(when), conflict, confidence, not now, r))
        if possible:
            found += self._unknown(("e", node), predicate, when)
        return found

    def _possible(self, r: Reading, t: int) -> bool:
        if r.basis == "stated" and r.hi - r.lo > 1 and r.lo <= t < r.start:
            return True
        if r.stated_end and r.end_hi - r.end_lo > 1 and r.end <= t < r.end_hi:
            return True
        return r.basis == "observed" and self._last_certain_rival(r.fact, r.start) <= t < r.start

    def _last_certain_rival(self, fact: Fact, start: int) -> int:
        """The last moment before `start` at which a rival is certain."""
        last = NEG_INF
        for other in self.world.facts:
            if self._rival(fact, other):
                begin, end = other.certain_span
                if begin < min(end, start):
                    last = max(last, min(end, start))
        return last

    def _rival(self, fact: Fact, other: Fact) -> bool:
        if self.world.flagged(fact, other) or self.world.flagged_mirror(fact, other):
            return True
        back = (fact.object[1] if fact.object else None, fact.predicate, fact.separators)
        if not self.registry.entry(fact.predicate, self.known).symmetric or other.fluent != back:
            return False
        mine = [f for f in self.world.facts if f.fluent == back and self.world.edge(f) == self.world.edge(fact)]
        return any(self.world.flagged(f, other) for f in mine)

    def _unknown(self, subject: Obj, predicate: str, when: int) -> Iterator[Held]:
        """Statements whose start nobody knows: possible before their end."""
        entry, inverse, flipped = self.registry.resolve(predicate)
        for claim in self.world.claims:
            if claim.predicate != entry.name or claim.basis != "unknown" or claim.explicit_end:
                continue
            if claim.negative != flipped or entry.cardinality == "once":
                continue
            takes = self.world.takes(claim, ("+", None))
            for s, value in self.world.ends(claim) if takes else ():
                ends: tuple[Obj, Obj | None] = (("e", s), value[1])
                if inverse and value[1] is not None:
                    ends = (value[1], ends[0])
                until = max(takes[0].stop, self._ended_by(claim, takes[0].stop))
                if ends[0] == subject and ends[1] is not None and when < until:
                    label = self.label(ends[1], when)
                    yield Held(
                        ends[1], label, certain=False, conflict=False, confidence=base_confidence([claim]),
                        only_possible=True, reading=None,
                    )  # fmt: skip

    def _ended_by(self, claim: Claim, stop: int) -> int:
        """By when the value of a claim without a start has ended for sure; the most precise of those alike tells."""
        world = self.world
        alike = [
            c
            for c in world.claims
            if (c.basis, c.predicate, c.end_kind) == ("unknown", claim.predicate, "stated")
            and (world.ends(c), world.separators(c)) == (world.ends(claim), world.separators(claim))
            and any(take.stop == stop for take in world.takes(c, ("+", None)))
        ]
        widths = [(c.end_hi - c.end_lo, c.end_hi) for c in alike]
        width, until = min(widths, default=(1, stop))
        return until if width > 1 else stop

    def timeline(self, subject: str, predicate: str | None, *, neg: bool = False, when: int) -> list[Line]:
        node = self.entity_of(subject, when)
        names = [predicate] if predicate else sorted({f.predicate for f in self.world.facts})
        if node is None:
            return []
        found = [r for p in names for r in self.readings(p, subject=("e", node), negative=None if neg else False)]
        lines = [Line(self.shown(r, when), r.start, None if r.end == POS_INF else r.end) for r in found]
        return sorted(lines, key=lambda line: (line.start, POS_INF if line.end is None else line.end, line.object))

    def shown(self, r: Reading, when: int) -> str:
        label = self.label(r.object, when)
        return f"¬{label}" if r.negative and r.object is not None else label

    def confidence(self, subject: str, predicate: str, value: Any, when: int) -> float | None:
        entry = self.registry.resolve(predicate)[0]
        obj = self.object_of(value, entry.name, when)
        found = [h.confidence for h in self.values(subject, predicate, when) if h.object == obj]
        return max(found, default=None)

    def conflict_rows(self, conflicts: Iterable[Conflict], when: int) -> list[tuple[str, str, list[str]]]:
        rows = []
        for c in conflicts:
            if c.subject is not None:
                members = [self.shown(self._plain(f, (("e", f.subject), f.object)), when) for f in c.facts]
                about = self.label(("e", c.subject), when)
            else:
                members, about = [self.label(("e", f.subject), when) for f in c.facts], self.label(c.object, when)
            rows.append((about, c.predicate, sorted(members)))
        return sorted(rows)

    def holding(self, t: int) -> dict[object, Fact]:
        """Positive edges at an instant, a symmetric one once."""
        return {self.world.edge(f): f for f in self.world.facts if f.holds(t) and not f.negative}

    def triple(self, f: Fact, when: int) -> tuple[str, str, str]:
        subject, obj = ("e", f.subject), f.object
        if f.turned and obj is not None:
            subject, obj = obj, subject
        return (self.label(subject, when), f.predicate, self.label(obj, when))

    # walks

    def edges(self, predicates: Iterable[str] | None = None) -> list[tuple[int, int, Fact]]:
        """Positive edges between entities in their stored direction: no events, no loops."""
        wanted = None if predicates is None else {self.registry.resolve(p)[0].name for p in predicates}
        out = []
        for f in self.world.facts:
            entry = self.registry.entry(f.predicate, self.known)
            loop = f.object == ("e", f.subject)
            if f.negative or entry.event or f.object is None or f.object[0] != "e" or loop:
                continue
            if wanted is None or f.predicate in wanted:
                out.append((f.subject, f.object[1], f))
        return out

    def steps(self, direction: str, predicates: Iterable[str] | None = None) -> list[tuple[int, int, Fact]]:
        out = self.edges(predicates)
        back = [(b, a, f) for a, b, f in out]
        return {"out": out, "in": back, "any": out + back}[direction]

    def neighbours(
        self, name: str, when: int, *, hops: int = 1, direction: str = "out", predicates: Iterable[str] | None = None
    ) -> dict[str, int]:
        start = self.entity_of(name, when)
        if start is None:
            return {}
        steps = [(a, b) for a, b, f in self.steps(direction, predicates) if f.holds(when)]
        distance = {start: 0}
        for hop in range(1, hops + 1):
            for a, b in steps:
                if distance.get(a) == hop - 1 and b not in distance:
                    distance[b] = hop
        return {self.names.label(e, when): d for e, d in distance.items() if d}

    def paths(
        self, a: str, b: str, *, mode: str, when: int, cutoff: int = 4, direction: str = "out",
        predicates: Iterable[str] | None = None,
    ) -> list[tuple[list[str], Span | None, int | None]]:  # fmt: skip
        """All simple paths with their common interval, or the earliest arrival."""
        source, target = self.entity_of(a, when), self.entity_of(b, when)
        if source is None or target is None:
            return []
        steps = self.steps(direction, predicates)
        found: dict[tuple[object, ...], tuple[list[int], Span | None, int | None]] = {}

        def walk(nodes: list[int], facts: list[Fact]) -> None:
            if nodes[-1] == target and facts:
                judged = self._judged(facts, mode, when)
                if judged is not None:
                    found[tuple(nodes), judged] = (list(nodes), *judged)
                return
            if len(facts) < cutoff:
                for x, y, f in steps:
                    if x == nodes[-1] and y not in nodes:
                        walk([*nodes, y], [*facts, f])

        walk([source], [])
        ordered = sorted(found.values(), key=lambda p: (len(p[0]), [self.names.label(n, when) for n in p[0]]))
        return [([self.names.label(n, when) for n in nodes], span, arrival) for nodes, span, arrival in ordered]

    @staticmethod
    def _judged(facts: list[Fact], mode: str, when: int) -> tuple[Span | None, int | None] | None:
        if mode == "chronological":
            arrival = NEG_INF
            for f in facts:
                arrival = max(arrival, f.start)
                if arrival >= f.end:
                    return None
            return (None, arrival)
        span = (max(f.start for f in facts), min(f.end for f in facts))
        if span[0] >= span[1] or (mode == "snapshot" and not span[0] <= when < span[1]):
            return None
        return (span, None)

    def match(self, patterns: list[list[str]], when: int | None) -> list[tuple[dict[str, str], Span]]:
        """Rows of bindings with the time for which they hold."""
        labels_at = when if when is not None else POS_INF - 1
        rows: dict[tuple[tuple[str, Obj], ...], list[Span]] = {}
        options = [self.readings(p) for _, p, _ in patterns]
        for combination in product(*options):
            bound = self._bound(patterns, combination, labels_at)
            if bound is None:
                continue
            spans: list[Span] = [(NEG_INF, POS_INF)]
            for r in combination:
                spans = intersect(spans, [(r.start, r.end)])
            rows.setdefault(tuple(sorted(bound.items())), []).extend(spans)
        out = []
        for bindings, spans in rows.items():
            shown = {name: self.label(obj, labels_at) for name, obj in bindings}
            out += [(shown, s) for s in union(spans) if when is None or s[0] <= when < s[1]]
        return sorted(out, key=lambda row: (sorted(row[0].items()), row[1]))

    def _bound(self, patterns: list[list[str]], facts: Iterable[Reading], when: int) -> dict[str, Obj] | None:
        bound: dict[str, Obj] = {}
        for (s, p, o), r in zip(patterns, facts, strict=True):
            assert r.object is not None
            for term, found in ((s, r.subject), (o, r.object)):
                if not term.startswith("?"):
                    entry = self.registry.resolve(p)[0]
                    if found != (self.object_of(term, entry.name, when) if found[0] == "l" else self._node(term, when)):
                        return None
                elif bound.setdefault(term, found) != found:
                    return None
        return bound

    def _node(self, name: str, when: int) -> Obj | None:
        found = self.entity_of(name, when)
        return None if found is None else ("e", found)
