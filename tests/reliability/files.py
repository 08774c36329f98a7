"""F7, F9, S8, S9, S10: files that come in and go out: damaged, hostile, packed, and back as they were."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from graph_files import graph, names_of, rich, seen, taken, written
from histories import histories, tell_all, timed
from hypothesis import HealthCheck, Phase, given, seed, settings
from test_graphml_gexf import HOSTILE
from test_moving_in import ITEM, MEMORIES, SAMPLE

import semgraph
from semgraph import KnowledgeGraph, SemgraphError
from semgraph.exchange import READABLE, WRITABLE

from . import breaks
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

MIB = 1 << 20
#: Most memory of a process that imports, and seconds of processor time for one import.
MOST_MEMORY, LONGEST = 256 * MIB, 2.0
_WIKIDATA = {
    "entities": {
        "Q1": {
            "type": "item", "id": "Q1", "labels": {"en": {"language": "en", "value": "Ann"}},
            "claims": {"P108": [{
                "type": "statement", "rank": "normal",
                "mainsnak": {"snaktype": "value", "property": "P108", "datavalue": {
                    "type": "wikibase-entityid", "value": {"entity-type": "item", "id": "Q2"}}},
                "qualifiers": {"P580": [{"snaktype": "value", "property": "P580", "datavalue": {"type": "time",
                "value": {
                    "time": "+2001-00-00T00:00:00Z", "precision": 9,
                    "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}}}]},
            }]},
        }
    }
}  # fmt: skip
_KGTK = """id\tnode1\tlabel\tnode2
e1\tQ1\tP108\tQ2
e2\te1\tP580\t^2001-01-01T00:00:00Z/9
e5\tQ1\tlabel\t'Ann'@en
e7\tQ1\tP1\t+5.5Q11573
"""
_CHAT = [
    {"role": "user", "content": "I live in Oslo.", "timestamp": "2024-03-01T10:00:00Z"},
    {"role": "assistant", "content": "Nice."},
]
#: A sound file of each format that can't be written here.
SAMPLES: dict[str, bytes] = {
    "wikidata": json.dumps(_WIKIDATA).encode(),
    "kgtk": _KGTK.encode(),
    "mem0": json.dumps(MEMORIES).encode(),
    "longmemeval": json.dumps([ITEM]).encode(),
    "locomo": json.dumps([SAMPLE]).encode(),
    "chat": json.dumps(_CHAT).encode(),
    "notes": b"# 2024-03-01\n\n## Maya\n\n- Maya lives in Oslo.\n- She works at Stripe since 2021.\n",
}  # fmt: skip


def sound_files() -> dict[str, bytes]:
    """A sound file of every format that is read; one without fails, so that none can be forgotten."""
    kg = rich()
    found = {kind: written(kg, kind) for kind in READABLE if kind in WRITABLE} | SAMPLES
    missing = set(READABLE) - set(found)
    assert not missing, f"formats without a sample: {sorted(missing)}"
    return found


# -- F7


@check(
    "F7",
    "import fuzz",
    "20,000 damaged files: taken or refused, < 256 MiB, < 2 s",
    c=500,
    n=20_000,
    broken=breaks.errors_of_rows,
)
def imports(trial: Trial) -> str:
    """A damaged file of any format is taken or refused, in time and in little memory; a refused one leaves nothing."""
    luck, files = trial.random, sound_files()
    kinds = sorted(files)
    refused, slowest, where, start = 0, 0.0, "", _peak()
    for done in trial.steps():
        kind = kinds[done % len(kinds)]
        data = damaged(luck, files[kind], [files[other] for other in kinds])
        began = time.process_time()
        refused += _put_in(kind, data, strict=luck.random() < 0.7)
        took = time.process_time() - began
        if took > slowest:
            slowest, where = took, kind
        assert took < LONGEST, f"{kind} took {took:.1f} s: {data[:300]!r}"
    used = _peak() - start
    assert used < MOST_MEMORY, f"{used / MIB:.0f} MiB more than at the start"
    figure = f"{trial.size} damaged files of {len(kinds)} formats: {refused} refused whole, 0 left anything or crashed"
    return f"{figure}; slowest {slowest:.2f} s ({where}), {used / MIB:.0f} MiB more at most"


def _peak() -> int:
    """The most bytes that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _put_in(kind: str, data: bytes, *, strict: bool) -> bool:
    with graph() as kg:
        before = _held(kg)
        try:
            semgraph.read(kg, io.BytesIO(data), format=kind, strict=strict)
        except SemgraphError as error:
            refusal = str(error)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} crosses the API: {kind}, {data[:2000]!r}") from error
        else:
            refusal = ""
        assert kg.verify() == [], (kind, data)
        assert not refusal or _held(kg) == before, (kind, data)
        assert "\n" not in refusal.encode().decode(), refusal
        return bool(refusal)


