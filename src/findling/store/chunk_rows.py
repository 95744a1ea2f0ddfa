"""Where one content's chunks lie, in two columns: lines, which the views read, and all else, which they do not. Pure.

``lines``: for each chunk in order its first and last line, both big-endian numbers of two bytes each, of four in files
with more lines than those can tell. ``places``, deflated: for each chunk the bytes between it and the one before, how
many it has, how far its symbol is from the one before, and its kind. Together six bytes a chunk.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate

from findling.store.deflated import deflate, inflate

_NARROW, _WIDE = "H", "I"
_NARROW_MOST = 0xFFFF
_COLUMNS = 3
_BYTES = 4 * _COLUMNS + 1
"""Of a chunk in ``places``, before they are deflated."""

Place = tuple[int, int, int, int, int, int]
"""start line, end line, start byte, end byte, number of the kind, symbol (-1: none)."""


def pack(chunks: Sequence[Place]) -> tuple[bytes, bytes]:
    """``lines`` and ``places`` of chunks in order."""
    lines = [line for chunk in chunks for line in chunk[:2]]
    wide = max(lines, default=0) > _NARROW_MOST
    column = array(_WIDE if wide else _NARROW, lines)
    if sys.byteorder == "little":
        column.byteswap()
    numbers = array("i")
    ends = [0, *(chunk[3] for chunk in chunks)]
    numbers.extend([chunk[2] - end for chunk, end in zip(chunks, ends, strict=False)])
    numbers.extend([chunk[3] - chunk[2] for chunk in chunks])
    symbols = [-1, *(chunk[5] for chunk in chunks)]
    numbers.extend([symbol - before for symbol, before in zip(symbols[1:], symbols, strict=False)])
    return column.tobytes(), deflate(_planes(numbers) + bytes([chunk[4] for chunk in chunks]))


def unpack(lines: bytes, places: bytes) -> list[Place]:
    """What `pack` was given. Raises `ValueError` for what it never writes."""
    data, _ = inflate(places)
    count, odd = divmod(len(data), _BYTES)
    if not count and not lines:
        return []
    width, rest = divmod(len(lines), 2 * count) if count else (0, 1)
    if odd or rest or width not in (2, 4):
        raise ValueError("a row of chunks is cut short")
    column = array(_NARROW if width == 2 else _WIDE, lines)
    if sys.byteorder == "little":
        column.byteswap()
    numbers = _numbers(data[: 4 * _COLUMNS * count])
    gaps, sizes = numbers[:count], numbers[count : 2 * count]
    symbols = accumulate(numbers[2 * count :], initial=-1)
    next(symbols)
    found: list[Place] = []
    end = 0
    for first, last, gap, size, kind, symbol in zip(
        column[::2], column[1::2], gaps, sizes, data[4 * _COLUMNS * count :], symbols, strict=True
    ):
        start = end + gap
        end = start + size
        found.append((first, last, start, end, kind, symbol))
    return found


def _planes(numbers: array[int]) -> bytes:
    """All lowest bytes, then all those above them and so on, which deflates better."""
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    return b"".join(data[place::4] for place in range(4))


def _numbers(planes: bytes) -> array[int]:
    count = len(planes) // 4
    data = bytearray(len(planes))
    for place in range(4):
        data[place::4] = planes[place * count : (place + 1) * count]
    numbers = array("i", bytes(data))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
