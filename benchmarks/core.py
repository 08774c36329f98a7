"""The speed of single reads against SQLite written by hand, on the same data, in turns: goals c, d, e, k and disk.

    python -m benchmarks.core [FACTS ...] [--columns FACTS ...] [--seed 7] [--folder FOLDER]

Sizes default to 10,000 and 100,000 facts; files of an earlier run in the folder are read again rather than made. What
is compared gives the same answers, from names to names: `value` with a join of two look-ups by name, `at().value` with
the same and two bounds, `timeline` with the rows of a subject as dated, named tuples (where the table has a value twice
over times that meet, the graph has one fact, so some of these differ): of any subjects, most of which have few facts,
as asked about before and as read for the first time, and of subjects as often as they have facts, which are long ones.
Both stores are warm, and what counts is the time of the thread; for k the whole processes are compared by the clock,
interpreter start included.
`--columns` are sizes at which a look-up in the columns alone is timed, to see that it stays flat.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import (
    FIRST,
    LAST,
    ONE,
    OPEN,
    PREDICATES,
    SEED,
    World,
    by_hand,
    defined,
    interleaved,
    machine,
    table,
    world,
)
from semgraph import KnowledgeGraph
from semgraph.index.columns import Columns
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_QUESTIONS, _SUBJECTS, _LONG = 4500, 900, 90
_CURRENT = """
    SELECT o.name, f.text FROM fact AS f JOIN entity AS o ON o.id = f.o
    WHERE f.s = (SELECT id FROM entity WHERE name = ?) AND f.p = (SELECT id FROM predicate WHERE name = ?)
    AND f.start <= ? AND f.stop > ? ORDER BY f.start DESC LIMIT 1"""
_TIMELINE = """
    SELECT p.name, o.name, f.start, f.stop, f.text FROM fact AS f
    JOIN entity AS o ON o.id = f.o JOIN predicate AS p ON p.id = f.p
    WHERE f.s = (SELECT id FROM entity WHERE name = ?) ORDER BY f.start, f.stop, o.name"""
_SCRIPT = f"""
import sqlite3, sys, time
found = sqlite3.connect(sys.argv[1]).execute('''{_CURRENT}''', (*sys.argv[2:4], time.time(), time.time())).fetchone()
print(found[0] if found else "")
"""


_ENTRY = "import sys; from semgraph.__main__ import main; sys.exit(main())"  # what the installed command does


class Pair:
    """A graph and a hand-written table with the same facts."""

    def __init__(self, facts: int, seed: int, folder: Path) -> None:
        self.data: World = world(facts, seed)
        self.graph_path = folder / f"semgraph-bench-{facts}-{seed}.db"
        self.hand_path = folder / f"sqlite-bench-{facts}-{seed}.db"
        if not self.graph_path.exists():
            self._load()
        if not self.hand_path.exists():
            by_hand(self.hand_path, self.data).close()
        self.kg = KnowledgeGraph(self.graph_path)
        self.hand = sqlite3.connect(self.hand_path, isolation_level=None)
        self.hand.executescript("PRAGMA cache_size = -262144; PRAGMA mmap_size = 4000000000")

    def _load(self) -> None:
        part = self.graph_path.with_suffix(".part")
        with defined(KnowledgeGraph(part, durability="relaxed")) as kg:
            kg.add_columns(self.data.columns())
        part.rename(self.graph_path)

    def current(self, subject: str, predicate: str) -> object:
        """Goal c, ours."""
        return self.kg.value(subject, predicate)

    def current_by_hand(self, subject: str, predicate: str) -> object:
        """Goal c, theirs."""
        now = int(time.time())
        found = self.hand.execute(_CURRENT, (subject, predicate, now, now)).fetchone()
        return found and found[0]

    def as_of(self, subject: str, predicate: str, moment: datetime) -> object:
        """Goal d, ours: a view for each question."""
        return self.kg.at(moment).value(subject, predicate)

    def as_of_by_hand(self, subject: str, predicate: str, moment: datetime) -> object:
        """Goal d, theirs."""
        instant = int(moment.timestamp())
        found = self.hand.execute(_CURRENT, (subject, predicate, instant, instant)).fetchone()
        return found and found[0]

    def timeline(self, subject: str) -> list[tuple[Any, ...]]:
        """Goal e, ours, each fact looked at."""
        return [
            (f.predicate, f.object.label, f.valid_from.instant, f.valid_to and f.valid_to.instant)  # type: ignore[union-attr]
            for f in self.kg.timeline(subject)
            if f.subject.label == subject
        ]

    def first_timeline(self, subject: str) -> list[tuple[Any, ...]]:
        """The same where nothing is remembered of an earlier read."""
        self.kg._session.recent.clear()  # noqa: SLF001 - what a write would do
        return self.timeline(subject)

    def timeline_by_hand(self, subject: str) -> list[tuple[Any, ...]]:
        """Goal e, theirs."""
        return [
            (predicate, label, start * 1_000_000, None if stop == OPEN else stop * 1_000_000)
            for predicate, label, start, stop, _ in self.hand.execute(_TIMELINE, (subject,)).fetchall()
        ]

    def cells(self, seed: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """For c and d: subjects and predicates with one value, and the same with moments."""
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        data = self.data
        single = [row for row, predicate in enumerate(data.predicate.tolist()) if predicate < len(ONE)]
        rows = [rng.choice(single) for _ in range(_QUESTIONS)]
        cells = [(data.names[data.subject[row]], PREDICATES[data.predicate[row]]) for row in rows]
        return cells, [(*cell, datetime.fromtimestamp(rng.randrange(FIRST, LAST), UTC)) for cell in cells]

    def subjects(self, seed: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """For e: any subjects, and subjects as often as they have facts."""
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        any_of, rows = np.unique(self.data.subject).tolist(), self.data.subject.tolist()
        picked = ([rng.choice(of) for _ in range(count)] for of, count in ((any_of, _SUBJECTS), (rows, _LONG)))
        short, long = ([(self.data.names[number],) for number in numbers] for numbers in picked)
        return short, long


def measured(pair: Pair, seed: int) -> Iterator[list[str]]:
    """A row for each goal: what it is, seconds of both, and their ratio."""
    cells, dated = pair.cells(seed)
    subjects, long = pair.subjects(seed)
    with pair.kg._session.read():  # noqa: SLF001 - what enough reads would do by themselves
        began = time.perf_counter()
        pair.kg._session.columns(reads=sys.maxsize)  # noqa: SLF001
        loaded = time.perf_counter() - began
    size = len(pair.data)
    yield ["columns loaded", f"{size:,}", f"{loaded:.2f} s", "", ""]
    yield _row("c current", size, pair.current, pair.current_by_hand, cells)
    yield _row("d as-of", size, pair.as_of, pair.as_of_by_hand, dated)
    yield _row("e timeline", size, pair.timeline, pair.timeline_by_hand, subjects)
    yield _row("e timeline, first read", size, pair.first_timeline, pair.timeline_by_hand, subjects)
    yield _row("e long timeline, first read", size, pair.first_timeline, pair.timeline_by_hand, long)
    yield _cold(pair, next(cell for cell in cells if pair.current(*cell) is not None))
    ours, theirs = (path.stat().st_size / size for path in (pair.graph_path, pair.hand_path))
    yield ["disk", f"{size:,}", f"{ours:.0f} B a fact", f"{theirs:.0f} B", f"{theirs / ours:.2f}"]


def _row(
    what: str, size: int, ours: Callable[..., object], theirs: Callable[..., object], asked: list[tuple[Any, ...]]
) -> list[str]:
    differ = sum(1 for question in asked if ours(*question) != theirs(*question))  # and warms both
    mine, other = interleaved(asked, ours, theirs, clock=time.thread_time)
    note = f" ({differ} of {len(asked)} answers differ)" if differ else ""
    return [what + note, f"{size:,}", f"{mine * 1e6:.1f} µs", f"{other * 1e6:.1f} µs", f"{other / mine:.2f}"]


def _cold(pair: Pair, cell: tuple[Any, ...]) -> list[str]:
    command = [sys.executable, "-c", _ENTRY, "--db", str(pair.graph_path), "value", *cell]
    script = [sys.executable, "-c", _SCRIPT, str(pair.hand_path), *cell]

    def run(arguments: list[str]) -> Callable[[], object]:
        return lambda: subprocess.run(arguments, check=True, capture_output=True)  # noqa: S603 - ours

    mine, other = interleaved([()], run(command), run(script))
    return [
        "k cold answer",
        f"{len(pair.data):,}",
        f"{mine * 1e3:.0f} ms",
        f"{other * 1e3:.0f} ms",
        f"{other / mine:.2f}",
    ]


def flat(facts: int, seed: int) -> list[str]:
    """What a look-up of one subject and predicate at a moment takes in columns of a size, and their bytes a fact."""
    data = world(facts, seed)
    order = np.lexsort((data.start, data.predicate, data.subject))
    end = np.where(data.end == OPEN, POS_INF, data.end * 1_000_000)
    rows = [data.subject, data.predicate, data.object, data.start * 1_000_000, end, np.zeros(facts, np.uint8)]
    columns = Columns(np.arange(len(data.names)), PREDICATES, [column[order] for column in rows])
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    single = np.flatnonzero(data.predicate < len(ONE))
    picked = [int(single[rng.randrange(len(single))]) for _ in range(_QUESTIONS)]
    asked = [
        (int(data.subject[row]), int(data.predicate[row]), rng.randrange(FIRST, LAST) * 1_000_000) for row in picked
    ]
    (spent,) = interleaved(asked, columns.holding, clock=time.thread_time)
    held = sum(each.nbytes for each in vars(columns).values() if isinstance(each, np.ndarray)) / facts
    return ["columns alone", f"{facts:,}", f"{spent * 1e6:.1f} µs", f"{held:.0f} B a fact in memory", ""]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="single reads against SQLite written by hand")
    parser.add_argument("facts", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--columns", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()))
    given = parser.parse_args()
    head = ["goal", "facts", "semgraph", "sqlite3 by hand", "ratio"]
    print(f"{datetime.now(UTC):%d %b %Y}, seed {given.seed}, {machine()}\n\n{table([head])}", flush=True)
    for facts in given.facts:
        for row in measured(Pair(facts, given.seed, given.folder), given.seed):
            print(table([row]).partition("\n")[0], flush=True)
    for facts in given.columns:
        print(table([flat(facts, given.seed)]).partition("\n")[0], flush=True)


if __name__ == "__main__":
    main()
