"""What the nodes of the columns are called, and their order by name, kept for walks as long as no name changes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from semgraph.directory import public_id
from semgraph.index.steps import as_nodes
from semgraph.model import Entity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.index.columns import Columns
    from semgraph.reader import Reader

__all__ = ["Kept", "Named", "Naming"]

_KEPT: Final = 200_000  # names
_DEAR: Final = 64  # labels read in the time that one takes by itself
_MANY: Final = 512  # nodes that are put in order by rank


class Named(NamedTuple):
    """An entity with what it is put in order by."""

    key: str
    number: int
    entity: Entity


class Kept(dict[int, Named]):
    """Nodes of which one name holds at all times; those whose labels were read all at once are made when asked for."""

    def __init__(self, columns: Columns) -> None:
        super().__init__()
        self.columns = columns
        self.labels: list[str | None] = []
        self.rank: Any = None  # the place of each of the nodes in the order of all names
        self.whole = 0  # so many nodes have a label there, all that there were

    def knows(self, node: int) -> bool:
        """Whether the one name of a node is known."""
        return node in self or (node < len(self.labels) and self.labels[node] is not None)

    def __missing__(self, node: int) -> Named:
        label = self.labels[node] if node < len(self.labels) else None
        if label is None:
            raise KeyError(node)
        return self.keep(node, label)

    def ordered(self, nodes: Any, limit: int) -> list[Named]:
        """Up to so many of the nodes, all of them known, by name and then by number."""
        if self.rank is not None and len(nodes) > _MANY:
            level = _array(nodes)
            if int(level.max()) < len(self.rank):
                return [self[node] for node in level[np.argsort(self.rank.take(level))[:limit]].tolist()]
        named = [self[node] for node in _listed(nodes)]
        named.sort()
        return named if len(named) <= limit else named[:limit]

    def keep(self, node: int, label: str) -> Named:
        """What the node is called from now on."""
        number = self.columns.entity(node)
        made = self[node] = Named(label.casefold(), number, Entity(public_id(number), label))
        return made


class Naming:
    """Names by node. What depends on the time is not kept, and where there is such a name nothing is ranked."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._kept = Kept(columns)
        self._changing: set[int] = set()  # nodes whose label depends on the time
        self._missed = 0

    def knowing(self, levels: Sequence[Any]) -> Kept | None:
        """What tells the entities of the levels in order, also later; None where not all names are known.

        Only names that hold at all times are known, and they are told as they are now.
        """
        kept = self._kept
        if kept.whole >= self._columns.nodes or all(map(kept.knows, chain.from_iterable(map(_listed, levels)))):
            return kept
        return None

    def ordered(self, nodes: Any, limit: int, instant: int | None, reader: Reader) -> list[Named]:
        """Up to so many of the nodes by name, then by number."""
        if len(nodes) > _MANY:
            self._put_in_order(reader)
        if self.knowing([nodes]) is not None:
            return self._kept.ordered(nodes, limit)
        return sorted(self._learned(reader, _listed(nodes), instant))[:limit]

    def called(self, nodes: Sequence[int], instant: int | None, reader: Reader | None = None) -> list[Named] | None:
        """The same of all nodes, in the order given."""
        kept = self._kept
        try:
            return [kept[node] for node in nodes]
        except KeyError:
            return None if reader is None else self._learned(reader, nodes, instant)

    def _put_in_order(self, reader: Reader) -> None:
        """Rank all names, once, where none depends on the time."""
        if self._kept.rank is None and self._columns.nodes <= _KEPT and not self._changing:
            self._learn_all(reader)
            if not self._changing:
                entity, kept = self._columns.entity, self._kept
                keys = [(label or "").casefold() for label in kept.labels]
                order = sorted(range(len(keys)), key=entity)
                order.sort(key=keys.__getitem__)
                rank = np.empty(len(keys), np.uint32)
                rank[order] = np.arange(len(keys), dtype=np.uint32)
                kept.rank = rank

    def _learn_all(self, reader: Reader) -> None:
        """Read the labels of all entities at once."""
        only, entity = reader.directory.only_labels(), self._columns.entity
        labels = [only.get(entity(node)) for node in range(self._columns.nodes)]
        self._kept.labels, self._missed = labels, 0
        self._changing.update(node for node, label in enumerate(labels) if label is None)
        self._kept.whole = 0 if self._changing else len(labels)

    def _learned(self, reader: Reader, nodes: Sequence[int], instant: int | None) -> list[Named]:
        """The names of nodes, read; those that have one name at all times are kept."""
        kept, columns, directory = self._kept, self._columns, reader.directory
        missing = [node for node in nodes if not kept.knows(node)]
        self._missed += len(missing)
        if self._missed > columns.nodes // _DEAR and columns.nodes <= _KEPT and not self._changing:
            self._learn_all(reader)
            missing = [node for node in missing if not kept.knows(node)]
        if len(kept) + len(missing) > _KEPT:
            self._kept = Kept(columns)  # and not emptied: an answer may still tell its names from it
            return self._learned(reader, nodes, instant)
        numbers = [columns.entity(node) for node in missing]
        directory.prefetch_labels(numbers)
        here: dict[int, Named] = {}
        for node, number in zip(missing, numbers, strict=True):
            label = directory.only_label(number)
            if label is None:
                self._changing.add(node)
                entity = directory.entity(number, instant)
                here[node] = Named(entity.label.casefold(), number, entity)
            else:
                kept.keep(node, label)
        return [here[node] if node in here else kept[node] for node in nodes]


def _listed(nodes: Any) -> list[int]:
    found: list[int] = nodes.tolist() if isinstance(nodes, np.ndarray) else nodes
    return found


def _array(nodes: Any) -> Any:
    return nodes if isinstance(nodes, np.ndarray) else as_nodes(nodes)
