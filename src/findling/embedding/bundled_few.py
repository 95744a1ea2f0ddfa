"""The bundled model's arithmetic for a few texts, without numpy, whose import takes longer than they do. Pure.

Number by number what `bundled` computes: sums are whole numbers, and the few roundings are those of IEEE 754. A row is
made one long number, so that rows are added up, and multiplied by their weight, all dimensions at once.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping

SQUARE_BITS = 27
"""Sums below this have a sum of squares that fits 64 bits at up to 512 dimensions."""

_LANE_BYTES = 8
_SHIFT = 128
_FROM_INT8 = bytes(number ^ _SHIFT for number in range(256))
"""A byte of int8 as what it is above -128: in a long number nothing may be negative."""


def weighted_sum(
    table: memoryview, dimensions: int, pieces: Mapping[int, int], weight_of: Callable[[int], int]
) -> list[int]:
    """The rows of ``table`` (int8, one after the other) that ``pieces`` tell, weighted by how often each occurs."""
    of_weight: defaultdict[int, int] = defaultdict(int)
    total = 0
    for row, count in pieces.items():
        weight = weight_of(count)
        lanes = bytearray(_LANE_BYTES * dimensions)
        lanes[::_LANE_BYTES] = bytes(table[row * dimensions : (row + 1) * dimensions]).translate(_FROM_INT8)
        of_weight[weight] += int.from_bytes(lanes, "little")
        total += weight
    summed = sum(weight * lanes for weight, lanes in of_weight.items())
    numbers = struct.unpack(f"<{dimensions}Q", summed.to_bytes(_LANE_BYTES * dimensions, "little"))
    return [number - _SHIFT * total for number in numbers]


def unit_row(sums: list[int]) -> array[float]:
    """``sums`` as float32 numbers scaled to length 1; zeros as they are."""
    bits = max(map(abs, sums)).bit_length()
    whole = [number >> max(bits - SQUARE_BITS, 0) for number in sums]
    length = math.sqrt(float(sum(number * number for number in whole)))
    return array("f", [number / length for number in whole] if length else whole)
