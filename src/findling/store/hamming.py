"""Which rows of sign bits differ least from a query's: pure functions over arrays, which may be memory-mapped.

Bits are compared with numpy alone, which measured faster than simsimd. Answers do not depend on the platform: equals
are ordered by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows whose bits are compared at a time: 256 kB of each column, which stays in a core's own cache.
_BLOCK_BITS = 32_768

# One in so many distances is looked at to tell how small the smallest are.
_SAMPLE_STEP = 16


def word_of(width: int) -> np.dtype[Any]:
    """The integers that rows of so many bytes are compared in: the widest that divide them."""
    return np.dtype(np.uint64 if width % 8 == 0 else np.uint8)


def in_columns(bits: NDArray[np.uint8]) -> NDArray[Any]:
    """The same bits (n, width) as words, column after column, which are compared in a third of the time: (n, words)."""
    return np.asfortranarray(_words(bits))


def hamming(bits: NDArray[Any], query_bits: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Bits that differ between each row of ``bits`` and ``query_bits`` (width,): (n,). Width is <= 8,000.

    ``bits`` are (n, width) bytes, or what `in_columns` makes of them.
    """
    rows = bits if bits.dtype != np.uint8 or bits.flags.f_contiguous else _words(bits)
    query = np.ascontiguousarray(query_bits).view(rows.dtype)
    distances = np.empty(len(rows), np.uint16)
    size = min(len(rows), _BLOCK_BITS)
    differing, counted = np.empty(size, rows.dtype), np.empty(size, np.uint8)
    for start in range(0, len(rows), _BLOCK_BITS):
        block = rows[start : start + _BLOCK_BITS]
        total = distances[start : start + _BLOCK_BITS]
        total[:] = 0
        some, few = differing[: len(block)], counted[: len(block)]
        for column, word in enumerate(query):
            total += np.bitwise_count(np.bitwise_xor(block[:, column], word, out=some), out=few)
    return distances


def top_by_bits(bits: NDArray[Any], query_bits: NDArray[np.uint8], k: int) -> NDArray[np.int64]:
    """The ``k`` rows that differ least from the query (fewer if there are not as many), by distance, then by row.

    ``bits`` and ``query_bits`` are sign bits as for `hamming`. `cosines_int8` puts what is found in order.
    """
    return _nearest(hamming(bits, query_bits), k)


def _nearest(distances: NDArray[np.uint16], k: int) -> NDArray[np.int64]:
    """The ``k`` rows of smallest distance, by (distance, row). Distances are small numbers, so counting them
    tells how large the last one is."""
    k = min(k, len(distances))
    if k <= 0:
        return np.empty(0, np.int64)
    sample = distances[::_SAMPLE_STEP]
    if k * _SAMPLE_STEP < len(distances):  # few of very many: a sample tells a distance that most are above
        among = min(len(sample) - 1, 2 * k // _SAMPLE_STEP + _SAMPLE_STEP)
        near = np.flatnonzero(distances <= np.partition(sample, among)[among])
        if len(near) >= k:
            return near[np.argsort(distances[near], kind="stable")[:k]]
    last = int(np.searchsorted(np.cumsum(np.bincount(distances)), k))
    return _cut(distances, last, k)


def _cut(values: NDArray[Any], last: Any, k: int) -> NDArray[np.int64]:
    """The ``k`` rows of smallest value by (value, row), given that ``last`` is the largest value among them."""
    below = np.flatnonzero(values < last)
    below = below[np.argsort(values[below], kind="stable")]
    return np.concatenate((below, np.flatnonzero(values == last)[: k - len(below)]))


def _words(bits: NDArray[np.uint8]) -> NDArray[Any]:
    """The same bits in the widest integers that divide the rows."""
    return np.ascontiguousarray(bits).view(word_of(bits.shape[1]))
