"""Prose to chunks: along headings, else paragraphs, else sentences, else words.

Works on any format that ``outline`` can read; knows neither code nor files. Sizes are characters.

- A section begins at a heading of level 1 to 3 and is one chunk when it fits. A section that is nothing but its
  heading joins the section below it when that is its sub-section, and labels (``.. _name:``) join the heading below
  them. Deeper headings do not split; a chunk that begins with one carries it as header.
- A longer section is cut at paragraphs; fences, tables, lists, comments and front matter count as one paragraph
  when they fit. A longer paragraph is cut at sentences (lists at items, tables and fences at lines), a longer
  sentence at white space, a longer word anywhere. A heading stays with what follows it.
- From the second chunk of a section on, a chunk begins with up to ``overlap`` characters of the one before, as far
  as they fit within ``max_chars``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from findling.reading.limits import DOCS, SPLIT_LEVEL, DocLimits
from findling.reading.outline import Mark, Outline, outline
from findling.reading.parsed import Chunk
from findling.reading.spans import MAX_CHUNKS, WHITE_SPACE, cut, grow, locate

_SENTENCE_START = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[。！？；])(?=\S)")
_WORD_START = re.compile(r"\s+(?=\S)")
_LABEL = re.compile(r"\.\.[ \t]+_[^\s_][^\n]*:[ \t]*\r?\n")


def chunk_docs(
    text: str, *, limits: DocLimits = DOCS, language: str = "markdown", most: int = MAX_CHUNKS
) -> list[Chunk]:
    """Chunks of a document in order, kind ``section``, at most ``most`` (then they grow: see
    ``spans.too_many``). ``language`` says how headings are written; unknown ones are plain text.
    """
    plan = outline(text, language)
    if language == "rst":
        plan = _with_labels(text, plan)
    paragraphs = Paragraphs(text, plan, limits.max_chars, language)
    spans: list[tuple[int, int, int]] = []
    for first, last in _sections(text, plan.marks):
        spans += _cut_section(text, paragraphs, first, last, limits)
    places = locate(text, [at for _, start, end in spans for at in (start, end)])
    paths = _Paths(text, plan.marks)
    chunks: list[Chunk] = []
    for own, start, end in spans:
        path = paths.at(own)
        start_byte, start_line = places[start]
        end_byte, end_line = places[end]
        header = path[-1] if path else ""
        chunks.append(Chunk(start_line, end_line, start_byte, end_byte, "section", -1, path, header))
    return grow(chunks, most)


def _with_labels(text: str, plan: Outline) -> Outline:
    """Headings that begin with the labels right above them."""
    marks: list[Mark] = []
    floor = 0
    for mark in plan.marks:
        start = at = mark.start
        while at > floor:
            above = max(text.rfind("\n", floor, at - 1) + 1, floor)
            line = text[above:at]
            if _LABEL.fullmatch(line):
                start = above
            elif line.strip():
                break
            at = above
        marks.append(replace(mark, start=start))
        floor = mark.end
    return replace(plan, marks=tuple(marks))


class _Paths:
    """Gives the heading path at a place. Places must be asked for in ascending order."""

    def __init__(self, text: str, marks: tuple[Mark, ...]) -> None:
        self._text = text
        self._marks = marks
        self._next = 0
        self._open: list[Mark] = []

    def at(self, start: int) -> tuple[str, ...]:
        """Titles from the outside in, for a chunk whose own text begins at ``start``: those above it, and those
        that it begins with, each deeper than the one before."""
        self._open = [mark for mark in self._open if mark.level <= SPLIT_LEVEL]
        begins = first_word(self._text, start)
        while self._next < len(self._marks):
            mark = self._marks[self._next]
            leads = mark.end > begins
            if mark.start > begins or (leads and mark.start > start and not self._is_below(mark)):
                break
            if leads:
                begins = first_word(self._text, mark.end)
            if leads or mark.level <= SPLIT_LEVEL:
                while self._open and self._open[-1].level >= mark.level:
                    self._open.pop()
                self._open.append(mark)
            self._next += 1
        return tuple(mark.title for mark in self._open if mark.title)

    def _is_below(self, mark: Mark) -> bool:
        return not self._open or mark.level > self._open[-1].level


def _sections(text: str, marks: tuple[Mark, ...]) -> Iterator[Span]:
    """The spans between headings. A heading without text goes with the sub-section that follows it."""
    at = 0
    before: Mark | None = None
    for mark in marks:
        if mark.level > SPLIT_LEVEL:
            continue
        bare = before is not None and mark.level > before.level and first_word(text, before.end) >= mark.start
        if not bare:
            yield at, mark.start
            at = mark.start
        before = mark
    yield at, len(text)


def _cut_section(
    text: str, paragraphs: Paragraphs, start: int, end: int, limits: DocLimits
) -> Iterator[tuple[int, int, int]]:
    """(start without overlap, start, end) of each chunk of a section."""
    start = skip_blank_lines(text, start)
    end = strip_end(text, start, end)
    if start >= end or first_word(text, start) >= end:
        return
    if end - start <= limits.max_chars:
        yield start, start, end
        return
    own = begin = reached = -1
    for a, b in _parts(text, paragraphs, start, end, limits):
        if own < 0:
            begin = a
        elif b - begin <= limits.max_chars:
            reached = b
            continue
        else:
            yield own, begin, reached
            budget = min(limits.overlap, limits.max_chars - (b - a))
            begin = _overlap_start(text, max(begin + 1, a - budget), reached, a)
        own, reached = a, b
    yield own, begin, reached


def _parts(text: str, paragraphs: Paragraphs, start: int, end: int, limits: DocLimits) -> Iterator[Span]:
    """Spans of at most ``max_chars`` in order: paragraphs with the headings right above them, or parts of them."""
    own = max(limits.max_chars - limits.overlap, 1)
    held = -1
    for paragraph in paragraphs.of(start, end):
        begin = paragraph.start if held < 0 else held
        if paragraph.kind == "heading":
            if paragraph.end - begin <= limits.max_chars // 2:
                held = begin
                continue
            if begin < paragraph.start:
                yield begin, strip_end(text, begin, paragraph.start)
            begin = paragraph.start
        if paragraph.end - begin <= limits.max_chars:
            yield begin, paragraph.end
        else:
            if paragraph.start - begin >= limits.max_chars:  # more blank lines below a heading than there is room
                yield begin, strip_end(text, begin, paragraph.start)
                begin = paragraph.start
            taken = paragraph.start - begin
            for a, b in paragraphs.refine(paragraph.kind, paragraph.start, paragraph.end, taken, own):
                yield begin if begin < paragraph.start else a, b
                begin = paragraph.end
        held = -1
    if held >= 0:
        yield held, end


def _overlap_start(text: str, earliest: int, reached: int, own: int) -> int:
    """Where to begin a chunk whose own text begins at ``own``, so that it repeats the end of the text up to
    ``reached``: from ``earliest`` on, preferably at the beginning of a line or sentence, else of a word."""
    if earliest >= reached:
        return own
    if text[earliest - 1] == "\n":
        return first_word(text, earliest)
    half = (earliest + reached) // 2
    line = text.find("\n", earliest, half)
    if line >= 0:
        return first_word(text, line)
    found = _SENTENCE_START.search(text, earliest, half) or _WORD_START.search(text, earliest, reached)
    return found.end() if found else earliest


# --- where a long section may be cut: at paragraphs, else sentences, items or lines, else words

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


class Paragraph(Struct, frozen=True):
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
    """Reads the paragraphs of sections of one text. Positions are characters."""

    def __init__(self, text: str, plan: Outline, max_chars: int, language: str) -> None:
        self._text = text
        self._plan = plan
        self._max_chars = max_chars
        self._html = language == "html"
        self._no_tag_between = (0, 0)
        self._heading_starts = [mark.start for mark in plan.marks]

    def of(self, start: int, end: int) -> Iterator[Paragraph]:
        """The paragraphs of a section. List items with blank lines between them are one as long as they fit."""
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
        """The next blank line outside protected spans, or the next protected span that begins a line."""
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
        """The next tag that begins a block, after an eighth of ``max_chars``."""
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
