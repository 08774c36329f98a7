"""The worked cases as calls of the public API, and what it answers as wanted; nothing of semgraph but that API."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from case_files import Case, Query, Step, instant, keys, shown_key, take

import semgraph
from semgraph.errors import AmbiguousNameError, NotFoundError, RejectedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from semgraph import KnowledgeGraph

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def check_case(case: Case, folder: Path) -> None:
    """Every order of a case, each in a store of its own: in a file where its bytes are looked at."""
    in_file = any(query["q"] == "residue" for query in case.expect)
    for number, (steps, queries) in enumerate(case.orders()):
        run = CaseRun(case, folder / f"{number}.db" if in_file else None)
        try:
            run.play(steps)
            for query in queries:
                run.check(query)
        finally:
            run.graph.close()


@dataclass(slots=True)
class Result:
    """What a step did: the code as the cases spell it, and its receipts where it gave any."""

    outcome: str
    code: str | None = None
    receipts: list[Any] = field(default_factory=list)


class CaseRun:
    """One order of one case against one store, with a clock that shows what the steps say."""

    def __init__(self, case: Case, path: Path | None) -> None:
        self.path = path
        self.moment = EPOCH
        options: dict[str, Any] = {"config": case.config} if case.config else {}
        self.graph: KnowledgeGraph = semgraph.KnowledgeGraph(
            ":memory:" if path is None else path,
            timezone=case.timezone,
            embedder=None,
            clock=lambda: self.moment,
            **options,
        )
        self.results: list[Result] = []

    def play(self, steps: list[Step]) -> None:
        for step in steps:
            at = instant(step["at"])
            assert at is not None, step
            self.moment = EPOCH + timedelta(microseconds=at)
            self.results.append(self._do(step))

    def _scope(self, given: dict[str, Any]) -> KnowledgeGraph:
        scope = given.get("scope", "default")
        return self.graph if scope == self.graph.scope else self.graph.scoped(scope)

    def _do(self, step: Step) -> Result:
        assert step["op"] in OPERATIONS, f"unknown operation {step['op']!r}"
        known, work = OPERATIONS[step["op"]]
        given = take(step, known)
        try:
            answer = work(self, self._scope(step), given)
        except RejectedError as refusal:
            return Result("REJECTED", refusal.code)
        except AmbiguousNameError:
            return Result("REJECTED", "ambiguous_name")
        except NotFoundError:
            return Result("REJECTED", "not_found")
        receipts = list(answer) if isinstance(answer, list | tuple) else [answer]
        first = receipts[0] if receipts else None
        outcome = getattr(first, "outcome", None)
        return Result("" if outcome is None else str(outcome).upper(), getattr(first, "code", None), receipts)

    def _claims(self, number: int) -> list[str]:
        """The ids of the claims that a step wrote or found."""
        return [claim.id for receipt in self.results[number - 1].receipts for claim in receipt.claims]

    # -- operations

    def _assert(self, kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        because = [[c for n in premises for c in self._claims(n)] for premises in given.get("because", ())]
        return kg.add(
            given["s"],
            given["p"],
            given.get("o"),
            kind=given.get("kind", "state"),
            negative=given.get("pol", "+") == "-",
            confidence=given.get("conf"),
            because=because,
            text=given.get("text"),
            **_bounds(given),
            **_told(given),
        )

    @staticmethod
    def _set(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.set(given["s"], given["p"], given["o"], **_bounds(given), **_told(given))

    @staticmethod
    def _end(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.end(given["s"], given["p"], given.get("o"), at=given.get("when"), **_told(given))

    @staticmethod
    def _deny(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.deny(given["s"], given["p"], given["o"], **_bounds(given), **_told(given))

    @staticmethod
    def _correct(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.correct(given["s"], given["p"], given["old"], given["o"], valid_at=given.get("as_of"), **_told(given))

    def _retract(self, kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return [kg.retract(claim) for claim in self._claims(given["step"])]

    def _unretract(self, kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return [kg.unretract(claim) for claim in self._claims(given["step"])]

    @staticmethod
    def _resolve(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.settle(
            given["s"],
            given["p"],
            given["choice"],
            given.get("o"),
            valid_at=given.get("as_of"),
            qualifiers=given.get("quals"),
        )

    @staticmethod
    def _merge(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.names.merge(given["src"], given["dst"])

    @staticmethod
    def _unmerge(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.names.unmerge(given["src"])

    @staticmethod
    def _alias(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.names.alias(
            given["name"],
            given["entity"],
            valid_from=given.get("from"),
            valid_to=given.get("to"),
            primary=given.get("primary", False),
            homonym=given.get("homonym", False),
        )

    @staticmethod
    def _entity(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.names.declare(
            given["name"], label=given.get("label"), valid_from=given.get("from"), valid_to=given.get("to")
        )

    @staticmethod
    def _predicate(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        fields = dict(given)
        name, flags = fields.pop("name"), fields.pop("flags", ())
        fields.pop("flip", None)  # what `opposite` means
        if "card" in fields:
            fields["cardinality"] = fields.pop("card")
        return kg.predicates.define(name, **fields, **dict.fromkeys(flags, True))

    def _forget(self, kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        if "step" in given:
            return [kg.forget(claim=claim) for claim in self._claims(given["step"])]
        if "entity" in given:
            return kg.forget(entity=given["entity"], mentions=given.get("mentions", False))
        if "ref" in given:
            return kg.forget(source_ref=given["ref"])
        return kg.forget(everything=True)

    @staticmethod
    def _remember(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        extractor = {} if given.get("s") else {"extractor": None}  # no subject and nobody who looks for one
        return kg.remember(
            given["text"],
            subject=given.get("s"),
            predicate=given.get("p"),
            object=given.get("o"),
            valid_from=given.get("from"),
            valid_to=given.get("to"),
            source=given.get("source", "user"),
            source_ref=given.get("ref"),
            said_at=given.get("said"),
            **extractor,
        )

    @staticmethod
    def _do_not_remember(kg: KnowledgeGraph, given: dict[str, Any]) -> Any:
        return kg.veto(**given)

    # -- queries

    def check(self, query: Query) -> None:
        assert query["q"] in QUERIES, f"unknown query {query['q']!r}"
        known, work = QUERIES[query["q"]]
        work(self, self._scope(query), take(query, known))

    def _outcome(self, _: KnowledgeGraph, query: Query) -> None:
        result = self.results[query["step"] - 1]
        assert result.outcome == query["want"], (query, result)
        if "code" in query:
            assert result.code == query["code"], (query, result)
        if "closed" in query:
            assert _same_closed(result, query["closed"]), (query, result)
        if "widened" in query:
            assert result.receipts[0].widened == query["widened"], (query, result)

    @staticmethod
    def _values(kg: KnowledgeGraph, query: Query) -> None:
        options = {"qualifiers": query["quals"]} if "quals" in query else {}
        facts = _view(kg, query).values(query["s"], query["p"], possible=query.get("possible", False), **options)
        assert keys({_shown(f) for f in facts}) == keys(query["want"]), query
        if "conflict" in query:
            assert any(f.conflicted for f in facts) == query["conflict"], query
        if "certain" in query:
            assert [f.certain for f in facts] == [query["certain"]] * len(facts), query

    @staticmethod
    def _timeline(kg: KnowledgeGraph, query: Query) -> None:
        view = kg.during(known_at=query["known_at"]) if "known_at" in query else kg
        facts = _found(lambda: view.timeline(query["s"], query.get("p"), negative=query.get("neg", False)))
        lines = [(shown_key(_shown(f)), f.valid_from.instant, f.valid_to and f.valid_to.instant) for f in facts]
        assert [start for _, start, _ in lines] == sorted(start for _, start, _ in lines), query
        assert Counter(lines) == Counter((shown_key(o), instant(a), instant(b)) for o, a, b in query["want"]), query

    @staticmethod
    def _conflicts(kg: KnowledgeGraph, query: Query) -> None:
        view = kg.during(known_at=query.get("known_at")) if query.get("history") else _view(kg, query)
        rows = []
        for found in view.conflicts():
            own = found.subject is not None
            about = found.subject if own else found.object
            members = [_shown(f) if own else f.subject.label for f in found.facts]
            rows.append((shown_key(about.label), found.predicate, keys(members)))
        assert sorted(rows) == sorted((shown_key(s), p, keys(members)) for s, p, members in query["want"]), query

    @staticmethod
    def _confidence(kg: KnowledgeGraph, query: Query) -> None:
        facts = _view(kg, query).values(query["s"], query["p"])
        found = [f.confidence for f in facts if shown_key(_shown(f)) == shown_key(query["o"])]
        assert len(found) == 1, query
        if "want" in query:
            assert found == [pytest.approx(query["want"], abs=0.0005)], query
        assert query.get("min", 0) - 1e-9 <= found[0] <= query.get("max", 1) + 1e-9, (query, found)

    @staticmethod
    def _entity_named(kg: KnowledgeGraph, query: Query) -> None:
        want = [query["want"]] if isinstance(query["want"], str) else query["want"]
        try:
            found = [_view(kg, query).entity(query["name"]).label]
        except NotFoundError:
            found = []
        except AmbiguousNameError as error:
            found = [candidate.label for candidate in error.candidates]
        assert keys(found) == keys(want), query

    @staticmethod
    def _same_key(_: KnowledgeGraph, query: Query) -> None:
        assert (semgraph.entity_key(query["a"]) == semgraph.entity_key(query["b"])) == query["want"], query

    @staticmethod
    def _diff(kg: KnowledgeGraph, query: Query) -> None:
        old = kg.at(query.get("t1"), known_at=query.get("k1"))
        new = kg.at(query.get("t2"), known_at=query.get("k2"))
        found = old.diff(new)
        for side in ("opened", "closed"):
            if side in query:
                rows = [(f.subject.label, f.predicate, _shown(f)) for f in getattr(found, side)]
                assert _triples(rows) == _triples(query[side]), query
        if "changed" in query:
            pairs = sorted(sorted(shown_key(_shown(f)) for f in pair) for pair in found.changed)
            assert pairs == sorted(keys(pair) for pair in query["changed"]), query

    @staticmethod
    def _neighbours(kg: KnowledgeGraph, query: Query) -> None:
        options = {name: query[name] for name in ("hops", "direction", "predicates") if name in query}
        found = _found(lambda: _view(kg, query).neighbors(query["s"], **options))
        assert keys(n.entity.label for n in found) == keys(query["want"]), query

    @staticmethod
    def _paths(kg: KnowledgeGraph, query: Query) -> None:
        options = {name: query[name] for name in ("mode", "cutoff", "direction", "predicates") if name in query}
        if "limit" in query:
            options["limit"] = query["limit"]
        found = _found(lambda: _wide(kg, query).paths(query["a"], query["b"], **options))
        rows = [[shown_key(e.label) for e in path.entities] for path in found]
        assert rows == [[shown_key(name) for name in row] for row in query["want"]], query
        if "intervals" in query:
            wanted = [tuple(map(instant, pair)) for pair in query["intervals"]]
            assert [_span(path.interval) for path in found] == wanted, query
        if "arrival" in query:
            assert [path.arrival.instant for path in found] == list(map(instant, query["arrival"])), query

    @staticmethod
    def _match(kg: KnowledgeGraph, query: Query) -> None:
        found = _wide(kg, query).match(*map(tuple, query["patterns"]))
        rows = [({n: shown_key(_label(v)) for n, v in row.items()}, _span(row.interval)) for row in found]
        wanted = [
            (
                {n.removeprefix("?"): shown_key(v) for n, v in row.items() if n not in ("from", "to")},
                (instant(row["from"]), instant(row["to"])),
            )
            for row in query["want"]
        ]
        assert sorted(rows, key=_row_order) == sorted(wanted, key=_row_order), query

    @staticmethod
    def _recall(kg: KnowledgeGraph, query: Query) -> None:
        hits = _view(kg, query).recall(query["query"], **({"limit": query["k"]} if "k" in query else {}))
        found = {shown_key(_shown(hit.fact)) for hit in hits}
        assert found >= set(keys(query.get("includes", ()))), (query, found)
        assert not found & set(keys(query.get("excludes", ()))), (query, found)

    @staticmethod
    def _render(kg: KnowledgeGraph, query: Query) -> None:
        view = _view(kg, query)
        block = view.render(view.recall(query["query"], **({"limit": query["k"]} if "k" in query else {})))
        for wanted in query.get("contains", ()):
            assert wanted in block, (query, block)
        for unwanted in query.get("lacks", ()):
            assert unwanted not in block, (query, block)

    def _residue(self, kg: KnowledgeGraph, query: Query) -> None:
        """The needle is nowhere: not in the store's files, not in an export, however it is cased."""
        assert self.path is not None
        dump = self.path.with_suffix(".jsonl")
        semgraph.write(kg, dump)
        files = [self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm")), dump]
        found = [path.name for path in files if path.exists() and _holds(path, query["needle"])]
        assert not found, (query, found)


# -- what views and facts are read as


def _view(kg: KnowledgeGraph, query: Query) -> Any:
    """The graph now, or the slice that the query names."""
    if "as_of" in query or "known_at" in query:
        return kg.at(query.get("as_of"), known_at=query.get("known_at"))
    return kg


def _wide(kg: KnowledgeGraph, query: Query) -> Any:
    """The same, but all time where no instant is named; instants of a walk through time have no view of their own."""
    if query.get("mode") in ("overlap", "chronological") or "as_of" not in query:
        return kg.during(known_at=query.get("known_at"))
    return _view(kg, query)


def _found(read: Callable[[], Iterable[Any]]) -> list[Any]:
    """What a read gives; nothing where it does not know the name."""
    try:
        return list(read())
    except NotFoundError:
        return []


def _label(thing: Any) -> str:
    return str(getattr(thing, "label", thing))


def _shown(fact: Any) -> str:
    """The object as the cases write it."""
    if fact.object is None:
        return "NONE"
    return f"¬{fact.object.label}" if fact.negative else str(fact.object.label)


def _triples(rows: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return sorted((shown_key(s), p, shown_key(o)) for s, p, o in rows)


def _row_order(row: tuple[dict[str, str], tuple[int | None, int | None]]) -> str:
    return repr((sorted(row[0].items()), row[1]))


def _span(interval: Any) -> tuple[int | None, int | None]:
    start, end = interval
    return (None if start is None else start.instant, None if end is None else end.instant)


def _same_closed(result: Result, want: list[str]) -> bool:
    """Whether a receipt closed just these: an edge of another subject (unique_object) may go by that subject's name."""
    receipt = result.receipts[0]
    mine = receipt.claim.subject.id
    options = []
    for fact in receipt.closed:
        names = {shown_key(_shown(fact))}
        if fact.subject.id != mine:
            names.add(shown_key(fact.subject.label))
        options.append(names)
    return any(sorted(choice) == keys(want) for choice in product(*options))


def _holds(path: Path, needle: str) -> bool:
    data = path.read_bytes().lower()
    return any(needle.lower().encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be"))


def _bounds(given: dict[str, Any]) -> dict[str, Any]:
    """The bounds that a step states; only `add` and `set` know an inclusive end."""
    names = {"from": "valid_from", "to": "valid_to", "through": "valid_through"}
    return {names[name]: given[name] for name in names if name in given}


def _told(given: dict[str, Any]) -> dict[str, Any]:
    """Who said it, where and when."""
    return {
        "source": given.get("source", "user"),
        "source_ref": given.get("ref"),
        "said_at": given.get("said"),
        "qualifiers": given.get("quals"),
    }


_SAID = {"said", "source", "ref", "quals"}
_DATED = {"from", "to", "through"}
_READ = {"as_of", "known_at"}
_Operation = tuple[set[str], "Callable[[CaseRun, KnowledgeGraph, dict[str, Any]], Any]"]
_Check = tuple[set[str], "Callable[[CaseRun, KnowledgeGraph, Query], None]"]


def _plain(work: Callable[[KnowledgeGraph, dict[str, Any]], Any]) -> Callable[[CaseRun, KnowledgeGraph, Any], Any]:
    """One that needs nothing of the run."""
    return lambda _, kg, given: work(kg, given)


OPERATIONS: dict[str, _Operation] = {
    "assert": ({"s", "p", "o", "kind", "pol", "conf", "because", "text", *_SAID, *_DATED}, CaseRun._assert),
    "set": ({"s", "p", "o", *_SAID, *_DATED}, _plain(CaseRun._set)),
    "end": ({"s", "p", "o", "when", *_SAID}, _plain(CaseRun._end)),
    "deny": ({"s", "p", "o", "from", "to", *_SAID}, _plain(CaseRun._deny)),
    "correct": ({"s", "p", "old", "o", "as_of", *_SAID}, _plain(CaseRun._correct)),
    "retract": ({"step"}, CaseRun._retract),
    "unretract": ({"step"}, CaseRun._unretract),
    "resolve": ({"s", "p", "choice", "o", "as_of", "quals"}, _plain(CaseRun._resolve)),
    "merge": ({"src", "dst"}, _plain(CaseRun._merge)),
    "unmerge": ({"src"}, _plain(CaseRun._unmerge)),
    "alias": ({"name", "entity", "from", "to", "primary", "homonym"}, _plain(CaseRun._alias)),
    "entity": ({"name", "label", "from", "to"}, _plain(CaseRun._entity)),
    "predicate": (
        {
            *("name", "card", "range", "flags", "aliases", "one_by", "ttl_days", "window_s", "trust"),
            *("inverse_of", "opposite", "flip"),
            *("event", "symmetric", "irreflexive", "unique_object", "profile", "sensitive", "norefine", "exact"),
        },
        _plain(CaseRun._predicate),
    ),
    "forget": ({"step", "entity", "ref", "mentions"}, CaseRun._forget),
    "remember": ({"text", "s", "p", "o", "from", "to", "said", "source", "ref"}, _plain(CaseRun._remember)),
    "do_not_remember": ({"phrase", "entity", "predicate"}, _plain(CaseRun._do_not_remember)),
}
QUERIES: dict[str, _Check] = {
    "outcome": ({"step", "want", "code", "closed", "widened"}, CaseRun._outcome),
    "values": ({"s", "p", "want", "possible", "conflict", "certain", "quals", *_READ}, _plain(CaseRun._values)),
    "timeline": ({"s", "p", "want", "neg", "known_at"}, _plain(CaseRun._timeline)),
    "conflicts": ({"want", "history", *_READ}, _plain(CaseRun._conflicts)),
    "confidence": ({"s", "p", "o", "want", "min", "max", *_READ}, _plain(CaseRun._confidence)),
    "entity": ({"name", "want", *_READ}, _plain(CaseRun._entity_named)),
    "same_key": ({"a", "b", "want"}, _plain(CaseRun._same_key)),
    "diff": ({"t1", "t2", "k1", "k2", "opened", "closed", "changed"}, _plain(CaseRun._diff)),
    "neighbours": ({"s", "want", "hops", "direction", "predicates", *_READ}, _plain(CaseRun._neighbours)),
    "paths": (
        {"a", "b", "want", "mode", "intervals", "arrival", "cutoff", "limit", "direction", "predicates", *_READ},
        _plain(CaseRun._paths),
    ),
    "match": ({"patterns", "want", *_READ}, _plain(CaseRun._match)),
    "recall": ({"query", "k", "includes", "excludes", *_READ}, _plain(CaseRun._recall)),
    "render": ({"query", "k", "contains", "lacks", *_READ}, _plain(CaseRun._render)),
    "residue": ({"needle"}, CaseRun._residue),
}
