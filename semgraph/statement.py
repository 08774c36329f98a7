"""From what a caller says to a claim row: every structural check, then the row and its id."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from semgraph import names
from semgraph.errors import InputError, RejectedError
from semgraph.factrow import bound_text
from semgraph.gate import SEED_CONFIDENCE, check_confidence, check_source, check_text, source_class
from semgraph.model import Entity, Literal
from semgraph.store.schema import ClaimRow
from semgraph.temporal import Bound, parse_bound, parse_through

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semgraph.directory import Directory
    from semgraph.session import When
    from semgraph.vocabulary import Predicate, Registry

__all__ = ["Said", "prepare", "quoted", "row_of", "thing_of", "value_of", "window"]

MAX_SKEW = 5 * 60 * 1_000_000
_KINDS = ("state", "change", "also", "end", "deny", "correct")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?")
_MAX_WORDS = 8
_TRUTH = ("false", "true")
quoted = json.encoder.encode_basestring_ascii
_MAX_BITS = 996  # 300 digits, as many as a number given as text may have


@dataclass(slots=True)  # not frozen: these two are made for every claim, and that takes four times as long
class Thing:
    """An object as it will be stored: an entity by name, a literal by key, or nothing."""

    entity: str | Entity | None = None
    ref: str = ""
    text: str = ""
    type: str = ""


@dataclass(slots=True)
class Said:
    """A claim that passed every check that needs no store."""

    subject: str | Entity
    predicate: Predicate
    thing: Thing
    negative: bool
    opposed: bool
    kind: str
    valid_from: Bound | None
    valid_to: Bound | None
    said_at: Bound | None
    source: str
    source_ref: str | None
    confidence: float | None
    qualifiers: str
    text: str | None


def prepare(
    registry: Registry,
    *,
    subject: str | Entity,
    predicate: str,
    object: object = None,
    valid_from: When | None = None,
    valid_to: When | None = None,
    valid_through: When | None = None,
    kind: str = "state",
    negative: bool = False,
    source: str = "user",
    source_ref: str | None = None,
    said_at: When | None = None,
    confidence: float | None = None,
    qualifiers: Mapping[str, Any] | None = None,
    text: str | None = None,
    timezone: str | None = None,
) -> Said:
    """The claim that the words make, or RejectedError with the first structural code that applies."""
    if kind not in _KINDS:
        raise InputError(f"kind is state, change or also, not {kind!r}")
    if not isinstance(negative, bool):
        raise InputError(f"negative is True or False, not {negative!r}")
    source = check_source(source)
    _check_readable(subject, predicate, object, source_ref, text)
    trust = check_confidence(confidence)
    start, end = _interval(valid_from, valid_to, valid_through, timezone)
    said = None if said_at is None else _said(said_at, timezone)
    if not isinstance(subject, Entity):
        names.entity_key(_string(subject, "subject"))
    resolved = registry.resolve(predicate)
    thing = thing_of(object, text, resolved.predicate)
    negative = negative or kind == "end"
    if negative and kind == "change":
        kind = "end"
    if resolved.inverse:
        subject, thing = _swapped(subject, thing, predicate)
    if not thing.ref and thing.entity is None and kind != "end":
        raise RejectedError("object_required", f"{predicate!r} needs an object; only end() may leave it out")
    if resolved.flipped and kind not in ("deny", "correct"):
        negative = not negative
    made = Said(
        subject,
        resolved.predicate,
        thing,
        negative and kind not in ("deny", "correct"),
        resolved.flipped,
        kind,
        start,
        end,
        said,
        source,
        source_ref,
        trust,
        _qualifiers(qualifiers),
        text,
    )
    _refuse_loop(made)
    return made


def _check_readable(subject: object, predicate: object, object: object, source_ref: object, text: object) -> None:
    """What can't be read or is too long is refused before anything is read of it."""
    if not isinstance(subject, Entity):
        names.check_characters(_string(subject, "subject"), "subject")
        names.check_size(_string(subject, "subject"), "subject")
    for what, given in (("predicate", predicate), ("object", object)):
        if isinstance(given, str):
            names.check_characters(given, what)
    for what, given in (("source_ref", source_ref), ("text", text)):
        if given is not None:
            check_text(_string(given, what))


