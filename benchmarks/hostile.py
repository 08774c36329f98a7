"""Graphs that make careless walks explode, and what each read of them takes at its default budget.

python -m benchmarks.hostile

Processor time stands beside the seconds: where the machine does other things too, it says what a quiet one would take.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from semgraph import KnowledgeGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["READS", "SHAPES"]

Claim = dict[str, Any]


def clique(size: int = 300) -> Iterator[Claim]:
    """Everybody knows everybody."""
    for near in range(size):
        yield from (_knows(f"n{near}", f"n{far}") for far in range(size) if far != near)


def star(rays: int = 100_000) -> Iterator[Claim]:
    """One hub, half of its edges leading in and half out."""
    for ray in range(rays):
        yield _knows("n0", f"n{ray + 1}") if ray % 2 == 0 else _knows(f"n{ray + 1}", "n0")


def ladder(rungs: int = 2_000) -> Iterator[Claim]:
    """Two rails, each step leading to both of the next: the number of paths doubles with every rung."""
    for rung in range(rungs):
        for side in "ab":
            near = "n0" if rung == 0 else f"{side}{rung}"
            yield from (_knows(near, f"{other}{rung + 1}") for other in "ab")
    yield from (_knows(f"{side}7", "n1") for side in "ab")


def parallel(facts: int = 10_000) -> Iterator[Claim]:
    """Two steps, each with thousands of facts of different times that overlap."""
    for number in range(facts // 2):
        times = {"valid_from": f"{1000 + number % 900}-{1 + number // 900 % 12:02}", "valid_to": f"{2000 + number}"}
        yield _knows("n0", "m", predicate=f"p{number}", **times)
        yield _knows("m", "n1", predicate=f"p{number}", **times)


def conflict(values: int = 1_000) -> Iterator[Claim]:
    """One person said to live in a thousand places since the same day."""
    for number in range(values):
        yield _knows("n0", f"n{number + 1}", predicate="lives_in", valid_from="2020", source=f"tool:{number}")


def _knows(near: str, far: str, *, predicate: str = "knows", **more: Any) -> Claim:
    return {"subject": near, "predicate": predicate, "object": far, **more}


SHAPES: dict[str, Callable[..., Iterator[Claim]]] = {
    "clique of 300": clique,
    "star of 100,000": star,
    "ladder": ladder,
    "10,000 parallel edges": parallel,
    "conflict of 1,000": conflict,
}

READS: dict[str, Callable[[KnowledgeGraph], Any]] = {
    "neighbors": lambda kg: kg.neighbors("n0"),
    "neighbors, 3 hops any": lambda kg: kg.neighbors("n0", hops=3, direction="any"),
    "neighbors over all time": lambda kg: kg.during().neighbors("n0", hops=2),
    "paths": lambda kg: kg.paths("n0", "n1"),
    "paths of 8, any": lambda kg: kg.paths("n0", "n1", cutoff=8, direction="any"),
    "paths overlap": lambda kg: kg.paths("n0", "n1", mode="overlap", cutoff=8),
    "paths chronological": lambda kg: kg.paths("n0", "n1", mode="chronological", cutoff=8),
    "match, limit 100": lambda kg: kg.match(("n0", "?p", "?x"), limit=100),
    "values": lambda kg: kg.values("n0", "lives_in"),
    "about": lambda kg: kg.about("n0"),
    "conflicts": lambda kg: kg.conflicts(),
    "recall": lambda kg: kg.recall("where does n0 live?"),
}


def _size(found: Any) -> str:
    """How much came back, and whether that is not all."""
    parts = list(found.values()) if isinstance(found, dict) else [found]
    cut = any(getattr(part, "truncated", False) for part in parts)
    return f"{sum(map(len, parts)):>6} found{' truncated' * cut}"


def main(wanted: list[str]) -> None:
    """Print for every shape and read how long the first and the second call take, and what comes back."""
    for shape, claims in SHAPES.items():
        if wanted and not any(each in shape for each in wanted):
            continue
        with KnowledgeGraph() as graph:
            start = time.perf_counter()
            graph.add_all(claims())
            print(f"{shape}: built in {time.perf_counter() - start:.1f} s")
            for name, read in READS.items():
                took = []
                for _ in range(2):
                    began = time.perf_counter(), time.process_time()
                    found = read(graph)
                    took.append((time.perf_counter() - began[0], time.process_time() - began[1]))
                shown = ", ".join(f"{wall:7.3f} s ({processor:.3f})" for wall, processor in took)
                print(f"  {name:<24} {shown}  {_size(found)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
