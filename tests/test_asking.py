"""Questions answered from the graph: what is asked, when, by which relations, and what is not understood."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import semgraph
from semgraph.asking.signals import temporal
from semgraph.asking.times import is_vaguer
from semgraph.errors import InputError

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def kg():
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        tell = graph.add
        tell("Anna", "owns", "payments service", valid_from="2023")
        tell("Kari", "manages", "Anna", valid_from="2024")
        tell("Maya", "works_at", "Stripe", valid_from="2021-03")
        tell("Maya", "works_at", "Linear", valid_from="2024-06-01")
        tell("Maya", "lives_in", "Oslo", valid_from="2019")
        tell("Maya", "speaks", "Finnish")
        tell("Maya", "speaks", "Greek")
        tell("Maya", "birth_date", "1990-05-05")
        tell("Maya", "birth_place", "Oslo")
        tell("Kim", "works_at", "Linear", valid_from="2019", valid_to="2021")
        tell("Patrick Collison", "ceo_of", "Stripe", valid_from="2010")
        tell("Stripe", "founded_by", "Patrick Collison")
        graph.remember("My favourite color is teal.")
        graph.remember("I prefer Helix for Rust.")
        graph.predicates.define("mayor", cardinality="one")
        tell("London", "mayor", "Ken Livingstone", valid_from="2000", valid_to="2008")
        tell("London", "mayor", "Boris Johnson", valid_from="2008", valid_to="2016")
        tell("London", "mayor", "Sadiq Khan", valid_from="2016")
        graph.predicates.define("make_a_visit", cardinality="many")
        for land, day in (("France", "2008-06-03"), ("Japan", "2009-04-01"), ("Chile", "2010-05-03")):
            tell("Obama", "make_a_visit", land, valid_from=day, valid_through=day)
            tell(land, "is_a", "country")
        tell("Bo", "birth_date", "1985-02-01")
        for act, by, when in (("Tea Act", "Repeal Act", "1913-04-01"), ("Salt Act", "Repeal Act", "1908-04-01")):
            tell(act, "repealed_by", by, valid_from=when)
        tell("Coal Act", "repealed_by", "Second Repeal Act", valid_from="1950")
        tell("checkout", "owned_by", "Payments", valid_from="2025")
        tell("checkout", "owned_by", "Platform", valid_from="2025", source="tool:catalogue")
        yield graph


ANSWERED = [
    ("Where does Maya work?", ["Linear"]),
    ("Where did Maya work in 2022?", ["Stripe"]),
    ("In 2022, where did Maya work?", ["Stripe"]),
    ("Where did Maya work before Linear?", ["Stripe"]),
    ("Where did Maya work before she joined Linear?", ["Stripe"]),
    ("Before she joined Linear, where did Maya work?", ["Stripe"]),
    ("Who is the CEO of Stripe?", ["Patrick Collison"]),
    ("What is Patrick Collison the CEO of?", ["Stripe"]),
    ("Who founded Stripe?", ["Patrick Collison"]),
    ("Which languages does Maya speak?", ["Finnish", "Greek"]),
    ("How many languages does Maya speak?", [2]),
    ("Who was mayor of London before Boris Johnson?", ["Ken Livingstone"]),
    ("Who was mayor of London after Boris Johnson?", ["Sadiq Khan"]),
    ("Who was the first mayor of London?", ["Ken Livingstone"]),
    ("Who was the second mayor of London?", ["Boris Johnson"]),
    ("Who is the mayor of London?", ["Sadiq Khan"]),
    ("Who was mayor of London in 2010?", ["Boris Johnson"]),
    ("Who was mayor of London when Maya joined Stripe?", ["Sadiq Khan"]),
    ("How long was Boris Johnson mayor of London?", [8.0]),
    ("Who manages Anna?", ["Kari"]),
    ("Who does Kari manage?", ["Anna"]),
    ("Who manages the person who owns the payments service?", ["Kari"]),
    ("Who is the CEO of the company Maya worked at in 2022?", ["Patrick Collison"]),
    ("Does Maya work at Linear?", [True]),
    ("Does Maya work at Stripe?", [False]),
    ("Did Maya work at Stripe in 2022?", [True]),
    ("Is Maya still at Linear?", [True]),
    ("Is Kari Anna's manager?", [True]),
    ("Where was Maya born?", ["Oslo"]),
    ("When was Maya born?", ["1990-05-05"]),
    ("What is Maya's date of birth?", ["1990-05-05"]),
    ("How many people work at Linear?", [1]),
    ("Who was mayor of London before 2005?", ["Ken Livingstone"]),
    ("Who were the first two mayors of London?", ["Ken Livingstone", "Boris Johnson"]),
    ("Who were the last 2 mayors of London?", ["Boris Johnson", "Sadiq Khan"]),
    ("Which country did Obama visit in June 2008?", ["France"]),
    ("Which country did Obama visit after 2008?", ["Japan", "Chile"]),
    ("Which country did Obama visit before Japan?", ["France"]),
    ("Whom did Obama visit on 3 May 2010?", ["Chile"]),
    ("Who visited Japan?", ["Obama"]),
    ("What is my favourite colour?", ["teal"]),
    ("Which of Tea Act, Salt Act and Coal Act was repealed first?", ["Salt Act"]),
    ("Tea Act, Salt Act, or Coal Act—which statute was repealed last?", ["Coal Act"]),
    ("Between Tea Act and Salt Act, which one was repealed at a later date?", ["Tea Act"]),
    ("Compare Tea Act and Coal Act; which one was repealed earlier?", ["Tea Act"]),
    ("Who was born first, Maya or Bo?", ["Bo"]),
    ("Was Tea Act repealed before Salt Act?", [False]),
    ("Was Tea Act repealed after Salt Act?", [True]),
    ("Did Ken Livingstone become mayor before Boris Johnson, or was it the other way around?", ["Ken Livingstone"]),
    ("How many years are there between the birth of Bo and Maya?", [5.25]),
    ("What is the difference in years between the repeal of Salt Act and Tea Act?", [5.0]),
    ("How many days lay between the repeal of Salt Act and that of Tea Act?", [1826]),
    ("What's my favorite color?", ["teal"]),
    ("What colour do I prefer?", ["teal"]),
    ("What do I prefer for Rust?", ["Helix"]),
]


@pytest.mark.parametrize(
    ("question", "value", "sure"),
    [
        ("In which month did Maya start at Stripe?", "2021-03", True),
        ("In which month did Maya move to Oslo?", "2019", False),
        ("On what day did Maya start at Stripe?", "2021-03", False),
        ("On what day did Maya start at Linear?", "2024-06-01", True),
        ("In what year did Maya start at Stripe?", "2021-03", True),
        ("On what day was Maya born?", "1990-05-05", True),
        ("When did Maya move to Oslo?", "2019", True),
    ],
)
def test_a_date_that_does_not_tell_the_unit_asked_for_is_not_sure(kg, question, value, sure):
    answer = kg.ask(question)
    assert ([str(each) for each in answer.values], answer.sure) == ([value], sure), answer.plan
    assert ("left out" in answer.plan) is not sure


@pytest.mark.parametrize("unit", ["day", "month", "year"])
def test_what_only_looks_like_a_date_tells_no_unit_of_time(unit):
    assert is_vaguer("2009-13", unit)
    assert not is_vaguer("2009-12-01", unit)


def test_the_kind_of_thing_that_is_asked_for_is_looked_at(kg):
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        graph.predicates.define("visited", cardinality="many")
        for place in ("Lyon", "Dr Smith"):
            graph.add("Ann", "visited", place)

        def asked(question):
            answer = graph.ask(question)
            return answer.values, answer.sure

        both = sorted(graph.ask("What did Ann visit?").values)
        assert both == ["Dr Smith", "Lyon"]
        assert (sorted(asked("Which dentist did Ann visit?")[0]), asked("Which dentist did Ann visit?")[1]) == (
            both,
            False,
        )
        graph.add("Dr Smith", "is_a", "dentist")
        assert (sorted(asked("Which dentist did Ann visit?")[0]), asked("Which dentist did Ann visit?")[1]) == (
            both,
            False,
        )
        graph.add("Lyon", "is_a", "city")
        assert asked("Which dentist did Ann visit?") == (["Dr Smith"], False)
        assert asked("Which city did Ann visit?") == (["Lyon"], False)
        assert "left out: 'dentist'" in graph.ask("Which dentist did Ann visit?").plan
        graph.add("Bea", "visited", "Lyon")
        assert asked("Which city did Bea visit?") == (["Lyon"], True)
        assert asked("Which dentist did Bea visit?") == (["Lyon"], False)
    assert kg.ask("Which planet does Maya live in?").sure is False


IMPLIED = {
    "does Ann live in": ("lives_in", "Q", "city town place"),
    "was Ann born in": ("birth_place", "Q", "city town place"),
    "is Ann a citizen of": ("citizen_of", "Q", "country nation"),
    "is Ann located in": ("located_in", "Q", "place"),
    "is Ann the capital of": ("capital_of", "Q", "country nation"),
    "does Ann work at": ("works_at", "Q", "company firm employer organisation organization institution"),
    "is Ann the CEO of": ("ceo_of", "Q", "company firm organisation organization institution employer"),
    "did Ann study at": ("studied_at", "Q", "school university college institution"),
    "is Ann a member of": ("member_of", "Q", "group organisation organization team"),
    "does Ann report to": ("reports_to", "Q", "person individual"),
    "is Ann married to": ("married_to", "Q", "person individual"),
    "does Ann know": ("knows", "Q", "person individual"),
    "does Ann speak": ("speaks", "Q", "language"),
    "did Ann visit": ("visited", "Q", ""),
    "does Ann like": ("likes", "Q", ""),
}
NOUNS = sorted({noun for _, _, nouns in IMPLIED.values() for noun in nouns.split()} | {"club", "planet", "dentist"})


@pytest.mark.parametrize("asked", IMPLIED)
def test_only_a_kind_that_the_relation_implies_is_sure(asked):
    predicate, value, nouns = IMPLIED[asked]
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        graph.add("Ann", predicate, value)
        told = {noun: graph.ask(f"Which {noun} {asked}?") for noun in NOUNS}
        assert {noun: answer.values for noun, answer in told.items()} == {noun: [value] for noun in NOUNS}
        assert sorted(noun for noun, answer in told.items() if answer.sure) == sorted(nouns.split())
        for noun in ("city", "company", "planet"):
            graph.add(value, "is_a", noun)
            assert graph.ask(f"Which {noun} {asked}?").sure


@pytest.mark.parametrize(
    ("question", "values", "sure"),
    [
        ("Which city employs Ann?", ["Acme"], False),
        ("What is the name of the city Ann works at?", ["Acme"], False),
        ("What is the name of the company Ann works at?", ["Acme"], True),
        ("Which of the cities does Ann work at?", ["Acme"], False),
        ("Which of the companies does Ann work at?", ["Acme"], True),
        ("How many cities does Ann work at?", [1], False),
        ("How many companies does Ann work at?", [1], True),
        ("How many people work at Acme?", [1], True),
        ("Which person works at Acme?", ["Ann"], True),
        ("Which city works at Acme?", ["Ann"], False),
        ("Which company does Ann live in?", ["Norway"], False),
        ("Which city does Ann live in?", ["Norway"], False),  # it is said to be a country
        ("Which country does Ann live in?", ["Norway"], True),
        ("Which city does Bo live in?", ["Oslo"], True),  # a capital may be a city for all that
        ("Which person does Ann report to?", ["Kari"], True),
        ("Which individual does Kari manage?", ["Ann"], True),
        ("Who does Ann report to?", ["Kari"], True),
        ("Where does Ann work?", ["Acme"], True),
    ],
)
def test_a_kind_counts_at_either_end_and_in_other_words(question, values, sure):
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        graph.add("Ann", "works_at", "Acme")
        graph.add("Ann", "lives_in", "Norway")
        graph.add("Bo", "lives_in", "Oslo")
        graph.add("Norway", "is_a", "country")
        graph.add("Oslo", "is_a", "capital")
        graph.add("Ann", "reports_to", "Kari")
        graph.add("Kari", "is_a", "engineer")
        answer = graph.ask(question)
        assert (answer.values, answer.sure) == (values, sure), answer.plan


def test_what_may_be_read_in_two_ways_is_not_sure(kg):
    begun = kg.ask("Who was mayor of London after 2010?")  # one was already
    assert (begun.values, begun.sure) == (["Sadiq Khan"], False)
    few = kg.ask("Who were the first five mayors of London?")
    assert (len(few.values), few.sure) == (3, False)


@pytest.fixture(scope="module")
def doubtful():
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        tell = graph.add
        for name, day in (("George W. Bush", "1946-07-06"), ("George H. W. Bush", "1924-06-12")):
            graph.names.declare("George Bush", label=name)
            tell(name, "birth_date", day)
        tell("Dee", "lives_in", "Rome", valid_from="2020", source="inferred")
        tell("Maya", "lives_in", "Oslo", valid_from="2019", valid_to="2022")
        tell("Maya", "lives_in", "Bergen", valid_from="2022")
        tell("Maya", "works_at", "Stripe", valid_from="2021")
        tell("Ben", "lives_in", "Oslo")
        tell("Ben", "works_at", "Linear", valid_from="2020")
        tell("Ben", "works_at", "Acme", valid_from="2015", valid_to="2020")
        graph.predicates.define("left", cardinality="many")
        tell("Ann", "left", "Globex", valid_from="2021")
        yield graph


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("When was George Bush born?", "may mean George H. W. Bush or George W. Bush"),
        ("Was George Bush born before Maya?", ""),
        ("Does Dee live in Rome?", ""),
        ("Since when has Ben lived in Oslo?", "may have begun earlier"),
        ("How long has Ben lived in Oslo?", "may have begun earlier"),
        ("Which did Maya do first, live in Oslo or work at Stripe?", ""),
        ("Who lives in Oslo and works at Linear?", ""),
        ("Does Maya live in Bergen or Oslo?", "'or' asks which"),
        ("Does Ben work at Linear in Bergen?", "nothing connects"),
        ("Ben Acme?", ""),
        ("Where did Maya live while Ben lived in Bergen?", "time"),
    ],
)
def test_a_guess_is_never_sure(doubtful, question, says):
    answer = doubtful.ask(question)
    assert not answer.sure
    assert says in answer.plan


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Has Ben left Linear?", [False]),
        ("Has Ben left Acme?", [True]),
        ("Did Ben leave Acme before 2018?", [False]),
        ("Did Ben leave Acme in 2020?", [True]),
        ("Did Maya leave Bergen?", [False]),
        ("Who left Acme?", ["Ben"]),
        ("Who has left Linear?", []),
        ("Who left Globex?", ["Ann"]),
        ("Who joined Linear in 2022?", []),
        ("Who joined Linear in 2020?", ["Ben"]),
        ("Did Maya move to Bergen in 2024?", []),
    ],
)
def test_what_began_or_ended_is_told_from_what_goes_on(doubtful, question, values):
    assert doubtful.ask(question).values == values


@pytest.mark.parametrize(("question", "values"), ANSWERED)
def test_an_understood_question_has_its_answer(kg, question, values):
    answer = kg.ask(question)
    assert (answer.values, answer.sure) == (values, True), answer.plan
    assert answer.facts


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("When did Maya join Linear?", "2024-06-01"),
        ("Since when does Maya live in Oslo?", "2019"),
        ("Until when did Maya work at Stripe?", "2024-06-01"),
    ],
)
def test_a_time_is_answered_at_its_precision(kg, question, date):
    answer = kg.ask(question)
    assert [str(value) for value in answer.values] == [date], answer.plan


def test_rivals_are_both_given_and_nothing_is_sure(kg):
    answer = kg.ask("Who owns checkout?")
    assert sorted(answer.values) == ["Payments", "Platform"]
    assert not answer.sure


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("What did Maya eat yesterday?", "'eat'"),
        ("Who manages Kari?", "'manages'"),
        ("What is the airspeed of a swallow?", "names nothing"),
        ("Who was mayor of London when Maya went skiing?", "time"),
        ("When did Maya join Acme?", ""),
        ("Does Anna manage Kari?", "'manage'"),
        ("Is Anna Kari's manager?", "'manager'"),
        ("Does Kari report to Anna?", "'report'"),
        ("Why does Maya live in Oslo?", "'Why'"),
        ("Where will Maya live?", "'will'"),
        ("Where does Maya work now and where did she work before?", "'and where'"),
        ("", "names nothing"),
    ],
)
def test_what_is_not_understood_is_said_and_not_guessed(kg, question, what):
    answer = kg.ask(question)
    assert answer.values == []
    assert not answer.sure
    assert what in answer.plan


def test_a_view_answers_as_of_its_moment(kg):
    assert kg.at("2022").ask("Where does Maya work?").values == ["Stripe"]
    assert kg.at("2005").ask("Who is the mayor of London?").values == ["Ken Livingstone"]


def test_a_question_is_a_text(kg):
    with pytest.raises(InputError):
        kg.ask(5)
    assert kg.ask("\0 ' OR 1=1; -- \ud800?").values == []


@pytest.mark.parametrize(
    ("question", "signal", "kind"),
    [
        ("When was the school founded?", "none", "answer"),
        ("In which year did she win?", "none", "answer"),
        ("What was he before he was president?", "before", "implicit"),
        ("Who came after the Yuan?", "after", "implicit"),
        ("Who was president during the Cold War?", "overlap", "implicit"),
        ("Who was president when the film was released?", "overlap", "implicit"),
        ("When the war ended, who was president?", "overlap", "implicit"),
        ("Which album did they release in 2007?", "overlap", "explicit"),
        ("Who was their first drummer?", "ordinal", "ordinal"),
        ("Who has held the office since 2010?", "start", "explicit"),
        ("Who coaches the team now?", "none", "explicit"),
    ],
)
def test_what_a_question_asks_of_time(question, signal, kind):
    assert tuple(map(str, temporal(question))) == (signal, kind)


MINE = [
    ("Who is my manager?", ["Kari"]),
    ("Is Kari my manager?", [True]),
    ("Is Bo my manager?", [False]),
    ("Who is my manager's manager?", ["Bo"]),
    ("Where do I live?", ["Oslo"]),
    ("Where does my sister live?", ["Bergen"]),
    ("What is my sister's name?", ["Liv"]),
    ("What is my sister called?", ["Liv"]),
    ("What am I allergic to?", ["nuts"]),
]


@pytest.mark.parametrize(("question", "values"), MINE)
def test_my_means_whom_the_graph_is_about(question: str, values: list):
    with semgraph.KnowledgeGraph(clock=lambda: NOW) as graph:
        for text in ("My manager is Kari.", "I live in Oslo.", "My sister is Liv.", "I am allergic to nuts."):
            assert graph.remember(text)
        graph.add("Kari", "reports_to", "Bo")
        graph.add("Liv", "lives_in", "Bergen")
        assert graph.ask(question).values == values


def test_my_of_a_graph_that_knows_nothing_of_the_user_is_not_understood(kg):
    assert not kg.ask("Who is my manager?").values


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("How long was Boris Johnson mayor of London?", "8.0 years"),
        ("How many days was Boris Johnson mayor of London?", "2922 days"),
    ],
)
def test_a_duration_has_a_unit(kg, question: str, shown: str):
    assert str(kg.ask(question)) == shown
