"""The promises of crash safety, storage, concurrency, input and privacy, each as a check that measures a figure.

A module per topic; importing one registers its checks. `python -m tests.reliability --tier N` runs them from the root
of a clone, `tests/test_reliability.py` runs those of every commit.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

from .registry import CHECKS, Check

# The helpers of the tests (histories, oracle, …) stand one folder up and are no package.
_TESTS = str(Path(__file__).resolve().parents[1])
if _TESTS not in sys.path:
    sys.path.insert(0, _TESTS)


def every_check() -> dict[str, Check]:
    """The checks of all topics by id, in the order of their ids."""
    for module in pkgutil.iter_modules(__path__):
        if module.name != "__main__":
            importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(CHECKS.items(), key=lambda item: (item[0][0], int(item[0][1:]))))
