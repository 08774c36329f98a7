"""Random lives of a scope: a few names and predicates, so that what is told meets what was told, and made small."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from test_state_machine import DATES, GROUPS, NAMES, OBJECTS, PAUSES, SAID, SOURCES, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: A rule of the state machine, and what it is called with.
Step = tuple[str, dict[str, Any]]

_TELLING = (
    "add", "set", "atomic", "derive", "end", "end", "deny", "correct", "retract", "unretract", "settle", "settle",
    "settle_what_is_open", "add_all", "add_all", "remember",
)  # fmt: skip
_AROUND = (
    "merge", "unmerge", "alias", "declare", "define", "forget_claims", "forget_entity", "forget_source",
    "forget_everything", "roll_back", "veto",
)  # fmt: skip
_TEXTS = ("{s} has told us of {o} in a letter", "I think {s} maybe knows {o}", "hm")
_VETOES = ({"phrase": "Initech"}, {"entity": "Globex"}, {"predicate": "visited"})
_OPTIONAL = ("ref", "quals", "said", "to", "through", "from", "pol")


class Life:
    """One life, drawn from its seed: the group of predicates that it may use, and its steps."""

    def __init__(self, seed: int, longest: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311  # repeatable
        draw = self._draw
        self.group = draw.choice(GROUPS)
        self._predicates = [draw.randrange(3) for _ in range(draw.choice((1, 1, 2, 3)))]
        self._subjects = draw.sample(SUBJECTS, draw.choice((1, 2, 2, 3)))
        self._objects = draw.sample(OBJECTS, draw.choice((1, 2, 2, 3)))
        if draw.random() < 0.2:
            self._objects = sorted({*self._objects, *self._subjects})
        self._names = [name for name in NAMES[:7] if name in {*self._subjects, *self._objects}]
        every = sorted({*_TELLING, *_AROUND})
        some = draw.sample(every, draw.choice((3, 5, 8, 20)))
        rules = ["add"] * 5 + [rule for rule in (*_TELLING, *_AROUND) if rule in some]
        drawn = [draw.choice(rules) for _ in range(draw.randint(4, longest))]
        self.steps = [(rule, {**self._given(rule), "pause": draw.choice(PAUSES)}) for rule in drawn]

    def _given(self, rule: str) -> dict[str, Any]:
        draw = self._draw
        predicate = {"p": draw.choice(self._predicates)}
        ends = {"s": draw.choice(self._subjects), "o": draw.choice(self._objects)}
        when = draw.choice((None, *DATES))
        match rule:
            case "add" | "set" | "atomic":
                return {"given": self._words(), **predicate}
            case "roll_back":
                return {"given": self._words(), **predicate, "name": draw.choice(NAMES)}
            case "derive":
                return {"given": self._words(), **predicate, "start": draw.choice(DATES), "which": draw.randrange(12)}
            case "end":
                told = self._told()
                return {**ends, "o": draw.choice((None, *self._objects)), **predicate, "when": when, "told": told}
            case "deny":
                stop = draw.choice((None, *DATES))
                return {**ends, **predicate, "start": when, "stop": stop, "told": self._told()}
            case "correct":
                source, old = draw.choice(("user", "tool:x")), draw.choice(self._objects)
                return {**ends, "old": old, **predicate, "when": when, "source": source}
            case "settle":
                choice = draw.choice(("choose", "choose", "keep_both", "both_wrong"))
                return {**ends, **predicate, "choice": choice, "when": when}
            case "add_all":
                items = [(self._words(), draw.choice(self._predicates)) for _ in range(draw.randint(2, 4))]
                return {"items": items, "replaces": draw.choice((None, None, "d1", "d2"))}
            case "remember":
                return {"text": draw.choice(_TEXTS), **ends, **predicate, "told": self._told()}
            case _:
                return self._around(rule)

    def _around(self, rule: str) -> dict[str, Any]:
        draw = self._draw
        near = self._names if len(self._names) > 1 else list(NAMES[:3])
        match rule:
            case "merge":
                return {"pair": draw.sample(near, 2)}
            case "alias":
                homonym = draw.random() < 0.5
                return {"name": draw.choice(("Annie", "Robert")), "entity": draw.choice(near), "homonym": homonym}
            case "declare":
                return {"name": draw.choice(NAMES[3:7])}
            case "define":
                return {"p": draw.choice(self._predicates), "card": draw.choice(("one", "many"))}
            case "forget_entity":
                return {"name": draw.choice(NAMES)}
            case "forget_source":
                return {"ref": draw.choice(("d1", "d2"))}
            case "forget_everything":
                return {"chance": draw.randrange(6)}
            case "retract" | "unretract" | "forget_claims" | "unmerge":
                return {"which": draw.randrange(12)}
            case "veto":
                return {"veto": draw.choice(_VETOES)}
            case _:
                return {}

    def _told(self) -> dict[str, Any]:
        draw = self._draw
        told: dict[str, Any] = {"source": draw.choice(SOURCES)}
        if draw.random() < 0.4:
            told["said"] = draw.choice(SAID)
        if draw.random() < 0.2:
            told["ref"] = draw.choice(("d1", "d2"))
        if draw.random() < 0.3:
            told["quals"] = {"topic": draw.choice("ab")}
        return told

    def _words(self) -> dict[str, Any]:
        draw = self._draw
        words = self._told() | {"s": draw.choice(self._subjects)}
        others = [o for o in self._objects if o != words["s"]] or [o for o in OBJECTS if o != words["s"]]
        words |= {"o": draw.choice(others), "kind": draw.choice(("state", "state", "state", "change", "also"))}
        if draw.random() < 0.5:
            words["from"] = draw.choice((*DATES, "unknown"))
        if draw.random() < 0.3:
            words[draw.choice(("to", "to", "through"))] = draw.choice((*DATES, "unknown"))
        if draw.random() < 0.15:
            words["pol"] = "-"
        return words


def smaller(steps: list[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Steps that fail still: none can be left out, and nothing of what most of them say."""
    for place in reversed(range(len(steps))):
        left = steps[:place] + steps[place + 1 :]
        if fails(left):
            steps = left
    place = 0
    while place < len(steps):
        tries = ([*steps[:place], step, *steps[place + 1 :]] for step in _plainer(*steps[place]))
        found = next((tried for tried in tries if fails(tried)), None)
        place, steps = (place + 1, steps) if found is None else (place, found)
    return steps


def _plainer(rule: str, given: dict[str, Any]) -> Iterator[Step]:
    """The step with one thing less."""
    for key in {"given", "told"} & given.keys():
        yield from ((rule, {**given, key: words}) for words in _less(given[key]))
    items = given.get("items", ())
    for place, (words, predicate) in enumerate(items):
        before, after = items[:place], items[place + 1 :]
        if len(items) > 1:
            yield rule, {**given, "items": before + after}
        yield from ((rule, {**given, "items": [*before, (less, predicate), *after]}) for less in _less(words))
    for key in {"when", "start", "stop", "replaces"} & given.keys():
        if given[key] is not None and rule != "derive":
            yield rule, {**given, key: None}
    if given["pause"] != 1:
        yield rule, {**given, "pause": 1}


def _less(words: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from ({k: v for k, v in words.items() if k != key} for key in _OPTIONAL if key in words)
    for key, plain in (("source", "user"), ("kind", "state")):
        if words.get(key, plain) != plain:
            yield {**words, key: plain}
