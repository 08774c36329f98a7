"""What the tests of exchange formats share: graphs to write, and what is seen of a graph through its API."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import semgraph
from semgraph import KnowledgeGraph, SemgraphError, entity_key

if TYPE_CHECKING:
    from semgraph.model import Batch

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def graph(**options: Any) -> KnowledgeGraph:
    """An empty graph that knows one predicate of its own: a rent for each currency."""
    kg = KnowledgeGraph(clock=lambda: NOW, **options)
    kg.predicates.define("rent", one_by=["currency"], cardinality="one")
    return kg


def written(view: semgraph.GraphView, kind: str) -> bytes:
    stream = io.BytesIO()
    semgraph.write(view, stream, format=kind)
    return stream.getvalue()


def taken(kg: KnowledgeGraph, data: bytes, kind: str, **options: Any) -> Batch:
    return semgraph.read(kg, io.BytesIO(data), format=kind, **options)


def seen(kg: KnowledgeGraph) -> list[tuple[Any, ...]]:
    """Every fact by its names and interval, as text and to the microsecond."""
    found = kg.during().facts(possible=True)
    return sorted(
        (
            fact.subject.label,
            fact.predicate,
            fact.object.label,
            type(fact.object).__name__,
            str(fact.valid_from),
            "" if fact.valid_to is None else str(fact.valid_to),
            fact.valid_from.instant,
            None if fact.valid_to is None else fact.valid_to.instant,
        )
        for fact in found
    )


def names_of(kg: KnowledgeGraph) -> list[str]:
    return sorted(entity.label for entity in kg.entities())


def rich() -> KnowledgeGraph:
    """A graph with an edge of every kind."""
    kg = graph()
    kg.add("Maya", "works_at", "Stripe", valid_from="2021-03", valid_to="2024-02-28", confidence=0.7)
    kg.add("Maya", "works_at", "Linear", valid_from="2024-06-01~", source="tool:hr; payroll")
    kg.add("Maya", "lives_in", "Oslo", valid_from="2020", source="imported:a")
    kg.add("Maya", "lives_in", "Bergen", valid_from="2020", source="imported:b")
    kg.add("Maya", "knows", "Anna", valid_from="1999", valid_to="2003")
    kg.add("Maya", "knows", "Anna", valid_from="2010", valid_to="2015-07-01T12:30:00.000001Z")
    kg.add("Maya", "age", 33)
    kg.add("Maya", "height", semgraph.model.Literal(1.7, "1.7 m", "m"))
    kg.add("Maya", "remote", object=True)
    kg.add("Maya", "rent", "high", valid_from="2020", qualifiers={"currency": "EUR"})
    kg.add("Maya", "rent", "high", valid_from="2020", qualifiers={"currency": "USD", "a & b": "<1>"})
    kg.add("Caesar", "governed", "Rome", valid_from="-0100-07-12", valid_to="-0043-03-15")
    kg.add("Maya", "motto", "a sentence of more than eight words is text, of course")
    kg.add("Cleo", "ruled", "Egypt", valid_from="always", valid_to="unknown")
    kg.add("Bolt", "ran", "100 m", valid_from="unknown", valid_to="2017")
    kg.deny("Maya", "works_at", "Acme")
    kg.add("Bob", "uses", "C:\\dir _x0041_ <&\"'>]]>\t\r\n\x01\x1f\x7f\x85\u2028\ufffe\U0010ffff")
    kg.names.declare("Lonely")
    kg.names.declare("Paris", label="Paris")
    other = kg.names.declare("Paris, Texas")
    kg.names.alias("Paris", other, primary=True, homonym=True)
    kg.add(other, "lies_in", "Texas")
    return kg


def _nameable(text: str) -> bool:
    try:
        entity_key(text)
    except SemgraphError:
        return False
    return True


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12).filter(
    _nameable
)
some_names = st.one_of(names, st.sampled_from(["Maya", "Oslo", "_x0001_", "true", "42", "=1+1", "a\x01b", "x\ufffey"]))
times = st.one_of(
    st.sampled_from(["2019", "2020-05", "2020-05-17", "198X", "-0043", "2001~", "Y12024", "2020-05-17T10:30Z"]),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda when: when.replace(tzinfo=UTC)),  # noqa: DTZ001
)


@st.composite
def claims(draw: st.DrawFn) -> dict[str, Any]:
    """A claim that may be refused, for its interval or its names."""
    told = {
        "subject": draw(some_names),
        "predicate": draw(st.sampled_from(["works_at", "knows", "likes", "lives_in", "speaks", "uses"])),
        "object": draw(st.one_of(some_names, st.integers(-5, 5), st.booleans(), st.dates())),
        "source": draw(st.sampled_from(["user", "tool:a;b", "imported:x"])),
        "said_at": "2024-01-01",
    }
    if draw(st.booleans()):
        told["valid_from"] = draw(times)
    if draw(st.booleans()):
        told["valid_to"] = draw(times)
    return told
