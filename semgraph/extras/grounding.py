"""Whether the text says what a model made of it: each name, sentence, change and date is looked up in the words.

A model proposes; what is stored is decided here, without it. A candidate is kept as what its own sentence supports, or
refused with the reason: nothing that a model makes up, repeats from an example or was talked into is in the text.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semgraph import phrases
from semgraph.dates import find_dates, parse_when, read_when
from semgraph.errors import InputError, RejectedError
from semgraph.exchange.conversations import ASSISTANT, USER
from semgraph.extras.prompting import KINDS
from semgraph.extras.subjects import opposite, other_subject
from semgraph.markers import words as words_of
from semgraph.names import SELF_NAMES, fold_text
from semgraph.phrases.dating import dated
from semgraph.vocabulary import predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from semgraph.exchange.conversations import Turn
    from semgraph.extras.episodes import Episode
    from semgraph.temporal import Bound

    Words = dict[str, Any]

__all__ = ["Candidate", "Reader", "contains", "tokens"]

_TOKEN: Final = re.compile(r"[^\W_]+[+#]*")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ARTICLES: Final = frozenset(["a", "an", "the", "my", "our", "his", "her", "their", "its", "your"])
_FIRST: Final = frozenset(
    words_of(
        "i me my mine myself we us our ours im ich mich mir mein meine je moi mon ma mes yo mi io mio mia eu meu minha "
        "jag mig min mina jeg minä minun мой моя я"
    )
)
_THIRD: Final = frozenset(
    words_of("he him his himself she her hers herself they them their theirs themselves it its itself")
)
_OVER: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|stopped|quit|quits|left|leaves|resigned|retired|gave up|"
    r"given up|got rid of|ended|cancell?ed|used to|formerly|former|previously|sold|broke up|split up|divorced|dropped|"
    r"closed|shut down|fired|laid off|ex-\w+)\b"
)
_CHANGED: Final = re.compile(
    r"\b(?:moved|moving|moves|switched|switching|changed|migrated|relocated|transferred|replaced|became|becoming|renamed|"
    r"upgraded|converted|promoted|instead|started|joined|took over|now)\b"
)
_MOVED: Final = re.compile(r"\b(?:moved|switched|changed|migrated|relocated|transferred|renamed|upgraded|converted)\b")
_NEVER: Final = (  # what denies the rest of a list too
    r"not|never|nobody|cannot|neither|nor|\w+n't|(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would)nt|"
    r"hardly|scarcely|(?:false|untrue) that|den(?:y|ies|ied)|refus(?:e|es|ed) to|fail(?:s|ed)? to|"
    r"nicht|nie|niemals|keine?[mnrs]?|pas|jamais|nunca|não|nao|non(?!-)|niet|geen|inte|ikke|aldrig?|не|никогда"
)
_DENIED: Final = re.compile(rf"\b(?:{_NEVER}|no|none|without)\b")
_DENIED_ALL: Final = re.compile(rf"\b(?:{_NEVER})\b")
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|pretend\w*|wish(?:es|ed)?|dream(?:ed|t)|(?:almost|nearly) \w+ed|"
    r"could|would(?! (?:later|then|become|go on|eventually|subsequently)\b)|(?:i|we|he|she|they|you) thought)\b|"
    r"^had (?:i|we|he|she|they|you)\b"
)
_DO_NOT: Final = re.compile(r"\b(?:do|does|did)(?:n't|nt| not)\b")
_FINITE: Final = re.compile(r"\s*(?:is|was|has|had|went|came|[a-z]+(?:ed|[^\Wsu]s))\b")
_CLAUSE: Final = re.compile(r"([;:]|,? (?:and|but|while|though|although|because|so|now)(?= )|, )")
_JOINS: Final = frozenset([",", ", and", "and"])
_SUBJECT: Final = re.compile(r"\b(?:i|you|he|she|it|we|they|who|which)\b")
_SPOKEN: Final = re.compile(r"[\"“„«][^\"“”«»]*[\"”»]")
_TEXTS: Final = ("subject", "predicate", "object", "quote")


class Candidate(NamedTuple):
    """A claim as the text supports it, in the words of `add`; with a code and a reason it is refused."""

    words: Mapping[str, Any]
    code: str | None = None
    reason: str = ""


class _Unsupported(Exception):
    """Why the text does not support a candidate."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def tokens(text: str) -> str:
    """The words of a text, each between spaces, as they are compared: without case, marks and possessives."""
    plain = re.sub(r"['’]s\b", "", fold_text(text))
    return f" {' '.join(_TOKEN.findall(plain))} "


