"""Walks, shortest paths and snapshots against what users would pick instead, in one interleaved run.

python -m benchmarks.graph 100000 [1000000 …]

Every engine holds the same facts. They take turns with all the questions of a kind, and their answers are compared.
semgraph gives what its API gives (labelled entities in order of name, the most confident path), the others node numbers
or counts; "1 hop, names" and "path, best" have sqlite3 give the same as well. An engine that is not installed is left
out with a word.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np

import semgraph
from benchmarks.common import FIRST, LAST, OPEN, PREDICATES, SEED, World, by_hand, machine, table, world

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    Way = Callable[..., Any]
    Best = tuple[int, float] | None  # entities on a path, and its confidence

HOPS = (1, 2, 3)
ASKED = 60  # questions of each kind
ROUNDS = 3  # of which the best counts, since the machine has other work
GOALS = {  # the ratio to the best peer, or to those named
    "1 hop": ("2.5 × sqlite3", ("sqlite3",), 2.5),
    "1 hop, names": ("2.5 × sqlite3", ("sqlite3",), 2.5),
    "2 hops": ("5 × best", (), 5.0),
    "3 hops": ("10 × ladybug, duckdb", ("ladybug", "duckdb"), 10.0),
    "path": ("2.5 × sqlite3, 50 × ladybug", ("sqlite3",), 2.5),
    "path, best": ("2.5 × sqlite3", ("sqlite3",), 2.5),
    "snapshot, columns": ("5 × duckdb", ("duckdb",), 5.0),
    "snapshot, networkx": ("3 × add_edges_from", ("networkx",), 3.0),
}


class Question(NamedTuple):
    """Two entities and a second since 1970."""

    near: int
    far: int
    at: int


class Ours:
    """semgraph through its API, on a file as sqlite3 is: each answer makes sure that nobody has written meanwhile."""

    def __init__(self, data: World, folder: Path) -> None:
        self.names = data.names
        self.kg = semgraph.KnowledgeGraph(folder / "graph.db", durability="relaxed")
        for name in PREDICATES:  # every interval is stated, so "many" holds the same facts and loads sooner
            self.kg.predicates.define(name, cardinality="many")
        self.kg.add_columns(data.columns())
        self.kg.edges()

    def view(self, q: Question) -> Any:
        """The view is made outside the clock, as the others' statements are prepared."""
        return self.kg.at(semgraph.from_epoch(q.at))

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""

        def hop(k: int) -> Way:
            return lambda q, view: len(view.neighbors(self.names[q.near], hops=k, direction="any", limit=10**9))

        def names(q: Question, view: Any) -> list[str]:
            found = view.neighbors(self.names[q.near], direction="any", limit=10**9)
            return [near.entity.label for near in found]

        def paths(q: Question, view: Any) -> Any:
            return view.paths(self.names[q.near], self.names[q.far], direction="any", limit=1, cutoff=8)

        def path(q: Question, view: Any) -> int:
            found = view.distance(self.names[q.near], self.names[q.far], direction="any", cutoff=8)
            return -1 if found is None else found

        def best(q: Question, view: Any) -> Best:
            found = paths(q, view)
            return (len(found[0].entities), round(found[0].confidence, 9)) if found else None

        def columns(view: Any) -> int:
            edges = view.edges()  # which takes each column when asked for: the three that the others give
            return min(map(len, (edges.subject, edges.predicate, edges.object)))

        return {f"{k} hop{'s' * (k > 1)}": hop(k) for k in HOPS} | {
            "1 hop, names": names,
            "path": path,
            "path, best": best,
            "snapshot, columns": lambda _, view: columns(view),
            "snapshot, networkx": lambda _, view: view.to_networkx().number_of_edges(),
        }


