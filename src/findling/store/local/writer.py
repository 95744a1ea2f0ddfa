"""Writing the index: a file's content into the batch, its vectors, and the deletion of what nobody needs any more."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import apsw

from findling.model import tokenizer
from findling.model.reading import Reading, read_by
from findling.model.rows import squashed
from findling.model.types import FileState
from findling.store import parts
from findling.store.local import connections, schema
from findling.store.local.batches import typed
from findling.store.local.manifest_writer import ManifestWriter
from findling.store.local.schema import WITHOUT_TEXT
from findling.store.protocols import CHUNK_BITS, FILE_UNIT


class IndexWriter(ManifestWriter):
    """Holds the writer role of one index until `close`. Raises the typed errors only.

    ``large`` announces many files; ``wait_s`` is how long to wait for another writer.
    """

    # --- files and their contents ---------------------------------------------------------------------------

    @typed
    def note_chunking(self, limits: str) -> None:
        """Record the sizes that files are cut by ('' for the defaults) and the version of what reads them.

        Raises `schema.CutOtherwise` if the index already has files that were cut by other sizes.
        """
        if schema.chunking(self._db) != limits:
            if self._value("SELECT 1 FROM entries LIMIT 1") is not None:
                raise schema.CutOtherwise(
                    f"Another process indexed {self._directory} with other passage sizes.",
                    remedy="Use one configuration for this folder.",
                )
            written = (limits, read_by())
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('chunking', ?), ('read_by', ?)", written)

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
        doomed = _unreferenced(self._db, self._left, everything=everything)
        self._left.clear()
        if not doomed:
            return 0
        self._begin()
        _delete_entries(self._db, doomed)
        self.commit()
        # Only now: documents without an entry are ignored, but an entry without its documents would answer wrongly.
        text = self._fulltext()
        text.delete(doomed)
        text.commit()
        left = self._value("SELECT count(*) FROM entries")
        much = len(doomed) > SHRINK_SHARE * (len(doomed) + left)
        if everything and much:
            self.settle()
        if much and (everything or schema.size(self._db) < SOON_SHRUNK_BYTES):
            connections.shrink(self._db)
        return len(doomed)


# --- garbage ------------------------------------------------------------------------------------------------------
# Rows that no manifest needs any more: which, and their deletion. Functions of the writer's connection.

KEEP_UNREFERENCED = 2000
"""Entries of no manifest that are kept anyway: switching a branch back and forth should cost nothing."""

KEEP_SHARE = 0.25
"""Of the largest manifest's files: so many at most, since the text index counts their words as well."""

_MOST_PER_PATH, _KEEP_PER_PATH = 2, 1
"""Earlier versions of one file: above the first number all but the second are deleted. The last one's vectors serve
what is the same in the new one; more of them would crowd the file itself out of what the text index proposes."""


_WAITED_FOR = f"""SELECT e.entry_id FROM entries e
CROSS JOIN entries n ON n.path = e.path AND n.docs < {WITHOUT_TEXT}
CROSS JOIN manifests r CROSS JOIN manifest_files m ON m.manifest_id = r.manifest_id AND m.entry_id = n.entry_id
WHERE e.docs >= {WITHOUT_TEXT} AND EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id = e.entry_id)
AND NOT EXISTS (SELECT 1 FROM vectors w WHERE w.entry_id = n.entry_id AND w.model_id > 0)"""
"""Entries that were taken in again when the text index was lost, as long as the new ones have no vectors."""


SHRINK_SHARE = 0.1
"""Of all entries: when so many are deleted at once, it is worth giving their room back to the disk."""

SOON_SHRUNK_BYTES = 20_000_000
"""Tables of less are shrunk in a tenth of a second, which a run that somebody waits for can bear."""


def _unreferenced(db: apsw.Connection, left: Iterable[str], *, everything: bool = False) -> list[int]:
    """The entries to delete: of no manifest, when there are many or many of one of the paths ``left`` lately;
    ``everything``: however few they are."""
    nowhere = (
        "NOT EXISTS (SELECT 1 FROM manifests r CROSS JOIN manifest_files m USING (manifest_id) "
        "WHERE m.entry_id = e.entry_id)"
    )
    # At most so many: looking at each entry takes ten times as long, and most runs leave none behind.
    files: Any = db.execute("SELECT (SELECT count(*) FROM entries), coalesce(max(files), 0) FROM manifests").fetchone()
    most = files[0] - files[1]
    kept = min(KEEP_UNREFERENCED, int(KEEP_SHARE * files[1]))
    lately = set(left)
    doomed: list[int] = []
    if most > kept or everything:
        of_none: list[Any] = db.execute(f"SELECT entry_id, path FROM entries e WHERE {nowhere}").fetchall()
        if everything:
            return [entry_id for entry_id, _ in of_none]
        if len(of_none) > kept:
            waited_for = {row[0] for row in db.execute(_WAITED_FOR)}
            doomed = [entry_id for entry_id, path in of_none if path not in lately and entry_id not in waited_for]
    for path in lately if most else ():
        of_path: list[Any] = db.execute(
            f"SELECT entry_id FROM entries e WHERE path=? AND {nowhere} ORDER BY entry_id DESC", (path,)
        ).fetchall()
        if len(of_path) > _MOST_PER_PATH:
            doomed += [row[0] for row in of_path[_KEEP_PER_PATH:]]
    return doomed


def _delete_entries(db: apsw.Connection, entry_ids: Iterable[int]) -> None:
    """Delete entries, and the contents that are at no path then. Within a transaction."""
    doomed = list(entry_ids)
    blobs = {_blob_of(db, entry) for entry in doomed}
    for table in ("entries", "vectors"):
        db.executemany(f"DELETE FROM {table} WHERE entry_id=?", [(entry,) for entry in doomed])
    for blob in blobs:
        if db.execute("SELECT 1 FROM entries WHERE blob_id=?", (blob,)).fetchone() is None:
            _delete_blob(db, blob)


def _blob_of(db: apsw.Connection, entry_id: int) -> int:
    row: Any = db.execute("SELECT blob_id FROM entries WHERE entry_id=?", (entry_id,)).fetchone()
    return int(row[0])


def _delete_blob(db: apsw.Connection, blob_id: int) -> None:
    row: Any = db.execute("SELECT symbols FROM readings WHERE blob_id=?", (blob_id,)).fetchone()
    if row:
        names = {squashed(symbol.name) for symbol in parts.symbols(row[0])}
        db.executemany("DELETE FROM definitions WHERE squashed=? AND blob_id=?", [(name, blob_id) for name in names])
    for table in ("readings", "blobs"):
        db.execute(f"DELETE FROM {table} WHERE blob_id=?", (blob_id,))
