"""Every worked case through the public API: the files in SEMGRAPH_CASES, by default the project's own copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from case_files import Case, load_cases

if TYPE_CHECKING:
    from pathlib import Path

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_worked_case(case: Case, tmp_path: Path) -> None:
    from case_runner import check_case

    check_case(case, tmp_path)


@pytest.mark.parametrize("steps", [[{"op": "conjure", "at": "2024-01-01T00:00:00Z"}], []])
def test_unknown_words_fail(steps: list[dict[str, str]], tmp_path: Path) -> None:
    from case_runner import check_case

    case = Case("unknown", steps, [{"q": "divine", "want": []}])
    with pytest.raises(AssertionError, match="unknown"):
        check_case(case, tmp_path)


def test_an_unknown_field_fails(tmp_path: Path) -> None:
    from case_runner import check_case

    case = Case("unknown", [], [{"q": "same_key", "a": "x", "b": "x", "want": True, "mood": "good"}])
    with pytest.raises(AssertionError, match="mood"):
        check_case(case, tmp_path)
