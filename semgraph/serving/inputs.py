"""What each tool takes: models that check untrusted arguments, and the schemas that clients are shown.

There is no argument for the scope or the source: both are fixed when the server starts.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from semgraph.serving.limits import BUDGET, MAX_BUDGET, MAX_ROWS, MAX_TEXT, ROWS

__all__ = [
    "About", "Add", "Arguments", "Ask", "Conflicts", "Correct", "Define", "End", "Explain", "Forget", "Match", "Merge",
    "Neighbors", "PagedRead", "Paths", "Profile", "Read", "Recall", "Remember", "Retract", "Settle", "Timeline",
    "TwoStep", "Unmerge",
]  # fmt: skip

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=4096)]
Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
When: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Value: TypeAlias = str | bool | int | float
Direction: TypeAlias = Literal["out", "in", "any"]

_ENTITY = "A name as people say it, 'user' for the user, or an id such as e0123456789abcdef where a name is shared."
_PREDICATE = "What relates the two: lives_in, works_at, prefers. Use the same one each time, as about shows them."
_OBJECT = "The other thing's name, or a plain value."
_FROM = "Since when it holds: 2024-03-01, 2024-03, 2024, or words such as 'last month'. Leave out if unknown."
_TO = "Until when it holds, that moment not included."
_REF = "Where it was said, such as a message id; saying the same under the same reference twice changes nothing."


class Arguments(BaseModel):
    """Arguments of a tool; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


# -- telling


class Told(Arguments):
    """Where something was said."""

    source_ref: Annotated[str | None, Field(description=_REF, max_length=4096)] = None


class Qualified(Told):
    """Something said of one subject and predicate."""

    subject: Annotated[Name, Field(description=_ENTITY)]
    predicate: Annotated[Name, Field(description=_PREDICATE)]
    qualifiers: Annotated[
        dict[str, Value] | None, Field(description="Details by name, such as {'kind': 'home'}.", max_length=32)
    ] = None


class Remember(Told):
    """Arguments of `remember`."""

    text: Annotated[Text, Field(description="One or more plain sentences, with names instead of he, she or it.")]
    subject: Annotated[Name | None, Field(description="Whom or what it is about, if you have worked it out.")] = None
    predicate: Annotated[Name | None, Field(description=_PREDICATE)] = None
    object: Annotated[Value | None, Field(description=_OBJECT)] = None
    valid_from: Annotated[When | None, Field(description=_FROM)] = None
    valid_to: Annotated[When | None, Field(description=_TO)] = None


class Add(Qualified):
    """Arguments of `add`."""

    object: Annotated[Value, Field(description=_OBJECT)]
    valid_from: Annotated[When | None, Field(description=_FROM)] = None
    valid_to: Annotated[When | None, Field(description=_TO)] = None
    valid_through: Annotated[When | None, Field(description="The last day, month or year; instead of valid_to.")] = None
    kind: Annotated[
        Literal["state", "change", "also"],
        Field(
            description="state: it is so. change: it is so from now on instead of what was. also: besides what holds."
        ),
    ] = "state"
    negative: Annotated[bool, Field(description="True to say that it does not hold.")] = False
    confidence: Annotated[float | None, Field(description="Lower than usual if you are not sure.", ge=0, le=1)] = None
    text: Annotated[Text | None, Field(description="The sentence that this was read from.")] = None


class End(Qualified):
    """Arguments of `end`."""

    object: Annotated[Value | None, Field(description="The value that stopped; whatever it was if left out.")] = None
    at: Annotated[When | None, Field(description="When it stopped; now if left out.")] = None


class Correct(Qualified):
    """Arguments of `correct`."""

    old: Annotated[Value, Field(description="The wrong value, which holds now or at valid_at.")]
    new: Annotated[Value, Field(description="The right value, over the same time.")]
    valid_at: Annotated[When | None, Field(description="When the wrong value holds; now if left out.")] = None


# -- reading


class Read(Arguments):
    """The two clocks of a read."""

    valid_at: Annotated[When | None, Field(description="What was true then; now if left out.")] = None
    known_at: Annotated[When | None, Field(description="What was known then; all that is known if left out.")] = None


class Budgeted(Read):
    """A read that fits into so many tokens."""

    budget: Annotated[int, Field(description="The most tokens of the answer.", ge=50, le=MAX_BUDGET)] = BUDGET


class PagedRead(Budgeted):
    """A read whose answer comes in pages."""

    limit: Annotated[int, Field(description="The most rows of a page.", ge=1, le=MAX_ROWS)] = ROWS
    cursor: Annotated[
        str | None, Field(description="next_cursor of the page before, with all else as it was.", max_length=2000)
    ] = None


class Recall(Budgeted):
    """Arguments of `recall`."""

    query: Annotated[Text, Field(description="A question or words; names help most.")]
    limit: Annotated[int, Field(description="The most facts.", ge=1, le=50)] = 6
    min_confidence: Annotated[float, Field(description="Leave out what is less sure.", ge=0, le=1)] = 0.4


class Ask(Budgeted):
    """Arguments of `ask`."""

    question: Annotated[
        str, Field(description="A question in English about names that are known.", min_length=1, max_length=4000)
    ]


class About(PagedRead):
    """Arguments of `about`."""

    entity: Annotated[Name, Field(description=_ENTITY)]


