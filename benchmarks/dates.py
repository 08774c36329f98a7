"""How well dates are read: correct, wrong and unread per kind, on the expressions of Recognizers-Text and timenorm.

    python -m benchmarks.dates ../shared/data/date_expressions --wrong

`--half even` reads every other case, `--wrong` lists what is wrong and what was expected, `--unread` what was not read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semgraph.dates import find_dates, read_when
from semgraph.errors import SemgraphError
from semgraph.instants import DAY, NEG_INF, POS_INF, days_of, format_instant, instant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from semgraph.dates.reading import Reading

FILES = (
    "date_time_model",
    "date_parser",
    "date_period_parser",
    "date_time_parser",
    "holiday_parser",
    "duration_parser",
)
EXTRACTED = ("date_extractor", "date_period_extractor")
VERDICTS = ("correct", "wrong", "unread", "no date")
TASK_KINDS = ("date", "daterange")

Span = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """An expression, its sentence and moment, and every span that the data set takes for right."""

    name: str
    number: int
    kind: str
    text: str
    sentence: str
    start: int
    reference: datetime
    spans: tuple[Span, ...]
    starts: tuple[int, ...]  # of kinds whose length is not told

    def right(self, reading: Reading) -> bool:
        """Whether one of the readings of the data set was found."""
        return reading.span in self.spans or reading.span[0] in self.starts


def cases(folder: Path) -> Iterator[Case]:
    """The expressions with values, in the order of the files."""
    for name in FILES:
        for number, row in enumerate(rows(folder / f"recognizers_{name}.jsonl.gz")):
            if row["reference"] is None:
                continue
            moment = datetime.fromisoformat(row["reference"]).replace(tzinfo=UTC)
            for result in row["results"]:
                kind = result.get("type") or result.get("typeName") or "other"
                values = list(values_of(result))
                spans = tuple(span for value in values if (span := span_of(value)) is not None)
                starts = tuple(at for value in values if (at := start_of(value)) is not None)
                yield Case(name, number, kind, result["text"], row["input"], result["start"], moment, spans, starts)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def values_of(result: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The readings of a result in the form of the DateTimeModel."""
    yield from result.get("values", ())
    value = result.get("value") or {}
    for side in ("FutureResolution", "PastResolution"):
        found = value.get(side) or {}
        if "date" in found:
            yield {"type": "date", "value": found["date"]}
        elif "dateTime" in found:
            yield {"type": "datetime", "value": found["dateTime"]}
        elif "startDate" in found or "endDate" in found:
            yield {"type": "daterange"} | {
                key.removesuffix("Date"): text for key, text in found.items() if key in ("startDate", "endDate")
            }


def span_of(value: dict[str, str]) -> Span | None:
    """The instants of a date or range, None for what has none."""
    start, end = instant(value.get("start")), instant(value.get("end"))
    if start is not None or end is not None:
        return (NEG_INF if start is None else start, POS_INF if end is None else end)
    day = instant(value.get("value")) if value["type"] == "date" else None
    return None if day is None else (day, day + DAY)


def start_of(value: dict[str, str]) -> int | None:
    """The instant of a date with a time."""
    return instant(value.get("value")) if value["type"] == "datetime" else None


