"""Where rows are kept: one protocol, SQLite in a file or in memory, and a reference in plain Python for tests."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from semgraph.errors import ConfigError

if TYPE_CHECKING:
    from semgraph.store.protocol import Store

__all__ = ["open_store"]


def open_store(
    target: str | os.PathLike[str], *, read_only: bool = False, durability: Literal["full", "relaxed"] = "full"
) -> Store:
    """The store at the target: a path, made if absent, or ":memory:".

    Args:
        target: A path of a file whose folder exists, or ":memory:" for a store that ends with its handle.
        read_only: Refuse writes; the file must exist.
        durability: "full" survives loss of power; "relaxed" may then lose the last transactions, never a part of one.

    >>> store = open_store(":memory:")
    >>> store.create_scope("default").name
    'default'
    >>> store.close()
    """
    from semgraph.store.sqlite import SqliteStore

    if durability not in {"full", "relaxed"}:
        raise ConfigError(f"durability is {durability!r}; it must be 'full' or 'relaxed'")
    path = _path(target)
    if path is None and read_only:
        raise ConfigError("a store in memory starts empty, so read_only makes no sense; name a file")
    return SqliteStore(path, read_only=read_only, durability=durability)


def _path(target: str | os.PathLike[str]) -> Path | None:
    text: str | bytes = os.fspath(target)
    if text == ":memory:":
        return None
    if not isinstance(text, str) or not text or "\0" in text or not _is_unicode(text):
        raise ConfigError(f"the target of a store is {text!r}; it must be a path or ':memory:'")
    if re.match(r"postgres(ql)?://", text):
        raise ConfigError("PostgreSQL is not in this version of semgraph; use a path or ':memory:'")
    if scheme := re.match(r"[a-z][a-z0-9+.-]+://", text):
        raise ConfigError(f"a store can't be at a {scheme[0]} address; use a path or ':memory:'")
    # Absolute, so that it stays the same file when the process changes its folder.
    return Path(os.path.abspath(text))  # noqa: PTH100  # Path.absolute keeps `..`, Path.resolve follows links


def _is_unicode(text: str) -> bool:
    """Whether SQLite can be given the name: it takes UTF-8, the system any bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
