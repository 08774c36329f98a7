"""The two operations of the reference model that read the state they act on: correct and settle."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from oracle_facts import Conflict, Fact, Span, union
from oracle_model import Claim, Obj, Outcome, Refused, Value, Written

from semgraph.names import literal_key
from semgraph.temporal import NEG_INF, POS_INF, Bound, exact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle import Oracle


class Settling:
    """Mixed into Oracle, so that each file stays readable."""

    def correct(
        self: Oracle, s: str, p: str, old: Any, o: Any, *, as_of: Any = None, said: Any = None, source: str = "user",
        ref: str | None = None, quals: dict[str, Any] | None = None, at: Any = None,
    ) -> Outcome:  # fmt: skip
        """The segment was never true; what was said for it is said again with another object."""

        def work(recorded: int) -> Outcome:
            when = recorded if as_of is None else self.instant(as_of)
            spoken = self._said(said, recorded)
            wrong = self._ends(s, p, old, when, recorded)
            right = self._ends(s, p, o, when, recorded)
            fact = _fact_of(self, wrong, when, quals)
            if fact is None:
                raise Refused("nothing_to_correct")
            again = _told_again(self, fact)
            bounds = [min([fact.start, *(c.start for c in fact.base_claims)]), fact.end]
            mask = self._mask(
                wrong, recorded, spoken, source=source, ref=ref, quals=dict(fact.separators),
                said_given=said is not None,
                start=None if bounds[0] == NEG_INF else exact(bounds[0]),
                end=None if bounds[1] == POS_INF else exact(bounds[1]),
            )  # fmt: skip
            copies = [_copied(self, c, right, recorded, source=source, ref=ref) for c in again]
            written = [mask] + [_outlasting(self, c, spoken) for c in copies]
            for claim in written:
                self._store(claim)
            return _outcome("UPDATE", [c.id for c in written])

        return self._run(at, work)

    def resolve(
        self: Oracle, s: str, p: str, choice: str, o: Any = None, *, as_of: Any = None,
        quals: dict[str, Any] | None = None, at: Any = None,
    ) -> Outcome:  # fmt: skip
        """Settle the conflict that holds at as_of (default: now)."""

        def work(recorded: int) -> Outcome:
            when = recorded if as_of is None else self.instant(as_of)
            conflict = _conflict_of(self, s, p, o if choice == "choose" else None, when=when, quals=quals)
            if conflict is None:
                return _outcome("IDEMPOTENT", [])
            if choice == "keep_both":
                return _keep_both(self, conflict, recorded)
            chosen = _chosen(self, conflict, p, o, when) if choice == "choose" else None
            if choice == "choose" and chosen is None:
                return _outcome("IDEMPOTENT", [])
            claims = _settled(self, conflict, chosen, when, recorded)
            for claim in claims:
                self._store(claim)
            return _outcome("UPDATE", [c.id for c in claims])

        return self._run(at, work)


def _outcome(code: str, claims: list[str]) -> Outcome:
    return Outcome(code, claims=claims)


# -- correct


def _fact_of(oracle: Oracle, told: Written, when: int, quals: dict[str, Any] | None) -> Fact | None:
    world = oracle.world()
    names = oracle.names
    subject = names.final(told.subject)
    obj = told.object
    if obj and obj[0] == "e":
        obj = ("e", names.final(obj[1]))
    sign = "-" if told.flipped else "+"
    found = [
        f
        for f in world.facts
        if (f.subject, f.predicate, f.value) == (subject, told.entry.name, (sign, obj)) and f.holds(when)
    ]
    if quals and told.entry.one_by:
        wanted = {q: oracle_key(v) for q, v in quals.items()}
        found = [f for f in found if all(wanted.get(q) == v for q, v in f.separators)]
    return found[0] if found else None


def oracle_key(value: Any) -> str:
    return literal_key(str(value))


def _told_again(oracle: Oracle, fact: Fact) -> list[Claim]:
    """The supports, and what ended the segment by naming its value: the new value holds over the old one's interval."""
    world = oracle.world()
    again = list(fact.base_claims)
    for claim, value in world.groups[fact.fluent]:
        ends_it = claim.explicit_end and value == ("-", fact.object) and claim.start == fact.end
        until_it = claim.basis == "unknown" and value == fact.value and claim.end == fact.end
        if claim not in again and (ends_it or until_it):
            again.append(claim)
    return again


