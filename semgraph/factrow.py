"""How a fact is kept as a row: plain columns for what is looked up, compact JSON for the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph.store.schema import FactRow
from semgraph.temporal import POS_INF, UNKNOWN, Bound

if TYPE_CHECKING:
    from semgraph.belief import Draft

__all__ = ["Body", "decode", "encode"]


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


def encode(draft: Draft, scope: int, recorded_at: int) -> FactRow:
    """The row of a fact, believed from `recorded_at` on."""
    g = draft.segment
    basis = "resumed" if g.basis == "premise" else g.basis
    body: dict[str, Any] = {"b": basis, "c": [row.id for row in draft.claims], "f": draft.base}
    if g.basis != "unknown" and g.start_bound.stored:
        body["s"] = g.start_bound.stored
    if g.end_bound is not None and g.end_bound.stored:
        body["t"] = g.end_bound.stored
    optional = {
        "r": "" if g.end_reason == "open" else g.end_reason,
        "a": draft.absorbed,
        "e": list(g.ended_by),
        "o": "" if g.opened == "new" else g.opened,
        "x": g.closed,
        "u": draft.supersedes,
        "p": [] if draft.possible == (g.start, g.end) else list(draft.possible),
        "k": [] if draft.certain == (g.start, g.end) else list(draft.certain),
        "v": [[r.fact, r.start, r.end, int(r.mirrored)] for r in draft.rivals],
        "m": int(g.planned) + 2 * int(g.assumed),
    }
    body |= {key: value for key, value in optional.items() if value}
    if g.value.negative and any(span.statement.explicit_end for span in g.spans):
        plain = [s for s in g.spans if not s.statement.explicit_end]
        body["n"] = sorted([s.statement.claim, s.since, s.until] for s in plain)
    return FactRow(
        scope,
        draft.id,
        draft.subject,
        draft.predicate,
        draft.ref,
        int(g.value.negative),
        int(bool(draft.rivals)),
        draft.separators,
        g.start,
        g.end,
        recorded_at,
        POS_INF,
        json.dumps(body, ensure_ascii=False, separators=(",", ":")),
    )


def decode(row: FactRow) -> Body:
    """What `encode` kept in the body."""
    body = json.loads(row.body)
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
