"""Real names: aliases find their entity, homonyms and near names never become one, likeness only suggests."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING

import pytest
from real_data import json_rows, table_rows

from semgraph.engine import KnowledgeGraph
from semgraph.errors import AmbiguousNameError
from semgraph.names import entity_key

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared_data


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "entity_aliases"


def test_every_alias_finds_its_entity(folder: Path) -> None:
    rows = json_rows(folder / "wikidata_aliases.jsonl.gz")
    with KnowledgeGraph(source="imported:wikidata") as graph:
        known = {}
        with graph.atomic():
            for row in rows:
                known[row["id"]] = graph.names.declare(row["names"][0])
                for name in row["names"][1:]:
                    graph.names.alias(name, row["names"][0])
        for row in rows:
            for name in row["names"]:
                assert graph.entity(name) == known[row["id"]]
                assert graph.candidates(name) == [known[row["id"]]]
        assert (len(rows), sum(len(row["names"]) for row in rows)) == (159, 678)
        assert len(graph) == len(set(known.values())) == 159


def test_what_questions_call_an_entity_finds_it_once_it_is_an_alias(folder: Path) -> None:
    rows = table_rows(folder / "question_mentions.tsv")
    with KnowledgeGraph(source="imported:wikidata") as graph:
        with graph.atomic():
            for number, _, mention in rows:
                graph.names.alias(mention, number, homonym=True)
        bearers: dict[str, set[str]] = {}
        for number, _, mention in rows:
            bearers.setdefault(entity_key(mention), set()).add(number)
        for key, numbers in bearers.items():
            assert {entity.label for entity in graph.candidates(key)} == numbers
        assert (len(rows), len(bearers), sum(len(n) > 1 for n in bearers.values())) == (573, 572, 0)
        assert len(graph) == len({row[0] for row in rows}) == 450


def test_homonyms_that_were_told_apart_stay_apart(folder: Path) -> None:
    rows = json_rows(folder / "homonyms.jsonl.gz")
    with KnowledgeGraph(source="imported:wikidata") as graph:
        graph.add_all({"subject": i, "predicate": "is_a", "object": "thing"} for row in rows for i in row["ids"])
        with graph.atomic():
            for row in rows:
                for number in row["ids"]:
                    graph.names.alias(row["name"], number, homonym=True)
        bearers: dict[str, set[str]] = {}  # by key: "Thunderbird" and "thunderbird." are one name
        for row in rows:
            bearers.setdefault(entity_key(row["name"]), set()).update(row["ids"])
        for row in rows:
            with pytest.raises(AmbiguousNameError) as caught:
                graph.entity(row["name"])
            assert {entity.label for entity in caught.value.candidates} == bearers[entity_key(row["name"])]
        assert len(bearers) == 1_325
        assert (len(rows), sum(len(row["ids"]) for row in rows)) == (1_332, 3_228)
        assert len(graph) == 3_228 + 1
        told = graph.add_all({"subject": row["name"], "predicate": "is_a", "object": "thing"} for row in rows)
        assert told.counts == {"rejected": 1_332}
        assert {receipt.code for receipt in told.rejected} == {"ambiguous_entity"}
        assert len(graph) == 3_228 + 1


def test_near_names_never_become_one(folder: Path) -> None:
    rows = table_rows(folder / "near_names_distinct.tsv.gz")
    names = {entity_key(name) for row in rows for name in (row[0], row[2])}
    with KnowledgeGraph(source="imported:wikidata") as graph:
        graph.add_all(
            {"subject": name, "predicate": "is_a", "object": "person"} for row in rows for name in (row[0], row[2])
        )
        for a, _, b, _ in rows:
            assert graph.entity(a) != graph.entity(b)
        pairs = {frozenset((entity_key(row[0]), entity_key(row[2]))) for row in rows}
        found = list(graph.names.suggest())
        wrong = {frozenset((entity_key(s.a.label), entity_key(s.b.label))) for s in found} & pairs
        assert (len(rows), len(pairs), len(names)) == (800, 800, 1_462)
        assert len(wrong) == 145  # suggestions, which nobody followed
        assert len(graph) == len(names) + 1


def test_a_nickname_is_no_name_of_anybody(folder: Path) -> None:
    rows = [line.split("\t") for line in (folder / "nicknames.tsv").read_text(encoding="utf-8").split("\n")[1:] if line]
    names = {name for given, _, nickname in rows for name in (given, nickname)}
    with KnowledgeGraph(source="imported:names") as graph:
        graph.add_all({"subject": name, "predicate": "is_a", "object": "given name"} for name in sorted(names))
        assert len(rows) == 2_691
        assert all(graph.entity(given) != graph.entity(nickname) for given, _, nickname in rows)
        assert len(graph) == len(names) + 1 == 2_165


def test_misspelt_people_are_suggested_and_not_merged(folder: Path) -> None:
    with gzip.open(folder / "febrl_dataset1.csv.gz", "rt", encoding="utf-8") as file:
        rows = [{k.strip(): v.strip() for k, v in row.items()} for row in csv.DictReader(file)]
    with KnowledgeGraph(source="imported:febrl") as graph:
        graph.add_all({"subject": row["rec_id"], "predicate": "is_a", "object": "person"} for row in rows)
        with graph.atomic():
            for row in rows:
                name = f"{row['given_name']} {row['surname']}".strip()
                if name:
                    graph.names.alias(name, row["rec_id"], homonym=True, primary=True)
        ids = {graph.entity(row["rec_id"]).id: row["rec_id"].split("-")[1] for row in rows}
        found = [(ids.get(s.a.id), ids.get(s.b.id)) for s in graph.names.suggest() if s.a.id in ids and s.b.id in ids]
        right = sum(a == b for a, b in found)
        assert len(rows) == 1_000
        assert (right, len(found) - right) == (396, 3)
        assert len(graph) == 1_000 + 1
