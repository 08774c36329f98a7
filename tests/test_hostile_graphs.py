"""Graphs that make careless walks explode: every read of them comes back, and says where it left something out."""

from __future__ import annotations

from collections import Counter

import pytest
from bounded_work import steps

from benchmarks.hostile import SHAPES
from semgraph import KnowledgeGraph

#: Shape, size, and which reads at their default budgets can't be the whole answer.
CASES = [
    ("clique of 300", 60, {"neighbors": 59, "farther": 59, "any": 10, "overlap": 10, "chronological": 10}),
    ("star of 100,000", 30_000, {"neighbors": 1000, "farther": 1000, "any": 1, "overlap": 1, "chronological": 1}),
    ("ladder", 300, {"neighbors": 2, "farther": 6, "any": 10, "overlap": 10, "chronological": 10}),
    ("10,000 parallel edges", 2_000, {"neighbors": 1, "farther": 2, "any": 1, "overlap": 10, "chronological": 1}),
    ("conflict of 1,000", 60, {"neighbors": 60, "farther": 60, "any": 1, "overlap": 1, "chronological": 1}),
]
CUT = {
    "clique of 300": {"any", "overlap", "chronological"},
    "star of 100,000": {"neighbors", "farther", "any"},
    "ladder": {"any", "overlap", "chronological"},
    "10,000 parallel edges": {"overlap"},
    "conflict of 1,000": set(),
}


@pytest.mark.parametrize(("shape", "size", "counts"), CASES, ids=[case[0] for case in CASES])
def test_reads_are_bounded_and_say_so(shape, size, counts):
    with KnowledgeGraph() as kg:
        kg.add_all(SHAPES[shape](size))
        found = {
            "neighbors": kg.neighbors("n0"),
            "farther": kg.neighbors("n0", hops=3),
            "any": kg.paths("n0", "n1", cutoff=8, direction="any"),
            "overlap": kg.paths("n0", "n1", mode="overlap", cutoff=8),
            "chronological": kg.paths("n0", "n1", mode="chronological", cutoff=8),
        }
        assert {read: len(answer) for read, answer in found.items()} == counts
        assert {read for read, answer in found.items() if answer.truncated} == CUT[shape]
        some, every = kg.match(("n0", "?p", "?x"), limit=100), kg.match(("n0", "?p", "?x"))
        assert list(some) == every[:100]
        assert (some.truncated, every.truncated) == (len(every) > 100, False)
        about, whole = kg.about("n0"), kg.about("n0", limit=None)
        assert {name: (len(facts), facts.truncated) for name, facts in about.items()} == {
            name: (min(len(facts), 1000), len(facts) > 1000) for name, facts in whole.items()
        }
        assert all(neighbor.facts for neighbor in found["neighbors"][:3])


def _hub(path, *, inward: int, outward: int) -> None:
    with KnowledgeGraph(path, durability="relaxed") as kg:
        kg.add_all({"subject": f"i{n}", "predicate": "knows", "object": "n0"} for n in range(inward))
        kg.add_all({"subject": "n0", "predicate": "knows", "object": f"o{n}"} for n in range(outward))


@pytest.mark.parametrize("read", ["timeline", "about"])
def test_what_leads_to_an_entity_and_can_not_be_read_from_there_costs_nothing(tmp_path, read):
    counts = []
    for inward in (300, 1_500):
        _hub(tmp_path / f"{inward}.db", inward=inward, outward=300)
        with KnowledgeGraph(tmp_path / f"{inward}.db") as kg:  # a fresh handle has no columns to tell what leads there
            counts.append(steps(lambda kg=kg: getattr(kg, read)("n0")))
    assert counts[1] < counts[0] + 600, counts


def test_what_leads_to_an_entity_is_read_where_some_predicate_reads_it_back(tmp_path):
    with KnowledgeGraph(tmp_path / "s.db") as kg:
        kg.predicates.define("befriended_by", inverse_of="befriends")  # a name that nobody defined
        kg.predicates.define("mentors", aliases=["teaches"])
        kg.predicates.define("mentored_by", inverse_of="mentors")
        kg.predicates.define("sibling", symmetric=True)
        for predicate in ("befriends", "teaches", "sibling", "unheard_of"):
            kg.add("Ann", predicate, "Bo")
    with KnowledgeGraph(tmp_path / "s.db") as kg:
        assert sorted(kg.about("Bo")) == ["befriended_by", "mentored_by", "sibling"]


def test_the_first_recall_takes_in_a_claim_in_few_steps(tmp_path):
    counts = []
    for size in (100, 2_500, 4_500):  # what is imported on the way is by the first
        _hub(tmp_path / f"{size}.db", inward=size, outward=0)
        with KnowledgeGraph(tmp_path / f"{size}.db") as kg:
            counts.append(steps(lambda kg=kg: kg.recall("where does n0 live?", touch=False)))
    assert (counts[2] - counts[1]) / 2_000 < 52, counts


@pytest.mark.parametrize(
    "read",
    [
        lambda kg: kg.match(("n0", "?p", "?x")),
        lambda kg: kg.timeline("n0"),
        lambda kg: kg.values("n0", "knows"),
        lambda kg: kg.history("n0", "knows"),
        lambda kg: kg.about("n0", limit=None),
        lambda kg: list(kg.facts("n0")),
        lambda kg: kg.paths("n0", "o1", direction="any"),
        lambda kg: kg.ask("who does n0 know?"),
    ],
    ids=["match", "timeline", "values", "history", "about", "facts", "paths", "ask"],
)
def test_very_many_facts_are_read_together(tmp_path, read):
    _hub(tmp_path / "s.db", inward=10, outward=6_000)
    with KnowledgeGraph(tmp_path / "s.db") as kg:
        seen = []
        kg._session.store._connection.exec_trace = lambda _cursor, sql, _bindings: bool(seen.append(sql)) or True
        read(kg)
        assert len(seen) < 200, Counter(seen).most_common(3)
