"""The engine and the reference model side by side through every write operation; verify() and reads at each step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import pytest
from case_files import Case, Step, shown_key
from case_runner import CaseRun, Result
from case_runner import _bounds as bounds_of
from case_runner import _shown as shown_object
from case_runner import _told as told_of
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import Oracle
from oracle_cases import OracleRun

from semgraph.errors import AmbiguousNameError, InputError, NotFoundError
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from oracle_model import Outcome

SUBJECTS = ("Ann", "Bo", "Cy")
OBJECTS = ("Acme", "Globex", "Acme Labs", "Cy", "Initech")
NAMES = (*SUBJECTS, "Acme", "Globex", "Acme Labs", "Initech", "Annie", "Robert")
GROUPS = (
    ("works_at", "likes", "dislikes"),
    ("ceo_of", "reports_to", "manages"),
    ("married_to", "collects", "uses"),
    ("prefers", "works_at", "collects"),
    ("status", "visited", "birth_place"),
    ("friend_of", "works_at", "member_of"),
)
SYMMETRIC = ("married_to", "friend_of")
NEVER_ENDED = ("status", "visited")  # what an end of a passing state or of an event does is read in two ways
DATES = (
    "2010",
    "2015",
    "2018",
    "2018-06",
    "2020",
    "2020-03-01",
    "2021",
    "2022~",
    "2023-01-01",
    "2024-06-01",
    "2026",
    "198X",
)
SAID = ("2012-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "2021-06-01T00:00:00Z", "2023-12-31T00:00:00Z")
SOURCES = ("user", "user", "user", "tool:x", "imported:w", "inferred")
MOMENTS = ("2012-01-01", "2018-03-01", "2020-02-01", "2021-06-01", "2024-01-15", None, "2030-01-01")
PAUSES = (1, 30, 3600, 90_000, 86_400 * 40)
START = datetime(2024, 1, 1, tzinfo=UTC)

subjects = st.sampled_from(SUBJECTS)
objects = st.sampled_from(OBJECTS)
dates = st.sampled_from(DATES)
maybe_date = st.none() | dates
pauses = st.sampled_from(PAUSES)
numbers = st.integers(0, 11)


class _EnoughError(Exception):
    """Ends a block that is to be rolled back."""


class OneTime(Oracle):
    """The reference model, with one transaction time for all that is told while `together` is set."""

    together: int | None = None

    def _begin(self, at: Any) -> int:
        found = super()._begin(at)
        if self.together is None:
            return found
        self.together = max(self.together, found) if self.together == NEG_INF else self.together
        return self.together


@st.composite
def details(draw: st.DrawFn) -> dict[str, Any]:
    """Who said it, where, when, and of what."""
    given: dict[str, Any] = {"source": draw(st.sampled_from(SOURCES))}
    if draw(st.booleans()):
        given["said"] = draw(st.sampled_from(SAID))
    if draw(numbers) < 3:
        given["ref"] = draw(st.sampled_from(["d1", "d2"]))
    if draw(st.booleans()):
        given["quals"] = {"topic": draw(st.sampled_from(["a", "b"]))}
    return given


@st.composite
def statements(draw: st.DrawFn) -> dict[str, Any]:
    """What `assert` takes, but for the predicate."""
    given = draw(details())
    given["s"] = draw(subjects)
    given["o"] = draw(st.sampled_from([o for o in OBJECTS if o != given["s"]]))  # the model knows no irreflexive ones
    given["kind"] = draw(st.sampled_from(["state", "state", "state", "change", "also"]))
    if draw(st.booleans()):
        given["from"] = draw(st.sampled_from([*DATES, "unknown"]))
    if draw(numbers) < 4:
        given[draw(st.sampled_from(["to", "to", "through"]))] = draw(st.sampled_from([*DATES, "unknown"]))
    if draw(numbers) < 2:
        given["pol"] = "-"
    return given


class EngineAndModel(RuleBasedStateMachine):
    """One random life of a scope; every rule is one step of the worked cases, or a few as a batch."""

    @initialize(group=st.sampled_from(GROUPS))
    def begin(self, group: tuple[str, ...]) -> None:
        self.predicates = group
        self.model = OracleRun.__new__(OracleRun)
        self.model.oracle, self.model.outcomes = OneTime(), []
        self.engine = CaseRun(Case("machine", [], []), None)
        self.steps: list[Step] = []
        self.seconds = 0
        self.vetoes: set[str] = set()

    # -- both

    def _now(self, pause: int = 1) -> str:
        self.seconds += pause
        return (START + timedelta(seconds=self.seconds)).isoformat().replace("+00:00", "Z")

    def _both(self, op: str, pause: int, **given: Any) -> None:
        """One step for both; refused by one, refused by the other."""
        step = {"op": op, "at": self._now(pause), **{k: v for k, v in given.items() if v is not None}}
        if step.get("o") == step.get("s") and "s" in step:
            return  # the model knows no irreflexive predicates
        step = self._comparable(step)
        outcome = self.model._do(step)
        self._noted(step, outcome, self._play(step))

    def _comparable(self, step: Step) -> Step:
        """The step, without what the two read in different ways."""
        if step["op"] == "assert":
            if step["p"] == "status" and step["kind"] == "change" and not step.keys() & {"to", "through"}:
                step["kind"] = "state"  # whether a change that times out holds an older word back, or drops it
            if step["p"] != "prefers":
                step.pop("quals", None)
            if step["p"] == "dislikes" and "pol" in step and step["kind"] == "change" and step.get("to") == "unknown":
                del step["to"]  # the end of an end at some time that nobody knows
            if self.vetoes and "pol" in step and step["kind"] == "change":
                step["kind"] = "state"  # an end in other words, in which the model heeds no veto
        return step

    def _play(self, step: Step) -> Result:
        try:
            self.engine.play([step])
        except InputError:  # not a matter of a code: a keyword that makes no sense there
            self.engine.results.append(Result("REJECTED", "input"))
        return self.engine.results[-1]

    def _noted(self, step: Step, outcome: Outcome, result: Result) -> None:
        self.steps.append(step)
        self.model.outcomes.append(outcome)
        if step["op"] not in ("alias", "entity", "predicate", "do_not_remember", "forget", "merge", "unmerge"):
            assert (outcome.code == "REJECTED") == (result.outcome == "REJECTED"), (step, outcome, result)
            assert (outcome.code == "IDEMPOTENT") == (result.outcome == "IDEMPOTENT"), (step, outcome, result)
        else:
            assert (outcome.code == "REJECTED") == (result.outcome == "REJECTED"), (step, outcome, result)
        self._tie(outcome, result)

    def _tie(self, outcome: Outcome, result: Result) -> None:
        """The last criterion in the order of events is the id of the claim, which the model takes from the engine."""
        ids = [c.id for r in result.receipts if isinstance(getattr(r, "claims", None), tuple) for c in r.claims]
        self.model.oracle.tie.update(zip(outcome.claims, ids, strict=False))

    def _with_claims(self) -> list[int]:
        """The steps (from 1) all of whose claims are still stored."""
        kept = self.model.oracle.claims
        return [n for n, o in enumerate(self.model.outcomes, 1) if o.claims and all(c in kept for c in o.claims)]

    def _predicate(self, number: int) -> str:
        return self.predicates[number % len(self.predicates)]

    # -- writing

    @rule(given=statements(), p=numbers, pause=pauses)
    def add(self, given: dict[str, Any], p: int, pause: int) -> None:
        self._both("assert", pause, p=self._predicate(p), **given)

    @rule(given=statements(), p=numbers, pause=pauses)
    def add_another(self, given: dict[str, Any], p: int, pause: int) -> None:
        self._both("assert", pause, p=self._predicate(p), **given)

    @rule(given=statements(), p=numbers, pause=pauses)
    def set(self, given: dict[str, Any], p: int, pause: int) -> None:
        given = {**given, "kind": "change"}
        given.pop("pol", None)
        registry, predicate = self.engine.graph.predicates, self._predicate(p)
        many = predicate in registry and registry[predicate].cardinality == "many"
        if many or predicate == "status":  # where set is refused, add is not
            self._both("assert", pause, p=predicate, **given)
            return
        step = self._comparable({"op": "assert", "at": self._now(pause), "p": predicate, **given})
        outcome = self.model._do(step)
        told = {k: v for k, v in step.items() if k != "kind"} | {"op": "set"}
        self._noted(told, outcome, self._play(told))

    @rule(given=statements(), p=numbers, start=dates, which=numbers, pause=pauses)
    @precondition(lambda self: self._premises())
    def derive(self, given: dict[str, Any], p: int, start: str, which: int, pause: int) -> None:
        """A derived claim always states its start: the model reads an unknown one for what its premises allow.

        Only told claims are alternatives: of several justifications the model takes the best, the engine the longest.
        """
        premises = self._premises()
        told = [n for n in premises if self.steps[n - 1].get("source", "user") != "inferred"]
        given = {k: v for k, v in given.items() if k != "pol"} | {"from": start, "source": "inferred"}
        because = [[told[0]], [told[-1]]] if which % 3 == 0 and told else [[premises[which % len(premises)]]]
        self._both("assert", pause, p=self._predicate(p), because=because, **given)

    def _premises(self) -> list[int]:
        """Claims that can be premises; an end told through an opposite only cuts, and has no fact to stand on."""
        kinds = {"assert", "set", "end"}
        steps = [n for n in self._with_claims() if self.steps[n - 1]["op"] in kinds]
        return [n for n in steps if self.steps[n - 1]["p"] != "dislikes"]

    @rule(s=subjects, o=st.none() | objects, p=numbers, when=maybe_date, told=details(), pause=pauses)
    def end(self, s: str, o: str | None, p: int, when: str | None, told: dict[str, Any], pause: int) -> None:
        predicate = self._predicate(p)
        if self._banned(s, p, o) or predicate in NEVER_ENDED or (predicate == "manages" and o is None):
            return
        self._both("end", pause, s=s, p=self._predicate(p), o=o, when=when, **told)

    @rule(s=subjects, o=objects, p=numbers, start=maybe_date, stop=maybe_date, told=details(), pause=pauses)
    def deny(
        self, s: str, o: str, p: int, start: str | None, stop: str | None, told: dict[str, Any], pause: int
    ) -> None:
        if self._banned(s, p, o):
            return
        if self._predicate(p) in ("status", "visited") and start is not None and stop is None:
            stop = "2026"  # the open end of a denied event or passing state is read in two ways
        given = {"from": start, "to": stop}
        self._both("deny", pause, s=s, p=self._predicate(p), o=o, **given, **told)

    @rule(
        s=subjects, old=objects, o=objects, p=numbers, when=maybe_date, source=st.sampled_from(["user", "tool:x"]),
        pause=pauses,
    )  # fmt: skip
    def correct(self, s: str, old: str, o: str, p: int, when: str | None, source: str, pause: int) -> None:
        if self._banned(s, p, old, o) or self._predicate(p) in ("visited", "prefers"):
            return  # of several occurrences, or fluents, in which the value holds the model corrects one
        self._both("correct", pause, s=s, p=self._predicate(p), old=old, o=o, as_of=when, source=source)

    @rule(which=numbers, pause=pauses)
    @precondition(lambda self: self._with_claims())
    def retract(self, which: int, pause: int) -> None:
        steps = self._with_claims()
        self._both("retract", pause, step=steps[which % len(steps)])

    @rule(which=numbers, pause=pauses)
    @precondition(lambda self: any(step["op"] == "retract" for step in self.steps))
    def unretract(self, which: int, pause: int) -> None:
        steps = [s["step"] for s in self.steps if s["op"] == "retract" and s["step"] in self._with_claims()]
        if steps:
            self._both("unretract", pause, step=steps[which % len(steps)])

    @rule(
        s=subjects,
        o=objects,
        p=numbers,
        choice=st.sampled_from(["choose", "keep_both", "both_wrong"]),
        when=maybe_date,
        pause=pauses,
    )
    def settle(self, s: str, o: str, p: int, choice: str, when: str | None, pause: int) -> None:
        predicate = self._predicate(p)
        if predicate == "manages":
            return  # through an inverse name the two look at different ends
        if predicate == "ceo_of":
            s, o = o, s  # the object is shared, the winner a subject
        if self._one(s, o):
            return  # the model knows no irreflexive predicates
        given = {"o": o if choice == "choose" else None, "as_of": when}
        self._both("resolve", pause, s=s, p=predicate, choice=choice, **given)

    @rule(pause=pauses)
    @precondition(lambda self: self._disputes())
    def settle_what_is_open(self, pause: int) -> None:
        s, p, members = self._disputes()[0]
        plain = [m for m in members if not m.startswith("¬") and m != "NONE"]
        self._both(
            "resolve", pause, s=s, p=p, choice="choose" if plain else "both_wrong", o=plain[0] if plain else None
        )

    def _disputes(self) -> list[Any]:
        return [row for row in self.model.oracle.conflicts() if row[1] not in SYMMETRIC]

    @rule(text=st.sampled_from(["{s} has told us of {o} in a letter", "I think {s} maybe knows {o}", "hm"]), p=numbers,
          s=subjects, o=objects, told=details(), pause=pauses)  # fmt: skip
    def remember(self, text: str, p: int, s: str, o: str, told: dict[str, Any], pause: int) -> None:
        told = {k: v for k, v in told.items() if k != "quals"}
        self._both("remember", pause, text=text.format(s=s, o=o), s=s, p=self._predicate(p), o=o, **told)

    @rule(veto=st.sampled_from([{"phrase": "Initech"}, {"entity": "Globex"}, {"predicate": "visited"}]), pause=pauses)
    def veto(self, veto: dict[str, str], pause: int) -> None:
        if "entity" in veto and not self.model.oracle.names.raw(veto["entity"]):
            return  # the model would make the entity
        self.vetoes |= set(veto.values())
        self._both("do_not_remember", pause, **veto)

    def _one(self, a: str, b: str) -> bool:
        names = self.model.oracle.names
        return bool({names.final(e) for e in names.raw(a)} & {names.final(e) for e in names.raw(b)})

    def _banned(self, s: str, p: int, *objects: str | None) -> bool:
        """Whether a gate may refuse it that the model has for what is added only: vetoes, and nothing of itself."""
        if s in objects:
            return True
        if "Globex" in self.vetoes:  # an entity: by whatever name, and after merges
            return True
        return bool(self.vetoes & {s, self._predicate(p), *objects})

    # -- batches

    @rule(
        items=st.lists(st.tuples(statements(), numbers), min_size=2, max_size=4),
        replaces=st.none() | st.sampled_from(["d1", "d2"]),
        pause=pauses,
    )
    def add_all(self, items: list[tuple[dict[str, Any], int]], replaces: str | None, pause: int) -> None:
        at = self._now(pause)
        steps = []
        for given, p in items:
            step = {"op": "assert", "at": at, "p": self._predicate(p), **given}
            if replaces is not None:
                step["ref"] = replaces
            steps.append(self._comparable(step))
        oracle = self.model.oracle
        oracle.together = NEG_INF
        outcomes = [self.model._do(step) for step in steps]
        said = {c for o in outcomes for c in o.claims}
        before = [c.id for c in oracle.claims.values() if c.ref == replaces and c.id not in said]
        if replaces is not None:
            oracle.retract(before, at=at)
        oracle.together = None
        words = [
            {"subject": s["s"], "predicate": s["p"], "object": s["o"], "kind": s["kind"], "negative": "pol" in s}
            | bounds_of(s) | told_of(s)
            for s in steps
        ]  # fmt: skip
        self.engine.moment = datetime.fromisoformat(at)
        batch = self.engine.graph.add_all(words, replaces=replaces, receipts=True)
        assert [r.outcome == "rejected" for r in batch.receipts] == [o.code == "REJECTED" for o in outcomes], steps
        for step, outcome, receipt in zip(steps, outcomes, batch.receipts, strict=True):
            self.engine.results.append(Result(str(receipt.outcome).upper(), receipt.code, [receipt]))
            self.steps.append(step)
            self.model.outcomes.append(outcome)
            self._tie(outcome, self.engine.results[-1])

    @rule(given=statements(), p=numbers, name=st.sampled_from(NAMES), pause=pauses)
    def roll_back(self, given: dict[str, Any], p: int, name: str, pause: int) -> None:
        """Whatever was done in a block that fails never was."""
        at = self._now(pause)
        self.model.oracle._begin(at)
        kg = self.engine.graph
        self.engine.moment = datetime.fromisoformat(at)
        done = len(self.engine.results)
        try:
            with kg.atomic():
                self._play(self._comparable({"op": "assert", "at": at, "p": self._predicate(p), **given}))
                self._play({"op": "alias", "at": at, "name": "Nobody", "entity": name})
                self._play({"op": "merge", "at": at, "src": "Ann", "dst": "Bo"})
                self._play({"op": "predicate", "at": at, "name": "works_at", "card": "many"})
                self._fail()
        except _EnoughError:
            del self.engine.results[done:]
        assert "Nobody" not in kg

    @staticmethod
    def _fail() -> None:
        raise _EnoughError

    @rule(given=statements(), p=numbers, pause=pauses)
    def atomic(self, given: dict[str, Any], p: int, pause: int) -> None:
        """A block that ends well keeps all of it."""
        with self.engine.graph.atomic():
            self._both("assert", pause, p=self._predicate(p), **given)
            if not self._banned(given["s"], p, given["o"]) and self._predicate(p) not in NEVER_ENDED:
                self._both("end", 1, s=given["s"], p=self._predicate(p), o=given["o"], when="2023-01-01")

    # -- names and predicates

    @rule(pair=st.lists(st.sampled_from(NAMES[:7]), min_size=2, max_size=2, unique=True), pause=pauses)
    def merge(self, pair: list[str], pause: int) -> None:
        self._both("merge", pause, src=pair[0], dst=pair[1])

    @rule(which=numbers, pause=pauses)
    @precondition(lambda self: any(step["op"] == "merge" for step in self.steps))
    def unmerge(self, which: int, pause: int) -> None:
        merged = [step["src"] for step in self.steps if step["op"] == "merge"]
        self._both("unmerge", pause, src=merged[which % len(merged)])

    @rule(
        name=st.sampled_from(["Annie", "Robert"]),
        entity=st.sampled_from(NAMES[:7]),
        homonym=st.booleans(),
        pause=pauses,
    )
    def alias(self, name: str, entity: str, homonym: bool, pause: int) -> None:  # noqa: FBT001
        self._both("alias", pause, name=name, entity=entity, homonym=homonym)

    @rule(name=st.sampled_from(NAMES[3:7]), pause=pauses)
    def declare(self, name: str, pause: int) -> None:
        if name not in self.vetoes:  # which the model heeds for claims only
            self._both("entity", pause, name=name)

    @rule(p=numbers, card=st.sampled_from(["one", "many"]), pause=pauses)
    def define(self, p: int, card: str, pause: int) -> None:
        predicate = self._predicate(p)
        if predicate in ("collects", "works_at", "likes", "uses"):
            self._both("predicate", pause, name=predicate, card=card)

    # -- forgetting

    @rule(which=numbers, pause=pauses)
    @precondition(lambda self: self._with_claims())
    def forget_claims(self, which: int, pause: int) -> None:
        steps = self._with_claims()
        self._both("forget", pause, step=steps[which % len(steps)])

    @rule(name=st.sampled_from(NAMES), pause=pauses)
    def forget_entity(self, name: str, pause: int) -> None:
        self._both("forget", pause, entity=name)

    @rule(ref=st.sampled_from(["d1", "d2"]), pause=pauses)
    def forget_source(self, ref: str, pause: int) -> None:
        if any(claim.ref == ref for claim in self.model.oracle.claims.values()):
            self._both("forget", pause, ref=ref)

    @rule(chance=st.integers(0, 5), pause=pauses)
    def forget_everything(self, chance: int, pause: int) -> None:
        if chance == 0:
            self._both("forget", pause)
            self.vetoes.clear()

    # -- comparing

    @invariant()
    def stored_rows_follow_from_claims(self) -> None:
        assert self.engine.graph.verify() == []

    @invariant()
    def both_know_the_same_names(self) -> None:
        for name in NAMES:
            assert bool(self.model.oracle.names.raw(name)) == (name in self.engine.graph), name

    @invariant()
    def timelines_agree(self) -> None:
        moments = [None] if len(self.steps) < 2 else [None, self.steps[len(self.steps) // 2]["at"]]
        for known_at in moments:
            view = self.engine.graph.during(known_at=known_at)
            for name in NAMES[:5]:
                for predicate in self.predicates:
                    wanted = self._asked(lambda: self._model_timeline(name, predicate, known_at))  # noqa: B023
                    found = self._asked(lambda: self._engine_timeline(view, name, predicate))  # noqa: B023
                    assert found == wanted, (name, predicate, known_at)

    def _model_timeline(self, name: str, predicate: str, known_at: str | None) -> list[Any]:
        found = self.model.oracle.timeline(name, predicate, neg=True, known_at=known_at)
        return sorted((shown_key(r.object), r.start, POS_INF if r.end is None else r.end) for r in found)

    @staticmethod
    def _engine_timeline(view: Any, name: str, predicate: str) -> list[Any]:
        found = view.timeline(name, predicate, negative=True)
        ends = [POS_INF if f.valid_to is None else f.valid_to.instant for f in found]
        return sorted((shown_key(shown_object(f)), f.valid_from.instant, e) for f, e in zip(found, ends, strict=True))

    @invariant()
    def values_agree(self) -> None:
        for number, moment in enumerate(MOMENTS):
            possible = (number + len(self.steps)) % 2 == 0
            for name in SUBJECTS:
                for predicate in self.predicates:
                    asked = (name, predicate, moment)
                    if possible and predicate == "dislikes":
                        continue  # how far back a plain negative may reach that began inside an explicit end
                    found = self._asked(lambda: self._engine_values(*asked, possible=possible))  # noqa: B023
                    wanted = self._asked(lambda: self._model_values(*asked, possible=possible))  # noqa: B023
                    assert found == wanted, (*asked, possible)

    def _model_values(self, name: str, predicate: str, moment: str | None, *, possible: bool) -> list[Any]:
        held = self.model.oracle.values(name, predicate, moment, possible=possible)
        rows = [(shown_key(h.label), self._certain(predicate, h), bool(h.conflict), self._sure(h)) for h in held]
        return self._rows(rows, possible=possible)

    def _engine_values(self, name: str, predicate: str, moment: str | None, *, possible: bool) -> list[Any]:
        view = self.engine.graph if moment is None else self.engine.graph.at(moment)
        held = view.values(name, predicate, possible=possible)
        rows = [(shown_key(shown_object(f)), self._certain(predicate, f), f.conflicted, self._sure(f)) for f in held]
        return self._rows(rows, possible=possible)

    @staticmethod
    def _certain(predicate: str, held: Any) -> bool:
        """Through an opposite the windows of a negative's parts are drawn in two ways."""
        return predicate != "dislikes" and held.certain

    @staticmethod
    def _rows(rows: list[Any], *, possible: bool) -> list[Any]:
        """As they are compared: the engine makes one of several claims with an unknown start and the same end."""
        return sorted({row[:3] for row in rows}) if possible else sorted(rows)

    @staticmethod
    def _sure(held: Any) -> float:
        """The confidence, but for the order in which numbers were multiplied, also where a digit is just a half."""
        return round(held.confidence + 1e-10, 8)

    @staticmethod
    def _asked(read: Any) -> Any:
        """What a read gives; nothing where it does not know the name, and one word where the name is ambiguous."""
        from oracle_model import Ambiguous

        try:
            return read()
        except NotFoundError:
            return []
        except (AmbiguousNameError, Ambiguous):
            return "ambiguous"

    @invariant()
    def conflicts_agree(self) -> None:
        for moment in ("2018-03-01", "2021-06-01", None):
            wanted = sorted(self._row(*row) for row in self.model.oracle.conflicts(moment))
            view = self.engine.graph if moment is None else self.engine.graph.at(moment)
            rows = []
            for found in view.conflicts():
                own = found.subject is not None
                about = found.subject if own else found.object
                members = [shown_object(f) if own else f.subject.label for f in found.facts]
                rows.append(self._row(about.label, found.predicate, members))
            assert sorted(rows) == wanted, moment

    @staticmethod
    def _row(about: str, predicate: str, members: list[str]) -> tuple[Any, ...]:
        """A conflict set; that of a symmetric value and its negation belongs to both ends, and is named by either."""
        keys = sorted(map(shown_key, members))
        if predicate in SYMMETRIC and len(keys) == 2 and keys[1] == f"¬{keys[0]}":
            return (*sorted((shown_key(about), keys[0])), predicate, "negation")
        return (shown_key(about), predicate, *keys)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.graph.close()


