"""Results -> numbered lines: the part of showing text that plain and styled output share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from msgspec.structs import replace

from findling.model.types import FileMatches, GrepStream, Hit, LineMatch, SymbolHit
from findling.search import lines_of

#: A longer line is probably data: only so many characters around its first match are shown.
LONGEST_LINE = 2000
#: How many of these characters stand before the first match.
_LEAD = 200
_MARK = "…"


class Line(NamedTuple):
    """A line to show. ``spans`` are (start, end) columns to highlight; number 0 is a gap between groups."""

    number: int
    text: str
    spans: tuple[tuple[int, int], ...] = ()


def body_lines(found: Hit | SymbolHit) -> Iterator[Line]:
    """The lines of the body; a match that the snippet shows is marked there, too."""
    marked: dict[int, list[tuple[int, int]]] = {}
    for number, start, end in found.matches if isinstance(found, Hit) else ():
        marked.setdefault(number, []).append((start, end))
    for number, text in lines_of(found.body):
        yield Line(number, text, tuple(marked.get(number, ())))


def is_block(hit: Hit, explain: bool) -> bool:
    """Whether a hit takes more than its line."""
    return explain or bool(hit.body or hit.parts or hit.translations or hit.copies)


def clipped(match: LineMatch) -> LineMatch:
    """At most LONGEST_LINE characters of a line, those around its first match, and of each line beside it."""
    begin, end = _window(match.text, match.spans)
    if end - begin < len(match.text):
        kept = [
            place
            for place, (first, last) in enumerate(match.spans)
            if begin <= first < end or first == last == end  # a match of nothing, after the last character
        ]
        match = replace(
            match,
            text=match.text[begin:end],
            spans=tuple((match.spans[at][0] - begin, min(match.spans[at][1], end) - begin) for at in kept),
            text_start=match.text_start + begin,
            replaced=tuple(match.replaced[at] for at in kept) if match.replaced else (),
        )
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


def printed_lines(file: FileMatches, *, groups: bool, only: bool) -> Iterator[Line]:
    """Matches and their context in order, each line once; with ``groups``, gaps between what does not touch. ``only``:
    of a line just what matches, each a line of its own."""
    shown = _only_matches if only else _whole_line
    if not groups:
        for match in file.lines:
            yield from shown(match)
        return
    lines: dict[int, list[Line]] = {}
    for match in file.lines:
        for number, text in enumerate(match.before, match.line - len(match.before)):
            lines.setdefault(number, [Line(number, text)])
        for number, text in enumerate(match.after, match.line + 1):
            lines.setdefault(number, [Line(number, text)])
    lines.update((match.line, shown(match)) for match in file.lines)
    previous = 0
    for number in sorted(lines):
        if previous and number > previous + 1:
            yield Line(0, "")
        yield from lines[number]
        previous = number


def byte_columns(match: LineMatch) -> Iterator[int]:
    """Where the matches of a line begin, counted in bytes from 1 as editors do; 1 where nothing matches."""
    for start, _ in match.spans or ((0, 0),):
        yield len(match.text[:start].encode()) + 1


def _only_matches(match: LineMatch) -> list[Line]:
    """A line for each match, or for its replacement if one was asked for; the whole line where nothing matches."""
    if not match.spans:
        return _whole_line(match)
    texts = match.replaced or [match.text[start:end] for start, end in match.spans]
    return [
        Line(match.line, text, ((0, len(text)),))
        for text, (start, end) in zip(texts, match.spans, strict=True)
        if start < end
    ]


def _whole_line(match: LineMatch) -> list[Line]:
    """A line that matches nowhere, as inverted matches do, is marked at its start."""
    text, spans = _replaced(match) if match.replaced else (match.text, match.spans)
    return [Line(match.line, f"{text}  ({match.place})" if match.place else text, spans or ((0, 0),))]


def _replaced(match: LineMatch) -> tuple[str, tuple[tuple[int, int], ...]]:
    text, at = "", 0
    spans: list[tuple[int, int]] = []
    for (start, end), instead in zip(match.spans, match.replaced, strict=True):
        text += match.text[at:start]
        spans.append((len(text), len(text) + len(instead)))
        text += instead
        at = end
    return text + match.text[at:], tuple(spans)


def as_they_come(found: GrepStream, out: IO[str]) -> Iterator[FileMatches]:
    """The files of an answer, flushing ``out`` now and then so that the first are seen before the last are found."""
    flush_at = 0.0
    for file in found:
        yield file
        if time.monotonic() >= flush_at:
            out.flush()
            flush_at = time.monotonic() + _FLUSH_S


_FLUSH_S = 0.1


# --- how a path is written -------------------------------------------------------------------------------------------


class Places:
    def __init__(self, root: Path, current: Path | None) -> None:
        """``current`` is the current folder, None when there is none (deleted, or not readable)."""
        self._root = root
        related = current is not None and _related(root, current)
        self._current = current if related else None
        where = os.path.relpath(root, current) if related else str(root)
        self._before = "" if where == "." else f"{where.replace(os.sep, '/')}/"
        """What stands before a path from the root; wrong for paths in a current folder below the root."""
        self._apart = "" if related or current is None else _prefix_between(root, current)
        """The same as a relative path where the two are unrelated."""

    def shown(self, path: str) -> str:
        """A path from the root, or of a file elsewhere, as it is written in the current folder; absolute where the two
        are unrelated."""
        if path not in ("", ".") and not self._before.startswith("../") and not Path(path).is_absolute():
            return f"{self._before}{path}"
        absolute = self._root / path
        if self._current is None:
            return str(absolute)
        return os.path.relpath(absolute, self._current).replace(os.sep, "/")

    def from_current(self, path: str) -> str:
        """A path from the root, as it is reached from the current folder, with ``../`` where the two are unrelated.
        From the root where the current folder is gone or on another drive."""
        return self.shown(path) if self._current is not None else f"{self._apart}{path}"

    def link(self, path: str) -> str:
        """A ``file:`` address; every character that could end an escape sequence is quoted."""
        from urllib.parse import quote

        return "file://" + quote(os.fsencode(self._root / path))


def current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _prefix_between(root: Path, current: Path) -> str:
    try:
        return f"{os.path.relpath(root, current).replace(os.sep, '/')}/"
    except ValueError:  # another drive of Windows
        return ""


def _related(root: Path, current: Path) -> bool:
    at_top = current == Path(current.anchor)
    return not at_top and (root.is_relative_to(current) or current.is_relative_to(root))
