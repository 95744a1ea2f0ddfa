"""Results -> numbered lines: the part of showing text that plain and styled output share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from findling.model.types import FileMatches, Hit, LineMatch

#: A line of more characters is data to a person; so much of it, around its first match, says what it is.
LONGEST_LINE = 2000
#: Of those, the characters before the first match.
_LEAD = 200
_MARK = "…"


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


def clipped(match: LineMatch) -> LineMatch:
    """At most LONGEST_LINE characters of a line, those around its first match, and of each line beside it."""
    begin, end = _window(match.text, match.spans)
    if end - begin < len(match.text):
        spans = tuple(
            (first - begin, min(last, end) - begin)
            for first, last in match.spans
            if begin <= first < end or first == last == end  # a match of nothing, after the last character
        )
        match = replace(match, text=match.text[begin:end], spans=spans, text_start=match.text_start + begin)
    if any(len(text) > LONGEST_LINE for text in (*match.before, *match.after)):
        before, after = (tuple(text[:LONGEST_LINE] for text in texts) for texts in (match.before, match.after))
        match = replace(match, before=before, after=after)
    return match


def shortened(line: Line) -> str:
    """A line's text as `clipped` has it, with marks where something is missing."""
    begin, end = _window(line.text, line.spans)
    return f"{_MARK if begin else ''}{line.text[begin:end]}{_MARK if end < len(line.text) else ''}"


def _window(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    if len(text) <= LONGEST_LINE:
        return 0, len(text)
    first = spans[0][0] if spans else 0
    begin = max(0, min(first - _LEAD, len(text) - LONGEST_LINE))
    return begin, begin + LONGEST_LINE


def _placed(match: LineMatch) -> str:
    """A line with a note of where in its document it is: such a line stands in no file."""
    return f"{match.text}  ({match.place})" if match.place else match.text


def merged_lines(file: FileMatches) -> Iterator[Line]:
    """Matches and their context in order, each line once, with gaps where context was asked for."""
    if not any(match.before or match.after for match in file.lines):
        for match in file.lines:
            yield Line(match.line, _placed(match), match.spans or ((0, 0),))
        return
    lines: dict[int, Line] = {}
    for match in file.lines:
        for number, text in enumerate(match.before, match.line - len(match.before)):
            lines.setdefault(number, Line(number, text))
        for number, text in enumerate(match.after, match.line + 1):
            lines.setdefault(number, Line(number, text))
    lines.update((match.line, Line(match.line, _placed(match), match.spans or ((0, 0),))) for match in file.lines)
    previous = 0
    for number in sorted(lines):
        if previous and number > previous + 1:
            yield Line(0, "")
        yield lines[number]
        previous = number