def contains(words: str, name: str) -> bool:
    """Whether whole words in a row of a text (as `tokens` gives it) are those of a name, its article aside.

    >>> contains(tokens("We met the Payments-Service team."), "payments service"), contains(tokens("C++"), "C")
    (True, False)
    """
    parts = tokens(name).split()
    while len(parts) > 1 and parts[0] in _ARTICLES:
        parts = parts[1:]
    if not parts:
        return False
    if _UNSPACED.search(name):  # no spaces between the words there
        return "".join(parts) in words.replace(" ", "")
    return f" {' '.join(parts)} " in words


class Reader:
    """Reads the candidates of one episode against its turns.

    Args:
        names: the other names of whatever a name means, by which the text may call it.
        source: who is taken to have said what a sentence states; what only follows is `inferred`.
        reference: the moment that words like "last month" count from where a turn has no time.
    """

    def __init__(
        self,
        episode: Episode,
        *,
        names: Callable[[str], Iterable[str]],
        source: str,
        inferred: str,
        reference: datetime,
    ) -> None:
        self._turns = [(turn, tokens(turn.text)) for turn in episode.turns]
        self._all = " ".join(words for _, words in self._turns)
        self._names = names
        self._source = source
        self._inferred = inferred
        self._now = reference

    def read(self, found: Mapping[str, Any]) -> Candidate:
        """What becomes of one candidate."""
        given = {name: " ".join(str(found.get(name) or "").split()) for name in _TEXTS}
        try:
            turn, sentence = self._evidence(given)
            words = self._words(found, given, turn, sentence)
        except _Unsupported as unsupported:
            return Candidate(given, unsupported.code, str(unsupported))
        except RejectedError as refused:
            return Candidate(given, refused.code, refused.reason)
        return Candidate({name: value for name, value in words.items() if value is not None})

    # -- where it is said

    def _evidence(self, given: Mapping[str, str]) -> tuple[Turn, str]:
        """The turn that holds the quote, and the sentence of it that does."""
        if missing := [name for name in _TEXTS if not given[name]]:
            raise _Unsupported("malformed", f"it has no {missing[0]}")
        quote = tokens(given["quote"])
        if not quote.strip():
            raise _Unsupported("malformed", "its quote has no word in it")
        subject = fold_text(given["subject"])
        said = [turn for turn, words in self._turns if quote in words]
        if not said:
            raise _Unsupported("ungrounded", "the sentence that it quotes is not in the text")
        # Several may have said the same of themselves.
        turn = min(said, key=lambda one: (fold_text(one.speaker) != subject, one.speaker == ASSISTANT))
        whole = [sentence for sentence in phrases.sentences(turn.text) if quote in tokens(sentence)]
        return turn, whole[0] if whole else given["quote"]

    def _words(self, found: Mapping[str, Any], given: Mapping[str, str], turn: Turn, sentence: str) -> Words:
        if turn.speaker == ASSISTANT:
            raise _Unsupported("self_restatement", "the assistant said it; what it says is no evidence")
        said = tokens(sentence)
        subject = self._subject(given["subject"], turn, sentence, said)
        reference = self._reference(turn)
        thing = self._object(given["object"], turn, sentence, said, reference)
        common: Words = {
            "text": sentence,
            "source": self._source if found.get("stated") is True else self._inferred,
            "source_ref": turn.ref,
            "said_at": turn.said_at,
        }
        read = self._by_rules(sentence, subject, given["predicate"], thing, turn, reference)
        if read is not None:
            return {**read, **common}
        self._check_sense(sentence, subject, given["predicate"], thing, turn)
        kind, negative = _kind(str(found.get("kind") or "state"), sentence, subject, thing)
        when = _when(found, sentence, reference, over=kind == "change" and negative)
        told = {"subject": subject, "predicate": given["predicate"], "object": thing, "kind": kind}
        return {**told, "negative": negative or None, **when, **common}

    # -- names

    def _subject(self, name: str, turn: Turn, sentence: str, said: str) -> str:
        if fold_text(name) in SELF_NAMES or fold_text(name) == fold_text(turn.speaker):
            own = tokens(_SPOKEN.sub(" ", sentence)).split()  # "I" in the words of others is somebody else
            if not _FIRST.isdisjoint(own) or any(contains(said, one) for one in self._called(turn.speaker)):
                return turn.speaker
            raise _Unsupported("ungrounded", "the sentence does not say that it is about the one who speaks")
        called = self._called(name)
        if any(contains(said, one) for one in called):
            return name
        if not any(contains(self._all, one) for one in called):
            raise _Unsupported("ungrounded", f"{name!r} is not in the text")
        if _THIRD.isdisjoint(said.split()):
            raise _Unsupported("ungrounded", f"the sentence does not speak of {name!r}")
        return name

    def _object(self, name: str, turn: Turn, sentence: str, said: str, reference: datetime) -> str:
        if fold_text(name) in SELF_NAMES:
            if _FIRST.isdisjoint(said.split()):
                raise _Unsupported("ungrounded", "the sentence does not speak of the one who speaks")
            return turn.speaker
        if any(contains(said, one) for one in self._called(name)) or _same_date(name, sentence, reference):
            return name
        raise _Unsupported("ungrounded", f"{name!r} is not in the sentence")

    def _called(self, name: str) -> list[str]:
        """The names by which the text may call it: none of the ones that mean anybody who speaks."""
        other = () if name == USER else self._names(name)
        return [name, *(one for one in other if fold_text(one) not in SELF_NAMES)]

    # -- what it says

    def _check_sense(self, sentence: str, subject: str, predicate: str, thing: str, turn: Turn) -> None:
        """Refuse what the words of a sentence would do for, though it is about another, or says the opposite."""
        before, own = _clause(sentence, subject, thing)
        speaks = subject == turn.speaker
        names = [one for one in self._called(subject) if fold_text(one) not in SELF_NAMES]
        about = other_subject(
            " and ".join(part.strip() for part in (*before, own)), thing, predicate, names, speaks=speaks
        )
        if about is not None:
            raise _Unsupported("ungrounded", f"the sentence says it of {about!r}")
        if said := opposite(own, predicate):
            raise _Unsupported("ungrounded", f"the sentence says the opposite: {said!r}")

    def _reference(self, turn: Turn) -> datetime:
        if turn.said_at is None:
            return self._now
        return turn.said_at.to_datetime().astimezone(self._now.tzinfo)

    def _by_rules(
        self, sentence: str, subject: str, predicate: str, thing: str, turn: Turn, reference: datetime
    ) -> Words | None:
        """The candidate as the sentence patterns read it, if they read the same: they know tense, change and dates."""
        for read in phrases.candidates(sentence, partial(dated, reference=reference)):
            if "predicate" not in read or read["predicate"] != _plain_key(predicate):
                continue
            who = turn.speaker if read["subject"] == phrases.SPEAKER else read["subject"]
            if fold_text(str(who)) == fold_text(subject) and tokens(str(read["object"])) == tokens(thing):
                return read | {"subject": subject}
        return None


