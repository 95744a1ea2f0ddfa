"""Rows that no manifest needs any more: which, and their deletion. Functions of the writer's connection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw

from findling.store import growth, symbol_rows

KEEP_UNREFERENCED = 2000
"""Entries of no manifest that are kept anyway: switching a branch back and forth should cost nothing."""

_MOST_PER_PATH, _KEEP_PER_PATH = 8, 2
"""Earlier versions of one file: above the first number all but the second are deleted. More of them would crowd the
file itself out of what the text index proposes."""


SHRINK_SHARE = 0.1
"""Of all entries: when so many are deleted at once, it is worth giving their room back to the disk."""


def unreferenced(db: apsw.Connection, left: Iterable[str], *, everything: bool = False) -> list[int]:
    """The entries to delete: of no manifest, when there are many or many of one of the paths ``left`` lately;
    ``everything``: however few they are."""
    nowhere = (
        "NOT EXISTS (SELECT 1 FROM manifests r CROSS JOIN manifest_files m USING (manifest_id) "
        "WHERE m.entry_id = e.entry_id)"
    )
    # At most so many: looking at each entry takes ten times as long, and most runs leave none behind.
    bound: Any = db.execute("SELECT (SELECT count(*) FROM entries) - coalesce(max(files), 0) FROM manifests").fetchone()
    if bound[0] > KEEP_UNREFERENCED or everything:
        of_none = [row[0] for row in db.execute(f"SELECT entry_id FROM entries e WHERE {nowhere}")]
        if len(of_none) > KEEP_UNREFERENCED or everything:
            return of_none
    doomed: list[int] = []
    for path in left if bound[0] else ():
        of_path: list[Any] = db.execute(
            f"SELECT entry_id FROM entries e WHERE path=? AND {nowhere} ORDER BY entry_id DESC", (path,)
        ).fetchall()
        if len(of_path) > _MOST_PER_PATH:
            doomed += [row[0] for row in of_path[_KEEP_PER_PATH:]]
    return doomed


def delete(db: apsw.Connection, entry_ids: Iterable[int]) -> None:
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
    row: Any = db.execute("SELECT symbols FROM contents WHERE blob_id=?", (blob_id,)).fetchone()
    if row and growth.has_grown(db):
        names = set(symbol_rows.named(row[0]).squashed)
        db.executemany("DELETE FROM definitions WHERE squashed=? AND blob_id=?", [(name, blob_id) for name in names])
    for table in ("contents", "blobs"):
        db.execute(f"DELETE FROM {table} WHERE blob_id=?", (blob_id,))
