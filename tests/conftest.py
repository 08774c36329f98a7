"""Fixtures that every test may ask for, and how long Hypothesis searches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Whoever runs the tests may have a configuration of the command line.
os.environ["SEMGRAPH_CONFIG"] = ""

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# The same examples every time, so that a change is judged by what it changes; SEMGRAPH_EXAMPLES=2000 looks for others.
USUAL = 50
EXAMPLES = int(os.environ.get("SEMGRAPH_EXAMPLES") or USUAL)
settings.register_profile(
    "semgraph", deadline=None, print_blob=True, max_examples=EXAMPLES, derandomize=EXAMPLES <= USUAL
)
settings.load_profile("semgraph")


@pytest.fixture(scope="session", autouse=True)
def _no_width() -> None:
    """Workers of pytest-xdist are given the width of its terminal; what a test prints has its own."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets beside the clone."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the shared data folder beside the clone (../shared/data)")
    return SHARED_DATA
