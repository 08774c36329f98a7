"""F8 and S17: a database file that was damaged, or made to harm whoever opens it."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Any

import apsw
from histories import Clock, ever, graph

from semgraph import KnowledgeGraph, SemgraphError, StoreError

from .calls import hurry
from .registry import Trial, check

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

PAGE = 4096
#: Seconds of the clock before a call counts as hanging.
PATIENCE = 30.0


def sound_store(path: Path) -> KnowledgeGraph:
    """A closed store with every kind of row in it, and what it answers."""
    with graph(path, durability="relaxed", clock=Clock()) as kg:
        for n in range(60):
            kg.add(f"host {n}", "runs_on", f"version {n % 7}", valid_from=f"20{n % 20:02}", text=f"line {n} said so")
        kg.add("Ann", "lives_in", "Oslo", valid_from="2020", said_at="2023")
        kg.add("Ann", "lives_in", "Bergen", valid_from="2020", said_at="2023", source="tool:hr")
        kg.names.alias("Annie", "Ann")
        kg.names.merge("host 1", "host 2")
        kg.retract(kg.add("Ann", "likes", "tea"))
        kg.add("Ann", "states", "so it is", because=[kg.add("Bo", "likes", "cake")], source="inferred")
        kg.veto(phrase="bluebird")
        kg.scoped("other").add("Maya", "lives_in", "Lima")
    return kg


def answers(path: Path) -> Any:
    """All that the store answers; a read-only handle, so that nothing is mended on the way."""
    with KnowledgeGraph(path, embedder=None, clock=Clock("2024-02-01T00:00:00Z"), read_only=True) as kg:
        claims = sorted((c.id, str(c.object), c.text, c.recorded_at.instant) for c in kg.claims(retracted=True))
        return ever(kg), claims, sorted(e.label for e in kg.entities()), [v.value for v in kg.vetoes]


# -- F8


@check("F8", "database-file fuzz", "5,000 damaged files: StoreCorrupt or correct", c=80, n=5_000)
def damage(trial: Trial) -> str:
    """Bytes, pages and lengths of a store are changed: it is refused or found damaged, or all it answers is right.

    A wrong answer counts as told where `verify` names the damage. No call may crash, hang or raise what is undeclared.
    """
    base = trial.folder / "base.db"
    sound_store(base)
    right, raw = answers(base), base.read_bytes()
    refused = told = same = 0
    path = trial.folder / "store.db"
    for _ in trial.steps():
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + suffix).unlink()
        data = _changed(trial.random, raw)
        path.write_bytes(data)
        with hurry(PATIENCE):
            verdict = _verdict(path, right)
        refused, told, same = refused + (verdict == "refused"), told + (verdict == "told"), same + (verdict == "same")
        if verdict == "wrong":
            shutil.copy(path, os.environ.get("SEMGRAPH_KEEP", os.devnull))
            raise AssertionError("a wrong answer from a damaged file that verify finds sound")
    return f"{trial.size} damaged files: {refused} refused, {told} found by verify, {same} answer as before, 0 wrong"


def _verdict(path: Path, right: Any) -> str:
    try:
        found = answers(path)
    except StoreError:
        return "refused"
    except SemgraphError:  # a damaged name, say, is none: an error, and verify must say why
        found = None
    try:
        with KnowledgeGraph(path, embedder=None, read_only=True) as kg:
            problems = kg.verify()
    except StoreError:
        return "refused"
    if problems:
        return "told"
    return "same" if found == right else "wrong"


def _changed(luck: Random, raw: bytes) -> bytes:
    data = bytearray(raw)
    kind = luck.randrange(10)
    if kind < 4:
        for _ in range(luck.choice((1, 1, 2, 5))):
            data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    elif kind < 6:
        place = luck.randrange(len(data))
        data[place : place + 40] = luck.randbytes(len(data[place : place + 40]))
    elif kind == 6:
        page = luck.randrange(1, len(data) // PAGE)
        data[page * PAGE : (page + 1) * PAGE] = luck.choice((bytes(PAGE), luck.randbytes(PAGE)))
    elif kind == 7:
        one, other = luck.randrange(len(data) // PAGE), luck.randrange(1, len(data) // PAGE)
        data[other * PAGE : (other + 1) * PAGE] = data[one * PAGE : (one + 1) * PAGE]
    elif kind == 8:
        del data[luck.randrange(len(data)) :]
    else:
        place = luck.randrange(100)
        data[place] = luck.randrange(256)
    return bytes(data)


# -- S17

SCHEMA_EDITS = {
    "trigger": "CREATE TRIGGER evil AFTER INSERT ON claim BEGIN DELETE FROM entity; END",
    "trigger on read tables": "CREATE TRIGGER evil BEFORE DELETE ON claim BEGIN SELECT RAISE(ABORT, 'no'); END",
    "view": "CREATE VIEW evil AS SELECT * FROM claim",
    "view over a function": "CREATE VIEW evil AS SELECT load_extension('/tmp/evil.so')",
    "table": "CREATE TABLE evil (x)",
    "index": "CREATE INDEX evil ON claim (text)",
    "index on an expression": "CREATE INDEX evil ON claim (lower(text))",
    "column": "ALTER TABLE claim ADD COLUMN evil TEXT DEFAULT 'x'",
    "full-text table": "CREATE VIRTUAL TABLE evil USING fts5(x)",
    "dropped index": None,
}
REWRITES = (
    ("claim", "text TEXT", "text TEXT CHECK (load_extension('evil'))"),
    ("claim", "text TEXT", "text TEXT DEFAULT (randomblob(1000000000))"),
    ("entity", "label", "label2"),
    ("claim", "STRICT", ""),
)


@check("S17", "hostile database", "no trigger, view or extension runs; foreign schema refused", c=12, n=200)
def hostile(trial: Trial) -> str:
    """A store with anything more in its schema, or anything else, is refused untouched, for reading and for writing."""
    base, path = trial.folder / "base.db", trial.folder / "store.db"
    sound_store(base)
    names, tried = [*SCHEMA_EDITS, *range(len(REWRITES))], 0
    for done in trial.steps():
        shutil.copy(base, path)
        _edit(path, names[done % len(names)], trial.random)
        before = path.read_bytes()
        for read_only in (True, False):
            try:
                KnowledgeGraph(path, read_only=read_only, embedder=None).close()
            except StoreError as error:
                assert "evil" not in str(error), str(error)
            else:
                raise AssertionError(f"opened with {names[done % len(names)]!r} in its schema")
            tried += 1
        assert path.read_bytes() == before
    _nothing_loads(base)
    return f"{tried} openings of stores with {len(names)} kinds of foreign schema: all refused, file untouched"


def _edit(path: Path, how: str | int, luck: Random) -> None:
    connection = apsw.Connection(str(path))
    if how == "dropped index":
        named = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").fetchall()
        connection.execute(f"DROP INDEX {luck.choice(named)[0]}")
    elif isinstance(how, str):
        connection.execute(SCHEMA_EDITS[how] or "")
    else:
        table, old, new = REWRITES[how]
        connection.pragma("writable_schema", 1)
        (text,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        assert old in text
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text.replace(old, new, 1), table))
    connection.pragma("journal_mode", "delete")
    connection.close()


def _nothing_loads(path: Path) -> None:
    """The connection of a store loads no extension, and heeds neither triggers nor views."""
    with KnowledgeGraph(path, embedder=None) as kg:
        connection = kg._session.store._connection
        for statement in ("SELECT load_extension('x')", "CREATE VIEW evil AS SELECT 1"):
            try:
                connection.execute(statement)
            except apsw.SQLError:
                continue
            assert "evil" not in str(connection.execute("SELECT name FROM sqlite_temp_schema").fetchall())
            try:
                connection.execute("SELECT * FROM evil")
            except apsw.SQLError:
                connection.execute("DROP VIEW evil")
                continue
            raise AssertionError("a view of the file was read")
