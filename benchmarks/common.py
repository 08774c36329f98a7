"""What the benchmarks share: seeded data of a given size, the same data in a hand-written SQLite file, fair timing.

The data is that of a small world over a quarter of a century. Half of the facts are successive values of predicates
that take one value at a time (about four per subject and predicate), half are overlapping values of predicates that
take many. Subjects and objects follow a power law, so that a few entities have very many facts. Ten facts an entity.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import semgraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 7
ONE = ("paymaster", "home_town", "tutor", "boss", "rank_held", "chair", "site", "proprietor", "party", "club")
ONE = (*ONE, "passport", "school", "standing", "tariff", "keeper")
MANY = ("acquainted_with", "called_on", "spoke_to", "fond_of", "wrote", "backed", "quotes", "works_beside", "faulted")
MANY = (*MANY, "bought_of", "sold_to", "funded", "named", "went_to", "delivers_to")
PREDICATES = (*ONE, *MANY)
OPEN = 2**62
FIRST, LAST = 946_684_800, 1_767_225_600  # 2000 until 2026, in seconds
_SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "hal",
    "jen",
    "kir",
    "lom",
    "mun",
    "nar",
    "pev",
    "quin",
    "ros",
    "sut",
    "wex",
)
_QUALITIES = (
    "annual",
    "brief",
    "cautious",
    "early",
    "final",
    "guarded",
    "hurried",
    "internal",
    "joint",
    "late",
    "open",
)
_OCCASIONS = (
    "accord",
    "appeal",
    "board",
    "claim",
    "debate",
    "election",
    "fair",
    "grant",
    "hearing",
    "launch",
    "merger",
)
_DAY = 86_400
_NO_END = np.iinfo(np.int64).max


@dataclass(frozen=True)
class World:
    """Facts as columns, by time of start: numbers of entities and predicates, seconds, and a sentence for each."""

    names: list[str]
    subject: NDArray[np.int64]
    predicate: NDArray[np.int64]
    object: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]  # OPEN where there is none
    confidence: NDArray[np.float64]
    source: NDArray[np.int64]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.subject)

    def text(self, row: int) -> str:
        """The sentence from which a fact was taken."""
        first, second = divmod(int(self.words[row]), len(_OCCASIONS))
        said = PREDICATES[self.predicate[row]].replace("_", " ")
        who, whom = self.names[self.subject[row]], self.names[self.object[row]]
        return f"{who} {said} {whom} as the {_QUALITIES[first]} {_OCCASIONS[second]} went on record that year"

    def claims(self) -> Iterator[dict[str, Any]]:
        """The facts as claims for `add_all`."""
        columns = (self.subject, self.predicate, self.object, self.start, self.end, self.confidence, self.source)
        for row, (s, p, o, start, end, confidence, source) in enumerate(
            zip(*(c.tolist() for c in columns), strict=True)
        ):
            yield {
                "subject": self.names[s],
                "predicate": PREDICATES[p],
                "object": self.names[o],
                "valid_from": semgraph.from_epoch(start),
                "valid_to": None if end == OPEN else semgraph.from_epoch(end),
                "said_at": semgraph.from_epoch(start),
                "confidence": confidence,
                "source": f"imported:{source}",
                "text": self.text(row),
            }

    def columns(self) -> dict[str, Any]:
        """The same claims as columns for `add_columns`: numpy arrays of moments and confidences, lists of texts."""
        names, end = np.array(self.names, object), np.where(self.end == OPEN, _NO_END, self.end * 1_000_000)
        return {
            "subject": names[self.subject],
            "predicate": np.array(PREDICATES, object)[self.predicate],
            "object": names[self.object],
            "valid_from_us": self.start * 1_000_000,
            "valid_to_us": end,
            "said_at_us": self.start * 1_000_000,
            "confidence": self.confidence,
            "source": [f"imported:{number}" for number in self.source.tolist()],
            "text": [self.text(row) for row in range(len(self))],
        }

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The facts as rows of the hand-written table."""
        columns = (self.subject, self.predicate, self.object, self.start, self.end, self.confidence, self.source)
        for row, values in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            yield (row, *values, self.text(row))