def row_of(
    said: Said, directory: Directory, scope_name: str, recorded_at: int, *, known: str | None = None
) -> ClaimRow:
    """The row of a claim, its names resolved; new names become entities. `known` is its id, if computed before."""
    said_at = recorded_at if said.said_at is None else said.said_at.instant
    if said_at > recorded_at + MAX_SKEW:
        raise RejectedError(
            "clock_skew", f"said_at ({said.said_at}) lies more than five minutes after now: it would win every contest"
        )
    _check_soft_end(said, said_at)
    at = said_at if said.valid_from is None else said.valid_from.instant
    known = known or identity(said, directory, scope_name, recorded_at)
    subject = directory.resolve(said.subject, at, recorded_at, said.source)
    thing = said.thing
    ref, text, kind = thing.ref, thing.text, thing.type
    if thing.entity is not None:
        number = directory.resolve(thing.entity, at, recorded_at, said.source)
        ref, text, kind = f"e{number}", _written(thing.entity), "entity"
        # What takes away is heard of a loop that a merge made.
        if said.predicate.irreflexive and number == subject and said.kind in ("state", "change", "also"):
            raise _loop(said)
    confidence = SEED_CONFIDENCE[source_class(said.source)] if said.confidence is None else said.confidence
    if source_class(said.source) == "inferred":
        confidence = min(confidence, 0.6)
    return ClaimRow(
        directory.ledger.scope,
        known,
        subject,
        _written(said.subject),
        said.predicate.name,
        ref,
        text,
        kind,
        int(said.negative),
        said.kind,
        int(said.opposed),
        None if said.valid_from is None else said.valid_from.instant,
        "" if said.valid_from is None else bound_text(said.valid_from),
        None if said.valid_to is None else said.valid_to.instant,
        "" if said.valid_to is None else bound_text(said.valid_to),
        said_at,
        int(said.said_at is not None),
        recorded_at,
        said.source,
        said.source_ref,
        confidence,
        said.qualifiers,
        said.text,
    )


def identity(said: Said, directory: Directory, scope_name: str, recorded_at: int) -> str:
    """The id of a claim: a function of what was said, by whom and when, and of nothing else."""
    thing = said.thing
    # A JSON list, put together by hand: this is done for every claim that is ever told.
    parts = (
        quoted(scope_name),
        quoted(_as_written(said.subject, directory)),
        quoted(_as_written(thing.entity, directory) if thing.entity is not None else thing.ref),
        quoted(said.predicate.name),
        _TRUTH[said.negative],
        quoted(said.kind),
        _TRUTH[said.opposed and said.kind in ("end", "deny", "correct")],
        window(said.valid_from),
        window(said.valid_to),
        quoted(said.source),
        "null" if said.source_ref is None else quoted(said.source_ref),
        quoted(said.qualifiers),
        "null" if said.said_at is None else str(said.said_at.instant),
        str(recorded_at) if said.said_at is None and said.source_ref is None else "null",
    )
    return hashlib.blake2b(f"[{', '.join(parts)}]".encode(), digest_size=12).hexdigest()


def value_of(row: ClaimRow) -> Literal:
    """The literal that a claim was written with."""
    kind, _, unit = row.object_type.partition(":")
    value: Any = row.object_text
    if kind == "number":
        value = _number(row.object_text)
    elif kind == "boolean":
        value = row.object_text == "true"
    elif kind == "date":
        value = date.fromisoformat(row.object_text)
    return Literal(value, f"{row.object_text} {unit}".strip(), unit or None)


def object_ref(value: object, entry: Predicate) -> str | Entity | None:
    """How a given object would be referred to: a literal's reference (`l:…`), a name or Entity, or None."""
    thing = thing_of(value, None, entry)
    return thing.entity if thing.entity is not None else (thing.ref or None)


def _interval(
    valid_from: When | None, valid_to: When | None, valid_through: When | None, timezone: str | None
) -> tuple[Bound | None, Bound | None]:
    if valid_to is not None and valid_through is not None:
        raise InputError("give valid_to (the first moment after) or valid_through (the last unit), not both")
    start = None if valid_from is None else parse_bound(valid_from, timezone=timezone)
    if valid_from is not None and start is None:
        raise RejectedError(
            "bad_time", "'..' is an open end and no start: give a date, always or unknown, or leave it out"
        )
    if valid_through is not None:
        end = parse_through(valid_through, timezone=timezone)
    else:
        end = None if valid_to is None else parse_bound(valid_to, timezone=timezone)
    if end is not None and end.precision == "always":
        raise RejectedError("empty_interval", "an end of -inf leaves no time: leave valid_to out for an open end")
    known = start is not None and end is not None and "unknown" not in (start.precision, end.precision)
    if known and start >= end:  # type: ignore[operator]  # both are bounds here
        hint = "swap them" if start > end else "give the end at which it had stopped"  # type: ignore[operator]
        raise RejectedError("empty_interval", f"the end ({end}) is not after the start ({start}): {hint}")
    return start, end


def _said(said_at: When, timezone: str | None) -> Bound:
    said = parse_bound(said_at, timezone=timezone)
    if said is None or said.precision in ("always", "unknown"):
        raise RejectedError("bad_time", f"said_at must be a moment, not {said_at!r}")
    return said


def _check_soft_end(said: Said, said_at: int) -> None:
    start, end = said.valid_from, said.valid_to
    soft = end is not None and end.precision == "unknown"
    if soft and start is not None and start.precision != "unknown" and start.instant >= said_at:
        raise RejectedError("empty_interval", f"it can't have ended already if it starts at {start}, after it was said")


