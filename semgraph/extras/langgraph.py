"""The long-term memory of LangGraph agents kept in a graph: namespaces are scopes, what was there before is history."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from semgraph.errors import InputError, MissingExtraError
from semgraph.names import SELF_NAMES, entity_key
from semgraph.temporal import exact

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
    )
except ImportError:
    raise MissingExtraError("the store for LangGraph", "langgraph") from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from langgraph.store.base import Op, Result

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Fact

__all__ = ["GraphStore"]

#: What the value of an item is kept under, as JSON.
ITEM: Final = "store_item"
_SCOPE: Final = "langgraph:"
_SAFE: Final = " !$&'()*+,;=:@"  # in a namespace; a slash stands between its parts
_ESCAPED: Final = "~"
_LONGEST_KEY: Final = 200
_ORDER: Final = {
    "$gt": lambda a, b: a > b, "$gte": lambda a, b: a >= b, "$lt": lambda a, b: a < b, "$lte": lambda a, b: a <= b,
}  # fmt: skip


class GraphStore(BaseStore):
    """A `BaseStore` over a graph, for `graph.compile(store=GraphStore(kg))`.

    Each namespace is a scope of its own, named `langgraph:` and its parts, so nothing crosses. A put is a change and a
    delete an end: `kg.scoped(store.scope_of(namespace)).timeline(key)` shows what an item was and when. What must be
    gone for good is forgotten there. A search with a query ranks by `recall`; without one, items come oldest first.

    Args:
        kg: the graph; whatever scope it is open for.
        source: who says what is put.

    A value is JSON of at most 64 KiB. There is no time to live (`ttl` raises NotImplementedError).

    >>> from semgraph import KnowledgeGraph
    >>> store = GraphStore(KnowledgeGraph())
    >>> store.put(("users", "u1"), "tea", {"likes": "green tea"})
    >>> store.get(("users", "u1"), "tea").value
    {'likes': 'green tea'}
    >>> [item.key for item in store.search(("users",), query="what does she drink? tea")]
    ['tea']
    """

    def __init__(self, kg: KnowledgeGraph, *, source: str = "tool:langgraph") -> None:
        self._kg = kg
        self._source = source

    def scope_of(self, namespace: Sequence[str]) -> str:
        """The scope in which the items of a namespace are."""
        return _SCOPE + "/".join(quote(part, safe=_SAFE) for part in namespace)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results of several operations, in their order.

        All reads see what was there before; then of several puts of one item the last is kept, all in one transaction.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                raise InputError(f"an operation of a store is wanted, not {type(op).__name__}")
        if puts:
            with self._kg.atomic():
                for put in puts.values():
                    self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread, so that an event loop is not held up."""
        return await asyncio.to_thread(self.batch, list(ops))

    # -- one item

    def _graph(self, namespace: Sequence[str]) -> KnowledgeGraph:
        return self._kg.scoped(self.scope_of(namespace))

    def _get(self, op: GetOp) -> Item | None:
        facts = self._graph(op.namespace).values(_name(op.key), ITEM)
        return _item(op.namespace, facts[0]) if facts else None

    def _put(self, op: PutOp) -> None:
        graph, name = self._graph(op.namespace), _name(op.key)
        held = graph.values(name, ITEM)
        if op.value is None:
            if held:
                graph.end(name, ITEM, source=self._source)
            return
        if ITEM not in graph.predicates:
            graph.predicates.define(ITEM, cardinality="one", range="literal", exact=True, norefine=True)
        written = _written(op.value)
        details: dict[str, Any] = {"key": op.key, **({"made": _made(held[0])} if held else {})}
        if op.index is False:
            details["indexed"] = False
        graph.add(
            name, ITEM, written, kind="change", source=self._source, qualifiers=details, text=_text(op.value, op.index)
        )

    # -- many

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        found: list[tuple[float | None, Item]] = []
        for namespace in self._all():
            if namespace[: len(prefix)] == prefix:
                found += self._found(namespace, op)
        if op.query:
            found.sort(key=lambda pair: -1.0 if pair[0] is None else pair[0], reverse=True)
        return [_scored(item, score) for score, item in found[op.offset : op.offset + op.limit]]

    def _found(self, namespace: tuple[str, ...], op: SearchOp) -> Iterator[tuple[float | None, Item]]:
        """The items of one namespace that the filter lets through, with how well they fit the query, if any."""
        graph = self._graph(namespace)
        facts = sorted(graph.facts(predicate=ITEM), key=lambda fact: (_made(fact), fact.id))
        scores: dict[str, float] = {}
        if op.query and facts:
            hits = graph.recall(op.query, limit=len(facts), min_confidence=0)
            scores = {hit.fact.id: hit.score for hit in hits if hit.fact.qualifiers.get("indexed", True)}
        for fact in facts:
            item = _item(namespace, fact)
            if all(_fits(item.value.get(name), wanted) for name, wanted in (op.filter or {}).items()):
                yield scores.get(fact.id), item

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = [one for one in self._all() if all(_matches(each, one) for each in op.match_conditions or ())]
        if op.max_depth is not None:
            found = [namespace[: op.max_depth] for namespace in found]
        return sorted(set(found))[op.offset : op.offset + op.limit]

    def _all(self) -> Iterator[tuple[str, ...]]:
        """The namespaces that hold anything now."""
        session = self._kg._session  # noqa: SLF001 - no scope tells of the others
        with session.read():
            names = [row.name for row in session.store.scopes() if row.name.startswith(_SCOPE)]
        for name in sorted(names):
            namespace = tuple(map(unquote, name.removeprefix(_SCOPE).split("/")))
            if next(iter(self._kg.scoped(name).facts(predicate=ITEM)), None) is not None:
                yield namespace


