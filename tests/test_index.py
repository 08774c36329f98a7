"""The columns in memory: they hold what the store holds, after every write, whoever made it."""

from __future__ import annotations

import random
from contextlib import closing

import numpy as np
import pytest
from histories import graph, histories, tell_all, timed
from hypothesis import given, settings

import semgraph
from semgraph import KnowledgeGraph, factrow
from semgraph.index import feed
from semgraph.index.keeping import Index
from semgraph.index.marks import DISPUTED, LITERAL, NEGATIVE, NOTHING, UNKNOWN_START
from semgraph.store.schema import FactRow
from semgraph.temporal import POS_INF

MANY = 10**9


def told(columns, row):
    """A row as subject, predicate, object, interval and marks."""
    far = int(columns.object[row])
    target = {LITERAL: "literal", NOTHING: ""}.get(far)
    return (
        columns.entity(int(columns.subject[row])),
        columns.predicates[columns.predicate[row]],
        f"e{columns.entity(far)}" if target is None else target,
        int(columns.start[row]),
        int(columns.end[row]),
        bool(columns.flags[row] & NEGATIVE),
        bool(columns.flags[row] & DISPUTED),
        bool(columns.flags[row] & UNKNOWN_START),
    )


def stored(row):
    target = row.object if row.object.startswith("e") else "literal" if row.object else ""
    unknown = factrow.decode(row).basis == "unknown"
    return (*row[2:4], target, row.valid_from, row.valid_to, bool(row.negative), bool(row.disputed), unknown)


def check(kg):
    """The columns hold the stored facts, found from either end, and the same after they are merged."""
    session = kg._session
    with session.read():
        columns = session.columns(reads=MANY)
        rows = session.store.select(FactRow, session.ledger.scope)
        if session.store.scope(kg.scope) is None:
            assert columns is None
            return None
        for each in (columns, columns.merged()):
            live = np.flatnonzero(each.start[: each.size] != POS_INF).tolist()
            assert sorted(told(each, row) for row in live) == sorted(map(stored, rows))
            fluents = {(row.subject, row.predicate) for row in rows}
            for subject, predicate in fluents:
                here = [stored(row) for row in rows if (row.subject, row.predicate) == (subject, predicate)]
                assert [told(each, row) for row in each.rows(subject, predicate)] == here
            for subject in {subject for subject, _ in fluents}:
                here = sorted(stored(row) for row in rows if row.subject == subject)
                assert sorted(told(each, row) for row in each.leaving(subject)) == here
            for ref in {row.object for row in rows if row.object.startswith("e")}:
                far = int(ref[1:])
                here = sorted(stored(row) for row in rows if row.object == ref)
                assert sorted(told(each, row) for row in each.entering(far)) == here
                for predicate in {row.predicate for row in rows}:
                    onto = sorted(each for each in here if each[1] == predicate)
                    assert sorted(told(each, row) for row in each.rows_onto(far, predicate)) == onto
            base = each.in_rows
            assert np.array_equal(each.in_start, each.start[base])
            assert np.array_equal(each.in_end, each.end[base])
        return columns


@settings(max_examples=15, deadline=None)
@given(calls=histories(most=7))
def test_the_columns_hold_what_the_store_holds_after_every_write(calls):
    kg, clock = timed()
    for call in calls:
        tell_all(kg, clock, [call])
        check(kg)


@settings(max_examples=8, deadline=None)
@given(calls=histories(most=7))
def test_another_handle_follows_each_write(calls, tmp_path_factory):
    target = tmp_path_factory.mktemp("index") / "kg.db"
    kg, clock = timed(target=target)
    with closing(kg), closing(graph(target)) as other:
        for call in calls:
            tell_all(kg, clock, [call])
            check(other)


