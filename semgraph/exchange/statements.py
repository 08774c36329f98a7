"""What files speak of by ids and name apart: statements told as claims, and the names of what they are about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from semgraph.directory import alias_bounds
from semgraph.errors import InputError
from semgraph.exchange.intake import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Batch

    Claim = dict[str, Any]

__all__ = ["Entry", "take_statements"]


@dataclass(slots=True)
class Entry:
    """Something with an id: the name to show it by, its other names, and what is said of it.

    `denied` is what was said and is held to be wrong, `skipped` how much says nothing that a claim can say.
    """

    id: str
    label: str | None = None
    aliases: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    denied: list[Claim] = field(default_factory=list)
    skipped: int = 0


def take_statements(kg: KnowledgeGraph, entries: Sequence[Entry], source: str, unregistered: str) -> Batch:
    """What telling all of them did, in one transaction.

    An entity is found by its id, which is one of its names; its label becomes the one that it is shown by. A name that
    others bear too is given all the same: they are homonyms until somebody merges them.
    """
    with kg.atomic():
        batch = tell(kg, [claim for entry in entries for claim in entry.claims], unregistered)
        counts = Counter(batch.counts)
        for entry in entries:
            for claim in entry.denied:
                words = {name: claim[name] for name in claim if name not in {"subject", "predicate", "object"}}
                words.pop("qualifiers", None)
                receipt = kg.deny(claim["subject"], claim["predicate"], claim["object"], **words)
                counts[receipt.outcome.value] += 1
        notes = list(batch.notes)
        if unnamed := _name(kg, entries, source):
            notes.append(f"{unnamed} names were left out: they can't be names here")
        if skipped := sum(entry.skipped for entry in entries):
            notes.append(f"{skipped} statements were left out: they have no value, or deny what others say")
    return replace(batch, counts=dict(sorted(counts.items())), rejected_at=(), notes=tuple(notes))


def _name(kg: KnowledgeGraph, entries: Sequence[Entry], source: str) -> int:
    """Give every entity its names; how many of them it can't have."""
    session, refused = kg._session, 0  # noqa: SLF001 - many names are kept in one write
    always = alias_bounds(None, None)
    with session.write() as recorded_at:
        directory = session.directory
        for entry in entries:
            known = directory.rows(directory.key(entry.id))
            number = known[0].entity if known else directory.create(entry.id, recorded_at, source)
            for place, name in enumerate([entry.label or entry.id, *entry.aliases]):
                try:
                    directory.alias(name, number, always, recorded_at, source, primary=not place, homonym=True)
                except InputError:  # too long, nothing visible in it, or a name of the user's own
                    refused += 1
        directory.flush()
    return refused
