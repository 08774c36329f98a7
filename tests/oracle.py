"""A naive reference model of the semantics: it keeps claims and folds all of them anew at every read.

It shares with semgraph only what reads times, keys and sentences. Operations are named as in the worked cases.
"""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any

from oracle_model import (
    INFERRED_CAP,
    LATEST,
    SEEDS,
    Claim,
    Names,
    Outcome,
    Refused,
    Registry,
    Value,
    Written,
    is_literal,
    key_of_literal,
    source_class,
    starter,
)
from oracle_ops import Naming, moment, start_of
from oracle_read import Held, Line, Reader
from oracle_settle import Settling
from oracle_tell import Telling
from oracle_world import World

from semgraph.errors import InputError, RejectedError
from semgraph.names import check_characters, entity_key, is_self, literal_key
from semgraph.temporal import NEG_INF, POS_INF, Bound, next_recorded, parse_bound, parse_through, unit_end
from semgraph.vocabulary import predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SKEW = 5 * 60 * 1_000_000
Quals = dict[str, Any] | None


class Oracle(Settling, Naming, Telling):
    """One scope. `clock` gives the wall time in microseconds; `at` of an operation overrides it."""

    def __init__(
        self,
        scope: str = "default",
        *,
        clock: Callable[[], int] | None = None,
        timezone: str | None = None,
        unregistered: str = "flag",
        family: dict[str, Oracle] | None = None,
    ) -> None:
        self.scope = scope
        self.timezone = timezone
        self.unregistered = unregistered
        self.tie: dict[str, str] = {}  # own claim id -> the engine's: the last criterion in the order of events
        self._family = family if family is not None else {}
        self._family[scope] = self
        self._clock = clock
        self._wall = 0
        self._reset()

    def _reset(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.names = Names()
        self.registry = Registry(predicate_key, starter(), self.unregistered)
        self.compat: list[tuple[int, int, str, Value, Value]] = []
        self.vetoes: list[tuple[str, Any]] = []
        self.last = NEG_INF
        self._worlds: dict[int, World] = {}

    def scoped(self, name: str) -> Oracle:
        """The oracle of another scope, with the same clock."""
        found = self._family.get(name)
        return found or Oracle(
            name, clock=self._clock, timezone=self.timezone, unregistered=self.unregistered, family=self._family
        )

    # transactions

    def _begin(self, at: Any) -> int:
        if at is not None:
            self._wall = self.instant(at)
        elif self._clock:
            self._wall = self._clock()
        return next_recorded(self._wall, self.last) if self.last != NEG_INF else self._wall

    @property
    def now(self) -> int:
        return max(self._wall if self._clock is None else self._clock(), self.last)

    def _run(self, at: Any, work: Callable[[int], Outcome]) -> Outcome:
        """One operation: nothing of it is kept if it is refused."""
        recorded = self._begin(at)
        names = copy(self.names)
        names.nodes, names.aliases, names.redirects = (
            dict(names.nodes),
            list(names.aliases),
            list(names.redirects),
        )
        try:
            outcome = work(recorded)
        except (Refused, RejectedError) as refusal:
            self.names = names
            return Outcome("REJECTED", refusal.code)
        except InputError:
            self.names = names
            return Outcome("REJECTED", "input")
        self.last = recorded
        self._worlds.clear()
        return outcome

    def instant(self, value: Any) -> int:
        if isinstance(value, int):
            return value
        bound = parse_bound(value, timezone=self.timezone)
        assert bound is not None
        return bound.instant

    def world(self, known: int | None = None) -> World:
        """What is believed at a known_at; only the same question twice in a row is answered from memory."""
        known = LATEST if known is None else known
        if known not in self._worlds:
            tie = lambda claim_id: str(self.tie.get(claim_id, claim_id))  # noqa: E731
            self._worlds[known] = World(
                self.claims.values(), self.names, self.registry, self.compat, known=known, tie=tie
            )
        return self._worlds[known]

    # reading what is told

    def _ends(self, s: str, p: str | None, o: Any, when: int, recorded: int) -> Written:
        entry, inverse, flipped = self.registry.resolve(p if p is not None else "states")
        if inverse:
            if o is None:
                raise Refused("object_required")
            s, o = o, s
        subject = self.names.write(str(s), when, recorded)
        keys = ["<self>" if is_self(entity_key(str(s))) else entity_key(str(s)), None]
        if o is None:
            return Written(entry, flipped, subject, None, (keys[0] or "", None), "")
        if is_literal(o, entry):
            keys[1] = key_of_literal(o, entry)
            return Written(entry, flipped, subject, ("l", keys[1]), (keys[0] or "", f"={keys[1]}"), str(o))
        thing = self.names.write(str(o), when, recorded)
        keys[1] = "<self>" if is_self(entity_key(str(o))) else entity_key(str(o))
        return Written(entry, flipped, subject, ("e", thing), (keys[0] or "", keys[1]), str(o))

    def _said(self, said: Any, recorded: int) -> int:
        if said is None:
            return recorded
        instant = self.instant(said)
        if instant > recorded + SKEW:
            raise Refused("clock_skew")
        return instant

    def _bounds(self, from_: Any, to: Any, through: Any) -> tuple[Bound | None, Bound | None]:
        start = None if from_ is None else parse_bound(from_, timezone=self.timezone)
        if through is not None:
            return start, parse_through(through, timezone=self.timezone)
        return start, None if to is None else parse_bound(to, timezone=self.timezone)

    def _confidence(self, given: float | None, source: str, because: list[frozenset[str]]) -> float:
        if given is not None and (math.isnan(given) or not 0 <= given <= 1):
            raise Refused("bad_confidence")
        kind = source_class(source)
        value = SEEDS.get(kind, 0.50) if given is None else float(given)
        if kind != "inferred":
            return value
        chances = [INFERRED_CAP]
        if because:
            chances = []
            for premises in because:
                known = [self.claims[i] for i in premises if i in self.claims]
                depth = 1 + max((self._depth(c) for c in known if c.inferred), default=0)
                chances.append(min([INFERRED_CAP * 0.8 ** (depth - 1), *(c.confidence for c in known)]))
        return min(value, max(chances))

    def _depth(self, claim: Claim) -> int:
        """The longest chain of inferred premises that ends in this claim."""
        seen: set[str] = set()

        def chain(c: Claim) -> int:
            if c.id in seen:
                return 0
            seen.add(c.id)
            premises = [self.claims[i] for _, j in c.standing if j for i in j if i in self.claims]
            longest = max((chain(p) for p in premises if p.inferred), default=0)
            seen.discard(c.id)
            return longest + 1

        return chain(claim)

    def _check_veto(self, texts: Iterable[Any], ids: Iterable[int], predicate: str) -> None:
        from semgraph.gate import vetoed

        phrases = [v for kind, v in self.vetoes if kind == "phrase"]
        if vetoed([str(t) for t in texts if t is not None], phrases):
            raise Refused("do_not_remember")
        gone = {self.names.final(v) for kind, v in self.vetoes if kind == "entity"}
        if gone & {self.names.final(i) for i in ids} or ("predicate", predicate) in self.vetoes:
            raise Refused("do_not_remember")

    # claims

    def _claim(
        self, told: Written, *, negative: bool, role: str, start: Bound | None, end: Bound | None, said: int,
        said_given: bool, recorded: int, source: str, ref: str | None, quals: Quals, confidence: float, text: str = "",
        bare_start: str = "observed",
    ) -> Claim:  # fmt: skip
        """A claim that is not stored yet; `bare_start` is what a missing start means."""
        basis, at, lo, hi = start_of(start, said, bare_start)
        until, kind, end_lo, end_hi = POS_INF, "open", POS_INF, POS_INF
        if end is not None and end.precision == "unknown":
            kind = "soft"
        elif end is not None:
            until, kind, end_lo, end_hi = end.instant, "stated", end.earliest, end.before
        elif told.entry.event and basis not in ("unknown", "always"):
            until = unit_end(start) if start is not None else at + 1
            kind, end_lo, end_hi = "stated", until, until + 1
        if basis == "observed" and (kind == "soft" or until <= said):
            basis, at, lo, hi = "unknown", NEG_INF, NEG_INF, POS_INF
        if basis != "unknown" and at >= (said if kind == "soft" else until):
            raise Refused("empty_interval")
        pairs = tuple(sorted((predicate_key(q), literal_key(str(v))) for q, v in (quals or {}).items()))
        stated = tuple(None if b is None else (b.instant, b.earliest, b.before) for b in (start, end))
        identity = (
            *told.keys, told.entry.name, negative, role,
            stated, source, ref, pairs, said if said_given else None,
            recorded if not said_given and ref is None else None,
        )  # fmt: skip
        return Claim(
            repr(identity), told.subject, told.entry.name, told.object, negative, role, at, basis, lo, hi, until, kind,
            end_lo, end_hi, said, recorded, source, ref, confidence, pairs, told.label, text,
        )  # fmt: skip

    def _store(self, claim: Claim, because: list[frozenset[str]] | None = None) -> str:
        """NEW, or DUPLICATE where only a justification is added, or IDEMPOTENT."""
        wanted: list[frozenset[str] | None] = list(because) if because else [None]
        stored = self.claims.setdefault(claim.id, claim)
        had = [j for _, j in stored.standing]
        more = [j for j in wanted if j not in had]
        stored.standing += [(claim.recorded, j) for j in more]
        self._worlds.clear()
        if stored is claim:
            return "NEW"
        return "DUPLICATE" if more else "IDEMPOTENT"

    # operations

    def assert_(
        self, s: str, p: str | None, o: Any = None, *, from_: Any = None, to: Any = None, through: Any = None,
        said: Any = None, source: str = "user", ref: str | None = None, kind: str = "state", pol: str = "+",
        conf: float | None = None, quals: Quals = None, because: Iterable[Iterable[str]] = (), text: str | None = None,
        at: Any = None,
    ) -> Outcome:  # fmt: skip
        """A claim; a negative change is an explicit end."""
        if pol == "-" and kind == "change":
            return self._negate(
                s, p, o, from_=from_, to=to, said=said, source=source, ref=ref, quals=quals, at=at, through=through
            )
        reasons = [frozenset(j) for j in because]

        def work(recorded: int) -> Outcome:
            self._check_texts(s, o, text)
            confidence = self._confidence(conf, source, reasons)
            start, end = self._bounds(from_, to, through)
            when = self._said(said, recorded)
            thing = o if o is not None or p not in (None, "states") else text
            if thing is None:
                raise Refused("object_required")
            told = self._ends(s, p, thing, moment(start, when), recorded)
            self._check_veto([s, thing, text], _ids(told), told.entry.name)
            claim = self._claim(
                told, negative=(pol == "-") != told.flipped, role=kind, start=start, end=end, said=when,
                said_given=said is not None, recorded=recorded, source=source, ref=ref, quals=quals,
                confidence=confidence, text=text or "",
            )  # fmt: skip
            return self._told(claim, reasons)

        return self._run(at, work)

    def end(
        self, s: str, p: str, o: Any = None, *, when: Any = None, said: Any = None, source: str = "user",
        ref: str | None = None, quals: Quals = None, at: Any = None,
    ) -> Outcome:  # fmt: skip
        """It stopped; without an object every value did."""
        return self._negate(s, p, o, from_=when, to=None, said=said, source=source, ref=ref, quals=quals, at=at)

    def deny(
        self, s: str, p: str, o: Any, *, from_: Any = None, to: Any = None, through: Any = None, said: Any = None,
        source: str = "user", ref: str | None = None, quals: Quals = None, at: Any = None,
    ) -> Outcome:  # fmt: skip
        """It never was; with a bound it was not during that interval."""
        if from_ is not None or to is not None or through is not None:
            outcome = self._negate(
                s, p, o, from_=from_, to=to, said=said, source=source, ref=ref, quals=quals, at=at, through=through,
                bare_start="always", needed=True,
            )  # fmt: skip
            known = ("IDEMPOTENT", "SUPPRESSED", "REJECTED")
            outcome.code = outcome.code if outcome.code in known else "NEW"
            return outcome

        def work(recorded: int) -> Outcome:
            self._check_texts(s, o)
            if o is None:
                raise Refused("object_required")
            spoken = self._said(said, recorded)
            told = self._ends(s, p, o, spoken, recorded)
            claim = self._mask(told, recorded, spoken, source=source, ref=ref, quals=quals, said_given=said is not None)
            if self._store(claim) != "NEW":
                return Outcome("IDEMPOTENT", claims=[claim.id])
            world = self.world()
            masked = any(world.masks_claim(claim, c) for c in world.masked)
            standing = any(
                set(world.ends(c)) & set(world.ends(claim)) and c.predicate == claim.predicate and not c.explicit_end
                for c in world.claims
            )
            return Outcome("SUPPRESSED" if standing and not masked else "NEW", claims=[claim.id])

        return self._run(at, work)

    def _mask(
        self, told: Written, recorded: int, said: int, *, source: str, ref: str | None, quals: Quals,
        said_given: bool = False, start: Bound | None = None, end: Bound | None = None,
    ) -> Claim:  # fmt: skip
        return self._claim(
            told, negative=told.flipped, role="mask", start=start, end=end, said=said, said_given=said_given,
            recorded=recorded, source=source, ref=ref, quals=quals, confidence=self._confidence(None, source, []),
            bare_start="always",
        )  # fmt: skip

    def _negate(
        self, s: str, p: str | None, o: Any, *, from_: Any, to: Any, said: Any, source: str, ref: str | None,
        quals: Quals, at: Any, through: Any = None, bare_start: str = "observed", needed: bool = False,
    ) -> Outcome:  # fmt: skip
        """An explicit end or a bounded denial; told through an opposite it only cuts."""

        def work(recorded: int) -> Outcome:
            self._check_texts(s, o)
            if needed and o is None:
                raise Refused("object_required")
            start, end = self._bounds(from_, to, through)
            spoken = self._said(said, recorded)
            told = self._ends(s, p, o, moment(start, spoken), recorded)
            claim = self._claim(
                told, negative=True, role="cut" if told.flipped else "end", start=start, end=end, said=spoken,
                said_given=said is not None, recorded=recorded, source=source, ref=ref, quals=quals,
                confidence=self._confidence(None, source, []), bare_start=bare_start,
            )  # fmt: skip
            if claim.role == "end":
                return self._told(claim, [])
            if self._store(claim) != "NEW":
                return Outcome("IDEMPOTENT", claims=[claim.id])
            return Outcome("SUPPRESSED" if self._cuts_nothing(claim) else "ENDED", claims=[claim.id])

        return self._run(at, work)

    def _cuts_nothing(self, cut: Claim) -> bool:
        """Whether a cut removes nothing although a plain negative is there."""
        world = self.world()
        plain = [c for c in world.claims if c.negative and not c.explicit_end and c.predicate == cut.predicate]
        about = [c for c in plain if {s for s, _ in world.ends(c)} & {s for s, _ in world.ends(cut)}]
        about = [c for c in about if cut.object is None or set(world.ends(c)) & set(world.ends(cut))]
        removed = [c for c in about if world.cuts_claim(cut, c) and max(c.start, cut.start) < min(c.end, cut.end)]
        return bool(about) and not removed

    @staticmethod
    def _check_texts(*texts: Any) -> None:
        for text in texts:
            if isinstance(text, str):
                check_characters(text, "text")

    def remember(
        self, text: str, *, s: str | None = None, p: str | None = None, o: Any = None, from_: Any = None,
        to: Any = None, said: Any = None, source: str = "user", ref: str | None = None, at: Any = None,
    ) -> Outcome:  # fmt: skip
        """A claim with a sentence, through the language gate; no extractor here."""
        from semgraph.gate import language_gate

        try:
            entry = self.registry.resolve(p or "states")[0]
            language_gate(
                text, subject=s, predicate=p, object=o, source=source, has_start=from_ is not None,
                predicate_has_ttl=entry.ttl_days is not None,
            )  # fmt: skip
        except RejectedError as refusal:
            self._begin(at)
            return Outcome("REJECTED", refusal.code)
        told = {"said": said, "source": source, "ref": ref, "text": text, "at": at}
        return self.assert_(s or "", p, o, from_=from_, to=to, **told)  # noqa: PT009, UP005 - the operation, not unittest's

    def do_not_remember(
        self, *, phrase: str | None = None, entity: str | None = None, predicate: str | None = None, at: Any = None
    ) -> Outcome:
        def work(recorded: int) -> Outcome:
            if phrase is not None:
                self.vetoes.append(("phrase", phrase))
            if entity is not None:
                self.vetoes.append(("entity", self.names.write(entity, recorded, recorded)))
            if predicate is not None:
                self.vetoes.append(("predicate", self.registry.resolve(predicate)[0].name))
            return Outcome("UPDATE")

        return self._run(at, work)

    def retract(self, claims: Iterable[str], *, at: Any = None) -> Outcome:
        """Withdraw these claims."""

        def work(recorded: int) -> Outcome:
            found = [c for c in map(self.claims.get, claims) if c is not None and c.visible(recorded)]
            for claim in found:
                claim.withdrawn.append([recorded, POS_INF])
            return Outcome("UPDATE" if found else "IDEMPOTENT")

        return self._run(at, work)

    def unretract(self, claims: Iterable[str], *, at: Any = None) -> Outcome:
        def work(recorded: int) -> Outcome:
            found = [c for c in map(self.claims.get, claims) if c is not None and not c.visible(recorded)]
            for claim in found:
                claim.withdrawn[-1][1] = recorded
            return Outcome("UPDATE" if found else "IDEMPOTENT")

        return self._run(at, work)

    def predicate(self, name: str, *, at: Any = None, **given: Any) -> Outcome:
        def work(recorded: int) -> Outcome:
            self.registry.define(name, given, recorded)
            return Outcome("UPDATE")

        return self._run(at, work)

    # reads

    def read(self, known_at: Any = None, *, explicit: bool = True) -> Reader:
        known = LATEST if known_at is None else self.instant(known_at)
        return Reader(self.world(known), list(self.claims.values()), explicit=explicit)

    def _when(self, valid_at: Any) -> int:
        return self.now if valid_at is None else self.instant(valid_at)

    def values(
        self, s: str, p: str, valid_at: Any = None, known_at: Any = None, *, possible: bool = False
    ) -> list[Held]:
        reader = self.read(known_at, explicit=valid_at is not None)
        return reader.values(s, p, self._when(valid_at), possible=possible)

    def timeline(self, s: str, p: str | None = None, *, neg: bool = False, known_at: Any = None) -> list[Line]:
        return self.read(known_at, explicit=False).timeline(s, p, neg=neg, when=self.now)

    def conflicts(self, valid_at: Any = None, known_at: Any = None) -> list[tuple[str, str, list[str]]]:
        """The sets that hold at an instant (default now)."""
        reader, when = self.read(known_at), self._when(valid_at)
        return reader.conflict_rows(reader.world.conflicts_at(when), when)

    def conflict_history(self, known_at: Any = None) -> list[tuple[str, str, list[str]]]:
        """The sets of all time, one row for each stretch of constant membership."""
        reader = self.read(known_at)
        return reader.conflict_rows(reader.world.conflicts, self.now)

    def confidence(self, s: str, p: str, o: Any, valid_at: Any = None, known_at: Any = None) -> float | None:
        return self.read(known_at, explicit=valid_at is not None).confidence(s, p, o, self._when(valid_at))

    def diff(
        self, t1: Any = None, t2: Any = None, *, k1: Any = None, k2: Any = None
    ) -> dict[str, list[tuple[str, ...]]]:
        """What holds at the second and not at the first moment, and the reverse; moments of the world or of belief."""
        one, two = (self.read(k) for k in (k1, k2))
        whens = (self._when(t1), self._when(t2))
        old, new = one.holding(whens[0]), two.holding(whens[1])
        return {
            "opened": sorted(two.triple(f, whens[1]) for e, f in new.items() if e not in old),
            "closed": sorted(one.triple(f, whens[1]) for e, f in old.items() if e not in new),
        }

    def entity_named(self, name: str, valid_at: Any = None) -> list[str]:
        """The labels of what a name means: one, none, or the candidates."""
        when = self._when(valid_at)
        found = self.names.find(name, LATEST, None if valid_at is None else when)
        return [self.names.label(e, when) for e in found]

    def neighbours(self, s: str, valid_at: Any = None, known_at: Any = None, **options: Any) -> dict[str, int]:
        return self.read(known_at).neighbours(s, self._when(valid_at), **options)

    def paths(self, a: str, b: str, valid_at: Any = None, known_at: Any = None, **options: Any) -> list[Any]:
        return self.read(known_at).paths(a, b, when=self._when(valid_at), **options)

    def match(self, patterns: list[list[str]], valid_at: Any = None, known_at: Any = None) -> list[Any]:
        return self.read(known_at).match(patterns, None if valid_at is None else self.instant(valid_at))


def _ids(told: Written) -> list[int]:
    return [told.subject] + ([told.object[1]] if told.object and told.object[0] == "e" else [])
