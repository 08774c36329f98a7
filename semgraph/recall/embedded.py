"""Vectors of an embedder that is slow: made outside of any transaction, in batches, and kept in the store.

The table that ships with semgraph needs none of this: its vectors are sums that are looked up as they are needed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.embedding import UnavailableError, loaded, pauses
from semgraph.embedding.static import StaticEmbedder
from semgraph.errors import ConfigError, SemgraphError, StoreError
from semgraph.recall.library import READ, VECTOR, library_of, ready, spelled
from semgraph.recall.words import clean_query
from semgraph.store.schema import ClaimRow, VectorRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from semgraph.recall.library import Library
    from semgraph.session import Session

__all__ = ["Meant", "asked", "reembed"]

_AT_A_TIME: Final = 256  # texts in one call of an embedder
_A_RECALL: Final = 2048  # texts that an embedder is given before a question is answered


class Meant(NamedTuple):
    """A question as a vector, if there is one; and why there is none where the embedder should have given one."""

    row: NDArray[np.float32] | None = None
    failed: str = ""


def asked(session: Session, question: object) -> Meant:
    """A question as a vector of the session's own embedder, after it was given some texts that it has not seen yet.

    None where the table does that, where there is no embedder, and where it fails: the question is then answered
    without it.
    """
    embedder, why = ready(session.embedder)
    text = clean_query(question) if isinstance(question, str) else ""
    if embedder is None or isinstance(embedder, StaticEmbedder) or not text.strip():
        return Meant(None, why)
    with session.read():
        library = library_of(session)
    if not len(library.text):
        return Meant()
    if pause := pauses.why(embedder):
        return Meant(None, pause)
    try:
        if session.store.revision() is not None:  # inside a write nothing waits for a model
            _catch_up(session, library)
    except UnavailableError as error:
        return Meant(None, pauses.note(embedder, error))
    try:
        rows = np.asarray(getattr(embedder, "encode_question", embedder.encode)([text]), np.float32)
    except UnavailableError as error:
        return Meant(None, pauses.note(embedder, error))
    except Exception as error:  # noqa: BLE001 - whatever somebody's model raises
        return Meant(None, f"the embedder {embedder.id!r} failed ({type(error).__name__}: {error})")
    row = _unit(_checked(embedder, rows, 1))[0]
    return Meant(row if np.any(row) else None)


def _catch_up(session: Session, library: Library) -> None:
    """Make vectors of the claims that have none, of so many at most; an embedder that fails leaves them missing."""
    generation = library.generation
    for _ in range(_A_RECALL // _AT_A_TIME):
        with session.read():
            if library.generation != generation or not library.missing:
                return
            documents = sorted(library.missing)[:_AT_A_TIME]
            texts = _sentences(session, [library.missing[document] for document in documents])
        try:
            rows = _encoded(library.embedder, list(texts.values()))
        except UnavailableError:
            raise
        except Exception:  # noqa: BLE001 - as above
            return
        vectors = _by_claim(library.embedder, texts, rows)
        with suppress(StoreError):  # read only, or somebody writes: they are made again another time
            _keep(session, library.embedder, vectors, wait=False)
        with session.read():
            if library.generation != generation or library.rows is None:
                return
            told = [document for document in documents if library.missing.get(document) in vectors]
            if told:
                found = np.array([vectors[library.missing[document]] for document in told])
                library.rows.put(np.array(told), found.astype(np.float32))
            for document in documents:
                library.missing.pop(document, None)


def reembed(session: Session, progress: Callable[[int, int], object] | None) -> int:
    """How many vectors were made; see `KnowledgeGraph.reembed`."""
    embedder = loaded(session.embedder)
    store, made = session.store, 0
    if embedder is None or isinstance(embedder, StaticEmbedder):
        with store.write():
            row = store.scope(session.scope)
            if row is not None:
                store.delete(VectorRow, row.scope)
        return 0
    with session.read():
        scope = session.ledger.scope
        whole = {
            claim
            for claim, model, dim in store.tuples(VectorRow, scope, ("claim", "model", "dim"))
            if (model, dim) == (embedder.id, embedder.dim)
        }
        claims = [claim for (claim,) in store.tuples(ClaimRow, scope, ("id",))]
    waiting = [claim for claim in claims if claim not in whole]
    done = len(claims) - len(waiting)
    for batch in _batches(waiting):
        if progress is not None:
            progress(done, len(claims))
        with session.read():
            texts = _sentences(session, batch)
        try:
            rows = _encoded(embedder, list(texts.values()))
        except SemgraphError:
            raise
        except Exception as error:
            raise ConfigError(
                f"the embedder {embedder.id!r} failed ({type(error).__name__}: {error}); {made} vectors were made and "
                "are kept: run it again to go on"
            ) from error
        _keep(session, embedder, _by_claim(embedder, texts, rows), wait=True)
        made += len(texts)
        done += len(batch)
    if progress is not None:
        progress(len(claims), len(claims))
    session.libraries.pop(session.scope, None)
    return made


def _batches(claims: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(claims), _AT_A_TIME):
        yield claims[start : start + _AT_A_TIME]


def _sentences(session: Session, claims: Sequence[str]) -> dict[str, str]:
    """The sentences of the claims that are there still."""
    rows = session.store.tuples(ClaimRow, session.ledger.scope, READ, id=list(claims))
    return {name: spelled(predicate, near, far, text) for name, _, predicate, _, near, far, text in rows}


def _encoded(embedder: Any, texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder says of some texts; whatever it raises."""
    return np.asarray(embedder.encode(texts) if texts else np.zeros((0, embedder.dim)), np.float32)


def _by_claim(embedder: Any, claims: Iterable[str], rows: NDArray[np.float32]) -> dict[str, NDArray[np.float16]]:
    """The vector of each claim, of length 1, as it is kept."""
    names = list(claims)
    kept = _unit(_checked(embedder, rows, len(names))).astype(VECTOR)
    return dict(zip(names, kept, strict=True))


def _keep(session: Session, embedder: Any, vectors: dict[str, NDArray[np.float16]], *, wait: bool) -> None:
    """Store the vectors of the claims that nobody forgot meanwhile."""
    store = session.store
    with store.write(wait=wait):
        row = store.scope(session.scope)
        if row is None:
            return
        there = [claim for (claim,) in store.tuples(ClaimRow, row.scope, ("id",), id=list(vectors))]
        rows = [VectorRow(row.scope, claim, embedder.id, embedder.dim, vectors[claim].tobytes()) for claim in there]
        store.insert(rows, replace=True)


def _checked(embedder: Any, rows: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """The vectors of so many texts; one that holds no numbers is none. ConfigError if they are of another shape."""
    if rows.shape != (number, embedder.dim):
        raise ConfigError(
            f"the embedder {embedder.id!r} says that its vectors have {embedder.dim} dimensions, and "
            f"gave an array of shape {rows.shape} for {number} texts: vectors of several models can't be compared"
        )
    return np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
