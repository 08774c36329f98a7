"""The JSON schemas that clients are shown, made from the models that check and build what they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["input_schema", "output_schema"]

_SCALARS: Final = ("string", "boolean", "integer", "number")


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Of arguments: what must be given first, no titles, and what may be left out is no union with null."""
    schema: dict[str, Any] = _plain(model.model_json_schema())
    schema.pop("description", None)
    must = schema.get("required", [])
    properties = schema.get("properties", {})
    schema["properties"] = {name: properties[name] for name in sorted(properties, key=lambda name: name not in must)}
    return {"type": "object"} | schema


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Of results: what has its default is left out of a result, so nothing that has one is required."""
    schema: dict[str, Any] = _plain(model.model_json_schema(mode="validation"))
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("description", None)
        for shape in part.get("properties", {}).values():
            shape.pop("default", None)
    return {"type": "object"} | schema


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    out = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    choices = out.get("anyOf")
    if isinstance(choices, list):
        out = _without_null(out, [choice for choice in choices if choice != {"type": "null"}])
    return {key: _plain(value) for key, value in out.items()}


def _without_null(node: dict[str, Any], choices: list[Any]) -> dict[str, Any]:
    """A union as one type, or as a list of types where each says nothing more."""
    rest = {key: value for key, value in node.items() if key != "anyOf" and not (key == "default" and value is None)}
    if len(choices) == 1:
        return {**choices[0], **rest}
    types = [choice.get("type") for choice in choices]
    if all(len(choice) == 1 for choice in choices) and all(kind in _SCALARS for kind in types):
        return {"type": [kind for kind in types if not (kind == "integer" and "number" in types)], **rest}
    return {"anyOf": choices, **rest}
