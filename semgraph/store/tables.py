"""The rows of every table in a SQLite file: asked for, added, changed and removed, each in the file's own form."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

from semgraph.store import statements
from semgraph.store.arrivals import Arrivals
from semgraph.store.digests import column_digests, digests, unsealed
from semgraph.store.facts import Facts
from semgraph.store.interning import Symbols
from semgraph.store.migrations import index_statements
from semgraph.store.packing import packed, packed_columns, packed_key, unpacked, unpacked_part, written
from semgraph.store.schema import TABLES, ClaimColumns, ClaimRow, FactRow, Form, ScopeRow
from semgraph.store.shapes import RowType, canonical, column, columns, definition, one_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from semgraph.store.access import Access
    from semgraph.store.protocol import R, Value, Where

_AT_A_TIME: Final = 512
_MANY: Final = 1_000  # claims that are worth an index made anew, if no more than these were there before
_RECORDED: Final = ("recorded_at__gt", "recorded_at__le")
_SCOPES: Final = "SELECT scope, name, last_recorded, entities, feed FROM scope"
_LATEST: Final = "SELECT last_recorded FROM scope WHERE scope = ? AND last_recorded = ?"
_INTERNED: Final = (Form.WORD, Form.NODE, Form.REF)


class Tables:
    """The tables of one connection; every method runs inside a transaction of its store."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.symbols = Symbols(access)
        self._facts = Facts(access, self.symbols)
        self._arrivals = Arrivals(access)

    def end(self, *, undone: bool) -> None:
        """Drop what was known of a transaction that has ended."""
        self._facts.end()
        if undone:
            self.symbols.forget()
        else:
            self.symbols.trim()

    def scopes(self, which: str, parameters: tuple[Any, ...] = ()) -> list[ScopeRow]:
        """The scopes that a clause picks or sorts."""
        rows = self._access.fetch(f"{_SCOPES} {which}", parameters)
        return list(map(ScopeRow._make, unpacked(self.symbols, ScopeRow, rows)))

    def select(
        self, table: type[R], scope: int, order: Sequence[str] | None, limit: int | None, where: Mapping[str, Where]
    ) -> list[R]:
        """The rows that meet every condition."""
        if table is FactRow:
            return cast("list[R]", self._facts.select(scope, order, limit, where))
        asked = statements.selecting(
            table,
            tuple(where),
            tuple(map(type, where.values())),
            None if order is None else tuple(order),
            limited=limit is not None,
        )
        parameters = asked.parameters(self.symbols, scope, where)
        rows = self._access.fetch(asked.text, parameters if limit is None else (*parameters, limit))
        return list(self._read(table, rows))

    def iterate(
        self, table: type[R], scope: int, order: Sequence[str] | None, where: Mapping[str, Where]
    ) -> Iterator[R]:
        """The same, a few at a time."""
        if table is FactRow:
            return cast("Iterator[R]", self._facts.iterate(scope, order, where))
        asked = statements.selecting(
            table,
            tuple(where),
            tuple(map(type, where.values())),
            None if order is None else tuple(order),
            limited=False,
        )
        found = self._access.some(asked.text, asked.parameters(self.symbols, scope, where), _AT_A_TIME)
        return chain.from_iterable(self._read(table, rows) for rows in found)

    def tuples(
        self, table: RowType, scope: int, names: tuple[str, ...], where: Mapping[str, Where]
    ) -> Iterator[tuple[Any, ...]]:
        """The values of some columns alone, in key order."""
        if table is ClaimRow and tuple(where) == _RECORDED:
            return self._arrived(scope, names, *where.values())
        if table is FactRow:
            return self._facts.tuples(scope, names, where)
        asked = statements.picking(table, names, tuple(where), tuple(map(type, where.values())))
        found = self._access.some(asked.text, asked.parameters(self.symbols, scope, where), _AT_A_TIME)
        shown = [column(table, name) for name in names]
        return chain.from_iterable(unpacked_part(self.symbols, shown, rows) for rows in found)

    def _arrived(self, scope: int, names: tuple[str, ...], since: Any, until: Any) -> Iterator[tuple[Any, ...]]:
        """Claims recorded after one moment and up to another, without a look at those that came before."""
        shown = [column(ClaimRow, name) for name in names]
        first = self._arrivals.first(scope, since)
        found = self._access.fetch(statements.arriving(names), (first, scope, since, until))
        if scope_row := self._access.fetch(_LATEST, (scope, until)):
            self._arrivals.note(scope, scope_row[0][0])
        return iter(unpacked_part(self.symbols, shown, found))

    def count(self, table: RowType, scope: int, where: Mapping[str, Where]) -> int:
        """How many rows meet every condition."""
        asked = statements.counting(table, tuple(where), tuple(map(type, where.values())))
        ((number,),) = self._access.fetch(asked.text, asked.parameters(self.symbols, scope, where))
        return int(number) + (self._facts.count_cast(scope, where) if table is FactRow else 0)

    def insert(self, rows: Sequence[R], *, replace: bool) -> None:
        """Keep the rows, all of one type."""
        table = one_table(rows)
        exact = _canonical(table, rows)
        if table is FactRow:
            self._facts.insert(exact, replace=replace)
        elif table is ClaimRow:
            self._insert_claims(exact, replace=replace)
        else:
            self._add(table, exact, replace=replace)

    def insert_told(self, claims: ClaimColumns, moulds: Sequence[str]) -> None:
        """Keep new claims, each with the fact of its mould; many of them without an index, which is then made anew."""
        self.symbols.intern(list(dict.fromkeys(moulds)))
        numbers = list(map(self.symbols.numbers.__getitem__, moulds))
        payload = packed_columns(self.symbols, ClaimRow, claims, column_digests(claims), numbers)
        ((stored,),) = self._access.fetch("SELECT coalesce(max(rowid), 0) FROM claim", ())
        indexes = index_statements(ClaimRow) if stored <= len(numbers) >= _MANY and not self._access.unfinished else {}
        for name in indexes:
            self._access.run(f"DROP INDEX {name}")
        last = self._access.many(statements.inserting_told(), payload)
        for made in indexes.values():
            self._access.run(made)
        self._facts.note(claims.id, last, claims.rows, numbers)

    def update(self, table: RowType, scope: int, changes: Mapping[str, Value], where: Mapping[str, Where]) -> int:
        """How many rows were changed."""
        in_place = table is FactRow and not set(changes).intersection(definition(table).key)
        if table is ClaimRow or (table is FactRow and not in_place):
            return self._rewrite(table, scope, changes, where)
        whole = where.keys() >= set(definition(table).key) - {"scope"}  # at most one row
        if table is FactRow and whole and self._facts.update_met(scope, changes, where):
            return 1
        asked = statements.updating(table, tuple(changes), tuple(where), tuple(map(type, where.values())))
        settings = [written(self.symbols, column(table, name), value) for name, value in changes.items()]
        changed = self._access.run(asked.text, (*settings, *asked.parameters(self.symbols, scope, where)))
        if changed and whole:
            return changed
        return changed + (self._facts.update_cast(scope, changes, where) if table is FactRow else 0)

    def delete(self, table: RowType, scope: int, where: Mapping[str, Where]) -> int:
        """How many rows were removed."""
        asked = statements.deleting(table, tuple(where), tuple(map(type, where.values())))
        parameters = asked.parameters(self.symbols, scope, where)
        if table is not ClaimRow:
            gone = self._access.run(asked.text, parameters)
            return gone + (self._facts.delete_cast(scope, where) if table is FactRow else 0)
        self._facts.set_apart(scope, where)
        return self._access.run(asked.text, parameters)

    def sweep(self) -> None:
        """Forget the symbols that no row needs any more."""
        used = {0}
        for table in TABLES:
            names = [found.name for found in columns(table).values() if found.form in _INTERNED]
            if table is ClaimRow:
                names.append("mould")
            if names:
                text = f"SELECT {', '.join(names)} FROM {TABLES[table].name}"  # noqa: S608  # names of ours
                for rows in self._access.some(text, (), _AT_A_TIME):
                    used.update(chain.from_iterable(rows))
        unused = [row for row in self._access.fetch("SELECT n FROM symbol", ()) if row[0] not in used]
        self._access.many("DELETE FROM symbol WHERE n = ?", unused)
        self.symbols.forget()

    def _read(self, table: type[R], rows: list[tuple[Any, ...]]) -> Iterator[R]:
        plain = unpacked(self.symbols, table, rows)
        make: Callable[[Iterable[Any]], R] = cast("RowType", table)._make
        return map(make, unsealed(table, plain) if definition(table).sealed else plain)

    def _insert_claims(self, rows: Sequence[ClaimRow], *, replace: bool) -> None:
        if replace:
            for row in rows:
                self._facts.set_apart(row.scope, {"id": row.id})
        last = self._add(ClaimRow, rows, replace=replace)
        if not replace:
            self._facts.note([row.id for row in rows], last, lambda: rows)

    def _add(self, table: RowType, rows: Sequence[Any], *, replace: bool) -> int:
        sums = [digests(table, rows)] if definition(table).sealed else []
        payload = packed(self.symbols, table, rows, *sums)
        return self._access.many(statements.inserting(table, replace=replace), payload)

    def _rewrite(self, table: RowType, scope: int, changes: Mapping[str, Value], where: Mapping[str, Where]) -> int:
        """Change rows that the file keeps in more than one form: read, removed, and written anew."""
        rows = self.select(table, scope, None, None, where)
        if table is FactRow:
            self.delete(table, scope, where)
        else:
            self._facts.set_apart(scope, where)
            self._access.many(statements.removing(table), [packed_key(self.symbols, row) for row in rows])
        if rows:
            self.insert([row._replace(**changes) for row in rows], replace=False)
        return len(rows)


def _canonical(table: RowType, rows: Sequence[Any]) -> Sequence[Any]:
    """The rows in their canonical form; looked at column by column, since nearly always they are."""
    if len(rows) == 1:
        return (canonical(rows[0]),)
    for found, values in zip(columns(table).values(), zip(*rows, strict=True), strict=True):
        kinds = set(map(type, values))
        kinds.discard(found.type)
        if found.nullable:
            kinds.discard(type(None))
        if kinds or (found.type is float and 0.0 in values):
            return [canonical(row) for row in rows]
    return rows
