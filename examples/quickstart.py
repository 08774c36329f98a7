"""Where a service runs, over time: updates, a look back, a correction and a conflict, in one file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import semgraph


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, semgraph.KnowledgeGraph(Path(folder) / "services.db") as kg:
        kg.predicates.define("runs_on", cardinality="one")
        kg.add("checkout", "runs_on", "Heroku", valid_from="2021-05", source_ref="wiki:12")
        moved = kg.add("checkout", "runs_on", "Fly.io", valid_from="2024-02-10", source_ref="incident:881")
        print("told", moved.outcome, "ends", ", ".join(fact.object.label for fact in moved.closed))

        print("now:", kg.value("checkout", "runs_on"))
        print("in 2022:", kg.at("2022").value("checkout", "runs_on"))

        kg.correct("checkout", "runs_on", "Fly.io", "Railway")
        print("corrected:", kg.value("checkout", "runs_on"))
        print("believed before:", kg.at(known_at=moved.recorded_at).value("checkout", "runs_on"))

        kg.add("checkout", "owned_by", "Payments", valid_from="2024-06")
        disputed = kg.add("checkout", "owned_by", "Platform", valid_from="2024-06", source="tool:catalogue")
        print("told", disputed.outcome)
        for conflict in kg.conflicts():
            print("contradict:", *sorted(fact.object.label for fact in conflict.facts))
        kg.settle("checkout", "owned_by", "choose", "Payments")
        print("settled:", kg.value("checkout", "owned_by"))


if __name__ == "__main__":
    main()
