"""How many files have each term, in a row for each 65,536 term keys: a quarter of what a row a term takes. Pure.

A row is: one letter that says how wide the counts are, the lower 16 bits of its terms in order, their counts. Counts
may be negative, for a manifest may be told by how it differs from another; there are none of 0.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping

LOW_BITS = 16
"""Of a term key, those that a row tells apart; `bucket` is the rest."""

BUCKETS = 1 << 24 - LOW_BITS

_LOW_MASK = (1 << LOW_BITS) - 1
_WIDTHS = ("b", "h", "i")
_BEYOND = {width: 1 << 8 * array(width).itemsize - 1 for width in _WIDTHS}
"""What is too much for a count of that width."""

_MANY_SHARE = 0.1
"""From so many changes on, compared with the counts that there are, the row is made anew."""

_SWAP = sys.byteorder == "big"


def bucket(term: int) -> int:
    """The row that has a term's count."""
    return term >> LOW_BITS


def row_id(manifest_id: int, bucket: int) -> int:
    """The number of a manifest's row; `BUCKETS` of them stand one after the other."""
    return manifest_id * BUCKETS + bucket


def changed(row: bytes, changes: Mapping[int, int]) -> bytes:
    """The row after adding to counts, by term key; b'' where no count is left. Raises `ValueError`."""
    lows, counts = _columns(row)
    if len(changes) > len(lows) * _MANY_SHARE:
        lows, counts = _merged(lows, counts, changes)
        changes = {}
    for term, files in sorted(changes.items()):
        low = term & _LOW_MASK
        at = bisect_left(lows, low)
        if at == len(lows) or lows[at] != low:
            lows.insert(at, low)
            counts.insert(at, 0)
        total = counts[at] + files
        if not total:
            del lows[at], counts[at]
            continue
        while not -_BEYOND[counts.typecode] <= total < _BEYOND[counts.typecode]:
            counts = array(_WIDTHS[_WIDTHS.index(counts.typecode) + 1], counts)
        counts[at] = total
    if not lows:
        return b""
    if _SWAP:
        lows.byteswap()
        counts.byteswap()
    return counts.typecode.encode() + lows.tobytes() + counts.tobytes()


def _merged(lows: array[int], counts: array[int], changes: Mapping[int, int]) -> tuple[array[int], array[int]]:
    """The columns after many changes: quicker than looking for the place of each."""
    merged = dict(zip(lows, counts, strict=True))
    for term, files in changes.items():
        low = term & _LOW_MASK
        merged[low] = merged.get(low, 0) + files
    kept = sorted(item for item in merged.items() if item[1])
    totals = [total for _, total in kept]
    least, most = min(totals, default=0), max(totals, default=0)
    width = next(
        width
        for width in _WIDTHS[_WIDTHS.index(counts.typecode) :]
        if -_BEYOND[width] <= least and most < _BEYOND[width]
    )
    return array("H", [low for low, _ in kept]), array(width, totals)


def lookup(row: bytes, terms: Iterable[int]) -> list[int]:
    """The counts of some terms of a row, 0 where there is none. Raises `ValueError`."""
    lows, counts = _columns(row)
    found = []
    for term in terms:
        low = term & _LOW_MASK
        at = bisect_left(lows, low)
        found.append(counts[at] if at < len(lows) and lows[at] == low else 0)
    return found


def counted(bucket: int, row: bytes) -> list[tuple[int, int]]:
    """All (term key, count) of a row. Raises `ValueError`."""
    lows, counts = _columns(row)
    return [(bucket << LOW_BITS | low, count) for low, count in zip(lows, counts, strict=True)]


def _columns(row: bytes) -> tuple[array[int], array[int]]:
    width = row[:1].decode() if row else _WIDTHS[0]
    if width not in _WIDTHS:
        raise ValueError("a row of counts is damaged")
    lows, counts = array("H"), array(width)
    number, rest = divmod(len(row[1:]), lows.itemsize + counts.itemsize)
    if rest:
        raise ValueError("a row of counts is cut short")
    edge = 1 + number * lows.itemsize
    lows.frombytes(row[1:edge])
    counts.frombytes(row[edge:])
    if _SWAP:
        lows.byteswap()
        counts.byteswap()
    return lows, counts
