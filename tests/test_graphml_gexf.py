"""GraphML and GEXF: exports are valid and come back equal, imports lose neither time nor name, and none is trusted."""

from __future__ import annotations

import csv
import gzip
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from graph_files import claims, graph, names_of, rich, seen, taken, written
from hypothesis import given, settings
from hypothesis import strategies as st

import semgraph
from semgraph import ImportRejected

if TYPE_CHECKING:
    from pathlib import Path

XML = ("graphml", "gexf")


# -- there and back


@pytest.mark.parametrize("kind", XML)
def test_a_round_trip_keeps_names_parallel_edges_and_intervals(kind: str):
    first, second = rich(), graph()
    data = written(first, kind)
    batch = taken(second, data, kind)
    assert batch.rejected == ()
    assert seen(second) == seen(first)
    assert names_of(second) == names_of(first)
    assert second.verify() == []


@pytest.mark.parametrize("kind", XML)
@settings(max_examples=60)
@given(told=st.lists(claims(), max_size=12))
def test_any_graph_comes_back_with_its_names_and_intervals(kind: str, told: list):
    first, second = graph(), graph()
    first.add_all(told)
    batch = taken(second, written(first, kind), kind)
    assert batch.rejected == ()
    assert seen(second) == seen(first)
    assert names_of(second) == names_of(first)


@pytest.mark.parametrize("kind", XML)
def test_an_import_twice_is_an_import_once(kind: str):
    data, kg = written(rich(), kind), graph()
    taken(kg, data, kind)
    before = seen(kg)
    assert set(taken(kg, data, kind).counts) == {"idempotent"}
    assert (seen(kg), kg.verify()) == (before, [])


@pytest.mark.parametrize("kind", XML)
def test_homonyms_stay_apart(kind: str):
    kg = graph()
    taken(kg, written(rich(), kind), kind)
    assert len(kg.candidates("Paris")) == 2
    assert [fact.object.label for fact in kg.during().facts(predicate="lies_in")] == ["Texas"]


@pytest.mark.parametrize("kind", XML)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40).map("x".__add__))
def test_any_text_comes_back_as_a_value(kind: str, text: str):
    kg, again = graph(), graph()
    kg.add("Maya", "wrote", semgraph.model.Literal(text, text), source=f"tool:{text.strip() or 'x'}"[:100])
    taken(again, written(kg, kind), kind)
    (fact,) = again.facts()
    assert fact.object.value == text


@pytest.mark.parametrize("kind", XML)
def test_a_conflict_over_one_time_stays_a_conflict(kind: str):
    kg = graph()
    taken(kg, written(rich(), kind), kind)
    (found,) = kg.conflicts("Maya")
    assert sorted(fact.object.label for fact in found.facts) == ["Bergen", "Oslo"]


def test_what_held_side_by_side_does_so_again():
    first, second = graph(), graph()
    first.add("Maya", "works_at", "Stripe", valid_from="2020", source="user")
    first.add("Maya", "works_at", "Acme", valid_from="2022", valid_to="2023", source="imported:cv")
    taken(second, written(first, "graphml"), "graphml")
    assert seen(second) == seen(first)


def test_dates_of_another_time_zone_keep_their_instant_and_their_words():
    first, second = graph(timezone="Asia/Tokyo"), graph()
    first.add("Maya", "works_at", "Stripe", valid_from="2020", valid_through="2021-06")
    taken(second, written(first, "graphml"), "graphml")
    assert seen(second) == seen(first)


@pytest.mark.parametrize("kind", [*XML, "json"])
def test_an_old_file_is_no_news(kind: str):
    """What it says was said when the newest of it was recorded, not when it is read."""
    old = semgraph.KnowledgeGraph(clock=lambda: datetime(2022, 1, 1, tzinfo=UTC))
    old.add("Maya", "works_at", "Stripe", valid_from="2020", source="tool:hr")
    kg = graph()
    kg.add("Maya", "works_at", "Linear", valid_from="2023", source="tool:hr", said_at="2023-01-05")
    assert taken(kg, written(old, kind), kind).counts == {"history": 1}
    assert (kg.value("Maya", "works_at"), kg.at("2022-06").value("Maya", "works_at")) == ("Linear", "Stripe")


