"""The laws that hold for every history, through the public API; the numbers are those of the semantics."""

from __future__ import annotations

import inspect
from datetime import timedelta
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from histories import (
    MIXED,
    MOMENTS,
    OBJECTS,
    SUBJECTS,
    Call,
    Clock,
    claims,
    conflict,
    ever,
    graph,
    histories,
    line,
    shown,
    tell,
    tell_all,
    timed,
    timelines,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semgraph
from semgraph import GraphView, KnowledgeGraph
from semgraph.errors import InputError, SemgraphError
from semgraph.handles import Names, Predicates
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = settings().max_examples
FEW = settings(max_examples=max(EXAMPLES // 2, 5))
IN_FILES = settings(max_examples=max(EXAMPLES // 5, 3), suppress_health_check=[HealthCheck.function_scoped_fixture])


# -- I1: order


@st.composite
def documents(draw: st.DrawFn, **options: Any) -> list[Call]:
    """Claims that carry said_at; some derived ones (ids can be known beforehand), whose premises may go in circles."""
    calls = draw(st.lists(claims(said=True, **options), min_size=2, max_size=4))
    derived = draw(st.just([]) | st.lists(claims(said=True, operations=["add"], **options), max_size=3))
    derived = [(name, words | {"source": "inferred"}) for name, words in derived]
    scratch, clock = timed()
    ids = [receipt.claim.id for receipt in tell_all(scratch, clock, calls + derived) if receipt is not None]
    if not ids:
        return calls
    premises = st.lists(st.sampled_from(ids), min_size=1, max_size=2, unique=True)
    return calls + [(name, words | {"because": draw(premises)}) for name, words in derived]


@given(data=st.data())
def test_i1_order_of_arrival_does_not_matter(data: st.DataObject) -> None:
    calls = data.draw(documents())
    order = data.draw(st.permutations(calls))
    derived = any("because" in words for _, words in calls)  # its confidence at birth depends on what is there
    pictures = []
    for told in (calls, order):
        kg, clock = timed()
        tell_all(kg, clock, told)
        pictures.append(ever(kg, confidence=not derived))
    assert pictures[0] == pictures[1]


@given(calls=st.lists(claims(said=True, operations=["add"]), min_size=2, max_size=5), data=st.data())
@FEW
def test_i1_a_batch_is_a_set(calls: list[Call], data: st.DataObject) -> None:
    one_by_one, clock = timed()
    tell_all(one_by_one, clock, calls)
    batch = graph()
    batch.add_all([words for _, words in data.draw(st.permutations(calls))])
    assert ever(batch) == ever(one_by_one)


# -- I2: retraction


@given(calls=st.lists(claims(said=None), min_size=2, max_size=5), data=st.data())
def test_i2_retract_is_as_if_never_said_and_unretract_restores(calls: list[Call], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(calls) - 1))
    kg, clock = timed()
    receipts = tell_all(kg, clock, calls)
    assume(receipts[which] is not None)
    assume(sum(r is not None and r.claim.id == receipts[which].claim.id for r in receipts) == 1)
    before = ever(kg)
    assert kg.retract(receipts[which]).outcome == "update"
    without, its_clock = timed()
    for number, call in enumerate(calls):
        its_clock.tick(hours=7)
        if number != which:
            tell(without, call)
    assert ever(kg) == ever(without)
    assert kg.retract(receipts[which]).outcome == "idempotent"
    kg.unretract(receipts[which])
    assert ever(kg) == before
    assert kg.verify() == []


# -- I3: merging


@given(
    calls=st.lists(claims(said=None), min_size=1, max_size=4),
    more=st.lists(claims(said=None, predicates=[p for p in MIXED if p != "married_to"]), max_size=2),
    pair=st.lists(st.sampled_from((*SUBJECTS, *OBJECTS[:3])), min_size=2, max_size=2, unique=True),
)
def test_i3_merge_and_unmerge_is_identity(calls: list[Call], more: list[Call], pair: list[str]) -> None:
    kg, clock = timed()
    other, its_clock = timed()
    tell_all(kg, clock, calls)
    tell_all(other, its_clock, calls)
    assume(all(name in kg for name in pair))
    kg.names.merge(pair[0], pair[1])
    assert kg.entity(pair[0]) == kg.entity(pair[1])
    tell_all(kg, clock, more)
    tell_all(other, its_clock, more)
    kg.names.unmerge(pair[0])
    assert ever(kg) == ever(other)
    assert sorted(e.label for e in kg.entities()) == sorted(e.label for e in other.entities())
    assert kg.verify() == []


# -- I4: what was known


def belief(kg: KnowledgeGraph, known_at: Any = None) -> list[Any]:
    """All of time, and how sure it is at some moments."""
    slices = [
        sorted((line(f) for f in kg.at(moment, known_at=known_at).facts(possible=True)), key=repr) for moment in MOMENTS
    ]
    sets = [
        sorted(map(conflict, kg.at(moment, known_at=known_at).conflicts()), key=repr)
        for moment in (MOMENTS[2], MOMENTS[4])
    ]
    return [ever(kg, known_at), slices, sets]


@given(calls=histories(most=5), marks=st.lists(st.integers(0, 4), max_size=2))
def test_i4_a_view_at_known_at_is_the_store_of_that_time(calls: list[Call], marks: list[int]) -> None:
    kg, clock = timed()
    kept = []
    receipts = []
    for number, call in enumerate(calls):
        clock.tick(hours=7)
        receipts.append(tell(kg, call))
        if number in marks and getattr(receipts[0], "claims", ()):
            clock.tick(hours=1)
            if kg.retract(receipts[0]).outcome == "idempotent":
                clock.tick(hours=1)
                kg.unretract(receipts[0])
        kept.append((clock().isoformat(), belief(kg)))
    for known_at, then in kept:
        assert belief(kg, known_at) == then
    assert ever(kg, "2023-12-31") == ([], [])


# -- I5: segments


@given(calls=histories(most=6))
def test_i5_segments_are_whole_and_their_bounds_come_from_claims(calls: list[Call]) -> None:
    kg, clock = timed()
    tell_all(kg, clock, calls)
    told = list(kg.claims())
    bounds = {b.instant for c in told for b in (c.valid_from, c.valid_to, c.said_at) if b is not None} | {NEG_INF}
    week = 7 * 86_400_000_000  # the time-to-live of `status`
    ttl = {max(c.said_at.instant, c.valid_from.instant if c.valid_from else NEG_INF) + week for c in told}
    units = {c.valid_from.until for c in told if c.predicate == "visited" and c.valid_from is not None}
    units |= {c.said_at.instant + 1 for c in told if c.predicate == "visited"}
    by_value: dict[Any, list[tuple[int, int]]] = {}
    for entity in kg.entities():
        for fact in kg.during().timeline(entity, negative=True):
            start, end = fact.valid_from.instant, POS_INF if fact.valid_to is None else fact.valid_to.instant
            assert start < end, fact
            assert start in bounds, fact
            assert end in bounds | units | {POS_INF} or (fact.end_reason == "ttl" and end in ttl), fact
            assert (end == POS_INF) == (fact.end_reason == "open"), fact
            assert fact.end_reason not in ("superseded", "refined") or fact.ended_by, fact
            if fact.predicate != "visited" and fact.subject == entity:
                by_value.setdefault((fact.subject, fact.predicate, shown(fact)), []).append((start, end))
    for value, found in by_value.items():
        found.sort()
        assert all(a[1] < b[0] for a, b in pairwise(found)), (value, found)


# -- I6: rank


@given(
    calls=st.lists(claims(said=None, sources=["user"]), min_size=1, max_size=4),
    low=claims(said=None, sources=["tool:ci", "imported:cv", "inferred"]),
)
def test_i6_a_lower_voice_shortens_nothing(calls: list[Call], low: Call) -> None:
    kg, clock = timed()
    tell_all(kg, clock, calls)
    before = stretches(kg)
    tell_all(kg, clock, [low])
    after = stretches(kg)
    for value, intervals in before.items():
        for start, end in intervals:
            assert any(a <= start and end <= b for a, b in after.get(value, ())), (value, low)


def stretches(kg: KnowledgeGraph) -> dict[tuple[str, ...], list[tuple[int, int]]]:
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for row in timelines(kg.during()):
        end = POS_INF if row[5] is None else row[5]
        found.setdefault(row[:4], []).append((NEG_INF if row[4] is None else row[4], end))
    return found


# -- I7: conflict sets


_PLAIN = {"subjects": ("Ann", "Bo"), "objects": ("Acme", "Globex", "Initech"), "unknown": False}
_NO_IMPORTS = ("user", "user", "tool:ci", "inferred")


@given(calls=st.lists(claims(["works_at", "collects", "uses", "ceo_of"], said=None, **_PLAIN), min_size=2, max_size=6))
def test_i7_values_that_exclude_each_other_are_in_a_conflict_set_and_only_those(calls: list[Call]) -> None:
    kg, clock = timed()
    positive = [(n, w | ({"negative": False, "kind": "state"} if n == "add" else {})) for n, w in calls if n == "add"]
    tell_all(kg, clock, positive)
    for moment in (*MOMENTS[1:], None):
        view = kg.at(moment)
        held = list(view.facts())
        pairs = [(a, b) for a, b in combinations(held, 2) if _exclude(a, b)]
        members = {fact.id for found in view.conflicts() for fact in found.facts}
        assert members == {fact.id for pair in pairs for fact in pair}, moment
        assert {fact.id for fact in held if fact.conflicted} == members
        now = semgraph.parse_when(clock().isoformat() if moment is None else moment).instant
        for found in view.conflicts():
            assert len(found.facts) > 1
            assert found.since.instant <= now < (POS_INF if found.until is None else found.until.instant), found


def _exclude(a: Any, b: Any) -> bool:
    """Whether two positive facts that hold together exclude each other."""
    if a.predicate != b.predicate or a.predicate == "uses":
        return False
    if a.predicate == "ceo_of":
        return bool(a.object == b.object)
    breath = any(
        x.source == y.source and (x.said_at == y.said_at or (x.source_ref is not None and x.source_ref == y.source_ref))
        for x in a.claims
        for y in b.claims
    )
    return bool(a.subject == b.subject) and not (a.predicate == "collects" and breath)


@given(calls=st.lists(claims(["uses", "works_on"], said=None, **_PLAIN), min_size=2, max_size=6))
def test_i7_a_value_and_its_own_negation_exclude_each_other(calls: list[Call]) -> None:
    kg, clock = timed()
    tell_all(kg, clock, [(n, w | ({"object": "Acme"} if w["object"] is None else {})) for n, w in calls])
    facts = [f for name in SUBJECTS if name in kg for f in kg.during().timeline(name, negative=True)]
    for moment in MOMENTS[1:]:
        at = semgraph.parse_when(moment).instant
        held = [
            f for f in facts if f.valid_from.instant <= at < (POS_INF if f.valid_to is None else f.valid_to.instant)
        ]
        wanted = {
            f.id
            for a, b in combinations(held, 2)
            if (a.subject, a.predicate, a.object) == (b.subject, b.predicate, b.object)
            for f in (a, b)
        }
        assert {f.id for found in kg.at(moment).conflicts() for f in found.facts} == wanted, moment


# -- I9: idempotence


def exported(kg: KnowledgeGraph, path: Path) -> bytes:
    pytest.importorskip("semgraph.exchange.jsonl")
    semgraph.write(kg, path)
    return path.read_bytes()


@given(calls=st.lists(claims(said=True, operations=["add"]), min_size=1, max_size=6), replaces=st.booleans())
@settings(FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_i9_ingesting_twice_is_ingesting_once(calls: list[Call], replaces: bool, tmp_path: Path) -> None:  # noqa: FBT001
    kg, clock = timed()
    document = [words | {"source_ref": "doc:9"} for _, words in calls]
    options = {"replaces": "doc:9"} if replaces else {}
    batch = kg.add_all(document, **options)
    assume(not batch.rejected)  # a refusal is logged each time
    once = exported(kg, tmp_path / "once.jsonl")
    clock.tick(days=1)
    again = kg.add_all(document, **options)
    assert again.counts == {"idempotent": len(document)}
    assert again.retracted == 0
    assert exported(kg, tmp_path / "twice.jsonl") == once


@given(call=claims(said=True, operations=["add", "end", "deny"]))
@settings(FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_i9_every_kind_of_claim_is_idempotent_even_when_retracted(call: Call, tmp_path: Path) -> None:
    kg, clock = timed()
    receipt = tell(kg, call)
    assume(receipt is not None)
    kg.retract(receipt)
    once = exported(kg, tmp_path / "once.jsonl")
    clock.tick(days=1)
    again = tell(kg, call)
    assert again.outcome == "idempotent"
    assert again.claim.id == receipt.claim.id
    assert exported(kg, tmp_path / "twice.jsonl") == once


# -- I10: forgetting

NEEDLE = "Zyzzogeton"


def traces(folder: Path, needle: str) -> list[str]:
    """The files that hold the needle, however it is cased or encoded."""
    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes().lower()
        if any(needle.lower().encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be")):
            found.append(path.name)
    return found


@st.composite
def secrets(draw: st.DrawFn) -> tuple[list[Call], str]:
    """Calls that put the needle somewhere, and what is to be forgotten to be rid of it."""
    where = draw(st.sampled_from(["subject", "object", "literal", "text", "source_ref", "qualifier", "alias"]))
    name, words = draw(claims(said=None, operations=["add", "end", "deny"], unknown=False))
    words = words | {"predicate": draw(st.sampled_from(["works_at", "likes", "ceo_of", "collects"]))}
    if name == "end":
        words["object"] = words["object"] or "Acme"
    if where in ("subject", "object", "source_ref"):
        words[where] = f"{NEEDLE} {where}"
        return [(name, words)], {"subject": "entity", "object": "entity", "source_ref": "source_ref"}[where]
    if where == "alias":
        return [(name, words | {"subject": "Zed"}), ("names.alias", {"name": NEEDLE, "entity": "Zed"})], "entity"
    words = {k: v for k, v in words.items() if k not in ("at", "valid_from", "valid_to", "kind", "negative")}
    extra: dict[str, Any] = {
        "literal": {"predicate": "goal", "object": f"one day to see {NEEDLE}"},
        "text": {"text": f"I heard it from {NEEDLE}."},
        "qualifier": {"qualifiers": {"topic": NEEDLE}},
    }[where]
    return [("add", words | extra)], draw(st.sampled_from(["claim", "fact"]))


@given(
    before=st.lists(claims(said=None), max_size=2),
    secret=secrets(),
    after=st.lists(claims(said=None), max_size=2),
    everything=st.integers(0, 4),
    retracted=st.booleans(),
)
@IN_FILES
def test_i10_what_is_forgotten_is_nowhere(
    before: list[Call],
    secret: tuple[list[Call], str],
    after: list[Call],
    everything: int,
    retracted: bool,  # noqa: FBT001
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("forget")
    kg, clock = timed(target=folder / "store.db", durability="relaxed")
    calls, target = secret
    with kg:
        tell_all(kg, clock, before)
        answers = tell_all(kg, clock, calls)
        assume(None not in answers)
        receipt = answers[0]
        words = calls[0][1] if calls[-1][0] != "names.alias" else calls[0][1] | {"object": NEEDLE}
        again = {key: value for key, value in words.items() if key not in ("at", "valid_from", "valid_to")}
        assert tell(kg, ("add", again | {"confidence": 7})) is None
        assert NEEDLE in repr(kg.rejected())  # the log of refusals knows it too
        tell_all(kg, clock, after)
        if retracted:
            kg.retract(receipt, reason="no good")
        moments = [None, *[c.recorded_at for c in kg.claims(retracted=True)]]
        assert traces(folder, NEEDLE)
        kind, what = _target(receipt, target)
        if everything == 0:
            kind, what = "everything", True
        report = kg.forget(**{kind: what})
        assert report.purged, report.pending
        for known_at in moments:
            assert NEEDLE not in repr(ever(kg, known_at))
            for moment in MOMENTS:
                assert NEEDLE not in repr([line(f) for f in kg.at(moment, known_at=known_at).facts(possible=True)])
        for shown_elsewhere in (kg.stats(), kg.rejected(), list(kg.claims(retracted=True)), list(kg.entities())):
            assert NEEDLE not in repr(shown_elsewhere)
        assert kg.verify() == []
        kg.backup(folder / "copy.db")
        exported(kg, folder / "dump.jsonl")
        assert traces(folder, NEEDLE) == []
    assert traces(folder, NEEDLE) == []


def _target(receipt: Any, kind: str) -> tuple[str, Any]:
    if kind == "entity":
        named = [e for e in (receipt.claim.subject, receipt.claim.object) if NEEDLE in e.label or e.label == "Zed"]
        return kind, named[0]
    if kind == "source_ref":
        return kind, receipt.claim.source_ref
    return kind, receipt


# -- I11: scopes

# Every read, with arguments that ask for what another scope holds. A read that is not here fails the test below.
_ALIEN = ("Zyx Alien", "works_at", "Alien Works")
READS: dict[str, Any] = {
    "vetoes": lambda kg, _: list(kg.vetoes),
    "about": lambda kg, _: kg.about(_ALIEN[0]),
    "candidates": lambda kg, _: kg.candidates(_ALIEN[0]),
    "claims": lambda kg, _: [list(kg.claims()), list(kg.claims(_ALIEN[0])), list(kg.claims(source_ref="alien:1"))],
    "conflicts": lambda kg, _: [kg.conflicts(), kg.during().conflicts()],
    "diff": lambda kg, _: [kg.at("2000").diff(kg.at("2024")), kg.at(known_at="2000").diff(kg.at(known_at="2030"))],
    "entities": lambda kg, _: [list(kg.entities()), list(kg.entities("Zyx"))],
    "entity": lambda kg, x: kg.entity(x["entity"]),
    "explain": lambda kg, x: kg.explain(x["fact"]),
    "facts": lambda kg, _: [list(kg.facts()), list(kg.facts(_ALIEN[0])), list(kg.facts(predicate="works_at"))],
    "history": lambda kg, _: kg.history(_ALIEN[0], "works_at"),
    "known_at": lambda kg, _: kg.known_at,
    "rejected": lambda kg, _: kg.rejected(),
    "scope": lambda kg, _: kg.scope,
    "stats": lambda kg, _: kg.stats(),
    "timeline": lambda kg, _: kg.timeline(_ALIEN[0]),
    "valid_at": lambda kg, _: kg.valid_at,
    "value": lambda kg, _: kg.value(_ALIEN[0], "works_at"),
    "values": lambda kg, _: kg.values(_ALIEN[0], "works_at"),
    "verify": lambda kg, _: kg.verify(),
    "names.aliases": lambda kg, _: kg.names.aliases(_ALIEN[0]),
    "names.suggest": lambda kg, _: list(kg.names.suggest(min_score=0)),
    "neighbors": lambda kg, _: kg.neighbors("Ann", hops=4, direction="any"),
    "paths": lambda kg, _: kg.paths("Ann", _ALIEN[0]),
    "distance": lambda kg, _: kg.distance("Ann", _ALIEN[0]),
    "match": lambda kg, _: kg.match(("?who", "works_at", "?what")),
    "recall": lambda kg, _: [hit.fact for hit in kg.recall(" ".join(_ALIEN))],
    "recalled": lambda kg, _: [kg.recall(" ".join(_ALIEN)), kg.recalled()][1:],
    "ask": lambda kg, _: kg.ask(f"where does {_ALIEN[0]} work?"),
    "profile": lambda kg, _: str(kg.profile()),
    "render": lambda kg, _: kg.render(list(kg.facts())),
    "to_networkx": lambda kg, _: list(kg.to_networkx().nodes),
    "edges": lambda kg, _: len(kg.edges().subject),
}
# What makes a view, changes something, or is about the store itself.
NOT_READ = {
    "add", "add_all", "add_columns", "at", "atomic", "backup", "chunks", "close", "correct", "deny", "during", "end",
    "forget", "held_rows", "load_networkx", "moment", "names", "names.alias", "names.declare", "names.keep_apart",
    "names.merge", "names.unalias", "names.unmerge", "path", "predicates", "predicates.define", "purge", "reading",
    "reembed", "remember", "retract", "scoped", "set", "settle", "throughout", "unretract", "veto", "whole",
}  # fmt: skip


def _public(cls: type, prefix: str = "") -> set[str]:
    return {prefix + name for name, _ in inspect.getmembers_static(cls) if not name.startswith("_")}


def test_i11_every_public_method_is_known_to_the_leak_test() -> None:
    found = _public(KnowledgeGraph) | _public(GraphView) | _public(Names, "names.") | _public(Predicates, "predicates.")
    assert found - NOT_READ - READS.keys() == set()


def _alien(kg: KnowledgeGraph) -> dict[str, Any]:
    """Fill a scope with what no other may see."""
    receipt = kg.add(*_ALIEN, valid_from="2001", source_ref="alien:1", text="Alien news", qualifiers={"why": "alien"})
    kg.add(_ALIEN[0], "works_at", "Alien Labs", valid_from="2001", source="tool:alien")
    kg.add(_ALIEN[0], "manages", "Ann", valid_from="2001")
    kg.add("Ann", "collects", "Alien stamps", because=[receipt])
    kg.names.alias("Alien alias", _ALIEN[0])
    kg.names.declare("Zyx Aliens")
    kg.predicates.define("alien_to", cardinality="one", inverse_of=None)
    kg.veto(phrase="alien phrase")
    with pytest.raises(InputError):
        kg.add("Alien", "likes", "Ann", confidence=9)
    return {"entity": receipt.claim.subject, "fact": receipt.facts[0], "claim": receipt.claim, "receipt": receipt}


def _told(kg: KnowledgeGraph, read: Any, alien: Any) -> str:
    try:
        return repr(read(kg, alien))
    except SemgraphError as error:
        return f"{type(error).__name__}: {error} {getattr(error, 'candidates', '')}"


@pytest.mark.parametrize("stored", ["memory", "file"])
@pytest.mark.parametrize("empty", [True, False], ids=["empty", "filled"])
def test_i11_no_read_shows_or_feels_another_scope(stored: str, empty: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Every read says the same, errors included, whether or not another scope holds what is asked for."""
    target = ":memory:" if stored == "memory" else tmp_path / "store.db"
    alone, full = graph(target, scope="mine"), graph(":memory:" if stored == "memory" else tmp_path / "full.db")
    alien = _alien(full)
    mine = full.scoped("mine")
    for kg in (alone, mine):
        if not empty:
            kg.add("Ann", "works_at", "Acme", valid_from="2010")
            kg.add("Ann", "likes", "tea")
    offered = [name for name in READS if hasattr(KnowledgeGraph, name.split(".")[0])]
    assert len(offered) >= 19
    for name in offered:
        answers = [_told(kg, READS[name], alien) for kg in (alone, mine)]
        if name == "stats":
            answers = [a[: a.index("'bytes'")] for a in answers]  # the size of the file is that of all scopes
        assert answers[0] == answers[1], name
        if name not in ("entity", "explain"):
            words = answers[1].replace("'Zyx Alien'", "")  # an error repeats the name that was asked for
            assert "alien" not in words.lower(), name
    for kg in (alone, mine, full):
        kg.close()


@pytest.mark.parametrize("method", ["retract", "unretract", "forget", "explain"])
@pytest.mark.parametrize("what", ["claim", "fact", "receipt", "id"])
def test_i11_an_id_of_another_scope_is_unknown(method: str, what: str) -> None:
    kg = graph()
    alien = _alien(kg)
    target = alien["claim"].id if what == "id" else alien[what]
    other = kg.scoped("mine")
    other.add("Ann", "likes", "tea")
    with pytest.raises(SemgraphError) as caught:
        other.forget(claim=target) if method == "forget" else getattr(other, method)(target)
    assert "alien" not in str(caught.value).lower()
    assert len(list(kg.claims())) == 4
    assert kg.verify() == other.verify() == []


def test_i11_an_export_holds_one_scope(tmp_path: Path) -> None:
    kg = graph()
    _alien(kg)
    mine = kg.scoped("mine")
    mine.add("Ann", "likes", "tea")
    assert b"lien" not in exported(mine, tmp_path / "mine.jsonl")
    mine.forget(everything=True)
    assert len(list(kg.claims())) == 4


# -- I12: materialised facts


@given(
    calls=histories(most=6), retractions=st.lists(st.integers(0, 5), max_size=2), forget=st.none() | st.integers(0, 5)
)
def test_i12_stored_rows_are_the_fold_of_all_claims(
    calls: list[Call], retractions: list[int], forget: int | None
) -> None:
    kg, clock = timed()
    receipts = [r for r in tell_all(kg, clock, calls) if getattr(r, "claims", ())]
    for which in retractions:
        if which < len(receipts):
            kg.retract(receipts[which])
    assert kg.verify() == []
    if forget is not None and forget < len(receipts):
        kg.forget(claim=receipts[forget].claim)
        assert kg.verify() == []


# -- I13: transaction time


@given(
    jumps=st.lists(st.sampled_from([-86_400 * 400, -1, 0, 0, 0.000001, 30, 86_400]), min_size=2, max_size=8),
    calls=st.lists(claims(said=None), min_size=2, max_size=8),
    refused=st.integers(0, 3),
)
@FEW
def test_i13_recorded_at_strictly_increases_whatever_the_clock_does(
    jumps: list[float], calls: list[Call], refused: int
) -> None:
    kg, clock = timed()
    last = NEG_INF
    for number, (jump, call) in enumerate(zip(jumps, calls, strict=False)):
        clock.moment += timedelta(seconds=jump)
        if number == refused:
            tell(kg, ("add", {"subject": "Ann", "predicate": "likes", "object": "tea", "confidence": 7}))
        receipt = tell(kg, call)
        if receipt is None or receipt.outcome == "idempotent":
            continue
        assert receipt.recorded_at.instant > last
        assert receipt.recorded_at.instant >= semgraph.parse_when(clock().isoformat()).instant
        last = receipt.recorded_at.instant
    recorded = [c.recorded_at.instant for c in kg.claims()]
    assert recorded == sorted(set(recorded))
    assert all(r.recorded_at.instant <= kg._session.last_recorded for r in kg.rejected())


def test_i13_the_last_recorded_time_survives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with graph(path, clock=Clock("2024-06-01T00:00:00Z")) as kg:
        first = kg.add("Ann", "likes", "tea").recorded_at
        other = kg.scoped("other").add("Ann", "likes", "tea").recorded_at
    with graph(path, clock=Clock("2020-01-01T00:00:00Z")) as kg:
        second = kg.add("Ann", "likes", "cake").recorded_at
        assert second.instant == first.instant + 1
        assert kg.scoped("other").add("Ann", "likes", "cake").recorded_at.instant == other.instant + 1
        assert kg.scoped("new").add("Ann", "likes", "cake").recorded_at.instant < first.instant
        assert {f.object.label for f in kg.facts()} == {"tea", "cake"}  # now is never before the last record
        assert {f.object.label for f in kg.at(known_at=first).facts()} == {"tea"}


def test_i13_a_batch_has_one_time() -> None:
    kg = graph()
    batch = kg.add_all([{"subject": "Ann", "predicate": "likes", "object": o} for o in OBJECTS], receipts=True)
    assert len({r.recorded_at for r in batch.receipts}) == 1
    later = kg.add("Ann", "likes", "tea").recorded_at
    assert later.instant > batch.receipts[0].recorded_at.instant


# -- I14: confidence


@given(
    calls=st.lists(claims(said=None), min_size=1, max_size=5),
    sure=st.lists(st.none() | st.floats(0, 1), min_size=5, max_size=5),
)
def test_i14_confidence_is_bounded(calls: list[Call], sure: list[float | None]) -> None:
    kg, clock = timed()
    for (name, words), confidence in zip(calls, sure, strict=False):
        clock.tick(days=2)
        tell(kg, (name, words | ({"confidence": confidence} if name == "add" else {})))
    views = [kg.during(), *map(kg.at, MOMENTS)]
    for view in views:
        for fact in view.facts(possible=True):
            assert 0 <= fact.confidence <= 0.99, fact
            if all(source == "inferred" for source in fact.sources):
                assert fact.confidence <= 0.60, fact
            assert all(c.confidence <= 0.60 for c in fact.claims if c.source == "inferred")


@pytest.mark.parametrize("source", ["inferred", "inferred:rules", "user", "tool:ci"])
def test_i14_repetition_never_makes_certain(source: str) -> None:
    kg, clock = timed()
    cap = 0.60 if source.startswith("inferred") else 0.99
    for _ in range(12):
        clock.tick(days=1)
        kg.add("Ann", "likes", "tea", source=source, confidence=1.0)
    (fact,) = kg.values("Ann", "likes")
    assert fact.confidence == pytest.approx(cap)
    for number in range(6):
        kg.add("Ann", "likes", "tea", source=f"{source.split(':', maxsplit=1)[0]}:{number}", confidence=1.0)
    assert kg.values("Ann", "likes")[0].confidence <= cap
