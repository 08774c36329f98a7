"""What claims must have left: the same for components together as alone, with little work for edges of two ends."""

from __future__ import annotations

import io
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semgraph import KnowledgeGraph, audit, read, write
from semgraph.errors import InputError, NotFoundError
from semgraph.fold import fold
from semgraph.ledger import Ledger

if TYPE_CHECKING:
    from semgraph.model import ConflictSet

NAMES = ("Ann", "Bo", "Cy", "Di", "Eve")
KINDRED = ("Postgres", "Postgres 16", "Ann", "Bo", "Cy")  # one refines another, until it is declared
MIRRORED = ({"symmetric": True}, {"symmetric": True, "cardinality": "one"}, {"unique_object": True})
Edge = tuple[str, str, str | None]
edges = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["2010", "2015", "2020", None]))
batches = st.lists(st.lists(edges, min_size=1, max_size=4), min_size=1, max_size=8)


def told(
    kg: KnowledgeGraph, options: dict[str, object], given_batches: list[list[tuple[str, str, str | None]]]
) -> None:
    kg.predicates.define("tied_to", **{"cardinality": "many", **options})
    for at, batch in enumerate(given_batches):
        kg.add_all({"subject": a, "predicate": "tied_to", "object": b, "valid_from": since} for a, b, since in batch)
        claims = list(kg.claims())
        if at % 3 == 1:
            kg.retract(claims[at % len(claims)].id)
        if at % 4 == 3:
            kg.end(batch[0][0], "tied_to", at="2018")


@pytest.mark.parametrize("options", MIRRORED)
@given(given_batches=batches)
def test_components_that_are_computed_together_are_as_they_are_alone(options, given_batches):
    with KnowledgeGraph() as kg:
        told(kg, options, given_batches)
        if {"Eve", "Di"} <= {entity.label for entity in kg.entities()}:
            kg.names.merge("Eve", "Di")
        assert kg.verify() == []
        with kg.reading() as reader:
            ledger = reader.ledger
            (groups,) = ledger.together(audit._components(reader))
            alone = [ledger.expected(group) for group in groups]
            found = ledger.expected_of(groups)
        for one, other in zip(found, alone, strict=True):
            assert [sorted(rows) for rows in one] == [sorted(rows) for rows in other]


def test_a_dense_graph_of_edges_with_two_ends_is_verified_with_a_fold_for_each_of_its_nodes(monkeypatch):
    folded = []
    monkeypatch.setattr("semgraph.belief.fold", lambda *args, **more: folded.append(1) or fold(*args, **more))
    with KnowledgeGraph() as kg:
        kg.predicates.define("tied_to", cardinality="many", symmetric=True)
        kg.add_all({"subject": f"n{i}", "predicate": "tied_to", "object": f"n{i * k % 40}"} for i in range(40)
                   for k in (3, 7, 11, 13) if i * k % 40 != i)  # fmt: skip
        folded.clear()
        assert kg.verify() == []
    assert 0 < len(folded) <= 2 * 40


def test_without_edges_of_two_ends_every_component_is_computed_alone():
    with KnowledgeGraph() as kg:
        kg.add_all({"subject": f"n{i}", "predicate": "likes", "object": "tea"} for i in range(5))
        with kg.reading() as reader:
            assert isinstance(reader.ledger, Ledger)
            assert [len(groups) for groups in reader.ledger.together(audit._components(reader))] == [1] * 5


def test_an_entity_that_is_parted_takes_along_as_a_value_what_was_merged_into_it():
    with KnowledgeGraph() as kg:
        kg.add("Eve", "likes", "Ann", valid_from="2020")
        kg.add("Bo", "lives_in", "Leeds")
        kg.add("Cy", "lives_in", "York")
        kg.names.merge("Ann", "Bo")
        kg.names.merge("Bo", "Cy")
        assert str(kg.value("Eve", "likes")) == "Cy"
        kg.names.unmerge("Bo")
        assert str(kg.value("Eve", "likes")) == "Bo"
        assert kg.verify() == []


def pick(kg: KnowledgeGraph, subject: str) -> ConflictSet:
    return next(found for found in kg.conflicts() if found.subject is not None and found.subject.label == subject)


def tell_of_marriages(kg: KnowledgeGraph) -> None:
    kg.add("Ann", "married_to", "Cy", valid_from="2010")
    kg.add("Ann", "married_to", "Bo", valid_from="2020", kind="change")
    kg.add("Ann", "married_to", "Cy")


