"""PostgreSQL's range types as an outside judge of the interval algebra.

Its ranges may be closed, open or empty; ours are half-open and never empty. The bridge is the *cut*, a place between
values: just before v, just after v, before all, after all. A closed lower bound cuts before its value, an open one
after it, so that each of their ranges is one half-open interval over cuts, and every operator evaluated here is ours.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from semgraph.errors import InputError, RejectedError
from semgraph.instants import date_of, days_of
from semgraph.intervals import Range
from semgraph.temporal import parse_bound

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.shared_data

LOWEST, HIGHEST = (0,), (2,)
INFINITY = float("inf")
DISORDER = "range lower bound must be less than or equal to range upper bound"


class Refused(Exception):
    """What PostgreSQL reports as an error."""


# -- element types


def read_number(text):
    if not re.fullmatch(r"\s*[0-9.e]+\s*", text):
        raise Refused(f"invalid input: {text!r}")
    return Decimal(text.strip())


def read_day(text):
    if text.endswith("infinity"):
        return -INFINITY if text.startswith("-") else INFINITY
    return days_of(*map(int, text.split("-")))


def show_day(days):
    if abs(days) == INFINITY:
        return "infinity" if days > 0 else "-infinity"
    year, month, day = date_of(days)
    return f"{month:02d}-{day:02d}-{year}"


def read_moment(text):
    return parse_bound(re.sub(r" ([+-]\d\d)$", r"\1", text.strip())).to_datetime()


def show_moment(moment: datetime):
    return moment.astimezone(timezone(timedelta(hours=-8))).strftime("%a %b %d %H:%M:%S %Y -08")


def show_array(items):
    return "{" + ",".join(map(show, items)) + "}"


@dataclass(frozen=True)
class Kind:
    """A range type: of what, how its elements are read and shown, and for a discrete one the first value too large."""

    element: str
    read: Callable[[str], Any] = str
    show: Callable[[Any], str] = str
    limit: int | None = None


INT4 = Kind("integer", lambda text: int(read_number(text)), limit=2**31)
KINDS = {
    "textrange": Kind("text"),
    "textrange1": Kind("text"),
    "textrange2": Kind("text"),
    "varbitrange": Kind("varbit"),
    "numrange": Kind("numeric", read_number),
    "float8range": Kind("float8", read_number),
    "int4range": INT4,
    "int8range": Kind("bigint", INT4.read, limit=2**63),
    "restrictedrange": INT4,
    "mydomainrange": Kind("integer", INT4.read),
    "daterange": Kind("date", read_day, show_day, limit=days_of(5_874_898, 1, 1)),
    "tstzrange": Kind("timestamptz", read_moment, show_moment),
    "arrayrange": Kind("integer[]", show=show_array),
}


# -- ranges over cuts


@dataclass(frozen=True)
class Period:
    """A value of one of PostgreSQL's range types; `range` is None for the empty one."""

    kind: Kind
    range: Range | None = field(default=None)

    def __str__(self) -> str:
        if self.range is None:
            return "empty"
        low, high = self.range.start, self.range.end
        first = "(" if low == LOWEST else "[("[low[2]] + quote(self.kind.show(low[1]))
        last = ")" if high == HIGHEST else quote(self.kind.show(high[1])) + ")]"[high[2]]
        return f"{first},{last}"


