"""Every error that semgraph raises, and nothing else crosses its API.

SemgraphError
├── InputError (ValueError)                what was asked makes no sense as asked
│   └── RejectedError  .code .reason .receipt   a claim that the gate or the time and name rules refuse
├── NotFoundError (LookupError)            .candidates   a name, claim or fact that is not there
├── AmbiguousNameError                     .candidates   a name that several entities bear
├── ConflictError                          .facts        one value was asked for, several hold
├── StoreError                             the file or server below
│   ├── StoreBusy           another process holds the lock
│   ├── StoreFull           no space left
│   ├── StoreReadOnly       the file or its folder can't be written
│   ├── StoreCorrupt        damaged, truncated or not a semgraph store
│   ├── StoreClosed         the handle was closed
│   ├── SchemaTooNew        written by a later semgraph
│   ├── SchemaTooOld        too old to be migrated
│   ├── CommitUnknown       the connection went away inside a commit
│   ├── HandlePoisoned      a commit failed; open the store again
│   └── ForkedHandle        a handle used in a forked child
├── BudgetExceeded                         a read or import passed its bound
├── ImportRejected                         .code         a file that can't be taken in; nothing was written
├── PurgePending                           forgotten, but the bytes are still on disk
├── EndpointError                          .fatal .status   a language model gave no answer
├── ConfigError                            a setting that makes no sense
└── MissingExtraError (ImportError)        ends with the `pip install 'semgraph[…]'` to type
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.model import Entity, Fact, Receipt

__all__ = [
    "AmbiguousNameError",
    "BudgetExceeded",
    "CommitUnknown",
    "ConfigError",
    "ConflictError",
    "EndpointError",
    "ForkedHandle",
    "HandlePoisoned",
    "ImportRejected",
    "InputError",
    "MissingExtraError",
    "NotFoundError",
    "PurgePending",
    "RejectedError",
    "SchemaTooNew",
    "SchemaTooOld",
    "SemgraphError",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
]


class SemgraphError(Exception):
    """The root: catching it catches everything that semgraph raises on purpose."""


class InputError(SemgraphError, ValueError):
    """What was asked makes no sense as asked; the message says why and what to do."""


class RejectedError(InputError):
    """A refused claim: `.code` is one of the gate's codes, `.receipt` the kept record of the refusal."""

    def __init__(self, code: str, reason: str, receipt: Receipt | None = None) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason
        self.receipt = receipt

    def __reduce__(self) -> tuple[type[RejectedError], tuple[str, str, Receipt | None]]:
        return type(self), (self.code, self.reason, self.receipt)


class NotFoundError(SemgraphError, LookupError):
    """A name, claim or fact that is not there; `.candidates` are names that look like it."""

    def __init__(self, message: str, candidates: Sequence[Entity] = ()) -> None:
        super().__init__(message)
        self.candidates = list(candidates)


class AmbiguousNameError(SemgraphError):
    """A name that several entities bear; `.candidates` lists them, best first."""

    def __init__(self, message: str, candidates: Sequence[Entity] = ()) -> None:
        super().__init__(message)
        self.candidates = list(candidates)


class ConflictError(SemgraphError):
    """One value was asked for and several hold; `.facts` are all of them."""

    def __init__(self, message: str, facts: Sequence[Fact] = ()) -> None:
        super().__init__(message)
        self.facts = list(facts)


class StoreError(SemgraphError):
    """The file or server below failed; nothing of the transaction at hand was kept."""


class StoreBusy(StoreError):
    """Another process held the lock for longer than the time-out; the call can be tried again."""


class StoreFull(StoreError):
    """No space is left; nothing was written, and reads go on."""


class StoreReadOnly(StoreError):
    """The store or its folder can't be written to."""


class StoreCorrupt(StoreError):
    """The file is damaged, truncated, or no semgraph store."""


class StoreClosed(StoreError):
    """The handle was closed."""


class SchemaTooNew(StoreError):
    """The file was written by a later semgraph; it was left untouched."""


class SchemaTooOld(StoreError):
    """The file is too old to be migrated by this semgraph."""


class CommitUnknown(StoreError):
    """The connection went away inside a commit: asking again is safe, claims are idempotent."""


class HandlePoisoned(StoreError):
    """An earlier commit failed halfway: close this handle and open the store again."""


class ForkedHandle(StoreError):
    """The handle was opened before a fork; the child must open its own."""


class BudgetExceeded(SemgraphError):
    """A read or an import passed its bound."""


class ImportRejected(SemgraphError):
    """A file that can't be taken in; nothing of it was written."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[ImportRejected], tuple[str, str]]:
        return type(self), (self.code, str(self))


class PurgePending(SemgraphError):
    """Forgotten, but a reader still holds the bytes on disk: run the purge again."""


class ConfigError(SemgraphError):
    """A setting that makes no sense."""


class EndpointError(SemgraphError):
    """A language model gave no answer; `.fatal` where no other request would get one either.

    `.status` is that of HTTP, if there was one; `.busy` says that the way in which it was asked is not the reason.
    """

    def __init__(self, message: str, *, fatal: bool = False, busy: bool = False, status: int | None = None) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.busy = busy
        self.status = status


class MissingExtraError(SemgraphError, ImportError):
    """An optional dependency is absent; the message ends with the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency; run: pip install 'semgraph[{extra}]'")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)