def _plain_key(predicate: str) -> str | None:
    try:
        return predicate_key(predicate)
    except InputError:
        return None


def _kind(kind: str, sentence: str, subject: str, thing: str) -> tuple[str, bool]:
    """The kind that the words bear out, and whether the claim is negative.

    What supersedes what is for the graph to decide, by rules; a model's word that something changed or is over counts
    only where the sentence says so, and it can't turn a sentence that says so into a plain fact.
    """
    if kind not in KINDS:
        raise _Unsupported("malformed", f"its kind is {', '.join(KINDS)}, not {kind[:40]!r}")
    before, own = _clause(sentence, subject, thing)
    clause, whole = fold_text(own), fold_text(sentence).replace("’", "'")
    if _SUPPOSED.search(clause):
        raise _Unsupported("hedged", "the sentence only supposes it")
    over, denied = bool(_OVER.search(clause)), bool(_DENIED.search(clause) or _passed_over(clause, thing))
    if kind == "ended":
        if not _OVER.search(whole):
            raise _Unsupported("ungrounded", "nothing in the sentence says that it is over")
        return "change", True
    if kind == "not":
        if not _DENIED.search(whole):
            raise _Unsupported("ungrounded", "nothing in the sentence denies it")
        return "state", True
    if denied or (over and not _CHANGED.search(clause)):
        raise _Unsupported("ungrounded", "the sentence says that it does not hold, or no longer")
    if reach := _reaching(before, clause):
        raise _Unsupported(
            "ungrounded", f"what it denies ({reach!r}) may go on to this; it takes a sentence of its own"
        )
    if kind == "change":
        return ("change" if _CHANGED.search(whole) else "state"), False
    return ("change" if _MOVED.search(clause) else "state"), False


