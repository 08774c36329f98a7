"""A claim that starts after all of its fluent changes what still holds, and the fold need not look at the rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import factrow, following
from semgraph.belief import Belief
from semgraph.engine import KnowledgeGraph
from semgraph.ledger import Ledger
from semgraph.replaying import _stored_way
from semgraph.store.schema import FactRow, PastFactRow

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2020, 1, 1, tzinfo=UTC)
VALUES = ["Oslo", "Oslo East", "Bergen", "Turku", "Lahti"]


def clock() -> Iterator[datetime]:
    moment = datetime(2024, 6, 1, tzinfo=UTC)
    while True:
        moment += timedelta(seconds=1)
        yield moment


def graph() -> KnowledgeGraph:
    return KnowledgeGraph(clock=clock().__next__)


@st.composite
def lives(draw: st.DrawFn, *, orderly: bool = True) -> list[list[dict[str, Any]]]:
    """Batches of claims about where two people live, most of them later than those before."""
    hours, batches = 0, []
    for _ in range(draw(st.integers(1, 7))):
        batch = []
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            hours += draw(st.sampled_from([0, 1, 20, 30, 100]))
            back = 0 if orderly else draw(st.sampled_from([0, 0, 0, 0, 5, 60]))
            start = START + timedelta(hours=hours - back)
            said = start + timedelta(hours=draw(st.sampled_from([0, 0, 1, 26, 400])))
            given_start = draw(st.sampled_from([start, start, f"{start:%Y-%m-%d}", f"{start:%Y-%m}", None]))
            batch.append(
                {
                    "subject": draw(st.sampled_from(["Ann", "Ann", "Ann", "Bo"])),
                    "predicate": "lives_in",
                    "object": draw(st.sampled_from(VALUES)),
                    "valid_from": given_start,
                    "said_at": said,
                    "valid_to": draw(st.sampled_from([None] * 4 + [start + timedelta(hours=h) for h in (1, 40)])),
                    "kind": draw(st.sampled_from(["state", "state", "change"])),
                    "source": draw(st.sampled_from(["user", "user", "tool:a", "imported:a", "imported:b", "inferred"])),
                }
            )
            if not orderly:
                batch[-1] |= draw(
                    st.sampled_from(
                        [{}] * 8 + [{"kind": "also"}, {"negative": True, "kind": "change"}, {"valid_to": "2020-02-01"}]
                    )
                )
        batches.append(batch)
    return batches


def rows(kg: KnowledgeGraph) -> tuple[set[Any], set[Any]]:
    ledger = kg._session.ledger
    with kg._session.read():
        found = [set(ledger.store.iterate(table, ledger.scope)) for table in (FactRow, PastFactRow)]
    return found[0], found[1]


def folded(kg: KnowledgeGraph) -> dict[str, FactRow]:
    """The rows that belief and fold give without any shortcut past them."""
    ledger, found = kg._session.ledger, {}
    with kg._session.read():
        belief = Belief(ledger.at())
        for subject, predicate in ledger.all_fluents():
            for draft in belief.facts(subject, predicate):
                row, body = factrow.encode(_stored_way(belief, draft), ledger.scope, 0)
                assert factrow.decode(row) == body
                found[row.id] = row
    return found


def told(kg: KnowledgeGraph, batches: list[list[dict[str, Any]]]) -> list[Any]:
    receipts = []
    for batch in batches:
        made = [kg.add(**batch[0])] if len(batch) == 1 else kg.add_all(batch, receipts=True).receipts
        receipts += [(r.outcome, r.why, r.widened, r.facts, r.closed, r.conflict) for r in made]
    return receipts


@given(batches=st.one_of(lives(), lives(orderly=False)))
def test_what_follows_changes_what_the_whole_fold_would_change(batches: list[list[dict[str, Any]]]) -> None:
    with graph() as kg, graph() as whole, pytest.MonkeyPatch.context() as patch:
        for batch in batches:
            told(kg, [batch])
            found = {row.id: row._replace(sys_from=0) for row in rows(kg)[0]}
            assert found == folded(kg)
        patch.setattr(Ledger, "follow", lambda _, claims, *__, **___: ([], list(claims)))
        receipts = told(whole, batches)
        patch.undo()
        assert rows(kg) == rows(whole)
        assert told(graph(), batches) == receipts


@given(batches=st.one_of(lives(), lives(orderly=False)))
def test_verifying_epoch_by_epoch_gives_what_folding_each_epoch_gives(batches: list[list[dict[str, Any]]]) -> None:
    with graph() as kg, pytest.MonkeyPatch.context() as patch:
        told(kg, batches)
        assert kg.verify() == []
        patch.setattr(following, "follow", lambda *_, **__: None)
        assert kg.verify() == []


@given(batches=lives())
def test_what_is_known_of_a_tail_is_what_the_store_tells_of_it(batches: list[list[dict[str, Any]]]) -> None:
    """The same claims through a handle that remembers nothing between two writes."""
    with graph() as kg, graph() as forgetful:
        receipts = told(kg, batches)
        again = []
        for batch in batches:
            forgetful._session.ledger.forget_records()
            again += told(forgetful, [batch])
        assert rows(kg) == rows(forgetful)
        assert receipts == again


def test_orderly_claims_are_followed_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    folds = []
    refold = Ledger.refold
    monkeypatch.setattr(Ledger, "refold", lambda self, *args, **kw: folds.append(args) or refold(self, *args, **kw))
    with graph() as kg:
        for day in range(50):
            moment = START + timedelta(days=day)
            kg.set("Ann", "lives_in", f"Town {day % 7}", valid_from=moment, said_at=moment)
        for day in range(50, 60):
            kg.add("Ann", "lives_in", f"Town {day}", valid_from=START + timedelta(days=day))
        assert folds == []
        assert len(kg.timeline("Ann", "lives_in")) == 60
        kg.end("Ann", "lives_in", at="2023")
        assert len(folds) == 1
        assert kg.verify() == []


def test_a_value_that_ends_and_begins_again_at_one_moment_is_folded_whole() -> None:
    with graph() as kg:
        kg.add("Ann", "lives_in", "Bergen", valid_from=START, said_at=START)
        again = {"subject": "Ann", "predicate": "lives_in", "valid_from": START}
        kg.add_all(
            [
                again | {"object": "Bergen", "said_at": START, "kind": "change"},
                again | {"object": "Oslo", "said_at": START + timedelta(hours=26)},
            ]
        )
        assert {row.id: row._replace(sys_from=0) for row in rows(kg)[0]} == folded(kg)
        assert kg.verify() == []


def test_a_fact_that_a_whole_fold_leaves_as_it_was_is_believed_since_before() -> None:
    with graph() as kg:
        kg.add("Ann", "lives_in", "Oslo East", valid_from=START, said_at=START, source="tool:a")
        kg.add("Ann", "lives_in", "Oslo", valid_from=START, said_at=START)
        kg.add(
            "Ann", "lives_in", "Oslo East", valid_from=START + timedelta(hours=1), said_at=START + timedelta(hours=1)
        )
        assert kg.verify() == []
