"""The tables' rows about whole manifests: how they share their counts, and how one is dropped.

Functions of the writer's connection, inside its transaction. Must not know what a folder or a ref is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from findling.store.local.schema import scalar


def tree_key(manifest_id: int) -> str:
    """The key under which ``meta`` holds what the last listing of a manifest's folder depended on."""
    return f"tree:{manifest_id}"


def change_counts(db: apsw.Connection, manifest_id: int, changes: Mapping[int, int]) -> None:
    """Add to how many files of a manifest have each term, by term key: among the common counts while nobody shares
    them."""
    shared: Any = db.execute(
        "SELECT counts, (SELECT count(*) FROM manifests o WHERE o.counts = m.counts) FROM manifests m "
        "WHERE manifest_id=?",
        (manifest_id,),
    ).fetchone()
    under = shared[0] if shared[1] == 1 else manifest_id
    rows = [(under, term, files) for term, files in sorted(changes.items()) if files]
    db.executemany(
        "INSERT INTO term_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET files = files + excluded.files", rows
    )
    db.executemany("DELETE FROM term_counts WHERE counted_under=? AND term=? AND files=0", [row[:2] for row in rows])


def share_counts(db: apsw.Connection, manifest_id: int, other: int) -> None:
    """Give a manifest without files the counts and sums of another.

    The caller then takes the entries out of the counts that it does not have.
    """
    before = _counts_of(db, manifest_id)
    _drop_counts(db, manifest_id)
    db.execute(
        "UPDATE manifests SET (counts, files, chunks, body_terms, name_terms) = "
        "(SELECT counts, files, chunks, body_terms, name_terms FROM manifests WHERE manifest_id=?) WHERE manifest_id=?",
        (other, manifest_id),
    )
    _drop_unshared(db, before)
    db.execute(
        "INSERT INTO term_counts SELECT ?, term, files FROM term_counts WHERE counted_under=?", (manifest_id, other)
    )


def drop(db: apsw.Connection, manifest_id: int) -> None:
    """Delete a manifest, and its common counts when nobody shares them any more."""
    counts = _counts_of(db, manifest_id)
    _drop_counts(db, manifest_id)
    for table in ("manifest_files", "skipped_files", "manifests"):
        db.execute(f"DELETE FROM {table} WHERE manifest_id=?", (manifest_id,))
    db.execute("DELETE FROM meta WHERE key=?", (tree_key(manifest_id),))
    _drop_unshared(db, counts)


def _counts_of(db: apsw.Connection, manifest_id: int) -> Any:
    return scalar(db, "SELECT counts FROM manifests WHERE manifest_id=?", manifest_id)


def _drop_unshared(db: apsw.Connection, counts: Any) -> None:
    if scalar(db, "SELECT 1 FROM manifests WHERE counts=?", counts) is None:
        _drop_counts(db, counts)


def _drop_counts(db: apsw.Connection, counted_under: Any) -> None:
    db.execute("DELETE FROM term_counts WHERE counted_under=?", (counted_under,))
