"""From the claims of one fluent to its statements: bounds, then denials, cuts through an opposite, and premises.

A statement is what a claim still says once all that takes from it has been heard; the fold sweeps statements only.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from semgraph import names
from semgraph.gate import CAP, TRUST, source_class
from semgraph.segment import Statement, Value
from semgraph.temporal import ALWAYS, NEG_INF, POS_INF, UNKNOWN, Bound, exact, unit_end

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semgraph.store.schema import ClaimRow
    from semgraph.vocabulary import Predicate

__all__ = [
    "PLAIN",
    "Evidence",
    "Stating",
    "base_confidence",
    "claim_bounds",
    "masked_by",
    "rank_of",
    "separators_of",
    "statement_of",
]

PLAIN = frozenset({"state", "change", "also"})  # kinds that take nothing away


class Evidence(Protocol):
    """What was known at one moment. Entities are given after merges; `row.object` and `row.subject` are raw."""

    @property
    def justified(self) -> bool:
        """Whether any claim rests on premises."""

    def predicate(self, name: str) -> Predicate:
        """The registry entry then."""

    def on_subject(self, subject: int, predicate: str) -> list[ClaimRow]:
        """Claims then visible and not retracted whose subject and predicate these are."""

    def on_object(self, ref: str, predicate: str) -> list[ClaimRow]:
        """The same by object."""

    def claim(self, claim: str) -> ClaimRow | None:
        """One such claim."""

    def entity(self, raw: int) -> int:
        """The entity that this one was merged into, or itself."""

    def resolved(self, ref: str) -> str:
        """The reference of an object, of an entity after merges."""

    def justifications(self, claim: str) -> list[list[str]] | None:
        """The premises of each justification; None if the claim stands by itself."""

    def compatible(self, subject: int, predicate: str) -> frozenset[frozenset[str]]:
        """Pairs of values that somebody decided to keep side by side."""

    def name_key(self, ref: str) -> str:
        """The key of an entity's first name, or a literal's key."""

    def declared(self, ref: str) -> bool:
        """Whether the entity was declared as one of its own."""


class Stating:
    """What claims still say under one `Evidence`; `allowed` tells when the premises of derived claims hold."""

    def __init__(self, evidence: Evidence, allowed: dict[str, list[tuple[int, int]]]) -> None:
        self.evidence = evidence
        self.allowed = allowed

    def statements(self, rows: list[ClaimRow], value_of: Callable[[ClaimRow], str]) -> list[Statement]:
        """What the claims of one fluent still say after denials, cuts and premises."""
        ranked = [(row, rank_of(row.source, self.evidence.predicate(row.predicate))) for row in rows]
        takers = [pair for pair in ranked if pair[0].kind not in PLAIN]
        masks = [(row, rank) for row, rank in takers if _is_mask(row)]
        cuts = [(row, rank) for row, rank in takers if _is_cut(row)]
        derived = self.evidence.justified
        made: list[Statement] = []
        for row, rank in ranked:
            if row.kind not in PLAIN and (_is_mask(row) or _is_cut(row)):
                continue
            ref = value_of(row)
            entry = self.evidence.predicate(row.predicate)
            statement = statement_of(row, entry, rank, ref, self.evidence.name_key(ref) if ref else "")
            if not (takers or derived):
                made.append(statement)
                continue
            pieces = self._masked([statement], row, rank, masks)
            pieces = self._cut(pieces, row, rank, cuts)
            if derived and self.evidence.justifications(row.id) is not None:
                spans = self.allowed.get(row.id, [])
                pieces = [part for piece in pieces for a, b in spans for part in _inside(piece, a, b, "premise")]
            made += pieces
        return made

    def _masked(
        self, pieces: list[Statement], row: ClaimRow, rank: int, masks: list[tuple[ClaimRow, int]]
    ) -> list[Statement]:
        """Row 2: nothing is left if a mask covers the start; what began before a corrected segment ends with it."""
        for mask, voice in masks:
            hits = bool(mask.opposed) == bool(row.negative) and not _explicit_end(row) and self._same_object(mask, row)
            if hits and (voice > rank or (voice == rank and mask.said_at >= row.said_at)):
                start, end = _stated_interval(mask)
                pieces = [part for piece in pieces for part in _unmasked(piece, start, end)]
        return pieces

    def _same_object(self, a: ClaimRow, b: ClaimRow) -> bool:
        if self.evidence.predicate(a.predicate).symmetric:
            ends = [{self.evidence.resolved(r.object), f"e{self.evidence.entity(r.subject)}"} for r in (a, b)]
            return ends[0] == ends[1]
        same_subject = self.evidence.entity(a.subject) == self.evidence.entity(b.subject)
        return same_subject and self.evidence.resolved(a.object) == self.evidence.resolved(b.object)

    def _cut(
        self, pieces: list[Statement], row: ClaimRow, rank: int, cuts: list[tuple[ClaimRow, int]]
    ) -> list[Statement]:
        """What is left of a negative statement after the ends and bounded denials told through an opposite."""
        if not row.negative or _explicit_end(row):
            return pieces
        for cut, voice in cuts:
            hits = not cut.object or self._same_object(cut, row)
            if hits and rank <= voice and row.said_at <= cut.said_at:
                start, end = _stated_interval(cut)
                pieces = [part for piece in pieces for part in _without(piece, start, end)]
        return pieces


# -- claims


def rank_of(source: str, entry: Predicate) -> int:
    """The trust rank of a source, by the ranks of the predicate where those name its class."""
    kind = source_class(source)
    return dict(entry.trust).get(kind, TRUST[kind]) if entry.trust else TRUST[kind]


def statement_of(row: ClaimRow, entry: Predicate, rank: int, ref: str, order: str) -> Statement:
    """What a claim says by itself; `ref` is the value that it speaks of, `order` that value's key."""
    start, basis, end, end_kind = claim_bounds(row, entry)
    end_bound = _bound(row.valid_to, row.valid_to_text) if end_kind == "stated" else None
    if end_kind == "stated" and end_bound is None:
        end_bound = exact(end)
    return Statement(
        claim=row.id,
        value=Value(ref, bool(row.negative) or _bounded_denial(row)),
        start=start.instant if basis != "unknown" else NEG_INF,
        start_bound=start,
        basis=basis,
        end=end,
        end_bound=end_bound,
        end_kind=end_kind,
        said=row.said_at,
        rank=rank,
        source=row.source,
        source_ref=row.source_ref,
        source_class=source_class(row.source),
        change=row.kind in ("change", "end") or _bounded_denial(row),
        also=row.kind == "also",
        explicit_end=_explicit_end(row),
        order=order,
        recorded=row.recorded_at,
    )


