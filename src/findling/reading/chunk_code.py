"""Cuts source code into chunks: along symbols, else into blocks, else into windows of lines.

Knows symbols and lines, not languages: comments are recognised by the marks that languages share. Every non-blank
character of the text lies in a chunk, and chunks overlap only when their kind is ``fixed``.

- A symbol of at most ``max_chars`` is one piece, with the comment directly above it; a longer one is cut at its
  nested symbols, then at blank lines and indentation. The part with the definition line is ``function`` or
  ``class``, the others are ``block``.
- A class (anything that holds other definitions) stays whole up to ``merge_chars``; else its head, up to the line
  before its first member function, is one ``class`` piece, and what lies between members is cut by itself.
- Neighbouring pieces within one enclosing symbol are joined up to ``merge_chars``. A joined chunk takes the kind of
  its longest part and, as ``symbol``, the nearest symbol that encloses all its parts.
- What lies around symbols, or remains of a long one, and is shorter than ``tiny_chars`` does not stand alone: closing
  brackets and the end of a symbol join the chunk before, anything else the chunk after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from findling.reading.limits import DEFAULT, CodeLimits
from findling.reading.parsed import Chunk, Symbol
from findling.reading.spans import MAX_INDENT, Lines, common_prefix, cut, grow, locate, only_closers

_FUNCTIONS = frozenset(("fn", "method"))
_HOLDERS = frozenset(("class", "struct", "enum", "trait", "interface", "module"))

_MAX_DEPTH = 40
"""Symbols nested deeper are cut as blocks, which bounds recursion on hostile input."""

_MAX_COMMENT_LINES = 300
"""The most lines that a comment above a symbol is followed upwards."""

_COMMENT = re.compile(
    r"\s*(?://|--(?=[\s\-|^\[]|$)|;|%|#(?=[\s#!'*:\[]|$)|\"(?=\s)|!(?=[\s!<>])|'(?=\s)"
    r"|/\*|\(\*|\{-|<!--|@\w[\w.]*(?:\(.*\))?\s*$|@(?:doc|spec|impl|since|deprecated|typedoc)\b)"
)
_COMMENT_ENDS = (
    (re.compile(r".*\*/\s*$"), re.compile(r"\s*/\*")),
    (re.compile(r".*\*\)\s*$"), re.compile(r"\s*\(\*")),
    (re.compile(r".*-\}\s*$"), re.compile(r"\s*\{-")),
    (re.compile(r".*-->\s*$"), re.compile(r"\s*<!--")),
    (re.compile(r"=(?:end|cut)\b"), re.compile(r"=(?:begin|pod|head\d|over|item)\b")),
    (re.compile(r".*\]=*\]\s*$"), re.compile(r"\s*--\[=*\[")),
    (re.compile(r".*#>\s*$"), re.compile(r"\s*<#")),
    (re.compile(r".*=#\s*$"), re.compile(r"\s*#=")),
)
_QUOTED_DOC = re.compile(r'.*"""\s*$')
_QUOTED_DOC_START = re.compile(r'\s*(?:@\w+\s+(?:~[sS])?)?"""')


class _Node(Struct):
    """A symbol as lines (0-based, inclusive), with what lies inside it. ``start`` includes the comment above,
    ``begin`` does not."""

    start: int
    end: int
    begin: int
    symbol: int
    kind: str
    members: list[_Node] = []
    values: list[_Node] = []
    """Constants, variables and type aliases. A long piece is cut along them where it has no other members."""

    @property
    def chunk_kind(self) -> str:
        return "function" if self.kind in _FUNCTIONS else "class" if self.kind in _HOLDERS else "block"


def chunk_code(
    text: str, symbols: Sequence[Symbol] = (), *, limits: CodeLimits = DEFAULT, regions: Sequence[tuple[int, int]] = ()
) -> list[Chunk]:
    """Chunks of ``text`` in order, at most ``MAX_CHUNKS`` (then they grow: see ``spans.too_many``).

    ``symbols`` are the file's, positions and ranges as ``Symbol`` defines them; ranges that do not fit the text are
    cut to it. ``regions`` are further ranges of lines (1-based, inclusive, disjoint, in order) that no chunk
    crosses: the parts of a single-file component.
    """
    lines = Lines(text)
    root = _tree(lines, symbols, regions)
    ancestry = _Ancestry(symbols)
    cutter = _Cutter(lines, limits, ancestry)
    pieces = _join_tiny(text, cutter.scope(root, 0, len(lines.rows) - 1, 0), limits, ancestry)
    return grow(_finish(text, pieces, symbols, ancestry))


