"""Random writes of every kind that two stores do alike, and the state that they leave, to be compared."""

from __future__ import annotations

import io
import json
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import semgraph
from semgraph.errors import AmbiguousNameError, InputError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph import KnowledgeGraph

START = datetime(2024, 1, 1, tzinfo=UTC)
PEOPLE = ("Ann", "Bo", "Cy", "Dee", "Eve", "Fay")
THINGS = ("Acme", "Globex", "Initech", "Oslo", "Bergen", "tea")
PREDICATES = ("works_at", "lives_in", "likes", "dislikes", "uses", "collects", "reports_to", "married_to", "status")
YEARS = ("2010", "2015", "2018-06", "2020", "2020-03-01", "2022~")
#: What an operation may be refused with, the same for every store.
REFUSED = (InputError, NotFoundError, AmbiguousNameError)


class Steps:
    """A clock that shows a minute more for each deed."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> datetime:
        return START + timedelta(minutes=self.number)


def opened(target: Any = ":memory:", **options: Any) -> KnowledgeGraph:
    """A graph whose clock is a `Steps`."""
    return semgraph.KnowledgeGraph(target, embedder=None, clock=Steps(), **options)


def do(kg: KnowledgeGraph, seed: int, number: int) -> str:
    """The kind of the deed that was done: the one of that number, the same for all graphs in the same state."""
    kg._session.clock.number = number
    chosen = random.Random(f"{seed}:{number}")  # noqa: S311  # repeatable
    kind = chosen.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    with suppress(*REFUSED):
        KINDS[kind][1](kg, chosen)
    return kind


def state(kg: KnowledgeGraph) -> list[str]:
    """All rows of the scope that are not computed, as text; the ids of what was forgotten are chance."""
    buffer = io.BytesIO()
    semgraph.write(kg, buffer, format="jsonl")
    lines = buffer.getvalue().decode().splitlines()[:-1]
    return sorted(map(_tombless, lines))


def _tombless(line: str) -> str:
    if '"tombstone"' not in line:
        return line
    row = json.loads(line)
    return json.dumps({name: value for name, value in row.items() if name != "id"}, sort_keys=True)


def _words(chosen: random.Random) -> dict[str, Any]:
    words = {
        "subject": chosen.choice(PEOPLE),
        "predicate": chosen.choice(PREDICATES),
        "object": chosen.choice((*THINGS, *PEOPLE)),
        "source": chosen.choice(("user", "tool:crm", "imported:cv")),
        "source_ref": chosen.choice((None, None, "mail:1", "mail:2")),
        "text": chosen.choice((None, "as was said over lunch " * chosen.randrange(1, 30))),
    }
    if chosen.random() < 0.6:
        words["valid_from"] = chosen.choice(YEARS)
    return words


def _add(kg: KnowledgeGraph, chosen: random.Random) -> None:
    kg.add(**_words(chosen), kind=chosen.choice(("state", "state", "change")))


def _batch(kg: KnowledgeGraph, chosen: random.Random) -> None:
    kg.add_all([_words(chosen) for _ in range(chosen.choice((5, 20)))], replaces=chosen.choice((None, "mail:1")))


def _together(kg: KnowledgeGraph, chosen: random.Random) -> None:
    with kg.atomic():
        for _ in range(3):
            with suppress(*REFUSED):
                _add(kg, chosen)


def _end(kg: KnowledgeGraph, chosen: random.Random) -> None:
    words = _words(chosen)
    kg.end(words["subject"], words["predicate"], chosen.choice((words["object"], None)), at="2023")


def _deny(kg: KnowledgeGraph, chosen: random.Random) -> None:
    words = _words(chosen)
    kg.deny(words["subject"], words["predicate"], words["object"])


def _correct(kg: KnowledgeGraph, chosen: random.Random) -> None:
    facts = sorted(kg.facts(), key=lambda fact: fact.id)
    if facts:
        fact = chosen.choice(facts)
        kg.correct(fact.subject, fact.predicate, fact.object, chosen.choice(THINGS))


def _claim(kg: KnowledgeGraph, chosen: random.Random, *, retracted: bool = False) -> str | None:
    ids = sorted(claim.id for claim in kg.claims(retracted=retracted))
    return chosen.choice(ids) if ids else None


def _retract(kg: KnowledgeGraph, chosen: random.Random) -> None:
    if claim := _claim(kg, chosen):
        kg.retract(claim, reason="a slip " * chosen.choice((1, 1, 1_500)))  # long ones take pages of their own


def _unretract(kg: KnowledgeGraph, chosen: random.Random) -> None:
    if claim := _claim(kg, chosen, retracted=True):
        kg.unretract(claim)


def _settle(kg: KnowledgeGraph, chosen: random.Random) -> None:
    found = sorted(kg.conflicts(), key=lambda conflict: conflict.id)
    if found:
        conflict = chosen.choice(found)
        kg.settle(conflict.subject, conflict.predicate, chosen.choice(("keep_both", "both_wrong")), conflict=conflict)


def _merge(kg: KnowledgeGraph, chosen: random.Random) -> None:
    duplicate, into = chosen.sample(PEOPLE, 2)
    kg.names.merge(duplicate, into)


def _unmerge(kg: KnowledgeGraph, chosen: random.Random) -> None:
    kg.names.unmerge(chosen.choice(PEOPLE))


def _alias(kg: KnowledgeGraph, chosen: random.Random) -> None:
    kg.names.alias(chosen.choice(("Annie", "Boris", "Acme Inc")), chosen.choice(PEOPLE))


def _define(kg: KnowledgeGraph, chosen: random.Random) -> None:
    kg.predicates.define("collects", cardinality=chosen.choice(("one", "many")))


def _forget(kg: KnowledgeGraph, chosen: random.Random) -> None:
    if claim := _claim(kg, chosen):
        kg.forget(claim=claim)


KINDS: dict[str, tuple[int, Callable[[KnowledgeGraph, random.Random], None]]] = {
    "add": (30, _add),
    "batch": (6, _batch),
    "together": (6, _together),
    "end": (6, _end),
    "deny": (4, _deny),
    "correct": (5, _correct),
    "retract": (6, _retract),
    "unretract": (3, _unretract),
    "settle": (5, _settle),
    "merge": (3, _merge),
    "unmerge": (3, _unmerge),
    "alias": (3, _alias),
    "define": (1, _define),
    "forget": (3, _forget),
}
