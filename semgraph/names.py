"""Keys of names and texts: what counts as the same name, and what merely looks alike."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from semgraph.errors import InputError, RejectedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "MAX_NAME",
    "MAX_TEXT_BYTES",
    "SELF_NAMES",
    "check_characters",
    "check_size",
    "entity_key",
    "exact_key",
    "fold_text",
    "is_hashed_key",
    "is_self",
    "literal_key",
    "look_alikes",
    "loose_key",
    "mixed_script",
    "refines",
    "suggest",
]

MAX_NAME = 512  # characters
MAX_TEXT_BYTES = 64 * 1024  # of UTF-8

SELF_NAMES = frozenset({"the user", "user", "you", "me", "i", "myself"})

_ZWJ = "\u200d"
# The whole property Variation_Selector: the Mongolian ones are no format characters in older tables.
_VARIATION = frozenset(map(chr, (*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_DASHES = frozenset(
    "\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d"
    "\ufe58\ufe63\uff0d\U00010ead"
)
_APOSTROPHES = frozenset("`\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02bd\u2032\ua78c\uff07")
_TRIM = (
    " \"'.,;:!?()[]{}<>"
    "\u201a\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"  # quotes that are no apostrophes
    "\u300c\u300d\u300e\u300f\u301d\u301e\u301f\u300a\u300b\u3008\u3009\u3010\u3011\u3014\u3015"  # CJK quotes
    "\u3002\u3001"  # CJK stops; the full-width and half-width ones are folded onto these or onto ASCII
)
_PICTOGRAPHS = "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
_NOT_ADDED = frozenset({"not", "no", "never", "former", "ex"})
_HASHED = re.compile(r":[0-9a-f]{64}")


def check_characters(text: str, what: str) -> None:
    """Nothing, or RejectedError where the text can't be stored: a lone surrogate, or a NUL."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = f"U+{ord(text[error.start]):04X}"
            reason = f"the {what} holds the lone surrogate {code} at position {error.start}; decode it as UTF-8 first"
            raise RejectedError("bad_encoding", reason) from None
    if "\0" in text:
        reason = f"the {what} holds a NUL at position {text.index(chr(0))}; remove it"
        raise RejectedError("control_chars", reason)


def check_size(text: str, what: str, *, normalised: str = "") -> None:
    """Nothing, or RejectedError(oversize) where a name is longer than 512 characters, as given or as normalised."""
    if len(text) > MAX_NAME:
        reason = f"the {what} has {len(text):,} characters, the most is {MAX_NAME}; keep long text as a literal"
        raise RejectedError("oversize", reason)
    if len(normalised) > MAX_NAME:
        reason = f"the {what} grows to {len(normalised):,} characters when normalised, the most is {MAX_NAME}"
        raise RejectedError("oversize", reason)


def entity_key(name: str) -> str:
    """The key under which a name is looked up: names with one key are one name.

    Raises:
        RejectedError: bad_encoding, control_chars, oversize, or empty_entity where nothing visible is left.

    >>> entity_key("  “Arttu   Antikainen”, ")
    'arttu antikainen'
    >>> entity_key("C++") == entity_key("C#")
    False
    """
    if not isinstance(name, str):
        raise InputError(f"a name is text, not {type(name).__name__}: pass a str or an Entity")
    return _entity_key(name)


@lru_cache(maxsize=65536)
def _entity_key(name: str) -> str:
    check_characters(name, "name")
    check_size(name, "name")
    key = _key(name)
    if not key:
        raise RejectedError("empty_entity", "the name has no visible character; name the entity")
    check_size("", "name", normalised=key)
    return key


def literal_key(text: str) -> str:
    """The key under which text literals are compared; a digest where the normalised text has over 512 characters.

    >>> literal_key("Dark  Mode.") == literal_key("dark mode")
    True
    """
    check_text_size(text)
    key = _key(text)
    if not key:
        raise RejectedError("empty_entity", "the text has no visible character; leave the object out or write it")
    return _digest(key) if len(key) > MAX_NAME else key


