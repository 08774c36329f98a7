"""Memories of mem0, as its API answers: sentences with their times, relations of its graph, and its history."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from semgraph import phrases
from semgraph.errors import ImportRejected
from semgraph.exchange.conversations import spoken_at
from semgraph.exchange.intake import not_ahead, tell
from semgraph.exchange.lines import counted
from semgraph.exchange.transcripts import reference_of
from semgraph.phrases.dating import dated
from semgraph.temporal import exact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Batch
    from semgraph.temporal import Bound

    Claim = dict[str, Any]

__all__ = ["is_mem0", "mem0_claims", "take_mem0"]

_OWN: Final = frozenset(["id", "memory", "text", "data", "metadata", "score", "event", "hash"])
_RELATION: Final = (
    ("source", "relationship", "target"),
    ("source", "relation", "target"),
    ("source", "relation", "destination"),
)
_USER: Final = re.compile(r"\A(?:[Tt]he )?[Uu]ser\b")
_STAND_IN: Final = "Theuser"  # a name, so that the sentence is read in the third person
_DEPTH: Final = 6  # in a list of pages of several answers
_SENTENCE: Final = ("memory", "text", "data")


def is_mem0(document: object) -> bool:
    """Whether a parsed document is an answer of mem0, or holds some."""
    return next(_found(document), None) is not None


def take_mem0(kg: KnowledgeGraph, document: object, shown: str, source: str | None, unregistered: str) -> Batch:
    """What telling every memory of a document did, all of it in one transaction.

    Raises:
        ImportRejected: foreign: there is no memory in it.
    """
    memories = list(_found(document))
    if not memories:
        raise ImportRejected("foreign", f"{shown} holds no memories of mem0: a list of objects with a 'memory' each")
    reference = reference_of(kg)
    claims = list(mem0_claims(memories, source or "imported:mem0", reference))
    batch = tell(kg, [not_ahead(kg, claim) for claim in claims], unregistered)
    return replace(batch, rejected_at=(), notes=(*_notes(document, memories), *batch.notes))


def _found(document: object, depth: int = _DEPTH) -> Iterator[dict[str, Any]]:
    """The memories, relations and changes that a document holds, whatever of mem0's answers it is."""
    if isinstance(document, dict) and _kind(document) is not None:
        yield document
    elif depth and isinstance(document, (list, dict)):
        for value in document if isinstance(document, list) else document.values():
            yield from _found(value, depth - 1)


def _kind(found: Mapping[str, Any]) -> str | None:
    if "memory_id" in found and ("old_memory" in found or "new_memory" in found):
        return "change"
    if "id" in found and isinstance(found.get("memory"), str):
        return "memory"
    if (
        "id" in found
        and {"created_at", "user_id"} & found.keys()
        and any(isinstance(found.get(n), str) for n in _SENTENCE)
    ):
        return "memory"
    if any(all(isinstance(found.get(name), str) for name in names) for names in _RELATION):
        return "relation"
    return None


def _notes(document: object, memories: list[dict[str, Any]]) -> Iterator[str]:
    kinds = Counter(_kind(one) for one in memories)
    distinct = len({str(one["id"]) for one in memories if _kind(one) == "memory"})
    parts = [
        counted(kinds["memory"], "memory", "memories")
        + (f", {distinct:,} of them distinct" * (distinct < kinds["memory"]))
    ]
    parts += [counted(kinds[kind], kind) for kind in ("relation", "change") if kinds[kind]]
    yield ", ".join(parts)
    if any(one.get("expiration_date") for one in memories):
        yield "expiration dates hide a memory and end no fact: they are kept as details"
    pages = [page for page in _pages(document) if page.get("next")]
    if pages:
        yield f"the answer is one page of {pages[0].get('count', 'several')} memories: fetch the others too"


def _pages(document: object, depth: int = _DEPTH) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, dict) and isinstance(document.get("results"), list):
        yield document
    elif depth and isinstance(document, (list, dict)):
        for value in document if isinstance(document, list) else document.values():
            yield from _pages(value, depth - 1)


