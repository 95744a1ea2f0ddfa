"""Channel: chunks near the query in the embedder's space. The only search module that loads numpy.

Bits propose chunks; the exact int8 vectors of their files give each chunk's cosine and the cosine of the window of
chunks around it, which says what a passage is about better than the chunk alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from findling.embedding import Embedder
from findling.search.semantic_types import FileCosines
from findling.store import vectors
from findling.store.dense import DenseIndex
from findling.store.reader import IndexReader
from findling.store.schema import CHUNK_BITS

_QUERIES_REMEMBERED = 256


class SemanticChannel:
    """Nearest chunks of one model in one index."""

    def __init__(self, reader: IndexReader, embedder: Embedder, model_id: int) -> None:
        self._reader = reader
        self._embedder = embedder
        self._model_id = model_id
        self._dense = DenseIndex(reader, model_id, embedder.fingerprint.dimensions)
        self._generation = reader.generation
        self._queries: dict[str, NDArray[np.float32]] = {}

    def encode(self, text: str) -> NDArray[np.float32]:
        known = self._queries.get(text)
        if known is None:
            if len(self._queries) >= _QUERIES_REMEMBERED:
                self._queries.clear()
            known = self._queries[text] = self._embedder.encode_query(text)
        return known

    def propose(self, query: NDArray[np.float32], count: int) -> dict[int, float]:
        """Entries whose chunks are nearest by bits, with how many of the bits agree less than all (0 or below)."""
        if self._generation != self._reader.generation:
            self._dense.refresh()
            self._generation = self._reader.generation
        found: dict[int, float] = {}
        for distance, unit in self._dense.nearest(query, count):
            found.setdefault(unit >> CHUNK_BITS, -distance)
        return found

    def cosines(self, query: NDArray[np.float32], entry_ids: Iterable[int]) -> dict[int, FileCosines]:
        """Exact cosines of every chunk of these entries; entries without vectors are absent."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if not stored:
            return {}
        size = self._embedder.fingerprint.dimensions
        rows = np.frombuffer(b"".join(stored.values()), np.int8).reshape(-1, size)
        offsets = np.cumsum([0, *(len(data) // size for data in stored.values())])
        own = vectors.cosines_int8(rows, query)
        window = vectors.window_cosines(rows, query, offsets)
        return {
            entry_id: FileCosines(own[low:high], window[low:high])
            for entry_id, low, high in zip(stored, offsets[:-1], offsets[1:], strict=True)
        }

    def mean_vector(self, entry_id: int, start: int = 0, stop: int | None = None) -> NDArray[np.float32] | None:
        """The direction of a file, or of some of its chunks, as a query; None without vectors."""
        stored = self._reader.vectors([entry_id], self._model_id).get(entry_id)
        if stored is None:
            return None
        size = self._embedder.fingerprint.dimensions
        mean = np.frombuffer(stored, np.int8).reshape(-1, size)[start:stop].astype(np.float32).sum(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if length > 0 else None