def exact_key(text: str) -> str:
    """The key of a text literal whose predicate is `exact`: the text itself in NFC, long ones as a digest."""
    check_text_size(text)
    if not text.strip():
        raise RejectedError("empty_entity", "the text has no visible character; leave the object out or write it")
    key = unicodedata.normalize("NFC", _ordered_marks(text))
    # A text that is spelled like a digest must not meet the digest of another text.
    return _digest(key) if len(key) > MAX_NAME or is_hashed_key(key) else key


def check_text_size(text: str) -> None:
    """Nothing, or RejectedError where a text is no storable text of at most 64 KiB."""
    if not isinstance(text, str):
        raise InputError(f"a text is a str, not {type(text).__name__}")
    check_characters(text, "text")
    if len(text) * 4 > MAX_TEXT_BYTES and (size := len(text.encode())) > MAX_TEXT_BYTES:
        raise RejectedError("oversize", f"the text has {size:,} bytes, the most is {MAX_TEXT_BYTES:,}; split it")


def is_hashed_key(key: str) -> bool:
    """Whether a key is the digest of a long text; no ordinary key looks like one, because colons are trimmed."""
    return _HASHED.fullmatch(key) is not None


def is_self(key: str, self_names: Collection[str] = SELF_NAMES) -> bool:
    """Whether a key means the self entity of its scope."""
    return key in self_names


def refines(finer_key: str, coarser_key: str) -> bool:
    """Whether the words of the coarser key are the first words of the finer one, and none of the added ones negates.

    >>> refines("postgres 16 on neon", "postgres"), refines("vice president", "president")
    (True, False)
    """
    if not finer_key.startswith(f"{coarser_key} ") or is_hashed_key(finer_key) or is_hashed_key(coarser_key):
        return False
    added = re.findall(r"\w+", finer_key[len(coarser_key) :])
    return _NOT_ADDED.isdisjoint(added)


def fold_text(text: str) -> str:
    """The text in lower case, NFKC, without invisible characters, with single spaces; its ends are not trimmed."""
    return _stable(text, trim=False)


def _key(text: str) -> str:
    return _stable(text, trim=True)


def _stable(text: str, *, trim: bool) -> str:
    if text.isascii():
        return _trimmed(_collapsed(_clean(text.lower())), trim=trim)
    text = _ordered_marks(text)
    while True:  # dropping an invisible character can let its neighbours compose, so one pass is not enough
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        folded = _trimmed(_collapsed(_clean(folded)), trim=trim)
        if folded == text:
            return folded
        text = folded


def _clean(text: str) -> str:
    """The text without invisible characters, with plain dashes and apostrophes; control characters as spaces."""
    table: dict[int, str | None] = {}
    for char in set(text):
        if char in _APOSTROPHES:
            table[ord(char)] = "'"
        elif " " <= char <= "~":
            continue
        elif char in _DASHES:
            table[ord(char)] = "-"
        elif char in _VARIATION:
            table[ord(char)] = None
        elif (category := unicodedata.category(char)) == "Cc":
            table[ord(char)] = " "
        elif category == "Cf" and char != _ZWJ:
            table[ord(char)] = None
    if table:
        text = text.translate(table)
    return _lone_joiner().sub("", text) if _ZWJ in text else text


@lru_cache(maxsize=1)
def _lone_joiner() -> re.Pattern[str]:
    """Joiners that do not hold two pictographs together (a family, a flag)."""
    return re.compile(f"(?<![{_PICTOGRAPHS}]){_ZWJ}|{_ZWJ}(?![{_PICTOGRAPHS}])")


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _trimmed(text: str, *, trim: bool) -> str:
    if not trim:
        return text
    left = text.lstrip(_TRIM)
    cut = len(text) - len(left)
    if left and cut and text[cut - 1] == "." and left[0].isalpha():
        left = f".{left}"
    return left.rstrip(_TRIM) or text


def _ordered_marks(text: str) -> str:
    """The text with long runs of combining marks in canonical order: the built-in normaliser is quadratic in them."""
    if len(text) <= MAX_NAME or text.isascii():
        return text
    parts: list[str] = []
    run: list[str] = []
    for char in text:
        if unicodedata.combining(char):
            run.append(char)
            continue
        if run:
            parts += sorted(run, key=unicodedata.combining)
            run.clear()
        parts.append(char)
    return "".join(parts + sorted(run, key=unicodedata.combining))


