"""Lines for a terminal or a pipe: cells of the right width, aligned columns, colour, nothing that drives a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "clean",
    "count",
    "folded",
    "on_terminal",
    "pad",
    "paint",
    "pairs",
    "table",
    "unicode_out",
    "width",
    "wrapped",
]

_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "name": {"bold": True},
    "dim": {"dim": True},
    "good": {"fg": "green"},
    "doubt": {"fg": "yellow"},
    "bad": {"fg": "red"},
    "command": {"fg": "cyan"},
}
_NARROW: Final = 24  # a column that is narrower is not worth wrapping in
_PLAIN_WIDTH: Final = 80


def clean(text: str) -> str:
    """A text in one line, with controls, direction marks and lone surrogates spelled out."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def paint(text: str, style: str) -> str:
    """The text in a style; where there is no terminal, or no colour is wanted, printing takes it off again."""
    if not text or not style:
        return text
    from click import style as styled

    return styled(text, **_STYLES[style])


# -- where it goes


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):
        return False


def columns() -> int:
    """How wide a line may be: as the terminal, else as COLUMNS says, else 80."""
    if on_terminal():
        return max(40, shutil.get_terminal_size().columns)
    return _asked_columns() or _PLAIN_WIDTH


def bounded() -> bool:
    """Whether there is an edge to keep within: that of a terminal, or the one that COLUMNS sets."""
    return on_terminal() or _asked_columns() is not None


def _asked_columns() -> int | None:
    given = os.environ.get("COLUMNS", "")
    return max(40, int(given)) if given.isdecimal() and len(given) < 5 else None


def unicode_out() -> bool:
    """Whether the output can take characters beyond ASCII."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    return encoding.startswith("utf")


# -- cells


def width(text: str) -> int:
    """How many cells of a terminal it takes."""
    if "\x1b" in text:  # paint of ours: data has none left
        from click import unstyle

        text = unstyle(text)
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, cells: int) -> str:
    """The text with blanks up to so many cells."""
    return text + " " * (cells - width(text))


def wrapped(text: str, cells: int, indent: str = "") -> list[str]:
    """The text in lines of at most so many cells, broken at blanks where there are some; later ones indented."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        room = cells - (len(indent) if lines else 0)
        longer = f"{line} {word}" if line else word
        if width(longer) <= room:
            line = longer
            continue
        if line:
            lines.append((indent if lines else "") + line)
        *parts, line = _chopped(word, cells - len(indent))
        lines += [(indent if lines else "") + part for part in parts]
    return [*lines, (indent if lines else "") + line]


def _chopped(word: str, cells: int) -> list[str]:
    if width(word) <= cells:
        return [word]
    from rich.cells import chop_cells

    return chop_cells(word, max(cells, 2))


def folded(line: str, indent: str = "  ") -> Iterator[str]:
    """A line, on a terminal in as many lines as it needs."""
    if on_terminal():
        yield from wrapped(line, columns(), indent)
    else:
        yield line


# -- tables


def table(rows: Iterable[Sequence[str]], indent: str = "", styles: Sequence[str] = ()) -> Iterator[str]:
    """Rows with their columns aligned, empty columns left out.

    On a terminal cells are wrapped below themselves where the line would be too long, so that columns stay columns;
    elsewhere a row is a line.
    """
    kept = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*kept, strict=True)]
    shown = [n for n, cells in enumerate(widths) if cells]
    paints = [styles[n] if n < len(styles) else "" for n in shown]
    limit = columns() - len(indent) if on_terminal() else 0
    room = [widths[n] for n in shown]
    below = bool(limit) and _fitted(room, limit)
    for row in kept:
        cells = [row[n] for n in shown]
        yield from _row(cells, room, indent, paints, wrap=bool(limit))
        if below and row[shown[-1]]:
            for part in wrapped(row[shown[-1]], limit - 4):
                yield f"{indent}    {paint(part, paints[-1])}"


def _fitted(room: list[int], limit: int) -> bool:
    """Make the columns fit into so many cells; true where the last of them has to go below the others."""
    gaps = 2 * (len(room) - 1)
    if sum(room) + gaps <= limit:
        return False
    left = limit - gaps - sum(room[:-1])
    if left >= _NARROW:
        room[-1] = left
        return False
    fits = sum(room[:-1]) + gaps - 2 <= limit
    below = len(room) == 2 or (len(room) > 2 and (fits or max(room[:-1]) < limit - _NARROW))
    if below:
        room.pop()
        gaps -= 2
    while sum(room) + gaps > limit and max(room) > _NARROW // 2:
        widest = room.index(max(room))
        room[widest] = max(_NARROW // 2, room[widest] - (sum(room) + gaps - limit))
    return below


def _row(cells: Sequence[str], room: Sequence[int], indent: str, styles: Sequence[str], *, wrap: bool) -> Iterator[str]:
    """A row in as many lines as its longest cell takes; cells without a column are left out."""
    parts = [wrapped(cell, cells_of) if wrap else [cell] for cell, cells_of in zip(cells, room, strict=False)]
    for n in range(max(map(len, parts), default=0)):
        line, blank = indent, 0
        for part, cells_of, style in zip(parts, room, styles, strict=False):
            cell = part[n] if n < len(part) else ""
            if cell:
                line += " " * blank + paint(cell, style)
                blank = 0
            blank += cells_of - width(cell) + 2
        yield line


def pairs(words: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Names and values, one pair a line, values aligned, nested mappings below their name."""
    plain = [name for name, value in words.items() if not isinstance(value, dict)]
    cells = max((width(_spoken(name)) for name in plain), default=0) + 1
    for name, value in words.items():
        if not isinstance(value, dict):
            yield f"{indent}{pad(_spoken(name) + ':', cells)} {clean(_value(value))}"
        elif value:
            yield f"{indent}{_spoken(name)}:"
            yield from pairs(value, indent + "  ")


def _spoken(name: str) -> str:
    return clean(name)


def _value(value: object) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def count(number: int, noun: str) -> str:
    """So many of a thing."""
    first, _, rest = noun.partition(" ")
    if number != 1:
        first = f"{first[:-1]}ies" if first.endswith("y") else f"{first}es" if first.endswith("o") else f"{first}s"
    return f"{number:,} {first} {rest}".rstrip()
