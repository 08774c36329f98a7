"""The demo: all of its data is loaded exactly, and the tour shows what the commands really print."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from semgraph import AmbiguousNameError, KnowledgeGraph
from semgraph.cli import main
from semgraph.demo import load, office_holders

if TYPE_CHECKING:
    from pathlib import Path

    from semgraph.model import Entity


@pytest.fixture(scope="module")
def holders() -> KnowledgeGraph:
    kg = KnowledgeGraph()
    load(kg)
    return kg


@pytest.fixture(scope="module")
def people(holders: KnowledgeGraph) -> dict[str, Entity]:
    """Each person's entity, found by the claims that came from the person's own record."""
    return {
        claim.source_ref.removeprefix("bioguide:"): claim.subject for claim in holders.claims(predicate="birth_date")
    }


def test_every_person_is_an_entity_of_their_own(people: dict[str, Entity]):
    assert set(people) == {person["id"] for person in office_holders()["people"]}
    assert len(set(people.values())) == 80


def test_every_term_holds_on_its_days_and_on_no_other(holders: KnowledgeGraph, people: dict[str, Entity]):
    data = office_holders()
    terms = [(t, people[p["id"]]) for p in data["people"] for t in p["terms"]]
    days = {day for term, _ in terms for day in (term["start"], term["end"])}
    for day in sorted(days):
        for kind, office in data["offices"].items():
            wanted = {who for term, who in terms if term["type"] == kind and term["start"] <= day < term["end"]}
            assert {fact.object for fact in holders.at(day).values(office, "held_by")} == wanted, (day, office)


def test_names_and_aliases_find_their_people(holders: KnowledgeGraph, people: dict[str, Entity]):
    bearers: dict[str, set[Entity]] = {}
    for person in office_holders()["people"]:
        for name in (person["name"], *person["aliases"]):
            bearers.setdefault(name, set()).add(people[person["id"]])
    for name, found in bearers.items():
        assert set(holders.candidates(name)) == found
        if len(found) == 1:
            assert holders.entity(name) in found
        else:
            with pytest.raises(AmbiguousNameError):
                holders.entity(name)
    assert sorted(name for name, found in bearers.items() if len(found) > 1) == ["George Bush", "John Adams"]


def test_nothing_is_in_conflict_and_all_follows_from_the_claims(holders: KnowledgeGraph):
    assert holders.during().conflicts() == []
    assert holders.verify() == []


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints, and the file that it keeps."""
    import contextlib
    import io

    path, out = tmp_path_factory.mktemp("demo") / "kept.db", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out):
        assert main(["demo", "--keep", str(path)]) == 0
    out.flush()
    return out.buffer.getvalue().decode(), path


@pytest.mark.parametrize(
    "shown",
    [
        "$ semgraph timeline 'Theodore Roosevelt'\n",
        "1901-09-14  1909-03-04",
        "1841-04-03 value 'President of the United States' held_by\nWilliam Harrison\n",
        "1841-04-04 value 'President of the United States' held_by\nJohn Tyler\n",
        "$ semgraph value 'Jimmy Carter' birth_date\n1924-10-01\n",
        "semgraph: 'George Bush' names 2 entities",
        "\n2001-01-20  2009-01-20",
        "given_by\nQueen Victoria\n",
        "given_by\nElizabeth II\n",
        "\nconflict: Theodore Roosevelt birth_place Oyster Bay",
        "Theodore Roosevelt birth_place: New York City or Oyster Bay?",
        "\nupdate: Theodore Roosevelt birth_place New York City",
        "birth_place\nNew York City\n",
        "exported to ",
        "$ semgraph verify\nno problems\n",
    ],
)
def test_tour_shows(tour: tuple[str, Path], shown: str):
    assert shown in tour[0]


def test_tour_prints_what_its_commands_print(tour: tuple[str, Path], capsys: pytest.CaptureFixture[str]):
    text, path = tour
    blocks = re.findall(r"^\$ semgraph (.*)\n((?:(?![$#]|$).*\n)*)", text, re.MULTILINE)
    assert len(blocks) > 12
    reads = {"timeline", "--at", "about", "--known-at", "history", "verify"}
    again = [(shlex.split(line), output) for line, output in blocks if shlex.split(line)[0] in reads]
    for words, output in again:
        if "Theodore Roosevelt" in words:  # of whom more was told later in the tour
            continue
        main(["--db", str(path), *words])
        assert "".join(capsys.readouterr()) == output


def test_kept_file_is_sound_and_has_the_record_of_the_tour(tour: tuple[str, Path]):
    with KnowledgeGraph(tour[1], read_only=True) as kg:
        assert kg.verify() == []
        assert kg.value("Resolute desk", "given_by") == "Queen Victoria"
        assert [v.fact.object.label for v in kg.history("Resolute desk", "given_by")] == [
            "Elizabeth II",
            "Queen Victoria",
        ]


def test_without_keep_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["demo"]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "a.db").write_text("precious")
    assert main(["demo", "--keep", str(tmp_path / "a.db")]) == 1
    assert (tmp_path / "a.db").read_text() == "precious"
    assert "exists already" in capsys.readouterr().err
