"""One file's bytes against one pattern: which lines match, where, and how often.

Two ways through a file. With a needle (a text every match contains) the bytes are searched for it at memory speed
and only its lines are decoded and matched; without one the whole text is. Both give the same answer. Text is UTF-8,
bytes that are not become U+FFFD; columns count characters of the decoded line. Knows nothing of paths or disks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from findling.model import format_names
from findling.model.types import LineMatch
from findling.search.patterns import CompiledPattern, PatternTimeout, Template

# Letters other than ASCII that match an ASCII letter when case is ignored: folding bytes does not find them.
_FOLDING_LETTERS = (
    (b"i", "\u0130".encode()),
    (b"i", "\u0131".encode()),
    (b"s", "\u017f".encode()),
    (b"k", "\u212a".encode()),
)
#: Matching a line on its own costs about as much as going through this many bytes of text.
_BYTES_PER_LINE_TRY = 64
#: A needle of so many bytes is rare. A shorter one is in nearly every file, so looking for it first would only cost
#: a pass.
_SURELY_RARE_BYTES = 4
#: Lines between looks at the clock, and characters of lines that may take long.
_LINES_PER_CLOCK = 512
_CHARACTERS_PER_CLOCK = 4096

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


# A matching line: where it starts and ends in the buffer (line break excluded), what to answer of it, how often it
# matches.
_Found = tuple[int, int, LineMatch, int]

_NOTHING = FileScan((), 0, 0)


def scan(pattern: CompiledPattern, data: bytes, wanted: Wanted, *, deadline: float) -> FileScan:
    """Match ``pattern`` against a file; lines of a converted document say their place in it.

    ``data``: UTF-8 text, without byte-order mark. ``deadline``: of ``time.thread_time``.
    """
    found = _inverted(pattern, data, wanted, deadline) if wanted.inverted else _scan(pattern, data, wanted, deadline)
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
    if not pattern.needles or (pattern.folds_case and _may_fold(pattern.needles, data)):
        return True
    if pattern.multiline:
        return _may_span(pattern, data)
    return pattern.needles[0] in (data.lower() if pattern.folds_case else data)


def _scan(pattern: CompiledPattern, data: bytes, wanted: Wanted, deadline: float) -> FileScan:
    if pattern.multiline:
        return _scan_text(pattern, data, wanted, deadline) if _may_span(pattern, data) else _NOTHING
    if not pattern.needles or (pattern.folds_case and _may_fold(pattern.needles, data)):
        return _scan_text(pattern, data, wanted, deadline)
    searched = data.lower() if pattern.folds_case else data
    needle = pattern.needles[0]
    first = searched.find(needle)
    if first < 0 or any(len(other) >= _SURELY_RARE_BYTES and other not in searched for other in pattern.needles[1:]):
        return _NOTHING
    if pattern.plain:
        if wanted.lines == 0:
            return _count_plain(needle, searched, first)
    elif len(needle) < _SURELY_RARE_BYTES and searched.count(needle) * _BYTES_PER_LINE_TRY > len(data):
        return _scan_text(pattern, data, wanted, deadline)
    return _gather(_needle_lines(pattern, data, searched, first, deadline, wanted.spans), data, wanted)


def _may_span(pattern: CompiledPattern, data: bytes) -> bool:
    """Whether a text may have what every match contains, wherever it breaks its lines."""
    if pattern.folds_case or b"\r" in data:
        return True
    return all(needle in data for needle in pattern.needles)


def _inverted(pattern: CompiledPattern, data: bytes, wanted: Wanted, deadline: float) -> FileScan:
    """The lines that do not match."""
    text = _as_text(data)
    if pattern.needles and not pattern.folds_case and pattern.needles[0] not in data:
        matched: Iterator[_Found] = iter(())
    else:
        find = _spanned_lines if pattern.multiline else _text_lines
        matched = find(pattern, text.removesuffix("\n"), deadline, 0)
    return _gather(_others(matched, text), text, wanted)


def _others(matched: Iterator[_Found], text: str) -> Iterator[_Found]:
    """The lines of a text between those that match."""
    at, number = 0, 1
    for start, end, _, _ in matched:
        while at < start:
            stop = _next_break(text, at)
            yield at, stop, LineMatch(number, text[at:stop], ()), 1
            at, number = stop + 1, number + 1
        at, number = end + 1, number + 1
    while at < len(text):
        stop = _next_break(text, at)
        yield at, stop, LineMatch(number, text[at:stop], ()), 1
        at, number = stop + 1, number + 1


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


def _needle_lines(
    pattern: CompiledPattern, data: bytes, searched: bytes, first: int, deadline: float, most_spans: int
) -> Iterator[_Found]:
    whole, safe = len(data), 0 if pattern.plain else pattern.cost.longest_safe_line()
    needle, others = pattern.needles[0], pattern.needles[1:]
    engine = pattern.fast_engine(data.isascii())
    number, counted = 1, 0
    per_line = 1 if pattern.plain else _CHARACTERS_PER_CLOCK // _LINES_PER_CLOCK
    tried = 0
    at = first
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = whole
        tried += per_line + end - start
        if tried > _CHARACTERS_PER_CLOCK:
            tried = 0
            if time.thread_time() > deadline:
                raise PatternTimeout
        at = searched.find(needle, end)
        if others and any(searched.find(other, start, end) < 0 for other in others):
            continue
        text = _line_text(data, start, end)
        if len(text) <= safe:
            spans, count = matched_spans((match.span() for match in engine.finditer(text)), most_spans)
        elif pattern.plain and text.isascii():  # columns are bytes
            spans, count = _plain_spans(searched[start:end], needle, most_spans)
        else:
            spans, count = matched_spans(pattern.spans(text, deadline), most_spans)
        if count:
            number += data.count(b"\n", counted, start)
            counted = start
            yield start, end, LineMatch(number, text, spans), count


def _plain_spans(line: bytes, needle: bytes, most: int) -> tuple[Spans, int]:
    spans: list[tuple[int, int]] = []
    at = line.find(needle)
    while at >= 0 and len(spans) < most:
        end = at + len(needle)
        spans.append((at, end))
        at = line.find(needle, end)
    return tuple(spans), len(spans) if at < 0 else line.count(needle)


def matched_spans(found: Iterable[tuple[int, int]], most: int = MAX_SPANS) -> tuple[Spans, int]:
    """A line's occurrences, the first ``most`` of them, and how many there are.

    They are its matches that are not empty, or one empty match when it has no other.
    """
    spans: list[tuple[int, int]] = []
    empty: Spans = ()
    count = 0
    for span in found:
        if span[0] < span[1]:
            count += 1
            if count <= most:
                spans.append(span)
        elif not empty:
            empty = (span,)
    return (tuple(spans), count) if count else (empty, len(empty))


def _as_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text


def _scan_text(pattern: CompiledPattern, data: bytes, wanted: Wanted, deadline: float) -> FileScan:
    text = _as_text(data)
    if not text:
        return _NOTHING
    if pattern.multiline:
        return _gather(_spanned_lines(pattern, text, deadline, wanted.spans), text, wanted)
    # offsets are the same with and without the last line break, but after it there is no line to match
    return _gather(_text_lines(pattern, text.removesuffix("\n"), deadline, wanted.spans), text, wanted)


def _spanned_lines(pattern: CompiledPattern, text: str, deadline: float, most_spans: int) -> Iterator[_Found]:
    """The lines that matches stand on, of which each may take several; a match counts on the first of them."""
    number, counted = 1, 0
    start, end = 0, -1
    spans: list[tuple[int, int]] = []
    count = 0
    for first, last in pattern.spans(text, deadline):
        at, begins = first, 1
        while at <= first or at < last:
            if at > end:
                if end >= 0:
                    number += text.count("\n", counted, start)
                    counted = start
                    yield start, end, LineMatch(number, text[start:end], tuple(spans)), count
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
        number += text.count("\n", counted, start)
        yield start, end, LineMatch(number, text[start:end], tuple(spans)), count


def _text_lines(pattern: CompiledPattern, text: str, deadline: float, most_spans: int) -> Iterator[_Found]:
    longest, safe = len(text), pattern.cost.longest_safe_line(len(text))
    if longest > safe and not _has_longer_line(text, safe):
        longest = safe
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
            if looked % _LINES_PER_CLOCK == 0 and time.thread_time() > deadline:
                raise PatternTimeout
        if first < last:
            count += 1
            if count <= most_spans:
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


def _gather(found: Iterator[_Found], buffer: bytes | str, wanted: Wanted) -> FileScan:
    lines: list[LineMatch] = []
    kept: list[_Found] = []
    line_count = occurrences = 0
    most, reach, cut = wanted.lines, wanted.reach, False
    try:
        for item in found:
            line_count += 1
            occurrences += item[3]
            if most is None or line_count <= most:
                if reach is not None:
                    kept.append(item)
                else:
                    lines.append(item[2])
                if wanted.stop_when_full and line_count == most:
                    break
    except PatternTimeout:
        cut = True
    if reach is not None:
        lines.extend(_with_context(buffer, kept, reach))
    return FileScan(tuple(lines), line_count, occurrences, cut)


def _with_context(buffer: bytes | str, kept: list[_Found], reach: Reach) -> Iterator[LineMatch]:
    """No line is given twice: context ends where the next match or the last match's context begins."""
    shown_to = 0  # offset after the last line given
    for position, (start, end, line, _) in enumerate(kept):
        above, below = reach(line.line)
        next_start = kept[position + 1][0] if position + 1 < len(kept) else len(buffer)
        before = _lines_before(buffer, start, shown_to, above)
        after, shown_to = _lines_after(buffer, end, next_start, below)
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
