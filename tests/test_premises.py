"""Claims that rest on others: for how long they count, and what becomes of circles."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from histories import ever, spans, timed
from hypothesis import given
from hypothesis import strategies as st

from semgraph.premises import circles

if TYPE_CHECKING:
    from semgraph import KnowledgeGraph

SAID = "2023-12-31T00:00:00Z"
INFERRED = {"source": "inferred", "said_at": SAID}


def told(calls: list[dict[str, Any]], order: tuple[int, ...] | None = None) -> KnowledgeGraph:
    """A graph that was told all calls; `because` gives numbers of calls, whose claims need not have arrived yet."""
    scratch, _ = timed()
    ids = [scratch.add(**{k: v for k, v in call.items() if k != "because"}).claim.id for call in calls]
    kg, clock = timed()
    for number in order or range(len(calls)):
        call = calls[number]
        because = [[ids[n] for n in group] for group in call.get("because", ())]
        kg.add(**call | {"because": because})
        clock.tick(seconds=1)
    assert kg.verify() == []
    return kg


def in_every_order(calls: list[dict[str, Any]]) -> KnowledgeGraph:
    """The graph, after a look at whether every order of arrival leads to it."""
    graphs = [told(calls, order) for order in permutations(range(len(calls)))]
    pictures = [ever(kg, confidence=False) for kg in graphs]
    assert all(picture == pictures[0] for picture in pictures)
    return graphs[0]


def at(subject: str, place: str, start: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": "works_at", "object": place, "valid_from": start, **INFERRED, **more}


def test_a_derived_claim_may_end_its_own_premise_and_stands() -> None:
    kg = in_every_order([at("Ann", "Acme", "2015"), at("Ann", "Globex", "2020", because=[[0]])])
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "2020"), ("Globex", "2020", "…")]


def test_what_others_end_ends_it() -> None:
    calls = [at("Ann", "Acme", "2015"), at("Ann", "Globex", "2020", because=[[0]]), at("Ann", "Hooli", "2018")]
    kg = in_every_order(calls)
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "2018"), ("Hooli", "2018", "…")]


def test_a_premise_that_ends_for_a_reason_derived_elsewhere_ends_it() -> None:
    """No circle: the one derived claim ends the premise of the other, which has no say in it."""
    calls = [
        at("Ann", "Acme", "2015"),
        at("Bo", "Acme", "2016", because=[[0]]),
        at("Cy", "Acme", "2012"),
        at("Ann", "Globex", "2020", because=[[2]]),
    ]
    kg = in_every_order(calls)
    assert spans(kg.during(), "Bo", "works_at") == [("Acme", "2016", "2020")]


def test_a_circle_through_two_subjects_ends_its_first_premise_and_stands() -> None:
    calls = [
        at("Ann", "Acme", "2015"),
        at("Bo", "Acme", "2016", because=[[0]]),
        at("Ann", "Globex", "2020", because=[[1]]),
    ]
    kg = in_every_order(calls)
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "2020"), ("Globex", "2020", "…")]
    assert spans(kg.during(), "Bo", "works_at") == [("Acme", "2016", "…")]


def test_claims_that_rest_on_each_other_support_nothing_until_one_is_supported() -> None:
    ring = [at("Ann", "Acme", "2015", because=[[1]]), at("Ann", "Globex", "2020", because=[[0]])]
    assert spans(in_every_order(ring).during(), "Ann", "works_at") == []
    ring[0]["because"] = [[1], [2]]
    kg = in_every_order([*ring, at("Bo", "Acme", "2010")])
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "2020"), ("Globex", "2020", "…")]


@pytest.mark.parametrize("predicate", ["ceo_of", "married_to"])
def test_a_claim_may_end_its_premise_through_the_far_end_of_an_edge(predicate: str) -> None:
    calls = [
        {"subject": "Ann", "predicate": predicate, "object": "Acme", "valid_from": "2015", **INFERRED},
        {"subject": "Bo", "predicate": predicate, "object": "Acme", "valid_from": "2020", **INFERRED, "because": [[0]]},
    ]
    kg = in_every_order(calls)
    assert spans(kg.during(), "Ann", predicate) == [("Acme", "2015", "2020")]
    assert spans(kg.during(), "Bo", predicate) == [("Acme", "2020", "…")]


def test_what_lost_its_premise_for_good_reopens_it() -> None:
    calls = [at("Ann", "Acme", "2015"), at("Ann", "Globex", "2020", because=[[2]]), at("Cy", "Acme", "2012")]
    kg = told(calls)
    (premise,) = kg.claims("Cy")
    kg.retract(premise)
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "…")]
    kg.unretract(premise)
    assert spans(kg.during(), "Ann", "works_at") == [("Acme", "2015", "2020"), ("Globex", "2020", "…")]
    assert kg.verify() == []


@pytest.mark.parametrize("kind", ["change", "state"])
def test_what_a_derived_claim_displaced_resumes_when_its_premise_ends(kind: str) -> None:
    calls = [
        at("Ann", "Acme", "2010"),
        at("Bo", "Acme", "2010", valid_to="2020"),
        at("Ann", "Globex", "2015", kind=kind, because=[[1]]),
    ]
    kg = in_every_order(calls)
    wanted = [("Acme", "2010", "2015"), ("Globex", "2015", "2020"), ("Acme", "2020", "…")]
    assert spans(kg.during(), "Ann", "works_at") == wanted


def test_a_premise_that_ends_takes_no_other_word_of_the_conclusion_along() -> None:
    """Found by differential histories: the end of a premise counted as if the source had told the end of the value."""
    calls = [
        at("Ann", "Globex", "2012", said_at="2013-01-01T00:00:00Z"),
        at("Bo", "Acme", "2010", valid_to="2020"),
        at("Ann", "Globex", "2015", because=[[1]]),
    ]
    assert spans(in_every_order(calls).during(), "Ann", "works_at") == [("Globex", "2012", "…")]


def test_what_an_end_told_through_an_opposite_cuts_is_an_exception_and_takes_nothing_along() -> None:
    kg, clock = timed()
    kg.add("Ann", "likes", "tea", valid_from="2010")
    clock.tick(seconds=1)
    kg.add("Ann", "dislikes", "tea", valid_from="2010")
    clock.tick(seconds=1)
    kg.end("Ann", "dislikes", "tea", at="2023")
    assert spans(kg.during(), "Ann", "likes", negative=True) == [("¬tea", "2010", "2023"), ("tea", "2023", "…")]
    assert kg.conflicts() == []
    assert kg.verify() == []


@pytest.mark.parametrize("predicate", ["ceo_of", "works_at"])
def test_coarser_words_for_what_holds_are_a_premise_that_holds(predicate: str) -> None:
    """Found by differential histories: of a unique object, whose other end had never heard of the coarser word."""
    finer, coarser = at("Ann", "Acme Labs", "2010"), at("Ann", "Acme", "2012")
    calls = [
        finer | {"predicate": predicate},
        coarser | {"predicate": predicate},
        at("Bo", "Oslo", "2013", because=[[1]]),
    ]
    kg = in_every_order(calls)
    assert spans(kg.during(), "Ann", predicate) == [("Acme Labs", "2010", "…")]
    assert spans(kg.during(), "Bo", "works_at") == [("Oslo", "2013", "…")]


@given(arrows=st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg"))))
def test_circles_are_what_leads_to_each_other_and_come_after_what_they_lead_to(arrows: set[tuple[str, str]]) -> None:
    def leads_to(node: Any) -> list[Any]:
        return sorted(b for a, b in arrows if a == node)

    reached = {node: {b for a, b in arrows if a == node} for node in "abcdefg"}
    for middle, beyond in reached.items():
        for further in reached.values():
            further.update(beyond if middle in further else ())
    found = circles("a", leads_to)
    assert sorted(node for group in found for node in group) == sorted(reached["a"] | {"a"})
    seen: set[Any] = set()
    for group in found:
        assert {n for n in reached if n in reached[str(group[0])] and group[0] in reached[n]} | {group[0]} == set(group)
        seen.update(group)
        assert all(reached[str(node)] <= seen for node in group)


def test_a_chain_of_thousands_of_derived_claims_is_no_recursion() -> None:
    assert len(circles("0", lambda node: [str(int(str(node)) + 1)] if int(str(node)) < 5000 else [])) == 5001
