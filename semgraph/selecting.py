"""Small rules by which a view selects, orders and shows facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semgraph.errors import InputError
from semgraph.model import Entity, Literal
from semgraph.names import entity_key
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semgraph.model import Fact
    from semgraph.reader import Reader, Reading
    from semgraph.store.schema import FactRow
    from semgraph.vocabulary import Resolved

__all__ = ["by_time", "end_condition", "far_end", "latest_of_each", "plain", "positive", "qualified", "through"]


def plain(thing: Entity | Literal | None) -> Any:
    """An object as a plain Python value: the label of an entity, the value of a literal."""
    if isinstance(thing, Literal):
        return thing.value
    return None if thing is None else thing.label


def positive(r: Reading) -> bool:
    """Whether the fact is positive, as it is read."""
    return bool(r.row.negative) == r.flipped


def end_condition(ref: str, *, turned: bool) -> dict[str, Any]:
    """The condition on rows whose far end is a reference."""
    return {"subject": int(ref[1:])} if turned and ref.startswith("e") else {"object": ref}


def far_end(r: Reading) -> str:
    """The reference of what lies at the other end, as it is read."""
    return f"e{r.row.subject}" if r.turned else r.row.object


def latest_of_each(readings: Iterable[Reading], limit: int | None) -> tuple[list[Reading], set[str]]:
    """Of each predicate at most so many, the latest to begin; and the predicates of which there are more."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.predicate, []).append(reading)
    cut = {name for name, group in groups.items() if limit is not None and len(group) > limit}
    for name in cut:
        groups[name].sort(key=lambda r: (-r.row.valid_from, r.row.id))
    return [reading for group in groups.values() for reading in group[:limit]], cut


def through(reader: Reader, row: FactRow, resolved: Resolved, predicate: str) -> list[Reading]:
    """A stored fact read the way a name says."""
    named = resolved.inverse or resolved.flipped
    shown = reader.snapshot.registry.canonical_of(predicate) if named else row.predicate
    return reader.reading(row, shown, turned=resolved.inverse, flipped=resolved.flipped)


def qualified(fact: Fact, qualifiers: Mapping[str, Any] | None) -> bool:
    """Whether some claim of the fact has all these qualifiers."""
    if not qualifiers:
        return True
    if not hasattr(qualifiers, "items"):
        raise InputError(f"qualifiers are a mapping of names to values, not {type(qualifiers).__name__}")
    return any(all(_same(c.qualifiers.get(k), v) for k, v in qualifiers.items()) for c in fact.claims)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return entity_key(a) == entity_key(b)
    return bool(a == b)


def by_time(fact: Fact) -> tuple[int, int, str, str]:
    """The order of a timeline: by start, end and name."""
    end = POS_INF if fact.valid_to is None else fact.valid_to.instant
    return (NEG_INF if fact.start_basis == "unknown" else fact.valid_from.instant, end, fact.label, fact.id)
