"""Positions in text: lines, characters and bytes; and cuts where no natural place for one exists.

Knows nothing of symbols, headings or formats. A line ends at ``\\n`` and nowhere else (``\\r\\n`` is one line end, a
lone ``\\r`` or form feed is none), so line numbers agree with grep, git and the syntax trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, count
from operator import add
from typing import TypeVar

from msgspec.structs import replace

from findling.reading.parsed import Chunk

T = TypeVar("T")

MAX_CHUNKS = 500
"""The most chunks of a file. A file with more gets longer chunks instead, so that it cannot flood an index."""

MAX_PLACED_CHUNKS = 4_000
"""The most chunks of a converted document. It is higher because each chunk should lie on one page, which it leads back
to. A store counts up to 4,095."""

MAX_INDENT = 40
"""Deeper indentation counts as this deep, which bounds how often a block is split."""

CUT_WINDOW = 200
"""How far before a forced cut a better place (a separator) is looked for, in characters."""

_CLOSER = re.compile(r"(?:[\])}]|end\b|fi\b|done\b|esac\b|</)", re.IGNORECASE)
_CLOSER_BEGINS = frozenset("])}<eEfFdD")
_ONLY_CLOSERS = re.compile(r"(?:[\s)\]};,]|(?<!\w)(?:end|fi|done|esac)(?!\w)|</[\w:-]+>)*+\Z", re.IGNORECASE)
SEPARATORS = ("\n", "\r", ";", ",", "}", ">", " ", "\t")
WHITE_SPACE = ("\n", " ", "\t", "\r", "\u3000")


class Lines:
    """The lines of a text, 0-based. ``indent[i]`` is the width of the leading white space, -1 for a blank line."""

    __slots__ = ("indent", "rows", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        lengths = list(map(len, self.rows))
        self.starts: list[int] = list(map(add, accumulate(lengths, initial=0), count()))  # counting the line ends
        bodies = map(len, map(str.lstrip, self.rows))
        self.indent = [length - body if body else -1 for length, body in zip(lengths, bodies, strict=True)]

    def end(self, line: int) -> int:
        """Position after the line's last character, its line end left out."""
        at = self.starts[line + 1] - 1
        return at - 1 if self.rows[line].endswith("\r") else at

    def size(self, first: int, last: int) -> int:
        """Characters from the start of ``first`` to the end of ``last``."""
        return self.end(last) - self.starts[first]

    def trim(self, first: int, last: int) -> tuple[int, int]:
        """The range without blank lines at its ends; ``first > last`` when nothing is left."""
        indent = self.indent
        while first <= last and indent[first] < 0:
            first += 1
        while last > first and indent[last] < 0:
            last -= 1
        return first, last

    def closes(self, line: int) -> bool:
        """Whether the line begins by closing something: it never begins a block."""
        row, at = self.rows[line], max(self.indent[line], 0)
        return row[at : at + 1] in _CLOSER_BEGINS and _CLOSER.match(row, at) is not None


def only_closers(text: str) -> bool:
    """Whether ``text`` has nothing but closing brackets and words, so that it makes no chunk by itself."""
    return _ONLY_CLOSERS.match(text) is not None


def cut(
    text: str, start: int, end: int, limit: int, *, first: int = 0, marks: Sequence[str] = SEPARATORS
) -> list[tuple[int, int]]:
    """Cut ``text[start:end]`` into about equal spans of at most ``limit`` characters, blank ones left out.

    The first span has at most ``first`` characters, if given. Cuts lie after one of ``marks`` when one is near, so
    that words stay whole; otherwise anywhere.
    """
    spans: list[tuple[int, int]] = []
    at = start
    while at < end:
        most = first if first and at == start else limit
        left = end - at
        stop = end
        if left > most:
            even = left // (-(-left // most)) + CUT_WINDOW // 4
            stop = at + min(most, even)
            floor = max(at + 1, stop - max(CUT_WINDOW, most // 2))
            best = max(text.rfind(mark, floor, stop) for mark in marks)
            if best >= floor:
                stop = best + 1
        if not text[at:stop].isspace():
            spans.append((at, stop))
        at = stop
    return spans


def locate(text: str, positions: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Map character positions to (byte offset, 1-based line)."""
    places: dict[int, tuple[int, int]] = {}
    ascii_only = text.isascii()
    before, byte, line = 0, 0, 1
    for at in sorted(set(positions)):
        line += text.count("\n", before, at)
        byte = at if ascii_only else byte + len(text[before:at].encode("utf-8", "surrogatepass"))
        places[at] = (byte, line)
        before = at
    return places


def characters(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Map byte offsets of the encoded text to character positions."""
    if text.isascii():
        return {at: at for at in offsets}
    raw = text.encode("utf-8", "surrogatepass")
    positions: dict[int, int] = {}
    before, position = 0, 0
    for at in sorted(set(offsets)):
        position += len(raw[before:at].decode("utf-8", "surrogatepass"))
        positions[at] = position
        before = at
    return positions


def grow(chunks: list[Chunk], limit: int = MAX_CHUNKS) -> list[Chunk]:
    """At most ``limit`` chunks with the same content: neighbours are joined until exactly ``limit`` are left.

    A joined chunk has the headings that its parts share; where they share none, "FIRST to LAST" of its parts.
    """
    if len(chunks) <= limit:
        return chunks
    total = sum(c.end_byte - c.start_byte for c in chunks)
    grown: list[Chunk] = []
    group: list[Chunk] = []
    done = 0
    for position, chunk in enumerate(chunks):
        group.append(chunk)
        done += chunk.end_byte - chunk.start_byte
        left = len(chunks) - position - 1
        needed = limit - len(grown) - 1
        full = done * limit >= total * (len(grown) + 1)
        if left == needed or (full and needed > 0) or left == 0:
            grown.append(_join(group))
            group = []
    return grown


def too_many(chunks: Sequence[object], limit: int = MAX_CHUNKS) -> bool:
    """Whether a file reached the limit, so that its chunks may be longer than the rules say."""
    return len(chunks) >= limit


class Closings:
    """Finds where things end. Remembers what does not occur any more, so that reading stays linear."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._missing: set[str] = set()

    def after(self, pattern: str, at: int) -> int:
        """The end of the next match of ``pattern`` from ``at`` on, -1 for none. ``at`` must not decrease."""
        if pattern in self._missing:
            return -1
        found = re.compile(pattern, re.MULTILINE | re.IGNORECASE).search(self.text, at)
        if found is None:
            self._missing.add(pattern)
            return -1
        return found.end()


def common_prefix(left: tuple[T, ...], right: tuple[T, ...]) -> tuple[T, ...]:
    width = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        width += 1
    return left[:width]


def _join(group: list[Chunk]) -> Chunk:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return first
    kinds = {c.kind for c in group}
    shared = first.breadcrumb
    for chunk in group[1:]:
        shared = common_prefix(shared, chunk.breadcrumb)
    if not shared and first.breadcrumb and last.breadcrumb:
        shared = (f"{first.breadcrumb[0]} to {last.breadcrumb[0]}",)
    same = all(c.symbol == first.symbol for c in group)
    return replace(
        first,
        end_line=last.end_line,
        end_byte=last.end_byte,
        kind=first.kind if len(kinds) == 1 else "fixed" if "fixed" in kinds else "block",
        symbol=first.symbol if same else -1,
        breadcrumb=shared,
    )
