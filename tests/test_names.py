"""Keys of names and texts, refinement, and names that look alike."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import unicodedata
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from semgraph.errors import InputError, RejectedError
from semgraph.names import (
    MAX_NAME,
    MAX_TEXT_BYTES,
    SELF_NAMES,
    entity_key,
    exact_key,
    fold_text,
    is_hashed_key,
    is_self,
    literal_key,
    look_alikes,
    loose_key,
    mixed_script,
    refines,
    suggest,
)

CASES = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))["cases"]
FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def key_or_code(make, text: str) -> str:
    try:
        return make(text)
    except RejectedError as error:
        return f"rejected {error.code}"


# -- the key of a name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Arttu", "arttu"),
        ("  Arttu \t Antikainen\r\n", "arttu antikainen"),
        ("ＡＲＴＴＵ", "arttu"),
        ("Straße", "strasse"),
        ("ΟΔΟΣ", "οδοσ"),
        ("e\u0301clair", "\u00e9clair"),
        ("Zero\u200bWidth\u2060Words", "zerowidthwords"),
        ("\u202eabc\u202c", "abc"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\u2764\ufe0f", "\u2764"),
        (FAMILY, FAMILY),
        ("\u2764\ufe0f\u200d\N{FIRE}", "\u2764\u200d\N{FIRE}"),
        ("a\u200db", "ab"),
        (f"{FAMILY}\u200d", FAMILY),
        ("bell\x07rings", "bell rings"),
        ("no\u00a0break\u3000space\u2028line", "no break space line"),
        ("Jean\u2010Luc\u2013Marie\u2212X", "jean-luc-marie-x"),
        ("O\u2019Brien", "o'brien"),
        ("Hawai\u02bbi", "hawai'i"),
        ("\u201cDark  Mode.\u201d", "dark mode"),
        ("(Acme, Inc.)", "acme, inc"),
        ("\u300c北京\u300d\u3002", "北京"),
        (".NET", ".net"),
        ("'.NET Core'", ".net core"),
        ("...", "..."),
        (".5", "5"),
        ("???", "???"),
        ("? !", "? !"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("@ArttuAn", "@arttuan"),
        ("/usr/bin", "/usr/bin"),
        ("_private", "_private"),
        ("$PATH", "$path"),
        ("\N{ROCKET}", "\N{ROCKET}"),
        ("Cruise / En route", "cruise / en route"),
        ("ko-verify", "ko-verify"),
        ("\ufffe", "\ufffe"),
        ("\u0378", "\u0378"),
    ],
)
def test_names_are_folded_to_their_key(name: str, key: str):
    assert entity_key(name) == key
    assert entity_key(key) == key


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("C", "C++"),
        ("C++", "C#"),
        ("AT&T", "ATT"),
        (".NET", "net"),
        ("@ArttuAn", "ArttuAn"),
        ("José", "Jose"),
        ("İstanbul", "Istanbul"),
        ("鐵", "铁"),
        ("apple", "apples"),
        ("U.S.", "US"),
        ("\N{CYRILLIC CAPITAL LETTER A}rttu", "Arttu"),
        ("SR-2023-052", "SR-2023-053"),
        ("Arttu Antikainen", "Anna Antikainen"),
        ("\N{RED APPLE}", "\N{GREEN APPLE}"),
    ],
)
def test_names_that_are_not_one_name(a: str, b: str):
    assert entity_key(a) != entity_key(b)


def test_same_key_cases_of_the_worked_examples():
    asked = [e for case in CASES for e in case["expect"] if e["q"] == "same_key"]
    assert asked
    for query in asked:
        assert (entity_key(query["a"]) == entity_key(query["b"])) is query["want"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a\ud800", "bad_encoding"),
        ("\udfff\0", "bad_encoding"),
        ("a\0b", "control_chars"),
        ("\0" + "x" * 600, "control_chars"),
        ("", "empty_entity"),
        (" \t\n", "empty_entity"),
        ("\u200b\u2060", "empty_entity"),
        ("\ufe0f", "empty_entity"),
        ("x" * (MAX_NAME + 1), "oversize"),
        ("\ufdfa" * 40, "oversize"),
        ("x" * 2**20, "oversize"),
    ],
)
def test_unusable_names_are_refused_with_a_code(name: str, code: str):
    with pytest.raises(RejectedError) as caught:
        entity_key(name)
    assert caught.value.code == code
    assert len(str(caught.value)) < 200


def test_names_at_the_limit_are_taken():
    assert entity_key("x" * MAX_NAME) == "x" * MAX_NAME
    assert len(entity_key("\ufdfa")) == 18
    assert len(entity_key("\ufdfa" * 28)) == 18 * 28


@pytest.mark.parametrize("thing", [None, 3, b"Arttu", ["Arttu"]])
def test_what_is_no_text_is_no_name(thing):
    for make in (entity_key, literal_key, exact_key):
        with pytest.raises(InputError):
            make(thing)


def test_keys_are_stable_for_every_code_point():
    unstable = []
    for point in (*range(1, 0xD800), *range(0xE000, 0x110000)):
        char = chr(point)
        folded = fold_text(char)
        if folded != char and fold_text(folded) != folded:
            unstable.append(hex(point))
        if folded not in ("", char):
            key = entity_key(folded)
            if entity_key(key) != key:
                unstable.append(hex(point))
    assert unstable == []


def test_invisible_characters_never_reach_a_key():
    for point in (*range(1, 0xD800), *range(0xE000, 0x110000)):
        if unicodedata.category(chr(point)) in {"Cf", "Cc"}:
            assert entity_key(f"a{chr(point)}b") in {"ab", "a b"}


@given(st.text(max_size=40))
@example("\u1100\u200b\u1161")
@example("a\u0345\u200d\u0301")
@example("\u0390\u200c.")
@example(". .NET")
@example("\u02bcn\u200b\u0301")
def test_keys_are_stable_for_texts(text: str):
    key = key_or_code(entity_key, text)
    assert key.startswith("rejected") or entity_key(key) == key


@given(st.text(alphabet=st.characters(categories=["L", "M", "Cf", "P"]), min_size=2, max_size=2))
def test_keys_are_stable_for_pairs(pair: str):
    key = key_or_code(entity_key, pair)
    assert key.startswith("rejected") or entity_key(key) == key


@given(st.text(alphabet="aB \u200b.\u2019-'\ufe0fß", max_size=20))
def test_case_and_outer_space_do_not_matter(text: str):
    assert key_or_code(entity_key, f" {text.upper()}\u200b ") == key_or_code(entity_key, text)


def test_ten_thousand_combining_marks_are_read_in_time():
    text = "a" + "\u0301\u0316\u0345\u0334" * 4000
    assert literal_key(text) == literal_key(unicodedata.normalize("NFC", "a" + "\u0334\u0316\u0301\u0345" * 4000))
    assert literal_key(f"{text} b") != literal_key(text)
    assert key_or_code(entity_key, "a" + "\u0301" * 10_000) == "rejected oversize"


# -- texts -------------------------------------------------------------------------------------------------------------


def test_long_texts_are_compared_by_a_digest_of_the_normalised_text():
    case = next(c for c in CASES if c["name"] == "long_text_is_a_value_a_long_name_is_not")
    first, shouted, other = (step["o"] for step in case["steps"][:3])
    assert literal_key(first) == literal_key(shouted) != literal_key(other)
    assert is_hashed_key(literal_key(first))
    assert not is_hashed_key(literal_key("dark mode"))


def test_the_digest_is_that_of_the_normalised_utf8():
    text = "Ä " * 400
    normalised = ("ä " * 400).strip()
    assert literal_key(text) == ":" + hashlib.sha256(normalised.encode()).hexdigest()
    assert literal_key("x" * 512) == "x" * 512
    assert is_hashed_key(literal_key("x" * 513))
    assert is_hashed_key(literal_key("\ufdfa" * 40))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * (MAX_TEXT_BYTES + 1), "oversize"),
        ("é" * (MAX_TEXT_BYTES // 2 + 1), "oversize"),
        ("x" * 2**20, "oversize"),
        ("\ud83d", "bad_encoding"),
        ("a\0", "control_chars"),
        ("  ", "empty_entity"),
    ],
)
def test_unusable_texts_are_refused(text: str, code: str):
    assert key_or_code(literal_key, text) == f"rejected {code}"
    assert key_or_code(exact_key, text) == f"rejected {code}"


@pytest.mark.parametrize("char", ["x", "é", "\N{GRINNING FACE}", "\ufdfa", "\u0301", "\r\n", "\u05d0"])
def test_texts_of_64_kib_are_taken(char: str):
    text = "x" + char * ((MAX_TEXT_BYTES - 1) // len(char.encode()))
    assert literal_key(text)
    assert exact_key(text)


def test_texts_of_punctuation_alone_have_a_key():
    assert literal_key("???") == "???"
    assert literal_key("(...)") == "(...)"


def test_no_name_is_taken_for_a_digest():
    digest = literal_key("x" * 600)
    assert not is_hashed_key(entity_key(digest))
    assert not is_hashed_key(literal_key(digest))
    assert exact_key(digest) != digest
    assert not is_hashed_key(":abc")


def test_exact_keys_keep_case_and_space():
    assert exact_key("Dark  Mode.") == "Dark  Mode."
    assert exact_key("e\u0301") == exact_key("é") == "é"
    assert exact_key("ﬁ") != exact_key("fi")
    assert is_hashed_key(exact_key("x" * 513))


# -- self, refinement --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["the user", "The User", "USER", "you", "Me", "I", "myself"])
def test_self_names_mean_the_self_entity(name: str):
    assert is_self(entity_key(name))


def test_other_names_are_somebody_else():
    assert not is_self(entity_key("Anna"))
    assert not is_self(entity_key("Arttu"))
    assert is_self("arttu", SELF_NAMES | {"arttu"})


@pytest.mark.parametrize(
    ("finer", "coarser", "want"),
    [
        ("Postgres 16 on Neon", "Postgres", True),
        ("Valencia CF Mestalla", "Valencia CF", True),
        ("Postgres", "Postgres", False),
        ("Postgres", "Postgres 16", False),
        ("JavaScript", "Java", False),
        ("Vim", "Vi", False),
        ("Vice President", "President", False),
        ("tea not coffee", "tea", False),
        ("Acme (former)", "Acme", False),
        ("Acme ex-employee", "Acme", False),
        ("Acme no longer", "Acme", False),
        ("Notion notes", "Notion", True),
        ("no code tools", "no code", True),
    ],
)
def test_refinement_is_by_leading_words(finer: str, coarser: str, want):
    assert refines(entity_key(finer), entity_key(coarser)) is want


def test_digests_neither_refine_nor_are_refined():
    digest = literal_key("x" * 600)
    assert not refines(f"{digest} more", digest)
    assert not refines(literal_key("x " * 600), "x")


# -- looking alike -----------------------------------------------------------------------------------------------------


def test_loose_keys_are_letters_marks_and_digits():
    assert loose_key("C++") == loose_key("C#") == "c"
    assert loose_key("AT&T") == loose_key("att")
    assert loose_key("हिन्दी") == "हिन्दी"
    assert loose_key("\ud800x") == "x"


@pytest.mark.parametrize(
    ("name", "mixed"),
    [
        ("\N{CYRILLIC CAPITAL LETTER A}rttu", True),
        ("p\N{CYRILLIC SMALL LETTER A}ypal", True),
        ("\N{GREEK CAPITAL LETTER ALPHA}pple", True),
        ("\N{CYRILLIC CAPITAL LETTER A}\u200brttu", True),
        ("Maya G\N{CYRILLIC SMALL LETTER O}nzales", True),
        ("Ａrttu", False),
        ("Arttu", False),
        ("Анна", False),
        ("Анна (Anna)", False),
        ("IT-отдел", False),
        ("\N{MICRO SIGN}Torrent", False),
        ("José 北京", False),
    ],
)
def test_words_of_mixed_script_are_flagged(name: str, mixed):
    assert mixed_script(name) is mixed


CONFUSABLE = [
    ("a", "а"),
    ("e", "е"),
    ("o", "о"),
    ("p", "р"),
    ("c", "с"),
    ("x", "х"),
    ("i", "і"),
    ("o", "ο"),
    ("v", "ν"),
]


@pytest.mark.parametrize(("latin", "other"), CONFUSABLE)
def test_look_alike_letters_make_another_name(latin: str, other: str):
    assert entity_key(f"b{latin}t") != entity_key(f"b{other}t")
    assert mixed_script(f"b{other}t")


def pairs(names: dict[str, list[str]], **options) -> dict[tuple[str, str], str]:
    return {(a, b): why for a, b, _, why in suggest(names, **options)}


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("AT&T", "ATT", "letters and digits"),
        ("Robert Smith", "Smith, Robert", "another order"),
        ("Acme Inc.", "ACME", "legal forms"),
        ("Robert J. Smith", "Robert Smith", "initials"),
        ("Gothenburg", "Gothenborg", "spelled"),
        ("José García", "Jose Garcia", "letters and digits"),
        ("Aster", "Aster \N{KEY}", "letters and digits"),
        ("Bob", "BOB ", "the same name"),
    ],
)
def test_likely_duplicates_are_suggested_with_a_reason(a: str, b: str, why: str):
    found = list(suggest({"e1": [a], "e2": [b]}))
    assert [(x, y) for x, y, _, _ in found] == [("e1", "e2")]
    assert why in found[0][3]
    assert 90 <= found[0][2] <= 100


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("SR-2023-052", "SR-2023-053"),
        ("Annex 13 Am. 16", "Annex 13 Am. 17"),
        ("ASR1603", "ASR1605"),
        ("Arttu Antikainen", "Anna Antikainen"),
        ("Melanoma", "skin cancer"),
        ("???", "!!!"),
    ],
)
def test_unlike_names_are_not_suggested(a: str, b: str):
    assert pairs({"e1": [a], "e2": [b]}) == {}


def test_weaker_likenesses_come_with_a_lower_score():
    names = {"a": ["Mickael Wagner Arnold"], "b": ["MWA"], "c": ["A. Berg"], "d": ["Arttu Berg"], "e": ["Anders Dahl"]}
    assert pairs(names) == {}
    assert pairs(names, min_score=80) == {
        ("a", "b"): "the initials of the other",
        ("c", "d"): "the same but for an abbreviated word",
    }


def test_suggestions_come_best_first_once_a_pair_and_never_for_pairs_kept_apart():
    names = {"a": ["Robert Smith", "Bob"], "b": ["Smith Robert", "bob"], "c": ["Robert Smyth"], "d": ["Bob"]}
    found = list(suggest(names))
    assert [score for _, _, score, _ in found] == sorted((score for _, _, score, _ in found), reverse=True)
    assert len({(a, b) for a, b, _, _ in found}) == len(found)
    assert all(a < b for a, b, _, _ in found)
    assert ("a", "b") in pairs(names)
    assert ("a", "b") not in pairs(names, apart=[frozenset({"b", "a"})])
    assert list(suggest(dict(reversed(names.items())))) == found


@pytest.mark.parametrize("score", [-1, 101, float("nan")])
def test_a_score_is_a_percentage(score: float):
    with pytest.raises(InputError, match="min_score"):
        list(suggest({}, min_score=score))


def test_suggestions_do_not_compare_everybody_with_everybody():
    crowd = {f"e{i:05}": [f"member number {i} of the club"] for i in range(3000)}
    assert pairs(crowd | {"x": ["Gothenburg"], "y": ["Gothenborg"]}) == {("x", "y"): "spelled alike"}


@pytest.mark.parametrize(
    ("name", "names", "first"),
    [
        ("Helsinky", ["Berlin", "Helsinki", "Oslo"], "Helsinki"),
        ("arttu", ["Anna Antikainen", "Arttu Antikainen"], "Arttu Antikainen"),
        ("Anna", ["Anna Antikainen", "Anna"], "Anna"),
        ("lives inn", ["lives in", "located in"], "lives in"),
        ("Ärttu", ["Arttu"], "Arttu"),
    ],
)
def test_did_you_mean(name: str, names: list[str], first: str):
    assert look_alikes(name, names)[0] == first


def test_did_you_mean_gives_few_and_never_raises():
    names = [f"Maya {letter}" for letter in "abcdefgh"]
    assert len(look_alikes("Maya", names, limit=3)) == 3
    assert look_alikes("Maya", names, limit=0) == []
    assert look_alikes("???", names) == []
    assert look_alikes("\ud800\0", ["Maya"]) == []
    assert look_alikes("Zzyzx", ["Maya", "Bob"]) == []


# -- real names --------------------------------------------------------------------------------------------------------


def table(path: Path, delimiter: str) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter, skipinitialspace=True))


@pytest.mark.shared_data
def test_near_names_of_different_people_keep_different_keys(shared_data: Path):
    rows = table(shared_data / "entity_aliases" / "near_names_distinct.tsv.gz", "\t")
    assert len(rows) > 500
    assert [row for row in rows if entity_key(row["name_a"]) == entity_key(row["name_b"])] == []


@pytest.mark.shared_data
def test_every_alias_of_wikidata_has_a_stable_key(shared_data: Path):
    path = shared_data / "entity_aliases" / "wikidata_aliases.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        names = [name for line in file for value in json.loads(line).values() for name in strings(value)]
    assert len(names) > 300
    for name in names:
        assert entity_key(entity_key(name)) == entity_key(name)


def strings(value) -> list[str]:
    return [value] if isinstance(value, str) else [s for v in value for s in strings(v)]


@pytest.mark.shared_data
def test_suggestions_find_real_typos_and_no_strangers(shared_data: Path):
    rows = table(shared_data / "entity_aliases" / "febrl_dataset1.csv.gz", ",")
    names = {row["rec_id"]: [f"{row['given_name']} {row['surname']} {row['suburb']}"] for row in rows}
    found = [(a.split("-")[1], b.split("-")[1]) for a, b, _, _ in suggest(names)]
    right = sum(a == b for a, b in found)
    assert right >= 350  # of 500; the rest have lost whole fields
    assert len(found) - right <= right // 50
