"""The rows that a store keeps: a named tuple per table, its key, and the look-ups that must be fast.

A store knows these shapes and no policy. Times are int64 microseconds; an open end is `temporal.POS_INF`,
so that no index meets a null. Every table but `ScopeRow` starts with the scope, and every statement binds it.

`Word`, `Node`, `Ref` and `Ident` are plain texts and numbers that a store may keep in less room: see `Form`.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final, NamedTuple


class Form(Enum):
    """What a store may know of a column's values beside their type."""

    PLAIN = "any value"
    WORD = "a text, the same one in many rows"
    NODE = "the number of an entity"
    REF = "`e` and the number of an entity, or another text"
    IDENT = "24 hexadecimal digits, nearly always"


Word = Annotated[str, Form.WORD]
Node = Annotated[int, Form.NODE]
Ref = Annotated[str, Form.REF]
Ident = Annotated[str, Form.IDENT]


class ScopeRow(NamedTuple):
    """A scope: its clock, the counter behind its entity ids, and what its latest writes touched (`index.feed`)."""

    scope: int
    name: str
    last_recorded: int
    entities: int
    feed: str = ""


class EntityRow(NamedTuple):
    """A node: `label` and `key` are those of the name it was first written with."""

    scope: int
    id: Node
    label: Word
    key: str
    recorded_at: int


class AliasRow(NamedTuple):
    """A name of an entity; `kind` is primary, alias or self; `valid_text` is the stored form of both bounds."""

    scope: int
    key: str
    entity: Node
    name: Word
    kind: Word
    valid_from: int
    valid_to: int
    valid_text: Word
    source: Word
    recorded_at: int
    retracted_at: int


class ClaimRow(NamedTuple):
    """One statement of one source; only added, marked as retracted elsewhere, or forgotten.

    `object` is a reference: `e…` an entity, `l:…` a literal by its key, `x:…` a literal by its exact text,
    empty for none. `object_text` is what was written, `object_type` how to read it back. Absent bounds are null.
    `opposed` marks a claim told through an opposite predicate; `told` says that said_at was given.
    """

    scope: int
    id: Ident
    subject: Node
    subject_text: Word
    predicate: Word
    object: Ref
    object_text: Word
    object_type: Word
    negative: int
    kind: Word
    opposed: int
    valid_from: int | None
    valid_from_text: Word
    valid_to: int | None
    valid_to_text: Word
    said_at: int
    told: int
    recorded_at: int
    source: Word
    source_ref: Word | None
    confidence: float
    qualifiers: Word
    text: str | None


class ClaimColumns(NamedTuple):
    """Claims column by column, as very many come: what `ClaimRow` has, each a list of one length.

    Values are of the exact built-in types, as they read back from a store; no float is a negative zero.
    """

    scope: list[int]
    id: list[str]
    subject: list[int]
    subject_text: list[str]
    predicate: list[str]
    object: list[str]
    object_text: list[str]
    object_type: list[str]
    negative: list[int]
    kind: list[str]
    opposed: list[int]
    valid_from: list[int | None]
    valid_from_text: list[str]
    valid_to: list[int | None]
    valid_to_text: list[str]
    said_at: list[int]
    told: list[int]
    recorded_at: list[int]
    source: list[str]
    source_ref: list[str | None]
    confidence: list[float]
    qualifiers: list[str]
    text: list[str | None]

    def rows(self) -> list[ClaimRow]:
        """The same claims one by one."""
        return list(map(ClaimRow._make, zip(*self, strict=True)))


class JustificationRow(NamedTuple):
    """A premise of a justification of a claim; an empty premise says that the claim stands by itself."""

    scope: int
    claim: Ident
    justification: int
    premise: Ident
    recorded_at: int


class RetractionRow(NamedTuple):
    """A withdrawal of a claim, in force from recorded_at until ended_at."""

    scope: int
    claim: Ident
    recorded_at: int
    ended_at: int
    reason: Word | None


class FactRow(NamedTuple):
    """A materialised edge as believed now. `body` is JSON that only the engine reads (see `semgraph.belief`)."""

    scope: int
    id: Ident
    subject: Node
    predicate: Word
    object: Ref
    negative: int
    disputed: int
    separators: Word
    valid_from: int
    valid_to: int
    sys_from: int
    sys_to: int
    body: str


class PastFactRow(NamedTuple):
    """An edge as it was believed in `[sys_from, sys_to)`: the columns of `FactRow`, kept apart from it."""

    scope: int
    id: Ident
    subject: Node
    predicate: Word
    object: Ref
    negative: int
    disputed: int
    separators: Word
    valid_from: int
    valid_to: int
    sys_from: int
    sys_to: int
    body: str


class RedirectRow(NamedTuple):
    """A merge of `src` into `dst`, in force from recorded_at until ended_at."""

    scope: int
    src: Node
    dst: Node
    recorded_at: int
    ended_at: int
    reason: str | None


class ApartRow(NamedTuple):
    """Two entities that must never be merged or suggested as one; `a < b`."""

    scope: int
    a: Node
    b: Node
    recorded_at: int


