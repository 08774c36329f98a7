"""F1: whatever is put into the public API, out comes an answer or a declared error, and soon."""

from __future__ import annotations

import contextlib
import inspect
import string
import time
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from bounded_work import hurry
from test_bad_input import JUNK, _shared, sensible
from test_bad_input import _usable as usable

import semgraph
from semgraph import KnowledgeGraph, SemgraphError

from . import breaks
from .calls import called, member, methods, properties, told
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

#: Seconds of processor time that one call may take, and of the clock before it counts as hanging.
LONGEST, PATIENCE = 1.0, 30.0
#: Functions beside the methods, and arguments of theirs that make sense.
FUNCTIONS: dict[str, Callable[[KnowledgeGraph, Path], dict[str, Any]]] = {
    "KnowledgeGraph": lambda _kg, _folder: {"target": ":memory:", "embedder": None},
    "entity_key": lambda _kg, _folder: {"name": "Ann"},
    "from_epoch": lambda _kg, _folder: {"value": 1.5, "unit": "s"},
    "parse_when": lambda _kg, _folder: {"text": "2020-05"},
    "read": lambda kg, folder: {"kg": kg, "path": folder / "there.jsonl"},
    "write": lambda kg, folder: {"view": kg, "path": folder / "out.jsonl"},
}
ALPHABET = (
    *string.ascii_letters, *string.digits, *" .,:;-_/\\'\"`~!?@#$%^&*()[]{}<>|=+\t\r\n",
    *("\0", "\x01", "\x7f", "\x85", "\u00ad", "\u200b", "\u202e", "\u2028", "\u3164", "\ud800", "\udfff", "\ue000"),
    *("\ufdfa", "\ufe0f", "\ufffe", "\U000e0041", "\U0010ffff", "é", "e\u0301", "ß", "İ", "ﬁ", "Ａ", "北", "ก", "א"),
    "👩\u200d🚀",
)  # fmt: skip
WORDS = (
    *("Ann", "Bo", "Acme", "works_at", "likes", "manages", "user", "tool:x", "inferred", "imported:y", "always"),
    *("unknown", "..", "2020", "2020-05-17", "198X", "2001~", "2020-13", "Y290000", "-0043", "2020-05-17T10:30Z"),
    *("next Friday", "?who", "?p", "jsonl", "graphml", "snapshot", "overlap", "chronological", "out", "any", "state"),
    *("change", "also", "choose", "keep_both", "one", "many", "raise", "skip", "SELECT 1; --", "' OR 1=1", "%", "AND"),
    *("NEAR(", "../../etc/passwd", "CON", ":memory:"),
)


@check(
    "F1",
    "fuzz of the whole public API",
    "0 undeclared errors, each call < 1 s",
    c=2_000,
    n=100_000,
    r=1_000_000,
    broken=breaks.types_of_names,
)
def api(trial: Trial) -> str:
    """0 errors that are not declared, in calls of every public method and function with anything for arguments.

    The graph that they are put to is verified whenever it is done with.
    """
    offered = {name: getattr(semgraph, name) for name in semgraph.__all__}
    forgotten = {name for name, what in offered.items() if callable(what) and not isinstance(what, type)} - set(
        FUNCTIONS
    )
    assert not forgotten, f"functions without arguments for the fuzz: {sorted(forgotten)}"
    luck, paths = trial.random, [*methods(), *properties(), *FUNCTIONS]
    slowest, where, refused, life = 0.0, "", 0, []
    with contextlib.chdir(trial.folder):
        kg = _fresh(trial.folder)
        for done in trial.steps():
            path = paths[done % len(paths)]
            if done % 150 == 149 or not usable(kg):
                assert kg.verify() == [], life
                kg.close()
                kg, life = _fresh(trial.folder), []
            given = _given(luck, path, kg, trial.folder)
            life.append((path, given))
            began = time.process_time()
            refused += _put(path, given, kg, life)
            if (took := time.process_time() - began) > slowest:
                slowest, where = took, path
            assert took < LONGEST, f"{path}({given!r:.500}) takes {took:.2f} s"
        assert kg.verify() == [], life
        kg.close()
    figure = f"{trial.size} calls of {len(paths)} kinds, {refused} refused as declared, 0 otherwise"
    return f"{figure}; slowest {slowest:.2f} s ({where})"


