"""Whether a question asks for advice, which is given from what is known of the asker, in whatever words he told it.

"Can you suggest a lens?" is answered by "I bought a Sony camera", and not by all that was ever suggested: the words of
such a question are those of asking, and what it is about lies in what they mean.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["asks_for_advice"]

_GIVEN: Final = r"(?:suggestions?|recommendations?|tips?|advice|ideas?|pointers|thoughts|inspiration)"
_PLEADING: Final = re.compile(
    rf"""\b(?:
        (?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|maybe\s+)?(?:suggest|recommend|advise)
      | (?:what|which|who|whom|where|how)\b[^.?!]{0, 80}\b(?:do|would|can|could)\s+you\s+(?:suggest|recommend|advise)
      | (?:do\s+you\s+have|have\s+you\s+got|got|give\s+me|give\s+us|i\s+need|i['’]d\s+like)\s+(?:any|some|a\s+few)\s+
        (?:\w+\s+)?{_GIVEN}
      | should\s+(?:i|we)\b
      | help\s+(?:me|us)\s+(?:to\s+)?(?:choose|pick|decide|plan)
    )
    | (?:^|[.,;:!?]\s*)(?:please\s+)?(?:suggest|recommend|advise)\b
    | (?:^|[.,;:!?]\s*)any\s+(?:\w+\s+)?{_GIVEN}\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OPINION: Final = re.compile(r"\bdo\s+you\s+think\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)


def asks_for_advice(question: str) -> bool:
    """Whether somebody is asked what to do, to choose or to think, in English words.

    >>> asks_for_advice("Any tips for my garden?")
    True
    >>> asks_for_advice("Which tips did Ann give Bob?")
    False
    """
    if _PLEADING.search(question):
        return True
    return _OPINION.search(question) is not None and _OWN.search(question) is not None
