"""What the shell offers: names of the store that begin like the word at hand, where that is cheap and safe."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

    from semgraph.engine import KnowledgeGraph

__all__ = ["entities", "predicates"]

_MOST = 50
_FEW = 2000  # entities in a store of which all are offered for an empty word


def entities(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Entities with a name that begins so."""
    try:
        return [CompletionItem(_for_shell(name)) for name in _names(ctx, incomplete)]
    except Exception:  # noqa: BLE001 - whatever is wrong with the store, a key press is not the time to say so
        return []


def predicates(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Registered predicates that begin so, and those in use."""
    try:
        with _opened(ctx) as kg:
            known = sorted(name for name in kg.predicates if name.startswith(incomplete))
    except Exception:  # noqa: BLE001 - see above
        return []
    return [CompletionItem(name) for name in known]


def _names(ctx: click.Context, incomplete: str) -> Iterator[str]:
    with _opened(ctx) as kg:
        if not incomplete and len(kg) > _FEW:
            return
        seen = 0
        for entity in kg.entities(incomplete or None):
            if entity.label.casefold().startswith(incomplete.casefold()):
                yield entity.label
                seen += 1
            if seen == _MOST:
                return


def _opened(ctx: click.Context) -> KnowledgeGraph:
    """The store that the words so far name, only to be read."""
    from semgraph.cli.app import default_file_path
    from semgraph.cli.settings import Settings
    from semgraph.engine import KnowledgeGraph

    given = ctx.find_root().params
    settings = Settings({"db": given.get("db"), "scope": given.get("scope")})
    path = settings.get("db") or default_file_path()
    return KnowledgeGraph(path, scope=settings.get("scope") or "default", read_only=True)


def _for_shell(name: str) -> str:
    """The name as the script of the shell hands it on: bash takes it as typed, after one round of backslashes."""
    if os.environ.get("_SEMGRAPH_COMPLETE", "").startswith("bash"):
        return re.sub(r"([^\w@%+:,./-])", r"\\\\\\\1", name)
    return name
