"""Writing the index: whole batches, each in one transaction, in an order that a crash cannot break.

A batch first reserves its ids, then commits the text index, then commits the tables. A crash before the last step
leaves documents in the text index whose ids no table knows and none will ever get; readers ignore them. So each
file is old or new, never half.
"""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from findling import tokenizer
from findling.errors import FindlingError, IndexUnavailable
from findling.store import fulltext, layout, manifests, schema, symbol_rows, term_rows
from findling.store.lock import WriterLock
from findling.store.manifests import Standing
from findling.store.trigrams import TrigramIndex
from findling.types import FileState, SkippedFile

_CHUNK_KINDS = {kind: position for position, kind in enumerate(schema.CHUNK_KINDS)}

_FROM_ENTRIES = "entries e CROSS JOIN manifest_files m"
"""From a path's few entries to the manifest; left alone, SQLite may go through all of its files."""

_ID_BLOCK = 8192
"""Ids reserved at once: more than a batch of the indexer uses, so that reserving costs one small write."""

_KEEP_UNREFERENCED = 2000
"""Entries of no manifest that are kept anyway: switching a branch back and forth should cost nothing."""

_COMPARED = 6
"""Manifests that a new one is compared with: each costs some 40 ms for ten thousand files."""

_MOST_PER_PATH, _KEEP_PER_PATH = 8, 2
"""Earlier versions of one file: above the first number all but the second are deleted. More of them would crowd the
file itself out of what the text index proposes."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


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


def _ranges(path: str) -> list[tuple[str, str]]:
    """Where a path and what lies in it stand among sorted paths."""
    name = path.rstrip("/")
    if name in ("", "."):
        return [("", "\U0010ffff")]
    return [(name, name), (f"{name}/", f"{name}/\U0010ffff")]


def _typed(
    method: Callable[Concatenate[IndexWriter, _Arguments], _Result],
) -> Callable[Concatenate[IndexWriter, _Arguments], _Result]:
    """Libraries' failures inside a method leave it as findling's own."""

    @wraps(method)
    def mapped(self: IndexWriter, /, *args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            with schema.rows_of(self._db, self._directory / schema.DATABASE):
                return method(self, *args, **options)
        except OSError as error:
            raise map_os_error(error, self._directory) from error

    return mapped


class IndexWriter:
    """Holds the writer role of one index until `close`. Raises the typed errors only.

    ``large`` announces many files; ``wait_s`` is how long to wait for another writer.
    """

    def __init__(self, directory: Path, *, large: bool = False, wait_s: float = 0.0) -> None:
        self._directory = directory
        self._lock = WriterLock(directory, wait_s=wait_s)
        try:
            self._db = schema.connect(directory / schema.DATABASE)
            self._open_derived()
        except BaseException:
            self._lock.release()
            raise
        self._large = large
        self._text: fulltext.FulltextWriter | None = None
        self._ids: dict[str, list[int]] = {}
        self._open_batch = False
        self._counts: dict[int, Counter[int]] = {}
        self._sums: dict[int, list[int]] = {}
        self._left: set[str] = set()

    @_typed
    def _open_derived(self) -> None:
        identity = self.identity = schema.identity(self._db)
        if not fulltext.usable(self._directory / schema.FULLTEXT, identity):
            if self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is not None:
                raise schema.IndexDamaged(
                    f"The text index at {self._directory / schema.FULLTEXT} is missing or damaged."
                )
            fulltext.create(self._directory / schema.FULLTEXT, identity)
        trigrams = self._directory / schema.TRIGRAMS
        if layout.not_a_folder(trigrams):
            layout.discard(trigrams)
        self._trigrams = TrigramIndex(trigrams, identity)

    # --- reading what is known ------------------------------------------------------------------------------

    @_typed
    def manifest(self, root: str, ref: str = "live") -> int:
        """The id of the manifest of a root and ref, made when it is new."""
        found = self._db.execute("SELECT manifest_id FROM manifests WHERE root=? AND ref=?", (root, ref)).fetchone()
        if found:
            return int(found[0])
        return manifests.create(self._db, root, ref)

    @_typed
    def standing(self, manifest_id: int) -> dict[str, Standing]:
        """path -> what stands there in the manifest."""
        return manifests.standing(self._db, manifest_id)

    @_typed
    def has_others(self, manifest_id: int) -> bool:
        """Whether there is another manifest with files."""
        return bool(manifests.others(self._db, manifest_id, 1))

    @_typed
    def nearest(self, manifest_id: int, git_ids: Mapping[str, bytes]) -> tuple[int, dict[str, Standing]] | None:
        """Another manifest that has at least half of these contents at their paths, the one with most of them."""
        best: tuple[int, dict[str, Standing]] | None = None
        most = len(git_ids) // 2
        for other in manifests.others(self._db, manifest_id, _COMPARED):
            files = manifests.standing(self._db, other)
            same = manifests.overlap(files, git_ids)
            if same > most:
                most, best = same, (other, files)
            if same == len(git_ids):
                break
        return best

    @_typed
    def begin_from(self, manifest_id: int, other: int, files: Mapping[str, Standing], times: Mapping[str, int]) -> None:
        """Let an empty manifest begin as another is, whose ``files`` are given, but only with the paths in ``times``
        (path -> mtime_ns)."""
        self._begin()
        rows = [(file.entry_id, file.size, times[path]) for path, file in files.items() if path in times]
        manifests.begin_from(self._db, manifest_id, other, rows)
        for path, file in files.items():
            if path not in times:
                self._count(manifest_id, file.entry_id, -1)

    @_typed
    def entry_by_git(self, path: str, git_id: bytes) -> int | None:
        """The entry at this path of the content that git calls so, if it was indexed before."""
        row = self._db.execute(
            "SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) WHERE b.git_id=? AND e.path=?",
            (git_id, path),
        ).fetchone()
        return int(row[0]) if row else None

    @_typed
    def note_git_id(self, entry_id: int, git_id: bytes) -> None:
        """Write down what git calls an entry's content."""
        self._begin()
        self._db.execute(
            "UPDATE blobs SET git_id=? WHERE git_id IS NULL AND blob_id=(SELECT blob_id FROM entries WHERE entry_id=?)",
            (git_id, entry_id),
        )

    @_typed
    def note_wanted(self, manifest_id: int, wanted: str) -> None:
        """Write down by which word on files a ref's manifest was made."""
        self._begin()
        self._db.execute("UPDATE manifests SET wanted=? WHERE manifest_id=?", (wanted, manifest_id))

    @_typed
    def forget_manifest(self, manifest_id: int) -> None:
        self._begin()
        manifests.drop(self._db, manifest_id)

    @_typed
    def forget_refs(self, kept: int, *, keep: int) -> int:
        """Drop the manifests of refs but ``keep`` and the newest, ``kept`` in all; the number dropped."""
        gone = manifests.beyond(self._db, kept, keep)
        for manifest_id in gone:
            self.forget_manifest(manifest_id)
        return len(gone)

    @_typed
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

    @_typed
    def known_files(self, manifest_id: int, below: Iterable[str] | None = None) -> dict[str, tuple[int, int]]:
        """path -> (size, mtime_ns) of every file listed in the manifest, skipped ones included.

        ``below``: only these paths and what lies in them; all of them for None.
        """
        known: dict[str, tuple[int, int]] = {}
        for sql, sql_below in (
            (schema.SKIPPED_STATES, schema.SKIPPED_STATES + " AND path>=? AND path<=?"),
            (schema.FILE_STATES, schema.FILE_STATES_BELOW),
        ):
            found: list[Any] = []
            if below is None:
                found += self._db.execute(sql, (manifest_id,))
            else:
                for path in below:
                    for low, high in _ranges(path):
                        found += self._db.execute(sql_below, (manifest_id, low, high))
            for path, size, mtime_ns in found:
                known[path] = (size, mtime_ns)
        return known

    @_typed
    def entry_of(self, path: str, blob_hash: bytes) -> int | None:
        """The entry of this content at this path, if it was indexed before."""
        row = self._db.execute(
            "SELECT e.entry_id FROM blobs b JOIN entries e USING (blob_id) WHERE b.hash=? AND e.path=?",
            (blob_hash, path),
        ).fetchone()
        return int(row[0]) if row else None

    # --- files ----------------------------------------------------------------------------------------------

    @_typed
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

    @_typed
    def link(self, manifest_id: int, file: FileState, entry_id: int) -> None:
        """Let the manifest's path stand for an entry that is already indexed."""
        self._begin()
        old = self._entry_at(manifest_id, file.path)
        self._db.execute(
            "INSERT OR REPLACE INTO manifest_files VALUES (?, ?, ?, ?)",
            (manifest_id, entry_id, file.size, file.mtime_ns),
        )
        self._db.execute("DELETE FROM skipped_files WHERE manifest_id=? AND path=?", (manifest_id, file.path))
        if old == entry_id:
            return
        if old is not None:
            self._take_out(manifest_id, old, file.path)
        self._count(manifest_id, entry_id, 1)

    @_typed
    def replace_unlisted(self, manifest_id: int, skipped: Iterable[SkippedFile]) -> None:
        """Write down the files that listing left out by name, size or type, in place of the last run's."""
        wanted = {file.path: (file.reason, file.detail) for file in skipped}
        known = {
            path: (reason, detail)
            for path, reason, detail in self._db.execute(
                "SELECT path, reason, detail FROM skipped_files WHERE manifest_id=? AND mtime_ns=?",
                (manifest_id, schema.UNLISTED),
            )
        }
        if wanted == known:
            return
        self._begin()
        self._db.executemany(
            "DELETE FROM skipped_files WHERE manifest_id=? AND path=?",
            [(manifest_id, path) for path in known if path not in wanted],
        )
        self._db.executemany(
            f"INSERT OR REPLACE INTO skipped_files VALUES (?, ?, ?, ?, 0, {schema.UNLISTED})",
            [(manifest_id, path, *why) for path, why in wanted.items() if known.get(path) != why],
        )

    @_typed
    def skip(self, manifest_id: int, file: FileState, reason: str, detail: str) -> None:
        """Write down why a listed file is not indexed, so that it is not read again until it changes."""
        self.remove(manifest_id, [file.path])
        self._db.execute(
            "INSERT OR REPLACE INTO skipped_files VALUES (?, ?, ?, ?, ?, ?)",
            (manifest_id, file.path, reason, detail, file.size, file.mtime_ns),
        )

    @_typed
    def remove(self, manifest_id: int, paths: Iterable[str]) -> int:
        """Take paths out of the manifest; the number that were indexed."""
        self._begin()
        gone = 0
        for path in paths:
            entry_id = self._entry_at(manifest_id, path)
            if entry_id is not None:
                self._take_out(manifest_id, entry_id, path)
                gone += 1
            self._db.execute("DELETE FROM skipped_files WHERE manifest_id=? AND path=?", (manifest_id, path))
        return gone

    def _entry_at(self, manifest_id: int, path: str) -> int | None:
        row = self._db.execute(
            f"SELECT m.entry_id FROM {_FROM_ENTRIES} USING (entry_id) WHERE m.manifest_id=? AND e.path=?",
            (manifest_id, path),
        ).fetchone()
        return int(row[0]) if row else None

    def _take_out(self, manifest_id: int, entry_id: int, path: str) -> None:
        self._db.execute("DELETE FROM manifest_files WHERE manifest_id=? AND entry_id=?", (manifest_id, entry_id))
        self._count(manifest_id, entry_id, -1)
        self._left.add(path)

    @_typed
    def state(self, manifest_id: int) -> tuple[bool, int]:
        """Whether everything in the manifest's folder was indexed once, and the files that were left over if not."""
        sql = "SELECT complete, pending FROM manifests WHERE manifest_id=?"
        row: Any = self._db.execute(sql, (manifest_id,)).fetchone()
        return bool(row[0]), int(row[1])

    @_typed
    def file_count(self, manifest_id: int) -> int:
        """Files of a manifest as of the last commit."""
        row: Any = self._db.execute("SELECT files FROM manifests WHERE manifest_id=?", (manifest_id,)).fetchone()
        return int(row[0])

    @_typed
    def finish(self, manifest_id: int, *, complete: bool, pending: int) -> None:
        """Note the state of a manifest after a run; ``pending`` counts files known but not yet indexed."""
        self._begin()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._db.execute(
            "UPDATE manifests SET complete=?, pending=?, synced_at=? WHERE manifest_id=?",
            (int(complete), pending, now, manifest_id),
        )

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

    def _count(self, manifest_id: int, entry_id: int, sign: int) -> None:
        """Add or take a file's terms and lengths to or from its manifest's totals."""
        row = self._db.execute(
            "SELECT t.data, b.chunks, b.body_terms, b.name_terms FROM entries e "
            "JOIN blobs b USING (blob_id) JOIN terms t USING (blob_id) WHERE e.entry_id=?",
            (entry_id,),
        ).fetchone()
        if row is None:
            return
        counts = self._counts.setdefault(manifest_id, Counter())
        keys = term_rows.keys(term_rows.unpack(row[0]))
        if sign > 0:
            counts.update(keys)
        else:
            counts.subtract(keys)
        sums = self._sums.setdefault(manifest_id, [0, 0, 0, 0])
        for i, value in enumerate((1, *row[1:])):
            sums[i] += sign * value

    # --- vectors --------------------------------------------------------------------------------------------

    @_typed
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

    @_typed
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

    @_typed
    def drop_vectors(self, model_id: int, entry_ids: Iterable[int]) -> None:
        """Forget vectors, so that the next embedding run makes them anew."""
        self._begin(ids=False)
        self._db.executemany(
            "DELETE FROM vectors WHERE entry_id=? AND model_id=?", [(entry_id, model_id) for entry_id in entry_ids]
        )

    # --- transactions ---------------------------------------------------------------------------------------

    @_typed
    def commit(self) -> None:
        """Make the batch durable and visible, or raise and keep the last good state."""
        if not self._open_batch:
            return
        try:
            for manifest_id, counts in self._counts.items():
                self._write_counts(manifest_id, counts)
            for manifest_id, sums in self._sums.items():
                self._db.execute(
                    "UPDATE manifests SET files=files+?, chunks=chunks+?, body_terms=body_terms+?, "
                    "name_terms=name_terms+? WHERE manifest_id=?",
                    (*sums, manifest_id),
                )
            self._db.execute("UPDATE meta SET value=value+1 WHERE key='generation'")
            if self._text is not None:
                self._text.commit()
            self._db.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise
        self._open_batch = False
        self._counts.clear()
        self._sums.clear()

    def _write_counts(self, manifest_id: int, counts: Mapping[int, int]) -> None:
        changed = sorted((term, files) for term, files in counts.items() if files)
        own, manifest_id = manifest_id, manifests.counted_under(self._db, manifest_id)
        self._db.executemany(
            "INSERT INTO term_counts VALUES (?, ?, ?) "
            "ON CONFLICT(manifest_id, term) DO UPDATE SET files = files + excluded.files",
            [(manifest_id, term, files) for term, files in changed],
        )
        self._db.executemany(
            "DELETE FROM term_counts WHERE manifest_id=? AND term=? AND files=0",
            [(manifest_id, term) for term, files in changed if files < 0 or manifest_id == own],
        )

    def rollback(self) -> None:
        """Forget the batch."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._open_batch = False
        self._counts.clear()
        self._sums.clear()
        self._ids.clear()
        if self._text is not None:
            self._text.close()
            self._text = None

    @_typed
    def forget_missing_roots(self) -> None:
        """Drop the manifests of folders that are gone: removed work trees, and roots that were moved."""
        rows: list[Any] = self._db.execute("SELECT manifest_id, root FROM manifests").fetchall()
        gone = [manifest_id for manifest_id, root in rows if not Path(root).is_dir()]
        for manifest_id in gone:
            self.forget_manifest(manifest_id)

    @_typed
    def collect_garbage(self) -> int:
        """Delete entries that no manifest has, when there are many or many of one path; the number deleted."""
        doomed = self._unreferenced()
        self._left.clear()
        if not doomed:
            return 0
        self._begin()
        blobs = {self._blob_of(entry) for entry in doomed}
        for table in ("entries", "vectors"):
            self._db.executemany(f"DELETE FROM {table} WHERE entry_id=?", [(entry,) for entry in doomed])
        for blob in blobs:
            if self._db.execute("SELECT 1 FROM entries WHERE blob_id=?", (blob,)).fetchone() is None:
                self._delete_blob(blob)
        self.commit()
        # Only now: documents without an entry are ignored, but an entry without its documents would answer wrongly.
        text = self._fulltext()
        text.delete(doomed)
        text.commit()
        if len(doomed) > _KEEP_UNREFERENCED:
            self._compact_trigrams()
        return len(doomed)

    def _blob_of(self, entry_id: int) -> int:
        row: Any = self._db.execute("SELECT blob_id FROM entries WHERE entry_id=?", (entry_id,)).fetchone()
        return int(row[0])

    def _delete_blob(self, blob_id: int) -> None:
        row: Any = self._db.execute("SELECT data FROM symbols WHERE blob_id=?", (blob_id,)).fetchone()
        if row:
            names = {symbol.squashed for symbol in symbol_rows.unpack(blob_id, row[0])}
            self._db.executemany(
                "DELETE FROM definitions WHERE squashed=? AND blob_id=?", [(name, blob_id) for name in names]
            )
        chunks = (blob_id << schema.CHUNK_BITS, (blob_id + 1 << schema.CHUNK_BITS) - 1)
        self._db.execute("DELETE FROM chunks WHERE chunk_id BETWEEN ? AND ?", chunks)
        for table in ("symbols", "terms", "doc_texts", "blobs"):
            self._db.execute(f"DELETE FROM {table} WHERE blob_id=?", (blob_id,))

    def _unreferenced(self) -> list[int]:
        nowhere = (
            "NOT EXISTS (SELECT 1 FROM manifests r CROSS JOIN manifest_files m USING (manifest_id) "
            "WHERE m.entry_id = e.entry_id)"
        )
        everything = [row[0] for row in self._db.execute(f"SELECT entry_id FROM entries e WHERE {nowhere}")]
        if len(everything) > _KEEP_UNREFERENCED:
            return everything
        doomed: list[int] = []
        for path in self._left if everything else ():
            of_path: list[Any] = self._db.execute(
                f"SELECT entry_id FROM entries e WHERE path=? AND {nowhere} ORDER BY entry_id DESC", (path,)
            ).fetchall()
            if len(of_path) > _MOST_PER_PATH:
                doomed += [row[0] for row in of_path[_KEEP_PER_PATH:]]
        return doomed

    @_typed
    def flush_trigrams(self, min_files: int) -> None:
        """Write what is buffered of the exact-text index if it is at least ``min_files``."""
        self._trigrams.flush(min_files)
        if self._trigrams.wants_compaction:
            self._compact_trigrams()

    def _compact_trigrams(self) -> None:
        live = {row[0] for row in self._db.execute("SELECT blob_id FROM blobs")}
        self._trigrams.compact(live)

    @_typed
    def close(self) -> None:
        """End the writer role; an uncommitted batch is forgotten."""
        try:
            self._return_ids()
            self.rollback()
        finally:
            self._trigrams.close()
            self._db.close()
            self._lock.release()

    @_typed
    def settle(self) -> None:
        """After a large run: merge the text index's segments and hand memory back."""
        if self._text is not None:
            self._text.close(merge=True)
            self._text = None
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _begin(self, *, ids: bool = True) -> None:
        if self._open_batch:
            return
        if ids:
            self._reserve()
        self._db.execute("BEGIN IMMEDIATE")
        self._open_batch = True

    def _reserve(self) -> None:
        """Make sure that the batch's ids are never handed out again, whatever becomes of it."""
        if self._ids and all(end - first >= _ID_BLOCK // 2 for first, end in self._ids.values()):
            return
        self._db.execute("PRAGMA synchronous=FULL")  # a power cut must not bring ids back that the text index knows
        reserved: list[Any] = self._db.execute(
            "UPDATE meta SET value=value+? WHERE key IN ('next_blob', 'next_entry') RETURNING key, value", (_ID_BLOCK,)
        ).fetchall()
        for key, end in reserved:
            self._ids[key.removeprefix("next_")] = [int(end) - _ID_BLOCK, int(end)]
        self._db.execute("PRAGMA synchronous=NORMAL")

    def _return_ids(self) -> None:
        """Hand back what was reserved and never used, so that many small runs don't use the numbers up."""
        if self._open_batch:
            return  # some of them may be in the text index
        for kind, (first, end) in self._ids.items():
            self._db.execute("UPDATE meta SET value=? WHERE key=? AND value=?", (first, f"next_{kind}", end))

    def _take_id(self, kind: str) -> int:
        block = self._ids[kind]
        if block[0] >= block[1]:
            raise RuntimeError(f"a batch used more than {_ID_BLOCK} ids")
        block[0] += 1
        return block[0] - 1

    @property
    def batch_is_full(self) -> bool:
        """Whether the batch must be committed before more files are added."""
        return any(block[1] - block[0] < 64 for block in self._ids.values())

    def _fulltext(self) -> fulltext.FulltextWriter:
        if self._text is None:
            self._text = fulltext.FulltextWriter(
                self._directory / schema.FULLTEXT, schema.identity(self._db), large=self._large
            )
        return self._text


def map_os_error(error: OSError, directory: Path) -> FindlingError:
    """A failed write of a derived file as findling's own error."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return schema.full(directory)
    return IndexUnavailable(f"The index at {directory} cannot be written: {error.strerror}")
