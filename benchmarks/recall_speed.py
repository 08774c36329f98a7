"""The speed of recall, and of its channels of words and vectors, against FTS5 and faiss on the same data, in turns.

    python -m benchmarks.recall_speed [FACTS ...] [--seed 7] [--folder FOLDER]

Sizes default to 10,000 and 100,000 facts; files of an earlier run in the folder are read again rather than made. Two
kinds of question: one names an entity ("who is the tutor of …"), one has words only. Told are the processor time of the
whole `recall`, with columns loaded and all of it warm, the median; that of a new process until its first answer, once
with pages in the store and once without; and of the two channels alone the ratio to FTS5's `bm25` over an OR of the
same words and to a flat index of faiss over the same vectors (where faiss is installed; one thread): ten best each, out
of as many vectors as recall takes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np

from benchmarks.common import OPEN, PREDICATES, SEED, World, by_hand, defined, interleaved, machine, table, world
from semgraph import KnowledgeGraph
from semgraph.recall.library import library_of
from semgraph.recall.words import content_words
from semgraph.store import open_store
from semgraph.store.schema import PageRow

_QUESTIONS = 90
_BATCH = 20_000
_LOADED = 100_000  # claims a transaction
_WARM = 48  # the columns of a million facts come into memory within so many
_LOOKED_AT = 120  # documents that recall takes from the channel of vectors
_QUALITIES = ("annual", "brief", "cautious", "early", "final", "guarded", "hurried", "joint", "late")
_OCCASIONS = ("accord", "appeal", "board", "claim", "debate", "election", "fair", "grant", "hearing")
_FIRST = """
import sys, time
from semgraph import KnowledgeGraph
with KnowledgeGraph(sys.argv[1], read_only=True) as graph:
    assert graph.recall(sys.argv[2])
    print(time.process_time())
"""


def questions(data: World, seed: int) -> dict[str, list[str]]:
    """Questions of both kinds."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    said = [name.replace("_", " ") for name in PREDICATES]
    return {
        "naming an entity": [f"who is the {rng.choice(said)} of {rng.choice(data.names)}?" for _ in range(_QUESTIONS)],
        "words only": [
            f"the {rng.choice(_QUALITIES)} {rng.choice(_OCCASIONS)} that somebody {rng.choice(said)}"
            for _ in range(_QUESTIONS)
        ],
    }


def filled(path: Path, data: World) -> KnowledgeGraph:
    """The graph of an earlier run, or a new one."""
    there = path.exists()
    graph = KnowledgeGraph(path, durability="relaxed")
    if not there:
        defined(graph)
        graph.add_columns(columns_of(data), batch_size=_LOADED)
    return graph


def columns_of(data: World) -> dict[str, Any]:
    """The facts as columns, which are loaded quicker than one by one."""
    names, said = np.array(data.names, object), np.array(PREDICATES, object)
    return {
        "subject": names[data.subject].tolist(),
        "predicate": said[data.predicate].tolist(),
        "object": names[data.object].tolist(),
        "valid_from_us": data.start * 1_000_000,
        "valid_to_us": np.where(data.end == OPEN, np.iinfo(np.int64).max, data.end * 1_000_000),
        "said_at_us": data.start * 1_000_000,
        "confidence": data.confidence,
        "source": [f"imported:{each}" for each in data.source.tolist()],
        "text": [data.text(row) for row in range(len(data))],
    }


def first(path: Path, question: str) -> float:
    """Seconds of processor time until the first answer of a new process, interpreter and imports among it."""
    command = [sys.executable, "-c", _FIRST, str(path), question]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(3)]  # noqa: S603 - ours
    return min(map(float, runs))


