"""Several processes, threads, tasks and forks on one file: every acknowledged write is there, once, in order."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import random
import threading
import time
from collections import Counter
from contextlib import closing, nullcontext, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from bounded_work import together
from histories import shown
from oracle import Oracle

import semgraph
from semgraph.errors import ForkedHandle, PurgePending, StoreBusy
from semgraph.store import sqlite
from semgraph.store.sqlite import SqliteStore

from .children import begun, in_child
from .crash import without_transactions
from .deeds import do, opened, state
from .operations import everything
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from semgraph import KnowledgeGraph

_PREDICATES: Final = ("works_at", "lives_in", "likes")
_OBJECTS: Final = ("Acme", "Globex", "Initech", "Oslo", "Bergen", "tea")
_SAID: Final = ("2019-01-01T00:00:00Z", "2021-06-01T00:00:00Z", "2023-12-31T00:00:00Z")
_PER_SUBJECT: Final = 8  # claims, about

Acknowledged = tuple[str, int]  # the id of a claim, and when it was recorded


def _told(chosen: random.Random, subjects: int) -> dict[str, Any]:
    return {
        "subject": f"Person {chosen.randrange(subjects)}",
        "predicate": chosen.choice(_PREDICATES),
        "object": chosen.choice(_OBJECTS),
        "valid_from": chosen.choice(("2010", "2015", "2018-06", "2020")),
        "said_at": chosen.choice(_SAID),
        "source": chosen.choice(("user", "tool:crm")),
        "source_ref": f"{chosen.getrandbits(64):x}",  # so that each is a claim of its own
    }


def _write(kg: KnowledgeGraph, chosen: random.Random, count: int, subjects: int) -> list[Acknowledged]:
    """What was acknowledged; a store that is busy is asked again."""
    acknowledged = []
    for _ in range(count):
        words = _told(chosen, subjects)
        while True:
            with suppress(StoreBusy):
                receipt = kg.add(**words)
                break
        acknowledged.append((receipt.claim.id, receipt.recorded_at.instant))
    return acknowledged


def _together(works: list[Callable[[], list[Acknowledged]]]) -> list[Acknowledged]:
    """What all of them acknowledged, each in a thread of its own; an error of one is raised here."""
    return [one for acknowledged in together(works) for one in acknowledged]


def _judge(kg: KnowledgeGraph, acknowledged: list[Acknowledged]) -> None:
    """Every acknowledged claim is there once, in one order, and folds to what the reference model says."""
    claims = {claim.id: claim for claim in kg.claims()}
    counts = Counter(id for id, _ in acknowledged)
    assert set(claims) == set(counts), f"{len(set(counts) - set(claims))} acknowledged claims are lost"
    assert max(counts.values()) == 1
    moments = [claim.recorded_at.instant for claim in kg.claims()]
    assert all(first < second for first, second in pairwise(moments)), "recorded_at does not strictly increase"
    assert all(claims[id].recorded_at.instant == moment for id, moment in acknowledged), "an ack of another moment"
    problems = kg.verify()
    assert not problems, problems
    of: dict[str, list[Any]] = {}
    for claim in claims.values():
        of.setdefault(claim.subject.label, []).append(claim)
    for subject, told in of.items():
        model = Oracle()
        for claim in told:
            outcome = model.assert_(  # noqa: PT009  # the operation, not unittest's
                subject, claim.predicate, claim.object.label, from_=str(claim.valid_from), said=str(claim.said_at),
                source=claim.source, ref=claim.source_ref, at=str(claim.recorded_at),
            )  # fmt: skip
            model.tie[outcome.claims[0]] = claim.id
        expected = sorted(map(tuple, model.timeline(subject)), key=str)
        found = [
            (shown(fact), fact.valid_from.instant, None if fact.valid_to is None else fact.valid_to.instant)
            for fact in kg.timeline(subject)
        ]
        assert sorted(found, key=str) == expected, f"{subject}: {found} instead of {expected}"


def _fresh(path: Path) -> Path:
    semgraph.KnowledgeGraph(path, embedder=None).close()
    return path


def _holding(path: Path, until: int) -> None:
    """Hold the lock of the store until the pipe is closed."""
    with closing(opened(path)) as kg, kg.atomic():
        kg.add("Ann", "likes", "locks")
        os.write(until, b"!")
        time.sleep(60)


def without_patience() -> None:
    """Break the build: a lock is waited for no time."""
    real = sqlite.open_file
    sqlite.open_file = lambda path, **words: real(path, **{**words, "timeout_ms": 1})


@check(
    "L1",
    "lock held by another process",
    "StoreBusy after 5 s +- 0.5, nothing written, next call works",
    c=1,
    n=5,
    broken=without_patience,
)
def locked(trial: Trial) -> str:
    """Another process is inside a transaction; a write waits, is refused, and goes through when that one is gone."""
    waits = []
    for number in trial.steps():
        path = _fresh(trial.folder / f"{number}.db")
        seen, told = os.pipe()
        holder = begun(lambda: _holding(path, told))  # noqa: B023
        os.read(seen, 1)
        with closing(opened(path)) as kg:
            before, began = state(kg), time.monotonic()
            try:
                kg.add("Bo", "likes", "tea")
            except StoreBusy:
                waits.append(time.monotonic() - began)
            else:
                message = "a write went through while another process held the lock"
                raise AssertionError(message)
            assert state(kg) == before
            holder.kill()
            kg.add("Bo", "likes", "tea")
            assert kg.value("Bo", "likes") == "tea"
            assert "Ann" not in kg
    assert all(4.5 <= wait <= 5.5 for wait in waits), waits
    return (
        f"{trial.size} times StoreBusy after {min(waits):.2f} to {max(waits):.2f} s, nothing written, next call works"
    )


@check(
    "L2",
    "two processes x 4 writers",
    "acks present once, in order; folds = reference model",
    c=25,
    n=250,
    broken=without_transactions,
)
def writers(trial: Trial) -> str:
    """Each writer has its own handle; the claims of all are then told to the reference model."""
    path = _fresh(trial.folder / "s.db")
    subjects = max(2, 8 * trial.size // _PER_SUBJECT)
    seeds = [trial.random.getrandbits(32) for _ in range(8)]

    def one(seed: int) -> list[Acknowledged]:
        with closing(semgraph.KnowledgeGraph(path, embedder=None)) as kg:
            return _write(kg, random.Random(seed), trial.size, subjects)  # noqa: S311  # repeatable

    def process(mine: list[int]) -> list[Acknowledged]:
        return _together([lambda seed=seed: one(seed) for seed in mine])

    children = [begun(lambda mine=mine: process(mine)) for mine in (seeds[:4], seeds[4:])]
    acknowledged = [ack for child in children for ack in child.answer()]
    with closing(semgraph.KnowledgeGraph(path, embedder=None)) as kg:
        _judge(kg, acknowledged)
    told = f"{len(acknowledged)} writes of 2 x 4 writers"
    return f"{told}: all there once, strictly ordered, {subjects} subjects as the model"


class _NoLock:
    """Keeps nobody out."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def without_lock() -> None:
    """Break the build: threads are not kept apart."""
    sqlite.threading = type("none", (), {"RLock": _NoLock})


