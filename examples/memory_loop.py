"""Memory in the loop of a chat: what is known goes into the prompt, the model calls tools, what was said is kept.

The model is a stub that answers by rules, so that this runs without a network. For a real one, give its client the same
messages and tools: `client.chat.completions.create(model=…, messages=messages, tools=box.schemas())`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import semgraph
from semgraph.extras.tools import Toolbox

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
EPISODES = {
    "2025-03-01": ("I live in Oslo. Kari works at Stripe.", "I think it might rain tomorrow."),
    "2026-11-30": ("Kari joined Linear last month.", "I moved to Bergen in June."),
    "2026-12-01": ("Where does Kari work now?",),
}


def model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """What a model might answer: it looks up a name that it does not know, and tells what the tool said."""
    last = messages[-1]
    if last["role"] == "tool":
        found = next((line for line in last["content"].splitlines() if "Linear" in line), "nothing about that")
        return {"role": "assistant", "content": f"From memory: {found.strip()}"}
    names = {tool["function"]["name"] for tool in tools}
    if "Where does Kari work" in last["content"] and "about" in names:
        call = {"name": "about", "arguments": json.dumps({"entity": "Kari"})}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
    return {"role": "assistant", "content": "I'll keep that in mind."}


def turn(kg: semgraph.KnowledgeGraph, box: Toolbox, said: str) -> str:
    """The answer to one message, with what is known in front of it."""
    known = kg.render(kg.recall(said))
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"{kg.profile()}\n{known}"},
        {"role": "user", "content": said},
    ]
    while True:
        answer = model(messages, box.schemas())
        messages.append(answer)
        if not answer.get("tool_calls"):
            return str(answer["content"])
        messages += box.answers(answer["tool_calls"])


def main() -> None:
    with semgraph.KnowledgeGraph(clock=lambda: NOW, embedder=None) as kg:
        box = Toolbox(kg, only=["recall", "about", "timeline"], writing=False)
        for day, talk in EPISODES.items():
            for said in talk:
                print(f"{day} user: {said}")
                print(f"{day} assistant: {turn(kg, box, said)}")
            # At the end of the episode, not at each turn: what the user said is kept, through the gate.
            for number, said in enumerate(talk, 1):
                for receipt in kg.remember(said, said_at=day, source_ref=f"{day}#{number}"):
                    claim = receipt.claim
                    kept = f"{claim.subject} {claim.predicate} {claim.object}" if claim else receipt.code
                    print(f"  turn {number}, {receipt.outcome}: {kept}")


if __name__ == "__main__":
    main()
