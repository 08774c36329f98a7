"""The gate: what may become a claim, and the code and reason of what may not."""

from __future__ import annotations

import math
import numbers
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from semgraph.credentials import holds_secret
from semgraph.errors import InputError, RejectedError
from semgraph.markers import AFFECT, HEDGED, MOODS, NO_VERB, OPINION, PASSING_STATES, QUESTION, SPECULATION, TRANSIENT
from semgraph.names import SELF_NAMES, check_characters, check_size, check_text_size, fold_text
from semgraph.orders import gives_orders, has_markup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = [
    "CAP",
    "CODES",
    "LANGUAGE_CODES",
    "SEED_CONFIDENCE",
    "STRUCTURAL_CODES",
    "TRUST",
    "check_confidence",
    "check_note",
    "check_source",
    "check_text",
    "language_gate",
    "source_class",
    "trust_rank",
    "veto_key",
    "vetoed",
]

STRUCTURAL_CODES = (
    "bad_encoding",
    "control_chars",
    "oversize",
    "bad_confidence",
    "bad_time",
    "naive_time",
    "time_range",
    "empty_interval",
    "clock_skew",
    "empty_entity",
    "ambiguous_entity",
    "bad_predicate",
    "object_required",
)
LANGUAGE_CODES = (
    "too_short",
    "too_long",
    "no_subject",
    "unsourced",
    "self_restatement",
    "instruction_like",
    "secret",
    "question",
    "affect",
    "opinion_of_other",
    "speculation",
    "hedged",
    "transient",
    "do_not_remember",
    "sensitive",
)
CODES = STRUCTURAL_CODES + LANGUAGE_CODES  # in the order in which they are looked for: the first that fits is given

# By the part of a source before its colon.
TRUST = {"user": 3, "tool": 2, "imported": 1, "inferred": 0, "other": 0}
SEED_CONFIDENCE = {"user": 0.90, "tool": 0.85, "imported": 0.75, "inferred": 0.50, "other": 0.50}
CAP = {"user": 0.99, "tool": 0.99, "imported": 0.99, "inferred": 0.60, "other": 0.99}

MIN_CHARACTERS = 8
MAX_WORDS = 40
_LONG_WORD = 64  # a word counts once more for each such length, so that forty words are a sentence and not a file
_NAME_WORDS = 8  # a longer subject or object is text, and is read
_ORDER_NAME_WORDS = 4  # a longer one may carry an order
_SPAN = "\ue000"  # stands for the subject and the object while markers are looked for
_QUOTED = 24  # characters of a marker worth showing


# -- structural checks -------------------------------------------------------------------------------------------------


def check_text(text: str) -> None:
    """Nothing, or RejectedError: bad_encoding, control_chars, or oversize above 64 KiB of UTF-8."""
    check_text_size(text)


def check_note(value: object, what: str) -> None:
    """Nothing for a text that can be stored, or none at all; else InputError or RejectedError."""
    if value is None:
        return
    if not isinstance(value, str):
        raise InputError(f"{what} is a text, not {type(value).__name__}")
    check_text(value)


def check_confidence(value: object) -> float | None:
    """The confidence as a float between 0 and 1, or None where none is given; else RejectedError(bad_confidence).

    >>> check_confidence(1), check_confidence(None)
    (1.0, None)
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise RejectedError("bad_confidence", f"a confidence is a number, not {type(value).__name__}; use 0 to 1")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number <= 1:  # NaN neither
        raise RejectedError("bad_confidence", f"a confidence is between 0 and 1, not {number!r}")
    return number


def check_source(source: str) -> str:
    """The source without white space around it; RejectedError where there is none or it can't be stored."""
    if not isinstance(source, str):
        raise InputError(f"a source is text such as 'user' or 'imported:cv', not {type(source).__name__}")
    check_characters(source, "source")
    check_size(source, "source")
    if not source.strip():
        raise RejectedError("unsourced", "the source is empty; say who says so, such as 'user' or 'tool:ci'")
    return source.strip()


