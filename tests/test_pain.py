"""What users of other systems suffered must not happen here: a test of its kind for each, numbered as on the list."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import pytest
from bounded_work import together
from histories import Clock, conflict, day, ever, graph, labels, shown, spans, tell_all, timed

import semgraph
from semgraph.errors import AmbiguousNameError, InputError, NotFoundError, RejectedError
from semgraph.model import Entity

if TYPE_CHECKING:
    from pathlib import Path

    from semgraph import KnowledgeGraph

# Starter predicates that hold one value at a time and take names; those told from both ends have tests of their own.
ONE = [
    "lives_in", "city", "country", "works_at", "reports_to", "editor", "operating_system", "owned_by",
    "deploys_on", "deploy_target", "hosted_on", "located_in", "uses_currency", "replaced_by",
]  # fmt: skip
MANY = [
    "citizen_of", "speaks", "member_of", "studied_at", "skilled_in", "works_on", "has_pet", "uses",
    "written_in", "depends_on", "is_a",
]  # fmt: skip


# -- time: what holds when


@pytest.mark.parametrize("predicate", ["works_at", "lives_in", "owned_by", "located_in", "my_own"])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_row_01_valid_time_decides_not_the_order_of_arrival(predicate: str, order: tuple[int, ...]) -> None:
    kg, clock = timed("2026-06-01T00:00:00Z")
    kg.predicates.define("my_own", cardinality="one")
    told = [("Initech", "2026"), ("Acme", "2024"), ("Globex", "2025-03")]
    for number in order:
        clock.tick(days=3)
        kg.add("Pat", predicate, told[number][0], valid_from=told[number][1], said_at=f"{told[number][1][:4]}-05-01")
    assert spans(kg, "Pat", predicate) == [
        ("Acme", "2024", "2025-03"),
        ("Globex", "2025-03", "2026"),
        ("Initech", "2026", "…"),
    ]
    assert kg.value("Pat", predicate) == "Initech"
    assert kg.conflicts() == []


@pytest.mark.parametrize("predicate", [*ONE, *MANY])
def test_row_02_a_fact_of_another_predicate_retires_nothing(predicate: str) -> None:
    kg, clock = timed()
    kg.add("P", predicate, "C", valid_from="2020")
    before = spans(kg, "P", predicate)
    for other in (*ONE, *MANY, "responsible_for", "assigned_to", "visited", "likes"):
        if other != predicate:
            clock.tick(days=2)
            kg.add("P", other, f"D {other}", valid_from="2021", kind="change" if other in ONE else "state")
    kg.add("Q", predicate, "C", valid_from="2022")
    assert spans(kg, "P", predicate) == before
    assert kg.conflicts() == []


@pytest.mark.parametrize("predicate", [*ONE, *MANY, "my_own"])
def test_row_03_opposite_ends_never_compete(predicate: str) -> None:
    kg, clock = timed()
    kg.add("A", predicate, "B", valid_from="2020")
    clock.tick(days=2)
    kg.add("B", predicate, "C", valid_from="2021", kind="change")
    clock.tick(days=2)
    kg.add("C", predicate, "A", valid_from="2022", kind="change")
    assert [labels(kg.values(x, predicate)) for x in "ABC"] == [["B"], ["C"], ["A"]]
    assert kg.conflicts() == []


_OLD: dict[str, Any] = {"source": "imported:log", "said_at": "2023-05-10T12:00:00Z"}


@pytest.mark.parametrize("surface", ["add", "set", "add_all", "remember", "end", "deny", "correct"])
def test_row_04_an_old_log_keeps_its_own_times(surface: str) -> None:
    """Imported three years later, it is evidence of then: what was said since still wins."""
    kg, clock = timed("2025-01-01T00:00:00Z")
    if surface in ("end", "deny", "correct"):
        kg.add("Ann", "works_at", "Acme", valid_from="2019", **_OLD)
    else:
        kg.add("Ann", "works_at", "Hooli", valid_from="2024")
    clock.show("2026-01-01T00:00:00Z")
    words: dict[str, Any] = {"subject": "Ann", "predicate": "works_at", "object": "Acme", "valid_from": "2019", **_OLD}
    if surface == "add":
        kg.add(**words)
    elif surface == "set":
        kg.set("Ann", "works_at", "Acme", valid_from="2019", **_OLD)
    elif surface == "add_all":
        kg.add_all([words])
    elif surface == "remember":
        kg.remember("Ann works at Acme, says the log", **words)
    elif surface == "end":
        kg.end("Ann", "works_at", "Acme", at="2022", **_OLD)
    elif surface == "deny":
        kg.deny("Ann", "works_at", "Acme", valid_from="2020", valid_to="2021", **_OLD)
    else:
        kg.correct("Ann", "works_at", "Acme", "Globex", valid_at="2020", **_OLD)
    last = list(kg.claims())[-1]
    assert day(last.said_at) == "2023-05-10T12:00:00Z"
    wanted = {
        "end": [("Acme", "2019", "2022")],
        "deny": [("Acme", "2019", "2020"), ("Acme", "2021", "…")],
        "correct": [("Globex", "2019", "…")],
    }
    assert spans(kg, "Ann", "works_at") == wanted.get(surface, [("Acme", "2019", "2024"), ("Hooli", "2024", "…")])
    if surface in ("add", "set", "add_all", "remember"):
        assert kg.value("Ann", "works_at") == "Hooli"
        assert kg.at("2020").value("Ann", "works_at") == "Acme"


@pytest.mark.parametrize("stop", ["2019", "unknown", None])
@pytest.mark.parametrize("predicate", ["prefers_drink", "works_at", "likes"])
def test_row_05_history_that_arrives_late_is_not_born_dead(predicate: str, stop: str | None) -> None:
    kg, clock = timed()
    kg.predicates.define("prefers_drink", cardinality="one")
    kg.add("Ann", predicate, "green tea", valid_from="2020")
    clock.tick(days=30)
    kg.add("Ann", predicate, "coffee", valid_from="2018", valid_to=stop, said_at="2019-06-01T00:00:00Z")
    assert "green tea" in labels(kg.values("Ann", predicate))
    assert labels(kg.at("2018-06").values("Ann", predicate)) == ["coffee"]
    assert [row[0] for row in spans(kg, "Ann", predicate)] == ["coffee", "green tea"]
    for fact in kg.timeline("Ann", predicate):
        assert fact.valid_to is None or fact.valid_from.instant < fact.valid_to.instant


@pytest.mark.parametrize("predicate", [*ONE, "assigned_to", "job_title", "ui_theme", "license"])
def test_row_06_every_one_valued_predicate_closes(predicate: str) -> None:
    kg, clock = timed()
    if predicate == "assigned_to":
        kg.predicates.define("assigned_to", cardinality="one")
    kg.add("Kiran", predicate, "first", valid_from="2020")
    clock.tick(days=2)
    receipt = kg.add("Kiran", predicate, "second", valid_from="2023")
    assert receipt.outcome == "update"
    assert labels(receipt.closed) == ["first"]
    assert spans(kg, "Kiran", predicate) == [("first", "2020", "2023"), ("second", "2023", "…")]


@pytest.mark.parametrize("read", ["values", "facts", "about", "value"])
def test_row_07_reads_are_of_now_unless_they_say_otherwise(read: str) -> None:
    kg, clock = timed()
    kg.add("Ann", "lives_in", "Berlin", valid_from="2015")
    clock.tick(days=2)
    kg.add("Ann", "lives_in", "Rome", valid_from="2021")
    kg.add("Ann", "lives_in", "Lima", valid_from="2030")

    def found(view: Any) -> list[str]:
        if read == "value":
            return [view.value("Ann", "lives_in")]
        if read == "about":
            return labels(view.about("Ann")["lives_in"])
        return labels(view.values("Ann", "lives_in") if read == "values" else view.facts("Ann"))

    assert found(kg) == ["Rome"]
    assert found(kg.at("2016")) == ["Berlin"]
    assert found(kg.at("2031")) == ["Lima"]


@pytest.mark.parametrize(
    ("window", "met", "covering"),
    [
        (("2024",), ["b", "c", "d"], []),
        (("2024-01-01", "2025-01-01"), ["b", "c", "d"], []),
        (("2024-03-01", "2024-03-02"), ["b", "c"], ["b", "c"]),
        (("2024-03",), ["b", "c"], ["b"]),
        (("2023", "2024"), ["a", "b"], ["a"]),
        ((None, "2023-06-15"), ["a", "b"], None),
        (("2024-12-31T23:59:59Z", "2026"), ["d"], None),
    ],
)
def test_row_09_windows_are_typed_and_half_open(
    window: tuple[Any, ...], met: list[str], covering: list[str] | None
) -> None:
    kg = graph()
    spans_of = {
        "a": ("2022", "2024"),
        "b": ("2023-06", "2024-06"),
        "c": ("2024-03-01", "2024-03-15"),
        "d": ("2024-12", None),
    }
    for name, (start, stop) in spans_of.items():
        kg.add("x", "uses", name, valid_from=start, valid_to=stop)
    assert labels(kg.during(*window).facts("x", "uses")) == met
    if covering is not None and len(window) == 2:
        assert labels(kg.throughout(*window).facts("x", "uses")) == covering


FIELDS: dict[str, Any] = {
    "subject": "Ann",
    "predicate": "works_at",
    "object": "Acme",
    "valid_from": "2018-06~",
    "valid_to": "2020-03-01T09:30:00+02:00",
    "kind": "also",
    "source": "tool:hr",
    "source_ref": "sheet/7#b-2",
    "said_at": "2021-02-03T04:05:06.789012Z",
    "confidence": 0.625,
    "qualifiers": {"team": "Ops", "hours": 20, "remote": True, "share": 0.5},
    "text": "Ann (ops) worked at Acme — “part time”, 20 h.",
}


@pytest.mark.parametrize("way", ["memory", "file", "export"])
@pytest.mark.parametrize("negative", [False, True])
def test_row_10_every_field_that_is_written_is_read_back(way: str, negative: bool, tmp_path: Path) -> None:  # noqa: FBT001
    given = FIELDS | ({"negative": True, "kind": "state"} if negative else {})
    kg = graph(tmp_path / "a.db" if way == "file" else ":memory:")
    premise = kg.add("Ann", "knows", "Bo").claim
    written = kg.add(**given, because=[premise]).claim
    if way == "file":
        kg.close()
        kg = graph(tmp_path / "a.db")
    elif way == "export":
        pytest.importorskip("semgraph.exchange.jsonl")
        semgraph.write(kg, tmp_path / "a.jsonl")
        kg = graph()
        semgraph.read(kg, tmp_path / "a.jsonl")
    claim = next(c for c in kg.claims() if c.source == "tool:hr")
    assert claim == written
    assert (claim.subject.label, claim.object.label) == ("Ann", "Acme")
    for name in ("predicate", "kind", "source", "source_ref", "confidence", "qualifiers", "text"):
        assert getattr(claim, name) == given[name], name
    assert claim.negative is negative
    assert str(claim.valid_from) == "2018-06~"
    assert claim.valid_to.instant == semgraph.parse_when("2020-03-01T07:30:00Z").instant
    assert str(claim.said_at) == "2021-02-03T04:05:06.789012Z"
    assert claim.because == ((premise.id,),)
    assert claim.recorded_at.instant == written.recorded_at.instant
    assert claim.retracted_at is None


@pytest.mark.parametrize("moment", ["2020-01-01", "2024-06-01", "2024-06-15T12:00:00Z", "2025-01-01"])
def test_row_11_no_read_of_the_past_shows_the_future(moment: str) -> None:
    kg, clock = timed("2024-01-01T00:00:00Z")
    for month in range(1, 12):
        clock.show(f"2024-{month:02}-15T00:00:00Z")
        kg.add("Ann", "works_at", f"Firm {month}", valid_from=f"2024-{month:02}", kind="change")
        kg.add("Ann", "uses", f"tool {month}")
        if month % 3 == 0:
            kg.retract(next(kg.claims("Ann", "uses")))
    limit = semgraph.parse_when(moment).instant
    known, then = kg.at(known_at=moment), kg.at(moment)
    for view in (known, kg.during(known_at=moment), kg.at(moment, known_at=moment)):
        for fact in [*view.facts(), *(view.timeline("Ann") if "Ann" in view else [])]:
            assert fact.recorded_at.instant <= limit
            assert all(claim.recorded_at.instant <= limit for claim in fact.claims)
            assert fact.system_from.instant <= limit
        assert all(entity.label in ("Ann", *(f"Firm {m}" for m in range(1, 12)), *(f"tool {m}" for m in range(1, 12)))
                   for entity in view.entities())  # fmt: skip
    assert all(fact.valid_from.instant <= limit for fact in then.facts())
    assert limit < kg._session.last_recorded or labels(known.facts()) == labels(kg.at().facts())


@pytest.mark.parametrize(
    "other", ["2020-01-01", "2020-01-01T10:00:00+03:00", "2020", "-0043", "Y200000", "198X", "unknown"]
)
def test_row_12_dates_of_all_shapes_can_be_compared(other: str) -> None:
    """A naive time is refused at the door, so that nothing inside ever meets one."""
    kg = graph()
    kg.add("Ann", "works_at", "Acme", valid_from="2019-05-05T05:05:05Z")
    kg.add("Ann", "works_at", "Globex", valid_from=other, valid_to="unknown" if other == "unknown" else None)
    for bad in ("2020-01-01T10:00:00", "2020-01-01 10:00"):
        with pytest.raises(RejectedError) as caught:
            kg.add("Ann", "works_at", "Hooli", valid_from=bad)
        assert caught.value.code in ("naive_time", "bad_time")
        with pytest.raises(RejectedError):
            kg.at(bad)
    assert kg.timeline("Ann", possible=True)
    assert kg.verify() == []


# -- one fact once, one thing once


@pytest.mark.parametrize("handles", [1, 3])
def test_row_13_the_same_claim_by_concurrent_writers_is_stored_once(handles: int, tmp_path: Path) -> None:
    opened = [graph(tmp_path / "store.db", durability="relaxed") for _ in range(handles)]
    said = {"said_at": "2023-01-01T00:00:00Z", "source_ref": "doc:1"}

    def work(kg: KnowledgeGraph) -> None:
        for number in range(5):
            kg.add("Ann", "works_at", f"Firm {number}", valid_from=f"{2010 + number}", **said)

    together([*(lambda kg=kg: work(kg) for kg in opened for _ in range(2))])
    assert len(list(opened[0].claims())) == 5
    assert [e.label for e in opened[0].entities() if e.label == "Ann"] == ["Ann"]
    assert opened[-1].verify() == []
    for kg in opened:
        kg.close()


@pytest.mark.parametrize("variants", [
    ["DGIA", "dgia", "  DGIA ", "“DGIA”", "Dgia.", "DGIA\u200b"],
    ["Arttu Antikainen", "arttu   antikainen", "ARTTU\u00a0ANTIKAINEN", "Arttu\tAntikainen,"],
    ["Straße", "STRASSE", "strasse"],
    ["Zoë", "Zoe\u0308", "ZOË"],
    ["O'Neil", "O’Neil", "O`Neil"],
    ["Jean-Luc", "Jean‐Luc", "JEAN–LUC"],
    ["北京", " 北京 ", "「北京」"],
])  # fmt: skip
def test_row_14_one_name_is_one_entity_however_it_is_typed(variants: list[str]) -> None:
    kg = graph()
    for number, name in enumerate(variants):
        kg.add(name, "uses", f"tool {number}")
        kg.add("Bo", "knows", name)
    assert len({kg.entity(name) for name in variants}) == 1
    assert len(kg.values(variants[-1], "uses")) == len(variants)
    assert len(kg.values("Bo", "knows")) == 1
    assert kg.entity(variants[0]).label == variants[0].strip()  # as first written


NEAR = [
    ("SR-2023-052", "SR-2023-053"),
    ("Annex 13 Am. 16", "Annex 13 Am. 17"),
    ("ASR1603", "ASR1605"),
    ("cranel", "cranelr"),
    ("Arttu Antikainen", "Anna Antikainen"),
    ("Java", "JavaScript"),
    ("C", "C++"),
    ("C++", "C#"),
    (".NET", "NET"),
    ("AT&T", "ATT"),
    ("US", "U.S"),
    ("President", "Vice President"),
    ("José", "Jose"),
    ("apple", "apples"),
    ("@arttu", "arttu"),
    ("Anna", "Аnna"),  # the second begins with a Cyrillic letter
    ("skin cancer", "melanoma"),
]


@pytest.mark.parametrize(("a", "b"), NEAR)
def test_row_15_16_21_near_names_are_never_one(a: str, b: str) -> None:
    kg = graph()
    kg.add(a, "located_in", "here", valid_from="2020")
    kg.add(b, "located_in", "there", valid_from="2021")
    kg.add("Bo", "knows", a)
    kg.add("Bo", "knows", b)
    list(kg.names.suggest(min_score=0))
    assert kg.entity(a) != kg.entity(b)
    assert (kg.value(a, "located_in"), kg.value(b, "located_in")) == ("here", "there")
    assert len(kg.values("Bo", "knows")) == 2
    assert kg.candidates(a) == [kg.entity(a)]


@pytest.mark.parametrize(("a", "b"), NEAR[:3])
def test_row_15_16_names_that_differ_in_a_number_are_not_even_suggested(a: str, b: str) -> None:
    kg = graph()
    kg.add(a, "located_in", "here")
    kg.add(b, "located_in", "there")
    assert all({s.a.label, s.b.label} != {a, b} for s in kg.names.suggest(min_score=0))


def test_row_16_a_forbidden_merge_stays_forbidden() -> None:
    kg = graph()
    kg.add("Robert Smith", "works_at", "Acme")
    kg.add("Robert Smyth", "works_at", "Acme")
    assert [{s.a.label, s.b.label} for s in kg.names.suggest()] == [{"Robert Smith", "Robert Smyth"}]
    kg.names.keep_apart("Robert Smith", "Robert Smyth")
    assert list(kg.names.suggest(min_score=0)) == []
    with pytest.raises(InputError):
        kg.names.merge("Robert Smith", "Robert Smyth")
    with pytest.raises(InputError):
        kg.names.merge("Robert Smyth", "Robert Smith")


@pytest.mark.parametrize("count", [1, 5])
def test_row_17_18_a_merge_loses_no_edge_and_can_be_undone(count: int) -> None:
    kg, clock = timed()
    names = ["Mickael Wagner", "MWA", "M. Wagner", "Wagner Mickael", "mickael w", "Wagner M"][: count + 1]
    for number, name in enumerate(names):
        kg.add(name, "uses", f"tool {number}", valid_from="2020")
        kg.add(f"Team {number}", "has_member", name, valid_from="2020")
    before = ever(kg)
    for name in names[1:]:
        clock.tick(hours=1)
        kg.names.merge(name, "Mickael Wagner", reason="one person")
    assert len(kg.values("MWA", "uses")) == count + 1
    assert len(kg.values("Mickael Wagner", "member_of")) == count + 1
    assert all(kg.entity(name) == kg.entity("Mickael Wagner") for name in names)
    for name in reversed(names[1:]):
        clock.tick(hours=1)
        kg.names.unmerge(name)
    assert ever(kg) == before
    assert kg.verify() == []


@pytest.mark.parametrize(("names", "other"), [
    (["Aster", "aster 0", "Aster 🔑"], "Aster"),
    (["User", "User 2", "User (admin)"], "User (admin)"),
])  # fmt: skip
def test_row_18_looking_alike_is_a_suggestion_and_changes_nothing(names: list[str], other: str) -> None:
    kg = graph()
    for name in names:
        kg.add(name, "uses", "tea")
    before = ever(kg)
    for suggestion in kg.names.suggest(min_score=50):
        assert suggestion.a != suggestion.b
        assert suggestion.why
        assert 50 <= suggestion.score <= 100
    assert ever(kg) == before
    assert other in kg


def test_row_19_homonyms_stay_apart_and_aliases_join() -> None:
    kg = graph()
    ohio = kg.names.declare("First National Bank", label="First National Bank (Ohio)")
    texas = kg.names.declare("First National Bank", label="First National Bank (Texas)")
    assert ohio != texas
    kg.add(ohio, "located_in", "Ohio")
    kg.add("First National Bank (Texas)", "located_in", "Texas")
    assert kg.value(texas, "located_in") == "Texas"
    with pytest.raises(RejectedError) as caught:
        kg.add("First National Bank", "owned_by", "somebody")
    assert caught.value.code == "ambiguous_entity"
    assert "Ohio" in caught.value.reason
    kg.add("Bucky Barnes", "member_of", "Howling Commandos")
    kg.names.alias("Winter Soldier", "Bucky Barnes")
    kg.add("Winter Soldier", "member_of", "Hydra")
    assert labels(kg.values("Bucky Barnes", "member_of")) == ["Howling Commandos", "Hydra"]


@pytest.mark.parametrize("use", ["entity", "values", "about", "timeline", "value", "merge"])
def test_row_20_an_ambiguous_name_is_a_set_of_candidates(use: str) -> None:
    kg = graph()
    kg.add("Assured Velocity", "is_a", "firm")
    kg.add("Anti Virus", "is_a", "program")
    kg.names.alias("AV", "Assured Velocity")
    with pytest.raises(AmbiguousNameError, match=r"merge|homonym"):
        kg.names.alias("AV", "Anti Virus")
    kg.names.alias("AV", "Anti Virus", homonym=True)
    assert sorted(e.label for e in kg.candidates("av")) == ["Anti Virus", "Assured Velocity"]
    calls = {
        "entity": lambda: kg.entity("AV"),
        "values": lambda: kg.values("AV", "is_a"),
        "about": lambda: kg.about("AV"),
        "timeline": lambda: kg.timeline("AV"),
        "value": lambda: kg.value("AV", "is_a"),
        "merge": lambda: kg.names.merge("AV", "Anti Virus"),
    }
    with pytest.raises(AmbiguousNameError) as caught:
        calls[use]()
    assert sorted(e.label for e in caught.value.candidates) == ["Anti Virus", "Assured Velocity"]
    assert all(isinstance(e, Entity) for e in caught.value.candidates)


def test_row_20_the_time_of_a_claim_tells_who_bore_the_name_then() -> None:
    kg = graph()
    kg.names.alias("the CEO", "Ann", valid_from="2010", valid_to="2020")
    kg.names.alias("the CEO", "Bo", valid_from="2020", homonym=True)
    assert kg.add("the CEO", "visited", "Oslo", valid_from="2015").claim.subject.label == "Ann"
    assert kg.add("the CEO", "visited", "Rome", valid_from="2021").claim.subject.label == "Bo"
    assert kg.at("2015").entity("the CEO").label == "Ann"


# -- changes


@pytest.mark.parametrize(("before", "after"), [("loves", "hates"), ("likes", "dislikes"), ("dislikes", "enjoys")])
def test_row_22_a_change_of_mind_keeps_the_new_and_closes_the_old(before: str, after: str) -> None:
    kg, clock = timed()
    kg.add("Ann", before, "Chinese food", valid_from="2020")
    clock.tick(days=10)
    receipt = kg.add("Ann", after, "Chinese food", valid_from="2022")
    assert receipt.outcome == "update"
    assert labels(kg.values("Ann", after)) == ["Chinese food"]
    assert kg.values("Ann", before) == []
    assert labels(kg.at("2021").values("Ann", before)) == ["Chinese food"]
    assert kg.conflicts() == []


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("said", [None, "2023-05-01T00:00:00Z"])
def test_row_23_the_same_again_reinforces_and_deletes_nothing(times: int, said: str | None) -> None:
    kg, clock = timed()
    receipts = []
    for _ in range(times):
        clock.tick(days=1)
        receipts.append(kg.add("Ann", "likes", "tea", said_at=said))
    assert [r.outcome for r in receipts[1:]] == ["idempotent" if said else "duplicate"] * (times - 1)
    (fact,) = kg.values("Ann", "likes")
    assert fact.confidence == pytest.approx(0.90 if said else min(0.99, 0.90 + 0.02 * (times - 1)))
    assert len(fact.claims) == (1 if said else times)


@pytest.mark.parametrize("word", ["add", "set", "later", "end and add"])
def test_row_24_what_was_true_stays_on_record(word: str) -> None:
    kg, clock = timed()
    kg.add("Ann", "works_at", "Acme", valid_from="2020")
    clock.tick(days=10)
    if word == "set":
        kg.set("Ann", "works_at", "Globex", valid_from="2022")
    elif word == "later":
        kg.add("Ann", "works_at", "Globex")
    else:
        if word == "end and add":
            kg.end("Ann", "works_at", at="2022")
        kg.add("Ann", "works_at", "Globex", valid_from="2022")
    end = "2022" if word != "later" else "2024-01-11"
    assert spans(kg, "Ann", "works_at")[0] == ("Acme", "2020", end)
    assert kg.value("Ann", "works_at") == "Globex"
    assert [c.object.label for c in kg.claims("Ann", "works_at") if c.object and c.kind != "end"] == ["Acme", "Globex"]
    assert kg.at("2021", known_at="2024-01-05").value("Ann", "works_at") == "Acme"


@pytest.mark.parametrize("predicate", ["name", "works_at", "dietary_preference"])
def test_row_25_one_valued_facts_are_replaced(predicate: str) -> None:
    kg, clock = timed()
    kg.add("user", predicate, "liguoyu", valid_from="2020")
    clock.tick(days=5)
    kg.add("user", predicate, "liguosong", valid_from="2023")
    assert kg.value("user", predicate) == "liguosong"
    assert kg.conflicts() == []


@pytest.mark.parametrize("event", ["visited", "attended", "met", "bought", "released", "reported"])
def test_row_25_46_an_event_contradicts_nothing_and_replaces_nothing(event: str) -> None:
    kg, clock = timed()
    kg.add("Ann", "dietary_preference", "vegetarian", valid_from="2020")
    for number, what in enumerate(["steak", "promotion", "steak"]):
        clock.tick(days=1)
        kg.add("Ann", event, what, valid_from=f"202{number}-05")
    assert kg.value("Ann", "dietary_preference") == "vegetarian"
    assert kg.conflicts() == kg.during().conflicts() == []
    assert spans(kg, "Ann", event) == [
        ("steak", "2020-05", "2020-06"),
        ("promotion", "2021-05", "2021-06"),
        ("steak", "2022-05", "2022-06"),
    ]
    assert kg.values("Ann", event) == []


@pytest.mark.parametrize("surface", ["add", "remember", "add_all"])
def test_row_26_what_was_said_then_counts_from_then(surface: str) -> None:
    kg, _ = timed("2026-01-01T00:00:00Z")
    words = {"subject": "Ann", "predicate": "lives_in", "object": "Oslo", "said_at": "2024-05-10T00:00:00Z"}
    if surface == "add":
        kg.add(**words)
    elif surface == "remember":
        kg.remember("Ann has a flat in Oslo", **words)
    else:
        kg.add_all([words])
    (fact,) = kg.timeline("Ann")
    assert (day(fact.valid_from), fact.start_basis) == ("2024-05-10", "observed")
    assert kg.at("2024-05-09").values("Ann", "lives_in") == []
    assert labels(kg.at("2024-05-09").values("Ann", "lives_in", possible=True)) == ["Oslo"]
    assert day(fact.recorded_at).startswith("2026")


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Shanghai", "US/Pacific", "Europe/Helsinki"])
@pytest.mark.parametrize("text", ["2025-07-25T02:00:00Z", "2025-07-25T10:00:00+08:00", "2025-07-24T19:00:00-07:00"])
def test_row_27_an_instant_is_the_same_in_every_zone(zone: str | None, text: str, tmp_path: Path) -> None:
    kg = graph(tmp_path / "a.db", clock=Clock("2026-01-01T00:00:00Z"), timezone=zone, durability="relaxed")
    kg.add("Ann", "visited", "Oslo", valid_from=text, said_at=text)
    kg.close()
    with graph(tmp_path / "a.db", clock=Clock("2026-01-01T00:00:00Z"), timezone="US/Pacific") as kg:
        (claim,) = kg.claims()
        (fact,) = kg.timeline("Ann")
        instant = semgraph.parse_when("2025-07-25T02:00:00Z").instant
        assert (claim.valid_from.instant, claim.said_at.instant, fact.valid_from.instant) == (instant,) * 3
        assert "2025-07-25T02:00:00Z" in str(claim.said_at)


@pytest.mark.parametrize(("zone", "instant"), [
    (None, "2025-07-25T00:00:00Z"),
    ("US/Pacific", "2025-07-25T07:00:00Z"),
    ("Asia/Shanghai", "2025-07-24T16:00:00Z"),
])  # fmt: skip
def test_row_27_a_date_is_read_in_the_zone_of_the_handle_and_stays_that_date(zone: str | None, instant: str) -> None:
    kg = graph(timezone=zone, clock=Clock("2026-01-01T00:00:00Z"))
    kg.add("Ann", "visited", "Oslo", valid_from="2025-07-25")
    (fact,) = kg.timeline("Ann")
    assert fact.valid_from.instant == semgraph.parse_when(instant).instant
    assert str(fact.valid_from) == "2025-07-25"


# -- forgetting


@pytest.mark.parametrize("target", ["claim", "fact", "entity", "source_ref", "object"])
def test_row_28_42_43_what_is_forgotten_leaves_no_edge_and_no_orphan(target: str) -> None:
    kg = graph()
    receipt = kg.add("Zed", "works_at", "Zeta Works", valid_from="2020", source_ref="doc:1")
    derived = kg.add("Zed", "knows", "Zora", because=[receipt], source="inferred")
    kg.add("Ann", "works_at", "Acme")
    options: dict[str, Any] = {
        "claim": {"claim": receipt},
        "fact": {"fact": receipt.facts[0]},
        "entity": {"entity": "Zed"},
        "source_ref": {"source_ref": "doc:1"},
        "object": {"entity": "Zeta Works"},
    }[target]
    assert kg.forget(**options, dry_run=True).claims == 2
    report = kg.forget(**options)
    assert (report.claims, report.entities) == (2, 3)
    assert [e.label for e in kg.entities()] == ["Acme", "Ann"]
    assert labels(kg.facts()) == ["Acme"]
    assert [c.subject.label for c in kg.claims(retracted=True)] == ["Ann"]
    for gone in ("Zed", "Zeta Works", "Zora"):
        assert gone not in kg
        with pytest.raises(NotFoundError):
            kg.timeline(gone)
    for thing in (receipt, derived, receipt.facts[0]):
        with pytest.raises(NotFoundError):
            kg.explain(thing)
    assert kg.verify() == []


@pytest.mark.parametrize("kept", ["alias", "declared", "other claim", "merge"])
def test_row_42_what_somebody_still_needs_is_no_orphan(kept: str) -> None:
    kg = graph()
    receipt = kg.add("Zed", "works_at", "Zeta Works")
    if kept == "alias":
        kg.names.alias("ZW", "Zeta Works")
    elif kept == "declared":
        kg.names.declare("Zeta Works")
    elif kept == "other claim":
        kg.add("Ann", "visited", "Zeta Works", valid_from="2020")
    else:
        kg.add("Zeta", "located_in", "Oslo")
        kg.names.merge("Zeta Works", "Zeta")
    kg.forget(claim=receipt)
    assert "Zeta Works" in kg
    assert kg.verify() == []


@pytest.mark.parametrize("where", ["text", "source_ref", "qualifiers", "object"])
@pytest.mark.parametrize("target", ["source_ref", "claim"])
def test_row_41_44_the_words_of_a_forgotten_source_are_nowhere(where: str, target: str, tmp_path: Path) -> None:
    """Another source still supports the fact: it stays, with that one's words only."""
    marker = "Quetzalcoatlus"
    kg = graph(tmp_path / "store.db", durability="relaxed")
    kg.add("Ann", "works_at", "Acme", valid_from="2020", source_ref="doc:1", text="One heard it.")
    given: dict[str, Any] = {"subject": "Ann", "predicate": "works_at", "object": "Acme", "source_ref": "doc:2"}
    given["source"] = "tool:x"
    if where == "object":
        given |= {"predicate": "likes", "object": marker}
    elif where == "qualifiers":
        given["qualifiers"] = {"told by": marker}
    else:
        given[where] = f"{marker} said so"
    receipt = kg.add(**given)
    kg.retract(receipt, reason=f"{marker} was wrong")
    kg.forget(**({"claim": receipt} if target == "claim" else {"source_ref": given["source_ref"]}))
    (fact,) = kg.values("Ann", "works_at")
    assert [c.text for c in fact.claims] == ["One heard it."]
    assert fact.sources == ("user",)
    for known_at in (None, receipt.recorded_at):
        assert marker not in repr(list(kg.during(known_at=known_at).facts()))
    kg.close()
    assert all(marker.encode() not in path.read_bytes() for path in tmp_path.iterdir())


