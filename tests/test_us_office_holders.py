"""Real people with day-exact terms, parties and many names: who held what on which day, and who is meant by a name."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from real_data import json_rows

from semgraph.engine import KnowledgeGraph
from semgraph.errors import AmbiguousNameError
from semgraph.names import entity_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.shared_data

OFFICES = {"prez": "president of the United States", "viceprez": "vice president of the United States"}


class Loaded(NamedTuple):
    """The office holders in a graph, under their ids with all their names, and the records that they came from."""

    graph: KnowledgeGraph
    people: list[dict[str, Any]]


@pytest.fixture(scope="module")
def loaded(shared_data: Path) -> Iterator[Loaded]:
    folder = shared_data / "us_office_holders"
    people = json_rows(folder / "legislators.jsonl.gz") + json_rows(folder / "executive.jsonl.gz")
    with KnowledgeGraph(source="imported:congress") as graph:
        graph.predicates.define("held by", cardinality="one", range="entity")
        graph.predicates.define("seat", cardinality="one", range="literal")
        batch = graph.add_all(claim for person in people for claim in claims(person))
        assert batch.rejected == ()
        with graph.atomic():
            for person in people:
                for name in [person["name"], *person["aliases"]]:
                    graph.names.alias(name, person["id"], homonym=True, primary=name == person["name"])
        yield Loaded(graph, people)


def claims(person: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for term in person["terms"]:
        common = {"source_ref": person["id"]}
        if term["type"] in OFFICES:
            subject, predicate, thing = OFFICES[term["type"]], "held by", person["id"]
            yield {
                "subject": subject,
                "predicate": predicate,
                "object": thing,
                "valid_from": term["start"],
                "valid_to": term["end"],
                **common,
            }
            continue
        place = term["state"] + (f"-{term['district']}" if term["type"] == "rep" else "")
        yield {
            "subject": person["id"],
            "predicate": "seat",
            "object": f"{term['type']}:{place}:{term['party']}",
            "valid_from": term["start"],
            "valid_to": term["end"],
            **common,
        }


def test_everybody_is_loaded_once(loaded: Loaded) -> None:
    assert len(loaded.people) == 617
    assert len(loaded.graph) == 617 + 2  # and the two offices
    assert loaded.graph.stats()["claims"] == 2_923
    assert loaded.graph.during().conflicts() == []


def test_every_truth_around_a_change_of_office(loaded: Loaded, shared_data: Path) -> None:
    truths = json_rows(shared_data / "us_office_holders" / "truth_as_of.jsonl.gz")
    ids = {loaded.graph.entity(person["id"]).id: person["id"] for person in loaded.people}
    wrong = []
    for truth in truths:
        view = loaded.graph.at(truth["as_of"])
        if truth["ask"] == "holder":
            found = [ids[fact.object.id] for fact in view.values(truth["office"], "held by")]
            wanted = truth["answer_ids"]
        else:
            found = [fact.object.label for fact in view.values(truth["person_id"], "seat")]
            wanted = truth["answers"]
        if sorted(found) != sorted(wanted):
            wrong.append((truth, found))
    assert wrong == []
    assert len(truths) == 3_405
    assert sum(not truth["answers"] for truth in truths) == 495


def test_a_renewed_term_is_one_fact_and_a_vacancy_is_none(loaded: Loaded) -> None:
    terms = loaded.graph.timeline(OFFICES["prez"], "held by")
    assert [str(fact.valid_to) for fact in terms[:1]] == ["1797-03-04"]
    assert len(terms) == 47
    vice = loaded.graph.timeline(OFFICES["viceprez"], "held by")
    gaps = [
        (str(a.valid_to), str(b.valid_from)) for a, b in pairwise(vice) if a.valid_to.instant < b.valid_from.instant
    ]
    assert (len(vice), len(gaps)) == (50, 18)
    assert loaded.graph.at("1841-06-01").values(OFFICES["viceprez"], "held by") == []


def test_every_name_finds_its_person_and_shared_ones_give_all_who_bear_them(loaded: Loaded) -> None:
    bearers: dict[str, set[str]] = defaultdict(set)
    for person in loaded.people:
        for name in [person["name"], *person["aliases"]]:
            bearers[entity_key(name)].add(person["id"])
    by_id = {person["id"]: loaded.graph.entity(person["id"]) for person in loaded.people}
    asked = ambiguous = 0
    for person in loaded.people:
        for name in [person["name"], *person["aliases"]]:
            asked += 1
            wanted = {by_id[one] for one in bearers[entity_key(name)]}
            assert set(loaded.graph.candidates(name)) == wanted
            if len(wanted) == 1:
                assert loaded.graph.entity(name) == by_id[person["id"]]
                continue
            ambiguous += 1
            with pytest.raises(AmbiguousNameError) as caught:
                loaded.graph.entity(name)
            assert set(caught.value.candidates) == wanted
    assert (asked, len(bearers), ambiguous) == (1_256, 1_253, 6)


def test_a_claim_under_a_shared_name_is_refused_and_says_who_is_meant(loaded: Loaded) -> None:
    batch = loaded.graph.add_all([{"subject": "George Bush", "predicate": "birth_date", "object": "1924-06-12"}])
    assert [(r.code, r.outcome.value) for r in batch.rejected] == [("ambiguous_entity", "rejected")]
    assert loaded.graph.about("G412375") == {}
