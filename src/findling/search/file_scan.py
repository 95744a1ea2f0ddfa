"""One file's bytes against one pattern: which lines match, where, and how often.

Two ways through a file. With a needle (a text every match contains) the bytes are searched for it at memory speed
and only its lines are decoded and matched; without one the whole text is. Both give the same answer. Text is UTF-8,
bytes that are not become U+FFFD; columns count characters of the decoded line. Knows nothing of paths or disks.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from findling.model import document_places
from findling.model.types import LineMatch
from findling.search.patterns import CompiledPattern, PatternTimeout

# Letters other than ASCII that match an ASCII letter when case is ignored: folding bytes does not find them.
_FOLDING_LETTERS = (
    (b"i", "\u0130".encode()),
    (b"i", "\u0131".encode()),
    (b"s", "\u017f".encode()),
    (b"k", "\u212a".encode()),
)
#: Matching a line on its own costs about as much as going through this many bytes of text.
_BYTES_PER_LINE_TRY = 64
#: Needles of so many bytes are rarer than that, and one may be missing: going through the file for a shorter one first
#: would only cost a pass.
_SURELY_RARE_BYTES = 4
#: Lines between looks at the clock.
_LINES_PER_CLOCK = 512

#: Columns kept of one line: enough to mark what a person reads; a line matched at every character has as many as it is
#: long. The counts are of all.
MAX_SPANS = 100

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FileScan:
    """``lines``: the first matching lines, as many as wanted; the counts are of all of them.

    ``cut``: a time limit ended the scan early, and the counts are of what was seen.
    """

    lines: tuple[LineMatch, ...]
    line_count: int
    occurrences: int
    cut: bool = False


# A matching line: where it starts and ends in the buffer (line break excluded), what to answer of it, how often it
# matches.
_Found = tuple[int, int, LineMatch, int]

_NOTHING = FileScan((), 0, 0)


def scan(
    pattern: CompiledPattern,
    data: bytes,
    *,
    wanted: int | None,
    context: int = 0,
    deadline: float,
    stop_when_full: bool = False,
) -> FileScan:
    """Match ``pattern`` against a file; lines of a converted document say their place in it.

    ``data``: UTF-8 text, without byte-order mark. ``wanted``: most lines to return, None for all; counting goes on
    past it unless ``stop_when_full``. ``context``: lines to give before and after each. ``deadline``: of
    ``time.monotonic``.
    """
    found = _scan(pattern, data, wanted, context, deadline, stop_when_full)
    if not found.lines or document_places.OPEN not in data:
        return found
    places = document_places.places_of_lines(data, [line.line for line in found.lines])
    named = (replace(line, place=place) for line, place in zip(found.lines, places, strict=True))
    return replace(found, lines=tuple(named))


def _scan(
    pattern: CompiledPattern,
    data: bytes,
    wanted: int | None,
    context: int,
    deadline: float,
    stop_when_full: bool,
) -> FileScan:
    if not pattern.needles or (pattern.folds_case and _may_fold(pattern.needles, data)):
        return _scan_text(pattern, data, wanted, context, deadline, stop_when_full)
    searched = data.lower() if pattern.folds_case else data
    needle = pattern.needles[0]
    first = searched.find(needle)
    if first < 0 or any(len(other) >= _SURELY_RARE_BYTES and other not in searched for other in pattern.needles[1:]):
        return _NOTHING
    if pattern.plain:
        if wanted == 0:
            return _count_plain(needle, searched, first)
        if not context and data.isascii():
            return _scan_plain(needle, data, searched, first, wanted, stop_when_full)
    elif len(needle) < _SURELY_RARE_BYTES and searched.count(needle) * _BYTES_PER_LINE_TRY > len(data):
        return _scan_text(pattern, data, wanted, context, deadline, stop_when_full)
    lines = _needle_lines(pattern, data, searched, first, deadline)
    return _gather(lines, data, wanted, context, stop_when_full)


def _may_fold(needles: tuple[bytes, ...], data: bytes) -> bool:
    return not data.isascii() and any(
        any(ascii_letter in needle for needle in needles) and letter in data
        for ascii_letter, letter in _FOLDING_LETTERS
    )


def _count_plain(needle: bytes, searched: bytes, first: int) -> FileScan:
    lines, at = 0, first
    while at >= 0:
        lines += 1
        end = searched.find(b"\n", at)
        if end < 0:
            break
        at = searched.find(needle, end)
    return FileScan((), lines, searched.count(needle, first))


def _scan_plain(
    needle: bytes, data: bytes, searched: bytes, first: int, wanted: int | None, stop_when_full: bool
) -> FileScan:
    """The common case without the general one's steps: a text is its own needle, and a column is a byte."""
    size, whole = len(needle), len(data)
    lines: list[LineMatch] = []
    number, counted, line_count, occurrences = 1, 0, 0, 0
    at = first
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = whole
        spans: Spans = ((at - start, at - start + size),)
        count = 1
        at = searched.find(needle, at + size)
        if 0 <= at < end:
            spans, count = _plain_spans(searched[start:end], needle)
            at = searched.find(needle, end)
        line_count += 1
        occurrences += count
        if wanted is None or line_count <= wanted:
            number += data.count(b"\n", counted, start)
            counted = start
            line = data[start:end].decode("ascii")
            lines.append(LineMatch(number, line.removesuffix("\r"), spans))
            if stop_when_full and line_count == wanted:
                break
    return FileScan(tuple(lines), line_count, occurrences)


