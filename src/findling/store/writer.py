"""Writing the index: a file's content into the batch, its vectors, and the deletion of what nobody needs any more."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Protocol

from findling import tokenizer
from findling.store import garbage, schema, text_codes
from findling.store.batches import typed
from findling.store.manifest_writer import ManifestWriter
from findling.store.section_rows import Section
from findling.types import FileState

_SHORT_HASH = f"{schema.SHORT_HASH} = substr(?1, 1, 8)"
_SHORT_GIT_ID = f"{schema.SHORT_GIT_ID} = substr(?1, 1, 8)"
"""What the indexes on them look up; the whole value is compared besides."""


_LARGE_BYTES = 8_000_000
"""From this much text on large pages take less room; half as much makes no difference."""


class PreparedFile(Protocol):
    """What the indexer hands over for one content (`findling.ingest.prepared.Prepared`)."""

    language: str
    kind: str
    lines: int
    encoding: str
    generated: bool
    problem: str
    symbols: bytes
    symbol_count: int
    defines: list[str]
    chunk_count: int
    chunk_bytes: int
    chunk_lines: bytes
    chunk_places: bytes
    chunk_hashes: bytes
    sections: list[Section]
    texts: bytes
    documents: list[tuple[str, str]]
    terms: bytes
    body_terms: int
    name_terms: int
    trigrams: bytes


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
    def expect(self, size: int) -> None:
        """Prepare an index without files for as many bytes of text as are coming."""
        if size >= _LARGE_BYTES and self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None:
            schema.enlarge_pages(self._db)

    @typed
    def entry_of(self, path: str, blob_hash: bytes) -> int | None:
        """The entry of this content at this path, if it was indexed before."""
        row = self._db.execute(
            f"SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) "
            f"WHERE {_SHORT_HASH} AND b.hash=?1 AND e.path=?2",
            (blob_hash, path),
        ).fetchone()
        return int(row[0]) if row else None

    @typed
    def entry_by_git(self, path: str, git_id: bytes) -> int | None:
        """The entry at this path of the content that git calls so, if it was indexed before."""
        row = self._db.execute(
            f"SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) "
            f"WHERE {_SHORT_GIT_ID} AND b.git_id=?1 AND e.path=?2",
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
            f"SELECT blob_id FROM blobs b WHERE {_SHORT_HASH} AND hash=?1 AND language=?2",
            (blob_hash, prepared.language),
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
                prepared.body_terms and prepared.chunk_bytes,
                prepared.lines,
                prepared.chunk_count,
                prepared.symbol_count,
                prepared.encoding,
                int(prepared.generated),
                prepared.body_terms,
                prepared.name_terms,
                prepared.problem,
                git_id,
            ),
        )
        self._db.execute(
            "INSERT INTO chunks VALUES (?, ?, ?, ?)",
            (blob_id, prepared.chunk_lines, prepared.chunk_places, prepared.chunk_hashes),
        )
        if prepared.sections:
            self._add_sections(blob_id, prepared.sections, prepared.texts)
        if prepared.symbols:
            self._db.execute("INSERT INTO symbols VALUES (?, ?)", (blob_id, prepared.symbols))
            self._db.executemany(
                "INSERT INTO definitions VALUES (?, ?)", [(name, blob_id) for name in prepared.defines]
            )
        self._db.execute("INSERT INTO terms VALUES (?, ?)", (blob_id, prepared.terms))
        self._trigrams.add(blob_id, prepared.trigrams)
        return blob_id

    def _add_sections(self, blob_id: int, sections: Iterable[Section], texts: bytes) -> None:
        if self._db.execute("SELECT 1 FROM text_codes LIMIT 1").fetchone() is None:
            self._db.executemany("INSERT INTO text_codes VALUES (?, ?)", text_codes.rows())
        base = blob_id << schema.CHUNK_BITS
        self._db.executemany(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(base | ordinal, *section) for ordinal, section in enumerate(sections)],
        )
        self._db.execute("INSERT INTO doc_texts VALUES (?, ?)", (blob_id, texts))

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
        added = list(rows)
        self._put_vectors(model_id, added)
        self._db.executemany(
            "DELETE FROM vectors WHERE entry_id=? AND model_id=?", [(row[0], schema.begun(model_id)) for row in added]
        )

    @typed
    def begin_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        """As `add_vectors`, of entries for some of whose texts vectors are still to be made; in any order."""
        self._put_vectors(schema.begun(model_id), rows)

    def _put_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        self._begin(ids=False)
        now = int(time.time())
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors(entry_id, model_id, created_at, text_hashes, data) "
            "SELECT entry_id, ?, ?, ?, ? FROM entries WHERE entry_id=?",
            [(model_id, now, hashes, data, entry_id) for entry_id, hashes, data in rows],
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
