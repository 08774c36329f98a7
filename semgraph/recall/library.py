"""What can be searched of a scope: the words of its claims and their vectors, in step with what is committed.

Claims never change, so what was read of them stays right for every view; which facts they stand for, and when these
hold, is asked of the store when a question is answered. Everything here can be made anew from the claims; of a large
scope most is read from pages that an earlier recall left in the store (`semgraph.recall.shelving`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.embedding import UnavailableError, loaded, pauses
from semgraph.embedding.static import UNRELATED, StaticEmbedder
from semgraph.errors import ConfigError
from semgraph.index import feed
from semgraph.index.pages import unpacked
from semgraph.index.summed import Sums
from semgraph.index.tellings import Tellings
from semgraph.index.text import TextIndex
from semgraph.index.vectors import Vectors
from semgraph.recall.words import is_small, spoken, words
from semgraph.store.schema import ClaimRow, PageRow, VectorRow
from semgraph.temporal import NEG_INF
from semgraph.vocabulary import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from semgraph.index.vectors import Nearest
    from semgraph.recall.living import Living
    from semgraph.session import Session
    from semgraph.store.protocol import Store
    from semgraph.vocabulary import Registry

__all__ = ["READ", "VECTOR", "Library", "Run", "library_of", "ready", "spelled"]

#: The columns of a claim that are searched.
READ: Final = ("id", "subject", "predicate", "object", "subject_text", "object_text", "text")
_TAKEN_IN: Final = (*READ, "source_ref")
#: How the numbers of a stored vector are written: at 16 bits the ten nearest are the same in 9,995 of 10,000 places.
VECTOR: Final = np.dtype("<f2")
_PREDICATE: Final = "\x01"  # stands before the name of a predicate, so that no word is one
_FEW: Final = 256  # vectors that are looked up one by one
#: How often a word stands, of all words, to count half (Arora, Liang and Ma 2017, "A Simple but Tough-to-Beat Baseline
#: for Sentence Embeddings", where it is `a`).
_RARE: Final = 1e-3
_PRIOR: Final = 1000  # words of ordinary text that a scope is taken to have beside its own
_SMALL: Final = 0.01  # how often a small word stands in ordinary text


class Run(NamedTuple):
    """Documents that follow each other, of claims recorded after `since` up to `until`; `kept` if a page has them."""

    first: int
    last: int
    since: int
    until: int
    kept: bool


class Library:
    """The searchable claims of one scope; it changes only inside a transaction of the store."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder
        self.table = embedder if isinstance(embedder, StaticEmbedder) else None
        self.model = "" if self.table is None else self.table.id  # of the pages that are read and written here
        self.generation = 0
        self._start(-1)

    def _start(self, scope: int) -> None:
        self.generation += 1
        self.text = TextIndex()
        self.tellings = Tellings()
        self.sums = None if self.table is None else Sums(self.table)
        self.rows = None if self.embedder is None or self.sums is not None else Vectors(self.embedder.dim)
        self.missing: dict[int, str] = {}  # the claims of documents that have no vector yet
        self.runs: list[Run] = []
        self.living: Living | None = None
        self.scope, self.epoch, self._known = scope, -1, NEG_INF
        self._passing = False

    @property
    def vectors(self) -> Nearest | None:
        """The vectors of the documents, however they are kept; None without an embedder."""
        return self.rows if self.sums is None else self.sums

    @property
    def unrelated(self) -> tuple[float, float]:
        """The mean cosine of texts that have nothing to do with each other, and what nearly all of them are below."""
        return UNRELATED if self.table is None else self.table.unrelated

    # -- in step

    def refresh(self, session: Session) -> None:
        """Take in what was written since."""
        store = session.store
        row = store.scope(session.scope)
        if row is None:
            self._start(-1)
            return
        try:
            if self._passing or self.scope != row.scope or not self._whole(store, row.feed):
                self._start(row.scope)
                self._open(store, row.last_recorded)
            if self._known != row.last_recorded:
                self._read(store, row.last_recorded)
            self._fill(store)
        except BaseException:
            self._start(-1)
            raise
        self.epoch = feed.epoch(row.feed)
        self._passing = store.revision() is None  # what is being written may yet be undone

    def _whole(self, store: Store, told: str) -> bool:
        """Whether no claim was forgotten since."""
        if self.epoch == feed.epoch(told):
            return True
        if store.count(ClaimRow, self.scope, recorded_at__le=self._known) != len(self.text):
            return False
        there = store.tuples(
            ClaimRow, self.scope, ("id",), recorded_at__le=self._known
        )  # others may have been restored
        return {claim for (claim,) in there} == set(map(self.text.ids.__getitem__, range(len(self.text))))

    def _open(self, store: Store, latest: int) -> None:
        """Take in the pages of the store, and what lies between them; if one is damaged, nothing."""
        try:
            for page in store.select(PageRow, self.scope, model=self.model, until__le=latest):
                if page.since > self._known:
                    self._read(store, page.since)
                self._load(page)
        except ValueError:
            self._start(self.scope)

    def _load(self, page: PageRow) -> None:
        arrays = unpacked(page.payload)
        first = len(self.text)
        try:
            self.text.load(arrays)
            self.tellings.load(arrays)
            if self.sums is not None:
                self.sums.load(arrays)
        except KeyError as error:
            raise ValueError(f"a page has no {error}") from None
        sizes = {len(each) for each in (self.text, self.tellings, self.sums) if each is not None}
        if page.since < self._known or len(sizes) > 1:
            raise ValueError("a page does not follow the one before it")
        self.runs.append(Run(first, len(self.text), page.since, page.until, kept=True))
        self._known = page.until

    def _read(self, store: Store, until: int) -> None:
        """Take in the claims up to a moment, by id."""
        first, since = len(self.text), self._known
        claims = store.tuples(ClaimRow, self.scope, _TAKEN_IN, recorded_at__gt=since, recorded_at__le=until)
        texts, refs = list[str](), list[str | None]()
        self.text.add(_documents(claims, texts, refs))
        self.tellings.add(refs)
        if self.sums is not None:
            self.sums.add(texts)
        if texts:
            self.runs.append(Run(first, len(self.text), since, until, kept=False))
        self._known = until

    def _fill(self, store: Store) -> None:
        """Take in the stored vectors of documents that are new here; those that have none are missing."""
        rows = self.rows
        if rows is None or len(rows) == len(self.text):
            return
        fresh = {self.text.ids[document]: document for document in range(len(rows), len(self.text))}
        where = {"claim": list(fresh)} if len(fresh) <= _FEW else {}
        rows.widen(len(fresh))
        documents, vectors = list[int](), list[bytes]()
        for claim, model, dim, vector in store.tuples(
            VectorRow, self.scope, ("claim", "model", "dim", "vector"), **where
        ):
            if claim in fresh:
                self.check(model, dim)
                documents.append(fresh.pop(claim))
                vectors.append(vector)
        if documents:
            told = np.frombuffer(b"".join(vectors), VECTOR).reshape(len(documents), rows.dim)
            rows.put(np.array(documents), told.astype(np.float32))
        self.missing.update((document, claim) for claim, document in fresh.items())

    def check(self, model: str, dim: int) -> None:
        """Nothing, or ConfigError where a stored vector can't be compared with those of the embedder."""
        if (model, dim) != (self.embedder.id, self.embedder.dim):
            raise ConfigError(
                f"the vectors of this scope were made by {model!r} with {dim} dimensions, and the embedder is now "
                f"{self.embedder.id!r} with {self.embedder.dim}: vectors of several models can't be compared. Run "
                "`semgraph reembed` (or kg.reembed()) to make them anew, or open the graph with the embedder of before"
            )

    # -- questions

    def groups(self, wanted: Sequence[str], registry: Registry) -> list[list[str]]:
        """For each word of a question the words that mean it: itself, and the predicates that have it in a name."""
        named = _predicate_words(registry)
        return [[word, *(_PREDICATE + name for name in named.get(word, ()))] for word in wanted]

    def vector(self, question: str) -> NDArray[np.float32] | None:
        """The question as a vector of the table, in which a word that is everywhere in the scope counts little."""
        if self.table is None or not len(self.text):
            return None
        row = self.table.encode_weighted({run: self._weight(run, forms) for run, forms in spoken(question)})
        return row if np.any(row) else None

    def _weight(self, run: str, forms: Sequence[str]) -> float:
        prior = _SMALL if is_small(run) else 0.0
        often = self.text.found_in(forms) / max(len(forms), 1)
        share = (often + _PRIOR * prior) / (self.text.total + _PRIOR)
        return _RARE / (_RARE + share)


