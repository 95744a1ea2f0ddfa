"""How long an answer may be: whole items are dropped from the end of its list, and the answer says so. Pure."""

from __future__ import annotations

import bisect
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

NOTICE = 300
"""Characters for saying that an answer was cut."""

TEXTS = ("body", "chunkText", "content", "snippet", "preview")
"""Fields of results that are texts, which may be cut; the others are facts."""

CUT = "..."


def dumps(facts: Any) -> str:
    """The one JSON spelling of an answer: compact, characters as they are but for those that nobody sees."""
    return escaped(json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def allowed_chars(max_tokens: int | None) -> int:
    return DEFAULT_CHARS if max_tokens is None else max_tokens * CHARS_PER_TOKEN


def tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def cut_to(facts: dict[str, Any], items: str, max_tokens: int | None) -> dict[str, Any]:
    """``facts`` with as many of ``facts[items]`` as fit into ``max_tokens``, what stands beside them comes on top;
    without a number all is to fit into `DEFAULT_CHARS`. The same when they do.

    The first one always stays, its text cut where even that is too long. An answer that was cut says so, of the code
    family in its metadata, of others in ``truncated`` and ``omitted``.
    """
    if not items or not facts[items]:
        return facts
    every = facts[items]
    beside = {**facts, items: []}
    room = DEFAULT_CHARS - len(dumps(beside)) if max_tokens is None else max_tokens * CHARS_PER_TOKEN
    bytes_left = CODE_MAX_BYTES - len(dumps(beside).encode()) - NOTICE if "metadata" in facts else None

    def fits(count: int) -> bool:
        text = dumps(every[:count])
        return len(text) <= room and (bytes_left is None or len(text.encode()) <= bytes_left)

    fitting = bisect.bisect_left(range(1, len(every) + 1), True, key=lambda count: not fits(count))
    if fitting:
        return _with(facts, items, fitting)
    kept = _with(facts, items, 1)
    return {**kept, items: [_shortened(every[0], room)]}


def _shortened(item: Any, room: int) -> Any:
    """An item with its longest texts cut, at the end of a line where there is one, until it fits or has none."""
    while isinstance(item, dict) and len(dumps([item])) > room:
        texts = {key: item[key] for key in TEXTS if len(item.get(key, "")) > len(CUT)}
        if not texts:
            break
        longest = max(texts, key=lambda key: len(texts[key]))
        text = texts[longest]

        def too_long(chars: int, item: dict[str, Any] = item, longest: str = longest, text: str = text) -> bool:
            return len(dumps([{**item, longest: text[:chars] + CUT}])) > room

        kept = text[: max(0, bisect.bisect_left(range(len(text)), True, key=too_long) - 1)]
        item = {**item, longest: (kept.rpartition("\n")[0] or kept) + CUT}
    return item


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