def mem0_claims(memories: list[dict[str, Any]], source: str, reference: datetime) -> Iterator[Claim]:
    """What memories say, in the words of `add`.

    A sentence that the patterns read is told as what it says, any other one as a sentence; its words, its times and its
    labels are kept with it. What one user's memories call the user is the owner of the scope; of several users each is
    called by the id that mem0 has.
    """
    owners = {str(one["user_id"]) for one in memories if one.get("user_id")}
    for one in memories:
        user = str(one["user_id"]) if one.get("user_id") and len(owners) > 1 else "user"
        kind = _kind(one)
        if kind == "relation":
            yield _relation(one, source)
        elif kind == "change":
            yield from _change(one, source, user, reference)
        else:
            yield from _memory(one, source, user, reference)


def _memory(one: Mapping[str, Any], source: str, user: str, reference: datetime) -> Iterator[Claim]:
    text = next(str(one[name]) for name in _SENTENCE if isinstance(one.get(name), str))
    said = spoken_at(one.get("updated_at"), reference) or spoken_at(one.get("created_at"), reference)
    common: Claim = {"source": source, "source_ref": f"mem0:{one['id']}", "text": text, "qualifiers": _details(one)}
    if said is not None:
        common["said_at"] = said
    for words in _read(text, user, said, reference):
        yield {**common, **words}


def _read(text: str, user: str, said: Bound | None, reference: datetime) -> list[Claim]:
    """What a memory says by the sentence patterns, if they read all of it; else the sentence itself."""
    spoken = reference if said is None else exact(said.instant).to_datetime().astimezone(reference.tzinfo)
    found = phrases.candidates(_USER.sub(_STAND_IN, text), partial(dated, reference=spoken))
    if not found or not all("predicate" in words for words in found):
        return [{"subject": user, "predicate": "states", "object": text}]
    plain = [{key: value for key, value in words.items() if value is not None and key != "text"} for words in found]
    return [words | {"subject": user} if words["subject"] in ("user", _STAND_IN) else words for words in plain]


def _details(one: Mapping[str, Any]) -> dict[str, Any]:
    """What else a memory has, so that nothing of it is lost."""
    metadata = one.get("metadata")
    rest = {name: value for name, value in one.items() if name not in _OWN}
    rest |= {f"metadata.{name}": value for name, value in (metadata if isinstance(metadata, dict) else {}).items()}
    return {name: _scalar(value) for name, value in rest.items() if value not in (None, "", [], {})}


def _scalar(value: object) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else json.dumps(value, ensure_ascii=False)


def _relation(one: Mapping[str, Any], source: str) -> Claim:
    names = next(names for names in _RELATION if all(isinstance(one.get(name), str) for name in names))
    subject, predicate, thing = (one[name] for name in names)
    return {
        "subject": subject,
        "predicate": predicate,
        "object": thing,
        "source": source,
        "source_ref": "mem0:graph",
    }


def _change(one: Mapping[str, Any], source: str, user: str, reference: datetime) -> Iterator[Claim]:
    """An entry of a memory's history: what it said from then on, and that it said the other no longer."""
    old, new = (one.get(name) if isinstance(one.get(name), str) else None for name in ("old_memory", "new_memory"))
    said = spoken_at(one.get("updated_at"), reference) or spoken_at(one.get("created_at"), reference)
    common: Claim = {"source": source, "source_ref": f"mem0:{one['memory_id']}"}
    if said is not None:
        common["said_at"] = said
    event = str(one.get("event") or one.get("action") or "").upper()
    if new and event != "DELETE" and new != old:
        yield from ({**common, "text": new, **words} for words in _read(new, user, said, reference))
    if old and new != old:
        ended = {"subject": user, "predicate": "states", "object": old, "kind": "change", "negative": True}
        stopped = {} if said is None else {"valid_from": said}
        if all(words["predicate"] == "states" for words in _read(old, user, said, reference)):
            yield {**common, **ended, **stopped}
