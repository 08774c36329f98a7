"""JSON lines: an export loses nothing, restores to the byte, joins what is there, and refuses what is damaged."""

from __future__ import annotations

import gzip
import io
import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semgraph
from semgraph import ImportRejected, InputError, KnowledgeGraph, SemgraphError
from semgraph.exchange import jsonl, lines
from semgraph.exchange.jsonl import check_jsonl, read_jsonl, write_jsonl

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2024, 6, 1, tzinfo=UTC)


class Clock:
    """A minute passes with each look."""

    def __init__(self, days: int) -> None:
        self.now = START + timedelta(days=days)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


def graph(days: int = 0) -> KnowledgeGraph:
    return KnowledgeGraph(clock=Clock(days))


def exported(kg: KnowledgeGraph) -> bytes:
    stream = io.BytesIO()
    write_jsonl(kg, stream)
    return stream.getvalue()


def read(kg: KnowledgeGraph, data: bytes, source: str | None = None) -> semgraph.model.Batch:
    return read_jsonl(kg, io.BytesIO(data), source)


def seen(kg: KnowledgeGraph, known_at=None) -> list[str]:
    return sorted(f"{fact} {fact.confidence:.6f} {fact.start_basis}" for fact in kg.during(known_at=known_at).facts())


def rich() -> KnowledgeGraph:
    """A graph with something in every table."""
    kg = graph()
    kg.add("Maya", "works_at", "Stripe", valid_from="2021-03")
    kg.add("Maya", "works_at", "Linear", valid_from="2024-03~")
    kg.names.alias("Maya P", "Maya", valid_from="2020")
    wrong = kg.add("M", "works_at", "Acme", valid_from="2023", source="tool:hr")
    kg.names.merge("M", "Maya", reason="same person")
    kg.retract(wrong, reason="another M")
    kg.unretract(wrong)
    kg.retract(wrong)
    kg.predicates.define("eats", cardinality="many", aliases=["consumes"])
    kg.add("Maya", "eats", "rice", qualifiers={"n": 3, "with": "ő"}, text="řízek\tand\u2028rice")
    kg.add("Maya", "lives_in", "Oslo", source="imported:x", valid_from="2020", said_at="2020-03")
    rome = kg.add("Maya", "lives_in", "Rome", source="imported:y", valid_from="2020", said_at="2020-03")
    assert rome.outcome == "conflict"
    kg.add("Maya", "speaks", "Italian", source="inferred", because=[rome])
    kg.settle("Maya", "lives_in", "keep_both")
    first = kg.names.declare("George Bush", label="George H. W. Bush")
    second = kg.names.declare("George Bush", label="George W. Bush")
    kg.add(first, "knows", second)
    kg.add(second, "birth_date", "1946-07-06")
    kg.names.keep_apart(first, second)
    kg.set("Maya", "lives_in", "Paris", valid_from="2022", source_ref="mail:1")
    kg.end("Maya", "lives_in", at="2023")
    kg.correct("Maya", "works_at", "Linear", "Lineal")
    kg.deny("Zoe", "sibling_of", "Maya")
    kg.add("Bert", "sibling_of", "Maya")
    kg.add("me", "likes", "tea")
    kg.add("me", "dislikes", "coffee", valid_from="-0043", valid_to="1999-12-31T23:59+02:00")
    for bad in ({"valid_from": "2023-02-29"}, {"confidence": 2}):
        with pytest.raises(SemgraphError):
            kg.add("Maya", "knows", "Ann", **bad)
    gone = kg.add("Maya", "knows", "Secretissimus")
    kg.forget(claim=gone)
    kg.veto(phrase="bluebird")
    return kg


@pytest.fixture(scope="module")
def export() -> bytes:
    return exported(rich())


# -- an export and its restoring


def test_export_has_a_row_of_every_table(export: bytes):
    header = json.loads(export.splitlines()[0])
    assert header["format"] == "semgraph"
    assert [name for name, count in header["counts"].items() if not count] == []


def test_lines_are_canonical_json(export: bytes):
    for line in export.splitlines():
        again = json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert again.encode() == line


