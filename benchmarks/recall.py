"""How well recall finds what answers a question, on four sets of texts that nobody in this project wrote.

    python benchmarks/recall.py DATA [--half odd|even|all] [--set NAME] [--each]

Every text goes in through the public API, as a sentence told by its speaker, and every question is asked as an agent
would ask it. `any@5` is the share of questions with an answering text among the first five, `frac@10` the mean share
of the answering texts among the first ten. Weights and bounds of recall were chosen on the even half of each set (every
other question, from the first on); the odd half is what is reported. A question that bears a day is asked as of the
end of that day, as it would have been; what that brings is told by the figures of "asked on no day".
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from semgraph import KnowledgeGraph
from semgraph.embedding.static import StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEPTH = 10


class Floor(NamedTuple):
    """The figure that counts, what plain BM25 reaches on all questions, what is asked for, and what CI holds us to."""

    figure: str
    plain: float | None
    asked: float
    kept: float


FLOORS = {
    ("locomo", "all"): Floor("frac@10", 0.623, 0.67, 0.74),
    ("locomo", "multi-hop"): Floor("frac@10", 0.336, 0.41, 0.43),
    ("longmemeval", "all"): Floor("any@5", 0.845, 0.90, 0.90),
    ("longmemeval", "single-session-preference"): Floor("any@5", 0.450, 0.60, 0.60),
    ("longmemeval", "updates"): Floor("newest first", None, 0.90, 0.95),
    ("beam", "all"): Floor("frac@10", 0.430, 0.48, 0.60),
    ("beam", "contradiction_resolution"): Floor("frac@10", 0.637, 0.75, 0.77),
    ("timeqa", "all"): Floor("any@5", 0.643, 0.70, 0.74),
}


class Question(NamedTuple):
    """A question, the scope to ask in, its kind, the units that answer it (none if nothing does), and its day."""

    scope: str
    text: str
    kind: str
    gold: frozenset[str]
    day: datetime | None = None


class Corpus(NamedTuple):
    """Claims by scope, the questions, and the unit that a source_ref belongs to."""

    claims: dict[str, list[dict[str, Any]]]
    questions: list[Question]
    unit: Callable[[str], str]


class Figures(NamedTuple):
    """Of so many questions."""

    asked: int
    any5: float
    frac10: float


# -- the sets


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _claim(who: str, text: str, ref: str, said_at: datetime, source: str = "user") -> dict[str, Any]:
    return {
        "subject": who,
        "predicate": "states",
        "object": text,
        "source": source,
        "source_ref": ref,
        "said_at": said_at,
    }


def locomo(data: Path) -> Corpus:
    """Turns of six dialogues between two people; a photo is told by its caption."""
    claims: dict[str, list[dict[str, Any]]] = {}
    for turn in _rows(data / "locomo/turns.jsonl.gz"):
        told = claims.setdefault(turn["conv"], [])
        when = datetime.strptime(turn["date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        text = f"{turn.get('text') or ''} [{turn['image_caption']}]" if turn.get("image_caption") else turn["text"]
        ref = f"{turn['conv']}/{turn['id']}"
        told.append(_claim(turn["speaker"], text, ref, when + timedelta(seconds=len(told))))
    refs = {claim["source_ref"] for told in claims.values() for claim in told}
    questions = []
    for row in _rows(data / "locomo/questions.jsonl.gz"):
        gold = frozenset(f"{row['conv']}/{evidence}" for evidence in row["evidence"])
        if gold and gold <= refs:  # not where the evidence names no turn
            questions.append(Question(row["conv"], row["question"], row["category"], gold))
    return Corpus(claims, questions, str)


def _session_date(text: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _asked_on(text: str | None) -> datetime | None:
    """The end of a day: some questions bear an hour before that of the session that answers them."""
    return _session_date(text).replace(hour=0, minute=0) + timedelta(days=1) if text else None


def _role(role: str) -> str:
    """What an assistant says of its user is a conclusion, not a statement of the user's."""
    return "user" if role == "user" else "inferred"


def longmemeval(data: Path) -> Corpus:
    """Sessions of many users as one memory: every session is a rival of every other."""
    claims: list[dict[str, Any]] = []
    for session in _rows(data / "longmemeval_evidence/sessions.jsonl.gz"):
        when = _session_date(session["date"])
        for at, turn in enumerate(session["turns"]):
            said_at = when + timedelta(seconds=at)
            claims.append(_claim(turn["role"], turn["content"], session["session"], said_at, _role(turn["role"])))
    questions = [
        Question(
            "pool", row["question"], row["type"], frozenset(row["evidence_sessions"]), _asked_on(row["question_date"])
        )
        for row in _rows(data / "longmemeval_evidence/questions.jsonl.gz")
    ]
    return Corpus({"pool": claims}, questions, str)


