"""Pieces of schema that several tools share."""

from __future__ import annotations

from findling.contracts.model import Schema

MAX_NAME = 1_000
"""Characters of a name; what is longer is none."""

MAX_REPEATED = 1_000
"""Characters of a query that an answer repeats: the rest of a long text is known to who asked."""

MAX_PATTERN = 4_096
"""Characters of a regular expression; as the engine's."""

MAX_PATH = 4_096
MAX_TOKENS = 1_000_000


def query(what: str) -> Schema:
    """A text to search for, of any length: a long one is cut when the tool is called."""
    return {"type": "string", "minLength": 1, "description": what}


def text(what: str, most: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": most, "description": what}


def path(what: str) -> Schema:
    return text(what, MAX_PATH)


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