def test_same_store_gives_the_same_bytes(tmp_path: Path):
    kg = rich()
    assert exported(kg) == exported(kg)
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        semgraph.write(kg, tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_told_twice_is_exported_as_told_once():
    kg = graph()
    told = {"valid_from": "2020", "source_ref": "mail:1", "said_at": "2021"}
    kg.add("Maya", "works_at", "Stripe", **told)
    once = exported(kg)
    assert kg.add("Maya", "works_at", "Stripe", **told).outcome == "idempotent"
    assert exported(kg) == once


def test_restoring_gives_the_same_bytes_and_the_same_reads_at_every_time(export: bytes):
    kg, copy = rich(), graph()
    assert read(copy, export).counts == {"new": json.loads(export.splitlines()[0])["counts"]["claim"]}
    assert exported(copy) == export
    assert copy.verify() == []
    moments = sorted({claim.recorded_at for claim in kg.claims(retracted=True)})
    for moment in [None, *moments]:
        assert seen(copy, moment) == seen(kg, moment)
    assert [str(c.id) for c in copy.claims(retracted=True)] == [str(c.id) for c in kg.claims(retracted=True)]
    assert copy.rejected() == kg.rejected()
    assert sorted(e.label for e in copy.entities()) == sorted(e.label for e in kg.entities())


def test_restored_scope_goes_on_from_its_clock(export: bytes):
    copy = KnowledgeGraph(clock=lambda: datetime(2001, 1, 1, tzinfo=UTC))
    read(copy, export)
    last = json.loads(export.splitlines()[0])["last_recorded"]
    assert copy.add("Nora", "knows", "Ann").recorded_at.instant > last
    assert copy.verify() == []


def test_restoring_in_a_file_survives_its_closing(tmp_path: Path, export: bytes):
    with KnowledgeGraph(tmp_path / "a.db") as kg:
        read(kg, export)
    with KnowledgeGraph(tmp_path / "a.db", read_only=True) as kg:
        assert exported(kg) == export


def test_scope_of_another_name_is_restored_too_and_its_neighbour_is_not_seen(export: bytes):
    kg = graph()
    kg.add("Nora", "knows", "Ann")
    other = kg.scoped("other")
    read(other, export)
    assert exported(other) == export
    assert "Maya" not in kg
    assert "Nora" not in other


def test_empty_scope_is_exported_and_restored():
    data = exported(graph())
    assert len(data.splitlines()) == 2
    copy = graph()
    assert read(copy, data).total == 0
    assert exported(copy) == data


def test_refusals_and_tombstones_do_not_make_a_scope_full(export: bytes):
    kg = graph()
    kg.forget(claim=kg.add("Nora", "knows", "Ann"))
    with pytest.raises(SemgraphError):
        kg.add("Nora", "knows", "Ann", confidence=3)
    kg.forget(everything=True)
    with pytest.raises(SemgraphError):
        kg.add("Nora", "knows", "Ann", confidence=3)
    read(kg, export)
    assert [r.code for r in kg.rejected()] == ["bad_time", "bad_confidence", "bad_confidence"]
    assert seen(kg) == seen(rich())
    assert kg.verify() == []


def test_forgetting_everything_exports_first_what_restores_it(tmp_path: Path, export: bytes):
    kg = rich()
    kg.forget(everything=True, export_to=tmp_path / "all.jsonl")
    assert seen(kg) == []
    read_jsonl(kg, tmp_path / "all.jsonl")
    assert seen(kg) == seen(rich())


# -- into a scope that has things of its own


def joined(*files: bytes, before=None) -> KnowledgeGraph:
    kg = graph(days=30)
    kg.add("Nora", "knows", "Ann", source_ref="own")
    if before is not None:
        before(kg)
    for data in files:
        read(kg, data)
    assert kg.verify() == []
    return kg


def test_joining_brings_every_fact(export: bytes):
    kg = joined(export)
    missing = {str(f) for f in rich().during().facts()} - {str(f) for f in kg.during().facts()}
    assert missing == set()
    assert kg.conflicts() == []


def test_reading_a_file_again_changes_nothing(export: bytes):
    kg = joined(export)
    once = exported(kg)
    batch = read(kg, export)
    assert set(batch.counts) == {"idempotent"}
    assert exported(kg) == once


def test_reading_an_export_into_its_own_scope_changes_nothing():
    kg = rich()
    before = exported(kg)
    assert set(read(kg, before).counts) == {"idempotent"}
    assert exported(kg) == before


def test_joined_claims_are_recorded_now_and_said_then(export: bytes):
    kg = joined(export)
    old = {(c.subject.label, c.predicate, c.kind, c.said_at.instant) for c in rich().claims(retracted=True)}
    new = [c for c in kg.claims(retracted=True) if c.source_ref != "own"]
    assert {(c.subject.label, c.predicate, c.kind, c.said_at.instant) for c in new} == old
    assert len({c.recorded_at for c in new}) == 1


def test_names_are_resolved_by_the_alias_table_of_the_scope(export: bytes):
    kg = joined(export, before=lambda kg: kg.names.alias("Maya", "Nora"))
    assert kg.entity("Maya") == kg.entity("Nora")
    assert kg.value("Nora", "works_at") == "Lineal"


def test_an_alias_that_means_another_here_is_not_taken_over(export: bytes):
    kg = joined(export, before=lambda kg: kg.names.declare("Maya P"))
    assert kg.candidates("Maya P") == [kg.entity("Maya P")]
    assert kg.entity("Maya P") != kg.entity("Maya")


def test_homonyms_stay_apart(export: bytes):
    kg = joined(export)
    assert len(kg.candidates("George Bush")) == 2
    assert kg.value("George W. Bush", "birth_date") == "1946-07-06"
    assert kg.value("George H. W. Bush", "birth_date") is None
    with pytest.raises(InputError):
        kg.names.merge("George W. Bush", "George H. W. Bush")


def namesakes() -> bytes:
    kg = graph()
    kg.names.declare("Ann")
    second = kg.names.declare("Ann", label="Ann of Oslo")
    kg.add(second, "speaks", "Norwegian")
    kg.add(next(e for e in kg.candidates("Ann") if e != second), "speaks", "Finnish")
    return exported(kg)


def test_what_cannot_be_told_apart_is_refused_and_logged_once():
    kg = joined(namesakes())
    (receipt,) = read(kg, namesakes()).rejected
    assert receipt.code == "ambiguous_entity"
    assert [r.code for r in kg.rejected()] == ["ambiguous_entity"]
    assert kg.value("Ann of Oslo", "speaks") == "Norwegian"
    assert kg.verify() == []


def test_what_was_withdrawn_there_is_withdrawn_here_but_not_again():
    kg = graph()
    claim = kg.add("Maya", "works_at", "Acme", source_ref="mail:1", said_at="2024")
    said = exported(kg)
    kg.retract(claim, reason="a joke")
    withdrawn = exported(kg)
    other = joined(said, withdrawn)
    assert other.value("Maya", "works_at") is None
    (mine,) = other.claims("Maya", retracted=True)
    other.unretract(mine)
    assert read(other, withdrawn).retracted == 0
    assert other.value("Maya", "works_at") == "Acme"


def test_a_retraction_here_outlives_an_import():
    kg = graph()
    kg.add("Maya", "works_at", "Acme", source_ref="mail:1", said_at="2024")
    other = joined(exported(kg))
    other.retract(next(other.claims("Maya")))
    read(other, exported(kg))
    assert other.value("Maya", "works_at") is None


def test_claims_told_in_both_places_are_one():
    here, there = graph(), graph()
    told = {"source_ref": "mail:1", "said_at": "2024"}
    for kg in (here, there):
        kg.add("Maya", "works_at", "Acme", **told)
    assert read(here, exported(there)).counts == {"idempotent": 1}


def test_merging_two_stores_does_not_depend_on_the_order():
    sides = [graph(), graph()]
    for day, kg in zip(("2024-01-01", "2024-02-01"), sides, strict=True):
        kg.add("Maya", "works_at", "Acme", valid_from=day, source=f"tool:{day}", said_at=day)
    files = [exported(kg) for kg in sides]
    assert seen(joined(*files)) == seen(joined(*reversed(files)))


def test_undone_merges_and_aliases_stay_undone(export: bytes):
    kg = joined(export)
    kg.names.unmerge("M")
    kg.names.unalias("Maya P", "Maya")
    before = exported(kg)
    read(kg, export)
    assert exported(kg) == before


def test_a_definition_here_wins(export: bytes):
    kg = joined(export, before=lambda kg: kg.predicates.define("eats", cardinality="one"))
    assert kg.predicates["eats"].cardinality == "one"
    assert joined(export).predicates["eats"].cardinality == "many"


def test_predicates_are_stored_the_way_they_are_registered_here():
    there = graph()
    there.add("Ann", "leads", "Bob", said_at="2024")
    there.add("Ann", "shuns", "peas", said_at="2024")

    def define(kg: KnowledgeGraph) -> None:
        kg.predicates.define("led_by", cardinality="one")
        kg.predicates.define("leads", inverse_of="led_by")
        kg.predicates.define("shuns", opposite="seeks")

    kg = joined(exported(there), before=define)
    assert kg.value("Bob", "led_by") == "Ann"
    assert kg.value("Ann", "shuns") == "peas"


def test_vetoes_hold_for_what_comes_and_not_for_what_is_there(export: bytes):
    kg = joined(export, before=lambda kg: kg.veto(entity="Rome"))
    assert "do_not_remember" in {r.code for r in kg.rejected()}
    before = exported(kg)
    read(kg, export)
    assert exported(kg) == before
    with pytest.raises(semgraph.RejectedError):
        kg.add("Maya", "knows", "bluebird")


def test_premises_keep_their_claims(export: bytes):
    kg = joined(export)
    assert kg.value("Maya", "speaks") is None or kg.values("Maya", "speaks")
    rome = next(c for c in kg.claims("Maya", "lives_in", retracted=True) if c.object and c.object.label == "Rome")
    (derived,) = kg.claims("Maya", "speaks")
    assert derived.because == ((rome.id,),)


def test_a_given_source_tells_all_of_it_and_is_trusted_no_more(export: bytes):
    kg = graph(days=30)
    read(kg, export, source="imported:old store")
    assert {c.source for c in kg.claims(retracted=True)} == {"imported:old store"}
    assert max(c.confidence for c in kg.claims(retracted=True)) <= 0.75
    before = exported(kg)
    assert set(read(kg, export, source="imported:old store").counts) == {"idempotent"}
    assert exported(kg) == before


def test_said_in_the_future_is_refused_alone(export: bytes):
    kg = KnowledgeGraph(clock=lambda: datetime(2022, 1, 1, tzinfo=UTC))
    kg.add("Nora", "knows", "Ann")
    batch = read(kg, export)
    assert {r.code for r in batch.rejected} == {"clock_skew"}
    assert batch.counts["rejected"] < batch.total
    assert kg.verify() == []


def test_an_alias_with_two_times_keeps_both():
    there = graph()
    there.names.alias("Jan", "Johanna", valid_from="2001", valid_to="2002")
    there.names.alias("Jan", "Johanna", valid_from="2005", valid_to="2006")
    kg = joined(exported(there))
    before = exported(kg)
    assert before.count(b'"key":"jan"') == 2
    read(kg, exported(there))
    assert exported(kg) == before


# -- properties

NAMES = st.sampled_from(["Ann", "Bob", "Cy", "ANN ", "me"])
PREDICATES = st.sampled_from(["works_at", "knows", "lives_in", "sibling_of", "likes", "dislikes", "manages", "odd"])
DATES = st.sampled_from([None, "2019", "2020-05", "2021~", "unknown"])
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(["add", "change", "also", "not"]), NAMES, PREDICATES, NAMES, DATES, st.booleans()),
    st.tuples(st.sampled_from(["end", "deny", "retract", "merge", "unmerge", "alias"]), NAMES, PREDICATES, NAMES),
)


