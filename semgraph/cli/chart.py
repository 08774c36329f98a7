"""A timeline: facts as bars on a common axis, each with its dates, its value, its sources and its doubts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from semgraph.cli import text
from semgraph.cli.text import clean, pad, paint, width
from semgraph.cli.words import Dates, notes, object_of
from semgraph.temporal import DAY, MAX_INSTANT, MIN_INSTANT, format_instant, instant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from semgraph.model import Fact

__all__ = ["chart"]

_BARS: Final = (20, 60)  # the narrowest and the widest
_GAP: Final = 2
_ROWS: Final = 24  # with more, the axis is drawn again below
_BESIDE: Final = 44  # cells of words beside a bar, where they would take more
_NARROW: Final = 24  # with less room beside it, what is told of a fact goes below its dates
_APART: Final = 7  # cells from one tick to the next
_LEEWAY: Final = 0.8  # by so much they may stand closer
_HOUR: Final = 3_600_000_000
_STEPS: Final = (  # microseconds, and how an instant is named at that step
    *((n * _HOUR, "%H") for n in (1, 3, 6, 12)),
    *((n * DAY, "%d") for n in (1, 2, 7, 14)),
)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The characters of bars."""

    sure: str
    maybe: str
    on: str
    back: str
    dot: str


_FINE: Final = _Marks("━", "┄", "▶", "◀", "◆")
_ASCII: Final = _Marks("=", "-", ">", "<", "*")


@dataclass(frozen=True, slots=True)
class _Axis:
    """The stretch of time that all bars share, in so many cells."""

    first: int
    last: int
    cells: int

    def cell(self, instant: int) -> int:
        """The cell in which an instant lies; those outside fall into the outermost."""
        place = (instant - self.first) * self.cells // (self.last - self.first)
        return min(max(place, 0), self.cells - 1)


def chart(facts: Sequence[Fact], *, gaps: bool, width: int | None = None) -> Iterator[str]:
    """The timeline in lines; with `gaps` also where nothing is known in between."""
    if not facts:
        return
    limit = width or text.columns()
    edge = limit if text.bounded() else None
    marks = _FINE if text.unicode_out() else _ASCII
    sources = {fact.sources for fact in facts}
    shared = f"all from {', '.join(facts[0].sources)}" if len(sources) == 1 and len(facts) > 1 else ""
    rows = _rows(facts, gaps=gaps, sources=not shared)
    left = [max(map(text.width, column)) for column in zip(*(row.dates for row in rows), strict=True)]
    several = len({fact.predicate for fact in facts}) > 1
    beside = max(text.width(row.beside(several=several)) for row in rows)
    used = sum(left) + 2 * _GAP
    cells = min(max(limit - used - _GAP - min(beside, _BESIDE), _BARS[0]), _BARS[1])
    axis = _axis(facts, cells)
    head = list(_head(axis, used))
    yield from head
    for row in rows:
        yield from _line(row, axis, left, marks, edge, several=several)
    if len(rows) > _ROWS:
        yield from head
    if shared and any(source != "user" for source in facts[0].sources):
        yield paint(clean(shared), "dim")


# -- rows


@dataclass(frozen=True, slots=True)
class _Row:
    """A fact, or a gap, before it is drawn."""

    fact: Fact | None
    dates: tuple[str, str]
    notes: tuple[str, ...]

    def label(self, *, several: bool) -> str:
        """What stands beside the bar."""
        if self.fact is None:
            return "(nothing known)"
        return clean(f"{self.fact.predicate} {object_of(self.fact)}" if several else object_of(self.fact))

    def beside(self, *, several: bool) -> str:
        """All that is told of it beside the bar."""
        told = f"  ({', '.join(self.notes)})" if self.notes else ""
        return self.label(several=several) + told


def _rows(facts: Sequence[Fact], *, gaps: bool, sources: bool) -> list[_Row]:
    dates = Dates(facts)
    rows: list[_Row] = []
    reached = None
    for fact in facts:
        if gaps and reached is not None and fact.valid_from.instant > reached.instant:
            rows.append(_Row(None, (dates.short(reached), dates.short(fact.valid_from)), ()))
        if fact.valid_to is None:
            gaps = False
        elif reached is None or fact.valid_to.instant > reached.instant:
            reached = fact.valid_to
        told = [*_endings(fact, facts), *notes(fact)]
        told += [f"from {', '.join(fact.sources)}"] if sources and fact.sources != ("user",) and fact.sources else []
        rows.append(_Row(fact, (_start(fact, dates), _end(fact, dates)), tuple(map(clean, told))))
    return rows


def _start(fact: Fact, dates: Dates) -> str:
    if fact.start_basis == "unknown":
        return "?"
    if fact.valid_from.precision == "always":
        return "always"
    return f"{'by ' if fact.start_basis == 'observed' else ''}{dates.short(fact.valid_from, fact)}"


def _end(fact: Fact, dates: Dates) -> str:
    if fact.valid_to is None:
        return ".."
    return "?" if fact.valid_to.precision == "unknown" else dates.short(fact.valid_to, fact)


