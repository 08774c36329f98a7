"""Words of texts as search compares them: folded, without accents, stemmed; scripts without spaces as bigrams."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_QUERY_BYTES", "UNSPACED", "clean_query", "content_words", "is_small", "spoken", "words"]

MAX_QUERY_BYTES = 4096

#: Han, kana, bopomofo, hangul, and the scripts of South-East Asia that put no spaces between words.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+")
_RUN_UNSPACED = re.compile(f"[{UNSPACED}]")
_LONGEST = 64  # letters of a word; what is longer is no word of a language

# Words that are in so many questions that they say nothing of what is asked.
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can could did do does for from had has have he her his how if in into is it "
        "its of on or our s she should so t than that the their them then there these they this those to was we were "
        "what when where which who whom whose why will with would you your i me my",
    )
)


def clean_query(query: str) -> str:
    """A question as plain data: without NUL, valid Unicode, at most 4 KiB."""
    raw = query.replace("\0", "").encode("utf-8", "replace")
    return raw[:MAX_QUERY_BYTES].decode("utf-8", "ignore")


def words(text: str) -> list[str]:
    """The words of a text in order, as they are compared.

    >>> words("Zoë lives in São Paulo")
    ['zoe', 'live', 'in', 'sao', 'paulo']
    """
    return list(_words(text))


def content_words(text: str) -> list[str]:
    """The words of a question, each once; small words only where there are no others."""
    found = list(dict.fromkeys(word for run in _runs(text) for word in _of_run(run) if run not in _STOP))
    return found or list(dict.fromkeys(_words(text)))


def spoken(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of a text as somebody wrote them, folded, each with the forms in which it is compared."""
    return ((run, tuple(_of_run(run))) for run in _runs(text))


def is_small(word: str) -> bool:
    """Whether a folded word is one of those that are in most questions."""
    return word in _STOP


@lru_cache(maxsize=1 << 15)
def _words(text: str) -> tuple[str, ...]:
    if text.isascii():  # no accent, no script without spaces
        return tuple([_stem(run[:_LONGEST]) for run in _RUN.findall(text.lower())])
    return tuple(word for run in _runs(text) for word in _of_run(run))


def _runs(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        # Marks of scripts without case belong to their letters: only accents over others are dropped.
        folded = unicodedata.normalize("NFC", "".join(map(_bare, unicodedata.normalize("NFC", folded))))
    return (match[0] for match in _RUN.finditer(folded))


@lru_cache(maxsize=4096)
def _bare(char: str) -> str:
    if char.isascii():
        return char
    base = unicodedata.normalize("NFD", char)
    if len(base) > 1 and unicodedata.name(base[0], "").startswith(("LATIN", "GREEK", "CYRILLIC")):
        return base[0]
    return "" if unicodedata.category(char) == "Mn" and unicodedata.name(char, "").startswith("COMBINING") else char


def _of_run(run: str) -> Iterator[str]:
    if _RUN_UNSPACED.match(run):
        yield from ([run] if len(run) == 1 else (run[i : i + 2] for i in range(len(run) - 1)))
    else:
        yield _stem(run[:_LONGEST])


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    stemmer = _stemmer()
    if stemmer is None or not word.isalpha() or not word.isascii():
        return word
    return stemmer.stemWord(word)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the name that the package gives it


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer | None:
    try:
        import snowballstemmer  # type: ignore[import-untyped]
    except ImportError:  # words are then compared as they stand
        return None
    found: _Stemmer = snowballstemmer.stemmer("english")
    return found
