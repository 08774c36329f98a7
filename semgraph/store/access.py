"""How the parts of a SQLite store reach the connection that it guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Access(Protocol):
    """Statements inside the transaction that is open; errors of the driver come as declared ones."""

    #: Queries whose rows were not all read yet: while there is one, no index may go.
    unfinished: set[Any]

    def fetch(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """All rows of a query."""

    def some(self, text: str, parameters: tuple[Any, ...], size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, so many at a time."""

    def run(self, text: str, parameters: tuple[Any, ...] = ()) -> int:
        """How many rows a statement changed."""

    def many(self, text: str, parameters: Iterable[tuple[Any, ...]]) -> int:
        """Run a statement for each tuple of parameters; the number of the row that was added last."""