def spelled(predicate: str, near: str, far: str, text: str | None) -> str:
    """A claim as a sentence, for an embedder."""
    told = _told(far, text)
    return told if predicate == STATES else f"{near} {predicate.replace('_', ' ')} {told}"


def _told(far: str, text: str | None) -> str:
    if text is None or text == far:
        return far
    return text if far in text else f"{far} {text}"


def _documents(
    claims: Iterable[tuple[Any, ...]], texts: list[str], refs: list[str | None]
) -> Iterator[tuple[str, int, int, Sequence[str]]]:
    """Claims as documents; their sentences are put into `texts`, their source_refs into `refs`."""
    for name, subject, predicate, target, near, far, text, ref in claims:
        refs.append(ref)
        texts.append(spelled(predicate, near, far, text))
        far_end = int(target[1:]) if target.startswith("e") else -1
        named = [] if predicate == STATES else [_PREDICATE + predicate, *words(predicate)]
        yield name, subject, far_end, [*words(near), *named, *words(_told(far, text))]


def ready(embedder: object) -> tuple[Any, str]:
    """The embedder of a session, loaded; None where it can't be for now, and why."""
    if why := pauses.why(embedder):
        return None, why
    try:
        return loaded(embedder), ""
    except UnavailableError as error:
        return None, pauses.note(embedder, error)


def library_of(session: Session) -> Library:
    """The library of the session's scope, in step; one for all handles of a connection that have the same embedder."""
    embedder, _ = ready(session.embedder)
    found = session.libraries.get(session.scope)
    if not isinstance(found, Library) or found.embedder is not embedder:
        found = session.libraries[session.scope] = Library(embedder)
    found.refresh(session)
    return found


@lru_cache(maxsize=8)
def _predicate_words(registry: Registry) -> dict[str, list[str]]:
    """The predicates that have a word in another name for them, or in that of their inverse, and not in their own."""
    found: dict[str, list[str]] = {}
    for name in registry:
        resolved = registry.resolve(name)
        stored = resolved.predicate.name
        spelled_out = [*resolved.predicate.aliases, *([name] if resolved.inverse else [])]
        others = {word for each in spelled_out for word in words(each)}
        for word in sorted(others.difference(words(stored))):
            if stored not in found.setdefault(word, []):
                found[word].append(stored)
    return found
