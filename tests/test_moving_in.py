"""Moving in from other memories: each kind of file as claims with their times and words, previewed, and back again."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from cli_process import process
from histories import Clock, graph
from real_data import json_rows

import semgraph
from semgraph import ImportRejected
from semgraph.exchange.conversations import sessions_of, spoken_at
from semgraph.exchange.notes import note_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from semgraph import KnowledgeGraph

TYPED = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Likes tea", "likes tea", "Works late"]},
    {"type": "entity", "name": "Loom", "entityType": "Project", "observations": []},
    {"type": "relation", "from": "Ada", "to": "Loom", "relationType": "worksOn"},
    {"type": "relation", "from": "Ada", "to": "Ghost", "relationType": "synchronizes with"},
    {"type": "relation", "from": "Ada", "to": "Bo", "relationType": "manages"},
]
PLAIN = [
    {"name": "Ada", "entityType": "Person", "observations": ["A"], "createdAt": 1700000000, "updatedAt": 1700086400},
    {"name": "Bo", "entityType": "Person", "observations": [], "createdBy": "Ada"},
    {"from": "Ada", "to": "Bo", "relationType": "knows", "createdAt": 1700000000000},
]


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in objects)


def at(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def contents(objects: Iterable[dict[str, Any]]) -> tuple[Counter, Counter]:
    """What a memory file says, whatever its dialect and order."""
    entities, relations = Counter(), Counter()
    for one in objects:
        marks = tuple(sorted((key, one[key]) for key in one if key[:7] in ("created", "updated")))
        if "relationType" in one:
            relations[one["from"], one["to"], one["relationType"], marks] += 1
        else:
            entities[one["name"], one.get("entityType", ""), frozenset(one["observations"]), marks] += 1
    return entities, relations


def exported(kg: KnowledgeGraph) -> list[dict[str, Any]]:
    buffer = io.BytesIO()
    semgraph.write(kg, buffer, format="memory")
    return [json.loads(line) for line in buffer.getvalue().splitlines()]


# -- memory.jsonl


@pytest.mark.parametrize("told", [TYPED, PLAIN], ids=["typed", "plain with marks"])
def test_a_memory_file_comes_back_as_it_was(tmp_path: Path, told: list):
    kg = graph()
    batch = semgraph.read(kg, at(tmp_path, "memory.jsonl", lines(*told)))
    assert batch.rejected == ()
    entities, relations = contents(told)
    declared = {one["name"] for one in told if "name" in one}
    back = exported(kg)
    found_entities, found_relations = contents(one for one in back if one.get("name", "") in declared or "from" in one)
    assert (found_entities, found_relations) == (entities, relations)
    assert {one["name"] for one in back if "name" in one} >= declared
    assert kg.verify() == []


def test_marks_of_a_record_are_when_it_was_said(tmp_path: Path):
    kg = graph()
    semgraph.read(kg, at(tmp_path, "memory.jsonl", lines(*PLAIN)))
    said = {(claim.predicate, claim.object.label): str(claim.said_at) for claim in kg.claims("Ada")}
    assert said["entity_type", "Person"] == "2023-11-14T22:13:20Z"
    assert said["observation", "A"] == "2023-11-15T22:13:20Z"
    assert said["knows", "Bo"] == "2023-11-14T22:13:20Z"


def test_a_mark_that_lies_ahead_is_kept_and_not_believed(tmp_path: Path):
    kg = graph()
    ahead = {"name": "Ada", "entityType": "Person", "observations": [], "createdAt": 4000000000}
    batch = semgraph.read(kg, at(tmp_path, "m.jsonl", lines(ahead)))
    [claim] = kg.claims("Ada")
    assert (batch.counts, str(claim.said_at)[:4], claim.qualifiers) == ({"new": 1}, "2024", {"createdAt": 4000000000})


def test_one_bad_line_is_told_and_costs_nothing_else(tmp_path: Path):
    data = lines(TYPED[0]) + b"{broken\n\n" + lines({"type": "relation", "from": "Ada"}, TYPED[1]) + b"\xff\n"
    kg = graph()
    batch = semgraph.read(kg, at(tmp_path, "memory.jsonl", data))
    assert batch.rejected_at == (2, 4, 6)
    assert [one.code for one in batch.rejected] == ["bad_row"] * 3
    assert batch.counts == {"new": 5, "rejected": 3}
    assert {"Ada", "Loom"} <= {entity.label for entity in kg.entities()}


def test_names_that_differ_in_case_are_one_and_ends_of_relations_exist(tmp_path: Path):
    told = [
        {"type": "entity", "name": "alice", "entityType": "person", "observations": ["Sings"]},
        {"type": "relation", "from": "Alice", "to": "Nowhere", "relationType": "visits"},
    ]
    kg = graph()
    batch = semgraph.read(kg, at(tmp_path, "memory.jsonl", lines(*told)))
    assert [entity.label for entity in kg.entities()] == ["alice", "Nowhere"]
    assert any("no line declares" in note for note in batch.notes)


def test_what_an_import_says_counts_well_and_names_lines_only_where_there_are_some(tmp_path: Path):
    at(tmp_path, "memory.jsonl", lines({"type": "entity", "name": " ", "entityType": "x", "observations": ["a"]}))
    said = process(tmp_path, "--db", "a.db", "import", "memory.jsonl").stderr.decode()
    assert "1 entity and 0 relations" in said
    assert "(2 times: line 1)" in said
    memories = [{"id": "a", "memory": "Maya lives in Oslo"}, {"id": "b", "memory": ""}]
    (tmp_path / "mem0.json").write_text(json.dumps({"results": memories}), encoding="utf-8")
    said = process(tmp_path, "--db", "a.db", "import", "mem0.json").stderr.decode()
    assert "rejected: empty_entity" in said
    assert "line " not in said


def test_an_empty_or_foreign_memory_file_is_refused(tmp_path: Path):
    for data, code in ((b"", "empty"), (b"\n\n", "empty"), (b'{"a": 1}\n', "foreign")):
        with pytest.raises(ImportRejected) as refused:
            semgraph.read(graph(), at(tmp_path, "m.jsonl", data), format="memory")
        assert refused.value.code == code


def test_any_graph_can_be_written_for_the_reference_server():
    kg = graph()
    kg.add("Maya", "works_at", "Stripe", valid_from="2021")
    kg.add("Maya", "works_at", "Linear", valid_from="2023")
    kg.add("Maya", "birth_date", "1990-05-03")
    told = exported(kg)
    assert [(one["from"], one["relationType"], one["to"]) for one in told if "from" in one] == [
        ("Maya", "works_at", "Linear")
    ]
    assert next(one for one in told if one.get("name") == "Maya")["observations"] == ["birth date: 1990-05-03"]


# -- mem0

MEMORIES = {
    "results": [
        {
            "id": "m1", "memory": "User lives in Bergen", "user_id": "u7", "metadata": {"mood": "calm", "deep": [1]},
            "categories": ["home"], "created_at": "2023-02-01T10:00:00Z", "updated_at": "2023-03-01T10:00:00Z",
            "expiration_date": "2030-01-01", "score": 0.4,
        },
        {"id": "m2", "memory": "Enjoys long walks", "created_at": "2023-02-02T10:00:00-08:00"},
    ],
    "relations": [{"source": "u7", "relationship": "owns", "target": "bicycle"}],
}  # fmt: skip


def test_memories_of_mem0_keep_words_times_and_labels(tmp_path: Path):
    kg = graph()
    batch = semgraph.read(kg, at(tmp_path, "memories.json", json.dumps(MEMORIES)))
    assert batch.counts == {"new": 3}
    [home] = kg.claims("user", "lives_in")
    assert (home.object.label, home.text, str(home.said_at)) == (
        "Bergen", "User lives in Bergen", "2023-03-01T10:00:00Z",
    )  # fmt: skip
    assert (home.source, home.source_ref, home.valid_to) == ("imported:mem0", "mem0:m1", None)
    assert home.qualifiers == {
        "user_id": "u7", "metadata.mood": "calm", "metadata.deep": "[1]", "categories": '["home"]',
        "created_at": "2023-02-01T10:00:00Z", "updated_at": "2023-03-01T10:00:00Z", "expiration_date": "2030-01-01",
    }  # fmt: skip
    [walks] = kg.claims("user", "states")
    assert (walks.object.label, walks.said_at.instant) == (
        "Enjoys long walks",
        semgraph.parse_when("2023-02-02T18:00:00Z").instant,
    )
    assert kg.value("u7", "owns") == "bicycle"


def test_the_history_of_a_memory_is_kept(tmp_path: Path):
    entries = [
        {"id": "h1", "memory_id": "m", "old_memory": None, "new_memory": "Collects stamps", "event": "ADD",
         "created_at": "2022-01-01T00:00:00Z"},
        {"id": "h2", "memory_id": "m", "old_memory": "Collects stamps", "new_memory": "Collects coins",
         "event": "UPDATE", "created_at": "2022-01-01T00:00:00Z", "updated_at": "2023-01-01T00:00:00Z"},
        {"id": "h3", "memory_id": "m", "old_memory": "Collects coins", "new_memory": None, "event": "DELETE",
         "created_at": "2023-06-01T00:00:00Z"},
    ]  # fmt: skip
    kg = graph()
    semgraph.read(kg, at(tmp_path, "history.json", json.dumps(entries)))
    told = [(f.object.label, str(f.valid_from)[:10], f.valid_to and str(f.valid_to)[:10]) for f in kg.timeline("user")]
    assert told == [("Collects stamps", "2022-01-01", "2023-01-01"), ("Collects coins", "2023-01-01", "2023-06-01")]


def test_memories_of_several_users_are_told_of_each(tmp_path: Path):
    told = [{"id": str(n), "memory": "User lives in Oslo", "user_id": f"u{n}", "created_at": "2023"} for n in (1, 2)]
    kg = graph()
    semgraph.read(kg, at(tmp_path, "m.json", json.dumps(told)))
    assert (kg.value("u1", "lives_in"), kg.value("u2", "lives_in")) == ("Oslo", "Oslo")


# -- conversations

ITEM = {
    "question_id": "q1", "question": "?", "haystack_dates": ["2023/04/10 (Mon) 17:50", "2023/05/01 (Mon) 09:05"],
    "haystack_session_ids": ["a", "b"],
    "haystack_sessions": [
        [{"role": "user", "content": "I adopted a cat."}, {"role": "ai", "content": "Nice!", "has_answer": False}],
        [{"role": "user", "content": "The cat is called Ink."}],
    ],
}  # fmt: skip
SAMPLE = {
    "sample_id": "c9",
    "conversation": {
        "speaker_a": "Ann", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I paint.", "blip_caption": "a lake"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Great."},
        ],
    },
    "observation": {"session_1_observation": {"Ann": [["Ann paints lakes.", "D1:1"]]}},
    "event_summary": {"events_session_1": {"Ann": ["Ann sells a painting."], "Bo": [], "date": "8 May, 2023"}},
}  # fmt: skip


def test_longmemeval_sessions_are_kept_as_they_were_held(tmp_path: Path):
    kg = graph()
    batch = semgraph.read(kg, at(tmp_path, "item.json", json.dumps([ITEM, ITEM])))
    assert batch.counts == {"new": 3}
    told = [(c.subject.label, c.object.label, str(c.said_at), c.source_ref) for c in kg.claims(predicate="said")]
    assert sorted(told, key=lambda one: one[3]) == [
        ("user", "I adopted a cat.", "2023-04-10T17:50:00Z", "a#1"),
        ("assistant", "Nice!", "2023-04-10T17:50:00Z", "a#2"),
        ("user", "The cat is called Ink.", "2023-05-01T09:05:00Z", "b#1"),
    ]
    assert any("semgraph extract" in note for note in batch.notes)


def test_locomo_turns_observations_and_events_are_kept_with_their_dates(tmp_path: Path):
    kg = graph()
    semgraph.read(kg, at(tmp_path, "sample.json", json.dumps([SAMPLE])))
    [painted] = list(kg.claims("Ann", "said"))
    assert (painted.source_ref, painted.qualifiers) == ("c9:D1:1", {"session": "c9:1", "image_caption": "a lake"})
    assert str(painted.said_at) == "2023-05-08T13:56:00Z"
    [noted] = kg.claims("Ann", "states")
    assert (noted.object.label, noted.source_ref) == ("Ann paints lakes.", "c9:D1:1")
    [event] = kg.timeline("Ann", "experienced")
    assert (str(event.valid_from), str(event.valid_to)) == ("2023-05-08", "2023-05-09T00:00:00Z")


def test_chats_are_read_from_lists_and_lines(tmp_path: Path):
    turns = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "I own a boat."}], "timestamp": 1700000000},
        {"role": "assistant", "content": "What is it called?"},
    ]
    for name, data in (
        ("chat.json", json.dumps(turns)),
        ("chat.jsonl", lines(*turns)),
        ("chats.json", json.dumps({"messages": turns})),
    ):
        kg = graph()
        assert semgraph.read(kg, at(tmp_path, name, data)).counts == {"new": 2}, name
        [own] = kg.claims("user", "said")
        assert (own.object.label, str(own.said_at)) == ("I own a boat.", "2023-11-14T22:13:20Z")


@pytest.mark.parametrize(
    "document",
    [
        [{"haystack_sessions": [[]], "haystack_session_ids": ["a", "b"], "haystack_dates": []}],
        {"session": "s", "turns": [3]},
        {"conv": "c", "speaker": "A", "text": 4},
        [{"conversation": {"session_1": "x"}}],
        [{"role": "user", "content": "a"}, 4],
    ],
)
def test_a_malformed_conversation_is_refused_whole(tmp_path: Path, document: object):
    kg = graph()
    with pytest.raises(ImportRejected):
        semgraph.read(kg, at(tmp_path, "c.json", json.dumps(document)))
    assert kg.stats()["claims"] == 0


def test_times_of_conversations_are_read_in_the_zone_of_the_reference():
    from datetime import datetime
    from zoneinfo import ZoneInfo

    helsinki = datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Helsinki"))
    assert spoken_at("2023/07/01 (Sat) 12:00", helsinki).instant == semgraph.parse_when("2023-07-01T09:00Z").instant
    assert (spoken_at("soon", helsinki), spoken_at(None, helsinki), spoken_at("", helsinki)) == (None, None, None)
    [session] = sessions_of(
        [{"session": "s", "date": "nonsense", "turns": [{"content": "Hi"}]}], "longmemeval", helsinki
    )
    assert (session.turns[0].speaker, session.turns[0].said_at) == ("user", None)


# -- notes

NOTES = """---
title: x
date: 2024-02-03
---
# Atlas