def test_two_values_that_are_kept_at_one_end_change_what_the_other_end_is_in_conflict_with():
    with KnowledgeGraph() as kg:
        kg.add("Dee", "married_to", "Cy", valid_from="2010")
        tell_of_marriages(kg)
        kg.settle("Ann", "married_to", "keep_both", conflict=pick(kg, "Ann"))
        assert kg.verify() == []
        (still,) = kg.conflicts()
        assert [str(fact.valid_from) for fact in still.facts] == ["2010", "2010"]  # Ann's was closed in 2020 before


def test_values_that_were_kept_elsewhere_change_the_other_end_here_too():
    with KnowledgeGraph() as there, KnowledgeGraph() as here:
        tell_of_marriages(there)
        there.settle("Ann", "married_to", "keep_both")
        for name in ("Bo", "Cy"):
            there.add("Ann", "likes", name)  # so that she and they stay known
        for claim in list(there.claims(predicate="married_to")):
            there.forget(claim=claim.id)  # so that the decision comes alone
        here.add("Dee", "married_to", "Cy", valid_from="2010")
        tell_of_marriages(here)
        read(here, written(there), format="jsonl")
        assert here.verify() == []
        (still,) = here.conflicts()
        assert [str(fact.valid_from) for fact in still.facts] == ["2010", "2010"]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("options", [{"symmetric": True, "cardinality": "one"}, {"unique_object": True}])
def test_a_subject_that_is_declared_refines_no_other_one_at_the_far_end(options, joined):
    with KnowledgeGraph() as kg, KnowledgeGraph() as there:
        for each in (kg, there):
            each.predicates.define("tied_to", **{"cardinality": "many", **options})
        kg.add("Postgres 16", "tied_to", "Acme", valid_from="2020")
        kg.add("Postgres", "tied_to", "Acme", valid_from="2021")
        assert list(kg.timeline("Postgres", "tied_to")) == []  # it confirms what is finer
        (there if joined else kg).names.declare("Postgres 16")
        if joined:
            read(kg, written(there), format="jsonl")
        assert kg.verify() == []
        (coarse,), (fine,) = kg.timeline("Postgres", "tied_to"), kg.timeline("Postgres 16", "tied_to")
        assert (str(fine.valid_to), str(coarse.valid_from)) == ("2021", "2021")


Deed = tuple[str, str, str, str | None]
deeds = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "change", "keep_both", "declare", "retract", "merge", "unmerge"]),
        st.sampled_from(KINDRED),
        st.sampled_from(KINDRED),
        st.sampled_from(["2010", "2015", "2020", None]),
    ),
    max_size=10,
)


@pytest.mark.parametrize("options", MIRRORED)
@given(given_deeds=deeds)
def test_the_facts_at_far_ends_follow_from_the_claims_after_every_deed(options, given_deeds):
    with KnowledgeGraph() as kg:
        kg.predicates.define("tied_to", **{"cardinality": "many", **options})
        for number, (deed, a, b, since) in enumerate(given_deeds):
            do(kg, number, deed, (a, b, since))
            assert kg.verify() == []


def do(kg: KnowledgeGraph, number: int, deed: str, edge: Edge) -> None:
    a, b, since = edge
    if deed in ("add", "change"):
        kg.add(a, "tied_to", b, valid_from=since, kind="change" if deed == "change" else "state")
    elif deed == "declare":
        kg.names.declare(a)
    elif deed == "keep_both" and (found := list(kg.conflicts())):
        conflict = found[number % len(found)]
        kg.settle(conflict.subject, "tied_to", "keep_both", conflict=conflict)
    elif deed == "retract" and (claims := list(kg.claims())):
        kg.retract(claims[number % len(claims)].id)
    elif deed == "merge":
        with suppress(InputError, NotFoundError):
            kg.names.merge(a, b)
    elif deed == "unmerge":
        with suppress(InputError, NotFoundError):
            kg.names.unmerge(a)


def written(kg: KnowledgeGraph) -> io.BytesIO:
    buffer = io.BytesIO()
    write(kg, buffer, format="jsonl")
    return io.BytesIO(buffer.getvalue())


def test_a_far_end_that_was_merged_for_a_while_counts_for_what_was_believed_then():
    day = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=2 * n) for n in range(99))
    with KnowledgeGraph(clock=lambda: next(day)) as kg:
        kg.add("Bo", "ceo_of", "Acme", source_ref="doc:1")
        kg.names.merge("Bo", "Acme")
        kg.add("Ann", "ceo_of", "Bo", source_ref="doc:1")
        assert kg.verify() == []
        kg.names.unmerge("Bo")
        assert kg.verify() == []
