"""Conjunctive patterns with variables, matched against positive facts; rows come with the time in which they hold.

Facts of other times than the view's are left out, but for those that could lengthen a row: only an event, a fact with
separators or one read through an opposite can touch another fact of the same subject, predicate and object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.errors import BudgetExceeded
from semgraph.instants import NEG_INF, POS_INF
from semgraph.model import Bounded, Entity, Row
from semgraph.model import Literal as Value
from semgraph.walk.cut import checked_count
from semgraph.walk.edges import roughly
from semgraph.walk.terms import Pattern, Term, read_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from semgraph.model import Span
    from semgraph.reader import Reader, Reading
    from semgraph.store.schema import FactRow
    from semgraph.walk.cut import Cut

__all__ = ["match"]

_PARTIAL = 500_000  # combinations that one call keeps at a time
_CHUNK = 500  # values asked for at a time
_FANNED = 8  # facts that one value is taken to have under one predicate


_Key = tuple[int, int, str, bool]
_Ends = tuple[frozenset[str] | None, frozenset[str] | None]  # what subject and object may be; None is anything


class _Triple(NamedTuple):
    """A fact as a pattern reads it."""

    subject: str
    predicate: str
    object: str
    reading: Reading


class _Partial(NamedTuple):
    """What the patterns so far bound, when all of it holds, and the facts used: (number of the pattern, fact)."""

    values: dict[str, str]
    start: int
    end: int
    used: tuple[tuple[int, Reading], ...]


@dataclass(slots=True)
class _Merged:
    """One row to be."""

    values: dict[str, str]
    start: int
    end: int
    used: list[tuple[int, Reading]]


def match(
    reader: Reader, cut: Cut, patterns: Sequence[object], *, limit: int | None, valid_at: int | None
) -> Bounded[Row]:
    """The rows of bindings that make every pattern a fact, by name and time; at most `limit` of them.

    Raises:
        BudgetExceeded: the patterns combine to more than half a million rows on the way.
    """
    if limit is not None:
        limit = checked_count("limit", limit, 0)
    read = read_patterns(reader, patterns, valid_at)
    order = _Planner(reader, read)
    partial = [_Partial({}, NEG_INF, POS_INF, ())]
    for number in order:
        partial = _joined(reader, cut, number, read[number], partial)
        order.bound(partial, read[number])
    names = list(dict.fromkeys(name for pattern in read for name in pattern.variables))
    rows = [row for row in _coalesced(partial) if cut.meets(row.start, row.end)]
    return _made(reader, cut.instant, rows, names, limit)


class _Planner:
    """Hands out the numbers of the patterns, the most selective first, given what the ones before bound."""

    def __init__(self, reader: Reader, patterns: Sequence[Pattern]) -> None:
        self.patterns = patterns
        self._counts = [_count(reader, pattern) for pattern in patterns] if len(patterns) > 1 else [0]
        self._left = list(range(len(patterns)))
        self._values: dict[str, int] = {}
        self._rows = 1

    def __iter__(self) -> Iterator[int]:
        while self._left:
            best = min(self._left, key=self._cost)
            self._left.remove(best)
            yield best

    def bound(self, partial: Sequence[_Partial], pattern: Pattern) -> None:
        """Take note of how many values the variables of a pattern have by now."""
        self._rows = len(partial)
        for name in pattern.variables:
            self._values[name] = len({each.values[name] for each in partial})

    def _cost(self, number: int) -> tuple[int, int]:
        """About how many facts it takes: those of the bound values, or all that there are with every row so far."""
        known = [self._values[name] for name in self.patterns[number].ends if name in self._values]
        if known:
            return min(min(known) * _FANNED, self._counts[number]), number
        return self._counts[number] * self._rows, number


def _count(reader: Reader, pattern: Pattern) -> int:
    """About how many facts a pattern's constants leave."""
    ends = (pattern.subject.refs, pattern.object.refs)
    asked = (_where(pattern, ends, turned=turned) for turned in pattern.sides)
    return sum(roughly(reader, where) for where in asked if where is not None)


