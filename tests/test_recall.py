"""Recall: what a question names, its words, and what is near; in the view's time only, and no conflict in half."""

from __future__ import annotations

from datetime import UTC, datetime
from math import log
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semgraph import InputError, KnowledgeGraph
from semgraph.index.text import TextIndex
from semgraph.recall.advice import asks_for_advice
from semgraph.recall.corpus import Candidate
from semgraph.recall.fusion import WEIGHTS, fused, ranks, shares, weights
from semgraph.recall.mentions import mentions
from semgraph.recall.spread import spread
from semgraph.recall.words import MAX_QUERY_BYTES, clean_query, content_words, words


def now():
    return datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def kg():
    with KnowledgeGraph(clock=now) as graph:
        yield graph


def told(hits) -> list[str]:
    return [hit.fact.label for hit in hits]


# -- words


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Where does Maya live?", ["where", "doe", "maya", "live"]),
        ("living lives", ["live", "live"]),
        ("deploy_target", ["deploy", "target"]),
        ("ERR-4711", ["err", "4711"]),
        ("São Paulo, Zoë", ["sao", "paulo", "zoe"]),
        ("北京", ["北京"]),
        ("李国松", ["李国", "国松"]),
        ("京", ["京"]),
        ("in 北京 2024年", ["in", "北京", "2024", "年"]),
        ("ＡＢＣ", ["abc"]),
        ("Привет", ["привет"]),
        ("...", []),
    ],
)
def test_words_are_folded_and_stemmed(text, want):
    assert words(text) == want


def test_small_words_count_only_where_there_are_no_others():
    assert content_words("where does the web deploy to") == ["web", "deploy"]
    assert content_words("who is it") == ["who", "is", "it"]


@given(st.text(st.characters(codec=None), max_size=3000))
def test_a_question_is_plain_data_of_4_kib(text):
    cleaned = clean_query(text)
    assert "\0" not in cleaned
    assert len(cleaned.encode()) <= MAX_QUERY_BYTES
    content_words(cleaned)


# -- names in a question


@pytest.mark.parametrize(
    ("question", "want"),
    [
        ("Where does Maya work?", ["Maya"]),
        ("where does MAYA'S boss work", ["MAYA"]),
        ("Is Maya Lindqvist at Stripe?", ["Maya Lindqvist", "Stripe"]),
        ("what does (Maya) do", ["Maya"]),
        ("C++ or C?", ["C++", "C"]),
        ("do we use .NET", [".NET"]),
        ("about C#", []),
        ("who works at Acme, Inc.?", ["Acme, Inc."]),
        ("李国松住在哪里", ["李国松"]),
        ("Mayas holiday", []),
        ("The Mayan calendar", []),
        ("where do I live", ["I"]),
        ("Berlin/Maya", []),
        ("where does **Maya** live", ["Maya"]),
        ("_Maya_, *Maya Lindqvist* or ~~Stripe~~'s?", ["Maya", "Maya Lindqvist", "Stripe"]),
        ("ask @maya about #stripe!", ["maya", "stripe"]),
        ("|Maya|Stripe|", ["Maya", "Stripe"]),
        ("*Maya", []),
        ("Maya* 2", []),
        ("__Maya**", []),
        ("Maya@Stripe", []),
        ("the @handle of C", ["@handle", "C"]),
        ("", []),
    ],
)
def test_the_longest_names_in_a_question(kg, question, want):
    for name in ("Maya", "Maya Lindqvist", "Stripe", "C", "C++", ".NET", "Acme, Inc.", "李国松", "user", "@handle"):
        kg.names.declare(name)
    with kg.reading() as reader:
        assert [mention.text for mention in mentions(reader, question, None)] == want


def test_a_name_of_several_entities_means_all_of_them(kg):
    kg.names.declare("Alex", label="Alex Berg")
    kg.names.declare("Alex", label="Alex Stone")
    kg.add("Alex Berg", "speaks", "Danish")
    kg.add("Alex Stone", "speaks", "Welsh")
    assert set(told(kg.recall("What does Alex speak?"))) == {"Alex Berg speaks Danish", "Alex Stone speaks Welsh"}


# -- ranking


