"""Facts and reports as lines for people: one thing a line, columns aligned, nothing that could drive a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, Final

from semgraph.temporal import NEG_INF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from semgraph.model import Claim, ConflictSet, Diff, Fact, FactVersion, ForgetReport, Receipt
    from semgraph.temporal import Bound

__all__ = [
    "about", "clean", "conflict", "diff", "fact_line", "forgotten", "history", "pairs", "receipt", "table", "timeline",
]  # fmt: skip

_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BAR: Final = 16  # characters
_LINE: Final = 80
_UNSURE: Final = 0.65  # below it a fact is shown with its confidence
_DAY: Final = 86_400_000_000


def clean(text: str) -> str:
    """A text in one line, with controls, direction marks and lone surrogates spelled out."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def table(rows: Iterable[Sequence[str]], indent: str = "") -> Iterator[str]:
    """Rows with their columns aligned."""
    kept = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*kept, strict=True)]
    for row in kept:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True) if width]
        yield (indent + "  ".join(cells)).rstrip()


def _width(text: str) -> int:
    """How many cells of a terminal it takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pairs(words: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Names and values, one pair a line, nested mappings below their name."""
    for name, value in words.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:" + ("" if value else " none")
            yield from pairs(value, indent + "  ")
        else:
            yield f"{indent}{name}: {clean(str(value))}"


# -- facts


def fact_line(fact: Fact) -> str:
    """A fact in a line: what holds, when, and what to know about it."""
    notes = ", ".join(_notes(fact))
    return _plain(fact) + (f"  ({clean(notes)})" if notes else "")


def _plain(fact: Fact) -> str:
    return clean(f"{fact.label} {_interval(fact)}")


def _notes(fact: Fact) -> Iterator[str]:
    if fact.conflicted:
        yield "in conflict"
    if fact.planned:
        yield "planned"
    if fact.start_basis == "unknown":
        yield "since an unknown time"
    elif not fact.certain:
        yield "not certain"
    if fact.start_basis == "observed":
        yield "seen then, began earlier"
    elif fact.start_basis == "resumed":
        yield "resumed"
    if fact.confidence < _UNSURE:
        yield f"confidence {fact.confidence:.2f}"
    yield from (f"{name} {value}" for name, value in fact.qualifiers.items())


def about(found: Mapping[str, Sequence[Fact]]) -> Iterator[str]:
    """What holds, by predicate."""
    every = [(predicate, fact) for predicate, facts in found.items() for fact in facts]
    yield from table([predicate, _object(fact), _interval(fact), ", ".join(_notes(fact))] for predicate, fact in every)


def _object(fact: Fact) -> str:
    mark = "not " if fact.negative else ""
    return mark + ("(anything)" if fact.object is None else fact.object.label)


def _interval(fact: Fact) -> str:
    return f"[{_short(fact.valid_from)}, {_short(fact.valid_to)})"


def _short(bound: Bound | None) -> str:
    """A bound without the parts of a second, which are there for order and not for reading."""
    return "" if bound is None else re.sub(r"(:\d\d)\.\d+", r"\1", str(bound))


def timeline(facts: Sequence[Fact], *, gaps: bool) -> Iterator[str]:
    """Facts in the order of time, each with a bar; with `gaps` also where nothing is known in between."""
    scale = _scale(facts)
    rows: list[list[str]] = []
    reached: Bound | None = None
    names = {fact.predicate for fact in facts}
    for fact in facts:
        if gaps and reached is not None and fact.valid_from.instant > reached.instant:
            rows.append([_short(reached), _short(fact.valid_from), "", "", "(nothing known)", ""])
        if fact.valid_to is None:
            gaps = False
        elif reached is None or fact.valid_to.instant > reached.instant:
            reached = fact.valid_to
        start = "?" if fact.start_basis == "unknown" else _short(fact.valid_from)
        shown = fact.predicate if len(names) > 1 else ""
        end = _short(fact.valid_to) or ".."
        rows.append([start, end, _bar(fact, scale), shown, _object(fact), ", ".join(_endings(fact, facts))])
    yield from table(rows)


