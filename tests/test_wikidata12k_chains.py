"""Real values with years that follow one another, or hold together: told without ends, with ends, under every policy.

Values are told by their Q-ids. A chain whose key is the object has subjects for values: there the predicate is one with
a unique object.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from real_data import EVER, OPEN, joined, json_rows, stretch, timelines, together, year_text

from semgraph.engine import KnowledgeGraph
from semgraph.vocabulary import predicate_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.shared_data

SOURCE = "imported:wikidata"

# -- successions

# An open value told for the year of one that stopped in it: what is bounded is the exception, and suspends it.
EXCEPTED = [
    ("Q19566", "is_p17", "Q159", [(2015, OPEN)]),
    ("Q402016", "is_p54", "Q556570", [(2015, OPEN)]),
    ("Q729289", "is_p54", "Q218074", [(2008, 2012), (2013, OPEN)]),
]


class Chain(NamedTuple):
    """Values of one key that follow one another."""

    key: str
    relation: str
    values: list[dict[str, str]]

    def claims(self, *, ends: bool, turned: bool = False) -> list[dict[str, Any]]:
        return [
            {
                "subject": value["value_id"] if turned else self.key,
                "predicate": self.relation,
                "object": self.key if turned else value["value_id"],
                "valid_from": year_text(value["valid_from"]) if value["valid_from"] else "-inf",
                "valid_through": year_text(value["valid_to"]) if ends and value["valid_to"] else None,
            }
            for value in self.values
        ]

    def stated(self) -> dict[str, list[tuple[int, int]]]:
        """The years of every value as they were given."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for value in self.values:
            found[value["value_id"]].append(stretch(value["valid_from"], value["valid_to"]))
        return {value: joined(stretches) for value, stretches in found.items()}

    def followed(self) -> dict[str, list[tuple[int, int]]]:
        """The years of every value if each new one ends those before it, and one that holds is only said again.

        Values of one year can't be put in order, so they stay beside each other until a later year's.
        """
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        running: dict[str, int] = {}
        for value in self.values:
            name, start = value["value_id"], int(value["valid_from"])
            if name in running:
                continue
            for earlier in [one for one, since in running.items() if since < start]:
                found[earlier].append((running.pop(earlier), start))
            running[name] = start
        for name, since in running.items():
            found[name].append((since, OPEN))
        return {value: joined(stretches) for value, stretches in found.items()}


def chains(path: Path, key: str) -> list[Chain]:
    return [Chain(row["id"], f"is {row['relation_id']}", row["chain"]) for row in json_rows(path) if row["key"] == key]


def functional(told_chains: list[Chain], *, turned: bool = False) -> KnowledgeGraph:
    graph = KnowledgeGraph(source=SOURCE)
    for relation in sorted({chain.relation for chain in told_chains}):
        if turned:
            graph.predicates.define(relation, cardinality="many", unique_object=True, range="entity")
        else:
            graph.predicates.define(relation, cardinality="one", range="entity")
    return graph


def replayed(graph: KnowledgeGraph, told_chains: list[Chain], *, turned: bool = False) -> None:
    """Each value told after its predecessor is on record, and without its end."""
    for rounds in zip_longest(*(chain.claims(ends=False, turned=turned) for chain in told_chains)):
        batch = graph.add_all(claim for claim in rounds if claim is not None)
        assert batch.rejected == ()


def disputes(graph: KnowledgeGraph) -> dict[tuple[str, str], set[tuple[frozenset[str], int, int]]]:
    """The conflict sets of all time by key: the values, and the years in which they hold together."""
    found: dict[tuple[str, str], set[tuple[frozenset[str], int, int]]] = defaultdict(set)
    for conflict in graph.during().conflicts():
        turned = conflict.subject is None
        about = conflict.object if turned else conflict.subject
        values = frozenset((fact.subject if turned else fact.object).label for fact in conflict.facts)
        since = EVER if str(conflict.since) == "-inf" else int(str(conflict.since)[:4])
        until = OPEN if conflict.until is None else int(str(conflict.until)[:4])
        found[about.label, conflict.predicate].add((values, since, until))
    return dict(found)


def contradictions(
    wanted: Mapping[tuple[str, str], Mapping[str, list[tuple[int, int]]]],
) -> dict[tuple[str, str], set[tuple[frozenset[str], int, int]]]:
    """The stretches in which values of one key hold together, by key."""
    return {at: sets for at, stretches in wanted.items() if (sets := together(stretches))}


