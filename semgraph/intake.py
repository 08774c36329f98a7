"""The claims of a batch as they mostly come: plain statements, read column by column.

Names, predicates, dates and sources repeat within a batch; each spelling is checked and understood once. Whatever is
not plain, and whatever would be refused, is left to `statement.prepare`, so that the rules stand in one place; a plain
claim gets the row that it would have got there.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import InputError, RejectedError
from semgraph.factrow import bound_text
from semgraph.gate import SEED_CONFIDENCE, check_source, check_text, source_class
from semgraph.statement import MAX_SKEW, quoted, thing_of, window
from semgraph.store.schema import ClaimColumns
from semgraph.temporal import MAX_INSTANT, MIN_INSTANT, NEG_INF, POS_INF, Bound, instant_of, parse_bound, parse_through

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semgraph.directory import Directory
    from semgraph.session import Session
    from semgraph.tabular import Table
    from semgraph.vocabulary import Predicate

__all__ = ["Intake"]

_SHORT: Final = 16 * 1024  # characters, which are at most 64 KiB
_TEXT: Final = frozenset((str,))
_MAYBE_TEXT: Final = frozenset((str, type(None)))
_MAYBE_BOUND: Final = frozenset((Bound, type(None)))
_MAYBE_INT: Final = frozenset((int, type(None)))
_MAYBE_FLOAT: Final = frozenset((float, type(None)))
#: Parameters that a plain claim leaves out, or gives such a value.
_USUAL: Final[dict[str, tuple[Any, ...]]] = {
    "kind": ("state",),
    "negative": (False,),
    "qualifiers": (None,),
    "because": (None, ()),
}


class _Said(NamedTuple):
    """A predicate as it was written, and what its objects were found to be."""

    entry: Predicate
    name: str
    told: str
    things: dict[str, _Thing | None]


class _Thing(NamedTuple):
    """An object as it was written: an entity by name, or a literal."""

    entity: str | None
    ref: str
    text: str
    type: str
    told: str


class _Source(NamedTuple):
    name: str
    told: str
    confidence: float


class _Times(NamedTuple):
    """The bounds of a column as rows and ids tell them; what is not plain is told as None."""

    instants: Sequence[int | None]
    texts: Sequence[str]
    told: Sequence[str | None]


_Time = tuple[int | None, str, str | None]
_NONE: Final[_Time] = (None, "", "null")
_ODD: Final[_Time] = (None, "", None)


class Intake:
    """The plain claims of a chunk of a batch, for one transaction: read, then named, then given as columns."""

    def __init__(self, session: Session, recorded_at: int, table: Table) -> None:
        self._directory: Directory = session.directory
        self._registry = session.ledger.registry()
        self._zone = session.config.timezone
        self._own = session.config.source
        self._scope = session.ledger.scope
        self._told_scope = quoted(session.scope)
        self._now = recorded_at
        self._table = table
        # By spelling; None for what is not plain or not right.
        self._subjects: dict[str | None, str | None] = {None: None}
        self._said: dict[str | None, _Said | None] = {None: None}
        self._things: dict[tuple[str, bool], dict[str, _Thing | None]] = {}
        self._sources: dict[str | None, _Source | None] = {None: None}
        self._numbers: dict[str | None, int] = {None: 0}  # of entities, by name
        self._named = 0
        self.keys: set[str] = set()  # of the names met
        self.places: list[int] = []  # of the plain claims in the chunk
        self.ids: list[str] = []
        self._ends: list[tuple[str, _Thing, str]] = []  # subject, object and source
        self._predicates: list[str] = []
        self._given: list[list[Any]] = []  # the columns of their rows from `valid_from` on
        self._read()

    def _read(self) -> None:
        """Find the plain claims, and what can be told of them without a look at the store."""
        column, size = self._table.column, self._table.size
        subjects, references, texts = column("subject"), column("source_ref"), column("text")
        who = self._each(subjects, self._subjects, self._name)
        said = self._each(column("predicate"), self._said, self._predicate)
        things = self._objects(said, column("object"))
        sources = self._each([given or self._own for given in column("source")], self._sources, self._source)
        first, last, spoken = self._times("valid_from"), self._lasts(), self._times("said_at", in_full=False)
        confidence = self._confidences(column("confidence"), sources)
        odd = _unstorable(references) | _unstorable(texts) | self._unusual()
        for found in (who, said, things, sources, first.told, last.told, spoken.told, confidence):
            if None in found:
                odd.update(place for place, value in enumerate(found) if value is None)
        latest, said_at = self._now + MAX_SKEW, [self._now if at is None else at for at in spoken.instants]
        odd.update(place for place, at in enumerate(said_at) if not NEG_INF < at <= latest)
        for place, (start, end) in enumerate(zip(first.instants, last.instants, strict=True)):
            if end is not None and end <= (NEG_INF if start is None else start):
                odd.add(place)
        found = [
            range(size), subjects, who, said, things, sources, first.instants, first.texts, first.told,
            last.instants, last.texts, last.told, said_at, spoken.instants, references, confidence, texts,
        ]  # fmt: skip
        if odd:
            plain = [place not in odd for place in range(size)]
            found = [list(compress(values, plain)) for values in found]
        self._keep(*found)

    def _keep(
        self, places: Any, subjects: Any, who: Any, said: Any, things: Any, sources: Any, start: Any, start_text: Any,
        start_told: Any, end: Any, end_text: Any, end_told: Any, said_at: Any, spoken: Any, references: Any,
        confidence: Any, texts: Any,
    ) -> None:  # fmt: skip
        hashed, own, now = hashlib.blake2b, f"null, {self._now}]", self._now
        quotes = ["null" if reference is None else quoted(reference) for reference in references]
        moments = [
            f"{at}, null]" if at is not None else own if reference == "null" else "null, null]"
            for at, reference in zip(spoken, quotes, strict=True)
        ]
        told = zip(who, things, said, start_told, end_told, sources, quotes, moments, strict=True)
        self.ids = [
            hashed(f'{a}{b[4]}{c[2]}{d}, {e}{f[1]}{g}, "", {h}'.encode(), digest_size=12).hexdigest()
            for a, b, c, d, e, f, g, h in told
        ]
        self.places = list(places)
        names = [source.name for source in sources]
        self._ends = list(zip(subjects, things, names, strict=True))
        self._predicates = [one.name for one in said]
        spoken = [0 if at is None else 1 for at in spoken]
        size = len(self.places)
        self._given = [
            list(start), list(start_text), list(end), list(end_text), said_at, spoken, [now] * size, names,
            list(references), list(confidence), [""] * size, list(texts),
        ]  # fmt: skip

    def set_aside_ambiguous(self) -> list[int]:
        """Leave out the claims with a name that several entities bear, before any is named; their places."""
        several = {key for key in self.keys if len(self._directory.rows(key)) > 1}
        if not several:
            return []
        key = self._directory.key
        kept = [
            key(subject) not in several and (thing.entity is None or key(thing.entity) not in several)
            for subject, thing, _ in self._ends
        ]
        left = [place for place, plain in zip(self.places, kept, strict=True) if not plain]
        columns: list[list[Any]] = [self.places, self.ids, self._ends, self._predicates, *self._given]
        self.places, self.ids, self._ends, self._predicates, *self._given = (
            list(compress(column, kept)) for column in columns
        )
        return left

    def name(self, end: int) -> None:
        """Resolve the names of the claims up to a place of the chunk; new ones become entities, in their order."""
        numbers = self._numbers
        while self._named < len(self.places) and self.places[self._named] < end:
            subject, thing, source = self._ends[self._named]
            self._named += 1
            if subject not in numbers:
                numbers[subject] = self._number(subject, source)
            if thing.entity not in numbers:
                numbers[thing.entity] = self._number(str(thing.entity), source)

    def columns(self) -> ClaimColumns:
        """The rows of the plain claims, all of them named."""
        size, numbers = len(self.places), self._numbers
        refs = {name: f"e{number}" for name, number in numbers.items()}
        things = [thing for _, thing, _ in self._ends]
        return ClaimColumns(
            [self._scope] * size,
            self.ids,
            [numbers[subject] for subject, _, _ in self._ends],
            [subject for subject, _, _ in self._ends],
            self._predicates,
            [thing.ref or refs[thing.entity] for thing in things],
            [thing.text for thing in things],
            [thing.type for thing in things],
            [0] * size,
            ["state"] * size,
            [0] * size,
            *self._given,
        )

    # -- each spelling once; an error where it is not plain, or not right

    def _each(self, values: Sequence[Any], known: dict[Any, Any], learn: Callable[[str], Any]) -> list[Any]:
        """What each value is found to be; None for one that is not plain."""
        if not _MAYBE_TEXT.issuperset(map(type, values)):
            values = [value if type(value) is str else None for value in values]
        for value in set(values).difference(known):
            known[value] = _tried(learn, value)
        return list(map(known.__getitem__, values))

    def _name(self, name: str) -> str:
        key = self._directory.key(name)
        self.keys.add(key)
        return f"[{self._told_scope}, {quoted(key)}, "

    def _predicate(self, predicate: str) -> _Said:
        resolved = self._registry.resolve(predicate)
        entry = resolved.predicate
        if resolved.inverse or resolved.flipped or entry.irreflexive:
            raise TypeError
        things = self._things.setdefault((entry.range, entry.exact), {})
        return _Said(entry, entry.name, f'{quoted(entry.name)}, false, "state", false, ', things)

    def _objects(self, said: Sequence[_Said | None], values: Sequence[Any]) -> list[_Thing | None]:
        if not _TEXT.issuperset(map(type, values)):
            values = [value if type(value) is str else None for value in values]
        for one, value in zip(said, values, strict=True):
            if one is not None and value not in one.things:
                one.things[value] = None if value is None else _tried(self._thing, one.entry, value)
        return [None if one is None else one.things[value] for one, value in zip(said, values, strict=True)]

    def _thing(self, entry: Predicate, value: str) -> _Thing:
        thing = thing_of(value, None, entry)
        check_text(value)
        if thing.entity is None:
            return _Thing(None, thing.ref, thing.text, thing.type, f"{quoted(thing.ref)}, ")
        key = self._directory.key(value)
        self.keys.add(key)
        return _Thing(value, "", value, "entity", f"{quoted(key)}, ")

    def _source(self, given: str) -> _Source:
        name = check_source(given)
        kind = source_class(name)
        if kind == "inferred":
            raise TypeError
        return _Source(name, f", {quoted(name)}, ", SEED_CONFIDENCE[kind])

    def _confidences(self, values: Sequence[Any], sources: Sequence[_Source | None]) -> list[float | None]:
        if not _MAYBE_FLOAT.issuperset(map(type, values)):
            values = [value if value is None or type(value) is float else -1.0 for value in values]
        if None in values:
            both = zip(values, sources, strict=True)
            values = [one if one is not None else source and source.confidence for one, source in both]
        return [value + 0.0 if value is not None and 0 <= value <= 1 else None for value in values]  # -0.0 is 0.0

    def _unusual(self) -> set[int]:
        """The places of claims of another kind than plain ones."""
        columns = self._table.columns
        return {
            place
            for name, usual in _USUAL.items()
            for place, value in enumerate(columns.get(name, ()))
            if not any(value is one or (type(value) is type(one) and value == one) for one in usual)
        }

    def _times(self, name: str, *, in_full: bool = True) -> _Times:
        """The bounds of a column, or of the one that tells them in microseconds; `in_full` as ids tell them."""
        micros = self._table.columns.get(f"{name}_us")
        if micros is not None:
            open_end = POS_INF if name == "valid_to" else None
            instants = [None if at == open_end else at for at in micros]
            if _MAYBE_INT.issuperset(map(type, instants)):
                return _moments(instants, in_full=in_full)
            return _Times(instants, [""] * len(instants), [None] * len(instants))
        values = self._table.columns.get(name)
        if values is None:
            return _Times([None] * self._table.size, [""] * self._table.size, ["null"] * self._table.size)
        if _MAYBE_BOUND.issuperset(map(type, values)):
            return _moments(list(map(_instant, values)), in_full=in_full)
        return self._read_times(values, parse_bound)

    def _lasts(self) -> _Times:
        """The ends, be they the first moment after or the last unit."""
        through = self._table.columns.get("valid_through")
        ends = self._times("valid_to")
        if through is None or not any(value is not None for value in through):
            return ends
        lasts = self._read_times(through, parse_through)
        found = []
        for one, end, last in zip(through, zip(*ends, strict=True), zip(*lasts, strict=True), strict=True):
            found.append(end if one is None else last if end == _NONE else _ODD)
        return _Times(*zip(*found, strict=True))

    def _read_times(self, values: Sequence[Any], parse: Callable[..., Any]) -> _Times:
        known: dict[str | date, _Time] = {}
        found = [_NONE if value is None else self._time(value, known, parse) for value in values]
        return _Times(*zip(*found, strict=True))

    def _time(self, value: Any, known: dict[str | date, _Time], parse: Callable[..., Any]) -> _Time:
        kind = type(value)
        if kind is datetime or kind is Bound:
            return _ODD if parse is parse_through else _moment(value)
        if kind is not str and kind is not date:
            return _ODD
        found = known.get(value)
        if found is None:
            bound = _tried(parse, value, timezone=self._zone)
            plain = bound is not None and bound.precision != "unknown"
            found = known[value] = (bound.instant, bound_text(bound), window(bound)) if plain else _ODD
        return found

    def _number(self, name: str, source: str) -> int:
        rows = self._directory.rows(self._directory.key(name))
        return rows[0].entity if rows else self._directory.create(name, self._now, source)


def _tried(learn: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """What is learnt; None for what is not plain, or not right: the words for it are for `prepare` to find."""
    try:
        return learn(*given, **more)
    except (RejectedError, InputError, TypeError):
        return None


def _instant(value: Bound | None) -> int | None:
    """The instant of a bound that it tells in full, else one that is no moment."""
    if value is None:
        return None
    instant = value.instant
    plain = value.precision == "instant" and value.earliest == instant == value.before - 1
    return instant if plain and not (value.spelling or value.zone or value.shifted or value.uncertain) else POS_INF


def _moment(value: Any) -> _Time:
    """An instant in UTC and no spelling of its own: there is nothing to learn from it for others."""
    if type(value) is datetime and value.tzinfo is not UTC:
        return _ODD
    instant = instant_of(value) if type(value) is datetime else _instant(value)
    (found,), (text,), (told,) = _moments([instant])
    return found, text, told


def _moments(instants: Sequence[int | None], *, in_full: bool = True) -> _Times:
    """Exact instants, as they are told where they are within the years that are accepted."""
    given = [at for at in instants if at is not None]
    if not in_full and (not given or MIN_INSTANT <= min(given) <= max(given) < MAX_INSTANT):
        return _Times(instants, [""] * len(instants), [""] * len(instants))
    told = [
        "null" if at is None else f"[{at}, [{at}, {at + 1}, false]]" if MIN_INSTANT <= at < MAX_INSTANT else None
        for at in instants
    ]
    return _Times(instants, [""] * len(told), told)


def _unstorable(values: Sequence[Any]) -> set[int]:
    """The places of what is no text that can be kept; the words for it are for `prepare` to find."""
    if _MAYBE_TEXT.issuperset(map(type, values)):
        texts = [text for text in values if text]
        joined = "".join(texts)
        if joined.isascii() and "\0" not in joined and max(map(len, texts), default=0) <= _SHORT:
            return set()
    return {place for place, value in enumerate(values) if value is not None and not _storable(value)}


def _storable(text: Any) -> bool:
    if type(text) is not str:
        return False
    try:
        check_text(text)
    except RejectedError:
        return False
    return True
