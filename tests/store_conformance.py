"""The suite that every store must pass: a class to be subclassed with a fixture `store`."""

from __future__ import annotations

import threading
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from semgraph.errors import InputError, StoreClosed, StoreCorrupt, StoreError
from semgraph.store import open_store
from semgraph.store.schema import (
    TABLES,
    AliasRow,
    ClaimColumns,
    ClaimRow,
    EntityRow,
    FactRow,
    JustificationRow,
    PastFactRow,
    RejectedRow,
    ScopeRow,
    TombstoneRow,
)
from semgraph.store.shapes import columns
from semgraph.temporal import NEG_INF, POS_INF

_DEFAULTS = {int: 0, float: 0.0, str: "", bytes: b""}
HARD_TEXTS = [
    "",
    "Zoë",
    "数据库",
    "👩‍👩‍👧‍👦",
    "\u202eabc",
    "a\0b",
    "\0",
    "'; DROP TABLE claim; --",
    '["x"]',
    "%_\\",
    " a ",
    "\n\t\r",
    "￿",
]


def make(table: type, **values: Any) -> Any:
    """A row of the table with the values given, and the emptiest possible for the rest."""
    filled = {
        name: None if found.nullable else _DEFAULTS[found.type]
        for name, found in columns(table).items()
        if name not in values
    }
    return table(**{"scope": 1, **{name: value for name, value in filled.items() if name != "scope"}, **values})


def entities(*ids: int, **values: Any) -> list[EntityRow]:
    return [make(EntityRow, id=number, **{"label": f"n{number}", **values}) for number in ids]


def sample(table: Any) -> dict[str, Any]:
    """A value for each column."""
    samples = {int: 7, float: 0.25, bytes: b"\x00\xfe"}
    return {name: samples.get(found.type, f"{name} é") for name, found in columns(table).items()}


def ids(rows: Any) -> list[Any]:
    return [row.id for row in rows]


class Halt(Exception):
    """Leaves a block on purpose."""


class Kind(StrEnum):
    CLAIM = "claim"