def _held(kg: KnowledgeGraph) -> Any:
    return len(kg), len(list(kg.claims(retracted=True))), sorted(kg.predicates), len(list(kg.vetoes))


_TOKENS = (
    b'"', b"<", b">", b"&", b"{", b"}", b"[", b"]", b",", b"\t", b"\n", b"\0", b"\xff", b"\xed\xa0\x80", b"null",
    b"NaN", b"1e999",
    b"-1", b"99999999999999999999", b"true", b"[[[[[[[[", b'"2023-02-29"', b"unknown", b"]]>", b"<!DOCTYPE x>",
    b"&xxe;", b"=1+1",
    b"\xef\xbb\xbf", b"\xe2\x80\xae", b"'" * 50, b"Q1", b"e1",
)  # fmt: skip


def damaged(luck: Random, data: bytes, others: list[bytes]) -> bytes:
    """The file with bytes, tokens, lines, numbers or types changed, cut, doubled, or a piece of another file in it."""
    raw = bytearray(data)
    for _ in range(luck.choice((1, 1, 2, 4))):
        place, length = luck.randrange(len(raw) + 1), luck.choice((0, 1, 1, 5, 40))
        kind = luck.randrange(9)
        if kind == 0:
            raw[place : place + length] = luck.randbytes(luck.randrange(6))
        elif kind == 1:
            raw[place : place + length] = luck.choice(_TOKENS)
        elif kind == 2:
            del raw[place : place + luck.choice((1, 10, 200, len(raw)))]
        elif kind in _BY_SHAPE:
            _BY_SHAPE[kind](luck, raw)
        elif kind == 5:
            other = luck.choice(others)
            start = luck.randrange(len(other))
            raw[place:place] = other[start : start + luck.choice((10, 100, 1000))]
        elif kind == 6:
            raw[place:place] = raw[place : place + 100] * luck.choice((1, 2, 50))
        elif raw:
            raw[place % len(raw)] ^= 1 << luck.randrange(8)
    return gzip.compress(bytes(raw), 1) if luck.random() < 0.05 else bytes(raw)


def _line(luck: Random, raw: bytearray) -> None:
    """A line goes, is doubled, or moves."""
    lines = bytes(raw).split(b"\n")
    taken_out = lines.pop(luck.randrange(len(lines)))
    for _ in range(luck.randrange(3)):
        lines.insert(luck.randrange(len(lines) + 1), taken_out)
    raw[:] = b"\n".join(lines)


def _number(luck: Random, raw: bytearray) -> None:
    places = [n for n, byte in enumerate(raw) if 48 <= byte <= 57]
    if places:
        place = luck.choice(places)
        raw[place : place + 1] = luck.choice((b"-9", b"0", b"9" * 30, b"1.5", b'"x"', b""))


_OTHER_TYPES = (
    "[]",
    "[1]",
    "{}",
    '{"a": 1}',
    "null",
    "true",
    "0",
    "-1.5",
    "1e999",
    "1" + "0" * 30,
    '""',
    '"1e999"',
    '"x"',
)