class Sqlite:
    """sqlite3 as a competent user writes it: breadth first in Python, from both ends for a path."""

    _NEAR = (
        "SELECT o FROM fact WHERE s = ?1 AND start <= ?2 AND stop > ?2 "
        "UNION ALL SELECT s FROM fact WHERE o = ?1 AND start <= ?2 AND stop > ?2"
    )
    _NAMES = _NEAR.join(("SELECT name FROM entity WHERE id <> ?1 AND id IN (", ")"))
    _SURE = _NEAR.replace("SELECT o", "SELECT o, confidence").replace("SELECT s", "SELECT s, confidence")

    def __init__(self, data: World, folder: Path) -> None:
        self.base: sqlite3.Connection = by_hand(folder / "hand.db", data)

    def hop(self, near: int, at: int, hops: int) -> int:
        """How many nodes are within so many hops."""
        seen, level = {near}, [near]
        for _ in range(hops):
            fresh = []
            for node in level:
                for (far,) in self.base.execute(self._NEAR, (node, at)):
                    if far not in seen:
                        seen.add(far)
                        fresh.append(far)
            level = fresh
        return len(seen) - 1

    def path(self, q: Question) -> int:
        """How many steps the shortest path takes, -1 for none."""
        seen, levels, length = ({q.near}, {q.far}), [[q.near], [q.far]], 0
        while levels[0] and levels[1] and length < 8:
            side = 0 if len(levels[0]) <= len(levels[1]) else 1
            length += 1
            fresh = []
            for node in levels[side]:
                for (far,) in self.base.execute(self._NEAR, (node, q.at)):
                    if far in seen[1 - side]:
                        return length
                    if far not in seen[side]:
                        seen[side].add(far)
                        fresh.append(far)
            levels[side] = fresh
        return -1

    def named(self, q: Question) -> list[str]:
        """The names of the nodes one hop away, in order."""
        return sorted((name for (name,) in self.base.execute(self._NAMES, (q.near, q.at))), key=str.casefold)

    def best(self, q: Question) -> Best:
        """The most confident of the shortest paths: its nodes with their names, and its confidence."""
        reached = ({q.near: (1.0, -1)}, {q.far: (1.0, -1)})  # by side and node: confidence, and the node before
        levels, length = [[q.near], [q.far]], 0
        while levels[0] and levels[1] and length < 8:
            side = 0 if len(levels[0]) <= len(levels[1]) else 1
            mine, fresh = reached[side], dict[int, tuple[float, int]]()
            length += 1
            for node in levels[side]:
                for far, confidence in self.base.execute(self._SURE, (node, q.at)):
                    product = mine[node][0] * confidence
                    if far not in mine and product > fresh.get(far, (0.0, 0))[0]:
                        fresh[far] = (product, node)
            mine |= fresh
            levels[side] = list(fresh)
            if met := fresh.keys() & reached[1 - side].keys():
                return self._told(reached, max(met, key=lambda node: reached[0][node][0] * reached[1][node][0]))
        return None

    def _told(self, reached: tuple[dict[int, tuple[float, int]], ...], met: int) -> Best:
        path = [met]
        while (before := reached[0][path[0]][1]) >= 0:
            path.insert(0, before)
        while (before := reached[1][path[-1]][1]) >= 0:
            path.append(before)
        names = [self.base.execute("SELECT name FROM entity WHERE id = ?", (node,)).fetchone() for node in path]
        return len(names), round(reached[0][met][0] * reached[1][met][0], 9)

    def columns(self, q: Question) -> int:
        """The edges that hold, as arrays; how many."""
        rows = self.base.execute("SELECT s, p, o FROM fact WHERE start <= ? AND stop > ?", (q.at, q.at)).fetchall()
        return len(np.array(rows, np.int64))

    def graph(self, q: Question) -> int:
        """The edges that hold, as a MultiDiGraph; how many."""
        found = nx.MultiDiGraph()
        found.add_edges_from(self.base.execute("SELECT s, o, id FROM fact WHERE start <= ? AND stop > ?", (q.at, q.at)))
        return found.number_of_edges()

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""
        return {f"{k} hop{'s' * (k > 1)}": lambda q, _, k=k: self.hop(q.near, q.at, k) for k in HOPS} | {
            "1 hop, names": lambda q, _: self.named(q),
            "path": lambda q, _: self.path(q),
            "path, best": lambda q, _: self.best(q),
            "snapshot, columns": lambda q, _: self.columns(q),
            "snapshot, networkx": lambda q, _: self.graph(q),
        }


class Networkx:
    """A MultiDiGraph with the intervals on its edges, filtered on the way; the snapshot filled by add_edges_from."""

    def __init__(self, data: World) -> None:
        self.graph = nx.MultiDiGraph()
        self.graph.add_nodes_from(range(len(data.names)))
        columns = (data.subject, data.object, data.start, data.end)
        self.graph.add_edges_from(
            (s, o, row, {"start": a, "end": b})
            for row, (s, o, a, b) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
        )

    def near(self, node: int, at: int) -> set[int]:
        """The nodes one hop away."""
        sides = (self.graph.succ[node], self.graph.pred[node])
        return {
            far
            for side in sides
            for far, edges in side.items()
            if any(e["start"] <= at < e["end"] for e in edges.values())
        }

    def hop(self, near: int, at: int, hops: int) -> int:
        """How many nodes are within so many hops."""
        seen, level = {near}, {near}
        for _ in range(hops):
            level = set().union(*(self.near(node, at) for node in level)) - seen
            seen |= level
        return len(seen) - 1

    def snapshot(self, at: int) -> int:
        """The edges that hold, as a MultiDiGraph; how many."""
        edges = self.graph.edges(keys=True, data=True)
        found = nx.MultiDiGraph()
        found.add_edges_from([(u, v, k) for u, v, k, e in edges if e["start"] <= at < e["end"]])
        return found.number_of_edges()

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""
        return {f"{k} hop{'s' * (k > 1)}": lambda q, _, k=k: self.hop(q.near, q.at, k) for k in HOPS} | {
            "snapshot, networkx": lambda q, _: self.snapshot(q.at),
        }


