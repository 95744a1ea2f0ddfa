"""Arguments against a tool's published schema: the one validator. Pure.

What is wrong is refused with a sentence that names the argument and what is valid; nothing is replaced or guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from findling.contracts.model import Arguments, Refusal, Schema
from findling.model.text_encodings import is_text

ALIASES = {"limit": "top_k", "top_k": "limit", "path": "pathPrefix"}
"""An argument that a tool does not have is taken for the one that it has under the other name."""

LARGEST = (1 << 53) - 1
"""A number further from 0 is refused: not every reader of JSON keeps it as it is, and nothing here is that large."""

SHOWN_CHARS = 60
"""How much of a wrong value is repeated: enough to recognise it."""


def validate(schema: Schema, arguments: object) -> Arguments:
    """The arguments with defaults filled in. Raises `Refusal` (``invalid_input``)."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise _refusal(f"The arguments must be a JSON object, not {_kind(arguments)}.")
    return _object("", schema, arguments)


def _object(where: str, schema: Schema, given: Mapping[str, Any]) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema["properties"]
    taken: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for name, value in given.items():
        known = name if name in properties else ALIASES.get(name, "")
        if known not in properties:
            raise _unknown(where, str(name), properties)
        if known in taken:
            both = f"`{where}{spelled[known]}` and `{where}{name}`"
            raise _refusal(f"Parameters {both} are the same; give one of them.")
        spelled[known] = name
        taken[known] = _value(f"{where}{name}", properties[known], value)
    for name in schema.get("required", ()):
        if name not in taken:
            raise _refusal(f"Parameter `{where}{name}` is required: {_expected(properties[name])}.")
    for name, wanted in properties.items():
        if name not in taken and "default" in wanted:
            taken[name] = wanted["default"]
    return taken


def _value(name: str, schema: Schema, value: Any) -> Any:
    kind = schema["type"]
    if isinstance(value, int) and abs(value) > LARGEST:
        raise _refusal(f"Parameter `{name}` must be {_expected(schema)}; the number is too large.")
    if not _fits(kind, value):
        raise _wrong(name, schema, value)
    if kind in ("integer", "number"):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            raise _wrong(name, schema, value)
        return int(value) if kind == "integer" else value
    if kind == "string":
        _check_string(name, schema, value)
    elif kind == "array":
        if len(value) > schema.get("maxItems", len(value)):
            raise _refusal(f"Parameter `{name}` must have at most {schema['maxItems']} items, not {len(value)}.")
        if len(value) < schema.get("minItems", 0):
            raise _refusal(f"Parameter `{name}` must not be empty.")
        return [_value(f"{name}[{i}]", schema["items"], item) for i, item in enumerate(value)]
    elif kind == "object":
        return _object(f"{name}.", schema, value)
    return value


def _check_string(name: str, schema: Schema, value: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise _wrong(name, schema, value)
    if schema.get("minLength") and not value.strip():
        raise _refusal(f"Parameter `{name}` must not be blank.")
    most = schema.get("maxLength")
    if most is not None and len(value) > most:
        raise _refusal(f"Parameter `{name}` must have at most {most} characters, not {len(value)}.")
    if "\0" in value:
        raise _refusal(f"Parameter `{name}` must not contain NUL characters.")
    if not is_text(value):
        raise _refusal(f"Parameter `{name}` must be valid Unicode.")


def _fits(kind: str, value: Any) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        return number and (kind == "number" or (abs(value) <= LARGEST and float(value).is_integer()))
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list)
    return isinstance(value, Mapping)


def _wrong(name: str, schema: Schema, value: Any) -> Refusal:
    shown = repr(value)
    shown = shown if len(shown) <= SHOWN_CHARS else f"{shown[:SHOWN_CHARS]}..."
    return _refusal(f"Parameter `{name}` must be {_expected(schema)}.", {"parameter": name, "value": shown})


def _expected(schema: Schema) -> str:
    """``a number between 0.0 and 1.0``, ``one of a, b``."""
    kind = schema["type"]
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if kind in ("integer", "number"):
        noun, number = ("an integer", int) if kind == "integer" else ("a number", float)
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            return f"{noun} between {number(low)} and {number(high)}"
        return f"{noun} of at least {number(low)}" if low is not None else noun
    return {"boolean": "true or false", "string": "a string", "array": "an array", "object": "an object"}[kind]


def _unknown(where: str, name: str, properties: Mapping[str, Schema]) -> Refusal:
    near = get_close_matches(name, properties, 1)
    hint = f" Did you mean `{where}{near[0]}`?" if near else ""
    valid = ", ".join(f"`{where}{known}`" for known in properties)
    known_ones = f" Valid parameters: {valid}." if valid else " There are no parameters."
    return _refusal(f"Parameter `{where}{name[:SHOWN_CHARS]}` is not known.{hint}{known_ones}")


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else type(value).__name__


def _refusal(message: str, data: dict[str, Any] | None = None) -> Refusal:
    return Refusal("invalid_input", message, data or {})
