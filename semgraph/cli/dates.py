"""Dates as people write them: read, and said back on standard error where they were not in figures already."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from semgraph.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semgraph.dates.reading import Reading

__all__ = ["moment", "reason_of", "times"]

_MISREAD = "semgraph.misread"
_TIMES = ("valid_from", "valid_to", "valid_through", "said_at", "valid_at", "at")
_STARTS, _ENDS = {"since", "after"}, {"until", "before"}


def times(given: Mapping[str, Any], zone: str | None) -> dict[str, Any]:
    """The words of a command with their dates read; one that goes from a date to another gives both ends.

    What is not understood goes on as it is, to be refused where refusals are kept.
    """
    found = dict(given)
    for name in _TIMES:
        if not isinstance(found.get(name), str):
            continue
        text = found[name]
        reading = _read(text, zone)
        if reading is None:
            continue
        if name == "valid_from" and reading.kind == "from" and not {"valid_to", "valid_through"} & found.keys():
            found |= {"valid_from": reading.start, "valid_to": reading.end}
            _say(text, f"from {reading.start} until {reading.end}")
        else:
            found[name] = _one_bound(name, text, reading)
            _say(text, str(found[name]))
    return found


def moment(text: str, zone: str | None) -> Any:
    """The date that a text means, of a read."""
    reading = _read(text, zone)
    if reading is None:
        return text
    found = _one_bound("", text, reading)
    _say(text, str(found))
    return found


def _read(text: str, zone: str | None) -> Reading | None:
    """What words say of time; None for a date in figures, which the graph reads, and for what can't be read."""
    from semgraph.temporal import parse_bound

    try:
        parse_bound(text, timezone=zone)
    except RejectedError as plain:
        if plain.code != "bad_time":
            return None
    else:
        return None
    from semgraph.dates import read_when

    try:
        return read_when(text, reference=_now(zone))
    except RejectedError as error:
        context = click.get_current_context(silent=True)
        if context is not None:
            context.find_root().meta[_MISREAD] = error
        return None


def _now(zone: str | None) -> datetime | None:
    if zone is None:
        return None
    from zoneinfo import ZoneInfo

    return datetime.now(ZoneInfo(zone))


def _one_bound(name: str, text: str, reading: Reading) -> Any:
    """The one bound for an option; a usage error where the words give another kind of thing."""
    kind = reading.kind
    if kind in {"from", "between"}:
        ways = f"--valid-from {reading.start} --valid-to {reading.end}" if name.startswith("valid_") else "one date"
        raise click.UsageError(f"{text!r} is a stretch of time: give {ways}")
    if name == "valid_from" and kind in _ENDS:
        raise click.UsageError(f"{text!r} is an end and no start: give it to --valid-to")
    if name in {"valid_to", "valid_through"} and kind in _STARTS:
        raise click.UsageError(f"{text!r} is a start and no end: give it to --valid-from")
    if not name.startswith("valid_") and kind in _ENDS | _STARTS:
        raise click.UsageError(f"{text!r} is no moment: give the date itself")
    return reading.start or reading.end


def _say(text: str, meant: str) -> None:
    """What was understood, beside the data."""
    if sys.stderr is not None:
        from semgraph.cli.text import clean

        click.echo(clean(f'semgraph: understood "{text}" as {meant}'), err=True)


def reason_of(error: RejectedError, context: click.Context) -> RejectedError:
    """The refusal of a date in the words of whoever tried hardest to read it."""
    found = context.find_root().meta.get(_MISREAD)
    return found if error.code == "bad_time" and isinstance(found, RejectedError) else error