class Duckdb:
    """DuckDB with a recursive query for the hops."""

    _HOP = (
        "WITH RECURSIVE e AS (SELECT s, o FROM fact WHERE start <= $t AND stop > $t UNION ALL "
        "SELECT o, s FROM fact WHERE start <= $t AND stop > $t), w(x, d) AS (SELECT $e::BIGINT, 0 UNION "
        "SELECT e.o, d + 1 FROM w JOIN e ON e.s = x WHERE d < $k) SELECT count(DISTINCT x) - 1 FROM w"
    )

    def __init__(self, data: World) -> None:
        self.base = import_module("duckdb").connect()
        self.base.execute("SET threads = 2")
        columns = {"s": data.subject, "p": data.predicate, "o": data.object, "start": data.start, "stop": data.end}
        self.base.register("given", columns)
        self.base.execute("CREATE TABLE fact AS SELECT * FROM given ORDER BY start")

    def columns(self, q: Question) -> int:
        """The edges that hold, as arrays; how many."""
        asked = "SELECT s, p, o FROM fact WHERE start <= ? AND stop > ?"
        return len(self.base.execute(asked, (q.at, q.at)).fetchnumpy()["s"])

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""

        def hop(k: int) -> Way:
            return lambda q, _: self.base.execute(self._HOP, {"t": q.at, "e": q.near, "k": k}).fetchone()[0]

        return {f"{k} hop{'s' * (k > 1)}": hop(k) for k in HOPS} | {"snapshot, columns": lambda q, _: self.columns(q)}


class Ladybug:
    """Ladybug, the successor of Kuzu, with its own shortest walks."""

    def __init__(self, data: World, folder: Path) -> None:
        ladybug = import_module("ladybug")
        for name, columns in (
            ("node", [np.arange(len(data.names))]),
            ("edge", [data.subject, data.object, data.predicate, data.start, data.end]),
        ):
            np.savetxt(folder / f"{name}.csv", np.column_stack(columns), "%d", ",")
        self.base = ladybug.Connection(
            ladybug.Database(str(folder / "ladybug"), buffer_pool_size=1 << 30), num_threads=2
        )
        self.base.execute("CREATE NODE TABLE E(id INT64 PRIMARY KEY)")
        self.base.execute("CREATE REL TABLE F(FROM E TO E, p INT64, start INT64, stop INT64)")
        self.base.execute(f"COPY E FROM '{folder / 'node.csv'}'")
        self.base.execute(f"COPY F FROM '{folder / 'edge.csv'}'")

    def one(self, asked: str) -> Any:
        """The first value of the first row."""
        found = self.base.execute(asked)
        return found.get_next()[0] if found.has_next() else -1

    def walk(self, q: Question, longest: int, end: str, what: str) -> Any:
        """What a shortest walk gives."""
        held = f"(r, n | WHERE r.start <= {q.at} AND r.stop > {q.at})"
        return self.one(f"MATCH (a:E {{id: {q.near}}})-[f:F* SHORTEST 1..{longest} {held}]-{end} RETURN {what}")

    def columns(self, q: Question) -> int:
        """The edges that hold, as arrays; how many."""
        asked = f"MATCH (a:E)-[f:F]->(b:E) WHERE f.start <= {q.at} AND f.stop > {q.at} RETURN a.id, f.p, b.id"
        return self.base.execute(asked).get_as_arrow().num_rows

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""

        def hop(k: int) -> Way:
            return lambda q, _: self.walk(q, k, f"(b:E) WHERE b.id <> {q.near}", "count(DISTINCT b.id)")

        found = {f"{k} hop{'s' * (k > 1)}": hop(k) for k in HOPS}
        return found | {
            "path": lambda q, _: self.walk(q, 8, f"(b:E {{id: {q.far}}})", "length(f)"),
            "snapshot, columns": lambda q, _: self.columns(q),
        }


class Igraph:
    """igraph: a snapshot for each question; its own walks are on a snapshot that is there already, so not compared."""

    def __init__(self, data: World) -> None:
        igraph = import_module("igraph")
        self.graph = igraph.Graph(len(data.names), np.column_stack([data.subject, data.object]), directed=True)
        self.start, self.end = data.start, data.end

    def ways(self) -> dict[str, Way]:
        """How each question is answered."""

        def snapshot(q: Question, _: Any) -> int:
            held = np.flatnonzero((self.start <= q.at) & (self.end > q.at)).tolist()
            return int(self.graph.subgraph_edges(held, delete_vertices=False).ecount())

        return {"snapshot, columns": snapshot}


