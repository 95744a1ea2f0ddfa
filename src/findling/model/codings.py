"""How vectors are kept, as far as it can be told without numpy; `vector_codes` makes and reads them."""

from __future__ import annotations

from typing import Literal

Coding = Literal["four_bits", "float16"]

FOUR_BITS: Coding = "four_bits"
FLOAT16: Coding = "float16"

HASH_BYTES = 8
"""Of the SHA-256 of each embedded text; enough that two texts at one path never share it."""


def row_bytes(dimensions: int, coding: Coding = FOUR_BITS) -> int:
    """Bytes of one vector."""
    return 2 * dimensions if coding == FLOAT16 else dimensions // 2
