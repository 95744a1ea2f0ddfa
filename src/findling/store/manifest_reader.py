"""Reading one generation of a manifest: its state, the files in it, what was left out and why.

One connection reads one generation of a store at a time, and the derived indexes beside it. What is read is remembered
until another generation is committed, within a bound, so that a process that answers many queries touches the disk only
for what is new to it. Must not know what is in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from findling.config.roots import LIVE
from findling.model.rows import FileRow, ManifestRow
from findling.model.text_encodings import UTF8
from findling.model.types import TreeState
from findling.store import connections, fulltext, fulltext_files, layout, manifests, parts, schema
from findling.store.schema import DATABASE, FULLTEXT

_BATCH = 500
"""Ids per statement."""

_WRITTEN = "SELECT key, value FROM meta WHERE key IN ('generation', 'only_vectors')"

_REMEMBERED = 6_000
"""Files whose rows are kept between queries: about 10 kB each with vectors."""

_FILE = (
    "SELECT m.entry_id, e.blob_id, e.path, b.language, b.kind, b.size, b.lines, b.generated, "
    f"b.body_terms, b.name_terms, nullif(b.encoding, '{UTF8}') "
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
"""Gives what `_file` takes."""

_FILE_FROM_ENTRY = _FILE.replace(
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id)",
    # CROSS: from the few entries of a content or a path, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)

_MANIFEST = (
    "SELECT manifest_id, complete, pending, synced_at, files, chunks, "
    "body_terms, name_terms, counts, wanted FROM manifests WHERE root=? AND ref=?"
)

_Row = TypeVar("_Row")


class ManifestReader:
    """Reads the manifest of a root and ref in one store. Not to be shared between threads."""

    def __init__(self, directory: Path, root: str, ref: str = LIVE) -> None:
        self._directory = directory
        before = layout.file_id(directory / DATABASE)  # another may take its place from here on
        self._db, self._only_now = connections.connect_to_read(directory / DATABASE)
        self.identity = schema.identity(self._db)
        self._inode = before or layout.file_id(directory / DATABASE)
        self._text: fulltext.FulltextReader | None = None
        self.generation = -1
        self._contents = -1
        """As ``generation``, but the same after writing only vectors."""
        self._root, self._ref = root, ref
        self._manifest: ManifestRow | None = None
        self._files: dict[int, FileRow] = {}
        """Rows of entries, which are the same in every generation, whether or not the manifest has them."""
        self._in_manifest: dict[int, None] = {}
        """Entries that the manifest is known to have."""
        self._listing: list[FileRow] | None = None
        self._known: dict[str, tuple[int, int]] | None = None
        self._tree: tuple[bytes, int, TreeState] | None = None
        """As it was read last, packed and unpacked."""
        self._crowding: float | None = None
        self._others: list[int] | None = None
        self._unlisted: frozenset[tuple[str, str]] | None = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside belongs to one generation."""
        try:
            with connections.rows_of(self._directory / DATABASE):
                self._db.execute("BEGIN")
                written: dict[Any, Any] = dict(self._db.execute(_WRITTEN))
                generation = int(written.get("generation") or 0)
                contents = generation - int(written.get("only_vectors") or 0)
                if contents != self._contents or self._remembers_much:
                    self._forget()
                elif generation != self.generation:
                    self._forget_vectors()
                self.generation, self._contents = generation, contents
                yield
        finally:
            with suppress(apsw.Error):  # nothing was written, and what went wrong was said above
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    @property
    def _remembers_much(self) -> bool:
        """Whether what is remembered has reached its bound."""
        return len(self._files) > _REMEMBERED

    def _forget(self) -> None:
        """Forget what belongs to a generation."""
        self._forget_vectors()
        self._manifest = self._listing = self._known = None
        self._crowding = self._unlisted = self._others = None
        self._in_manifest.clear()
        if len(self._files) > _REMEMBERED:
            self._files.clear()

    def _forget_vectors(self) -> None:
        """Forget what may be other when vectors were written, and look at the derived indexes anew."""
        if self._text is not None:
            self._text.reload()

    @property
    def chunking(self) -> str | None:
        """The sizes that the files were cut by, '' for the default ones; None while there are none.

        Within a snapshot.
        """
        filled = self._value("SELECT 1 FROM entries LIMIT 1") is not None
        return schema.chunking(self._db) if filled else None

    def close(self) -> None:
        self._db.close()
        self._text = None

    @property
    def replaced(self) -> bool:
        """Whether another file stands where this one was opened (the store was deleted, or built anew), or may soon."""
        return self._only_now or layout.file_id(self._directory / DATABASE) != self._inode

    @property
    def fulltext(self) -> fulltext.FulltextReader:
        """Raises `IndexUnavailable` when it is missing or damaged; then the store must be built anew."""
        if self._text is None:
            directory = self._directory / FULLTEXT
            if not fulltext_files.usable(directory, self.identity):
                raise schema.TextIndexLost(f"The text index at {directory} is missing or damaged.")
            self._text = fulltext.FulltextReader(directory)
        return self._text

    @property
    def directory(self) -> Path:
        return self._directory

    def bytes_on_disk(self) -> int:
        """Size of everything in the store's folder."""
        return layout.bytes_on_disk(self._directory)

    def _remember(
        self, cache: dict[int, _Row], ids: Iterable[int], read: Callable[[str], Iterable[tuple[int, _Row]]]
    ) -> dict[int, _Row]:
        wanted = list(ids)
        missing = [key for key in wanted if key not in cache]
        for batch in batches(missing):
            cache.update(read(batch))
        return {key: cache[key] for key in wanted if key in cache}

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

    # --- the manifest ---------------------------------------------------------------------------------------

    @property
    def manifest(self) -> ManifestRow | None:
        """None when this root was never indexed."""
        if self._manifest is None:
            row = self._db.execute(_MANIFEST, (self._root, self._ref)).fetchone()
            self._manifest = ManifestRow(row[0], bool(row[1]), *row[2:]) if row else None
        return self._manifest

    @property
    def _manifest_id(self) -> int:
        manifest = self.manifest
        return manifest.manifest_id if manifest else -1

    def known_files(self) -> dict[str, tuple[int, int]]:
        """path -> (size, `files.stamp_of`) of every file listed, those skipped for their content included.

        Remembered, as every question compares it with the disk: not to be changed.
        """
        if self._known is None:
            known: dict[str, tuple[int, int]] = {}
            for sql in (schema.SKIPPED_STATES, schema.FILE_STATES):
                for path, size, mtime_ns in self._db.execute(sql, (self._manifest_id,)):
                    known[path] = (size, mtime_ns)
            self._known = known
        return self._known

    def git_ids(self) -> set[bytes]:
        """What git calls the contents that were indexed, for whatever manifest."""
        return {row[0] for row in self._db.execute("SELECT git_id FROM blobs WHERE git_id IS NOT NULL")}

    def tree(self) -> TreeState | None:
        """What the listing depended on that the manifest comes from; None where that is not known.

        A manifest with another number of files by now, or a record that is damaged, only costs a listing.
        """
        packed = self._value("SELECT value FROM meta WHERE key=?", manifests.tree_key(self._manifest_id))
        if packed is None:
            return None
        if self._tree is None or self._tree[0] != packed:
            try:
                self._tree = (packed, *parts.tree(packed))
            except (ValueError, TypeError):
                return None
        _, files, tree = self._tree
        return tree if files == len(self.known_files()) else None

    def state_of(self, path: str) -> tuple[int, int] | None:
        """(size, `files.stamp_of`) that the index knows of a path."""
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

    @property
    def any_unread(self) -> bool:
        """Whether there are files that could not be read."""
        sql = "SELECT 1 FROM skipped_files WHERE manifest_id=? AND mtime_ns=? LIMIT 1"
        return self._value(sql, self._manifest_id, schema.UNREAD) is not None

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

    def languages(self) -> dict[str, int]:
        """Files per language."""
        return dict(
            self._db.execute(
                "SELECT b.language, count(*) FROM manifest_files m JOIN entries e USING (entry_id) "
                "JOIN blobs b USING (blob_id) WHERE m.manifest_id=? GROUP BY 1 ORDER BY 2 DESC, 1",
                (self._manifest_id,),
            )
        )

    @property
    def crowding(self) -> float:
        """Entries of the store for each of the manifest's: 1 where it holds nothing else. Proposals come from all."""
        if self._crowding is None:
            files = self.manifest.files if self.manifest else 0
            self._crowding = self._value("SELECT count(*) FROM entries") / files if files else 1.0
        return self._crowding

    def others(self) -> list[int]:
        """The store's entries that the manifest does not have: earlier versions, other branches and work trees."""
        if self._others is None:
            sql = "SELECT entry_id FROM entries EXCEPT SELECT entry_id FROM manifest_files WHERE manifest_id=?"
            self._others = [row[0] for row in self._db.execute(sql, (self._manifest_id,))]
        return self._others

    def own(self, entry_ids: Set[int]) -> Set[int]:
        """Those of the entries that belong to the manifest."""
        self._remember(self._in_manifest, entry_ids, self._read_ours)
        return entry_ids & self._in_manifest.keys()

    # --- files ----------------------------------------------------------------------------------------------

    def files(self, entry_ids: Iterable[int]) -> dict[int, FileRow]:
        """Those of the entries that belong to the manifest."""
        wanted = list(entry_ids)
        self._remember(self._in_manifest, wanted, self._read_ours)
        known = self._in_manifest
        return self._remember(self._files, [key for key in wanted if key in known], self._read_files)

    def _read_ours(self, ids: str) -> Iterator[tuple[int, None]]:
        sql = f"SELECT entry_id FROM manifest_files WHERE manifest_id=? AND entry_id IN ({ids})"
        return ((row[0], None) for row in self._db.execute(sql, (self._manifest_id,)))

    def _read_files(self, ids: str) -> Iterator[tuple[int, FileRow]]:
        for row in self._db.execute(_FILE + f"WHERE m.manifest_id=? AND m.entry_id IN ({ids})", (self._manifest_id,)):
            yield row[0], _file(row)

    def all_files(self, *, prefix: str = "") -> Iterator[FileRow]:
        """Every file of the manifest in path order, those under a folder only when ``prefix`` names one."""
        if prefix:
            sql = _FILE_FROM_ENTRY + "WHERE m.manifest_id=? AND e.path >= ? AND e.path < ? ORDER BY e.path"
            rows = self._db.execute(sql, (self._manifest_id, f"{prefix}/", f"{prefix}0"))
        else:
            rows = self._db.execute(_FILE + "WHERE m.manifest_id=? ORDER BY e.path", (self._manifest_id,))
        for row in rows:
            yield _file(row)

    def file_at(self, path: str) -> FileRow | None:
        row = self._db.execute(
            _FILE_FROM_ENTRY + "WHERE m.manifest_id=? AND e.path=?", (self._manifest_id, path)
        ).fetchone()
        return _file(row) if row else None

    def paths_ending(self, tail: str) -> list[str]:
        """Every path of the manifest that ends with ``tail``, in order."""
        sql = (
            "SELECT e.path FROM entries e CROSS JOIN manifest_files m USING (entry_id) "
            "WHERE m.manifest_id=? AND substr(e.path, ?)=? ORDER BY e.path"
        )
        return [row[0] for row in self._db.execute(sql, (self._manifest_id, -len(tail), tail))]

    def files_of_blobs(self, blob_ids: Iterable[int]) -> list[FileRow]:
        """The manifest's files with these contents, in path order."""
        found: list[FileRow] = []
        for ids in batches(blob_ids):
            sql = _FILE_FROM_ENTRY + f"WHERE e.blob_id IN ({ids}) AND m.manifest_id=?"
            found += [_file(row) for row in self._db.execute(sql, (self._manifest_id,))]
        found.sort(key=lambda row: row.path)
        return found

    def listing(self) -> list[FileRow]:
        """Every file of the manifest in path order, remembered: for questions that may touch any of them."""
        if self._listing is None:
            self._listing = list(self.all_files())
        return self._listing


def batches(ids: Iterable[int]) -> Iterator[str]:
    """The ids as SQL lists. They are integers of our own, so they need no binding."""
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        yield ",".join([f"{key:d}" for key in wanted[start : start + _BATCH]])


def _file(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7] = bool(values[7])
    return FileRow(*values)
