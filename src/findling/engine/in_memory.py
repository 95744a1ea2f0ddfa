"""Files of a folder read into an index in memory, their vectors too: what needs no index on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling import reading
from findling.embedding import coding_of
from findling.model import vector_codes
from findling.model.types import SkippedFile
from findling.reading.embedded import texts_of

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.store.memory import MemoryIndex

MODEL = 1
"""The number of the one model whose vectors such an index has."""


def take_in(
    index: MemoryIndex, files: Iterable[tuple[str, bytes]], *, embedder: Embedder | None = None
) -> list[SkippedFile]:
    """Let files (path, bytes) stand in an index in place of what it had of them; those left out, with the reason.

    With an ``embedder`` their chunks get its vectors.
    """
    left_out: list[SkippedFile] = []
    standing: dict[str, int] = {}
    texts: dict[str, list[str]] = {}
    for path, data in files:
        found = reading.prepare.prepare(path, data)
        if isinstance(found, SkippedFile):
            left_out.append(found)
            continue
        standing[path] = index.put(hashlib.sha256(data).digest(), found)
        if embedder is not None:
            texts[path] = texts_of(path, found, data)
    index.publish(standing, [file.path for file in left_out])
    if embedder is not None:
        _embed(index, texts, embedder)
    return left_out


def _embed(index: MemoryIndex, texts: dict[str, list[str]], embedder: Embedder) -> None:
    """All of their chunks at once."""
    every: list[str] = []
    counts: list[tuple[int, int]] = []
    for path, of_file in texts.items():
        file = index.file_at(path)
        assert file is not None  # just published
        every += of_file
        counts.append((file.entry_id, len(of_file)))
    if not every:
        return
    coding = coding_of(embedder.fingerprint)
    coded = vector_codes.encode(embedder.embed_batch(every).rows, coding)
    rows = vector_codes.decode(coded.tobytes(), embedder.fingerprint.dimensions, coding)
    at = 0
    for entry_id, count in counts:
        index.put_vectors(MODEL, entry_id, rows[at : at + count])
        at += count
