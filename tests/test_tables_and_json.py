"""CSV, node-link JSON, Parquet, RDF, Wikidata and KGTK: there and back, and what other tools make of it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from graph_files import claims, graph, names_of, rich, seen, taken, written
from hypothesis import given, settings
from hypothesis import strategies as st

import semgraph
from semgraph import ImportRejected, MissingExtraError
from semgraph.exchange.tables import guarded, unguarded
from semgraph.exchange.wikidata import bound_of

if TYPE_CHECKING:
    from pathlib import Path

BACK = ("csv", "json")


@pytest.mark.parametrize("kind", BACK)
@settings(max_examples=60)
@given(told=st.lists(claims(), max_size=12))
def test_any_graph_comes_back_with_its_names_and_intervals(kind: str, told: list):
    first, second = graph(), graph()
    first.add_all(told)
    assert taken(second, written(first, kind), kind).rejected == ()
    assert seen(second) == seen(first)


@pytest.mark.parametrize("kind", [*BACK, "parquet", "rdf", "trig"])
def test_the_same_store_gives_the_same_bytes(kind: str):
    if kind in ("parquet", "trig"):
        pytest.importorskip("pyarrow" if kind == "parquet" else "rdflib")
    kg = rich()
    assert written(kg, kind) == written(kg, kind)


@pytest.mark.parametrize("kind", BACK)
def test_an_export_holds_nothing_of_another_scope(kind: str):
    kg = rich()
    kg.scoped("canary").add("Zanzibar", "guards", "Xylophone", source="tool:quokka")
    text = written(kg, kind).decode()
    assert not any(word in text for word in ("Zanzibar", "guards", "Xylophone", "quokka", "canary"))


# -- CSV


def test_nodes_without_an_edge_are_in_a_table_of_their_own(tmp_path: Path):
    kg, again = rich(), graph()
    semgraph.write(kg, tmp_path / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.nodes.csv"]
    semgraph.read(again, tmp_path / "a.csv")
    assert (seen(again), names_of(again)) == (seen(kg), names_of(kg))
    semgraph.write(kg, tmp_path / "b.csv.gz")
    assert gzip.decompress((tmp_path / "b.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()
    assert (tmp_path / "b.nodes.csv.gz").exists()


HARMFUL = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "\u3000=1",
    "＝1",
    "＋1",
    "－1",
    "＠1",
    "'=1",
    "''=1",
    "\n-1",
]


@pytest.mark.parametrize("text", HARMFUL)
def test_no_cell_begins_like_a_formula(text: str):
    cell = guarded(text)
    assert cell.startswith("'")
    assert unguarded(cell) == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_a_guarded_cell_gives_its_text_back(text: str):
    cell = guarded(text)
    assert unguarded(cell) == text
    bare = cell.lstrip()
    assert not (bare[:1] and bare[0] in "=+-@＝＋－＠")
    assert cell[:1] not in {"\t", "\r"}


def test_numbers_stay_numbers():
    kg = graph()
    kg.add("Caesar", "governed", "Rome", valid_from="-0100", confidence=0.5)
    (row,) = csv.DictReader(io.StringIO(written(kg, "csv").decode()))
    assert (row["valid_from"], row["confidence"], row["valid_from_us"][:2]) == ("'-0100", "0.5", "-6")


@pytest.mark.parametrize(
    "text",
    [
        "subject,predicate,object,valid_from\nAnn,knows,Bob,2020\n",
        "Source;Label;Target;valid_from\r\nAnn;knows;Bob;2020\r\n",
        "\ufefffrom\ttype\tto\tvalid_from\nAnn\tknows\tBob\t2020\n\n",
    ],
)
def test_tables_of_others_are_claims(text: str):
    kg = graph()
    taken(kg, text.encode(), "csv")
    assert [row[:3] + row[4:5] for row in seen(kg)] == [("Ann", "knows", "Bob", "2020")]


def test_further_columns_are_details_and_the_source_speaks():
    kg = graph()
    taken(kg, b"subject,predicate,object,source,confidence,shoe size\nAnn,knows,Bob,user,0.4,42\n", "csv")
    (fact,) = kg.facts()
    assert (fact.sources, fact.confidence, fact.qualifiers) == (("user",), 0.4, {"shoe size": "42"})


@pytest.mark.parametrize("lost", ["subject", "object", "object_kind", "subject_id", "status"])
def test_a_table_of_ours_that_lost_a_column_is_that_of_another(lost: str):
    """Found by the import fuzz: a damaged name of a column was an error of Python's."""
    kg = graph()
    data = written(rich(), "csv").replace(lost.encode(), b"damaged", 1)
    try:
        taken(kg, data, "csv")
    except ImportRejected:
        assert len(kg) == 0
    assert kg.verify() == []


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", "empty", "empty"),
        (b"a,b\n1,2\n", "bad_row", "line 1"),
        (b"subject,object\nAnn,Bob\n", "bad_row", "predicate"),
        (b"subject,predicate,object\nAnn,knows\n", "bad_row", "line 2"),
        (b"subject,predicate,object\nAnn,,Bob\n", "bad_row", "line 2"),
        (b'subject,predicate,object\nAnn,knows,"Bob\n', "bad_row", "quotes"),
        (b"subject,predicate,object\nAnn,knows,\xff\n", "bad_encoding", "line 2"),
        (b"subject,predicate,object,x,x\n", "bad_row", "twice"),
        (b"subject,predicate,object\n" + b"x" * (1 << 18) + b",knows,Bob\n", "bad_row", "line 2"),
    ],
)
def test_a_bad_table_is_refused_whole(data: bytes, code: str, says: str):
    kg = graph()
    with pytest.raises(ImportRejected, match=says) as refused:
        taken(kg, data, "csv")
    assert (refused.value.code, len(kg)) == (code, 0)


