"""The claims of a batch as they mostly come: plain statements, read with what was learnt from those before them.

Names, predicates, dates and sources repeat within a batch; each spelling is checked and understood once. Whatever is
not plain, and whatever would be refused, is left to `statement.prepare`, so that the rules stand in one place; a plain
claim gets the row that it would have got there.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import InputError, RejectedError
from semgraph.factrow import bound_text
from semgraph.gate import SEED_CONFIDENCE, check_source, check_text, source_class
from semgraph.statement import MAX_SKEW, quoted, thing_of, window
from semgraph.store.schema import ClaimRow
from semgraph.temporal import Bound, instant_of, parse_bound, parse_through

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.directory import Directory
    from semgraph.session import Session
    from semgraph.vocabulary import Predicate

__all__ = ["Intake", "Plain"]

_PLAIN: Final = frozenset(
    [
        "subject",
        "predicate",
        "object",
        "valid_from",
        "valid_to",
        "valid_through",
        "said_at",
        "source",
        "source_ref",
        "confidence",
        "text",
    ]
)
_SHORT: Final = 16 * 1024  # characters, which are at most 64 KiB


class _Time(NamedTuple):
    """A bound as a claim's row and its id tell it."""

    instant: int
    text: str
    window: str
    always: bool = False


class _Said(NamedTuple):
    """A predicate as it was written, and what its objects were found to be."""

    entry: Predicate
    name: str
    quoted: str
    things: dict[str, _Thing | None]


class _Thing(NamedTuple):
    """An object as it was written: an entity by name, or a literal."""

    entity: str | None
    ref: str
    text: str
    type: str
    quoted: str


class _Source(NamedTuple):
    name: str
    quoted: str
    confidence: float


class Plain(NamedTuple):
    """A plain claim but for its entities: the last of `given` are columns of its row from `valid_from` on."""

    id: str
    subject: str
    predicate: str
    thing: _Thing
    given: tuple[Any, ...]