def claim_bounds(row: ClaimRow, entry: Predicate) -> tuple[Bound, str, int, str]:
    """Start bound, its basis, the end and its kind, as the registry entry reads what the claim states."""
    if entry.cardinality == "once":
        return ALWAYS, "always", POS_INF, "open"
    start = _bound(row.valid_from, row.valid_from_text)
    end = _bound(row.valid_to, row.valid_to_text)
    if row.kind == "deny":
        begin = start or ALWAYS
        return begin, "stated" if start else "always", end.instant if end else POS_INF, "stated" if end else "open"
    if start is None:
        early = end is not None and (end is UNKNOWN or end.precision == "unknown" or end.instant <= row.said_at)
        basis, start = ("unknown", UNKNOWN) if early else ("observed", exact(row.said_at))
    elif start.precision == "unknown":
        basis = "unknown"
    else:
        basis = "always" if start.precision == "always" else "stated"
    if end is not None:
        soft = end.precision == "unknown"
        return start, basis, row.said_at if soft else end.instant, "soft" if soft else "stated"
    if entry.event and basis not in {"unknown", "always"}:
        return start, basis, unit_end(start), "stated"
    if entry.ttl_days is not None:
        return start, basis, max(start.instant, row.said_at) + round(entry.ttl_days * 86_400_000_000), "ttl"
    return start, basis, POS_INF, "open"


def masked_by(row: ClaimRow) -> tuple[int, int] | None:
    """Where a claim that only takes others away does so: a denial for all time, or that of a corrected segment."""
    return _stated_interval(row) if _is_mask(row) else None


