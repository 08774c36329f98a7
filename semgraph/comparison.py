"""The difference between two slices of a graph: opened, closed, changed, and conflicts that came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.model import Diff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semgraph.model import ConflictSet, Fact
    from semgraph.reader import Reading
    from semgraph.vocabulary import Predicate

    Side = tuple[Sequence[Reading], Sequence[Fact], Sequence[ConflictSet]]

__all__ = ["compare"]


def compare(before: Side, after: Side, *, whole: bool, entry: Callable[[str], Predicate]) -> Diff:
    """What differs; `whole` compares timelines (value and interval), else which values hold."""
    old, new = (
        {_key(r, entry, whole=whole): (r, fact) for r, fact in zip(side[0], side[1], strict=True)}
        for side in (before, after)
    )
    opened = [new[key] for key in new if key not in old]
    closed = [old[key] for key in old if key not in new]
    pairs = _pairs(closed, opened, entry)
    sets = [{_set_key(s): s for s in side[2]} for side in (before, after)]
    return Diff(
        opened=tuple(sorted((fact for _, fact in opened), key=_order)),
        closed=tuple(sorted((fact for _, fact in closed), key=_order)),
        changed=tuple(sorted(pairs, key=lambda pair: _order(pair[0]))),
        conflicts_opened=tuple(s for key, s in sets[1].items() if key not in sets[0]),
        conflicts_settled=tuple(s for key, s in sets[0].items() if key not in sets[1]),
    )


def _key(r: Reading, entry: Callable[[str], Predicate], *, whole: bool) -> tuple[object, ...]:
    """What tells facts apart; a symmetric one is the same from whichever end it was told first."""
    row = r.row
    subject = f"e{row.subject}"
    ends = (subject, row.object)
    if entry(row.predicate).symmetric:
        ends = (min(ends), max(ends))
    value = (*ends, row.predicate, row.negative, row.separators)
    return (*value, row.valid_from, row.valid_to) if whole else value


def _pairs(
    closed: list[tuple[Reading, Fact]], opened: list[tuple[Reading, Fact]], entry: Callable[[str], Predicate]
) -> list[tuple[Fact, Fact]]:
    """A closed and an opened fact belong together if they tell of one value, or are alone in a one-valued fluent."""
    found: list[tuple[Fact, Fact]] = []
    left = list(opened)
    for whose in (_value, _fluent):
        for r, fact in [c for c in closed if all(c[1] is not old for old, _ in found)]:
            if whose is _fluent and not (r.row.separators or entry(r.row.predicate).cardinality == "one"):
                continue
            rivals = [c for c in closed if whose(c[0]) == whose(r) and all(c[1] is not old for old, _ in found)]
            partners = [o for o in left if whose(o[0]) == whose(r)]
            if len(rivals) == 1 and len(partners) == 1:
                found.append((fact, partners[0][1]))
                left.remove(partners[0])
    return found


def _value(r: Reading) -> tuple[object, ...]:
    return (r.row.subject, r.row.predicate, r.row.object, r.row.separators)


def _fluent(r: Reading) -> tuple[object, ...]:
    return (r.row.subject, r.row.predicate, r.row.separators)


def _order(fact: Fact) -> tuple[str, int, str]:
    return (fact.label, fact.valid_from.instant, fact.id)


def _set_key(s: ConflictSet) -> tuple[object, ...]:
    members = tuple(sorted((f.subject.id, f.object.label if f.object else "", f.negative) for f in s.facts))
    return (s.predicate, members)
