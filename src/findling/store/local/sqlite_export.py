"""The index as a plain SQLite database that any program reads: the documented tables, written on demand.

* ``embeddings``: every passage with its vector as a JSON array, of every model that made some.
* ``doc_embeddings`` and ``vec_documents``: the documents' passages with their text, and their vectors by ``rowid``, of
  the model that made vectors of documents last.

``content_hash`` is the SHA-256 of a passage's own text. A vector is what the index keeps of it (`vector_codes`).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from findling.model import errors, vector_codes
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow, ModelRow
from findling.store.local import checksums, schema
from findling.store.protocols import CHUNK_BITS, KeptIndex

_APPLICATION_ID = int.from_bytes(b"fndl", "big")
"""By this number in its head a database is known as one of ours, which may be replaced."""

_APPLICATION_ID_AT = 68
"""Where it stands in a database file."""

_EMBEDDING = "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_VECTOR = "INSERT INTO vec_documents VALUES (?, ?)"
_DOCUMENT = "INSERT INTO doc_embeddings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, datetime(?, 'unixepoch'))"

TextOf = Callable[[FileRow], bytes | None]
"""A file's text as it was indexed (UTF-8); None where it is another by now."""


class Exported(NamedTuple):
    """How many rows were written. Beside them there were ``repeated`` passages of lines that another has a row for (a
    long line is cut), and documents whose text is another by now than was indexed (``changed``)."""

    embeddings: int
    documents: int
    repeated: int
    changed: tuple[str, ...]


def export(reader: KeptIndex, text_of: TextOf, target: Path) -> Exported:
    """Write the tables into ``target``, which is as it was until they are whole. Within a snapshot.

    Raises `InvalidInput` where something else stands than such an export or nothing can be written, and `StorageFull`.
    """
    if os.path.islink(target) or (os.path.exists(target) and not _is_export(target)):  # noqa: PTH110, PTH114 - of any name
        raise errors.InvalidInput(
            f"{target} exists already and is not an export of findling.", remedy="Name another file, or remove it."
        )
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        found = _write(reader, text_of, part)
        part.replace(target)
    except apsw.FullError as error:
        raise schema.full(target.parent) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, OSError) as error:
        raise errors.InvalidInput(
            f"{target} cannot be written.", remedy="Name a file in a folder that you can write to."
        ) from error
    finally:
        with suppress(OSError):  # of a place where nothing can stand, nothing is left
            part.unlink(missing_ok=True)
    return found


def _is_export(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            head = file.read(_APPLICATION_ID_AT + 4)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[_APPLICATION_ID_AT:] == _APPLICATION_ID.to_bytes(4, "big")


def _write(reader: KeptIndex, text_of: TextOf, part: Path) -> Exported:
    database = apsw.Connection(str(part), vfs=checksums.PLAIN)
    try:
        database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
        database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        database.execute(_sql("export.sql"))
        database.execute("BEGIN")  # without a journal nothing is rolled back: a failed part is removed
        passages = sum(_write_embeddings(database, reader, model) for model in reader.models.every())
        latest = reader.models.latest_of_documents()
        of_documents = [model for model in reader.models.every() if model.model_id == latest]
        changed = [path for model in of_documents for path in _write_documents(database, reader, text_of, model)]
        database.execute("COMMIT")
        database.execute(_sql("export_indexes.sql"))
        embeddings, documents = _count(database, "embeddings"), _count(database, "doc_embeddings")
    finally:
        database.close()
    return Exported(embeddings, documents, passages - embeddings, tuple(changed))


def _sql(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _write_embeddings(database: apsw.Connection, reader: KeptIndex, model: ModelRow) -> int:
    """The number of passages that were written, or gave way to another of the same lines."""
    written = 0
    for passage in embedded_passages(reader, model):
        chunk, vector = passage.chunk, json.dumps(passage.vector)
        lines = (chunk.start_line, chunk.end_line)
        row = (passage.id, passage.file.path, *lines, chunk.hash.hex(), vector, model.name, passage.created_at)
        database.execute(_EMBEDDING, row)
        written += 1
    return written


def _write_documents(database: apsw.Connection, reader: KeptIndex, text_of: TextOf, model: ModelRow) -> list[str]:
    """The paths of documents without rows, for their text is another than was indexed."""
    changed: dict[str, None] = {}
    texts: dict[str, bytes | None] = {}
    for passage in embedded_passages(reader, model):
        file, chunk = passage.file, passage.chunk
        if file.kind != "docs":
            continue
        if file.path not in texts:
            texts = {file.path: text_of(file)}  # passages come file by file
        own = (texts[file.path] or b"")[chunk.start_byte : chunk.end_byte]
        if hashlib.sha256(own).digest() != chunk.hash:
            changed[file.path] = None
            continue
        header = chunk.headings[-1] if chunk.headings else None
        row: tuple[Any, ...] = (passage.id, file.path, passage.ordinal, own.decode("utf-8", "replace"), header)
        row += (chunk.hash.hex(), model.name, model.dimensions, passage.id, passage.created_at)
        database.execute(_DOCUMENT, row)
        database.execute(_VECTOR, (passage.id, json.dumps(passage.vector)))
    return list(changed)


def _count(database: apsw.Connection, table: str) -> int:
    row: Any = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0])


# --- Every vector of the index as a number list, of whatever model, with the place of its chunk

_DIGITS = 6
"""Decimals of a number: more than four bits or float16 hold."""


class Passage(NamedTuple):
    """A chunk with its vector; ``ordinal`` is its place in the file, ``created_at`` counts seconds since 1970."""

    id: int
    file: FileRow
    ordinal: int
    chunk: ChunkRow
    vector: list[float]
    created_at: int


def embedded_passages(reader: KeptIndex, model: ModelRow) -> Iterator[Passage]:
    """The passages that have a vector of a model, by path and place. Within a snapshot."""
    for vector_id, entry_id, created_at, data in reader.models.live_vectors(model.model_id):
        file = reader.files([entry_id])[entry_id]
        rows = vector_codes.decode_floats(data, model.dimensions, model.coding)
        for ordinal, (chunk, row) in enumerate(zip(reader.chunks(file.blob_id), rows, strict=False)):
            vector = [round(float(number), _DIGITS) for number in row]
            yield Passage(vector_id << CHUNK_BITS | ordinal, file, ordinal, chunk, vector, created_at)


def exported(reader: KeptIndex, name: str | None = None) -> Iterator[dict[str, Any]]:
    """One object per passage with a vector: id, path, start_line, end_line, content_hash, embedding, model, created_at.
    ``name``: only of this model, or that with this fingerprint's id. Within a snapshot.
    """
    for model in reader.models.every(name):
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
