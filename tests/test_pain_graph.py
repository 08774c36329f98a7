"""What users suffered from walks over graphs elsewhere must not happen here, numbered as on the list of pains."""

from __future__ import annotations

import pytest

from semgraph import KnowledgeGraph
from semgraph.index import keeping
from semgraph.session import Session


@pytest.fixture(params=["from memory", "from the store"], autouse=True)
def origin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every walk, with the facts loaded at once and with none loaded ever."""
    if request.param == "from memory":
        monkeypatch.setattr(keeping, "_FREE_READS", 0)
    else:
        monkeypatch.setattr(Session, "columns", lambda *_, **__: None)


def walked(kg: KnowledgeGraph, near: str = "a", far: str = "c") -> set[str]:
    """Every name that some walk comes upon."""
    found = {each.entity.label for each in kg.neighbors(near, hops=3, direction="any")}
    found |= {fact.label for each in kg.neighbors(near, hops=3, direction="any") for fact in each.facts}
    for path in kg.paths(near, far, direction="any"):
        found |= {entity.label for entity in path.entities}
    found |= {str(thing) for row in kg.match((near, "?p", "?x"), ("?x", "?q", "?y")) for thing in row.values()}
    return found | set(kg.to_networkx())


@pytest.mark.parametrize("read", ["neighbors", "paths", "match", "recall"])
def test_row_08_what_is_over_takes_no_place_of_what_holds(read: str) -> None:
    kg = KnowledgeGraph()
    kg.predicates.define("employs", cardinality="many")
    kg.add_all(
        {"subject": "Acme", "predicate": "employs", "object": f"A{n}", "valid_from": "2000", "valid_to": "2010"}
        for n in range(300)
    )
    kg.add("Acme", "employs", "Zoe", valid_from="2015")
    found = {
        "neighbors": lambda: [each.entity.label for each in kg.neighbors("Acme", limit=1)],
        "paths": lambda: [path.entities[-1].label for path in kg.paths("Acme", "Zoe", limit=1)],
        "match": lambda: [row["who"].label for row in kg.match(("Acme", "employs", "?who"), limit=1)],
        "recall": lambda: [hit.fact.object.label for hit in kg.recall("Whom does Acme employ?", limit=1)],
    }[read]()
    assert found == ["Zoe"]


@pytest.mark.parametrize("direction", ["out", "any"])
def test_a_walk_leads_through_nothing_that_has_ended_or_has_not_begun(direction: str) -> None:
    kg = KnowledgeGraph()
    for near, far, start, end in [("a", "b", "2000", "2010"), ("b", "c", "2005", None), ("a", "d", "2020", None)]:
        kg.add(near, "knows", far, valid_from=start, valid_to=end)
    kg.add("d", "knows", "c", valid_from="2030")
    found = {
        year: [len(kg.at(year).paths("a", "c", direction=direction)), len(kg.at(year).neighbors("a", hops=2))]
        for year in ("2004", "2007", "2015", "2025", "2031")
    }
    assert found == {"2004": [0, 1], "2007": [1, 2], "2015": [0, 0], "2025": [0, 1], "2031": [1, 2]}


def test_row_17_a_merge_loses_no_way() -> None:
    kg = KnowledgeGraph()
    kg.add("a", "knows", "Mickael"), kg.add("Mickael Wagner", "knows", "c")
    assert not kg.paths("a", "c")
    kg.names.merge("Mickael", "Mickael Wagner")
    assert [len(path) for path in kg.paths("a", "c")] == [2]
    assert len(kg.neighbors("a", hops=2)) == 2
    kg.names.unmerge("Mickael")
    assert not kg.paths("a", "c")


def test_row_28_42_no_walk_comes_upon_what_was_forgotten() -> None:
    kg = KnowledgeGraph()
    kg.add_all({"subject": near, "predicate": "knows", "object": far} for near, far in ("ab", "bc", "ad", "dc"))
    assert "b" in walked(kg)
    kg.forget(entity="b")
    assert all("b" not in name.split() for name in walked(kg))
    assert [[entity.label for entity in path.entities] for path in kg.paths("a", "c")] == [["a", "d", "c"]]


def test_row_37_no_hop_leaves_the_scope() -> None:
    kg = KnowledgeGraph()
    other = kg.scoped("other")
    kg.add("a", "knows", "b"), kg.add("b", "knows", "c")
    other.add("b", "knows", "secret"), other.add("secret", "knows", "c"), other.add("a", "knows", "secret")
    assert not {name for name in walked(kg) if "secret" in name}
    assert {name for name in walked(other) if "secret" in name}
    assert kg.edges().predicates == ("knows",)
    assert len(kg.edges()) == 2
