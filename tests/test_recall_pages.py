"""What recall keeps in the store: pages of words, vectors of a model. Nothing depends on it, and forget clears it."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semgraph
from semgraph import ConfigError, KnowledgeGraph, exchange
from semgraph.embedding import default_embedder
from semgraph.index import vectors as vector_index
from semgraph.index.idents import Idents
from semgraph.index.pages import packed, unpacked
from semgraph.index.summed import Sums
from semgraph.index.text import TextIndex
from semgraph.recall import embedded, library, shelving
from semgraph.recall.channels import _falling
from semgraph.store import open_store
from semgraph.store.schema import ClaimRow, PageRow, VectorRow

WORDS = ["red", "blue", "fox", "hen", "runs", "sleeps", "in", "barn", "of", "Ann", "near", "Oslo", "7", "zoë", "北京"]


def now():
    return datetime(2025, 1, 1, tzinfo=UTC)


def opened(path, **options):
    return KnowledgeGraph(path, clock=now, durability="relaxed", **options)


def sentences(number, start=0):
    rng = np.random.default_rng(start)
    return [
        {"subject": f"P{i % 7}", "predicate": "states", "object": f"{' '.join(rng.choice(WORDS, 5))} x{i}"}
        for i in range(start, start + number)
    ]


def answers(graph, *questions):
    questions = questions or ("red fox near Oslo", "P3 sleeps", "x5", "北京")
    return [[(hit.fact.id, hit.score, dict(hit.channels)) for hit in graph.recall(q)] for q in questions]


def pages(path):
    with closing(open_store(path)) as store:
        return store.select(PageRow, 1)


def stored_vectors(path):
    with closing(open_store(path)) as store:
        return {row.claim: row for row in store.select(VectorRow, 1)}


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(shelving, "_WORTH", 8)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notes.db"


@pytest.fixture
def read_claims(monkeypatch):
    """The sentences that were made of claims since."""
    made = []

    def spelled(*parts):
        made.append(parts)
        return library_spelled(*parts)

    library_spelled = library.spelled
    monkeypatch.setattr(library, "spelled", spelled)
    return made


# -- arrays as bytes

KINDS = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64, np.int64, np.float32])


@given(st.dictionaries(st.text("abc_", min_size=1), st.tuples(KINDS, st.lists(st.integers(0, 255))), max_size=4))
def test_arrays_come_back_as_they_were(told):
    arrays = {name: np.array(numbers, kind) for name, (kind, numbers) in told.items()}
    found = unpacked(packed(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_damaged_byte_is_noticed_or_harmless(place, change):
    """A sum of zlib stands behind each array, and the head says how long each is."""
    arrays = {"a": np.arange(50, dtype=np.uint32), "b": np.arange(20, dtype=np.float32)}
    whole = packed(arrays)
    place %= len(whole)
    damaged = whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :]
    try:
        found = unpacked(damaged)
    except ValueError:
        return
    named = {name: array.tolist() for name, array in found.items()}
    assert sorted(map(str, named.values())) == sorted(str(array.tolist()) for array in arrays.values()) or place < 80


@pytest.mark.parametrize(
    "payload", [b"", b"abc", b"\x00\x00\x00\x00", b"\xff\xff\xff\xff{}", b"\x02\x00\x00\x00[]more"]
)
def test_what_is_no_page_is_refused(payload):
    with pytest.raises(ValueError):  # noqa: PT011 - in whatever words
        unpacked(payload)


def test_an_array_that_says_it_is_larger_than_it_is_takes_no_room():
    page = bytearray(packed({"a": np.zeros(10, np.uint8)}))
    huge = bytes(page).replace(b'"|u1", 10,', b'"|u1", 99,')
    assert huge != bytes(page)
    with pytest.raises(ValueError, match="another length"):
        unpacked(huge)


# -- identifiers, words and vectors, by page

NAMES = st.one_of(st.binary(min_size=12, max_size=12).map(bytes.hex), st.text("abc#1", min_size=1, max_size=30))


@given(st.lists(NAMES, unique=True, max_size=12), st.data())
def test_identifiers_are_kept_whatever_their_form(names, data):
    cut, first = data.draw(st.integers(0, len(names))), data.draw(st.integers(0, len(names)))
    kept = Idents()
    kept.extend(names[:cut])
    kept.extend(names[cut:])
    assert [kept[number] for number in range(len(kept))] == names
    again = Idents()
    again.extend(names[:first])
    again.load(kept.page(first, len(names)))
    assert [again[number] for number in range(len(again))] == names


DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=20)


@given(DOCUMENTS, st.data())
def test_an_index_loaded_from_pages_scores_as_the_one_that_they_are_of(documents, data):
    cut = data.draw(st.integers(0, len(documents)))
    whole, loaded = TextIndex(), TextIndex()
    whole.add((f"{n:024x}", n, n - 1, own) for n, own in enumerate(documents))
    for first, last in ((0, cut), (cut, len(documents))):
        loaded.load(unpacked(packed(whole.page(first, last))))
    assert loaded.subject.tolist() == whole.subject.tolist()
    assert loaded.object.tolist() == whole.object.tolist()
    assert [loaded.ids[n] for n in range(len(loaded))] == [whole.ids[n] for n in range(len(whole))]
    for groups in ([["red"]], [["fox", "hen"], ["7"]], [[word] for word in WORDS]):
        (documents_found, scores), (again, others) = whole.scores(groups), loaded.scores(groups)
        assert again.tolist() == documents_found.tolist()
        assert others == pytest.approx(scores, rel=1e-5)


def test_like_documents_score_alike_whenever_they_were_read():
    index, page = TextIndex(), TextIndex()
    page.add((f"{n:024x}", 0, 0, ["fox", "hen"]) for n in range(3))
    index.load(unpacked(packed(page.page(0, 3))))
    index.add((f"{n:024x}", 0, 0, ["fox", "hen", *["barn"] * n]) for n in (0, 40))
    found, scores = index.scores([["fox"]])
    assert found.tolist() == [0, 1, 2, 3, 4]
    assert len(set(scores.tolist()[:4])) == 1 > scores[4] / scores[0]


@given(st.permutations(range(12)), st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_equal_documents_come_in_the_order_of_their_claims(order, scores):
    ids = Idents()
    ids.extend([f"{n * 7919 % 251:024x}"[::-1] for n in order])
    told = np.array([scores[n] for n in order], np.float32)
    found = [(ids[document], score) for document, score in _falling(ids, np.arange(12), told)]
    assert found == sorted(found, key=lambda one: (-one[1], one[0]))


def test_sums_have_the_cosines_of_the_vectors_that_they_stand_for(monkeypatch):
    table = default_embedder()
    texts = [claim["object"] for claim in sentences(600)] + ["", "   "]
    rows = table.encode(texts)
    sums = Sums(table)
    sums.add(texts[:100])
    sums.add(texts[100:])
    loaded = Sums(table)
    for first, last in ((0, 333), (333, len(texts))):
        loaded.load(unpacked(packed(sums.page(first, last))))
    query = table.encode(["a fox in Oslo"])[0]
    for index in (sums, loaded):
        assert len(index) == len(texts)
        documents, cosines = index.nearest(query, 10)
        assert cosines == pytest.approx(rows[documents] @ query, abs=1e-5)
        assert min(cosines) >= np.sort(rows @ query)[-10] - 1e-5
        some = np.array([3, 601, 400, 3])
        assert index.vectors(some) == pytest.approx(rows[some], abs=1e-5)
        assert index.alike(3, 4) == pytest.approx(float(rows[3] @ rows[4]), abs=1e-5)
        monkeypatch.setattr(vector_index, "_SIGNS_FROM", 0)
        near, _ = index.nearest(query, 10)
        assert len(set(near.tolist()) & set(np.argsort(-(rows @ query))[:10].tolist())) >= 9
        monkeypatch.undo()


@pytest.mark.parametrize("change", ["sizes", "ids", "words", "ends", "pieces", "lengths", "signs", "steps"])
def test_a_page_whose_parts_do_not_fit_is_refused(change):
    text, sums = TextIndex(), Sums(default_embedder())
    text.add((f"{n:024x}", n, -1, ["fox", f"x{n}"]) for n in range(4))
    sums.add(["red fox"] * 4)
    page = text.page(0, 4) | sums.page(0, 4)
    page[change] = page[change][:-1] if change != "steps" else page[change] + np.uint32(9)
    with pytest.raises(ValueError):  # noqa: PT011, PT012 - either notices
        TextIndex().load(page)
        Sums(default_embedder()).load(page)


# -- pages in the store


def test_pages_of_the_table_of_before_are_made_anew(path, small_pages):
    with opened(path) as graph:
        graph.add_all(sentences(40))
        first = answers(graph)
    with closing(open_store(path)) as store, store.write():
        (page,) = store.select(PageRow, 1)
        store.delete(PageRow, 1)
        store.insert([page._replace(model="static256", payload=b"of other vectors")])
    with opened(path) as graph:
        assert answers(graph) == first
    assert [(row.model, row.payload) for row in pages(path)] == [("static256.2", page.payload)]


@pytest.mark.parametrize("embedder", ["default", None])
def test_a_cold_start_reads_pages_in_place_of_claims(path, small_pages, read_claims, embedder):
    with opened(path, embedder=embedder) as graph:
        graph.add_all(sentences(40))
        first = answers(graph)
        assert len(read_claims) == 40
        assert answers(graph) == first
    assert [row.model for row in pages(path)] == ["static256.2" if embedder else ""]
    read_claims.clear()
    with opened(path, embedder=embedder) as graph:
        assert answers(graph) == first
        assert read_claims == []
        graph.add("P1", "states", "the red fox naps x99")
        assert "P1 states the red fox naps x99" in [hit.fact.label for hit in graph.recall("x99")]
        assert len(read_claims) == 1


def test_little_is_kept_nowhere(path):
    with opened(path) as graph:
        graph.add_all(sentences(40))
        answers(graph)
    assert pages(path) == []


def test_small_pages_are_written_anew_with_what_comes_later(path, small_pages):
    with opened(path) as graph:
        for start in range(0, 400, 10):
            graph.add_all(sentences(10, start))
            graph.recall("fox")
    found = pages(path)
    assert 1 <= len(found) <= 7
    assert all(a.until == b.since for a, b in pairwise(found))
    with opened(path) as graph, opened(":memory:") as fresh:
        fresh.add_all(claim for start in range(0, 400, 10) for claim in sentences(10, start))
        found, again = ([sorted(hit.fact.label for hit in g.recall("red fox x77"))] for g in (graph, fresh))
        assert found == again


def test_a_store_that_is_only_read_is_not_written(path, small_pages):
    with opened(path) as graph:
        graph.add_all(sentences(40))
    with opened(path, read_only=True) as graph:
        assert answers(graph)
    assert pages(path) == []


def test_nothing_is_kept_of_what_may_be_undone(path, small_pages):
    with opened(path) as graph:
        with pytest.raises(RuntimeError), graph.atomic():  # noqa: PT012
            graph.add_all(sentences(40))
            assert graph.recall("x5")
            raise RuntimeError
        assert graph.recall("x5") == []
        assert pages(path) == []


def test_another_writer_is_not_waited_for(path, small_pages):
    with opened(path) as graph, opened(path) as other:
        graph.add_all(sentences(40))
        with other.atomic():
            other.add("Bo", "states", "something")
            assert graph.recall("red fox")
        assert graph.recall("red fox")
    assert len(pages(path)) == 1


def test_two_handles_keep_one_set_of_pages(path, small_pages, read_claims):
    with opened(path) as one, opened(path) as two:
        one.add_all(sentences(40))
        first = answers(one)
        assert answers(two) == first
        two.add_all(sentences(40, 40))
        one.recall("fox")
        two.recall("fox")
        assert {hit.fact.label for hit in one.recall("x77")} == {hit.fact.label for hit in two.recall("x77")}
    with opened(path) as graph:
        read_claims.clear()
        assert graph.recall("x77")
        assert read_claims == []


@pytest.mark.parametrize("payload", [b"", b"abc", "cut", "swapped"])
def test_a_damaged_page_is_made_anew(path, small_pages, payload):
    with opened(path) as graph:
        graph.add_all(sentences(40))
        first = answers(graph)
    with closing(open_store(path)) as store:
        (page,) = store.select(PageRow, 1)
        arrays = unpacked(page.payload)
        swapped = packed({name: array for name, array in arrays.items() if name != "steps"})
        damaged = {"cut": page.payload[:-1], "swapped": swapped}.get(payload, payload)
        store.update(PageRow, 1, {"payload": damaged}, since=page.since)
    with opened(path) as graph:
        assert answers(graph) == first
        assert graph.verify() == []


def test_an_export_has_neither_pages_nor_vectors(path, small_pages, tmp_path):
    with opened(path, embedder=Letters()) as graph:
        graph.add_all(sentences(20))
        graph.recall("fox")
        semgraph.write(graph, tmp_path / "out.jsonl")
        graph.recall("hen")
    text = (tmp_path / "out.jsonl").read_text("utf-8")
    assert '"page"' not in text
    assert '"vector"' not in text
    with opened(":memory:") as again:
        semgraph.read(again, tmp_path / "out.jsonl")
        assert len(list(again.claims())) == 20


# -- forgetting


def test_of_what_is_forgotten_no_page_and_no_vector_is_left(path, small_pages):
    model = Letters()
    with opened(path) as graph, opened(path, embedder=model) as other:
        graph.add_all(sentences(30))
        graph.recall("fox")
        secret = graph.add("Bo", "states", "the zanzibar code is quagga")
        graph.add_all(sentences(30, 30))
        graph.recall("zanzibar")
        other.recall("zanzibar")
        before = pages(path)
        held = [row for row in before if b"quagga" in unpacked(row.payload)["terms"].tobytes()]
        vector = stored_vectors(path)[secret.claim.id].vector
        assert held
        assert held[0].payload[:40] in path.read_bytes() + path.with_name("notes.db-wal").read_bytes()
        report = graph.forget(claim=secret)
        assert report.purged, report.pending
        data = b"".join(place.read_bytes() for place in path.parent.iterdir())
        assert all(row.payload[:40] not in data and row.payload[-40:] not in data for row in held)
        assert vector not in data
        assert secret.claim.id not in stored_vectors(path)
        assert graph.recall("zanzibar quagga") == []
        assert not any("quagga" in hit.fact.label for hit in other.recall("zanzibar quagga"))
        for row in pages(path):
            assert b"quagga" not in unpacked(row.payload)["terms"].tobytes()
        assert len(graph.recall("x55")) == len(other.recall("x55")) > 0


def test_pages_of_other_times_outlive_a_forgetting(path, small_pages, read_claims):
    with opened(path) as graph:
        for start in (0, 100, 140):
            graph.add_all(sentences(100 if not start else 40 if start == 100 else 10, start))
            graph.recall("fox")
        kept = pages(path)
        last = graph.add("Bo", "states", "the zanzibar code")
        graph.forget(claim=last)
        assert pages(path)[0] == kept[0]
    read_claims.clear()
    with opened(path) as graph:
        assert graph.recall("x7")
        assert len(read_claims) <= 10


def test_as_many_claims_restored_by_another_are_not_taken_for_those_before(path, tmp_path):
    export = tmp_path / "others.jsonl"
    with closing(opened(tmp_path / "others.db")) as others:
        others.add_all(sentences(5, start=50))
        exchange.write(others, export)
    with closing(opened(path)) as graph, closing(opened(path)) as other:
        graph.add_all(sentences(5))
        assert answers(graph, "P1")[0]
        other.forget(everything=True)
        exchange.read(other, export)
        with closing(opened(path)) as fresh:
            assert answers(graph, "P1") == answers(fresh, "P1") != [[]]


def test_forgetting_everything_leaves_no_page(path, small_pages):
    with opened(path) as graph:
        graph.add_all(sentences(30))
        graph.recall("fox")
        graph.forget(everything=True)
        assert pages(path) == []
        assert graph.recall("fox") == []


# -- vectors of a model


class Letters:
    """Counts letters; notes how many texts it was given, and fails when told to."""

    dim = 26

    def __init__(self, name="letters", shift=0):
        self.id = name
        self.shift = shift
        self.given = []
        self.fails_after = None

    def encode(self, texts):
        if self.fails_after is not None and len(self.given) >= self.fails_after:
            raise OSError("no network")
        self.given += texts
        rows = [[text.lower().count(chr(97 + (i + self.shift) % 26)) for i in range(26)] for text in texts]
        return np.array(rows, np.float32)


def test_a_cold_start_embeds_nothing_again(path):
    with opened(path, embedder=Letters()) as graph:
        graph.add_all(sentences(300))
        first = answers(graph)
    model = Letters()
    with opened(path, embedder=model) as graph:
        assert answers(graph, "red fox near Oslo")[0] == first[0]
        assert model.given == ["red fox near Oslo"]
        graph.add("P1", "states", "a new one")
        graph.recall("x5")
        assert model.given[1:] == ["P1 states a new one"[len("P1 states ") :], "x5"]
    assert len(stored_vectors(path)) == 301


def test_a_stored_vector_says_of_which_model_it_is_and_has_length_one(path):
    with opened(path, embedder=Letters()) as graph:
        graph.add("Ann", "speaks", "Welsh")
        graph.add("Ann", "age", "7 9 4", text="1234")
        graph.recall("Welsh")
    rows = stored_vectors(path).values()
    assert {(row.model, row.dim, len(row.vector)) for row in rows} == {("letters", 26, 52)}
    for row in rows:
        assert np.linalg.norm(np.frombuffer(row.vector, np.float16).astype(np.float32)) == pytest.approx(1, abs=1e-3)


def test_vectors_of_several_models_are_not_compared(path):
    with opened(path, embedder=Letters()) as graph:
        graph.add("Ann", "speaks", "Welsh")
        graph.recall("Welsh")
    with opened(path, embedder=Letters("others", 3)) as graph:
        for _ in range(2):
            with pytest.raises(ConfigError, match=r"made by 'letters' with 26 .* now 'others' .*`semgraph reembed`"):
                graph.recall("Welsh")
        assert graph.reembed() == 1
        assert graph.recall("Welsh")
    with opened(path, embedder=Letters()) as graph, pytest.raises(ConfigError, match="made by 'others'"):
        graph.recall("Welsh")
    for embedder in ("default", None):  # neither compares anything with what is stored
        with opened(path, embedder=embedder) as graph:
            assert graph.recall("Welsh")


def test_reembedding_goes_on_where_it_stopped_and_says_how_far_it_is(path, monkeypatch):
    monkeypatch.setattr(embedded, "_AT_A_TIME", 10)
    seen = []
    model = Letters("new")
    with opened(path, embedder=model) as graph:
        graph.add_all(sentences(45))
        model.fails_after = 30
        with pytest.raises(
            ConfigError, match=r"'new' failed \(OSError: no network\); 30 vectors were made and are kept"
        ):
            graph.reembed()
        model.fails_after = None
        assert graph.reembed(progress=lambda done, total: seen.append((done, total))) == 15
        assert seen == [(30, 45), (40, 45), (45, 45)]
        assert graph.reembed() == 0
        assert len(model.given) == 45
        assert graph.recall("red fox")
        assert len(model.given) == 46


def test_with_the_table_that_ships_no_vector_is_stored(path):
    with opened(path, embedder=Letters()) as graph:
        graph.add_all(sentences(5))
        graph.recall("fox")
    assert len(stored_vectors(path)) == 5
    with opened(path) as graph:
        assert graph.reembed() == 0
        assert graph.recall("fox")
    assert stored_vectors(path) == {}


def test_recall_gives_a_slow_model_so_many_texts_and_works_without_the_rest(path, monkeypatch):
    monkeypatch.setattr(embedded, "_AT_A_TIME", 10)
    monkeypatch.setattr(embedded, "_A_RECALL", 20)
    model = Letters()
    with opened(path, embedder=model) as graph:
        graph.add_all(sentences(45))
        assert graph.recall("x44")[0].fact.label.endswith("x44")
        assert len(model.given) == 21
        graph.recall("x44")
        graph.recall("x44")
        assert len(model.given) == 48
    assert len(stored_vectors(path)) == 45


def test_no_vector_is_stored_of_what_was_forgotten_while_the_model_was_at_it(path):
    class Slow(Letters):
        def encode(self, texts):
            if len(texts) > 1:
                with opened(path) as other:
                    other.forget(entity="Bo")
            return super().encode(texts)

    with opened(path, embedder=Slow()) as graph:
        graph.add("Ann", "speaks", "Welsh")
        secret = graph.add("Bo", "speaks", "Quechua")
        graph.recall("Welsh")
        assert len(list(graph.claims())) == 1
    assert secret.claim.id not in stored_vectors(path)
    assert len(stored_vectors(path)) <= 1


def test_a_model_is_never_called_inside_a_transaction(path):
    seen = []

    class Watching(Letters):
        def encode(self, texts):
            with opened(path, embedder=None) as other:
                other.add("W", "states", f"seen {len(seen)}")  # it would wait for a writer, and time out
            seen.append(len(texts))
            return super().encode(texts)

    with opened(path, embedder=Watching()) as graph:
        graph.add_all(sentences(5))
        assert graph.recall("fox")
        graph.reembed()
    assert len(seen) >= 3


def test_a_vector_without_numbers_is_none_and_not_asked_for_again(path):
    class Broken(Letters):
        def encode(self, texts):
            rows = super().encode(texts)
            rows[["broken" in text for text in texts]] = np.nan
            return rows

    model = Broken()
    with opened(path, embedder=model) as graph:
        graph.add("Ann", "states", "the broken kettle")
        graph.add("Ann", "states", "the kettle")
        graph.recall("kettle")
        graph.recall("kettle")
        assert sorted(model.given) == ["kettle", "kettle", "the broken kettle", "the kettle"]
    for row in stored_vectors(path).values():
        assert np.isfinite(np.frombuffer(row.vector, np.float16)).all()


def test_every_claim_of_a_page_is_there(path, small_pages):
    with opened(path) as graph:
        graph.add_all(sentences(40))
        graph.recall("fox")
        with closing(open_store(path, read_only=True)) as store:
            ids = {row.id for row in store.select(ClaimRow, 1)}
        page = unpacked(pages(path)[0].payload)
        assert {page["ids"][at : at + 12].tobytes().hex() for at in range(0, len(page["ids"]), 12)} == ids
