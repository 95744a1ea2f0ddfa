"""The parts of a reading as the tables keep them, each packed by itself, so that who asks for one unpacks no other.

Unpacking raises `ValueError` or `TypeError` for what packing never gives.
"""

from __future__ import annotations

import msgspec

from findling.model.reading import ChunkRow, Symbol
from findling.model.types import TreeState

pack = msgspec.msgpack.Encoder().encode
"""A part in bytes: a list of symbols, or of chunks; or a manifest's `TreeState`, after the number of its files."""

NOTHING = pack([])

symbols = msgspec.msgpack.Decoder(list[Symbol]).decode
chunks = msgspec.msgpack.Decoder(list[ChunkRow]).decode
tree = msgspec.msgpack.Decoder(tuple[int, TreeState]).decode
