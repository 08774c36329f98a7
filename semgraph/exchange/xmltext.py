"""Any text as XML 1.0 and back: markup escaped, and reversibly also the characters that XML forbids.

A forbidden character becomes `_xHHHH_` with its code in hexadecimal, and the underscore of a text that looks like
such an escape becomes `_x005F_`, as office documents do (ECMA-376, ST_Xstring). Other texts stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from re import Match

__all__ = ["escaped", "hidden", "shown"]

_FORBIDDEN: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
_HIDDEN: Final = re.compile(rf"[{_FORBIDDEN}]|_(?=x[0-9A-Fa-f]{{4}}_)")
_SHOWN: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_SPECIAL: Final = re.compile(rf"[&<>\"\t\n\r\x85\u2028{_FORBIDDEN}]|_x")
#: White space too, which an attribute would lose to normalisation, a lone CR anywhere, and what readers that have heard
#: of XML 1.1 take for the end of a line.
_MARKUP: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", **{c: f"&#{ord(c)};" for c in "\t\n\r\x85\u2028"}}
)


def hidden(text: str) -> str:
    r"""The text with no character that XML forbids; `shown` gives it back.

    >>> hidden("a\x01b"), hidden("_x0001_")
    ('a_x0001_b', '_x005F_x0001_')
    """
    return _HIDDEN.sub(_code, text)


def _code(found: Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"


def shown(text: str) -> str:
    r"""The text that `hidden` was given.

    >>> shown("a_x0001_b"), shown("_x005F_x0001_")
    ('a\x01b', '_x0001_')
    """
    return _SHOWN.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


@lru_cache(maxsize=1 << 16)
def escaped(text: str) -> str:
    """The text as it stands between tags, or between double quotes.

    >>> escaped('R&D "lab"')
    'R&amp;D &quot;lab&quot;'
    """
    if _SPECIAL.search(text) is None:
        return text
    return hidden(text).translate(_MARKUP)