def _endings(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    later = [_object(other) for other in facts if fact.id in other.supersedes]
    by = f" by {', '.join(later)}" if later else ""
    if fact.end_reason in {"superseded", "refined", "suspended"}:
        yield f"{fact.end_reason}{by}"
    elif fact.end_reason == "ttl":
        yield "not confirmed again"
    elif fact.end_reason in {"ended", "soft"}:
        yield "ended"
    yield from _notes(fact)


def _scale(facts: Sequence[Fact]) -> tuple[int, int]:
    """The stretch of time that a bar spans."""
    known = [f.valid_from.instant for f in facts if f.valid_from.instant != NEG_INF]
    known += [f.valid_to.instant for f in facts if f.valid_to is not None and f.valid_to.instant != NEG_INF]
    if not known:
        return 0, 1
    first, last = min(known), max(known)
    spare = max(last - first, _DAY) // _BAR if any(f.valid_to is None for f in facts) else 0
    return first, max(last + spare, first + 1)


def _bar(fact: Fact, scale: tuple[int, int]) -> str:
    first, last = scale
    if fact.valid_from.instant == NEG_INF and fact.valid_to is None:
        return ""
    start = first if fact.start_basis == "unknown" else max(fact.valid_from.instant, first)
    end = last if fact.valid_to is None else fact.valid_to.instant
    cells = [round((instant - first) * _BAR / (last - first)) for instant in (start, end)]
    left = min(cells[0], _BAR - 1)
    right = max(cells[1], left + 1)
    return "|" + " " * left + "=" * (right - left) + " " * (_BAR - right) + "|"


def history(versions: Iterable[FactVersion]) -> Iterator[str]:
    """What was believed, belief by belief; the moments are exact, so that they can be read at."""
    for version in versions:
        until = "" if version.known_to is None else f" until {version.known_to}"
        yield f"from {version.known_from}{until}"
        yield f"  {_plain(version.fact)}"


# -- conflicts and differences


def conflict(found: ConflictSet) -> Iterator[str]:
    """A conflict, its sides, and how to end it."""
    what = found.subject.label if found.subject is not None else "who"
    target = f" {found.object.label}" if found.object is not None else ""
    until = "" if found.until is None else f" until {_short(found.until)}"
    yield clean(f"{what} {found.predicate}{target}: {len(found.facts)} values since {_short(found.since)}{until}")
    yield from table(_sides(found), "  ")
    yield f"  id {found.id}"


def _sides(found: ConflictSet) -> Iterator[list[str]]:
    for fact in found.facts:
        side = fact.subject.label if found.subject is None else _object(fact)
        yield [side, _interval(fact), ", ".join(fact.sources), f"confidence {fact.confidence:.2f}"]


def diff(found: Diff) -> Iterator[str]:
    """What changed, was opened and was closed, and which conflicts came and went."""
    paired = {id(fact) for pair in found.changed for fact in pair}
    for old, new in found.changed:
        yield f"~ {_plain(old)}  ->  {clean(_object(new))} {_interval(new)}"
    yield from (f"+ {_plain(fact)}" for fact in found.opened if id(fact) not in paired)
    yield from (f"- {_plain(fact)}" for fact in found.closed if id(fact) not in paired)
    for mark, sets in (("conflict opened", found.conflicts_opened), ("conflict settled", found.conflicts_settled)):
        for one in sets:
            yield clean(f"{mark}: {', '.join(fact.label for fact in one.facts)}")


# -- reports


def receipt(done: Receipt) -> Iterator[str]:
    """What a write did: the facts that it made, those that it closed, and what disputes them."""
    if done.outcome == "rejected":
        yield clean(f"rejected: {done.code} — {done.reason}")
        return
    ordered = sorted(done.facts, key=lambda fact: fact.negative)
    lines = [fact_line(fact) for fact in ordered] or [_claim_line(claim) for claim in done.claims[:1]]
    yield f"{done.outcome}: {lines[0] if lines else clean(done.why)}"
    yield from (f"  and {line}" for line in lines[1:])
    yield from (f"  closes {_plain(fact)}" for fact in done.closed)
    if done.conflict is not None:
        mine = {fact.id for fact in done.facts}
        for rival in done.conflict.facts:
            if rival.id not in mine:
                yield f"  against {_plain(rival)}, said by {clean(', '.join(rival.sources))}"
    if done.outcome in {"conflict", "suppressed", "idempotent"} and done.why and lines:
        yield from _wrapped(done.why)


def _wrapped(words: str) -> Iterator[str]:
    """Words in lines that fit anywhere."""
    yield from textwrap.wrap(clean(words), _LINE, initial_indent="  ", subsequent_indent="  ")


def _claim_line(claim: Claim) -> str:
    target = "(anything)" if claim.object is None else claim.object.label
    denied = "denied " if claim.kind in {"deny", "correct"} else ""
    return clean(f"{denied}{claim.subject.label} {claim.predicate} {target}")


def forgotten(report: ForgetReport) -> Iterator[str]:
    """What a forget removed, or would remove."""
    verb = "would forget" if report.dry_run else "forgot"
    yield f"{verb}: {report.claims} claims, {report.facts} facts, {report.entities} entities"
    yield from (f"  {_plain(fact)}" for fact in report.listed)
    yield from (f"  mentioned in: {_claim_line(claim)}" for claim in report.mentioned)
    if not report.dry_run:
        state = "the bytes are gone from the file" if report.purged else f"the bytes are not gone yet: {report.pending}"
        yield from _wrapped(f"{state}; {report.beyond_reach}")
