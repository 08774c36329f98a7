"""Claims of a batch that meet nothing: all that was ever told of their fluents, each with the one fact that it makes.

Nearly all that a bulk load brings into a new graph is of this kind: occurrences, values of many, and chains of values
of one that take turns. Such facts follow from their claims by a mould (`store.moulds`), which is found once for all
claims of like bounds, by way of the fold's own parts. A property test holds the result to the full fold.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from semgraph.apart import may_refine
from semgraph.gate import source_class
from semgraph.model import Outcome
from semgraph.shortcut import lone_mould
from semgraph.stating import PLAIN, lone_confidence
from semgraph.store.moulds import Carrier, is_common, mould_of
from semgraph.store.schema import FactRow
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semgraph.ledger import Ledger
    from semgraph.snapshot import Snapshot
    from semgraph.store.schema import ClaimRow
    from semgraph.vocabulary import Predicate

__all__ = ["take"]

_EXACT = frozenset(("", "i"))  # the stored texts of bounds that are one microsecond long, at any time
_SAMPLE, _LENGTH = 946_684_800_000_000, 1_000_000_000
_ID = "0" * 24


def take(ledger: Ledger, rows: Sequence[ClaimRow]) -> tuple[dict[str, Outcome], list[ClaimRow]]:
    """Store those of some new claims that are plain, with their facts, in one step; their outcomes, and they.

    Until `Ledger.note_told` hears of them their fluents are folded without them: they have nothing to do with the rest.
    """
    taken: dict[str, Outcome] = {}
    claims: list[ClaimRow] = []
    moulds: list[str] = []
    if ledger.records.justified:
        return taken, claims
    snapshot = ledger.at()
    for fluent, group in ledger.untold(rows):
        entry = snapshot.predicate(fluent[1])
        found = _plain_of(snapshot, group, entry) if entry.name == fluent[1] else ()
        made = _moulds(found, entry) if found else None
        if made is None:
            continue
        claims += found
        moulds += made
        taken.update(dict.fromkeys([row.id for row in found], Outcome.NEW))
        if entry.cardinality == "one":
            last = max(found, key=_start)
            taken.update((row.id, Outcome.HISTORY) for row in found if row is not last)
    if claims:
        ledger.add_told(claims, moulds)
    return taken, claims


class _Plain(NamedTuple):
    """A mould, the length of its facts where that is not the claim's own, and whether they are planned."""

    mould: str
    length: int | None
    planned: bool


def _plain_of(snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate) -> Sequence[ClaimRow]:
    """Those claims of a fluent that have nothing to do with the others, as far as can be told at a glance."""
    if not entry.registered or entry.symmetric or entry.unique_object or entry.one_by or entry.ttl_days is not None:
        return ()
    for row in rows:
        if row.negative or row.kind not in PLAIN or not row.object or (snapshot.redirects and _merged(snapshot, row)):
            return ()
    if entry.cardinality == "one":
        return () if entry.event or not _take_turns(snapshot, rows, entry) else rows
    if entry.cardinality != "many":
        return ()
    if entry.event or len(rows) == 1:
        return rows
    values: dict[str, list[ClaimRow]] = {}
    for row in rows:
        values.setdefault(row.object, []).append(row)
    imported = entry.norefine or all(source_class(row.source) == "imported" for row in rows)
    if len(values) > 1 and not imported and may_refine({snapshot.name_key(ref) for ref in values}):
        return ()
    return [row for group in values.values() if len(group) == 1 or _never_meet(group) for row in group]


def _moulds(rows: Sequence[ClaimRow], entry: Predicate) -> list[str] | None:
    """The moulds of the facts of plain claims of one fluent; None where some may yet meet."""
    chain, event, single = entry.cardinality == "one", entry.event, len(rows) == 1
    made: list[_Plain] = []
    for row in rows:
        plain = _shaped(row, event=event)
        if plain is None and not chain:
            plain = _dated(row, event=event)
        if plain is None or (plain.planned and (chain or not single)):
            return None
        made.append(plain)
    if event and not single and len(set(_occurrences(rows, made))) < len(rows):
        return None
    return [plain.mould for plain in made]


def _merged(snapshot: Snapshot, row: ClaimRow) -> bool:
    return snapshot.entity(row.subject) != row.subject or snapshot.resolved(row.object) != row.object


