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
    from oracle_model import Entry


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
            if _edge(self, wrong) == _edge(self, right):
                return _outcome("IDEMPOTENT", [])
            again = _told_again(self, fact)
            bounds = [fact.start, fact.end]
            mask = self._mask(
                wrong, recorded, spoken, source=source, ref=ref, quals=dict(fact.separators),
                said_given=said is not None,
                start=None if bounds[0] == NEG_INF else exact(bounds[0]),
                end=None if bounds[1] == POS_INF else exact(bounds[1]),
            )  # fmt: skip
            copies = [_copied(self, c, fact, right, recorded, source=source, ref=ref) for c in again]
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
            meant = _conflict_of(self, s, p, o if choice == "choose" else None, when=when, quals=quals)
            if meant is None:
                return _outcome("IDEMPOTENT", [])
            conflict, chosen = meant
            if choice == "keep_both":
                return _keep_both(self, conflict, recorded)
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
        if (f.subject, f.predicate, f.value) == (subject, told.entry.name, (sign, obj))
        and f.holds(when)
        # To stop liking is not to dislike.
        and (not told.flipped or any(s.start <= when for s in f.stints if not s.take.claim.explicit_end))
    ]
    if quals and told.entry.one_by:
        wanted = {q: oracle_key(v) for q, v in quals.items()}
        found = [f for f in found if all(wanted.get(q) == v for q, v in f.separators)]
    return found[0] if found else None


def _edge(oracle: Oracle, told: Written) -> frozenset[Obj | None] | tuple[Obj, Obj | None]:
    obj = told.object
    final = ("e", oracle.names.final(obj[1])) if obj and obj[0] == "e" else obj
    ends = (("e", oracle.names.final(told.subject)), final)
    return frozenset(ends) if told.entry.symmetric else ends


def oracle_key(value: Any) -> str:
    return literal_key(str(value))


def _told_again(oracle: Oracle, fact: Fact) -> list[Claim]:
    """The supports, and what ended the segment by naming its value: the new value holds over the old one's interval."""
    world = oracle.world()
    again = sorted(fact.base_claims, key=lambda c: (c.recorded, oracle.tie.get(c.id, c.id)))
    for claim, value in world.groups[fact.fluent]:
        heard = fact.end in (claim.start, claim.said)  # it ends a value as it begins, or where it is affirmed
        ends_it = claim.explicit_end and value == ("-", fact.object) and heard and claim.start <= fact.end
        until_it = claim.basis == "unknown" and value == fact.value and claim.end == fact.end != POS_INF
        if claim not in again and (ends_it or until_it):
            again.append(claim)
    return again


def _copied(
    oracle: Oracle, claim: Claim, fact: Fact, told: Written, recorded: int, *, source: str, ref: str | None
) -> Claim:
    """The claim with the new object; of one that began before the segment, what is left from there on."""
    if claim in fact.base_claims and claim.start < fact.start and claim.basis != "unknown":
        hi = max(fact.hi, fact.start + 1)
        claim = replace(claim, basis="stated", start=fact.start, start_lo=fact.lo, start_hi=hi)

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


def _conflict_of(
    oracle: Oracle, s: str, p: str, o: Any, *, when: int, quals: dict[str, Any] | None
) -> tuple[Conflict, Fact | None] | None:
    """The conflict about s, and its member o; the edge may be named from either end. Refused if there are several."""
    entry = oracle.registry.resolve(p)[0]
    found = [c for c in oracle.world().conflicts_at(when) if c.predicate == entry.name]
    if quals and entry.one_by:
        wanted = {q: oracle_key(v) for q, v in quals.items()}
        found = [c for c in found if all(wanted.get(q) == v for q, v in c.facts[0].separators)]
    near, far = _meant(oracle, s), set() if o is None else _meant(oracle, o)
    own = [c for c in found if _about(c, entry) & near]
    if o is None:
        meant: list[tuple[Conflict, Fact | None]] = [(c, None) for c in own]
    else:
        meant = _with_member(own, far) or _with_member([c for c in found if _about(c, entry) & far], near)
    if len(meant) > 1:
        raise Refused("input")
    return meant[0] if meant else None


def _meant(oracle: Oracle, name: Any) -> set[Obj]:
    return {("l", oracle_key(name)), *(("e", oracle.names.final(e)) for e in oracle.names.raw(str(name)))}