@check(
    "L3",
    "16 threads on one handle",
    "as L2; no error, no deadlock",
    c=10,
    n=150,
    broken=without_lock,
)
def threads(trial: Trial) -> str:
    """Half of them write, half read, all through the same handle."""
    faulthandler.dump_traceback_later(300, exit=True)
    subjects, stop = max(2, trial.size), threading.Event()
    with closing(semgraph.KnowledgeGraph(_fresh(trial.folder / "s.db"), embedder=None)) as kg:

        def write(seed: int) -> list[Acknowledged]:
            return _write(kg, random.Random(seed), trial.size, subjects)  # noqa: S311  # repeatable

        def read(seed: int) -> list[Acknowledged]:
            chosen = random.Random(seed)  # noqa: S311
            while not stop.is_set():
                name = f"Person {chosen.randrange(subjects)}"
                if name in kg:
                    kg.timeline(name)
                kg.values(name, "likes")
            return []

        readers = threading.Thread(target=lambda: _together([lambda n=n: read(n) for n in range(8)]))
        readers.start()
        try:
            seeds = [trial.random.getrandbits(32) for _ in range(8)]
            acknowledged = _together([lambda seed=seed: write(seed) for seed in seeds])
        finally:
            stop.set()
            readers.join()
        _judge(kg, acknowledged)
    faulthandler.cancel_dump_traceback_later()
    return f"{len(acknowledged)} writes of 8 threads beside 8 readers: all there once, strictly ordered, as the model"


def with_half_batches() -> None:
    """Break the build: a batch is kept claim by claim."""
    semgraph.KnowledgeGraph.atomic = nullcontext


@check(
    "L4",
    "asyncio, through threads",
    "loop stall p99 < 50 ms; a cancelled write is kept wholly or not at all",
    c=12,
    n=200,
    broken=with_half_batches,
)
def tasks(trial: Trial) -> str:
    """There are no coroutines: a loop hands calls to threads. It must not stall, and a cancel must halve nothing."""
    with closing(semgraph.KnowledgeGraph(_fresh(trial.folder / "s.db"), embedder=None)) as kg:
        idle, stalls, kept = asyncio.run(_looped(kg, trial))
        found = Counter(claim.source_ref for claim in kg.claims())
        assert set(found.values()) <= {20}, f"halves of batches: {found}"
        assert not kg.verify()
    before, beside = (sorted(waits)[int(len(waits) * 0.99)] * 1000 for waits in (idle, stalls))
    # What the machine makes of an idle loop is not the writer's doing; a test of each commit times nothing.
    assert trial.tier == "C" or beside - before < 50, (
        f"the loop stalled for {beside:.0f} ms ({before:.0f} ms when idle)"
    )
    stalled = f"loop stall p99 {beside:.0f} ms ({before:.0f} ms when idle)"
    return f"{trial.size} cancelled batches: {kept} kept wholly, the rest not; {stalled}"


