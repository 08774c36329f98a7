"""What users suffered from exports and imports elsewhere must not happen here, numbered as on the list of pains."""

from __future__ import annotations

import gc
import io
import json
import tracemalloc
import weakref
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
from graph_files import graph, names_of, rich, seen, taken, written

import semgraph
from semgraph.model import Literal

if TYPE_CHECKING:
    from pathlib import Path

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
GEXF = "{http://gexf.net/1.3}"
KINDS = ("graphml", "gexf", "json", "csv", "rdf")


def ends_and_nodes(kind: str, data: bytes) -> tuple[set[str], set[str]]:
    """What edges name, and what is declared."""
    if kind == "json":
        found = json.loads(data)
        return {e[end] for e in found["edges"] for end in ("source", "target")}, {n["id"] for n in found["nodes"]}
    space = GRAPHML if kind == "graphml" else GEXF
    root = ET.fromstring(data)  # noqa: S314 - our own file
    edges = list(root.iter(f"{space}edge"))
    return {e.get(end) or "" for e in edges for end in ("source", "target")}, {
        node.get("id") or "" for node in root.iter(f"{space}node")
    }


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
@pytest.mark.parametrize(
    "value", [42, True, "a sentence of more than eight words is a text and no name", Literal("x", "x")]
)
def test_row_47_every_end_of_an_edge_exists(kind: str, value: Any):
    kg = graph()
    kg.add("Maya", "says", value)
    kg.add("Maya", "knows", "Änna 名前 \x01")
    named, declared = ends_and_nodes(kind, written(kg, kind))
    assert named <= declared
    assert len(named) == 3
    named, declared = ends_and_nodes(kind, written(kg.at("2024-06-02"), kind))
    assert named == declared


@pytest.mark.parametrize("kind", KINDS)
def test_row_47_every_text_file_is_utf_8(kind: str):
    text = written(rich(), kind).decode("utf-8", "strict")
    assert "Maya" in text


@pytest.mark.parametrize("kind", KINDS)
def test_row_48_exports_use_the_entities_that_were_resolved(kind: str):
    kg = graph()
    kg.add("Bob", "works_at", "Stripe", valid_from="2020")
    kg.add("Robert Smith", "knows", "Maya", valid_from="2021")
    kg.names.alias("Bobby", "Bob")
    kg.add("Bobby", "likes", "tea", valid_from="2022")
    assert "Bob" in written(kg, kind).decode()
    kg.names.merge("Bob", "Robert Smith")
    text = written(kg, kind).decode()
    assert "Robert Smith" in text
    assert "Bob" not in text
    kg.names.unmerge("Bob")
    assert "Bob" in written(kg, kind).decode()


@pytest.mark.parametrize("kind", ["graphml", "csv"])
def test_row_53_the_memory_of_an_export_does_not_grow_with_the_graph(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("semgraph.view.CHUNK", 25)

    def peak(facts: int) -> int:
        kg = graph()
        told = []
        for n in range(facts):
            year = 1000 + n // 97
            ends = {"subject": f"a {n % 40}", "predicate": "knows", "object": f"b {n % 97}"}
            told.append(ends | {"valid_from": str(year), "valid_to": str(year + 1)})
        kg.add_all(told)
        sink = _Sink()
        semgraph.write(kg, sink, format=kind)
        tracemalloc.start()
        semgraph.write(kg, sink, format=kind)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(4000) < 3 * peak(1000)


class _Sink(io.RawIOBase):
    """Takes everything and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json", "csv"])
@pytest.mark.parametrize("moment", ["1998", "2000", "2012", "2019", "2022", "2024-03"])
def test_row_54_an_export_of_the_past_holds_that_past_and_nothing_else(kind: str, moment: str):
    kg, again = rich(), graph()
    view = kg.at(moment)
    taken(again, written(view, kind), kind)
    told = sorted(
        (fact.subject.label, fact.predicate, fact.object.label, str(fact.valid_from)) for fact in view.facts()
    )
    assert sorted((row[0], row[1], row[2], row[4]) for row in seen(again)) == told
    ends = {fact.subject.label for fact in view.facts()} | {
        fact.object.label for fact in view.facts() if isinstance(fact.object, semgraph.model.Entity)
    }
    assert set(names_of(again)) == ends


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json", "csv"])
def test_row_54_an_export_is_of_one_moment_though_others_write(kind: str, tmp_path: Path):
    """Another handle writes in the middle of the export; nothing of that is in the file."""
    path = tmp_path / "a.db"
    with semgraph.KnowledgeGraph(path) as kg, semgraph.KnowledgeGraph(path) as other:
        kg.add_all([{"subject": f"n{n}", "predicate": "knows", "object": f"n{n + 1}"} for n in range(1500)])
        before = written(kg, kind)

        def disturb(done: int) -> None:
            if done < 1500:
                other.add("Intruder", "knows", f"n{done}")

        stream = io.BytesIO()
        semgraph.write(kg, stream, format=kind, progress=disturb)
        assert stream.getvalue() == before
        assert b"Intruder" in written(kg, kind)


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json"])
def test_row_54_two_graphs_join_alike_in_either_order(kind: str):
    first, second = graph(), graph()
    first.add("Maya", "works_at", "Stripe", valid_from="2020", valid_to="2022", source="imported:a")
    second.add("Maya", "works_at", "Stripe", valid_from="2021", valid_to="2023", source="imported:b")
    second.add("Maya", "works_at", "Linear", valid_from="2023", source="imported:b")
    files = [written(kg, kind) for kg in (first, second)]
    joined = []
    for order in (files, files[::-1]):
        kg = graph()
        for data in order:
            taken(kg, data, kind)
        joined.append(seen(kg))
    assert joined[0] == joined[1]
    assert [row[:6] for row in joined[0]] == [
        ("Maya", "works_at", "Linear", "Entity", "2023", ""),
        ("Maya", "works_at", "Stripe", "Entity", "2020", "2023"),
    ]


@pytest.mark.parametrize("kind", ["graphml", "gexf", "json", "csv"])
@pytest.mark.parametrize("date", ["2009", "2009-08", "2009-08-01", "200X", "2009~", "2009-08?", "-0043", "Y12009"])
def test_row_55_a_date_keeps_its_precision_through_a_file(kind: str, date: str):
    first, again = graph(), graph()
    first.add("Acme", "employs", "Maya", valid_from=date)
    taken(again, written(first, kind), kind)
    (fact,) = again.during().facts("Acme")
    wanted = semgraph.parse_when(date)
    assert (str(fact.valid_from), fact.valid_from.precision) == (date, wanted.precision)
    assert (fact.valid_from.earliest, fact.valid_from.before) == (wanted.earliest, wanted.before)


def test_what_was_read_for_a_part_of_the_graph_goes_without_the_collector():
    kg = graph()
    kg.add("Maya", "knows", "Bob")
    gc.disable()
    try:
        with kg.reading() as reader:
            assert reader.rows()
            gone = weakref.ref(reader)
            del reader
        assert gone() is None
    finally:
        gc.enable()
