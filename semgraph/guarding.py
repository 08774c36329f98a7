"""One claim in one transaction: a refused one is rolled back, kept in the log, and raised with its receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semgraph import remembering
from semgraph.errors import InputError, RejectedError, StoreError
from semgraph.statement import prepare
from semgraph.writing import Writer, premises_of, rejected_receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from semgraph.model import Receipt
    from semgraph.session import Session
    from semgraph.statement import Said

__all__ = ["add_one", "guarded", "keep_rejection", "remember"]


def add_one(session: Session, *, replacing: bool = False, **words: Any) -> Receipt:
    """The receipt of one claim given in the words of `add`; `replacing` refuses a predicate that takes many values."""
    premises = premises_of(words.pop("because", ()))

    def work(writer: Writer, said: Said) -> Receipt:
        if replacing and said.predicate.cardinality == "many" and not _separated(said, words):
            raise InputError(
                f"{words['predicate']!r} takes many values, so set can't tell which one to replace: add() the new one, "
                "or end() the others"
            )
        return writer.receipt(writer.write([(said, premises)]), 0)

    return guarded(session, work, **words)


def _separated(said: Said, words: Mapping[str, Any]) -> bool:
    """Whether the qualifiers place the claim in a fluent of its own, which takes one value."""
    return bool(said.predicate.one_by) and all(
        name in (words.get("qualifiers") or {}) for name in said.predicate.one_by
    )


def remember(
    session: Session,
    text: str,
    extractor: str | Callable[[str], Iterable[Mapping[str, Any]]] | None,
    **given: Any,
) -> list[Receipt]:
    """A receipt per candidate that a text yields; one for the whole text where nothing can be extracted from it."""
    receipts = []
    for words in remembering.candidates(session, text, given, extractor):
        try:
            remembering.check_language(session, text, words)
            receipts.append(add_one(session, **words))
        except RejectedError as error:
            if error.receipt is None:
                keep_rejection(session, error, words)
            if error.receipt is not None:
                receipts.append(error.receipt)
    return receipts


def guarded(session: Session, work: Callable[[Writer, Said], Receipt], **words: Any) -> Receipt:
    """The receipt that `work` makes of a claim that passed the structural checks and the vetoes."""
    words["source"] = session.config.source if words.get("source") is None else words["source"]
    try:
        with session.write(steady=True) as recorded_at:
            said = prepare(session.ledger.registry(), timezone=session.config.timezone, **words)
            remembering.check_guess(session, said)
            remembering.check_vetoes(session, said)
            return work(Writer(session, recorded_at), said)
    except RejectedError as error:
        keep_rejection(session, error, words)
        raise


def keep_rejection(session: Session, error: RejectedError, words: Mapping[str, Any]) -> None:
    """Write a refusal to the log and give the error its receipt; a store that can't be written still gets one."""
    try:
        with session.write(steady=True) as recorded_at:
            Writer(session, recorded_at).keep_rejection(error.code, error.reason, remembering.kept_words(words))
            error.receipt = rejected_receipt(error, recorded_at)
    except StoreError:
        error.receipt = rejected_receipt(error)
