"""The story of a fact: who said it, what it replaced, what ended it, what disputes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semgraph.cli import text
from semgraph.cli.text import clean, paint
from semgraph.cli.words import Dates, notes, object_of, sentence, told
from semgraph.serving.wording import plain_why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semgraph.model import Claim, Explanation, Fact

__all__ = ["story"]


def story(found: Explanation) -> Iterator[str]:
    """An explanation in lines."""
    fact = found.fact
    dates = Dates([fact, *found.supersedes, *found.superseded_by, *found.rivals])
    yield paint(clean(f"{sentence(fact)} {dates.when(fact)}"), "name")
    rows = [["said", line] for line in map(_claim, found.claims)]
    rows += [["opened", plain_why(found.opened_by)]]
    rows += [["replaced", _beside(old, fact, dates)] for old in found.supersedes]
    rows += [["closed" if fact.valid_to is not None else "end", plain_why(found.closed_by)]]
    rows += [["followed by", _beside(new, fact, dates)] for new in found.superseded_by]
    rows += [["disputed by", f"{_beside(rival, fact, dates)}, {told(rival)}"] for rival in found.rivals]
    rows += [["because", f"{sentence(premise)}, {_claim(premise)}"] for premise in found.premises]
    marks = [note for note in notes(fact) if not note.startswith(("confidence", "in conflict"))]
    rows += [["status", ", ".join([fact.status, *marks, f"confidence {fact.confidence:.2f}"])], ["id", fact.id]]
    yield from text.table(_once(rows), "  ", ("dim",))


def _claim(claim: Claim) -> str:
    """Who said it, where and when."""
    ref = f" ({claim.source_ref})" if claim.source_ref else ""
    recorded = "" if claim.said_at == claim.recorded_at else f", recorded {_moment(claim.recorded_at)}"
    words = f': "{claim.text}"' if claim.text else ""
    return f"by {claim.source}{ref} on {_moment(claim.said_at)}{recorded}{words}"


def _moment(bound: object) -> str:
    day, clock, rest = str(bound).partition("T")
    return f"{day} {rest[:5]}" if clock else day


def _beside(other: Fact, fact: Fact, dates: Dates) -> str:
    same = (other.subject, other.predicate) == (fact.subject, fact.predicate)
    return f"{object_of(other) if same else sentence(other)} {dates.when(other)}"


def _once(rows: list[list[str]]) -> Iterator[list[str]]:
    """The rows, a word in front only where it changes."""
    before = ""
    for word, line in rows:
        yield ["" if word == before else word, line]
        before = word
