"""Channel: chunks near the query in the embedder's space. It loads numpy: who searches by other means imports it not.

Bits propose chunks; the stored vectors of their files give each chunk's cosine and the cosine of the window of
chunks around it, which says what a passage is about better than the chunk alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from findling.embedding import BUNDLED, Embedder
from findling.embedding.bundled_files import Calibration, calibration_of
from findling.search import cosines
from findling.search.ranking.ranked_file import FileCosines
from findling.store.protocols import CHUNK_BITS, Index, VectorRows

_QUERIES_REMEMBERED = 256

_CHUNK = (1 << CHUNK_BITS) - 1
"""The part of a unit's id that is a chunk's place in its file."""

_MORE_CHUNKS = (1, 4, 16)
"""Times as many chunks are looked at where the nearest ones are of few files."""


class SemanticChannel:
    """Nearest chunks of one model in one index."""

    def __init__(self, reader: Index, embedder: Embedder, model_id: int) -> None:
        self._reader = reader
        self._embedder = embedder
        self._model_id = model_id
        self._queries: dict[str, NDArray[np.float32]] = {}

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
        known = self._queries.get(text)
        if known is None:
            if len(self._queries) >= _QUERIES_REMEMBERED:
                self._queries.clear()
            known = self._queries[text] = self._embedder.encode_query(text)
        return known

    def propose(
        self, query: NDArray[np.float32], count: int, allowed: Set[int] | None, *, files: int = 0
    ) -> dict[int, float]:
        """Entries of the ``count`` nearest chunks by bits, with how many of the bits agree less than all (0 or below).

        ``allowed``: see `Proposals`. While they are fewer than ``files`` more chunks are taken, within a bound: one
        large document must not be all that is near.
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
        """Ask for what `propose` will (`Index.ahead`), with more chunks where so few are there that these may be of few
        files."""
        manifest = self._reader.manifest
        few = manifest is not None and manifest.chunks <= count * _MORE_CHUNKS[-1]
        for more in _MORE_CHUNKS[: 2 if few else 1]:
            self._reader.nearest(query, self._model_id, count * more, allowed)

    def propose_chunks(
        self, query: NDArray[np.float32], count: int, allowed: Set[int] | None
    ) -> dict[int, Sequence[int] | None]:
        """As `propose`, with the places of the chunks."""
        found: dict[int, list[int]] = {}
        for unit, _ in self._reader.nearest(query, self._model_id, count, allowed):
            found.setdefault(unit >> CHUNK_BITS, []).append(unit & _CHUNK)
        return dict(found)

    def cosines(self, query: NDArray[np.float32], entry_ids: Iterable[int]) -> dict[int, FileCosines]:
        """Exact cosines of every chunk of these entries; entries without vectors are absent."""
        stored = self._reader.vectors(entry_ids, self._model_id)
        if stored is None:
            return {}
        own = cosines.cosines_int8(stored.rows, query)
        window = cosines.window_cosines(stored.rows, query, stored.offsets)
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
        found = np.maximum(cosines.cosines_int8(stored.rows[wanted], query), 0.0)
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
        table = np.stack([cosines.cosines_int8(stored.rows, query) for query in queries])
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