def _clause(sentence: str, subject: str, thing: str) -> tuple[list[str], str]:
    """The part of a sentence that names the object, and those before it that it goes on from without a subject."""
    parts = _CLAUSE.split(sentence.replace("’", "'"))
    at = next((at for at in range(0, len(parts), 2) if contains(tokens(parts[at]), thing)), None)
    if at is None:
        return [], sentence
    first = at
    while first and parts[first - 1].strip() in _JOINS and not _has_subject(parts[first], subject):
        first -= 2
    return parts[first:at:2], parts[at]


def _has_subject(part: str, subject: str) -> bool:
    return bool(_SUBJECT.search(fold_text(part))) or contains(tokens(part), subject)


def _reaching(before: Iterable[str], clause: str) -> str | None:
    """The part of a sentence whose denial may go on into the clause: "I don't smoke and live in Oslo".

    What "doesn't" denies stands in its plain form, so that "Maya doesn't smoke and lives in Oslo" leaves no doubt.
    """
    own = _FINITE.match(clause)
    for part in before:
        low = fold_text(part)
        if _DENIED_ALL.search(low) and not _OVER.search(low) and not (own and _DO_NOT.search(low)):
            return part.strip(" ,")
    return None


def _passed_over(clause: str, thing: str) -> bool:
    """Whether something else is said to hold in place of the object."""
    return any(contains(tokens(clause), f"{words} {thing}") for words in ("rather than", "instead of", "unlike"))


# -- dates


def _when(found: Mapping[str, Any], sentence: str, reference: datetime, *, over: bool) -> Words:
    """From when until when, by the words that say so; a date that is not in the sentence is refused."""
    since, until = (_reading(found.get(name), sentence, reference) for name in ("since", "until"))
    if since is None and until is None:
        read = dated(sentence.rstrip(".!"), reference)
        certain = read is not None and (not read.point or read.now is False) and _MOVED.search(fold_text(sentence))
        if read is None or not (certain or over or not read.point):
            return {}
        return _span(read.start, None if over else read.end)
    return _span(since or (until if over else None), None if over else until)


def _span(start: Bound | None, end: Bound | None) -> Words:
    return {"valid_from": start, "valid_to": end}


def _reading(words: object, sentence: str, reference: datetime) -> Bound | None:
    """The bound that words of the sentence mean."""
    text = " ".join(str(words).split()) if isinstance(words, str) else ""
    if not text or text.lower() in ("null", "none", "unknown", "now"):
        return None
    if contains(tokens(sentence), text):
        reading = read_when(text, reference=reference)
        return reading.start or reading.end
    stated = _iso(text, reference)
    for span in find_dates(sentence, reference=reference):
        bound = span.reading.start or span.reading.end
        if stated is not None and bound is not None and str(bound) == str(stated):
            return bound
    raise _Unsupported("ungrounded", f"the date {text[:40]!r} is not in the sentence")


def _iso(text: str, reference: datetime) -> Bound | None:
    try:
        return parse_when(text, reference=reference)
    except RejectedError:
        return None


def _same_date(text: str, sentence: str, reference: datetime) -> bool:
    """Whether an object is a date that the sentence names in other words."""
    stated = _iso(text, reference) if re.search(r"\d", text) else None
    if stated is None:
        return False
    readings = (span.reading for span in find_dates(sentence, reference=reference))
    return any(str(reading.start or reading.end) == str(stated) for reading in readings)
