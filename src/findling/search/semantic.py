"""Channel: chunks near the query in the embedder's space. It loads numpy: who searches by other means imports it not.

Bits propose chunks; the stored vectors of their files give each chunk's cosine and the cosine of the window of
chunks around it, which says what a passage is about better than the chunk alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from findling.embedding import BUNDLED, Embedder
from findling.embedding.calibration import Calibration, calibration_of
from findling.search.semantic_types import FileCosines
from findling.store import vector_codes, vectors
from findling.store.dense import DenseIndex
from findling.store.proposals import Own
from findling.store.reader import IndexReader
from findling.store.schema import CHUNK_BITS

_QUERIES_REMEMBERED = 256

_CHUNK = (1 << CHUNK_BITS) - 1
"""The part of a unit's id that is a chunk's place in its file."""

_MORE_CHUNKS = (1, 4, 16)
"""Times as many chunks are looked at where the nearest ones are of few files."""


class SemanticChannel:
    """Nearest chunks of one model in one index."""

    def __init__(self, reader: IndexReader, embedder: Embedder, model_id: int) -> None:
        self._reader = reader
        self._embedder = embedder
        self._model_id = model_id
        self._dimensions = embedder.fingerprint.dimensions
        self._coding = reader.coding(model_id)
        self._row_bytes = vector_codes.row_bytes(self._dimensions, self._coding)
        self._dense = DenseIndex(reader, model_id, self._dimensions)
        self._generation = reader.generation
        self._queries: dict[str, NDArray[np.float32]] = {}

    @property
    def calibration(self) -> Calibration:
        """What the model's cosines are worth as similarities."""
        return calibration_of(self._embedder.fingerprint)

    def _decoded(self, data: bytes) -> NDArray[np.int8]:
        return vector_codes.decode(data, self._dimensions, self._coding)

    @property
    def is_quick(self) -> bool:
        """Whether embedding some dozen sentences takes a few milliseconds."""
        return self._embedder.fingerprint.provider == BUNDLED

    def encode(self, text: str) -> NDArray[np.float32]:
        """A question's vector; zeros when the model knows no word of it. Raises `EmbedderUnavailable`."""
        known = self._queries.get(text)
        if known is None:
            if len(self._queries) >= _QUERIES_REMEMBERED:
                self._queries.clear()
            known = self._queries[text] = self._embedder.encode_query(text)
        return known

    def propose(
        self, query: NDArray[np.float32], count: int, own: Own, share: int = 1, *, files: int = 0
    ) -> dict[int, float]:
        """Entries of the ``count`` nearest chunks by bits, with how many of the bits agree less than all (0 or below).

        ``own``, ``share``: see `proposed`. While they are fewer than ``files`` more chunks are taken, within a bound:
        one large document must not be all that is near.
        """
        self._refresh()
        found: dict[int, float] = {}
        taken = 0
        for more in _MORE_CHUNKS:
            nearest = self._dense.nearest(query, count * more, own, share)
            for unit, distance in nearest[taken:]:
                found.setdefault(unit >> CHUNK_BITS, -distance)
            if len(found) >= files or len(nearest) == taken:
                break
            taken = len(nearest)
        return found

    def _refresh(self) -> None:
        if self._generation != self._reader.generation:
            self._dense.refresh()
            self._generation = self._reader.generation

    def cosines(self, query: NDArray[np.float32], entry_ids: Iterable[int]) -> dict[int, FileCosines]:
        """Exact cosines of every chunk of these entries; entries without vectors are absent."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if not stored:
            return {}
        rows = self._decoded(b"".join(stored.values()))
        offsets = np.cumsum([0, *(len(data) // self._row_bytes for data in stored.values())])
        own = vectors.cosines_int8(rows, query)
        window = vectors.window_cosines(rows, query, offsets)
        return {
            entry_id: FileCosines(own[low:high], window[low:high])
            for entry_id, low, high in zip(stored, offsets[:-1], offsets[1:], strict=True)
        }

    def propose_chunks(self, query: NDArray[np.float32], count: int, own: Own, share: int = 1) -> dict[int, list[int]]:
        """As `propose`, with the places of the chunks."""
        self._refresh()
        found: dict[int, list[int]] = {}
        for unit, _ in self._dense.nearest(query, count, own, share):
            found.setdefault(unit >> CHUNK_BITS, []).append(unit & _CHUNK)
        return found

    def nearest(
        self, query: NDArray[np.float32], chunks: Mapping[int, Sequence[int] | None], limit: int
    ) -> list[tuple[float, int, int]]:
        """Of these chunks of entries (None: all of an entry's) the ``limit`` nearest, and all that are as near as the
        last of them: cosine in [0, 1], entry and place."""
        places: list[tuple[int, int]] = []
        data: list[bytes] = []
        for entry_id, stored in self._reader.vectors(chunks, self._model_id).items():
            every = range(len(stored) // self._row_bytes)
            wanted = chunks[entry_id]
            for place in every if wanted is None else wanted:
                if place in every:
                    places.append((entry_id, place))
                    data.append(stored[place * self._row_bytes : (place + 1) * self._row_bytes])
        if not places or limit < 1:
            return []
        cosines = np.maximum(vectors.cosines_int8(self._decoded(b"".join(data)), query), 0.0)
        least = np.partition(cosines, -limit)[-limit] if len(cosines) > limit else 0.0
        return [(float(cosines[row]), *places[row]) for row in np.flatnonzero(cosines >= least).tolist()]

    def closeness(self, query: NDArray[np.float32], texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the query; 0 where the model knows no word of a text."""
        rows = self._embedder.encode(texts)
        return [max(-1.0, min(1.0, float(cosine))) for cosine in np.einsum("nd,d->n", rows, query)]

    def chunk_vectors(self, entry_id: int, start: int = 0, stop: int | None = None) -> list[NDArray[np.float32]]:
        """Each chunk of a file, or of some of its chunks, as a query; [] without vectors."""
        stored = self._reader.vectors([entry_id], self._model_id).get(entry_id, b"")
        rows = self._decoded(stored)
        return [row.astype(np.float32) for row in rows[start:stop]]

    def pair_cosines(
        self, queries: Sequence[NDArray[np.float32]], entry_ids: Iterable[int]
    ) -> dict[int, NDArray[np.float32]]:
        """For each entry with vectors the cosines (queries, chunks) of every query with each of its chunks."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if not stored or not queries:
            return {}
        rows = self._decoded(b"".join(stored.values()))
        offsets = np.cumsum([0, *(len(data) // self._row_bytes for data in stored.values())])
        table = np.stack([vectors.cosines_int8(rows, query) for query in queries])
        return {
            entry_id: table[:, low:high] for entry_id, low, high in zip(stored, offsets[:-1], offsets[1:], strict=True)
        }

    def mean_vector(self, entry_id: int, start: int = 0, stop: int | None = None) -> NDArray[np.float32] | None:
        """The direction of a file, or of some of its chunks, as a query; None without vectors."""
        stored = self._reader.vectors([entry_id], self._model_id).get(entry_id)
        if stored is None:
            return None
        mean = self._decoded(stored)[start:stop].astype(np.float32).sum(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if length > 0 else None