def _endings(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    later = [object_of(other) for other in facts if fact.id in other.supersedes]
    by = f" by {', '.join(later)}" if later else ""
    if fact.end_reason in {"superseded", "refined", "suspended"}:
        yield f"{fact.end_reason}{by}"
    elif fact.end_reason == "ttl":
        yield "not confirmed again"
    elif fact.end_reason == "ended":
        yield "ended"
    elif fact.end_reason == "soft":
        yield "ended some time before"


def _line(
    row: _Row, axis: _Axis, left: Sequence[int], marks: _Marks, edge: int | None, *, several: bool
) -> Iterator[str]:
    """A row; where there is an edge, what does not fit beside the bar goes below the value."""
    start = "".join(pad(date, cells) + " " * _GAP for date, cells in zip(row.dates, left, strict=True))
    bar = " " * axis.cells if row.fact is None else _bar(row.fact, axis, marks)
    label, told, beside = row.label(several=several), ", ".join(row.notes), row.beside(several=several)
    doubt = "bad" if row.fact is not None and row.fact.conflicted else "dim" if row.fact is None else "name"
    before = paint(start, "dim") + paint(bar, _style(row.fact)) + " " * _GAP
    used = width(start) + axis.cells + _GAP
    if edge is None or used + width(beside) <= edge:
        yield (before + paint(label, doubt) + (f"  {paint(f'({told})', 'dim')}" if told else "")).rstrip()
        return
    first, *more = text.wrapped(label, edge - used)
    yield (before + paint(first, doubt)).rstrip()
    yield from (" " * used + paint(part, doubt) for part in more)
    if told:
        inset = used if edge - used >= _NARROW else min(sum(left) + 2 * _GAP, used)
        yield from (" " * inset + paint(part, "dim") for part in text.wrapped(f"({told})", edge - inset))


def _style(fact: Fact | None) -> str:
    if fact is None:
        return ""
    if fact.conflicted:
        return "bad"
    return "good" if fact.certain and fact.start_basis != "unknown" else "doubt"


# -- bars


def _bar(fact: Fact, axis: _Axis, marks: _Marks) -> str:
    """The fact in cells: what is sure, what may be, and how it goes on beyond the axis."""
    start, end = fact.valid_from, fact.valid_to
    unknown = fact.start_basis == "unknown"
    sure = marks.maybe if unknown or fact.planned or fact.start_basis == "resumed" else marks.sure
    first = 0 if unknown else axis.cell(start.instant)
    last = axis.cells - 1 if end is None or end.precision == "unknown" else max(axis.cell(end.instant - 1), first)
    cells = [" "] * axis.cells
    cells[first : last + 1] = [sure] * (last + 1 - first)
    if not unknown and start.approximate:
        _fill(cells, axis.cell(start.earliest), axis.cell(start.before - 1), marks.maybe)
    if end is not None and end.precision != "unknown" and end.approximate:
        _fill(cells, axis.cell(end.earliest), axis.cell(end.before - 1), marks.maybe)
    if first == last and (end is not None):
        cells[first] = marks.dot
    if end is None:
        cells[-1] = marks.on
    elif end.precision == "unknown":
        cells[-1] = "?"
    if unknown:
        cells[0] = "?"
    elif start.precision == "always":
        cells[0] = marks.back
    if fact.conflicted:
        cells[(first + last) // 2] = "!"
    return "".join(cells)


def _fill(cells: list[str], first: int, last: int, mark: str) -> None:
    for n in range(first, last + 1):
        cells[n] = mark


# -- the axis


def _axis(facts: Sequence[Fact], cells: int) -> _Axis:
    known = [b.instant for f in facts for b in (f.valid_from, f.valid_to) if b is not None]
    known = [instant for instant in known if MIN_INSTANT <= instant <= MAX_INSTANT]
    if not known:
        return _Axis(0, 1, cells)
    first, last = min(known), max(known)
    if any(fact.valid_to is None for fact in facts):
        now = _now()
        last = max(last, now) if now - last < 4 * max(last - first, DAY) else last
        last += max((last - first) // cells, 1)
    return _Axis(first, max(last, first + cells), cells)


def _now() -> int:
    from datetime import UTC, datetime

    return instant_of(datetime.now(UTC))


def _head(axis: _Axis, used: int) -> Iterator[str]:
    """The axis: what stands at its ticks, as many as there is room for."""
    if axis.last - axis.first <= axis.cells:
        return
    line = ""
    for instant, name in _ticks(axis):
        cell = axis.cell(instant)
        if cell >= len(line) + bool(line) and cell + width(name) <= axis.cells:
            line += " " * (cell - len(line)) + name
    if line:
        yield paint((" " * used + line).rstrip(), "dim")


def _ticks(axis: _Axis) -> Iterator[tuple[int, str]]:
    """The round instants in the axis, as far apart as their names need."""
    cell = (axis.last - axis.first) / axis.cells
    year = 365 * DAY + DAY // 4
    if cell * _APART > 14 * DAY:
        months = next((n for n in (1, 3, 6) if n * year / 12 >= cell * (_APART + 2)), 0)
        yield from _calendar(axis, months or 12 * _round(cell * _APART / year * _LEEWAY))
        return
    step, shape = next((s, w) for s, w in _STEPS if s >= cell * _APART)
    instant = -(-axis.first // step) * step
    while instant < axis.last:
        shown = format_instant(instant)
        yield instant, shown[5:10] if shape == "%d" else shown[11:16]
        instant += step


def _round(years: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if size * factor >= years:
                return size * factor
        size *= 10


def _calendar(axis: _Axis, months: int) -> Iterator[tuple[int, str]]:
    from semgraph.instants import date_of, days_of, format_year

    name: Callable[[int, int], str] = lambda year, month: (  # noqa: E731 - two shapes of one thing
        format_year(year) if months % 12 == 0 else f"{format_year(year)}-{month:02}"
    )
    year, month, _ = date_of(axis.first // DAY)
    at = (year * 12 + month - 1) // months * months
    while True:
        year, month = divmod(at, 12)
        instant = days_of(year, month + 1, 1) * DAY
        if instant >= axis.last:
            return
        if instant >= axis.first:
            yield instant, name(year, month + 1)
        at += months
