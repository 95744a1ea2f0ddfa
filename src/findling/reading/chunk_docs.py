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
from collections.abc import Iterator
from dataclasses import replace

from findling.model.types import Chunk
from findling.reading.doc_limits import DOCS, SPLIT_LEVEL
from findling.reading.doc_limits import LIBRARY as LIBRARY
from findling.reading.doc_limits import DocLimits as DocLimits
from findling.reading.outline import Mark, Outline, outline
from findling.reading.paragraphs import Paragraphs, Span, first_word, skip_blank_lines, strip_end
from findling.reading.spans import MAX_CHUNKS, grow, locate

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
    """The heading path at a place; asked in ascending order."""

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
    """Spans between headings; a bare heading goes with the sub-section that follows it."""
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
