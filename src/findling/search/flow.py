"""Whether a question is how something comes about, and what is written of the calls that show it. Pure and light."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from msgspec.structs import replace

from findling.model.types import Relation, Relations, Step

_FLOW = re.compile(
    r"\b(?:how|when|flows?|path|chain|propagat\w*|happens?|leads?|reach(?:es)?|steps?|sequence|end to end)\b"
    r"|\bfrom\b.+\bto\b",
    re.IGNORECASE | re.DOTALL,
)

FIELDS, CALLED = 24, 28
"""Characters that are written of a step or a relation beside its path and its text: its role and its line; and those
of a step that say where it is called, and its grade."""


def asks_for_a_flow(text: str) -> bool:
    """Whether the order of calls is part of the answer to a question."""
    return _FLOW.search(text) is not None


def chars_of(told: Iterable[Relation | Step]) -> int:
    """The characters that these take in an answer."""
    return sum(
        len(each.path) + FIELDS + (len(each.marked) if isinstance(each, Relation) else len(each.name) + CALLED)
        for each in told
    )


def but_for(related: Relations, shown: Container[tuple[str, int]]) -> Relations:
    """What belongs to a place without what an answer shows itself: paths with the numbers of lines."""
    return replace(related, found=tuple(each for each in related.found if (each.path, each.line) not in shown))
