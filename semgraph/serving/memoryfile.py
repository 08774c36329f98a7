"""`memory.jsonl` as several processes may share it, with the history of all that it ever held in a graph beside it.

The file is what holds now, for everybody who reads it; the graph is what held before, and when it was told. One write
transaction of the graph spans each change of the file, so that no process overwrites what another has just written.
What somebody else did to the file is taken into the graph with the next change.
"""

from __future__ import annotations

import hashlib
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from semgraph.errors import SemgraphError, StoreError
from semgraph.exchange.lines import clear_drafts, target, writing
from semgraph.exchange.memorylines import Memory, read_memory, write_memory
from semgraph.model import Outcome
from semgraph.serving.memorygraph import key_of
from semgraph.temporal import from_epoch
from semgraph.vocabulary import STATES, predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from semgraph.engine import KnowledgeGraph

__all__ = ["MemoryFile", "history_of"]

T = TypeVar("T")
_MARK: Final = "memory.jsonl#"  # how a claim about a line begins its source_ref
_MOST_RIVALS: Final = 5  # times that somebody who heeds no lock may write between our reading and our writing
_MOST_SECONDS: Final = 4_102_444_800  # of 2100; a larger time is in milliseconds

Stamp = tuple[int, int, int]


def history_of(path: Path) -> Path:
    """The graph beside a memory file: memory.db for memory.jsonl."""
    return path.with_name(f"{path.name}.db") if path.suffix in ("", ".db") else path.with_suffix(".db")


class MemoryFile:
    """A memory file and its history; calls may come from several threads."""

    def __init__(self, path: Path, graph: KnowledgeGraph, warn: Callable[[str], None] = lambda _: None) -> None:
        self.path = target(path)
        self._graph = graph
        self._warn = warn
        self._lock = threading.RLock()
        self._read: tuple[Stamp | None, bytes] = (None, b"")
        self._refused: set[str] = set()
        self._told: set[bytes] = set()
        self._held: tuple[object, dict[str, str]] = (None, {})  # claims of the file by reference, as of a moment
        with self._lock:
            with graph.atomic():
                clear_drafts(self.path)
                held = self._keep(self.load(), datetime.now(UTC))
            self._held = held

    def stamp(self) -> Stamp | None:
        """What differs once the file was written; None where there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"can't look at the memory file: {error.strerror}") from None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def load(self) -> Memory:
        """What the file holds now; nothing where there is none."""
        with self._lock:
            stamp = self.stamp()
            if stamp is None:
                return Memory()
            if stamp != self._read[0]:
                try:
                    self._read = stamp, self.path.read_bytes()
                except OSError as error:
                    raise StoreError(f"can't read the memory file: {error.strerror}") from None
            memory = read_memory(self._read[1])
            for odd in memory.odd:
                if odd.raw not in self._told:  # its number differs after each change of the file
                    self._told.add(odd.raw)
                    self._warn(f"line {odd.line} of the memory file is left as it is, and not read: {odd.why}")
            return memory

    def change(self, work: Callable[[Memory], T]) -> T:
        """What the work gives, after what it did to the memory is in the file and in the history, or neither."""
        with self._lock:
            with self._graph.atomic():
                for _ in range(_MOST_RIVALS):
                    stamp = self.stamp()
                    memory = self.load()
                    result = work(memory)
                    if stamp == self.stamp():
                        break
                held = self._keep(memory, datetime.now(UTC))
                data = write_memory(memory)
                if data != self._read[1] or stamp is None:
                    with writing(self.path) as file:
                        file.write(data)
            self._held = held
            return result

    def close(self) -> None:
        """Release the history."""
        with self._lock:
            self._graph.close()

    # -- the history

    def _keep(self, memory: Memory, now: datetime) -> tuple[object, dict[str, str]]:
        """Tell the graph what is new in the memory, withdraw what is no longer in it; what it holds then, and when."""
        wanted = {ref: claim for ref, claim in _claims(memory) if ref not in self._refused}
        held = self._holds()
        for ref in held.keys() - wanted.keys():
            self._graph.retract(held.pop(ref))
        new = {ref: {"said_at": now, **claim} for ref, claim in wanted.items() if ref not in held}
        again = self._tell(new, held)  # withdrawn once, with the time that the line still gives
        self._tell({ref: {**new[ref], "said_at": now} for ref in again}, held)
        return self._graph.at().known_at, held

    def _tell(self, new: Mapping[str, Mapping[str, Any]], held: dict[str, str]) -> list[str]:
        """Tell the graph some claims by their references; those of them that it has met, and does not hold."""
        if not new:
            return []
        met = []
        batch = self._graph.add_all(new.values(), receipts=True)
        for ref, receipt in zip(new, batch.receipts, strict=True):
            if receipt.claim is None:
                self._refused.add(ref)
                continue
            held[ref] = receipt.claim.id
            if receipt.outcome is Outcome.IDEMPOTENT:
                met.append(ref)
        return met

    def _holds(self) -> dict[str, str]:
        """The claims that the graph holds of the file, by their references."""
        known_at, held = self._held
        if known_at is not None and known_at == self._graph.at().known_at:
            return dict(held)
        told = ((claim.source_ref or "", claim.id) for claim in self._graph.claims())
        return {ref: id for ref, id in told if ref.startswith(_MARK)}


def _claims(memory: Memory) -> Iterator[tuple[str, dict[str, Any]]]:
    """A claim for each thing that the memory says, by its reference; names that are one come to the same."""
    for node in memory.nodes:
        times = _times(node.more)
        if node.kind:
            yield _claim(node.name, "is_a", node.kind, times)
        for text in node.observations:
            yield _claim(node.name, STATES, text, times)
    for link in memory.links:
        predicate, thing = link.relation, link.target
        try:
            predicate_key(predicate)
        except SemgraphError:
            predicate, thing = STATES, f"{link.relation} {link.target}"
        yield _claim(link.source, predicate, thing, _times(link.more))


def _claim(subject: str, predicate: str, thing: str, times: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    far = thing if predicate == STATES else key_of(thing)
    parts = "\0".join((key_of(subject), predicate, far)).encode("utf-8", "surrogatepass")
    ref = _MARK + hashlib.sha256(parts).hexdigest()[:24]
    return ref, {"subject": subject, "predicate": predicate, "object": thing, "source_ref": ref, **times}


def _times(more: Mapping[str, Any]) -> dict[str, Any]:
    """When it was told, where a line says so in the way of servers that keep it: seconds since 1970."""
    told = more.get("createdAt")
    if isinstance(told, bool) or not isinstance(told, int) or not 0 < told < 1000 * _MOST_SECONDS:
        return {}
    return {"said_at": from_epoch(told if told < _MOST_SECONDS else told / 1000)}
