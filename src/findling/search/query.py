"""A query as it may be asked: validated once, for every transport. Pure."""

from __future__ import annotations

from findling.errors import InvalidInput
from findling.types import MODES, Query

MAX_LIMIT = 1000
MAX_QUERY = 10_000
"""Characters of a query; longer ones are a mistake, and cost time."""


def validate(query: Query) -> Query:
    """The query, or `InvalidInput` that names the argument and the valid values."""
    if not query.text.strip():
        raise InvalidInput("The query is empty.", remedy="Say what to look for.")
    if len(query.text) > MAX_QUERY:
        raise InvalidInput(f"The query has {len(query.text)} characters; at most {MAX_QUERY} are accepted.")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be between 1 and {MAX_LIMIT}, not {query.limit}.")
    if query.mode not in MODES:
        raise InvalidInput(f"mode must be one of {', '.join(MODES)}, not {query.mode!r}.")
    if query.kind not in (None, "code", "docs"):
        raise InvalidInput(f"kind must be code or docs, not {query.kind!r}.")
    if query.max_tokens is not None and query.max_tokens < 1:
        raise InvalidInput(f"max_tokens must be at least 1, not {query.max_tokens}.")
    return query


def split_target(target: str) -> tuple[str, int | None]:
    """``FILE`` or ``FILE:LINE`` taken apart; a name that only looks so is the caller's to try whole.

    That there is such a line is not said: it may be 0.
    """
    path, colon, line = target.rpartition(":")
    if colon and path and line.isdecimal():
        return path, int(line)
    return target, None
