"""Vetoes: kept, listed, lifted."""

from __future__ import annotations

import pytest

from semgraph import InputError, KnowledgeGraph, NotFoundError, RejectedError


@pytest.fixture
def kg() -> KnowledgeGraph:
    kg = KnowledgeGraph()
    kg.veto(phrase="Project  Bluebird")
    kg.veto(entity="Bob")
    kg.veto(predicate="allergic to")
    return kg


def test_vetoes_are_listed_in_the_order_in_which_they_were_said(kg: KnowledgeGraph):
    assert [(veto.kind, veto.value) for veto in kg.vetoes] == [
        ("phrase", "project bluebird"),
        ("entity", "bob"),
        ("predicate", "allergic_to"),
    ]
    recorded = [veto.recorded_at for veto in kg.vetoes]
    assert recorded == sorted(recorded)


@pytest.mark.parametrize(
    ("lifted", "claim"),
    [
        ({"phrase": "project BLUEBIRD"}, ("Ann", "states", "it is Project Bluebird")),
        ({"entity": "BOB"}, ("Bob", "knows", "Ann")),
        ({"predicate": "allergic_to"}, ("Ann", "allergic_to", "nuts")),
    ],
)
def test_what_was_lifted_may_be_stored_again(kg: KnowledgeGraph, lifted: dict[str, str], claim: tuple[str, str, str]):
    with pytest.raises(RejectedError) as refused:
        kg.add(*claim)
    assert refused.value.code == "do_not_remember"
    kg.vetoes.lift(**lifted)
    assert kg.add(*claim).outcome == "new"
    assert len(list(kg.vetoes)) == 2


@pytest.mark.parametrize(
    "told",
    [
        {"qualifiers": {"why": "because of\tProject\tBluebird"}},
        {"qualifiers": {"project bluebird": "x"}},
        {"source": "tool:project bluebird"},
        {"source_ref": "project bluebird/17"},
    ],
)
def test_a_phrase_is_looked_for_in_all_that_is_told(kg: KnowledgeGraph, told: dict[str, object]):
    with pytest.raises(RejectedError) as refused:
        kg.add("Ann", "likes", "tea", **told)
    assert refused.value.code == "do_not_remember"


@pytest.mark.parametrize(
    "name",
    [
        lambda kg: kg.names.declare("Project Bluebird"),
        lambda kg: kg.names.declare("PB", label="project bluebird"),
        lambda kg: kg.names.alias("Project Bluebird", "Ann"),
        lambda kg: kg.names.alias("PB", "Project Bluebird"),
    ],
)
def test_a_vetoed_phrase_becomes_no_name(kg: KnowledgeGraph, name):
    with pytest.raises(RejectedError) as refused:
        name(kg)
    assert refused.value.code == "do_not_remember"
    assert list(kg.entities()) == []


def test_another_handle_sees_the_lifting(tmp_path):
    with KnowledgeGraph(tmp_path / "a.db") as first, KnowledgeGraph(tmp_path / "a.db") as second:
        first.veto(entity="Bob")
        with pytest.raises(RejectedError):
            second.add("Bob", "knows", "Ann")
        first.vetoes.lift(entity="Bob")
        assert second.add("Bob", "knows", "Ann").outcome == "new"


def test_lifting_what_is_not_vetoed_is_an_error(kg: KnowledgeGraph):
    with pytest.raises(NotFoundError, match="'Ann' is not vetoed"):
        kg.vetoes.lift(entity="Ann")
    with pytest.raises(InputError, match="exactly one"):
        kg.vetoes.lift()
    assert len(list(kg.vetoes)) == 3


def test_scopes_have_vetoes_of_their_own(kg: KnowledgeGraph):
    assert list(kg.scoped("other").vetoes) == []


def test_vetoes_are_part_of_an_export(kg: KnowledgeGraph, tmp_path):
    import semgraph

    semgraph.write(kg, tmp_path / "a.jsonl")
    copy = KnowledgeGraph()
    semgraph.read(copy, tmp_path / "a.jsonl")
    assert [veto.value for veto in copy.vetoes] == [veto.value for veto in kg.vetoes]
