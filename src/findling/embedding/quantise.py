"""Unit vectors in the compact forms that the index keeps: int8 numbers and sign bits.

Pure array arithmetic; knows nothing of models, texts or files.

Bounds. For a row of length 1 with ``d`` dimensions, every number is off by at most ``0.5 / SCALE`` after
``dequantise(quantise(row))``, so the row is off by at most ``sqrt(d) * 0.5 / SCALE`` in length (0.063 at 256
dimensions), and its dot product with another unit vector by no more than that. Because that is below 1 for every
``d`` under 64,000, a row of zeros stays zeros and a row of length 1 never becomes zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The largest int8 of both signs: a number of a unit vector is never beyond 1, so nothing is ever clipped.
SCALE = 127


def quantise(unit_rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """float32 (n, d) in [-1, 1] to int8 (n, d); rounds half to even, the same on every platform."""
    whole: NDArray[np.float32] = np.clip(np.rint(unit_rows * np.float32(SCALE)), -SCALE, SCALE)
    return whole.astype(np.int8)


def dequantise(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """int8 (n, d) back to float32 (n, d), within the bound above; not normalised again."""
    return rows.astype(np.float32) / np.float32(SCALE)


def sign_bits(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """(n, d) numbers to uint8 (n, ceil(d / 8)): bit 1 where a number is above zero, first dimension in the highest bit.

    The same before and after quantising except where a number rounds to zero, so an index should take both from
    the int8 form. A row of zeros gives zero bits, which other rows may share: mask such rows out when searching.
    """
    return np.packbits(rows > 0, axis=-1)


def known_rows(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n, d) to bool (n,): False where the embedder knew nothing of the text, so that there is no vector."""
    return np.asarray(rows.any(axis=1))