class _Ancestry:
    """The symbols that enclose a symbol, from the outside in, and their names."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._chains: dict[int, tuple[int, ...]] = {-1: ()}
        self._names: dict[int, tuple[str, ...]] = {-1: ()}

    def chain(self, symbol: int) -> tuple[int, ...]:
        known = self._chains.get(symbol)
        if known is None:
            found: list[int] = []
            at = symbol
            while 0 <= at < len(self._symbols) and at not in found and len(found) < _MAX_DEPTH:
                found.append(at)
                at = self._symbols[at].parent
            known = self._chains[symbol] = tuple(reversed(found))
        return known

    def join(self, into: Piece, piece: Piece) -> None:
        """Give ``into`` the nearest symbol that encloses both pieces, and the names that both share."""
        mine = self.names(into.symbol) if into.names is None else into.names
        theirs = self.names(piece.symbol) if piece.names is None else piece.names
        into.names = common_prefix(mine, theirs)
        shared = common_prefix(self.chain(into.symbol), self.chain(piece.symbol))
        into.symbol = shared[-1] if shared else -1

    def names(self, symbol: int) -> tuple[str, ...]:
        """Names from the outside in. A parent outside this file is taken from the qualified name."""
        known = self._names.get(symbol)
        if known is None:
            chain = self.chain(symbol)
            top = self._symbols[chain[0]]
            outer = top.qualified_name.removesuffix(top.name).rstrip(".")
            known = tuple(outer.split(".")) if outer else ()
            known = self._names[symbol] = (*known, *(self._symbols[i].name for i in chain))
        return known


def _tree(lines: Lines, symbols: Sequence[Symbol], regions: Sequence[tuple[int, int]]) -> _Node:
    """The symbols nested by their lines. Of two that cross, the later one begins after the earlier one's end."""
    last = len(lines.rows) - 1
    root = _Node(0, last, 0, -1, "file")
    spans = [(a - 1, b - 1, -1, "region") for a, b in regions]
    spans += [(s.start_line - 1, s.end_line - 1, i, s.kind) for i, s in enumerate(symbols)]
    spans.sort(key=lambda span: (span[0], -span[1], span[2]))
    stack = [root]
    for start, end, symbol, kind in spans:
        end = min(end, last)
        while len(stack) > 1 and stack[-1].end < start:
            stack.pop()
        while len(stack) > 1 and stack[-1].end < end:
            start = max(start, stack[-1].end + 1)
            stack.pop()
        holder = stack[-1]
        if start < max(holder.start, 0) or start > end:
            continue
        valued = kind not in _FUNCTIONS and kind not in _HOLDERS and kind != "region"
        siblings = holder.values if valued else holder.members
        if siblings and siblings[-1].end >= start:
            continue  # it begins on the last line of the one before, and lines cannot tell them apart
        floor = max(siblings[-1].end + 1 if siblings else 0, holder.begin + (holder.symbol >= 0))
        begin = start
        if kind != "region":
            start = _with_comment(lines, start, floor, symbols[symbol].doc)
        node = _Node(start, end, begin, symbol, kind)
        siblings.append(node)
        if not valued and len(stack) <= _MAX_DEPTH:
            stack.append(node)
    return root


def _with_comment(lines: Lines, start: int, floor: int, doc: str) -> int:
    """The first line of the comment directly above line ``start``, else ``start``; never above ``floor``."""
    rows, indent = lines.rows, lines.indent
    floor = max(floor, start - _MAX_COMMENT_LINES)
    while start > floor and indent[start - 1] >= 0:
        row = rows[start - 1]
        if _COMMENT.match(row):
            start -= 1
            continue
        above = _block_comment(rows, start - 1, floor)
        if above is None and doc and _QUOTED_DOC.match(row):
            above = _quoted_doc(rows, start - 1, floor, doc)
        if above is None:
            break
        start = above
    return start