def beam(data: Path) -> Corpus:
    """Messages of eight long chats between a user and an assistant."""
    claims: dict[str, list[dict[str, Any]]] = {}
    for message in _rows(data / "beam_100k/messages.jsonl.gz"):
        told = claims.setdefault(message["chat"], [])
        ref = f"{message['chat']}/{message['id']}"
        when = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=len(told))
        told.append(_claim(message["role"], message["content"], ref, when, _role(message["role"])))
    questions = [
        Question(row["chat"], row["question"], row["ability"], frozenset(f"{row['chat']}/{e}" for e in row["evidence"]))
        for row in _rows(data / "beam_100k/questions.jsonl.gz")
        if row["ability"] != "summarization" and (row["evidence"] or row["ability"] == "abstention")
    ]
    return Corpus(claims, questions, str)


def timeqa(data: Path) -> Corpus:
    """Paragraphs of a page of Wikipedia each, and questions about a time."""
    claims: dict[str, list[dict[str, Any]]] = {}
    questions: list[Question] = []
    for page in _rows(data / "timeqa_human/pages.jsonl.gz"):
        scope = page["id"]
        name = page["page"].removeprefix("/wiki/").replace("_", " ")
        claims[scope] = [
            _claim(name, text, f"{scope}/{at}", datetime(2024, 1, 1, tzinfo=UTC), "imported:wikipedia")
            for at, text in enumerate(page["paragraphs"])
            if text.strip()
        ]
        for asked in page["questions"]:
            gold = frozenset(f"{scope}/{a['paragraph']}" for a in asked["answers"] if a.get("text"))
            if gold:
                questions.append(Question(scope, asked["question"], page["relation"], gold))
    return Corpus(claims, questions, str)


SETS = {"locomo": locomo, "longmemeval": longmemeval, "beam": beam, "timeqa": timeqa}


# -- asking


def loaded(corpus: Corpus, embedder: object = "default") -> KnowledgeGraph:
    """A graph in memory with all the claims, each set of them in its scope."""
    graph = KnowledgeGraph(durability="relaxed", clock=lambda: NOW, embedder=embedder)
    for scope, claims in corpus.claims.items():
        batch = graph.scoped(scope).add_all(claims)
        refused = [each for each in batch.rejected if each.code != "duplicate"]
        if len(refused) > len(claims) // 100:
            raise SystemExit(f"{len(refused)} of {len(claims)} texts were refused in {scope}: {refused[0].reason}")
    return graph


def found_units(corpus: Corpus, hits: Iterable[Any], depth: int = DEPTH) -> list[str]:
    """The units of the hits in order, each once."""
    units = [corpus.unit(claim.source_ref) for hit in hits for claim in hit.fact.claims]
    return list(dict.fromkeys(units))[:depth]


def half_of(questions: list[Question], half: str) -> list[Question]:
    """Every other question, from the first on for "even", from the second on for "odd"; or all."""
    return questions if half == "all" else questions[half == "odd" :: 2]


class Asked(NamedTuple):
    """A question with what was found."""

    question: Question
    units: list[str]
    score: float


def ask(
    corpus: Corpus,
    graph: KnowledgeGraph,
    questions: Iterable[Question],
    channels: Mapping[str, float] | None = None,
    *,
    dated: bool = True,
) -> Iterator[Asked]:
    """Each question with the units found for it, and the score of the first hit; `dated`: asked on its day."""
    for question in questions:
        scope = graph.scoped(question.scope)
        view = scope.at(question.day) if dated and question.day is not None else scope
        hits = view.recall(question.text, limit=2 * DEPTH, channels=channels)
        yield Asked(question, found_units(corpus, hits), hits[0].score if hits else 0.0)


def figures(asked: Iterable[Asked]) -> dict[str, Figures]:
    """any@5 and frac@10 of the questions that have an answer, of all and by kind."""
    kinds: dict[str, list[tuple[bool, float]]] = {}
    for question, units, _ in asked:
        if question.gold and not question.kind.startswith("abstention"):
            told = (
                bool(question.gold.intersection(units[:5])),
                len(question.gold.intersection(units)) / len(question.gold),
            )
            for kind in ("all", question.kind):
                kinds.setdefault(kind, []).append(told)
    return {
        kind: Figures(len(told), sum(a for a, _ in told) / len(told), sum(f for _, f in told) / len(told))
        for kind, told in kinds.items()
    }


def separation(asked: Iterable[Asked]) -> float | None:
    """How often an answerable question has a higher top score than another (the area under the ROC curve)."""
    with_answer, without = list[float](), list[float]()
    for question, _, score in asked:
        (with_answer if question.gold else without).append(score)
    if not with_answer or not without:
        return None
    won = sum((a > b) + (a == b) / 2 for a in with_answer for b in without)
    return won / (len(with_answer) * len(without))


