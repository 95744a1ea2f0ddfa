"""The parts of a reading as the tables keep them, each packed by itself, so that who asks for one unpacks no other.

Unpacking raises `ValueError` or `TypeError` for what packing never gives.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate

import msgspec

from findling.model.reading import MOST_ARGUMENTS, USE_KINDS, ChunkRow, Symbol, Use
from findling.model.rows import ModelRow
from findling.model.types import TreeState
from findling.store.protocols import VectorRows

pack = msgspec.msgpack.Encoder().encode
"""A part in bytes: a list of symbols, or of chunks; or a manifest's `TreeState`, after the number of its files."""

NOTHING = pack([])

symbols = msgspec.msgpack.Decoder(list[Symbol]).decode
chunks = msgspec.msgpack.Decoder(list[ChunkRow]).decode
_uses = msgspec.msgpack.Decoder(tuple[list[str], bytes]).decode
_numbers = msgspec.msgpack.Decoder(list[int]).decode
tree = msgspec.msgpack.Decoder(tuple[int, TreeState]).decode

_COLUMNS = 6
_MOST_BYTES = 1 << 24
"""Of unpacked uses: far above what `MOST_USES` take."""

_use = partial(tuple.__new__, Use)  # in a quarter of the time of a call of the class
_KIND_OF = {kind: place for place, kind in enumerate(USE_KINDS)}


def pack_uses(found: Sequence[Use]) -> bytes:
    """Uses in bytes: each text once, and for each use six small numbers, lines and symbols as steps from the last.
    The numbers are compressed, as that halves the whole; the texts are not, as a store looks for names in them."""
    texts: dict[str, int] = {"": 0}
    numbers: list[int] = []
    line = symbol = 0
    for use in found:
        numbers += (
            _KIND_OF[use.kind] << 4 | use.arguments,
            texts.setdefault(use.name, len(texts)),
            texts.setdefault(use.receiver, len(texts)),
            use.line - line,
            use.symbol - symbol,
            texts.setdefault(use.value, len(texts)),
        )
        line, symbol = use.line, use.symbol
    return pack((list(texts), zlib.compress(pack(numbers), 1))) if found else NOTHING


def marks_of(name: str) -> tuple[bytes, bytes, bytes]:
    """Bytes of which packed uses have one where they have a name by itself or after a dot, or in a path."""
    return pack(name), f".{name}".encode(), f"/{name}".encode()


def uses(data: bytes) -> list[Use]:
    """What was packed."""
    if data == NOTHING:
        return []
    texts, packed = _uses(data)
    try:
        numbers = _numbers(zlib.decompressobj().decompress(packed, _MOST_BYTES))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    kinds, names, receivers, lines, symbols, values = (numbers[column::_COLUMNS] for column in range(_COLUMNS))
    text = texts.__getitem__
    columns = (
        [USE_KINDS[kind >> 4] for kind in kinds],
        map(text, names),
        map(text, receivers),
        [kind & MOST_ARGUMENTS for kind in kinds],
        accumulate(lines),
        accumulate(symbols),
        map(text, values),
    )
    return list(map(_use, zip(*columns, strict=True)))


def unpacked_vectors(packed: Mapping[int, bytes], model: ModelRow | None) -> VectorRows | None:
    """The vectors of entries that are packed (`vector_codes`); None without any."""
    if not packed or model is None:
        return None
    import numpy as np

    from findling.model import vector_codes

    offsets = np.cumsum([0, *(len(data) // model.vector_bytes for data in packed.values())])
    rows = vector_codes.decode(b"".join(packed.values()), model.dimensions, model.coding)
    return VectorRows(list(packed), offsets, rows)