def perform(kg: KnowledgeGraph, operation: tuple) -> None:
    verb, subject, predicate, thing, *rest = operation
    match verb:
        case "add" | "change" | "also" | "not":
            kind = "state" if verb in {"add", "not"} else verb
            said = "2022" if rest[1] else None
            negative = verb == "not"
            kg.add(subject, predicate, thing, kind=kind, valid_from=rest[0], said_at=said, negative=negative)
        case "end":
            kg.end(subject, predicate, at="2023")
        case "deny":
            kg.deny(subject, predicate, thing)
        case "retract":
            for claim in list(kg.claims(subject))[:1]:
                kg.retract(claim)
        case "merge":
            kg.names.merge(subject, thing)
        case "unmerge":
            kg.names.unmerge(subject)
        case "alias":
            kg.names.alias(f"{subject} of {thing}", subject)


def performed(operations: list[tuple], days: int = 0) -> KnowledgeGraph:
    kg = graph(days)
    for operation in operations:
        try:
            perform(kg, operation)
        except SemgraphError:
            continue
    return kg


@settings(max_examples=30)
@given(st.lists(OPERATIONS, max_size=8))
def test_any_history_is_restored_to_the_byte(operations: list[tuple]):
    kg, copy = performed(operations), graph()
    data = exported(kg)
    read(copy, data)
    assert exported(copy) == data
    assert copy.verify() == []
    for moment in [None, *sorted({claim.recorded_at for claim in kg.claims(retracted=True)})]:
        assert seen(copy, moment) == seen(kg, moment)