def _needle_lines(
    pattern: CompiledPattern, data: bytes, searched: bytes, first: int, deadline: float
) -> Iterator[_Found]:
    whole, safe = len(data), 0 if pattern.plain else pattern.longest_safe_line
    needle, others = pattern.needles[0], pattern.needles[1:]
    engine = pattern.fast_engine(data.isascii())
    number, counted, looked = 1, 0, 0
    at = first
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = whole
        looked += 1
        if looked % _LINES_PER_CLOCK == 0 and time.monotonic() > deadline:
            raise PatternTimeout
        at = searched.find(needle, end)
        if others and any(searched.find(other, start, end) < 0 for other in others):
            continue
        text = _line_text(data, start, end)
        if len(text) <= safe:
            spans, count = matched_spans(match.span() for match in engine.finditer(text))
        elif pattern.plain and text.isascii():  # columns are bytes
            spans, count = _plain_spans(searched[start:end], needle)
        else:
            spans, count = matched_spans(pattern.spans(text, deadline))
        if count:
            number += data.count(b"\n", counted, start)
            counted = start
            yield start, end, LineMatch(number, text, spans), count


def _plain_spans(line: bytes, needle: bytes) -> tuple[Spans, int]:
    spans: list[tuple[int, int]] = []
    at = line.find(needle)
    while at >= 0 and len(spans) < MAX_SPANS:
        end = at + len(needle)
        spans.append((at, end))
        at = line.find(needle, end)
    return tuple(spans), len(spans) if at < 0 else line.count(needle)


def matched_spans(found: Iterable[tuple[int, int]]) -> tuple[Spans, int]:
    """A line's occurrences, the first MAX_SPANS of them, and how many there are.

    They are its matches that are not empty, or one empty match when it has no other.
    """
    spans: list[tuple[int, int]] = []
    empty: Spans = ()
    count = 0
    for span in found:
        if span[0] < span[1]:
            count += 1
            if count <= MAX_SPANS:
                spans.append(span)
        elif not empty:
            empty = (span,)
    return (tuple(spans), count) if count else (empty, len(empty))


def _scan_text(
    pattern: CompiledPattern, data: bytes, wanted: int | None, context: int, deadline: float, stop_when_full: bool
) -> FileScan:
    text = data.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    if not text:
        return _NOTHING
    # offsets are the same with and without the last line break, but after it there is no line to match
    return _gather(_text_lines(pattern, text.removesuffix("\n"), deadline), text, wanted, context, stop_when_full)


