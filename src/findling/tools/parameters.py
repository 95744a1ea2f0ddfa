"""Pieces of schema that several tools share."""

from __future__ import annotations

from findling.tools.model import Schema

MAX_QUERY = 10_000
"""Characters of a query; as the engine's."""

MAX_PATTERN = 4_096
"""Characters of a regular expression; as the engine's."""

MAX_PATH = 4_096
MAX_TOKENS = 1_000_000


def query(what: str, most: int = MAX_QUERY) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": most, "description": what}


def path(what: str) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": MAX_PATH, "description": what}


def count(default: int, most: int, what: str = "At most so many results.") -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default, "description": what}


def share(what: str) -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1, "description": what}


def one_of(values: tuple[str, ...], what: str, default: str | None = None) -> Schema:
    schema = {"type": "string", "enum": list(values), "description": what}
    return schema if default is None else {**schema, "default": default}


def flag(what: str, *, default: bool = False) -> Schema:
    return {"type": "boolean", "default": default, "description": what}


REF: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 300,
    "description": "A branch, tag or commit to search; what is on disk if left out.",
}
LANGUAGE: Schema = {"type": "string", "minLength": 1, "maxLength": 40, "description": "Only files in this language."}
TOKENS: Schema = {
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_TOKENS,
    "description": "Cut the answer to about so many tokens, by whole results.",
}
