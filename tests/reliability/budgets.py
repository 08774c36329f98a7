"""S13, S14: graphs and texts that make careless code explode, and how much of a store one claim touches."""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from histories import Clock, graph
from test_gate import UNITS

from benchmarks.hostile import READS, SHAPES
from semgraph import KnowledgeGraph, SemgraphError
from semgraph.dates import find_dates
from semgraph.gate import language_gate
from semgraph.phrases import candidates as read_phrases
from semgraph.phrases.dating import dated
from semgraph.render import clean

from . import breaks
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MORE_READS: dict[str, Callable[[KnowledgeGraph], Any]] = {
    "candidates": lambda kg: kg.candidates("John Smith"),
    "timeline": lambda kg: kg.timeline("n0"),
    "history": lambda kg: kg.history("n0", "knows"),
    "explain": lambda kg: [kg.explain(each[0]) for each in islice(kg.about("n0", limit=1).values(), 1)],
    "profile": lambda kg: kg.profile().facts,
    "ask": lambda kg: kg.ask("who does n0 know?").values,
    "entities": lambda kg: list(kg.entities("J")),
    "diff": lambda kg: kg.at("1500").diff(kg.at("2020"), subject="n0").opened,
}
#: Seconds of processor time for a read of a hostile graph, for a hostile text, and for a long fold.
READ, TEXT, FOLD = 2.0, 0.05, 1.0
KIB64 = 1 << 16


def aliases(count: int = 10_000) -> Iterator[dict[str, Any]]:
    """One name that very many people bear; the names are given by `named_alike`."""
    for number in range(count):
        yield {"subject": f"Person {number}", "predicate": "knows", "object": "n0"}


def long_fluent(count: int = 5_000) -> Iterator[dict[str, Any]]:
    """One value that changed very often."""
    for number in range(count):
        year, month = 1000 + number // 12, 1 + number % 12
        yield {"subject": "n0", "predicate": "lives_in", "object": f"n{number}", "valid_from": f"{year}-{month:02}"}


EVERY_SHAPE: dict[str, Callable[..., Iterator[dict[str, Any]]]] = SHAPES | {
    "10,000 people of one name": aliases,
    "5,000 claims on one value": long_fluent,
}
FULL = {
    "clique of 300": 300, "star of 100,000": 100_000, "ladder": 2_000, "10,000 parallel edges": 10_000,
    "conflict of 1,000": 1_000, "10,000 people of one name": 10_000, "5,000 claims on one value": 5_000,
}  # fmt: skip


@check(
    "S13",
    "hostile graphs and texts",
    "every read < 2 s, 64 KiB texts < 50 ms, cuts told",
    c=2,
    n=100,
    broken=breaks.marks_of_cuts,
)
def hostile_graphs(trial: Trial) -> str:
    """Reads at their default budgets come back in time on every shape; the size of the trial is a percentage of full.

    Each answer is bounded and says where it is cut. Times are held to at full size only.
    """
    slowest: list[tuple[float, str]] = []
    for shape in trial.along(EVERY_SHAPE, len(EVERY_SHAPE)):
        with KnowledgeGraph(embedder=None) as kg:
            kg.add_all(EVERY_SHAPE[shape](max(30, FULL[shape] * trial.size // 100)))
            if shape == "10,000 people of one name":
                named_alike(kg, max(30, FULL[shape] * trial.size // 1000))
            for name, read in (READS | MORE_READS).items():
                began = time.process_time()
                try:
                    found = read(kg)
                except SemgraphError:
                    found = ()
                slowest.append((time.process_time() - began, f"{name} on {shape}"))
                if name.startswith(("neighbors", "paths")):
                    assert len(found) <= 1000
                    assert not found or hasattr(found, "truncated")
    texts = max(_hostile_texts(trial))
    late = [f"{took:.1f} s {what}" for took, what in sorted(slowest, reverse=True) if took >= READ]
    assert trial.size < 100 or not late, "; ".join(late)
    assert trial.tier == "C" or texts < TEXT, f"a text of 64 KiB took {texts * 1000:.0f} ms"
    took, what = max(slowest)
    figure = f"{len(slowest)} reads of {len(EVERY_SHAPE)} shapes at {trial.size} %, slowest {took:.2f} s ({what})"
    return f"{figure} of processor time; texts of 64 KiB {texts * 1000:.0f} ms at most"


def named_alike(kg: KnowledgeGraph, count: int) -> None:
    """Give very many entities one name."""
    with kg.atomic():
        for number in range(count):
            kg.names.alias("John Smith", f"Person {number}", homonym=True)


def _hostile_texts(trial: Trial) -> Iterator[float]:
    """The processor time of everything that reads texts, on a unit repeated up to 64 KiB."""
    chosen = UNITS if trial.tier != "C" else trial.random.sample(UNITS, 12)
    for unit in chosen:
        text = unit * (KIB64 // len(unit.encode()))
        for read in (
            clean,
            lambda t: list(find_dates(t[:1024])),  # looks for a date at every sign: some 50 ms a KiB
            _gated,
            lambda t: read_phrases(t, partial(dated, reference=datetime(2024, 6, 1, tzinfo=UTC))),
        ):
            began = time.process_time()
            with contextlib.suppress(SemgraphError):
                read(text)
            yield time.process_time() - began


def _gated(text: str) -> None:
    language_gate(
        text, subject="x", predicate="states", object=None, source="tool:x", has_start=False, predicate_has_ttl=False
    )


@check(
    "S14",
    "write amplification",
    "a claim touches the claims of its fluents; 5,000 fold in < 1 s",
    c=300,
    n=5_000,
    broken=breaks.what_is_touched,
)
def amplification(trial: Trial) -> str:
    """However much a store holds, one more claim reads and writes rows of the fluents that it touches only.

    Counted are the statements, the rows that SQLite changes and the steps of its machine; the same write into a store
    ten times as large makes as many, and no more than a tenth more steps. Then `size` claims on one value are folded
    as one batch.
    """
    counts = []
    for others in (30, 300):
        with graph(trial.folder / f"{others}.db", durability="relaxed", clock=Clock()) as kg:
            kg.add_all(
                {"subject": f"p{n}", "predicate": p, "object": f"q{n}"}
                for n in range(others)
                for p in ("likes", "works_at")
            )
            kg.add("p1", "works_at", "Acme", valid_from="2020")
            connection = kg._session.store._connection
            seen: list[str] = []
            connection.exec_trace = lambda _cursor, sql, _bindings, seen=seen: bool(seen.append(sql)) or True
            steps: list[None] = []
            connection.set_progress_handler(lambda steps=steps: bool(steps.append(None)), 10)
            before = connection.total_changes()
            kg.set("p1", "works_at", "Globex", valid_from="2021")
            connection.exec_trace = None
            connection.set_progress_handler(None)
            counts.append((len(seen), connection.total_changes() - before, len(steps)))
    few, many = counts
    assert few[:2] == many[:2], f"statements and rows grow with the store: {counts}"
    assert many[2] < few[2] * 1.1 + 10, f"what is read grows with the store: {counts}"
    with graph() as kg:
        began = time.process_time()
        kg.add_all(long_fluent(trial.size))
        took = time.process_time() - began
        assert len(kg.timeline("n0", "lives_in")) == trial.size
    assert trial.tier == "C" or took < FOLD, f"{trial.size} claims on one value took {took:.2f} s"
    figure = f"a change makes {few[0]} statements and {few[1]} rows in a store of any size"
    return f"{figure}; {trial.size} claims on one value fold in {took:.2f} s"
