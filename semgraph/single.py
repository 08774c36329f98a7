"""`semgraph value SUBJECT PREDICATE` from a cold shell, without loading the rest: an exact shortcut of that command.

Most of such a command's time goes into starting. This module imports nothing but the driver, answers when everything
about the question is plain, and gives None for whatever else there is: options, settings, an unknown or shared name,
a predicate that reads as another, merges, several values, none, a literal, any error. The full command then tells.
It knows the tables of schema version 1 (`semgraph.store`); a file of another version is left to the full command.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import apsw

__all__ = ["answer"]

_APPLICATION_ID, _VERSION = 1936026983, 1
_ALWAYS, _OPEN = -(2**63), 2**63 - 1
_ID = 17  # characters of an id, which can be given in place of a name
_TURNS = ('"inverse_of"', '"opposite"', '"symmetric"')


class _Elsewhere(Exception):
    """This is nothing for the shortcut."""


def answer(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The line that the command line prints for these arguments, None where the full command has to be run."""
    try:
        path, subject, predicate = _asked(arguments, environment)
        if _plain_predicate(predicate) and subject.isascii() and subject.replace(" ", "").isalnum():
            return _answered(path, subject.lower(), predicate)
    except Exception:  # noqa: BLE001 - whatever it is, the full command says it better
        return None
    return None


def _asked(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str, str]:
    """File, subject and predicate, where nothing but these is said and no settings are in force."""
    given = list(arguments)
    path = environment.get("SEMGRAPH_DB", "")
    if given[:1] == ["--db"]:
        path, given = given[1], given[2:]
    settings = [name for name, value in environment.items() if name.startswith("SEMGRAPH_") and value]
    if settings not in ([], ["SEMGRAPH_DB"]) or "_SEMGRAPH_COMPLETE" in environment:
        raise _Elsewhere
    if "SEMGRAPH_CONFIG" not in environment and not _without_file(environment):
        raise _Elsewhere
    command, subject, predicate = given
    if command != "value" or len(subject) == _ID or not os.path.isfile(path):  # noqa: PTH113 - pathlib takes longer to load than the answer
        raise _Elsewhere
    return path, subject, predicate


def _without_file(environment: Mapping[str, str]) -> bool:
    """Whether there is certainly no file of settings."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(environment["HOME"], ".config")  # noqa: PTH118
    return sys.platform == "linux" and not os.path.exists(os.path.join(home, "semgraph"))  # noqa: PTH110, PTH118


def _plain_predicate(name: str) -> bool:
    """Whether the name is a key as it stands, and the starter vocabulary reads it neither turned nor as another."""
    from semgraph.starter import STARTER

    words = name.split("_")
    if not name.isascii() or name != name.lower() or not all(word.isalnum() for word in words):
        return False
    if any(name in (entry.get("aliases") or ()) for entry in STARTER.values()):  # type: ignore[operator]
        return False
    return not any(turn.strip('"') in STARTER.get(name, {}) for turn in _TURNS)


def _answered(path: str, key: str, predicate: str) -> str:
    import apsw

    from semgraph.pages import layer

    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=layer())
    try:
        connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; BEGIN")
        return _found(connection, key, predicate)
    finally:
        connection.close(force=True)


def _found(connection: apsw.Connection, key: str, predicate: str) -> str:
    look: Any = connection.execute
    checks = (look("PRAGMA application_id").get, look("PRAGMA user_version").get)
    if (
        checks != (_APPLICATION_ID, _VERSION)
        or look("SELECT 1 FROM sqlite_schema WHERE type IN ('view', 'trigger')").get
    ):
        raise _Elsewhere
    ((scope, last_recorded),) = look("SELECT scope, last_recorded FROM scope WHERE name = 'default'").fetchall()
    if look("SELECT 1 FROM redirect WHERE scope = ? LIMIT 1", (scope,)).get:
        raise _Elsewhere
    ((number,),) = look("SELECT n FROM symbol WHERE value = ?", (predicate,)).fetchall()
    for name, spec in look("SELECT predicate, spec FROM definition WHERE scope = ?", (scope,)):
        if any(turn in spec for turn in _TURNS) if name == number else f'"{predicate}"' in spec:
            raise _Elsewhere
    names = "SELECT DISTINCT entity FROM alias WHERE scope = ? AND key = ? AND retracted_at = ?"
    ((subject,),) = look(names, (scope, key, _OPEN)).fetchall()
    now = max(time.time_ns() // 1000, last_recorded)
    (held,) = [ref for ref, start, end in _facts(connection, (scope, subject, number)) if start <= now < end]
    return _label(connection, scope, held)


def _facts(connection: apsw.Connection, fluent: tuple[Any, ...]) -> list[Any]:
    """Object, start and end of each positive fact."""
    where = "WHERE scope = ? AND subject = ? AND predicate = ?"
    own = f"SELECT object, valid_from, valid_to FROM fact {where} AND negative = 0"  # noqa: S608 - text of ours
    found: list[Any] = connection.execute(own, fluent).fetchall()
    cast = (
        "SELECT object, valid_from, valid_to, said_at, value FROM claim JOIN symbol ON n = mould "  # noqa: S608
        f"{where} AND mould IS NOT NULL"
    )
    carried: list[Any] = connection.execute(cast, fluent).fetchall()
    for ref, start, end, said_at, mould in carried:
        head = mould.partition(" ")[0]
        begun = {"f": start, "s": said_at}[head[1]]
        found.append((ref, begun, begun + int(head[2:]) if head[2:] else _OPEN if end is None else end))
    if any(start is None or start == _ALWAYS for _, start, _ in found):  # perhaps nobody knows when it began
        raise _Elsewhere
    return found


def _label(connection: apsw.Connection, scope: Any, entity: Any) -> str:
    """The name of an entity that has had one primary name only, and one that any terminal shows."""
    ((kept,),) = connection.execute("SELECT value FROM symbol WHERE n = ?", (entity,)).fetchall()
    names = (
        "SELECT name, value FROM alias INDEXED BY alias_by_entity LEFT JOIN symbol ON n = name "
        "WHERE scope = ? AND entity = ? AND retracted_at = ? AND kind <> (SELECT n FROM symbol WHERE value = 'alias')"
    )
    if not connection.execute("SELECT 1 FROM symbol WHERE value = 'alias'").get:
        names = names.partition("AND kind")[0]
    ((own, word),) = connection.execute(names, (scope, entity, _OPEN)).fetchall()
    label = word if isinstance(own, int) else own
    if not isinstance(kept, int) or not isinstance(label, str) or not (label.isascii() and label.isprintable()):
        raise _Elsewhere
    return label
