"""Every vector of the index as a number list, of whatever model: the shape of the view ``embeddings`` (`views`).

What is read within one snapshot is handed out file by file; knows nothing of where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from findling.store import vector_codes
from findling.store.reader import IndexReader
from findling.store.schema import CHUNK_BITS

_DIGITS = 6
"""Decimals of a number: more than four bits or float16 hold."""


def exported(reader: IndexReader, model: str | None = None) -> Iterator[dict[str, Any]]:
    """One object per chunk with a vector, by path and place: id, path, start_line, end_line, content_hash, embedding,
    model, created_at. ``model``: only of this model, by its name or its fingerprint's id. Within a snapshot.
    """
    for model_id, name, dimensions in reader.models(model):
        coding = reader.coding(model_id)
        for vector_id, path, blob_id, created_at, data in reader.live_vectors(model_id):
            rows = vector_codes.decode_floats(data, dimensions, coding)
            for place, (chunk, row) in enumerate(zip(reader.chunk_places(blob_id), rows, strict=False)):
                start_line, end_line, content_hash = chunk
                yield {
                    "id": vector_id << CHUNK_BITS | place,
                    "path": path,
                    "start_line": start_line,
                    "end_line": end_line,
                    "content_hash": content_hash.hex(),
                    "embedding": [round(float(number), _DIGITS) for number in row],
                    "model": name,
                    "created_at": created_at,
                }
