"""Predicates: their keys, what is registered about them, and the vocabulary as it was known at a moment."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from semgraph.errors import InputError, NotFoundError, RejectedError
from semgraph.names import check_characters, check_size, look_alikes
from semgraph.starter import STARTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "DEFAULT_WINDOW_S",
    "FLAGS",
    "SOURCE_CLASSES",
    "STATES",
    "Cardinality",
    "Predicate",
    "Range",
    "Registry",
    "Resolved",
    "Unregistered",
    "make_predicate",
    "predicate_key",
    "starter_vocabulary",
]

Cardinality = Literal["one", "many", "once", "unregistered"]
Range = Literal["entity", "literal", "any"]
Unregistered = Literal["flag", "one", "many"]

STATES = "states"  # under which a sentence without a predicate is kept
DEFAULT_WINDOW_S = 86_400.0
FLAGS = ("event", "symmetric", "irreflexive", "unique_object", "profile", "sensitive", "norefine", "exact")
SOURCE_CLASSES = ("user", "tool", "imported", "inferred", "other")

_SHOWN = 60  # characters of a name in a message
_MOST = 1e8  # days of a time to live: what ends before the year 275000 is shown as a date
_LONGEST = 1e13  # seconds of a window: more than there is time


def predicate_key(name: str | None) -> str:
    """The key under which a predicate is looked up: lower case with underscores; of no name, `states`.

    Raises:
        RejectedError: bad_encoding, control_chars, oversize, or bad_predicate where no letter or digit is left.

    >>> predicate_key("worksAt"), predicate_key("Works at"), predicate_key(None)
    ('works_at', 'works_at', 'states')
    """
    if name is None:
        return STATES
    if not isinstance(name, str):
        raise InputError(f"a predicate is text, not {type(name).__name__}: pass its name")
    return _predicate_key(name)


@lru_cache(maxsize=16384)
def _predicate_key(name: str) -> str:
    check_characters(name, "predicate")
    check_size(name, "predicate")
    if not name.strip():
        return STATES
    key, last = _key_once(name), name
    while key != last:  # what was stripped out may have kept two characters from composing
        key, last = _key_once(key), key
    check_size("", "predicate", normalised=key)
    if not any(map(str.isalnum, key)):
        reason = f"the predicate {_shown(name)} has no letter or digit; name it, or leave it out to keep a sentence"
        raise RejectedError("bad_predicate", reason)
    return key


def _key_once(name: str) -> str:
    text = unicodedata.normalize("NFKC", name)
    if not (text.islower() or text.isupper()):
        text = _split_humps(text)
    text = unicodedata.normalize("NFKC", text.casefold())
    kept = "".join(filter(None, map(_kept, text)))
    return re.sub("_+", "_", kept).strip("_")


def _kept(char: str) -> str:
    """The character, an underscore for what separates words, or nothing."""
    if char.isalnum():
        return char
    category = unicodedata.category(char)
    if char.isspace() or char in "_\u2212" or category in {"Pd", "Cc"}:
        return "_"
    return char if category[0] == "M" else ""  # vowel signs and accents are part of their letter


def _split_humps(text: str) -> str:
    """`livesIn` as `lives_In`, `HTTPServer` as `HTTP_Server`."""
    parts: list[str] = []
    for i, char in enumerate(text):
        if i and _is_capital(char):
            before = text[i - 1]
            ends_acronym = _is_capital(before) and i + 1 < len(text) and text[i + 1].islower()
            if before.islower() or before.isdigit() or ends_acronym:
                parts.append("_")
        parts.append(char)
    return "".join(parts)


def _is_capital(char: str) -> bool:
    # Cherokee folds to its capitals: only a letter that folding changes can mark a hump, or keys were not stable.
    return char.isupper() and char.casefold() != char


def _shown(name: object) -> str:
    text = ascii(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is registered about one predicate; the fold asks nothing else."""

    name: str
    cardinality: Cardinality = "unregistered"
    range: Range = "any"
    inverse_of: str | None = None
    opposite: str | None = None
    aliases: tuple[str, ...] = ()
    one_by: tuple[str, ...] = ()
    ttl_days: float | None = None
    window_s: float = DEFAULT_WINDOW_S
    trust: tuple[tuple[str, int], ...] | None = None
    event: bool = False
    symmetric: bool = False
    irreflexive: bool = False
    unique_object: bool = False
    profile: bool = False
    sensitive: bool = False
    norefine: bool = False
    exact: bool = False

    @property
    def registered(self) -> bool:
        """Whether anybody has said how many values it takes."""
        return self.cardinality != "unregistered"

    def to_dict(self) -> dict[str, Any]:
        """A JSON object that `from_dict` reads; what has its default is left out."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {k: dict(v) if k == "trust" else list(v) if isinstance(v, tuple) else v for k, v in given.items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Predicate:
        """The predicate that `to_dict` wrote; InputError where the object is no such thing."""
        unknown = [key for key in stored if key not in _FIELDS]
        if unknown or "name" not in stored:
            wrong = f"unknown: {', '.join(map(_shown, unknown))}" if unknown else "without a name"
            raise InputError(f"this is no definition of a predicate ({wrong}); use what to_dict gave")
        return make_predicate(**stored)


_FIELDS = tuple(field.name for field in fields(Predicate))


def make_predicate(
    name: str,
    *,
    cardinality: str | None = None,
    range: str = "any",
    inverse_of: str | None = None,
    opposite: str | None = None,
    aliases: Iterable[str] = (),
    one_by: Iterable[str] = (),
    ttl_days: float | None = None,
    window_s: float | None = None,
    trust: Mapping[str, int] | None = None,
    **flags: bool,
) -> Predicate:
    """A checked definition; InputError says what about it makes no sense.

    Without a cardinality an inverse or an opposite is `many`, any other predicate stays unregistered.

    >>> make_predicate("collects", cardinality="many", aliases=["isCollecting"]).aliases
    ('is_collecting',)
    """
    key = _defined_key(name)
    linked = [(word, _link(key, word, to)) for word, to in (("inverse_of", inverse_of), ("opposite", opposite)) if to]
    if cardinality is None or (linked and cardinality == "unregistered"):
        cardinality = "many" if linked else "unregistered"
    predicate = Predicate(
        name=key,
        cardinality=_one_of("cardinality", cardinality, get_args(Cardinality)),
        range=_one_of("range", range, get_args(Range)),
        inverse_of=dict(linked).get("inverse_of"),
        opposite=dict(linked).get("opposite"),
        aliases=_alias_keys(key, aliases),
        one_by=_keys("one_by", one_by),
        ttl_days=None if ttl_days is None else _amount("ttl_days", ttl_days, _MOST, zero=False),
        window_s=DEFAULT_WINDOW_S if window_s is None else _amount("window_s", window_s, _LONGEST),
        trust=None if trust is None else _ranks(trust),
        **_checked_flags(flags),
    )
    _check_sense(predicate)
    return predicate


def _defined_key(name: str | None) -> str:
    key = predicate_key(name)
    if name is None or not name.strip():
        raise InputError("a predicate to define needs a name, such as 'lives_in'")
    return key


def _link(key: str, word: str, other: str) -> str:
    target = _defined_key(other)
    if target == key:
        raise InputError(f"{key!r} can't be {word} itself; name another predicate, or say symmetric=True")
    return target


def _one_of(what: str, value: object, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise InputError(f"{what} is one of {', '.join(allowed)}, not {_shown(value)}")
    return value


def _keys(what: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"{what} is a list of names, not {_shown(given)}; write [{_shown(given)}]")
    return tuple(dict.fromkeys(map(_defined_key, given)))


def _alias_keys(key: str, aliases: Iterable[str]) -> tuple[str, ...]:
    found = tuple(alias for alias in _keys("aliases", aliases) if alias != key)
    if STATES in found:
        raise InputError(f"{STATES!r} is reserved for sentences without a predicate; choose another alias")
    return found


def _amount(what: str, value: object, most: float, *, zero: bool = True) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -most <= value <= most:
        raise InputError(f"{what} is a number, not {_shown(value)}")
    if value < 0 or (value == 0 and not zero):
        raise InputError(f"{what} is {'not negative' if zero else 'above zero'}, not {_shown(value)}")
    return float(value)


def _ranks(trust: Any) -> tuple[tuple[str, int], ...] | None:
    if not hasattr(trust, "items"):
        raise InputError(f"trust gives a rank by source class, such as {{'tool': 4}}, not {_shown(trust)}")
    for source, rank in trust.items():
        _one_of("a source class in trust", source, SOURCE_CLASSES)
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
            raise InputError(f"the trust rank of {source} is a whole number from 0 on, not {_shown(rank)}")
    return tuple(sorted(trust.items())) or None


def _checked_flags(flags: Mapping[str, object]) -> dict[str, Any]:
    for flag, value in flags.items():
        _one_of("an option of a predicate", flag, FLAGS)
        if not isinstance(value, bool):
            raise InputError(f"{flag} is True or False, not {_shown(value)}")
    return dict(flags)


def _check_sense(predicate: Predicate) -> None:
    reason = next((why for wrong, why in _contradictions(predicate) if wrong), None)
    if reason:
        raise InputError(f"{predicate.name!r}: {reason}")


def _contradictions(p: Predicate) -> Iterator[tuple[bool, str]]:
    literal = p.range == "literal"
    yield p.inverse_of is not None and p.opposite is not None, "both an inverse and an opposite; choose one"
    yield p.inverse_of is not None and p.symmetric, "a symmetric predicate is its own inverse; leave out inverse_of"
    yield p.inverse_of is not None and literal, "the object of an inverse is a subject, and a literal never is one"
    yield p.symmetric and literal, "the other end of a symmetric predicate is an entity; use another range"
    yield p.cardinality == "once" and p.ttl_days is not None, "what is said once holds for ever; leave out ttl_days"
    yield p.cardinality == "once" and p.event, "what is said once has no moment; leave out event"
    yield p.name == STATES and p != _SENTENCES, "reserved for sentences without a predicate; choose another name"


_SENTENCES = Predicate(STATES, "many", "literal")


@lru_cache(maxsize=1)
def starter_vocabulary() -> Mapping[str, Predicate]:
    """The predicates that every store knows, by name, at every known_at."""
    found: dict[str, Predicate] = {}
    for name, options in STARTER.items():
        found[name] = make_predicate(name, **options)  # type: ignore[arg-type]  # the table's values are of mixed types
    return found


@dataclass(frozen=True, slots=True)
class Resolved:
    """Under which predicate a name is stored, and what reading by the name turns round."""

    predicate: Predicate
    inverse: bool = False  # subject and object change places
    flipped: bool = False  # positive and negative change places


class Registry:
    """The vocabulary at one moment: the starter vocabulary, and over it what was defined by then.

    Aliases are those of today, whatever `known_at`; they add up, and the latest definition that claims a name has it.
    """

    __slots__ = ("_aliases", "_back", "_cache", "_defined", "_onward", "_through", "_unregistered")

    def __init__(
        self,
        definitions: Iterable[tuple[int, Predicate]] = (),
        *,
        known_at: int | None = None,
        unregistered: Unregistered = "flag",
    ) -> None:
        _one_of("unregistered", unregistered, get_args(Unregistered))
        self._unregistered: Cardinality = "unregistered" if unregistered == "flag" else unregistered
        self._defined = dict(starter_vocabulary())
        self._aliases: dict[str, str] = {}
        self._cache: dict[str | None, Resolved] = {}
        self._through: dict[tuple[str, bool, bool], tuple[str, ...]] | None = None
        self._back: dict[str, bool] = {}
        self._onward: frozenset[str] | None = None
        for predicate in self._defined.values():
            self._take_aliases(predicate)
        for recorded_at, predicate in sorted(definitions, key=lambda d: d[0]):
            self._take_aliases(predicate)
            if known_at is None or recorded_at <= known_at:
                self._defined[predicate.name] = predicate

    def _take_aliases(self, predicate: Predicate) -> None:
        self._aliases.pop(predicate.name, None)
        for alias in predicate.aliases:
            self._aliases[alias] = predicate.name

    def canonical(self, key: str) -> str:
        """The name that a key is an alias of, or the key."""
        seen = {key}
        while (target := self._aliases.get(key)) is not None and target not in seen:
            seen.add(key := target)
        return key

    def canonical_of(self, name: str) -> str:
        """The registered name, be it an inverse or an opposite, that any spelling or alias means."""
        return self.canonical(predicate_key(name))

    def entry(self, name: str) -> Predicate:
        """What is registered under a key itself, neither turned round nor flipped; unregistered ones too."""
        key = self.canonical(name)
        return self._defined.get(key) or Predicate(key, self._unregistered)

    def resolve(self, name: str | None) -> Resolved:
        """Where claims by this name are stored; an unknown name is a predicate of its own.

        >>> found = Registry().resolve("manages")
        >>> found.predicate.name, found.inverse
        ('reports_to', True)
        """
        found = self._cache.get(name) if isinstance(name, str) else None
        if found is None:
            found = self._resolved(predicate_key(name))
            if len(self._cache) > _CACHED:
                self._cache.clear()
            self._cache[name] = found
        return found

    def _resolved(self, key: str) -> Resolved:
        name, inverse, flipped, seen = self.canonical(key), False, False, set[str]()
        while (defined := self._defined.get(name)) is not None and name not in seen:
            seen.add(name)
            onward = defined.inverse_of or defined.opposite
            if onward is None:
                return Resolved(defined, inverse, flipped)
            inverse, flipped = inverse ^ (defined.inverse_of is not None), flipped ^ (defined.inverse_of is None)
            name = self.canonical(onward)
        return Resolved(Predicate(name, self._unregistered), inverse, flipped)

    def check(self, predicate: Predicate) -> None:
        """Nothing, or InputError where a new definition would lead in a circle through what is defined."""
        names = [predicate.name]
        defined = self._defined | {predicate.name: predicate}
        while (entry := defined.get(names[-1])) is not None:
            onward = entry.inverse_of or entry.opposite
            if onward is None:
                return
            target = onward if onward in {predicate.name, *predicate.aliases} else self.canonical(onward)
            target = predicate.name if target in predicate.aliases else target
            if target in names:
                circle = " → ".join([*names, target])
                raise InputError(f"{predicate.name!r} would be read in a circle: {circle}; define one by itself")
            names.append(target)

    def inverses_of(self, name: str) -> tuple[str, ...]:
        """The names through which a predicate is read from its object."""
        return self._read_through(name, inverse=True, flipped=False)

    def opposites_of(self, name: str) -> tuple[str, ...]:
        """The names through which a predicate is read with its sign flipped."""
        return self._read_through(name, inverse=False, flipped=True)

    def reads_back(self, name: str) -> bool:
        """Whether what is stored under a predicate can be read from its object."""
        found = self._back.get(name)
        if found is None:
            if len(self._back) > _CACHED:
                self._back.clear()
            found = self._back[name] = self.entry(name).symmetric or bool(self.inverses_of(name))
        return found

    def all_reading_back(self) -> frozenset[str]:
        """Every name under which something may be stored that can be read from its object."""
        if self._onward is None:
            self._read_through(STATES, inverse=True, flipped=False)
            targets = [name for name, inverse, _ in self._through or () if inverse]
            self._onward = frozenset(filter(self.reads_back, (*self._defined, *self._aliases, *targets)))
        return self._onward

    def _read_through(self, name: str, *, inverse: bool, flipped: bool) -> tuple[str, ...]:
        if self._through is None:
            found: dict[tuple[str, bool, bool], tuple[str, ...]] = {}
            for other in self:
                resolved = self.resolve(other)
                key = (resolved.predicate.name, resolved.inverse, resolved.flipped)
                found[key] = (*found.get(key, ()), other)
            self._through = found
        return self._through.get((self.canonical(predicate_key(name)), inverse, flipped), ())

    def __getitem__(self, name: str) -> Predicate:
        """What is registered under a name or an alias; NotFoundError says which names look like it."""
        key = self.canonical(predicate_key(name))
        if key in self._defined:
            return self._defined[key]
        near = look_alikes(key.replace("_", " "), [n.replace("_", " ") for n in (*self._defined, *self._aliases)], 3)
        hint = f"did you mean {', '.join(n.replace(' ', '_') for n in near)}?" if near else "define it first"
        raise NotFoundError(f"no predicate {_shown(name)} is registered; {hint}")

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self.canonical(predicate_key(name)) in self._defined
        except RejectedError:
            return False

    def __iter__(self) -> Iterator[str]:
        """Every registered name but the aliases, the starter vocabulary first."""
        return (name for name in self._defined if name not in self._aliases)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_CACHED = 8192  # names kept resolved
