"""What a file of probes may ask for, and how its entries are read: each whole, or refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph.errors import ImportRejected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["Contradiction", "Named", "Probes", "Question", "Told", "bad", "probes_of"]

SECTIONS: Final = ("facts", "contradictions", "questions")
_TIMES: Final = ("valid_from", "valid_to", "valid_through", "said_at")
_TOLD: Final = (
    "subject", "predicate", "object", *_TIMES, "kind", "negative", "source", "source_ref", "confidence", "qualifiers",
    "text",
)  # fmt: skip


class Named(NamedTuple):
    """A fact that a probe names, in its own scope where it says one; an object of None is any."""

    subject: str
    predicate: str
    object: str | float | bool | None
    scope: str | None = None

    def __str__(self) -> str:
        told = f"{self.subject} {self.predicate}{'' if self.object is None else f' {self.object}'}"
        return told if self.scope is None else f"{told} (scope {self.scope})"


class Told(NamedTuple):
    """A fact that the memory should hold: the parameters of `add`."""

    line: int
    scope: str | None
    words: Mapping[str, Any]

    @property
    def named(self) -> Named:
        """The fact without its time and source."""
        words = self.words
        return Named(words["subject"], words["predicate"], words.get("object"))


class Contradiction(NamedTuple):
    """Facts that exclude each other and must come back together."""

    line: int
    scope: str | None
    at: str | None
    question: str
    sides: tuple[Named, ...]


class Question(NamedTuple):
    """A question with what must come back, what is over, what must never come back, and the answer if one is given."""

    line: int
    scope: str | None
    at: str | None
    question: str
    facts: tuple[Named, ...]
    stale: tuple[Named, ...]
    forbidden: tuple[Named, ...]
    answer: tuple[Any, ...] | None


class Probes(NamedTuple):
    """The entries of a file, in its order."""

    facts: tuple[Told, ...]
    contradictions: tuple[Contradiction, ...]
    questions: tuple[Question, ...]


def bad(line: int, why: str) -> ImportRejected:
    """The error for an entry that can't be read."""
    return ImportRejected("bad_probe", f"line {line}: {why}")


def probes_of(entries: Iterable[tuple[str, int, Any]]) -> Probes:
    """Entries, each with its section and line, as probes.

    Raises:
        ImportRejected: an entry says too little, too much or the wrong thing; or there is none at all.
    """
    facts: list[Told] = []
    contradictions: list[Contradiction] = []
    questions: list[Question] = []
    for section, line, entry in entries:
        if section == "facts":
            facts.append(_told(line, entry))
        elif section == "contradictions":
            contradictions.append(_contradiction(line, entry))
        else:
            questions.append(_question(line, entry))
    if not (facts or contradictions or questions):
        raise ImportRejected("empty", "the file has no probes; give facts, contradictions or questions")
    return Probes(tuple(facts), tuple(contradictions), tuple(questions))


def _told(line: int, entry: Any) -> Told:
    if isinstance(entry, list):
        subject, predicate, thing, _ = _named(line, entry)
        return Told(line, None, {"subject": subject, "predicate": predicate, "object": thing})
    words = dict(_mapping(line, entry, "a fact", (*_TOLD, "scope")))
    _named(line, {key: words[key] for key in ("subject", "predicate", "object") if key in words})
    for key in _TIMES:
        if key in words:
            words[key] = _time(line, key, words[key])
    return Told(line, _text(line, "scope", words.pop("scope", None)), words)


def _contradiction(line: int, entry: Any) -> Contradiction:
    words = _mapping(line, entry, "a contradiction", ("sides", "question", "at", "scope"))
    sides = _facts(line, "sides", words.get("sides", []))
    if len(sides) < 2:
        raise bad(line, "a contradiction has two sides or more, each a fact")
    asked = _text(line, "question", words.get("question"))
    if asked is None:
        asked = f"{sides[0].subject} {sides[0].predicate.replace('_', ' ')}"
    return Contradiction(line, _text(line, "scope", words.get("scope")), _at(line, words), asked, sides)


def _question(line: int, entry: Any) -> Question:
    known = ("question", "at", "scope", "facts", "stale", "forbidden", "answer")
    words = _mapping(line, entry, "a question", known)
    asked = _text(line, "question", words.get("question"))
    if asked is None:
        raise bad(line, "a question needs its text: question")
    facts, stale, forbidden = (_facts(line, key, words.get(key, [])) for key in ("facts", "stale", "forbidden"))
    if "answer" not in words and not (facts or stale or forbidden):
        raise bad(line, "a question needs what to expect: facts, answer, stale or forbidden")
    scope = _text(line, "scope", words.get("scope"))
    answer = _answer(line, words["answer"]) if "answer" in words else None
    return Question(line, scope, _at(line, words), asked, facts, stale, forbidden, answer)


def _answer(line: int, given: Any) -> tuple[Any, ...]:
    values = given if isinstance(given, list) else [given]
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise bad(line, "answer is a value or a list of values; an empty list says that there is no answer")
    return tuple(values)


# -- parts


def _mapping(line: int, entry: Any, what: str, known: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise bad(line, f"{what} has names and values ({', '.join(known)}), and {_kind(entry)} has none")
    unknown = [str(key) for key in entry if key not in known]
    if unknown:
        raise bad(line, f"{what} has no {unknown[0]!r}; it may have {', '.join(known)}")
    return entry


def _facts(line: int, key: str, given: Any) -> tuple[Named, ...]:
    if not isinstance(given, list):
        raise bad(line, f"{key} is a list of facts, not {_kind(given)}")
    return tuple(_named(line, one) for one in given)


def _named(line: int, entry: Any) -> Named:
    if isinstance(entry, list):
        if len(entry) != 3:
            raise bad(line, f"a fact in short is [subject, predicate, object], and this list has {len(entry)} parts")
        entry = dict(zip(("subject", "predicate", "object"), entry, strict=True))
    words = _mapping(line, entry, "a fact", ("subject", "predicate", "object", "scope"))
    subject, predicate = (_text(line, key, words.get(key)) for key in ("subject", "predicate"))
    if subject is None or predicate is None:
        raise bad(line, f"a fact needs a {'subject' if subject is None else 'predicate'}")
    thing = words.get("object")
    if isinstance(thing, (list, dict)):
        raise bad(line, f"an object is a text, a number or true or false, not {_kind(thing)}")
    return Named(subject, predicate, thing, _text(line, "scope", words.get("scope")))


def _at(line: int, words: Mapping[str, Any]) -> str | None:
    return _time(line, "at", words["at"]) if "at" in words else None


def _time(line: int, key: str, given: Any) -> str:
    if isinstance(given, int) and not isinstance(given, bool):  # a year
        return f"{given:04}"
    if not isinstance(given, str):
        raise bad(line, f"{key} is a date, such as 2024-03-05, not {_kind(given)}")
    return given


def _text(line: int, key: str, given: Any) -> str | None:
    if given is not None and not (isinstance(given, str) and given.strip()):
        raise bad(line, f"{key} is a text, not {_kind(given)}; put it in quotes if it looks like something else")
    return given


def _kind(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "names and values"
    return "nothing" if value in (None, "") else repr(value)[:80]
