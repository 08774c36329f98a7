"""Batches: many claims as one set in one transaction, or a stream of such sets."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from semgraph import remembering
from semgraph.effects import Admitted
from semgraph.errors import InputError, RejectedError
from semgraph.intake import Intake, Plain
from semgraph.model import WORDS, Batch, Claim, Outcome, Receipt
from semgraph.statement import identity, prepare
from semgraph.store.schema import ClaimRow, VetoRow
from semgraph.writing import Writer, premises_of, rejected_receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from semgraph.effects import Written
    from semgraph.session import Session
    from semgraph.store.schema import JustificationRow

__all__ = ["add_all"]

_SMALL = 64  # above this, look-ups are made for the whole batch at once


def add_all(
    session: Session,
    claims: Iterable[Mapping[str, Any] | Claim],
    *,
    batch_size: int | None,
    on_reject: str,
    replaces: str | None,
    receipts: bool,
    progress: Callable[[int], None] | None,
) -> Batch:
    """What a batch did; see `KnowledgeGraph.add_all`."""
    if on_reject not in ("skip", "raise"):
        raise InputError(f"on_reject is skip or raise, not {on_reject!r}")
    if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
        raise InputError(f"batch_size is a whole number from 1 on, or None for one transaction, not {batch_size!r}")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a callable that takes a count, not {type(progress).__name__}")
    if replaces is not None and not isinstance(replaces, str):
        raise InputError(f"replaces is the source_ref of one source, not {type(replaces).__name__}")
    if replaces is not None and batch_size is not None:
        raise InputError("replaces needs the whole of what the source says in one transaction: leave batch_size out")
    if isinstance(claims, (str, bytes, dict)) or not hasattr(claims, "__iter__"):
        raise InputError("claims is a sequence of mappings with the parameters of add()")
    run = _Run(session, on_reject=on_reject, replaces=replaces, receipts=receipts)
    for chunk in _chunks(claims, batch_size):
        with _uncollected(len(chunk)):
            run.take(chunk)
        if progress is not None:
            progress(sum(run.counts.values()))
    return Batch(
        dict(sorted(run.counts.items())), tuple(run.rejected), tuple(run.receipts) if receipts else (), run.retracted,
        rejected_at=tuple(run.rejected_at),
    )  # fmt: skip


def _chunks(claims: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    source = iter(claims)
    if size is None:
        yield list(source)
        return
    while chunk := list(islice(source, min(size, sys.maxsize))):
        yield chunk


@contextmanager
def _uncollected(claims: int) -> Iterator[None]:
    """No search for cycles meanwhile: a batch makes none, and a third of its time went into looking."""
    if claims <= _SMALL or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Run:
    def __init__(self, session: Session, *, on_reject: str, replaces: str | None, receipts: bool) -> None:
        self.session = session
        self.on_reject = on_reject
        self.replaces = replaces
        self.wanted = receipts
        self.vetoed = False
        self.counts: Counter[str] = Counter()
        self.rejected: list[Receipt] = []
        self.rejected_at: list[int] = []
        self.taken = 0
        self.receipts: list[Receipt] = []
        self.retracted = 0

    def take(self, chunk: Sequence[Any]) -> None:
        with self.session.write(steady=True) as recorded_at:
            writer = Writer(self.session, recorded_at)
            ledger = self.session.ledger
            self.vetoed = bool(ledger.store.select(VetoRow, ledger.scope, limit=1))
            intake = self._intake(len(chunk), recorded_at)
            said = [
                self._prepare(item) if intake is None else intake.read(item) or self._prepare(item) for item in chunk
            ]
            known = self._prefetch(said, intake, recorded_at) if len(said) > _SMALL else [None] * len(said)
            admitted, refused, justifications = [], {}, []
            seen: set[str] = set()
            for index, one in enumerate(said):
                row = intake.row(one) if intake is not None and type(one) is Plain else None
                if row is not None:
                    old = ledger.claim(row.id)
                    admitted.append((index, Admitted(row if old is None else old, old is None and row.id not in seen)))
                    seen.add(row.id)
                    continue
                checkpoint = self.session.directory.checkpoint()
                try:
                    found, rows = self._admit(writer, one, known[index], chunk[index])
                    if found.fresh and found.row.id in seen:
                        found, rows = Admitted(found.row, fresh=False), []
                    seen.add(found.row.id)
                    admitted.append((index, found))
                    justifications += rows
                except RejectedError as error:
                    self.session.directory.undo(checkpoint)
                    if intake is not None:
                        intake.forget_names()
                    refused[index] = self._refuse(writer, error, chunk[index])
            withdrawn = self._said_no_longer({found.row.id for _, found in admitted})
            self.retracted += len(withdrawn)
            written = writer.store(
                [found for _, found in admitted], justifications, withdrawn=withdrawn, brief=not self.wanted
            )
            self._tell(writer, written, [index for index, _ in admitted], refused)
        self.taken += len(chunk)

    def _tell(self, writer: Writer, written: Written, places: Sequence[int], refused: dict[int, Receipt]) -> None:
        """Count the outcomes, and give the receipts in the order of the input if they are wanted."""
        if refused:
            self.counts[Outcome.REJECTED.value] += len(refused)
        self.rejected += refused.values()
        self.rejected_at += [self.taken + place + 1 for place in refused]
        if self.wanted:
            made = {place: writer.receipt(written, index) for index, place in enumerate(places)} | refused
            self.counts.update(made[place].outcome.value for place in places)
            self.receipts += [receipt for _, receipt in sorted(made.items(), key=itemgetter(0))]
            return
        alone = written.alone
        for index, one in enumerate(written.admitted):
            outcome = alone.get(one.row.id) if one.fresh else None
            self.counts[(outcome or writer.outcome(written, index)[0]).value] += 1

    def _intake(self, size: int, recorded_at: int) -> Intake | None:
        """The quick reader of plain claims, where the batch is large and nothing of them may be unwanted."""
        plain = size > _SMALL and not self.vetoed and not self.session.ledger.records.justified
        return Intake(self.session, recorded_at) if plain else None

    def _admit(self, writer: Writer, one: Any, known: str | None, item: Any) -> tuple[Admitted, list[JustificationRow]]:
        prepared = self._prepare(item) if isinstance(one, Plain) else one  # a name of it is ambiguous
        if isinstance(prepared, RejectedError):
            raise prepared
        return writer.admit(*prepared, known=known)

    def _prepare(self, item: Any) -> Any:
        try:
            words = _words(item)
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

    def _prefetch(self, said: Sequence[Any], intake: Intake | None, recorded_at: int) -> list[str | None]:
        """The ids of the claims, after one look-up for the names and one for the claims of the whole batch."""
        directory, ledger = self.session.directory, self.session.ledger
        names = set() if intake is None else set(intake.keys)
        for one in said:
            if not isinstance(one, (RejectedError, Plain)):
                for end in (one[0].subject, one[0].thing.entity):
                    if isinstance(end, str):
                        names.add(directory.key(end))
        directory.prefetch(names)
        known = [
            one.id
            if isinstance(one, Plain)
            else None
            if isinstance(one, RejectedError)
            else identity(one[0], directory, self.session.scope, recorded_at)
            for one in said
        ]
        ids = [one for one in known if one is not None]
        if not ledger.note_absent(ids):
            ledger.fetch(ids)
        return known

    def _refuse(self, writer: Writer, error: RejectedError, item: Any) -> Receipt:
        if self.on_reject == "raise":
            raise error
        content = item if isinstance(item, dict) else {"claim": getattr(item, "id", str(type(item).__name__))}
        writer.keep_rejection(error.code, error.reason, remembering.kept_words(content))
        return rejected_receipt(error, writer.recorded_at)

    def _said_no_longer(self, said: set[str]) -> list[ClaimRow]:
        """What the source said before and says no longer."""
        if self.replaces is None:
            return []
        ledger = self.session.ledger
        rows = ledger.store.select(ClaimRow, ledger.scope, source_ref=self.replaces)
        return [row for row in rows if row.id not in said and ledger.at().visible(row)]


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
