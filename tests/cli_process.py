"""The command line as real processes, and a small store for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from semgraph import KnowledgeGraph

ROOT = Path(__file__).parents[1]
HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA")


def environment(folder: Path) -> dict[str, str]:
    """A plain environment with a home of its own in the folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SEMGRAPH_")}
    homes = dict.fromkeys(HOMES, str(folder / "home"))
    return kept | homes | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "COLUMNS": "80"}


def process(folder: Path, *words: str | bytes, **options) -> subprocess.CompletedProcess[bytes]:
    """A real process; surrogates in words are the raw bytes of a file name."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE} | options
    env = environment(folder) | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "semgraph", *words],
        cwd=folder, env=env, stderr=subprocess.PIPE, timeout=60, check=False, **options,
    )  # fmt: skip


def small_store(path: Path) -> Path:
    """A store with a little in it: a job that changed, a contradiction, two people of one name."""
    with KnowledgeGraph(path) as kg:
        kg.add("Maya", "works_at", "Stripe", valid_from="2021-03", source_ref="mail:17")
        kg.add("Maya", "works_at", "Linear", valid_from="2024-06-01", source_ref="mail:52")
        kg.add("Maya", "lives_in", "Oslo", valid_from="2025-01")
        kg.add("Maya", "lives_in", "Bergen", valid_from="2025-01", source="tool:calendar")
        kg.names.declare("George Bush", label="George H. W. Bush")
        kg.names.declare("George Bush", label="George W. Bush")
        kg.add("George W. Bush", "birth_date", "1946-07-06")
    return path
