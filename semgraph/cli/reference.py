"""What the commands are and what their JSON documents hold, told from the code: for `semgraph help` and the README."""

from __future__ import annotations

import re
import textwrap
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from semgraph.cli.app import SECTIONS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DOCUMENTS", "MEANINGS", "OBJECTS", "attributes", "commands_markdown", "json_lines"]

#: The document of each command: an object by its name, a list of such, or what is said in words.
DOCUMENTS: Final = {
    "add": "Receipt", "set": "Receipt", "remember": "list of Receipt",
    "extract": "{episodes, done_before, failed: list of [episode, reason], cut, counts, receipts: list of Receipt, "
    "rejected: list of [sentence, Receipt], requests, tokens_in, tokens_out, cost, asked_as}",
    "settle": "Receipt", "end": "Receipt", "deny": "Receipt", "correct": "Receipt", "retract": "Receipt",
    "unretract": "Receipt", "forget": "ForgetReport", "veto": "{vetoed}, {lifted}, or a list of Veto",
    "purge": "{purged}", "value": "a text, number or boolean, or null", "about": "{predicate: list of Fact}",
    "timeline": "list of Fact", "list": "list of Fact", "entities": "list of Entity", "aliases": "list of text",
    "conflicts": "list of ConflictSet", "explain": "Explanation for an id, else a list of Explanation",
    "history": "list of FactVersion", "diff": "Diff", "rejected": "list of Rejection", "recall": "list of Hit",
    "recalled": "list of Recalled",
    "ask": "{values, unit, facts, plan, sure}",
    "profile": "Profile",
    "neighbors": "list of Neighbor", "paths": "list of Path",
    "match": "list of {values, interval: [from, to], facts: list of Fact}",
    "declare": "{id, label}", "alias": "{name, id, label}", "unalias": "{name, entity}", "merge": "{id, label}",
    "unmerge": "{id, label}", "keep-apart": "{a, b}", "suggest": "list of MergeSuggestion",
    "define": "a definition: what is not at its default", "predicates": "list of definitions, or the one asked for",
    "export": "{path}; the export itself if the path is -", "import": "Batch", "verify": "list of Problem",
    "stats": "{count by name}", "backup": "{path}", "reembed": "{made}", "recover": "Recovery",
    "probe": "{probes, limit, facts, recall, answers, conflicts, staleness, leaks, shortfalls}: shares or null; "
    "list of {line, kind, probe, what}",
    "demo": "no document: its commands print text", "help": "no document", "config": "{setting: {value, origin}}",
    "completion": "no document", "serve": "no document",
}  # fmt: skip
#: The objects, in the order in which one meets them.
OBJECTS: Final = (
    "Fact", "Claim", "Entity", "Literal", "Receipt", "Batch", "ConflictSet", "Diff", "FactVersion", "Explanation",
    "Hit", "Profile", "Neighbor", "Path", "MergeSuggestion", "Recalled", "Rejection", "Veto", "ForgetReport",
    "Problem", "Recovery",
)  # fmt: skip
MEANINGS: Final = {
    "id": "what it is asked for by",
    "subject": "what it is about; null in a conflict about who it is",
    "predicate": "the relation, by its canonical name",
    "object": "the value: Entity, Literal or null",
    "qualifiers": "details of the claim",
    "valid_from": "since when it holds",
    "valid_to": "up to when, not included; null is open",
    "start_basis": "stated, observed, unknown, always or resumed",
    "certain": "whether it holds whatever its imprecise bounds turn out to be",
    "conflicted": "whether others contradict it",
    "planned": "whether it was only announced",
    "negative": "whether it says that something does not hold",
    "status": "active, conflicted, planned, possible, superseded, expired or ended, at the time of the read",
    "confidence": "0 to 1",
    "sources": "who says so",
    "claims": "the claims it rests on; a count in a report, ids in a recovery",
    "text": "the words in which it was said",
    "recorded_at": "when the graph was told",
    "system_from": "since when it is believed",
    "system_to": "until when it was believed; null is still",
    "supersedes": "what it replaced",
    "ended_by": "the claims that ended it",
    "end_reason": "open, stated, superseded, refined, suspended, ended, soft or ttl",
    "because": "its premises, by id; each list one justification",
    "kind": "state, change, also, end, deny or correct; of a veto phrase, entity or predicate",
    "said_at": "when the source said it",
    "source": "who says so",
    "source_ref": "where it is said",
    "retracted_at": "when it was withdrawn; null if it stands",
    "label": "the name it is shown by",
    "value": "as a text, number or boolean; of a veto the form in which it is compared",
    "unit": "the unit of a number, or null",
    "outcome": "new, duplicate, refinement, update, split, conflict, history, ended, suppressed, idempotent, rejected",
    "code": "why it was refused, as a word, or null",
    "reason": "why it was refused, in words, or null",
    "why": "why, in words",
    "facts": "the facts at hand; a count in a report",
    "closed": "the facts that ended",
    "conflict": "the contradiction that arose, or null",
    "widened": "whether a fact holds for longer than before",
    "counts": "how many, by outcome",
    "rejected": "the refused ones",
    "rejected_at": "of each refused one its line, where a file has a claim on each",
    "receipts": "one for each claim, where asked for",
    "predicates": "of a file of another tool: how many claims each predicate met has",
    "notes": "of such a file: what could not be taken as it stands",
    "retracted": "how many claims were withdrawn",
    "since": "from when it holds",
    "until": "up to when; null is open",
    "opened": "what holds only in the second view",
    "changed": "pairs of what was closed and what took its place",
    "conflicts_opened": "contradictions only in the second view",
    "conflicts_settled": "contradictions only in the first",
    "fact": "the fact",
    "known_from": "since when it was believed",
    "known_to": "until when; null is still",
    "opened_by": "why it begins, in words",
    "closed_by": "why it ends, in words",
    "superseded_by": "what replaced it",
    "rivals": "what contradicts it",
    "premises": "the claims it was derived from",
    "story": "all of it in words",
    "recalled": "how often it was recalled",
    "times": "how often it was recalled",
    "last_at": "when last",
    "score": "higher is better",
    "channels": "the rank in each way of finding it",
    "tokens": "the size of the block, four bytes a token",
    "more": "how many facts had no room",
    "entity": "the entity",
    "distance": "how many steps away",
    "entities": "from the first to the last; a count in a report",
    "interval": "when all of it holds, [from, to], or null",
    "arrival": "the earliest moment of getting there, or null",
    "a": "the one",
    "b": "the other",
    "content": "what was said, or null where it must not be kept",
    "purged": "whether the bytes are gone too",
    "dry_run": "whether nothing was done",
    "pending": "why bytes are left, or null",
    "tombstone": "the id of the mark that something was forgotten, or null",
    "listed": "what would go",
    "mentioned": "claims in which others speak of it",
    "beyond_reach": "what no forgetting reaches, in words",
    "where": "where it is",
    "what": "what is wrong there",
    "saved": "rows saved, by table",
    "lost": "rows lost, by table",
    "made_again": "entities made again from what claims say",
    "problems": "what is still wrong",
    "unknown": "the tables of which more may be lost than is counted",
    "renamed": "the new names of scopes whose own were lost",
}
_TYPES: Final = (
    (r"Bound \| None|Bound", "time"), (r"Mapping\[str, int\]", "object of numbers"), (r"Mapping\[[^]]*\]", "object"),
    (r"tuple\[tuple\[str, \.\.\.\], \.\.\.\]", "list of lists of text"),
    (r"tuple\[tuple\[Fact, Fact\], \.\.\.\]", "list of pairs of Fact"),
    (r"tuple\[(\w+), \.\.\.\]|list\[(\w+)\]", r"list of \1\2"), (r"\bstr\b", "text"), (r"\bbool\b", "boolean"),
    (r"\b(?:int|float)\b", "number"), (r"\bSpan\b", "pair of time"), (r"\bOutcome\b", "text"), (r"\bAny\b", "value"),
    (r" \| None", " or null"), (r" \| ", " or "),
)  # fmt: skip
_INTRODUCTION: Final = (
    "With --json, before or after the name of a command, standard output is one JSON document and nothing else. "
    "What follows is kept stable: names are not renamed and meanings do not change; attributes may be added. "
    "A time is a text in ISO 8601 or EDTF at the precision at which it was given: 2024, 2024-03, 2024-03-05T09:30Z, "
    "2024~, -inf, unknown. Errors are a line on standard error, and then there is no document."
)


