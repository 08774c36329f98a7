"""The words of the library in those of the command line: messages that name methods and keywords, and commands to type.

The library writes its messages for whoever calls it: `settle()`, `valid_at=`. Here they become what one types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from re import Match

__all__ = ["command_words", "typed"]

_METHODS: Final = {
    "add", "set", "remember", "end", "deny", "correct", "retract", "unretract", "settle", "forget", "veto", "value",
    "timeline", "history", "conflicts", "explain", "alias", "unalias", "merge", "unmerge", "declare", "keep_apart",
    "suggest", "verify", "stats", "backup", "purge", "rejected", "recall", "ask", "neighbors", "paths", "match",
    "profile", "about",
}  # fmt: skip
_OTHER_NAMES: Final = {
    "values": "list", "facts": "list", "claims": "list --ids", "add_all": "import", "candidates": "entities",
    "define": "define",
}  # fmt: skip
_KEYWORDS: Final = {
    "valid_from", "valid_to", "valid_through", "valid_at", "known_at", "said_at", "source", "source_ref", "conflict",
    "format", "homonym", "primary", "phrase", "entity", "predicate", "fact", "claim", "everything", "symmetric",
    "timezone", "cardinality", "at", "reason", "qualifiers",
}  # fmt: skip
_PHRASES: Final = (
    (re.compile(r"\bkg\.vetoes\b"), "`semgraph veto --list`"),
    (re.compile(r"pass one of \.candidates, or a name"), "give one of these ids, or a name"),
    (re.compile(r"pass one of v\.candidates\(name\) instead of the name"), "give one of these ids instead of the name"),
    (re.compile(r"the parameters of add\(\)"), "the parameters of a claim"),
    (re.compile(r"only end\(\) may leave it out"), "only `semgraph end` may leave it out"),
    (
        re.compile(r"ask kg\.at\(when\) or the graph itself, or use 'overlap'"),
        "leave out --from and --to, or use overlap",
    ),
    (re.compile(r"ask the graph itself or kg\.during\(\)"), "leave --at out, or give --from and --to"),
    (re.compile(r"conflict=, one of conflicts\(\),"), "--conflict ID, as `semgraph conflicts --ids` shows it,"),
    (re.compile(r"predicates\.define\('([^']*)', cardinality='(\w+)'\)"), r"`semgraph define \1 --cardinality \2`"),
    (re.compile(r"\bor \.?(?:instant|to_datetime)\b.*$"), ""),
    (re.compile(r"\bwith base_url\b"), "with --base-url"),
    (re.compile(r"KnowledgeGraph\(.*?timezone=['\"]?([\w/]+)['\"]?\)"), r"--timezone \1"),
)
_CALL: Final = re.compile(r"(?<![\w.])(?:kg\.|v\.)?(?:names\.|predicates\.)?([a-z_]+)\(\)")
_KEYWORD: Final = re.compile(r"(?<![\w-])([a-z_]+)=(?:(True)|('[^']*'))?(?![\w=])")
_BARE: Final = re.compile(r"(?<![\w'\"-])(valid_(?:from|to|through|at)|known_at|said_at|source_ref)(?![\w'\"=])")


def command_words(message: str) -> str:
    """A message of the library, for somebody who types commands.

    >>> command_words("use values() to get them all; pass valid_at= for another time")
    'use `semgraph list` to get them all; pass --valid-at for another time'
    """
    for pattern, words in _PHRASES:
        message = pattern.sub(words, message)
    message = _CALL.sub(_command, message)
    message = _KEYWORD.sub(_option, message)
    return _BARE.sub(lambda found: f"--{found[1].replace('_', '-')}", message)


def _command(found: Match[str]) -> str:
    name = found[1]
    if name in _METHODS:
        return f"`semgraph {name.replace('_', '-')}`"
    return f"`semgraph {_OTHER_NAMES[name]}`" if name in _OTHER_NAMES else found[0]


def _option(found: Match[str]) -> str:
    if found[1] not in _KEYWORDS:
        return found[0]
    return f"--{found[1].replace('_', '-')}" + (f" {found[3][1:-1]}" if found[3] else "")


# -- commands to type


def typed(root: Sequence[str], *words: str, options: Sequence[str] = ()) -> str:
    """A command line that a shell reads back as these words: options before `--` where a word looks like one.

    >>> typed(["--db", "my notes.db"], "settle", "Maya", "lives_in", "choose", "New York")
    "semgraph --db 'my notes.db' settle Maya lives_in choose 'New York'"
    """
    command, *rest = words
    dashes = ["--"] if any(word.startswith("-") for word in rest) else []
    return " ".join(map(_quoted, ["semgraph", *root, command, *options, *dashes, *rest]))


def _quoted(word: str) -> str:
    """The word as a POSIX shell reads it back; letters of any script need no quotes."""
    if word and not re.search(r"[^\w@%+:,./-]", word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
