"""How long an answer may be: whole items are dropped from the end of its list, and the answer says so. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from findling.model.unseen import escaped

DEFAULT_CHARS = 30_000
"""Clients show about 40,000 to 50,000 characters of an answer, then they cut it themselves."""

CHARS_PER_TOKEN = 4
"""A token of code or prose is about four characters."""

CODE_MAX_BYTES = 65_536
"""No answer of the code family is longer."""


def dumps(facts: Any) -> str:
    """The one JSON spelling of an answer: compact, characters as they are but for those that nobody sees."""
    return escaped(json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def allowed_chars(max_tokens: int | None) -> int:
    return DEFAULT_CHARS if max_tokens is None else max_tokens * CHARS_PER_TOKEN


def tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def cut_to(facts: dict[str, Any], items: str, chars: int) -> dict[str, Any]:
    """``facts`` with as many of ``facts[items]`` as fit into ``chars`` characters of JSON; the same when all do.

    The first one always stays: an answer that is too long is better than none. One that was cut says so, of the code
    family in its metadata, of others in ``truncated`` and ``omitted``.
    """
    most = chars if "metadata" not in facts else min(chars, CODE_MAX_BYTES)
    if not items or _size(facts) <= most:
        return facts
    every = facts[items]
    low, high = min(1, len(every)), len(every)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(_with(facts, items, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return _with(facts, items, low)


def _with(facts: dict[str, Any], items: str, count: int) -> dict[str, Any]:
    every = facts[items]
    kept = {**facts, items: every[:count]}
    omitted = len(every) - count
    if not omitted:
        return kept
    metadata = facts.get("metadata")
    if metadata is None:
        return {**kept, "truncated": True, "omitted": omitted}
    warning = f"{omitted} of {len(every)} {items} were left out to keep the answer short; ask for fewer or narrow down."
    complete = metadata.get("result_completeness")
    kept["metadata"] = {
        **metadata,
        "result_completeness": complete if complete == "partial" else "truncated",
        "warnings": [*metadata.get("warnings", ()), warning],
    }
    return kept


def _size(facts: dict[str, Any]) -> int:
    text = dumps(facts)
    return len(text.encode()) if "metadata" in facts else len(text)