class Intake:
    """What a batch has taught so far; it holds for one transaction."""

    def __init__(self, session: Session, recorded_at: int) -> None:
        self._directory: Directory = session.directory
        self._registry = session.ledger.registry()
        self._zone = session.config.timezone
        self._own = session.config.source
        self._scope = session.ledger.scope
        self._quoted_scope = quoted(session.scope)
        self._now = recorded_at
        self._subjects: dict[str, str | None] = {}
        self._said: dict[str, _Said | None] = {}
        self._things: dict[tuple[str, bool], dict[str, _Thing | None]] = {}
        self._sources: dict[str, _Source | None] = {}
        self._starts: dict[str | date, _Time | None] = {}
        self._ends: dict[str | date, _Time | None] = {}
        self._lasts: dict[str | date, _Time | None] = {}
        self._numbers: dict[str, int] = {}
        self.keys: set[str] = set()  # of the names met

    def read(self, item: Any) -> Plain | None:
        """The claim of a mapping with the parameters of `add`; None for one that is not plain, or not right."""
        if type(item) is not dict or not _PLAIN.issuperset(item):
            return None
        get = item.get
        subject, predicate, value = get("subject"), get("predicate"), get("object")
        if type(subject) is not str or type(predicate) is not str or type(value) is not str:
            return None
        who = self._subjects[subject] if subject in self._subjects else self._name(subject)
        said = self._said[predicate] if predicate in self._said else self._predicate(predicate)
        if who is None or said is None:
            return None
        thing = said.things[value] if value in said.things else self._thing(said, value)
        given = get("source") or self._own
        source = self._sources[given] if given in self._sources else self._source(given)
        text, reference, confidence = get("text"), get("source_ref"), get("confidence")
        if thing is None or source is None or not _storable(text) or not _storable(reference):
            return None
        if confidence is None:
            confidence = source.confidence
        elif type(confidence) is not float or not 0 <= confidence <= 1:
            return None
        times = self._times(item)
        if times is None:
            return None
        start, end, told = times
        said_at = self._now if told is None else told.instant
        spoken = "null" if told is None else str(said_at)
        recorded = str(self._now) if told is None and reference is None else "null"
        content = (
            f'[{self._quoted_scope}, {who}, {thing.quoted}, {said.quoted}, false, "state", false, '
            f"{'null' if start is None else start.window}, {'null' if end is None else end.window}, {source.quoted}, "
            f'{"null" if reference is None else quoted(reference)}, "", {spoken}, {recorded}]'
        )
        return Plain(
            hashlib.blake2b(content.encode(), digest_size=12).hexdigest(),
            subject,
            said.name,
            thing,
            (
                *((None, "") if start is None else start[:2]),
                *((None, "") if end is None else end[:2]),
                said_at,
                int(told is not None),
                self._now,
                source.name,
                reference,
                confidence,
                "",
                text,
            ),
        )

    def row(self, plain: Plain) -> ClaimRow | None:
        """The row of the claim, its names resolved; new names become entities. None where a name is ambiguous."""
        numbers = self._numbers
        subject = numbers.get(plain.subject)
        if subject is None and (subject := self._number(plain.subject, plain.given[7])) is None:
            return None
        thing = plain.thing
        name, ref, text, kind = thing.entity, thing.ref, thing.text, thing.type
        if name is not None:
            number = numbers.get(name)
            if number is None and (number := self._number(name, plain.given[7])) is None:
                return None
            ref, text, kind = f"e{number}", name, "entity"
        made: ClaimRow = _row(
            ClaimRow,
            (
                self._scope,
                plain.id,
                subject,
                plain.subject,
                plain.predicate,
                ref,
                text,
                kind,
                0,
                "state",
                0,
                *plain.given,
            ),
        )
        return made

    def forget_names(self) -> None:
        """Drop the entities found so far, after one of them was taken back."""
        self._numbers.clear()

    # -- each spelling once; None where `prepare` has to look

    def _name(self, name: str) -> str | None:
        found = self._tried(lambda: self._directory.key(name))
        self._subjects[name] = None if found is None else quoted(found)
        if found is not None:
            self.keys.add(found)
        return self._subjects[name]

    def _predicate(self, predicate: str) -> _Said | None:
        resolved = self._tried(lambda: self._registry.resolve(predicate))
        said = None
        if resolved is not None and not (resolved.inverse or resolved.flipped or resolved.predicate.irreflexive):
            entry = resolved.predicate
            things = self._things.setdefault((entry.range, entry.exact), {})
            said = _Said(entry, entry.name, quoted(entry.name), things)
        self._said[predicate] = said
        return said

    def _thing(self, said: _Said, value: str) -> _Thing | None:
        made = None
        thing = self._tried(lambda: thing_of(value, None, said.entry))
        if thing is not None and isinstance(thing.entity, str):
            who = self._subjects[value] if value in self._subjects else self._name(value)
            made = None if who is None else _Thing(value, "", "", "", who)
        elif thing is not None and thing.entity is None and _storable(value):
            made = _Thing(None, thing.ref, thing.text, thing.type, quoted(thing.ref))
        said.things[value] = made
        return made

    def _source(self, given: Any) -> _Source | None:
        if type(given) is not str:
            return None
        name = self._tried(lambda: check_source(given))
        kind = None if name is None else source_class(name)
        found = None
        if name is not None and kind is not None and kind != "inferred":
            found = _Source(name, quoted(name), SEED_CONFIDENCE[kind])
        self._sources[given] = found
        return found

    def _times(self, item: dict[str, Any]) -> tuple[_Time | None, _Time | None, _Time | None] | None:
        """Start, end and the moment when it was said, each None where it is not given."""
        start = end = told = None
        first, last, through, said = map(item.get, ("valid_from", "valid_to", "valid_through", "said_at"))
        if first is not None and (start := self._time(first, self._starts, parse_bound)) is None:
            return None
        if through is not None:
            if last is not None or (end := self._time(through, self._lasts, parse_through)) is None:
                return None
        elif last is not None and (end := self._time(last, self._ends, parse_bound)) is None:
            return None
        if said is not None and (told := self._time(said, self._ends, parse_bound)) is None:
            return None
        if (end is not None and (end.always or (start is not None and start.instant >= end.instant))) or (
            told is not None and (told.always or told.instant > self._now + MAX_SKEW)
        ):
            return None
        return start, end, told

    def _time(self, value: Any, known: dict[str | date, _Time | None], parse: Callable[..., Any]) -> _Time | None:
        kind = type(value)
        if kind is datetime or kind is Bound:
            return None if parse is parse_through else _moment(value)
        if kind is not str and kind is not date:
            return None
        if value in known:
            return known[value]
        bound = self._tried(lambda: parse(value, timezone=self._zone))
        found = None
        if bound is not None and bound.precision != "unknown":
            found = _Time(bound.instant, bound_text(bound), window(bound), bound.precision == "always")
        known[value] = found
        return found

    def _number(self, name: str, source: str) -> int | None:
        rows = self._directory.rows(self._directory.key(name))
        if len(rows) > 1:
            return None
        number = rows[0].entity if rows else self._directory.create(name, self._now, source)
        self._numbers[name] = number
        return number

    @staticmethod
    def _tried(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (RejectedError, InputError):
            return None


def _moment(value: datetime | Bound) -> _Time | None:
    """An instant in UTC and no spelling of its own: there is nothing to learn from it for others."""
    if isinstance(value, Bound):
        if value.precision != "instant" or value.spelling or value.zone or value.shifted or value.uncertain:
            return None
        instant = value.instant
    elif value.tzinfo is UTC:
        instant = instant_of(value)
    else:
        return None
    return _Time(instant, "", f"[{instant}, [{instant}, {instant + 1}, false]]")


def _storable(text: Any) -> bool:
    """Whether it is no text at all, or one that can be kept; the rest is for `prepare` to refuse."""
    if text is None or (type(text) is str and text.isascii() and len(text) <= _SHORT and "\0" not in text):
        return True
    if type(text) is not str:
        return False
    try:
        check_text(text)
    except RejectedError:
        return False
    return True


_row = tuple.__new__  # without the call of ClaimRow.__new__, whose named arguments cost more than the row
