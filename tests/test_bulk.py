"""The quick ways of a batch leave what the ordinary way leaves, to the last row."""

from __future__ import annotations

from datetime import UTC, date, datetime
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semgraph import bulk, ledger, writing
from semgraph.engine import KnowledgeGraph
from semgraph.intake import Intake
from semgraph.store.schema import TABLES, ScopeRow
from semgraph.temporal import from_epoch

_NAMES = ["Ann", "ann ", "Bob", "Bob Hill", "Bo", "the user", "Zoë", "Ivo Ivo"]
_ODD_NAMES = ["", "\0", "x" * 600, "\ud800", "?!"]
_THINGS = [*_NAMES, "true", "12.50", "https://example.org/a", "one two three four five six seven eight nine", "Ivo"]
_PREDICATES = ["visited", "knows", "likes", "works_at", "born_in", "reports_to", "manages", "unheard_of", "married_to"]
_MOMENTS = [
    "2020", "2020-05", "2020-05-06", "2020-05-06T07:08:09Z", "2020-05-06T07:08:09+02:00", "2019~", "-inf", "..",
    "unknown", date(2020, 5, 6), datetime(2020, 5, 6, tzinfo=UTC), datetime(2020, 5, 6, 1, 2, 3, 4, UTC), "2035",
]  # fmt: skip
_ODD_MOMENTS = ["yesterday", datetime(2020, 5, 6), 12, "2020-13"]  # noqa: DTZ001  # one that is refused
_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)


def _mostly(usual, odd):
    return st.one_of(*[st.sampled_from(usual)] * 9, st.sampled_from(odd))


@st.composite
def claims(draw):
    words = {
        "subject": draw(_mostly(_NAMES, _ODD_NAMES)),
        "predicate": draw(_mostly(_PREDICATES, ["", "no/such", "x" * 600])),
        "object": draw(_mostly(_THINGS, [*_ODD_NAMES, 7, True, 2.5, None, date(2020, 1, 1)])),
    }
    rare = {
        "valid_from": _mostly(_MOMENTS, _ODD_MOMENTS),
        "valid_to": _mostly(_MOMENTS, _ODD_MOMENTS),
        "said_at": _mostly(_MOMENTS[2:6], [*_ODD_MOMENTS, "2035", "-inf", "unknown"]),
        "source": _mostly(["user", "imported:a", "tool:b", " cv "], ["inferred:c", "", " ", None, 5]),
        "source_ref": _mostly(["doc:1", "doc:é"], [None, "a\0", 3]),
        "confidence": _mostly([0.5, 0.123456789, 1.0, 0.0], [1, 2.0, "high", float("nan"), None]),
        "text": _mostly(["as told", "Zoë said"], [None, "", "\ud800", "a\0b"]),
    }
    odd = {
        "kind": st.sampled_from(["state", "change", "also", "end", "x"]),
        "negative": st.booleans(),
        "valid_through": st.sampled_from(_MOMENTS),
        "qualifiers": st.sampled_from([None, {}, {"role": "lead"}]),
        "because": st.just([]),
        "colour": st.just("red"),
    }
    words |= draw(st.fixed_dictionaries({}, optional=rare))
    if draw(st.booleans()):  # values that take turns, or nearly
        start = draw(st.integers(0, 5))
        words |= {
            "subject": draw(st.sampled_from(_NAMES[:3])),
            "predicate": draw(st.sampled_from(["works_at", "reports_to", "knows", "knows", "likes"])),
            "object": draw(st.sampled_from(["P", "Q", "R", "S", "T", "S U"])),
            "valid_from": from_epoch(start),
            "valid_to": draw(st.sampled_from([None, from_epoch(start + 1), from_epoch(start + 1, "s"), from_epoch(9)])),
            "said_at": draw(st.sampled_from([None, from_epoch(start), from_epoch(draw(st.integers(0, 6)))])),
        }
    return words | (draw(st.fixed_dictionaries({}, optional=odd)) if draw(st.integers(0, 5)) == 0 else {})


def _stored(batches, *, quick, setup):
    """Every row that the batches leave, and what they said they did."""
    with KnowledgeGraph(clock=lambda: _CLOCK) as graph, mock.patch.object(bulk, "_SMALL", 0):
        graph.predicates.define("visited", cardinality="many", event=True)
        graph.predicates.define("knows", cardinality="many")
        graph.predicates.define("likes", cardinality="many", range="entity", norefine=True)
        if setup:
            graph.names.declare("Ivo")
            graph.names.alias("Ivo", "Ivo Ivo", homonym=True)
            graph.add("Ann", "visited", "Bob", valid_from="2020-05-06")
        done = []
        with mock.patch.object(writing, "_MANY", 0 if quick else 10**9):
            for batch in batches:
                if quick:
                    made = graph.add_all(batch)
                else:
                    with mock.patch.object(Intake, "read", return_value=None):
                        made = graph.add_all(batch)
                done.append((made.counts, [(one.code, one.reason) for one in made.rejected]))
        store = graph._session.store
        assert graph.verify() == []
        return done, {table: store.select(table, 1) for table in TABLES if table is not ScopeRow}


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.lists(claims(), max_size=12), min_size=1, max_size=2), setup=st.booleans())
@example(batches=[[{"subject": "Ann", "predicate": "married_to", "object": "true"}]], setup=False)
@example(batches=[[{"subject": "Ann", "predicate": "visited", "object": "Bob"}] * 2], setup=False)
def test_a_batch_leaves_the_same_rows_the_quick_way(batches, setup):
    assert _stored(batches, quick=True, setup=setup) == _stored(batches, quick=False, setup=setup)


def test_plain_claims_of_a_new_graph_do_go_the_quick_way():
    batch = [{"subject": f"n{n % 50}", "predicate": "knows", "object": f"m{n}"} for n in range(200)]
    with KnowledgeGraph() as graph:
        graph.predicates.define("knows", cardinality="many")
        with mock.patch.object(ledger.Ledger, "refold") as refold:
            assert graph.add_all(batch).counts == {"new": 200}
        refold.assert_not_called()
        assert len(list(graph.facts())) == 200
        assert graph.verify() == []


@pytest.mark.parametrize("batch_size", [None, 1, 2, 4])
def test_each_refused_claim_is_told_by_its_place(batch_size: int | None):
    told = [{"subject": f"S{n}", "predicate": "knows"} | ({} if n in {2, 5, 6} else {"object": "B"}) for n in range(8)]
    batch = KnowledgeGraph().add_all(told, batch_size=batch_size)
    assert batch.rejected_at == (3, 6, 7)
    assert len(batch.rejected) == 3