def _digest(text: str) -> str:
    return f":{hashlib.sha256(text.encode()).hexdigest()}"


# -- looking alike: for suggestions and marks, never for resolution ----------------------------------------------------


def loose_key(name: str) -> str:
    """Only the letters, marks and digits of a name: names that share it look alike, and may still be different.

    >>> loose_key("C++"), loose_key("Jean-Luc")
    ('c', 'jeanluc')
    """
    return "".join(filter(_is_word_char, _key(_storable(name))))


def _is_word_char(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _storable(name: str) -> str:
    return name if name.isascii() else name.encode(errors="replace").decode()


def mixed_script(name: str) -> bool:
    """Whether one word of a name mixes Latin with letters of a script that has look-alikes, as a spoof would.

    >>> mixed_script("\N{CYRILLIC CAPITAL LETTER A}rttu"), mixed_script("Arttu")
    (True, False)
    """
    if name.isascii():
        return False
    visible = "".join(c for c in name if c not in _VARIATION and unicodedata.category(c) != "Cf")
    words = "".join(c if _is_word_char(c) else " " for c in visible).split()
    return any(len(_scripts(word)) > 1 for word in words if not word.isascii())


def _scripts(word: str) -> set[str]:
    found = set()
    for char in word:
        script = unicodedata.name(char, "").removeprefix("FULLWIDTH ").partition(" ")[0]
        if script in {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE"}:
            found.add(script)
    return found


# Words that come and go in the name of one person or company.
_OPTIONAL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the mr mrs ms miss dr prof professor sir madam jr sr ii iii phd md esq inc incorporated ltd limited llc plc "
        "corp corporation co company gmbh ag oy oyj ab as sa srl bv nv kg",
    )
)
_CROWDED = 300  # members of a block beyond which only neighbours in alphabetical order are compared
_WINDOW = 20
_MIN_TYPO, _MAX_TYPO = 4, 32  # lengths between which one lost or swapped letter is looked for
_MIN_ACRONYM = 3


class _Form(NamedTuple):
    owner: int
    key: str
    loose: str
    words: str  # in alphabetical order
    digits: tuple[str, ...]


def suggest(
    names: Mapping[str, Sequence[str]], *, min_score: float = 90, apart: Collection[frozenset[str]] = ()
) -> Iterator[tuple[str, str, float, str]]:
    """Pairs of entities whose names look alike, as (id, id, score of 100, why), best first; nothing is merged by it.

    Names that differ in a number are never a pair ("SR-2023-052" and "SR-2023-053"), nor are those kept apart.

    >>> list(suggest({"e1": ["Robert Smith"], "e2": ["Smith, Robert"], "e3": ["Anna"]}))
    [('e1', 'e2', 98.0, 'the same words in another order')]
    """
    if not isinstance(min_score, int | float) or not 0 <= min_score <= 100:
        raise InputError(f"min_score is between 0 and 100, not {min_score!r}")
    ids = sorted(names)
    forms = list(dict.fromkeys(_form(i, name) for i, entity in enumerate(ids) for name in names[entity]))
    kept_apart = set(apart)
    best: dict[tuple[int, int], tuple[float, str]] = {}
    for a, b in _candidates(forms):
        pair = (a.owner, b.owner) if a.owner < b.owner else (b.owner, a.owner)
        if kept_apart and frozenset((ids[pair[0]], ids[pair[1]])) in kept_apart:
            continue
        score, why = _likeness(a, b, min_score)
        if score >= min_score and why and score > best.get(pair, (-1.0, ""))[0]:
            best[pair] = (score, why)
    for (i, j), (score, why) in sorted(best.items(), key=lambda item: (-item[1][0], item[0])):
        yield ids[i], ids[j], score, why


