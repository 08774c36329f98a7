"""A graph of LangGraph with a memory that keeps history: each user's namespace is a scope, each put a change.

It needs the extra: `pip install 'semgraph[langgraph]'`.
"""

from __future__ import annotations

from typing import TypedDict

from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph

import semgraph
from semgraph.extras.langgraph import GraphStore


class Talk(TypedDict):
    """What goes through the nodes."""

    user: str
    said: str
    answer: str


def remember(state: Talk) -> dict[str, str]:
    """Keep where somebody lives, and answer with what is known."""
    store = get_store()
    namespace = ("users", state["user"])
    if "moved to" in state["said"]:
        store.put(namespace, "home", {"city": state["said"].rpartition(" ")[2].rstrip(".")})
    home = store.get(namespace, "home")
    return {"answer": "I don't know" if home is None else f"{home.value['city']}"}


def main() -> None:
    with semgraph.KnowledgeGraph(embedder=None) as kg:
        store = GraphStore(kg)
        builder = StateGraph(Talk)
        builder.add_node("remember", remember)
        builder.add_edge(START, "remember")
        builder.add_edge("remember", END)
        agent = builder.compile(store=store)
        for user, said in (("ann", "I moved to Oslo."), ("ann", "I moved to Bergen."), ("bo", "Where do I live?")):
            print(f"{user}: {said} -> {agent.invoke({'user': user, 'said': said, 'answer': ''})['answer']}")
        print("found:", [item.value for item in store.search(("users",), query="Bergen", limit=1)])
        past = kg.scoped(store.scope_of(("users", "ann"))).timeline("home")
        print("before:", [fact.object.label for fact in past if fact.valid_to is not None])


if __name__ == "__main__":
    main()
