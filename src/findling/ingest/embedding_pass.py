"""The second pass: vectors for chunks that have none, newest files first, behind the text index.

What is embedded is a chunk in its context: its folders, its file's stem, what encloses it, what it defines. A chunk
whose text is the same as in an earlier version of the file keeps its vector.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from findling.embedding import Embedder
from findling.embedding.quantise import quantise
from findling.ingest import chunks as chunking
from findling.ingest.decoding import Decoded, decode
from findling.ingest.languages import LANGUAGES
from findling.ingest.reading import read_file
from findling.store.reader import ChunkRow, IndexReader, SymbolRow
from findling.store.writer import IndexWriter
from findling.types import Chunk, Progress

HASH_BYTES = 16
"""Of the SHA-256 of each embedded text; enough that two texts of one file never share it."""

_FILES_PER_BATCH = 200
_COMMIT_CHUNKS = 20_000
"""Vectors per transaction, about 5 MB."""

_MAX_ENCLOSING = 3
_MAX_DEFINED = 6


def embed(
    writer: IndexWriter,
    reader: IndexReader,
    root: Path,
    embedder: Embedder,
    *,
    max_bytes: int,
    paths: Sequence[str] | None = None,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> int:
    """Embed what lacks vectors until done or ``deadline`` (monotonic seconds); the number of chunks embedded.

    ``paths``: only these files. A file that changed since it was indexed is left for the next sync.
    """
    fingerprint = embedder.fingerprint
    model_id = writer.model(fingerprint.id, fingerprint.dimensions)
    with reader.snapshot():
        waiting = reader.unembedded(model_id, paths)
    on_progress(Progress("embedding", 0, len(waiting)))
    done = uncommitted = 0
    for start in range(0, len(waiting), _FILES_PER_BATCH):
        rows: list[tuple[int, bytes, bytes]] = []
        with reader.snapshot():
            for entry_id, blob_id, path, blob_hash in waiting[start : start + _FILES_PER_BATCH]:
                if deadline is not None and time.monotonic() >= deadline:
                    break
                texts = _texts(reader, root, path, blob_id, blob_hash, max_bytes)
                if texts is not None:
                    rows.append((entry_id, *_vectors(reader, path, model_id, texts, embedder)))
                    uncommitted += len(texts)
        writer.add_vectors(model_id, rows)
        on_progress(Progress("embedding", min(start + _FILES_PER_BATCH, len(waiting)), len(waiting)))
        late = deadline is not None and time.monotonic() >= deadline
        if uncommitted >= _COMMIT_CHUNKS or late:
            writer.commit()
            done, uncommitted = done + uncommitted, 0
        if late:
            break
    writer.commit()
    return done + uncommitted


def _texts(
    reader: IndexReader, root: Path, path: str, blob_id: int, blob_hash: bytes, max_bytes: int
) -> list[str] | None:
    read = read_file(root, path, max_bytes)
    if not isinstance(read, tuple) or hashlib.sha256(read[1]).digest() != blob_hash:
        return None
    decoded = decode(read[1])
    if not isinstance(decoded, Decoded):
        return None
    text = decoded.text
    raw = text if text.isascii() else text.encode("utf-8", "surrogatepass")
    file = reader.file_at(path)
    language = file.language if file else "text"
    symbols = reader.symbols(blob_id)
    found = []
    for chunk in reader.chunks(blob_id):
        piece = raw[chunk.start_byte : chunk.end_byte]
        piece = piece if isinstance(piece, str) else piece.decode("utf-8", "surrogatepass")
        as_chunk = Chunk(chunk.start_line, chunk.end_line, chunk.start_byte, chunk.end_byte, chunk.kind)
        piece = chunking.readable(piece, as_chunk, language)
        found.append(embedded_text(path, language, chunk, symbols, piece))
    return found


def embedded_text(path: str, language: str, chunk: ChunkRow, symbols: Sequence[SymbolRow], body: str) -> str:
    """A chunk in its context: last three folders, the stem twice, enclosing names, defined names, first comment."""
    *folders, name = path.split("/")
    stem = name.split(".", 1)[0]
    enclosing: list[str] = list(chunk.headings[-_MAX_ENCLOSING:])
    at = chunk.symbol
    while 0 <= at < len(symbols) and len(enclosing) < _MAX_ENCLOSING:
        enclosing.append(symbols[at].name)
        at = symbols[at].parent
    defined = [symbol.name for symbol in symbols if chunk.start_line <= symbol.start_line <= chunk.end_line]
    comment = first_comment(body, language)
    return "\n".join(
        (" ".join((*folders[-3:], stem, stem)), " ".join((*enclosing, *defined[:_MAX_DEFINED])), comment, body)
    )


def first_comment(body: str, language: str) -> str:
    """The first comment line of a piece of code, '' without one."""
    known = LANGUAGES.get(language)
    markers = (*known.line_comments, *(start for start, _ in known.block_comments), "*", '"""') if known else ()
    if not markers:
        return ""
    for line in body.split("\n", 40)[:40]:
        stripped = line.strip()
        if stripped.startswith(markers) and any(char.isalpha() for char in stripped):
            return stripped
    return ""


def _vectors(
    reader: IndexReader, path: str, model_id: int, texts: Sequence[str], embedder: Embedder
) -> tuple[bytes, bytes]:
    size = embedder.fingerprint.dimensions
    hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES] for text in texts]
    kept: dict[bytes, bytes] = {}
    for old_hashes, data in reader.text_hashes(path, model_id):
        for i in range(len(old_hashes) // HASH_BYTES):
            kept[old_hashes[i * HASH_BYTES : (i + 1) * HASH_BYTES]] = data[i * size : (i + 1) * size]
    missing = [i for i, key in enumerate(hashes) if key not in kept]
    if missing:
        rows: np.ndarray[tuple[int, int], np.dtype[np.int8]] = quantise(embedder.encode([texts[i] for i in missing]))
        for i, row in zip(missing, rows, strict=True):
            kept[hashes[i]] = row.tobytes()
    return b"".join(hashes), b"".join(kept[key] for key in hashes)