It runs on **Fly.io**. Anna owns the [payments service](http://x).
- [x] Deploys happen on Friday
  and need two people.

```sh
rm -rf nothing
```
| a | b |
> I live in Oslo.
## 2024-03-01
Maybe Bo joins.
"""


def test_notes_are_sentences_under_their_heading():
    told = [(note.line, note.heading, note.text, note.date) for note in note_sentences(NOTES.splitlines(), "n.md")]
    assert told == [
        (7, "Atlas", "It runs on Fly.io.", "2024-02-03"),
        (7, "Atlas", "Anna owns the payments service.", "2024-02-03"),
        (8, "Atlas", "Deploys happen on Friday and need two people.", "2024-02-03"),
        (15, "Atlas", "I live in Oslo.", "2024-02-03"),
        (17, "Atlas", "Maybe Bo joins.", "2024-03-01"),
    ]


def test_notes_go_through_the_gate_and_are_told_with_their_lines(tmp_path: Path):
    kg = graph(clock=Clock("2025-01-01T00:00:00Z"))
    batch = semgraph.read(kg, at(tmp_path, "n.md", NOTES))
    assert (batch.counts, batch.rejected_at, [one.code for one in batch.rejected]) == (
        {"new": 4, "rejected": 1}, (17,), ["hedged"],
    )  # fmt: skip
    [home] = kg.claims("user", "lives_in")
    assert (home.source_ref, str(home.said_at), home.source) == ("n.md#15", "2024-02-03T00:00:00Z", "imported:notes")
    assert kg.value("payments service", "owned_by") == "Anna"
    assert semgraph.read(kg, tmp_path / "n.md").counts == {"idempotent": 4, "rejected": 1}


def test_a_diary_takes_its_day_from_its_name(tmp_path: Path):
    kg = graph()
    semgraph.read(kg, at(tmp_path, "2023-09-02.txt", "I moved to Turku."))
    assert [(f.object.label, str(f.claims[0].said_at)) for f in kg.timeline("user")] == [
        ("Turku", "2023-09-02T00:00:00Z")
    ]


# -- preview


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("memory.jsonl", lines(*TYPED)),
        ("m.json", json.dumps(MEMORIES).encode()),
        ("i.json", json.dumps(ITEM).encode()),
        ("n.md", NOTES.encode()),
        ("c.jsonl", lines({"subject": "a", "predicate": "likes", "object": "b"}, {"subject": ""})),
    ],
)
def test_a_preview_counts_what_the_import_then_does_and_writes_nothing(tmp_path: Path, name: str, data: bytes):
    kg = graph()
    kg.add("Ada", "likes", "tea")
    before = sorted(map(repr, kg.claims())), [e.label for e in kg.entities()], kg.rejected(), len(list(kg.predicates))
    would = semgraph.read(kg, at(tmp_path, name, data), dry_run=True)
    after = sorted(map(repr, kg.claims())), [e.label for e in kg.entities()], kg.rejected(), len(list(kg.predicates))
    assert after == before
    done = semgraph.read(kg, tmp_path / name)
    assert (would.counts, would.rejected_at, would.notes) == (done.counts, done.rejected_at, done.notes)
    assert kg.verify() == []


def test_the_command_previews_without_making_a_file(tmp_path: Path):
    at(tmp_path, "memory.jsonl", lines(*TYPED))
    done = process(tmp_path, "--db", "new.db", "import", "memory.jsonl", "--preview")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, b"8 claims: new 8")
    assert b"nothing was written" in done.stderr
    assert not (tmp_path / "new.db").exists()
    process(tmp_path, "--db", "new.db", "import", "memory.jsonl")
    again = process(tmp_path, "--db", "new.db", "import", "memory.jsonl", "--dry-run", "--json")
    assert json.loads(again.stdout)["counts"] == {"idempotent": 8}
    back = process(tmp_path, "--db", "new.db", "export", "--format", "memory", "-")
    assert contents(map(json.loads, back.stdout.splitlines()))[1] == contents(TYPED)[1]


# -- real files

REAL = {
    "mcp_server_memory_mindstrike.jsonl": 176,
    "mcp_memory_graph_timestamps.jsonl": 778,
    "mcp_server_memory_small.jsonl": 8,
}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", REAL)
def test_real_memory_files_come_back_as_they_were(shared_data: Path, name: str):
    path = shared_data / "memory_imports" / name
    told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    kg = graph(clock=Clock("2026-06-01T00:00:00Z"))
    batch = semgraph.read(kg, path)
    assert (batch.counts, batch.rejected) == ({"new": REAL[name]}, ())
    observations = sum(len(one.get("observations", ())) for one in told)
    assert batch.total == len(told) + observations
    entities, relations = contents(told)
    back = exported(kg)
    found_entities, found_relations = contents(back)
    assert found_relations == relations
    declared = Counter({one: times for one, times in found_entities.items() if one[0] in {e[0] for e in entities}})
    assert declared == entities
    assert semgraph.read(kg, path).counts == {"idempotent": REAL[name]}
    assert kg.verify() == []


@pytest.mark.shared_data
def test_real_answers_of_mem0_and_a_real_item_of_longmemeval(shared_data: Path):
    folder = shared_data / "memory_imports"
    kg = graph(clock=Clock("2026-06-01T00:00:00Z"))
    batch = semgraph.read(kg, folder / "mem0_api_examples.json")
    assert batch.counts == {"idempotent": 1, "new": 1}  # the same memory in two answers
    [claim] = kg.claims()
    assert (claim.text, claim.source_ref, str(claim.said_at)) == (
        "User moved to San Francisco from New York in January 2026", "mem0:mem-uuid", "2026-01-15T10:30:00Z",
    )  # fmt: skip
    with pytest.raises(ImportRejected):
        semgraph.read(kg, folder / "mem0_api_schemas.json")
    with pytest.raises(ImportRejected, match="no memories"):
        semgraph.read(kg, folder / "mem0_api_schemas.json", format="mem0")
    item = json.loads((folder / "longmemeval_item.json").read_text(encoding="utf-8"))
    other = graph()
    assert semgraph.read(other, folder / "longmemeval_item.json").counts == {"new": 13}
    told = {(c.qualifiers["session"], c.source_ref, c.object.label) for c in other.claims(predicate="said")}
    assert told == {
        (name, f"{name}#{at}", turn["content"].strip())
        for name, turns in zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True)
        for at, turn in enumerate(turns, 1)
    }


WIKIDATA = {
    "Q42.json.gz": {"new": 139},
    "Q571.json.gz": {"new": 186},
    "Q2112.json.gz": {"new": 187},
    "Q217447.json.gz": {"new": 26},
    "dump_1000_lines.json.gz": {"new": 149},
    "dump_with_bugs.json.gz": {"new": 148},
    "sample_dump_2015.json.gz": {"new": 149},
    "kgtk_sample.tsv.gz": {"new": 4822, "duplicate": 1862},
}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", WIKIDATA)
def test_real_files_of_wikidata_are_taken_whole_and_come_back(shared_data: Path, name: str):
    path = shared_data / "memory_imports" / "wikidata" / name
    kg, other, first, second = graph(), graph(), io.BytesIO(), io.BytesIO()
    batch = semgraph.read(kg, path)
    assert (batch.counts, batch.rejected) == (WIKIDATA[name], ())
    assert semgraph.read(kg, path, dry_run=True).counts.keys() <= {"idempotent", "duplicate"}
    semgraph.write(kg, first, format="jsonl")
    semgraph.read(other, io.BytesIO(first.getvalue()), format="jsonl")
    semgraph.write(other, second, format="jsonl")
    assert first.getvalue() == second.getvalue()
    assert (kg.verify(), other.verify()) == ([], [])


@pytest.mark.shared_data
def test_every_real_file_of_other_memories_is_read_by_a_test(shared_data: Path):
    known = {*REAL, *WIKIDATA, "mem0_api_examples.json", "mem0_api_schemas.json", "longmemeval_item.json", "README.md"}
    assert {path.name for path in (shared_data / "memory_imports").rglob("*") if path.is_file()} == known


@pytest.mark.shared_data
def test_real_conversations_come_back_turn_by_turn(shared_data: Path):
    kg = graph()
    path = shared_data / "locomo" / "turns.jsonl.gz"
    rows = [row for row in json_rows(path) if row["conv"] == "conv-26"]
    assert semgraph.read(kg, path, dry_run=True).counts == {"new": 3264}
    kept = lines(*rows)
    assert semgraph.read(kg, io.BytesIO(kept), format="locomo").counts == {"new": len(rows)}
    told = {(c.source_ref, c.subject.label, c.object.label) for c in kg.claims(predicate="said")}
    assert told == {(f"conv-26:{row['id']}", row["speaker"], row["text"].strip()) for row in rows}
    times = {str(c.said_at) for c in kg.claims(predicate="said") if c.source_ref.startswith("conv-26:D1:")}
    assert times == {"2023-05-08T13:56:00Z"}
    pooled = graph()
    batch = semgraph.read(pooled, shared_data / "longmemeval_evidence" / "sessions.jsonl.gz")
    assert batch.counts == {"duplicate": 15, "new": 569}  # what was said twice in the same words
