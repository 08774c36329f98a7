"""The worked cases as data: which files they are read from, and the orders in which their steps may arrive."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from semgraph.names import entity_key
from semgraph.temporal import Instant, parse_bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Step = dict[str, Any]
Query = dict[str, Any]

VARIABLE = "SEMGRAPH_CASES"
OWN = Path(__file__).with_name("cases.yaml")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CASE_KEYS = {"name", "note", "steps", "expect", "permute", "model", "timezone", "config"}
NO_MODEL = {"none", "skip"}


@dataclass(frozen=True, slots=True)
class Case:
    """One worked case."""

    name: str
    steps: list[Step]
    expect: list[Query]
    permute: bool = False
    model: str = ""
    timezone: str | None = None
    config: dict[str, Any] = field(default_factory=dict)

    def orders(self) -> Iterator[tuple[list[Step], list[Query]]]:
        """The steps in every order that must give the same, each with the queries that still make sense."""
        yield self.steps, self.expect
        if not self.permute:
            return
        lasting = [query for query in self.expect if query["q"] != "outcome"]
        for order in permutations(range(len(self.steps))):
            if order != tuple(range(len(self.steps))):
                yield self._reordered(order), lasting

    def _reordered(self, order: tuple[int, ...]) -> list[Step]:
        """The `at` values stay in their places; numbers of steps follow the steps that they mean.

        Nothing is told before it was said (that would be refused as clock_skew): the clock waits for `said`.
        """
        place = {old + 1: new + 1 for new, old in enumerate(order)}
        out: list[Step] = []
        for new, old in enumerate(order):
            moments = [self.steps[new]["at"], *([self.steps[old]["said"]] if "said" in self.steps[old] else [])]
            moments += [out[-1]["at"]] if out else []
            step = {**self.steps[old], "at": max(moments, key=lambda text: instant(text) or 0)}
            if "step" in step:
                step["step"] = place[step["step"]]
            if "because" in step:
                step["because"] = [[place[n] for n in premises] for premises in step["because"]]
            out.append(step)
        return out


def case_files() -> list[Path]:
    """The files named in SEMGRAPH_CASES, by default the project's own copy."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return named or [OWN]


def load_cases(files: list[Path] | None = None) -> list[Case]:
    """Every case of the files; an unknown key of a case is an error, since it would be a rule that nobody checks."""
    cases = []
    for path in case_files() if files is None else files:
        loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)  # noqa: S506 - a safe loader, in C where there is one
        for given in loaded["cases"]:
            unknown = set(given) - CASE_KEYS
            if unknown:
                raise ValueError(f"{path.name}, case {given.get('name')}: unknown {sorted(unknown)}")
            cases.append(
                Case(
                    given["name"],
                    given["steps"],
                    given.get("expect", []),
                    bool(given.get("permute")),
                    str(given.get("model", "")),
                    given.get("timezone"),
                    given.get("config") or {},
                )
            )
    return cases


def take(given: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    """The fields of a step or query but for its kind; an unknown one fails the case."""
    extra = set(given) - known - {"op", "q", "at", "scope", "model", "note"}
    assert not extra, f"unknown {sorted(extra)} in {given}"
    return {name: value for name, value in given.items() if name in known}


def shown_key(name: object) -> str:
    """What object names are compared by: the canonical key, the sign in front of it kept."""
    text = str(name)
    if text == "NONE":
        return text
    sign = "¬" if text.startswith("¬") else ""
    text = text.removeprefix("¬")
    return sign + (text.casefold() if len(text) > 512 else entity_key(text))


def keys(names: Any) -> list[str]:
    return sorted(shown_key(name) for name in names)


def instant(value: Any) -> Instant | None:
    """The first instant of a wanted time; null is an open end."""
    bound = None if value is None else parse_bound(value)
    return None if bound is None else bound.instant