def _block_comment(rows: list[str], line: int, floor: int) -> int | None:
    for ends, begins in _COMMENT_ENDS:
        if ends.match(rows[line]):
            for at in range(line, floor - 1, -1):
                if begins.match(rows[at]):
                    return at
                if at < line and ends.match(rows[at]):
                    return None
    return None


def _quoted_doc(rows: list[str], line: int, floor: int, doc: str) -> int | None:
    """The first line of a quoted doc comment that stands above its symbol, as in some languages. None where the quote
    belongs to what is above."""
    opening = doc.strip().split("\n", 1)[0].strip()
    for at in range(line, floor - 1, -1):
        if _QUOTED_DOC_START.match(rows[at]) and (at < line or rows[at].count('"""') > 1):
            return at if any(opening in row for row in rows[at : line + 1]) else None
    return None


class _Cutter:
    def __init__(self, lines: Lines, limits: CodeLimits, ancestry: _Ancestry) -> None:
        self.lines = lines
        self.limits = limits
        self.ancestry = ancestry

    def scope(self, node: _Node, first: int, last: int, depth: int) -> list[Piece]:
        """Pieces of a node's inside: its head, its members, and what lies between and after them."""
        pieces: list[Piece] = []
        at = first
        for i, member in enumerate([*node.members, None]):
            until = member.start - 1 if member is not None else last
            if i > 0:
                at = self.after(pieces, at, until)
            pieces += self.plain(node, at, until) if i > 0 else self.head(node, at, until)
            if member is not None:
                pieces += self.member(member, depth + 1)
                at = member.end + 1
        return pack(pieces, self.limits, self.ancestry.join)

    def member(self, node: _Node, depth: int) -> list[Piece]:
        lines, limits = self.lines, self.limits
        first, last = lines.trim(node.start, node.end)
        if first > last:
            return []
        if node.kind == "region":
            return _solid(self.scope(node, first, last, depth), loose=False)
        holds = bool(node.members) and node.kind not in _FUNCTIONS
        if lines.size(first, last) <= (limits.merge_chars if holds else limits.max_chars):
            return [Piece(lines.starts[first], lines.end(last), node.chunk_kind, node.symbol, loose=False)]
        if node.members and depth < _MAX_DEPTH:
            return _solid(self.scope(node, first, last, depth))
        return _solid(self.head(node, first, last))

    def head(self, node: _Node, first: int, last: int) -> list[Piece]:
        """Pieces of a symbol up to its first member. The comment above stays with the definition where both fit."""
        if node.symbol < 0:
            return self.plain(node, first, last)
        lines, limits = self.lines, self.limits
        first, last = lines.trim(first, last)
        if first > last:
            return []
        start, end = lines.starts[first], lines.end(last)
        if node.members and node.kind not in _FUNCTIONS and end - start <= limits.max_chars:
            return [Piece(start, end, node.chunk_kind, node.symbol, solid=end - start > limits.tiny_chars)]
        pieces = self.plain(node, node.begin, last)
        if pieces and pieces[0].kind == "block":
            pieces[0].kind = node.chunk_kind
        if first < node.begin:
            if pieces and pieces[0].kind != "fixed" and pieces[0].end - start <= limits.max_chars:
                pieces[0].start = start
            else:
                pieces = self.plain(node, first, node.begin - 1) + pieces
        return pieces

    def plain(self, node: _Node, first: int, last: int) -> list[Piece]:
        """Pieces of lines that belong to ``node`` itself, along its constants and variables if it is long."""
        lines, limits = self.lines, self.limits
        first, last = lines.trim(first, last)
        if first > last:
            return []
        values = [] if node.kind in _FUNCTIONS else [v for v in node.values if first <= v.start and v.end <= last]
        if lines.size(first, last) <= limits.merge_chars and len(values) != 1:
            values = []
        pieces: list[Piece] = []
        at = first
        for value in values:
            pieces += self._owned(split_lines(lines, at, value.start - 1, limits), node.symbol)
            a, b = lines.trim(value.start, value.end)
            if a <= b and lines.size(a, b) <= limits.max_chars:
                pieces.append(Piece(lines.starts[a], lines.end(b), "block", value.symbol))
            else:
                pieces += self._owned(split_lines(lines, a, b, limits), value.symbol)
            at = value.end + 1
        pieces += self._owned(split_lines(lines, at, last, limits), node.symbol)
        return pack(pieces, limits, self.ancestry.join) if values else pieces

    def after(self, pieces: list[Piece], at: int, last: int) -> int:
        """Add closing brackets that follow to the piece before them; returns the line after them."""
        lines = self.lines
        following = at
        while pieces and following <= last:
            if lines.indent[following] >= 0:
                if not only_closers(lines.rows[following]):
                    break
                pieces[-1].end = lines.end(following)
                at = following + 1
            following += 1
        return at

    @staticmethod
    def _owned(pieces: list[Piece], symbol: int) -> list[Piece]:
        for piece in pieces:
            piece.symbol = symbol
        return pieces


