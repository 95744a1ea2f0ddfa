"""The exact-text index: which blobs can hold a given text, from the trigrams of their bytes.

It is derived and may always be thrown away: a blob that no sound segment covers is simply a candidate for every
pattern, so adding one file needs no write and damage costs time, never matches. Deleted blobs stay in their
segment until a merge (the caller filters them). Knows nothing of patterns, paths or the database.

One process writes at a time; any number may read while it does.
"""

from __future__ import annotations

import errno
import os
from array import array
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from findling.model.errors import StorageFull
from findling.model.trigram_plan import TrigramPlan
from findling.store import layout
from findling.store.trigram_segment import MAX_SEGMENT_BLOBS, SegmentDamaged, TrigramSegment, write_segment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A segment is written once its blobs' trigrams reach this much memory, whatever their number.
MAX_BUFFERED_BYTES = 48 << 20
#: Segments with fewer blobs than this are worth merging.
SMALL_SEGMENT_BLOBS = 2048
#: More small segments than this slow a query measurably (each costs some 20 µs per trigram looked up).
MAX_SMALL_SEGMENTS = 4
#: First bytes at which a build is cut into parts, so that sorting never holds more than about a tenth of it.
_PART_EDGES = (0, 32, 33, 42, 48, 91, 97, 100, 102, 105, 109, 111, 113, 115, 116, 118, 256)
_SUFFIX = ".tri"


