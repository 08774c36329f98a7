"""What in a fluent has nothing to do with the rest, so that each part can be folded by itself: exact, and faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from semgraph.segment import Policy, Statement

__all__ = ["independent", "may_refine"]


def independent(ordered: Sequence[Statement], policy: Policy) -> list[list[Statement]] | None:
    """The statements in groups that have nothing to do with one another, or None where that can't be told.

    An exact shortcut of the sweep. Where values do not exclude each other, or nobody said whether they do and nothing
    is told as a change, a value meets only its own negation, an end of every value, and names that it refines;
    occurrences of an event meet nothing at all but a denial.
    """
    if not _indifferent(ordered, policy):
        return None
    groups: dict[str, list[Statement]] = {}
    for s in ordered:
        groups.setdefault(s.value.ref, []).append(s)
    if "" in groups:
        return None
    if policy.event:
        found: list[list[Statement]] = []
        for group in groups.values():
            found += [group] if any(s.value.negative for s in group) else _occurrences(group)
        return found
    if len(groups) > 1 and _may_refine(ordered, policy):
        groups = _with_finer_names(groups)
    return list(groups.values()) if len(groups) > 1 else None


def _indifferent(ordered: Sequence[Statement], policy: Policy) -> bool:
    if policy.event or policy.cardinality == "many":
        return True
    return policy.cardinality == "unregistered" and not any(
        s.end_kind == "soft" or (s.change and not s.value.negative) for s in ordered
    )


def _with_finer_names(groups: dict[str, list[Statement]]) -> dict[str, list[Statement]]:
    """The groups, those joined whose names begin with one another's."""
    refs: dict[str, list[str]] = {}
    for ref, group in groups.items():
        refs.setdefault(group[0].order, []).append(ref)
    root = {name: name for name in refs}
    for name in sorted(refs, key=len):
        cut = name.find(" ")
        while cut > 0:
            if name[:cut] in root:
                root[name] = root[name[:cut]]
                break
            cut = name.find(" ", cut + 1)
    joined: dict[str, list[Statement]] = {}
    for name, members in refs.items():
        for ref in members:
            joined.setdefault(root[name], []).extend(groups[ref])
    return joined


def _occurrences(group: Sequence[Statement]) -> list[list[Statement]]:
    found: dict[tuple[int, int], list[Statement]] = {}
    for s in group:
        found.setdefault((s.start, s.end), []).append(s)
    return list(found.values())


def _may_refine(statements: Sequence[Statement], policy: Policy) -> bool:
    """Whether one of the values may be a finer word for another."""
    if policy.refines is None or policy.event or all(s.source_class == "imported" for s in statements):
        return False
    return may_refine({s.order for s in statements})


def may_refine(names: Collection[str]) -> bool:
    """Whether one of the keys begins with another and a space."""
    for name in names:
        cut = name.rfind(" ")
        while cut > 0:
            if name[:cut] in names:
                return True
            cut = name.rfind(" ", 0, cut)
    return False
