"""The reference store: plain dictionaries and full scans, by which the others are measured."""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from semgraph.errors import StoreClosed, StoreError
from semgraph.instants import NEG_INF
from semgraph.store.moulds import BASE, Mould, base_of, carrier_of
from semgraph.store.schema import Row, ScopeRow
from semgraph.store.shapes import (
    INT64,
    RowType,
    canonical,
    checked_changes,
    checked_limit,
    column,
    conditions,
    key_of,
    one_table,
    sort,
    test_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from semgraph.store.protocol import R, Revision, Store, Value, Where
    from semgraph.store.schema import ClaimColumns

Key = tuple[Any, ...]


class MemoryStore:
    """Rows in dictionaries by key. Every change is noted in an undo list, which is what a rollback plays back."""

    def __init__(self) -> None:
        self._rows: dict[RowType, dict[Key, Row]] = defaultdict(dict)
        self._undo: list[tuple[RowType, Key, Row | None]] = []
        self._lock = threading.RLock()
        self._depth = 0
        self._writing = False
        self._closed = False
        self._last_scope = 0
        self._changes = 0

    @property
    def path(self) -> Path | None:
        """None: there is no file."""
        return None

    @property
    def read_only(self) -> bool:
        """False."""
        return False

    @contextmanager
    def read(self) -> Iterator[None]:
        """One committed snapshot for everything inside: nobody else writes meanwhile."""
        with self._lock:
            self._usable()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextmanager
    def write(self, *, wait: bool = True) -> Iterator[None]:  # noqa: ARG002 - nobody else writes
        """Everything inside is kept wholly or not at all; a nested block that fails undoes its own part only."""
        with self._lock:
            self._usable()
            if self._depth and not self._writing:
                raise StoreError("a read transaction can't begin to write; open `write()` first, and read inside it")
            start, outermost = len(self._undo), not self._depth
            self._depth += 1
            self._writing = True
            try:
                yield
            except BaseException:
                self._play_back(start)
                raise
            finally:
                self._depth -= 1
                if outermost:
                    self._writing = False
                    self._undo.clear()

    def scope(self, name: str) -> ScopeRow | None:
        """The scope of that name."""
        return next((row for row in self.scopes() if row.name == name), None)

    def scopes(self) -> list[ScopeRow]:
        """Every scope, by number."""
        with self._lock:
            self._usable()
            return sorted(row for row in self._rows[ScopeRow].values() if isinstance(row, ScopeRow))

    def create_scope(self, name: str) -> ScopeRow:
        """A new scope with a number never used before; StoreError if the name is taken."""
        with self.write():
            if self.scope(name) is not None:
                raise StoreError("a scope of this name is there already")
            row = ScopeRow(self._last_scope + 1, name, NEG_INF, 0)
            self.insert([row])
            return row

    def update_scope(self, row: ScopeRow) -> None:
        """Keep the clock, counter and feed of `row`; StoreError if its scope is gone."""
        changes: dict[str, Value] = {"last_recorded": row.last_recorded, "entities": row.entities, "feed": row.feed}
        if not self.update(ScopeRow, row.scope, changes):
            raise StoreError("the scope is not there any more")

    def delete_scope(self, scope: int) -> None:
        """Remove the scope's own row; its other rows are the caller's."""
        self.delete(ScopeRow, scope)

    def select(
        self, table: type[R], scope: int, *, order: Sequence[str] | None = (), limit: int | None = None, **where: Where
    ) -> list[R]:
        """The rows that meet every condition, in `order` (a leading `-` is descending), ties in key order."""
        checked_limit(limit)
        with self._lock:
            self._usable()
            found = self._matching(table, scope, where)
            sort(table, found, () if order is None else order)
            return found[:limit]

    def iterate(self, table: type[R], scope: int, *, order: Sequence[str] | None = (), **where: Where) -> Iterator[R]:
        """The same, inside a transaction that the caller holds."""
        if not self._depth:
            raise StoreError("rows can be iterated only inside a transaction: open `read()` or `write()` first")
        return iter(self.select(table, scope, order=order, limit=None, **where))

    def tuples(self, table: type[R], scope: int, names: Sequence[str], **where: Where) -> Iterator[tuple[Any, ...]]:
        """The values of some columns alone, in key order; otherwise as `iterate`."""
        rows = self.iterate(table, scope, order=(), **where)
        places = [column(table, "body" if name == BASE else name).at for name in names]
        if BASE not in names:
            return (tuple(row[at] for at in places) for row in rows)
        based = names.index(BASE)
        found = ([row[at] for at in places] for row in rows)
        return ((*told[:based], base_of(str(told[based])), *told[based + 1 :]) for told in found)

    def count(self, table: type[R], scope: int, **where: Where) -> int:
        """How many rows meet every condition."""
        with self._lock:
            self._usable()
            return len(self._matching(table, scope, where))

    def insert(self, rows: Sequence[R], *, replace: bool = False) -> None:
        """Keep the rows, all of one type; an existing key is a StoreError, and none is kept, unless `replace`."""
        if not rows:
            return
        table = one_table(rows)
        with self.write():
            for row in rows:
                exact = _storable(canonical(row))
                key = key_of(exact)
                if key in self._rows[table] and not replace:
                    raise StoreError("a row with this key is there already, or a value is one that no column takes")
                self._put(table, key, exact)

    def insert_told(self, claims: ClaimColumns, moulds: Sequence[str]) -> None:
        """Keep new claims, and with each the current fact that the mould at its place casts from it."""
        rows = claims.rows()
        with self.write():
            self.insert(rows)
            self.insert([Mould(text).cast(carrier_of(row)) for row, text in zip(rows, moulds, strict=True)])

    def update(self, table: RowType, scope: int, changes: dict[str, Value], **where: Where) -> int:
        """How many rows were changed."""
        checked_changes(table, changes)
        with self.write():
            found = self._matching(table, scope, where)
            for row in found:
                self._put(table, key_of(row), None)
            self.insert([row._replace(**changes) for row in found])
            return len(found)

    def delete(self, table: RowType, scope: int, **where: Where) -> int:
        """How many rows were removed."""
        with self.write():
            found = self._matching(table, scope, where)
            for row in found:
                self._put(table, key_of(row), None)
            return len(found)

    def version(self) -> int:
        """0: there is no other handle."""
        self._usable()
        return 0

    def revision(self) -> Revision | None:
        """What stays equal as long as nothing was written; None inside a write."""
        with self._lock:
            self._usable()
            return None if self._writing else (0, self._changes)

    def check(self) -> list[str]:
        """Nothing: there is no file below the rows."""
        self._usable()
        return []

    def backup(self, path: Path) -> None:
        """A copy of the committed state at `path`, as a SQLite file."""
        from semgraph.store.files import published
        from semgraph.store.sqlite import SqliteStore

        with self._lock:
            self._usable()
            if self._depth:
                raise StoreError("a backup of a store in memory can't run inside a transaction; leave its block first")
            with published(path) as draft:
                copy = SqliteStore(draft)
                try:
                    with copy.write():
                        for rows in self._rows.values():
                            copy.insert(list(rows.values()))
                finally:
                    copy.close()

    def purge(self) -> bool:
        """True: there are no files."""
        self._usable()
        if self._depth:
            raise StoreError("a purge can't run inside a transaction; leave its block first")
        return True

    def residue(self, needles: Sequence[bytes]) -> list[bytes]:  # noqa: ARG002  # the protocol's
        """Nothing: there are no files."""
        self._usable()
        return []

    def close(self) -> None:
        """Forget the rows; later calls raise `StoreClosed`. Inside a transaction it is refused."""
        with self._lock:
            if self._depth:
                raise StoreError("the store can't be closed inside a transaction; leave its block first")
            self._closed = True
            self._rows.clear()

    def _usable(self) -> None:
        if self._closed:
            raise StoreClosed("the store was closed; open it again")

    def _matching(self, table: RowType, scope: int, where: Mapping[str, Where]) -> list[Any]:
        asked = conditions(table, tuple(where), tuple(map(type, where.values())))
        tests = [test_of(condition, where) for condition in asked]
        at = column(table, "scope").at
        return [row for row in self._rows[table].values() if row[at] == scope and all(test(row) for test in tests)]

    def _put(self, table: RowType, key: Key, row: Row | None) -> None:
        rows = self._rows[table]
        self._changes += 1
        self._undo.append((table, key, rows.get(key)))
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
        if isinstance(row, ScopeRow):
            self._last_scope = max(self._last_scope, row.scope)

    def _play_back(self, start: int) -> None:
        while len(self._undo) > start:
            table, key, row = self._undo.pop()
            if row is None:
                self._rows[table].pop(key, None)
            else:
                self._rows[table][key] = row


def _storable(row: Row) -> Row:
    """The row, unless it holds what no store can keep: numbers past 64 bits, lone surrogates, not-a-number."""
    for value in row:
        if isinstance(value, int) and value not in INT64:
            raise StoreError("a number does not fit in 64 bits")
        if isinstance(value, str) and not _encodes(value):
            raise StoreError("a text holds lone surrogates, which no store keeps")
        if value != value:  # noqa: PLR0124  # only not-a-number differs from itself
            raise StoreError("a row with this key is there already, or a value is one that no column takes")
    return row


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


if TYPE_CHECKING:
    _KEEPS_THE_PROTOCOL: type[Store] = MemoryStore
