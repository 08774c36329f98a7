"""What the reference model believes at one known_at: claims in, facts and conflict sets out, all from scratch."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from oracle_facts import Conflict, Fact, Fluent, Span, base_confidence, components, intersect, minus, union
from oracle_fold import Fold, Rules, Segment, Stint, Take, Told, same_breath
from oracle_model import DAY, Claim, Names, Obj, Predicate, Registry, Value

from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class World:
    """The facts of one scope as of `known`."""

    def __init__(
        self,
        claims: Iterable[Claim],
        names: Names,
        registry: Registry,
        compat: Iterable[tuple[int, int, str, Value, Value]],
        *,
        known: int,
        tie: Callable[[str], str],
    ) -> None:
        self.names, self.registry, self.known, self.tie = names, registry, known, tie
        self.compat = list(compat)
        self.told: dict[str, list[tuple[str, Told]]] = defaultdict(list)
        seen = [c for c in claims if c.visible(known)]
        self.masks = [c for c in seen if c.role == "mask"]
        self.cuts = [c for c in seen if c.role == "cut"]
        said = [c for c in seen if c.role not in ("mask", "cut")]
        self.masked = [c for c in said if self.is_masked(c)]
        self.claims = self._supported([c for c in said if c not in self.masked])
        self.allowed: dict[str, list[Span]] = {c.id: [] for c in self.claims if self._derived(c)}
        self.facts: list[Fact] = []
        self._build()
        for circle in self._circles(seen):
            while True:
                wider = {c.id: union([*self.allowed[c.id], *self._premises(c)]) for c in circle}
                if all(wider[i] == self.allowed[i] for i in wider):
                    break
                self.allowed.update(wider)
                self._build()

    # what a claim is about

    def entry(self, claim: Claim) -> Predicate:
        return self.registry.entry(claim.predicate, self.known)

    def who(self, entity: int) -> int:
        return self.names.final(entity, self.known)

    def obj(self, claim: Claim) -> Obj | None:
        found = claim.object
        return ("e", self.who(found[1])) if found and found[0] == "e" else found

    def key(self, obj: Obj) -> str:
        return self.names.nodes[obj[1]].key if obj[0] == "e" else obj[1]

    def separators(self, claim: Claim) -> tuple[tuple[str, str], ...]:
        given = dict(claim.quals)
        wanted = self.entry(claim).one_by
        return tuple((q, given[q]) for q in wanted) if wanted and all(q in given for q in wanted) else ()

    def ends(self, claim: Claim) -> list[tuple[int, Value]]:
        """The subjects whose fluent the claim is in, with its value there: both ends of a symmetric one."""
        sign, subject, obj = "-" if claim.negative else "+", self.who(claim.subject), self.obj(claim)
        found: list[tuple[int, Value]] = [(subject, (sign, obj))]
        if self.entry(claim).symmetric and obj and obj[0] == "e" and obj[1] != subject:
            found.append((obj[1], (sign, ("e", subject))))
        return found

    def rank(self, claim: Claim) -> int:
        return self.entry(claim).rank(claim.source)

    # what doesn't count

    def is_masked(self, claim: Claim) -> bool:
        return any(self.masks_claim(m, claim) for m in self.masks)

    def masks_claim(self, mask: Claim, claim: Claim) -> bool:
        """Row 2, and 4.6: a deny of that value covers the start, from a higher rank or an equal one not older."""
        if claim.basis == "unknown":
            at = claim.end if claim.end_kind == "stated" else claim.said
            covered = mask.start < at <= mask.end
        else:
            start = NEG_INF if self.entry(claim).cardinality == "once" else claim.start
            covered = mask.start <= start < mask.end
        return covered and self._outweighs(mask, claim)

    def _outweighs(self, mask: Claim, claim: Claim) -> bool:
        if claim.explicit_end or claim.role in ("mask", "cut") or not self._same_edge(mask, claim):
            return False
        return (self.rank(claim), claim.said) <= (self.rank(mask), mask.said)

    def _same_edge(self, a: Claim, b: Claim) -> bool:
        same = a.predicate == b.predicate and self.separators(a) == self.separators(b)
        return same and bool(set(self.ends(a)) & set(self.ends(b)))

    def cut_out(self, claim: Claim) -> list[Span]:
        """What ends and bounded denials told through an opposite take out of a plain negative claim."""
        if not claim.negative or claim.explicit_end:
            return []
        return [(k.start, k.end) for k in self.cuts if self.cuts_claim(k, claim)]

    def cuts_claim(self, cut: Claim, claim: Claim) -> bool:
        about = (cut.predicate, self.separators(cut)) == (claim.predicate, self.separators(claim))
        if cut.object is None:
            about = about and self.who(cut.subject) in [s for s, _ in self.ends(claim)]
        else:
            about = about and self._same_edge(cut, claim)
        return about and self.rank(claim) <= self.rank(cut) and claim.said <= cut.said

    def _derived(self, claim: Claim) -> bool:
        return None not in claim.justifications(self.known)

    def _supported(self, claims: list[Claim]) -> list[Claim]:
        counting = {c.id for c in self.masks + self.cuts}
        while True:
            more = {
                c.id
                for c in claims
                if c.id not in counting and any(j is None or j <= counting for j in c.justifications(self.known))
            }
            if not more:
                return [c for c in claims if c.id in counting]
            counting |= more

    def _circles(self, seen: list[Claim]) -> list[list[Claim]]:
        """The derived claims, in groups that have a say in each other's premises, each after those it rests on."""
        derived = {c.id: c for c in self.claims if self._derived(c)}
        reached = {i: {d for d in derived if derived[d] in self._behind(c, seen)} for i, c in derived.items()}
        for middle in derived:
            for i in derived:
                if middle in reached[i]:
                    reached[i] |= reached[middle]
        groups: list[list[Claim]] = []
        done: set[str] = set()
        while len(done) < len(derived):
            first = next(i for i in derived if i not in done and all(i in reached[d] for d in reached[i] - done))
            group = {first} | {d for d in reached[first] if first in reached[d]}
            groups.append([derived[i] for i in derived if i in group])
            done |= group
        return groups

    def _behind(self, claim: Claim, seen: list[Claim]) -> list[Claim]:
        """The claims that decide when the premises of a claim hold: of their fluents, or at the far ends of those."""
        wanted = {p for j in claim.justifications(self.known) if j for p in j}
        found = []
        for premise in (c for c in seen if c.id in wanted):
            entry, subject = self.entry(premise), self.who(premise.subject)
            alike = [c for c in seen if c.predicate == premise.predicate]
            near = [c for c in alike if subject in [s for s, _ in self.ends(c)]]
            far = {value[1] for c in near for s, value in self.ends(c) if s == subject and value[1] is not None}
            found += near
            if entry.unique:
                found += [c for c in alike if self.obj(c) in far]
            if entry.symmetric:
                found += [c for c in alike if {("e", s) for s, _ in self.ends(c)} & far]
        return found

    def _premises(self, claim: Claim) -> list[Span]:
        """The union over justifications of the intersection of the premises' facts."""
        found: list[Span] = []
        counting = {c.id for c in self.claims}
        other = {c.id for c in self.masks + self.cuts}
        for justification in claim.justifications(self.known):
            if justification is None or not justification <= counting | other:
                continue
            spans: list[Span] = [(NEG_INF, POS_INF)]
            for premise in justification - other:
                facts = [f for f in self.facts if any(c.id == premise for c in f.claims)]
                spans = intersect(spans, union((f.start, f.end) for f in facts))
            found += spans
        return union(found)

    # folding

    def takes(self, claim: Claim, value: Value) -> list[Take]:
        entry = self.entry(claim)
        rank = self.rank(claim)
        if entry.cardinality == "once":
            whole = Take(claim, value, rank, NEG_INF, "always", NEG_INF, NEG_INF, POS_INF, "open", claim.said, "open")
        else:
            stop, kind = claim.end, claim.end_kind
            if kind == "soft":
                stop = claim.said
            elif kind == "open" and entry.ttl_days is not None:
                stop, kind = max(claim.start, claim.said) + int(entry.ttl_days * DAY), "ttl"
            whole = Take(
                claim, value, rank, claim.start, claim.basis, claim.start_lo, claim.start_hi, stop, kind,
                claim.evidence, claim.end_kind,
            )  # fmt: skip
        allowed = self.allowed.get(claim.id, [(NEG_INF, POS_INF)])
        if whole.basis == "unknown":
            return [whole] if allowed else []
        # What began before a segment that was corrected ends where that begins.
        stops = [m.start for m in self.masks if whole.start < m.start < whole.stop and self._outweighs(m, claim)]
        if stops:
            whole = self._piece(whole, whole.start, min(stops), resumed=False)
        holes = self.cut_out(claim)
        spans = intersect(minus((whole.start, whole.stop), holes), allowed)
        return [self._piece(whole, a, b, resumed=any(a == end for _, end in holes)) for a, b in spans]

    @staticmethod
    def _piece(whole: Take, start: int, stop: int, *, resumed: bool) -> Take:
        piece = whole
        if start != whole.start:
            piece = replace(piece, start=start, basis="resumed" if resumed else "cut", lo=start, hi=start + 1)
        if stop == whole.stop:
            return piece
        vouched = min(piece.evidence, stop) if whole.end_kind == "stated" else piece.evidence
        return replace(piece, stop=stop, stop_kind="cut", evidence=vouched)

    def _build(self) -> None:
        self.told.clear()
        self.groups: dict[Fluent, list[tuple[Claim, Value]]] = defaultdict(list)
        mirrors: dict[tuple[str, Obj], list[tuple[Claim, Value]]] = defaultdict(list)
        for claim in self.claims:
            for subject, value in self.ends(claim):
                self.groups[subject, claim.predicate, self.separators(claim)].append((claim, value))
            obj = self.obj(claim)
            if self.entry(claim).unique and obj is not None:
                value = ("-" if claim.negative else "+", ("e", self.who(claim.subject)))
                mirrors[claim.predicate, obj].append((claim, value))
        self.rules: dict[Fluent, Rules] = {}
        self.forward = {fluent: self._fold_forward(fluent, group) for fluent, group in self.groups.items()}
        self.mirror_rules: dict[tuple[str, Obj], Rules] = {}
        self.mirror = {key: self._fold_mirror(key, group) for key, group in mirrors.items()}
        self.facts = [f for fluent in self.forward for f in self._facts(fluent)]

    def _fold_forward(self, fluent: Fluent, group: list[tuple[Claim, Value]]) -> Fold:
        subject, name, separators = fluent
        entry = self.registry.entry(name, self.known)
        cardinality = "one" if separators else entry.cardinality
        self.rules[fluent] = self._rules(entry, cardinality, group, self._kept(subject, name))
        return self._fold(group, self.rules[fluent], "forward")

    def _fold_mirror(self, key: tuple[str, Obj], group: list[tuple[Claim, Value]]) -> Fold:
        entry = self.registry.entry(key[0], self.known)
        cardinality = "once" if entry.cardinality == "once" else "one"
        self.mirror_rules[key] = self._rules(entry, cardinality, group, frozenset())
        return self._fold(group, self.mirror_rules[key], "mirror")

    def _rules(
        self, entry: Predicate, cardinality: str, group: list[tuple[Claim, Value]], kept: frozenset[frozenset[Value]]
    ) -> Rules:
        also = frozenset(v for claim, v in group if claim.role == "also" and v[0] == "+" and self.takes(claim, v))
        return Rules(entry, cardinality, self.key, declared=self._declared, kept=kept, additive=also)

    def _fold(self, group: list[tuple[Claim, Value]], rules: Rules, which: str) -> Fold:
        fold = Fold([take for claim, value in group for take in self.takes(claim, value)], rules, self.tie)
        for claim_id, told in fold.told.items():
            self.told[claim_id].append((which, told))
        return fold

    def _declared(self, obj: Obj) -> bool:
        return obj[0] == "e" and any(recorded <= self.known for recorded in self.names.nodes[obj[1]].declared)

    def _kept(self, subject: int, predicate: str) -> frozenset[frozenset[Value]]:
        def now(value: Value) -> Value:
            obj = value[1]
            return (value[0], ("e", self.who(obj[1]))) if obj and obj[0] == "e" else value

        return frozenset(
            frozenset((now(v), now(w)))
            for recorded, s, p, v, w in self.compat
            if recorded <= self.known and p == predicate and self.who(s) == subject
        )

    def _facts(self, fluent: Fluent) -> list[Fact]:
        subject, name, separators = fluent
        entry = self.registry.entry(name, self.known)
        facts = []
        for segment in self.forward[fluent].segments:
            sign, obj = segment.value
            others: list[Segment] | None = None
            if entry.unique and obj is not None:
                mirrored = self.mirror[name, obj].segments
                others = [s for s in mirrored if s.value == (sign, ("e", subject))]
            elif entry.symmetric and obj is not None and obj[0] == "e" and obj[1] != subject:
                back = self.forward.get((obj[1], name, separators))
                others = [s for s in back.segments if s.value == (sign, ("e", subject))] if back else []
            said = [c.said for c, v in self.groups[fluent] if v == segment.value and self.takes(c, v)]
            for piece in self._both(segment, others, coarser=not entry.symmetric):
                turned = entry.symmetric and all(self.who(c.subject) != subject for c in piece.claims)
                facts.append(
                    Fact(
                        subject, name, separators, segment.value, piece.start, piece.basis, piece.lo, piece.hi,
                        piece.end, piece.end_lo, piece.end_hi, piece.reason, piece.ended_by, piece.stints,
                        piece.supports, turned, said,
                    )
                )  # fmt: skip
        return facts

    @staticmethod
    def _both(segment: Segment, others: list[Segment] | None, *, coarser: bool) -> list[Segment]:
        """The pieces of a segment that the mirrored timeline allows too; a bound comes from whoever is stricter."""
        if others is None:
            return [segment]
        pieces = []
        for other in others:
            start, end = max(segment.start, other.start), min(segment.end, other.end)
            if start >= end:
                continue
            first = segment if segment.start == start else other
            last = segment if segment.end == end else other
            stints, back = (
                [
                    Stint(s.take, max(s.start, start), min(s.end, end), s.absorbed)
                    for s in side.stints
                    if max(s.start, start) < min(s.end, end)
                ]
                for side in (segment, other)
            )
            # What supports an edge does so from both of its ends, coarser words from their own if that is no other's.
            both = {s.take.claim for s in stints} & {s.take.claim for s in back}
            stints = [s for s in stints if s.take.claim in both or (coarser and s.absorbed)] if both else stints + back
            piece = Segment(
                segment.value, start, first.basis, first.lo, first.hi, end, last.end_lo, last.end_hi, last.reason,
                last.ended_by, stints,
            )  # fmt: skip
            pieces.append(piece)
        return pieces

    # conflicts

    def flagged(self, f: Fact, g: Fact) -> bool:
        """Whether two facts of one fluent, if they hold together, are in conflict."""
        if f.fluent != g.fluent:
            return False
        rules = self.rules[f.fluent]
        if not rules.exclusive(f.value, g.value) or frozenset((f.value, g.value)) in rules.kept:
            return False
        if self._stand_together(rules, f, f.value, g, g.value):
            return False
        if rules.cardinality != "unknown" or rules.negation(f.value, g.value):
            return True
        return not any(same_breath(a, b) for a in f.claims for b in g.claims)

    def flagged_mirror(self, f: Fact, g: Fact) -> bool:
        """The same for two subjects of one unique object."""
        if f.negative or g.negative or f.predicate != g.predicate or f.object != g.object or f.subject == g.subject:
            return False
        if f.object is None or (f.predicate, f.object) not in self.mirror_rules:
            return False
        rules = self.mirror_rules[f.predicate, f.object]
        v, w = (("+", ("e", x.subject)) for x in (f, g))
        return rules.exclusive(v, w) and not self._stand_together(rules, f, v, g, w)

    def _stand_together(self, rules: Rules, f: Fact, v: Value, g: Fact, w: Value) -> bool:
        imported = any(all(c.imported for c in x.claims) for x in (f, g))
        beside = self._beside(f.fluent) if rules.cardinality == "unknown" else rules.additive
        also = not rules.negation(v, w) and not beside.isdisjoint((v, w))
        return also or rules.finer(v, w, imported=imported) or rules.finer(w, v, imported=imported)

    def _beside(self, fluent: Fluent) -> frozenset[Value]:
        """The values of an undefined predicate that are said beside others by a claim that has a fact, or may have."""
        supports = {c.id for f in self.facts if f.fluent == fluent for c in f.claims}
        also = [(c, v) for c, v in self.groups[fluent] if v in self.rules[fluent].additive and c.role == "also"]
        return frozenset(v for c, v in also if c.id in supports or c.basis == "unknown")

    def conflicts_at(self, t: int) -> list[Conflict]:
        """Every conflict set that holds at an instant."""
        holding = [f for f in self.facts if f.holds(t)]
        found = []
        groups = [(members, {self.edge(f) for f in members}) for members in components(holding, self.flagged)]
        groups.sort(key=lambda group: self.key(("e", group[0][0].subject)))
        for i, (members, edges) in enumerate(groups):
            # What two ends of a symmetric edge dispute is one dispute, told from the end that knows more of it.
            others = groups[:i] + [(m, e) for m, e in groups[i + 1 :] if e != edges]
            if not any(edges <= e for _, e in others):
                f = members[0]
                found.append(Conflict(f.subject, None, f.predicate, members))
        for members in components(holding, self.flagged_mirror):
            f = members[0]
            found.append(Conflict(None, f.object, f.predicate, members))
        return found

    @cached_property
    def conflicts(self) -> list[Conflict]:
        """Every conflict set of all time, split where its membership changes."""
        cuts = sorted({NEG_INF} | {f.start for f in self.facts} | {f.end for f in self.facts} - {POS_INF})
        running: dict[object, Conflict] = {}
        done: list[Conflict] = []
        for t in cuts:
            now = {self._conflict_key(c): c for c in self.conflicts_at(t)}
            for key in [k for k in running if k not in now]:
                running[key].until = t
                done.append(running.pop(key))
            for key, conflict in now.items():
                if key not in running:
                    conflict.since = t
                    running[key] = conflict
        return done + list(running.values())

    @staticmethod
    def _conflict_key(c: Conflict) -> object:
        return (c.subject, c.object, c.predicate, c.facts[0].separators if c.subject else (), c.members)

    def rivals(self, f: Fact, t: int) -> list[Fact]:
        """The other members of the fact's conflict sets at t, each edge once, from both ends of a symmetric one."""
        mine = {self.edge(f)}
        found: dict[object, Fact] = {}
        for conflict in self.conflicts_at(t):
            if any(self.edge(x) in mine for x in conflict.facts):
                found.update({self.edge(x): x for x in conflict.facts if self.edge(x) not in mine})
        return list(found.values())

    def edge(self, f: Fact) -> object:
        if self.registry.entry(f.predicate, self.known).symmetric and f.object and f.object[0] == "e":
            return (f.predicate, f.separators, f.value[0], frozenset((f.subject, f.object[1])))
        return (f.predicate, f.separators, f.value, f.subject)

    def confidence(self, f: Fact, t: int, claims: list[Claim] | None = None) -> float:
        """Effective at t."""
        found = base_confidence(claims if claims is not None else f.base_claims)
        unknown = self.rules[f.fluent].cardinality == "unknown"
        for rival in self.rivals(f, t):
            if not unknown or Rules.negation(rival.value, f.value):
                found *= 1 - 0.3 * base_confidence(rival.base_claims)
        return found
