"""Every store against the one suite, and SQLite against the reference on random programs."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_conformance import Halt, StoreConformance, make

from semgraph.errors import ConfigError, StoreError
from semgraph.store import open_store
from semgraph.store.memory import MemoryStore
from semgraph.store.schema import ClaimRow, FactRow


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def store(self):
        with closing(MemoryStore()) as store:
            yield store


class TestSqliteInMemory(StoreConformance):
    @pytest.fixture
    def store(self):
        with closing(open_store(":memory:")) as store:
            assert store.path is None
            yield store


class TestSqliteFile(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path):
        with closing(open_store(tmp_path / "store.db")) as store:
            assert store.path == tmp_path / "store.db"
            yield store


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("postgresql://localhost/x", {}),
        ("postgres://localhost/x", {}),
        ("http://example.com/x.db", {}),
        ("", {}),
        ("a\0b", {}),
        ("a\udcffb", {}),
        (b"bytes.db", {}),
        (":memory:", {"read_only": True}),
        (":memory:", {"durability": "off"}),
    ],
)
def test_a_target_that_makes_no_sense_is_a_setting_error(target, options):
    with pytest.raises(ConfigError):
        open_store(target, **options)


def test_a_relative_path_stays_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(open_store("here.db")) as store:
        assert store.path == tmp_path / "here.db"
        monkeypatch.chdir("/")
        assert store.create_scope("s").name == "s"
        assert store.purge()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.db"]


def test_the_schema_alone_needs_no_driver():
    script = "import sys, semgraph.store, semgraph.store.memory, semgraph.store.schema; sys.exit('apsw' in sys.modules)"
    root = str(Path(__file__).parents[1])
    assert (
        subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": root}, check=False).returncode
        == 0
    )


# A small world, so that keys collide and conditions hit.
_NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 2, 2**63 - 1])
_TEXTS = st.sampled_from(["", "a", "b", "é", "a\0", "\U0001f600"])
_ABSENT = st.one_of(st.none(), _NUMBERS)


# Facts that follow from the claim of their id, as nearly all do, beside some that follow from nothing.
_IDS = st.one_of(_TEXTS, *[st.sampled_from(["0123456789abcdef01234567", "89abcdef0123456701234567"])] * 3)
_STARTS = st.one_of(*[st.sampled_from([0, 1])] * 4, _NUMBERS)
_SCOPES = st.sampled_from([1, 1, 1, 2])
_BODIES = ['{"c":["%s"],"f":0.5}', '{"c":["%s"],"p":[-9223372036854775808,5],"k":[7,2]}', '{"f":0.25}', "\x01", "%s"]


def _ends(draw, name):
    """Subject, predicate and object, for each id mostly the same ones."""
    if draw(st.integers(0, 3)):
        return {"subject": len(name), "predicate": "a", "object": f"e{len(name)}"}
    return {"subject": draw(_NUMBERS), "predicate": draw(_TEXTS), "object": draw(_TEXTS)}


def _facts(draw):
    name = draw(_IDS)
    body = draw(st.sampled_from(_BODIES))
    return make(
        FactRow, scope=draw(_SCOPES), id=name, **_ends(draw, name), valid_from=draw(_STARTS),
        valid_to=draw(st.sampled_from([2, 5, 2**63 - 1])), sys_to=draw(st.sampled_from([2**63 - 1] * 4 + [0])),
        disputed=draw(st.integers(0, 2)), body=body.replace("%s", name),
    )  # fmt: skip


def _claims(draw):
    name = draw(_IDS)
    return make(
        ClaimRow, scope=draw(_SCOPES), id=name, **_ends(draw, name), valid_from=draw(st.one_of(st.none(), _STARTS)),
        valid_to=draw(st.sampled_from([None, 2, 5])), said_at=draw(st.integers(0, 1)), confidence=0.5,
        text=draw(st.one_of(st.none(), _TEXTS)),
    )  # fmt: skip


_NUMERIC, _TEXTUAL = ("subject", "valid_from", "valid_to"), ("id", "predicate", "object")


@st.composite
def conditions(draw):
    where = {}
    for names, values in ((_NUMERIC, _NUMBERS), (_TEXTUAL, _TEXTS)):
        for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
            suffix = draw(st.sampled_from(["", "", "__lt", "__le", "__gt", "__ge", "in"]))
            if suffix == "in":
                where[name] = draw(st.lists(values, max_size=3))
            else:
                where[name + suffix] = draw(values)
    return where


def _told(draw):
    """A claim, and a fact that says no more than it, but for a word perhaps."""
    claim = _claims(draw)
    start = draw(st.sampled_from([claim.valid_from, claim.said_at, -(2**63)]))
    fact = _facts(draw)._replace(
        scope=claim.scope, id=claim.id, subject=claim.subject, predicate=claim.predicate, object=claim.object,
        valid_from=claim.said_at if start is None else start, sys_to=2**63 - 1,
        body=draw(st.sampled_from(_BODIES)).replace("%s", claim.id),
    )  # fmt: skip
    changes = draw(st.fixed_dictionaries({}, optional={"negative": st.just(1), "sys_from": st.just(3)}))
    return [claim], [fact._replace(**draw(st.sampled_from([{}, {}, {}, changes])))]


@st.composite
def steps(draw):
    table, row = draw(st.sampled_from([(FactRow, _facts), (ClaimRow, _claims)]))
    scope = draw(st.integers(1, 2))
    kinds = ["insert", "insert", "told", "told", "replace", "update", "delete", "select", "select", "fail"]
    kind = draw(st.sampled_from(kinds))
    if kind == "told":
        return kind, *_told(draw), draw(st.booleans())
    if kind in {"insert", "replace"}:
        return kind, [row(draw) for _ in range(draw(st.integers(0, 3)))]
    if kind == "fail":
        return kind, draw(st.lists(steps(), max_size=3)), draw(st.booleans())
    if kind == "update":
        changes = draw(
            st.fixed_dictionaries(
                {}, optional={"object": _TEXTS, "subject": _NUMBERS, "id": _IDS, "valid_to": _NUMBERS}
            )
        )
        return kind, table, scope, changes or {"object": "c"}, draw(conditions())
    columns = ["subject", "valid_from", "id", "-object", "-valid_from", "-valid_to"]
    order = tuple(draw(st.lists(st.sampled_from(columns), max_size=2)))
    limit = draw(st.one_of(st.none(), st.integers(0, 3)))
    return kind, table, scope, draw(conditions()), order, limit


def _run(store, step):
    """What the step gives, with an error as its type."""
    try:
        return _outcome(store, step)
    except StoreError as error:
        return type(error)


def _outcome(store, step):
    match step:
        case "insert", rows:
            return store.insert(rows)
        case "replace", rows:
            return store.insert(rows, replace=True)
        case "told", claims, facts, replace:
            store.insert(claims, replace=True)
            return store.insert(facts, replace=replace)
        case "update", table, scope, changes, where:
            return store.update(table, scope, changes, **where)
        case "delete", table, scope, where, _, _:
            return store.delete(table, scope, **where)
        case "select", table, scope, where, order, limit:
            return store.select(table, scope, order=order, limit=limit, **where), store.count(table, scope, **where)
        case "fail", inner, halts:
            results = []
            try:
                with store.write():
                    results = [_run(store, step) for step in inner]
                    if halts:
                        raise Halt  # noqa: TRY301  # leaves the block
            except Halt:
                results.append("halted")
            return results
    raise AssertionError(step)


@settings(max_examples=60)
@given(st.lists(steps(), min_size=1, max_size=12))
def test_sqlite_does_what_the_reference_does(program):
    with closing(open_store(":memory:")) as store, closing(MemoryStore()) as reference:
        for step in program:
            assert _run(store, step) == _run(reference, step)
        for table in (FactRow, ClaimRow):
            for scope in (1, 2):
                expected = reference.select(table, scope)
                assert store.select(table, scope) == expected
                with store.read():
                    assert [row for row in sorted(store.salvage(table)) if row.scope == scope] == sorted(expected)
        assert store.check() == []
