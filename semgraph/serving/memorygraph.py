"""What the reference memory server does with its graph, as functions on what a file holds; nothing is lost on the way.

Where it would split or strand what belongs together, these differ: a name leads to the entity that has it in another
spelling of the same letters, and a relation is found by its ends even where no entity was made for one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semgraph.errors import SemgraphError
from semgraph.names import entity_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semgraph.exchange.memorylines import Link, Memory, Node

__all__ = [
    "NoEntity", "add_observations", "create_entities", "create_relations", "delete_entities", "delete_observations",
    "delete_relations", "key_of", "open_nodes", "search_nodes", "shown_graph",
]  # fmt: skip

Shown = dict[str, Any]


class NoEntity(Exception):
    """Observations of an entity that is not there."""


def key_of(name: str) -> str:
    """What names of one entity have in common; the name itself where it can't be one elsewhere."""
    try:
        return entity_key(name)
    except SemgraphError:
        return name


class _Names:
    """Which entity each name leads to: the one that has it to the letter, else the first that has it otherwise."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._places: dict[str, int] = {}
        self._by_key: dict[str, int] = {}
        for place, node in enumerate(nodes):
            self.take(node.name, place)

    def take(self, name: str, place: int) -> None:
        """A node of this name stands there."""
        self._places.setdefault(name, place)
        self._by_key.setdefault(key_of(name), place)

    def exact(self, name: str) -> bool:
        """Whether an entity has the name to the letter."""
        return name in self._places

    def place(self, name: str) -> int | None:
        """Where the entity stands that the name leads to."""
        return self._places.get(name, self._by_key.get(key_of(name)))


def _settled(memory: Memory, names: _Names, name: str) -> str:
    """The name as its entity has it, or as given where there is none."""
    place = names.place(name)
    return name if place is None else memory.nodes[place].name


def _same(link: Link, other: Link) -> bool:
    return link[:3] == other[:3]


# -- making


def create_entities(memory: Memory, given: Iterable[Node]) -> list[Shown]:
    """The entities that are new; one that is there in another spelling gets the observations that it has not."""
    names, begin, joined = _Names(memory.nodes), len(memory.nodes), []
    for node in given:
        place = names.place(node.name)
        if place is None:
            names.take(node.name, len(memory.nodes))
            memory.nodes.append(node)
        elif place >= begin or not names.exact(node.name):
            added = _observe(memory, place, node.observations)
            if added and place < begin:
                joined.append(memory.nodes[place]._replace(observations=tuple(added)))
    return list(map(_shown, [*memory.nodes[begin:], *joined]))


def create_relations(memory: Memory, given: Iterable[Link]) -> list[Shown]:
    """The relations that are new."""
    names, made = _Names(memory.nodes), []
    known = {link[:3] for link in memory.links}
    for link in given:
        told = link._replace(source=_settled(memory, names, link.source), target=_settled(memory, names, link.target))
        if told[:3] not in known:
            known.add(told[:3])
            memory.links.append(told)
            made.append(_shown_link(told))
    return made


def add_observations(memory: Memory, given: Iterable[tuple[str, Sequence[str]]]) -> list[Shown]:
    """What is new for each entity.

    Raises:
        NoEntity: nothing has one of the names; the memory may be changed already and is to be thrown away.
    """
    names, results = _Names(memory.nodes), []
    for name, contents in given:
        place = names.place(name)
        if place is None:
            raise NoEntity(f"Entity with name {name} not found")
        results.append({"entityName": name, "addedObservations": _observe(memory, place, contents)})
    return results


def _observe(memory: Memory, place: int, contents: Iterable[str]) -> list[str]:
    node = memory.nodes[place]
    added = [text for text in contents if text not in node.observations]
    memory.nodes[place] = node._replace(observations=(*node.observations, *added))
    return added


# -- taking away


def delete_entities(memory: Memory, given: Iterable[str]) -> None:
    """Entities go, with every relation that they are an end of."""
    names = _Names(memory.nodes)
    gone = {_settled(memory, names, name) for name in given}
    memory.nodes[:] = [node for node in memory.nodes if node.name not in gone]
    memory.links[:] = [link for link in memory.links if link.source not in gone and link.target not in gone]


def delete_observations(memory: Memory, given: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Observations go, each to the letter."""
    names = _Names(memory.nodes)
    for name, contents in given:
        place = names.place(name)
        if place is not None:
            node, gone = memory.nodes[place], set(contents)
            kept = tuple(text for text in node.observations if text not in gone)
            memory.nodes[place] = node._replace(observations=kept)


def delete_relations(memory: Memory, given: Iterable[Link]) -> None:
    """Relations go, by their ends and kind."""
    names = _Names(memory.nodes)
    gone = set()
    for link in given:
        gone.add(link[:3])
        gone.add((_settled(memory, names, link.source), _settled(memory, names, link.target), link.relation))
    memory.links[:] = [link for link in memory.links if link[:3] not in gone]


# -- reading


def shown_graph(memory: Memory) -> Shown:
    """All of it."""
    return _part(memory.nodes, memory.links)


def search_nodes(memory: Memory, query: str) -> Shown:
    """The entities in which the query stands, else those in which each of its words does, with their relations."""
    wanted = query.lower()
    found = [node for node in memory.nodes if any(wanted in text for text in _texts(node))]
    stray = _stray(memory, lambda name: wanted in name.lower())
    words = wanted.split()
    if not (found or stray) and len(words) > 1:
        found = [node for node in memory.nodes if all(any(word in text for text in _texts(node)) for word in words)]
    return _around(memory, found, stray)


def open_nodes(memory: Memory, given: Iterable[str]) -> Shown:
    """The entities of these names, with their relations."""
    names = _Names(memory.nodes)
    wanted = {_settled(memory, names, name) for name in given}
    return _around(memory, [node for node in memory.nodes if node.name in wanted], _stray(memory, wanted.__contains__))


def _stray(memory: Memory, wanted: Any) -> set[str]:
    """The ends of relations for which no entity was made, as far as they are wanted."""
    made = {node.name for node in memory.nodes}
    return {end for link in memory.links for end in link[:2] if end not in made and wanted(end)}


def _texts(node: Node) -> list[str]:
    return [node.name.lower(), node.kind.lower(), *(text.lower() for text in node.observations)]


def _around(memory: Memory, nodes: Sequence[Node], stray: set[str]) -> Shown:
    ends = {node.name for node in nodes} | stray
    return _part(nodes, [link for link in memory.links if link.source in ends or link.target in ends])


def _part(nodes: Iterable[Node], links: Iterable[Link]) -> Shown:
    return {"entities": list(map(_shown, nodes)), "relations": list(map(_shown_link, links))}


def _shown(node: Node) -> Shown:
    return {"name": node.name, "entityType": node.kind, "observations": list(node.observations)}


def _shown_link(link: Link) -> Shown:
    return {"from": link.source, "to": link.target, "relationType": link.relation}
