"""Reads from memory give what reads from the store give, after every write, at many instants."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager

import pytest
from histories import MIXED, MOMENTS, OBJECTS, SUBJECTS, graph, histories, tell_all, timed
from hypothesis import given, settings

from semgraph import ConflictError, InputError, KnowledgeGraph, SemgraphError
from semgraph.points import STALE, UNTOLD

ASKED = (*MIXED, "boss_of", "employs", "nonsense", " ", None)
NAMES = (*SUBJECTS, *OBJECTS, "nobody", "")


def loaded(kg):
    """The graph, whose reads come from memory from now on."""
    with kg._session.read():
        kg._session.columns(reads=10**9)
    return kg


@contextmanager
def from_the_store(kg):
    """A block in which nothing is read from memory."""
    session = kg._session
    points, session.points = session.points, None
    session.followed = lambda: None
    try:
        yield
    finally:
        del session.followed
        session.points = points


def outcome(call, *given):
    """What a call gives, or how it fails."""
    try:
        return call(*given)
    except ConflictError as error:
        return str(error), sorted(fact.id for fact in error.facts)
    except SemgraphError as error:
        return type(error), str(error)


def values(kg):
    views = [kg, *(kg.at(moment) for moment in MOMENTS)]
    return [outcome(view.value, name, asked, "none") for view in views for name in NAMES for asked in ASKED]


@settings(max_examples=10, deadline=None)
@given(calls=histories(most=7))
def test_values_from_memory_are_those_of_the_store_after_every_write(calls):
    kg, clock = timed()
    told = []
    for call in calls:
        tell_all(kg, clock, [call])
        loaded(kg)
        found = values(kg)
        told += found
        with from_the_store(kg):
            assert found == values(kg)


@settings(max_examples=4, deadline=None)
@given(calls=histories(most=6))
def test_values_follow_what_another_handle_writes(calls, tmp_path_factory):
    target = tmp_path_factory.mktemp("points") / "kg.db"
    writer, clock = timed(target=target)
    with closing(writer), closing(graph(target, clock=clock)) as kg:
        for call in calls:
            tell_all(writer, clock, [call])
            loaded(kg)
            found = values(kg)
            with from_the_store(kg):
                assert found == values(kg)


def small():
    kg = KnowledgeGraph()
    kg.predicates.define("height", cardinality="one")
    kg.add("Ann", "works_at", "Acme", valid_from="2020", valid_to="2022")
    kg.add("Ann", "works_at", "Globex", valid_from="2022")
    kg.add("Ann", "height", 170, valid_from="2000")
    kg.add("Ann", "reports_to", "Bo", valid_from="2021")
    kg.add("Ann", "married_to", "Cy", valid_from="2019")
    return loaded(kg)


def told(view, *given):
    """What memory tells: never the store."""
    cut = view._slice
    found = view._session.followed().value(*given, cut.valid_at, cut.known_at, "none")
    assert found is not STALE
    return found


def test_memory_tells_values_literals_inverses_and_symmetric_ones():
    kg = small()
    assert told(kg, "Ann", "works_at") == "Globex"
    assert told(kg.at("2021"), "ann", "Works at") == "Acme"
    assert told(kg.at("2019"), "Ann", "works_at") == "none"
    assert told(kg, "Ann", "height") == 170
    assert told(kg, "Bo", "manages") == "Ann"
    assert told(kg, "Cy", "married_to") == "Ann"
    assert told(kg, kg.entity("Ann"), "works_at") == "Globex"


def test_memory_leaves_to_the_store_what_it_can_not_tell():
    kg = small()
    first = kg.at()
    kg.add("Ann", "likes", "tea")
    kg.add("Ann", "likes", "milk")
    assert told(kg, "Ann", "likes") is UNTOLD
    assert told(kg, "Ann", "dislikes") is UNTOLD
    assert told(kg, "nobody", "likes") is UNTOLD
    assert told(first, "Ann", "works_at") is UNTOLD, "an older belief"
    with kg.atomic():
        assert kg._session.followed() is None
        kg.add("Ann", "works_at", "Initech", kind="change")
        assert kg.value("Ann", "works_at") == "Initech"
    with pytest.raises(ConflictError):
        kg.value("Ann", "likes")


def test_what_is_no_predicate_is_refused_from_memory_too():
    kg = graph()
    kg.add("Ann", "works_at", "Acme")
    loaded(kg)
    assert kg.value("Ann", "works_at") == "Acme"
    for wrong in ([], {}, 5):
        with pytest.raises(InputError):
            kg.value("Ann", wrong)


def test_a_view_keeps_to_what_was_known_and_to_what_was_forgotten_since(tmp_path):
    kg, other = KnowledgeGraph(tmp_path / "kg.db"), KnowledgeGraph(tmp_path / "kg.db")
    with closing(kg), closing(other):
        kg.add("Ann", "works_at", "Acme", valid_from="2020")
        loaded(kg)
        assert kg.value("Ann", "works_at") == "Acme"
        views = [kg.at("2021") for _ in range(3)]
        assert views[0].value("Ann", "works_at") == "Acme"
        other.correct("Ann", "works_at", "Acme", "Globex")
        assert views[1].value("Ann", "works_at") == "Acme"
        assert kg.at("2021").value("Ann", "works_at") == "Globex"
        view = kg.at("2021")
        kg.forget(entity="Ann")
        assert view.value("Ann", "works_at", "nowhere") == "nowhere"
        assert kg.at("2021").value("Ann", "works_at", "nowhere") == "nowhere"


def test_names_labels_and_definitions_are_those_of_today():
    kg = small()
    assert kg.value("Ann", "works_at") == "Globex"
    kg.names.alias("Globex International", "Globex", primary=True)
    assert kg.value("Ann", "works_at") == "Globex International"
    kg.names.merge("Bo", "Cy")
    assert kg.value("Ann", "reports_to") == "Cy"
    assert kg.value("Bo", "manages") == "Ann"
    kg.names.unmerge("Bo")
    assert kg.value("Ann", "reports_to") == "Bo"
    kg.predicates.define("employer", inverse_of="employs")
    kg.predicates.define("works_at", aliases=["toils_at"])
    assert kg.value("Ann", "toils_at") == "Globex International"
    kg.forget(entity="Globex")
    assert kg.value("Ann", "works_at", "nowhere") == "nowhere"


def test_threads_read_what_is_committed_while_others_write(tmp_path):
    kg, clock = timed(target=tmp_path / "kg.db")
    kg.predicates.define("count", cardinality="one")
    kg.set("it", "count", 0)
    loaded(kg)
    seen: list[list[int]] = [[] for _ in range(3)]
    done = threading.Event()

    def watch(place):
        while not done.is_set():
            seen[place].append(kg.value("it", "count", 0))

    threads = [threading.Thread(target=watch, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for n in range(1, 25):
        clock.tick(days=2)
        kg.set("it", "count", n)
        assert kg.value("it", "count") == n
    done.set()
    for thread in threads:
        thread.join()
    assert all(each == sorted(each) for each in seen)
    kg.close()
