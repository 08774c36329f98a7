"""The quick ways of a batch leave what the ordinary way leaves, to the last row."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime
from itertools import zip_longest
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semgraph import bulk, ledger, writing
from semgraph.engine import KnowledgeGraph
from semgraph.errors import InputError, SemgraphError
from semgraph.model import WORDS
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


def _stored(batches, *, quick, setup, between=()):
    """Every row that the batches leave, and what they said they did; `between` them something else is done."""
    with KnowledgeGraph(clock=lambda: _CLOCK) as graph:
        graph.predicates.define("visited", cardinality="many", event=True)
        graph.predicates.define("knows", cardinality="many")
        graph.predicates.define("likes", cardinality="many", range="entity", norefine=True)
        if setup:
            graph.names.declare("Ivo")
            graph.names.alias("Ivo", "Ivo Ivo", homonym=True)
            graph.add("Ann", "visited", "Bob", valid_from="2020-05-06")
        done = []
        least = 0 if quick else 10**9
        with ExitStack() as stack:
            for module, name in ((bulk, "_SMALL"), (bulk, "_MANY"), (writing, "_MANY")):
                stack.enter_context(mock.patch.object(module, name, least))
            for batch, other in zip_longest(batches, between[: len(batches)]):
                made = graph.add_all(batch)
                if other is not None:
                    with suppress(SemgraphError, StopIteration):
                        other(graph)
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


@st.composite
def turns(draw):
    """Claims whose exact intervals meet or leave gaps, of few values: what makes a chain, and what nearly does."""
    start = draw(st.integers(0, 9))
    return {
        "subject": draw(st.sampled_from(["Ann", "Bob"])),
        "predicate": draw(st.sampled_from(["works_at", "knows", "visited"])),
        "object": draw(st.sampled_from(["Acme", "Acme Labs", "Brio", "Coda"])),
        "valid_from": draw(st.sampled_from([from_epoch(start)] * 5 + [None])),
        "valid_to": draw(st.sampled_from([from_epoch(start + 1), from_epoch(start + 2), None])),
        "said_at": draw(st.sampled_from([from_epoch(start), from_epoch(start + 1), from_epoch(9), from_epoch(0)])),
        "source": draw(st.sampled_from(["imported:a", "imported:b", "user"])),
    }


_OTHERS = st.sampled_from(
    [
        None,
        lambda graph: graph.retract(next(graph.claims("Ann"))),
        lambda graph: graph.end("Ann", "works_at", at=from_epoch(4)),
        lambda graph: graph.deny("Ann", "knows", "Acme"),
        lambda graph: graph.add("Ann", "knows", "Brio", negative=True, valid_from=from_epoch(1)),
        lambda graph: graph.settle("Ann", "works_at", "keep_both", valid_at=from_epoch(2)),
        lambda graph: graph.names.merge("Bob", "Ann"),
        lambda graph: graph.names.merge("Brio", "Coda"),
        lambda graph: graph.names.declare("Acme Labs"),
        lambda graph: graph.predicates.define("employed_by", cardinality="one", aliases=["works_at"]),
        lambda graph: graph.set("Ann", "works_at", "Dune", valid_from=from_epoch(3)),
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    batches=st.lists(st.lists(turns(), min_size=1, max_size=8), min_size=2, max_size=4),
    between=st.lists(_OTHERS, min_size=3, max_size=3),
)
def test_batches_meet_what_was_told_before_as_single_claims_do(batches, between):
    quick = _stored(batches, quick=True, setup=False, between=between)
    assert quick == _stored(batches, quick=False, setup=False, between=between)


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.lists(turns(), max_size=8), min_size=1, max_size=3))
def test_chains_leave_the_same_rows_the_quick_way(batches):
    assert _stored(batches, quick=True, setup=False) == _stored(batches, quick=False, setup=False)


@settings(max_examples=40, deadline=None)
@given(batch=st.lists(claims(), min_size=1, max_size=12))
def test_columns_leave_what_their_rows_leave(batch):
    columns = {
        name: [words.get(name) for words in batch] for name in WORDS & {name for words in batch for name in words}
    }
    rows = ({name: values[place] for name, values in columns.items()} for place in range(len(batch)))
    by_row = [{name: value for name, value in row.items() if value is not None} for row in rows]
    found = []
    for tell in (lambda graph: graph.add_columns(columns), lambda graph: graph.add_all(by_row)):
        with KnowledgeGraph(clock=lambda: _CLOCK) as graph, mock.patch.object(bulk, "_SMALL", 0):
            made = tell(graph)
            found.append((made.counts, [one.code for one in made.rejected], made.rejected_at, list(graph.claims())))
    assert found[0] == found[1]


def test_columns_may_be_of_numpy_and_tell_moments_in_microseconds():
    day = 86_400_000_000
    whole = np.iinfo(np.int64)
    with KnowledgeGraph() as graph, mock.patch.object(bulk, "_SMALL", 0):
        graph.add_columns(
            {
                "subject": np.array(["Ann", "Ann", "Bob"]),
                "predicate": "works_at",
                "object": ("Acme", "Brio", "Acme"),
                "valid_from_us": np.array([0, day, whole.min]),
                "valid_to_us": np.array([day, whole.max, 10 * day]),
                "confidence": np.array([0.5, 0.6, 0.7]),
            },
            batch_size=2,
        )
        found = [(str(f.valid_from), f.valid_to and str(f.valid_to), f.confidence) for f in graph.timeline("Ann")]
        assert found == [("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", 0.5), ("1970-01-02T00:00:00Z", None, 0.6)]
        assert [str(f.valid_from) for f in graph.timeline("Bob")] == ["-inf"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([], "mapping"),
        ({"subject": ["Ann"]}, "missing predicate"),
        ({"subject": ["Ann"], "predicate": ["knows"], "objekt": ["Bob"]}, "unknown objekt"),
        ({"subject": ["Ann", "Bob"], "predicate": ["knows"]}, "subject 2, predicate 1"),
        ({"subject": "Ann", "predicate": "knows", "object": "Bob"}, "at least one column"),
        ({"subject": ["Ann"], "predicate": "knows", "said_at": None, "said_at_us": [1]}, "give one of them"),
        ({"subject": ["Ann"], "predicate": "knows", "said_at": np.array(["2020"], "M8[us]")}, "no time zone"),
    ],
)
def test_columns_that_make_no_table_are_refused(columns, says: str):
    with pytest.raises(InputError, match=says):
        KnowledgeGraph().add_columns(columns)


def test_a_moment_that_is_none_is_refused_with_its_row():
    batch = KnowledgeGraph().add_columns(
        {"subject": ["Ann", "Bob"], "predicate": "knows", "object": "Cy", "valid_from_us": [2**63 - 2, True]}
    )
    assert [one.code for one in batch.rejected] == ["time_range", "bad_time"]


def test_plain_claims_of_entities_that_are_known_go_the_quick_way_too():
    with KnowledgeGraph() as graph:
        graph.predicates.define("knows", cardinality="many")
        graph.add_all({"subject": f"n{n}", "predicate": "likes", "object": f"m{n}"} for n in range(200))
        with mock.patch.object(ledger.Ledger, "refold") as refold:
            batch = [{"subject": f"n{n}", "predicate": "knows", "object": f"m{n}"} for n in range(200)]
            assert graph.add_all(batch).counts == {"new": 200}
        refold.assert_not_called()
        assert graph.add_all(batch[:100]).counts == {"duplicate": 100}
        assert len(list(graph.facts("n7"))) == 2
        assert graph.verify() == []


def test_a_load_in_parts_goes_the_quick_way_in_each():
    with KnowledgeGraph() as graph:
        graph.predicates.define("knows", cardinality="many")
        graph.predicates.define("works_at", cardinality="one")
        spans = [{"valid_from": from_epoch(start), "valid_to": from_epoch(start + 1)} for start in (10, 30, 20)]
        with mock.patch.object(ledger.Ledger, "refold") as refold:
            for place, span in enumerate(spans):
                jobs = [{"subject": f"n{n}", "predicate": "works_at", "object": f"m{place}"} for n in range(150)]
                known = [{"subject": f"n{n}", "predicate": "knows", "object": f"o{place}"} for n in range(150)]
                counts = graph.add_all([one | span | {"said_at": span["valid_from"]} for one in jobs + known]).counts
                assert counts == ({"new": 300} if place < 2 else {"history": 150, "new": 150})
        refold.assert_not_called()
        assert [fact.object.label for fact in graph.timeline("n7", "works_at")] == ["m0", "m2", "m1"]
        assert graph.verify() == []


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


def test_a_small_batch_reads_the_claims_that_it_follows_together(tmp_path):
    homes, moves = (
        [{"subject": f"A{n}", "predicate": "lives_in", "object": f"{where}{n}", "valid_from": year} for n in range(80)]
        for where, year in (("T", "2019"), ("U", "2020"))
    )
    with KnowledgeGraph(tmp_path / "kept.db") as graph:
        graph.add_all(homes)
    with KnowledgeGraph(tmp_path / "kept.db") as graph:
        store = graph._session.store
        with mock.patch.object(store, "iterate", side_effect=store.iterate) as asked:
            assert graph.add_all(moves).counts == {"update": 80}
        assert asked.call_count < 20
        assert graph.verify() == []