def _about(c: Conflict, entry: Entry) -> set[Obj]:
    """A subject or a shared object; of an edge and its own negation, which a symmetric one has at both ends, both."""
    if c.subject is None:
        return {c.object}
    values = {f.object for f in c.facts}
    return {("e", c.subject), *(values if len(values) == 1 and entry.symmetric else ())}


def _with_member(sets: list[Conflict], refs: set[Obj]) -> list[tuple[Conflict, Fact | None]]:
    side = [
        (c, f, ("e", f.subject) if c.subject is None else f.object) for c in sets for f in c.facts if not f.negative
    ]
    return [(c, f) for c, f, value in side if value in refs]


def _keep_both(oracle: Oracle, conflict: Conflict, recorded: int) -> Outcome:
    if conflict.subject is None:
        return _outcome("IDEMPOTENT", [])
    pairs = [(f.value, g.value) for f, g in combinations(conflict.facts, 2) if not (f.negative or g.negative)]
    oracle.compat += [(recorded, conflict.subject, conflict.predicate, v, w) for v, w in pairs]
    return _outcome("UPDATE" if pairs else "IDEMPOTENT", [])  # a value and its own negation never both hold


def _settled(oracle: Oracle, conflict: Conflict, chosen: Fact | None, when: int, recorded: int) -> list[Claim]:
    """The new claims: what each loser lost, and the winner said again if the dispute reaches the present."""
    claims: list[Claim] = []
    open_since: list[int] = []
    denied = False
    for fact in conflict.facts:
        if fact is chosen or not (chosen is None or _rivals(oracle, fact, chosen)):
            continue
        stretch = _stretch(oracle, conflict, fact, chosen, when)
        open_since += [stretch[0]] if stretch[1] > recorded else []
        over = stretch[1] if stretch[1] <= recorded else None
        timeless = oracle.registry.entry(fact.predicate).cardinality == "once"
        if not fact.negative:
            claims += _lost(oracle, fact, conflict, stretch[0], over, recorded)
        elif chosen is not None and timeless:  # no change has grounds there
            claims.append(_never(oracle, fact, recorded))
        elif chosen is not None and oracle.world().flagged(fact, chosen):
            claims.append(_said_again(oracle, chosen, recorded, role="change", start=stretch[0], over=over))
            denied = True
    if chosen is not None and open_since and not denied:
        start = min(open_since)
        begun = start <= recorded
        claims.append(_said_again(oracle, chosen, recorded, role="state", start=None if begun else start, over=None))
    return claims


def _rivals(oracle: Oracle, fact: Fact, chosen: Fact) -> bool:
    """Whether the two exclude each other: a third that excludes both may be all that has them in one set."""
    world = oracle.world()
    return world.flagged(fact, chosen) or world.flagged_mirror(fact, chosen)


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


def _lost(oracle: Oracle, fact: Fact, conflict: Conflict, start: int, over: int | None, recorded: int) -> list[Claim]:
    if oracle.registry.entry(fact.predicate).cardinality == "once":
        return [_never(oracle, fact, recorded)]
    until = None if over is None else exact(over)
    last = over is None or (over == fact.end and fact.reason != "suspended")
    denied = any((f.subject, f.value) == (fact.subject, ("-", fact.object)) for f in conflict.facts)
    if start > recorded or (denied and last and over is not None):  # no end would do, or it would end the denial too
        return [_never(oracle, fact, recorded, start=exact(start), end=until)]
    ended = oracle._claim(
        _written(oracle, fact), negative=True, role="end", start=exact(start) if start != NEG_INF else None,
        end=until, said=recorded, said_given=False, recorded=recorded, source="user",
        ref=None, quals=dict(fact.separators), confidence=oracle._confidence(None, "user", []),
        bare_start="always",
    )  # fmt: skip
    told = [c.start for c in fact.base_claims if c.role == "change" and c.basis != "unknown" and c.start >= start]
    if not (told and last):
        return [ended]
    return [ended, _never(oracle, fact, recorded, start=exact(start), end=exact(max(told) + 1))]


def _never(oracle: Oracle, fact: Fact, recorded: int, *, start: Bound | None = None, end: Bound | None = None) -> Claim:
    return oracle._mask(
        replace(_written(oracle, fact), flipped=fact.negative), recorded, recorded, source="user", ref=None,
        quals=dict(fact.separators), start=start, end=end,
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