def _classes() -> dict[str, Any]:
    from semgraph import model, recovering

    return {name: getattr(model, name, None) or getattr(recovering, name) for name in OBJECTS}


def attributes(made: Any) -> list[tuple[str, str]]:
    """What a class of objects has, each with its type: the fields of a dataclass, else what a match finds."""
    if is_dataclass(made):
        return [(field.name, str(field.type)) for field in fields(made)]
    return [(name, str(getattr(made, name).fget.__annotations__["return"])) for name in made.__match_args__]


def json_lines(width: int = 78) -> Iterator[str]:
    """The documents of the commands and the attributes of their objects."""
    yield from textwrap.wrap(_INTRODUCTION, width)
    yield ""
    for name in cli.list_commands(click.Context(cli)):
        first, *more = textwrap.wrap(DOCUMENTS[name], width - 14)
        yield f"  {name:<12}{first}"
        yield from (" " * 14 + line for line in more)
    for name, made in _classes().items():
        yield ""
        yield from textwrap.wrap(f"{name}: {_first(made.__doc__)}", width, subsequent_indent="  ")
        for attribute, kind in attributes(made):
            words = f"{_type(kind)}; {MEANINGS.get(attribute, '')}"
            first, *more = textwrap.wrap(words, width - 22)
            yield f"  {attribute:<20}{first}"
            yield from (" " * 22 + line for line in more)