def test_what_any_channel_found_is_added_up_by_how_near_it_comes_to_the_best():
    found = fused({"exact": {"a": 1.0, "b": 0.75}, "lexical": shares({"b": 4.0, "c": 1.0})})
    assert found == {"a": 1.0, "b": 1.75, "c": 0.25}
    assert fused({"lexical": {"c": 1.0}, "graph": {"c": 0.5}}, weights({"lexical": 0.5, "graph": 2})) == {"c": 1.5}


@pytest.mark.parametrize(
    ("question", "advice"),
    [
        ("Can you suggest a lens?", True),
        ("I'm planning a trip, any good tips on hotels?", True),
        ("Which film would you recommend?", True),
        ("Recommend me a book", True),
        ("My plants look pale. Do you think it is the window?", True),
        ("Should I repaint the hall?", True),
        ("help us choose a name", True),
        ("Which tips did Ann give Bob?", False),
        ("What did Shawn recommend?", False),
        ("Does Bob think that she should go?", False),
        ("Do you think Ann likes Bob?", False),
        ("Who has many ideas?", False),
        ("", False),
    ],
)
def test_questions_that_ask_for_advice(question, advice):
    assert asks_for_advice(question) is advice


def test_where_advice_is_asked_for_meaning_counts_twice_unless_told_otherwise(kg):
    kg.add("user", "states", "I bought a Sony camera and a lens last week")
    question = "Any tips on camera lenses?"
    (hit,) = kg.recall(question)
    (told,) = kg.recall(question, channels={"vector": WEIGHTS["vector"]})
    assert hit.score - told.score == pytest.approx(WEIGHTS["vector"])
    (plain,) = kg.recall("tips on camera lenses")
    assert plain.score == told.score
    (without,) = kg.recall(question, channels={"vector": 0})
    assert "vector" not in without.channels


@given(st.dictionaries(st.text(max_size=2), st.floats(-1, 1e6)))
def test_shares_keep_the_order_and_the_best_is_one(scores):
    found = shares(scores)
    if max(scores.values(), default=0) <= 0:
        assert found == {}
        return
    assert max(found.values()) == 1
    assert found.keys() == scores.keys()
    order = sorted(scores, key=scores.__getitem__)
    assert [found[key] for key in order] == sorted(found.values())
    assert min(found.values()) >= 0


def test_equal_scores_share_a_rank():
    assert ranks({"a": 0.1 + 0.2, "b": 0.3, "c": 1.0}) == {"c": 1, "a": 2, "b": 2}


def test_very_many_equal_scores_share_the_middle_of_their_places():
    found = ranks({"best": 2.0} | {str(i): 1.0 for i in range(100)} | {"last": 0.0})
    assert (found["best"], found["0"], found["99"], found["last"]) == (1, 52, 52, 102)


def index_of(*documents):
    index = TextIndex()
    index.add((name, 1, -1, words.split()) for name, words in documents)
    return index


def by_score(index, *groups):
    documents, scores = index.scores(groups)
    ranked = sorted(zip(scores.tolist(), documents.tolist(), strict=True), reverse=True)
    return [index.ids[document] for _, document in ranked]


def test_bm25_prefers_the_rare_word_and_the_short_text():
    index = index_of(("long", "a b b b rare"), ("short", "a rare"), ("none", "b"), ("x", "a"))
    assert by_score(index, ["rare"], ["a"]) == ["short", "long", "x"]
    assert by_score(index) == by_score(index, ["unheard"]) == []


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=30),
    st.lists(st.lists(st.sampled_from("abcdefx"), min_size=1, max_size=2, unique=True), max_size=4),
    st.integers(0, 30),
)
def test_scores_are_those_of_bm25_by_hand(documents, groups, sorted_in):
    index = TextIndex()
    rows = [(str(i), i, -1, own) for i, own in enumerate(documents)]
    index.add(rows[:sorted_in])
    index.add(rows[sorted_in:])
    found = dict(zip(*(column.tolist() for column in index.scores(groups)), strict=True))
    average = max(sum(map(len, documents)) / len(documents), 1)
    for number, own in enumerate(documents):
        want = 0.0
        for group in groups:
            size = sum(word in each for word in group for each in documents)
            weight = log(1 + (len(documents) - min(size, len(documents)) + 0.5) / (size + 0.5))
            for word in group:
                told = own.count(word)
                want += weight * told * 1.9 / (told + 0.9 * (0.4 + 0.6 * len(own) / average)) if told else 0
        assert found.get(number, 0.0) == pytest.approx(want, rel=1e-4)


