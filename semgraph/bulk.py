"""Batches: many claims as one set in one transaction, or a stream of such sets."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, fields
from itertools import compress, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from semgraph import plain, remembering
from semgraph.collecting import uncollected
from semgraph.effects import Admitted
from semgraph.errors import InputError, RejectedError
from semgraph.intake import Intake
from semgraph.model import WORDS, Batch, Claim, Outcome, Receipt
from semgraph.statement import identity, prepare
from semgraph.store.schema import ClaimColumns, ClaimRow
from semgraph.tabular import Table, table_of_columns, table_of_items
from semgraph.writing import Writer, premises_of, rejected_receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from semgraph.effects import Written
    from semgraph.holdings import Fluent
    from semgraph.session import Session
    from semgraph.store.schema import JustificationRow

__all__ = ["How", "add_all", "add_columns"]

_SMALL = 64  # above this, look-ups are made for the whole batch at once
_MANY = 100  # new claims that are worth a look for those that meet nothing


@dataclass(frozen=True, slots=True)
class How:
    """How a batch is to be taken; InputError for settings that make no sense."""

    batch_size: int | None
    on_reject: str
    replaces: str | None
    progress: Callable[[int], None] | None
    receipts: bool = False

    def __post_init__(self) -> None:
        if self.on_reject not in ("skip", "raise"):
            raise InputError(f"on_reject is skip or raise, not {self.on_reject!r}")
        size = self.batch_size
        if size is not None and (not isinstance(size, int) or size < 1):
            raise InputError(f"batch_size is a whole number from 1 on, or None for one transaction, not {size!r}")
        if self.progress is not None and not callable(self.progress):
            raise InputError(f"progress is a callable that takes a count, not {type(self.progress).__name__}")
        if self.replaces is not None and not isinstance(self.replaces, str):
            raise InputError(f"replaces is the source_ref of one source, not {type(self.replaces).__name__}")
        if self.replaces is not None and size is not None:
            raise InputError(
                "replaces needs the whole of what the source says in one transaction: leave batch_size out"
            )


def add_all(session: Session, claims: Iterable[Mapping[str, Any] | Claim], how: How) -> Batch:
    """What a batch did; see `KnowledgeGraph.add_all`."""
    if isinstance(claims, (str, bytes, dict)) or not hasattr(claims, "__iter__"):
        raise InputError("claims is a sequence of mappings with the parameters of add()")
    return _Run(session, how).batch(map(table_of_items, _chunks(claims, how.batch_size)))


def add_columns(session: Session, columns: object, how: How) -> Batch:
    """The same for claims that come column by column; see `KnowledgeGraph.add_columns`."""
    table = table_of_columns(columns)
    size = how.batch_size or max(1, table.size)
    return _Run(session, how).batch(table.part(start, start + size) for start in range(0, table.size, size))


def _chunks(claims: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    source = iter(claims)
    if size is None:
        yield list(source)
        return
    while chunk := list(islice(source, min(size, sys.maxsize))):
        yield chunk


class _Run:
    def __init__(self, session: Session, how: How) -> None:
        self.session = session
        self.how = how
        self.vetoed = False
        self.counts: Counter[str] = Counter()
        self.rejected: list[Receipt] = []
        self.rejected_at: list[int] = []
        self.taken = 0
        self.receipts: list[Receipt] = []
        self.retracted = 0

    def batch(self, chunks: Iterable[Table]) -> Batch:
        """What all of it did."""
        for chunk in chunks:
            with uncollected() if chunk.size > _SMALL else nullcontext():
                self._take(chunk)
            if self.how.progress is not None:
                self.how.progress(sum(self.counts.values()))
        return Batch(
            dict(sorted(self.counts.items())), tuple(self.rejected), tuple(self.receipts), self.retracted,
            rejected_at=tuple(self.rejected_at),
        )  # fmt: skip

    def _take(self, chunk: Table) -> None:
        with self.session.write(steady=True) as recorded_at:
            writer = Writer(self.session, recorded_at)
            ledger, directory = self.session.ledger, self.session.directory
            self.vetoed = bool(ledger.records.vetoes)
            intake = self._intake(chunk, recorded_at)
            plain = set(intake.places)
            others = {place: self._prepare(chunk, place) for place in range(chunk.size) if place not in plain}
            if chunk.size > _SMALL:
                directory.prefetch(self._keys(others.values()) | intake.keys)
            for place in intake.set_aside_ambiguous():
                others[place] = self._prepare(chunk, place)
            known = self._identities(others, recorded_at) if chunk.size > _SMALL else {}
            stored = self._stored([*known.values()], intake.ids)
            admitted: dict[int, Admitted] = {}
            refused: dict[int, Receipt] = {}
            reasons: dict[int, list[JustificationRow]] = {}
            for place, said in sorted(others.items(), key=itemgetter(0)):
                intake.name(place)
                checkpoint = directory.checkpoint()
                try:
                    if isinstance(said, RejectedError):
                        raise said
                    admitted[place], reasons[place] = writer.admit(*said, known=known.get(place))
                except RejectedError as error:
                    directory.undo(checkpoint)
                    refused[place] = self._refuse(writer, error, chunk.given(place))
            intake.name(chunk.size)
            fresh = _only_once(admitted, reasons, intake, stored)
            justifications = [row for rows in reasons.values() for row in rows]
            quick = not (self.how.receipts or self.how.replaces or justifications)
            told = self._let_in(intake, fresh, admitted, quick=quick)
            withdrawn = self._said_no_longer({one.row.id for one in admitted.values()})
            self.retracted += len(withdrawn)
            ordered = sorted(admitted.items(), key=itemgetter(0))
            written = writer.store(
                [one for _, one in ordered], justifications, withdrawn=withdrawn, brief=not self.how.receipts, told=told
            )
            self._tell(writer, written, [place for place, _ in ordered], refused)
        self.taken += chunk.size

    def _intake(self, chunk: Table, recorded_at: int) -> Intake:
        """What reads plain claims quickly, of which there are none where a batch is small or some may be unwanted."""
        quick = chunk.size > _SMALL and not self.vetoed and not self.session.ledger.records.justified
        return Intake(self.session, recorded_at, chunk if quick else Table({}, 0))

    def _let_in(self, intake: Intake, fresh: list[bool], admitted: dict[int, Admitted], *, quick: bool) -> list[Fluent]:
        """Admit the plain claims; where it may be `quick`, those that meet nothing are stored: the fluents of these."""
        claims, left = intake.columns(), [True] * len(fresh)
        told: list[Fluent] = []
        if quick and sum(fresh) > _MANY:
            besides = {(one.row.subject, one.row.predicate) for one in admitted.values()}
            found = plain.take(self.session.ledger, claims if all(fresh) else _some(claims, fresh), besides)
            told, taken = found.fluents, iter(found.claims)
            left = [not (new and next(taken)) for new in fresh]
            counted = {Outcome.NEW: sum(found.claims) - found.history, Outcome.HISTORY: found.history}
            self.counts.update({outcome.value: count for outcome, count in counted.items() if count})
        places, news = compress(intake.places, left), compress(fresh, left)
        for place, new, row in zip(places, news, _some(claims, left).rows(), strict=True):
            old = None if new else self.session.ledger.claim(row.id)
            admitted[place] = Admitted(old or row, new)
        return told

    def _tell(self, writer: Writer, written: Written, places: Sequence[int], refused: dict[int, Receipt]) -> None:
        """Count the outcomes, and give the receipts in the order of the input if they are wanted."""
        if refused:
            self.counts[Outcome.REJECTED.value] += len(refused)
        self.rejected += refused.values()
        self.rejected_at += [self.taken + place + 1 for place in refused]
        if not self.how.receipts:
            self.counts.update(writer.outcome(written, index)[0].value for index in range(len(places)))
            return
        made = {place: writer.receipt(written, index) for index, place in enumerate(places)} | refused
        self.counts.update(made[place].outcome.value for place in places)
        self.receipts += [receipt for _, receipt in sorted(made.items(), key=itemgetter(0))]

    def _prepare(self, chunk: Table, place: int) -> Any:
        """What a claim says and rests on, or the error with which it is refused."""
        try:
            words = _words(chunk.item(place))
            premises = premises_of(words.pop("because", ()))
            words["source"] = words.get("source") or self.session.config.source
            said = prepare(self.session.ledger.registry(), timezone=self.session.config.timezone, **words)
            remembering.check_guess(self.session, said)
            if self.vetoed:
                remembering.check_vetoes(self.session, said)
        except RejectedError as error:
            return error
        except InputError as error:
            return RejectedError("bad_input", str(error))
        return said, premises

    def _keys(self, others: Iterable[Any]) -> set[str]:
        """The keys of the names in claims that are prepared."""
        ends = [
            end for one in others if not isinstance(one, RejectedError) for end in (one[0].subject, one[0].thing.entity)
        ]
        return {self.session.directory.key(end) for end in ends if isinstance(end, str)}

    def _identities(self, others: Mapping[int, Any], recorded_at: int) -> dict[int, str]:
        """The ids of prepared claims by their places."""
        directory, scope = self.session.directory, self.session.scope
        said = {place: one[0] for place, one in others.items() if not isinstance(one, RejectedError)}
        return {place: identity(one, directory, scope, recorded_at) for place, one in said.items()}

    def _stored(self, ids: Sequence[str], more: Sequence[str]) -> set[str]:
        """Which of the ids are of claims that are stored, after one look for all."""
        ledger = self.session.ledger
        return set() if not (ids or more) or ledger.note_absent(ids) else {*ledger.fetch([*ids, *more])}

    def _refuse(self, writer: Writer, error: RejectedError, item: Any) -> Receipt:
        if self.how.on_reject == "raise":
            raise error
        content = item if isinstance(item, dict) else {"claim": getattr(item, "id", str(type(item).__name__))}
        writer.keep_rejection(error.code, error.reason, remembering.kept_words(content))
        return rejected_receipt(error, writer.recorded_at)

    def _said_no_longer(self, said: set[str]) -> list[ClaimRow]:
        """What the source said before and says no longer."""
        if self.how.replaces is None:
            return []
        ledger = self.session.ledger
        rows = ledger.store.select(ClaimRow, ledger.scope, source_ref=self.how.replaces)
        return [row for row in rows if row.id not in said and ledger.at().visible(row)]


def _only_once(
    admitted: dict[int, Admitted], reasons: dict[int, list[JustificationRow]], intake: Intake, stored: set[str]
) -> list[bool]:
    """Which plain claims are new; of those that are told several times in a chunk only the first is, plain or not."""
    told = {place: one.row.id for place, one in admitted.items()}
    if not stored and len({*intake.ids, *told.values()}) == len(intake.ids) + len(told):
        return [True] * len(intake.ids)
    first: dict[str, int] = {}
    for place, claim in sorted([*told.items(), *zip(intake.places, intake.ids, strict=True)]):
        first.setdefault(claim, place)
    for place, one in admitted.items():
        if one.fresh and first[told[place]] != place:
            admitted[place], reasons[place] = Admitted(one.row, fresh=False), []
    both = zip(intake.places, intake.ids, strict=True)
    return [first[claim] == place and claim not in stored for place, claim in both]


def _some(claims: ClaimColumns, chosen: Sequence[bool]) -> ClaimColumns:
    return ClaimColumns._make(list(compress(column, chosen)) for column in claims)


def _words(item: Any) -> dict[str, Any]:
    """The parameters of `add` that an item gives."""
    if isinstance(item, Claim):
        words = {f.name: getattr(item, f.name) for f in fields(item) if f.name in WORDS}
        if item.kind in ("deny", "correct"):
            raise InputError(f"a claim of kind {item.kind} is made by {item.kind}(), not by add_all()")
        words["kind"] = "change" if item.kind == "end" else item.kind
        return words
    if not hasattr(item, "keys"):
        raise InputError(f"each claim is a mapping with the parameters of add(), not {type(item).__name__}")
    unknown = [] if WORDS.issuperset(item) else [str(key) for key in item if key not in WORDS]
    missing = [key for key in ("subject", "predicate") if key not in item]
    if unknown or missing:
        what = f"unknown {', '.join(unknown)}" if unknown else f"missing {', '.join(missing)}"
        raise InputError(f"{what}: a claim has the parameters of add(): {', '.join(sorted(WORDS))}")
    words = dict(item)
    if words.get("kind", "state") not in ("state", "change", "also"):
        raise InputError(f"kind is state, change or also, not {words['kind']!r}")
    return words
