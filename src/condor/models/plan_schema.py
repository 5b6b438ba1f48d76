"""The plan as JSON schema: one shape for each tool that the caller's role may call.

Law: it says to a model what ``parse_plan`` and the leaves check anyway. Whatever a model makes of it, they
decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor.core.policy import ArgSpec, ToolDescriptor
    from condor.core.run import Principal

_TYPES: Mapping[str, Mapping[str, Any]] = {
    "string": {"type": "string"},
    "code": {"type": "string"},
    "reference": {"type": "string", "description": "Type/id, never made up"},
    "date": {"type": "string", "description": "YYYY-MM-DD"},
    "date-time": {"type": "string", "description": "RFC 3339 with its offset"},
    "integer": {"type": "integer"},
    "decimal": {"type": "number"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array"},
    "object": {"type": "object"},
}
#: Hints of an argument that say the same in JSON schema.
_BOUNDS = {"min": "minimum", "max": "maximum", "min_length": "minLength"}
_NUMBERS = frozenset({"integer", "decimal"})

_REFERENCE: Mapping[str, Any] = {
    "type": "object",
    "description": "what an earlier step finds",
    "properties": {
        "$from": {"type": "string", "description": "the id of an earlier step"},
        "path": {"type": "string", "description": "JSON pointer into its result"},
    },
    "required": ["$from"],
    "additionalProperties": False,
}
_TEXT: Mapping[str, Any] = {
    "type": "object",
    "description": "a text made of parts",
    "properties": {
        "$text": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/reference"}]}}
    },
    "required": ["$text"],
    "additionalProperties": False,
}


def permitted(tools: Iterable[ToolDescriptor], principal: Principal) -> tuple[ToolDescriptor, ...]:
    """The tools that this principal's roles may call; the leaf checks it again."""
    return tuple(tool for tool in tools if not tool.roles or tool.roles & principal.roles)


def plan_schema(tools: Sequence[ToolDescriptor]) -> dict[str, Any]:
    """``{"steps": […]}``, each step the call of one of these tools."""
    return {
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "minItems": 1,
                "items": {"anyOf": [_step(tool) for tool in tools]},
            }
        },
        "required": ["steps"],
        "additionalProperties": False,
        "$defs": {"reference": dict(_REFERENCE), "text": dict(_TEXT)},
    }


def args_schema(tool: ToolDescriptor) -> dict[str, Any]:
    """The arguments of one call as values, without references."""
    return {
        "type": "object",
        "properties": {spec.name: _value(spec) for spec in tool.args},
        "additionalProperties": not tool.args_closed,
    }


def _step(tool: ToolDescriptor) -> dict[str, Any]:
    return {
        "type": "object",
        "description": " ".join(filter(None, (tool.title, tool.description, _returns(tool)))),
        "properties": {
            "id": {"type": "string", "description": "s1, s2, …"},
            "tool": {"type": "string", "enum": [tool.name]},
            "args": {
                "type": "object",
                "properties": {spec.name: _argument(spec) for spec in tool.args},
                "additionalProperties": not tool.args_closed,
            },
            "after": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "tool", "args"],
        "additionalProperties": False,
    }


def _returns(tool: ToolDescriptor) -> str:
    if not tool.returns:
        return ""
    return "Its result has " + "; ".join(f"{path}: {what}" for path, what in tool.returns.items()) + "."


def _argument(spec: ArgSpec) -> dict[str, Any]:
    """A value, or where it comes from; a missing one is asked for, so none is required here."""
    said = f"{spec.label or spec.name}{' (necessary)' if spec.required else ''}"
    either = [_value(spec), {"$ref": "#/$defs/reference"}]
    if spec.type == "string":
        either.append({"$ref": "#/$defs/text"})
    return {"description": said, "anyOf": either}


def _value(spec: ArgSpec) -> dict[str, Any]:
    schema = dict(_TYPES[spec.type])
    words = spec.hint.get("enum")
    if isinstance(words, list) and words:
        words = [word["value"] if isinstance(word, dict) and "value" in word else word for word in words]
        if spec.type == "array":
            schema["items"] = {"enum": words}
        else:
            schema["enum"] = words
    for hint, keyword in _BOUNDS.items():
        bound = spec.hint.get(hint)
        fits = spec.type in _NUMBERS if keyword != "minLength" else spec.type == "string"
        if fits and type(bound) in (int, float):
            schema[keyword] = bound
    return schema


__all__ = ["args_schema", "permitted", "plan_schema"]