@lru_cache(maxsize=1024)
def source_class(source: str) -> str:
    """Which class a source is of: `user`, `tool`, `imported`, `inferred`, or `other`.

    >>> source_class("imported:wikidata"), source_class("assistant")
    ('imported', 'other')
    """
    kind = _before_colon(source)
    return kind if kind in TRUST else "other"


def _before_colon(source: str) -> str:
    return source.partition(":")[0].strip().casefold()


def trust_rank(source: str, trust: Iterable[tuple[str, int]] | None = None) -> int:
    """The trust rank of a source, by the ranks of its predicate where those name its class.

    >>> trust_rank("tool:ci"), trust_rank("tool:ci", (("tool", 4),))
    (2, 4)
    """
    kind = source_class(source)
    return dict(trust or ()).get(kind, TRUST[kind])


# -- the language gate -------------------------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    sentence: str  # as given
    folded: str
    masked: str  # folded, with the names of subject and object blanked out
    stated: str  # masked, but for an object that is itself a mood or a passing state
    parts: tuple[str, ...]  # subject and object, where they say more than the sentence


def language_gate(
    text: str | None,
    *,
    subject: str | None,
    predicate: str | None,
    object: str | None,
    source: str | None,
    has_start: bool,
    predicate_has_ttl: bool = False,
    sensitive: bool = False,
    consent: bool = True,
    veto: bool = False,
) -> None:
    """Nothing where the candidate may become a claim, else RejectedError with the first code that fits.

    Without a text the sentence is read off subject, predicate and object. `has_start`: the candidate is dated, so a
    plan is a fact. `veto`: something of it is not to be remembered (`vetoed`, or a vetoed entity or predicate).

    >>> language_gate("Arttu deploys arttuan.com on Vercel", subject="Arttu", predicate="deploys_on",
    ...               object="Vercel", source="user", has_start=False)
    """
    given = [part for part in (text, subject, predicate, object) if part is not None]
    for part in given:
        check_text(part)
    check_size(subject or "", "name")
    sentence = text if text is not None else " ".join(given).replace("_", " ")
    _check_specific(sentence, subject, object, has_text=text is not None)
    _check_sourced(source)
    candidate = _candidate(sentence, subject, object)
    # A person may tell a habit as an order ("call me Art"); a document or a tool has no orders to give at all.
    if _gives_orders(candidate, subject, object, strict=source_class(source or "") != "user"):
        _refuse("instruction_like", "it gives orders to a reader; state what is so, as a fact about somebody")
    if any(map(holds_secret, (sentence, *candidate.parts))):
        _refuse("secret", "it holds a key, password or card number; keep it in a password manager")
    _check_asserted(candidate, dated=has_start)
    if not predicate_has_ttl and (found := _marker("transient", candidate.stated)):
        _refuse("transient", f"it passes soon{found}; store what will still be true next month")
    if veto:
        _refuse("do_not_remember", "it is on the list of what is not to be remembered")
    if sensitive and not consent:
        _refuse("sensitive", "its predicate is sensitive and this scope has not consented")


def _refuse(code: str, reason: str) -> NoReturn:
    raise RejectedError(code, reason)


def _check_specific(sentence: str, subject: str | None, thing: str | None, *, has_text: bool) -> None:
    shown = " ".join(sentence.split())
    if has_text and len(shown) < MIN_CHARACTERS:
        _refuse("too_short", f"it has {len(shown)} characters, a statement at least {MIN_CHARACTERS}; say it in full")
    words = max(_words(sentence), _words(thing or ""))
    if words > MAX_WORDS:
        _refuse("too_long", f"it has {words} words, a fact at most {MAX_WORDS}; split it into single statements")
    if not (subject or "").strip():
        _refuse("no_subject", "nobody and nothing is named that it is about; give a subject")


