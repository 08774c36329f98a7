"""S17, F8: a database file that was made to harm whoever opens it, or damaged with right checksums all the same."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
from bounded_work import hurry
from histories import Clock, ever, graph
from sqlite_files import connected

from semgraph import KnowledgeGraph, SemgraphError, StoreError, pages

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
    connection = connected(path)
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


# -- F8

#: Seconds after which a file counts as one that hangs its reader.
PATIENCE = 30.0
#: Where an altered row can't be told from another one: what it says is the answer. Claims have digests, and `verify`
#: computes facts from them anew.
TAKEN_AS_TOLD = {"symbol", "scope", "entity", "alias", "justification", "retraction", "redirect", "veto", "a row less"}
JUNK = (
    *(None, 0, 1, -1, 7, 1 << 62, -(1 << 63), (1 << 63) - 1, 0.5, float("inf"), 1e308, b"", b"\xff\xfe", bytes(12)),
    *("", "\0", "x", "[", "{}", "null", "[[]]", '{"k": 1}', "[" * 5_000, "l:", "e", "e99", "2020", "9" * 5_000),
    "\U000e0041",
)


@check(
    "F8",
    "database-file fuzz",
    "5,000 damaged files: StoreCorrupt or correct",
    c=30,
    n=5_000,
    broken=breaks.damage,
)
def damage(trial: Trial) -> str:
    """A store whose bytes, pages, schema or rows were changed is refused, told by `verify`, or answers as before.

    Half of the damage of bytes is under right checksums, and all of schema and rows. A row that says something else
    and has no digest is no damage that anybody could see; nor may reading it raise what is undeclared. A file that is
    refused keeps its bytes.
    """
    base, path = trial.folder / "base.db", trial.folder / "store.db"
    sound_store(base)
    right, raw = answers(base), base.read_bytes()
    outcomes: Counter[str] = Counter()
    for done in trial.steps():
        for left in trial.folder.glob("store.db*"):
            left.unlink()
        kind = list(_KINDS)[done % len(_KINDS)]
        path.write_bytes(raw)
        touched = _KINDS[kind](path, trial.random)
        with hurry(PATIENCE):
            found = verdict(path, right)
        assert found != "otherwise" or touched in TAKEN_AS_TOLD, f"{kind}, try {done}: a wrong answer, not told"
        outcomes[found] += 1
    told = ", ".join(f"{outcomes[verdict]} {how}" for verdict, how in _VERDICTS.items())
    return f"{trial.size} damaged files: {told}; 0 wrong"


_VERDICTS = {
    "refused": "refused",
    "told": "found by verify",
    "same": "answer as before",
    "otherwise": "tell of rows that say something else",
}


def verdict(path: Path, right: Any) -> str:
    """What comes of a file, read and then written; raises where anything undeclared does."""
    before, found, problems = path.read_bytes(), None, []
    try:
        found = answers(path)
    except StoreError:
        problems = ["refused"]
    except SemgraphError:  # a damaged name, say, is none: verify must say why
        problems = []
    try:
        with KnowledgeGraph(path, embedder=None, read_only=True) as kg:
            problems = problems or list(kg.verify())
    except StoreError:
        problems = ["refused"]
    assert path.read_bytes() == before, "changed by reading"
    try:
        kg = KnowledgeGraph(path, embedder=None, clock=Clock("2024-02-01T00:00:00Z"))
    except StoreError:
        assert path.read_bytes() == before, "refused, and changed all the same"
        return "refused"
    try:
        with kg:
            kg.add("Zoe", "lives_in", "Rome")
    except StoreError:
        problems = problems or ["refused"]
    except SemgraphError:
        assert problems, "a fact is refused for a damage that verify does not see"
    if problems:
        return "refused" if problems == ["refused"] else "told"
    return "same" if found == right else "otherwise"


def answers(path: Path) -> Any:
    """All that the store answers; by a handle that only reads, so that nothing is mended on the way."""
    with KnowledgeGraph(path, embedder=None, clock=Clock("2024-02-01T00:00:00Z"), read_only=True) as kg:
        claims = sorted((c.id, str(c.object), c.text, c.recorded_at.instant) for c in kg.claims(retracted=True))
        found = kg.recall("where does Ann live?")
        return ever(kg), claims, sorted(e.label for e in kg.entities()), [v.value for v in kg.vetoes], str(found)


def _bytes(path: Path, luck: Random) -> str:
    data = bytearray(path.read_bytes())
    for _ in range(luck.choice((1, 1, 2, 5))):
        data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    path.write_bytes(data)
    return ""


def _runs(path: Path, luck: Random) -> str:
    data = bytearray(path.read_bytes())
    place = luck.choice((luck.randrange(len(data)), luck.randrange(100)))
    data[place : place + 40] = luck.randbytes(len(data[place : place + luck.choice((1, 4, 40))]))
    path.write_bytes(data)
    return ""


def _pages(path: Path, luck: Random) -> str:
    data = bytearray(path.read_bytes())
    page, other = (luck.randrange(len(data) // pages.PAGE) * pages.PAGE for _ in range(2))
    put = luck.choice((bytes(pages.PAGE), luck.randbytes(pages.PAGE), bytes(data[other : other + pages.PAGE])))
    data[page : page + pages.PAGE] = put
    path.write_bytes(data)
    return ""


def _lengths(path: Path, luck: Random) -> str:
    data = path.read_bytes()
    path.write_bytes(data[: luck.randrange(len(data))])
    return ""


def _sealed(spoil: Any) -> Any:
    """The same damage, and the checksums of all pages right for it."""

    def spoilt(path: Path, luck: Random) -> str:
        spoil(path, luck)
        data = bytearray(path.read_bytes())
        for start in range(0, len(data) - pages.PAGE + 1, pages.PAGE):
            page = bytes(data[start : start + pages.PAGE])
            data[start + pages.PAGE - pages.RESERVED : start + pages.PAGE] = pages.checksum(page, start)
        path.write_bytes(data)
        return "symbol"

    return spoilt


def _schema(path: Path, luck: Random) -> str:
    _edit(path, luck.choice([*SCHEMA_EDITS, *range(len(REWRITES))]), luck)
    return ""


def _row(path: Path, luck: Random) -> str:
    """One value of one row is another, or the row is gone or there twice."""
    with closing(connected(path)) as connection:
        connection.pragma("ignore_check_constraints", 1)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        full = [name for name in tables if connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall()]  # noqa: S608  # names of ours
        while True:
            table = luck.choice(full)
            columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            row = luck.choice(connection.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608  # names of ours
            this = " AND ".join(f"{name} IS ?" for name in columns)
            deed, value = f"UPDATE {table} SET {luck.choice(columns)} = ? WHERE {this}", (luck.choice(JUNK), *row)  # noqa: S608  # names of ours
            if not luck.randrange(8):
                deed, value = f"DELETE FROM {table} WHERE {this}", row  # noqa: S608  # names of ours
            try:
                connection.execute(deed, value)
            except apsw.Error:  # the columns are strict, and some are unique
                continue
            connection.pragma("journal_mode", "delete")
            return "a row less" if deed.startswith("DELETE") else table


_KINDS = {
    "bytes": _bytes,
    "rows": _row,
    "runs": _runs,
    "bytes under right checksums": _sealed(_bytes),
    "pages": _pages,
    "runs under right checksums": _sealed(_runs),
    "schema": _schema,
    "pages under right checksums": _sealed(_pages),
    "lengths": _lengths,
    "more rows": _row,
}
