"""The reference model gives what the worked cases want, in every order: only then may the engine be held to it."""

from __future__ import annotations

import pytest
from case_files import NO_MODEL, OWN, Case, load_cases
from oracle_cases import check_case

CASES = [case for case in load_cases([OWN]) if case.model not in NO_MODEL]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_worked_case(case: Case) -> None:
    check_case(case)