def quote(text: str) -> str:
    if text and not re.search(r'[\s()\[\],"\\]', text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


def build(kind: Kind, low: Any, high: Any, flags: str = "[)") -> Period:
    """The period, canonical for discrete kinds; what `Range` refuses is empty or, with its values swapped, an error."""
    if low is not None and high is not None and high < low:
        with pytest.raises(RejectedError, match="empty_interval"):
            Range((1, low, 0), (1, high, 0))
        raise Refused(DISORDER)
    low_side, high_side = int(flags[0] == "("), int(flags[1] == "]")
    if kind.limit is not None:
        low, low_side = canonical(kind, low, low_side)
        high, high_side = canonical(kind, high, high_side)
    start = LOWEST if low is None else (1, low, low_side)
    end = HIGHEST if high is None else (1, high, high_side)
    try:
        return Period(kind, Range(start, end))
    except RejectedError:
        return Period(kind)


def canonical(kind: Kind, value: Any, side: int) -> tuple[Any, int]:
    if value is None or abs(value) == INFINITY:
        return value, side
    if value + side >= kind.limit:
        raise Refused("out of range")
    return value + side, 0


def read_period(kind: Kind, text: str) -> Period:
    if text.strip().casefold() == "empty":
        return Period(kind)
    bound = r'((?:"(?:[^"\\]|\\.|"")*"|\\.|[^,)\]"\\])*)'
    match = re.fullmatch(rf"\s*([\[(]){bound},{bound}([)\]])\s*", text, re.DOTALL)
    if not match:
        raise Refused(f'malformed range literal: "{text}"')
    first, low, high, last = match.groups()
    return build(kind, *(kind.read(unquote(part)) if part else None for part in (low, high)), first + last)


def unquote(text: str) -> str:
    inner = re.sub(r'"((?:[^"\\]|\\.|"")*)"', lambda quoted: quoted[1].replace('""', r"\""), text)
    return re.sub(r"\\(.)", r"\1", inner)


# -- expressions


TOKEN = re.compile(
    r"\s*(?:'(?P<text>(?:[^']|'')*)'|(?P<number>\d[\d.]*)|(?P<name>[a-z_]\w*)"
    r"|(?P<sign>::|-\|-|&&|@>|<@|<<|>>|&<|&>|[-+*<>=(),\[\]]))",
    re.IGNORECASE,
)


def whole(period: Period) -> Range:
    assert period.range is not None
    return period.range


def element(value: Any) -> Range:
    return Range((1, value, 0), (1, value, 1))


def held(container: Period, what: Any) -> bool:
    return whole(container).contains(whole(what) if isinstance(what, Period) else element(what))


def minus(a: Period, b: Period) -> Period:
    pieces = [a.range] if b.range is None else whole(a).minus(b.range)
    assert len(pieces) < 2
    return Period(a.kind, *pieces)


def union(a: Period, b: Period) -> Period:
    try:
        return Period(a.kind, whole(a).union(whole(b)))
    except InputError:
        raise Refused("result of range union would not be contiguous") from None


def but(a: Period, b: Period) -> Period | None:
    """EXCEPT between two sets of one row each."""
    return None if whole(a).equals(whole(b)) else a


OPERATORS = {
    "&&": lambda a, b: whole(a).overlaps(whole(b)),
    "-|-": lambda a, b: whole(a).adjacent(whole(b)),
    "<<": lambda a, b: whole(a).precedes(whole(b)),
    ">>": lambda a, b: whole(a).succeeds(whole(b)),
    "&<": lambda a, b: whole(a).hull(whole(b)).end == whole(b).end,
    "&>": lambda a, b: whole(a).hull(whole(b)).start == whole(b).start,
    "<": lambda a, b: whole(a) < whole(b),
    "@>": held,
    "<@": lambda a, b: held(b, a),
    "+": union,
    "-": minus,
    "*": lambda a, b: Period(a.kind, whole(a).intersection(whole(b))),
    "except": but,
}


def type_of(value: Any) -> str:
    if isinstance(value, list):
        return "numeric[]" if any(isinstance(item, Decimal) for item in value) else "integer[]"
    return next(name for name, kind in KINDS.items() if kind is value.kind)


def signature(name: str, exact: bool) -> Callable[[Any, Any], None]:  # noqa: FBT001 - local
    """A check that array and range are of one element type, or, unless exact, of types with a common one."""

    def check(*arguments: Any) -> None:
        kind = next(value.kind for value in arguments if isinstance(value, Period))
        array = next(type_of(value) for value in arguments if isinstance(value, list)).removesuffix("[]")
        if kind.element != array and (exact or kind.element == "integer"):
            raise Refused(f"function {name}({', '.join(map(type_of, arguments))}) does not exist")

    return check


def first_and_lower(name: str, *, exact: bool):
    def call(array, period):
        signature(name, exact)(array, period)
        return array[0] + whole(period).start[1]

    return call


def upper_and_first(period, array):
    signature("rangetypes_sql", exact=True)(period, array)
    return whole(period).end[1] + array[0]


def valid(text: str, kind: str) -> bool:
    try:
        read_period(KINDS[kind], text)
    except Refused:
        return False
    return True


FUNCTIONS = {
    "pg_input_is_valid": valid,
    "range_adjacent": OPERATORS["-|-"],
    "range_minus": minus,
    "range_minus_multi": minus,
    "range_merge": lambda a, b: Period(a.kind, whole(a).hull(whole(b))),
    "range_add_bounds": lambda a: whole(a).start[1] + whole(a).end[1],
    "rangetypes_sql": upper_and_first,
    "anyarray_anyrange_func": first_and_lower("anyarray_anyrange_func", exact=True),
    "anycompatiblearray_anycompatiblerange_func": first_and_lower(
        "anycompatiblearray_anycompatiblerange_func", exact=False
    ),
}


class Parser:
    """Evaluates one expression: operand, or operand operator operand."""

    def __init__(self, sql: str) -> None:
        self.tokens = [(match.lastgroup, match[match.lastgroup]) for match in TOKEN.finditer(sql)]
        assert "".join(match[0] for match in TOKEN.finditer(sql)) == sql
        self.place = 0

    def take(self, *wanted: str) -> bool:
        """Whether the next token is one of those; then it is used up."""
        found = self.place < len(self.tokens) and self.tokens[self.place][1].casefold() in wanted
        self.place += found
        return found

    def evaluate(self) -> Any:
        value = self.operand()
        if self.place < len(self.tokens):
            operator = self.tokens[self.place][1].casefold()
            self.place += 1
            self.take("select")
            value = OPERATORS[operator](value, self.operand())
        assert self.place == len(self.tokens)
        return value

    def operand(self) -> Any:
        group, text = self.tokens[self.place]
        self.place += 1
        if group == "name" and text.casefold() == "null":
            return None
        if group == "name":
            return self.call(text.casefold())
        value = text.replace("''", "'") if group == "text" else Decimal(text) if "." in text else int(text)
        return self.cast(value) if self.take("::") else value

    def call(self, name: str) -> Any:
        assert self.take("(", "[")
        arguments = []
        while not self.take(")", "]"):
            arguments.append(self.operand())
            self.take(",")
        if name == "array":
            return arguments
        return build(KINDS[name], *arguments) if name in KINDS else FUNCTIONS[name](*arguments)

    def cast(self, value: Any) -> Any:
        name = self.tokens[self.place][1]
        self.place += 1
        if name == "date":
            return read_day(value)
        if name not in KINDS:
            return value
        period = read_period(KINDS[name], value)
        if name == "restrictedrange" and whole(period).end[1] >= 10:
            raise Refused('value for domain restrictedrange violates check constraint "restrictedrange_check"')
        return period


def show(value: Any) -> str:
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, list):
        return "{" + ",".join(f'"{item}"' for item in value) + "}"
    return str(value)


