"""Channel: chunks near the query in the embedder's space. It loads numpy, so searches by other means must not import
it.

Bits propose chunks; the stored vectors of their files give each chunk's cosine and the cosine of the window of
chunks around it, which says what a passage is about better than the chunk alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import simsimd
from numpy.typing import NDArray

from findling.embedding import BUNDLED, Embedder
from findling.embedding.bundled_files import Calibration, calibration_of
from findling.search.ranking.ranked_file import FileCosines
from findling.store.protocols import CHUNK_BITS, Index, VectorRows

# --- cosines ------------------------------------------------------------------------------------------------------
# Cosines of a query with rows of int8 numbers, and with windows of neighbouring rows: pure functions over arrays.
#
# Knows nothing of chunks or files. simsimd is used here alone, for products of int8 rows: numpy's einsum over
# float32 has the same numbers in three to ten times as long. Nothing here calls the BLAS library, so nothing wakes its
# threads.
#
# Answers do not depend on the platform: products and squared lengths are exact whole numbers. Rows need not have length
# 1. A row of zeros is a text without a vector: its cosine with anything is 0.

# Chunks on each side that share a window. Nine chunks are about 6 kB of text, which retrieved best among 1 to 33.
WINDOW_NEIGHBOURS = 4

# What a query's largest number becomes in int8: all of int8's range, so that rounding the query costs a fraction of
# what rounding the rows has cost.
_QUERY_PEAK = 127


def cosines_int8(rows: NDArray[np.int8], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines in [-1, 1] between ``rows`` (m, d), as quantised, and a float query (d,) of any length: (m,).

    The query is rounded to int8 too; both roundings together move a cosine by about 0.003 at 256 dimensions.
    """
    whole = _whole_query(query)
    return _ratio(_products(rows, whole), _squares(rows) * _squares(whole[np.newaxis]))


def window_cosines(
    rows: NDArray[np.int8], query: NDArray[np.float32], offsets: NDArray[np.integer[Any]]
) -> NDArray[np.float32]:
    """Cosines in [-1, 1] between the query (d,) and the sum over each chunk's window: (m,).

    ``rows`` (m, d) holds the chunks of several files one after the other, each file's in its order; the rows of file
    ``i`` are ``offsets[i]`` to ``offsets[i + 1]``, so there is one offset more than files. A window is the chunk and
    up to `WINDOW_NEIGHBOURS` chunks on each side of it in its file.
    """
    whole = _whole_query(query)
    running = _running_sum(_products(rows, whole))
    first, last = _windows(offsets)
    return _ratio(running[last] - running[first], _window_squares(rows, first, last) * _squares(whole[np.newaxis]))


def _window_squares(rows: NDArray[np.int8], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """The squared length of the sum over each window of rows, in int8 steps: (m,)."""
    squares = np.zeros(len(rows), np.int64)
    # The square of a sum is the sum over all pairs in the window: those that lie ``apart`` rows apart begin at the
    # window's first row and end where their second row leaves it.
    for apart in range(min(2 * WINDOW_NEIGHBOURS + 1, len(rows))):
        second_rows = len(rows) - apart
        running = _running_sum(_row_products(rows[:second_rows], rows[apart:]))
        begin = np.minimum(first, second_rows)
        pairs = running[np.maximum(last - apart, begin)] - running[begin]
        squares += pairs if apart == 0 else 2 * pairs
    return squares


def _whole_query(query: NDArray[np.float32]) -> NDArray[np.int8]:
    peak = float(np.abs(query).max(initial=0.0))
    whole: NDArray[np.float32] = np.rint(query * np.float32(_QUERY_PEAK / peak if peak else 0.0))
    return whole.astype(np.int8)


def _products(rows: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.int64]:
    """Exact scalar products of each row (m, d) with the query (d,)."""
    if not len(rows):
        return np.zeros(0, np.int64)
    # simsimd's annotations name its float types only.
    products = simsimd.cdist(
        np.ascontiguousarray(rows),
        query[np.newaxis],
        metric="dot",
        dtype="int8",
        out_dtype="int32",  # type: ignore[arg-type]
    )
    return np.asarray(products).ravel().astype(np.int64)


def _squares(rows: NDArray[np.int8]) -> NDArray[np.int64]:
    """Exact squared lengths of each row (m, d)."""
    return _row_products(rows, rows)


def _row_products(left: NDArray[np.int8], right: NDArray[np.int8]) -> NDArray[np.int64]:
    """Exact scalar products of each row (m, d) with the same row of the other."""
    if not len(left):
        return np.zeros(0, np.int64)
    products = simsimd.dot(
        np.ascontiguousarray(left),
        np.ascontiguousarray(right),
        "int8",  # type: ignore[arg-type]
    )
    return np.asarray(products).ravel().astype(np.int64)


def _ratio(products: NDArray[np.int64], squared_lengths: NDArray[Any]) -> NDArray[np.float32]:
    """products / sqrt(squared_lengths), 0 where a length is 0."""
    lengths = np.sqrt(squared_lengths.astype(np.float64))
    cosines = np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0)
    return np.clip(cosines, -1.0, 1.0).astype(np.float32)


