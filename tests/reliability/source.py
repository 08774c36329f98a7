"""S15, S16, S20 and the lint of S1: what must not stand in the source, in what is logged, or among the dependencies."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import logging
import os
import re
import subprocess
import sys
import tomllib
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from histories import Clock, graph
from packaging.requirements import Requirement

from semgraph import KnowledgeGraph, SemgraphError
from semgraph.store.schema import TABLES, ScopeRow

from . import breaks
from .calls import called, methods
from .fuzz import anything
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "semgraph"

# -- S15

SECRETS = ("Quexilor", "Vantropian", "Druskwold")


@check(
    "S15", "logs and tracebacks", "no fact text at INFO and above", c=500, n=10_000, broken=breaks.what_a_handle_shows
)
def logs(trial: Trial) -> str:
    """Texts of facts stand in no log, warning, repr of a handle, or message of an error that did not come with them."""
    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage() + str(record.exc_info))

    root, ear = logging.getLogger(), Ear(logging.INFO)
    root.addHandler(ear)
    root.setLevel(logging.INFO)
    errors = 0
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        warned = stack.enter_context(warnings.catch_warnings(record=True)) or []
        warnings.simplefilter("always")
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(contextlib.chdir(trial.folder))
        with graph(trial.folder / "store.db", durability="relaxed", clock=Clock()) as kg:
            secret = " ".join(SECRETS)
            kg.add("Ann", "likes", "tea", text=secret, source_ref=secret, qualifiers={"why": secret})
            kg.add("Ann", "goal", f"to see {secret} one fine day, with all of its rooms")
            names = [name for name in methods() if name not in ("close", "backup")]
            for done in trial.steps():
                errors += _quiet(kg, names[done % len(names)], trial)
            handles = [
                kg,
                kg.at("2020"),
                kg.during(),
                kg.names,
                kg.predicates,
                kg.vetoes,
                kg._session,
                kg._session.store,
            ]
            for handle in handles:
                assert not _spoken(repr(handle)), repr(handle)
    root.removeHandler(ear)
    for said in (*heard, *(str(w.message) for w in warned), out.getvalue(), err.getvalue()):
        assert not _spoken(said), said
    figure = f"{trial.size} calls, {errors} errors, {len(heard)} log records, {len(handles)} handles"
    return f"{figure}: 0 with the text of a fact"


def _quiet(kg: KnowledgeGraph, name: str, trial: Trial) -> bool:
    """Whether a call with nonsense raised; its error must not tell of facts."""
    import inspect

    method: Any = kg
    for part in name.split("."):
        method = getattr(method, part)
    given = {
        p.name: anything(trial.random, kg)
        for p in inspect.signature(method).parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name not in ("everything", "export_to", "path")
    }
    if name in ("forget", "purge") or _spoken(repr(given)):
        return False
    said = ""
    with contextlib.suppress(TypeError):  # an argument left out
        try:
            called(method, given)
        except SemgraphError as error:
            said = str(error)
    assert not _spoken(said), f"{name}: {said}"
    assert not re.search(r"\b(FROM|INTO|UPDATE) (claim|fact|entity|alias|scope)\b", said), said
    return bool(said)


def _spoken(text: str) -> bool:
    return any(secret.lower() in text.lower() for secret in SECRETS)


# -- S16

FORBIDDEN = {
    "pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "xmlrpc", "telnetlib", "ftplib",
    "code", "codeop", "imp",
}  # fmt: skip
CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
ATTRIBUTES = {
    ("yaml", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load"), ("os", "system"), ("os", "popen"), ("np",
    "loads"),
    ("apsw", "enable_load_extension"), ("random", "seed"), ("tempfile", "mktemp"),
}  # fmt: skip
#: The name of an error is no parser.
HARMLESS = {"ParseError"}
XML = {"xml.etree", "xml.dom", "xml.sax", "xml.etree.ElementTree", "lxml"}


@check(
    "S16", "unsafe deserialisation", "no pickle, eval, yaml.load or exec in the package", c=1, n=1, broken=breaks.source
)
def serialisation(_: Trial) -> str:
    """No module of the package reads objects, code or XML in a way that can run what it reads.

    Arrays are read without pickles; YAML by a safe loader; XML parsers come from defusedxml.
    """
    wrong = [
        found for path in sorted(PACKAGE.rglob("*.py")) for found in unsafe(path.read_text(encoding="utf-8"), path.name)
    ]
    assert wrong == [], wrong
    return f"{len(list(PACKAGE.rglob('*.py')))} modules, 0 unsafe ways to read"


def unsafe(code: str, name: str) -> Iterator[str]:
    """What in a module could run what it reads."""
    for node in ast.walk(ast.parse(code)):
        where = f"{name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
            yield from (f"{where} imports {n}" for n in named if n.split(".")[0] in FORBIDDEN or n in XML)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if {alias.name for alias in node.names} <= HARMLESS:
                continue
            if node.module.split(".")[0] in FORBIDDEN or node.module in XML:
                yield f"{where} imports {node.module}"
        elif isinstance(node, ast.Call):
            yield from _unsafe_call(node, where)


def _unsafe_call(node: ast.Call, where: str) -> Iterator[str]:
    words = {keyword.arg: keyword.value for keyword in node.keywords}
    if isinstance(node.func, ast.Name) and node.func.id in CALLS:
        yield f"{where} calls {node.func.id}"
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        owner, attribute = node.func.value.id, node.func.attr
        loader = words.get("Loader") or (node.args[1] if len(node.args) > 1 else None)
        safe = owner == "yaml" and loader is not None and "Safe" in ast.dump(loader).replace("_Loader", "SafeLoader")
        if (owner, attribute) in ATTRIBUTES and not safe:
            yield f"{where} calls {owner}.{attribute}"
    for risky in ("allow_pickle", "shell"):
        if isinstance(words.get(risky), ast.Constant) and words[risky].value:
            yield f"{where} says {risky}=True"


# -- the lint of S1 and S5: every statement on a scoped table binds the scope, and no value stands in its text

_NAMES = "|".join(table.name for row, table in TABLES.items() if row is not ScopeRow)
_SCOPED = re.compile(rf"\b(?:FROM|INTO|UPDATE|JOIN)\s+({_NAMES})\b", re.IGNORECASE)


#: Whether facts have rows of their own at all, and where the table of claims ends: told nobody.
OF_THE_FILE = {"SELECT 1 FROM fact LIMIT 1", "SELECT rowid, id, recorded_at FROM claim ORDER BY rowid DESC LIMIT 1"}


#: Calls that are about the whole file (whether its rows are whole, where bytes are left), or that read nothing.
WHOLE_FILE = {"verify", "purge", "backup", "close", "__repr__", "vetoes.__iter__", "vetoes.lift"}


@check(
    "S21",
    "statements bind their scope",
    "every statement on a scoped table",
    c=250,
    n=10_000,
    broken=breaks.binding_of_the_scope,
)
def statements(trial: Trial) -> str:
    """While every public method runs, each statement on a table that has scopes names the scope as a parameter.

    And no text of the caller stands in a statement: all is bound.
    """
    from test_bad_input import _shared, sensible
    from test_bad_input import _usable as usable

    seen: dict[str, Any] = {}

    def trace(_: Any, sql: str, bindings: Any) -> bool:
        seen.setdefault(sql, bindings)
        return True

    with contextlib.chdir(trial.folder):
        kg = _shared()
        kg._session.store._connection.exec_trace = trace
        names = [name for name in methods() if name not in WHOLE_FILE]
        for done in trial.steps():
            if not usable(kg):
                kg.close()
                kg = _shared()
                kg._session.store._connection.exec_trace = trace
            name = names[done % len(names)]
            method: Any = kg
            for part in name.split("."):
                method = getattr(method, part)
            with contextlib.suppress(SemgraphError):
                found = called(method, sensible(name, kg, trial.folder))
                if hasattr(found, "__next__"):
                    list(found)
        kg.close()
    scoped = {sql: bound for sql, bound in seen.items() if _SCOPED.search(sql)}
    for sql, bound in scoped.items():
        if sql in OF_THE_FILE:
            continue
        assert bound, f"nothing is bound: {sql}"
        assert binds_scope(sql), f"the scope is not bound: {sql}"
    assert len(scoped) > 50, "the trace saw too little"
    told = [sql for sql in seen if re.search(r"'(Ann|Bo|Acme|Globex|Zed|tea)'", sql)]
    assert told == [], told
    figure = f"{len(scoped)} statements on scoped tables bind their scope"
    return f"{figure}; {len(seen)} in all, 0 with a value in the text"


def binds_scope(sql: str) -> bool:
    """Whether a statement names the scope as a parameter, gives it with a row, or means rows found by it before."""
    plain = " ".join(sql.split())
    if re.match(r"(INSERT|REPLACE)\b", plain, re.IGNORECASE):
        return bool(re.search(r"\(\s*scope\b", plain)) or "scope = ?" in plain
    return bool(re.search(r"\bscope\s*=\s*(\?|:\w+|\w+\.scope)|\browid = \?", plain))


# -- S20

#: What the design allows at run time, and what came later with a reason: PyYAML reads probe files that people write by
#: hand; tzdata is the table of zones where the system has none.
ALLOWED = {
    "numpy", "networkx", "rapidfuzz", "pydantic", "click", "apsw", "rich", "platformdirs", "defusedxml", "edtf",
    "dateparser",
    "snowballstemmer", "pyyaml", "tzdata",
}  # fmt: skip
#: What those bring along.
BROUGHT = {
    "annotated-types", "pydantic-core", "typing-extensions", "typing-inspection", "markdown-it-py", "mdurl",
    "pygments", "colorama",
    "python-dateutil", "pytz", "regex", "tzlocal", "six",
}  # fmt: skip


@check(
    "S20",
    "supply chain",
    "runtime closure as designed, floors pinned, builds reproducible",
    c=1,
    n=1,
    broken=breaks.dependencies,
)
def supply_chain(trial: Trial) -> str:
    """The dependencies are those of the design, each with a floor,
    and bring along what is listed; two builds are equal.

    Known vulnerabilities are looked up outside of the tests, which have no network.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [Requirement(line) for line in project["dependencies"]]
    assert {_name(one.name) for one in declared} <= ALLOWED
    for one in (
        *declared,
        *(Requirement(line) for lines in project["optional-dependencies"].values() for line in lines),
    ):
        floored = any(spec.operator in (">=", "==", "~=") for spec in one.specifier)
        assert floored or one.name.startswith(("types-", "semgraph")), f"{one} has no floor"
        assert one.url is None, f"{one} is fetched from a place of its own"
    closure = _closure({_name(one.name) for one in declared})
    assert closure <= ALLOWED | BROUGHT, sorted(closure - ALLOWED - BROUGHT)
    sums = {_built(trial.folder / str(n)) for n in range(2)}
    assert len(sums) == 1, "two builds of the same tree differ"
    figure = f"{len(declared)} dependencies with floors, {len(closure)} distributions in all"
    return f"{figure}; sdist and wheel built twice are equal"


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _closure(names: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # of another system
            continue
        found.add(name)
        for line in needs:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                waiting.append(_name(need.name))
    return found


def _built(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return " ".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir()))
