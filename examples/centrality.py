"""Who stands in the middle of a company before and after a reorganisation, and which edges made the difference."""

from __future__ import annotations

import networkx as nx

import semgraph

TOLD = [
    ("Priya", "reports_to", "Maya", "2019-03", None),
    ("Jon", "reports_to", "Maya", "2019-06", "2024-02"),
    ("Dave", "reports_to", "Maya", "2020-01", "2024-02"),
    ("Jon", "reports_to", "Priya", "2024-02", None),
    ("Dave", "reports_to", "Priya", "2024-02", None),
    ("Zoe", "reports_to", "Priya", "2024-05", None),
    ("payments", "owned_by", "Jon", "2021", None),
    ("ledger", "owned_by", "Dave", "2021", None),
]


def main() -> None:
    with semgraph.KnowledgeGraph() as kg:
        for subject, predicate, thing, start, end in TOLD:
            kg.add(subject, predicate, thing, valid_from=start, valid_to=end)

        before, after = (kg.at(date).to_networkx() for date in ("2023", "2025"))
        for year, graph in (("2023", before), ("2025", after)):
            central = nx.betweenness_centrality(nx.Graph(graph))
            ranked = sorted(central.items(), key=lambda pair: (-pair[1], pair[0]))
            print(year, ", ".join(f"{name} {score:.2f}" for name, score in ranked[:3]))

        old, new = set(before.edges(keys=True)), set(after.edges(keys=True))
        for mark, edges in (("-", old - new), ("+", new - old)):
            for near, far, predicate in sorted(edges):
                print(mark, near, predicate, far)

        # The same difference by semgraph itself, which knows what belongs together.
        for was, now in kg.at("2023").diff(kg.at("2025")).changed:
            print("changed:", was.label, "->", now.object.label)

        # And a graph made elsewhere, taken in.
        roads = nx.Graph()
        roads.add_edge("Oslo", "Bergen", predicate="road_to", valid_from="1984", km=463)
        print(dict(kg.load_networkx(roads).predicates), [found.entity.label for found in kg.neighbors("Oslo")])


if __name__ == "__main__":
    main()
