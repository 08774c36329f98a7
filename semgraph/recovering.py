"""Out of a damaged file into a new one: every row that is as it was written, the facts computed again, losses told."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from semgraph import factrow
from semgraph.engine import KnowledgeGraph
from semgraph.errors import InputError, StoreCorrupt
from semgraph.exchange.checks import WRONG, Checker
from semgraph.exchange.restoring import restore
from semgraph.exchange.rows import EXPORTED, Header, key_of
from semgraph.names import entity_key
from semgraph.pages import unchecked
from semgraph.store.faults import CORRUPT
from semgraph.store.files import published
from semgraph.store.schema import TABLES, AliasRow, ClaimRow, EntityRow, FactRow, PastFactRow, ScopeRow
from semgraph.store.sqlite import SqliteStore
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from semgraph.store.schema import Row

__all__ = ["Recovery", "recover"]

_CLOCKED: Final = ("recorded_at", "ended_at", "retracted_at")


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was saved and what was lost, rows by table; `claims` are the ids of claims that facts still speak of.

    Of the tables in `unknown` more may be lost than `lost` counts: what told of their rows is broken too.
    """

    saved: Mapping[str, int] = field(hash=False)
    lost: Mapping[str, int] = field(hash=False)
    claims: tuple[str, ...] = ()
    made_again: int = 0  # entities whose own row or name was lost and is written in a claim
    problems: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()  # the new names of scopes whose own were lost

    @property
    def whole(self) -> bool:
        """Whether nothing is known to be lost."""
        return not (self.lost or self.claims or self.made_again or self.unknown or self.renamed)


def recover(damaged: str | os.PathLike[str], path: str | os.PathLike[str]) -> Recovery:
    """What was saved of a damaged store, in a new one at `path`; the damaged file is only read.

    A claim is saved if its digest is right. What nothing else tells is lost: a row on a broken page. An entity whose
    row is broken is made again under the name that a claim gave it.

    Raises:
        InputError: there is something at `path` already.
        StoreError: nothing in the file can be read.
    """
    try:
        found = _read(Path(os.path.abspath(os.fspath(damaged))))  # noqa: PTH100 - see store/__init__
    except StoreCorrupt as error:
        if str(error) != CORRUPT:  # it is no store at all
            raise
        raise StoreCorrupt(
            f"nothing can be saved of {os.fspath(damaged)!r}, where the list of its tables is broken: "
            "go back to a backup or an export"
        ) from None
    target = Path(os.path.abspath(os.fspath(path)))  # noqa: PTH100
    problems: list[str] = []
    with published(target) as draft:
        for name, scope in found.names():
            with KnowledgeGraph(draft, scope=name) as kg:
                rows = _Scope(scope, found)
                if restore(kg, rows) is None:
                    raise InputError(f"the scope {name!r} stands twice in the damaged file")
                problems += [f"{name}: {problem}" for problem in kg.verify()]
                found.refused += rows.refused
                found.made_again += rows.made_again
        if not found.saved:
            KnowledgeGraph(draft).close()
    saved = Counter(found.saved)
    saved.subtract(found.refused)
    return Recovery(
        dict(+saved), dict(+(found.lost + found.refused)), found.missing(), found.made_again, tuple(problems),
        tuple(found.unknown), tuple(name for name, scope in found.names() if scope not in found.scopes),
    )  # fmt: skip


def _read(path: Path) -> _Found:
    with unchecked():
        source = SqliteStore(path, read_only=True)
    try:
        with source.read(), unchecked():
            return _Found(source)
    finally:
        source.close()


