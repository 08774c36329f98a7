"""The tools that tell the graph something; the source is that of the server, whatever is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import RejectedError
from semgraph.gate import SEED_CONFIDENCE, language_gate, source_class
from semgraph.serving import outputs as out
from semgraph.serving.faults import CallRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph import model
    from semgraph.serving import inputs
    from semgraph.serving.desk import Desk

__all__ = ["add", "correct", "end", "receipt_of", "remember"]

_MOST_FACTS: Final = 20
#: What the gate for sentences refuses that a single claim must not carry either when a model tells it.
_NEVER: Final = frozenset({"too_long", "unsourced", "self_restatement", "instruction_like", "secret"})


def remember(desk: Desk, asked: inputs.Remember) -> out.ReceiptsOut:
    """A receipt for each thing that sentences say."""
    receipts = desk.graph.remember(
        asked.text,
        subject=desk.maybe_name(asked.subject),
        predicate=asked.predicate,
        object=desk.thing(asked.object),
        valid_from=desk.when(asked.valid_from),
        valid_to=desk.when(asked.valid_to),
        source_ref=asked.source_ref,
    )
    return _told(desk, receipts)


def add(desk: Desk, asked: inputs.Add) -> out.ReceiptsOut:
    """What one claim did."""
    most = SEED_CONFIDENCE[source_class(desk.source)]
    if asked.confidence is not None and asked.confidence > most:
        raise CallRefused("bad_confidence", f"what comes from {desk.source} has a confidence of at most {most}")
    _admit(desk, asked, str(asked.object), dated=asked.valid_from is not None)
    return _one(
        desk,
        lambda: desk.graph.add(
            desk.name(asked.subject),
            asked.predicate,
            desk.thing(asked.object),
            valid_from=desk.when(asked.valid_from),
            valid_to=desk.when(asked.valid_to),
            valid_through=desk.when(asked.valid_through),
            kind=asked.kind,
            negative=asked.negative,
            qualifiers=asked.qualifiers,
            confidence=asked.confidence,
            source_ref=asked.source_ref,
            text=asked.text,
        ),
    )


def end(desk: Desk, asked: inputs.End) -> out.ReceiptsOut:
    """What saying that something stopped did."""
    return _one(
        desk,
        lambda: desk.graph.end(
            desk.name(asked.subject),
            asked.predicate,
            desk.thing(asked.object),
            at=desk.when(asked.at),
            qualifiers=asked.qualifiers,
            source_ref=asked.source_ref,
        ),
    )


def correct(desk: Desk, asked: inputs.Correct) -> out.ReceiptsOut:
    """What replacing a wrong value did."""
    _admit(desk, asked, str(asked.new), dated=True)
    return _one(
        desk,
        lambda: desk.graph.correct(
            desk.name(asked.subject),
            asked.predicate,
            desk.thing(asked.old),
            desk.thing(asked.new),
            valid_at=desk.when(asked.valid_at),
            qualifiers=asked.qualifiers,
            source_ref=asked.source_ref,
        ),
    )


def _admit(desk: Desk, asked: inputs.Qualified, value: str, *, dated: bool) -> None:
    """Nothing, or RejectedError for what is an order to a reader, a secret, or a whole text."""
    texts = [None, getattr(asked, "text", None), *(str(detail) for detail in (asked.qualifiers or {}).values())]
    for text in dict.fromkeys(texts):
        try:
            language_gate(
                text,
                subject=asked.subject,
                predicate=asked.predicate.replace("_", " "),
                object=value,
                source=desk.source,
                has_start=dated,
            )
        except RejectedError as error:
            if error.code in _NEVER:
                raise


def _one(desk: Desk, work: Callable[[], model.Receipt]) -> out.ReceiptsOut:
    try:
        receipt = work()
    except RejectedError as error:
        if error.receipt is None:
            raise
        receipt = error.receipt
    return _told(desk, [receipt])


def _told(desk: Desk, receipts: list[model.Receipt]) -> out.ReceiptsOut:
    made = [receipt_of(desk, receipt) for receipt in receipts]
    return out.ReceiptsOut(receipts=made, kept=sum(one.outcome != "rejected" for one in made))


def receipt_of(desk: Desk, receipt: model.Receipt) -> out.ReceiptOut:
    """A receipt as data."""
    now = desk.graph.at().moment()[1]
    dispute: Any = None
    if receipt.conflict is not None:
        sure = receipt.conflict.predicate in desk.graph.predicates
        dispute = out.conflict_out(receipt.conflict, now, sure=sure)
    return out.receipt_out(receipt, now, dispute, _MOST_FACTS)
