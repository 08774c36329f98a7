"""Freeze databases of the schema of now for the tests: `python tools/freeze.py`, once for each released schema.

Each is written packed to `tests/frozen`, with digests of what it shows; the tests hold every later version to them.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from semgraph.store.migrations import newest_version  # noqa: E402
from tests.reliability.ages import FROZEN, shows  # noqa: E402
from tests.reliability.deeds import do, opened  # noqa: E402

if TYPE_CHECKING:
    import semgraph


def empty(_kg: semgraph.KnowledgeGraph) -> None:
    """Nothing."""


def claims(kg: semgraph.KnowledgeGraph) -> None:
    """A thousand claims of three sources."""
    chosen = random.Random(1)  # noqa: S311  # the same file every time
    told = [
        {
            "subject": f"host {n % 150}",
            "predicate": chosen.choice(("uses", "likes", "lives_in")),
            "object": f"thing {chosen.randrange(60)}",
            "valid_from": f"20{chosen.randrange(10, 24)}-{chosen.randrange(1, 13):02}",
            "source": ("user", "tool:crm", "imported:cv")[n % 3],
            "source_ref": f"doc:{n}",
        }
        for n in range(1000)
    ]
    kg.add_all(told)


def disputes(kg: semgraph.KnowledgeGraph) -> None:
    """Every kind of write: conflicts, merges, retractions, denials, a veto, what was refused and forgotten."""
    for number in range(150):
        do(kg, 1, number)
    kg.veto(phrase="Project Bluebird")


def main() -> None:
    FROZEN.mkdir(exist_ok=True)
    for make in (empty, claims, disputes):
        name = f"v{newest_version()}-{make.__name__}"
        if (FROZEN / f"{name}.json").exists():
            message = f"{name} is frozen already: a released schema never changes; take a new version"
            raise SystemExit(message)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "frozen.db"
            with opened(path) as kg:
                make(kg)
                shown = {"schema": newest_version(), "claims": kg.stats()["claims"], "shows": shows(kg)}
            packed = gzip.compress(path.read_bytes(), mtime=0)
        (FROZEN / f"{name}.db.gz").write_bytes(packed)
        (FROZEN / f"{name}.json").write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {shown['claims']} claims, {len(packed)} bytes")


if __name__ == "__main__":
    main()
