"""The TFLEX queries over ICEWS14, each a composition of calls to a graph; run, it times every kind.

    python -m benchmarks.tflex ../shared/data/icews14

A query is a program such as `Pe(And(Pe(e1, r1, t1), Pe(e2, r2, t2)), r3, t3)` with arguments. Its operators are methods
of `Queries`: each asks the graph for facts at a day or over a window, the rest is work on sets of names and of days.
"""

from __future__ import annotations

import ast
import gzip
import json
import sys
import time
from collections import defaultdict
from datetime import date, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semgraph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from semgraph.model import Fact

    Relation = Mapping[str, Any]  # its name, and whether it is walked from object to subject
__all__ = ["Queries", "load", "read_queries"]

DAYS = frozenset((date(2014, 1, 1) + timedelta(n)).isoformat() for n in range(365))


class Queries:
    """Answers queries from a graph; the names of the methods are those of the programs."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    def answer(self, query: Mapping[str, Any]) -> list[str]:
        """The names, or the days, that a query asks for."""
        return sorted(self._value(_parsed(query["program"]), query["args"]))

    def _value(self, node: ast.expr, given: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Name):
            return given[node.id]
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        return _OPERATORS[node.func.id](self, *(self._value(each, given) for each in node.args))

    def walked(self, things: str | Iterable[str], relation: Relation, days: str | frozenset[str]) -> frozenset[str]:
        """`Pe`: what the relation leads to from any of the things on any of the days."""
        found: set[str] = set()
        for thing in _several(things):
            for fact in self._facts(thing, relation, _several(days)):
                far = fact.subject if relation["inverse"] else fact.object
                assert far is not None
                found.add(far.label)
        return frozenset(found)

    def times(self, things: str | Iterable[str], relation: Relation, others: str | Iterable[str]) -> frozenset[str]:
        """`Pt`: the days on which the relation leads from any of the things to any of the others."""
        name, inverse = relation["relation"], relation["inverse"]
        always = self.graph.during()
        pairs = [(near, far) for near in _several(things) for far in _several(others)]
        return frozenset(
            str(fact.valid_from)
            for near, far in pairs
            for fact in (always.facts(far, name, near) if inverse else always.facts(near, name, far))
        )

    def _facts(self, thing: str, relation: Relation, days: frozenset[str]) -> Iterator[Fact]:
        if not days:
            return
        first, last = min(days), max(days)
        view = self.graph.at(first) if first == last else self.graph.during(first, _after(last))
        name = relation["relation"]
        found = view.facts(predicate=name, object=thing) if relation["inverse"] else view.facts(thing, name)
        yield from (fact for fact in found if str(fact.valid_from) in days)

    @cached_property
    def everything(self) -> frozenset[str]:
        """The names of all entities."""
        return frozenset(entity.label for entity in self.graph.entities())


def _several(given: str | Iterable[str]) -> frozenset[str]:
    return frozenset({given}) if isinstance(given, str) else frozenset(given)


def _after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(1)).isoformat()


def _all_of(_: Queries, *sets: frozenset[str]) -> frozenset[str]:
    return frozenset.intersection(*map(frozenset, sets))


def _any_of(_: Queries, *sets: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*sets)


_OPERATORS: dict[str, Callable[..., frozenset[str]]] = {
    "Pe": Queries.walked,
    "Pt": Queries.times,
    "And": _all_of,
    "And3": _all_of,
    "TimeAnd": _all_of,
    "TimeAnd3": _all_of,
    "Or": _any_of,
    "TimeOr": _any_of,
    "Not": lambda queries, names: queries.everything - names,
    "TimeNot": lambda _, days: DAYS - days,
    "after": lambda _, days: frozenset(day for day in DAYS if days and day > max(days)),
    "before": lambda _, days: frozenset(day for day in DAYS if days and day < min(days)),
}


@cache
def _parsed(program: str) -> ast.expr:
    return ast.parse(program, mode="eval").body


def load(graph: KnowledgeGraph, folder: Path) -> int:
    """How many events of the data set the graph now holds, each for its day."""
    text = gzip.decompress((folder / "facts.tsv.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in text.split("\n")[1:] if line]
    for relation in sorted({row[1] for row in rows}):
        graph.predicates.define(relation, cardinality="many", event=True, range="entity")
    claims = ({"subject": s, "predicate": p, "object": o, "valid_from": day} for s, p, o, day in rows)
    return graph.add_all(claims).total


def read_queries(folder: Path) -> list[dict[str, Any]]:
    """The queries of the data set, in its order."""
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main(folder: Path) -> None:
    """Print for every kind how many queries were answered exactly, and how long one takes."""
    took: dict[str, list[float]] = defaultdict(list)
    right: dict[str, int] = defaultdict(int)
    with KnowledgeGraph(source="imported:icews") as graph:
        start = time.perf_counter()
        count = load(graph, folder)
        print(f"{count:,} events loaded in {time.perf_counter() - start:.1f} s")
        queries = Queries(graph)
        assert len(queries.everything) > 0
        for query in read_queries(folder):
            start = time.perf_counter()
            found = queries.answer(query)
            took[query["type"]].append(time.perf_counter() - start)
            right[query["type"]] += found == sorted(query["answers"])
    print(f"{'kind':<18} {'exact':>7} {'p50 ms':>9} {'p95 ms':>9}")
    for kind, each in sorted(took.items()):
        each.sort()
        p50, p95 = each[len(each) // 2], each[len(each) * 95 // 100]
        print(f"{kind:<18} {right[kind]:>3}/{len(each):<3} {p50 * 1000:>9.2f} {p95 * 1000:>9.2f}")
    print(f"{'all':<18} {sum(right.values())}/{sum(map(len, took.values()))} in {sum(map(sum, took.values())):.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