def _seen(path: Path, source_ref: str) -> int:
    """How many claims of a batch another handle sees."""
    with closing(semgraph.KnowledgeGraph(path, embedder=None, read_only=True)) as other:
        return sum(1 for _ in other.claims(source_ref=source_ref))


async def _looped(kg: KnowledgeGraph, trial: Trial) -> tuple[list[float], list[float], int]:
    stalls: list[float] = []

    async def probe() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            stalls.append(time.perf_counter() - began - 0.005)

    async def watched(work: Awaitable[Any]) -> list[float]:
        watching = asyncio.create_task(probe())
        await work
        watching.cancel()
        return stalls[:]

    def write() -> None:
        began = time.monotonic()
        while time.monotonic() - began < 2:
            kg.add(**_told(trial.random, 40))

    idle = await watched(asyncio.sleep(2))
    stalls.clear()
    await watched(asyncio.to_thread(write))
    kg.forget(everything=True)
    for number in trial.steps():
        words = [_told(trial.random, 40) | {"source_ref": f"batch {number}"} for _ in range(20)]
        for at, one in enumerate(words):
            one["object"] = f"thing {number} {at}"

        def batch(words: list[dict[str, Any]] = words) -> None:
            with kg.atomic():
                for one in words:
                    kg.add(**one)

        task = asyncio.create_task(asyncio.to_thread(batch))
        await asyncio.sleep(trial.random.random() * 0.06)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        seen = await asyncio.to_thread(_seen, kg.path, f"batch {number}")
        assert seen in (0, 20), f"batch {number}: {seen} of 20 claims are there after the cancel"
    await asyncio.to_thread(kg.stats)  # behind the last batch
    return idle, stalls, len({claim.source_ref for claim in kg.claims()})


def without_a_look_at_the_process() -> None:
    """Break the build: a child goes on with the handle of its parent."""
    sqlite.os = type("none", (), {"getpid": staticmethod(lambda: 1)})


@check(
    "L5",
    "fork with an open handle",
    "ForkedHandle in the child, parent unharmed",
    c=3,
    n=40,
    broken=without_a_look_at_the_process,
)
def forked(trial: Trial) -> str:
    """A child calls what it likes on a handle that it was born with; the parent goes on as if nothing had been."""
    refused = 0
    for number in trial.steps():
        with closing(opened(_fresh(trial.folder / f"{number}.db"))) as kg:
            for deed in range(6):
                do(kg, trial.seed + number, deed)
            before = everything(kg)
            refused += in_child(lambda: _all_refused(kg))
            assert everything(kg) == before
            kg.add("Zoe", "likes", "forks")
            assert not kg.verify()
    return f"{refused} calls in {trial.size} children: all ForkedHandle, parents unharmed"


def _all_refused(kg: KnowledgeGraph) -> int:
    calls: list[Callable[[], Any]] = [
        lambda: kg.add("Ann", "likes", "tea"),
        lambda: list(kg.facts()),
        lambda: kg.value("Ann", "likes"),
        lambda: list(kg.claims()),
        lambda: kg.atomic().__enter__(),
        lambda: kg.names.merge("Ann", "Bo"),
        kg.verify,
        kg.stats,
        kg.purge,
        lambda: kg.backup(kg.path.with_suffix(".copy")),
    ]
    for number, call in enumerate(calls):
        try:
            call()
        except ForkedHandle:
            continue
        message = f"call {number} went through in a forked child"
        raise AssertionError(message)
    kg.close()
    return len(calls)


def with_empty_promises() -> None:
    """Break the build: a purge says that it is done, whoever still reads."""
    SqliteStore.purge = lambda _store: True


@check(
    "L6",
    "a reader that stays",
    "writers go on; forget says what is pending, and completes later",
    c=2,
    n=20,
    broken=with_empty_promises,
)
def reading_on(trial: Trial) -> str:
    """A transaction of a reader is held open; what is forgotten meanwhile still has bytes, until it ends."""
    longest = 0
    for number in trial.steps():
        path = _fresh(trial.folder / f"{number}.db")
        needle = f"needle{trial.random.getrandbits(60):x}"
        with closing(opened(path)) as kg, closing(SqliteStore(path, timeout_ms=100)) as reader:
            kg._session.store._connection.set_busy_timeout(100)
            mine = kg.scoped("mine")  # the deeds below may take back any claim of their own scope
            mine.add("Ann", "likes", "needles", source_ref="r", text=needle)
            with reader.read():
                reader.scopes()
                for deed in range(20):
                    do(kg, trial.seed + number, 100 + deed)
                longest = max(longest, path.with_name(path.name + "-wal").stat().st_size)
                report = mine.forget(source_ref="r")
                assert report.claims == 1
                assert not report.purged
                assert report.pending
                with suppress(PurgePending):
                    kg.purge()
                    message = "purged, while a reader held the bytes"
                    raise AssertionError(message)
            kg.purge()
        content = b"".join(place.read_bytes() for place in path.parent.glob(path.name + "*"))
        assert needle.encode() not in content, "bytes of what was forgotten are left"
    return f"{trial.size} readers: writers went on (log up to {longest >> 10} KiB), bytes pending, then gone"
