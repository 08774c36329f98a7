"""semgraph: a temporal knowledge graph that can be trusted with facts that change."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from semgraph.dates import parse_when
    from semgraph.engine import KnowledgeGraph
    from semgraph.errors import (
        AmbiguousNameError,
        BudgetExceeded,
        CommitUnknown,
        ConfigError,
        ConflictError,
        EndpointError,
        ForkedHandle,
        HandlePoisoned,
        ImportRejected,
        InputError,
        MissingExtraError,
        NotFoundError,
        PurgePending,
        RejectedError,
        SchemaTooNew,
        SchemaTooOld,
        SemgraphError,
        StoreBusy,
        StoreClosed,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreReadOnly,
    )
    from semgraph.exchange import read, write
    from semgraph.names import entity_key
    from semgraph.temporal import Bound, from_epoch
    from semgraph.view import GraphView

__version__ = "0.1.0"
__all__ = [
    "AmbiguousNameError",
    "Bound",
    "BudgetExceeded",
    "CommitUnknown",
    "ConfigError",
    "ConflictError",
    "EndpointError",
    "ForkedHandle",
    "GraphView",
    "HandlePoisoned",
    "ImportRejected",
    "InputError",
    "KnowledgeGraph",
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
    "entity_key",
    "from_epoch",
    "parse_when",
    "read",
    "write",
]

#: Where each public name is, but for the errors.
_PLACES = {
    "Bound": "temporal",
    "GraphView": "view",
    "KnowledgeGraph": "engine",
    "entity_key": "names",
    "from_epoch": "temporal",
    "parse_when": "dates",
    "read": "exchange",
    "write": "exchange",
}


def __getattr__(name: str) -> object:
    """A public name or a module, imported when it is first asked for: the command line needs few of them to start."""
    from importlib import import_module

    if name in __all__:
        found: object = getattr(import_module(f"semgraph.{_PLACES.get(name, 'errors')}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_"):
        try:
            return import_module(f"semgraph.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"semgraph.{name}":
                raise
    raise AttributeError(f"module 'semgraph' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
