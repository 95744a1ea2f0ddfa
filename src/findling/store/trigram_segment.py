"""The file format of one immutable piece of the exact-text index: which of up to 8,192 blobs hold a trigram.

Layout, little-endian: a fixed header; the postings of every trigram in code order; the directory, one 64-bit
entry per trigram (code << 32 | offset of its postings) and a closing entry; the blob ids; the fences (the first
directory entry of every directory block); a CRC-32 per block of postings and directory. Postings are local blob
numbers, each as its distance from the one before in one byte or two (7 bits in the first, whose eighth says that
the upper ones follow), or a bitmap where that is no longer than the list: the length alone tells which.

Opening checks the header, blob ids, fences and block checksums (some tens of kilobytes). Everything else is
checked block by block when first touched, so damage anywhere is noticed before it can hide a match. Reading needs
no numpy, whose import would cost a cold process more than the whole search. Knows nothing of patterns or paths.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate, compress
from pathlib import Path
from typing import TYPE_CHECKING

from findling.store import layout
from findling.store.trigram_plan import TrigramPlan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"FNDLTRI1"
FORMAT_VERSION = 2
#: Local blob numbers need 13 bits, so a distance fits two bytes; the bitmap of a whole segment is 1 KiB, one cheap
#: integer operation.
MAX_SEGMENT_BLOBS = 8192
#: Unit of damage detection: small enough that checking what a query touches costs microseconds per trigram.
BLOCK_BYTES = 4096
ENTRIES_PER_BLOCK = BLOCK_BYTES // 8

# magic, version, blobs, trigrams, postings bytes, identity, CRC of the trusted tail, CRC of the header before it
_HEADER = struct.Struct("<8sIIIQ16sII")
_HEADER_BYTES = 64
_BITS_TO_FLAGS = bytes.maketrans(b"01", b"\0\1")


class SegmentDamaged(Exception):
    """A segment file cannot be trusted: truncated, altered, of another version or of another store."""


def bitmap_bytes(blobs: int) -> int:
    """Length of a segment's bitmaps."""
    return -(-blobs // 8)


def _padded(size: int) -> int:
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES


class TrigramSegment:
    """One open segment file, memory-mapped."""

    def __init__(self, path: Path, identity: bytes) -> None:
        """Raises SegmentDamaged, or OSError when the file cannot be opened."""
        self.path = path
        if layout.not_a_file(path):
            raise SegmentDamaged("not a regular file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _HEADER_BYTES:
                raise SegmentDamaged("shorter than a header")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._read_header(size, identity)
        except SegmentDamaged:
            self._map.close()
            raise
        self._checked = bytearray(len(self._block_crcs))

    def _read_header(self, size: int, identity: bytes) -> None:
        head = self._map[:_HEADER_BYTES]
        magic, version, blobs, trigrams, postings, owner, tail_crc, head_crc = _HEADER.unpack_from(head)
        if magic != MAGIC:
            raise SegmentDamaged("not a trigram segment")
        if version != FORMAT_VERSION:
            raise SegmentDamaged(f"format version {version}, expected {FORMAT_VERSION}")
        if zlib.crc32(head[: _HEADER.size - 4]) != head_crc:
            raise SegmentDamaged("header checksum differs")
        if owner != identity:
            raise SegmentDamaged("belongs to another store")
        directory_start = _padded(postings)
        blocks = (directory_start + _padded((trigrams + 1) * 8)) // BLOCK_BYTES
        fences = -(-(trigrams + 1) // ENTRIES_PER_BLOCK)
        tail_start = _HEADER_BYTES + blocks * BLOCK_BYTES
        tail_bytes = fences * 8 + blobs * 4 + blocks * 4
        if not 0 < blobs <= MAX_SEGMENT_BLOBS or size != tail_start + tail_bytes:
            raise SegmentDamaged(f"{size} bytes long, expected {tail_start + tail_bytes}")
        tail = self._map[tail_start:]
        if zlib.crc32(tail) != tail_crc:
            raise SegmentDamaged("table checksum differs")
        self.trigram_count: int = trigrams
        self.size = size
        self._fences = array("Q", tail[: fences * 8])
        self.blob_ids = array("I", tail[fences * 8 : fences * 8 + blobs * 4])
        self._block_crcs = array("I", tail[fences * 8 + blobs * 4 :])
        self._body = memoryview(self._map)[_HEADER_BYTES:tail_start]
        self._directory_block = directory_start // BLOCK_BYTES
        self._entries = self._body[directory_start : directory_start + (trigrams + 1) * 8].cast("Q")
        self._bitmap_bytes = bitmap_bytes(blobs)

    def close(self) -> None:
        self._entries.release()
        self._body.release()
        self._map.close()

    def verify(self) -> None:
        """Check every block now; raises SegmentDamaged."""
        self._check(0, len(self._block_crcs) - 1)

    def matching(self, plan: TrigramPlan) -> list[int]:
        """Blob ids that satisfy ``plan``, in ascending order. Raises SegmentDamaged."""
        if plan.admits_everything:
            return self.blob_ids.tolist()
        found = self._evaluate(plan)
        if isinstance(found, set):
            return [self.blob_ids[local] for local in sorted(found)]
        flags = bin(found)[:1:-1].encode().translate(_BITS_TO_FLAGS)
        return list(compress(self.blob_ids, flags))

    # --- evaluation: a set of local numbers while few, an integer as bitmap when many --------------------------

    def _evaluate(self, plan: TrigramPlan) -> set[int] | int:
        return self._evaluate_all(plan) if plan.kind == "all" else self._evaluate_any(plan)

    def _evaluate_all(self, plan: TrigramPlan) -> set[int] | int:
        few: set[int] | None = None
        bits: int | None = None
        located: list[tuple[int, int]] = []
        for code in plan.codes:
            where = self._locate(code)
            if where is None:
                return set()
            located.append(where)
        located.sort(key=lambda where: where[1] - where[0])
        for start, end in located:
            if end - start == self._bitmap_bytes:
                bitmap = self._bitmap(start, end)
                bits = bitmap if bits is None else bits & bitmap
            else:
                few = self._numbers(start, end, few)
                if not few:
                    return few
        for part in plan.parts:
            found = self._evaluate(part)
            if not found:
                return set()
            if isinstance(found, int):
                bits = found if bits is None else bits & found
            else:
                few = found if few is None else few & found
        if few is None:
            return self._everything() if bits is None else bits
        if bits is None:
            return few
        held = bits.to_bytes(self._bitmap_bytes, "little")
        return {local for local in few if held[local >> 3] >> (local & 7) & 1}

    def _evaluate_any(self, plan: TrigramPlan) -> set[int] | int:
        few: set[int] = set()
        bits = 0
        for code in plan.codes:
            where = self._locate(code)
            if where is None:
                continue
            if where[1] - where[0] == self._bitmap_bytes:
                bits |= self._bitmap(*where)
            else:
                few |= self._numbers(*where, None)
        for part in plan.parts:
            found = self._evaluate(part)
            if isinstance(found, int):
                bits |= found
            else:
                few |= found
        if not bits:
            return few
        merged = bytearray(bits.to_bytes(self._bitmap_bytes, "little"))
        for local in few:
            merged[local >> 3] |= 1 << (local & 7)
        return int.from_bytes(merged, "little")

    def _everything(self) -> int:
        return (1 << len(self.blob_ids)) - 1

    # --- reading -----------------------------------------------------------------------------------------------

    def _locate(self, code: int) -> tuple[int, int] | None:
        """Byte range of the code's postings, None when no blob holds it."""
        wanted = code << 32
        block = bisect_right(self._fences, wanted | 0xFFFFFFFF) - 1
        if block < 0:
            return None
        self._check(self._directory_block + block, self._directory_block + block)
        first = block * ENTRIES_PER_BLOCK
        position = bisect_left(self._entries, wanted, first, min(first + ENTRIES_PER_BLOCK, self.trigram_count))
        if position >= self.trigram_count:
            return None
        entry = self._entries[position]
        if entry >> 32 != code:
            return None
        following = self._directory_block + (position + 1) // ENTRIES_PER_BLOCK
        self._check(following, following)
        return entry & 0xFFFFFFFF, self._entries[position + 1] & 0xFFFFFFFF

    def _bitmap(self, start: int, end: int) -> int:
        self._check(start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES)
        return int.from_bytes(self._body[start:end], "little")

    def _numbers(self, start: int, end: int, among: set[int] | None) -> set[int]:
        self._check(start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES)
        numbers = _numbers(bytes(self._body[start:end]))
        return set(numbers) if among is None else among.intersection(numbers)

    def _check(self, first: int, last: int) -> None:
        for block in range(first, last + 1):
            if not self._checked[block]:
                start = block * BLOCK_BYTES
                if zlib.crc32(self._body[start : start + BLOCK_BYTES]) != self._block_crcs[block]:
                    raise SegmentDamaged(f"block {block} checksum differs")
                self._checked[block] = 1

    # --- bulk reading, for merging -----------------------------------------------------------------------------

    def postings_between(self, low: int, high: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All (code, local blob number) pairs with low <= code < high, in no particular order.

        Raises SegmentDamaged.
        """
        import numpy as np

        self._check(self._directory_block, len(self._block_crcs) - 1)
        first = bisect_left(self._entries, low << 32, 0, self.trigram_count)
        last = bisect_left(self._entries, high << 32, 0, self.trigram_count)
        if first == last:
            return np.empty(0, np.uint32), np.empty(0, np.int64)
        entries = np.frombuffer(self._entries, np.uint64)[first : last + 1]
        offsets = (entries & np.uint64(0xFFFFFFFF)).astype(np.int64)
        codes = (entries[:-1] >> np.uint64(32)).astype(np.uint32)
        self._check(int(offsets[0]) // BLOCK_BYTES, (int(offsets[-1]) - 1) // BLOCK_BYTES)
        body = np.frombuffer(self._body[int(offsets[0]) : int(offsets[-1])], np.uint8)
        lengths = np.diff(offsets)
        dense = lengths == self._bitmap_bytes
        in_bitmap = np.repeat(dense, lengths)
        bits = np.unpackbits(body[in_bitmap].reshape(-1, self._bitmap_bytes), axis=1, bitorder="little")
        rows, numbers = np.nonzero(bits)
        counts, listed = _unpack_lists(body[~in_bitmap], lengths[~dense])
        return (
            np.concatenate((np.repeat(codes[~dense], counts), codes[dense][rows])),
            np.concatenate((listed, numbers)),
        )


def _numbers(postings: bytes) -> Iterable[int]:
    """The local blob numbers of one list."""
    if postings.isascii():  # all distances in one byte
        return accumulate(postings)
    numbers: list[int] = []
    number = low = shift = 0
    for byte in postings:
        if byte & 128:
            low, shift = byte & 127, 7
        else:
            number += byte << shift | low
            numbers.append(number)
            low = shift = 0
    return numbers


def _unpack_lists(body: NDArray[np.uint8], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists one after the other, ``lengths`` bytes each, as (how many numbers each has, the numbers)."""
    import numpy as np

    if not len(body):
        return np.zeros(len(lengths), np.int64), np.empty(0, np.int64)
    is_last = body < 128
    at = np.flatnonzero(is_last)
    distances = body[at].astype(np.int64)
    long = np.flatnonzero((at > 0) & ~is_last[at - 1])
    distances[long] = distances[long] << 7 | (body[at[long] - 1] & 127)
    counts = np.add.reduceat(is_last, np.cumsum(lengths) - lengths, dtype=np.int64)
    numbers = np.cumsum(distances)
    firsts = np.cumsum(counts) - counts
    numbers -= np.repeat(numbers[firsts] - distances[firsts], counts)
    return counts, numbers


def write_segment(path: Path, blob_ids: array[int], batches: Iterable[NDArray[np.uint64]], identity: bytes) -> None:
    """Write and fsync one segment file (not atomically: the caller renames it into place).

    ``blob_ids``: 1 to MAX_SEGMENT_BLOBS ascending 32-bit ids. ``batches``: sorted keys (code << 16 | local blob
    number) without duplicates, ascending from batch to batch, all keys of one code in the same batch.
    Raises OSError, also when the postings exceed 4 GiB.
    """
    import numpy as np

    width = bitmap_bytes(len(blob_ids))
    crcs = array("I")
    entries: list[NDArray[np.uint64]] = []
    written = 0
    with path.open("xb") as file:
        file.write(bytes(_HEADER_BYTES))
        rest = b""
        for keys in batches:
            if not len(keys):
                continue
            codes, lengths, postings = _pack(keys, width)
            offsets = written + np.cumsum(lengths) - lengths
            entries.append(codes << np.uint64(32) | offsets.astype(np.uint64))
            written += int(lengths.sum())
            if written > 0xFFFFFFFF:
                raise OSError("trigram postings of one segment exceed 4 GiB")
            rest += postings.tobytes()
            whole = len(rest) // BLOCK_BYTES * BLOCK_BYTES
            _write_blocks(file.write, rest[:whole], crcs)
            rest = rest[whole:]
        _write_blocks(file.write, rest.ljust(_padded(len(rest)), b"\0"), crcs)
        directory = np.concatenate((*entries, np.array([0xFFFFFFFF << 32 | written], np.uint64)))
        raw = directory.tobytes()
        _write_blocks(file.write, raw.ljust(_padded(len(raw)), b"\0"), crcs)
        tail = directory[::ENTRIES_PER_BLOCK].tobytes() + blob_ids.tobytes() + crcs.tobytes()
        file.write(tail)
        head = _HEADER.pack(
            MAGIC, FORMAT_VERSION, len(blob_ids), len(directory) - 1, written, identity, zlib.crc32(tail), 0
        )[:-4]
        file.seek(0)
        file.write(head + struct.pack("<I", zlib.crc32(head)))
        file.flush()
        os.fsync(file.fileno())


def _write_blocks(write: Callable[[bytes], int], data: bytes, crcs: array[int]) -> None:
    view = memoryview(data)
    for start in range(0, len(data), BLOCK_BYTES):
        crcs.append(zlib.crc32(view[start : start + BLOCK_BYTES]))
    write(data)


def _pack(keys: NDArray[np.uint64], width: int) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]]:
    """(codes, bytes of each code's postings, the postings themselves)."""
    import numpy as np

    key_codes = keys >> np.uint64(16)
    firsts = np.flatnonzero(np.concatenate((np.ones(1, bool), key_codes[1:] != key_codes[:-1])))
    counts = np.diff(np.append(firsts, len(keys)))
    numbers = (keys & np.uint64(0xFFFF)).astype(np.int64)
    distances = np.diff(numbers, prepend=0)
    distances[firsts] = numbers[firsts]
    long = distances >= 128
    sizes = 1 + long.astype(np.int64)
    lengths = np.add.reduceat(sizes, firsts)
    dense = lengths >= width
    lengths[dense] = width
    postings = np.empty(int(lengths.sum()), np.uint8)
    in_bitmap = np.repeat(dense, lengths)
    dense_keys = np.repeat(dense, counts)
    distances, long, sizes = distances[~dense_keys], long[~dense_keys], sizes[~dense_keys]
    last = np.cumsum(sizes) - 1
    listed = np.empty(int(sizes.sum()), np.uint8)
    listed[last] = np.where(long, distances >> 7, distances)
    listed[last[long] - 1] = (distances[long] & 127) | 128
    postings[~in_bitmap] = listed
    bits = np.zeros((int(dense.sum()), width * 8), bool)
    bits[np.repeat(np.arange(len(bits)), counts[dense]), numbers[dense_keys]] = True
    postings[in_bitmap] = np.packbits(bits, axis=1, bitorder="little").ravel()
    return key_codes[firsts], lengths, postings
