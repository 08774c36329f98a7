"""What semgraph gives and takes: entities, literals, claims, facts, receipts and reports, all frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from semgraph.found import Bounded, Connecting, Neighbor, Path, Row, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semgraph.temporal import Bound

__all__ = [
    "WORDS",
    "Answer",
    "Batch",
    "Bounded",
    "Claim",
    "ConflictSet",
    "Connecting",
    "Diff",
    "Entity",
    "Explanation",
    "Fact",
    "FactVersion",
    "ForgetReport",
    "Hit",
    "Literal",
    "MergeSuggestion",
    "Neighbor",
    "Outcome",
    "Path",
    "Problem",
    "Profile",
    "Receipt",
    "Rejection",
    "Row",
    "Span",
    "Veto",
]


WORDS = frozenset(  # in which a claim is told: the parameters of `add`
    [
        "subject",
        "predicate",
        "object",
        "valid_from",
        "valid_to",
        "valid_through",
        "kind",
        "negative",
        "source",
        "source_ref",
        "said_at",
        "confidence",
        "qualifiers",
        "because",
        "text",
    ]
)


class Outcome(StrEnum):
    """What a write did; a property of the moment it arrived, not of the graph."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REFINEMENT = "refinement"
    UPDATE = "update"
    SPLIT = "split"
    CONFLICT = "conflict"
    HISTORY = "history"
    ENDED = "ended"
    SUPPRESSED = "suppressed"
    IDEMPOTENT = "idempotent"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: an id that no name is part of, and the primary name of the view it was read from."""

    id: str
    label: str = field(compare=False)

    def __repr__(self) -> str:
        return f"<Entity {self.label!r} {self.id}>"

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is no entity: text, number, boolean, date or URL, as first written."""

    value: Any
    label: str
    unit: str | None = None

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True)
class Claim:
    """What one source said, as it was said; only a retraction mark is ever added."""

    id: str
    subject: Entity
    predicate: str
    object: Entity | Literal | None
    negative: bool
    kind: str
    valid_from: Bound | None
    valid_to: Bound | None
    said_at: Bound
    recorded_at: Bound
    source: str
    source_ref: str | None
    confidence: float
    qualifiers: Mapping[str, Any] = field(hash=False)
    text: str | None
    because: tuple[tuple[str, ...], ...]
    retracted_at: Bound | None

    def __repr__(self) -> str:
        mark = {"deny": "deny ", "correct": "deny "}.get(self.kind, "¬" if self.negative else "")
        target = self.object.label if self.object else "(anything)"
        return f"<Claim {mark}{self.subject.label} {self.predicate} {target} by {self.source}>"


LATE = frozenset(  # attributes of a fact that a read makes when they are asked for
    [
        "qualifiers",
        "sources",
        "claims",
        "text",
        "recorded_at",
        "system_from",
        "system_to",
        "supersedes",
        "ended_by",
        "because",
    ]
)


_FRESH = frozenset(["qualifiers", "claims"])  # can be changed by whoever has them, so nobody has another's


class _Late:
    """What has attributes that are made when they are first asked for."""

    __slots__ = ("_late",)

    if not TYPE_CHECKING:  # a checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name not in LATE:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            made = getattr(self._late, name)
            if name not in _FRESH:
                object.__setattr__(self, name, made)
            return made


@dataclass(frozen=True, slots=True)
class Fact(_Late):
    """An edge with a valid interval `[valid_from, valid_to)`, computed from the claims that support it.

    `certain`, `conflicted`, `confidence` and `status` are as of the view's instant; where the view has none,
    `certain` and `conflicted` say whether the fact ever is, and `confidence` is the base.
    """

    id: str
    subject: Entity
    predicate: str
    object: Entity | Literal | None
    qualifiers: Mapping[str, Any] = field(hash=False)
    valid_from: Bound
    valid_to: Bound | None
    start_basis: str
    certain: bool
    conflicted: bool
    planned: bool
    negative: bool
    status: str
    confidence: float
    sources: tuple[str, ...]
    claims: list[Claim] = field(hash=False)
    text: str | None
    recorded_at: Bound
    system_from: Bound
    system_to: Bound | None
    supersedes: tuple[str, ...]
    ended_by: tuple[str, ...]
    end_reason: str
    because: tuple[tuple[str, ...], ...]

    @property
    def label(self) -> str:
        """The fact in words: subject, predicate and object, a leading ¬ where it is negative."""
        mark = "¬" if self.negative else ""
        return f"{mark}{self.subject.label} {self.predicate} {self.object.label if self.object else '(anything)'}"

    def __repr__(self) -> str:
        return f"<Fact {self}>"

    def __str__(self) -> str:
        end = "" if self.valid_to is None else str(self.valid_to)
        return f"{self.label} [{self.valid_from}, {end})"