def _name(key: str) -> str:
    """The name of an item's entity: its key, where no other key means the same name."""
    plain = key.replace("-", "").replace("_", "").isalnum() and key.isascii() and len(key) <= _LONGEST_KEY
    if plain and entity_key(key) == key and key not in SELF_NAMES:
        return key
    if len(key) <= _LONGEST_KEY:
        return _ESCAPED + key.encode("utf-8", "surrogatepass").hex()
    return _ESCAPED + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _written(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"a value is an object of JSON: {error}") from None


def _text(value: Mapping[str, Any], index: object) -> str | None:
    """What a search reads of a value: the texts of the fields that are to be indexed, or of all of them."""
    if index is False:
        return None
    fields = [str(path).partition(".")[0].partition("[")[0] for path in index] if isinstance(index, list) else None
    everything = fields is None or "$" in fields or not fields
    found = [text for name, one in value.items() if everything or name in (fields or ()) for text in _texts(one)]
    return "; ".join(found)[:2000] or None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, (str, int, float)):
        yield str(value)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _item(namespace: Sequence[str], fact: Fact) -> Item:
    told = fact.claims
    updated = max((claim.recorded_at for claim in told), key=lambda bound: bound.instant)
    return Item(
        value=json.loads(fact.object.label if fact.object else "{}"),
        key=str(fact.qualifiers.get("key", fact.subject.label)),
        namespace=tuple(namespace),
        created_at=exact(_made(fact)).to_datetime(),
        updated_at=updated.to_datetime(),
    )


def _made(fact: Fact) -> int:
    """When the item was first put, in microseconds since 1970: later values carry that along."""
    return int(fact.qualifiers.get("made", fact.valid_from.instant))


def _scored(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a field is as a filter wants it: equal, or as its operators say."""
    if isinstance(wanted, dict) and any(str(name).startswith("$") for name in wanted):
        return all(_holds(value, name, other) for name, other in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(_fits(value.get(name), other) for name, other in wanted.items())
    return bool(value == (list(wanted) if isinstance(wanted, tuple) else wanted))


def _holds(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in _ORDER:
        raise InputError(f"an operator of a filter is $eq, $ne, $gt, $gte, $lt or $lte, not {operator!r}")
    try:
        return bool(_ORDER[operator](float(value), float(other)))
    except (TypeError, ValueError):
        return False


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", one) for one, wanted in zip(part, path, strict=True))
