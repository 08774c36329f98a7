"""A page of one table in the place of another's: found by its checksum, and where that is right, by what it holds."""

from __future__ import annotations

from contextlib import closing, suppress

import apsw
import pytest
from reliability.databases import TAKEN_AS_TOLD, answers, sound_store, verdict
from sqlite_files import connected

from semgraph import KnowledgeGraph, StoreCorrupt, pages
from semgraph.reader import Reader
from semgraph.store import open_store
from semgraph.store.schema import TABLES, RetractionRow

_NAMES = sorted(definition.name for definition in TABLES.values())


#: Read as rows of the first, pages of the second have values of types that its columns never have.
_MISLEADING = (
    ("scope", "symbol"),
    ("scope", "claim"),
    ("entity", "alias_by_entity"),
    ("entity", "claim_by_object_predicate"),
    ("fact", "symbol"),
    ("justification", "claim_by_id"),
    ("retraction", "fact_by_id"),
    ("retraction", "justification_by_premise"),
    ("compat", "claim_by_subject_predicate"),
    ("declared", "alias_by_entity"),
    ("definition", "veto"),
    ("veto", "entity"),
    ("veto", "claim_by_id"),
    ("veto", "justification"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "store.db"
    sound_store(path)
    with closing(connected(path)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    return path.read_bytes(), roots, answers(path)


def swapped(content, here, there, *, sealed):
    """The file with the page of one number in the place of another, its checksum made right for the place or not."""
    start, end = ((number - 1) * pages.PAGE for number in (here, there))
    page = content[end : end + pages.PAGE]
    if sealed:
        page = page[: -pages.RESERVED] + pages.checksum(page, start)
    return content[:start] + page + content[start + pages.PAGE :]


@pytest.mark.parametrize("name", _NAMES)
def test_a_whole_page_in_another_place_is_refused(sound, tmp_path, name):
    content, roots, _ = sound
    path = tmp_path / "store.db"
    for other in {roots[each] for each in _NAMES} - {roots[name]}:
        path.write_bytes(swapped(content, roots[name], other, sealed=False))
        assert pages.damaged_pages([path.read_bytes()]) == [roots[name]]
    with pytest.raises(apsw.CorruptError), closing(connected(path)) as connection:
        connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608  # a name of ours


@pytest.mark.parametrize(("name", "other"), _MISLEADING)
def test_a_page_of_another_table_is_no_answer(sound, tmp_path, name, other):
    content, roots, right = sound
    path = tmp_path / "store.db"
    path.write_bytes(swapped(content, roots[name], roots[other], sealed=True))
    found = verdict(path, right)  # raises where anything undeclared does
    assert found != "otherwise" or name in TAKEN_AS_TOLD


def test_the_pages_of_a_long_text_are_looked_at_too(tmp_path):
    path = tmp_path / "store.db"
    with KnowledgeGraph(path, embedder=None) as kg:
        kg.retract(kg.add("Ann", "likes", "tea"), reason="because " * 2_000)
    content = path.read_bytes()
    page = content[-pages.PAGE :]  # with the end of the reason
    for last in (b"", page[:3], bytes(pages.PAGE), page[:9] + b"!" + page[10:]):
        path.write_bytes(content[: -pages.PAGE] + last)
        with pytest.raises(StoreCorrupt):
            reason_of(path)
    path.write_bytes(content)
    assert reason_of(path) == "because " * 2_000


def reason_of(path):
    with closing(open_store(path, read_only=True)) as store, store.read():
        (row,) = store.select(RetractionRow, 1)
        return row.reason


@pytest.mark.parametrize("gone", [1, 4, 30, 4_000])
def test_a_file_that_ends_within_its_last_page_is_damaged(sound, tmp_path, gone):
    content, _, _ = sound
    path = tmp_path / "store.db"
    path.write_bytes(content[:-gone])
    assert pages.damaged_pages([path.read_bytes()]) == [len(content) // pages.PAGE]
    try:
        with KnowledgeGraph(path, embedder=None, read_only=True) as kg:
            assert kg.verify()
    except StoreCorrupt:
        pass


def test_a_fact_that_is_found_and_not_there_is_damage(monkeypatch):
    with KnowledgeGraph(embedder=None) as kg:
        kg.add("Ann", "lives_in", "Oslo")
        assert kg.recall("where does Ann live?")
        monkeypatch.setattr(Reader, "by_id", lambda _reader, _ids: {})
        with pytest.raises(StoreCorrupt, match="a fact of the store is damaged"):
            kg.recall("where is Ann?")


@pytest.mark.parametrize("table", ["fact", "claim"])
def test_a_positive_fact_without_an_object_is_damage_that_verify_tells(tmp_path, table):
    path = tmp_path / "store.db"
    sound_store(path)
    with closing(connected(path)) as connection:
        connection.execute(f"UPDATE {table} SET object = ''")  # noqa: S608  # a name of ours
        assert connection.changes()
        connection.pragma("journal_mode", "delete")
    with KnowledgeGraph(path, embedder=None, read_only=True) as kg:
        for question in ("where does Ann live?", "which host runs on version 3?"):
            with suppress(StoreCorrupt):
                assert str(kg.recall(question)) is not None
        assert kg.verify()