def medians(graph: KnowledgeGraph, asked: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    """Milliseconds of a whole recall by kind of question: the median, and nine in ten."""
    for question in asked["naming an entity"][:_WARM]:
        graph.recall(question, touch=False)
    found = {}
    for kind, several in asked.items():
        spent = []
        for question in several:
            began = time.process_time()
            graph.recall(question, touch=False)
            spent.append(1000 * (time.process_time() - began))
        found[kind] = statistics.median(spent), sorted(spent)[int(0.9 * len(spent))]
    return found


def lexical(graph: KnowledgeGraph, path: Path, data: World, asked: list[str]) -> float:
    """How many times as long FTS5 takes for the ten best by words."""
    path.unlink(missing_ok=True)
    rival = by_hand(path, data, text_index=True)
    session = graph._session  # noqa: SLF001 - the channel alone
    with session.read():
        library = library_of(session)
        registry = session.ledger.at().registry

        def ours(question: str) -> Any:
            documents, scores = library.text.scores(library.groups(content_words(question), registry))
            return documents[np.argpartition(scores, max(len(scores) - 10, 0))[-10:]]

        def theirs(question: str) -> Any:
            words = " OR ".join(f'"{word}"' for word in content_words(question))
            return rival.execute(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", (words,)
            ).fetchall()

        own, other = interleaved([(question,) for question in asked], ours, theirs)
    rival.close()
    return other / own


def meaning(graph: KnowledgeGraph, asked: list[str]) -> tuple[float, float] | None:
    """How many times as long a flat index of faiss takes, and what share of its ten best is found; None without it."""
    try:
        import faiss
    except ImportError:
        return None
    from semgraph.embedding import default_embedder

    model = default_embedder()
    faiss.omp_set_num_threads(1)  # one thread each: two that wait for a busy core tell nothing
    session = graph._session  # noqa: SLF001 - the channel alone
    with session.read():
        vectors = library_of(session).vectors
        assert vectors is not None
        flat = faiss.IndexFlatIP(vectors.dim)
        for start in range(0, len(vectors), _BATCH):
            flat.add(vectors.vectors(np.arange(start, min(start + _BATCH, len(vectors)))))
        rows = model.encode(asked)

        def ours(row: Any) -> Any:
            return vectors.nearest(row, _LOOKED_AT)

        def theirs(row: Any) -> Any:
            return flat.search(row[None], 10)

        shares = []
        for row in rows:
            documents, cosines = ours(row)
            bar = theirs(row)[0][0][-1] - 1e-5
            shares.append(min(int(np.count_nonzero(cosines >= bar)), 10) / 10)
            del documents
        own, other = interleaved([(row,) for row in rows], ours, theirs, clock=time.thread_time)
    return other / own, statistics.mean(shares)


def measured(facts: int, folder: Path, seed: int) -> list[list[str]]:
    """The lines of the table for one size."""
    data = world(facts, seed)
    path = folder / f"recall-{facts}-{seed}.db"
    asked = questions(data, seed)
    question = asked["naming an entity"][0]
    lines: list[list[str]] = []

    def line(what: str, value: str) -> None:
        lines.append([f"{facts:,}", what, value])
        print("  ", *lines[-1][1:], file=sys.stderr, flush=True)

    with filled(path, data) as graph:
        graph.recall(question, touch=False)
        for kind, (median, high) in medians(graph, asked).items():
            line(f"whole recall, {kind}", f"{median:.1f} ms (nine in ten within {high:.1f})")
        ratio = lexical(graph, folder / f"rival-{facts}-{seed}.db", data, asked["words only"])
        line("words: FTS5 with bm25 takes", f"{ratio:.1f} times as long")
        if (near := meaning(graph, asked["words only"])) is not None:
            line("vectors: a flat index of faiss takes", f"{near[0]:.1f} times as long ({near[1]:.3f} of its ten best)")
    line("first recall of a new process", f"{first(path, question):.2f} s")
    with_pages = path.stat().st_size
    store = open_store(path)
    store.delete(PageRow, 1)
    store.purge()
    store.close()
    line("the same without pages in the store", f"{first(path, question):.2f} s")
    line("pages in the store", f"{(with_pages - path.stat().st_size) / facts:.0f} bytes a fact")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("facts", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "semgraph-benchmarks")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(machine())
    lines = [line for facts in given.facts for line in measured(facts, given.folder, given.seed)]
    print(table([["facts", "what", "measured"], *lines]))


if __name__ == "__main__":
    main()
