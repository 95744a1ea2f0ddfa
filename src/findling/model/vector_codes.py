"""Encodes and decodes stored unit vectors: four bits a dimension for the bundled model, float16 for others. Pure array
arithmetic; no other module knows the formats.

With four bits each dimension is rounded to one of sixteen levels. These are the best ones for normally distributed
numbers (J. Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory 6, 1960, table I), and a
unit vector's dimensions nearly are that, with a deviation of ``1 / sqrt(d)``. The levels keep 99 % of a vector's square
length; at 256 dimensions a cosine with a float vector changes by about 0.006. Rankings are as good as with int8, at
half the bytes.

Decoded rows are int8 numbers; all rows of one call have the same scale, so that rows can be added. For float16 rows
the scale makes the largest number 127, which changes a cosine by about 0.002 at a few hundred dimensions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from findling.model.reading import FLOAT16, FOUR_BITS, Coding, row_bytes

_LEVELS = (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326)
"""The positive levels, in standard deviations; the negative ones mirror them, so that signs survive."""

_PEAK = 127
"""The outermost level as int8."""

_HALF = [round(level * (_PEAK / _LEVELS[-1])) for level in _LEVELS]
_DECODED = np.array([*(-level for level in reversed(_HALF)), *_HALF], np.int8)
_BETWEEN = [(above + below) / 2 for above, below in zip(_LEVELS[1:], _LEVELS, strict=False)]
_BOUNDS = np.array([*(-bound for bound in reversed(_BETWEEN)), 0.0, *_BETWEEN], np.float32)

_DIGITS_A_BYTE = 8
"""Dimensions whose signs fill a byte."""


_BYTE_LEVELS = np.stack((_DECODED[np.arange(256) >> 4], _DECODED[np.arange(256) & 15]), axis=1)
"""A byte's two levels, the first dimension in the upper half: (256, 2)."""


def encode(unit_rows: NDArray[np.float32], coding: Coding = FOUR_BITS) -> NDArray[np.uint8]:
    """float32 (n, d) of length 1, or zeros where there is no vector, to uint8 (n, `row_bytes`).

    With four bits ``d`` is even.
    """
    if coding == FLOAT16:
        halves = np.ascontiguousarray(unit_rows, "<f2")
        return halves.view(np.uint8).reshape(len(halves), row_bytes(unit_rows.shape[1], coding))
    spread = unit_rows * np.float32(np.sqrt(unit_rows.shape[1]))
    # A number that is exactly zero counts as positive: sign bits say the same of the decoded row.
    codes = np.searchsorted(_BOUNDS, spread, side="right").astype(np.uint8)
    packed: NDArray[np.uint8] = codes[:, 0::2] * np.uint8(16) + codes[:, 1::2]
    packed[~unit_rows.any(axis=1)] = 0  # all dimensions at the lowest level: no unit vector is that
    return packed


def decode(data: bytes, dimensions: int, coding: Coding = FOUR_BITS) -> NDArray[np.int8]:
    """What `encode` made, any number of rows one after the other, to int8 (n, d). Raises `ValueError`."""
    if coding == FLOAT16:
        rows = _halves(data, dimensions)
        peak = float(np.abs(rows).max(initial=0.0))
        whole: NDArray[np.float32] = np.rint(rows * np.float32(_PEAK / peak if peak else 0.0))
        return whole.astype(np.int8)
    packed = np.frombuffer(data, np.uint8).reshape(-1, dimensions // 2)
    levels = _BYTE_LEVELS.take(packed.ravel(), axis=0).reshape(-1, dimensions)
    unknown = ~packed.any(axis=1)
    if unknown.any():
        levels[unknown] = 0
    return levels


def decode_floats(data: bytes, dimensions: int, coding: Coding = FOUR_BITS) -> NDArray[np.float32]:
    """The same as float32 (n, d), of length about 1."""
    if coding == FLOAT16:
        return _halves(data, dimensions)
    return decode(data, dimensions, coding) * np.float32(_LEVELS[-1] / _PEAK / math.sqrt(dimensions))


def sign_bits(data: bytes, dimensions: int, coding: Coding = FOUR_BITS) -> NDArray[np.uint8]:
    """The same as bits, set where a number is not negative: uint8 (n, d / 8 rounded up). Raises `ValueError`."""
    if coding == FOUR_BITS and dimensions % _DIGITS_A_BYTE == 0:
        return _upper_bits(np.frombuffer(data, np.uint8).reshape(-1, dimensions // 2))
    rows = _halves(data, dimensions) if coding == FLOAT16 else decode(data, dimensions, coding)
    return np.packbits(rows >= 0, axis=1)


def _upper_bits(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The upper bit of every four, which says that a number is not negative; all of them where there is no vector."""
    pairs = (packed & np.uint8(0x80)) | ((packed & np.uint8(0x08)) << np.uint8(3))
    bits: NDArray[np.uint8] = pairs[:, 0::4].copy()
    for place in (1, 2, 3):
        bits |= pairs[:, place::4] >> np.uint8(2 * place)
    suspects = np.flatnonzero(~bits.any(axis=1))
    bits[suspects[~packed[suspects].any(axis=1)]] = 0xFF
    return bits


def _halves(data: bytes, dimensions: int) -> NDArray[np.float32]:
    rows = np.frombuffer(data, "<f2").reshape(-1, dimensions).astype(np.float32)
    if not np.isfinite(rows).all():
        raise ValueError("a stored vector has numbers that are not finite")
    return rows
