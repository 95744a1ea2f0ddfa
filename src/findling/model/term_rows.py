"""The terms of one content, packed in four bytes each, so that ranking need not read the file. Pure.

A row is a sorted array of 32-bit words: a 24-bit term key (`tokenizer.term_key`), then 4 bits of how often the term
stands in the file, then 4 bits for flags that say in which fields it stands too. Two terms of one file share a key
about once in 50,000 files, and then only their counts are confused.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

IN_NAMES = 1  # a part of any defined name
IN_TOP_NAMES = 2  # a part of a type's or a top-level function's name

LEVELS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 35, 50, 80)
"""Counts are stored as the highest level they reach; with BM25's saturation the steps do not show in a score."""

_LEVEL_OF = tuple(bisect_right(LEVELS, count) - 1 for count in range(LEVELS[-1] + 1))
_LOOKUP_STEPS = 4
"""So many words are scanned in the time of one bisection."""

_TOP_LEVEL = len(LEVELS) - 1


def pack(counts: Mapping[int, int], flags: Mapping[int, int]) -> bytes:
    """The row of a file: ``counts`` and ``flags`` by term key. A key only in ``flags`` counts 0."""
    level_of, top, most = _LEVEL_OF, _TOP_LEVEL, LEVELS[-1]
    words = [
        key << 8 | (level_of[count] if count <= most else top) << 4 | flags.get(key, 0) for key, count in counts.items()
    ]
    words += [key << 8 | flag for key, flag in flags.items() if key not in counts]
    return array("I", sorted(words)).tobytes()


def unpack(data: bytes) -> Sequence[int]:
    """The words of a row, ready for `lookup`. Raises `TypeError` for what `pack` never writes."""
    return memoryview(data).cast("I")


def lookup(row: Sequence[int], keys: Iterable[int]) -> list[tuple[int, int]]:
    """For each term key its (count, flags) in the row; (0, 0) where it is absent."""
    found = []
    size = len(row)
    for key in keys:
        at = bisect_left(row, key << 8)
        if at < size and (word := row[at]) >> 8 == key:
            found.append((LEVELS[word >> 4 & 15], word & 15))
        else:
            found.append((0, 0))
    return found


def keys(row: Sequence[int]) -> list[int]:
    """All term keys of a row, ascending."""
    return [word >> 8 for word in row]


def among(row: Sequence[int], wanted: Collection[int]) -> set[int]:
    """Those of some term keys that are in the row. ``wanted`` is a set or the like."""
    if len(wanted) * _LOOKUP_STEPS > len(row):
        return {key for word in row if (key := word >> 8) in wanted}
    size = len(row)
    return {key for key in wanted if (at := bisect_left(row, key << 8)) < size and row[at] >> 8 == key}