def rows(path):
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_range_expression_has_the_value_or_error_that_postgresql_gives(shared_data) -> None:
    cases = rows(shared_data / "sql_periods" / "rangetypes_cases.jsonl")
    wrong = []
    for case in cases:
        try:
            got = {"value": show(Parser(case["expr"]).evaluate())}
        except Refused as refused:
            got = {"error": str(refused)}
        if got != {key: case[key] for key in ("value", "error") if key in case}:
            wrong.append((case, got))
    assert wrong == []
    assert len(cases) == 111


# -- keys WITHOUT OVERLAPS

KEY = re.compile(
    r"Key \(\w+, valid_at\)=\((.+?\)), (.+)\) conflicts with existing key \(\w+, valid_at\)=\((.+?\)), (.+)\)"
)
ROW = re.compile(
    r"\('(\[[^']+\))', (?:'([\[(][^']+[)\]])'|(?:datemultirange\()?daterange\('([^']+)', (?:'([^']+)'|NULL)\))"
)


def period_of(text: str) -> Range:
    """A period as the transcript shows it; the multiranges that collide have one member each."""
    text = text.strip("{}")
    return whole(read_period(KINDS["daterange" if text.count("-") > 1 else "int4range"], text))


def test_what_a_key_without_overlaps_refuses_does_overlap(shared_data) -> None:
    refused = [row for row in rows(shared_data / "sql_periods" / "without_overlaps_dml.jsonl") if not row["ok"]]
    collisions = [KEY.search(row["detail"]).groups() for row in refused if row["error"].startswith("conflicting key")]
    assert len(collisions) == 14
    for new_key, new, old_key, old in collisions:
        assert new_key == old_key
        assert period_of(new).overlaps(period_of(old))


def test_what_one_statement_may_insert_under_one_key_does_not_overlap(shared_data) -> None:
    compared = 0
    for row in rows(shared_data / "sql_periods" / "without_overlaps_dml.jsonl"):
        if not row["ok"] or not row["sql"].startswith("INSERT"):
            continue
        found = [
            (key, whole(read_period(KINDS["int4range"], literal)) if literal else daterange(first, last))
            for key, literal, first, last in ROW.findall(row["sql"])
        ]
        for (one, a), (other, b) in combinations(found, 2):
            if one == other:
                compared += 1
                assert not a.overlaps(b), row["sql"]
    assert compared == 18


def daterange(first: str, last: str) -> Range:
    return whole(build(KINDS["daterange"], read_day(first), read_day(last) if last else None))


def test_an_empty_period_is_refused_as_a_key_and_does_not_exist_here(shared_data) -> None:
    refused = [row for row in rows(shared_data / "sql_periods" / "without_overlaps_dml.jsonl") if not row["ok"]]
    empty = [row["sql"] for row in refused if row["error"].startswith("empty WITHOUT OVERLAPS")]
    assert len(empty) == 10
    assert all("'empty'" in sql or "'{}'" in sql for sql in empty)
    with pytest.raises(RejectedError, match="empty_interval"):
        Range((1, 0, 0), (1, 0, 0))
