"""The profile: the owner's facts that always matter, under a budget that cuts no fact and no conflict in half."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import InputError, KnowledgeGraph
from semgraph.profiling import byte_tokens
from semgraph.render import HEADER


def now():
    return datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def kg():
    with KnowledgeGraph(clock=now, embedder=None) as graph:
        graph.add("user", "name", "Maya Lindqvist")
        graph.add("me", "lives_in", "Oslo", said_at="2024-12-01", source="user")
        graph.add("the user", "lives_in", "Bergen", said_at="2024-12-01", source="tool:calendar")
        graph.add("I", "allergic_to", "nuts")
        graph.add("user", "allergic_to", "soy", confidence=0.3)
        graph.add("user", "works_at", "Stripe", valid_from="2020", valid_to="2022")
        graph.add("user", "speaks", "Finnish")
        graph.add("Anna", "lives_in", "Rome")
        yield graph


def labels(profile):
    return [fact.label for fact in profile.facts]


def test_the_owners_facts_that_hold_in_the_order_of_the_registry(kg):
    found = kg.profile()
    assert labels(found) == [
        "user name Maya Lindqvist",
        "user lives_in Oslo",
        "user lives_in Bergen",
        "user allergic_to nuts",
    ]
    assert found.more == 0
    assert str(found).startswith(HEADER)
    assert "contradict" in str(found)
    assert [fact.predicate for fact in kg.at("2021").profile().facts] == ["works_at"]


@settings(max_examples=200)
@given(st.integers(0, 200))
def test_no_fact_is_cut_and_no_conflict_comes_in_half(kg, budget):
    whole, found = kg.profile(), kg.profile(budget=budget)
    assert found.tokens == byte_tokens(str(found)) <= budget
    assert len(found.facts) + found.more == len(whole.facts)
    towns = {fact.object.label for fact in found.facts if fact.predicate == "lives_in"}
    assert towns in (set(), {"Oslo", "Bergen"})
    assert ("contradict" in str(found)) == bool(towns)
    lines = str(found).splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        line for line in str(whole).splitlines() if line.startswith("- ") and line in lines
    ]
    if found.facts:
        assert (lines[-1] == f"{found.more} more") == bool(found.more)
    assert str(kg.profile(budget=budget)) == str(found)


def test_the_counter_of_tokens_can_be_another(kg):
    def words(text):
        return len(text.split())

    found = kg.profile(budget=32, count=words)
    assert found.facts
    assert found.tokens == words(str(found)) <= 32


def test_a_scope_without_an_owner_has_an_empty_profile(kg):
    found = kg.scoped("other").profile()
    assert (str(found), found.facts, found.tokens, found.more) == ("", (), 0, 0)


@pytest.mark.parametrize("budget", [-1, 2.5, True, None, "400"])
def test_a_budget_is_a_whole_number(kg, budget):
    with pytest.raises(InputError):
        kg.profile(budget=budget)