def _first(doc: str) -> str:
    return " ".join(doc.split("\n\n", 1)[0].split()).replace("`", "")


def _type(annotation: str) -> str:
    for pattern, words in _TYPES:
        annotation = re.sub(pattern, words, annotation)
    return annotation


# -- the README


def commands_markdown() -> str:
    """Every command with its arguments, options and examples, as a list in Markdown."""
    context = click.Context(cli, info_name="semgraph")
    lines = ["Before any command:", "", f"- {_options(cli, context)}", ""]
    lines += ["After the name of any command: `--json` as before it, and `--help`.", ""]
    for heading, modules in SECTIONS.items():
        lines += [f"**{heading}**", ""]
        for name in (name for part in modules.values() for name in part.split()):
            found = cli.get_command(context, name)
            if found is not None:
                lines += _command(name, found, context)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _command(name: str, found: click.Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(found, info_name=name, parent=parent)
    usage = " ".join(["semgraph", name, *found.collect_usage_pieces(context)]).replace(" [OPTIONS]", "")
    yield f"- `{usage}`"
    yield f"  <br>{_markdown(found.help or '')}"
    options = _options(found, context)
    if options:
        yield f"  <br>{options}"
    for line in str(found.epilog).partition("Example:\n")[2].splitlines():
        yield f"  <br>Example: `{line.strip()}`"


def _options(found: click.Command, context: click.Context) -> str:
    """The options of a command in a line; those that all commands have are told once, of the group."""
    records = (param.get_help_record(context) for param in found.get_params(context) if isinstance(param, click.Option))
    common = ("-h", "--help") if found is cli else ("--json", "-h", "--help")
    kept = [record for record in records if record is not None and not record[0].startswith(common)]
    return " · ".join(f"`{option}` {_markdown(words)}" for option, words in kept)


def _markdown(words: str) -> str:
    return re.sub(r"([<>*_|])", r"\\\1", " ".join(words.replace("\b", "").split()))
