"""The store in one SQLite file, or in memory: transactions, rows, and the file's own care."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

import apsw

from semgraph.errors import (
    CommitUnknown,
    ForkedHandle,
    HandlePoisoned,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from semgraph.instants import NEG_INF
from semgraph.store.commits import Commits
from semgraph.store.connecting import check_place, check_unchanged, copy_to, open_file, open_memory, reader
from semgraph.store.faults import FAULTS, declared, undoes_commit
from semgraph.store.files import occurrences, torn_pages
from semgraph.store.packing import needle_forms
from semgraph.store.salvage import damaged, reckoned, rescued
from semgraph.store.schema import FactRow, ScopeRow
from semgraph.store.shapes import checked_changes, checked_limit, definition
from semgraph.store.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from semgraph.store.protocol import R, Revision, Value, Where
    from semgraph.store.schema import ClaimColumns

_AS_IT_IS: Final = nullcontext()
_UNDONE: Final = "this transaction was undone by an earlier error in it; leave its block and start again"


class SqliteStore:
    """Rows in a SQLite file, or in memory without a path. A handle serves several threads, one call at a time."""

    def __init__(
        self, path: Path | None, *, read_only: bool = False, durability: str = "full", timeout_ms: int = 5000
    ) -> None:
        self._path, self._timeout_ms, self._pid, self._lock = path, timeout_ms, os.getpid(), threading.RLock()
        self._depth, self._writing, self._owner = 0, False, 0  # the owner is the thread whose transaction is open
        self.unfinished: set[apsw.Cursor] = set()
        self._unusable: StoreError | None = None
        self._looked, self._seen = False, -1  # whether the open transaction compared versions, and what it saw
        self._tables = Tables(self)
        if path is None:
            opened = open_memory(durability)
        else:
            opened = open_file(path, read_only=read_only, durability=durability, timeout_ms=timeout_ms)
        self._connection, self._read_only, self._immutable, self._log, self._stamp = opened
        self._commits = Commits(self._connection, self.fetch)

    @property
    def path(self) -> Path | None:
        """The file below, or None for one in memory."""
        return self._path

    @property
    def read_only(self) -> bool:
        """Whether writes are refused: it was asked for, or the file or its folder can't be written."""
        return self._read_only

    # transactions

    @contextmanager
    def read(self) -> Iterator[None]:
        """One committed snapshot for everything inside, fixed by its first look; nested, it joins what is open."""
        self._usable()
        with self._lock:
            if self._depth:
                self._usable()
                yield
                return
            with self._outermost("BEGIN", writing=False):
                yield

    @contextmanager
    def write(self, *, wait: bool = True) -> Iterator[None]:
        """Everything inside is kept wholly or not at all; a nested block that fails undoes its own part only.

        Without `wait` another writer is a StoreBusy at once.
        """
        self._usable()
        with self._lock:
            self._writable()
            if self._depth:
                with self._savepoint():
                    yield
                return
            if self._path is not None and self._stamp is not None:
                check_place(self._path, self._stamp)
            with _AS_IT_IS if wait else self._at_once(), self._outermost("BEGIN IMMEDIATE", writing=True):
                yield

    def scope(self, name: str) -> ScopeRow | None:
        """The scope of that name."""
        return next(iter(self._tables.scopes("WHERE name = ? LIMIT 1", (name,))), None)

    def scopes(self) -> list[ScopeRow]:
        """Every scope, by number."""
        return self._tables.scopes("ORDER BY scope")

    def create_scope(self, name: str) -> ScopeRow:
        """A new scope with a number never used before; StoreError if the name is taken."""
        with self.write():
            if self.scope(name) is not None:
                raise StoreError("a scope of this name is there already")
            self.run("INSERT INTO scope (name, last_recorded, entities, feed) VALUES (?, ?, 0, '')", (name, NEG_INF))
            return ScopeRow(self._connection.last_insert_rowid(), name, NEG_INF, 0)

    def update_scope(self, row: ScopeRow) -> None:
        """Keep the clock, counter and feed of `row`; StoreError if its scope is gone."""
        changes: dict[str, Value] = {"last_recorded": row.last_recorded, "entities": row.entities, "feed": row.feed}
        if not self.update(ScopeRow, row.scope, changes):
            raise StoreError("the scope is not there any more")

    def delete_scope(self, scope: int) -> None:
        """Remove the scope's own row; its other rows are the caller's."""
        self.delete(ScopeRow, scope)

    # rows

    def select(
        self, table: type[R], scope: int, *, order: Sequence[str] | None = (), limit: int | None = None, **where: Where
    ) -> list[R]:
        """The rows that meet every condition, in `order` (a leading `-` is descending), ties in key order."""
        checked_limit(limit)
        with self._looking():
            return self._tables.select(table, scope, order, limit, where)

    def iterate(self, table: type[R], scope: int, *, order: Sequence[str] | None = (), **where: Where) -> Iterator[R]:
        """The same, a few at a time, inside a transaction that the caller holds and without changing this table."""
        with self._lock:
            self._inside_transaction()
            with self._looking():
                return self._tables.iterate(table, scope, order, where)

    def tuples(self, table: type[R], scope: int, names: Sequence[str], **where: Where) -> Iterator[tuple[Any, ...]]:
        """The values of some columns alone, in key order; digests are not checked. Otherwise as `iterate`."""
        with self._lock:
            self._inside_transaction()
            with self._looking():
                return self._tables.tuples(table, scope, tuple(names), where)

    def count(self, table: type[R], scope: int, **where: Where) -> int:
        """How many rows meet every condition."""
        with self._looking():
            return self._tables.count(table, scope, where)

    def insert(self, rows: Sequence[R], *, replace: bool = False) -> None:
        """Keep the rows, all of one type; an existing key is a StoreError, and none is kept, unless `replace`."""
        if not rows:
            return
        with self._changing(several=len(rows) > 1 or (replace and isinstance(rows[0], FactRow))):
            self._tables.insert(rows, replace=replace)

    def insert_told(self, claims: ClaimColumns, moulds: Sequence[str]) -> None:
        """Keep new claims, and with each the current fact that the mould at its place (`store.moulds`) casts."""
        if moulds:
            with self._changing(several=True):
                self._tables.insert_told(claims, moulds)

    def update(self, table: type[R], scope: int, changes: dict[str, Value], **where: Where) -> int:
        """How many rows were changed."""
        checked_changes(table, changes)
        with self._changing(several=definition(table).heap and table is not ScopeRow):
            return self._tables.update(table, scope, changes, where)

    def delete(self, table: type[R], scope: int, **where: Where) -> int:
        """How many rows were removed."""
        with self._changing(several=definition(table).heap):
            return self._tables.delete(table, scope, where)

    # the file

    def version(self) -> int:
        """A number that changes whenever another handle's committed write becomes visible here."""
        with self._looking():
            return self._seen

    def revision(self) -> Revision | None:
        """What stays equal as long as nothing was written, by this handle or another; None while this one writes."""
        self._usable()
        with self._lock:
            if self._writing:
                return None
            if self._depth:
                with self._looking():
                    return self._commits.inside()
            if self._immutable:
                self._check_unchanged()
            return self._commits.newest()

    def check(self) -> list[str]:
        """What is wrong with the file below the rows, without its content; empty if nothing."""
        with self.read():
            return torn_pages(self._path) + damaged(self._connection)

    def salvage(self, table: type[R]) -> Iterator[R]:
        """Every row of any scope that is as it was written, in no order; in a transaction, as for `iterate`."""
        with self._lock:
            self._inside_transaction()
            return rescued(self._connection, table)

    def reckon(self, table: type[R]) -> tuple[int, bool]:
        """How many rows of any scope there are at least, whole or not, and whether that is surely all of them."""
        with self._lock:
            self._inside_transaction()
            return reckoned(self._connection, table)

    def backup(self, path: Path) -> None:
        """A copy of the committed state at `path`, made while others read and write."""
        self._usable()
        if self._path is None:
            with self._lock:
                self._no_transaction("a backup of a store in memory")
                copy_to(path, self._connection)
            return
        source = reader(self._path, immutable=self._immutable, timeout_ms=self._timeout_ms)
        try:
            copy_to(path, source)
        finally:
            source.close(force=True)

    def purge(self) -> bool:
        """Whether the bytes of deleted rows are gone from every file; False while another connection holds them.

        It rebuilds the file: `secure_delete` blanks a row, yet not what SQLite leaves of it in the slack of a page.
        """
        self._usable()
        with self._lock:
            self._no_transaction("a purge")
            self._writable()
            if self._path is None:
                return True
            try:
                # First without the rebuild: while a reader is in the way, it would only make the log longer.
                if not self._emptied_log():
                    return False
                with self.write(), self._looking():
                    self._tables.sweep()
                self._moved("VACUUM")
                return self._emptied_log()
            except StoreBusy:
                return False

    def residue(self, needles: Sequence[bytes]) -> list[bytes]:
        """Which of the needles still stand in the store's files."""
        self._usable()
        forms = needle_forms(needles)
        found = [] if self._path is None else occurrences(self._path, list(forms))
        return list(dict.fromkeys(forms[form] for form in found))

    def close(self) -> None:
        """Release the file; later calls raise `StoreClosed`. Inside a transaction it is refused."""
        if os.getpid() != self._pid:
            return  # the file is the parent's: not even its locks may be touched
        with self._lock:
            if self._depth:
                raise StoreError("the store can't be closed inside a transaction; leave its block first")
            if not isinstance(self._unusable, HandlePoisoned):
                self._unusable = StoreClosed("the store was closed; open it again")
            self._commits.close()
            with suppress(*FAULTS):  # what the file can't take any more stays in the log
                self._connection.close()

    # below

    def _usable(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedHandle("this handle was opened before a fork; open the store again in the child")
        if self._unusable is not None:
            raise type(self._unusable)(*self._unusable.args)

    def _writable(self) -> None:
        self._usable()
        if self._read_only:
            raise StoreReadOnly("the store is open for reading only; open it for writing, where file and folder allow")
        if self._depth and not self._writing:
            raise StoreError("a read transaction can't begin to write; open `write()` first, and read inside it")

    def _inside_transaction(self) -> None:
        self._usable()
        if not self._depth:
            raise StoreError("rows can be iterated only inside a transaction: open `read()` or `write()` first")

    def _no_transaction(self, what: str) -> None:
        if self._depth:
            raise StoreError(f"{what} can't run inside a transaction; leave its block first")

    def _check_unchanged(self) -> None:
        if self._path is not None and self._immutable:
            check_unchanged(self._path, self._stamp)

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        self._connection.set_busy_timeout(0)
        try:
            yield
        finally:
            if self._unusable is None:
                self._connection.set_busy_timeout(self._timeout_ms)

    @contextmanager
    def _outermost(self, begin: str, *, writing: bool) -> Iterator[None]:
        try:
            self._commits.begin()
            self.run(begin)
            self._depth, self._writing, self._owner = 1, writing, get_ident()
            yield
            self._usable()
            self._release_cursors()
            self._commit()
            self._tables.end(undone=False)
        except BaseException:
            self._release_cursors()
            self._tables.end(undone=writing)
            self._roll_back()
            raise
        finally:
            self._depth, self._writing, self._looked, self._owner = 0, False, False, 0

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        name = f"depth{self._depth}"
        self.run(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
            self.run(f"RELEASE {name}")
        except BaseException:
            if self._unusable is None:
                self._unusable = StoreError(_UNDONE)  # until the block is undone: no part of it may be committed
                self.run(f"ROLLBACK TO {name}")
                self.run(f"RELEASE {name}")
                self._unusable = None
            self._tables.end(undone=True)
            raise
        finally:
            self._depth -= 1

    def _changing(self, *, several: bool) -> AbstractContextManager[None]:
        """A transaction for one change: SQLite undoes a failed statement by itself, several need a block."""
        if self._writing and not several and self._at_home():
            return _AS_IT_IS
        return self._change(several=several)

    @contextmanager
    def _change(self, *, several: bool) -> Iterator[None]:
        self._usable()
        with self._lock, _AS_IT_IS if self._writing and not several else self.write(), self._looking():
            yield

    def _looking(self) -> AbstractContextManager[None]:
        """A snapshot to look at, and what is remembered of the file dropped if another handle has changed it."""
        return _AS_IT_IS if self._at_home() else self._look()

    @contextmanager
    def _look(self) -> Iterator[None]:
        with self.read():
            if not self._looked:
                self._check_unchanged()
                ((version,),) = self.fetch("PRAGMA data_version", ())
                if version != self._seen:
                    self._tables.symbols.forget()
                self._commits.looked()
                self._seen, self._looked = version, True
            self._usable()
            yield

    def _at_home(self) -> bool:
        """Whether this thread is inside a transaction that has had its first look; most look-ups are."""
        if self._looked and self._owner == get_ident():
            self._usable()
            return True
        return False

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except FAULTS as error:
            if not self._writing:
                self._roll_back()  # a damaged page met on the way is told again here; it was told then
                return
            code = self._connection.system_errno
            if undoes_commit(error, code):
                raise declared(error, code) from None
            self._poison()
            raise CommitUnknown(
                "the disk failed inside a commit, so whether it was kept is not known: "
                "close the store, open it again and repeat the write"
            ) from None
        self._log.tend(self._connection)

    def _poison(self) -> None:
        self._unusable = HandlePoisoned("an earlier commit failed halfway; close the store and open it again")
        with suppress(*FAULTS):
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._connection.close(force=True)

    def _roll_back(self) -> None:
        if isinstance(self._unusable, HandlePoisoned | StoreClosed):
            return
        self._unusable = None
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except BaseException as error:
            # Nothing was committed, and what the connection still holds, its lock too, is not to be trusted.
            self._poison()
            if not isinstance(error, FAULTS):
                raise

    def _fault(self, error: BaseException) -> StoreError:
        """The declared error; an error that made SQLite undo the whole transaction closes it for later calls."""
        if isinstance(error, apsw.ConnectionClosedError) and self._unusable is not None:
            return type(self._unusable)(*self._unusable.args)
        fault = declared(error, self._connection.system_errno)
        if self._depth and self._unusable is None and not self._connection.in_transaction:
            self._unusable = StoreError(_UNDONE)
        return fault

    def run(self, text: str, parameters: tuple[Any, ...] = ()) -> int:
        """How many rows the statement changed."""
        try:
            self._connection.execute(text, parameters)
            return self._connection.changes()
        except FAULTS as error:
            raise self._fault(error) from None

    def many(self, text: str, parameters: Iterable[tuple[Any, ...]]) -> int:
        """Run the statement for each tuple of parameters; the number of the row that was added last."""
        try:
            self._connection.executemany(text, parameters)
            return self._connection.last_insert_rowid()
        except FAULTS as error:
            raise self._fault(error) from None

    def fetch(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        self._usable()
        with self._lock:
            try:
                return self._connection.execute(text, parameters).fetchall()
            except FAULTS as error:
                raise self._fault(error) from None

    def some(self, text: str, parameters: tuple[Any, ...], size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, so many at a time."""
        self._usable()
        with self._lock:
            cursor = self._connection.cursor()
            try:
                cursor.execute(text, parameters)
            except FAULTS as error:
                raise self._fault(error) from None
            self.unfinished.add(cursor)
        return iter(partial(self._next_rows, cursor, size), [])

    def _next_rows(self, cursor: apsw.Cursor, size: int) -> list[tuple[Any, ...]]:
        self._usable()
        with self._lock:
            try:
                rows = list(islice(cursor, size))
            except FAULTS as error:
                raise self._fault(error) from None
            if len(rows) < size:
                self.unfinished.discard(cursor)
            return rows

    def _release_cursors(self) -> None:
        """An unfinished cursor would keep its snapshot, and the log behind it, after the transaction."""
        while self.unfinished:
            self.unfinished.pop().close(force=True)

    def _emptied_log(self) -> bool:
        return not self._moved("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]

    def _moved(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that moves pages, outside a transaction; a failed sync in it is that of a commit."""
        try:
            return self._connection.execute(text).fetchall()
        except FAULTS as error:
            fault = self._fault(error)
            if isinstance(error, apsw.IOError) and not isinstance(fault, StoreFull):
                self._poison()
            raise fault from None
