"""What the sentence patterns read out of real text, against gold; and what the gate lets in.

Run it with the folder of the data set: python benchmarks/extraction.py FOLDER

Two sets: abstracts of an encyclopedia with facts marked by people (Re-DocRED), and chat-like passages of which people
noted what deserves to be remembered. A statement counts as right if the marked facts have it, so what the markers left
out counts against the patterns; each such statement is listed.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import semgraph
from semgraph import phrases
from semgraph.phrases.dating import dated

READ_AT = datetime(2020, 1, 1, tzinfo=UTC)
# Which properties of Wikidata a predicate may be marked as, in the same or (turned) the other direction.
MARKED = {
    "birth_date": ("P569",),
    "birth_place": ("P19",),
    "death_date": ("P570",),
    "married_to": ("P26",),
    "works_at": ("P108",),
    "studied_at": ("P69",),
    "located_in": ("P131", "P17", "P276", "P206", "P30"),
    "part_of": ("P361",),
    "founded_by": ("P112",),
    "founded_on": ("P571",),
    "member_of": ("P463", "P54", "P102"),
    "capital_of": ("P1376",),
    "speaks": ("P1412",),
    "owned_by": ("P127",),
    "ceo_of": ("P169",),
    "lives_in": ("P551",),
}


@dataclass
class Score:
    """Counts over a set of texts."""

    sentences: int = 0
    covered: int = 0  # sentences of which something was read
    right: int = 0
    marked: int = 0  # facts of these relations that people marked
    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of what was read that people marked."""
        read = self.right + len(self.wrong)
        return self.right / read if read else 1.0


def joined(tokens: str) -> str:
    """A sentence of separated tokens as people write it."""
    text = re.sub(r" ([,.;:!?)'])", r"\1", re.sub(r"([(]) ", r"\1", " ".join(tokens.split())))
    return text.replace(" - ", "-").replace("`` ", '"').replace("''", '"')


def over_abstracts(path: Path) -> Score:
    """The patterns against the facts that people marked in abstracts."""
    score = Score()
    for row in rows(path):
        marked = {
            (normal(s), fact["p"], normal(o))
            for fact in row["facts"]
            for s in row["entities"][fact["s"]]["names"]
            for o in row["entities"][fact["o"]]["names"]
        }
        wanted = {p for properties in MARKED.values() for p in properties}
        score.marked += sum(fact["p"] in wanted for fact in row["facts"])
        for tokens in row["sentences"]:
            score.sentences += 1
            found = phrases.candidates(joined(tokens), partial(dated, reference=READ_AT))
            read = [words for words in found if "predicate" in words]
            score.covered += bool(read)
            for words in read:
                judge(score, words, marked)
    return score


def judge(score: Score, words: dict[str, Any], marked: set[tuple[str, str, str]]) -> None:
    """Count one statement as right or wrong; relations that nobody marked are left out."""
    if words["predicate"] not in MARKED:
        return
    score.found[words["predicate"]] += 1
    ends = normal(words["subject"]), shown(words["object"])
    if any(said(marked, ends, p) for p in MARKED[words["predicate"]]):
        score.right += 1
    else:
        score.wrong.append(f"{words['subject']} {words['predicate']} {words['object']} <- {words['text']}")


def said(marked: set[tuple[str, str, str]], ends: tuple[str, str], wanted: str) -> bool:
    """Whether people marked it: of an object that is a list of places, its first is enough."""
    subject, thing = ends
    return any(
        p == wanted and s == subject and (o == thing or thing.startswith(f"{o},") or o in thing.split(", "))
        for s, p, o in marked
    )


def shown(thing: object) -> str:
    """An object as the marked entities are written: a date by its digits, in ISO order."""
    return normal(str(thing))


def normal(name: str) -> str:
    """A name without case and punctuation, a date in ISO form."""
    text = joined(name).strip(" .,")
    try:
        return str(semgraph.parse_when(text, reference=READ_AT))
    except semgraph.SemgraphError:
        return text.casefold()


def over_passages(path: Path) -> Score:
    """What the gate lets in of passages of which people kept opinions and commitments only: each is a false accept."""
    score = Score()
    for row in rows(path):
        if {kept["type"] for kept in row["memories"]} - {"opinion", "commitment"}:
            continue
        with semgraph.KnowledgeGraph(clock=lambda: READ_AT) as kg:
            for sentence in phrases.sentences(row["text"]):
                score.sentences += 1
                [receipt] = kg.remember(sentence, subject="user", extractor=None)
                if receipt.code is None:
                    score.wrong.append(sentence)
    return score


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file, compressed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    """Print both reports."""
    folder = Path(sys.argv[1])
    score = over_abstracts(folder / "redocred_dev.jsonl.gz")
    read = score.right + len(score.wrong)
    print(f"abstracts: {score.sentences} sentences, {score.covered} read ({score.covered / score.sentences:.1%})")
    print(f"  precision {score.precision:.3f} ({score.right} of {read})")
    print(f"  recall {score.right / score.marked:.4f} of {score.marked} marked facts")
    print(f"  by predicate: {dict(score.found.most_common())}")
    for line in score.wrong:
        print(f"  not marked: {line}")
    passages = over_passages(folder / "mempalace_memory_extraction_en.jsonl")
    print(f"passages of opinions and commitments: {passages.sentences} sentences, {len(passages.wrong)} let in")
    for line in passages.wrong:
        print(f"  let in: {line}")


if __name__ == "__main__":
    main()