def _joined(reader: Reader, cut: Cut, number: int, pattern: Pattern, partial: Sequence[_Partial]) -> list[_Partial]:
    """The combinations so far, each with every fact that fits it."""
    if not partial:
        return []
    bound = [name for name in pattern.variables if name in partial[0].values]
    facts: dict[tuple[str, ...], list[tuple[dict[str, str], Reading]]] = {}
    for triple in _facts(reader, cut, pattern, partial):
        values = pattern.bind(triple.subject, triple.predicate, triple.object)
        if values is not None:
            facts.setdefault(tuple(values[name] for name in bound), []).append((values, triple.reading))
    out: list[_Partial] = []
    for each in partial:
        for values, reading in facts.get(tuple(each.values[name] for name in bound), ()):
            start, end = max(each.start, reading.row.valid_from), min(each.end, reading.row.valid_to)
            if start < end:
                out.append(_Partial(each.values | values, start, end, (*each.used, (number, reading))))
        if len(out) > _PARTIAL:
            raise BudgetExceeded(
                f"the patterns combine to more than {_PARTIAL:,} rows; name an entity or a predicate in them, or "
                "connect them by a variable"
            )
    return out


def _facts(reader: Reader, cut: Cut, pattern: Pattern, partial: Sequence[_Partial]) -> Iterator[_Triple]:
    """The facts that a pattern may read, with the ends as it reads them."""
    subjects, objects = (_known(end, partial) for end in (pattern.subject, pattern.object))
    if subjects is not None and objects is not None and not (pattern.subject.refs or pattern.object.refs):
        if len(subjects) <= len(objects):
            objects = None  # the join compares them anyway
        else:
            subjects = None
    when = {} if pattern.touching else cut.conditions()
    seen: set[tuple[str, str, str]] = set()
    for turned in pattern.sides:
        for row in _rows(reader, pattern, (subjects, objects), when, turned=turned):
            if turned and not row.object.startswith("e"):
                continue
            shown = pattern.shown or row.predicate
            ends = (row.object, f"e{row.subject}") if turned else (f"e{row.subject}", row.object)
            if not ends[1] or (row.id, *ends) in seen:
                continue
            seen.add((row.id, *ends))
            for reading in reader.reading(row, shown, turned=turned, flipped=pattern.flipped):
                if cut.holds(reading) or _touches(reader, reading):
                    yield _Triple(ends[0], shown, ends[1], reading)


def _touches(reader: Reader, reading: Reading) -> bool:
    """Whether another fact may say the same of a time that begins where this one ends."""
    if reading.without_start:
        return False
    return bool(reading.row.separators) or reading.flipped or reader.snapshot.predicate(reading.row.predicate).event


def _known(end: Term, partial: Sequence[_Partial]) -> frozenset[str] | None:
    if end.refs is not None or end.name not in partial[0].values:
        return end.refs
    return frozenset(each.values[end.name] for each in partial)


def _rows(
    reader: Reader,
    pattern: Pattern,
    ends: _Ends,
    when: dict[str, Any],
    *,
    turned: bool,
) -> Iterator[FactRow]:
    """The stored rows, asked for by the values of one end a chunk at a time."""
    subjects, objects = ends
    wide, other = (subjects, objects) if subjects is not None and len(subjects) > _CHUNK else (objects, subjects)
    if wide is None or len(wide) <= _CHUNK:
        chunks: Iterable[frozenset[str] | None] = [wide]
    else:
        listed = sorted(wide)
        chunks = [frozenset(listed[at : at + _CHUNK]) for at in range(0, len(listed), _CHUNK)]
    for chunk in chunks:
        asked = (chunk, other) if wide is subjects else (other, chunk)
        where = _where(pattern, asked, turned=turned)
        if where is not None:
            yield from reader.rows(order=None, **where, **when)  # what is found is put in order by its names


