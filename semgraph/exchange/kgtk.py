"""KGTK edge files: one edge a line in columns parted by tabs, with labels, aliases and edges about edges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected
from semgraph.exchange.lines import reading, shown_name
from semgraph.exchange.statements import Entry
from semgraph.exchange.wikidata import bound_of
from semgraph.model import Literal
from semgraph.temporal import parse_through

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.exchange.lines import Place
    from semgraph.temporal import Bound

    Row = dict[str, str]

__all__ = ["read_kgtk"]

#: What the columns of an edge may be called.
_COLUMNS: Final = {"from": "node1", "predicate": "label", "relation": "label", "to": "node2"}
_NEEDED: Final = ("node1", "label", "node2")
_NAMES: Final = frozenset(["label", "alias"])
_START, _END, _POINT = ("P580", "valid_from"), ("P582", "valid_to"), ("P585",)
_TEXT: Final = re.compile(r"'(.*)'@([\w-]+)", re.DOTALL)
_STRING: Final = re.compile(r'"(.*)"', re.DOTALL)
_MOMENT: Final = re.compile(r"\^(-?[0-9]{4,}(?:-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)?)(?:/([0-9]{1,2}))?")
_NUMBER: Final = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)(?:\[[^\]]*\])?(Q[0-9]+|[A-Za-z]*)")
_PLACE: Final = re.compile(r"@(-?[0-9.]+)/(-?[0-9.]+)")
_LINE: Final = 4 << 20


def read_kgtk(place: Place, source: str) -> list[Entry]:
    """What the edges say, by the node that each starts from.

    An edge whose `node1` is the id of another one is a detail of that one: `P580` and `P582` bound it, `P585` is when
    it held, anything else a qualifier. `label` and `alias` name a node, the English label first.

    Raises:
        ImportRejected: bad_row for a file without the columns `node1`, `label` and `node2`, or a line of another
            length; bad_encoding, oversize, bad_gzip or unreadable.
    """
    shown = shown_name(place)
    rows = list(_rows(place, shown))
    edges = {row["id"]: row for _, row in rows if row.get("id")}
    details: dict[str, list[Row]] = {}
    for _, row in rows:
        if row["node1"] in edges:
            details.setdefault(row["node1"], []).append(row)
    entries: dict[str, Entry] = {}
    for line, row in rows:
        if row["node1"] in edges:
            continue
        entry = entries.setdefault(row["node1"], Entry(row["node1"]))
        try:
            _take(entry, row, details.get(row.get("id", ""), []), source, f"{shown}#{row.get('id') or f'line {line}'}")
        except ValueError as error:
            raise ImportRejected("bad_row", f"{shown}, line {line}: {error}") from None
    return list(entries.values())


def _rows(place: Place, shown: str) -> Iterator[tuple[int, Row]]:
    with reading(place) as lines:
        lines.longest = _LINE
        head: list[str] = []
        for number, raw in lines:
            try:
                cells = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n").split("\t")
            except UnicodeDecodeError as error:
                raise ImportRejected("bad_encoding", f"{shown}, line {number} is no UTF-8 ({error.reason})") from None
            if not head:
                head = [_COLUMNS.get(cell.strip(), cell.strip()) for cell in cells]
                missing = [name for name in _NEEDED if name not in head]
                if missing:
                    raise ImportRejected("bad_row", f"{shown}, line 1: a KGTK file has a column {missing[0]}")
            elif len(cells) != len(head):
                raise ImportRejected("bad_row", f"{shown}, line {number} has {len(cells)} columns, not {len(head)}")
            elif any(cells):
                row = dict(zip(head, cells, strict=True))
                if not all(row[name] for name in _NEEDED):
                    raise ImportRejected("bad_row", f"{shown}, line {number}: an edge lacks node1, label or node2")
                yield number, row
        if not head:
            raise ImportRejected("empty", f"{shown} is empty; a KGTK file has at least its columns")


def _take(entry: Entry, row: Row, details: list[Row], source: str, ref: str) -> None:
    things = [_thing(value) for value in _parts(row["node2"])]
    if row["label"] in _NAMES:
        for value, thing in zip(_parts(row["node2"]), things, strict=True):
            name = str(thing).strip()
            english = value.endswith("'@en")
            if row["label"] == "label" and (entry.label is None or english):
                entry.aliases += [] if entry.label is None else [entry.label]
                entry.label = name
            else:
                entry.aliases.append(name)
        return
    told: dict[str, Any] = {"subject": entry.id, "predicate": row["label"], "source": source, "source_ref": ref}
    told |= _detailed(row, details)
    entry.claims += [told | {"object": thing} for thing in things]


def _detailed(row: Row, details: list[Row]) -> dict[str, Any]:
    """The interval and the qualifiers of an edge: its further columns, and the edges about it."""
    found: dict[str, list[str]] = {}
    for name, value in row.items():
        if name not in {"id", *_NEEDED} and value:
            found.setdefault(name.removeprefix("node1;").removeprefix("label;"), []).append(value)
    for detail in details:
        found.setdefault(detail["label"], []).append(detail["node2"])
    told: dict[str, Any] = {}
    start, end, point = (_first(found, names) for names in (_START, _END, _POINT))
    if point is not None and start is None and end is None:
        start, end = point, parse_through(point)
    if start is not None and end is not None and start.instant >= end.instant:
        end = parse_through(end)
    told |= {name: bound for name, bound in (("valid_from", start), ("valid_to", end)) if bound is not None}
    left = {name: "; ".join(str(_thing(v)) for v in values) for name, values in found.items() if values}
    return told | ({"qualifiers": left} if left else {})


def _first(found: dict[str, list[str]], names: tuple[str, ...]) -> Bound | None:
    """The time under one of the names, which is taken out."""
    for name in names:
        for value in found.pop(name, []):
            match = _MOMENT.fullmatch(value)
            if match is None:
                raise ValueError(f"{value[:80]!r} of {name} is no time; KGTK writes ^2013-01-01T00:00:00Z/11")
            return _bound(match[1], match[2])
    return None


def _bound(text: str, precision: str | None) -> Bound:
    day = text if "T" in text else f"{text}-01-01T00:00:00Z"
    signed = day if day.startswith("-") else f"+{day}"
    fallback = 11 if "T" in text else 9
    return bound_of({"time": signed, "precision": int(precision) if precision else fallback})


def _parts(value: str) -> list[str]:
    """The values of a list; a bar within one is escaped."""
    return re.split(r"(?<!\\)\|", value)


def _thing(value: str) -> Literal | str:
    """A value as KGTK writes it: a text, a string, a time, a number, a place, a truth value, or a node."""
    for pattern in (_TEXT, _STRING):
        if (match := pattern.fullmatch(value)) is not None:
            text = re.sub(r"\\(.)", r"\1", match[1])
            return Literal(text, text)
    if (match := _MOMENT.fullmatch(value)) is not None:
        text = str(_bound(match[1], match[2]))
        return Literal(text, text)
    if (match := _NUMBER.fullmatch(value)) is not None:
        number = float(match[1][:400])
        return Literal(int(number) if number == int(number) else number, match[1], match[2] or None)
    if (match := _PLACE.fullmatch(value)) is not None:
        return Literal(f"{match[1]}, {match[2]}", f"{match[1]}, {match[2]}")
    if value in {"True", "False"}:
        return Literal(value == "True", value.lower())
    return value