def _solid(pieces: list[Piece], *, loose: bool = True) -> list[Piece]:
    """The pieces of one long symbol, marked so that nothing beside the symbol is joined to them."""
    for piece in pieces:
        piece.solid = True
        piece.loose = piece.loose and loose
    return pieces


def _join_tiny(text: str, pieces: list[Piece], limits: CodeLimits, ancestry: _Ancestry) -> list[Piece]:
    """The pieces with tiny rests joined: closing brackets and ends of symbols backwards, other rests forwards."""
    kept: list[Piece] = []
    most = limits.max_chars + limits.tiny_chars
    carried: Piece | None = None
    for position, piece in enumerate(pieces):
        following = pieces[position + 1] if position + 1 < len(pieces) else None
        if carried is not None:
            piece.start = carried.start
            if piece.symbol == carried.symbol and piece.kind != "fixed":
                piece.kind = carried.kind
        tiny = piece.loose and piece.kind != "fixed" and piece.end - piece.start <= limits.tiny_chars
        if tiny:
            back = bool(kept) and carried is None and piece.end - kept[-1].start <= most
            ahead = following is not None and following.end - piece.start <= most
            within = following is not None and (piece.symbol < 0 or piece.symbol in ancestry.chain(following.symbol))
            if back and (not ahead or not within or only_closers(text[piece.start : piece.end])):
                kept[-1].end = piece.end
                carried = None
                continue
            if ahead:
                carried = piece
                continue
        carried = None
        kept.append(piece)
    return kept


def _finish(text: str, pieces: list[Piece], symbols: Sequence[Symbol], ancestry: _Ancestry) -> list[Chunk]:
    places = locate(text, [at for piece in pieces for at in (piece.start, piece.end)])
    inner = _InnerSymbols(symbols) if any(piece.kind == "fixed" for piece in pieces) else None
    chunks: list[Chunk] = []
    for piece in pieces:
        start_byte, start_line = places[piece.start]
        end_byte, end_line = places[piece.end]
        symbol, names = piece.symbol, piece.names
        if inner is not None and start_line == end_line and symbols and piece.kind == "fixed":
            symbol, names = inner.holding(start_byte, end_byte), None
        names = ancestry.names(symbol) if names is None else names
        chunks.append(Chunk(start_line, end_line, start_byte, end_byte, piece.kind, symbol, names))
    return chunks


class _InnerSymbols:
    """The innermost symbol around parts of a line, by bytes; asked in ascending order."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._order = sorted(range(len(symbols)), key=lambda i: (symbols[i].start_byte, -symbols[i].end_byte))
        self._at = 0
        self._open: list[int] = []

    def holding(self, start: int, end: int) -> int:
        symbols, order = self._symbols, self._order
        while self._at < len(order) and symbols[order[self._at]].start_byte <= start:
            self._open.append(order[self._at])
            self._at += 1
        self._open = [i for i in self._open if symbols[i].end_byte > start]
        return next((i for i in reversed(self._open) if symbols[i].end_byte >= end), -1)


# --- blocks -------------------------------------------------------------------------------------------------------
# Cuts text without a syntax tree: by blank lines and indentation, else into windows of lines, else anywhere.
#
# Knows nothing of symbols. ``chunk_code`` uses it for the text between symbols and inside long ones.


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
