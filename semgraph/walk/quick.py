"""Walks over the columns in memory, with the names, labels and choices of predicates that were asked for kept beside.

An exact shortcut of what `Edges` reads from the store, for what is believed now. Nothing here outlives a change of a
name, a merge or a definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semgraph.index.marks import object_number
from semgraph.index.spreading import FEW, Spread
from semgraph.index.steps import Chosen, Looks, Steps
from semgraph.walk.cut import times_of
from semgraph.walk.naming import Naming

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from semgraph.index.columns import Columns
    from semgraph.index.keeping import Index
    from semgraph.index.meeting import Step
    from semgraph.model import Entity
    from semgraph.reader import Reader
    from semgraph.session import Session
    from semgraph.store.schema import FactRow
    from semgraph.walk.cut import Cut
    from semgraph.walk.edges import Direction

__all__ = ["Quick"]

_KEPT: Final = 200_000  # of what names mean, and of confidences
_MILLION: Final = 1_000_000
_ROWS: Final = 2_000_000  # that one walk looks at


class Quick:
    """What walks of one scope find in memory, as long as nothing but facts was changed since it was made."""

    def __init__(self, index: Index, columns: Columns) -> None:
        self.index = index
        self.columns = columns
        self._besides = index.besides
        self.looks = Looks.of(columns)
        self._meant: dict[Any, dict[object, int]] = {}
        self._chosen: dict[object, Chosen] = {}
        self.names = Naming(columns)
        self.weight: dict[int, int] = {}  # confidences in millionths, of rows that nothing disputes

    @classmethod
    def of(cls, index: Index, columns: Columns) -> Quick:
        """That of some columns, made anew where something else than facts was changed."""
        found: Quick | None = columns.derived.get("walks")
        if found is None or not found.fit:
            found = columns.derived["walks"] = cls(index, columns)
        return found

    @property
    def fit(self) -> bool:
        """Whether what is kept here still belongs to the index."""
        index = self.index
        return self.columns is index.columns and self._besides == index.besides

    # -- what is kept

    def node(self, session: Session, name: object) -> int | None:
        """The node that a name is known to mean here; -1 is an entity that no fact speaks of."""
        kept = self._meant.get(session.config.self_names)
        try:
            return None if kept is None else kept.get(name)
        except TypeError:  # no name at all: the store's way refuses it
            return None

    def learn_name(self, reader: Reader, name: str | Entity, number: int) -> int:
        """The node of an entity, which a name means from now on if it means nothing else."""
        found = self.columns.node(number)
        if found >= 0 and len(reader.directory.find(name, reader.snapshot)) == 1:
            _keep(self._meant.setdefault(reader.session.config.self_names, {}), name, found)
        return found

    def chosen(self, direction: Direction, predicates: tuple[str, ...] | None) -> Chosen | None:
        """Which predicates lead on from which end, if that was worked out before."""
        return self._chosen.get((direction, predicates, len(self.columns.predicates)))

    def learn_chosen(
        self,
        reader: Reader,
        direction: Direction,
        predicates: Collection[str] | None,
        canonical: Collection[str] | None,
    ) -> Chosen:
        """The same, worked out; `canonical` are the stored names of the predicates that are wanted, None for all."""
        names = self.columns.predicates
        entries = [reader.snapshot.predicate(name) for name in names]
        wanted = [not e.event and (canonical is None or e.name in canonical) for e in entries]
        turned = [each and e.symmetric for each, e in zip(wanted, entries, strict=True)]
        found = Chosen(
            _allowed(turned if direction == "in" else wanted), _allowed(turned if direction == "out" else wanted)
        )
        key = (direction, None if predicates is None else tuple(predicates), len(names))
        _keep(self._chosen, key, found)
        return found

    # -- facts

    def stored(self, reader: Reader, rows: Iterable[int]) -> dict[int, FactRow]:
        """The rows of the store behind some rows of the columns, of the transaction in which these are in step."""
        columns = self.columns
        near, named = columns.subject, columns.predicate
        wanted = {at: (columns.entity(int(near[at])), columns.predicates[named[at]]) for at in rows}
        if not wanted:
            return {}
        fluents = set(wanted.values())
        found: dict[tuple[int, str, int, int], list[FactRow]] = {}
        for row in reader.rows(
            subject=sorted({subject for subject, _ in fluents}),
            predicate=sorted({predicate for _, predicate in fluents}),
            valid_from=sorted({int(columns.start[at]) for at in wanted}),
        ):
            key = (row.subject, row.predicate, row.valid_from, object_number(row.object))
            found.setdefault(key, []).append(row)
        out = {}
        for at, fluent in wanted.items():
            start, far = columns.start[at], columns.object[at]
            same = [r for r in columns.rows(*fluent) if columns.start[r] == start and columns.object[r] == far]
            out[at] = found[*fluent, int(start), columns.entity(int(far))][same.index(at)]
        return out

    def weights_at_hand(self, steps: Sequence[Step]) -> Mapping[int, int] | None:
        """The confidences of rows where all of them were read before and nothing disputes them."""
        kept = self.weight
        return kept if kept.keys() >= {row for row, *_ in steps} else None

    def weights(self, reader: Reader, rows: Sequence[int]) -> Mapping[int, int]:
        """The base confidence of the facts of rows, in millionths."""
        kept = self.weight
        found = {row: kept[row] for row in rows if row in kept}
        for row, stored in self.stored(reader, [row for row in rows if row not in found]).items():
            found[row] = round(reader.body(stored).base * _MILLION)
            if not stored.disputed:
                _keep(kept, row, found[row])
        return found

    # -- walking

    def steps(self, cut: Cut, chosen: Chosen) -> Steps:
        """The edges of a cut that a walk may take."""
        return Steps(self.looks, times_of(cut), chosen)

    def spread(self, steps: Steps, start: int, hops: int, limit: int) -> tuple[list[Any], int, bool]:
        """The nodes of each level, up to the one with which there are more than the limit.

        Also how many that are, and whether an answer up to the limit leaves some out.
        """
        near: dict[int, None] = {}
        if hops == 1 and steps.near(start, near, FEW):
            near.pop(start, None)
            return [list(near)] if near else [], len(near), len(near) > limit
        walk, found, looked = Spread(steps, start), 0, 0
        levels: list[Any] = []
        for _ in range(hops):
            looked += walk.cost
            if looked > _ROWS:
                return levels, found, True
            level = walk.deeper()
            if not len(level):
                break
            levels.append(level)
            found += len(level)
            if found > limit:
                return levels, found, True
        return levels, found, False


def _allowed(wanted: Sequence[bool]) -> bytes | None:
    """The choice of predicates by number: None is all, nothing is none."""
    return None if all(wanted) else bytes(wanted) if any(wanted) else b""


def _keep(kept: dict[Any, Any], key: object, found: object) -> None:
    if len(kept) >= _KEPT:
        kept.clear()
    kept[key] = found