def _where(pattern: Pattern, ends: _Ends, *, turned: bool) -> dict[str, Any] | None:
    """What to ask the store for; None where no row can fit."""
    near, far = ends[::-1] if turned else ends
    where: dict[str, Any] = {"negative": int(pattern.flipped)}
    if near is not None:
        numbers = sorted(int(ref[1:]) for ref in near if ref.startswith("e"))
        if not numbers:
            return None
        where["subject"] = numbers if len(numbers) > 1 else numbers[0]
    if far is not None:
        if not far:
            return None
        refs = sorted(far)
        where["object"] = refs if len(refs) > 1 else refs[0]
    names = pattern.turned_names if turned else pattern.names
    if names is not None:
        if not names:
            return None
        where["predicate"] = names if len(names) > 1 else names[0]
    return where


def _coalesced(partial: Iterable[_Partial]) -> list[_Merged]:
    """Rows with equal bindings as one, where their intervals overlap or touch."""
    groups: dict[tuple[str, ...], list[_Partial]] = {}
    for each in partial:
        groups.setdefault(tuple(each.values[name] for name in sorted(each.values)), []).append(each)
    out: list[_Merged] = []
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda each: (each.start, each.end, [reading.row.id for _, reading in each.used]))
        last: _Merged | None = None
        for each in group:
            if last is None or each.start > last.end:
                last = _Merged(each.values, each.start, each.end, list(each.used))
                out.append(last)
            else:
                last.end = max(last.end, each.end)
                last.used += each.used
    return out


def _made(
    reader: Reader, instant: int | None, rows: list[_Merged], names: list[str], limit: int | None
) -> Bounded[Row]:
    """Row objects in order of the names that they bind, then of time."""
    values = _values(reader, rows)
    numbers = {ref: int(ref[1:]) for row in rows for ref in row.values.values() if ref.startswith("e")}
    labels = reader.directory.labels(numbers.values(), instant)
    keys = {ref: (labels[number].casefold(), ref) for ref, number in numbers.items()}
    keys |= {ref: (value.label.casefold(), ref) for ref, value in values.items()}
    found = sorted(rows, key=lambda row: ([keys[row.values[name]] for name in names], row.start, row.end))
    rows = found[:limit]
    shown = {ref for row in rows for ref in row.values.values() if ref in numbers}
    things: dict[str, Entity | Value] = {ref: reader.entity(numbers[ref], instant) for ref in shown}
    things |= values
    readings: dict[_Key, Reading] = {}
    for row in rows:
        readings |= {_fact_key(*used): used[1] for used in row.used}
    facts = dict(zip(readings, reader.facts(list(readings.values()), instant), strict=True))
    made = (
        Row(
            {name: things[row.values[name]] for name in names},
            _interval(row),
            [facts[key] for key in dict.fromkeys(sorted(_fact_key(*used) for used in row.used))],
        )
        for row in rows
    )
    return Bounded(made, truncated=len(rows) < len(found))


def _fact_key(number: int, reading: Reading) -> _Key:
    return number, reading.row.valid_from, reading.row.id, reading.turned


def _values(reader: Reader, rows: Sequence[_Merged]) -> dict[str, Value]:
    """The predicates and literals that are bound, a literal as its first fact wrote it."""
    refs = {ref for row in rows for ref in row.values.values() if not ref.startswith("e")}
    out = {ref: Value(ref[2:], ref[2:]) for ref in refs if ref.startswith("p:")}
    told: dict[str, tuple[int, str, Reading]] = {}
    if len(out) == len(refs):
        return out
    for _, reading in (used for row in rows for used in row.used):
        ref, place = reading.row.object, (reading.row.valid_from, reading.row.id, reading)
        if ref in refs and (ref not in told or place[:2] < told[ref][:2]):
            told[ref] = place
    claims = reader.ledger.fetch(reading.body.claims[0] for *_, reading in told.values() if reading.body.claims)
    for ref, (_, _, reading) in told.items():
        claim = next((claims[c] for c in reading.body.claims if c in claims), None)
        found = reader.object_of(ref, claim)
        out[ref] = found if isinstance(found, Value) else Value(ref[2:], ref[2:])
    return out


def _interval(row: _Merged) -> Span:
    readings = [reading for _, reading in row.used]
    start = next(r.body.start for r in readings if r.row.valid_from == row.start)
    end = None if row.end == POS_INF else next(r.body.end for r in readings if r.row.valid_to == row.end)
    return start, end
