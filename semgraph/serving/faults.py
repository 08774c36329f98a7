"""What a caller is told when a call fails: a code and a sentence, without file names or SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from semgraph import errors
from semgraph.render import clean
from semgraph.serving.wording import for_caller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.model import Entity

__all__ = ["CallRefused", "told"]

#: Of these the message may name the file, so that the caller gets words of ours. The first that fits counts.
_OF_STORE: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (errors.StoreBusy, "busy", "the store is busy; nothing was written, try again"),
    (errors.StoreFull, "full", "no space is left for the store; nothing was written, and reads go on"),
    (errors.StoreReadOnly, "read_only", "the store can't be written to"),
    (errors.StoreCorrupt, "damaged", "the store is damaged; whoever runs the server should run `semgraph verify`"),
    (errors.CommitUnknown, "unknown", "it is not known whether that was kept; the same call may be made again"),
    (errors.PurgePending, "pending", "it is forgotten, but the bytes are still on disk until a reader is done"),
    (errors.StoreError, "unavailable", "the store can't be used; whoever runs the server should look at its log"),
    (errors.ConfigError, "unavailable", "the server is not set up for this"),
    (errors.MissingExtraError, "unavailable", "the server has not what this needs"),
)
_OF_CALL: Final[tuple[tuple[type[Exception], str], ...]] = (
    (errors.NotFoundError, "not_found"),
    (errors.AmbiguousNameError, "ambiguous"),
    (errors.ConflictError, "conflict"),
    (errors.BudgetExceeded, "too_much"),
    (errors.InputError, "bad_input"),
)
_MOST_WORDS: Final = 600
_CANDIDATES: Final = 5


class CallRefused(errors.SemgraphError):
    """A call that the server refuses itself; `.code` says why in a word."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def told(error: Exception) -> str:
    """The error in a line: its code, and what the caller can do.

    >>> told(errors.StoreBusy("/home/maya/notes.db is locked"))
    'busy: the store is busy; nothing was written, try again'
    """
    if isinstance(error, (CallRefused, errors.RejectedError)):
        reason = error.reason if isinstance(error, errors.RejectedError) else str(error)
        return f"{error.code}: {clean(for_caller(reason), _MOST_WORDS)}"
    for kind, code, words in _OF_STORE:
        if isinstance(error, kind):
            return f"{code}: {words}"
    for kind, code in _OF_CALL:
        if isinstance(error, kind):
            message = clean(for_caller(str(error)), _MOST_WORDS)
            return f"{code}: {message}{_hint(message, getattr(error, 'candidates', ()))}"
    return "internal: the call failed inside the server; nothing was written"


def _hint(message: str, candidates: Sequence[Entity]) -> str:
    """The ids of what looks like it, as far as the message does not tell them."""
    ids = [f"{clean(str(one), 80)} = {one.id}" for one in candidates[:_CANDIDATES] if one.id not in message]
    return f" (by id: {', '.join(ids)})" if ids else ""
