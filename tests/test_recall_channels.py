"""The channels of recall one by one: meaning, words, what was told beside it; and their index, kept in step."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import ConfigError, InputError, KnowledgeGraph
from semgraph.embedding import default_embedder
from semgraph.index import vectors as vector_index
from semgraph.index.vectors import Vectors
from semgraph.recall.channels import Found, completed
from semgraph.recall.library import Library, library_of
from semgraph.recall.recency import Sentence, later_first

OFF = {"exact": 0, "lexical": 0, "vector": 0, "graph": 0, "time": 0, "context": 0}


def now():
    return datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def kg():
    with KnowledgeGraph(clock=now) as graph:
        yield graph


class Letters:
    """Counts letters; notes what it was given, and fails when told to."""

    id = "letters"
    dim = 26

    def __init__(self):
        self.given = []
        self.failing = False

    def encode(self, texts):
        if self.failing:
            raise OSError("no network")
        self.given += texts
        return np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32)


def told(hits):
    return [hit.fact.label for hit in hits]


# -- meaning


def test_meaning_finds_what_has_none_of_the_words(kg):
    kg.add("notes", "states", "the automobile needs new tires")
    kg.add("notes", "states", "lunch is served at noon")
    hits = kg.recall("car wheels", channels=OFF | {"vector": 1})
    assert told(hits)[0] == "notes states the automobile needs new tires"
    assert dict(hits[0].channels) == {"vector": 1}
    assert hits[0].why == "means something like it"
    assert kg.recall("car wheels", channels=OFF | {"lexical": 1}) == []


def test_what_has_nothing_to_do_with_the_question_is_not_found_by_meaning(kg):
    kg.add("Ann", "speaks", "Welsh")
    assert kg.recall("thermodynamics of black holes") == []


def test_without_an_embedder_there_is_no_vector_channel():
    with KnowledgeGraph(embedder=None, clock=now) as graph:
        graph.add("Ann", "speaks", "Welsh")
        (hit,) = graph.recall("Welsh")
        assert "vector" not in hit.channels


def test_an_embedder_of_ones_own_is_given_each_text_once():
    model = Letters()
    with KnowledgeGraph(embedder=model, clock=now) as graph:
        graph.add("Ann", "speaks", "Welsh")
        graph.scoped("other").add("Bo", "speaks", "Thai")
        assert model.given == []  # not while writing
        assert "vector" in graph.recall("welsh")[0].channels
        assert model.given == ["Ann speaks Welsh", "welsh"]
        graph.recall("welsh")
        assert model.given == ["Ann speaks Welsh", "welsh", "welsh"]


def test_recall_works_while_vectors_are_missing():
    model = Letters()
    with KnowledgeGraph(embedder=model, clock=now) as graph:
        model.failing = True
        graph.add("Ann", "speaks", "Welsh")
        (hit,) = graph.recall("Welsh")
        assert set(hit.channels) == {"exact", "lexical", "graph", "context"} & set(hit.channels)
        model.failing = False
        assert "vector" in graph.recall("Welsh")[0].channels


def test_vectors_of_another_length_are_refused():
    model = Letters()
    model.dim = 25
    with KnowledgeGraph(embedder=model, clock=now) as graph:
        graph.add("Ann", "speaks", "Welsh")
        with pytest.raises(ConfigError, match="'letters' says that its vectors have 25 dimensions"):
            graph.recall("Welsh")


@pytest.mark.parametrize("embedder", ["minilm", 3, object(), type("E", (), {"encode": len, "id": "x", "dim": 0})()])
def test_what_is_no_embedder_is_refused(embedder):
    with pytest.raises(ConfigError):
        KnowledgeGraph(embedder=embedder)


def test_the_table_that_ships_gives_rows_of_length_one_and_none_for_no_words():
    table = default_embedder()
    rows = table.encode(["a cup of tea", "", "北京", "x" * 200])
    assert rows.shape == (4, table.dim)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0], abs=1e-5)
    one = table.encode(["a cup of tea"])[0]
    assert one == pytest.approx(table.encode_weighted(dict.fromkeys(["a", "cup", "of", "tea"], 1.0)), abs=1e-5)


def test_signs_that_the_table_does_not_know_are_like_nothing():
    rows = default_embedder().encode(["\U0001f355", "x" * 101, "cake \U0001f355", "cake"])
    assert not rows[:2].any()
    assert (rows[2] == rows[3]).all()
    kg = KnowledgeGraph()
    kg.add("Bob", "likes", "\U0001f355")
    assert kg.recall("\U0001f600?") == []


def test_word_pieces_are_the_longest_that_fit():
    table = default_embedder()
    pieces = [
        next(piece for piece, at in table._pieces.items() if at == n) for n in table.pieces("Unaffable Café, 北京!")
    ]
    assert pieces == ["una", "##ffa", "##ble", "cafe", ",", "北", "京", "!"]


def test_the_first_pass_over_signs_finds_nearly_all_that_is_nearest(monkeypatch):
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(40, 256))
    rows = (centres[rng.integers(0, 40, 3000)] + rng.normal(size=(3000, 256))).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = Vectors(256)
    for start, end in ((0, 700), (700, 3000)):
        index.widen(end - start)
        index.put(np.arange(start, end), rows[start:end])
    found = 0
    for query in rows[:50]:
        exact = set(np.argsort(-(rows @ query))[:10].tolist())
        documents, cosines = index.nearest(query, 10)
        assert set(documents.tolist()) == exact
        assert cosines == pytest.approx(rows[documents] @ query, abs=1e-5)
        with monkeypatch.context() as patch:
            patch.setattr(vector_index, "_SIGNS_FROM", 0)
            found += len(exact & set(index.nearest(query, 10)[0].tolist()))
    assert found >= 0.9 * 50 * 10


# -- weights


@pytest.mark.parametrize(
    "channels",
    [{"smell": 1}, {"exact": -1}, {"exact": True}, {"exact": "x"}, {"vector": float("nan")}, {"time": 10**400}, 3],
)
def test_channels_and_weights_that_make_no_sense_are_refused(kg, channels):
    with pytest.raises(InputError):
        kg.recall("x", channels=channels)


@pytest.mark.parametrize("channel", ["exact", "lexical", "vector", "graph", "time", "context"])
def test_a_channel_can_be_switched_off(kg, channel):
    kg.add("Maya", "works_at", "Stripe", source_ref="m/1")
    kg.add("Maya", "speaks", "Finnish", source_ref="m/2")
    assert channel in kg.recall("Where does Maya work this year?")[0].channels
    for hit in kg.recall("Where does Maya work?", channels={channel: 0}):
        assert channel not in hit.channels


# -- what was told beside it


def test_what_was_told_right_after_what_fits_is_found(kg):
    for number, text in enumerate(["the boiler broke on Friday", "somebody comes to look", "unrelated chatter"], 7):
        kg.add("Ann", "states", text, source_ref=f"chat/{number:02d}")
    kg.add("Bo", "states", "quite another talk", source_ref="other/08")
    hits = kg.recall("boiler", channels=OFF | {"lexical": 1, "context": 0.5})
    assert told(hits) == ["Ann states the boiler broke on Friday", "Ann states somebody comes to look"]
    assert hits[1].why == "told beside one that fits"


# -- the later of two sentences


def test_of_two_sentences_about_the_same_the_later_said_comes_first(kg):
    kg.add_all(
        {"subject": "me", "predicate": "states", "object": f"quite another matter, number {i}"} for i in range(20)
    )
    kg.add("me", "states", "my record in the puzzle game is 120 points, hard won", said_at="2024-01-01")
    kg.add("me", "states", "my record in the puzzle game is 132 points now", said_at="2024-03-01")
    asked = "what is my record in the puzzle game, hard won"
    assert "132" in told(kg.recall(asked))[0]
    assert "120" in told(kg.at("2024-02").recall(asked))[0]


def test_later_sentences_move_up_only_among_what_is_alike():
    old, new = Sentence(1, 10, (1.0,)), Sentence(1, 20, (0.9,))
    weak, other = Sentence(1, 20, (0.1,)), Sentence(2, 20, (0.9,))
    assert later_first([old, None, new], lambda *_: 1.0) == [2, 1, 0]
    assert later_first([old, None, new], lambda *_: 0.1) == [0, 1, 2]
    assert later_first([old, weak, other], lambda *_: 1.0) == [0, 1, 2]
    first, second = Sentence(1, 1, (1.0,)), Sentence(1, 2, (1.0,))
    assert later_first([second, None, first, new, weak], lambda *_: 1.0) == [3, 1, 0, 2, 4]


# -- in step


def test_what_is_undone_leaves_nothing_to_be_found(kg):
    kg.add("Ann", "speaks", "Welsh")

    def half_done():
        with kg.atomic():
            kg.add("Bo", "speaks", "Quechua")
            assert told(kg.recall("Quechua")) == ["Bo speaks Quechua"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_done()
    assert kg.recall("Quechua") == []
    assert told(kg.recall("Welsh")) == ["Ann speaks Welsh"]


def test_what_was_retracted_is_found_again_when_the_withdrawal_is_taken_back(kg):
    receipt = kg.add("Bo", "speaks", "Quechua")
    assert kg.recall("Quechua")
    kg.retract(receipt)
    assert kg.recall("Quechua") == []
    kg.unretract(receipt)
    assert kg.recall("Quechua")


def test_nothing_of_what_was_forgotten_is_left_in_memory(kg):
    kg.add("Ann", "speaks", "Welsh")
    kg.add("Bo", "states", "the zanzibar code is quagga")
    assert kg.recall("zanzibar")
    kg.forget(entity="Bo")
    assert kg.recall("zanzibar quagga Bo") == []
    library = kg._session.libraries["default"]
    assert isinstance(library, Library)
    assert len(library.text) == len(library.vectors) == 1
    assert not {"zanzibar", "quagga", "bo"} & library.text._terms.keys()


def test_another_handles_writes_are_found(tmp_path):
    path = tmp_path / "notes.db"
    with KnowledgeGraph(path, clock=now) as one, KnowledgeGraph(path, clock=now) as two:
        one.add("Ann", "speaks", "Welsh")
        assert told(two.recall("Welsh")) == ["Ann speaks Welsh"]
        one.add("Bo", "speaks", "Welsh")
        assert sorted(told(two.recall("Welsh"))) == ["Ann speaks Welsh", "Bo speaks Welsh"]
        one.forget(entity="Ann")
        assert told(two.recall("Welsh")) == ["Bo speaks Welsh"]


def test_what_one_channel_came_upon_counts_by_how_well_it_fits_in_the_others():
    words = {"fox": 3.0, "hen": 1.0}
    documents = {"vixen": 7, "stone": 8}
    found = Found(words, lambda some: np.where(some == 7, np.float32(0.5), np.float32(0)))
    corpus = SimpleNamespace(documents=documents)
    assert completed(corpus, found, ["fox", "vixen", "stone", "seen by nobody"]) == {**words, "vixen": 0.5}


def test_a_name_with_very_many_facts_is_a_hint_and_no_order(kg):
    kg.add_all({"subject": "Ann", "predicate": "knows", "object": f"P{i}"} for i in range(120))
    kg.add("Bo", "states", "Ann adores the zebra enclosure")
    assert told(kg.recall("which animal enclosure does Ann adore"))[0] == "Bo states Ann adores the zebra enclosure"


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["red fox", "blue fox", "red hen"])), max_size=8))
def test_the_library_is_the_same_however_it_grew(claims):
    with KnowledgeGraph(clock=now) as graph, KnowledgeGraph(clock=now) as other:
        for subject, text in claims:
            for each in (graph, other):
                each.add(subject, "states", text, said_at="2024-01-01", source_ref=subject)
            graph.recall("fox")
        found, again = (
            {hit.fact.label: hit.score for hit in each.recall("red fox", limit=20)} for each in (graph, other)
        )
        assert found == pytest.approx(again)
        if claims:
            with graph.reading():
                assert len(library_of(graph._session).text) == len(list(graph.claims()))
