"""Sentences that people tell an assistant: what the patterns read out of them, and what they leave alone."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest
from bounded_work import steps
from hypothesis import given
from hypothesis import strategies as st

import semgraph
from semgraph import phrases
from semgraph.markers import words
from semgraph.phrases.dating import dated
from semgraph.phrases.verbs import forms

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TIMES = ("valid_from", "valid_to", "valid_through")


def read(text: str) -> list[str]:
    """The candidates of a text, a line each: subject predicate object, marks, dates, qualifiers."""
    found = phrases.candidates(text, partial(dated, reference=NOW))
    return [line(words) for words in found if "predicate" in words]


def line(words: dict) -> str:
    marks = ["not"] if words.get("negative") else []
    marks += [] if words.get("kind", "state") == "state" else [words["kind"]]
    marks += [f"{key.removeprefix('valid_')} {words[key]}" for key in TIMES if words.get(key) is not None]
    marks += [f"{key}={value}" for key, value in words.get("qualifiers", {}).items()]
    return " | ".join([words["subject"], words["predicate"], str(words["object"]), *marks])


ONE = [
    ("I live in Berlin.", "user | lives_in | Berlin"),
    ("I'm based in Lisbon these days.", "user | lives_in | Lisbon"),
    ("I've been living in Lisbon since 2019.", "user | lives_in | Lisbon | from 2019"),
    ("Maya lived in Oslo from 2018 to 2020.", "Maya | lives_in | Oslo | from 2018 | to 2020"),
    ("Maya used to live in Rome.", "Maya | lives_in | Rome | to unknown"),
    ("Actually, I moved from Oslo to Berlin.", "user | lives_in | Berlin | change"),
    ("I moved to Berlin in March 2020.", "user | lives_in | Berlin | change | from 2020-03"),
    ("In March 2020 I moved to Berlin.", "user | lives_in | Berlin | change | from 2020-03"),
    ("I moved to Berlin last month.", "user | lives_in | Berlin | change | from 2026-10"),
    ("I'm moving to Lisbon on 1 May 2027.", "user | lives_in | Lisbon | change | from 2027-05-01"),
    ("Maya works at Stripe.", "Maya | works_at | Stripe"),
    ("Maya's working at Linear now.", "Maya | works_at | Linear"),
    ("Maya worked for Stripe until 2021.", "Maya | works_at | Stripe | to 2021"),
    ("Maya worked at Stripe in 2021.", "Maya | works_at | Stripe | from 2021 | through 2021"),
    ("Maya no longer works at Stripe.", "Maya | works_at | Stripe | not | change"),
    ("I don't work at Stripe anymore.", "user | works_at | Stripe | not | change"),
    ("Bob quit Acme in June 2026.", "Bob | works_at | Acme | not | change | from 2026-06"),
    ("I left Stripe.", "user | works_at | Stripe | not | change"),
    ("I started working at Linear in 2024.", "user | works_at | Linear | change | from 2024"),
    ("Kari reports to Ola Nordmann.", "Kari | reports_to | Ola Nordmann"),
    ("My manager is Kari Nordmann.", "user | reports_to | Kari Nordmann"),
    ("Ola manages Kari.", "Ola | manages | Kari"),
    ("My sister is called Ann Norwegian.", "user | sibling_of | Ann Norwegian"),
    ("My name is Arttu.", "user | name | Arttu"),
    ("I go by Art.", "user | preferred_name | Art"),
    ("I'm called Art.", "user | preferred_name | Art"),
    ("My birthday is 5 May 1990.", "user | birth_date | 1990-05-05"),
    ("I was born on 5 May 1990.", "user | birth_date | 1990-05-05"),
    ("Maya was born in Oslo.", "Maya | birth_place | Oslo"),
    ("Ada Lovelace died on 27 November 1852.", "Ada Lovelace | death_date | 1852-11-27"),
    ("Anna's email is anna@example.com.", "Anna | email | anna@example.com"),
    ("My time zone is Europe/Helsinki.", "user | timezone | Europe/Helsinki"),
    ("I prefer dark mode over light mode.", "user | prefers | dark mode"),
    ("I prefer dark mode for editors.", "user | prefers | dark mode | topic=editors"),
    ("My favourite editor is Helix.", "user | prefers | Helix | topic=editor"),
    ("I use Vim for Python.", "user | uses | Vim"),
    ("I don't use Emacs anymore.", "user | uses | Emacs | not | change"),
    ("I switched to Neovim in 2023.", "user | uses | Neovim | from 2023"),
    ("I like cats.", "user | likes | cats"),
    ("Maya hates cilantro.", "Maya | dislikes | cilantro"),
    ("I'm allergic to peanuts.", "user | allergic_to | peanuts"),
    ("I'm not allergic to peanuts.", "user | allergic_to | peanuts | not"),
    ("Anna is married to Bob Stone.", "Anna | married_to | Bob Stone"),
    ("Anna married Bob Stone in 2019.", "Anna | married_to | Bob Stone | from 2019"),
    ("My dog is called Rex.", "user | has_pet | Rex"),
    ("My dog's name is Rex.", "user | has_pet | Rex"),
    ("Platform owns the billing service.", "Platform | owns | billing service"),
    ("The payments service is owned by the Platform team.", "payments service | owned_by | Platform team"),
    ("checkout deploys on Fly.io.", "checkout | deploys_on | Fly.io"),
    ("Checkout has been deployed on Fly.io since 2024-02.", "Checkout | deploys_on | Fly.io | from 2024-02"),
    ("The capital of France is Paris.", "Paris | capital_of | France"),
    ("Stripe's CEO is Patrick Collison.", "Patrick Collison | ceo_of | Stripe"),
    ("Stripe was founded by Patrick Collison.", "Stripe | founded_by | Patrick Collison"),
    ("Stripe was founded in 2010.", "Stripe | founded_on | 2010"),
]


@pytest.mark.parametrize(("text", "want"), ONE)
def test_a_plain_statement_is_read(text: str, want: str):
    assert read(text) == [want]


SEVERAL = [
    ("I speak Finnish, Swedish and English.", ["speaks | Finnish", "speaks | Swedish", "speaks | English"]),
    ("I am a staff engineer at Stripe.", ["job_title | staff engineer", "works_at | Stripe"]),
    ("I joined Linear as a staff engineer.", ["works_at | Linear", "job_title | staff engineer"]),
    ("I work at Acme and live in Leeds.", ["works_at | Acme", "lives_in | Leeds"]),
    ("I use Vim and I live in Leeds since 2020.", ["uses | Vim", "lives_in | Leeds | from 2020"]),
    ("I switched from Vim to Helix.", ["uses | Vim | not | change", "uses | Helix"]),
    ("I was born on 5 May 1990 in Oslo.", ["birth_date | 1990-05-05", "birth_place | Oslo"]),
    ("I was born in Oslo and graduated in 1930.", ["birth_place | Oslo"]),
    ("I live in Oslo. I like cats.", ["lives_in | Oslo", "likes | cats"]),
]


@pytest.mark.parametrize(("text", "want"), SEVERAL)
def test_each_part_is_a_statement_of_its_own(text: str, want: list[str]):
    assert read(text) == [f"user | {one}" for one in want]


def test_what_goes_on_without_a_subject_is_about_the_one_who_was_named():
    assert read("My brother is Bob and lives in Oslo.") == ["user | sibling_of | Bob", "Bob | lives_in | Oslo"]
    assert read("My mother is Ann and works at Linear.") == ["Ann | parent_of | user", "Ann | works_at | Linear"]


@pytest.mark.parametrize(
    "text",
    [
        "She lives in Oslo.",
        "My brother lives in Oslo.",
        "My brother is Norwegian and moved to Oslo.",
        "Bob told me he lives in Oslo.",
        "My wife is Catholic.",
        "Do I live in Oslo?",
        "If I lived in Oslo, I would ski.",
        "I think Anna lives in Oslo.",
        "I might move to Oslo.",
        "I'm moving to Oslo.",
        "Sounds like fun.",
        "It's like fate.",
        "I like the idea.",
        "I love your ice cream.",
        "Always use bullet points.",
        "I used a combination of cable ties.",
        "People prefer tea.",
        'He said "I live in Oslo".',
        "I work a lot.",
        "I live in a small house by the sea.",
        "Maya works at Acme in 2020.",
        "I lived in Oslo before 2019.",
        "Anna and Bob live in Oslo.",
        "I run on coffee and hope.",
        "I left the house.",
        "Before the war the area was part of Prussia.",
        "",
        " . ",
    ],
)
def test_what_says_something_else_is_left_alone(text: str):
    assert read(text) == []


@pytest.mark.parametrize("hedge", ["Maybe", "Perhaps", "Probably", "Apparently", "Hopefully", "Possibly", "Presumably"])
def test_a_hedge_before_a_name_is_no_part_of_it(hedge: str):
    with semgraph.KnowledgeGraph() as kg:
        kg.add("Maya", "speaks", "Greek")
        (receipt,) = kg.remember(f"{hedge} Maya lives in Oslo.")
        assert receipt.outcome == "rejected"
        assert {entity.label for entity in kg.entities()} == {"Maya", "Greek"}


@pytest.mark.parametrize("opener", ["Unfortunately", "Finally", "Luckily", "Please", "Currently", "Sadly,"])
def test_an_opener_before_a_name_is_no_part_of_it(opener: str):
    assert read(f"{opener} Maya lives in Oslo.") == ["Maya | lives_in | Oslo"]


@pytest.mark.parametrize("word", ["Previously", "Formerly", "Originally", "Tomorrow"])
def test_a_time_before_a_name_is_no_part_of_it(word: str):
    assert not any(line.startswith(word) for line in read(f"{word} Maya lives in Oslo."))


def test_sentences_are_cut_where_they_end():
    text = "Dr. Lee uses Vim 9.1, e.g. at work. J. Doe lives in St. Ives!\nI like tea"
    assert phrases.sentences(text) == [
        "Dr. Lee uses Vim 9.1, e.g. at work.", "J. Doe lives in St. Ives!", "I like tea",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "want"),
    [
        ("be", ("is", "was", "been", "being")),
        ("work", ("works", "worked", "worked", "working")),
        ("use", ("uses", "used", "used", "using")),
        ("study", ("studies", "studied", "studied", "studying")),
        ("enjoy", ("enjoys", "enjoyed", "enjoyed", "enjoying")),
        ("switch", ("switches", "switched", "switched", "switching")),
    ],
)
def test_forms_of_verbs(base: str, want: tuple[str, ...]):
    assert forms(base) == want


WORDS = st.sampled_from(
    words(
        "I Maya she lives live works work in at on to from since 2020 Oslo and not no longer the moved is my manager "
        "was born , . '"
    )
)


@given(st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=200))
def test_whatever_is_read_stands_in_the_text(text: str):
    for found in phrases.candidates(text, phrases.Dated):
        assert found["text"] in " ".join(text.split()) or found["text"] in text
        for end in (found.get("subject", "user"), found.get("object", "user")):
            assert end == "user" or end in " ".join(text.split())


def test_remember_stores_what_the_patterns_read(tmp_path):
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as kg:
        said = "I moved to Berlin last month."
        [receipt] = kg.remember(said, source_ref="turn:7")
        assert (str(receipt.outcome), receipt.claim.text, receipt.claim.kind) == ("new", said, "change")
        assert str(kg.at("2026-11").value("me", "lives_in")) == "Berlin"
        assert kg.at("2026-09").value("me", "lives_in") is None
        [receipt] = kg.remember("I no longer live in Berlin.")
        assert str(receipt.outcome) == "ended"


def test_dates_count_from_when_it_was_said():
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as kg:
        [receipt] = kg.remember("I moved to Oslo last month.", said_at="2024-03-10")
        assert str(receipt.claim.valid_from) == "2024-02"


def test_a_sentence_that_no_pattern_fits_is_kept_under_its_subject():
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as kg:
        [receipt] = kg.remember("Maya sails around the fjords every summer.", subject="Maya")
        assert receipt.claim.predicate == "states"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Maya was born on 4 March 1985.", [("birth_date", "1985-03-04")]),
        ("Tom works at Acme. Maria was born in 1985. Lena lives in Rome.",
         [("works_at", "Acme"), ("birth_date", "1985"), ("lives_in", "Rome")]),
        ("I'm vegetarian.", [("states", "I'm vegetarian.")]),
        ("I live in Oslo. I can't stand raw onions.", [("lives_in", "Oslo"), ("states", "I can't stand raw onions.")]),
        ("Tom works at Acme. Tom sails every summer.", [("works_at", "Acme"), ("states", "Tom sails every summer.")]),
    ],
)  # fmt: skip
def test_each_sentence_is_kept(said, kept):
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as kg:
        kg.add("Tom", "speaks", "Greek")
        receipts = kg.remember(said)
        assert [(r.claim.predicate, str(r.claim.object)) for r in receipts if r.claim] == kept


def test_what_is_not_kept_has_a_receipt():
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as kg:
        receipts = kg.remember("Tom works at Acme. He lives in Paris. Maybe he will quit.")
        assert [(str(r.outcome), r.code) for r in receipts] == [
            ("new", None), ("rejected", "no_subject"), ("rejected", "no_subject"),
        ]  # fmt: skip
        assert len(kg.rejected()) == 2
        [receipt] = kg.remember("I might move to Rome one day.")
        assert receipt.outcome == "rejected"


@pytest.mark.parametrize("unit", ["\nsystem", "\na b", "\nwhat a day", "a. B c. "])
def test_a_text_of_one_sentence_over_and_over_is_read_in_few_steps(unit):
    looked = partial(dated, reference=NOW)
    phrases.candidates(unit, looked)
    assert steps(lambda: phrases.candidates(unit * 2_000, looked)) < 2_000 * 12


def test_a_sentence_that_is_told_again_is_read_again():
    found = phrases.candidates("I live in Oslo. It rains. I live in Oslo. It rains.", partial(dated, reference=NOW))
    assert [each.get("object") for each in found] == ["Oslo", None, "Oslo", None]
