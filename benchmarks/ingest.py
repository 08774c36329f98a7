"""How fast facts come in, in bulk, and how much room they take: goals a and disk.

    python -m benchmarks.ingest            # 100,000 facts
    python -m benchmarks.ingest 1000000 --rounds 1

The same seeded world goes into semgraph and into what a competent user would write by hand, in durable files, taking
turns within one run; what counts is the time of the processor, which other jobs disturb least. Peers keep a table of
facts; semgraph keeps claims, facts, entities and their names, digests, and answers afterwards what changed and why.
duckdb is measured where it is installed.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import SEED, defined, machine, table, world
from semgraph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.common import World
    from semgraph.model import Batch

_CREATE = (
    "CREATE TABLE fact (id INTEGER PRIMARY KEY, s INTEGER, p INTEGER, o INTEGER, start BIGINT, stop BIGINT,"
    " confidence REAL, source INTEGER, text TEXT)"
)
_INDEXES = "CREATE INDEX fact_out ON fact (s, p, start); CREATE INDEX fact_in ON fact (o, start);"
_WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content='fact', content_rowid='id');"
    "INSERT INTO words (words) VALUES ('rebuild');"
)


def objects(path: Path, data: World) -> float:
    """A list of mappings, as a program has them; making the list is not counted."""
    claims = list(data.claims())
    return _timed(path, data, lambda graph: graph.add_all(claims))


def columns(path: Path, data: World) -> float:
    """The same as columns."""
    given = data.columns()
    return _timed(path, data, lambda graph: graph.add_columns(given))


def _timed(path: Path, data: World, load: Callable[[KnowledgeGraph], Batch]) -> float:
    """Seconds of a load that takes in everything."""
    with defined(KnowledgeGraph(path)) as graph:
        began = time.process_time()
        counts = load(graph).counts
        spent = time.process_time() - began
        assert sum(counts.values()) == len(data)
        assert "rejected" not in counts
    return spent


def by_sqlite(more: str) -> Callable[[Path, World], float]:
    """A hand-written table of sqlite3, and what is built over it."""

    def load(path: Path, data: World) -> float:
        rows = list(data.rows())
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144")
        began = time.process_time()
        connection.execute("BEGIN")
        connection.execute(_CREATE)
        connection.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        connection.executemany("INSERT INTO entity VALUES (?, ?)", enumerate(data.names))
        connection.executemany("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        for statement in filter(None, more.split(";")):
            connection.execute(statement)
        connection.execute("COMMIT")
        spent = time.process_time() - began
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return spent

    return load


def by_duckdb(path: Path, data: World) -> float:
    """Columns into duckdb by way of arrow, with two indexes."""
    import duckdb
    import pyarrow as pa

    rows = list(zip(*data.rows(), strict=True))
    names = ("id", "s", "p", "o", "start", "stop", "confidence", "source", "text")
    columns = pa.table(dict(zip(names, rows, strict=True)))
    connection = duckdb.connect(str(path))
    began = time.process_time()
    connection.register("columns", columns)
    connection.execute("CREATE TABLE fact AS SELECT * FROM columns")
    connection.execute("CREATE INDEX fact_out ON fact (s, p)")
    connection.execute("CREATE INDEX fact_in ON fact (o)")
    connection.execute("CHECKPOINT")
    spent = time.process_time() - began
    connection.close()
    return spent


WAYS: dict[str, Callable[[Path, World], float]] = {
    "semgraph, columns": columns,
    "semgraph, objects": objects,
    "sqlite3, key only": by_sqlite(""),
    "sqlite3, 2 indexes": by_sqlite(_INDEXES),
    "sqlite3, 2 indexes + FTS5": by_sqlite(_INDEXES + _WORDS),
    "duckdb, 2 indexes": by_duckdb,
}


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("facts", type=int, nargs="?", default=100_000)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    data = world(given.facts)
    ways = dict(WAYS)
    if importlib.util.find_spec("duckdb") is None or importlib.util.find_spec("pyarrow") is None:
        print("duckdb or pyarrow is not installed: left out")
        del ways["duckdb, 2 indexes"]
    spent: dict[str, list[float]] = {name: [] for name in ways}
    size: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(given.rounds):
            for name, way in ways.items():
                path = Path(folder) / "facts.db"
                gc.collect()
                spent[name].append(way(path, data))
                size[name] = path.stat().st_size / given.facts
                path.unlink()
            print(f"round {turn + 1} of {given.rounds} done")
    rate = {name: given.facts / statistics.median(each) for name, each in spent.items()}
    print(f"\n{given.facts:,} facts, seed {SEED}, {machine()}, median of {given.rounds}\n")
    rows = [("way", "facts/s of processor time", "columns are", "objects are", "bytes a fact")]
    rows += [
        (
            name,
            f"{rate[name]:,.0f}",
            *(f"{rate[f'semgraph, {form}'] / rate[name]:.2f} times" for form in ("columns", "objects")),
            f"{size[name]:.0f}",
        )
        for name in ways
    ]
    print(table(rows))
    print(
        "\nGoals: columns 1.2 times sqlite3 with 2 indexes + FTS5 and 1.5 times duckdb; objects 150,000/s; "
        "200 bytes a fact without text index."
    )


if __name__ == "__main__":
    main()