def _retyped(luck: Random, raw: bytearray) -> None:
    """Some value of a JSON document, or of one of its lines, is of another type."""
    lines = bytes(raw).split(b"\n")
    place = luck.randrange(len(lines))
    for start, end in ((0, len(lines)), (place, place + 1)):
        try:
            document = json.loads(b"\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
        holders = _holders(document)
        if holders:
            mark = "\0here\0"
            holder, key = luck.choice(holders)
            holder[key] = mark
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            lines[start:end] = [text.replace(json.dumps(mark), luck.choice(_OTHER_TYPES)).encode("utf-8", "replace")]
            raw[:] = b"\n".join(lines)
        return


_BY_SHAPE: dict[int, Callable[[Random, bytearray], None]] = {3: _line, 4: _number, 8: _retyped}


def _holders(document: Any) -> list[tuple[Any, Any]]:
    """Where each value of a document stands: the object or list, and its key or place there."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        holder = waiting.pop()
        inside = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, value in inside:
            found.append((holder, key))
            waiting.append(value)
    return found


# -- F9


@check(
    "F9", "round trips", "1,000 stores: JSONL byte-equal, GraphML isomorphic", c=25, n=1_000, broken=breaks.restoring
)
def round_trips(trial: Trial) -> str:
    """A random store comes back from JSON lines to the byte, and from GraphML with its names and intervals."""
    done = 0

    @seed(trial.seed)
    @settings(
        max_examples=trial.size, deadline=None, database=None, derandomize=False, print_blob=False,
        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(calls=histories(most=9))
    def there_and_back(calls: Any) -> None:
        nonlocal done
        done += 1
        trial.told(min(done, trial.size), trial.size)
        kg, clock = timed()
        tell_all(kg, clock, calls)
        data = written(kg, "jsonl")
        with KnowledgeGraph(embedder=None, clock=clock) as copy:
            taken(copy, data, "jsonl")
            assert written(copy, "jsonl") == data
            assert copy.verify() == []
        exported = written(kg, "graphml")
        drawn = nx.read_graphml(io.BytesIO(exported))
        with graph() as other:
            taken(other, exported, "graphml")
            wanted = _without_unknown(seen(kg))
            assert _without_unknown(seen(other)) == wanted
            assert set(names_of(other)) <= set(names_of(kg))
        assert drawn.number_of_edges() >= len({row[:3] for row in wanted})
        kg.close()

    there_and_back()
    return f"{done} stores: JSONL equal to the byte, GraphML with the same names and intervals, read by networkx too"


def _without_unknown(rows: list[tuple[Any, ...]]) -> Any:
    """Facts by names and intervals."""
    return sorted({(*row[:4], row[6], row[7]) for row in rows})


# -- S8, S9

ALONE = """
import resource, sys, time
import semgraph
kind, path, strict = sys.argv[1:4]
kg = semgraph.KnowledgeGraph(embedder=None)
for name in ("graphml", "gexf", "csv", "json", "jsonl"):
    try: semgraph.read(kg, "nothing.here", format=name)
    except semgraph.SemgraphError: pass
before, seen = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
def watch(event, words):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "urllib", "ctypes.dlopen")):
        seen.append(event)
    elif event == "open" and not str(words[0]).endswith((".py", ".pyc", path)) and "zoneinfo" not in str(words[0]):
        seen.append("open " + words[0])
