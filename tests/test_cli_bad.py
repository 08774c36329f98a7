"""Bad command lines, each as a real process: the status, one clear line, no traceback, and nothing lost."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from cli_process import environment, process, small_store

from semgraph import KnowledgeGraph

POSIX = os.name == "posix"


Prepare = Callable[[Path], object]


@dataclass(frozen=True)
class Bad:
    """A command line that fails: its words, its status, a part of its message, and what its folder needs before."""

    words: list[str]
    status: int = 1
    says: str = ""
    prepare: Prepare | None = None
    stdin: bytes = b""
    base: bool = True  # against the store that is there
    env: dict[str, str] = field(default_factory=dict)
    output: str = ""  # a device instead of a pipe


def cut(folder: Path) -> None:
    data = (folder / "a.db").read_bytes()
    (folder / "a.db").write_bytes(data[: len(data) // 3])


def scribble(folder: Path) -> None:
    with (folder / "a.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


def newer(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "a.db"))
    connection.pragma("user_version", 999)
    connection.close()


def foreign(folder: Path) -> None:
    (folder / "a.db").unlink()
    connection = sqlite3.connect(folder / "a.db")
    connection.execute("CREATE TABLE precious (x)")
    connection.commit()
    connection.close()


def text(folder: Path) -> None:
    (folder / "a.db").write_text("Dear diary, nothing here is a database. " * 50)


def folder_instead(folder: Path) -> None:
    (folder / "a.db").unlink()
    (folder / "a.db").mkdir()


def lock(folder: Path) -> apsw.Connection:
    connection = apsw.Connection(str(folder / "a.db"))
    connection.execute("BEGIN IMMEDIATE")
    return connection


def plain(content: str) -> Prepare:
    return lambda folder: (folder / "in.jsonl").write_text(content)


def plain_as(name: str, content: str = "precious") -> Prepare:
    return lambda folder: (folder / name).write_text(content)


def packed(folder: Path) -> None:
    whole = gzip.compress(b'{"subject": "Ann", "predicate": "knows", "object": "Bob"}\n' * 99)
    (folder / "in.jsonl.gz").write_bytes(whole[: len(whole) // 2])


CONFIG = {"SEMGRAPH_CONFIG": "c.toml"}
ADD = ["add", "Maya", "knows", "Ann"]
BAD = {
    "impossible date": Bad([*ADD, "--valid-from", "2023-02-29"], says="2023-02-29"),
    "month 13": Bad([*ADD, "--valid-to", "2023-13"], says="2023-13"),
    "words for a date": Bad([*ADD, "--said-at", "some Tuesday"], says="some Tuesday"),
    "date of two readings": Bad([*ADD, "--valid-from", "03/04/2024"], says="2024-03-04 or 2024-04-03"),
    "a stretch as an end": Bad([*ADD, "--valid-to", "from 2018 to 2020"], 2, says="--valid-from 2018 --valid-to 2020"),
    "a stretch of time to read at": Bad(["--at", "from 2018 to 2020", "about", "Maya"], 2, says="give one date"),
    "an end as a start": Bad([*ADD, "--valid-from", "until 2020"], 2, says="--valid-to"),
    "a start as an end": Bad([*ADD, "--valid-to", "since March"], 2, says="--valid-from"),
    "an open end to read at": Bad(["--at", "..", "about", "Maya"], says="open end"),
    "an open end to know at": Bad(["--known-at", "..", "about", "Maya"], says="open end"),
    "an open end to compare": Bad(["diff", "..", "2024"], says="open end"),
    "an open end as the moment of an end": Bad(["end", "Maya", "works_at", "--at", ".."], says="open end"),
    "an open end of a settlement": Bad(
        ["settle", "Maya", "lives_in", "keep_both", "--valid-at", ".."], says="open end"
    ),
    "naive date-time": Bad([*ADD, "--valid-from", "2023-02-01T10:00"], says="naive_time"),
    "inverted interval": Bad([*ADD, "--valid-from", "2024", "--valid-to", "2020"], says="empty_interval"),
    "year out of range": Bad([*ADD, "--valid-from", "Y300000"], says="time_range"),
    "said in the future": Bad([*ADD, "--said-at", "2999"], says="clock_skew"),
    "date of a read": Bad(["--at", "2023-02-29", "about", "Maya"], says="2023-02-29"),
    "unknown time of a read": Bad(["--at", "unknown", "about", "Maya"], says="unknown"),
    "known at no time": Bad(["--known-at", "soon", "list"], says="soon"),
    "dates of a difference": Bad(["diff", "2020", "2020-99"], says="2020-99"),
    "unknown name": Bad(["about", "Mya"], says="did you mean 'Maya'"),
    "unknown name in a timeline": Bad(["timeline", "Nobody"], says="Nobody"),
    "ambiguous name to read": Bad(["about", "George Bush"], says="2 entities"),
    "ambiguous name to write": Bad(["add", "George Bush", "knows", "Ann"], says="ambiguous_entity"),
    "several values": Bad(["value", "Maya", "lives_in"], says="2 values"),
    "empty name": Bad(["add", " ", "knows", "Ann"], says="empty_entity"),
    "endless name": Bad(["add", "x" * 600, "knows", "Ann"], says="oversize"),
    "no object": Bad(["add", "Maya", "knows"], says="object_required"),
    "predicate without a letter": Bad(["add", "Maya", "--", "?!", "Ann"], says="bad_predicate"),
    "confidence over 1": Bad([*ADD, "--confidence", "2"], says="bad_confidence"),
    "confidence that is no number": Bad([*ADD, "--confidence", "nan"], says="bad_confidence"),
    "confidence in words": Bad([*ADD, "--confidence", "high"], status=2, says="confidence"),
    "surrogate in a name": Bad(["add", "Ma\udcffya", "knows", "Ann"], says="bad_encoding"),
    "surrogate in an object": Bad(["add", "Maya", "knows", "\udcc3("], says="bad_encoding"),
    "surrogate in a predicate": Bad(["value", "Maya", "\udcff"], says="bad_encoding"),
    "surrogate in a text": Bad([*ADD, "--text", "\udcff"], says="bad_encoding"),
    "surrogate in a name to read": Bad(["about", "\udcff"], says="bad_encoding"),
    "surrogate in a scope": Bad(["--scope", "\udcff", "list"], says="bad_encoding"),
    "surrogate in a date": Bad([*ADD, "--valid-from", "20\udcff"], says="bad_time"),
    "surrogate in a command": Bad(["\udcff"], status=2),
    "surrogate in an option": Bad(["list", "--\udcff"], status=2),
    "surrogate in the store": Bad(["--db", "\udcff.db", *ADD], base=False),
    "set on many": Bad(["set", "Maya", "speaks", "Finnish"], says="many values"),
    "nothing to correct": Bad(["correct", "Maya", "works_at", "Acme", "Bolt"], says="nothing_to_correct"),
    "unknown id to retract": Bad(["retract", "0" * 24]),
    "unknown id to explain": Bad(["explain", "nonsense"]),
    "merge with itself": Bad(["merge", "Maya", "Maya"]),
    "merge of nobody": Bad(["merge", "Nobody", "Maya"], says="Nobody"),
    "unmerge of what is not": Bad(["unmerge", "Maya"], says="not merged"),
    "alias of another": Bad(["alias", "Oslo", "Maya"], says="merge"),
    "definition in a circle": Bad(["define", "p", "--inverse-of", "p"]),
    "unknown cardinality": Bad(["define", "p", "--cardinality", "few"], status=2, says="few"),
    "settle without a value": Bad(["settle", "Maya", "lives_in", "choose"], 2, says="value"),
    "settle both wrong with a value": Bad(
        ["settle", "Maya", "lives_in", "both_wrong", "Oslo"], 2, says="choose 'Oslo'"
    ),
    "settle an unknown conflict": Bad(["settle", "Maya", "lives_in", "keep_both", "--conflict", "x"], says="conflict"),
    "settle by an unknown choice": Bad(["settle", "Maya", "lives_in", "guess"], status=2, says="guess"),
    "forget without saying yes": Bad(["forget", "--entity", "Maya"], status=2, says="--yes"),
    "forget two things": Bad(["forget", "--entity", "Maya", "--everything", "--yes"], 2, says="--everything"),
    "forget nothing": Bad(["forget", "--yes"], 2, says="--entity"),
    "mentions of no entity": Bad(["forget", "--claim", "0" * 24, "--mentions", "--yes"], 2, says="--entity"),
    "forget an unknown claim": Bad(["forget", "--claim", "0" * 24, "--yes"], says="id"),
    "forget nobody": Bad(["forget", "--entity", "Nobody", "--yes"], says="Nobody"),
    "veto of nothing": Bad(["veto"], 2, says="--phrase"),
    "veto of two things": Bad(["veto", "--phrase", "a", "--entity", "Maya"], 2, says="--phrase and --entity"),
    "veto listed and lifted": Bad(["veto", "--list", "--lift"], 2, says="--list"),
    "lifting what is not vetoed": Bad(["veto", "--phrase", "a", "--lift"], says="`semgraph veto --list`"),
    "unknown command": Bad(["frobnicate"], status=2, says="frobnicate"),
    "no command": Bad([], status=2, says="command"),
    "unknown flag": Bad(["list", "--frobnicate"], status=2, says="--frobnicate"),
    "flag without a value": Bad([*ADD, "--valid-from"], status=2, says="--valid-from"),
    "too few words": Bad(["add", "Maya"], status=2, says="PREDICATE"),
    "too many words": Bad(["verify", "now"], status=2, says="now"),
    "part given twice": Bad(["list", "Maya", "--subject", "Ann"], status=2, says="twice"),
    "qualifier without a value": Bad([*ADD, "--qualifiers", "topic"], status=2, says="topic"),
    "two ends": Bad([*ADD, "--valid-to", "2025", "--valid-through", "2025"], 2, says="--valid-through"),
    "an empty scope": Bad(["--scope", "", "forget", "--everything", "--yes"], 2, says="--scope: it is empty"),
    "an empty zone": Bad(["--timezone", "", "list"], 2, says="--timezone: it is empty"),
    "a least confidence that is no number": Bad(["list", "--min-confidence", "nan"], says="from 0 to 1, not nan"),
    "an open end as a start": Bad([*ADD, "--valid-from", ".."], says="open end"),
    "an unknown zone": Bad(["--timezone", "Europe/Nowhere", *ADD, "--valid-from", "2024"], says="Europe/Nowhere"),
    "an option of the group after the command": Bad(
        ["list", "--scope", "x"], 2, says="--scope goes before the command"
    ),
    "a command misspelt": Bad(["lsit"], 2, says="did you mean 'list'"),
    "a shell that is not known": Bad(["completion", "tcsh"], 2, says="tcsh"),
    "a topic that is not known": Bad(["help", "weather"], 2, says="weather"),
    "a colour that is none": Bad(["--color", "blue", "list"], 2, says="blue"),
    "a width without room": Bad(["timeline", "Maya", "--width", "3"], 2, says="3"),
    "a pattern of two words": Bad(["match", "?who works_at"], 2, says="?who works_at"),
    "a pattern with an open quote": Bad(["match", "?who works_at 'Acme"], 2, says="quote"),
    "neighbours of nobody": Bad(["neighbors", "Mya"], says="did you mean 'Maya'"),
    "a path to nobody": Bad(["paths", "Maya", "Nobody"], says="Nobody"),
    "a path of no mode": Bad(["paths", "Maya", "Oslo", "--mode", "fast"], 2, says="fast"),
    "a path over time at a time": Bad(["--at", "2022", "paths", "Maya", "Oslo", "--mode", "overlap"], says="--at"),
    "history of nobody": Bad(["history", "Nobody", "works_at"], says="Nobody"),
    "one date to compare": Bad(["diff", "2020"], 2, says="B"),
    "unalias of no name": Bad(["unalias", "Nobody", "Maya"], says="Nobody"),
    "kept apart and merged": Bad(["keep-apart", "Maya", "Nobody"], says="Nobody"),
    "time of a write": Bad(["--at", "2020", *ADD], status=2, says="--at"),
    "missing file": Bad(["import", "missing.jsonl"], says="missing.jsonl"),
    "folder to import": Bad(["import", "in.jsonl"], prepare=lambda f: (f / "in.jsonl").mkdir(), says="in.jsonl"),
    "unknown format": Bad(["import", "a.xls"], says="a.xls"),
    "malformed import": Bad(["import", "in.jsonl"], prepare=plain('{"subject": "a"\n'), says="line 1"),
    "import of something else": Bad(["import", "in.jsonl"], prepare=plain('{"node": 1}\n'), says="line 1"),
    "import of nothing": Bad(["import", "-"], says="empty"),
    "malformed import of a stream": Bad(["import", "-"], stdin=b"\xff\xfe", says="line 1"),
    "export over the store": Bad(["export", "a.db", "--format", "jsonl"], says="the store itself"),
    "export into nowhere": Bad(["export", "no/where.jsonl"], says="folder"),
    "export to a folder": Bad(["export", "out.jsonl"], prepare=lambda f: (f / "out.jsonl").mkdir(), says="folder"),
    "export of a view": Bad(["--at", "2020", "export", "out.jsonl"], says="whole"),
    "export over a file": Bad(["export", "out.jsonl"], 2, prepare=plain_as("out.jsonl"), says="--force"),
    "output that is full": Bad(["list"], output="/dev/full", says="No space left"),
    "export to an output that is full": Bad(["export", "-"], output="/dev/full", says="No space left"),
    "configuration that is not there": Bad(["list"], env={"SEMGRAPH_CONFIG": "none.toml"}, says="none.toml"),
    "configuration that is no TOML": Bad(["list"], env=CONFIG, prepare=plain_as("c.toml", "db = "), says="c.toml"),
    "configuration of an unknown key": Bad(
        ["list"], env=CONFIG, prepare=plain_as("c.toml", "dbs = 'a'"), says="'dbs' in 'c.toml'"
    ),
    "configuration of a wrong value": Bad(
        ["list"], env=CONFIG, prepare=plain_as("c.toml", "color = 'red'"), says="auto, always or never"
    ),
    "configuration of a wrong type": Bad(
        ["list"], env=CONFIG, prepare=plain_as("c.toml", "scope = 3"), says="must be a text"
    ),
    "configuration that is a folder": Bad(["list"], env={"SEMGRAPH_CONFIG": "."}, says="can't read"),
    "environment with a wrong value": Bad(["list"], env={"SEMGRAPH_DURABILITY": "none"}, says="SEMGRAPH_DURABILITY"),
    "recover onto a file": Bad(["recover", "a.db", "in.jsonl"], prepare=plain("x"), says="exists already"),
    "recover what is not there": Bad(["recover", "none.db", "new.db"], says="none.db"),
    "recover a text": Bad(
        ["recover", "in.jsonl", "new.db"], prepare=plain("dear diary " * 99), says="not a semgraph store"
    ),
    "truncated gzip": Bad(["import", "in.jsonl.gz"], prepare=packed, says="damaged"),
    "backup over a file": Bad(["backup", "a.db"], says="exists"),
    "no store to read": Bad(["--db", "none.db", "list"], base=False, says="none.db"),
    "store in no folder": Bad(["--db", "no/where.db", *ADD], base=False, says="folder"),
    "store on a server": Bad(["--db", "postgresql://x", "list"], base=False, says="PostgreSQL"),
    "store of no name": Bad(["--db", "a\tb\n/c", "list"], base=False, says="a\\tb"),
    "folder as store": Bad(["list"], prepare=folder_instead, says="folder"),
    "text as store": Bad([*ADD], prepare=text, says="not a semgraph store"),
    "foreign store": Bad([*ADD], prepare=foreign, says="another program"),
    "foreign store to read": Bad(["list"], prepare=foreign, says="another program"),
    "newer store": Bad([*ADD], prepare=newer, says="999"),
    "truncated store": Bad(["verify"], prepare=cut),
    "truncated store to write": Bad([*ADD], prepare=cut),
    "damaged store": Bad(["list"], prepare=scribble),
    "locked store": Bad([*ADD], prepare=lock, says="lock"),
    "device as store": Bad(["--db", os.devnull, "list"], base=False),
    "folder that takes no file": Bad(["--db", "/proc/a.db", *ADD], base=False, says="/proc/a.db"),
    "default folder that can't be": Bad([*ADD], base=False, prepare=lambda f: (f / "home").write_text("")),
}
if not Path("/dev/full").exists():
    for name in [name for name in BAD if "output that is full" in name]:
        del BAD[name]
if not POSIX:
    for name in [name for name in BAD if "surrogate" in name or name.startswith(("device", "folder that", "default"))]:
        del BAD[name]
#: What these do to the store is their own; all others leave it as it was.
HARMED = {cut, scribble, newer, foreign, text, folder_instead}
UNHARMED = sorted(name for name, bad in BAD.items() if bad.base and bad.prepare not in HARMED)


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, subprocess.CompletedProcess]]:
    """Every command line of the table as a process in a folder of its own; several at a time."""
    base = small_store(tmp_path_factory.mktemp("base") / "base.db")

    def fail(bad: Bad) -> tuple[Path, subprocess.CompletedProcess[bytes]]:
        folder = tmp_path_factory.mktemp("bad")
        shutil.copy(base, folder / "a.db")
        held = bad.prepare(folder) if bad.prepare else None
        db = ["--db", "a.db"] if bad.base else []
        words = [word.encode("utf-8", "surrogateescape") if POSIX else word for word in (*db, *bad.words)]
        with ExitStack() as stack:
            more = {"stdout": stack.enter_context(Path(bad.output).open("wb"))} if bad.output else {}
            done = process(folder, *words, input=bad.stdin, stdin=None, env=bad.env, **more)
        if isinstance(held, apsw.Connection):
            held.close()
        return folder, done

    tmp_path_factory.getbasetemp()
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(BAD, pool.map(fail, BAD.values()), strict=True))


def test_the_table_is_long_enough():
    assert len(BAD) >= 60


@pytest.mark.parametrize("name", sorted(BAD))
def test_failure_is_a_status_and_one_clear_line(failures, name: str):
    _, done = failures[name]
    shown = done.stderr.decode()
    assert "Traceback" not in shown
    assert "internal error" not in shown
    assert done.returncode == BAD[name].status, shown
    assert not done.stdout
    assert re.fullmatch(r"semgraph: [^\n]{8,}\n", shown), shown
    assert BAD[name].says in shown


@pytest.mark.parametrize("name", sorted(BAD))
def test_failure_speaks_of_commands_and_options_not_of_python(failures, name: str):
    shown = failures[name][1].stderr.decode()
    assert not re.search(r"[a-z]\(\)|\bkg\.|\.candidates|None\b|\b[a-z_]+=(?!VALUE|RANK|value)['\"\w]*[,; ]", shown), (
        shown
    )


@pytest.mark.parametrize("name", UNHARMED)
def test_failure_loses_nothing(failures, name: str):
    folder, _ = failures[name]
    with KnowledgeGraph(folder / "a.db", read_only=True) as kg:
        assert len(list(kg.claims())) == 5
        assert kg.verify() == []


@pytest.mark.parametrize("name", ["export over a file", "recover onto a file"])
def test_a_file_that_is_there_stays(failures, name: str):
    folder, _ = failures[name]
    assert {path.read_text() for path in folder.glob("*.jsonl")} <= {"precious", "x"}


@pytest.mark.parametrize("name", ["foreign store", "foreign store to read", "newer store", "text as store"])
def test_a_file_of_others_is_left_as_it_was(failures, tmp_path: Path, name: str):
    folder, _ = failures[name]
    if name in {"foreign store", "foreign store to read"}:  # SQLite's own files differ in their times only
        connection = sqlite3.connect(folder / "a.db")
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("precious",)]
        connection.close()
        return
    if name == "newer store":
        connection = sqlite3.connect(folder / "a.db")
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)
        assert connection.execute("SELECT count(*) FROM claim").fetchone() == (5,)
        connection.close()
        return
    text(tmp_path)
    assert (folder / "a.db").read_bytes() == (tmp_path / "a.db").read_bytes()


@pytest.mark.skipif(not POSIX, reason="a shell closes its standard input")
@pytest.mark.parametrize(
    ("line", "says"), [("import -", "the file is empty"), ("forget --entity Maya", "look with --dry-run")]
)
def test_a_standard_input_that_is_closed_is_an_empty_one(tmp_path: Path, line: str, says: str):
    db = small_store(tmp_path / "a.db")
    closed = ["sh", "-c", f'exec "$0" -m semgraph --db "$1" {line} <&-', sys.executable, str(db)]
    done = subprocess.run(closed, cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60, check=False)
    assert done.returncode in (1, 2)
    assert says in done.stderr.decode()
