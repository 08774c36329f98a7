"""The documentation is a test: every session shown in it is run, and must print what it shows.

- `>>>` lines in ``python`` blocks of a document are one doctest session, from its first block to its last.
- `$` lines in ``console`` blocks are run as real processes, all blocks of a document in one empty folder.
- Docstrings of the package and scripts in `examples/` are run too.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import semgraph
from semgraph.engine import KnowledgeGraph
from semgraph.handles import Names, Predicates, Vetoes
from semgraph.temporal import parse_bound

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = ["semgraph", *sorted(m.name for m in pkgutil.walk_packages(semgraph.__path__, "semgraph."))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA")
WITHIN = {"chunks", "held_rows", "moment", "reading"}  # for modules of the package itself
PROGRAMS = {"semgraph": [sys.executable, "-m", "semgraph"], "python": [sys.executable]}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line, from 1


@dataclass(frozen=True)
class Command:
    line: int
    words: list[str]
    want: str


def blocks(text: str, language: str) -> list[Block]:
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start(2)) + 1)
        for found in FENCE.finditer(text)
        if found[1] == language
    ]


def session(text: str) -> str:
    """The python blocks of a document at their own line numbers, all else blank."""
    lines = [""] * text.count("\n")
    for block in blocks(text, "python"):
        shown = block.text.splitlines()
        lines[block.line - 1 : block.line - 1 + len(shown)] = shown
    return "\n".join(lines) + "\n"


def commands(text: str) -> list[Command]:
    """Each `$` line of the console blocks, with the output shown beneath it."""
    found: list[Command] = []
    for block in blocks(text, "console"):
        for number, line in enumerate(block.text.splitlines(), block.line):
            if line.startswith("$ "):
                found.append(Command(number, shlex.split(line[2:], comments=True), ""))
            else:
                assert found, f"line {number}: output before any command"
                last = found[-1]
                found[-1] = Command(last.line, last.words, f"{last.want}{line}\n")
    return found


def environment(folder: Path) -> dict[str, str]:
    """A plain terminal of 100 columns, with this tree first on the path and no store of the user's in sight."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SEMGRAPH_")}
    plain = {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb", "PYTHONUTF8": "1"}
    homes = dict.fromkeys(HOMES, str(folder / ".home"))
    return kept | plain | homes


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def check_console(text: str, folder: Path) -> list[str]:
    """What differs between the shown and the real output; `$ echo $?` shows the exit status of the line before."""
    checker, problems, status = doctest.OutputChecker(), [], 0
    for command in commands(text):
        if command.words == ["echo", "$?"]:
            got, status = f"{status}\n", 0
        elif status:
            problems.append(f"the command before line {command.line} failed with {status}, and nothing shows it")
            status = 0
            continue
        elif command.words[0] not in PROGRAMS:
            problems.append(f"line {command.line}: only {', '.join(PROGRAMS)} can be run, not {command.words[0]!r}")
            continue
        else:
            done = run([*PROGRAMS[command.words[0]], *command.words[1:]], folder)
            got, status = done.stdout, done.returncode
        example = doctest.Example(shlex.join(command.words), command.want)
        if not checker.check_output(example.want, got, FLAGS):
            shown = checker.output_difference(example, got, FLAGS)
            problems.append(f"line {command.line}: $ {shlex.join(command.words)}\n{shown}")
    if status:
        problems.append(f"the last command failed with {status}, and nothing shows it")
    return problems


def check_session(text: str, name: str) -> str:
    test = doctest.DocTestParser().get_doctest(session(text), {"__name__": "__main__"}, name, name, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS | doctest.REPORT_ONLY_FIRST_FAILURE).run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_python_sessions_print_what_they_show(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = path.read_text(encoding="utf-8")
    unshown = [block.line for block in blocks(text, "python") if not block.text.startswith(">>> ")]
    assert not unshown, f"python blocks that are no sessions, at lines {unshown}"
    monkeypatch.chdir(tmp_path)
    report = check_session(text, path.name)
    assert not report, report


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_console_sessions_print_what_they_show(path: Path, tmp_path: Path):
    problems = check_console(path.read_text(encoding="utf-8"), tmp_path)
    assert not problems, "\n".join(problems)


def anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_links_lead_somewhere(path: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        linked = path.parent / name if name else path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked.read_text(encoding="utf-8")), target


def test_each_date_in_the_readme_is_read():
    _, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Time\n")
    rows = re.findall(r"^\| (`.*?) \|", rest.partition("\n## ")[0], re.MULTILINE)
    dates = [date for row in rows for date in re.findall(r"`([^`]+)`", row)]
    assert len(dates) > 10
    for date in dates:
        parse_bound(date)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_show(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        runner.run(test, out=report.append)
    assert not report, "".join(report)


def unexampled(kind: type) -> list[str]:
    """The public methods of a class, inherited ones of the package too, whose docstrings show no example."""
    methods = {name: method for base in reversed(kind.__mro__) for name, method in vars(base).items()}
    shown = {name: method for name, method in methods.items() if inspect.isroutine(method) and name[0] != "_"}
    return sorted(name for name, method in shown.items() if ">>>" not in (method.__doc__ or ""))


@pytest.mark.parametrize("kind", [KnowledgeGraph, Names, Predicates, Vetoes])
def test_every_method_shows_an_example(kind: type):
    assert set(unexampled(kind)) <= WITHIN


@pytest.mark.parametrize("path", EXAMPLES, ids=relative)
def test_example_runs(path: Path, tmp_path: Path):
    done = run([sys.executable, "-W", "error", str(path)], tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.strip()


# -- the harness itself: a check that can't fail proves nothing


@pytest.mark.parametrize(
    ("shown", "ends"),
    [
        ("$ python -c 'print(1)'\n1\n", None),
        ("$ python -c 'print(1)'  # a remark\n1\n", None),
        ("$ python -c 'print(1)'\n2\n", "Got:\n    1"),
        ("$ python -c 'print(1)'\n", "Got:\n    1"),
        ("$ python -c 'raise SystemExit(3)'\n$ echo $?\n3\n", None),
        ("$ python -c 'raise SystemExit(3)'\n", "the last command failed with 3, and nothing shows it"),
        ("$ python -c 'raise SystemExit(3)'\n$ python -c 1\n", "failed with 3, and nothing shows it"),
        ("$ rm -r .\n", "only semgraph, python can be run, not 'rm'"),
    ],
)
def test_console_harness_sees_a_difference(shown: str, ends: str | None, tmp_path: Path):
    problems = check_console(f"# A\n\n```console\n{shown}```\n", tmp_path)
    if ends is None:
        assert problems == []
    else:
        assert problems[0].strip().endswith(ends)


def test_session_harness_sees_a_difference_at_its_line():
    text = "# A\n\n```python\n>>> x = 2\n```\n\n```sh\nnot run\n```\n\n```python\n>>> x\n{}\n```\n"
    assert check_session(text.format(2), "A.md") == ""
    assert 'File "A.md", line 12' in check_session(text.format(3), "A.md")