class StoreConformance:
    """Rules that hold for every store."""

    # rows

    @pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
    def test_every_table_keeps_a_row_as_it_was(self, store, table):
        filled = sample(table)
        full = table(**filled)
        bare = make(table, scope=8)
        store.insert([full])
        store.insert([bare])
        assert store.select(table, 7) == [full]
        assert store.select(table, 8) == [bare]
        assert type(store.select(table, 7)[0]) is table
        assert store.count(table, 9) == 0

    @pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
    def test_every_column_can_be_asked_for(self, store, table):
        filled = sample(table)
        store.insert([table(**filled)])
        for name, value in filled.items():
            if name == "scope":
                continue
            other = {int: 8, float: 0.5, str: "zzz", bytes: b"\xff\xff"}[type(value)]
            assert store.count(table, 7, **{name: value}) == 1
            assert store.count(table, 7, **{name: other}) == 0
            assert store.count(table, 7, **{f"{name}__lt": other}) == 1
            if isinstance(value, bytes):
                with pytest.raises(TypeError, match=name):
                    store.count(table, 7, **{name: [value, other]})
            else:
                assert store.count(table, 7, **{name: [value, other]}) == 1
            assert store.count(table, 7, **{name: None}) == 0

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({}, [1, 2, 3, 4]),
            ({"id": 3}, [3]),
            ({"id__lt": 3}, [1, 2]),
            ({"id__le": 3}, [1, 2, 3]),
            ({"id__gt": 3}, [4]),
            ({"id__ge": 3}, [3, 4]),
            ({"id__ge": 2, "id__lt": 4}, [2, 3]),
            ({"id": [4, 1, 1, 99]}, [1, 4]),
            ({"id": {2}}, [2]),
            ({"id": (2, 3)}, [2, 3]),
            ({"id": frozenset()}, []),
            ({"id": {2: "a"}.keys()}, [2]),
            ({"id": True}, [1]),
            ({"label": ["b", "a"], "id__gt": 1}, [2, 3]),
            ({"label": "c", "id": [1, 2]}, []),
            ({"label__ge": "b"}, [3, 4]),
        ],
    )
    def test_conditions(self, store, where, expected):
        store.insert([make(EntityRow, id=n, label=label) for n, label in zip((1, 2, 3, 4), "aabc", strict=True)])
        assert ids(store.select(EntityRow, 1, **where)) == expected
        assert store.count(EntityRow, 1, **where) == len(expected)
        with store.read():
            assert ids(store.iterate(EntityRow, 1, **where)) == expected
        assert store.update(EntityRow, 1, {"key": "hit"}, **where) == len(expected)
        assert ids(store.select(EntityRow, 1, key="hit")) == expected
        assert store.delete(EntityRow, 1, **where) == len(expected)
        assert store.count(EntityRow, 1) == 4 - len(expected)

    def test_some_columns_alone_come_in_key_order(self, store):
        rows = [make(FactRow, id=f"f{n}", subject=n % 3, valid_from=-n, predicate="p", body="{}") for n in range(9)]
        store.insert(rows)
        with store.read():
            found = list(store.tuples(FactRow, 1, ("valid_from", "id", "subject")))
            assert list(store.tuples(FactRow, 1, ["id"], subject=[0, 2], valid_from__lt=-6)) == [("f8",)]
        assert found == [(row.valid_from, row.id, row.subject) for row in store.select(FactRow, 1)]
        assert {type(each) for each in found} == {tuple}
        with pytest.raises(TypeError), store.read():
            list(store.tuples(FactRow, 1, ["nonsense"]))

    def test_the_revision_changes_with_each_write_and_with_nothing_else(self, store):
        store.insert(entities(1))
        first = store.revision()
        assert first is not None
        with store.read():
            store.select(EntityRow, 1)
            assert store.revision() == first
        assert store.revision() == first
        with store.write():
            store.insert(entities(2))
            assert store.revision() is None
        second = store.revision()
        assert second not in {first, None}
        store.delete(EntityRow, 1, id=2)
        assert store.revision() not in {first, second, None}

    def test_absent_values_are_asked_for_by_none_and_met_by_nothing_else(self, store):
        store.insert([make(ClaimRow, id="a", valid_from=None), make(ClaimRow, id="b", valid_from=0)])
        assert ids(store.select(ClaimRow, 1, valid_from=None)) == ["a"]
        assert ids(store.select(ClaimRow, 1, valid_from=0)) == ["b"]
        assert ids(store.select(ClaimRow, 1, valid_from__le=5)) == ["b"]
        assert ids(store.select(ClaimRow, 1, valid_from__ge=NEG_INF)) == ["b"]
        assert ids(store.select(ClaimRow, 1, valid_from=[0, 1])) == ["b"]
        assert ids(store.select(ClaimRow, 1, id="a", valid_from=None, text=None)) == ["a"]

    @pytest.mark.parametrize(
        ("order", "expected"),
        [
            ((), [1, 2, 3, 4]),
            (("-id",), [4, 3, 2, 1]),
            (("label",), [4, 1, 3, 2]),
            (("-label",), [2, 1, 3, 4]),
            (("-label", "-id"), [2, 3, 1, 4]),
            (["recorded_at", "id"], [1, 2, 3, 4]),
        ],
    )
    def test_order_and_limit(self, store, order, expected):
        store.insert([make(EntityRow, id=n, label=label) for n, label in zip((4, 3, 2, 1), "abcb", strict=True)])
        assert ids(store.select(EntityRow, 1, order=order)) == expected
        with store.read():
            assert ids(store.iterate(EntityRow, 1, order=order)) == expected
        for limit in (0, 1, 3, 4, 100):
            assert ids(store.select(EntityRow, 1, order=order, limit=limit)) == expected[:limit]

    def test_absent_values_sort_first(self, store):
        store.insert([make(ClaimRow, id=str(n), valid_to=value) for n, value in enumerate([5, None, -5])])
        assert ids(store.select(ClaimRow, 1, order=("valid_to",))) == ["1", "2", "0"]
        assert ids(store.select(ClaimRow, 1, order=("-valid_to",))) == ["0", "2", "1"]

    def test_key_order_is_by_the_whole_key(self, store):
        rows = [
            make(FactRow, id=name, subject=subject, predicate=predicate, valid_from=start, object="e1")
            for subject in (2, 10)
            for predicate in ("a", "b")
            for start in (NEG_INF, -1, 3)
            for name in ("x", "y")
        ]
        store.insert(rows[::-1])
        assert store.select(FactRow, 1) == rows
        assert store.select(FactRow, 1, object="e1") == rows
        assert store.select(FactRow, 1, object="e1", predicate="a") == [row for row in rows if row.predicate == "a"]
        assert store.select(FactRow, 1, subject=[10, 2], predicate=["b"]) == [r for r in rows if r.predicate == "b"]

    @pytest.mark.parametrize("value", [NEG_INF, POS_INF, NEG_INF + 1, POS_INF - 1, -1, 0, 1, 2**53 + 1])
    def test_whole_numbers_keep_all_64_bits(self, store, value):
        store.insert([make(FactRow, id="f", valid_from=value, subject=value)])
        assert store.select(FactRow, 1, valid_from=value)[0].valid_from == value
        assert store.count(FactRow, 1, subject=[value]) == 1
        assert store.count(FactRow, 1, valid_from__ge=value, valid_from__le=value) == 1

    @pytest.mark.parametrize("text", HARD_TEXTS)
    def test_texts_come_back_as_they_were(self, store, text):
        store.insert([make(ClaimRow, id="c", text=text, subject_text=text, object=text)])
        assert store.select(ClaimRow, 1)[0][:] == make(ClaimRow, id="c", text=text, subject_text=text, object=text)
        assert store.count(ClaimRow, 1, object=text) == 1
        assert store.count(ClaimRow, 1, object=[text, "other"]) == 1

    @pytest.mark.parametrize("value", [0.0, -0.0, 1, True, 0.1, 1e-300, 1.7976931348623157e308, float("inf")])
    def test_fractions_come_back_as_floats(self, store, value):
        store.insert([make(ClaimRow, id="c", confidence=value)])
        (row,) = store.select(ClaimRow, 1)
        assert (row.confidence, type(row.confidence)) == (value, float)
        assert store.count(ClaimRow, 1, confidence=value) == 1

    def test_values_of_subclasses_come_back_plain(self, store):
        store.insert([make(ClaimRow, id="c", kind=Kind.CLAIM, negative=True)])
        (row,) = store.select(ClaimRow, 1, kind=Kind.CLAIM)
        assert (type(row.kind), type(row.negative)) == (str, int)

    @pytest.mark.parametrize("values", [{"id": 2**63}, {"id": -(2**63) - 1}, {"label": "\ud800"}])
    def test_what_no_store_can_keep_is_a_declared_error(self, store, values):
        with pytest.raises(StoreError):
            store.insert([make(EntityRow, id=1), make(EntityRow, **{"id": 2, **values})])
        assert store.count(EntityRow, 1) == 0

    def test_a_claim_that_no_store_can_keep_is_a_declared_error(self, store):
        with pytest.raises(StoreError):
            store.insert([make(ClaimRow, id="a"), make(ClaimRow, id="b", text="\ud800")])
        with pytest.raises(StoreError):
            store.insert([make(ClaimRow, id="c", source="\ud800")])
        assert store.count(ClaimRow, 1) == 0

    def test_not_a_number_is_refused(self, store):
        with pytest.raises(StoreError):
            store.insert([make(ClaimRow, id="c", confidence=float("nan"))])
        assert store.count(ClaimRow, 1) == 0

    def test_scopes_do_not_see_each_other(self, store):
        store.insert([make(EntityRow, scope=scope, id=1, label=f"s{scope}") for scope in (1, 2, 3)])
        assert [row.label for row in store.select(EntityRow, 2)] == ["s2"]
        assert store.update(EntityRow, 2, {"label": "new"}) == 1
        assert store.delete(EntityRow, 3) == 1
        assert [store.count(EntityRow, scope) for scope in (1, 2, 3)] == [1, 1, 0]
        assert store.select(EntityRow, 1)[0].label == "s1"

    # insert, update, delete

    def test_an_existing_key_refuses_the_whole_insert(self, store):
        store.insert(entities(2, label="old"))
        with pytest.raises(StoreError):
            store.insert(entities(1, 2, 3))
        assert [(row.id, row.label) for row in store.select(EntityRow, 1)] == [(2, "old")]

    def test_a_refused_insert_leaves_the_rest_of_its_transaction(self, store):
        store.insert(entities(2))
        with store.write():
            store.insert(entities(10))
            with pytest.raises(StoreError):
                store.insert(entities(11, 2))
            with pytest.raises(StoreError):
                store.insert(entities(2))
            store.insert(entities(12))
        assert ids(store.select(EntityRow, 1)) == [2, 10, 12]

    def test_replace_takes_the_place_of_rows_with_the_same_key(self, store):
        store.insert(entities(1, 2, label="old"))
        store.insert([*entities(2, 3, label="new"), *entities(3, label="last")], replace=True)
        assert [row.label for row in store.select(EntityRow, 1)] == ["old", "new", "last"]

    def test_no_rows_are_nothing_to_do(self, store):
        store.insert([])
        assert store.delete(EntityRow, 1) == 0
        assert store.update(EntityRow, 1, {"label": "x"}) == 0

    @pytest.mark.parametrize("count", [1, 3, 1_500])  # enough of them are loaded without indexes
    @pytest.mark.parametrize("before", [0, 2])
    def test_claims_by_column_come_with_the_facts_of_their_moulds(self, store, count, before):
        rows = [
            make(ClaimRow, id=f"{n:024x}", subject=n % 7, predicate="p", object=f"e{n}", valid_from=n, confidence=0.5)
            for n in range(count + before)
        ]
        if before:
            store.insert(rows[:before])
        fresh = rows[before:]
        store.insert_told(ClaimColumns._make(map(list, zip(*fresh, strict=True))), ['0f {"f":0.5}'] * count)
        assert store.select(ClaimRow, 1) == rows
        facts = [
            make(FactRow, id=r.id, subject=r.subject, predicate="p", object=r.object, valid_from=r.valid_from,
                 valid_to=POS_INF, sys_to=POS_INF, body='{"f":0.5}') for r in fresh
        ]  # fmt: skip
        assert store.select(FactRow, 1, order=("id",)) == facts
        assert store.select(ClaimRow, 1, subject=1) == [row for row in rows if row.subject == 1]
        assert store.select(ClaimRow, 1, object="e0") == rows[:1]
        assert store.check() == []

    def test_a_claim_by_column_that_is_there_already_refuses_all_of_them(self, store):
        rows = [make(ClaimRow, id=f"{n % 1_400:024x}", subject=n, object="e1") for n in range(1_500)]
        with pytest.raises(StoreError):
            store.insert_told(ClaimColumns._make(map(list, zip(*rows, strict=True))), ["0n {}"] * len(rows))
        assert store.select(ClaimRow, 1) == store.select(FactRow, 1) == []
        store.insert(rows[:1])
        with pytest.raises(StoreError):
            store.insert(rows[:1])

    def test_claims_by_column_may_come_while_others_are_read(self, store):
        rows = [make(ClaimRow, id=f"{n:024x}", subject=n, object="e1") for n in range(2_000)]
        store.insert(rows[:800])
        with store.write():
            unfinished = store.iterate(ClaimRow, 1, order=None)
            next(unfinished)
            store.insert_told(ClaimColumns._make(map(list, zip(*rows[800:], strict=True))), ["0n {}"] * 1_200)
        assert store.count(ClaimRow, 1) == 2_000

    def test_many_rows_at_once(self, store):
        store.insert(entities(*range(2500)))
        assert store.count(EntityRow, 1) == 2500
        assert store.count(EntityRow, 1, id=list(range(0, 5000, 2))) == 1250
        with store.read():
            assert ids(store.iterate(EntityRow, 1)) == list(range(2500))

    @pytest.mark.parametrize("table", [FactRow, ClaimRow])
    def test_update_changes_only_what_is_named(self, store, table):
        before = [make(table, id=str(n), subject=n, predicate="p", object="e5") for n in range(4)]
        store.insert(before)
        assert store.update(table, 1, {"predicate": "q", "object": "é"}, subject__ge=2) == 2
        assert store.select(table, 1, order=("id",)) == [
            *before[:2],
            *(row._replace(predicate="q", object="é") for row in before[2:]),
        ]
        assert store.count(table, 1, object="é") == 2

    @pytest.mark.parametrize("table", [EntityRow, ClaimRow])
    def test_an_update_onto_an_existing_key_changes_nothing(self, store, table):
        keys = [1, 2] if table is EntityRow else ["a", "b"]
        store.insert([make(table, id=key) for key in keys])
        with pytest.raises(StoreError):
            store.update(table, 1, {"id": keys[0]})
        assert ids(store.select(table, 1)) == keys

    def test_an_update_can_set_and_clear_an_absent_value(self, store):
        store.insert([make(ClaimRow, id="c", text="secret")])
        assert store.update(ClaimRow, 1, {"text": None, "valid_from": 5}) == 1
        (row,) = store.select(ClaimRow, 1)
        assert (row.text, row.valid_from) == (None, 5)

    # mistakes in a program

    @pytest.mark.parametrize(
        "where",
        [
            {"nothing": 1},
            {"id__like": 1},
            {"id__in": [1]},
            {"id": "1"},
            {"id": 1.5},
            {"id": b"1"},
            {"label": 1},
            {"label": b"a"},
            {"label__lt": None},
            {"id__lt": [1]},
            {"id": [1, None]},
            {"id": object()},
        ],
    )
    def test_a_condition_that_no_column_answers_is_a_type_error(self, store, where):
        store.insert(entities(1))
        for call in (store.select, store.count, store.delete):
            with pytest.raises(TypeError):
                call(EntityRow, 1, **where)
        with pytest.raises(TypeError):
            store.update(EntityRow, 1, {"label": "x"}, **where)
        with store.read(), pytest.raises(TypeError):
            list(store.iterate(EntityRow, 1, **where))
        assert store.count(EntityRow, 1, label="n1") == 1

    @pytest.mark.parametrize(
        "call",
        [
            lambda store: store.select(int, 1),
            lambda store: store.select(EntityRow, 1, order=("nothing",)),
            lambda store: store.insert([EntityRow(1, 1, "a", "b", 0), make(RejectedRow)]),
            lambda store: store.insert([(1, 2, 3)]),
            lambda store: store.update(EntityRow, 1, {}),
            lambda store: store.update(EntityRow, 1, {"scope": 2}),
            lambda store: store.update(EntityRow, 1, {"nothing": 2}),
            lambda store: store.update(EntityRow, 1, {"id": "a"}),
            lambda store: store.update(EntityRow, 1, {"label": None}),
            lambda store: store.insert([make(ClaimRow, id=5)]),
            lambda store: store.insert([make(ClaimRow, id="a", subject="5")]),
            lambda store: store.insert([make(ClaimRow, id="a", kind=None)]),
        ],
    )
    def test_a_wrong_table_column_or_value_is_a_type_error(self, store, call):
        with pytest.raises(TypeError):
            call(store)

    def test_a_negative_limit_is_a_value_error(self, store):
        with pytest.raises(ValueError, match="limit is -1"):
            store.select(EntityRow, 1, limit=-1)

    # scopes

    def test_scopes_are_made_found_changed_and_removed(self, store):
        first, second = store.create_scope("one"), store.create_scope("zwei ☃")
        assert first == ScopeRow(first.scope, "one", NEG_INF, 0)
        assert store.scope("zwei ☃") == second
        assert store.scope("ONE") is None
        assert store.scopes() == [first, second]
        store.update_scope(second._replace(last_recorded=12, entities=3, feed="é\n1"))
        assert store.scope("zwei ☃") == ScopeRow(second.scope, "zwei ☃", 12, 3, "é\n1")
        store.delete_scope(first.scope)
        assert store.scopes() == [ScopeRow(second.scope, "zwei ☃", 12, 3, "é\n1")]

    def test_a_scope_number_is_never_used_again(self, store):
        numbers = set()
        for _ in range(4):
            row = store.create_scope("again")
            assert row.scope not in numbers
            numbers.add(row.scope)
            store.delete_scope(row.scope)

    def test_a_taken_or_vanished_scope_is_a_store_error(self, store):
        row = store.create_scope("one")
        with pytest.raises(StoreError):
            store.create_scope("one")
        store.delete_scope(row.scope)
        with pytest.raises(StoreError):
            store.update_scope(row)

    # transactions

    def test_a_write_is_kept_wholly(self, store):
        with store.write():
            store.insert(entities(1))
            store.insert([make(AliasRow, key="a")])
            assert store.count(EntityRow, 1) == 1
        assert (store.count(EntityRow, 1), store.count(AliasRow, 1)) == (1, 1)

    @pytest.mark.parametrize("error", [Halt, KeyboardInterrupt, MemoryError, StoreCorrupt, GeneratorExit])
    def test_a_failed_write_leaves_nothing(self, store, error):
        store.insert([*entities(1, 2, label="old")])
        with pytest.raises(error), store.write():  # noqa: PT012  # what fails is the block
            store.insert(entities(3))
            store.update(EntityRow, 1, {"label": "new"}, id=1)
            store.delete(EntityRow, 1, id=2)
            store.insert(entities(1, label="newer"), replace=True)
            store.create_scope("gone")
            raise error
        assert [(row.id, row.label) for row in store.select(EntityRow, 1)] == [(1, "old"), (2, "old")]
        assert store.scopes() == []
        store.insert(entities(3))
        assert store.count(EntityRow, 1) == 3

    def test_a_nested_write_that_fails_undoes_its_own_part(self, store):
        with store.write():
            store.insert(entities(1))
            with pytest.raises(Halt), store.write():  # noqa: PT012  # what fails is the block
                store.insert(entities(2))
                with store.write():
                    store.insert(entities(3))
                store.delete(EntityRow, 1, id=1)
                raise Halt
            assert ids(store.select(EntityRow, 1)) == [1]
            with store.write():
                store.insert(entities(4))
        assert ids(store.select(EntityRow, 1)) == [1, 4]

    def test_an_outer_failure_undoes_nested_writes(self, store):
        with pytest.raises(Halt), store.write():  # noqa: PT012  # what fails is the block
            with store.write():
                store.insert(entities(1))
            raise Halt
        assert store.count(EntityRow, 1) == 0

    def test_reads_nest_in_reads_and_writes(self, store):
        with store.read(), store.read():
            assert store.count(EntityRow, 1) == 0
        with store.write():
            store.insert(entities(1))
            with store.read(), store.read():
                assert store.count(EntityRow, 1) == 1
            store.insert(entities(2))
        assert store.count(EntityRow, 1) == 2

    def test_a_read_can_not_begin_to_write(self, store):
        with store.read():
            for change in (
                lambda: store.write().__enter__(),
                lambda: store.insert(entities(1)),
                lambda: store.update(EntityRow, 1, {"label": "x"}),
                lambda: store.delete(EntityRow, 1),
                lambda: store.create_scope("x"),
            ):
                with pytest.raises(StoreError, match="write"):
                    change()
            assert store.count(EntityRow, 1) == 0
        store.insert(entities(1))
        assert store.count(EntityRow, 1) == 1

    def test_rows_are_iterated_only_inside_a_transaction(self, store):
        store.insert(entities(1))
        with pytest.raises(StoreError, match="transaction"):
            store.iterate(EntityRow, 1)
        with store.write():
            for row in store.iterate(EntityRow, 1):
                store.insert([make(AliasRow, key=row.label)])
        assert store.count(AliasRow, 1) == 1

    def test_an_unfinished_iteration_hinders_no_later_write(self, store):
        store.insert(entities(*range(2000)))
        with store.read():
            rows = store.iterate(EntityRow, 1)
            assert next(rows).id == 0
        with store.write():
            other = store.iterate(EntityRow, 1, order=("-id",))
            assert next(other).id == 1999
            store.insert([make(AliasRow, key="a")])
        store.insert(entities(5000))
        assert store.purge()
        assert store.count(EntityRow, 1) == 2001

    def test_threads_take_turns(self, store):
        row = store.create_scope("s")
        failures = []

        def work(number):
            try:
                for step in range(20):
                    with store.write():
                        now = store.scope("s")
                        store.update_scope(now._replace(entities=now.entities + 1))
                        store.insert([make(EntityRow, scope=row.scope, id=number * 100 + step)])
                    with store.read():
                        assert store.count(EntityRow, row.scope) == store.scope("s").entities
            except BaseException as error:  # noqa: BLE001  # told in the main thread
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures
        assert store.count(EntityRow, row.scope) == 80
        assert store.scope("s").entities == 80

    # the store as a whole

    def test_its_own_writes_do_not_change_the_version(self, store):
        before = store.version()
        store.insert(entities(1))
        assert store.version() == before

    def test_a_sound_store_has_nothing_to_report(self, store):
        store.insert([make(ClaimRow, id=str(n), text="é" * n) for n in range(50)])
        store.update(ClaimRow, 1, {"source": "x"}, id__lt="3")
        assert store.check() == []

    def test_a_purge_leaves_no_byte_of_deleted_rows(self, store):
        store.insert([make(ClaimRow, id=f"c{n}", text=f"needle{n:04} " * 5) for n in range(300)])
        store.delete(ClaimRow, 1, id__gt="c1")
        store.insert([make(ClaimRow, id="z", text="haystack")])
        assert store.purge() is True
        left = {row.text.split()[0].encode() for row in store.select(ClaimRow, 1)}
        gone = [needle for n in range(300) if (needle := b"needle%04d" % n) not in left]
        assert len(gone) > 250
        assert store.residue(gone) == []
        assert store.check() == []

    @pytest.mark.parametrize("call", ["purge", "close"])
    def test_care_of_the_whole_waits_for_the_end_of_a_transaction(self, store, call):
        for block in (store.read, store.write):
            with block(), pytest.raises(StoreError, match="transaction"):
                getattr(store, call)()
        store.insert(entities(1))
        assert store.count(EntityRow, 1) == 1

    def test_a_backup_is_a_store_with_the_same_rows(self, store, tmp_path):
        row = store.create_scope("one")
        claims = [make(ClaimRow, id=str(n), text="é", confidence=0.5) for n in range(9)]
        store.insert(claims)
        store.insert([make(PastFactRow, id="f"), make(PastFactRow, id="g")])
        copy = tmp_path / "copy.db"
        store.backup(copy)
        assert copy.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]
        other = open_store(copy)
        assert other.scopes() == [row]
        assert other.select(ClaimRow, 1) == claims
        assert other.check() == []
        other.close()

    def test_a_backup_overwrites_nothing(self, store, tmp_path):
        taken = tmp_path / "taken"
        taken.write_text("mine")
        for target in (taken, tmp_path, tmp_path / "absent" / "copy.db"):
            with pytest.raises(InputError):
                store.backup(target)
        assert taken.read_text() == "mine"
        assert not (tmp_path / "absent").exists()

    def test_a_closed_store_says_so(self, store):
        store.insert(entities(1))
        store.close()
        store.close()
        for call in (
            lambda: store.read().__enter__(),
            lambda: store.write().__enter__(),
            lambda: store.scope("x"),
            store.scopes,
            lambda: store.create_scope("x"),
            lambda: store.update_scope(make(ScopeRow)),
            lambda: store.delete_scope(1),
            lambda: store.select(EntityRow, 1),
            lambda: store.count(EntityRow, 1),
            lambda: store.insert(entities(2)),
            lambda: store.update(EntityRow, 1, {"label": "x"}),
            lambda: store.delete(EntityRow, 1),
            store.version,
            store.revision,
            store.check,
            lambda: store.backup(Path("nowhere")),
            store.purge,
            lambda: store.residue([b"x"]),
        ):
            with pytest.raises(StoreClosed):
                call()

    def test_wide_keys_and_many_columns_sort_alike(self, store):
        rows = [
            make(JustificationRow, claim=claim, justification=n, premise=premise)
            for claim in ("a", "Z", "é")
            for n in (0, 1)
            for premise in ("", "b")
        ]
        store.insert(rows)
        assert store.select(JustificationRow, 1) == sorted(rows)
        assert store.select(JustificationRow, 1, premise="b") == [row for row in sorted(rows) if row.premise]
        store.insert([make(TombstoneRow, id="t", counts="{}")])
        assert store.count(TombstoneRow, 1) == 1