def thing_of(value: object, text: str | None, entry: Predicate) -> Thing:
    """The object of a claim as it will be stored; RejectedError or InputError for what can be none."""
    if value is None:
        return Thing() if text is None else _literal(text, text, "text", entry)
    if isinstance(value, Entity):
        return Thing(entity=value)
    if isinstance(value, Literal):
        return _typed(value.value, entry, value.unit)
    if entry.range == "entity":
        name = str(value) if isinstance(value, (int, float, Decimal)) else _string(value, "object")
        names.entity_key(name)
        return Thing(entity=name)
    if not isinstance(value, str):
        return _typed(value, entry, None)
    kind = _kind_of(value) if entry.range == "any" else "text"
    if kind:
        return _literal(value.strip() if kind != "text" else value, value, kind, entry)
    names.entity_key(value)
    return Thing(entity=value)


def _kind_of(text: str) -> str:
    """Which literal a bare text is where a predicate takes both; nothing if it is a name."""
    bare = text.strip()
    if bare.casefold() in ("true", "false"):
        return "boolean"
    if _NUMBER.fullmatch(bare):
        return "number"
    if _URL.fullmatch(bare):
        return "url"
    return "text" if len(bare.split()) > _MAX_WORDS else ""


def _typed(value: object, entry: Predicate, unit: str | None) -> Thing:
    if isinstance(value, bool):
        return _literal("true" if value else "false", value, "boolean", entry)
    if isinstance(value, (int, float, Decimal)):
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise InputError("a whole number of more than 300 digits is no measure of anything; use text")
        if not isfinite(value):
            raise InputError(f"{value!r} is no number that can be compared; leave the claim out or use text")
        shown = str(int(value)) if value == int(value) else str(value)
        return _literal(f"{shown} {unit or ''}".strip(), shown, f"number:{unit}" if unit else "number", entry)
    if isinstance(value, datetime):
        return _literal(str(parse_bound(value)), str(parse_bound(value)), "text", entry)
    if isinstance(value, date):
        return _literal(value.isoformat(), value.isoformat(), "date", entry)
    if isinstance(value, str):
        return _literal(value, value, "text", entry)
    raise InputError(f"an object is a name, an Entity, a text, number, boolean or date, not {type(value).__name__}")


def _literal(compared: str, written: object, kind: str, entry: Predicate) -> Thing:
    shown = str(written) if not isinstance(written, bool) else compared
    if kind == "boolean":
        shown = compared = compared.casefold()
    check_text(shown)
    ref = f"x:{names.exact_key(compared)}" if entry.exact else f"l:{names.literal_key(compared)}"
    return Thing(ref=ref, text=shown, type=kind)


def _number(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _swapped(subject: str | Entity, thing: Thing, predicate: str) -> tuple[str | Entity, Thing]:
    if thing.entity is None:
        what = "an object" if not thing.ref else "an entity as its object"
        raise RejectedError("object_required", f"{predicate!r} is read from its object, so it needs {what}")
    return thing.entity, Thing(entity=subject)


def _refuse_loop(said: Said) -> None:
    if not said.predicate.irreflexive or not isinstance(said.subject, str) or not isinstance(said.thing.entity, str):
        return
    if names.entity_key(said.subject) == names.entity_key(said.thing.entity):
        raise _loop(said)


def _loop(said: Said) -> RejectedError:
    name = _written(said.subject)
    return RejectedError(
        "bad_predicate", f"nothing can be {said.predicate.name!r} of itself ({name!r}); check the names"
    )


def _qualifiers(given: Mapping[str, Any] | None) -> str:
    """Qualifiers as canonical JSON, or nothing."""
    if not given:
        return ""
    if not hasattr(given, "items"):
        raise InputError(f"qualifiers are a mapping of names to values, not {type(given).__name__}")
    for name, value in given.items():
        names.entity_key(_string(name, "the name of a qualifier"))
        if not isinstance(value, (str, int, float, bool)) or (isinstance(value, float) and not isfinite(value)):
            raise InputError(f"the qualifier {name!r} must be a text, number or boolean, not {value!r}")
        if isinstance(value, str):
            check_text(value)
    return json.dumps(dict(given), ensure_ascii=False, sort_keys=True)


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text, not {type(value).__name__}")
    return value


def _written(name: str | Entity) -> str:
    return name.label if isinstance(name, Entity) else name


def _as_written(name: str | Entity, directory: Directory) -> str:
    return f"#{name.id}" if isinstance(name, Entity) else directory.key(name)


def window(bound: Bound | None) -> str:
    """A bound as the id of a claim tells it: when it may lie, however it was spelled."""
    if bound is None:
        return "null"
    return f"[{bound.instant}, [{bound.earliest}, {bound.before}, {_TRUTH[bound.uncertain]}]]"
