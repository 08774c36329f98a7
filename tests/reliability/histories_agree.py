"""F2: the engine and the naive reference model live through the same random histories and answer alike."""

from __future__ import annotations

import os
from collections import deque
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from case_files import shown_key
from case_runner import _label as label_of
from case_runner import _shown as shown_object
from case_runner import _span as span_of
from oracle_cases import _open as open_span
from test_state_machine import NAMES, SYMMETRIC, EngineAndModel

from semgraph.temporal import NEG_INF

from . import breaks
from .children import Child, begun
from .lives import Life, Step, smaller
from .registry import Trial, check

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Operations in a history, at most; histories of a part; and how many of these are lived through side by side.
LONGEST, _PART, _AT_ONCE = 14, 100, os.cpu_count() or 1
DATES = ("2012-01-01", "2018-03-01", "2021-06-01", "2024-01-15")
_COMPARED = (
    "stored_rows_follow_from_claims", "both_know_the_same_names", "timelines_agree", "values_agree", "conflicts_agree",
)  # fmt: skip


class History(EngineAndModel):
    """A history that is compared when it is over, in every way: what the machine of the tests asks, and the walks."""

    def compare(self) -> None:
        """Timelines, names, values, conflict sets, differences, neighbours, paths and patterns."""
        for name in _COMPARED:
            getattr(EngineAndModel, name)(self)
        for date, later in pairwise(DATES):
            self._same("diff", lambda o: self._model_diff(o, date, later), lambda kg: _diff(kg, date, later))  # noqa: B023
        for number, date in enumerate(DATES):
            one, other = NAMES[number % 3], NAMES[(number + 1) % 5]
            asked = (one, other, date)
            self._same("neighbours", lambda o: _near(o, *asked), lambda kg: _neighbors(kg, *asked))  # noqa: B023
            self._same("paths", lambda o: _ways(o, *asked), lambda kg: _paths(kg, *asked))  # noqa: B023
        for predicate in self.predicates:
            for patterns in (
                [["?who", predicate, "?what"]],
                [["?who", predicate, "?what"], ["?what", "works_at", "?at"]],
            ):
                self._same("match", lambda o: _rows(o, patterns), lambda kg: _match(kg, patterns))  # noqa: B023

    def _same(self, what: str, wanted: Any, found: Any) -> None:
        left = self._asked(lambda: wanted(self.model.oracle))
        right = self._asked(lambda: found(self.engine.graph))
        assert left == right, (what, left, right, self.steps)

    def _model_diff(self, oracle: Any, date: str, later: str) -> Any:
        found = oracle.diff(date, later)
        return [sorted(_edge(*edge) for edge in found[side]) for side in ("opened", "closed")]


for _name in _COMPARED:  # as plain methods they are no invariants any more, which would be looked at after each step
    setattr(History, _name, lambda _: None)


def _diff(kg: Any, date: str, later: str) -> Any:
    found = kg.at(date).diff(kg.at(later))
    rows = [[(f.subject.label, f.predicate, shown_object(f)) for f in side] for side in (found.opened, found.closed)]
    return [sorted(_edge(*edge) for edge in side) for side in rows]


def _edge(subject: str, predicate: str, object: str) -> tuple[str, str, str]:
    """An edge; a symmetric one, which either end may have told first, from the same end always."""
    ends = [shown_key(subject), shown_key(object)]
    if predicate in SYMMETRIC:
        ends.sort()
    return ends[0], predicate, ends[1]


def _near(oracle: Any, one: str, _: str, date: str) -> Any:
    return sorted(map(shown_key, oracle.neighbours(one, date, hops=2, direction="any")))


def _neighbors(kg: Any, one: str, _: str, date: str) -> Any:
    return sorted(shown_key(n.entity.label) for n in kg.at(date).neighbors(one, hops=2, direction="any"))


def _ways(oracle: Any, one: str, other: str, date: str) -> Any:
    ways = [tuple(map(shown_key, names)) for names, *_ in oracle.paths(one, other, date, mode="snapshot")]
    return _in_order(list(way) for way in dict.fromkeys(ways))  # the model tells parallel facts apart


def _paths(kg: Any, one: str, other: str, date: str) -> Any:
    return _in_order([shown_key(e.label) for e in path.entities] for path in kg.at(date).paths(one, other))


def _in_order(ways: Iterable[list[str]]) -> list[list[str]]:
    """By names: the engine has paths of one length in the order of how sure they are."""
    return sorted(ways, key=lambda way: (len(way), way))


def _rows(oracle: Any, patterns: Any) -> Any:
    rows = oracle.match(patterns)
    return sorted(((_bound(row), open_span(span)) for row, span in rows), key=repr)


def _match(kg: Any, patterns: Any) -> Any:
    rows = kg.during().match(*map(tuple, patterns))
    return sorted(((_bound({n: label_of(v) for n, v in row.items()}), _span(row.interval)) for row in rows), key=repr)


def _span(interval: Any) -> tuple[int | None, int | None]:
    start, end = span_of(interval)
    return (None if start == NEG_INF else start, end)


def _bound(row: dict[str, str]) -> list[tuple[str, str]]:
    return sorted((name.removeprefix("?"), shown_key(value)) for name, value in row.items())


@check(
    "F2",
    "differential histories",
    "0 differences from the reference model",
    c=200,
    n=20_000,
    broken=breaks.ends_of_claims,
)
def differential(trial: Trial) -> str:
    """0 histories after which engine and model differ; a difference is made small and printed with its steps.

    Each is drawn from a seed of its own. Parts of them are lived in processes of their own, as many as there are
    processors.
    """
    parts = [(trial.seed + first, min(_PART, trial.size - first)) for first in range(0, trial.size, _PART)]
    running: deque[Child] = deque()
    lived = 0
    for seed, size in trial.along(parts, len(parts)):
        running.append(begun(partial(_lived, seed, size)))
        if len(running) == _AT_ONCE:
            lived += running.popleft().answer()
    lived += sum(child.answer() for child in running)
    return f"{lived} histories of up to {LONGEST} operations, 0 differences"


def _lived(first: int, size: int) -> int:
    """How many histories, of the seeds from this one on, were lived through with no difference."""
    for seed in range(first, first + size):
        life = Life(seed, LONGEST)
        if _difference(life.group, life.steps) is not None:
            steps = smaller(life.steps, lambda steps: _difference(life.group, steps) is not None)  # noqa: B023
            told = "\n".join(map(str, steps))
            raise AssertionError(f"the history of the seed {seed}, of {life.group}:\n{told}") from _difference(
                life.group, steps
            )
    return size


def _difference(group: tuple[str, ...], steps: list[Step]) -> Exception | None:
    """What engine and model differ in after these steps; anything else that goes wrong counts too."""
    history = History()
    history.begin(group)
    try:
        for rule, given in steps:
            if _possible(history, rule, given):
                getattr(EngineAndModel, rule)(history, **deepcopy(given))
        history.compare()
    except Exception as error:  # noqa: BLE001  # the check is whether there is any
        return error
    finally:
        history.engine.graph.close()
    return None


def _possible(history: History, rule: str, given: dict[str, Any]) -> bool:
    """Whether there is something for the rule to act on, as the preconditions of the state machine have it."""
    if "given" in given and given["given"]["s"] == given["given"]["o"]:
        return False
    if rule in ("unretract", "unmerge"):
        return any(step["op"] == rule.removeprefix("un") for step in history.steps)
    if rule in ("retract", "forget_claims"):
        return bool(history._with_claims())
    if rule == "derive":
        return bool(history._premises())
    return rule != "settle_what_is_open" or bool(history._disputes())
