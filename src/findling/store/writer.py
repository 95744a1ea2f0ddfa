"""Writing the index: a file's content into the batch, its vectors, and the deletion of what nobody needs any more."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Protocol

from findling import tokenizer
from findling.store import garbage, schema
from findling.store.batches import typed
from findling.store.manifest_writer import ManifestWriter
from findling.types import FileState

_CHUNK_KINDS = {kind: position for position, kind in enumerate(schema.CHUNK_KINDS)}


class PreparedFile(Protocol):
    """What the indexer hands over for one content (`findling.ingest.prepare.Prepared`)."""

    language: str
    kind: str
    lines: int
    encoding: str
    generated: bool
    problem: str
    symbols: bytes
    symbol_count: int
    defines: list[str]
    chunks: list[tuple[int, int, int, int, str, int, bytes, tuple[str, ...]]]
    documents: list[tuple[str, str]]
    terms: bytes
    body_terms: int
    name_terms: int
    trigrams: bytes
    text: bytes


class IndexWriter(ManifestWriter):
    """Holds the writer role of one index until `close`. Raises the typed errors only.

    ``large`` announces many files; ``wait_s`` is how long to wait for another writer.
    """

    # --- files and their contents ---------------------------------------------------------------------------

    @typed
    def note_chunking(self, limits: str) -> None:
        """Write down by which sizes files are cut here, '' for the default ones.

        Raises `schema.CutOtherwise` where there are files that were cut by others.
        """
        if schema.chunking(self._db) != limits:
            if self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is not None:
                raise schema.CutOtherwise(
                    f"Another process has cut the files of the index at {self._directory} by other sizes.",
                    remedy="Use one configuration for this folder.",
                )
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('chunking', ?)", (limits,))

    @typed
    def entry_of(self, path: str, blob_hash: bytes) -> int | None:
        """The entry of this content at this path, if it was indexed before."""
        row = self._db.execute(
            "SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) WHERE b.hash=? AND e.path=?",
            (blob_hash, path),
        ).fetchone()
        return int(row[0]) if row else None

    @typed
    def entry_by_git(self, path: str, git_id: bytes) -> int | None:
        """The entry at this path of the content that git calls so, if it was indexed before."""
        row = self._db.execute(
            "SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) WHERE b.git_id=? AND e.path=?",
            (git_id, path),
        ).fetchone()
        return int(row[0]) if row else None

    @typed
    def note_git_id(self, entry_id: int, git_id: bytes) -> None:
        """Write down what git calls an entry's content."""
        self._begin()
        self._db.execute(
            "UPDATE blobs SET git_id=? WHERE git_id IS NULL AND blob_id=(SELECT blob_id FROM entries WHERE entry_id=?)",
            (git_id, entry_id),
        )

    @typed
    def add(
        self,
        manifest_id: int,
        file: FileState,
        blob_hash: bytes,
        prepared: PreparedFile,
        git_id: bytes | None = None,
    ) -> None:
        """Put a file's content into the batch and into the manifest. ``git_id``: what git calls the content."""
        self._begin()
        blob_id = self._blob(blob_hash, prepared, git_id)
        entry_id = self._take_id("entry")
        docs = int(prepared.kind == "docs")
        self._db.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (entry_id, blob_id, docs, file.path))
        text = self._fulltext()
        base = entry_id << schema.CHUNK_BITS
        for ordinal, (body, context) in enumerate(prepared.documents):
            text.add_chunk(entry_id, base | ordinal, body, context)
        text.add_file(entry_id, base | schema.FILE_UNIT, " ".join(tokenizer.path_terms(file.path)))
        self.link(manifest_id, file, entry_id)

    def _blob(self, blob_hash: bytes, prepared: PreparedFile, git_id: bytes | None) -> int:
        row = self._db.execute(
            "SELECT blob_id FROM blobs WHERE hash=? AND language=?", (blob_hash, prepared.language)
        ).fetchone()
        if row:
            if git_id is not None:
                self._db.execute("UPDATE blobs SET git_id=? WHERE git_id IS NULL AND blob_id=?", (git_id, row[0]))
            return int(row[0])
        blob_id = self._take_id("blob")
        self._db.execute(
            "INSERT INTO blobs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                blob_id,
                blob_hash,
                prepared.language,
                prepared.kind,
                prepared.body_terms and sum(chunk[3] - chunk[2] for chunk in prepared.chunks),
                prepared.lines,
                len(prepared.chunks),
                prepared.symbol_count,
                prepared.encoding,
                int(prepared.generated),
                prepared.body_terms,
                prepared.name_terms,
                prepared.problem,
                git_id,
            ),
        )
        base = blob_id << schema.CHUNK_BITS
        self._db.executemany(
            "INSERT INTO chunks VALUES (?,?,?,?,?,?,?,?,?)",
            [
                (base | ordinal, *chunk[:4], _CHUNK_KINDS[chunk[4]], *chunk[5:7], "\n".join(chunk[7]) or None)
                for ordinal, chunk in enumerate(prepared.chunks)
            ],
        )
        if prepared.symbols:
            self._db.execute("INSERT INTO symbols VALUES (?, ?)", (blob_id, prepared.symbols))
            self._db.executemany(
                "INSERT INTO definitions VALUES (?, ?)", [(name, blob_id) for name in prepared.defines]
            )
        self._db.execute("INSERT INTO terms VALUES (?, ?)", (blob_id, prepared.terms))
        if prepared.text:
            self._db.execute("INSERT INTO doc_texts VALUES (?, ?)", (blob_id, prepared.text))
        self._trigrams.add(blob_id, prepared.trigrams)
        return blob_id

    # --- vectors --------------------------------------------------------------------------------------------

    @typed
    def model(
        self,
        fingerprint: str,
        name: str,
        dimensions: int,
        coding: str,
        row_bytes: int,
        levels: Iterable[tuple[str, float]],
        docs: bool = True,
    ) -> int:
        """The id of an embedder's vectors. ``coding`` and ``row_bytes``: how one is kept (`vector_codes`); ``levels``:
        what each hexadecimal digit of it stands for, where that can be said; ``docs``: documents are to have some."""
        row = self._db.execute("SELECT model_id FROM models WHERE fingerprint=?", (fingerprint,)).fetchone()
        if row:
            return int(row[0])
        self._begin(ids=False)
        self._db.execute(
            "INSERT INTO models(fingerprint, name, dimensions, coding, row_bytes, docs) VALUES (?, ?, ?, ?, ?, ?)",
            (fingerprint, name, dimensions, coding, row_bytes, docs),
        )
        model_id = self._db.last_insert_rowid()
        self._db.executemany(
            "INSERT INTO vector_levels VALUES (?, ?, ?)", [(model_id, digit, value) for digit, value in levels]
        )
        self.commit()
        return model_id

    @typed
    def add_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        """``rows``: (entry id, hashes of the embedded texts, vectors (`vector_codes`)), both joined in chunk order.

        An entry that was deleted since gets none.
        """
        self._begin(ids=False)
        now = int(time.time())
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors(entry_id, model_id, created_at, text_hashes, data) "
            "SELECT entry_id, ?, ?, ?, ? FROM entries WHERE entry_id=?",
            [(model_id, now, hashes, data, entry_id) for entry_id, hashes, data in rows],
        )

    @typed
    def drop_vectors(self, model_id: int, entry_ids: Iterable[int]) -> None:
        """Forget vectors, so that the next embedding run makes them anew."""
        self._begin(ids=False)
        self._db.executemany(
            "DELETE FROM vectors WHERE entry_id=? AND model_id=?", [(entry_id, model_id) for entry_id in entry_ids]
        )

    # --- after a run ----------------------------------------------------------------------------------------

    @typed
    def collect_garbage(self) -> int:
        """Delete entries that no manifest has, when there are many or many of one path; the number deleted."""
        doomed = garbage.unreferenced(self._db, self._left)
        self._left.clear()
        if not doomed:
            return 0
        self._begin()
        garbage.delete(self._db, doomed)
        self.commit()
        # Only now: documents without an entry are ignored, but an entry without its documents would answer wrongly.
        text = self._fulltext()
        text.delete(doomed)
        text.commit()
        if len(doomed) > garbage.KEEP_UNREFERENCED:
            self._compact_trigrams()
        return len(doomed)

    @typed
    def flush_trigrams(self, min_files: int) -> None:
        """Write what is buffered of the exact-text index if it is at least ``min_files``."""
        self._trigrams.flush(min_files)
        if self._trigrams.wants_compaction:
            self._compact_trigrams()

    def _compact_trigrams(self) -> None:
        live = {row[0] for row in self._db.execute("SELECT blob_id FROM blobs")}
        self._trigrams.compact(live)