TestEngineAndModel = EngineAndModel.TestCase
TestEngineAndModel.pytestmark = [pytest.mark.timeout(900)]  # a failure is made small before it is shown
TestEngineAndModel.settings = settings(max_examples=settings().max_examples, stateful_step_count=15)


_WORDS = [
    {"kind": kind, "o": o, "pol": pol}
    for kind, pol in (("state", None), ("change", None), ("state", "-"), ("change", "-"))
    for o in OBJECTS[:2]
]


@pytest.mark.parametrize("first", [None, "-"])
@pytest.mark.parametrize("predicate", ["likes", "works_at", "collects", "ceo_of"])
def test_what_is_told_of_a_value_at_the_instant_that_closes_it_counts_alike(predicate: str, first: str | None) -> None:
    """Found by differential histories: a claim that joined a fact as it closed counted in the engine only."""
    for one, other in combinations_with_replacement(_WORDS, 2):
        life = EngineAndModel()
        life.begin((predicate, "dislikes"))
        told = [{"kind": "state", "o": "Acme", "pol": first, "from": "2010"}, one, other]
        items = [
            ({k: v for k, v in words.items() if v} | {"s": "Bo", "ref": f"d{n}"}, 0) for n, words in enumerate(told)
        ]
        EngineAndModel.add_all(life, items=items, replaces=None, pause=30)
        life.timelines_agree()
        life.values_agree()
        life.conflicts_agree()
        life.teardown()


def test_an_edge_of_a_unique_object_is_believed_for_what_supports_it_from_both_ends() -> None:
    """Found by differential histories: what a rival had ended at the far end counted in the model again later."""
    life = EngineAndModel()
    life.begin(("ceo_of",))
    told: list[dict[str, Any]] = [{"s": "Ann", "said": SAID[0]}, {"s": "Ann"}, {"s": "Bo", "from": "2015"}]
    for words in told:
        EngineAndModel.add(life, given={"source": "user", "o": "Acme", "kind": "state"} | words, p=0, pause=1)
    life.timelines_agree()
    life.values_agree()
    life.conflicts_agree()
    life.teardown()