# -- node-link JSON


def test_networkx_takes_the_document_and_gives_it_back():
    import networkx as nx

    kg, again = rich(), graph()
    found = nx.node_link_graph(json.loads(written(kg, "json")), edges="edges")
    assert (found.is_directed(), found.is_multigraph()) == (True, True)
    named = dict(found.nodes(data="label"))
    plain = {
        (named[u], d["predicate"], named[v], d["valid_from"], d.get("valid_to", ""))
        for u, v, d in found.edges(data=True)
    }
    assert plain == {(row[0], row[1], row[2], row[4], row[5]) for row in seen(kg)}
    taken(again, json.dumps(nx.node_link_data(found, edges="edges")).encode(), "json")
    assert seen(again) == seen(kg)


def test_a_document_of_another_tool_becomes_claims():
    kg = graph()
    document = {
        "nodes": [{"id": 1, "name": "Ann", "group": 3}, {"id": 2}],
        "links": [{"source": 1, "target": 2, "value": 9}],
    }
    batch = taken(kg, json.dumps(document).encode(), "json")
    assert [row[:3] for row in seen(kg)] == [("Ann", "group", "3"), ("Ann", "linked_to", "2")]
    assert batch.predicates == {"group": 1, "linked_to": 1}


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (b"{", "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b"\xff", "bad_encoding"),
        (b'{"a": 1}', "foreign"),
        (b"[1]", "foreign"),
        (b'{"nodes": 3}', "bad_row"),
        (b'{"nodes": [{"id": 1}, {"id": 1}], "edges": []}', "bad_row"),
        (b'{"nodes": [{}], "edges": []}', "bad_row"),
        (b'{"nodes": [], "edges": [{"source": "a"}]}', "bad_row"),
        (b'{"nodes": [{"id": NaN}], "edges": []}', "bad_json"),
        (b'{"nodes": [{"id": 1e999}], "edges": []}', "bad_json"),
        (b'{"id": "Q1", "claims": {"P1": [3]}}', "foreign"),
        (
            b'{"id": "Q1", "claims": {"P1": [{"mainsnak": {"snaktype": "value", "datavalue": {"type": "x"}}}]}}',
            "foreign",
        ),
    ],
)
def test_a_bad_document_is_refused_whole(document: bytes, code: str):
    kg = graph()
    with pytest.raises(ImportRejected) as refused:
        taken(kg, document, "json")
    assert (refused.value.code, len(kg)) == (code, 0)


OTHER_TYPES = ([], [1], {}, {"a": 1}, None, True, 0, -1.5, 10**30, "", "1e999", "[[", '["a"]', "x")


@pytest.mark.parametrize("name", ["valid_from_us", "valid_to_us", "valid_from", "qualifiers", "sources", "predicate"])
def test_a_value_of_another_type_in_a_document_of_ours_is_refused_or_left_out(name: str):
    told = graph()
    told.add("Ann", "lives_in", "Oslo", valid_from="2020")
    document = json.loads(written(told.during(), "json"))
    for value in OTHER_TYPES:
        document["edges"][0][name] = value
        kg = graph()
        refused = ""
        try:
            taken(kg, json.dumps(document).encode(), "json")
        except ImportRejected as error:
            refused = error.code
        assert refused in ("", "bad_row"), value
        assert not refused or len(kg) == 0, value
        assert kg.verify() == [], value


