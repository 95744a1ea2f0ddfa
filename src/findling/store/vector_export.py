"""Every vector of the index as a number list, of whatever model, with the place of its chunk.

What is read within one snapshot is handed out file by file; knows nothing of where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from findling.model import vector_codes
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.store.protocols import CHUNK_BITS
from findling.store.reader import IndexReader

_DIGITS = 6
"""Decimals of a number: more than four bits or float16 hold."""


class Model(NamedTuple):
    """A model that made vectors."""

    model_id: int
    name: str
    dimensions: int


class Passage(NamedTuple):
    """A chunk with its vector; ``ordinal`` is its place in the file, ``created_at`` counts seconds since 1970."""

    id: int
    file: FileRow
    ordinal: int
    chunk: ChunkRow
    vector: list[float]
    created_at: int


def models(reader: IndexReader, name: str | None = None) -> list[Model]:
    """All models, or those with this name or fingerprint's id. Within a snapshot."""
    return [Model(*row) for row in reader.models(name)]


def embedded_passages(reader: IndexReader, model: Model) -> Iterator[Passage]:
    """The passages that have a vector of a model, by path and place. Within a snapshot."""
    coding = reader.coding(model.model_id)
    for vector_id, entry_id, created_at, data in reader.live_vectors(model.model_id):
        file = reader.files([entry_id])[entry_id]
        rows = vector_codes.decode_floats(data, model.dimensions, coding)
        for ordinal, (chunk, row) in enumerate(zip(reader.chunks(file.blob_id), rows, strict=False)):
            vector = [round(float(number), _DIGITS) for number in row]
            yield Passage(vector_id << CHUNK_BITS | ordinal, file, ordinal, chunk, vector, created_at)


def exported(reader: IndexReader, name: str | None = None) -> Iterator[dict[str, Any]]:
    """One object per passage with a vector: id, path, start_line, end_line, content_hash, embedding, model, created_at.
    ``name``: only of this model, or that with this fingerprint's id. Within a snapshot.
    """
    for model in models(reader, name):
        for passage in embedded_passages(reader, model):
            yield {
                "id": passage.id,
                "path": passage.file.path,
                "start_line": passage.chunk.start_line,
                "end_line": passage.chunk.end_line,
                "content_hash": passage.chunk.hash.hex(),
                "embedding": passage.vector,
                "model": model.name,
                "created_at": passage.created_at,
            }
