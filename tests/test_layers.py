"""The shape of the source: imports point down, modules stay short, and what is imported late stays late."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import semgraph

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "semgraph"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MAX_LINES = 500
HEAVY = {"dateparser", "edtf", "mcp", "networkx", "numpy", "openai", "pydantic", "rapidfuzz", "rich", "yaml"}
OPTIONAL = PROJECT["project"]["optional-dependencies"]
# Named by the user for what is to come; no module needs it yet.
DECLARED_AHEAD: set[str] = set()
# Imported under another name than they are installed by.
IMPORTED_AS = {"pyyaml": "yaml"}
# Not imported at all.
DATA_ONLY = {"tzdata"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that sees this tree first."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_imports_keep_to_the_contracts():
    done = python("import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_contract_still_speaks_of_modules_that_exist():
    modules = {"semgraph", *(m.name for m in pkgutil.walk_packages(semgraph.__path__, "semgraph."))}
    named = {
        name
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        for key in ("source_modules", "forbidden_modules")
        for name in contract.get(key, ())
        if name.startswith("semgraph.")
    }
    assert named <= modules


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_module_is_short_and_says_what_it_is(path: Path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MAX_LINES
    assert (ast.get_docstring(tree) or "").strip(), "no docstring"


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("import", "import semgraph; semgraph.KnowledgeGraph, semgraph.read, semgraph.parse_when"),
        ("help", "from semgraph.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"),
    ],
)
def test_start_loads_nothing_heavy(what: str, code: str):
    done = python(f"{code}\nimport sys\nprint('LOADED', *sorted(m for m in sys.modules if '.' not in m))")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert "semgraph" in loaded
    assert not loaded & HEAVY, what


def test_help_loads_no_engine():
    done = python("from semgraph.cli import main; main(['--help']); import sys; print('LOADED', *sys.modules)")
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert "semgraph.cli.telling" in loaded
    assert not loaded & {"semgraph.engine", "semgraph.temporal", "semgraph.model", "apsw"}


def test_names_of_the_package_are_those_that_it_lists():
    assert set(semgraph.__all__) <= set(dir(semgraph))
    assert semgraph.model.Fact.__name__ == "Fact"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        semgraph.nothing  # noqa: B018 - asking is the test


def test_import_writes_nothing_and_opens_nothing(tmp_path: Path):
    code = f"import os; os.chdir({str(tmp_path)!r}); import semgraph, threading; print(threading.active_count())"
    done = python(code)
    assert (done.stdout.strip(), done.stderr) == ("1", "")
    assert list(tmp_path.iterdir()) == []


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def named(requirement: str) -> str:
    name = requirement.split(">", maxsplit=1)[0].split(";", maxsplit=1)[0].strip()
    return IMPORTED_AS.get(name, name)


def test_declared_dependencies_are_the_imported_ones():
    used = set().union(*map(imported, SOURCES)) - set(sys.stdlib_module_names) - {"semgraph"}
    declared = {named(line) for line in PROJECT["project"]["dependencies"]}
    extras = {named(line) for extra, lines in OPTIONAL.items() if extra != "dev" for line in lines}
    assert used <= declared | extras, "imported without being declared"
    assert extras <= used, "an extra that nothing uses"
    assert declared - used <= DECLARED_AHEAD | DATA_ONLY, "declared without being used"


def test_public_names_exist():
    for name in semgraph.__all__:
        assert getattr(semgraph, name) is not None
    assert len(set(semgraph.__all__)) == len(semgraph.__all__)


def test_every_module_imports_on_its_own():
    names = [m.name for m in pkgutil.walk_packages(semgraph.__path__, "semgraph.") if not m.name.endswith("__main__")]
    for name in names:
        assert importlib.import_module(name).__name__ == name