class CompatRow(NamedTuple):
    """Two values of one fluent that somebody decided to keep side by side; `a < b`."""

    scope: int
    subject: Node
    predicate: Word
    a: Ref
    b: Ref
    recorded_at: int


class DeclaredRow(NamedTuple):
    """An entity declared as one of its own."""

    scope: int
    entity: Node
    recorded_at: int


class DefinitionRow(NamedTuple):
    """A version of a predicate's registry entry, as JSON."""

    scope: int
    predicate: Word
    recorded_at: int
    spec: str


class VetoRow(NamedTuple):
    """What must not be remembered; `kind` is phrase, entity or predicate, `value` its key."""

    scope: int
    kind: str
    value: str
    recorded_at: int


class RejectedRow(NamedTuple):
    """A refused claim; `content` is JSON of what was said, or null where even that must not be kept."""

    scope: int
    number: int
    recorded_at: int
    code: str
    reason: str
    content: str | None


class TombstoneRow(NamedTuple):
    """Proof that something was forgotten: no name, hash or text of it."""

    scope: int
    id: str
    recorded_at: int
    actor: str
    kind: str
    counts: str


class VectorRow(NamedTuple):
    """What an embedder made of a claim: `dim` numbers of 16 bits, which only vectors of the same model compare with."""

    scope: int
    claim: Ident
    model: Word
    dim: int
    vector: bytes


class PageRow(NamedTuple):
    """What recall looks up of the claims recorded after `since`, up to and with `until` (see `semgraph.index.pages`).

    `model` names the table whose word pieces are among it, empty for none. All of it can be made anew from the claims.
    """

    scope: int
    model: str
    since: int
    until: int
    payload: bytes


class AccessRow(NamedTuple):
    """How often a fact was recalled, and when last; nothing that is believed or ranked depends on it."""

    scope: int
    fact: Ident
    times: int
    last_at: int


Row = (
    ScopeRow
    | EntityRow
    | AliasRow
    | ClaimRow
    | JustificationRow
    | RetractionRow
    | FactRow
    | PastFactRow
    | RedirectRow
    | ApartRow
    | CompatRow
    | DeclaredRow
    | DefinitionRow
    | VetoRow
    | RejectedRow
    | TombstoneRow
    | VectorRow
    | PageRow
    | AccessRow
)


class Table(NamedTuple):
    """How a row type is stored: its name, its key, and further look-ups by leading columns.

    Rows of a `heap` lie in order of arrival rather than of their key: wide ones, whose keys are hashes. One that is
    `sealed` carries a digest. An index of `partial` leaves out the rows in which its last column is absent, one of
    `unique` holds the key, where that is an index like the others, made anew after a load like them.
    """

    name: str
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    heap: bool = False
    sealed: bool = False
    partial: tuple[tuple[str, ...], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()


_ENDS: Final = (("scope", "object", "predicate"), ("scope", "id"))

#: Facts stand before the claims that they may be kept with, so that who empties all tables empties theirs first.
TABLES: Final[dict[type[Row], Table]] = {
    ScopeRow: Table("scope", ("scope",), (("name",),), heap=True),
    EntityRow: Table("entity", ("scope", "id")),
    AliasRow: Table("alias", ("scope", "key", "entity", "recorded_at", "kind"), (("scope", "entity"),)),
    FactRow: Table("fact", ("scope", "subject", "predicate", "valid_from", "id"), _ENDS, heap=True),
    PastFactRow: Table("fact_past", ("scope", "subject", "predicate", "id", "sys_from"), _ENDS, heap=True),
    ClaimRow: Table(
        "claim",
        ("scope", "id"),
        (("scope", "id"), ("scope", "subject", "predicate"), ("scope", "object", "predicate"), ("scope", "source_ref")),
        heap=True,
        sealed=True,
        partial=(("scope", "source_ref"),),
        unique=(("scope", "id"),),
    ),
    JustificationRow: Table("justification", ("scope", "claim", "justification", "premise"), (("scope", "premise"),)),
    RetractionRow: Table("retraction", ("scope", "claim", "recorded_at")),
    RedirectRow: Table("redirect", ("scope", "src", "recorded_at"), (("scope", "dst"),)),
    ApartRow: Table("apart", ("scope", "a", "b")),
    CompatRow: Table("compat", ("scope", "subject", "predicate", "a", "b")),
    DeclaredRow: Table("declared", ("scope", "entity")),
    DefinitionRow: Table("definition", ("scope", "predicate", "recorded_at")),
    VetoRow: Table("veto", ("scope", "kind", "value")),
    RejectedRow: Table("rejected", ("scope", "number")),
    TombstoneRow: Table("tombstone", ("scope", "id")),
    VectorRow: Table("vector", ("scope", "claim")),
    PageRow: Table("page", ("scope", "model", "since")),
    AccessRow: Table("access", ("scope", "fact")),
}

#: What can be made anew, or says nothing of what is believed: no part of an export.
DERIVED: Final[frozenset[type[Row]]] = frozenset({FactRow, PastFactRow, VectorRow, PageRow, AccessRow})
