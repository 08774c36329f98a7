"""English verbs as the sentence patterns need them: the forms of one, in each tense, as a regular expression.

A verb is written in its base form, with what must follow it: "live in", "be allergic to", "work at|for".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

__all__ = ["Tense", "forms", "tenses"]

Tense = Literal["present", "past", "perfect", "ended", "negated", "planned"]

_IRREGULAR: Final = {  # base: third person, past, participle, gerund
    "be": ("is", "was", "been", "being"),
    "become": ("becomes", "became", "become", "becoming"),
    "get": ("gets", "got", "got", "getting"),
    "give": ("gives", "gave", "given", "giving"),
    "have": ("has", "had", "had", "having"),
    "leave": ("leaves", "left", "left", "leaving"),
    "prefer": ("prefers", "preferred", "preferred", "preferring"),
    "quit": ("quits", "quit", "quit", "quitting"),
    "run": ("runs", "ran", "run", "running"),
    "speak": ("speaks", "spoke", "spoken", "speaking"),
    "stop": ("stops", "stopped", "stopped", "stopping"),
}
_BE: Final = "(?:am|are|is)"
_WERE: Final = "(?:was|were)"
_HAVE: Final = "(?:have|has)"
_DO_NOT: Final = "(?:do not|does not)"
_BE_NOT: Final = "(?:am not|are not|is not)"
_ANY_MORE: Final = r"(?=.* (?:anymore|any more|any longer)\Z)"
_NOW: Final = "(?:(?:now|currently|presently|also|still|always|mainly|mostly|usually|primarily) )?"
_JUST: Final = "(?:(?:just|recently|finally|already|also) )?"


def forms(base: str) -> tuple[str, str, str, str]:
    """Third person, past, participle and gerund of a verb.

    >>> forms("live"), forms("study"), forms("leave")[1]
    (('lives', 'lived', 'lived', 'living'), ('studies', 'studied', 'studied', 'studying'), 'left')
    """
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return f"{base}s", f"{base}d", f"{base}d", f"{base[:-1]}ing"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base[:-1]}ied", f"{base}ing"
    plural = f"{base}es" if base.endswith(("s", "sh", "ch", "x")) else f"{base}s"
    return plural, f"{base}ed", f"{base}ed", f"{base}ing"


@lru_cache(maxsize=256)
def tenses(verb: str) -> tuple[tuple[Tense, str], ...]:
    """A pattern for each way to say that something is so, was so, has been so, is no longer so, is not so.

    Each is the text of a regular expression, to be matched without regard to case over words with single spaces
    and no contractions; the first that fits is meant.

    >>> import re
    >>> [tense for tense, pattern in tenses("live in") if re.fullmatch(pattern, "no longer lives in")]
    ['ended']
    """
    base, _, rest = verb.partition(" ")
    tail = "".join(f" (?:{word})" for word in rest.split())
    third, past, participle, gerund = forms(base)
    if base == "be":
        return (
            ("ended", rf"(?:{_BE} no longer|{_BE_NOT}{_ANY_MORE}){tail}"),
            ("negated", rf"{_BE_NOT}{tail}"),
            ("planned", rf"will be{tail}"),
            ("past", rf"(?:{_WERE} (?:once |formerly |previously )?|used to be ){tail.lstrip()}"),
            ("perfect", rf"{_HAVE} (?:always )?been{tail}"),
            ("present", rf"{_BE} {_NOW}{tail.lstrip()}"),
        )
    ended = (
        rf"(?:no longer (?:{base}|{third})|{_BE} no longer {gerund}|(?:{_HAVE} {_JUST})?stopped {gerund}|"
        rf"(?:{_DO_NOT} {base}|{_BE_NOT} {gerund}){_ANY_MORE})"
    )
    return (
        ("ended", f"{ended}{tail}"),
        ("negated", rf"(?:{_DO_NOT} {base}|{_BE_NOT} {gerund}){tail}"),
        ("planned", rf"(?:will|{_BE} going to) {base}{tail}"),
        ("past", rf"(?:used to {base}|{_WERE} {gerund}|(?:once |formerly |previously )?{past}){tail}"),
        ("perfect", rf"{_HAVE} {_JUST}{participle}{tail}"),
        ("present", rf"(?:{_NOW}(?:{base}|{third})|{_BE} {_NOW}{gerund}|{_HAVE} (?:always )?been {gerund}){tail}"),
    )