def instant(text: str | None) -> int | None:
    """The instant of a date or date-time of the data set; None where it is none, or not resolved."""
    if text is None or text.startswith("0001-01-01"):
        return None
    try:
        return instant_of(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


# -- timenorm: expressions that need no reference


def timenorm(folder: Path) -> Iterator[tuple[str, str, Span]]:
    """Expression, value and span of the dates of timenorm whose value has a span."""
    for line in (folder / "timenorm_en.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        text, kind, value = line.split("\t")
        span = timex_span(value)
        if kind == "DATE" and span is not None:
            yield text, value, span


def timex_span(value: str) -> Span | None:
    """The span of a TIMEX3 date: years, months, days, quarters, decades and centuries."""
    if match := re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", value):
        year, month, day = int(match[1]), match[2], match[3]
        if day:
            start = days_of(year, int(month), int(day))
            return start * DAY, (start + 1) * DAY
        return months(year, int(month), 1) if month else months(year, 1, 12)
    if match := re.fullmatch(r"(\d{4})-Q([1-4])", value):
        return months(int(match[1]), 3 * int(match[2]) - 2, 3)
    if match := re.fullmatch(r"(\d{2,3})", value):
        length = 10 if len(value) == 3 else 100
        return months(int(value) * length, 1, 12 * length)
    return None


def months(year: int, month: int, count: int) -> Span:
    """So many months from that one on."""
    last = month - 1 + count
    return days_of(year, month, 1) * DAY, days_of(year + last // 12, last % 12 + 1, 1) * DAY


# -- scoring


def read(text: str, reference: datetime) -> Reading | None:
    """The reading of an expression, None where it is refused."""
    try:
        return read_when(text, reference=reference)
    except SemgraphError:
        return None


def judge(chosen: Iterable[Case]) -> Iterator[tuple[Case, str, Reading | None]]:
    """Each case with its verdict: correct, wrong, unread, or rightly refused where the data set has no date either."""
    for case in chosen:
        reading = read(case.text, case.reference)
        if reading is None:
            yield case, "unread" if case.spans or case.starts else "no date", None
        else:
            yield case, "correct" if case.right(reading) else "wrong", reading


def timenorm_verdicts(folder: Path) -> Iterator[tuple[str, str, str, Reading | None]]:
    """Those expressions of timenorm that mean the same whenever they are said, with their verdicts."""
    one, other = datetime(1998, 2, 24, 12, tzinfo=UTC), datetime(2013, 7, 12, 12, tzinfo=UTC)
    for text, value, span in timenorm(folder):
        first, second = read(text, one), read(text, other)
        if first is None and second is None:
            yield text, value, "unread", None
        elif first is not None and second is not None and first.span == second.span:
            finer = span[0] <= first.span[0] and first.span[1] <= span[1]
            yield text, value, "correct" if first.span == span else "finer" if finer else "wrong", first


def found_in_sentences(folder: Path) -> Counter[str]:
    """How many dates of the extractor files `find_dates` finds whole, in part or not, and how many it makes up."""
    counts: Counter[str] = Counter()
    for name in EXTRACTED:
        for row in rows(folder / f"recognizers_{name}.jsonl.gz"):
            moment = datetime.fromisoformat(row["reference"] or "2016-11-07").replace(tzinfo=UTC)
            found = [(span.start, span.end) for span in find_dates(row["input"], reference=moment)]
            gold = [(r["start"], r["start"] + len(r["text"])) for r in row["results"]]
            counts["gold"] += len(gold)
            for start, end in gold:
                over = [(s, e) for s, e in found if s < end and start < e]
                whole = any(s <= start and e >= end for s, e in over)
                counts["whole" if whole else "in part" if over else "missed"] += 1
            counts["made up"] += sum(not any(s < e2 and s2 < e for s2, e2 in gold) for s, e in found)
    return counts


# Why a reading differs from the data set on purpose; whatever else is wrong is an error of ours.
REASONS = (
    (r"\b(through|thru|no later than)\b", "the last date named belongs to it, so that ours ends after it"),
    (r"\bafter\b.*(\d|day)", "after a day begins when the day is over"),
    (r"\bnow\b", "now is an instant, not the midnight before it"),
    (r"\b(beginning|start|middle|mid|end) ", "the data set has several lengths for parts of a unit; ours are fixed"),
    (
        r"\bearlier this\b",
        "the data set has two readings: half of the unit, and ours, up to the day",
    ),
    (r"^around the \d", "the data set gives the date and no value"),
    (r"^tuesday march 7$", "7 March was no Tuesday in the years that the data set gives; ours is the nearest that was"),
)


def reason(text: str) -> str:
    """Why the reading of an expression differs."""
    return next((why for pattern, why in REASONS if re.search(pattern, text.lower())), "an error")


def shown(span: Span) -> str:
    """A span as people read it."""
    return " .. ".join(format_instant(edge).removesuffix("T00:00:00Z") for edge in span)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--unread", action="store_true")
    asked = parser.parse_args()
    keep = {"even": (0,), "odd": (1,)}.get(asked.half, (0, 1))
    table: dict[str, Counter[str]] = {}
    for case, verdict, reading in judge(case for case in cases(asked.folder) if case.number % 2 in keep):
        table.setdefault(case.kind, Counter())[verdict] += 1
        if (asked.wrong and verdict == "wrong") or (asked.unread and verdict == "unread" and case.kind in TASK_KINDS):
            got = "" if reading is None else shown(reading.span)
            expected = " | ".join(map(shown, case.spans)) or "no value"
            why = f"{expected} ({reason(case.text)})" if verdict == "wrong" else expected
            print(f"{verdict:8}{case.kind:12}{case.reference:%Y-%m-%d %a} {case.text!r}: {got} expected {why}")
    print(f"\n{'kind':16}{'cases':>7}{'correct':>9}{'wrong':>9}{'unread':>9}{'no date':>9}")
    table["date+daterange"] = sum((table[kind] for kind in TASK_KINDS if kind in table), Counter())
    for kind, counts in table.items():
        total = sum(counts.values())
        shares = "".join(f"{100 * counts[verdict] / total:8.1f}%" for verdict in VERDICTS)
        print(f"{kind:16}{total:7}{shares}")
    counts = Counter()
    for text, value, verdict, reading in timenorm_verdicts(asked.folder):
        counts[verdict] += 1
        if asked.wrong and verdict == "wrong" and reading is not None:
            print(f"wrong   timenorm {text!r}: {shown(reading.span)} expected {value}")
    print(f"timenorm, what needs no reference: {dict(counts)}")
    print(f"in sentences: {dict(found_in_sentences(asked.folder))}")


if __name__ == "__main__":
    main()
