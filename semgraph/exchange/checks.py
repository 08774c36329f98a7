"""What a row of a file must be before it is stored: as strict as the writes that make such rows."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from semgraph import names
from semgraph.errors import InputError, SemgraphError
from semgraph.exchange.rows import EXPORTED, key_of
from semgraph.gate import check_confidence, check_source, check_text
from semgraph.statement import MAX_SKEW, value_of
from semgraph.store.schema import (
    TABLES,
    AliasRow,
    ApartRow,
    ClaimRow,
    CompatRow,
    DeclaredRow,
    DefinitionRow,
    EntityRow,
    JustificationRow,
    RedirectRow,
    RejectedRow,
    RetractionRow,
    TombstoneRow,
    VetoRow,
)
from semgraph.temporal import MAX_INSTANT, MIN_INSTANT, POS_INF, Bound
from semgraph.vocabulary import Predicate, Registry, predicate_key

if TYPE_CHECKING:
    from semgraph.store.schema import Row

__all__ = ["Checker"]

_SELF: Final = "user"
_CLAIM_ID: Final = re.compile(r"[0-9a-f]{24}")
_KINDS: Final = {"state", "change", "also", "end", "deny", "correct"}
_TYPES: Final = {"text", "number", "boolean", "date", "url"}
_ORDER: Final = {table: place for place, table in enumerate(EXPORTED)}


class Checker:
    """Rows in the order of the file; ValueError in words for one that no export of semgraph holds."""

    def __init__(self, last_recorded: int | None) -> None:
        self.last_recorded = last_recorded
        self.entities: set[int] = set()
        self.claims: set[str] = set()
        self._last: tuple[int, tuple[Any, ...]] = (-1, ())
        self._redirects: dict[int, list[RedirectRow]] = defaultdict(list)
        self._definitions: list[tuple[int, Predicate]] = []

    def take(self, row: Row) -> None:
        """Check one row against itself and those before it."""
        place = (_ORDER[type(row)], key_of(row))
        if place <= self._last:
            raise ValueError("the rows are not in the order of an export")
        self._last = place
        recorded = getattr(row, "recorded_at", None)
        if recorded is not None and not MIN_INSTANT <= recorded <= self._clock():
            raise ValueError("it was recorded after the clock of the export")
        for value in row:
            if isinstance(value, str):
                names.check_characters(value, "value")
        check = getattr(self, f"_{TABLES[type(row)].name}")
        check(row)

    def finish(self) -> None:
        """Check what takes all rows together."""
        for rows in self._redirects.values():
            for row in rows:
                self._follow(row)
        Registry(self._definitions)

    def _clock(self) -> int:
        return MIN_INSTANT if self.last_recorded is None else min(self.last_recorded, MAX_INSTANT)

    def _ended(self, start: int, end: int) -> None:
        if not (start <= end <= self._clock() or end == POS_INF):
            raise ValueError("it ends before it begins, or after the clock of the export")

    def _known(self, *numbers: int) -> None:
        if any(number not in self.entities for number in numbers):
            raise ValueError("it names an entity that the file does not hold")

    def _referred(self, ref: str) -> None:
        if ref.startswith("e"):
            if not re.fullmatch(r"e\d{1,19}", ref):
                raise ValueError("its object is no reference")
            self._known(int(ref[1:]))
        elif not ref.startswith(("l:", "x:")):
            raise ValueError("its object is no reference")

    # -- by table

    def _entity(self, row: EntityRow) -> None:
        if row.id < 0 or row.key not in {names.entity_key(row.label), _SELF}:
            raise ValueError("its key is not that of its name")
        self.entities.add(row.id)

    def _alias(self, row: AliasRow) -> None:
        self._known(row.entity)
        self._ended(row.recorded_at, row.retracted_at)
        if row.key not in {names.entity_key(row.name), _SELF} or row.kind not in {"primary", "alias", "self"}:
            raise ValueError("its key is not that of its name, or its kind is unknown")
        if row.valid_from >= row.valid_to:
            raise ValueError("it ends before it begins")
        check_source(row.source)

    def _claim(self, row: ClaimRow) -> None:
        self._known(row.subject)
        names.entity_key(row.subject_text)
        for text in (row.object_text, row.text, row.source_ref):
            check_text(text or "")
        flags = (row.negative, row.opposed, row.told)
        if not _CLAIM_ID.fullmatch(row.id) or row.kind not in _KINDS or any(flag not in {0, 1} for flag in flags):
            raise ValueError("it is no claim")
        if predicate_key(row.predicate) != row.predicate:
            raise ValueError("its predicate is not written as a key")
        self._object(row)
        _interval(row)
        if not MIN_INSTANT <= row.said_at <= row.recorded_at + (MAX_SKEW if row.told else 0):
            raise ValueError("it was said after it was recorded")
        check_source(row.source)
        check_confidence(row.confidence)
        if row.qualifiers and not _scalars(row.qualifiers):
            raise ValueError("its qualifiers are no plain mapping")
        self.claims.add(row.id)

    def _object(self, row: ClaimRow) -> None:
        if not row.object:
            if row.object_type or row.object_text or row.kind != "end":
                raise ValueError("it has no object")
            return
        self._referred(row.object)
        kind, _, unit = row.object_type.partition(":")
        if row.object.startswith("e"):
            names.entity_key(row.object_text)
            if kind != "entity":
                raise ValueError("its object is of another type")
            return
        if kind not in _TYPES:
            raise ValueError("its object is of an unknown type")
        value_of(row)
        compared = f"{row.object_text} {unit}" if unit else row.object_text
        if row.object.startswith("l:") and row.object[2:] != names.literal_key(compared):
            raise ValueError("its object is not written as its key")

    def _justification(self, row: JustificationRow) -> None:
        self._said(row.claim)

    def _retraction(self, row: RetractionRow) -> None:
        self._said(row.claim)
        self._ended(row.recorded_at, row.ended_at)

    def _said(self, claim: str) -> None:
        if claim not in self.claims:
            raise ValueError("it speaks of a claim that the file does not hold")

    def _redirect(self, row: RedirectRow) -> None:
        self._known(row.src, row.dst)
        self._ended(row.recorded_at, row.ended_at)
        self._redirects[row.src].append(row)

    def _follow(self, row: RedirectRow) -> None:
        """A circle of merges would never end; it is closed by the merge in it that began last."""
        node: int | None = row.dst
        seen = {row.src}
        while node is not None:
            if node in seen:
                raise ValueError("its merges lead in a circle")
            seen.add(node)
            active = [r.dst for r in self._redirects.get(node, ()) if r.recorded_at <= row.recorded_at < r.ended_at]
            if len(active) > 1:
                raise ValueError("an entity is merged into two at once")
            node = active[0] if active else None

    def _apart(self, row: ApartRow) -> None:
        self._known(row.a, row.b)
        if row.a >= row.b:
            raise ValueError("it is no pair")

    def _compat(self, row: CompatRow) -> None:
        self._known(row.subject)
        self._referred(row.a)
        self._referred(row.b)
        if row.a >= row.b or predicate_key(row.predicate) != row.predicate:
            raise ValueError("it is no pair")

    def _declared(self, row: DeclaredRow) -> None:
        self._known(row.entity)

    def _definition(self, row: DefinitionRow) -> None:
        entry = Predicate.from_dict(_mapping(row.spec))
        if entry.name != row.predicate:
            raise ValueError("it defines another predicate")
        self._definitions.append((row.recorded_at, entry))

    def _veto(self, row: VetoRow) -> None:
        if row.kind not in {"phrase", "entity", "predicate"} or not row.value:
            raise ValueError("it is no veto")

    def _rejected(self, row: RejectedRow) -> None:
        if row.content is not None:
            _mapping(row.content)

    def _tombstone(self, row: TombstoneRow) -> None:
        _mapping(row.counts)


def _interval(row: ClaimRow) -> None:
    bounds = []
    for instant, text in ((row.valid_from, row.valid_from_text), (row.valid_to, row.valid_to_text)):
        if instant is None:
            if text:
                raise ValueError("a bound has words and no instant")
            continue
        bound = Bound.from_stored(instant, text)
        if bound.instant != instant:
            raise ValueError("a bound is not at its instant")
        bounds.append(bound)
    known = [bound for bound in bounds if bound.precision != "unknown"]
    if len(known) > 1 and known[0].instant >= known[1].instant:
        raise ValueError("it ends before it begins")


def _mapping(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise InputError("it is no mapping")
    return found


def _scalars(text: str) -> bool:
    found = _mapping(text)
    plain = all(isinstance(value, (str, int, float, bool)) for value in found.values())
    return plain and bool(found) and json.dumps(found, ensure_ascii=False, sort_keys=True) == text


#: What a check may raise; whoever asks turns it into an ImportRejected with the line.
WRONG: Final = (ValueError, TypeError, KeyError, OverflowError, SemgraphError)
