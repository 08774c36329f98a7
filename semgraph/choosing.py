"""Which conflict a settlement means, and which of its values is to win."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from semgraph import audit
from semgraph.errors import InputError, NotFoundError
from semgraph.model import ConflictSet, Entity
from semgraph.resolution import side
from semgraph.statement import object_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semgraph.reader import Reader
    from semgraph.store.schema import FactRow
    from semgraph.vocabulary import Predicate

__all__ = ["Meant", "given", "named"]


class Meant(NamedTuple):
    """A conflict, and the reference of the value that is chosen in it (of the subject, for a unique object)."""

    conflict: ConflictSet
    winner: str | None


def given(reader: Reader, conflict: ConflictSet | str, object: object) -> Meant:
    """The conflict that was passed by itself or its id, and what is chosen of it; InputError if it is not there."""
    wanted = conflict.id if isinstance(conflict, ConflictSet) else conflict
    found = next((s for s in reader.conflict_sets(reader.rows(disputed=1), None) if s.id == wanted), None)
    if found is None:
        raise InputError(f"no conflict has the id {wanted!r} now; list them with conflicts()")
    return Meant(found, next(iter(_refs(reader, object, found.predicate) & _values(reader, found)), None))


def named(
    reader: Reader,
    subject: str | Entity | None,
    predicate: str | None,
    object: object,
    instant: int,
    qualifiers: Mapping[str, Any] | None,
) -> Meant | str:
    """The conflict about the subject that has this value (None: any), or why there is none; InputError for several.

    The edge may be named from either end, as an inverse does: where no conflict about the subject has the object,
    one about the object may have the subject.
    """
    if subject is None or predicate is None:
        return _NOTHING
    entry = reader.snapshot.registry.resolve(predicate).predicate
    near, far = _refs(reader, subject, entry.name), _refs(reader, object, entry.name)
    if not near:
        return _unknown(reader, subject)
    rows = audit.with_qualifiers(reader, _disputed(reader, entry, near | far), qualifiers)
    sets = [(found, _about(reader, found)) for found in reader.conflict_sets(rows, instant)]
    own = [found for found, about in sets if about & near]
    if object is None:
        meant = [Meant(found, None) for found in own]
    else:
        meant = _choices(reader, own, far)
        meant = meant or _choices(reader, [found for found, about in sets if about & far], near)
    if len(meant) > 1:
        raise InputError(f"{len(meant)} conflicts hold there at once; pass conflict=, one of conflicts(), to say which")
    if meant:
        return meant[0]
    if own:
        return "the value is not one of those in conflict: nothing changes"
    others = sorted({about.label for s, _ in sets if (about := s.subject or s.object) is not None})
    return f"the conflict is about {' and '.join(others)}: name that first" if others else _NOTHING


_NOTHING = "no conflict holds there: nothing to settle"


def _unknown(reader: Reader, name: str | Entity) -> str:
    """That nothing has that name, with those that look like it."""
    try:
        reader.directory.known(name, reader.snapshot)
    except NotFoundError as error:
        return f"{error}: nothing to settle"
    return _NOTHING


def _choices(reader: Reader, sets: Iterable[ConflictSet], refs: set[str]) -> list[Meant]:
    return [Meant(found, winner) for found in sets for winner in sorted(refs & _values(reader, found))]


def _refs(reader: Reader, value: object, predicate: str) -> set[str]:
    """What a value that was passed may refer to: an entity of that name, and a literal if the predicate has such."""
    if value is None:
        return set()
    ref = object_ref(value, reader.snapshot.predicate(predicate))
    found = {ref} if isinstance(ref, str) and ref[:2] in ("l:", "x:") else set()
    if isinstance(value, (str, Entity)):
        number = reader.directory.one(value, reader.snapshot)
        found |= set() if number is None else {f"e{number}"}
    return found


def _disputed(reader: Reader, entry: Predicate, refs: set[str]) -> list[FactRow]:
    """The disputed facts at either end of which one of these stands."""
    rows = [reader.rows(disputed=1, predicate=entry.name, object=ref) for ref in sorted(refs)]
    rows += [reader.rows(disputed=1, predicate=entry.name, subject=int(ref[1:])) for ref in refs if ref[:1] == "e"]
    return list({row.id: row for found in rows for row in found}.values())


def _rows(reader: Reader, conflict: ConflictSet) -> Iterable[FactRow]:
    return reader.by_id(fact.id for fact in conflict.facts).values()


def _about(reader: Reader, conflict: ConflictSet) -> set[str]:
    """What the conflict is about: a subject or a shared object; both ends of an edge and its own negation."""
    rows = list(_rows(reader, conflict))
    if conflict.subject is None:
        return {rows[0].object}
    about = {f"e{reader.directory.number(conflict.subject)}"}
    ends = {frozenset((f"e{row.subject}", row.object)) for row in rows}
    if len(ends) == 1 and reader.snapshot.predicate(conflict.predicate).symmetric:
        return about.union(*ends)
    return about


def _values(reader: Reader, conflict: ConflictSet) -> set[str]:
    """The values that can be chosen."""
    shared = None if conflict.subject is None else reader.directory.number(conflict.subject)
    return {side(row, shared) for row in _rows(reader, conflict) if not row.negative}
