"""S2: what is forgotten is in no file, row, answer or export, before and after a restart."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any
from unittest import mock

from histories import Clock, ever, graph

import semgraph
from semgraph import KnowledgeGraph
from semgraph.errors import InputError
from semgraph.exchange import WRITABLE

from . import breaks
from .calls import outcome
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

PLACES = (
    "subject",
    "object",
    "literal",
    "text",
    "source_ref",
    "qualifier",
    "alias",
    "homonym",
    "premise",
    "merged",
    "rejected",
)
MOMENTS = (None, "2012-01-01", "2021-06-01", "2030-01-01")
SYLLABLES = ("zyz", "quo", "vex", "pra", "thul", "mek", "dro", "ix", "wub", "hal")


@check("S2", "forget residue", "0 of 200 leave a needle, before and after restart", c=11, n=200, broken=breaks.purging)
def residue(trial: Trial) -> str:
    """A needle is put somewhere among other things and forgotten; then it is looked for in everything.

    In every file beside the store (in UTF-8 and UTF-16, each of its words, whatever the case), in all answers at every
    pair of times, in every export, in a backup, in temporary files; before and after the store is opened again. Facts
    that the forgotten one had closed hold again.
    """
    looked, between = 0, trial.folder / "temporary"
    between.mkdir()
    with mock.patch.object(tempfile, "tempdir", str(between)), mock.patch.dict(os.environ, SQLITE_TMPDIR=str(between)):
        for number in trial.steps():
            folder = trial.folder / str(number)
            folder.mkdir()
            words = _one(trial.random, folder, PLACES[number % len(PLACES)], everything=number % 20 == 19)
            assert traces(between, words) == [], "in a temporary file"
            looked += 1
    return f"{trial.size} forgets of needles in {len(PLACES)} places, {looked} searched through: 0 left"


def _one(luck: Random, folder: Path, where: str, *, everything: bool) -> list[str]:
    words = ["".join(luck.choice(SYLLABLES) for _ in range(3)).capitalize() for _ in range(2)]
    needle = " ".join(words)
    clock = Clock("2023-01-01T00:00:00Z")
    path = folder / "store.db"
    kg = graph(path, durability=luck.choice(["full", "relaxed"]), clock=clock)
    _noise(luck, kg, clock)
    kg.add("Ann", "works_at", "Predecessor Ltd", valid_from="2015", said_at="2016")
    clock.tick(days=30)
    target = _hidden(kg, where, needle, clock)
    _noise(luck, kg, clock)
    moments = [None, *[c.recorded_at for c in kg.claims(retracted=True)][:: luck.randrange(3, 9)]]
    if luck.random() < 0.5:
        kg.recall(needle)  # so that words and vectors are in memory
    if luck.random() < 0.5:
        kg.close()
        kg = graph(path, clock=clock)
    assert traces(folder, words), "the needle was never written"
    given = {"everything": True} if everything else target
    report = kg.forget(**given)
    assert report.purged, (where, report.pending)
    _look(kg, folder, words, moments)
    if where in ("object", "premise") and not everything:
        (held,) = kg.values("Ann", "works_at")
        assert held.object.label == "Predecessor Ltd", "what the forgotten one had closed holds again"
        assert held.valid_to is None
    kg.close()
    assert traces(folder, words) == [], (where, words)
    with graph(path, clock=clock) as again:
        _look(again, folder, words, moments)
    return words


def _noise(luck: Random, kg: KnowledgeGraph, clock: Clock) -> None:
    for _ in range(luck.randrange(4, 15)):
        clock.tick(hours=luck.randrange(1, 500))
        subject, thing = luck.sample(["Ann", "Bo", "Cy", "Acme", "Globex"], 2)
        predicate = luck.choice(["likes", "uses", "collects", "knows"])
        kg.add(subject, predicate, thing, valid_from=luck.choice([None, "2019", "2020-05"]), text=f"{subject} said so")


def _hidden(kg: KnowledgeGraph, where: str, needle: str, clock: Clock) -> dict[str, Any]:
    """Put the needle somewhere; what to forget to be rid of it."""
    put: dict[str, Callable[[], dict[str, Any]]] = {
        "subject": lambda: (kg.add(needle, "likes", "tea"), {"entity": needle})[1],
        "object": lambda: (kg.set("Ann", "works_at", needle, valid_from="2020"), {"entity": needle})[1],
        "literal": lambda: {"claim": kg.add("Ann", "goal", f"one day to see {needle} and all of its rooms").claim},
        "text": lambda: {"claim": kg.add("Ann", "likes", "cake", text=f"I heard it from {needle}.").claim},
        "source_ref": lambda: (kg.add("Ann", "likes", "cake", source_ref=needle), {"source_ref": needle})[1],
        "qualifier": lambda: {"fact": kg.add("Ann", "likes", "cake", qualifiers={"topic": needle}).facts[0]},
        "alias": lambda: (kg.add("Zed", "likes", "tea"), kg.names.alias(needle, "Zed"), {"entity": "Zed"})[2],
        "homonym": lambda: {"entity": kg.names.declare("Zed", label=needle)},
        "premise": lambda: _derived(kg, needle),
        "merged": lambda: (kg.add(needle, "likes", "tea"), kg.add("Zed", "likes", "tea"), kg.names.merge(needle,
        "Zed"), {"entity": "Zed"})[3],
        "rejected": lambda: (kg.add(needle, "likes", "tea"), {"entity": needle})[1],
    }  # fmt: skip
    clock.tick(days=3)
    target = put[where]()
    clock.tick(days=3)
    if where == "rejected":
        for wrong in ({"confidence": 7}, {"valid_from": "2023-02-29"}):
            try:
                kg.add(needle, "likes", "cake", **wrong)
            except InputError:
                continue
    return target


def _derived(kg: KnowledgeGraph, needle: str) -> dict[str, Any]:
    told = kg.set("Ann", "works_at", needle, valid_from="2020")
    kg.add("Ann", "collects", f"stamps of {needle}", because=[told], source="inferred", valid_from="2020")
    return {"entity": needle}


def _look(kg: KnowledgeGraph, folder: Path, words: list[str], moments: list[Any]) -> None:
    """Look at everything that can be asked, exported or copied."""
    for known_at in moments:
        shown = [repr(ever(kg, known_at))]
        for moment in MOMENTS:
            view = kg.at(moment, known_at=known_at)
            shown.append(outcome(lambda view=view: list(view.facts(possible=True))))
        then = kg.at(known_at=known_at)
        shown += [outcome(then.conflicts), outcome(lambda then=then: then.recall("tea"))]
        _clean(" ".join(shown), words)
    for read in (
        kg.stats,
        kg.rejected,
        lambda: list(kg.claims(retracted=True)),
        lambda: list(kg.entities()),
        lambda: list(kg.vetoes),
    ):
        _clean(outcome(read), words)
    assert kg.verify() == []
    for kind in WRITABLE:
        view = kg if kind == "jsonl" else kg.during()
        semgraph.write(view, folder / f"out.{kind}", format=kind)
    copy = folder / "copy.db"
    kg.backup(copy)
    assert traces(folder, words) == [], words
    for path in folder.iterdir():
        if not path.name.startswith("store.db"):
            path.unlink()


def _clean(shown: str, words: list[str]) -> None:
    for word in words:
        assert word.lower() not in shown.lower(), word


def traces(folder: Path, words: list[str]) -> list[str]:
    """The files that hold one of the words, however it is cased or encoded."""
    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes().lower()
        for word in words:
            forms = [word.lower().encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be")]
            forms.append(json.dumps(word.lower()).strip('"').encode())
            if any(form in data for form in forms):
                found.append(f"{path.name}: {word}")
    return found
