"""What each tool gives back: typed data, every text of it cleaned, and the block that a model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from semgraph.model import Entity
from semgraph.render import HEADER, Dispute, clean, fact_line, render_facts
from semgraph.serving.wording import for_caller, plain_why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semgraph import model
    from semgraph.temporal import Bound

__all__ = [
    "AnswerOut", "Block", "ClaimOut", "Clocks", "ConflictOut", "ConflictsOut", "DryRunOut", "ExplainedOut",
    "FactOut", "FactsOut", "HitOut", "HitsOut", "MatchOut", "NeighborOut", "NeighborsOut", "PathOut", "PathsOut",
    "ReceiptOut", "ReceiptsOut", "Result", "RowOut", "StoriesOut", "claim_out", "conflict_out", "fact_out",
    "receipt_out", "when",
]  # fmt: skip

_MOST_RIVALS = 50
Share = Annotated[float, Field(ge=0, le=1)]


class Out(BaseModel):
    """A part of a result; what has its default is left out."""

    model_config = ConfigDict(extra="forbid")


class Result(Out):
    """The whole of a result; `text` is what a model reads, and is sent beside the data."""

    _block: str = PrivateAttr("")

    def showing(self, block: str) -> Self:
        """Itself, with a rendered block of its facts for the text."""
        self._block = block
        return self

    def text(self) -> str:
        """The result in words."""
        raise NotImplementedError


class FactOut(Out):
    """A fact."""

    id: str
    line: Annotated[str, Field(description="The fact in words, with dates, doubts and where it comes from.")]
    subject: str
    subject_id: str
    predicate: str
    object: str | bool | int | float | None = None
    object_id: Annotated[str | None, Field(description="Where the object is an entity.")] = None
    valid_from: Annotated[str, Field(description="'unknown', 'always', or a date at its precision.")]
    valid_to: Annotated[str | None, Field(description="The first moment after; absent while it goes on.")] = None
    basis: Annotated[
        str, Field(description="How the start is known: stated, observed (or earlier), unknown, always or resumed.")
    ] = "stated"
    confidence: Share
    sources: list[str] = []
    negative: Annotated[bool, Field(description="It does not hold.")] = False
    conflicted: Annotated[bool, Field(description="Another fact contradicts it: ask, do not pick one.")] = False
    uncertain: Annotated[bool, Field(description="It may not hold.")] = False
    planned: bool = False
    qualifiers: dict[str, Any] = {}


class ClaimOut(Out):
    """What one source said."""

    id: str
    line: str
    source: str
    source_ref: str | None = None
    said_at: str
    recorded_at: str
    confidence: Share
    text: str | None = None
    retracted: bool = False

    def told(self) -> str:
        """Who said it, where and when, and in which words."""
        ref = f" ({self.source_ref})" if self.source_ref else ""
        words = f': "{self.text}"' if self.text else ""
        return f"{self.source}{ref} on {self.said_at}{words}"


class Clocks(Out):
    """The two clocks of a read, as they were understood; absent where they are now and all that is known."""

    valid_at: str | None = None
    known_at: str | None = None


class ReadOut(Result):
    """The result of a read."""

    clocks: Annotated[Clocks, Field(description="The two clocks, as they were understood, where any was given.")] = (
        Clocks()
    )


class Block(ReadOut):
    """A block for a prompt."""

    block: Annotated[str, Field(description="Dated facts, one a line. Reference material, no orders.")]
    tokens: int
    more: Annotated[int, Field(description="How many facts had no room.")] = 0

    def text(self) -> str:
        """The block itself."""
        return self.block or "nothing is known"


class Pages(ReadOut):
    """A page of a longer answer."""

    total: Annotated[int, Field(description="How many there are in all.")]
    tokens: Annotated[int, Field(description="About how many tokens this page is.")]
    next_cursor: Annotated[str | None, Field(description="For the next page; absent on the last one.")] = None
    truncated: Annotated[bool, Field(description="A bound was hit: there are more than were counted.")] = False

    def _rest(self, shown: int) -> list[str]:
        """What to say of what is not shown."""
        if self.next_cursor is not None:
            return [f"({shown} shown here, {self.total} in all; the next page: cursor {self.next_cursor})"]
        return ["(a bound was hit: there are more)"] if self.truncated else []


class FactsOut(Pages):
    """Facts, a page of them."""

    facts: list[FactOut]

    def text(self) -> str:
        """The block, and the ids of its facts."""
        if not self.facts:
            return "nothing is known of that"
        ids = ", ".join(f"{fact.id} ({clean(fact.predicate, 40)} {_short(fact.object)})" for fact in self.facts)
        return "\n".join([self._block, f"ids: {ids}", *self._rest(len(self.facts))])


class HitOut(Out):
    """A recalled fact, why it was found, and its score."""

    fact: FactOut
    score: float
    why: str


class HitsOut(Pages):
    """Recalled facts, the best first; what contradicts one of them comes along."""

    hits: list[HitOut]

    def text(self) -> str:
        """The block."""
        return "\n".join([self._block or "nothing is known of that", *self._rest(len(self.hits))])


class AnswerOut(ReadOut):
    """An answer, and what it rests on."""

    values: list[str | bool | int | float]
    sure: Annotated[bool, Field(description="All of the question was understood, and nothing disputes the facts.")]
    plan: Annotated[str, Field(description="How the question was understood, or what was not.")]
    facts: list[FactOut] = []
    total: int
    tokens: int

    def text(self) -> str:
        """The values, how sure they are, and the facts."""
        words = [{True: "yes", False: "no"}[v] if isinstance(v, bool) else str(v) for v in self.values]
        head = f"answer: {', '.join(words)}" if words else "no answer"
        doubt = "" if self.sure else f" (not sure: {self.plan})"
        return "\n".join(filter(None, [head + doubt, self._block]))


class NeighborOut(Out):
    """An entity near another, and the facts that connect the two."""

    entity: str
    entity_id: str
    distance: int
    facts: list[FactOut]


class NeighborsOut(Pages):
    """Entities near another, the nearest first."""

    neighbors: list[NeighborOut]

    def text(self) -> str:
        """A line for each."""
        lines = [f"{n.entity} ({n.distance}): {'; '.join(f.line for f in n.facts)}" for n in self.neighbors]
        return "\n".join([*(lines or ["nothing is near it"]), *self._rest(len(lines))])


class PathOut(Out):
    """A way from one entity to another."""

    entities: list[str]
    facts: list[FactOut]
    valid_from: Annotated[str | None, Field(description="Since when all of it holds together.")] = None
    valid_to: str | None = None
    arrival: Annotated[str | None, Field(description="The earliest end, for chronological.")] = None
    confidence: Share


class PathsOut(Pages):
    """Ways from one entity to another, the shortest first."""

    paths: list[PathOut]

    def text(self) -> str:
        """Each way, and under it its facts."""
        lines = []
        for path in self.paths:
            lines += [" > ".join(path.entities), *(f"  {fact.line}" for fact in path.facts)]
        return "\n".join([*(lines or ["no path within the cutoff"]), *self._rest(len(self.paths))])


class RowOut(Out):
    """What each variable stands for, and when."""

    values: dict[str, str]
    valid_from: str | None = None
    valid_to: str | None = None
    facts: Annotated[list[str], Field(description="The ids of the facts it rests on.")]


class MatchOut(Pages):
    """Rows of a pattern match."""

    rows: list[RowOut]

    def text(self) -> str:
        """A line for each row."""
        lines = [
            f"{', '.join(f'{name} = {value}' for name, value in row.values.items()) or 'yes'}"
            f" [{row.valid_from or '..'} - {row.valid_to or '..'}]"
            for row in self.rows
        ]
        return "\n".join([*(lines or ["no match"]), *self._rest(len(lines))])


class ConflictOut(Out):
    """Facts that exclude each other, and since when."""

    id: str
    subject: str | None = None
    predicate: str
    object: str | None = None
    facts: list[FactOut]
    since: str
    until: str | None = None
    question: Annotated[str, Field(description="What to ask the user.")]

    def lines(self) -> list[str]:
        """Its facts, one a line, and the question."""
        return [*(f"- {fact.line}" for fact in self.facts), f"  {self.question}"]


class ConflictsOut(Pages):
    """What contradicts itself."""

    conflicts: list[ConflictOut]

    def text(self) -> str:
        """The conflicts with what to ask."""
        lines = [line for one in self.conflicts for line in one.lines()]
        return "\n".join([HEADER, *lines, *self._rest(len(self.conflicts))]) if lines else "no conflicts"


class ExplainedOut(Out):
    """Why a fact is believed."""

    fact: FactOut
    claims: list[ClaimOut]
    opened_by: str
    closed_by: str
    supersedes: list[FactOut] = []
    superseded_by: list[FactOut] = []
    rivals: list[FactOut] = []
    premises: list[ClaimOut] = []

    def story(self) -> list[str]:
        """The same in lines."""
        return [
            f"{self.fact.line} (id {self.fact.id})",
            *(f"  said by {claim.told()}" for claim in self.claims),
            f"  opened: {self.opened_by}",
            f"  closed: {self.closed_by}",
            *(f"  replaced: {fact.line}" for fact in self.supersedes),
            *(f"  followed by: {fact.line}" for fact in self.superseded_by),
            *(f"  disputed by: {fact.line}" for fact in self.rivals),
            *(f"  because: {claim.line}, said by {claim.told()}" for claim in self.premises),
        ]


class StoriesOut(ReadOut):
    """Why facts are believed."""

    explanations: list[ExplainedOut]
    total: int
    tokens: int

    def text(self) -> str:
        """The stories."""
        return "\n".join(line for one in self.explanations for line in one.story()) or "nothing holds there"


class ReceiptOut(Out):
    """What a write did."""

    outcome: Annotated[str, Field(description="new, update, conflict, duplicate, ended, rejected and others.")]
    why: str = ""
    code: Annotated[str | None, Field(description="Why it was refused.")] = None
    claims: Annotated[list[str], Field(description="The ids of the claims written.")] = []
    facts: list[FactOut] = []
    closed: Annotated[list[FactOut], Field(description="What this ended.")] = []
    conflict: ConflictOut | None = None

    def line(self) -> str:
        """The receipt in words."""
        if self.outcome == "rejected":
            return f"rejected: {self.code} - {self.why}"
        done = self.outcome == "ended"
        shown = "; ".join(fact.line for fact in (self.closed if done else self.facts))
        ended = f" (ended: {'; '.join(fact.line for fact in self.closed)})" if self.closed and not done else ""
        if done and not self.closed:
            shown = "it is noted, but nothing like it held, so that nothing ended"
        dispute = [] if self.conflict is None else self.conflict.lines()
        return "\n".join([f"{self.outcome}: {shown or self.why}{ended}", *dispute])


class ReceiptsOut(Result):
    """What a write did, a receipt for each thing that was said."""

    receipts: list[ReceiptOut]
    kept: Annotated[int, Field(description="How many were not refused.")]

    def text(self) -> str:
        """A line for each."""
        return "\n".join(receipt.line() for receipt in self.receipts)


class DryRunOut(Result):
    """What a call would do; nothing is done before it comes again with the token."""

    done: bool
    effect: str
    token: Annotated[str | None, Field(description="Lets the same call through once, within five minutes.")] = None
    claims: int = 0
    facts: int = 0
    entities: int = 0
    listed: Annotated[list[FactOut], Field(description="Some of the facts concerned.")] = []
    receipt: ReceiptOut | None = None

    def text(self) -> str:
        """The effect, and what to do next."""
        lines = [self.effect, *(f"- {fact.line}" for fact in self.listed)]
        if self.token is not None:
            lines.append(f"Nothing is done yet. If the user agrees, call again with token {self.token}")
        return "\n".join(lines)


# -- from what the graph gives


def when(bound: Bound | None) -> str | None:
    """A date at its precision."""
    return None if bound is None else str(bound)


def _short(value: object) -> str:
    return "anything" if value is None else clean(str(value), 60)


def _label(thing: model.Entity | model.Literal | None) -> str | None:
    return None if thing is None else clean(thing.label)


def fact_out(fact: model.Fact, now: int) -> FactOut:
    """A fact as data."""
    thing = fact.object
    plain = thing.value if thing is not None and not isinstance(thing, Entity) else None
    start = "unknown" if fact.start_basis == "unknown" else str(fact.valid_from)
    return FactOut(
        id=fact.id,
        line=fact_line(fact, now),
        subject=clean(fact.subject.label),
        subject_id=fact.subject.id,
        predicate=clean(fact.predicate),
        object=plain if isinstance(plain, bool | int | float) else _label(thing),
        object_id=thing.id if isinstance(thing, Entity) else None,
        valid_from=start,
        valid_to=when(fact.valid_to),
        basis=fact.start_basis,
        confidence=round(fact.confidence, 4),
        sources=[clean(source, 100) for source in fact.sources],
        negative=fact.negative,
        conflicted=fact.conflicted,
        uncertain=not fact.certain,
        planned=fact.planned,
        qualifiers={clean(str(key)): _scalar(value) for key, value in fact.qualifiers.items()},
    )


def _scalar(value: object) -> str | bool | int | float:
    return value if isinstance(value, bool | int | float) else clean(str(value))


def claim_out(claim: model.Claim) -> ClaimOut:
    """A claim as data."""
    told = clean(f"{claim.subject.label} {'(not) ' if claim.negative else ''}{claim.predicate} {claim.object or ''}")
    return ClaimOut(
        id=claim.id,
        line=told,
        source=clean(claim.source, 100),
        source_ref=None if claim.source_ref is None else clean(claim.source_ref),
        said_at=str(claim.said_at),
        recorded_at=str(claim.recorded_at),
        confidence=round(claim.confidence, 4),
        text=None if claim.text is None else clean(claim.text),
        retracted=claim.retracted_at is not None,
    )


def conflict_out(conflict: model.ConflictSet, now: int, *, sure: bool) -> ConflictOut:
    """A conflict set as data, with what to ask; of a large one the first facts."""
    shown = conflict.facts[:_MOST_RIVALS]
    block = render_facts(shown, [Dispute(tuple(range(len(shown))), sure=sure)], now)
    return ConflictOut(
        id=conflict.id,
        subject=_label(conflict.subject),
        predicate=clean(conflict.predicate),
        object=_label(conflict.object),
        facts=[fact_out(fact, now) for fact in shown],
        since=str(conflict.since),
        until=when(conflict.until),
        question=block.splitlines()[-1].strip(),
    )


def receipt_out(receipt: model.Receipt, now: int, conflict: ConflictOut | None, most: int) -> ReceiptOut:
    """A receipt as data, with at most so many facts of each kind."""

    def some(facts: Iterable[model.Fact]) -> list[FactOut]:
        return [fact_out(fact, now) for fact in list(facts)[:most]]

    return ReceiptOut(
        outcome=receipt.outcome.value,
        why=clean(for_caller(plain_why(receipt.why) if receipt.reason is None else receipt.reason)),
        code=receipt.code,
        claims=[claim.id for claim in receipt.claims[:most]],
        facts=some(receipt.facts),
        closed=some(receipt.closed),
        conflict=conflict,
    )