def test_a_claim_that_is_withdrawn_where_it_comes_from_is_no_part_of_what_it_joins():
    told = ("add", "Ann", "works_at", "Bo", None, False)
    kg = performed([("add", "Ann", "works_at", "Bo", "2019", False)], days=30)
    read(kg, exported(performed([told, told, ("retract", "Ann", "works_at", "Bo")])))
    assert kg.verify() == []


@settings(max_examples=30)
@given(st.lists(OPERATIONS, max_size=6), st.lists(OPERATIONS, max_size=6))
def test_any_history_joins_any_other_once(operations: list[tuple], own: list[tuple]):
    kg = performed(own, days=30)
    data = exported(performed(operations))
    read(kg, data)
    assert kg.verify() == []
    once = exported(kg)
    read(kg, data)
    assert exported(kg) == once


@settings(max_examples=60)
@given(st.data())
def test_no_damage_goes_unseen_and_none_leaves_a_trace(data: st.DataObject):
    whole = exported(performed([("add", "Ann", "knows", "Bob", "2020", True), ("merge", "Ann", "x", "Bob")]))
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        damaged = whole[:place]
    else:
        damaged = whole[:place] + bytes([whole[place] ^ data.draw(st.integers(1, 255))]) + whole[place + 1 :]
    if damaged.rstrip(b"\n") == whole.rstrip(b"\n"):
        return
    for kg in (graph(), joined()):
        before = exported(kg)
        with pytest.raises(ImportRejected):
            read(kg, damaged)
        assert exported(kg) == before
        assert kg.verify() == []