sys.addaudithook(watch)
start, code = time.process_time(), "taken"
try: semgraph.read(kg, path, format=kind, strict=strict == "strict")
except semgraph.ImportRejected as error: code = error.code
except semgraph.SemgraphError as error: code = type(error).__name__
took = time.process_time() - start
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(code, round(took, 3), used // 1024, len(kg), *seen)
"""


def alone(path: Path, kind: str, *, strict: bool) -> tuple[str, float, int, int, list[str]]:
    """What a file comes to in a process of its own: code, seconds, MiB more, entities, other files and sockets."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, kind, path.name, "strict" if strict else "loose"],
        cwd=path.parent, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    code, took, used, held, *others = done.stdout.split(maxsplit=4)
    return code, float(took), int(used), int(held), others


@check(
    "S8", "XML bombs", "refused in < 1 s and < 64 MiB, nothing else opened", c=4, n=200, broken=breaks.refusals_of_files
)
def xml_bombs(trial: Trial) -> str:
    """Hostile XML is refused in a process of its own, which opens no other file and no socket meanwhile."""
    cases = [(name, data, strict) for name, (data, _) in HOSTILE.items() for strict in (True, False)]
    chosen = cases if trial.size >= len(cases) else trial.random.sample(cases, trial.size)
    slowest, most = 0.0, 0
    for name, data, strict in trial.along(chosen, len(chosen)):
        path = trial.folder / "hostile.graphml"
        path.write_bytes(data)
        code, took, used, held, others = alone(path, "graphml", strict=strict)
        assert code != "taken", (name, strict)
        assert held == 0, name
        assert others == [], (name, others)
        assert used < 64, f"{name}: {used} MiB"
        assert trial.tier == "C" or took < 1, f"{name}: {took} s"
        slowest, most = max(slowest, took), max(most, used)
    return f"{len(chosen)} hostile files refused, slowest {slowest:.2f} s, {most} MiB, no other file or socket opened"


@check(
    "S9", "decompression bombs", "refused before anything is made of them", c=3, n=54, broken=breaks.refusals_of_files
)
def packed_bombs(trial: Trial) -> str:
    """What unpacks to very much, or to a packed file, or is an archive, is refused in little time and memory."""
    zeros = gzip.compress(bytes(300 * MIB), 1)
    text = gzip.compress(b'{"subject": "a", "predicate": "p", "object": "o"}\n' * (6 * MIB))
    files = {
        "zeros": zeros,
        "300 MiB of claims": text,
        "packed twice": gzip.compress(zeros),
        "a thousand members": gzip.compress(b" " * MIB, 1) * 300,
        "a zip archive": b"PK\x03\x04" + b"\x14\0\0\0\x08\0" + bytes(40) + b"../../etc/passwd",
        "a tar with a way out": b"../../etc/passwd".ljust(257, b"\0") + b"ustar\0" + bytes(512),
    }
    kinds = ("jsonl", "graphml", "gexf", "csv", "json", "wikidata", "kgtk", "memory", "notes")
    cases = [(name, data, kind) for name, data in files.items() for kind in kinds]
    chosen = cases if trial.size >= len(cases) else trial.random.sample(cases, trial.size)
    slowest, most = 0.0, 0
    for name, data, kind in trial.along(chosen, len(chosen)):
        path = trial.folder / "bomb.gz"
        path.write_bytes(data)
        code, took, used, held, others = alone(path, kind, strict=True)
        assert code != "taken" or kind == "notes", (name, kind)  # any text is notes, these without a statement
        assert held == 0, (name, kind)
        assert others == [], (name, kind, others)
        assert used < 200, f"{name} as {kind}: {used} MiB"
        assert trial.tier == "C" or took < 5, f"{name} as {kind}: {took} s"
        slowest, most = max(slowest, took), max(most, used)
    return f"{len(chosen)} bombs refused, slowest {slowest:.2f} s, {most} MiB at most"


# -- S10

NASTY_NAMES = (
    "../up", "../../etc/passwd", "/etc/passwd", "a/../../b", "a\\..\\b", "~", "~root/x", "$HOME", "CON", "NUL.txt",
    "COM1", "aux",
    "x" * 300, "a:b", "a|b", "a*b", "a?b", "\u2215etc", "..\u2044x", "\u202egnp.exe", " ", ".", "..", "-rf", "a\nb",
    "%2e%2e%2f", "file:///x",
)  # fmt: skip


@check(
    "S10",
    "paths",
    "every file where it was asked for, mode 0600, none overwritten",
    c=14,
    n=100,
    broken=breaks.modes_of_files,
)
def paths(trial: Trial) -> str:
    """Names of people, sources and scopes never become names of files; what is written is private."""
    outside = trial.folder / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    tried = 0
    for done in trial.steps():
        nasty = NASTY_NAMES[done % len(NASTY_NAMES)]
        inside = trial.folder / f"inside{done}"
        inside.mkdir()
        with contextlib.chdir(inside), KnowledgeGraph(inside / "store.db", embedder=None) as root:
            kg = root.scoped(nasty) if nasty.strip() else root
            with contextlib.suppress(SemgraphError):
                kg.add(nasty, "likes", "tea", source_ref=nasty, source=f"tool:{nasty}", text=nasty)
            with contextlib.suppress(SemgraphError):
                kg.add("Ann", "states", nasty, qualifiers={nasty: nasty})
            for kind in WRITABLE:
                view = kg if kind == "jsonl" else kg.during()
                semgraph.write(view, inside / f"out.{kind}", format=kind)
                tried += 1
            kg.forget(everything=True, export_to=inside / "before.jsonl")
            root.backup(inside / "copy.db")
            with contextlib.suppress(SemgraphError):  # never over a file that is there
                root.backup(inside / "copy.db")
                raise AssertionError("a backup was overwritten")
        wanted = {"store.db", "copy.db", "before.jsonl", "out.nodes.csv", *(f"out.{kind}" for kind in WRITABLE)}
        found = {path.name for path in inside.rglob("*")}
        assert found <= wanted | {"out.csv.nodes.csv", "store.db-wal", "store.db-shm"}, (nasty, found - wanted)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in inside.iterdir()}
        assert not {name for name, mode in modes.items() if mode & 0o077}, modes
    assert sorted(path.name for path in trial.folder.iterdir() if not path.name.startswith("inside")) == ["outside"]
    assert (outside / "precious").read_text() == "precious"
    return f"{tried} exports of stores with {len(NASTY_NAMES)} nasty names: all inside, private, none over another"
