"""Reading the shared data sets, and naive answers over their rows that owe nothing to the engine."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

OPEN = 10**6  # a year after all others
EVER = -(10**6)

Stretch = tuple[int, int]  # years, half open


def json_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a compressed JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def table_rows(path: Path) -> list[list[str]]:
    """The rows of a tab-separated file, compressed or not, without its head."""
    stored = path.read_bytes()
    text = (gzip.decompress(stored) if path.suffix == ".gz" else stored).decode()
    return [line.split("\t") for line in text.split("\n")[1:] if line]


def year_text(text: str) -> str:
    """The year as ISO 8601 has it: the data set writes 962 for 0962."""
    return text.zfill(4)


def stretch(start: str, end: str) -> Stretch:
    """The years in which a row holds: both named ones belong to it, and an empty end is open."""
    return (int(start) if start else EVER, int(end) + 1 if end else OPEN)


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """The same years in as few stretches as they can be told."""
    found: list[Stretch] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def together(values: Mapping[str, Iterable[Stretch]]) -> set[tuple[frozenset[str], int, int]]:
    """Every longest stretch in which the same two or more values hold, each in stretches that do not touch."""
    facts = [(value, *s) for value, stretches in values.items() for s in stretches]
    found: set[tuple[frozenset[str], int, int]] = set()
    running: tuple[frozenset[tuple[str, int, int]], int] | None = None
    for year in sorted({y for _, start, end in facts for y in (start, end)}):
        live = frozenset(fact for fact in facts if fact[1] <= year < fact[2])
        if running is not None and running[0] != live:
            if len(running[0]) > 1:
                found.add((frozenset(value for value, *_ in running[0]), running[1], year))
            running = None
        if running is None:
            running = (live, year)
    return found


def years_of(fact: Any) -> Stretch:
    """The years in which a fact of the engine holds."""
    start = EVER if fact.start_basis == "always" else int(str(fact.valid_from)[:4])
    return start, OPEN if fact.valid_to is None else int(str(fact.valid_to)[:4])


def timelines(facts: Iterable[Any]) -> dict[tuple[str, str], dict[str, list[Stretch]]]:
    """The stretches of every value, by the labels of subject, and by predicate."""
    found: dict[tuple[str, str], dict[str, list[Stretch]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        found[fact.subject.label, fact.predicate][fact.object.label].append(years_of(fact))
    return {key: {value: sorted(stretches) for value, stretches in values.items()} for key, values in found.items()}