class Timeline(PagedRead):
    """Arguments of `timeline`."""

    entity: Annotated[Name, Field(description=_ENTITY)]
    predicate: Annotated[Name | None, Field(description="Only this predicate.")] = None
    valid_from: Annotated[When | None, Field(description="Only what holds at some time from then on.")] = None
    valid_to: Annotated[When | None, Field(description="Only what holds at some time before then.")] = None
    negative: Annotated[bool, Field(description="Also what is said not to hold.")] = False
    possible: Annotated[bool, Field(description="Also what only may hold.")] = False


class Neighbors(PagedRead):
    """Arguments of `neighbors`."""

    entity: Annotated[Name, Field(description=_ENTITY)]
    hops: Annotated[int, Field(description="How many steps away.", ge=1, le=6)] = 1
    direction: Annotated[Direction, Field(description="Which way facts are followed, from subject to object.")] = "any"
    predicates: Annotated[list[Name] | None, Field(description="Follow only these.", max_length=64)] = None


class Paths(Budgeted):
    """Arguments of `paths`."""

    start: Annotated[Name, Field(description=_ENTITY)]
    target: Annotated[Name, Field(description=_ENTITY)]
    mode: Annotated[
        Literal["snapshot", "overlap", "chronological"],
        Field(
            description="snapshot: all facts hold at valid_at. overlap: all hold together at some time. "
            "chronological: each can be used after the one before."
        ),
    ] = "snapshot"
    cutoff: Annotated[int, Field(description="The most facts in a path.", ge=1, le=8)] = 4
    limit: Annotated[int, Field(description="The most paths.", ge=1, le=50)] = 10
    direction: Annotated[Direction, Field(description="Which way facts are followed, from subject to object.")] = "any"
    predicates: Annotated[list[Name] | None, Field(description="Follow only these.", max_length=64)] = None


class Match(PagedRead):
    """Arguments of `match`."""

    patterns: Annotated[
        list[Annotated[list[Name], Field(min_length=3, max_length=3)]],
        Field(
            description="Triples that must all be facts; a part that begins with ? is a variable, "
            "as [['?who', 'works_at', 'Stripe'], ['?who', 'lives_in', '?city']].",
            min_length=1,
            max_length=8,
        ),
    ]
    valid_from: Annotated[When | None, Field(description="With valid_to: at any time between, not at valid_at.")] = None
    valid_to: Annotated[When | None, Field(description="The end of that time.")] = None


class Conflicts(PagedRead):
    """Arguments of `conflicts`."""

    subject: Annotated[Name | None, Field(description="Only about this.")] = None
    all_times: Annotated[bool, Field(description="Also those that are over or still to come.")] = False


class Explain(Budgeted):
    """Arguments of `explain`."""

    fact: Annotated[
        str | None, Field(description="The id of a fact; else give subject and predicate.", max_length=64)
    ] = None
    subject: Annotated[Name | None, Field(description=_ENTITY)] = None
    predicate: Annotated[Name | None, Field(description=_PREDICATE)] = None
    object: Annotated[Value | None, Field(description="Only facts with this object.")] = None


class Profile(Read):
    """Arguments of `profile`."""

    budget: Annotated[int, Field(description="The most tokens of the block.", ge=0, le=MAX_BUDGET)] = 400


# -- deciding and removing


class TwoStep(Arguments):
    """A call that is made twice: without a token it only tells what it would do."""

    token: Annotated[
        str | None,
        Field(description="From the dry run, once the user has agreed; leave out for the dry run.", max_length=200),
    ] = None


class Settle(TwoStep):
    """Arguments of `settle`."""

    subject: Annotated[Name, Field(description=_ENTITY)]
    predicate: Annotated[Name, Field(description=_PREDICATE)]
    choice: Annotated[
        Literal["choose", "keep_both", "both_wrong"],
        Field(description="choose: object is right. keep_both: both are. both_wrong: neither is."),
    ]
    object: Annotated[Value | None, Field(description="The value to keep, for choose.")] = None
    valid_at: Annotated[When | None, Field(description="When the conflict holds; now if left out.")] = None
    reason: Annotated[str | None, Field(description="Why, in the user's words.", max_length=2000)] = None


class Retract(TwoStep):
    """Arguments of `retract`."""

    target: Annotated[str, Field(description="The id of a fact or claim.", min_length=1, max_length=64)]
    reason: Annotated[str | None, Field(description="Why.", max_length=2000)] = None


class Forget(TwoStep):
    """Arguments of `forget`."""

    entity: Annotated[Name | None, Field(description="Everything about this.")] = None
    fact: Annotated[str | None, Field(description="The id of a fact.", max_length=64)] = None
    claim: Annotated[str | None, Field(description="The id of a claim.", max_length=64)] = None
    source_ref: Annotated[str | None, Field(description="Everything said under this reference.", max_length=4096)] = (
        None
    )
    mentions: Annotated[bool, Field(description="With entity: also claims whose text mentions it.")] = False


class Merge(TwoStep):
    """Arguments of `merge`."""

    duplicate: Annotated[Name, Field(description="The entity that is the same as the other; its names lead there.")]
    into: Annotated[Name, Field(description="The entity that stays.")]
    reason: Annotated[str | None, Field(description="Why they are one.", max_length=2000)] = None


class Unmerge(TwoStep):
    """Arguments of `unmerge`."""

    duplicate: Annotated[Name, Field(description="The entity to split off again.")]


class Define(TwoStep):
    """Arguments of `define`."""

    predicate: Annotated[Name, Field(description=_PREDICATE)]
    cardinality: Annotated[
        Literal["one", "many", "once"],
        Field(description="one: one value at a time. many: several at a time. once: it never changes."),
    ]
    inverse_of: Annotated[Name | None, Field(description="The predicate that says the same from the other end.")] = None