def test_facts_about_what_the_question_names_come_first(kg):
    kg.add("Maya", "speaks", "Finnish")
    kg.add("Zoe", "works_at", "Stripe", text="Zoe said work, work and work at Stripe")
    kg.add("Maya", "works_at", "Adyen")
    hits = kg.recall("Where does Maya work?")
    assert told(hits) == ["Maya works_at Adyen", "Maya speaks Finnish", "Zoe works_at Stripe"]
    assert hits[0].channels == {"exact": 1, "lexical": 1, "vector": 1, "graph": 1}
    assert hits[0].why == "about Maya; matches maya, work"
    assert "exact" not in hits[2].channels


def test_a_name_goes_before_any_score(kg):
    kg.add("Robert", "knows", "Zoe")
    kg.add("Robert", "speaks", "Welsh")
    kg.names.alias("Bob", "Robert")
    kg.add("api", "rule", "frobnicate quux")
    hits = kg.recall("does Bob frobnicate quux with Zoe", hops=0)
    assert told(hits) == ["Robert knows Zoe", "Robert speaks Welsh", "api rule frobnicate quux"]
    assert hits[2].score > hits[1].score


def test_what_has_few_facts_says_more_than_a_hub():
    facts = {f"h{i}": Candidate(f"h{i}", 1, 10 + i) for i in range(4)} | {"s": Candidate("s", 2, 20)}
    facts["far"] = Candidate("far", 20, 30)
    near = SimpleNamespace(
        at=lambda entity: [fact for fact in facts.values() if entity in fact.ends], look=lambda *_: None
    )
    scores = spread([1, 2], near, 2)
    assert scores["h0"] == pytest.approx(0.5 * 0.5 / 4 * (1 + 0.5))
    assert scores["s"] == pytest.approx(0.5 * 0.5 + 0.5 * 0.25 / 2)
    assert scores["far"] == pytest.approx(0.5 * 0.25 / 2)
    assert "far" not in spread([1, 2], near, 1)


def test_todays_names_reach_facts_told_under_older_ones(kg):
    kg.add("Bob", "speaks", "Finnish")
    kg.names.alias("Robert Smith", "Bob", primary=True)
    assert told(kg.at(known_at="2024-12-31").recall("what does Robert Smith speak")) == []
    assert told(kg.recall("what does robert smith speak")) == ["Robert Smith speaks Finnish"]


def test_aliases_of_a_predicate_are_words_for_it(kg):
    kg.add("Maya", "speaks", "Finnish")
    kg.add("Maya", "works_at", "Stripe")
    assert told(kg.recall("who is Maya's employer", limit=1)) == ["Maya works_at Stripe"]


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_the_graph_channel_goes_so_many_hops(kg, hops):
    for near, far in ("AB", "BC", "CD"):
        kg.add(near, "knows", far)
    kg.add("X", "knows", "Y")
    found = told(kg.recall("about A", hops=hops))
    assert found == ["A knows B", "B knows C", "C knows D"][: max(hops, 1)]


# -- what is found, and what is not (PAIN 7, 8, 11, 29, 30)


def test_by_default_only_what_holds_now(kg):
    kg.add("Arttu", "lives_in", "Berlin", valid_from="2015", valid_to="2020")
    kg.add("Arttu", "lives_in", "Rome", valid_from="2020")
    kg.add("Arttu", "lives_in", "Oslo", valid_from="2030")
    assert told(kg.recall("where does Arttu live")) == ["Arttu lives_in Rome"]
    assert told(kg.at("2016").recall("where does Arttu live")) == ["Arttu lives_in Berlin"]
    assert told(kg.at("2031").recall("where does Arttu live")) == ["Arttu lives_in Oslo"]
    assert len(kg.during("2019", "2022").recall("where does Arttu live")) == 2


def test_what_is_over_takes_no_place_from_what_holds(kg):
    kg.add_all(
        {
            "subject": "web",
            "predicate": "runs_on",
            "object": f"web host web {i}",
            "valid_from": "2001",
            "valid_to": "2002",
        }
        for i in range(60)
    )
    kg.add("web", "deploy_target", "prod")
    kg.add("api", "note", "the web host is slow")
    assert told(kg.recall("web host", limit=2)) == ["web deploy_target prod", "api note the web host is slow"]