def by_key(graph: KnowledgeGraph, *, turned: bool) -> dict[tuple[str, str], dict[str, list[tuple[int, int]]]]:
    found = timelines(graph.during().facts())
    if not turned:
        return found
    round_: dict[tuple[str, str], dict[str, list[tuple[int, int]]]] = defaultdict(dict)
    for (value, relation), keys in found.items():
        for key, stretches in keys.items():
            round_[key, relation][value] = stretches
    return dict(round_)


@pytest.mark.parametrize(("key", "number", "values"), [("subject", 1_115, (4_322, 182)), ("object", 722, (2_247, 41))])
def test_a_value_closes_its_open_predecessor_at_its_own_start(
    shared_data: Path, key: str, number: int, values: tuple[int, int]
) -> None:
    told_chains = chains(shared_data / "wikidata12k" / "successions.jsonl.gz", key)
    turned = key == "object"
    with functional(told_chains, turned=turned) as graph:
        replayed(graph, told_chains, turned=turned)
        wanted = {(chain.key, predicate_key(chain.relation)): chain.followed() for chain in told_chains}
        assert by_key(graph, turned=turned) == wanted
        at_once = contradictions(wanted)
        assert disputes(graph) == at_once
        assert len(told_chains) == number
        assert (sum(len(chain.values) for chain in told_chains), len(at_once)) == values


@pytest.mark.parametrize(("key", "gaps", "returns"), [("subject", 705, 375), ("object", 1_111, 393)])
def test_with_ends_gaps_stay_gaps_and_values_come_back(shared_data: Path, key: str, gaps: int, returns: int) -> None:
    told_chains = chains(shared_data / "wikidata12k" / "successions.jsonl.gz", key)
    turned = key == "object"
    with functional(told_chains, turned=turned) as graph:
        graph.add_all(claim for chain in told_chains for claim in chain.claims(ends=True, turned=turned))
        wanted = {(chain.key, predicate_key(chain.relation)): chain.stated() for chain in told_chains}
        if not turned:
            for subject, relation, value, held in EXCEPTED:
                wanted[subject, relation][value] = held
        found = by_key(graph, turned=turned)
        assert found == wanted
        assert disputes(graph) == contradictions(wanted)
        spans = [joined(s for stretches in values.values() for s in stretches) for values in found.values()]
        assert sum(len(span) - 1 for span in spans) == gaps
        assert sum(len(s) - 1 for values in found.values() for s in values.values()) == returns


# -- overlaps


@pytest.fixture(scope="module")
def overlaps(shared_data: Path) -> list[Chain]:
    rows = json_rows(shared_data / "wikidata12k" / "overlaps.jsonl.gz")
    return [Chain(row["id"], f"{row['key']} {row['relation_id']}", row["chain"]) for row in rows]


def test_overlapping_values_are_parallel_where_many_are_allowed(overlaps: list[Chain]) -> None:
    with KnowledgeGraph(source=SOURCE, config={"unregistered": "many"}) as graph:
        graph.add_all(claim for chain in overlaps for claim in chain.claims(ends=True))
        wanted = {(chain.key, predicate_key(chain.relation)): chain.stated() for chain in overlaps}
        assert timelines(graph.during().facts()) == wanted
        assert graph.during().conflicts() == []
        assert len(wanted) == 1_500


def test_overlapping_values_of_different_voices_are_flagged_where_nobody_said_how_many(overlaps: list[Chain]) -> None:
    """Unregistered predicates supersede nothing: every interval stays, and what overlaps is said to contradict."""
    with KnowledgeGraph() as graph:
        graph.add_all(
            {**claim, "source": f"imported:{number}"}
            for chain in overlaps
            for number, claim in enumerate(chain.claims(ends=True))
        )
        wanted = {(chain.key, predicate_key(chain.relation)): chain.stated() for chain in overlaps}
        assert timelines(graph.during().facts()) == wanted
        found = disputes(graph)
        assert found == contradictions(wanted)
        assert (len(found), sum(map(len, found.values()))) == (1_479, 9_137)


def test_overlapping_stated_intervals_contradict_where_one_value_is_allowed(overlaps: list[Chain]) -> None:
    bounded = [chain for chain in overlaps if all(v["valid_from"] and v["valid_to"] for v in chain.values)]
    with functional(bounded) as graph:
        graph.add_all(claim for chain in bounded for claim in chain.claims(ends=True))
        wanted = {(chain.key, predicate_key(chain.relation)): chain.stated() for chain in bounded}
        assert timelines(graph.during().facts()) == wanted
        found = disputes(graph)
        assert found == contradictions(wanted)
        assert (len(bounded), len(found), sum(map(len, found.values()))) == (954, 941, 5_456)
