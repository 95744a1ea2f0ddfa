"""Writing the index: a file's content into the batch, its vectors, and the deletion of what nobody needs any more."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from findling.model import secrets, tokenizer
from findling.model.reading import Reading
from findling.model.rows import squashed
from findling.model.types import FileState
from findling.store import parts
from findling.store.local import connections, garbage, schema
from findling.store.local.batches import typed
from findling.store.local.manifest_writer import ManifestWriter
from findling.store.protocols import CHUNK_BITS, FILE_UNIT


class IndexWriter(ManifestWriter):
    """Holds the writer role of one index until `close`. Raises the typed errors only.

    ``large`` announces many files; ``wait_s`` is how long to wait for another writer.
    """

    # --- files and their contents ---------------------------------------------------------------------------

    @typed
    def note_chunking(self, limits: str) -> None:
        """Record the sizes that files are cut by ('' for the defaults) and the version of the rules that mask secrets.

        Raises `schema.CutOtherwise` if the index already has files that were cut by other sizes.
        """
        if schema.chunking(self._db) != limits:
            if self._value("SELECT 1 FROM entries LIMIT 1") is not None:
                raise schema.CutOtherwise(
                    f"Another process indexed {self._directory} with other passage sizes.",
                    remedy="Use one configuration for this folder.",
                )
            written = (limits, secrets.VERSION)
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('chunking', ?), ('masks', ?)", written)

    @typed
    def entry_of(self, path: str, blob_hash: bytes) -> int | None:
        """The entry of this content at this path, if it was indexed before."""
        return self._entry("b.hash=?", path, blob_hash)

    @typed
    def entry_by_git(self, path: str, git_id: bytes) -> int | None:
        """The entry at this path of the content that git calls so, if it was indexed before."""
        return self._entry("b.git_id=?", path, git_id)

    def _entry(self, condition: str, path: str, content: bytes) -> int | None:
        found = self._value(
            "SELECT e.entry_id FROM entries e CROSS JOIN blobs b USING (blob_id) "  # a path has few entries
            f"WHERE e.path=? AND e.docs<{schema.WITHOUT_TEXT} AND {condition}",
            path,
            content,
        )
        return None if found is None else int(found)

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
        self, manifest_id: int, file: FileState, blob_hash: bytes, reading: Reading, git_id: bytes | None = None
    ) -> int:
        """Put a file's content into the batch and into the manifest; its entry. ``git_id``: what git calls it."""
        self._begin()
        blob_id, is_new = self._blob(blob_hash, reading, git_id)
        entry_id = self._take_id("entry")
        docs = int(reading.kind == "docs")
        self._db.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (entry_id, blob_id, docs, file.path))
        base = entry_id << CHUNK_BITS
        chunks = ((base | ordinal, *texts) for ordinal, texts in enumerate(reading.documents))
        path_terms = " ".join(tokenizer.path_terms(file.path))
        self._fulltext().add(entry_id, chunks, base | FILE_UNIT, path_terms, reading.trigrams)
        counted = (reading.terms, len(reading.chunks), reading.body_terms, reading.name_terms)
        self.link(manifest_id, file, entry_id, counted if is_new else None)
        return entry_id

    def _blob(self, blob_hash: bytes, reading: Reading, git_id: bytes | None) -> tuple[int, bool]:
        """The content's id, and whether it was not there before."""
        known = self._value("SELECT blob_id FROM blobs WHERE hash=? AND language=?", blob_hash, reading.language)
        if known is not None:
            if git_id is not None:
                self._db.execute("UPDATE blobs SET git_id=? WHERE git_id IS NULL AND blob_id=?", (git_id, known))
            return int(known), False
        blob_id = self._take_id("blob")
        size = sum(chunk.end_byte - chunk.start_byte for chunk in reading.chunks) if reading.body_terms else 0
        self._db.execute(
            "INSERT INTO blobs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                blob_id,
                blob_hash,
                reading.language,
                reading.kind,
                size,
                reading.lines,
                len(reading.chunks),
                len(reading.symbols),
                reading.encoding,
                int(reading.generated),
                reading.body_terms,
                reading.name_terms,
                reading.problem,
                git_id,
            ),
        )
        self._db.execute(
            "INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)",
            (
                blob_id,
                reading.terms,
                parts.pack(reading.symbols),
                parts.pack_uses(reading.uses),
                parts.pack(reading.chunks),
                reading.text,
            ),
        )
        defined = sorted({squashed(symbol.name) for symbol in reading.symbols})
        self._db.executemany("INSERT INTO definitions VALUES (?, ?)", [(name, blob_id) for name in defined])
        return blob_id, True

    # --- vectors --------------------------------------------------------------------------------------------

    @typed
    def model(
        self, fingerprint: str, name: str, dimensions: int, coding: str, row_bytes: int, *, docs: bool = True
    ) -> int:
        """The id of an embedder's vectors. ``coding`` and ``row_bytes``: how one is kept (`vector_codes`); ``docs``:
        documents are to have some."""
        known = self._value("SELECT model_id FROM models WHERE fingerprint=?", fingerprint)
        if known is not None:
            return int(known)
        self._begin(ids=False)
        self._db.execute(
            "INSERT INTO models(fingerprint, name, dimensions, coding, row_bytes, docs) VALUES (?, ?, ?, ?, ?, ?)",
            (fingerprint, name, dimensions, coding, row_bytes, docs),
        )
        model_id = self._db.last_insert_rowid()
        self.commit()
        return model_id

    @typed
    def add_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        """``rows``: (entry id, hashes of the embedded texts, vectors (`vector_codes`)), both joined in chunk order.

        An entry that was deleted since gets none.
        """
        added = list(rows)
        self._put_vectors(model_id, added)
        self._forget_vectors(schema.begun(model_id), [row[0] for row in added])

    @typed
    def begin_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        """As `add_vectors`, but for entries some of whose texts still lack vectors; an entry's may be in any order."""
        self._put_vectors(schema.begun(model_id), rows)

    def _put_vectors(self, model_id: int, rows: Iterable[tuple[int, bytes, bytes]]) -> None:
        self._begin(ids=False)
        added = list(rows)
        self._forget_vectors(model_id, [row[0] for row in added])
        end = self._value("UPDATE meta SET value=value+? WHERE key='next_vector' RETURNING value", len(added))
        now = int(time.time())
        self._db.executemany(
            "INSERT INTO vectors SELECT ?, entry_id, ?, ?, ?, ? FROM entries WHERE entry_id=?",
            [
                (vector_id, model_id, now, hashes, data, entry_id)
                for vector_id, (entry_id, hashes, data) in enumerate(added, end - len(added))
            ],
        )

    def _forget_vectors(self, model_id: int, entry_ids: list[int]) -> None:
        self._db.execute(
            "DELETE FROM vectors WHERE model_id=? AND entry_id IN (SELECT value FROM json_each(?))",
            (model_id, json.dumps(entry_ids)),
        )

    # --- after a run ----------------------------------------------------------------------------------------

    @typed
    def collect_garbage(self, *, everything: bool = False) -> int:
        """Delete entries that no manifest has, when there are many or many of one path; the number deleted.

        ``everything``: however few they are. Their room is given back to the disk when it is much, of a large index
        only with ``everything``.
        """
        doomed = garbage.unreferenced(self._db, self._left, everything=everything)
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
        left = self._value("SELECT count(*) FROM entries")
        much = len(doomed) > garbage.SHRINK_SHARE * (len(doomed) + left)
        if everything and much:
            self.settle()
        if much and (everything or schema.size(self._db) < garbage.SOON_SHRUNK_BYTES):
            connections.shrink(self._db)
        return len(doomed)
