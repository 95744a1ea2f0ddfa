"""Bytes in fewer bytes: raw deflate, for rows that only findling itself reads. Pure.

What comes back is bounded, for a store may have been planted.
"""

from __future__ import annotations

import zlib

_LEVEL = 6
"""Higher ones gain nothing on rows of a few hundred bytes."""

_RAW = -15
"""Without zlib's header and checksum: six bytes of some three hundred; damage is noticed by what reads the rows."""

_FEW_BYTES = 2048
_WINDOW_OF_FEW, _MEMORY_OF_FEW = -12, 6
"""Of rows up to so long the bytes are as few with a sixteenth of the memory, which is asked from the system and cleared
anew for each."""

MOST_BYTES = 64 << 20
"""No row comes near this."""


def deflate(data: bytes) -> bytes:
    few = len(data) <= _FEW_BYTES
    window, memory = (_WINDOW_OF_FEW, _MEMORY_OF_FEW) if few else (_RAW, zlib.DEF_MEM_LEVEL)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory)
    return packer.compress(data) + packer.flush()


def inflate(data: bytes) -> tuple[bytes, bytes]:
    """What `deflate` was given, and what follows its answer in ``data``. Raises `ValueError`."""
    unpacker = zlib.decompressobj(_RAW)
    try:
        found = unpacker.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ValueError("a packed row is damaged") from error
    if not unpacker.eof:
        raise ValueError("a packed row is cut short or too long")
    return found, unpacker.unused_data
