"""Single durable writes that contradict what holds, groups of them, and what a write costs as its fluent grows.

    python -m benchmarks.writes [FACTS]

Every way does the same work on the same world in turns: find what is open for a subject and predicate, close it, keep
the new value with its sentence. By hand that is a table with two indexes and a text index.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
import zlib
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import (
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
from semgraph import KnowledgeGraph, from_epoch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Question = tuple[int, int, int, int]  # subject, predicate, object, start
_GROUP = 100
_SINGLE = 450
_BUDGET = 60.0  # seconds that one row of growth may take


def questions(data: World, count: int, begun: int) -> list[Question]:
    """Changes of what is open at the end, in an order that no store can foresee."""
    one = [n for n in range(len(data)) if data.end[n] == OPEN and PREDICATES[data.predicate[n]] in ONE]
    step = 7919
    cells = [one[(k * step) % len(one)] for k in range(count)]
    objects = len(data.names)
    return [
        (int(data.subject[n]), int(data.predicate[n]), (int(data.object[n]) + 1 + k) % objects, begun + 60 * k)
        for k, n in enumerate(cells)
    ]


class ByHand:
    """The writes as a competent user writes them with sqlite3."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        ((self.next,),) = self.connection.execute("SELECT max(id) + 1 FROM fact")

    def change(self, s: int, p: int, o: int, start: int) -> None:
        """Close what is open and keep the new value."""
        run, text = self.connection.execute, f"{s} said {p} of {o} as the annual hearing went on record that year"
        for (row,) in run("SELECT id FROM fact WHERE s = ? AND p = ? AND stop = ?", (s, p, OPEN)).fetchall():
            run("UPDATE fact SET stop = ? WHERE id = ?", (start, row))
        run("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (self.next, s, p, o, start, OPEN, 0.9, 1, text))
        run("INSERT INTO words (rowid, text) VALUES (?, ?)", (self.next, text))
        self.next += 1

    def one(self, *question: int) -> None:
        """One change, durable where the connection makes it so."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.change(*question)
        self.connection.execute("COMMIT")

    def group(self, *asked: Question) -> None:
        """Several changes in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        for question in asked:
            self.change(*question)
        self.connection.execute("COMMIT")


class Graph:
    """The same through semgraph."""

    def __init__(self, path: Path, durability: str, names: Sequence[str]) -> None:
        self.graph = KnowledgeGraph(path, durability=durability)
        self.names = names

    def _words(self, s: int, p: int, o: int, start: int) -> dict[str, object]:
        text = f"{s} said {p} of {o} as the annual hearing went on record that year"
        return {
            "subject": self.names[s],
            "predicate": PREDICATES[p],
            "object": self.names[o],
            "valid_from": from_epoch(start),
            "text": text,
        }

    def one(self, *question: int) -> None:
        """One claim in one transaction."""
        self.graph.add(**self._words(*question))  # type: ignore[arg-type]  # the words of add

    def group(self, *asked: Question) -> None:
        """Claims one by one in one transaction."""
        with self.graph.atomic():
            for question in asked:
                self.one(*question)

    def batch(self, *asked: Question) -> None:
        """Claims as one set."""
        self.graph.add_all([self._words(*question) for question in asked])


def raw(path: Path) -> Callable[..., None]:
    """The least that a durable write can be: a record with a checksum at the end of a file, and fdatasync."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def append(s: int, p: int, o: int, start: int) -> None:
        record = struct.pack("<qqqq", s, p, o, start) + b"as the annual hearing went on record that year"
        os.write(file, struct.pack("<II", len(record), zlib.crc32(record)) + record)
        os.fdatasync(file)

    return append


def duck(path: Path, data: World) -> Callable[..., None] | None:
    """The same table in duckdb, with an index; None where it is not installed."""
    if find_spec("duckdb") is None:
        return None
    import duckdb

    connection = duckdb.connect(str(path))
    connection.execute(
        "CREATE TABLE fact (id BIGINT PRIMARY KEY, s BIGINT, p BIGINT, o BIGINT, start BIGINT, stop BIGINT, "
        "confidence DOUBLE, source BIGINT, text VARCHAR)"
    )
    rows = list(data.rows())
    for first in range(0, len(rows), 10_000):
        part = rows[first : first + 10_000]
        spread = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(part))
        connection.execute(f"INSERT INTO fact VALUES {spread}", [v for row in part for v in row])  # noqa: S608
    connection.execute("CREATE INDEX fact_out ON fact (s, p)")
    following = iter(range(len(rows), 2**62))

    def change(s: int, p: int, o: int, start: int) -> None:
        connection.execute("BEGIN")
        connection.execute("UPDATE fact SET stop = ? WHERE s = ? AND p = ? AND stop = ?", [start, s, p, OPEN])
        values = [next(following), s, p, o, start, OPEN, 0.9, 1, "as the annual hearing went on record"]
        connection.execute("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        connection.execute("COMMIT")

    return change


def singles(folder: Path, data: World) -> list[list[str]]:
    """Milliseconds of one change, each way in turn."""
    prepared = folder / "graph.db"
    with defined(KnowledgeGraph(prepared)) as kg:
        kg.add_all(data.claims(), batch_size=50_000)
    for name in ("relaxed", "full"):
        shutil.copy(prepared, folder / f"{name}.db")
    for name in ("NORMAL", "FULL"):
        by_hand(folder / f"hand-{name}.db", data, text_index=True).close()
    full, relaxed = (Graph(folder / f"{name}.db", name, data.names) for name in ("full", "relaxed"))
    hand, loose = (ByHand(folder / f"hand-{name}.db", name) for name in ("FULL", "NORMAL"))
    ways: dict[str, Callable[..., object]] = {
        "semgraph full": full.one,
        "sqlite3 FULL by hand": hand.one,
        "append + fdatasync": raw(folder / "raw"),
        "semgraph relaxed": relaxed.one,
        "sqlite3 NORMAL by hand": loose.one,
    }
    if (other := duck(folder / "duck.db", data)) is not None:
        ways["duckdb"] = other
    asked = questions(data, _SINGLE, LAST)
    spent = dict(zip(ways, interleaved(asked, *ways.values()), strict=True))
    rows = [["one write with a contradiction", "ms", "of hand sqlite3, same durability"]]
    for name, seconds in spent.items():
        base = spent[
            "sqlite3 NORMAL by hand" if name.endswith(("relaxed", "NORMAL by hand")) else "sqlite3 FULL by hand"
        ]
        rows.append([name, f"{seconds * 1e3:.3f}", f"{base / seconds:.2f}×"])
    groups = questions(data, _GROUP * 9, LAST + 60 * _SINGLE)
    chunks = [tuple(groups[n : n + _GROUP]) for n in range(0, len(groups), _GROUP)]
    many = {"semgraph add_all": relaxed.batch, "semgraph atomic": full.group, "sqlite3 by hand": loose.group}
    for name, seconds in zip(many, interleaved(chunks, *many.values()), strict=True):
        rows.append([f"{name}, {_GROUP} a commit", f"{seconds * 1e3 / _GROUP:.4f} each", f"{_GROUP / seconds:,.0f} /s"])
    return rows


def growth() -> list[list[str]]:
    """What the n-th change of one fluent costs, and what looking after a long one does."""
    rows = [["growth", "n", "ms"]]
    begun = datetime(1900, 1, 1, tzinfo=UTC)
    with KnowledgeGraph() as kg:
        spent: list[float] = []
        for day in range(10_000):
            start = time.perf_counter()
            kg.add("Ann", "lives_in", f"Town {day % 97}", valid_from=begun + timedelta(days=day))
            spent.append(time.perf_counter() - start)
            if day + 1 in (10, 100, 1_000, 10_000):
                rows.append(["the n-th change of a fluent", f"{day + 1:,}", f"{sorted(spent[-10:])[5] * 1e3:.2f}"])
    with KnowledgeGraph() as kg:
        for day in range(2_000):
            kg.add("Ann", "lives_in", f"Town {day % 97}", valid_from=begun + timedelta(days=day))
        start = time.perf_counter()
        assert kg.verify() == []
        rows.append(["verify of a fluent of n claims", "2,000", f"{(time.perf_counter() - start) * 1e3:.0f}"])
    for ways in (100, 1_000):
        rows += conflict(ways)
    return rows


def conflict(ways: int) -> list[list[str]]:
    """The last write of so many that contradict one another, and a look at the whole conflict."""
    with KnowledgeGraph() as kg:
        began = last = time.perf_counter()
        for number in range(ways):
            last = time.perf_counter()
            kg.add(
                "Ann", "lives_in", f"Town {number}", valid_from="2020", source=f"tool:{number}", said_at="2020-06-01"
            )
            if time.perf_counter() - began > _BUDGET:
                return [
                    [
                        f"{ways}-way conflict",
                        f"stopped at {number + 1}",
                        f"{(time.perf_counter() - last) * 1e3:.0f} a write",
                    ]
                ]
        rows = [[f"the last write of a {ways}-way conflict", f"{ways:,}", f"{(time.perf_counter() - last) * 1e3:.1f}"]]
        start = time.perf_counter()
        (found,) = kg.conflicts()
        assert len(found.facts) == ways
        return [*rows, ["reading it", f"{ways:,}", f"{(time.perf_counter() - start) * 1e3:.0f}"]]


def main(facts: int = 100_000) -> None:
    """Print the tables."""
    print(f"{facts:,} facts, seed {SEED}; {machine()}; {datetime.now(UTC):%Y-%m-%d}\n")
    with tempfile.TemporaryDirectory() as folder:
        print(table(singles(Path(folder), world(facts))), end="\n\n")
    print(table(growth()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
