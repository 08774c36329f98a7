"""S17: a database file that was made to harm whoever opens it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import apsw
from histories import Clock, graph

from semgraph import KnowledgeGraph, StoreError

from . import breaks
from .registry import Trial, check

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random


def sound_store(path: Path) -> None:
    """Make a store with every kind of row in it."""
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


@check(
    "S17",
    "hostile database",
    "no trigger, view or extension runs; foreign schema refused",
    c=12,
    n=200,
    broken=breaks.schema,
)
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
            said = _refusal(path, read_only=read_only)
            assert said, f"opened with {names[done % len(names)]!r} in its schema"
            assert "evil" not in said, said
            tried += 1
        assert path.read_bytes() == before
    _nothing_loads(base)
    return f"{tried} openings of stores with {len(names)} kinds of foreign schema: all refused, file untouched"


def _refusal(path: Path, *, read_only: bool) -> str:
    try:
        KnowledgeGraph(path, read_only=read_only, embedder=None).close()
    except StoreError as error:
        return str(error)
    return ""


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
