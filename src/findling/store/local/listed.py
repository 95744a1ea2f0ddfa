"""What the last listing of a manifest's folder gave: every file's state, what was left out and why.

For whoever compares an index with the disk, and for reports; a search asks none of it.
"""

from __future__ import annotations

from typing import Any

import apsw

from findling.model.types import TreeState
from findling.store import parts
from findling.store.local import manifests, schema


class Listed:
    """Of one generation of a manifest (`IndexReader.listed`). Use within the reader's snapshot."""

    def __init__(self, db: apsw.Connection, manifest_id: int) -> None:
        self._db = db
        self._manifest_id = manifest_id
        self._known: dict[str, tuple[int, int]] | None = None
        self._tree: tuple[bytes, int, TreeState] | None = None
        """As it was read last, packed and unpacked."""
        self._unlisted: frozenset[tuple[str, str]] | None = None

    def _value(self, sql: str, *values: Any) -> Any:
        return schema.scalar(self._db, sql, *values)

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
        symbols = (
            "SELECT total(b.symbols) FROM manifest_files m JOIN entries e USING (entry_id) "
            "JOIN blobs b USING (blob_id) WHERE m.manifest_id=?"
        )
        return {
            "symbols": int(self._value(symbols, self._manifest_id)),
            "bytes": int(self._value("SELECT total(size) FROM manifest_files WHERE manifest_id=?", self._manifest_id)),
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