@dataclass(frozen=True, slots=True)
class ConflictSet:
    """Facts that exclude each other and hold together from `since` until `until` (None = open).

    `object` is set where the dispute is about who the subject is; then `subject` is None.
    """

    id: str
    subject: Entity | None
    predicate: str
    object: Entity | Literal | None
    facts: tuple[Fact, ...]
    since: Bound
    until: Bound | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a write did, why, and what it closed."""

    outcome: Outcome
    code: str | None = None
    reason: str | None = None
    why: str = ""
    claims: tuple[Claim, ...] = ()
    facts: tuple[Fact, ...] = ()
    closed: tuple[Fact, ...] = ()
    conflict: ConflictSet | None = None
    widened: bool = False
    recorded_at: Bound | None = None

    @property
    def claim(self) -> Claim | None:
        """The claim that was written or found, where there is exactly one or a first one."""
        return self.claims[0] if self.claims else None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A refused claim as kept in the log; `content` is None where even that must not be kept."""

    code: str
    reason: str
    content: Mapping[str, Any] | None = field(hash=False)
    recorded_at: Bound


@dataclass(frozen=True, slots=True)
class Veto:
    """What must never be stored: a phrase, an entity or a predicate, in the form in which it is compared."""

    kind: str
    value: str
    recorded_at: Bound


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch did: counts by outcome, the refused ones, receipts in input order when asked for.

    `rejected_at` says which of those given each refused one was, counted from 1, or its line where a file has a claim
    on each; empty where the file is an export or a graph.

    Of a file that another tool wrote also `predicates`, how many claims each of those met has, and `notes`, what could
    not be taken as it stands.
    """

    counts: Mapping[str, int] = field(hash=False)
    rejected: tuple[Receipt, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    retracted: int = 0
    predicates: Mapping[str, int] = field(default_factory=dict, hash=False)
    notes: tuple[str, ...] = ()
    rejected_at: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """How many claims were given."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A fact as it was believed from `known_from` until `known_to` (None = still)."""

    fact: Fact
    known_from: Bound
    known_to: Bound | None


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two views: `changed` pairs an opened and a closed fact that belong together."""

    opened: tuple[Fact, ...] = ()
    closed: tuple[Fact, ...] = ()
    changed: tuple[tuple[Fact, Fact], ...] = ()
    conflicts_opened: tuple[ConflictSet, ...] = ()
    conflicts_settled: tuple[ConflictSet, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.opened or self.closed or self.conflicts_opened or self.conflicts_settled)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a fact is believed: who said it, what opened and closed it, what it replaced, what disputes it."""

    fact: Fact
    claims: tuple[Claim, ...]
    opened_by: str
    closed_by: str
    supersedes: tuple[Fact, ...]
    superseded_by: tuple[Fact, ...]
    rivals: tuple[Fact, ...]
    premises: tuple[Claim, ...]
    story: str
    recalled: int = 0

    def __str__(self) -> str:
        return self.story


@dataclass(frozen=True, slots=True)
class MergeSuggestion:
    """Two entities whose names look alike; a suggestion, never a resolution."""

    a: Entity
    b: Entity
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten (or would be): counts, the entities' and facts' words only for a dry run.

    `purged` says that the bytes are gone, not only the rows; `pending` says why not.
    """

    claims: int
    facts: int
    entities: int
    purged: bool
    dry_run: bool = False
    pending: str | None = None
    tombstone: str | None = None
    listed: tuple[Fact, ...] = ()
    mentioned: tuple[Claim, ...] = ()
    beyond_reach: str = "copies, backups, file-system snapshots and exports made earlier are out of reach"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `verify` found: where, and what is wrong there; never content."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled fact: its fused score, its rank in each channel that found it, and why in words.

    A conflict partner that was brought along has the channels that found it, which may be none.
    """

    fact: Fact
    score: float
    channels: Mapping[str, int] = field(hash=False)
    why: str

    def __str__(self) -> str:
        return f"{self.fact} ({self.why})"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A fact with how many times it was recalled, and when last."""

    fact: Fact
    times: int
    last_at: Bound


@dataclass(frozen=True, slots=True)
class Answer:
    """What the graph answers to a question: plain values, the facts they rest on, and the plan in words.

    `sure`: the whole question was understood in one way, and nothing disputes the facts or makes them uncertain.
    Without values the plan says what was not understood, and the facts are only those that recall finds. `unit`: years
    or days, after "how long".
    """

    values: list[Any]
    facts: list[Fact]
    paths: list[Path]
    plan: str
    sure: bool
    unit: str | None = None

    def __bool__(self) -> bool:
        return bool(self.values)

    def shown(self) -> list[str]:
        """The values as text, with their unit."""
        return [f"{value} {self.unit}" if self.unit else str(value) for value in self.values]

    def __str__(self) -> str:
        shown = ", ".join(self.shown())
        return shown if self.sure else f"{shown or 'no answer'} ({'not sure: ' if shown else ''}{self.plan})"


@dataclass(frozen=True, slots=True)
class Profile:
    """The facts about the owner of a scope that always matter; `str()` is the block for a prompt.

    `tokens` is the size of the block by the counter that was used; `more` is how many facts had no room.
    """

    facts: tuple[Fact, ...]
    tokens: int
    more: int
    text: str

    def __str__(self) -> str:
        return self.text