def _words(text: str) -> int:
    return sum(1 + len(word) // _LONG_WORD for word in text.split())


def _check_sourced(source: str | None) -> None:
    if not (source or "").strip():
        _refuse("unsourced", "nobody is named who said it; give a source, such as 'user' or 'tool:ci'")
    if _before_colon(source or "") == "assistant":
        _refuse("self_restatement", "the assistant said it itself; give the turn or tool that it comes from")


def _check_asserted(candidate: _Candidate, *, dated: bool) -> None:
    if _pattern("question").search(candidate.masked):
        _refuse("question", "it asks; store the answer")
    if found := _marker("affect", candidate.stated):
        _refuse("affect", f"it tells a mood{found}; moods pass")
    if _marker("opinion_of_other", candidate.masked):
        _refuse("opinion_of_other", "it judges somebody, or tells what somebody thinks; store what can be checked")
    if not dated and (found := _marker("speculation", candidate.masked) or _will_do(candidate.masked)):
        _refuse("speculation", f"it is an intention without a date{found}; give valid_from, or wait until it happens")
    if found := _marker("hedged", candidate.masked):
        _refuse("hedged", f"it is hedged{found}; store it when it is known")


_TABLES = {
    "affect": AFFECT,
    "opinion_of_other": OPINION,
    "speculation": SPECULATION,
    "hedged": HEDGED,
    "transient": TRANSIENT,
}


@lru_cache(maxsize=len(_TABLES) + 1)
def _pattern(code: str) -> re.Pattern[str]:
    # Compiled on first use: `import semgraph` should cost nothing that only `remember` needs.
    if code == "question":
        return re.compile("|".join(QUESTION))
    return re.compile(rf"(?<![\w'])(?:{'|'.join(_TABLES[code])})(?!\w)")


def _marker(code: str, text: str) -> str:
    """The first marker of a code as it goes into a reason, or an empty text where there is none."""
    hit = _pattern(code).search(text)
    return _quoted(hit[0]) if hit else ""


def _quoted(marker: str) -> str:
    return f" ({marker!r})" if len(marker) <= _QUOTED and _SPAN not in marker else " by its wording"


_WILL = re.compile(r"(\S{1,60}) (?:will|shall) (?:(?:not|also|soon|never|still|then|just|only|be) ){0,2}([a-z]{2,40})")


def _will_do(text: str) -> str:
    """The modal verb, told from the name ("Will manages …") and the noun ("his will names …") by what stands around."""
    for before, verb in _WILL.findall(text):
        finite = (verb.endswith("s") and not verb.endswith("ss")) or (verb.endswith("ed") and not verb.endswith("eed"))
        if not finite and verb not in NO_VERB and before not in NO_VERB:
            return _quoted(f"will {verb}")
    return ""


# -- what is read and what is blanked out ------------------------------------------------------------------------------


def _candidate(sentence: str, subject: str | None, thing: str | None) -> _Candidate:
    folded = fold_text(sentence)
    names = [name for name in (subject, thing) if name and len(name.split()) <= _NAME_WORDS]
    masked = _masked(folded, names)
    lone = fold_text(thing or "")
    is_state = (lone in MOODS or lone in PASSING_STATES) and (thing or "") in sentence and (thing or "").islower()
    stated = _masked(folded, [subject or ""]) if is_state else masked
    parts = tuple(part for part in (subject, thing) if part and fold_text(part) not in folded)
    return _Candidate(sentence, folded, masked, stated, parts)


def _masked(folded: str, names: Sequence[str]) -> str:
    """The text with every whole-word mention of the names blanked out; untouched where nothing else would be left."""
    masked = folded
    for name in sorted(map(fold_text, names), key=len, reverse=True):
        trimmed = name.strip(" \"'.,;:!?()")
        # "I think" and "you are now" are about the sentence, even where the subject is called "I" or "you".
        for span in (name, trimmed):
            if span and trimmed not in SELF_NAMES:
                masked = _blanked(masked, span)
    return masked if any(map(str.isalnum, masked)) else folded


def _blanked(text: str, span: str) -> str:
    parts, start = [], 0
    at = text.find(span)
    while at >= 0:
        end = at + len(span)
        if not (_joins(text[at - 1 : at], span[0]) or _joins(text[end : end + 1], span[-1])):
            parts += [text[start:at], _SPAN]
            start = end
        at = text.find(span, max(start, at + 1))
    return "".join([*parts, text[start:]])


def _joins(outer: str, inner: str) -> bool:
    return outer.isalnum() and inner.isalnum()


def _gives_orders(candidate: _Candidate, subject: str | None, thing: str | None, *, strict: bool) -> bool:
    short = [name for name in (subject, thing) if name and len(name.split()) <= _ORDER_NAME_WORDS]
    raws = (candidate.sentence, *candidate.parts)
    texts = [_masked(candidate.folded, short), *(fold_text(part) for part in candidate.parts if part not in short)]
    if any(map(has_markup, raws)) or any(map(gives_orders, texts)):
        return True
    # "You are vegetarian" is about the user where the subject says so; elsewhere it addresses the reader.
    about_you = fold_text(subject or "") == "you"
    return strict and any(gives_orders(_blanked(t, "you") if about_you else t, strict=True) for t in texts)


# -- vetoes ------------------------------------------------------------------------------------------------------------

# No format characters, and yet invisible: what a writer could slip between two letters.
_INVISIBLE = dict.fromkeys(map(ord, "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u200d"))
# Letters of scripts that put no space between words: each is a word of its own.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]"
)