def _fresh(folder: Path) -> KnowledgeGraph:
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    kg = _shared()
    semgraph.write(kg, folder / "there.jsonl")
    return kg


def _put(path: str, given: dict[str, Any], kg: KnowledgeGraph, life: list[Any]) -> bool:
    """Whether the call was refused; an error that is not declared fails the check with all that was called before."""
    if path == "close":
        return False
    try:
        with hurry(PATIENCE):
            call = getattr(semgraph, path) if path in FUNCTIONS else None
            answer = call(**given) if call else member(kg, path)
            if call is None and callable(answer):
                answer = called(answer, given)
            told(answer)
            if isinstance(answer, KnowledgeGraph) and answer is not kg and path != "scoped":
                answer.close()
    except SemgraphError as error:
        str(error).encode()  # a message can be shown
        return True
    except BaseException as error:
        calls = "\n".join(f"{name}({words!r:.300})" for name, words in life[-12:])
        raise AssertionError(f"{type(error).__name__} crosses the API: {error!r:.300}, after\n{calls}") from error
    return False


def _given(luck: Random, path: str, kg: KnowledgeGraph, folder: Path) -> dict[str, Any]:
    """Arguments that make sense, but for some of them."""
    if path in FUNCTIONS:
        base = FUNCTIONS[path](kg, folder)
        parameters = inspect.signature(getattr(semgraph, path)).parameters.values()
    elif path in properties():
        return {}
    else:
        base = {} if path in ("__repr__", "vetoes.__iter__") else _base(path, kg, folder)
        parameters = inspect.signature(member(kg, path)).parameters.values()
    wrong = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and luck.random() < 0.4]
    if path == "backup" or (path == "write" and "path" in wrong):
        base["path"] = folder / f"{luck.random()}.db"
        wrong = [name for name in wrong if name != "path" or luck.random() < 0.2]
    return base | {name: anything(luck, kg) for name in wrong}


def _base(path: str, kg: KnowledgeGraph, folder: Path) -> dict[str, Any]:
    return {"phrase": "zzz"} if path == "vetoes.lift" else sensible(path, kg, folder)


def anything(luck: Random, kg: KnowledgeGraph, depth: int = 2) -> Any:
    """A value of any type, more often of one that is nearly right."""
    kind = luck.randrange(14)
    if kind < 4:
        return luck.choice(WORDS)
    if kind < 7:
        return text(luck)
    if kind == 7:
        return luck.choice(list(JUNK.values()))
    if kind == 8:
        return luck.choice(
            [0, 1, -1, 5, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, 1e308, -0.0, float("inf"), float("nan"), 1j]
        )
    if kind == 9:
        return luck.choice([
            date.min, date.max, date(2020, 2, 29), datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC),
            datetime(2020, 1, 1), timedelta.max, True, False, None, UTC,  # noqa: DTZ001
        ])  # fmt: skip
    if kind == 10:
        facts = list(kg.facts())
        fact = luck.choice(facts) if facts else None
        return luck.choice(
            [fact, fact and fact.subject, fact and fact.id, fact and fact.claims[0], fact and fact.valid_from, kg]
        )
    if depth == 0:
        return text(luck)
    items = [anything(luck, kg, depth - 1) for _ in range(luck.randrange(4))]
    if kind == 11:
        return luck.choice([items, tuple(items), iter(items)])
    keys = [
        luck.choice([*WORDS, "subject", "predicate", "object", "valid_from", "confidence", "qualifiers"]) for _ in items
    ]
    return (
        dict(zip(keys, items, strict=True))
        if kind == 12
        else [{"subject": "Cy", "predicate": "likes", "object": x} for x in items]
    )


def text(luck: Random, longest: int = 40) -> str:
    """A text of characters that break things, now and then a very long one."""
    if luck.random() < 0.02:
        return luck.choice(ALPHABET) * luck.choice([513, 5_000, 65_536, 200_000])
    return "".join(luck.choice(ALPHABET) for _ in range(luck.randrange(longest)))