# -- what is written


@pytest.mark.parametrize("kind", XML)
def test_the_same_store_gives_the_same_bytes(kind: str):
    kg = rich()
    assert written(kg, kind) == written(kg, kind)


@pytest.mark.parametrize("kind", XML)
def test_a_file_is_what_a_stream_is_and_may_be_packed(kind: str, tmp_path: Path):
    kg = rich()
    semgraph.write(kg, tmp_path / f"a.{kind}")
    semgraph.write(kg, tmp_path / f"b.{kind}.gz")
    assert (tmp_path / f"a.{kind}").read_bytes() == written(kg, kind)
    assert gzip.decompress((tmp_path / f"b.{kind}.gz").read_bytes()) == written(kg, kind)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{kind}", f"b.{kind}.gz"]


@pytest.mark.parametrize("kind", XML)
def test_a_view_is_exported_as_it_stood(kind: str):
    kg = rich()
    again = graph()
    taken(again, written(kg.at("2012"), kind), kind)
    assert [row[:3] for row in seen(again)] == [
        ("Cleo", "ruled", "Egypt"),
        ("Maya", "knows", "Anna"),
    ]
    windowed = graph()
    taken(windowed, written(kg.during("2000", "2001"), kind), kind)
    assert [row[:3] for row in seen(windowed)] == [("Cleo", "ruled", "Egypt"), ("Maya", "knows", "Anna")]


