"""The facts that matter to a question: candidates of all channels, fused and filtered, with their conflict partners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.errors import InputError
from semgraph.model import Hit
from semgraph.recall.corpus import Corpus
from semgraph.recall.fusion import fused, ranks
from semgraph.recall.lexical import bm25
from semgraph.recall.mentions import mentions
from semgraph.recall.spread import spread
from semgraph.recall.words import clean_query, content_words
from semgraph.walk.cut import checked_count
from semgraph.walk.disputes import partners

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semgraph.model import Fact
    from semgraph.reader import Reader, Reading
    from semgraph.recall.mentions import Mention
    from semgraph.walk.cut import Cut

__all__ = ["recall"]

_SEEDS = 3  # lexical hits from which the graph channel starts where the question names nothing

_Ranked = tuple[str, float, dict[str, int]]


def recall(
    reader: Reader, cut: Cut, query: str, *, limit: int, hops: int, min_confidence: float, valid_at: int | None
) -> list[Hit]:
    """The best facts first, those about entities that the question names before all others; at most `limit`.

    Right after a fact come all that it is in conflict with, beyond the limit and below the floor. The floor is one for
    what was said, not for being disputed: else four equally sure values would keep each other out, and all be silent.
    """
    checked_count("limit", limit, 0)
    checked_count("hops", hops, 0)
    _check(query, min_confidence)
    question = clean_query(query)
    if limit == 0 or not question.strip():
        return []
    corpus = Corpus(reader, cut, min_confidence)
    named = mentions(reader, question, valid_at)
    channels = _channels(corpus, question, named, hops)
    scored = fused({name: ranks(scores) for name, scores in channels.items()})
    order = [(key, score, own) for key, (score, own) in scored.items()]
    order.sort(key=lambda each: ("exact" not in each[2], -each[1], each[0]))
    return _with_partners(corpus, scored, order[:limit], _Why(corpus, content_words(question), named))


def _check(query: object, min_confidence: object) -> None:
    if not isinstance(query, str):
        raise InputError(f"a question is a text, not {query!r}")
    number = isinstance(min_confidence, (int, float)) and not isinstance(min_confidence, bool)
    if not number or not 0 <= min_confidence <= 1:  # type: ignore[operator]  # a number here
        raise InputError(f"min_confidence is a number from 0 to 1, not {min_confidence!r}")


def _channels(corpus: Corpus, question: str, named: Sequence[Mention], hops: int) -> dict[str, dict[str, float]]:
    exact = _exact(corpus, named)
    lexical = bm25(content_words(question), corpus.documents())
    seeds = [number for mention in named for number in mention.entities]
    if not seeds:
        best = sorted(lexical, key=lambda key: (-round(lexical[key], 9), key))[:_SEEDS]
        ends = [(corpus.facts[key].near, corpus.facts[key].far) for key in best]
        seeds = [number for pair in ends for number in pair if number is not None]
    graph = spread(list(dict.fromkeys(seeds)), corpus.facts, corpus.at, hops) if seeds else {}
    return {"exact": exact, "lexical": lexical, "graph": graph}


def _exact(corpus: Corpus, named: Sequence[Mention]) -> dict[str, float]:
    """Facts about the entities named, better the more of the question's letters their names make up."""
    letters: dict[int, int] = {}
    for mention in named:
        for number in mention.entities:
            letters[number] = max(letters.get(number, 0), len(mention.text))
    scores: dict[str, float] = {}
    for number, size in letters.items():
        for key in corpus.at.get(number, ()):
            scores[key] = scores.get(key, 0.0) + size
    # One name is as good as another: only a fact between two of them is more to the point than its neighbours.
    both = {key for key in scores if {corpus.facts[key].near, corpus.facts[key].far} <= letters.keys()}
    return {key: 2.0 if key in both else 1.0 for key in scores}


def _with_partners(
    corpus: Corpus,
    scored: dict[str, tuple[float, dict[str, int]]],
    best: Sequence[_Ranked],
    why: _Why,
) -> list[Hit]:
    hits: list[Hit] = []
    given: set[str] = set()
    readings = [corpus.facts[key].reading for key, *_ in best]
    facts = corpus.reader.facts(readings, corpus.cut.instant)
    for (key, score, own), reading, fact in zip(best, readings, facts, strict=True):
        if key in given:
            continue
        given.add(key)
        hits.append(Hit(fact, score, own, why.found(fact, own)))
        fresh = [partner for partner in _partners(corpus, reading) if partner.row.id not in given]
        given.update(partner.row.id for partner in fresh)
        for rival in corpus.reader.facts(fresh, corpus.cut.instant):
            points, ranked = scored.get(rival.id, (0.0, {}))
            reason = f"contradicts {fact.label}"
            hits.append(Hit(rival, points, ranked, f"{why.found(rival, ranked)}; {reason}" if ranked else reason))
    return hits


def _partners(corpus: Corpus, reading: Reading) -> Iterator[Reading]:
    for rival in partners(corpus.reader, corpus.cut, reading):
        candidate = corpus.facts.get(rival.row.id)
        yield rival if candidate is None else candidate.reading


class _Why:
    """Says in words what led to a fact."""

    def __init__(self, corpus: Corpus, wanted: Sequence[str], named: Sequence[Mention]) -> None:
        self._wanted = wanted
        self._named = named
        self._corpus = corpus

    def found(self, fact: Fact, channels: dict[str, int]) -> str:
        """For example: about Maya; matches work, stripe."""
        parts = []
        if "exact" in channels:
            ids = {getattr(end, "id", "") for end in (fact.subject, fact.object)}
            entity = self._corpus.reader.directory.entity
            names = [m.text for m in self._named if any(entity(number).id in ids for number in m.entities)]
            parts.append(f"about {' and '.join(dict.fromkeys(names))}")
        if "lexical" in channels:
            own = self._words(fact)
            parts.append(f"matches {', '.join(word for word in self._wanted if word in own)}")
        if "graph" in channels and "exact" not in channels:
            parts.append("connected with what the question is about")
        return "; ".join(parts)

    def _words(self, fact: Fact) -> set[str]:
        from semgraph.recall.words import words

        texts = [fact.subject.label, fact.object.label if fact.object else "", *(c.text or "" for c in fact.claims)]
        return {word for text in texts for word in words(text)} | set(self._corpus.predicate_words(fact.predicate))
