"""A list that is filled when its items are wanted is the list that it stands for, whatever looks at it first."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from semgraph import KnowledgeGraph
from semgraph.collecting import uncollected
from semgraph.found import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = [3, 1, 2]


def waiting(*, truncated: bool = False) -> Bounded[int]:
    return Bounded.later(lambda: iter(ITEMS), len(ITEMS), truncated=truncated)


READS: dict[str, Callable[[list[int]], Any]] = {
    "length": len,
    "truth": bool,
    "item": lambda found: found[1],
    "slice": lambda found: found[1:],
    "last": lambda found: found[-1],
    "iteration": lambda found: [each for each in found],  # noqa: C416 - iterates by itself
    "list": list,
    "tuple": tuple,
    "set": set,
    "unpacked": lambda found: [0, *found],
    "reversed": lambda found: list(reversed(found)),
    "sorted": sorted,
    "equal": lambda found: (found == ITEMS, ITEMS == found, found != ITEMS),  # noqa: SIM300 - from both sides
    "less": lambda found: (found < [4], [4] > found, found <= [4], found > [4], found >= [4]),  # noqa: SIM300
    "plus": lambda found: found + [4],  # noqa: RUF005
    "plus after": lambda found: [4] + found,  # noqa: RUF005
    "sum": lambda found: sum([found], []),  # noqa: RUF017
    "times": lambda found: (found * 2, 2 * found),
    "contains": lambda found: 1 in found,
    "count": lambda found: found.count(1),
    "index": lambda found: found.index(2),
    "text": repr,
    "json": json.dumps,
    "json, indented": lambda found: json.dumps(found, indent=1),
    "pickle": lambda found: list(pickle.loads(pickle.dumps(found))),  # noqa: S301 - its own
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "own copy": lambda found: found.copy(),
    "array": lambda found: np.asarray(found).tolist(),
    "joined": lambda found: ",".join(map(str, found)),
    "extends": lambda found: _with([9], lambda into: into.extend(found)),
    "into a slice": lambda found: _with([9, 9], lambda into: into.__setitem__(slice(0, 1), found)),
    "extended by": lambda found: _with([9], lambda into: into.__iadd__(found)),
    "append": lambda found: _with(found, lambda into: into.append(4)),
    "pop": lambda found: _with(found, lambda into: into.pop()),
    "insert": lambda found: _with(found, lambda into: into.insert(0, 4)),
    "remove": lambda found: _with(found, lambda into: into.remove(1)),
    "reverse": lambda found: _with(found, lambda into: into.reverse()),
    "sort": lambda found: _with(found, lambda into: into.sort()),
    "clear": lambda found: _with(found, lambda into: into.clear()),
    "delete": lambda found: _with(found, lambda into: into.__delitem__(0)),
    "replace": lambda found: _with(found, lambda into: into.__setitem__(0, 7)),
    "grow": lambda found: _with(found, lambda into: into.__iadd__([7])),
    "repeat": lambda found: _with(found, lambda into: into.__imul__(2)),
}


def _with(into: list[int], change: Callable[[list[int]], object]) -> list[int]:
    change(into)
    return list(into)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reads_as_the_list_it_stands_for(read: Callable[[list[int]], Any]) -> None:
    assert read(waiting()) == read(Bounded(ITEMS))
    assert read(waiting()) == read(list(ITEMS))


def test_is_made_once_and_not_for_its_length() -> None:
    made: list[int] = []
    found = Bounded.later(lambda: made.append(1) or ITEMS, 3, truncated=True)  # type: ignore[func-returns-value]
    assert len(found) == 3
    assert found.truncated
    assert not made
    assert [list(found), list(found)] == [ITEMS, ITEMS]
    assert made == [1]


def test_threads_that_look_at_once_see_all_of_it() -> None:
    found, seen = Bounded.later(lambda: list(range(5_000)), 5_000, truncated=False), list[list[int]]()
    threads = [threading.Thread(target=lambda: seen.append(list(found))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert seen == [list(range(5_000))] * 8


def test_a_copy_keeps_whether_it_is_all() -> None:
    for copied in (copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))):  # noqa: S301
        found = copied(waiting(truncated=True))
        assert (found, found.truncated) == (ITEMS, True)


def test_neighbours_are_told_as_they_were_when_found() -> None:
    with KnowledgeGraph() as kg:
        kg.add_all({"subject": "hub", "predicate": "knows", "object": f"n{at}"} for at in range(700))
        expected = [str(each) for each in kg.neighbors("hub")]
        for _ in range(40):
            kg.neighbors("hub")
        found, some = kg.neighbors("hub"), kg.neighbors("hub", limit=5)
        kg.names.alias("renamed", "n1", primary=True)
        kg.add("hub", "knows", "a newcomer")
        assert (len(found), len(some), some.truncated) == (700, 5, True)
        assert [str(each) for each in found] == expected
        assert [str(each) for each in some] == expected[:5]
        assert len(kg.neighbors("hub")) == 701


def test_a_great_read_leaves_the_garbage_collector_as_it_was() -> None:
    kept: list[list[int]] = [[] for _ in range(60_000)]  # as many objects as a read of thousands of facts makes
    before = gc.get_freeze_count()  # Python 3.12 starts with some
    with uncollected():
        assert not gc.isenabled()
        kept += [[] for _ in range(60_000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() == before
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with uncollected():
            kept += [[] for _ in range(60_000)]
        assert gc.get_freeze_count() == frozen  # what somebody else has set apart stays so
    finally:
        gc.unfreeze()
