"""The reads of a view that are about entities and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.model import Entity
from semgraph.names import entity_key
from semgraph.store.schema import AliasRow, EntityRow
from semgraph.temporal import POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from semgraph.reader import Reader
    from semgraph.view import Slice

    Name = str | Entity

__all__ = ["NamedView"]


class NamedView:
    """What `GraphView` has of entities."""

    if TYPE_CHECKING:
        _slice: Slice

        def reading(self) -> AbstractContextManager[Reader]: ...  # noqa: D102 - GraphView has it

    def entity(self, name: Name) -> Entity:
        """The entity that a name means today; NotFoundError or AmbiguousNameError carry `.candidates`.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya Lind", "lives_in", "Oslo")
        >>> kg.entity("maya  lind").label
        'Maya Lind'
        """
        with self.reading() as reader:
            number = reader.directory.known(name, reader.snapshot, self._slice.valid_at)
            return reader.directory.entity(number, self._slice.valid_at)

    def candidates(self, name: Name) -> list[Entity]:
        """Every entity that the name has meant, best first; empty where there is none.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.candidates("Maya")
        []
        """
        with self.reading() as reader:
            directory, snapshot = reader.directory, reader.snapshot
            found = directory.find(name, snapshot, self._slice.valid_at)
            found += [number for number in directory.ever(name, snapshot) if number not in found]
            return [directory.entity(number, self._slice.valid_at) for number in found]

    def entities(self, prefix: str | None = None) -> Iterator[Entity]:
        """Entities by label; with a prefix those that have a name beginning with it.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo")
        >>> [entity.label for entity in kg.entities("Os")]
        ['Oslo']
        """
        with self.reading() as reader:
            directory, snapshot, ledger = reader.directory, reader.snapshot, reader.ledger
            if prefix is None:
                rows = ledger.store.select(EntityRow, ledger.scope, recorded_at__le=self._slice.known_at)
                numbers = {snapshot.entity(row.id) for row in rows}
            else:
                key = entity_key(prefix)
                aliases = ledger.store.select(
                    AliasRow, ledger.scope, key__ge=key, key__lt=key + chr(0x10FFFF), retracted_at=POS_INF
                )
                numbers = {snapshot.entity(row.entity) for row in aliases}
            directory.prefetch_labels(numbers)
            found = [directory.entity(number, self._slice.valid_at) for number in numbers]
        yield from sorted(found, key=lambda e: (entity_key(e.label), e.id))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, (str, Entity)):
            return False
        with self.reading() as reader:
            return bool(reader.directory.find(name, reader.snapshot))

    def __len__(self) -> int:
        """How many entities the scope knows, merged ones once."""
        with self.reading() as reader:
            ledger = reader.ledger
            made = ledger.store.count(EntityRow, ledger.scope, recorded_at__le=self._slice.known_at)
            return made - len(reader.snapshot.redirects)