@pytest.mark.parametrize("kind", XML)
def test_progress_counts_up_to_every_fact(kind: str):
    kg, heard = rich(), []
    semgraph.write(kg, io.BytesIO(), format=kind, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == len(seen(kg))


@pytest.mark.parametrize("kind", XML)
def test_an_export_holds_nothing_of_another_scope(kind: str):
    kg = rich()
    kg.scoped("canary").add("Zanzibar", "guards", "Xylophone", source="tool:quokka")
    text = written(kg, kind).decode()
    assert not any(word in text for word in ("Zanzibar", "guards", "Xylophone", "quokka", "canary"))
    assert "Stripe" not in written(kg.scoped("canary"), kind).decode()


@pytest.mark.parametrize("kind", XML)
def test_an_export_after_a_merge_knows_one_entity(kind: str):
    kg = graph()
    kg.add("Bob", "works_at", "Stripe", valid_from="2020")
    kg.add("Robert Smith", "knows", "Maya", valid_from="2021")
    kg.names.merge("Bob", "Robert Smith")
    again = graph()
    taken(again, written(kg, kind), kind)
    assert names_of(again) == ["Maya", "Robert Smith", "Stripe"]
    assert {row[0] for row in seen(again)} == {"Robert Smith"}


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.graphml"
    path.write_text("old")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("semgraph.exchange.graphml.write_elements", fail)
    with pytest.raises(semgraph.StoreFull):
        semgraph.write(rich(), path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.graphml", "old")]


# -- other readers


def by_networkx(data: bytes) -> set[tuple[str, ...]]:
    import networkx as nx

    found = nx.read_graphml(io.BytesIO(data))
    assert found.is_multigraph()
    named = dict(found.nodes(data="label"))
    return {
        (named[u], found_["predicate"], named[v], found_["valid_from"], found_.get("valid_to", ""))
        for u, v, found_ in found.edges(data=True)
    }


def by_igraph(data: bytes, folder: Path) -> set[tuple[str, ...]]:
    import igraph

    path = folder / "for.graphml"
    path.write_bytes(data)
    found = igraph.Graph.Read_GraphML(str(path))
    named = found.vs["label"]
    return {(named[e.source], e["predicate"], named[e.target], e["valid_from"], e["valid_to"] or "") for e in found.es}


def plainly_seen(kg: semgraph.KnowledgeGraph) -> set[tuple[str, ...]]:
    from semgraph.exchange.xmltext import hidden

    return {(hidden(row[0]), row[1], hidden(row[2]), row[4], row[5]) for row in seen(kg)}


def test_networkx_and_igraph_read_the_same_graph(tmp_path: Path):
    pytest.importorskip("igraph")
    kg = rich()
    data = written(kg, "graphml")
    assert by_networkx(data) == plainly_seen(kg)
    assert by_igraph(data, tmp_path) == plainly_seen(kg)


def test_networkx_reads_the_spells():
    import networkx as nx

    kg = rich()
    found = nx.read_gexf(io.BytesIO(written(kg, "gexf")), version="1.3")
    named = dict(found.nodes(data="label"))
    spells = sorted(edge["spells"] for u, v, edge in found.edges(data=True) if (named[u], named[v]) == ("Maya", "Anna"))
    assert spells == [[("1999-01-01", "2003-01-01")], [("2010-01-01", "2015-07-01T12:30:00.000001Z")]]


def test_a_graph_that_networkx_passed_on_keeps_its_intervals():
    import networkx as nx

    kg, again, passed = rich(), graph(), io.BytesIO()
    nx.write_graphml(nx.read_graphml(io.BytesIO(written(kg, "graphml"))), passed)
    taken(again, passed.getvalue(), "graphml")
    assert seen(again) == seen(kg)


def xsd(shared_data: Path, name: str):
    etree = pytest.importorskip("lxml.etree")
    return etree, etree.XMLSchema(etree.parse(str(shared_data / "graph_formats" / "schema" / name)))


SCHEMAS = {"graphml": "graphml/graphml.xsd", "gexf": "gexf-1.3/gexf.xsd"}


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", XML)
def test_exports_are_valid(kind: str, shared_data: Path):
    etree, schema = xsd(shared_data, SCHEMAS[kind])
    for view in (rich(), rich().at("2012"), graph()):
        schema.assertValid(etree.fromstring(written(view, kind)))


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", XML)
def test_exports_of_any_graph_are_valid(kind: str, shared_data: Path):
    etree, schema = xsd(shared_data, SCHEMAS[kind])

    @given(st.lists(claims(), max_size=12))
    def check(told: list):
        kg = graph()
        kg.add_all(told)
        schema.assertValid(etree.fromstring(written(kg, kind)))

    check()


# -- files of other tools


def verdicts(shared_data: Path) -> list[dict[str, str]]:
    with (shared_data / "graph_formats" / "validity.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.shared_data
def test_files_are_taken_or_refused_as_their_schema_has_it(shared_data: Path):
    folder = shared_data / "graph_formats"
    for row in verdicts(shared_data):
        kg = graph()
        if row["xsd"] == "invalid":
            with pytest.raises(ImportRejected, match=r"^[\w.]+, line \d+: ") as refused:
                semgraph.read(kg, folder / row["file"])
            assert (refused.value.code, len(kg)) == ("bad_row", 0)
        else:
            assert semgraph.read(kg, folder / row["file"]).rejected == ()
            assert kg.verify() == []


@pytest.mark.shared_data
def test_what_a_schema_does_not_allow_is_read_if_that_is_asked_for(shared_data: Path):
    folder = shared_data / "graph_formats"
    for row in verdicts(shared_data):
        batch = semgraph.read(graph(), folder / row["file"], strict=False)
        assert batch.rejected == ()
        assert batch.total or row["file"] == "gexf/pedantic.gexf"


@pytest.mark.shared_data
def test_our_verdict_is_that_of_libxml2_on_damaged_files(shared_data: Path):
    """An element or attribute dropped or renamed: what we take, the schema allows."""
    etree, schema = xsd(shared_data, SCHEMAS["graphml"])
    text = (shared_data / "graph_formats" / "graphml" / "attributes.graphml").read_text(encoding="utf-8")
    changes = [
        ("<edge id=", "<edge is="), ('source="n0"', ""), ("edgedefault=", "edgefault="), ('for="node"', 'for="nodes"'),
        ('attr.type="double"', 'attr.type="decimal"'), ("<default>yellow</default>", "<default/><default/>"),
        ('<node id="n1"/>', '<node id="n0"/>'), ('id="e1"', 'id="e0"'), ('target="n4"', 'target="n9"'),
        ('<data key="d0">green</data>', '<data key="d7">green</data>'), ("<graph ", "<key id='z'/><graph "),
        ("</graph>", "</graph><key id='z'/>"), ('id="n5"', 'id="n 5"'), ('id="G"', ""), ("<desc/>", ""),
    ]  # fmt: skip
    for old, new in changes:
        damaged = text.replace(old, new)
        valid = schema.validate(etree.fromstring(damaged.encode()))
        try:
            taken(graph(), damaged.encode(), "graphml")
            assert valid, new
        except ImportRejected:
            assert not valid, new


@pytest.mark.shared_data
def test_a_property_graph_becomes_claims(shared_data: Path):
    kg = graph()
    batch = semgraph.read(kg, shared_data / "graph_formats" / "graphml" / "tinkerpop-modern.graphml")
    assert batch.predicates == {"age": 4, "created": 4, "knows": 2, "labelV": 6, "lang": 2}
    assert sorted(fact.object.label for fact in kg.values("marko", "knows")) == ["josh", "vadas"]
    assert kg.value("marko", "age") == 29
    (fact,) = kg.facts("josh", "created", "ripple")
    assert (fact.qualifiers, fact.sources) == ({"weight": 1.0}, ("imported:graphml",))
    assert fact.claims[0].source_ref == "tinkerpop-modern.graphml#10"
    assert kg.predicates["created"].cardinality == "many"


GEXF = """<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="{type}" mode="dynamic">
<attributes class="node" mode="dynamic"><attribute id="p" title="price" type="float"/></attributes>
<nodes><node id="a" label="Ann"><attvalues><attvalue for="p" value="1.5" start="2009" end="2010"/></attvalues>
<spells><spell start="2000-01-01"/></spells></node><node id="b" label="Bob"/><node id="c" label="Cyd"/></nodes>
<edges>{edges}</edges></graph></gexf>"""


def gexf(edges: str, type: str = "directed") -> bytes:  # noqa: A002
    return (
        GEXF.format(edges=edges, type=type).replace('"2009"', '"2009-01-01"').replace('"2010"', '"2010-01-01"').encode()
    )


def test_spells_become_intervals():
    kg = graph()
    edges = """<edge source="a" target="b" kind="knows"><spells><spell start="2009-03-01" end="2010-03-01"/>
    <spell start="2012-01-01T00:00:00Z"/></spells></edge><edge source="a" target="c" label="met"
    timestamp="2011-05-06"/>
    <edge source="b" target="c" start="2010-01-01" end="2010-01-01"/>"""
    batch = taken(kg, gexf(edges), "gexf")
    assert [row[:6] for row in seen(kg)] == [
        ("Ann", "knows", "Bob", "Entity", "2009-03-01", "2010-03-01"),
        ("Ann", "knows", "Bob", "Entity", "2012-01-01T00:00:00Z", ""),
        ("Ann", "met", "Cyd", "Entity", "2011-05-06", "2011-05-07"),
        ("Ann", "price", "1.5", "Literal", "2009-01-01", "2010-01-01"),
        ("Bob", "linked_to", "Cyd", "Entity", "2010-01-01", "2010-01-02"),
    ]
    assert batch.notes == ("1 spells of nodes were left out: a fact joins two things",)


def test_edges_without_direction_lead_from_source_to_target():
    kg = graph()
    batch = taken(kg, gexf('<edge source="a" target="b" label="is near"/>', "undirected"), "gexf")
    assert kg.value("Ann", "is near") == "Bob"
    assert "1 edges without a direction" in batch.notes[1]


def test_times_that_are_bare_numbers_are_refused_or_left_out():
    data = gexf('<edge source="a" target="b" start="3.5"/>')
    with pytest.raises(ImportRejected, match="bare number"):
        taken(graph(), data, "gexf")
    assert "1 times were left out" in taken(graph(), data, "gexf", strict=False).notes[-1]


@pytest.mark.parametrize(("wish", "kept"), [("many", "many"), ("one", "one"), ("flag", None)])
def test_predicates_that_nobody_defined_take_what_is_asked_for(wish: str, kept: str | None):
    kg = graph()
    taken(kg, gexf('<edge source="a" target="b" label="likes best"/>'), "gexf", unregistered=wish)
    assert ("likes_best" in kg.predicates) == (kept is not None)
    assert kept is None or kg.predicates["likes_best"].cardinality == kept


def test_a_given_source_says_all_of_it():
    kg = graph()
    taken(kg, written(rich(), "graphml"), "graphml", source="tool:gephi")
    assert {source for fact in kg.during().facts() for source in fact.sources} == {"tool:gephi"}


# -- hostile files

BOMB = "<!DOCTYPE a [<!ENTITY b 'lol'>" + "".join(
    f"<!ENTITY b{n} '{f'&b{n - 1};' * 10}'>" if n else "<!ENTITY b0 'lol'>" for n in range(10)
)
NS = b"<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
HOSTILE = {
    "billion laughs": (f"{BOMB}]><graphml>&b9;</graphml>".encode(), "forbidden_xml"),
    "external entity": (
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><graphml>&x;</graphml>",
        "forbidden_xml",
    ),
    "external DTD": (b"<!DOCTYPE graphml SYSTEM 'http://localhost:9/a.dtd'><graphml/>", "forbidden_xml"),
    "undeclared entity": (NS + b"&x;</graphml>", "bad_xml"),
    "quadratic blow-up": (
        b"<!DOCTYPE a [<!ENTITY x '" + b"a" * 99_999 + b"'>]><a>" + b"&x;" * 9_999 + b"</a>",
        "forbidden_xml",
    ),
    "deep": (NS + b"<graph edgedefault='directed'><node id='a'>" + b"<port name='a'>" * 100_000, "oversize"),
    "huge attribute": (b'<graphml a="' + b"x" * (3 << 20), "oversize"),
    "huge text": (NS + b"x" * (3 << 20), "oversize"),
    "huge name": (b"<" + b"x" * (3 << 20), "oversize"),
    "too large": (NS + b" <a/>" * (14 << 20), "oversize"),
    "bomb of gzip": (gzip.compress(NS + b" " * (65 << 20)), "oversize"),
    "no XML": (b"\x00\x01\x02", "bad_xml"),
    "empty": (b"", "bad_xml"),
    "cut off": (NS + b"<graph", "bad_xml"),
    "unknown encoding": (b"<?xml version='1.0' encoding='klingon'?><graphml/>", "bad_encoding"),
    "bad UTF-8": (NS + b"\xff\xfe</graphml>", "bad_xml"),
    "packed and cut off": (gzip.compress(b"<graphml/>")[:-9], "bad_gzip"),
    "another format": (b"<html/>", "bad_row"),
    "hyperedges": (
        NS + b"<graph edgedefault='directed'><hyperedge/></graph></graphml>",
        "bad_row",
    ),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_and_leave_nothing(name: str, strict: bool):  # noqa: FBT001
    data, code = HOSTILE[name]
    kg = graph()
    with pytest.raises(ImportRejected) as refused:
        taken(kg, data, "graphml", strict=strict)
    assert refused.value.code == code
    assert len(kg) == 0
    assert "\n" not in str(refused.value)


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_export_is_taken_or_refused_and_never_half(data: st.DataObject):
    kind = data.draw(st.sampled_from(XML))
    raw = bytearray(EXPORTS[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        length = data.draw(st.integers(0, 20))
        raw[place : place + length] = data.draw(st.binary(max_size=8))
    kg = graph()
    try:
        taken(kg, bytes(raw), kind, strict=data.draw(st.booleans()))
    except ImportRejected:
        assert len(kg) == 0
        assert list(kg.during().facts()) == []
    assert kg.verify() == []


EXPORTS = {kind: written(rich(), kind) for kind in XML}


def test_a_failed_import_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch):
    kg = graph()
    monkeypatch.setattr("semgraph.exchange.intake._Teller.make_lonely", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        taken(kg, written(rich(), "graphml"), "graphml")
    assert (len(kg), list(kg.during().facts()), "ran" in kg.predicates) == (0, [], False)
