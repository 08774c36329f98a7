"""The tools that decide or remove: a dry run tells the effect and gives a token, and the same call with it acts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from semgraph import settling
from semgraph.errors import InputError
from semgraph.gate import trust_rank
from semgraph.render import clean
from semgraph.serving import outputs as out
from semgraph.serving.faults import CallRefused
from semgraph.serving.writes import receipt_of
from semgraph.vocabulary import predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph import model
    from semgraph.serving import inputs
    from semgraph.serving.desk import Desk

__all__ = ["define", "forget", "merge", "retract", "settle", "unmerge"]

_MOST_LISTED: Final = 20


class _Undo(Exception):
    """Leaves a transaction in which a call was only tried."""


def _tried(desk: Desk, work: Callable[[], out.DryRunOut]) -> out.DryRunOut:
    """What the work would do, which is done and taken back in one transaction."""
    found: list[out.DryRunOut] = []
    with suppress(_Undo), desk.graph.atomic():
        found.append(work())
        raise _Undo
    return found[0]


def _in_two_steps(
    desk: Desk, tool: str, asked: inputs.TwoStep, work: Callable[[], out.DryRunOut], *, dry: Callable[[], out.DryRunOut]
) -> out.DryRunOut:
    arguments = asked.model_dump(mode="json", exclude={"token"})
    if asked.token is None:
        found = dry()
        if found.receipt is not None and found.receipt.outcome == "idempotent":
            return found.model_copy(update={"done": False})
        return found.model_copy(update={"done": False, "token": desk.tokens.give(tool, arguments)})
    desk.tokens.use(asked.token, tool, arguments)
    return work()


def _with_receipt(desk: Desk, tool: str, asked: inputs.TwoStep, write: Callable[[], model.Receipt]) -> out.DryRunOut:
    def work() -> out.DryRunOut:
        made = receipt_of(desk, write())
        return out.DryRunOut(done=True, effect=made.line(), receipt=made)

    return _in_two_steps(desk, tool, asked, work, dry=lambda: _tried(desk, work))


def settle(desk: Desk, asked: inputs.Settle) -> out.DryRunOut:
    """What ending a conflict does."""
    if asked.choice == "choose" and asked.object is None:
        raise InputError("choose needs the object to keep")
    subject, value = desk.name(asked.subject), desk.thing(asked.object)
    instant = None if asked.valid_at is None else desk.graph.at(desk.when(asked.valid_at)).moment()[0]

    def write() -> model.Receipt:
        _check_ranks(desk, asked, subject, value)
        return settling.settle(
            desk.graph._session,  # noqa: SLF001 - the front settles in the user's name
            (subject, asked.predicate), asked.choice, value, None, instant, None, asked.reason, source=desk.source,
        )  # fmt: skip

    return _with_receipt(desk, "settle", asked, write)


def _check_ranks(desk: Desk, asked: inputs.Settle, subject: Any, value: Any) -> None:
    """Nothing; CallRefused where somebody would lose who is trusted more than whoever speaks through this server."""
    if asked.choice == "keep_both":
        return
    view = desk.graph.at(desk.when(asked.valid_at))
    sets = [one for one in view.conflicts(subject) if one.predicate in _names_of(desk, asked.predicate)]
    kept = {fact.id for fact in view.facts(subject, asked.predicate, value)} if asked.choice == "choose" else set()
    mine = trust_rank(desk.source)
    losers = [fact for one in sets for fact in one.facts if fact.id not in kept]
    above = {clean(s, 60) for fact in losers for s in fact.sources if trust_rank(s) > mine}
    if above:
        raise CallRefused(
            "not_yours",
            f"what {', '.join(sorted(above))} said would lose, and {desk.source} is trusted less: "
            "it has to be settled by the user, with `semgraph settle`",
        )


def _names_of(desk: Desk, predicate: str) -> set[str]:
    registry, key = desk.graph.predicates, predicate_key(predicate)
    return {key, registry[key].name} if key in registry else {key}


def retract(desk: Desk, asked: inputs.Retract) -> out.DryRunOut:
    """What withdrawing a statement does."""
    return _with_receipt(desk, "retract", asked, lambda: desk.graph.retract(asked.target, reason=asked.reason))


def forget(desk: Desk, asked: inputs.Forget) -> out.DryRunOut:
    """What removing something for good does."""
    target: dict[str, Any] = {
        "entity": desk.maybe_name(asked.entity),
        "fact": asked.fact,
        "claim": asked.claim,
        "source_ref": asked.source_ref,
    }
    if sum(what is not None for what in target.values()) != 1:
        raise InputError("forget takes one of entity, fact, claim and source_ref")

    def run(*, dry: bool) -> out.DryRunOut:
        report = desk.graph.forget(**target, mentions=asked.mentions, dry_run=dry)
        now = desk.graph.at().moment()[1]
        verb = "would be" if dry else "is" if report.purged else "is, but for bytes that a reader still holds,"
        return out.DryRunOut(
            done=not dry,
            effect=f"{report.claims} claims, {report.facts} facts and {report.entities} entities: "
            f"all that {verb} gone for good, at every time; {report.beyond_reach}",
            claims=report.claims,
            facts=report.facts,
            entities=report.entities,
            listed=[out.fact_out(fact, now) for fact in report.listed[:_MOST_LISTED]],
        )

    return _in_two_steps(desk, "forget", asked, lambda: run(dry=False), dry=lambda: run(dry=True))


def merge(desk: Desk, asked: inputs.Merge) -> out.DryRunOut:
    """What making two entities one does."""

    def work() -> out.DryRunOut:
        before = desk.graph.about(desk.name(asked.duplicate), limit=None)
        desk.graph.names.merge(desk.name(asked.duplicate), desk.name(asked.into), reason=asked.reason)
        moved = [fact for group in before.values() for fact in group]
        now = desk.graph.at().moment()[1]
        return out.DryRunOut(
            done=True,
            effect=f"{clean(asked.duplicate, 80)} and {clean(asked.into, 80)} are one; unmerge undoes it",
            facts=len(moved),
            listed=[out.fact_out(fact, now) for fact in moved[:_MOST_LISTED]],
        )

    return _in_two_steps(desk, "merge", asked, work, dry=lambda: _tried(desk, work))


def unmerge(desk: Desk, asked: inputs.Unmerge) -> out.DryRunOut:
    """What splitting off an entity does."""

    def work() -> out.DryRunOut:
        desk.graph.names.unmerge(desk.name(asked.duplicate))
        return out.DryRunOut(done=True, effect=f"{clean(asked.duplicate, 80)} is an entity of its own again")

    return _in_two_steps(desk, "unmerge", asked, work, dry=lambda: _tried(desk, work))


def define(desk: Desk, asked: inputs.Define) -> out.DryRunOut:
    """What saying how many values a predicate takes does."""

    def work() -> out.DryRunOut:
        before = len(desk.graph.conflicts())
        entry = desk.graph.predicates.define(
            asked.predicate, cardinality=asked.cardinality, inverse_of=asked.inverse_of
        )
        after = len(desk.graph.conflicts())
        effect = f"{clean(entry.name)} takes {asked.cardinality}; conflicts now: {before} before, {after} after"
        return out.DryRunOut(done=True, effect=effect)

    return _in_two_steps(desk, "define", asked, work, dry=lambda: _tried(desk, work))