# -- files that can't be taken in


def signed(rows: list[dict], **header) -> bytes:
    """An export made by hand, with counts and digest that fit."""
    import hashlib

    empty = json.loads(exported(graph()).splitlines()[0])
    counts = empty["counts"] | {name: sum(row.get("table") == name for row in rows) for name in empty["counts"]}
    first = empty | {"counts": counts, "last_recorded": 10**15, "entities": 9} | header
    body = b"".join(jsonl.dumped(line) for line in [first, *rows])
    return body + jsonl.dumped({"rows": len(rows), "sha256": hashlib.sha256(body).hexdigest()})


def parts() -> dict[str, dict]:
    """One good row of each of the tables that others refer to."""
    kg = KnowledgeGraph(clock=lambda: datetime(1990, 1, 1, tzinfo=UTC))
    kg.add("Ann", "knows", "Bob", valid_from="1980")
    rows = [json.loads(line) for line in exported(kg).splitlines()[1:-1]]
    return {"a": rows[0], "b": rows[1], "n": rows[2], "m": rows[3], "c": rows[4]}


def test_an_export_made_by_hand_is_taken_in():
    rows = list(parts().values())
    kg = graph()
    assert read(kg, signed(rows)).counts == {"new": 1}
    assert kg.verify() == []


def merge_row(src: int, dst: int) -> dict:
    return {"table": "redirect", "src": src, "dst": dst, "recorded_at": 1, "ended_at": 2**63 - 1, "reason": None}


def circle() -> list[dict]:
    p = parts()
    a, b = p["a"]["id"], p["b"]["id"]
    return [*p.values(), *sorted((merge_row(a, b), merge_row(b, a)), key=lambda row: row["src"])]


