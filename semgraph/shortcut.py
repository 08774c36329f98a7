"""Facts that are one claim each: the exact shortcut past the fold for what meets nothing in its fluent.

Nearly all that a bulk load brings is of this kind. The facts of equal bounds are alike but for the claim's id, so the
first of them is made by way of the fold's own parts, and the others from its mould. A property test holds the result
to the full fold.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
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

__all__ = ["Drafted", "lone_facts", "occurrences", "plain_facts"]


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


def plain_facts(
    snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate, subject: int, scope: int, recorded_at: int
) -> list[FactRow] | None:
    """The rows of the facts of new claims that meet nothing, each its own, in order; None for what is not so plain.

    The claims are all that was ever told of the fluent. They may be occurrences, values of many, or a chain of values
    that take turns: exact intervals that do not overlap.
    """
    if not entry.registered or entry.symmetric or entry.unique_object or entry.one_by or snapshot.justified:
        return None
    if entry.ttl_days is not None or any(row.negative or row.kind not in PLAIN or not row.object for row in rows):
        return None
    chain = entry.cardinality == "one"
    if (chain and entry.event) or not (chain or entry.event or entry.cardinality == "many"):
        return None
    if not (_take_turns(snapshot, rows, entry) if chain else len(rows) == 1 or _indifferent(snapshot, rows, entry)):
        return None
    made: list[FactRow] = []
    planned = False
    for row in rows:
        shape = _shape_of(row, entry)
        if shape is not None:
            planned = planned or shape.planned
            made.append(_of_shape(snapshot, row, entry, subject, shape, recorded_at))
            continue
        lone = None if chain else _lone_fact(snapshot, row, entry, subject, scope, recorded_at)
        if lone is None:
            return None
        planned = planned or lone.body.planned
        made.append(lone.row)
    if planned and (chain or (entry.event and len(made) > 1)):
        return None
    if entry.event and len(made) > 1 and len(set(map(_occurrence, made))) < len(made):
        return None
    return made


def _take_turns(snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate) -> bool:
    """Whether each claim's interval ends before the next one's begins, and nothing else connects the values."""
    if any(row.kind != "state" for row in rows):
        return False
    ordered = sorted(rows, key=lambda row: row.valid_from or NEG_INF)
    for before, after in pairwise(ordered):
        start = after.valid_from
        if before.valid_to is None or start is None or start < before.valid_to:
            return False
        if after.said_at < before.said_at > start:
            return False
    if len(rows) == 1:
        return True
    refs = {snapshot.resolved(row.object) for row in rows}
    return len(refs) == len(rows) and (entry.norefine or not may_refine({snapshot.name_key(ref) for ref in refs}))


def _shape_of(row: ClaimRow, entry: Predicate) -> _Shape | None:
    if row.valid_from is None or row.valid_from == NEG_INF:
        return None
    if row.valid_from_text not in _EXACT or row.valid_to_text not in _EXACT:
        return None
    return _shape(
        row.valid_from_text,
        row.valid_to_text,
        ended=row.valid_to is not None,
        early=row.said_at < row.valid_from,
        event=entry.event,
        once=entry.cardinality == "once",
    )


class _Shape(NamedTuple):
    """What the facts of claims with exact bounds share: nothing of it depends on when that is."""

    length: int | None  # None where the claim's own end holds
    text: tuple[str, ...]
    planned: bool


_EXACT = frozenset(("", "i"))  # the stored texts of bounds that are one microsecond long, at any time
_SAMPLE, _LENGTH, _CONFIDENCE = 946_684_800_000_000, 1_000_000_000, '"f":0.5'


@lru_cache(maxsize=1 << 8)
def _shape(from_text: str, to_text: str, *, ended: bool, early: bool, event: bool, once: bool) -> _Shape | None:
    """The shape, told by the mould of a sample; None where the sample's time shows in it."""
    end = _SAMPLE + _LENGTH if ended else None
    said = _SAMPLE - 1 if early else _SAMPLE
    mould = _mould(_SAMPLE, from_text, end, to_text, said, "user", 0.5, event=event, once=once, ttl_days=None)
    if mould is None or mould.valid_from != _SAMPLE:
        return None
    body = "".join(mould.text)
    if '"p":' in body or '"k":' in body or body.count(_CONFIDENCE) != 1:
        return None
    own = mould.valid_to == (POS_INF if end is None else end)
    return _Shape(None if own else mould.valid_to - _SAMPLE, mould.text, mould.body.planned)


def _of_shape(
    snapshot: Snapshot, row: ClaimRow, entry: Predicate, subject: int, shape: _Shape, recorded_at: int
) -> FactRow:
    start = row.valid_from or 0
    told = POS_INF if row.valid_to is None else row.valid_to
    end = told if shape.length is None else start + shape.length
    believed = f'"f":{base_confidence((row,))!r}'
    body = row.id.join(shape.text).replace(_CONFIDENCE, believed, 1)
    ref = snapshot.resolved(row.object)
    return FactRow(row.scope, row.id, subject, entry.name, ref, 0, 0, "", start, end, recorded_at, POS_INF, body)


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
    mould = _mould(
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
def _mould(
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
