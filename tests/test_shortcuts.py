"""Every exact shortcut is held to the full fold: what it leaves out must make no difference to any stored row."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import apart, factrow, fold, writing
from semgraph.belief import Belief
from semgraph.engine import KnowledgeGraph
from semgraph.replaying import _stored_way
from semgraph.segment import Policy, Statement, Value
from semgraph.statement import identity, prepare
from semgraph.store.schema import FactRow
from semgraph.temporal import NEG_INF, POS_INF, UNKNOWN, exact

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY = 86_400_000_000
NAMES = ["acme", "acme labs", "acme labs north", "globex"]


# -- the fold


@st.composite
def statements(draw: st.DrawFn) -> list[Statement]:
    made = []
    for number in range(draw(st.integers(1, 6))):
        order = draw(st.sampled_from(NAMES))
        start, length = draw(st.integers(0, 6)), draw(st.integers(1, 6))
        kind = draw(st.sampled_from(["open", "stated", "soft", "ttl"]))
        basis = draw(st.sampled_from(["stated", "stated", "observed", "resumed", "unknown"]))
        end = POS_INF if kind == "open" else (start + length) * DAY
        negative = draw(st.integers(0, 5)) == 0
        source = draw(st.sampled_from(["user", "imported:a", "inferred"]))
        made.append(
            Statement(
                claim=f"c{number}",
                value=Value(f"l:{order}", negative),
                start=NEG_INF if basis == "unknown" else start * DAY,
                start_bound=UNKNOWN if basis == "unknown" else exact(start * DAY),
                basis=basis,
                end=end,
                end_bound=exact(end) if kind == "stated" else None,
                end_kind=kind,
                said=draw(st.integers(0, 12)) * DAY,
                rank={"user": 3, "imported:a": 1, "inferred": 0}[source],
                source=source,
                source_ref=None,
                source_class=source.partition(":")[0],
                change=draw(st.integers(0, 3)) == 0,
                also=draw(st.integers(0, 4)) == 0,
                explicit_end=negative and draw(st.booleans()),
                order=order,
                recorded=number,
            )
        )
    return made


def refines(finer: str, coarser: str) -> bool:
    return finer.startswith(f"{coarser} ")


POLICIES = [
    Policy("many", DAY, refines=refines),
    Policy("many", DAY),
    Policy("many", DAY, event=True),
    Policy("unregistered", DAY, refines=refines),
    Policy("unregistered", DAY, event=True),
    Policy("one", DAY, refines=refines),
]


def shown(segments: list[Any]) -> list[tuple[Any, ...]]:
    return [
        (
            g.start,
            g.end,
            g.value,
            g.start_bound,
            g.basis,
            g.end_bound,
            g.end_reason,
            g.ended_by,
            g.opened,
            g.closed,
            g.assumed,
            g.planned,
            sorted((s.statement.claim, s.since, s.until, s.absorbed) for s in g.spans),
        )
        for g in segments
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p.cardinality}{'-event' * p.event}")
@given(told=statements())
def test_values_that_do_not_meet_may_be_folded_apart(policy: Policy, told: list[Statement]) -> None:
    sweep = fold._Sweep(sorted(told, key=lambda s: (s.claim, s.start)), policy, {})
    sweep.run()
    found, wanted = fold.fold(told, policy), sweep.finish()
    if policy.cardinality == "unregistered":  # there, what stands beside a value is looked up when it is read
        for segment in [*found, *wanted]:
            segment.opened = "new" if segment.opened in {"11", "14"} else segment.opened
    assert shown(found) == shown(wanted)


@given(told=statements(), policy=st.sampled_from(POLICIES))
def test_a_statement_alone_holds_in_its_own_interval(told: list[Statement], policy: Policy) -> None:
    sweep = fold._Sweep(told[:1], policy, {})
    sweep.run()
    assert shown(fold.alone(told[0])) == shown(sweep.finish())


@given(st.lists(st.sampled_from(["a", "b", "a b", "a b c", "ab", "b a", "c"]), min_size=1, max_size=5, unique=True))
def test_names_that_may_refine_are_found(names: list[str]) -> None:
    assert apart.may_refine(set(names)) == any(refines(a, b) for a in names for b in names)


# -- rows

WHEN = st.sampled_from([None, "2018", "2019", "2019-06", "2020~", "2021-01-01", "198X", "2030", "unknown", "-inf"])
UNTIL = st.sampled_from([None, None, "2020", "2021-06-01", "2022?", "2035", "unknown"])
SAID = st.sampled_from(["2018-01-01T00:00:00Z", "2020-05-05T00:00:00Z", "2024-01-01T00:00:00Z"])


@st.composite
def claims(draw: st.DrawFn, *, least: int = 1, most: int = 8) -> list[dict[str, Any]]:
    made = []
    for _ in range(draw(st.integers(least, most))):
        made.append(
            {
                "subject": draw(st.sampled_from(["Ann", "Bo"])),
                "predicate": draw(st.sampled_from(["did", "did", "has", "has", "keeps", "lives_in", "status", "born"])),
                "object": draw(st.sampled_from(["Acme", "Acme Labs", "Globex", "12"])),
                "valid_from": draw(WHEN),
                "valid_to": draw(UNTIL),
                "said_at": draw(SAID),
                "kind": draw(st.sampled_from(["state", "state", "state", "state", "change", "also"])),
                "negative": draw(st.integers(0, 7)) == 0,
                "source": draw(st.sampled_from(["user", "imported:a", "imported:b", "inferred"])),
                "confidence": draw(st.sampled_from([None, 0.3, 1.0])),
            }
        )
    return made


def clock() -> Iterator[datetime]:
    moment = datetime(2024, 6, 1, tzinfo=UTC)
    while True:
        moment += timedelta(seconds=1)
        yield moment


def graph() -> KnowledgeGraph:
    made = KnowledgeGraph(clock=clock().__next__)
    made.predicates.define("did", cardinality="many", event=True)
    made.predicates.define("has", cardinality="many")
    made.predicates.define("born", cardinality="once")
    return made


def stored(kg: KnowledgeGraph) -> dict[str, FactRow]:
    ledger = kg._session.ledger
    with kg._session.read():
        return {row.id: row._replace(sys_from=0) for row in ledger.store.iterate(FactRow, ledger.scope)}


def folded(kg: KnowledgeGraph) -> dict[str, FactRow]:
    """The rows that belief and fold give without any shortcut past them."""
    ledger = kg._session.ledger
    found = {}
    with kg._session.read():
        belief = Belief(ledger.at())
        for subject, predicate in ledger.all_fluents():
            for draft in belief.facts(subject, predicate):
                row, body = factrow.encode(_stored_way(belief, draft), ledger.scope, 0)
                assert factrow.decode(row) == body
                found[row.id] = row
    return found


@given(first=claims(), second=claims())
def test_facts_of_one_claim_are_what_the_fold_makes_of_it(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    with graph() as kg:
        for batch in (first, second):
            kg.add_all(batch)
            assert stored(kg) == folded(kg)


@given(batches=st.lists(claims(most=5), min_size=1, max_size=4), denied=st.booleans())
def test_events_that_meet_nothing_are_taken_without_their_fluent(
    batches: list[list[dict[str, Any]]], *, denied: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch, graph() as kg:
        patch.setattr(writing, "_MANY", 0)
        for number, batch in enumerate(batches):
            if denied and number == 1:
                kg.deny("Ann", "did", "Acme", said_at="2024-02-02")
                kg.end("Bo", "did", at="2020-01-01", said_at="2024-02-02")
            kg.add_all({**claim, "source_ref": f"b{number}"} for claim in batch)
            assert stored(kg) == folded(kg)
        assert kg.verify() == []


@given(batch=claims(least=2))
def test_a_batch_counts_the_outcomes_that_its_receipts_would_tell(batch: list[dict[str, Any]]) -> None:
    with graph() as plain, graph() as told:
        assert plain.add_all(batch).counts == told.add_all(batch, receipts=True).counts
        assert stored(plain).keys() == stored(told).keys()


@given(batch=claims())
def test_a_claim_s_id_is_the_hash_of_a_json_list(batch: list[dict[str, Any]]) -> None:
    with graph() as kg, kg._session.write() as recorded_at:
        directory = kg._session.directory
        for claim in batch:
            ref = claim["source"] if claim["confidence"] else None
            try:
                said = prepare(kg._session.ledger.registry(), **claim, source_ref=ref, qualifiers={"tå": 'a"b'})
            except ValueError:
                continue
            bounds = [
                None if b is None else [b.instant, [b.earliest, b.before, b.uncertain]]
                for b in (said.valid_from, said.valid_to)
            ]
            thing = said.thing
            parts = [
                "default",
                directory.key(str(said.subject)),
                directory.key(str(thing.entity)) if thing.entity is not None else thing.ref,
                said.predicate.name,
                said.negative,
                said.kind,
                False,
                *bounds,
                said.source,
                ref,
                said.qualifiers,
                said.said_at.instant,
                None,
            ]
            wanted = hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()
            assert identity(said, directory, "default", recorded_at) == wanted
