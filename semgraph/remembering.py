"""Sentences in: candidates from a text, the language gate before each, and the vetoes that every write respects."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from semgraph import names
from semgraph.errors import InputError, NotFoundError, RejectedError
from semgraph.gate import check_note, check_text, language_gate, source_class, veto_key, vetoed
from semgraph.model import WORDS, Entity, Literal, Veto
from semgraph.store.schema import VetoRow
from semgraph.temporal import Bound, exact
from semgraph.vocabulary import predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from semgraph.session import Session
    from semgraph.statement import Said

__all__ = [
    "candidates",
    "check_guess",
    "check_language",
    "check_vetoes",
    "kept_words",
    "lift",
    "rules",
    "veto",
    "vetoes",
]

_NAME_WORDS = 4


def candidates(
    session: Session,
    text: str,
    given: Mapping[str, Any],
    extractor: str | Callable[[str], Iterable[Mapping[str, Any]]] | None,
) -> list[dict[str, Any]]:
    """What is to be stored of a text, each in the words of `add`; the gate has seen none of it yet."""
    if not isinstance(text, str):
        raise InputError(f"a text is wanted, not {type(text).__name__}")
    if not (extractor is None or extractor == "rules" or callable(extractor)):
        raise InputError(f"extractor is 'rules', None or a callable from a text to candidates, not {extractor!r}")
    check_note(given.get("source"), "source")
    source = session.config.source if given.get("source") is None else given["source"]
    found = _candidates(session, text, given, extractor)
    return [{**words, "source": words.get("source") or source} for words in found]


def _candidates(session: Session, text: str, given: Mapping[str, Any], extractor: Any) -> list[dict[str, Any]]:
    base = {**given, "text": text}
    if given.get("subject") is not None or extractor is None:
        return [_filled(base)]
    common = {
        key: value for key, value in base.items() if key in ("source", "source_ref", "said_at") and value is not None
    }
    if callable(extractor):
        return [{"text": text, **common, **_candidate(found)} for found in extractor(text)]
    found = [{**common, **words} for words in rules(session, text, given.get("said_at"))]
    if not any("predicate" in words for words in found):
        return [_filled(_about(session, base))]
    return [words if "predicate" in words else _filled(_about(session, words)) for words in found]


def _about(session: Session, words: dict[str, Any]) -> dict[str, Any]:
    """A sentence with whom it is about: the one who speaks, or a known name at its beginning; else as it is."""
    parts = words["text"].split()
    if parts and re.fullmatch(r"(?:I|My)(?:['’]\w+)?", parts[0]):
        return {**words, "subject": "user"}
    with session.read():
        for length in range(min(len(parts), _NAME_WORDS), 0, -1):
            name = re.sub("['’]s$", "", " ".join(parts[:length]))
            try:
                known = session.directory.one(name, session.ledger.at())
            except (InputError, LookupError):
                continue
            if known is not None:
                return {**words, "subject": name}
    return words


def _candidate(found: object) -> dict[str, Any]:
    """What an extractor found, if it is in the words of `add`."""
    if not hasattr(found, "keys") or not set(found) <= WORDS:  # type: ignore[call-overload]  # a mapping here
        raise InputError(f"an extractor gives mappings with the parameters of add(), not {ascii(found)[:80]}")
    words: dict[str, Any] = dict(found)  # type: ignore[call-overload]  # see above
    if words.get("kind", "state") not in ("state", "change", "also"):
        raise InputError(f"kind is state, change or also, not {words['kind']!r}")
    return words


def rules(session: Session, text: str, said_at: object = None) -> list[dict[str, Any]]:
    """What the built-in patterns find, with dates read as of when it was said; see `semgraph.phrases`."""
    from semgraph import phrases
    from semgraph.phrases.dating import dated

    spoken = session.when(said_at)  # type: ignore[arg-type]  # what is no date is refused there
    zone = ZoneInfo(session.config.timezone or "UTC")
    instant = session.wall() if spoken is None or spoken.precision == "unknown" else spoken.instant
    reference = exact(instant).to_datetime().astimezone(zone)
    found = phrases.candidates(text, partial(dated, reference=reference))
    return [{key: value for key, value in words.items() if value is not None} for words in found]


def _filled(words: dict[str, Any]) -> dict[str, Any]:
    """A sentence without a key is kept under its subject."""
    if words.get("predicate") is None:
        return {
            **words,
            "predicate": "states",
            "object": words["text"] if words.get("object") is None else words["object"],
        }
    return words


def check_language(session: Session, text: str, words: Mapping[str, Any]) -> None:
    """The structural checks that need no store, then the language gate."""
    check_text(text)
    subject = words.get("subject")
    if isinstance(subject, str):
        names.entity_key(subject)
    with session.read():
        entry = session.ledger.registry().resolve(words.get("predicate")).predicate
        vetoes = _vetoes(session)
        spoken = [str(part) for part in (text, _text(subject), _text(words.get("object"))) if part]
    own_sentence = words.get("predicate") == "states"
    language_gate(
        str(words.get("text") or text),
        subject=_text(subject),
        predicate=words.get("predicate"),
        object=None if own_sentence else _text(words.get("object")),
        source=words.get("source"),
        has_start=words.get("valid_from") is not None,
        predicate_has_ttl=entry.ttl_days is not None,
        sensitive=entry.sensitive,
        consent=session.config.consent,
        veto=vetoed(spoken, [row.value for row in vetoes if row.kind == "phrase"]),
    )


def veto(session: Session, *, phrase: str | None, entity: object, predicate: str | None) -> None:
    """Keep what must not be remembered from now on."""
    kind, what = _target("veto", phrase, entity, predicate)
    with session.write() as recorded_at:
        row = VetoRow(session.ledger.scope, kind, _key(session, kind, what), recorded_at)
        session.ledger.store.insert([row], replace=True)
        session.ledger.forget_records()


def lift(session: Session, *, phrase: str | None, entity: object, predicate: str | None) -> None:
    """Allow again what was vetoed; NotFoundError where it is not."""
    kind, what = _target("lift", phrase, entity, predicate)
    with session.write():
        store, scope = session.ledger.store, session.ledger.scope
        if not store.delete(VetoRow, scope, kind=kind, value=_key(session, kind, what)):
            raise NotFoundError(f"the {kind} {_text(what)!r} is not vetoed; kg.vetoes lists what is")
        session.ledger.forget_records()


def vetoes(session: Session) -> list[Veto]:
    """What must not be remembered, in the order in which it was said."""
    with session.read():
        rows = sorted(_vetoes(session), key=lambda row: (row.recorded_at, row.kind, row.value))
    return [Veto(row.kind, row.value, exact(row.recorded_at)) for row in rows]


def _target(verb: str, phrase: str | None, entity: object, predicate: str | None) -> tuple[str, object]:
    parts = (("phrase", phrase), ("entity", entity), ("predicate", predicate))
    given = [(kind, what) for kind, what in parts if what is not None]
    if len(given) != 1:
        raise InputError(f"{verb} takes exactly one of phrase=, entity= and predicate=")
    return given[0]


def _key(session: Session, kind: str, what: object) -> str:
    """The form under which a veto is kept."""
    if kind == "phrase":
        return veto_key(str(what))
    if kind == "entity":
        return session.directory.key(what.label if isinstance(what, Entity) else str(what))
    return session.ledger.registry().canonical(predicate_key(str(what)))


def check_guess(session: Session, said: Said) -> None:
    """RejectedError(unsourced) for an inferred claim where the store takes none."""
    if not session.config.accept_inferred and source_class(said.source) == "inferred":
        raise RejectedError("unsourced", "this store takes no guesses (accept_inferred is off); say who told it")


def check_vetoes(session: Session, said: Said) -> None:
    """RejectedError(do_not_remember) for what somebody asked never to store; inside a transaction."""
    vetoes = _vetoes(session)
    if not vetoes:
        return
    details = json.loads(said.qualifiers) if said.qualifiers else {}
    spoken = (said.text, _text(said.subject), said.thing.text, _text(said.thing.entity), said.source_ref, said.source)
    check_phrases(session, [*spoken, *details, *map(_text, details.values())])
    refused = any(row.kind == "predicate" and row.value == said.predicate.name for row in vetoes)
    refused = refused or any(row.kind == "entity" and _names(session, said, row.value) for row in vetoes)
    if refused:
        raise _unwanted()


def check_phrases(session: Session, texts: Iterable[object]) -> None:
    """RejectedError(do_not_remember) where a text among them holds a vetoed phrase; inside a transaction."""
    phrases = [row.value for row in _vetoes(session) if row.kind == "phrase"]
    if phrases and vetoed([text for text in texts if isinstance(text, str)], phrases):
        raise _unwanted()


def _unwanted() -> RejectedError:
    return RejectedError("do_not_remember", "somebody asked never to store this")


def _names(session: Session, said: Said, key: str) -> bool:
    """Whether the claim is about the entity of a vetoed name, under whatever name."""
    directory, snapshot = session.directory, session.ledger.at()
    banned = {snapshot.entity(row.entity) for row in directory.rows(key)}
    for end in (said.subject, said.thing.entity):
        if isinstance(end, Entity) and snapshot.entity(directory.number(end)) in banned:
            return True
        if isinstance(end, str):
            own = directory.key(end)
            if own == key or banned & {snapshot.entity(row.entity) for row in directory.rows(own)}:
                return True
    return False


def _vetoes(session: Session) -> list[VetoRow]:
    return session.ledger.records.vetoes


def kept_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, as JSON can keep it."""
    return {str(key): _plain(value) for key, value in words.items() if not any(value is no for no in (None, False, ()))}


def _plain(value: object) -> Any:
    if isinstance(value, (Entity, Literal)):
        return value.label
    if isinstance(value, Bound):
        return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _text(value: object) -> str | None:
    return None if value is None else _plain(value) if isinstance(_plain(value), str) else str(value)
