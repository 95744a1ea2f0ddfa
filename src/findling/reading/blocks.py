"""Cuts text without a syntax tree: by blank lines and indentation, else into windows of lines, else anywhere.

Knows nothing of symbols. ``chunk_code`` uses it for the text between symbols and inside long ones.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from findling.reading.limits import CodeLimits
from findling.reading.spans import MAX_INDENT, Lines, cut


class Piece(Struct):
    """A chunk in the making: character positions. ``solid`` pieces are never joined to their neighbours;
    ``loose`` ones (what lies around symbols) never stand alone when they are tiny."""

    start: int
    end: int
    kind: str = "block"
    symbol: int = -1
    solid: bool = False
    loose: bool = True
    weight: int = 0
    """The length of the part that the kind comes from."""
    names: tuple[str, ...] | None = None
    """The enclosing names that all its parts share; None for a piece of one part, which has those of ``symbol``."""


def pack(pieces: list[Piece], limits: CodeLimits, join: Callable[[Piece, Piece], None] | None = None) -> list[Piece]:
    """The pieces, with neighbours joined as long as they span at most ``merge_chars`` characters.

    A joined piece has the kind of its longest part. ``join`` settles its symbol: it is called with the piece that stays
    and the one that is added. A tiny rest takes the symbol of its neighbour instead.
    """
    packed: list[Piece] = []
    last: Piece | None = None
    for position, piece in enumerate(pieces):
        size = piece.end - piece.start
        piece.weight = piece.weight or size
        reach = piece.end
        if piece.loose and size <= limits.tiny_chars and position + 1 < len(pieces):
            following = pieces[position + 1]
            if not following.loose or following.end - following.start > limits.tiny_chars:
                reach = following.end  # a tiny rest begins the next piece rather than end one that is full
        if last is None or last.solid or piece.solid or reach - last.start > limits.merge_chars:
            packed.append(piece)
            last = piece
            continue
        if join is not None and piece.symbol != last.symbol:
            rest = piece.loose and size <= limits.tiny_chars
            rest_before = last.loose and last.end - last.start <= limits.tiny_chars
            if rest == rest_before:
                join(last, piece)
            elif rest_before:
                last.symbol, last.names = piece.symbol, piece.names
        if piece.weight > last.weight:
            last.kind, last.weight = piece.kind, piece.weight
        last.end = piece.end
        last.loose = last.loose and piece.loose
    return packed


def split_lines(lines: Lines, first: int, last: int, limits: CodeLimits) -> list[Piece]:
    """Pieces that cover the non-blank lines ``first`` to ``last`` (0-based, inclusive)."""
    first, last = lines.trim(first, last)
    if first > last:
        return []
    pieces: list[Piece] = []
    _split(lines, first, last, limits, pieces)
    return pieces


def _split(lines: Lines, first: int, last: int, limits: CodeLimits, out: list[Piece]) -> None:
    size = lines.size(first, last)
    few = last - first < limits.fixed_lines
    if size <= limits.merge_chars and few:
        out.append(Piece(lines.starts[first], lines.end(last)))
        return
    starts = _paragraphs(lines, first, last)
    if not starts:
        flat = _is_flat(lines, first, last)
        if size <= limits.max_chars and (few or not flat):
            out.append(Piece(lines.starts[first], lines.end(last)))
            return
        starts = [] if flat else _statements(lines, first, last)
        if not starts:
            _windows(lines, first, last, limits, out)
            return
    elif size <= limits.merge_chars:
        out.append(Piece(lines.starts[first], lines.end(last)))
        return
    parts: list[Piece] = []
    for begin, after in zip([first, *starts], [*starts, last + 1], strict=True):
        a, b = lines.trim(begin, after - 1)
        if lines.size(a, b) <= limits.max_chars and (b - a < limits.fixed_lines or not _is_flat(lines, a, b)):
            parts.append(Piece(lines.starts[a], lines.end(b)))
        else:
            _split(lines, a, b, limits, parts)
    out += pack(parts, limits)


def _paragraphs(lines: Lines, first: int, last: int) -> list[int]:
    """Lines after the first that follow a blank line and are indented least of those."""
    indent = lines.indent
    at = first
    starts: list[int] = []
    while True:
        try:
            at = indent.index(-1, at + 1, last)
        except ValueError:
            break
        if indent[at + 1] >= 0 and not lines.closes(at + 1):
            starts.append(at + 1)
    return _least_indented(lines, starts)


def _is_flat(lines: Lines, first: int, last: int) -> bool:
    """Whether every line after the first is indented alike, so that indentation does not say where to cut."""
    if last > first + 1 and lines.closes(last):
        last -= 1
    return len({i for i in lines.indent[first + 1 : last + 1] if i >= 0}) <= 1


def _statements(lines: Lines, first: int, last: int) -> list[int]:
    """Lines after the first that are indented least, where something begins."""
    return _least_indented(
        lines, [i for i in range(first + 1, last + 1) if lines.indent[i] >= 0 and not lines.closes(i)]
    )


def _least_indented(lines: Lines, candidates: list[int]) -> list[int]:
    """The candidates with the least indentation; all of them where that is `MAX_INDENT` or more."""
    indent = lines.indent
    least = min(map(indent.__getitem__, candidates), default=0)
    return candidates if least >= MAX_INDENT else [i for i in candidates if indent[i] == least]


def _windows(lines: Lines, first: int, last: int, limits: CodeLimits, out: list[Piece]) -> None:
    """Windows of lines; lines longer than ``max_chars`` are cut on their own, and end the window before them."""
    at = first
    for long in [i for i in range(first, last + 1) if lines.size(i, i) > limits.max_chars]:
        _overlapping(lines, at, long - 1, limits, out)
        spans = cut(lines.text, lines.starts[long], lines.end(long), limits.max_chars)
        out += [Piece(start, end, "fixed", solid=True, loose=False) for start, end in spans]
        at = long + 1
    _overlapping(lines, at, last, limits, out)


def _overlapping(lines: Lines, first: int, last: int, limits: CodeLimits, out: list[Piece]) -> None:
    if first > last:
        return
    if lines.size(first, last) <= limits.max_chars and last - first < limits.fixed_lines:
        out.append(Piece(lines.starts[first], lines.end(last)))
        return
    at = first
    while True:
        stop = min(last, at + limits.fixed_lines - 1)
        while stop > at and lines.size(at, stop) > limits.fixed_chars:
            stop -= 1
        out.append(Piece(lines.starts[at], lines.end(stop), "fixed", solid=True, loose=False))
        if stop == last:
            return
        at = stop + 1 - (stop - at + 1) * limits.fixed_overlap // limits.fixed_lines