def _copied(oracle: Oracle, claim: Claim, told: Written, recorded: int, *, source: str, ref: str | None) -> Claim:
    def bound(at: int, lo: int, hi: int, *, given: bool) -> Bound | None:
        return Bound(at, lo, hi, "instant", hi) if given else None

    start = bound(claim.start, claim.start_lo, claim.start_hi, given=claim.basis == "stated")
    end = bound(claim.end, claim.end_lo, claim.end_hi, given=claim.end_kind == "stated")
    new = oracle._claim(
        told, negative=claim.negative, role=claim.role, start=start, end=end, said=claim.said, said_given=True,
        recorded=recorded, source=source, ref=ref, quals=dict(claim.quals),
        confidence=oracle._confidence(None, source, []),
        bare_start="always" if claim.basis == "always" else "observed",
    )  # fmt: skip
    new.basis, new.start, new.start_lo, new.start_hi = claim.basis, claim.start, claim.start_lo, claim.start_hi
    new.end, new.end_kind, new.end_lo, new.end_hi = claim.end, claim.end_kind, claim.end_lo, claim.end_hi
    return new


def _outlasting(oracle: Oracle, claim: Claim, spoken: int) -> Claim:
    """The claim, told right after the denials that the correction undoes: those of an equal voice, told before it."""
    world = oracle.world()
    denied = [
        m.said
        for m in world.masks
        if m.said < spoken and world.rank(m) == world.rank(claim) and world.masks_claim(m, replace(claim, said=m.said))
    ]
    if not denied or max(denied) < claim.said:
        return claim
    basis = "stated" if claim.basis == "observed" else claim.basis
    hi = claim.start + 1 if claim.basis == "observed" else claim.start_hi
    return replace(claim, id=f"{claim.id} after {max(denied)}", said=max(denied) + 1, basis=basis, start_hi=hi)


# -- settle


def _conflict_of(oracle: Oracle, s: str, p: str, o: Any, *, when: int, quals: dict[str, Any] | None) -> Conflict | None:
    entry, inverse, _ = oracle.registry.resolve(p)
    ids = {oracle.names.final(e) for e in oracle.names.raw(s)}
    found = [c for c in oracle.world().conflicts_at(when) if c.predicate == entry.name]
    shared = [c for c in found if c.subject is None and (c.object in {("e", i) for i in ids} or _is_key(c.object, s))]
    own = [c for c in found if c.subject in ids]
    if inverse and o is not None:
        own = [c for c in found if c.subject in {oracle.names.final(e) for e in oracle.names.raw(str(o))}]
    if quals and entry.one_by:
        wanted = {q: oracle_key(v) for q, v in quals.items()}
        own = [c for c in own if all(wanted.get(q) == v for q, v in c.facts[0].separators)]
    candidates = shared + own
    if o is not None:
        candidates = [c for c in candidates if _chosen(oracle, c, p, o, when) is not None]
    return candidates[0] if candidates else None


def _is_key(obj: Obj | None, name: str) -> bool:
    return obj is not None and obj[0] == "l" and obj[1] == oracle_key(name)


def _chosen(oracle: Oracle, conflict: Conflict, p: str, o: Any, when: int) -> Fact | None:
    """The member that was chosen: by its object, of a shared object by its subject."""
    reader = oracle.read(explicit=False)
    if conflict.subject is None:
        ids = {oracle.names.final(e) for e in oracle.names.raw(str(o))}
        return next((f for f in conflict.facts if f.subject in ids), None)
    name = oracle.registry.resolve(p)[0].name
    obj = reader.object_of(o, name, when)
    return next((f for f in conflict.facts if f.value == ("+", obj)), None)


