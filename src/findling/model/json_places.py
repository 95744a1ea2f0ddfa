"""Where the parts of a JSON text stand, which its parser does not tell. The text must be valid JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_decode = json.JSONDecoder().raw_decode
_BETWEEN = re.compile(r"[\s,:]*+")


class Member(NamedTuple):
    """A member of an object: its key begins at ``start``, its value at ``at``, and ends before ``end``."""

    key: str
    value: Any
    start: int
    at: int
    end: int


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object at ``at``, in order."""
    start = _next(text, at + 1)
    while text[start] != "}":
        key, behind = _decode(text, start)
        at = _next(text, behind)
        value, end = _decode(text, at)
        yield Member(key, value, start, at, end)
        start = _next(text, end)


def items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each value in the array at ``at``, in order."""
    start = _next(text, at + 1)
    while text[start] != "]":
        _, end = _decode(text, start)
        yield start, end
        start = _next(text, end)


def _next(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    assert found is not None, "it may match nothing"
    return found.end()