def test_details_of_a_document_of_ours_may_be_an_object():
    told = graph()
    told.add("Ann", "lives_in", "Oslo", qualifiers={"floor": 3})
    document = json.loads(written(told.during(), "json"))
    document["edges"][0]["qualifiers"] = {"floor": 4}
    kg = graph()
    taken(kg, json.dumps(document).encode(), "json")
    assert next(kg.facts("Ann")).qualifiers == {"floor": 4}


# -- Parquet and RDF


def test_parquet_has_a_row_for_each_fact():
    pq = pytest.importorskip("pyarrow.parquet")
    kg = rich()
    rows = pq.read_table(io.BytesIO(written(kg, "parquet"))).to_pylist()
    found = sorted(
        (r["subject"], r["predicate"], r["object"], r["valid_from"], r["valid_to"] or "", r["valid_to_us"])
        for r in rows
    )
    wanted = sorted((*row[:3], row[4], row[5], None if row[5] == "unknown" else row[7]) for row in seen(kg))
    assert found == wanted
    assert pq.read_table(io.BytesIO(written(graph(), "parquet"))).num_rows == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_rdf_has_a_statement_for_each_fact():
    rdflib = pytest.importorskip("rdflib")
    kg = rich()
    for kind, name in (("rdf", "nquads"), ("trig", "trig")):
        found = rdflib.Dataset(default_union=True)
        found.parse(data=written(kg, kind), format=name)
        rows = found.query(
            """PREFIX s: <urn:semgraph:> PREFIX w: <http://wikiba.se/ontology#> PREFIX p: <http://www.w3.org/ns/prov#>
            SELECT ?who ?from ?to ?rank ?source WHERE {
              ?subject <http://www.w3.org/2000/01/rdf-schema#label> ?who . ?subject ?claim ?statement .
              ?statement a w:Statement ; w:rank ?rank ; <urn:semgraph:statement:works_at> ?value .
              OPTIONAL { ?statement s:start ?from } OPTIONAL { ?statement s:end ?to }
              ?statement p:wasDerivedFrom ?source }"""
        )
        told = [(str(r[0]), str(r[1]), r[2] and str(r[2]), str(r[3]).rpartition("#")[2], str(r[4])) for r in rows]
        assert sorted(told) == [
            ("Maya", "2021-03", "2024-02-28", "NormalRank", "urn:semgraph:source:user"),
            ("Maya", "2024-06-01~", None, "PreferredRank", "urn:semgraph:source:tool%3Ahr%3B%20payroll"),
        ]
        assert len(set(found.subjects(rdflib.RDF.type, None))) == len(seen(kg))
        labels = {str(label) for label in found.objects(None, rdflib.RDFS.label)}
        assert labels == set(names_of(kg))


def test_what_is_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for module, kind, extra in (("pyarrow", "parquet", "parquet"), ("rdflib", "trig", "rdf")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"pip install 'semgraph\[{extra}\]'$"):
            semgraph.write(rich(), tmp_path / f"a.{kind}")
    assert list(tmp_path.iterdir()) == []


# -- Wikidata


def time(text: str, precision: int, calendar: str = "Q1985727") -> dict:
    return {"time": text, "precision": precision, "calendarmodel": f"http://www.wikidata.org/entity/{calendar}"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (time("+1952-03-11T00:00:00Z", 11), "1952-03-11"),
        (time("+1952-03-00T00:00:00Z", 10), "1952-03"),
        (time("+1952-00-00T00:00:00Z", 9), "1952"),
        (time("+1950-00-00T00:00:00Z", 8), "195X"),
        (time("+1900-00-00T00:00:00Z", 7), "1900~"),
        (time("-0044-03-15T00:00:00Z", 9), "-0043"),
        (time("-0001-00-00T00:00:00Z", 9), "0000"),
        (time("+1582-10-05T00:00:00Z", 11, "Q1985786"), "1582-10-15"),
        (time("-0044-03-15T00:00:00Z", 11, "Q1985786"), "-0043-03-13"),
    ],
)
def test_times_keep_their_precision(value: dict, shown: str):
    assert str(bound_of(value)) == shown