def _keep_both(oracle: Oracle, conflict: Conflict, recorded: int) -> Outcome:
    if conflict.subject is None:
        return _outcome("IDEMPOTENT", [])
    pairs = [(f.value, g.value) for f, g in combinations(conflict.facts, 2) if not (f.negative or g.negative)]
    oracle.compat += [(recorded, conflict.subject, conflict.predicate, v, w) for v, w in pairs]
    return _outcome("UPDATE" if pairs else "IDEMPOTENT", [])  # a value and its own negation never both hold


def _settled(oracle: Oracle, conflict: Conflict, chosen: Fact | None, when: int, recorded: int) -> list[Claim]:
    """The new claims: what each loser lost, and the winner said again if the dispute reaches the present."""
    claims: list[Claim] = []
    present = False
    for fact in conflict.facts:
        if fact is chosen:
            continue
        stretch = _stretch(oracle, conflict, fact, chosen, when)
        present |= stretch[1] > recorded
        over = stretch[1] if stretch[1] <= recorded else None
        if not fact.negative:
            claims.append(_lost(oracle, fact, stretch[0], over, recorded))
        elif chosen is not None and oracle.world().flagged(fact, chosen):
            claims.append(_said_again(oracle, chosen, recorded, role="change", start=stretch[0], over=over))
    if chosen is not None and present:
        claims.append(_said_again(oracle, chosen, recorded, role="state", start=None, over=None))
    return claims


def _stretch(oracle: Oracle, conflict: Conflict, loser: Fact, chosen: Fact | None, when: int) -> Span:
    """Since when and until when the two are in one conflict set, around `when`."""

    def in_set(fact: Fact, members: Iterable[Fact]) -> bool:
        return any((f.subject, f.value) == (fact.subject, fact.value) for f in members)

    spans = [
        (c.since, c.until)
        for c in oracle.world().conflicts
        if (c.subject, c.object, c.predicate) == (conflict.subject, conflict.object, conflict.predicate)
        and in_set(loser, c.facts)
        and (chosen is None or in_set(chosen, c.facts))
    ]
    return next(s for s in union(spans) if s[0] <= when < s[1])


def _written(oracle: Oracle, fact: Fact) -> Written:
    key = oracle.names.nodes[fact.subject].key
    obj = fact.object
    thing = None if obj is None else oracle.names.nodes[obj[1]].key if obj[0] == "e" else f"={obj[1]}"
    label = oracle.read(explicit=False).label(obj, oracle.now)
    entry = oracle.registry.entry(fact.predicate)
    return Written(entry, flipped=False, subject=fact.subject, object=obj, keys=(key, thing), label=label)


def _lost(oracle: Oracle, fact: Fact, start: int, over: int | None, recorded: int) -> Claim:
    told = _written(oracle, fact)
    if oracle.registry.entry(fact.predicate).cardinality == "once":
        return oracle._mask(told, recorded, recorded, source="user", ref=None, quals=dict(fact.separators))
    return oracle._claim(
        told, negative=True, role="end", start=exact(start) if start != NEG_INF else None,
        end=None if over is None else exact(over), said=recorded, said_given=False, recorded=recorded, source="user",
        ref=None, quals=dict(fact.separators), confidence=oracle._confidence(None, "user", []),
        bare_start="always",
    )  # fmt: skip


def _said_again(oracle: Oracle, fact: Fact, recorded: int, *, role: str, start: int | None, over: int | None) -> Claim:
    value: Value = fact.value
    return oracle._claim(
        _written(oracle, fact), negative=value[0] == "-", role=role,
        start=None if start is None or start == NEG_INF else exact(start), end=None if over is None else exact(over),
        said=recorded, said_given=False, recorded=recorded, source="user", ref=None, quals=dict(fact.separators),
        confidence=oracle._confidence(None, "user", []),
        bare_start="always" if start == NEG_INF else "observed",
    )  # fmt: skip
