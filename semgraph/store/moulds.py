"""Facts that are a function of one claim: kept as a mark in the claim's row, which names the shape of the fact.

Most facts say what one claim says. Their rows differ from those of other such facts by what stands in the claim: its
id, confidence and times. What is left is a mould, one text for all of them: how the fact's bounds follow from the
claim's, and its body with gaps in the place of those values. Casting is exact: a fact that can't be cast from its claim
to the last letter is kept as a row of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import StoreCorrupt
from semgraph.instants import NEG_INF, POS_INF
from semgraph.store.schema import FactRow, Ident, Node, Ref, Word

if TYPE_CHECKING:
    from semgraph.store.schema import ClaimRow


class Carrier(NamedTuple):
    """What a claim row gives to the fact that is kept with it."""

    scope: int
    id: Ident
    subject: Node
    predicate: Word
    object: Ref
    valid_from: int | None
    valid_to: int | None
    said_at: int
    recorded_at: int
    confidence: float
    mould: int | None


#: The columns of a fact that a carrier has under these names; the others are known once the fact is cast.
CARRIED: Final = {
    "id": "id",
    "subject": "subject",
    "predicate": "predicate",
    "object": "object",
    "sys_from": "recorded_at",
}

_ID, _CONFIDENCE, _FROM, _TO = "\x01", "\x02", "\x03", "\x04"
_GAPS: Final = re.compile("[\x01-\x04]")
_WINDOWS: Final = re.compile(r'"[pk]":\[-?\d+,-?\d+\]')
_NUMBERS: Final = re.compile(r"-?\d+")
_OFFSETS: Final = re.compile("([\x03\x04])(-?\\d+)")
_OTHERS: Final = re.compile(r'"[0-9a-f]{24}[".]')  # another claim or fact: no second fact has this body
_LONGEST: Final = 300
_BASE: Final = re.compile(r'"f":(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)')

#: What `tuples` of facts gives beside their columns: how sure each is by itself, as its body says.
BASE: Final = "base"


def base_of(body: str) -> float:
    """How sure a fact is by itself; StoreCorrupt where its body does not say."""
    found = _BASE.search(body)
    if found is None:
        raise StoreCorrupt("a fact of the store is damaged: run `semgraph verify`, and go back to a backup")
    return float(found[1])


def carrier_of(row: ClaimRow) -> Carrier:
    """The part of a claim that a fact is cast from; without a mould."""
    return Carrier(
        row.scope,
        row.id,
        row.subject,
        row.predicate,
        row.object,
        row.valid_from,
        row.valid_to,
        row.said_at,
        row.recorded_at,
        row.confidence,
        None,
    )


def mould_of(fact: FactRow, claim: Carrier | ClaimRow) -> str | None:
    """The mould from which the claim makes just this fact; None if there is none that others could use."""
    start, end, body = fact.valid_from, fact.valid_to, fact.body
    if (
        fact[1:5] != (claim.id, claim.subject, claim.predicate, claim.object)
        or fact.negative
        or fact.disputed not in (0, 1)
        or fact.separators
        or fact.sys_from != claim.recorded_at
        or fact.sys_to != POS_INF
        or _GAPS.search(body)
    ):
        return None
    if start == claim.valid_from:
        kind = "f"  # from
    elif start == claim.said_at:
        kind = "s"  # said
    elif start == NEG_INF:
        kind = "n"  # never began
    else:
        return None
    if end == (POS_INF if claim.valid_to is None else claim.valid_to):
        length = ""
    elif kind != "n" and end != POS_INF:
        length = str(end - start)
    else:
        return None
    body = body.replace(claim.id, _ID).replace(f'"f":{claim.confidence!r}', f'"f":{_CONFIDENCE}', 1)
    if '"p":' in body or '"k":' in body:
        body = _WINDOWS.sub(lambda window: _relative(window[0], start, end), body)
    return f"{fact.disputed}{kind}{length} {body}"


def is_common(mould: str) -> bool:
    """Whether facts of other claims may have this mould too."""
    return len(mould) <= _LONGEST and not _OTHERS.search(mould)


class Mould:
    """The shape that facts have in common."""

    __slots__ = ("_base", "_body", "_length", "_start", "_told", "_windowed", "disputed")

    def __init__(self, text: str) -> None:
        head, _, body = text.partition(" ") if isinstance(text, str) else ("", "", "")
        if head[:1] not in ("0", "1") or head[1:2] not in ("f", "s", "n") or (head[2:] and not head[2:].isdecimal()):
            raise StoreCorrupt("a fact of the store is damaged: run `semgraph verify`, and go back to a backup")
        self.disputed = int(head[0])
        self._start = head[1]
        self._length = int(head[2:]) if head[2:] else None
        self._body = body
        self._told = _CONFIDENCE in body
        self._windowed = _FROM in body or _TO in body
        self._base: float | None = None

    def base(self, confidence: float) -> float:
        """How sure the fact is by itself that a claim of such confidence makes."""
        if self._told:
            return confidence
        if self._base is None:
            self._base = base_of(self._body)
        return self._base

    def span(self, valid_from: int | None, valid_to: int | None, said_at: int) -> tuple[int, int]:
        """The interval of the fact that a claim with these times makes."""
        start: Any = valid_from if self._start == "f" else said_at if self._start == "s" else NEG_INF
        told = POS_INF if valid_to is None else valid_to
        return start, told if self._length is None else start + self._length

    def cast(self, claim: Carrier, *, bare: bool = False) -> FactRow:
        """The fact that a claim makes, its body left out if it is to be `bare`."""
        start, end = self.span(claim.valid_from, claim.valid_to, claim.said_at)
        return FactRow(
            claim.scope,
            claim.id,
            claim.subject,
            claim.predicate,
            claim.object,
            0,
            self.disputed,
            "",
            start,
            end,
            claim.recorded_at,
            POS_INF,
            "" if bare else self._filled(claim, start, end),
        )

    def _filled(self, claim: Carrier, start: int, end: int) -> str:
        body = self._body
        if self._windowed:
            body = _OFFSETS.sub(lambda gap: str((start if gap[1] == _FROM else end) + int(gap[2])), body)
        if self._told:
            body = body.replace(_CONFIDENCE, repr(claim.confidence), 1)
        return body.replace(_ID, claim.id)


def _relative(window: str, start: int, end: int) -> str:
    """A window with its edges told by the nearer bound of the fact."""

    def told(edge: re.Match[str]) -> str:
        number = int(edge[0])
        if number in (NEG_INF, POS_INF) or (start == NEG_INF and end == POS_INF):
            return edge[0]
        if end == POS_INF or (start != NEG_INF and abs(number - start) < abs(number - end)):
            return f"{_FROM}{number - start}"
        return f"{_TO}{number - end}"

    return _NUMBERS.sub(told, window)
