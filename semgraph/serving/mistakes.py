"""What is wrong with the arguments of a call, without what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semgraph.render import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import BaseModel, ValidationError

__all__ = ["wrong_arguments"]

_MOST: Final = 5
_SCALARS: Final = ("str", "bool", "int", "float")  # how pydantic names the members of a value's type
_TEXT, _WHOLE, _NUMBER, _TRUTH = "must be a text", "must be a whole number", "must be a number", "must be true or false"
_WORDS: Final = {
    "missing": "is missing",
    "string_type": _TEXT,
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length} characters",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "must have at least {min_length} parts, not {actual_length}",
    "too_long": "must have at most {max_length} parts, not {actual_length}",
}


def wrong_arguments(error: ValidationError, takes: type[BaseModel]) -> str:
    """Each argument that is not as the model takes it, once, with what it must be; at most five of them."""
    taken = [field.alias or name for name, field in takes.model_fields.items()]
    found = dict.fromkeys(_told(each, taken) for each in error.errors(include_url=False, include_input=False))
    return "; ".join(list(found)[:_MOST])


def _told(error: Mapping[str, Any], taken: Iterable[str]) -> str:
    kind, place = error["type"], error["loc"]
    if kind == "extra_forbidden":
        return f"there is no argument {_path(place)}; it takes {', '.join(taken) or 'none'}"
    if len(place) > 1 and place[-1] in _SCALARS:
        return f"{_path(place[:-1])} must be a text, a number, true or false"
    words = _WORDS.get(kind, "is not what it must be")
    return f"{_path(place) or 'the arguments'} {words.format(**error.get('ctx', {}))}"


def _path(place: Sequence[int | str]) -> str:
    return ".".join(clean(str(part), 40) for part in place)
