"""Conversations told to a scope as they were held: who said what, and when; without a model, and without a loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from semgraph.errors import ImportRejected
from semgraph.exchange.conversations import sessions_of
from semgraph.exchange.intake import define_missing, not_ahead, tell
from semgraph.exchange.lines import counted
from semgraph.temporal import exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.conversations import Session
    from semgraph.model import Batch

    Claim = dict[str, Any]

__all__ = ["SAID", "reference_of", "take_sessions"]

#: What a turn is kept under.
SAID: Final = "said"
_EVENT: Final = "experienced"
_PREDICATES: Final[Mapping[str, Mapping[str, Any]]] = {
    SAID: {"cardinality": "many", "range": "literal", "exact": True},
    _EVENT: {"cardinality": "many", "range": "literal", "event": True},
}


def take_sessions(
    kg: KnowledgeGraph, documents: Iterable[Any], kind: str, shown: str, source: str | None, unregistered: str
) -> Batch:
    """What telling the sessions of a conversation file did, all of it in one transaction."""
    try:
        sessions = sessions_of(documents, kind, reference_of(kg), title=shown)
    except ValueError as error:
        raise ImportRejected("bad_row", f"{shown}: {error}") from None
    if not sessions:
        raise ImportRejected("empty", f"{shown} holds no session")
    with kg.atomic():
        define_missing(kg, _PREDICATES)
        claims = list(_claims(sessions, source or f"imported:{kind}"))
        batch = tell(kg, [not_ahead(kg, claim) for claim in claims], unregistered)
    turns, remarks = (sum(map(len, parts)) for parts in zip(*((s.turns, s.remarks) for s in sessions), strict=True))
    noted = f" and {counted(remarks, 'remark')} of who made the file" if remarks else ""
    notes = [f"{counted(len(sessions), 'session')} with {counted(turns, 'turn')}{noted}, kept as they stand"]
    if undated := sum(turn.said_at is None for session in sessions for turn in session.turns):
        notes.append(f"without a time that can be read: {counted(undated, 'turn')}, counted as said now")
    if turns:
        notes.append("`semgraph extract` makes facts of what was said, with a language model")
    return replace(batch, rejected_at=(), notes=(*notes, *batch.notes))


def reference_of(kg: KnowledgeGraph) -> datetime:
    """Now by the graph's clock, in its time zone: what times without a zone are read in."""
    session = kg._session  # noqa: SLF001 - its clock and its zone
    return exact(session.wall()).to_datetime().astimezone(ZoneInfo(session.config.timezone or "UTC"))


def _claims(sessions: Sequence[Session], source: str) -> Iterator[Claim]:
    for session in sessions:
        for turn in session.turns:
            when = {} if turn.said_at is None else {"said_at": turn.said_at}
            yield {
                "subject": turn.speaker,
                "predicate": SAID,
                "object": turn.text,
                "source": source,
                "source_ref": turn.ref,
                "qualifiers": {"session": session.id, **dict(turn.details)},
                **when,
            }
        for remark in session.remarks:
            told: Claim = {"subject": remark.speaker, "object": remark.text, "source": source, "source_ref": remark.ref}
            if remark.said_at is not None:
                told["said_at"] = remark.said_at
            if remark.date is not None:
                told["valid_from"] = remark.date
            yield {"predicate": "states" if remark.date is None else _EVENT, **told}
