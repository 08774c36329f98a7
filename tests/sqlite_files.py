"""What the tests of SQLite files share: a small store, child processes, damage."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
from store_conformance import entities, make

from semgraph import pages
from semgraph.store import open_store
from semgraph.store.schema import ClaimRow

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534


def small_store(folder):
    """The path of a closed store with three entities and three claims."""
    place = folder / "store.db"
    with closing(open_store(place)) as store, store.write():
        store.insert(entities(1, 2, 3))
        store.insert([make(ClaimRow, id=f"claim-{n}", subject=n, text=f"what was said {n}") for n in range(3)])
    return place


def run(script, *arguments, check=True, user=None):
    """The finished child process that ran the script with the conformance helpers at hand."""
    # urllib.parse: pathlib imports it late, when another user may not read the standard library any more.
    head = "import os, signal, sys, time, urllib.parse\nfrom pathlib import Path\n"
    head += "from semgraph.errors import *\n"
    head += "from semgraph.store import open_store\nfrom semgraph.store.sqlite import SqliteStore\n"
    head += "from semgraph.store.schema import *\n"
    if user is not None:
        # Everything is loaded before the rights go: the interpreter may lie where only root can read.
        head += f"import apsw, json, semgraph.store.memory, encodings.idna\nos.setgid({user}); os.setuid({user})\n"
    return subprocess.run(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )


@contextmanager
def child(script, *arguments):
    """A running child process that has printed its first line."""
    head = "import os, signal, sys, time, urllib.parse\nfrom pathlib import Path\n"
    head += "from semgraph.store import open_store\n"
    head += "from semgraph.store.schema import *\n"
    process = subprocess.Popen(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,  # what readline had read ahead would be lost to communicate
    )
    try:
        assert process.stdout.readline(), "the child said nothing"
        yield process
    finally:
        process.kill()
        process.communicate()


def salvaged(store, table):
    with store.read(), pages.unchecked():
        return list(store.salvage(table))


def snapshot(folder):
    """The name, bytes and size of every file in the folder."""
    return {place.name: place.read_bytes() for place in folder.iterdir() if place.is_file()}


def patch(place, offset, value, *, sealed=False):
    """Write bytes over those of a file; `sealed` as the store would, with the right checksum of the page."""
    content = bytearray(place.read_bytes())
    content[offset : offset + len(value)] = value
    if sealed:
        start = offset // pages.PAGE * pages.PAGE
        page = bytes(content[start : start + pages.PAGE])
        content[start + pages.PAGE - pages.RESERVED : start + pages.PAGE] = pages.checksum(page, start)
    place.write_bytes(content)


def connected(place):
    """A connection of the driver that writes pages as the store does."""
    return apsw.Connection(str(place), vfs=pages.layer())


def seal_claims(path, number):
    with closing(open_store(path)) as store:
        store.insert([make(ClaimRow, id=f"id{n:05}", subject=n, text=f"<text {n:05}>") for n in range(number)])


def driver_error(name, extended=0):
    error = getattr(apsw, name)("SELECT secret FROM hidden")
    error.extendedresult = extended
    return error


KILLED = """
store = open_store(sys.argv[1])
batch = int(sys.argv[2])
while True:
    with store.write():
        for number in range(10):
            store.insert([EntityRow(batch, number, "x" * 300, "k", 0)])
        store.insert([ClaimRow(**{**dict.fromkeys(ClaimRow._fields, ""), **dict.fromkeys(
            ("subject", "negative", "opposed", "said_at", "told", "recorded_at", "confidence"), 0),
            "valid_from": None, "valid_to": None, "source_ref": None, "scope": batch, "id": "c"})])
    os.write(1, b"%d\\n" % batch)
    batch += 1
"""
