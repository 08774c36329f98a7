"""Results as a table that can be pasted into a document, and progress on a terminal or in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .registry import Check
    from .running import Result

_HEAD = ("id", "what", "target", "measured", "seed", "seconds", "")


def table(results: Sequence[tuple[Check, Result]]) -> str:
    """The results in Markdown, its columns aligned."""
    rows = [_HEAD, *(_row(check, result) for check, result in results)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * max(width, 3) for width in widths) + " |")
    return "\n".join(lines)


def _row(check: Check, result: Result) -> tuple[str, ...]:
    figure = result.figure if result.passed else result.figure.strip().splitlines()[-1][:120]
    cells = (check.id, check.title, check.target, figure, str(result.seed), f"{result.seconds:.0f}")
    verdict = "pass" if result.passed else "FAIL"
    return tuple(cell.replace("|", "\\|") for cell in (*cells, verdict))


def progress(check: Check) -> Callable[[int, int], None]:
    """What to call with how far the check is: one line that moves on a terminal, a line a minute in a log."""
    began, moving = time.monotonic(), sys.stderr.isatty()
    last = began

    def tell(done: int, whole: int) -> None:
        nonlocal last
        now = time.monotonic()
        if moving or now - last >= 60:
            last = now
            line = f"{check.id:4} {done}/{whole}  {now - began:.0f} s"
            sys.stderr.write(f"\r{line}\x1b[K" if moving else f"{line}\n")
            sys.stderr.flush()

    return tell


def tell(check: Check, result: Result, *, again: bool = False) -> None:
    """A line for a finished check; for a failed one all that is known, with the command that repeats it."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    before = " (finished earlier)" if again else f" in {result.seconds:.0f} s"
    verdict = f"{result.figure}{before}" if result.passed else f"FAILED{before}"
    sys.stderr.write(f"{start}{check.id:4} {check.title}: {verdict}\n")
    if not result.passed:
        sys.stderr.write(f"{result.figure}\nagain: python -m tests.reliability --tier {result.tier} --only {check.id}")
        sys.stderr.write(f" --seed {result.seed}\n")
