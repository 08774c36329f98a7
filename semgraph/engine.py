"""KnowledgeGraph: one scope of a store, open for reading and writing; sequencing and transactions, nothing else."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from semgraph import audit
from semgraph.errors import ConfigError, InputError
from semgraph.explaining import explain, history
from semgraph.handles import Names, Predicates, Vetoes
from semgraph.session import Config, Session
from semgraph.store import open_store
from semgraph.telling import TellingView
from semgraph.view import CHUNK, GraphView, Slice
from semgraph.walk.cut import checked_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType

    from semgraph.model import (
        Claim,
        Entity,
        Explanation,
        Fact,
        FactVersion,
        Problem,
        Recalled,
        Receipt,
        Rejection,
    )
    from semgraph.session import When

    Name = str | Entity
    Target = Claim | Fact | Receipt | str

__all__ = ["KnowledgeGraph"]


class KnowledgeGraph(TellingView):
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
        if not isinstance(target, str | os.PathLike) or not isinstance(durability, str):
            raise ConfigError("the target of a graph is a path or ':memory:', its durability 'full' or 'relaxed'")
        store = open_store(target, read_only=read_only, durability=durability)  # type: ignore[arg-type]  # checked there
        try:
            super().__init__(Session(store, scope, settings, clock, embedder=embedder), Slice())
        except BaseException:
            store.close()
            raise

    def scoped(self, name: str) -> KnowledgeGraph:
        """Another scope on the same store, clock and connection; nothing crosses between the two.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo")
        >>> "Maya" in kg.scoped("work")
        False
        """
        return self._beside(name, self._session.config)

    def _beside(self, scope: str, config: Config) -> KnowledgeGraph:
        """A scope, this one or another, through the same store, clock and connection with settings of its own."""
        mine = self._session
        graph = KnowledgeGraph.__new__(KnowledgeGraph)
        session = Session(mine.store, scope, config, mine.clock, embedder=mine.embedder, beside=mine)
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

    @property
    def vetoes(self) -> Vetoes:
        """What must never be stored: to list, and to lift."""
        return Vetoes(self._session)

    # -- time

    def at(self, valid_at: When | None = None, *, known_at: When | None = None) -> GraphView:
        """The graph at an instant (None: pinned to now), as known at a moment (None: pinned to the latest).

        >>> kg = KnowledgeGraph()
        >>> first = kg.add("Maya", "lives_in", "Oslo", valid_from="2019")
        >>> _ = kg.add("Maya", "lives_in", "Bergen", valid_from="2023")
        >>> kg.at("2020").value("Maya", "lives_in"), kg.at("2024").value("Maya", "lives_in")
        ('Oslo', 'Bergen')
        >>> kg.at("2024", known_at=first.recorded_at).value("Maya", "lives_in")
        'Oslo'
        """
        valid = None if valid_at is None else self._session.instant(valid_at)
        now, latest = self._session.moment()
        known = latest if known_at is None else self._session.instant(known_at)
        return GraphView(self._session, Slice(valid_at=valid, known_at=known, pinned=now))

    def during(self, start: When | None = None, end: When | None = None, *, known_at: When | None = None) -> GraphView:
        """The facts that overlap a window; one coarse date is its whole unit, no date at all is all time.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "works_at", "Stripe", valid_from="2021-03", valid_to="2024-06")
        >>> [fact.object.label for fact in kg.during("2024").facts("Maya")]
        ['Stripe']
        >>> [fact.object.label for fact in kg.during("2025", "2026").facts("Maya")]
        []
        """
        return GraphView(
            self._session, Slice(window=self._session.window(start, end), known_at=self._session.known(known_at))
        )

    def throughout(self, start: When, end: When, *, known_at: When | None = None) -> GraphView:
        """The facts that cover a whole window.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "works_at", "Stripe", valid_from="2021-03", valid_to="2024-06")
        >>> [len(list(kg.throughout(start, "2024").facts("Maya"))) for start in ("2021", "2022")]
        [0, 1]
        """
        return GraphView(
            self._session,
            Slice(window=self._session.window(start, end), cover=True, known_at=self._session.known(known_at)),
        )

    def history(self, subject: Name, predicate: str) -> list[FactVersion]:
        """What was believed about a subject and predicate, belief by belief, over transaction time.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2019")
        >>> _ = kg.correct("Maya", "lives_in", "Oslo", "Moss")
        >>> [(version.fact.object.label, version.known_to is None) for version in kg.history("Maya", "lives_in")]
        [('Oslo', False), ('Moss', True)]
        """
        with self.reading() as reader:
            return history(reader, subject, predicate)

    def explain(self, fact: Fact | Receipt | Claim | str) -> Explanation:
        """Why a fact is believed: who said it, what opened and closed it, what disputes it.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2019", source_ref="mail:3")
        >>> [fact] = kg.values("Maya", "lives_in")
        >>> [(claim.source, claim.source_ref) for claim in kg.explain(fact).claims]
        [('user', 'mail:3')]
        """
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
        """The claims as stored, in the order in which they were recorded.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "speaks", "Greek", source="tool:crm")
        >>> [(claim.object.label, claim.source) for claim in kg.claims("Maya")]
        [('Greek', 'tool:crm')]
        """
        with self.reading() as reader:
            rows = audit.claims(reader, subject, predicate, source, source_ref, retracted=retracted)
        for start in range(0, len(rows), CHUNK):
            with self.reading() as reader:
                made = [reader.claim(row) for row in rows[start : start + CHUNK]]
            yield from made

    # -- life

    @contextmanager
    def atomic(self) -> Iterator[KnowledgeGraph]:
        """Several writes that are all kept or none, and that no other handle sees half done.

        >>> kg = KnowledgeGraph()
        >>> with kg.atomic():
        ...     _ = kg.add("Maya", "lives_in", "Oslo")
        ...     _ = kg.add("Maya", "works_at", "Linear")
        >>> sorted(kg.about("Maya"))
        ['lives_in', 'works_at']
        """
        try:
            with self._session.store.write():
                yield self
        except BaseException:
            self._session.ledger.forget_records()  # what was read of the tables that are as before again
            raise

    def verify(self) -> list[Problem]:
        """What is wrong: rows that differ from a fresh fold of all claims, damaged rows; empty if nothing.

        >>> kg = KnowledgeGraph()
        >>> kg.verify()
        []
        """
        with self.reading() as reader:
            return audit.verify(reader)

    def stats(self) -> dict[str, Any]:
        """Sizes, facts by status, claims by source, rejections by code, open conflicts.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo")
        >>> kg.stats()["facts"]
        1
        """
        with self.reading() as reader:
            return audit.stats(reader)

    def recalled(self, *, limit: int = 20) -> list[Recalled]:
        """The facts that `recall` and `profile` gave, with how often and when last; the latest first, at most `limit`.

        Facts that are believed no more are left out. The counts are written a minute late, or when the graph is
        closed; they decide nothing.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "speaks", "Finnish")
        >>> _ = kg.recall("Finnish"), kg.recall("Maya")
        >>> [(found.fact.object.label, found.times) for found in kg.recalled()]
        [('Finnish', 2)]
        """
        limit = checked_count("limit", limit, 0)
        with self.reading() as reader:
            return audit.recalled(reader, limit)

    def rejected(self) -> list[Rejection]:
        """The refused claims that are kept, oldest first, with code and reason.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.remember("It might rain.")
        >>> [refused.code for refused in kg.rejected()]
        ['no_subject']
        """
        with self.reading() as reader:
            return audit.rejections(reader)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy of the whole store at a new path, made while others read and write.

        >>> kg = KnowledgeGraph()
        >>> kg.backup("copy.db")
        >>> KnowledgeGraph("copy.db", read_only=True).verify()
        []
        """
        try:
            os.fspath(path).encode()
        except (TypeError, AttributeError, UnicodeEncodeError):
            raise InputError(f"a backup needs the path of a new file, not {ascii(path)[:80]}") from None
        self._session.store.backup(Path(path))

    def reembed(self, *, progress: Callable[[int, int], object] | None = None) -> int:
        """How many vectors were made: of the claims of the scope that have none of the handle's embedder yet.

        For a scope that a model has not seen whole, or after the embedder was changed: vectors of another model are
        replaced. Each batch is kept as it is made, so that what was interrupted goes on where it stopped. The table
        that ships with semgraph needs no stored vectors; with it those of other models are removed.

        Args:
            progress: called with how many claims are done, and how many there are.

        Raises:
            ConfigError: the embedder failed, or gave vectors of another shape than it says.

        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo")
        >>> kg.reembed()
        0
        """
        from semgraph.recall.embedded import reembed  # numpy

        if progress is not None and not callable(progress):
            raise InputError(f"progress is called with two numbers, and {type(progress).__name__} can't be called")
        return reembed(self._session, progress)

    def close(self) -> None:
        """Release the store; later calls raise StoreClosed.

        >>> kg = KnowledgeGraph()
        >>> kg.close()
        """
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KnowledgeGraph {'in memory' if self.path is None else self.path} scope={self.scope!r}>"
