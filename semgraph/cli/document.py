"""The JSON documents of the command line: every object by the names of its attributes, times at their precision."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import click

from semgraph.model import Neighbor, Path
from semgraph.temporal import Bound

__all__ = ["emit", "jsonable"]


def emit(value: object) -> None:
    """Print one document; escaped where the terminal is not one of UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    click.echo(json.dumps(jsonable(value), ensure_ascii=encoding != "utf8", indent=2))


def jsonable(value: object) -> Any:
    """The value as JSON can hold it."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (Neighbor, Path)):
        return {name: jsonable(getattr(value, name)) for name in value.__match_args__}
    if is_dataclass(value) and not isinstance(value, Bound) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return str(value)  # a time at its precision
