"""The tools for chat models: schemas that servers take, and calls that are answered whatever the model sends."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from histories import graph
from hypothesis import given
from hypothesis import strategies as st

from semgraph import InputError
from semgraph.extras.tools import Toolbox
from semgraph.serving.catalogue import TOOLS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_schemas_are_what_chat_completions_take():
    for schema in Toolbox(graph(), removing=True).schemas():
        function = schema["function"]
        assert (schema["type"], set(function)) == ("function", {"name", "description", "parameters"})
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
        assert 0 < len(function["description"]) <= 1024
        assert function["parameters"]["type"] == "object"
        assert json.loads(json.dumps(function)) == function
        assert not {"scope", "source"} & function["parameters"]["properties"].keys()


def test_they_are_the_tools_of_the_mcp_server():
    assert [one["function"]["name"] for one in Toolbox(graph(), removing=True).schemas()] == [one.name for one in TOOLS]
    reading = {one["function"]["name"] for one in Toolbox(graph(), writing=False).schemas()}
    assert reading == {one.name for one in TOOLS if one.read_only}


def test_a_call_writes_and_the_next_one_reads():
    kg = graph()
    box = Toolbox(kg)
    box.dispatch("add", {"subject": "Maya", "predicate": "works_at", "object": "Linear", "valid_from": "2023"})
    assert "Linear" in box.dispatch("about", '{"entity": "maya"}')
    [claim] = kg.claims("Maya")
    assert claim.source == "tool:agent"
    assert box.call("about", {"entity": "Maya"}).data["facts"]


def test_tool_calls_of_a_reply_are_answered_one_by_one():
    sent = '{"subject": "a", "predicate": "likes", "object": "tea"}'
    plain = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": sent}}
    made = SimpleNamespace(id="c2", function=SimpleNamespace(name="about", arguments='{"entity": "a"}'))
    first, second = Toolbox(graph()).answers([plain, made])
    assert (first["role"], first["tool_call_id"], second["tool_call_id"]) == ("tool", "c1", "c2")
    assert "tea" in second["content"]


@given(st.sampled_from([one.name for one in TOOLS]) | st.text(max_size=8), JSON | st.text(max_size=20))
def test_whatever_a_model_sends_is_answered_in_words(name: str, arguments: object):
    box = Toolbox(graph(), removing=True)
    sent = arguments if isinstance(arguments, (dict, str)) or arguments is None else json.dumps(arguments)
    told = box.dispatch(name, sent)
    assert isinstance(told, str)
    assert told


@pytest.mark.parametrize("arguments", ["", "{", "[]", "3", '"x"', "{" * 5000, {"subject": "a"}, {"nothing": 1}])
def test_bad_arguments_are_told(arguments: object):
    assert Toolbox(graph()).dispatch("add", arguments).startswith("error: bad_arguments")


def test_what_is_not_offered_can_not_be_called():
    box = Toolbox(graph(), only=["about"])
    assert box.dispatch("add", {"subject": "a", "predicate": "likes", "object": "b"}).startswith("error: no_tool")
    assert box.dispatch("forget", {"entity": "a"}).startswith("error: no_tool")
    with pytest.raises(InputError, match=r"as \['about'\]"):
        Toolbox(graph(), only="about")
    with pytest.raises(InputError, match="nothing"):
        Toolbox(graph(), only=["nothing"])
    with pytest.raises(InputError, match="forget"):
        Toolbox(graph(), only=["forget"])
