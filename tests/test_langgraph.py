"""The store for LangGraph against the real library: the same calls give what its own store gives."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING

import pytest
from histories import graph
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import InputError, KnowledgeGraph

if TYPE_CHECKING:
    from pathlib import Path

with warnings.catch_warnings():  # what the library warns of on the newest Python is its own business
    warnings.simplefilter("ignore")
    pytest.importorskip("langgraph.store.base", reason="needs the extra langgraph")
    from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
    from langgraph.store.memory import InMemoryStore

    from semgraph.extras.langgraph import GraphStore

PARTS = st.sampled_from(["users", "Users", "u/1", "a%b", "用户", "*", " x "])
NAMESPACES = st.lists(PARTS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "K", "user", "me", "a b", "a  b", "ключ", "~6b", "x" * 300, "-"])
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.dictionaries(st.sampled_from("abc"), SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
FILTERS = st.none() | st.dictionaries(
    st.sampled_from("abc"),
    SCALARS | st.fixed_dictionaries({"$gte": st.integers(-5, 5)}) | st.fixed_dictionaries({"$ne": st.integers(-5, 5)}),
    max_size=1,
)
PUTS = st.builds(PutOp, NAMESPACES, KEYS, VALUES | st.none())
MATCHES = st.lists(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(PARTS, max_size=2).map(tuple)), max_size=2
).map(tuple)


def plain(store, ops: list) -> list:
    """The results of reads without their times; those of a search in any order."""
    told = []
    for op, result in zip(ops, store.batch(ops), strict=True):
        if isinstance(op, SearchOp):
            told.append(sorted((repr(item.namespace), item.key, repr(item.value)) for item in result))
        elif isinstance(op, GetOp):
            told.append(None if result is None else (result.namespace, result.key, result.value))
        else:
            told.append(result)
    return told


@settings(max_examples=40)
@given(st.lists(st.lists(PUTS, max_size=4), max_size=4), NAMESPACES, KEYS, FILTERS, MATCHES)
def test_it_holds_what_the_store_of_the_library_holds(
    rounds: list, namespace: tuple, key: str, wanted: dict, match: tuple
):
    ours, theirs = GraphStore(graph()), InMemoryStore()
    for puts in rounds:
        assert ours.batch(puts) == theirs.batch(puts)
    seen = {(put.namespace, put.key) for puts in rounds for put in puts}
    ops = [GetOp(*each) for each in sorted(seen | {(namespace, key)})]
    ops += [SearchOp(namespace[:size], filter=wanted, limit=1000) for size in range(len(namespace) + 1)]
    assert plain(ours, ops) == plain(theirs, ops)
    held = {put.namespace for put in _last(rounds) if put.value is not None}
    listed = ours.batch([ListNamespacesOp(match, None, 1000)])[0]
    assert set(listed) == {one for one in theirs.batch([ListNamespacesOp(match, None, 1000)])[0] if one in held}
    assert ours._kg.verify() == []


def _last(rounds: list) -> list:
    found = {}
    for puts in rounds:
        found |= {(put.namespace, put.key): put for put in puts}
    return list(found.values())


def test_times_are_of_the_first_and_the_last_put():
    kg = KnowledgeGraph(embedder=None)
    store = GraphStore(kg)
    for value in ({"n": 1}, {"n": 2}, {"n": 2}, {"n": 1}):
        store.put(("a",), "k", value)
    item = store.get(("a",), "k")
    assert item.value == {"n": 1}
    assert item.created_at < item.updated_at
    first = item.created_at
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    store.put(("a",), "k", {"n": 1})
    assert store.get(("a",), "k").created_at > first


def test_what_was_put_before_is_history():
    kg = KnowledgeGraph(embedder=None)
    store = GraphStore(kg)
    store.put(("users", "Ann"), "home", {"city": "Oslo"})
    store.put(("users", "Ann"), "home", {"city": "Bergen"})
    store.delete(("users", "Ann"), "home")
    told = kg.scoped(store.scope_of(("users", "Ann"))).timeline("home")
    assert [(fact.object.label, fact.valid_to is None) for fact in told] == [
        ('{"city":"Oslo"}', False), ('{"city":"Bergen"}', False),
    ]  # fmt: skip


def test_namespaces_are_scopes_and_nothing_crosses():
    kg = KnowledgeGraph(embedder=None)
    kg.add("tea", "likes", "milk")
    store = GraphStore(kg)
    store.put(("a", "b"), "tea", {"x": "one"})
    store.put(("a/b",), "tea", {"x": "two"})
    assert store.get(("a", "b"), "tea").value == {"x": "one"}
    assert store.get(("a/b",), "tea").value == {"x": "two"}
    assert store.search(("a",), query="two")[0].value == {"x": "one"}
    assert store.list_namespaces(prefix=("a",)) == [("a", "b")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("a/b",)]
    assert [fact.object.label for fact in kg.facts()] == ["milk"]


def test_a_query_ranks_and_what_is_not_indexed_comes_last():
    store = GraphStore(KnowledgeGraph())
    store.put(("m",), "food", {"text": "Prefers spicy Thai curry for dinner"})
    store.put(("m",), "work", {"text": "Works on a compiler for Rust"})
    store.put(("m",), "hidden", {"text": "Rust compiler secrets"}, index=False)
    told = store.search(("m",), query="Rust compiler", limit=3)
    assert told[0].key == "work"
    assert told[0].score > 0
    assert {item.key: item.score for item in told}["hidden"] is None
    assert [item.key for item in store.search(("m",), query="Thai curry", limit=1)] == ["food"]
    assert len(store.search(("m",), query="Rust", limit=1, offset=1)) == 1


def test_it_works_asynchronously_and_in_a_compiled_graph():
    from langgraph.config import get_store
    from langgraph.graph import END, START, StateGraph

    store = GraphStore(KnowledgeGraph(embedder=None))

    async def run() -> list[str]:
        await store.aput(("u",), "a", {"text": "one"})
        await asyncio.gather(*(store.aput(("u",), f"k{n}", {"n": n}) for n in range(8)))
        assert (await store.aget(("u",), "k3")).value == {"n": 3}
        assert await store.alist_namespaces() == [("u",)]
        await store.adelete(("u",), "a")
        return sorted(item.key for item in await store.asearch(("u",), limit=20))

    assert asyncio.run(run()) == [f"k{n}" for n in range(8)]

    def node(state: dict) -> dict:
        store = get_store()
        store.put(("graph",), "seen", {"text": state["text"]})
        return {"text": store.get(("graph",), "seen").value["text"].upper()}

    builder = StateGraph(dict)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    assert builder.compile(store=store).invoke({"text": "hello"}) == {"text": "HELLO"}
    assert store.get(("graph",), "seen").value == {"text": "hello"}


def test_a_batch_is_one_transaction():
    store = GraphStore(graph())
    with pytest.raises(InputError):
        store.batch([PutOp(("a",), "x", {"n": 1}), PutOp(("a",), "y", {"n": object()})])
    assert store.search(("a",)) == []
    store.put(("a",), "x", {"n": 1})
    assert store.batch([PutOp(("a",), "x", {"n": 2}), GetOp(("a",), "x")])[1].value == {"n": 1}


def test_what_makes_no_sense_is_one_error():
    store = GraphStore(graph())
    with pytest.raises(InputError):
        store.batch(["get"])
    store.put(("a",), "x", {"n": 1})
    with pytest.raises(InputError, match="operator"):
        store.search(("a",), filter={"n": {"$near": 1}})
    with pytest.raises(InputError):
        store.put(("a",), "big", {"text": "x" * 70_000})
    with pytest.raises(NotImplementedError):
        store.put(("a",), "x", {"n": 1}, ttl=5)


def test_it_is_kept_in_a_file(tmp_path: Path):
    with KnowledgeGraph(tmp_path / "agent.db", embedder=None) as kg:
        GraphStore(kg).put(("a",), "k", {"n": [1, {"b": None}]})
    with KnowledgeGraph(tmp_path / "agent.db", embedder=None) as kg:
        assert GraphStore(kg).get(("a",), "k").value == {"n": [1, {"b": None}]}
        assert GraphStore(kg).list_namespaces() == [("a",)]