def vetoed(texts: Iterable[str], phrases: Collection[str]) -> bool:
    """Whether one of the texts holds one of the phrases as whole words, however they are cased, spaced or padded.

    >>> vetoed(["We met at PROJECT  Falcon"], ["project falcon"]), vetoed(["Falconry"], ["falcon"])
    (True, False)
    """
    needles = {needle for needle in map(_needle, phrases) if needle.spelling}
    if not needles:
        return False
    for text in texts:
        words = {symbols: _veto_words(text, symbols=symbols) for symbols in {needle.symbols for needle in needles}}
        if any(_holds(words[needle.symbols], needle.spelling) for needle in needles):
            return True
    return False


def veto_key(phrase: str) -> str:
    """The form under which a phrase that is not to be remembered is kept; InputError where it has no word in it."""
    check_text(phrase)
    check_size(phrase, "phrase")
    needle = _needle(phrase)
    if not needle.spelling:
        raise InputError("a phrase that is not to be remembered needs a letter, a digit or a symbol; write one")
    return needle.words


class _Needle(NamedTuple):
    words: str
    spelling: str  # the words without spaces
    symbols: bool  # whether symbols are part of its words: "C++" is not "C"


@lru_cache(maxsize=4096)
def _needle(phrase: str) -> _Needle:
    symbols = any(map(_is_symbol, fold_text(phrase)))
    words = _veto_words(phrase, symbols=symbols)
    return _Needle(" ".join(words), "".join(words), symbols)


def _is_symbol(char: str) -> bool:
    return char in "#&@%*" or unicodedata.category(char)[0] == "S"


def _veto_words(text: str, *, symbols: bool) -> list[str]:
    folded = fold_text(text.translate(_INVISIBLE))
    kept = "".join(
        c if c.isalnum() or unicodedata.category(c)[0] == "M" or (symbols and _is_symbol(c)) else " " for c in folded
    )
    return _UNSPACED.sub(r" \g<0> ", kept).split()


def _holds(words: list[str], spelling: str) -> bool:
    """Whether whole words in a row spell the needle, wherever spaces were put or left out."""
    edges, length = {0}, 0
    for word in words:
        length += len(word)
        edges.add(length)
    text = "".join(words)
    return any(edge + len(spelling) in edges and text.startswith(spelling, edge) for edge in edges)
