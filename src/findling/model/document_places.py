"""Marker lines in the text of a converted document that name the place in the document: ``⟦page 12⟧``. Pure.

They look like nothing that people write, are found by an exact search, and tell a reader of any line its page.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

_OPEN: Final = "⟦"
_CLOSE: Final = "⟧"

OPEN: Final = _OPEN.encode()

LINE: Final = re.compile(rf"^{_OPEN}([^\n{_CLOSE}]{{1,200}}){_CLOSE}$", re.MULTILINE)
"""A whole line; group 1 is the place."""


def line(place: str) -> str:
    """The line that says that ``place`` (one line of text) begins."""
    inner = " ".join(place.replace(_CLOSE, ")").replace(_OPEN, "(").split())
    return f"{_OPEN}{inner[:200] or '?'}{_CLOSE}"


def escaped(text: str) -> str:
    """A document's own text, in which no line is mistaken for a place."""
    if _OPEN not in text:
        return text
    return re.sub(rf"^{_OPEN}", f" {_OPEN}", text, flags=re.MULTILINE)


def places_of_lines(text: bytes, numbers: Sequence[int]) -> list[str]:
    """The place that each of the 1-based lines of a text (UTF-8) lies in, '' before the first."""
    if OPEN not in text:
        return [""] * len(numbers)
    starts: list[int] = []
    names: list[str] = []
    line, at = 1, 0
    decoded = text.decode("utf-8", "replace")
    for found in LINE.finditer(decoded):
        line += decoded.count("\n", at, found.start())
        at = found.start()
        starts.append(line)
        names.append(found[1])
    places = [bisect_right(starts, number) - 1 for number in numbers]
    return [names[place] if place >= 0 else "" for place in places]
