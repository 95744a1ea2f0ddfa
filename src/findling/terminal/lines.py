"""Results -> numbered lines: the part of showing text that plain and styled output share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from findling.types import FileMatches, Hit


class Line(NamedTuple):
    """A line to show. ``spans`` are (start, end) columns to highlight; number 0 is a gap between groups."""

    number: int
    text: str
    spans: tuple[tuple[int, int], ...] = ()


def body_lines(hit: Hit) -> Iterator[Line]:
    """The lines of the body where the answer has one, else of the snippet."""
    text, first = (hit.body, hit.start_line) if hit.body else (hit.snippet, hit.snippet_start_line)
    if not text:
        return
    spans: dict[int, list[tuple[int, int]]] = {}
    for number, start, end in hit.matches:
        spans.setdefault(number, []).append((start, end))
    for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
        yield Line(number, line.removesuffix("\r"), tuple(spans.get(number, ())))


def merged_lines(file: FileMatches) -> Iterator[Line]:
    """Matches and their context in order, each line once, with gaps where context was asked for."""
    lines: dict[int, Line] = {}
    for match in file.lines:
        for number, text in enumerate(match.before, match.line - len(match.before)):
            lines.setdefault(number, Line(number, text))
        for number, text in enumerate(match.after, match.line + 1):
            lines.setdefault(number, Line(number, text))
    gaps = bool(lines)
    lines.update((match.line, Line(match.line, match.text, match.spans or ((0, 0),))) for match in file.lines)
    previous = 0
    for number in sorted(lines):
        if gaps and previous and number > previous + 1:
            yield Line(0, "")
        yield lines[number]
        previous = number
