"""Entities of Wikidata in its JSON: statements as claims, with their ranks, dates at their precision and references.

A statement is an edge under the id of its property. `start time` and `end time` bound it, `point in time` is a unit of
time in which it holds; a start or an end that somebody knows and nobody says is `unknown`, and a statement without a
value is none. Deprecated values are denied, unless another statement has them too. Years before 1 are those of the
Julian count, in which 1 BC is -1; days of the Julian calendar are told in the Gregorian one.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from semgraph.errors import InputError
from semgraph.exchange.foreign import ALWAYS_SO, Period
from semgraph.exchange.statements import Entry
from semgraph.instants import date_of, format_date, format_year
from semgraph.model import Literal
from semgraph.temporal import UNKNOWN, Bound, parse_bound, parse_through

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Claim = dict[str, Any]

__all__ = ["bound_of", "entities_of", "is_entity", "read_entity"]

_START, _END, _POINT = "P580", "P582", "P585"
_DATES: Final = frozenset([_START, _END, _POINT])
_STATED_IN, _URL = "P248", "P854"
_JULIAN: Final = "Q1985786"
_TIME: Final = re.compile(r"([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T[0-9:]{8}Z")
_LANGUAGES: Final = ("en", "mul", "en-gb", "en-us", "de", "fr", "es")
_DAY, _MONTH, _YEAR, _DECADE = 11, 10, 9, 8


def is_entity(found: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value looks like an item or a property."""
    return isinstance(found, dict) and isinstance(found.get("id"), str) and ("claims" in found or "labels" in found)


def entities_of(document: object) -> Iterator[Mapping[str, Any]]:
    """The entities of a parsed document: one, a list, or those of an answer of the API.

    Raises:
        InputError: it holds something else.
    """
    if isinstance(document, dict) and isinstance(document.get("entities"), dict):
        document = list(document["entities"].values())
    for found in document if isinstance(document, list) else [document]:
        if not is_entity(found):
            raise InputError("this is no entity of Wikidata: it needs an id, and labels or claims")
        yield found


def read_entity(found: Mapping[str, Any], source: str) -> Entry:
    """One entity and what it says; InputError in words for JSON that Wikidata does not write."""
    labels = _mapping(found.get("labels"), "labels")
    entity = Entry(found["id"], _text(labels))
    for names in _mapping(found.get("aliases"), "aliases").values():
        entity.aliases += [name["value"] for name in names if isinstance(name, dict) and _is_text(name.get("value"))]
    entity.aliases += [text for label in labels.values() if (text := _value_of(label)) and text != entity.label]
    entity.aliases = list(dict.fromkeys(entity.aliases))
    if (description := _text(_mapping(found.get("descriptions"), "descriptions"))) is not None:
        entity.claims.append(_told(entity.id, "description", Literal(description, description), source))
    for prop, statements in _mapping(found.get("claims"), "claims").items():
        if not isinstance(statements, list):
            raise InputError(f"the statements of {prop} are no list")
        for statement in statements:
            _take(entity, prop, statement, source)
    kept = {(claim["predicate"], _key(claim["object"])) for claim in entity.claims}
    entity.skipped += sum((claim["predicate"], _key(claim["object"])) in kept for claim in entity.denied)
    entity.denied = [c for c in entity.denied if (c["predicate"], _key(c["object"])) not in kept]
    return entity


def _take(entity: Entry, prop: str, statement: object, source: str) -> None:
    if not isinstance(statement, dict) or not isinstance(statement.get("mainsnak"), dict):
        raise InputError(f"a statement of {prop} has no mainsnak")
    thing = _thing(statement["mainsnak"])
    if thing is None:
        entity.skipped += 1
        return
    claim = _told(entity.id, prop, thing, source)
    qualifiers = _mapping(statement.get("qualifiers"), "qualifiers")
    period, details = _period(qualifiers), _details(qualifiers)
    for name, bound in (("valid_from", period.start), ("valid_to", period.end)):
        if bound is not None:
            claim[name] = bound
    reference, more = _reference(statement.get("references"))
    number = statement.get("id")
    details |= more | ({"statement": number} if isinstance(number, str) else {})
    claim["source_ref"] = reference or number or f"wikidata:{entity.id}"
    if statement.get("rank", "normal") == "deprecated":
        entity.denied.append(claim)
        return
    if statement.get("rank") == "preferred":
        details["rank"] = "preferred"
    if details:
        claim["qualifiers"] = details
    entity.claims.append(claim)


def _told(subject: str, predicate: str, thing: object, source: str) -> Claim:
    return {"subject": subject, "predicate": predicate, "object": thing, "source": source}


def _key(thing: object) -> object:
    return (thing.label, thing.unit) if isinstance(thing, Literal) else thing


# -- values


def _thing(snak: Mapping[str, Any]) -> Literal | str | None:
    """The value of a snak: an entity by its id, or a literal; None where it has none."""
    if snak.get("snaktype") != "value":
        return None
    found = _mapping(snak.get("datavalue"), "datavalue")
    kind, value = found.get("type"), found.get("value")
    if kind == "string" and isinstance(value, str) and value.strip():
        return Literal(value, value)
    if not isinstance(value, dict):
        raise InputError(f"a {kind} has the value {str(value)[:80]!r}")
    if kind == "wikibase-entityid":
        return _entity_id(value)
    if kind == "quantity":
        return _quantity(value)
    if kind == "time":
        return _date(value)
    if kind == "monolingualtext" and _is_text(value.get("text")):
        return Literal(value["text"], value["text"])
    if kind == "globecoordinate":
        place = f"{value.get('latitude')}, {value.get('longitude')}"
        return Literal(place, place)
    raise InputError(f"{str(kind)[:80]!r} is no type of value that is known")


