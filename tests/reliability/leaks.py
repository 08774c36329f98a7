"""S1: no read, write, error, export or command shows or feels what another scope holds."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import shlex
from typing import TYPE_CHECKING, Any
from unittest import mock

import click
from histories import Clock, graph
from test_bad_input import _usable as usable
from test_bad_input import sensible
from test_cli_reference import RUN

import semgraph
from semgraph.cli import main
from semgraph.cli.app import PLACES, cli
from semgraph.errors import InputError
from semgraph.exchange import WRITABLE

from . import breaks
from .calls import called, member, methods, outcome, properties
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from semgraph import KnowledgeGraph

#: One word for each kind of thing that a scope holds. None of them is a word that anything else has.
CANARIES = (
    "Quexilor Vantrop", "Drusk Meridiana", "quexfriend_of", "mail:quexref77", "tool:quexsource", "Quexalias",
    "quexqualifier", "Quextext of a letter", "quexphrase", "Quexrefused", "quextopic", "Quexhomonym", "Quexdeclared",
    "quexpredicate",
)  # fmt: skip
TOKEN = re.compile(r"quex[a-z]*|vantrop|drusk|meridiana")
#: The ids of tombstones are drawn by lot, and an object without a repr of its own shows where it lies.
RANDOM = re.compile(r"\b[0-9a-f]{32}\b|0x[0-9a-f]+")
#: What commands take for the present, so that both stores live through the same moments.
NOW = 1_735_689_600_000_000_000
ELSEWHERE = "quexscope"
#: Calls that are about the whole file, or that go to another scope on purpose.
WHOLE_FILE = {"backup", "purge", "close", "scoped"}
#: Commands that are about the whole file, or about none.
NOT_PROBED = {"backup", "purge", "recover", "demo", "help", "config", "completion", "probe", "import"}
#: The words of commands that have none in the test of their documents.
MORE_WORDS = {
    "retract": ["Maya", "works_at"], "unretract": ["0" * 24], "unmerge": ["Maya"], "unalias": ["Maya", "Maya"],
    "export": ["out.jsonl"], "profile": [],
}  # fmt: skip


def own(kg: KnowledgeGraph) -> None:
    """What the scope that asks holds itself."""
    kg.add("Ann", "works_at", "Globex", valid_from="2010")
    kg.add("Ann", "works_at", "Acme", valid_from="2010", source="tool:hr")
    kg.add("Bo", "works_at", "Acme", valid_from="2010", source_ref="d1")
    kg.add("Bo", "manages", "Ann")
    kg.add("Maya", "works_at", "Linear", valid_from="2021", text="Maya works at Linear")
    kg.add("user", "works_at", "Acme")
    with contextlib.suppress(InputError):
        kg.add("Bo", "likes", "tea", confidence=7)


def alien(kg: KnowledgeGraph) -> list[Any]:
    """Fill another scope with canaries; what of it a caller might get hold of."""
    person, place = CANARIES[0], CANARIES[1]
    first = kg.add(
        person, "works_at", place, valid_from="2001", source_ref="mail:quexref77", text="Quextext of a letter",
        qualifiers={"quextopic": "quexqualifier"},
    )  # fmt: skip
    kg.add(person, "works_at", "Quexrival", valid_from="2001", source="tool:quexsource")
    kg.add("Ann", "quexfriend_of", person, because=[first])
    kg.add("Acme", "states", "Quextext of a letter")
    kg.names.alias("Quexalias", person)
    for label in ("Quexhomonym one", "Quexhomonym two"):
        kg.names.declare("Quexhomonym", label=label)
    kg.names.declare("Quexdeclared")
    kg.names.merge("Quexrival", place)
    kg.predicates.define("quexpredicate", cardinality="one", aliases=["quexother"])
    kg.veto(phrase="quexphrase")
    with contextlib.suppress(InputError):
        kg.add("Quexrefused", "likes", "Ann", confidence=9)
    fact, claim = first.facts[0], first.claim
    (dispute, *_) = kg.conflicts() or [None]
    held = [fact, claim, first, claim.subject, claim.object, fact.id, claim.id, claim.subject.id]
    return held + ([] if dispute is None else [dispute, dispute.id])


class Pair:
    """One scope in a store of its own, and the same scope beside one full of canaries; both live the same life."""

    def __init__(self, folder: Path, number: int, *, in_file: bool) -> None:
        self.folder = folder
        targets = [folder / f"{number}-{name}.db" if in_file else ":memory:" for name in ("alone", "beside")]
        self.roots = [graph(target, clock=Clock(), scope=ELSEWHERE, durability="relaxed") for target in targets]
        self.held = alien(self.roots[1])
        self.asked: set[str] = set()
        self.kept = [root.scoped("mine") for root in self.roots]
        for kg in self.kept:
            own(kg)
        self.stored = [str(target) for target in targets]
        self.places = [folder / f"{number}-{name}" for name in ("alone", "beside")]
        for place in self.places:
            place.mkdir()

    def answers(self, call: Callable[[KnowledgeGraph], Any], *, warm: bool) -> list[str]:
        """What the two scopes answer; `warm`: the other scope was read just before, so that caches hold it."""
        if warm:
            list(self.roots[1].facts())
            self.roots[1].recall("Quexilor Vantrop")
        answers = []
        for kg, place, stored in zip(self.kept, self.places, self.stored, strict=True):
            with contextlib.chdir(place):  # a canary may be taken for the name of a file
                answer = outcome(lambda: call(kg))  # noqa: B023
            answers.append(RANDOM.sub("#", answer.replace(str(place), "FOLDER").replace(stored, "STORE")))
        return answers

    def close(self) -> None:
        """Let go of both."""
        for root in self.roots:
            root.close()


@check("S1", "scope leak", "0 of 10,000 probes", c=350, n=10_000, broken=breaks.scope_of_a_query)
def scope_leak(trial: Trial) -> str:
    """0 answers that another scope's content changes or shows, over every public call, export and command."""
    by_command = max(trial.size // 10, len(PLACES))
    probes = api_probes(trial, trial.size - by_command) + command_probes(trial, by_command)
    return f"0 of {probes} probes, every call, export format and command in turn"


def api_probes(trial: Trial, size: int) -> int:
    """Every public method and property, and an export in every format, in turn, with canaries among its arguments."""
    names = [name for name in (*methods(), *properties()) if name not in WHOLE_FILE]
    exports = [f"write {kind}" for kind in WRITABLE]
    todo = [*names, *exports]
    luck, folder = trial.random, trial.folder
    pair = Pair(folder, 0, in_file=True)
    for done in trial.along(range(size), trial.size):
        if done % 40 == 39 or not usable(pair.kept[0]):
            pair.close()
            pair = Pair(folder, done, in_file=done % 3 == 0)
        name = todo[done % len(todo)]
        call, given = _probe(luck, name, pair)
        before, after = pair.answers(call, warm=luck.random() < 0.5)
        pair.asked |= _tokens(outcome(lambda: given))  # noqa: B023
        _same(name, given, before, after, pair.asked)
    pair.close()
    return size


def _probe(luck: Random, name: str, pair: Pair) -> tuple[Callable[[KnowledgeGraph], Any], Any]:
    """A call, and what it is given of the other scope."""
    if name.startswith("write "):
        return lambda kg: _exported(kg, name.removeprefix("write ")), None
    if name in properties():
        return lambda kg: _shown(name, member(kg, name)), None
    bait: dict[str, Any] = {}
    parameters = inspect.signature(member(pair.kept[0], name)).parameters.values()
    for parameter in parameters:
        if parameter.kind is not parameter.VAR_KEYWORD and luck.random() < 0.5:
            bait[parameter.name] = luck.choice([*CANARIES, *pair.held])
    moment = luck.choice([None, None, "at", "during", "known"])

    def call(kg: KnowledgeGraph) -> Any:
        views = {"at": lambda: kg.at("2015"), "during": kg.during, "known": lambda: kg.at(known_at="2024-01-02")}
        owner = views[moment]() if moment and hasattr(semgraph.GraphView, name) and name != "diff" else kg
        answer = called(member(owner, name), given_for(name, kg, pair.folder) | bait)
        return _shown(name, answer)

    return call, bait


def given_for(name: str, kg: KnowledgeGraph, folder: Path) -> dict[str, Any]:
    """Arguments of a call that make sense in the scope that asks."""
    if name in ("__repr__", "names.__repr__", "predicates.__repr__", "vetoes.__iter__", "vetoes.__repr__"):
        return {}
    return {"phrase": "zzz"} if name == "vetoes.lift" else sensible(name, kg, folder)


def _shown(name: str, answer: Any) -> Any:
    """The answer without the size of the file, which is that of all scopes, and its path, which is another's."""
    if name == "stats":
        return {key: value for key, value in answer.items() if "bytes" not in key}
    return None if name in ("path", "atomic") else answer


def _exported(kg: KnowledgeGraph, kind: str) -> str:
    stream = io.BytesIO()
    view = kg if kind == "jsonl" else kg.during()
    semgraph.write(view, stream, format=kind)
    return stream.getvalue().decode("utf-8", "replace")


def _same(name: str, given: Any, alone: str, beside: str, asked: set[str]) -> None:
    """Both answers are one; and no canary is in it that this scope was never handed."""
    assert alone == beside, f"{name}({given}) feels another scope:\n{alone}\n{beside}"
    leaked = _tokens(beside) - asked
    assert not leaked, f"{name}({given}) shows {sorted(leaked)} of another scope"


def _tokens(text: str) -> set[str]:
    return set(TOKEN.findall(text.lower()))


def command_probes(trial: Trial, size: int) -> int:
    """Every command that reads or writes a scope, in both stores, as text and as JSON."""
    words = {name: RUN.get(name) or MORE_WORDS.get(name) or _example(name) for name in PLACES}
    luck, names = trial.random, sorted(set(words) - NOT_PROBED)
    for done in trial.along(range(size), size):
        if done % 60 == 0:
            pair = Pair(trial.folder, 10**6 + done, in_file=True)
            pair.close()
        name = names[done % len(names)]
        line = [luck.choice(CANARIES) if not w.startswith("-") and luck.random() < 0.4 else w for w in words[name]]
        if name == "export":
            line = ["-", "--format", luck.choice(["jsonl", "graphml", "csv", "trig"])]
        flags = ["--scope", "mine", *(["--json"] if luck.random() < 0.5 else [])]
        answers = [_typed(["--db", stored, *flags, name, *line]).replace(stored, "STORE") for stored in pair.stored]
        _same_but_size(f"{name} {line}", *answers)
    return size


def _example(name: str) -> list[str]:
    """The words after a command's name in the example of its help."""
    found = cli.get_command(click.Context(cli), name)
    lines = (found.epilog or "").splitlines() if found else []
    typed = next((shlex.split(line) for line in lines if f" {name}" in line), [name])
    return typed[typed.index(name) + 1 :]


def _typed(words: list[str]) -> str:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch("time.time_ns", return_value=NOW):
        status = main(words)
    out.flush()
    return f"{status} {out.buffer.getvalue().decode()} {err.getvalue()}"


def _same_but_size(line: str, alone: str, beside: str) -> None:
    """The size of the file is that of all scopes, and ids of tombstones are drawn by lot; all else is the same."""
    moving = re.compile(r"bytes[\":\s]+(\d[\d,]*|null|-)|\d+(\.\d+)? (KiB|MiB|kB|MB|B)\b|\b[0-9a-f]{32}\b")
    assert moving.sub("#", alone) == moving.sub("#", beside), f"`{line}` feels another scope:\n{alone}\n{beside}"