def claim(**changes) -> list[dict]:
    p = parts()
    return [p["a"], p["b"], p["n"], p["m"], p["c"] | changes]


def other(table: str, **columns) -> list[dict]:
    return [*parts().values(), {"table": table, **columns}]


BAD_ROWS = {
    "claim of an unknown kind": claim(kind="rumour"),
    "claim without its entity": claim(subject=5),
    "claim with another object": claim(object="e5"),
    "claim with a broken reference": claim(object="q"),
    "claim that ends before it starts": claim(valid_to=-(10**15), valid_to_text=""),
    "claim with a window that is none": claim(valid_from_text="zzz"),
    "claim with words for no bound": claim(valid_from=None),
    "claim of a flag that is none": claim(negative=2),
    "claim surer than sure": claim(confidence=1.5),
    "claim said after it was recorded": claim(said_at=10**15),
    "claim recorded after the clock": claim(recorded_at=10**16),
    "claim with an id that is none": claim(id="'; DROP TABLE claim"),
    "claim with a predicate that is no key": claim(predicate="Works At"),
    "claim with qualifiers that are no mapping": claim(qualifiers="[1]"),
    "claim with deep qualifiers": claim(qualifiers='{"a": {"b": 1}}'),
    "claim with a text for a number": claim(said_at="1990"),
    "claim with true for a number": claim(told=True),
    "claim with a number beyond 64 bits": claim(said_at=2**63),
    "claim with a column too many": claim(colour="red"),
    "claim with a lone surrogate": claim(text="\ud800"),
    "claim with a NUL": claim(text="a\0b"),
    "claim with a name that is none": claim(subject_text=" "),
    "claim of nobody": claim(source=" "),
    "claim with a literal of another key": claim(object="l:x", object_text="y", object_type="text"),
    "claim with a date that is none": claim(object="l:2023-02-29", object_text="2023-02-29", object_type="date"),
    "entity with another's key": [parts()["a"] | {"key": "zed"}],
    "entity twice": [parts()["a"], parts()["a"]],
    "rows in another order": list(reversed(list(parts().values()))),
    "alias of nobody": [parts()["n"]],
    "alias that ends before it begins": [
        parts()["a"],
        parts()["n"] | {"entity": parts()["a"]["id"], "valid_to": -(2**63)},
    ],
    "merges in a circle": circle(),
    "merge into itself": [*parts().values(), merge_row(parts()["a"]["id"], parts()["a"]["id"])],
    "justification of nothing": other("justification", claim="f" * 24, justification=0, premise="", recorded_at=1),
    "retraction of nothing": other("retraction", claim="f" * 24, recorded_at=1, ended_at=2**63 - 1, reason=None),
    "definition that is none": other("definition", predicate="p", recorded_at=1, spec='{"name": "q"}'),
    "definition that is no JSON": other("definition", predicate="p", recorded_at=1, spec="{"),
    "definition nested without end": other("definition", predicate="p", recorded_at=1, spec="[" * 100_000),
    "veto of an unknown kind": other("veto", kind="mood", value="x", recorded_at=1),
    "declared nobody": other("declared", entity=5, recorded_at=1),
    "apart from itself": other("apart", a=parts()["a"]["id"], b=parts()["a"]["id"], recorded_at=1),
    "rows of facts": other("fact", id="x"),
    "rows of another scope": other("scope", name="default"),
    "an unknown table": other("sqlite_master", name="x"),
}  # fmt: skip