def snak(prop: str, value: object, kind: str = "string") -> dict:
    return {"snaktype": "value", "property": prop, "datavalue": {"type": kind, "value": value}}


def statement(main: dict, rank: str = "normal", **more: object) -> dict:
    return {"mainsnak": main, "rank": rank, "type": "statement", **more}


def item(number: str, *statements: dict) -> dict:
    claims: dict[str, list] = {}
    for one in statements:
        claims.setdefault(one["mainsnak"]["property"], []).append(one)
    return {
        "type": "item",
        "id": number,
        "labels": {"en": {"language": "en", "value": f"Label {number}"}},
        "claims": claims,
    }


def entity(number: str) -> dict:
    return {"entity-type": "item", "id": number}


def test_ranks_intervals_and_references_come_along():
    kg = graph()
    dated = {
        "P580": [snak("P580", time("+2001-00-00T00:00:00Z", 9), "time")],
        "P582": [snak("P582", time("+2003-05-00T00:00:00Z", 10), "time")],
        "P9": [snak("P9", "detail")],
    }
    reference = [
        {
            "snaks": {
                "P854": [snak("P854", "https://example.org/a")],
                "P248": [snak("P248", entity("Q7"), "wikibase-entityid")],
            }
        }
    ]
    point = {"P585": [snak("P585", time("+1999-00-00T00:00:00Z", 9), "time")]}
    unknown = {
        "P580": [{"snaktype": "somevalue", "property": "P580"}],
        "P582": [{"snaktype": "novalue", "property": "P582"}],
    }
    one = {"P580": dated["P580"], "P582": [snak("P582", time("+2001-00-00T00:00:00Z", 9), "time")]}
    found = item(
        "Q1",
        statement(
            snak("P108", entity("Q2"), "wikibase-entityid"),
            "preferred",
            qualifiers=dated,
            references=reference,
            id="Q1$1",
        ),
        statement(snak("P108", entity("Q3"), "wikibase-entityid"), "deprecated"),
        statement(snak("P108", entity("Q4"), "wikibase-entityid"), qualifiers=unknown),
        statement(snak("P108", entity("Q5"), "wikibase-entityid"), qualifiers=one),
        statement(snak("P1082", {"amount": "+120", "unit": "1"}, "quantity"), qualifiers=point),
        statement({"snaktype": "novalue", "property": "P40"}),
        statement(snak("P2048", {"amount": "+1.96", "unit": "http://www.wikidata.org/entity/Q11573"}, "quantity")),
        statement(snak("P569", time("+1952-03-11T00:00:00Z", 11), "time")),
    )
    batch = taken(kg, json.dumps(found).encode(), "wikidata")
    assert [row[:6] for row in seen(kg) if row[1] == "p108"] == [
        ("Label Q1", "p108", "Q2", "Entity", "2001", "2003-05"),
        ("Label Q1", "p108", "Q4", "Entity", "unknown", ""),
        ("Label Q1", "p108", "Q5", "Entity", "2001", "2002"),
    ]
    (fact,) = kg.during().facts("Label Q1", "P108", "Q2")
    assert fact.qualifiers == {
        "P9": "detail",
        "rank": "preferred",
        "references": "https://example.org/a; Q7",
        "statement": "Q1$1",
    }
    assert (fact.claims[0].source_ref, fact.sources) == ("https://example.org/a", ("imported:wikidata",))
    assert [row[4:6] for row in seen(kg) if row[1] == "p1082"] == [("1999", "2000")]
    assert str(kg.value("Q1", "P569")) == "1952-03-11"
    (tall,) = kg.values("Q1", "P2048")
    assert (tall.object.value, tall.object.unit) == (1.96, "Q11573")
    assert {claim.kind for claim in kg.claims("Q1", "P108") if claim.object.label == "Q3"} == {"deny"}
    assert batch.notes == ("1 statements were left out: they have no value, or deny what others say",)


@pytest.mark.parametrize("place", ["P580", "references", "snaks", "P9"])
def test_a_value_of_another_type_in_an_entity_is_refused(place: str):
    for value in ([1], ["x"], [None], [[]], 5, "x", True):
        reference = {"snaks": value if place == "snaks" else {"P854": value if place == "P9" else []}}
        found = item(
            "Q1",
            statement(
                snak("P108", entity("Q2"), "wikibase-entityid"),
                qualifiers={"P580": value if place == "P580" else [], "P9": value if place == "P9" else []},
                references=value if place == "references" else [reference],
            ),
        )
        with pytest.raises(ImportRejected):
            taken(graph(), json.dumps(found).encode(), "wikidata")


