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
from semgraph.temporal import NEG_INF, Bound, instant_of, parse_bound, parse_through

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


_Time = tuple[int, str, str]  # a bound as a claim's row and its id tell it: instant, stored text, window


class _Said(NamedTuple):
    """A predicate as it was written, and what its objects were found to be."""

    entry: Predicate
    name: str
    told: str
    things: dict[str, _Thing]


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


class Plain(NamedTuple):
    """A plain claim but for its entities; `given` are the columns of its row from `valid_from` on."""

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
        self._told_scope = quoted(session.scope)
        self._now = recorded_at
        # By spelling; what is not plain or not right is in none of them.
        self._subjects: dict[str, str] = {}
        self._said: dict[str, _Said] = {}
        self._things: dict[tuple[str, bool], dict[str, _Thing]] = {}
        self._sources: dict[str, _Source] = {}
        self._bounds: dict[str | date, _Time] = {}
        self._lasts: dict[str | date, _Time] = {}
        self._numbers: dict[str, int] = {}
        self.keys: set[str] = set()  # of the names met

    def read(self, item: Any) -> Plain | None:
        """The claim of a mapping with the parameters of `add`; None for one that is not plain, or not right."""
        if type(item) is not dict or not _PLAIN.issuperset(item):
            return None
        get: Callable[[str], Any] = item.get
        subject, predicate, value, given = get("subject"), get("predicate"), get("object"), get("source") or self._own
        try:
            who = self._subjects.get(subject) or self._name(subject)
            said = self._said.get(predicate) or self._predicate(predicate)
            thing = said.things.get(value) or self._thing(said, value)
            source = self._sources.get(given) or self._source(given)
            first, last, told = self._times(item)
        except (RejectedError, InputError, TypeError):  # the words for it are for `prepare` to find
            return None
        text, reference, confidence = get("text"), get("source_ref"), get("confidence")
        if not (text is None or _storable(text)) or not (reference is None or _storable(reference)):
            return None
        if confidence is None:
            confidence = source.confidence
        elif type(confidence) is not float or not 0 <= confidence <= 1:
            return None
        start, start_text, start_told = first
        end, end_text, end_told = last
        now = self._now
        if told is not None:
            said_at, spoken, recorded = told, str(told), "null"
        else:
            said_at, spoken, recorded = now, "null", str(now) if reference is None else "null"
        content = (
            f"{who}{thing.told}{said.told}{start_told}, {end_told}{source.told}"
            f'{"null" if reference is None else quoted(reference)}, "", {spoken}, {recorded}]'
        )
        id = hashlib.blake2b(content.encode(), digest_size=12).hexdigest()  # the word of the row
        row = (
            start, start_text, end, end_text, said_at, int(told is not None), now, source.name, reference, confidence,
            "", text,
        )  # fmt: skip
        return _tuple(Plain, (id, subject, said.name, thing, row))

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
        made: ClaimRow = _tuple(
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

    # -- each spelling once; an error where it is not plain, or not right

    def _name(self, name: Any) -> str:
        key = self._directory.key(_text(name))
        self.keys.add(key)
        self._subjects[name] = told = f"[{self._told_scope}, {quoted(key)}, "
        return told

    def _predicate(self, predicate: Any) -> _Said:
        resolved = self._registry.resolve(_text(predicate))
        entry = resolved.predicate
        if resolved.inverse or resolved.flipped or entry.irreflexive:
            raise TypeError
        things = self._things.setdefault((entry.range, entry.exact), {})
        said = _Said(entry, entry.name, f'{quoted(entry.name)}, false, "state", false, ', things)
        self._said[predicate] = said
        return said

    def _thing(self, said: _Said, value: Any) -> _Thing:
        thing = thing_of(_text(value), None, said.entry)
        check_text(value)
        if thing.entity is None:
            made = _Thing(None, thing.ref, thing.text, thing.type, f"{quoted(thing.ref)}, ")
        else:
            key = self._directory.key(value)
            self.keys.add(key)
            made = _Thing(value, "", "", "", f"{quoted(key)}, ")
        said.things[value] = made
        return made

    def _source(self, given: Any) -> _Source:
        name = check_source(_text(given))
        kind = source_class(name)
        if kind == "inferred":
            raise TypeError
        found = self._sources[given] = _Source(name, f", {quoted(name)}, ", SEED_CONFIDENCE[kind])
        return found

    def _times(self, item: dict[str, Any]) -> tuple[_Bound, _Bound, int | None]:
        """Start, end and the moment when it was said, the last None where it is not given."""
        get = item.get
        value = get("valid_from")
        first = _NONE if value is None else self._time(value, self._bounds, parse_bound)
        value, through = get("valid_to"), get("valid_through")
        if through is not None:
            if value is not None:
                raise TypeError
            last: _Bound = self._time(through, self._lasts, parse_through)
        else:
            last = _NONE if value is None else self._time(value, self._bounds, parse_bound)
        if last is not _NONE and not (first[0] or NEG_INF) < (last[0] or NEG_INF):
            raise TypeError
        value = get("said_at")
        if value is None:
            return first, last, None
        told: int = value.instant if _is_moment(value) else self._time(value, self._bounds, parse_bound)[0]
        if not NEG_INF < told <= self._now + MAX_SKEW:
            raise TypeError
        return first, last, told

    def _time(self, value: Any, known: dict[str | date, _Time], parse: Callable[..., Any]) -> _Time:
        kind = type(value)
        if kind is datetime or kind is Bound:
            if parse is parse_through:
                raise TypeError
            return _moment(value)
        if kind is not str and kind is not date:
            raise TypeError
        found = known.get(value)
        if found is None:
            bound = parse(value, timezone=self._zone)
            if bound is None or bound.precision == "unknown":
                raise TypeError
            found = known[value] = (bound.instant, bound_text(bound), window(bound))
        return found

    def _number(self, name: str, source: str) -> int | None:
        rows = self._directory.rows(self._directory.key(name))
        if len(rows) > 1:
            return None
        number = rows[0].entity if rows else self._directory.create(name, self._now, source)
        self._numbers[name] = number
        return number


_Bound = tuple[int | None, str, str]
_NONE: Final[_Bound] = (None, "", "null")


def _text(given: Any) -> str:
    if type(given) is not str:
        raise TypeError
    return given


def _is_moment(value: Any) -> bool:
    """Whether it is a bound that its instant tells in full."""
    return (
        type(value) is Bound
        and value.precision == "instant"
        and value.earliest == value.instant == value.before - 1
        and not (value.spelling or value.zone or value.shifted or value.uncertain)
    )


def _moment(value: Any) -> _Time:
    """An instant in UTC and no spelling of its own: there is nothing to learn from it for others."""
    if _is_moment(value):
        instant: int = value.instant
    elif type(value) is datetime and value.tzinfo is UTC:
        instant = instant_of(value)
    else:
        raise TypeError
    return instant, "", f"[{instant}, [{instant}, {instant + 1}, false]]"


def _storable(text: Any) -> bool:
    """Whether it is a text that can be kept; the rest is for `prepare` to refuse."""
    if type(text) is not str:
        return False
    if text.isascii() and len(text) <= _SHORT and "\0" not in text:
        return True
    try:
        check_text(text)
    except RejectedError:
        return False
    return True


_tuple = tuple.__new__  # without the call of the named tuple's own, which costs more than the tuple
