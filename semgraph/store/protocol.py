"""What a store must do: a handful of batch-shaped row operations inside transactions, and no policy."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from semgraph.store.schema import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from semgraph.store.schema import ClaimColumns, ScopeRow

R = TypeVar("R", bound=Row)
Value: TypeAlias = int | float | str | bytes | None

#: What stands for a state of all rows: equal ones are of the same state.
Revision: TypeAlias = tuple[bytes | int, int]

#: `where` names a column, optionally with `__lt __le __gt __ge`; a list, tuple or set means "any of".
Where: TypeAlias = Value | Collection[int] | Collection[str]


class Store(Protocol):
    """Rows in tables, in transactions. One suite, `tests/store_conformance.py`, says what each method must do."""

    @property
    def path(self) -> Path | None:
        """The file below, or None."""

    @property
    def read_only(self) -> bool:
        """Whether writes are refused with `StoreReadOnly`."""

    def read(self) -> AbstractContextManager[None]:
        """One committed snapshot for everything inside; may be nested, also in `write`."""

    def write(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Everything inside is kept wholly or not at all; no other writer meanwhile. May be nested.

        Without `wait` another process that writes is a `StoreBusy` at once.
        """

    def scope(self, name: str) -> ScopeRow | None:
        """The scope of that name."""

    def scopes(self) -> list[ScopeRow]:
        """Every scope, by number."""

    def create_scope(self, name: str) -> ScopeRow:
        """A new scope with a number never used before and `last_recorded` of `temporal.NEG_INF`."""

    def update_scope(self, row: ScopeRow) -> None:
        """Keep the clock, counter and feed of `row`."""

    def delete_scope(self, scope: int) -> None:
        """Remove the scope's own row; its other rows are the caller's."""

    def select(
        self, table: type[R], scope: int, *, order: Sequence[str] | None = (), limit: int | None = None, **where: Where
    ) -> list[R]:
        """The rows that meet every condition, in `order` (a leading `-` is descending), ties in key order.

        None is for callers to whom the order is nothing: as the store finds them, which costs no sorting.
        """

    def iterate(self, table: type[R], scope: int, *, order: Sequence[str] | None = (), **where: Where) -> Iterator[R]:
        """The same, a few at a time; the caller holds a transaction open meanwhile."""

    def tuples(self, table: type[R], scope: int, names: Sequence[str], **where: Where) -> Iterator[tuple[Any, ...]]:
        """The values of some columns alone, in key order, for whoever reads very many rows; otherwise as `iterate`.

        Facts have one more, `moulds.BASE`: how sure each is by itself, as its body says.
        """

    def count(self, table: type[R], scope: int, **where: Where) -> int:
        """How many rows meet every condition."""

    def insert(self, rows: Sequence[R], *, replace: bool = False) -> None:
        """Keep the rows, all of one type; an existing key is a StoreError unless `replace`."""

    def insert_told(self, claims: ClaimColumns, moulds: Sequence[str]) -> None:
        """Keep new claims, and with each the current fact that the mould at its place (`store.moulds`) casts."""

    def update(self, table: type[R], scope: int, changes: dict[str, Value], **where: Where) -> int:
        """How many rows were changed."""

    def delete(self, table: type[R], scope: int, **where: Where) -> int:
        """How many rows were removed."""

    def version(self) -> int:
        """A number that changes whenever another handle's committed write becomes visible here."""

    def revision(self) -> Revision | None:
        """What stays equal as long as nothing was written, by this handle or another; None while this one writes.

        Cheap, and meant to be asked outside a transaction before each read from memory.
        """

    def check(self) -> list[str]:
        """What is wrong with the file below the rows: structure, digests; empty if nothing."""

    def backup(self, path: Path) -> None:
        """A copy of the committed state at `path`, made while others read and write."""

    def purge(self) -> bool:
        """Whether the bytes of deleted rows are gone from every file; False while a reader holds them."""

    def residue(self, needles: Sequence[bytes]) -> list[bytes]:
        """Which of the needles still stand in the store's files."""

    def close(self) -> None:
        """Release the file; later calls raise `StoreClosed`."""
