"""Tokens that let a call through which removes or decides something: for one use, one call and five minutes."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from semgraph.serving.faults import CallRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LIFETIME", "Tokens"]

LIFETIME: Final = 300.0  # seconds
_MOST: Final = 100  # that wait to be used; the oldest give way


class Tokens:
    """What a dry run gives out and the real run uses up; the clock counts seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._given: dict[str, tuple[bytes, float]] = {}
        self._lock = threading.Lock()

    def give(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """A token for this call with exactly these arguments."""
        token = secrets.token_urlsafe(18)
        with self._lock:
            while len(self._given) >= _MOST:
                del self._given[next(iter(self._given))]
            self._given[token] = (_bound(tool, arguments), self._clock() + LIFETIME)
        return token

    def use(self, token: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Nothing; CallRefused where the token is unknown, used, too old, or of another call. It is used up anyway."""
        with self._lock:
            bound, end = self._given.pop(token, (b"", 0.0))
        if not bound:
            raise CallRefused("bad_token", "the token is unknown or was used; call again without one for a dry run")
        if self._clock() >= end:
            raise CallRefused("bad_token", "the token is older than five minutes; call again without one")
        if not secrets.compare_digest(bound, _bound(tool, arguments)):
            raise CallRefused("bad_token", "the token is of a call with other arguments; call again without one")


def _bound(tool: str, arguments: Mapping[str, Any]) -> bytes:
    text = json.dumps([tool, dict(arguments)], sort_keys=True, ensure_ascii=True, allow_nan=True)
    return hashlib.sha256(text.encode()).digest()
