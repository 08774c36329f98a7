"""The facts that matter to a question: candidates of all channels, fused and filtered, with their conflict partners."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semgraph.errors import InputError
from semgraph.model import Hit
from semgraph.names import entity_key
from semgraph.recall import channels
from semgraph.recall.advice import asks_for_advice
from semgraph.recall.corpus import Corpus
from semgraph.recall.fusion import fused, ranks, shares, weights
from semgraph.recall.library import library_of
from semgraph.recall.mentions import mentions
from semgraph.recall.moments import nearness, stretches
from semgraph.recall.recency import Sentence, later_first
from semgraph.recall.spread import spread
from semgraph.recall.words import clean_query, content_words, words
from semgraph.render import clean
from semgraph.walk.cut import checked_confidence, checked_count
from semgraph.walk.disputes import partners

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semgraph.model import Fact
    from semgraph.reader import Reader, Reading
    from semgraph.recall.channels import Found
    from semgraph.recall.library import Library
    from semgraph.recall.mentions import Mention
    from semgraph.walk.cut import Cut

__all__ = ["recall"]

_SEEDS = 3  # lexical hits from which the graph channel starts where the question names nothing
_FEWEST = 6  # facts that are looked for as if so many were asked for, so that a lower limit gives the same order
_MOST = 10_000  # facts that are looked for, however many are asked for
_EACH = 5  # facts that a channel looks for, for each one asked for
_HALF = 60  # so far down the list a fact is worth half as much to those told beside it
_CONTEXT = 2  # facts whose neighbours in the telling are looked at, for each one asked for
_UNTOLD = 0.5  # of its score a fact loses so much if nobody is sure of it: what was said goes before what was guessed
_MORE = 8  # facts that are read together where those before them are not sure enough
_SURE = 0.9  # the confidence in what somebody says of himself

_Ranked = tuple[str, float, dict[str, int]]
_Scored = dict[str, tuple[float, dict[str, int]]]


class _Question(NamedTuple):
    """A question as the channels see it: as a vector, its words, what it names, and when it asks about.

    The facts of what it names come before others, unless it is named by a word for oneself, or is a hub: that is a hint
    and no order.
    """

    meaning: NDArray[np.float32] | None
    words: Sequence[str]
    mentions: Sequence[Mention]
    named: frozenset[int]
    hubs: frozenset[int]
    first: frozenset[int]
    times: Sequence[tuple[int, int]]


def recall(
    reader: Reader,
    cut: Cut,
    query: str,
    *,
    limit: int,
    hops: int,
    min_confidence: float,
    valid_at: int | None,
    channels: Mapping[str, float] | None = None,
    meaning: NDArray[np.float32] | None = None,
) -> list[Hit]:
    """The best facts first, those about entities that the question names before all others; at most `limit`.

    Right after a fact come all that it is in conflict with, beyond the limit and below the floor. The floor is one for
    what was said, not for being disputed: else four equally sure values would keep each other out, and all be silent.
    `meaning` is the question as a vector of the session's own embedder, if it has one.
    """
    limit = checked_count("limit", limit, 0)
    hops = checked_count("hops", hops, 0)
    _check(query, min_confidence)
    text = clean_query(query)
    weight = weights(channels, advice=asks_for_advice(text))
    if limit == 0 or not text.strip():
        return []
    library = library_of(reader.session)
    row = library.vector(text) if meaning is None else meaning
    corpus = Corpus(reader, cut, min_confidence)
    question = _question(corpus, text, valid_at, row)
    scored, found = _scored(corpus, library, question, limit, hops, weight)
    order = _best(corpus, scored, question.first, limit)
    best = _later_first(corpus, library, order, found)
    return _with_partners(corpus, scored, best, _Why(corpus, question))


def _check(query: object, min_confidence: object) -> None:
    if not isinstance(query, str):
        raise InputError(f"a question is a text, not {query!r}")
    checked_confidence(min_confidence)


def _question(corpus: Corpus, text: str, valid_at: int | None, meaning: NDArray[np.float32] | None) -> _Question:
    found = mentions(corpus.reader, text, valid_at)
    words_for_self = corpus.reader.session.config.self_names
    proper = {
        number for mention in found if entity_key(mention.text) not in words_for_self for number in mention.entities
    }
    everything = {number for mention in found for number in mention.entities}
    hubs = {number for number in everything if corpus.is_hub(number)}
    return _Question(
        meaning,
        content_words(text),
        found,
        frozenset(everything - hubs),
        frozenset(hubs & proper),
        frozenset(proper - hubs),
        stretches(text, corpus.cut.instant if corpus.cut.instant is not None else corpus.reader.session.now()),
    )


def _scored(
    corpus: Corpus, library: Library, question: _Question, limit: int, hops: int, weight: Mapping[str, float]
) -> tuple[_Scored, dict[str, dict[str, float]]]:
    """Every fact that some channel found, with its score and its rank in each; and what the channels found."""
    limit = max(min(limit, _MOST), _FEWEST)
    texts, found = _searched(corpus, library, question, _EACH * limit, hops, weight)
    everything = dict.fromkeys(key for scores in found.values() for key in scores)
    told = {name: channels.completed(corpus, each, everything) for name, each in texts.items()}
    parts = {name: shares(told.get(name, scores)) for name, scores in found.items()}
    if weight["exact"]:
        parts["exact"] = found["exact"] = channels.exact(corpus, question.named, question.hubs, everything)
    if weight["time"] and question.times:
        parts["time"] = found["time"] = _timely(corpus, everything, question.times)
    ranked = {name: ranks(scores) for name, scores in found.items()}
    scored = fused(parts, weight)
    if weight["context"] and scored and library.tellings.any:
        order = sorted(scored, key=lambda key: (-scored[key], key))[: _CONTEXT * limit]
        near = channels.beside(corpus, {key: place for place, key in enumerate(order, 1)})
        ranked["context"] = {key: int(-place) for key, place in near.items()}
        parts["context"] = {key: _HALF / (_HALF + place) for key, place in ranked["context"].items()}
        scored = fused(parts, weight)
    own: dict[str, dict[str, int]] = {key: {} for key in scored}
    for name, ranking in ranked.items():
        for key, rank in ranking.items():
            own[key][name] = rank
    return {key: (score, own[key]) for key, score in scored.items()}, found


def _best(corpus: Corpus, scored: _Scored, first: frozenset[int], limit: int) -> list[_Ranked]:
    """The best facts in order, their scores lowered by how sure they are; only those that may be best are read."""

    def place(key: str, score: float) -> tuple[bool, float, str]:
        return first.isdisjoint(corpus.facts[key].ends), -score, key

    falling = sorted((place(key, score), key) for key, (score, _) in scored.items())
    best: list[tuple[tuple[bool, float, str], _Ranked]] = []
    done, size = 0, limit
    while done < len(falling):
        if len(best) == limit and best[-1][0] < falling[done][0]:  # to be less sure only lowers what follows
            break
        batch = [key for _, key in falling[done : done + size]]
        corpus.read(batch)
        for key in batch:
            score, own = scored[key]
            lowered = score * _trust(corpus, key)
            best.append((place(key, lowered), (key, lowered, own)))
        best = sorted(best, key=lambda each: each[0])[:limit]
        done, size = done + len(batch), _MORE
    return [ranked for _, ranked in best]


def _searched(
    corpus: Corpus, library: Library, question: _Question, wanted: int, hops: int, weight: Mapping[str, float]
) -> tuple[dict[str, Found], dict[str, dict[str, float]]]:
    """What the channels of texts found, and the scores of these and of the graph."""
    about = question.first | question.hubs
    groups = library.groups(question.words, corpus.reader.snapshot.registry)
    by_words = channels.lexical(corpus, library, groups, wanted, about)
    texts = {"lexical": by_words} if weight["lexical"] else {}
    if weight["vector"]:
        by_meaning = channels.vector(corpus, library, question.meaning, wanted, about)
        texts |= {"vector": by_meaning} if by_meaning else {}
    found = {name: each.scores for name, each in texts.items()}
    if weight["graph"]:
        found["graph"] = _graph(corpus, question, by_words.scores, hops)
    return texts, found


def _later_first(
    corpus: Corpus, library: Library, order: list[_Ranked], found: Mapping[str, Mapping[str, float]]
) -> list[_Ranked]:
    """The ranking, in which of sentences that say much the same the later said comes first."""
    vectors = library.vectors
    if vectors is None:
        return order
    fitting = [found.get(name, {}) for name in ("lexical", "vector", "time")]
    documents = [corpus.documents.get(key, -1) for key, *_ in order]
    sentences = [
        Sentence(corpus.facts[key].near, corpus.said_at(key), tuple(each.get(key, 0.0) for each in fitting))
        if corpus.facts[key].sentence and 0 <= document < len(vectors)
        else None
        for (key, *_), document in zip(order, documents, strict=True)
    ]
    return [order[at] for at in later_first(sentences, lambda a, b: vectors.alike(documents[a], documents[b]))]


def _trust(corpus: Corpus, key: str) -> float:
    base = corpus.reading(key).body.base
    return 1 - _UNTOLD * (1 - min(base / _SURE, 1.0))


def _timely(corpus: Corpus, keys: Iterable[str], times: Sequence[tuple[int, int]]) -> dict[str, float]:
    """How near what was found lies to the times asked about: a sentence when it was said, a fact while it holds."""
    found = {}
    for key in keys:
        fact = corpus.facts[key]
        near = nearness(fact.start, fact.start if fact.sentence else fact.end, times)
        if near:
            found[key] = near
    return found


def _graph(corpus: Corpus, question: _Question, lexical: Mapping[str, float], hops: int) -> dict[str, float]:
    """What is near what the question names; where it names nothing, near what has its words."""
    seeds = sorted(question.named)
    if not seeds and not question.hubs:
        best = sorted(lexical, key=lambda key: (-round(lexical[key], 6), key))[:_SEEDS]
        told = [corpus.facts[key] for key in best]
        # Who said a sentence is not what it is about.
        ends = dict.fromkeys(number for fact in told if not fact.sentence for number in fact.ends)
        seeds = [number for number in ends if not corpus.is_hub(number)]
    return spread(seeds, corpus, hops) if seeds else {}


def _with_partners(corpus: Corpus, scored: _Scored, best: Sequence[_Ranked], why: _Why) -> list[Hit]:
    hits: list[Hit] = []
    given: set[str] = set()
    readings = [corpus.reading(key) for key, *_ in best]
    facts = corpus.reader.facts(readings, corpus.cut.instant)
    for (key, score, own), reading, fact in zip(best, readings, facts, strict=True):
        if key in given:
            continue
        given.add(key)
        hits.append(Hit(fact, score, own, why.found(fact, own)))
        fresh = [partner for partner in _partners(corpus, reading) if partner.row.id not in given]
        given.update(partner.row.id for partner in fresh)
        for rival in corpus.reader.facts(fresh, corpus.cut.instant) if fresh else ():
            points, ranked = scored.get(rival.id, (0.0, {}))
            points *= _trust(corpus, rival.id) if ranked else 1
            reason = f"contradicts {fact.label}"
            hits.append(Hit(rival, points, ranked, f"{why.found(rival, ranked)}; {reason}" if ranked else reason))
    return hits


def _partners(corpus: Corpus, reading: Reading) -> Iterator[Reading]:
    for rival in partners(corpus.reader, corpus.cut, reading):
        yield corpus.reading(rival.row.id) if rival.row.id in corpus.facts else rival


class _Why:
    """Says in words what led to a fact."""

    def __init__(self, corpus: Corpus, question: _Question) -> None:
        self._corpus = corpus
        self._question = question

    def found(self, fact: Fact, channels: Mapping[str, int]) -> str:
        """For example: about Maya; matches work, stripe."""
        parts = []
        if "exact" in channels:
            ids = {getattr(end, "id", "") for end in (fact.subject, fact.object)}
            entity = self._corpus.reader.directory.entity
            names = [m.text for m in self._question.mentions if any(entity(n).id in ids for n in m.entities)]
            parts.append(f"about {' and '.join(dict.fromkeys(map(clean, names)))}")  # as the question writes them
        if "lexical" in channels:
            own = self._words(fact)
            matching = [word for word in self._question.words if word in own]
            parts.append(f"matches {', '.join(matching)}" if matching else "has the words")
        elif "vector" in channels:
            parts.append("means something like it")
        if "time" in channels:
            parts.append("of the time asked about")
        if "context" in channels and "exact" not in channels and "lexical" not in channels:
            parts.append("told beside one that fits")
        elif "graph" in channels and "exact" not in channels:
            parts.append("connected with what the question is about")
        return "; ".join(parts)

    def _words(self, fact: Fact) -> set[str]:
        registry = self._corpus.reader.snapshot.registry
        entry = registry.entry(fact.predicate)
        texts = [fact.subject.label, fact.object.label if fact.object else ""]
        texts += [text for c in fact.claims for text in (c.text or "", c.subject.label)]
        texts += [entry.name, fact.predicate, *entry.aliases, *registry.inverses_of(entry.name)]
        return {word for text in texts for word in words(text)}
