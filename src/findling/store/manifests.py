"""The tables' rows about whole manifests: begun from another, compared by git's ids, counted together, dropped.

Functions of the writer's connection, inside its transaction. Must not know what a folder or a ref is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import apsw

from findling.config.roots import LIVE as LIVE


class Standing(NamedTuple):
    """A file of a manifest: its entry, its size in bytes, and git's id of its content where that is known."""

    entry_id: int
    size: int
    git_id: bytes | None


def tree_key(manifest_id: int) -> str:
    """The key under which ``meta`` holds what the last listing of a manifest's folder depended on."""
    return f"tree:{manifest_id}"


def create(db: apsw.Connection, root: str, ref: str) -> int:
    """A manifest without files, with a number of its own for its counts."""
    db.execute(
        "INSERT INTO manifests(root, ref, counts) VALUES (?, ?, (SELECT min(0, coalesce(min(counts), 0)) - 1 "
        "FROM manifests))",
        (root, ref),
    )
    return db.last_insert_rowid()


def counted_under(db: apsw.Connection, manifest_id: int) -> int:
    """Where a change of the manifest's term counts is written: with the common ones while nobody shares them."""
    row: Any = db.execute(
        "SELECT counts, (SELECT count(*) FROM manifests o WHERE o.counts = m.counts) FROM manifests m "
        "WHERE manifest_id=?",
        (manifest_id,),
    ).fetchone()
    return int(row[0]) if row[1] == 1 else manifest_id


def change_counts(db: apsw.Connection, manifest_id: int, changes: Mapping[int, int]) -> None:
    """Add to how many files of a manifest have each term, by term key."""
    under = counted_under(db, manifest_id)
    rows = [(under, term, files) for term, files in sorted(changes.items()) if files]
    db.executemany(
        "INSERT INTO term_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET files = files + excluded.files", rows
    )
    db.executemany("DELETE FROM term_counts WHERE counted_under=? AND term=? AND files=0", [row[:2] for row in rows])


def standing(db: apsw.Connection, manifest_id: int) -> dict[str, Standing]:
    """path -> what stands there."""
    rows: Any = db.execute(
        "SELECT e.path, m.entry_id, m.size, b.git_id FROM manifest_files m CROSS JOIN entries e USING (entry_id) "
        "CROSS JOIN blobs b USING (blob_id) WHERE m.manifest_id=?",
        (manifest_id,),
    )
    return {path: Standing(entry_id, size, git_id) for path, entry_id, size, git_id in rows}


def others(db: apsw.Connection, manifest_id: int, most: int) -> list[int]:
    """The manifests with files beside this one, those brought up to date last first; at most ``most``."""
    rows: Any = db.execute(
        "SELECT manifest_id FROM manifests WHERE manifest_id<>? AND files>0 ORDER BY synced_at DESC, manifest_id DESC "
        "LIMIT ?",
        (manifest_id, most),
    )
    return [int(row[0]) for row in rows]


def begin_from(db: apsw.Connection, manifest_id: int, other: int, rows: Iterable[tuple[int, int, int]]) -> None:
    """Give a manifest without files the counts and sums of another, and ``rows`` of it: (entry id, size,
    `files.stamp_of`).

    The caller then takes the entries out of the counts that are not among the rows.
    """
    before: Any = db.execute("SELECT counts FROM manifests WHERE manifest_id=?", (manifest_id,)).fetchone()
    _drop_counts(db, manifest_id)
    db.execute(
        "UPDATE manifests SET (counts, files, chunks, body_terms, name_terms) = "
        "(SELECT counts, files, chunks, body_terms, name_terms FROM manifests WHERE manifest_id=?) WHERE manifest_id=?",
        (other, manifest_id),
    )
    _drop_unshared(db, before[0])
    db.execute(
        "INSERT INTO term_counts SELECT ?, term, files FROM term_counts WHERE counted_under=?", (manifest_id, other)
    )
    db.executemany(
        "INSERT INTO manifest_files VALUES (?, ?, ?, ?)",
        [(manifest_id, entry_id, size, mtime_ns) for entry_id, size, mtime_ns in rows],
    )


def drop(db: apsw.Connection, manifest_id: int) -> None:
    """Delete a manifest, and its common counts when nobody shares them any more."""
    row: Any = db.execute("SELECT counts FROM manifests WHERE manifest_id=?", (manifest_id,)).fetchone()
    _drop_counts(db, manifest_id)
    for table in ("manifest_files", "skipped_files", "manifests"):
        db.execute(f"DELETE FROM {table} WHERE manifest_id=?", (manifest_id,))
    db.execute("DELETE FROM meta WHERE key=?", (tree_key(manifest_id),))
    if row:
        _drop_unshared(db, row[0])


def _drop_unshared(db: apsw.Connection, counts: int) -> None:
    if db.execute("SELECT 1 FROM manifests WHERE counts=?", (counts,)).fetchone() is None:
        _drop_counts(db, counts)


def _drop_counts(db: apsw.Connection, counted_under: int) -> None:
    db.execute("DELETE FROM term_counts WHERE counted_under=?", (counted_under,))


def beyond(db: apsw.Connection, kept: int, keep: int) -> list[int]:
    """The manifests of refs beside ``keep`` that were made before the ``kept`` newest."""
    rows: Any = db.execute(
        "SELECT manifest_id FROM manifests WHERE ref<>? AND manifest_id<>? ORDER BY synced_at DESC, manifest_id DESC "
        "LIMIT -1 OFFSET ?",
        (LIVE, keep, max(0, kept - 1)),
    )
    return [int(row[0]) for row in rows]


def overlap(files: Mapping[str, Standing], git_ids: Mapping[str, bytes]) -> int:
    """How many files stand at the same path with the same content."""
    return sum(1 for path, file in files.items() if file.git_id is not None and git_ids.get(path) == file.git_id)
