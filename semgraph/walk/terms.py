"""Patterns as they are given, and as they are looked up: terms, and what a predicate's name turns round or flips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semgraph.errors import InputError
from semgraph.model import Entity
from semgraph.names import MAX_NAME, exact_key, literal_key
from semgraph.statement import object_ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semgraph.reader import Reader
    from semgraph.vocabulary import Resolved

__all__ = ["Pattern", "Term", "read_patterns"]

_LENGTH = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A variable by name, or the references that a constant may stand for (none: it is unknown)."""

    name: str = ""
    refs: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple to look for; `names` are stored predicates (None: all), `turned_names` those read from their object."""

    subject: Term
    predicate: Term
    object: Term
    names: list[str] | None
    turned_names: list[str] | None
    sides: tuple[bool, ...]
    flipped: bool
    shown: str | None
    touching: bool

    @property
    def variables(self) -> list[str]:
        """The names of its variables, each once."""
        return [term.name for term in (self.subject, self.predicate, self.object) if term.name]

    @property
    def ends(self) -> list[str]:
        """The variables by which facts can be looked up."""
        return [term.name for term in (self.subject, self.object) if term.name]

    def bind(self, subject: str, predicate: str, object: str) -> dict[str, str] | None:
        """What a fact gives to the variables; None where one would stand for two things."""
        out: dict[str, str] = {}
        found = (subject, f"p:{predicate}", object)
        for term, ref in zip((self.subject, self.predicate, self.object), found, strict=True):
            if term.name and out.setdefault(term.name, ref) != ref:
                return None
        return out


def read_patterns(reader: Reader, patterns: Sequence[object], valid_at: int | None) -> list[Pattern]:
    """The patterns, checked, their constants resolved; InputError says what is no pattern."""
    if not patterns:
        raise InputError('match needs at least one pattern, such as ("?who", "works_at", "?where")')
    return [_pattern(reader, pattern, valid_at) for pattern in patterns]


def _pattern(reader: Reader, given: object, valid_at: int | None) -> Pattern:
    if isinstance(given, str) or not isinstance(given, (tuple, list)) or len(given) != _LENGTH:
        raise InputError(f"a pattern is a triple (subject, predicate, object), not {given!r}")
    subject, predicate, object = given
    if not isinstance(predicate, str):
        raise InputError(f"the predicate of a pattern is a name or a variable, not {predicate!r}")
    registry = reader.snapshot.registry
    name = _variable(predicate)
    near = _subject(reader, subject, valid_at)
    if name:
        symmetric = sorted({each for each in registry if reader.snapshot.predicate(each).symmetric})
        far = _any_object(reader, object, valid_at)
        sides = (False, True) if symmetric else (False,)
        return Pattern(near, Term(name), far, None, symmetric, sides, flipped=False, shown=None, touching=True)
    resolved = registry.resolve(predicate)
    entry = resolved.predicate
    turned = resolved.inverse or resolved.flipped
    return Pattern(
        near,
        Term(),
        _object(reader, object, resolved, valid_at),
        [entry.name],
        [entry.name],
        (False, True) if entry.symmetric else (resolved.inverse,),
        flipped=resolved.flipped,
        shown=registry.canonical_of(predicate) if turned else entry.name,
        touching=entry.event or bool(entry.one_by) or resolved.flipped,
    )


def _variable(given: object) -> str:
    """The name of a variable, nothing for a constant."""
    if not isinstance(given, str) or not given.startswith("?"):
        return ""
    if not given[1:].strip():
        raise InputError(f"a variable needs a name after its question mark, such as '?who', not {given!r}")
    return given[1:]


def _subject(reader: Reader, given: object, valid_at: int | None) -> Term:
    name = _variable(given)
    if name:
        return Term(name)
    if not isinstance(given, (str, Entity)):
        raise InputError(f"the subject of a pattern is a name, an Entity or a variable, not {given!r}")
    return Term(refs=_entity(reader, given, valid_at))


def _entity(reader: Reader, given: str | Entity, valid_at: int | None) -> frozenset[str]:
    number = reader.directory.one(given, reader.snapshot, valid_at)
    return frozenset() if number is None else frozenset({f"e{number}"})


def _object(reader: Reader, given: object, resolved: Resolved, valid_at: int | None) -> Term:
    name = _variable(given)
    if name:
        return Term(name)
    if given is None:
        raise InputError("the object of a pattern is a value or a variable such as '?what', not None")
    if resolved.inverse:
        return Term(refs=_entity(reader, given, valid_at) if isinstance(given, (str, Entity)) else frozenset())
    found = object_ref(given, resolved.predicate)
    if isinstance(found, str) and found[:2] in ("l:", "x:") and found != given:
        return Term(refs=frozenset({found}))
    return Term(refs=frozenset() if found is None else _entity(reader, found, valid_at))


def _any_object(reader: Reader, given: object, valid_at: int | None) -> Term:
    """An object under an unknown predicate: a text may be a name as well as a literal."""
    states = reader.snapshot.predicate("states")
    if isinstance(given, Entity) or _variable(given) or given is None:
        return _object(reader, given, reader.snapshot.registry.resolve("states"), valid_at)
    if not isinstance(given, str):
        found = object_ref(given, states)
        return Term(refs=frozenset({str(found), f"x:{str(found)[2:]}"}))
    literals = {f"l:{literal_key(given)}", f"x:{exact_key(given)}"}
    entity = _entity(reader, given, valid_at) if len(given) <= MAX_NAME else frozenset()
    return Term(refs=entity | literals)
