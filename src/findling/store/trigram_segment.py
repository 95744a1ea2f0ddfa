"""The file format of one immutable piece of the exact-text index: which of up to 8,192 blobs hold a trigram.

Layout, little-endian: a fixed header; the postings of every trigram in code order; the directory; the groups (which
two first bytes trigrams have; before them how many trigrams, and how many bytes of postings); the blob ids; a CRC-32
per block of postings and directory. The directory has for each group the third bytes of its trigrams, then how long
the postings of each are, in one byte where bitmaps fit it and two otherwise. Postings are local blob numbers, each as
its distance from the one before in one byte or two (7 bits in the first, whose eighth says that the upper ones follow),
or a bitmap where that is no longer than the list: the length alone tells which.

Opening checks the header, groups, blob ids and block checksums (some tens of kilobytes). Everything else is checked
block by block when first touched, so damage anywhere is noticed before it can hide a match. Reading needs no numpy,
whose import would cost a cold process more than the whole search. Knows nothing of patterns or paths.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from findling.model.trigram_plan import TrigramPlan
from findling.store import layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"FNDLTRI1"
FORMAT_VERSION = 5
#: Local blob numbers need 13 bits, so a distance fits two bytes; the bitmap of a whole segment is 1 KiB, one cheap
#: integer operation.
MAX_SEGMENT_BLOBS = 8192
#: Unit of damage detection: small enough that checking what a query touches costs microseconds per trigram.
BLOCK_BYTES = 4096
# magic, version, blobs, trigrams, groups, postings bytes, identity, CRC of the trusted tail, of the header before it
_HEADER = struct.Struct("<8sIIIIQ16sII")
_HEADER_BYTES = 64
_BITS_TO_FLAGS = bytes.maketrans(b"01", b"\0\1")


class SegmentDamaged(Exception):
    """A segment file cannot be trusted: truncated, altered, of another version or of another store."""


def bitmap_bytes(blobs: int) -> int:
    """Length of a segment's bitmaps."""
    return -(-blobs // 8)


def _length_bytes(blobs: int) -> int:
    """Bytes that the length of a trigram's postings takes in the directory; none are longer than a bitmap."""
    return 1 if bitmap_bytes(blobs) <= 0xFF else 2


class TrigramSegment:
    """One open segment file, memory-mapped."""

    def __init__(self, path: Path, identity: bytes) -> None:
        """Raises SegmentDamaged, or OSError when the file cannot be opened."""
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
        magic, version, blobs, trigrams, groups, postings, owner, tail_crc, head_crc = _HEADER.unpack_from(head)
        if magic != MAGIC:
            raise SegmentDamaged("not a trigram segment")
        if version != FORMAT_VERSION:
            raise SegmentDamaged(f"format version {version}, expected {FORMAT_VERSION}")
        if zlib.crc32(head[: _HEADER.size - 4]) != head_crc:
            raise SegmentDamaged("header checksum differs")
        if owner != identity:
            raise SegmentDamaged("belongs to another store")
        body_bytes = postings + trigrams * (1 + _length_bytes(blobs))
        blocks = -(-body_bytes // BLOCK_BYTES)
        tail_start = _HEADER_BYTES + body_bytes
        counts = 4 * (groups + 1)
        tail_bytes = 2 * groups + 2 * counts + 4 * blobs + 4 * blocks
        if not 0 < blobs <= MAX_SEGMENT_BLOBS or size != tail_start + tail_bytes:
            raise SegmentDamaged(f"{size} bytes long, expected {tail_start + tail_bytes}")
        tail = self._map[tail_start:]
        if zlib.crc32(tail) != tail_crc:
            raise SegmentDamaged("table checksum differs")
        parts = [2 * groups, counts, counts, 4 * blobs, 4 * blocks]
        columns = [tail[end - size : end] for size, end in zip(parts, accumulate(parts), strict=True)]
        self._prefixes = array("H", columns[0])
        self._trigrams_before = array("I", columns[1])
        self._postings_before = array("I", columns[2])
        self.blob_ids = array("I", columns[3])
        self._block_crcs = array("I", columns[4])
        self._body = memoryview(self._map)[_HEADER_BYTES:tail_start]
        self._directory_start = postings
        self._length_bytes = _length_bytes(blobs)
        self._bitmap_bytes = bitmap_bytes(blobs)

    def close(self) -> None:
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
        group = bisect_left(self._prefixes, code >> 8)
        if group == len(self._prefixes) or self._prefixes[group] != code >> 8:
            return None
        start, end = self._directory_of(group, group + 1)
        self._check(start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES)
        members = bytes(self._body[start:end])
        count = len(members) // (1 + self._length_bytes)
        place = members.find(code & 0xFF, 0, count)
        if place < 0:
            return None
        lengths: Sequence[int] = members[count:]
        if self._length_bytes == 2:
            lengths = memoryview(members)[count:].cast("H")
        begin = self._postings_before[group] + sum(lengths[:place])
        return begin, begin + lengths[place]

    def _directory_of(self, first: int, after: int) -> tuple[int, int]:
        """Where the directory of some groups lies in the body."""
        a_trigram = 1 + self._length_bytes
        before = self._trigrams_before
        return self._directory_start + before[first] * a_trigram, self._directory_start + before[after] * a_trigram

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

        Both bounds begin a group. Raises SegmentDamaged.
        """
        import numpy as np

        first = bisect_left(self._prefixes, low >> 8)
        last = bisect_left(self._prefixes, high >> 8)
        if first == last:
            return np.empty(0, np.uint32), np.empty(0, np.int64)
        codes, lengths = self._trigrams_of(first, last)
        begin, end = self._postings_before[first], self._postings_before[last]
        self._check(begin // BLOCK_BYTES, (end - 1) // BLOCK_BYTES)
        body = np.frombuffer(self._body[begin:end], np.uint8)
        if int(lengths.sum()) != len(body):
            raise SegmentDamaged("the directory differs from the groups")
        dense = lengths == self._bitmap_bytes
        in_bitmap = np.repeat(dense, lengths)
        bits = np.unpackbits(body[in_bitmap].reshape(-1, self._bitmap_bytes), axis=1, bitorder="little")
        rows, numbers = np.nonzero(bits)
        counts, listed = _unpack_lists(body[~in_bitmap], lengths[~dense])
        return (
            np.concatenate((np.repeat(codes[~dense], counts), codes[dense][rows])),
            np.concatenate((listed, numbers)),
        )

    def _trigrams_of(self, first: int, after: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The codes of some groups' trigrams, and how long the postings of each are."""
        import numpy as np

        start, end = self._directory_of(first, after)
        self._check(start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES)
        directory = np.frombuffer(self._body[start:end], np.uint8)
        before = np.frombuffer(self._trigrams_before, np.uint32)[first : after + 1].astype(np.int64)
        sizes = np.diff(before)
        own = np.repeat(before[:-1] - before[0], sizes)  # trigrams before each one's group
        inside = np.arange(len(own)) - own
        at = own * (1 + self._length_bytes)
        thirds = directory[at + inside]
        at += np.repeat(sizes, sizes) + inside * self._length_bytes
        lengths = directory[at].astype(np.int64)
        if self._length_bytes == 2:
            lengths |= directory[at + 1].astype(np.int64) << 8
        prefixes = np.repeat(np.frombuffer(self._prefixes, np.uint16)[first:after], sizes)
        return prefixes.astype(np.uint32) << np.uint32(8) | thirds, lengths


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
    found: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
    written = 0
    with path.open("xb") as file:
        file.write(bytes(_HEADER_BYTES))
        rest = b""
        for keys in batches:
            if not len(keys):
                continue
            codes, lengths, postings = _pack(keys, width)
            found.append((codes, lengths))
            written += int(lengths.sum())
            if written > 0xFFFFFFFF:
                raise OSError("trigram postings of one segment exceed 4 GiB")
            rest += postings.tobytes()
            whole = len(rest) // BLOCK_BYTES * BLOCK_BYTES
            _write_blocks(file.write, rest[:whole], crcs)
            rest = rest[whole:]
        all_codes = np.concatenate([np.empty(0, np.uint64), *(codes for codes, _ in found)])
        all_lengths = np.concatenate([np.empty(0, np.int64), *(lengths for _, lengths in found)])
        groups, directory = _directory(all_codes, all_lengths, _length_bytes(len(blob_ids)))
        _write_blocks(file.write, rest + directory, crcs)
        tail = b"".join((*(column.tobytes() for column in groups), blob_ids.tobytes(), crcs.tobytes()))
        file.write(tail)
        sizes = len(blob_ids), len(all_codes), len(groups[0]), written
        head = _HEADER.pack(MAGIC, FORMAT_VERSION, *sizes, identity, zlib.crc32(tail), 0)[:-4]
        file.seek(0)
        file.write(head + struct.pack("<I", zlib.crc32(head)))
        file.flush()
        os.fsync(file.fileno())


def _directory(
    codes: NDArray[np.uint64], lengths: NDArray[np.int64], length_bytes: int
) -> tuple[tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]], bytes]:
    """The columns of the groups (first two bytes; trigrams before, postings before, both with their sum), and the
    directory."""
    import numpy as np

    prefixes = codes >> np.uint64(8)
    begins = np.flatnonzero(np.concatenate((np.ones(min(1, len(codes)), bool), prefixes[1:] != prefixes[:-1])))
    ends = np.append(begins, len(codes))
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))[ends]
    thirds = (codes & np.uint64(0xFF)).astype(np.uint8).tobytes()
    sizes = lengths.astype(f"<u{length_bytes}").tobytes()
    parts = []
    for begin, end in pairwise(ends.tolist()):
        parts += [thirds[begin:end], sizes[begin * length_bytes : end * length_bytes]]
    groups = prefixes[begins].astype(np.uint16), ends.astype(np.uint32), before.astype(np.uint32)
    return groups, b"".join(parts)


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
