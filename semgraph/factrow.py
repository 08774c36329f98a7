"""How a fact is kept as a row: plain columns for what is looked up, compact JSON for the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.errors import SemgraphError, StoreCorrupt
from semgraph.store.schema import FactRow
from semgraph.temporal import POS_INF, UNKNOWN, Bound, exact

if TYPE_CHECKING:
    from semgraph.draft import Draft
    from semgraph.segment import Segment

__all__ = ["DAMAGED", "Body", "bound_text", "decode", "encode", "holds"]


class Body(NamedTuple):
    """The part of a fact that no look-up needs."""

    basis: str
    start: Bound
    end: Bound | None
    end_reason: str
    claims: list[str]
    absorbed: list[str]
    ended_by: list[str]
    opened: str
    closed: str
    possible: tuple[int, int]
    certain: tuple[int, int]
    base: float
    rivals: list[tuple[str, int, int, bool]]
    supersedes: list[str]
    planned: bool
    assumed: bool
    opposite: list[tuple[str, int, int]] | None


def encode(draft: Draft, scope: int, recorded_at: int) -> tuple[FactRow, Body]:
    """The row of a fact, believed from `recorded_at` on, and its body as `decode` would read it."""
    g = draft.segment
    basis = "resumed" if g.basis == "premise" else g.basis
    body = Body(
        basis,
        UNKNOWN if basis == "unknown" else _at(g.start_bound, g.start),
        None if g.end == POS_INF else exact(g.end) if g.end_bound is None else _at(g.end_bound, g.end),
        g.end_reason,
        [row.id for row in draft.claims],
        draft.absorbed,
        list(g.ended_by),
        g.opened,
        g.closed,
        draft.possible,
        draft.certain,
        draft.base,
        [(r.fact, r.start, r.end, bool(r.mirrored)) for r in draft.rivals],
        draft.supersedes,
        g.planned,
        g.assumed,
        _unless_explicit(g),
    )
    row = FactRow(
        scope,
        draft.id,
        draft.subject,
        draft.predicate,
        draft.ref,
        int(g.value.negative),
        int(bool(draft.rivals) or draft.unsure),
        draft.separators,
        g.start,
        g.end,
        recorded_at,
        POS_INF,
        _text(body, g),
    )
    return row, body


def _at(bound: Bound, instant: int) -> Bound:
    return bound if bound.instant == instant else Bound.from_stored(instant, bound_text(bound))


def _unless_explicit(g: Segment) -> list[tuple[str, int, int]] | None:
    """For a negative fact that some explicit end supports: when each of its other supports held, if any did."""
    if not g.value.negative or not any(span.statement.explicit_end for span in g.spans):
        return None
    plain = [s for s in g.spans if not s.statement.explicit_end]
    if all(s.since == s.until for s in plain):
        return []
    return sorted((s.statement.claim, s.since, s.until) for s in plain)


def _text(body: Body, g: Segment) -> str:
    """The body as JSON; what can be told from the columns is left out."""
    told: dict[str, Any] = {"b": body.basis, "c": body.claims, "f": body.base}
    if body.basis != "unknown" and (start := bound_text(g.start_bound)):
        told["s"] = start
    if g.end_bound is not None and (end := bound_text(g.end_bound)):
        told["t"] = end
    own = (g.start, g.end)
    optional = {
        "r": "" if body.end_reason == "open" else body.end_reason,
        "a": body.absorbed,
        "e": body.ended_by,
        "o": "" if body.opened == "new" else body.opened,
        "x": body.closed,
        "u": body.supersedes,
        "p": () if body.possible == own else body.possible,
        "k": () if body.certain == own else body.certain,
        "v": [(fact, start, end, int(mirrored)) for fact, start, end, mirrored in body.rivals],
        "m": int(body.planned) + 2 * int(body.assumed),
    }
    told.update((key, value) for key, value in optional.items() if value)
    if body.opposite is not None:
        told["n"] = body.opposite
    return _json(told)


_read = json.JSONDecoder().raw_decode
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_texts: dict[int, tuple[Bound, str]] = {}
_TEXTS_KEPT = 1 << 14
#: What is said of a row that is none.
DAMAGED = "a fact of the store is damaged: run `semgraph verify`, and go back to a backup"


def bound_text(bound: Bound) -> str:
    """`bound.stored`, kept for bounds that are met again and again: those of a batch share theirs."""
    found = _texts.get(id(bound))
    if found is None or found[0] is not bound:
        if len(_texts) >= _TEXTS_KEPT:
            _texts.clear()
        found = _texts[id(bound)] = (bound, bound.stored)
    return found[1]


def decode(row: FactRow) -> Body:
    """What `encode` kept in the body; StoreCorrupt where it is none."""
    try:
        return _decoded(row)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, SemgraphError):
        raise StoreCorrupt(DAMAGED) from None


def _decoded(row: FactRow) -> Body:
    body, _ = _read(row.body)
    basis = body["b"]
    start = UNKNOWN if basis == "unknown" else Bound.from_stored(row.valid_from, body.get("s", ""))
    end = None if row.valid_to == POS_INF else Bound.from_stored(row.valid_to, body.get("t", ""))
    marks = body.get("m", 0)
    possible, certain = body.get("p"), body.get("k")
    return Body(
        basis,
        start,
        end,
        body.get("r", "open"),
        body["c"],
        body.get("a", []),
        body.get("e", []),
        body.get("o", "new"),
        body.get("x", ""),
        (possible[0], possible[1]) if possible else (row.valid_from, row.valid_to),
        (certain[0], certain[1]) if certain else (row.valid_from, row.valid_to),
        body["f"],
        [(fact, a, b, bool(m)) for fact, a, b, m in body.get("v", [])],
        body.get("u", []),
        bool(marks & 1),
        bool(marks & 2),
        [(c, a, b) for c, a, b in body["n"]] if "n" in body else None,
    )


def holds(row: FactRow, body: Body, instant: int, *, possible: bool = False) -> bool:
    """Whether the fact holds at an instant, or may."""
    if body.basis == "unknown":
        return possible and instant < body.possible[1]
    if row.valid_from <= instant < row.valid_to:
        return True
    return possible and body.possible[0] <= instant < body.possible[1]
