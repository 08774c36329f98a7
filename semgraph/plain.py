"""Claims of a batch that meet nothing, neither each other nor what was told before: each makes one fact.

Nearly all that a bulk load brings into a graph is of this kind: occurrences, values of many, and chains of values of
one that take turns. Such facts follow from their claims by a mould (`store.moulds`), which is found once for all
claims of like bounds, by way of the fold's own parts. Claims are looked at column by column, new ones together with
the stored ones of their fluents, whose facts stay as they are; a property test holds the result to the full fold.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.apart import may_refine
from semgraph.gate import source_class
from semgraph.shortcut import lone_mould
from semgraph.stating import lone_confidence
from semgraph.store.moulds import Carrier, is_common, mould_of
from semgraph.store.schema import ClaimColumns, ClaimRow, FactRow
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from semgraph.holdings import Fluent
    from semgraph.ledger import Ledger
    from semgraph.snapshot import Snapshot
    from semgraph.vocabulary import Predicate

    Ints = NDArray[Any]
    Mask = NDArray[Any]

__all__ = ["Taken", "take"]

_EXACT = frozenset(("", "i"))  # the stored texts of bounds that are one microsecond long, at any time
_SAMPLE, _LENGTH = 946_684_800_000_000, 1_000_000_000
_ID = "0" * 24
_OTHER, _ONE, _SEVERAL, _EVENT = range(4)  # how the values of a predicate meet; of others nothing is told at a glance


class Taken(NamedTuple):
    """What was stored: for each claim whether it was among it, the fluents, and how many of it is history."""

    claims: list[bool]
    fluents: list[Fluent]
    history: int


def take(ledger: Ledger, claims: ClaimColumns, besides: Collection[Fluent]) -> Taken:
    """Store those of some new claims that are plain, with their facts, in one step; `besides` have other new claims.

    Until `Ledger.note_told` hears of them their fluents are folded without them: they have nothing to do with the rest.
    """
    size = len(claims.id)
    known, before = _before(ledger, claims)
    batch = _Batch(ledger, _followed_by(claims, before) if before else claims)
    found = batch.plain(known.difference(besides))
    fresh = found[:size]
    taken: list[bool] = fresh.tolist()
    if fresh.any():
        chosen = claims if fresh.all() else ClaimColumns._make(list(compress(column, taken)) for column in claims)
        ledger.add_told(chosen, list(compress(batch.moulds, taken)))
    fluents = batch.np.unique(batch.fluent[:size][fresh])
    return Taken(taken, [batch.fluents[number] for number in fluents.tolist()], batch.history(found, size))


def _before(ledger: Ledger, claims: ClaimColumns) -> tuple[set[Fluent], list[ClaimRow]]:
    """The fluents of which all that was told is at hand, and that; occurrences meet so little that it is not asked."""
    snapshot = ledger.at()
    asked: set[Fluent] = set()
    known: set[Fluent] = set()
    kinds = {name: _kind(snapshot.predicate(name), name) for name in set(claims.predicate)}
    for fluent in set(zip(claims.subject, claims.predicate, strict=True)):
        kind = kinds[fluent[1]]
        if kind == _EVENT and ledger.is_made(fluent[0]):
            known.add(fluent)
        elif kind in (_ONE, _SEVERAL):
            asked.add(fluent)
    before: list[ClaimRow] = []
    retracted = ledger.records.retractions
    for fluent, rows in ledger.told_before(asked).items():
        if all(row.kind == "state" and row.object and not (row.negative or row.opposed) for row in rows) and (
            not retracted or retracted.keys().isdisjoint(row.id for row in rows)
        ):
            known.add(fluent)
            before += (row if row.predicate == fluent[1] else row._replace(predicate=fluent[1]) for row in rows)
    return known, before


def _followed_by(claims: ClaimColumns, rows: Sequence[ClaimRow]) -> ClaimColumns:
    """The claims and then the rows."""
    both: Iterable[Any] = zip(claims, zip(*rows, strict=True), strict=True)
    return ClaimColumns._make(list(chain(*columns)) for columns in both)


class _Plain(NamedTuple):
    """A mould, the length of its facts where that is not the claim's own, and whether they are planned."""

    mould: str
    length: int | None
    planned: bool


