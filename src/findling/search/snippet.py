"""The lines worth showing of a place. Pure; reads no files."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate
from operator import or_
from re import compile as regex
from typing import NamedTuple

from findling.model import tokenizer

LINE_CHARS = 200
"""A shown line is at most this long; what lies further right is seldom read, and one line must not fill a screen."""

ELLIPSIS = "..."

MIN_CHARS = 40
"""The least a snippet may be limited to: room for a word between two ellipses."""

LEAD_CHARS = 40
"""Shown to the left of the first match when a long line is cut, so that the match has a context."""

LEAD_LINES = 2
"""Shown above the first match when the snippet does not begin where its place does, for the same reason."""

SCANNED_LINE_CHARS = 5_000
SCANNED_LINES = 500
"""So much of a line and of a place is searched for matches. Only minified files have more."""

_WORD_AND_MARKS = regex(r"\w[\w\u0300-\u036f]*")
"""A word of text that may not be in NFC: the tokenizer brings it there, columns must count what is written."""


class Snippet(NamedTuple):
    """``text`` is the shown lines joined by line feeds, from the 1-based ``start_line`` on.

    ``matches`` are (line, first column, end column) of words that share a term with the query: 1-based lines of the
    file, 0-based columns of the line as shown, end exclusive, in order.
    """

    start_line: int
    text: str
    matches: tuple[tuple[int, int, int], ...]


def make_snippet(
    lines: Sequence[str],
    start_line: int,
    end_line: int,
    stems: Collection[str],
    *,
    max_lines: int = 10,
    max_chars: int = 800,
    anchor_line: int | None = None,
) -> Snippet:
    """The best window of a place: most distinct query terms, beginning with the place if that loses none of them.

    ``lines`` are a whole file's, without line ends; the range is 1-based, inclusive, and cut to the file. ``stems``
    are the query's terms as `tokenizer.terms` makes them. The window holds ``anchor_line`` if that is a line of the
    range and not blank. ``max_lines`` is at least 1 and ``max_chars``, line feeds counted, at least `MIN_CHARS`;
    smaller values count as these. A range with no text in it gives an empty text and no matches.
    """
    max_lines, max_chars = max(1, max_lines), max(MIN_CHARS, max_chars)
    first = max(1, start_line)
    last = max(0, min(end_line, len(lines)))
    if anchor_line is not None and not (first <= anchor_line <= last and lines[anchor_line - 1].strip()):
        anchor_line = None
    if anchor_line is not None:  # lines further away cannot share a window with it
        first, last = max(first, anchor_line - max_lines + 1), min(last, anchor_line + max_lines - 1)
    last = min(last, first + SCANNED_LINES - 1)
    begins_the_place = first == max(1, start_line)
    rows = [row.rstrip("\r\n") for row in lines[first - 1 : last]]
    lead, rows = _without_blank_ends(rows)
    first += lead
    if not rows:
        return Snippet(max(1, start_line), "", ())
    found = _find(rows, stems)
    limit = min(LINE_CHARS, max_chars)
    anchor = None if anchor_line is None else anchor_line - first
    start, stop = _window(rows, found, limit, max_lines, max_chars, anchor, begins_the_place)
    lead, _ = _without_blank_ends(rows[start:stop])
    start += lead
    while stop > start and not rows[stop - 1].strip():
        stop -= 1
    shown: list[str] = []
    matches: list[tuple[int, int, int]] = []
    for position in range(start, stop):
        row = rows[position]
        spans = sorted((column, end) for column, end, _ in found.get(position, ()))
        if len(row) > limit:
            row, spans = _cut(row, spans, limit)
        shown.append(row)
        matches += [(first + position, column, end) for column, end in spans]
    return Snippet(first + start, "\n".join(shown), tuple(matches))


_Found = dict[int, list[tuple[int, int, int]]]
"""Row -> (first column, end column, bits of the query terms found there)."""


def _find(rows: Sequence[str], stems: Collection[str]) -> _Found:
    """Where words share a term with the query.

    Each distinct word is looked up once and only those that matter are located, by plain substring search: a
    regular expression would make an object for every word of the place.
    """
    if max(map(len, rows)) > SCANNED_LINE_CHARS:
        rows = [row[:SCANNED_LINE_CHARS] for row in rows]
    text = "\n".join(("", *rows, ""))
    found: _Found = {}
    relevant = _relevant(text, stems)
    if not relevant:
        return found
    starts = list(accumulate((len(row) + 1 for row in rows), initial=1))
    for word, bits in relevant.items():
        for at in _occurrences(text, word):
            row = bisect_right(starts, at) - 1
            column = at - starts[row]
            found.setdefault(row, []).append((column, column + len(word), bits))
    return found


def _relevant(text: str, stems: Collection[str]) -> dict[str, int]:
    """The distinct words of ``text`` that share a term with the query, each with those terms as bits."""
    ascii_only = text.isascii()
    distinct = set(tokenizer.words(text) if ascii_only else _WORD_AND_MARKS.findall(text))
    wanted = set(stems)
    bit_of: dict[str, int] = {}
    relevant: dict[str, int] = {}
    for word in distinct:
        word_terms = tokenizer.terms_of(word if ascii_only else unicodedata.normalize("NFC", word))
        if not wanted.isdisjoint(word_terms):
            bits = 0
            for term in wanted.intersection(word_terms):
                bits |= 1 << bit_of.setdefault(term, len(bit_of))
            relevant[word] = bits
    return relevant


def _occurrences(text: str, word: str) -> Iterator[int]:
    """Where ``word`` stands as a whole word. ``text`` begins and ends with a line feed."""
    size = len(word)
    at = text.find(word)
    while at >= 0:
        end = at + size
        if not (_in_word(text[at - 1]) or _in_word(text[end])):
            yield at
        at = text.find(word, end)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or "\u0300" <= char <= "\u036f"


def _window(
    rows: Sequence[str],
    found: _Found,
    limit: int,
    max_lines: int,
    max_chars: int,
    anchor: int | None,
    begins_the_place: bool,
) -> tuple[int, int]:
    """The first row of the best window, and the row after its last. It always has a row."""
    count = len(rows)
    sizes = list(accumulate((min(len(row), limit) + 1 for row in rows), initial=0))

    def stop_of(start: int) -> int:
        return min(start + max_lines, bisect_right(sizes, sizes[start] + max_chars + 1) - 1, count)

    bits = [0] * count
    for row, spans in found.items():
        for _, _, some in spans:
            bits[row] |= some
    stop = stop_of(0)
    holds_anchor = anchor is None or anchor < stop
    if begins_the_place and holds_anchor and (stop == count or reduce(or_, bits[:stop]) == reduce(or_, bits)):
        return 0, stop
    if anchor is None:
        starts: Iterable[int] = sorted({0, *found, *(max(0, row - LEAD_LINES) for row in found)})
    else:
        starts = (start for start in range(anchor + 1) if stop_of(start) > anchor)
    best, best_value = 0, (-1, False, -1, 0)
    for start in starts:
        held = bits[start : stop_of(start)]
        distinct = reduce(or_, held).bit_count()
        if distinct < best_value[0]:
            continue
        matching = 0 if anchor is not None else len(held) - held.count(0)
        value = (distinct, begins_the_place and start == 0, matching, start if anchor is not None else -start)
        if value > best_value:
            best, best_value = start, value
    stop = stop_of(best)
    while anchor is None and stop == count and best > 0 and stop_of(best - 1) == count:
        best -= 1  # the place ends here: what would stay empty below is better filled above
    return best, stop


def _without_blank_ends(rows: list[str]) -> tuple[int, list[str]]:
    """How many blank rows lead, and the rows without those and the trailing ones."""
    lead, stop = 0, len(rows)
    while lead < stop and not rows[lead].strip():
        lead += 1
    while stop > lead and not rows[stop - 1].strip():
        stop -= 1
    return lead, rows[lead:stop]


def _cut(row: str, spans: list[tuple[int, int]], limit: int) -> tuple[str, list[tuple[int, int]]]:
    """At most ``limit`` characters of a longer row, around its first match, and the matches that are still whole.

    A match too long to show whole keeps what is shown of it.
    """
    mark = len(ELLIPSIS)
    column, end = spans[0] if spans else (0, 0)
    left = 0
    if end > limit - mark:
        left = min(column, max(0, column - min(LEAD_CHARS, limit // 4), end - (limit - 2 * mark)))
    if not left:
        right, before, after = limit - mark, "", ELLIPSIS
    elif len(row) - left <= limit - mark:
        left, right, before, after = len(row) - limit + mark, len(row), ELLIPSIS, ""
    else:
        right, before, after = left + limit - 2 * mark, ELLIPSIS, ELLIPSIS
    kept = []
    for column, end in spans:
        whole = left <= column and end <= right
        if whole or (left <= column < right and end - column > limit - 2 * mark):
            kept.append((column - left + len(before), min(end, right) - left + len(before)))
    return f"{before}{row[left:right]}{after}", kept
