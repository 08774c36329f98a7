"""Every operation that writes, on a store that has something for it to work on."""

from __future__ import annotations

import io
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import semgraph

from .deeds import REFUSED, do, opened, state

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph import KnowledgeGraph

    Operation = Callable[[KnowledgeGraph, Path], Any]

_MADE: Final = 40  # deeds before the operation


def base(path: Path, seed: int) -> None:
    """A closed store with a scope of random deeds, and what the operations below name."""
    kg = opened(path)
    for number in range(_MADE):
        do(kg, seed, number)
    kg._session.clock.number = _MADE
    for vetoed in list(kg.vetoes):
        kg.vetoes.lift(**{vetoed.kind: vetoed.value})
    kg.add("Zoe", "works_at", "Initrode", valid_from="2019", source_ref="letter:7", text="Zoe went to Initrode")
    kg.add("Zoe", "works_at", "Umbrella", valid_from="2019", source="tool:crm")
    kg.add("Zoe", "likes", "jazz", valid_from="2020")
    kg.add("Zed", "likes", "blues", valid_from="2020")
    kg.names.alias("Zo", "Zoe")
    kg.retract(kg.add("Zed", "uses", "a lathe", source_ref="letter:8"))
    kg.names.declare("Zoe Zed")
    kg.names.merge("Zed", "Zoe Zed")
    kg.veto(phrase="Project Bluebird")
    kg.close()


def _claim(kg: KnowledgeGraph, source_ref: str = "letter:7") -> str:
    return next(claim.id for claim in kg.claims(source_ref=source_ref, retracted=True))


def _refused(kg: KnowledgeGraph, _folder: Path) -> None:
    with suppress(*REFUSED):
        kg.add("Zoe", "likes", "Project Bluebird")


def _atomic(kg: KnowledgeGraph, _folder: Path) -> None:
    with kg.atomic():
        kg.add("Zoe", "works_at", "Hooli", valid_from="2022")
        kg.names.merge("Ann", "Zoe")
        kg.end("Zoe", "works_at", "Hooli", at="2023")


def _batch(kg: KnowledgeGraph, _folder: Path) -> None:
    claims = [
        {"subject": "Zoe", "predicate": "visited", "object": f"town {n}", "valid_from": "2021"} for n in range(12)
    ]
    kg.add_all([*claims, {"subject": "Zoe", "predicate": "works_at", "object": "Hooli"}], replaces="letter:7")


def _restore(kg: KnowledgeGraph, _folder: Path) -> None:
    semgraph.read(kg.scoped("restored"), io.BytesIO(_exported(kg)), format="jsonl")


def _import(kg: KnowledgeGraph, _folder: Path) -> None:
    told = b'{"subject": "Zoe", "predicate": "likes", "object": "rain"}\n'
    told += b'{"subject": "Yan", "predicate": "likes", "object": "Zoe"}\n'
    semgraph.read(kg, io.BytesIO(told), format="jsonl", source="imported:notes")


def _exported(kg: KnowledgeGraph) -> bytes:
    buffer = io.BytesIO()
    semgraph.write(kg, buffer, format="jsonl")
    return buffer.getvalue()


OPERATIONS: Final[dict[str, Operation]] = {
    "add": lambda kg, _: kg.add("Yan", "likes", "tea", valid_from="2021", because=[_claim(kg)]),
    "contradict": lambda kg, _: kg.add("Zoe", "works_at", "Hooli", valid_from="2019", source="imported:cv"),
    "set": lambda kg, _: kg.set("Zoe", "works_at", "Hooli", valid_from="2023"),
    "add_all": _batch,
    "atomic": _atomic,
    "remember": lambda kg, _: kg.remember("Zoe lives in Leeds since 2020.", source="user"),
    "refuse": _refused,
    "refuse a text": lambda kg, _: kg.remember("It might rain."),
    "end": lambda kg, _: kg.end("Zoe", "likes", at="2023"),
    "deny": lambda kg, _: kg.deny("Zoe", "likes", "jazz"),
    "correct": lambda kg, _: kg.correct("Zoe", "likes", "jazz", "ska"),
    "retract": lambda kg, _: kg.retract(_claim(kg), reason="a slip"),
    "unretract": lambda kg, _: kg.unretract(_claim(kg, "letter:8")),
    "settle": lambda kg, _: kg.settle("Zoe", "works_at", "choose", "Initrode", valid_at="2021"),
    "keep_both": lambda kg, _: kg.settle("Zoe", "works_at", "keep_both", valid_at="2021"),
    "declare": lambda kg, _: kg.names.declare("jazz", label="Jazz"),
    "alias": lambda kg, _: kg.names.alias("Zozo", "Zoe", valid_from="2020"),
    "unalias": lambda kg, _: kg.names.unalias("Zo", "Zoe"),
    "merge": lambda kg, _: kg.names.merge("Bo", "Zoe"),
    "unmerge": lambda kg, _: kg.names.unmerge("Zed"),
    "keep_apart": lambda kg, _: kg.names.keep_apart("Zoe", "Cy"),
    "define": lambda kg, _: kg.predicates.define("likes", cardinality="one"),
    "veto": lambda kg, _: kg.veto(phrase="Initrode"),
    "lift": lambda kg, _: kg.vetoes.lift(phrase="project bluebird"),
    "forget claim": lambda kg, _: kg.forget(claim=_claim(kg)),
    "forget entity": lambda kg, folder: kg.forget(entity="Zoe", export_to=folder / "zoe.jsonl"),
    "forget everything": lambda kg, _: kg.forget(everything=True),
    "restore": _restore,
    "import": _import,
    "export": lambda kg, folder: semgraph.write(kg, folder / "all.jsonl"),
    "export a view": lambda kg, folder: semgraph.write(kg, folder / "all.graphml"),
    "backup": lambda kg, folder: kg.backup(folder / "copy.db"),
}


def outside(folder: Path) -> dict[str, bytes]:
    """The files that an operation is to make, and how it left them; half-made ones have other names."""
    names = ("zoe.jsonl", "all.jsonl", "all.graphml", "copy.db")
    return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


def prepared(folder: Path, base: Path, number: int) -> Path:
    """A copy of the base store in an empty folder of its own."""
    place = folder / f"try{number}"
    place.mkdir()
    return Path(shutil.copy(base, place / "store.db"))


def begun(path: Path) -> KnowledgeGraph:
    """The store opened, at the moment of the operation."""
    kg = opened(path)
    kg._session.clock.number = _MADE + 100
    return kg


def strays(folder: Path) -> list[str]:
    """Half-made files that were left behind."""
    return sorted(place.name for place in folder.iterdir() if ".tmp" in place.name)


def everything(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """The state of every scope."""
    return {row.name: state(kg.scoped(row.name)) for row in kg._session.store.scopes()}