def _windows(offsets: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each chunk the first row of its window and the one after the last."""
    offsets = np.asarray(offsets, np.int64)
    sizes = np.diff(offsets)
    ids = np.arange(offsets[0], offsets[-1])
    first = np.maximum(ids - WINDOW_NEIGHBOURS, np.repeat(offsets[:-1], sizes))
    last = np.minimum(ids + WINDOW_NEIGHBOURS + 1, np.repeat(offsets[1:], sizes))
    return first, last


def _running_sum(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the values before each: one more than ``values``, starting with zero."""
    running = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=running[1:])
    return running


_CHUNK = (1 << CHUNK_BITS) - 1
"""The part of a unit's id that is a chunk's place in its file."""

_MORE_CHUNKS = (1, 4, 16)
"""Where the nearest chunks come from few files, this many times as many are looked at."""


class SemanticChannel:
    """Nearest chunks of one model in one index."""

    def __init__(self, reader: Index, embedder: Embedder, model_id: int) -> None:
        self._reader = reader
        self._embedder = embedder
        self._model_id = model_id

    @property
    def calibration(self) -> Calibration:
        """What the model's cosines are worth as similarities."""
        return calibration_of(self._embedder.fingerprint)

    @property
    def is_quick(self) -> bool:
        """Whether embedding some dozen sentences takes a few milliseconds."""
        return self._embedder.fingerprint.provider == BUNDLED

    def encode(self, text: str) -> NDArray[np.float32]:
        """A question's vector; zeros when the model knows no word of it. Raises `EmbedderUnavailable`."""
        return self._embedder.encode_query(text)

    def propose(
        self, query: NDArray[np.float32], count: int, allowed: Set[int] | None, *, files: int = 0
    ) -> dict[int, float]:
        """Entries of the ``count`` nearest chunks by bits, with how many of the bits agree less than all (0 or below).

        ``allowed``: see `Proposals`. While they belong to fewer than ``files`` files, more chunks are taken, up to a
        bound: one large document must not hide all others.
        """
        found: dict[int, float] = {}
        taken = 0
        chunks = manifest.chunks if (manifest := self._reader.manifest) else 0
        for more in _MORE_CHUNKS:
            nearest = self._reader.nearest(query, self._model_id, count * more, allowed)
            for unit, distance in nearest[taken:]:
                found.setdefault(unit >> CHUNK_BITS, -distance)
            if len(found) >= files or len(nearest) in (taken, chunks):
                break
            taken = len(nearest)
        return found

    def propose_ahead(self, query: NDArray[np.float32], count: int, allowed: Set[int] | None) -> None:
        """Announce what `propose` will ask for (`Index.ahead`); more chunks where the index is so small that they
        may come from few files."""
        manifest = self._reader.manifest
        few = manifest is not None and manifest.chunks <= count * _MORE_CHUNKS[-1]
        for more in _MORE_CHUNKS[: 2 if few else 1]:
            self._reader.nearest(query, self._model_id, count * more, allowed)

    def propose_chunks(
        self, query: NDArray[np.float32], count: int, allowed: Set[int] | None
    ) -> dict[int, Sequence[int] | None]:
        """The files of the nearest chunks, each with the numbers of these chunks in it, nearest first."""
        found: dict[int, list[int]] = {}
        for unit, _ in self._reader.nearest(query, self._model_id, count, allowed):
            found.setdefault(unit >> CHUNK_BITS, []).append(unit & _CHUNK)
        return dict(found)

    def cosines(self, query: NDArray[np.float32], entry_ids: Iterable[int]) -> dict[int, FileCosines]:
        """Exact cosines of every chunk of these entries; entries without vectors are absent."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if stored is None:
            return {}
        own = cosines_int8(stored.rows, query)
        window = window_cosines(stored.rows, query, stored.offsets)
        return {entry: FileCosines(own[rows], window[rows]) for entry, rows in _slices(stored)}

    def nearest(
        self, query: NDArray[np.float32], chunks: Mapping[int, Sequence[int] | None], limit: int
    ) -> list[tuple[float, int, int]]:
        """Of these chunks of entries (None: all of an entry's) the ``limit`` nearest, and all that are as near as the
        last of them: cosine in [0, 1], entry and place."""
        stored = self._reader.vectors(chunks, self._model_id)
        if stored is None or limit < 1:
            return []
        places: list[tuple[int, int]] = []
        wanted: list[int] = []
        for entry, rows in _slices(stored):
            every = range(rows.stop - rows.start)
            asked = chunks[entry]
            for place in every if asked is None else asked:
                if place in every:
                    places.append((entry, place))
                    wanted.append(rows.start + place)
        if not places:
            return []
        found = np.maximum(cosines_int8(stored.rows[wanted], query), 0.0)
        least = np.partition(found, -limit)[-limit] if len(found) > limit else 0.0
        return [(float(found[row]), *places[row]) for row in np.flatnonzero(found >= least).tolist()]

    def closeness(self, query: NDArray[np.float32], texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the query; 0 where the model knows no word of a text."""
        rows = self._embedder.encode(texts)
        return [max(-1.0, min(1.0, float(cosine))) for cosine in np.einsum("nd,d->n", rows, query)]

    def chunk_vectors(self, entry_id: int, start: int = 0, stop: int | None = None) -> list[NDArray[np.float32]]:
        """Each chunk of a file, or of some of its chunks, as a query; [] without vectors."""
        stored = self._reader.vectors([entry_id], self._model_id)
        return [] if stored is None else [row.astype(np.float32) for row in stored.rows[start:stop]]

    def pair_cosines(
        self, queries: Sequence[NDArray[np.float32]], entry_ids: Iterable[int]
    ) -> dict[int, NDArray[np.float32]]:
        """For each entry with vectors the cosines (queries, chunks) of every query with each of its chunks."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if stored is None or not queries:
            return {}
        table = np.stack([cosines_int8(stored.rows, query) for query in queries])
        return {entry: table[:, rows] for entry, rows in _slices(stored)}

    def mean_vector(self, entry_id: int, start: int = 0, stop: int | None = None) -> NDArray[np.float32] | None:
        """The direction of a file, or of some of its chunks, as a query; None without vectors."""
        stored = self._reader.vectors([entry_id], self._model_id)
        if stored is None:
            return None
        mean = stored.rows[start:stop].astype(np.float32).sum(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if length > 0 else None


def _slices(stored: VectorRows) -> Iterator[tuple[int, slice]]:
    """Each entry with its rows."""
    return zip(stored.entries, itertools.starmap(slice, itertools.pairwise(stored.offsets.tolist())), strict=True)