def look_alikes(name: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """Up to `limit` of the names that look like the one asked for, best first: "did you mean".

    >>> look_alikes("Helsinky", ["Berlin", "Helsinki"])
    ['Helsinki']
    """
    from rapidfuzz import fuzz, process

    choices = list(dict.fromkeys(names))
    wanted, folded = _plain(name), [_plain(choice) for choice in choices]
    if not wanted:
        return []
    found = process.extract(wanted, folded, scorer=fuzz.WRatio, score_cutoff=75, limit=max(limit, 0) * 4)
    # The loose scorer forgives missing words, and ties; the strict one tells the closer of two apart.
    ranked = sorted(found, key=lambda hit: (-hit[1], -fuzz.ratio(wanted, hit[0]), hit[2]))
    return [choices[index] for _, _, index in ranked[: max(limit, 0)]]


def _plain(name: str) -> str:
    """The key of a name without accents, words only."""
    decomposed = unicodedata.normalize("NFKD", _key(_storable(name)))
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _collapsed("".join(c if _is_word_char(c) else " " for c in unicodedata.normalize("NFC", bare)))


def _form(owner: int, name: str) -> _Form:
    plain = _plain(name)
    words = plain.split()
    return _Form(
        owner, _key(_storable(name)), "".join(words), " ".join(sorted(words)), tuple(sorted(re.findall(r"\d+", plain)))
    )


def _candidates(forms: Sequence[_Form]) -> Iterator[tuple[_Form, _Form]]:
    """Pairs that share a block, each once; the blocks keep the number of comparisons far below all pairs."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for index, form in enumerate(forms):
        for block in _blocks(form):
            blocks[block].append(index)
    seen: set[tuple[int, int]] = set()
    for members in blocks.values():
        crowded = len(members) > _CROWDED
        if crowded:
            members.sort(key=lambda i: forms[i].words)
        for position, i in enumerate(members):
            for j in members[position + 1 : position + 1 + _WINDOW if crowded else None]:
                pair = (i, j) if i < j else (j, i)
                if forms[i].owner != forms[j].owner and pair not in seen:
                    seen.add(pair)
                    yield forms[pair[0]], forms[pair[1]]


def _blocks(form: _Form) -> set[str]:
    words = [word for word in form.words.split() if len(word) > 1 and word not in _OPTIONAL_WORDS]
    blocks = {f"word {word}" for word in words} | {f"all {form.loose or form.key}"}
    compact = form.words.replace(" ", "")
    if _MIN_TYPO <= len(compact) <= _MAX_TYPO:
        # Two spellings that differ by one letter meet where each has lost it.
        blocks |= {f"typo {compact[:i]}{compact[i + 1 :]}" for i in range(len(compact))} | {f"typo {compact}"}
    parts = re.findall(r"\w+", form.key)
    if len(parts) >= _MIN_ACRONYM:
        blocks.add("all " + "".join(part[0] for part in parts))
    return blocks


def _likeness(a: _Form, b: _Form, min_score: float) -> tuple[float, str]:
    from rapidfuzz import fuzz

    if a.key == b.key:
        return 100.0, "the same name"
    if a.loose == b.loose:
        # Names of symbols only have no letters to share.
        return (99.0, "the same letters and digits") if a.loose else (0.0, "")
    if a.digits != b.digits:
        return 0.0, ""
    if a.words == b.words:
        return 98.0, "the same words in another order"
    score, why = _partly_alike(a, b)
    spelled = min(97.0, max(fuzz.ratio(a.words, b.words), fuzz.ratio(a.loose, b.loose, score_cutoff=min_score)))
    return round(max(spelled, score), 1), why or "spelled alike"


def _partly_alike(a: _Form, b: _Form) -> tuple[float, str]:
    ours, theirs = set(a.words.split()), set(b.words.split())
    odd = {word for word in ours ^ theirs if len(word) > 1 and word not in _OPTIONAL_WORDS}
    shared = {word for word in ours & theirs if len(word) > 1}
    if not odd and shared and (ours <= theirs or theirs <= ours):
        return 93.0, "the same but for initials, titles or legal forms"
    longer, shorter = (a, b) if len(a.words) > len(b.words) else (b, a)
    parts = re.findall(r"\w+", longer.key)
    if len(parts) >= _MIN_ACRONYM and "".join(part[0] for part in parts) == shorter.loose:
        return 85.0, "the initials of the other"
    if shared and _initials_fit(ours - theirs, theirs - ours):
        return 85.0, "the same but for an abbreviated word"
    return 0.0, ""


def _initials_fit(left: set[str], right: set[str]) -> bool:
    if len(left) != 1 or len(right) != 1:
        return False
    (a,), (b,) = left, right
    return (len(a) == 1 or len(b) == 1) and a[0] == b[0]