def test_names_in_other_languages_find_the_entity():
    kg = graph()
    found = item("Q64") | {
        "labels": {"en": {"language": "en", "value": "Berlin"}, "fi": {"language": "fi", "value": "Berliini"}},
        "aliases": {"de": [{"language": "de", "value": "Spree-Athen"}]},
    }
    taken(kg, json.dumps({"entities": {"Q64": found}}).encode(), "wikidata")
    assert {kg.entity(name).label for name in ("Q64", "Berlin", "Berliini", "Spree-Athen")} == {"Berlin"}


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "name", ["Q42", "Q2112", "Q571", "Q217447", "dump_1000_lines", "dump_with_bugs", "sample_dump_2015"]
)
def test_real_entities_are_taken_whole(name: str, shared_data: Path):
    path = shared_data / "memory_imports" / "wikidata" / f"{name}.json.gz"
    kg = graph()
    batch = semgraph.read(kg, path, format="wikidata")
    assert batch.rejected == ()
    text = gzip.decompress(path.read_bytes()).decode()
    if name.startswith("Q"):
        document = json.loads(text)
        told = [s for group in document["claims"].values() for s in group if s["mainsnak"]["snaktype"] == "value"]
        bounded = [s for s in told if {"P580", "P582", "P585"} & s.get("qualifiers", {}).keys()]
        assert batch.total == len(told) + 1  # the description
        dated = {
            c.qualifiers["statement"]
            for c in kg.claims()
            if c.qualifiers.get("statement") and (c.valid_from or c.valid_to)
        }
        assert dated == {s["id"] for s in bounded if s["rank"] != "deprecated"}
    assert semgraph.read(kg, path, format="wikidata").counts.keys() <= {"idempotent", "duplicate", "suppressed"}


def test_a_dump_names_the_line_that_is_wrong():
    data = b'[\n{"id": "Q1", "labels": {}},\n{"id": "Q2", "labels": 3}\n]\n'
    with pytest.raises(ImportRejected, match="line 3: labels is no object"):
        taken(graph(), data, "wikidata")


# -- KGTK


def test_edges_about_edges_bound_and_qualify_them():
    kg = graph()
    text = """id\tnode1\tlabel\tnode2
e1\tQ1\tP108\tQ2
e2\te1\tP580\t^2001-01-01T00:00:00Z/9
e3\te1\tP582\t^2003-05-07T00:00:00Z/11
e4\te1\tP9\t'detail \\'x\\''@en
e5\tQ1\tlabel\t'Ann'@en
e6\tQ1\talias\t'Anna'@de|'Annie'@en
e7\tQ1\tP1\t+5.5Q11573
e8\tQ1\tP2\t"text"
e9\tQ1\tP3\t@52.5/13.4
"""
    taken(kg, text.encode(), "kgtk")
    (fact,) = kg.during().facts("Annie", "P108")
    assert (str(fact), dict(fact.qualifiers)) == ("Ann p108 Q2 [2001, 2003-05-07)", {"P9": "detail 'x'"})
    assert [fact.object.label for fact in kg.values("Anna", "P1")] == ["5.5 Q11573"]
    assert (kg.value("Ann", "P2"), kg.value("Ann", "P3")) == ("text", "52.5, 13.4")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("a\tb\n", "column node1"),
        ("node1\tlabel\tnode2\nQ1\tP1\n", "line 2 has 2 columns"),
        ("node1\tlabel\tnode2\nQ1\t\tQ2\n", "line 2"),
        ("id\tnode1\tlabel\tnode2\ne\tQ1\tP1\tQ2\nf\te\tP580\tnever\n", "no time"),
    ],
)
def test_a_bad_edge_file_is_refused_whole(text: str, says: str):
    kg = graph()
    with pytest.raises(ImportRejected, match=says):
        taken(kg, text.encode(), "kgtk")
    assert len(kg) == 0


@pytest.mark.shared_data
def test_a_real_edge_file_gives_its_names(shared_data: Path):
    kg = graph()
    batch = semgraph.read(kg, shared_data / "memory_imports" / "wikidata" / "kgtk_sample.tsv.gz")
    assert (batch.rejected, batch.notes) == ((), ())
    assert kg.entity("P10").label == "video"
    assert {"media", "animation", "gif"} <= set(kg.names.aliases("video"))
