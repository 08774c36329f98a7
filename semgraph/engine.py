"""KnowledgeGraph: one scope of a store, open for reading and writing; sequencing and transactions, nothing else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from semgraph import audit, forgetting, remembering, resolution
from semgraph.bulk import add_all
from semgraph.explaining import explain, history
from semgraph.errors import InputError, NotFoundError, RejectedError, StoreError
from semgraph.handles import Names, Predicates
from semgraph.model import Claim, Fact, Outcome, Receipt
from semgraph.reader import Reader
from semgraph.session import Config, Session
from semgraph.statement import object_ref, prepare
from semgraph.store import open_store
from semgraph.store.schema import ClaimRow, CompatRow, RejectedRow, RetractionRow
from semgraph.temporal import POS_INF, exact, span
from semgraph.view import GraphView, Slice
from semgraph.writing import Writer, premises_of, rejected_receipt

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from semgraph.model import Batch, ConflictSet, Entity, Explanation, FactVersion, ForgetReport, Problem, Rejection
    from semgraph.session import When
    from semgraph.statement import Said
    from semgraph.store.protocol import Store

    Name = str | Entity
    Target = Claim | Fact | Receipt | str

__all__ = ["KnowledgeGraph"]


class KnowledgeGraph(GraphView):
    """A temporal knowledge graph: what sources claimed, and the facts that follow, now and at any other time.

    >>> kg = KnowledgeGraph()
    >>> _ = kg.add("Maya", "works_at", "Stripe", valid_from="2024-03")
    >>> kg.value("Maya", "works_at")
    'Stripe'
    """

    def __init__(
        self,
        target: str | os.PathLike[str] = ":memory:",
        *,
        scope: str = "default",
        source: str = "user",
        timezone: str | None = None,
        read_only: bool = False,
        durability: str = "full",
        embedder: object = "default",
        clock: Callable[[], datetime] | None = None,
        config: Mapping[str, object] | None = None,
    ) -> None:
        settings = Config.of(source, timezone, config)
        self._embedder = embedder
        store = open_store(target, read_only=read_only, durability=durability)  # type: ignore[arg-type]  # checked there
        try:
            super().__init__(Session(store, scope, settings, clock), Slice())
        except BaseException:
            store.close()
            raise

    @classmethod
    def _sharing(cls, store: Store, scope: str, settings: Config, clock: Callable[[], datetime] | None) -> KnowledgeGraph:
        graph = cls.__new__(cls)
        GraphView.__init__(graph, Session(store, scope, settings, clock), Slice())
        graph._embedder = None
        return graph

    def scoped(self, name: str) -> KnowledgeGraph:
        """Another scope on the same store, clock and connection; nothing crosses between the two."""
        return self._sharing(self._session.store, name, self._session.config, self._session.clock)

    @property
    def path(self) -> Path | None:
        """The file below, or None for a graph in memory."""
        return self._session.store.path

    @property
    def names(self) -> Names:
        """The alias table: declare, alias, merge and their undoing."""
        return Names(self._session)

    @property
    def predicates(self) -> Predicates:
        """The registry of predicates."""
        return Predicates(self._session)

    # -- writing

    def add(
        self,
        subject: Name,
        predicate: str,
        object: object = None,
        *,
        valid_from: When | None = None,
        valid_to: When | None = None,
        valid_through: When | None = None,
        kind: str = "state",
        negative: bool = False,
        source: str | None = None,
        source_ref: str | None = None,
        said_at: When | None = None,
        confidence: float | None = None,
        qualifiers: Mapping[str, Any] | None = None,
        because: object = (),
        text: str | None = None,
    ) -> Receipt:
        """A receipt of what a claim did to the graph.

        Raises:
            RejectedError: the claim was refused; `.code` says why, and `kg.rejected()` keeps it.

        >>> KnowledgeGraph().add("Maya", "speaks", "Finnish").outcome.value
        'new'
        """
        if kind not in ("state", "change", "also"):
            raise InputError(f"kind is state, change or also, not {kind!r}")
        return self._one(
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "valid_from": valid_from,
                "valid_to": valid_to,
                "valid_through": valid_through,
                "kind": kind,
                "negative": negative,
                "source": source,
                "source_ref": source_ref,
                "said_at": said_at,
                "confidence": confidence,
                "qualifiers": qualifiers,
                "text": text,
            },
            because,
        )

    def set(self, subject: Name, predicate: str, value: object, **same: Any) -> Receipt:
        """Like `add`, for a value that replaces the one before: an explicit change.

        Raises:
            InputError: the predicate takes many values; add another, or end the others.
        """
        with self._session.read():
            entry = self._session.ledger.registry().resolve(predicate).predicate
        given = same.get("qualifiers") or {}
        if entry.cardinality == "many" and not (entry.one_by and all(name in given for name in entry.one_by)):
            raise InputError(
                f"{predicate!r} takes many values, so set can't tell which one to replace: add() the new one, or end() "
                "the others"
            )
        if "kind" in same:
            raise InputError("set is add(kind='change'); leave kind out")
        return self.add(subject, predicate, value, kind="change", **same)

    def end(
        self,
        subject: Name,
        predicate: str,
        object: object = None,
        *,
        at: When | None = None,
        qualifiers: Mapping[str, Any] | None = None,
        source: str | None = None,
        source_ref: str | None = None,
        said_at: When | None = None,
    ) -> Receipt:
        """It was true and stopped: closes the value at `at` (default: when it was said), without an object every value."""
        bound = self._session.when(at)
        return self._one(
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "valid_from": None if bound is not None and bound.precision == "unknown" else bound,
                "kind": "end",
                "qualifiers": qualifiers,
                "source": source,
                "source_ref": source_ref,
                "said_at": said_at,
            }
        )

    def deny(
        self,
        subject: Name,
        predicate: str,
        object: object,
        *,
        valid_from: When | None = None,
        valid_to: When | None = None,
        qualifiers: Mapping[str, Any] | None = None,
        source: str | None = None,
        source_ref: str | None = None,
        said_at: When | None = None,
    ) -> Receipt:
        """It never was true: masks the value whoever said it with no higher trust; with bounds it cuts a hole."""
        return self._one(
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "valid_from": valid_from,
                "valid_to": valid_to,
                "kind": "deny",
                "qualifiers": qualifiers,
                "source": source,
                "source_ref": source_ref,
                "said_at": said_at,
            }
        )

    def correct(
        self,
        subject: Name,
        predicate: str,
        old: object,
        new: object,
        *,
        valid_at: When | None = None,
        qualifiers: Mapping[str, Any] | None = None,
        source: str | None = None,
        source_ref: str | None = None,
        said_at: When | None = None,
    ) -> Receipt:
        """The old value was never true in the segment that holds at `valid_at` (default now); the new one was."""
        words = {
            "subject": subject,
            "predicate": predicate,
            "object": new,
            "kind": "correct",
            "qualifiers": qualifiers,
            "source": source,
            "source_ref": source_ref,
            "said_at": said_at,
        }

        def work(writer: Writer, said: Said) -> Receipt:
            view = GraphView(self._session, Slice(valid_at=self._at(valid_at)))
            with view._reader() as reader:
                rows = view.held_rows(reader, subject, predicate, old, qualifiers)
                if not rows:
                    raise resolution.nothing_to_correct(resolution.shown(subject), predicate, resolution.shown(old))
                told = [one for row in rows for one in resolution.correction(reader, row, said)]
            written = writer.write([(one, None) for one in told])
            return self._summed(writer, written, Outcome.UPDATE)

        return self._guarded(words, work)

    def retract(self, target: Target, *, reason: str | None = None) -> Receipt:
        """The statement is withdrawn: the graph is as if it had not been made, and what it closed reopens."""
        return self._mark(target, reason, withdraw=True)

    def unretract(self, target: Target) -> Receipt:
        """The withdrawal is taken back."""
        return self._mark(target, None, withdraw=False)

    def settle(
        self,
        subject: Name | None,
        predicate: str | None,
        choice: str,
        object: object = None,
        *,
        conflict: ConflictSet | str | None = None,
        valid_at: When | None = None,
        qualifiers: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> Receipt:
        """End a conflict: "choose" the object named, "keep_both", or "both_wrong"; what it was stays on record.

        The conflict is the one given, else the one that holds at `valid_at` (default now). For a unique object the
        subject names the shared object, and `object` the winning subject.
        """
        if choice not in ("choose", "keep_both", "both_wrong"):
            raise InputError(f"choice is choose, keep_both or both_wrong, not {choice!r}")
        if choice == "choose" and object is None:
            raise InputError("choose needs the value to keep: settle(subject, predicate, 'choose', value)")
        with self._session.write() as recorded_at:
            writer = Writer(self._session, recorded_at)
            reader = Reader(self._session, self._session.ledger.at())
            instant = self._at(valid_at)
            found = resolution.find_conflict(
                reader, self._disputed(reader, subject, predicate, qualifiers), instant, conflict
            )
            if found is None:
                return Receipt(Outcome.IDEMPOTENT, why="no conflict holds there: nothing to settle")
            if conflict is not None and not found.since.instant <= instant:
                instant = found.since.instant
            elif conflict is not None and found.until is not None and instant >= found.until.instant:
                instant = found.since.instant
            if choice == "keep_both":
                return self._keep_both(writer, reader, found)
            winner = self._winner(reader, found, object) if choice == "choose" else None
            told = resolution.settlement(reader, found, choice, winner, instant, "user")
            told = [_with_text(one, reason) for one in told]
            if not told:
                return Receipt(Outcome.IDEMPOTENT, why="the value is not one of those in conflict: nothing changes")
            return self._summed(writer, writer.write([(one, None) for one in told]), Outcome.UPDATE)

    def add_all(
        self,
        claims: Iterable[Mapping[str, Any] | Claim],
        *,
        batch_size: int | None = None,
        on_reject: str = "skip",
        replaces: str | None = None,
        receipts: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Batch:
        """What a batch of claims did; each is a mapping with the parameters of `add`, or a Claim.

        All of it is one transaction and one set, unless `batch_size` splits it. Refused claims fail alone
        (`on_reject="raise"`: nothing is written). `replaces` names a source_ref: what it said before and does not say
        now is retracted in the same transaction.
        """
        return add_all(
            self._session,
            claims,
            batch_size=batch_size,
            on_reject=on_reject,
            replaces=replaces,
            receipts=receipts,
            progress=progress,
        )

    def remember(
        self,
        text: str,
        *,
        subject: Name | None = None,
        predicate: str | None = None,
        object: object = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        source: str | None = None,
        source_ref: str | None = None,
        said_at: When | None = None,
        extractor: str | Callable[[str], Iterable[Mapping[str, Any]]] | None = "rules",
    ) -> list[Receipt]:
        """A receipt per candidate that a sentence yields, each through the language gate; refused ones are receipts."""
        given = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "source": source,
            "source_ref": source_ref,
            "said_at": said_at,
        }
        return remembering.remember(self._session, text, given, extractor, self._candidate, self._keep)

    def veto(self, *, phrase: str | None = None, entity: Name | None = None, predicate: str | None = None) -> None:
        """Never store what holds this phrase, or is about this entity or predicate; not retroactive (forget is)."""
        remembering.veto(self._session, phrase=phrase, entity=entity, predicate=predicate)

    def forget(
        self,
        *,
        fact: Fact | Claim | Receipt | str | None = None,
        claim: Claim | Receipt | str | None = None,
        entity: Name | None = None,
        source_ref: str | None = None,
        everything: bool = False,
        mentions: bool = False,
        dry_run: bool = False,
        export_to: str | os.PathLike[str] | None = None,
    ) -> ForgetReport:
        """Remove for good, at every valid and known time, with all that was derived; the report says what is gone.

        Exactly one target: a fact, a claim, an entity (its whole merge class), a source_ref, or everything in the
        scope. `dry_run` lists what would go; `export_to` writes and re-reads an export of the scope first.
        """
        targets = {"fact": fact, "claim": claim, "entity": entity, "source_ref": source_ref}
        return forgetting.forget(
            self, self._session, targets, everything=everything, mentions=mentions, dry_run=dry_run, export_to=export_to
        )

    # -- time

    def at(self, valid_at: When | None = None, *, known_at: When | None = None) -> GraphView:
        """The graph at an instant (None: pinned to now), as known at a moment (None: pinned to the latest)."""
        valid = None if valid_at is None else self._at(valid_at)
        with self._session.read():
            now, latest = self._session.now(), self._session.last_recorded
        known = latest if known_at is None else self._at(known_at)
        return GraphView(self._session, Slice(valid_at=valid, known_at=known, pinned=now))

    def during(
        self, start: When | None = None, end: When | None = None, *, known_at: When | None = None
    ) -> GraphView:
        """The facts that overlap a window; one coarse date is its whole unit, no date at all is all time."""
        return GraphView(self._session, Slice(window=self._window(start, end), known_at=self._known(known_at)))

    def throughout(self, start: When, end: When, *, known_at: When | None = None) -> GraphView:
        """The facts that cover a whole window."""
        return GraphView(
            self._session, Slice(window=self._window(start, end), cover=True, known_at=self._known(known_at))
        )

    def _at(self, when: When | None) -> int:
        bound = self._session.when(when)
        if bound is None:
            with self._session.read():
                return self._session.now()
        if bound.precision == "unknown":
            raise InputError("an unknown time can't be read at; give a date or leave it out for now")
        return bound.instant

    def _known(self, when: When | None) -> int:
        return POS_INF if when is None else self._at(when)

    def _window(self, start: When | None, end: When | None) -> tuple[int, int]:
        first, last = self._session.when(start), self._session.when(end)
        if start is not None and first is not None and end is None:
            return span(first)
        begin = -(2**63) if first is None else first.instant
        stop = POS_INF if last is None else last.instant
        if begin >= stop:
            raise RejectedError("empty_interval", f"the window ends ({end}) before it begins ({start})")
        return begin, stop

    def history(self, subject: Name, predicate: str) -> list[FactVersion]:
        """What was believed about a subject and predicate, belief by belief, over transaction time."""
        with self._reader() as reader:
            return history(reader, subject, predicate)

    def explain(self, fact: Fact | Receipt | Claim | str) -> Explanation:
        """Why a fact is believed: who said it, what opened and closed it, what disputes it."""
        with self._reader() as reader:
            return explain(reader, fact)

    def claims(
        self,
        subject: Name | None = None,
        predicate: str | None = None,
        *,
        source: str | None = None,
        source_ref: str | None = None,
        retracted: bool = False,
    ) -> Iterator[Claim]:
        """The claims as stored, in the order in which they were recorded."""
        with self._reader() as reader:
            yield from audit.claims(reader, subject, predicate, source, source_ref, retracted=retracted)

    # -- life

    @contextmanager
    def atomic(self) -> Iterator[KnowledgeGraph]:
        """Several writes that are all kept or none, and that no other handle sees half done."""
        with self._session.store.write():
            yield self

    def verify(self) -> list[Problem]:
        """What is wrong: rows that differ from a fresh fold of all claims, damaged rows; empty if nothing."""
        with self._reader() as reader:
            return audit.verify(reader)

    def stats(self) -> dict[str, Any]:
        """Sizes, facts by status, claims by source, rejections by code, open conflicts."""
        with self._reader() as reader:
            return audit.stats(reader)

    def rejected(self) -> list[Rejection]:
        """The refused claims that are kept, oldest first, with code and reason."""
        with self._reader() as reader:
            return audit.rejections(reader)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy of the whole store at a new path, made while others read and write."""
        from pathlib import Path

        self._session.store.backup(Path(path))

    def close(self) -> None:
        """Release the store; later calls raise StoreClosed."""
        self._session.store.close()

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KnowledgeGraph {'in memory' if self.path is None else self.path} scope={self.scope!r}>"

    # -- helpers

    def _one(self, words: dict[str, Any], because: object = ()) -> Receipt:
        premises = premises_of(because)

        def work(writer: Writer, said: Said) -> Receipt:
            return writer.receipt(writer.write([(said, premises)]), 0)

        return self._guarded(words, work)

    def _candidate(self, words: dict[str, Any]) -> Receipt:
        because = words.pop("because", ())
        return self._one(words, because)

    def _guarded(self, words: dict[str, Any], work: Callable[[Writer, Said], Receipt]) -> Receipt:
        """One claim in one transaction; a refusal is kept in the log and raised."""
        words["source"] = self._session.config.source if words.get("source") is None else words["source"]
        try:
            with self._session.write() as recorded_at:
                said = prepare(self._session.ledger.registry(), timezone=self._session.config.timezone, **words)
                remembering.check_vetoes(self._session, said)
                return work(Writer(self._session, recorded_at), said)
        except RejectedError as error:
            self._keep(error, words)
            raise

    def _keep(self, error: RejectedError, words: Mapping[str, Any]) -> None:
        try:
            with self._session.write() as recorded_at:
                Writer(self._session, recorded_at).keep_rejection(error.code, error.reason, remembering.kept_words(words))
                error.receipt = rejected_receipt(error, recorded_at)
        except StoreError:
            error.receipt = rejected_receipt(error)

    def _summed(self, writer: Writer, written: Any, outcome: Outcome) -> Receipt:
        """One receipt for the several claims of a correction or a settlement."""
        parts = [writer.receipt(written, i) for i in range(len(written.admitted))]
        if not any(one.fresh for one in written.admitted):
            outcome = Outcome.IDEMPOTENT
        closed = {fact.id: fact for part in parts for fact in part.closed}
        conflict = next((part.conflict for part in parts if part.conflict is not None), None)
        return Receipt(
            outcome,
            why="; ".join(dict.fromkeys(part.why for part in parts if part.why)),
            claims=tuple(claim for part in parts for claim in part.claims),
            facts=tuple({fact.id: fact for part in parts for fact in part.facts}.values()),
            closed=tuple(closed.values()),
            conflict=conflict,
            recorded_at=exact(written.recorded_at),
        )

    def _mark(self, target: Target, reason: str | None, *, withdraw: bool) -> Receipt:
        with self._session.write() as recorded_at:
            ledger = self._session.ledger
            rows = audit.claims_of(Reader(self._session, ledger.at()), target)
            marked = [row for row in rows if ledger.at().visible(row) != withdraw]
            rows = [row for row in rows if row not in marked]
            for row in rows:
                if withdraw:
                    ledger.store.insert([RetractionRow(ledger.scope, row.id, recorded_at, POS_INF, reason)], replace=True)
                else:
                    ledger.store.update(
                        RetractionRow, ledger.scope, {"ended_at": recorded_at}, claim=row.id, ended_at=POS_INF
                    )
            if not rows:
                return Receipt(Outcome.IDEMPOTENT, why="nothing changes: it was so already")
            touched = ledger.touched(rows)
            ledger.forget_records()
            changes = ledger.refold(ledger.touched(rows) | touched, recorded_at)
            writer = Writer(self._session, recorded_at)
            return audit.mark_receipt(writer, rows, changes)

    def _disputed(
        self, reader: Reader, subject: Name | None, predicate: str | None, qualifiers: Mapping[str, Any] | None
    ) -> Sequence[Any]:
        if subject is None or predicate is None:
            return []
        resolved = reader.snapshot.registry.resolve(predicate)
        number = reader.directory.one(subject, reader.snapshot)
        if number is None:
            return []
        name = resolved.predicate.name
        rows = reader.rows(disputed=1, predicate=name, subject=number)
        if resolved.predicate.symmetric or resolved.predicate.unique_object or resolved.inverse:
            rows += reader.rows(disputed=1, predicate=name, object=f"e{number}")
        return audit.with_qualifiers(reader, rows, qualifiers)

    def _winner(self, reader: Reader, found: ConflictSet, object: object) -> str | None:
        entry = reader.snapshot.predicate(found.predicate)
        named = object if found.subject is None else object_ref(object, entry, reader.directory)
        if isinstance(named, str) and named[:2] in ("l:", "x:"):
            return named
        number = reader.directory.one(named, reader.snapshot) if isinstance(named, (str,)) or named is not None else None  # type: ignore[arg-type]
        return None if number is None else f"e{number}"

    def _keep_both(self, writer: Writer, reader: Reader, found: ConflictSet) -> Receipt:
        ledger = self._session.ledger
        if found.subject is None:
            return Receipt(Outcome.IDEMPOTENT, why="a unique object has one subject: keep_both changes nothing")
        rows = list(reader.by_id(fact.id for fact in found.facts).values())
        subject = reader.directory.number(found.subject)
        pairs = resolution.compatible_pairs(found, reader.snapshot, rows)
        known = {(row.a, row.b) for row in ledger.records.compat if row.subject == subject and row.predicate == found.predicate}
        fresh = [pair for pair in pairs if pair not in known]
        ledger.store.insert(
            [CompatRow(ledger.scope, subject, found.predicate, a, b, writer.recorded_at) for a, b in fresh]
        )
        ledger.forget_records()
        changes = ledger.refold(ledger.dependents({(subject, found.predicate)}), writer.recorded_at)
        if not changes:
            return Receipt(Outcome.IDEMPOTENT, why="nothing changes")
        why = "the values are kept side by side from now on"
        if not ledger.registry().entry(found.predicate).registered:
            why += f"; predicates.define({found.predicate!r}, cardinality='many') says so for every subject"
        return Receipt(Outcome.UPDATE, why=why, recorded_at=exact(writer.recorded_at))


def _with_text(said: Said, reason: str | None) -> Said:
    from dataclasses import replace

    return said if reason is None else replace(said, text=reason)


