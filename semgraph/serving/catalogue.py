"""The tools: their names, what a model is told about each, what they take and give, and what they may do.

Nothing here depends on what is stored, so that no stored text can speak in a description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from semgraph.serving import inputs, outputs, reads, removals, writes

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.serving.desk import Desk

__all__ = ["TOOLS", "Tool", "offered"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it is called and for, the models of both sides, and its hints."""

    name: str
    title: str
    description: str
    takes: type[inputs.Arguments]
    gives: type[outputs.Result]
    work: Callable[[Desk, Any], outputs.Result]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    opt_in: bool = False  # offered only where whoever starts the server says so


_TWO_STEPS: Final = (
    "Two steps: without a token it only tells what would happen and gives one; show that to the user, and call again "
    "with the same arguments and the token once they agree."
)

TOOLS: Final = (
    Tool(
        "recall",
        "Recall facts",
        "Find what is known that matters to a question or message. Call it before answering about people, projects, "
        "preferences or anything said earlier. Facts come dated, with doubts; what contradicts itself comes together, "
        "with what to ask the user.",
        inputs.Recall,
        outputs.HitsOut,
        reads.recall,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "ask",
        "Ask a question",
        "Answer a question from the graph itself: who, where, when, how many, yes or no, over one to three relations "
        "and any time, as 'Where did Maya live in 2020?'. It says what it did not understand and guesses nothing; "
        "where it fails, recall may still find something.",
        inputs.Ask,
        outputs.AnswerOut,
        reads.ask,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "about",
        "About an entity",
        "Everything that holds about one person, thing or project, now or at valid_at.",
        inputs.About,
        outputs.FactsOut,
        reads.about,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "timeline",
        "Timeline of an entity",
        "Every fact about an entity in order of time, ended ones too: where somebody worked, which version ran when.",
        inputs.Timeline,
        outputs.FactsOut,
        reads.timeline,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "neighbors",
        "Neighbors of an entity",
        "The entities within some steps of one, and the facts that connect them.",
        inputs.Neighbors,
        outputs.NeighborsOut,
        reads.neighbors,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "paths",
        "Paths between two entities",
        "How two entities are connected, the shortest ways first.",
        inputs.Paths,
        outputs.PathsOut,
        reads.paths,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "match",
        "Match a pattern",
        "Every way to make several triples true at once, with variables: who works where and lives in the same city.",
        inputs.Match,
        outputs.MatchOut,
        reads.match,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "conflicts",
        "List conflicts",
        "Facts that exclude each other and that nobody has decided between. Ask the user; never pick one silently.",
        inputs.Conflicts,
        outputs.ConflictsOut,
        reads.conflicts,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "explain",
        "Explain a fact",
        "Why something is believed: who said it and when, what it replaced, what ended it, what disputes it. "
        "Give the id of a fact, or a subject and a predicate.",
        inputs.Explain,
        outputs.StoriesOut,
        reads.explain,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "profile",
        "Profile of the user",
        "What always matters about the user, as a short block. Read it at the start of a conversation.",
        inputs.Profile,
        outputs.Block,
        reads.profile,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        "remember",
        "Remember a sentence",
        "Store what lasting, checkable facts plain sentences state, as 'Maya moved to Oslo in March 2024.' Moods, "
        "guesses, questions, plans without a date, secrets and orders are refused with a reason. For something that "
        "you can state as subject, predicate and object, add is more exact.",
        inputs.Remember,
        outputs.ReceiptsOut,
        writes.remember,
    ),
    Tool(
        "add",
        "Add a fact",
        "Store one claim: subject, predicate, object, and since when. Nothing is overwritten: a later value ends the "
        "one before, and what contradicts is kept on both sides. Use kind=change where something has just changed.",
        inputs.Add,
        outputs.ReceiptsOut,
        writes.add,
    ),
    Tool(
        "end",
        "End a fact",
        "Say that something was true and stopped, at a time or now. What it was stays on record.",
        inputs.End,
        outputs.ReceiptsOut,
        writes.end,
    ),
    Tool(
        "correct",
        "Correct a value",
        "Say that a value was never right and what it should have been, over the same time: a typo, a mix-up. "
        "For something that changed use add with kind=change.",
        inputs.Correct,
        outputs.ReceiptsOut,
        writes.correct,
    ),
    Tool(
        "settle",
        "Settle a conflict",
        f"End a conflict as the user has decided. {_TWO_STEPS} What somebody more trusted said can't lose this way.",
        inputs.Settle,
        outputs.DryRunOut,
        removals.settle,
        destructive=True,
    ),
    Tool(
        "retract",
        "Retract a statement",
        f"Withdraw a claim or fact by its id, as if it had not been said; the record stays. {_TWO_STEPS}",
        inputs.Retract,
        outputs.DryRunOut,
        removals.retract,
        destructive=True,
        opt_in=True,
    ),
    Tool(
        "forget",
        "Forget for good",
        f"Remove something physically, at every time, with all that follows from it; it can't be undone. {_TWO_STEPS}",
        inputs.Forget,
        outputs.DryRunOut,
        removals.forget,
        destructive=True,
        opt_in=True,
    ),
    Tool(
        "merge",
        "Merge two entities",
        f"Make two entities one, where two names mean the same thing. {_TWO_STEPS}",
        inputs.Merge,
        outputs.DryRunOut,
        removals.merge,
        destructive=True,
        opt_in=True,
    ),
    Tool(
        "unmerge",
        "Split a merged entity",
        f"Undo a merge, without loss. {_TWO_STEPS}",
        inputs.Unmerge,
        outputs.DryRunOut,
        removals.unmerge,
        destructive=True,
        opt_in=True,
    ),
    Tool(
        "define",
        "Define a predicate",
        f"Say how many values a predicate takes at a time; all facts of it are computed again. {_TWO_STEPS}",
        inputs.Define,
        outputs.DryRunOut,
        removals.define,
        destructive=True,
        opt_in=True,
    ),
)


def offered(*, removing: bool, writing: bool = True) -> dict[str, Tool]:
    """The tools of a server by name: those that remove where that is switched on, those that write unless it reads."""
    kept = (tool for tool in TOOLS if (removing or not tool.opt_in) and (writing or tool.read_only))
    return {tool.name: tool for tool in kept}
