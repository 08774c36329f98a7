"""The few facts about the owner of a scope that always matter, as many whole ones as fit into a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.errors import InputError
from semgraph.model import Profile
from semgraph.render import Dispute, render_facts
from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semgraph.model import Fact

__all__ = ["byte_tokens", "checked_budget", "checked_counter", "fitted", "in_order"]


def byte_tokens(text: str) -> int:
    """About how many tokens a text is: one for every four bytes of UTF-8.

    >>> byte_tokens("known facts")
    3
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


def checked_budget(budget: object) -> int:
    """The budget given, or InputError where it is none."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InputError(f"budget is a whole number of tokens from 0 on, not {budget!r}")
    return budget


def checked_counter(count: object) -> Callable[[str], int]:
    """The counter of tokens given, or of bytes where none is; InputError where it can't be called."""
    if count is None:
        return byte_tokens
    if not callable(count):
        raise InputError(
            f"count is called with a text and says how many tokens it is, and {type(count).__name__} can't be"
        )
    return count


def in_order(facts: Sequence[Fact], places: Mapping[str, int]) -> list[Fact]:
    """The facts by the place of their predicate, then the surest, then the most recently confirmed, then by id."""

    def confirmed(fact: Fact) -> int:
        return max((claim.said_at.instant for claim in fact.claims), default=NEG_INF)

    return sorted(facts, key=lambda f: (places.get(f.predicate, len(places)), -f.confidence, -confirmed(f), f.id))


def fitted(
    facts: Sequence[Fact], disputes: Sequence[Dispute], now: int, budget: int, count: Callable[[str], int]
) -> Profile:
    """The block of the first facts that fit, each whole, and those of a dispute together or not at all.

    What is too large is passed over for what comes after it. The last line says how many had no room.
    """
    member = {place: dispute for dispute in disputes for place in dispute.members}
    chosen: list[int] = []
    best = _block(facts, chosen, disputes, now)
    for place in range(len(facts)):
        group = member[place].members if place in member else (place,)
        if place != min(group):
            continue
        text = _block(facts, sorted([*chosen, *group]), disputes, now)
        if count(text) <= budget:
            chosen, best = sorted([*chosen, *group]), text
    if not chosen:
        return Profile((), 0, len(facts), "")
    return Profile(tuple(facts[place] for place in chosen), count(best), len(facts) - len(chosen), best)


def _block(facts: Sequence[Fact], chosen: Sequence[int], disputes: Sequence[Dispute], now: int) -> str:
    at = {place: new for new, place in enumerate(chosen)}
    kept = [Dispute(tuple(at[m] for m in d.members), d.sure) for d in disputes if at.keys() >= set(d.members)]
    lines = [render_facts([facts[place] for place in chosen], kept, now)]
    if len(chosen) < len(facts):
        lines.append(f"{len(facts) - len(chosen)} more")
    return "\n".join(lines)
