"""Facts say later what they said when they were read, whatever was written, forgotten or closed since."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import pytest
from histories import MOMENTS, OBJECTS, SUBJECTS, histories, tell_all, timed
from hypothesis import given, settings

from semgraph import KnowledgeGraph, SemgraphError
from semgraph.model import LATE, Fact

PARTS = [part.name for part in fields(Fact)]


def whole(fact):
    """Every part of a fact, made now."""
    return {name: getattr(fact, name) for name in PARTS}


def read(kg):
    """What some reads give, in fresh facts."""
    found = []
    for view in (kg, *(kg.at(moment) for moment in MOMENTS[:2]), kg.during(None, None)):
        found += view.facts()
        for name in (*SUBJECTS, *OBJECTS):
            try:
                found += view.timeline(name, negative=True, possible=True)
                found += [fact for each in view.about(name).values() for fact in each]
            except SemgraphError:
                continue
    return found


@settings(max_examples=10, deadline=None)
@given(calls=histories(most=7))
def test_what_is_asked_for_later_is_what_was_read(calls):
    kg, clock = timed()
    kept = []
    for call in calls:
        kept.append((read(kg), [whole(fact) for fact in read(kg)]))
        tell_all(kg, clock, [call])
    for name in SUBJECTS:
        if name in kg:
            kg.forget(entity=name)
    kg.close()
    for facts, parts in kept:
        assert [whole(fact) for fact in facts] == parts


def told(**more):
    kg = KnowledgeGraph()
    kg.add("Ann", "works_at", "Acme", valid_from="2020", text="Ann joined", qualifiers={"role": "cook"}, **more)
    return kg, *kg.timeline("Ann")


def test_a_fact_keeps_what_was_forgotten_or_retracted_after_it_was_read():
    kg, fact = told(source="doc:1")
    kg.retract(kg.timeline("Ann")[0])
    (again,) = kg.at(known_at=fact.recorded_at).timeline("Ann")
    kg.forget(entity="Ann")
    kg.close()
    assert (fact.text, fact.sources, fact.qualifiers) == ("Ann joined", ("doc:1",), {"role": "cook"})
    assert fact.claims[0].retracted_at is None
    assert again.claims[0].text == "Ann joined"


def test_a_fact_that_was_read_is_as_good_as_one_that_was_made():
    kg, fact = told()
    made = Fact(**whole(kg.timeline("Ann")[0]))
    assert fact == made
    assert hash(fact) == hash(made)
    assert repr(fact) == repr(made)
    (other,) = kg.timeline("Ann")
    assert other == fact
    assert {other, fact, made} == {made}
    for way in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f)), replace):  # noqa: S301 - our own
        (fresh,) = kg.timeline("Ann")
        assert whole(way(fresh)) == whole(made)
    assert replace(kg.timeline("Ann")[0], text="other") != made


def test_only_parts_of_a_fact_can_be_asked_for_and_none_can_be_set():
    _, fact = told()
    for name in ("colour", "_colour", "_late_"):
        with pytest.raises(AttributeError, match=f"'Fact' object has no attribute '{name}'"):
            getattr(fact, name)
    for name in ("text", "id"):
        with pytest.raises(AttributeError):
            setattr(fact, name, "x")
    made = Fact(**whole(fact))
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        made.colour  # noqa: B018
    assert set(PARTS) > LATE
