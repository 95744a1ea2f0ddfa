"""Reading the index: rows of files, chunks, symbols, terms and vectors, as of one committed generation.

What is read is remembered until another generation is committed, within a bound, so that a process that answers
many queries touches the disk only for what is new to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from findling.store import fulltext, schema, term_rows
from findling.store.schema import DATABASE, FULLTEXT, SYMBOL_BITS, TRIGRAMS

if TYPE_CHECKING:
    from findling.store.trigrams import TrigramIndex

_REMEMBERED = 6_000
"""Files whose rows are kept between queries: about 10 kB each with vectors."""

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the manifest. The term counts are what BM25 normalises by."""

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


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk of a blob; ``headings`` only in prose."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A definition in a blob; ``position`` is its place among the file's symbols.

    ``signature`` is '' where the file's own line says it (`signatures.of`).
    """

    blob_id: int
    position: int
    name: str
    kind: str
    parent: int
    start_line: int
    end_line: int
    name_line: int
    scope: str
    signature: str
    squashed: str

    @property
    def qualified_name(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A manifest's state and totals; ``pending`` files are listed but not yet indexed."""

    manifest_id: int
    complete: bool
    pending: int
    synced_at: str
    files: int
    chunks: int
    body_terms: int
    name_terms: int


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
        self._only_ours = self._unlisted = None
        self._listing = self._uncovered = None
        self._embedded.clear()
        if self._text is not None:
            self._text.reload()
        if self._trigrams is not None:
            self._trigrams.refresh()

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
                "body_terms, name_terms FROM manifests WHERE root=? AND ref=?",
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
        for table in ("skipped_files", "manifest_files"):
            sql = f"SELECT path, size, mtime_ns FROM {table} WHERE manifest_id=? AND mtime_ns<>?"
            for path, size, mtime_ns in self._db.execute(sql, (self._manifest_id, schema.UNLISTED)):
                known[path] = (size, mtime_ns)
        return known

    def state_of(self, path: str) -> tuple[int, int] | None:
        """(size, mtime_ns) that the index knows of a path."""
        row = self._db.execute(
            "SELECT size, mtime_ns FROM manifest_files WHERE manifest_id=? AND path=?", (self._manifest_id, path)
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
        blobs = "SELECT e.blob_id FROM manifest_files m JOIN entries e USING (entry_id) WHERE m.manifest_id=?"
        symbol_range = f"s.symbol_id BETWEEN b.blob_id << {SYMBOL_BITS} AND (b.blob_id+1 << {SYMBOL_BITS})-1"
        return {
            "symbols": self._value(f"SELECT count(*) FROM ({blobs}) b JOIN symbols s ON {symbol_range}", manifest),
            "bytes": self._value("SELECT total(size) FROM manifest_files WHERE manifest_id=?", manifest),
        }

    def embedded_chunks(self, model_id: int | None) -> int:
        """Chunks of the manifest that have a vector of the model."""
        if model_id is None or self.manifest is None:
            return 0
        if model_id not in self._embedded:
            self._embedded[model_id] = self._count_embedded(model_id, self.manifest)
        return self._embedded[model_id]

    def _count_embedded(self, model_id: int, manifest: ManifestRow) -> int:
        everything = self._value("SELECT count(*) FROM vectors WHERE model_id=?", model_id)
        if everything >= manifest.files and not self.count_unembedded(model_id):
            return manifest.chunks
        return int(
            self._value(
                "SELECT total(length(v.data) / d.dimensions) FROM manifest_files m JOIN vectors v USING (entry_id) "
                "JOIN models d USING (model_id) WHERE m.manifest_id=? AND v.model_id=?",
                self._manifest_id,
                model_id,
            )
        )

    def unembedded(self, model_id: int, paths: Sequence[str] | None = None) -> list[tuple[int, int, str, bytes]]:
        """Files that lack vectors, newest first: (entry id, blob id, path, SHA-256 of the content).

        ``paths``: only among these.
        """
        sql = (
            "SELECT m.entry_id, e.blob_id, m.path, b.hash FROM manifest_files m "
            "JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) WHERE m.manifest_id=? AND NOT EXISTS "
            "(SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=?) "
        )
        if paths is None:
            order = "ORDER BY m.mtime_ns DESC, m.path"
            return list(self._db.execute(sql + order, (self._manifest_id, model_id)))
        found: list[Any] = []
        for path in paths:
            found += self._db.execute(sql + "AND m.path=?", (self._manifest_id, model_id, path))
        return found

    def count_unembedded(self, model_id: int) -> int:
        """Number of files that lack vectors."""
        return int(
            self._value(
                "SELECT count(*) FROM manifest_files m WHERE m.manifest_id=? AND NOT EXISTS "
                "(SELECT 1 FROM vectors v WHERE v.entry_id=m.entry_id AND v.model_id=?)",
                self._manifest_id,
                model_id,
            )
        )

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
        low, high = (f"{prefix}/", f"{prefix}0") if prefix else ("", "\U0010ffff")
        sql = _FILE_SQL + "WHERE m.manifest_id=? AND m.path >= ? AND m.path < ? ORDER BY m.path"
        for row in self._db.execute(sql, (self._manifest_id, low, high)):
            yield _file(row)

    def file_at(self, path: str) -> FileRow | None:
        row = self._db.execute(_FILE_SQL + "WHERE m.manifest_id=? AND m.path=?", (self._manifest_id, path)).fetchone()
        return _file(row) if row else None

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        """The manifest's files with these contents, in path order."""
        found: list[FileRow] = []
        for ids in _batches(blob_ids):
            sql = _FILE_OF_BLOB_SQL + f"WHERE e.blob_id IN ({ids}) AND m.manifest_id=?"
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
            low, high = blob_id << SYMBOL_BITS, (blob_id + 1 << SYMBOL_BITS) - 1
            known = self._symbols[blob_id] = [
                _symbol(row)
                for row in self._db.execute(
                    _SYMBOL_SQL + "WHERE s.symbol_id BETWEEN ? AND ? ORDER BY s.symbol_id", (low, high)
                )
            ]
        return known

    def named(self, squashed: Iterable[str], limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name is one of these, in the manifest's contents."""
        wanted = list(dict.fromkeys(squashed))
        marks = ",".join("?" * len(wanted))
        sql = _SYMBOL_SQL + f"WHERE n.squashed IN ({marks}) {self._ours} LIMIT ?"
        return [_symbol(row) for row in self._db.execute(sql, (*wanted, limit))] if wanted else []

    def named_like(self, squashed: str, *, prefix: bool, limit: int) -> list[SymbolRow]:
        """Definitions whose squashed name begins with (``prefix``) or contains a text."""
        if prefix:
            sql = _SYMBOL_SQL + f"WHERE n.squashed >= ? AND n.squashed < ? {self._ours} LIMIT ?"
            return [_symbol(row) for row in self._db.execute(sql, (squashed, squashed + "\U0010ffff", limit))]
        sql = _SYMBOL_SQL + f"WHERE instr(n.squashed, ?) > 0 {self._ours} LIMIT ?"
        return [_symbol(row) for row in self._db.execute(sql, (squashed, limit))]

    @property
    def _ours(self) -> str:
        """The condition that a symbol ``s`` belongs to the manifest; nothing where the store holds nothing else."""
        if self._only_ours is None:
            files = self.manifest.files if self.manifest else 0
            self._only_ours = self._value("SELECT count(*) FROM entries") == files
        if self._only_ours:
            return ""
        return (
            # CROSS: from the content's few entries; left alone, SQLite goes through the whole manifest each time.
            "AND EXISTS (SELECT 1 FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            f"WHERE e.blob_id = s.symbol_id >> {SYMBOL_BITS} AND m.manifest_id = {self._manifest_id:d})"
        )

    def definition_counts(self, names: Iterable[str], most: int) -> dict[str, int]:
        """Number of the manifest's contents that define a name, by squashed name; counted up to ``most``."""
        sql = (
            f"SELECT count(*) FROM (SELECT DISTINCT s.symbol_id >> {SYMBOL_BITS} FROM names n "
            f"JOIN symbols s USING (name_id) WHERE n.squashed=? {self._ours} LIMIT {most:d})"
        )
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
            sql = f"SELECT term, files FROM term_counts WHERE manifest_id=? AND term IN ({ids})"
            self._counts.update(self._db.execute(sql, (self._manifest_id,)))
        return {key: self._counts.setdefault(key, 0) for key in keys}

    # --- vectors --------------------------------------------------------------------------------------------

    def model_id(self, fingerprint: str) -> int | None:
        row = self._db.execute("SELECT model_id FROM models WHERE fingerprint=?", (fingerprint,)).fetchone()
        return int(row[0]) if row else None

    def vector_count(self, model_id: int) -> int:
        """Vectors of a model that the table holds, of whatever manifest."""
        sql = (
            "SELECT total(length(v.data) / d.dimensions) FROM vectors v, models d "
            "WHERE d.model_id = v.model_id AND v.model_id=?"
        )
        return int(self._value(sql, model_id))

    def latest_model(self) -> int | None:
        """The model that was used last to make vectors; None when there are none."""
        row = self._db.execute("SELECT model_id FROM vectors ORDER BY vector_id DESC LIMIT 1").fetchone()
        return int(row[0]) if row else None

    def vectors(self, entry_ids: Iterable[int], model_id: int) -> dict[int, bytes]:
        """int8 vectors of entries, one after the other in chunk order; entries without are absent."""
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
    "SELECT m.entry_id, e.blob_id, m.path, b.language, b.kind, b.size, b.lines, b.generated, "
    "b.body_terms, b.name_terms "
    "FROM manifest_files m JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
_FILE_OF_BLOB_SQL = _FILE_SQL.replace(
    "FROM manifest_files m JOIN entries e USING (entry_id)",
    # CROSS: from the contents' few entries, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)
_SYMBOL_SQL = (
    "SELECT s.symbol_id, n.name, s.kind, s.parent, s.start_line, s.end_line, s.name_line, "
    "s.scope, s.signature, n.squashed FROM symbols s JOIN names n USING (name_id) "
)


def _file(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7] = bool(values[7])
    return FileRow(*values)


def _chunk(row: Any) -> ChunkRow:
    values: list[Any] = [*row]
    values[6] = tuple(values[6].split("\n")) if values[6] else ()
    return ChunkRow(*values)


def _symbol(row: Any) -> SymbolRow:
    values: list[Any] = [row[0] >> SYMBOL_BITS, row[0] & ((1 << SYMBOL_BITS) - 1), *row[1:]]
    values[8], values[9] = values[8] or "", values[9] or ""
    return SymbolRow(*values)


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
