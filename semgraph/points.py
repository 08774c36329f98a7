"""Single values from memory: the columns of the index, with the names and labels that were asked for kept beside them.

An exact shortcut of what `GraphView.value` reads from the store, for what is believed now. It says `UNTOLD` where only
the store can tell: a name that several bear, several values at once, a predicate read as its opposite, an older belief,
or what a transaction is about to write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import RejectedError
from semgraph.index.marks import NOTHING
from semgraph.model import Entity, Literal
from semgraph.reader import Reader

if TYPE_CHECKING:
    from semgraph.index.columns import Columns
    from semgraph.index.keeping import Index
    from semgraph.session import Session

__all__ = ["STALE", "UNTOLD", "Points"]

UNTOLD: Final = object()
STALE: Final = object()  # something was written since
_NOTHING: Final = object()  # no value holds
_MISSING: Final = object()  # a name, a label or a literal is not known here yet
_KEPT: Final = 200_000  # names, labels, values


class _Way(NamedTuple):
    """How a predicate is read: its number in the columns, and from which ends."""

    number: int
    plain: bool  # from its subject only
    out: bool
    onto: bool


class Points:
    """What one session finds in memory, as long as nothing but facts was changed since it was made."""

    def __init__(self, session: Session, index: Index, columns: Columns) -> None:
        self.index = index
        self.columns = columns
        self._session = session
        self._besides = index.besides
        self._revision = session.store.revision
        self._lock = index.lock
        self._nodes: dict[object, int] = {}
        self._ways: dict[object, _Way] = {}
        self._labels: dict[int, str] = {}
        self._literals: dict[int, Any] = {}

    @property
    def fit(self) -> bool:
        """Whether what is kept here still belongs to the index."""
        return self.columns is self.index.columns and self._besides == self.index.besides

    def known(self) -> int | None:
        """When the last write was recorded; None where something may have been written since."""
        revision = self._revision()
        with self._lock:
            return self.index.known if revision is not None and revision == self.index.revision else None

    def value(self, subject: object, predicate: object, instant: int | None, known_at: int, default: Any) -> Any:
        """The one value that holds at an instant (None: now), the default if none does; or UNTOLD or STALE."""
        asked = (subject, predicate, instant, known_at)
        found = self._found(*asked)
        if found is _MISSING:
            found = self._found(*asked) if self._learnt(subject, predicate, instant) else UNTOLD
        if found is _NOTHING:
            return default
        return UNTOLD if found is _MISSING else found

    def _found(self, subject: object, predicate: object, instant: int | None, known_at: int) -> Any:
        """The same from what is known here; _NOTHING where no value holds, _MISSING where one can't be told yet."""
        index, revision = self.index, self._revision()
        with self._lock:
            if revision is None:
                return UNTOLD
            if revision != index.revision or index.columns is not self.columns or index.besides != self._besides:
                return STALE
            if known_at < index.known:
                return UNTOLD
            try:
                node, way = self._nodes[subject], self._ways[predicate]
            except KeyError:
                return _MISSING
            except TypeError:  # no name at all: the store's way refuses it
                return UNTOLD
            if instant is None:
                instant = max(self._session.wall(), index.known)
            rows = self.columns.holding(node, way.number, instant) if way.plain else self._rows(node, way, instant)
            if not rows:
                return _NOTHING
            if len(rows) > 1:
                return UNTOLD
            row, far = rows[0]
            if far < NOTHING:
                return self._labels.get(far, _MISSING)
            return self._literals.get(row, _MISSING)

    def _rows(self, node: int, way: _Way, instant: int) -> list[tuple[int, int]]:
        """The positive facts that hold, each with the node at its far end."""
        if way.plain:
            return self.columns.holding(node, way.number, instant)
        onto = self.columns.holding_onto(node, way.number, instant)
        if not way.out:
            return onto
        # A loop that a merge made reads the same from both ends.
        return self.columns.holding(node, way.number, instant) + [pair for pair in onto if pair[1] != node]

    def _learnt(self, subject: object, predicate: object, instant: int | None) -> bool:
        """Whether what `_found` needs could be read from the store, and is known here from now on."""
        session = self._session
        with session.read():
            if self.known() is None or not self.fit:
                return False
            try:
                node, way = self._node(subject), self._way(predicate)
            except RejectedError:
                return False
            if node is None or way is None:
                return False
            for row, far in self._rows(node, way, session.now() if instant is None else instant)[:1]:
                if far < NOTHING:
                    label = session.directory.only_label(self.columns.entity(far))
                    if label is None:
                        return False
                    _keep(self._labels, far, label)
                else:
                    _keep(self._literals, row, self._literal(row))
        return True

    def _node(self, subject: object) -> int | None:
        node = self._nodes.get(subject)
        if node is None and isinstance(subject, (str, Entity)):
            numbers = self._session.directory.find(subject, self._session.ledger.at())
            if len(numbers) == 1 and (known := self.columns.node(numbers[0])) >= 0:
                node = known
                _keep(self._nodes, subject, node)
        return node

    def _way(self, predicate: object) -> _Way | None:
        if not isinstance(predicate, str):
            return None  # refused where it is read
        way = self._ways.get(predicate)
        if way is None:
            resolved = self._session.ledger.registry().resolve(predicate)
            number = self.columns.predicate_number(resolved.predicate.name)
            if resolved.flipped or number < 0:
                return None
            onto = resolved.inverse or resolved.predicate.symmetric
            way = _Way(number, not onto, not resolved.inverse, onto)
            _keep(self._ways, predicate, way)
        return way

    def _literal(self, row: int) -> object:
        """The value of a literal as the first claim of its fact wrote it; _MISSING where its fact can't be told."""
        columns, reader = self.columns, Reader(self._session, self._session.ledger.at())
        entity, name = columns.entity(int(columns.subject[row])), columns.predicates[columns.predicate[row]]
        start, end = int(columns.start[row]), int(columns.end[row])
        rows = reader.rows(subject=entity, predicate=name, valid_from=start, valid_to=end, negative=0)
        literals = [each for each in rows if each.object and not each.object.startswith("e")]
        if len(literals) != 1:
            return _MISSING
        claims = reader.ledger.fetch(reader.body(literals[0]).claims)
        found = reader.object_of(literals[0].object, next(iter(claims.values()), None))
        return found.value if isinstance(found, Literal) else _MISSING


def _keep(kept: dict[Any, Any], key: object, found: object) -> None:
    if len(kept) >= _KEPT:
        kept.clear()
    kept[key] = found