def separators_of(qualifiers: str, entry: Predicate) -> str:
    """The values of the entry's `one_by` qualifiers as JSON, or nothing unless the claim gives every one."""
    if not entry.one_by or not qualifiers:
        return ""
    given = json.loads(qualifiers)
    if not all(name in given for name in entry.one_by):
        return ""
    values = {name: names.literal_key(str(given[name])) for name in entry.one_by}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def base_confidence(claims: Sequence[ClaimRow]) -> float:
    """1 - the product over sources of (1 - g), at most .99, where repetition by one source hardly counts."""
    if not claims:
        return 0.0
    if len(claims) == 1:
        return lone_confidence(claims[0].source, claims[0].confidence)
    doubt = 1.0
    by_source: dict[str, list[float]] = {}
    for row in claims:
        by_source.setdefault(row.source, []).append(row.confidence)
    for source, given in by_source.items():
        doubt *= 1 - min(CAP[source_class(source)], max(given) + 0.02 * (len(given) - 1))
    inferred = all(source_class(source) == "inferred" for source in by_source)
    return round(min(CAP["inferred"] if inferred else 0.99, 1 - doubt), 12)


def lone_confidence(source: str, confidence: float) -> float:
    """What a fact is believed that this one claim supports."""
    return _capped(source_class(source), confidence)


@lru_cache(maxsize=1 << 14)
def _capped(kind: str, confidence: float) -> float:
    return round(min(CAP["inferred"] if kind == "inferred" else 0.99, 1 - (1 - min(CAP[kind], confidence))), 12)


def _bound(instant: int | None, text: str) -> Bound | None:
    if instant is None:
        return None
    return Bound.from_stored(instant, text)


def _bounded(row: ClaimRow) -> bool:
    return row.valid_from is not None or row.valid_to is not None


def _bounded_denial(row: ClaimRow) -> bool:
    return row.kind == "deny" and _bounded(row)


def _explicit_end(row: ClaimRow) -> bool:
    return not row.opposed and (row.kind == "end" or _bounded_denial(row))


def _is_mask(row: ClaimRow) -> bool:
    """Whether the claim only takes others away: a denial for all time, or that of a corrected segment."""
    return row.kind == "correct" or (row.kind == "deny" and not _bounded(row))


def _is_cut(row: ClaimRow) -> bool:
    """Whether the claim only cuts what was told through an opposite."""
    return bool(row.opposed) and (row.kind == "end" or _bounded_denial(row))


def _stated_interval(row: ClaimRow) -> tuple[int, int]:
    """Where a mask or a cut applies: an end from its instant on, others where a bound not given is open.

    An end that was over before it was told of has no time in which it applies.
    """
    bare = row.said_at if row.kind == "end" else NEG_INF
    start = bare if row.valid_from is None else row.valid_from
    return start, (POS_INF if row.valid_to is None else max(start, row.valid_to))


# -- intervals of statements and segments


def _without(s: Statement, start: int, end: int) -> list[Statement]:
    if start == end:
        return [s]
    return _inside(s, NEG_INF, start, "resumed") + _inside(s, end, POS_INF, "resumed")


def _unmasked(s: Statement, start: int, end: int) -> list[Statement]:
    """What a mask of this interval leaves: nothing of what began in it, of what began before what lies before it.

    A statement whose start nobody knows speaks of the time up to its end, or to when it was said.
    """
    if s.basis == "unknown":
        until = s.said if s.end == POS_INF else s.end
        return [] if start < until <= end else [s]
    if start <= s.start < end:
        return []
    return _inside(s, NEG_INF, start, "resumed") if s.start < start < s.end else [s]


def _inside(s: Statement, start: int, end: int, basis: str) -> list[Statement]:
    """The part of a statement within an interval; a bound that is not its own is exact."""
    begin, stop = max(s.start, start), min(s.end, end)
    if begin >= stop:
        return []
    if begin > s.start:
        s = replace(s, start=begin, start_bound=exact(begin), basis="unknown" if s.basis == "unknown" else basis)
    if stop < s.end:
        s = replace(s, end=stop, end_bound=exact(stop), cut=True)
    return [s]
