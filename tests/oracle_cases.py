"""The worked cases as calls of the reference model, and what it answers as wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from case_files import NO_MODEL, Case, Query, Step, instant, keys, shown_key, take
from oracle import Oracle

from semgraph.names import entity_key
from semgraph.temporal import NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle_model import Outcome

SKIPPED = {"recall", "render", "residue"}  # nothing to ask a model for: ranking, words, bytes
RENAMED = {"from": "from_"}


def check_case(case: Case) -> None:
    """Every order of a case against the model."""
    for steps, queries in case.orders():
        run = OracleRun(case, steps)
        for query in queries:
            if query["q"] not in SKIPPED and query.get("model") not in NO_MODEL:
                run.check(query)


class OracleRun:
    """One order of one case."""

    def __init__(self, case: Case, steps: list[Step]) -> None:
        self.oracle = Oracle(timezone=case.timezone, **case.config)
        self.outcomes: list[Outcome] = []
        for step in steps:
            self.outcomes.append(self._do(step))

    def _scope(self, given: dict[str, Any]) -> Oracle:
        return self.oracle.scoped(given.get("scope", "default"))

    def _do(self, step: Step) -> Outcome:
        oracle, at = self._scope(step), step["at"]
        handler = OPERATIONS.get(step["op"])
        assert handler is not None, f"unknown operation {step['op']!r}"
        fields, work = handler
        return work(self, oracle, {**take(step, fields), "at": at})

    def _claims(self, number: int) -> list[str]:
        return self.outcomes[number - 1].claims

    def _assert(self, oracle: Oracle, given: dict[str, Any]) -> Outcome:
        because = [[c for n in premises for c in self._claims(n)] for premises in given.pop("because", ())]
        return oracle.assert_(  # noqa: PT009 - the operation, not unittest's
            given.pop("s"), given.pop("p"), given.pop("o", None), because=because, **_renamed(given)
        )

    def _retract(self, oracle: Oracle, given: dict[str, Any]) -> Outcome:
        return oracle.retract(self._claims(given["step"]), at=given["at"])

    def _unretract(self, oracle: Oracle, given: dict[str, Any]) -> Outcome:
        return oracle.unretract(self._claims(given["step"]), at=given["at"])

    def _forget(self, oracle: Oracle, given: dict[str, Any]) -> Outcome:
        if "step" in given:
            given["claims"] = self._claims(given.pop("step"))
        return oracle.forget(**given)

    # queries

    def check(self, query: Query) -> None:
        check = QUERIES.get(query["q"])
        assert check is not None, f"unknown query {query['q']!r}"
        fields, work = check
        work(self, self._scope(query), take(query, fields), query.get("want"))

    def _outcome(self, _: Oracle, query: dict[str, Any], want: Any) -> None:
        outcome = self.outcomes[query["step"] - 1]
        assert outcome.code == want, query
        if "code" in query:
            assert outcome.reason_code == query["code"], query
        if "closed" in query:
            assert keys(outcome.closed) == keys(query["closed"]), query
        if "widened" in query:
            assert outcome.widened == query["widened"], query

    def _values(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        held = oracle.values(
            query["s"], query["p"], query.get("as_of"), query.get("known_at"), possible=query.get("possible", False)
        )
        assert keys(h.label for h in held) == keys(want), query
        if "conflict" in query:
            assert any(h.conflict for h in held) == query["conflict"], query
        if "certain" in query:
            assert [h.certain for h in held] == [query["certain"]] * len(held), query

    def _timeline(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        found = oracle.timeline(query["s"], query.get("p"), neg=query.get("neg", False), known_at=query.get("known_at"))
        lines = [(shown_key(line.object), line.start, line.end) for line in found]
        wanted = [(shown_key(o), NEG_INF if a == "-inf" else instant(a), instant(b)) for o, a, b in want]
        assert sorted(lines, key=_row_order) == sorted(wanted, key=_row_order), query

    def _conflicts(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        if query.get("history"):
            found = oracle.conflict_history(query.get("known_at"))
        else:
            found = oracle.conflicts(query.get("as_of"), query.get("known_at"))
        rows = sorted((shown_key(s), p, keys(members)) for s, p, members in found)
        assert rows == sorted((shown_key(s), p, keys(members)) for s, p, members in want), query

    def _confidence(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        found = oracle.confidence(query["s"], query["p"], query["o"], query.get("as_of"), query.get("known_at"))
        assert found is not None, query
        if want is not None:
            assert found == pytest.approx(want, abs=0.0005), query
        assert query.get("min", 0) - 1e-9 <= found <= query.get("max", 1) + 1e-9, query

    def _entity(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        found = oracle.entity_named(query["name"], query.get("as_of"))
        assert keys(found) == keys([want] if isinstance(want, str) else want), query

    def _same_key(self, _: Oracle, query: dict[str, Any], want: Any) -> None:
        assert (entity_key(query["a"]) == entity_key(query["b"])) == want, query

    def _diff(self, oracle: Oracle, query: dict[str, Any], _: Any) -> None:
        found = oracle.diff(query.get("t1"), query.get("t2"), k1=query.get("k1"), k2=query.get("k2"))
        for side in ("opened", "closed"):
            if side in query:
                assert _triples(found[side]) == _triples(query[side]), query

    def _neighbours(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        options = {name: query[name] for name in ("hops", "direction", "predicates") if name in query}
        found = oracle.neighbours(query["s"], query.get("as_of"), query.get("known_at"), **options)
        assert keys(found) == keys(want), query

    def _paths(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        mode = query.get("mode") or ("snapshot" if "as_of" in query else "overlap")
        found = oracle.paths(query["a"], query["b"], query.get("as_of"), query.get("known_at"), mode=mode)
        assert [[shown_key(n) for n in names] for names, _, _ in found] == [[shown_key(n) for n in row] for row in want]
        if "intervals" in query:
            wanted = [(instant(a), instant(b)) for a, b in query["intervals"]]
            assert [_open(span) for _, span, _ in found] == wanted, query
        if "arrival" in query:
            assert [arrival for _, _, arrival in found] == [instant(t) for t in query["arrival"]], query

    def _match(self, oracle: Oracle, query: dict[str, Any], want: Any) -> None:
        found = oracle.match(query["patterns"], query.get("as_of"), query.get("known_at"))
        rows = [{**{n: shown_key(v) for n, v in row.items()}, "span": _open(span)} for row, span in found]
        wanted = [
            {
                **{n: shown_key(v) for n, v in row.items() if n.startswith("?")},
                "span": (instant(row["from"]), instant(row["to"])),
            }
            for row in want
        ]
        assert sorted(rows, key=repr) == sorted(wanted, key=repr), query


def _renamed(given: dict[str, Any]) -> dict[str, Any]:
    return {RENAMED.get(name, name): value for name, value in given.items()}


def _call(name: str) -> Callable[[OracleRun, Oracle, dict[str, Any]], Outcome]:
    """An operation whose parameters are the fields of the step."""

    def work(_: OracleRun, oracle: Oracle, given: dict[str, Any]) -> Outcome:
        outcome: Outcome = getattr(oracle, name)(**_renamed(given))
        return outcome

    return work


def _row_order(row: tuple[str, int | None, int | None]) -> tuple[int, int, str]:
    name, start, end = row
    return (NEG_INF if start is None else start, POS_INF if end is None else end, name)


def _triples(rows: Any) -> list[tuple[str, str, str]]:
    return sorted((shown_key(s), p, shown_key(o)) for s, p, o in rows)


def _open(span: tuple[int, int] | None) -> tuple[int | None, int | None]:
    assert span is not None
    return (None if span[0] == NEG_INF else span[0], None if span[1] == POS_INF else span[1])


_SAID = {"said", "source", "ref", "quals"}
_DATED = {"from", "to", "through"}
OPERATIONS: dict[str, tuple[set[str], Callable[[OracleRun, Oracle, dict[str, Any]], Outcome]]] = {
    "assert": (
        {"s", "p", "o", "kind", "pol", "conf", "because", "text", *_SAID, *_DATED},
        OracleRun._assert,
    ),
    "end": ({"s", "p", "o", "when", *_SAID}, _call("end")),
    "deny": ({"s", "p", "o", *_SAID, *_DATED}, _call("deny")),
    "correct": ({"s", "p", "old", "o", "as_of", *_SAID}, _call("correct")),
    "retract": ({"step"}, OracleRun._retract),
    "unretract": ({"step"}, OracleRun._unretract),
    "resolve": ({"s", "p", "choice", "o", "as_of", "quals"}, _call("resolve")),
    "merge": ({"src", "dst"}, _call("merge")),
    "unmerge": ({"src"}, _call("unmerge")),
    "alias": ({"name", "entity", "from", "to", "primary", "homonym"}, _call("alias")),
    "entity": ({"name", "label", "from", "to"}, _call("entity")),
    "predicate": (
        {
            *("name", "card", "range", "flags", "aliases", "one_by", "ttl_days", "window_s", "trust"),
            *("inverse_of", "opposite", "flip"),
            *("event", "symmetric", "irreflexive", "unique_object", "profile", "sensitive", "norefine", "exact"),
        },
        _call("predicate"),
    ),
    "forget": ({"step", "entity", "ref"}, OracleRun._forget),
    "remember": ({"text", "s", "p", "o", "from", "to", "said", "source", "ref"}, _call("remember")),
    "do_not_remember": ({"phrase", "entity", "predicate"}, _call("do_not_remember")),
}
_READ = {"as_of", "known_at"}
QUERIES: dict[str, tuple[set[str], Callable[[OracleRun, Oracle, dict[str, Any], Any], None]]] = {
    "outcome": ({"step", "want", "code", "closed", "widened"}, OracleRun._outcome),
    "values": ({"s", "p", "want", "possible", "conflict", "certain", *_READ}, OracleRun._values),
    "timeline": ({"s", "p", "want", "neg", "known_at"}, OracleRun._timeline),
    "conflicts": ({"want", "history", *_READ}, OracleRun._conflicts),
    "confidence": ({"s", "p", "o", "want", "min", "max", *_READ}, OracleRun._confidence),
    "entity": ({"name", "want", "as_of"}, OracleRun._entity),
    "same_key": ({"a", "b", "want"}, OracleRun._same_key),
    "diff": ({"t1", "t2", "k1", "k2", "opened", "closed"}, OracleRun._diff),
    "neighbours": ({"s", "want", "hops", "direction", "predicates", *_READ}, OracleRun._neighbours),
    "paths": ({"a", "b", "want", "mode", "intervals", "arrival", *_READ}, OracleRun._paths),
    "match": ({"patterns", "want", *_READ}, OracleRun._match),
}
