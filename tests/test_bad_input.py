"""What must not come in does not, and says so: the codes of the gate, the log of refusals, wrong types everywhere."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest
from bounded_work import hurry
from histories import Clock, ever, graph, labels

import semgraph
from semgraph import KnowledgeGraph
from semgraph.errors import (
    AmbiguousNameError,
    ConfigError,
    InputError,
    NotFoundError,
    RejectedError,
    SemgraphError,
    StoreClosed,
    StoreError,
)
from semgraph.gate import STRUCTURAL_CODES
from semgraph.handles import Names, Predicates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BASE: dict[str, dict[str, Any]] = {
    "add": {"subject": "Ann", "predicate": "works_at", "object": "Acme"},
    "set": {"subject": "Ann", "predicate": "works_at", "value": "Acme"},
    "end": {"subject": "Ann", "predicate": "works_at", "object": "Acme"},
    "deny": {"subject": "Ann", "predicate": "works_at", "object": "Acme"},
    "correct": {"subject": "Ann", "predicate": "works_at", "old": "Globex", "new": "Acme"},
}
# The words by which a method calls what others call by another.
WORDS = {
    "set": {"object": "value"},
    "end": {"valid_from": "at"},
    "correct": {"object": "new", "valid_from": "valid_at"},
}
ALL = tuple(BASE)
STATING = ("add", "set")
BOUNDED = ("add", "set", "deny")
LONE, NUL = "Z\ud800", "Z\0"
# code, what is wrong, in which methods
REFUSED: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("bad_encoding", {"subject": LONE}, ALL),
    ("bad_encoding", {"object": LONE}, ALL),
    ("bad_encoding", {"predicate": LONE}, ALL),
    ("bad_encoding", {"source": LONE}, ALL),
    ("bad_encoding", {"source_ref": LONE}, ALL),
    ("bad_encoding", {"qualifiers": {"why": LONE}}, ALL),
    ("bad_encoding", {"qualifiers": {LONE: "why"}}, ALL),
    ("bad_encoding", {"text": LONE}, STATING),
    ("control_chars", {"subject": NUL}, ALL),
    ("control_chars", {"object": NUL}, ALL),
    ("control_chars", {"predicate": NUL}, ALL),
    ("control_chars", {"source": NUL}, ALL),
    ("control_chars", {"source_ref": NUL}, ALL),
    ("control_chars", {"text": NUL}, STATING),
    ("oversize", {"subject": "x" * 513}, ALL),
    ("oversize", {"object": "x" * 513}, ALL),
    ("oversize", {"subject": "ﷺ" * 100}, ALL),  # grows when normalised
    ("oversize", {"predicate": "x" * 513}, ALL),
    ("oversize", {"source": "x" * 513}, ALL),
    ("oversize", {"source_ref": "x" * (64 * 1024 + 1)}, ALL),
    ("oversize", {"text": "x" * (64 * 1024 + 1)}, STATING),
    ("oversize", {"text": "å" * (32 * 1024 + 1)}, STATING),  # bytes count, not characters
    ("oversize", {"predicate": "goal", "object": "x " * (32 * 1024 + 1)}, ("add",)),
    *[
        ("bad_confidence", {"confidence": c}, STATING)
        for c in (-0.1, 1.1, float("nan"), float("inf"), True, "0.5", 10**400)
    ],
    *[
        ("bad_time", {"valid_from": text}, ALL)
        for text in (
            *(
                "2023-02-29",
                "2023-13",
                "2023-00",
                "2023-04-31",
                "2023-1-1",
                "soon",
                "",
                "2023-21",
                "2023/05",
                "20230501",
            ),
            *(
                "2023-01-01T10:00:60Z",
                "2023-01-01T24:01:00Z",
                "2023-01-01T10:00:00+25:00",
                "[2020,2021]",
                "2023~~",
                "Y1",
            ),
        )
    ],
    *[("bad_time", {"valid_from": value}, ALL) for value in (2020, 2020.5, True, b"2020", ["2020"], timedelta(1))],
    *[("bad_time", {"said_at": value}, ALL) for value in ("yesterday", 1_600_000_000, "always", "unknown")],
    *[("bad_time", {"valid_to": value}, BOUNDED) for value in ("2023-02-30", 2020)],
    ("naive_time", {"valid_from": "2023-01-01T10:00:00"}, ALL),
    ("naive_time", {"valid_from": datetime(2023, 1, 1, 10)}, ALL),  # noqa: DTZ001 - that is the point
    ("naive_time", {"valid_to": "2023-01-01T10:00"}, BOUNDED),
    ("naive_time", {"said_at": "2023-01-01T10:00:00"}, ALL),
    *[("time_range", {"valid_from": text}, ALL) for text in ("Y290001", "-290001", "Y999999999", "-999999999-01-01")],
    ("time_range", {"said_at": "-300000"}, ALL),
    ("empty_interval", {"valid_from": "2021", "valid_to": "2020"}, BOUNDED),
    ("empty_interval", {"valid_from": "2020", "valid_to": "2020"}, BOUNDED),
    ("empty_interval", {"valid_from": "2020-01", "valid_to": "2020"}, BOUNDED),  # both are the first of January
    ("empty_interval", {"valid_to": "-inf"}, BOUNDED),
    ("empty_interval", {"valid_from": "2021", "valid_through": "2020"}, STATING),
    ("empty_interval", {"valid_from": "2030", "valid_to": "unknown"}, STATING),  # can't have ended before it began
    *[("clock_skew", {"said_at": text}, ALL) for text in ("2024-01-01T00:05:01Z", "2025", "Y12024")],
    *[
        ("empty_entity", {"subject": name}, ALL)
        for name in ("", "   ", "\u200b\u200d", "\u2066\u2069", "\ufe0f", "\t\n")
    ],
    *[("empty_entity", {"object": name}, ALL) for name in ("", " \u200b ")],
    ("ambiguous_entity", {"subject": "Mercury"}, ALL),
    ("ambiguous_entity", {"object": "mercury."}, ALL),
    *[("bad_predicate", {"predicate": name}, ALL) for name in ("!!!", "->", "___")],
    ("bad_predicate", {"predicate": "married_to", "object": "ann"}, ("add", "set", "end", "deny")),  # of herself
    ("object_required", {"object": None}, ("add", "set", "deny", "correct")),
    ("object_required", {"object": None, "predicate": "manages"}, ("end",)),  # an inverse is told from its object
]


def _rows() -> Iterator[Any]:
    for number, (code, wrong, methods) in enumerate(REFUSED):
        for method in methods:
            yield pytest.param(method, code, wrong, id=f"{code}-{method}-{number}")


def words(method: str, wrong: dict[str, Any]) -> dict[str, Any]:
    renamed = WORDS.get(method, {})
    return BASE[method] | {renamed.get(name, name): value for name, value in wrong.items()}


@pytest.fixture(scope="module")
def kept() -> Iterator[KnowledgeGraph]:
    """One graph for all refusals, since none of them may change it."""
    with filled() as kg:
        yield kg
        assert kg.verify() == []


def filled(**options: Any) -> KnowledgeGraph:
    kg = graph(**options)
    kg.add("Ann", "works_at", "Globex", valid_from="2010")
    kg.names.declare("Mercury", label="Mercury (planet)")
    kg.names.declare("Mercury", label="Mercury (god)")
    return kg


def test_every_structural_code_has_a_row() -> None:
    assert {code for code, *_ in REFUSED} == set(STRUCTURAL_CODES)


@pytest.mark.parametrize(("method", "code", "wrong"), list(_rows()))
def test_a_refused_claim_raises_its_code_and_is_kept(
    kept: KnowledgeGraph, method: str, code: str, wrong: dict[str, Any]
) -> None:
    if method == "correct" and "valid_to" in wrong:
        pytest.skip("a correction has no end of its own")
    before, seen = ever(kept), len(list(kept.entities()))
    with pytest.raises(RejectedError) as caught:
        getattr(kept, method)(**words(method, wrong))
    error = caught.value
    assert error.code == code
    assert error.reason
    assert error.code in str(error)
    assert error.receipt is not None
    assert (error.receipt.outcome, error.receipt.code, error.receipt.reason) == ("rejected", code, error.reason)
    assert error.receipt.claims == error.receipt.facts == ()
    last = kept.rejected()[-1]
    assert (last.code, last.recorded_at) == (code, error.receipt.recorded_at)
    assert last.content is not None
    assert ever(kept) == before
    assert len(list(kept.entities())) == seen


@pytest.mark.parametrize(("code", "wrong"), [(code, wrong) for code, wrong, methods in REFUSED if "add" in methods])
def test_a_refused_claim_in_a_batch_fails_alone(code: str, wrong: dict[str, Any]) -> None:
    kg = filled()
    good = {"subject": "Bo", "predicate": "likes", "object": "tea"}
    batch = kg.add_all([good, BASE["add"] | wrong, good | {"object": "cake"}], receipts=True)
    assert [r.outcome.value for r in batch.receipts] == ["new", "rejected", "new"]
    assert [(r.code, bool(r.reason)) for r in batch.rejected] == [(code, True)]
    assert batch.counts == {"new": 2, "rejected": 1}
    assert batch.total == 3
    assert labels(kg.values("Bo", "likes")) == ["cake", "tea"]
    assert labels(kg.values("Ann", "works_at")) == ["Globex"]
    assert [r.code for r in kg.rejected()] == [code]
    with pytest.raises(RejectedError) as caught:
        kg.add_all([good | {"object": "rain"}, BASE["add"] | wrong], on_reject="raise")
    assert caught.value.code == code
    assert labels(kg.values("Bo", "likes")) == ["cake", "tea"]  # nothing of it was written
    assert "rain" not in kg
    assert kg.verify() == []


# The first that fits, in the order of the gate; each fault in a place of its own.
FAULTS = {
    "bad_encoding": {"source_ref": LONE},
    "oversize": {"text": "x" * (64 * 1024 + 1)},
    "bad_confidence": {"confidence": 2},
    "bad_time": {"valid_from": "2023-02-29"},
    "empty_interval": {"valid_from": "2021", "valid_to": "2020"},
    "clock_skew": {"said_at": "2030"},
    "ambiguous_entity": {"subject": "Mercury"},
}


@pytest.mark.parametrize(
    ("first", "second"),
    [pair for pair in combinations(FAULTS, 2) if not FAULTS[pair[0]].keys() & FAULTS[pair[1]].keys()],
)
def test_the_first_fault_in_the_order_of_the_gate_gives_the_code(kept: KnowledgeGraph, first: str, second: str) -> None:
    with pytest.raises(RejectedError) as caught:
        kept.add(**BASE["add"] | FAULTS[second] | FAULTS[first])
    assert caught.value.code == first


@pytest.mark.parametrize(
    "wrong",
    [{"subject": LONE}, {"object": LONE}, {"subject": NUL}, {"object": NUL}, {"subject": "x" * 513}],
    ids=["lone subject", "lone object", "nul subject", "nul object", "long subject"],
)
@pytest.mark.parametrize("later", ["bad_confidence", "bad_time", "empty_interval", "clock_skew"])
def test_what_is_wrong_with_a_text_comes_before_the_rest(
    kept: KnowledgeGraph, wrong: dict[str, Any], later: str
) -> None:
    with pytest.raises(RejectedError) as caught:
        kept.add(**BASE["add"] | wrong | FAULTS[later])
    assert caught.value.code in ("bad_encoding", "control_chars", "oversize")


def test_a_refused_correction_of_what_does_not_hold() -> None:
    kg = filled()
    with pytest.raises(RejectedError) as caught:
        kg.correct("Ann", "works_at", "Initech", "Acme")
    assert caught.value.code == "nothing_to_correct"
    assert kg.rejected()[-1].code == "nothing_to_correct"


@pytest.mark.parametrize("text", ["2023-02-29", "2023-13-01", "2023-06-31", "1900-02-29", "-0001-02-29"])
def test_an_impossible_date_is_named_in_the_message(text: str) -> None:
    with pytest.raises(RejectedError, match=text):
        graph().add("Ann", "works_at", "Acme", valid_from=text)


@pytest.mark.parametrize("offered", ["timezone", "Z"])
def test_a_naive_time_is_refused_with_both_ways_out(offered: str) -> None:
    with pytest.raises(RejectedError, match=offered):
        graph().add("Ann", "works_at", "Acme", valid_from="2023-01-01T10:00:00")


def test_a_naive_time_is_read_in_the_zone_of_the_handle() -> None:
    kg = graph(timezone="Europe/Helsinki")
    kg.add("Ann", "works_at", "Acme", valid_from="2023-01-01T10:00:00")
    assert kg.values("Ann", "works_at")[0].valid_from.instant == semgraph.parse_when("2023-01-01T08:00:00Z").instant


# -- the log of refusals


@pytest.mark.parametrize("way", ["add", "batch", "remember"])
def test_what_is_vetoed_keeps_no_text(way: str) -> None:
    kg = graph()
    kg.veto(phrase="Project Falcon")
    given = {"subject": "Ann", "predicate": "works_on", "object": "project falcon", "source_ref": "mail:falcon"}
    if way == "add":
        with pytest.raises(RejectedError):
            kg.add(**given)
    elif way == "batch":
        kg.add_all([given])
    else:
        kg.remember("Ann works on project Falcon now", **given)
    (kept,) = kg.rejected()
    assert kept.code == "do_not_remember"
    assert kept.content is None
    assert "falcon" not in repr(kept).lower()
    assert list(kg.claims()) == []


@pytest.mark.parametrize(
    "secret", ["AKIAIOSFODNN7EXAMPLE", "4111 1111 1111 1111", "-----BEGIN RSA PRIVATE KEY-----", "ghp_" + "a1B2" * 9]
)
def test_a_secret_keeps_no_text(secret: str, tmp_path: Path) -> None:
    kg = graph(tmp_path / "store.db", durability="relaxed")
    (receipt,) = kg.remember(f"The key of the service is {secret}", subject="service", predicate="uses", object=secret)
    assert (receipt.outcome, receipt.code) == ("rejected", "secret")
    assert kg.rejected()[0].content is None
    assert secret not in repr(kg.rejected())
    kg.close()
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_store_may_keep_no_text_of_any_refusal() -> None:
    kg = graph(config={"keep_rejected_text": False})
    with pytest.raises(RejectedError):
        kg.add("Zanzibar", "likes", "tea", confidence=3)
    assert kg.rejected()[0].code == "bad_confidence"
    assert "Zanzibar" not in repr(kg.rejected())


def test_the_log_is_bounded_and_keeps_the_newest() -> None:
    kg = graph(config={"keep_rejected": 3})
    for number in range(6):
        with pytest.raises(RejectedError):
            kg.add(f"Ann {number}", "likes", "tea", confidence=3)
    assert [r.content["subject"] for r in kg.rejected()] == ["Ann 3", "Ann 4", "Ann 5"]
    assert kg.stats()["rejected_by_code"] == {"bad_confidence": 3}


def test_the_log_shows_what_was_said_by_whom() -> None:
    kg = graph()
    with pytest.raises(RejectedError):
        kg.add("Ann", "works_at", "Acme", valid_from="2023-02-29", source="tool:ci", source_ref="run:7")
    (kept,) = kg.rejected()
    shown = {"subject": "Ann", "object": "Acme", "valid_from": "2023-02-29", "source": "tool:ci", "source_ref": "run:7"}
    assert kept.content.items() >= shown.items()
    assert str(kept.recorded_at).startswith("2024-01-01")


# -- storage errors


class Broken(Exception):
    """What a failing disk is played by."""


@contextmanager
def failing(kg: KnowledgeGraph, method: str, after: int) -> Iterator[None]:
    """The store raises a StoreError at the n-th call of one of its methods."""
    store = kg._session.store
    whole = getattr(store, method)
    left = [after]

    def broken(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise StoreError("the disk is gone")
        return whole(*args, **options)

    setattr(store, method, broken)
    try:
        yield
    finally:
        setattr(store, method, whole)


@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("write", ["add_all", "add", "set", "end", "correct", "merge", "forget", "atomic"])
def test_a_storage_error_keeps_nothing_of_a_write(write: str, after: int) -> None:
    kg = graph()
    kg.add("Ann", "works_at", "Globex", valid_from="2010")
    kg.add("Bo", "works_at", "Acme", valid_from="2010")
    before, names = ever(kg), [e.label for e in kg.entities()]
    claims = [
        {"subject": s, "predicate": "works_at", "object": o} for s in ("Cy", "Di", "Ann") for o in ("Initech", "Hooli")
    ]
    method = "delete" if write == "forget" else "insert"
    try:
        with failing(kg, method, after):
            if write == "add_all":
                kg.add_all([*claims, {"subject": "", "predicate": "x", "object": "y"}])
            elif write == "atomic":
                with kg.atomic():
                    for claim in claims:
                        kg.add(**claim)
            else:
                calls: dict[str, Callable[[], Any]] = {
                    "add": lambda: kg.add("Cy", "works_at", "Initech"),
                    "set": lambda: kg.set("Ann", "works_at", "Initech"),
                    "end": lambda: kg.end("Ann", "works_at", "Globex"),
                    "correct": lambda: kg.correct("Ann", "works_at", "Globex", "Initech"),
                    "merge": lambda: kg.names.merge("Ann", "Bo"),
                    "forget": lambda: kg.forget(entity="Ann"),
                }
                calls[write]()
    except StoreError:
        assert ever(kg) == before
        assert [e.label for e in kg.entities()] == names
    assert kg.verify() == []
    kg.add("Ann", "likes", "tea")
    assert labels(kg.values("Ann", "likes")) == ["tea"]
    assert kg.verify() == []


def test_a_closed_graph_says_so() -> None:
    kg = filled()
    fact = next(iter(kg.facts()))
    view = kg.at("2020")
    kg.close()
    kg.close()
    calls: list[Callable[[], Any]] = [
        lambda: kg.add("Ann", "likes", "tea"),
        lambda: kg.values("Ann", "works_at"),
        lambda: list(view.facts()),
        lambda: kg.explain(fact),
        lambda: kg.names.merge("Ann", "Globex"),
        lambda: kg.predicates["likes"],
        kg.verify,
        kg.stats,
        lambda: kg.scoped("other").add("Ann", "likes", "tea"),
    ]
    for call in calls:
        with pytest.raises(StoreClosed):
            call()


# -- names


NAMED: dict[str, Callable[[KnowledgeGraph, Any], Any]] = {
    "about": lambda kg, name: kg.about(name),
    "timeline": lambda kg, name: kg.timeline(name),
    "entity": lambda kg, name: kg.entity(name),
    "conflicts": lambda kg, name: kg.conflicts(name),
    "aliases": lambda kg, name: kg.names.aliases(name),
    "merge": lambda kg, name: kg.names.merge(name, "Ann"),
    "merge into": lambda kg, name: kg.names.merge("Ann", name),
    "unmerge": lambda kg, name: kg.names.unmerge(name),
    "unalias": lambda kg, name: kg.names.unalias(name, name),
    "keep_apart": lambda kg, name: kg.names.keep_apart("Ann", name),
    "forget": lambda kg, name: kg.forget(entity=name),
    "neighbors": lambda kg, name: kg.neighbors(name),
    "paths": lambda kg, name: kg.paths("Ann", name),
    "distance": lambda kg, name: kg.distance("Ann", name),
}


@pytest.mark.parametrize("read", NAMED)
def test_an_unknown_name_is_not_found_and_gets_suggestions(read: str) -> None:
    kg = filled()
    kg.add("Annabel Smith", "works_at", "Acme")
    if not hasattr(kg, read) and not hasattr(kg.names, read.split(maxsplit=1)[0]):
        pytest.skip("not offered")
    with pytest.raises(NotFoundError) as caught:
        NAMED[read](kg, "Anabel Smith")
    assert isinstance(caught.value, LookupError)
    if read not in ("unmerge", "unalias"):
        assert [e.label for e in caught.value.candidates] == ["Annabel Smith"]
        assert "Annabel Smith" in str(caught.value)


@pytest.mark.parametrize("read", [name for name in NAMED if name != "unmerge"])
def test_an_ambiguous_name_gives_its_candidates(read: str) -> None:
    kg = filled()
    if not hasattr(kg, read) and not hasattr(kg.names, read.split(maxsplit=1)[0]):
        pytest.skip("not offered")
    with pytest.raises(AmbiguousNameError) as caught:
        NAMED[read](kg, "Mercury")
    assert sorted(e.label for e in caught.value.candidates) == ["Mercury (god)", "Mercury (planet)"]
    if read not in ("merge", "merge into", "unalias", "keep_apart", "forget"):
        for candidate in caught.value.candidates:
            NAMED[read](kg, candidate)


def test_reads_that_search_find_nothing_for_an_unknown_name() -> None:
    kg = filled()
    assert kg.values("Nobody", "works_at") == []
    assert kg.value("Nobody", "works_at", default="?") == "?"
    assert list(kg.facts("Nobody")) == list(kg.facts(object="Nobody")) == list(kg.claims("Nobody")) == []
    assert kg.candidates("Nobody") == []
    assert "Nobody" not in kg
    assert kg.values("Ann", "no_such_predicate") == []


def test_a_read_never_makes_an_entity() -> None:
    kg = filled()
    before = len(kg)
    kg.values("Somebody new", "works_at")
    list(kg.facts("Somebody new", object="Something new"))
    kg.candidates("Somebody new")
    assert "Somebody new" not in kg
    assert len(kg) == before


# -- wrong types for every parameter of every public method

JUNK: dict[str, Any] = {
    "object": object(),
    "bytes": b"x",
    "float": 1.5,
    "negative": -1,
    "huge": 10**400,
    "nan": float("nan"),
    "list": [],
    "nested": [[1], {}],
    "dict": {1: 2},
    "surrogate": "\ud800",
    "nul": "a\0b",
    "empty": "",
    "space": " ",
    "long": "x" * 70_000,
    "colon": ":",
    "date": "2023-02-29",
    "lambda": lambda *_: None,
    "true": True,
    "class": int,
    "set": {1},
    "none": None,
}
_DUNDER = ("__getitem__", "__contains__", "__iter__", "__len__", "__bool__")
_CLAIM = {"subject": "Zed", "predicate": "likes", "object": "tea"}
_NO_ARGUMENTS = (
    "at during purge entities facts conflicts claims profile to_networkx edges atomic verify stats rejected close "
    "recalled reembed names.suggest __len__ __bool__ predicates.__iter__ predicates.__len__"
)


def sensible(name: str, kg: KnowledgeGraph, folder: Path) -> dict[str, Any]:
    """Arguments that make sense; a method that is not here fails the test below."""
    ann, value = {"entity": "Ann"}, {"subject": "Ann", "predicate": "works_at"}
    known: dict[str, dict[str, Any]] = {key: {} for key in _NO_ARGUMENTS.split()} | {
        "add": _CLAIM,
        "set": {"subject": "Zed", "predicate": "lives_in", "value": "Oslo"},
        "add_all": {"claims": [_CLAIM]},
        "add_columns": {"columns": {name: [value] for name, value in _CLAIM.items()}},
        "load_networkx": {"graph": nx.Graph([("Zed", "Ann")])},
        "remember": {"text": "Zed likes green tea a lot", **_CLAIM},
        "end": BASE["end"],
        "deny": BASE["deny"],
        "correct": BASE["correct"] | {"new": "Hooli"},
        "settle": value | {"choice": "choose", "object": "Acme"},
        "forget": {"entity": "Bo"},
        "veto": {"phrase": "zzz"},
        "throughout": {"start": "2020", "end": "2021"},
        "history": value,
        "values": value,
        "value": value,
        "entity": {"name": "Ann"},
        "candidates": {"name": "Ann"},
        "__contains__": {"name": "Ann"},
        "about": ann,
        "timeline": ann,
        "neighbors": ann,
        "diff": {"other": kg.at("2014")},
        "paths": {"source": "Ann", "target": "Bo"},
        "distance": {"source": "Ann", "target": "Bo"},
        "match": {"patterns": ("?who", "works_at", "?where")},
        "recall": {"query": "Ann"},
        "profile": {},
        "ask": {"question": "where does Ann work?"},
        "render": {"facts_or_hits": list(kg.facts())},
        "backup": {"path": folder / f"{len(list(folder.iterdir()))}.db"},
        "scoped": {"name": "other"},
        "names.aliases": ann,
        "names.declare": {"name": "Zed"},
        "names.alias": {"name": "Annie", "entity": "Ann"},
        "names.unalias": {"name": "Ann", "entity": "Ann"},
        "names.merge": {"duplicate": "Ann", "into": "Bo"},
        "names.unmerge": {"duplicate": "Ann"},
        "names.keep_apart": {"a": "Ann", "b": "Bo"},
        "predicates.define": {"predicate": "zips"},
        "predicates.__getitem__": {"name": "works_at"},
        "predicates.__contains__": {"name": "works_at"},
    }
    if name in ("retract", "unretract"):
        return {"target": next(kg.claims())}
    if name == "explain":
        return {"fact": next(iter(kg.facts()))}
    return dict(known[name])


_WITHIN = ("chunks", "held_rows", "moment", "reading")  # for the modules below the engine, not for callers


def _methods() -> list[str]:
    found = []
    for cls, prefix in ((KnowledgeGraph, ""), (Names, "names."), (Predicates, "predicates.")):
        for name, member in inspect.getmembers_static(cls):
            plain = not name.startswith("_") or (name in _DUNDER and name in vars(cls))
            if plain and inspect.isfunction(member) and name not in _WITHIN:
                found.append(prefix + name)
    return found


def _method(kg: KnowledgeGraph, path: str) -> Any:
    owner: Any = kg
    for part in path.split("."):
        owner = getattr(owner, part)
    return owner


def test_every_public_method_has_sensible_arguments(tmp_path: Path) -> None:
    for name in _methods():
        with filled() as kg:
            kg.add("Bo", "manages", "Ann")
            found = sensible(name, kg, tmp_path)
            if name not in ("names.unmerge", "names.unalias"):
                _drained(_call(_method(kg, name), found))


def _call(method: Any, given: dict[str, Any]) -> Any:
    """What a method answers; one that takes any number of things gets one."""
    many = [p.name for p in inspect.signature(method).parameters.values() if p.kind is p.VAR_POSITIONAL]
    return method(*(given[name] for name in many), **{k: v for k, v in given.items() if k not in many})


def _drained(answer: Any) -> None:
    if hasattr(answer, "__next__"):
        list(answer)
    elif isinstance(answer, semgraph.GraphView):
        list(answer.facts())


@pytest.mark.parametrize("name", _methods())
def test_only_semgraph_errors_cross_the_api(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some junk is the name of a file
    parameters = inspect.signature(_method(graph(), name)).parameters.values()
    wrong = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    kg = _shared()
    for parameter in wrong:
        for junk, value in JUNK.items():
            if name == "close" or not _usable(kg):
                kg = _shared()
            base = sensible(name, kg, tmp_path)
            try:
                with hurry(20):
                    _drained(_call(_method(kg, name), base | {parameter.name: value}))
            except SemgraphError as error:
                str(error).encode()  # a message can be shown
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not be
                pytest.fail(f"{name}({parameter.name}={junk}) raises {type(error).__name__}: {error}")
    assert kg.verify() == []
    kg.close()


def _shared() -> KnowledgeGraph:
    kg = filled()
    kg.add("Ann", "works_at", "Acme", valid_from="2010", source="tool:hr")
    kg.add("Bo", "works_at", "Acme", valid_from="2010", source_ref="d1")
    kg.add("Bo", "manages", "Ann")
    return kg


def _usable(kg: KnowledgeGraph) -> bool:
    """Whether the sensible arguments still make sense."""
    try:
        return all(name in kg for name in ("Ann", "Bo")) and len(kg.candidates("Ann")) == 1 and bool(list(kg.facts()))
    except SemgraphError:
        return False


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "parameter",
    ["target", "scope", "source", "timezone", "read_only", "durability", "embedder", "clock", "config"],
)
def test_opening_with_nonsense_is_a_declared_error(
    parameter: str, junk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        kg = KnowledgeGraph(**{"embedder": None} | {parameter: JUNK[junk]})
        with kg:
            kg.add("Ann", "likes", "tea")
            kg.value("Ann", "likes")
    except SemgraphError as error:
        str(error).encode()


@pytest.mark.parametrize("junk", [name for name in JUNK if name != "none"])
@pytest.mark.parametrize("call", ["write", "write format", "read", "read format", "read source"])
def test_reading_and_writing_files_with_nonsense(
    call: str, junk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = pytest.importorskip("semgraph.exchange")
    monkeypatch.chdir(tmp_path)
    kg, value = filled(), JUNK[junk]
    calls: dict[str, Callable[[], Any]] = {
        "write": lambda: exchange.write(kg, value),
        "write format": lambda: exchange.write(kg, value, format="jsonl"),
        "read": lambda: exchange.read(kg, value),
        "read format": lambda: exchange.read(kg, value, format="jsonl"),
        "read source": lambda: exchange.read(kg, tmp_path / "there.jsonl", source=value),
    }
    exchange.write(kg, tmp_path / "there.jsonl")
    try:
        calls[call]()
    except SemgraphError as error:
        str(error).encode()


@pytest.mark.parametrize(
    "found",
    [
        [1],
        [{"foo": 1}],
        [{"subject": "Ann", "predicate": "likes", "object": "x", "kind": "deny"}],
        [{"subject": "Ann", "predicate": 5, "object": "x"}],
        [{"subject": 5, "predicate": "likes", "object": "x"}],
        [{"subject": "Ann", "predicate": "likes", "object": "x", "recorded_at": "2020"}],
    ],
)
def test_what_an_extractor_gives_is_checked(found: list[Any]) -> None:
    kg = graph()
    with pytest.raises(InputError):
        kg.remember("Ann likes green tea", extractor=lambda _: found)
    assert list(kg.claims()) == []


@pytest.mark.parametrize("shown", [5, "2020-01-01", None, datetime(2020, 1, 1), date(2020, 1, 1)])  # noqa: DTZ001
def test_a_clock_must_show_an_aware_time(shown: Any) -> None:
    with pytest.raises(SemgraphError), KnowledgeGraph(embedder=None, clock=lambda: shown) as kg:
        kg.add("Ann", "likes", "tea")


def test_opening_does_not_read_the_clock() -> None:
    def clock() -> datetime:
        raise Broken

    KnowledgeGraph(embedder=None, clock=clock).close()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"mood": 1}, "mood"),
        ({"unregistered": "maybe"}, "maybe"),
        ({"keep_rejected": "9"}, "9"),
        ({"self_names": "me"}, "me"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        graph(config=config)


@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        {"subject": "Ann"},
        [5],
        [{"subject": "Ann"}],
        [{"subject": "Ann", "predicate": "likes", "object": "tea", "mood": "good"}],
        [{"subject": "Ann", "predicate": "likes", "object": "tea", "kind": "deny"}],
    ],
)
def test_a_batch_of_something_else(wrong: Any) -> None:
    kg = graph()
    try:
        batch = kg.add_all(wrong, receipts=True)
    except InputError:
        pass
    else:
        assert [r.outcome for r in batch.receipts] == ["rejected"]
        assert batch.rejected[0].reason
    assert list(kg.claims()) == []


@pytest.mark.parametrize(
    "options",
    [{"on_reject": "stop"}, {"batch_size": 0}, {"batch_size": 2.5}, {"batch_size": 5, "replaces": "d"}],
)
def test_a_batch_with_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        graph().add_all([_CLAIM], **options)


@pytest.mark.parametrize("source", ["", "  "])
def test_a_claim_needs_a_source(source: str) -> None:
    with pytest.raises(RejectedError) as caught:
        graph().add("Ann", "likes", "tea", source=source)
    assert caught.value.code == "unsourced"


def test_set_on_a_predicate_of_many_values_says_what_to_do_instead() -> None:
    with pytest.raises(InputError, match="add"):
        graph().set("Ann", "likes", "tea")


def test_a_far_date_is_no_crash() -> None:
    kg = graph(clock=Clock("9999-12-31T23:59:59Z"))
    kg.add("Ann", "status", "busy")  # its time to live ends after the year 9999
    (fact,) = kg.timeline("Ann")
    assert fact.valid_to.instant > semgraph.parse_when("9999-12-31").instant
    assert str(fact.valid_to)
    kg.add("Ann", "works_at", "Acme", valid_from="-290000", valid_to="Y290000")
    with pytest.raises(InputError):
        kg.predicates.define("mood", cardinality="one", ttl_days=1e12)
    kg.predicates.define("mood", cardinality="one", ttl_days=1e7)
    kg.add("Ann", "mood", "fine")
    assert kg.value("Ann", "mood") == "fine"
    assert kg.verify() == []
