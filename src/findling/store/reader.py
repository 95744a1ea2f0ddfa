"""Reading the index: rows of files, chunks, symbols, terms and vectors, as of one committed generation.

What is read is remembered until another generation is committed, within a bound, so that a process that answers
many queries touches the disk only for what is new to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import apsw

from findling.store import fulltext, schema, symbol_rows, term_rows
from findling.store.schema import CONVERTED, DATABASE, FLOAT16, FOUR_BITS, FULLTEXT, HASH_BYTES, TRIGRAMS, Coding
from findling.store.symbol_rows import SymbolRow as SymbolRow

if TYPE_CHECKING:
    from findling.store.trigrams import TrigramIndex

_REMEMBERED = 6_000
"""Files whose rows are kept between queries: about 10 kB each with vectors."""

_Row = TypeVar("_Row")


class FileRow(NamedTuple):
    """A file of the manifest. The term counts are what BM25 normalises by. ``converted``: its text is not its bytes'
    (a PDF), and is kept here (`doc_text`)."""

    entry_id: int
    blob_id: int
    path: str
    language: str
    kind: str
    size: int
    lines: int
    generated: bool
    body_terms: int
    name_terms: int
    converted: bool = False


class ChunkRow(NamedTuple):
    """A chunk of a blob; ``headings`` only in prose."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int
    headings: tuple[str, ...]


class ManifestRow(NamedTuple):
    """A manifest's state and totals; ``pending`` files are listed but not yet indexed."""

    manifest_id: int
    complete: bool
    pending: int
    synced_at: str
    files: int
    chunks: int
    body_terms: int
    name_terms: int
    counts: int
    wanted: str


