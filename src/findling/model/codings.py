"""The encodings of stored vectors and their sizes, without numpy; `vector_codes` encodes and decodes."""

from __future__ import annotations

from typing import Literal

Coding = Literal["four_bits", "float16"]

FOUR_BITS: Coding = "four_bits"
FLOAT16: Coding = "float16"

HASH_BYTES = 8
"""Bytes that are kept of the SHA-256 of each embedded text: enough to tell two texts at one path apart."""


def row_bytes(dimensions: int, coding: Coding = FOUR_BITS) -> int:
    """Bytes of one vector."""
    return 2 * dimensions if coding == FLOAT16 else dimensions // 2