@pytest.mark.parametrize("rows", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_row_that_no_export_holds_is_refused_whatever_its_digest(rows: list[dict]):
    body = "\n".join(json.dumps(row) for row in rows)
    try:
        data = signed(rows)
    except UnicodeEncodeError:  # a lone surrogate can only come as an escape
        data = jsonl.dumped(json.loads(signed([]).splitlines()[0])) + body.encode()
    kg = graph()
    with pytest.raises(ImportRejected, match=r"line \d+") as caught:
        read(kg, data)
    assert caught.value.code == "bad_row"
    assert exported(kg) == exported(graph())
    with pytest.raises(ImportRejected):
        check_jsonl(io.BytesIO(data))


BAD_FILES = {
    "nothing": (b"", "empty"),
    "an empty line": (b"\n", "bad_json"),
    "no JSON": (b"hello\n", "bad_json"),
    "half an object": (b'{"subject": "a"', "bad_json"),
    "a list": (b"[1]\n", "foreign"),
    "an object of others": (b'{"node": 1}\n', "foreign"),
    "a format of others": (b'{"format": "graphml"}\n', "foreign"),
    "a newer version": (b'{"format": "semgraph", "version": 2}\n', "newer_format"),
    "a header without its counts": (b'{"format": "semgraph", "version": 1}\n', "bad_row"),
    "a header and no more": (exported(graph()).splitlines(keepends=True)[0], "truncated"),
    "lines after the last": (exported(graph()) + b"{}\n", "damaged"),
    "another digest": (signed([]).replace(b'"sha256":"', b'"sha256":"0'), "damaged"),
    "other counts": (signed([], counts=dict.fromkeys(json.loads(signed([]).splitlines()[0])["counts"], 1)), "damaged"),
    "no UTF-8": (b'{"subject": "\xff"}\n', "bad_encoding"),
    "UTF-16": ('{"subject": "a"}\n'.encode("utf-16"), "bad_encoding"),
    "a number that is none": (b'{"subject": "a", "predicate": "p", "confidence": NaN}\n', "bad_json"),
    "a key twice": (b'{"subject": "a", "subject": "b"}\n', "bad_json"),
    "nested without end": (b'{"subject": ' + b"[" * 200_000 + b"\n", "bad_json"),
    "a number without end": (b'{"subject": ' + b"9" * 5000 + b"}\n", "bad_json"),
    "a second line that is no JSON": (b'{"subject": "a", "predicate": "p", "object": "o"}\nhello\n', "bad_json"),
    "a second line that is no object": (b'{"subject": "a", "predicate": "p", "object": "o"}\n"b"\n', "bad_json"),
    "a line without end": (b'{"subject": "' + b"a" * lines.MAX_LINE + b'"}\n', "oversize"),
    "half a gzip file": (gzip.compress(exported(graph()))[:-9], "bad_gzip"),
    "a damaged gzip file": (b"\x1f\x8b" + b"\0" * 30, "bad_gzip"),
}


@pytest.mark.parametrize(("data", "code"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_malformed_file_is_refused_and_leaves_nothing_behind(tmp_path: Path, data: bytes, code: str):
    (tmp_path / "bad.jsonl").write_bytes(data)
    for kg in (graph(), joined()):
        before = exported(kg)
        with pytest.raises(ImportRejected) as caught:
            semgraph.read(kg, tmp_path / "bad.jsonl")
        assert caught.value.code == code
        assert "\n" not in str(caught.value)
        assert exported(kg) == before


def test_a_zip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lines, "FREE_EXPANSION", 1 << 16)
    with pytest.raises(ImportRejected) as caught:
        read(graph(), gzip.compress(b'{"subject": "a", "predicate": "p", "object": "o"}\n' * 20_000))
    assert caught.value.code == "oversize"


def test_gzip_is_recognised_whatever_its_name(tmp_path: Path, export: bytes):
    kg, copy = graph(), graph()
    read(kg, gzip.compress(export))
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(export))
    semgraph.read(copy, tmp_path / "a.jsonl")
    assert exported(kg) == exported(copy) == export


def test_a_claim_with_much_to_say_is_exported_and_restored():
    kg = graph()
    many = {f"q{n}": chr(33 + n) * 60_000 for n in range(40)}
    kg.add("Ann", "knows", "Bob", qualifiers=many, text="\x01" * 60_000)
    data = exported(kg)
    assert max(map(len, data.splitlines())) > lines.MAX_LINE
    copy = graph()
    read(copy, data)
    assert exported(copy) == data


# -- plain lines


def told(*claims: dict) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in claims)


