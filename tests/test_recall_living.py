"""Columns in memory only save recall looks at the store: with them and without, what is found is the same."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from histories import histories, tell_all, timed
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import KnowledgeGraph
from semgraph.index.keeping import Index
from semgraph.recall.corpus import MANY, Corpus
from semgraph.recall.library import library_of
from semgraph.recall.living import rows_at
from semgraph.walk.cut import Cut

PAST = "2012-06"


@pytest.fixture
def columns_at_once(monkeypatch):
    monkeypatch.setattr(Index, "_worth", lambda *_: True)


def now():
    return datetime(2025, 1, 1, tzinfo=UTC)


def cuts(kg):
    instant = kg._session.instant(PAST)
    far = kg._session.instant("2024-06")
    return [Cut(instant), Cut(far), Cut(), Cut(None, (instant, far)), Cut(None, (instant, instant + 1), cover=True)]


def check(kg):
    """Of every document: one that supports a fact of a cut is living in it; and entities are hubs alike."""
    with kg.reading() as reader:
        library = library_of(kg._session)
        documents = np.arange(len(library.text))
        for cut in cuts(kg):
            quick, slow = Corpus(reader, cut, 0.0), Corpus(reader, cut, 0.0)
            slow.columns = None
            if quick.columns is None:
                return
            living = quick.living(library)[documents]
            ids = [library.text.ids[document] for document in documents]
            found, again = slow.behind(ids), quick.behind(ids)
            alive = [document for document in documents.tolist() if living[document]]
            told = dict(zip(alive, quick.told(library, alive), strict=True))
            assert [{c.id for c in told.get(at, ())} for at in documents] == [{c.id for c in one} for one in found]
            for alive, one, other in zip(living, found, again, strict=True):
                assert {c.id for c in one} == {c.id for c in other}
                assert alive or not one
            entities = {end for facts in found for c in facts for end in c.ends}
            for entity in sorted(entities):
                assert [c.id for c in quick.at(entity)] == [c.id for c in slow.at(entity)]
                assert quick.is_hub(entity) == slow.is_hub(entity)
                rows = reader.rows(subject=entity, **cut.conditions())
                rows += reader.rows(object=f"e{entity}", **cut.conditions())
                assert len(rows_at(quick.columns, entity, cut)) == len({row.id for row in rows})


@pytest.mark.usefixtures("columns_at_once")
def test_what_supports_a_fact_is_living():
    @given(histories(most=7))
    @settings(max_examples=25, deadline=None)
    def run(calls):
        kg, clock = timed()
        with kg:
            for call in calls:
                tell_all(kg, clock, [call])
                check(kg)

    run()


@pytest.mark.usefixtures("columns_at_once")
def test_entities_that_are_merged_and_taken_apart_are_followed():
    with KnowledgeGraph(clock=now) as kg:
        for number in range(30):
            kg.add(f"P{number % 5}", "knows", f"Q{number % 7}", valid_from=str(2000 + number % 9))
        check(kg)
        for change in (
            lambda: kg.names.merge("P1", "P2"),
            lambda: kg.add("P1", "knows", "Zoe", valid_from="2003"),
            lambda: kg.names.merge("Q1", "P2"),
            lambda: kg.names.unmerge("P1"),
            lambda: kg.retract(next(kg.claims("P0"))),
            lambda: kg.forget(entity="Q3"),
            lambda: kg.add("New", "states", "something entirely new"),
        ):
            change()
            check(kg)


@pytest.mark.usefixtures("columns_at_once")
def test_a_document_whose_fact_comes_back_is_living_again():
    with KnowledgeGraph(clock=now) as kg:
        kg.add("Ann", "speaks", "Welsh")
        receipt = kg.add("Bo", "speaks", "Quechua")
        kg.retract(receipt)
        assert kg.recall("Quechua") == []
        kg.unretract(receipt)
        assert [hit.fact.label for hit in kg.recall("Quechua")] == ["Bo speaks Quechua"]


QUESTIONS = ("who does P1 know", "Q2 and P3", "red fox", "what happened in the barn", "P4")


@given(st.integers(0, 2**32), st.sampled_from([10, 150]))
@settings(max_examples=12, deadline=None)
def test_recall_finds_the_same_with_columns_and_without(seed, number):
    rng = np.random.default_rng(seed)
    things = [f"P{at}" for at in range(8)] + ["the red fox", "a barn", "the blue hen in the barn"]
    claims = [
        {
            "subject": f"P{rng.integers(8) if rng.random() < 0.6 else 1}",
            "predicate": str(rng.choice(["knows", "likes", "works_at", "married_to", "states"])),
            "object": str(rng.choice(things)) + (f" {rng.integers(40)}" if rng.random() < 0.7 else ""),
            "valid_from": str(rng.integers(2000, 2024)),
            "confidence": float(rng.choice([0.3, 0.6, 0.9])),
            "valid_to": str(rng.integers(2024, 2027)) if rng.random() < 0.3 else None,
        }
        for _ in range(number)
    ]

    def answers(*, worth):
        with pytest.MonkeyPatch.context() as patch, KnowledgeGraph(clock=now) as kg:
            patch.setattr(Index, "_worth", lambda *_: worth)
            kg.add_all(claims)
            views = (kg, kg.at(PAST), kg.during("2010", "2015"))
            found = [[(h.fact.label, h.score, h.why) for h in v.recall(q)] for v in views for q in QUESTIONS]
            kg.add("P1", "knows", "Zed", valid_from="2001")
            return found + [[(h.fact.label, h.score) for h in kg.recall(q)] for q in QUESTIONS]

    assert answers(worth=True) == answers(worth=False)


@pytest.mark.usefixtures("columns_at_once")
def test_a_hub_is_not_walked_from():
    with KnowledgeGraph(clock=now) as kg:
        kg.add_all({"subject": f"P{i}", "predicate": "lives_in", "object": "Oslo"} for i in range(MANY + 5))
        kg.add("Ann", "lives_in", "Oslo")
        found = kg.recall("Ann", channels={"exact": 0, "lexical": 0, "vector": 0, "graph": 1, "context": 0}, limit=30)
        assert [hit.fact.label for hit in found] == ["Ann lives_in Oslo"]
