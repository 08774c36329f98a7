"""What can be searched of a scope: the words of its claims and their vectors, in step with what is committed.

Claims never change, so what was read of them stays right for every view; which facts they stand for, and when these
hold, is asked of the store when a question is answered. Everything here can be made anew from the claims.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semgraph.embedding import default_embedder
from semgraph.errors import ConfigError
from semgraph.index import feed
from semgraph.index.text import TextIndex
from semgraph.index.vectors import Vectors
from semgraph.recall.words import is_small, spoken, words
from semgraph.store.schema import ClaimRow
from semgraph.temporal import NEG_INF
from semgraph.vocabulary import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from semgraph.session import Session
    from semgraph.vocabulary import Registry

__all__ = ["Library", "library_of"]

_READ: Final = ("id", "subject", "predicate", "object", "subject_text", "object_text", "text")
_PREDICATE: Final = "\x01"  # stands before the name of a predicate, so that no word is one
_AT_A_TIME: Final = 256  # texts in one call of an embedder
_A_RECALL: Final = 2048  # texts that an embedder other than the default is given before a question is answered
#: How often a word stands, of all words, to count half (Arora, Liang and Ma 2017, "A Simple but Tough-to-Beat Baseline
#: for Sentence Embeddings", where it is `a`).
_RARE: Final = 1e-3
_PRIOR: Final = 1000  # words of ordinary text that a scope is taken to have beside its own
_SMALL: Final = 0.01  # how often a small word stands in ordinary text


class Library:
    """The searchable claims of one scope; it changes only inside a read transaction of the store."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder
        self._start()

    def _start(self) -> None:
        self.text = TextIndex()
        self.vectors = None if self.embedder is None else Vectors(self.embedder.dim)
        self._pending: list[str] = []
        self._scope, self._epoch, self._known = -1, -1, NEG_INF
        self._passing = False

    # -- in step

    def refresh(self, session: Session) -> None:
        """Take in what was written since, and make vectors of it."""
        store = session.store
        row = store.scope(session.scope)
        if row is None:
            self._start()
            return
        if self._passing or self._scope != row.scope or not self._whole(session, row.feed):
            self._start()
        if self._known != row.last_recorded:
            claims = store.tuples(ClaimRow, row.scope, _READ, recorded_at__gt=self._known)
            self.text.add(self._documents(claims))
        self._scope, self._epoch, self._known = row.scope, feed.epoch(row.feed), row.last_recorded
        self._passing = store.revision() is None  # what is being written may yet be undone
        self.embed(None if self.embedder is default_embedder() else _A_RECALL)

    def _whole(self, session: Session, told: str) -> bool:
        """Whether no claim was forgotten since."""
        if self._epoch == feed.epoch(told):
            return True
        return session.store.count(ClaimRow, self._scope, recorded_at__le=self._known) == len(self.text)

    def _documents(self, claims: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, int, int, Sequence[str]]]:
        for name, subject, predicate, target, near, far, text in claims:
            told = far if text is None or text == far else f"{far} {text}" if far not in text else text
            far_end = int(target[1:]) if target.startswith("e") else -1
            self._pending.append(told if predicate == STATES else f"{near} {predicate.replace('_', ' ')} {told}")
            named = [] if predicate == STATES else [_PREDICATE + predicate, *words(predicate)]
            yield name, subject, far_end, [*words(near), *named, *words(told)]

    def embed(self, most: int | None = None) -> int:
        """How many vectors are missing still, after making those of at most so many claims.

        An embedder that fails leaves them missing: a question is then answered without them.
        """
        if self.vectors is None:
            self._pending.clear()
            return 0
        wanted = len(self._pending) if most is None else min(most, len(self._pending))
        done = 0
        while done < wanted:
            batch = self._pending[done : min(done + _AT_A_TIME, wanted)]
            try:
                rows = np.asarray(self.embedder.encode(batch), np.float32)
            except Exception:  # noqa: BLE001 - whatever somebody's model raises
                break
            self.vectors.extend(_unit(self._checked(rows, len(batch))))
            done += len(batch)
        del self._pending[:done]
        return len(self._pending)

    # -- questions

    def groups(self, wanted: Sequence[str], registry: Registry) -> list[list[str]]:
        """For each word of a question the words that mean it: itself, and the predicates that have it in a name."""
        named = _predicate_words(registry)
        return [[word, *(_PREDICATE + name for name in named.get(word, ()))] for word in wanted]

    def vector(self, question: str) -> NDArray[np.float32] | None:
        """The question as a vector, in which a word that is everywhere in the scope counts little."""
        if self.embedder is None or not self.text.ids:
            return None
        weighted = getattr(self.embedder, "encode_weighted", None)
        try:
            if weighted is None:
                row = np.asarray(self.embedder.encode([question]), np.float32)
            else:
                row = weighted({run: self._weight(run, forms) for run, forms in spoken(question)})[None]
        except Exception:  # noqa: BLE001 - as above
            return None
        row = _unit(self._checked(row, 1))[0]
        return row if np.any(row) else None

    def _checked(self, rows: NDArray[np.float32], number: int) -> NDArray[np.float32]:
        """The vectors of so many texts; one that holds no numbers is none. ConfigError if they are of another shape."""
        if rows.shape != (number, self.embedder.dim):
            raise ConfigError(
                f"the embedder {self.embedder.id!r} says that its vectors have {self.embedder.dim} dimensions, and "
                f"gave an array of shape {rows.shape} for {number} texts: vectors of several models can't be compared"
            )
        return np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))

    def _weight(self, run: str, forms: Sequence[str]) -> float:
        prior = _SMALL if is_small(run) else 0.0
        often = self.text.found_in(forms) / max(len(forms), 1)
        share = (often + _PRIOR * prior) / (self.text.total + _PRIOR)
        return _RARE / (_RARE + share)


def library_of(session: Session) -> Library:
    """The library of the session's scope, in step; one for all handles of a connection that have the same embedder."""
    embedder = default_embedder() if session.embedder == "default" else session.embedder
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
        spelled = [*resolved.predicate.aliases, *([name] if resolved.inverse else [])]
        others = {word for each in spelled for word in words(each)}
        for word in sorted(others.difference(words(stored))):
            if stored not in found.setdefault(word, []):
                found[word].append(stored)
    return found


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