def test_nothing_that_was_learned_later_is_found_as_of_then():
    moment = [datetime(2024, 1, 1, tzinfo=UTC)]
    with KnowledgeGraph(clock=lambda: moment[0]) as graph:
        graph.add("Maya", "lives_in", "Oslo", valid_from="2020")
        moment[0] = datetime(2025, 1, 1, tzinfo=UTC)
        graph.add("Maya", "lives_in", "Rome", valid_from="2023")
        asked = "where does Maya live"
        assert told(graph.at("2024-06", known_at="2024-06").recall(asked)) == ["Maya lives_in Oslo"]
        assert told(graph.at("2024-06").recall(asked)) == ["Maya lives_in Rome"]
        assert graph.at("2024-06", known_at="2023-06").recall(asked) == []


@pytest.mark.parametrize(
    ("question", "want"),
    [
        ("ERR-4711", "billing fails_with ERR-4711"),  # a word that no name is
        ("what about err 4711?", "billing fails_with ERR-4711"),
        ("北京", "李国松 lives_in 北京"),
        ("谁住在北京", "李国松 lives_in 北京"),
        ("李国松住在哪里", "李国松 lives_in 北京"),
        ("sao paulo", "Zoë lives_in São Paulo"),
        ("where are zoë's things", "Zoë lives_in São Paulo"),
        ("what can be written offline", "docs states notes are written offline first"),
    ],
)
def test_words_names_and_scripts_find_their_fact(kg, question, want):
    kg.add("billing", "fails_with", "ERR-4711")
    kg.add("billing", "fails_with", "ERR-4712")
    kg.add("李国松", "lives_in", "北京")
    kg.add("王小明", "lives_in", "上海")
    kg.add("Zoë", "lives_in", "São Paulo")
    kg.add("docs", "states", "notes are written offline first")
    assert told(kg.recall(question))[0] == want


def test_what_was_written_is_searched_verbatim(kg):
    kg.add("api", "rule", "read-only", text="Never run migrations against the frobnicator on a Friday")
    assert told(kg.recall("frobnicator")) == ["api rule read-only"]


def test_a_long_text_is_found_though_its_key_is_a_digest(kg):
    kg.add("docs", "states", "word " * 300 + "zanzibar")
    (hit,) = kg.recall("zanzibar")
    assert hit.fact.object.label.endswith("zanzibar")


def test_negative_facts_are_not_recalled_but_opposites_read_positively(kg):
    kg.add("Ann", "allergic_to", "nuts", negative=True)
    kg.add("Ann", "dislikes", "coriander")
    kg.deny("Ann", "speaks", "Welsh")
    (hit,) = kg.recall("tell me about Ann")
    assert (hit.fact.predicate, hit.fact.object.label, hit.fact.negative) == ("dislikes", "coriander", False)


@pytest.mark.parametrize(("floor", "found"), [(0.4, False), (0.3, True), (0, True), (1, False)])
def test_what_is_doubtful_stays_away_unless_asked_for(kg, floor, found):
    kg.add("Ann", "speaks", "Welsh", confidence=0.35)
    assert bool(kg.recall("Ann", min_confidence=floor)) is found


def test_scopes_share_nothing(kg):
    kg.scoped("other").add("Mary", "knows", "Jane")
    kg.add("Alice", "knows", "Bo")
    assert kg.recall("Mary") == []
    assert told(kg.scoped("other").recall("Alice Mary")) == ["Mary knows Jane"]


# -- conflicts


@pytest.fixture
def torn(kg):
    kg.add("web", "deploy_target", "staging", source="user", said_at="2024-01-01")
    kg.add("web", "deploy_target", "prod", source="inferred", said_at="2024-01-01T00:01:00Z", confidence=0.2)
    kg.add("web", "owned_by", "Maya")
    return kg


