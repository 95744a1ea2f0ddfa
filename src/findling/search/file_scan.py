"""One file's bytes against one pattern: which lines match, where, and how often.

A text that lacks what every match contains is passed over at memory speed; any other is decoded and matched as a
whole. Text is UTF-8, bytes that are not become U+FFFD; columns count characters of the decoded line. Knows nothing of
paths or disks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from findling.model import format_names
from findling.model.types import LineMatch
from findling.search.patterns import RARE, CompiledPattern, PatternTimeout, Template

# Letters other than ASCII that match an ASCII letter when case is ignored: folding bytes does not find them.
_FOLDING_LETTERS = (
    (b"i", "\u0130".encode()),
    (b"i", "\u0131".encode()),
    (b"s", "\u017f".encode()),
    (b"k", "\u212a".encode()),
)
#: Matches between looks at the clock.
_MATCHES_PER_CLOCK = 4096

#: Columns kept of one line: enough to mark what a person reads; a line matched at every character has as many as it is
#: long. The counts are of all.
MAX_SPANS = 100

Spans = tuple[tuple[int, int], ...]
Reach = Callable[[int], tuple[int, int]]
"""How many lines to give before and after a line, by its number."""


class Wanted(Struct, frozen=True):
    """What to give of a file. ``lines``: most of them, None for all; counting goes on past it unless
    ``stop_when_full``. ``reach``: lines around each match; None for none. ``spans``: most columns of a line.
    ``inverted``: the lines that do not match. ``template``: what takes the place of each match. ``offsets``: with the
    place of each line in the text.
    """

    lines: int | None = None
    stop_when_full: bool = False
    reach: Reach | None = None
    spans: int = MAX_SPANS
    inverted: bool = False
    template: Template | None = None
    offsets: bool = False


class FileScan(Struct, frozen=True):
    """``lines``: the first matching lines, as many as wanted; the counts are of all of them.

    ``cut``: a time limit ended the scan early, and the counts are of what was seen.
    """

    lines: tuple[LineMatch, ...]
    line_count: int
    occurrences: int
    cut: bool = False


# A matching line: where it starts and ends in the text (line break excluded), the columns that match, how often it
# matches.
_Found = tuple[int, int, Spans, int]

_NOTHING = FileScan((), 0, 0)


def scan(pattern: CompiledPattern, data: bytes, wanted: Wanted, *, deadline: float) -> FileScan:
    """Match ``pattern`` against a file; lines of a converted document say their place in it.

    ``data``: UTF-8 text, without byte-order mark. ``deadline``: of ``time.thread_time``.
    """
    holds = may_match(pattern, data)
    if not data or not (holds or wanted.inverted):
        return _NOTHING
    if pattern.plain and wanted.lines == 0 and not wanted.inverted and (data.isascii() or not pattern.folds_case):
        return _counted(pattern.needles[0], data.lower() if pattern.folds_case else data)
    text = _as_text(data)
    find = _spanned_lines if pattern.multiline else _lines
    matched = find(pattern, text, deadline, wanted.spans) if holds else iter(())
    found = _gather(_others(matched, text) if wanted.inverted else matched, text, wanted)
    if not found.lines:
        return found
    if wanted.template is not None:
        found = _replaced(pattern, found, wanted.template, deadline)
    if wanted.offsets:
        found = replace(found, lines=tuple(_with_offsets(data, found.lines)))
    if format_names.OPEN not in data:
        return found
    places = format_names.places_of_lines(data, [line.line for line in found.lines])
    named = (replace(line, place=place) for line, place in zip(found.lines, places, strict=True))
    return replace(found, lines=tuple(named))


def may_match(pattern: CompiledPattern, data: bytes) -> bool:
    """Whether a text has what every match contains: a pass at memory speed."""
    needles = pattern.needles
    if not needles or (pattern.folds_case and _may_fold(needles, data)) or (pattern.multiline and b"\r" in data):
        return True
    searched = data.lower() if pattern.folds_case else data
    rare = (needle for needle in needles[1:] if len(needle) >= RARE)
    return needles[0] in searched and all(needle in searched for needle in rare)


def _counted(needle: bytes, data: bytes) -> FileScan:
    """How many lines hold a text, and how often they do."""
    lines, at = 0, data.find(needle)
    while at >= 0:
        lines += 1
        end = data.find(b"\n", at)
        at = data.find(needle, end) if end >= 0 else -1
    return FileScan((), lines, data.count(needle))


def _may_fold(needles: tuple[bytes, ...], data: bytes) -> bool:
    return not data.isascii() and any(
        any(ascii_letter in needle for needle in needles) and letter in data
        for ascii_letter, letter in _FOLDING_LETTERS
    )


def _as_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text


def _lines(pattern: CompiledPattern, text: str, deadline: float, most_spans: int) -> Iterator[_Found]:
    """The lines with a match. A line's occurrences are its matches that are not empty, or one empty match when it has
    no other."""
    start, end = 0, -1
    spans: list[tuple[int, int]] = []
    empty: Spans = ()
    count = 0
    # offsets are the same with and without the last line break, but after it there is no line to match
    for looked, (first, last) in enumerate(pattern.spans(text.removesuffix("\n"), deadline), 1):
        if first > end:
            if count or empty:
                yield start, end, tuple(spans) or empty, count or 1
            start = text.rfind("\n", 0, first) + 1
            end = _next_break(text, first)
            spans, empty, count = [], (), 0
        if looked % _MATCHES_PER_CLOCK == 0 and time.thread_time() > deadline:
            raise PatternTimeout
        if first < last:
            count += 1
            if count <= most_spans:
                spans.append((first - start, last - start))
        elif not empty:
            empty = ((first - start, last - start),)
    if count or empty:
        yield start, end, tuple(spans) or empty, count or 1


def _spanned_lines(pattern: CompiledPattern, text: str, deadline: float, most_spans: int) -> Iterator[_Found]:
    """The lines that matches stand on, of which each may take several; a match counts on the first of them."""
    start, end = 0, -1
    spans: list[tuple[int, int]] = []
    count = 0
    for first, last in pattern.spans(text, deadline):
        at, begins = first, 1
        while at <= first or at < last:
            if at > end:
                if end >= 0:
                    yield start, end, tuple(spans), count
                if at >= len(text) and text.endswith("\n"):
                    return  # after the last line break there is no line
                start = text.rfind("\n", 0, at) + 1
                end = _next_break(text, at)
                spans, count = [], 0
            if len(spans) < most_spans:
                spans.append((at - start, min(last, end) - start))
            count += begins
            at, begins = end + 1, 0
    if end >= 0:
        yield start, end, tuple(spans), count


def _others(matched: Iterator[_Found], text: str) -> Iterator[_Found]:
    """The lines of a text between those that match."""
    at = 0
    for start, end, _, _ in matched:
        yield from _each_line(text, at, start)
        at = end + 1
    yield from _each_line(text, at, len(text))


def _each_line(text: str, at: int, stop: int) -> Iterator[_Found]:
    while at < stop:
        end = _next_break(text, at)
        yield at, end, (), 1
        at = end + 1


def _next_break(text: str, start: int) -> int:
    at = text.find("\n", start)
    return len(text) if at < 0 else at


# --- from found lines to the answer ---------------------------------------------------------------------------


def _gather(found: Iterator[_Found], text: str, wanted: Wanted) -> FileScan:
    kept: list[tuple[int, int, LineMatch]] = []
    line_count = occurrences = counted = 0
    number, most, cut = 1, wanted.lines, False
    try:
        for start, end, spans, count in found:
            line_count += 1
            occurrences += count
            if most is None or line_count <= most:
                number += text.count("\n", counted, start)
                counted = start
                kept.append((start, end, LineMatch(number, text[start:end], spans)))
                if wanted.stop_when_full and line_count == most:
                    break
    except PatternTimeout:
        cut = True
    lines = [line for _, _, line in kept] if wanted.reach is None else _with_context(text, kept, wanted.reach)
    return FileScan(tuple(lines), line_count, occurrences, cut)


def _with_context(text: str, kept: Sequence[tuple[int, int, LineMatch]], reach: Reach) -> Iterator[LineMatch]:
    """No line is given twice: context ends where the next match or the last match's context begins."""
    shown_to = 0  # offset after the last line given
    for position, (start, end, line) in enumerate(kept):
        above, below = reach(line.line)
        next_start = kept[position + 1][0] if position + 1 < len(kept) else len(text)
        before = text[shown_to:start].split("\n")[:-1][-above:] if above else []
        shown_to = end + 1
        after = []
        for at, stop, _, _ in islice(_each_line(text, shown_to, next_start), below):
            after.append(text[at:stop])
            shown_to = stop + 1
        yield replace(line, before=tuple(before), after=tuple(after))


def _with_offsets(data: bytes, lines: Iterable[LineMatch]) -> Iterator[LineMatch]:
    at, number = 0, 1
    for line in lines:
        while number < line.line:
            at = data.find(b"\n", at) + 1
            number += 1
        yield replace(line, offset=at)


def _replaced(pattern: CompiledPattern, found: FileScan, template: Template, deadline: float) -> FileScan:
    """The lines with what takes the place of each match."""
    lines: list[LineMatch] = []
    try:
        for line in found.lines:
            instead = dict(pattern.replacements(line.text, template, deadline))
            lines.append(replace(line, replaced=tuple(instead.get(span, "") for span in line.spans)))
    except PatternTimeout:
        return replace(found, lines=tuple(lines), cut=True)
    return replace(found, lines=tuple(lines))
