"""The demo: real office holders in a temporary file, and a tour of commands with their real output."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import Counter
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from semgraph.engine import KnowledgeGraph
from semgraph.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from semgraph.model import Entity

__all__ = ["load", "office_holders", "tour"]

PRESIDENT: Final = "President of the United States"
DESK: Final = "Resolute desk"
_SOURCE: Final = "imported:congress-legislators"

Step = tuple[str, list[list[str]]]  # what to notice, and the commands to type


def office_holders() -> dict[str, Any]:
    """The data that ships with semgraph; `semgraph/data/README.md` says whence."""
    text = (resources.files("semgraph") / "data" / "office_holders.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def load(kg: KnowledgeGraph) -> None:
    """Take the office holders into a graph: names, terms to the day, parties and birthdays, in one transaction."""
    data = office_holders()
    offices, people = data["offices"], data["people"]
    names = Counter(person["name"] for person in people)
    with kg.atomic():
        kg.predicates.define("held_by", cardinality="one", range="entity")
        kg.predicates.define("holds_office", inverse_of="held_by")
        found = [_declared(kg, person, shared=names[person["name"]] > 1) for person in people]
        for person, entity in zip(people, found, strict=True):
            for alias in person["aliases"]:
                if alias != entity.label:
                    kg.names.alias(alias, entity, source=_SOURCE)
        told = (claim for person, who in zip(people, found, strict=True) for claim in _claims(person, who, offices))
        kg.add_all(told, on_reject="raise")


def _declared(kg: KnowledgeGraph, person: dict[str, Any], *, shared: bool) -> Entity:
    """One entity for each person; of two people of one name those with a fuller name are shown by it."""
    label = person["aliases"][0] if shared and person["aliases"] else person["name"]
    return kg.names.declare(person["name"], label=label)


def _claims(person: dict[str, Any], who: Entity, offices: dict[str, str]) -> Iterator[dict[str, Any]]:
    same = {"source": _SOURCE, "source_ref": f"bioguide:{person['id']}"}
    yield {"subject": who, "predicate": "birth_date", "object": person["birthday"], **same}
    for term in person["terms"]:
        bounds = {"valid_from": term["start"], "valid_to": term["end"]}
        yield {"subject": offices[term["type"]], "predicate": "held_by", "object": who, **bounds, **same}
        if term["party"] != "no party":
            yield {"subject": who, "predicate": "member_of", "object": f"{term['party']} Party", **bounds, **same}


def tour(run: Callable[[list[str]], None], say: Callable[[str], object], keep: str | None = None) -> None:
    """Print the tour; `run` runs the words of one command line and prints its output.

    Args:
        run: runs a command.
        say: prints a line.
        keep: where the file stays; without it, it is gone when the tour ends.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="semgraph-demo-")))
        path = folder / "office_holders.db" if keep is None else Path(keep).absolute()
        if keep is not None and path.exists():
            raise InputError(f"{str(path)!r} exists already; choose another name for --keep")
        with KnowledgeGraph(path, durability="relaxed") as kg:
            load(kg)
            size = kg.stats()
        say(f"Presidents and vice presidents of the United States since 1789: {size['claims']} claims about")
        say(f"{size['entities']} entities, public domain data to the day, now in a file of their own.")
        say("")
        say(f"$ export SEMGRAPH_DB={shlex.quote(str(path))}")
        for before in (_reading, _correcting, _remembering, _disputing):
            for words, commands in before(path):
                _step(run, say, path, words, commands)
        exported = folder / "office_holders.jsonl"
        _step(run, say, path, "Export everything; the same store gives the same bytes.", [["export", str(exported)]])
        _step(run, say, path, "Every fact computed again from the claims: no difference.", [["verify"]])
        say("")
        say(f"The file is kept: {path}" if keep is not None else f"The file {path} is removed; --keep PATH keeps one.")


def _step(
    run: Callable[[list[str]], None], say: Callable[[str], object], path: Path, words: str, commands: list[list[str]]
) -> None:
    say("")
    say(f"# {words}")
    for command in commands:
        say(f"$ semgraph {shlex.join(command)}")
        run(["--db", str(path), *command])


def _reading(_: Path) -> list[Step]:
    return [
        ("A life in order of time. He took over on the day on which his predecessor died.",
         [["timeline", "Theodore Roosevelt"]]),
        ("Who held an office on a day: terms begin on a day, and end on one that is no longer theirs.",
         [["--at", day, "value", PRESIDENT, "held_by"] for day in ("1841-04-03", "1841-04-04")]),
        ("Names lead to people through aliases. Two people are called George Bush: nobody guesses which.",
         [["value", "Jimmy Carter", "birth_date"], ["about", "George Bush"],
          ["timeline", "George W. Bush", "holds_office"]]),
    ]  # fmt: skip


def _correcting(_: Path) -> list[Step]:
    quiz, book = ["--source", "tool:quiz"], ["--source", "user"]
    return [
        ("Somebody tells us who gave the desk of the Oval Office, and is wrong. A correction says so.",
         [["add", DESK, "given_by", "Elizabeth II", *quiz],
          ["correct", DESK, "given_by", "Elizabeth II", "Queen Victoria", *book],
          ["value", DESK, "given_by"]]),
    ]  # fmt: skip


def _remembering(path: Path) -> list[Step]:
    with KnowledgeGraph(path, read_only=True) as kg:
        told = next(claim for claim in kg.claims(DESK, "given_by", retracted=True))
    return [
        ("The record stays: this is what we believed before.",
         [["--known-at", str(told.recorded_at), "value", DESK, "given_by"], ["history", DESK, "given_by"]]),
    ]  # fmt: skip


def _disputing(_: Path) -> list[Step]:
    where = ["Theodore Roosevelt", "birth_place"]
    return [
        ("Two sources contradict each other, and nothing decides between them: both stand, and both are marked.",
         [["add", *where, "New York City", "--source", "tool:almanac"],
          ["add", *where, "Oyster Bay", "--source", "tool:atlas"],
          ["conflicts"],
          ["value", *where]]),
        ("Until somebody settles it.",
         [["settle", *where, "choose", "New York City"], ["value", *where], ["explain", *where]]),
    ]  # fmt: skip
