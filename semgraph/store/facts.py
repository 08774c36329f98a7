"""The current facts of a SQLite file: those kept with their claim, and those with a row of their own, as one table."""

from __future__ import annotations

from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import StoreError
from semgraph.instants import POS_INF
from semgraph.store import statements
from semgraph.store.moulds import BASE, CARRIED, Carrier, Mould, base_of, carrier_of, is_common, mould_of
from semgraph.store.packing import packed, packed_key, unpacked, unpacked_part
from semgraph.store.schema import ClaimRow, FactRow
from semgraph.store.shapes import (
    canonical,
    column,
    conditions,
    definition,
    fields,
    key_of,
    remembered,
    sort,
    test_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from semgraph.store.access import Access
    from semgraph.store.interning import Symbols
    from semgraph.store.protocol import Value, Where
    from semgraph.store.statements import Statement

_AT_A_TIME: Final = 512
_FEW: Final = 64
_TAKEN: Final = "a row with this key is there already, or a value is one that no column takes"
_MARK: Final = "UPDATE claim SET mould = ? WHERE rowid = ?"


class _Place(NamedTuple):
    """A claim that a fact may be kept with, and the number of its row."""

    carrier: Carrier
    row: int


class _Noted(NamedTuple):
    """Claims just added: their ids, the number of the first one's row, all of them, and the moulds of their facts."""

    ids: Sequence[str]
    first: int
    rows: Callable[[], Sequence[ClaimRow]]
    moulds: Sequence[int]


class Facts:
    """Rows of `FactRow`; every method runs inside a transaction of the store."""

    def __init__(self, access: Access, symbols: Symbols) -> None:
        self._access = access
        self._symbols = symbols
        self._noted: list[_Noted] = []
        self._fresh: dict[str, tuple[ClaimRow, int]] = {}  # claims of this transaction, and their rows
        self._moulds: dict[int, int | None] = {}  # by row, as far as they were set in this transaction
        self._known: dict[int, Mould] = {}
        self._met: dict[tuple[int, str], _Place] = {}  # claims with facts that were read a few at a time

    def end(self) -> None:
        """Drop what was known of a transaction that has ended, or of a part of one that was undone."""
        self._noted.clear()
        self._fresh.clear()
        self._moulds.clear()
        self._known.clear()
        self._met.clear()

    def note(
        self, ids: Sequence[str], last: int, rows: Callable[[], Sequence[ClaimRow]], moulds: Sequence[int] = ()
    ) -> None:
        """Take note of claims just added, the last of them as the row of that number, and of their moulds."""
        self._noted.append(_Noted(ids, last - len(ids) + 1, rows, moulds))

    def _learn(self, wanted: set[str]) -> None:
        """Sort out what was noted, of many claims only if one of them is wanted: most are never asked for."""
        left = []
        for noted in self._noted:
            if len(noted.ids) > _FEW and wanted.isdisjoint(noted.ids):
                left.append(noted)
                continue
            self._fresh.update((claim.id, (claim, row)) for row, claim in enumerate(noted.rows(), noted.first))
            self._moulds = {**dict(enumerate(noted.moulds, noted.first)), **self._moulds}
        self._noted = left

    # reading

    def select(
        self, scope: int, order: Sequence[str] | None, limit: int | None, where: Mapping[str, Where]
    ) -> list[FactRow]:
        """The rows that meet every condition."""
        together = order is not None or limit is None
        found = self._found(scope, where, together=together)
        if order is None:
            return list(islice(found, limit))
        rows = list(found)
        sort(FactRow, rows, order)
        return rows[:limit]

    def iterate(self, scope: int, order: Sequence[str] | None, where: Mapping[str, Where]) -> Iterator[FactRow]:
        """The same, a few at a time unless they are to be sorted."""
        if order is not None:
            return iter(self.select(scope, order, None, where))
        return self._found(scope, where, together=False)

    def _found(self, scope: int, where: Mapping[str, Where], *, together: bool) -> Iterator[FactRow]:
        """The rows as they are found, read `together` or a few at a time."""
        asked = statements.selecting(FactRow, tuple(where), _types(where), None, limited=False)
        own = self._parts(asked, scope, where, together=together)
        rows = chain.from_iterable(map(FactRow._make, unpacked(self._symbols, FactRow, part)) for part in own)
        return chain(rows, (fact for fact, _ in self._cast(scope, where, together=together)))

    def tuples(self, scope: int, names: tuple[str, ...], where: Mapping[str, Where]) -> Iterator[tuple[Any, ...]]:
        """The values of some columns alone, or `BASE`, in key order, which takes the whole of them into memory."""
        body = column(FactRow, "body").at
        key = [name for name in definition(FactRow).key if name != "scope"]
        wanted = itemgetter(*(body if name == BASE else column(FactRow, name).at for name in (*key, *names)))
        asked = statements.selecting(FactRow, tuple(where), _types(where), None, limited=False)
        own = self._access.some(asked.text, asked.parameters(self._symbols, scope, where), _AT_A_TIME)
        rows: Iterator[tuple[Any, ...]] = chain.from_iterable(unpacked(self._symbols, FactRow, part) for part in own)
        bare, based = "body" not in names, BASE in names
        if bare and not where:
            cast: Iterator[tuple[Any, ...]] = self._outlines(scope, based=based)
        else:
            cast = (row for row, _ in self._cast(scope, where, bare=bare and not based))
            cast = map(_with_base, cast) if based else cast
        rows = map(_with_base, rows) if based else rows
        found = list(map(wanted, chain(rows, cast)))
        found.sort()  # no two have the same key, with which each begins
        return map(itemgetter(slice(len(key), None)), found)

    def count_cast(self, scope: int, where: Mapping[str, Where]) -> int:
        """How many of those kept with their claim meet every condition."""
        carried, rest = _divided(where)
        if rest:
            return sum(1 for _ in self._cast(scope, where))
        asked = _carrying("SELECT count(*) FROM", tuple(carried), _types(carried))
        ((number,),) = self._access.fetch(asked.text, asked.parameters(self._symbols, scope, carried))
        return int(number)

    # writing

    def insert(self, rows: Sequence[FactRow], *, replace: bool, places: Mapping[str, _Place] | None = None) -> None:
        """Keep the rows, each with its claim where it can be cast from it; `places` are those claims, where known."""
        if replace:
            rows = list({key_of(row): row for row in rows}.values())
        places = self._places(rows) if places is None else places
        marks: list[tuple[int | None, int]] = []
        own: list[FactRow] = []
        cast: list[FactRow] = []
        for row in rows:
            place = places.get(row.id)
            if place is None or place.carrier.scope != row.scope:
                own.append(row)
                continue
            mould, vacated = self._fitted(row, place, replace=replace)
            if mould is not None or vacated:
                marks.append((mould, place.row))
                self._moulds[place.row] = mould
            (own if mould is None else cast).append(row)
        if own:
            self._access.many(statements.inserting(FactRow, replace=replace), packed(self._symbols, FactRow, own))
        if cast:
            self._clear(cast, replace=replace)
        if marks:
            self._access.many(_MARK, marks)

    def _fitted(self, row: FactRow, place: _Place, *, replace: bool) -> tuple[int | None, bool]:
        """The mould with which the fact is kept at the place, and whether one that is kept there has to go."""
        mould = self._mould(row, place.carrier)
        held = self._moulds.get(place.row, place.carrier.mould)
        if held is None:
            return mould, False
        if key_of(self._mould_at(held).cast(place.carrier, bare=True)) != key_of(row):
            return None, False
        if not replace:
            raise StoreError(_TAKEN)
        return mould, mould is None

    def delete_cast(self, scope: int, where: Mapping[str, Where]) -> int:
        """How many of those kept with their claim were removed."""
        rows = [place.row for _, place in self._cast(scope, where)]
        if rows:
            self._access.many(_MARK, ((None, row) for row in rows))
            self._moulds.update(dict.fromkeys(rows))
        return len(rows)

    def update_met(self, scope: int, changes: Mapping[str, Value], where: Mapping[str, Where]) -> int:
        """1 if the fact of this key was read as one kept with its claim: it is changed then, without another look."""
        place = self._met.get((scope, str(where["id"])))
        held = None if place is None else self._moulds.get(place.row, place.carrier.mould)
        if place is None or held is None:
            return 0
        fact = self._mould_at(held).cast(place.carrier)
        if any(getattr(fact, name) != where[name] for name in where):
            return 0
        row: Any = fact
        self.insert([canonical(row._replace(**changes))], replace=True, places={fact.id: place})
        return 1

    def update_cast(self, scope: int, changes: Mapping[str, Value], where: Mapping[str, Where]) -> int:
        """How many of those kept with their claim were changed, none of them in its key."""
        found: list[tuple[Any, _Place]] = list(self._cast(scope, where))
        if found:
            rows = [canonical(row._replace(**changes)) for row, _ in found]
            self.insert(rows, replace=True, places={row.id: place for row, place in found})
        return len(found)

    def set_apart(self, scope: int, where: Mapping[str, Where]) -> None:
        """Give a row of its own to each fact kept with a claim that meets the conditions and is about to change."""
        asked = _carrying(_SELECT, tuple(where), _types(where))
        rows = self._access.fetch(asked.text, asked.parameters(self._symbols, scope, where))
        found = []
        for values in unpacked(self._symbols, Carrier, rows):
            found.append((self._mould_at(values[-2]).cast(Carrier._make(values[:-1])), values[-1]))
        if found:
            self._access.many(_MARK, ((None, row) for _, row in found))
            facts = packed(self._symbols, FactRow, [fact for fact, _ in found])
            self._access.many(statements.inserting(FactRow, replace=False), facts)
        self.end()

    # below

    def _parts(
        self, asked: Statement, scope: int, where: Mapping[str, Where], *, together: bool
    ) -> Iterable[list[tuple[Any, ...]]]:
        parameters = asked.parameters(self._symbols, scope, where)
        if together:
            return [self._access.fetch(asked.text, parameters)]
        return self._access.some(asked.text, parameters, _AT_A_TIME)

    def _cast(
        self, scope: int, where: Mapping[str, Where], *, bare: bool = False, together: bool = False
    ) -> Iterator[tuple[FactRow, _Place]]:
        """Those kept with their claim that meet every condition, and where; `bare` of their bodies."""
        carried, rest = _divided(where)
        asked = _carrying(_SELECT, tuple(carried), _types(carried))
        found = self._parts(asked, scope, carried, together=together)
        tests = [test_of(one, rest) for one in conditions(FactRow, tuple(rest), _types(rest))]
        early = bool(rest) and not any(keyword.startswith("body") for keyword in rest)
        for rows in found:
            for values in unpacked(self._symbols, Carrier, rows):
                carrier = Carrier._make(values[:-1])
                mould = self._mould_at(values[-2])
                if len(rows) <= _FEW:
                    self._met[scope, carrier.id] = _Place(carrier, values[-1])
                if early and not all(test(mould.cast(carrier, bare=True)) for test in tests):
                    continue
                fact = mould.cast(carrier, bare=bare)
                if early or not tests or all(test(fact) for test in tests):
                    yield fact, _Place(carrier, values[-1])

    def _outlines(self, scope: int, *, based: bool) -> Iterator[tuple[Any, ...]]:
        """All those kept with their claim, for whoever reads very many: as rows with their base for a body, or none."""
        asked = _carrying(_SELECT, (), ())
        for rows in self._access.some(asked.text, asked.parameters(self._symbols, scope, {}), _AT_A_TIME):
            moulds = {number: self._mould_at(number) for number in {row[-2] for row in rows}}
            for _, key, subject, predicate, ref, begins, ends, said_at, recorded_at, told, number, _ in unpacked(
                self._symbols, Carrier, rows
            ):
                mould = moulds[number]
                start, end = mould.span(begins, ends, said_at)
                base = mould.base(told) if based else ""
                yield scope, key, subject, predicate, ref, 0, mould.disputed, "", start, end, recorded_at, POS_INF, base

    def _mould_at(self, number: int) -> Mould:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = Mould(self._symbols.values[number])
        return found

    def _mould(self, row: FactRow, carrier: Carrier) -> int | None:
        """The number of the mould from which the claim makes just this fact, if it is one for others too."""
        text = mould_of(row, carrier)
        if text is None or (text not in self._symbols.numbers and not is_common(text)):
            return None
        self._symbols.intern([text])
        return self._symbols.numbers[text]

    def _places(self, rows: Iterable[FactRow]) -> dict[str, _Place]:
        """The claims that the facts may be kept with, by id."""
        rows = list(rows)
        self._learn({row.id for row in rows})
        found: dict[str, _Place] = {}
        unknown: dict[int, list[str]] = {}
        for row in rows:
            fresh, met = self._fresh.get(row.id), self._met.get((row.scope, row.id))
            if met is not None:
                found[row.id] = met
            elif fresh is None:
                unknown.setdefault(row.scope, []).append(row.id)
            else:
                found[row.id] = _Place(carrier_of(fresh[0]), fresh[1])
        for scope, ids in unknown.items():
            asked = statements.statement(_SELECT, ClaimRow, conditions(ClaimRow, ("id",), (list,)))
            stored = self._access.fetch(asked.text, asked.parameters(self._symbols, scope, {"id": ids}))
            for values in unpacked(self._symbols, Carrier, stored):
                found[values[1]] = _Place(Carrier._make(values[:-1]), values[-1])
        return found

    def _clear(self, rows: Sequence[FactRow], *, replace: bool) -> None:
        """See to it that none of the facts has a row of its own."""
        if not self._access.fetch("SELECT 1 FROM fact LIMIT 1", ()):
            return
        keys = [packed_key(self._symbols, row) for row in self._doubtful(rows)]
        if replace:
            self._access.many(statements.removing(FactRow), keys)
        elif any(self._access.fetch(statements.finding(FactRow), key) for key in keys):
            raise StoreError(_TAKEN)

    def _doubtful(self, rows: Sequence[FactRow]) -> list[FactRow]:
        """Those of the facts whose id some fact with a row of its own has."""
        if len(rows) == 1:
            return list(rows)
        ids: dict[int, list[str]] = {}
        for row in rows:
            ids.setdefault(row.scope, []).append(row.id)
        taken: set[tuple[Any, ...]] = set()
        for scope, names in ids.items():
            asked = statements.picking(FactRow, ("scope", "id"), ("id",), (list,))
            found = self._access.fetch(asked.text, asked.parameters(self._symbols, scope, {"id": names}))
            taken.update(unpacked_part(self._symbols, [column(FactRow, name) for name in ("scope", "id")], found))
        return [row for row in rows if (row.scope, row.id) in taken] if taken else []


def _with_base(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row with its base in the place of its body, which is its last column."""
    return (*row[:-1], base_of(row[-1]))


_SELECT: Final = f"SELECT {', '.join(fields(Carrier))}, rowid FROM"


@remembered
def _carrying(head: str, names: tuple[str, ...], types: tuple[type, ...]) -> Statement:
    """A statement about the claims with a fact that meet the conditions."""
    return statements.statement(head, ClaimRow, conditions(ClaimRow, names, types), " AND mould IS NOT NULL")


def _divided(where: Mapping[str, Where]) -> tuple[dict[str, Where], dict[str, Where]]:
    """The conditions that a claim's row can answer, as it calls its columns, and the others."""
    carried: dict[str, Where] = {}
    rest: dict[str, Where] = {}
    for keyword, value in where.items():
        name, mark, suffix = keyword.partition("__")
        if name in CARRIED:
            carried[f"{CARRIED[name]}{mark}{suffix}"] = value
        else:
            rest[keyword] = value
    return carried, rest


def _types(where: Mapping[str, Where]) -> tuple[type, ...]:
    return tuple(map(type, where.values()))