def engines(data: World, folder: Path) -> dict[str, Any]:
    """The engines that are installed, loaded."""
    makers: dict[str, Callable[[], Any]] = {
        "semgraph": lambda: Ours(data, folder),
        "sqlite3": lambda: Sqlite(data, folder),
        "networkx": lambda: Networkx(data),
        "duckdb": lambda: Duckdb(data),
        "ladybug": lambda: Ladybug(data, folder),
        "igraph": lambda: Igraph(data),
    }
    found = {}
    for name, make in makers.items():
        started = time.perf_counter()
        try:
            found[name] = make()
        except ImportError:
            print(f"{name} is not installed: left out")
            continue
        print(f"{name}: loaded in {time.perf_counter() - started:.1f} s", flush=True)
    return found


def distinct(data: World) -> World:
    """The world with each fact once: what is said again of the same values is a matter of belief, not of walking."""
    keys = (data.subject * len(PREDICATES) + data.predicate) * len(data.names) + data.object
    kept = np.sort(np.unique(keys, return_index=True)[1])
    columns = {f.name: getattr(data, f.name)[kept] for f in fields(data) if f.name != "names"}
    return replace(data, **columns)


def questions(data: World) -> list[Question]:
    """Random pairs of entities that have facts, in the latter part of the time, which holds most facts."""
    rng = np.random.default_rng(3)
    ends = rng.choice(np.unique([data.subject, data.object]), (ASKED, 2))
    times = rng.integers(FIRST + (LAST - FIRST) * 6 // 10, LAST, ASKED)
    return [Question(int(a), int(b), int(t)) for (a, b), t in zip(ends, times, strict=True) if a != b]


def compare(found: dict[str, Any], asked: list[Question]) -> dict[str, dict[str, float]]:
    """Milliseconds by question and engine: of the best of some rounds, the middle one; the answers are the same."""
    ways = {name: engine.ways() for name, engine in found.items()}
    ours = found["semgraph"]
    spent: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for what in GOALS:
        few = asked[:8] if what.startswith("snapshot") else asked
        names = [name for name in ways if what in ways[name]]
        views = [ours.view(q) for q in few]
        answers: dict[str, list[Any]] = {}
        best = {name: [float("inf")] * len(few) for name in names}
        for turn in range(1 + ROUNDS):  # the first one warms up
            for place in range(len(names)):
                name = names[(place + turn) % len(names)]
                answers[name] = []
                for number, (q, view) in enumerate(zip(few, views, strict=True)):
                    began = time.perf_counter()
                    answers[name].append(ways[name][what](q, view))
                    if turn:
                        best[name][number] = min(best[name][number], (time.perf_counter() - began) * 1000)
        assert all(each == answers["semgraph"] for each in answers.values()), (what, answers)
        spent[what] |= best
    return {what: {name: median(times) for name, times in each.items()} for what, each in spent.items()}


def bytes_an_edge(kg: semgraph.KnowledgeGraph) -> float:
    """What the index takes, by edge: the columns, both directions, and the order of starts."""
    session = kg._session  # noqa: SLF001 - what is measured is inside
    with session.read():
        columns = session.columns(reads=10**9)
        parts = [columns, *columns.derived.values()]
        held = [value for part in parts for value in vars(part).values()]
        arrays = [a for value in held for a in (value if isinstance(value, list) else [value])]
        arrays = [a for a in arrays if isinstance(a, np.ndarray)]
        return sum(a.nbytes for a in {id(a): a for a in arrays}.values()) / columns.base


def main(sizes: list[int]) -> None:
    """Print a table for each size: milliseconds, the ratio, and how much of the goal that is."""
    print(f"{machine()}, seed {SEED}, {time.strftime('%Y-%m-%d')}")
    for size in sizes:
        data = distinct(world(size))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = engines(data, Path(folder))
            spent = compare(found, questions(data))
            rows = [["question", *found, "ratio", "goal", "reached"]]
            for what, (goal, peers, wanted) in GOALS.items():
                times = spent[what]
                others = [times[name] for name in peers or times if name in times and name != "semgraph"]
                ratio = min(others) / times["semgraph"] if others else float("nan")
                shown = [f"{times[name]:.3f}" if name in times else "" for name in found]
                rows.append([what, *shown, f"{ratio:.1f}", goal, f"{ratio / wanted:.2f}"])
            print(f"\n{len(data):,} facts, milliseconds\n\n{table(rows)}\n")
            print(f"index: {bytes_an_edge(found['semgraph'].kg):.0f} bytes an edge (goal 80)", flush=True)
            with suppress(AttributeError):
                found["sqlite3"].base.close()


assert OPEN > LAST
if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100_000])
