"""Every check of `tests/reliability` at the size of each commit, and the runner itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from reliability import every_check
from reliability.registry import Check
from reliability.running import Results, run

#: The same chance every time, so that a change is judged by what it changes.
SEED = int(os.environ.get("SEMGRAPH_SEED", "1"))

pytestmark = pytest.mark.reliability


@pytest.mark.parametrize("id", every_check())
def test_promise(id):
    result = run(every_check()[id], "C", seed=SEED)
    assert result.passed, result.figure
    assert result.figure


@pytest.mark.parametrize("id", [id for id, check in every_check().items() if check.broken])
def test_a_broken_build_is_caught(id):
    result = run(every_check()[id], "C", seed=SEED, broken=True)
    assert not result.passed, result.figure
    assert "Traceback" in result.figure


def measured(trial):
    return f"{sum(1 for _ in trial.steps())} of {trial.size} in {trial.folder.is_dir()}"


def broken(trial):
    assert trial.random.random() > 1, "more than one"


def dying(_trial):
    os._exit(0)


def some(work):
    return Check("Z1", "a check", "a figure", {"C": 3, "N": 30, "R": 300}, work)


def test_a_check_gives_its_figure():
    result = run(some(measured), "C", seed=5)
    assert (result.passed, result.figure, result.seed) == (True, "3 of 3 in True", 5)


@pytest.mark.parametrize(("work", "why"), [(broken, "seed=5"), (dying, "died")])
def test_a_check_that_fails_or_dies_has_failed(work, why):
    result = run(some(work), "C", seed=5)
    assert not result.passed
    assert why in result.figure


def test_a_finished_check_is_not_repeated_and_a_failed_one_is(tmp_path):
    good, bad = run(some(measured), "C", seed=5), run(some(broken), "N", seed=5)
    first = Results(tmp_path / "state")
    first.keep(good)
    first.keep(bad)
    again = Results(tmp_path / "state")
    assert again.finished("Z1", "C", 3, None) == again.finished("Z1", "C", 3, 5) == good
    assert again.finished("Z1", "C", 4, None) is None, "of another size"
    assert again.finished("Z1", "C", 3, 6) is None, "of another seed"
    assert again.finished("Z1", "N", 30, None) is None, "failed"
    assert Results(tmp_path / "state", fresh=True).finished("Z1", "C", 3, None) is None


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tests.reliability", *map(str, arguments)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_command_prints_a_table_and_goes_on_where_it_was(tmp_path):
    given = ("--tier", "C", "--only", "K1", "--scale", "0.02", "--seed", 3, "--state", tmp_path / "state")
    first, second = command(*given), command(*given)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "1 kills, 0 lost" in first.stdout
    assert "| pass |" in first.stdout
    assert first.stdout == second.stdout
    assert "finished earlier" in second.stderr


def test_the_command_says_what_is_missing_to_run_the_checks():
    without = (
        "import sys, runpy; sys.modules['anyio'] = None; runpy.run_module('tests.reliability', run_name='__main__')"
    )
    words = [sys.executable, "-c", without, "--tier", "C", "--only", "K1"]
    done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"the module anyio is missing" in done.stderr


def test_the_command_knows_its_checks():
    finished = command("--tier", "C", "--only", "K1,X9")
    assert finished.returncode == 2
    assert "no check X9" in finished.stderr