def world(facts: int, seed: int = SEED) -> World:
    """A world with so many facts, always the same for a seed."""
    rng = np.random.default_rng(seed)
    entities = max(20, facts // 10)
    tall, short = rng.permutation(entities), rng.permutation(entities)
    single = facts // 2
    holders = tall[: max(5, entities // 10)]
    cell = holders[_by_rank(rng, len(holders), single, 0.5)] * len(ONE) + rng.integers(0, len(ONE), single)
    begun = FIRST + rng.integers(0, LAST - FIRST, single)
    order = np.lexsort((begun, cell))
    cell, begun = cell[order], _apart(cell[order], begun[order])
    follows = np.append(cell[1:] == cell[:-1], False)
    ended = np.where(follows, np.append(begun[1:], OPEN), OPEN)
    stops = ~follows & (rng.random(single) < 0.3)
    ended[stops] = begun[stops] + rng.integers(_DAY, 1500 * _DAY, int(stops.sum()))
    several = facts - single
    met = FIRST + rng.integers(0, LAST - FIRST, several)
    parted = np.where(rng.random(several) < 0.6, OPEN, met + rng.integers(_DAY, 2500 * _DAY, several))
    subject = np.concatenate([cell // len(ONE), tall[_by_rank(rng, entities, several, 0.8)]])
    predicate = np.concatenate([cell % len(ONE), rng.integers(len(ONE), len(PREDICATES), several)])
    target = short[_by_rank(rng, entities, facts, 0.8)]
    target = np.where(target == subject, (target + 1) % entities, target)
    start, end = np.concatenate([begun, met]), np.concatenate([ended, parted])
    order = np.argsort(start, kind="stable")
    return World(
        [_name(number) for number in range(entities)],
        *(column[order] for column in (subject, predicate, target, start, end)),
        np.round(0.5 + rng.random(facts) * 0.45, 3),
        rng.integers(0, 50, facts),
        rng.integers(0, len(_QUALITIES) * len(_OCCASIONS), facts),
    )


def _by_rank(rng: np.random.Generator, size: int, count: int, steepness: float) -> NDArray[np.int64]:
    """Ranks below `size`, low ones more often."""
    weight = np.cumsum(1.0 / np.arange(1, size + 1) ** steepness)
    return np.minimum(np.searchsorted(weight / weight[-1], rng.random(count)), size - 1)


def _apart(cell: NDArray[np.int64], begun: NDArray[np.int64]) -> NDArray[np.int64]:
    """Starts in which no two of one cell fall together."""
    begun = begun.copy()
    while (late := np.flatnonzero((cell[1:] == cell[:-1]) & (begun[1:] <= begun[:-1]))).size:
        begun[late + 1] = begun[late] + 1
    return begun


def _name(number: int) -> str:
    """A first and a last name that no other number has."""
    parts = []
    for _ in range(4):
        number, place = divmod(number, len(_SYLLABLES))
        parts.append(_SYLLABLES[place])
    tail = "" if not number else f" {number + 1}"
    return f"{parts[0]}{parts[1]} {parts[2]}{parts[3]}".title() + tail


# -- stores


def defined(kg: semgraph.KnowledgeGraph) -> semgraph.KnowledgeGraph:
    """The graph with the predicates of the world defined."""
    for name in PREDICATES:
        kg.predicates.define(name, cardinality="one" if name in ONE else "many")
    return kg


def by_hand(path: Path, data: World, *, text_index: bool = False) -> sqlite3.Connection:
    """The world in a table as a competent user writes it: two indexes, and a text index if asked for."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -262144;"
        "PRAGMA mmap_size = 4000000000;"
        "CREATE TABLE entity (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE predicate (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE fact (id INTEGER PRIMARY KEY, s INT, p INT, o INT, start INT, stop INT, confidence REAL,"
        " source INT, text TEXT)"
    )
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO entity VALUES (?, ?)", enumerate(data.names))
    connection.executemany("INSERT INTO predicate VALUES (?, ?)", enumerate(PREDICATES))
    connection.executemany("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", data.rows())
    connection.execute("COMMIT")
    connection.executescript(
        "CREATE UNIQUE INDEX entity_name ON entity (name); CREATE UNIQUE INDEX predicate_name ON predicate (name);"
        "CREATE INDEX fact_out ON fact (s, p, start); CREATE INDEX fact_in ON fact (o, start);"
    )
    if text_index:
        connection.executescript(
            "CREATE VIRTUAL TABLE words USING fts5(text, content='fact', content_rowid='id');"
            "INSERT INTO words (words) VALUES ('rebuild')"
        )
    connection.executescript("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)")
    return connection


# -- timing


def interleaved(
    questions: Sequence[tuple[Any, ...]],
    *ways: Callable[..., object],
    rounds: int = 9,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds a question of each way, the best of some rounds in which the ways take turns with a share each.

    The best, because a machine that does other things too adds time and never takes any away. What waits for nothing
    can be measured by the time of its thread instead, which other jobs disturb less.
    """
    share = max(1, len(questions) // rounds)
    spent: list[list[float]] = [[] for _ in ways]
    for turn in range(rounds):
        part = questions[turn * share : (turn + 1) * share] or questions
        for place in range(len(ways)):
            at = (place + turn) % len(ways)
            way = ways[at]
            began = clock()
            for question in part:
                way(*question)
            spent[at].append((clock() - began) / len(part))
    return [min(each) for each in spent]


def machine() -> str:
    """What the figures were measured on, in words."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):  # noqa: PTH110 - one file of a system that has it
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    python = f"CPython {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"{os.cpu_count()} × {model}, {platform.system()}, {python}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table, the first one its head."""
    head, *rest = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rest))