class _Found:
    """Every row of the damaged file that can be read, by scope and table, and how many can't."""

    def __init__(self, source: SqliteStore) -> None:
        self.saved: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.made_again = 0
        self.unknown: list[str] = []
        self.scopes = {row.scope: row for row in source.salvage(ScopeRow)}
        self._reckon(source, ScopeRow, len(self.scopes))
        self.rows: dict[int, dict[type[Row], list[Any]]] = {}
        self.spoken: set[str] = set()
        for table in EXPORTED:
            rows: list[Any] = list(source.salvage(table))
            for row in rows:
                self.rows.setdefault(row.scope, {}).setdefault(table, []).append(row)
            self.saved[TABLES[table].name] = len(rows)
            self._reckon(source, table, len(rows))
        for facts in (FactRow, PastFactRow):
            for fact in source.salvage(facts):
                self._spoken_of(fact)
        self.saved, self.lost = +self.saved, +self.lost

    def _reckon(self, source: SqliteStore, table: type[Row], saved: int) -> None:
        total, known = source.reckon(table)
        name = TABLES[table].name
        self.lost[name] = max(total - saved, 0)
        if not known:
            self.unknown.append(name)

    def _spoken_of(self, row: Any) -> None:
        try:
            body = factrow.decode(row)
        except WRONG:
            return
        self.spoken.update(body.claims, body.absorbed)

    def missing(self) -> tuple[str, ...]:
        """The claims that facts rest on and that could not be read."""
        known = {row.id for tables in self.rows.values() for row in tables.get(ClaimRow, ())}
        return tuple(sorted(self.spoken - known))

    def names(self) -> Iterator[tuple[str, int]]:
        """The scopes with anything in them, under their names or, where those are lost, under their numbers."""
        taken = {row.name for row in self.scopes.values()}
        for scope in sorted(self.rows):
            row = self.scopes.get(scope)
            name = row.name if row is not None else f"recovered-{scope}"
            while row is None and name in taken:
                name += "-"
            taken.add(name)
            yield name, scope


class _Scope:
    """The rows of one scope as an export has them: in order, whole, and nothing that speaks of what is lost."""

    def __init__(self, scope: int, found: _Found) -> None:
        self.refused: Counter[str] = Counter()
        self.made_again = 0
        self._tables = found.rows[scope]
        self._mend()
        row = found.scopes.get(scope)
        clock = max([m for rows in self._tables.values() for one in rows for m in _moments(one)], default=None)
        # The ids to come follow from the name and this number; a scope that lost both has another name, so other ids.
        counter = len(self._tables.get(EntityRow, ())) if row is None else row.entities
        self._clock = max(clock or NEG_INF, NEG_INF if row is None else row.last_recorded)
        counts = {TABLES[table].name: 0 for table in EXPORTED} | {"claim": len(self._tables.get(ClaimRow, ()))}
        self.header: Header = Header(counts, self._clock, counter)

    def _mend(self) -> None:
        """Entities and names that only claims still tell of."""
        entities = self._tables.setdefault(EntityRow, [])
        aliases = self._tables.setdefault(AliasRow, [])
        known = {row.id: row for row in entities}
        named = {row.entity for row in aliases}
        for claim in sorted(self._tables.get(ClaimRow, ()), key=lambda row: (row.recorded_at, row.id)):
            for number, text in _ends(claim):
                if number not in known:
                    key = entity_key(text)
                    known[number] = EntityRow(claim.scope, number, text, key, claim.recorded_at)
                    entities.append(known[number])
                    self.made_again += 1
                if number not in named:
                    row = known[number]
                    named.add(number)
                    aliases.append(
                        AliasRow(claim.scope, row.key, number, row.label, "primary", NEG_INF, POS_INF, "",
                                 claim.source, row.recorded_at, POS_INF)
                    )  # fmt: skip

    def rows(self, scope: int) -> Iterator[Row]:
        """Every row that fits to those before it, as one of the scope."""
        checker = Checker(self._clock)
        for table in EXPORTED:
            for row in sorted(self._tables.get(table, ()), key=key_of):
                own = row._replace(scope=scope)
                try:
                    checker.take(own)
                except WRONG:
                    self.refused[TABLES[table].name] += 1
                else:
                    yield own


def _ends(claim: ClaimRow) -> Iterator[tuple[int, str]]:
    yield claim.subject, claim.subject_text
    if claim.object.startswith("e"):
        yield int(claim.object[1:]), claim.object_text


def _moments(row: Any) -> Iterator[int]:
    for name in _CLOCKED:
        moment = getattr(row, name, POS_INF)
        if moment != POS_INF:
            yield moment