class TrigramIndex:
    """Segments in one directory plus the blobs waiting to be written.

    ``identity`` (at most 16 bytes) names the store whose blob ids these are; segments of another one are not used.
    Blob ids are 32-bit and must never be reused for other content.
    """

    def __init__(self, directory: Path, identity: bytes = b"") -> None:
        """Opens what is there; a missing directory is an empty index. Never raises for damaged segments."""
        if len(identity) > 16:
            raise ValueError("identity is longer than 16 bytes")
        self._directory = directory
        self._identity = identity.ljust(16, b"\0")
        self._segments: dict[str, TrigramSegment] = {}
        self.unusable: dict[str, str] = {}
        """Segments that are damaged, unreadable, foreign or of another version, and why: their blobs are uncovered."""
        self._covered: frozenset[int] | None = None
        self._pending: dict[int, bytes] = {}
        self._pending_bytes = 0
        self.refresh()

    # --- reading -----------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Notice segments that another process has added or merged away since."""
        try:
            foreign = layout.not_a_folder(self._directory)
            names = set() if foreign else {path.name for path in self._directory.iterdir() if path.suffix == _SUFFIX}
        except (FileNotFoundError, NotADirectoryError):
            names = set()
        for name in self._segments.keys() - names:
            self._segments.pop(name).close()
            self._covered = None
        for name in self.unusable.keys() - names:
            del self.unusable[name]
        for name in sorted(names - self._segments.keys() - self.unusable.keys()):
            self._open(name)

    def _open(self, name: str) -> None:
        path = self._directory / name
        try:
            self._segments[name] = TrigramSegment(path, self._identity)
        except FileNotFoundError:
            return  # merged away since the directory was listed: its blobs are in a newer segment or uncovered
        except SegmentDamaged as damage:
            self.unusable[name] = str(damage)
        except OSError as error:
            self.unusable[name] = f"cannot be read: {error.strerror}"
        self._covered = None

    @property
    def covered(self) -> frozenset[int]:
        """Ids of the blobs that a sound segment covers (deleted blobs included, waiting ones not)."""
        if self._covered is None:
            self._covered = frozenset().union(*(segment.blob_ids for segment in self._segments.values()))
        return self._covered

    def uncovered(self, blob_ids: Iterable[int]) -> list[int]:
        """Those of ``blob_ids`` that the index says nothing about, ascending: candidates for every pattern."""
        return sorted(frozenset(blob_ids) - self.covered)

    def candidates(self, plan: TrigramPlan) -> list[int]:
        """Covered blobs that may match, ascending, without duplicates.

        A segment found damaged on the way contributes all its blobs, and is not used any more.
        """
        found: list[int] = []
        for name, segment in list(self._segments.items()):
            try:
                found += segment.matching(plan)
            except SegmentDamaged as damage:
                found += segment.blob_ids
                self._discard(name, str(damage))
        found.sort()  # the segments' answers are sorted runs: merging them is cheap
        return list(dict.fromkeys(found)) if len(self._segments) > 1 else found

    def _discard(self, name: str, reason: str) -> None:
        self._segments.pop(name).close()
        self.unusable[name] = reason
        self._covered = None

    def close(self) -> None:
        """Release the files. What was added and not flushed is forgotten."""
        for segment in self._segments.values():
            segment.close()
        self._segments.clear()
        self._pending.clear()
        self._covered = None

    # --- writing -----------------------------------------------------------------------------------------------

    def add(self, blob_id: int, trigrams: bytes) -> None:
        """Buffer a blob with the result of ``file_trigrams``; a full buffer is written at once.

        A blob already covered or buffered is left as it is: blobs do not change. Raises StorageFull, OSError.
        """
        if not 0 <= blob_id < 1 << 32:
            raise ValueError(f"blob id {blob_id} does not fit 32 bits")
        if blob_id in self._pending or blob_id in self.covered:
            return
        self._pending[blob_id] = trigrams
        self._pending_bytes += len(trigrams)
        if len(self._pending) >= MAX_SEGMENT_BLOBS or self._pending_bytes >= MAX_BUFFERED_BYTES:
            self.flush()

    def flush(self, min_files: int = 0) -> int:
        """Write the buffer as a segment unless it holds fewer than ``min_files`` blobs; answers how many it wrote.

        The segment appears whole or not at all. Raises StorageFull or OSError; the buffer is kept then.
        """
        if not self._pending or len(self._pending) < min_files:
            return 0
        ids = array("I", sorted(self._pending))
        self._publish(ids, _buffer_batches([self._pending[blob_id] for blob_id in ids]))
        self._pending.clear()
        self._pending_bytes = 0
        return len(ids)

    @property
    def wants_compaction(self) -> bool:
        return sum(len(s.blob_ids) < SMALL_SEGMENT_BLOBS for s in self._segments.values()) > MAX_SMALL_SEGMENTS

    def compact(self, live: Container[int] | None = None) -> int:
        """Merge small segments and delete unusable and left-over files; answers how many segments were merged.

        With ``live``, segments of which less than half is live are rewritten too, and dead blobs left out.
        For the one writer. Raises StorageFull or OSError; nothing is lost then.
        """
        self._sweep()
        group: list[str] = []
        blobs = merged = 0
        for name, alive in sorted(self._worth_merging(live), key=lambda item: item[1]):
            if blobs + alive > MAX_SEGMENT_BLOBS:
                merged += self._merge(group, live)
                group, blobs = [], 0
            group.append(name)
            blobs += alive
        return merged + self._merge(group, live)

    def _worth_merging(self, live: Container[int] | None) -> Iterator[tuple[str, int]]:
        for name, segment in self._segments.items():
            total = len(segment.blob_ids)
            alive = total if live is None else sum(blob_id in live for blob_id in segment.blob_ids)
            if total < SMALL_SEGMENT_BLOBS or alive * 2 < total:
                yield name, alive

    def _merge(self, names: list[str], live: Container[int] | None) -> int:
        segments = [self._segments[name] for name in names]
        if len(names) < 2 and (live is None or all(b in live for segment in segments for b in segment.blob_ids)):
            return 0
        ids = array("I", sorted({b for s in segments for b in s.blob_ids if live is None or b in live}))
        try:
            for name, segment in zip(names, segments, strict=True):
                damaged = name
                segment.verify()
        except SegmentDamaged as damage:
            self._discard(damaged, str(damage))
            return self._merge([name for name in names if name != damaged], live)
        if ids:
            self._publish(ids, _merge_batches(segments, ids))
        for name in names:
            self._segments.pop(name).close()
            self._covered = None
            self._unlink(name)
        return len(names)

    def _sweep(self) -> None:
        for name in list(self.unusable):
            if self._unlink(name):
                del self.unusable[name]
        if self._directory.is_dir():
            for leftover in self._directory.glob(f"*{_SUFFIX}.tmp"):
                self._unlink(leftover.name)

    def _unlink(self, name: str) -> bool:
        try:
            (self._directory / name).unlink(missing_ok=True)
        except PermissionError:
            return False  # another process has it mapped (Windows): the next sweep gets it
        return True

    def _publish(self, ids: array[int], batches: Iterable[NDArray[np.uint64]]) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        name = os.urandom(8).hex() + _SUFFIX
        temporary = self._directory / (name + ".tmp")
        try:
            write_segment(temporary, ids, batches, self._identity)
            temporary.replace(self._directory / name)
            _sync_directory(self._directory)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    "No room on the disk for the exact-text index.", remedy="Free some space and run it again."
                ) from error
            raise
        self._open(name)


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a directory cannot be opened for this; the rename itself is journalled
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _buffer_batches(per_blob: list[bytes]) -> Iterator[NDArray[np.uint64]]:
    import numpy as np

    arrays = [np.frombuffer(packed, "<u4") for packed in per_blob]
    edges = np.array([first << 16 for first in _PART_EDGES], np.uint32)
    cuts = np.array([np.searchsorted(codes, edges) for codes in arrays])
    for part in range(len(_PART_EDGES) - 1):
        sizes = cuts[:, part + 1] - cuts[:, part]
        keys = np.empty(int(sizes.sum()), np.uint64)
        end = 0
        for number, codes in enumerate(arrays):
            if sizes[number]:
                start, end = end, end + int(sizes[number])
                piece = keys[start:end]
                piece[:] = codes[cuts[number, part] : cuts[number, part + 1]]
                piece <<= np.uint64(16)
                piece |= np.uint64(number)
        keys.sort()
        yield keys


def _merge_batches(segments: list[TrigramSegment], ids: array[int]) -> Iterator[NDArray[np.uint64]]:
    """Keys of the segments' blobs, renumbered by their place in ``ids``; blobs not in ``ids`` are left out."""
    import numpy as np

    kept = np.frombuffer(ids, np.uint32)
    for low, high in pairwise(_PART_EDGES):
        keys = []
        for segment in segments:
            own = np.frombuffer(segment.blob_ids, np.uint32)
            places = np.minimum(np.searchsorted(kept, own), len(kept) - 1)
            alive = kept[places] == own
            codes, numbers = segment.postings_between(low << 16, high << 16)
            wanted = alive[numbers]
            keys.append(codes[wanted].astype(np.uint64) << np.uint64(16) | places[numbers[wanted]].astype(np.uint64))
        merged = np.concatenate(keys)
        merged.sort()
        # a blob may be in two segments after an interrupted merge
        yield merged[np.concatenate((np.ones(min(1, len(merged)), bool), merged[1:] != merged[:-1]))]
