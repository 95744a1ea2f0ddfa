"""Vectors that come with the readings of new contents, on their way into the tables. Imports no numpy and no model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from findling import outbound
from findling.embedding import coding_of, takes_documents
from findling.model.reading import HASH_BYTES, row_bytes

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.model.reading import Embedded
    from findling.store.local.writer import IndexWriter
    from findling.store.postgresql.writer import ViewWriter


def model_number(writer: IndexWriter | ViewWriter, fingerprint: Fingerprint) -> int:
    """Of an embedder, in the index that is written to; given to it now if it has none."""
    coding = coding_of(fingerprint)
    size = row_bytes(fingerprint.dimensions, coding)
    return writer.model(
        fingerprint.id, fingerprint.model, fingerprint.dimensions, coding, size, docs=takes_documents(fingerprint)
    )


class EmbeddedReadings:
    """For one run and its writer. ``chunks``: how many got vectors."""

    def __init__(self, writer: IndexWriter, fingerprint: Fingerprint) -> None:
        self.chunks = 0
        self._writer = writer
        self._model = model_number(writer, fingerprint)
        self._rows: list[tuple[int, bytes, bytes]] = []

    def add(self, entry_id: int, path: str, embedded: Embedded) -> None:
        """Of a file that was just added."""
        self._rows.append((entry_id, embedded.hashes, embedded.data))
        count = len(embedded.hashes) // HASH_BYTES
        self.chunks += count
        if "logging" in sys.modules:  # else nobody can have asked to be told
            outbound.semantic_index(doc_path=path, chunk_count=count, latency_ms=embedded.took_ms, skipped_unchanged=0)

    def put(self) -> None:
        """Write what was added."""
        if self._rows:
            self._writer.add_vectors(self._model, self._rows)
            self._rows = []
