"""The records, predicates and names of the reference model: plain objects, one scope at a time, nothing cached."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from semgraph.names import entity_key, exact_key, is_self, literal_key
from semgraph.temporal import NEG_INF, POS_INF

RANKS = {"user": 3, "tool": 2, "imported": 1, "inferred": 0}
SEEDS = {"user": 0.90, "tool": 0.85, "imported": 0.75, "inferred": 0.50}
DAY = 86_400_000_000
INFERRED_CAP = 0.60
TOP = 0.99

LATEST = POS_INF - 1  # the default known_at: later than every record, earlier than "for ever"

Obj = tuple[str, Any]  # ("e", entity id) or ("l", literal key)
Value = tuple[str, Obj | None]  # ("+" or "-", object); ("-", None) is the end without an object
NONE: Value = ("-", None)


class Refused(Exception):
    """A write that the gate refuses, with its code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Ambiguous(Exception):
    """A name that several entities bear, at a read."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__(", ".join(labels))
        self.labels = labels


def source_class(source: str) -> str:
    return source.split(":", 1)[0]


def words_in(phrase: str, text: str) -> bool:
    """Whether the words of the phrase stand next to each other in the text; both are keys."""
    return f" {phrase} " in f" {text} "


# -- claims


@dataclass(slots=True, eq=False)
class Claim:
    """One statement as written: entity ids are raw, bounds are as stated."""

    id: str
    subject: int
    predicate: str
    object: Obj | None
    negative: bool
    role: str  # state | change | also | end (explicit end, bounded denial) | mask | cut
    start: int
    basis: str  # stated | observed | unknown | always
    start_lo: int
    start_hi: int
    end: int
    end_kind: str  # open | stated | soft
    end_lo: int
    end_hi: int
    said: int
    recorded: int
    source: str
    ref: str | None
    confidence: float
    quals: tuple[tuple[str, str], ...]
    label: str = ""  # of the object, as first written
    text: str = ""
    standing: list[tuple[int, frozenset[str] | None]] = field(default_factory=list)  # None: it stands by itself
    withdrawn: list[list[int]] = field(default_factory=list)  # [from, to) in transaction time

    @property
    def explicit_end(self) -> bool:
        return self.role == "end"

    @property
    def change(self) -> bool:
        return self.role in ("change", "end")

    @property
    def inferred(self) -> bool:
        return source_class(self.source) == "inferred"

    @property
    def imported(self) -> bool:
        return source_class(self.source) == "imported"

    @property
    def evidence(self) -> int:
        """Up to here the source vouches for it; beyond, only inertia does."""
        if self.end_kind == "stated":
            return self.end
        if self.end_kind == "soft" or self.start > self.said:
            return self.start
        return self.said

    def visible(self, known: int) -> bool:
        return self.recorded <= known and not any(a <= known < b for a, b in self.withdrawn)

    def justifications(self, known: int) -> list[frozenset[str] | None]:
        return [because for recorded, because in self.standing if recorded <= known]


# -- predicates


@dataclass(slots=True)
class Predicate:
    """A registry entry; cardinality "unknown" where nobody registered the name."""

    name: str
    cardinality: str = "unknown"
    range: str = "any"
    flags: frozenset[str] = frozenset()
    one_by: tuple[str, ...] = ()
    ttl_days: float | None = None
    window_us: int = DAY
    trust: dict[str, int] = field(default_factory=dict)
    inverse_of: str | None = None
    opposite: str | None = None

    @property
    def event(self) -> bool:
        return "event" in self.flags

    @property
    def unique(self) -> bool:
        return "unique_object" in self.flags

    @property
    def symmetric(self) -> bool:
        return "symmetric" in self.flags

    def rank(self, source: str) -> int:
        kind = source_class(source)
        return self.trust.get(kind, RANKS.get(kind, 0))


def _entry(name: str, given: dict[str, Any]) -> Predicate:
    card = given.get("card") or given.get("cardinality")
    flags = set(given.get("flags", ()))
    flags |= {
        flag
        for flag in ("event", "symmetric", "irreflexive", "unique_object", "profile", "sensitive", "norefine", "exact")
        if given.get(flag)
    }
    return Predicate(
        name,
        {None: "unknown", "unregistered": "unknown"}.get(card, card),
        given.get("range", "any"),
        frozenset(flags),
        tuple(given.get("one_by", ())),
        given.get("ttl_days"),
        int(given.get("window_s", 86400)) * 1_000_000,
        dict(given.get("trust") or {}),
        given.get("inverse_of"),
        given.get("opposite"),
    )


class Registry:
    """Every version of every predicate, and today's aliases; the starter vocabulary was always known."""

    def __init__(self, key: Any, starter: dict[str, dict[str, Any]], unregistered: str = "flag") -> None:
        self._key = key
        self._versions: dict[str, list[tuple[int, Predicate]]] = {}
        self._aliases: dict[str, str] = {}
        self._unregistered = {"flag": "unknown"}.get(unregistered, unregistered)
        for name, given in starter.items():
            self.define(name, given, NEG_INF)

    def define(self, name: str, given: dict[str, Any], recorded: int) -> str:
        name = self.canonical(name)
        self._versions.setdefault(name, []).append((recorded, _entry(name, given)))
        for alias in given.get("aliases", ()):
            self._aliases[self._key(alias)] = name
        return name

    def canonical(self, name: str) -> str:
        key: str = self._key(name)
        return key if key in self._versions else self._aliases.get(key, key)

    def entry(self, name: str, known: int = LATEST) -> Predicate:
        """The version of a canonical name as of `known`."""
        seen = [entry for recorded, entry in self._versions.get(name, ()) if recorded <= known]
        return seen[-1] if seen else Predicate(name, self._unregistered)

    def resolve(self, name: str) -> tuple[Predicate, bool, bool]:
        """The predicate that a name is stored under, whether its ends are swapped, whether its sign is flipped."""
        entry, inverse, flipped = self.entry(self.canonical(name)), False, False
        while entry.inverse_of or entry.opposite:
            inverse ^= bool(entry.inverse_of)
            flipped ^= not entry.inverse_of
            entry = self.entry(self.canonical(entry.inverse_of or entry.opposite or ""))
        return entry, inverse, flipped