class IndexReader:
    """Reads one root's manifest in one store. Not to be shared between threads."""

    def __init__(self, directory: Path, root: str, ref: str = "live") -> None:
        self._directory = directory
        self._root, self._ref = root, ref
        self._db = schema.connect(directory / DATABASE)
        self.identity = schema.identity(self._db)
        self._inode = _inode(directory / DATABASE)
        self._text: fulltext.FulltextReader | None = None
        self._trigrams: TrigramIndex | None = None
        self.generation = -1
        self._manifest: ManifestRow | None = None
        self._files: dict[int, FileRow | None] = {}
        self._terms: dict[int, Sequence[int]] = {}
        self._symbols: dict[int, list[SymbolRow]] = {}
        self._chunks: dict[int, list[ChunkRow]] = {}
        self._vectors: dict[int, bytes] = {}
        self._vectors_of = -1
        self._counts: dict[int, int] = {}
        self._definers: dict[str, int] = {}
        self._listing: list[FileRow] | None = None
        self._uncovered: list[int] | None = None
        self._uncovered_by: frozenset[int] | None = None
        self._only_ours: bool | None = None
        self._crowding: float | None = None
        self._unlisted: frozenset[tuple[str, str]] | None = None
        self._embedded: dict[int, int] = {}
        self.derived: dict[tuple[str, int], frozenset[int]] = {}
        """What others work out from a content's rows and want remembered as long as these."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one generation."""
        try:
            with schema.rows_of(self._db, self._directory / DATABASE):
                self._db.execute("BEGIN")
                generation = int(self._value("SELECT value FROM meta WHERE key='generation'") or 0)
                if generation != self.generation:
                    self._forget()
                    self.generation = generation
                elif len(self._files) > _REMEMBERED:
                    self._forget()
                yield
        finally:
            with suppress(apsw.Error):  # nothing was written, and what went wrong was said above
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    def _forget(self) -> None:
        self._manifest = None
        for cache in (
            self._files,
            self._terms,
            self._symbols,
            self._chunks,
            self._vectors,
            self._counts,
            self._definers,
            self.derived,
        ):
            cache.clear()
        self._only_ours = self._unlisted = self._crowding = None
        self._listing = self._uncovered = None
        self._embedded.clear()
        if self._text is not None:
            self._text.reload()
        if self._trigrams is not None:
            self._trigrams.refresh()

    @property
    def chunking(self) -> str | None:
        """The sizes that the files were cut by, '' for the default ones; None while there are none.

        Within a snapshot.
        """
        filled = self._value("SELECT 1 FROM entries LIMIT 1") is not None
        return schema.chunking(self._db) if filled else None

    def latest_fingerprint(self) -> str | None:
        """The id of the embedder that made the newest vectors; None when there are none."""
        with schema.rows_of(self._db, self._directory / DATABASE):
            latest = self.latest_model()
            found = self.model(latest) if latest is not None else None
            return found[0] if found else None

    def close(self) -> None:
        self._db.close()
        if self._trigrams is not None:
            self._trigrams.close()
        self._trigrams = self._text = None

    @property
    def replaced(self) -> bool:
        """Whether another file stands where this one was opened: the store was deleted, or built anew."""
        return _inode(self._directory / DATABASE) != self._inode

    # --- the manifest ---------------------------------------------------------------------------------------

    @property
    def manifest(self) -> ManifestRow | None:
        """None when this root was never indexed."""
        if self._manifest is None:
            row = self._db.execute(
                "SELECT manifest_id, complete, pending, synced_at, files, chunks, "
                "body_terms, name_terms, counts, wanted FROM manifests WHERE root=? AND ref=?",
                (self._root, self._ref),
            ).fetchone()
            self._manifest = ManifestRow(row[0], bool(row[1]), *row[2:]) if row else None
        return self._manifest

    @property
    def _manifest_id(self) -> int:
        manifest = self.manifest
        return manifest.manifest_id if manifest else -1

    def known_files(self) -> dict[str, tuple[int, int]]:
        """path -> (size, mtime_ns) of every file listed, those skipped for their content included."""
        known: dict[str, tuple[int, int]] = {}
        for sql in (schema.SKIPPED_STATES, schema.FILE_STATES):
            for path, size, mtime_ns in self._db.execute(sql, (self._manifest_id,)):
                known[path] = (size, mtime_ns)
        return known

    def state_of(self, path: str) -> tuple[int, int] | None:
        """(size, mtime_ns) that the index knows of a path."""
        row = self._db.execute(
            "SELECT m.size, m.mtime_ns FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            "WHERE m.manifest_id=? AND e.path=?",
            (self._manifest_id, path),
        ).fetchone()
        return (row[0], row[1]) if row else None

    def skipped(self) -> list[tuple[str, str, str]]:
        """(path, reason, detail) of every file that was left out."""
        return list(
            self._db.execute(
                "SELECT path, reason, detail FROM skipped_files WHERE manifest_id=? ORDER BY path", (self._manifest_id,)
            )
        )

    def unlisted(self) -> frozenset[tuple[str, str]]:
        """(path, reason) of the files that listing leaves out."""
        if self._unlisted is None:
            sql = "SELECT path, reason FROM skipped_files WHERE manifest_id=? AND mtime_ns=?"
            self._unlisted = frozenset(self._db.execute(sql, (self._manifest_id, schema.UNLISTED)))
        return self._unlisted

    def skipped_counts(self) -> dict[str, int]:
        return dict(
            self._db.execute(
                "SELECT reason, count(*) FROM skipped_files WHERE manifest_id=? GROUP BY reason ORDER BY 2 DESC, 1",
                (self._manifest_id,),
            )
        )

    def totals(self) -> dict[str, int]:
        """Sums over the manifest for a status report: symbols and bytes."""
        manifest = self._manifest_id
        symbols = (
            "SELECT total(b.symbols) FROM manifest_files m JOIN entries e USING (entry_id) "
            "JOIN blobs b USING (blob_id) WHERE m.manifest_id=?"
        )
        return {
            "symbols": int(self._value(symbols, manifest)),
            "bytes": int(self._value("SELECT total(size) FROM manifest_files WHERE manifest_id=?", manifest)),
        }

    def embedded_chunks(self, model_id: int | None) -> int:
        """Chunks of the manifest that have a vector of the model; all, when none is missing that should have one."""
        if model_id is None or self.manifest is None:
            return 0
        if model_id not in self._embedded:
            self._embedded[model_id] = self._count_embedded(model_id, self.manifest)
        return self._embedded[model_id]

    def _count_embedded(self, model_id: int, manifest: ManifestRow) -> int:
        everything = self._value("SELECT count(*) FROM vectors WHERE model_id=?", model_id)
        all_kinds = self._value("SELECT docs FROM models WHERE model_id=?", model_id)
        if (everything >= manifest.files or not all_kinds) and not self.count_unembedded(model_id):
            return manifest.chunks
        return int(
            self._value(
                "SELECT total(length(v.data) / d.row_bytes) FROM manifest_files m JOIN vectors v USING (entry_id) "
                "JOIN models d USING (model_id) WHERE m.manifest_id=? AND v.model_id=?",
                self._manifest_id,
                model_id,
            )
        )

    def unembedded(
        self, model_id: int, paths: Sequence[str] | None = None, *, failed_too: bool = False, docs: bool = True
    ) -> list[tuple[int, int, str, bytes]]:
        """Files that lack vectors, newest first: (entry id, blob id, path, SHA-256 of the content).

        ``paths``: only among these. ``failed_too``: also those some of whose texts could not be embedded.
        ``docs``: documents too.
        """
        whole = f"AND NOT instr(v.text_hashes, zeroblob({HASH_BYTES:d}))" if failed_too else ""
        sql = (
            "SELECT m.entry_id, e.blob_id, e.path, b.hash FROM manifest_files m "
            "JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) WHERE m.manifest_id=? AND NOT EXISTS "
            f"(SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=? {whole}) "
            f"{'' if docs else 'AND NOT e.docs '}"
        )
        if paths is None:
            order = "ORDER BY m.mtime_ns DESC, e.path"
            return list(self._db.execute(sql + order, (self._manifest_id, model_id)))
        found: list[Any] = []
        for path in paths:
            found += self._db.execute(sql + "AND e.path=?", (self._manifest_id, model_id, path))
        return found

    def count_unembedded(self, model_id: int) -> int:
        """Number of files that lack vectors which they should have."""
        every = "SELECT count(*) FROM manifest_files m "
        if not self._value("SELECT docs FROM models WHERE model_id=?", model_id):
            every += "JOIN entries e ON e.entry_id=m.entry_id AND NOT e.docs "
        sql = (
            f"{every} WHERE m.manifest_id=? AND NOT EXISTS "
            "(SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=?)"
        )
        return int(self._value(sql, self._manifest_id, model_id))

    def languages(self) -> dict[str, int]:
        """Files per language."""
        return dict(
            self._db.execute(
                "SELECT b.language, count(*) FROM manifest_files m JOIN entries e USING (entry_id) "
                "JOIN blobs b USING (blob_id) WHERE m.manifest_id=? GROUP BY 1 ORDER BY 2 DESC, 1",
                (self._manifest_id,),
            )
        )

    # --- files ----------------------------------------------------------------------------------------------

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        """Those of the entries that belong to the manifest."""
        found = self._remember(self._files, entry_ids, self._read_files)
        return {entry_id: row for entry_id, row in found.items() if row is not None}

    def _read_files(self, ids: str) -> Iterator[tuple[int, FileRow | None]]:
        for row in self._db.execute(
            _FILE_SQL + f"WHERE m.manifest_id=? AND m.entry_id IN ({ids})", (self._manifest_id,)
        ):
            yield row[0], _file(row)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        """Every file of the manifest in path order, those under a folder only when ``prefix`` names one."""
        if prefix:
            sql = _FILE_FROM_ENTRY_SQL + "WHERE m.manifest_id=? AND e.path >= ? AND e.path < ? ORDER BY e.path"
            rows = self._db.execute(sql, (self._manifest_id, f"{prefix}/", f"{prefix}0"))
        else:
            rows = self._db.execute(_FILE_SQL + "WHERE m.manifest_id=? ORDER BY e.path", (self._manifest_id,))
        for row in rows:
            yield _file(row)

    def file_at(self, path: str) -> FileRow | None:
        row = self._db.execute(
            _FILE_FROM_ENTRY_SQL + "WHERE m.manifest_id=? AND e.path=?", (self._manifest_id, path)
        ).fetchone()
        return _file(row) if row else None

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        """The manifest's files with these contents, in path order."""
        found: list[FileRow] = []
        for ids in _batches(blob_ids):
            sql = _FILE_FROM_ENTRY_SQL + f"WHERE e.blob_id IN ({ids}) AND m.manifest_id=?"
            found += [_file(row) for row in self._db.execute(sql, (self._manifest_id,))]
        found.sort(key=lambda row: row.path)
        return found

    def listing(self) -> list[FileRow]:
        """Every file of the manifest in path order, remembered: for questions that may touch any of them."""
        if self._listing is None:
            self._listing = list(self.all_files())
        return self._listing

    def uncovered_blobs(self) -> list[int]:
        """Contents that the exact-text index says nothing about, ascending."""
        if self._uncovered is None or self._uncovered_by is not self.trigrams.covered:
            everything = [row[0] for row in self._db.execute("SELECT blob_id FROM blobs")]
            self._uncovered = self.trigrams.uncovered(everything)
            self._uncovered_by = self.trigrams.covered
        return self._uncovered

    # --- rows of a content ----------------------------------------------------------------------------------

    def terms(self, blob_ids: Iterable[int]) -> dict[int, Sequence[int]]:
        """Term rows (`term_rows`) by blob."""
        return self._remember(
            self._terms,
            blob_ids,
            lambda ids: (
                (blob_id, term_rows.unpack(data))
                for blob_id, data in self._db.execute(f"SELECT blob_id, data FROM terms WHERE blob_id IN ({ids})")
            ),
        )

    def doc_text(self, blob_id: int) -> bytes | None:
        """The text of a document, UTF-8; None of what is no document."""
        found = self._value("SELECT text FROM doc_texts WHERE blob_id=?", blob_id)
        return found if isinstance(found, bytes) else None

    def chunks(self, blob_id: int) -> list[ChunkRow]:
        """A content's chunks in order."""
        known = self._chunks.get(blob_id)
        if known is None:
            low, high = blob_id << schema.CHUNK_BITS, (blob_id + 1 << schema.CHUNK_BITS) - 1
            known = self._chunks[blob_id] = [
                _chunk(row)
                for row in self._db.execute(
                    "SELECT start_line, end_line, start_byte, end_byte, kind, symbol, breadcrumb FROM chunks "
                    "WHERE chunk_id BETWEEN ? AND ? ORDER BY chunk_id",
                    (low, high),
                )
            ]
        return known

    def symbols(self, blob_id: int) -> list[SymbolRow]:
        """A content's definitions in order."""
        known = self._symbols.get(blob_id)
        if known is None:
            data = self._value("SELECT data FROM symbols WHERE blob_id=?", blob_id)
            known = self._symbols[blob_id] = symbol_rows.unpack(blob_id, data or b"")
        return known

    def named(self, squashed: Iterable[str], limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents; at most about ``limit``."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        return self._defined(f"d.squashed IN ({marks})", wanted, set(wanted).__contains__, limit) if wanted else []

    def named_like(self, squashed: str, *, prefix: bool, limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name begins with (``prefix``) or contains a text; at most about ``limit``."""
        if prefix:
            bounds = (squashed, squashed + "\U0010ffff")
            return self._defined(
                "d.squashed >= ? AND d.squashed < ?", bounds, lambda name: name.startswith(squashed), limit
            )
        return self._defined("instr(d.squashed, ?) > 0", (squashed,), lambda name: squashed in name, limit)

    def _defined(
        self, condition: str, values: Sequence[str], fits: Callable[[str], bool], limit: int
    ) -> list[SymbolRow]:
        sql = f"SELECT DISTINCT d.blob_id FROM definitions d WHERE {condition} {self._ours} LIMIT {limit:d}"
        found: list[SymbolRow] = []
        blobs: list[Any] = self._db.execute(sql, values).fetchall()
        for (blob_id,) in blobs:
            found += [symbol for symbol in self.symbols(blob_id) if fits(symbol.squashed)]
            if len(found) >= limit:
                break
        return found

    @property
    def crowding(self) -> float:
        """Entries of the store for each of the manifest's: 1 where it holds nothing else. Proposals come from all."""
        if self._crowding is None:
            files = self.manifest.files if self.manifest else 0
            self._crowding = self._value("SELECT count(*) FROM entries") / files if files else 1.0
        return self._crowding

    @property
    def _ours(self) -> str:
        """The condition that a name ``d`` belongs to the manifest; nothing where the store holds nothing else."""
        if self._only_ours is None:
            self._only_ours = self.crowding == 1
        if self._only_ours:
            return ""
        return (
            # CROSS: from the content's few entries; left alone, SQLite goes through the whole manifest each time.
            "AND EXISTS (SELECT 1 FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            f"WHERE e.blob_id = d.blob_id AND m.manifest_id = {self._manifest_id:d})"
        )

    def definition_counts(self, names: Iterable[str], most: int) -> dict[str, int]:
        """Number of the manifest's contents that define a name, by squashed name; counted up to ``most``."""
        sql = f"SELECT count(*) FROM (SELECT 1 FROM definitions d WHERE d.squashed=? {self._ours} LIMIT {most:d})"
        found: dict[str, int] = {}
        for name in names:
            known = self._definers.get(name)
            if known is None:
                known = self._definers[name] = int(self._value(sql, name))
            found[name] = known
        return found

    def term_counts(self, keys: Iterable[int]) -> dict[int, int]:
        """Files of the manifest that have a term, by term key; 0 for none."""
        keys = list(keys)
        missing = [key for key in keys if key not in self._counts]
        for ids in _batches(missing):
            sql = (
                "SELECT term, sum(files) FROM term_counts "
                f"WHERE manifest_id IN (?, ?) AND term IN ({ids}) GROUP BY term"
            )
            shared = self.manifest.counts if self.manifest else 0
            self._counts.update(self._db.execute(sql, (self._manifest_id, shared)))
        return {key: self._counts.setdefault(key, 0) for key in keys}

    # --- vectors --------------------------------------------------------------------------------------------

    def model_id(self, fingerprint: str) -> int | None:
        row = self._db.execute("SELECT model_id FROM models WHERE fingerprint=?", (fingerprint,)).fetchone()
        return int(row[0]) if row else None

    def model(self, model_id: int) -> tuple[str, int] | None:
        """A model's fingerprint and how many dimensions its vectors have."""
        row = self._db.execute("SELECT fingerprint, dimensions FROM models WHERE model_id=?", (model_id,)).fetchone()
        return (str(row[0]), int(row[1])) if row else None

    def coding(self, model_id: int) -> Coding:
        """How a model's vectors are kept."""
        row = self._db.execute("SELECT coding FROM models WHERE model_id=?", (model_id,)).fetchone()
        if row is None or row[0] not in (FOUR_BITS, FLOAT16):
            raise ValueError("a model whose vectors are kept in an unknown way")
        return FLOAT16 if row[0] == FLOAT16 else FOUR_BITS

    def vector_count(self, model_id: int) -> int:
        """Vectors of a model that the table holds, of whatever manifest."""
        sql = (
            "SELECT total(length(v.data) / d.row_bytes) FROM vectors v, models d "
            "WHERE d.model_id = v.model_id AND v.model_id=?"
        )
        return int(self._value(sql, model_id))

    def latest_model(self) -> int | None:
        """The model that was used last to make vectors; None when there are none."""
        row = self._db.execute("SELECT model_id FROM vectors ORDER BY vector_id DESC LIMIT 1").fetchone()
        return int(row[0]) if row else None

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """Vectors of entries (`vector_codes`), one after the other in chunk order; entries without are absent."""
        if model_id != self._vectors_of:
            self._vectors.clear()
            self._vectors_of = model_id
        found = self._remember(
            self._vectors,
            entry_ids,
            lambda ids: self._db.execute(
                f"SELECT entry_id, data FROM vectors WHERE model_id={model_id:d} AND entry_id IN ({ids})"
            ),
        )
        return {entry_id: data for entry_id, data in found.items() if data}

    def models(self, name: str | None = None) -> list[tuple[int, str, int]]:
        """(model id, name, dimensions) of all models, or of those with this name or fingerprint's id."""
        sql = "SELECT model_id, name, dimensions FROM models WHERE ? IS NULL OR ? IN (name, fingerprint) ORDER BY 1"
        return [(int(row[0]), str(row[1]), int(row[2])) for row in self._db.execute(sql, (name, name))]

    def live_vectors(self, model_id: int) -> Iterator[tuple[int, str, int, int, bytes]]:
        """(vector id, path, blob id, seconds since 1970, vectors) of the manifest's files, by path."""
        return iter(
            self._db.execute(
                "SELECT v.vector_id, e.path, e.blob_id, v.created_at, v.data FROM manifest_files m "
                "JOIN entries e USING (entry_id) JOIN vectors v USING (entry_id) "
                "WHERE m.manifest_id=? AND v.model_id=? ORDER BY e.path",
                (self._manifest_id, model_id),
            )
        )

    def chunk_places(self, blob_id: int) -> list[tuple[int, int, bytes]]:
        """(first line, last line, SHA-256 of the own text) of a blob's chunks, in order."""
        first = blob_id << schema.CHUNK_BITS
        return list(
            self._db.execute(
                "SELECT start_line, end_line, content_hash FROM chunks "
                "WHERE chunk_id BETWEEN ? AND ? ORDER BY chunk_id",
                (first, first + schema.FILE_UNIT),
            )
        )

    def vectors_after(self, vector_id: int, model_id: int) -> Iterator[tuple[int, int, bytes]]:
        """(vector id, entry id, vectors) written after a given row, in order of writing."""
        return iter(
            self._db.execute(
                "SELECT vector_id, entry_id, data FROM vectors WHERE vector_id>? AND model_id=? ORDER BY vector_id",
                (vector_id, model_id),
            )
        )

    def text_hashes(self, path: str, model_id: int) -> Iterator[tuple[bytes, bytes]]:
        """(hashes, vectors) of all entries at a path, to carry over what did not change."""
        return iter(
            self._db.execute(
                "SELECT v.text_hashes, v.data FROM entries e JOIN vectors v USING (entry_id) "
                "WHERE e.path=? AND v.model_id=?",
                (path, model_id),
            )
        )

    # --- derived indexes ------------------------------------------------------------------------------------

    @property
    def fulltext(self) -> fulltext.FulltextReader:
        """Raises `IndexUnavailable` when it is missing or damaged; then the store must be built anew."""
        if self._text is None:
            directory = self._directory / FULLTEXT
            if not fulltext.usable(directory, self.identity):
                raise schema.IndexDamaged(f"The text index at {directory} is missing or damaged.")
            self._text = fulltext.FulltextReader(directory)
        return self._text

    @property
    def trigrams(self) -> TrigramIndex:
        if self._trigrams is None:
            from findling.store.trigrams import TrigramIndex

            self._trigrams = TrigramIndex(self._directory / TRIGRAMS, self.identity)
        return self._trigrams

    @property
    def directory(self) -> Path:
        return self._directory

    def bytes_on_disk(self) -> int:
        """Size of everything in the store's folder."""
        total = 0
        for folder, _, names in os.walk(self._directory):
            for name in names:
                with suppress(FileNotFoundError):  # merged away meanwhile
                    total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
        return total

    def _remember(
        self, cache: dict[int, _Row], ids: Iterable[int], read: Callable[[str], Iterable[tuple[int, _Row]]]
    ) -> dict[int, _Row]:
        wanted = list(ids)
        missing = [key for key in wanted if key not in cache]
        for batch in _batches(missing):
            cache.update(read(batch))
        return {key: cache[key] for key in wanted if key in cache}

    def _value(self, sql: str, *values: Any) -> Any:
        row = self._db.execute(sql, values).fetchone()
        return row[0] if row else None


_BATCH = 500
"""Ids per statement."""

_FILE_SQL = (
    "SELECT m.entry_id, e.blob_id, e.path, b.language, b.kind, b.size, b.lines, b.generated, "
    f"b.body_terms, b.name_terms, b.encoding='{CONVERTED}' "
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
_FILE_FROM_ENTRY_SQL = _FILE_SQL.replace(
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id)",
    # CROSS: from the few entries of a content or a path, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)


def _file(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7], values[10] = bool(values[7]), bool(values[10])
    return FileRow(*values)


def _chunk(row: Any) -> ChunkRow:
    values: list[Any] = [*row]
    values[4] = schema.CHUNK_KINDS[values[4]]
    values[6] = tuple(values[6].split("\n")) if values[6] else ()
    return ChunkRow(*values)


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _batches(ids: Iterable[int]) -> Iterator[str]:
    """The ids as SQL lists. They are integers of our own, so they need no binding."""
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        yield ",".join([f"{key:d}" for key in wanted[start : start + _BATCH]])
