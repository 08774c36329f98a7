"""What was told beside a document that fits lifts it: against a comparison of every pair, whatever the pages."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph
from semgraph.index import tellings
from semgraph.index.pages import packed, unpacked
from semgraph.index.tellings import TOGETHER, Tellings, near

REFS = st.one_of(
    st.none(),
    st.sampled_from(["", "mail", "chat/", "a1", "9", "10", "11", "x" * 40]),
    st.builds("{}{}".format, st.sampled_from(["chat/D", "b/", ""]), st.integers(0, 30)),
)


def by_pairs(refs, documents, scores):
    """The scores with a quarter of the best neighbour's, found by looking at each pair."""
    counts = {ref: sum(refs[other] == ref for other in documents) for ref in refs}
    out = []
    for document, score in zip(documents, scores, strict=True):
        beside = [
            theirs
            for other, theirs in zip(documents, scores, strict=True)
            if other != document
            and refs[document]
            and refs[other] in set(near(refs[document]))
            and counts[refs[other]] <= TOGETHER
        ]
        out.append(score + 0.25 * max(beside, default=0))
    return out


@given(st.lists(st.tuples(REFS, st.floats(0.5, 9, width=32)), max_size=30), st.data())
def test_a_document_gets_a_quarter_of_its_best_neighbours_score(told, data):
    refs = [ref for ref, _ in told]
    documents = [n for n in range(len(told)) if data.draw(st.booleans())]
    scores = [told[n][1] for n in documents]
    whole, loaded = Tellings(), Tellings()
    cut = data.draw(st.integers(0, len(refs)))
    whole.add(refs[:cut])
    whole.add(refs[cut:])
    for first, last in ((0, cut), (cut, len(refs))):
        loaded.load(unpacked(packed(whole.page(first, last))))
    for index in (whole, loaded):
        lifted = index.lifted(np.array(documents, np.intp), np.array(scores, np.float32))
        assert lifted.tolist() == pytest.approx(by_pairs(refs, documents, scores), rel=1e-5)


def test_where_very_many_were_told_in_one_it_says_nothing():
    index = Tellings()
    index.add(["book"] * (TOGETHER + 1) + ["note"] * TOGETHER)
    scores = np.ones(len(index), np.float32)
    lifted = index.lifted(np.arange(len(index)), scores)
    assert set(lifted[: TOGETHER + 1].tolist()) == {1.0}
    assert set(lifted[TOGETHER + 1 :].tolist()) == {1.25}


def test_numbers_follow_each_other_however_they_are_padded():
    index = Tellings()
    index.add(["p/09", "p/10", "p/0099", "p/100"])
    assert index.lifted(np.arange(4), np.ones(4, np.float32)).tolist() == [1.25] * 4


def test_of_very_many_that_were_found_the_best_are_looked_at(monkeypatch):
    monkeypatch.setattr(tellings, "_BEST", 4)
    index = Tellings()
    index.add([f"c/{n}" for n in range(10)])
    scores = np.array([9, 8, 1, 1, 1, 1, 1, 1, 7, 6], np.float32)
    lifted = index.lifted(np.arange(10), scores)
    assert lifted.tolist() == pytest.approx([11, 10.25, 1, 1, 1, 1, 1, 1, 8.5, 7.75])


def test_an_answer_right_after_its_question_goes_before_the_same_words_elsewhere():
    with KnowledgeGraph(clock=lambda: datetime(2025, 1, 1, tzinfo=UTC), embedder=None) as graph:
        graph.add("Bo", "states", "the wedding was lovely", source_ref="c/7")
        graph.add("Ann", "states", "what did the caterer serve", source_ref="c/1")
        graph.add("Bo", "states", "the wedding served salmon", source_ref="c/2")
        graph.add("Bo", "states", "the wedding sold out", source_ref="d/9")
        channels = {"exact": 0, "graph": 0, "context": 0}
        found = [hit.fact.object.label for hit in graph.recall("caterer of the wedding", channels=channels)]
    assert found.index("the wedding served salmon") < found.index("the wedding was lovely")
    assert found.index("the wedding served salmon") < found.index("the wedding sold out")
