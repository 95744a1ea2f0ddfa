"""Writing manifests: which there are, what stands at their paths, and how far each is."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from findling.config.roots import LIVE
from findling.model.types import FileState, SkippedFile, TreeState
from findling.store import parts
from findling.store.local import batches, schema
from findling.store.local.batches import BatchWriter, typed

_FROM_ENTRIES = "entries e CROSS JOIN manifest_files m"
"""From a path's few entries to the manifest; left alone, SQLite may go through all of its files."""

_COMPARED = 6
"""Manifests that a new one is compared with: each costs some 40 ms for ten thousand files."""


class Standing(NamedTuple):
    """A file of a manifest: its entry, its size in bytes, and git's id of its content where that is known."""

    entry_id: int
    size: int
    git_id: bytes | None


class ManifestWriter(BatchWriter):
    """Holds the writer role of one index until `close`. Raises the typed errors only."""

    def __init__(self, directory: Path, *, large: bool = False, wait_s: float = 0.0) -> None:
        super().__init__(directory, large=large, wait_s=wait_s)
        self._left: set[str] = set()
        """Paths that something was taken out of."""

    # --- which there are ------------------------------------------------------------------------------------

    @typed
    def manifest(self, root: str, ref: str = LIVE) -> int:
        """The id of the manifest of a root and ref, made when it is new."""
        found = self._value("SELECT manifest_id FROM manifests WHERE root=? AND ref=?", root, ref)
        if found is not None:
            return int(found)
        self._db.execute(  # with a number of its own for its counts
            "INSERT INTO manifests(root, ref, counts) VALUES (?, ?, (SELECT min(0, coalesce(min(counts), 0)) - 1 "
            "FROM manifests))",
            (root, ref),
        )
        return self._db.last_insert_rowid()

    @typed
    def standing(self, manifest_id: int) -> dict[str, Standing]:
        """path -> what stands there in the manifest."""
        rows: Any = self._db.execute(
            "SELECT e.path, m.entry_id, m.size, b.git_id FROM manifest_files m CROSS JOIN entries e USING (entry_id) "
            "CROSS JOIN blobs b USING (blob_id) WHERE m.manifest_id=?",
            (manifest_id,),
        )
        return {path: Standing(*row) for path, *row in rows}

    def _others(self, manifest_id: int, most: int) -> list[int]:
        """The manifests with files beside this one, those brought up to date last first; at most ``most``."""
        rows: Any = self._db.execute(
            "SELECT manifest_id FROM manifests WHERE manifest_id<>? AND files>0 "
            "ORDER BY synced_at DESC, manifest_id DESC LIMIT ?",
            (manifest_id, most),
        )
        return [int(row[0]) for row in rows]

    @typed
    def has_others(self, manifest_id: int) -> bool:
        """Whether there is another manifest with files."""
        return bool(self._others(manifest_id, 1))

    @typed
    def nearest(self, manifest_id: int, git_ids: Mapping[str, bytes]) -> tuple[int, dict[str, Standing]] | None:
        """Another manifest that has at least half of these contents at their paths, the one with most of them."""
        best: tuple[int, dict[str, Standing]] | None = None
        most = len(git_ids) // 2
        for other in self._others(manifest_id, _COMPARED):
            files = self.standing(other)
            same = sum(file.git_id is not None and git_ids.get(path) == file.git_id for path, file in files.items())
            if same > most:
                most, best = same, (other, files)
            if same == len(git_ids):
                break
        return best

    @typed
    def begin_from(self, manifest_id: int, other: int, files: Mapping[str, Standing], times: Mapping[str, int]) -> None:
        """Let an empty manifest begin as another is, whose ``files`` are given, but only with the paths in ``times``
        (path -> `files.stamp_of`)."""
        self._begin()
        batches.share_counts(self._db, manifest_id, other)
        self._db.executemany(
            "INSERT INTO manifest_files VALUES (?, ?, ?, ?)",
            [(manifest_id, file.entry_id, file.size, times[path]) for path, file in files.items() if path in times],
        )
        for path, file in files.items():
            if path not in times:
                self._count(manifest_id, file.entry_id, -1)

    @typed
    def note_wanted(self, manifest_id: int, wanted: str) -> None:
        """Write down by which word on files a ref's manifest was made."""
        self._begin()
        self._db.execute("UPDATE manifests SET wanted=? WHERE manifest_id=?", (wanted, manifest_id))

    @typed
    def forget_manifest(self, manifest_id: int) -> None:
        self._begin()
        batches.drop(self._db, manifest_id)

    @typed
    def forget_refs(self, kept: int, *, keep: int) -> int:
        """Drop the manifests of refs but ``keep`` and the newest, ``kept`` in all; the number dropped."""
        rows: list[Any] = self._db.execute(
            "SELECT manifest_id FROM manifests WHERE ref<>? AND manifest_id<>? "
            "ORDER BY synced_at DESC, manifest_id DESC LIMIT -1 OFFSET ?",
            (LIVE, keep, max(0, kept - 1)),
        ).fetchall()
        for (manifest_id,) in rows:
            self.forget_manifest(manifest_id)
        return len(rows)

    @typed
    def forget_missing_roots(self) -> int:
        """Drop the manifests of folders that are gone: removed work trees, and roots that were moved; their number."""
        rows: list[Any] = self._db.execute("SELECT manifest_id, root FROM manifests").fetchall()
        gone = [manifest_id for manifest_id, root in rows if _is_gone(root)]
        for manifest_id in gone:
            self.forget_manifest(manifest_id)
        return len(gone)

    # --- what stands at a path ------------------------------------------------------------------------------

    @typed
    def known_files(self, manifest_id: int, below: Iterable[str] | None = None) -> dict[str, tuple[int, int]]:
        """path -> (size, `files.stamp_of`) of every file listed in the manifest, skipped ones included.

        ``below``: only these paths and what lies in them; all of them for None.
        """
        known: dict[str, tuple[int, int]] = {}
        for sql, sql_below in (
            (schema.SKIPPED_STATES, schema.SKIPPED_STATES + " AND path>=? AND path<=?"),
            (schema.FILE_STATES, schema.FILE_STATES_BELOW),
        ):
            found: list[Any] = []
            if below is None:
                found = self._db.execute(sql, (manifest_id,)).fetchall()  # half the time of row by row
            else:
                for path in below:
                    for low, high in _ranges(path):
                        found += self._db.execute(sql_below, (manifest_id, low, high))
            known.update({path: (size, mtime_ns) for path, size, mtime_ns in found})
        return known

    @typed
    def link(
        self, manifest_id: int, file: FileState, entry_id: int, counted: tuple[bytes, int, int, int] | None = None
    ) -> None:
        """Let the manifest's path stand for an entry that is already indexed.

        ``counted``: its terms, chunks, and terms in the body and in names, where they are at hand.
        """
        self._begin()
        old = self._entry_at(manifest_id, file.path)
        self._db.execute(
            "INSERT OR REPLACE INTO manifest_files VALUES (?, ?, ?, ?)", (manifest_id, entry_id, file.size, file.stamp)
        )
        self._db.execute("DELETE FROM skipped_files WHERE manifest_id=? AND path=?", (manifest_id, file.path))
        if old == entry_id:
            return
        if old is not None:
            self._take_out(manifest_id, old, file.path)
        if counted is None:
            self._count(manifest_id, entry_id, 1)
        else:
            self._count_terms(manifest_id, 1, *counted)

    @typed
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

    @typed
    def skip(self, manifest_id: int, file: FileState, reason: str, detail: str) -> None:
        """Write down why a listed file is not indexed, so that it is not read again until it changes."""
        self.remove(manifest_id, [file.path])
        self._db.execute(
            "INSERT OR REPLACE INTO skipped_files VALUES (?, ?, ?, ?, ?, ?)",
            (manifest_id, file.path, reason, detail, file.size, file.stamp),
        )

    @typed
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
        sql = f"SELECT m.entry_id FROM {_FROM_ENTRIES} USING (entry_id) WHERE m.manifest_id=? AND e.path=?"
        found = self._value(sql, manifest_id, path)
        return None if found is None else int(found)

    def _take_out(self, manifest_id: int, entry_id: int, path: str) -> None:
        self._db.execute("DELETE FROM manifest_files WHERE manifest_id=? AND entry_id=?", (manifest_id, entry_id))
        self._count(manifest_id, entry_id, -1)
        self._left.add(path)

    @typed
    def state(self, manifest_id: int) -> tuple[bool, int]:
        """Whether everything in the manifest's folder was indexed once, and the files that were left over if not."""
        sql = "SELECT complete, pending FROM manifests WHERE manifest_id=?"
        row: Any = self._db.execute(sql, (manifest_id,)).fetchone()
        return bool(row[0]), int(row[1])

    @typed
    def file_count(self, manifest_id: int) -> int:
        """Files of a manifest as of the last commit."""
        return int(self._value("SELECT files FROM manifests WHERE manifest_id=?", manifest_id))

    @typed
    def finish(self, manifest_id: int, *, complete: bool, pending: int) -> None:
        """Note the state of a manifest after a run; ``pending`` counts files known but not yet indexed."""
        self._begin()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._db.execute(
            "UPDATE manifests SET complete=?, pending=?, synced_at=? WHERE manifest_id=?",
            (int(complete), pending, now, manifest_id),
        )

    @typed
    def note_tree(self, manifest_id: int, tree: TreeState) -> None:
        """Write down what the listing depended on that the committed manifest agrees with."""
        files = self._value(
            "SELECT (SELECT count(*) FROM manifest_files WHERE manifest_id=?1) + (SELECT count(*) FROM skipped_files "
            f"WHERE manifest_id=?1 AND mtime_ns<>{schema.UNLISTED})",
            manifest_id,
        )
        values = (schema.tree_key(manifest_id), parts.pack((files, tree)))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)


def _ranges(path: str) -> list[tuple[str, str]]:
    """Where a path and what lies in it stand among sorted paths."""
    name = path.rstrip("/")
    if name in ("", "."):
        return [("", "\U0010ffff")]
    return [(name, name), (f"{name}/", f"{name}/\U0010ffff")]


def _is_gone(root: str) -> bool:
    """Whether no folder is there any more; one that cannot be asked, such as on a disk that does not answer, may be."""
    try:
        return not stat.S_ISDIR(Path(root).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