@lru_cache(maxsize=1)
def starter() -> dict[str, dict[str, Any]]:
    """The registry at the head of the worked cases."""
    loaded = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
    registry: dict[str, dict[str, Any]] = loaded["registry"]
    return registry


# -- what an operation works with, and tells


@dataclass(slots=True)
class Outcome:
    """What an operation did; codes as in the worked cases."""

    code: str
    reason_code: str | None = None
    closed: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    widened: bool = False


@dataclass(slots=True)
class Written:
    """The two ends of a claim, resolved, and the predicate that it is stored under."""

    entry: Predicate
    flipped: bool
    subject: int
    object: Obj | None
    keys: tuple[str, str | None]
    label: str


# -- names


@dataclass(slots=True, eq=False)
class Node:
    """An entity: an id that no name is part of, and its first name."""

    id: int
    key: str
    label: str
    declared: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Alias:
    key: str
    label: str
    entity: int
    start: int
    end: int
    recorded: int
    kind: str  # primary | alias

    def valid(self, when: int) -> bool:
        return self.start <= when < self.end


@dataclass(slots=True, eq=False)
class Redirect:
    src: int
    dst: int
    recorded: int
    ended: int = POS_INF


class Names:
    """The alias table and the redirects of one scope."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.aliases: list[Alias] = []
        self.redirects: list[Redirect] = []
        self.self_id: int | None = None
        self._next = 0

    # reading

    def final(self, entity: int, known: int = LATEST) -> int:
        """The entity that this one was merged into as of `known`, itself where it was not."""
        seen = {entity}
        while True:
            hops = [r.dst for r in self.redirects if r.src == entity and r.recorded <= known < r.ended]
            if not hops or hops[-1] in seen:
                return entity
            entity = hops[-1]
            seen.add(entity)

    def raw(self, name: str) -> list[int]:
        """Every entity that bears a name, before redirects, in the order in which they got it."""
        key = entity_key(name)
        found = [a.entity for a in self.aliases if a.key == key]
        if is_self(key) and self.self_id is not None:
            found.insert(0, self.self_id)
        return list(dict.fromkeys(found))

    def find(self, name: str, known: int, when: int | None) -> list[int]:
        """What a name means at a read: one entity, none, or several; an explicit valid_at, `when`, breaks ties."""
        key = entity_key(name)
        if is_self(key):
            return [] if self.self_id is None else [self.final(self.self_id, known)]
        rows = [a for a in self.aliases if a.key == key]
        found = list(dict.fromkeys(self.final(a.entity, known) for a in rows))
        if len(found) > 1 and when is not None:
            valid = list(dict.fromkeys(self.final(a.entity, known) for a in rows if a.valid(when)))
            found = valid if len(valid) == 1 else found
        return found

    def label(self, entity: int, when: int) -> str:
        rows = [a for a in self.aliases if a.entity == entity and a.kind == "primary" and a.valid(when)]
        return rows[-1].label if rows else self.nodes[entity].label

    # writing

    def make(self, name: str, recorded: int, *, primary: bool = True) -> int:
        self._next += 1
        self.nodes[self._next] = Node(self._next, entity_key(name), name)
        if primary:
            self.add(name, self._next, recorded, kind="primary")
        return self._next

    def add(
        self, name: str, entity: int, recorded: int, *, start: int = NEG_INF, end: int = POS_INF, kind: str = "alias"
    ) -> None:
        self.aliases.append(Alias(entity_key(name), name, entity, start, end, recorded, kind))

    def write(self, name: str, when: int, recorded: int) -> int:
        """The raw entity that a claim is written with, made if nobody bears the name."""
        key = entity_key(name)
        if is_self(key):
            if self.self_id is None:
                self.self_id = self.make(name, recorded, primary=False)
            return self.self_id
        rows = [a for a in self.aliases if a.key == key]
        if not rows:
            return self.make(name, recorded)
        if len({self.final(a.entity) for a in rows}) > 1:
            rows = [a for a in rows if a.valid(when)]
            if len({self.final(a.entity) for a in rows}) != 1:
                raise Refused("ambiguous_entity")
        return rows[0].entity


def key_of_literal(value: object, predicate: Predicate) -> str:
    text = str(value)
    return exact_key(text) if "exact" in predicate.flags else literal_key(text)


def is_literal(value: object, predicate: Predicate) -> bool:
    """Which kind an object is: the range says so, else its looks."""
    if predicate.range != "any":
        return predicate.range == "literal"
    if not isinstance(value, str):
        return True
    text = value.strip()
    number = text.replace(".", "", 1).removeprefix("-").isdigit()
    return (
        number
        or text.casefold() in ("true", "false")
        or text.startswith(("http://", "https://"))
        or len(text.split()) > 8
    )