def updates(data: Path, half: str = "odd", channels: Mapping[str, float] | None = None) -> tuple[int, float, float]:
    """Of the questions whose answer changed: how many, and how often the newer session comes before the older one now.

    The last figure is how often the older one comes first as of its own day.
    """
    corpus = longmemeval(data)
    dates = {claim["source_ref"]: claim["said_at"] for claim in corpus.claims["pool"]}
    asked = [q for q in corpus.questions if q.kind == "knowledge-update" and len(q.gold) > 1]
    now, then = 0, 0
    with loaded(corpus) as graph:
        pool = graph.scoped("pool")
        chosen = half_of(asked, half)
        for question in chosen:
            order = sorted(question.gold, key=dates.__getitem__)
            found = found_units(corpus, pool.recall(question.text, limit=50, channels=channels), 50)
            now += _before(found, order[-1], order[0])
            day = dates[order[0]] + timedelta(minutes=1)
            found = found_units(corpus, pool.at(day).recall(question.text, limit=50, channels=channels), 50)
            then += _before(found, order[0], order[-1])
    return len(chosen), now / len(chosen), then / len(chosen)


def _before(found: list[str], first: str, second: str) -> bool:
    return first in found and (second not in found or found.index(first) < found.index(second))


# -- the table


def handed_over(folder: Path) -> StaticEmbedder | None:
    """The table that the one in the package was to better, from a folder beside the data; None where there is none."""
    path = folder / "static256_minilm.npz"
    if not path.exists():
        return None
    with np.load(path) as stored:
        numbers, scales = stored["q"], stored["s"]
    pieces = (folder / "vocab.txt").read_text("utf-8").split("\n")[: len(numbers)]
    return StaticEmbedder("handed over", pieces, numbers, scales)


ALONE = {
    name: {"exact": 0, "lexical": 0, "vector": 0, "graph": 0, "time": 0, "context": 0, name: 1}
    for name in ("lexical", "vector")
}
_UNDATED = "asked on no day"


def main() -> None:
    parser = argparse.ArgumentParser(description="recall on texts and questions")
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("--half", choices=["odd", "even", "all"], default="odd")
    parser.add_argument("--set", choices=list(SETS), action="append")
    parser.add_argument("--each", action="store_true", help="also channels one by one, and without the embedder")
    options = parser.parse_args()
    ways: dict[str, tuple[object, Mapping[str, float] | None]] = {
        "all channels": ("default", None),
        _UNDATED: ("default", None),
    }
    if options.each:
        ways |= {f"only {name}": ("default", channels) for name, channels in ALONE.items()}
        ways |= {f"without {name}": ("default", {name: 0}) for name in ("exact", "vector", "graph", "time", "context")}
        ways["embedder=None"] = (None, None)
        former = handed_over(options.data.parent / "embedder")
        if former is not None:
            ways["the table handed over"] = (former, None)
            ways["only vector, of that table"] = (former, ALONE["vector"])
    table: dict[str, dict[tuple[str, str], float]] = {}
    print(f"half: {options.half}")
    for name in options.set or SETS:
        corpus = SETS[name](options.data)
        questions = half_of(corpus.questions, options.half)
        graphs = {embedder: loaded(corpus, embedder) for embedder in {way[0] for way in ways.values()}}
        bear_days = any(question.day for question in questions)
        for label, (embedder, channels) in ways.items():
            dated = label != _UNDATED
            if not dated and not bear_days:
                continue
            start = time.perf_counter()
            asked = list(ask(corpus, graphs[embedder], questions, channels, dated=dated))
            spent = (time.perf_counter() - start) / max(len(asked), 1)
            shown = figures(asked)
            _show(name, label, shown, separation(asked), spent)
            for key, floor in FLOORS.items():
                if key[0] == name and key[1] in shown:
                    told = shown[key[1]].any5 if floor.figure == "any@5" else shown[key[1]].frac10
                    table.setdefault(label, {})[key] = told
    if not options.set or "longmemeval" in options.set:
        number, now, then = updates(options.data, options.half)
        print(f"longmemeval updates ({number}): newest first {now:.3f} (floor .90), older first on its day {then:.3f}")
    if options.each:
        print("\n".join(_lines(table)))


def _lines(table: Mapping[str, Mapping[tuple[str, str], float]]) -> Iterator[str]:
    """What each way reaches, as a table in Markdown."""
    columns = [key for key in FLOORS if any(key in row for row in table.values())]
    kinds = [kind.removeprefix("single-session-").partition("_")[0] for _, kind in columns]
    heads = [f"{key[0]} {kind} {FLOORS[key].figure}" for key, kind in zip(columns, kinds, strict=True)]
    yield f"| | {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    for label, row in table.items():
        cells = (f"{row[key]:.3f}".removeprefix("0") if key in row else "" for key in columns)
        yield f"| {label} | {' | '.join(cells)} |"


def _show(name: str, label: str, found: dict[str, Figures], auroc: float | None, spent: float) -> None:
    apart = "" if auroc is None else f", answerable apart from not {auroc:.3f}"
    print(f"{name}, {label}: {spent * 1e3:.1f} ms a question{apart}")
    for kind, each in found.items():
        told = FLOORS.get((name, kind))
        if told is not None or (label == "all channels" and name != "timeqa"):
            floor = f"  {told.figure}: BM25 {told.plain}, floor {told.asked}, kept {told.kept}" if told else ""
            print(f"    {kind:28} n={each.asked:4} any@5 {each.any5:.3f} frac@10 {each.frac10:.3f}{floor}")


if __name__ == "__main__":
    main()
