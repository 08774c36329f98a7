"""The rows that a store keeps: a named tuple per table, its key, and the look-ups that must be fast.

A store knows these shapes and no policy. Times are int64 microseconds; an open end is `temporal.POS_INF`,
so that no index meets a null. Every table but `ScopeRow` starts with the scope, and every statement binds it.
"""

from __future__ import annotations

from typing import Final, NamedTuple


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
    id: int
    label: str
    key: str
    recorded_at: int


class AliasRow(NamedTuple):
    """A name of an entity; `kind` is primary, alias or self; `valid_text` is the stored form of both bounds."""

    scope: int
    key: str
    entity: int
    name: str
    kind: str
    valid_from: int
    valid_to: int
    valid_text: str
    source: str
    recorded_at: int
    retracted_at: int


class ClaimRow(NamedTuple):
    """One statement of one source; only added, marked as retracted elsewhere, or forgotten.

    `object` is a reference: `e…` an entity, `l:…` a literal by its key, `x:…` a literal by its exact text,
    empty for none. `object_text` is what was written, `object_type` how to read it back. Absent bounds are null.
    `opposed` marks a claim told through an opposite predicate; `told` says that said_at was given.
    """

    scope: int
    id: str
    subject: int
    subject_text: str
    predicate: str
    object: str
    object_text: str
    object_type: str
    negative: int
    kind: str
    opposed: int
    valid_from: int | None
    valid_from_text: str
    valid_to: int | None
    valid_to_text: str
    said_at: int
    told: int
    recorded_at: int
    source: str
    source_ref: str | None
    confidence: float
    qualifiers: str
    text: str | None


class JustificationRow(NamedTuple):
    """A premise of a justification of a claim; an empty premise says that the claim stands by itself."""

    scope: int
    claim: str
    justification: int
    premise: str
    recorded_at: int


class RetractionRow(NamedTuple):
    """A withdrawal of a claim, in force from recorded_at until ended_at."""

    scope: int
    claim: str
    recorded_at: int
    ended_at: int
    reason: str | None


class FactRow(NamedTuple):
    """A materialised edge as believed now. `body` is JSON that only the engine reads (see `semgraph.belief`)."""

    scope: int
    id: str
    subject: int
    predicate: str
    object: str
    negative: int
    disputed: int
    separators: str
    valid_from: int
    valid_to: int
    sys_from: int
    sys_to: int
    body: str


class PastFactRow(NamedTuple):
    """An edge as it was believed in `[sys_from, sys_to)`: the columns of `FactRow`, kept apart from it."""

    scope: int
    id: str
    subject: int
    predicate: str
    object: str
    negative: int
    disputed: int
    separators: str
    valid_from: int
    valid_to: int
    sys_from: int
    sys_to: int
    body: str


class RedirectRow(NamedTuple):
    """A merge of `src` into `dst`, in force from recorded_at until ended_at."""

    scope: int
    src: int
    dst: int
    recorded_at: int
    ended_at: int
    reason: str | None


class ApartRow(NamedTuple):
    """Two entities that must never be merged or suggested as one; `a < b`."""

    scope: int
    a: int
    b: int
    recorded_at: int


class CompatRow(NamedTuple):
    """Two values of one fluent that somebody decided to keep side by side; `a < b`."""

    scope: int
    subject: int
    predicate: str
    a: str
    b: str
    recorded_at: int


class DeclaredRow(NamedTuple):
    """An entity declared as one of its own."""

    scope: int
    entity: int
    recorded_at: int


class DefinitionRow(NamedTuple):
    """A version of a predicate's registry entry, as JSON."""

    scope: int
    predicate: str
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
)


class Table(NamedTuple):
    """How a row type is stored: its name, its key, and further look-ups by leading columns."""

    name: str
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    digest: bool = False


TABLES: Final[dict[type[Row], Table]] = {
    ScopeRow: Table("scope", ("scope",), (("name",),)),
    EntityRow: Table("entity", ("scope", "id")),
    AliasRow: Table("alias", ("scope", "key", "entity", "recorded_at", "kind"), (("scope", "entity"),)),
    ClaimRow: Table(
        "claim",
        ("scope", "id"),
        (("scope", "subject", "predicate"), ("scope", "object", "predicate"), ("scope", "source_ref")),
        digest=True,
    ),
    JustificationRow: Table("justification", ("scope", "claim", "justification", "premise"), (("scope", "premise"),)),
    RetractionRow: Table("retraction", ("scope", "claim", "recorded_at")),
    FactRow: Table(
        "fact",
        ("scope", "subject", "predicate", "valid_from", "id"),
        (("scope", "object", "predicate"), ("scope", "id")),
    ),
    PastFactRow: Table(
        "fact_past",
        ("scope", "subject", "predicate", "id", "sys_from"),
        (("scope", "object", "predicate"), ("scope", "id")),
    ),
    RedirectRow: Table("redirect", ("scope", "src", "recorded_at"), (("scope", "dst"),)),
    ApartRow: Table("apart", ("scope", "a", "b")),
    CompatRow: Table("compat", ("scope", "subject", "predicate", "a", "b")),
    DeclaredRow: Table("declared", ("scope", "entity")),
    DefinitionRow: Table("definition", ("scope", "predicate", "recorded_at")),
    VetoRow: Table("veto", ("scope", "kind", "value")),
    RejectedRow: Table("rejected", ("scope", "number")),
    TombstoneRow: Table("tombstone", ("scope", "id")),
}