# -- several writers


@pytest.mark.parametrize("threads", [4, 8])
def test_row_31_32_threads_may_share_a_graph(threads: int, tmp_path: Path) -> None:
    kg = graph(tmp_path / "store.db", durability="relaxed")

    def work(number: int) -> None:
        for step in range(4):
            kg.add(f"P{number}", "uses", f"T{step}")
            kg.values(f"P{number}", "uses")

    together([*(lambda n=n: work(n) for n in range(threads))])
    assert len(list(kg.facts(predicate="uses"))) == threads * 4
    assert kg.verify() == []
    kg.close()


def test_row_38_readers_do_not_lock_each_other_out(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with graph(path, durability="relaxed") as kg, graph(path, read_only=True) as other, graph(path) as third:
        kg.add_all([{"subject": "Ann", "predicate": "uses", "object": f"T{n}"} for n in range(5)])
        reading = iter(kg.facts())
        next(reading)
        begun = iter(other.claims())
        next(begun)
        third.add("Ann", "uses", "another")
        assert len(list(other.facts())) == 6
        assert len(list(reading)) + 1 >= 5
        list(begun)
        kg.add("Ann", "uses", "one more")
        assert len(list(third.facts())) == 7


# -- current and history


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("predicate", ["located_in", "address"])
def test_row_35_current_and_history_do_not_depend_on_arrival(predicate: str, order: tuple[int, ...]) -> None:
    kg, clock = timed("2025-01-01T00:00:00Z")
    told = [("New York", "2020"), ("Boston", "2024"), ("Austin", "2022-06")]
    for number in order:
        clock.tick(minutes=1)
        kg.add("Acme", predicate, told[number][0], valid_from=told[number][1], said_at=f"{told[number][1][:4]}-08-01",
               source_ref=f"doc:{number}", qualifiers={"kind": "office"})  # fmt: skip
    assert kg.value("Acme", predicate) == "Boston"
    assert spans(kg, "Acme", predicate) == [
        ("New York", "2020", "2022-06"),
        ("Austin", "2022-06", "2024"),
        ("Boston", "2024", "…"),
    ]


@pytest.mark.parametrize("other", ["B", "a ", "ALL", "*", "%", ""])
def test_row_36_37_39_40_a_scope_is_one_scope(other: str) -> None:
    kg = graph(scope="A")
    kg.add("Alice", "child_of", "Mary")
    if not other.strip():
        with pytest.raises(InputError):
            kg.scoped(other)
        return
    second = kg.scoped(other)
    assert list(second.facts()) == list(second.entities()) == list(second.claims()) == []
    second.add("Alice", "child_of", "Jane")
    assert labels(kg.values("Alice", "child_of")) == ["Mary"]
    assert labels(second.values("Alice", "child_of")) == ["Jane"]
    assert (len(kg), len(second)) == (2, 2)
    assert kg.stats()["claims"] == second.stats()["claims"] == 1


@pytest.mark.parametrize("scope", [None, 5, [], ("A",), "\0", "x" * 513])
def test_row_40_a_scope_that_is_none_is_refused_not_widened(scope: Any) -> None:
    with pytest.raises(InputError):
        graph().scoped(scope)
    with pytest.raises(InputError):
        graph(scope=scope)


@pytest.mark.parametrize(("minutes", "sources", "window", "outcome"), [
    (25, ("user", "user"), None, "conflict"),
    (25, ("user", "user"), 600, "update"),
    (0, ("user", "tool:ci"), None, "conflict"),
    (0, ("user", "user"), None, "conflict"),
    (60 * 25, ("user", "user"), None, "update"),
    (60 * 25, ("user", "tool:ci"), None, "conflict"),
    (60 * 25, ("tool:ci", "user"), None, "update"),
    (60 * 25, ("inferred", "user"), None, "update"),
])  # fmt: skip
def test_row_45_update_or_conflict_is_told_by_time_and_trust_and_explained(
    minutes: int, sources: tuple[str, str], window: float | None, outcome: str
) -> None:
    kg, clock = timed()
    kg.predicates.define("stage", cardinality="one", window_s=window)
    kg.add("svc", "stage", "staging", source=sources[0])
    clock.tick(minutes=minutes)
    receipt = kg.add("svc", "stage", "prod", source=sources[1])
    assert receipt.outcome == outcome
    assert "row 1" in receipt.why
    if outcome == "conflict":
        assert {f.object.label for f in receipt.conflict.facts} == {"staging", "prod"}
        assert "settle" in receipt.why
    else:
        assert labels(receipt.closed) == ["staging"]
        assert kg.value("svc", "stage") == "prod"
    assert str(kg.explain(receipt))


def test_row_46_states_follow_each_other_and_events_add_up() -> None:
    kg, clock = timed()
    kg.predicates.define("promoted_to", event=True)
    for year, what in (("2020", "engineer"), ("2023", "lead")):
        clock.tick(days=2)
        kg.add("Ann", "job_title", what, valid_from=year)
        kg.add("Ann", "promoted_to", what, valid_from=year)
    assert [row[2] for row in spans(kg, "Ann", "job_title")] == ["2023", "…"]
    assert [row[2] for row in spans(kg, "Ann", "promoted_to")] == ["2021", "2024"]


@pytest.mark.parametrize("reader", ["entities", "facts", "claims"])
def test_row_47_every_end_of_an_edge_is_there(reader: str) -> None:
    kg = graph()
    kg.add("Ann", "works_at", "Acme")
    kg.add("Ann", "goal", "to sleep")
    kg.add("Acme", "price", 12.5)
    known = set(kg.entities())
    for thing in getattr(kg, reader)():
        ends = [thing] if reader == "entities" else [thing.subject, thing.object]
        assert all(e in known or not isinstance(e, Entity) for e in ends)
        assert all(e.label for e in ends)


TEXTS = [
    "ko-verify", "under_score", "Cruise / En route", "50 % off", "it's", 'say "hi"', "back\\slash", "名前", "李国松",
    "🔑 key", "👩‍👩‍👧‍👦", "Ünï", "עברית", "a;drop table claim", "NEAR(a b)", "C++ & C#", "(x) OR *", "a:b", "-minus",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_row_30_52_any_text_may_be_a_name_a_scope_a_reference_or_a_value(text: str, tmp_path: Path) -> None:
    with graph(tmp_path / "store.db", scope=text, durability="relaxed") as kg:
        kg.add(text, "works_on", f"{text} 2", source_ref=text, text=f"{text} did it", qualifiers={text: text})
        kg.add("Ann", "goal", f"to see {text}")
    with graph(tmp_path / "store.db", scope=text) as kg:
        claim = next(kg.claims(text, source_ref=text))
        assert (claim.subject.label, claim.object.label) == (text, f"{text} 2")
        assert (claim.source_ref, claim.text, claim.qualifiers) == (text, f"{text} did it", {text: text})
        assert kg.value("Ann", "goal") == f"to see {text}"
        assert kg.entity(text) in list(kg.entities(text))
        assert labels(kg.values(text, "works_on", qualifiers={text: text})) == [f"{text} 2"]
        assert kg.verify() == []


@pytest.mark.parametrize("first", [0, 1])
def test_row_54_two_stores_merge_to_the_same_in_either_order(first: int, tmp_path: Path) -> None:
    """The same link with two start dates on two devices, and what each has alone."""
    pytest.importorskip("semgraph.exchange.jsonl")
    devices = []
    for number, (start, city) in enumerate([("2019", "Oslo"), ("2020-05", "Rome")]):
        kg, _ = timed()
        said = {"said_at": f"2023-0{number + 1}-01T00:00:00Z", "source_ref": f"device:{number}"}
        kg.add("Ann", "works_at", "Acme", valid_from=start, **said)
        kg.add("Ann", "lives_in", city, valid_from=start, **said)
        kg.end("Ann", "works_at", "Acme", at=f"202{2 + number}", **said)
        devices.append(tmp_path / f"{number}.jsonl")
        semgraph.write(kg, devices[-1])
    pictures = []
    for order in ([first, 1 - first], [1 - first, first], [first, first, 1 - first]):
        kg, clock = timed()
        for number in order:
            clock.tick(hours=1)
            semgraph.read(kg, devices[number])
        pictures.append(ever(kg))
    assert pictures[0] == pictures[1] == pictures[2]
    assert len(pictures[0][0]) > 2


@pytest.mark.parametrize("text", ["2009", "2009-08", "2009-08-01", "200X", "2009~", "2009?", "-0043"])
def test_row_55_a_year_is_not_the_first_of_january(text: str, tmp_path: Path) -> None:
    with graph(tmp_path / "store.db", durability="relaxed") as kg:
        kg.add("Acme", "located_in", "Oslo", valid_from=text)
    with graph(tmp_path / "store.db") as kg:
        (fact,) = kg.timeline("Acme")
        assert str(fact.valid_from) == text
        assert str(fact.claims[0].valid_from) == text
        assert (fact.valid_from.before - fact.valid_from.earliest > 86_400_000_000) == (text != "2009-08-01")


@pytest.mark.parametrize(("early", "late", "outcome"), [
    ("2009", "2009-08-01", "conflict"),  # it may have been the same day
    ("2009-08", "2009-08-01", "conflict"),
    ("2009", "2010", "update"),
    ("200X", "2009-08-01", "conflict"),
    ("2009~", "2010-03", "conflict"),
    ("2009-08-01", "2009-08-02", "update"),
])  # fmt: skip
def test_row_55_dates_are_equal_where_they_can_be(early: str, late: str, outcome: str) -> None:
    kg, clock = timed()
    kg.add("Acme", "located_in", "Oslo", valid_from=early)
    clock.tick(minutes=5)
    assert kg.add("Acme", "located_in", "Rome", valid_from=late).outcome == outcome
    kg, clock = timed()
    kg.add("Acme", "located_in", "Oslo", valid_from=early)
    clock.tick(minutes=5)
    assert kg.add("Acme", "located_in", "Oslo", valid_from=late).outcome == "duplicate"
    assert len(kg.timeline("Acme")) == 1


# -- traps of the second list that concern writing and time


def test_a_late_bounded_fact_does_not_kill_the_present() -> None:
    kg, clock = timed()
    kg.add("Ann", "lives_in", "Berlin", valid_from="2015")
    clock.tick(days=3)
    kg.add("Ann", "lives_in", "Tokyo", valid_from="2018", valid_to="2019")
    assert spans(kg, "Ann", "lives_in") == [
        ("Berlin", "2015", "2018"),
        ("Tokyo", "2018", "2019"),
        ("Berlin", "2019", "…"),
    ]


def test_a_stated_end_is_never_overwritten_silently() -> None:
    kg, clock = timed()
    kg.add("Ann", "lives_in", "Berlin", valid_from="2015", valid_to="2022")
    clock.tick(minutes=3)
    receipt = kg.add("Ann", "lives_in", "Rome", valid_from="2021")
    assert receipt.outcome == "conflict"
    assert spans(kg, "Ann", "lives_in") == [("Berlin", "2015", "2022"), ("Rome", "2021", "…")]
    assert kg.add("Ann", "lives_in", "Rome", valid_from="2021", kind="change").outcome == "duplicate"


@pytest.mark.parametrize("bounds", list(product(["2015", None], ["2021", None])), ids=str)
def test_coming_back_is_a_second_stay(bounds: tuple[str | None, str | None]) -> None:
    kg, clock = timed()
    for place, start in (("Berlin", bounds[0]), ("Rome", "2018" if bounds[0] else None), ("Berlin", bounds[1])):
        clock.tick(days=30)
        kg.set("Ann", "lives_in", place, valid_from=start)
    stays = [row[0] for row in spans(kg, "Ann", "lives_in")]
    assert kg.value("Ann", "lives_in") == "Berlin"
    assert stays.count("Berlin") == 2 or bounds[1] is not None
    assert kg.conflicts() == []


def test_a_time_to_live_hides_and_deletes_nothing() -> None:
    kg, clock = timed()
    kg.add("svc", "status", "green")
    clock.tick(days=8)
    assert kg.values("svc", "status") == []
    (fact,) = kg.timeline("svc")
    assert (fact.status, fact.end_reason) == ("expired", "ttl")
    assert fact.claims[0].valid_to is None
    assert kg.at("2024-01-03").value("svc", "status") == "green"


def test_forgetting_a_person_removes_facts_in_which_the_person_is_the_object() -> None:
    kg = graph()
    kg.add("Bo", "reports_to", "Zed")
    kg.add("Bo", "likes", "tea")
    kg.forget(entity="Zed")
    assert kg.values("Bo", "reports_to") == []
    assert labels(kg.facts("Bo")) == ["tea"]


def test_facts_given_no_dates_on_the_same_day_are_flagged_not_dropped() -> None:
    kg = graph()
    tell_all(
        kg, Clock(), [("add", {"subject": "svc", "predicate": "deploys_on", "object": o}) for o in ("staging", "prod")]
    )
    (found,) = kg.conflicts()
    assert conflict(found)[2] == ("prod", "staging")
    assert sorted(map(shown, kg.values("svc", "deploys_on"))) == ["prod", "staging"]
