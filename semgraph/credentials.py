"""Secrets that must not become a memory: keys, passwords by their name, payment card numbers."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["holds_secret"]

# Each begins where a token begins, so that a long run of token characters is read once.
_TOKEN = "(?<![A-Za-z0-9_-])"  # noqa: S105 - a pattern
_KEY_FORMATS = (
    rf"{_TOKEN}(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{{16}}(?![0-9A-Z])",
    rf"{_TOKEN}gh[pousr]_[A-Za-z0-9]{{20,}}",
    rf"{_TOKEN}github_pat_[A-Za-z0-9_]{{20,}}",
    rf"{_TOKEN}glpat-[A-Za-z0-9_-]{{20,}}",
    rf"{_TOKEN}sk-(?=[A-Za-z_-]{{0,80}}[0-9])[A-Za-z0-9_-]{{20,}}",
    rf"{_TOKEN}(?:sk|rk|pk|whsec)_(?:live|test)?_?[A-Za-z0-9]{{16,}}",
    rf"{_TOKEN}xox[abeoprs]-[A-Za-z0-9-]{{10,}}",
    rf"{_TOKEN}AIza[0-9A-Za-z_-]{{35}}",
    rf"{_TOKEN}ya29\.[0-9A-Za-z_-]{{20,}}",
    rf"{_TOKEN}npm_[A-Za-z0-9]{{36}}",
    rf"{_TOKEN}pypi-[A-Za-z0-9_-]{{50,}}",
    rf"{_TOKEN}hf_[A-Za-z0-9]{{30,}}",
    rf"{_TOKEN}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}",
    rf"{_TOKEN}dop_v1_[a-f0-9]{{64}}",
    rf"{_TOKEN}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}",
    "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY",
    r"PuTTY-User-Key-File-\d",
    "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{3,100}@",
    r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
)
_LABELLED = (
    "(?<![a-z])(?:pass(?:word|wd|code|phrase|wort)|pwd|pin(?: code| number)?|api[ _-]?key|(?:client|api|"
    "shared|app|signing)[ _-]?secret|secret[ _-]?(?:access[ _-]?)?key|(?:access|auth|api|bearer|refresh|"
    "session|personal access)[ _-]?token|private[ _-]?key|recovery (?:code|key|phrase)|seed phrase|security "
    r"code|cvv|cvc|ssn|social security number|2fa code|otp)(?: (?:for|to|of|on|at) [^.:=\n]{1,40}?)?(?: "
    r"?[:=]{1,2} ?| (?:is|was|are|equals)(?: now| still| set to| just)?:? )(?P<value>\S{3,200})"
)
_ABOUT_SECRETS = frozenset(
    re.findall(
        r"\S+",
        "required optional strong weak secret known unknown empty missing wrong correct valid invalid safe private "
        "confidential unset long short personal case-sensitive mandatory fine different identical public there here "
        "gone none null compromised mine yours hers his theirs",
    )
)
_MIN_SECRET = 4
_SHORTEST_CARD, _LONGEST_CARD = 13, 19


@lru_cache(maxsize=1)
def _secrets() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile("|".join(_KEY_FORMATS)), re.compile(_LABELLED, re.IGNORECASE)


def holds_secret(raw: str) -> bool:
    """Whether a text as given holds a key, a private key, a password by its name, or a payment card number."""
    text = "".join(c for c in unicodedata.normalize("NFKC", raw) if unicodedata.category(c) != "Cf")
    formats, labelled = _secrets()
    if formats.search(text) or any(map(_holds_card, _digit_runs(text))):
        return True
    return any(_is_value(hit, text) for hit in labelled.finditer(text))


def _is_value(hit: re.Match[str], text: str) -> bool:
    """Whether what follows "password is" is the password, and not a word about it ("stored in Vault")."""
    value = hit["value"].rstrip(".,;!?)")
    bare = value.strip("\"'`“”‘’«»<>*")
    if bare != value or not bare.islower() or not bare.isalpha():
        # "Required" at the end of a table row is a word, "Hunter" hardly a password worth the doubt.
        return len(bare) >= _MIN_SECRET and bare.lower() not in _ABOUT_SECRETS
    is_last = not text[hit.end("value") :].strip(".,;!?) ")
    return (
        is_last
        and len(bare) >= _MIN_SECRET
        and not (bare.endswith(("ed", "en", "ing", "ly")) or bare in _ABOUT_SECRETS)
    )


def _digit_runs(text: str) -> Iterator[list[str]]:
    """Runs of digit groups that a space or a dash keeps apart."""
    for run in re.findall(r"(?<!\d)\d(?:[ -]?\d){12,}", text):
        yield re.split("[ -]", run)


def _holds_card(groups: list[str]) -> bool:
    """Whether some whole groups in a row make a payment card number: 13 to 19 digits that pass Luhn's check."""
    for first in range(len(groups)):
        number = ""
        for group in groups[first:]:
            number += group
            if len(number) > _LONGEST_CARD:
                break
            if len(number) >= _SHORTEST_CARD and _is_issued(number) and _luhn(number):
                return True
    return False


def _is_issued(number: str) -> bool:
    # No card begins otherwise; dates, book numbers and clock ticks in microseconds do.
    return number[0] in "3456" or "2221" <= number[:4] <= "2720"


def _luhn(number: str) -> bool:
    doubled = (int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(number)))
    return sum(value % 10 + value // 10 for value in doubled) % 10 == 0
