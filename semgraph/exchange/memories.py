"""A file of the reference memory server told to a scope, and a view of a graph as such a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Final

from semgraph.errors import ImportRejected, RejectedError
from semgraph.exchange.intake import define_missing, make_entities, not_ahead, tell
from semgraph.exchange.lines import counted, reading, shown_name
from semgraph.exchange.memorylines import Link, Node, Odd, line_of, read_line
from semgraph.exchange.moments import moment_of
from semgraph.model import Entity, Outcome, Receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from semgraph.engine import KnowledgeGraph
    from semgraph.exchange.formats import Progress
    from semgraph.exchange.lines import Place
    from semgraph.model import Batch, Fact
    from semgraph.view import GraphView

    Claim = dict[str, Any]
    Record = Node | Link

__all__ = ["KIND", "OBSERVATION", "PREDICATES", "memory_claims", "memory_records", "take_memory", "write_memory"]

#: Under what the kind of an entity and what was observed of it are kept, each as it was written.
KIND: Final = "entity_type"
OBSERVATION: Final = "observation"
PREDICATES: Final[Mapping[str, Mapping[str, Any]]] = {
    name: {"cardinality": "many", "range": "literal", "exact": True} for name in (KIND, OBSERVATION)
}
_RELATION: Final = "relation"  # the qualifier that keeps a relation as it was spelled
_VOICE: Final = "imported:memory"


def take_memory(kg: KnowledgeGraph, place: Place, source: str | None, unregistered: str) -> Batch:
    """What a memory file did: each line that is whole is taken in, each other one refused and told with its number."""
    records, refused = _records(place)
    if not records and not refused:
        raise ImportRejected("empty", f"{shown_name(place)} is empty")
    if not records:
        raise ImportRejected(
            "foreign",
            f"{shown_name(place)}, line {refused[0][0]}: {refused[0][1].reason}; so no line is one of memory.jsonl",
        )
    with kg.atomic():
        define_missing(kg, PREDICATES)
        told: list[tuple[int, Claim]] = []
        for line, record in records:
            claims = memory_claims(record, source or _VOICE, shown_name(place), _canonical(kg))
            told += [(line, not_ahead(kg, claim)) for claim in claims]
        batch = tell(kg, [claim for _, claim in told], unregistered)
        make_entities(kg, [record.name for _, record in records if isinstance(record, Node)], source or _VOICE)
    rejected_at = (*(told[at - 1][0] for at in batch.rejected_at), *(line for line, _ in refused))
    counts = Counter(batch.counts)
    if refused:
        counts[Outcome.REJECTED.value] += len(refused)
    return replace(
        batch,
        counts=dict(sorted(counts.items())),
        rejected=(*batch.rejected, *(receipt for _, receipt in refused)),
        rejected_at=rejected_at,
        notes=(*_notes(records), *batch.notes),
    )


def _records(place: Place) -> tuple[list[tuple[int, Record]], list[tuple[int, Receipt]]]:
    """The records of a file and the lines that are none, each with its number."""
    found: list[tuple[int, Record]] = []
    refused: list[tuple[int, Receipt]] = []
    with reading(place) as lines:
        for number, line in lines:
            record = read_line(line, number)
            if isinstance(record, Odd):
                refused.append((number, Receipt(Outcome.REJECTED, "bad_row", record.why)))
            elif record is not None:
                found.append((number, record))
    return found, refused


def _notes(records: list[tuple[int, Record]]) -> Iterator[str]:
    named = Counter(record.name for _, record in records if isinstance(record, Node))
    relations = [record for _, record in records if isinstance(record, Link)]
    yield f"{counted(len(named), 'entity', 'entities')} and {counted(len(relations), 'relation')}"
    if twice := sum(times - 1 for times in named.values() if times > 1):
        yield f"{counted(twice, 'line')} of an entity that another line declares: the observations are put together"
    loose = {end for record in relations for end in (record.source, record.target)} - named.keys()
    if loose:
        yield f"relations name {counted(len(loose), 'entity', 'entities')} that no line declares: also taken in"


def memory_claims(
    record: Record, source: str, source_ref: str, canonical: Callable[[str], str | None]
) -> Iterator[Claim]:
    """What a record says, in the words of `add`: its kind and each observation, or the relation.

    A kind was said when the record was made, observations when it was last changed, as far as it tells. `canonical`
    says under which name a relation is kept; one that is spelled otherwise keeps its spelling.
    """
    marks = {name: value for name, value in record.more.items() if isinstance(value, (str, int, float, bool))}
    made, changed = moment_of(marks.get("createdAt")), moment_of(marks.get("updatedAt"))
    said = {"source": source, "source_ref": source_ref}
    if isinstance(record, Link):
        spelled = {} if canonical(record.relation) == record.relation else {_RELATION: record.relation}
        ends = {"subject": record.source, "predicate": record.relation, "object": record.target}
        yield {**ends, **said, **_when(made or changed), **_details({**spelled, **marks})}
        return
    if record.kind.strip():
        told = {"subject": record.name, "predicate": KIND, "object": record.kind}
        yield {**told, **said, **_when(made or changed), **_details(marks)}
    for text in record.observations:
        told = {"subject": record.name, "predicate": OBSERVATION, "object": text}
        yield {**told, **said, **_when(changed or made)}


def _canonical(kg: KnowledgeGraph) -> Callable[[str], str | None]:
    session = kg._session  # noqa: SLF001 - how the registry reads a word

    def name(relation: str) -> str | None:
        try:
            with session.read():
                return session.ledger.registry().resolve(relation).predicate.name
        except RejectedError:
            return None

    return name


def _when(moment: object) -> Claim:
    return {} if moment is None else {"said_at": moment}


def _details(details: Mapping[str, Any]) -> Claim:
    return {"qualifiers": dict(details)} if details else {}


# -- out


def write_memory(view: GraphView, file: IO[bytes], progress: Progress | None = None) -> None:
    """What a view holds as a file of the reference server: it has no time, so what ended is left out."""
    for number, record in enumerate(memory_records(view), 1):
        file.write(line_of(record) + b"\n")
        if progress is not None:
            progress(number)


def memory_records(view: GraphView) -> Iterator[Record]:
    """What a view holds as records, entities first, by name; a value that is no entity is an observation."""
    held: dict[Entity, list[Fact]] = defaultdict(list)
    for fact in view.facts():
        if not fact.negative and fact.object is not None:
            held[fact.subject].append(fact)
    named = sorted({*view.entities(), *held}, key=lambda one: (one.label, one.id))
    relations: list[Link] = []
    for entity in named:
        facts = held.get(entity, [])
        kinds = sorted((fact for fact in facts if fact.predicate == KIND), key=_order)
        rest = sorted((fact for fact in facts if fact.predicate != KIND), key=_order)
        observed = tuple(_observed(fact) for fact in rest if not isinstance(fact.object, Entity))
        marks = _marks(kinds[0]) if kinds else {}
        kind = "" if not kinds or kinds[0].object is None else kinds[0].object.label
        if facts or view.whole:
            yield Node(entity.label, kind, observed, marks)
        relations += [_relation(view, fact) for fact in rest if isinstance(fact.object, Entity)]
    yield from sorted(relations, key=lambda one: one[:3])


def _order(fact: Fact) -> tuple[int, int, str]:
    return fact.recorded_at.instant, fact.valid_from.instant, fact.label


def _observed(fact: Fact) -> str:
    text = "" if fact.object is None else fact.object.label
    return text if fact.predicate in (OBSERVATION, "states") else f"{fact.predicate.replace('_', ' ')}: {text}"


def _marks(fact: Fact) -> dict[str, Any]:
    return {name: value for name, value in fact.qualifiers.items() if name != _RELATION}


def _relation(view: GraphView, fact: Fact) -> Link:
    """A relation as it was told: as it was spelled, and the way round in which it was."""
    ends = (fact.subject.label, fact.object.label if fact.object else "")
    spelled = str(fact.qualifiers.get(_RELATION, fact.predicate))
    session = view._session  # noqa: SLF001 - whether a word is another's inverse
    with session.read():
        turned = session.ledger.registry().resolve(spelled).inverse
    source, target = reversed(ends) if turned else ends
    return Link(source, target, spelled, _marks(fact))
