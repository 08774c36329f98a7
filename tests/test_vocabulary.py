"""Keys of predicates, definitions, the starter vocabulary, and the registry at a moment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from semgraph.errors import InputError, NotFoundError, RejectedError
from semgraph.gate import TRUST
from semgraph.vocabulary import (
    DEFAULT_WINDOW_S,
    FLAGS,
    SOURCE_CLASSES,
    STATES,
    Predicate,
    Registry,
    make_predicate,
    predicate_key,
    starter_vocabulary,
)

CASES = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("lives_in", "lives_in"),
        ("livesIn", "lives_in"),
        ("LivesIn", "lives_in"),
        ("LIVES_IN", "lives_in"),
        ("Lives in", "lives_in"),
        ("lives-in", "lives_in"),
        ("lives\u2013in", "lives_in"),
        ("  lives \t in  ", "lives_in"),
        ("lives - in", "lives_in"),
        ("__lives__in__", "lives_in"),
        ("uiTheme", "ui_theme"),
        ("City", "city"),
        ("CITY", "city"),
        ("HTTPServer", "http_server"),
        ("hasURL", "has_url"),
        ("oauth2Token", "oauth2_token"),
        ("mother's name", "mothers_name"),
        ("likes!", "likes"),
        ("created/by", "createdby"),
        ("ｌｉｖｅｓＩｎ", "lives_in"),
        ("lives\u200bin", "livesin"),
        ("straße", "strasse"),
        ("asuuKaupungissa", "asuu_kaupungissa"),
        ("живётВ", "живёт_в"),
        ("住在", "住在"),
        ("में रहता है", "में_रहता_है"),
        ("e\u0301crit", "\u00e9crit"),
        ("42", "42"),
        (None, STATES),
        ("", STATES),
        (" \t\n", STATES),
    ],
)
def test_predicates_are_folded_to_their_key(name: str | None, key: str):
    assert predicate_key(name) == key
    assert predicate_key(key) == key


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("???", "bad_predicate"),
        ("_", "bad_predicate"),
        ("--", "bad_predicate"),
        ("\u200b", "bad_predicate"),
        ("\u0301", "bad_predicate"),
        ("\N{ROCKET}", "bad_predicate"),
        ("a\ud800", "bad_encoding"),
        ("a\0", "control_chars"),
        ("x" * 513, "oversize"),
        ("\ufdfa" * 40, "oversize"),
    ],
)
def test_unusable_predicates_are_refused_with_a_code(name: str, code: str):
    with pytest.raises(RejectedError) as caught:
        predicate_key(name)
    assert caught.value.code == code
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("thing", [3, b"likes", ["likes"], True])
def test_what_is_no_text_is_no_predicate(thing):
    with pytest.raises(InputError):
        predicate_key(thing)
    with pytest.raises(InputError):
        Registry().resolve(thing)


@given(st.text(max_size=30))
@example("aꭰB")
@example("ǅungla")
@example("a\u200b\u0301")
@example("\u1100-\u1161")
def test_predicate_keys_are_stable(text: str):
    try:
        key = predicate_key(text)
    except RejectedError:
        return
    assert predicate_key(key) == key
    assert predicate_key(f" {text} ") == key


# -- definitions -------------------------------------------------------------------------------------------------------


def test_a_definition_has_the_documented_defaults():
    plain = make_predicate("Collects")
    assert plain == Predicate("collects", "unregistered", "any", window_s=DEFAULT_WINDOW_S)
    assert not plain.registered
    assert not any(getattr(plain, flag) for flag in FLAGS)
    assert make_predicate("collects", cardinality="many").registered


def test_names_in_a_definition_are_keys():
    made = make_predicate(
        "deployTarget",
        cardinality="one",
        aliases=["Target", "deploy-target", "target"],
        one_by=["Service Name"],
        inverse_of="Target Of",
    )
    assert (made.name, made.aliases, made.one_by, made.inverse_of) == (
        "deploy_target",
        ("target",),
        ("service_name",),
        "target_of",
    )


@pytest.mark.parametrize("link", ["inverse_of", "opposite"])
def test_an_inverse_or_opposite_without_cardinality_is_many(link: str):
    assert make_predicate("supervises", **{link: "reports_to"}).cardinality == "many"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"cardinality": "two"}, "cardinality is one of"),
        ({"range": "number"}, "range is one of"),
        ({"ttl_days": -1}, "ttl_days"),
        ({"ttl_days": 0}, "ttl_days"),
        ({"ttl_days": float("nan")}, "ttl_days"),
        ({"ttl_days": "7"}, "ttl_days"),
        ({"window_s": -0.5}, "window_s"),
        ({"window_s": True}, "window_s"),
        ({"window_s": float("inf")}, "window_s"),
        ({"inverse_of": "P"}, "itself"),
        ({"opposite": "p"}, "itself"),
        ({"inverse_of": "q", "opposite": "r"}, "both"),
        ({"inverse_of": "q", "symmetric": True}, "symmetric"),
        ({"inverse_of": "q", "range": "literal"}, "literal"),
        ({"symmetric": True, "range": "literal"}, "symmetric"),
        ({"cardinality": "once", "ttl_days": 1}, "ttl_days"),
        ({"cardinality": "once", "event": True}, "event"),
        ({"trust": {"robot": 1}}, "source class"),
        ({"trust": {"tool": -1}}, "rank"),
        ({"trust": {"tool": 1.5}}, "rank"),
        ({"trust": {"tool": True}}, "rank"),
        ({"trust": 3}, "trust"),
        ({"aliases": "nickname"}, "list of names"),
        ({"aliases": ["states"]}, "reserved"),
        ({"aliases": [""]}, "needs a name"),
        ({"one_by": "topic"}, "list of names"),
        ({"event": 1}, "event is True or False"),
        ({"functional": True}, "option of a predicate"),
    ],
)
def test_definitions_that_make_no_sense_are_refused(options: dict, complaint: str):
    with pytest.raises(InputError, match=complaint):
        make_predicate("p", **options)


@pytest.mark.parametrize("name", [None, "", "  "])
def test_a_definition_needs_a_name(name):
    with pytest.raises(InputError, match="needs a name"):
        make_predicate(name)


def test_the_reserved_predicate_is_not_redefined():
    with pytest.raises(InputError, match="reserved"):
        make_predicate(STATES, cardinality="one")
    assert make_predicate(STATES, cardinality="many", range="literal") == starter_vocabulary()[STATES]


def test_definitions_survive_json():
    full = make_predicate(
        "p",
        cardinality="one",
        range="entity",
        aliases=["q", "r"],
        one_by=["topic"],
        ttl_days=7,
        window_s=0,
        trust={"tool": 4, "user": 3},
        **dict.fromkeys(FLAGS, True),
    )
    for predicate in (full, *starter_vocabulary().values(), make_predicate("x", inverse_of="p"), make_predicate("y")):
        assert Predicate.from_dict(json.loads(json.dumps(predicate.to_dict()))) == predicate
    assert make_predicate("y").to_dict() == {"name": "y"}
    assert hash(full) == hash(Predicate.from_dict(full.to_dict()))


@pytest.mark.parametrize("stored", [{}, {"name": "p", "card": "one"}, {"name": "p", "cardinality": "two"}])
def test_a_stored_definition_is_checked(stored: dict):
    with pytest.raises(InputError):
        Predicate.from_dict(stored)


def test_source_classes_are_those_of_the_gate():
    assert set(SOURCE_CLASSES) == set(TRUST)


# -- the starter vocabulary --------------------------------------------------------------------------------------------


def expected(name: str, entry: dict) -> Predicate:
    known = {"card", "range", "inverse_of", "opposite", "flip", "aliases", "one_by", "ttl_days", "window_s", "flags"}
    assert set(entry) <= known
    linked = "inverse_of" in entry or "opposite" in entry
    return Predicate(
        name=name,
        cardinality=entry.get("card", "many" if linked else None),
        range=entry.get("range", "any"),
        inverse_of=entry.get("inverse_of"),
        opposite=entry.get("opposite"),
        aliases=tuple(entry.get("aliases", ())),
        one_by=tuple(entry.get("one_by", ())),
        ttl_days=entry.get("ttl_days"),
        window_s=entry.get("window_s", DEFAULT_WINDOW_S),
        **dict.fromkeys(entry.get("flags", ()), True),
    )


def test_the_starter_vocabulary_is_that_of_the_worked_cases():
    wanted = {name: expected(name, entry) for name, entry in CASES["registry"].items()}
    assert dict(starter_vocabulary()) == wanted
    assert list(starter_vocabulary()) == list(wanted)


def test_the_starter_vocabulary_has_81_names():
    entries = starter_vocabulary().values()
    inverses = [p.name for p in entries if p.inverse_of]
    opposites = [p.name for p in entries if p.opposite]
    assert (len(entries), len(inverses), opposites) == (81, 5, ["dislikes"])
    aliases = [alias for p in entries for alias in p.aliases]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & set(starter_vocabulary())


# -- the registry ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "stored", "inverse", "flipped"),
    [
        ("lives_in", "lives_in", False, False),
        ("livesIn", "lives_in", False, False),
        ("resides in", "lives_in", False, False),
        ("born_on", "birth_date", False, False),
        ("manages", "reports_to", True, False),
        ("manager_of", "reports_to", True, False),
        ("manager", "reports_to", False, False),
        ("has_part", "part_of", True, False),
        ("dislikes", "likes", False, True),
        ("hates", "likes", False, True),
        ("enjoys", "likes", False, False),
        (None, "states", False, False),
        ("collects", "collects", False, False),
    ],
)
def test_names_resolve_to_where_claims_are_stored(name, stored, inverse, flipped):
    registry = Registry()
    for _ in range(2):  # the second answer comes from the cache
        found = registry.resolve(name)
        assert (found.predicate.name, found.inverse, found.flipped) == (stored, inverse, flipped)


@pytest.mark.parametrize(("mode", "cardinality"), [("flag", "unregistered"), ("one", "one"), ("many", "many")])
def test_unknown_predicates_have_the_configured_cardinality(mode, cardinality):
    assert Registry(unregistered=mode).resolve("collects").predicate == Predicate("collects", cardinality)
    assert Registry(unregistered=mode).resolve("lives_in").predicate.cardinality == "one"


def test_the_mode_for_unknown_predicates_is_checked():
    with pytest.raises(InputError, match="unregistered"):
        Registry(unregistered="maybe")


def test_later_definitions_replace_earlier_ones_as_of_their_recording():
    history = [
        (30, make_predicate("collects", cardinality="one")),
        (10, make_predicate("collects", cardinality="many")),
        (20, make_predicate("lives_in", cardinality="many")),
    ]
    found = {
        known_at: [
            Registry(history, known_at=known_at).resolve(name).predicate.cardinality
            for name in ("collects", "lives_in")
        ]
        for known_at in (9, 10, 19, 20, 30, None)
    }
    assert found == {
        9: ["unregistered", "one"],
        10: ["many", "one"],
        19: ["many", "one"],
        20: ["many", "many"],
        30: ["one", "many"],
        None: ["one", "many"],
    }


def test_aliases_are_those_of_today_at_every_known_at():
    history = [(50, make_predicate("lives_in", cardinality="many", aliases=["dwells_in"]))]
    old = Registry(history, known_at=1)
    assert old.resolve("dwells_in").predicate.cardinality == "one"
    assert old.canonical("dwells_in") == "lives_in"
    assert old.canonical("lives_in") == "lives_in"
    assert old.canonical("unheard_of") == "unheard_of"


def test_a_redefinition_keeps_the_aliases_there_were():
    registry = Registry([(1, make_predicate("lives_in", cardinality="many", aliases=["dwells_in"]))])
    assert registry.canonical("resides_in") == registry.canonical("dwells_in") == "lives_in"


def test_a_name_belongs_to_the_latest_definition_that_claims_it():
    role = make_predicate("role", cardinality="many")
    assert Registry().resolve("role").predicate.name == "job_title"
    assert Registry([(1, role)]).resolve("role").predicate == role
    home = make_predicate("home", cardinality="one", aliases=["city"])
    registry = Registry([(1, home)])
    assert registry.resolve("city").predicate == home
    assert "city" not in list(registry)
    again = Registry([(1, home), (2, make_predicate("city", cardinality="one"))])
    assert again.resolve("city").predicate.name == "city"


def test_aliases_are_followed_through_and_end():
    history = [
        (1, make_predicate("a", cardinality="one", aliases=["b"])),
        (2, make_predicate("c", cardinality="many", aliases=["a"])),
        (3, make_predicate("b", cardinality="once", aliases=["c"])),
    ]
    registry = Registry(history)
    assert {registry.canonical(name) for name in "abc"} == {"b"}


def test_inverses_and_opposites_compose():
    history = [
        (1, make_predicate("supervised_by", inverse_of="manages")),
        (2, make_predicate("detests", opposite="dislikes")),
        (3, make_predicate("disliked_by", inverse_of="dislikes")),
    ]
    registry = Registry(history)
    found = [registry.resolve(name) for name in ("supervised_by", "detests", "disliked_by")]
    assert [(r.predicate.name, r.inverse, r.flipped) for r in found] == [
        ("reports_to", False, False),
        ("likes", False, False),
        ("likes", True, True),
    ]


def test_an_inverse_counts_from_its_definition_on():
    history = [(50, make_predicate("supervises", inverse_of="reports_to"))]
    assert Registry(history, known_at=49).resolve("supervises").predicate.name == "supervises"
    assert Registry(history, known_at=50).resolve("supervises").predicate.name == "reports_to"


def test_an_inverse_of_something_unknown_is_stored_there():
    found = Registry([(1, make_predicate("admires", inverse_of="admired_by"))]).resolve("admires")
    assert (found.predicate, found.inverse) == (Predicate("admired_by"), True)


def test_names_that_read_a_predicate_the_other_way():
    registry = Registry([(1, make_predicate("supervises", inverse_of="reports_to"))])
    assert registry.inverses_of("reports_to") == ("manages", "supervises")
    assert registry.inverses_of("managed_by") == ("manages", "supervises")
    assert registry.inverses_of("lives_in") == ()
    assert registry.opposites_of("likes") == ("dislikes",)
    assert registry.opposites_of("reports_to") == ()


@pytest.mark.parametrize(
    "definition",
    [
        make_predicate("reports_to", inverse_of="manages"),
        make_predicate("likes", opposite="dislikes"),
        make_predicate("likes", inverse_of="hates"),
        make_predicate("boss_of", inverse_of="reports_to", aliases=["reports_to"]),
    ],
    ids=lambda p: p.name,
)
def test_definitions_that_lead_in_a_circle_are_refused(definition: Predicate):
    with pytest.raises(InputError, match="circle"):
        Registry().check(definition)


def test_a_stored_circle_does_not_hang():
    history = [(1, make_predicate("a", inverse_of="b")), (2, make_predicate("b", inverse_of="a"))]
    assert Registry(history).resolve("a").predicate.name in {"a", "b"}


@pytest.mark.parametrize(
    "definition",
    [
        make_predicate("collects", cardinality="many"),
        make_predicate("supervises", inverse_of="reports_to"),
        make_predicate("detests", opposite="dislikes"),
        make_predicate("admires", inverse_of="unheard_of"),
    ],
    ids=lambda p: p.name,
)
def test_other_definitions_pass_the_check(definition: Predicate):
    registry = Registry()
    registry.check(definition)
    assert Registry([(1, definition)])[definition.name] == definition


def test_look_up_by_name_and_alias():
    registry = Registry()
    assert registry["lives_in"] is registry["residesIn"]
    assert registry["manages"].inverse_of == "reports_to"
    assert "Works At" in registry
    assert "os" in registry
    assert "collects" not in registry
    assert "???" not in registry
    assert 3 not in registry
    assert len(registry) == len(list(registry)) == 81
    assert next(iter(registry)) == "name"


def test_an_entry_is_neither_turned_round_nor_flipped():
    registry = Registry(unregistered="many")
    assert registry.entry("manager_of") == registry["manages"]
    assert registry.entry("hates").name == "dislikes"
    assert registry.entry("collects") == Predicate("collects", "many")
    assert registry.canonical_of("Manager of") == "manages"
    assert registry.canonical_of("Collects") == "collects"


@pytest.mark.parametrize(("name", "hint"), [("lives_inn", "lives_in"), ("emplyer", "employer"), ("zzzz", "define it")])
def test_an_unknown_predicate_raises_with_a_hint(name: str, hint: str):
    with pytest.raises(NotFoundError, match=hint):
        Registry()[name]


def test_many_unknown_names_do_not_fill_the_memory():
    registry = Registry()
    for number in range(9000):
        registry.resolve(f"p{number}")
    assert len(registry._cache) < 9000
    assert registry.resolve("p1").predicate.name == "p1"


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.lists(st.sampled_from("abcdxy"), max_size=3))))
def test_any_history_of_aliases_resolves_every_name(history):
    definitions = [(at, make_predicate(name, cardinality="one", aliases=aliases)) for at, name, aliases in history]
    registry = Registry(definitions)
    for name in "abcdxy":
        target = registry.canonical(name)
        assert registry.canonical(target) == target
        assert registry.resolve(name).predicate.name == target
