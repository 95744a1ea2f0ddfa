"""Where a long section of prose may be cut: at paragraphs, else sentences, items or lines, else words.

Knows the shapes of prose (lists, tables, fences by an outline), not headings' paths, chunks or overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from findling.reading.outline import Outline
from findling.reading.spans import WHITE_SPACE, cut

Span = tuple[int, int]

_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)*+")
_SPACE = re.compile(r"\s*+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n")
_LINE_END = re.compile(r"\n")
_LIST_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+•]|\d{1,9}[.)]|[a-z][.)])[ \t]+\S")
_ANY_ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,9}[.)]|[a-z][.)])[ \t]", re.MULTILINE)
_TABLE = re.compile(r"[ \t]{0,3}(?:\||\+[-=]{2}|[^\n|]*\|[^\n]*\n(?=[|: \t]*+-)[|: \t-]*+\r?$|=+[ \t]+=)", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…][)\"'\]»”’*_`]*+(?=\s)|[。！？；][」』”’）]*+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|resp|[Ff]igs?|[Ee]q|[Nn]o|[Mm]rs?|[Dd]r|St|[Ss]ec|al)|\b[A-Z])\.\Z"
)
_ABBREVIATION_CHARS = 8
_HTML_BLOCK = re.compile(
    r"<(?:p|div|li|tr|section|article|h[1-6]|ul|ol|table|pre|blockquote|dl|dt|dd|nav|header|footer|main|aside|form"
    r"|body|head|script|style|br|hr|details|figure)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``kind``: heading, protected (fence, comment, …), indented, list, table, html or prose."""

    kind: str
    start: int
    end: int


def skip_blank_lines(text: str, at: int) -> int:
    found = _BLANK_LINES.match(text, at)
    return found.end() if found else at


def strip_end(text: str, start: int, end: int) -> int:
    """``end`` without the white space before it; ``start`` when nothing else is left."""
    return start + len(text[start:end].rstrip())


def first_word(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


class Paragraphs:
    """Reads the paragraphs of sections of one text. Positions are characters; sections are asked in any order."""

    def __init__(self, text: str, plan: Outline, max_chars: int, language: str) -> None:
        self._text = text
        self._plan = plan
        self._max_chars = max_chars
        self._html = language == "html"
        self._no_tag_between = (0, 0)
        self._heading_starts = [mark.start for mark in plan.marks]

    def of(self, start: int, end: int) -> Iterator[Paragraph]:
        """Paragraphs of a section; lists with blank lines between their items are one as long as they fit."""
        pending: Paragraph | None = None
        for paragraph in self._single(start, end):
            if pending is None:
                pending = paragraph
            elif self._belongs(pending, paragraph):
                pending = Paragraph(pending.kind, pending.start, paragraph.end)
            else:
                yield pending
                pending = paragraph
        if pending is not None:
            yield pending

    def _belongs(self, before: Paragraph, after: Paragraph) -> bool:
        if after.end - before.start > self._max_chars:
            return False
        if before.kind == "list":
            indented = self._text[after.start : after.start + 2] in ("  ", " \t") or self._text[after.start] == "\t"
            return after.kind == "list" or (after.kind != "heading" and indented)
        return before.kind == "prose" and after.kind == "indented" and self._text[before.end - 1] == ":"

    def _single(self, start: int, end: int) -> Iterator[Paragraph]:
        text = self._text
        at = skip_blank_lines(text, start)
        while at < end:
            kind, stop = self._at(at, end)
            stop = max(stop, at + 1)
            last = strip_end(text, at, stop)
            if last > at:
                yield Paragraph(kind, at, last)
            at = skip_blank_lines(text, stop)

    def _at(self, at: int, end: int) -> tuple[str, int]:
        """Kind and end of the paragraph that begins at ``at``."""
        text = self._text
        i = bisect_left(self._heading_starts, at)
        if i < len(self._heading_starts):
            if self._heading_starts[i] == at:
                return "heading", min(self._plan.marks[i].end, end)
            end = min(end, self._heading_starts[i])
        covered = self._plan.covering(first_word(text, at))
        if covered > 0:
            return "protected", min(covered, end)
        if self._html:
            end = self._html_end(at, end)
        stop = self._prose_end(at, end)
        if self._html:
            return "html", stop
        if _LIST_ITEM.match(text, at, stop):
            return "list", stop
        if _TABLE.match(text, at, stop):
            return "table", stop
        return "indented" if text[at] in " \t" else "prose", stop

    def _prose_end(self, at: int, end: int) -> int:
        """The next blank line outside of protected spans, or the next of these that begins a line."""
        text, spans = self._text, self._plan.protected
        i = bisect_left(spans, at, key=lambda span: span[0])
        position = at
        while True:
            found = _PARAGRAPH_END.search(text, position, end)
            stop = found.start() if found else end
            while i < len(spans) and spans[i][0] < stop:
                begin, after = spans[i]
                i += 1
                line = text.rfind("\n", at, begin) + 1
                if line > at and not text[line:begin].strip(" \t>"):
                    return line
                if after > stop:
                    position = after
                    break
            else:
                return min(stop, end)
            if position >= end:
                return end

    def _html_end(self, at: int, end: int) -> int:
        """The next tag that begins a block, once some text has come together."""
        begin = at + max(self._max_chars // 8, 1)
        first, last = self._no_tag_between
        if not first <= begin <= last:
            tag = _HTML_BLOCK.search(self._text, begin)
            last = tag.start() if tag else len(self._text)
            self._no_tag_between = (begin, last)
        return max(min(last, end), at + 1)

    def refine(self, kind: str, start: int, end: int, taken: int, own: int) -> Iterator[Span]:
        """Cut a long paragraph: spans of at most ``max_chars``, the first one ``taken`` characters shorter; words
        that have to be cut apart give spans of at most ``own``."""
        room = max(self._max_chars - taken, 1)
        for a, b in self._units(kind, start, end):
            if b - a <= room:
                yield a, b
            else:
                stop = a
                for c, stop in cut(self._text, a, b, own, first=min(room, own), marks=WHITE_SPACE):
                    last = strip_end(self._text, c, stop)
                    if last > c:
                        yield c, last
            room = self._max_chars

    def _units(self, kind: str, start: int, end: int) -> Iterator[Span]:
        text = self._text
        if kind == "list":
            cuts = (found.start() for found in _ANY_ITEM.finditer(text, start + 1, end))
        elif kind in ("table", "protected", "indented"):
            cuts = (found.end() for found in _LINE_END.finditer(text, start, end))
        else:
            cuts = (
                found.end()
                for found in _SENTENCE_END.finditer(text, start, end)
                if not _ABBREVIATION.search(text, max(start, found.start() - _ABBREVIATION_CHARS), found.start() + 1)
            )
        at = start
        for stop in (*cuts, end):
            last = strip_end(text, at, stop)
            begin = at if kind in ("table", "protected", "indented", "list") else first_word(text, at)
            at = stop
            if begin >= last:
                continue
            if kind == "list" and last - begin > self._max_chars:
                yield from self._units("prose", begin, last)
            else:
                yield begin, last
