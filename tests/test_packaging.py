"""What a user gets: the wheel holds the package, its data and its licence, and nothing else."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
KEPT = ("id", "name", "aliases", "birthday")
KEPT_OF_TERM = ("type", "start", "end", "party")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    tree = (path for path in (ROOT / "semgraph").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert inside == {path.relative_to(ROOT).as_posix() for path in tree}
    assert {"semgraph/py.typed", "semgraph/data/office_holders.json"} <= inside


def test_wheel_carries_licence_notice_and_commands(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition(".dist-info/")[2]: name for name in archive.namelist()}
        meta = Parser().parsestr(archive.read(names["METADATA"]).decode())
        commands = archive.read(names["entry_points.txt"]).decode()
        for name in ("LICENSE", "NOTICE"):
            assert archive.read(names[f"licenses/{name}"]) == (ROOT / name).read_bytes()
        recorded = {row[0] for row in csv.reader(archive.read(names["RECORD"]).decode().splitlines())}
        assert recorded == set(archive.namelist())
    assert (meta["Name"], meta["Version"]) == ("semgraph", PROJECT["version"])
    assert meta["License-Expression"] == "Apache-2.0"
    assert meta["Requires-Python"] == ">=3.11"
    assert commands.split("\n")[:2] == ["[console_scripts]", "semgraph = semgraph.__main__:main"]


def test_licence_is_the_full_apache_text():
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2


def test_changelog_speaks_of_this_version():
    heads = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert PROJECT["version"] in heads


def test_notice_names_each_file_of_data():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for path in (ROOT / "semgraph" / "data").iterdir():
        assert path.name == "README.md" or path.relative_to(ROOT).as_posix() in notice


def office_holders() -> dict:
    return json.loads((resources.files("semgraph") / "data" / "office_holders.json").read_text(encoding="utf-8"))


def test_demo_data_is_complete():
    data = office_holders()
    people = data["people"]
    assert data["licence"] == "CC0-1.0"
    assert len(people) == len({person["id"] for person in people}) == 80
    terms = [term for person in people for term in person["terms"]]
    assert len(terms) == 131
    assert {term["type"] for term in terms} == set(data["offices"])
    assert all(term["start"] < term["end"] for term in terms)


@pytest.mark.shared_data
def test_demo_data_is_the_source_less_the_fields_left_out(shared_data: Path):
    with gzip.open(shared_data / "us_office_holders" / "executive.jsonl.gz", "rt", encoding="utf-8") as lines:
        source = [json.loads(line) for line in lines]
    expected = [
        {key: person[key] for key in KEPT}
        | {"terms": [{key: term[key] for key in KEPT_OF_TERM} for term in person["terms"]]}
        for person in source
    ]
    assert office_holders()["people"] == expected
