"""KnowledgeGraph: one scope of a store, open for reading and writing; sequencing and transactions, nothing else."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from semgraph import audit, forgetting, remembering, resolution, settling
from semgraph.bulk import add_all
from semgraph.errors import AmbiguousNameError, ConfigError, InputError, RejectedError
from semgraph.explaining import explain, history
from semgraph.guarding import add_one, guarded, remember
from semgraph.handles import Names, Predicates
from semgraph.session import Config, Session, check_embedder
from semgraph.store import open_store
from semgraph.view import CHUNK, GraphView, Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType

    from semgraph.model import (
        Batch,
        Claim,
        ConflictSet,
        Entity,
        Explanation,
        Fact,
        FactVersion,
        ForgetReport,
        Problem,
        Receipt,
        Rejection,
    )
    from semgraph.session import When
    from semgraph.statement import Said
    from semgraph.writing import Writer

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
        check_embedder(embedder)
        if not isinstance(target, str | os.PathLike) or not isinstance(durability, str):
            raise ConfigError("the target of a graph is a path or ':memory:', its durability 'full' or 'relaxed'")
        store = open_store(target, read_only=read_only, durability=durability)  # type: ignore[arg-type]  # checked there
        try:
            super().__init__(Session(store, scope, settings, clock), Slice())
        except BaseException:
            store.close()
            raise

    def scoped(self, name: str) -> KnowledgeGraph:
        """Another scope on the same store, clock and connection; nothing crosses between the two."""
        mine = self._session
        graph = KnowledgeGraph.__new__(KnowledgeGraph)
        session = Session(mine.store, name, mine.config, mine.clock, beside=mine)
        GraphView.__init__(graph, session, Slice())
        return graph

    @property
    def whole(self) -> bool:
        """True: this is the graph itself."""
        return True

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
        return add_one(
            self._session,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=valid_from,
            valid_to=valid_to,
            valid_through=valid_through,
            kind=kind,
            negative=negative,
            source=source,
            source_ref=source_ref,
            said_at=said_at,
            confidence=confidence,
            qualifiers=qualifiers,
            text=text,
            because=because,
        )

    def set(self, subject: Name, predicate: str, value: object, **same: Any) -> Receipt:
        """Like `add`, for a value that replaces the one before: an explicit change.

        Raises:
            InputError: the predicate takes many values; add another, or end the others.
        """
        many = False
        with self._session.read(), suppress(RejectedError):  # add refuses a bad name, and keeps it
            entry = self._session.ledger.registry().resolve(predicate).predicate
            given = same.get("qualifiers") or {}
            many = entry.cardinality == "many" and not (entry.one_by and all(name in given for name in entry.one_by))
        if many:
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
        """It was true and stopped at `at` (default: when it was said); without an object, whatever the value was."""
        bound: When | None = at
        with suppress(RejectedError):  # what can't be read is refused below, and kept
            bound = self._session.when(at)
        unknown = getattr(bound, "precision", None) == "unknown"
        return add_one(
            self._session,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=None if unknown else bound,
            kind="end",
            qualifiers=qualifiers,
            source=source,
            source_ref=source_ref,
            said_at=said_at,
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
        return add_one(
            self._session,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=valid_from,
            valid_to=valid_to,
            kind="deny",
            qualifiers=qualifiers,
            source=source,
            source_ref=source_ref,
            said_at=said_at,
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

        def work(writer: Writer, said: Said) -> Receipt:
            view = GraphView(self._session, Slice(valid_at=self._session.instant(valid_at)))
            try:
                with view.reading() as reader:
                    rows = view.held_rows(reader, subject, predicate, old, qualifiers)
            except AmbiguousNameError as error:
                raise RejectedError("ambiguous_entity", str(error)) from None
            return settling.correct(writer, rows, said, f"{subject} {predicate} {resolution.shown(old)}")

        return guarded(
            self._session,
            work,
            subject=subject,
            predicate=predicate,
            object=new,
            kind="correct",
            qualifiers=qualifiers,
            source=source,
            source_ref=source_ref,
            said_at=said_at,
        )

    def retract(self, target: Target, *, reason: str | None = None) -> Receipt:
        """The statement is withdrawn: the graph is as if it had not been made, and what it closed reopens."""
        return settling.mark(self._session, target, reason, withdraw=True)

    def unretract(self, target: Target) -> Receipt:
        """The withdrawal is taken back."""
        return settling.mark(self._session, target, None, withdraw=False)

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
        named = (subject, predicate)
        return settling.settle(
            self._session,
            named,
            choice,
            object,
            conflict,
            None if valid_at is None else self._session.instant(valid_at),
            qualifiers,
            reason,
        )

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
        return remember(
            self._session,
            text,
            extractor,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=valid_from,
            valid_to=valid_to,
            source=source,
            source_ref=source_ref,
            said_at=said_at,
        )

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

    def purge(self) -> None:
        """Nothing, when the bytes of all that was forgotten are gone; PurgePending while a reader still holds them."""
        forgetting.purge(self._session)

    # -- time

    def at(self, valid_at: When | None = None, *, known_at: When | None = None) -> GraphView:
        """The graph at an instant (None: pinned to now), as known at a moment (None: pinned to the latest)."""
        valid = None if valid_at is None else self._session.instant(valid_at)
        with self._session.read():
            now, latest = self._session.now(), self._session.last_recorded
        known = latest if known_at is None else self._session.instant(known_at)
        return GraphView(self._session, Slice(valid_at=valid, known_at=known, pinned=now))

    def during(self, start: When | None = None, end: When | None = None, *, known_at: When | None = None) -> GraphView:
        """The facts that overlap a window; one coarse date is its whole unit, no date at all is all time."""
        return GraphView(
            self._session, Slice(window=self._session.window(start, end), known_at=self._session.known(known_at))
        )

    def throughout(self, start: When, end: When, *, known_at: When | None = None) -> GraphView:
        """The facts that cover a whole window."""
        return GraphView(
            self._session,
            Slice(window=self._session.window(start, end), cover=True, known_at=self._session.known(known_at)),
        )

    def history(self, subject: Name, predicate: str) -> list[FactVersion]:
        """What was believed about a subject and predicate, belief by belief, over transaction time."""
        with self.reading() as reader:
            return history(reader, subject, predicate)

    def explain(self, fact: Fact | Receipt | Claim | str) -> Explanation:
        """Why a fact is believed: who said it, what opened and closed it, what disputes it."""
        with self.reading() as reader:
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
        with self.reading() as reader:
            rows = audit.claims(reader, subject, predicate, source, source_ref, retracted=retracted)
        for start in range(0, len(rows), CHUNK):
            with self.reading() as reader:
                made = [reader.claim(row) for row in rows[start : start + CHUNK]]
            yield from made

    # -- life

    @contextmanager
    def atomic(self) -> Iterator[KnowledgeGraph]:
        """Several writes that are all kept or none, and that no other handle sees half done."""
        try:
            with self._session.store.write():
                yield self
        except BaseException:
            self._session.ledger.forget_records()  # what was read of the tables that are as before again
            raise

    def verify(self) -> list[Problem]:
        """What is wrong: rows that differ from a fresh fold of all claims, damaged rows; empty if nothing."""
        with self.reading() as reader:
            return audit.verify(reader)

    def stats(self) -> dict[str, Any]:
        """Sizes, facts by status, claims by source, rejections by code, open conflicts."""
        with self.reading() as reader:
            return audit.stats(reader)

    def rejected(self) -> list[Rejection]:
        """The refused claims that are kept, oldest first, with code and reason."""
        with self.reading() as reader:
            return audit.rejections(reader)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy of the whole store at a new path, made while others read and write."""
        try:
            os.fspath(path).encode()
        except (TypeError, AttributeError, UnicodeEncodeError):
            raise InputError(f"a backup needs the path of a new file, not {ascii(path)[:80]}") from None
        self._session.store.backup(Path(path))

    def close(self) -> None:
        """Release the store; later calls raise StoreClosed."""
        self._session.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KnowledgeGraph {'in memory' if self.path is None else self.path} scope={self.scope!r}>"
