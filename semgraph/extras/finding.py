"""JSON in what a language model wrote: whole, in a fence, after its thoughts, or cut off in the middle."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

__all__ = ["Found", "claims_in"]

_KEY: Final = "claims"
_THOUGHTS: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_BEGUN: Final = re.compile(rf'\{{\s*"{_KEY}"\s*:')
_MOST_TEXT: Final = 1 << 20  # characters: no answer is longer
_MOST_TRIES: Final = 5_000
_decoder = json.JSONDecoder()


class Found(NamedTuple):
    """The objects that look like claims; `whole` says that the answer was not cut off, `json` that it had any JSON."""

    items: list[dict[str, Any]]
    whole: bool
    json: bool


def claims_in(text: str) -> Found:
    r"""What a model's answer lists as claims, as far as it can be read.

    >>> claims_in('Sure! ```json\n{"claims": [{"subject": "a", "predicate": "b"}]}\n```').items
    [{'subject': 'a', 'predicate': 'b'}]
    >>> claims_in('{"claims": [{"subject": "a", "predicate": "b"}, {"subject": "c", "pre')
    Found(items=[{'subject': 'a', 'predicate': 'b'}], whole=False, json=True)
    """
    text = _THOUGHTS.sub("", text[:_MOST_TEXT])
    items: list[dict[str, Any]] = []
    whole, seen, at, tries = True, False, _opening(text, 0), 0
    while at >= 0 and tries < _MOST_TRIES:
        tries += 1
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            whole = whole and text[at] != "{"  # a bracket may stand in a sentence
            at = _opening(text, at + 1)
            continue
        listed = _listed(value)
        seen = seen or listed is not None
        items += listed or []
        at = _opening(text, end)
    begun = seen or bool(items) or _BEGUN.search(text) is not None
    return Found(items, whole or not begun, begun)


def _opening(text: str, start: int) -> int:
    places = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(places, default=-1)


def _listed(value: object) -> list[dict[str, Any]] | None:
    """The claims of a document: its list of them, a bare list, or the one that it is; None if it holds none."""
    if isinstance(value, dict):
        if isinstance(value.get(_KEY), list):
            return [one for one in value[_KEY] if isinstance(one, dict)]
        if "subject" in value and "predicate" in value:
            return [value]
        return next((found for inner in value.values() if (found := _inner(inner)) is not None), None)
    return _inner(value)


def _inner(value: object) -> list[dict[str, Any]] | None:
    if isinstance(value, dict) and isinstance(value.get(_KEY), list):
        return [one for one in value[_KEY] if isinstance(one, dict)]
    if isinstance(value, list) and all(isinstance(one, dict) and "subject" in one for one in value):
        return value
    return None