def _start(row: ClaimRow) -> int:
    return NEG_INF if row.valid_from is None else row.valid_from


def _occurrences(rows: Sequence[ClaimRow], made: Sequence[_Plain]) -> Iterator[tuple[str, int, int | None]]:
    for row, plain in zip(rows, made, strict=True):
        start = row.said_at if row.valid_from is None else row.valid_from
        yield row.object, start, row.valid_to if plain.length is None else start + plain.length


def _take_turns(snapshot: Snapshot, rows: Sequence[ClaimRow], entry: Predicate) -> bool:
    """Whether each claim's interval ends before the next one's begins, and nothing else connects the values."""
    if any(row.kind != "state" for row in rows):
        return False
    for before, after in pairwise(sorted(rows, key=_start)):
        start = after.valid_from
        if before.valid_to is None or start is None or start < before.valid_to:
            return False
        if after.said_at < before.said_at > start:
            return False
    if len(rows) == 1:
        return True
    refs = {row.object for row in rows}
    return len(refs) == len(rows) and (entry.norefine or not may_refine({snapshot.name_key(ref) for ref in refs}))


def _never_meet(rows: Sequence[ClaimRow]) -> bool:
    """Whether claims of one value tell of times between which there is time without it."""
    if any(row.kind != "state" or row.valid_from is None or row.valid_to_text[:1] == "u" for row in rows):
        return False
    ordered = sorted(rows, key=_start)
    return all(a.valid_to is not None and a.valid_to < _start(b) for a, b in pairwise(ordered))


def _shaped(row: ClaimRow, *, event: bool) -> _Plain | None:
    """The mould of a claim whose bounds are exact, or open: nothing of it depends on when that is."""
    start = row.valid_from
    if start is None or start == NEG_INF or row.valid_from_text not in _EXACT or row.valid_to_text not in _EXACT:
        return None
    believed = lone_confidence(row.source, row.confidence)
    capped = None if believed == row.confidence else believed
    ended, early = row.valid_to is not None, row.said_at < start
    return _shape(row.valid_from_text, row.valid_to_text, capped, (ended, early, event))


@lru_cache(maxsize=1 << 12)
def _shape(from_text: str, to_text: str, capped: float | None, marks: tuple[bool, bool, bool]) -> _Plain | None:
    """The mould, told by a sample; None where the sample's time shows in it."""
    ended, early, event = marks
    end = _SAMPLE + _LENGTH if ended else None
    plain = _mould(_SAMPLE, from_text, end, to_text, _SAMPLE - int(early), "user", 0.5, event=event)
    if plain is None or '"p":' in plain.mould or '"k":' in plain.mould or plain.mould.count('"f":\x02') != 1:
        return None
    return plain if capped is None else plain._replace(mould=plain.mould.replace("\x02", repr(capped)))


def _dated(row: ClaimRow, *, event: bool) -> _Plain | None:
    """The mould of the one fact that a claim makes, whatever its bounds."""
    start, said = row.valid_from, row.said_at
    if start is not None and row.valid_to_text[:1] != "u":
        said = start - 1 if NEG_INF < start > said else start  # only which of the two came first matters
    return _mould(
        start, row.valid_from_text, row.valid_to, row.valid_to_text, said, row.source, row.confidence, event=event
    )


@lru_cache(maxsize=1 << 14)
def _mould(
    valid_from: int | None,
    from_text: str,
    valid_to: int | None,
    to_text: str,
    said_at: int,
    source: str,
    confidence: float,
    *,
    event: bool,
) -> _Plain | None:
    made = lone_mould(
        valid_from, from_text, valid_to, to_text, said_at, source, confidence, event=event, once=False, ttl_days=None
    )
    if made is None:
        return None
    start, end = made.valid_from, made.valid_to
    fact = FactRow(0, _ID, 0, "", "", 0, 0, "", start, end, 0, POS_INF, _ID.join(made.text))
    mould = mould_of(fact, Carrier(0, _ID, 0, "", "", valid_from, valid_to, said_at, 0, confidence, None))
    if mould is None or not is_common(mould):
        return None
    own = end == (POS_INF if valid_to is None else valid_to)
    return _Plain(mould, None if own else end - start, made.body.planned)