def test_a_conflict_partner_follows_at_once_beyond_the_limit_and_below_the_floor(torn):
    hits = torn.recall("web deploy target", limit=1)
    assert told(hits) == ["web deploy_target staging", "web deploy_target prod"]
    assert hits[1].fact.confidence < 0.2
    assert hits[1].why == "contradicts web deploy_target staging"
    hits = torn.recall("web deploy target")
    assert [hit.fact.object.label for hit in hits] == ["staging", "prod", "Maya"]


def test_every_member_of_a_registered_conflict_comes_and_five_of_an_unregistered_one(kg):
    for i in range(8):
        kg.add("web", "deploy_target", f"t{i}", source="user", said_at="2024-01-01")
        kg.add("web", "shape", f"s{i}", source="user", said_at=f"2024-01-0{i + 1}")
    assert len(kg.recall("web deploy target", limit=1)) == 8
    assert len(kg.recall("web shape", limit=1)) == 6


def test_many_equally_sure_values_do_not_silence_each_other(kg):
    for i in range(5):
        kg.add("web", "deploy_target", f"t{i}", said_at="2024-01-01")
    assert max(fact.confidence for fact in kg.values("web", "deploy_target")) < 0.4
    assert len(kg.recall("web deploy target", limit=1)) == 5


def test_a_conflict_that_is_over_brings_nobody(kg):
    kg.add("web", "deploy_target", "staging", source="user", said_at="2024-01-01")
    kg.add(
        "web", "deploy_target", "prod", source="user", said_at="2024-01-01", valid_from="2024-01-01", valid_to="2024-02"
    )
    before = told(kg.at("2024-01-15").recall("web deploy target", limit=1))
    after = told(kg.at("2024-06").recall("web deploy target", limit=1))
    assert (len(before), len(after)) in {(2, 1), (1, 1)}
    assert after == ["web deploy_target staging"]


def test_a_facts_own_negation_is_a_partner(kg):
    kg.add("Ann", "speaks", "Welsh", said_at="2024-01-01")
    kg.add("Ann", "speaks", "Welsh", negative=True, said_at="2024-01-01", source="user", source_ref="b")
    assert [hit.fact.negative for hit in kg.recall("Ann Welsh")] == [False, True]


# -- bad input


@pytest.mark.parametrize(
    "options", [{"limit": -1}, {"limit": 2.5}, {"hops": -1}, {"min_confidence": 2}, {"min_confidence": float("nan")},
                {"min_confidence": True}]
)  # fmt: skip
def test_bounds_that_make_no_sense_are_refused(kg, options):
    with pytest.raises(InputError):
        kg.recall("x", **options)


@pytest.mark.parametrize("query", [None, 3, b"x"])
def test_a_question_is_text(kg, query):
    with pytest.raises(InputError):
        kg.recall(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "\0",
        '"',
        "a' OR 1=1 --",
        "NEAR(a b",
        "*",
        "?",
        "\ud800",
        "x" * 9000,
        "我" * 5000,
        "a " * 5000,
        "🎉",
        "'s",
    ],
)
def test_any_text_is_a_question(kg, query):
    kg.add("Ann", "speaks", "Welsh")
    assert isinstance(kg.recall(query), list)


def test_the_same_question_has_the_same_answer(kg):
    kg.add_all({"subject": f"s{i % 7}", "predicate": f"p{i % 3}", "object": f"o{i % 5}"} for i in range(60))
    first = kg.recall("s1 p2 o3", limit=20)
    assert [(h.fact.id, h.score) for h in first] == [(h.fact.id, h.score) for h in kg.recall("s1 p2 o3", limit=20)]
    scores = [(h.channels.get("exact") is None, -h.score, h.fact.id) for h in first]
    assert scores == sorted(scores)


@pytest.mark.parametrize("question", ["where does Ma\u202eya work?", "who is \u2066Maya\u2069?"])
def test_why_steers_no_terminal(question):
    with KnowledgeGraph() as kg:
        kg.add("Maya", "works_at", "Acme")
        (hit,) = kg.recall(question)
    assert "about Maya" in hit.why
    assert hit.why.isprintable()


@pytest.mark.parametrize("weight", [1e308, float("inf"), float("nan"), -1.0])
def test_a_weight_is_bounded(weight):
    with KnowledgeGraph() as kg:
        kg.add("Maya", "works_at", "Acme")
        with pytest.raises(InputError, match="weight of a channel"):
            kg.recall("where does Maya work?", channels={"exact": weight})
