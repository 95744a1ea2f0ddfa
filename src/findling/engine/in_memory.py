"""Files of a folder read into an index in memory, their vectors too: what needs no index on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from findling import reading
from findling.engine.embedding_pass import coding_of, embedded_texts
from findling.model.format_names import outlined_as
from findling.model.text_encodings import CONVERTED
from findling.model.types import SkippedFile
from findling.reading.decoding import Decoded, decode
from findling.store import vector_codes

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.model.reading import Reading
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
    texts: dict[str, str | bytes] = {}
    for path, data in files:
        found = reading.prepare.prepare(path, data)
        if isinstance(found, SkippedFile):
            left_out.append(found)
            continue
        standing[path] = index.put(hashlib.sha256(data).digest(), found)
        if embedder is not None:
            texts[path] = _text(found, data)
    index.publish(standing, [file.path for file in left_out])
    if embedder is not None:
        _embed(index, texts, embedder)
    return left_out


def _text(found: Reading, data: bytes) -> str | bytes:
    if found.text is not None:
        return found.text
    decoded = decode(data)
    assert isinstance(decoded, Decoded)  # it has been read
    return decoded.text if decoded.text.isascii() else decoded.text.encode("utf-8", "surrogatepass")


def _embed(index: MemoryIndex, texts: dict[str, str | bytes], embedder: Embedder) -> None:
    """All of their chunks at once."""
    every: list[str] = []
    counts: list[tuple[int, int]] = []
    for path, text in texts.items():
        file = index.file_at(path)
        assert file is not None  # just published
        language = outlined_as(file.language, converted=True) if file.other_encoding == CONVERTED else file.language
        of_file = embedded_texts(path, language, index.symbols(file.blob_id), index.chunks(file.blob_id), text)
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