def _entity_id(value: Mapping[str, Any]) -> str:
    number = value.get("numeric-id")
    if isinstance(value.get("id"), str):
        return str(value["id"])
    letter = {"item": "Q", "property": "P"}.get(str(value.get("entity-type")))
    if letter is None or not isinstance(number, int):
        raise InputError(f"{str(dict(value))[:80]!r} refers to no entity")
    return f"{letter}{number}"


def _quantity(value: Mapping[str, Any]) -> Literal:
    amount = str(value.get("amount")).removeprefix("+")
    unit = str(value.get("unit", "1")).rpartition("/")[2]
    number = float(amount[:400])
    whole = int(number) if number == int(number) else number
    return Literal(whole, amount, None if unit == "1" else unit)


def _date(value: Mapping[str, Any]) -> Literal:
    bound = bound_of(value)
    text = str(bound)
    try:
        return Literal(date.fromisoformat(text), text)
    except ValueError:  # no day, or no year of a calendar of four digits
        return Literal(text, text)


def bound_of(value: Mapping[str, Any]) -> Bound:
    """The bound that a time of Wikidata means, at the coarsest unit that holds its precision.

    Raises:
        InputError: it is no time.
    """
    match = _TIME.fullmatch(str(value.get("time")))
    precision = value.get("precision")
    if match is None or not isinstance(precision, int):
        raise InputError(f"{str(value.get('time'))[:80]!r} is no time of Wikidata")
    sign, year, month, day = match[1], int(match[2]), int(match[3]), int(match[4])
    if sign == "-":
        year = 1 - year
    if precision >= _DAY and month and day:
        if str(value.get("calendarmodel", "")).endswith(_JULIAN):
            year, month, day = _gregorian(year, month, day)
        text = format_date(year, month, day)
    elif precision >= _MONTH and month:
        text = f"{format_year(year)}-{month:02d}"
    elif precision == _DECADE and year >= 0:
        text = f"{format_year(year)[:-1]}X"
    else:  # a century or more is known by a year of it
        text = format_year(year) + ("~" if precision < _YEAR else "")
    bound = parse_bound(text)
    if bound is None:
        raise AssertionError("a date is no open end")
    return bound


def _gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """The Gregorian date of a day of the Julian calendar, by the count of days since 1 March of the year 0."""
    shifted = (month + 9) % 12
    years = year - (month <= 2)
    days = 365 * years + years // 4 + (153 * shifted + 2) // 5 + day - 1
    return date_of(days - _JULIAN_EPOCH)


#: Days from 0000-03-01 of the Julian calendar to 1970-01-01 of the Gregorian one.
_JULIAN_EPOCH: Final = 719_470


# -- qualifiers and references


def _period(qualifiers: Mapping[str, Any]) -> Period:
    point = next(_times(qualifiers.get(_POINT)), None)
    start, end = next(_times(qualifiers.get(_START)), None), next(_times(qualifiers.get(_END)), None)
    if start is None and end is None:
        return ALWAYS_SO if point is None or point == UNKNOWN else Period(point, parse_through(point))
    known = start is not None and end is not None and UNKNOWN not in (start, end)
    if known and start.instant >= end.instant:  # type: ignore[union-attr]  # both are known
        end = parse_through(end)  # type: ignore[arg-type]  # it ends within the unit in which it starts
    return Period(start, end)


def _times(snaks: object) -> Iterator[Bound]:
    for snak in _objects(snaks, "a list of dates"):
        if snak.get("snaktype") == "somevalue":
            yield UNKNOWN
        elif snak.get("snaktype") == "value":
            yield bound_of(_mapping(_mapping(snak.get("datavalue"), "datavalue").get("value"), "value"))


def _details(qualifiers: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for prop, snaks in qualifiers.items():
        things = [_thing(snak) for snak in _objects(snaks, f"the qualifiers {prop}")] if prop not in _DATES else []
        shown = [str(thing) for thing in things if thing is not None]
        if shown:
            found[prop] = "; ".join(shown)
    return found


def _reference(references: object) -> tuple[str | None, dict[str, Any]]:
    """Where the first reference says that it stands, and where else."""
    places: list[str] = []
    for reference in _objects(references, "references"):
        snaks = _mapping(reference.get("snaks"), "snaks")
        for prop in (_URL, _STATED_IN):
            things = [_thing(snak) for snak in _objects(snaks.get(prop), f"a reference's {prop}")]
            places += [str(thing) for thing in things if thing is not None]
    places = list(dict.fromkeys(places))
    return (places[0] if places else None), ({"references": "; ".join(places)} if len(places) > 1 else {})


# -- shapes


def _mapping(found: object, what: str) -> dict[str, Any]:
    """A mapping; an empty list is one too, since PHP does not tell the two apart."""
    if found is None or found == []:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"{what} is no object")
    return found


def _objects(found: object, what: str) -> list[dict[str, Any]]:
    """A list of objects, which may be left out."""
    if found is None or found == {}:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InputError(f"{what} is no list of objects")
    return found


def _text(texts: Mapping[str, Any]) -> str | None:
    """The text in the first language of a list that has one, else in any."""
    for language in (*_LANGUAGES, *sorted(texts)):
        if (text := _value_of(texts.get(language))) is not None:
            return text
    return None


def _value_of(label: object) -> str | None:
    value = label.get("value") if isinstance(label, dict) else None
    return value if _is_text(value) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