def test_plain_lines_are_a_batch_of_claims():
    kg = graph()
    data = (
        b"\xef\xbb\xbf"
        + told(
            {"subject": "Maya", "predicate": "works_at", "object": "Stripe", "valid_from": "2021"},
            {"subject": "Maya", "predicate": "works_at", "object": "Linear", "valid_from": "2024-13"},
        )
        + b"\n"
        + told({"subject": "Maya", "predicate": "speaks", "object": "Finnish", "qualifiers": {"n": 1}})
    )
    batch = read(kg, data)
    assert batch.counts == {"new": 2, "rejected": 1}
    assert [r.code for r in batch.rejected] == ["bad_time"]
    assert kg.value("Maya", "works_at") == "Stripe"
    assert {c.source for c in kg.claims()} == {"user"}


def test_plain_lines_told_by_a_source_can_claim_no_other():
    kg = graph()
    read(kg, told({"subject": "Maya", "predicate": "speaks", "object": "Finnish", "source": "user"}), "imported:crm")
    assert [c.source for c in kg.claims()] == ["imported:crm"]


WORDS = st.sampled_from(
    [
        *("subject", "predicate", "object", "valid_from", "valid_to", "valid_through", "kind", "negative", "source"),
        *("source_ref", "said_at", "confidence", "qualifiers", "because", "text", "colour"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=100)
@given(st.dictionaries(WORDS, VALUES, max_size=5))
def test_a_line_of_anything_is_a_claim_or_a_declared_error(words: dict):
    kg = graph()
    try:
        batch = read(kg, told({"subject": "Ann", "predicate": "knows", "object": "Bob"} | words))
    except SemgraphError:
        assert list(kg.claims()) == []
    else:
        assert batch.total == 1
    assert kg.verify() == []


# -- places


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.jsonl"
    path.write_text("precious")
    kg = rich()

    def failing(store, scope):
        yield b"half a line"
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(jsonl, "row_lines", failing)
        with pytest.raises(KeyboardInterrupt):
            semgraph.write(kg, path)
    assert path.read_text() == "precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]
    semgraph.write(kg, path)
    assert check_jsonl(path) == len(path.read_bytes().splitlines()) - 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_places_that_must_not_be_replaced_are_not(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with KnowledgeGraph(tmp_path / "own.db") as kg:
        kg.add("Ann", "knows", "Bob")
        for name in ("own.db", "own.db-wal", "pipe.jsonl", "folder.jsonl", "missing/a.jsonl", "a\0.jsonl"):
            with pytest.raises(InputError):
                semgraph.write(kg, tmp_path / name, format="jsonl")
        assert kg.verify() == []


def test_a_link_is_followed(tmp_path: Path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    semgraph.write(graph(), tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert check_jsonl(tmp_path / "real.jsonl") == 0


@pytest.mark.parametrize("name", ["missing.jsonl", "folder.jsonl", "a\0.jsonl", "x/y.jsonl"])
def test_a_file_that_cannot_be_read_is_a_declared_error(tmp_path: Path, name: str):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(ImportRejected) as caught:
        semgraph.read(graph(), tmp_path / name)
    assert caught.value.code == "unreadable"


def test_a_failing_stream_is_a_declared_error():
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _) -> int:
            raise OSError("the cable is out")

    with pytest.raises(ImportRejected, match="the cable is out"):
        read_jsonl(graph(), io.BufferedReader(Broken()))


def test_only_the_whole_graph_is_written(tmp_path: Path):
    kg = rich()
    for view in (kg.at("2020"), kg.during("2020"), kg.at(known_at="2024")):
        with pytest.raises(InputError, match="whole"):
            semgraph.write(view, tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("path", "kind"), [("a.xls", None), ("a.jsonl", "xml"), (io.BytesIO(), None)])
def test_an_unknown_format_is_an_input_error(path, kind):
    with pytest.raises(InputError, match="format"):
        semgraph.write(graph(), path, format=kind)
    with pytest.raises(InputError, match="format"):
        semgraph.read(graph(), path, format=kind)


def test_a_read_only_store_takes_nothing_in(tmp_path: Path, export: bytes):
    KnowledgeGraph(tmp_path / "a.db").close()
    with KnowledgeGraph(tmp_path / "a.db", read_only=True) as kg, pytest.raises(semgraph.StoreReadOnly):
        read(kg, export)


def test_views_are_nothing_to_read_into(export: bytes):
    with pytest.raises(InputError):
        read_jsonl(graph().at("2020"), io.BytesIO(export))
