"""How questions are read and answered, against gold: what they ask of time, and `ask` over a graph of named facts.

    python benchmarks/questions.py FOLDER      where FOLDER has temporal_questions, tempqa_wd and cr_tkgqa

The rules were made while looking at questions with even numbers only; the figures are for the odd ones, and in brackets
for the even ones.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import semgraph
from semgraph.asking.signals import temporal
from semgraph.model import Answer
from semgraph.temporal import Bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Scored = tuple[float, Answer, dict[str, Any]]
SIGNALS = {"no signal": "none", "overpal": "overlap"}
KINDS = {"temp.ans": "answer", "implicit:": "implicit"}


def intents(folder: Path) -> Iterator[tuple[str, int, str, set[str], set[str]]]:
    """Set, number, question, and the signals and kinds that are right for it."""
    for name in ("timequestions", "tiq"):
        for row in rows(folder / f"temporal_questions/{name}.jsonl.gz"):
            yield name, int(row["id"]), row["question"], *marked(row, "signal")
    for row in rows(folder / "tempqa_wd/questions.jsonl.gz"):
        yield "tempqa_wd", int(row["id"]), row["text"], *marked(row, "temporal_signal")


def marked(row: dict[str, Any], key: str) -> tuple[set[str], set[str]]:
    """The signals and the kinds that are right for a question, by the names that they have here."""
    signals, kinds = labels(row[key]), labels(row["type"])
    return {SIGNALS.get(s, s) for s in signals}, {KINDS.get(k, k) for k in kinds}


def labels(given: Any) -> list[str]:
    """The labels of a question in small letters; one set writes lists as text."""
    listed = given if isinstance(given, list) else [part.strip(" '") for part in given.strip("[]").split(",")]
    return [label.lower() for label in listed]


def over_intents(folder: Path, parity: int) -> dict[str, Counter[str]]:
    """For each set, how many questions of that parity there are, and how many signals and kinds are right."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, number, question, signals, kinds in intents(folder):
        if number % 2 == parity:
            read = temporal(question)
            found[name].update(all=1, signal=read.signal.value in signals, kind=read.kind.value in kinds)
    return found


def loaded(folder: Path) -> semgraph.KnowledgeGraph:
    """The named facts of the question set in a graph, each with the date of its beginning, and the names as aliases.

    The questions call things by other names than the facts do; which thing is meant is marked in them, as an alias
    table of a user's own would have it.
    """
    kg = semgraph.KnowledgeGraph(config={"unregistered": "many"})
    kg.add_all(
        {"subject": s, "predicate": p, "object": o, "valid_from": start or None, "source": "imported:wikidata"}
        for s, p, o, start in table(folder / "cr_tkgqa/facts.tsv.gz")
    )
    with kg.atomic():
        for row in rows(folder / "cr_tkgqa/questions.jsonl.gz"):
            for name, thing in re.findall(r"\[([^|\]]+)\|(Q\d+)\]", row["tagged"]):
                label = row["entities"].get(thing)
                if label and label in kg and name not in kg:
                    kg.names.alias(name, label)
    return kg


def over_graph(folder: Path, parity: int, kg: semgraph.KnowledgeGraph) -> list[tuple[float, Answer, dict[str, Any]]]:
    """F1, answer and question, for each question of that parity."""
    found = []
    for row in rows(folder / "cr_tkgqa/questions.jsonl.gz"):
        if int(row["id"].rpartition("-")[2]) % 2 == parity:
            answer = kg.ask(row["question"])
            found.append((f1(answer.values, row), answer, row))
    return found


def f1(values: Iterable[Any], row: dict[str, Any]) -> float:
    """The harmonic mean of precision and recall of the values against the answers; names count under any alias."""
    gold = [each for answer in row["answer"] for each in answer]
    said = list(values)
    if not said:
        return 0.0
    right = sum(any(same(value, each, row["answer_names"]) for each in gold) for value in said)
    met = sum(any(same(value, each, row["answer_names"]) for value in said) for each in gold)
    precision, recall = right / len(said), met / len(gold)
    return 2 * precision * recall / (precision + recall) if right and met else 0.0


def same(value: Any, gold: str, names: dict[str, list[str]]) -> bool:
    """Whether a value is one of the answers."""
    if isinstance(value, bool):
        return gold == str(value).upper()
    if isinstance(value, (int, float)):
        return gold.replace(".", "", 1).lstrip("-").isdigit() and abs(float(gold) - value) <= 0.01 * max(1, abs(value))
    if isinstance(value, Bound):
        year = len(gold) >= len("2006")  # the number of a month is no beginning of a year
        return gold.startswith(str(value)) or (year and str(value).startswith(gold))
    return str(value).casefold() in {name.casefold() for name in names.get(gold, [gold])}


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a compressed JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def table(path: Path) -> list[list[str]]:
    """The rows of a compressed tab-separated file, without its head."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1])
    odd, even = over_intents(folder, 1), over_intents(folder, 0)
    for name, counts in odd.items():
        shown = {
            key: f"{counts[key] / counts['all']:.3f} ({even[name][key] / even[name]['all']:.3f})"
            for key in ("signal", "kind")
        }
        print(f"{name}: {counts['all']} questions, {shown}")
    with loaded(folder) as kg:
        for parity in (1, 0):
            begin = time.perf_counter()
            found = over_graph(folder, parity, kg)
            spent = (time.perf_counter() - begin) / len(found)
            report("odd" if parity else "even", found, spent)


def report(name: str, found: list[Scored], spent: float) -> None:
    """Mean F1 of all, of the answered and of the sure ones."""
    said = [f for f, answer, _ in found if answer.values]
    sure = [f for f, answer, _ in found if answer.sure]
    inside = [f for f, _, row in found if row["answer_in_facts"]]
    print(
        f"cr_tkgqa, {name}: {len(found)} questions, F1 {mean([f for f, _, _ in found]):.3f}, answered "
        f"{len(said) / len(found):.3f} with F1 {mean(said):.3f}, sure {len(sure)} with F1 {mean(sure):.3f}; F1 "
        f"{mean(inside):.3f} of the {len(inside)} whose answers are in the facts; {spent * 1000:.0f} ms each"
    )


def mean(values: list[float]) -> float:
    """The mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()
