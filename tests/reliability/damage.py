"""Damaged bytes: the right answer or StoreCorrupt, found by verify, and all that is whole comes out again."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

from semgraph import pages
from semgraph.errors import SchemaTooNew, SchemaTooOld, StoreCorrupt, StoreError
from semgraph.recovering import recover
from semgraph.store import connecting, salvage

from .children import in_child
from .deeds import do, opened, state
from .registry import Trial, check

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from semgraph import KnowledgeGraph

READS: Final[dict[str, Callable[[KnowledgeGraph], Any]]] = {
    "facts": lambda kg: sorted(_shown(fact) for fact in kg.facts()),
    "timelines": lambda kg: [[_shown(fact) for fact in kg.timeline(entity, negative=True)] for entity in kg.entities()],
    "values": lambda kg: [
        kg.values("Ann", name) and _shown(kg.values("Ann", name)[0]) for name in ("likes", "works_at")
    ],
    "claims": lambda kg: sorted((made.id, str(made.object), str(made.text)) for made in kg.claims(retracted=True)),
    "conflicts": lambda kg: sorted(sorted(map(_shown, found.facts)) for found in kg.conflicts()),
    "then": lambda kg: sorted(_shown(fact) for fact in kg.at("2019", known_at="2024-01-01T00:15:00Z").facts()),
    "neighbours": lambda kg: sorted((found.entity.label, found.distance) for found in kg.neighbors("Ann", hops=2)),
    "history": lambda kg: [(_shown(v.fact), str(v.known_from), str(v.known_to)) for v in kg.history("Ann", "works_at")],
    "names": lambda kg: [(entity.label, kg.names.aliases(entity)) for entity in kg.entities()],
    "export": state,
}


def _shown(fact: Any) -> tuple[str, ...]:
    obj = None if fact.object is None else fact.object.label
    rest = (obj, fact.valid_from, fact.valid_to, fact.certain, fact.conflicted, fact.confidence, sorted(fact.sources))
    return (fact.subject.label, fact.predicate, *map(str, rest))


_DEEDS: Final = 25


def without_checksums() -> None:
    """Break the build: a page is taken as it comes."""
    pages.is_whole = lambda *_: True


@check(
    "P1",
    "flipped bytes",
    "5,000 flips: right or StoreCorrupt, 0 wrong, verify finds each",
    c=60,
    n=5000,
    broken=without_checksums,
)
def flipped(trial: Trial) -> str:
    """One bit, one byte or a run of bytes of the file is changed, and every kind of read is asked again."""
    path, truth = _sound(trial)
    clean, place = path.read_bytes(), trial.folder / "flipped.db"
    outcomes: Counter[str] = Counter()
    for number in trial.steps():
        content = bytearray(clean)
        spot = trial.random.randrange(len(content))
        run = trial.random.choice((0, 1, 1, 8, 300))
        for at in range(spot, min(spot + max(run, 1), len(content))):
            content[at] ^= trial.random.randrange(1, 256) if run else 1 << trial.random.randrange(8)
        place.write_bytes(content)
        outcomes.update(_asked(place, truth, f"flip {number}: {run or 'a bit'} at byte {spot}"))
        for left in trial.folder.glob("flipped.db*"):
            left.unlink()
    told = (
        f"{outcomes['right']} reads right, {outcomes['StoreCorrupt']} StoreCorrupt, {outcomes['refused']} files refused"
    )
    return (
        f"{trial.size} flips: {told}, 0 wrong; verify found {outcomes['found']} of {outcomes['opened']} in opened files"
    )


def _sound(trial: Trial) -> tuple[Path, dict[str, Any]]:
    """A closed store, and what every read of it gives."""
    path = trial.folder / "sound.db"
    with closing(opened(path)) as kg:
        for number in range(_DEEDS):
            do(kg, trial.seed, number)
        return path, {name: read(kg) for name, read in READS.items()}


def _asked(path: Path, truth: dict[str, Any], where: str) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    try:
        kg = opened(path)
    except StoreCorrupt:
        return Counter(refused=1)
    except (SchemaTooNew, SchemaTooOld):  # the byte that was hit says so
        return Counter(refused=1)
    with closing(kg):
        outcomes["opened"] += 1
        for name, read in READS.items():
            try:
                found = read(kg)
            except StoreCorrupt:
                outcomes["StoreCorrupt"] += 1
            else:
                assert found == truth[name], f"{where}: a wrong answer to {name}"
                outcomes["right"] += 1
        try:
            problems: Any = kg.verify()
        except StoreCorrupt as error:
            problems = error
        assert problems, f"{where}: not found by verify"
        outcomes["found"] += 1
    return outcomes


def _foreign(path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE theirs (a)")
        other.commit()


def _with_log_of(path: Path, make: Callable[[Path], None]) -> None:
    """Beside the store stands the log of another database, which was left by a crash."""
    other = path.with_name("other.db")

    def crash() -> None:
        make(other)
        os._exit(0)

    with suppress(AssertionError):
        in_child(crash)
    path.with_name(path.name + "-wal").write_bytes(other.with_name("other.db-wal").read_bytes())


def _writes_theirs(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("CREATE TABLE theirs (a)")
    connection.commit()


_SPOILT: Final[dict[str, Callable[[Path, random.Random], Any]]] = {
    "truncated": lambda path, chosen: os.truncate(path, chosen.randrange(1, path.stat().st_size)),
    "truncated at a page": lambda path, chosen: os.truncate(
        path, 4096 * chosen.randrange(1, path.stat().st_size // 4096)
    ),
    "extended": lambda path, chosen: path.write_bytes(path.read_bytes() + chosen.randbytes(chosen.randrange(1, 9000))),
    "empty": lambda path, _: path.write_bytes(b""),
    "zeros": lambda path, _: path.write_bytes(bytes(path.stat().st_size)),
    "noise": lambda path, chosen: path.write_bytes(chosen.randbytes(path.stat().st_size)),
    "text": lambda path, _: path.write_text("Dear diary, nothing happened today.\n" * 200),
    "foreign": lambda path, _: _foreign(path),
    "log of noise": lambda path, chosen: path.with_name(path.name + "-wal").write_bytes(chosen.randbytes(50_000)),
    "log of zeros": lambda path, _: path.with_name(path.name + "-wal").write_bytes(bytes(50_000)),
    "log of another program": lambda path, _: _with_log_of(path, _writes_theirs),
    "journal of noise": lambda path, chosen: path.with_name(path.name + "-journal").write_bytes(chosen.randbytes(9000)),
}


def without_looking() -> None:
    """Break the build: any file is opened, whatever its head and its schema say."""
    connecting.recognise = lambda *_: None
    connecting.prepare = lambda *_, **__: None


@check(
    "P2",
    "truncated, empty, foreign, zeroed files",
    "declared error or clean open; foreign files untouched",
    c=36,
    n=600,
    broken=without_looking,
)
def spoilt(trial: Trial) -> str:
    """A whole file is not what it was, or what stands beside it belongs to something else."""
    path, truth = _sound(trial)
    kinds, outcomes = list(_SPOILT), Counter()
    for number in trial.steps():
        kind = kinds[number % len(kinds)]
        folder = trial.folder / str(number)
        folder.mkdir()
        place = folder / "spoilt.db"
        place.write_bytes(path.read_bytes())
        _SPOILT[kind](place, trial.random)
        before = place.read_bytes()
        try:
            kg = opened(place)
        except StoreError as error:
            outcomes[type(error).__name__] += 1
            assert place.read_bytes() == before, f"{kind}: refused, and changed all the same"
            continue
        with closing(kg):
            if kind == "empty":
                assert not kg.verify()
                outcomes["clean"] += 1
            elif kind.startswith(("log", "journal", "extended")):
                assert {name: read(kg) for name, read in READS.items()} == truth, f"{kind}: a wrong answer"
                outcomes["clean"] += 1
            else:
                outcomes.update(Counter(damaged=_asked(place, truth, f"{kind}, try {number}")["found"]))
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"{trial.size} files of {len(kinds)} kinds: {told}; 0 wrong"


def without_digests() -> None:
    """Break the build: every row that can be read passes for whole."""
    salvage.is_whole = lambda *_: True


@check("P3", "salvage", "every claim whose digest is right, no other", c=6, n=120, broken=without_digests)
def salvaged(trial: Trial) -> str:
    """Claims are damaged in their texts; what `recover` saves is all the others, each as it was."""
    saved = lost = 0
    for number in trial.steps():
        folder = trial.folder / str(number)
        folder.mkdir()
        path = folder / "s.db"
        with closing(opened(path)) as kg:
            for told in range(60):
                kg.add(f"host {told}", "uses", f"tool {told % 7}", text=f"<said of {told:04}>")
            truth = {made.id: (str(made.object), made.text) for made in kg.claims()}
        content = bytearray(path.read_bytes())
        victims = trial.random.sample(range(60), trial.random.randrange(1, 9))
        for victim in victims:
            within, bit = trial.random.randrange(14), 1 << trial.random.randrange(7)
            for match in re.finditer(rb"<said of %04d>" % victim, path.read_bytes()):  # some in the slack of a page
                content[match.start() + within] ^= bit
        path.write_bytes(content)
        found = recover(path, folder / "new.db")
        with closing(opened(folder / "new.db", read_only=True)) as kg:
            kept = {made.id: (str(made.object), made.text) for made in kg.claims()}
            assert not kg.verify(), f"try {number}: {kg.verify()}"
        expected = {id: what for id, what in truth.items() if what[1] not in {f"<said of {n:04}>" for n in victims}}
        assert kept == expected, f"try {number}: {len(kept)} of {len(expected)} saved"
        assert found.lost["claim"] == len(victims), f"try {number}: {found.lost}"
        assert path.read_bytes() == bytes(content), f"try {number}: the damaged file was changed"
        saved, lost = saved + len(kept), lost + len(victims)
        shutil.rmtree(folder)
    return f"{trial.size} damaged files: {saved} whole claims saved, {lost} damaged ones told as lost, 0 wrong"