def _text_lines(pattern: CompiledPattern, text: str, deadline: float) -> Iterator[_Found]:
    longest = len(text)
    if longest > pattern.longest_safe_line and not _has_longer_line(text, pattern.longest_safe_line):
        longest = pattern.longest_safe_line
    number, counted, looked = 1, 0, 0
    start, end = 0, -1
    spans: list[tuple[int, int]] = []
    empty: Spans = ()
    count = 0  # as in matched_spans, which would cost a call for every match here
    for first, last in pattern.spans(text, deadline, longest_line=longest):
        if first > end:
            if count or empty:
                number += text.count("\n", counted, start)
                counted = start
                yield start, end, LineMatch(number, text[start:end], tuple(spans) or empty), count or 1
            start = text.rfind("\n", 0, first) + 1
            end = text.find("\n", first)
            if end < 0:
                end = len(text)
            spans, empty, count = [], (), 0
            looked += 1
            if looked % _LINES_PER_CLOCK == 0 and time.monotonic() > deadline:
                raise PatternTimeout
        if first < last:
            count += 1
            if count <= MAX_SPANS:
                spans.append((first - start, last - start))
        elif not empty:
            empty = ((first - start, last - start),)
    if count or empty:
        number += text.count("\n", counted, start)
        yield start, end, LineMatch(number, text[start:end], tuple(spans) or empty), count or 1


def _has_longer_line(text: str, limit: int) -> bool:
    at = 0
    while at + limit < len(text):
        line_break = text.rfind("\n", at, at + limit + 1)
        if line_break < 0:
            return True
        at = line_break + 1
    return False


# --- from found lines to the answer ---------------------------------------------------------------------------


def _gather(
    found: Iterator[_Found], buffer: bytes | str, wanted: int | None, context: int, stop_when_full: bool
) -> FileScan:
    lines: list[LineMatch] = []
    kept: list[_Found] = []
    line_count = occurrences = 0
    cut = False
    try:
        for item in found:
            line_count += 1
            occurrences += item[3]
            if wanted is None or line_count <= wanted:
                if context:
                    kept.append(item)
                else:
                    lines.append(item[2])
                if stop_when_full and line_count == wanted:
                    break
    except PatternTimeout:
        cut = True
    lines.extend(_with_context(buffer, kept, context))
    return FileScan(tuple(lines), line_count, occurrences, cut)


def _with_context(buffer: bytes | str, kept: list[_Found], context: int) -> Iterator[LineMatch]:
    """No line is given twice: context ends where the next match or the last match's context begins."""
    shown_to = 0  # offset after the last line given
    for position, (start, end, line, _) in enumerate(kept):
        next_start = kept[position + 1][0] if position + 1 < len(kept) else len(buffer)
        before = _lines_before(buffer, start, shown_to, context)
        after, shown_to = _lines_after(buffer, end, next_start, context)
        yield replace(line, before=before, after=after)


def _lines_before(buffer: bytes | str, start: int, stop: int, count: int) -> tuple[str, ...]:
    lines: list[str] = []
    while start > stop and len(lines) < count:
        end = start - 1
        start = _last_break(buffer, end) + 1
        lines.append(_line_text(buffer, start, end))
    return tuple(reversed(lines))


def _lines_after(buffer: bytes | str, end: int, stop: int, count: int) -> tuple[tuple[str, ...], int]:
    lines: list[str] = []
    start = end + 1
    while start < stop and len(lines) < count:
        end = _next_break(buffer, start)
        lines.append(_line_text(buffer, start, end))
        start = end + 1
    return tuple(lines), start


def _last_break(buffer: bytes | str, end: int) -> int:
    return buffer.rfind("\n", 0, end) if isinstance(buffer, str) else buffer.rfind(b"\n", 0, end)


def _next_break(buffer: bytes | str, start: int) -> int:
    at = buffer.find("\n", start) if isinstance(buffer, str) else buffer.find(b"\n", start)
    return len(buffer) if at < 0 else at


def _line_text(buffer: bytes | str, start: int, end: int) -> str:
    if isinstance(buffer, str):
        return buffer[start:end]
    return buffer[start:end].decode("utf-8", "replace").removesuffix("\r")