def crowd(kg, count, *, seed=5):
    """Facts of many fluents, some of which share a start."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    for predicate in ("knows", "met"):
        kg.predicates.define(predicate, cardinality="many")
    kg.add_all(
        {
            "subject": f"s{rng.randrange(count // 8)}",
            "predicate": rng.choice(("knows", "met", "height")),
            "object": rng.choice((f"o{rng.randrange(count // 8)}", f"s{rng.randrange(count // 8)}")),
            "valid_from": rng.choice((None, "-inf", "2020", "2021-05-01")),
        }
        for _ in range(count)
    )


def loads(kg):
    """How often the columns were loaded, as a list that grows."""
    found = []
    index = kg._session.indexes[kg.scope]
    plain = index._worth
    index._worth = lambda *given: found.append(1) or plain(*given)
    return found


def test_small_writes_are_followed_without_loading_again_and_merged_when_there_are_many():
    kg = KnowledgeGraph()
    crowd(kg, 400)
    check(kg)
    loaded = loads(kg)
    for n in range(60):
        kg.add(f"s{n % 7}", "knows", f"new {n}")
        if n % 5 == 0:
            kg.add_all([{"subject": f"s{m}", "predicate": "met", "object": f"{n}"} for m in range(60)])
            check(kg)
    before = check(kg)
    for n in range(12):
        kg.add_all([{"subject": f"t{m}", "predicate": "met", "object": f"{n}"} for m in range(40)])
        check(kg)
    assert check(kg) is not before
    assert not loaded


def test_a_write_that_touches_most_of_the_graph_is_not_followed_fluent_by_fluent():
    kg = KnowledgeGraph()
    crowd(kg, 400)
    check(kg)
    loaded = loads(kg)
    kg.add_all({"subject": f"u{n}", "predicate": "met", "object": "one"} for n in range(300))
    check(kg)
    assert loaded


def spoil(kg):
    with kg.atomic():
        kg.add("s1", "knows", "nobody")
        with kg._session.read():
            assert kg._session.columns(reads=MANY) is None, "columns are of what is committed"
        _ = 1 / 0


def test_a_rolled_back_write_leaves_the_columns_as_they_were():
    kg = KnowledgeGraph()
    crowd(kg, 100)
    check(kg)
    loaded = loads(kg)
    with pytest.raises(ZeroDivisionError):
        spoil(kg)
    check(kg)
    with kg.atomic():
        kg.add("s1", "knows", "somebody")
        kg.add("s2", "knows", "somebody")
    check(kg)
    assert not loaded


def test_what_is_forgotten_is_in_no_column_and_no_feed():
    kg = KnowledgeGraph()
    kg.add("Ann", "secret_habit", "Zanzibar")
    kg.add("Bo", "likes", "Ann")
    check(kg)
    kg.forget(entity="Ann")
    columns = check(kg)
    assert "secret_habit" not in columns.predicates
    with kg._session.read():
        assert "secret_habit" not in kg._session.store.scope("default").feed


def test_scopes_and_restored_graphs_have_columns_of_their_own(tmp_path):
    kg = KnowledgeGraph()
    crowd(kg, 60)
    check(kg)
    twin = kg.scoped("twin")
    semgraph.write(kg, tmp_path / "all.jsonl")
    with twin._session.read():
        assert twin._session.columns() is None
    semgraph.read(twin, tmp_path / "all.jsonl")
    check(twin)
    check(kg)
    crowd(twin, 50, seed=6)
    check(twin)


def test_few_reads_do_not_load_the_columns():
    kg = KnowledgeGraph()
    crowd(kg, 400)
    asked = 0
    with kg._session.read():
        while kg._session.columns() is None:
            asked += 1
    assert 15 <= asked <= 18


def test_the_index_is_of_eighty_bytes_an_edge_at_most():
    kg = KnowledgeGraph()
    crowd(kg, 4000)
    columns = check(kg)
    arrays = [each for each in vars(columns).values() if isinstance(each, np.ndarray)]
    held = sum(each.nbytes for each in arrays) - 27 * (len(columns.start) - columns.base)
    assert held <= 80 * columns.base


# -- the feed


def entry(feed_text, known):
    found = feed.since(feed_text, known)
    return None if found is None else (sorted(found.fluents), found.besides, found.wide)


def test_a_feed_tells_what_was_touched_since():
    text = feed.appended("", 5, 10, {(1, "a"), (2, "b")}, besides=False, token=7)
    text = feed.appended(text, 10, 20, {(1, "c")}, besides=True, token=8)
    text = feed.appended(text, 20, 30, {(n, "d") for n in range(1000)}, besides=False, token=9)
    assert entry(text, 30) == ([], False, [])
    assert entry(text, 20) == ([], False, [9])
    assert entry(text, 10) == ([(1, "c")], True, [9])
    assert entry(text, 5) == ([(1, "a"), (1, "c"), (2, "b")], True, [9])
    assert entry(text, 4) is None
    assert feed.epoch(text) == 0


def test_a_feed_is_bounded_and_knows_how_far_back_it_reaches():
    text, last = "", 0
    for n in range(1, 400):
        text = feed.appended(text, last, n, {(n + 10**17, "reports_to")}, besides=False, token=n)
        assert len(text) < 1600
        last = n
    reached = next(n for n in range(400) if feed.since(text, n) is not None)
    assert 350 < reached < 399
    assert entry(text, reached)[0] == [(n + 10**17, "reports_to") for n in range(reached + 1, 400)]


def test_a_feed_that_starts_afresh_tells_nothing_of_before():
    text = feed.appended("", 5, 10, {(1, "a")}, besides=False, token=7)
    fresh = feed.started_afresh(text, 20)
    assert feed.epoch(fresh) == 1
    assert feed.since(fresh, 10) is None
    later = feed.appended(fresh, 20, 30, {(3, "z")}, besides=False, token=8)
    assert (feed.epoch(later), entry(later, 20)) == (1, ([(3, "z")], False, []))
    assert "a" not in fresh


def test_a_wide_write_of_this_process_is_told_in_memory_and_long_lists_are_not_kept():
    index = Index()
    for token in range(200):
        index.wrote(token, frozenset({(token, "a")}))
    assert len(index._log) == 64
    index.wrote(200, frozenset((n, "a") for n in range(30_000)))
    assert 200 not in index._log
