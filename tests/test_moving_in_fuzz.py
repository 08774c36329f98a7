"""Mutated files of other memories: each is taken in or refused with a reason, and a refused one leaves nothing."""

from __future__ import annotations

import copy
import io
import json
from contextlib import suppress
from typing import Any

import pytest
from histories import Clock, graph
from hypothesis import given, settings
from hypothesis import strategies as st
from test_moving_in import ITEM, MEMORIES, NOTES, PLAIN, SAMPLE, TYPED, lines

import semgraph
from semgraph import ImportRejected
from semgraph.exchange.listening import conversation_of

CHAT = [
    {"role": "user", "content": "I own a boat.", "timestamp": 1700000000},
    {"role": "assistant", "content": "Nice!"},
]
FLAT = [{"conv": "c", "session": 1, "date_time": "1:56 pm on 8 May, 2023", "id": "D1:1", "speaker": "A", "text": "Hi"}]
DOCUMENTS = {
    "mem0": MEMORIES, "longmemeval": [ITEM], "locomo": [SAMPLE], "chat": CHAT,
    "memory": [*TYPED, *PLAIN],
}  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just([]) | st.just({})
ODD = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.text(max_size=4), LEAVES, max_size=2)


def places(node: Any, path: tuple = ()) -> list[tuple]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(found for key, value in inner for found in places(value, (*path, key)))]


def replaced(node: Any, path: tuple, value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(node)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def take(data: bytes, kind: str) -> None:
    kg = graph(clock=Clock("2025-01-01T00:00:00Z"))
    refused = None
    try:
        batch = semgraph.read(kg, io.BytesIO(data), format=kind)
    except ImportRejected as error:
        refused = error
    if refused is not None:
        assert refused.code
        assert "object has no attribute" not in str(refused)
        assert (list(kg.claims()), list(kg.entities()), list(kg.rejected())) == ([], [], [])
        return
    assert batch.total == sum(batch.counts.values())
    assert len(batch.rejected) == batch.counts.get("rejected", 0)
    assert kg.verify() == []


@pytest.mark.parametrize("kind", DOCUMENTS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_document_with_another_value_in_some_place(kind: str, data: st.DataObject):
    document = DOCUMENTS[kind]
    for _ in range(data.draw(st.integers(1, 2))):
        document = replaced(document, data.draw(st.sampled_from(places(document))), data.draw(ODD))
    if kind == "memory":
        take(lines(*(document if isinstance(document, list) else [document])), kind)
        return
    written = json.dumps(document).encode()
    take(written, kind)
    if kind not in ("mem0", "memory"):
        with suppress(ImportRejected):
            conversation_of(io.BytesIO(written), None, Clock()())


RAW = {
    "memory": lines(*TYPED, *PLAIN), "notes": NOTES.encode(), "locomo": lines(*FLAT), "chat": lines(*CHAT),
    "mem0": json.dumps(MEMORIES).encode(),
}  # fmt: skip


@pytest.mark.parametrize("kind", RAW)
@settings(max_examples=15)
@given(data=st.data())
def test_bytes_that_are_cut_doubled_or_changed(kind: str, data: st.DataObject):
    raw = RAW[kind]
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, min(len(raw), start + 200)))
    middle = data.draw(st.binary(max_size=8) | st.just(raw[start:end] * 2))
    take(raw[:start] + middle + raw[end:], kind)