class _Batch:
    """Claims by column, and the fluents that they stand in; what holds of a fluent is kept by its place."""

    def __init__(self, ledger: Ledger, claims: ClaimColumns) -> None:
        import numpy as np

        self.np = np
        self.ledger = ledger
        self.snapshot: Snapshot = ledger.at()
        self.claims = claims
        names, predicate = self._numbered(claims.predicate)
        subjects, subject = np.unique(np.array(claims.subject, np.int64), return_inverse=True)
        fluents, self.fluent = np.unique(subject * len(names) + predicate, return_inverse=True)
        of = fluents % len(names)
        self.entries = [self.snapshot.predicate(name) for name in names]
        self.kind = np.array([_kind(entry, name) for entry, name in zip(self.entries, names, strict=True)])[of]
        self.predicate: list[int] = of.tolist()
        near = subjects[fluents // len(names)].tolist()
        self.fluents: list[Fluent] = [(s, names[p]) for s, p in zip(near, self.predicate, strict=True)]
        self.refs, self.object = self._numbered(claims.object)
        self.begun = np.array([at is not None for at in claims.valid_from])
        self.ended = np.array([at is not None for at in claims.valid_to])
        self.start = np.array([NEG_INF if at is None else at for at in claims.valid_from], np.int64)
        self.end = np.array([POS_INF if at is None else at for at in claims.valid_to], np.int64)
        self.said = np.array(claims.said_at, np.int64)
        self.sources, self.source = self._numbered(claims.source)
        self.moulds: list[str] = []
        self.length: Ints = np.zeros(0)  # of facts that do not end as their claims do, else 0

    def _numbered(self, values: Iterable[Hashable]) -> tuple[list[Any], Ints]:
        """The values that occur, in order, and for each the number of it."""
        numbers: dict[Hashable, int] = {}
        found = [numbers.setdefault(value, len(numbers)) for value in values]
        return list(numbers), self.np.array(found)

    def plain(self, known: Collection[Fluent]) -> Mask:
        """Those claims that have nothing to do with the others, as far as can be told at a glance.

        Of the `known` fluents all claims are here.
        """
        np, fluent = self.np, self.fluent
        kind = self.kind[fluent]
        shaped, planned = self._shape_all()
        out = np.array([fluent not in known for fluent in self.fluents]) | (self.kind == _OTHER)
        if self.snapshot.redirects:
            out[fluent[self._merged()]] = True
        out[fluent[self._fails_to_take_turns() | ((kind == _ONE) & (~shaped | planned))]] = True
        out[self._refining(out)] = True
        found = ~out[fluent] & ~((kind == _SEVERAL) & self._meeting())
        alone = np.bincount(fluent[found], minlength=len(out)) == 1
        self._find_moulds(found & ~shaped, planned)
        out[fluent[found & np.array([not mould for mould in self.moulds])]] = True
        out[fluent[found & planned & ~alone[fluent]]] = True
        out[self._told_twice(found & (kind == _EVENT) & ~alone[fluent])] = True
        plain: Mask = found & ~out[fluent]
        return plain

    def history(self, found: Mask, size: int) -> int:
        """How many of the first so many claims, those that were found plain, tell of a value that another followed."""
        last = self.np.full(len(self.fluents), NEG_INF)
        self.np.maximum.at(last, self.fluent, self.start)
        fresh = self.fluent[:size][found[:size]]
        return int(((self.kind[fresh] == _ONE) & (self.start[:size][found[:size]] < last[fresh])).sum())

    def _shape_all(self) -> tuple[Mask, Mask]:
        """Which claims have bounds that are exact, or open, so that their mould is known, and which are planned."""
        np, claims = self.np, self.claims
        from_texts, from_text = self._numbered(claims.valid_from_text)
        to_texts, to_text = self._numbered(claims.valid_to_text)
        caps, cap = self._caps()
        exact = np.array([text in _EXACT for text in from_texts])[from_text]
        exact &= np.array([text in _EXACT for text in to_texts])[to_text]
        exact &= self.begun & (self.start != NEG_INF)
        early = self.begun & (self.said < self.start)
        event = self.kind[self.fluent] == _EVENT
        code = (from_text * len(to_texts) + to_text) * len(caps) + cap
        codes, place = np.unique(code * 8 + self.ended * 4 + early * 2 + event, return_inverse=True)
        made: list[_Plain | None] = []
        for number in codes.tolist():
            texts, capped = divmod(number // 8, len(caps))
            begins, ends = divmod(texts, len(to_texts))
            marks = (bool(number & 4), bool(number & 2), bool(number & 1))
            known = from_texts[begins] in _EXACT and to_texts[ends] in _EXACT
            made.append(_shape(from_texts[begins], to_texts[ends], caps[capped], marks) if known else None)
        exact &= np.array([plain is not None for plain in made])[place]
        moulds = np.array(["" if plain is None else plain.mould for plain in made], object)[place]
        self.moulds = np.where(exact, moulds, "").tolist()
        self.length = np.array([0 if plain is None else plain.length or 0 for plain in made])[place]
        return exact, exact & np.array([plain is not None and plain.planned for plain in made])[place]

    def _caps(self) -> tuple[list[float | None], Ints]:
        """The confidences of facts that are not those of their claims, None for those that are, and which it is."""
        classes = [source_class(source) for source in self.sources]
        told = list(zip([classes[number] for number in self.source.tolist()], self.claims.confidence, strict=True))
        believed = {one: lone_confidence(*one) for one in set(told)}
        return self._numbered([None if believed[one] == one[1] else believed[one] for one in told])

    def _merged(self) -> Mask:
        """Which claims tell of an entity that was merged into another."""
        entity, resolved = self.snapshot.entity, self.snapshot.resolved
        ends = zip(self.claims.subject, self.claims.object, strict=True)
        found: Mask = self.np.array([entity(s) != s or resolved(ref) != ref for s, ref in ends])
        return found

    def _fails_to_take_turns(self) -> Mask:
        """Claims of values of one that are not over when the next begins, or have something else to do with it."""
        order = self.np.lexsort((self.start, self.fluent))
        before, after = order[:-1], order[1:]
        start, met = self.start[after], self.fluent[before] == self.fluent[after]
        met &= self.kind[self.fluent[before]] == _ONE
        told_late = (self.said[after] < self.said[before]) & (self.said[before] > start)
        again = (self.object[before] == self.object[after]) & (start == self.end[before])
        apart = self.ended[before] & self.begun[after] & (start >= self.end[before])
        out = self.np.zeros(len(self.fluent), bool)
        out[before[met & ~(apart & ~told_late & ~again)]] = True
        return out

    def _meeting(self) -> Mask:
        """Claims of one value between which there may be no time without it."""
        np = self.np
        order = np.lexsort((self.start, self.object, self.fluent))
        before, after = order[:-1], order[1:]
        same = (self.fluent[before] == self.fluent[after]) & (self.object[before] == self.object[after])
        apart = self.ended[before] & self.begun[before] & self.begun[after] & (self.end[before] < self.start[after])
        group = np.concatenate(([0], np.cumsum(~same)))
        meets = np.bincount(group[:-1][same & ~apart], minlength=group[-1] + 1) > 0
        out: Mask = np.empty(len(order), bool)
        out[order] = meets[group]
        return out

    def _refining(self, out: Mask) -> list[int]:
        """Fluents in which one value may be a finer word for another."""
        np, fluent = self.np, self.fluent
        norefine = np.array([entry.norefine for entry in self.entries])[np.array(self.predicate)]
        classes = np.array([source_class(source) != "imported" for source in self.sources])
        own = np.bincount(fluent[classes[self.source]], minlength=len(out)) > 0
        asked = ~out & ~norefine & (np.bincount(fluent) > 1) & (self.kind != _EVENT) & (own | (self.kind == _ONE))
        rows = np.flatnonzero(asked[fluent])
        if not len(rows):
            return []
        places = self.object[rows].tolist()
        keys = self.ledger.name_keys([self.refs[place] for place in dict.fromkeys(places)])
        if not may_refine(set(keys.values())):
            return []
        names: dict[int, set[str]] = {}
        for number, place in zip(fluent[rows].tolist(), places, strict=True):
            names.setdefault(number, set()).add(keys[self.refs[place]])
        return [number for number, known in names.items() if may_refine(known)]

    def _find_moulds(self, which: Mask, planned: Mask) -> None:
        """Find the moulds of claims with other bounds, one by one."""
        claims = self.claims
        for row in self.np.flatnonzero(which).tolist():
            start, said = claims.valid_from[row], claims.said_at[row]
            if start is not None and claims.valid_to_text[row][:1] != "u":
                said = start - 1 if NEG_INF < start > said else start  # only which of the two came first matters
            plain = _mould(
                start, claims.valid_from_text[row], claims.valid_to[row], claims.valid_to_text[row], said,
                claims.source[row], claims.confidence[row], event=bool(self.kind[self.fluent[row]] == _EVENT),
            )  # fmt: skip
            if plain is not None:
                self.moulds[row], planned[row], self.length[row] = plain.mould, plain.planned, plain.length or 0

    def _told_twice(self, which: Mask) -> list[int]:
        """Fluents of events in which one occurrence is told more than once."""
        claims, met, twice = self.claims, set(), []
        for row in self.np.flatnonzero(which).tolist():
            number, start, end = int(self.fluent[row]), claims.valid_from[row], claims.valid_to[row]
            start = claims.said_at[row] if start is None else start
            told = (number, claims.object[row], start, start + int(self.length[row]) if self.length[row] else end)
            if told in met:
                twice.append(number)
            met.add(told)
        return twice


def _kind(entry: Predicate, name: str) -> int:
    """How the values of a predicate meet, as far as that is told by them alone."""
    if entry.name != name or entry.symmetric or entry.unique_object or entry.one_by or entry.ttl_days is not None:
        return _OTHER
    if entry.cardinality == "one":
        return _OTHER if entry.event else _ONE
    if entry.cardinality != "many":
        return _OTHER
    return _EVENT if entry.event else _SEVERAL


@lru_cache(maxsize=1 << 12)
def _shape(from_text: str, to_text: str, capped: float | None, marks: tuple[bool, bool, bool]) -> _Plain | None:
    """The mould of claims with exact bounds, told by a sample; None where the sample's time shows in it."""
    ended, early, event = marks
    end = _SAMPLE + _LENGTH if ended else None
    plain = _mould(_SAMPLE, from_text, end, to_text, _SAMPLE - int(early), "user", 0.5, event=event)
    if plain is None or '"p":' in plain.mould or '"k":' in plain.mould or plain.mould.count('"f":\x02') != 1:
        return None
    return plain if capped is None else plain._replace(mould=plain.mould.replace("\x02", repr(capped)))


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
