"""Facts that are one claim each: the exact shortcut past the fold for what meets nothing in its fluent.

Nearly all that a bulk load brings is of this kind. The facts of equal bounds are alike but for the claim's id, so the
first of them is made by way of the fold's own parts, and the others from its mould. A property test holds the result
to the full fold.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from semgraph import factrow
from semgraph.apart import may_refine
from semgraph.draft import Draft
from semgraph.fold import alone
from semgraph.gate import source_class
from semgraph.segment import certain_window, possible_from, possible_window
from semgraph.stating import PLAIN, base_confidence, statement_of
from semgraph.store.schema import ClaimRow, FactRow
from semgraph.temporal import NEG_INF, POS_INF
from semgraph.vocabulary import Predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.factrow import Body
    from semgraph.snapshot import Snapshot

__all__ = ["Drafted", "lone_facts", "lone_mould", "occurrences"]


class Drafted(NamedTuple):
    """A fact as it follows from the claims: its row, and the body that the row holds as text."""

    row: FactRow
    body: Body


class _Mould(NamedTuple):
    """What the facts of like claims share; their text lies between the places of the claim's id."""

    valid_from: int
    valid_to: int
    text: tuple[str, ...]
    body: Body


_ID = "\x01"  # in no id, no spelling of a time and no word of a body; JSON writes it as an escape
_ESCAPED = "\\u0001"


def lone_facts(snapshot: Snapshot, subject: int, predicate: str, scope: int, recorded_at: int) -> list[Drafted] | None:
    """The facts of a fluent in which no claim meets another; None where the fold has to decide."""
    entry = snapshot.predicate(predicate)
    if entry.symmetric or entry.unique_object or entry.one_by or snapshot.justified:
        return None
    rows = snapshot.on_subject(subject, predicate)
    if len(rows) != 1 and not _indifferent(snapshot, rows, entry):
        return None
    made = _each_alone(snapshot, rows, entry, subject, scope, recorded_at)
    # What is planned depends on every word of the value, also on those about its other occurrences.
    if made is not None and len(made) > 1 and entry.event and any(fact.body.planned for fact in made):
        return None
    return made


def occurrences(
    snapshot: Snapshot, subject: int, predicate: str, rows: Sequence[ClaimRow], scope: int, recorded_at: int
) -> list[Drafted] | None:
    """The facts of some claims of an event, if those are plain and differ; None where the fold has to decide.

    Whether the rest of the fluent denies them, tells one of them too or plans another is for the caller to know.
    """
    entry = snapshot.predicate(predicate)
    if not entry.event or entry.symmetric or entry.unique_object or entry.one_by or snapshot.justified:
        return None
    made = _each_alone(snapshot, rows, entry, subject, scope, recorded_at)
    return None if made is None or any(fact.body.planned for fact in made) else made


def _each_alone(
    snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate, subject: int, scope: int, recorded_at: int
) -> list[Drafted] | None:
    made = [_lone_fact(snapshot, row, entry, subject, scope, recorded_at) for row in rows]
    found = [fact for fact in made if fact is not None]
    if len(found) < len(rows) or (entry.event and len({_occurrence(fact.row) for fact in found}) < len(rows)):
        return None
    return found


def _indifferent(snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate) -> bool:
    """Whether the claims are plain positive ones of values that neither exclude nor refine each other."""
    if not (entry.event or entry.cardinality == "many"):
        return False
    refs = {snapshot.resolved(row.object) for row in rows}
    if not entry.event and len(refs) < len(rows):
        return False
    if any(row.negative or row.kind not in PLAIN or not row.object for row in rows):
        return False
    if entry.event or entry.norefine or all(source_class(row.source) == "imported" for row in rows):
        return True
    return not may_refine({snapshot.name_key(ref) for ref in refs})


def _occurrence(row: FactRow) -> tuple[str, int, int]:
    return row.object, row.valid_from, row.valid_to


def _lone_fact(
    snapshot: Snapshot, row: ClaimRow, entry: Predicate, subject: int, scope: int, recorded_at: int
) -> Drafted | None:
    if row.negative or row.kind not in PLAIN or not row.object:
        return None
    start = row.valid_from
    if start is not None and entry.ttl_days is None and row.valid_to_text[:1] != "u":
        said = start - 1 if NEG_INF < start > row.said_at else start  # only which of the two came first matters
    else:
        said = row.said_at
    mould = lone_mould(
        start,
        row.valid_from_text,
        row.valid_to,
        row.valid_to_text,
        said,
        row.source,
        row.confidence,
        event=entry.event,
        once=entry.cardinality == "once",
        ttl_days=entry.ttl_days,
    )
    if mould is None:
        return None
    ended = [row.id] if mould.body.ended_by else mould.body.ended_by
    return Drafted(
        FactRow(
            scope,
            row.id,
            subject,
            entry.name,
            snapshot.resolved(row.object),
            0,
            int(not entry.registered),
            "",
            mould.valid_from,
            mould.valid_to,
            recorded_at,
            POS_INF,
            row.id.join(mould.text),
        ),
        mould.body._replace(claims=[row.id], ended_by=ended),
    )


@lru_cache(maxsize=1 << 13)
def lone_mould(
    valid_from: int | None,
    valid_from_text: str,
    valid_to: int | None,
    valid_to_text: str,
    said_at: int,
    source: str,
    confidence: float,
    *,
    event: bool,
    once: bool,
    ttl_days: float | None,
) -> _Mould | None:
    """The one fact that such a claim makes by itself; None where it makes none that is sure to hold."""
    row = ClaimRow(
        scope=0,
        id=_ID,
        subject=0,
        subject_text="",
        predicate="",
        object=_ID,
        object_text="",
        object_type="",
        negative=0,
        kind="state",
        opposed=0,
        valid_from=valid_from,
        valid_from_text=valid_from_text,
        valid_to=valid_to,
        valid_to_text=valid_to_text,
        said_at=said_at,
        told=1,
        recorded_at=0,
        source=source,
        source_ref=None,
        confidence=confidence,
        qualifiers="",
        text=None,
    )
    entry = Predicate("", "once" if once else "many", event=event, ttl_days=ttl_days)
    statement = statement_of(row, entry, 0, _ID, "")
    if statement.basis == "unknown" or statement.start >= statement.end:
        return None
    (g,) = alone(statement)
    draft = Draft(0, 0, _ID, "", "", g, [row], [], id=_ID, base=base_confidence([row]))
    draft.certain, draft.possible = certain_window(g), possible_window(g)
    if g.basis == "observed":
        draft.possible = (possible_from(g, ()), draft.possible[1])
    made, body = factrow.encode(draft, 0, 0)
    return _Mould(g.start, g.end, tuple(made.body.split(_ESCAPED)), body)
