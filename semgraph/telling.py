"""The verbs of a graph: telling it something, taking that back, and removing it for good."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from semgraph import forgetting, remembering, resolution, settling
from semgraph.bulk import How, add_all, add_columns
from semgraph.errors import AmbiguousNameError, InputError, RejectedError
from semgraph.guarding import add_one, guarded, remember
from semgraph.model import WORDS
from semgraph.view import GraphView, Slice

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    import networkx as nx

    from semgraph.model import Batch, Claim, ConflictSet, Entity, Fact, ForgetReport, Receipt
    from semgraph.session import When
    from semgraph.statement import Said
    from semgraph.writing import Writer

    Name = str | Entity
    Target = Claim | Fact | Receipt | str

__all__ = ["TellingView"]


class TellingView(GraphView):
    """A view that can be told things; `KnowledgeGraph` is the only one."""

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

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.add("Maya", "speaks", "Finnish", valid_from="2019", source_ref="mail:17").outcome.value
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

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.set("api", "deploys_on", "Heroku", said_at="2024-05-01")
        >>> [fact.object.label for fact in kg.set("api", "deploys_on", "Fly.io", said_at="2024-05-02").closed]
        ['Heroku']
        """
        if "kind" in same:
            raise InputError("set is add(kind='change'); leave kind out")
        if unknown := same.keys() - WORDS:
            raise TypeError(f"set() got an unexpected keyword argument {min(unknown)!r}")
        return add_one(
            self._session, replacing=True, subject=subject, predicate=predicate, object=value, kind="change", **same
        )

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
        """It was true and stopped at `at` (default: when it was said); without an object, whatever the value was.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "works_at", "Stripe", valid_from="2021-03")
        >>> print(kg.end("Maya", "works_at", at="2024-06").outcome)
        ended
        >>> kg.value("Maya", "works_at", "nowhere"), kg.at("2022").value("Maya", "works_at")
        ('nowhere', 'Stripe')
        """
        bound: When | None = at
        with suppress(RejectedError):  # what can't be read is refused below, and kept
            bound = self._session.when(at)
        unknown = getattr(bound, "precision", None) == "unknown"
        return add_one(
            self._session,
            subject=subject,
            predicate=predicate,
            object=object,
            valid_from=None if unknown else at if bound is None else bound,
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
        """It never was true: masks the value whoever said it with no higher trust; with bounds it cuts a hole.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "allergic_to", "nuts", source="imported:crm")
        >>> _ = kg.deny("Maya", "allergic_to", "nuts")
        >>> kg.timeline("Maya", "allergic_to")
        []
        """
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
        """The old value was never true in the segment that holds at `valid_at` (default now); the new one was.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "works_at", "Linear", valid_from="2024-06")
        >>> print(kg.correct("Maya", "works_at", "Linear", "Lineal").outcome)
        update
        >>> kg.at("2025").value("Maya", "works_at")
        'Lineal'
        """

        def work(writer: Writer, said: Said) -> Receipt:
            instant = self._session.instant(valid_at)
            turned = self._session.ledger.registry().resolve(predicate).inverse
            near, far = (old, subject) if turned else (subject, old)
            wrong, shown = resolution.Spoken(near, far, instant), f"{subject} {predicate} {resolution.shown(old)}"
            view = GraphView(self._session, Slice(valid_at=instant))
            try:
                with view.reading() as reader:
                    rows = view.held_rows(reader, subject, predicate, old, qualifiers)
                return settling.correct(writer, rows, said, wrong, shown)
            except AmbiguousNameError as error:
                raise RejectedError("ambiguous_entity", str(error)) from None

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
        """The statement is withdrawn: the graph is as if it had not been made, and what it closed reopens.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2020")
        >>> wrong = kg.add("Maya", "lives_in", "Bergen", valid_from="2023")
        >>> print(kg.retract(wrong, reason="another Maya").outcome)
        update
        >>> kg.value("Maya", "lives_in")
        'Oslo'
        """
        return settling.mark(self._session, target, reason, withdraw=True)

    def unretract(self, target: Target) -> Receipt:
        """The withdrawal is taken back.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> home = kg.add("Maya", "lives_in", "Oslo", valid_from="2020")
        >>> _ = kg.retract(home)
        >>> print(kg.unretract(home).outcome)
        update
        >>> kg.value("Maya", "lives_in")
        'Oslo'
        """
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

        The conflict is the one given, else the one about the subject that holds at `valid_at` (default now). What is
        chosen may be named from either end of its edge: for a unique object the subject names the shared object, and
        `object` the winning subject, or the other way round.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2025", source="user")
        >>> print(kg.add("Maya", "lives_in", "Bergen", valid_from="2025", source="tool:calendar").outcome)
        conflict
        >>> print(kg.settle("Maya", "lives_in", "choose", "Oslo").outcome)
        update
        >>> kg.value("Maya", "lives_in"), kg.conflicts()
        ('Oslo', [])
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

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> rows = [("Maya", "speaks", "Finnish"), ("Maya", "speaks", "Greek"), ("Maya", "speaks", "")]
        >>> batch = kg.add_all(dict(zip(("subject", "predicate", "object"), row)) for row in rows)
        >>> batch.counts, [refused.code for refused in batch.rejected]
        ({'new': 2, 'rejected': 1}, ['empty_entity'])
        """
        return add_all(self._session, claims, How(batch_size, on_reject, replaces, progress, receipts))

    def add_columns(
        self,
        columns: Mapping[str, Any],
        *,
        batch_size: int | None = None,
        on_reject: str = "skip",
        replaces: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Batch:
        """What a batch did whose claims are the rows of a table: the same as `add_all`, and quicker.

        Args:
            columns: the parameters of `add` by name. Each is a list, or a column of numpy, pandas, polars or arrow,
                all of one length; a single value stands in every row, None is no value. Moments may be whole numbers
                too, microseconds since 1970 in UTC, under the names `valid_from_us`, `valid_to_us` and `said_at_us`,
                where the greatest int64 is no end and the least is always. numpy's datetime64 is refused: it has no
                time zone.
            batch_size: claims a transaction; None is one transaction, and one set.
            on_reject: "skip" refuses claims alone, "raise" writes nothing then.
            replaces: a source_ref: what it said before and does not say now is retracted in the same transaction.
            progress: called after each transaction with the number of claims so far.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> people, towns = ["Maya", "Jon", "Maya"], ["Oslo", "Bergen", "Moss"]
        >>> kg.add_columns(
        ...     {"subject": people, "predicate": "lives_in", "object": towns, "valid_from": ["2019", "2020", "2023-05"]}
        ... ).counts
        {'history': 1, 'new': 1, 'update': 1}
        >>> kg.at("2024").value("Maya", "lives_in")
        'Moss'
        """
        return add_columns(self._session, columns, How(batch_size, on_reject, replaces, progress))

    def load_networkx(self, graph: nx.Graph[Any], *, source: str | None = None, unregistered: str = "many") -> Batch:
        """What taking in a graph of networkx did, all of it in one transaction.

        A node becomes the entity of its `label`, else of itself as text, and each other attribute of it a claim. An
        edge becomes a claim under its `predicate` (else its key, if that is a text, else `linked_to`), from
        `valid_from` until `valid_to`, or `valid_from_us` and `valid_to_us` in microseconds since 1970; what else it has
        are qualifiers. `.predicates` of the batch counts those met.

        Args:
            graph: a Graph, DiGraph, MultiGraph or MultiDiGraph.
            source: who says all of it; else `imported:networkx`.
            unregistered: how many values at a time a predicate takes that nobody has defined: "many", "one", or "flag".

        >>> import networkx as nx
        >>> from semgraph import KnowledgeGraph
        >>> friends = nx.DiGraph()
        >>> friends.add_edge("Ann", "Bo", predicate="trusts", valid_from="2020-05")
        >>> kg = KnowledgeGraph()
        >>> kg.load_networkx(friends).predicates
        {'trusts': 1}
        >>> kg.at("2021").value("Ann", "trusts")
        'Bo'
        """
        from semgraph.exchange.networks import read_networkx

        return read_networkx(self, graph, source=source, unregistered=unregistered)  # type: ignore[arg-type]  # its front

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
        """A receipt per candidate that a sentence yields, each through the language gate; refused ones are receipts.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> [receipt.outcome.value for receipt in kg.remember("I live in Berlin.")]
        ['new']
        >>> [receipt.code for receipt in kg.remember("Maybe I live in Oslo.", subject="me", object="Oslo")]
        ['hedged']
        """
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
        """Never store what holds this phrase, or is about this entity or predicate; not retroactive (forget is).

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.veto(predicate="salary")
        >>> kg.add("Maya", "salary", 90_000)
        Traceback (most recent call last):
            ...
        semgraph.errors.RejectedError: ...
        """
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

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> _ = kg.add("Maya", "lives_in", "Oslo", valid_from="2020")
        >>> report = kg.forget(entity="Maya")
        >>> report.facts, report.purged, "Maya" in kg
        (1, True, False)
        """
        targets = {"fact": fact, "claim": claim, "entity": entity, "source_ref": source_ref}
        return forgetting.forget(
            self, self._session, targets, everything=everything, mentions=mentions, dry_run=dry_run, export_to=export_to
        )

    def purge(self) -> None:
        """Nothing, when the bytes of all that was forgotten are gone; PurgePending while a reader still holds them.

        >>> from semgraph import KnowledgeGraph
        >>> kg = KnowledgeGraph()
        >>> kg.purge()
        """
        forgetting.purge(self._session)
